//! What can be wrong with a question put to this crate. A certificate that is not found is not an
//! error but a status.

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is outside its range.
    #[error("{name} = {value}: need {need}")]
    NotInRange {
        /// The argument's name.
        name: &'static str,
        /// The value it was given.
        value: f64,
        /// The values it may have.
        need: &'static str,
    },
    /// A potential cannot be more convex than it is smooth.
    #[error("convexity = {convexity}: need at most the smoothness, {smoothness}")]
    ConvexityAboveSmoothness {
        /// The strong convexity m.
        convexity: f64,
        /// The smoothness L.
        smoothness: f64,
    },
    /// γ, ξ, η or L is not usable.
    #[error(transparent)]
    Coefficients(#[from] ridgewalk_coefficients::Error),
    /// The number of nodes, or the step they are spread over, is not usable.
    #[error(transparent)]
    Quadrature(#[from] ridgewalk_quadrature::Error),
}

/// `value` if it is finite and at least 1, as every condition number is.
pub(crate) fn condition_number(value: f64) -> Result<f64, Error> {
    in_range("kappa", value, value >= 1.0, "a finite number of at least 1")
}

/// `value` if it is positive and finite.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    in_range(name, value, value > 0.0, "a positive, finite number")
}

/// `value` if it is finite and the condition `holds`.
pub(crate) fn in_range(
    name: &'static str,
    value: f64,
    holds: bool,
    need: &'static str,
) -> Result<f64, Error> {
    if holds && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::NotInRange { name, value, need })
    }
}

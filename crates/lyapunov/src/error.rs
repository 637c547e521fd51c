//! Errors about arguments. A certificate that is not found is a status, not an error.

/// Why a question has no answer.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An argument is outside its range.
    #[error("{name} = {value}: need {need}")]
    NotInRange {
        /// The argument's name.
        name: &'static str,
        /// Its value.
        value: f64,
        /// The values allowed.
        need: &'static str,
    },
    /// The strong convexity exceeds the smoothness.
    #[error("convexity = {convexity}: need at most the smoothness, {smoothness}")]
    ConvexityAboveSmoothness {
        /// The strong convexity m.
        convexity: f64,
        /// The smoothness L.
        smoothness: f64,
    },
    /// The quadrature rule cannot use a bound on the α-th derivative of the potential.
    #[error(
        "alpha = {alpha} with nodes = {nodes}: need at least {needed} nodes, or a smaller alpha"
    )]
    TooFewNodes {
        /// α.
        alpha: u32,
        /// The number of nodes.
        nodes: usize,
        /// The least number of nodes that can use it.
        needed: usize,
    },
    /// γ, ξ, η or L is invalid.
    #[error(transparent)]
    Coefficients(#[from] ridgewalk_coefficients::Error),
    /// The number of nodes or the length of the step is invalid.
    #[error(transparent)]
    Quadrature(#[from] ridgewalk_quadrature::Error),
}

/// Returns `value` if it is a condition number: finite and at least 1.
pub(crate) fn condition_number(value: f64) -> Result<f64, Error> {
    in_range("kappa", value, value >= 1.0, "a finite number of at least 1")
}

/// Returns `value` if it is positive and finite.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    in_range(name, value, value > 0.0, "a positive, finite number")
}

/// Returns `value` if it is finite and the condition `holds`.
pub(crate) fn in_range(
    name: &'static str, value: f64, holds: bool, need: &'static str,
) -> Result<f64, Error> {
    if holds && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::NotInRange { name, value, need })
    }
}

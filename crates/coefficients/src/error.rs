//! Errors about parameters. They are raised by constructors, never during a step.

/// Why there are no coefficients for a set of parameters.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A parameter is zero, negative, infinite or not a number.
    #[error("{name} = {value}: need a positive, finite number")]
    NotPositive {
        /// The parameter's name.
        name: &'static str,
        /// Its value.
        value: f64,
    },
    /// Each parameter is valid, but a quantity computed from them is too large or too small for an
    /// `f64`.
    #[error(
        "{quantity} = {value:e} is outside the range of double precision \
         (gamma = {gamma:e}, xi = {xi:e}, eta = {eta:e}, smoothness = {smoothness:e}): \
         need values whose products stay between 1e-307 and 1e308"
    )]
    OutOfRange {
        /// The quantity that is out of range, such as `xi * eta` or `sigma11`.
        quantity: &'static str,
        /// Its value: 0, subnormal, infinite or not a number.
        value: f64,
        /// γ.
        gamma: f64,
        /// ξ.
        xi: f64,
        /// η.
        eta: f64,
        /// L (1 where no smoothness is involved).
        smoothness: f64,
    },
    /// A step so long that its exact flow would lose precision.
    #[error("{quantity} = {value:e}: need at most {most:e} for an exact step of (p, r)")]
    TooLong {
        /// γη or ξη.
        quantity: &'static str,
        /// Its value.
        value: f64,
        /// The largest allowed value.
        most: f64,
    },
}

/// Returns `value` if it is positive and finite. Written so that NaN fails.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<f64, Error> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Error::NotPositive { name, value })
    }
}

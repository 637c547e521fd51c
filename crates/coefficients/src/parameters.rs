//! The three parameters of a step: the coupling γ, the friction ξ and the step size η.

use crate::error::{Error, positive};

/// γ, ξ and η of the third-order dynamics, validated once.
///
/// `dp = −∇U/L dt + γ r dt`, `dr = −γ p dt − ξ r dt + √(2ξ/L) dB`, and steps of length η. The
/// paper's proofs take γ = κ and ξ = 2κ.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Parameters {
    gamma: f64,
    xi: f64,
    eta: f64,
}

impl Parameters {
    /// Creates parameters from γ, ξ and η. Each must be positive and finite, and so must the
    /// products ξη and γη.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for an invalid parameter; [`Error::OutOfRange`] if a product over- or
    /// underflows.
    pub fn new(gamma: f64, xi: f64, eta: f64) -> Result<Self, Error> {
        positive("gamma", gamma)?;
        positive("xi", xi)?;
        positive("eta", eta)?;
        for (quantity, value) in [("xi * eta", xi * eta), ("gamma * eta", gamma * eta)] {
            if !value.is_normal() {
                return Err(Error::OutOfRange { quantity, value, gamma, xi, eta, smoothness: 1.0 });
            }
        }
        Ok(Self { gamma, xi, eta })
    }

    /// γ, the coupling of p and r.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// ξ, the friction on r.
    #[must_use]
    pub fn xi(&self) -> f64 {
        self.xi
    }

    /// η, the step size.
    #[must_use]
    pub fn eta(&self) -> f64 {
        self.eta
    }
}

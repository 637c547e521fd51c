//! The kinetic dynamics without a gradient, solved exactly: dθ = p dt, dp = −ξ p dt + √(2ξ) dB.
//!
//! Over a time t, with z = ξt, the flow is [[1, t φ1(z)], [0, e^−z]] and the noise covariance is made of the integrals of
//! (s φ1(ξs), e^−ξs) over the time: 2ξ t³ w(z), ξ t² φ1(z)² and 2ξ t φ1(2z).

use ridgewalk_coefficients::{SERIES_BELOW, phi1, phi3};

/// The free flow over one time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FreeFlow {
    /// t φ1: p into θ.
    pub(super) reach: f64,
    /// e^−z: p into p.
    pub(super) decay: f64,
    /// Noise variance of θ, covariance, and noise variance of p.
    pub(super) noise: [f64; 3],
}

impl FreeFlow {
    pub(super) fn new(xi: f64, time: f64) -> Self {
        let z = xi * time;
        let phi = phi1(z);
        Self {
            reach: time * phi,
            decay: (-z).exp(),
            noise: [
                2.0 * z * time * time * integrated_square(z),
                z * time * phi * phi,
                2.0 * z * phi1(2.0 * z),
            ],
        }
    }
}

/// w(z) = ∫₀¹ (s φ1(zs))² ds = (z − 3/2 + 2e^−z − e^−2z/2)/z³. That form is right for large z and cancels for small; there
/// it is 2 (2 φ3(2z) − φ3(z)), by the recursion of the φ, which cancels at most half and only for large z more.
fn integrated_square(z: f64) -> f64 {
    if z < SERIES_BELOW {
        2.0 * (2.0 * phi3(2.0 * z) - phi3(z))
    } else {
        let e = (-z).exp();
        (z - 1.5 + e * (2.0 - 0.5 * e)) / (z * z * z)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integrated_square_is_the_integral_in_both_branches() {
        let rule = ridgewalk_quadrature::LineRule::new(64, 1.0).unwrap();
        for z in [1e-12, 1e-6, 1e-3, 0.1, 1.0, 2.4999, 2.5001, 4.0, 12.0, 40.0] {
            let terms = rule.nodes().iter().zip(rule.weights()).map(|(s, w)| w * (s * phi1(z * s)).powi(2));
            let integral: f64 = terms.sum();
            assert!((integrated_square(z) / integral - 1.0).abs() < 3e-15, "z = {z}");
        }
    }
}

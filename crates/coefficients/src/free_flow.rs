//! The kinetic dynamics without a gradient, solved exactly: dθ = p dt, dp = −ξ p dt + √(2ξ/L) dB.
//!
//! Over a time t, with z = ξt, the flow is [[1, t φ1(z)], [0, e^−z]]. The noise covariance consists
//! of integrals of products of (s φ1(ξs), e^−ξs) over the time: 2ξ t³ w(z), ξ t² φ1(z)² and 2ξ t
//! φ1(2z), each divided by L.

use crate::error::{Error, positive};
use crate::functions::{SERIES_BELOW, phi1, phi2, phi3};

/// The longest time, as ξt: beyond it nothing of p remains in double precision.
const LONGEST: f64 = 700.0;

/// The free flow of (θ, p) over a fixed time: the building block of the kinetic kernels.
///
/// ```
/// use ridgewalk_coefficients::FreeFlow;
///
/// // Two flows, one after the other, are the flow over both times.
/// let (first, second) = (FreeFlow::new(2.0, 0.3, 1.0)?, FreeFlow::new(2.0, 0.4, 1.0)?);
/// let both = FreeFlow::new(2.0, 0.7, 1.0)?;
/// assert!((first.decay() * second.decay() - both.decay()).abs() < 1e-15);
/// assert!((first.reach() + second.reach() * first.decay() - both.reach()).abs() < 1e-15);
/// # Ok::<(), ridgewalk_coefficients::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeFlow {
    reach: f64,
    decay: f64,
    pushed: f64,
    /// Noise variance of θ, covariance, and noise variance of p.
    noise: [f64; 3],
    cholesky: [f64; 3],
}

impl FreeFlow {
    /// The flow with friction ξ over a time at smoothness L. A time of 0 is allowed and gives the
    /// identity.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for an invalid ξ, L or time; [`Error::TooLong`] if ξ times the time
    /// is above 700; [`Error::OutOfRange`] if something overflows.
    pub fn new(xi: f64, time: f64, smoothness: f64) -> Result<Self, Error> {
        positive("xi", xi)?;
        positive("smoothness", smoothness)?;
        if time != 0.0 {
            positive("time", time)?;
        }
        let z = xi * time;
        if !(z <= LONGEST) {
            return Err(Error::TooLong { quantity: "xi * time", value: z, most: LONGEST });
        }
        let (phi, w) = (phi1(z), integrated_square(z));
        let of_p = 2.0 * phi1(2.0 * z);
        let root = (z / smoothness).sqrt();
        let flow = Self {
            reach: time * phi,
            decay: (-z).exp(),
            pushed: time * time * phi2(z),
            noise: [2.0 * z * time * time * w, z * time * phi * phi, z * of_p]
                .map(|s| s / smoothness),
            // With z and the time factored out, no divisor vanishes with them. The second pivot is
            // never below a quarter of the term it is subtracted from.
            cholesky: [
                root * time * (2.0 * w).sqrt(),
                root * phi * phi / (2.0 * w).sqrt(),
                root * (of_p - phi.powi(4) / (2.0 * w)).sqrt(),
            ],
        };
        let numbers = [flow.reach, flow.pushed].into_iter().chain(flow.noise).chain(flow.cholesky);
        match numbers.into_iter().find(|number| !number.is_finite()) {
            Some(value) => {
                let quantity = "the covariance of a free flow";
                Err(Error::OutOfRange { quantity, value, gamma: 1.0, xi, eta: time, smoothness })
            }
            None => Ok(flow),
        }
    }

    /// t φ1: p into θ, and a constant force into p.
    #[must_use]
    pub fn reach(&self) -> f64 {
        self.reach
    }

    /// e^−ξt: p into p.
    #[must_use]
    pub fn decay(&self) -> f64 {
        self.decay
    }

    /// t² φ2: a constant force into θ.
    #[must_use]
    pub fn pushed(&self) -> f64 {
        self.pushed
    }

    /// The covariance of the noise of (θ, p), for one coordinate.
    #[must_use]
    pub fn covariance(&self) -> [[f64; 2]; 2] {
        let [theta, cross, p] = self.noise;
        [[theta, cross], [cross, p]]
    }

    /// The lower Cholesky factor (L11, L21, L22) of that covariance.
    #[must_use]
    pub fn cholesky(&self) -> [f64; 3] {
        self.cholesky
    }
}

/// w(z) = ∫₀¹ (s φ1(zs))² ds = (z − 3/2 + 2e^−z − e^−2z/2)/z³. That form is accurate for large z
/// and cancels for small z. There 2 (2 φ3(2z) − φ3(z)) is used, by the recursion of the φ: it loses
/// at most half of the larger term, and more only for large z.
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
            let terms =
                rule.nodes().iter().zip(rule.weights()).map(|(s, w)| w * (s * phi1(z * s)).powi(2));
            let integral: f64 = terms.sum();
            assert!((integrated_square(z) / integral - 1.0).abs() < 3e-15, "z = {z}");
        }
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_covariance_and_its_diagonal_is_positive() {
        for xi in [0.3, 2.0, 50.0] {
            for z in [1e-300, 1e-100, 1e-15, 1e-3, 0.5, 2.4999, 2.5001, 9.0, 80.0, 700.0] {
                let flow = FreeFlow::new(xi, z / xi, 3.0).unwrap();
                let ([l11, l21, l22], [[theta, cross], [_, p]]) =
                    (flow.cholesky(), flow.covariance());
                assert!(l21 > 0.0 && l22 > 0.0, "z = {z}: {:?}", flow.cholesky());
                // Where the variance of θ, of order z³, is not subnormal.
                if z > 1e-99 {
                    assert!(l11 > 0.0 && (l11 * l11 / theta - 1.0).abs() < 1e-14, "z = {z}");
                    assert!((l11 * l21 / cross - 1.0).abs() < 1e-14, "z = {z}");
                }
                assert!(((l21 * l21 + l22 * l22) / p - 1.0).abs() < 1e-14, "z = {z}");
            }
        }
    }

    #[test]
    fn no_time_does_nothing_and_bad_times_are_refused() {
        let still = FreeFlow::new(2.0, 0.0, 3.0).unwrap();
        assert_eq!((still.reach(), still.decay(), still.pushed()), (0.0, 1.0, 0.0));
        assert_eq!((still.cholesky(), still.covariance()), ([0.0; 3], [[0.0; 2]; 2]));
        for (xi, time, smoothness) in [
            (0.0, 1.0, 1.0),
            (1.0, -1.0, 1.0),
            (1.0, f64::NAN, 1.0),
            (1.0, 1.0, f64::INFINITY),
            (1.0, 701.0, 1.0),
        ] {
            assert!(FreeFlow::new(xi, time, smoothness).is_err(), "{xi} {time} {smoothness}");
        }
    }
}

//! The noise of the free flow when the Brownian path of a step is replaced by a polynomial.
//!
//! Let n_j = ∫ √(2j + 1) P_j dB/√t over a step of length t, with Legendre's polynomials P_j scaled
//! to the step. These are independent standard normals. n_0 is the increment of the path, n_1 its
//! area against a straight line (−√12 times the "space-time Lévy area"), n_2 its area against a
//! parabola. The path with these numbers that is smoothest is a polynomial, and the noise of dθ = p
//! dt, dp = −ξ p dt + √(2ξ/L) dB along it is the projection of the exact noise onto them:
//!
//! ```text
//! θ: √(2ξ/L) t^(3/2) (φ2 n_0 − √3 a n_1 + √5 c n_2)
//! p: √(2ξ/L) t^(1/2) (φ1 n_0 + z (√3 a n_1 − √5 c n_2))        z = ξt,  a = −φ2′(z)
//! ```
//!
//! The methods of Foster, Lyons and Oberhauser (2021) and their descendants are built on it.

use crate::error::{Error, positive};
use crate::free_flow::FreeFlow;
use crate::functions::{phi1, phi2, second_legendre, slope_of_phi2};

/// The free flow of (θ, p) over a fixed time along a polynomial path.
///
/// ```
/// use ridgewalk_coefficients::{FreeFlow, PolynomialPath};
///
/// // Three numbers of the path have nearly all of the noise of a short step.
/// let path = PolynomialPath::new(2.0, 0.1, 1.0)?;
/// let known: f64 = path.theta_noise().iter().map(|x| x * x).sum();
/// let [[exact, _], _] = FreeFlow::new(2.0, 0.1, 1.0)?.covariance();
/// assert!(known < exact && known > (1.0 - 1e-6) * exact);
/// # Ok::<(), ridgewalk_coefficients::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PolynomialPath {
    theta_noise: [f64; 3],
    p_noise: [f64; 3],
    /// √(2ξ t/L), the size of n_0 in units of p.
    size: f64,
}

impl PolynomialPath {
    /// With friction ξ over a time at smoothness L.
    ///
    /// # Errors
    /// As [`FreeFlow::new`], and [`Error::NotPositive`] for a time of 0.
    pub fn new(xi: f64, time: f64, smoothness: f64) -> Result<Self, Error> {
        positive("time", time)?;
        // All that can be wrong with the parameters is wrong with the free flow.
        FreeFlow::new(xi, time, smoothness)?;
        let z = xi * time;
        let size = (2.0 * z / smoothness).sqrt();
        let second = 3.0_f64.sqrt() * slope_of_phi2(z);
        let third = 5.0_f64.sqrt() * second_legendre(z);
        Ok(Self {
            theta_noise: [phi2(z), -second, third].map(|x| size * time * x),
            p_noise: [phi1(z), z * second, -z * third].map(|x| size * x),
            size,
        })
    }

    /// The factors of n_0, n_1 and n_2 in θ.
    #[must_use]
    pub fn theta_noise(&self) -> [f64; 3] {
        self.theta_noise
    }

    /// The factors of n_0, n_1 and n_2 in p.
    #[must_use]
    pub fn p_noise(&self) -> [f64; 3] {
        self.p_noise
    }

    /// The factors of n_0, n_1 and n_2 in the parts of the path itself, times √(2ξ/L): a slope that
    /// stays the same over the step, and the jumps before and after it that leave the path its
    /// increment and its two areas.
    ///
    /// The slope over the step is W − 12 K, the jumps are H + 6 K and −H + 6 K, in the notation of
    /// Foster, Lyons and Oberhauser: W = √t n_0, H = −√(t/12) n_1, K = √(t/720) n_2.
    #[must_use]
    pub fn slope_and_jumps(&self) -> [[f64; 3]; 3] {
        let (first, second) = (self.size / 12.0_f64.sqrt(), self.size / 20.0_f64.sqrt());
        [[self.size, 0.0, -2.0 * second], [0.0, -first, second], [0.0, first, second]]
    }
}

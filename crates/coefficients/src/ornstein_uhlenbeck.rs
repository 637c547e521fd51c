//! The gradient-free part of the dynamics in (p, r), solved exactly: the middle of the symmetric
//! splitting.
//!
//! dp = γ r dt, dr = −γ p dt − ξ r dt + √(2ξ/L) dB is an Ornstein-Uhlenbeck process with the
//! stationary law N(0, I/L). Over a time η it is a linear map E = exp(η [[0, γ], [−γ, −ξ]]) plus
//! Gaussian noise of covariance (I − E Eᵀ)/L. That difference cancels (the noise of p is of order
//! η³), and closed forms have three cases: over-, under- and critical damping. Instead, both are
//! summed as power series over a short first piece of the time, which is then doubled repeatedly.
//! Each doubling adds positive terms to the variances, so nothing cancels, and no cases are needed.

use crate::error::{Error, positive};
use crate::parameters::Parameters;

/// The number of terms of the power series on the first piece, where ξt and γt are at most
/// [`PIECE`].
const TERMS: usize = 18;
/// The longest first piece, in units of 1/ξ and of 1/γ.
const PIECE: f64 = 0.25;
/// The longest step, in the same units. Each doubling doubles the relative error of E, up to about
/// 1e-10 for this step. Steps this long are of no use to a sampler.
const LONGEST: f64 = 1e6;

/// One exact step of (p, r) of length η: `flow` is E, `covariance` is the covariance of the noise
/// and `cholesky` its lower factor.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OrnsteinUhlenbeck {
    flow: [[f64; 2]; 2],
    /// Noise variances and covariance times L: pp, pr, rr.
    sigma: [f64; 3],
    smoothness: f64,
}

impl OrnsteinUhlenbeck {
    /// The step of length η = `parameters.eta()` at smoothness L.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for an invalid L; [`Error::OutOfRange`] if a variance over- or
    /// underflows; [`Error::TooLong`] if γη or ξη is above 1e6.
    pub fn new(parameters: Parameters, smoothness: f64) -> Result<Self, Error> {
        positive("smoothness", smoothness)?;
        let (gamma, xi, eta) = (parameters.gamma(), parameters.xi(), parameters.eta());
        let out_of_range =
            |quantity, value| Error::OutOfRange { quantity, value, gamma, xi, eta, smoothness };
        let (z, g) = (xi * eta, gamma * eta);
        for (quantity, value) in [("gamma * eta", g), ("xi * eta", z)] {
            if value > LONGEST {
                return Err(Error::TooLong { quantity, value, most: LONGEST });
            }
        }
        let mut doublings = 0;
        let mut scale = 1.0;
        while z.max(g) * scale > PIECE {
            scale *= 0.5;
            doublings += 1;
        }
        let (mut flow, mut sigma) = first_piece(z * scale, g * scale);
        for _ in 0..doublings {
            (flow, sigma) = doubled(flow, sigma);
        }
        let step = Self { flow, sigma, smoothness };
        // Before and after the division by L: a subnormal variance has no usable Cholesky factor.
        for (quantity, value) in [
            ("variance of p", sigma[0]),
            ("variance of r", sigma[2]),
            ("variance of p", sigma[0] / smoothness),
            ("variance of r", sigma[2] / smoothness),
        ] {
            if !value.is_normal() {
                return Err(out_of_range(quantity, value));
            }
        }
        Ok(step)
    }

    /// The map of (p, r), row by row.
    #[must_use]
    pub fn flow(&self) -> [[f64; 2]; 2] {
        self.flow
    }

    /// The covariance of the noise of (p, r), for one coordinate.
    #[must_use]
    pub fn covariance(&self) -> [[f64; 2]; 2] {
        let [pp, pr, rr] = self.sigma.map(|s| s / self.smoothness);
        [[pp, pr], [pr, rr]]
    }

    /// The lower Cholesky factor (L11, L21, L22) of that covariance.
    #[must_use]
    pub fn cholesky(&self) -> [f64; 3] {
        let [pp, pr, rr] = self.sigma;
        let root = self.smoothness.sqrt();
        let l11 = pp.sqrt();
        let l21 = pr / l11;
        [l11 / root, l21 / root, (rr - l21 * l21).sqrt() / root]
    }
}

/// E and the noise over a piece with small ξt = z and γt = g: E as a power series in the fraction s
/// of the piece, the noise as 2z ∫ e eᵀ ds, where e is the second column of E.
fn first_piece(z: f64, g: f64) -> ([[f64; 2]; 2], [f64; 3]) {
    // columns[c][n] is the coefficient of sⁿ in column c of exp(s [[0, g], [-g, -z]]).
    let mut columns = [[[0.0; 2]; TERMS]; 2];
    for (c, column) in columns.iter_mut().enumerate() {
        column[0][c] = 1.0;
        for n in 1..TERMS {
            let [p, r] = column[n - 1];
            column[n] = [g * r / n as f64, (-g * p - z * r) / n as f64];
        }
    }
    let sum = |c: usize, i: usize| columns[c].iter().rev().map(|term| term[i]).sum::<f64>();
    let flow = [[sum(0, 0), sum(1, 0)], [sum(0, 1), sum(1, 1)]];
    let noise = &columns[1];
    let integral = |i: usize, j: usize| {
        let products = (0..TERMS).flat_map(|n| (0..TERMS).map(move |m| (n, m)));
        2.0 * z * products.map(|(n, m)| noise[n][i] * noise[m][j] / (n + m + 1) as f64).sum::<f64>()
    };
    (flow, [integral(0, 0), integral(0, 1), integral(1, 1)])
}

/// The step of twice the length: E² and Σ + E Σ Eᵀ.
fn doubled(e: [[f64; 2]; 2], [pp, pr, rr]: [f64; 3]) -> ([[f64; 2]; 2], [f64; 3]) {
    let [[a, b], [c, d]] = e;
    let flow = [[a * a + b * c, b * (a + d)], [c * (a + d), b * c + d * d]];
    let sigma = [
        pp + (a * a * pp + 2.0 * a * b * pr + b * b * rr),
        pr + (a * c * pp + (a * d + b * c) * pr + b * d * rr),
        rr + (c * c * pp + 2.0 * c * d * pr + d * d * rr),
    ];
    (flow, sigma)
}

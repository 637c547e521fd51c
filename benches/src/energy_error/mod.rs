//! Unadjusted Hamiltonian Monte Carlo with its step chosen by the energy error, the rule of Robnik,
//! Cohn-Gordon and Seljak (arXiv 2412.08876): a rival of our own measurement of the bias.
//!
//! # The relation on normal targets
//!
//! Take a coordinate with U = l θ²/2 and write q = √l θ, x = η √l. A leapfrog step is
//!
//! ```text
//! q' = (1 − x²/2) q + x p,    p' = −x (1 − x²/4) q + (1 − x²/2) p,
//! ```
//!
//! and it conserves c q² + p² with c = 1 − x²/4. With p drawn anew from N(0, 1), the stationary law
//! therefore has independent p and q, and q has the variance s = 1/c. The relative error of the
//! variance is
//!
//! ```text
//! b = s − 1 = (x²/4)/(1 − x²/4).
//! ```
//!
//! By the conserved quantity, the energy H = (q² + p²)/2 changes by ΔH = (x²/8) (q'² − q²). Both q
//! and q' have the variance s, and their correlation is 1 − x²/2. For such a pair the mean of
//! q'² − q² is 0 and its variance is 4 s² (1 − (1 − x²/2)²) = 4 s x². So ΔH has the mean 0 and the
//! variance
//!
//! ```text
//! V = x⁶/(16 (1 − x²/4)) = 4 b³/(1 + b)².
//! ```
//!
//! The energy error of d independent coordinates has the sum of these variances; divided by d it is
//! the *energy error variance per dimension*, the mean of V over coordinates.
//!
//! # The bound
//!
//! Let a = b/(1 + b) = x²/4, the error relative to the variance that the chain has, instead of the
//! one that it should have. Then V = 4 a³/(1 − a) = 4 (a³ + a⁴ + …). As a function of a² each term
//! is convex, so by Jensen's inequality (the power-mean inequality, term by term)
//!
//! ```text
//! 4 A³/(1 − A) ≤ mean of V,    A² = mean of a²,
//! ```
//!
//! for every spectrum on which the steps are stable, with equality if all eigenvalues are equal.
//! [`chain_bound`] solves this for A.
//!
//! For b itself, 4 b³/(1 + b)² is convex in b² up to b = √7 − 2 ([`LARGEST`]), and the same bound
//! holds as long as no coordinate is beyond it. It does not hold for every spectrum: a single
//! coordinate close to where steps are unstable, among many good ones, adds b²/d to the mean square
//! of the errors but only about 4 b/d to the energy error.

pub mod skewed;
pub mod tuner;

/// The largest relative error of a variance for which [`target_bound`] holds: √7 − 2.
pub const LARGEST: f64 = 0.645_751_311_064_590_6;

/// The relative error b of the stationary variance where a step has x = η √l, below 2.
#[must_use]
pub fn variance_error(x: f64) -> f64 {
    let a = 0.25 * x * x;
    a / (1.0 - a)
}

/// The variance of the energy error of one step where the relative error of the variance is `b`.
#[must_use]
pub fn energy_variance(b: f64) -> f64 {
    4.0 * b * (b / (1.0 + b)).powi(2)
}

/// The step at which the variance has the relative error `b`, on a standard normal.
#[must_use]
pub fn step_on_normal(b: f64) -> f64 {
    2.0 * (b / (1.0 + b)).sqrt()
}

/// The largest root mean square over coordinates of the errors of variances, relative to those of
/// the chain, that is possible with this energy error variance per dimension.
#[must_use]
pub fn chain_bound(energy: f64) -> f64 {
    let b = target_bound(energy);
    b / (1.0 + b)
}

/// The same relative to the variances of the target, if none of the errors is above [`LARGEST`].
#[must_use]
pub fn target_bound(energy: f64) -> f64 {
    // For b ≥ 1, V = 4 b³/(1 + b)² is at least b.
    let (mut low, mut high) = (0.0, energy + 1.0);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if energy_variance(middle) < energy {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

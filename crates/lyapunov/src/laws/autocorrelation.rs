//! Integrated autocorrelation times of θ and θ² in the stationary law.
//!
//! cov(x_k, x_0) = E[F]^k Σ, and cov(x_k x_kᵀ, θ_0²) is E[F · Fᵀ] applied k times to C = cov(x xᵀ,
//! θ²); both series are summed by one linear solve. In a Gaussian law C = 2 (Σe₁)(Σe₁)ᵀ. If the
//! step's matrix is itself random, the stationary law is not Gaussian and C is computed from its
//! fourth moments.

use super::fourth;
use super::linear::LinearForm;
use crate::matrix;

/// 1 + 2 (sum of the autocorrelations at lags 1, 2, ...), in steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Autocorrelation {
    theta: f64,
    theta_squared: f64,
}

impl Autocorrelation {
    /// Both times for a step at one eigenvalue; `None` if the step is unstable.
    #[must_use]
    pub fn new(form: &LinearForm) -> Option<Self> {
        Self::in_stationary(form, &form.stationary()?)
    }

    /// [`Self::new`] for a known stationary covariance.
    pub(super) fn in_stationary(form: &LinearForm, sigma: &matrix::Matrix<3>) -> Option<Self> {
        let variance = sigma[0][0];
        let start: [f64; 3] = std::array::from_fn(|i| sigma[i][0]);
        let system = matrix::combine(1.0, &matrix::identity(), -1.0, &form.mean_matrix());
        let theta = 2.0 * matrix::solve(&system, &start)?[0] / variance - 1.0;
        let square = if form.branches().len() == 1 {
            Some(matrix::from_fn(|i, j| 2.0 * start[i] * start[j]))
        } else {
            fourth::covariance_with_square(form, sigma)
        };
        let theta_squared = match square {
            Some(c) => 2.0 * form.sum_of_images(&c)?[0][0] / c[0][0] - 1.0,
            None => f64::INFINITY,
        };
        Some(Self { theta, theta_squared })
    }

    /// The time of θ: the number of steps per independent draw when θ is averaged. Below 1 for
    /// antithetic steps.
    #[must_use]
    pub fn theta(&self) -> f64 {
        self.theta
    }

    /// The time of θ²; infinite if θ² has no variance. In a Gaussian law it is never below 1, its
    /// value for independent draws.
    #[must_use]
    pub fn theta_squared(&self) -> f64 {
        self.theta_squared
    }

    /// The larger of the two.
    #[must_use]
    pub fn longer(&self) -> f64 {
        self.theta.max(self.theta_squared)
    }
}

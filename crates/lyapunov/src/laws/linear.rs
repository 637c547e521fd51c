//! One step at one eigenvalue: x' = F x + n with Gaussian n, where F and the covariance of n may be
//! random themselves, drawn anew for each step.

use crate::matrix::{self, Matrix};

/// The entries (i, j) with i <= j as which a symmetric 3x3 matrix is packed.
pub(super) const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// One outcome of the random choice in a step: with probability `weight`, x' = `matrix` x + noise
/// of covariance `noise`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Branch {
    /// Its probability, or its quadrature weight for a continuous choice.
    pub weight: f64,
    /// F, on (θ, p, r).
    pub matrix: [[f64; 3]; 3],
    /// The covariance of the Gaussian noise.
    pub noise: [[f64; 3]; 3],
}

/// A step of a kernel at one eigenvalue. States of fewer than three numbers are padded with zeros.
#[derive(Debug, Clone, PartialEq)]
pub struct LinearForm {
    dimension: usize,
    branches: Vec<Branch>,
    mean: Matrix<3>,
    noise: Matrix<3>,
    /// E[F ⊗ F] on packed symmetric matrices.
    second: Matrix<6>,
}

impl LinearForm {
    /// The form with these branches, whose weights sum to 1, on the first `dimension` of (θ, p, r).
    pub(super) fn new(dimension: usize, branches: Vec<Branch>) -> Self {
        let mut mean = [[0.0; 3]; 3];
        let mut noise = [[0.0; 3]; 3];
        let mut second = [[0.0; 6]; 6];
        for Branch { weight, matrix: f, noise: n } in &branches {
            mean = matrix::combine(1.0, &mean, *weight, f);
            noise = matrix::combine(1.0, &noise, *weight, n);
            let square = matrix::from_fn(|row, column| {
                let ((i, j), (a, b)) = (PAIRS[row], PAIRS[column]);
                let straight = f[i][a] * f[j][b];
                if a == b { straight } else { straight + f[i][b] * f[j][a] }
            });
            second = matrix::combine(1.0, &second, *weight, &square);
        }
        Self { dimension, branches, mean, noise, second }
    }

    /// The number of components of the state, 1, 2 or 3 of (θ, p, r).
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The outcomes of the random choice in a step; a single one for all kernels but the randomized
    /// midpoint.
    #[must_use]
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The mean of F, which maps the mean of a state.
    #[must_use]
    pub fn mean_matrix(&self) -> [[f64; 3]; 3] {
        self.mean
    }

    /// The covariance of the noise, averaged over the branches.
    #[must_use]
    pub fn mean_noise(&self) -> [[f64; 3]; 3] {
        self.noise
    }

    /// E[F ⊗ F] on symmetric matrices packed as in [`pack`].
    pub(super) fn second_moment_matrix(&self) -> &Matrix<6> {
        &self.second
    }

    /// The mean after one step, given the mean before.
    #[must_use]
    pub fn propagate_mean(&self, mean: &[f64; 3]) -> [f64; 3] {
        matrix::times_vector(&self.mean, mean)
    }

    /// E[x xᵀ] after one step, given E[x xᵀ] before.
    #[must_use]
    pub fn propagate_second_moment(&self, moment: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
        let moved = unpack(&matrix::times_vector(&self.second, &pack(moment)));
        matrix::combine(1.0, &moved, 1.0, &self.noise)
    }

    /// X with X − E[F X Fᵀ] = Y: the sum of all images of Y, if that converges. `None` for a
    /// singular system.
    pub(super) fn sum_of_images(&self, y: &Matrix<3>) -> Option<Matrix<3>> {
        let system = matrix::combine(1.0, &matrix::identity(), -1.0, &self.second);
        matrix::solve(&system, &pack(y)).map(|x| unpack(&x))
    }

    /// X with X − E[F X Fᵀ] = I; `None` if the step is unstable. E[F · Fᵀ] preserves positive
    /// matrices, so it is a contraction exactly if this X is positive definite. The images of any Y
    /// between −X and X then satisfy |Y₁₁| <= X₁₁ forever.
    pub(super) fn barrier(&self) -> Option<Matrix<3>> {
        let x = self.sum_of_images(&matrix::identity())?;
        matrix::cholesky(&x).map(|_| x)
    }

    /// Whether second moments converge.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.barrier().is_some()
    }

    /// The stationary covariance; `None` if the step is unstable.
    #[must_use]
    pub fn stationary(&self) -> Option<[[f64; 3]; 3]> {
        self.barrier()?;
        self.sum_of_images(&self.noise).filter(|sigma| sigma[0][0] > 0.0)
    }

    /// The factor per step by which second moments approach their limit, as a factor of lengths:
    /// the root of the spectral radius of E[F ⊗ F], which for a single branch is the spectral
    /// radius of F. `None` if the eigenvalues cannot be computed.
    #[must_use]
    pub fn spectral_radius(&self) -> Option<f64> {
        let second = faer::Mat::from_fn(6, 6, |i, j| self.second[i][j]);
        let values = second.eigenvalues().ok()?;
        Some(values.iter().map(|value| value.re.hypot(value.im)).fold(0.0, f64::max).sqrt())
    }
}

/// The six entries of a symmetric matrix, in the order of [`PAIRS`].
pub(super) fn pack(s: &Matrix<3>) -> [f64; 6] {
    PAIRS.map(|(i, j)| s[i][j])
}

/// The symmetric matrix with these entries.
pub(super) fn unpack(v: &[f64; 6]) -> Matrix<3> {
    [[v[0], v[1], v[2]], [v[1], v[3], v[4]], [v[2], v[4], v[5]]]
}

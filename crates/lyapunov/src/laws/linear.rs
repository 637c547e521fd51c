//! One step on one eigenvalue: x' = F x + n with Gaussian n, where (F, covariance of n) may be
//! drawn anew at each step.

use crate::matrix::{self, Matrix};

/// The pairs (i, j) with i <= j in which a symmetric 3x3 matrix is packed.
pub(super) const PAIRS: [(usize, usize); 6] = [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)];

/// One outcome of a step's own randomness: with probability `weight`, x' = `matrix` x + noise of
/// covariance `noise`.
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
    /// The form with these branches, whose weights have sum 1, on the first `dimension` of (θ, p,
    /// r).
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

    /// How many of (θ, p, r) the state has: 1, 2 or 3.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The outcomes of the step's own randomness; one alone for all kernels but the randomized
    /// midpoint.
    #[must_use]
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The mean of F: where the mean of a state goes.
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

    /// The mean after one step from a state of this mean.
    #[must_use]
    pub fn propagate_mean(&self, mean: &[f64; 3]) -> [f64; 3] {
        matrix::times_vector(&self.mean, mean)
    }

    /// E[x xᵀ] after one step from a state with this E[x xᵀ].
    #[must_use]
    pub fn propagate_second_moment(&self, moment: &[[f64; 3]; 3]) -> [[f64; 3]; 3] {
        let moved = unpack(&matrix::times_vector(&self.second, &pack(moment)));
        matrix::combine(1.0, &moved, 1.0, &self.noise)
    }

    /// X with X − E[F X Fᵀ] = Y: the sum of all images of Y, where that converges. `None` for a
    /// singular system.
    pub(super) fn sum_of_images(&self, y: &Matrix<3>) -> Option<Matrix<3>> {
        let system = matrix::combine(1.0, &matrix::identity(), -1.0, &self.second);
        matrix::solve(&system, &pack(y)).map(|x| unpack(&x))
    }

    /// X with X − E[F X Fᵀ] = I, for a stable step only: E[F · Fᵀ] keeps positive matrices
    /// positive, so that it is a contraction exactly if this X is positive definite. With it |Y₁₁|
    /// of any Y between −X and X stays below X₁₁ for ever.
    pub(super) fn barrier(&self) -> Option<Matrix<3>> {
        let x = self.sum_of_images(&matrix::identity())?;
        matrix::cholesky(&x).map(|_| x)
    }

    /// Whether second moments converge.
    #[must_use]
    pub fn is_stable(&self) -> bool {
        self.barrier().is_some()
    }

    /// The covariance that a step leaves as it is; `None` if the step is not stable.
    #[must_use]
    pub fn stationary(&self) -> Option<[[f64; 3]; 3]> {
        self.barrier()?;
        self.sum_of_images(&self.noise).filter(|sigma| sigma[0][0] > 0.0)
    }

    /// The factor by which second moments approach their limit, as a factor of lengths: the root of
    /// the spectral radius of E[F ⊗ F], which for a single branch is the spectral radius of F.
    /// `None` where no eigenvalues are found.
    #[must_use]
    pub fn spectral_radius(&self) -> Option<f64> {
        let second = faer::Mat::from_fn(6, 6, |i, j| self.second[i][j]);
        let values = second.eigenvalues().ok()?;
        Some(values.iter().map(|value| value.re.hypot(value.im)).fold(0.0, f64::max).sqrt())
    }
}

/// The six different entries of a symmetric matrix, in the order of [`PAIRS`].
pub(super) fn pack(s: &Matrix<3>) -> [f64; 6] {
    PAIRS.map(|(i, j)| s[i][j])
}

/// The symmetric matrix with these entries.
pub(super) fn unpack(v: &[f64; 6]) -> Matrix<3> {
    [[v[0], v[1], v[2]], [v[1], v[3], v[4]], [v[2], v[4], v[5]]]
}

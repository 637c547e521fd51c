//! Extreme eigenvalues of a symmetric matrix, proven: a solver's answer is widened until a Cholesky
//! factorisation confirms it.
//!
//! S. M. Rump (Verification of positive definiteness, BIT 46, 2006): if the factorisation of C − c
//! I in floating point, in whatever order its sums run, meets no pivot that is not positive, then C
//! is positive semidefinite, provided that c is at least about (d + 1) u trace(C) with u the unit
//! roundoff. Here c is four times that, which also covers the rounding of the diagonal of C and
//! factorisations that multiply by a reciprocal.

use faer::{Mat, Side};

/// How often a margin that is too narrow is widened fourfold.
const TRIES: usize = 20;

/// A number that no eigenvalue of the matrix exceeds; `None` if none could be proven.
pub(crate) fn largest(matrix: &[f64], d: usize) -> Option<f64> {
    let estimate = *eigenvalues(matrix, d)?.last()?;
    let trace: f64 = matrix.iter().step_by(d + 1).sum();
    let mut margin =
        4.0 * allowance(d, d as f64 * estimate.abs() - trace) + f64::EPSILON * estimate.abs();
    for _ in 0..TRIES {
        let bound = estimate + margin;
        if semidefinite(
            d,
            |i, j| if i == j { bound - matrix[i * d + i] } else { -matrix[i * d + j] },
        ) {
            return Some(bound);
        }
        margin = 4.0 * margin + f64::MIN_POSITIVE;
    }
    None
}

/// A number that no eigenvalue of the matrix goes below; `None` if none could be proven.
pub(crate) fn smallest(matrix: &[f64], d: usize) -> Option<f64> {
    let estimate = *eigenvalues(matrix, d)?.first()?;
    let trace: f64 = matrix.iter().step_by(d + 1).sum();
    let mut margin = 4.0 * allowance(d, trace) + f64::EPSILON * estimate.abs();
    for _ in 0..TRIES {
        let bound = estimate - margin;
        if semidefinite(
            d,
            |i, j| if i == j { matrix[i * d + i] - bound } else { matrix[i * d + j] },
        ) {
            return Some(bound);
        }
        margin = 4.0 * margin + f64::MIN_POSITIVE;
    }
    None
}

/// All eigenvalues, ascending, as the solver gives them.
pub(crate) fn eigenvalues(matrix: &[f64], d: usize) -> Option<Vec<f64>> {
    if matrix.iter().any(|x| !x.is_finite()) {
        return None;
    }
    Mat::from_fn(d, d, |i, j| matrix[i * d + j]).self_adjoint_eigenvalues(Side::Lower).ok()
}

/// Whether a symmetric matrix is positive semidefinite for certain.
fn semidefinite(d: usize, entry: impl Fn(usize, usize) -> f64) -> bool {
    let shift = allowance(d, (0..d).map(|k| entry(k, k)).sum());
    let shifted = Mat::from_fn(d, d, |i, j| if i == j { entry(i, i) - shift } else { entry(i, j) });
    shifted.llt(Side::Lower).is_ok()
}

/// c for a matrix of d rows with this trace.
fn allowance(d: usize, trace: f64) -> f64 {
    2.0 * (d as f64 + 8.0) * f64::EPSILON * trace.abs()
}

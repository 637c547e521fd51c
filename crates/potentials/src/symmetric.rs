//! Eigenvectors and Cholesky factors of a symmetric matrix, for code that is generic over a family.
//!
//! faer's solvers are generic too. Called from there they would be compiled again in every crate
//! that names a family, which took most of the time of building our tests; here they are compiled
//! once, and must not be inlined.

use faer::linalg::solvers::{Llt, Solve};
use faer::{Mat, Side};

/// Eigenvalues, ascending, and a column for each; `None` if the solver finds none. Reads the lower
/// triangle.
#[inline(never)]
pub(crate) fn eigen(matrix: &Mat<f64>) -> Option<(Vec<f64>, Mat<f64>)> {
    let eigen = matrix.self_adjoint_eigen(Side::Lower).ok()?;
    Some((eigen.S().column_vector().iter().copied().collect(), eigen.U().to_owned()))
}

/// The Cholesky factor; `None` if the matrix is not positive definite. Reads the lower triangle.
#[inline(never)]
pub(crate) fn cholesky(matrix: &Mat<f64>) -> Option<Llt<f64>> {
    matrix.llt(Side::Lower).ok()
}

/// Puts the solution x of L Lᵀ x = b in the place of b.
#[inline(never)]
pub(crate) fn solve(factor: &Llt<f64>, b: &mut Mat<f64>) {
    factor.solve_in_place(b);
}

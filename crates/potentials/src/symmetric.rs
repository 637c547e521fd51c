//! Eigenvectors and Cholesky factors of a symmetric matrix, and reflections, for code that is generic over a family.
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

/// The reflectors of a factorisation Q R, below a diagonal of ones. The matrix has at least as many
/// rows as columns.
#[inline(never)]
pub(crate) fn reflectors(matrix: Mat<f64>) -> Mat<f64> {
    let found = matrix.qr();
    let basis = found.Q_basis();
    Mat::from_fn(basis.nrows(), matrix.ncols(), |i, j| match i.cmp(&j) {
        std::cmp::Ordering::Less => 0.0,
        std::cmp::Ordering::Equal => 1.0,
        std::cmp::Ordering::Greater => basis[(i, j)],
    })
}

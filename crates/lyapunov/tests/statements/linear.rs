//! Three by three matrices.

use ridgewalk_lyapunov::paper::Matrix3;

pub(super) fn product(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).map(|k| a[i][k] * b[k][j]).sum()))
}

pub(super) fn transpose(a: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

pub(super) fn minus(a: &Matrix3, b: &Matrix3) -> Matrix3 {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][j] - b[i][j]))
}

/// a⁻¹ by cofactors.
pub(super) fn inverse(a: &Matrix3) -> Matrix3 {
    let cofactor = |i: usize, j: usize| {
        let at = |di: usize, dj: usize| a[(i + di) % 3][(j + dj) % 3];
        at(1, 1) * at(2, 2) - at(1, 2) * at(2, 1)
    };
    let determinant: f64 = (0..3).map(|j| a[0][j] * cofactor(0, j)).sum();
    std::array::from_fn(|i| std::array::from_fn(|j| cofactor(j, i) / determinant))
}

/// exp(a) by its series.
pub(super) fn exponential(a: &Matrix3) -> Matrix3 {
    let mut term = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]];
    let mut sum = term;
    for n in 1..40 {
        term = product(&term, a).map(|row| row.map(|x| x / f64::from(n)));
        sum = std::array::from_fn(|i| std::array::from_fn(|j| sum[i][j] + term[i][j]));
    }
    sum
}

/// Σ S_ij E⟨x_i, x_j⟩ for the given second moments.
pub(super) fn in_norm(s: &Matrix3, moment: &Matrix3) -> f64 {
    (0..3).map(|i| (0..3).map(|j| s[i][j] * moment[i][j]).sum::<f64>()).sum()
}

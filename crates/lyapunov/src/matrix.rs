//! Small dense matrices of fixed size, as nested arrays.

/// An R x C matrix, row by row.
pub(crate) type Matrix<const R: usize, const C: usize = R> = [[f64; C]; R];

/// The identity.
pub(crate) fn identity<const N: usize>() -> Matrix<N> {
    from_fn(|i, j| f64::from(u8::from(i == j)))
}

/// The matrix with entries `entry(row, column)`.
pub(crate) fn from_fn<const R: usize, const C: usize>(
    entry: impl Fn(usize, usize) -> f64,
) -> Matrix<R, C> {
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// The transpose.
pub(crate) fn transpose<const R: usize, const C: usize>(a: &Matrix<R, C>) -> Matrix<C, R> {
    from_fn(|i, j| a[j][i])
}

/// The product a b.
pub(crate) fn product<const R: usize, const K: usize, const C: usize>(
    a: &Matrix<R, K>, b: &Matrix<K, C>,
) -> Matrix<R, C> {
    from_fn(|i, j| (0..K).map(|k| a[i][k] * b[k][j]).sum())
}

/// The product a v.
pub(crate) fn times_vector<const R: usize, const C: usize>(
    a: &Matrix<R, C>, v: &[f64; C],
) -> [f64; R] {
    std::array::from_fn(|i| (0..C).map(|k| a[i][k] * v[k]).sum())
}

/// aᵀ s a for a symmetric s: exactly symmetric.
pub(crate) fn congruence<const N: usize, const C: usize>(
    s: &Matrix<N>, a: &Matrix<N, C>,
) -> Matrix<C> {
    let sa = product(s, a);
    let full = product(&transpose(a), &sa);
    from_fn(|i, j| 0.5 * (full[i][j] + full[j][i]))
}

/// The combination x a + y b.
pub(crate) fn combine<const R: usize, const C: usize>(
    x: f64, a: &Matrix<R, C>, y: f64, b: &Matrix<R, C>,
) -> Matrix<R, C> {
    from_fn(|i, j| x * a[i][j] + y * b[i][j])
}

/// The solution of a x = b by elimination with row pivoting; `None` if a pivot vanishes or is not
/// finite.
pub(crate) fn solve<const N: usize>(a: &Matrix<N>, b: &[f64; N]) -> Option<[f64; N]> {
    let (mut a, mut b) = (*a, *b);
    for k in 0..N {
        let pivot = (k..N).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        b.swap(k, pivot);
        if !(a[k][k] != 0.0 && a[k][k].is_finite()) {
            return None;
        }
        for i in k + 1..N {
            let factor = a[i][k] / a[k][k];
            for j in k..N {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..N).rev() {
        let known: f64 = (k + 1..N).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - known) / a[k][k];
    }
    Some(b)
}

/// The inverse; `None` if the matrix is singular.
pub(crate) fn inverse<const N: usize>(a: &Matrix<N>) -> Option<Matrix<N>> {
    let columns: [Option<[f64; N]>; N] =
        std::array::from_fn(|j| solve(a, &std::array::from_fn(|i| f64::from(u8::from(i == j)))));
    let mut inverse = [[0.0; N]; N];
    for (j, column) in columns.into_iter().enumerate() {
        for (i, value) in column?.into_iter().enumerate() {
            inverse[i][j] = value;
        }
    }
    Some(inverse)
}

/// The lower Cholesky factor; `None` unless the matrix is positive definite.
pub(crate) fn cholesky<const N: usize>(a: &Matrix<N>) -> Option<Matrix<N>> {
    let mut l = [[0.0; N]; N];
    for i in 0..N {
        for j in 0..=i {
            let sum = a[i][j] - (0..j).map(|k| l[i][k] * l[j][k]).sum::<f64>();
            if i == j {
                if !(sum > 0.0 && sum.is_finite()) {
                    return None;
                }
                l[i][i] = sum.sqrt();
            } else {
                l[i][j] = sum / l[j][j];
            }
        }
    }
    Some(l)
}

/// The eigenvalues of a symmetric matrix in ascending order, by Jacobi rotations.
pub(crate) fn symmetric_eigenvalues<const N: usize>(a: &Matrix<N>) -> [f64; N] {
    let mut a = *a;
    for _ in 0..60 {
        let off: f64 =
            (0..N).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        let diagonal: f64 = (0..N).map(|i| a[i][i] * a[i][i]).sum();
        if off <= 1e-36 * diagonal {
            break;
        }
        for p in 0..N {
            for q in p + 1..N {
                rotate(&mut a, p, q);
            }
        }
    }
    let mut values = std::array::from_fn(|i| a[i][i]);
    values.sort_by(f64::total_cmp);
    values
}

/// One Jacobi rotation that makes entry (p, q) zero.
fn rotate<const N: usize>(a: &mut Matrix<N>, p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for row in a.iter_mut() {
        let (x, y) = (row[p], row[q]);
        row[p] = c * x - s * y;
        row[q] = s * x + c * y;
    }
    for k in 0..N {
        let (x, y) = (a[p][k], a[q][k]);
        a[p][k] = c * x - s * y;
        a[q][k] = s * x + c * y;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: Matrix<3> = [[4.0, 1.0, -2.0], [1.0, 3.0, 0.5], [-2.0, 0.5, 5.0]];

    #[test]
    fn inverse_and_solution_undo_the_product() {
        let back = product(&A, &inverse(&A).unwrap());
        for (i, row) in back.iter().enumerate() {
            for (j, value) in row.iter().enumerate() {
                assert!((value - f64::from(u8::from(i == j))).abs() < 1e-15);
            }
        }
        let x = solve(&A, &[1.0, 2.0, 3.0]).unwrap();
        let b = times_vector(&A, &x);
        assert!((b[0] - 1.0).abs() + (b[1] - 2.0).abs() + (b[2] - 3.0).abs() < 1e-14);
        assert!(solve(&[[1.0, 2.0], [2.0, 4.0]], &[1.0, 1.0]).is_none());
    }

    #[test]
    fn cholesky_of_a_positive_matrix_and_refusal_of_another() {
        let l = cholesky(&A).unwrap();
        let back = product(&l, &transpose(&l));
        assert!((0..3).all(|i| (0..3).all(|j| (back[i][j] - A[i][j]).abs() < 1e-15)));
        assert!(cholesky(&[[1.0, 2.0], [2.0, 1.0]]).is_none());
        assert!(cholesky(&[[f64::NAN]]).is_none());
    }

    #[test]
    fn eigenvalues_have_the_right_sums_of_powers() {
        let values = symmetric_eigenvalues(&A);
        let square = product(&A, &A);
        assert!((values.iter().sum::<f64>() - 12.0).abs() < 1e-14);
        let trace: f64 = (0..3).map(|i| square[i][i]).sum();
        assert!((values.iter().map(|v| v * v).sum::<f64>() - trace).abs() < 1e-13);
        assert!(values[0] < values[1] && values[1] < values[2]);
        assert_eq!(symmetric_eigenvalues(&[[2.0, 1.0], [1.0, 2.0]]).map(f64::round), [1.0, 3.0]);
    }

    #[test]
    fn congruence_and_combination() {
        let c = congruence(&A, &[[1.0], [1.0], [0.0]]);
        assert_eq!(c, [[9.0]]);
        assert_eq!(
            combine(2.0, &identity::<2>(), 1.0, &[[0.0, 1.0], [0.0, 0.0]]),
            [[2.0, 1.0], [0.0, 2.0]]
        );
    }
}

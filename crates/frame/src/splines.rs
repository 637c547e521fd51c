//! The functions of a smooth term: cubic B-splines with knots at equal spacing on [0, 1], continued
//! as lines, turned so that the penalty on their curvature is the identity.
//!
//! f = Σ β_j B_j has the penalty ∫ f''² = βᵀ S β, which is 0 for lines. In the space of the f that
//! are orthogonal to constants and to the line over the rows of the fit, with the orthonormal basis
//! N of their β, the penalty Nᵀ S N = U D Uᵀ is positive definite. With β = N U D^(−1/2) b the
//! penalty is |b|², so that independent normal effects b are the prior that the penalty stands for.

use crate::basis::{Knots, reflect, reflection};

/// The smallest number of functions: one cubic piece.
pub(crate) const LEAST: usize = 4;
/// Sweeps of Jacobi's method, which needs fewer than ten.
const SWEEPS: usize = 60;

/// B-splines on [0, 1].
pub(crate) struct Splines {
    knots: Knots,
    pub(crate) count: usize,
}

impl Splines {
    /// So many functions, at least 4.
    pub(crate) fn new(count: usize) -> Self {
        let pieces = count - 3;
        let inner: Vec<f64> = (1..pieces).map(|k| k as f64 / pieces as f64).collect();
        Self { knots: Knots::new(&inner, [0.0, 1.0], 3), count }
    }

    /// The value of each function; beyond the ends the functions continue as lines.
    pub(crate) fn row(&self, u: f64) -> Vec<f64> {
        let inside = u.clamp(0.0, 1.0);
        let mut values = self.knots.splines(inside, 0);
        if u != inside {
            let slopes = self.knots.splines(inside, 1);
            values.iter_mut().zip(slopes).for_each(|(value, slope)| *value += slope * (u - inside));
        }
        values
    }

    /// The integrals of products of second derivatives, row after row. The derivatives are lines
    /// between knots, so two nodes of Gauss in each piece are exact.
    pub(crate) fn penalty(&self) -> Vec<f64> {
        let (count, pieces) = (self.count, self.count - 3);
        let width = 1.0 / pieces as f64;
        let mut all = vec![0.0; count * count];
        for piece in 0..pieces {
            for side in [-1.0, 1.0] {
                let u = (piece as f64 + 0.5) * width + side * width / (2.0 * 3.0_f64.sqrt());
                add_square(&mut all, &self.knots.splines(u, 2), width / 2.0);
            }
        }
        all
    }

    /// The matrix from effects b to β, row after row, for the rows `u` of a fit, on which the
    /// straight line is `line`, centred. Each row of the design is multiplied by its factor `by`. The
    /// mean over the rows of the sum of squares of the functions is 1. `None` if they are all 0.
    pub(crate) fn transform(&self, u: &[f64], line: &[f64], by: &[f64]) -> Option<Vec<f64>> {
        let count = self.count;
        let mut moments = [vec![0.0; count], vec![0.0; count]];
        let mut squares = vec![0.0; count * count];
        for ((&u, line), by) in u.iter().zip(line).zip(by) {
            let row = self.row(u);
            for (moments, by) in moments.iter_mut().zip([1.0, *line]) {
                moments.iter_mut().zip(&row).for_each(|(sum, value)| *sum += by * value);
            }
            add_square(&mut squares, &row, by * by);
        }
        let orthogonal = complement(moments, count);
        let wide = orthogonal.len();
        let mut reduced = quadratic(&self.penalty(), &orthogonal);
        let vectors = eigenvectors(&mut reduced, wide);
        let mut order: Vec<usize> = (0..wide).collect();
        order.sort_by(|&a, &b| reduced[a * wide + a].total_cmp(&reduced[b * wide + b]));
        let columns: Vec<Vec<f64>> = order
            .iter()
            .map(|&k| {
                let scale = reduced[k * wide + k].sqrt();
                let mut column = vec![0.0; count];
                for (j, direction) in orthogonal.iter().enumerate() {
                    let part = vectors[j * wide + k] / scale;
                    column.iter_mut().zip(direction).for_each(|(sum, d)| *sum += part * d);
                }
                signed(column)
            })
            .collect();
        let sizes = quadratic(&squares, &columns);
        let total: f64 = (0..wide).map(|k| sizes[k * wide + k]).sum::<f64>() / u.len() as f64;
        let size: f64 = columns.iter().flatten().map(|value| value * value).sum();
        if !(total > 1e-20 * size && total.is_finite()) {
            return None;
        }
        let scale = total.sqrt();
        Some((0..count).flat_map(|j| columns.iter().map(move |c| c[j] / scale)).collect())
    }
}

/// Adds a multiple of the products of all pairs of a row with few entries.
fn add_square(all: &mut [f64], row: &[f64], factor: f64) {
    let few: Vec<(usize, f64)> =
        row.iter().copied().enumerate().filter(|(_, v)| *v != 0.0).collect();
    for &(i, a) in &few {
        few.iter().for_each(|&(j, b)| all[i * row.len() + j] += factor * a * b);
    }
}

/// An orthonormal basis of what is orthogonal to two vectors.
fn complement(mut vectors: [Vec<f64>; 2], count: usize) -> Vec<Vec<f64>> {
    let first = reflection(&vectors[0], 0);
    reflect(&first, &mut vectors[1], 0);
    let second = reflection(&vectors[1], 1);
    let direction = |k: usize| {
        let mut direction = vec![0.0; count];
        direction[k] = 1.0;
        reflect(&second, &mut direction, 1);
        reflect(&first, &mut direction, 0);
        direction
    };
    (2..count).map(direction).collect()
}

/// The products of all pairs of vectors by a symmetric matrix.
fn quadratic(matrix: &[f64], vectors: &[Vec<f64>]) -> Vec<f64> {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let mut all = Vec::with_capacity(vectors.len() * vectors.len());
    for vector in vectors {
        let image: Vec<f64> = matrix.chunks(vector.len()).map(|row| dot(row, vector)).collect();
        all.extend(vectors.iter().map(|other| dot(&image, other)));
    }
    all
}

/// The function with the sign for which it is positive at the upper end, where the last spline is 1
/// and the others are 0; if it is 0 there, for which the last coefficient that is not is positive.
fn signed(mut column: Vec<f64>) -> Vec<f64> {
    let size = column.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
    let last = column.iter().rev().find(|value| value.abs() > 1e-6 * size);
    if last.is_some_and(|value| *value < 0.0) {
        column.iter_mut().for_each(|value| *value = -*value);
    }
    column
}

/// The eigenvectors of a positive definite matrix as columns, by Jacobi's rotations, which leave its
/// eigenvalues in the diagonal.
fn eigenvectors(matrix: &mut [f64], n: usize) -> Vec<f64> {
    let mut vectors = vec![0.0; n * n];
    (0..n).for_each(|k| vectors[k * n + k] = 1.0);
    for _ in 0..SWEEPS {
        let mut turned = false;
        for p in 0..n {
            for q in p + 1..n {
                let (a, b, off) = (matrix[p * n + p], matrix[q * n + q], matrix[p * n + q]);
                // Relative to both, which keeps small eigenvalues accurate.
                if off.abs() <= f64::EPSILON * 0.1 * (a * b).abs().sqrt() {
                    continue;
                }
                turned = true;
                let half = (b - a) / (2.0 * off);
                let tangent = half.signum() / (half.abs() + half.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for k in 0..n {
                    rotate(matrix, [k * n + p, k * n + q], [cosine, sine]);
                    rotate(&mut vectors, [k * n + p, k * n + q], [cosine, sine]);
                }
                for k in 0..n {
                    rotate(matrix, [p * n + k, q * n + k], [cosine, sine]);
                }
                (matrix[p * n + q], matrix[q * n + p]) = (0.0, 0.0);
            }
        }
        if !turned {
            break;
        }
    }
    vectors
}

fn rotate(values: &mut [f64], [p, q]: [usize; 2], [cosine, sine]: [f64; 2]) {
    let (a, b) = (values[p], values[q]);
    (values[p], values[q]) = (cosine * a - sine * b, sine * a + cosine * b);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (Vec<f64>, Vec<f64>) {
        let u: Vec<f64> = (0..50).map(|k| (f64::from(k) / 49.0).powi(2)).collect();
        let mean = u.iter().sum::<f64>() / 50.0;
        let sd = (u.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / 50.0).sqrt();
        let line = u.iter().map(|u| (u - mean) / sd).collect();
        (u, line)
    }

    #[test]
    fn the_penalty_is_that_of_polynomials() {
        // Splines reproduce u² and u³ at their Greville points' blossoms; here by interpolation of
        // second derivatives: ∫ (2)² = 4, ∫ (6u)² = 12, ∫ 2 · 6u = 6.
        for count in [4, 5, 9, 40] {
            let splines = Splines::new(count);
            // The blossom of u² and of u³ at three consecutive knots gives the coefficients.
            let knots = |k: usize| (k as f64 / (count - 3) as f64).min(1.0);
            let clamped = |k: usize| knots(k.saturating_sub(3));
            let at = |j: usize| [1, 2, 3].map(|k| clamped(j + k));
            let square: Vec<f64> =
                (0..count).map(at).map(|[a, b, c]| (a * b + b * c + a * c) / 3.0).collect();
            let cube: Vec<f64> = (0..count).map(at).map(|[a, b, c]| a * b * c).collect();
            let found = quadratic(&splines.penalty(), &[square, cube]);
            for (found, need) in found.iter().zip([4.0, 6.0, 6.0, 12.0]) {
                assert!((found - need).abs() < 1e-9 * need, "{count}: {found} {need}");
            }
        }
    }

    #[test]
    fn functions_are_orthogonal_to_lines_and_their_penalty_is_the_identity() {
        let (u, line) = rows();
        for count in [4, 5, 10, 40] {
            let splines = Splines::new(count);
            let transform = splines.transform(&u, &line, &vec![1.0; u.len()]).unwrap();
            let wide = count - 2;
            let columns: Vec<Vec<f64>> =
                (0..wide).map(|k| (0..count).map(|j| transform[j * wide + k]).collect()).collect();
            let penalty = quadratic(&splines.penalty(), &columns);
            for (k, value) in penalty.iter().enumerate() {
                let need = if k % (wide + 1) == 0 { penalty[0] } else { 0.0 };
                assert!((value - need).abs() < 1e-8 * penalty[0], "{count}: {value} {need}");
            }
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let mut total = 0.0;
            for column in &columns {
                let values: Vec<f64> = u.iter().map(|u| dot(&splines.row(*u), column)).collect();
                assert!(
                    values.iter().sum::<f64>().abs() < 1e-9 && dot(&values, &line).abs() < 1e-9
                );
                assert!(dot(&splines.row(1.0), column) > 0.0);
                total += dot(&values, &values);
            }
            assert!((total / u.len() as f64 - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn two_values_have_no_wiggles() {
        let u = [0.0, 1.0, 0.0, 1.0];
        assert!(Splines::new(6).transform(&u, &[-1.0, 1.0, -1.0, 1.0], &[1.0; 4]).is_none());
    }
}

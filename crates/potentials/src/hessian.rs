//! Products with a design, and the matrices made of them: Hessians and Gram matrices.
//!
//! Sums over rows run in an order that only the shape of the design decides, in one thread: the
//! same on every machine of one kind.

use faer::linalg::matmul::{matmul, triangular};
use faer::{Accum, MatMut, MatRef, Par};

use crate::curvature::DENSE;
use crate::design::{Dense, Design};
use crate::error::{Error, length};
use crate::families::Family;
use crate::ridge::Ridge;

/// Numbers in a block of rows that is read twice: small enough to be still in the cache the second
/// time.
const BLOCK: usize = 1 << 16;
/// Rows of a block of a design with many columns.
const WIDE_BLOCK: usize = 256;

impl<F: Family> Ridge<'_, F> {
    /// The Hessian at a point, d rows of d: Aᵀ diag(w u″) A and the prior's precisions.
    ///
    /// ```
    /// use ridgewalk_potentials::families::Logistic;
    /// use ridgewalk_potentials::{Dense, Prior, Ridge};
    ///
    /// let model = Ridge::new(Dense::new(2, 1, vec![1.0, 3.0])?, Logistic, &[0.0, 1.0], Prior::centred(1, 2.0)?)?;
    /// // At 0 each u″ is 1/4: (1 + 9)/4 + 1/4.
    /// assert_eq!(model.hessian(&[0.0])?, [2.75]);
    /// # Ok::<(), ridgewalk_potentials::Error>(())
    /// ```
    ///
    /// # Errors
    /// A point of another dimension, or one where the Hessian is not finite.
    pub fn hessian(&self, point: &[f64]) -> Result<Vec<f64>, Error> {
        length("the point", point.len(), self.dimension())?;
        let curvatures = self.row_curvatures(&self.predictors(point));
        let mut hessian = self.gram(&curvatures);
        self.design().intact()?;
        self.quadratic().add_to(&mut hessian);
        if hessian.iter().all(|h| h.is_finite()) {
            Ok(hessian)
        } else {
            Err(Error::NotFinite { what: "the Hessian", point: point.to_vec() })
        }
    }

    /// The mean of the Hessians at some points, one after the other: Q + Aᵀ diag(c) A with the mean
    /// curvature of each row, at the cost of one Hessian.
    ///
    /// # Errors
    /// As [`Ridge::hessian`]; no points.
    pub fn mean_hessian(&self, points: &[f64]) -> Result<Vec<f64>, Error> {
        let (d, count) = (self.dimension(), points.len() / self.dimension());
        length("the list of points", points.len(), count.max(1) * d)?;
        let mut mean = vec![0.0; self.observations().len()];
        for point in points.chunks_exact(d) {
            let curvatures = self.row_curvatures(&self.predictors(point));
            mean.iter_mut().zip(curvatures).for_each(|(mean, c)| *mean += c / count as f64);
        }
        let mut hessian = self.gram(&mean);
        self.quadratic().add_to(&mut hessian);
        if hessian.iter().all(|h| h.is_finite()) {
            Ok(hessian)
        } else {
            Err(Error::NotFinite { what: "the mean Hessian", point: points[..d].to_vec() })
        }
    }

    /// Aᵀ diag(c) A over the rows of all processes.
    pub(crate) fn gram(&self, c: &[f64]) -> Vec<f64> {
        let mut matrix = gram(self.design(), c);
        self.rows().sum(&mut matrix);
        matrix
    }

    /// sum += Aᵀ c over the rows of all processes.
    pub(crate) fn add_backward(&self, c: &[f64], sum: &mut [f64]) {
        let mut here = vec![0.0; sum.len()];
        add_backward(self.design(), c, &mut here);
        self.rows().sum(&mut here);
        sum.iter_mut().zip(here).for_each(|(sum, here)| *sum += here);
    }

    /// The linear predictors of all rows, offsets included.
    pub(crate) fn predictors(&self, point: &[f64]) -> Vec<f64> {
        let mut predictors = forward(self.design(), point);
        predictors.iter_mut().enumerate().for_each(|(row, s)| *s += self.offset(row));
        predictors
    }

    /// w u″ of each row at its predictor.
    pub(crate) fn row_curvatures(&self, predictors: &[f64]) -> Vec<f64> {
        let rows = predictors.iter().zip(self.observations()).enumerate();
        rows.map(|(row, (&s, &y))| self.weight(row) * self.family().curvature(s, y)).collect()
    }

    /// w times a number that the family gives for each row.
    pub(crate) fn weighted(
        &self, of: impl Fn(crate::families::Observation) -> Option<f64>,
    ) -> Option<Vec<f64>> {
        // Not collected, which would not know the length, and take up to three times the memory.
        let mut all = Vec::with_capacity(self.observations().len());
        for (row, &y) in self.observations().iter().enumerate() {
            all.push(self.weight(row) * of(y)?);
        }
        Some(all)
    }
}

/// Calls a function with each column and stored entry of a row.
#[inline]
pub(crate) fn visit(design: &Design<'_>, row: usize, mut with: impl FnMut(usize, f64)) {
    match design {
        Design::Dense(dense) => {
            let d = design.columns();
            dense.values()[row * d..(row + 1) * d]
                .iter()
                .enumerate()
                .for_each(|(k, &a)| with(k, a));
        }
        Design::Sparse(sparse) => {
            sparse.entries(row).for_each(|(k, a)| with(k, a));
        }
        Design::Stored(stored) => {
            stored.row(row, |row| row.iter().enumerate().for_each(|(k, &a)| with(k, a)));
        }
    }
}

/// Calls a function with so many rows of a dense design after another, and with the number of the
/// first.
fn for_blocks(design: &Design<'_>, rows: usize, mut with: impl FnMut(usize, &[f64])) {
    match design {
        Design::Dense(dense) => {
            let blocks = dense.values().chunks(rows * dense.columns()).enumerate();
            blocks.for_each(|(index, block)| with(index * rows, block));
        }
        Design::Stored(stored) => stored.for_blocks(rows, with),
        // Its rows are no slices.
        Design::Sparse(_) => {}
    }
}

/// Rows of a block that is read twice.
pub(crate) fn rows_of_block(columns: usize) -> usize {
    (BLOCK / columns).clamp(8, 1024)
}

/// A x.
pub(crate) fn forward(design: &Design<'_>, x: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; design.rows()];
    match design {
        Design::Dense(_) | Design::Stored(_) => {
            for_blocks(design, rows_of_block(x.len()), |first, block| {
                let rows = block.len() / x.len();
                let matrix = MatRef::from_row_major_slice(block, rows, x.len());
                let into = &mut out[first..first + rows];
                let into = MatMut::from_column_major_slice_mut(into, rows, 1);
                let x = MatRef::from_column_major_slice(x, x.len(), 1);
                matmul(into, Accum::Replace, matrix, x, 1.0, Par::Seq);
            });
        }
        Design::Sparse(_) => {
            for (row, out) in out.iter_mut().enumerate() {
                visit(design, row, |k, a| *out += a * x[k]);
            }
        }
    }
    out
}

/// sum += Aᵀ c.
pub(crate) fn add_backward(design: &Design<'_>, c: &[f64], sum: &mut [f64]) {
    if let Design::Stored(stored) = design {
        let d = stored.columns();
        stored.for_blocks(rows_of_block(d), |first, block| {
            for (row, &c) in block.chunks_exact(d).zip(&c[first..]) {
                sum.iter_mut().zip(row).for_each(|(sum, a)| *sum += c * a);
            }
        });
        return;
    }
    for (row, &c) in c.iter().enumerate() {
        visit(design, row, |k, a| sum[k] += c * a);
    }
}

/// Aᵀ diag(c) A, d rows of d, exactly symmetric.
pub(crate) fn gram(design: &Design<'_>, c: &[f64]) -> Vec<f64> {
    let d = design.columns();
    let mut out = vec![0.0; d * d];
    match design {
        Design::Dense(_) | Design::Stored(_) => {
            // With many columns a few rows take longer to add to the matrix than to multiply.
            let most = if d > DENSE { WIDE_BLOCK } else { rows_of_block(d) };
            let mut scaled = Vec::with_capacity(most * d);
            for_blocks(design, most, |first, block| {
                let rows = block.len() / d;
                let scales = c[first..].iter().flat_map(|c| std::iter::repeat_n(c, d));
                scaled.clear();
                scaled.extend(block.iter().zip(scales).map(|(a, c)| c * a));
                let left = MatRef::from_row_major_slice(block, rows, d).transpose();
                let right = MatRef::from_row_major_slice(&scaled, rows, d);
                add_lower(&mut out, d, left, right);
            });
        }
        Design::Sparse(sparse) => {
            for (row, &c) in c.iter().enumerate() {
                for (at, (k, a)) in sparse.entries(row).enumerate() {
                    sparse
                        .entries(row)
                        .take(at + 1)
                        .for_each(|(l, b)| out[k * d + l] += a * (c * b));
                }
            }
        }
    }
    mirror(&mut out, d);
    out
}

/// S A Aᵀ S with S = diag(`scales`), n rows of n, exactly symmetric.
pub(crate) fn row_gram(design: &Design<'_>, scales: &[f64]) -> Vec<f64> {
    let (n, d) = (design.rows(), design.columns());
    let mut out = vec![0.0; n * n];
    match design {
        Design::Dense(dense) => {
            let rows = dense.values().chunks_exact(d).zip(scales);
            let scaled: Vec<f64> =
                rows.flat_map(|(row, s)| row.iter().map(move |a| s * a)).collect();
            let matrix = MatRef::from_row_major_slice(&scaled, n, d);
            add_lower(&mut out, n, matrix, matrix.transpose());
        }
        Design::Stored(stored) => {
            // There are few rows where this matrix has room.
            let mut values = Vec::with_capacity(n * d);
            stored.for_pieces(|_, entries| values.extend_from_slice(entries));
            let dense = Dense::of_checked(d, &values);
            return row_gram(&Design::Dense(dense), scales);
        }
        Design::Sparse(sparse) => {
            let mut spread = vec![0.0; d];
            for i in 0..n {
                visit(design, i, |k, a| spread[k] = scales[i] * a);
                for j in 0..=i {
                    let product: f64 = sparse.entries(j).map(|(k, a)| a * spread[k]).sum();
                    out[i * n + j] = scales[j] * product;
                }
                visit(design, i, |k, _| spread[k] = 0.0);
            }
        }
    }
    mirror(&mut out, n);
    out
}

/// Adds the lower triangle of a product to that of a square matrix.
fn add_lower(sum: &mut [f64], size: usize, left: MatRef<'_, f64>, right: MatRef<'_, f64>) {
    let (lower, full) =
        (triangular::BlockStructure::TriangularLower, triangular::BlockStructure::Rectangular);
    let sum = MatMut::from_row_major_slice_mut(sum, size, size);
    triangular::matmul(sum, lower, Accum::Add, left, full, right, full, 1.0, Par::Seq);
}

/// Copies the lower triangle to the upper one.
pub(crate) fn mirror(matrix: &mut [f64], size: usize) {
    for i in 0..size {
        for j in 0..i {
            matrix[j * size + i] = matrix[i * size + j];
        }
    }
}

/// a·b, in eight sums side by side.
pub(crate) fn dot(a: &[f64], b: &[f64]) -> f64 {
    let ((a, rest_a), (b, rest_b)) = (a.as_chunks::<8>(), b.as_chunks::<8>());
    let mut sums = [0.0; 8];
    for (a, b) in a.iter().zip(b) {
        (0..8).for_each(|j| sums[j] += a[j] * b[j]);
    }
    sums.iter().sum::<f64>() + rest_a.iter().zip(rest_b).map(|(a, b)| a * b).sum::<f64>()
}

/// √(a·a).
pub(crate) fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The products of blocks of rows are those of all rows at once.
    #[test]
    fn predictors_of_blocks_are_those_of_the_whole() {
        for (rows, d) in [
            (5000, 1),
            (4000, 2),
            (3001, 3),
            (2500, 7),
            (2049, 21),
            (1500, 64),
            (900, 130),
            (700, 501),
        ] {
            let value = |k: usize| ((k * 7919) as f64 * 0.37).sin();
            let a: Vec<f64> = (0..rows * d).map(value).collect();
            let x: Vec<f64> = (0..d).map(|k| value(k + 11)).collect();
            let mut whole = vec![0.0; rows];
            let matrix = MatRef::from_row_major_slice(&a, rows, d);
            let into = MatMut::from_column_major_slice_mut(&mut whole, rows, 1);
            let column = MatRef::from_column_major_slice(&x, d, 1);
            matmul(into, Accum::Replace, matrix, column, 1.0, Par::Seq);
            let design = Dense::new(rows, d, a).unwrap().into();
            let apart = whole.iter().zip(forward(&design, &x)).filter(|(a, b)| *a != b).count();
            assert_eq!(apart, 0, "{rows} x {d}");
        }
    }
}

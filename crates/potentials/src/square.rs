//! Products of a square matrix with one vector, in vector instructions: what a change of
//! coordinates does to every draw, and a whitened prior to every gradient.
//!
//! The order of the operations depends on the dimension alone.

use std::ops::Range;

use crate::elementary::{Kernel, fma, vectorised};

/// Independent sums in the product of two vectors: two vectors of four, so that an addition does
/// not wait for the one before.
const LANES: usize = 8;
/// Columns that share one pass over the sums.
const COLUMNS: usize = 4;

/// Entries of a block of rows that is used for all points before the next one: half of the
/// second-level cache.
const BLOCK: usize = 1 << 14;

/// out += M v for each of several points of `d` numbers, M a d x d matrix row by row. To the last
/// bit what [`add_product`] does to each: rows go in blocks, so that they are fetched once for all
/// points.
pub(crate) fn add_products(matrix: &[f64], d: usize, v: &[f64], out: &mut [f64]) {
    for (rows, block) in blocks(matrix, d) {
        for (v, out) in v.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            add_product(block, v, &mut out[rows.clone()]);
        }
    }
}

/// out += Mᵀ v for each of several points, to the last bit what [`add_transposed_product`] does.
pub(crate) fn add_transposed_products(matrix: &[f64], d: usize, v: &[f64], out: &mut [f64]) {
    for (rows, block) in blocks(matrix, d) {
        for (v, out) in v.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            add_transposed_product(block, |k| v[rows.start + k], out);
        }
    }
}

/// Blocks of whole groups of rows of a square matrix, with their places.
fn blocks(matrix: &[f64], d: usize) -> impl Iterator<Item = (Range<usize>, &[f64])> {
    let rows = (BLOCK / d.max(1) / COLUMNS).max(1) * COLUMNS;
    let blocks = matrix.chunks((rows * d).max(1)).enumerate();
    blocks.map(move |(index, block)| (index * rows..index * rows + block.len() / d, block))
}

/// out += M v, M row by row.
pub(crate) fn add_product(matrix: &[f64], v: &[f64], out: &mut [f64]) {
    vectorised(Rows { matrix, v, out });
}

/// out += Mᵀ v, M row by row with as many columns as `out`, with the entries of v from a function.
pub(crate) fn add_transposed_product(matrix: &[f64], v: impl Fn(usize) -> f64, out: &mut [f64]) {
    vectorised(Columns { matrix, v, out });
}

/// vᵀ M v, M row by row.
pub(crate) fn form(matrix: &[f64], v: &[f64]) -> f64 {
    vectorised(Form { matrix, v })
}

struct Rows<'a> {
    matrix: &'a [f64],
    v: &'a [f64],
    out: &'a mut [f64],
}

impl Kernel for Rows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        for (out, row) in self.out.iter_mut().zip(self.matrix.chunks_exact(self.v.len().max(1))) {
            *out += dot::<FUSED>(row, self.v);
        }
    }
}

struct Columns<'a, V> {
    matrix: &'a [f64],
    v: V,
    out: &'a mut [f64],
}

impl<V: Fn(usize) -> f64> Kernel for Columns<'_, V> {
    type Output = ();

    #[inline(always)]
    fn run<const FUSED: bool>(self) {
        let d = self.out.len().max(1);
        let whole = self.matrix.len() / d / COLUMNS * COLUMNS;
        let (grouped, left) = self.matrix.split_at(whole * d);
        for (group, rows) in grouped.chunks_exact(COLUMNS * d).enumerate() {
            let v: [f64; COLUMNS] = std::array::from_fn(|k| (self.v)(group * COLUMNS + k));
            let row = |k: usize| &rows[k * d..(k + 1) * d];
            let rows = row(0).iter().zip(row(1)).zip(row(2)).zip(row(3));
            for (out, (((a, b), c), e)) in self.out.iter_mut().zip(rows) {
                let two = fma::<FUSED>(*b, v[1], fma::<FUSED>(*a, v[0], *out));
                *out = fma::<FUSED>(*e, v[3], fma::<FUSED>(*c, v[2], two));
            }
        }
        for (k, row) in (whole..).zip(left.chunks_exact(d)) {
            let v = (self.v)(k);
            self.out.iter_mut().zip(row).for_each(|(out, a)| *out = fma::<FUSED>(*a, v, *out));
        }
    }
}

struct Form<'a> {
    matrix: &'a [f64],
    v: &'a [f64],
}

impl Kernel for Form<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> f64 {
        let rows = self.matrix.chunks_exact(self.v.len().max(1));
        rows.zip(self.v).fold(0.0, |sum, (row, x)| fma::<FUSED>(*x, dot::<FUSED>(row, self.v), sum))
    }
}

/// The product of two vectors.
#[inline(always)]
fn dot<const FUSED: bool>(a: &[f64], b: &[f64]) -> f64 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for k in 0..LANES {
            sums[k] = fma::<FUSED>(a[k], b[k], sums[k]);
        }
    }
    let rest = a_rest.iter().zip(b_rest).fold(0.0, |sum, (a, b)| fma::<FUSED>(*a, *b, sum));
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

#[cfg(test)]
mod tests {
    use super::{add_product, add_transposed_product, form};
    use crate::elementary::without_fused;

    /// Whole numbers, whose products and sums are exact in any order: every dimension up to 40,
    /// with and without fused multiply-add.
    #[test]
    fn products_are_those_of_the_definition() {
        let check = || {
            for d in 0..40_usize {
                let entry = |k: usize| ((k * 7919 + 13) % 31) as f64 - 15.0;
                let matrix: Vec<f64> = (0..d * d).map(entry).collect();
                let v: Vec<f64> = (0..d).map(|k| entry(3 * k + 1)).collect();
                let plain = |at: &dyn Fn(usize, usize) -> usize| -> Vec<f64> {
                    (0..d)
                        .map(|i| 5.0 + (0..d).map(|j| matrix[at(i, j)] * v[j]).sum::<f64>())
                        .collect()
                };
                let (mut out, mut transposed) = (vec![5.0; d], vec![5.0; d]);
                add_product(&matrix, &v, &mut out);
                add_transposed_product(&matrix, |k| v[k], &mut transposed);
                assert_eq!(out, plain(&|i, j| i * d + j));
                assert_eq!(transposed, plain(&|i, j| j * d + i));
                let whole: f64 = out.iter().zip(&v).map(|(m, x)| (m - 5.0) * x).sum();
                assert_eq!(form(&matrix, &v), whole);
            }
        };
        check();
        without_fused(check);
    }
}

//! Collinear columns: found by a Cholesky factorisation with pivots, confirmed row by row.

use super::Relation;
use super::flat::{Flat, ZERO};
use crate::families::Family;

/// A column of which less than this share of its squared length is left beside the others is
/// suspected to depend on them.
const SUSPECT: f64 = 1e-9;
/// Terms of a relation below this share of the largest are rounding.
pub(super) const NEGLIGIBLE: f64 = 1e-9;

/// What a search for relations between columns found.
#[derive(Debug)]
pub(crate) struct Rank {
    /// The relations that were confirmed.
    pub(crate) relations: Vec<Relation>,
    /// Whether each column is clearly independent of those before it: none is suspected.
    pub(crate) clear: bool,
}

impl<F: Family> Flat<'_, '_, F> {
    /// The relations between free columns that hold in every row and that the prior leaves free.
    pub(crate) fn rank(&self) -> Rank {
        let d = self.free.len();
        let matrix = self.gram(|_| true);
        let lengths: Vec<f64> = (0..d).map(|k| matrix[k * (d + 1)].sqrt()).collect();
        let zero = (0..d).filter(|&k| self.free[k] && lengths[k] == 0.0);
        let mut relations: Vec<Relation> =
            zero.map(|column| Relation { column, terms: Vec::new() }).collect();
        let candidates: Vec<usize> = (0..d).filter(|&k| lengths[k] > 0.0).collect();
        let factor = Pivoted::new(&candidates, |k, l| matrix[k * d + l] / lengths[k] / lengths[l]);
        for &column in &factor.rest {
            let mut z = vec![0.0; d];
            z[column] = 1.0 / lengths[column];
            let entries = |k: usize| matrix[k * d + column] / lengths[k] / lengths[column];
            for (k, share) in factor.solve(entries) {
                z[k] = -share / lengths[k];
            }
            // Two corrections, as in least squares: the Gram matrix alone determines a relation to
            // half of the digits.
            for _ in 0..2 {
                let residual = self.products(&z);
                let weighted: Vec<f64> =
                    residual.iter().zip(&self.row_scales).map(|(r, s)| r * s).collect();
                let mut against = vec![0.0; d];
                self.ridge.add_backward(&weighted, &mut against);
                let entries = |k: usize| against[k] * self.column_scales[k] / lengths[k];
                for (k, share) in factor.solve(entries) {
                    z[k] -= share / lengths[k];
                }
            }
            relations.extend(self.relation(z));
        }
        Rank { relations, clear: factor.rest.is_empty() }
    }

    /// A direction as a relation between columns, if it is one.
    fn relation(&self, z: Vec<f64>) -> Option<Relation> {
        let largest = z.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
        let kept: Vec<f64> =
            z.iter().map(|&z| if z.abs() > NEGLIGIBLE * largest { z } else { 0.0 }).collect();
        let z = if self.is_null(&kept) {
            kept
        } else if self.is_null(&z) {
            z
        } else {
            return None;
        };
        let column = z.iter().rposition(|z| *z != 0.0)?;
        let v = self.unscaled(&z);
        let others = (0..column).filter(|&k| z[k] != 0.0);
        Some(Relation { column, terms: others.map(|k| (k, -v[k] / v[column])).collect() })
    }

    /// Whether neither a row nor the prior changes along a direction.
    fn is_null(&self, z: &[f64]) -> bool {
        let size: f64 = z.iter().map(|z| z.abs()).sum();
        let still = |z: &[f64]| self.products(z).iter().all(|s| s.abs() <= ZERO * size);
        size > 0.0 && self.ridge.rows().everywhere(still(z)) && self.unfelt(z)
    }
}

/// A Cholesky factorisation that takes the largest pivot first and stops where only suspects are
/// left.
struct Pivoted {
    /// The columns taken, in order.
    taken: Vec<usize>,
    /// For each of them its row of the upper factor, over `taken`.
    factor: Vec<Vec<f64>>,
    /// The columns left.
    rest: Vec<usize>,
}

impl Pivoted {
    fn new(candidates: &[usize], entry: impl Fn(usize, usize) -> f64) -> Self {
        let mut rest = candidates.to_vec();
        let mut left = vec![1.0_f64; rest.len()];
        // Rows of the factor over `rest`, and over `taken` as columns leave.
        let mut over_rest: Vec<Vec<f64>> = Vec::new();
        let (mut taken, mut factor): (Vec<usize>, Vec<Vec<f64>>) = (Vec::new(), Vec::new());
        while !rest.is_empty() {
            let mut at = 0;
            (1..rest.len()).for_each(|i| {
                if left[i] > left[at] {
                    at = i
                }
            });
            if !(left[at] > SUSPECT) {
                break;
            }
            let root = left[at].sqrt();
            let pivot = rest[at];
            let mut row: Vec<f64> = rest.iter().map(|&l| entry(pivot, l)).collect();
            for previous in &over_rest {
                let share = previous[at];
                row.iter_mut().zip(previous).for_each(|(x, p)| *x -= share * p);
            }
            row.iter_mut().for_each(|x| *x /= root);
            left.iter_mut().zip(&row).for_each(|(left, x)| *left -= x * x);
            for (previous, done) in over_rest.iter_mut().zip(&mut factor) {
                done.push(previous.swap_remove(at));
            }
            row.swap_remove(at);
            rest.swap_remove(at);
            left.swap_remove(at);
            over_rest.push(row);
            factor.push(vec![root]);
            taken.push(pivot);
        }
        rest.sort_unstable();
        Self { taken, factor, rest }
    }

    /// Solves RᵀR x = b over the columns taken.
    fn solve(&self, b: impl Fn(usize) -> f64) -> Vec<(usize, f64)> {
        let n = self.taken.len();
        let mut x: Vec<f64> = self.taken.iter().map(|&k| b(k)).collect();
        // Row i of the factor starts at column i.
        for i in 0..n {
            x[i] /= self.factor[i][0];
            let value = x[i];
            x[i + 1..].iter_mut().zip(&self.factor[i][1..]).for_each(|(x, r)| *x -= value * r);
        }
        for i in (0..n).rev() {
            let sum: f64 = x[i + 1..].iter().zip(&self.factor[i][1..]).map(|(x, r)| x * r).sum();
            x[i] = (x[i] - sum) / self.factor[i][0];
        }
        self.taken.iter().copied().zip(x).collect()
    }
}

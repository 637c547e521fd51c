//! Separation: a direction along which no row gets worse and some get better for ever.
//!
//! Candidates come from the search for the mode, which runs away along such a direction: the point reached is one, and so is Newton's step,
//! which moves rows that are separated by about 1 and leaves the others in place. A candidate is made exact by projecting it on the
//! directions that do not move those others, and is believed only if every row confirms it.

use faer::{Mat, Side};

use super::flat::{Flat, ZERO};
use super::{Separation, SeparationKind};
use crate::families::Family;
use crate::hessian::{add_backward, visit};

/// Newton's step moves a separated row by more than this, others by less.
const MOVED: f64 = 0.02;
/// Eigenvalues of the Gram matrix of the rows in place below this share of the largest belong to directions that do not move them.
const IN_PLACE: f64 = 1e-10;
/// Columns below this share of the largest are not named.
const NAMED: f64 = 0.1;
/// At most so many columns are named.
const NAMES: usize = 5;

impl<F: Family> Flat<'_, '_, F> {
    /// A direction of one coefficient alone that separates: a column of one sign in all rows that matter.
    pub(crate) fn single_column(&self) -> Option<Separation> {
        if self.matrix.is_some() || !self.separable() {
            return None;
        }
        let d = self.free.len();
        // For each column, whether some row moves, and whether moving down and up is without cost.
        let mut moves = vec![false; d];
        let mut free = vec![[true; 2]; d];
        for (row, costless) in self.costless.iter().enumerate() {
            visit(self.ridge.design(), row, |k, a| {
                if a != 0.0 {
                    moves[k] = true;
                    let flipped = usize::from(a < 0.0);
                    free[k][0] &= costless[flipped];
                    free[k][1] &= costless[1 - flipped];
                }
            });
        }
        let alone = |k: &usize| self.free[*k] && moves[*k] && (free[*k][0] || free[*k][1]);
        let found = (0..d).filter(alone).filter_map(|k| {
            let mut z = vec![0.0; d];
            z[k] = if free[k][1] { 1.0 } else { -1.0 };
            self.confirm(&z)
        });
        found.max_by_key(|separation| separation.separated)
    }

    /// A direction that separates, from a point and Newton's step there.
    pub(crate) fn separation(&self, point: &[f64], step: &[f64]) -> Option<Separation> {
        if !self.separable() {
            return None;
        }
        let candidates = [self.scaled(point), self.scaled(step)];
        let direct = candidates.iter().find_map(|z| self.confirm(z));
        direct.or_else(|| {
            let moved = self.products(&candidates[1]);
            let in_place: Vec<bool> =
                moved.iter().zip(&self.row_scales).map(|(s, scale)| (s / scale).abs() <= MOVED).collect();
            let wrong = |((moved, costless), in_place): ((&f64, &[bool; 2]), &bool)| {
                !in_place && !costless[usize::from(*moved > 0.0)]
            };
            if in_place.iter().all(|x| *x) || moved.iter().zip(&self.costless).zip(&in_place).any(wrong) {
                return None;
            }
            let projected = self.project(&candidates, &in_place)?;
            projected.iter().find_map(|z| self.confirm(z))
        })
    }

    /// The candidates without what moves rows that are to stay in place.
    fn project(&self, candidates: &[Vec<f64>], in_place: &[bool]) -> Option<Vec<Vec<f64>>> {
        let d = self.free.len();
        let matrix = self.gram(|row| in_place[row]);
        let eigen = Mat::from_fn(d, d, |k, l| matrix[k * d + l]).self_adjoint_eigen(Side::Lower).ok()?;
        let (values, vectors) = (eigen.S().column_vector(), eigen.U());
        let largest = values[d - 1];
        let share = |j: usize, z: &[f64]| (0..d).map(|k| vectors[(k, j)] * z[k]).sum::<f64>();
        let project = |z: &Vec<f64>| {
            let mut out = vec![0.0; d];
            for j in (0..d).filter(|&j| values[j] <= IN_PLACE * largest) {
                let share = share(j, z);
                (0..d).filter(|&k| self.free[k]).for_each(|k| out[k] += share * vectors[(k, j)]);
            }
            // Corrections as for collinear columns.
            for _ in 0..2 {
                let mut weighted = self.products(&out);
                for (row, s) in weighted.iter_mut().enumerate() {
                    *s *= if in_place[row] { self.row_scales[row] } else { 0.0 };
                }
                let mut against = vec![0.0; d];
                add_backward(self.ridge.design(), &weighted, &mut against);
                let terms = against.iter_mut().zip(&self.column_scales).zip(&self.free);
                terms.for_each(|((x, q), free)| *x *= if *free { *q } else { 0.0 });
                for j in (0..d).filter(|&j| values[j] > IN_PLACE * largest) {
                    let share = share(j, &against) / values[j];
                    (0..d).for_each(|k| out[k] -= share * vectors[(k, j)]);
                }
            }
            out
        };
        Some(candidates.iter().map(project).collect())
    }

    /// The separation along a direction, if every row confirms it.
    fn confirm(&self, z: &[f64]) -> Option<Separation> {
        let size: f64 = z.iter().map(|z| z.abs()).sum();
        if !(size > 0.0 && size.is_finite() && self.unfelt(z)) {
            return None;
        }
        let mut separated = 0;
        for (s, costless) in self.products(z).iter().zip(&self.costless) {
            if s.abs() > ZERO * size {
                if !costless[usize::from(*s > 0.0)] {
                    return None;
                }
                separated += 1;
            }
        }
        (separated > 0).then(|| self.describe(z, separated))
    }

    fn describe(&self, z: &[f64], separated: usize) -> Separation {
        let rows = self.costless.len();
        let kind = if self.has_constant_response() {
            SeparationKind::ConstantResponse
        } else if separated == rows {
            SeparationKind::Complete
        } else {
            SeparationKind::QuasiComplete
        };
        let largest = z.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
        let mut columns: Vec<usize> = (0..z.len()).filter(|&k| z[k].abs() > NAMED * largest).collect();
        columns.sort_by(|&k, &l| z[l].abs().total_cmp(&z[k].abs()));
        columns.truncate(NAMES);
        let direction: Vec<f64> = self.unscaled(&z.iter().map(|z| z / largest).collect::<Vec<_>>());
        Separation { kind, direction, columns, separated, rows }
    }
}

//! Separation: a direction along which no row gets worse and some get better for ever.
//!
//! Candidates come from the search for the mode, which runs away along such a direction: the point
//! reached is one, and so is Newton's step, which moves rows that are separated by about 1 and
//! leaves the others in place. A candidate is made exact by projecting it on the directions that do
//! not move those others, and accepted only if every row confirms it.

use faer::Mat;

use super::collinear::NEGLIGIBLE;
use super::flat::{Flat, ZERO};
use super::{Separation, SeparationKind};
use crate::families::Family;
use crate::hessian::{norm, visit};
use crate::symmetric;

/// Newton's step moves a separated row by more than this, others by less.
const MOVED: f64 = 0.02;
/// Eigenvalues of the Gram matrix of the rows in place below this share of the largest belong to
/// directions that do not move them.
const IN_PLACE: f64 = 1e-10;
/// A projection that leaves less than this share of a candidate leaves rounding.
const LEFT: f64 = 1e-6;
/// Columns below this share of the largest are not named.
const NAMED: f64 = 0.1;
/// The most columns that are named.
const NAMES: usize = 5;

impl<F: Family> Flat<'_, '_, F> {
    /// A direction of one coefficient alone that separates: a column of one sign in all rows that
    /// matter.
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
        // All flags in one list, so that the processes communicate once.
        let flags = moves.iter().zip(&free).flat_map(|(moves, free)| [*moves, !free[0], !free[1]]);
        let mut flags: Vec<f64> = flags.map(|flag| f64::from(u8::from(flag))).collect();
        self.ridge.rows().largest(&mut flags);
        for (k, flag) in flags.chunks_exact(3).enumerate() {
            (moves[k], free[k]) = (flag[0] > 0.0, [flag[1] == 0.0, flag[2] == 0.0]);
        }
        let alone = |k: &usize| self.free[*k] && moves[*k] && (free[*k][0] || free[*k][1]);
        let found = (0..d).filter(alone).filter_map(|k| {
            let mut z = vec![0.0; d];
            z[k] = if free[k][1] { 1.0 } else { -1.0 };
            self.confirm(&z)
        });
        found.max_by_key(|separation| separation.separated)
    }

    /// The separation along the direction from 0 to a point.
    pub(crate) fn along(&self, point: &[f64]) -> Option<Separation> {
        if self.separable() { self.confirm(&self.scaled(point)) } else { None }
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
            let in_place: Vec<bool> = moved
                .iter()
                .zip(&self.row_scales)
                .map(|(s, scale)| (s / scale).abs() <= MOVED)
                .collect();
            let wrong = |((moved, costless), in_place): ((&f64, &[bool; 2]), &bool)| {
                !in_place && !costless[usize::from(*moved > 0.0)]
            };
            let rows = self.ridge.rows();
            let all_in_place = rows.everywhere(in_place.iter().all(|x| *x));
            let any_wrong =
                rows.somewhere(moved.iter().zip(&self.costless).zip(&in_place).any(wrong));
            if all_in_place || any_wrong {
                return None;
            }
            let projected = self.project(&candidates, &in_place)?;
            projected.iter().find_map(|z| self.confirm(z))
        })
    }

    /// The candidates without what moves rows that are to stay in place; none of those of which
    /// only rounding is left.
    fn project(&self, candidates: &[Vec<f64>], in_place: &[bool]) -> Option<Vec<Vec<f64>>> {
        let d = self.free.len();
        // Among the free columns alone: the others would add zero eigenvalues of their own.
        let free: Vec<usize> = (0..d).filter(|&k| self.free[k]).collect();
        let matrix = self.gram(|row| in_place[row]);
        let entry = |k: usize, l: usize| matrix[free[k] * d + free[l]];
        let (values, vectors) = symmetric::eigen(&Mat::from_fn(free.len(), free.len(), entry))?;
        let held = |j: &usize| values[*j] > IN_PLACE * values[free.len() - 1];
        let share = |j: usize, z: &[f64]| {
            let terms = free.iter().enumerate().map(|(at, &k)| vectors[(at, j)] * z[k]);
            terms.sum::<f64>()
        };
        let add = |j: usize, share: f64, out: &mut [f64]| {
            free.iter().enumerate().for_each(|(at, &k)| out[k] += share * vectors[(at, j)]);
        };
        let project = |z: &Vec<f64>| {
            let mut out = vec![0.0; d];
            (0..free.len()).filter(|j| !held(j)).for_each(|j| add(j, share(j, z), &mut out));
            if !(norm(&out) > LEFT * norm(z)) {
                return None;
            }
            // The same corrections as for collinear columns.
            for _ in 0..2 {
                let mut weighted = self.products(&out);
                for (row, s) in weighted.iter_mut().enumerate() {
                    *s *= if in_place[row] { self.row_scales[row] } else { 0.0 };
                }
                let mut against = vec![0.0; d];
                self.ridge.add_backward(&weighted, &mut against);
                against.iter_mut().zip(&self.column_scales).for_each(|(x, q)| *x *= q);
                for j in (0..free.len()).filter(held) {
                    add(j, -share(j, &against) / values[j], &mut out);
                }
            }
            Some(out)
        };
        Some(candidates.iter().filter_map(project).collect())
    }

    /// The separation along a direction, if every row confirms it, with or without the terms that
    /// may be rounding.
    fn confirm(&self, z: &[f64]) -> Option<Separation> {
        let largest = z.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
        let kept: Vec<f64> =
            z.iter().map(|&z| if z.abs() > NEGLIGIBLE * largest { z } else { 0.0 }).collect();
        self.confirm_exactly(z)
            .or_else(|| if kept == z { None } else { self.confirm_exactly(&kept) })
    }

    fn confirm_exactly(&self, z: &[f64]) -> Option<Separation> {
        let size: f64 = z.iter().map(|z| z.abs()).sum();
        let within = z.iter().zip(&self.free).all(|(z, free)| *free || *z == 0.0);
        if !(size > 0.0 && size.is_finite() && within && self.unfelt(z)) {
            return None;
        }
        // Rows that move, and those that move the wrong way.
        let mut found = [0.0; 2];
        for (s, costless) in self.products(z).iter().zip(&self.costless) {
            if s.abs() > ZERO * size {
                let right = costless[usize::from(*s > 0.0)];
                found[usize::from(!right)] += 1.0;
            }
        }
        self.ridge.rows().sum(&mut found);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a count of rows"
        )]
        let separated = found[0] as usize;
        (separated > 0 && found[1] == 0.0).then(|| self.describe(z, separated))
    }

    fn describe(&self, z: &[f64], separated: usize) -> Separation {
        let rows = self.ridge.all_rows();
        let kind = if self.has_constant_response() {
            SeparationKind::ConstantResponse
        } else if separated == rows {
            SeparationKind::Complete
        } else {
            SeparationKind::QuasiComplete
        };
        let largest = z.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
        let mut columns: Vec<usize> =
            (0..z.len()).filter(|&k| z[k].abs() > NAMED * largest).collect();
        columns.sort_by(|&k, &l| z[l].abs().total_cmp(&z[k].abs()));
        columns.truncate(NAMES);
        let direction: Vec<f64> = self.unscaled(&z.iter().map(|z| z / largest).collect::<Vec<_>>());
        Separation { kind, direction, columns, separated, rows }
    }
}

//! The directions that a prior leaves flat, and the design in units in which sizes can be compared.

use super::Impropriety;
use crate::curvature::DENSE;
use crate::families::Family;
use crate::hessian::visit;
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;

/// How far from 0 a product of a row and a direction may be, in the units of [`Flat`], and still
/// count as 0: far above rounding, far below any real effect.
pub(crate) const ZERO: f64 = 1e-11;

/// Passes of the scaling that brings the largest entry of each row and column near to 1.
const PASSES: usize = 6;

/// A ridge-separable potential, restricted to the directions along which its prior is flat.
///
/// Neither the rank of a design nor separation change if rows and columns are multiplied by
/// positive numbers. So both are looked for where all sizes are near 1: row i by `rows[i]`, column
/// k by `columns[k]` (the scaling of D. Ruiz, 2001). A direction v of the coefficients is z =
/// v/columns there.
#[derive(Debug)]
pub(crate) struct Flat<'m, 'a, F> {
    pub(crate) ridge: &'m Ridge<'a, F>,
    /// Whether a coefficient may be part of a flat direction.
    pub(crate) free: Vec<bool>,
    /// The matrix of a general prior: a flat direction is in its kernel.
    pub(crate) matrix: Option<&'m [f64]>,
    pub(crate) row_scales: Vec<f64>,
    pub(crate) column_scales: Vec<f64>,
    /// For each row, whether moving its predictor down and up costs nothing.
    pub(crate) costless: Vec<[bool; 2]>,
}

impl<'m, 'a, F: Family> Flat<'m, 'a, F> {
    /// The directions that the prior leaves flat.
    pub(crate) fn under_prior(ridge: &'m Ridge<'a, F>) -> Self {
        match ridge.quadratic() {
            // The term beside those of coefficients leaves fewer directions, which is not looked at.
            Quadratic::Diagonal(prior) | Quadratic::At { prior, .. } => {
                Self::new(ridge, prior.precision().iter().map(|q| *q == 0.0).collect(), None)
            }
            Quadratic::General { matrix, .. } => {
                Self::new(ridge, vec![true; ridge.dimension()], Some(matrix))
            }
        }
    }

    /// All directions, as if there were no prior.
    pub(crate) fn everything(ridge: &'m Ridge<'a, F>) -> Self {
        Self::new(ridge, vec![true; ridge.dimension()], None)
    }

    fn new(ridge: &'m Ridge<'a, F>, free: Vec<bool>, matrix: Option<&'m [f64]>) -> Self {
        let limits = ridge.observations().iter().map(|&y| ridge.family().slope_limits(y));
        // Convex u: the slope far down is at most that far up, and u falls for ever where it has
        // the wrong sign.
        let costless = limits.map(|[down, up]| [down >= 0.0, up <= 0.0]).collect();
        let (row_scales, column_scales) = equilibrate(ridge, &free);
        Self { ridge, free, matrix, row_scales, column_scales, costless }
    }

    /// Whether some row can move without cost: without that, there is no separation.
    pub(crate) fn separable(&self) -> bool {
        self.ridge.rows().somewhere(self.costless.iter().any(|[down, up]| *down || *up))
    }

    /// Whether each row resists on both sides.
    pub(crate) fn resists(&self) -> bool {
        self.ridge.rows().everywhere(self.costless.iter().all(|[down, up]| !*down && !*up))
    }

    /// Whether the prior is flat in every direction.
    pub(crate) fn is_everything(&self) -> bool {
        self.matrix.is_none() && self.free.iter().all(|free| *free)
    }

    /// Whether all responses are equal, and extreme so that moving all predictors one way costs
    /// nothing.
    pub(crate) fn has_constant_response(&self) -> bool {
        let all = |side: [bool; 2]| {
            self.ridge.rows().everywhere(self.costless.iter().all(|costless| *costless == side))
        };
        let [down, up] = [[true, false], [false, true]].map(all);
        down || up
    }

    /// Whether d x d matrices would take too long.
    pub(crate) fn too_large(&self) -> bool {
        self.ridge.dimension() > DENSE
    }

    /// Whether there are more free columns than rows: then some combination of them moves no row,
    /// whatever the numbers are.
    pub(crate) fn too_few_rows(&self) -> Option<Impropriety> {
        let (columns, rows) =
            (self.free.iter().filter(|free| **free).count(), self.ridge.all_rows());
        (self.matrix.is_none() && columns > rows)
            .then_some(Impropriety::TooFewRows { columns, rows })
    }

    /// v for a direction in scaled units.
    pub(crate) fn unscaled(&self, z: &[f64]) -> Vec<f64> {
        z.iter().zip(&self.column_scales).map(|(z, q)| z * q).collect()
    }

    /// z for a direction, with 0 for the coefficients that are not free.
    pub(crate) fn scaled(&self, v: &[f64]) -> Vec<f64> {
        let terms = v.iter().zip(&self.column_scales).zip(&self.free);
        terms.map(|((v, q), free)| if *free { v / q } else { 0.0 }).collect()
    }

    /// The products of all rows with a direction, in scaled units.
    pub(crate) fn products(&self, z: &[f64]) -> Vec<f64> {
        let v = self.unscaled(z);
        let product = |(row, scale): (usize, &f64)| {
            let mut sum = 0.0;
            visit(self.ridge.design(), row, |k, a| sum += a * v[k]);
            scale * sum
        };
        self.row_scales.iter().enumerate().map(product).collect()
    }

    /// The Gram matrix of the scaled rows that are kept, plus the prior's matrix; rows and columns
    /// that are not free are 0.
    pub(crate) fn gram(&self, keep: impl Fn(usize) -> bool) -> Vec<f64> {
        let d = self.free.len();
        let weights: Vec<f64> = self
            .row_scales
            .iter()
            .enumerate()
            .map(|(row, scale)| if keep(row) { scale * scale } else { 0.0 })
            .collect();
        let mut matrix = self.ridge.gram(&weights);
        for k in 0..d {
            for l in 0..d {
                let both = self.free[k] && self.free[l];
                matrix[k * d + l] *=
                    if both { self.column_scales[k] * self.column_scales[l] } else { 0.0 };
            }
        }
        if let Some(prior) = self.matrix {
            let q = |k: usize| self.column_scales[k];
            let largest =
                (0..d).map(|k| prior[k * (d + 1)] * q(k) * q(k)).fold(f64::MIN_POSITIVE, f64::max);
            for k in 0..d {
                for l in 0..d {
                    matrix[k * d + l] += prior[k * d + l] * q(k) * q(l) / largest;
                }
            }
        }
        matrix
    }

    /// Whether a direction is in the kernel of the prior's matrix.
    pub(crate) fn unfelt(&self, z: &[f64]) -> bool {
        let v = self.unscaled(z);
        self.matrix.is_none_or(|matrix| {
            matrix.chunks_exact(v.len()).all(|row| {
                let terms = row.iter().zip(&v).map(|(q, v)| q * v);
                let (sum, size) =
                    terms.fold((0.0, 0.0), |(sum, size): (f64, f64), x| (sum + x, size + x.abs()));
                sum.abs() <= ZERO * size
            })
        })
    }
}

/// Scaling factors for rows and columns; 1 for rows and columns of zeros.
fn equilibrate<F: Family>(ridge: &Ridge<'_, F>, free: &[bool]) -> (Vec<f64>, Vec<f64>) {
    let design = ridge.design();
    let (mut rows, mut columns) = (vec![1.0; design.rows()], vec![1.0; free.len()]);
    for _ in 0..PASSES {
        let (mut in_rows, mut in_columns) =
            (vec![0.0_f64; rows.len()], vec![0.0_f64; columns.len()]);
        for row in 0..rows.len() {
            visit(design, row, |k, a| {
                if free[k] {
                    let size = (a * rows[row] * columns[k]).abs();
                    in_rows[row] = in_rows[row].max(size);
                    in_columns[k] = in_columns[k].max(size);
                }
            });
        }
        ridge.rows().largest(&mut in_columns);
        let divide = |(factor, size): (&mut f64, &f64)| {
            if *size > 0.0 {
                *factor /= size.sqrt();
            }
        };
        rows.iter_mut().zip(&in_rows).for_each(divide);
        columns.iter_mut().zip(&in_columns).for_each(divide);
    }
    (rows, columns)
}

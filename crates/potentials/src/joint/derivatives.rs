//! The Hessian of a joint posterior.
//!
//! It makes coordinates and Newton's steps, neither of which needs many digits: the second
//! derivatives of a row are central differences of its first ones, which are exact.

use super::Joint;
use crate::density::Density;
use crate::error::{Error, length};
use crate::hessian::{add_backward, gram};
use crate::likelihoods::Block;

/// The step of a central difference, in units of the number: the cube root of the rounding.
const STEP: f64 = 6e-6;

/// Slopes of all rows, and the sums of derivatives with respect to ψ.
struct Slopes {
    by_s: Vec<f64>,
    by_psi: Vec<f64>,
}

impl Slopes {
    /// (self − other) / by.
    fn less(mut self, other: &Self, by: f64) -> Self {
        let pairs = self.by_s.iter_mut().zip(&other.by_s);
        pairs
            .chain(self.by_psi.iter_mut().zip(&other.by_psi))
            .for_each(|(x, y)| *x = (*x - y) / by);
        self
    }
}

impl Joint<'_> {
    /// The Hessian at a point, d rows of d. A column of the design far from 0 costs digits; the
    /// rest is good to about 1e-9.
    ///
    /// # Errors
    /// A point of another dimension, or one where the Hessian is not finite.
    pub fn hessian(&self, point: &[f64]) -> Result<Vec<f64>, Error> {
        let d = self.dimension();
        length("the point", point.len(), d)?;
        let (beta, psi) = point.split_at(self.priors.len());
        let s = self.all_predictors(beta);
        let mut hessian = vec![0.0; d * d];
        self.add_by_predictors(&s, psi, &mut hessian);
        self.add_by_parameters(&s, psi, &mut hessian);
        self.rows.sum(&mut hessian);
        self.add_prior_curvatures(point, &mut hessian);
        self.design.intact()?;
        if hessian.iter().all(|h| h.is_finite()) {
            Ok(hessian)
        } else {
            Err(Error::NotFinite { what: "the Hessian", point: point.to_vec() })
        }
    }

    fn slopes(&self, s: &[f64], psi: &[f64]) -> Slopes {
        let mut slopes = Slopes { by_s: vec![0.0; s.len()], by_psi: vec![0.0; psi.len()] };
        let block = Block { s, y: &self.observations, weights: &self.weights };
        self.likelihood.evaluate(psi, block, &mut slopes.by_s, &mut slopes.by_psi);
        slopes
    }

    /// w ∂²u/∂s_j∂s_k for each row, m² numbers a row, at the linear predictors of all rows.
    pub(crate) fn row_curvatures(&self, s: &[f64], psi: &[f64]) -> Vec<f64> {
        let m = self.likelihood.predictors();
        let moved = |j: usize, by: f64| {
            let each = s.iter().enumerate();
            let s: Vec<f64> = each.map(|(i, s)| if i % m == j { s + by } else { *s }).collect();
            self.slopes(&s, psi)
        };
        let step = STEP * self.likelihood.unit(psi);
        let mut all = vec![0.0; s.len() * m];
        for j in 0..m {
            let by_s = moved(j, step).less(&moved(j, -step), 2.0 * step).by_s;
            for (row, curvatures) in by_s.chunks_exact(m).enumerate() {
                all[(row * m + j) * m..][..m].copy_from_slice(curvatures);
            }
        }
        all
    }

    /// For each parameter, w ∂²u/∂ψ∂s_j for each row, m numbers a row, and Σ w ∂²u/∂ψ∂ψ over the
    /// rows of this process.
    pub(crate) fn parameter_curvatures(&self, s: &[f64], psi: &[f64]) -> Vec<(Vec<f64>, Vec<f64>)> {
        let of = |a: usize| {
            let step = STEP * psi[a].abs().max(1.0);
            let moved = |by: f64| {
                let mut psi = psi.to_vec();
                psi[a] += by;
                self.slopes(s, &psi)
            };
            let Slopes { by_s, by_psi } = moved(step).less(&moved(-step), 2.0 * step);
            (by_s, by_psi)
        };
        (0..psi.len()).map(of).collect()
    }

    /// The blocks Aᵀ diag(∂²u/∂s_j∂s_k) A.
    fn add_by_predictors(&self, s: &[f64], psi: &[f64], hessian: &mut [f64]) {
        let (columns, m) = (self.design.columns(), self.likelihood.predictors());
        let d = self.dimension();
        let curvatures = self.row_curvatures(s, psi);
        for j in 0..m {
            for k in 0..=j {
                let entries = curvatures.iter().skip(j * m + k).step_by(m * m);
                let block = gram(&self.design, &entries.copied().collect::<Vec<f64>>());
                for row in 0..columns {
                    for column in 0..columns {
                        let entry = block[row * columns + column];
                        let (x, y) = (j * columns + row, k * columns + column);
                        hessian[x * d + y] = entry;
                        hessian[y * d + x] = entry;
                    }
                }
            }
        }
    }

    /// The rows and columns of the parameters.
    fn add_by_parameters(&self, s: &[f64], psi: &[f64], hessian: &mut [f64]) {
        let (columns, m) = (self.design.columns(), self.likelihood.predictors());
        let (d, first) = (self.dimension(), self.priors.len());
        for (a, (by_s, by_psi)) in self.parameter_curvatures(s, psi).into_iter().enumerate() {
            for j in 0..m {
                let c: Vec<f64> = by_s.iter().skip(j).step_by(m).copied().collect();
                let mut mixed = vec![0.0; columns];
                add_backward(&self.design, &c, &mut mixed);
                for (k, entry) in mixed.into_iter().enumerate() {
                    let (x, y) = (first + a, j * columns + k);
                    hessian[x * d + y] = entry;
                    hessian[y * d + x] = entry;
                }
            }
            // Both triangles are differences; their mean is symmetric.
            for (b, entry) in by_psi.into_iter().enumerate() {
                hessian[(first + a) * d + first + b] += 0.5 * entry;
                hessian[(first + b) * d + first + a] += 0.5 * entry;
            }
        }
    }

    /// The curvatures of the priors, by differences of their slopes.
    fn add_prior_curvatures(&self, point: &[f64], hessian: &mut [f64]) {
        let (d, first) = (self.dimension(), self.priors.len());
        for (k, prior) in self.priors.iter().enumerate() {
            let curvature = curvature(prior, self.argument(k, &point[..first]));
            if !self.is_at_means(k) {
                hessian[k * (d + 1)] += curvature;
                continue;
            }
            for (i, a) in self.means.iter().enumerate() {
                let row = &mut hessian[(k + i) * d + k..];
                row.iter_mut().zip(&self.means).for_each(|(h, b)| *h += curvature * a * b);
            }
        }
        // Half by half, in this order: seeds keep their draws to the last bit.
        let count = self.parameter_priors.len();
        for (at, entry) in self.parameter_prior_curvatures(&point[first..]).into_iter().enumerate()
        {
            let (a, b) = (at / count, at % count);
            hessian[(first + a) * d + first + b] += 0.5 * entry;
            hessian[(first + b) * d + first + a] += 0.5 * entry;
        }
    }

    /// The curvatures of the priors of the parameters by differences, row by row: symmetric but for
    /// rounding.
    pub(crate) fn parameter_prior_curvatures(&self, psi: &[f64]) -> Vec<f64> {
        let count = psi.len();
        let mut all = vec![0.0; count * count];
        let scale = self.likelihood.scale();
        let gradient = |psi: &[f64]| {
            let mut gradient = vec![0.0; psi.len()];
            scale.add_priors(&self.parameter_priors, psi, &mut gradient);
            gradient
        };
        for a in 0..count {
            let step = STEP * psi[a].abs().max(1.0);
            let [high, low] = [step, -step].map(|by| {
                let mut psi = psi.to_vec();
                psi[a] += by;
                gradient(&psi)
            });
            for (b, (high, low)) in high.iter().zip(low).enumerate() {
                let entry = (high - low) / (2.0 * step);
                all[a * count + b] = entry;
            }
        }
        all
    }
}

/// The curvature of a prior of a coefficient: exact, since units of coefficients vary too much for
/// one step. Laplace's density has none, or infinitely much; a number of its order makes useful
/// coordinates.
pub(crate) fn curvature(prior: &Density, x: f64) -> f64 {
    match *prior {
        Density::Normal { scale, .. } => 1.0 / scale / scale,
        Density::StudentT { degrees, mean, scale } => {
            let z = (x - mean) / scale;
            let spread = degrees + z * z;
            (degrees + 1.0) * (degrees - z * z) / spread / spread / scale / scale
        }
        Density::Laplace { scale, .. } => 0.5 / scale / scale,
        Density::Logistic { mean, scale } => {
            let z = (x - mean) / scale;
            let p = crate::softplus::sigmoid(z);
            2.0 * p * (1.0 - p) / scale / scale
        }
        Density::Gamma { shape, .. } => (shape - 1.0) / x / x,
        Density::Flat | Density::Exponential { .. } => 0.0,
    }
}

//! Stacking: weights of models that predict best together (Yao, Vehtari, Simpson and Gelman,
//! Bayesian Analysis 13, 2018).

use crate::error::Error;

/// Steps after which the search stops. Twenty to forty are usual.
const STEPS: usize = 200;
/// The search stops when no weights can have a mean log score better by more than this.
const GAP: f64 = 1e-15;
/// How far towards the boundary a step may go.
const TO_THE_BOUNDARY: f64 = 0.99;
/// Factor by which products of weights and slacks are meant to shrink in a step.
const SHRINK: f64 = 0.05;
/// Pivots that are smaller beside their diagonal are rounding errors of 0.
const PIVOT: f64 = 1e-14;

/// The weights w, at least 0 with sum 1, that maximise Σᵢ log Σₖ wₖ exp(lpdᵢₖ): `lpd` has a slice
/// for each model, with the log predictive density (`elpd_loo`) of every observation.
///
/// The problem is concave. The result is checked by Jensen's inequality: with gₖ the mean over the
/// observations of exp(lpdᵢₖ)/Σⱼ wⱼ exp(lpdᵢⱼ), no weights have a mean log score better by more
/// than log maxₖ gₖ. The search goes on until that is about 1e-15, or rounding allows no further
/// step. If several weights are optimal, as with two identical models, the weight is shared.
///
/// A log density may be minus infinity, if another model has a finite one for that observation.
///
/// ```
/// use ridgewalk_diagnostics::stacking;
///
/// // Each model is right where the other is wrong.
/// let weights = stacking(&[&[-1.0, -9.0, -1.0], &[-9.0, -1.0, -9.0]])?;
/// assert!((weights[0] - 2.0 / 3.0).abs() < 1e-3);
/// # Ok::<(), ridgewalk_diagnostics::Error>(())
/// ```
pub fn stacking(lpd: &[&[f64]]) -> Result<Vec<f64>, Error> {
    let densities = Densities::new(lpd)?;
    let mut search = Search::new(&densities);
    let (mut best, mut gap) = (search.weights.clone(), search.gap());
    for _ in 0..STEPS {
        if gap <= GAP || !search.step(&densities) {
            break;
        }
        if search.gap() < gap {
            gap = search.gap();
            best.copy_from_slice(&search.weights);
        }
    }
    let sum: f64 = best.iter().sum();
    for weight in &mut best {
        *weight = if *weight <= f64::EPSILON * sum { 0.0 } else { *weight / sum };
    }
    Ok(best)
}

/// Predictive densities divided by the largest of their observation, observation by observation.
struct Densities {
    models: usize,
    rows: Vec<f64>,
}

impl Densities {
    fn new(lpd: &[&[f64]]) -> Result<Self, Error> {
        let need = lpd.first().ok_or(Error::NoModels)?.len();
        for (model, column) in lpd.iter().enumerate() {
            if column.len() != need {
                return Err(Error::Observations { model, got: column.len(), need });
            }
        }
        if need == 0 {
            return Err(Error::NoObservations);
        }
        let mut rows = Vec::with_capacity(need * lpd.len());
        for observation in 0..need {
            let mut largest = f64::NEG_INFINITY;
            for (model, column) in lpd.iter().enumerate() {
                let value = column[observation];
                if !(value < f64::INFINITY) {
                    return Err(Error::LogDensity { model, observation, value });
                }
                largest = largest.max(value);
            }
            if largest == f64::NEG_INFINITY {
                return Err(Error::LogDensity { model: 0, observation, value: largest });
            }
            rows.extend(lpd.iter().map(|column| (column[observation] - largest).exp()));
        }
        Ok(Self { models: lpd.len(), rows })
    }

    /// The mean over the observations of density/mixture, for each model.
    fn gradient(&self, weights: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; self.models];
        for row in self.rows.chunks_exact(self.models) {
            let inverse = 1.0 / dot(row, weights);
            for (sum, density) in sums.iter_mut().zip(row) {
                *sum += density * inverse;
            }
        }
        self.divided(sums)
    }

    /// The mean of the products of two such quotients, for each pair of models.
    fn hessian(&self, weights: &[f64]) -> Vec<f64> {
        let k = self.models;
        let mut sums = vec![0.0; k * k];
        for row in self.rows.chunks_exact(k) {
            let inverse = 1.0 / dot(row, weights);
            for i in 0..k {
                let scaled = row[i] * inverse * inverse;
                for j in 0..=i {
                    sums[i * k + j] += scaled * row[j];
                }
            }
        }
        self.divided(sums)
    }

    fn divided(&self, mut sums: Vec<f64>) -> Vec<f64> {
        let observations = (self.rows.len() / self.models) as f64;
        sums.iter_mut().for_each(|sum| *sum /= observations);
        sums
    }
}

/// A primal-dual interior point search for the minimum over w >= 0 of
/// Σₖ wₖ − (1/n) Σᵢ log Σₖ wₖ pᵢₖ.
///
/// At the minimum Σ w = 1, since scaling w by c changes the two terms by (c − 1) Σ w and −log c. So
/// it is the maximum sought, without an equation to keep. The slacks z are the gradient 1 − g. Both
/// w and z stay positive, and w z goes to 0.
struct Search {
    weights: Vec<f64>,
    slacks: Vec<f64>,
    /// g at the weights.
    gradient: Vec<f64>,
}

impl Search {
    fn new(densities: &Densities) -> Self {
        let weights = vec![1.0 / densities.models as f64; densities.models];
        let gradient = densities.gradient(&weights);
        Self { slacks: vec![1.0; densities.models], weights, gradient }
    }

    /// How much better than these weights, scaled to sum 1, the best mean log score can be.
    fn gap(&self) -> f64 {
        let sum: f64 = self.weights.iter().sum();
        self.gradient.iter().copied().fold(0.0, f64::max) * sum - 1.0
    }

    /// The squared norm of gradient − slacks and of weights · slacks − target.
    fn residual(weights: &[f64], slacks: &[f64], gradient: &[f64], target: f64) -> f64 {
        let parts = weights.iter().zip(slacks).zip(gradient);
        parts.map(|((w, z), g)| (1.0 - g - z).powi(2) + (w * z - target).powi(2)).sum()
    }

    /// A Newton step towards w z = target for all models. False if none makes progress.
    fn step(&mut self, densities: &Densities) -> bool {
        let k = densities.models;
        let target = SHRINK * dot(&self.weights, &self.slacks) / k as f64;
        let mut matrix = densities.hessian(&self.weights);
        let mut change: Vec<f64> = Vec::with_capacity(k);
        for i in 0..k {
            matrix[i * k + i] += self.slacks[i] / self.weights[i];
            change.push(self.gradient[i] - 1.0 + target / self.weights[i]);
        }
        solve(&mut matrix, &mut change);
        let slack_change: Vec<f64> = (0..k)
            .map(|i| (target - self.slacks[i] * change[i]) / self.weights[i] - self.slacks[i])
            .collect();

        let mut length: f64 = 1.0;
        for (now, by) in [(&self.weights, &change), (&self.slacks, &slack_change)] {
            for (now, by) in now.iter().zip(by).filter(|(_, by)| **by < 0.0) {
                length = length.min(TO_THE_BOUNDARY * now / -by);
            }
        }
        let before = Self::residual(&self.weights, &self.slacks, &self.gradient, target);
        while length > 1e-10 {
            let along = |now: &[f64], by: &[f64]| -> Vec<f64> {
                now.iter().zip(by).map(|(now, by)| now + length * by).collect()
            };
            let weights = along(&self.weights, &change);
            let slacks = along(&self.slacks, &slack_change);
            let gradient = densities.gradient(&weights);
            let after = Self::residual(&weights, &slacks, &gradient, target);
            if after < (1.0 - 0.01 * length).powi(2) * before {
                *self = Self { weights, slacks, gradient };
                return true;
            }
            length /= 2.0;
        }
        false
    }
}

/// Solves a symmetric positive definite system by Cholesky factors, from the lower triangle.
/// Directions in which the matrix is 0 up to rounding, as those between identical models, are left
/// alone.
fn solve(matrix: &mut [f64], right: &mut [f64]) {
    let n = right.len();
    for i in 0..n {
        let diagonal = matrix[i * n + i];
        for j in 0..=i {
            let rest =
                matrix[i * n + j] - dot(&matrix[i * n..i * n + j], &matrix[j * n..j * n + j]);
            matrix[i * n + j] = if i != j {
                rest / matrix[j * n + j]
            } else if rest > PIVOT * diagonal {
                rest.sqrt()
            } else {
                f64::INFINITY
            };
        }
    }
    for i in 0..n {
        let rest = right[i] - dot(&matrix[i * n..i * n + i], &right[..i]);
        right[i] = rest / matrix[i * n + i];
    }
    for i in (0..n).rev() {
        let rest = right[i] - (i + 1..n).map(|j| matrix[j * n + i] * right[j]).sum::<f64>();
        right[i] = rest / matrix[i * n + i];
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

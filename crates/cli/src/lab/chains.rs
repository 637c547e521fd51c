//! Shared by the commands that run chains: targets drawn from a seed, starting points, and
//! distances between batches.

use std::fmt::Display;

use ridgewalk::potentials::families::Logistic;
use ridgewalk::potentials::{
    Dense, FromFn, Gradient, GradientError, LineIntegral, Prior, Ridge, Whitening,
};
use ridgewalk::sampler::{Batch, Kernel, Noise, Step, Stream, Workspace};

use crate::failure::Failure;

/// First streams of the data and of the starting points; chains use the streams from 0 on.
const DATA: u64 = 1 << 40;
const STARTS: u64 = 1 << 41;

/// An error as a failure of the run.
pub(super) fn failed(error: impl Display) -> Failure {
    Failure::Run(error.to_string())
}

/// A logistic regression with `d` coefficients, a normal(0, 4) prior and four rows per coefficient,
/// whose entries are normal(0, 1/√n). The curvature is between about 1/16 and 0.6 for every d.
/// Responses are drawn with coefficients from the prior.
pub(super) fn logistic(d: usize, seed: u64) -> Result<Ridge<'static, Logistic>, Failure> {
    const PRIOR_SCALE: f64 = 4.0;
    let rows = 4 * d;
    let mut stream = Stream::new(seed, DATA + d as u64);
    let (mut values, mut truth, mut chance) = (vec![0.0; rows * d], vec![0.0; d], vec![0.0; rows]);
    stream.normals(&mut values);
    stream.normals(&mut truth);
    stream.uniforms(&mut chance);
    let scale = (rows as f64).sqrt().recip();
    values.iter_mut().for_each(|x| *x *= scale);
    let respond = |(row, chance): (&[f64], &f64)| {
        let predictor: f64 = row.iter().zip(&truth).map(|(x, t)| PRIOR_SCALE * x * t).sum();
        f64::from(u8::from(*chance < 1.0 / (1.0 + (-predictor).exp())))
    };
    let responses: Vec<f64> = values.chunks_exact(d).zip(&chance).map(respond).collect();
    let prior = Prior::centred(d, PRIOR_SCALE).map_err(failed)?;
    Ridge::new(Dense::new(rows, d, values).map_err(failed)?, Logistic, &responses, prior)
        .map_err(failed)
}

/// A potential that is no ridge: multinomial logistic regression.
#[derive(Debug)]
pub(super) struct Multinomial<G> {
    /// Its gradient.
    pub(super) gradient: G,
    /// An upper bound on its curvature.
    pub(super) smoothness: f64,
}

/// The size of the multinomial regression.
const FEATURES: usize = 4;
const CLASSES: usize = 3;
const ROWS: usize = 120;

/// Multinomial logistic regression of three classes on four features, with 120 rows of normal(0, 1)
/// entries and normal(0, 1) priors. The Hessian of one row is at most half of x xᵀ on each class
/// (Böhning 1992), hence L = 1 + half the largest eigenvalue of XᵀX.
pub(super) fn multinomial(seed: u64) -> Result<Multinomial<impl Gradient + Sync + Clone>, Failure> {
    let mut stream = Stream::new(seed, DATA);
    let (mut rows, mut truth) = (vec![0.0; ROWS * FEATURES], vec![0.0; CLASSES * FEATURES]);
    let mut chance = vec![0.0; ROWS];
    stream.normals(&mut rows);
    stream.normals(&mut truth);
    stream.uniforms(&mut chance);
    let choose = |(x, chance): (&[f64], &f64)| {
        let mut left = *chance;
        let shares = shares(x, &truth);
        shares
            .iter()
            .position(|share| {
                left -= share;
                left < 0.0
            })
            .unwrap_or(CLASSES - 1)
    };
    let classes: Vec<usize> = rows.chunks_exact(FEATURES).zip(&chance).map(choose).collect();
    let smoothness = 1.0 + 0.5 * largest_eigenvalue(&rows);
    let gradient = move |theta: &[f64], out: &mut [f64]| -> Result<(), GradientError> {
        out.copy_from_slice(theta);
        for (x, class) in rows.chunks_exact(FEATURES).zip(&classes) {
            for (k, share) in shares(x, theta).into_iter().enumerate() {
                let residual = share - f64::from(u8::from(k == *class));
                out[k * FEATURES..(k + 1) * FEATURES]
                    .iter_mut()
                    .zip(x)
                    .for_each(|(g, x)| *g += residual * x);
            }
        }
        Ok(())
    };
    Ok(Multinomial { gradient: FromFn::new(CLASSES * FEATURES, gradient), smoothness })
}

/// Probabilities of the classes at one row.
fn shares(x: &[f64], theta: &[f64]) -> [f64; CLASSES] {
    let predictors: [f64; CLASSES] =
        std::array::from_fn(|k| x.iter().zip(&theta[k * FEATURES..]).map(|(x, t)| x * t).sum());
    let largest = predictors.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights = predictors.map(|s| (s - largest).exp());
    let sum: f64 = weights.iter().sum();
    weights.map(|weight| weight / sum)
}

/// A close upper bound on the largest eigenvalue of XᵀX: the 32nd root of the Frobenius norm of its
/// 32nd power, which is at most 3 % above it.
fn largest_eigenvalue(rows: &[f64]) -> f64 {
    let mut power = [[0.0; FEATURES]; FEATURES];
    for x in rows.chunks_exact(FEATURES) {
        for (i, row) in power.iter_mut().enumerate() {
            row.iter_mut().zip(x).for_each(|(entry, other)| *entry += x[i] * other);
        }
    }
    let norm =
        |a: &[[f64; FEATURES]; FEATURES]| a.iter().flatten().map(|x| x * x).sum::<f64>().sqrt();
    let mut logarithm = 0.0;
    for _ in 0..5 {
        let scale = norm(&power);
        logarithm = 2.0 * (logarithm + scale.ln());
        let a = power.map(|row| row.map(|x| x / scale));
        power = std::array::from_fn(|i| {
            std::array::from_fn(|j| (0..FEATURES).map(|k| a[i][k] * a[k][j]).sum())
        });
    }
    ((logarithm + norm(&power).ln()) / 32.0).exp()
}

/// Points from the normal distribution of a whitening.
pub(super) fn starts(whitening: &Whitening, chains: usize, seed: u64) -> Result<Vec<f64>, Failure> {
    let d = whitening.dimension();
    let (mut z, mut theta) = (vec![0.0; d], vec![0.0; d * chains]);
    let mut stream = Stream::new(seed, STARTS);
    for point in theta.chunks_exact_mut(d) {
        stream.normals(&mut z);
        whitening.to_original(&z, point).map_err(failed)?;
    }
    Ok(theta)
}

/// Chains at a given point, with p and r from N(0, I/L).
pub(super) fn at(
    point: &[f64], chains: usize, smoothness: f64, seed: u64,
) -> Result<Batch, Failure> {
    let mut batch = Batch::new(point.len(), chains).map_err(failed)?;
    let mut stream = Stream::new(seed, STARTS + 1);
    let fields = batch.fields_mut();
    fields.theta.chunks_exact_mut(point.len()).for_each(|theta| theta.copy_from_slice(point));
    for list in [fields.p, fields.r] {
        stream.normals(list);
        list.iter_mut().for_each(|x| *x /= smoothness.sqrt());
    }
    Ok(batch)
}

/// The mean over chains of |θ − θ'|².
pub(super) fn mean_square(a: &Batch, b: &Batch) -> f64 {
    let squares = a.theta().iter().zip(b.theta()).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>() / a.chains() as f64
}

/// The root of the mean of some squares, and its standard error.
pub(super) fn root_mean(squares: &[f64]) -> (f64, f64) {
    let count = squares.len() as f64;
    let mean = squares.iter().sum::<f64>() / count;
    let spread: f64 = squares.iter().map(|square| (square - mean).powi(2)).sum();
    let error = (spread / (count - 1.0) / count).sqrt();
    (mean.sqrt(), 0.5 * error / mean.sqrt())
}

/// Advances several batches with the same noise.
#[derive(Debug)]
pub(super) struct Synchronous {
    stream: Stream,
    normals: Vec<f64>,
    uniforms: Vec<f64>,
    spare: Batch,
    workspace: Workspace,
}

impl Synchronous {
    /// For batches with the shape of this one.
    pub(super) fn new(batch: &Batch, seed: u64) -> Self {
        Self {
            stream: Stream::new(seed, STARTS + 2),
            normals: Vec::new(),
            uniforms: Vec::new(),
            spare: batch.clone(),
            workspace: Workspace::default(),
        }
    }

    /// Draws the noise of the next step.
    pub(super) fn draw(&mut self, kernel: &dyn Kernel) {
        self.normals.resize(kernel.normals() * self.spare.theta().len(), 0.0);
        self.uniforms.resize(kernel.uniforms() * self.spare.chains(), 0.0);
        self.stream.normals(&mut self.normals);
        self.stream.uniforms(&mut self.uniforms);
    }

    /// Advances one batch by a step with the noise drawn last.
    pub(super) fn step(
        &mut self, kernel: &dyn Kernel, potential: &dyn LineIntegral, batch: &mut Batch,
    ) -> Result<(), Failure> {
        let noise = Noise { normals: &self.normals, uniforms: &self.uniforms };
        let (to, workspace) = (&mut self.spare, &mut self.workspace);
        kernel.step(Step { potential, from: batch, noise, to, workspace }).map_err(failed)?;
        std::mem::swap(batch, &mut self.spare);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_multinomial_gradient_is_that_of_its_potential_and_curved_no_more_than_said() {
        let target = multinomial(3).unwrap();
        let d = CLASSES * FEATURES;
        let mut stream = Stream::new(8, 0);
        let gradient = |x: &[f64]| {
            let mut g = vec![0.0; d];
            target.gradient.gradient(x, &mut g).unwrap();
            g
        };
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        for _ in 0..20 {
            let [mut x, mut v, mut w] = [(); 3].map(|()| vec![0.0; d]);
            [&mut x, &mut v, &mut w].into_iter().for_each(|list| stream.normals(list));
            let along = |v: &[f64]| -> Vec<f64> {
                let moved =
                    |h: f64| gradient(&x.iter().zip(v).map(|(x, v)| x + h * v).collect::<Vec<_>>());
                moved(1e-5).iter().zip(moved(-1e-5)).map(|(a, b)| (a - b) / 2e-5).collect()
            };
            // A field with a symmetric derivative is a gradient; and here 1 <= Hessian <= L.
            let (hv, hw) = (along(&v), along(&w));
            assert!((dot(&hv, &w) - dot(&hw, &v)).abs() < 1e-6 * target.smoothness);
            let curvature = dot(&hv, &v) / dot(&v, &v);
            assert!(
                (1.0 - 1e-6..=target.smoothness).contains(&curvature),
                "{curvature}, {}",
                target.smoothness
            );
        }
        // At the origin all classes are equally likely: the gradients of the classes, expected
        // minus observed features, sum to 0.
        let g = gradient(&vec![0.0; d]);
        for j in 0..FEATURES {
            assert!((0..CLASSES).map(|k| g[k * FEATURES + j]).sum::<f64>().abs() < 1e-10);
        }
    }

    #[test]
    fn the_root_of_a_mean_has_the_error_of_its_squares() {
        let (root, error) = root_mean(&[1.0, 4.0, 4.0]);
        // Mean 3, standard error of the mean 1: that of the root is 1/(2 √3).
        assert!((root - 3f64.sqrt()).abs() < 1e-12 && (error - 0.5 / 3f64.sqrt()).abs() < 1e-12);
    }

    #[test]
    fn the_largest_eigenvalue_is_bounded_from_above_and_closely() {
        // Orthogonal columns of lengths 3, 2, 2, 1.
        let mut rows = vec![0.0; 16];
        for (i, length) in [3.0, 2.0, 2.0, 1.0].into_iter().enumerate() {
            rows[5 * i] = length;
        }
        let found = largest_eigenvalue(&rows);
        assert!((9.0 - 1e-12..9.2).contains(&found), "{found}");
    }
}

//! A plain implementation of Algorithm 1 for logistic regression: one chain at a time, row by row,
//! with the functions of the standard library and normal random numbers drawn one by one. A correct
//! first implementation without any optimisation.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use ridgewalk::coefficients::{Coefficients, Parameters};

use crate::Failure;

/// A chain on the posterior of a logistic regression with independent normal priors of scale
/// `prior`.
#[derive(Debug)]
pub struct PlainChain<'a> {
    design: &'a [f64],
    responses: &'a [f64],
    prior: f64,
    coefficients: Coefficients,
    generator: ChaCha8Rng,
    /// The position.
    pub theta: Vec<f64>,
    p: Vec<f64>,
    r: Vec<f64>,
}

impl<'a> PlainChain<'a> {
    /// A chain at the origin.
    ///
    /// # Errors
    /// For invalid parameters.
    pub fn new(
        design: &'a [f64], responses: &'a [f64], prior: f64, parameters: Parameters,
        smoothness: f64, seed: u64,
    ) -> Result<Self, Failure> {
        let d = design.len() / responses.len();
        let coefficients = Coefficients::new(parameters, smoothness)?;
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let mut draw = || -> Vec<f64> {
            (0..d)
                .map(|_| {
                    let z: f64 = StandardNormal.sample(&mut generator);
                    z / smoothness.sqrt()
                })
                .collect()
        };
        let (p, r) = (draw(), draw());
        Ok(Self { design, responses, prior, coefficients, generator, theta: vec![0.0; d], p, r })
    }

    /// Makes one step.
    pub fn step(&mut self) {
        let d = self.theta.len();
        let c = &self.coefficients;
        let eta = c.parameters().eta();
        // The integral of the gradient along the segment: the rows, then the prior.
        let mut integral = vec![0.0; d];
        for (row, y) in self.design.chunks_exact(d).zip(self.responses) {
            let s: f64 = row.iter().zip(&self.theta).map(|(a, x)| a * x).sum();
            let t: f64 = row.iter().zip(&self.p).map(|(a, p)| eta * a * p).sum();
            let slope = mean_sigmoid(s, t) - y;
            integral.iter_mut().zip(row).for_each(|(sum, a)| *sum += eta * slope * a);
        }
        for k in 0..d {
            integral[k] +=
                eta * (self.theta[k] + 0.5 * eta * self.p[k]) / (self.prior * self.prior);
        }
        let [l11, l21, l22, l31, l32, l33] = c.cholesky();
        for k in 0..d {
            let mut normal = || -> f64 { StandardNormal.sample(&mut self.generator) };
            let (n1, n2, n3) = (normal(), normal(), normal());
            let (p, r) = (self.p[k], self.r[k]);
            let kick = integral[k] / c.smoothness();
            self.theta[k] += -0.5 * eta * kick + c.mu12() * p + c.mu13() * r + l11 * n1;
            self.p[k] = -kick + c.mu22() * p + c.mu23() * r + l21 * n1 + l22 * n2;
            self.r[k] =
                c.mu31() * kick + c.mu32() * p + c.mu33() * r + l31 * n1 + l32 * n2 + l33 * n3;
        }
    }
}

/// The mean of 1/(1 + e^-x) over the segment from s to s + t: log1p(sigmoid(s) expm1(t))/t.
fn mean_sigmoid(s: f64, t: f64) -> f64 {
    let start = 1.0 / (1.0 + (-s).exp());
    if t.abs() < 1e-8 { start } else { (start * t.exp_m1()).ln_1p() / t }
}

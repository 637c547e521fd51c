//! Models with simulated data: coefficients from the prior, responses given the coefficients, by
//! independent formulas. Only the potential for the sampler comes from the crates under test.

use std::f64::consts::{FRAC_1_SQRT_2, PI};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, Exp1, Poisson as PoissonLaw, StandardNormal, StandardUniform};
use ridgewalk::potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Poisson, Probit,
};
use ridgewalk::potentials::{Dense, Prior, Ridge};
use statrs::function::erf::erf;

use crate::Failure;

/// Where Huber's loss becomes linear, in units of the noise scale.
pub(super) const DELTA: f64 = 1.345;
/// The noise scale of continuous responses.
const NOISE: f64 = 1.0;

/// A kind of regression, with the prior scale of its coefficients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// 0 or 1 with log odds s.
    Logistic,
    /// 0 or 1 with probability Φ(s).
    Probit,
    /// Counts of mean e^s.
    Poisson,
    /// s and normal noise.
    Gaussian,
    /// s and logistic noise.
    LogisticNoise,
    /// s and noise of density e^−h with Huber's h.
    Huber,
}

/// Coefficients from the prior, and a data set simulated with them.
#[derive(Debug, Clone, PartialEq)]
pub struct Drawn {
    /// The coefficients.
    pub truth: Vec<f64>,
    /// The design, row by row: a constant, then normals of variance 1/(d − 1), so that the prior of
    /// a predictor does not grow with d.
    pub design: Vec<f64>,
    /// The responses.
    pub responses: Vec<f64>,
}

/// A function of a posterior, generic over its family.
pub trait Visit {
    /// The result.
    type Output;

    /// Calls the function.
    ///
    /// # Errors
    /// Any error of the function.
    fn visit<F: Family + Clone>(self, posterior: &Ridge<'_, F>) -> Result<Self::Output, Failure>;
}

impl Model {
    /// All models.
    pub const ALL: [Self; 6] = [
        Self::Logistic,
        Self::Probit,
        Self::Poisson,
        Self::Gaussian,
        Self::LogisticNoise,
        Self::Huber,
    ];

    /// The name on the command line and in tables: that of the family.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Probit => "probit",
            Self::Poisson => "poisson",
            Self::Gaussian => "gaussian",
            Self::LogisticNoise => "robust-logistic",
            Self::Huber => "robust-huber",
        }
    }

    /// The prior standard deviation of the coefficients. That of a predictor is √2 times as large,
    /// so that likelihoods are far from normal and counts stay below a few hundred.
    #[must_use]
    pub fn prior_scale(self) -> f64 {
        match self {
            Self::Logistic | Self::LogisticNoise | Self::Huber => 2.0,
            Self::Probit | Self::Gaussian => 1.5,
            Self::Poisson => 1.0,
        }
    }

    /// Simulates coefficients and data.
    ///
    /// # Errors
    /// If a Poisson mean is out of range.
    pub fn draw(self, rows: usize, columns: usize, seed: u64) -> Result<Drawn, Failure> {
        let mut source = ChaCha8Rng::seed_from_u64(seed);
        let mut normal = |scale: f64| {
            let z: f64 = StandardNormal.sample(&mut source);
            scale * z
        };
        let truth: Vec<f64> = (0..columns).map(|_| normal(self.prior_scale())).collect();
        let spread = (columns.max(2) as f64 - 1.0).sqrt().recip();
        let design: Vec<f64> = (0..rows * columns)
            .map(|at| if at % columns == 0 { 1.0 } else { normal(spread) })
            .collect();
        let predictors =
            design.chunks(columns).map(|row| row.iter().zip(&truth).map(|(a, x)| a * x).sum());
        let responses: Result<Vec<f64>, Failure> =
            predictors.map(|s: f64| self.response(s, &mut source)).collect();
        Ok(Drawn { truth, responses: responses?, design })
    }

    fn response(self, s: f64, source: &mut ChaCha8Rng) -> Result<f64, Failure> {
        let uniform: f64 = StandardUniform.sample(source);
        let normal: f64 = StandardNormal.sample(source);
        let yes = |it: bool| if it { 1.0 } else { 0.0 };
        Ok(match self {
            Self::Logistic => yes(uniform < 1.0 / (1.0 + (-s).exp())),
            Self::Probit => yes(normal < s),
            Self::Poisson => PoissonLaw::new(s.exp())?.sample(source),
            Self::Gaussian => s + NOISE * normal,
            Self::LogisticNoise => s + NOISE * (uniform / (1.0 - uniform)).ln(),
            Self::Huber => s + NOISE * huber_noise(uniform, source),
        })
    }

    /// Visits the posterior under a prior of the given scale.
    ///
    /// # Errors
    /// For data that are invalid for the family, and any error of the visitor.
    pub fn posterior<V: Visit>(
        self, data: &Drawn, scale: f64, visitor: V,
    ) -> Result<V::Output, Failure> {
        match self {
            Self::Logistic => visitor.visit(&ridge(data, Logistic, scale)?),
            Self::Probit => visitor.visit(&ridge(data, Probit, scale)?),
            Self::Poisson => visitor.visit(&ridge(data, Poisson, scale)?),
            Self::Gaussian => visitor.visit(&ridge(data, Gaussian::new(NOISE)?, scale)?),
            Self::LogisticNoise => visitor.visit(&ridge(data, LogisticNoise::new(NOISE)?, scale)?),
            Self::Huber => visitor.visit(&ridge(data, Huber::new(NOISE, DELTA)?, scale)?),
        }
    }
}

fn ridge<F: Family>(data: &Drawn, family: F, scale: f64) -> Result<Ridge<'_, F>, Failure> {
    let (n, d) = (data.responses.len(), data.truth.len());
    let design = Dense::new(n, d, data.design.as_slice())?;
    Ok(Ridge::new(design, family, &data.responses, Prior::centred(d, scale)?)?)
}

/// Noise with density proportional to e^−h(e): a normal truncated at ±δ, and beyond it an
/// exponential law of rate δ on either side. The parts have weights √(2π)(2Φ(δ) − 1) and 2
/// e^(−δ²/2)/δ.
pub(super) fn huber_noise(uniform: f64, source: &mut ChaCha8Rng) -> f64 {
    let inner = (2.0 * PI).sqrt() * erf(DELTA * FRAC_1_SQRT_2);
    let outer = 2.0 * (-0.5 * DELTA * DELTA).exp() / DELTA;
    let share = inner / (inner + outer);
    if uniform < share {
        loop {
            let z: f64 = StandardNormal.sample(source);
            if z.abs() <= DELTA {
                return z;
            }
        }
    }
    let e: f64 = Exp1.sample(source);
    let beyond = DELTA + e / DELTA;
    // Each side gets half of the remaining range of the uniform number.
    if uniform - share < 0.5 * (1.0 - share) { beyond } else { -beyond }
}

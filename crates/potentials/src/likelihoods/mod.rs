//! Likelihoods with parameters of their own: the density of a response given its linear predictor
//! s and parameters ψ (a noise scale, a shape, thresholds) that are sampled with the coefficients.
//!
//! ψ are real numbers: the logarithm of a scale, not the scale. [`Likelihood::scale`] tells how what
//! a user reads follows from them. Unlike a [`Family`], a likelihood need not be convex and has no
//! line integrals: [`Joint`](crate::Joint) posteriors are for kernels that accept or reject.
//!
//! | responses | likelihoods | ψ |
//! | --- | --- | --- |
//! | real | [`Normal`], [`LogisticNoise`], [`HuberNoise`], [`StudentT`] | log σ; for t also log ν, unless fixed |
//! | counts | [`NegativeBinomial`] | log r |
//! | positive | [`Gamma`] | log a |
//! | times, censored or not | [`Survival`] | log k, unless fixed |
//! | ordered levels | [`Ordinal`] | first threshold, logs of the gaps |
//! | unordered levels | [`Multinomial`] | none |
//! | those of a [`Family`] | [`Plain`] | none |
//!
//! u and its derivatives are accurate to a few units in the last place of their largest term, for
//! any finite s and parameters from e^-690 to e^690; beyond, they stay at those ends.

mod counts;
mod multinomial;
mod noise;
mod ordinal;
pub(crate) mod positive;
mod survival;

pub use crate::censored::SurvivalKind;
pub use counts::NegativeBinomial;
pub use multinomial::Multinomial;
pub use noise::{HuberNoise, LogisticNoise, Normal, StudentT};
pub use ordinal::Ordinal;
pub use positive::Gamma;
pub use survival::Survival;

use std::fmt::Debug;

use crate::families::{Family, Objection, Observation, without_trials};
use crate::joint::ParameterScale;

/// Some rows of a model, at the linear predictors of one chain.
#[derive(Debug, Clone, Copy)]
pub struct Block<'a> {
    /// The linear predictors: for each row as many as [`Likelihood::predictors`] says.
    pub s: &'a [f64],
    /// The responses.
    pub y: &'a [Observation],
    /// How many times each row counts; empty if every row counts once.
    pub weights: &'a [f64],
}

impl Block<'_> {
    /// Calls `row` for each row of a likelihood with one predictor. It returns u and ∂u/∂s, and
    /// adds its weight, the last argument, times ∂u/∂ψ to sums of its own. Returns Σ w u; w ∂u/∂s
    /// goes into `slopes`.
    #[inline(always)]
    pub fn sum(
        &self, slopes: &mut [f64], mut row: impl FnMut(f64, Observation, f64) -> [f64; 2],
    ) -> f64 {
        let mut sum = 0.0;
        for (i, ((slope, &s), &y)) in slopes.iter_mut().zip(self.s).zip(self.y).enumerate() {
            let weight = self.weights.get(i).copied().unwrap_or(1.0);
            let [value, by_s] = row(s, y, weight);
            sum += weight * value;
            *slope = weight * by_s;
        }
        sum
    }
}

/// The density of a response given its linear predictor s and parameters ψ.
pub trait Likelihood: Debug + Send + Sync {
    /// The name used in messages.
    fn name(&self) -> &'static str;

    /// The number of parameters ψ.
    fn parameters(&self) -> usize;

    /// The number of linear predictors of a row, each with coefficients of its own. 1 by default.
    fn predictors(&self) -> usize {
        1
    }

    /// What is wrong with an observation; `None` if it is one that the likelihood can have.
    fn objection(&self, y: Observation) -> Option<Objection>;

    /// With u = −log density, constants included: returns Σ w u over the rows, writes w ∂u/∂s into
    /// `slopes`, which is as long as `block.s`, and adds Σ w ∂u/∂ψ to `by_parameter`.
    ///
    /// A sum that is not finite means a density of 0, or one too small to compute. The results must
    /// depend on the arguments alone.
    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64;

    /// A change of s over which u changes by about 1, such as σ: the unit of differences that make
    /// second derivatives. 1 by default.
    fn unit(&self, psi: &[f64]) -> f64 {
        let _ = psi;
        1.0
    }

    /// How the curvature of u by s depends on ψ, up to a factor, where it does for all rows alike: as
    /// 1/σ² for noise. From [`Likelihood::unit`] by default. It makes coordinates; an exact one is
    /// not needed.
    fn information(&self, psi: &[f64]) -> f64 {
        let unit = self.unit(psi);
        1.0 / unit / unit
    }

    /// How the parameters that users read follow from ψ: as e^ψ by default.
    fn scale(&self) -> ParameterScale {
        ParameterScale::Positive
    }

    /// Whether u is convex in (s, ψ) for every response: a posterior with log-concave priors is
    /// then log-concave. `false` by default.
    fn convex(&self) -> bool {
        false
    }
}

/// The level of a response 0, 1, ..., if it is one of `levels`.
fn level(y: Observation, levels: usize) -> Option<usize> {
    let y = y.response;
    // Levels are few: their numbers are exact.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    (y >= 0.0 && y < levels as f64 && y.fract() == 0.0).then_some(y as usize)
}

/// An objection to everything but levels.
fn level_objection(y: Observation, levels: usize) -> Option<Objection> {
    const NEED: &str = "a whole number of at least 0 and below the number of levels";
    without_trials(y, level(y, levels).is_some(), NEED)
}

/// A family as a likelihood without parameters.
#[derive(Debug, Clone)]
pub struct Plain<F>(pub F);

impl<F: Family> Likelihood for Plain<F> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn parameters(&self) -> usize {
        0
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        self.0.objection(y)
    }

    fn evaluate(&self, _: &[f64], block: Block<'_>, slopes: &mut [f64], _: &mut [f64]) -> f64 {
        let Block { s, y, weights } = block;
        self.0.values(s, y, slopes);
        let weighted = |(i, value): (usize, &f64)| weights.get(i).unwrap_or(&1.0) * value;
        let sum = slopes.iter().enumerate().map(weighted).sum();
        self.0.slopes(s, y, slopes);
        slopes.iter_mut().zip(weights).for_each(|(slope, weight)| *slope *= weight);
        sum
    }

    /// From the largest curvature of an observation that every family can have.
    fn unit(&self, _: &[f64]) -> f64 {
        let most = self.0.curvature_bounds(Observation::of(1.0)).upper;
        most.filter(|most| *most > 0.0).map_or(1.0, |most| 1.0 / most.sqrt())
    }

    fn convex(&self) -> bool {
        true
    }
}

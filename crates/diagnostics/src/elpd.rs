//! Expected log predictive densities: of one observation, in total, and as differences.
//!
//! Definitions are those of Vehtari, Gelman and Gabry (Statistics and Computing 27, 2017), as R's
//! package loo computes them.

use crate::error::Error;
use crate::numeric;

/// LOO and WAIC of one observation, made by [`Psis::pointwise`](crate::Psis::pointwise). All are
/// NaN if the log likelihood of a draw is NaN or infinite.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Pointwise {
    /// The log of the mean likelihood over the draws.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub lppd: f64,
    /// The log predictive density given all other observations, by Pareto-smoothed importance
    /// sampling.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub elpd_loo: f64,
    /// `lppd` − `elpd_loo`: the observation's part of the effective number of parameters.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub p_loo: f64,
    /// The shape of the fitted tail, infinite if there is no fit. `elpd_loo` is reliable up to
    /// [`pareto_k_limit`].
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub pareto_k: f64,
    /// `lppd` − `p_waic`.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub elpd_waic: f64,
    /// The variance of the log likelihood over the draws, with divisor S − 1 as in loo. (ArviZ's is
    /// S.) WAIC is unreliable above 0.4. NaN for a single draw.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub p_waic: f64,
}

impl Pointwise {
    pub(crate) const UNDEFINED: Self = Self {
        lppd: f64::NAN,
        elpd_loo: f64::NAN,
        p_loo: f64::NAN,
        pareto_k: f64::NAN,
        elpd_waic: f64::NAN,
        p_waic: f64::NAN,
    };

    pub(crate) fn new(lppd: f64, elpd_loo: f64, p_waic: f64, pareto_k: f64) -> Self {
        let (p_loo, elpd_waic) = (lppd - elpd_loo, lppd - p_waic);
        Self { lppd, elpd_loo, p_loo, pareto_k, elpd_waic, p_waic }
    }
}

/// The largest Pareto k at which an estimate from this number of draws is reliable:
/// min(1 − 1/log10 S, 0.7), from Vehtari, Simpson, Gelman, Yao and Gabry (2024).
///
/// ```
/// use ridgewalk_diagnostics::pareto_k_limit;
///
/// assert_eq!(pareto_k_limit(100), 0.5);
/// assert_eq!(pareto_k_limit(8000), 0.7);
/// ```
#[must_use]
pub fn pareto_k_limit(draws: usize) -> f64 {
    // Minus infinity for one draw, and here also for none.
    (1.0 - 1.0 / (draws.max(1) as f64).log10()).min(0.7)
}

/// Totals over the observations.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Elpd {
    /// The sum of the log predictive densities.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub elpd: f64,
    /// Its standard error: √(n Var), the variance over the observations with divisor n − 1 as in
    /// loo. (ArviZ's divisor is n, so that its error is smaller by √((n − 1)/n).) NaN for a single
    /// observation.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub se: f64,
    /// The effective number of parameters.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub p: f64,
    /// Its standard error, likewise.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub se_p: f64,
    /// The number of observations.
    pub observations: usize,
}

impl Elpd {
    /// The totals of LOO.
    #[must_use]
    pub fn loo(pointwise: &[Pointwise]) -> Self {
        let (elpd, se) = total(pointwise.iter().map(|one| one.elpd_loo));
        let (p, se_p) = total(pointwise.iter().map(|one| one.p_loo));
        Self { elpd, se, p, se_p, observations: pointwise.len() }
    }

    /// The totals of WAIC.
    #[must_use]
    pub fn waic(pointwise: &[Pointwise]) -> Self {
        let (elpd, se) = total(pointwise.iter().map(|one| one.elpd_waic));
        let (p, se_p) = total(pointwise.iter().map(|one| one.p_waic));
        Self { elpd, se, p, se_p, observations: pointwise.len() }
    }

    /// −2 `elpd`, the scale of an information criterion (LOOIC, WAIC). Its standard error is 2
    /// `se`.
    #[must_use]
    pub fn information_criterion(&self) -> f64 {
        -2.0 * self.elpd
    }
}

/// The difference of two models on the same observations.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct ElpdDifference {
    /// The sum of the differences.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub elpd_diff: f64,
    /// Its standard error, √(n Var) with divisor n − 1. It is smaller than those of the models
    /// suggest, because both find the same observations hard.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub se_diff: f64,
}

impl ElpdDifference {
    /// The first model less the second, from their log predictive densities (`elpd_loo` or
    /// `elpd_waic`) of the same observations in the same order. Positive if the first predicts
    /// better.
    pub fn of(first: &[f64], second: &[f64]) -> Result<Self, Error> {
        if first.len() != second.len() {
            return Err(Error::Observations { model: 1, got: second.len(), need: first.len() });
        }
        let (elpd_diff, se_diff) = total(first.iter().zip(second).map(|(a, b)| a - b));
        Ok(Self { elpd_diff, se_diff })
    }
}

/// The sum, and its standard error √(n Var).
fn total(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    if values.is_empty() {
        return (0.0, f64::NAN);
    }
    let n = values.len() as f64;
    (n * numeric::mean(&values), (n * numeric::variance(&values)).sqrt())
}

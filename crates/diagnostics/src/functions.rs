//! One function per diagnostic. Each creates its own workspace; use a [`Summarizer`] for many
//! calls.

use crate::error::Error;
use crate::summarizer::Summarizer;

/// Rank-normalised split R-hat: the larger of the R-hats of the draws and of their distances from
/// the median.
///
/// Chains are split into halves, so that a drifting chain disagrees with itself. Draws are replaced
/// by the normal scores of their ranks, so that heavy tails do not matter. The distances detect
/// chains that differ in scale. R-hat is near 1 when all chains agree, infinite when each half is
/// stuck at its own value, and NaN for a single chain (as in ArviZ).
pub fn rhat(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().rhat(chains)
}

/// Bulk ESS: the ESS of the normal scores of the draws.
pub fn ess_bulk(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_bulk(chains)
}

/// Tail ESS: the smaller of the ESS of the 5 % and of the 95 % quantile.
pub fn ess_tail(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_tail(chains)
}

/// The ESS of the mean: the ESS of the draws themselves.
pub fn ess_mean(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_mean(chains)
}

/// The ESS of the sd: the ESS of (x − mean)², with the mean of all draws.
pub fn ess_sd(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_sd(chains)
}

/// The smaller of [`ess_mean`] and [`ess_sd`].
///
/// This project measures efficiency by it, because neither chains that alternate about the mean nor
/// chains that keep their distance from it make it too large.
pub fn ess_moments(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_moments(chains)
}

/// The ESS of the quantile at probability p in [0, 1]: the ESS of the indicator of x ≤ quantile.
pub fn ess_quantile(chains: &[&[f64]], p: f64) -> Result<f64, Error> {
    Summarizer::new().ess_quantile(chains, p)
}

/// The Monte Carlo standard error of the mean: sd/√ESS.
pub fn mcse_mean(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().mcse_mean(chains)
}

/// The Monte Carlo standard error of the sd, by the delta method: √(Var (x − mean)²/ESS)/(2 sd).
pub fn mcse_sd(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().mcse_sd(chains)
}

/// The Monte Carlo standard error of the quantile at probability p in [0, 1]: half the width of a
/// central 68 % interval between two draws.
pub fn mcse_quantile(chains: &[&[f64]], p: f64) -> Result<f64, Error> {
    Summarizer::new().mcse_quantile(chains, p)
}

/// The quantile of all draws at probability p in [0, 1], by linear interpolation (NumPy's default,
/// R's type 7).
pub fn quantile(chains: &[&[f64]], p: f64) -> Result<f64, Error> {
    Summarizer::new().quantile(chains, p)
}

/// The highest-density interval: the shortest that holds the share p in [0, 1] of all draws, with
/// draws as its ends (ArviZ's `hdi` for one mode). For several modes it is still one interval.
pub fn hdi(chains: &[&[f64]], p: f64) -> Result<[f64; 2], Error> {
    Summarizer::new().hdi(chains, p)
}

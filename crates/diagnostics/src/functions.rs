//! One function per diagnostic. Each makes a workspace for itself; use [`Summarizer`] for many
//! calls.

use crate::error::Error;
use crate::summarizer::Summarizer;

/// Rank-normalised split R-hat: the larger of that of the draws and that of their distances from
/// the median.
///
/// Chains are cut into halves, so that a chain that drifts disagrees with itself; draws are
/// replaced by the normal scores of their ranks, so that heavy tails do no harm; the distances make
/// chains that differ in scale disagree. Near 1 when all chains tell the same, infinite when each
/// half is stuck at its own value, NaN for a single chain (as ArviZ).
pub fn rhat(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().rhat(chains)
}

/// Bulk ESS: that of the normal scores of the draws. How well the chains know where the bulk lies.
pub fn ess_bulk(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_bulk(chains)
}

/// Tail ESS: the smaller of those of the 5 % and the 95 % quantile.
pub fn ess_tail(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_tail(chains)
}

/// The ESS of the mean: that of the draws as they are.
pub fn ess_mean(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_mean(chains)
}

/// The ESS of the sd: that of (x − mean)², with the mean of all draws.
pub fn ess_sd(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_sd(chains)
}

/// The smaller of [`ess_mean`] and [`ess_sd`]: the measure of efficiency of this project, which
/// neither chains that alternate about the mean nor chains that keep their distance from it can
/// flatter.
pub fn ess_moments(chains: &[&[f64]]) -> Result<f64, Error> {
    Summarizer::new().ess_moments(chains)
}

/// The ESS of the quantile at probability p in [0, 1]: that of the indicator of x ≤ quantile.
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
/// central 68 % interval made of draws.
pub fn mcse_quantile(chains: &[&[f64]], p: f64) -> Result<f64, Error> {
    Summarizer::new().mcse_quantile(chains, p)
}

/// The quantile of all draws at probability p in [0, 1], by linear interpolation (NumPy's default,
/// R's type 7).
pub fn quantile(chains: &[&[f64]], p: f64) -> Result<f64, Error> {
    Summarizer::new().quantile(chains, p)
}

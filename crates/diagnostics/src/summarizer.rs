//! The diagnostics, with buffers and tables that are reused from one parameter to the next.

use std::sync::Arc;

use crate::MIN_DRAWS;
use crate::autocovariance::{Buffers, Transform};
use crate::error::Error;
use crate::geyer;
use crate::numeric;
use crate::quantiles;
use crate::sample::{Placed, Sample};
use crate::scores::{self, Scores};
use crate::summary::{Intervals, Summary};

/// Buffers, Fourier transform and normal scores, kept between calls.
///
/// After the first parameter, further ones of the same shape allocate nothing. Clones share the
/// tables. Results do not depend on earlier calls.
#[derive(Debug, Clone, Default)]
pub struct Summarizer {
    sample: Sample,
    transform: Option<Arc<Transform>>,
    scores: Option<Arc<Scores>>,
    halves: Vec<f64>,
    kept: Vec<Placed>,
    folded: Vec<Placed>,
    squares: Vec<f64>,
    buffers: Buffers,
}

/// Returns `p` if it is a probability.
fn probability(p: f64) -> Result<f64, Error> {
    if (0.0..=1.0).contains(&p) { Ok(p) } else { Err(Error::Probability { probability: p }) }
}

impl Summarizer {
    /// An empty workspace; buffers are allocated on first use.
    pub fn new() -> Self {
        Self::default()
    }

    /// See [`rhat`](crate::rhat()).
    pub fn rhat(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        if !self.has_halves() || chains.len() < 2 {
            return Ok(f64::NAN);
        }
        self.normal_scores();
        Ok(self.rhat_of_scores())
    }

    /// See [`ess_bulk`](crate::ess_bulk()).
    pub fn ess_bulk(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        if !self.has_halves() {
            return Ok(f64::NAN);
        }
        self.normal_scores();
        Ok(self.ess_of_halves())
    }

    /// See [`ess_tail`](crate::ess_tail()).
    pub fn ess_tail(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        Ok(self.ess_below(0.05).min(self.ess_below(0.95)))
    }

    /// See [`ess_mean`](crate::ess_mean()).
    pub fn ess_mean(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        Ok(self.ess_of_centered(|x| x))
    }

    /// See [`ess_sd`](crate::ess_sd()).
    pub fn ess_sd(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        Ok(self.ess_of_centered(|x| x * x))
    }

    /// See [`ess_moments`](crate::ess_moments()).
    pub fn ess_moments(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        Ok(self.ess_of_centered(|x| x).min(self.ess_of_centered(|x| x * x)))
    }

    /// See [`ess_quantile`](crate::ess_quantile()).
    pub fn ess_quantile(&mut self, chains: &[&[f64]], p: f64) -> Result<f64, Error> {
        let p = probability(p)?;
        self.sample.load(chains)?;
        Ok(self.ess_below(p))
    }

    /// See [`mcse_mean`](crate::mcse_mean()).
    pub fn mcse_mean(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        let ess = self.ess_of_centered(|x| x);
        Ok(self.error_of_mean(ess))
    }

    /// See [`mcse_sd`](crate::mcse_sd()).
    pub fn mcse_sd(&mut self, chains: &[&[f64]]) -> Result<f64, Error> {
        self.sample.load(chains)?;
        let ess = self.ess_of_centered(|x| x * x);
        Ok(self.error_of_sd(ess))
    }

    /// See [`mcse_quantile`](crate::mcse_quantile()).
    pub fn mcse_quantile(&mut self, chains: &[&[f64]], p: f64) -> Result<f64, Error> {
        let p = probability(p)?;
        self.sample.load(chains)?;
        let ess = self.ess_below(p);
        if ess.is_nan() {
            return Ok(f64::NAN);
        }
        Ok(quantiles::standard_error(self.sample.sorted(), p, ess))
    }

    /// See [`quantile`](crate::quantile()).
    pub fn quantile(&mut self, chains: &[&[f64]], p: f64) -> Result<f64, Error> {
        let p = probability(p)?;
        self.sample.load(chains)?;
        if !self.sample.is_finite() {
            return Ok(f64::NAN);
        }
        self.sample.sort();
        Ok(quantiles::interpolated(self.sample.sorted(), p))
    }

    /// See [`hdi`](crate::hdi()).
    pub fn hdi(&mut self, chains: &[&[f64]], p: f64) -> Result<[f64; 2], Error> {
        let p = probability(p)?;
        self.sample.load(chains)?;
        let found = self.intervals_of_sample(p);
        Ok([found.hdi_lower, found.hdi_upper])
    }

    /// The intervals that hold the share p of the draws.
    pub fn intervals(&mut self, chains: &[&[f64]], p: f64) -> Result<Intervals, Error> {
        let p = probability(p)?;
        self.sample.load(chains)?;
        Ok(self.intervals_of_sample(p))
    }

    /// Summary and intervals, which share one sort of the draws.
    pub fn summary_and_intervals(
        &mut self, chains: &[&[f64]], p: f64,
    ) -> Result<(Summary, Intervals), Error> {
        let p = probability(p)?;
        self.sample.load(chains)?;
        Ok((self.summary_of_sample(), self.intervals_of_sample(p)))
    }

    /// See [`Summary::of`].
    pub fn summary(&mut self, chains: &[&[f64]]) -> Result<Summary, Error> {
        self.sample.load(chains)?;
        Ok(self.summary_of_sample())
    }

    /// The summary of chains laid end to end, whose shape has been checked.
    pub(crate) fn summary_of_pooled(&mut self, pooled: &[f64], chains: usize) -> Summary {
        self.sample.load_pooled(pooled, chains);
        self.summary_of_sample()
    }

    /// Creates the tables for a shape, to be shared by clones.
    pub(crate) fn prepare(&mut self, chains: usize, draws: usize) {
        let half = draws / 2;
        if draws < MIN_DRAWS {
            return;
        }
        if self.transform.as_ref().is_none_or(|t| t.half() != half) {
            self.transform = Some(Arc::new(Transform::new(half)));
        }
        if self.scores.as_ref().is_none_or(|s| s.len() != 2 * half * chains) {
            self.scores = Some(Arc::new(Scores::new(2 * half * chains)));
        }
    }

    fn summary_of_sample(&mut self) -> Summary {
        if !self.sample.is_finite() {
            return Summary::UNDEFINED;
        }
        self.sample.center();
        self.sample.sort();
        let (mean, sd) = (self.sample.mean(), self.sample.variance().sqrt());
        let [q05, q50, q95] =
            [0.05, 0.5, 0.95].map(|p| quantiles::interpolated(self.sample.sorted(), p));
        let plain = Summary { mean, sd, q05, q50, q95, ..Summary::UNDEFINED };
        if !self.has_halves() {
            return plain;
        }
        let ess_mean = self.ess_of_centered(|x| x);
        let mcse_mean = self.error_of_mean(ess_mean);
        let ess_sd = self.ess_of_centered(|x| x * x);
        let mcse_sd = self.error_of_sd(ess_sd);
        let ess_tail = self.ess_below(0.05).min(self.ess_below(0.95));
        self.normal_scores();
        let ess_bulk = self.ess_of_halves();
        let rhat = if self.sample.chains() < 2 { f64::NAN } else { self.rhat_of_scores() };
        Summary { mcse_mean, mcse_sd, ess_bulk, ess_tail, ess_mean, ess_sd, rhat, ..plain }
    }

    /// The intervals of draws that are loaded.
    fn intervals_of_sample(&mut self, p: f64) -> Intervals {
        if !self.sample.is_finite() {
            return Intervals::UNDEFINED;
        }
        self.sample.sort();
        let [lower, upper] = quantiles::central(self.sample.sorted(), p);
        let [hdi_lower, hdi_upper] = quantiles::shortest(self.sample.sorted(), p);
        Intervals { lower, upper, hdi_lower, hdi_upper }
    }

    /// Whether the chains can be split into halves that have a variance.
    fn has_halves(&self) -> bool {
        self.sample.is_finite() && self.sample.draws() >= MIN_DRAWS
    }

    /// Fills `halves` with normal scores, and `kept` with the sorted draws behind them.
    fn normal_scores(&mut self) {
        self.prepare(self.sample.chains(), self.sample.draws());
        self.sample.sort();
        self.sample.sorted_halves(&mut self.kept);
        if let Some(scores) = &self.scores {
            scores.write(&self.kept, &mut self.halves);
        }
    }

    /// The larger of the R-hats of the scores in `halves` and of the scores of the distances from
    /// the median. As in ArviZ, the median is that of the draws in a half.
    fn rhat_of_scores(&mut self) -> f64 {
        let half = self.sample.half();
        let bulk = scores::rhat(&self.halves, half, &mut self.buffers.means);
        scores::fold(&self.kept, &mut self.folded);
        if let Some(scores) = &self.scores {
            scores.write(&self.folded, &mut self.halves);
        }
        let tail = scores::rhat(&self.halves, half, &mut self.buffers.means);
        // `max` ignores NaN: for draws at two levels with the median in between, only the bulk is
        // defined. For constant draws neither is.
        bulk.max(tail)
    }

    /// The ESS of f of the draws less their mean.
    fn ess_of_centered(&mut self, f: impl Fn(f64) -> f64) -> f64 {
        if !self.has_halves() {
            return f64::NAN;
        }
        self.sample.center();
        self.sample.map_centered_halves(&mut self.halves, f);
        self.ess_of_halves()
    }

    /// The ESS of the indicator of x ≤ quantile.
    fn ess_below(&mut self, p: f64) -> f64 {
        if !self.has_halves() {
            return f64::NAN;
        }
        self.sample.sort();
        let quantile = quantiles::interpolated(self.sample.sorted(), p);
        self.sample.map_halves(&mut self.halves, |x| if x <= quantile { 1.0 } else { 0.0 });
        self.ess_of_halves()
    }

    /// The ESS of the values in `halves`.
    fn ess_of_halves(&mut self) -> f64 {
        if numeric::is_constant(&self.halves) {
            return self.halves.len() as f64;
        }
        self.prepare(self.sample.chains(), self.sample.draws());
        let Some(transform) = &self.transform else {
            return f64::NAN;
        };
        transform.autocovariance(&self.halves, &mut self.buffers);
        geyer::effective_size(&self.buffers.autocovariance, &self.buffers.means)
    }

    /// The MCSE of the mean, given its ESS.
    fn error_of_mean(&self, ess: f64) -> f64 {
        if ess.is_nan() { f64::NAN } else { (self.sample.variance() / ess).sqrt() }
    }

    /// The MCSE of the sd, given the ESS of the squares: the delta method on their variance.
    fn error_of_sd(&mut self, ess: f64) -> f64 {
        if ess.is_nan() {
            return f64::NAN;
        }
        self.squares.clear();
        self.squares.extend(self.sample.centered().iter().map(|x| x * x));
        let variance = numeric::mean(&self.squares);
        // Squared distances from the variance, not the mean of fourth powers less the squared
        // variance, which can cancel to a negative number.
        let spread = numeric::sum_of_squares(&self.squares, variance) / self.squares.len() as f64;
        (spread / ess / variance / 4.0).sqrt()
    }
}

//! Negative binomial regression with the log link: counts of mean e^s that vary more than Poisson
//! counts.

use super::chunks::{self, Chunked};
use super::logistic::{Counts, Logistic};
use super::{CurvatureBounds, Family, Objection, Observation, count, scale};
use crate::elementary::CHUNK;
use crate::error::Error;

/// u = (y + r) softplus(x) − y x with x = s − log r, for counts of mean μ = e^s and variance
/// μ + μ²/r. This is [`Logistic`] with y successes and r failures, and u″ <= (y + r)/4.
///
/// [`likelihoods::NegativeBinomial`](crate::likelihoods::NegativeBinomial) has the size r as a
/// parameter, and the constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NegativeBinomial {
    size: f64,
    log_size: f64,
}

impl NegativeBinomial {
    /// Counts of size r = `size`.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(size: f64) -> Result<Self, Error> {
        let size = scale("size", size)?;
        Ok(Self { size, log_size: size.ln() })
    }

    #[inline(always)]
    fn counts(&self, y: Observation) -> Counts {
        let (successes, failures) = (y.response, self.size);
        Counts { successes, failures, trials: successes + failures }
    }
}

impl Family for NegativeBinomial {
    fn name(&self) -> &'static str {
        "negative-binomial"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        count(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        self.counts(y).value(s - self.log_size)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        self.counts(y).slope(s - self.log_size)
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        self.counts(y).curvature(s - self.log_size)
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        self.counts(y).mean_slope(s - self.log_size, t)
    }

    chunks::chunked_lists!(values);

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.25 * self.counts(y).trials) }
    }

    fn third_bound(&self, low: f64, high: f64, y: Observation) -> Option<f64> {
        Some(self.counts(y).third_bound(low - self.log_size, high - self.log_size))
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        [-y.response, self.size]
    }
}

impl Chunked for NegativeBinomial {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        self.counts(y).segment(s - self.log_size, t)
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        <Logistic as Chunked>::holds(s, t)
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        <Logistic as Chunked>::means::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, mean: f64, _: f64, y: Observation) -> f64 {
        self.counts(y).slope_from::<FUSED>(mean)
    }

    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        self.counts(y).slope_at::<FUSED>(s - self.log_size)
    }

    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        self.counts(y).value_at::<FUSED>(s - self.log_size)
    }
}

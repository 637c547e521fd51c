//! Logistic regression: y successes out of n trials, each with probability 1/(1 + e^-s).

use super::chunks::{self, Chunked};
use super::{
    CurvatureBounds, Family, Objection, Observation, binomial, binomial_limits, binomial_sum,
};
use crate::elementary::{self, CHUNK, fma, within_reach};
use crate::segment::Segment;
use crate::softplus::{mean_sigmoid, sigmoid, softplus};

/// u = n softplus(s) − y s = (n − y) softplus(s) + y softplus(−s), u″ <= n/4.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Logistic;

/// The counts of a row, which need not be whole numbers: negative binomial counts are y successes
/// and r failures.
#[derive(Clone, Copy)]
pub(super) struct Counts {
    pub(super) successes: f64,
    pub(super) failures: f64,
    /// Their sum.
    pub(super) trials: f64,
}

impl Counts {
    #[inline(always)]
    fn of(y: Observation) -> Self {
        Self { successes: y.response, failures: y.trials - y.response, trials: y.trials }
    }

    /// n softplus(s) − y s.
    pub(super) fn value(self, s: f64) -> f64 {
        binomial_sum(self.successes, self.failures, || softplus(s), || -softplus(-s))
    }

    pub(super) fn slope(self, s: f64) -> f64 {
        binomial_sum(self.successes, self.failures, || sigmoid(s), || sigmoid(-s))
    }

    pub(super) fn curvature(self, s: f64) -> f64 {
        self.trials * sigmoid(s) * sigmoid(-s)
    }

    /// |u‴| = n f (1 − f) |1 − 2f| rises with |s| up to log(2 + √3) and falls beyond.
    pub(super) fn third_bound(self, low: f64, high: f64) -> f64 {
        const PEAK: f64 = 1.316_957_896_924_816_7;
        let near = if low <= 0.0 && high >= 0.0 { 0.0 } else { low.abs().min(high.abs()) };
        let odds = (-PEAK.clamp(near, low.abs().max(high.abs()))).exp();
        self.trials * odds * (1.0 - odds) / (1.0 + odds).powi(3)
    }

    pub(super) fn mean_slope(self, s: f64, t: f64) -> f64 {
        let segment = Segment::new(s, t);
        binomial_sum(
            self.successes,
            self.failures,
            || mean_sigmoid(&segment),
            || mean_sigmoid(&segment.mirrored()),
        )
    }

    /// n f(s) − y = −(n f(−s) − (n − y)), f the sigmoid: of the two the one with the smaller count
    /// keeps more digits, all of them where it is 0.
    #[inline(always)]
    fn mirrored(self) -> bool {
        self.successes + self.successes > self.trials
    }

    /// −1 for the mirror image.
    #[inline(always)]
    fn sign(self) -> f64 {
        if self.mirrored() { -1.0 } else { 1.0 }
    }

    /// The smaller count.
    #[inline(always)]
    fn smaller(self) -> f64 {
        if self.mirrored() { self.failures } else { self.successes }
    }

    /// [`Chunked::segment`] for a predictor s.
    #[inline(always)]
    pub(super) fn segment(self, s: f64, t: f64) -> (f64, f64) {
        let sign = self.sign();
        (sign * s, sign * t)
    }

    #[inline(always)]
    pub(super) fn slope_from<const FUSED: bool>(self, mean: f64) -> f64 {
        self.sign() * fma::<FUSED>(self.trials, mean, -self.smaller())
    }

    /// ((n − y) e^s − y)/(1 + e^s): where either count is 0 nothing is subtracted.
    #[inline(always)]
    pub(super) fn slope_at<const FUSED: bool>(self, s: f64) -> f64 {
        let odds = elementary::exp::<FUSED>(s, 0.0);
        fma::<FUSED>(self.failures, odds, -self.successes) / (1.0 + odds)
    }

    /// n softplus(−|s|) and |s| for each observation on the other side of it: both positive.
    #[inline(always)]
    pub(super) fn value_at<const FUSED: bool>(self, s: f64) -> f64 {
        let wrong = if s > 0.0 { self.failures } else { self.successes };
        fma::<FUSED>(self.trials, elementary::softplus_below::<FUSED>(s), wrong * s.abs())
    }
}

impl Family for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        binomial(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        Counts::of(y).value(s)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        Counts::of(y).slope(s)
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        Counts::of(y).curvature(s)
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        Counts::of(y).mean_slope(s, t)
    }

    chunks::chunked_lists!(values);

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.25 * y.trials) }
    }

    fn third_bound(&self, low: f64, high: f64, y: Observation) -> Option<f64> {
        Some(Counts::of(y).third_bound(low, high))
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        binomial_limits(y, 1.0)
    }
}

impl Chunked for Logistic {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        Counts::of(y).segment(s, t)
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        within_reach(s, t)
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        elementary::mean_sigmoids::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, mean: f64, _: f64, y: Observation) -> f64 {
        Counts::of(y).slope_from::<FUSED>(mean)
    }

    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        Counts::of(y).slope_at::<FUSED>(s)
    }

    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        Counts::of(y).value_at::<FUSED>(s)
    }
}

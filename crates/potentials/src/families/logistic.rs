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

impl Family for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        binomial(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        binomial_sum(y, || softplus(s), || -softplus(-s))
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        binomial_sum(y, || sigmoid(s), || sigmoid(-s))
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        y.trials * sigmoid(s) * sigmoid(-s)
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        let segment = Segment::new(s, t);
        binomial_sum(y, || mean_sigmoid(&segment), || mean_sigmoid(&segment.mirrored()))
    }

    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        chunks::values(self, s, y, values, Self::value);
    }

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::slopes(self, s, y, slopes);
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::mean_slopes(self, s, t, y, slopes);
    }

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.25 * y.trials) }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        binomial_limits(y, 1.0)
    }
}

/// n f(s) − y = −(n f(−s) − (n − y)), f the sigmoid: of the two the one with the smaller count
/// keeps more digits, all of them where it is 0.
#[inline(always)]
fn mirrored(y: Observation) -> bool {
    y.response + y.response > y.trials
}

/// −1 for the mirror image.
#[inline(always)]
fn sign(y: Observation) -> f64 {
    if mirrored(y) { -1.0 } else { 1.0 }
}

/// The smaller count.
#[inline(always)]
fn count(y: Observation) -> f64 {
    if mirrored(y) { y.trials - y.response } else { y.response }
}

impl Chunked for Logistic {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        let sign = sign(y);
        (sign * s, sign * t)
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
        sign(y) * fma::<FUSED>(y.trials, mean, -count(y))
    }

    /// ((n − y) e^s − y)/(1 + e^s): where either count is 0 nothing is subtracted.
    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        let odds = elementary::exp::<FUSED>(s, 0.0);
        fma::<FUSED>(y.trials - y.response, odds, -y.response) / (1.0 + odds)
    }

    /// n softplus(−|s|) and |s| for each observation on the other side of it: both positive.
    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        let wrong = if s > 0.0 { y.trials - y.response } else { y.response };
        fma::<FUSED>(y.trials, elementary::softplus_below::<FUSED>(s), wrong * s.abs())
    }
}

//! Probit regression: y successes out of n trials, each with probability Φ(s).

use super::chunks::{self, Chunked};
use super::{
    CurvatureBounds, Family, Objection, Observation, binomial, binomial_limits, binomial_sum,
};
use crate::elementary::{CHUNK, fma};
use crate::normal::{
    curvature, inverse_mills, inverse_mills_near, log_cdf, mean_inverse_mills,
    mean_inverse_mills_near, minus_log_cdf_near, near,
};
use crate::segment::Segment;

/// u = −y log Φ(s) − (n − y) log Φ(−s), u″ <= n.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Probit;

impl Family for Probit {
    fn name(&self) -> &'static str {
        "probit"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        binomial(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        sum(y, || -log_cdf(-s), || log_cdf(s))
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        sum(y, || inverse_mills(-s), || inverse_mills(s))
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        sum(y, || curvature(-s), || -curvature(s))
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        let segment = Segment::new(s, t);
        sum(y, || mean_inverse_mills(&segment.mirrored()), || mean_inverse_mills(&segment))
    }

    chunks::chunked_lists!(values);

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(y.trials) }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        binomial_limits(y, f64::INFINITY)
    }
}

/// The sum over failures and successes.
fn sum(y: Observation, of_failure: impl Fn() -> f64, of_success: impl Fn() -> f64) -> f64 {
    binomial_sum(y.response, y.trials - y.response, of_failure, of_success)
}

/// The counts of the side a row's functions are taken on, successes where there are any, and of the
/// mirrored side.
#[inline(always)]
fn counts(y: Observation) -> (f64, f64) {
    if y.response > 0.0 { (y.response, y.trials - y.response) } else { (y.trials, 0.0) }
}

impl Chunked for Probit {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        if y.response > 0.0 { (s, t) } else { (-s, -t) }
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        near(s, t)
    }

    #[inline(always)]
    fn both_sides(y: Observation) -> bool {
        counts(y).1 > 0.0
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        mean_inverse_mills_near::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, mean: f64, mirrored: f64, y: Observation) -> f64 {
        let (here, there) = counts(y);
        let sum = fma::<FUSED>(here, mean, -there * mirrored);
        if y.response > 0.0 { -sum } else { sum }
    }

    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        let (x, _) = self.segment(s, 0.0, y);
        let mirrored = if BOTH { inverse_mills_near::<FUSED>(-x) } else { 0.0 };
        self.slope_from::<FUSED>(inverse_mills_near::<FUSED>(x), mirrored, y)
    }

    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        let (x, _) = self.segment(s, 0.0, y);
        let mirrored = if BOTH { minus_log_cdf_near::<FUSED>(-x) } else { 0.0 };
        let (here, there) = counts(y);
        fma::<FUSED>(here, minus_log_cdf_near::<FUSED>(x), there * mirrored)
    }
}

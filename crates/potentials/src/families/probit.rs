//! Probit regression: y successes out of n trials, each with probability Φ(s).

use super::chunks::{self, Chunked};
use super::{CurvatureBounds, Family, Observation, binomial, binomial_limits, binomial_sum};
use crate::elementary::CHUNK;
use crate::normal::{
    curvature, inverse_mills, inverse_mills_near, log_cdf, mean_inverse_mills, mean_inverse_mills_near,
    short_and_near,
};
use crate::segment::Segment;

/// u = −y log Φ(s) − (n − y) log Φ(−s), u″ <= n.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Probit;

impl Family for Probit {
    fn name(&self) -> &'static str {
        "probit"
    }

    fn objection(&self, y: Observation) -> Option<&'static str> {
        binomial(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        binomial_sum(y, || -log_cdf(-s), || log_cdf(s))
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        binomial_sum(y, || inverse_mills(-s), || inverse_mills(s))
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        binomial_sum(y, || curvature(-s), || -curvature(s))
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        let segment = Segment::new(s, t);
        binomial_sum(y, || mean_inverse_mills(&segment.mirrored()), || mean_inverse_mills(&segment))
    }

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::slopes(self, s, y, slopes);
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::mean_slopes(self, s, t, y, slopes);
    }

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(y.trials) }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        binomial_limits(y, f64::INFINITY)
    }
}

impl Chunked for Probit {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        // Counts in between need both the segment and its mirror image: not here.
        let all = if y.response == y.trials { 1.0 } else { f64::NAN };
        let sign = if y.response == 0.0 { -1.0 } else { all };
        (sign * s, sign * t)
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        short_and_near(s, t)
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        mean_inverse_mills_near::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn at<const FUSED: bool>(s: f64) -> f64 {
        inverse_mills_near::<FUSED>(s, 0.0)
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, f: f64, y: Observation) -> f64 {
        if y.response == 0.0 { y.trials * f } else { -y.trials * f }
    }
}

//! Poisson regression with the log link: counts of mean e^s.

use super::chunks::{self, Chunked};
use super::{CurvatureBounds, Family, NO_TRIALS, Observation};
use crate::elementary::{self, CHUNK, within_reach};
use crate::segment::Segment;

/// u = e^s − y s + log y!. Its curvature e^s has no bound: no smoothness, and so no certificate, but sampling works.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Poisson;

/// The mean of e^x over a segment: e^high (1 − e^-length)/length, in which nothing cancels and, where e^high is not, nothing is
/// infinite.
fn mean_exponential(segment: &Segment) -> f64 {
    let Segment { high, length, .. } = *segment;
    let shrink = if length == 0.0 { 1.0 } else { -(-length).exp_m1() / length };
    high.value.exp() * (1.0 + high.rest) * shrink
}

impl Family for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn objection(&self, y: Observation) -> Option<&'static str> {
        if y.trials != 1.0 {
            Some(NO_TRIALS)
        } else if y.response >= 0.0 && y.response.is_finite() && y.response.fract() == 0.0 {
            None
        } else {
            Some("a whole number of at least 0")
        }
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        s.exp() - y.response * s + libm::lgamma(y.response + 1.0)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        s.exp() - y.response
    }

    fn curvature(&self, s: f64, _: Observation) -> f64 {
        s.exp()
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        mean_exponential(&Segment::new(s, t)) - y.response
    }

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::slopes(self, s, y, slopes);
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::mean_slopes(self, s, t, y, slopes);
    }

    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: None }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        [-y.response, f64::INFINITY]
    }
}

impl Chunked for Poisson {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, _: Observation) -> (f64, f64) {
        (s, t)
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        within_reach(s, t)
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        elementary::mean_exponentials::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn at<const FUSED: bool>(s: f64) -> f64 {
        elementary::exp::<FUSED>(s, 0.0)
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, f: f64, y: Observation) -> f64 {
        f - y.response
    }
}

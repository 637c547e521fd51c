//! Probit regression: y successes out of n trials, each with probability Φ(s).

use super::{CurvatureBounds, Family, Observation, binomial, binomial_limits, binomial_sum};
use crate::normal::{curvature, inverse_mills, log_cdf, mean_inverse_mills};
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

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(y.trials) }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        binomial_limits(y, f64::INFINITY)
    }
}

//! Logistic regression: y successes out of n trials, each with probability 1/(1 + e^-s).

use super::{CurvatureBounds, Family, Observation, binomial, binomial_limits, binomial_sum};
use crate::segment::Segment;
use crate::softplus::{mean_sigmoid, sigmoid, softplus};

/// u = n softplus(s) − y s = (n − y) softplus(s) + y softplus(−s), u″ <= n/4.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Logistic;

impl Family for Logistic {
    fn name(&self) -> &'static str {
        "logistic"
    }

    fn objection(&self, y: Observation) -> Option<&'static str> {
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

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.25 * y.trials) }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        binomial_limits(y, 1.0)
    }
}

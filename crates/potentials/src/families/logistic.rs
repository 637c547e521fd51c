//! Logistic regression: y successes out of n trials, each with probability 1/(1 + e^-s).

use super::chunks::{self, Chunked};
use super::{CurvatureBounds, Family, Observation, binomial, binomial_limits, binomial_sum};
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

    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        if !elementary::vectorised(Values { s, y, values }) {
            for ((value, &s), &y) in values.iter_mut().zip(s).zip(y) {
                if !within_reach(s, 0.0) {
                    *value = self.value(s, y);
                }
            }
        }
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

/// Values of many rows, in vector instructions: n softplus(e) − c e, with e mirrored so that c is at most n/2 and the terms cancel little.
struct Values<'a> {
    s: &'a [f64],
    y: &'a [Observation],
    values: &'a mut [f64],
}

impl elementary::Kernel for Values<'_> {
    /// Whether the results hold for all.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut hold = true;
        for ((value, &s), &y) in self.values.iter_mut().zip(self.s).zip(self.y) {
            hold &= within_reach(s, 0.0);
            let (e, count) = if mirrored(y) { (-s, y.trials - y.response) } else { (s, y.response) };
            *value = fma::<FUSED>(y.trials, elementary::softplus::<FUSED>(e), -count * e);
        }
        hold
    }
}

/// n f(s) − y = (n − y) − n f(−s), f the sigmoid: of the two the one with the smaller term keeps more digits, all of them where it is 0.
#[inline(always)]
fn mirrored(y: Observation) -> bool {
    y.response + y.response > y.trials
}

impl Chunked for Logistic {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        if mirrored(y) { (-s, -t) } else { (s, t) }
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
    fn at<const FUSED: bool>(s: f64) -> f64 {
        elementary::sigmoid::<FUSED>(s)
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, f: f64, y: Observation) -> f64 {
        let Observation { response, trials } = y;
        let (factor, term) = if mirrored(y) { (-trials, trials - response) } else { (trials, -response) };
        fma::<FUSED>(factor, f, term)
    }
}

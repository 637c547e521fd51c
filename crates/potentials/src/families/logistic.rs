//! Logistic regression: y successes out of n trials, each with probability 1/(1 + e^-s).

use super::{CurvatureBounds, Family, Observation, binomial, binomial_sum};
use crate::elementary::{self, CHUNK, Kernel, fma, mean_sigmoids, vectorised, within_reach};
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

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        if !vectorised(Slopes { s, y, slopes }) {
            for ((slope, &s), &y) in
                slopes.iter_mut().zip(s).zip(y).filter(|((_, s), _)| !within_reach(**s, 0.0))
            {
                *slope = self.slope(s, y);
            }
        }
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        if !vectorised(MeanSlopes { s, t, y, slopes }) {
            for (((slope, &s), &t), &y) in slopes.iter_mut().zip(s).zip(t).zip(y) {
                if !within_reach(s, t) {
                    *slope = self.mean_slope(s, t, y);
                }
            }
        }
    }

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.25 * y.trials) }
    }
}

/// The slope as factor · f + term, with f the (mean) sigmoid of the segment, or of its mirror image where sign is −1.
///
/// n f(s) − y = (n − y) − n f(−s): of the two the one with the smaller term keeps more digits, all of them where it is 0.
#[inline(always)]
fn parts(y: Observation) -> (f64, f64, f64) {
    let Observation { response, trials } = y;
    if response + response > trials { (-1.0, -trials, trials - response) } else { (1.0, trials, -response) }
}

struct Slopes<'a> {
    s: &'a [f64],
    y: &'a [Observation],
    slopes: &'a mut [f64],
}

impl Kernel for Slopes<'_> {
    /// Whether the results hold for all.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut hold = true;
        for ((slope, &s), &y) in self.slopes.iter_mut().zip(self.s).zip(self.y) {
            let (sign, factor, term) = parts(y);
            *slope = fma::<FUSED>(factor, elementary::sigmoid::<FUSED>(sign * s), term);
            hold &= within_reach(s, 0.0);
        }
        hold
    }
}

struct MeanSlopes<'a> {
    s: &'a [f64],
    t: &'a [f64],
    y: &'a [Observation],
    slopes: &'a mut [f64],
}

impl Kernel for MeanSlopes<'_> {
    /// Whether the results hold for all.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut hold = true;
        let chunks = self.slopes.chunks_mut(CHUNK).zip(self.s.chunks(CHUNK));
        for ((slopes, s), (t, y)) in chunks.zip(self.t.chunks(CHUNK).zip(self.y.chunks(CHUNK))) {
            let (mut starts, mut steps, mut means) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
            for (((start, step), (&s, &t)), &y) in
                starts.iter_mut().zip(&mut steps).zip(s.iter().zip(t)).zip(y)
            {
                let (sign, ..) = parts(y);
                (*start, *step) = (sign * s, sign * t);
                hold &= within_reach(s, t);
            }
            mean_sigmoids::<FUSED>(&starts, &steps, &mut means);
            for ((slope, &mean), &y) in slopes.iter_mut().zip(&means).zip(y) {
                let (_, factor, term) = parts(y);
                *slope = fma::<FUSED>(factor, mean, term);
            }
        }
        hold
    }
}

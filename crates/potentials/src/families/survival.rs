//! Survival times with the log link, known exactly or to lie in an interval: accelerated failure
//! time models of known shape.

use super::mean;
use super::poisson::mean_exponential;
use super::{CurvatureBounds, Family, Objection, Observation, interval, scale};
use crate::censored::{self, Known, SurvivalKind};
use crate::error::Error;
use crate::normal::mean_inverse_mills;
use crate::segment::Segment;
use crate::softplus::{mean_sigmoid, mean_tanh_half, sigmoid};
use crate::special::{log_1m_exp, log_1m_exp_of, over_expm1};

/// u = −log f(z) for an event and −log of the probability of the interval otherwise, with
/// z = k (log t − s) and the law of z that [`SurvivalKind`] names. Convex for every kind.
///
/// Observations are intervals of time, see [`Observation::between`]. Mean slopes are in closed form
/// but for log-normal intervals, which take the default of [`Family::mean_slope`].
///
/// [`likelihoods::Survival`](crate::likelihoods::Survival) has the shape k as a parameter, and the
/// constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survival {
    kind: SurvivalKind,
    shape: f64,
}

impl Survival {
    /// Times of shape k = `shape`. Weibull times of shape 1 are exponential.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(kind: SurvivalKind, shape: f64) -> Result<Self, Error> {
        Ok(Self { kind, shape: scale("shape", shape)? })
    }

    /// The law of z.
    #[must_use]
    pub fn kind(&self) -> SurvivalKind {
        self.kind
    }

    fn known(&self, s: f64, y: Observation) -> Known {
        Known::of(y, s, self.shape)
    }

    /// The mean of ∂u/∂z while s moves by t; `None` if there is no formula.
    fn mean_by_z(&self, known: Known, t: f64) -> Option<f64> {
        use SurvivalKind::{LogLogistic, LogNormal, Weibull};
        let segment = |z: f64| Segment::new(z, -self.shape * t);
        let mean = match (known, self.kind) {
            (Known::Nothing, _) => 0.0,
            (Known::Exactly(z), Weibull) => mean_exponential(&segment(z)) - 1.0,
            (Known::Above(z), Weibull) => mean_exponential(&segment(z)),
            (Known::Below(z), Weibull) => -mean_share(&segment(z)),
            (Known::Between { low, high, gap }, Weibull) => {
                // u = e^low − log(1 − e^-D), D = e^high (1 − e^-gap).
                let rise = high + log_1m_exp(gap);
                mean_exponential(&segment(low)) - mean_share(&segment(rise))
            }
            (Known::Exactly(z), LogLogistic) => mean_tanh_half(&segment(z)),
            (Known::Above(z), LogLogistic) => mean_sigmoid(&segment(z)),
            (Known::Below(z), LogLogistic) => -mean_sigmoid(&segment(z).mirrored()),
            (Known::Between { low, high, .. }, LogLogistic) => {
                mean_sigmoid(&segment(low)) - mean_sigmoid(&segment(high).mirrored())
            }
            (Known::Exactly(z), LogNormal) => z - 0.5 * (self.shape * t),
            (Known::Above(z), LogNormal) => mean_inverse_mills(&segment(z).mirrored()),
            (Known::Below(z), LogNormal) => -mean_inverse_mills(&segment(z)),
            (Known::Between { .. }, LogNormal) => return None,
        };
        Some(mean)
    }
}

/// The mean of x/(e^x − 1), x = e^z, over a segment of z: that of minus the derivative of u = −log(1
/// − e^-x).
///
/// Over a length h from x on, u falls by log(1 + X), X = (1 − e^-D)/(e^x − 1) with D = x (e^h − 1):
/// a sum of positive terms, none of which cancels however short the segment.
fn mean_share(segment: &Segment) -> f64 {
    /// e^h would overflow.
    const LONG: f64 = 700.0;
    /// Up to here u is −z.
    const STRAIGHT: f64 = -40.0;
    let Segment { low, high, length } = *segment;
    let x = low.value.exp() * (1.0 + low.rest);
    if length == 0.0 {
        return over_expm1(x);
    }
    if length > LONG {
        let u = |z: f64| -log_1m_exp_of(z.exp(), z);
        let fall = if high.value < STRAIGHT { length } else { u(low.value) - u(high.value) };
        return fall / length;
    }
    let growth = length.exp_m1();
    let rise = x * growth;
    let rate = if rise > 1.0 {
        -(-rise).exp_m1() / x.exp_m1()
    } else {
        // (1 − e^-D)/D, 1 at 0.
        let shrink = if rise == 0.0 { 1.0 } else { -(-rise).exp_m1() / rise };
        growth * shrink * over_expm1(x)
    };
    rate.ln_1p() / length
}

impl Family for Survival {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        interval(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        censored::terms(self.kind, self.known(s, y)).value
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        -self.shape * censored::terms(self.kind, self.known(s, y)).by_shift
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        self.shape * self.shape * censored::curvature(self.kind, self.known(s, y))
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        // Even of a row that says nothing, NaN is NaN.
        let start = if (s + t).is_nan() { f64::NAN } else { s };
        match self.mean_by_z(self.known(start, y), t) {
            Some(mean) => -self.shape * mean,
            None => mean::mean_slope(self, s, t, y),
        }
    }

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        use SurvivalKind::{LogLogistic, LogNormal, Weibull};
        let known = self.known(0.0, y);
        let (lower, upper) = match (known, self.kind) {
            (Known::Nothing, _) => (0.0, Some(0.0)),
            (Known::Below(_), Weibull) => (0.0, Some(censored::STEEPEST_SHARE)),
            (_, Weibull) => (0.0, None),
            (Known::Exactly(_), LogLogistic) => (0.0, Some(0.5)),
            (Known::Above(_) | Known::Below(_), LogLogistic) => (0.0, Some(0.25)),
            (Known::Between { gap, .. }, LogLogistic) => (0.0, Some(two_bells(gap))),
            (Known::Exactly(_), LogNormal) => (1.0, Some(1.0)),
            (_, LogNormal) => (0.0, Some(1.0)),
        };
        // In this order, so that a curvature of k k times the bound is not above it.
        let square = self.shape * self.shape;
        CurvatureBounds { lower: square * lower, upper: upper.map(|upper| square * upper) }
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        use SurvivalKind::{LogLogistic, LogNormal, Weibull};
        // Of ∂u/∂s as z goes to infinity and to minus infinity.
        let [above, below] = match self.kind {
            Weibull => [f64::NEG_INFINITY, self.shape],
            LogLogistic => [-self.shape, self.shape],
            LogNormal => [f64::NEG_INFINITY, f64::INFINITY],
        };
        match self.known(0.0, y) {
            Known::Exactly(_) | Known::Between { .. } => [above, below],
            Known::Above(_) => [above, 0.0],
            Known::Below(_) => [0.0, below],
            Known::Nothing => [0.0, 0.0],
        }
    }
}

/// A bound of the sum of two sigmoid′ at this distance.
fn two_bells(gap: f64) -> f64 {
    /// The inflection of sigmoid′: log(2 + √3).
    const INFLECTION: f64 = 1.316_957_896_924_816_7;
    let half = sigmoid(0.5 * gap) * sigmoid(-0.5 * gap);
    // Within the concave part the sum is largest in the middle. In any case one of the two is at
    // least half the gap away from 0.
    if 0.5 * gap < INFLECTION { 2.0 * half } else { 0.25 + half }
}

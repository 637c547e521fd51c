//! Robust regression with Huber's loss: quadratic near 0, straight beyond δ.

use super::chunks;
use super::{CurvatureBounds, Family, Objection, Observation, real, scale, with_digits};
use crate::error::Error;
use crate::segment::Segment;

/// u = h(e) with e = (s − y)/σ, h = e²/2 for |e| <= δ and δ|e| − δ²/2 beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    scale: f64,
    delta: f64,
    /// 1/σ and 1/σ²: lists multiply.
    inverse: f64,
    precision: f64,
    /// δ/σ.
    most: f64,
}

impl Huber {
    /// Noise of scale `scale`, straight beyond `delta` scales (1.345 is usual).
    ///
    /// # Errors
    /// Unless both are positive and finite.
    pub fn new(scale: f64, delta: f64) -> Result<Self, Error> {
        let scale = self::scale("noise scale", scale)?;
        let delta = self::scale("huber delta", delta)?;
        Ok(Self {
            scale,
            delta,
            inverse: 1.0 / scale,
            precision: 1.0 / scale / scale,
            most: delta / scale,
        })
    }

    fn residual(&self, s: f64, y: Observation) -> f64 {
        (s - y.response) / self.scale
    }
}

impl Family for Huber {
    fn name(&self) -> &'static str {
        "robust-huber"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        let e = self.residual(s, y).abs();
        if e <= self.delta { 0.5 * e * e } else { self.delta * (e - 0.5 * self.delta) }
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        self.residual(s, y).clamp(-self.delta, self.delta) / self.scale
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        if self.residual(s, y).abs() <= self.delta { 1.0 / self.scale / self.scale } else { 0.0 }
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        let Segment { low, high, .. } = Segment::new(self.residual(s, y), t / self.scale);
        let delta = self.delta;
        // Wholly inside, or wholly in one of the straight parts: no division by the length.
        let mean = if low.value.is_nan() || high.value.is_nan() {
            // Comparisons, minima and maxima below would pass over it.
            f64::NAN
        } else if low.value >= delta {
            delta
        } else if high.value <= -delta {
            -delta
        } else if low.value >= -delta && high.value <= delta {
            0.5 * (low.value + (high.value + (low.rest + high.rest)))
        } else {
            // Not the parts below, within and above, each by its share of the length: around an end
            // of the quadratic part, the share within is the difference of two numbers that short
            // segments leave without digits.
            mean_clamped(self.residual(s, y), t / self.scale, delta)
        };
        mean / self.scale
    }

    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        let (inverse, delta) = (with_digits(self.inverse), self.delta);
        let row = |s: f64, y: Observation| {
            let e = ((s - y.response) * inverse).abs();
            let inside = e.min(delta);
            inside * (e - 0.5 * inside)
        };
        chunks::rows(s, y, values, row, |s, y| self.value(s, y));
    }

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        let (precision, most) = (with_digits(self.precision), self.most);
        let row = |s: f64, y: Observation| clamped((s - y.response) * precision, most);
        chunks::rows(s, y, slopes, row, |s, y| self.slope(s, y));
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        let (precision, most) = (with_digits(self.precision), self.most);
        let segment = |s: f64, t: f64, y: Observation| {
            mean_clamped((s - y.response) * precision, t * precision, most)
        };
        chunks::segments(s, t, y, slopes, segment, |s, t, y| self.mean_slope(s, t, y));
    }

    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(1.0 / self.scale / self.scale) }
    }

    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [-self.delta / self.scale, self.delta / self.scale]
    }
}

/// x between −most and most, NaN if it is; `f64::clamp` may panic, and loops that may do not become
/// vector instructions.
#[inline(always)]
fn clamped(x: f64, most: f64) -> f64 {
    let x = if x > most { most } else { x };
    if x < -most { -most } else { x }
}

/// The mean of clamp(x, −most, most) over the segment from x to x + t, without branches.
///
/// With a and b the ends clamped and m, h half of their sum and of their difference, x − a and x +
/// t − b what is beyond, it is m + h (what is beyond, of both)/t: m where the segment is straight
/// as a whole, for then h is 0. Where nothing is beyond it is x + t/2, which rounds once.
#[inline(always)]
fn mean_clamped(x: f64, t: f64, most: f64) -> f64 {
    let end = x + t;
    let (a, b) = (clamped(x, most), clamped(end, most));
    let (beyond, beyond_end) = (x - a, end - b);
    let half = 0.5 * (b - a);
    let middle = if (beyond == 0.0) & (beyond_end == 0.0) { x + 0.5 * t } else { 0.5 * (a + b) };
    // A share of the length: at most 1 where half is not 0, and anything where it is.
    let share = (beyond + beyond_end) / t;
    middle + if half == 0.0 { 0.0 } else { half * share }
}

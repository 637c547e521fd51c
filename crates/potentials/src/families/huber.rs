//! Robust regression with Huber's loss: quadratic near 0, straight beyond δ.

use super::{CurvatureBounds, Family, Observation, real, scale};
use crate::error::Error;
use crate::segment::Segment;

/// u = h(e) with e = (s − y)/σ, h = e²/2 for |e| <= δ and δ|e| − δ²/2 beyond.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Huber {
    scale: f64,
    delta: f64,
}

impl Huber {
    /// Noise of scale `scale`, straight beyond `delta` scales (1.345 is usual).
    ///
    /// # Errors
    /// Unless both are positive and finite.
    pub fn new(scale: f64, delta: f64) -> Result<Self, Error> {
        Ok(Self { scale: self::scale("noise scale", scale)?, delta: self::scale("huber delta", delta)? })
    }

    fn residual(&self, s: f64, y: Observation) -> f64 {
        (s - y.response) / self.scale
    }
}

impl Family for Huber {
    fn name(&self) -> &'static str {
        "robust-huber"
    }

    fn objection(&self, y: Observation) -> Option<&'static str> {
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
        let Segment { low, high, length } = Segment::new(self.residual(s, y), t / self.scale);
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
            // The parts below, within and above, each by its share of the length.
            let below = (-delta - low.value - low.rest).max(0.0);
            let above = (high.value - delta + high.rest).max(0.0);
            let (from, to) = (low.value.max(-delta), high.value.min(delta));
            (delta * (above - below) + 0.5 * (to - from) * (to + from)) / length
        };
        mean / self.scale
    }

    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(1.0 / self.scale / self.scale) }
    }

    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [-self.delta / self.scale, self.delta / self.scale]
    }
}

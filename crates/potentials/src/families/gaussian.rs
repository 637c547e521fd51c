//! Linear regression with Gaussian noise of known scale.

use super::chunks;
use super::{CurvatureBounds, Family, Observation, scale, with_digits};
use crate::error::Error;

/// u = (s − y)²/(2σ²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    scale: f64,
    /// 1/σ and 1/σ²: lists multiply.
    inverse: f64,
    precision: f64,
}

impl Gaussian {
    /// Noise of standard deviation `scale`.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(scale: f64) -> Result<Self, Error> {
        let scale = self::scale("noise scale", scale)?;
        Ok(Self { scale, inverse: 1.0 / scale, precision: 1.0 / scale / scale })
    }
}

impl Family for Gaussian {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        0.5 * ((s - y.response) / self.scale).powi(2)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        (s - y.response) / self.scale / self.scale
    }

    fn curvature(&self, _: f64, _: Observation) -> f64 {
        1.0 / self.scale / self.scale
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        ((s - y.response) + 0.5 * t) / self.scale / self.scale
    }

    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        let inverse = with_digits(self.inverse);
        let row = |s: f64, y: Observation| {
            let e = (s - y.response) * inverse;
            0.5 * (e * e)
        };
        chunks::rows(s, y, values, row, |s, y| self.value(s, y));
    }

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        let precision = with_digits(self.precision);
        let row = |s: f64, y: Observation| (s - y.response) * precision;
        chunks::rows(s, y, slopes, row, |s, y| self.slope(s, y));
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        let precision = with_digits(self.precision);
        let segment = |s: f64, t: f64, y: Observation| ((s - y.response) + 0.5 * t) * precision;
        chunks::segments(s, t, y, slopes, segment, |s, t, y| self.mean_slope(s, t, y));
    }

    fn third_bound(&self, _: f64, _: f64, _: Observation) -> Option<f64> {
        Some(0.0)
    }

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        let curvature = self.curvature(0.0, y);
        CurvatureBounds { lower: curvature, upper: Some(curvature) }
    }

    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }
}

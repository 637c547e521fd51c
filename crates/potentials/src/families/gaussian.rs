//! Linear regression with Gaussian noise of known scale.

use super::{CurvatureBounds, Family, Observation, real, scale};
use crate::error::Error;

/// u = (s − y)²/(2σ²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gaussian {
    scale: f64,
}

impl Gaussian {
    /// Noise of standard deviation `scale`.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(scale: f64) -> Result<Self, Error> {
        Ok(Self { scale: self::scale("noise scale", scale)? })
    }
}

impl Family for Gaussian {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn objection(&self, y: Observation) -> Option<&'static str> {
        real(y)
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

    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        let curvature = self.curvature(0.0, y);
        CurvatureBounds { lower: curvature, upper: Some(curvature) }
    }

    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [f64::NEG_INFINITY, f64::INFINITY]
    }
}

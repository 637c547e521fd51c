//! Robust regression with logistic noise: tails that fall like e^-|e| instead of e^(-e²/2).

use super::chunks::{self, Chunked};
use super::{CurvatureBounds, Family, Objection, Observation, real, scale, with_digits};
use crate::elementary::{self, CHUNK, fma, within_reach};
use crate::error::Error;
use crate::segment::Segment;
use crate::softplus::{mean_tanh_half, sigmoid, softplus};

/// u = 2 softplus(e) − e with e = (s − y)/σ, so that u′ = tanh(e/2)/σ and u″ <= 1/(2σ²).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LogisticNoise {
    scale: f64,
    /// 1/σ: lists multiply.
    inverse: f64,
}

impl LogisticNoise {
    /// Noise of scale `scale` (standard deviation π/√3 times that).
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(scale: f64) -> Result<Self, Error> {
        let scale = self::scale("noise scale", scale)?;
        Ok(Self { scale, inverse: 1.0 / scale })
    }
}

impl Family for LogisticNoise {
    fn name(&self) -> &'static str {
        "robust-logistic"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        // Even in e; written so that both terms are positive.
        let e = ((s - y.response) / self.scale).abs();
        e + 2.0 * softplus(-e)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        (0.5 * (s - y.response) / self.scale).tanh() / self.scale
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        let e = (s - y.response) / self.scale;
        2.0 * sigmoid(e) * sigmoid(-e) / self.scale / self.scale
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        mean_tanh_half(&Segment::new((s - y.response) / self.scale, t / self.scale)) / self.scale
    }

    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        chunks::values(self, s, y, values, Self::value);
    }

    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::slopes(self, s, y, slopes);
    }

    fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
        chunks::mean_slopes(self, s, t, y, slopes);
    }

    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.5 / self.scale / self.scale) }
    }

    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [-1.0 / self.scale, 1.0 / self.scale]
    }
}

impl Chunked for LogisticNoise {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        let inverse = with_digits(self.inverse);
        ((s - y.response) * inverse, t * inverse)
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        // Around 0 nearer than this, products of two small numbers would underflow.
        const NEAREST: f64 = 1e-250;
        within_reach(s, t) & ((s + (s + t)).abs() >= NEAREST)
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        elementary::mean_tanh_halves::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, mean: f64, _: f64, _: Observation) -> f64 {
        mean * self.inverse
    }

    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        elementary::tanh_half::<FUSED>((s - y.response) * self.inverse) * self.inverse
    }

    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        let e = (s - y.response) * self.inverse;
        fma::<FUSED>(2.0, elementary::softplus_below::<FUSED>(e), e.abs())
    }
}

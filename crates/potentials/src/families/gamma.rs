//! Gamma regression with the log link: positive responses of mean e^s whose standard deviation is
//! proportional to their mean.

use super::chunks::{self, Chunked};
use super::poisson::mean_exponential;
use super::{CurvatureBounds, Family, Objection, Observation, positive, scale};
use crate::elementary::{self, CHUNK, within_reach};
use crate::error::Error;
use crate::likelihoods::positive::{FAR, excess, misfit};
use crate::segment::Segment;

/// u = a (q − 1 − log q) with q = y e^-s, for responses of mean e^s and shape a. Its curvature a q
/// has no bound: no smoothness, and so no certificate, but sampling works.
///
/// [`likelihoods::Gamma`](crate::likelihoods::Gamma) has the shape as a parameter, and the constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gamma {
    shape: f64,
}

impl Gamma {
    /// Responses of shape a = `shape`; 1 is exponential.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(shape: f64) -> Result<Self, Error> {
        Ok(Self { shape: scale("shape", shape)? })
    }
}

impl Family for Gamma {
    fn name(&self) -> &'static str {
        "gamma"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        positive(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        self.shape * misfit(s, y.response)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        -self.shape * excess(s, y.response)
    }

    fn curvature(&self, s: f64, y: Observation) -> f64 {
        self.shape * mean_ratio(s, 0.0, y.response)
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        self.shape * (1.0 - mean_ratio(s, t, y.response))
    }

    chunks::chunked_lists!(values);

    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: None }
    }

    /// u‴ = −a q, largest at the lower end.
    fn third_bound(&self, low: f64, _: f64, y: Observation) -> Option<f64> {
        Some(self.curvature(low, y))
    }

    fn slope_limits(&self, _: Observation) -> [f64; 2] {
        [f64::NEG_INFINITY, self.shape]
    }
}

/// The mean of y e^-s over a segment.
fn mean_ratio(s: f64, t: f64, y: f64) -> f64 {
    let mut segment = Segment::new(-s, -t);
    if segment.high.value > FAR {
        // Of the ends it is this one that the mean is taken from.
        segment.high.value -= FAR;
        y * mean_exponential(&segment) * FAR.exp()
    } else {
        y * mean_exponential(&segment)
    }
}

impl Chunked for Gamma {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64) {
        // With others, y e^-s may leave the range of doubles: such rows are computed alone.
        const USUAL: std::ops::Range<f64> = 1e-150..1e150;
        let s = if (y.response >= USUAL.start) & (y.response < USUAL.end) { s } else { f64::NAN };
        (-s, -t)
    }

    #[inline(always)]
    fn holds(s: f64, t: f64) -> bool {
        within_reach(s, t)
    }

    #[inline(always)]
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]) {
        elementary::mean_exponentials::<FUSED>(s, t, means);
    }

    #[inline(always)]
    fn slope_from<const FUSED: bool>(&self, mean: f64, _: f64, y: Observation) -> f64 {
        self.shape * (1.0 - y.response * mean)
    }

    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        self.shape * (1.0 - y.response * elementary::exp::<FUSED>(-s, 0.0))
    }

    /// log q as the logarithm of a ratio above 1, whose digits a q near 1 leaves.
    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        let q = y.response * elementary::exp::<FUSED>(-s, 0.0);
        let above = q > 1.0;
        let (gain, base) = if above { (q - 1.0, 1.0) } else { (1.0 - q, q) };
        let log = elementary::log_ratio::<FUSED>(gain, base);
        self.shape * if above { gain - log } else { log - gain }
    }
}

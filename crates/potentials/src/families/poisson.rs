//! Poisson regression with the log link: counts of mean e^s.

use std::sync::LazyLock;

use super::chunks::{self, Chunked};
use super::{CurvatureBounds, Family, Objection, Observation, count};
use crate::elementary::{self, CHUNK, fma, within_reach};
use crate::segment::Segment;

/// u = e^s − y s + log y!. Its curvature e^s has no bound: no smoothness, and so no certificate,
/// but sampling works.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Poisson;

/// The mean of e^x over a segment: e^high (1 − e^-length)/length, in which nothing cancels and,
/// where e^high is not, nothing is infinite.
pub(super) fn mean_exponential(segment: &Segment) -> f64 {
    let Segment { high, length, .. } = *segment;
    let shrink = if length == 0.0 { 1.0 } else { -(-length).exp_m1() / length };
    high.value.exp() * (1.0 + high.rest) * shrink
}

/// log y! for small counts, which most data have.
const KNOWN: usize = 256;
static LOG_FACTORIALS: LazyLock<[f64; KNOWN]> =
    LazyLock::new(|| std::array::from_fn(|y| libm::lgamma(y as f64 + 1.0)));

/// log y!, from the list where it is there: the last bits of 2^52 + y are y, if that is a whole
/// number.
fn log_factorial(y: f64, known: &[f64; KNOWN]) -> f64 {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    let sum = y + TWO_52;
    let index = sum.to_bits().wrapping_sub(TWO_52.to_bits());
    match usize::try_from(index).ok().and_then(|index| known.get(index)) {
        Some(known) if sum - TWO_52 == y => *known,
        _ => log_gamma(y + 1.0),
    }
}

/// Kept out of the loop, which rarely needs it.
#[cold]
#[inline(never)]
fn log_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

impl Family for Poisson {
    fn name(&self) -> &'static str {
        "poisson"
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        count(y)
    }

    fn value(&self, s: f64, y: Observation) -> f64 {
        s.exp() - y.response * s + libm::lgamma(y.response + 1.0)
    }

    fn slope(&self, s: f64, y: Observation) -> f64 {
        s.exp() - y.response
    }

    fn curvature(&self, s: f64, _: Observation) -> f64 {
        s.exp()
    }

    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        mean_exponential(&Segment::new(s, t)) - y.response
    }

    fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
        chunks::values(self, s, y, values, |_, s, y| s.exp() - y.response * s);
        let known: &[f64; KNOWN] = &LOG_FACTORIALS;
        for (value, y) in values.iter_mut().zip(y) {
            *value += log_factorial(y.response, known);
        }
    }

    chunks::chunked_lists!();

    fn curvature_bounds(&self, _: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: None }
    }

    fn third_bound(&self, _: f64, high: f64, _: Observation) -> Option<f64> {
        Some(high.exp())
    }

    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        [-y.response, f64::INFINITY]
    }
}

impl Chunked for Poisson {
    #[inline(always)]
    fn segment(&self, s: f64, t: f64, _: Observation) -> (f64, f64) {
        (s, t)
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
        mean - y.response
    }

    #[inline(always)]
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        elementary::exp::<FUSED>(s, 0.0) - y.response
    }

    /// Without log y!.
    #[inline(always)]
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64 {
        fma::<FUSED>(-y.response, s, elementary::exp::<FUSED>(s, 0.0))
    }
}

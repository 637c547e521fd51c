//! Slopes of many rows at once, in vector instructions, for families that are made of exponentials.
//!
//! A family says what its slope is of (a scaled, shifted or mirrored segment, a function, and what becomes of the function's mean) and
//! the loops here do it chunk by chunk. Rows for which the vector forms do not hold, far out or not finite, take the family's own
//! scalar functions instead. Nothing of this depends on which rows stand beside one another.

use super::{Family, Observation};
use crate::elementary::{CHUNK, Kernel, vectorised};

/// A family whose slope is a function f of a transformed predictor.
pub(super) trait Chunked: Family {
    /// The segment over which f is averaged.
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64);

    /// Whether the functions below hold for a segment.
    fn holds(s: f64, t: f64) -> bool;

    /// Means of f over segments.
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]);

    /// f.
    fn at<const FUSED: bool>(s: f64) -> f64;

    /// The slope from f or its mean.
    fn slope_from<const FUSED: bool>(&self, f: f64, y: Observation) -> f64;
}

/// [`Family::slopes`].
pub(super) fn slopes<F: Chunked>(family: &F, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
    if !vectorised(Slopes { family, s, y, slopes }) {
        for ((slope, &s), &y) in slopes.iter_mut().zip(s).zip(y) {
            let (e, _) = family.segment(s, 0.0, y);
            if !F::holds(e, 0.0) {
                *slope = family.slope(s, y);
            }
        }
    }
}

/// [`Family::mean_slopes`].
pub(super) fn mean_slopes<F: Chunked>(
    family: &F,
    s: &[f64],
    t: &[f64],
    y: &[Observation],
    slopes: &mut [f64],
) {
    if !vectorised(MeanSlopes { family, s, t, y, slopes }) {
        for (((slope, &s), &t), &y) in slopes.iter_mut().zip(s).zip(t).zip(y) {
            let (e, step) = family.segment(s, t, y);
            if !F::holds(e, step) {
                *slope = family.mean_slope(s, t, y);
            }
        }
    }
}

struct Slopes<'a, F> {
    family: &'a F,
    s: &'a [f64],
    y: &'a [Observation],
    slopes: &'a mut [f64],
}

impl<F: Chunked> Kernel for Slopes<'_, F> {
    /// Whether the results hold for all.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut hold = true;
        for ((slope, &s), &y) in self.slopes.iter_mut().zip(self.s).zip(self.y) {
            let (e, _) = self.family.segment(s, 0.0, y);
            hold &= F::holds(e, 0.0);
            *slope = self.family.slope_from::<FUSED>(F::at::<FUSED>(e), y);
        }
        hold
    }
}

struct MeanSlopes<'a, F> {
    family: &'a F,
    s: &'a [f64],
    t: &'a [f64],
    y: &'a [Observation],
    slopes: &'a mut [f64],
}

impl<F: Chunked> Kernel for MeanSlopes<'_, F> {
    /// Whether the results hold for all.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut hold = true;
        let chunks = self.slopes.chunks_mut(CHUNK).zip(self.s.chunks(CHUNK));
        for ((slopes, s), (t, y)) in chunks.zip(self.t.chunks(CHUNK).zip(self.y.chunks(CHUNK))) {
            let (mut starts, mut steps, mut means) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
            let segments = starts.iter_mut().zip(&mut steps);
            for (((start, step), (&s, &t)), &y) in segments.zip(s.iter().zip(t)).zip(y) {
                (*start, *step) = self.family.segment(s, t, y);
                hold &= F::holds(*start, *step);
            }
            F::means::<FUSED>(&starts, &steps, &mut means);
            for ((slope, &mean), &y) in slopes.iter_mut().zip(&means).zip(y) {
                *slope = self.family.slope_from::<FUSED>(mean, y);
            }
        }
        hold
    }
}

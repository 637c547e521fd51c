//! Values, slopes and means of many rows at once, in vector instructions.
//!
//! A family made of exponentials implements [`Chunked`] (a scaled, shifted or mirrored segment,
//! functions of it, and the slope from them), and the loops here run it chunk by chunk. Rows
//! for which the vector forms do not hold, far out or not finite, take the family's own scalar
//! functions instead. A family of plain arithmetic uses the loops of [`rows`] and [`segments`].
//! No result depends on the neighbouring rows.

use super::{Family, Observation};
use crate::elementary::{CHUNK, Kernel, vectorised};

/// The list methods of a [`Family`] that is [`Chunked`]; with `values`, that of values too.
macro_rules! chunked_lists {
    () => {
        fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
            chunks::slopes(self, s, y, slopes);
        }

        fn mean_slopes(&self, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64]) {
            chunks::mean_slopes(self, s, t, y, slopes);
        }
    };
    (values) => {
        fn values(&self, s: &[f64], y: &[Observation], values: &mut [f64]) {
            chunks::values(self, s, y, values, Self::value);
        }

        chunks::chunked_lists!();
    };
}
pub(super) use chunked_lists;

/// A family whose slope is a function f of a transformed predictor.
pub(super) trait Chunked: Family {
    /// The segment over which f is averaged.
    fn segment(&self, s: f64, t: f64, y: Observation) -> (f64, f64);

    /// Whether the functions below hold for a segment.
    fn holds(s: f64, t: f64) -> bool;

    /// Whether a row needs the functions of the mirrored predictor, too.
    #[inline(always)]
    fn both_sides(_: Observation) -> bool {
        false
    }

    /// Means of f over segments.
    fn means<const FUSED: bool>(s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK]);

    /// The slope from the mean of f, and from that over the mirrored segment if the row needs it.
    fn slope_from<const FUSED: bool>(&self, mean: f64, mirrored: f64, y: Observation) -> f64;

    /// [`Family::slope`]; both sides are taken if some row of the list needs them.
    fn slope_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64;

    /// [`Family::value`], likewise.
    fn value_at<const FUSED: bool, const BOTH: bool>(&self, s: f64, y: Observation) -> f64;
}

/// [`Family::values`], with `alone` for rows for which the family's functions do not hold.
pub(super) fn values<F: Chunked>(
    family: &F, s: &[f64], y: &[Observation], values: &mut [f64],
    alone: impl Fn(&F, f64, Observation) -> f64,
) {
    if !vectorised(AtPoints::<F, true> { family, s, y, out: values }) {
        again(family, s, y, values, alone);
    }
}

/// [`Family::slopes`].
pub(super) fn slopes<F: Chunked>(family: &F, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
    if !vectorised(AtPoints::<F, false> { family, s, y, out: slopes }) {
        again(family, s, y, slopes, F::slope);
    }
}

/// One by one, the rows for which the family's functions do not hold.
fn again<F: Chunked>(
    family: &F, s: &[f64], y: &[Observation], out: &mut [f64],
    alone: impl Fn(&F, f64, Observation) -> f64,
) {
    for ((out, &s), &y) in out.iter_mut().zip(s).zip(y) {
        let (e, _) = family.segment(s, 0.0, y);
        if !F::holds(e, 0.0) {
            *out = alone(family, s, y);
        }
    }
}

/// [`Family::mean_slopes`].
pub(super) fn mean_slopes<F: Chunked>(
    family: &F, s: &[f64], t: &[f64], y: &[Observation], slopes: &mut [f64],
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

/// Values or slopes.
struct AtPoints<'a, F, const VALUES: bool> {
    family: &'a F,
    s: &'a [f64],
    y: &'a [Observation],
    out: &'a mut [f64],
}

impl<F: Chunked, const VALUES: bool> Kernel for AtPoints<'_, F, VALUES> {
    /// Whether the results hold for all.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let Self { family, s, y, out } = self;
        // Where no row needs both sides, none is computed; a row gets the same bits either way.
        if y.iter().fold(false, |any, &y| any | F::both_sides(y)) {
            at_points::<F, VALUES, true, FUSED>(family, s, y, out)
        } else {
            at_points::<F, VALUES, false, FUSED>(family, s, y, out)
        }
    }
}

#[inline(always)]
fn at_points<F: Chunked, const VALUES: bool, const BOTH: bool, const FUSED: bool>(
    family: &F, s: &[f64], y: &[Observation], out: &mut [f64],
) -> bool {
    let mut hold = true;
    for ((out, &s), &y) in out.iter_mut().zip(s).zip(y) {
        let (e, _) = family.segment(s, 0.0, y);
        hold &= F::holds(e, 0.0);
        *out = if VALUES {
            family.value_at::<FUSED, BOTH>(s, y)
        } else {
            family.slope_at::<FUSED, BOTH>(s, y)
        };
    }
    hold
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
            let (mut starts, mut steps) = ([0.0; CHUNK], [0.0; CHUNK]);
            let mut means = [0.0; CHUNK];
            let segments = starts.iter_mut().zip(&mut steps);
            let mut both_sides = false;
            for (((start, step), (&s, &t)), &y) in segments.zip(s.iter().zip(t)).zip(y) {
                (*start, *step) = self.family.segment(s, t, y);
                hold &= F::holds(*start, *step);
                both_sides |= F::both_sides(y);
            }
            F::means::<FUSED>(&starts, &steps, &mut means);
            if both_sides {
                let mut mirrored = [0.0; CHUNK];
                F::means::<FUSED>(&starts.map(|s| -s), &steps.map(|t| -t), &mut mirrored);
                let means = means.iter().zip(&mirrored);
                for ((slope, (&mean, &mirrored)), &y) in slopes.iter_mut().zip(means).zip(y) {
                    *slope = self.family.slope_from::<FUSED>(mean, mirrored, y);
                }
            } else {
                for ((slope, &mean), &y) in slopes.iter_mut().zip(&means).zip(y) {
                    *slope = self.family.slope_from::<FUSED>(mean, 0.0, y);
                }
            }
        }
        hold
    }
}

/// `row` for each s and y. A result that is NaN is computed again by `alone`, which need not be
/// fast.
pub(super) fn rows(
    s: &[f64], y: &[Observation], out: &mut [f64], row: impl Fn(f64, Observation) -> f64,
    alone: impl Fn(f64, Observation) -> f64,
) {
    if !vectorised(Rows { s, y, out, row }) {
        for ((out, &s), &y) in out.iter_mut().zip(s).zip(y) {
            if out.is_nan() {
                *out = alone(s, y);
            }
        }
    }
}

/// The same for each s, t and y.
pub(super) fn segments(
    s: &[f64], t: &[f64], y: &[Observation], out: &mut [f64],
    segment: impl Fn(f64, f64, Observation) -> f64, alone: impl Fn(f64, f64, Observation) -> f64,
) {
    if !vectorised(Segments { s, t, y, out, segment }) {
        for (((out, &s), &t), &y) in out.iter_mut().zip(s).zip(t).zip(y) {
            if out.is_nan() {
                *out = alone(s, t, y);
            }
        }
    }
}

struct Rows<'a, R> {
    s: &'a [f64],
    y: &'a [Observation],
    out: &'a mut [f64],
    row: R,
}

impl<R: Fn(f64, Observation) -> f64> Kernel for Rows<'_, R> {
    /// Whether all are numbers.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut numbers = true;
        for ((out, &s), &y) in self.out.iter_mut().zip(self.s).zip(self.y) {
            *out = (self.row)(s, y);
            numbers &= !out.is_nan();
        }
        numbers
    }
}

struct Segments<'a, R> {
    s: &'a [f64],
    t: &'a [f64],
    y: &'a [Observation],
    out: &'a mut [f64],
    segment: R,
}

impl<R: Fn(f64, f64, Observation) -> f64> Kernel for Segments<'_, R> {
    /// Whether all are numbers.
    type Output = bool;

    #[inline(always)]
    fn run<const FUSED: bool>(self) -> bool {
        let mut numbers = true;
        for (((out, &s), &t), &y) in self.out.iter_mut().zip(self.s).zip(self.t).zip(self.y) {
            *out = (self.segment)(s, t, y);
            numbers &= !out.is_nan();
        }
        numbers
    }
}

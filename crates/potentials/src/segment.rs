//! A segment of the real line, [s, s + t], with an end that is known to twice the precision.
//!
//! s + t rounds. Where a function changes fast, or where the end is much smaller than the start,
//! that rounding would be the largest error of all, so it is kept and corrected for to first order.

/// The segment from s to s + t, as its lower and its upper end.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment {
    pub(crate) low: End,
    pub(crate) high: End,
    /// |t|.
    pub(crate) length: f64,
}

/// A real number as the sum of a double and its rounding error.
#[derive(Debug, Clone, Copy)]
pub(crate) struct End {
    pub(crate) value: f64,
    pub(crate) rest: f64,
}

impl Segment {
    #[inline(always)]
    pub(crate) fn new(s: f64, t: f64) -> Self {
        let start = End { value: s, rest: 0.0 };
        let end = End::sum(s, t);
        if t < 0.0 {
            Self { low: end, high: start, length: -t }
        } else {
            Self { low: start, high: end, length: t }
        }
    }

    /// The same segment mirrored at 0.
    #[inline(always)]
    pub(crate) fn mirrored(&self) -> Self {
        Self { low: self.high.negated(), high: self.low.negated(), length: self.length }
    }

    /// low + high.
    #[inline(always)]
    pub(crate) fn sum_of_ends(&self) -> f64 {
        let sum = End::sum(self.low.value, self.high.value);
        sum.value + (sum.rest + self.low.rest + self.high.rest)
    }
}

impl End {
    /// a + b exactly (Knuth's two-sum; valid for every pair of finite doubles that does not
    /// overflow).
    #[inline(always)]
    pub(crate) fn sum(a: f64, b: f64) -> Self {
        let value = a + b;
        let from_b = value - a;
        let from_a = value - from_b;
        Self { value, rest: (a - from_a) + (b - from_b) }
    }

    #[inline(always)]
    pub(crate) fn negated(self) -> Self {
        Self { value: -self.value, rest: -self.rest }
    }
}

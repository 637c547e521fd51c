//! Exponentials and logarithms without branches, so that loops over them become vector
//! instructions, and the means made of them.
//!
//! The library's own functions are called one number at a time. These are plain arithmetic, inlined
//! into loops that [`vectorised`] compiles for the machine at hand. They are good to about one unit
//! in the last place on the range that their doc gives, which is never all doubles. The result for
//! a number does not depend on the loop around it.

use pulp::{Arch, Simd, WithSimd};

use crate::segment::Segment;

/// |s| and |t| up to which the means over a segment hold: no exponential leaves the range of doubles.
const REACH: f64 = 300.0;
/// Shorter segments are treated as this long; the mean is the same to rounding.
pub(crate) const SHORTEST: f64 = 1e-20;

/// Added to a small number and taken away again it rounds to whole numbers; in between, the last
/// bits are that whole number.
const ROUNDER: f64 = 6_755_399_441_055_744.0;
/// 2^52, whose last bits are free for a whole number.
const TWO_52: f64 = 4_503_599_627_370_496.0;
/// log 2 in two parts, the first with enough trailing zeros that whole multiples of it are exact.
const LN_2_HIGH: f64 = 6.931_471_803_691_238e-1;
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// (e^r − 1 − r)/r² for |r| <= log(2)/2, and (2 artanh f − 2 f)/f³ in f² up to 0.0445 and up to
/// 1/9, from `scripts/constants/elementary.py`.
const EXPM1: [f64; 10] = [
    0.5000000000000001,
    0.16666666666666669,
    0.04166666666662404,
    0.008333333333330055,
    0.0013888888917258759,
    0.00019841269863088255,
    2.4801521225986432e-05,
    2.7557268406190795e-06,
    2.7620121717381933e-07,
    2.51004110820149e-08,
];
const ARTANH: [f64; 8] = [
    0.6666666666666666,
    0.4000000000001673,
    0.28571428563546,
    0.22222223634897523,
    0.18181694116747557,
    0.15390512029039652,
    0.13179088824783755,
    0.13831887471883703,
];

const ARTANH_TO_THIRD: [f64; 10] = [
    0.6666666666666666,
    0.40000000000014696,
    0.2857142856707911,
    0.2222222272042616,
    0.18181789285384733,
    0.15385574295443374,
    0.13314074851253788,
    0.12001732404458636,
    0.08797369871009904,
    0.16171187676141038,
];

/// A loop that is compiled for the machine it runs on; FUSED is true if that has fused
/// multiply-add.
pub(crate) trait Kernel {
    /// The result.
    type Output;

    /// Runs the loop. Must be inlined, with everything that it calls.
    fn run<const FUSED: bool>(self) -> Self::Output;
}

/// Runs a kernel with the best instructions of the machine.
pub(crate) fn vectorised<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(test)]
    if PLAIN.get() {
        return kernel.run::<false>();
    }
    let arch = Arch::new();
    if matches!(arch, Arch::Scalar) {
        arch.dispatch(Compiled::<K, false>(kernel))
    } else {
        arch.dispatch(Compiled::<K, true>(kernel))
    }
}

#[cfg(test)]
thread_local! {
    static PLAIN: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Runs a function as on a machine without fused multiply-add.
#[cfg(test)]
pub(crate) fn without_fused(does: impl FnOnce()) {
    PLAIN.set(true);
    does();
    PLAIN.set(false);
}

struct Compiled<K, const FUSED: bool>(K);

impl<K: Kernel, const FUSED: bool> WithSimd for Compiled<K, FUSED> {
    type Output = K::Output;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> K::Output {
        self.0.run::<FUSED>()
    }
}

/// a x + y, rounded once where the machine can.
#[inline(always)]
pub(crate) fn fma<const FUSED: bool>(a: f64, x: f64, y: f64) -> f64 {
    if FUSED { a.mul_add(x, y) } else { a * x + y }
}

/// a b − product, where product is a b rounded: by fused multiply-add, or from the halves of both
/// (Dekker), which holds while nothing of it leaves the range of doubles.
#[inline(always)]
pub(crate) fn product_rest<const FUSED: bool>(a: f64, b: f64, product: f64) -> f64 {
    if FUSED {
        return a.mul_add(b, -product);
    }
    const SPLITTER: f64 = 134_217_729.0;
    let halves = |x: f64| {
        let shifted = SPLITTER * x;
        let high = shifted - (shifted - x);
        (high, x - high)
    };
    let ((a_high, a_low), (b_high, b_low)) = (halves(a), halves(b));
    ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
}

/// Even and odd powers apart: half the latency of Horner's rule.
#[inline(always)]
fn polynomial<const FUSED: bool, const N: usize>(coefficients: &[f64; N], x: f64) -> f64 {
    let square = x * x;
    let (mut even, mut odd) = (coefficients[N - 2], coefficients[N - 1]);
    let mut k = N - 2;
    while k > 1 {
        k -= 2;
        even = fma::<FUSED>(even, square, coefficients[k]);
        odd = fma::<FUSED>(odd, square, coefficients[k + 1]);
    }
    fma::<FUSED>(odd, x, even)
}

/// 2^n and e^r − 1 with e^(x + rest) = 2^n e^r, |r| at most log(2)/2, and n = 0 for small x; |x| at
/// most 700.
#[inline(always)]
fn reduced<const FUSED: bool>(x: f64, rest: f64) -> (f64, f64) {
    let rounded = fma::<FUSED>(x, std::f64::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let r = fma::<FUSED>(-n, LN_2_HIGH, x) + fma::<FUSED>(-n, LN_2_LOW, rest);
    (power, fma::<FUSED>(r * r, polynomial::<FUSED, _>(&EXPM1, r), r))
}

/// e^(x + rest) for |x| <= 700 and a rest that is small beside it.
#[inline(always)]
pub(crate) fn exp<const FUSED: bool>(x: f64, rest: f64) -> f64 {
    let (power, growth) = reduced::<FUSED>(x, rest);
    fma::<FUSED>(power, growth, power)
}

/// e^(x + constant + rest) for |x + constant| <= 700: as if the constant were added to x without
/// rounding.
#[inline(always)]
pub(crate) fn exp_of_sum<const FUSED: bool>(x: f64, constant: f64, rest: f64) -> f64 {
    let rounded = fma::<FUSED>(x + constant, std::f64::consts::LOG2_E, ROUNDER);
    let n = rounded - ROUNDER;
    let power = f64::from_bits(rounded.to_bits().wrapping_add(1023) << 52);
    let r = (fma::<FUSED>(-n, LN_2_HIGH, x) + constant) + fma::<FUSED>(-n, LN_2_LOW, rest);
    let growth = fma::<FUSED>(r * r, polynomial::<FUSED, _>(&EXPM1, r), r);
    fma::<FUSED>(power, growth, power)
}

/// e^x − 1 for |x| <= 700.
#[inline(always)]
fn expm1<const FUSED: bool>(x: f64) -> f64 {
    let (power, growth) = reduced::<FUSED>(x, 0.0);
    fma::<FUSED>(power, growth, power - 1.0)
}

/// e^x and e^x − 1 for |x| <= 700.
#[inline(always)]
pub(crate) fn exp_and_expm1<const FUSED: bool>(x: f64) -> (f64, f64) {
    let (power, growth) = reduced::<FUSED>(x, 0.0);
    (fma::<FUSED>(power, growth, power), fma::<FUSED>(power, growth, power - 1.0))
}

/// log((base + gain)/base) for a positive base and a gain >= 0, with a small relative error however
/// small the gain.
///
/// With 2^k the power of 2 next to the ratio and f = (ratio − 2^k)/(ratio + 2^k) it is k log 2 + 2
/// artanh f, and one division makes f. The bits of a double, read as a whole number, are nearly its
/// logarithm: their difference gives k.
#[inline(always)]
pub(crate) fn log_ratio<const FUSED: bool>(gain: f64, base: f64) -> f64 {
    const HALF: u64 = 1 << 51;
    const EXPONENT: u64 = 0xfff << 52;
    let sum = base + gain;
    let steps = sum.to_bits().wrapping_sub(base.to_bits()).wrapping_add(HALF) & EXPONENT;
    let near = f64::from_bits(base.to_bits().wrapping_add(steps));
    let k = f64::from_bits((steps >> 52) | TWO_52.to_bits()) - TWO_52;
    // For k = 0 the difference is known without the rounding of the sum.
    let difference = if steps == 0 { gain } else { sum - near };
    let f = difference / (sum + near);
    let square = f * f;
    let tail = (f * square) * polynomial::<FUSED, _>(&ARTANH, square);
    fma::<FUSED>(k, std::f64::consts::LN_2, fma::<FUSED>(2.0, f, tail))
}

/// log(1 + e^-|x|) for |x| <= 700. For w = e^-|x| it is 2 artanh f with f = w/(2 + w), at most 1/3.
#[inline(always)]
pub(crate) fn softplus_below<const FUSED: bool>(x: f64) -> f64 {
    let w = exp::<FUSED>(-x.abs(), 0.0);
    let f = w / (2.0 + w);
    let square = f * f;
    let tail = (f * square) * polynomial::<FUSED, _>(&ARTANH_TO_THIRD, square);
    fma::<FUSED>(2.0, f, tail)
}

/// Whether the functions below hold for the segment from s to s + t.
#[inline(always)]
pub(crate) fn within_reach(s: f64, t: f64) -> bool {
    // Not a short circuit: this, too, is meant for loops.
    (s.abs() <= REACH) & (t.abs() <= REACH)
}

/// Means over CHUNK segments in steps of one function each: the chains of dependent operations stay
/// short enough for the machine to work on several at once.
pub(crate) const CHUNK: usize = 32;

/// The means of 1/(1 + e^-x) over segments: log1p(sigmoid(low) expm1(length))/length, in which
/// nothing cancels.
#[inline(always)]
pub(crate) fn mean_sigmoids<const FUSED: bool>(
    s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK],
) {
    let (starts, lengths, growths) = exponentials::<FUSED>(s, t);
    for i in 0..CHUNK {
        means[i] = log_ratio::<FUSED>(starts[i] * growths[i], 1.0 + starts[i]);
    }
    for i in 0..CHUNK {
        means[i] /= lengths[i];
    }
}

/// The means of e^x over segments: e^low expm1(length)/length.
#[inline(always)]
pub(crate) fn mean_exponentials<const FUSED: bool>(
    s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK],
) {
    let (starts, lengths, growths) = exponentials::<FUSED>(s, t);
    for i in 0..CHUNK {
        means[i] = starts[i] * (growths[i] / lengths[i]);
    }
}

/// e^low, the length and e^length − 1 of each segment.
#[inline(always)]
fn exponentials<const FUSED: bool>(
    s: &[f64; CHUNK], t: &[f64; CHUNK],
) -> ([f64; CHUNK], [f64; CHUNK], [f64; CHUNK]) {
    let (mut starts, mut lengths, mut growths) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
    for i in 0..CHUNK {
        let Segment { low, length, .. } = Segment::new(s[i], t[i]);
        starts[i] = exp::<FUSED>(low.value, low.rest);
        lengths[i] = if length > SHORTEST { length } else { SHORTEST };
    }
    for i in 0..CHUNK {
        growths[i] = expm1::<FUSED>(lengths[i]);
    }
    (starts, lengths, growths)
}

/// The means of tanh(x/2) over segments, each with a small relative error, also around 0.
///
/// 2 (log cosh(high/2) − log cosh(low/2))/length: with a and b the smaller and the larger of |low +
/// high|/2 and length/2, the ratio of the two cosh, or its inverse, is 1 + (1 − e^-b)(e^a − 1)/(1 +
/// e^(a − b)), and the sign is that of low + high.
#[inline(always)]
pub(crate) fn mean_tanh_halves<const FUSED: bool>(
    s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK],
) {
    let (mut sums, mut lengths) = ([0.0; CHUNK], [0.0; CHUNK]);
    let (mut gains, mut bases) = ([0.0; CHUNK], [0.0; CHUNK]);
    for i in 0..CHUNK {
        let segment = Segment::new(s[i], t[i]);
        sums[i] = segment.sum_of_ends();
        lengths[i] = if segment.length > SHORTEST { segment.length } else { SHORTEST };
    }
    for i in 0..CHUNK {
        let (u, v) = (0.5 * sums[i].abs(), 0.5 * lengths[i]);
        let (a, b) = if u < v { (u, v) } else { (v, u) };
        let (up, down) = (reduced::<FUSED>(a, 0.0), reduced::<FUSED>(-b, 0.0));
        gains[i] =
            -fma::<FUSED>(down.0, down.1, down.0 - 1.0) * fma::<FUSED>(up.0, up.1, up.0 - 1.0);
        bases[i] =
            fma::<FUSED>(fma::<FUSED>(down.0, down.1, down.0), fma::<FUSED>(up.0, up.1, up.0), 1.0);
    }
    for i in 0..CHUNK {
        means[i] = log_ratio::<FUSED>(gains[i], bases[i]);
    }
    for i in 0..CHUNK {
        means[i] = ((means[i] + means[i]) / lengths[i]).copysign(sums[i]);
    }
}

/// tanh(s/2).
#[inline(always)]
pub(crate) fn tanh_half<const FUSED: bool>(s: f64) -> f64 {
    let growth = expm1::<FUSED>(s.abs());
    (growth / (growth + 2.0)).copysign(s)
}

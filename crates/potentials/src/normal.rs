//! The normal distribution's log cdf, its derivatives, and means of the derivative over segments,
//! in both tails.
//!
//! All rest on Mills's ratio M(v) = (1 − Φ(v))/φ(v), which is smooth and tame where Φ and φ
//! underflow. With v = −x: log Φ(x) = −x²/2 − log √(2π) + log M(−x), and its derivative, the
//! inverse Mills ratio, is λ(x) = φ(x)/Φ(x) = 1/M(−x).

use crate::elementary::{self, CHUNK, SHORTEST, fma};
use crate::segment::{End, Segment};
use crate::special::LOG_ROOT_TWO_PI;

/// Chebyshev coefficients of (v + 1) M(v) in t = (v − 5)/(v + 5), from
/// `scripts/constants/mills_ratio.py`.
const MILLS: [f64; 26] = [
    1.1579976221305188,
    -0.1633449388451398,
    -0.013683136055781576,
    0.03082200019810004,
    -0.016220073012046806,
    0.005616691016460094,
    -0.0014133933783549216,
    0.0002502625460725661,
    -2.468907239728387e-05,
    -1.0107964061837592e-06,
    7.495419179740573e-07,
    -7.600274268728337e-08,
    -1.1574771441328644e-08,
    3.333386472599843e-09,
    7.538039628171347e-11,
    -1.1104247263727494e-10,
    3.509243776551059e-12,
    3.6894953861750955e-12,
    -2.3376697776383095e-13,
    -1.3271797523541405e-13,
    9.921706995888276e-15,
    5.276004995455379e-15,
    -3.373097694187922e-16,
    -2.2804338776379946e-16,
    7.496330565808626e-18,
    1.0328041877290668e-17,
];

/// 1/√(2π).
const DENSITY_AT_ZERO: f64 = 0.398_942_280_401_432_7;
/// The rounding error of log √(2π).
const LOG_ROOT_TWO_PI_REST: f64 = -3.878_294_158_067_242e-17;

/// Mills's ratio for v >= 0, by Clenshaw's recurrence.
pub(crate) fn mills(v: f64) -> f64 {
    // Beyond 1e8, (v + 1) M(v) − 1 is below the rounding, and t would round to 1.
    if v > 1e8 {
        return 1.0 / v;
    }
    let t = (v - 5.0) / (v + 5.0);
    let (mut last, mut before) = (0.0, 0.0);
    for &c in MILLS[1..].iter().rev() {
        (last, before) = (2.0 * t * last - before + c, last);
    }
    (t * last - before + MILLS[0]) / (v + 1.0)
}

/// φ(x). The rounding of x² is corrected for: for large x it would be the largest error.
pub(crate) fn density(x: f64) -> f64 {
    // Far out the square, and then the correction, would be infinite.
    if x.abs() > 40.0 {
        return 0.0;
    }
    let square = x * x;
    let rest = x.mul_add(x, -square);
    DENSITY_AT_ZERO * (-0.5 * square).exp() * (1.0 - 0.5 * rest)
}

/// log Φ(x).
pub(crate) fn log_cdf(x: f64) -> f64 {
    if x > 0.0 {
        (-density(x) * mills(x)).ln_1p()
    } else {
        mills(-x).ln() - 0.5 * x * x - LOG_ROOT_TWO_PI
    }
}

/// λ(x) = φ(x)/Φ(x), the derivative of log Φ.
pub(crate) fn inverse_mills(x: f64) -> f64 {
    if x > 0.0 {
        let density = density(x);
        density / (1.0 - density * mills(x))
    } else {
        1.0 / mills(-x)
    }
}

/// λ(x) + x. For large negative x it is small beside both terms and comes from the continued
/// fraction 1/M(v) = v + 1/(v + 2/(v + 3/(v + ...))) without its first term.
fn excess(x: f64) -> f64 {
    const FRACTION_BELOW: f64 = -4.0;
    const DEPTH: i32 = 60;
    if x > FRACTION_BELOW {
        inverse_mills(x) + x
    } else {
        1.0 / (2..DEPTH).rev().fold(-x, |tail, k| f64::from(k) / tail - x)
    }
}

/// −(log Φ)″ = λ (λ + x), between 0 and 1.
pub(crate) fn curvature(x: f64) -> f64 {
    inverse_mills(x) * excess(x)
}

/// λ, corrected for the rounding of x: λ′ = −λ (λ + x).
fn inverse_mills_at(x: End) -> f64 {
    let value = inverse_mills(x.value);
    value - value * excess_for_correction(x.value, value) * x.rest
}

/// λ + x to the few digits that a correction needs.
fn excess_for_correction(x: f64, lambda: f64) -> f64 {
    if x > -30.0 { lambda + x } else { -1.0 / x }
}

/// 2, 4 and 8 Gauss-Legendre nodes and weights on [0, 1]; the nodes as distances from the nearer
/// end, in pairs.
const GAUSS_2: [(f64, f64); 1] = [(0.211_324_865_405_187_1, 0.5)];
const GAUSS_4: [(f64, f64); 2] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_92),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_05),
];
pub(crate) const GAUSS_8: [(f64, f64); 4] = [
    (0.019_855_071_751_231_88, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_64, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_63),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
];

/// The mean of λ over a segment: (log Φ(high) − log Φ(low))/length.
///
/// Short segments are integrated by Gauss's rule: λ is analytic, its poles (the zeros of Φ) are 2.8
/// and more away from the real line, and on a length of 1, or 1/x for large x, 8 nodes reach full
/// accuracy. Longer segments take the difference of log Φ, with the quadratic parts combined before
/// they can cancel.
pub(crate) fn mean_inverse_mills(segment: &Segment) -> f64 {
    let Segment { low, high, length } = *segment;
    let reach = length * high.value.max(1.0);
    if reach <= 1e-3 {
        gauss(&GAUSS_2, segment)
    } else if reach <= 0.1 {
        gauss(&GAUSS_4, segment)
    } else if reach <= 1.0 {
        gauss(&GAUSS_8, segment)
    } else if high.value <= 0.0 {
        let ratio = (mills(-high.value) / mills(-low.value)).ln();
        -0.5 * segment.sum_of_ends() + ratio / length
    } else {
        (log_cdf_at(high) - log_cdf_at(low)) / length
    }
}

/// log Φ(x), corrected for the rounding of x.
fn log_cdf_at(x: End) -> f64 {
    log_cdf(x.value) + inverse_mills(x.value) * x.rest
}

fn gauss(rule: &[(f64, f64)], segment: &Segment) -> f64 {
    let at = |end: End, offset: f64| {
        let sum = End::sum(end.value, offset);
        inverse_mills_at(End { value: sum.value, rest: sum.rest + end.rest })
    };
    rule.iter()
        .map(|&(node, weight)| {
            let offset = node * segment.length;
            weight * (at(segment.low, offset) + at(segment.high, -offset))
        })
        .sum()
}

/// (v + 9/2) M(v) for v between −3/4 and 25 in powers of 9/(v + 9/2) − 9/16, from
/// `scripts/constants/mills_ratio.py`: the powers of even and of odd order apart, each pair a row.
const NEAR: [[f64; 2]; 13] = [
    [1.3810141579767896, 0.910899154300269],
    [0.542665467451784, 0.2870633327873705],
    [0.13120093066232813, 0.049268524000760275],
    [0.013487814528721276, 0.0015344213242978288],
    [-0.0007765472045872155, -0.0004807058539383128],
    [-6.951006886185302e-05, 4.625252318141585e-05],
    [2.4713909109135098e-05, -9.468791541339939e-07],
    [-4.689544185251957e-06, -1.0909191858721297e-06],
    [1.503160576831581e-06, -9.522493343743654e-07],
    [1.4004076260360312e-06, -1.4117036271526422e-06],
    [8.422496717973323e-07, -3.2358604078117003e-07],
    [8.274801362065985e-08, -1.3802356900395422e-08],
    [1.372517623743072e-09, -6.216196437367845e-11],
];
const NEAR_SHIFT: f64 = 4.5;
const NEAR_SCALE: f64 = 9.0;
const NEAR_START: f64 = 0.5625;

/// Whether the vector forms below hold for a segment: 1/φ stays far from overflow.
#[inline(always)]
pub(crate) fn near(s: f64, t: f64) -> bool {
    const NEAR: f64 = 25.0;
    (s.abs() <= NEAR) & ((s + t).abs() <= NEAR)
}

/// (v + 9/2) M(v) for v between −3/4 and 25.
#[inline(always)]
fn scaled_mills<const FUSED: bool>(v: f64) -> f64 {
    let x = NEAR_SCALE / (v + NEAR_SHIFT) - NEAR_START;
    let square = x * x;
    let [mut a, mut b] = NEAR[NEAR.len() - 1];
    let mut k = NEAR.len() - 1;
    while k > 0 {
        k -= 1;
        (a, b) = (fma::<FUSED>(a, square, NEAR[k][0]), fma::<FUSED>(b, square, NEAR[k][1]));
    }
    fma::<FUSED>(b, x, a)
}

/// (v + 9/2) M(v), and (M(v) − M(end))/(end − v) times (v + 9/2) (end + 9/2): without cancellation,
/// however near to v the end is.
///
/// With F the first of the two, in powers of x = 9/(v + 9/2) − 9/16, the second is F(x) + 9/(end +
/// 9/2) (F(x_end) − F(x))/(x_end − x), both terms positive. The divided difference of a polynomial
/// follows its value in Horner's rule; that of A(x²) + x B(x²) is B + (x + x_end)(that of A + x_end
/// that of B), where A and B take half as many steps one after the other.
#[inline(always)]
fn scaled_mills_and_fall<const FUSED: bool>(v: f64, end: f64) -> (f64, f64) {
    let (r, r_end) = (NEAR_SCALE / (v + NEAR_SHIFT), NEAR_SCALE / (end + NEAR_SHIFT));
    let (x, x_end) = (r - NEAR_START, r_end - NEAR_START);
    let (square, square_end) = (x * x, x_end * x_end);
    let [mut a, mut b] = NEAR[NEAR.len() - 1];
    let (mut a_by, mut b_by) = (0.0, 0.0);
    let mut k = NEAR.len() - 1;
    while k > 0 {
        k -= 1;
        (a_by, b_by) = (fma::<FUSED>(a_by, square_end, a), fma::<FUSED>(b_by, square_end, b));
        (a, b) = (fma::<FUSED>(a, square, NEAR[k][0]), fma::<FUSED>(b, square, NEAR[k][1]));
    }
    let value = fma::<FUSED>(b, x, a);
    let by = fma::<FUSED>(x + x_end, fma::<FUSED>(x_end, b_by, a_by), b);
    (value, fma::<FUSED>(r_end, by, value))
}

/// 1/φ(x + rest) for |x| up to 25. The rounding of x² is corrected for, as in [`density`].
#[inline(always)]
fn inverse_density<const FUSED: bool>(x: f64, rest: f64) -> f64 {
    let square = x * x;
    let below = elementary::product_rest::<FUSED>(x, x, square);
    let rest = fma::<FUSED>(x, rest, fma::<FUSED>(0.5, below, LOG_ROOT_TWO_PI_REST));
    elementary::exp_of_sum::<FUSED>(0.5 * square, LOG_ROOT_TWO_PI, rest)
}

/// Up to here M(−x) is taken for Φ/φ, of which 1/φ − M(x) would lose digits.
const DIVIDE: f64 = 0.25;

/// λ(x) without branches, for |x| up to 25: 1/M(−x) on the left, 1/(1/φ − M(x)) on the right.
#[inline(always)]
pub(crate) fn inverse_mills_near<const FUSED: bool>(x: f64) -> f64 {
    let right = x > DIVIDE;
    let v = if right { x } else { -x };
    let (value, factor) = (scaled_mills::<FUSED>(v), v + NEAR_SHIFT);
    let inverse = inverse_density::<FUSED>(x, 0.0);
    // Not a choice between two results: the compiler would put the exponential behind a branch.
    let factor_if_right = if right { factor } else { 0.0 };
    factor / fma::<FUSED>(factor_if_right, inverse, -value).abs()
}

/// −log Φ(x) without branches, for |x| up to 25: x²/2 + log(√(2π)/M(−x)) on the left, log(1/(1 − φ
/// M(x))) on the right, sums and logarithms of which every part is positive.
#[inline(always)]
pub(crate) fn minus_log_cdf_near<const FUSED: bool>(x: f64) -> f64 {
    let right = x > DIVIDE;
    let v = if right { x } else { -x };
    let (value, factor) = (scaled_mills::<FUSED>(v), v + NEAR_SHIFT);
    // The whole line without one tail, over φ: the base on the right. On the left it is the gain,
    // over φ(0); the rest of φ is the square.
    let whole = inverse_density::<FUSED>(if right { x } else { 0.0 }, 0.0);
    let without = fma::<FUSED>(whole, factor, -value);
    let (gain, base) = if right { (value, without) } else { (without, value) };
    fma::<FUSED>(if right { 0.0 } else { 0.5 * x }, x, elementary::log_ratio::<FUSED>(gain, base))
}

/// Means of λ over segments of which both ends are near: log(1 + (Φ(high) − Φ(low))/Φ(low))/length.
///
/// Numerator and denominator are taken over φ(low), and E = φ(high)/φ(low) = e^(−length mid). To
/// the left of 0, with v = −x, the denominator is M(v) and the numerator E M(v_high) − M(v_low); to
/// the right, with v = x, they are 1/φ(low) − M(v_low) and M(v_low) − E M(v_high). Either numerator
/// is E |M(v_high) − M(v_low)| + |E − 1| M(v_low), in which nothing cancels. A short segment around
/// 0 is taken on one side, M being smooth beyond 0, where two terms differ in sign but not by much;
/// of a long one, the numerator is 1/φ(low), the whole line, without both tails. All is multiplied
/// by the factors v + 9/2 of both ends, which saves divisions and their rounding.
#[inline(always)]
pub(crate) fn mean_inverse_mills_near<const FUSED: bool>(
    s: &[f64; CHUNK], t: &[f64; CHUNK], means: &mut [f64; CHUNK],
) {
    let (mut values, mut falls) = ([0.0; CHUNK], [0.0; CHUNK]);
    let (mut inverses, mut bases) = ([0.0; CHUNK], [0.0; CHUNK]);
    for i in 0..CHUNK {
        let (from, to) = Side::of(&Segment::new(s[i], t[i])).ends;
        (values[i], falls[i]) = scaled_mills_and_fall::<FUSED>(from, to);
    }
    for i in 0..CHUNK {
        let low = Segment::new(s[i], t[i]).low;
        inverses[i] = inverse_density::<FUSED>(low.value, low.rest);
    }
    for i in 0..CHUNK {
        let segment = Segment::new(s[i], t[i]);
        let Side { mid, right, around, ends: (from, to) } = Side::of(&segment);
        let length = at_least_shortest(segment.length);
        let (ratio, growth) = elementary::exp_and_expm1::<FUSED>(-length * mid);
        let (factor, factor_end) = (from + NEAR_SHIFT, to + NEAR_SHIFT);
        let lower = factor_end * values[i];
        let upper = fma::<FUSED>(-falls[i], mid + mid, lower);
        let without_lower = fma::<FUSED>(factor * inverses[i], factor_end, -lower);
        let on_one_side =
            fma::<FUSED>(ratio * length, falls[i], if right { -growth } else { growth } * lower);
        means[i] = if around { fma::<FUSED>(-ratio, upper, without_lower) } else { on_one_side };
        bases[i] = if right & !around { without_lower } else { lower };
    }
    for i in 0..CHUNK {
        means[i] = elementary::log_ratio::<FUSED>(means[i], bases[i]);
    }
    for i in 0..CHUNK {
        means[i] /= at_least_shortest(t[i].abs());
    }
}

#[inline(always)]
fn at_least_shortest(length: f64) -> f64 {
    if length > SHORTEST { length } else { SHORTEST }
}

/// Where a segment's ends are taken, as arguments of M.
struct Side {
    mid: f64,
    /// Whether it is M(x) that is taken; otherwise M(−x).
    right: bool,
    /// A long segment around 0: both are, either where its argument is positive.
    around: bool,
    /// The arguments for the lower and the upper end.
    ends: (f64, f64),
}

impl Side {
    #[inline(always)]
    fn of(segment: &Segment) -> Self {
        /// With middles up to [`DIVIDE`], M is needed down to −3/4.
        const LONG: f64 = 1.0;
        let Segment { low, high, length } = *segment;
        let mid = low.value + 0.5 * length;
        let right = mid > DIVIDE;
        let around = (low.value < 0.0) & (high.value > 0.0) & (length > LONG);
        let from = if right & !around { low.value } else { -low.value };
        let to = if right | around { high.value } else { -high.value };
        Self { mid, right, around, ends: (from, to) }
    }
}

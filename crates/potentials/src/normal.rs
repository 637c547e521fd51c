//! The normal distribution's log cdf, its derivatives, and means of the derivative over segments, in both tails.
//!
//! All rest on Mills's ratio M(v) = (1 − Φ(v))/φ(v), which is smooth and tame where Φ and φ underflow. With v = −x:
//! log Φ(x) = −x²/2 − log √(2π) + log M(−x), and its derivative, the inverse Mills ratio, is λ(x) = φ(x)/Φ(x) = 1/M(−x).

use crate::elementary::{self, CHUNK, fma};
use crate::segment::{End, Segment};

/// Chebyshev coefficients of (v + 1) M(v) in t = (v − 5)/(v + 5), from `scripts/fit_mills_ratio.py`.
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
/// log √(2π).
const LOG_ROOT_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// Mills's ratio for v >= 0, by Clenshaw's recurrence.
fn mills(v: f64) -> f64 {
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

/// φ(x). The rounding of x² is given back: for large x it would be the largest error.
fn density(x: f64) -> f64 {
    let square = x * x;
    let rest = x.mul_add(x, -square);
    DENSITY_AT_ZERO * (-0.5 * square).exp() * (1.0 - 0.5 * rest)
}

/// log Φ(x).
pub(crate) fn log_cdf(x: f64) -> f64 {
    if x > 0.0 { (-density(x) * mills(x)).ln_1p() } else { mills(-x).ln() - 0.5 * x * x - LOG_ROOT_TWO_PI }
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

/// λ(x) + x. For large negative x it is small beside both terms and comes from the continued fraction
/// 1/M(v) = v + 1/(v + 2/(v + 3/(v + ...))) without its first term.
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

/// λ with what rounding took from x: λ′ = −λ (λ + x).
fn inverse_mills_at(x: End) -> f64 {
    let value = inverse_mills(x.value);
    value - value * excess_for_correction(x.value, value) * x.rest
}

/// λ + x to the few digits that a correction needs.
fn excess_for_correction(x: f64, lambda: f64) -> f64 {
    if x > -30.0 { lambda + x } else { -1.0 / x }
}

/// 2, 4 and 8 Gauss-Legendre nodes and weights on [0, 1]; the nodes as distances from the nearer end, in pairs.
const GAUSS_2: [(f64, f64); 1] = [(0.211_324_865_405_187_1, 0.5)];
const GAUSS_4: [(f64, f64); 2] = [
    (0.069_431_844_202_973_71, 0.173_927_422_568_726_92),
    (0.330_009_478_207_571_87, 0.326_072_577_431_273_05),
];
const GAUSS_8: [(f64, f64); 4] = [
    (0.019_855_071_751_231_88, 0.050_614_268_145_188_13),
    (0.101_666_761_293_186_64, 0.111_190_517_226_687_24),
    (0.237_233_795_041_835_5, 0.156_853_322_938_943_63),
    (0.408_282_678_752_175_1, 0.181_341_891_689_181),
];

/// The mean of λ over a segment: (log Φ(high) − log Φ(low))/length.
///
/// Short segments are integrated by Gauss's rule: λ is analytic, its poles (the zeros of Φ) are 2.8 and more away from the real
/// line, and on a length of 1, or 1/x for large x, 8 nodes reach full accuracy. Longer segments take the difference of log Φ,
/// with the quadratic parts combined before they can cancel.
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

/// log Φ(x) with what rounding took from x.
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

/// Whether the vector forms below hold for a segment: Gauss's rule with 8 nodes does, and φ stays far from underflow.
#[inline(always)]
pub(crate) fn short_and_near(s: f64, t: f64) -> bool {
    const NEAR: f64 = 25.0;
    (s.abs() <= NEAR) & (t.abs() <= 1.0) & (t.abs() * s.max(s + t) <= 1.0)
}

/// λ(x + rest) without branches, for |x| up to 26: (v + 1)/((v + 1) M(v)) on the left, φ/(1 − φ M(v)) on the right, v = |x|.
#[inline(always)]
pub(crate) fn inverse_mills_near<const FUSED: bool>(x: f64, rest: f64) -> f64 {
    let v = x.abs();
    let t = (v - 5.0) / (v + 5.0);
    let (mut last, mut before) = (0.0, 0.0);
    let mut k = MILLS.len();
    while k > 1 {
        k -= 1;
        (last, before) = (fma::<FUSED>(t + t, last, MILLS[k] - before), last);
    }
    let ratio = fma::<FUSED>(t, last, MILLS[0] - before);
    let square = x * x;
    let below = x.mul_add(x, -square);
    let density = DENSITY_AT_ZERO * elementary::exp::<FUSED>(-0.5 * square, -0.5 * below);
    let (factor, part) = if x > 0.0 { (density, v + 1.0) } else { (1.0, 0.0) };
    let value = factor * (v + 1.0) / fma::<FUSED>(if x > 0.0 { -density } else { 1.0 }, ratio, part);
    value - value * (value + x) * rest
}

/// Means of λ over segments that are short and near, by Gauss's rule with 8 nodes.
#[inline(always)]
pub(crate) fn mean_inverse_mills_near<const FUSED: bool>(
    s: &[f64; CHUNK],
    t: &[f64; CHUNK],
    means: &mut [f64; CHUNK],
) {
    means.fill(0.0);
    for (node, weight) in GAUSS_8 {
        for i in 0..CHUNK {
            let Segment { low, high, length } = Segment::new(s[i], t[i]);
            let (left, right) = (End::sum(low.value, node * length), End::sum(high.value, -node * length));
            means[i] = fma::<FUSED>(
                weight,
                inverse_mills_near::<FUSED>(left.value, left.rest + low.rest)
                    + inverse_mills_near::<FUSED>(right.value, right.rest + high.rest),
                means[i],
            );
        }
    }
}

//! Functions whose textbook form cancels: parts of log Γ and of its derivative, and differences of
//! exponentials and logarithms from the first terms of their series.
//!
//! Each is accurate to a few units in the last place of its result, or of 1 for log Γ and its
//! derivative near their zeros. NaN gives NaN.

/// log √(2π).
pub(crate) const LOG_ROOT_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// From here on, the asymptotic series below are good to the last bit.
const LARGE: f64 = 10.0;

/// B_2k/(2k (2k − 1)): log Γ(x) = (x − ½) log x − x + log √(2π) + Σ of these times x^(1 − 2k).
const LOG_GAMMA: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 360.0,
    1.0 / 1260.0,
    -1.0 / 1680.0,
    1.0 / 1188.0,
    -691.0 / 360_360.0,
    1.0 / 156.0,
    -3617.0 / 122_400.0,
    43_867.0 / 244_188.0,
];

/// B_2k/2k: ψ(x) = log x − 1/(2x) − Σ of these times x^(−2k).
const DIGAMMA: [f64; 9] = [
    1.0 / 12.0,
    -1.0 / 120.0,
    1.0 / 252.0,
    -1.0 / 240.0,
    1.0 / 132.0,
    -691.0 / 32_760.0,
    1.0 / 12.0,
    -3617.0 / 8160.0,
    43_867.0 / 14_364.0,
];

fn horner(coefficients: &[f64], x: f64) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum * x + c)
}

/// log Γ(x) − (x − ½) log x + x − log √(2π) for x >= [`LARGE`].
fn stirling_series(x: f64) -> f64 {
    let inverse = 1.0 / x;
    inverse * horner(&LOG_GAMMA, inverse * inverse)
}

/// log Γ(x) − (x − ½) log x + x − log √(2π) for the x of a given logarithm: what Stirling's formula
/// leaves, about 1/(12x).
pub(crate) fn stirling_rest(x: f64, log_x: f64) -> f64 {
    if x >= LARGE {
        stirling_series(x)
    } else {
        libm::lgamma(x) - (x - 0.5) * log_x + x - LOG_ROOT_TWO_PI
    }
}

/// ψ(x) − log x + 1/(2x), about −1/(12x²), for x >= [`LARGE`].
fn digamma_series(x: f64) -> f64 {
    let square = 1.0 / x / x;
    -square * horner(&DIGAMMA, square)
}

/// ψ(x) = Γ′(x)/Γ(x) for x >= 0, as an argument whose logarithm is to be added and the rest. Small
/// arguments are moved up by ψ(x) = ψ(x + 1) − 1/x.
fn digamma_parts(x: f64) -> (f64, f64) {
    if !(x >= 0.0) {
        return (f64::NAN, f64::NAN);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < LARGE {
        sum += 1.0 / x;
        x += 1.0;
    }
    (x, digamma_series(x) - 0.5 / x - sum)
}

/// ψ(x) for x >= 0.
pub(crate) fn digamma(x: f64) -> f64 {
    let (large, rest) = digamma_parts(x);
    large.ln() + rest
}

/// x (ψ(x) − log x), −1 at 0, for the x of a given logarithm.
fn scaled_digamma_rest(x: f64, log_x: f64) -> f64 {
    if x < 1.0 {
        return x * (digamma(1.0 + x) - log_x) - 1.0;
    }
    let (large, rest) = digamma_parts(x);
    x * ((large / x).ln() + rest)
}

/// log Γ(a) − a log a + a and its derivative a (ψ(a) − log a) in log a, for the a of a given
/// logarithm. For large a they are close to ½ log(2π/a) and −½.
pub(crate) fn scaled_gamma(a: f64, log_a: f64) -> [f64; 2] {
    if a >= LARGE {
        let value = LOG_ROOT_TWO_PI - 0.5 * log_a + stirling_rest(a, log_a);
        [value, a * digamma_series(a) - 0.5]
    } else {
        // An a that underflows has a log Γ, too: −log a.
        let log_gamma = if a < f64::MIN_POSITIVE { -log_a } else { libm::lgamma(a) };
        [log_gamma - a * log_a + a, scaled_digamma_rest(a, log_a)]
    }
}

/// g(a) = log Γ(a + ½) − log Γ(a) − ½ log a and its derivative in log a. For large a they are close
/// to −1/(8a) and 1/(8a). Small ones are moved up by g(a) = g(a + 1) − ½ log(1 + 1/(4a (a + 1))).
pub(crate) fn half_step(a: f64) -> [f64; 2] {
    let (mut x, mut moved, mut by_moved) = (a, 0.0, 0.0);
    while x < LARGE {
        moved += 0.5 * (0.25 / x / (x + 1.0)).ln_1p();
        // a/x first: x may be as small as a.
        by_moved += a / x * 0.25 / (x + 1.0) / (x + 0.5);
        x += 1.0;
    }
    let end = x + 0.5;
    // x log(1 + 1/(2x)) − ½.
    let base = x * log_1p_minus(0.5 / x);
    let log_gamma = stirling_series(end) - stirling_series(x);
    let by_x = base + 0.25 / end + x * (digamma_series(end) - digamma_series(x));
    [base + log_gamma - moved, a / x * by_x + by_moved]
}

/// r (log(1 + n/r) − ψ(r + n) + ψ(r)), about −n/(2 (r + n)), from r, n and [`scaled_gamma`]'s
/// derivative at r.
pub(crate) fn digamma_shortfall(r: f64, n: f64, rest_at_r: f64) -> f64 {
    let end = r + n;
    if r >= LARGE {
        r * (digamma_series(r) - digamma_series(end)) - 0.5 * n / end
    } else {
        rest_at_r - r / end * scaled_digamma_rest(end, end.ln())
    }
}

/// log(1 − e^-x) for x >= 0 (Mächler 2012, "Accurately computing log(1 − exp(−|a|))").
pub(crate) fn log_1m_exp(x: f64) -> f64 {
    if x <= std::f64::consts::LN_2 { (-(-x).exp_m1()).ln() } else { (-(-x).exp()).ln_1p() }
}

/// The same for the x of a given logarithm, which may be too small for a double.
pub(crate) fn log_1m_exp_of(x: f64, log_x: f64) -> f64 {
    // log(1 − e^-x) = log x − x/2 + x²/24 − ...
    const SMALL: f64 = 1e-9;
    if x < SMALL { log_x - 0.5 * x } else { log_1m_exp(x) }
}

/// x/(e^x − 1) for x >= 0: 1 at 0, 0 at infinity.
pub(crate) fn over_expm1(x: f64) -> f64 {
    if x == 0.0 {
        1.0
    } else if x < 1.0 {
        x / x.exp_m1()
    } else {
        // e^x overflows long after this is 0.
        let shrink = (-x).exp();
        if shrink == 0.0 { 0.0 } else { x * shrink / (1.0 - shrink) }
    }
}

/// log(1 + x) − x for x > −1.
///
/// With f = x/(2 + x), log(1 + x) = 2 artanh f and 2f − x = −f x: what remains is a series in f².
pub(crate) fn log_1p_minus(x: f64) -> f64 {
    const SMALL: f64 = 0.25;
    /// 2/(2k + 3).
    const SERIES: [f64; 10] = [
        2.0 / 3.0,
        2.0 / 5.0,
        2.0 / 7.0,
        2.0 / 9.0,
        2.0 / 11.0,
        2.0 / 13.0,
        2.0 / 15.0,
        2.0 / 17.0,
        2.0 / 19.0,
        2.0 / 21.0,
    ];
    if x.abs() < SMALL {
        let f = x / (2.0 + x);
        let square = f * f;
        f * (square * horner(&SERIES, square) - x)
    } else {
        x.ln_1p() - x
    }
}

/// log(1 + x) − x/(1 + x) for x >= 0, from x and its log(1 + x).
pub(crate) fn log_1p_minus_share(x: f64, log_1p: f64) -> f64 {
    if x < 0.25 { log_1p_minus(x) + x * x / (1.0 + x) } else { log_1p - 1.0 / (1.0 + 1.0 / x) }
}

/// (1 + x) log(1 + x) − x for x > −1: x²/2 near 0.
pub(crate) fn deviance(x: f64) -> f64 {
    log_1p_minus(x) + x * x.ln_1p()
}

/// a b, and 0 if b is: for an a that may be infinite where b vanishes faster than it grows.
pub(crate) fn vanishing(a: f64, b: f64) -> f64 {
    if b == 0.0 && !a.is_nan() { 0.0 } else { a * b }
}

/// e^x for a parameter x: beyond e^±690 it stays there, so that products and quotients of two such
/// numbers and their logarithms make sense.
pub(crate) fn exp_within(x: f64) -> f64 {
    x.clamp(-690.0, 690.0).exp()
}

#[cfg(test)]
mod reference;

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error over a table, in units of ε times the value, or times `least` if that is
    /// larger.
    fn worst(table: &[(f64, f64)], least: f64, f: impl Fn(f64) -> f64) -> f64 {
        let error = |&(x, value): &(f64, f64)| {
            let size = value.abs().max(least).max(f64::MIN_POSITIVE);
            ((f(x) - value) / size).abs() / f64::EPSILON
        };
        table.iter().map(error).fold(0.0, |worst, error| if error <= worst { worst } else { error })
    }

    #[test]
    fn functions_agree_with_120_digits() {
        let log_of = |f: fn(f64, f64) -> [f64; 2], k: usize| move |a: f64| f(a, a.ln())[k];
        let errors = [
            ("digamma", worst(reference::DIGAMMA, 1.0, digamma), 4.0),
            ("stirling", worst(reference::STIRLING, 1.0, |x| stirling_rest(x, x.ln())), 12.0),
            // Without the shift from log Γ, to its last digits.
            ("series", worst(&reference::STIRLING[14..], 0.0, |x| stirling_rest(x, x.ln())), 4.0),
            ("gamma", worst(reference::SCALED_GAMMA, 1.0, log_of(scaled_gamma, 0)), 12.0),
            ("its slope", worst(reference::SCALED_GAMMA_SLOPE, 0.5, log_of(scaled_gamma, 1)), 24.0),
            ("half step", worst(reference::HALF_STEP, 0.0, |a| half_step(a)[0]), 8.0),
            ("its slope", worst(reference::HALF_STEP_SLOPE, 0.0, |a| half_step(a)[1]), 8.0),
            ("log 1m exp", worst(reference::LOG_1M_EXP, 0.0, log_1m_exp), 4.0),
            ("with log", worst(reference::LOG_1M_EXP, 0.0, |x| log_1m_exp_of(x, x.ln())), 4.0),
            ("over expm1", worst(reference::OVER_EXPM1, 0.0, over_expm1), 4.0),
            ("log 1p minus", worst(reference::LOG_1P_MINUS, 0.0, log_1p_minus), 12.0),
            (
                "log 1p minus share",
                worst(reference::LOG_1P_MINUS_SHARE, 0.0, |x| log_1p_minus_share(x, x.ln_1p())),
                12.0,
            ),
            ("deviance", worst(reference::DEVIANCE, 0.0, deviance), 12.0),
        ];
        println!("{errors:?}");
        for (name, error, limit) in errors {
            assert!(error < limit, "{name}: {error} ε");
        }
    }

    #[test]
    fn differences_of_digamma_agree_with_120_digits() {
        let mut worst = 0.0_f64;
        for &(r, n, value) in reference::SHORTFALLS {
            let found = digamma_shortfall(r, n, scaled_gamma(r, r.ln())[1]);
            worst = worst.max(((found - value) / value).abs() / f64::EPSILON);
        }
        println!("{worst}");
        assert!(worst < 40.0, "{worst} ε");
    }

    #[test]
    fn limits_are_reached_and_nan_is_nan() {
        assert_eq!(digamma(0.0), f64::NEG_INFINITY);
        assert!(digamma(-1.0).is_nan() && digamma(f64::NAN).is_nan());
        assert_eq!((over_expm1(0.0), over_expm1(f64::INFINITY)), (1.0, 0.0));
        assert_eq!((log_1m_exp(0.0), log_1m_exp(f64::INFINITY)), (f64::NEG_INFINITY, 0.0));
        // e^-1000 is no double, but its logarithm is.
        assert_eq!(log_1m_exp_of(0.0, -1000.0), -1000.0);
        assert_eq!(scaled_gamma(0.0, -1000.0)[0], 1000.0);
        for f in [log_1m_exp, over_expm1, log_1p_minus, deviance, exp_within, digamma] {
            assert!(f(f64::NAN).is_nan());
        }
        assert!(vanishing(f64::NAN, 0.0).is_nan() && vanishing(0.0, f64::NAN).is_nan());
        assert_eq!(vanishing(f64::INFINITY, 0.0), 0.0);
    }
}

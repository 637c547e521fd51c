//! Values, slopes and means of slopes from their definitions, with 240 bits, which leave 50 digits
//! after the worst cancellation.

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;

use super::super::Observation;

pub(super) type Big = FBig<HalfEven, 2>;

const BITS: usize = 240;

pub(super) fn big(x: f64) -> Big {
    Big::try_from(x).unwrap().with_precision(BITS).value()
}

pub(super) fn double(x: &Big) -> f64 {
    x.to_f64().value()
}

/// The distance between a double and the exact value, in units in the last place of a number of the
/// size of `of`.
pub(super) fn ulps(computed: f64, exact: &Big, of: f64) -> f64 {
    let of = of.abs().max(f64::MIN_POSITIVE);
    let unit = of.next_up() - of;
    double(&((big(computed) - exact) / big(unit))).abs()
}

/// log(1 + x) for x > 0; by its series where 1 + x would need more bits.
fn log_1p(x: &Big) -> Big {
    if *x < big(1e-24) { x - x * x / big(2.0) + x * x * x / big(3.0) } else { (big(1.0) + x).ln() }
}

/// The mean of the sigmoid between a and b; the sigmoid where they are equal.
fn mean_sigmoid(a: &Big, b: &Big) -> Big {
    let (at_a, at_b) = (a.clone().exp(), b.clone().exp());
    if a == b {
        &at_a / (big(1.0) + &at_a)
    } else if at_a < big(1e-24) && at_b < big(1e-24) {
        (log_1p(&at_b) - log_1p(&at_a)) / (b - a)
    } else {
        ((big(1.0) + at_b) / (big(1.0) + at_a)).ln() / (b - a)
    }
}

/// 1/√(2π), from π by Machin's formula.
fn density_at_zero() -> Big {
    let arctan_inverse = |n: f64| {
        let (n, square) = (big(n), big(n * n));
        let mut power = big(1.0) / n;
        let mut sum = power.clone();
        for k in 1..200 {
            power = -power / &square;
            sum += &power / big(f64::from(2 * k + 1));
        }
        sum
    };
    let pi = big(16.0) * arctan_inverse(5.0) - big(4.0) * arctan_inverse(239.0);
    (big(-0.5) * (big(2.0) * pi).ln()).exp()
}

thread_local! {
    static DENSITY_AT_ZERO: Big = density_at_zero();
}

fn density(x: &Big) -> Big {
    DENSITY_AT_ZERO.with(|zero| zero * (-(x * x) / big(2.0)).exp())
}

/// Mills's ratio (1 − Φ(v))/φ(v) for v >= 4 by its continued fraction, which gains exp(2v √(2n)) in
/// n terms.
fn mills(v: &Big) -> Big {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    let terms = (75.0 / double(v)).powi(2).ceil() as u32 + 12;
    let tail = (1..terms).rev().fold(v.clone(), |tail, k| v + big(f64::from(k)) / tail);
    big(1.0) / tail
}

/// Φ(x) for x < 10: 1/2 + φ(x) (x + x³/3 + x⁵/15 + ...) near 0, by Mills's ratio to the left.
fn cdf(x: &Big) -> Big {
    if *x < big(-4.0) {
        return density(x) * mills(&-x.clone());
    }
    let square = x * x;
    let mut term = x.clone();
    let mut sum = x.clone();
    for k in 1..260 {
        term = term * &square / big(f64::from(2 * k + 1));
        sum += &term;
        if double(&term).abs() < 1e-70 {
            break;
        }
    }
    big(0.5) + density(x) * sum
}

/// 1 − Φ(x) for x > 4.
fn upper_tail(x: &Big) -> Big {
    density(x) * mills(x)
}

/// log Φ(x) for x > 8, where it is tiny.
fn log_cdf_far_right(x: &Big) -> Big {
    let q = upper_tail(x);
    let square = &q * &q;
    -(&q + &square / big(2.0) + &square * &q / big(3.0) + &square * &square / big(4.0))
}

/// The mean of (log Φ)′ between a and b; (log Φ)′ where they are equal.
fn mean_inverse_mills(a: &Big, b: &Big) -> Big {
    let far = big(8.0);
    if a == b {
        return if *a > far {
            density(a) / (big(1.0) - upper_tail(a))
        } else {
            density(a) / cdf(a)
        };
    }
    let (left, right) = (big(-4.0), far);
    if *a > right && *b > right {
        (log_cdf_far_right(b) - log_cdf_far_right(a)) / (b - a)
    } else if *a < left && *b < left {
        -(a + b) / big(2.0) + (mills(&-b.clone()) / mills(&-a.clone())).ln() / (b - a)
    } else {
        let log = |x: &Big| if *x > right { log_cdf_far_right(x) } else { cdf(x).ln() };
        if *a > right || *b > right {
            (log(b) - log(a)) / (b - a)
        } else {
            (cdf(b) / cdf(a)).ln() / (b - a)
        }
    }
}

/// The mean slope between two points, exactly, for the families and scales used here.
pub(super) type Mean = fn(&Big, &Big, Observation) -> Big;

/// u at a point, likewise.
pub(super) type Value = fn(&Big, Observation) -> Big;

/// The scale of the families that have one, and Huber's δ.
pub(super) const SCALE: f64 = 0.7;
pub(super) const DELTA: f64 = 1.345;

pub(super) fn logistic(a: &Big, b: &Big, y: Observation) -> Big {
    binomial_mean(a, b, y, mean_sigmoid)
}

pub(super) fn logistic_value(s: &Big, y: Observation) -> Big {
    binomial_value(s, y, |s| log_1p(&s.clone().exp()))
}

pub(super) fn probit(a: &Big, b: &Big, y: Observation) -> Big {
    binomial_mean(a, b, y, |a, b| mean_inverse_mills(&-a.clone(), &-b.clone()))
}

pub(super) fn probit_value(s: &Big, y: Observation) -> Big {
    binomial_value(s, y, |s| {
        let x = -s.clone();
        if x > big(8.0) {
            -log_cdf_far_right(&x)
        } else if x < big(-4.0) {
            // φ alone may have too small an exponent.
            &x * &x / big(2.0) - (DENSITY_AT_ZERO.with(Clone::clone) * mills(s)).ln()
        } else {
            -cdf(&x).ln()
        }
    })
}

/// (n − y) f over the segment − y f over its mirror image.
fn binomial_mean(a: &Big, b: &Big, y: Observation, f: impl Fn(&Big, &Big) -> Big) -> Big {
    let mut sum = big(0.0);
    if y.response < y.trials {
        sum += big(y.trials - y.response) * f(a, b);
    }
    if y.response > 0.0 {
        sum -= big(y.response) * f(&-a.clone(), &-b.clone());
    }
    sum
}

/// (n − y) g(s) + y g(−s).
fn binomial_value(s: &Big, y: Observation, g: impl Fn(&Big) -> Big) -> Big {
    let mut sum = big(0.0);
    if y.response < y.trials {
        sum += big(y.trials - y.response) * g(s);
    }
    if y.response > 0.0 {
        sum += big(y.response) * g(&-s.clone());
    }
    sum
}

pub(super) fn poisson(a: &Big, b: &Big, y: Observation) -> Big {
    let mean = if a == b { a.clone().exp() } else { (b.clone().exp() - a.clone().exp()) / (b - a) };
    mean - big(y.response)
}

pub(super) fn poisson_value(s: &Big, y: Observation) -> Big {
    let mut factorial = big(1.0);
    let mut factor = 2.0;
    while factor <= y.response {
        factorial *= big(factor);
        factor += 1.0;
    }
    s.clone().exp() - big(y.response) * s + factorial.ln()
}

/// (s − y)/scale.
fn residual(s: &Big, y: Observation, scale: f64) -> Big {
    (s - big(y.response)) / big(scale)
}

pub(super) fn gaussian(a: &Big, b: &Big, y: Observation) -> Big {
    residual(&((a + b) / big(2.0)), y, SCALE) / big(SCALE)
}

pub(super) fn gaussian_value(s: &Big, y: Observation) -> Big {
    let e = residual(s, y, SCALE);
    &e * &e / big(2.0)
}

/// With scale 1.
pub(super) fn unit_noise(a: &Big, b: &Big, y: Observation) -> Big {
    let (a, b) = (residual(a, y, 1.0), residual(b, y, 1.0));
    mean_sigmoid(&a, &b) - mean_sigmoid(&-a.clone(), &-b.clone())
}

pub(super) fn unit_noise_value(s: &Big, y: Observation) -> Big {
    noise_at(residual(s, y, 1.0))
}

pub(super) fn logistic_noise(a: &Big, b: &Big, y: Observation) -> Big {
    let (a, b) = (residual(a, y, SCALE), residual(b, y, SCALE));
    (mean_sigmoid(&a, &b) - mean_sigmoid(&-a.clone(), &-b.clone())) / big(SCALE)
}

pub(super) fn logistic_noise_value(s: &Big, y: Observation) -> Big {
    noise_at(residual(s, y, SCALE))
}

fn noise_at(e: Big) -> Big {
    let size = if e < big(0.0) { -e } else { e };
    big(2.0) * log_1p(&(-size.clone()).exp()) + size
}

/// e between −δ and δ.
fn clamp(e: &Big) -> Big {
    let delta = big(DELTA);
    if *e > delta {
        delta
    } else if *e < -delta.clone() {
        -delta
    } else {
        e.clone()
    }
}

fn loss(e: &Big) -> Big {
    let inside = clamp(e);
    e * &inside - &inside * &inside / big(2.0)
}

pub(super) fn huber(a: &Big, b: &Big, y: Observation) -> Big {
    let (a, b) = (residual(a, y, SCALE), residual(b, y, SCALE));
    let mean = if a == b { clamp(&a) } else { (loss(&b) - loss(&a)) / (b - a) };
    mean / big(SCALE)
}

pub(super) fn huber_value(s: &Big, y: Observation) -> Big {
    loss(&residual(s, y, SCALE))
}

/// The size of negative binomial counts and the shape of gamma responses.
pub(super) const SIZE: f64 = 2.5;

/// The predictor and the counts of the logistic model that negative binomial counts are.
fn as_binomial(s: &Big, y: Observation) -> (Big, Observation) {
    (s - big(SIZE).ln(), Observation { response: y.response, trials: y.response + SIZE })
}

pub(super) fn negative_binomial(a: &Big, b: &Big, y: Observation) -> Big {
    let ((a, counts), (b, _)) = (as_binomial(a, y), as_binomial(b, y));
    logistic(&a, &b, counts)
}

pub(super) fn negative_binomial_value(s: &Big, y: Observation) -> Big {
    let (x, counts) = as_binomial(s, y);
    logistic_value(&x, counts)
}

/// The mean of e^x between a and b.
fn mean_exponential(a: &Big, b: &Big) -> Big {
    if a == b { a.clone().exp() } else { (b.clone().exp() - a.clone().exp()) / (b - a) }
}

pub(super) fn gamma(a: &Big, b: &Big, y: Observation) -> Big {
    let mean = mean_exponential(&-a.clone(), &-b.clone());
    big(SIZE) * (big(1.0) - big(y.response) * mean)
}

pub(super) fn gamma_value(s: &Big, y: Observation) -> Big {
    let q = big(y.response) * (-s.clone()).exp();
    big(SIZE) * (q - big(1.0) - (big(y.response).ln() - s))
}

/// The ends of an interval of times as z = log t − s, if it has them, of shape 1.
fn ends(s: &Big, y: Observation) -> [Option<Big>; 2] {
    [y.response, y.trials].map(|time| (time > 0.0 && time.is_finite()).then(|| big(time).ln() - s))
}

/// −log(1 − e^-x), and −x/(e^x − 1), its derivative in log x.
fn shortfall(x: &Big) -> [Big; 2] {
    let one = big(1.0);
    if *x < big(1e-24) {
        let series = &one - x / big(2.0) + x * x / big(6.0);
        [-(x.clone().ln() + series.ln()), -(one / (big(1.0) + x / big(2.0) + x * x / big(6.0)))]
    } else if *x > big(1e4) {
        [big(0.0), big(0.0)]
    } else {
        let q = (-x.clone()).exp();
        let log = if q < big(1e-24) { &q + &q * &q / big(2.0) } else { -(&one - &q).ln() };
        let slope = -(x * &q) / (&one - &q);
        [log, slope]
    }
}

/// u(b) − u(a) over b − a, or u′.
fn quotient(
    a: &Big, b: &Big, y: Observation, value: Value, slope: impl Fn(&Big, Observation) -> Big,
) -> Big {
    if a == b { slope(a, y) } else { (value(b, y) - value(a, y)) / (b - a) }
}

pub(super) fn weibull(a: &Big, b: &Big, y: Observation) -> Big {
    quotient(a, b, y, weibull_value, |s, y| {
        let exp = |z: Big| z.exp();
        let one = big(1.0);
        -match ends(s, y) {
            [Some(z), Some(_)] if y.response == y.trials => exp(z) - one,
            [Some(z), None] => exp(z),
            [None, Some(z)] => shortfall(&exp(z))[1].clone(),
            [Some(low), Some(high)] => {
                let (low, high) = (exp(low), exp(high));
                &low + &shortfall(&(&high - &low))[1]
            }
            [None, None] => big(0.0),
        }
    })
}

pub(super) fn weibull_value(s: &Big, y: Observation) -> Big {
    match ends(s, y) {
        [Some(z), Some(_)] if y.response == y.trials => z.clone().exp() - z,
        [Some(z), None] => z.exp(),
        [None, Some(z)] => shortfall(&z.exp())[0].clone(),
        [Some(low), Some(high)] => {
            let (low, high) = (low.exp(), high.exp());
            &low + &shortfall(&(&high - &low))[0]
        }
        [None, None] => big(0.0),
    }
}

pub(super) fn log_logistic(a: &Big, b: &Big, y: Observation) -> Big {
    // Means in s are means in z, and z falls as s rises.
    let above = |a: &Option<Big>, b: &Option<Big>| match (a, b) {
        (Some(a), Some(b)) => mean_sigmoid(a, b),
        _ => big(0.0),
    };
    let below = |a: &Option<Big>, b: &Option<Big>| match (a, b) {
        (Some(a), Some(b)) => mean_sigmoid(&-a.clone(), &-b.clone()),
        _ => big(0.0),
    };
    let ([low_a, high_a], [low_b, high_b]) = (ends(a, y), ends(b, y));
    below(&high_a, &high_b) - above(&low_a, &low_b)
}

pub(super) fn log_logistic_value(s: &Big, y: Observation) -> Big {
    let softplus = |z: &Big| {
        if *z > big(0.0) { z + log_1p(&(-z.clone()).exp()) } else { log_1p(&z.clone().exp()) }
    };
    let [low, high] = ends(s, y);
    let mut sum = big(0.0);
    if let Some(low) = &low {
        sum += softplus(low);
    }
    if let Some(high) = &high {
        sum += softplus(&-high.clone());
    }
    if y.response > 0.0 && y.trials.is_finite() && y.response < y.trials {
        sum -= (big(1.0) - big(y.response) / big(y.trials)).ln();
    }
    sum
}

pub(super) fn log_normal(a: &Big, b: &Big, y: Observation) -> Big {
    let ([low_a, high_a], [low_b, high_b]) = (ends(a, y), ends(b, y));
    match (low_a, low_b, high_a, high_b) {
        (Some(a), Some(b), Some(_), Some(_)) => -(a + b) / big(2.0),
        (Some(a), Some(b), None, None) => -mean_inverse_mills(&-a, &-b),
        (_, _, Some(a), Some(b)) => mean_inverse_mills(&a, &b),
        _ => big(0.0),
    }
}

pub(super) fn log_normal_value(s: &Big, y: Observation) -> Big {
    let [low, high] = ends(s, y);
    match (low, high) {
        (Some(z), Some(_)) => &z * &z / big(2.0) - DENSITY_AT_ZERO.with(|x| x.clone().ln()),
        (Some(z), None) => probit_value(&z, Observation::of(0.0)),
        (None, Some(z)) => probit_value(&z, Observation::of(1.0)),
        (None, None) => big(0.0),
    }
}

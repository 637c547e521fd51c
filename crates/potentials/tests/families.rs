//! Families against 50 digits: the mean of u′ over a hundred thousand random segments each, and u, u′ and u″ beside it.
//!
//! The oracle evaluates each mean from the definitions with 240 bits, which leaves 50 digits after the worst cancellation. Errors
//! are counted in units in the last place of the exact value, or of the larger term where the value is itself a difference that can
//! vanish (a count minus its expectation, a residual).

use dashu_float::FBig;
use dashu_float::round::mode::HalfEven;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{
    CurvatureBounds, Family, Gaussian, Huber, Logistic, LogisticNoise, Observation, Poisson, Probit,
};

type Big = FBig<HalfEven, 2>;

const BITS: usize = 240;
const SEGMENTS: usize = 100_000;

fn big(x: f64) -> Big {
    Big::try_from(x).unwrap().with_precision(BITS).value()
}

fn double(x: &Big) -> f64 {
    x.to_f64().value()
}

/// The distance between a double and the exact value, in units in the last place of a number of the size of `of`.
fn ulps(computed: f64, exact: &Big, of: f64) -> f64 {
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

/// Mills's ratio (1 − Φ(v))/φ(v) for v >= 4 by its continued fraction, which gains exp(2v √(2n)) in n terms.
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
        return if *a > far { density(a) / (big(1.0) - upper_tail(a)) } else { density(a) / cdf(a) };
    }
    let (left, right) = (big(-4.0), far);
    if *a > right && *b > right {
        (log_cdf_far_right(b) - log_cdf_far_right(a)) / (b - a)
    } else if *a < left && *b < left {
        -(a + b) / big(2.0) + (mills(&-b.clone()) / mills(&-a.clone())).ln() / (b - a)
    } else {
        let log = |x: &Big| if *x > right { log_cdf_far_right(x) } else { cdf(x).ln() };
        if *a > right || *b > right { (log(b) - log(a)) / (b - a) } else { (cdf(b) / cdf(a)).ln() / (b - a) }
    }
}

/// The mean slope between two points, exactly, for the families and scales used here.
type Exact = fn(&Big, &Big, Observation) -> Big;

fn logistic(a: &Big, b: &Big, y: Observation) -> Big {
    binomial_mean(a, b, y, mean_sigmoid)
}

fn probit(a: &Big, b: &Big, y: Observation) -> Big {
    binomial_mean(a, b, y, |a, b| mean_inverse_mills(&-a.clone(), &-b.clone()))
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

fn poisson(a: &Big, b: &Big, y: Observation) -> Big {
    let mean = if a == b { a.clone().exp() } else { (b.clone().exp() - a.clone().exp()) / (b - a) };
    mean - big(y.response)
}

fn gaussian(a: &Big, b: &Big, y: Observation) -> Big {
    ((a + b) / big(2.0) - big(y.response)) / (big(0.7) * big(0.7))
}

fn logistic_noise(a: &Big, b: &Big, y: Observation) -> Big {
    let (a, b) = (a - big(y.response), b - big(y.response));
    mean_sigmoid(&a, &b) - mean_sigmoid(&-a.clone(), &-b.clone())
}

fn huber(a: &Big, b: &Big, y: Observation) -> Big {
    let delta = big(1.345);
    let (a, b) = (a - big(y.response), b - big(y.response));
    let clamp = |e: &Big| {
        if *e > delta {
            delta.clone()
        } else if *e < -delta.clone() {
            -delta.clone()
        } else {
            e.clone()
        }
    };
    let loss = |e: &Big| {
        let inside = clamp(e);
        e * &inside - &inside * &inside / big(2.0)
    };
    if a == b { clamp(&a) } else { (loss(&b) - loss(&a)) / (b - a) }
}

/// A hundred thousand segments: positions over [-1000, 1000], more of them near 0; lengths from 1e-12 to 1000 and 0, both ways; ends
/// that nearly meet 0.
fn segments(seed: u64) -> impl Iterator<Item = (f64, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = move |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    (0..SEGMENTS).map(move |i| {
        let s = if i % 2 == 0 { uniform(-1e3, 1e3) } else { uniform(-3.0, 3.0).powi(3) };
        let length = if i % 50 == 7 { 0.0 } else { 10f64.powf(uniform(-12.0, 3.0)) };
        let t = if i % 10 == 3 { -s * (1.0 + uniform(-0.1, 0.1)) } else { length };
        (s, if uniform(-1.0, 1.0) < 0.0 { -t } else { t })
    })
}

/// Mean slopes over the segments, one after the other.
fn one_by_one(
    seed: u64,
    observation: impl Fn(usize) -> Observation,
    mean: impl Fn(f64, f64, Observation) -> f64,
) -> Vec<f64> {
    segments(seed).enumerate().map(|(i, (s, t))| mean(s, t, observation(i))).collect()
}

/// The same, all at once.
fn together(seed: u64, observation: impl Fn(usize) -> Observation, family: &dyn Family) -> Vec<f64> {
    let (s, t): (Vec<f64>, Vec<f64>) = segments(seed).unzip();
    let y: Vec<Observation> = (0..SEGMENTS).map(observation).collect();
    let mut slopes = vec![f64::NAN; SEGMENTS];
    family.mean_slopes(&s, &t, &y, &mut slopes);
    slopes
}

/// For each list of mean slopes over the segments the largest error, in units in the last place of the exact mean or of `term`, and
/// where.
fn largest_errors<const N: usize>(
    exact: Exact,
    seed: u64,
    observation: impl Fn(usize) -> Observation,
    term: impl Fn(f64, Observation) -> f64,
    lists: [Vec<f64>; N],
) -> [(f64, f64, f64); N] {
    let mut worst = [(0.0, 0.0, 0.0); N];
    for (i, (s, t)) in segments(seed).enumerate() {
        let y = observation(i);
        let value = exact(&big(s), &(big(s) + big(t)), y);
        let size = double(&value);
        for (worst, list) in worst.iter_mut().zip(&lists) {
            let computed = list[i];
            // Poisson's slope e^x leaves the range of doubles; then its mean may, and must not be anything but infinite.
            if !(size.is_finite() && computed.is_finite()) {
                assert!(s.max(s + t) > 709.0 && computed == f64::INFINITY, "s = {s}, t = {t}: {computed}");
                continue;
            }
            let error = ulps(computed, &value, size.abs().max(term(size, y)));
            if !(error <= worst.0) {
                *worst = (error, s, t);
            }
        }
    }
    worst
}

/// Both ways to compute a family's mean slopes, with one evaluation of the oracle.
fn check(
    family: &dyn Family,
    exact: Exact,
    seed: u64,
    observation: impl Fn(usize) -> Observation,
    term: impl Fn(f64, Observation) -> f64,
    limit: f64,
) {
    let lists = [
        one_by_one(seed, &observation, |s, t, y| family.mean_slope(s, t, y)),
        together(seed, &observation, family),
    ];
    let worst = largest_errors(exact, seed, observation, term, lists);
    println!("{}, one by one and together, ulp, s, t: {worst:?}", family.name());
    assert!(worst[0].0 < limit && worst[1].0 < limit, "{worst:?}");
}

/// 0 and 1 in turn, and every fifth a count out of trials.
fn binomial(i: usize) -> Observation {
    if i % 5 == 4 {
        Observation { response: (i % 7) as f64, trials: 9.0 }
    } else {
        Observation::of((i % 2) as f64)
    }
}

/// Counts out of trials are differences of two terms of up to the number of trials; single trials are not.
fn binomial_term(_: f64, y: Observation) -> f64 {
    if y.response > 0.0 && y.response < y.trials { y.trials } else { 0.0 }
}

#[test]
fn logistic_means_are_good_to_a_few_ulps() {
    check(&Logistic, logistic, 1, binomial, binomial_term, 8.0);
}

#[test]
fn probit_means_are_good_to_a_few_ulps() {
    let term = |size: f64, y: Observation| {
        if binomial_term(size, y) > 0.0 { 9.0 * size.abs().max(1.0) } else { 0.0 }
    };
    check(&Probit, probit, 2, binomial, term, 12.0);
}

#[test]
fn poisson_means_are_good_to_a_few_ulps() {
    let count = |i: usize| Observation::of(((i * i) % 13) as f64);
    check(&Poisson, poisson, 3, count, |_, y| y.response, 6.0);
}

#[test]
fn gaussian_means_are_good_to_a_few_ulps() {
    let real = |i: usize| Observation::of((i % 17) as f64 - 8.3);
    // A residual s + t/2 − y of numbers up to 1000 and 0.7 scales.
    check(&Gaussian::new(0.7).unwrap(), gaussian, 4, real, |_, _| 2e3, 4.0);
}

#[test]
fn logistic_noise_means_are_good_to_a_few_ulps() {
    let family = LogisticNoise::new(1.0).unwrap();
    check(&family, logistic_noise, 5, |_| Observation::of(0.0), |_, _| 0.0, 8.0);
}

#[test]
fn huber_means_are_good_to_a_few_ulps() {
    let family = Huber::new(1.0, 1.345).unwrap();
    check(&family, huber, 6, |_| Observation::of(0.0), |_, _| 1.345, 6.0);
}

type Responses = fn(usize) -> Observation;

/// The families whose lists are computed in vector instructions, with responses for each.
fn vectorised() -> [(Box<dyn Family>, Responses); 4] {
    [
        (Box::new(Logistic), binomial),
        (Box::new(Probit), binomial),
        (Box::new(Poisson), |i| Observation::of((i % 4) as f64)),
        (Box::new(LogisticNoise::new(0.7).unwrap()), |i| Observation::of((i % 9) as f64 / 8.0 - 0.5)),
    ]
}

#[test]
fn a_slope_among_others_is_the_slope_alone_to_the_last_bit() {
    let odd = [0.0, -0.0, 1e-310, 299.9, 300.1, -750.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY];
    let pairs = odd.iter().flat_map(|&s| odd.iter().map(move |&t| (s, t)));
    let (s, t): (Vec<f64>, Vec<f64>) = pairs.chain(segments(7).take(400)).unzip();
    for (family, observation) in vectorised() {
        let y: Vec<Observation> = (0..s.len()).map(observation).collect();
        let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let mut alone = vec![[0.0; 2]; s.len()];
        for i in 0..s.len() {
            let [mean, slope] = &mut alone[i];
            family.mean_slopes(&s[i..=i], &t[i..=i], &y[i..=i], std::slice::from_mut(mean));
            family.slopes(&s[i..=i], &y[i..=i], std::slice::from_mut(slope));
        }
        for length in (1..=20).chain([31, 32, 33, 64, 97]) {
            for first in 0..s.len() - length {
                let range = first..first + length;
                let mut slopes = vec![0.0; length];
                family.mean_slopes(&s[range.clone()], &t[range.clone()], &y[range.clone()], &mut slopes);
                let expected: Vec<f64> = alone[range.clone()].iter().map(|pair| pair[0]).collect();
                assert_eq!(bits(&slopes), bits(&expected), "{} from {first}, {length}", family.name());
                family.slopes(&s[range.clone()], &y[range.clone()], &mut slopes);
                let expected: Vec<f64> = alone[range].iter().map(|pair| pair[1]).collect();
                assert_eq!(bits(&slopes), bits(&expected), "{} from {first}, {length}", family.name());
            }
        }
    }
}

#[test]
fn slopes_of_lists_agree_with_slopes_one_by_one() {
    for (family, observation) in vectorised() {
        let (s, t): (Vec<f64>, Vec<f64>) = segments(8).unzip();
        let y: Vec<Observation> = (0..SEGMENTS).map(observation).collect();
        let (mut means, mut slopes) = (vec![0.0; SEGMENTS], vec![0.0; SEGMENTS]);
        family.mean_slopes(&s, &t, &y, &mut means);
        family.slopes(&s, &y, &mut slopes);
        for i in 0..SEGMENTS {
            // Differences from a count are rounded beside it; everything else must agree beside itself.
            let size = match family.name() {
                "poisson" => y[i].response,
                _ if y[i].trials > 1.0 => y[i].trials,
                _ => 0.0,
            };
            for (listed, alone) in
                [(means[i], family.mean_slope(s[i], t[i], y[i])), (slopes[i], family.slope(s[i], y[i]))]
            {
                let unit = f64::EPSILON * alone.abs().max(size);
                let same = listed == alone || (listed - alone).abs() <= 16.0 * unit;
                assert!(same, "{}: {listed} and {alone} at {}, {}", family.name(), s[i], t[i]);
            }
        }
    }
}

#[test]
fn a_naive_difference_of_softplus_fails_the_same_test() {
    let naive_softplus = |x: f64| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() };
    let naive = |s: f64, t: f64, y: Observation| {
        let slope = (naive_softplus(s + t) - naive_softplus(s)) / t;
        if t == 0.0 { Logistic.slope(s, y) } else { y.trials * slope - y.response }
    };
    let list = one_by_one(1, binomial, naive);
    assert!(largest_errors(logistic, 1, binomial, binomial_term, [list])[0].0 > 1e6);
    // Nor is log1p(sigmoid(s) expm1(t))/t without its switch good for long segments: on real data it gave −∞.
    assert!(!((Logistic.slope(40.0, Observation::of(0.0)) * (-60f64).exp_m1()).ln_1p() / -60.0).is_finite());
    assert!(Logistic.mean_slope(40.0, -60.0, Observation::of(0.0)).is_finite());
}

#[test]
fn slope_and_curvature_agree_with_the_oracle_and_value_with_its_slope() {
    let families: [(&dyn Family, Exact, f64); 6] = [
        (&Logistic, logistic, 1.0),
        (&Probit, probit, 1.0),
        (&Poisson, poisson, 1.0),
        (&Gaussian::new(0.7).unwrap(), gaussian, 1.5),
        (&LogisticNoise::new(1.0).unwrap(), logistic_noise, 0.4),
        (&Huber::new(1.0, 1.345).unwrap(), huber, 0.4),
    ];
    for (family, exact, response) in families {
        let y = Observation::of(response);
        let name = family.name();
        assert_eq!(family.objection(y), None);
        for s in [-40.0, -9.0, -3.1, -0.7, -1e-3, 0.1, 0.9, 2.7, 9.5, 33.0] {
            let slope = exact(&big(s), &big(s), y);
            let size = double(&slope).abs().max(if name == "poisson" { 1.0 } else { 0.0 });
            assert!(ulps(family.slope(s, y), &slope, size) < 10.0, "{name} u'({s})");
            let h = big(1e-22);
            let around = [big(s) - &h, big(s) + &h].map(|x| exact(&x, &x, y));
            let curvature = (&around[1] - &around[0]) / (big(2.0) * &h);
            assert!(ulps(family.curvature(s, y), &curvature, double(&curvature)) < 100.0, "{name} u''({s})");
            // u itself: over a long segment its difference must be the mean slope times the length.
            let far = s + 3.0;
            let rise = double(&(exact(&big(s), &big(far), y) * big(3.0)));
            let values = [family.value(s, y), family.value(far, y)];
            let rounding = 1e-14 * (values[0].abs() + values[1].abs());
            assert!((values[1] - values[0] - rise).abs() <= rounding, "{name} u({s}): {values:?} for {rise}");
            let CurvatureBounds { lower, upper } = family.curvature_bounds(y);
            assert!(family.curvature(s, y) >= lower);
            assert!(
                upper.is_none_or(|upper| family.curvature(s, y) <= upper * (1.0 + 1e-15)),
                "{name} u''({s})"
            );
        }
    }
    // Constants count too: a probability of one half costs log 2, and a count of 4 where 1 is expected 1 + log 24.
    for family in [&Logistic as &dyn Family, &Probit] {
        assert!((family.value(0.0, Observation::of(1.0)) - std::f64::consts::LN_2).abs() < 1e-15);
    }
    assert!((Poisson.value(0.0, Observation::of(4.0)) - 1.0 - 24f64.ln()).abs() < 1e-14);
}

#[test]
fn responses_outside_the_range_are_objected_to() {
    let y = |response, trials| Observation { response, trials };
    for bad in [y(2.0, 1.0), y(0.5, 1.0), y(-1.0, 1.0), y(f64::NAN, 1.0), y(f64::INFINITY, 1.0)] {
        assert_eq!(Logistic.objection(bad), Some("0 or 1"), "{bad:?}");
        assert_eq!(Probit.objection(bad), Some("0 or 1"), "{bad:?}");
    }
    assert_eq!(Logistic.objection(y(4.0, 3.0)), Some("no more successes than trials"));
    assert_eq!(Logistic.objection(y(1.0, 0.0)), Some("a whole number of trials of at least 1"));
    assert_eq!(Logistic.objection(y(3.0, 3.0)), None);
    for bad in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert_eq!(Poisson.objection(Observation::of(bad)), Some("a whole number of at least 0"));
    }
    assert_eq!(Gaussian::new(1.0).unwrap().objection(Observation::of(f64::NAN)), Some("a finite number"));
    assert_eq!(
        Gaussian::new(1.0).unwrap().objection(y(0.5, 2.0)),
        Some("1, because this family has no trials")
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Gaussian::new(bad).is_err() && LogisticNoise::new(bad).is_err());
        assert!(Huber::new(bad, 1.0).is_err() && Huber::new(1.0, bad).is_err());
    }
    assert_eq!(
        Gaussian::new(-2.0).unwrap_err().to_string(),
        "noise scale = -2: need a positive, finite number"
    );
}

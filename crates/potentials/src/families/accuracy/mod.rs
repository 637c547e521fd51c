//! Families against 50 digits: means of u′ over random segments, and u and u′ at the points where
//! some of them begin, one by one, in lists as this machine computes them, and in lists without
//! fused multiply-add.
//!
//! Errors are counted in units in the last place of the exact value, or of the larger term where
//! the value is itself a difference that can vanish (a count minus its expectation, a residual).

mod oracle;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_figures::{Figures, Near, writing};

use self::oracle::{Big, big, double, ulps};
use super::{
    CurvatureBounds, Family, Gamma, Gaussian, Huber, Logistic, LogisticNoise, NegativeBinomial,
    Observation, Poisson, Probit, Survival, SurvivalKind,
};
use crate::elementary::without_fused;

/// Segments, and at how many of their first points u and u′ are looked at: a minute's work, and
/// more of the same for docs/results.
fn counts() -> [usize; 2] {
    if writing() { [100_000, 20_000] } else { [30_000, 10_000] }
}

/// Segments: positions over [-1000, 1000], more of them near 0; lengths from 1e-12 to 1000 and 0,
/// both ways; ends that nearly meet 0.
fn segments(seed: u64) -> impl Iterator<Item = (f64, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = move |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    (0..counts()[0]).map(move |i| {
        let s = if i % 2 == 0 { uniform(-1e3, 1e3) } else { uniform(-3.0, 3.0).powi(3) };
        let length = if i % 50 == 7 { 0.0 } else { 10f64.powf(uniform(-12.0, 3.0)) };
        let t = if i % 10 == 3 { -s * (1.0 + uniform(-0.1, 0.1)) } else { length };
        (s, if uniform(-1.0, 1.0) < 0.0 { -t } else { t })
    })
}

/// A family, what it should give, and how far it may be off.
struct Case<'a> {
    family: &'a dyn Family,
    mean: oracle::Mean,
    value: oracle::Value,
    observation: fn(usize) -> Observation,
    /// The larger term of a slope or mean slope that is a difference; 0 for one that is not.
    term: fn(f64, f64, Observation) -> f64,
    /// The larger term of a value, likewise.
    value_term: fn(f64, Observation) -> f64,
    seed: u64,
    /// For means, slopes and values.
    limits: [f64; 3],
}

/// The three ways, in the order of the errors that are reported.
const WAYS: [&str; 3] = ["one by one", "in a list", "in a list without fused multiply-add"];

/// The largest errors of means, slopes and values, in each of the ways.
type Worst = [[f64; 3]; 3];

impl Case<'_> {
    /// With the figures of the test of this name.
    fn check(&self, test: &str) {
        self.keep(self.errors(), test);
    }

    fn keep(&self, worst: Worst, test: &str) {
        let [segments, points] = counts().map(|count| count as f64);
        let mut figures = Figures::of("potentials", &format!("{}::{test}", file!()));
        for (errors, what) in worst.iter().zip(["mean slope", "slope", "value"]) {
            for (error, way) in errors.iter().zip(WAYS) {
                figures.add(self.family.name(), &format!("{what} {way}"), *error);
            }
        }
        // Of those in the file a third and a half are looked at where nothing is written.
        figures.add(self.family.name(), "segments", segments);
        figures.add(self.family.name(), "points", points);
        figures.hold(Near::Rounding);
    }

    fn errors(&self) -> Worst {
        let [all, some] = counts();
        let (s, t): (Vec<f64>, Vec<f64>) = segments(self.seed).unzip();
        let y: Vec<Observation> = (0..all).map(self.observation).collect();
        let (family, points) = (self.family, ..some);
        let means = three_ways(
            |i| family.mean_slope(s[i], t[i], y[i]),
            |means| family.mean_slopes(&s, &t, &y, means),
            all,
        );
        let means = self.compare("means", self.limits[0], means, |i| {
            let exact = (self.mean)(&big(s[i]), &(big(s[i]) + big(t[i])), y[i]);
            (exact, (self.term)(s[i], t[i], y[i]))
        });
        let slopes = three_ways(
            |i| family.slope(s[i], y[i]),
            |slopes| family.slopes(&s[points], &y[points], slopes),
            some,
        );
        let slopes = self.compare("slopes", self.limits[1], slopes, |i| {
            ((self.mean)(&big(s[i]), &big(s[i]), y[i]), (self.term)(s[i], 0.0, y[i]))
        });
        let values = three_ways(
            |i| family.value(s[i], y[i]),
            |values| family.values(&s[points], &y[points], values),
            some,
        );
        let values = self.compare("values", self.limits[2], values, |i| {
            ((self.value)(&big(s[i]), y[i]), (self.value_term)(s[i], y[i]))
        });
        [means, slopes, values]
    }

    /// Each way's results against the exact ones; a planted error must be found. The largest errors.
    fn compare(
        &self, what: &str, limit: f64, ways: [Vec<f64>; 3], exact: impl Fn(usize) -> (Big, f64),
    ) -> [f64; 3] {
        let mut worst = [(0.0, 0); 3];
        let mut planted = [0_f64; 3];
        for i in 0..ways[0].len() {
            let (exact, term) = exact(i);
            let size = double(&exact);
            for (way, list) in ways.iter().enumerate() {
                // Exponentials leave the range of doubles; then their means may, and must not be
                // anything but infinite.
                if !(size.is_finite() && list[i].is_finite()) {
                    let infinite = f64::INFINITY.copysign(size);
                    assert!(!(size.abs() < 1e300) && list[i] == infinite, "{}, {i}", list[i]);
                    continue;
                }
                let error = ulps(list[i], &exact, size.abs().max(term));
                if !(error <= worst[way].0) {
                    worst[way] = (error, i);
                }
                let wrong = list[i] * (1.0 + 2.0 * limit * f64::EPSILON);
                planted[way] = planted[way].max(ulps(wrong, &exact, size.abs().max(term)));
            }
        }
        let name = self.family.name();
        println!("{name}, {what}, ulp: {:.1?}", worst.map(|(error, _)| error));
        for ((way, (error, i)), planted) in WAYS.iter().zip(worst).zip(planted) {
            let (s, t) = segments(self.seed).nth(i).unwrap();
            assert!(
                error < limit,
                "{name}, {what} {way}: {error} ulp at {s}, {t}, {:?}",
                (self.observation)(i)
            );
            assert!(planted > limit, "{name}, {what} {way}: an error of {limit} ulp is not found");
        }
        worst.map(|(error, _)| error)
    }
}

/// So many results in the three ways.
fn three_ways(
    one: impl Fn(usize) -> f64, list: impl Fn(&mut [f64]), count: usize,
) -> [Vec<f64>; 3] {
    let (mut fused, mut plain) = (vec![f64::NAN; count], vec![f64::NAN; count]);
    list(&mut fused);
    without_fused(|| list(&mut plain));
    [(0..count).map(one).collect(), fused, plain]
}

fn no_term(_: f64, _: f64, _: Observation) -> f64 {
    0.0
}

fn no_value_term(_: f64, _: Observation) -> f64 {
    0.0
}

/// 0 and 1 in turn, and every fifth a count out of trials.
fn binomial(i: usize) -> Observation {
    if i % 5 == 4 {
        Observation { response: (i % 7) as f64, trials: 9.0 }
    } else {
        Observation::of((i % 2) as f64)
    }
}

/// Counts out of trials are differences of two terms; single trials are not.
fn mixed(y: Observation) -> bool {
    y.response > 0.0 && y.response < y.trials
}

/// Responses that are not round beside predictors.
fn real(i: usize) -> Observation {
    Observation::of((i % 17) as f64 / 8.0 - 0.93)
}

/// The terms of a residual, up to the scale.
fn residual(s: f64, t: f64, y: Observation) -> f64 {
    if t == 0.0 { 0.0 } else { ((s - y.response).abs() + 0.5 * t.abs()) / oracle::SCALE }
}

#[test]
fn logistic_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Logistic,
        mean: oracle::logistic,
        value: oracle::logistic_value,
        observation: binomial,
        term: |_, _, y| if mixed(y) { y.trials } else { 0.0 },
        value_term: no_value_term,
        seed: 1,
        limits: [8.0, 6.0, 8.0],
    };
    case.check("logistic_is_good_to_a_few_ulps");
}

#[test]
fn probit_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Probit,
        mean: oracle::probit,
        value: oracle::probit_value,
        observation: binomial,
        // Of the order of the larger of the two inverse Mills ratios, each about |x| on its side.
        term: |s, t, y| if mixed(y) { y.trials * (s + 0.5 * t).abs().max(1.0) } else { 0.0 },
        value_term: no_value_term,
        seed: 2,
        limits: [12.0, 12.0, 12.0],
    };
    case.check("probit_is_good_to_a_few_ulps");
}

#[test]
fn poisson_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Poisson,
        mean: oracle::poisson,
        value: oracle::poisson_value,
        observation: |i| Observation::of(if i % 11 == 5 { 300.0 } else { ((i * i) % 13) as f64 }),
        term: |_, _, y| y.response,
        value_term: |s, y| s.exp().max((y.response * s).abs()).max(libm::lgamma(y.response + 1.0)),
        seed: 3,
        limits: [6.0, 6.0, 6.0],
    };
    case.check("poisson_is_good_to_a_few_ulps");
}

#[test]
fn gaussian_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Gaussian::new(oracle::SCALE).unwrap(),
        mean: oracle::gaussian,
        value: oracle::gaussian_value,
        observation: real,
        term: |s, t, y| residual(s, t, y) / oracle::SCALE,
        value_term: no_value_term,
        seed: 4,
        limits: [6.0, 6.0, 6.0],
    };
    case.check("gaussian_is_good_to_a_few_ulps");
}

#[test]
fn logistic_noise_is_good_to_a_few_ulps() {
    // Residuals that are exact: then so is where they vanish.
    let case = Case {
        family: &LogisticNoise::new(1.0).unwrap(),
        mean: oracle::unit_noise,
        value: oracle::unit_noise_value,
        observation: |_| Observation::of(0.0),
        term: no_term,
        value_term: no_value_term,
        seed: 5,
        limits: [8.0, 8.0, 8.0],
    };
    let exact = case.errors();
    let case = Case {
        family: &LogisticNoise::new(oracle::SCALE).unwrap(),
        mean: oracle::logistic_noise,
        value: oracle::logistic_noise_value,
        observation: real,
        term: |s, t, y| residual(s, t, y).min(1.0) / oracle::SCALE,
        ..case
    };
    let rounded = case.errors();
    let worst =
        std::array::from_fn(|of| std::array::from_fn(|way| exact[of][way].max(rounded[of][way])));
    case.keep(worst, "logistic_noise_is_good_to_a_few_ulps");
}

#[test]
fn huber_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Huber::new(oracle::SCALE, oracle::DELTA).unwrap(),
        mean: oracle::huber,
        value: oracle::huber_value,
        observation: real,
        term: |s, t, y| residual(s, t, y).min(oracle::DELTA) / oracle::SCALE,
        value_term: no_value_term,
        seed: 6,
        limits: [6.0, 6.0, 6.0],
    };
    case.check("huber_is_good_to_a_few_ulps");
}

#[test]
fn negative_binomial_is_good_to_a_few_ulps() {
    /// The rounding of s − log r, relative to a slope or value that falls like e^s.
    fn shift(s: f64, t: f64) -> f64 {
        0.25 * (s.abs() + t.abs())
    }
    const NONE: Observation = Observation { response: 0.0, trials: 1.0 };
    let case = Case {
        family: &NegativeBinomial::new(oracle::SIZE).unwrap(),
        mean: oracle::negative_binomial,
        value: oracle::negative_binomial_value,
        observation: |i| Observation::of(if i % 3 == 1 { 0.0 } else { ((i * i) % 13) as f64 }),
        term: |s, t, y| {
            if y.response > 0.0 {
                y.response + oracle::SIZE
            } else {
                shift(s, t) * oracle::SIZE * Logistic.mean_slope(s - oracle::SIZE.ln(), t, NONE)
            }
        },
        value_term: |s, y| {
            if y.response > 0.0 {
                0.0
            } else {
                shift(s, 0.0) * oracle::SIZE * Logistic.value(s - oracle::SIZE.ln(), NONE)
            }
        },
        seed: 7,
        limits: [8.0, 8.0, 8.0],
    };
    case.check("negative_binomial_is_good_to_a_few_ulps");
}

#[test]
fn gamma_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Gamma::new(oracle::SIZE).unwrap(),
        mean: oracle::gamma,
        value: oracle::gamma_value,
        observation: |i| Observation::of(0.37 * ((i % 13) as f64 + 0.1)),
        term: |_, _, _| oracle::SIZE,
        value_term: |s, y| oracle::SIZE * (y.response * (-s).exp() - 1.0).abs().min(1e300),
        seed: 8,
        limits: [8.0, 8.0, 8.0],
    };
    case.check("gamma_is_good_to_a_few_ulps");
}

/// An event, a right-, a left- and, if asked for, an interval-censored time. Of all but the last, z
/// = −s is exact.
fn times(i: usize) -> Observation {
    match i % 4 {
        0 => Observation::between(1.0, 1.0),
        1 => Observation::between(1.0, f64::INFINITY),
        2 => Observation::between(0.0, 1.0),
        _ => Observation::between(1.0, 2.0),
    }
}

/// The slopes of events and intervals are differences of terms of the size of 1.
fn term_of_times(_: f64, _: f64, y: Observation) -> f64 {
    if y.response > 0.0 && y.trials.is_finite() { 1.0 } else { 0.0 }
}

/// x e^-x for x = e^-s, what the rounding of x does to e^-x; and not less than a number that has all
/// its digits.
fn rounded(s: f64) -> f64 {
    let x = (-s).exp().min(700.0);
    (x * (-x).exp() * x.max(1.0)).max(1e-290)
}

#[test]
fn weibull_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Survival::new(SurvivalKind::Weibull, 1.0).unwrap(),
        mean: oracle::weibull,
        value: oracle::weibull_value,
        observation: times,
        term: |s, t, y| {
            if y.response > 0.0 { term_of_times(s, t, y) } else { rounded(s.max(s + t)) }
        },
        value_term: |s, y| if y.response > 0.0 { 0.0 } else { rounded(s) },
        seed: 10,
        limits: [8.0, 8.0, 8.0],
    };
    case.check("weibull_is_good_to_a_few_ulps");
}

#[test]
fn log_logistic_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Survival::new(SurvivalKind::LogLogistic, 1.0).unwrap(),
        mean: oracle::log_logistic,
        value: oracle::log_logistic_value,
        observation: times,
        term: term_of_times,
        value_term: no_value_term,
        seed: 11,
        limits: [8.0, 8.0, 8.0],
    };
    case.check("log_logistic_is_good_to_a_few_ulps");
}

#[test]
fn log_normal_is_good_to_a_few_ulps() {
    let case = Case {
        family: &Survival::new(SurvivalKind::LogNormal, 1.0).unwrap(),
        mean: oracle::log_normal,
        value: oracle::log_normal_value,
        observation: |i| times(i % 3),
        term: |s, t, y| {
            if y.response == y.trials && t != 0.0 { s.abs() + 0.5 * t.abs() } else { 0.0 }
        },
        value_term: no_value_term,
        seed: 12,
        limits: [12.0, 12.0, 12.0],
    };
    case.check("log_normal_is_good_to_a_few_ulps");
}

#[test]
fn lists_without_fused_multiply_add_are_computed_without_it() {
    // Were both the same, the tests above would look at one way twice.
    let (s, t): (Vec<f64>, Vec<f64>) = segments(9).take(1000).unzip();
    let y = vec![Observation::of(1.0); s.len()];
    let ways = three_ways(|_| 0.0, |means| Logistic.mean_slopes(&s, &t, &y, means), s.len());
    assert!(matches!(pulp::Arch::new(), pulp::Arch::Scalar) || ways[1] != ways[2]);
}

#[test]
fn a_naive_difference_of_softplus_is_off_by_millions() {
    let naive_softplus = |x: f64| if x > 0.0 { x + (-x).exp().ln_1p() } else { x.exp().ln_1p() };
    let error = |(s, t): (f64, f64)| {
        let slope = (naive_softplus(s + t) - naive_softplus(s)) / t;
        let exact = oracle::logistic(&big(s), &(big(s) + big(t)), Observation::of(0.0));
        ulps(slope, &exact, double(&exact))
    };
    let worst = segments(1).take(10_000).filter(|(_, t)| *t != 0.0).map(error).fold(0.0, f64::max);
    assert!(worst > 1e6);
    // Nor is log1p(sigmoid(s) expm1(t))/t without its switch good for long segments: on real data
    // it gave −∞.
    assert!(
        !((Logistic.slope(40.0, Observation::of(0.0)) * (-60f64).exp_m1()).ln_1p() / -60.0)
            .is_finite()
    );
    assert!(Logistic.mean_slope(40.0, -60.0, Observation::of(0.0)).is_finite());
}

#[test]
fn slope_and_curvature_agree_with_the_oracle_and_value_with_its_slope() {
    let of = Observation::of;
    let unit = |kind| Survival::new(kind, 1.0).unwrap();
    let weibull = unit(SurvivalKind::Weibull);
    let (log_logistic, log_normal) =
        (unit(SurvivalKind::LogLogistic), unit(SurvivalKind::LogNormal));
    let gamma = Gamma::new(oracle::SIZE).unwrap();
    let negative_binomial = NegativeBinomial::new(oracle::SIZE).unwrap();
    let gaussian = Gaussian::new(oracle::SCALE).unwrap();
    let logistic_noise = LogisticNoise::new(oracle::SCALE).unwrap();
    let huber = Huber::new(oracle::SCALE, oracle::DELTA).unwrap();
    let mut families: Vec<(&dyn Family, oracle::Mean, Observation)> = vec![
        (&Logistic, oracle::logistic, of(1.0)),
        (&Probit, oracle::probit, of(1.0)),
        (&Poisson, oracle::poisson, of(1.0)),
        (&gaussian, oracle::gaussian, of(1.5)),
        (&logistic_noise, oracle::logistic_noise, of(0.4)),
        (&huber, oracle::huber, of(0.4)),
        (&negative_binomial, oracle::negative_binomial, of(3.0)),
        (&gamma, oracle::gamma, of(1.7)),
    ];
    for i in 0..4 {
        families.push((&weibull, oracle::weibull, times(i)));
        families.push((&log_logistic, oracle::log_logistic, times(i)));
        if i < 3 {
            families.push((&log_normal, oracle::log_normal, times(i)));
        }
    }
    // Slopes that are differences of terms of the size of 1 or more.
    let differences = ["poisson", "negative-binomial", "gamma", "weibull", "log-logistic"];
    for (family, exact, y) in families {
        let name = family.name();
        assert_eq!(family.objection(y), None);
        for s in [-40.0, -9.0, -3.1, -0.7, -1e-3, 0.1, 0.9, 2.7, 9.5, 33.0] {
            let slope = exact(&big(s), &big(s), y);
            let least = if differences.contains(&name) { 1.0 } else { 0.0 };
            let size = double(&slope).abs().max(least);
            assert!(ulps(family.slope(s, y), &slope, size) < 10.0, "{name} u'({s})");
            let h = big(1e-22);
            let around = [big(s) - &h, big(s) + &h].map(|x| exact(&x, &x, y));
            let curvature = (&around[1] - &around[0]) / (big(2.0) * &h);
            assert!(
                ulps(family.curvature(s, y), &curvature, double(&curvature)) < 100.0,
                "{name} u''({s}), {y:?}: {} for {}",
                family.curvature(s, y),
                double(&curvature)
            );
            // u itself: over a long segment its difference must be the mean slope times the length.
            let far = s + 3.0;
            let rise = double(&(exact(&big(s), &big(far), y) * big(3.0)));
            let values = [family.value(s, y), family.value(far, y)];
            // Of a probability of 1 − e^-400, the rounding of 400 leaves fewer digits.
            let rounding = 1e-14 * (values[0].abs() + values[1].abs()) + 1e-100;
            assert!(
                (values[1] - values[0] - rise).abs() <= rounding,
                "{name} u({s}): {values:?} for {rise}"
            );
            let CurvatureBounds { lower, upper } = family.curvature_bounds(y);
            assert!(family.curvature(s, y) >= lower);
            assert!(
                upper.is_none_or(|upper| family.curvature(s, y) <= upper * (1.0 + 1e-15)),
                "{name} u''({s})"
            );
        }
    }
    // Constants count too: a probability of one half costs log 2, and a count of 4 where 1 is
    // expected 1 + log 24.
    for family in [&Logistic as &dyn Family, &Probit] {
        assert!((family.value(0.0, Observation::of(1.0)) - std::f64::consts::LN_2).abs() < 1e-15);
    }
    assert!((Poisson.value(0.0, Observation::of(4.0)) - 1.0 - 24f64.ln()).abs() < 1e-14);
}

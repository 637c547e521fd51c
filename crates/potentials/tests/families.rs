//! Families in lists: results are independent of neighbouring rows, and NaN for NaN; and the
//! responses that are objected to.
//!
//! How accurate they are is tested beside the code, where lists can be computed as on machines
//! without fused multiply-add.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{
    Family, Gamma, Gaussian, Huber, Logistic, LogisticNoise, NegativeBinomial, Objection,
    Observation, Poisson, Probit, Survival, SurvivalKind,
};
use ridgewalk_potentials::likelihoods::{self, Block, Likelihood};
use ridgewalk_potentials::{Dense, Error, Prior, Ridge};

/// Segments from [-1000, 1000], more of them from near 0, of lengths from 1e-12 to 1000, both ways.
fn segments(seed: u64, count: usize) -> impl Iterator<Item = (f64, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut uniform = move |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    (0..count).map(move |i| {
        let s = if i % 4 == 0 { uniform(-1e3, 1e3) } else { uniform(-3.0, 3.0).powi(3) };
        let length = 10f64.powf(uniform(-12.0, if i % 3 == 0 { 3.0 } else { 0.5 }));
        (s, if uniform(-1.0, 1.0) < 0.0 { -length } else { length })
    })
}

/// 0 and 1 in turn, and every fifth a count out of trials.
fn binomial(i: usize) -> Observation {
    if i % 5 == 4 {
        Observation { response: (i % 7) as f64, trials: 9.0 }
    } else {
        Observation::of((i % 2) as f64)
    }
}

type Responses = fn(usize) -> Observation;

/// Every family, with responses for each.
fn families() -> [(Box<dyn Family>, Responses); 11] {
    let real = |i: usize| Observation::of((i % 9) as f64 / 8.0 - 0.5);
    [
        (Box::new(Logistic), binomial),
        (Box::new(Probit), binomial),
        (Box::new(Poisson), |i| Observation::of((i % 4) as f64)),
        (Box::new(Gaussian::new(0.7).unwrap()), real),
        (Box::new(LogisticNoise::new(0.7).unwrap()), real),
        (Box::new(Huber::new(0.7, 1.345).unwrap()), real),
        (Box::new(NegativeBinomial::new(2.5).unwrap()), |i| Observation::of((i % 4) as f64)),
        (Box::new(Gamma::new(2.5).unwrap()), |i| {
            Observation::of([0.3, 1.0, 1e-200, 2.7, 1e200][i % 5])
        }),
        (Box::new(Survival::new(SurvivalKind::Weibull, 1.7).unwrap()), times),
        (Box::new(Survival::new(SurvivalKind::LogLogistic, 1.7).unwrap()), times),
        (Box::new(Survival::new(SurvivalKind::LogNormal, 1.7).unwrap()), times),
    ]
}

/// Events, times censored on either side and on both, and one of which nothing is known.
fn times(i: usize) -> Observation {
    let infinity = f64::INFINITY;
    let (lower, upper) =
        [(0.7, 0.7), (2.0, infinity), (0.0, 0.3), (0.5, 0.6), (0.0, infinity)][i % 5];
    Observation::between(lower, upper)
}

#[test]
fn families_are_likelihoods_with_a_parameter_fixed() {
    let pairs: [(usize, Box<dyn Likelihood>, f64); 8] = [
        (3, Box::new(likelihoods::Normal), 0.7),
        (4, Box::new(likelihoods::LogisticNoise), 0.7),
        (5, Box::new(likelihoods::HuberNoise::new(1.345).unwrap()), 0.7),
        (6, Box::new(likelihoods::NegativeBinomial), 2.5),
        (7, Box::new(likelihoods::Gamma), 2.5),
        (8, Box::new(likelihoods::Survival::new(SurvivalKind::Weibull)), 1.7),
        (9, Box::new(likelihoods::Survival::new(SurvivalKind::LogLogistic)), 1.7),
        (10, Box::new(likelihoods::Survival::new(SurvivalKind::LogNormal)), 1.7),
    ];
    for (which, likelihood, parameter) in pairs {
        let (family, observation) = &families()[which];
        for i in 0..10 {
            let y = observation(i);
            if y.response > 1e100 || y.response > 0.0 && y.response < 1e-100 {
                continue;
            }
            assert_eq!(family.objection(y), likelihood.objection(y));
            let both = |s: f64| {
                let (mut slope, block) = ([0.0], Block { s: &[s], y: &[y], weights: &[] });
                let u = likelihood.evaluate(&[parameter.ln()], block, &mut slope, &mut [0.0]);
                ([u, slope[0]], [family.value(s, y), family.slope(s, y)])
            };
            let (at_zero, of_family) = both(0.0);
            let constant = at_zero[0] - of_family[0];
            for s in (-12..=12).map(|k| 0.7 * f64::from(k)) {
                let ([u, slope], [value, slope_of_family]) = both(s);
                let place = format!("{} at {s}, {y:?}", family.name());
                let size = 1.0 + u.abs() + value.abs();
                assert!((u - value - constant).abs() <= 1e-13 * size, "{place}: {u}, {value}");
                let size = 10.0 + slope.abs();
                assert!((slope - slope_of_family).abs() <= 1e-13 * size, "{place}: {slope}");
            }
        }
    }
}

#[test]
fn a_row_among_others_is_the_row_alone_to_the_last_bit() {
    let odd = [
        0.0,
        -0.0,
        1e-310,
        24.9,
        25.1,
        299.9,
        300.1,
        -750.0,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
    ];
    let pairs = odd.iter().flat_map(|&s| odd.iter().map(move |&t| (s, t)));
    let (s, t): (Vec<f64>, Vec<f64>) = pairs.chain(segments(7, 400)).unzip();
    for (family, observation) in families() {
        let y: Vec<Observation> = (0..s.len()).map(observation).collect();
        let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
        let lists = |range: std::ops::Range<usize>| {
            let (s, t, y) = (&s[range.clone()], &t[range.clone()], &y[range]);
            let mut lists = [(); 3].map(|()| vec![0.0; s.len()]);
            family.mean_slopes(s, t, y, &mut lists[0]);
            family.slopes(s, y, &mut lists[1]);
            family.values(s, y, &mut lists[2]);
            lists.map(|list| bits(&list))
        };
        let alone: Vec<[Vec<u64>; 3]> = (0..s.len()).map(|i| lists(i..i + 1)).collect();
        for length in (1..=20).chain([31, 32, 33, 64, 97]) {
            for first in 0..s.len() - length {
                let expected: [Vec<u64>; 3] = std::array::from_fn(|k| {
                    (first..first + length).map(|i| alone[i][k][0]).collect()
                });
                assert_eq!(
                    lists(first..first + length),
                    expected,
                    "{} from {first}, {length}",
                    family.name()
                );
            }
        }
    }
}

#[test]
fn lists_give_what_is_not_a_number_back() {
    for (family, observation) in families() {
        let name = family.name();
        for (s, t) in [
            (f64::NAN, 0.5),
            (0.5, f64::NAN),
            (f64::NAN, f64::NAN),
            (f64::INFINITY, f64::NEG_INFINITY),
        ] {
            for i in 0..5 {
                let y = [observation(i)];
                let mut found = [0.0];
                family.mean_slopes(&[s], &[t], &y, &mut found);
                assert!(found[0].is_nan(), "{name}: a mean of {found:?} at {s}, {t}");
                family.slopes(&[s], &y, &mut found);
                assert!(found[0].is_nan() || !s.is_nan(), "{name}: a slope of {found:?} at {s}");
                family.values(&[s], &y, &mut found);
                assert!(found[0].is_nan() || !s.is_nan(), "{name}: a value of {found:?} at {s}");
            }
        }
    }
}

#[test]
fn scales_of_which_the_inverse_has_no_digits_are_divided_by() {
    let y = [Observation::of(0.25); 3];
    for scale in [1e-200, 1e200, 3e-308, 1.5e308] {
        let families: [Box<dyn Family>; 3] = [
            Box::new(Gaussian::new(scale).unwrap()),
            Box::new(LogisticNoise::new(scale).unwrap()),
            Box::new(Huber::new(scale, 1.345).unwrap()),
        ];
        for family in families {
            let (s, t) = ([0.25, 0.5, -3.0], [0.0, 0.1, 2.0 * scale.min(1.0)]);
            let mut found = [0.0; 3];
            for (s, t, y) in s.iter().zip(&t).zip(&y).map(|((s, t), y)| (*s, *t, *y)) {
                let near = |found: f64, expected: f64| {
                    found == expected
                        || (found - expected).abs() <= 8.0 * f64::EPSILON * expected.abs()
                };
                family.mean_slopes(&[s], &[t], &[y], &mut found[..1]);
                family.slopes(&[s], &[y], &mut found[1..2]);
                family.values(&[s], &[y], &mut found[2..]);
                let alone = [family.mean_slope(s, t, y), family.slope(s, y), family.value(s, y)];
                let agree = found.iter().zip(&alone).all(|(found, alone)| near(*found, *alone));
                assert!(
                    agree,
                    "{} of scale {scale} at {s}, {t}: {found:?} and {alone:?}",
                    family.name()
                );
            }
        }
    }
}

#[test]
fn straight_parts_of_huber_have_the_slope_they_should_to_the_last_bit() {
    for (scale, delta) in [(0.7, 1.345), (3.1, 0.2), (1e-3, 40.0)] {
        let family = Huber::new(scale, delta).unwrap();
        let most = delta / scale;
        let edge = delta * scale * (1.0 + 1e-9);
        let (s, t) = ([edge, 1e6, edge + 1.0, -edge, -1e6], [0.0, -1e3, -1.0, -7.0, 1e-20]);
        let mut found = [0.0; 5];
        family.mean_slopes(&s, &t, &[Observation::of(0.0); 5], &mut found);
        assert_eq!(found, [most, most, most, -most, -most]);
    }
}

#[test]
fn responses_outside_the_range_are_objected_to() {
    let y = |response, trials| Observation { response, trials };
    for bad in [y(2.0, 1.0), y(0.5, 1.0), y(-1.0, 1.0), y(f64::NAN, 1.0), y(f64::INFINITY, 1.0)] {
        assert_eq!(Logistic.objection(bad), Some(Objection::Response("0 or 1")), "{bad:?}");
        assert_eq!(Probit.objection(bad), Some(Objection::Response("0 or 1")), "{bad:?}");
    }
    assert_eq!(
        Logistic.objection(y(4.0, 3.0)),
        Some(Objection::Response("no more successes than trials"))
    );
    assert_eq!(
        Logistic.objection(y(1.0, 0.0)),
        Some(Objection::Trials("a whole number of trials of at least 1"))
    );
    assert_eq!(Logistic.objection(y(3.0, 3.0)), None);
    for bad in [-1.0, 0.5, f64::NAN, f64::INFINITY] {
        assert_eq!(
            Poisson.objection(Observation::of(bad)),
            Some(Objection::Response("a whole number of at least 0"))
        );
    }
    assert_eq!(
        Gaussian::new(1.0).unwrap().objection(Observation::of(f64::NAN)),
        Some(Objection::Response("a finite number"))
    );
    assert_eq!(
        Gaussian::new(1.0).unwrap().objection(y(0.5, 2.0)),
        Some(Objection::Trials("1, because this family has no trials"))
    );
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(Gaussian::new(bad).is_err() && LogisticNoise::new(bad).is_err());
        assert!(Huber::new(bad, 1.0).is_err() && Huber::new(1.0, bad).is_err());
        assert!(NegativeBinomial::new(bad).is_err() && Gamma::new(bad).is_err());
        assert!(Survival::new(SurvivalKind::LogNormal, bad).is_err());
    }
    assert_eq!(
        Gaussian::new(-2.0).unwrap_err().to_string(),
        "noise scale = -2: need a positive, finite number"
    );
}

#[test]
fn intercepts_alone_have_the_known_estimates() {
    let ones = || Dense::new(6, 1, vec![1.0; 6]).unwrap();
    let near = |found: f64, expected: f64| {
        assert!((found - expected).abs() < 1e-10, "{found} for {expected}");
    };
    let positive = [0.3, 1.2, 5.0, 0.7, 2.2, 1.1];
    let mean = positive.iter().sum::<f64>() / 6.0;
    let gamma = Ridge::new(ones(), Gamma::new(3.1).unwrap(), &positive, Prior::flat(1)).unwrap();
    near(gamma.mode().unwrap().point[0], mean.ln());
    let family = NegativeBinomial::new(0.8).unwrap();
    let counts =
        Ridge::new(ones(), family, &[0.0, 3.0, 1.0, 0.0, 12.0, 2.0], Prior::flat(1)).unwrap();
    near(counts.mode().unwrap().point[0], 3_f64.ln());
    // Exponential times, three of them censored: the time at risk for each event.
    let (mut ends, infinity) = (positive, f64::INFINITY);
    (0..3).for_each(|i| ends[2 * i] = infinity);
    let exponential = Survival::new(SurvivalKind::Weibull, 1.0).unwrap();
    let times = |ends: &[f64]| {
        Ridge::with_trials(ones(), exponential, &positive, ends, Prior::flat(1)).unwrap()
    };
    near(times(&ends).mode().unwrap().point[0], (2.0 * mean).ln());
    // Without an event nothing bounds the times from above.
    assert!(matches!(times(&[infinity; 6]).mode(), Err(Error::Improper(_))));
    // Log-normal events: the mean of the logarithms.
    let log_normal = Survival::new(SurvivalKind::LogNormal, 0.6).unwrap();
    let events =
        Ridge::with_trials(ones(), log_normal, &positive, &positive, Prior::flat(1)).unwrap();
    let mean_log = positive.iter().map(|t| t.ln()).sum::<f64>() / 6.0;
    near(events.mode().unwrap().point[0], mean_log);
}

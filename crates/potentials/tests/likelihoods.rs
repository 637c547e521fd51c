//! Likelihoods against 100 and more digits, against finite differences, and far out; densities that
//! integrate to 1; weights that count rows.
//!
//! `data/likelihoods.csv` comes from `scripts/oracles/likelihoods.py`, which explains its columns.

use std::collections::BTreeMap;

use proptest::prelude::*;
use ridgewalk_potentials::ParameterScale;
use ridgewalk_potentials::families::{Objection, Observation};
use ridgewalk_potentials::likelihoods::{
    Block, Gamma, HuberNoise, Likelihood, LogisticNoise, Multinomial, NegativeBinomial, Normal,
    Ordinal, StudentT, Survival, SurvivalKind,
};

const KINDS: [SurvivalKind; 3] =
    [SurvivalKind::Weibull, SurvivalKind::LogLogistic, SurvivalKind::LogNormal];

/// u, its derivatives in the predictors, and those in the parameters, of one row.
fn row(likelihood: &dyn Likelihood, psi: &[f64], s: &[f64], y: Observation) -> Vec<f64> {
    rows(likelihood, psi, s, &[y], &[])
}

fn rows(
    likelihood: &dyn Likelihood, psi: &[f64], s: &[f64], y: &[Observation], weights: &[f64],
) -> Vec<f64> {
    let mut slopes = vec![f64::NAN; s.len()];
    let mut by_parameter = vec![0.0; psi.len()];
    let value = likelihood.evaluate(psi, Block { s, y, weights }, &mut slopes, &mut by_parameter);
    [vec![value], slopes, by_parameter].concat()
}

fn named(name: &str, setting: &str) -> Box<dyn Likelihood> {
    let number = || setting.parse::<f64>().unwrap();
    let levels = || setting.parse::<usize>().unwrap();
    let survival = |kind| {
        if setting.is_empty() {
            Survival::new(kind)
        } else {
            Survival::with_shape(kind, number()).unwrap()
        }
    };
    match name {
        "normal" => Box::new(Normal),
        "logistic" => Box::new(LogisticNoise),
        "huber" => Box::new(HuberNoise::new(number()).unwrap()),
        "student" if setting.is_empty() => Box::new(StudentT::new()),
        "student" => Box::new(StudentT::with_degrees(number()).unwrap()),
        "negative-binomial" => Box::new(NegativeBinomial),
        "gamma" => Box::new(Gamma),
        "weibull" => Box::new(survival(SurvivalKind::Weibull)),
        "log-logistic" => Box::new(survival(SurvivalKind::LogLogistic)),
        "log-normal" => Box::new(survival(SurvivalKind::LogNormal)),
        "ordinal" => Box::new(Ordinal::new(levels()).unwrap()),
        "multinomial" => Box::new(Multinomial::new(levels()).unwrap()),
        _ => panic!("no likelihood {name}"),
    }
}

/// A line of the file.
struct Case {
    name: String,
    setting: String,
    psi: Vec<f64>,
    s: Vec<f64>,
    y: Observation,
    results: Vec<f64>,
    sizes: Vec<f64>,
}

fn cases() -> Vec<Case> {
    let numbers =
        |cell: &str| cell.split_whitespace().map(|x| x.parse().unwrap()).collect::<Vec<f64>>();
    let case = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        Case {
            name: cells[0].to_owned(),
            setting: cells[1].to_owned(),
            psi: numbers(cells[2]),
            s: numbers(cells[3]),
            y: Observation { response: numbers(cells[4])[0], trials: numbers(cells[5])[0] },
            results: numbers(cells[6]),
            sizes: numbers(cells[7]),
        }
    };
    include_str!("data/likelihoods.csv").lines().skip(1).map(case).collect()
}

/// The largest errors of u, its derivatives in s, and those in ψ, in units of ε times the size that
/// the file gives, with the place of each.
type Worst = [(f64, String); 3];

/// Numbers below have fewer digits.
const LEAST: f64 = 1e-300;

fn errors(case: &Case, likelihood: &dyn Likelihood, worst: &mut Worst) {
    let found = row(likelihood, &case.psi, &case.s, case.y);
    assert_eq!(found.len(), case.results.len());
    for (i, ((&found, &exact), size)) in
        found.iter().zip(&case.results).zip(&case.sizes).enumerate()
    {
        let kind = if i == 0 { 0 } else { 1 + usize::from(i > case.s.len()) };
        let error = if found == exact {
            0.0
        } else {
            (found - exact).abs() / (f64::EPSILON * size.max(LEAST))
        };
        if !(error <= worst[kind].0) {
            let Case { setting, psi, s, y, .. } = case;
            let place = format!("[{setting}] {psi:?} {s:?} {y:?}: {found:e} for {exact:e}");
            worst[kind] = (error, place);
        }
    }
}

/// For u, ∂u/∂s and ∂u/∂ψ, in units of ε = 2.2e-16.
const LIMITS: [(&str, [f64; 3]); 11] = [
    ("gamma", [8.0, 4.0, 12.0]),
    ("huber", [4.0, 4.0, 4.0]),
    ("log-logistic", [4.0, 4.0, 4.0]),
    ("log-normal", [4.0, 4.0, 4.0]),
    ("logistic", [4.0, 4.0, 4.0]),
    ("multinomial", [4.0, 4.0, 4.0]),
    ("negative-binomial", [8.0, 8.0, 64.0]),
    ("normal", [4.0, 4.0, 4.0]),
    ("ordinal", [4.0, 4.0, 4.0]),
    ("student", [12.0, 8.0, 12.0]),
    ("weibull", [4.0, 4.0, 4.0]),
];

#[test]
fn values_slopes_and_derivatives_in_parameters_agree_with_many_digits() {
    let mut worst: BTreeMap<String, Worst> = BTreeMap::new();
    for case in cases() {
        let worst = worst.entry(case.name.clone()).or_default();
        errors(&case, &*named(&case.name, &case.setting), worst);
    }
    for (name, worst) in &worst {
        println!("{name}: {:.1?} ε", worst.each_ref().map(|(error, _)| error));
    }
    for (name, worst) in &worst {
        for (k, (error, place)) in worst.iter().enumerate() {
            let limit = LIMITS.iter().find(|(of, _)| of == name).unwrap().1[k];
            assert!(*error < limit, "{name}, {k}: {error} ε at {place}");
        }
    }
}

/// A likelihood whose derivatives are off: which one, and by what factor.
#[derive(Debug)]
pub(crate) struct Planted {
    pub(crate) inner: Box<dyn Likelihood>,
    pub(crate) of_parameter: bool,
    pub(crate) factor: f64,
}

impl Likelihood for Planted {
    fn name(&self) -> &'static str {
        self.inner.name()
    }
    fn parameters(&self) -> usize {
        self.inner.parameters()
    }
    fn predictors(&self) -> usize {
        self.inner.predictors()
    }
    fn objection(&self, y: Observation) -> Option<Objection> {
        self.inner.objection(y)
    }
    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let value = self.inner.evaluate(psi, block, slopes, by_parameter);
        let wrong = if self.of_parameter { by_parameter } else { slopes };
        wrong.iter_mut().for_each(|x| *x *= self.factor);
        value
    }
}

#[test]
fn a_wrong_twelfth_digit_of_a_derivative_is_found() {
    let mut found: BTreeMap<(String, bool), bool> = BTreeMap::new();
    for case in cases() {
        for of_parameter in [false, true] {
            if of_parameter && case.psi.is_empty() {
                continue;
            }
            let inner = named(&case.name, &case.setting);
            let planted = Planted { inner, of_parameter, factor: 1.0 + 1e-12 };
            let mut worst = Worst::default();
            errors(&case, &planted, &mut worst);
            let kind = 1 + usize::from(of_parameter);
            let limit = LIMITS.iter().find(|(of, _)| *of == case.name).unwrap().1[kind];
            *found.entry((case.name.clone(), of_parameter)).or_default() |= worst[kind].0 > limit;
        }
    }
    assert!(found.len() > 20 && found.values().all(|found| *found), "{found:?}");
}

/// A likelihood and responses for it.
pub(crate) type WithResponses = (Box<dyn Likelihood>, fn(usize) -> Observation);

/// Every likelihood with responses that it can have, one for each number.
pub(crate) fn all() -> Vec<WithResponses> {
    let real = |i: usize| Observation::of((i % 9) as f64 / 2.0 - 2.0);
    let count = |i: usize| Observation::of([0.0, 1.0, 3.0, 40.0, 1000.0][i % 5]);
    let positive = |i: usize| Observation::of([0.2, 1.0, 3.7, 60.0][i % 4]);
    let time = |i: usize| {
        let t = [0.3, 1.1, 4.0][i % 3];
        match (i / 3) % 5 {
            0 => Observation::between(t, t),
            1 => Observation::between(t, f64::INFINITY),
            2 => Observation::between(0.0, t),
            3 => Observation::between(t, 1.01 * t),
            _ => Observation::between(t, 30.0 * t),
        }
    };
    let mut all: Vec<WithResponses> = vec![
        (Box::new(Normal), real),
        (Box::new(LogisticNoise), real),
        (Box::new(HuberNoise::new(1.345).unwrap()), real),
        (Box::new(StudentT::new()), real),
        (Box::new(StudentT::with_degrees(4.0).unwrap()), real),
        (Box::new(NegativeBinomial), count),
        (Box::new(Gamma), positive),
        (Box::new(Ordinal::new(2).unwrap()), |i| Observation::of((i % 2) as f64)),
        (Box::new(Ordinal::new(5).unwrap()), |i| Observation::of((i % 5) as f64)),
        (Box::new(Ordinal::new(64).unwrap()), |i| Observation::of((i % 64) as f64)),
        (Box::new(Multinomial::new(2).unwrap()), |i| Observation::of((i % 2) as f64)),
        (Box::new(Multinomial::new(4).unwrap()), |i| Observation::of((i % 4) as f64)),
    ];
    for kind in KINDS {
        all.push((Box::new(Survival::new(kind)), time));
        all.push((Box::new(Survival::with_shape(kind, 1.7).unwrap()), time));
    }
    all
}

/// The worst disagreement of a gradient with central differences, in units of what those may be
/// off: their step times third derivatives of order 1, and rounding.
fn disagreement(likelihood: &dyn Likelihood, psi: &[f64], s: &[f64], y: Observation) -> f64 {
    const STEP: f64 = 1e-4;
    let found = row(likelihood, psi, s, y);
    let point = [s, psi].concat();
    let mut worst: f64 = 0.0;
    for i in 0..point.len() {
        let at = |h: f64| {
            let mut moved = point.clone();
            moved[i] += h;
            row(likelihood, &moved[s.len()..], &moved[..s.len()], y)
        };
        let [right, left] = [at(STEP), at(-STEP)];
        let difference = (right[0] - left[0]) / (2.0 * STEP);
        // The derivative changes by its third differences over the step.
        let bend = (right[1 + i] - 2.0 * found[1 + i] + left[1 + i]).abs();
        let rounding = 4.0 * f64::EPSILON * (right[0].abs() + left[0].abs() + 1.0) / STEP;
        let error = (found[1 + i] - difference).abs() / (bend + rounding);
        worst = if error <= worst { worst } else { error };
    }
    worst
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn gradients_are_those_of_the_value(
        which in 0..18_usize, response in 0..60_usize,
        s in prop::collection::vec(-3.0..3.0_f64, 3), psi in prop::collection::vec(-2.0..2.0_f64, 63),
    ) {
        let (likelihood, observation) = &all()[which];
        let (psi, s) = (&psi[..likelihood.parameters()], &s[..likelihood.predictors()]);
        let y = observation(response);
        // A kink of the second derivative, across which differences are off by more.
        let kink = (((s[0] - y.response).abs() * (-psi.first().unwrap_or(&0.0)).exp()) - 1.345).abs();
        prop_assume!(likelihood.name() != "robust-huber" || kink > 0.01);
        let error = disagreement(&**likelihood, psi, s, y);
        prop_assert!(error < 2.0, "{likelihood:?} {psi:?} {s:?} {y:?}: {error}");
    }
}

#[test]
fn differences_find_a_derivative_that_is_off_by_a_thousandth() {
    for (which, (likelihood, observation)) in all().into_iter().enumerate() {
        let (psi, s) = (vec![0.3; likelihood.parameters()], vec![0.4; likelihood.predictors()]);
        let parameters = likelihood.parameters();
        for of_parameter in [false, true].into_iter().take(1 + parameters.min(1)) {
            let inner = all().swap_remove(which).0;
            let planted = Planted { inner, of_parameter, factor: 1.001 };
            let worst = (0..60).map(|i| disagreement(&planted, &psi, &s, observation(i)));
            assert!(worst.fold(0.0, f64::max) > 20.0, "{likelihood:?}, {of_parameter}");
        }
    }
}

#[test]
fn a_weight_of_two_is_the_row_twice() {
    for (likelihood, observation) in all() {
        let width = likelihood.predictors();
        let psi: Vec<f64> = (0..likelihood.parameters()).map(|k| 0.1 * k as f64 - 0.2).collect();
        let y: Vec<Observation> = (0..20).map(observation).collect();
        let s: Vec<f64> = (0..20 * width).map(|i| (i % 7) as f64 / 3.0 - 1.0).collect();
        let weights: Vec<f64> = (0..20).map(|i| [1.0, 2.0, 0.0][i % 3]).collect();
        let weighted = rows(&*likelihood, &psi, &s, &y, &weights);
        let mut expected = vec![0.0; weighted.len()];
        for i in 0..20 {
            let own = row(&*likelihood, &psi, &s[i * width..(i + 1) * width], y[i]);
            for _ in 0..[1, 2, 0][i % 3] {
                expected[0] += own[0];
                (0..width).for_each(|k| expected[1 + i * width + k] += own[1 + k]);
                (0..psi.len()).for_each(|k| expected[1 + s.len() + k] += own[1 + width + k]);
            }
        }
        for (found, expected) in weighted.iter().zip(&expected) {
            let near = (found - expected).abs() <= 1e-12 * (1.0 + expected.abs());
            assert!(near, "{likelihood:?}: {found} for {expected}");
        }
        // No weights are weights of 1, and sums are added to what is there.
        assert_eq!(
            rows(&*likelihood, &psi, &s, &y, &[]),
            rows(&*likelihood, &psi, &s, &y, &[1.0; 20])
        );
        let (mut slopes, mut sums) = (vec![0.0; s.len()], vec![5.0; psi.len()]);
        let block = Block { s: &s, y: &y, weights: &[] };
        likelihood.evaluate(&psi, block, &mut slopes, &mut sums);
        let fresh = rows(&*likelihood, &psi, &s, &y, &[]);
        for (sum, fresh) in sums.iter().zip(&fresh[1 + s.len()..]) {
            assert!((sum - 5.0 - fresh).abs() <= 1e-12 * (5.0 + fresh.abs()), "{likelihood:?}");
        }
    }
}

/// ∫ f over the real line, f falling like e^-|x| or faster in x, by the trapezoidal rule, which is
/// exact for such functions but for terms of the size of e^-1/step.
fn integral(reach: f64, f: impl Fn(f64) -> f64) -> f64 {
    const POINTS: i32 = 40_000;
    let step = reach / f64::from(POINTS);
    (-POINTS..=POINTS).map(|i| f(f64::from(i) * step)).sum::<f64>() * step
}

#[test]
fn densities_of_real_responses_integrate_to_one() {
    let noises: Vec<(Box<dyn Likelihood>, Vec<f64>, f64)> = vec![
        (Box::new(Normal), vec![0.7], 1e-13),
        (Box::new(LogisticNoise), vec![-1.2], 1e-13),
        // A kink of the second derivative.
        (Box::new(HuberNoise::new(1.345).unwrap()), vec![0.4], 1e-8),
        (Box::new(HuberNoise::new(0.01).unwrap()), vec![0.4], 1e-8),
        (Box::new(HuberNoise::new(20.0).unwrap()), vec![0.0], 1e-8),
        (Box::new(StudentT::new()), vec![0.3, -1.0], 1e-12),
        (Box::new(StudentT::new()), vec![0.3, 1.5], 1e-12),
        (Box::new(StudentT::new()), vec![-0.3, 9.0], 1e-12),
        (Box::new(StudentT::with_degrees(4.0).unwrap()), vec![0.3], 1e-12),
    ];
    for (likelihood, psi, tolerance) in noises {
        // y = sinh x turns the tails of every t law into exponential ones.
        let one = integral(120.0, |x| {
            (-row(&*likelihood, &psi, &[0.8], Observation::of(x.sinh()))[0]).exp() * x.cosh()
        });
        assert!((one - 1.0).abs() < tolerance, "{likelihood:?} {psi:?}: {one}");
    }
}

#[test]
fn densities_of_positive_responses_integrate_to_one() {
    for log_shape in [-0.7, 0.0, 1.3, 3.0] {
        let density = |likelihood: &dyn Likelihood, y: Observation| {
            (-row(likelihood, &[log_shape], &[0.8], y)[0]).exp()
        };
        let one = integral(100.0, |x| density(&Gamma, Observation::of(x.exp())) * x.exp());
        assert!((one - 1.0).abs() < 1e-12, "gamma, {log_shape}: {one}");
        for kind in KINDS {
            let likelihood = Survival::new(kind);
            let event = |x: f64| density(&likelihood, Observation::between(x, x));
            let one = integral(100.0, |x| event(x.exp()) * x.exp());
            assert!((one - 1.0).abs() < 1e-12, "{kind:?}, {log_shape}: {one}");
            // The probability of an interval is the integral over it; those of a partition are 1.
            let between = |a: f64, b: f64| density(&likelihood, Observation::between(a, b));
            let (a, b) = (1.3_f64, 3.1_f64);
            let middle = integral(6.0, |x| {
                // t between a and b, by tanh-sinh.
                let (w, c) = (x.sinh().tanh(), x.cosh() / x.sinh().cosh().powi(2));
                let t = 0.5 * (a + b) + 0.5 * (b - a) * w;
                if c < 1e-300 { 0.0 } else { event(t) * 0.5 * (b - a) * c }
            });
            assert!((middle - between(a, b)).abs() < 1e-13, "{kind:?}, {log_shape}: {middle}");
            let whole = between(0.0, a) + between(a, b) + between(b, f64::INFINITY);
            assert!((whole - 1.0).abs() < 1e-14, "{kind:?}, {log_shape}: {whole}");
        }
    }
}

#[test]
fn probabilities_of_counts_and_levels_sum_to_one() {
    let probability = |likelihood: &dyn Likelihood, psi: &[f64], s: &[f64], y: usize| {
        (-row(likelihood, psi, s, Observation::of(y as f64))[0]).exp()
    };
    for (log_r, s) in [(-1.5, 1.0), (0.0, 1.6), (2.3, 3.0), (9.0, 2.0), (27.0, 1.0)] {
        let one: f64 = (0..4000).map(|y| probability(&NegativeBinomial, &[log_r], &[s], y)).sum();
        assert!((one - 1.0).abs() < 1e-12, "{log_r}, {s}: {one}");
    }
    // At a large size, Poisson's: e^-1/y! of mean 1.
    let poisson = probability(&NegativeBinomial, &[27.6], &[0.0], 3);
    assert!((poisson - (-1_f64).exp() / 6.0).abs() < 1e-12, "{poisson}");
    for s in [-30.0, -0.4, 2.0, 25.0] {
        let one: f64 = (0..5)
            .map(|y| probability(&Ordinal::new(5).unwrap(), &[-1.0, 0.3, -2.0, 1.1], &[s], y))
            .sum();
        assert!((one - 1.0).abs() < 1e-14, "ordinal, {s}: {one}");
        let one: f64 = (0..4)
            .map(|y| probability(&Multinomial::new(4).unwrap(), &[], &[s, 0.3, -1.0], y))
            .sum();
        assert!((one - 1.0).abs() < 1e-14, "multinomial, {s}: {one}");
    }
}

#[test]
fn far_out_there_are_limits_and_no_nan() {
    for (likelihood, observation) in all() {
        let (width, psi) = (likelihood.predictors(), vec![0.2; likelihood.parameters()]);
        for i in 0..60 {
            for far in [1e3, -1e3, 1e100, -1e100, 1e300, -1e300] {
                for k in 0..width {
                    let mut s = vec![0.5; width];
                    s[k] = far;
                    let y = observation(i);
                    let found = row(&*likelihood, &psi, &s, y);
                    let place = format!("{likelihood:?} {s:?} {y:?}: {found:?}");
                    assert!(found.iter().all(|x| !x.is_nan()), "{place}");
                    assert!(found[0] >= -10.0, "{place}");
                }
            }
        }
    }
    let near = |found: f64, expected: f64| {
        assert!((found / expected - 1.0).abs() < 1e-12, "{found} for {expected}");
    };
    let at = |likelihood: &dyn Likelihood, psi: &[f64], s: f64, y: Observation| {
        row(likelihood, psi, &[s], y)
    };
    let three = Observation::of(3.0);
    let ln = |x: f64| x.ln();
    // Tails of Cauchy's law: log(π z²); the derivatives are 2/s, −1 and, in log σ, 1 − 2.
    let cauchy = at(&StudentT::with_degrees(1.0).unwrap(), &[0.0], 1e300, three);
    near(cauchy[0], ln(std::f64::consts::PI) + 2.0 * ln(1e300));
    near(cauchy[1], 2e-300);
    near(cauchy[2], -1.0);
    // r (s − log r) with a slope of r, and −y s with a slope of −y.
    let high = at(&NegativeBinomial, &[2.0], 1e300, three);
    near(high[0], 1e300 * 2_f64.exp());
    near(high[1], 2_f64.exp());
    let low = at(&NegativeBinomial, &[2.0], -1e300, three);
    near(low[0], 3e300);
    near(low[1], -3.0);
    near(at(&Gamma, &[1.0], 1e300, three)[0], 1e300 * 1_f64.exp());
    near(at(&Gamma, &[1.0], 1e300, three)[1], 1_f64.exp());
    assert_eq!(at(&Gamma, &[1.0], -1e3, three)[..2], [f64::INFINITY, f64::NEG_INFINITY]);
    // A log-normal interval far out: as the nearer end.
    let log_normal = Survival::new(SurvivalKind::LogNormal);
    let interval = at(&log_normal, &[0.0], -1e100, Observation::between(1.0, 2.0));
    near(interval[0], 0.5e200);
    near(interval[1], -1e100);
    // A Weibull interval whose probability underflows: −log of e^z times the relative length.
    let weibull =
        at(&Survival::new(SurvivalKind::Weibull), &[0.0], 1e300, Observation::between(1.0, 2.0));
    near(weibull[0], 1e300);
    near(weibull[1], 1.0);
    // Gaps of thresholds and parameters that are no doubles.
    let narrow = at(&Ordinal::new(3).unwrap(), &[0.0, -1000.0], 0.0, Observation::of(1.0));
    near(narrow[0], 1000.0 + 4_f64.ln());
    for (likelihood, observation) in all() {
        for extreme in [-1e3, 1e3] {
            let psi = vec![extreme; likelihood.parameters()];
            let found =
                row(&*likelihood, &psi, &vec![0.3; likelihood.predictors()], observation(1));
            assert!(!found[0].is_nan(), "{likelihood:?} at {extreme}: {found:?}");
        }
    }
}

#[test]
fn what_is_not_a_number_gives_what_is_not_a_number() {
    for (likelihood, observation) in all() {
        let (width, parameters) = (likelihood.predictors(), likelihood.parameters());
        for i in 0..60 {
            let y = observation(i);
            for k in 0..width + parameters {
                let mut point = vec![0.5; width + parameters];
                point[k] = f64::NAN;
                let found = row(&*likelihood, &point[width..], &point[..width], y);
                // A threshold or gap that a level does not have may be anything.
                let gap = likelihood.name() == "ordinal" && k > width;
                assert!(found[0].is_nan() || gap, "{likelihood:?}, {k}, {y:?}: {found:?}");
                assert!(k >= width || found[1].is_nan(), "{likelihood:?}, {k}, {y:?}: {found:?}");
            }
        }
        // Responses that were never asked about: no panic.
        for response in [f64::NAN, f64::INFINITY, -1.0, -1e300, 0.5, 1e300] {
            for trials in [1.0, 0.0, f64::NAN, f64::INFINITY] {
                let y = Observation { response, trials };
                let found = row(&*likelihood, &vec![0.5; parameters], &vec![0.5; width], y);
                assert!(found[0].is_nan() || !response.is_nan(), "{likelihood:?} {y:?}");
            }
        }
    }
}

#[test]
fn parameters_are_turned_into_what_users_read_and_back() {
    assert_eq!(Ordinal::new(4).unwrap().scale(), ParameterScale::Ordered);
    assert_eq!(StudentT::new().scale(), ParameterScale::Positive);
    let parameters: Vec<usize> = all().iter().map(|(l, _)| l.parameters()).collect();
    assert_eq!(parameters, [1, 1, 1, 2, 1, 1, 1, 1, 4, 63, 0, 0, 1, 0, 1, 0, 1, 0]);
    let convex: Vec<bool> = all().iter().map(|(l, _)| l.convex()).collect();
    let expected = [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1, 0, 1].map(|x| x == 1);
    assert_eq!(convex, expected);
}

#[test]
fn responses_and_settings_that_make_no_sense_are_refused() {
    for (likelihood, observation) in all() {
        for i in 0..60 {
            assert_eq!(likelihood.objection(observation(i)), None, "{likelihood:?}");
        }
        let nan = Observation::of(f64::NAN);
        assert!(likelihood.objection(nan).is_some(), "{likelihood:?}");
    }
    let survival = Survival::new(SurvivalKind::Weibull);
    for (lower, upper) in
        [(-1.0, 1.0), (2.0, 1.0), (0.0, 0.0), (1.0, f64::NAN), (f64::INFINITY, f64::INFINITY)]
    {
        assert!(survival.objection(Observation::between(lower, upper)).is_some());
    }
    assert_eq!(survival.objection(Observation::between(0.0, f64::INFINITY)), None);
    for bad in [-1.0, 0.5, 4.0, 1e300] {
        assert!(Ordinal::new(4).unwrap().objection(Observation::of(bad)).is_some());
        assert!(Multinomial::new(4).unwrap().objection(Observation::of(bad)).is_some());
    }
    assert!(Gamma.objection(Observation::of(0.0)).is_some());
    assert!(NegativeBinomial.objection(Observation::of(1.5)).is_some());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert!(HuberNoise::new(bad).is_err() && StudentT::with_degrees(bad).is_err());
        assert!(Survival::with_shape(SurvivalKind::Weibull, bad).is_err());
    }
    assert_eq!(
        Ordinal::new(65).unwrap_err().to_string(),
        "ordinal responses of 65 levels: need 2 to 64"
    );
    assert!(Ordinal::new(1).is_err() && Multinomial::new(1).is_err());
}

#[test]
fn weibull_times_of_shape_one_are_exponential() {
    let exponential = Survival::with_shape(SurvivalKind::Weibull, 1.0).unwrap();
    for (s, t) in [(0.3_f64, 0.7_f64), (-2.0, 1.5), (4.0, 20.0)] {
        let rate = (-s).exp();
        let event = row(&exponential, &[], &[s], Observation::between(t, t))[0];
        assert!((event - (rate * t + s)).abs() < 1e-13 * (1.0 + event.abs()));
        let censored = row(&exponential, &[], &[s], Observation::between(t, f64::INFINITY))[0];
        assert!((censored - rate * t).abs() < 1e-14 * (1.0 + censored));
    }
}

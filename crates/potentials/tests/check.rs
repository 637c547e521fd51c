//! Checks of families and gradients find planted mistakes and pass correct functions.

use ridgewalk_potentials::families::{
    CurvatureBounds, Family, Gamma, Gaussian, Huber, Logistic, LogisticNoise, NegativeBinomial,
    Objection, Observation, Poisson, Probit, Survival, SurvivalKind,
};
use ridgewalk_potentials::{
    Check, FromFn, FromValueFn, GradientError, Place, Property, check_family, check_gradient,
};

const PREDICTORS: [f64; 11] = [-300.0, -40.0, -8.3, -2.0, -0.9415, 0.0, 0.3, 1.0, 4.7, 25.0, 300.0];

fn counts(trials: f64) -> Vec<Observation> {
    [0.0, 1.0, trials].map(|response| Observation { response, trials }).to_vec()
}

/// Events, times censored on either side and on both, and one of which nothing is known.
fn intervals() -> Vec<Observation> {
    let infinity = f64::INFINITY;
    [
        (0.4, 0.4),
        (30.0, 30.0),
        (0.4, infinity),
        (30.0, infinity),
        (0.0, 0.4),
        (0.0, 30.0),
        (1.0, 1.0 + 1e-6),
        (1.0, 1.1),
        (0.01, 2.0),
        (0.0, infinity),
    ]
    .map(|(lower, upper)| Observation::between(lower, upper))
    .to_vec()
}

#[test]
fn the_built_in_families_pass() {
    let real = [-3.0, 0.0, 0.3, 170.0].map(Observation::of);
    let pass = |family: &dyn Family, observations: &[Observation]| {
        let check = check_family(family, observations, &PREDICTORS);
        assert!(check.passed(), "{}:\n{check}", family.name());
    };
    for trials in [1.0, 3.0, 1000.0] {
        pass(&Logistic, &counts(trials));
        pass(&Probit, &counts(trials));
    }
    pass(&Poisson, &[0.0, 1.0, 250.0].map(Observation::of));
    for scale in [1e-3, 0.7, 40.0] {
        pass(&Gaussian::new(scale).unwrap(), &real);
        pass(&LogisticNoise::new(scale).unwrap(), &real);
        pass(&Huber::new(scale, 1.345).unwrap(), &real);
    }
    for size in [1e-3, 2.5, 1e6] {
        pass(&NegativeBinomial::new(size).unwrap(), &[0.0, 1.0, 250.0].map(Observation::of));
        pass(&Gamma::new(size).unwrap(), &[1e-3, 1.0, 250.0].map(Observation::of));
    }
    for kind in [SurvivalKind::Weibull, SurvivalKind::LogLogistic, SurvivalKind::LogNormal] {
        for shape in [0.2, 1.0, 7.0] {
            pass(&Survival::new(kind, shape).unwrap(), &intervals());
        }
    }
    // On a kink of u′.
    let check = check_family(&Huber::new(1.0, 2.0).unwrap(), &[Observation::of(0.0)], &[-2.0, 2.0]);
    assert!(check.passed(), "{check}");
}

/// The mistakes of [`Wrong`].
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mistake {
    None,
    Sign,
    Factor,
    Trials,
    MeanTrials,
    MeanOfEnds,
    Bound,
    Lower,
    Limits,
    List,
    NotANumber,
}

/// Logistic regression with one mistake.
#[derive(Debug)]
struct Wrong(Mistake);

impl Wrong {
    fn one(y: Observation) -> Observation {
        Observation { response: y.response / y.trials, trials: 1.0 }
    }
}

impl Family for Wrong {
    fn name(&self) -> &'static str {
        "wrong"
    }
    fn objection(&self, y: Observation) -> Option<Objection> {
        Logistic.objection(y)
    }
    fn value(&self, s: f64, y: Observation) -> f64 {
        if self.0 == Mistake::NotANumber && s > 20.0 {
            return f64::NAN;
        }
        Logistic.value(s, y)
    }
    fn slope(&self, s: f64, y: Observation) -> f64 {
        match self.0 {
            Mistake::Sign => -Logistic.slope(s, y),
            Mistake::Trials => Logistic.slope(s, Self::one(y)),
            _ => Logistic.slope(s, y),
        }
    }
    fn curvature(&self, s: f64, y: Observation) -> f64 {
        let factor = if self.0 == Mistake::Factor { 2.0 } else { 1.0 };
        factor * Logistic.curvature(s, y)
    }
    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        match self.0 {
            Mistake::MeanTrials => Logistic.mean_slope(s, t, Self::one(y)),
            Mistake::MeanOfEnds => 0.5 * (self.slope(s, y) + self.slope(s + t, y)),
            _ => Logistic.mean_slope(s, t, y),
        }
    }
    fn slopes(&self, s: &[f64], y: &[Observation], slopes: &mut [f64]) {
        for ((slope, &s), &y) in slopes.iter_mut().zip(s).zip(y) {
            *slope = self.slope(s, y);
        }
        if self.0 == Mistake::List {
            slopes[2] *= 1.001;
        }
    }
    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds {
            lower: if self.0 == Mistake::Lower { 0.1 } else { 0.0 },
            upper: Some(if self.0 == Mistake::Bound { 0.2 } else { 0.25 } * y.trials),
        }
    }
    fn slope_limits(&self, y: Observation) -> [f64; 2] {
        let [low, high] = Logistic.slope_limits(y);
        if self.0 == Mistake::Limits { [low, 0.5 * high] } else { [low, high] }
    }
}

fn properties(check: &Check) -> Vec<Property> {
    check.disagreements().map(|comparison| comparison.property).collect()
}

#[test]
fn planted_mistakes_of_a_family_are_found() {
    let observations = counts(3.0);
    for (mistake, property) in [
        (Mistake::Sign, Property::Slope),
        (Mistake::Factor, Property::Curvature),
        (Mistake::Trials, Property::Slope),
        (Mistake::MeanTrials, Property::MeanSlope),
        (Mistake::MeanOfEnds, Property::MeanSlope),
        (Mistake::Bound, Property::UpperBound),
        (Mistake::Lower, Property::LowerBound),
        (Mistake::Limits, Property::SlopeLimits),
        (Mistake::List, Property::Lists),
        (Mistake::NotANumber, Property::Slope),
    ] {
        let check = check_family(&Wrong(mistake), &observations, &PREDICTORS);
        assert!(!check.passed(), "{mistake:?}");
        assert!(properties(&check).contains(&property), "{mistake:?}:\n{check}");
        assert!(check.into_result().unwrap_err().to_string().contains("DISAGREES"));
    }
    let right = check_family(&Wrong(Mistake::None), &observations, &PREDICTORS);
    assert!(right.clone().into_result().is_ok(), "{right}");
}

#[test]
fn a_report_names_the_place_and_both_numbers() {
    let y = Observation { response: 0.0, trials: 3.0 };
    let check = check_family(&Wrong(Mistake::Trials), &[y], &[0.0]);
    let slope = check.disagreements().find(|c| c.property == Property::Slope).unwrap();
    assert_eq!(slope.place, Place::Predictor { s: 0.0, t: None, y });
    assert!((slope.found - 0.5).abs() < 1e-12 && (slope.expected - 1.5).abs() < 1e-6, "{slope}");
    assert!(
        slope.to_string().starts_with(
            "slope against differences of value: DISAGREES; worst at s = 0, response 0, trials 3: found 5.000000e-1, expected 1.500000e0"
        ),
        "{slope}"
    );
}

#[test]
fn an_observation_that_the_family_objects_to_is_reported() {
    let check = check_family(&Logistic, &[Observation::of(0.5)], &[0.0]);
    assert_eq!(properties(&check), [Property::Objection]);
}

#[test]
fn nothing_compared_is_not_passed() {
    assert!(!check_family(&Logistic, &[], &[0.0]).passed());
    assert!(!check_family(&Logistic, &[Observation::of(1.0)], &[]).passed());
    let normal = FromFn::new(1, |x: &[f64], g: &mut [f64]| {
        g[0] = x[0];
        Ok(())
    });
    let none: [[f64; 1]; 0] = [];
    let check = check_gradient(&normal, &none).unwrap();
    assert!(!check.passed());
    assert_eq!(check.to_string(), "nothing was compared");
}

/// U = Σ exp(x_k) − x_k + x_0 x_1 x_2/10 with the gradient of one coordinate times a factor.
fn potential(x: &[f64], g: &mut [f64], wrong: usize, factor: f64) -> f64 {
    for k in 0..3 {
        g[k] = x[k].exp() - 1.0 + 0.1 * x[(k + 1) % 3] * x[(k + 2) % 3];
    }
    g[wrong] *= factor;
    x.iter().map(|x| x.exp() - x).sum::<f64>() + 0.1 * x[0] * x[1] * x[2]
}

const POINTS: [[f64; 3]; 3] = [[0.3, -1.0, 2.0], [-5.0, 0.01, 1.0], [40.0, -2.0, 3.0]];

#[test]
fn one_wrong_coordinate_of_a_gradient_is_found() {
    for (coordinate, factor) in [(0, 2.0), (1, -1.0), (2, 1.01), (0, 0.0)] {
        let wrong = FromValueFn::new(3, move |x: &[f64], g: &mut [f64]| {
            Ok(potential(x, g, coordinate, factor))
        });
        let check = check_gradient(&wrong, &POINTS).unwrap();
        assert_eq!(properties(&check), [Property::Gradient], "{check}");
        let worst = check.disagreements().next().unwrap();
        let Place::Point { coordinate: found, other: None, .. } = worst.place else {
            panic!("{worst}")
        };
        assert_eq!(found, coordinate);
    }
    let right = FromValueFn::new(3, |x: &[f64], g: &mut [f64]| Ok(potential(x, g, 0, 1.0)));
    let check = check_gradient(&right, &POINTS).unwrap();
    assert!(check.passed(), "{check}");
}

#[test]
fn without_values_a_gradient_that_is_none_is_found() {
    for (factor, passes) in [(1.0, true), (2.0, false), (-1.0, false)] {
        let gradient = FromFn::new(3, move |x: &[f64], g: &mut [f64]| {
            potential(x, g, 1, factor);
            Ok(())
        });
        let check = check_gradient(&gradient, &POINTS).unwrap();
        assert_eq!(check.passed(), passes, "{check}");
    }
}

#[test]
fn a_boundary_near_a_point_is_passed_over_and_one_at_it_is_an_error() {
    let exponential = FromValueFn::new(1, |x: &[f64], g: &mut [f64]| {
        g[0] = 1.0;
        if x[0] < 0.0 { Err(GradientError::OutsideSupport) } else { Ok(x[0]) }
    });
    assert!(check_gradient(&exponential, &[[1e-4], [2.0]]).unwrap().passed());
    assert!(check_gradient(&exponential, &[[-1.0]]).is_err());
    assert!(check_gradient(&exponential, &[[1.0, 2.0]]).is_err());
}

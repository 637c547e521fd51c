//! Families of a user's own, with no more than the trait requires.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{
    CurvatureBounds, Family, Gaussian, Huber, Logistic, LogisticNoise, Observation, Poisson, Probit,
};

use crate::support::Plain;

/// Segments over [-700, 700], more of them near 0, of lengths from 1e-12 to 1000 and 0, both ways.
fn segments(count: usize) -> impl Iterator<Item = (f64, f64)> {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let mut uniform = move |low: f64, high: f64| low + (high - low) * rng.random::<f64>();
    (0..count).map(move |i| {
        let s = if i % 3 == 0 { uniform(-700.0, 700.0) } else { uniform(-3.0, 3.0).powi(3) };
        let length = if i % 50 == 7 { 0.0 } else { 10f64.powf(uniform(-12.0, 3.0)) };
        (s, if uniform(-1.0, 1.0) < 0.0 { -length } else { length })
    })
}

/// The stated accuracy: 1e-13 of the largest slope at an end, and what moving both ends by two
/// rounding units does to a slope.
fn allowed(family: &dyn Family, s: f64, t: f64, y: Observation) -> f64 {
    let ends = [s, s + t];
    let largest = ends.map(|s| family.slope(s, y).abs()).into_iter().fold(0.0, f64::max);
    // Without a bound (Poisson) the curvature is largest at the upper end.
    let curvature = family
        .curvature_bounds(y)
        .upper
        .unwrap_or_else(|| family.curvature(ends[0].max(ends[1]), y));
    1e-13 * largest + 2.0 * f64::EPSILON * (s.abs() + (s + t).abs()) * curvature
}

#[test]
fn the_default_mean_slope_agrees_with_the_closed_forms() {
    let y = |response, trials| Observation { response, trials };
    let (gaussian, huber) = (Gaussian::new(0.8).unwrap(), Huber::new(0.7, 1.345).unwrap());
    let noise = LogisticNoise::new(0.6).unwrap();
    let cases: [(&dyn Family, Vec<Observation>); 6] = [
        (&Logistic, vec![y(0.0, 1.0), y(1.0, 1.0), y(3.0, 9.0)]),
        (&Probit, vec![y(0.0, 1.0), y(1.0, 1.0), y(3.0, 9.0)]),
        (&Poisson, vec![y(0.0, 1.0), y(4.0, 1.0)]),
        (&gaussian, vec![y(0.3, 1.0), y(-250.0, 1.0)]),
        (&noise, vec![y(0.3, 1.0), y(-250.0, 1.0)]),
        (&huber, vec![y(0.3, 1.0), y(-250.0, 1.0)]),
    ];
    for (family, observations) in cases {
        let mut compared = 0;
        for (i, (s, t)) in segments(3000).enumerate() {
            let y = observations[i % observations.len()];
            let (expected, allowed) = (family.mean_slope(s, t, y), allowed(family, s, t, y));
            if !expected.is_finite() || !allowed.is_finite() {
                continue;
            }
            compared += 1;
            let found = Plain(family).mean_slope(s, t, y);
            assert!(
                (found - expected).abs() <= allowed,
                "{} at {s:e}, {t:e}, {y:?}: {found:e} instead of {expected:e}",
                family.name()
            );
        }
        assert!(compared > 2000, "{}: {compared}", family.name());
    }
}

#[test]
fn the_default_mean_slope_integrates_where_values_hide_the_differences() {
    /// Logistic with a constant so large that the difference of two values has few digits.
    #[derive(Debug)]
    struct Shifted;
    impl Family for Shifted {
        fn name(&self) -> &'static str {
            "shifted"
        }
        fn value(&self, s: f64, y: Observation) -> f64 {
            1e6 + Logistic.value(s, y)
        }
        fn slope(&self, s: f64, y: Observation) -> f64 {
            Logistic.slope(s, y)
        }
        fn curvature(&self, s: f64, y: Observation) -> f64 {
            Logistic.curvature(s, y)
        }
        fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
            Logistic.curvature_bounds(y)
        }
    }
    for (i, (s, t)) in segments(1000).enumerate() {
        let y = Observation::of((i % 2) as f64);
        let (found, expected) = (Shifted.mean_slope(s, t, y), Logistic.mean_slope(s, t, y));
        let allowed = allowed(&Logistic, s, t, y);
        assert!((found - expected).abs() <= allowed, "{s:e}, {t:e}: {found:e}, {expected:e}");
    }
    assert!(Shifted.mean_slope(f64::NAN, 1.0, Observation::of(0.0)).is_nan());
    assert!(Shifted.mean_slope(1.0, f64::NAN, Observation::of(0.0)).is_nan());
}

#[test]
fn a_family_without_an_objection_of_its_own_takes_real_numbers() {
    let plain = Plain(&Logistic);
    assert_eq!(plain.objection(Observation::of(-2.5)), None);
    assert!(plain.objection(Observation::of(f64::NAN)).is_some());
    assert!(plain.objection(Observation { response: 1.0, trials: 3.0 }).is_some());
}

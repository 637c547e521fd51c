//! Pareto smoothing without other programs: a plain implementation, changes that must not matter,
//! and input for which nothing is defined.

use proptest::prelude::*;
use rand::RngExt;
use rand_distr::{Distribution, Exp1, StandardNormal};
use ridgewalk_diagnostics::{Elpd, Pointwise, Psis};

use crate::common::generator;
use crate::common::psis::{Fault, log_sum_exp, psis};

/// Log likelihoods whose inverses have a Pareto tail of this shape, light if it is negative.
fn draws(seed: u64, count: usize, shape: f64) -> Vec<f64> {
    let mut rng = generator(seed);
    (0..count)
        .map(|_| {
            let tail: f64 = Exp1.sample(&mut rng);
            let normal: f64 = StandardNormal.sample(&mut rng);
            if shape > 0.0 { -shape * tail - 1.0 } else { shape * normal - 1.0 }
        })
        .collect()
}

fn negated(x: &[f64]) -> Vec<f64> {
    x.iter().map(|x| -x).collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    a == b || (a - b).abs() <= tolerance * b.abs().max(1.0)
}

fn numbers(one: &Pointwise) -> [f64; 6] {
    [one.lppd, one.elpd_loo, one.p_loo, one.pareto_k, one.elpd_waic, one.p_waic]
}

/// LOO and WAIC as they are defined.
fn plain(log_likelihood: &[f64], r_eff: f64) -> [f64; 6] {
    let n = log_likelihood.len() as f64;
    let smoothed = psis(&negated(log_likelihood), r_eff, Fault::None);
    let weighted: Vec<f64> =
        log_likelihood.iter().zip(&smoothed.log_weights).map(|(x, w)| x + w).collect();
    let (lppd, elpd) = (log_sum_exp(log_likelihood) - n.ln(), log_sum_exp(&weighted));
    let mean = log_likelihood.iter().sum::<f64>() / n;
    let p_waic = log_likelihood.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    [lppd, elpd, lppd - elpd, smoothed.k, lppd - p_waic, p_waic]
}

/// Large enough for the sample that finds the tail, and with every kind of tail; one workspace for
/// all sizes.
#[test]
fn equal_to_the_plain_implementation() {
    let mut workspace = Psis::new();
    let mut seed = 0;
    for count in [21, 100, 2047, 2048, 2500, 8000, 30_001] {
        for shape in [-3.0, -0.05, -1e-4, 0.2, 0.7, 1.5, 40.0] {
            for r_eff in [0.1, 1.0, 1.8] {
                seed += 1;
                let mut x = draws(seed, count, shape);
                if seed % 5 == 0 {
                    // As after rejections: a draw may be repeated.
                    for i in (1..count).filter(|i| i % 3 != 0) {
                        x[i] = x[i - 1];
                    }
                }
                if seed % 7 == 0 {
                    // Sorted draws: the sample is no longer random.
                    x.sort_by(f64::total_cmp);
                }
                let got = workspace.pointwise(&x, r_eff);
                for (got, want) in numbers(&got).into_iter().zip(plain(&x, r_eff)) {
                    let place = format!("{count} draws, shape {shape}, r_eff {r_eff}");
                    assert!(close(got, want, 1e-9), "{place}: {got} {want}");
                }
                let want = psis(&negated(&x), r_eff, Fault::None);
                let mut weights = negated(&x);
                let k = workspace.smooth(&mut weights, r_eff);
                assert!(close(k, want.k, 1e-9));
                for (got, want) in weights.iter().zip(&want.log_weights) {
                    assert!(close(*got, *want, 1e-9), "{got} {want}");
                }
            }
        }
    }
}

/// A tail hidden from the sample: every draw that it looks at is small.
#[test]
fn a_sample_without_the_tail_does_no_harm() {
    let count = 8000;
    let mut x: Vec<f64> = draws(1, count, 0.5).iter().map(|x| x.min(-1.1)).collect();
    x.iter_mut().step_by(count / 512).for_each(|x| *x = 50.0);
    let got = Psis::new().pointwise(&x, 1.0);
    for (got, want) in numbers(&got).into_iter().zip(plain(&x, 1.0)) {
        assert!(close(got, want, 1e-9), "{got} {want}");
    }
}

/// With a spread just below and just above the limit of the fast way.
#[test]
fn both_ways_agree_at_their_threshold() {
    for spread in [590.0, 599.999, 600.001, 610.0] {
        let mut x = draws(3, 1000, 0.5);
        x[17] = x.iter().copied().fold(f64::INFINITY, f64::min) + spread;
        let got = Psis::new().pointwise(&x, 1.0);
        for (got, want) in numbers(&got).into_iter().zip(plain(&x, 1.0)) {
            assert!(close(got, want, 1e-11), "{spread}: {got} {want}");
        }
    }
}

proptest! {
    #[test]
    fn a_constant_changes_nothing(
        seed in 0u64..1_000_000, count in 21usize..3000, shape in -1.0..1.5f64, by in -100.0..100.0f64,
    ) {
        let x = negated(&draws(seed, count, shape));
        let (mut a, mut b) = (x.clone(), x.iter().map(|x| x + by).collect::<Vec<_>>());
        let mut workspace = Psis::new();
        let (k, also) = (workspace.smooth(&mut a, 1.0), workspace.smooth(&mut b, 1.0));
        // Rounding of the shifted ratios beside the spread of the tail.
        let tolerance = 1e-12 * (1.0 + 1.0 / shape.abs());
        prop_assume!(shape.abs() > 1e-3);
        prop_assert!(close(k, also, 100.0 * tolerance), "{} {}", k, also);
        for (a, b) in a.iter().zip(&b) {
            prop_assert!(close(*a, *b, 100.0 * tolerance), "{} {}", a, b);
        }
        prop_assert!((a.iter().map(|x| x.exp()).sum::<f64>() - 1.0).abs() < 1e-11);
    }

    #[test]
    fn the_order_of_draws_changes_nothing(
        seed in 0u64..1_000_000, count in 1usize..3000, shape in -1.0..1.5f64, ties in any::<bool>(),
    ) {
        let mut x = draws(seed, count, shape);
        if ties {
            x.iter_mut().for_each(|x| *x = (*x * 10.0).round() / 10.0);
        }
        let mut place: Vec<usize> = (0..count).collect();
        let mut rng = generator(seed + 1);
        for i in (1..count).rev() {
            place.swap(i, rng.random_range(0..=i));
        }
        let permuted: Vec<f64> = place.iter().map(|&i| x[i]).collect();
        let mut workspace = Psis::new();
        let (a, b) = (workspace.pointwise(&x, 1.0), workspace.pointwise(&permuted, 1.0));
        for (a, b) in numbers(&a).into_iter().zip(numbers(&b)) {
            prop_assert!(close(a, b, 1e-12) || (a.is_nan() && b.is_nan()), "{} {}", a, b);
        }
        if !ties {
            let (mut a, mut b) = (negated(&x), negated(&permuted));
            workspace.smooth(&mut a, 1.0);
            workspace.smooth(&mut b, 1.0);
            for (&i, b) in place.iter().zip(&b) {
                prop_assert!(close(a[i], *b, 1e-12), "{} {}", a[i], b);
            }
        }
    }

    /// Smoothed weights fall as the likelihood grows, so that the weighted mean of the likelihood is
    /// at most the plain one (Chebyshev's sum inequality).
    #[test]
    fn leaving_out_an_observation_never_helps(seed in 0u64..1_000_000, count in 2usize..2000, shape in 0.01..1.5f64) {
        let x = draws(seed, count, shape);
        let one = Psis::new().pointwise(&x, 1.0);
        prop_assert!(one.p_loo >= -1e-12 && one.p_waic >= 0.0, "{:?}", one);
    }

    #[test]
    fn no_input_panics(x in prop::collection::vec(any::<f64>(), 0..60), r_eff in any::<f64>()) {
        let mut workspace = Psis::new();
        let one = workspace.pointwise(&x, r_eff);
        let mut weights = x.clone();
        let k = workspace.smooth(&mut weights, r_eff);
        if x.is_empty() || x.iter().any(|x| !x.is_finite()) {
            prop_assert!(numbers(&one).iter().all(|x| x.is_nan()));
            prop_assert!(k.is_nan() && weights.iter().all(|x| x.is_nan()));
        }
    }
}

#[test]
fn not_finite_is_not_defined() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for place in [0, 40, 99] {
            let mut x = draws(5, 100, 0.3);
            x[place] = bad;
            assert!(numbers(&Psis::new().pointwise(&x, 1.0)).iter().all(|x| x.is_nan()));
            assert!(Psis::new().smooth(&mut x, 1.0).is_nan());
            assert!(x.iter().all(|x| x.is_nan()));
        }
    }
    assert!(Psis::new().smooth(&mut [], 1.0).is_nan());
    assert!(Psis::new().pointwise(&[], 1.0).elpd_loo.is_nan());
}

#[test]
fn constant_and_short_input_is_left_as_it_is() {
    let mut weights = vec![3.25; 400];
    assert_eq!(Psis::new().smooth(&mut weights, 1.0), f64::INFINITY);
    assert!(weights.iter().all(|w| close(*w, -(400.0_f64.ln()), 1e-14)));
    let one = Psis::new().pointwise(&[-3.25; 400], 1.0);
    assert!(close(one.elpd_loo, -3.25, 1e-14) && close(one.lppd, -3.25, 1e-14), "{one:?}");
    assert_eq!((one.p_waic, one.pareto_k), (0.0, f64::INFINITY));

    // The harmonic mean of two likelihoods.
    let one = Psis::new().pointwise(&[0.5_f64.ln(), 0.25_f64.ln()], 1.0);
    assert!(close(one.elpd_loo, (1.0 / 3.0_f64).ln(), 1e-14), "{one:?}");
    let one = Psis::new().pointwise(&[-1.5], 1.0);
    assert!(close(one.elpd_loo, -1.5, 1e-15) && one.p_waic.is_nan(), "{one:?}");
}

#[test]
fn an_efficiency_that_is_no_number_counts_as_one() {
    let x = draws(8, 500, 0.4);
    let want = Psis::new().pointwise(&x, 1.0);
    for r_eff in [f64::NAN, 0.0, -2.0] {
        assert_eq!(Psis::new().pointwise(&x, r_eff), want);
    }
    assert_eq!(Psis::new().pointwise(&x, f64::INFINITY).pareto_k, f64::INFINITY);
}

#[test]
fn totals_of_none_and_of_one() {
    let none = Elpd::loo(&[]);
    assert!(none.elpd == 0.0 && none.se.is_nan() && none.observations == 0);
    let one = Elpd::waic(&[Psis::new().pointwise(&draws(9, 200, 0.2), 1.0)]);
    assert!(one.elpd < 0.0 && one.se.is_nan() && one.se_p.is_nan() && one.observations == 1);
}

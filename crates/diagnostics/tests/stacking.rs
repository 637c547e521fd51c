//! Stacking weights: optimal by a theorem, and next to those of R's package loo.

use proptest::prelude::*;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};
use ridgewalk_diagnostics::{Error, stacking};
use serde::Deserialize;

use crate::common::{generator, slices};

#[derive(Deserialize)]
struct Case {
    name: String,
    lpd: Vec<Vec<f64>>,
    weights: Vec<f64>,
    score: f64,
}

#[derive(Deserialize)]
struct ByLoo {
    stacking: Vec<Case>,
}

fn mixtures(lpd: &[Vec<f64>], weights: &[f64]) -> Vec<f64> {
    (0..lpd[0].len())
        .map(|i| {
            let top = lpd.iter().map(|column| column[i]).fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = lpd.iter().zip(weights).map(|(c, w)| w * (c[i] - top).exp()).sum();
            top + sum.ln()
        })
        .collect()
}

fn score(lpd: &[Vec<f64>], weights: &[f64]) -> f64 {
    mixtures(lpd, weights).iter().sum()
}

/// By how much the Karush-Kuhn-Tucker conditions fail. With g the mean density of a model relative
/// to the mixture, they are g <= 1, and g = 1 where the weight is above 0. They are sufficient: by
/// Jensen no weights have a mean score better by more than log max g.
fn violation(lpd: &[Vec<f64>], weights: &[f64]) -> f64 {
    let mixtures = mixtures(lpd, weights);
    let n = mixtures.len() as f64;
    let mut worst = (weights.iter().sum::<f64>() - 1.0).abs();
    for (column, &weight) in lpd.iter().zip(weights) {
        assert!(weight >= 0.0);
        let g = column.iter().zip(&mixtures).map(|(x, mix)| (x - mix).exp()).sum::<f64>() / n;
        worst = worst.max(g - 1.0).max(weight * (1.0 - g));
    }
    worst
}

fn optimal(lpd: &[Vec<f64>]) -> Vec<f64> {
    let weights = stacking(&slices(lpd)).expect("well-shaped densities");
    let off = violation(lpd, &weights);
    assert!(off < 1e-9, "{off:e}: {weights:?}");
    weights
}

#[test]
fn at_least_as_good_as_loo() {
    let document: ByLoo = serde_json::from_str(include_str!("loo/loo.json")).expect("loo.json");
    for Case { name, lpd, weights, score: theirs } in document.stacking {
        let ours = optimal(&lpd);
        let got = score(&lpd, &ours);
        println!("{name:16} KKT {:8.1e} better by {:8.1e}", violation(&lpd, &ours), got - theirs);
        assert!(got >= theirs - 1e-10, "{name}: {got} {theirs}");
        if name == "identical" {
            // Only the sum of the two identical models is determined.
            assert!((ours[0] + ours[2] - weights[0] - weights[2]).abs() < 1e-3, "{ours:?}");
            assert!((ours[0] - ours[2]).abs() < 1e-6, "{ours:?}");
        } else {
            for (ours, theirs) in ours.iter().zip(&weights) {
                assert!((ours - theirs).abs() < 1e-3, "{name}: {ours} {theirs}");
            }
        }
    }
}

/// The conditions are able to fail: weights moved by 1e-4 do not meet them to 1e-9.
#[test]
fn other_weights_are_noticed() {
    let document: ByLoo = serde_json::from_str(include_str!("loo/loo.json")).expect("loo.json");
    for Case { name, lpd, .. } in document.stacking {
        if name == "identical" {
            continue;
        }
        let mut weights = optimal(&lpd);
        let (largest, _) =
            weights.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).expect("models");
        weights[largest] -= 1e-4;
        weights[(largest + 1) % lpd.len()] += 1e-4;
        assert!(violation(&lpd, &weights) > 1e-7, "{name}: {:e}", violation(&lpd, &weights));
    }
}

/// With two observations, each seen by one model alone, half and half is best.
#[test]
fn known_weights() {
    let far = 2000.0;
    let weights = optimal(&[vec![-1.0, -1.0 - far], vec![-1.0 - far, -1.0]]);
    assert!((weights[0] - 0.5).abs() < 1e-12, "{weights:?}");
    let never = f64::NEG_INFINITY;
    let weights = optimal(&[vec![0.0, never, 0.0, 0.0], vec![never, -3.0, never, never]]);
    assert!((weights[0] - 0.75).abs() < 1e-12, "{weights:?}");

    // The mixture of two densities 1 and 1/2, 1/4 and 1: the score's derivative is 0 at 5/6.
    let logs = |x: [f64; 2]| x.map(f64::ln).to_vec();
    let weights = optimal(&[logs([1.0, 0.25]), logs([0.5, 1.0])]);
    // 0.5/(0.5 + 0.5 w) = 0.75/(1 - 0.75 w).
    assert!((weights[0] - 1.0 / 6.0).abs() < 1e-12, "{weights:?}");

    assert_eq!(optimal(&[vec![-1.0, -2.0]]), [1.0]);
    let same = vec![-1.0, -2.5, -0.3];
    for weight in optimal(&[same.clone(), same.clone(), same.clone(), same]) {
        assert!((weight - 0.25).abs() < 1e-12);
    }
}

#[test]
fn a_dominant_model_has_all_the_weight() {
    let best = vec![-1.0, -2.0, -0.5];
    for by in [1e-6, 1e-3, 1.0, 50.0, 1e4] {
        let worse: Vec<f64> = best.iter().map(|x| x - by).collect();
        let weights = optimal(&[worse, best.clone()]);
        assert!(weights[1] > 1.0 - 1e-8, "{by}: {weights:?}");
    }
}

proptest! {
    #[test]
    fn optimal_whatever_the_models(
        seed in 0u64..1_000_000, models in 1usize..9, observations in 1usize..200,
        spread in prop::sample::select(vec![1e-6, 1e-3, 0.1, 1.0, 10.0, 1e3]),
        level in prop::sample::select(vec![0.0, -1e5, 700.0]), copies in any::<bool>(),
    ) {
        let mut rng = generator(seed);
        let mut lpd: Vec<Vec<f64>> = (0..models)
            .map(|_| {
                let bias: f64 = StandardNormal.sample(&mut rng);
                (0..observations)
                    .map(|_| {
                        let normal: f64 = StandardNormal.sample(&mut rng);
                        level + spread * (normal + bias)
                    })
                    .collect()
            })
            .collect();
        if copies {
            lpd.push(lpd[0].clone());
            let nearly = lpd[0].iter().map(|x| x + 1e-9 * rng.random::<f64>()).collect();
            lpd.push(nearly);
        }
        let weights = stacking(&slices(&lpd)).expect("well-shaped densities");
        let off = violation(&lpd, &weights);
        prop_assert!(off < 1e-9, "{:e}: {:?}", off, weights);
    }

    /// A constant added to all models of an observation changes nothing.
    #[test]
    fn levels_do_not_matter(seed in 0u64..1_000_000) {
        let mut rng = generator(seed);
        let lpd: Vec<Vec<f64>> =
            (0..3).map(|_| (0..40).map(|_| 4.0 * rng.random::<f64>()).collect()).collect();
        let levels: Vec<f64> = (0..40).map(|_| -1e4 * rng.random::<f64>()).collect();
        let moved: Vec<Vec<f64>> = lpd
            .iter()
            .map(|column| column.iter().zip(&levels).map(|(x, by)| x + by).collect())
            .collect();
        for (a, b) in optimal(&lpd).iter().zip(optimal(&moved)) {
            prop_assert!((a - b).abs() < 1e-7, "{} {}", a, b);
        }
    }
}

#[test]
fn wrong_input_is_refused() {
    assert_eq!(stacking(&[]), Err(Error::NoModels));
    assert_eq!(stacking(&[&[], &[]]), Err(Error::NoObservations));
    assert_eq!(
        stacking(&[&[1.0, 2.0], &[1.0]]),
        Err(Error::Observations { model: 1, got: 1, need: 2 })
    );
    let infinite = stacking(&[&[1.0, 2.0], &[1.0, f64::INFINITY]]);
    assert_eq!(infinite, Err(Error::LogDensity { model: 1, observation: 1, value: f64::INFINITY }));
    let message = stacking(&[&[f64::NAN], &[1.0]]).expect_err("NaN").to_string();
    assert_eq!(
        message,
        "model 0, observation 0: log density NaN: need a finite number, or -inf if another model has one"
    );
    assert!(stacking(&[&[f64::NEG_INFINITY], &[f64::NEG_INFINITY]]).is_err());
}

//! Mixed models against their definition, and against the exact law of normal responses.

use std::sync::Arc;

use faer::{Mat, Side};

use super::chart::Here;
use super::*;
use crate::density::Density;
use crate::design::{Dense, Sparse};
use crate::families::Poisson;
use crate::likelihoods::{Likelihood, Normal, Ordinal, Plain};

const GROUPS: usize = 5;
const ROWS: usize = 23;

pub(super) fn wave(k: usize, pace: f64) -> f64 {
    (pace * k as f64 + 0.3).sin()
}

/// An intercept and a slope, correlated effects of both for each of five groups, and two crossed
/// groups of intercepts.
fn design(fixed: usize) -> Dense<'static> {
    let columns = fixed + 2 * GROUPS + 2;
    let mut values = vec![0.0; ROWS * columns];
    for (k, row) in values.chunks_exact_mut(columns).enumerate() {
        let x = 1.5 * wave(k, 1.7);
        (fixed > 1).then(|| row[0] = 1.0);
        row[fixed - 1] = x;
        let group = (k * k + k / 3) % GROUPS;
        row[fixed + 2 * group] = 1.0;
        row[fixed + 2 * group + 1] = x;
        row[fixed + 2 * GROUPS + (k / 2) % 2] = 1.0;
    }
    Dense::new(ROWS, columns, values).unwrap()
}

fn terms(fixed: usize) -> Vec<GroupTerm> {
    let half_normal = |scale| Density::Normal { mean: 0.0, scale };
    let slopes = GroupTerm {
        first: fixed,
        levels: GROUPS,
        width: 2,
        sds: vec![half_normal(1.5), Density::StudentT { degrees: 3.0, mean: 0.0, scale: 1.0 }],
        concentration: 1.5,
    };
    let crossed = GroupTerm {
        first: fixed + 2 * GROUPS,
        levels: 2,
        width: 1,
        sds: vec![Density::Exponential { rate: 0.7 }],
        concentration: 1.0,
    };
    vec![slopes, crossed]
}

fn model(likelihood: Arc<dyn Likelihood>, responses: &[f64]) -> Mixed {
    let located = likelihood.scale() == ParameterScale::Ordered;
    let fixed = if located { 1 } else { 2 };
    let parameters = likelihood.parameters();
    let design = design(fixed);
    let effects = 2 * GROUPS + 2;
    let mut priors = vec![Density::Normal { mean: 0.2, scale: 2.0 }; fixed];
    priors.extend(vec![Density::Flat; effects]);
    let prior = if located {
        Density::Logistic { mean: 0.0, scale: 1.0 }
    } else {
        Density::Exponential { rate: 0.5 }
    };
    let joint = Joint::new(Sparse::from_dense(&design), likelihood, responses)
        .unwrap()
        .with_priors(priors)
        .unwrap()
        .with_parameter_priors(vec![prior; parameters])
        .unwrap();
    let start = vec![0.0; joint.dimension()];
    Mixed::new(joint, terms(fixed), &start).unwrap()
}

fn real() -> Mixed {
    let y: Vec<f64> =
        (0..ROWS).map(|k| 1.0 + 2.0 * wave(k, 1.7) + wave(k, 5.1) + wave(k % 5, 2.0)).collect();
    model(Arc::new(Normal), &y)
}

fn counts() -> Mixed {
    let y: Vec<f64> =
        (0..ROWS).map(|k| (2.0 + 2.0 * wave(k, 1.7) + wave(k % 5, 2.0)).max(0.0).round()).collect();
    model(Arc::new(Plain(Poisson)), &y)
}

fn levels() -> Mixed {
    let y: Vec<f64> =
        (0..ROWS).map(|k| (1.0 + 1.4 * wave(k, 1.7)).clamp(0.0, 2.0).round()).collect();
    model(Arc::new(Ordinal::new(3).unwrap()), &y)
}

pub(super) fn value_and_gradient(model: &Mixed, chart: &Chart, point: &[f64]) -> (f64, Vec<f64>) {
    let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
    model.evaluate(chart, point, &mut value, &mut gradient, &mut Scratch::default()).unwrap();
    (value[0], gradient)
}

/// A point some standard deviations from the middle.
pub(super) fn somewhere(model: &Mixed, chart: &Chart, seed: usize) -> Vec<f64> {
    let mut point: Vec<f64> = (0..model.head).map(|k| 1.3 * wave(k + 31 * seed, 2.3)).collect();
    point.extend(chart.centre().iter().enumerate().map(|(k, t)| t + 0.5 * wave(k + 7 * seed, 1.1)));
    point
}

fn charts(model: &Mixed) -> [Chart; 2] {
    let [a, b] = [model.prepare().unwrap(), model.prepare().unwrap()];
    assert!(a.follows());
    let b = b.with_one_factor(model).unwrap();
    assert!(!b.follows());
    [a, b]
}

/// t as the model has it, and the logarithm of the derivative by t as chains have it: by differences.
fn plain_t(chart: &Chart, v: &[f64]) -> (Vec<f64>, f64) {
    let mut t = Vec::new();
    chart.knees.unbend(v, &mut t);
    let slope = |k: usize| {
        let [high, low] = [1e-5, -1e-5].map(|by| {
            let (mut moved, mut t) = (v.to_vec(), Vec::new());
            moved[k] += by;
            chart.knees.unbend(&moved, &mut t);
            t[k]
        });
        (high - low) / 2e-5
    };
    let log_slope = (0..v.len()).map(|k| slope(k).ln()).sum();
    (t, log_slope)
}

/// −log of the marginal density of t as chains have it, up to a constant, for normal responses, by
/// dense algebra.
fn marginal(model: &Mixed, chart: &Chart, y: &[f64], v: &[f64]) -> f64 {
    let (t, log_slope) = plain_t(chart, v);
    let (log_sigma, phi) = (t[0], &t[1..]);
    let design = design(2);
    let fixed = 2;
    let d = model.head;
    let a = Mat::from_fn(ROWS, d, |i, k| design.values()[i * d + k]);
    let mut prior = Mat::<f64>::zeros(d, d);
    (0..fixed).for_each(|k| prior[(k, k)] = 4.0);
    let mut value = 0.0;
    for (term, phi) in model.with_parameters(phi) {
        let mut natural = phi.to_vec();
        term.to_natural(&mut natural);
        let q = term.width;
        let covariance = |i: usize, j: usize| {
            let correlation = if i == j { 1.0 } else { natural[q] };
            natural[i] * natural[j] * correlation
        };
        for level in 0..term.levels {
            for i in 0..q {
                for j in 0..q {
                    prior[(term.first + level * q + i, term.first + level * q + j)] =
                        covariance(i, j);
                }
            }
        }
        // Densities of sds and correlation, and of their logarithms and hyperbolic tangents.
        for (prior, sd) in term.sds.iter().zip(&natural) {
            value += prior.value_and_slope(*sd)[0] - sd.ln();
        }
        if q == 2 {
            let left = 1.0 - natural[2] * natural[2];
            value -= (term.concentration - 1.0) * left.ln() + left.ln();
        }
    }
    let sigma = log_sigma.exp();
    value += 0.5 * sigma - log_sigma;
    let mut covariance = &a * &prior * a.transpose();
    (0..ROWS).for_each(|k| covariance[(k, k)] += sigma * sigma);
    let mean = &a * Mat::from_fn(d, 1, |k, _| if k < fixed { 0.2 } else { 0.0 });
    let rest = Mat::from_fn(ROWS, 1, |k, _| y[k] - mean[(k, 0)]);
    let factor = covariance.llt(Side::Lower).unwrap();
    let mut white = rest.clone();
    faer::linalg::triangular_solve::solve_lower_triangular_in_place(
        factor.L(),
        white.as_mut(),
        faer::Par::Seq,
    );
    value += (0..ROWS).map(|k| 0.5 * white[(k, 0)].powi(2) + factor.L()[(k, k)].ln()).sum::<f64>();
    value - log_slope
}

/// For normal responses ζ is standard normal and independent of t, whose law is the marginal one. A
/// Jacobian that is forgotten, of ζ, of a standard deviation or of a correlation, shows here.
#[test]
fn normal_responses_have_their_exact_law() {
    let model = real();
    let y: Vec<f64> =
        (0..ROWS).map(|k| 1.0 + 2.0 * wave(k, 1.7) + wave(k, 5.1) + wave(k % 5, 2.0)).collect();
    let chart = model.prepare().unwrap();
    assert!(chart.follows());
    let off = |seed: usize| {
        let point = somewhere(&model, &chart, seed);
        let (zeta, t) = point.split_at(model.head);
        let squares: f64 = zeta.iter().map(|z| 0.5 * z * z).sum();
        value_and_gradient(&model, &chart, &point).0 - squares - marginal(&model, &chart, &y, t)
    };
    let first = off(0);
    for seed in 1..20 {
        assert!((off(seed) - first).abs() < 1e-8, "{seed}: {} for {first}", off(seed));
    }
    // t at the centre is where the marginal density is largest.
    let at = |k: usize, by: f64| {
        let mut t = chart.centre().to_vec();
        t[k] += by;
        marginal(&model, &chart, &y, &t)
    };
    for k in 0..chart.centre().len() {
        assert!(at(k, 0.1) > at(k, 0.0) - 1e-3 && at(k, -0.1) > at(k, 0.0) - 1e-3, "{k}");
    }
}

/// The density in coordinates is that of the model times the determinant of the change, whichever
/// chart makes it and whatever the likelihood is.
#[test]
fn coordinates_keep_the_law() {
    for model in [real(), counts(), levels()] {
        for chart in charts(&model) {
            let off = |seed: usize| {
                let point = somewhere(&model, &chart, seed);
                let (zeta, v) = point.split_at(model.head);
                let (t, log_slope) = plain_t(&chart, v);
                let x_at = |zeta: &[f64]| {
                    let mut here = Here::default();
                    assert!(chart.at(&model, &t, &mut here));
                    let mut x = vec![0.0; model.head];
                    chart.point(&model, &mut here, zeta, &mut x);
                    x
                };
                // x is linear in ζ.
                let origin = x_at(&vec![0.0; model.head]);
                let column = |k: usize| {
                    let mut unit = vec![0.0; model.head];
                    unit[k] = 1.0;
                    x_at(&unit)
                };
                let columns: Vec<Vec<f64>> = (0..model.head).map(column).collect();
                let map = Mat::from_fn(model.head, model.head, |i, k| columns[k][i] - origin[i]);
                let mut plain = x_at(zeta);
                plain.extend_from_slice(&t);
                let (mut value, mut gradient) = ([0.0], vec![0.0; plain.len()]);
                let scratch = &mut Scratch::default();
                model.values_and_gradients(&plain, &mut value, &mut gradient, scratch).unwrap();
                let here = value_and_gradient(&model, &chart, &point).0;
                here - (value[0] - map.determinant().abs().ln() - log_slope)
            };
            for seed in 0..6 {
                assert!(off(seed).abs() < 1e-8, "{seed}: {}", off(seed));
            }
        }
    }
}

#[test]
fn gradients_are_those_of_the_values() {
    for model in [real(), counts(), levels()] {
        for chart in charts(&model) {
            for seed in 0..4 {
                let point = somewhere(&model, &chart, seed);
                let (_, gradient) = value_and_gradient(&model, &chart, &point);
                for k in 0..point.len() {
                    let moved = |by: f64| {
                        let mut point = point.clone();
                        point[k] += by;
                        value_and_gradient(&model, &chart, &point).0
                    };
                    let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                    let size = slope.abs().max(1.0);
                    assert!(
                        (slope - gradient[k]).abs() < 3e-5 * size,
                        "{k}: {slope} {}",
                        gradient[k]
                    );
                }
                // The same in plain coordinates.
                let mut plain = point.clone();
                let mut here = Here::default();
                plain[model.head..].copy_from_slice(&plain_t(&chart, &point[model.head..]).0);
                assert!(chart.at(&model, &plain[model.head..], &mut here));
                chart.point(&model, &mut here, &point[..model.head], &mut plain[..model.head]);
                let evaluate = |point: &[f64]| {
                    let (mut value, mut gradient) = ([0.0], vec![0.0; point.len()]);
                    let scratch = &mut Scratch::default();
                    model.values_and_gradients(point, &mut value, &mut gradient, scratch).unwrap();
                    (value[0], gradient)
                };
                let gradient = evaluate(&plain).1;
                for k in 0..plain.len() {
                    let moved = |by: f64| {
                        let mut plain = plain.clone();
                        plain[k] += by;
                        evaluate(&plain).0
                    };
                    let slope = (moved(1e-4) - moved(-1e-4)) / 2e-4;
                    let size = slope.abs().max(1.0);
                    assert!(
                        (slope - gradient[k]).abs() < 3e-5 * size,
                        "{k}: {slope} {}",
                        gradient[k]
                    );
                }
            }
        }
    }
}

/// What makes coordinates good: near the centre −log density is that of a standard normal ζ.
#[test]
fn coordinates_are_nearly_round() {
    for model in [real(), counts(), levels()] {
        for chart in charts(&model) {
            let mut point = vec![0.0; model.head];
            point.extend_from_slice(chart.centre());
            let origin = value_and_gradient(&model, &chart, &point).0;
            for k in 0..model.head {
                let moved = |by: f64| {
                    let mut point = point.clone();
                    point[k] += by;
                    value_and_gradient(&model, &chart, &point).0
                };
                let curvature = (moved(0.5) + moved(-0.5) - 2.0 * origin) / 0.25;
                assert!((0.5..2.0).contains(&curvature), "{k}: {curvature}");
            }
        }
    }
}

#[test]
fn correlations_go_there_and_back() {
    let term = GroupTerm {
        first: 0,
        levels: 4,
        width: 4,
        sds: vec![Density::Exponential { rate: 1.0 }; 4],
        concentration: 1.0,
    };
    let phi: Vec<f64> = (0..term.parameters()).map(|k| 0.8 * wave(k, 1.9)).collect();
    let mut natural = phi.clone();
    term.to_natural(&mut natural);
    let mut back = natural.clone();
    term.to_unconstrained(&mut back);
    assert!(phi.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-12), "{phi:?} {back:?}");
    // The covariance by the numbers that users read is that of the factor.
    let precision = term.scale(&phi).precision();
    let mut next = 4;
    let mut covariance = Mat::<f64>::zeros(4, 4);
    for i in 0..4 {
        covariance[(i, i)] = natural[i] * natural[i];
        for j in 0..i {
            covariance[(i, j)] = natural[next] * natural[i] * natural[j];
            covariance[(j, i)] = covariance[(i, j)];
            next += 1;
        }
    }
    let product = &covariance * Mat::from_fn(4, 4, |i, j| precision[4 * i + j]);
    for i in 0..4 {
        for j in 0..4 {
            let need = f64::from(u8::from(i == j));
            assert!((product[(i, j)] - need).abs() < 1e-12);
        }
    }
}

/// The prior of correlation matrices: by its definition, det(Ω)^(η − 1), and the determinant of the
/// change of variables by differences.
#[test]
fn the_prior_of_correlations_is_lkj() {
    let term = GroupTerm {
        first: 0,
        levels: 1,
        width: 3,
        sds: vec![Density::Flat; 3],
        concentration: 2.5,
    };
    let correlations = |phi: &[f64]| {
        let mut natural = phi.to_vec();
        term.to_natural(&mut natural);
        [natural[3], natural[4], natural[5]]
    };
    let definition = |phi: &[f64]| {
        let [a, b, c] = correlations(phi);
        let det = 1.0 + 2.0 * a * b * c - a * a - b * b - c * c;
        let slopes = Mat::from_fn(3, 3, |i, k| {
            let mut moved = phi.to_vec();
            moved[3 + k] += 1e-5;
            let high = correlations(&moved)[i];
            moved[3 + k] -= 2e-5;
            (high - correlations(&moved)[i]) / 2e-5
        });
        -(1.5 * det.ln() + slopes.determinant().abs().ln())
    };
    let phi = |seed: usize| -> Vec<f64> {
        (0..6).map(|k| if k < 3 { 0.0 } else { wave(k + seed, 2.9) }).collect()
    };
    let off = |seed: usize| term.prior(&phi(seed)) - definition(&phi(seed));
    for seed in 1..8 {
        assert!((off(seed) - off(0)).abs() < 1e-7, "{}", off(seed) - off(0));
    }
}

/// Chains in one call are what they are alone, to the last bit, beside one that is beyond all bounds.
#[test]
fn chains_do_not_depend_on_each_other() {
    for model in [real(), counts(), levels()] {
        for chart in charts(&model) {
            let mut points: Vec<Vec<f64>> =
                (0..15).map(|seed| somewhere(&model, &chart, seed)).collect();
            points[3][model.head] = 1e5;
            points[9][model.head..].fill(f64::NAN);
            let d = model.dimension();
            let (mut values, mut gradients) = (vec![0.0; 15], vec![0.0; 15 * d]);
            let scratch = &mut Scratch::default();
            model.evaluate(&chart, &points.concat(), &mut values, &mut gradients, scratch).unwrap();
            for (k, point) in points.iter().enumerate() {
                let (value, gradient) = value_and_gradient(&model, &chart, point);
                let bits = |list: &[f64]| list.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
                assert_eq!(bits(&[value]), bits(&values[k..=k]), "{k}");
                assert_eq!(bits(&gradient), bits(&gradients[k * d..(k + 1) * d]), "{k}");
                assert!((k == 3 || k == 9) != (value.is_finite() && value < 1e9), "{k}: {value}");
            }
        }
    }
}

//! Wide models taken apart: the same posterior in other coordinates.

use ridgewalk_potentials::families::{Family, Gaussian, Logistic};
use ridgewalk_potentials::peers::{Peers, Threads};
use ridgewalk_potentials::{
    Dense, Design, LineIntegral, MappedRidge, ModeSearch, Note, Prior, Ridge, Rows, Scratch,
    Sparse, Whitening, Wide,
};

use crate::support::{largest, numbers};

const ROWS: usize = 25;
const D: usize = 60;

/// The units of the columns.
fn unit(k: usize) -> f64 {
    [1.0, 300.0, 0.01][k % 3]
}

/// Coefficients of about the size of their priors.
fn coefficients(seed: u64) -> Vec<f64> {
    numbers(seed, D).iter().enumerate().map(|(k, x)| x / unit(k)).collect()
}

/// A model with weights, offsets and uncentred priors, the first `flat` of them flat. Units of the
/// columns differ.
fn model<F: Family>(family: F, flat: usize, sparse: bool) -> Ridge<'static, F> {
    let entry = |(at, x): (usize, f64)| if sparse && x < 0.3 { 0.0 } else { unit(at % D) * x };
    let values: Vec<f64> = numbers(1, ROWS * D).into_iter().enumerate().map(entry).collect();
    let dense = Dense::new(ROWS, D, values).unwrap();
    let design: Design<'static> =
        if sparse { Sparse::from_dense(&dense).into() } else { dense.into() };
    let responses: Vec<f64> = (0..ROWS).map(|i| f64::from(u8::from(i * 7 % 3 == 0))).collect();
    let scales: Vec<f64> =
        (0..D).map(|k| if k < flat { f64::INFINITY } else { 2.0 / unit(k) }).collect();
    Ridge::new(design, family, &responses, Prior::normal(&coefficients(2), &scales).unwrap())
        .unwrap()
        .with_weights(numbers(3, ROWS).iter().map(|w| w.abs() + 0.1).collect())
        .unwrap()
        .with_offsets(numbers(4, ROWS))
        .unwrap()
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / largest(b)
}

/// Coordinates of α that are no identity, around a point that is not 0.
fn within(k: usize) -> Whitening {
    let b = numbers(5, k * k);
    let entry = |i: usize, j: usize| (0..k).map(|l| b[i * k + l] * b[j * k + l]).sum::<f64>();
    let matrix: Vec<f64> = (0..k * k)
        .map(|at| entry(at / k, at % k) + if at % (k + 1) == 0 { 0.5 } else { 0.0 })
        .collect();
    Whitening::from_covariance(&numbers(6, k), &matrix).unwrap().of_last(D).unwrap()
}

/// Integrals, gradients and values (less the first one) of some chains.
fn answers(potential: &dyn LineIntegral, chains: usize) -> [Vec<f64>; 3] {
    let (z, p) = (numbers(12, chains * D), numbers(13, chains * D));
    let scratch = &mut Scratch::default();
    let [mut integrals, mut gradients] = [vec![0.0; z.len()], vec![0.0; z.len()]];
    let mut values = vec![0.0; chains];
    potential.integrate(0.3, &z, &p, &mut integrals, scratch).unwrap();
    potential.gradients(&z, &mut gradients, scratch).unwrap();
    let mut again = gradients.clone();
    potential.values_and_gradients(&z, &mut values, &mut again, scratch).unwrap();
    assert_eq!(gradients, again);
    let first = values[0];
    values.iter_mut().for_each(|value| *value -= first);
    [integrals, gradients, values]
}

/// Whatever the coordinates within, the parts are the potential that copies and maps have.
fn same_potential<F: Family + Clone>(family: F) {
    for (flat, sparse) in [(0, false), (0, true), (2, false)] {
        let original = model(family.clone(), flat, sparse);
        let wide = Wide::new(&original).unwrap();
        assert_eq!(wide.round(), D - ROWS - flat);
        let within = within(D - wide.round());
        let white = wide.whitened(&within).unwrap();
        let whitening = wide.frame().then(&within).unwrap();
        let copied = original.whitened(&whitening.as_matrix()).unwrap();
        let mapped = MappedRidge::new(&original, &whitening).unwrap();
        let found = answers(&white, 11);
        for wanted in [answers(&copied, 11), answers(&mapped, 11)] {
            for (found, wanted) in found.iter().zip(&wanted) {
                assert!(off(found, wanted) < 1e-9, "{flat} {sparse}: {}", off(found, wanted));
            }
        }
        // Chains do not depend on each other.
        for (all, one) in found.iter().zip(answers(&white, 1)) {
            assert_eq!(&all[..one.len()], &one[..]);
        }
        // Another scale of the prior is seen.
        let scales = vec![2.0 * (1.0 + 1e-6); D];
        let other = original.clone().with_prior(Prior::normal(&[0.0; D], &scales).unwrap());
        let other = answers(&MappedRidge::new(&other.unwrap(), &whitening).unwrap(), 11);
        assert!(off(&found[1], &other[1]) > 1e-8);
        // Bounds hold for the same matrix.
        let [found, wanted] = [white.curvature(), copied.curvature()].map(Result::unwrap);
        let [l, wanted_l] = [&found, &wanted].map(|c| c.smoothness().unwrap().value);
        assert!((l / wanted_l - 1.0).abs() < 1e-9, "{l} for {wanted_l}");
        let [m, wanted_m] = [&found, &wanted].map(|c| c.convexity().value);
        assert!((m - wanted_m).abs() < 1e-7, "{m} for {wanted_m}");
    }
}

#[test]
fn the_parts_are_the_whole() {
    same_potential(Logistic);
    same_potential(Gaussian::new(0.7).unwrap());
}

/// W Wᵀ = H⁻¹ for the Hessian in the coordinates of the coefficients, inverted there.
#[test]
fn coordinates_are_those_of_the_dense_hessian() {
    for flat in [0, 3] {
        let original = model(Logistic, flat, false);
        let wide = Wide::new(&original).unwrap();
        let point: Vec<f64> = coefficients(7).iter().map(|x| 0.2 * x).collect();
        let mut inner = vec![0.0; D];
        wide.frame().to_whitened(&point, &mut inner).unwrap();
        let alpha = &inner[wide.round()..];
        let last = Whitening::from_hessian(alpha, &wide.core().hessian(alpha).unwrap()).unwrap();
        let found = wide.frame().then(&last.of_last(D).unwrap()).unwrap();
        let hessian = original.hessian(&point).unwrap();
        let dense = Whitening::from_hessian(&point, &hessian).unwrap();
        let (wanted, covariance) = (dense.covariance(), found.covariance());
        let sd = |k: usize| wanted[k * (D + 1)].sqrt();
        let error = |at: usize| (wanted[at] - covariance[at]).abs() / sd(at / D) / sd(at % D);
        let worst = (0..D * D).map(error).fold(0.0, f64::max);
        assert!(worst < 1e-10, "{flat}: {worst:e}");
        let variances = found.variances();
        assert!((0..D).all(|k| (variances[k] / wanted[k * (D + 1)] - 1.0).abs() < 1e-10));
        // Those of another point are not.
        let elsewhere = original.hessian(&vec![0.0; D]).unwrap();
        let elsewhere = Whitening::from_hessian(&point, &elsewhere).unwrap().variances();
        assert!(off(&elsewhere, &variances) > 1e-3);
    }
}

#[test]
fn points_go_there_and_back() {
    let wide = Wide::new(&model(Logistic, 1, false)).unwrap();
    let whitening = wide.frame().then(&within(D - wide.round())).unwrap();
    let matrix = whitening.as_matrix();
    let theta = coefficients(8);
    let through = |map: &dyn Fn(&Whitening, &mut [f64])| {
        let [mut found, mut wanted] = [vec![0.0; D], vec![0.0; D]];
        map(&whitening, &mut found);
        map(&matrix, &mut wanted);
        assert!(off(&found, &wanted) < 1e-11, "{}", off(&found, &wanted));
        found
    };
    through(&|w, out| w.gradient_to_whitened(&theta, out).unwrap());
    through(&|w, out| w.gradient_to_original(&theta, out).unwrap());
    through(&|w, out| w.direction_to_whitened(&theta, out).unwrap());
    let z = through(&|w, out| w.to_whitened(&theta, out).unwrap());
    let back = through(&|w, out| w.to_original(&z, out).unwrap());
    // Units differ by 30,000.
    assert!(off(&back, &theta) < 1e-11);
    let mut all = vec![0.0; 3 * D];
    whitening.to_original_all(&[&z[..], &theta, &z].concat(), &mut all).unwrap();
    assert_eq!(all[..D], back);
    assert_eq!(all[2 * D..], back);
    let inverse = whitening.inverse();
    let mut again = vec![0.0; D];
    inverse.to_original(&theta, &mut again).unwrap();
    assert!(off(&again, &z) < 1e-11);
    assert_eq!(Whitening::restore(whitening.saved()).unwrap(), whitening);
    let mut cut = whitening.saved();
    cut.rotation.pop();
    assert!(Whitening::restore(cut).is_err());
    let mut bad = whitening.saved();
    bad.rotation[0] = -1.0;
    assert!(Whitening::restore(bad).is_err());
}

#[test]
fn the_mode_is_that_of_the_whole() {
    for flat in [0, 2] {
        let original = model(Logistic, flat, false);
        let wide = Wide::new(&original).unwrap();
        let wanted = original.mode().unwrap();
        for search in [ModeSearch::new(), ModeSearch::new().with_start(numbers(9, D))] {
            let found = wide.mode(&original, &search).unwrap();
            assert!(largest(&found.point[..wide.round()]) < 1e-6);
            assert_eq!(found.properness, wanted.properness);
            let mut theta = vec![0.0; D];
            wide.frame().to_original(&found.point, &mut theta).unwrap();
            let sds = Whitening::from_hessian(&theta, &original.hessian(&theta).unwrap()).unwrap();
            let far = theta.iter().zip(&wanted.point).zip(sds.variances());
            assert!(far.into_iter().all(|((a, b), v)| (a - b).abs() < 1e-6 * v.sqrt()));
        }
    }
}

/// Rows of zeros and rows that are there twice: fewer directions than rows.
#[test]
fn rows_that_depend_on_each_other_do_no_harm() {
    let mut values = numbers(10, 12 * D);
    values[..D].fill(0.0);
    values.copy_within(3 * D..4 * D, 5 * D);
    values.copy_within(3 * D..4 * D, 11 * D);
    values[4 * D..5 * D].fill(0.0);
    let responses: Vec<f64> = (0..12).map(|i| f64::from(i % 2)).collect();
    let prior = Prior::centred(D, 1.5).unwrap();
    let original = Ridge::new(Dense::new(12, D, values).unwrap(), Logistic, &responses, prior);
    let original = original.unwrap();
    let wide = Wide::new(&original).unwrap();
    let white = wide.whitened(&Whitening::diagonal(&[0.0; D], &[1.0; D]).unwrap());
    assert!(white.is_err(), "coordinates of all are not of the last ones");
    let identity = Whitening::from_covariance(&[0.0; 12], &{
        let mut matrix = vec![0.0; 144];
        matrix.iter_mut().step_by(13).for_each(|x| *x = 1.0);
        matrix
    });
    let within = identity.unwrap().of_last(D).unwrap();
    let white = wide.whitened(&within).unwrap();
    let mapped = MappedRidge::new(&original, &wide.frame().then(&within).unwrap()).unwrap();
    for (found, wanted) in answers(&white, 3).iter().zip(answers(&mapped, 3)) {
        assert!(off(found, &wanted) < 1e-12);
    }
    let mode = wide.mode(&original, &ModeSearch::new()).unwrap();
    assert!(!mode.notes.iter().any(|note| matches!(note, Note::Collinear(_))));
}

#[test]
fn only_what_pays_is_taken_apart() {
    let of = |rows: usize, d: usize| {
        let design = Dense::new(rows, d, numbers(11, rows * d)).unwrap();
        Ridge::new(design, Logistic, &vec![1.0; rows], Prior::centred(d, 1.0).unwrap()).unwrap()
    };
    assert!(of(10, 1000).wide().is_none(), "few columns");
    assert!(of(10, 1001).wide().is_some());
    assert!(of(760, 1004).wide().is_none(), "many rows");
    assert!(Wide::new(&of(6, 5)).is_none() && Wide::new(&of(5, 5)).is_none());
    let flat = of(10, 1001).with_prior(Prior::flat(1001)).unwrap();
    assert!(flat.wide().is_none(), "too many flat priors");
    std::thread::scope(|scope| {
        for peers in Threads::group(2) {
            scope.spawn(move || {
                assert_eq!(peers.size(), 2);
                let rows = Rows::shared(std::sync::Arc::new(peers));
                assert!(of(10, 1001).with_rows(&rows).wide().is_none());
            });
        }
    });
}

#[test]
fn a_mean_hessian_is_the_mean_of_hessians() {
    let original = model(Logistic, 1, true);
    let points: Vec<f64> = (0..5).flat_map(|k| coefficients(20 + k)).map(|x| 0.1 * x).collect();
    let mut wanted = vec![0.0; D * D];
    for point in points.chunks(D) {
        let hessian = original.hessian(point).unwrap();
        wanted.iter_mut().zip(hessian).for_each(|(sum, h)| *sum += 0.2 * h);
    }
    let found = original.mean_hessian(&points).unwrap();
    assert!(off(&found, &wanted) < 1e-13);
    assert!(off(&original.mean_hessian(&points[..D]).unwrap(), &wanted) > 1e-4);
    assert!(original.mean_hessian(&[]).is_err() && original.mean_hessian(&points[1..]).is_err());
}

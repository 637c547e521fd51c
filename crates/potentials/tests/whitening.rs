//! Changes of coordinates: what a whitened potential computes is what the original computes, and
//! the matrices are what they claim.

use proptest::prelude::*;
use ridgewalk_potentials::families::{Family, Gaussian, Logistic, Poisson, Probit};
use ridgewalk_potentials::{
    Chebyshev, Dense, Design, Error, Gradient, Impropriety, Prior, Ridge, Sparse, Whitened,
    Whitening,
};

use crate::support::{integral, largest, numbers};

/// A model with weights, offsets, uncentred priors and a flat one.
fn model<F: Family>(
    family: F, rows: usize, d: usize, seed: u64, sparse: bool,
) -> Ridge<'static, F> {
    let values =
        numbers(seed, rows * d).into_iter().map(|x| if sparse && x.abs() < 0.6 { 0.0 } else { x });
    let dense = Dense::new(rows, d, values.collect::<Vec<f64>>()).unwrap();
    let design: Design<'static> =
        if sparse { Sparse::from_dense(&dense).into() } else { dense.into() };
    let responses: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(i * 7 % 3 == 0))).collect();
    let scales: Vec<f64> =
        (0..d).map(|k| if k == 1 { f64::INFINITY } else { 0.5 + k as f64 }).collect();
    Ridge::new(design, family, &responses, Prior::normal(&numbers(seed + 1, d), &scales).unwrap())
        .unwrap()
        .with_weights(numbers(seed + 2, rows).iter().map(|w| w.abs() + 0.1).collect())
        .unwrap()
        .with_offsets(numbers(seed + 3, rows))
        .unwrap()
}

/// B Bᵀ + I/10 for a random B.
fn positive_definite(seed: u64, d: usize) -> Vec<f64> {
    let b = numbers(seed, d * d);
    let entry = |i: usize, j: usize| (0..d).map(|k| b[i * d + k] * b[j * d + k]).sum::<f64>();
    let shift = |i, j| if i == j { 0.1 } else { 0.0 };
    (0..d * d).map(|at| entry(at / d, at % d) + shift(at / d, at % d)).collect()
}

/// The three kinds, around a point that is not the origin.
fn whitenings(seed: u64, d: usize) -> [Whitening; 3] {
    let centre = numbers(seed + 10, d);
    let scales: Vec<f64> = numbers(seed + 11, d).iter().map(|s| (2.0 * s).exp()).collect();
    let matrix = positive_definite(seed + 12, d);
    [
        Whitening::from_hessian(&centre, &matrix).unwrap(),
        Whitening::from_covariance(&centre, &matrix).unwrap(),
        Whitening::diagonal(&centre, &scales).unwrap(),
    ]
}

/// A list through one of the maps of a whitening.
fn through(map: impl Fn(&[f64], &mut [f64]) -> Result<(), Error>, from: &[f64]) -> Vec<f64> {
    let mut to = vec![f64::NAN; from.len()];
    map(from, &mut to).unwrap();
    to
}

fn assert_close(a: &[f64], b: &[f64], tolerance: f64) {
    let difference = a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(difference <= tolerance * largest(a), "{a:?} and {b:?}");
}

/// The integral in whitened coordinates, mapped back, against the original; and the model whitened
/// there and back.
fn unchanged<F: Family + Clone>(family: F, seed: u64, sparse: bool, length: f64) {
    let d = 5;
    let original = model(family, 40, d, seed, sparse);
    let (position, momentum) = (numbers(seed + 5, d), numbers(seed + 6, d));
    let wanted = integral(&original, length, &position, &momentum);
    for w in whitenings(seed, d) {
        let white = original.whitened(&w).unwrap();
        let z = through(|a, b| w.to_whitened(a, b), &position);
        let v = through(|a, b| w.direction_to_whitened(a, b), &momentum);
        let mapped =
            through(|a, b| w.gradient_to_original(a, b), &integral(&white, length, &z, &v));
        assert_close(&wanted, &mapped, 1e-11);
        let back = white.whitened(&w.inverse()).unwrap();
        assert_close(&wanted, &integral(&back, length, &position, &momentum), 1e-11);
        // Values differ by a constant.
        let other = numbers(seed + 7, d);
        let z_other = through(|a, b| w.to_whitened(a, b), &other);
        let rise = original.value(&other).unwrap() - original.value(&position).unwrap();
        let white_rise = white.value(&z_other).unwrap() - white.value(&z).unwrap();
        assert!((rise - white_rise).abs() < 1e-11 * (1.0 + original.value(&other).unwrap().abs()));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn whitening_there_and_back_changes_nothing(seed in 0_u64..100_000, sparse: bool, length in 0.01..2.0_f64) {
        unchanged(Logistic, seed, sparse, length);
        unchanged(Probit, seed, sparse, length);
        unchanged(Poisson, seed, sparse, length);
        unchanged(Gaussian::new(0.7).unwrap(), seed, sparse, length);
    }

    #[test]
    fn points_go_there_and_back(seed in 0_u64..100_000) {
        let theta = numbers(seed, 4);
        for w in whitenings(seed, 4) {
            let z = through(|a, b| w.to_whitened(a, b), &theta);
            assert_close(&theta, &through(|a, b| w.to_original(a, b), &z), 1e-12);
            assert_close(&theta, &through(|a, b| w.inverse().to_whitened(a, b), &z), 1e-12);
            assert_close(&z, &through(|a, b| w.inverse().to_original(a, b), &theta), 1e-10);
            // One after another.
            for next in whitenings(seed + 7, 4) {
                let both = w.then(&next).unwrap();
                let y = through(|a, b| next.to_whitened(a, b), &z);
                assert_close(&theta, &through(|a, b| both.to_original(a, b), &y), 1e-9);
                assert_close(&y, &through(|a, b| both.to_whitened(a, b), &theta), 1e-9);
            }
            // Gradients are covectors: Wᵀ, and the pairing with directions is kept.
            let g = numbers(seed + 1, 4);
            let (v, white_g) = (
                through(|a, b| w.direction_to_whitened(a, b), &theta),
                through(|a, b| w.gradient_to_whitened(a, b), &g),
            );
            let pairing = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            assert!((pairing(&theta, &g) - pairing(&v, &white_g)).abs() < 1e-10);
        }
    }
}

#[test]
fn the_hessian_at_the_centre_becomes_the_identity() {
    // Differences of the gradient give the Hessian without other code under test.
    let (d, h) = (4, 1e-5);
    let differences = |model: &Ridge<'_, Logistic>, at: &[f64]| {
        let mut hessian = vec![0.0; d * d];
        for k in 0..d {
            let gradient = |shift: f64| {
                let mut point = at.to_vec();
                point[k] += shift;
                through(|x, g| model.gradient(x, g).map_err(|_| unreachable!()), &point)
            };
            let (up, down) = (gradient(h), gradient(-h));
            (0..d).for_each(|j| hessian[k * d + j] = (up[j] - down[j]) / (2.0 * h));
        }
        hessian
    };
    let original = model(Logistic, 60, d, 3, false);
    let centre = numbers(4, d);
    let mut hessian = differences(&original, &centre);
    for (i, j) in (0..d).flat_map(|i| (0..i).map(move |j| (i, j))) {
        let mean = 0.5 * (hessian[i * d + j] + hessian[j * d + i]);
        (hessian[i * d + j], hessian[j * d + i]) = (mean, mean);
    }
    let whitening = Whitening::from_hessian(&centre, &hessian).unwrap();
    let white = original.whitened(&whitening).unwrap();
    let exact = whitening.hessian_to_whitened(&original.hessian(&centre).unwrap()).unwrap();
    assert_close(&exact, &white.hessian(&vec![0.0; d]).unwrap(), 1e-13);
    let found = differences(&white, &vec![0.0; d]);
    for (at, entry) in found.iter().enumerate() {
        let wanted = if at / d == at % d { 1.0 } else { 0.0 };
        assert!((entry - wanted).abs() < 1e-8, "{found:?}");
    }
}

#[test]
fn covariances_are_what_w_makes_of_round_noise() {
    let d = 6;
    let covariance = positive_definite(8, d);
    let w = Whitening::from_covariance(&vec![0.0; d], &covariance).unwrap();
    // W Wᵀ from the images of the unit vectors.
    let columns: Vec<Vec<f64>> = (0..d)
        .map(|k| {
            let mut unit = vec![0.0; d];
            unit[k] = 1.0;
            through(|a, b| w.to_original(a, b), &unit)
        })
        .collect();
    let square: Vec<f64> =
        (0..d * d).map(|at| columns.iter().map(|c| c[at / d] * c[at % d]).sum()).collect();
    assert_close(&covariance, &square, 1e-14);
}

#[test]
fn a_whitened_gradient_is_the_gradient_of_the_whitened_model() {
    let original = model(Logistic, 30, 4, 21, false);
    for w in whitenings(22, 4) {
        let exact = original.whitened(&w).unwrap();
        let black_box = Chebyshev::new(Whitened::new(original.clone(), w).unwrap(), 40).unwrap();
        let (z, v) = (numbers(23, 4), numbers(24, 4));
        assert_close(&integral(&exact, 0.8, &z, &v), &integral(&black_box, 0.8, &z, &v), 1e-12);
    }
    let failing = ridgewalk_potentials::FromFn::new(2, |_: &[f64], _: &mut [f64]| Err("no".into()));
    let w = Whitening::diagonal(&[1.0, 2.0], &[1.0, 1.0]).unwrap();
    let message = Whitened::new(failing, w.clone())
        .unwrap()
        .gradient(&[0.5, 0.0], &mut [0.0; 2])
        .unwrap_err();
    assert_eq!(message.to_string(), "no (in original coordinates, at [1.5, 2.0])");
    assert!(matches!(Whitened::new(original, w), Err(Error::Length { .. })));
}

#[test]
fn many_points_at_once_are_the_same_as_one_after_the_other() {
    let original = model(Logistic, 30, 4, 21, false);
    for w in whitenings(22, 4) {
        let white = Whitened::new(original.clone(), w).unwrap();
        let points = numbers(23, 12);
        let [mut values, mut gradients] = [vec![0.0; 3], vec![0.0; 12]];
        white.values_and_gradients_at(&points, &mut values, &mut gradients).unwrap();
        for (k, point) in points.chunks(4).enumerate() {
            let mut gradient = [0.0; 4];
            let value = white.value_and_gradient(point, &mut gradient).unwrap();
            assert_eq!((value, &gradient[..]), (Some(values[k]), &gradients[4 * k..4 * k + 4]));
        }
    }
    // Points of density 0 have an infinite value; a function without values has none.
    let half = ridgewalk_potentials::FromValueFn::new(1, |x: &[f64], g: &mut [f64]| {
        g[0] = 1.0;
        if x[0] < 0.0 { Err(ridgewalk_potentials::GradientError::OutsideSupport) } else { Ok(x[0]) }
    });
    let [mut values, mut gradients] = [[0.0; 2], [7.0; 2]];
    half.values_and_gradients_at(&[-1.0, 2.0], &mut values, &mut gradients).unwrap();
    assert_eq!((values, gradients), ([f64::INFINITY, 2.0], [0.0, 1.0]));
    let plain = ridgewalk_potentials::FromFn::new(1, |_: &[f64], _: &mut [f64]| Ok(()));
    let found = plain.values_and_gradients_at(&[0.0], &mut [0.0], &mut [0.0]);
    assert!(matches!(found, Err(Error::NoValue)));
}

#[test]
fn scales_of_1e9_beside_1e_minus_9_are_brought_to_1() {
    // Two columns eighteen orders of magnitude apart; the Hessian of the Gaussian model is AᵀA.
    let rows = 50;
    let base = numbers(31, 2 * rows);
    let values: Vec<f64> = base.chunks(2).flat_map(|r| [1e9 * r[0], 1e-9 * r[1]]).collect();
    let mut hessian = [0.0; 4];
    for row in values.chunks(2) {
        (0..4).for_each(|at| hessian[at] += row[at / 2] * row[at % 2]);
    }
    let responses = numbers(32, rows);
    let design = Dense::new(rows, 2, values).unwrap();
    let model =
        Ridge::new(design, Gaussian::new(1.0).unwrap(), &responses, Prior::flat(2)).unwrap();
    let white = model.whitened(&Whitening::from_hessian(&[0.0; 2], &hessian).unwrap()).unwrap();
    // The gradient of a quadratic with Hessian I moves with z one to one.
    let at = |z: [f64; 2]| through(|x, g| white.gradient(x, g).map_err(|_| unreachable!()), &z);
    let origin = at([0.0, 0.0]);
    for (k, z) in [[1.0, 0.0], [0.0, 1.0]].into_iter().enumerate() {
        let moved = at(z);
        (0..2).for_each(|j| {
            let wanted = if j == k { 1.0 } else { 0.0 };
            assert!((moved[j] - origin[j] - wanted).abs() < 1e-9);
        });
    }
}

#[test]
fn what_is_not_a_change_of_coordinates_is_refused() {
    let refusal =
        |hessian: &[f64]| Whitening::from_hessian(&[0.0, 0.0], hessian).unwrap_err().to_string();
    assert_eq!(
        refusal(&[1.0, 2.0, 2.0, 1.0]),
        "the Hessian at coefficient 1: found 1, need a positive definite matrix"
    );
    assert_eq!(
        refusal(&[1.0, 0.5, 0.4, 1.0]),
        "the Hessian at coefficient 1: found -0.09999999999999998, need a symmetric matrix"
    );
    assert_eq!(
        refusal(&[1.0, 0.0, f64::NAN, 1.0]),
        "the Hessian at coefficient 1: found NaN, need a finite number"
    );
    assert!(
        refusal(&[0.0, 0.0, 0.0, 1.0])
            .contains("coefficient 0: found 0, need a positive definite matrix")
    );
    assert_eq!(refusal(&[1.0; 3]), "the Hessian has 3 entries: need 4");
    assert!(Whitening::from_covariance(&[f64::INFINITY], &[1.0]).is_err());
    assert!(Whitening::from_covariance(&[], &[]).is_err());
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310] {
        let error = Whitening::diagonal(&[0.0, 0.0], &[1.0, bad]).unwrap_err();
        assert!(matches!(error, Error::Whitening { coefficient: 1, .. }), "{error}");
    }
    let w = Whitening::diagonal(&[0.0; 3], &[1.0; 3]).unwrap();
    assert!(matches!(model(Logistic, 5, 2, 1, false).whitened(&w), Err(Error::Length { .. })));
    assert!(
        w.to_original(&[0.0; 2], &mut [0.0; 3]).is_err()
            && w.to_whitened(&[0.0; 3], &mut [0.0; 2]).is_err()
    );
    // A design that overflows in the new coordinates.
    let big = Dense::new(1, 1, vec![1e200]).unwrap();
    let big = Ridge::new(big, Logistic, &[1.0], Prior::flat(1)).unwrap();
    let w = Whitening::diagonal(&[0.0], &[1e200]).unwrap();
    assert!(matches!(big.whitened(&w), Err(Error::Entry { row: 0, column: 0, .. })));
}

#[test]
fn modes_bounds_and_verdicts_are_those_of_the_original() {
    let d = 4;
    for (seed, scales) in [
        (41, [1.0, 2.0, 0.5, 3.0]),
        (42, [1.0, f64::INFINITY, f64::INFINITY, 2.0]),
        (43, [f64::INFINITY; 4]),
    ] {
        let rows = 60;
        let values = numbers(seed, rows * d);
        let y: Vec<f64> =
            numbers(seed + 1, rows).iter().map(|x| f64::from(u8::from(*x > 0.1))).collect();
        let prior = Prior::normal(&numbers(seed + 2, d), &scales).unwrap();
        let original =
            Ridge::new(Dense::new(rows, d, values).unwrap(), Logistic, &y, prior).unwrap();
        let mode = original.mode().unwrap();
        for w in whitenings(seed, d) {
            let white = original.whitened(&w).unwrap();
            let found = white.mode().unwrap();
            assert_close(&mode.point, &through(|a, b| w.to_original(a, b), &found.point), 1e-9);
            // Bounds of curvature hold along random directions at random points.
            let bounds = white.curvature().unwrap();
            let (m, l) = (bounds.convexity().value, bounds.smoothness().unwrap().value);
            assert!(m >= 0.0 && l > m && ((m > 0.0) == (seed == 41)), "{bounds:?}");
            for trial in 0..50 {
                let hessian = white.hessian(&numbers(1000 + trial, d)).unwrap();
                let v = numbers(2000 + trial, d);
                let form: f64 = (0..d * d).map(|at| v[at / d] * hessian[at] * v[at % d]).sum();
                let square: f64 = v.iter().map(|x| x * x).sum();
                assert!(m * square <= form && form <= l * square, "{m} {form} {l}");
            }
        }
    }
}

#[test]
fn a_posterior_that_does_not_exist_is_named_in_any_coordinates() {
    let (rows, d) = (60, 4);
    let y: Vec<f64> = numbers(51, rows).iter().map(|x| f64::from(u8::from(*x > 0.1))).collect();
    let verdict = |values: Vec<f64>, scales: [f64; 4]| {
        let prior = Prior::normal(&[0.0; 4], &scales).unwrap();
        let original =
            Ridge::new(Dense::new(rows, d, values).unwrap(), Logistic, &y, prior).unwrap();
        let verdicts = whitenings(52, d).map(|w| match original.whitened(&w).unwrap().mode() {
            Ok(_) => "proper",
            Err(Error::Improper(Impropriety::Collinear(_))) => "collinear",
            Err(Error::Improper(Impropriety::Separation(_))) => "separated",
            Err(other) => panic!("{other}"),
        });
        assert!(verdicts.iter().all(|v| *v == verdicts[0]), "{verdicts:?}");
        verdicts[0]
    };
    let flat = f64::INFINITY;
    let mut collinear = numbers(53, rows * d);
    collinear.chunks_mut(d).for_each(|row| row[3] = 2.0 * row[1]);
    assert_eq!(verdict(collinear.clone(), [1.0, flat, 1.0, flat]), "collinear");
    assert_eq!(verdict(collinear, [1.0, flat, 1.0, 1.0]), "proper");
    let mut separated = numbers(54, rows * d);
    separated.chunks_mut(d).zip(&y).for_each(|(row, y)| row[1] = (y - 0.5) * (0.1 + row[1].abs()));
    assert_eq!(verdict(separated.clone(), [1.0, flat, 1.0, 1.0]), "separated");
    assert_eq!(verdict(separated, [flat, 1.0, flat, flat]), "proper");
}

#[test]
fn a_prior_is_not_lost_on_the_way() {
    let model = || {
        Ridge::new(
            Dense::new(2, 1, vec![1e-3, 2e-3]).unwrap(),
            Logistic,
            &[0.0, 1.0],
            Prior::centred(1, 2.0).unwrap(),
        )
        .unwrap()
    };
    for (scale, found) in [(1e-170, "0"), (1e160, "inf")] {
        let w = Whitening::diagonal(&[0.0], &[scale]).unwrap();
        let message = model().whitened(&w).map(drop).unwrap_err().to_string();
        assert_eq!(
            message,
            format!(
                "the precision of the prior in new coordinates at coefficient 0: found {found}, need a positive, finite number"
            )
        );
    }
}

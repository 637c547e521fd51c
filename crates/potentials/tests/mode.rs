//! Modes against closed forms, against modes found elsewhere and between methods; and searches that
//! fail.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{Family, Gaussian, Huber, Logistic, Poisson, Probit};
use ridgewalk_potentials::{
    Dense, Error, FromFn, GradientError, Impropriety, Method, Mode, ModeSearch, Prior, Proof,
    Properness, Ridge, Separability, SeparationKind, Sparse,
};

use crate::support::*;

#[test]
fn the_mode_of_a_linear_regression_solves_the_normal_equations() {
    let (n, d) = (60, 5);
    let (a, y) = (numbers(1, n * d), numbers(2, n));
    let (sigma, mean, scale) =
        (0.7, [0.3, -0.2, 0.0, 1.0, 2.0], [1.0, f64::INFINITY, 2.0, 0.1, f64::INFINITY]);
    let weights: Vec<f64> = numbers(3, n).iter().map(|w| 1.5 + w).collect();
    let offsets = numbers(4, n);
    let model = Ridge::new(
        Dense::new(n, d, a.clone()).unwrap(),
        Gaussian::new(sigma).unwrap(),
        &y,
        Prior::normal(&mean, &scale).unwrap(),
    )
    .unwrap()
    .with_weights(weights.clone())
    .unwrap()
    .with_offsets(offsets.clone())
    .unwrap();
    let mut matrix = vec![vec![0.0; d]; d];
    let mut right = vec![0.0; d];
    for k in 0..d {
        let precision = 1.0 / (scale[k] * scale[k]);
        matrix[k][k] += precision;
        right[k] += precision * mean[k];
        for i in 0..n {
            let c = weights[i] / (sigma * sigma) * a[i * d + k];
            right[k] += c * (y[i] - offsets[i]);
            (0..d).for_each(|l| matrix[k][l] += c * a[i * d + l]);
        }
    }
    let exact = solve(matrix, right);
    let mode = model.mode().unwrap();
    assert_eq!((mode.method, mode.properness), (Method::Newton, Properness::Proper(Proof::Tails)));
    assert!(mode.notes.is_empty() && mode.iterations <= 2, "{mode:?}");
    for (ours, exact) in mode.point.iter().zip(&exact) {
        assert!((ours - exact).abs() < 1e-13, "{ours} and {exact}");
    }
}

#[test]
fn the_mode_of_wells_under_flat_priors_is_the_known_one() {
    let data = table("wells.csv");
    let known = reference("wells.mode.csv");
    let columns: Vec<Vec<f64>> = known[1..].iter().map(|(name, _)| data[name].clone()).collect();
    let model =
        Ridge::new(with_ones(&columns), Logistic, &data["switched"], Prior::flat(4)).unwrap();
    let mode = model.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    assert!(mode.iterations <= 6 && distance(&model, &mode.point) < 1e-12);
    for (ours, (name, known)) in mode.point.iter().zip(&known) {
        assert!((ours - known).abs() < 1e-9, "{name}: {ours} and {known}");
    }
    assert_eq!(model.separation().unwrap(), Separability::Overlapping);
}

#[test]
fn the_mode_of_breast_cancer_is_the_known_one_and_its_likelihood_has_none() {
    let data = table("breast-cancer.csv");
    let known = reference("breast-cancer.mode.csv");
    let columns: Vec<Vec<f64>> = known[1..]
        .iter()
        .map(|(name, _)| {
            let column = &data[name];
            let n = column.len() as f64;
            let mean = column.iter().sum::<f64>() / n;
            let sd = (column.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n).sqrt();
            column.iter().map(|x| (x - mean) / sd).collect()
        })
        .collect();
    let with = |prior| Ridge::new(with_ones(&columns), Logistic, &data["y"], prior).unwrap();
    let model = with(Prior::centred(31, 2.5).unwrap());
    let mode = model.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Prior));
    assert!(mode.notes.is_empty() && distance(&model, &mode.point) < 1e-11);
    for (ours, (name, known)) in mode.point.iter().zip(&known) {
        assert!((ours - known).abs() < 1e-12, "{name}: {ours} and {known}");
    }
    // All thirty predictors together separate the tumours: known, and what makes this a hard case.
    let Separability::Separated(separation) = model.separation().unwrap() else {
        panic!("not found")
    };
    assert_eq!((separation.kind, separation.separated), (SeparationKind::Complete, 569));
    assert_separates(&columns, &data["y"], &separation);
    let Err(Error::Improper(Impropriety::Separation(found))) = with(Prior::flat(31)).mode() else {
        panic!()
    };
    assert_eq!(found.kind, SeparationKind::Complete);
    // Ten of them do not.
    let few = Ridge::new(with_ones(&columns[..10]), Logistic, &data["y"], Prior::flat(11)).unwrap();
    assert_eq!(few.separation().unwrap(), Separability::Overlapping);
    assert_eq!(few.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
}

#[test]
fn every_family_is_solved_from_near_and_from_far() {
    for prior in [Prior::flat(4), Prior::centred(4, 1.5).unwrap()] {
        for family in families() {
            let name = family.name();
            let model = model(family, 80, 4, 31, prior.clone());
            let mode = model.mode().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(matches!(mode.properness, Properness::Proper(_)), "{name}: {mode:?}");
            assert!(
                distance(&model, &mode.point) < 1e-11,
                "{name}: {}",
                distance(&model, &mode.point)
            );
            for far in
                [[50.0, -40.0, 30.0, 20.0], [-1e3, 1e3, 500.0, -200.0], [300.0, 0.0, 0.0, 0.0]]
            {
                let search = ModeSearch::new().with_start(far.to_vec());
                let again = search
                    .of_ridge(&model)
                    .unwrap_or_else(|error| panic!("{name} from {far:?}: {error}"));
                let difference = largest(
                    &mode.point.iter().zip(&again.point).map(|(a, b)| a - b).collect::<Vec<_>>(),
                );
                assert!(
                    difference < 1e-7,
                    "{name} from {far:?}: {difference:e} after {}",
                    again.iterations
                );
            }
        }
    }
}

#[test]
fn gradients_alone_find_what_newton_finds() {
    for family in families() {
        let name = family.name();
        let model = model(family, 120, 6, 41, Prior::centred(6, 2.0).unwrap());
        let newton = model.mode().unwrap();
        let lbfgs = ModeSearch::new().with_method(Method::Lbfgs).of_ridge(&model).unwrap();
        assert_eq!(
            (lbfgs.method, lbfgs.properness),
            (Method::Lbfgs, Properness::Proper(Proof::Prior))
        );
        // As a black box, without the diagonal of the Hessian.
        let black = ModeSearch::new().with_start(vec![3.0; 6]).of_gradient(&model).unwrap();
        assert!(matches!(black.properness, Properness::NotChecked(_)));
        for k in 0..6 {
            assert!((newton.point[k] - lbfgs.point[k]).abs() < 1e-8, "{name}, {k}, {lbfgs:?}");
            assert!((newton.point[k] - black.point[k]).abs() < 1e-7, "{name}, {k}, {black:?}");
        }
    }
}

#[test]
fn thousands_of_columns_are_solved_from_gradients_with_the_diagonal_as_scale() {
    // Sparse, 2,500 columns in units from 1e-3 to 1e3, ten entries a row.
    let (n, d) = (6000, 2500);
    let mut rng = ChaCha8Rng::seed_from_u64(121);
    let unit = |k: usize| 10.0_f64.powf((k % 7) as f64 - 3.0);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for _ in 0..n {
        let mut columns: Vec<usize> = (0..10).map(|_| rng.random_range(0..d)).collect();
        columns.sort_unstable();
        columns.dedup();
        values.extend(columns.iter().map(|&k| unit(k) * (2.0 * rng.random::<f64>() - 1.0)));
        indices.extend(columns);
        starts.push(indices.len());
    }
    let scales: Vec<f64> = (0..d).map(|k| 2.0 / unit(k)).collect();
    let with = |prior: Prior| {
        let design = Sparse::new(d, starts.clone(), indices.clone(), values.clone()).unwrap();
        Ridge::new(design, Logistic, &responses(122, n), prior).unwrap()
    };
    let model = with(Prior::normal(&vec![0.0; d], &scales).unwrap());
    let mode = model.mode().unwrap();
    assert_eq!((mode.method, mode.properness), (Method::Lbfgs, Properness::Proper(Proof::Prior)));
    // The gradient in units of the prior: no coefficient is further from the mode than so many of
    // its prior scales.
    let far = gradient(&model, &mode.point)
        .iter()
        .zip(&scales)
        .map(|(g, s)| (g * s).abs())
        .fold(0.0, f64::max);
    assert!(far < 1e-7, "{far:e} after {} iterations", mode.iterations);
    assert!(matches!(
        with(Prior::normal(&vec![0.0; d], &[&scales[1..], &[f64::INFINITY]].concat()).unwrap())
            .mode(),
        Ok(Mode { properness: Properness::NotChecked(_), .. })
    ));
}

#[test]
fn counts_that_are_large_and_robust_regressions_with_outliers_are_solved() {
    // Poisson with an intercept alone: the mode is log of the mean, however large.
    for count in [3.0, 1e3, 1e6, 1e12] {
        let design = Dense::new(4, 1, vec![1.0; 4]).unwrap();
        let y = [count, 2.0 * count, 0.0, count];
        let mode = Ridge::new(design, Poisson, &y, Prior::flat(1)).unwrap().mode().unwrap();
        assert!(
            (mode.point[0] - count.ln()).abs() < 1e-12 * count.ln().max(1.0),
            "{count}: {mode:?}"
        );
    }
    // Huber's location: most residuals beyond delta at the start, a fixed point of its own equation
    // at the end.
    let y = [1e6, -2e4, 10.0, 10.5, 11.0, 9.5, 300.0];
    let ones = || Dense::new(7, 1, vec![1.0; 7]).unwrap();
    let mode = Ridge::new(ones(), Huber::new(1.0, 1.345).unwrap(), &y, Prior::flat(1))
        .unwrap()
        .mode()
        .unwrap();
    // Two above and one below beyond delta, four within: 4 t = 41 + 1.345.
    assert!((mode.point[0] - 42.345 / 4.0).abs() < 1e-12, "{mode:?}");
    assert_eq!(mode.properness, Properness::Proper(Proof::Tails));
    // A whole interval of modes, where nothing is curved: one of them, and still proper.
    let two = Ridge::new(
        Dense::new(2, 1, vec![1.0; 2]).unwrap(),
        Huber::new(1.0, 1.0).unwrap(),
        &[-50.0, 50.0],
        Prior::flat(1),
    );
    let mode = two.unwrap().mode().unwrap();
    assert!(mode.point[0].abs() <= 49.0 && mode.gradient_norm == 0.0);
    assert_eq!(mode.properness, Properness::Proper(Proof::Tails));
}

#[test]
fn binomial_counts_and_sparse_designs_are_solved() {
    // Two groups: log odds in closed form.
    let design = Dense::new(4, 2, vec![1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]).unwrap();
    let (y, n) = ([3.0, 0.0, 17.0, 40.0], [10.0, 5.0, 20.0, 40.0]);
    let with = |sparse: bool| {
        let design = design.clone();
        if sparse {
            Ridge::with_trials(Sparse::from_dense(&design), Logistic, &y, &n, Prior::flat(2))
                .unwrap()
        } else {
            Ridge::with_trials(design, Logistic, &y, &n, Prior::flat(2)).unwrap()
        }
    };
    for sparse in [false, true] {
        let mode = with(sparse).mode().unwrap();
        assert!((mode.point[0] - (3.0_f64 / 12.0).ln()).abs() < 1e-13);
        assert!((mode.point[1] - (57.0_f64 / 3.0).ln()).abs() < 1e-13);
    }
}

#[test]
fn columns_in_units_of_1e9_beside_1e_9_do_not_matter() {
    let (n, d) = (100, 4);
    let (values, y) = (numbers(51, n * d), responses(52, n));
    let factors = [1e9, 1e-9, 1.0, 1e-3];
    let scaled: Vec<f64> = values.iter().enumerate().map(|(at, x)| x * factors[at % d]).collect();
    for family in families() {
        let name = family.name();
        let plain =
            Ridge::new(Dense::new(n, d, values.clone()).unwrap(), family, &y, Prior::flat(d))
                .unwrap();
        let plain = plain.mode().unwrap();
        let family = families().into_iter().find(|family| family.name() == name).unwrap();
        let mode =
            Ridge::new(Dense::new(n, d, scaled.clone()).unwrap(), family, &y, Prior::flat(d))
                .unwrap()
                .mode()
                .unwrap();
        assert_eq!(mode.properness, plain.properness);
        for k in 0..d {
            let difference = mode.point[k] * factors[k] / plain.point[k] - 1.0;
            assert!(difference.abs() < 1e-9, "{name}, {k}: {difference:e}");
        }
    }
}

#[test]
fn black_boxes_are_solved_from_gradients() {
    // A quartic with mode (1, -2, 3) and a singular Hessian there.
    let centre = [1.0, -2.0, 3.0];
    let quartic = FromFn::new(3, move |x: &[f64], g: &mut [f64]| {
        (0..3).for_each(|k| g[k] = (x[k] - centre[k]).powi(3));
        Ok(())
    });
    let mode = ModeSearch::new()
        .with_tolerance(1e-12)
        .unwrap()
        .with_start(vec![10.0, 0.0, -7.0])
        .of_gradient(&quartic)
        .unwrap();
    (0..3).for_each(|k| assert!((mode.point[k] - centre[k]).abs() < 1e-4, "{mode:?}"));
    // log cosh in skewed coordinates and many dimensions, from far.
    let d = 50;
    let log_cosh = FromFn::new(d, move |x: &[f64], g: &mut [f64]| {
        g.fill(0.0);
        for k in 0..d {
            let next = (k + 1) % d;
            let slope = (x[k] + 0.5 * x[next] - 1.5).tanh();
            g[k] += slope;
            g[next] += 0.5 * slope;
        }
        Ok(())
    });
    let mode = ModeSearch::new().with_start(vec![500.0; d]).of_gradient(&log_cosh).unwrap();
    (0..d).for_each(|k| assert!((mode.point[k] - 1.0).abs() < 1e-7, "{k}: {}", mode.point[k]));
}

#[test]
fn searches_that_fail_say_what_happened() {
    let failing = FromFn::new(2, |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(&[x[0] - 5.0, x[1]]);
        if x[0] > 2.0 { Err("beyond the table".into()) } else { Ok(()) }
    });
    let outcome = ModeSearch::new().of_gradient(&failing);
    let Err(Error::Gradient { point, message }) = outcome else { panic!("{outcome:?}") };
    assert!(point[0] > 2.0 && message == "beyond the table");
    let nan = FromFn::new(1, |_: &[f64], g: &mut [f64]| {
        g[0] = f64::NAN;
        Ok(())
    });
    assert!(matches!(ModeSearch::new().of_gradient(&nan), Err(Error::NotFinite { .. })));
    // NaN beyond a wall is too far, not the end.
    let wall = FromFn::new(1, |x: &[f64], g: &mut [f64]| {
        g[0] = if x[0] > 2.0 { f64::NAN } else { 1e3 * (x[0] - 1.99) };
        Ok(())
    });
    assert!((ModeSearch::new().of_gradient(&wall).unwrap().point[0] - 1.99).abs() < 1e-9);
    // No mode at all: a slope that never ends.
    let slope = FromFn::new(1, |_: &[f64], g: &mut [f64]| {
        g[0] = -1.0;
        Ok(())
    });
    let error = ModeSearch::new().of_gradient(&slope).unwrap_err();
    assert!(
        matches!(
            error,
            Error::NotConverged { method: Method::Lbfgs, .. } | Error::NotFinite { .. }
        ),
        "{error}"
    );
    let hard = model(Logistic, 100, 5, 111, Prior::flat(5));
    let error = ModeSearch::new().with_iterations(1).of_ridge(&hard).unwrap_err();
    let Error::NotConverged { iterations: 1, gradient_norm, .. } = error else { panic!("{error}") };
    assert!(gradient_norm > 0.0);
    assert!(error.to_string().contains(
        "no mode after 1 iterations of Newton's method: the limit of iterations was reached"
    ));
    assert!(matches!(
        ModeSearch::new().with_start(vec![0.0; 2]).of_ridge(&hard),
        Err(Error::Length { .. })
    ));
    assert!(matches!(
        ModeSearch::new().with_start(vec![f64::NAN; 5]).of_ridge(&hard),
        Err(Error::NotFinite { .. })
    ));
    assert!(
        ModeSearch::new().with_tolerance(0.0).is_err()
            && ModeSearch::new().with_tolerance(f64::NAN).is_err()
    );
}

#[test]
fn numbers_beyond_range_are_errors_and_not_modes() {
    for factor in [1e200, 1e-200] {
        let values = vec![factor, 1.0, -factor, 1.0, 2.0 * factor, 1.0, factor, 1.0];
        let design = Dense::new(4, 2, values).unwrap();
        let model = Ridge::new(design, Logistic, &[0.0, 1.0, 1.0, 1.0], Prior::flat(2)).unwrap();
        for method in [Method::Newton, Method::Lbfgs] {
            let outcome = ModeSearch::new().with_method(method).of_ridge(&model);
            assert!(matches!(outcome, Err(Error::Overflow { .. })), "{factor:e}: {outcome:?}");
        }
        assert!(matches!(model.separation(), Err(Error::Overflow { .. })));
    }
    // Counts whose squares overflow: the mode or an error, never a point where nothing is finite.
    for count in [1e15, 1e100, 1e160, 1e300] {
        let design = Dense::new(4, 1, vec![1.0; 4]).unwrap();
        let y = [count, 2.0 * count, 0.0, count];
        match Ridge::new(design, Poisson, &y, Prior::flat(1)).unwrap().mode() {
            Ok(mode) => {
                assert!((mode.point[0] / count.ln() - 1.0).abs() < 1e-9, "{count:e}: {mode:?}")
            }
            Err(Error::NotFinite { .. } | Error::NotConverged { .. }) => {
                assert!(count > 1e15, "{count:e}")
            }
            Err(error) => panic!("{count:e}: {error}"),
        }
    }
}

#[test]
fn steep_columns_beside_a_flat_intercept_are_solved() {
    // Probit, predictors in steps of 1000: the rows beside 0 are all that is curved.
    let x = [
        -1000.0, -2000.0, 0.0, -2000.0, -2000.0, -1000.0, 2000.0, -2000.0, 0.0, 2000.0, -1000.0,
        -2000.0, 2000.0,
    ];
    let y = [1.0, 1.0, 0.0, 1.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let prior = Prior::normal(&[0.0; 2], &[f64::INFINITY, 2.0]).unwrap();
    let model = Ridge::new(with_ones(&[x.to_vec()]), Probit, &y, prior).unwrap();
    let mode = model.mode().unwrap();
    assert!(distance(&model, &mode.point) < 1e-6, "{mode:?}");
}

#[test]
fn a_small_decrement_is_no_mode_while_steps_leave_the_slope() {
    // One success and a wide prior: e^-t falls slowly to t 1e-12, in steps that each leave a third
    // of the slope.
    let design = Dense::new(1, 1, vec![1.0]).unwrap();
    let model = Ridge::new(design, Logistic, &[1.0], Prior::centred(1, 1e6).unwrap()).unwrap();
    let mode = ModeSearch::new().with_tolerance(1e-2).unwrap().of_ridge(&model).unwrap();
    let t = mode.point[0];
    assert!(((-t).exp() / (t * 1e-12) - 1.0).abs() < 0.1, "{mode:?}");
}

#[test]
fn a_search_turns_back_at_the_boundary_of_the_support() {
    // The first step, of length 1, leads from 0.9 to −0.1, where the density is 0.
    let truncated = FromFn::new(1, |x: &[f64], g: &mut [f64]| {
        g[0] = 3.0 * (x[0] - 0.2);
        if x[0] <= 0.0 { Err(GradientError::OutsideSupport) } else { Ok(()) }
    });
    let from = |start: f64| ModeSearch::new().with_start(vec![start]).of_gradient(&truncated);
    assert!((from(0.9).unwrap().point[0] - 0.2).abs() < 1e-6);
    assert_eq!(from(-1.0), Err(Error::OutsideSupport { point: vec![-1.0] }));
}

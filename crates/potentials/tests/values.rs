//! Values and gradients in one pass: equal to those found one by one, for every family, batch,
//! design and number of threads.

use std::sync::Arc;

use ridgewalk_potentials::families::{
    Family, Gaussian, Huber, Logistic, Observation, Poisson, Probit,
};
use ridgewalk_potentials::peers::{Threads, share_of};
use ridgewalk_potentials::{
    Dense, Design, Error, Guarantee, LineIntegral, Prior, Ridge, Rows, Scratch, Separability,
    Sparse,
};

use crate::support;

/// Random numbers between −`reach` and `reach`.
fn numbers(seed: u64, count: usize, reach: f64) -> Vec<f64> {
    support::numbers(seed, count).iter().map(|x| reach * x).collect()
}

/// A model with weights, offsets and a prior that is not centred.
fn model<F: Family>(family: F, rows: usize, columns: usize, sparse: bool) -> Ridge<'static, F> {
    let design = Dense::new(rows, columns, numbers(1, rows * columns, 1.0)).unwrap();
    let design: Design<'static> =
        if sparse { Sparse::from_dense(&design).into() } else { design.into() };
    let responses: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let prior = Prior::normal(&numbers(2, columns, 1.0), &vec![1.5; columns]).unwrap();
    Ridge::new(design, family, &responses, prior)
        .unwrap()
        .with_weights(numbers(3, rows, 1.0).iter().map(|w| w.abs() + 0.1).collect())
        .unwrap()
        .with_offsets(numbers(4, rows, 1.0))
        .unwrap()
}

/// U and its gradient at some points, in one pass.
fn both<F: Family>(model: &Ridge<'_, F>, positions: &[f64]) -> (Vec<f64>, Vec<f64>) {
    let d = model.dimension();
    let (mut values, mut gradients) =
        (vec![f64::NAN; positions.len() / d], vec![f64::NAN; positions.len()]);
    model
        .values_and_gradients(positions, &mut values, &mut gradients, &mut Scratch::default())
        .unwrap();
    (values, gradients)
}

fn agrees<F: Family + Clone>(family: F) {
    let name = family.name();
    for sparse in [false, true] {
        let model = model(family.clone(), 137, 5, sparse);
        for chains in [1, 2, 3, 4, 5, 8, 9, 17] {
            let positions = numbers(5, 5 * chains, 2.0);
            let (values, gradients) = both(&model, &positions);
            let mut alone = vec![0.0; positions.len()];
            model.gradients(&positions, &mut alone, &mut Scratch::default()).unwrap();
            assert_eq!(
                gradients, alone,
                "{name}: the gradient is that without values, to the last bit"
            );
            for (value, point) in values.iter().zip(positions.chunks(5)) {
                let plain = model.value(point).unwrap();
                assert!((value - plain).abs() < 1e-14 * plain.abs(), "{name}: {value} and {plain}");
                assert_eq!(
                    both(&model, point).0,
                    [*value],
                    "{name}: a chain does not feel the others"
                );
            }
        }
    }
}

#[test]
fn one_pass_gives_what_two_do() {
    agrees(Logistic);
    agrees(Probit);
    agrees(Poisson);
    agrees(Huber::new(0.7, 1.345).unwrap());
}

#[test]
fn threads_do_not_change_a_bit() {
    let model = model(Logistic, 40_011, 7, false);
    let positions = numbers(6, 7 * 11, 1.0);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| both(&model, &positions))
    };
    let one = with(1);
    for threads in [2, 3, 7] {
        assert_eq!(one, with(threads));
    }
    for (value, point) in one.0.iter().zip(positions.chunks(7)) {
        let plain = model.value(point).unwrap();
        assert!((value - plain).abs() < 1e-12 * plain, "{value} and {plain}");
    }
}

#[test]
fn logistic_values_in_lists_are_those_one_by_one_to_a_few_units_in_the_last_place() {
    // Successes out of trials, predictors up to the ends of what doubles hold.
    for (response, trials) in
        [(0.0, 1.0), (1.0, 1.0), (0.0, 40.0), (40.0, 40.0), (7.0, 40.0), (33.0, 40.0)]
    {
        let y = Observation { response, trials };
        let mut s = numbers(7, 2000, 40.0);
        s.extend(numbers(8, 500, 1e-3));
        s.extend([0.0, -0.0, 299.0, -299.0, 301.0, -301.0, 750.0, -750.0, 1e15, -1e15, 1e-300]);
        let mut values = vec![f64::NAN; s.len()];
        Logistic.values(&s, &vec![y; s.len()], &mut values);
        for (s, value) in s.iter().zip(&values) {
            let plain = Logistic.value(*s, y);
            // Both terms of a mixed count may be larger than their sum, by no more than a few
            // times.
            assert!(
                (value - plain).abs() <= 16.0 * f64::EPSILON * plain.abs(),
                "{response}/{trials} at {s}: {value:e} and {plain:e}"
            );
        }
    }
}

#[test]
fn lists_that_do_not_fit_are_refused() {
    let model = model(Logistic, 10, 3, false);
    let mut gradients = [0.0; 6];
    let found = model.values_and_gradients(
        &[0.0; 6],
        &mut [0.0; 3],
        &mut gradients,
        &mut Scratch::default(),
    );
    assert_eq!(found, Err(Error::Length { what: "the list of values", got: 3, need: 2 }));
}

/// The answers to a question about a model whose rows are spread over threads in the role of
/// processes.
fn shared<F: Family + Clone, T: Send>(
    parts: usize, (design, columns): (&[f64], usize), responses: &[f64],
    (family, prior): (&F, &Prior), ask: impl Fn(&Ridge<'_, F>) -> T + Sync,
) -> Vec<T> {
    let group = Threads::group(parts);
    std::thread::scope(|scope| {
        let ask = &ask;
        let threads = group.into_iter().enumerate().map(|(part, peers)| {
            let rows = share_of(responses.len(), part, parts);
            let design = &design[rows.start * columns..rows.end * columns];
            scope.spawn(move || {
                let design = Dense::new(rows.len(), columns, design).unwrap();
                let model =
                    Ridge::new(design, family.clone(), &responses[rows], prior.clone()).unwrap();
                ask(&model.with_rows(&Rows::shared(Arc::new(peers))))
            })
        });
        threads.collect::<Vec<_>>().into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Everything that is a sum over rows, at a point.
fn everything<F: Family + Clone>(model: &Ridge<'_, F>) -> Vec<f64> {
    let (points, momenta) = (numbers(8, 12, 0.5), numbers(9, 12, 0.5));
    let mut all = vec![model.value(&points[..4]).unwrap()];
    let (values, gradients) = both(model, &points);
    all.extend(values.into_iter().chain(gradients));
    let mut integrals = [0.0; 12];
    model.integrate(0.3, &points, &momenta, &mut integrals, &mut Scratch::default()).unwrap();
    all.extend(integrals);
    all.extend(model.hessian(&points[..4]).unwrap());
    let mode = model.mode().unwrap();
    all.extend(&mode.point);
    let curvature = model.curvature_with(Guarantee::Certain).unwrap();
    all.push(curvature.convexity().value);
    all.extend(curvature.smoothness().map(|bound| bound.value));
    let white = model.whitened(
        &ridgewalk_potentials::Whitening::from_hessian(
            &mode.point,
            &model.hessian(&mode.point).unwrap(),
        )
        .unwrap(),
    );
    all.extend(white.unwrap().hessian(&[0.0; 4]).unwrap());
    all
}

#[test]
fn rows_in_several_processes_are_one_model() {
    let design: Vec<f64> = numbers(1, 53 * 4, 1.0)
        .into_iter()
        .enumerate()
        .map(|(i, x)| if i % 4 == 0 { 1.0 } else { x })
        .collect();
    let responses: Vec<f64> = (0..53).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let prior = Prior::normal(&[0.1; 4], &[f64::INFINITY, 2.0, 3.0, 1.0]).unwrap();
    fn check<F: Family + Clone>(family: F, design: &[f64], responses: &[f64], prior: &Prior) {
        let (design, model) = ((design, 4), (&family, prior));
        let alone = shared(1, design, responses, model, everything);
        for parts in [2, 3, 5, 8] {
            let found = shared(parts, design, responses, model, everything);
            assert!(
                found.iter().all(|other| *other == found[0]),
                "{}: not the same in all",
                family.name()
            );
            for (a, b) in found[0].iter().zip(&alone[0]) {
                assert!(
                    (a - b).abs() < 1e-12 * (1.0 + b.abs()),
                    "{} in {parts}: {a} and {b}",
                    family.name()
                );
            }
        }
    }
    check(Logistic, &design, &responses, &prior);
    check(Probit, &design, &responses, &prior);
    check(Poisson, &design, &responses, &prior);
    check(Gaussian::new(0.5).unwrap(), &design, &responses, &prior);
    check(Huber::new(0.7, 1.345).unwrap(), &design, &responses, &prior);
}

/// Properties that no process sees in its own rows: separation, collinear columns, a constant
/// response.
#[test]
fn what_is_wrong_with_all_rows_together_is_found_by_all_processes() {
    // One part has only successes, which alone would be separated; together they overlap, or not.
    let x: Vec<f64> = (0..24).map(|i| f64::from(i) / 8.0 - 1.4).collect();
    let design: Vec<f64> = x.iter().flat_map(|x| [1.0, *x]).collect();
    let flat = Prior::flat(2);
    let ask = |model: &Ridge<'_, Logistic>| {
        (model.mode().map_err(|e| e.to_string()), model.separation().unwrap())
    };
    let separated: Vec<f64> = x.iter().map(|x| f64::from(u8::from(*x > 0.0))).collect();
    let mut overlapping = separated.clone();
    overlapping[3] = 1.0;
    for parts in [1, 2, 4] {
        for (mode, separation) in shared(parts, (&design, 2), &separated, (&Logistic, &flat), ask) {
            let error = mode.unwrap_err();
            assert!(
                error.contains("complete separation") && error.contains("all 24 rows"),
                "{parts}: {error}"
            );
            assert!(matches!(separation, Separability::Separated(found) if found.rows == 24));
        }
        for (mode, separation) in shared(parts, (&design, 2), &overlapping, (&Logistic, &flat), ask)
        {
            assert!(mode.is_ok(), "{parts}: {mode:?}");
            assert_eq!(separation, Separability::Overlapping);
        }
        for (mode, _) in shared(parts, (&design, 2), &[1.0; 24], (&Logistic, &flat), ask) {
            assert!(mode.unwrap_err().contains("all 24 responses are equal"));
        }
    }
    // The second column is constant in each of two halves: collinear there, and not together. Then
    // collinear throughout.
    for (step, collinear) in [(1.0, false), (0.0, true)] {
        let design: Vec<f64> =
            (0..24).flat_map(|i| [1.0, 2.0 + step * f64::from(i / 12)]).collect();
        let responses: Vec<f64> = (0..24).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
        for (mode, _) in shared(2, (&design, 2), &responses, (&Logistic, &flat), ask) {
            assert_eq!(mode.is_err(), collinear, "{mode:?}");
        }
    }
}

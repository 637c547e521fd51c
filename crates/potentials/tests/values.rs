//! Values and gradients in one pass: equal to those found one by one, for every family, batch, design and number of threads.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{Family, Huber, Logistic, Observation, Poisson, Probit};
use ridgewalk_potentials::{Dense, Design, Error, LineIntegral, Prior, Ridge, Scratch, Sparse};

fn numbers(seed: u64, count: usize, reach: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| reach * (2.0 * rng.random::<f64>() - 1.0)).collect()
}

/// A model with weights, offsets and a prior that is not centred.
fn model<F: Family>(family: F, rows: usize, columns: usize, sparse: bool) -> Ridge<'static, F> {
    let design = Dense::new(rows, columns, numbers(1, rows * columns, 1.0)).unwrap();
    let design: Design<'static> = if sparse { Sparse::from_dense(&design).into() } else { design.into() };
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
    let (mut values, mut gradients) = (vec![f64::NAN; positions.len() / d], vec![f64::NAN; positions.len()]);
    model.values_and_gradients(positions, &mut values, &mut gradients, &mut Scratch::default()).unwrap();
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
            assert_eq!(gradients, alone, "{name}: the gradient is that without values, to the last bit");
            for (value, point) in values.iter().zip(positions.chunks(5)) {
                let plain = model.value(point).unwrap();
                assert!((value - plain).abs() < 1e-14 * plain.abs(), "{name}: {value} and {plain}");
                assert_eq!(both(&model, point).0, [*value], "{name}: a chain does not feel the others");
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
    for (response, trials) in [(0.0, 1.0), (1.0, 1.0), (0.0, 40.0), (40.0, 40.0), (7.0, 40.0), (33.0, 40.0)] {
        let y = Observation { response, trials };
        let mut s = numbers(7, 2000, 40.0);
        s.extend(numbers(8, 500, 1e-3));
        s.extend([0.0, -0.0, 299.0, -299.0, 301.0, -301.0, 750.0, -750.0, 1e15, -1e15, 1e-300]);
        let mut values = vec![f64::NAN; s.len()];
        Logistic.values(&s, &vec![y; s.len()], &mut values);
        for (s, value) in s.iter().zip(&values) {
            let plain = Logistic.value(*s, y);
            // Both terms of a mixed count may be larger than their sum, by no more than a few times.
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
    let found = model.values_and_gradients(&[0.0; 6], &mut [0.0; 3], &mut gradients, &mut Scratch::default());
    assert_eq!(found, Err(Error::Length { what: "the list of values", got: 3, need: 2 }));
}

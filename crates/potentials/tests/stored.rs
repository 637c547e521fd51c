//! Designs in a file, against the same in memory: every answer is the same to the last bit.

use std::sync::Arc;

use ridgewalk_potentials::families::{Family, Gaussian, Logistic, Poisson};
use ridgewalk_potentials::likelihoods::{Likelihood, NegativeBinomial};
use ridgewalk_potentials::{
    Dense, Density, Design, Error, Joint, LineIntegral, MappedRidge, ModeSearch, Prior, Ridge,
    Scratch, Stored, StoredWriter, Whitening,
};

use crate::support::numbers;

/// Several pieces of several blocks each, the last ones shorter.
const ROWS: usize = 160_003;
const D: usize = 11;

fn entries() -> Vec<f64> {
    // Pseudo-random numbers cost more than these.
    let entry =
        |at: usize| if at.is_multiple_of(D) { 1.0 } else { ((at * 7919) as f64 * 0.37).sin() };
    (0..ROWS * D).map(entry).collect()
}

fn stored(entries: &[f64]) -> Stored {
    let mut writer = StoredWriter::new(&std::env::temp_dir(), ROWS, D).unwrap();
    for rows in entries.chunks(1000 * D) {
        writer.push(rows).unwrap();
    }
    writer.finish().unwrap()
}

/// In memory and in a file.
fn designs() -> [Design<'static>; 2] {
    let entries = entries();
    let file = stored(&entries).into();
    [Dense::new(ROWS, D, entries).unwrap().into(), file]
}

fn responses() -> Vec<f64> {
    (0..ROWS).map(|row| f64::from(u8::from(row * 7919 % 13 < 5))).collect()
}

fn prior() -> Prior {
    let scales: Vec<f64> =
        (0..D).map(|k| if k == 2 { f64::INFINITY } else { 1.0 + k as f64 }).collect();
    Prior::normal(&numbers(3, D), &scales).unwrap()
}

fn ridge<F: Family>(design: Design<'static>, family: F) -> Ridge<'static, F> {
    let weights = (0..ROWS).map(|row| 0.5 + (row % 5) as f64).collect();
    let offsets = (0..ROWS).map(|row| (row as f64).cos() / 8.0).collect();
    let model = Ridge::new(design, family, &responses(), prior()).unwrap();
    model.with_weights(weights).unwrap().with_offsets(offsets).unwrap()
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|x| x.to_bits()).collect()
}

/// Integrals, gradients and values of some chains, on some threads.
fn answers(potential: &(dyn LineIntegral + Sync), chains: usize, threads: usize) -> Vec<u64> {
    let d = potential.dimension();
    let (z, p) = (numbers(12, chains * d), numbers(13, chains * d));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    pool.install(|| {
        let [mut integrals, mut gradients, mut again] = [0; 3].map(|_| vec![0.0; chains * d]);
        let (mut values, mut scratch) = (vec![0.0; chains], Scratch::default());
        potential.integrate(0.3, &z, &p, &mut integrals, &mut scratch).unwrap();
        potential.gradients(&z, &mut gradients, &mut scratch).unwrap();
        potential.values_and_gradients(&z, &mut values, &mut again, &mut scratch).unwrap();
        bits(&[integrals, gradients, again, values].concat())
    })
}

#[test]
fn passes_are_the_same_for_any_number_of_chains_and_threads() {
    let [memory, file] = designs().map(|design| ridge(design, Logistic));
    assert!(!memory.shares_out(1) || memory.shares_out(8));
    assert!(file.shares_out(1) && file.shares_out(8));
    for chains in [1, 3, 8, 21] {
        let need = answers(&memory, chains, 1);
        for threads in [1, 2, 3] {
            assert!(answers(&file, chains, threads) == need, "{chains} chains, {threads} threads");
        }
    }
}

#[test]
fn models_in_other_coordinates_are_the_same_copied_or_not() {
    let models = designs().map(|design| ridge(design, Logistic));
    let mode = models[0].mode().unwrap();
    let hessian = models[0].hessian(&mode.point).unwrap();
    let whitening = Whitening::from_hessian(&mode.point, &hessian).unwrap();
    let diagonal = Whitening::diagonal(&mode.point, &[0.25; D]).unwrap();
    for whitening in [&whitening, &diagonal] {
        let [need, got] = models.each_ref().map(|m| answers(&m.whitened(whitening).unwrap(), 8, 2));
        assert!(need == got);
        let [need, got] =
            models.each_ref().map(|m| answers(&MappedRidge::new(m, whitening).unwrap(), 8, 2));
        assert!(need == got);
        let stiff = models.each_ref().map(|m| MappedRidge::new(m, whitening).unwrap().stiff());
        assert_eq!(stiff[0], stiff[1]);
        let bounds = models.each_ref().map(|m| m.in_coordinates(whitening).unwrap().curvature());
        assert_eq!(bounds[0], bounds[1]);
    }
}

#[test]
fn modes_hessians_and_bounds_are_the_same() {
    fn compare<F: Family + Clone>(family: F) {
        let [memory, file] = designs().map(|design| ridge(design, family.clone()));
        let [need, got] = [&memory, &file].map(|model| ModeSearch::new().of_ridge(model).unwrap());
        assert_eq!(need, got);
        assert_eq!(bits(&need.point), bits(&got.point));
        let [a, b] = [&memory, &file].map(|model| bits(&model.hessian(&need.point).unwrap()));
        assert!(a == b);
        assert_eq!(memory.curvature(), file.curvature());
        assert_eq!(memory.value(&need.point), file.value(&need.point));
        assert_eq!(memory.linear_predictors(&need.point), file.linear_predictors(&need.point));
    }
    compare(Logistic);
    compare(Poisson);
    compare(Gaussian::new(0.7).unwrap());
}

#[test]
fn posteriors_with_parameters_are_the_same() {
    let likelihood: Arc<dyn Likelihood> = Arc::new(NegativeBinomial);
    let models = designs().map(|design| {
        let model = Joint::new(design, likelihood.clone(), &responses()).unwrap();
        let model = model.with_priors(vec![Density::Normal { mean: 0.0, scale: 2.0 }; D]).unwrap();
        model.with_parameter_priors(vec![Density::Exponential { rate: 1.0 }]).unwrap()
    });
    let start = vec![0.0; D + 1];
    let [need, got] = models.each_ref().map(|model| model.mode(&start).unwrap());
    assert_eq!(bits(&need.point), bits(&got.point));
    let [a, b] = models.each_ref().map(|model| bits(&model.hessian(&need.point).unwrap()));
    assert!(a == b);
}

#[test]
fn separated_responses_are_found_in_a_file() {
    let entries = entries();
    let responses: Vec<f64> =
        entries.chunks_exact(D).map(|row| f64::from(u8::from(row[3] > 0.1))).collect();
    let model = |prior| Ridge::new(stored(&entries), Logistic, &responses, prior).unwrap();
    let error = model(Prior::flat(D)).mode().unwrap_err();
    assert!(matches!(error, Error::Improper(_)), "{error}");
}

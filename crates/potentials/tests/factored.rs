//! Coordinates by sparse factors, against matrices of all entries and against quadrature.

use std::sync::Arc;

use ridgewalk_potentials::families::{Family, Gaussian, Logistic, Poisson};
use ridgewalk_potentials::peers::Threads;
use ridgewalk_potentials::{
    Chebyshev, Error, Gradient, GradientError, LineIntegral, ModeSearch, Prior, Properness, Ridge,
    Rows, Scratch, Sparse, WhitenedRidge, Whitening,
};

use crate::support::{largest, numbers};

const LEVELS: usize = 280;
const OTHERS: usize = 12;
/// An intercept, a number, a factor of many levels and one of few.
const D: usize = 2 + LEVELS + OTHERS;
const ROWS: usize = 900;
const CHAINS: usize = 11;

/// Some of the rows.
fn design(from: usize, to: usize) -> Sparse {
    let x = numbers(1, ROWS);
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for (row, x) in x.iter().enumerate().take(to).skip(from) {
        indices.extend([0, 1, 2 + row * row * 7 % LEVELS, 2 + LEVELS + row % OTHERS]);
        values.extend([1.0, 0.3 + x, 1.0, 1.0 + 0.1 * x]);
        starts.push(values.len());
    }
    Sparse::new(D, starts, indices, values).unwrap()
}

/// With weights, offsets, uncentred priors, and the prior of the intercept far from 0.
fn part<F: Family>(family: F, from: usize, to: usize) -> Ridge<'static, F> {
    let responses: Vec<f64> = (from..to).map(|i| f64::from(u8::from(i * 7 % 3 == 0))).collect();
    let scales: Vec<f64> = (0..D).map(|k| 0.5 + (k % 5) as f64).collect();
    let prior = Prior::normal(&numbers(2, D), &scales).unwrap();
    Ridge::new(design(from, to), family, &responses, prior)
        .unwrap()
        .with_weights(numbers(3, ROWS)[from..to].iter().map(|w| w.abs() + 0.1).collect())
        .unwrap()
        .with_offsets(numbers(4, ROWS)[from..to].to_vec())
        .unwrap()
}

fn at() -> Vec<f64> {
    (0..D).map(|k| 0.2 + 0.01 * (k % 9) as f64).collect()
}

fn model<F: Family>(family: F) -> Ridge<'static, F> {
    part(family, 0, ROWS).with_intercept_at(at()).unwrap()
}

fn frame<F: Family>(model: &Ridge<'static, F>) -> Whitening {
    model.factored().unwrap().unwrap().frame().clone()
}

/// Integrals, gradients and values, these less the first, of some chains.
fn answers(potential: &dyn LineIntegral, chains: usize) -> [Vec<f64>; 3] {
    let (z, p) = (numbers(12, chains * D), numbers(13, chains * D));
    let scratch = &mut Scratch::default();
    let [mut integrals, mut gradients] = [vec![0.0; z.len()], vec![0.0; z.len()]];
    let mut values = vec![0.0; chains];
    potential.integrate(0.7, &z, &p, &mut integrals, scratch).unwrap();
    potential.gradients(&z, &mut gradients, scratch).unwrap();
    let mut again = gradients.clone();
    potential.values_and_gradients(&z, &mut values, &mut again, scratch).unwrap();
    assert_eq!(gradients, again);
    let first = values[0];
    values.iter_mut().for_each(|value| *value -= first);
    [integrals, gradients, values]
}

fn off(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max) / largest(b)
}

/// The gradient of a potential and nothing else.
struct Plain<'p>(&'p dyn LineIntegral);

impl Gradient for Plain<'_> {
    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        let found = self.0.gradients(point, gradient, &mut Scratch::default());
        found.map_err(|error| error.to_string().into())
    }
}

/// The model as a function of z, with nothing that is tested here: the prior of the intercept is in a
/// matrix of all entries.
fn wanted<F: Family + Clone>(model: &Ridge<'static, F>, frame: &Whitening) -> [Vec<f64>; 3] {
    let copied = model.whitened(&frame.as_matrix()).unwrap();
    answers(&copied, CHAINS)
}

fn same_potential<F: Family + Clone>(family: F) {
    let model = model(family.clone());
    let frame = frame(&model);
    let white = model.in_coordinates(&frame).unwrap();
    assert!(matches!(white, WhitenedRidge::Mapped(_)));
    let (found, copied) = (answers(&white, CHAINS), wanted(&model, &frame));
    for (found, copied) in found.iter().zip(&copied) {
        assert!(off(found, copied) < 1e-11, "{}", off(found, copied));
    }
    // Chains do not depend on each other, in groups of any size.
    for chains in [1, 2, 5, 8] {
        for (all, some) in found.iter().zip(answers(&white, chains)) {
            assert_eq!(&all[..some.len()], &some[..]);
        }
    }
    // The integrals are those of the gradients along the lines.
    let quadrature = Chebyshev::new(Plain(&white), 24).unwrap();
    let (z, p) = (numbers(12, D), numbers(13, D));
    let mut by_nodes = vec![0.0; D];
    quadrature.integrate(0.7, &z, &p, &mut by_nodes, &mut Scratch::default()).unwrap();
    assert!(off(&found[0][..D], &by_nodes) < 1e-11, "{}", off(&found[0][..D], &by_nodes));
    // Planted: a prior of the intercept at 0 instead of the means, and none.
    for planted in [part(family.clone(), 0, ROWS), flat_intercept(family)] {
        let planted = wanted(&planted, &frame);
        assert!(found.iter().zip(&planted).all(|(found, planted)| off(found, planted) > 1e-3));
    }
    // Planted: gradients that come back by the other triangle.
    let mut theta = vec![0.0; D];
    frame.to_original(&z, &mut theta).unwrap();
    let (mut g, mut wrong) = (vec![0.0; D], vec![0.0; D]);
    model.gradients(&theta, &mut g, &mut Scratch::default()).unwrap();
    frame.centred_at(vec![0.0; D]).unwrap().to_original(&g, &mut wrong).unwrap();
    assert!(off(&found[1][..D], &wrong) > 1e-2);
}

fn flat_intercept<F: Family>(family: F) -> Ridge<'static, F> {
    let mut scales: Vec<f64> = (0..D).map(|k| 0.5 + (k % 5) as f64).collect();
    scales[0] = f64::INFINITY;
    part(family, 0, ROWS).with_prior(Prior::normal(&numbers(2, D), &scales).unwrap()).unwrap()
}

#[test]
fn integrals_in_coordinates_of_a_sparse_factor_are_exact() {
    same_potential(Logistic);
    same_potential(Gaussian::new(0.7).unwrap());
    same_potential(Poisson);
}

/// For a normal posterior the coordinates are exact: W Wᵀ is the inverse of its Hessian, and the
/// centre its mean.
#[test]
fn coordinates_are_those_of_the_dense_hessian() {
    let model = model(Gaussian::new(0.7).unwrap());
    let frame = frame(&model);
    let mode = ModeSearch::new().of_ridge(&model).unwrap().point;
    let dense = Whitening::from_hessian(&mode, &model.hessian(&mode).unwrap()).unwrap();
    let (found, wanted) = (frame.covariance(), dense.covariance());
    let sd = |k: usize| wanted[k * (D + 1)].sqrt();
    let error = |at: usize| (found[at] - wanted[at]).abs() / sd(at / D) / sd(at % D);
    let worst = (0..D * D).map(error).fold(0.0, f64::max);
    assert!(worst < 1e-10, "{worst:e}");
    let variances = frame.variances();
    assert!((0..D).all(|k| (variances[k] / wanted[k * (D + 1)] - 1.0).abs() < 1e-10));
    assert!((0..D).all(|k| (frame.centre()[k] - mode[k]).abs() < 1e-8 * sd(k)));
    // Without the prior of the intercept they would be others.
    let planted = flat_intercept(Gaussian::new(0.7).unwrap());
    let planted = Whitening::from_hessian(&mode, &planted.hessian(&mode).unwrap()).unwrap();
    assert!(off(&planted.variances(), &variances) > 1e-3);
}

#[test]
fn points_go_there_and_back() {
    let frame = frame(&model(Logistic));
    let matrix = frame.as_matrix();
    let theta = numbers(8, D);
    type Change = fn(&Whitening, &[f64], &mut [f64]) -> Result<(), Error>;
    let changes: [Change; 5] = [
        Whitening::to_original,
        Whitening::to_whitened,
        Whitening::direction_to_whitened,
        Whitening::gradient_to_whitened,
        Whitening::gradient_to_original,
    ];
    for change in changes {
        let [mut found, mut wanted] = [vec![0.0; D], vec![0.0; D]];
        change(&frame, &theta, &mut found).unwrap();
        change(&matrix, &theta, &mut wanted).unwrap();
        assert!(off(&found, &wanted) < 1e-11);
    }
    let [mut z, mut back] = [vec![0.0; D], vec![0.0; D]];
    frame.to_whitened(&theta, &mut z).unwrap();
    frame.to_original(&z, &mut back).unwrap();
    assert!(off(&back, &theta) < 1e-12);
    // No other coordinates within: the same.
    let none = Whitening::diagonal(&[], &[]).unwrap().of_last(D).unwrap();
    assert_eq!(frame.then(&none).unwrap(), frame);
}

/// The mode is that of a search with matrices of all entries, and coordinates follow the posterior.
#[test]
fn modes_are_those_of_the_dense_search() {
    let model = model(Logistic);
    let factored = model.factored().unwrap().unwrap();
    let (mode, spent) = factored.mode(&model, &ModeSearch::new()).unwrap();
    let dense = ModeSearch::new().of_ridge(&model).unwrap();
    let mut point = vec![0.0; D];
    factored.frame().to_original(&mode.point, &mut point).unwrap();
    assert!(off(&point, &dense.point) < 1e-7, "{}", off(&point, &dense.point));
    assert!(mode.iterations > 2 && spent > mode.gradients);
    assert!(matches!(mode.properness, Properness::Proper(_)));
    let (entries, of_matrix) = factored.fill().unwrap();
    assert!(entries >= of_matrix && entries < D * (D + 1) / 4, "{entries} of {of_matrix}");
    // At the mean, not at the mode, of a skewed posterior; the mean of Hessians is not that there.
    let at_mode = Whitening::from_hessian(&point, &model.hessian(&point).unwrap()).unwrap();
    assert!(off(&factored.frame().variances(), &at_mode.variances()) > 1e-3);
}

/// Rows in several processes, some of them more than others.
#[test]
fn rows_in_several_processes_give_the_same() {
    let whole = model(Logistic);
    let frame = frame(&whole);
    let wanted = answers(&whole.in_coordinates(&frame).unwrap(), CHAINS);
    std::thread::scope(|scope| {
        let cuts = [0, 20, 390, ROWS];
        let parts = Threads::group(3).into_iter().enumerate().map(|(number, peers)| {
            scope.spawn(move || {
                let mine = part(Logistic, cuts[number], cuts[number + 1]);
                let mine = mine.with_rows(&Rows::shared(Arc::new(peers)));
                let mine = mine.with_intercept_at(at()).unwrap();
                let frame = self::frame(&mine);
                let white = mine.in_coordinates(&frame).unwrap();
                (frame.variances(), answers(&white, CHAINS))
            })
        });
        let parts: Vec<_> =
            parts.collect::<Vec<_>>().into_iter().map(|p| p.join().unwrap()).collect();
        for (variances, found) in &parts {
            assert!(off(variances, &frame.variances()) < 1e-9);
            assert!(found.iter().zip(&wanted).all(|(a, b)| off(a, b) < 1e-8));
            assert_eq!((variances, found), (&parts[0].0, &parts[0].1));
        }
    });
}

/// Scales where they are enough, which the factor's entries would not be worth; matrices where columns
/// are few.
#[test]
fn the_cheapest_form_is_chosen() {
    // Every pair of columns meets in some row, but priors decide.
    let crossed = |scale: f64| {
        let starts = (0..=3000).map(|i| 3 * i).collect();
        let indices = (0..3000).flat_map(|i| [i % 97, 97 + i % 101, 198 + i % 103]).collect();
        let design = Sparse::new(301, starts, indices, numbers(5, 9000)).unwrap();
        let responses = numbers(6, 3000);
        let prior = Prior::centred(301, scale).unwrap();
        let model = Ridge::new(design, Gaussian::new(1.0).unwrap(), &responses, prior).unwrap();
        model.with_intercept_at(vec![0.01; 301]).unwrap()
    };
    let strong = crossed(0.05);
    let factored = strong.factored().unwrap().unwrap();
    assert_eq!(factored.fill(), None);
    let white = strong.in_coordinates(factored.frame()).unwrap();
    assert!(matches!(white, WhitenedRidge::Copied(_)));
    let copied = strong.whitened(&factored.frame().as_matrix()).unwrap();
    let d = 301;
    let z = numbers(12, d);
    let gradient = |potential: &dyn LineIntegral| {
        let [mut one, mut other] = [vec![0.0; d], vec![0.0; d]];
        let scratch = &mut Scratch::default();
        potential.gradients(&z, &mut one, scratch).unwrap();
        potential.integrate(0.4, &z, &numbers(13, d), &mut other, scratch).unwrap();
        [one, other].concat()
    };
    assert!(off(&gradient(&white), &gradient(&copied)) < 1e-12);
    let weak = crossed(5.0);
    assert!(weak.factored().unwrap().unwrap().fill().is_some());
    let few = Ridge::new(
        Sparse::new(3, vec![0, 2, 3], vec![0, 1, 2], vec![1.0; 3]).unwrap(),
        Logistic,
        &[0.0, 1.0],
        Prior::centred(3, 1.0).unwrap(),
    );
    assert!(few.unwrap().factored().unwrap().is_none());
}

/// Bounds of the curvature hold, and are near those of the matrix.
#[test]
fn bounds_of_the_curvature_hold() {
    let model = model(Gaussian::new(0.7).unwrap());
    let frame = frame(&model);
    let white = model.in_coordinates(&frame).unwrap().curvature().unwrap();
    let copied = model.whitened(&frame.as_matrix()).unwrap().curvature().unwrap();
    let [found, wanted] = [&white, &copied].map(|c| c.smoothness().unwrap().value);
    assert!(found >= wanted * (1.0 - 1e-9) && found < 1.05 * wanted, "{found} for {wanted}");
    let [found, wanted] = [&white, &copied].map(|c| c.convexity().value);
    assert!(found > 0.0 && found <= wanted * (1.0 + 1e-9), "{found} for {wanted}");
    // In the coordinates of the model too, where the prior of the intercept is one of a sum.
    let whole = model.whitened(&Whitening::diagonal(&[0.0; D], &[1.0; D]).unwrap().as_matrix());
    let dense = whole.unwrap().curvature().unwrap();
    let sparse = model.curvature().unwrap();
    let [found, wanted] = [&sparse, &dense].map(|c| c.smoothness().unwrap().value);
    assert!(found >= wanted * (1.0 - 1e-9) && found < 1.5 * wanted, "{found} for {wanted}");
    let [found, wanted] = [&sparse, &dense].map(|c| c.convexity().value);
    assert!(found > 0.0 && found <= wanted * (1.0 + 1e-9), "{found} for {wanted}");
}

#[test]
fn an_intercept_elsewhere_needs_a_number_for_each_column() {
    let model = part(Logistic, 0, ROWS);
    assert!(matches!(model.clone().with_intercept_at(vec![0.0; 3]), Err(Error::Length { .. })));
    let mut means = at();
    means[5] = f64::NAN;
    assert!(matches!(
        model.clone().with_intercept_at(means),
        Err(Error::Entry { row: 0, column: 5, .. })
    ));
    let twice = model.with_intercept_at(at()).unwrap().with_intercept_at(at());
    assert!(matches!(twice, Err(Error::Prior { coefficient: 0, .. })));
}

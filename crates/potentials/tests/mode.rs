//! Modes against closed forms, against modes found elsewhere and between methods; and posteriors that do not exist, with near misses.

use std::collections::BTreeMap;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Observation, Poisson, Probit,
};
use ridgewalk_potentials::{
    Dense, Error, FromFn, Gradient, Impropriety, Method, Mode, ModeSearch, Note, Prior, Proof, Properness,
    Ridge, Separability, Separation, SeparationKind, Sparse,
};

/// Random numbers between −1 and 1.
fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()
}

fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

fn gradient<F: Family>(model: &Ridge<'_, F>, point: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; point.len()];
    model.gradient(point, &mut out).unwrap();
    out
}

/// Solves a system by Gauss's elimination with pivots.
fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for i in 0..n {
        let pivot = (i..n).max_by(|&j, &k| a[j][i].abs().total_cmp(&a[k][i].abs())).unwrap();
        a.swap(i, pivot);
        b.swap(i, pivot);
        for j in i + 1..n {
            let factor = a[j][i] / a[i][i];
            for k in i..n {
                a[j][k] -= factor * a[i][k];
            }
            b[j] -= factor * b[i];
        }
    }
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] -= a[i][k] * b[k];
        }
        b[i] /= a[i][i];
    }
    b
}

/// How far a point is from the mode, in standard deviations: √(gᵀ H⁻¹ g), solved here.
fn distance<F: Family>(model: &Ridge<'_, F>, point: &[f64]) -> f64 {
    let d = point.len();
    let (g, h) = (gradient(model, point), model.hessian(point).unwrap());
    // With units of the diagonal, so that elimination does not suffer from scales.
    let unit: Vec<f64> = (0..d).map(|k| h[k * (d + 1)].sqrt()).collect();
    let matrix = (0..d).map(|k| (0..d).map(|l| h[k * d + l] / unit[k] / unit[l]).collect()).collect();
    let scaled: Vec<f64> = g.iter().zip(&unit).map(|(g, u)| g / u).collect();
    let x = solve(matrix, scaled.clone());
    x.iter().zip(&scaled).map(|(x, g)| x * g).sum::<f64>().max(0.0).sqrt()
}

/// A table with a header, as columns by name.
fn table(name: &str) -> BTreeMap<String, Vec<f64>> {
    let text = std::fs::read_to_string(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').collect();
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in lines {
        for (name, value) in names.iter().zip(line.split(',')) {
            columns.entry((*name).into()).or_default().push(value.parse().unwrap());
        }
    }
    columns
}

/// A list of names and numbers.
fn reference(name: &str) -> Vec<(String, f64)> {
    let text = std::fs::read_to_string(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let pairs = text.lines().skip(1).map(|line| line.split_once(',').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

/// A design of columns, the first of ones.
fn with_ones(columns: &[Vec<f64>]) -> Dense<'static> {
    let n = columns[0].len();
    let values: Vec<f64> = (0..n).flat_map(|i| columns.iter().map(move |column| column[i])).collect();
    Dense::new(n, columns.len(), values).unwrap().with_intercept()
}

/// A family behind a pointer.
#[derive(Debug)]
struct Any(Box<dyn Family>);

impl Family for Any {
    fn name(&self) -> &'static str {
        self.0.name()
    }
    fn objection(&self, y: Observation) -> Option<&'static str> {
        self.0.objection(y)
    }
    fn value(&self, s: f64, y: Observation) -> f64 {
        self.0.value(s, y)
    }
    fn slope(&self, s: f64, y: Observation) -> f64 {
        self.0.slope(s, y)
    }
    fn curvature(&self, s: f64, y: Observation) -> f64 {
        self.0.curvature(s, y)
    }
    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        self.0.mean_slope(s, t, y)
    }
    fn curvature_bounds(&self, y: Observation) -> ridgewalk_potentials::families::CurvatureBounds {
        self.0.curvature_bounds(y)
    }
}

fn families() -> Vec<Any> {
    vec![
        Any(Box::new(Logistic)),
        Any(Box::new(Probit)),
        Any(Box::new(Poisson)),
        Any(Box::new(Gaussian::new(0.8).unwrap())),
        Any(Box::new(LogisticNoise::new(0.6).unwrap())),
        Any(Box::new(Huber::new(0.7, 1.345).unwrap())),
    ]
}

/// Responses that every family takes and that no direction separates.
fn responses(seed: u64, rows: usize) -> Vec<f64> {
    numbers(seed, rows).iter().map(|x| f64::from(u8::from(*x > 0.2))).collect()
}

fn model<F: Family>(family: F, rows: usize, columns: usize, seed: u64, prior: Prior) -> Ridge<'static, F> {
    let design = Dense::new(rows, columns - 1, numbers(seed, rows * (columns - 1))).unwrap().with_intercept();
    Ridge::new(design, family, &responses(seed + 1, rows), prior).unwrap()
}

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
    let model = Ridge::new(with_ones(&columns), Logistic, &data["switched"], Prior::flat(4)).unwrap();
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
        assert!((ours - known).abs() < 1e-6, "{name}: {ours} and {known}");
    }
    // All thirty predictors together separate the tumours: known, and what makes this a hard case.
    let Separability::Separated(separation) = model.separation().unwrap() else { panic!("not found") };
    assert_eq!((separation.kind, separation.separated), (SeparationKind::Complete, 569));
    assert_separates(&columns, &data["y"], &separation);
    let Err(Error::Improper(Impropriety::Separation(found))) = with(Prior::flat(31)).mode() else { panic!() };
    assert_eq!(found.kind, SeparationKind::Complete);
    // Ten of them do not.
    let few = Ridge::new(with_ones(&columns[..10]), Logistic, &data["y"], Prior::flat(11)).unwrap();
    assert_eq!(few.separation().unwrap(), Separability::Overlapping);
    assert_eq!(few.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
}

/// Checks a direction row by row: failures go down and successes up, or stay.
fn assert_separates(columns: &[Vec<f64>], y: &[f64], separation: &Separation) {
    let mut moved = 0;
    for (i, y) in y.iter().enumerate() {
        let terms = columns.iter().zip(&separation.direction[1..]).map(|(column, v)| column[i] * v);
        let product = separation.direction[0] + terms.sum::<f64>();
        let toward = if *y > 0.5 { product } else { -product };
        assert!(toward > -1e-9, "row {i} moves the wrong way by {toward}");
        moved += usize::from(toward > 1e-9);
    }
    assert_eq!(moved, separation.separated);
}

#[test]
fn every_family_is_solved_from_near_and_from_far() {
    for prior in [Prior::flat(4), Prior::centred(4, 1.5).unwrap()] {
        for family in families() {
            let name = family.name();
            let model = model(family, 80, 4, 31, prior.clone());
            let mode = model.mode().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(matches!(mode.properness, Properness::Proper(_)), "{name}: {mode:?}");
            assert!(distance(&model, &mode.point) < 1e-11, "{name}: {}", distance(&model, &mode.point));
            for far in [[50.0, -40.0, 30.0, 20.0], [-1e3, 1e3, 500.0, -200.0], [300.0, 0.0, 0.0, 0.0]] {
                let search = ModeSearch::new().with_start(far.to_vec());
                let again =
                    search.of_ridge(&model).unwrap_or_else(|error| panic!("{name} from {far:?}: {error}"));
                let difference =
                    largest(&mode.point.iter().zip(&again.point).map(|(a, b)| a - b).collect::<Vec<_>>());
                assert!(difference < 1e-7, "{name} from {far:?}: {difference:e} after {}", again.iterations);
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
        assert_eq!((lbfgs.method, lbfgs.properness), (Method::Lbfgs, Properness::Proper(Proof::Prior)));
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
fn counts_that_are_large_and_robust_regressions_with_outliers_are_solved() {
    // Poisson with an intercept alone: the mode is log of the mean, however large.
    for count in [3.0, 1e3, 1e6, 1e12] {
        let design = Dense::new(4, 1, vec![1.0; 4]).unwrap();
        let y = [count, 2.0 * count, 0.0, count];
        let mode = Ridge::new(design, Poisson, &y, Prior::flat(1)).unwrap().mode().unwrap();
        assert!((mode.point[0] - count.ln()).abs() < 1e-12 * count.ln().max(1.0), "{count}: {mode:?}");
    }
    // Huber's location: most residuals beyond delta at the start, a fixed point of its own equation at the end.
    let y = [1e6, -2e4, 10.0, 10.5, 11.0, 9.5, 300.0];
    let ones = || Dense::new(7, 1, vec![1.0; 7]).unwrap();
    let mode =
        Ridge::new(ones(), Huber::new(1.0, 1.345).unwrap(), &y, Prior::flat(1)).unwrap().mode().unwrap();
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
            Ridge::with_trials(Sparse::from_dense(&design), Logistic, &y, &n, Prior::flat(2)).unwrap()
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
            Ridge::new(Dense::new(n, d, values.clone()).unwrap(), family, &y, Prior::flat(d)).unwrap();
        let plain = plain.mode().unwrap();
        let family = families().into_iter().find(|family| family.name() == name).unwrap();
        let mode = Ridge::new(Dense::new(n, d, scaled.clone()).unwrap(), family, &y, Prior::flat(d))
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

fn improper(outcome: Result<Mode, Error>) -> (Impropriety, String) {
    match outcome {
        Err(error) => {
            let text = error.to_string();
            let Error::Improper(impropriety) = error else { panic!("{text}") };
            (impropriety, text)
        }
        Ok(mode) => panic!("{mode:?}"),
    }
}

/// Columns 0 to 4, the first of ones, column 4 = 2 column 1 − column 3 and some noise.
fn related(n: usize, noise: f64) -> Vec<f64> {
    let (x, e) = (numbers(61, 3 * n), numbers(62, n));
    (0..n)
        .flat_map(|i| {
            let [a, b, c] = [x[3 * i], x[3 * i + 1], x[3 * i + 2]];
            [1.0, a, b, c, 2.0 * a - c + noise * e[i]]
        })
        .collect()
}

#[test]
fn collinear_columns_are_named_with_their_relation() {
    let n = 80;
    let y = responses(63, n);
    for family in families() {
        let name = family.name();
        let design = Dense::new(n, 5, related(n, 0.0)).unwrap();
        let (_, text) = improper(Ridge::new(design, family, &y, Prior::flat(5)).unwrap().mode());
        assert_eq!(
            text,
            "the posterior is improper: columns 1, 3 and 4 of the design are collinear: column 4 = 2 column 1 - column 3, and the \
             prior is flat along that direction",
            "{name}"
        );
    }
    // Noise of 1e-6 is information.
    let near = Ridge::new(Dense::new(n, 5, related(n, 1e-6)).unwrap(), Logistic, &y, Prior::flat(5)).unwrap();
    let mode = near.mode().unwrap();
    assert!(mode.notes.is_empty(), "{mode:?}");
    assert!(distance(&near, &mode.point) < 1e-8);
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    // A proper prior on one of the columns is enough; the relation becomes a note.
    for k in [1, 3, 4] {
        let mut scales = [f64::INFINITY; 5];
        scales[k] = 10.0;
        let prior = Prior::normal(&[0.0; 5], &scales).unwrap();
        let model = Ridge::new(Dense::new(n, 5, related(n, 0.0)).unwrap(), Logistic, &y, prior).unwrap();
        let mode = model.mode().unwrap();
        assert_eq!(mode.properness, Properness::Proper(Proof::Curvature), "column {k}");
        assert!(matches!(&mode.notes[..], [Note::Collinear(_)]));
        assert_eq!(
            mode.notes[0].to_string(),
            "columns 1, 3 and 4 of the design are collinear: column 4 = 2 column 1 - column 3; along that direction the prior \
             alone decides"
        );
        assert!(distance(&model, &mode.point) < 1e-8);
    }
    // One on another column is not.
    let prior = Prior::normal(&[0.0; 5], &[1.0, f64::INFINITY, 1.0, f64::INFINITY, f64::INFINITY]).unwrap();
    let other = Ridge::new(Dense::new(n, 5, related(n, 0.0)).unwrap(), Logistic, &y, prior).unwrap();
    assert!(improper(other.mode()).1.contains("column 4 = 2 column 1 - column 3"));
}

#[test]
fn relations_survive_scales_and_come_in_numbers() {
    let n = 50;
    let y = responses(64, n);
    // Columns 1e9 and 1e-9 times as large: 4 = 2e18 column 1 - ..., and a zero column, and a copy.
    let factors = [1.0, 1e9, 1.0, 1e-9, 1e3];
    let mut values: Vec<f64> =
        related(n, 0.0).iter().enumerate().map(|(at, x)| x * factors[at % 5]).collect();
    let wide = |values: &[f64]| Dense::new(n, 5, values.to_vec()).unwrap();
    let (_, text) = improper(Ridge::new(wide(&values), Probit, &y, Prior::flat(5)).unwrap().mode());
    assert!(text.contains("column 4 = 0.000002 column 1 - 1000000000000 column 3"), "{text}");
    values.iter_mut().skip(2).step_by(5).for_each(|x| *x = 0.0);
    let (found, text) = improper(Ridge::new(wide(&values), Probit, &y, Prior::flat(5)).unwrap().mode());
    assert!(text.contains("column 2 of the design is zero (and 1 more such relation)"), "{text}");
    assert!(matches!(found, Impropriety::Collinear(relations) if relations.len() == 2));
    // More columns than rows: as many relations as columns too many.
    let model = |prior| {
        Ridge::new(Dense::new(8, 20, numbers(65, 160)).unwrap(), Logistic, &responses(66, 8), prior).unwrap()
    };
    let (found, text) = improper(model(Prior::flat(20)).mode());
    assert!(matches!(found, Impropriety::Collinear(relations) if relations.len() == 12), "{text}");
    let mode = model(Prior::centred(20, 1.0).unwrap()).mode().unwrap();
    assert!(matches!(&mode.notes[..], [Note::Collinear(relations)] if relations.len() == 12), "{mode:?}");
    // A trap of dummies: the three levels of a factor add up to the intercept.
    let levels: Vec<f64> = (0..30)
        .flat_map(|i| {
            [
                1.0,
                f64::from(u8::from(i % 3 == 0)),
                f64::from(u8::from(i % 3 == 1)),
                f64::from(u8::from(i % 3 == 2)),
            ]
        })
        .collect();
    let trap = Ridge::new(Dense::new(30, 4, levels).unwrap(), Poisson, &[2.0; 30], Prior::flat(4)).unwrap();
    assert!(improper(trap.mode()).1.contains("column 3 = column 0 - column 1 - column 2"));
}

/// Rows (1, x) with a threshold at 0.
fn threshold(x: &[f64]) -> Dense<'static> {
    Dense::new(x.len(), 1, x.to_vec()).unwrap().with_intercept()
}

#[test]
fn complete_separation_is_named_and_a_near_miss_is_not() {
    let x = [-3.0, -2.0, -1.5, -0.2, 0.1, 0.4, 1.0, 5.0];
    let y = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    for family in [Any(Box::new(Logistic)), Any(Box::new(Probit))] {
        let name = family.name();
        let model = Ridge::new(threshold(&x), family, &y, Prior::flat(2)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{text}") };
        assert_eq!(
            (separation.kind, separation.separated, separation.rows),
            (SeparationKind::Complete, 8, 8),
            "{name}"
        );
        assert_eq!(separation.columns[0], 1);
        assert_separates(&[x.to_vec()], &y, &separation);
        assert!(
            text.starts_with(
                "the posterior is improper: complete separation: along a direction of chiefly column"
            ),
            "{text}"
        );
        assert!(
            text.ends_with("all 8 rows fit better and better, and the prior is flat along that direction"),
            "{text}"
        );
    }
    // One row moved across, by ever less: the data overlap, and a mode exists.
    for by in [1.0, 1e-2, 1e-4] {
        let mut near = x;
        near[3] = 0.1 + by;
        for family in [Any(Box::new(Logistic)), Any(Box::new(Probit))] {
            let name = family.name();
            let model = Ridge::new(threshold(&near), family, &y, Prior::flat(2)).unwrap();
            let mode = model.mode().unwrap_or_else(|error| panic!("{name}, {by}: {error}"));
            assert_eq!(mode.properness, Properness::Proper(Proof::Curvature), "{name}, {by}");
            assert!(distance(&model, &mode.point) < 1e-7, "{name}, {by}");
            assert_eq!(model.separation().unwrap(), Separability::Overlapping);
        }
    }
    // A proper prior on the slope alone, or on the intercept alone: the direction needs both, but a pure slope separates too.
    let with = |scales: &[f64]| {
        Ridge::new(threshold(&x), Logistic, &y, Prior::normal(&[0.0; 2], scales).unwrap()).unwrap()
    };
    assert_eq!(with(&[f64::INFINITY, 3.0]).mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    let (found, _) = improper(with(&[3.0, f64::INFINITY]).mode());
    assert!(
        matches!(found, Impropriety::Separation(separation) if separation.direction[0] == 0.0 && separation.columns == [1])
    );
    let proper = with(&[3.0, 3.0]);
    assert_eq!(proper.mode().unwrap().properness, Properness::Proper(Proof::Prior));
    assert!(
        matches!(proper.separation().unwrap(), Separability::Separated(s) if s.kind == SeparationKind::Complete)
    );
}

#[test]
fn quasi_complete_separation_is_named_and_a_near_miss_is_not() {
    // A dummy whose rows are all successes; the others overlap.
    let n = 40;
    let x = numbers(71, n);
    let dummy: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 5 == 0))).collect();
    let mut y = responses(72, n);
    (0..n).step_by(5).for_each(|i| y[i] = 1.0);
    let design = || with_ones(&[x.clone(), dummy.clone()]);
    for family in [Any(Box::new(Logistic)), Any(Box::new(Probit))] {
        let model = Ridge::new(design(), family, &y, Prior::flat(3)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{text}") };
        assert_eq!(separation.direction, [0.0, 0.0, separation.direction[2]]);
        assert!(separation.direction[2] > 0.0);
        assert!(
            text.contains("quasi-complete separation: along a direction of chiefly column 2 8 of 40 rows fit better and better"),
            "{text}"
        );
    }
    let mut near = y.clone();
    near[10] = 0.0;
    let model = Ridge::new(design(), Logistic, &near, Prior::flat(3)).unwrap();
    assert_eq!(model.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    let prior = Prior::normal(&[0.0; 3], &[f64::INFINITY, f64::INFINITY, 2.5]).unwrap();
    let held = Ridge::new(design(), Logistic, &y, prior).unwrap();
    assert_eq!(held.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    assert!(
        matches!(held.separation().unwrap(), Separability::Separated(s) if s.kind == SeparationKind::QuasiComplete)
    );
}

#[test]
fn quasi_complete_separation_by_several_columns_is_found() {
    // Predictors p and q with p + q = 0 on the plane, where responses overlap, and clear of it elsewhere.
    for (seed, family) in
        [(81, Any(Box::new(Logistic))), (82, Any(Box::new(Probit))), (83, Any(Box::new(Logistic)))]
    {
        let n = 60;
        let noise = numbers(seed, 3 * n);
        let mut columns = vec![Vec::new(), Vec::new(), Vec::new()];
        let mut y = Vec::new();
        for i in 0..n {
            let (p, z) = (noise[3 * i], noise[3 * i + 2]);
            let (q, response) = match i % 3 {
                0 => (-p, f64::from(u8::from(noise[3 * i + 1] > 0.0))),
                1 => (-p + 0.1 + noise[3 * i + 1].abs(), 1.0),
                _ => (-p - 0.1 - noise[3 * i + 1].abs(), 0.0),
            };
            columns[0].push(p);
            columns[1].push(q);
            columns[2].push(z);
            y.push(response);
        }
        let name = family.name();
        let model = Ridge::new(with_ones(&columns), family, &y, Prior::flat(4)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{name}: {text}") };
        assert_eq!((separation.kind, separation.separated), (SeparationKind::QuasiComplete, 40), "{name}");
        assert_separates(&columns, &y, &separation);
        assert!((separation.direction[1] / separation.direction[2] - 1.0).abs() < 1e-9);
        assert!(
            separation.columns.contains(&1)
                && separation.columns.contains(&2)
                && separation.columns.len() == 2
        );
        // One failure among the successes, near the plane.
        let mut near = y.clone();
        near[1] = 0.0;
        let model = Ridge::new(with_ones(&columns), Logistic, &near, Prior::flat(4)).unwrap();
        assert_eq!(model.mode().unwrap().properness, Properness::Proper(Proof::Curvature));
    }
}

#[test]
fn constant_responses_are_their_own_case() {
    let n = 30;
    let columns = [numbers(91, n), numbers(92, n)];
    let cases: [(Any, f64); 4] = [
        (Any(Box::new(Logistic)), 0.0),
        (Any(Box::new(Logistic)), 1.0),
        (Any(Box::new(Probit)), 1.0),
        (Any(Box::new(Poisson)), 0.0),
    ];
    for (family, value) in cases {
        let name = family.name();
        let model = Ridge::new(with_ones(&columns), family, &vec![value; n], Prior::flat(3)).unwrap();
        let (found, text) = improper(model.mode());
        let Impropriety::Separation(separation) = found else { panic!("{text}") };
        assert_eq!((separation.kind, separation.separated), (SeparationKind::ConstantResponse, n), "{name}");
        assert!(text.contains("all 30 responses are equal: along a direction of chiefly column 0"), "{text}");
    }
    let proper =
        Ridge::new(with_ones(&columns), Logistic, &vec![1.0; n], Prior::centred(3, 2.0).unwrap()).unwrap();
    assert_eq!(proper.mode().unwrap().notes, [Note::ConstantResponse]);
    // Without an intercept nothing is wrong: no direction moves all rows one way.
    let plain = Dense::new(n, 1, numbers(93, n)).unwrap();
    let model = Ridge::new(plain, Logistic, &vec![1.0; n], Prior::flat(1)).unwrap();
    let mode = model.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    // Equal counts above 0 are no extreme.
    let counts =
        Ridge::new(with_ones(&columns), Poisson, &vec![4.0; n], Prior::flat(3)).unwrap().mode().unwrap();
    assert!(counts.notes.is_empty() && (counts.point[0] - 4.0_f64.ln()).abs() < 1e-10);
}

#[test]
fn poisson_zeros_can_separate() {
    // Column 1 is positive only where counts are 0: its coefficient goes to minus infinity.
    let columns = vec![vec![1.0, 0.5, 2.0, 0.0, 0.0, 0.0, 0.0], vec![0.3, -0.2, 0.9, 0.1, -1.0, 0.7, 0.2]];
    let y = [0.0, 0.0, 0.0, 3.0, 1.0, 0.0, 2.0];
    let (found, text) =
        improper(Ridge::new(with_ones(&columns), Poisson, &y, Prior::flat(3)).unwrap().mode());
    let Impropriety::Separation(separation) = found else { panic!("{text}") };
    assert_eq!((separation.kind, separation.separated), (SeparationKind::QuasiComplete, 3));
    assert!(separation.direction[1] < 0.0 && separation.columns == [1]);
    // One count there, or a negative entry where counts are positive, holds it.
    let mut counted = y;
    counted[1] = 1.0;
    assert!(Ridge::new(with_ones(&columns), Poisson, &counted, Prior::flat(3)).unwrap().mode().is_ok());
    let mut other = columns.clone();
    other[0][3] = -0.1;
    let held = Ridge::new(with_ones(&other), Poisson, &y, Prior::flat(3)).unwrap();
    // Whether or not another direction separates, the verdict must be right: a mode has no gradient.
    match held.mode() {
        Ok(mode) => assert!(distance(&held, &mode.point) < 1e-8),
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn one_far_row_or_uncentred_times_are_not_mistaken_for_separation() {
    // A row of leverage 1e8 that fits its side: its predictor runs away, the others hold the slope.
    let n = 40;
    let mut x = numbers(101, n);
    let mut y = responses(102, n);
    (x[7], y[7]) = (1e8, if slope_of(&x[..7], &y[..7]) > 0.0 { 1.0 } else { 0.0 });
    let model = Ridge::new(threshold(&x), Logistic, &y, Prior::flat(2)).unwrap();
    match model.mode() {
        Ok(mode) => assert_eq!(mode.properness, Properness::Proper(Proof::Curvature)),
        Err(error) => panic!("{error}"),
    }
    // Times in seconds since 1970 over a week.
    let times: Vec<f64> = numbers(103, n).iter().map(|t| (1.7e9 + 3e5 * t).round()).collect();
    let late: Vec<f64> = times
        .iter()
        .zip(&numbers(104, n))
        .map(|(t, e)| f64::from(u8::from(t - 1.7e9 + 2e5 * e > 0.0)))
        .collect();
    let overlap = Ridge::new(threshold(&times), Logistic, &late, Prior::flat(2)).unwrap();
    let mode = overlap.mode().unwrap();
    assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
    let centred: Vec<f64> = times.iter().map(|t| t - 1.7e9).collect();
    let same = Ridge::new(threshold(&centred), Logistic, &late, Prior::flat(2)).unwrap().mode().unwrap();
    assert!((mode.point[1] / same.point[1] - 1.0).abs() < 1e-6, "{} and {}", mode.point[1], same.point[1]);
    let split: Vec<f64> = times.iter().map(|t| f64::from(u8::from(*t > 1.7e9))).collect();
    let (found, _) =
        improper(Ridge::new(threshold(&times), Logistic, &split, Prior::flat(2)).unwrap().mode());
    assert!(matches!(found, Impropriety::Separation(s) if s.kind == SeparationKind::Complete));
}

fn slope_of(x: &[f64], y: &[f64]) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * (y - 0.5)).sum()
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
        matches!(error, Error::NotConverged { method: Method::Lbfgs, .. } | Error::NotFinite { .. }),
        "{error}"
    );
    let hard = model(Logistic, 100, 5, 111, Prior::flat(5));
    let error = ModeSearch::new().with_iterations(1).of_ridge(&hard).unwrap_err();
    let Error::NotConverged { iterations: 1, gradient_norm, .. } = error else { panic!("{error}") };
    assert!(gradient_norm > 0.0);
    assert!(
        error
            .to_string()
            .contains("no mode after 1 iterations of Newton's method: the limit of iterations was reached")
    );
    assert!(matches!(ModeSearch::new().with_start(vec![0.0; 2]).of_ridge(&hard), Err(Error::Length { .. })));
    assert!(matches!(
        ModeSearch::new().with_start(vec![f64::NAN; 5]).of_ridge(&hard),
        Err(Error::NotFinite { .. })
    ));
    assert!(
        ModeSearch::new().with_tolerance(0.0).is_err() && ModeSearch::new().with_tolerance(f64::NAN).is_err()
    );
}

#[test]
fn limits_of_slopes_are_slopes_far_out() {
    let binomial = Observation { response: 3.0, trials: 7.0 };
    for family in families() {
        let observations: Vec<Observation> = [Observation::of(0.0), Observation::of(1.0), binomial]
            .into_iter()
            .filter(|y| family.objection(*y).is_none())
            .collect();
        assert!(!observations.is_empty());
        for y in observations {
            let [down, up] = family.0.slope_limits(y);
            for (limit, s) in [(down, -1e9), (up, 1e9)] {
                let slope = family.slope(s, y);
                let agree = if limit.is_infinite() {
                    slope.signum() == limit.signum() && slope.abs() > 1e8
                } else {
                    (slope - limit).abs() < 1e-12
                };
                assert!(agree, "{}: {limit} and {slope}", family.name());
            }
            // What a family tells unless it tells better: the same zeros.
            let told = family.slope_limits(y).map(|limit| limit == 0.0);
            assert_eq!(told, [down == 0.0, up == 0.0], "{}", family.name());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Random small data, often separated: whatever the verdict, it is checked by other means.
    #[test]
    fn verdicts_are_right(seed in 0_u64..100_000, n in 4_usize..14, d in 1_usize..4, coarse in any::<bool>()) {
        let mut values = numbers(seed, n * d);
        if coarse {
            values.iter_mut().for_each(|x| *x = (2.0 * *x).round());
        }
        let columns: Vec<Vec<f64>> = (0..d).map(|k| (0..n).map(|i| values[i * d + k]).collect()).collect();
        let y = responses(seed + 1, n);
        let model = Ridge::new(with_ones(&columns), Logistic, &y, Prior::flat(d + 1)).unwrap();
        match model.mode() {
            Ok(mode) => {
                prop_assert_eq!(mode.properness, Properness::Proper(Proof::Curvature));
                prop_assert!(distance(&model, &mode.point) < 1e-8);
                // The next step of Newton's method stays: a true minimum, not a slope that flattens.
                prop_assert!(largest(&mode.point) < 1e6);
            }
            Err(Error::Improper(Impropriety::Separation(separation))) => assert_separates(&columns, &y, &separation),
            Err(Error::Improper(Impropriety::Collinear(relations))) => {
                for relation in relations {
                    let column = |k: usize, i: usize| if k == 0 { 1.0 } else { columns[k - 1][i] };
                    for i in 0..n {
                        let sum: f64 = relation.terms.iter().map(|&(k, factor)| factor * column(k, i)).sum();
                        prop_assert!((column(relation.column, i) - sum).abs() < 1e-9);
                    }
                }
            }
            Err(error) => prop_assert!(false, "{error}"),
        }
    }
}

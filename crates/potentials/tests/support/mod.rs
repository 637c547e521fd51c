//! Random numbers, families, models and small linear algebra that several tests use.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{
    CurvatureBounds, Family, Gaussian, Huber, Logistic, LogisticNoise, Observation, Poisson, Probit,
};
use ridgewalk_potentials::{Dense, Gradient, LineIntegral, Prior, Ridge, Scratch, Separation};

/// Random numbers between −1 and 1.
pub(crate) fn numbers(seed: u64, count: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| 2.0 * rng.random::<f64>() - 1.0).collect()
}

/// The largest number by size.
pub(crate) fn largest(values: &[f64]) -> f64 {
    values.iter().fold(0.0, |m: f64, x| m.max(x.abs()))
}

pub(crate) fn gradient<F: Family>(model: &Ridge<'_, F>, point: &[f64]) -> Vec<f64> {
    let mut out = vec![0.0; point.len()];
    model.gradient(point, &mut out).unwrap();
    out
}

/// The line integrals of some chains.
pub(crate) fn integral(
    model: &impl LineIntegral, length: f64, positions: &[f64], momenta: &[f64],
) -> Vec<f64> {
    let mut out = vec![f64::NAN; positions.len()];
    model.integrate(length, positions, momenta, &mut out, &mut Scratch::default()).unwrap();
    out
}

/// Solves a system by Gauss's elimination with pivots.
pub(crate) fn solve(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
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
pub(crate) fn distance<F: Family>(model: &Ridge<'_, F>, point: &[f64]) -> f64 {
    let d = point.len();
    let (g, h) = (gradient(model, point), model.hessian(point).unwrap());
    // With units of the diagonal, so that elimination does not suffer from scales.
    let unit: Vec<f64> = (0..d).map(|k| h[k * (d + 1)].sqrt()).collect();
    let matrix =
        (0..d).map(|k| (0..d).map(|l| h[k * d + l] / unit[k] / unit[l]).collect()).collect();
    let scaled: Vec<f64> = g.iter().zip(&unit).map(|(g, u)| g / u).collect();
    let x = solve(matrix, scaled.clone());
    x.iter().zip(&scaled).map(|(x, g)| x * g).sum::<f64>().max(0.0).sqrt()
}

/// The text of a file of test data.
fn data(name: &str) -> String {
    std::fs::read_to_string(format!("{}/tests/data/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// A table with a header, as columns by name.
pub(crate) fn table(name: &str) -> BTreeMap<String, Vec<f64>> {
    let text = data(name);
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
pub(crate) fn reference(name: &str) -> Vec<(String, f64)> {
    let text = data(name);
    let pairs = text.lines().skip(1).map(|line| line.split_once(',').unwrap());
    pairs.map(|(name, value)| (name.to_owned(), value.parse().unwrap())).collect()
}

/// A design of columns, with a column of ones before them.
pub(crate) fn with_ones(columns: &[Vec<f64>]) -> Dense<'static> {
    Dense::from_columns(columns).unwrap().with_intercept()
}

/// A family whose type is forgotten, so that one loop can go through all of them.
pub(crate) fn boxed(family: impl Family + 'static) -> Box<dyn Family> {
    Box::new(family)
}

/// A family stripped of everything that has a default.
#[derive(Debug)]
pub(crate) struct Plain<'a>(pub(crate) &'a dyn Family);

impl Family for Plain<'_> {
    fn name(&self) -> &'static str {
        self.0.name()
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
    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        self.0.curvature_bounds(y)
    }
}

/// The built-in families.
pub(crate) fn families() -> Vec<Box<dyn Family>> {
    vec![
        boxed(Logistic),
        boxed(Probit),
        boxed(Poisson),
        boxed(Gaussian::new(0.8).unwrap()),
        boxed(LogisticNoise::new(0.6).unwrap()),
        boxed(Huber::new(0.7, 1.345).unwrap()),
    ]
}

/// Responses that every family takes and that no direction separates.
pub(crate) fn responses(seed: u64, rows: usize) -> Vec<f64> {
    numbers(seed, rows).iter().map(|x| f64::from(u8::from(*x > 0.2))).collect()
}

pub(crate) fn model<F: Family>(
    family: F, rows: usize, columns: usize, seed: u64, prior: Prior,
) -> Ridge<'static, F> {
    let design = Dense::new(rows, columns - 1, numbers(seed, rows * (columns - 1)))
        .unwrap()
        .with_intercept();
    Ridge::new(design, family, &responses(seed + 1, rows), prior).unwrap()
}

/// Checks a direction row by row: failures go down and successes up, or stay.
pub(crate) fn assert_separates(columns: &[Vec<f64>], y: &[f64], separation: &Separation) {
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

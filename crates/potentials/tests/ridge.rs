//! Ridge-separable and black-box potentials: gradients, line integrals, designs, batches, and what
//! is refused.

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk_potentials::families::{
    CurvatureBounds, Family, Gaussian, Logistic, Objection, Observation, Poisson, Probit,
};
use ridgewalk_potentials::{
    Chebyshev, Dense, Design, Error, FromFn, Gradient, LineIntegral, Prior, Ridge, Scratch, Sparse,
};

use crate::support::{self, boxed, integral, largest};

/// Random numbers between −1 and 1, some of them 0.
fn numbers(seed: u64, count: usize, zeros: f64) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    (0..count)
        .map(|_| {
            let value = 2.0 * rng.random::<f64>() - 1.0;
            if rng.random::<f64>() < zeros { 0.0 } else { value }
        })
        .collect()
}

/// A family of a user's own, with what the trait requires and no more: negative binomial counts of
/// mean e^s and size r, u = (y + r) log(r + e^s) − y s. With z = s − log r the first part is (y +
/// r) softplus(z), which is Logistic's.
#[derive(Debug)]
struct NegativeBinomial {
    size: f64,
}

impl NegativeBinomial {
    fn logit(&self, s: f64) -> f64 {
        s - self.size.ln()
    }
}

const FAILURE: Observation = Observation { response: 0.0, trials: 1.0 };

impl Family for NegativeBinomial {
    fn name(&self) -> &'static str {
        "negative binomial"
    }
    fn objection(&self, y: Observation) -> Option<Objection> {
        Poisson.objection(y)
    }
    fn value(&self, s: f64, y: Observation) -> f64 {
        (y.response + self.size) * (self.size.ln() + Logistic.value(self.logit(s), FAILURE))
            - y.response * s
    }
    fn slope(&self, s: f64, y: Observation) -> f64 {
        (y.response + self.size) * Logistic.slope(self.logit(s), FAILURE) - y.response
    }
    fn curvature(&self, s: f64, y: Observation) -> f64 {
        (y.response + self.size) * Logistic.curvature(self.logit(s), FAILURE)
    }
    fn mean_slope(&self, s: f64, t: f64, y: Observation) -> f64 {
        (y.response + self.size) * Logistic.mean_slope(self.logit(s), t, FAILURE) - y.response
    }
    fn curvature_bounds(&self, y: Observation) -> CurvatureBounds {
        CurvatureBounds { lower: 0.0, upper: Some(0.25 * (y.response + self.size)) }
    }
}

/// The built-in families and one of a user's own.
fn families() -> Vec<Box<dyn Family>> {
    let mut families = support::families();
    families.push(boxed(NegativeBinomial { size: 2.3 }));
    families
}

/// A model with weights, offsets and priors that are neither equal nor centred.
fn model<F: Family>(family: F, rows: usize, columns: usize, seed: u64) -> Ridge<'static, F> {
    let design = Dense::new(rows, columns, numbers(seed, rows * columns, 0.3)).unwrap();
    model_of(design.into(), family, rows, columns, seed)
}

fn model_of<F: Family>(
    design: Design<'static>, family: F, rows: usize, columns: usize, seed: u64,
) -> Ridge<'static, F> {
    let responses: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(i * 7 % 3 == 0))).collect();
    let scales: Vec<f64> =
        (0..columns).map(|k| if k % 3 == 1 { f64::INFINITY } else { 0.5 + k as f64 }).collect();
    let prior = Prior::normal(&numbers(seed + 1, columns, 0.0), &scales).unwrap();
    Ridge::new(design, family, &responses, prior)
        .unwrap()
        .with_weights(numbers(seed + 2, rows, 0.0).iter().map(|w| w.abs() + 0.1).collect())
        .unwrap()
        .with_offsets(numbers(seed + 3, rows, 0.0))
        .unwrap()
}

fn largest_difference(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
}

#[test]
fn gradients_are_the_differences_of_values() {
    for family in families() {
        let name = family.name();
        let model = model(family, 40, 5, 11);
        let point = numbers(5, 5, 0.0);
        let mut gradient = vec![0.0; 5];
        model.gradient(&point, &mut gradient).unwrap();
        for k in 0..5 {
            let h = 1e-5;
            let at = |shift: f64| {
                let mut moved = point.clone();
                moved[k] += shift;
                model.value(&moved).unwrap()
            };
            // Fourth order, so that the step can be long enough for rounding.
            let difference = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let tolerance = if name == "robust-huber" { 1e-4 } else { 1e-7 };
            assert!(
                (difference - gradient[k]).abs() < tolerance * (1.0 + gradient[k].abs()),
                "{name}, {k}"
            );
        }
    }
}

#[test]
fn line_integrals_are_what_64_nodes_find() {
    for family in families() {
        let name = family.name();
        let exact = model(family, 61, 7, 21);
        let (position, momentum) = (numbers(6, 7, 0.0), numbers(7, 7, 0.0));
        // Huber's slope has corners, which no quadrature meets exactly: many short rules come
        // close.
        let pieces = if name == "robust-huber" { 4000_u32 } else { 1 };
        let length = 0.9;
        let piece = length / f64::from(pieces);
        let ours = integral(&exact, length, &position, &momentum);
        let rule = Chebyshev::new(exact, if pieces > 1 { 2 } else { 64 }).unwrap();
        assert_eq!(rule.gradients_per_integral(), if pieces > 1 { 2 } else { 64 });
        let mut sum = vec![0.0; 7];
        for i in 0..pieces {
            let start: Vec<f64> =
                position.iter().zip(&momentum).map(|(x, p)| x + f64::from(i) * piece * p).collect();
            integral(&rule, piece, &start, &momentum)
                .iter()
                .zip(&mut sum)
                .for_each(|(v, s)| *s += v);
        }
        let tolerance = if pieces > 1 { 1e-6 } else { 1e-12 };
        assert!(
            largest_difference(&ours, &sum) < tolerance * largest(&ours),
            "{name}: {ours:?} and {sum:?}"
        );
    }
}

#[test]
fn without_momentum_the_integral_is_the_gradient_and_short_segments_tend_to_it() {
    for family in families() {
        let model = model(family, 30, 4, 31);
        let position = numbers(8, 4, 0.0);
        let momentum = numbers(9, 4, 0.0);
        let mut gradient = vec![0.0; 4];
        model.gradient(&position, &mut gradient).unwrap();
        for length in [1e-3, 1e-6, 1e-9] {
            let mean: Vec<f64> =
                integral(&model, length, &position, &momentum).iter().map(|v| v / length).collect();
            assert!(largest_difference(&mean, &gradient) < 200.0 * length + 1e-12);
        }
        let still = integral(&model, 0.5, &position, &[0.0; 4]);
        let half: Vec<f64> = gradient.iter().map(|g| 0.5 * g).collect();
        assert!(largest_difference(&still, &half) < 1e-13 * (1.0 + largest(&half)));
    }
}

/// A logistic model with enough rows for several sums of rows and a remainder of a block in each.
fn large(sparse: bool) -> Ridge<'static, Logistic> {
    let (rows, d) = (LARGE_ROWS, 9);
    let dense = Dense::new(rows, d, numbers(41, rows * d, 0.6)).unwrap();
    let design: Design<'static> =
        if sparse { Sparse::from_dense(&dense).into() } else { dense.into() };
    model_of(design, Logistic, rows, d, 42)
}

const LARGE_ROWS: usize = 20_137;

fn gradients<L: LineIntegral>(model: &L, positions: &[f64]) -> Vec<f64> {
    let mut out = vec![f64::NAN; positions.len()];
    model.gradients(positions, &mut out, &mut Scratch::default()).unwrap();
    out
}

#[test]
fn a_chain_does_not_feel_the_others_to_the_last_bit() {
    let (d, chains) = (9, 21);
    for sparse in [false, true] {
        let model = large(sparse);
        let (positions, momenta) = (numbers(43, d * chains, 0.0), numbers(44, d * chains, 0.0));
        let together = integral(&model, 0.7, &positions, &momenta);
        let slopes_together = gradients(&model, &positions);
        for count in [1, 2, 3, 4, 5, 7, 8, 9, 13, 21] {
            for first in [0, 1, chains - count] {
                let range = first * d..(first + count).min(chains) * d;
                let alone =
                    integral(&model, 0.7, &positions[range.clone()], &momenta[range.clone()]);
                assert_eq!(alone, together[range.clone()], "{count} chains from {first}");
                let alone = gradients(&model, &positions[range.clone()]);
                assert_eq!(alone, slopes_together[range], "{count} chains from {first}");
            }
        }
    }
}

#[test]
fn columns_of_a_wide_design_come_to_their_places() {
    // More columns than are moved at a time, and not a multiple of them; a row has one entry, so
    // that each column has a sum of its own.
    let (d, chains) = (300, 9);
    let mut entries = vec![0.0; d * d];
    (0..d).for_each(|k| entries[k * (d + 1)] = 1.0 + k as f64);
    let prior = Prior::centred(d, f64::INFINITY).unwrap();
    let model = Ridge::new(
        Dense::new(d, d, entries).unwrap(),
        Gaussian::new(1.0).unwrap(),
        &vec![0.0; d],
        prior,
    )
    .unwrap();
    let (positions, momenta) = (numbers(61, d * chains, 0.0), numbers(62, d * chains, 0.0));
    let expected = |length: f64| -> Vec<f64> {
        let middle = positions.iter().zip(&momenta).map(|(x, p)| x + 0.5 * length * p);
        middle.enumerate().map(|(at, x)| (1.0 + (at % d) as f64).powi(2) * x).collect()
    };
    let integrals: Vec<f64> = expected(0.5).iter().map(|slope| 0.5 * slope).collect();
    assert!(
        largest_difference(&integral(&model, 0.5, &positions, &momenta), &integrals)
            <= 1e-15 * largest(&integrals)
    );
    let slopes = expected(0.0);
    assert!(
        largest_difference(&gradients(&model, &positions), &slopes) <= 1e-15 * largest(&slopes)
    );
}

#[test]
fn threads_do_not_change_a_bit() {
    let d = 9;
    for sparse in [false, true] {
        let model = large(sparse);
        for chains in [1, 3, 8, 13, 40] {
            let (positions, momenta) = (numbers(45, d * chains, 0.0), numbers(46, d * chains, 0.0));
            let on = |threads: usize| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    (integral(&model, 0.7, &positions, &momenta), gradients(&model, &positions))
                })
            };
            let one = on(1);
            for threads in [2, 3, 7] {
                assert_eq!(
                    on(threads),
                    one,
                    "{threads} threads, {chains} chains, sparse: {sparse}"
                );
            }
        }
    }
}

#[test]
fn scratch_may_be_used_again_for_anything() {
    let (small, large) = (model(Probit, 50, 30, 47), large(false));
    let mut scratch = Scratch::default();
    for _ in 0..2 {
        for chains in [13, 1, 5] {
            let (x, p) = (numbers(48, 30 * chains, 0.0), numbers(49, 30 * chains, 0.0));
            let mut out = vec![f64::NAN; 30 * chains];
            small.integrate(0.4, &x, &p, &mut out, &mut scratch).unwrap();
            assert_eq!(out, integral(&small, 0.4, &x, &p));
            small.gradients(&x, &mut out, &mut scratch).unwrap();
            assert_eq!(out, gradients(&small, &x));
            let mut out = vec![f64::NAN; 9 * chains];
            large
                .integrate(0.4, &x[..9 * chains], &p[..9 * chains], &mut out, &mut scratch)
                .unwrap();
            assert_eq!(out, integral(&large, 0.4, &x[..9 * chains], &p[..9 * chains]));
        }
    }
}

#[test]
fn sparse_and_dense_agree() {
    let (rows, d) = (700, 30);
    let dense = Dense::new(rows, d, numbers(51, rows * d, 0.9)).unwrap();
    let sparse = Sparse::from_dense(&dense);
    let a = model_of(dense.into(), Probit, rows, d, 52);
    let b = model_of(sparse.into(), Probit, rows, d, 52);
    let (positions, momenta) = (numbers(53, d * 9, 0.0), numbers(54, d * 9, 0.0));
    let (x, y) = (integral(&a, 0.6, &positions, &momenta), integral(&b, 0.6, &positions, &momenta));
    assert!(largest_difference(&x, &y) <= 1e-14 * largest(&x));
    let point = &positions[..d];
    assert!((a.value(point).unwrap() / b.value(point).unwrap() - 1.0).abs() < 1e-14);
}

#[test]
fn weights_count_rows_and_offsets_shift_predictors() {
    let rows = numbers(61, 6, 0.0);
    let repeated: Vec<f64> =
        rows.chunks(2).flat_map(|row| row.iter().chain(row).copied()).collect();
    let once =
        Ridge::new(Dense::new(3, 2, rows).unwrap(), Logistic, &[1.0, 0.0, 1.0], Prior::flat(2))
            .unwrap();
    let twice = Ridge::new(
        Dense::new(6, 2, repeated).unwrap(),
        Logistic,
        &[1.0, 1.0, 0.0, 0.0, 1.0, 1.0],
        Prior::flat(2),
    )
    .unwrap();
    let (x, p) = ([0.3, -0.8], [1.0, 0.4]);
    let weighted = once.clone().with_weights(vec![2.0; 3]).unwrap();
    assert!(
        largest_difference(&integral(&weighted, 0.5, &x, &p), &integral(&twice, 0.5, &x, &p))
            < 1e-15
    );
    assert!((weighted.value(&x).unwrap() - twice.value(&x).unwrap()).abs() < 1e-15);
    // An offset equal to an intercept of 0.7.
    let with_intercept = Dense::new(3, 1, vec![0.5, -1.0, 2.0]).unwrap().with_intercept();
    let model = Ridge::new(with_intercept, Logistic, &[1.0, 0.0, 1.0], Prior::flat(2)).unwrap();
    let alone = Ridge::new(
        Dense::new(3, 1, vec![0.5, -1.0, 2.0]).unwrap(),
        Logistic,
        &[1.0, 0.0, 1.0],
        Prior::flat(1),
    );
    let alone = alone.unwrap().with_offsets(vec![0.7; 3]).unwrap();
    assert!((model.value(&[0.7, -0.2]).unwrap() - alone.value(&[-0.2]).unwrap()).abs() < 1e-15);
}

#[test]
fn bad_data_is_named_by_row_and_column() {
    let text = |error: Error| error.to_string();
    let dense = |values: Vec<f64>| Dense::new(2, 2, values);
    assert_eq!(
        text(dense(vec![1.0, 2.0, f64::NAN, 4.0]).unwrap_err()),
        "row 1, column 0 of the design: found NaN, need a finite number"
    );
    assert_eq!(
        text(dense(vec![1.0, f64::INFINITY, 0.0, 4.0]).unwrap_err()),
        "row 0, column 1 of the design: found inf, need a finite number"
    );
    assert_eq!(text(dense(vec![1.0; 3]).unwrap_err()), "the design has 3 entries: need 4");
    assert_eq!(
        text(Dense::new(0, 3, vec![]).unwrap_err()),
        "a design of 0 rows and 3 columns: need at least one of each"
    );
    assert!(Dense::new(3, 0, vec![]).is_err());
    let good = || dense(vec![1.0, 2.0, 3.0, 4.0]).unwrap();
    let with = |y: &[f64]| Ridge::new(good(), Logistic, y, Prior::flat(2)).map(drop);
    assert_eq!(text(with(&[0.0, 2.0]).unwrap_err()), "response in row 1: found 2, need 0 or 1");
    assert_eq!(text(with(&[0.0]).unwrap_err()), "the list of responses has 1 entries: need 2");
    let counts =
        Ridge::with_trials(good(), Logistic, &[1.0, 5.0], &[1.0, 3.0], Prior::flat(2)).map(drop);
    assert_eq!(
        text(counts.unwrap_err()),
        "response in row 1: found 5, need no more successes than trials"
    );
    assert!(Ridge::new(good(), Logistic, &[0.0, 1.0], Prior::flat(3)).is_err());
    let model = || Ridge::new(good(), Logistic, &[0.0, 1.0], Prior::flat(2)).unwrap();
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let error = model().with_weights(vec![1.0, bad]).map(drop).unwrap_err();
        assert_eq!(
            text(error),
            format!("weight in row 1: found {bad}, need a positive, finite number")
        );
    }
    let error = model().with_offsets(vec![f64::NAN, 0.0]).map(drop).unwrap_err();
    assert_eq!(text(error), "offset in row 0: found NaN, need a finite number");
    assert!(
        model().with_weights(vec![1.0]).is_err() && model().with_offsets(vec![1.0; 3]).is_err()
    );
    assert!(
        text(Prior::normal(&[0.0], &[0.0]).unwrap_err())
            .starts_with("prior scale of coefficient 0: found 0")
    );
    assert!(
        Prior::normal(&[f64::NAN], &[1.0]).is_err() && Prior::normal(&[0.0; 2], &[1.0]).is_err()
    );
    assert!(Prior::normal(&[0.0], &[f64::INFINITY]).is_ok());
    assert!(model().value(&[0.0]).is_err());
    let sparse = |starts: Vec<usize>, indices: Vec<usize>, values: Vec<f64>| {
        Sparse::new(3, starts, indices, values)
    };
    assert!(sparse(vec![0, 1, 2], vec![0, 2], vec![1.0, 2.0]).is_ok());
    assert_eq!(
        text(sparse(vec![0, 1, 2], vec![0, 3], vec![1.0, 2.0]).unwrap_err()),
        "row 1 of the sparse design: found column 3, need an index below the number of columns"
    );
    assert_eq!(
        text(sparse(vec![0, 2], vec![1, 1], vec![1.0, 2.0]).unwrap_err()),
        "row 0 of the sparse design: found column 1, need indices that rise"
    );
    assert_eq!(
        text(sparse(vec![0, 1], vec![1], vec![f64::NAN]).unwrap_err()),
        "row 0, column 1 of the design: found NaN, need a finite number"
    );
    assert!(
        sparse(vec![0, 2, 1], vec![0], vec![1.0]).is_err()
            && sparse(vec![1, 1], vec![0], vec![1.0]).is_err()
    );
    assert!(
        sparse(vec![0, 2], vec![0], vec![1.0]).is_err() && sparse(vec![0], vec![], vec![]).is_err()
    );
}

#[test]
fn lists_that_do_not_hold_whole_chains_are_refused() {
    let model = model(Logistic, 5, 3, 71);
    let mut scratch = Scratch::default();
    for (positions, momenta, integrals) in [(4, 4, 4), (3, 6, 3), (3, 3, 6), (0, 0, 0)] {
        let outcome = model.integrate(
            0.1,
            &vec![0.0; positions],
            &vec![0.0; momenta],
            &mut vec![0.0; integrals],
            &mut scratch,
        );
        assert!(
            matches!(outcome, Err(Error::Length { .. })),
            "{positions}, {momenta}, {integrals}"
        );
    }
}

#[test]
fn a_gradient_that_fails_reaches_the_caller_with_the_point() {
    let gradient = FromFn::new(2, |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        if x[0] > 1.0 { Err(format!("{} is outside", x[0]).into()) } else { Ok(()) }
    });
    let rule = Chebyshev::new(gradient, 3).unwrap();
    let mut out = [0.0; 4];
    let fine = rule.integrate(
        1.0,
        &[0.0, 1.0, 0.1, 0.2],
        &[0.5, 0.0, 0.1, 0.1],
        &mut out,
        &mut Scratch::default(),
    );
    assert!(fine.is_ok());
    assert!((out[0] - 0.25).abs() < 1e-15 && (out[1] - 1.0).abs() < 1e-15);
    let outcome = rule.integrate(
        1.0,
        &[0.0, 1.0, 0.9, 0.2],
        &[0.5, 0.0, 0.3, 0.0],
        &mut out,
        &mut Scratch::default(),
    );
    let Err(Error::Gradient { point, message }) = outcome else { panic!("{outcome:?}") };
    assert!(point[0] > 1.0 && point[1] == 0.2);
    assert_eq!(message, format!("{} is outside", point[0]));
    assert!(matches!(
        Chebyshev::new(FromFn::new(1, |_: &[f64], _: &mut [f64]| Ok(())), 0),
        Err(Error::Quadrature(_))
    ));
}

proptest! {
    #[test]
    fn the_integral_of_a_segment_is_the_sum_of_its_parts(seed in 0_u64..1000, length in 0.01..5.0_f64, share in 0.0..1.0_f64) {
        let model = model(Logistic, 20, 3, seed);
        let (position, momentum) = (numbers(seed + 7, 3, 0.0), numbers(seed + 8, 3, 0.0));
        let whole = integral(&model, length, &position, &momentum);
        let cut = share * length;
        let middle: Vec<f64> = position.iter().zip(&momentum).map(|(x, p)| x + cut * p).collect();
        let first = integral(&model, cut, &position, &momentum);
        let second = integral(&model, length - cut, &middle, &momentum);
        let sum: Vec<f64> = first.iter().zip(&second).map(|(a, b)| a + b).collect();
        prop_assert!(largest_difference(&whole, &sum) < 1e-12 * (1.0 + largest(&first) + largest(&second)));
    }
}

#[test]
fn many_rows_are_the_plain_sum_over_them() {
    // Enough rows for several blocks, and a number that no block divides.
    let (rows, d, length) = (20_011, 6, 0.8);
    let values = numbers(81, rows * d, 0.5);
    let responses: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(i * 7 % 3 == 0))).collect();
    let dense = Dense::new(rows, d, values.clone()).unwrap();
    let sparse = Sparse::from_dense(&dense);
    let (position, momentum) = (numbers(82, d, 0.0), numbers(83, d, 0.0));
    let dot = |row: &[f64], x: &[f64]| row.iter().zip(x).map(|(a, x)| a * x).sum::<f64>();
    let mut plain = vec![0.0; d];
    let mut gradient = vec![0.0; d];
    for (row, y) in values.chunks(d).zip(&responses) {
        let (s, t) = (dot(row, &position), length * dot(row, &momentum));
        let (mean, slope) = (
            Logistic.mean_slope(s, t, Observation::of(*y)),
            Logistic.slope(s, Observation::of(*y)),
        );
        (0..d).for_each(|k| {
            plain[k] += length * mean * row[k];
            gradient[k] += slope * row[k];
        });
    }
    for design in [Design::from(dense), Design::from(sparse)] {
        let model = Ridge::new(design, Logistic, &responses, Prior::flat(d)).unwrap();
        assert!(
            largest_difference(&integral(&model, length, &position, &momentum), &plain)
                < 1e-11 * largest(&plain)
        );
        let mut found = vec![0.0; d];
        model.gradient(&position, &mut found).unwrap();
        assert!(largest_difference(&found, &gradient) < 1e-11 * largest(&gradient));
    }
}

#[test]
fn an_intercept_is_the_same_for_dense_and_sparse_designs() {
    let dense = Dense::new(9, 3, numbers(91, 27, 0.6)).unwrap();
    assert_eq!(
        Sparse::from_dense(&dense).with_intercept(),
        Sparse::from_dense(&dense.with_intercept())
    );
}

#[test]
fn bad_trials_are_named_as_such() {
    let with = |family: Box<dyn Family>, trials: f64| {
        let design = Dense::new(2, 1, vec![1.0, 2.0]).unwrap();
        let made = Ridge::with_trials(design, family, &[1.0, 1.0], &[1.0, trials], Prior::flat(1));
        made.map(drop).unwrap_err().to_string()
    };
    let logistic = || boxed(Logistic);
    assert_eq!(
        with(logistic(), 0.5),
        "trials in row 1: found 0.5, need a whole number of trials of at least 1"
    );
    let none = "trials in row 1: found 3, need 1, because this family has no trials";
    assert_eq!(with(boxed(Poisson), 3.0), none);
    assert_eq!(with(boxed(Gaussian::new(1.0).unwrap()), 3.0), none);
    // A gradient of no dimensions, a design that does not fit into memory, a predictor that is not
    // a number.
    assert!(Chebyshev::new(FromFn::new(0, |_: &[f64], _: &mut [f64]| Ok(())), 3).is_err());
    assert!(Dense::new(1 << 63, 2, vec![]).is_err());
    for family in families() {
        assert!(
            family.mean_slope(f64::NAN, 0.5, Observation::of(1.0)).is_nan(),
            "{}",
            family.name()
        );
        assert!(
            family.mean_slope(0.5, f64::NAN, Observation::of(1.0)).is_nan(),
            "{}",
            family.name()
        );
    }
}

#[test]
fn a_design_from_columns_is_the_one_from_rows() {
    let rows = Dense::new(2, 3, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap();
    assert_eq!(Dense::from_columns(&[[1.0, 4.0], [2.0, 5.0], [3.0, 6.0]]), Ok(rows));
    let uneven: [&[f64]; 3] = [&[1.0, 4.0], &[2.0, 5.0], &[3.0]];
    let error = Dense::from_columns(&uneven).unwrap_err();
    assert_eq!(error, Error::Column { column: 2, got: 1, need: 2 });
    assert_eq!(error.to_string(), "column 2 of the design has 1 rows: need 2, as column 0 has");
    let infinite = Dense::from_columns(&[[1.0, 4.0], [2.0, f64::INFINITY]]).unwrap_err();
    assert!(matches!(infinite, Error::Entry { row: 1, column: 1, .. }));
    let none: [&[f64]; 0] = [];
    assert_eq!(Dense::from_columns(&none), Err(Error::Empty { rows: 0, columns: 0 }));
    assert!(Dense::from_columns(&[[], []]).is_err());
}

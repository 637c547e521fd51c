//! Line integrals: the fused pass beside the matrix products it replaces, one chain beside eight, sparse beside dense.
//!
//! "two products" is what any implementation by matrix products pays before it has looked at a single likelihood: A [θ p] and Aᵀ c
//! for all chains, by faer on one thread.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ridgewalk::potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Observation, Poisson, Probit,
};
use ridgewalk::potentials::{Dense, LineIntegral, Prior, Ridge, Scratch, Sparse};

const ROWS: usize = 10_000;
const COLUMNS: usize = 200;

/// Numbers between −scale and scale by a linear congruential generator: seeded, and without a dependency.
fn numbers(seed: u64, count: usize, scale: f64) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        scale * (2.0 * (state >> 11) as f64 / (1_u64 << 53) as f64 - 1.0)
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn responses() -> Vec<f64> {
    (0..ROWS).map(|i| f64::from(u8::from(i % 3 == 0))).collect()
}

fn line_integrals(c: &mut Criterion) {
    let mut group = c.benchmark_group("line integral, 10000 x 200");
    group.sample_size(20);
    // Rows of about unit length, so that linear predictors and their steps are of the size they have in use.
    let values = numbers(1, ROWS * COLUMNS, 0.12);
    let dense = Dense::new(ROWS, COLUMNS, values.clone()).expect("finite");
    let thin: Vec<f64> = numbers(2, ROWS * COLUMNS, 1.0)
        .iter()
        .zip(&values)
        .map(|(u, v)| if u.abs() < 0.01 { *v } else { 0.0 })
        .collect();
    let sparse = Sparse::from_dense(&Dense::new(ROWS, COLUMNS, thin).expect("finite"));
    let prior = || Prior::centred(COLUMNS, 2.5).expect("a scale");
    let dense_model = Ridge::new(dense, Logistic, &responses(), prior()).expect("a model");
    let sparse_model = Ridge::new(sparse, Logistic, &responses(), prior()).expect("a model");
    let (positions, momenta) = (numbers(3, 32 * COLUMNS, 1.0), numbers(4, 32 * COLUMNS, 1.0));
    let mut out = vec![0.0; 32 * COLUMNS];
    let mut scratch = Scratch::default();

    let design = MatRef::from_row_major_slice(&values, ROWS, COLUMNS);
    for chains in [1, 8, 32] {
        let range = ..chains * COLUMNS;
        group.bench_function(format!("dense, {chains} chains"), |b| {
            b.iter(|| {
                dense_model.integrate(0.5, &positions[range], &momenta[range], &mut out[range], &mut scratch)
            });
        });
        group.bench_function(format!("sparse 1 %, {chains} chains"), |b| {
            b.iter(|| {
                sparse_model.integrate(0.5, &positions[range], &momenta[range], &mut out[range], &mut scratch)
            });
        });
        let both: Vec<f64> = positions[range].iter().chain(&momenta[range]).copied().collect();
        let mut predictors = vec![0.0; 2 * ROWS * chains];
        let mut sums = vec![0.0; COLUMNS * chains];
        group.bench_function(format!("two products, {chains} chains"), |b| {
            b.iter(|| {
                let columns = MatRef::from_column_major_slice(&both, COLUMNS, 2 * chains);
                let into = MatMut::from_column_major_slice_mut(&mut predictors, ROWS, 2 * chains);
                matmul(into, Accum::Replace, design, columns, 1.0, Par::Seq);
                let coefficients =
                    MatRef::from_column_major_slice(&predictors[..ROWS * chains], ROWS, chains);
                let into = MatMut::from_column_major_slice_mut(&mut sums, COLUMNS, chains);
                matmul(into, Accum::Replace, design.transpose(), coefficients, 1.0, Par::Seq);
                black_box(&sums);
            });
        });
    }
    group.finish();
}

fn means(c: &mut Criterion) {
    let mut group = c.benchmark_group("mean slope of 1000 segments");
    let families: [(&dyn Family, f64); 6] = [
        (&Logistic, 1.0),
        (&Probit, 1.0),
        (&Poisson, 1.0),
        (&Gaussian::new(1.0).expect("a scale"), 0.3),
        (&LogisticNoise::new(1.0).expect("a scale"), 0.3),
        (&Huber::new(1.0, 1.345).expect("scales"), 0.3),
    ];
    let (starts, steps) = (numbers(5, 1000, 3.0), numbers(6, 1000, 1.0));
    for (family, response) in families {
        let y = Observation::of(response);
        group.bench_function(family.name(), |b| {
            b.iter(|| starts.iter().zip(&steps).map(|(s, t)| family.mean_slope(*s, *t, y)).sum::<f64>());
        });
    }
    group.finish();
}

criterion_group!(benches, line_integrals, means);
criterion_main!(benches);

//! Line integrals: the fused pass against the matrix products it replaces, one chain against eight,
//! sparse against dense, one thread against two; and the functions of families, one by one and in
//! lists.
//!
//! "two products" is the cost of any implementation by matrix products before it evaluates a single
//! likelihood: A [θ p] and Aᵀ c for all chains, by faer on one thread.

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::measurement::WallTime;
use criterion::{Bencher, BenchmarkGroup, Criterion, criterion_group, criterion_main};
use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use ridgewalk::potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Observation, Poisson, Probit,
};
use ridgewalk::potentials::{Dense, LineIntegral, Prior, Ridge, Scratch, Sparse};
use ridgewalk_benches::data::{numbers, responses};

/// A logistic model with a dense design, with 1 % of its entries, and as the bare entries; and
/// states of 32 chains.
struct Case {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    dense: Ridge<'static, Logistic>,
    sparse: Ridge<'static, Logistic>,
    positions: Vec<f64>,
    momenta: Vec<f64>,
    out: Vec<f64>,
    scratch: Scratch,
}

impl Case {
    fn new(rows: usize, columns: usize) -> Self {
        // Rows of about unit length, so that linear predictors and their steps have realistic
        // sizes.
        let values = numbers(1, rows * columns, (3.0 / columns as f64).sqrt());
        let thin: Vec<f64> = numbers(2, rows * columns, 1.0)
            .iter()
            .zip(&values)
            .map(|(u, v)| if u.abs() < 0.01 { *v } else { 0.0 })
            .collect();
        let thin = Sparse::from_dense(&Dense::new(rows, columns, thin).expect("finite"));
        let responses = responses(rows);
        let prior = || Prior::centred(columns, 2.5).expect("a scale");
        let dense = Dense::new(rows, columns, values.clone()).expect("finite");
        Self {
            rows,
            columns,
            values,
            dense: Ridge::new(dense, Logistic, &responses, prior()).expect("a model"),
            sparse: Ridge::new(thin, Logistic, &responses, prior()).expect("a model"),
            positions: numbers(3, 32 * columns, 1.0),
            momenta: numbers(4, 32 * columns, 1.0),
            out: vec![0.0; 32 * columns],
            scratch: Scratch::default(),
        }
    }

    fn integral(&mut self, sparse: bool, chains: usize) {
        let range = ..chains * self.columns;
        let model = if sparse { &self.sparse } else { &self.dense };
        let (x, p) = (&self.positions[range], &self.momenta[range]);
        model.integrate(0.5, x, p, &mut self.out[range], &mut self.scratch).expect("an integral");
    }

    fn gradient(&mut self, chains: usize) {
        let range = ..chains * self.columns;
        let x = &self.positions[range];
        self.dense.gradients(x, &mut self.out[range], &mut self.scratch).expect("gradients");
    }

    /// A [θ p] and Aᵀ c.
    fn two_products(&self, both: &[f64], predictors: &mut [f64], sums: &mut [f64], chains: usize) {
        let (rows, columns) = (self.rows, self.columns);
        let design = MatRef::from_row_major_slice(&self.values, rows, columns);
        let both = MatRef::from_column_major_slice(both, columns, 2 * chains);
        let into = MatMut::from_column_major_slice_mut(predictors, rows, 2 * chains);
        matmul(into, Accum::Replace, design, both, 1.0, Par::Seq);
        let coefficients =
            MatRef::from_column_major_slice(&predictors[..rows * chains], rows, chains);
        let into = MatMut::from_column_major_slice_mut(sums, columns, chains);
        matmul(into, Accum::Replace, design.transpose(), coefficients, 1.0, Par::Seq);
        black_box(sums);
    }
}

/// Each sample counts with its fastest call: on shared cores the others measure other processes.
fn fastest<T>(b: &mut Bencher<'_, WallTime>, mut call: impl FnMut() -> T) {
    b.iter_custom(|calls| {
        let time = |_| {
            let start = Instant::now();
            black_box(call());
            start.elapsed()
        };
        let least = (0..calls).map(time).min().unwrap_or_default();
        least.mul_f64(calls as f64)
    });
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads")
}

fn group<'a>(c: &'a mut Criterion, name: &str) -> BenchmarkGroup<'a, WallTime> {
    let mut group = c.benchmark_group(name);
    group
        .sample_size(20)
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(4));
    group
}

fn line_integrals(c: &mut Criterion) {
    for (rows, columns, batches) in [(10_000, 200, &[1, 8, 32][..]), (2_000, 2_000, &[1, 8])] {
        let mut group = group(c, &format!("line integral, {rows} x {columns}"));
        let mut case = Case::new(rows, columns);
        for &chains in batches {
            let one = pool(1);
            group.bench_function(format!("dense, {chains} chains"), |b| {
                fastest(b, || one.install(|| case.integral(false, chains)));
            });
            group.bench_function(format!("sparse 1 %, {chains} chains"), |b| {
                fastest(b, || one.install(|| case.integral(true, chains)));
            });
            group.bench_function(format!("dense gradient, {chains} chains"), |b| {
                fastest(b, || one.install(|| case.gradient(chains)));
            });
            let range = ..chains * columns;
            let both: Vec<f64> =
                case.positions[range].iter().chain(&case.momenta[range]).copied().collect();
            let mut predictors = vec![0.0; 2 * rows * chains];
            let mut sums = vec![0.0; columns * chains];
            group.bench_function(format!("two products, {chains} chains"), |b| {
                fastest(b, || case.two_products(&both, &mut predictors, &mut sums, chains));
            });
        }
        group.finish();
    }
}

fn threads(c: &mut Criterion) {
    let mut group = group(c, "threads, 10000 x 200");
    let mut case = Case::new(10_000, 200);
    for chains in [1, 8] {
        for threads in [1, 2] {
            let pool = pool(threads);
            group.bench_function(format!("dense, {chains} chains, {threads} threads"), |b| {
                fastest(b, || pool.install(|| case.integral(false, chains)));
            });
        }
    }
    group.finish();
}

/// Mean slopes, slopes and values of every family: one by one with the functions of the standard
/// library, and in lists.
fn rows(c: &mut Criterion) {
    let (s, t) = (numbers(5, 1000, 3.0), numbers(6, 1000, 1.0));
    let mut out = vec![0.0; 1000];
    by_family(
        &mut group(c, "mean slope of 1000 segments"),
        |family, y| s.iter().zip(&t).map(|(s, t)| family.mean_slope(*s, *t, y)).sum(),
        |family, list| family.mean_slopes(&s, &t, list, black_box(&mut out)),
    );
    by_family(
        &mut group(c, "slope at 1000 points"),
        |family, y| s.iter().map(|s| family.slope(*s, y)).sum(),
        |family, list| family.slopes(&s, list, black_box(&mut out)),
    );
    by_family(
        &mut group(c, "value at 1000 points"),
        |family, y| s.iter().map(|s| family.value(*s, y)).sum(),
        |family, list| family.values(&s, list, black_box(&mut out)),
    );
}

/// Measures a function of every family for 1000 rows, one by one and in lists.
fn by_family(
    group: &mut BenchmarkGroup<'_, WallTime>, one_by_one: impl Fn(&dyn Family, Observation) -> f64,
    mut together: impl FnMut(&dyn Family, &[Observation]),
) {
    let families: [(&dyn Family, f64); 6] = [
        (&Logistic, 1.0),
        (&Probit, 1.0),
        (&Poisson, 1.0),
        (&Gaussian::new(1.0).expect("a scale"), 0.3),
        (&LogisticNoise::new(1.0).expect("a scale"), 0.3),
        (&Huber::new(1.0, 1.345).expect("scales"), 0.3),
    ];
    for (family, response) in families {
        let (y, list) = (Observation::of(response), [Observation::of(response); 1000]);
        group.bench_function(format!("{}, one by one", family.name()), |b| {
            fastest(b, || one_by_one(family, y));
        });
        group.bench_function(format!("{}, together", family.name()), |b| {
            fastest(b, || together(family, &list));
        });
    }
}

criterion_group!(benches, line_integrals, threads, rows);
criterion_main!(benches);

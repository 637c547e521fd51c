//! Summaries of many parameters and their parts, LOO of one observation, and streaming moments. The
//! limit to compare with is sorting: the only part of a summary that grows faster than the number of
//! draws.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk::diagnostics::{Covariance, Moments, Psis, Summarizer, summaries_of_table};

const PARAMETERS: usize = 200;
const CHAINS: usize = 8;
const DRAWS: usize = 1000;

/// Autoregressive chains, each a table of draws x parameters.
fn tables() -> Vec<Vec<f64>> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    (0..CHAINS)
        .map(|_| {
            let mut state = [0.0; PARAMETERS];
            let mut table = Vec::with_capacity(DRAWS * PARAMETERS);
            for _ in 0..DRAWS {
                for x in &mut state {
                    *x = 0.7 * *x + rng.random::<f64>() - 0.5;
                }
                table.extend_from_slice(&state);
            }
            table
        })
        .collect()
}

fn diagnostics(c: &mut Criterion) {
    let tables = tables();
    let borrowed: Vec<&[f64]> = tables.iter().map(Vec::as_slice).collect();
    let one: Vec<Vec<f64>> =
        tables.iter().map(|table| table.iter().step_by(PARAMETERS).copied().collect()).collect();
    let chains: Vec<&[f64]> = one.iter().map(Vec::as_slice).collect();
    let pooled: Vec<f64> = one.concat();
    let mut workspace = Summarizer::new();

    let mut group = c.benchmark_group("diagnostics");
    group.sample_size(20);
    group.bench_function("200 summaries/8x1000", |b| {
        b.iter(|| {
            summaries_of_table(black_box(&borrowed), PARAMETERS).expect("well-shaped chains")
        });
    });
    let single = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("pool");
    group.bench_function("200 summaries, 1 thread/8x1000", |b| {
        b.iter(|| {
            single.install(|| {
                summaries_of_table(black_box(&borrowed), PARAMETERS).expect("well-shaped chains")
            })
        });
    });
    group.bench_function("summary/8x1000", |b| b.iter(|| workspace.summary(black_box(&chains))));
    group.bench_function("summary, fresh workspace/8x1000", |b| {
        b.iter(|| Summarizer::new().summary(black_box(&chains)));
    });
    group.bench_function("ess of the mean/8x1000", |b| {
        b.iter(|| workspace.ess_mean(black_box(&chains)))
    });
    group.bench_function("rhat/8x1000", |b| b.iter(|| workspace.rhat(black_box(&chains))));
    group.bench_function("sorting alone/8x1000", |b| {
        let mut sorted = pooled.clone();
        b.iter(|| {
            sorted.copy_from_slice(black_box(&pooled));
            sorted.sort_unstable_by(f64::total_cmp);
        });
    });

    let mut psis = Psis::new();
    group.bench_function("loo and waic, one observation/8x1000", |b| {
        b.iter(|| psis.pointwise(black_box(&pooled), 1.0))
    });
    group.bench_function("psis weights, one observation/8x1000", |b| {
        let mut weights = pooled.clone();
        b.iter(|| {
            weights.copy_from_slice(black_box(&pooled));
            psis.smooth(&mut weights, 1.0)
        });
    });

    let draw = &tables[0][..PARAMETERS];
    let mut moments = Moments::new(PARAMETERS);
    group.bench_function("moments, one draw/200", |b| b.iter(|| moments.push(black_box(draw))));
    let mut covariance = Covariance::new(PARAMETERS);
    group.bench_function("covariance, one draw/200", |b| {
        b.iter(|| covariance.push(black_box(draw)))
    });
    group.finish();
}

criterion_group!(benches, diagnostics);
criterion_main!(benches);

//! Steps of the sampler: a whole step against its line integral, and normals against the bare
//! generator.
//!
//! "line integral" and "step" are for 8 chains of 200 coordinates on 10,000 rows; "the rest" is the
//! same step on a potential that costs next to nothing: noise, updates and bookkeeping. "Cheap
//! steps" are steps of 8 chains on targets where the cost of the noise matters.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use ridgewalk::coefficients::Parameters;
use ridgewalk::potentials::Sparse;
use ridgewalk::potentials::{Chebyshev, Scratch};
use ridgewalk::prelude::*;
use ridgewalk::sampler::{Ensemble, Stream, Symmetric, ThirdOrder};
use ridgewalk_benches::data::{numbers, responses};

const ROWS: usize = 10_000;
const COLUMNS: usize = 200;
const CHAINS: usize = 8;

fn steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("step of 8 chains, 10000 x 200");
    group.sample_size(20);
    let design = Dense::new(ROWS, COLUMNS, numbers(1, ROWS * COLUMNS, 0.12)).expect("finite");
    let prior = Prior::centred(COLUMNS, 2.5).expect("a scale");
    let model = Ridge::new(design, Logistic, &responses(ROWS), prior).expect("a model");
    let (positions, momenta) =
        (numbers(2, CHAINS * COLUMNS, 0.2), numbers(3, CHAINS * COLUMNS, 0.05));
    let mut out = vec![0.0; CHAINS * COLUMNS];
    let mut scratch = Scratch::default();
    group.bench_function("line integral", |b| {
        b.iter(|| model.integrate(0.4, &positions, &momenta, &mut out, &mut scratch));
    });
    let parameters = Parameters::new(0.6, 2.0, 0.4).expect("parameters");
    let third_order = ThirdOrder::new(parameters, 400.0).expect("a kernel");
    let symmetric = Symmetric::new(parameters, 400.0).expect("a kernel");
    let starts = vec![0.0; CHAINS * COLUMNS];
    // An empty row: nothing is left to compute but the prior.
    let empty = Sparse::new(COLUMNS, vec![0, 0], Vec::new(), Vec::new()).expect("a design");
    let prior = Prior::centred(COLUMNS, 1.0).expect("a scale");
    let free = Ridge::new(empty, Logistic, &[0.0], prior).expect("a model");
    for kernel in [&third_order as &dyn Kernel, &symmetric] {
        for (what, potential) in
            [("step", &model as &(dyn LineIntegral + Sync)), ("the rest", &free)]
        {
            let ensemble =
                Ensemble::new(potential, 1, &starts, 400.0).and_then(|e| e.with_width(CHAINS));
            let mut ensemble = ensemble.expect("chains");
            group.bench_function(format!("{}, {what}", kernel.name()), |b| {
                b.iter(|| ensemble.advance(kernel, 1));
            });
        }
    }
    group.finish();
}

fn noise(c: &mut Criterion) {
    let mut group = c.benchmark_group("noise, 1000 numbers");
    group.throughput(Throughput::Elements(1000));
    let mut list = vec![0.0; 1000];
    let mut stream = Stream::new(1, 0);
    group.bench_function("normals", |b| {
        b.iter(|| {
            stream.normals(&mut list);
            black_box(&list);
        });
    });
    let mut words = vec![0_u64; 1000];
    let mut generator = ChaCha8Rng::seed_from_u64(1);
    group.bench_function("bare generator, 64 bits each", |b| {
        b.iter(|| {
            words.iter_mut().for_each(|word| *word = generator.next_u64());
            black_box(&words);
        });
    });
    let mut bytes = vec![0_u8; 8000];
    group.bench_function("bare generator, in bulk", |b| {
        b.iter(|| {
            generator.fill_bytes(&mut bytes);
            black_box(&bytes);
        });
    });
    group.finish();
}

fn cheap_steps(c: &mut Criterion) {
    let mut group = c.benchmark_group("cheap steps");
    group.sample_size(20);
    let design = Dense::new(500, 10, numbers(1, 5000, 1.0)).expect("finite");
    let prior = Prior::centred(10, 2.5).expect("a scale");
    let model = Ridge::new(design, Logistic, &responses(500), prior).expect("a model");
    let gaussian = FromFn::new(100, |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        Ok(())
    });
    let gaussian = Chebyshev::new(gaussian, 4).expect("nodes");
    let parameters = Parameters::new(0.6, 2.0, 0.4).expect("parameters");
    let kernel = ThirdOrder::new(parameters, 100.0).expect("a kernel");
    let targets: [(&str, &(dyn LineIntegral + Sync)); 2] =
        [("logistic, 500 x 10", &model), ("Gaussian of 100 dimensions by its gradient", &gaussian)];
    for (name, potential) in targets {
        let d = potential.dimension();
        let ensemble = Ensemble::new(potential, 1, &vec![0.0; CHAINS * d], 100.0);
        let mut ensemble = ensemble.and_then(|e| e.with_width(CHAINS)).expect("chains");
        group.bench_function(format!("{name}, step"), |b| b.iter(|| ensemble.advance(&kernel, 1)));
        let mut streams: Vec<Stream> =
            (0..CHAINS as u64).map(|chain| Stream::new(1, chain)).collect();
        let mut normals = vec![0.0; kernel.normals() * d];
        group.bench_function(format!("{name}, its noise"), |b| {
            b.iter(|| {
                for stream in &mut streams {
                    stream.normals(&mut normals);
                    black_box(&normals);
                }
            });
        });
    }
    group.finish();
}

criterion_group!(benches, steps, noise, cheap_steps);
criterion_main!(benches);

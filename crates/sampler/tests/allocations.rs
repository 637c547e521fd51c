//! Steps and draws allocate nothing: what a long run allocates is what a short one does. A
//! potential and a sink that do allocate are caught.

mod common;

use std::alloc::System;

use common::{Quadratic, all_kernels, kernels};
use ridgewalk_potentials::families::Logistic;
use ridgewalk_potentials::{
    Chebyshev, Dense, FromValueFn, LineIntegral, Prior, Ridge, Sparse, Whitened, Whitening,
};
use ridgewalk_sampler::{Ensemble, InOriginal, Kernel, Sampler, Sink, SinkError};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// What rayon may allocate for a call, whatever its length: queues that grow.
const OF_THREADS: usize = 4;

/// The least that a call allocates of several. The test harness has a thread of its own that may
/// allocate meanwhile, though not every time; a step that allocates does.
fn least(calls: usize, mut call: impl FnMut()) -> usize {
    let measured = (0..calls).map(|_| {
        let region = Region::new(COUNTING);
        call();
        let change = region.change();
        change.allocations + change.reallocations
    });
    measured.min().unwrap()
}

/// Allocations and reallocations of a call that makes this many steps, when buffers have their
/// size.
fn of_steps(
    potential: &(dyn LineIntegral + Sync), kernel: &dyn Kernel, width: usize, steps: u64,
) -> usize {
    let starts = vec![0.1; potential.dimension() * 5];
    let ensemble = Ensemble::new(potential, 1, &starts, kernel.smoothness());
    let mut ensemble = ensemble.and_then(|ensemble| ensemble.with_width(width)).unwrap();
    ensemble.advance(kernel, 3);
    least(5, || ensemble.advance(kernel, steps))
}

/// Looks at every number, and keeps none.
#[derive(Debug, Default)]
struct Sum {
    draws: u64,
    total: f64,
    /// Also makes a copy of each draw.
    copies: bool,
}

impl Sink for Sum {
    fn begin(&mut self, _: usize, _: usize) -> Result<(), SinkError> {
        Ok(())
    }

    fn keep(&mut self, _: usize, _: u64, point: &[f64]) -> Result<(), SinkError> {
        self.draws += 1;
        self.total +=
            if self.copies { point.to_vec().iter().sum::<f64>() } else { point.iter().sum() };
        Ok(())
    }
}

/// Allocations of a run of so many draws in original coordinates, chains in groups of their own
/// included.
fn of_draws(whitening: &Whitening, draws: u64, thin: u64, copies: bool) -> usize {
    let potential = Quadratic { curvature: vec![1.0; 7] };
    let kernels = kernels(1.0, 2.0, 0.4, 1.0);
    let kernel = kernels[0].as_ref();
    least(3, || {
        let mut sum = Sum { copies, ..Sum::default() };
        let mut sampler = Sampler::new(&potential, kernel).chains(3).draws(draws).thin(thin);
        sampler.run(&mut InOriginal::new(whitening, &mut sum)).unwrap();
        assert_eq!(sum.draws, 3 * draws);
        assert!(sum.total.is_finite());
    })
}

fn logistic(rows: usize, sparse: bool) -> Ridge<'static, Logistic> {
    let entries: Vec<f64> =
        (0..rows * 7).map(|i| if sparse && i % 3 > 0 { 0.0 } else { (i as f64).sin() }).collect();
    let responses: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let prior = Prior::centred(7, 2.0).unwrap();
    let design = Dense::new(rows, 7, entries).unwrap();
    if sparse {
        Ridge::new(Sparse::from_dense(&design), Logistic, &responses, prior).unwrap()
    } else {
        Ridge::new(design, Logistic, &responses, prior).unwrap()
    }
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

// One test, so that no other thread allocates meanwhile.
#[test]
fn steps_and_draws_allocate_nothing() {
    let quadratic = Quadratic { curvature: vec![1.0; 7] };
    let gradient = |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        Ok(0.5 * x.iter().map(|x| x * x).sum::<f64>())
    };
    let black_box = Chebyshev::new(FromValueFn::new(7, gradient), 4).unwrap();
    let whitening = Whitening::diagonal(&[0.1; 7], &[0.5; 7]).unwrap();
    let whitened =
        Chebyshev::new(Whitened::new(FromValueFn::new(7, gradient), whitening.clone()).unwrap(), 4)
            .unwrap();
    let (dense, sparse) = (logistic(30, false), logistic(30, true));
    // A prior that a matrix has made into a quadratic form of all coordinates.
    let covariance: Vec<f64> = (0..49).map(|k| if k % 8 == 0 { 1.0 } else { 0.3 }).collect();
    let turned =
        dense.whitened(&Whitening::from_covariance(&[0.1; 7], &covariance).unwrap()).unwrap();
    let all: [(&str, &(dyn LineIntegral + Sync)); 6] = [
        ("a quadratic", &quadratic),
        ("a black box", &black_box),
        ("a whitened black box", &whitened),
        ("a dense ridge", &dense),
        ("a sparse ridge", &sparse),
        ("a whitened ridge", &turned),
    ];
    // So many rows that one step is shared among threads.
    let large = logistic(20_000, false);
    for kernel in all_kernels(1.0, 2.0, 0.4, 4.0) {
        let kernel = kernel.as_ref();
        for (name, potential) in all {
            // All chains together on this thread; and in three groups on two others.
            assert_eq!(of_steps(potential, kernel, 5, 1000), 0, "{} on {name}", kernel.name());
            let shared = pool(2).install(|| of_steps(potential, kernel, 2, 1000));
            assert!(shared <= OF_THREADS, "{} on {name}, two threads: {shared}", kernel.name());
        }
        let shared = pool(2).install(|| of_steps(&large, kernel, 5, 8));
        assert!(shared <= OF_THREADS, "{}, rows on two threads: {shared}", kernel.name());
    }
    // A potential that allocates is seen, in every step.
    let wasteful = FromValueFn::new(7, |x: &[f64], g: &mut [f64]| {
        let copy = std::hint::black_box(x.to_vec());
        g.copy_from_slice(&copy);
        Ok(0.5 * x.iter().map(|x| x * x).sum::<f64>())
    });
    let wasteful = Chebyshev::new(wasteful, 4).unwrap();
    for kernel in all_kernels(1.0, 2.0, 0.4, 4.0) {
        assert!(of_steps(&wasteful, kernel.as_ref(), 5, 100) >= 500, "{}", kernel.name());
    }
    // Draws: ten times as many cost no more than some doublings of the room between two deliveries.
    for threads in [1, 2] {
        pool(threads).install(|| {
            let (few, many) =
                (of_draws(&whitening, 5000, 1, false), of_draws(&whitening, 50_000, 1, false));
            assert!(many <= few + 60, "{threads} threads: {few} and {many}");
            let thinned = of_draws(&whitening, 5000, 10, false);
            assert!(thinned <= few + 60, "{threads} threads: {few}, thinned {thinned}");
        });
    }
    let copying = of_draws(&whitening, 5000, 1, true);
    assert!(copying >= 15_000, "{copying}");
}

//! Steps allocate nothing: what a long leg allocates is what a short one does.

mod common;

use std::alloc::System;

use common::{Quadratic, kernels};
use ridgewalk_potentials::families::Logistic;
use ridgewalk_potentials::{Chebyshev, Dense, FromFn, LineIntegral, Prior, Ridge, Whitened, Whitening};
use ridgewalk_sampler::{Ensemble, Kernel};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// Allocations and reallocations of a call that makes this many steps, when buffers have their size.
fn allocations(potential: &(dyn LineIntegral + Sync), kernel: &dyn Kernel, steps: u64) -> usize {
    let starts = vec![0.1; potential.dimension() * 5];
    let mut ensemble =
        Ensemble::new(potential, 1, &starts, kernel.smoothness()).unwrap().with_width(5).unwrap();
    ensemble.advance(kernel, 3);
    // The test harness has a thread of its own that may allocate meanwhile, though not every time; a step that allocates does.
    let measured = (0..5).map(|_| {
        let region = Region::new(COUNTING);
        ensemble.advance(kernel, steps);
        let change = region.change();
        change.allocations + change.reallocations
    });
    measured.min().unwrap()
}

// One test, so that no other thread allocates meanwhile.
#[test]
fn steps_allocate_nothing() {
    let quadratic = Quadratic { curvature: vec![1.0; 7] };
    let gradient = |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(x);
        Ok(())
    };
    let black_box = Chebyshev::new(FromFn::new(7, gradient), 4).unwrap();
    let whitening = Whitening::diagonal(&[0.1; 7], &[0.5; 7]).unwrap();
    let whitened = Chebyshev::new(Whitened::new(FromFn::new(7, gradient), whitening).unwrap(), 4).unwrap();
    for kernel in kernels(1.0, 2.0, 0.4, 4.0) {
        for potential in [&quadratic as &(dyn LineIntegral + Sync), &black_box, &whitened] {
            assert_eq!(allocations(potential, kernel.as_ref(), 1000), 0, "{}", kernel.name());
        }
    }
    let design = Dense::new(30, 7, (0..210).map(|i| f64::from(i).sin()).collect::<Vec<f64>>()).unwrap();
    let responses: Vec<f64> = (0..30).map(|i| f64::from(u8::from(i % 3 == 0))).collect();
    let ridge = Ridge::new(design, Logistic, &responses, Prior::centred(7, 2.0).unwrap()).unwrap();
    for kernel in kernels(1.0, 2.0, 0.4, 4.0) {
        assert_eq!(allocations(&ridge, kernel.as_ref(), 1000), 0, "{} on a ridge", kernel.name());
    }
}

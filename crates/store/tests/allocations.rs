//! A run into a Zarr store allocates per chunk, not per draw.

use std::alloc::System;

use ridgewalk_potentials::FromFn;
use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
use ridgewalk_sampler::{Sink, SinkError};
use ridgewalk_store::ZarrDraws;
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static COUNTING: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// A store, or a store that also copies each draw.
struct Store {
    zarr: ZarrDraws,
    copies: bool,
    total: f64,
}

impl Sink for Store {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.zarr.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        if self.copies {
            self.total += point.to_vec().iter().sum::<f64>();
        }
        self.zarr.keep(chain, draw, point)
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.zarr.flush()
    }
}

#[test]
fn draws_to_a_store_allocate_for_its_chunks_alone() {
    let gradient = FromFn::new(2, |x: &[f64], g: &mut [f64]| {
        g.copy_from_slice(&[x[0].powi(3) + x[0], 2.0 * x[1]]);
        Ok(())
    });
    let target = BlackBox::new(gradient, 3, &[0.5, 0.5]).unwrap();
    let chains = 2;
    let mut warm = WarmUp::new(&target).chains(chains).run().unwrap();
    let place = tempfile::tempdir().unwrap();
    let names = ["a".to_owned(), "b".to_owned()];
    let mut number = 0;
    let mut allocations = |draws: u64, copies: bool| {
        number += 1;
        let path = place.path().join(format!("{number}.zarr"));
        let region = Region::new(COUNTING);
        let zarr = ZarrDraws::create(&path, &names, 1).unwrap();
        let mut store = Store { zarr, copies, total: 0.0 };
        warm.begin_anew();
        warm.run(Length::Draws(draws)).thin(1).keep(&mut store).unwrap();
        assert!(store.total.is_finite());
        assert_eq!(store.zarr.finish(true).unwrap(), draws);
        let change = region.change();
        change.allocations + change.reallocations
    };
    // A chunk has 1000 draws of a chain and allocates file names, its bytes, and its share of
    // coordinates and metadata.
    let chunks = (40_000 - 4000) / 1000 * chains;
    let (few, many) = (allocations(4000, false), allocations(40_000, false));
    println!("{few} and {many}: {} for a chunk", (many.saturating_sub(few)) / chunks);
    assert!(many < few + 200 * chunks, "{few} and {many}");
    let copying = allocations(40_000, true);
    assert!(copying > many + 70_000, "{many}, and with copies {copying}");
}

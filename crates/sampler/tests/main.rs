//! The tests of this crate in one program, but for those that count allocations.

mod common;

mod adjusted;
mod again;
mod at_rest;
mod automatic;
mod checkpoints;
mod checks;
mod coupled;
mod delivery;
mod distribution;
mod draw_stats;
mod draws;
mod faults;
mod invariance;
mod jobs;
mod laws;
mod mixed;
mod noise;
mod other_library;
mod pointers;
mod reproducible;
mod stopping;
mod strong_order;
mod subsampled;
mod support;
mod traits;
mod warnings;
mod wide;
#[cfg(feature = "serde")]
mod with_serde;

//! All integration tests of this crate, in one binary.

mod common;
mod fixtures;
mod intervals;
mod invariance;
mod loo;
mod psis;
mod rhat;
mod special;
mod stacking;
mod statistics;
mod streaming;
mod undefined;

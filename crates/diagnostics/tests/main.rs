//! All integration tests of this crate, in one binary.

mod common;
mod fixtures;
mod intervals;
mod invariance;
mod rhat;
mod special;
mod statistics;
mod streaming;
mod undefined;

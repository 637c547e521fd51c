//! The tests of the crate, in one binary.

mod checks;
mod effects;
mod exact;
mod exact_loo;
mod families;
mod grouping;
mod loo;
mod modes;
mod predictions;
mod priors;
mod references;

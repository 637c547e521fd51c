//! The tests of the crate, in one binary.

mod checks;
mod effects;
mod exact;
mod exact_loo;
mod families;
mod group_layout;
mod group_loo;
mod group_predictions;
mod group_prior;
mod loo;
mod mixed;
mod mixed_families;
mod mixed_hard;
mod modes;
mod pairs;
mod predictions;
mod priors;
mod references;
mod rows;
mod sparse;

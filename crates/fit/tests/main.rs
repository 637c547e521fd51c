//! The tests of the crate, in one binary.

mod checks;
mod exact;
mod families;
mod modes;
mod priors;

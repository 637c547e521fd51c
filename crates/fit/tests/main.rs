//! The tests of the crate, in one binary.

mod checks;
mod families;
mod priors;

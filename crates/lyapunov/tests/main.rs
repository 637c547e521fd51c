//! All integration tests of this crate, in one binary.

mod certificates;
mod laws;
mod paper;
mod plans;
mod proofs;
mod statements;

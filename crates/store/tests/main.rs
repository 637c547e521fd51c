//! The tests of the crate, in one binary.

mod export;
mod made_up;
mod store;

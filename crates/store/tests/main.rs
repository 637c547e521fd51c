//! The tests of the crate, in one binary.

mod made_up;
mod store;

//! All integration tests of this crate, in one binary.

mod bad_input;
mod common;
mod golden;
mod identities;
mod ornstein_uhlenbeck;
mod polynomial_path;

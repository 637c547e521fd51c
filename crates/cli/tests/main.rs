//! The tests of the program, in one binary. `fuzz` counts what is allocated and has a
//! binary of its own.

mod bad_input;
mod certify;
mod coefficients;
mod common;
mod docs;
mod draws;
mod fit;
mod fit_reference;
mod lab;
mod resume;
mod verify;

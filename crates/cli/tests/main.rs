//! The tests of the program, in one binary. `fuzz` counts allocations and needs its own binary.

mod after;
mod bad_input;
mod certify;
mod coefficients;
mod common;
mod docs;
mod draws;
mod fit;
mod fit_reference;
mod grammar;
mod lab;
mod packed;
mod resume;
mod signals;
mod tables;
mod verify;

//! All integration tests of the benchmarks, in one binary.

mod compare;
mod energy_error;
mod peers;
mod torture;

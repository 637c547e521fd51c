//! Shared code of the benchmark programs: targets in the form that each sampler needs, a common
//! interface to other samplers, and lower bounds on the time of a step.

pub mod calibration;
pub mod ceilings;
pub mod clock;
pub mod comparison;
pub mod data;
pub mod energy_error;
pub mod memory;
pub mod parameters;
pub mod peers;
pub mod plain;
pub mod plots;
pub mod problems;
pub mod rivals;
pub mod runs;
pub mod torture;
pub mod tuning;

/// Any error; these programs only print it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

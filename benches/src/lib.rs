//! What the programs that measure share: the targets as every sampler sees them, other samplers
//! behind one call, and what bounds a step.

pub mod calibration;
pub mod ceilings;
pub mod clock;
pub mod comparison;
pub mod memory;
pub mod parameters;
pub mod peers;
pub mod plain;
pub mod plots;
pub mod problems;
pub mod rivals;
pub mod runs;
pub mod tuning;

/// Whatever went wrong; these programs only print it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

//! What the programs that compare samplers share: the targets as every sampler sees them, and other samplers behind one call.

pub mod clock;
pub mod peers;
pub mod problems;

/// Whatever went wrong; these programs only print it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;

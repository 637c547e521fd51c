//! Time that a thread computed: on a machine with other work on it, the wall's clock would count
//! that too.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Counts the seconds that the thread it was started on computes.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Timespec);

impl Stopwatch {
    /// From now on.
    #[must_use]
    pub fn start() -> Self {
        Self(clock_gettime(ClockId::ThreadCPUTime))
    }

    /// So far.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        (now.tv_sec - self.0.tv_sec) as f64 + 1e-9 * (now.tv_nsec - self.0.tv_nsec) as f64
    }
}

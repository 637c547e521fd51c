//! CPU time of a thread: on a shared machine, wall time would include other work.

use rustix::time::{ClockId, Timespec, clock_gettime};

/// Measures the CPU time of the thread it was started on.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Timespec);

impl Stopwatch {
    /// Starts measuring.
    #[must_use]
    pub fn start() -> Self {
        Self(clock_gettime(ClockId::ThreadCPUTime))
    }

    /// Seconds since the start.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        let now = clock_gettime(ClockId::ThreadCPUTime);
        (now.tv_sec - self.0.tv_sec) as f64 + 1e-9 * (now.tv_nsec - self.0.tv_nsec) as f64
    }
}

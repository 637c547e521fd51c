//! The only place in this crate that reads a clock, for crates above it too.
//!
//! On `wasm32-unknown-unknown` there is none, and `std::time::Instant::now` panics. No time passes
//! there: runs proceed in legs of a fixed number of steps, and a budget of time never runs out.

#[cfg(not(all(target_family = "wasm", not(target_os = "wasi"))))]
pub use std::time::Instant;

/// Whether time passes.
pub(crate) const TICKS: bool = cfg!(not(all(target_family = "wasm", not(target_os = "wasi"))));

/// A moment on a machine without a clock.
#[cfg(all(target_family = "wasm", not(target_os = "wasi")))]
#[derive(Debug, Clone, Copy)]
pub struct Instant;

#[cfg(all(target_family = "wasm", not(target_os = "wasi")))]
impl Instant {
    /// Now.
    #[must_use]
    pub fn now() -> Self {
        Self
    }

    #[allow(clippy::unused_self, reason = "the same signature as where there is a clock")]
    /// No time has passed.
    #[must_use]
    pub fn elapsed(&self) -> std::time::Duration {
        std::time::Duration::ZERO
    }
}

//! What a run may cost at most.

use std::fmt;
use std::time::Duration;

use crate::clock::Instant;
use crate::ensemble::Ensemble;

/// The most that a run may cost. Whatever is reached first ends it; the draws made until then are
/// kept, and [`Outcome::exhausted`](crate::Outcome::exhausted) reports it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Budget {
    /// Gradients of all chains in this run.
    ///
    /// The run ends before the first step that would exceed them, so that the number of draws does
    /// not depend on the speed of the machine.
    pub gradients: Option<u64>,
    /// Time since the run began. It is checked some twenty times a second, between steps.
    pub time: Option<Duration>,
}

impl Budget {
    /// At most this many gradients of all chains.
    #[must_use]
    pub fn gradients(most: u64) -> Self {
        Self { gradients: Some(most), time: None }
    }

    /// At most this much time.
    #[must_use]
    pub fn time(most: Duration) -> Self {
        Self { gradients: None, time: Some(most) }
    }
}

/// Which part of a [`Budget`] ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Exhausted {
    /// The gradients.
    Gradients,
    /// The time.
    Time,
}

impl fmt::Display for Exhausted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gradients => "gradients",
            Self::Time => "time",
        })
    }
}

/// A budget of a run that has begun.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limit {
    /// Gradients of the ensemble, earlier runs included.
    gradients: u64,
    time: Option<(Instant, Duration)>,
}

impl Limit {
    pub(crate) fn new(budget: Budget, ensemble: &Ensemble<'_>) -> Self {
        let gradients = budget.gradients.unwrap_or(u64::MAX);
        Self {
            gradients: ensemble.gradients().saturating_add(gradients),
            time: budget.time.map(|most| (Instant::now(), most)),
        }
    }

    /// Steps of every running chain that the gradients allow.
    pub(crate) fn steps(&self, ensemble: &Ensemble<'_>, gradients_per_step: u64) -> u64 {
        let running = ensemble.running().max(1) as u64;
        let each = gradients_per_step.max(1).saturating_mul(running);
        // The first step of a kernel may need the gradient at the start too.
        let first = if ensemble.steps() == 0 { running } else { 0 };
        self.gradients.saturating_sub(ensemble.gradients()).saturating_sub(first) / each
    }

    pub(crate) fn out_of_time(&self) -> bool {
        self.time.is_some_and(|(began, most)| began.elapsed() >= most)
    }
}

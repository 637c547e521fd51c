//! How a run went: for each chain and as a whole. A chain that ends early, or a stop, is a status
//! and not an error.

use std::fmt;

use crate::acceptance::Acceptance;
use crate::batch::State;
use crate::budget::Exhausted;
use crate::error::Error;
use crate::vitals::Vitals;

/// Why a chain could not go on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Why {
    /// The step gave a number that is infinite or not a number: it is too long for this target, or
    /// the gradient returned such a number.
    NonFinite,
    /// The density is 0 at a point that the step needs the gradient at, or at the start. Kernels
    /// that accept or reject do not end for points within a trajectory: they reject it.
    OutsideSupport {
        /// The point.
        point: Vec<f64>,
    },
    /// The potential could not be evaluated.
    Gradient {
        /// In its own words.
        message: String,
        /// Where; empty if that is not known.
        point: Vec<f64>,
    },
    /// The potential panicked. (In a program built with `panic = "abort"` the program has ended
    /// instead.)
    Panic {
        /// The panic's message, if it was text.
        message: String,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NonFinite => write!(f, "the state became infinite or not a number"),
            Self::OutsideSupport { point } => {
                write!(f, "the chain met a point where the density is 0: {point:?}")
            }
            Self::Gradient { message, .. } => write!(f, "the gradient failed: {message}"),
            Self::Panic { message } => write!(f, "the gradient panicked: {message}"),
        }
    }
}

impl From<Error> for Why {
    fn from(error: Error) -> Self {
        match error {
            Error::Potential(ridgewalk_potentials::Error::Gradient { point, message }) => {
                Self::Gradient { message, point }
            }
            Error::Potential(ridgewalk_potentials::Error::OutsideSupport { point }) => {
                Self::OutsideSupport { point }
            }
            other => Self::Gradient { message: other.to_string(), point: Vec::new() },
        }
    }
}

/// The end of a chain that could not go on.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChainEnd {
    /// The step that failed, counted from 1.
    pub step: u64,
    /// The state before it.
    pub last: State,
    /// What went wrong.
    pub why: Why,
}

/// How a chain stands at the end of a run.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum ChainStatus {
    /// It made all its draws.
    Complete,
    /// The stop signal or the end of the budget came first.
    Stopped,
    /// It could not go on.
    Ended(ChainEnd),
}

/// One chain's part of an [`Outcome`]. Counts are from the beginning of the ensemble, earlier runs
/// of it included.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct ChainReport {
    /// How it stands.
    pub status: ChainStatus,
    /// Steps that it made.
    pub steps: u64,
    /// Draws that it gave.
    pub draws: u64,
    /// Gradients that its steps took.
    pub gradients: u64,
    /// Statistics of its proposals; there are none for kernels that do not accept or reject.
    pub acceptance: Acceptance,
    /// What it noted about itself, in runs after a warm-up.
    pub vitals: Option<Vitals>,
}

/// How a run went.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outcome {
    /// Chain by chain.
    pub chains: Vec<ChainReport>,
    /// Whether the stop signal ended it.
    pub stopped: bool,
    /// Which part of the [`Budget`](crate::Budget) ended it, if one did.
    pub exhausted: Option<Exhausted>,
    /// Seconds that this run took.
    pub seconds: f64,
}

impl Outcome {
    /// Whether every chain made all its draws.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.chains.iter().all(|chain| chain.status == ChainStatus::Complete)
    }

    /// Gradients of all chains.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.chains.iter().map(|chain| chain.gradients).fold(0, u64::saturating_add)
    }

    /// Statistics of the proposals of all chains.
    #[must_use]
    pub fn acceptance(&self) -> Acceptance {
        self.chains.iter().fold(Acceptance::default(), |sum, chain| sum.and(&chain.acceptance))
    }

    /// Draws of all chains.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.chains.iter().map(|chain| chain.draws).sum()
    }

    /// The chains that could not go on, by number.
    pub fn ended(&self) -> impl Iterator<Item = (usize, &ChainEnd)> {
        self.chains.iter().enumerate().filter_map(|(chain, report)| match &report.status {
            ChainStatus::Ended(end) => Some((chain, end)),
            ChainStatus::Complete | ChainStatus::Stopped => None,
        })
    }
}

/// How far a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Progress {
    /// Steps that each chain has made, warm-up included.
    pub steps: u64,
    /// Steps of the whole run.
    pub of: u64,
    /// Draws that each chain has given.
    pub draws: u64,
    /// Gradients of all chains.
    pub gradients: u64,
    /// Seconds since this run began.
    pub seconds: f64,
    /// Chains that are going on.
    pub running: usize,
}

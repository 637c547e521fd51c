//! States from which a run resumes as if it had never been interrupted, in plain numbers and as
//! bytes.
//!
//! Bytes have a name, a version and a checksum; what was cut or damaged is refused. Floating-point
//! numbers are stored as their bits, so that what goes on from them is the same to the last one.
//! `codec` has the layout.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::Whitening;

use crate::automatic::{Bias, Decision, Look};
use crate::codec::{self, Framed};
use crate::coupled::Difference;
use crate::draws::Table;
use crate::ensemble::Snapshot;
use crate::error::{Error, SavedKind};
use crate::group::Schedule;

/// The state of a run, as [`Sink::checkpoint`](crate::Sink::checkpoint) receives it.
///
/// A [`Sampler`](crate::Sampler) goes on from the ensemble,
/// [`Ensemble::restore`](crate::Ensemble::restore) and [`Sampler::go_on`](crate::Sampler::go_on); a
/// run after a warm-up goes on by [`Run::from_saved`](crate::automatic::Run::from_saved).
#[derive(Debug, Clone, PartialEq)]
pub struct SavedRun {
    /// The chains.
    pub ensemble: Snapshot,
    /// Steps before the first that can be a draw.
    pub warm_up: u64,
    /// Steps from one draw to the next.
    pub thin: u64,
    /// What was seen of the effective sample size, if there is one to be reached.
    pub looks: Option<SavedLooks>,
    /// Whether the run continues an earlier one, whose draws it counts.
    pub continued: bool,
}

/// Looks at the effective sample size so far, and the draws since the last.
#[derive(Debug, Clone, PartialEq)]
pub struct SavedLooks {
    pub(crate) made: Vec<Look>,
    pub(crate) interval: u64,
    /// Draws of each chain at the next look.
    pub(crate) next: u64,
    pub(crate) fresh: Table,
}

/// What a warm-up found, except what follows from the target: see
/// [`WarmedUp::saved`](crate::automatic::WarmedUp::saved) and
/// [`WarmUp::restore`](crate::automatic::WarmUp::restore).
#[derive(Debug, Clone, PartialEq)]
pub struct SavedWarmUp {
    pub(crate) whitening: Whitening,
    pub(crate) scheme: Scheme,
    pub(crate) thin: u64,
    pub(crate) bias: Bias,
    pub(crate) differences: Vec<Difference>,
    pub(crate) within_tolerance: bool,
    pub(crate) starts: Vec<f64>,
    pub(crate) history: Vec<Decision>,
    pub(crate) gradients: u64,
    pub(crate) seed: u64,
    pub(crate) tolerance: f64,
    pub(crate) repairs: u32,
}

impl SavedWarmUp {
    /// What was decided, in order.
    #[must_use]
    pub fn history(&self) -> &[Decision] {
        &self.history
    }
}

impl SavedRun {
    /// Draws that each chain had given.
    #[must_use]
    pub fn draws(&self) -> Vec<u64> {
        let schedule = Schedule { warm_up: self.warm_up, thin: self.thin.max(1) };
        self.ensemble.chains.iter().map(|chain| schedule.draws(chain.steps)).collect()
    }
}

impl Framed for Snapshot {
    const KIND: &'static str = "chains";
    const WHAT: SavedKind = SavedKind::Ensemble;
}

impl Framed for SavedRun {
    const KIND: &'static str = "run";
    const WHAT: SavedKind = SavedKind::Run;
}

impl Framed for SavedWarmUp {
    const KIND: &'static str = "warm-up";
    const WHAT: SavedKind = SavedKind::WarmUp;
}

/// Bytes of a state, and the way back.
macro_rules! as_bytes {
    ($($kind:ident)+) => {$(
        impl $kind {
            /// The state as bytes, with a checksum at their end.
            #[must_use]
            pub fn to_bytes(&self) -> Vec<u8> {
                codec::to_bytes(self)
            }

            /// The state that these bytes were made from.
            ///
            /// # Errors
            /// [`Error::Saved`] says what is wrong with bytes that are cut, changed, of another
            /// kind or of another version.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
                codec::from_bytes(bytes)
            }
        }
    )+};
}

as_bytes! { Snapshot SavedRun SavedWarmUp }

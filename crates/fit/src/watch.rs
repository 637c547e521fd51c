//! Looking at a fit while it runs, and stopping it.

use ridgewalk_sampler::Progress;
use ridgewalk_sampler::automatic::Decision;

use crate::model::Model;

/// The stages of a fit that take time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// The mode is searched for.
    Mode,
    /// Coordinates, kernel and step are chosen.
    WarmUp,
    /// Draws are made.
    Sampling,
    /// Draws are summarised.
    Summary,
}

/// Callbacks of a fit; each does nothing by default.
pub trait Watch {
    /// The model is made, and nothing stands in the way of sampling it.
    fn prepared(&self, model: &Model) {
        let _ = model;
    }

    /// A stage begins.
    fn stage(&self, stage: Stage) {
        let _ = stage;
    }

    /// The warm-up has decided something.
    fn decision(&self, decision: &Decision) {
        let _ = decision;
    }

    /// A run that was interrupted goes on after this many draws of each chain.
    fn resumed(&self, draws: u64) {
        let _ = draws;
    }

    /// Sampling begins, or goes on.
    fn begin(&self, chains: usize, dimension: usize) {
        let _ = (chains, dimension);
    }

    /// A draw was made; the point is on the scale that is reported.
    fn draw(&self, chain: usize, point: &[f64]) {
        let _ = (chain, point);
    }

    /// How far the sampling is, some ten times a second.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// Nobody watches.
impl Watch for () {}

//! Watching a fit while it runs, and stopping it.

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
pub trait Observer {
    /// The model is ready to be sampled.
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

    /// An interrupted run resumes after this many draws per chain.
    fn resumed(&self, draws: u64) {
        let _ = draws;
    }

    /// Sampling begins or resumes.
    fn begin(&self, chains: usize, dimension: usize) {
        let _ = (chains, dimension);
    }

    /// A draw was made; the point is on the reported scale.
    fn draw(&self, chain: usize, point: &[f64]) {
        let _ = (chain, point);
    }

    /// The draws so far failed a check and are forgotten; sampling begins again. The decision has
    /// the reason.
    fn restart(&self, decision: &Decision) {
        let _ = decision;
    }

    /// Progress of sampling, about ten times a second.
    fn progress(&self, progress: &Progress) {
        let _ = progress;
    }
}

/// An observer that does nothing.
impl Observer for () {}

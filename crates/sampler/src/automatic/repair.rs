//! A run that failed a check is made again: with steps of half the length, twice as many of them to
//! a trajectory, from where the chains ended and a lead-in further on.

use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk_lyapunov::laws::{Scheme, Trajectory};
use ridgewalk_potentials::{LineIntegral, Scratch};

use super::excursion::height_exceeded_with;
use super::history::Decision;
use super::warm_up::WarmedUp;
use super::warning::Warning;
use crate::ensemble::{Ensemble, Snapshot};
use crate::error::Error;
use crate::kernels::from_scheme;

/// Trajectories of the lead-in.
const LEAD_IN: u64 = 200;
/// A point at a height that a draw of a log-concave target exceeds with this probability is not in
/// the posterior: the lead-in begins elsewhere.
const OUTSIDE: f64 = 1e-6;
/// How often steps are even shorter.
const SHORT: f64 = 0.2;
/// Streams of a lead-in, and of a run that is made again.
const STREAMS: u64 = 1 << 42;

/// What a repair changes of a warm-up.
#[derive(Debug)]
pub(super) struct Repair {
    scheme: Scheme,
    starts: Vec<f64>,
    gradients: u64,
    decision: Decision,
}

/// The seed of the streams after so many repairs; the first is the run's own.
pub(super) fn seed_after(seed: u64, repairs: u32) -> u64 {
    match repairs {
        0 => seed,
        n => seed ^ (STREAMS + u64::from(n)).wrapping_mul(0x9e37_79b9_7f4a_7c15),
    }
}

/// The same trajectories in steps of half the length, and often shorter ones; `None` for other kernels, and where that
/// would be too many.
fn shorter(scheme: &Scheme) -> Option<Scheme> {
    let trajectory = scheme.trajectory()?;
    let steps = trajectory.steps.checked_mul(2).filter(|steps| *steps <= Trajectory::LONGEST)?;
    let half = Trajectory { steps, short: trajectory.short.max(SHORT), ..trajectory };
    Scheme::adjusted(scheme.gamma()?, scheme.xi()?, 0.5 * scheme.eta(), half).ok()
}

impl<W: LineIntegral + Sync> WarmedUp<W> {
    /// What would repair a run with these troubles that ended like this; `None` if nothing is known
    /// that would, or the stop signal came.
    pub(super) fn repair(
        &self, troubles: &[Warning], ended: &Snapshot, spent: u64, stop: Option<&AtomicBool>,
    ) -> Result<Option<Repair>, Error> {
        let [first, ..] = troubles else { return Ok(None) };
        let all_run = ended.chains.iter().all(|chain| chain.end.is_none());
        if self.repairs > 0 || self.fixed_step || !all_run {
            return Ok(None);
        }
        let Some(scheme) = shorter(&self.scheme) else { return Ok(None) };
        let starts = self.inside(ended)?;
        let Some((starts, lead_in)) = self.lead_in(&scheme, starts, stop)? else { return Ok(None) };
        let why = first.name().to_owned();
        let decision = Decision::Repaired { why, scheme: scheme.clone() };
        Ok(Some(Repair { scheme, starts, gradients: spent + lead_in, decision }))
    }

    /// Makes the change of a repair; what it returns undoes it.
    pub(super) fn apply(&mut self, repair: Repair) -> Repair {
        let Repair { scheme, starts, gradients, decision } = repair;
        self.repairs += 1;
        self.gradients += gradients;
        self.history.push(decision.clone());
        let scheme = std::mem::replace(&mut self.scheme, scheme);
        let starts = std::mem::replace(&mut self.starts, starts);
        Repair { scheme, starts, gradients, decision }
    }

    /// Takes a repair back.
    pub(super) fn undo(&mut self, before: Repair) {
        self.repairs -= 1;
        self.gradients -= before.gradients;
        self.history.pop();
        (self.scheme, self.starts) = (before.scheme, before.starts);
    }

    /// Where the chains ended; those that are not in the posterior are put where another one is.
    fn inside(&self, ended: &Snapshot) -> Result<Vec<f64>, Error> {
        let d = self.whitening.dimension();
        let ends: Vec<&[f64]> = ended.chains.iter().map(|c| c.state.theta.as_slice()).collect();
        let heights = self.heights(&ends.concat())?;
        // For other targets the bound proves nothing, but a chain so far below the best of them is
        // no good start either.
        let most = height_exceeded_with(d, OUTSIDE);
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let base = if self.log_concave { 0.0 } else { lowest };
        let good: Vec<usize> = (0..ends.len()).filter(|at| heights[*at] - base <= most).collect();
        let start = |at: usize| match good.get(at % good.len().max(1)) {
            Some(other) if !good.contains(&at) => ends[*other],
            Some(_) | None => ends[at],
        };
        Ok((0..ends.len()).flat_map(start).copied().collect())
    }

    /// U − U(mode) at points in whitened coordinates.
    pub(super) fn heights(&self, points: &[f64]) -> Result<Vec<f64>, Error> {
        let d = self.whitening.dimension();
        let mut all = points.to_vec();
        all.resize(points.len() + d, 0.0);
        self.whitening.to_whitened(&self.mode.point, &mut all[points.len()..])?;
        let mut values = vec![0.0; all.len() / d];
        let mut gradients = vec![0.0; all.len()];
        let shared = self.team.share(&self.potential);
        shared.values_and_gradients(&all, &mut values, &mut gradients, &mut Scratch::default())?;
        let at_mode = values.pop().unwrap_or(f64::NAN);
        Ok(values.into_iter().map(|value| value - at_mode).collect())
    }

    /// Positions after a lead-in and the gradients that it took; `None` if it was stopped.
    fn lead_in(
        &self, scheme: &Scheme, starts: Vec<f64>, stop: Option<&AtomicBool>,
    ) -> Result<Option<(Vec<f64>, u64)>, Error> {
        let kernel = from_scheme(scheme, 1.0)?;
        let shared = self.team.share(&self.potential);
        let seed = seed_after(self.seed, self.repairs + 1).wrapping_add(1);
        let mut ensemble = Ensemble::new(&shared, seed, &starts, 1.0)?;
        for _ in 0..LEAD_IN {
            let here = stop.is_some_and(|signal| signal.load(Ordering::Relaxed));
            if self.team.somewhere(here) {
                return Ok(None);
            }
            ensemble.advance(&*kernel, 1);
        }
        let states = (0..ensemble.chains()).filter_map(|chain| ensemble.state(chain));
        Ok(Some((states.flat_map(|state| state.theta).collect(), ensemble.gradients())))
    }
}

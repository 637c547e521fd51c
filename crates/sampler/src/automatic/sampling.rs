//! The run after a warm-up: of a given length or until the effective sample size is reached, with
//! the bias measured once more at its end.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ridgewalk_lyapunov::laws;
use ridgewalk_potentials::{LineIntegral, Scratch};

use super::bias::Bias;
use super::checks::Checks;
use super::excursion::counted_heights;
use super::looks::{Look, Looks, Tee};
use super::repair::seed_after;
use super::warm_up::{WarmedUp, without_bias};
use super::warning::Warning;
use crate::budget::{Budget, Limit};
use crate::coupled::{CoupledChains, Difference};
use crate::draws::Table;
use crate::driver::Saving;
use crate::ensemble::{Ensemble, Snapshot};
use crate::error::{Error, SavedKind, catching};
use crate::outcome::{Outcome, Progress};
use crate::saved::SavedRun;
use crate::sink::{Guarded, InOriginal, Sink};
use crate::team::Agenda;
use crate::vitals::{Reference, Vitals};

/// The share of a run's gradients that its confirmation takes, if that is enough for one block of
/// steps of `FEWEST` pairs.
const CONFIRMATION: f64 = 0.03;
const FEWEST: u64 = 4;
/// Time of the dynamics that the pairs of a confirmation get to drift apart.
const DRIFT: f64 = 6.0;
/// A kernel that leaves no gradient with its draws has it computed for one draw in this many.
const GRADIENT_EVERY: u64 = 16;
/// Number of a confirmation's streams: far from those of a run and of a warm-up.
const STREAMS: u64 = 1 << 41;

/// How long a run is. Numbers of draws are of this run, without those of an earlier run that it
/// continues.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Length {
    /// This many draws of each chain.
    Draws(u64),
    /// Until the smallest bulk effective sample size of all coordinates, over all draws of all
    /// chains, is at least `target`, and at most `most` draws of each chain.
    ///
    /// Looks are made at growing intervals, and each is at the draws since the last look alone:
    /// what they give for each draw, times all draws, is compared with the target. A decision to go
    /// on is so never made twice on the same draws. Where there are very many, a look is at the
    /// first of them, so that memory does not grow with the run.
    Ess {
        /// The effective sample size wanted.
        target: f64,
        /// The most draws of each chain.
        most: u64,
    },
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Sampled {
    /// How the chains stand.
    pub outcome: Outcome,
    /// Draws that were asked for of each chain in the end, those of earlier runs included.
    pub draws: u64,
    /// The length that was asked for.
    pub length: Length,
    /// The bias by all measurements, those of the warm-up and of the confirmation.
    pub bias: Bias,
    /// What it follows from, for each coordinate; empty for trajectories that are accepted or
    /// rejected.
    pub differences: Vec<Difference>,
    /// What the confirmation measured by itself; nothing if a stop or the budget ended the run
    /// before.
    pub confirmation: Option<Bias>,
    /// The bias that is allowed.
    pub tolerance: f64,
    /// Whether the bias is within the tolerance, but for one standard error.
    pub bias_within: bool,
    /// What the checks of the run found.
    pub troubles: Vec<Warning>,
    /// Whether all is well: the bias is within the tolerance, no check found a trouble and no chain
    /// ended.
    pub within_tolerance: bool,
    /// Whether the target is known to be log-concave and positive everywhere. A trajectory that
    /// diverges is then merely rejected.
    pub log_concave: bool,
    /// Looks at the effective sample size, if there was one to be reached.
    pub looks: Vec<Look>,
    /// Whether it was reached; true if there was none.
    pub reached: bool,
    /// Gradients of the confirmation.
    pub confirmation_gradients: u64,
}

impl Sampled {
    /// Gradients of all chains and of the confirmation.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.outcome.gradients() + self.confirmation_gradients
    }
}

type Tell<'a> = Box<dyn FnMut(&Progress, Option<Look>) + 'a>;

/// A configured run after a warm-up.
///
/// ```
/// use ridgewalk_potentials::FromFn;
/// use ridgewalk_sampler::Draws;
/// use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
///
/// let gradient = FromFn::new(1, |x: &[f64], g: &mut [f64]| { g[0] = x[0].powi(3) + x[0]; Ok(()) });
/// let target = BlackBox::new(gradient, 3, &[0.5])?;
/// let mut warm = WarmUp::new(&target).run()?;
/// let mut draws = Draws::default();
/// let sampled = warm.run(Length::Ess { target: 1000.0, most: 10_000 }).keep(&mut draws)?;
/// assert!(sampled.reached && sampled.within_tolerance);
/// assert_eq!(sampled.warnings(draws.names(), &draws.summary()?), []);
/// // Five hundred more of each chain.
/// let before = draws.common();
/// warm.run(Length::Draws(500)).keep(&mut draws)?;
/// assert_eq!(draws.common(), before + 500);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run<'a, W> {
    warm: &'a mut WarmedUp<W>,
    length: Length,
    thin: u64,
    stop: Option<&'a AtomicBool>,
    progress: Option<Tell<'a>>,
    budget: Budget,
    saving: Option<Saving>,
    earlier: Option<SavedRun>,
}

impl<W> std::fmt::Debug for Run<'_, W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run")
            .field("length", &self.length)
            .field("thin", &self.thin)
            .finish_non_exhaustive()
    }
}

/// Where the last run after a warm-up ended.
#[derive(Debug)]
pub(super) struct SoFar {
    ensemble: Snapshot,
    thin: u64,
}

impl<W: LineIntegral + Sync> WarmedUp<W> {
    /// A run of this length. A second one continues the first, with draws numbered on: three runs
    /// of 200 draws are one of 600, bit for bit. To start over, see [`WarmedUp::begin_anew`].
    pub fn run(&mut self, length: Length) -> Run<'_, W> {
        Run {
            thin: self.so_far.as_ref().map_or(self.thin, |so_far| so_far.thin),
            warm: self,
            length,
            stop: None,
            progress: None,
            budget: Budget::default(),
            saving: None,
            earlier: None,
        }
    }

    /// The next run starts over, with the draws of the first.
    pub fn begin_anew(&mut self) {
        self.so_far = None;
    }
}

impl<'a, W: LineIntegral + Sync> Run<'a, W> {
    /// Steps from one draw to the next, instead of what the warm-up chose. A run that continues
    /// another keeps its value.
    #[must_use]
    pub fn thin(mut self, thin: u64) -> Self {
        self.thin = thin;
        self
    }

    /// A signal that ends the run soon after it is set. There is no confirmation then.
    #[must_use]
    pub fn stop(mut self, signal: &'a AtomicBool) -> Self {
        self.stop = Some(signal);
        self
    }

    /// The most that the run may cost. If the budget ends it, there is no confirmation.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Callback for progress and the last look at the effective sample size, run some ten times a
    /// second.
    #[must_use]
    pub fn progress(mut self, tell: impl FnMut(&Progress, Option<Look>) + 'a) -> Self {
        self.progress = Some(Box::new(tell));
        self
    }

    /// The sink is given the state of the run at least this often: see
    /// [`Sampler::checkpoints`](crate::Sampler::checkpoints).
    #[must_use]
    pub fn checkpoints(mut self, longest: Duration) -> Self {
        self.saving = Some(Saving::new(longest));
        self
    }

    /// Resumes from a state that a sink was given, as the run would have gone on without an
    /// interruption. The length then counts all draws of the chains.
    #[must_use]
    pub fn from_saved(mut self, state: SavedRun) -> Self {
        self.earlier = Some(state);
        self
    }

    /// Makes the run. Draws go to `sink` in the original coordinates.
    ///
    /// A run of trajectories that fails a check ([`Checks`]) is repaired once and made again before
    /// it returns, if it has no budget, the sink can begin again ([`Sink::restart`]) and the step
    /// was not given: with shorter steps, and from new starts. The warm-up is then changed, and its
    /// history has the reason.
    ///
    /// # Errors
    /// For counts of 0 and targets that are not positive, before anything is done; for a saved
    /// state of another run; for a sink that fails; for a potential that fails or panics in the
    /// confirmation, when all draws are kept. After a sink has failed, the next run begins where
    /// the last one before it ended. A chain that fails in the run, a stop or the end of the budget
    /// is no error: see [`Outcome`].
    pub fn keep(self, sink: &mut dyn Sink) -> Result<Sampled, Error> {
        let Self { warm, length, thin, stop, progress, budget, saving, earlier } = self;
        let first = earlier.as_ref().map_or(warm.so_far.is_none(), |saved| !saved.continued);
        let mut making = Making { warm: &*warm, length, thin, stop, progress, budget, saving };
        let mut made = making.draw(earlier, sink)?;
        let repair =
            if first && budget == Budget::default() { making.repair(&made)? } else { None };
        if let Some(repair) = repair {
            let Making { progress, saving, .. } = making;
            let before = warm.apply(repair);
            let again = restart(warm, sink)?;
            if !again {
                warm.undo(before);
            }
            warm.so_far = None;
            making = Making { warm: &*warm, length, thin, stop, progress, budget, saving };
            if again {
                made = making.draw(None, sink)?;
            }
        }
        let Made { outcome, draws, looks, ensemble, before } = made;
        let confirmed = if outcome.stopped || outcome.exhausted.is_some() || making.exact() {
            Ok(None)
        } else {
            catching(|| making.confirm(&ensemble, &outcome, before))
        };
        let sampled = confirmed.map(|found| making.report(outcome, draws, looks, found));
        warm.so_far = Some(SoFar { ensemble, thin });
        sampled
    }
}

/// Asks the sink of every process to begin again.
fn restart<W: LineIntegral + Sync>(warm: &WarmedUp<W>, sink: &mut dyn Sink) -> Result<bool, Error> {
    let done =
        Guarded(sink).restart(&warm.saved()).map_err(|source| Error::Sink { kept: 0, source });
    let failed = done.is_err();
    let agreed = warm.team.agree(Agenda {
        failed,
        stop: !*done.as_ref().unwrap_or(&true),
        ..Agenda::default()
    });
    match (done, agreed) {
        (Err(error), _) => Err(error),
        (Ok(_), None) => Err(Error::Elsewhere),
        (Ok(_), Some(agenda)) => Ok(!agenda.stop),
    }
}

/// A run on its way.
struct Making<'w, 'a, W> {
    warm: &'w WarmedUp<W>,
    length: Length,
    thin: u64,
    stop: Option<&'a AtomicBool>,
    progress: Option<Tell<'a>>,
    budget: Budget,
    saving: Option<Saving>,
}

/// The draws of a run.
struct Made {
    outcome: Outcome,
    draws: u64,
    looks: Looks,
    ensemble: Snapshot,
    /// Draws of each chain in the runs that this one continues.
    before: u64,
}

impl<'w, W: LineIntegral + Sync> Making<'w, '_, W> {
    fn draw(&mut self, earlier: Option<SavedRun>, sink: &mut dyn Sink) -> Result<Made, Error> {
        let warm = self.warm;
        let kernel = warm.kernel()?;
        let so_far = warm.so_far.as_ref().filter(|_| earlier.is_none());
        if let Some(need) = so_far.map(|so_far| so_far.thin).filter(|thin| *thin != self.thin) {
            return Err(Error::Thin { got: self.thin, need });
        }
        let before = so_far.map_or(0, |so_far| so_far.ensemble.steps / so_far.thin);
        let mut looks = Looks::new(self.length, before)?;
        let mut draws = looks.first();
        let mut ensemble = warm.sampler(&*kernel).thin(self.thin).draws(draws).ensemble()?;
        let room = looks.room(&ensemble);
        let continued = so_far.is_some() || earlier.as_ref().is_some_and(|saved| saved.continued);
        let mut tee = Tee { sink, fresh: Table::default(), room, looks: None, continued };
        if let Some(saved) = earlier {
            self.fits(&saved)?;
            (draws, tee.fresh) = looks.go_on(saved.looks, draws)?;
            ensemble = self.restore(saved.ensemble)?;
        } else if let Some(so_far) = so_far {
            ensemble = self.restore(so_far.ensemble.clone())?;
        } else {
            ensemble = self.restore(self.with_vitals(ensemble.snapshot())?)?;
        }
        let limit = Limit::new(self.budget, &ensemble);
        let mut seconds = 0.0;
        let mut outcome = loop {
            let last = looks.last();
            tee.looks = looks.saved(draws);
            let mut sampler = warm.sampler(&*kernel).thin(self.thin).draws(draws);
            (sampler.saving, sampler.limit) = (self.saving.take(), Some(limit));
            if let Some(signal) = self.stop {
                sampler = sampler.stop(signal);
            }
            if let Some(tell) = &mut self.progress {
                sampler = sampler.progress(move |progress| tell(progress, last));
            }
            let outcome =
                sampler.go_on(&mut ensemble, &mut InOriginal::new(&warm.whitening, &mut tee))?;
            self.saving = sampler.saving.take();
            seconds += outcome.seconds;
            if !outcome.complete() {
                break outcome;
            }
            match looks.after(draws, &mut tee.fresh)? {
                Some(next) => draws = next,
                None => break outcome,
            }
        };
        outcome.seconds = seconds;
        Ok(Made { outcome, draws, looks, ensemble: ensemble.snapshot(), before })
    }

    /// The chains at their start, ready to take notes. Values and gradients there are computed for
    /// all of them at once and kept, so that their first step does not compute them again.
    fn with_vitals(&self, mut chains: Snapshot) -> Result<Snapshot, Error> {
        let warm = self.warm;
        let d = warm.whitening.dimension();
        let mut mode = vec![0.0; d];
        warm.whitening.to_whitened(&warm.mode.point, &mut mode)?;
        let mut reference = Reference {
            mode,
            value: 0.0,
            far: f64::MAX,
            bounds: [f64::MAX; 3],
            segments: Reference::segments_of(chains.chains.len()),
            every: GRADIENT_EVERY,
        };
        if self.few_rows() {
            // Neither values nor gradients: one of them takes longer than all moves.
            reference.every = u64::MAX;
        } else if self.exact() {
            let points = [&warm.starts, &reference.mode[..]].concat();
            let (mut values, mut gradients) =
                (vec![0.0; points.len() / d], vec![0.0; points.len()]);
            let shared = warm.team.share(&warm.potential);
            let scratch = &mut Scratch::default();
            let found = catching(|| {
                Ok(shared.values_and_gradients(&points, &mut values, &mut gradients, scratch)?)
            });
            // A target that fails here fails in the first step too, and there its chain is named.
            let finite = values.iter().chain(&gradients).all(|x| x.is_finite());
            if found.is_err() || !finite {
                return Ok(chains);
            }
            reference.value = values.pop().unwrap_or(0.0);
            let heights: Vec<f64> = values.iter().map(|value| value - reference.value).collect();
            reference.far = Reference::far_out(d, &heights);
            reference.bounds = counted_heights(d);
            let starts = values.into_iter().zip(gradients.chunks_exact(d));
            for (chain, (value, gradient)) in chains.chains.iter_mut().zip(starts) {
                (chain.value, chain.gradient) = (Some(value), Some(gradient.to_vec()));
                chain.gradients = 1;
            }
        }
        for chain in &mut chains.chains {
            chain.vitals = Some(Vitals::new(reference.clone()));
        }
        Ok(chains)
    }

    /// What the checks of a run find.
    fn troubles(&self, outcome: &Outcome) -> Vec<Warning> {
        let tolerance = if self.exact() { 0.0 } else { self.warm.tolerance };
        Checks { log_concave: self.warm.log_concave, tolerance }.troubles(outcome)
    }

    /// What would repair a run that is complete and failed a check.
    fn repair(&self, made: &Made) -> Result<Option<super::repair::Repair>, Error> {
        let Made { outcome, ensemble, .. } = made;
        if !self.exact() || !outcome.complete() {
            return Ok(None);
        }
        let troubles = self.troubles(outcome);
        self.warm.repair(&troubles, ensemble, outcome.gradients(), self.stop)
    }

    fn restore(&self, chains: Snapshot) -> Result<Ensemble<'w>, Error> {
        Ensemble::restore(&self.warm.potential, chains)?.with_team(&self.warm.team)
    }

    /// An error unless a saved state is one of this run.
    fn fits(&self, saved: &SavedRun) -> Result<(), Error> {
        let counts = [
            ("seed", saved.ensemble.seed, seed_after(self.warm.seed, self.warm.repairs)),
            ("warm_up", saved.warm_up, 0),
            ("thin", saved.thin, self.thin),
        ];
        match counts.into_iter().find(|(_, found, need)| found != need) {
            Some((name, found, need)) => Err(Error::Saved {
                what: SavedKind::Run,
                found: format!("{name} = {found}"),
                need: need.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Whether there is no bias to be confirmed.
    fn exact(&self) -> bool {
        without_bias(self.warm.scheme.kernel())
    }

    /// Whether moves are decided by a few rows.
    fn few_rows(&self) -> bool {
        self.warm.scheme.kernel() == laws::KernelKind::Subsampled
    }

    /// Pairs of chains from where the run ended, and the gradients that they took.
    fn confirm(
        &self, ensemble: &Snapshot, outcome: &Outcome, before: u64,
    ) -> Result<Option<(Vec<Difference>, u64)>, Error> {
        let warm = self.warm;
        let d = warm.whitening.dimension();
        let running = ensemble.chains.iter().filter(|chain| chain.end.is_none());
        let states: Vec<f64> = running.flat_map(|chain| chain.state.theta.clone()).collect();
        if states.is_empty() {
            return Ok(None);
        }
        let eta = warm.scheme.eta();
        let block = CoupledChains::block_of(eta);
        // Long steps of one pair that can be afforded, and of those the ones that count, if as many
        // chains as possible take part.
        let per_step = 3 * warm.kernel()?.gradients_per_step(&warm.potential).max(1);
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a count"
        )]
        let (steps, drift) = (
            (CONFIRMATION * outcome.gradients() as f64) as u64 / per_step,
            (DRIFT / eta).ceil() as u64,
        );
        let most = FEWEST.max((states.len() / d) as u64);
        #[allow(
            clippy::cast_possible_truncation,
            reason = "no more than there are chains, or a few"
        )]
        let chains = (steps / (drift + block)).clamp(FEWEST, most) as usize;
        // Where the run has fewer chains, several pairs begin at the same place: they have drifted
        // away from it, and from each other, before they count. Fewer pairs would not show how
        // certain the result is.
        let states: Vec<f64> = states.iter().copied().cycle().take(chains * d).collect();
        let each = (steps / chains as u64).saturating_sub(drift);
        let blocks = (each / block).max(1);
        let seed = warm.seed ^ (STREAMS + before).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let shared = warm.team.share(&warm.potential);
        let mut pairs = CoupledChains::new(&shared, &warm.scheme, 1.0, seed, &states)?
            .whitened(&warm.whitening)?;
        pairs.drift(DRIFT)?;
        let differences = pairs.measure(blocks * block)?;
        Ok(Some((differences, pairs.gradients())))
    }

    fn report(
        &self, outcome: Outcome, draws: u64, looks: Looks,
        confirmed: Option<(Vec<Difference>, u64)>,
    ) -> Sampled {
        let warm = self.warm;
        let (differences, confirmation, confirmation_gradients) = match confirmed {
            Some((new, gradients)) => {
                let both =
                    warm.differences.iter().zip(&new).map(|(old, new)| old.together(new)).collect();
                (both, Some(Bias::from_differences(&new)), gradients)
            }
            None => (warm.differences.clone(), None, 0),
        };
        let bias = if self.exact() { Bias::NONE } else { Bias::from_differences(&differences) };
        // Clearly within by all measurements; or taken to be within by the warm-up, and not clearly
        // beyond by all.
        let tolerance = warm.tolerance;
        let bias_within =
            bias.bound() <= tolerance || (warm.within_tolerance && bias.at_least() <= tolerance);
        let troubles = self.troubles(&outcome);
        let no_end = outcome.ended().next().is_none();
        Sampled {
            within_tolerance: bias_within && troubles.is_empty() && no_end,
            bias_within,
            troubles,
            log_concave: warm.log_concave,
            outcome,
            draws,
            length: self.length,
            bias,
            differences,
            confirmation,
            tolerance,
            reached: looks.reached(),
            looks: looks.made(),
            confirmation_gradients,
        }
    }
}

//! The run after a warm-up: of a given length or until the effective sample size is reached, with
//! the bias measured once more at its end.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ridgewalk_diagnostics::Summarizer;
use ridgewalk_lyapunov::laws;
use ridgewalk_potentials::LineIntegral;

use super::bias::Bias;
use super::warm_up::WarmedUp;
use crate::coupled::{CoupledChains, Difference};
use crate::driver::Saving;
use crate::ensemble::Ensemble;
use crate::error::{Error, catching, positive};
use crate::kernels::Kernel;
use crate::outcome::{Outcome, Progress};
use crate::saved::{SavedLooks, SavedRun};
use crate::sink::{InOriginal, Memory, Sink, SinkError};

/// The share of a run's gradients that its confirmation takes, if that is enough for one block of
/// steps of so many pairs.
const CONFIRMATION: f64 = 0.03;
const FEWEST: u64 = 4;
/// Time of the dynamics that the pairs of a confirmation get to drift apart.
const DRIFT: f64 = 6.0;
/// Number of a confirmation's streams: far from those of a run and of a warm-up.
const STREAMS: u64 = 1 << 41;
/// Draws of each chain before the effective sample size is looked at for the first time, and the
/// fewest that a later look is at.
const FIRST_LOOK: u64 = 200;
/// How much longer each interval between looks is than the one before.
const GROWTH: f64 = 1.5;
/// The most numbers that are remembered for a look, if that leaves room for [`FIRST_LOOK`] draws of
/// each chain: 32 MiB.
const REMEMBERED: usize = 1 << 22;

/// How long a run is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Length {
    /// So many draws of each chain.
    Draws(u64),
    /// Until the smallest bulk effective sample size of all coordinates, over all chains, is at
    /// least `target`, and at most `most` draws of each chain.
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

/// One look at the effective sample size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Draws of each chain so far.
    pub draws: u64,
    /// The smallest bulk effective sample size that the draws since the last look promise for all
    /// of them.
    pub ess: f64,
}

/// What came of a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sampled {
    /// How the chains stand.
    pub outcome: Outcome,
    /// Draws that were asked for of each chain in the end.
    pub draws: u64,
    /// The bias by all measurements, those of the warm-up and of the confirmation.
    pub bias: Bias,
    /// What it follows from, for each coordinate; empty for trajectories that are accepted or
    /// rejected.
    pub differences: Vec<Difference>,
    /// What the confirmation measured by itself; nothing if the run was stopped before.
    pub confirmation: Option<Bias>,
    /// Whether the bias is within the tolerance, but for one standard error.
    pub within_tolerance: bool,
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

/// A run to be made after a warm-up.
///
/// ```
/// use ridgewalk_potentials::FromFn;
/// use ridgewalk_sampler::Memory;
/// use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
///
/// let gradient = FromFn::new(1, |x: &[f64], g: &mut [f64]| { g[0] = x[0].powi(3) + x[0]; Ok(()) });
/// let target = BlackBox::new(gradient, 3, &[0.5])?;
/// let warm = WarmUp::new(&target).run()?;
/// let mut draws = Memory::default();
/// let sampled = warm.run(Length::Ess { target: 1000.0, most: 10_000 }).keep(&mut draws)?;
/// assert!(sampled.reached && sampled.within_tolerance);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Run<'a, W> {
    warm: &'a WarmedUp<W>,
    length: Length,
    thin: u64,
    stop: Option<&'a AtomicBool>,
    progress: Option<Tell<'a>>,
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

impl<W: LineIntegral + Sync> WarmedUp<W> {
    /// A run of this length.
    pub fn run(&self, length: Length) -> Run<'_, W> {
        let thin = self.thin;
        Run { warm: self, length, thin, stop: None, progress: None, saving: None, earlier: None }
    }
}

impl<'a, W: LineIntegral + Sync> Run<'a, W> {
    /// Every how many steps there is a draw, instead of what the warm-up chose.
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

    /// A function that is told how far the run is, some ten times a second, and the last look at
    /// the effective sample size.
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

    /// Goes on from a state that a sink was given, with the draws after it, as the run would have
    /// without an interruption.
    #[must_use]
    pub fn from_saved(mut self, state: SavedRun) -> Self {
        self.earlier = Some(state);
        self
    }

    /// Makes the run. Draws go to `sink` in the original coordinates.
    ///
    /// # Errors
    /// For counts of 0 and targets that are not positive, before anything is done; for a saved
    /// state of another run; for a sink that fails; for a potential that fails or panics in the
    /// confirmation, when all draws are kept. A chain that fails in the run, or a stop, is no
    /// error: see [`Outcome`].
    pub fn keep(mut self, sink: &mut dyn Sink) -> Result<Sampled, Error> {
        let kernel = self.warm.kernel()?;
        let mut looks = Looks::new(self.length)?;
        let mut draws = looks.first();
        let mut ensemble = self.warm.sampler(&*kernel).thin(self.thin).draws(draws).ensemble()?;
        let mut tee =
            Tee { sink, fresh: Memory::default(), room: looks.room(&ensemble), looks: None };
        if let Some(saved) = self.earlier.take() {
            self.fits(&saved)?;
            (draws, tee.fresh) = looks.go_on(saved.looks, draws)?;
            ensemble = Ensemble::restore(&self.warm.potential, saved.ensemble)?
                .with_team(&self.warm.team)?;
        }
        let (mut seconds, mut outcome);
        seconds = 0.0;
        loop {
            let last = looks.made.last().copied();
            tee.looks = looks.saved(draws);
            let mut sampler = self.warm.sampler(&*kernel).thin(self.thin).draws(draws);
            sampler.saving = self.saving.take();
            if let Some(signal) = self.stop {
                sampler = sampler.stop(signal);
            }
            if let Some(tell) = &mut self.progress {
                sampler = sampler.progress(move |progress| tell(progress, last));
            }
            outcome = sampler
                .go_on(&mut ensemble, &mut InOriginal::new(&self.warm.whitening, &mut tee))?;
            self.saving = sampler.saving.take();
            seconds += outcome.seconds;
            if !outcome.complete() {
                break;
            }
            match looks.after(draws, &mut tee.fresh)? {
                Some(next) => draws = next,
                None => break,
            }
        }
        outcome.seconds = seconds;
        let confirmed = if outcome.stopped || self.exact() {
            None
        } else {
            catching(|| self.confirm(&*kernel, &ensemble, &outcome))?
        };
        Ok(self.report(outcome, draws, looks, confirmed))
    }

    /// An error unless a saved state is one of this run.
    fn fits(&self, saved: &SavedRun) -> Result<(), Error> {
        let counts = [
            ("seed", saved.ensemble.seed, self.warm.seed),
            ("warm_up", saved.warm_up, 0),
            ("thin", saved.thin, self.thin),
        ];
        match counts.into_iter().find(|(_, found, need)| found != need) {
            Some((name, found, need)) => Err(Error::Saved {
                what: "run",
                found: format!("{name} = {found}"),
                need: need.to_string(),
            }),
            None => Ok(()),
        }
    }

    /// Whether there is no bias to be confirmed.
    fn exact(&self) -> bool {
        self.warm.scheme.kernel() == laws::KernelKind::Adjusted
    }

    /// Pairs of chains from where the run ended, and the gradients that they took.
    fn confirm(
        &self,
        kernel: &dyn Kernel,
        ensemble: &Ensemble<'_>,
        outcome: &Outcome,
    ) -> Result<Option<(Vec<Difference>, u64)>, Error> {
        let warm = self.warm;
        let d = warm.whitening.dimension();
        let states: Vec<f64> = (0..ensemble.chains())
            .filter(|chain| ensemble.end(*chain).is_none())
            .filter_map(|chain| ensemble.state(chain))
            .flat_map(|state| state.theta)
            .collect();
        if states.is_empty() {
            return Ok(None);
        }
        let eta = warm.scheme.eta();
        let block = CoupledChains::block_of(eta);
        // Long steps of one pair that can be afforded, and of those the ones that count, if as many
        // chains as possible take part.
        let per_step = 3 * kernel.gradients_per_step(&warm.potential).max(1);
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
        // away from it, and from each other, before they count. Fewer pairs would not tell how sure
        // they are.
        let states: Vec<f64> = states.iter().copied().cycle().take(chains * d).collect();
        let each = (steps / chains as u64).saturating_sub(drift);
        let blocks = (each / block).max(1);
        let seed = warm.seed ^ STREAMS.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let shared = warm.team.share(&warm.potential);
        let mut pairs = CoupledChains::new(&shared, &warm.scheme, 1.0, seed, &states)?
            .whitened(&warm.whitening)?;
        pairs.drift(DRIFT)?;
        let differences = pairs.measure(blocks * block)?;
        Ok(Some((differences, pairs.gradients())))
    }

    fn report(
        &self,
        outcome: Outcome,
        draws: u64,
        looks: Looks,
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
        let within_tolerance =
            bias.bound() <= tolerance || (warm.within_tolerance && bias.at_least() <= tolerance);
        Sampled {
            outcome,
            draws,
            bias,
            differences,
            confirmation,
            within_tolerance,
            reached: looks.target.is_none() || looks.reached,
            looks: looks.made,
            confirmation_gradients,
        }
    }
}

/// When to look at the effective sample size, and what was seen.
#[derive(Debug)]
struct Looks {
    target: Option<f64>,
    most: u64,
    interval: u64,
    made: Vec<Look>,
    reached: bool,
    workspace: Summarizer,
}

impl Looks {
    fn new(length: Length) -> Result<Self, Error> {
        let (target, most) = match length {
            Length::Draws(draws) => (None, draws),
            Length::Ess { target, most } => (Some(positive("target_ess", target)?), most),
        };
        let interval = if target.is_some() { next_look(FIRST_LOOK, most) } else { most };
        Ok(Self {
            target,
            most,
            interval,
            made: Vec::new(),
            reached: false,
            workspace: Summarizer::new(),
        })
    }

    /// Takes up the looks that were made. How many draws of each chain there are to be before the
    /// next, and those since the last.
    fn go_on(&mut self, saved: Option<SavedLooks>, first: u64) -> Result<(u64, Memory), Error> {
        match (saved, self.target) {
            (None, None) => Ok((first, Memory::default())),
            (Some(saved), Some(_)) => {
                // 1.5 times 0 or 1 is no more, in whole numbers: looks without end.
                let least = self.interval.min(2);
                if saved.interval < least {
                    let [found, need] =
                        [saved.interval, least].map(|draws| format!("a look every {draws} draws"));
                    return Err(Error::Saved { what: "run", found, need });
                }
                (self.made, self.interval) = (saved.made, saved.interval);
                Ok((saved.next.min(self.most), saved.fresh))
            }
            (saved, _) => {
                let words =
                    ["a number of draws to be made", "an effective sample size to be reached"];
                let had = usize::from(saved.is_some());
                let [found, need] = [words[had], words[1 - had]].map(str::to_owned);
                Err(Error::Saved { what: "run", found, need })
            }
        }
    }

    /// What there is to be saved of them, but for the draws since the last.
    fn saved(&self, next: u64) -> Option<SavedLooks> {
        let (made, interval, fresh) = (self.made.clone(), self.interval, Memory::default());
        self.target.map(|_| SavedLooks { made, interval, next, fresh })
    }

    /// Draws of each chain before the first look.
    fn first(&self) -> u64 {
        self.interval
    }

    /// The most draws of each chain that a look is at; 0 if there are no looks.
    fn room(&self, ensemble: &Ensemble<'_>) -> usize {
        let numbers = ensemble.chains().saturating_mul(ensemble.dimension()).max(1);
        let first = usize::try_from(FIRST_LOOK).unwrap_or(usize::MAX);
        if self.target.is_some() { (REMEMBERED / numbers).max(first) } else { 0 }
    }

    /// Looks at the draws since the last look and forgets them. How many draws of each chain there
    /// are to be before the next look; nothing if this was the last.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count times 1.5")]
    fn after(&mut self, draws: u64, fresh: &mut Memory) -> Result<Option<u64>, Error> {
        let Some(target) = self.target else { return Ok(None) };
        let mut smallest = f64::INFINITY;
        for coordinate in 0..fresh.dimension() {
            let traces: Vec<Vec<f64>> =
                (0..fresh.chains()).map(|c| fresh.trace(c, coordinate)).collect();
            let traces: Vec<&[f64]> = traces.iter().map(Vec::as_slice).collect();
            let ess = self.workspace.ess_bulk(&traces)?;
            // Not a number for draws that do not move: never enough.
            smallest = if ess.is_nan() { 0.0 } else { smallest.min(ess) };
        }
        let ess = smallest * draws as f64 / fresh.draws(0).max(1) as f64;
        *fresh = Memory::default();
        self.made.push(Look { draws, ess });
        self.reached = ess >= target;
        if self.reached || draws >= self.most {
            return Ok(None);
        }
        self.interval = (GROWTH * self.interval as f64) as u64;
        Ok(Some(next_look(draws.saturating_add(self.interval), self.most)))
    }
}

/// When to look next: as wanted, or at the end if that leaves too few draws for a look after it.
fn next_look(wanted: u64, most: u64) -> u64 {
    if most.saturating_sub(wanted) < FIRST_LOOK { most } else { wanted }
}

/// Hands draws on, and remembers the first since the last look, so many of each chain.
struct Tee<'a> {
    sink: &'a mut dyn Sink,
    fresh: Memory,
    room: usize,
    /// Where the looks are, if there are any.
    looks: Option<SavedLooks>,
}

impl Sink for Tee<'_> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if self.room > 0 {
            self.fresh.begin(chains, dimension)?;
        }
        self.sink.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.sink.keep(chain, draw, point)?;
        if self.fresh.draws(chain) < self.room {
            self.fresh.keep(chain, draw, point)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        let looks =
            self.looks.clone().map(|looks| SavedLooks { fresh: self.fresh.clone(), ..looks });
        self.sink.checkpoint(SavedRun { looks, ..state })
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_LOOK, next_look};

    #[test]
    fn no_look_is_at_a_handful_of_draws() {
        for most in 1..3000 {
            let (mut draws, mut interval) = (next_look(FIRST_LOOK, most), FIRST_LOOK);
            while draws < most {
                interval += interval / 2;
                let next = next_look(draws + interval, most);
                assert!(next <= most && next - draws >= FIRST_LOOK, "{draws} to {next} of {most}");
                draws = next;
            }
            assert_eq!(draws, most);
        }
    }
}

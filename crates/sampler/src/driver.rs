//! A run: warm-up, thinning, draws into a sink; a stop signal, a budget, and progress.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ridgewalk_potentials::LineIntegral;

use crate::budget::{Budget, Exhausted, Limit};
use crate::clock::{Instant, TICKS};
use crate::ensemble::Ensemble;
use crate::error::{Error, Quantity, caught, length};
use crate::group::Schedule;
use crate::kernels::Kernel;
use crate::outcome::{ChainReport, ChainStatus, Outcome, Progress};
use crate::saved::SavedRun;
use crate::sink::{Guarded, Sink};
use crate::team::{Agenda, Team};

/// How long a leg is: the steps between two looks at the stop signal.
const LEG: Duration = Duration::from_millis(50);
/// The most numbers that are stored between two deliveries to the sink, if that leaves room for one
/// draw of each chain.
const LEG_NUMBERS: usize = 1 << 20;
/// Steps of a leg where there is no clock.
const LEG_STEPS: u64 = 64;

/// More chains could not be stored.
const MOST_CHAINS: usize = 1 << 24;

/// Saving takes at most 1/`SAVING` of the time, and about 1/`AT_RISK` of the work is not saved yet.
const SAVING: u32 = 20;
const AT_RISK: u32 = 10;

type Tell<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// A configured run, new or resumed.
///
/// By default: 4 chains from the origin with p and r drawn from N(0, I/L), 1000 draws each, every
/// step a draw, no warm-up, seed 0.
///
/// [`Sampler::run`] again continues with new draws:
///
/// ```
/// # use ridgewalk_coefficients::Parameters;
/// # use ridgewalk_potentials::{Chebyshev, FromFn};
/// # use ridgewalk_sampler::{Draws, Sampler, Symmetric};
/// # let gradient = |x: &[f64], g: &mut [f64]| { g[0] = x[0]; Ok(()) };
/// # let target = Chebyshev::new(FromFn::new(1, gradient), 3)?;
/// # let kernel = Symmetric::new(Parameters::new(1.0, 2.0, 1.0)?, 1.0)?;
/// let (mut twice, mut once) = (Draws::default(), Draws::default());
/// let mut sampler = Sampler::new(&target, &kernel).draws(100);
/// sampler.run(&mut twice)?;
/// sampler.run(&mut twice)?;
/// Sampler::new(&target, &kernel).draws(200).run(&mut once)?;
/// assert_eq!(twice, once);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sampler<'a> {
    potential: &'a (dyn LineIntegral + Sync),
    kernel: &'a dyn Kernel,
    chains: usize,
    seed: u64,
    starts: Starts,
    at_rest: bool,
    schedule: Schedule,
    draws: u64,
    stop: Option<&'a AtomicBool>,
    progress: Option<Tell<'a>>,
    budget: Budget,
    /// Where the budget ends, if that was fixed before this run.
    pub(crate) limit: Option<Limit>,
    pub(crate) saving: Option<Saving>,
    pub(crate) team: Team,
    /// The chains after the last run.
    so_far: Option<Ensemble<'a>>,
}

/// What each chain is to have in the end.
#[derive(Debug, Clone, Copy)]
struct Goal {
    draws: u64,
    steps: u64,
}

#[derive(Debug)]
enum Starts {
    Origin,
    Same(Vec<f64>),
    Each(Vec<f64>),
}

impl fmt::Debug for Sampler<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sampler")
            .field("kernel", &self.kernel)
            .field("chains", &self.chains)
            .field("seed", &self.seed)
            .field("schedule", &self.schedule)
            .field("draws", &self.draws)
            .finish_non_exhaustive()
    }
}

impl<'a> Sampler<'a> {
    /// A run of this kernel on this potential.
    #[must_use]
    pub fn new(potential: &'a (dyn LineIntegral + Sync), kernel: &'a dyn Kernel) -> Self {
        Self {
            potential,
            kernel,
            chains: 4,
            seed: 0,
            starts: Starts::Origin,
            at_rest: false,
            schedule: Schedule { warm_up: 0, thin: 1 },
            draws: 1000,
            stop: None,
            progress: None,
            budget: Budget::default(),
            limit: None,
            saving: None,
            team: Team::default(),
            so_far: None,
        }
    }

    /// The number of chains. Chain k makes the same draws whatever this number is.
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.chains = chains;
        self.begin_anew();
        self
    }

    /// The seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self.begin_anew();
        self
    }

    /// The point where every chain starts.
    #[must_use]
    pub fn start(mut self, point: &[f64]) -> Self {
        self.starts = Starts::Same(point.to_vec());
        self.begin_anew();
        self
    }

    /// The points where the chains start, one after the other.
    #[must_use]
    pub fn starts(mut self, points: &[f64]) -> Self {
        self.starts = Starts::Each(points.to_vec());
        self.begin_anew();
        self
    }

    /// Every chain starts with p = r = 0, as in the paper, instead of p and r drawn from N(0, I/L).
    /// The noise of the steps is the same.
    #[must_use]
    pub fn at_rest(mut self) -> Self {
        self.at_rest = true;
        self.begin_anew();
        self
    }

    /// Steps before the first that can be a draw.
    #[must_use]
    pub fn warm_up(mut self, steps: u64) -> Self {
        self.schedule.warm_up = steps;
        self.begin_anew();
        self
    }

    /// Steps from one draw to the next.
    #[must_use]
    pub fn thin(mut self, steps: u64) -> Self {
        self.schedule.thin = steps;
        self.begin_anew();
        self
    }

    /// Draws of each chain in a run.
    #[must_use]
    pub fn draws(mut self, draws: u64) -> Self {
        self.draws = draws;
        self
    }

    /// A signal that ends the run soon after it is set: within a tenth of a second or a step,
    /// whichever is longer. All chains then have made the same number of steps.
    #[must_use]
    pub fn stop(mut self, signal: &'a AtomicBool) -> Self {
        self.stop = Some(signal);
        self
    }

    /// The most that a run may cost.
    #[must_use]
    pub fn budget(mut self, budget: Budget) -> Self {
        self.budget = budget;
        self
    }

    /// Callback for progress, run some ten times a second and at the end.
    #[must_use]
    pub fn progress(mut self, tell: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(tell));
        self
    }

    /// Processes that make this run together, each with its share of the chains. Every one of them
    /// receives all draws. The draws are those of a run by one process.
    #[must_use]
    pub fn team(mut self, team: &Team) -> Self {
        self.team = team.clone();
        self
    }

    /// The sink is given the state of the run ([`Sink::checkpoint`]): when it begins, then at least
    /// this often, in short runs more often, and when it is stopped. Less often where saving would
    /// take more than a twentieth of the time. When this is done depends on the clock; the draws do
    /// not.
    #[must_use]
    pub fn checkpoints(mut self, longest: Duration) -> Self {
        self.saving = Some(Saving::new(longest));
        self
    }

    /// Makes the run. Again, it continues where the last one ended, with draws numbered on: two
    /// runs make the draws of one that is twice as long. Counts in the [`Outcome`] are of all runs.
    ///
    /// To start over, see [`Sampler::begin_anew`]. So does a change of the seed, of the chains,
    /// their starts or which steps are draws.
    ///
    /// # Errors
    /// For counts of 0 and starts that do not fit, before anything is done; for a sink that fails,
    /// with the number of draws it has kept. Draws that it did not take come first in the next run.
    /// A chain that fails, a stop or the end of the budget is no error: see [`Outcome`].
    pub fn run(&mut self, sink: &mut dyn Sink) -> Result<Outcome, Error> {
        let once = self.goal(self.draws)?;
        let mut ensemble = match self.so_far.take() {
            Some(ensemble) => ensemble,
            None => self.ensemble()?,
        };
        let before = self.schedule.draws(ensemble.steps());
        let all = before.checked_add(once.draws).ok_or(Error::TooMany { what: Quantity::Draws })?;
        let outcome = self.goal(all).and_then(|goal| self.go_on_to(goal, &mut ensemble, sink));
        self.so_far = Some(ensemble);
        outcome
    }

    /// The next [`Sampler::run`] starts over, with the draws of the first.
    pub fn begin_anew(&mut self) {
        self.so_far = None;
    }

    /// The chains at their start.
    ///
    /// # Errors
    /// For counts of 0, and starts that do not fit.
    pub fn ensemble(&self) -> Result<Ensemble<'a>, Error> {
        self.goal(self.draws)?;
        let d = self.potential.dimension();
        let entries =
            self.chains.checked_mul(d).ok_or(Error::TooMany { what: Quantity::Chains })?;
        if self.chains > MOST_CHAINS {
            return Err(Error::TooMany { what: Quantity::Chains });
        }
        let starts = match &self.starts {
            Starts::Origin => repeated(&vec![0.0; d], entries)?,
            Starts::Same(point) => {
                length("the start", point.len(), d)?;
                repeated(point, entries)?
            }
            Starts::Each(points) => {
                length("the list of starts", points.len(), entries)?;
                points.clone()
            }
        };
        let ensemble = if self.at_rest {
            Ensemble::at_rest(self.potential, self.seed, &starts)
        } else {
            Ensemble::new(self.potential, self.seed, &starts, self.kernel.smoothness())
        };
        ensemble?.with_team(&self.team)
    }

    /// Makes what is left of the run, given chains that were stopped or restored on the way. Their
    /// draws are those of a run without interruption. A run with more draws can go on where one
    /// with fewer ended: [`Sampler::draws`] counts those that the chains have already. The
    /// potential is that of the chains.
    ///
    /// # Errors
    /// As [`Sampler::run`], and for another number of chains. Draws that a sink did not take wait
    /// in the ensemble, and the next call begins with them.
    pub fn go_on(
        &mut self, ensemble: &mut Ensemble<'_>, sink: &mut dyn Sink,
    ) -> Result<Outcome, Error> {
        self.go_on_to(self.goal(self.draws)?, ensemble, sink)
    }

    fn go_on_to(
        &mut self, goal: Goal, ensemble: &mut Ensemble<'_>, sink: &mut dyn Sink,
    ) -> Result<Outcome, Error> {
        let sink = &mut Guarded(sink);
        if ensemble.chains() != self.chains {
            return Err(Error::Ensemble { got: ensemble.chains(), need: self.chains });
        }
        length("a state of the ensemble", ensemble.dimension(), self.potential.dimension())?;
        match self.make(ensemble, sink, goal) {
            Err(Error::Elsewhere) => Err(Error::Elsewhere),
            // A process that fails notifies the others before it ends, so that none waits for it.
            done => match self.team.agree(Agenda { failed: done.is_err(), ..Agenda::default() }) {
                Some(_) => done,
                None => done.and(Err(Error::Elsewhere)),
            },
        }
    }

    /// Whatever fails, fails between two agreements: all processes are then about to agree on how
    /// to go on.
    fn make(
        &mut self, ensemble: &mut Ensemble<'_>, sink: &mut dyn Sink, goal: Goal,
    ) -> Result<Outcome, Error> {
        let began = Instant::now();
        let limit = self.limit.unwrap_or_else(|| Limit::new(self.budget, ensemble));
        let mut kept = 0;
        sink.begin(self.chains, ensemble.dimension())
            .map_err(|source| Error::Sink { kept, source })?;
        let mut pace =
            Pace::new(self.chains.saturating_mul(ensemble.dimension()), self.schedule.thin);
        let mut end = None;
        let mut told = Instant::now();
        while ensemble.steps() < goal.steps && ensemble.running() > 0 {
            let affordable = self.agree(ensemble, sink, kept, &mut pace, &limit)?;
            let left = match affordable {
                Ok(steps) => steps.min(goal.steps - ensemble.steps()),
                Err(early) => {
                    end = Some(early);
                    break;
                }
            };
            let schedule = self.schedule;
            pace.measure(left, |leg| ensemble.leg(self.kernel, leg, schedule))?;
            ensemble.deliver(sink, &mut kept)?;
            if told.elapsed() >= LEG || !TICKS {
                sink.flush().map_err(|source| Error::Sink { kept, source })?;
                self.tell(ensemble, goal.steps, began)?;
                told = Instant::now();
            }
        }
        sink.flush().map_err(|source| Error::Sink { kept, source })?;
        self.save(ensemble, sink, kept, end.is_some())?;
        self.tell(ensemble, goal.steps, began)?;
        Ok(Outcome {
            chains: self.reports(ensemble, goal.draws),
            stopped: end == Some(Early::Stopped),
            exhausted: end.and_then(Early::exhausted),
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// Agrees with the other processes on the next leg. The steps that the budget allows, or why
    /// the run ends here.
    fn agree(
        &mut self, ensemble: &Ensemble<'_>, sink: &mut dyn Sink, kept: u64, pace: &mut Pace,
        limit: &Limit,
    ) -> Result<Result<u64, Early>, Error> {
        let stop = self.stop.is_some_and(|signal| signal.load(Ordering::Relaxed));
        if !stop {
            self.save(ensemble, sink, kept, false)?;
        }
        let out_of_time = limit.out_of_time();
        let wanted = Agenda { steps: pace.steps, stop, out_of_time, failed: false };
        let agreed = self.team.agree(wanted).ok_or(Error::Elsewhere)?;
        if agreed.stop {
            return Ok(Err(Early::Stopped));
        }
        if agreed.out_of_time {
            return Ok(Err(Early::OutOfTime));
        }
        let per_step =
            self.kernel.gradients_per_step(self.potential) + ensemble.gradients_per_note();
        let affordable = limit.steps(ensemble, per_step);
        if affordable == 0 {
            return Ok(Err(Early::OutOfGradients));
        }
        pace.steps = agreed.steps;
        Ok(Ok(affordable))
    }

    /// Hands the state to the sink, if it is time or if it must be. No draw may be waiting.
    fn save(
        &mut self, ensemble: &Ensemble<'_>, sink: &mut dyn Sink, kept: u64, now: bool,
    ) -> Result<(), Error> {
        let Some(saving) = &mut self.saving else { return Ok(()) };
        if !(now || saving.due()) {
            return Ok(());
        }
        let began = Instant::now();
        let Schedule { warm_up, thin } = self.schedule;
        let state = SavedRun {
            ensemble: ensemble.snapshot(),
            warm_up,
            thin,
            looks: None,
            continued: false,
        };
        sink.checkpoint(state).map_err(|source| Error::Sink { kept, source })?;
        saving.last = Some((Instant::now(), began.elapsed()));
        Ok(())
    }

    fn tell(&mut self, ensemble: &Ensemble<'_>, of: u64, began: Instant) -> Result<(), Error> {
        let Some(tell) = &mut self.progress else { return Ok(()) };
        let progress = Progress {
            steps: ensemble.steps(),
            of,
            draws: self.schedule.draws(ensemble.steps()),
            gradients: ensemble.gradients(),
            seconds: began.elapsed().as_secs_f64(),
            running: ensemble.running(),
        };
        caught(|| tell(&progress)).map_err(|message| Error::Callback { message })
    }

    fn reports(&self, ensemble: &Ensemble<'_>, of: u64) -> Vec<ChainReport> {
        let reports = ensemble.members_in_order().into_iter().map(|chain| {
            let draws = self.schedule.draws(chain.steps);
            let status = match &chain.end {
                Some(end) => ChainStatus::Ended(end.clone()),
                None if draws >= of => ChainStatus::Complete,
                None => ChainStatus::Stopped,
            };
            let (steps, gradients, acceptance) = (chain.steps, chain.gradients, chain.acceptance);
            let vitals = chain.vitals.clone();
            ChainReport { status, steps, draws, gradients, acceptance, vitals }
        });
        reports.collect()
    }

    /// A run of this many draws of each chain, if its counts are good.
    fn goal(&self, draws: u64) -> Result<Goal, Error> {
        for (what, zero) in [
            (Quantity::Chains, self.chains == 0),
            (Quantity::Draws, draws == 0),
            (Quantity::Thin, self.schedule.thin == 0),
        ] {
            if zero {
                return Err(Error::Zero { what });
            }
        }
        let steps = draws.checked_mul(self.schedule.thin);
        let steps = steps
            .and_then(|steps| steps.checked_add(self.schedule.warm_up))
            .ok_or(Error::TooMany { what: Quantity::Steps })?;
        Ok(Goal { draws, steps })
    }
}

/// Why a run ended before it had all its draws.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Early {
    Stopped,
    OutOfTime,
    OutOfGradients,
}

impl Early {
    fn exhausted(self) -> Option<Exhausted> {
        match self {
            Self::Stopped => None,
            Self::OutOfTime => Some(Exhausted::Time),
            Self::OutOfGradients => Some(Exhausted::Gradients),
        }
    }
}

/// How many steps to make at a time, from how long the last ones took.
#[derive(Debug)]
struct Pace {
    steps: u64,
    most: u64,
}

impl Pace {
    fn new(numbers_per_draw: usize, thin: u64) -> Self {
        let draws = (LEG_NUMBERS / numbers_per_draw.max(1)).max(1) as u64;
        let steps = if TICKS { 1 } else { LEG_STEPS };
        Self { steps, most: draws.saturating_mul(thin) }
    }

    /// Makes the next steps, at most `left`.
    fn measure<E>(&mut self, left: u64, make: impl FnOnce(u64) -> Result<(), E>) -> Result<(), E> {
        let steps = self.steps.min(left);
        let began = Instant::now();
        make(steps)?;
        let took = began.elapsed();
        if !TICKS {
            return Ok(());
        }
        if took < LEG / 2 {
            self.steps = steps.saturating_mul(2).min(self.most);
        } else if took > LEG * 2 {
            self.steps = (steps / 2).max(1);
        }
        Ok(())
    }
}

/// When a state was saved, and when the next is due.
#[derive(Debug)]
pub(crate) struct Saving {
    longest: Duration,
    began: Instant,
    /// When the last state was saved, and how long that took.
    last: Option<(Instant, Duration)>,
}

impl Saving {
    pub(crate) fn new(longest: Duration) -> Self {
        Self { longest, began: Instant::now(), last: None }
    }

    fn due(&self) -> bool {
        self.last.is_none_or(|(at, cost)| {
            let interval = self.longest.min(self.began.elapsed() / AT_RISK);
            at.elapsed() >= interval.max(SAVING * cost)
        })
    }
}

/// A point again and again, `entries` numbers in all.
fn repeated(point: &[f64], entries: usize) -> Result<Vec<f64>, Error> {
    let mut list = Vec::new();
    list.try_reserve_exact(entries).map_err(|_| Error::TooMany { what: Quantity::Chains })?;
    while list.len() < entries {
        list.extend_from_slice(point);
    }
    Ok(list)
}

//! A run: warm-up, thinning, draws into a sink; a stop signal, and progress.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ridgewalk_potentials::LineIntegral;

use crate::ensemble::Ensemble;
use crate::error::{Error, length};
use crate::group::Schedule;
use crate::kernels::Kernel;
use crate::outcome::{ChainReport, ChainStatus, Outcome, Progress};
use crate::saved::SavedRun;
use crate::sink::Sink;
use crate::team::{Agenda, Team};

/// How long the chains go on between two looks at the stop signal.
const LEG: Duration = Duration::from_millis(50);
/// The most numbers that are stored between two deliveries to the sink, if that leaves room for one
/// draw of each chain.
const LEG_NUMBERS: usize = 1 << 20;

/// Saving takes at most the inverse of this of the time, and what is not saved is about this share
/// of what was done.
const SAVING: u32 = 20;
const AT_RISK: u32 = 10;

type Tell<'a> = Box<dyn FnMut(&Progress) + 'a>;

/// A run to be made, or to be gone on with.
///
/// Unless told otherwise: 4 chains from the origin, 1000 draws each, every step a draw, no warm-up,
/// seed 0.
pub struct Sampler<'a> {
    potential: &'a (dyn LineIntegral + Sync),
    kernel: &'a dyn Kernel,
    chains: usize,
    seed: u64,
    starts: Starts,
    schedule: Schedule,
    draws: u64,
    stop: Option<&'a AtomicBool>,
    progress: Option<Tell<'a>>,
    pub(crate) saving: Option<Saving>,
    pub(crate) team: Team,
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
            schedule: Schedule { warm_up: 0, thin: 1 },
            draws: 1000,
            stop: None,
            progress: None,
            saving: None,
            team: Team::default(),
        }
    }

    /// How many chains. Chain k makes the same draws whatever this number is.
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.chains = chains;
        self
    }

    /// The seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// The point where every chain starts.
    #[must_use]
    pub fn start(mut self, point: &[f64]) -> Self {
        self.starts = Starts::Same(point.to_vec());
        self
    }

    /// The points where the chains start, one after the other.
    #[must_use]
    pub fn starts(mut self, points: &[f64]) -> Self {
        self.starts = Starts::Each(points.to_vec());
        self
    }

    /// Steps before the first that can be a draw.
    #[must_use]
    pub fn warm_up(mut self, steps: u64) -> Self {
        self.schedule.warm_up = steps;
        self
    }

    /// Every how many steps there is a draw.
    #[must_use]
    pub fn thin(mut self, steps: u64) -> Self {
        self.schedule.thin = steps;
        self
    }

    /// Draws of each chain.
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

    /// A function that is told how far the run is, some ten times a second and at the end.
    #[must_use]
    pub fn progress(mut self, tell: impl FnMut(&Progress) + 'a) -> Self {
        self.progress = Some(Box::new(tell));
        self
    }

    /// Processes that make this run together, each with its share of the chains; every one of them
    /// is told all draws. The draws are those of a run by one process.
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

    /// Makes the run.
    ///
    /// # Errors
    /// For counts of 0 and starts that do not fit, before anything is done; for a sink that fails,
    /// with the number of draws it has kept. A chain that fails, or a stop, is no error: see
    /// [`Outcome`].
    pub fn run(&mut self, sink: &mut dyn Sink) -> Result<Outcome, Error> {
        let mut ensemble = self.ensemble()?;
        self.go_on(&mut ensemble, sink)
    }

    /// The chains at their start.
    ///
    /// # Errors
    /// For counts of 0, and starts that do not fit.
    pub fn ensemble(&self) -> Result<Ensemble<'a>, Error> {
        self.steps()?;
        let d = self.potential.dimension();
        let entries = self.chains.checked_mul(d).ok_or(Error::TooMany { what: "chains" })?;
        let starts = match &self.starts {
            Starts::Origin => vec![0.0; entries],
            Starts::Same(point) => {
                length("the start", point.len(), d)?;
                point.repeat(self.chains)
            }
            Starts::Each(points) => {
                length("the list of starts", points.len(), entries)?;
                points.clone()
            }
        };
        Ensemble::new(self.potential, self.seed, &starts, self.kernel.smoothness())?
            .with_team(&self.team)
    }

    /// Makes what is left of the run, given chains that were stopped or restored on the way. Their
    /// draws are those of a run that was not interrupted; a run with more draws can go on where one
    /// with fewer ended. The potential is that of the chains.
    ///
    /// # Errors
    /// As [`Sampler::run`], and for another number of chains. Draws that a sink did not take wait
    /// in the ensemble, and the next call begins with them.
    pub fn go_on(
        &mut self,
        ensemble: &mut Ensemble<'_>,
        sink: &mut dyn Sink,
    ) -> Result<Outcome, Error> {
        let steps = self.steps()?;
        if ensemble.chains() != self.chains {
            return Err(Error::Ensemble { got: ensemble.chains(), need: self.chains });
        }
        length("a state of the ensemble", ensemble.dimension(), self.potential.dimension())?;
        match self.make(ensemble, sink, steps) {
            Err(Error::Elsewhere) => Err(Error::Elsewhere),
            // A process that fails tells the others before it ends, so that none waits for it.
            done => match self.team.agree(Agenda { failed: done.is_err(), ..Agenda::default() }) {
                Some(_) => done,
                None => done.and(Err(Error::Elsewhere)),
            },
        }
    }

    /// Whatever fails, fails between two agreements: all processes are then about to agree on how
    /// to go on.
    fn make(
        &mut self,
        ensemble: &mut Ensemble<'_>,
        sink: &mut dyn Sink,
        steps: u64,
    ) -> Result<Outcome, Error> {
        let began = Instant::now();
        let mut kept = 0;
        sink.begin(self.chains, ensemble.dimension())
            .map_err(|source| Error::Sink { kept, source })?;
        let mut pace =
            Pace::new(self.chains.saturating_mul(ensemble.dimension()), self.schedule.thin);
        let mut stopped = false;
        let mut told = Instant::now();
        while ensemble.steps() < steps && ensemble.running() > 0 {
            let stop = self.stop.is_some_and(|signal| signal.load(Ordering::Relaxed));
            if !stop {
                self.save(ensemble, sink, kept, false)?;
            }
            let wanted = Agenda { steps: pace.steps, stop, failed: false };
            let agreed = self.team.agree(wanted).ok_or(Error::Elsewhere)?;
            if agreed.stop {
                stopped = true;
                break;
            }
            pace.steps = agreed.steps;
            let (left, schedule) = (steps - ensemble.steps(), self.schedule);
            pace.measure(left, |leg| ensemble.leg(self.kernel, leg, schedule))?;
            ensemble.deliver(sink, &mut kept)?;
            if told.elapsed() >= LEG {
                sink.flush().map_err(|source| Error::Sink { kept, source })?;
                self.tell(ensemble, steps, began);
                told = Instant::now();
            }
        }
        sink.flush().map_err(|source| Error::Sink { kept, source })?;
        self.save(ensemble, sink, kept, stopped)?;
        self.tell(ensemble, steps, began);
        Ok(Outcome {
            chains: self.reports(ensemble),
            stopped,
            seconds: began.elapsed().as_secs_f64(),
        })
    }

    /// Hands the state to the sink, if it is time or if it must be. No draw may be waiting.
    fn save(
        &mut self,
        ensemble: &Ensemble<'_>,
        sink: &mut dyn Sink,
        kept: u64,
        now: bool,
    ) -> Result<(), Error> {
        let Some(saving) = &mut self.saving else { return Ok(()) };
        if !(now || saving.due()) {
            return Ok(());
        }
        let began = Instant::now();
        let Schedule { warm_up, thin } = self.schedule;
        let state = SavedRun { ensemble: ensemble.snapshot(), warm_up, thin, looks: None };
        sink.checkpoint(state).map_err(|source| Error::Sink { kept, source })?;
        saving.last = Some((Instant::now(), began.elapsed()));
        Ok(())
    }

    fn tell(&mut self, ensemble: &Ensemble<'_>, of: u64, began: Instant) {
        if let Some(tell) = &mut self.progress {
            tell(&Progress {
                steps: ensemble.steps(),
                of,
                draws: self.schedule.draws(ensemble.steps()),
                gradients: ensemble.gradients(),
                seconds: began.elapsed().as_secs_f64(),
                running: ensemble.running(),
            });
        }
    }

    fn reports(&self, ensemble: &Ensemble<'_>) -> Vec<ChainReport> {
        let reports = ensemble.members_in_order().into_iter().map(|chain| {
            let draws = self.schedule.draws(chain.steps);
            let status = match &chain.end {
                Some(end) => ChainStatus::Ended(end.clone()),
                None if draws >= self.draws => ChainStatus::Complete,
                None => ChainStatus::Stopped,
            };
            let (steps, gradients, acceptance) = (chain.steps, chain.gradients, chain.acceptance);
            ChainReport { status, steps, draws, gradients, acceptance }
        });
        reports.collect()
    }

    /// Steps of the whole run, if its counts are good.
    fn steps(&self) -> Result<u64, Error> {
        for (name, zero) in [
            ("chains", self.chains == 0),
            ("draws", self.draws == 0),
            ("thin", self.schedule.thin == 0),
        ] {
            if zero {
                return Err(Error::Zero { name });
            }
        }
        let steps = self.draws.checked_mul(self.schedule.thin);
        steps
            .and_then(|steps| steps.checked_add(self.schedule.warm_up))
            .ok_or(Error::TooMany { what: "steps" })
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
        Self { steps: 1, most: draws.saturating_mul(thin) }
    }

    /// Makes the next steps, at most `left`.
    fn measure<E>(&mut self, left: u64, make: impl FnOnce(u64) -> Result<(), E>) -> Result<(), E> {
        let steps = self.steps.min(left);
        let began = Instant::now();
        make(steps)?;
        let took = began.elapsed();
        if took < LEG / 2 {
            self.steps = steps.saturating_mul(2).min(self.most);
        } else if took > LEG * 2 {
            self.steps = (steps / 2).max(1);
        }
        Ok(())
    }
}

/// When a state was saved, and when the next is.
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

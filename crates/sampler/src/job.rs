//! Work on a thread of its own, to be watched, cancelled and waited for.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle};

use crate::automatic::{Decision, Length, Look, Sampled, Target, WarmUp};
use crate::draws::Draws;
use crate::error::{Error, panic_message};
use crate::outcome::Progress;
use crate::saved::SavedWarmUp;
use crate::sink::{Sink, SinkError};

/// How far a [`Job`] is.
#[derive(Debug, Clone, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct JobStatus {
    /// Decisions of the warm-up so far.
    pub decisions: Vec<Decision>,
    /// Progress of the run, once it has begun.
    pub progress: Option<Progress>,
    /// The last look at the effective sample size.
    pub look: Option<Look>,
}

/// What a job shares with the thread that started it.
#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    status: Mutex<JobStatus>,
    draws: Mutex<Draws>,
}

/// The content of a lock. A thread may have panicked while holding it, but the content is
/// consistent after every write.
fn open<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The working side of a [`Job`]: it reads the stop signal and reports progress.
#[derive(Debug, Clone)]
pub struct Watch {
    shared: Arc<Shared>,
}

impl Watch {
    /// The signal that [`Job::cancel`] sets, for [`WarmUp::stop`] and
    /// [`Run::stop`](crate::automatic::Run::stop).
    #[must_use]
    pub fn stop(&self) -> &AtomicBool {
        &self.shared.stop
    }

    /// Whether the job was cancelled.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Reports a decision of a warm-up.
    pub fn decided(&self, decision: &Decision) {
        open(&self.shared.status).decisions.push(decision.clone());
    }

    /// Reports how far a run is.
    pub fn report(&self, progress: &Progress, look: Option<Look>) {
        let mut status = open(&self.shared.status);
        (status.progress, status.look) = (Some(*progress), look);
    }

    /// A sink whose draws [`Job::draws`] shows while the job is running.
    #[must_use]
    pub fn sink(&self) -> WatchedDraws {
        WatchedDraws { shared: Arc::clone(&self.shared), fresh: Vec::new() }
    }
}

/// A [`Sink`] into the draws of a [`Job`]. It locks them once per delivery, not per draw.
#[derive(Debug)]
pub struct WatchedDraws {
    shared: Arc<Shared>,
    fresh: Vec<(usize, u64, Vec<f64>)>,
}

impl WatchedDraws {
    /// Forgets the draws of the present run.
    ///
    /// # Errors
    /// None: for sinks that can fail.
    pub fn forget(&mut self) -> Result<(), SinkError> {
        self.fresh.clear();
        open(&self.shared.draws).forget();
        Ok(())
    }
}

impl Sink for WatchedDraws {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        open(&self.shared.draws).begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.fresh.push((chain, draw, point.to_vec()));
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        let mut draws = open(&self.shared.draws);
        for (chain, draw, point) in self.fresh.drain(..) {
            draws.keep(chain, draw, &point)?;
        }
        Ok(())
    }

    fn restart(&mut self, _: &SavedWarmUp) -> Result<bool, SinkError> {
        self.forget()?;
        Ok(true)
    }
}

/// Work on a thread of its own.
///
/// ```
/// use std::sync::Arc;
///
/// use ridgewalk_potentials::FromFn;
/// use ridgewalk_sampler::Job;
/// use ridgewalk_sampler::automatic::{BlackBox, Length};
///
/// let gradient = FromFn::new(1, |x: &[f64], g: &mut [f64]| { g[0] = x[0] + x[0].powi(3); Ok(()) });
/// let target = Arc::new(BlackBox::new(gradient, 3, &[0.5])?);
/// // More draws than anybody can wait for.
/// let job = Job::sample(target, Length::Draws(1 << 40), |warm_up| warm_up.chains(4).seed(1))?;
/// while job.status().progress.is_none_or(|progress| progress.draws < 100) {
///     std::thread::yield_now();
/// }
/// assert!(!job.finished());
/// job.cancel();
/// let (sampled, draws) = job.join()?;
/// assert!(sampled?.outcome.stopped);
/// assert!(draws.common() >= 100);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// [`Job::start`] takes any work. What it returns is handed over by [`Job::join`]:
///
/// ```
/// let job = ridgewalk_sampler::Job::start(|watch| {
///     while !watch.cancelled() {
///         std::thread::yield_now();
///     }
///     "cancelled"
/// })?;
/// job.cancel();
/// assert_eq!(job.join()?.0, "cancelled");
/// # Ok::<(), ridgewalk_sampler::Error>(())
/// ```
///
/// A job that is dropped goes on; cancel it first if it should not.
#[derive(Debug)]
pub struct Job<T> {
    shared: Arc<Shared>,
    thread: JoinHandle<T>,
}

impl<T: Send + 'static> Job<T> {
    /// Starts some work, which should read [`Watch::cancelled`] or pass on [`Watch::stop`].
    ///
    /// # Errors
    /// [`Error::Thread`] where no thread can be started.
    pub fn start(work: impl FnOnce(&Watch) -> T + Send + 'static) -> Result<Self, Error> {
        Self::start_into(Draws::default(), work)
    }

    /// The same, with draws that have names or are to be added to.
    ///
    /// # Errors
    /// As [`Job::start`].
    pub fn start_into(
        draws: Draws, work: impl FnOnce(&Watch) -> T + Send + 'static,
    ) -> Result<Self, Error> {
        let shared = Arc::new(Shared { draws: Mutex::new(draws), ..Shared::default() });
        let watch = Watch { shared: Arc::clone(&shared) };
        let thread = Builder::new().name("ridgewalk".to_owned()).spawn(move || work(&watch));
        let thread = thread.map_err(|source| Error::Thread { source })?;
        Ok(Self { shared, thread })
    }

    /// How far it is.
    #[must_use]
    pub fn status(&self) -> JobStatus {
        open(&self.shared.status).clone()
    }

    /// A copy of the draws so far.
    #[must_use]
    pub fn draws(&self) -> Draws {
        open(&self.shared.draws).clone()
    }

    /// Looks at the draws so far without a copy. The job waits with its next draws meanwhile.
    pub fn inspect<R>(&self, look: impl FnOnce(&Draws) -> R) -> R {
        look(&open(&self.shared.draws))
    }

    /// Asks it to end. Runs of this crate end within about a tenth of a second.
    pub fn cancel(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it has ended.
    #[must_use]
    pub fn finished(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for its end. What the work returned, and the draws.
    ///
    /// # Errors
    /// [`Error::Panic`] if it panicked.
    pub fn join(self) -> Result<(T, Draws), Error> {
        let value = self
            .thread
            .join()
            .map_err(|payload| Error::Panic { message: panic_message(&*payload) })?;
        let draws = std::mem::take(&mut *open(&self.shared.draws));
        Ok((value, draws))
    }
}

impl Job<Result<Sampled, Error>> {
    /// A warm-up and the run after it, into the job's draws. `set` chooses the settings of the
    /// warm-up.
    ///
    /// Cancelled in the warm-up, the result is [`Error::Stopped`]; later, the draws so far are
    /// there.
    ///
    /// # Errors
    /// As [`Job::start`].
    pub fn sample<T: Target + Send + 'static>(
        target: Arc<T>, length: Length,
        set: impl for<'a> FnOnce(WarmUp<'a, T>) -> WarmUp<'a, T> + Send + 'static,
    ) -> Result<Self, Error> {
        Self::start(move |watch| {
            let decided = |decision: &Decision| watch.decided(decision);
            let warm_up = set(WarmUp::new(&*target)).stop(watch.stop()).watch(&decided);
            let mut warm = warm_up.run()?;
            let run = warm.run(length).stop(watch.stop());
            run.progress(|progress, look| watch.report(progress, look)).keep(&mut watch.sink())
        })
    }
}

//! Work in the background while Python stays responsive: Ctrl-C stops it, and progress is shown.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use ridgewalk::pipeline::{LooProgress, Observer, Stage};
use ridgewalk::sampler::Progress;
use ridgewalk::sampler::automatic::Decision;

use crate::errors::failed;

/// How often signals are looked at and progress is shown.
const EVERY: Duration = Duration::from_millis(50);
/// A second Ctrl-C within this time belongs to the first.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far some work is, and whether it should stop.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// Whether it should stop.
    pub(crate) stop: AtomicBool,
    stage: Mutex<&'static str>,
    done: AtomicU64,
    of: AtomicU64,
}

impl Watch {
    /// A stage begins.
    pub(crate) fn enter(&self, stage: &'static str) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.report(0, 0);
    }

    /// So much is done of so much; of 0 if that is not known.
    pub(crate) fn report(&self, done: u64, of: u64) {
        self.done.store(done, Ordering::Relaxed);
        self.of.store(of, Ordering::Relaxed);
    }

    /// The progress of cross-validation.
    pub(crate) fn loo(&self, progress: LooProgress) {
        let (stage, done, of) = match progress {
            LooProgress::Rows(done, of) => ("rows", done, of),
            LooProgress::Refits(done, of) => ("refits", done, of),
        };
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.report(done as u64, of as u64);
    }

    fn seen(&self) -> (&'static str, u64, u64) {
        let stage = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        (stage, self.done.load(Ordering::Relaxed), self.of.load(Ordering::Relaxed))
    }
}

impl Observer for Watch {
    fn stage(&self, stage: Stage) {
        self.enter(match stage {
            Stage::Mode => "mode",
            Stage::WarmUp => "warm-up",
            Stage::Sampling => "sampling",
            _ => "summary",
        });
    }

    fn restart(&self, _: &Decision) {
        self.enter("sampling again");
    }

    fn progress(&self, progress: &Progress) {
        self.report(progress.steps, progress.of);
    }
}

/// Runs `work` on a thread of its own, without the interpreter lock. The first Ctrl-C asks it to
/// stop, and what it then returns is returned; a second one is raised at once. `show` is called with
/// stage, done and of.
pub(crate) fn watched<T: Send + 'static>(
    py: Python<'_>, show: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let (send, receive) = channel();
    let inner = Arc::clone(&watch);
    let worker = std::thread::Builder::new().name("ridgewalk".into()).spawn(move || {
        // Nobody listens after a second Ctrl-C.
        let _ = send.send(work(&inner));
    })?;
    let mut stopped: Option<Instant> = None;
    let mut last = None;
    let mut receive = Mutex::new(receive);
    loop {
        let found = py.detach(|| {
            receive.get_mut().unwrap_or_else(PoisonError::into_inner).recv_timeout(EVERY)
        });
        match found {
            Ok(found) => {
                // The thread has nothing left to do.
                let _ = py.detach(|| worker.join());
                return Ok(found);
            }
            Err(RecvTimeoutError::Disconnected) => {
                return Err(failed(
                    "the run panicked: this is an error in ridgewalk, please report it",
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Err(signal) = py.check_signals() {
            watch.stop.store(true, Ordering::Relaxed);
            let again = stopped.is_some_and(|since| since.elapsed() > PATIENCE);
            if again || !signal.is_instance_of::<PyKeyboardInterrupt>(py) {
                return Err(signal);
            }
            stopped.get_or_insert_with(Instant::now);
            watch.enter("stopping");
        }
        if let Some(show) = show
            && last != Some(watch.seen())
        {
            last = Some(watch.seen());
            if let Err(error) = show.call1(watch.seen()) {
                watch.stop.store(true, Ordering::Relaxed);
                return Err(error);
            }
        }
    }
}

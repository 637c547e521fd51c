//! Signals that end a run. The first asks it to stop, and is told at once; the second ends the program.
//! Signals that were ignored when the program began, as by `nohup`, stay ignored.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use crate::fit::options::Voice;
use crate::fit::progress::write_line;

/// How long work may take to stop by itself. A search for the mode, and much of what is done with
/// matrices, looks at the signal when it is done.
const GRACE: Duration = Duration::from_millis(1200);
/// The exit code of programs that a signal ended.
const STOPPED: i32 = 130;

/// A flag that is set at the first Ctrl-C, SIGTERM or SIGHUP. The second ends the program at once.
pub fn stop_signal(voice: Voice) -> Arc<AtomicBool> {
    install(voice, Duration::ZERO, None)
}

/// The same for a program that another one starts: a signal that follows the first within `soon` is
/// the same request, passed on twice.
pub fn stop_signal_and_again(voice: Voice, soon: Duration) -> Arc<AtomicBool> {
    install(voice, soon, None)
}

/// The same for a run in a directory. If it has no draws yet and takes longer than two seconds to
/// stop, the program ends as if it had been killed: what is on the disk is always a run that can be
/// resumed. Draws get their summary and report, which is told if it takes longer.
pub fn stop_run(voice: Voice, directory: &Path) -> Arc<AtomicBool> {
    let directory = directory.to_owned();
    install(voice, Duration::ZERO, Some(Arc::new(move || left_behind(&directory))))
}

/// The same for work that writes nothing.
pub(crate) fn stop_reading(voice: Voice) -> Arc<AtomicBool> {
    install(voice, Duration::ZERO, Some(Arc::new(|| Late::Ends("error: stopped".to_owned()))))
}

/// What becomes of work that has not stopped by itself in time, and what is said of it.
enum Late {
    Ends(String),
    GoesOn(String),
}

type Look = Arc<dyn Fn() -> Late + Send + Sync>;

fn install(voice: Voice, soon: Duration, late: Option<Look>) -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let signal = Arc::clone(&stop);
    let first = OnceLock::new();
    let said = !voice.quiet && !voice.json;
    let ignored = ignored::found();
    // This fails only if another handler is installed; Ctrl-C then ends the run as by default.
    let _ = ctrlc::set_handler(move || {
        let since = first.get_or_init(Instant::now).elapsed();
        if signal.swap(true, Ordering::Relaxed) {
            if since >= soon {
                end();
            }
            return;
        }
        if said {
            write_line("stopping... (Ctrl-C again ends the program at once)");
        }
        if let Some(late) = late.clone() {
            // This thread waits for the second signal.
            let wait = move || {
                std::thread::sleep(GRACE);
                match late() {
                    Late::Ends(text) => {
                        write_line(&text);
                        end();
                    }
                    Late::GoesOn(text) if said => write_line(&text),
                    Late::GoesOn(_) => {}
                }
            };
            let _ = std::thread::Builder::new().name("stopping".into()).spawn(wait);
        }
    });
    ignored::restore(&ignored);
    stop
}

#[allow(clippy::exit, reason = "asked for by a signal")]
fn end() -> ! {
    std::process::exit(STOPPED)
}

/// What a run has left that has not stopped by itself in time.
fn left_behind(directory: &Path) -> Late {
    let shown = directory.display();
    let again = format!("`ridgewalk resume {shown}` continues the run");
    if directory.join("draws.zarr").exists() {
        Late::GoesOn(format!(
            "the draws so far are in {shown}, and their summary is being written; {again}"
        ))
    } else if directory.join("checkpoint").exists() {
        let text =
            format!("error: stopped: {shown} has the run up to its last checkpoint; {again}");
        Late::Ends(text)
    } else {
        Late::Ends("error: stopped: nothing was written yet".to_owned())
    }
}

#[cfg(unix)]
mod ignored {
    use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

    const SIGNALS: [Signal; 3] = [Signal::SIGHUP, Signal::SIGINT, Signal::SIGTERM];

    fn ignoring() -> SigAction {
        SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty())
    }

    /// The signals that are ignored now.
    pub(super) fn found() -> Vec<Signal> {
        SIGNALS.into_iter().filter(|signal| is_ignored(*signal)).collect()
    }

    /// There is no other way to look than to set an action, and to put the earlier one back.
    #[allow(unsafe_code)]
    fn is_ignored(signal: Signal) -> bool {
        // SAFETY: the action that is set is to ignore the signal, which runs no code; the one that is
        // put back was in force until now.
        unsafe {
            let Ok(before) = sigaction(signal, &ignoring()) else { return false };
            let ignored = matches!(before.handler(), SigHandler::SigIgn);
            let _ = sigaction(signal, &before);
            ignored
        }
    }

    /// Ignores these signals again.
    #[allow(unsafe_code)]
    pub(super) fn restore(signals: &[Signal]) {
        for signal in signals {
            // SAFETY: to ignore a signal runs no code.
            let _ = unsafe { sigaction(*signal, &ignoring()) };
        }
    }
}

#[cfg(not(unix))]
mod ignored {
    /// There is no such state.
    pub(super) fn found() {}

    pub(super) fn restore(_: &()) {}
}

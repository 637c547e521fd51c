//! What a user sees while a fit runs: a moving line on a terminal, plain lines elsewhere, nothing
//! with `--quiet`. All on standard error.

use std::cell::RefCell;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ridgewalk::diagnostics::Summarizer;
use ridgewalk::sampler::{Draws as Kept, Progress};

/// How often a plain line is written.
const PLAIN: Duration = Duration::from_secs(10);
/// How often the effective sample size is looked at, unless that would take more than a twentieth
/// of the time.
const LOOK: Duration = Duration::from_secs(1);
/// Coefficients whose effective sample size is looked at on the way.
const LOOKED_AT: usize = 16;

/// Where progress goes.
#[derive(Debug)]
pub(super) struct Display {
    quiet: bool,
    bar: Option<ProgressBar>,
    last: RefCell<Last>,
}

#[derive(Debug)]
struct Last {
    phase: &'static str,
    plain: Instant,
    looked: Instant,
    cost: Duration,
    ess: Option<f64>,
    workspace: Summarizer,
    /// When sampling began in this process, and the steps and gradients of those before it.
    from: Option<(Instant, u64, u64)>,
}

impl Display {
    pub(super) fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(spinner());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let now = Instant::now();
        let last = Last {
            phase: "",
            plain: now,
            looked: now,
            cost: Duration::ZERO,
            ess: None,
            workspace: Summarizer::new(),
            from: None,
        };
        Self { quiet, bar, last: RefCell::new(last) }
    }

    /// A line that stays.
    pub(super) fn say(&self, line: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| write_line(line)),
            None => write_line(line),
        }
    }

    /// What is going on from now on.
    pub(super) fn phase(&self, what: &'static str) {
        if std::mem::replace(&mut self.last.borrow_mut().phase, what) == what {
            return;
        }
        match &self.bar {
            Some(bar) => bar.set_message(what),
            None => self.say(what),
        }
    }

    /// How far the sampling is. `draws` are those so far, if they are in memory.
    pub(super) fn sampling(&self, progress: &Progress, draws: &Kept) {
        if self.quiet {
            return;
        }
        let last = &mut *self.last.borrow_mut();
        let now = Instant::now();
        let due = now.duration_since(last.looked) > LOOK.max(20 * last.cost);
        if due && draws.draws(0) >= 50 {
            last.ess = smallest_ess(draws, &mut last.workspace);
            (last.cost, last.looked) = (now.elapsed(), Instant::now());
        }
        let (began, steps, gradients) =
            *last.from.get_or_insert((now, progress.steps, progress.gradients));
        let pace = Pace {
            seconds: now.duration_since(began).as_secs_f64(),
            steps: progress.steps.saturating_sub(steps),
            gradients: progress.gradients.saturating_sub(gradients),
        };
        if let Some(bar) = &self.bar {
            bar.set_length(progress.of);
            bar.set_position(progress.steps);
            bar.set_style(moving());
            bar.set_message(line(progress, &pace, last.ess));
        } else if now.duration_since(last.plain) > PLAIN {
            last.plain = now;
            write_line(&format!("  {}", line(progress, &pace, last.ess)));
        }
    }

    /// Takes the moving line away.
    pub(super) fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// What this process has done, and how long that took.
struct Pace {
    seconds: f64,
    steps: u64,
    gradients: u64,
}

/// One line: share, effective draws, speed, time left.
fn line(progress: &Progress, pace: &Pace, ess: Option<f64>) -> String {
    let Progress { steps, of, draws, .. } = *progress;
    let Pace { seconds, steps: made, gradients } = *pace;
    let share = 100.0 * steps as f64 / of.max(1) as f64;
    let ess = ess.map_or(String::new(), |ess| format!(", smallest ESS {ess:.0}"));
    let speed = if seconds > 0.0 { gradients as f64 / seconds } else { 0.0 };
    let left =
        if made > 0 { seconds * (of.saturating_sub(steps)) as f64 / made as f64 } else { 0.0 };
    format!(
        "{share:.0} %, {draws} draws a chain{ess}, {} gradients/s, {} left",
        thousands(speed),
        time(left)
    )
}

fn thousands(number: f64) -> String {
    if number >= 1e6 {
        format!("{:.1} M", number / 1e6)
    } else if number >= 1e4 {
        format!("{:.0} k", number / 1e3)
    } else {
        format!("{number:.0}")
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "seconds")]
fn time(seconds: f64) -> String {
    let whole = seconds.ceil() as u64;
    match whole {
        0..=99 => format!("{whole} s"),
        100..=5999 => format!("{} min", whole.div_ceil(60)),
        _ => format!("{:.1} h", seconds / 3600.0),
    }
}

fn smallest_ess(draws: &Kept, workspace: &mut Summarizer) -> Option<f64> {
    let d = draws.dimension();
    let every = d.div_ceil(LOOKED_AT).max(1);
    let found = (0..d).step_by(every).filter_map(|k| {
        let traces: Vec<Vec<f64>> =
            (0..draws.chains()).map(|chain| draws.trace(chain, k)).collect();
        let shortest = traces.iter().map(Vec::len).min()?;
        let traces: Vec<&[f64]> = traces.iter().map(|trace| &trace[..shortest]).collect();
        workspace.ess_bulk(&traces).ok()
    });
    found.reduce(f64::min)
}

fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
}

fn moving() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} sampling {bar:24} {msg}")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
}

/// Standard error may be closed; a run does not end for that.
pub(super) fn write_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

//! Progress of a fit on standard error: a moving line on a terminal, plain lines elsewhere, nothing
//! with `--quiet`.

use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use ridgewalk::diagnostics::Summarizer;
use ridgewalk::pipeline::{Memory, MemoryPlan, Model, Observer, Stage};
use ridgewalk::sampler::automatic::Decision;
use ridgewalk::sampler::{Draws, Progress, Sink};

use crate::fit::options::Voice;
use crate::output;

/// Maximum number of values kept for the progress line; above it, no effective sample size is
/// shown.
const RECENT: usize = 1 << 22;
/// How often a plain line is written.
const PLAIN: Duration = Duration::from_secs(10);
/// How often the effective sample size is computed, unless that would take more than a twentieth of
/// the time.
const LOOK: Duration = Duration::from_secs(1);
/// Number of coefficients whose effective sample size is computed during the run.
const LOOKED_AT: usize = 16;

/// Displays progress.
#[derive(Debug)]
pub struct Display {
    quiet: bool,
    bar: Option<ProgressBar>,
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    stage: Option<Stage>,
    plain: Instant,
    looked: Instant,
    cost: Duration,
    ess: Option<f64>,
    summarizer: Summarizer,
    /// When sampling began in this process, and the steps and gradients of earlier processes.
    from: Option<(Instant, u64, u64)>,
    /// The draws so far, as long as they are few, and the remaining capacity.
    draws: Draws,
    room: usize,
}

/// Memory that is told without being asked for.
const MUCH: Memory = Memory(1 << 30);

impl Display {
    /// Progress on standard error, unless `--quiet`.
    #[must_use]
    pub fn new(voice: Voice) -> Self {
        let quiet = voice.quiet || voice.json;
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            bar.set_style(spinner());
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        let now = Instant::now();
        let last = Last {
            stage: None,
            plain: now,
            looked: now,
            cost: Duration::ZERO,
            ess: None,
            summarizer: Summarizer::new(),
            from: None,
            draws: Draws::default(),
            room: if quiet { 0 } else { RECENT },
        };
        Self { quiet, bar, last: Mutex::new(last) }
    }

    /// Prints a permanent line.
    pub fn say(&self, line: &str) {
        if self.quiet {
            return;
        }
        match &self.bar {
            Some(bar) => bar.suspend(|| write_line(&folded(line))),
            None => write_line(line),
        }
    }

    /// Removes the moving line.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        // A panic elsewhere cannot leave an inconsistent state that matters here.
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Observer for Display {
    fn prepared(&self, model: &Model) {
        let frame = model.frame();
        self.say(&format!(
            "{}: {} rows, {} coefficients, {} model",
            frame.file,
            frame.all_rows,
            frame.columns,
            model.family()
        ));
        if let Some(words) = model.memory().and_then(memory) {
            self.say(&words);
        }
    }

    fn stage(&self, stage: Stage) {
        if self.last().stage.replace(stage) == Some(stage) {
            return;
        }
        let words = match stage {
            Stage::Mode => "finding the mode",
            Stage::WarmUp => "warming up",
            Stage::Sampling => "sampling",
            Stage::Summary => "summary and report",
            _ => "working",
        };
        match &self.bar {
            Some(bar) => bar.set_message(words),
            None => self.say(words),
        }
    }

    fn decision(&self, decision: &Decision) {
        self.say(&format!("  {decision}"));
    }

    fn resumed(&self, draws: u64) {
        self.say(&format!("  resuming after {draws} draws per chain"));
    }

    fn begin(&self, chains: usize, dimension: usize) {
        // Chains of another shape are not kept.
        let last = &mut *self.last();
        if last.draws.begin(chains, dimension).is_err() {
            last.room = 0;
        }
    }

    fn draw(&self, chain: usize, point: &[f64]) {
        if self.quiet {
            return;
        }
        let last = &mut *self.last();
        match last.room.checked_sub(point.len()) {
            Some(room) if last.draws.keep(chain, 0, point).is_ok() => last.room = room,
            _ => last.room = 0,
        }
    }

    fn restart(&self, decision: &Decision) {
        self.decision(decision);
        let last = &mut *self.last();
        (last.draws, last.ess, last.from) = (Draws::default(), None, None);
        last.room = if self.quiet { 0 } else { RECENT };
    }

    fn progress(&self, progress: &Progress) {
        if self.quiet {
            return;
        }
        let last = &mut *self.last();
        let now = Instant::now();
        let due = now.duration_since(last.looked) > LOOK.max(20 * last.cost);
        if due && last.draws.draws(0) >= 50 {
            last.ess = smallest_ess(&last.draws, &mut last.summarizer);
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
}

/// Work done by this process, and the time it took.
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
        "{share:.0} %, {draws} draws per chain{ess}, {} gradients/s, {} left",
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

fn smallest_ess(draws: &Draws, summarizer: &mut Summarizer) -> Option<f64> {
    let d = draws.dimension();
    let every = d.div_ceil(LOOKED_AT).max(1);
    let found = (0..d).step_by(every).filter_map(|k| {
        let traces: Vec<Vec<f64>> =
            (0..draws.chains()).map(|chain| draws.trace(chain, k)).collect();
        let shortest = traces.iter().map(Vec::len).min()?;
        let traces: Vec<&[f64]> = traces.iter().map(|trace| &trace[..shortest]).collect();
        summarizer.ess_bulk(&traces).ok()
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

/// A line for the terminal, broken at blanks. It keeps its indentation.
fn folded(line: &str) -> String {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let width = output::width_of(std::io::stderr()).saturating_sub(indent);
    format!("{}{}", " ".repeat(indent), output::wrapped(text, width, indent + 2))
}

/// Standard error may be closed; the run continues.
pub fn write_line(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// What a fit takes of the memory, where that is much or was asked for.
fn memory(plan: &MemoryPlan) -> Option<String> {
    let bound = plan.bound.map_or(String::new(), |bound| format!(" of {bound}"));
    let takes = format!("  memory: about {}{bound}", plan.needs);
    match &plan.file {
        Some((size, directory)) => Some(format!(
            "{takes}; the design is on the disk, and is read once a step for all chains: up to {size} in \
             {}, removed at the end",
            directory.display()
        )),
        None => (plan.asked || plan.needs >= MUCH).then_some(takes),
    }
}

//! Commands on a finished run: predictions, effects, cross-validation, comparison and export.

pub(crate) mod compare;
pub(crate) mod effects;
mod effects_plot;
pub(crate) mod export;
pub(crate) mod loo;
pub(crate) mod predict;

use std::io::IsTerminal;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use ridgewalk::StoredFit;
use ridgewalk::pipeline::{LooProgress, Memory};

use crate::failure::Failure;
use crate::fit::options::Voice;
use crate::fit::progress::write_line;

/// A bound of the memory.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct MemoryOption {
    /// The most memory to use, such as 1GiB: packed data that need more are read block by block
    /// [default: as at the fit]
    #[arg(long, value_name = "SIZE")]
    memory: Option<Memory>,
}

/// Opens a run. What was wrong with its draws is wrong with everything that follows from them.
fn open(path: &Path, within: MemoryOption) -> Result<StoredFit, Failure> {
    let run = StoredFit::open(path)?.within(within.memory);
    let status = &run.document().sampler.status;
    if status != "ok" {
        let path = path.display();
        write_line(&format!(
            "warning: {path} has warnings ({status}); `ridgewalk summary {path}` explains them"
        ));
    }
    Ok(run)
}

/// A bar on a terminal, a line now and then elsewhere.
struct Counter {
    bar: Option<ProgressBar>,
    quiet: bool,
    told: std::sync::Mutex<Instant>,
}

/// How often a plain line is written.
const PLAIN: Duration = Duration::from_secs(10);

impl Counter {
    fn new(voice: Voice) -> Self {
        let quiet = voice.quiet || voice.json;
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(0);
            let style =
                ProgressStyle::with_template("{msg} {human_pos} of {human_len} {wide_bar} {eta}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar
        });
        Self { bar, quiet, told: std::sync::Mutex::new(Instant::now()) }
    }

    fn show(&self, what: &'static str, done: u64, of: Option<u64>) {
        if let Some(bar) = &self.bar {
            // Without a known end there is nothing to draw a bar of.
            if of.is_none()
                && let Ok(style) = ProgressStyle::with_template("{human_pos} {msg}")
            {
                bar.set_style(style);
            }
            bar.set_message(what);
            bar.set_length(of.unwrap_or(done));
            bar.set_position(done);
            return;
        }
        let mut told = self.told.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if !self.quiet && told.elapsed() >= PLAIN {
            *told = Instant::now();
            let of = of.map(|of| format!(" of {of}")).unwrap_or_default();
            write_line(&format!("  {what} {done}{of}"));
        }
    }

    fn loo(&self, progress: LooProgress) {
        match progress {
            LooProgress::Rows(done, of) => self.show("row", done as u64, Some(of as u64)),
            LooProgress::Refits(done, of) => self.show("refit", done as u64, Some(of as u64)),
        }
    }

    fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

//! `ridgewalk fit` and `ridgewalk resume`: turn options into settings, run the fit in the library,
//! and print the results.

mod formats;
mod layout;
pub mod options;
pub mod progress;
pub(crate) mod summary;
mod table;

use std::path::Path;

use ridgewalk::pipeline::Data;
use ridgewalk::store::{OpenRun, RunDirectory, read_summary};
use ridgewalk::{Settings, StoredFit, fit_data_into, resume_data, settings_of};

use crate::failure::Failure;
use crate::output;
use crate::signals::stop_run;
use options::{FitOptions, ResumeOptions, Voice};
use progress::Display;
use table::Run;

/// Runs `ridgewalk fit`.
pub(crate) fn run(options: &FitOptions) -> Result<(), Failure> {
    let settings = options.settings()?;
    settings.validate()?;
    let data = Data::open(&settings)?;
    // Before this point there is nothing to keep: a signal ends the program at once, even while it
    // waits for a pipe.
    let stop = stop_run(options.voice, &settings.out);
    let display = Display::new(options.voice);
    let done = fit_data_into(&data, &settings, &stop, &display);
    display.end();
    print(&done?, options.voice)
}

/// Runs `ridgewalk resume`.
pub(crate) fn resume(options: &ResumeOptions) -> Result<(), Failure> {
    let Some(run) = OpenRun::resume(&options.directory)? else { return finished(options) };
    let shards = run.config().processes.row_shards;
    if shards > 1 {
        let (shown, again) =
            (options.directory.display(), resume_command(shards, &options.directory));
        return Err(Failure::Usage(format!(
            "{shown} has its rows in {shards} shards, which sets the order of summation: resume it with `{again}`"
        )));
    }
    let settings = settings_of(&run, options.threads);
    let settings = Settings { memory: options.memory.or(settings.memory), ..settings };
    settings.validate()?;
    let data = Data::open(&settings)?;
    let stop = stop_run(options.voice, &options.directory);
    let display = Display::new(options.voice);
    let done = resume_data(run, &data, &settings, &stop, &display);
    display.end();
    print(&done?, options.voice)
}

/// Prints the table of a run that is already finished.
pub fn finished(options: &ResumeOptions) -> Result<(), Failure> {
    let directory = RunDirectory::open(&options.directory)?;
    let document = read_summary(&directory.summary())?;
    let Voice { quiet, json, hdi } = options.voice;
    if !quiet && !json {
        let out = directory.path().display();
        progress::write_line(&format!("{out} is finished: there is nothing to resume"));
    }
    if json {
        output::json(&document)
    } else {
        let (shown, directory) = (&document, directory.path());
        output::text(&Run { shown, whole: shown, directory, hdi }.text(output::width()))
    }
}

/// Prints the results.
pub fn print(done: &StoredFit, voice: Voice) -> Result<(), Failure> {
    let (document, out) = (done.document(), done.directory().path());
    if voice.json {
        output::json(document)?;
    } else {
        let run = Run { shown: document, whole: document, directory: out, hdi: voice.hdi };
        output::text(&run.text(output::width()))?;
    }
    if document.stopped() {
        let (draws, shards) = (document.sampler.draws, done.config()?.processes.row_shards);
        let (shown, again) = (out.display(), resume_command(shards, out));
        return Err(Failure::Stopped(format!(
            "{draws} draws per chain so far are in {shown}; `{again}` continues the run"
        )));
    }
    Ok(())
}

/// The command that continues a run whose rows are in so many shards.
#[must_use]
pub fn resume_command(shards: usize, out: &Path) -> String {
    let out = out.display();
    match shards {
        0 | 1 => format!("ridgewalk resume {out}"),
        _ => format!("mpirun -n {shards} ridgewalk-mpi resume {out}"),
    }
}

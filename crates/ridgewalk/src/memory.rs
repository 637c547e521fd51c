//! Fits in memory, written to a run directory and read from one.

use std::path::Path;
use std::time::Instant;

use ridgewalk_fit::{self as fit, Config, Fitted, Settings};
use ridgewalk_frame::Table;
use ridgewalk_report::{report, write_report};
use ridgewalk_sampler::{Draws, Sink};
use ridgewalk_store::{
    self as store, OpenRun, RunDirectory, read_draws, write_checks, write_summary,
};

use crate::runs::{RunError, StoredFit};

/// Writes a fit to a new run directory: draws, summary, checks and report. Its data are not written.
///
/// # Errors
/// A path that exists or files that cannot be written; nothing is left behind.
pub fn save(fit: &Fitted, path: &Path) -> Result<StoredFit, RunError> {
    RunDirectory::check(path)?;
    let options = Settings { out: path.to_owned(), ..fit.config().options.clone() };
    let run = OpenRun::begin(path, Config { options, ..fit.config().clone() })?;
    match write(fit, &run) {
        Ok(()) => {
            run.finish()?;
            Ok(StoredFit::open(path)?)
        }
        Err(error) => {
            let _ = std::fs::remove_dir_all(run.directory().draws());
            let _ = std::fs::remove_file(run.directory().summary());
            let _ = std::fs::remove_file(run.directory().checks());
            run.abandon();
            Err(error)
        }
    }
}

fn write(fit: &Fitted, run: &OpenRun) -> Result<(), RunError> {
    let (draws, document, directory) = (fit.draws(), fit.document(), run.directory());
    let mut keeper = run.keeper(document.sampler.thin, None, Instant::now())?;
    pass(draws, &mut keeper).map_err(|cause| match cause.downcast::<store::Error>() {
        Ok(error) => RunError::Store(*error),
        Err(cause) => RunError::Fit(fit::Error::Draws(cause)),
    })?;
    keeper.finish(!document.stopped())?;
    write_summary(document, &directory.summary())?;
    if let Some(checks) = fit.checks()? {
        write_checks(&checks, &directory.checks())?;
    }
    write_report(directory)?;
    Ok(())
}

/// Passes draws to a sink in the order of the run.
fn pass(draws: &Draws, sink: &mut dyn Sink) -> Result<(), ridgewalk_sampler::SinkError> {
    sink.begin(draws.chains(), draws.dimension())?;
    let most = (0..draws.chains()).map(|chain| draws.draws(chain)).max().unwrap_or(0);
    for draw in 0..most {
        for chain in 0..draws.chains() {
            if let Some(point) = draws.point(chain, draw) {
                let stats = draws.stats(chain).get(draw);
                sink.keep_with(chain, draw as u64, point, stats)?;
            }
        }
    }
    sink.flush()
}

/// The report of a fit as HTML: the content of `report.html`.
///
/// # Errors
/// None is known: the draws are in memory.
pub fn report_of(fit: &Fitted) -> Result<String, fit::Error> {
    let config = fit.config().to_toml().unwrap_or_default();
    report(fit.document(), fit.draws(), &config, fit.checks()?.as_ref())
}

impl StoredFit {
    /// The fit with its draws in memory. With its table it can be checked against its data.
    ///
    /// # Errors
    /// Files that cannot be read; [`fit::Error::OtherData`] for a table that was not fitted.
    pub fn load(&self, table: Option<&Table>) -> Result<Fitted, RunError> {
        let draws = read_draws(&self.directory().draws())?;
        Ok(Fitted::from_parts(self.config()?, self.document().clone(), draws, table)?)
    }
}

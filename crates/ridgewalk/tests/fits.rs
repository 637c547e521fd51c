//! Whole fits from Rust: in memory, into a directory, in the background.

use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk::RunError;
use ridgewalk::pipeline::{Error, ErrorKind, Model, Observer, Stage};
use ridgewalk::prelude::*;
use ridgewalk::sampler::Progress;

fn table() -> Table {
    Table::built_in().unwrap()
}

fn settings() -> Settings {
    Settings { draws: 100, chains: 4, seed: 3, ..Settings::built_in() }
}

#[test]
fn memory_and_directory_hold_the_same_draws() {
    let place = tempfile::tempdir().unwrap();
    let settings = Settings { out: place.path().join("run"), ..settings() };
    let fit = ridgewalk::fit(&table(), &settings).unwrap();
    let run = ridgewalk::fit_into(&table(), &settings).unwrap();
    assert_eq!(run.draws().unwrap(), *fit.draws());
    assert_eq!(fit.draws().names(), fit.names());
    let (mut found, mut need) = (fit.document().clone(), run.document().clone());
    (found.sampler.seconds, need.sampler.seconds) = (0.0, 0.0);
    assert_eq!(found.to_json().unwrap(), need.to_json().unwrap());
    // 4 x 100 draws are few, and both say so.
    assert!(fit.warnings().iter().any(|warning| warning.name == "low_ess"));
    assert_eq!(run.warnings(), fit.warnings());
    assert_eq!(ridgewalk::StoredFit::open(&settings.out).unwrap().warnings(), run.warnings());
    // A second run into the same directory is refused.
    let error = ridgewalk::fit_into(&table(), &settings).unwrap_err();
    assert!(matches!(error, RunError::Store(_)), "{error}");
}

#[test]
fn settings_are_checked_before_anything_is_written() {
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("run");
    let settings = Settings { chains: 0, out: out.clone(), ..settings() };
    let error = ridgewalk::fit_into(&table(), &settings).unwrap_err();
    let RunError::Fit(error @ Error::Setting { .. }) = error else { panic!("{error}") };
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(!out.exists());
}

/// Stops a run at its first progress report.
struct Impatient<'a> {
    stop: &'a AtomicBool,
    stages: std::sync::Mutex<Vec<Stage>>,
}

impl Observer for Impatient<'_> {
    fn prepared(&self, model: &Model) {
        assert_eq!(model.frame().names.len(), 31);
    }

    fn stage(&self, stage: Stage) {
        let mut stages = self.stages.lock().unwrap();
        if stages.last() != Some(&stage) {
            stages.push(stage);
        }
    }

    fn progress(&self, progress: &Progress) {
        if progress.draws > 0 {
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn a_run_that_is_stopped_goes_on_to_the_same_draws() {
    let place = tempfile::tempdir().unwrap();
    let settings =
        Settings { draws: 3000, thin: Some(20), out: place.path().join("run"), ..settings() };
    let stop = AtomicBool::new(false);
    let observer = Impatient { stop: &stop, stages: std::sync::Mutex::default() };
    let stopped = ridgewalk::fit_into_watched(&table(), &settings, &stop, &observer).unwrap();
    let stages = observer.stages.into_inner().unwrap();
    assert_eq!(stages, [Stage::Mode, Stage::WarmUp, Stage::Sampling, Stage::Summary]);
    assert!(stopped.warnings().iter().any(|warning| warning.name == "stopped"));
    assert!((1..3000).contains(&stopped.draws().unwrap().common()));
    let resumed = ridgewalk::resume(&settings.out).unwrap().unwrap();
    let whole = ridgewalk::fit(&table(), &settings).unwrap();
    assert_eq!(resumed.draws().unwrap(), *whole.draws());
    assert!(ridgewalk::resume(&settings.out).unwrap().is_none(), "it is finished");
}

#[test]
fn a_job_in_the_background_is_watched_and_cancelled() {
    let endless = Settings { draws: 1_000_000_000, ..settings() };
    let job = ridgewalk::start(table(), endless).unwrap();
    while job.status().progress.is_none_or(|progress| progress.draws < 100) {
        assert!(!job.finished());
        std::thread::yield_now();
    }
    assert!(!job.status().decisions.is_empty());
    assert!(job.inspect(|draws| draws.common()) > 0);
    job.cancel();
    let (fit, shown) = job.join().unwrap();
    let fit = fit.unwrap();
    assert!(fit.warnings().iter().any(|warning| warning.name == "stopped"));
    assert_eq!(shown.tables(), fit.draws().tables());
    // To its end, and to the draws of a fit in the foreground.
    let (fit, _) = ridgewalk::start(table(), settings()).unwrap().join().unwrap();
    assert_eq!(fit.unwrap().draws(), ridgewalk::fit(&table(), &settings()).unwrap().draws());
}

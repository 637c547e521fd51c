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

#[test]
fn a_fit_that_is_saved_from_memory_is_the_run_of_the_directory() {
    let place = tempfile::tempdir().unwrap();
    let direct = Settings { out: place.path().join("direct"), ..settings() };
    let fit = ridgewalk::fit(&table(), &direct).unwrap();
    let run = ridgewalk::fit_into(&table(), &direct).unwrap();
    let path = place.path().join("saved");
    let saved = ridgewalk::save(&fit, &path).unwrap();
    // Point by point, with their statistics.
    let [ours, theirs] = [&saved, &run].map(|run| run.draws().unwrap());
    assert_eq!(ours, theirs);
    assert_eq!((0..4).map(|chain| ours.stats(chain).len()).collect::<Vec<_>>(), [100; 4]);
    assert!((0..4).all(|chain| ours.stats(chain) == theirs.stats(chain)));
    assert_eq!(saved.document(), fit.document());
    for file in ["checks.json", "config.toml"] {
        let read = |run: &ridgewalk::StoredFit| {
            let text = std::fs::read_to_string(run.directory().path().join(file)).unwrap();
            text.lines().filter(|line| !line.starts_with("out = ")).collect::<Vec<_>>().join("\n")
        };
        assert_eq!(read(&saved), read(&run), "{file}");
    }
    assert!(ridgewalk::report_of(&fit).unwrap().contains("Does the model fit the data?"));
    // Read back, it is the fit again.
    let loaded = saved.load(Some(&table())).unwrap();
    assert_eq!((loaded.draws(), loaded.document()), (fit.draws(), fit.document()));
    assert_eq!(loaded.checks().unwrap(), fit.checks().unwrap());
    let without = saved.load(None).unwrap();
    assert_eq!(without.checks().unwrap(), None);
    assert_eq!(without.checks_with(&table()).unwrap(), fit.checks().unwrap());
    let other = Table::from_bytes("other.csv", b"y,x\n0,1\n1,2\n").unwrap();
    assert!(matches!(saved.load(Some(&other)), Err(RunError::Fit(Error::OtherData { .. }))));
    // A directory that exists is refused, and stays as it is.
    assert!(matches!(ridgewalk::save(&fit, &path), Err(RunError::Store(_))));
    assert_eq!(saved.draws().unwrap(), *fit.draws());
}

#[test]
fn priors_of_single_coefficients_come_after_those_of_the_file() {
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("priors.toml");
    std::fs::write(&file, "[x]\nprior = \"normal(0, 1)\"\n[z]\nprior = \"normal(0, 3)\"\n")
        .unwrap();
    let table = b"y,x,z\n1,1,2\n2,2,1\n3,4,4\n5,5,3\n4,6,6\n";
    let table = Table::from_bytes("data.csv", table).unwrap();
    let with = |prior_of: &[&str]| {
        let prior_of = prior_of.iter().map(|text| (*text).to_owned()).collect();
        let of = Settings::of_formula("y ~ x + z", FamilyName::Gaussian);
        ridgewalk::fit(&table, &Settings { draws: 10, priors: Some(file.clone()), prior_of, ..of })
    };
    let fit = with(&["x=normal(0, 2)", "sigma = exponential(3)"]).unwrap();
    let resolved = &fit.config().resolved;
    assert_eq!(resolved.priors[1..], ["normal(0, 2)", "normal(0, 3)"]);
    assert_eq!(resolved.parameter_priors, ["exponential(3)"]);
    assert!(fit.config().command.contains("--prior-of 'x=normal(0, 2)'"));
    for (wrong, message) in [
        (
            "xx=normal(0, 2)",
            "--prior-of: found a prior for `xx`, which is not a coefficient of this model",
        ),
        (
            "normal(0, 2)",
            "--prior-of 'normal(0, 2)': need a name and a prior, such as age=normal(0, 1)",
        ),
        ("x=norml(0, 2)", "--prior-of: found `prior = \"norml(0, 2)\"`"),
    ] {
        let error = with(&[wrong]).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

#[test]
fn a_predictor_cannot_have_the_name_of_a_parameter() {
    let table = Table::from_bytes("data.csv", b"y,sigma\n1,1\n2,2\n4,3\n3,4\n6,5\n").unwrap();
    let gaussian =
        Settings { draws: 10, ..Settings::of_formula("y ~ sigma", FamilyName::Gaussian) };
    let error = ridgewalk::fit(&table, &gaussian).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Input);
    assert!(error.to_string().starts_with("found a predictor called `sigma`"), "{error}");
    // With the noise fixed there is no such parameter.
    let fixed = Settings { noise_scale: Some(1.0), ..gaussian };
    assert_eq!(ridgewalk::fit(&table, &fixed).unwrap().names(), ["(Intercept)", "sigma"]);
}

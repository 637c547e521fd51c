//! Fits that are kept in a run directory: begin → warm-up → sample → conclude → write; and runs
//! that continue after an interruption.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use ridgewalk_fit::{
    self as fit, Config, Data, Effects, EffectsRequest, ErrorKind, Finished, FitRows, LooDocument,
    LooOptions, LooProgress, Memory, Model, Observer, Predictor, Responses, Settings, Stage,
    SummaryDocument, Warm, in_threads, prepare_data, warm_up,
};
use ridgewalk_frame::Table;
use ridgewalk_report::write_report;
use ridgewalk_sampler::Draws;
use ridgewalk_sampler::automatic::{Decision, Sampled};
use ridgewalk_store::{
    self as store, OpenRun, RunDirectory, StoredDraws, read_config, read_draws, read_summary,
    write_checks, write_summary,
};

/// A fit that is kept in a run directory.
#[derive(Debug, Clone)]
pub struct StoredFit {
    directory: RunDirectory,
    document: SummaryDocument,
    /// The most memory that its data may take, if it is not that of the fit.
    memory: Option<Memory>,
}

impl StoredFit {
    /// A fit that was made before.
    ///
    /// # Errors
    /// If it is not a run directory, or has no summary yet.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, store::Error> {
        let directory = RunDirectory::open(path)?;
        let document = read_summary(&directory.summary())?;
        Ok(Self { directory, document, memory: None })
    }

    /// The same with another bound of the memory, for data that are read again.
    #[must_use]
    pub fn within(self, memory: Option<Memory>) -> Self {
        Self { memory, ..self }
    }

    /// Where its files are.
    #[must_use]
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// The draws, all in memory.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn draws(&self) -> Result<Draws, store::Error> {
        read_draws(&self.directory.draws())
    }

    /// The draws, read as they are needed.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn stored_draws(&self) -> Result<StoredDraws, store::Error> {
        StoredDraws::open(&self.directory.draws())
    }

    /// The content of `config.toml`.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn config(&self) -> Result<Config, store::Error> {
        read_config(&self.directory.config())
    }

    /// The same, with the bound of the memory of this value, and this directory as the place of files.
    pub(crate) fn bounded(&self) -> Result<Config, RunError> {
        let mut config = self.config()?;
        config.options.memory = self.memory.or(config.options.memory);
        config.options.out = self.directory.path().to_owned();
        Ok(config)
    }

    /// Predictions of rows of data.
    ///
    /// # Errors
    /// If configuration or draws cannot be read, or draws need more memory than was allowed.
    pub fn predictor(&self) -> Result<Predictor, RunError> {
        let (config, draws) = (self.bounded()?, self.stored_draws()?);
        Predictor::check(&config, &draws)?;
        Ok(Predictor::new(&config, &draws)?)
    }

    /// The data of the fit, read again: block by block if they do not fit into memory.
    ///
    /// # Errors
    /// If they were a table in memory, cannot be read, or are not what they were.
    pub fn rows(&self) -> Result<FitRows<'static>, RunError> {
        Ok(FitRows::open(&self.bounded()?)?)
    }

    /// How well the fit predicts rows that it has not seen: see [`fit::loo`].
    ///
    /// # Errors
    /// Data that cannot be read; a refit that fails; [`fit::Error::Stopped`].
    pub fn loo(
        &self, rows: &FitRows<'_>, options: LooOptions, stop: &AtomicBool,
        progress: &(dyn Fn(LooProgress) + Sync),
    ) -> Result<(LooDocument, Responses), RunError> {
        Ok(fit::loo_of(&self.bounded()?, &self.stored_draws()?, rows, options, stop, progress)?)
    }

    /// Average effects of a column, and the number of rows: see [`Predictor::effects_of_fit`].
    ///
    /// # Errors
    /// A column that the model does not have; data that cannot be read.
    pub fn effects(&self, request: &EffectsRequest) -> Result<(Effects, usize), RunError> {
        let rows = self.rows()?;
        rows.check("average effects", &self.stored_draws()?, 0)?;
        Ok(self.predictor()?.effects_of_fit(&rows, request)?)
    }

    /// The content of `summary.json`: parameters, warnings, notes.
    #[must_use]
    pub fn document(&self) -> &SummaryDocument {
        &self.document
    }

    /// What to be careful of; empty if all is well.
    #[must_use]
    pub fn warnings(&self) -> &[fit::WarningEntry] {
        &self.document.text.warnings
    }
}

/// Why a fit into a run directory did not come to its end.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// The fit failed and left nothing to resume.
    #[error(transparent)]
    Fit(#[from] fit::Error),
    /// The run directory cannot be used.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The run was stopped before its first draw.
    #[error("there are no draws yet; {}", goes_on(.directory))]
    Stopped {
        /// The run directory.
        directory: PathBuf,
    },
    /// Sampling failed. The draws so far are safe, and the run can be resumed.
    #[error(
        "{cause}; the first {kept} draws of each chain are safe in {}. Once the cause is fixed, {}",
        directory.display(), goes_on(.directory)
    )]
    Interrupted {
        /// What failed.
        cause: Box<dyn std::error::Error + Send + Sync>,
        /// Draws of each chain that are safe.
        kept: u64,
        /// The run directory.
        directory: PathBuf,
    },
    /// Draws that a checkpoint counts are not there.
    #[error(
        "{source}. The run cannot be resumed without the {safe} draws of each chain that its \
         checkpoint counts: put them back, or run `ridgewalk fit` again with another --out"
    )]
    MissingDraws {
        /// What is missing.
        source: store::Error,
        /// The draws that are needed.
        safe: u64,
    },
    /// All draws were made, and the summary or the report failed.
    #[error("{cause}; the draws are safe, and {}", goes_on(.directory))]
    Unfinished {
        /// What failed.
        cause: Box<dyn std::error::Error + Send + Sync>,
        /// The run directory.
        directory: PathBuf,
    },
}

impl RunError {
    /// The error of a run whose sinks cannot be opened: they cannot be written, or draws that the
    /// checkpoint counts are missing.
    #[must_use]
    pub fn of_keeper(error: store::Error, safe: u64, directory: &Path) -> Self {
        match error {
            store::Error::File { what: store::FileAction::Write, .. } => Self::Interrupted {
                cause: Box::new(error),
                kept: safe,
                directory: directory.to_owned(),
            },
            source => Self::MissingDraws { source, safe },
        }
    }
}

/// What to do about a run that was interrupted.
fn goes_on(directory: &Path) -> String {
    format!("`ridgewalk resume {}` continues the run", directory.display())
}

/// Fits a table into a new run directory, [`Settings::out`].
///
/// # Errors
/// Settings, data, priors or a directory that cannot be used, before anything is written; a run
/// that failed, with what was kept.
pub fn fit_into(table: &Table, settings: &Settings) -> Result<StoredFit, RunError> {
    fit_into_watched(table, settings, &AtomicBool::new(false), &())
}

/// The same, with a stop signal and callbacks. A run that is stopped keeps the draws made so far,
/// has the warning `stopped`, and can be resumed.
///
/// # Errors
/// As [`fit_into`]; [`RunError::Stopped`] if the signal comes before the first draw.
pub fn fit_into_watched(
    table: &Table, settings: &Settings, stop: &AtomicBool, observer: &(dyn Observer + Sync),
) -> Result<StoredFit, RunError> {
    fit_data_into(&table.into(), settings, stop, observer)
}

/// The same for data that may be in a file: see [`Data::open`].
///
/// # Errors
/// As [`fit_into_watched`].
pub fn fit_data_into(
    data: &Data<'_>, settings: &Settings, stop: &AtomicBool, observer: &(dyn Observer + Sync),
) -> Result<StoredFit, RunError> {
    let began = Instant::now();
    settings.validate()?;
    // Before a long computation, not after it.
    RunDirectory::check(&settings.out)?;
    in_threads(settings, || {
        let model = prepare_data(data, settings, None)?;
        let run = OpenRun::begin(&settings.out, Config::of_data(settings, &model, data))?;
        Driver { model: &model, stop, observer, began }.drive(run, true)
    })?
}

/// Resumes a run that was interrupted; `None` if it is finished. The draws are bit for bit
/// those of a run that was not interrupted.
///
/// # Errors
/// A directory, data or settings that are not as they were, with what differs; a run that failed.
pub fn resume(path: &Path) -> Result<Option<StoredFit>, RunError> {
    let Some(run) = OpenRun::resume(path)? else { return Ok(None) };
    let settings = settings_of(&run, None);
    let data = Data::open(&settings)?;
    resume_data(run, &data, &settings, &AtomicBool::new(false), &()).map(Some)
}

/// The settings of a resumed run. It uses as many threads as given, or as it began with.
#[must_use]
pub fn settings_of(run: &OpenRun, threads: Option<usize>) -> Settings {
    let config = run.config();
    Settings {
        // Where it was found then, wherever the program runs now.
        data: config.options.data.as_ref().map(|_| PathBuf::from(&config.data.file)),
        out: run.directory().path().to_owned(),
        threads: threads.or(config.options.threads),
        ..config.options.clone()
    }
}

/// Resumes an open run on its table, with a stop signal and callbacks.
///
/// # Errors
/// As [`resume`].
pub fn resume_watched(
    run: OpenRun, table: &Table, settings: &Settings, stop: &AtomicBool,
    observer: &(dyn Observer + Sync),
) -> Result<StoredFit, RunError> {
    resume_data(run, &table.into(), settings, stop, observer)
}

/// The same for data that may be in a file: see [`Data::open`].
///
/// # Errors
/// As [`resume`].
pub fn resume_data(
    mut run: OpenRun, data: &Data<'_>, settings: &Settings, stop: &AtomicBool,
    observer: &(dyn Observer + Sync),
) -> Result<StoredFit, RunError> {
    let began = Instant::now();
    let priors = run.config().resolved.model_priors(settings).map_err(fit::Error::from)?;
    run.same_data(data.name(), data.digest())?;
    in_threads(settings, || {
        let model = prepare_data(data, settings, Some(priors))?;
        run.go_on_with(Config::of_data(settings, &model, data))?;
        Driver { model: &model, stop, observer, began }.drive(run, false)
    })?
}

/// A model on its way through the stages.
struct Driver<'a> {
    model: &'a Model,
    stop: &'a AtomicBool,
    observer: &'a dyn Observer,
    began: Instant,
}

impl Driver<'_> {
    fn drive(&self, mut run: OpenRun, new: bool) -> Result<StoredFit, RunError> {
        if run.config().options.prior_only {
            return self.prior(run);
        }
        let directory = run.directory().clone();
        let here = || directory.path().to_owned();
        let (mut warm, notes) = match self.warm_up(&run) {
            Ok(found) => found,
            Err(error) if error.kind() == ErrorKind::Stopped => {
                return Err(RunError::Stopped { directory: here() });
            }
            Err(error) => {
                // Nothing is known yet that is worth going on from: as if it had not begun.
                if new {
                    run.abandon();
                }
                return Err(error.into());
            }
        };
        run.warmed_up(warm.saved().to_bytes());
        let sampled = self.sample(&run, &mut warm)?;
        match self.conclude(&run, &warm, &sampled, notes) {
            Ok(document) => {
                if !document.stopped() {
                    run.finish()?;
                }
                Ok(StoredFit { directory, document, memory: None })
            }
            Err(RunError::Fit(error)) if error.kind() == ErrorKind::Stopped => {
                Err(RunError::Stopped { directory: here() })
            }
            Err(RunError::Fit(error)) if error.kind() == ErrorKind::NoDraws => {
                // Going on would not change it.
                run.finish()?;
                Err(error.into())
            }
            Err(error) => Err(RunError::Unfinished { cause: Box::new(error), directory: here() }),
        }
    }

    /// Draws of the prior. They take no time, so an interrupted run begins again.
    fn prior(&self, run: OpenRun) -> Result<StoredFit, RunError> {
        let (model, directory) = (self.model, run.directory().clone());
        let settings = &run.config().options;
        self.observer.prepared(model);
        self.observer.stage(Stage::Sampling);
        let mut keeper = run.keeper(1, None, self.began)?;
        let (chains, draws, seed) = (settings.chains, settings.draws, settings.seed);
        if let Err(error) = fit::sample_prior(model, chains, draws, seed, &mut keeper) {
            run.abandon();
            return Err(error.into());
        }
        keeper.finish(true)?;
        self.observer.stage(Stage::Summary);
        let stored = StoredDraws::open(&directory.draws())?;
        let document = fit::conclude_prior(run.config(), model, &stored, run.seconds(self.began))?;
        write_summary(&document, &directory.summary())?;
        if let Some(checks) = model.checks(run.config(), &stored)? {
            write_checks(&checks, &directory.checks())?;
        }
        write_report(&directory)?;
        run.finish()?;
        Ok(StoredFit { directory, document, memory: None })
    }

    /// A finished warm-up, run or restored, and what the user should know before the first draw.
    fn warm_up(&self, run: &OpenRun) -> Result<(Warm, Vec<String>), fit::Error> {
        let (model, settings, observer) = (self.model, &run.config().options, self.observer);
        observer.prepared(model);
        observer.stage(Stage::Mode);
        let hear = |decision: &Decision| {
            observer.decision(decision);
            observer.stage(Stage::WarmUp);
        };
        let warm_up = warm_up::configure(model, settings, self.stop, &hear);
        let warm = warm_up::run(model, settings, &warm_up, &run.checkpoint().warm_up)?;
        let notes = warm_up::notes(model, settings, &warm)?;
        Ok((warm, notes))
    }

    fn sample(&self, run: &OpenRun, warm: &mut Warm) -> Result<Sampled, RunError> {
        let settings = &run.config().options;
        let (safe, directory) = (run.checkpoint().safe_draws(), run.directory().path());
        let failed = |cause: Box<dyn std::error::Error + Send + Sync>, kept: u64| {
            RunError::Interrupted { cause, kept, directory: directory.to_owned() }
        };
        self.observer.stage(Stage::Sampling);
        let saved = run.saved().map_err(|error| failed(Box::new(error), safe))?;
        let thin = settings.thin.unwrap_or(warm.thin);
        let keeper = run.keeper(thin, saved.as_ref(), self.began);
        let mut keeper = keeper.map_err(|error| RunError::of_keeper(error, safe, directory))?;
        let (model, stop, observer) = (self.model, self.stop, self.observer);
        match fit::sample::sample(model, settings, warm, saved, &mut keeper, stop, observer) {
            Ok(sampled) => {
                let safe = keeper.safe_draws();
                let finished = keeper.finish(sampled.outcome.complete());
                finished.map_err(|error| failed(Box::new(error), safe))?;
                Ok(sampled)
            }
            Err(error) => Err(failed(Box::new(error), keeper.salvage())),
        }
    }

    /// Diagnostics, verdict, summary and report.
    fn conclude(
        &self, run: &OpenRun, warm: &Warm, sampled: &Sampled, notes: Vec<String>,
    ) -> Result<SummaryDocument, RunError> {
        self.observer.stage(Stage::Summary);
        let (model, config) = (self.model, run.config());
        let curvatures = &model.curvatures(&warm.whitening)?;
        let seconds = run.seconds(self.began);
        let curvatures = curvatures.as_ref();
        let finished = Finished { config, model, warm, sampled, curvatures, notes, seconds };
        let draws = StoredDraws::open(&run.directory().draws())?;
        let values = &mut |points: &[f64], values: &mut [f64]| model.values(points, values);
        let document = finished.conclude(&draws, values)?;
        write_summary(&document, &run.directory().summary())?;
        if let Some(checks) = model.checks(config, &draws)? {
            write_checks(&checks, &run.directory().checks())?;
        }
        write_report(run.directory())?;
        Ok(document)
    }
}

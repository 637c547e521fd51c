//! The whole job in memory: read → frame → model → warm-up → sample → conclude.

use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};

use ridgewalk_frame::Table;
use ridgewalk_frame::place::listed;
use ridgewalk_sampler::automatic::Decision;
use ridgewalk_sampler::clock::Instant;
use ridgewalk_sampler::{Draws, Job, Progress, Sink, SinkError, Watch, WatchedDraws};

use crate::checks::{Checks, Sample};
use crate::conclude::{Finished, conclude_prior};
use crate::config::Config;
use crate::data::prepare_data;
use crate::document::{Parameter, SummaryDocument, WarningEntry};
use crate::error::Error;
use crate::model::Model;
use crate::observer::{Observer, Stage};
use crate::predict::Predictor;
use crate::prior::sample_prior;
use crate::priors::ModelPriors;
use crate::settings::Settings;
use crate::{sample, warm_up};

/// A fit with its draws in memory.
#[derive(Debug, Clone)]
pub struct Fitted {
    config: Config,
    names: Vec<String>,
    draws: Draws,
    document: SummaryDocument,
    sample: Option<Sample>,
}

impl Fitted {
    /// A fit from its parts, as a run directory keeps them. Without its table it cannot be checked
    /// against its data.
    ///
    /// # Errors
    /// Draws of other coefficients; [`Error::OtherData`] if the table is not the one that was
    /// fitted.
    pub fn from_parts(
        config: Config, document: SummaryDocument, draws: Draws, table: Option<&Table>,
    ) -> Result<Self, Error> {
        let names = config.resolved.names();
        if draws.names() != names {
            let found = format!("found draws of {}", listed(draws.names(), 8));
            return Err(Error::Draws(format!("{found}, need {}", listed(&names, 8)).into()));
        }
        let sample = table.map(|table| sample_of(&config, table)).transpose()?.flatten();
        Ok(Self { config, names, draws, document, sample })
    }

    /// The names of the coefficients.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// What was asked for, and what followed before the first draw.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Predictions of new rows.
    ///
    /// # Errors
    /// None is known: the draws are those of the configuration.
    pub fn predictor(&self) -> Result<Predictor, Error> {
        Predictor::new(&self.config, &self.draws)
    }

    /// Checks of the model against its data; `None` if there is too little to check.
    ///
    /// # Errors
    /// None is known: the draws are those of the configuration.
    pub fn checks(&self) -> Result<Option<Checks>, Error> {
        match &self.sample {
            Some(sample) => Checks::new(&self.config, &self.draws, sample),
            None => Ok(None),
        }
    }

    /// The same for a fit that was made from its parts, with the table that was fitted.
    ///
    /// # Errors
    /// [`Error::OtherData`] if it is another one.
    pub fn checks_with(&self, table: &Table) -> Result<Option<Checks>, Error> {
        if self.sample.is_some() {
            return self.checks();
        }
        match sample_of(&self.config, table)? {
            Some(sample) => Checks::new(&self.config, &self.draws, &sample),
            None => Ok(None),
        }
    }

    /// The draws.
    #[must_use]
    pub fn draws(&self) -> &Draws {
        &self.draws
    }

    /// Mean, standard deviation, quantiles, effective sample sizes and R-hat of each coefficient.
    #[must_use]
    pub fn summary(&self) -> &[Parameter] {
        &self.document.parameters
    }

    /// One coefficient by its name.
    #[must_use]
    pub fn parameter(&self, name: &str) -> Option<&Parameter> {
        self.summary().iter().find(|parameter| parameter.name == name)
    }

    /// Warnings; empty if all is well.
    #[must_use]
    pub fn warnings(&self) -> &[WarningEntry] {
        &self.document.text.warnings
    }

    /// The full results: the content of `summary.json`.
    #[must_use]
    pub fn document(&self) -> &SummaryDocument {
        &self.document
    }
}

/// The rows that checks are made of, the same to the last bit as when the fit was made.
fn sample_of(config: &Config, table: &Table) -> Result<Option<Sample>, Error> {
    if table.digest() != config.data.sha256 {
        return Err(Error::OtherData { file: table.name().to_owned() });
    }
    let priors = config.resolved.model_priors(&config.options)?;
    Ok(prepare(table, &config.options, Some(priors))?.sample().cloned())
}

/// Fits a table, with the draws in memory.
///
/// # Errors
/// Invalid settings, data or priors; an improper posterior; a run that failed.
pub fn fit(table: &Table, settings: &Settings) -> Result<Fitted, Error> {
    fit_watched(table, settings, &AtomicBool::new(false), &())
}

/// The same, with a stop signal and callbacks. A run that is stopped keeps the draws made so far
/// and has the warning `stopped`.
///
/// # Errors
/// As [`fit`]; [`Error::Stopped`] if the signal comes before the first draw.
pub fn fit_watched(
    table: &Table, settings: &Settings, stop: &AtomicBool, observer: &(dyn Observer + Sync),
) -> Result<Fitted, Error> {
    let began = Instant::now();
    // All of it on these threads: a process that is forked later has no others.
    in_threads(settings, || {
        let model = prepare(table, settings, None)?;
        let config = Config::new(settings, &model, table);
        run(&model, &config, stop, observer, began)
    })?
}

/// The same on a background thread: [`Job`] shows its progress and draws so far, cancels it and
/// waits for it.
///
/// # Errors
/// If the thread cannot be started.
pub fn start(table: Table, settings: Settings) -> Result<Job<Result<Fitted, Error>>, Error> {
    let job = Job::start(move |watch| {
        let shown = Shown { sink: watch.sink(), made: Vec::new() };
        let observer = Background { watch: watch.clone(), shown: Mutex::new(shown) };
        fit_watched(&table, &settings, watch.stop(), &observer)
    });
    Ok(job?)
}

/// Reports of a background job.
struct Background {
    watch: Watch,
    shown: Mutex<Shown>,
}

/// The draws that the job shows, and how many of each chain there are.
struct Shown {
    sink: WatchedDraws,
    made: Vec<u64>,
}

impl Background {
    /// A draw that cannot be shown is still in the fit.
    fn show(&self, to: impl FnOnce(&mut Shown) -> Result<(), SinkError>) {
        let _ = to(&mut self.shown.lock().unwrap_or_else(PoisonError::into_inner));
    }
}

impl Observer for Background {
    fn decision(&self, decision: &Decision) {
        self.watch.decided(decision);
    }

    fn begin(&self, chains: usize, dimension: usize) {
        self.show(|shown| {
            shown.made.resize(chains, 0);
            shown.sink.begin(chains, dimension)
        });
    }

    fn draw(&self, chain: usize, point: &[f64]) {
        self.show(|shown| {
            let made = shown.made.get_mut(chain).ok_or("a chain beyond those announced")?;
            *made += 1;
            shown.sink.keep(chain, *made - 1, point)
        });
    }

    fn restart(&self, decision: &Decision) {
        self.watch.decided(decision);
        self.show(|shown| {
            shown.made.fill(0);
            shown.sink.forget()
        });
    }

    fn progress(&self, progress: &Progress) {
        self.show(|shown| shown.sink.flush());
        self.watch.report(progress, None);
    }
}

/// The stages from a table to a model. Priors come from the settings unless given.
///
/// # Errors
/// Invalid settings, data or priors.
pub fn prepare(
    table: &Table, settings: &Settings, priors: Option<ModelPriors>,
) -> Result<Model, Error> {
    prepare_data(&table.into(), settings, priors)
}

/// The most threads of a fit: more than a few for each core only take memory and time. A run begun
/// with hundreds of threads may go on on a smaller machine: draws do not depend on their number.
fn most_threads() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from).saturating_mul(4).max(16)
}

/// Runs `work` on the number of threads in the settings, but at most four for each core (or 16).
/// WebAssembly has no threads: there it runs on the current one.
///
/// # Errors
/// If threads cannot be started.
pub fn in_threads<T: Send>(
    settings: &Settings, work: impl FnOnce() -> T + Send,
) -> Result<T, Error> {
    if cfg!(target_family = "wasm") {
        return Ok(work());
    }
    let threads = settings.threads.map_or(0, |threads| threads.min(most_threads()));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    Ok(pool.install(work))
}

/// The stages from a model to a fit.
pub(crate) fn run(
    model: &Model, config: &Config, stop: &AtomicBool, observer: &dyn Observer, began: Instant,
) -> Result<Fitted, Error> {
    let settings = &config.options;
    observer.prepared(model);
    if settings.prior_only {
        return run_prior(model, config, began);
    }
    observer.stage(Stage::Mode);
    let hear = |decision: &Decision| {
        observer.decision(decision);
        observer.stage(Stage::WarmUp);
    };
    let warm_up = warm_up::configure(model, settings, stop, &hear);
    let mut warm = warm_up::run(model, settings, &warm_up, &[])?;
    let notes = warm_up::notes(model, settings, &warm)?;
    observer.stage(Stage::Sampling);
    let names = model.names().to_vec();
    let mut draws = Draws::named(&names);
    let sampled = sample::sample(model, settings, &mut warm, None, &mut draws, stop, observer)?;
    observer.stage(Stage::Summary);
    let curvatures = model.curvatures(&warm.whitening)?;
    let curvatures = curvatures.as_ref();
    let seconds = began.elapsed().as_secs_f64();
    let (warm, sampled) = (&warm, &sampled);
    let finished = Finished { config, model, warm, sampled, curvatures, notes, seconds };
    let values = &mut |points: &[f64], values: &mut [f64]| model.values(points, values);
    let document = finished.conclude(&draws, values)?;
    let sample = model.sample().cloned();
    Ok(Fitted { config: config.clone(), names, draws, document, sample })
}

/// Draws of the prior as a fit.
fn run_prior(model: &Model, config: &Config, began: Instant) -> Result<Fitted, Error> {
    let settings = &config.options;
    let names = model.names().to_vec();
    let mut draws = Draws::named(&names);
    sample_prior(model, settings.chains, settings.draws, settings.seed, &mut draws)?;
    let document = conclude_prior(config, model, &draws, began.elapsed().as_secs_f64())?;
    let sample = model.sample().cloned();
    Ok(Fitted { config: config.clone(), names, draws, document, sample })
}

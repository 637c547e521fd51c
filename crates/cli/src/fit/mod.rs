//! `ridgewalk fit`: from a data file to a run directory with draws, summary and report; and
//! `ridgewalk resume`, which goes on with one.
//!
//! The way: options, table, frame, model (`model`), run directory, warm-up, draws into sinks
//! (`sinks`), verdict (`verdict`), files. What the library says by number is said by name
//! (`words`). A run that goes on (`resume`) takes the same way: what follows from data and options
//! is made again and compared, what was found by steps comes from the checkpoint.

pub(crate) mod again;
mod config;
mod excursion;
mod model;
mod options;
mod progress;
pub(crate) mod resume;
pub(crate) mod shared;
mod sinks;
mod verdict;
mod words;

use std::cell::Cell;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use ridgewalk::diagnostics::{Summarizer, Summary, summaries};
use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk::potentials::families::Family;
use ridgewalk::potentials::{Curvature, Prior, Properness, Ridge};
use ridgewalk::sampler::automatic::{
    Extrapolated, Length, Sampled, Target, Wanted, WarmUp, WarmedUp,
};
use ridgewalk::sampler::{self, SavedRun, SavedWarmUp};

pub use config::{Config, DataConfig, ProcessesConfig, Resolved};
pub use options::{FitOptions, KernelName};

use crate::data::{self, Frame, Priors, Question, Table};
use crate::failure::Failure;
use crate::output;
use crate::processes::Processes;
use crate::run::{
    BiasDetails, Checkpoint, CsvDraws, Fact, Lock, ProblemFacts, RunDirectory, SamplerFacts,
    StoredDraws, SummaryDocument, Text, Trajectories, ZarrDraws, write_report,
};
use excursion::{Trouble, excursion, help};
use model::{ByNodes, Made, Model};
use progress::Display;
use resume::Earlier;
use sinks::{Keeper, Nowhere, Rescaling, Safe};
use words::Words;

/// The response of the data that ship with the program.
const BUILT_IN_RESPONSE: &str = "y";
/// Separation is looked for, for a note, where that is quick.
const SEPARATION_ENTRIES: usize = 2_000_000;
/// Chains beyond which their states alone would take gigabytes.
const MOST_CHAINS: usize = 100_000;
/// Draws of each chain beyond which steps could not be counted, however many of them make a draw.
const MOST_DRAWS: u64 = 1_000_000_000_000;
/// Draws of one coefficient beyond which one is summarised after the other: every thread needs some
/// eighty bytes for each.
const ONE_BY_ONE: usize = 1 << 18;
/// A run is never longer than this without a checkpoint, unless writing one takes more than a
/// twentieth of the time.
const CHECKPOINTS: Duration = Duration::from_secs(10);

/// Runs the subcommand.
pub(crate) fn run(options: &FitOptions) -> Result<(), Failure> {
    let pool = threads(options.threads)?;
    let done = pool.install(|| fit(options, None, &Processes::alone()))?;
    done.map_or(Ok(()), |document| tell(&document, options))
}

/// Says what came out.
fn tell(document: &SummaryDocument, options: &FitOptions) -> Result<(), Failure> {
    if options.json {
        output::json(document)?;
    } else {
        output::text(&again::text(document, &options.out))?;
    }
    if document.stopped() {
        let out = options.out.display();
        return Err(Failure::Stopped(format!(
            "the {} draws of each chain so far are in {out}; {}",
            document.sampler.draws,
            goes_on(&options.out)
        )));
    }
    Ok(())
}

/// What to do about a run that was interrupted.
fn goes_on(out: &Path) -> String {
    format!("`ridgewalk resume {}` goes on", out.display())
}

/// A signal that is set at the first Ctrl-C or SIGTERM; the second ends the program at once, as it
/// would by default.
fn stop_signal() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let signal = Arc::clone(&stop);
    // Another handler in this process would be the only reason to fail; the run then ends at Ctrl-C
    // without a word.
    let _ = ctrlc::set_handler(move || {
        if signal.swap(true, Ordering::Relaxed) {
            #[allow(clippy::exit, reason = "asked for twice")]
            std::process::exit(130);
        }
    });
    stop
}

fn threads(wanted: Option<usize>) -> Result<rayon::ThreadPool, Failure> {
    if wanted == Some(0) {
        return Err(Failure::Usage("--threads 0: need at least 1".into()));
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(wanted.unwrap_or(0)).build();
    pool.map_err(|error| Failure::Run(format!("cannot start threads: {error}")))
}

/// Fits, and writes the run directory; or goes on with an earlier run. Nothing is written before
/// data and options are known to be good. Of several processes the first one writes, and has the
/// summary.
fn fit(
    options: &FitOptions,
    earlier: Option<Earlier>,
    processes: &Processes,
) -> Result<Option<SummaryDocument>, Failure> {
    let began = Instant::now();
    check(options)?;
    shared::check(options, processes)?;
    let mut options = options.clone();
    let (table, digest) = shared::read(&options, processes)?;
    if options.data.is_none() {
        options.response.get_or_insert_with(|| BUILT_IN_RESPONSE.to_owned());
        options.standardize = true;
    }
    if let Some(Earlier { config, .. }) = &earlier
        && config.data.sha256 != digest
    {
        return Err(Failure::Usage(format!(
            "{} has changed since the run began: found SHA-256 {}, need {}. Put back the data that it had to go on, or run `ridgewalk fit` \
             on the new ones with another --out",
            table.name(),
            digest,
            config.data.sha256
        )));
    }
    let question = question(&options, &table)?;
    let frame = processes
        .settle(Frame::of_part(&table, &question, &**processes.rows()).map_err(Failure::from))?;
    let (means, scales) = match &earlier {
        Some(Earlier { config, .. }) => {
            (config.resolved.prior_means.clone(), config.resolved.prior_scales.clone())
        }
        None => {
            let mut priors = Priors::new(options.prior_scale, options.intercept_prior_scale)?;
            if let Some(path) = &options.priors {
                priors = priors.with_file(path)?;
            }
            priors.for_names(&frame.names)?
        }
    };
    // Until here there is nothing to keep: a signal ends the program at once, even while it waits
    // for a pipe.
    let stop = stop_signal();
    let stop = &*stop;
    let words = Words { file: table.name(), frame: &frame };
    let prior = Prior::normal(&means, &scales).map_err(|error| words.potential(&error))?;
    let rescaling = options.original_scale.then(|| Rescaling::new(&frame)).transpose()?;
    // Before a long warm-up, not after it.
    let possible = match &earlier {
        None if processes.first() => RunDirectory::check(&options.out).map_err(Failure::from),
        _ => Ok(()),
    };
    processes.settle(possible)?;
    let known = data::digest_of(format!("{:?}", (&frame.names, &means, &scales)).as_bytes());
    processes.same(
        "SHA-256 of the coefficients and their priors",
        &known,
        "the same everywhere",
    )?;
    let display = Display::new(options.quiet || options.json || !processes.first());
    display.say(&format!(
        "{}: {} rows, {} coefficients, {} model",
        table.name(),
        frame.all_rows,
        frame.columns,
        options.family
    ));
    if !processes.is_alone() {
        display.say(&format!(
            "{} processes: the chains in {}, the rows in {}",
            processes.size(),
            processes.chain_groups(),
            processes.row_shards()
        ));
    }
    let made = model::model(&options, &frame, &prior, &words, processes.rows());
    let Made { model, noise_scale, notes } = processes.settle(made)?;
    let scaling = frame.scaling.as_ref();
    let config = Config {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        command: config::command(&options),
        data: DataConfig {
            file: options
                .data
                .as_ref()
                .map_or("built-in".into(), |p| config::absolute(p).display().to_string()),
            sha256: digest,
            rows: frame.all_rows,
        },
        processes: ProcessesConfig { row_shards: processes.row_shards() },
        resolved: Resolved {
            coefficients: frame.names.clone(),
            prior_means: means,
            prior_scales: scales,
            noise_scale,
            centres: scaling.map(|list| list.iter().map(|(centre, _)| *centre).collect()),
            divisors: scaling.map(|list| list.iter().map(|(_, divisor)| *divisor).collect()),
        },
        options,
    };
    let begun = match earlier {
        Some(earlier) => earlier.compared(config),
        None => Begun::new(config, processes),
    };
    let (config, Begun { files, checkpoint, new }) = processes.settle(begun)?;
    let notes = frame.notes.iter().cloned().chain(notes).collect();
    let sampling = &Cell::new(!new);
    let (config, frame, display, directory) =
        (&config, &frame, &display, files.as_ref().map(|(directory, _)| directory));
    let job = Job {
        config,
        frame,
        words,
        rescaling,
        stop,
        display,
        began,
        notes,
        directory,
        checkpoint,
        sampling,
        processes,
    };
    let done = match &model {
        Model::Logistic(ridge) => job.sample(ridge),
        Model::Probit(ridge) => job.sample(ridge),
        Model::Poisson(ridge) => job.sample(ridge),
        Model::Gaussian(ridge) => job.sample(ridge),
        Model::LogisticNoise(ridge) => job.sample(ridge),
        Model::Huber(ridge) => job.sample(ridge),
    };
    display.end();
    let Some((directory, lock)) = files else { return done };
    match &done {
        Ok(document) if !document.as_ref().is_some_and(SummaryDocument::stopped) => {
            directory.finish(lock)?
        }
        // Going on would not change it.
        Err(Failure::NoDraws(_)) => directory.finish(lock)?,
        // Nothing is known yet that is worth going on from: as if it had not begun.
        Err(failure) if !sampling.get() && !matches!(failure, Failure::Stopped(_)) => {
            directory.abandon(lock)
        }
        _ => {}
    }
    done
}

/// A run directory, and the right to write into it.
type Files = (RunDirectory, Lock);

/// A run that has begun, and its directory in the process that writes.
struct Begun {
    files: Option<Files>,
    checkpoint: Checkpoint,
    new: bool,
}

impl Begun {
    /// Makes the directory.
    fn new(config: Config, processes: &Processes) -> Result<(Config, Self), Failure> {
        let text = config.to_toml()?;
        let checkpoint = Checkpoint::new(&text);
        let bytes = checkpoint.to_bytes().map_err(|error| Failure::Run(error.to_string()))?;
        let begin = || RunDirectory::begin(&config.options.out, text.as_bytes(), &bytes);
        let files = processes.first().then(begin).transpose()?;
        Ok((config, Self { files, checkpoint, new: true }))
    }
}

/// Options that need no data to be wrong.
fn check(options: &FitOptions) -> Result<(), Failure> {
    let counts = [
        ("--chains", options.chains == 0),
        ("--draws", options.draws == 0),
        ("--thin", options.thin == Some(0)),
        ("--max-draws", options.max_draws == 0),
        ("--nodes", options.nodes == Some(0)),
    ];
    if let Some((name, _)) = counts.into_iter().find(|(_, zero)| *zero) {
        return Err(Failure::Usage(format!("{name} 0: need at least 1")));
    }
    if options.chains > MOST_CHAINS {
        return Err(Failure::Usage(format!(
            "--chains {}: need at most {MOST_CHAINS}",
            options.chains
        )));
    }
    let (name, draws) = match options.target_ess {
        Some(_) => ("--max-draws", options.max_draws),
        None => ("--draws", options.draws),
    };
    if draws > MOST_DRAWS {
        return Err(Failure::Usage(format!("{name} {draws}: need at most {MOST_DRAWS}")));
    }
    if options.thin.is_some_and(|thin| thin.checked_mul(draws).is_none()) {
        let thin = options.thin.unwrap_or(1);
        return Err(Failure::Usage(format!(
            "--thin {thin}: need fewer steps for {draws} draws than can be counted"
        )));
    }
    let numbers = [
        ("--gamma", options.gamma),
        ("--xi", options.xi),
        ("--eta", options.eta),
        ("--bias-tolerance", Some(options.bias_tolerance).filter(|tolerance| *tolerance != 0.0)),
        ("--target-ess", options.target_ess),
    ];
    let unbiased = matches!(options.kernel, KernelName::Auto | KernelName::Adjusted);
    if options.bias_tolerance == 0.0 && !unbiased {
        return Err(Failure::Usage(format!(
            "--bias-tolerance 0 with --kernel {}: need a positive number, as every unadjusted kernel has a bias; --kernel adjusted has none",
            options.kernel
        )));
    }
    for (name, value) in numbers {
        if let Some(value) = value.filter(|value| !(*value > 0.0 && value.is_finite())) {
            return Err(Failure::Usage(format!("{name} {value}: need a positive, finite number")));
        }
    }
    if options.original_scale && !options.standardize && options.data.is_some() {
        return Err(Failure::Usage(
            "--original-scale is about --standardize: pass both, or neither".into(),
        ));
    }
    if options.original_scale && options.no_intercept {
        return Err(Failure::Usage(
            "--original-scale with --no-intercept: predictors were centred, which without an intercept no coefficients on the \
             scale of the data can express; leave one of the two out"
                .into(),
        ));
    }
    Ok(())
}

fn question(options: &FitOptions, table: &Table) -> Result<Question, Failure> {
    let Some(response) = &options.response else {
        let names: Vec<String> =
            table.columns().iter().take(12).map(|c| format!("`{}`", c.name())).collect();
        let more = table.columns().len().saturating_sub(12);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        return Err(Failure::Usage(format!(
            "which column is to be explained? Pass --response NAME; {} has {}{more}",
            table.name(),
            names.join(", ")
        )));
    };
    let predictors = options.predictors.as_deref().map(data::split_names).transpose()?;
    Ok(Question {
        predictors,
        trials: options.trials.clone(),
        offset: options.offset.clone(),
        weights: options.weights.clone(),
        intercept: !options.no_intercept,
        standardize: options.standardize,
        drop_missing: options.drop_missing,
        ..Question::new(response, options.family)
    })
}

/// A fit whose questions are all answered.
struct Job<'a> {
    config: &'a Config,
    frame: &'a Frame,
    words: Words<'a>,
    rescaling: Option<Rescaling>,
    stop: &'a AtomicBool,
    display: &'a Display,
    began: Instant,
    notes: Vec<String>,
    /// In the process that writes.
    directory: Option<&'a RunDirectory>,
    checkpoint: Checkpoint,
    /// Whether the directory holds more than the question.
    sampling: &'a Cell<bool>,
    processes: &'a Processes,
}

impl Job<'_> {
    fn sample<F: Family + Clone>(
        self,
        ridge: &Ridge<'_, F>,
    ) -> Result<Option<SummaryDocument>, Failure> {
        let of = |error: ridgewalk::potentials::Error| self.words.potential(&error);
        let curvature = ridge.curvature().map_err(of)?;
        match self.config.options.nodes {
            Some(nodes) => self.draw(ridge, &curvature, &ByNodes { ridge, nodes }),
            None => self.draw(ridge, &curvature, ridge),
        }
    }

    /// Warm-up, run, files.
    fn draw<F: Family + Clone, T: Target>(
        mut self,
        ridge: &Ridge<'_, F>,
        curvature: &Curvature,
        target: &T,
    ) -> Result<Option<SummaryDocument>, Failure> {
        let options = &self.config.options;
        let of = |error: sampler::Error| self.words.sampler(&error);
        let length = match options.target_ess {
            Some(target) => Length::Ess { target, most: options.max_draws },
            None => Length::Draws(options.draws),
        };
        self.display.phase("finding the mode");
        let hear = |decision: &sampler::automatic::Decision| {
            self.display.say(&format!("  {decision}"));
            self.display.phase("warming up");
        };
        let warm_up = WarmUp::new(target)
            .seed(options.seed)
            .chains(options.chains)
            .draws(expected_draws(options))
            .tolerance(options.bias_tolerance)
            .wanted(wanted(options))
            .stop(self.stop)
            .team(&self.processes.team())
            .watch(&hear);
        let warm = if self.checkpoint.warm_up.is_empty() {
            warm_up.run()
        } else {
            SavedWarmUp::from_bytes(&self.checkpoint.warm_up)
                .and_then(|saved| warm_up.restore(saved))
        };
        let mut warm = warm.map_err(|error| match error {
            sampler::Error::Stopped => Failure::Stopped(format!(
                "there are no draws yet; `ridgewalk resume {}` begins again",
                options.out.display()
            )),
            sampler::Error::TooMany { what: sampler::Quantity::Chains } => Failure::Usage(format!(
                "--chains {}: need fewer, so that the {} coefficients of each fit into memory",
                options.chains, self.frame.columns
            )),
            other => of(other),
        })?;
        self.checkpoint.warm_up = warm.saved().to_bytes();
        let found = data::digest_of(&self.checkpoint.warm_up);
        self.processes.same(
            "SHA-256 of the warm-up",
            &found,
            "machines of one kind, whose rounding is the same",
        )?;
        self.notes.extend(warm.mode.notes.iter().map(|note| self.words.note(note)));
        if options.nodes.is_some()
            && matches!(warm.scheme.kernel(), KernelKind::Symmetric | KernelKind::Adjusted)
        {
            self.notes.push(format!(
                "--nodes has no effect: the {} kernel has no line integrals; --kernel third-order has",
                warm.scheme.name()
            ));
        }
        if let Properness::NotChecked(why) = warm.mode.properness {
            self.notes.push(format!("it was not checked that the posterior is proper: {why}"));
        }
        if self.frame.all_rows * self.frame.columns <= SEPARATION_ENTRIES {
            let found = ridge.separation().map_err(|error| self.words.potential(&error))?;
            self.notes.extend(self.words.separability(&found));
        }
        self.display.phase("sampling");
        self.sampling.set(true);
        let sampled = self.processes.settle(self.keep(&mut warm, length))?;
        let done = self.conclude(ridge, curvature, &warm, &sampled, length);
        done.map_err(|failure| match failure {
            end @ (Failure::Stopped(_) | Failure::NoDraws(_)) => end,
            other => {
                Failure::Run(format!("{other}; the draws are safe, and {}", goes_on(&options.out)))
            }
        })
    }

    /// Summary and report.
    fn conclude<F: Family + Clone, W>(
        &self,
        ridge: &Ridge<'_, F>,
        curvature: &Curvature,
        warm: &WarmedUp<W>,
        sampled: &Sampled,
        length: Length,
    ) -> Result<Option<SummaryDocument>, Failure> {
        self.display.phase("summary and report");
        let white = ridge.whitened(&warm.whitening).and_then(|white| white.curvature());
        let white = white.map_err(|error| self.words.potential(&error))?;
        let Some(directory) = self.directory else {
            if self.processes.beside_first() {
                help(ridge, &**self.processes.rows());
            }
            return Ok(None);
        };
        let done = self.written(directory, ridge, [curvature, &white], warm, sampled, length);
        // Whatever came of it: nobody waits for more questions.
        let _ = self.processes.rows().of_first(&[]);
        done.map(Some)
    }

    /// Summary and report, in the process that writes.
    fn written<F: Family + Clone, W>(
        &self,
        directory: &RunDirectory,
        ridge: &Ridge<'_, F>,
        curvatures: [&Curvature; 2],
        warm: &WarmedUp<W>,
        sampled: &Sampled,
        length: Length,
    ) -> Result<SummaryDocument, Failure> {
        let draws = StoredDraws::open(&directory.draws())?;
        if sampled.outcome.stopped && draws.draws() == 0 {
            let out = &self.config.options.out;
            return Err(Failure::Stopped(format!("there are no draws yet; {}", goes_on(out))));
        }
        if draws.draws() == 0 {
            return Err(Failure::NoDraws(verdict::no_draws(sampled)));
        }
        let rows = &**self.processes.rows();
        let far = excursion(
            ridge,
            rows,
            &warm.whitening,
            &warm.mode.point,
            &draws,
            self.rescaling.as_ref(),
        );
        let far = far.map_err(|trouble| match trouble {
            Trouble::Draws(error) => error.into(),
            Trouble::Potential(error) => self.words.potential(&error),
        })?;
        let mut document = self.document(warm, sampled, length, curvatures, &draws)?;
        document.warn(far.map(|found| verdict::excursion(&found)));
        document.write(&directory.summary())?;
        write_report(directory)?;
        Ok(document)
    }

    /// The run, into all sinks.
    fn keep<W: ridgewalk::potentials::LineIntegral + Sync>(
        &self,
        warm: &mut WarmedUp<W>,
        length: Length,
    ) -> Result<Sampled, Failure> {
        let options = &self.config.options;
        let thin = options.thin.unwrap_or(warm.thin);
        let failed = |error: &dyn std::fmt::Display, kept: u64| {
            let out = options.out.display();
            let what = format!("the first {kept} draws of each chain are safe in {out}");
            Failure::Run(format!(
                "{error}; {what}. Once that is put right, {}",
                goes_on(&options.out)
            ))
        };
        let safe = self.checkpoint.head.draws.iter().copied().min().unwrap_or(0);
        let saved = match self.checkpoint.run.as_slice() {
            [] => None,
            bytes => Some(SavedRun::from_bytes(bytes).map_err(|error| failed(&error, safe))?),
        };
        let keeper = self
            .directory
            .map(|directory| self.keeper(directory, thin, saved.as_ref()))
            .transpose();
        let keeper = keeper.map_err(|error| match error {
            crate::run::Error::File { what: "write", .. } => failed(&error, safe),
            missing => Failure::Usage(format!(
                "{missing}. To go on, the run needs the {safe} draws of each chain that its checkpoint counts: put them back, or run \
                 `ridgewalk fit` again with another --out"
            )),
        });
        let Some(mut keeper) = self.processes.settle(keeper)? else {
            let mut run = warm.run(length).thin(thin).stop(self.stop);
            if let Some(saved) = saved {
                run = run.from_saved(saved);
            }
            return run
                .keep(&mut Nowhere)
                .map_err(|e| Failure::heard(&e).unwrap_or_else(|| failed(&e, safe)));
        };
        let recent = keeper.recent();
        let mut run = warm
            .run(length)
            .thin(thin)
            .stop(self.stop)
            .checkpoints(CHECKPOINTS)
            .progress(|progress, _| self.display.sampling(progress, &recent.borrow()));
        if let Some(saved) = saved {
            self.display.say(&format!("  going on after {safe} draws of each chain"));
            run = run.from_saved(saved);
        }
        let sampled = run.keep(&mut keeper);
        let safe = keeper.safe_draws();
        match sampled {
            Ok(sampled) => {
                keeper.finish(sampled.outcome.complete()).map_err(|error| failed(&error, safe))?;
                Ok(sampled)
            }
            Err(error) => {
                let kept = keeper.salvage();
                Err(Failure::heard(&error).unwrap_or_else(|| failed(&error, kept)))
            }
        }
    }

    /// The sinks: new ones, or those of the earlier run, cut to what the saved state has.
    fn keeper(
        &self,
        directory: &RunDirectory,
        thin: u64,
        saved: Option<&SavedRun>,
    ) -> Result<Keeper, crate::run::Error> {
        let (names, options) = (&self.frame.names, &self.config.options);
        let head = &self.checkpoint.head;
        let (zarr, csv) = match saved {
            Some(saved) => {
                let csv =
                    head.csv_bytes.map(|bytes| CsvDraws::resume(&directory.csv(), names, bytes));
                // Both are looked at before one is cut.
                let csv = csv.transpose()?;
                (ZarrDraws::resume(&directory.draws(), &saved.draws())?, csv)
            }
            None => {
                directory.clear_draws()?;
                let csv =
                    options.csv.then(|| CsvDraws::create(&directory.csv(), names)).transpose()?;
                (ZarrDraws::create(&directory.draws(), names, thin)?, csv)
            }
        };
        let safe = Safe {
            path: directory.checkpoint(),
            checkpoint: self.checkpoint.clone(),
            began: self.began,
            earlier: head.seconds,
        };
        Ok(Keeper::new(zarr, csv, self.rescaling.clone(), !options.quiet, safe))
    }

    fn document<W>(
        &self,
        warm: &WarmedUp<W>,
        sampled: &Sampled,
        length: Length,
        [curvature, white]: [&Curvature; 2],
        draws: &StoredDraws,
    ) -> Result<SummaryDocument, Failure> {
        let options = &self.config.options;
        let summaries = summaries_of(draws)?;
        let (bias, exact) = (sampled.bias, warm.scheme.trajectory());
        let sampler = SamplerFacts {
            kernel: warm.scheme.name().to_owned(),
            gamma: warm.scheme.gamma().unwrap_or(f64::NAN),
            xi: warm.scheme.xi().unwrap_or(f64::NAN),
            eta: warm.scheme.eta(),
            chains: options.chains,
            draws: draws.draws() as u64,
            thin: options.thin.unwrap_or(warm.thin),
            warmup_gradients: warm.gradients,
            gradients: sampled.gradients(),
            seconds: self.checkpoint.head.seconds + self.began.elapsed().as_secs_f64(),
            bias_estimate: bias.largest(),
            status: String::new(),
            bias_details: exact.is_none().then_some(BiasDetails {
                mean: bias.mean,
                mean_error: bias.mean_error,
                sd: bias.sd,
                sd_error: bias.sd_error,
                tolerance: options.bias_tolerance,
            }),
            trajectories: exact
                .map(|trajectory| Trajectories::new(trajectory.steps, &sampled.outcome)),
        };
        let [m, l] = bounds(curvature);
        let problem = ProblemFacts {
            n: self.frame.all_rows,
            d: self.frame.columns,
            family: options.family.to_string(),
            convexity: m,
            smoothness: l,
            condition_number: l / m,
        };
        let mut history: Vec<String> = warm.history.iter().map(ToString::to_string).collect();
        if let Some(confirmed) = &sampled.confirmation {
            history.push(format!(
                "confirmed at the end of the run: bias of means {:.3} ± {:.3} sd, of sds {:.1} ± {:.1} %",
                confirmed.mean,
                confirmed.mean_error,
                100.0 * confirmed.sd,
                100.0 * confirmed.sd_error
            ));
        }
        for look in &sampled.looks {
            history.push(format!(
                "after {} draws of each chain: smallest bulk ESS {:.0}",
                look.draws, look.ess
            ));
        }
        let text = Text {
            title: self.title(),
            command: self.config.command.clone(),
            guarantee: verdict::guarantee(
                options,
                &warm.scheme,
                white,
                self.frame.columns,
                sampled,
            ),
            notes: self.notes.clone(),
            history,
            facts: self.facts(white),
            ..Text::default()
        };
        let parameters = self.frame.names.iter().zip(&summaries);
        let parameters: Vec<_> =
            parameters.map(|(name, s)| crate::run::Parameter::new(name, s)).collect();
        let warnings = verdict::warnings(options, sampled, length, &parameters);
        let text = Text { warnings, ..text };
        let mut document =
            SummaryDocument::new(&self.frame.names, &summaries, sampler, problem, text)?;
        let mut mode = warm.mode.point.clone();
        if let Some(rescaling) = &self.rescaling {
            rescaling.apply(&mut mode);
        }
        for (parameter, mode) in document.parameters.iter_mut().zip(mode) {
            parameter.mode = Some(mode);
        }
        // The differences are those of the coefficients that were sampled; there are none where
        // there is no bias.
        if self.rescaling.is_none() {
            let found =
                document.parameters.iter_mut().zip(summaries.iter().zip(&sampled.differences));
            for (parameter, (summary, difference)) in found {
                let moments = Extrapolated::new(summary, difference);
                (parameter.mean_extrapolated, parameter.sd_extrapolated) =
                    (Some(moments.mean), Some(moments.sd));
            }
        }
        Ok(document)
    }

    fn title(&self) -> String {
        let options = &self.config.options;
        let file = options
            .data
            .as_ref()
            .and_then(|path| path.file_name())
            .map(|name| name.to_string_lossy());
        let file = file.map_or("the breast cancer data".into(), |name| name.into_owned());
        format!("{} in {file}", options.response.as_deref().unwrap_or(BUILT_IN_RESPONSE))
    }

    fn facts(&self, white: &Curvature) -> Vec<Fact> {
        let options = &self.config.options;
        let fact = |name: &str, value: String| Fact { name: name.into(), value };
        let mut facts = vec![
            fact("data", format!("{}, SHA-256 {}", self.config.data.file, self.config.data.sha256)),
            fact("prior", prior_in_words(&self.config.resolved)),
            fact(
                "scale of the results",
                match (options.standardize, options.original_scale) {
                    (false, _) => "that of the data".into(),
                    (true, false) => {
                        "standardized predictors (centred, divided by their standard deviation)"
                            .into()
                    }
                    (true, true) => {
                        "that of the data; sampled, and priors given, for standardized predictors"
                            .into()
                    }
                },
            ),
        ];
        if let Some(scale) = self.config.resolved.noise_scale {
            facts.push(fact("noise scale", format!("{scale}")));
        }
        if let Ok([m, l]) = white.certifiable() {
            facts.push(fact(
                "curvature after whitening",
                format!("between {m:.4} and {l:.4}, condition number {:.4}", l / m),
            ));
        }
        facts
    }
}

/// Some columns of the store at a time.
fn summaries_of(draws: &StoredDraws) -> Result<Vec<Summary>, Failure> {
    let mut all = Vec::with_capacity(draws.names().len());
    let mut workspace = Summarizer::new();
    draws.columns(|_, columns| {
        let chain = |chain: usize| chain * draws.draws()..(chain + 1) * draws.draws();
        let chains: Vec<Vec<&[f64]>> = columns
            .iter()
            .map(|column| (0..draws.chains()).map(|number| &column[chain(number)]).collect())
            .collect();
        let chains: Vec<&[&[f64]]> = chains.iter().map(Vec::as_slice).collect();
        let some = if draws.chains().saturating_mul(draws.draws()) > ONE_BY_ONE {
            chains.iter().map(|chains| workspace.summary(chains)).collect()
        } else {
            summaries(&chains)
        };
        all.extend(
            some.map_err(|error| Failure::Run(format!("cannot summarise the draws: {error}")))?,
        );
        Ok::<(), Failure>(())
    })?;
    Ok(all)
}

/// Draws of each chain that the run will have, as far as one knows before: what the warm-up may
/// cost follows from it.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a count between two others"
)]
fn expected_draws(options: &FitOptions) -> u64 {
    match options.target_ess {
        Some(target) => {
            ((target / options.chains as f64).ceil() as u64).clamp(1, options.max_draws)
        }
        None => options.draws,
    }
}

fn wanted(options: &FitOptions) -> Wanted {
    let kernel = match options.kernel {
        KernelName::Auto => None,
        KernelName::ThirdOrder => Some(KernelKind::ThirdOrder),
        KernelName::Symmetric => Some(KernelKind::Symmetric),
        KernelName::Averaged => Some(KernelKind::Averaged),
        KernelName::Adjusted => Some(KernelKind::Adjusted),
    };
    Wanted { kernel, gamma: options.gamma, xi: options.xi, eta: options.eta }
}

/// m and L; not a number where there is none.
fn bounds(curvature: &Curvature) -> [f64; 2] {
    let m = curvature.convexity().value;
    [if m > 0.0 { m } else { f64::NAN }, curvature.smoothness().map_or(f64::NAN, |l| l.value)]
}

fn prior_in_words(resolved: &Resolved) -> String {
    let Resolved { prior_means: means, prior_scales: scales, .. } = resolved;
    let all_equal =
        means.windows(2).all(|w| w[0] == w[1]) && scales.windows(2).all(|w| w[0] == w[1]);
    match (means.first(), scales.first()) {
        (Some(_), Some(scale)) if all_equal && scale.is_infinite() => {
            "flat on every coefficient".into()
        }
        (Some(mean), Some(scale)) if all_equal => {
            format!("normal({mean}, {scale}) on every coefficient")
        }
        _ => "normal, of several scales: see config.toml".into(),
    }
}

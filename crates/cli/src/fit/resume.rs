//! `ridgewalk resume`: goes on with a run that was interrupted, or says why it cannot.
//!
//! What is refused: a version of the program, a configuration or data that are not those of the
//! run, since their draws would be of something else; and a checkpoint that is not as it was
//! written. Each with what differs.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use ridgewalk::potentials::peers::Peers;

use super::config::Config;
use super::{Begun, Files, FitOptions, again, fit, tell, threads};
use crate::failure::Failure;
use crate::output;
use crate::processes::Processes;
use crate::run::{Checkpoint, Error, MAX_DOCUMENT, RunDirectory, SummaryDocument, read_file};

/// Lines of a changed `config.toml` that are told.
const TOLD: usize = 3;

/// Options of `ridgewalk resume`.
#[derive(Debug, Args)]
pub(crate) struct ResumeOptions {
    /// The run directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Threads; the draws do not depend on them [default: as the run began]
    #[arg(long, value_name = "T")]
    threads: Option<usize>,
    /// Nothing on standard error but warnings
    #[arg(long)]
    quiet: bool,
    /// Write one JSON document, the one of summary.json
    #[arg(long)]
    json: bool,
}

/// A run that was interrupted.
#[derive(Debug)]
pub(super) struct Earlier {
    /// In the process that writes.
    pub(super) files: Option<Files>,
    pub(super) config: Config,
    pub(super) checkpoint: Checkpoint,
}

impl Earlier {
    /// The configuration to go on with, unless what follows from data and options now is not what
    /// followed then.
    pub(super) fn compared(self, now: Config) -> Result<(Config, Begun), Failure> {
        let Self { files, config, checkpoint } = self;
        let then = &config.resolved;
        let differs = |name: &str, found: String, need: String| {
            Failure::Usage(format!(
                "{}: the data and options give {name} {found} here, and gave {need} when the run began; it can only go on where they give \
                 the same",
                now.options.out.display()
            ))
        };
        let lists = [
            ("the centres", &now.resolved.centres, &then.centres),
            ("the divisors", &now.resolved.divisors, &then.divisors),
        ];
        for (name, found, need) in lists {
            if found != need {
                return Err(differs(name, format!("{found:?}"), format!("{need:?}")));
            }
        }
        if now.resolved.coefficients != then.coefficients {
            return Err(differs(
                "the coefficients",
                now.resolved.coefficients.join(", "),
                then.coefficients.join(", "),
            ));
        }
        if now.resolved.noise_scale != then.noise_scale {
            let [found, need] =
                [now.resolved.noise_scale, then.noise_scale].map(|s| format!("{s:?}"));
            return Err(differs("the noise scale", found, need));
        }
        if let Some((directory, _)) = &files {
            directory.sweep()?;
        }
        // Options of this process, such as its threads, and the rest as it was.
        let config = Config { options: now.options, ..config };
        Ok((config, Begun { files, checkpoint, new: false }))
    }
}

/// Runs the subcommand.
pub(crate) fn run(options: &ResumeOptions) -> Result<(), Failure> {
    let Some((files, checkpoint)) = open(options)? else { return Ok(()) };
    let config = config_of(&files.0, &checkpoint)?;
    let shards = config.processes.row_shards;
    if shards > 1 {
        return Err(Failure::Usage(format!(
            "{} has its rows in {shards} shards, and sums over them are added in that order: `mpirun -n {shards} ridgewalk-mpi resume` goes on",
            options.directory.display()
        )));
    }
    let fit_options = go_on_with(options, &config);
    let pool = threads(fit_options.threads)?;
    let earlier = Earlier { files: Some(files), config, checkpoint };
    let done = pool.install(|| fit(&fit_options, Some(earlier), &Processes::alone()))?;
    done.map_or(Ok(()), |document| tell(&document, &fit_options))
}

/// Runs the subcommand as one of several processes.
pub(crate) fn run_shared(all: &Arc<dyn Peers>, options: &ResumeOptions) -> Result<(), Failure> {
    let together = Processes::grid(Arc::clone(all), 1)?;
    let found = if together.first() { open(options) } else { Ok(None) };
    let found = together.settle(found.and_then(|found| {
        let checked = found.map(|(files, checkpoint)| {
            config_of(&files.0, &checkpoint)?;
            let bytes = checkpoint.to_bytes().map_err(|error| Failure::Run(error.to_string()))?;
            Ok::<_, Failure>((files, bytes))
        });
        checked.transpose()
    }))?;
    let (files, bytes) = found.map_or((None, Vec::new()), |(files, bytes)| (Some(files), bytes));
    let bytes = together.of_first(&bytes);
    if bytes.is_empty() {
        return Ok(());
    }
    let bad = |error: String| {
        Failure::Run(format!("the checkpoint did not arrive as it was sent: {error}"))
    };
    let checkpoint = Checkpoint::from_bytes(&bytes).map_err(bad)?;
    let config: Config =
        toml::from_str(&checkpoint.config).map_err(|error| bad(error.to_string()))?;
    let processes = Processes::grid(Arc::clone(all), config.processes.row_shards)?;
    let fit_options = go_on_with(options, &config);
    let pool = processes.settle(threads(fit_options.threads.or(Some(1))))?;
    let earlier = Earlier { files, config, checkpoint };
    let done = pool.install(|| processes.settle(fit(&fit_options, Some(earlier), &processes)))?;
    processes.settle(done.map_or(Ok(()), |document| tell(&document, &fit_options)))
}

/// The run that is to go on; nothing if it is finished, which is told.
fn open(options: &ResumeOptions) -> Result<Option<(Files, Checkpoint)>, Failure> {
    let directory = RunDirectory::open(&options.directory)?;
    if !directory.interrupted() {
        return finished(options, &directory).map(|()| None);
    }
    let lock = directory.lock()?;
    // It may have been finished by the process that had the lock before.
    if !directory.interrupted() {
        drop(lock);
        return finished(options, &directory).map(|()| None);
    }
    let checkpoint = checked(&directory)?;
    Ok(Some(((directory, lock), checkpoint)))
}

/// The options of the run, but for those of this process.
fn go_on_with(options: &ResumeOptions, config: &Config) -> FitOptions {
    FitOptions {
        // As it was found then, wherever this is typed.
        data: config.options.data.as_ref().map(|_| PathBuf::from(&config.data.file)),
        out: options.directory.clone(),
        threads: options.threads.or(config.options.threads),
        quiet: options.quiet,
        json: options.json,
        ..config.options.clone()
    }
}

/// Nothing is left to do: the table again.
fn finished(options: &ResumeOptions, directory: &RunDirectory) -> Result<(), Failure> {
    let out = directory.path();
    if !directory.summary().is_file() {
        let found = "it has neither a checkpoint nor a summary";
        return Err(Error::NotARun { path: out.to_owned(), found }.into());
    }
    directory.tidy();
    let document = SummaryDocument::read(&directory.summary())?;
    if !options.quiet && !options.json {
        super::progress::write_line(&format!(
            "{} is finished: there is nothing to resume",
            out.display()
        ));
    }
    if options.json { output::json(&document) } else { output::text(&again::text(&document, out)) }
}

/// What to do about a run that cannot go on.
fn again_from_the_start(directory: &RunDirectory) -> String {
    format!(
        "The run cannot go on; the draws in {} stay as they are, and `ridgewalk fit` with another --out makes it from the start",
        directory.path().display()
    )
}

/// The checkpoint, if it belongs to the configuration and to this program.
fn checked(directory: &RunDirectory) -> Result<Checkpoint, Failure> {
    let (out, again) = (directory.path().display(), again_from_the_start(directory));
    let checkpoint = Checkpoint::read(&directory.checkpoint()).map_err(|error| match error {
        Error::Format { .. } => Failure::Usage(format!("{error}. {again}")),
        other => other.into(),
    })?;
    let (then, now) = (&checkpoint.head.version, env!("CARGO_PKG_VERSION"));
    if then != now {
        return Err(Failure::Usage(format!(
            "{out} was begun by ridgewalk {then}, and this is {now}, whose draws may be others; need version {then} to go on"
        )));
    }
    let path = directory.config();
    let text = read_file(&path, MAX_DOCUMENT, "the options of the run")?;
    let text = String::from_utf8_lossy(&text);
    if text != checkpoint.config {
        return Err(Failure::Usage(format!(
            "{} has changed since the run began: {}. Put back what it was to go on, or run `ridgewalk fit` with the new options and \
             another --out",
            path.display(),
            differences(&checkpoint.config, &text)
        )));
    }
    Ok(checkpoint)
}

fn config_of(directory: &RunDirectory, checkpoint: &Checkpoint) -> Result<Config, Failure> {
    toml::from_str(&checkpoint.config).map_err(|error| {
        let (path, again) = (directory.config(), again_from_the_start(directory));
        Failure::Usage(format!("{}: {}. {again}", path.display(), error.message()))
    })
}

/// The first lines in which two texts differ.
fn differences(then: &str, now: &str) -> String {
    let ([then, now], most) = ([then, now].map(|text| text.lines().collect::<Vec<_>>()), TOLD);
    let of = |lines: &[&str], at: usize| {
        lines.get(at).map_or("no line".to_owned(), |line| format!("`{line}`"))
    };
    let differ: Vec<usize> =
        (0..then.len().max(now.len())).filter(|at| then.get(*at) != now.get(*at)).collect();
    let told = differ
        .iter()
        .take(most)
        .map(|at| format!("line {}: found {}, need {}", at + 1, of(&now, *at), of(&then, *at)));
    let told: Vec<String> = told.collect();
    let more = differ.len().saturating_sub(most);
    let more = if more > 0 { format!("; and {more} lines more") } else { String::new() };
    if differ.is_empty() { "its line ends are others".to_owned() } else { told.join("; ") + &more }
}

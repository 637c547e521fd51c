//! Opening an interrupted run, or reporting why it cannot be resumed.
//!
//! Refused are another version of the program and a changed configuration or data, since the draws
//! would differ; and a damaged checkpoint.

use std::path::Path;

use ridgewalk_fit::{Config, Resolved};

use crate::checkpoint::Checkpoint;
use crate::directory::{MAX_DOCUMENT, RunDirectory, read_file};
use crate::error::Error;
use crate::open::OpenRun;

/// Maximum number of changed lines of `config.toml` in a message.
const SHOWN: usize = 3;

impl OpenRun {
    /// Opens an interrupted run; `None` if it is finished.
    ///
    /// # Errors
    /// If it is not a run directory, another process is using it, or it cannot be resumed.
    pub fn resume(path: &Path) -> Result<Option<Self>, Error> {
        let directory = RunDirectory::open(path)?;
        if !directory.interrupted() {
            return directory.finished().map(|()| None);
        }
        let lock = directory.lock()?;
        // The previous holder of the lock may have finished it.
        if !directory.interrupted() {
            drop(lock);
            return directory.finished().map(|()| None);
        }
        let checkpoint = checked(&directory)?;
        let config = Config::from_toml(&checkpoint.config).map_err(|error| {
            let (path, found) = (directory.config(), error.message().to_owned());
            Error::CannotGoOn { path, found, directory: directory.path().to_owned() }
        })?;
        Ok(Some(Self { directory, lock, config, checkpoint }))
    }

    /// Checks that the data are those of the run, by their digest.
    ///
    /// # Errors
    /// [`Error::Data`] with both digests.
    pub fn same_data(&self, file: &str, sha256: &str) -> Result<(), Error> {
        let need = &self.config.data.sha256;
        if sha256 == need {
            return Ok(());
        }
        let (file, found, need) = (file.to_owned(), sha256.to_owned(), need.clone());
        Err(Error::Data { file, found, need })
    }

    /// Checks that data and settings give the same derived values as when the run began, and
    /// removes half-written files. Settings of this process, such as its threads, may differ.
    ///
    /// # Errors
    /// [`Error::Changed`] names the first difference.
    pub fn go_on_with(&mut self, now: Config) -> Result<(), Error> {
        self.same_data(&now.data.file, &now.data.sha256)?;
        if let Some((what, found, need)) = difference(&now.resolved, &self.config.resolved) {
            let path = self.directory.path().to_owned();
            return Err(Error::Changed { path, what, found, need });
        }
        self.directory.sweep()?;
        self.config.options = now.options;
        Ok(())
    }
}

impl RunDirectory {
    /// Checks that there is a summary. Removes leftovers of a finished run.
    fn finished(&self) -> Result<(), Error> {
        if !self.summary().is_file() {
            let found = "it has neither a checkpoint nor a summary";
            return Err(Error::NotARun { path: self.path().to_owned(), found });
        }
        self.tidy();
        Ok(())
    }
}

/// The first difference of two sets of derived values.
fn difference(now: &Resolved, then: &Resolved) -> Option<(&'static str, String, String)> {
    let lists = [
        ("the centres", &now.centres, &then.centres),
        ("the divisors", &now.divisors, &then.divisors),
    ];
    for (name, found, need) in lists {
        if found != need {
            return Some((name, format!("{found:?}"), format!("{need:?}")));
        }
    }
    if now.names() != then.names() {
        let [found, need] = [now, then].map(|resolved| resolved.names().join(", "));
        return Some(("the coefficients", found, need));
    }
    if now.noise_scale != then.noise_scale {
        let [found, need] = [now, then].map(|resolved| format!("{:?}", resolved.noise_scale));
        return Some(("the noise scale", found, need));
    }
    None
}

/// The checkpoint, if it matches the configuration and this version.
fn checked(directory: &RunDirectory) -> Result<Checkpoint, Error> {
    let here = directory.path().to_owned();
    let checkpoint = Checkpoint::read(&directory.checkpoint()).map_err(|error| match error {
        Error::Format { path, found, need } => Error::CannotGoOn {
            path,
            found: format!("{found}; need {need}"),
            directory: here.clone(),
        },
        other => other,
    })?;
    let (then, now) = (&checkpoint.head.version, env!("CARGO_PKG_VERSION"));
    if then != now {
        return Err(Error::Version { path: here, then: then.clone(), now });
    }
    let path = directory.config();
    let text = read_file(&path, MAX_DOCUMENT, "the options of the run")?;
    let text = String::from_utf8_lossy(&text);
    if text != checkpoint.config {
        return Err(Error::Config { path, found: differences(&checkpoint.config, &text) });
    }
    Ok(checkpoint)
}

/// The first lines in which two texts differ.
fn differences(then: &str, now: &str) -> String {
    let [then, now] = [then, now].map(|text| text.lines().collect::<Vec<_>>());
    let of = |lines: &[&str], at: usize| {
        lines.get(at).map_or("no line".to_owned(), |line| format!("`{line}`"))
    };
    let differ: Vec<usize> =
        (0..then.len().max(now.len())).filter(|at| then.get(*at) != now.get(*at)).collect();
    if differ.is_empty() {
        return "its line endings differ".to_owned();
    }
    let line =
        |at: &usize| format!("line {}: found {}, need {}", at + 1, of(&now, *at), of(&then, *at));
    let mut shown: Vec<String> = differ.iter().take(SHOWN).map(line).collect();
    if differ.len() > SHOWN {
        shown.push(format!("and {} more lines", differ.len() - SHOWN));
    }
    shown.join("; ")
}

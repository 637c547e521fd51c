//! What can go wrong with a run's files.

use std::path::{Path, PathBuf};

/// What was to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileAction {
    /// Read it.
    Read,
    /// Write it.
    Write,
    /// Go on with it after an interruption.
    Resume,
    /// Lock it.
    Lock,
    /// Open it as a run directory.
    Open,
    /// Remove it.
    Remove,
    /// Make it as a directory.
    Make,
}

impl std::fmt::Display for FileAction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Resume => "resume",
            Self::Lock => "lock",
            Self::Open => "open the run directory",
            Self::Remove => "remove",
            Self::Make => "create the directory",
        })
    }
}

/// What can go wrong with a run's files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What was to be done with it.
        what: FileAction,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of a new run cannot be made.
    #[error("cannot create the directory {}: {source}; pass `--out OTHER` to write somewhere else", path.display())]
    Make {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of a new run is already there.
    #[error("{} already exists and holds {found}: {remedy}", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
        /// What is in it.
        found: &'static str,
        /// What to do.
        remedy: String,
    },
    /// Another process has the directory of a run.
    #[error("another process is using {}: wait until it ends, or stop it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A directory is not that of a run.
    #[error("{} is not a run directory: {found}; need a directory made by `ridgewalk fit`", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
        /// What is there instead.
        found: &'static str,
    },
    /// A file does not hold what this program writes.
    #[error("{}: {found}; need {need}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        found: String,
        /// What it should hold.
        need: &'static str,
    },
    /// Draws that do not fit a store.
    #[error("{what}: got {got}, need {need}")]
    Shape {
        /// What is counted.
        what: &'static str,
        /// What came.
        got: usize,
        /// What fits.
        need: usize,
    },
    /// A draw out of turn.
    #[error("draw {got} of chain {chain} is out of order, need draw {need} next")]
    Order {
        /// The chain.
        chain: usize,
        /// The number of the draw.
        got: u64,
        /// The number that was to come.
        need: u64,
    },
    /// A store has fewer draws than it should go on from.
    #[error("{} holds {got} draws of chain {chain}; need {need} to resume", path.display())]
    Missing {
        /// The store.
        path: PathBuf,
        /// The chain.
        chain: usize,
        /// Draws that are there.
        got: u64,
        /// Draws that should be.
        need: u64,
    },
    /// A checkpoint or configuration from which the run cannot go on.
    #[error(
        "{}: {found}. The run cannot be resumed; the draws in {} are kept. Run `ridgewalk fit` with another --out to start again",
        path.display(), directory.display()
    )]
    CannotGoOn {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        found: String,
        /// The run directory.
        directory: PathBuf,
    },
    /// A run of another version of the program.
    #[error(
        "{} was started by ridgewalk {then} and this is {now}, whose draws may differ; need version {then} to resume",
        path.display()
    )]
    Version {
        /// The run directory.
        path: PathBuf,
        /// The version that began it.
        then: String,
        /// This version.
        now: &'static str,
    },
    /// A configuration that has changed since the run began.
    #[error(
        "{} has changed since the run began: {found}. Restore it to resume, or run `ridgewalk fit` with the new options and another --out",
        path.display()
    )]
    Config {
        /// The file.
        path: PathBuf,
        /// The lines that differ.
        found: String,
    },
    /// Data that have changed since the run began.
    #[error(
        "{file} has changed since the run began: found SHA-256 {found}, need {need}. Restore the original data to resume, or run `ridgewalk fit` on the new data with another --out"
    )]
    Data {
        /// The file.
        file: String,
        /// Its digest.
        found: String,
        /// The digest that it had.
        need: String,
    },
    /// Something else that follows from data and settings and is not what it was.
    #[error(
        "{}: the data and options give {what} {found} here but gave {need} when the run began; the run can only be resumed where they agree",
        path.display()
    )]
    Changed {
        /// The run directory.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// What follows now.
        found: String,
        /// What followed then.
        need: String,
    },
    /// Draws that cannot be read for a report.
    #[error(transparent)]
    Draws(#[from] ridgewalk_fit::Error),
}

/// Whose fault an error is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A directory is in the way, is not a run or cannot go on: another one has to be named.
    Input,
    /// Files cannot be read or written.
    Files,
}

impl Error {
    /// Whose fault it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Exists { .. }
            | Self::Busy { .. }
            | Self::NotARun { .. }
            | Self::CannotGoOn { .. }
            | Self::Version { .. }
            | Self::Config { .. }
            | Self::Data { .. }
            | Self::Changed { .. } => ErrorKind::Input,
            Self::File { .. }
            | Self::Make { .. }
            | Self::Format { .. }
            | Self::Shape { .. }
            | Self::Order { .. }
            | Self::Missing { .. }
            | Self::Draws(_) => ErrorKind::Files,
        }
    }

    /// For `map_err`: `what` could not be done with `path`.
    pub(crate) fn file(what: FileAction, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// A file with something wrong in it.
    pub(crate) fn format(path: &Path, found: impl ToString, need: &'static str) -> Self {
        Self::Format { path: path.to_owned(), found: found.to_string(), need }
    }
}

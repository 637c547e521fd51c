//! Errors of a run's files.

use std::path::{Path, PathBuf};

/// An operation on a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum FileAction {
    /// Read it.
    Read,
    /// Write it.
    Write,
    /// Resume it after an interruption.
    Resume,
    /// Lock it.
    Lock,
    /// Open it as a run directory.
    Open,
    /// Remove it.
    Remove,
    /// Create it as a directory.
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

/// An error of a run's files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// The operation.
        what: FileAction,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of a new run cannot be created.
    #[error("cannot create the directory {}: {source}; pass `--out OTHER` to write somewhere else", path.display())]
    Make {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of a new run already exists.
    #[error("{} already exists and {found}: {remedy}", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
        /// What it is or holds, as a clause.
        found: &'static str,
        /// The remedy.
        remedy: String,
    },
    /// Another process is using the run directory.
    #[error("another process is using {}: wait until it ends, or stop it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A directory is not a run directory.
    #[error("{} is not a run directory: {found}; need a directory made by `ridgewalk fit`", path.display())]
    NotARun {
        /// The directory.
        path: PathBuf,
        /// What was found instead.
        found: &'static str,
    },
    /// A file does not have the format that this program writes.
    #[error("{}: {found}; need {need}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        found: String,
        /// What it should hold.
        need: &'static str,
    },
    /// Draws whose shape does not match the store.
    #[error("{what}: got {got}, need {need}")]
    Shape {
        /// What is counted.
        what: &'static str,
        /// The number found.
        got: usize,
        /// The number needed.
        need: usize,
    },
    /// A draw out of order.
    #[error("draw {got} of chain {chain} is out of order, need draw {need} next")]
    Order {
        /// The chain.
        chain: usize,
        /// The number of the draw.
        got: u64,
        /// The number of the next draw.
        need: u64,
    },
    /// A draw with statistics in a store without them, or without in a store with them.
    #[error(
        "draw {draw} of chain {chain} comes {}, need draws that have statistics all or none",
        if *got { "with statistics" } else { "without statistics" }
    )]
    Statistics {
        /// The chain.
        chain: usize,
        /// The number of the draw.
        draw: u64,
        /// Whether it has statistics.
        got: bool,
    },
    /// An array of an export that cannot be written as asked.
    #[error("{}: {found}; need {need}", path.display())]
    Export {
        /// The group or array.
        path: PathBuf,
        /// What was asked.
        found: String,
        /// What is possible.
        need: String,
    },
    /// A store has fewer draws than its checkpoint counts.
    #[error("{} holds {got} draws of chain {chain}; need {need} to resume", path.display())]
    Missing {
        /// The store.
        path: PathBuf,
        /// The chain.
        chain: usize,
        /// Draws found.
        got: u64,
        /// Draws needed.
        need: u64,
    },
    /// A checkpoint or configuration from which the run cannot be resumed.
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
    /// A run started by another version of the program.
    #[error(
        "{} was started by ridgewalk {then} and this is {now}, whose draws may differ; need version {then} to resume",
        path.display()
    )]
    Version {
        /// The run directory.
        path: PathBuf,
        /// The version that started it.
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
        /// The digest at the start of the run.
        need: String,
    },
    /// Another value derived from data and settings that differs from the start of the run.
    #[error(
        "{}: the data and options give {what} {found} here but gave {need} when the run began; the run can only be resumed where they agree",
        path.display()
    )]
    Changed {
        /// The run directory.
        path: PathBuf,
        /// What it is.
        what: &'static str,
        /// The value now.
        found: String,
        /// The value at the start of the run.
        need: String,
    },
    /// Draws that cannot be read for a report.
    #[error(transparent)]
    Draws(#[from] ridgewalk_fit::Error),
}

/// The cause of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A directory exists already, is not a run or cannot be resumed: another one has to be named.
    Input,
    /// Files cannot be read or written.
    Files,
}

impl Error {
    /// The cause.
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
            | Self::Statistics { .. }
            | Self::Export { .. }
            | Self::Missing { .. }
            | Self::Draws(_) => ErrorKind::Files,
        }
    }

    /// For `map_err`: the operation `what` failed on `path`.
    pub(crate) fn file(what: FileAction, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// A file with an error in it.
    pub(crate) fn format(path: &Path, found: impl ToString, need: &'static str) -> Self {
        Self::Format { path: path.to_owned(), found: found.to_string(), need }
    }
}

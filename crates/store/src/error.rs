//! What can go wrong with a run's files.

use std::path::{Path, PathBuf};

/// What can go wrong with a run's files.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {what} {}: {source}", path.display())]
    File {
        /// What was to be done with it.
        what: &'static str,
        /// The file or directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of a new run cannot be made.
    #[error("cannot make the directory {}: {source}; pass `--out OTHER` to write somewhere else", path.display())]
    Make {
        /// The directory.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The directory of a new run is already there.
    #[error("{} is already there and holds {found}: {remedy}", path.display())]
    Exists {
        /// The directory.
        path: PathBuf,
        /// What is in it.
        found: &'static str,
        /// What to do.
        remedy: String,
    },
    /// Another process has the directory of a run.
    #[error("another process is working on {}: wait until it has ended, or end it", path.display())]
    Busy {
        /// The directory.
        path: PathBuf,
    },
    /// A directory is not that of a run.
    #[error("{} is no run directory: {found}; need one that `ridgewalk fit` has made", path.display())]
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
    #[error("draws of {what}: got {got}, need {need}")]
    Shape {
        /// What is counted.
        what: &'static str,
        /// What came.
        got: usize,
        /// What fits.
        need: usize,
    },
    /// A draw out of turn.
    #[error("draw {got} of chain {chain} came where draw {need} is the next")]
    Order {
        /// The chain.
        chain: usize,
        /// The number of the draw.
        got: u64,
        /// The number that was to come.
        need: u64,
    },
    /// A store has fewer draws than it should go on from.
    #[error("{} holds {got} draws of chain {chain}; need {need} to go on from there", path.display())]
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
}

impl Error {
    /// For `map_err`: `what` could not be done with `path`.
    pub(crate) fn file(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::File { what, path, source }
    }

    /// A file with something wrong in it.
    pub(crate) fn format(path: &Path, found: impl ToString, need: &'static str) -> Self {
        Self::Format { path: path.to_owned(), found: found.to_string(), need }
    }
}

//! What ends the program early, and the exit code it ends with.

use std::io::Write;
use std::process::ExitCode;

/// A failure that reaches the user.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// A value on the command line cannot be used: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A data file, a prior or a question to them cannot be used: exit code 2.
    #[error(transparent)]
    Data(#[from] crate::data::DataError),
    /// A run directory is in the way or is none: exit code 2; it cannot be written or read: exit
    /// code 1.
    #[error(transparent)]
    Files(#[from] crate::run::Error),
    /// The run failed: exit code 1.
    #[error("{0}")]
    Run(String),
    /// The run came to its end without a draw that all chains have: exit code 1.
    #[error("{0}")]
    NoDraws(String),
    /// The run was stopped by a signal, which standard error has told: exit code 130.
    #[error("stopped: {0}")]
    Stopped(String),
    /// It failed in another process of the run: with the exit code of that one.
    #[error("{message}")]
    Elsewhere {
        /// The exit code.
        code: u8,
        /// What that process said.
        message: String,
    },
    /// A certificate or a plan was refuted or not found, which standard output tells: exit code 3.
    #[error("not certified")]
    NotCertified,
    /// Claims of the paper, this many, do not hold: exit code 1.
    #[error("{0} of the claims do not hold")]
    Claims(usize),
    /// A file cannot be written: exit code 1.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// Where it should have been.
        path: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Standard output cannot be written to: exit code 1.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// Writes the message to standard error and gives the exit code.
    pub(crate) fn tell(&self) -> ExitCode {
        if !matches!(self, Self::NotCertified) {
            // Standard error may be closed; the exit code still tells.
            let _ = writeln!(std::io::stderr(), "error: {self}");
        }
        ExitCode::from(self.code())
    }

    /// The exit code.
    pub(crate) fn code(&self) -> u8 {
        match self {
            Self::Elsewhere { code, .. } => *code,
            Self::Usage(_) | Self::Data(_) => 2,
            Self::Files(
                crate::run::Error::Exists { .. }
                | crate::run::Error::NotARun { .. }
                | crate::run::Error::Busy { .. },
            ) => 2,
            Self::Stopped(_) => 130,
            Self::Files(_)
            | Self::Run(_)
            | Self::NoDraws(_)
            | Self::Claims(_)
            | Self::File { .. }
            | Self::Output(_) => 1,
            Self::NotCertified => 3,
        }
    }
}

impl From<ridgewalk::coefficients::Error> for Failure {
    fn from(error: ridgewalk::coefficients::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<ridgewalk::lyapunov::Error> for Failure {
    fn from(error: ridgewalk::lyapunov::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

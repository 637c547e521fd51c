//! Failures of the program and their exit codes.

use std::io::Write;
use std::process::ExitCode;

use ridgewalk::RunError;
use ridgewalk::frame::DataError;
use ridgewalk::{pipeline as fit, store};

/// A failure that is reported to the user.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Failure {
    /// An invalid value on the command line: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// A fit failed: exit code 1, or 2 if settings, data or the run directory have to change.
    #[error(transparent)]
    Fit(#[from] RunError),
    /// A computation failed: exit code 1.
    #[error("{0}")]
    Run(String),
    /// The run was stopped by a signal: exit code 130.
    #[error("stopped: {0}")]
    Stopped(String),
    /// Another process of the run failed: its message and exit code.
    #[error("{message}")]
    Elsewhere {
        /// The exit code.
        code: u8,
        /// The message.
        message: String,
    },
    /// A certificate or a plan was refuted or not found, as printed on standard output: exit code
    /// 3.
    #[error("not certified")]
    NotCertified,
    /// This many claims of the paper do not hold: exit code 1.
    #[error("{0} of the claims do not hold")]
    Claims(usize),
    /// A file cannot be written: exit code 1.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The path.
        path: std::path::PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// Standard output cannot be written to: exit code 1.
    #[error("cannot write to standard output: {0}")]
    Output(#[from] std::io::Error),
}

impl Failure {
    /// Writes the message to standard error and returns the exit code.
    #[must_use]
    pub fn report(&self) -> ExitCode {
        if !matches!(self, Self::NotCertified) {
            // Standard error may be closed; the exit code still reports the failure.
            let _ = writeln!(std::io::stderr(), "error: {}", self.words());
        }
        ExitCode::from(self.code())
    }

    /// The message.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Self::Fit(error @ RunError::Stopped { .. }) => format!("stopped: {error}"),
            other => other.to_string(),
        }
    }

    /// The exit code.
    #[must_use]
    pub fn code(&self) -> u8 {
        match self {
            Self::Elsewhere { code, .. } => *code,
            Self::Usage(_) => 2,
            Self::Fit(error) => code_of(error),
            Self::Stopped(_) => 130,
            Self::Run(_) | Self::Claims(_) | Self::File { .. } | Self::Output(_) => 1,
            Self::NotCertified => 3,
        }
    }
}

/// The exit code of a fit that failed.
fn code_of(error: &RunError) -> u8 {
    match error {
        RunError::Fit(error) => match error.kind() {
            fit::ErrorKind::Input => 2,
            fit::ErrorKind::Stopped => 130,
            _ => 1,
        },
        RunError::Store(error) => match error.kind() {
            store::ErrorKind::Input => 2,
            _ => 1,
        },
        RunError::Stopped { .. } => 130,
        RunError::MissingDraws { .. } => 2,
        _ => 1,
    }
}

impl From<fit::Error> for Failure {
    fn from(error: fit::Error) -> Self {
        Self::Fit(error.into())
    }
}

impl From<DataError> for Failure {
    fn from(error: DataError) -> Self {
        fit::Error::from(error).into()
    }
}

impl From<store::Error> for Failure {
    fn from(error: store::Error) -> Self {
        Self::Fit(error.into())
    }
}

impl From<ridgewalk::coefficients::Error> for Failure {
    fn from(error: ridgewalk::coefficients::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<ridgewalk::theory::TheoryError> for Failure {
    fn from(error: ridgewalk::theory::TheoryError) -> Self {
        Self::Usage(error.to_string())
    }
}

impl From<ridgewalk::lyapunov::Error> for Failure {
    fn from(error: ridgewalk::lyapunov::Error) -> Self {
        Self::Usage(error.to_string())
    }
}

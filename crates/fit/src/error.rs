//! Errors of a fit.

use ridgewalk_frame::place::listed;
use ridgewalk_frame::{DataError, FamilyName};
use ridgewalk_potentials as potentials;
use ridgewalk_sampler as sampler;
use ridgewalk_sampler::automatic::NoDraws;

use crate::memory::Memory;
use crate::priors::PriorError;

/// The cause of an error, and so what can be done about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// Settings, data or priors have to change.
    Input,
    /// The run failed.
    Run,
    /// The run was stopped on request.
    Stopped,
    /// Chains ended before each had a draw; running again would not change that.
    NoDraws,
}

/// An error of a fit.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An invalid setting.
    #[error("{name} {value}: need {need}")]
    Setting {
        /// The setting, as a command-line option.
        name: &'static str,
        /// Its value.
        value: String,
        /// What is needed.
        need: String,
    },
    /// No response was given.
    #[error(
        "no response column given: pass --response NAME; {file} has {}",
        listed(.columns, 12)
    )]
    NoResponse {
        /// The data file.
        file: String,
        /// Its columns.
        columns: Vec<String>,
    },
    /// A coefficient with the name of a parameter of the family.
    #[error(
        "found a predictor called `{name}`, which is the name of a parameter of the {family} family: \
         need another name of the column"
    )]
    TakenName {
        /// The name.
        name: String,
        /// The family.
        family: FamilyName,
    },
    /// Invalid data.
    #[error(transparent)]
    Data(#[from] DataError),
    /// Invalid priors.
    #[error(transparent)]
    Prior(#[from] PriorError),
    /// The posterior is improper or cannot be computed.
    #[error("{message}")]
    Model {
        /// What is wrong, with the names of columns and the lines of rows.
        message: String,
        /// The same error by row and column number.
        source: Box<potentials::Error>,
        /// Whether settings or data have to change; if not, the computation failed.
        input: bool,
    },
    /// The noise scale cannot be estimated from residuals.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// The sampler failed.
    #[error(transparent)]
    Sampler(#[from] sampler::Error),
    /// A stop was requested before the first draw.
    #[error("stopped before the first draw")]
    Stopped,
    /// Chains ended before each had a draw.
    #[error("{0}. Try shorter steps (--eta) or another kernel (--kernel third-order)")]
    NoDraws(NoDraws),
    /// Draws cannot be read back.
    #[error("cannot read the draws: {0}")]
    Draws(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Draws cannot be summarised.
    #[error("cannot summarise the draws: {0}")]
    Summary(#[from] ridgewalk_diagnostics::Error),
    /// The data are not those of the fit.
    #[error(
        "{file} is not the file that was fitted: its SHA-256 differs from the one in config.toml; \
         need the same data"
    )]
    OtherData {
        /// The data file.
        file: String,
    },
    /// The data of a fit were in memory.
    #[error(
        "the data of this fit, `{name}`, were in memory and are not in a file: need a fit of a file"
    )]
    NotAFile {
        /// The name of the table.
        name: String,
    },
    /// Fits that cannot be compared.
    #[error(
        "{first} ({rows} rows) and {second} ({other_rows} rows) have different responses or \
         weights: need fits of the same rows, the same response and the same weights"
    )]
    OtherResponses {
        /// A fit.
        first: String,
        /// Its rows.
        rows: usize,
        /// Another fit.
        second: String,
        /// Its rows.
        other_rows: usize,
    },
    /// A problem that does not fit into the memory it may take.
    #[error(
        "{file} needs about {needs} of memory for {what}, and there is {bound} for it; {remedy}"
    )]
    Memory {
        /// The data file.
        file: String,
        /// What takes the memory.
        what: String,
        /// How much, about.
        needs: Memory,
        /// What it may take.
        bound: Memory,
        /// What to do.
        remedy: String,
    },
    /// Threads cannot be started.
    #[error("cannot start threads: {0}")]
    Threads(#[from] rayon::ThreadPoolBuildError),
}

/// Why a noise scale cannot be estimated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NoiseError {
    /// There are no residuals.
    #[error(
        "the noise cannot be told from the fit: {rows} rows and {coefficients} coefficients leave no residuals; use fewer predictors, or fix the noise with --family gaussian --noise-scale S"
    )]
    NoResiduals {
        /// Rows.
        rows: usize,
        /// Coefficients.
        coefficients: usize,
    },
    /// The residuals are zero or nearly so.
    #[error(
        "the noise cannot be told from the fit: least squares leave residuals of {scale:e}, because the model fits the responses exactly; leave out a predictor that determines the response, or fix the noise with --family gaussian --noise-scale S"
    )]
    Vanishing {
        /// The estimate.
        scale: f64,
    },
    /// Effects of groups leave no residuals.
    #[error(
        "the noise cannot be told from the fit: with the effects of {groups} the model fits the responses exactly, as where the response is the same in all rows of a level; fit one row for each level, or fix the noise with --family gaussian --noise-scale S"
    )]
    WithinGroups {
        /// The grouping factors.
        groups: String,
    },
}

impl Error {
    pub(crate) fn setting(
        name: &'static str, value: impl ToString, need: impl Into<String>,
    ) -> Self {
        Self::Setting { name, value: value.to_string(), need: need.into() }
    }

    /// The cause.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Setting { .. }
            | Self::NoResponse { .. }
            | Self::TakenName { .. }
            | Self::Data(_)
            | Self::Prior(_)
            | Self::Noise(_)
            | Self::OtherData { .. }
            | Self::NotAFile { .. }
            | Self::OtherResponses { .. }
            | Self::Memory { .. }
            | Self::Model { input: true, .. } => ErrorKind::Input,
            Self::Sampler(
                sampler::Error::Zero { .. }
                | sampler::Error::NoStableStep { .. }
                | sampler::Error::Coefficients(_)
                | sampler::Error::Scheme(_),
            ) => ErrorKind::Input,
            Self::Stopped => ErrorKind::Stopped,
            Self::NoDraws(_) => ErrorKind::NoDraws,
            Self::Model { .. }
            | Self::Sampler(_)
            | Self::Draws(_)
            | Self::Summary(_)
            | Self::Threads(_) => ErrorKind::Run,
        }
    }
}

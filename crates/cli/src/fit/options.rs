//! The options of `ridgewalk fit`, as clap reads them and `config.toml` keeps them.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::data::FamilyName;

/// The kernels that can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KernelName {
    /// The one that gives most effective draws a gradient within the tolerance.
    Auto,
    /// The paper's Algorithm 1.
    ThirdOrder,
    /// The symmetric splitting of the same dynamics.
    Symmetric,
    /// The gradient's average over a predicted segment.
    Averaged,
    /// Trajectories that are accepted or rejected: no discretisation bias.
    Adjusted,
}

impl std::fmt::Display for KernelName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Auto => "auto",
            Self::ThirdOrder => "third-order",
            Self::Symmetric => "symmetric",
            Self::Averaged => "averaged",
            Self::Adjusted => "adjusted",
        })
    }
}

/// Options of `ridgewalk fit`.
#[derive(Debug, Clone, PartialEq, Args, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct FitOptions {
    /// The data: CSV with a line of names, or Parquet [default: breast cancer data that ship with
    /// the program, --standardize]
    #[arg(value_name = "DATA")]
    pub data: Option<PathBuf>,
    /// The column to be explained; needed with DATA
    #[arg(long, value_name = "NAME")]
    pub response: Option<String>,
    /// The kind of model
    #[arg(long, value_enum, default_value = "logistic")]
    pub family: FamilyName,
    /// Columns to use, with commas between them [default: all others]
    #[arg(long, value_name = "A,B,C")]
    pub predictors: Option<String>,
    /// Column of trials: the response counts successes out of them (logistic, probit)
    #[arg(long, value_name = "NAME")]
    pub trials: Option<String>,
    /// Column that is added to the linear predictor
    #[arg(long, value_name = "NAME")]
    pub offset: Option<String>,
    /// Column that says what each row counts for
    #[arg(long, value_name = "NAME")]
    pub weights: Option<String>,
    /// Leave the constant out
    #[arg(long)]
    pub no_intercept: bool,
    /// Leave rows with missing values out
    #[arg(long)]
    pub drop_missing: bool,
    /// Centre predictors and divide them by their standard deviation; priors and results are on
    /// that scale
    #[arg(long)]
    pub standardize: bool,
    /// With --standardize: results on the scale of the data
    #[arg(long)]
    pub original_scale: bool,
    /// Priors normal(0, S) of the coefficients; inf is flat
    #[arg(long, value_name = "S", default_value_t = 2.5, allow_negative_numbers = true)]
    pub prior_scale: f64,
    /// Prior normal(0, S) of the intercept; inf is flat
    #[arg(long, value_name = "S", default_value_t = 2.5, allow_negative_numbers = true)]
    pub intercept_prior_scale: f64,
    /// Priors of single coefficients: a TOML file with `[age]`, `mean = 0.0`, `scale = 2.5`
    #[arg(long, value_name = "FILE")]
    pub priors: Option<PathBuf>,
    /// Scale of the noise (gaussian, robust-logistic, robust-huber) [default: estimated from
    /// residuals]
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    pub noise_scale: Option<f64>,
    /// Where Huber's loss turns from a square into a line, in noise scales (robust-huber) [default:
    /// 1.345]
    #[arg(long, value_name = "D", allow_negative_numbers = true)]
    pub huber_delta: Option<f64>,
    /// The kernel
    #[arg(long, value_enum, default_value = "auto")]
    pub kernel: KernelName,
    /// Line integrals by N Chebyshev nodes instead of exactly
    #[arg(long, value_name = "N")]
    pub nodes: Option<usize>,
    /// Fix gamma (whitened coordinates, L = 1) [default: tuned]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub gamma: Option<f64>,
    /// Fix xi [default: tuned]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub xi: Option<f64>,
    /// Fix the step size eta [default: tuned]
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub eta: Option<f64>,
    /// Discretisation bias that is allowed, in posterior standard deviations; 0 is for --kernel
    /// adjusted, which auto then takes
    #[arg(long, value_name = "B", default_value_t = 0.05, allow_negative_numbers = true)]
    pub bias_tolerance: f64,
    /// Chains
    #[arg(long, value_name = "C", default_value_t = 8)]
    pub chains: usize,
    /// Draws that are kept of each chain
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub draws: u64,
    /// Every how many steps a draw is kept [default: chosen, so that draws are nearly independent]
    #[arg(long, value_name = "T")]
    pub thin: Option<u64>,
    /// Go on until the smallest bulk ESS is at least E, instead of a number of draws
    #[arg(long, value_name = "E", allow_negative_numbers = true, conflicts_with = "draws")]
    pub target_ess: Option<f64>,
    /// With --target-ess: the most draws of each chain
    #[arg(long, value_name = "N", default_value_t = 100_000, requires = "target_ess")]
    pub max_draws: u64,
    /// The seed: the same seed gives the same draws, whatever the number of threads
    #[arg(long, value_name = "S", default_value_t = 0)]
    #[serde(with = "as_text")]
    pub seed: u64,
    /// Threads [default: all cores]
    #[arg(long, value_name = "T")]
    pub threads: Option<usize>,
    /// The run directory; it must not exist yet
    #[arg(long, value_name = "DIR", default_value = "ridgewalk-run")]
    pub out: PathBuf,
    /// Write the draws as draws.csv too
    #[arg(long)]
    pub csv: bool,
    /// Nothing on standard error but warnings
    #[arg(long)]
    #[serde(skip)]
    pub quiet: bool,
    /// Write one JSON document, the one of summary.json
    #[arg(long)]
    #[serde(skip)]
    pub json: bool,
}

/// Seeds as text: TOML's whole numbers end at 2⁶³.
mod as_text {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(super) fn serialize<S: Serializer>(seed: &u64, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(seed)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u64, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

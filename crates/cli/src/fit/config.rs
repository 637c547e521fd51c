//! `config.toml`: everything needed to make a run again, with versions and the hash of the data.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::FitOptions;
use crate::failure::Failure;

/// `config.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The version of the program that made the run.
    pub version: String,
    /// The command that made it.
    pub command: String,
    /// The data.
    pub data: DataConfig,
    /// How several processes shared them.
    #[serde(skip_serializing_if = "ProcessesConfig::is_plain", default)]
    pub processes: ProcessesConfig,
    /// The options, those left at their defaults too.
    pub options: FitOptions,
    /// What followed from data and options before the first draw.
    pub resolved: Resolved,
}

/// The data of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct DataConfig {
    /// The file; `built-in` for the data that ship with the program.
    pub file: String,
    /// SHA-256 of its bytes.
    pub sha256: String,
    /// Rows that were used.
    pub rows: usize,
}

/// How the rows of a run were shared among processes. How its chains were is not kept: the draws do
/// not depend on it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessesConfig {
    /// Shards of the rows: sums over them are added in another order than those of one, and differ
    /// by rounding.
    pub row_shards: usize,
}

impl Default for ProcessesConfig {
    fn default() -> Self {
        Self { row_shards: 1 }
    }
}

impl ProcessesConfig {
    fn is_plain(&self) -> bool {
        self.row_shards == 1
    }
}

/// What followed from data and options before the first draw.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Resolved {
    /// The names of the coefficients.
    pub coefficients: Vec<String>,
    /// The means of their priors.
    pub prior_means: Vec<f64>,
    /// The scales of their priors; `inf` is flat.
    pub prior_scales: Vec<f64>,
    /// The scale of the noise, for families that have one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub noise_scale: Option<f64>,
    /// With `--standardize`: what was taken from each column of the design.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub centres: Option<Vec<f64>>,
    /// With `--standardize`: what each column was divided by.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub divisors: Option<Vec<f64>>,
}

impl Config {
    /// The text of the file.
    pub(crate) fn to_toml(&self) -> Result<String, Failure> {
        let text = toml::to_string(self).map_err(|error| Failure::Run(error.to_string()))?;
        Ok(format!(
            "# What `ridgewalk fit` was asked for, and what followed before the first draw.\n{text}"
        ))
    }
}

/// The command that asks for these options: defaults are left out, and `--out` too, which must be
/// another.
pub(super) fn command(options: &FitOptions) -> String {
    let mut words = vec!["ridgewalk".to_owned(), "fit".to_owned()];
    let mut add = |word: String| words.push(quoted(&word));
    if let Some(data) = &options.data {
        add(data.display().to_string());
    }
    let texts = [
        ("--response", &options.response),
        ("--predictors", &options.predictors),
        ("--trials", &options.trials),
        ("--offset", &options.offset),
        ("--weights", &options.weights),
    ];
    let mut pair = |name: &str, value: String| {
        add(name.to_owned());
        add(value);
    };
    pair("--family", options.family.to_string());
    for (name, value) in texts {
        if let Some(value) = value {
            pair(name, value.clone());
        }
    }
    if let Some(priors) = &options.priors {
        pair("--priors", priors.display().to_string());
    }
    pair("--prior-scale", options.prior_scale.to_string());
    pair("--intercept-prior-scale", options.intercept_prior_scale.to_string());
    let numbers = [
        ("--noise-scale", options.noise_scale),
        ("--huber-delta", options.huber_delta),
        ("--gamma", options.gamma),
        ("--xi", options.xi),
        ("--eta", options.eta),
        ("--target-ess", options.target_ess),
    ];
    for (name, value) in numbers {
        if let Some(value) = value {
            pair(name, value.to_string());
        }
    }
    if options.kernel != super::KernelName::Auto {
        pair("--kernel", options.kernel.to_string());
    }
    if let Some(nodes) = options.nodes {
        pair("--nodes", nodes.to_string());
    }
    pair("--bias-tolerance", options.bias_tolerance.to_string());
    pair("--chains", options.chains.to_string());
    if options.target_ess.is_some() {
        pair("--max-draws", options.max_draws.to_string());
    } else {
        pair("--draws", options.draws.to_string());
    }
    if let Some(thin) = options.thin {
        pair("--thin", thin.to_string());
    }
    pair("--seed", options.seed.to_string());
    let flags = [
        ("--no-intercept", options.no_intercept),
        ("--drop-missing", options.drop_missing),
        ("--standardize", options.standardize && options.data.is_some()),
        ("--original-scale", options.original_scale),
        ("--csv", options.csv),
    ];
    words.extend(flags.into_iter().filter(|(_, on)| *on).map(|(name, _)| name.to_owned()));
    words.join(" ")
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,=+:@%".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// A path that means the same from elsewhere, if that can be found out.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

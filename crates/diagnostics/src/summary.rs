//! All diagnostics of a parameter in one record, and of many parameters in parallel.

use rayon::prelude::*;

use crate::error::Error;
use crate::sample::common_length;
use crate::summarizer::Summarizer;

/// The summary of one parameter. Entries that are not defined are NaN: see the
/// [crate's documentation](crate).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Summary {
    /// The mean of all draws.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub mean: f64,
    /// Their standard deviation, with divisor n − 1.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub sd: f64,
    /// The Monte Carlo standard error of the mean.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub mcse_mean: f64,
    /// The Monte Carlo standard error of the sd.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub mcse_sd: f64,
    /// The 5 % quantile.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub q05: f64,
    /// The median.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub q50: f64,
    /// The 95 % quantile.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub q95: f64,
    /// The effective sample size of the bulk.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub ess_bulk: f64,
    /// The effective sample size of the tails.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub ess_tail: f64,
    /// The effective sample size of the mean.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub ess_mean: f64,
    /// The effective sample size of (x − mean)².
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub ess_sd: f64,
    /// Rank-normalised split R-hat.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub rhat: f64,
}

/// Two intervals that hold the same share of the draws. NaN if a draw is not finite.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct Intervals {
    /// The lower end of the central interval: as many draws are below it as above `upper`.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub lower: f64,
    /// Its upper end.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub upper: f64,
    /// The lower end of the highest-density interval, see [`hdi`](crate::hdi()).
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub hdi_lower: f64,
    /// Its upper end.
    #[cfg_attr(feature = "serde", serde(with = "crate::with_serde::number"))]
    pub hdi_upper: f64,
}

impl Intervals {
    pub(crate) const UNDEFINED: Self =
        Self { lower: f64::NAN, upper: f64::NAN, hdi_lower: f64::NAN, hdi_upper: f64::NAN };
}

impl Summary {
    pub(crate) const UNDEFINED: Self = Self {
        mean: f64::NAN,
        sd: f64::NAN,
        mcse_mean: f64::NAN,
        mcse_sd: f64::NAN,
        q05: f64::NAN,
        q50: f64::NAN,
        q95: f64::NAN,
        ess_bulk: f64::NAN,
        ess_tail: f64::NAN,
        ess_mean: f64::NAN,
        ess_sd: f64::NAN,
        rhat: f64::NAN,
    };

    /// The summary of one parameter: one slice of draws per chain, all of the same length.
    pub fn of(chains: &[&[f64]]) -> Result<Self, Error> {
        Summarizer::new().summary(chains)
    }

    /// The smaller of the ESS of the mean and of (x − mean)²; see
    /// [`ess_moments`](crate::ess_moments()).
    pub fn ess_moments(&self) -> f64 {
        self.ess_mean.min(self.ess_sd)
    }
}

/// The summaries of many parameters, each given by its chains, computed in rayon's pool. The result
/// does not depend on the number of threads.
pub fn summaries(parameters: &[&[&[f64]]]) -> Result<Vec<Summary>, Error> {
    let mut workspace = Summarizer::new();
    if let Some(chains) = parameters.first() {
        workspace.prepare(chains.len(), common_length(chains)?);
    }
    parameters
        .par_iter()
        .map_init(|| workspace.clone(), |workspace, chains| workspace.summary(chains))
        .collect()
}

/// Summaries and intervals that hold the share p of the draws, as [`summaries`].
pub fn summaries_and_intervals(
    parameters: &[&[&[f64]]], p: f64,
) -> Result<Vec<(Summary, Intervals)>, Error> {
    let mut workspace = Summarizer::new();
    if let Some(chains) = parameters.first() {
        workspace.prepare(chains.len(), common_length(chains)?);
    }
    parameters
        .par_iter()
        .map_init(
            || workspace.clone(),
            |workspace, chains| workspace.summary_and_intervals(chains, p),
        )
        .collect()
}

/// The summaries of many parameters from chains as a sampler writes them: each chain is a table
/// with one row per draw and one column per parameter, stored row by row. Computed in rayon's pool;
/// the result does not depend on the number of threads.
pub fn summaries_of_table(chains: &[&[f64]], parameters: usize) -> Result<Vec<Summary>, Error> {
    for (chain, table) in chains.iter().enumerate() {
        if parameters == 0 || !table.len().is_multiple_of(parameters) {
            return Err(Error::Table { chain, values: table.len(), parameters });
        }
    }
    let values = common_length(chains).map_err(|error| match error {
        Error::Lengths { chain, got, need } => {
            Error::Lengths { chain, got: got / parameters, need: need / parameters }
        }
        other => other,
    })?;
    let mut workspace = Summarizer::new();
    workspace.prepare(chains.len(), values / parameters);
    let total = chains.len() * (values / parameters);
    let mut all = vec![Summary::UNDEFINED; parameters];
    let start = || (workspace.clone(), Vec::new());
    all.par_chunks_mut(BLOCK).enumerate().for_each_init(
        start,
        |(workspace, columns), (block, out)| {
            gather(chains, parameters, block * BLOCK, out.len(), columns);
            for (summary, column) in out.iter_mut().zip(columns.chunks_exact(total)) {
                *summary = workspace.summary_of_pooled(column, chains.len());
            }
        },
    );
    Ok(all)
}

/// Columns extracted from a table at a time: as many as share a cache line.
const BLOCK: usize = 8;

/// Writes `width` columns starting with `first`, one after the other, each with its chains end to
/// end.
fn gather(
    tables: &[&[f64]], parameters: usize, first: usize, width: usize, columns: &mut Vec<f64>,
) {
    let rows = || tables.iter().flat_map(|table| table.chunks_exact(parameters));
    let total = rows().count();
    columns.resize(width * total, 0.0);
    for (t, row) in rows().enumerate() {
        for (i, &x) in row[first..first + width].iter().enumerate() {
            columns[i * total + t] = x;
        }
    }
}

//! How well a fit predicts rows that it has not seen: leave-one-out cross-validation, by
//! Pareto-smoothed importance sampling, by refitting, or in folds.

mod compare;
mod observed;
mod refit;

use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk_diagnostics::{Elpd, Pointwise, Psis, ess_mean, pareto_k_limit};
use ridgewalk_frame::Table;
use serde::Serialize;

pub use compare::{Compared, Comparison, compare};
pub use observed::Observed;
use refit::Refitter;
pub use refit::folds;

use crate::config::Config;
use crate::draws::DrawReader;
use crate::error::Error;
use crate::fit::in_threads;
use crate::predict::Predictor;

/// Rows between two looks at the stop signal.
const ROWS: usize = 1024;

/// How rows are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LooMethod {
    /// By Pareto-smoothed importance sampling; rows for which that fails are refitted.
    Psis,
    /// One refit for each row.
    Exact,
    /// One refit for each of several groups of rows, chosen at random.
    Folds(usize),
}

/// Options of [`loo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LooOptions {
    /// How rows are left out.
    pub method: LooMethod,
    /// The most refits of single rows for which importance sampling fails.
    pub refits: usize,
}

impl Default for LooOptions {
    fn default() -> Self {
        Self { method: LooMethod::Psis, refits: 100 }
    }
}

/// Progress of [`loo`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LooProgress {
    /// Rows done, of so many.
    Rows(usize, usize),
    /// Refits done, of so many.
    Refits(usize, usize),
}

/// The result of [`loo`]: the JSON document of `ridgewalk loo`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LooDocument {
    /// The expected log density of new responses: larger is better.
    pub elpd_loo: f64,
    /// Its standard error.
    pub se: f64,
    /// The effective number of parameters; `null` if rows were left out in folds.
    pub p_loo: f64,
    /// −2 `elpd_loo`.
    pub looic: f64,
    /// The same by WAIC.
    pub elpd_waic: f64,
    /// Its standard error.
    pub se_waic: f64,
    /// The effective number of parameters by WAIC.
    pub p_waic: f64,
    /// How rows were left out.
    pub method: LooMethod,
    /// Rows.
    pub n: usize,
    /// Draws, over all chains.
    pub draws: usize,
    /// Effective draws per draw, the mean over all parameters.
    pub r_eff: f64,
    /// The largest Pareto k with which importance sampling is reliable.
    pub k_limit: f64,
    /// k of each row.
    pub pareto_k: Vec<f64>,
    /// The contribution of each row to `elpd_loo`.
    pub pointwise: Vec<f64>,
    /// Rows that were refitted, counted from 0.
    pub refitted: Vec<usize>,
    /// Rows with k above the limit that were not refitted.
    pub unreliable: Vec<usize>,
    /// What to be careful of.
    pub warnings: Vec<String>,
}

/// Leaves out each row of the data of a fit in turn and asks how well the others predict it.
///
/// `table` has the data of the fit and `observed` its rows. A callback is told of the progress, and
/// `stop` ends the work with [`Error::Stopped`].
///
/// # Errors
/// Data that are not those of the fit; a refit that fails; draws that cannot be read.
pub fn loo(
    predictor: &Predictor, draws: &(dyn DrawReader + Sync), table: &Table, observed: &Observed,
    options: LooOptions, stop: &AtomicBool, progress: &(dyn Fn(LooProgress) + Sync),
) -> Result<LooDocument, Error> {
    if predictor.config().options.prior_only {
        return Err(Error::setting("loo", "of draws of the prior", "a fit without --prior-only"));
    }
    let r_eff = relative_efficiency(draws)?;
    let mut points = pointwise(predictor, observed, r_eff, stop, &|done| {
        progress(LooProgress::Rows(done, observed.rows()));
    })?;
    let limit = pareto_k_limit(predictor.draws());
    let waic = Elpd::waic(&points);
    let pareto_k: Vec<f64> = points.iter().map(|point| point.pareto_k).collect();
    // A k that is not a number is no reliable one.
    let high = |row: &usize| !(pareto_k[*row] <= limit);
    let high: Vec<usize> = (0..points.len()).filter(high).collect();
    let groups: Vec<Vec<usize>> = match options.method {
        LooMethod::Psis => high.iter().take(options.refits).map(|row| vec![*row]).collect(),
        LooMethod::Exact => (0..points.len()).map(|row| vec![row]).collect(),
        LooMethod::Folds(folds) => refit::folds(observed.rows(), folds, predictor.config())?,
    };
    let mut warnings = Vec::new();
    if !groups.is_empty() {
        let refitter = Refitter::new(predictor.config(), table)?;
        let refits = refitter.elpd(observed, &groups, stop, &|done| {
            progress(LooProgress::Refits(done, groups.len()));
        })?;
        for (row, elpd) in refits.rows {
            points[row].elpd_loo = elpd;
            points[row].p_loo = points[row].lppd - elpd;
        }
        warnings.extend(refits.warnings);
    }
    let folds = matches!(options.method, LooMethod::Folds(_));
    let refitted: Vec<usize> =
        if folds { Vec::new() } else { groups.into_iter().flatten().collect() };
    let left = |row: &usize| options.method == LooMethod::Psis && !refitted.contains(row);
    let unreliable: Vec<usize> = high.into_iter().filter(left).collect();
    if !unreliable.is_empty() {
        warnings.push(format!(
            "{} rows have Pareto k above {limit:.2} and were not refitted: for them the estimate is \
             not reliable. Leave rows out in folds (--folds 10), or allow more refits (--refits N)",
            unreliable.len()
        ));
    }
    let total = Elpd::loo(&points);
    Ok(LooDocument {
        elpd_loo: total.elpd,
        se: total.se,
        p_loo: if folds { f64::NAN } else { total.p },
        looic: total.information_criterion(),
        elpd_waic: waic.elpd,
        se_waic: waic.se,
        p_waic: waic.p,
        method: options.method,
        n: points.len(),
        draws: predictor.draws(),
        r_eff,
        k_limit: limit,
        pareto_k,
        pointwise: points.iter().map(|point| point.elpd_loo).collect(),
        refitted,
        unreliable,
        warnings,
    })
}

/// The same for draws and their configuration, on its number of threads; with the rows of the fit,
/// which [`compare`] needs.
///
/// # Errors
/// As [`loo`], and [`Error::OtherData`] if the table is not the one that was fitted.
pub fn loo_of(
    config: &Config, draws: &(dyn DrawReader + Sync), table: &Table, options: LooOptions,
    stop: &AtomicBool, progress: &(dyn Fn(LooProgress) + Sync),
) -> Result<(LooDocument, Observed), Error> {
    in_threads(&config.options, || {
        let predictor = Predictor::new(config, draws)?;
        let observed = Observed::new(config, table)?;
        let found = loo(&predictor, draws, table, &observed, options, stop, progress)?;
        Ok((found, observed))
    })?
}

/// Importance sampling of each row, some rows at a time on all threads.
pub(crate) fn pointwise(
    predictor: &Predictor, observed: &Observed, r_eff: f64, stop: &AtomicBool,
    progress: &dyn Fn(usize),
) -> Result<Vec<Pointwise>, Error> {
    let mut all = Vec::with_capacity(observed.rows());
    while all.len() < observed.rows() {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let rows = all.len()..(all.len() + ROWS).min(observed.rows());
        let posterior = &predictor.posterior;
        all.extend(posterior.map_rows(observed.design(), rows, Psis::new, |psis, room, row| {
            observed.log_densities(posterior, row, room);
            psis.pointwise(&room.values, r_eff)
        }));
        progress(all.len());
    }
    Ok(all)
}

/// Effective draws per draw, the mean over all parameters, as ArviZ computes it; 1 for one chain.
pub(crate) fn relative_efficiency(draws: &dyn DrawReader) -> Result<f64, Error> {
    let (chains, each) = (draws.chains(), draws.draws());
    if chains < 2 {
        return Ok(1.0);
    }
    let (mut sum, mut count) = (0.0, 0.0);
    draws.columns(&mut |columns| {
        for column in columns {
            let chains: Vec<&[f64]> = column.chunks_exact(each.max(1)).collect();
            let ess = ess_mean(&chains)?;
            // A parameter without spread has no effective sample size.
            if ess.is_finite() {
                sum += ess;
                count += 1.0;
            }
        }
        Ok(())
    })?;
    let found = sum / count / (chains * each) as f64;
    Ok(if found > 0.0 { found } else { 1.0 })
}

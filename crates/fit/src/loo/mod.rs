//! How well a fit predicts rows that it has not seen: leave-one-out cross-validation, by
//! Pareto-smoothed importance sampling, by refitting, or in folds; the same for groups of rows.

mod compare;
mod groups;
mod observed;
mod refit;

use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk_diagnostics::{Elpd, Pointwise, Psis, ess_mean, pareto_k_limit};
use serde::Serialize;

pub use compare::{Compared, Comparison, compare};
pub use groups::LeftOutGroups;
use groups::Levels;
pub(crate) use observed::Gathered;
pub use observed::{Observed, Responses};
pub use refit::folds;
use refit::{Predicted, Refitter, Units};

use crate::config::Config;
use crate::draws::DrawReader;
use crate::error::Error;
use crate::fit::in_threads;
use crate::predict::Predictor;
use crate::rows::FitRows;

/// Bytes that are kept for each row.
pub(crate) const PER_ROW: u64 = 96;
/// Rows between two looks at the stop signal.
const ROWS: usize = 1024;

/// How rows are left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LooMethod {
    /// By Pareto-smoothed importance sampling; rows for which that fails are refitted. Groups are
    /// left out by refits, as with [`LooMethod::Exact`].
    Psis,
    /// One refit for each row, or each group.
    Exact,
    /// One refit for each of several folds of rows or groups, chosen at random.
    Folds(usize),
}

/// Options of [`loo`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LooOptions {
    /// How rows are left out.
    pub method: LooMethod,
    /// The most refits of single rows for which importance sampling fails, or of single groups.
    pub refits: usize,
    /// A grouping of the fit, or a column of its data: all rows of a level are left out together.
    /// The effects of that level, of which the others say nothing but its distribution, are
    /// integrated out.
    pub groups: Option<String>,
}

impl Default for LooOptions {
    fn default() -> Self {
        Self { method: LooMethod::Psis, refits: 100, groups: None }
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
    /// The effective number of parameters; `null` if rows were left out in folds or groups.
    pub p_loo: f64,
    /// −2 `elpd_loo`.
    pub looic: f64,
    /// The same by WAIC; `null`, as the two below, if groups of rows were left out.
    pub elpd_waic: f64,
    /// Its standard error.
    pub se_waic: f64,
    /// The effective number of parameters by WAIC.
    pub p_waic: f64,
    /// How rows were left out.
    pub method: LooMethod,
    /// Rows, or groups of rows.
    pub n: usize,
    /// Draws, over all chains.
    pub draws: usize,
    /// Effective draws per draw, the mean over all parameters.
    pub r_eff: f64,
    /// The largest Pareto k with which importance sampling is reliable.
    pub k_limit: f64,
    /// k of each row; empty for groups.
    pub pareto_k: Vec<f64>,
    /// The contribution of each row to `elpd_loo`, or of each group: the log of the joint density of
    /// its rows.
    pub pointwise: Vec<f64>,
    /// Rows or groups that were refitted, counted from 0.
    pub refitted: Vec<usize>,
    /// Rows with k above the limit that were not refitted.
    pub unreliable: Vec<usize>,
    /// The groups of rows that were left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub groups: Option<LeftOutGroups>,
    /// What to be careful of.
    pub warnings: Vec<String>,
}

/// Leaves out each row of the data of a fit in turn and asks how well the others predict it.
///
/// `data` has the rows of the fit. A callback is told of the progress, and `stop` ends the work with
/// [`Error::Stopped`].
///
/// # Errors
/// Data that cannot be read; a refit that fails; draws that cannot be read; before anything is
/// computed, [`Error::Memory`].
pub fn loo(
    predictor: &Predictor, draws: &(dyn DrawReader + Sync), data: &FitRows<'_>,
    options: LooOptions, stop: &AtomicBool, progress: &(dyn Fn(LooProgress) + Sync),
) -> Result<LooDocument, Error> {
    if predictor.config().options.prior_only {
        return Err(Error::setting("loo", "of draws of the prior", "a fit without --prior-only"));
    }
    data.check("leave-one-out cross-validation", draws, PER_ROW)?;
    let by_refits = options.groups.is_some() || options.method != LooMethod::Psis;
    let refits = Refitter::check(predictor.config(), data);
    let refits = if by_refits { refits.map(|()| None)? } else { refits.err() };
    let r_eff = relative_efficiency(draws)?;
    if let Some(by) = &options.groups {
        let levels = Levels::new(predictor.config(), data, by)?;
        let of = Grouped { predictor, data, by, levels, r_eff };
        return of.loo(&options, stop, progress);
    }
    let mut points = pointwise(predictor, data, r_eff, stop, &|done| {
        progress(LooProgress::Rows(done, data.rows()));
    })?;
    let limit = pareto_k_limit(predictor.draws());
    let waic = Elpd::waic(&points);
    let pareto_k: Vec<f64> = points.iter().map(|point| point.pareto_k).collect();
    // A k that is not a number is no reliable one.
    let high = |row: &usize| !(pareto_k[*row] <= limit);
    let high: Vec<usize> = (0..points.len()).filter(high).collect();
    let folds: Vec<Vec<usize>> = match options.method {
        LooMethod::Psis if refits.is_some() => Vec::new(),
        LooMethod::Psis => high.iter().take(options.refits).map(|row| vec![*row]).collect(),
        LooMethod::Exact => (0..points.len()).map(|row| vec![row]).collect(),
        LooMethod::Folds(folds) => refit::folds(data.rows(), folds, predictor.config())?,
    };
    let mut warnings = Vec::new();
    if !folds.is_empty() {
        let refitter = Refitter::new(predictor.config(), data)?;
        let refits = refitter.elpd(data, &folds, Units::Rows, stop, &|done| {
            progress(LooProgress::Refits(done, folds.len()));
        })?;
        for Predicted { unit: row, elpd, .. } in refits.units {
            points[row].elpd_loo = elpd;
            points[row].p_loo = points[row].lppd - elpd;
        }
        warnings.extend(refits.warnings);
    }
    let in_folds = matches!(options.method, LooMethod::Folds(_));
    let refitted: Vec<usize> =
        if in_folds { Vec::new() } else { folds.into_iter().flatten().collect() };
    let left = |row: &usize| options.method == LooMethod::Psis && !refitted.contains(row);
    let unreliable: Vec<usize> = high.into_iter().filter(left).collect();
    if !unreliable.is_empty() {
        warnings.push(format!(
            "{} rows have Pareto k above {limit:.2} and were not refitted: for them the estimate is \
             not reliable. Leave rows out in folds (--folds 10), or allow more refits (--refits N)",
            unreliable.len()
        ));
        warnings.extend(refits.filter(|_| options.refits > 0).map(|error| error.to_string()));
    }
    let total = Elpd::loo(&points);
    Ok(LooDocument {
        elpd_loo: total.elpd,
        se: total.se,
        p_loo: if in_folds { f64::NAN } else { total.p },
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
        groups: None,
        warnings,
    })
}

/// Above this, the standard error of a log density is reported.
const LARGE_ERROR: f64 = 0.1;

/// Groups of rows to be left out.
struct Grouped<'a> {
    predictor: &'a Predictor,
    data: &'a FitRows<'a>,
    by: &'a str,
    levels: Levels,
    r_eff: f64,
}

impl Grouped<'_> {
    /// Leaves out each group, or folds of groups, and predicts their rows.
    fn loo(
        self, options: &LooOptions, stop: &AtomicBool, progress: &(dyn Fn(LooProgress) + Sync),
    ) -> Result<LooDocument, Error> {
        let Self { predictor, data, by, levels: Levels { names, rows, .. }, r_eff } = self;
        let (config, n) = (predictor.config(), rows.len());
        let (folds, method) = match options.method {
            LooMethod::Folds(folds) => (refit::folds(n, folds, config)?, options.method),
            LooMethod::Psis if n > options.refits => {
                let need = format!(
                    "at most {} levels, the number of refits: leave levels out in folds \
                     (--folds 10), or allow more refits (--refits {n})",
                    options.refits
                );
                return Err(Error::setting("--groups", format!("{by} with {n} levels"), need));
            }
            _ => ((0..n).map(|group| vec![group]).collect(), LooMethod::Exact),
        };
        let refits =
            Refitter::new(config, data)?.elpd(data, &folds, Units::Sets(&rows), stop, &|done| {
                progress(LooProgress::Refits(done, folds.len()));
            })?;
        let (mut pointwise, mut mcse) = (vec![f64::NAN; n], vec![f64::NAN; n]);
        for Predicted { unit, elpd, mcse: error } in refits.units {
            (pointwise[unit], mcse[unit]) = (elpd, error);
        }
        let mut warnings = refits.warnings;
        let rough = mcse.iter().filter(|error| !(**error <= LARGE_ERROR)).count();
        if rough > 0 {
            warnings.push(format!(
                "the log densities of {rough} of {n} groups have Monte Carlo standard errors above \
                 {LARGE_ERROR}: make more draws (--draws)"
            ));
        }
        let elpd: f64 = pointwise.iter().sum();
        let mean = elpd / n as f64;
        let squares: f64 = pointwise.iter().map(|value| (value - mean).powi(2)).sum();
        let exact = method == LooMethod::Exact;
        Ok(LooDocument {
            elpd_loo: elpd,
            se: (n as f64 * squares / (n as f64 - 1.0)).sqrt(),
            p_loo: f64::NAN,
            looic: -2.0 * elpd,
            elpd_waic: f64::NAN,
            se_waic: f64::NAN,
            p_waic: f64::NAN,
            method,
            n,
            draws: predictor.draws(),
            r_eff,
            k_limit: pareto_k_limit(predictor.draws()),
            pareto_k: Vec::new(),
            pointwise,
            refitted: if exact { (0..n).collect() } else { Vec::new() },
            unreliable: Vec::new(),
            groups: Some(LeftOutGroups {
                by: by.to_owned(),
                levels: names,
                rows: rows.iter().map(Vec::len).collect(),
                mcse,
            }),
            warnings,
        })
    }
}

/// The same for draws and their configuration, on its number of threads; with what tells the
/// responses, which [`compare`] needs.
///
/// # Errors
/// As [`loo`].
pub fn loo_of(
    config: &Config, draws: &(dyn DrawReader + Sync), data: &FitRows<'_>, options: LooOptions,
    stop: &AtomicBool, progress: &(dyn Fn(LooProgress) + Sync),
) -> Result<(LooDocument, Responses), Error> {
    in_threads(&config.options, || {
        let predictor = Predictor::new(config, draws)?;
        let found = loo(&predictor, draws, data, options, stop, progress)?;
        Ok((found, data.responses()?))
    })?
}

/// Importance sampling of each row, some rows at a time on all threads.
pub(crate) fn pointwise(
    predictor: &Predictor, data: &FitRows<'_>, r_eff: f64, stop: &AtomicBool,
    progress: &dyn Fn(usize),
) -> Result<Vec<Pointwise>, Error> {
    let mut all = Vec::with_capacity(data.rows());
    while all.len() < data.rows() {
        if stop.load(Ordering::Relaxed) {
            return Err(Error::Stopped);
        }
        let rows = all.len()..(all.len() + ROWS).min(data.rows());
        let posterior = &predictor.posterior;
        all.extend(data.with(rows, |observed, rows| {
            posterior.map_rows(observed.design(), rows, Psis::new, |psis, room, row| {
                observed.log_densities(posterior, row, room);
                psis.pointwise(&room.values, r_eff)
            })
        })?);
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

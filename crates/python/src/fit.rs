//! Fits: from a table and arguments to draws, and what follows from them.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray3, PyArrayMethods, PyReadonlyArray3};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ridgewalk::pipeline::{
    self, Config, Data, FitRows, LooDocument, LooMethod, LooOptions, Observed, Ratio, Responses,
    SummaryDocument, in_threads,
};
use ridgewalk::sampler::{DrawStats, Draws, Sink};
use ridgewalk::store::{OpenRun, RunDirectory, read_config};
use ridgewalk::{Fitted, StoredFit, frame};

use crate::errors::{failed, input, of_fit, of_run, of_store};
use crate::json;
use crate::options::{columns, settings};
use crate::table::Table;
use crate::watch::watched;

/// A fit in memory, with its data unless they are gone.
#[pyclass(frozen, module = "ridgewalk._ridgewalk")]
#[derive(Debug)]
pub(crate) struct Fit {
    pub(crate) fitted: Arc<Fitted>,
    pub(crate) table: Option<Arc<frame::Table>>,
}

impl Fit {
    fn new(fitted: Fitted, table: Option<Arc<frame::Table>>) -> Self {
        Self { fitted: Arc::new(fitted), table }
    }

    /// Checks that the data of the fit are in memory, or in a file.
    pub(crate) fn has_data(&self) -> PyResult<()> {
        let config = self.fitted.config();
        if self.table.is_none() && config.options.data.is_none() {
            let name = config.data.file.clone();
            let error = pipeline::Error::NotAFile { name };
            return Err(input(format!("{error}; `ridgewalk.load(path, data)` takes them again")));
        }
        Ok(())
    }

    /// The data of the fit, read again if they are in a file.
    pub(crate) fn data(&self) -> PyResult<Arc<frame::Table>> {
        self.has_data()?;
        if let Some(table) = &self.table {
            return Ok(Arc::clone(table));
        }
        let config = self.fitted.config();
        let read = in_threads(&config.options, || frame::Table::read(&config.data.file));
        Ok(Arc::new(read.map_err(of_fit)?.map_err(crate::errors::of_data)?))
    }
}

/// The rows of a fit, from its table, or read again from its file: block by block if they do not fit
/// into memory.
pub(crate) fn rows_of<'t>(
    config: &Config, table: Option<&'t frame::Table>,
) -> Result<FitRows<'t>, pipeline::Error> {
    match table {
        Some(table) => FitRows::new(config, Data::from(table)),
        None => FitRows::open(config),
    }
}

/// Fits a table. With `out` the fit goes to a run directory, and can be resumed.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>, table: &Table, options: &Bound<'_, PyDict>, show: Option<&Bound<'_, PyAny>>,
) -> PyResult<Fit> {
    let into_directory =
        options.contains("out")? && !options.get_item("out")?.is_none_or(|o| o.is_none());
    let settings = settings(options)?;
    let data = Arc::clone(&table.inner);
    if into_directory {
        let stored = watched(py, show, {
            let data = Arc::clone(&data);
            move |watch| ridgewalk::fit_into_watched(&data, &settings, &watch.stop, watch)
        })?;
        let stored = stored.map_err(of_run)?;
        return of_directory(py, &stored, Some(data));
    }
    let fitted = watched(py, show, {
        let data = Arc::clone(&data);
        move |watch| ridgewalk::fit_watched(&data, &settings, &watch.stop, watch)
    })?;
    Ok(Fit::new(fitted.map_err(of_fit)?, Some(data)))
}

fn of_directory(
    py: Python<'_>, stored: &StoredFit, table: Option<Arc<frame::Table>>,
) -> PyResult<Fit> {
    let fitted = py.detach(|| stored.load(table.as_deref())).map_err(of_run)?;
    Ok(Fit::new(fitted, table))
}

/// Reads a fit from a run directory. `table` has its data if they are not in a file.
#[pyfunction]
pub(crate) fn load(py: Python<'_>, path: PathBuf, table: Option<&Table>) -> PyResult<Fit> {
    let stored = StoredFit::open(&path).map_err(of_store)?;
    of_directory(py, &stored, table.map(|table| Arc::clone(&table.inner)))
}

/// Resumes a run that was interrupted; one that is finished is read.
#[pyfunction]
pub(crate) fn resume(
    py: Python<'_>, path: PathBuf, table: Option<&Table>, show: Option<&Bound<'_, PyAny>>,
) -> PyResult<Fit> {
    let Some(run) = OpenRun::resume(&path).map_err(of_store)? else {
        return load(py, path, table);
    };
    let settings = ridgewalk::settings_of(&run, None);
    let data = match table {
        Some(table) => Arc::clone(&table.inner),
        None if settings.data.is_none()
            && run.config().data.file != pipeline::DataConfig::BUILT_IN =>
        {
            let name = run.config().data.file.clone();
            let error = pipeline::Error::NotAFile { name };
            return Err(input(format!("{error}; `ridgewalk.resume(path, data)` takes them again")));
        }
        None => Arc::clone(&Table::of(settings.read().map_err(crate::errors::of_data)?).inner),
    };
    let stored = watched(py, show, {
        let data = Arc::clone(&data);
        move |watch| ridgewalk::resume_watched(run, &data, &settings, &watch.stop, watch)
    })?;
    of_directory(py, &stored.map_err(of_run)?, Some(data))
}

/// The columns that the fit in a run directory uses; None for all.
#[pyfunction]
pub(crate) fn columns_of_run(path: PathBuf) -> PyResult<Option<Vec<String>>> {
    let directory = RunDirectory::open(path).map_err(of_store)?;
    Ok(columns(&read_config(&directory.config()).map_err(of_store)?.options))
}

/// The columns of the data, and the model matrix and priors of a model, as JSON.
#[pyfunction]
pub(crate) fn describe(
    py: Python<'_>, table: &Table, options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let settings = settings(options)?;
    let table = &table.inner;
    let work = || in_threads(&settings, || ridgewalk::describe(table, &settings));
    json(&py.detach(work).map_err(of_fit)?.map_err(of_fit)?)
}

/// A fit from its parts, as `Fit.parts` gives them.
#[pyfunction]
pub(crate) fn restore(
    config: &str, document: &str, draws: PyReadonlyArray3<'_, f64>,
    stats: Option<PyReadonlyArray3<'_, f64>>, table: Option<&Table>,
) -> PyResult<Fit> {
    let config = Config::from_toml(config).map_err(failed)?;
    let document: SummaryDocument = serde_json::from_str(document).map_err(failed)?;
    let names = config.resolved.names();
    let draws = draws_of(names, &draws, stats.as_ref())?;
    let table = table.map(|table| Arc::clone(&table.inner));
    let fitted = Fitted::from_parts(config, document, draws, table.as_deref()).map_err(of_fit)?;
    Ok(Fit::new(fitted, table))
}

/// Draws from arrays: chain x draw x coordinate, and chain x draw x statistic.
pub(crate) fn draws_of(
    names: Vec<String>, draws: &PyReadonlyArray3<'_, f64>,
    stats: Option<&PyReadonlyArray3<'_, f64>>,
) -> PyResult<Draws> {
    let draws = draws.as_array();
    let (chains, count, d) = draws.dim();
    let mut kept = Draws::named(names);
    kept.begin(chains, d).map_err(failed)?;
    for draw in 0..count {
        for chain in 0..chains {
            let point: Vec<f64> = (0..d).map(|k| draws[[chain, draw, k]]).collect();
            let stats = stats.map(|stats| {
                let of = |k: usize| stats.as_array()[[chain, draw, k]];
                let (acceptance_rate, energy, lp) = (of(0), of(1), of(2));
                DrawStats { acceptance_rate, energy, lp, diverging: of(3) != 0.0 }
            });
            kept.keep_with(chain, draw as u64, &point, stats.as_ref()).map_err(failed)?;
        }
    }
    Ok(kept)
}

/// The draws that all chains have: chain x draw x coordinate.
pub(crate) fn draws_array<'py>(
    py: Python<'py>, draws: &Draws,
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    let (chains, count, d) = (draws.chains(), draws.common(), draws.dimension());
    let values = (0..chains).flat_map(|chain| draws.chain(chain)[..count * d].iter().copied());
    array3(py, values, [chains, count, d])
}

/// An array of this shape.
pub(crate) fn array3<'py>(
    py: Python<'py>, values: impl Iterator<Item = f64>, shape: [usize; 3],
) -> PyResult<Bound<'py, PyArray3<f64>>> {
    numpy::PyArray1::from_vec(py, values.collect()).reshape(shape)
}

/// The statistics of the draws: chain x draw x (acceptance rate, energy, lp, diverging); None for
/// kernels that do not accept or reject.
pub(crate) fn stats_array<'py>(
    py: Python<'py>, draws: &Draws,
) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
    let (chains, count) = (draws.chains(), draws.common());
    if count == 0 || (0..chains).any(|chain| draws.stats(chain).len() < count) {
        return Ok(None);
    }
    let values = (0..chains).flat_map(|chain| {
        draws.stats(chain)[..count].iter().flat_map(|stats| {
            [stats.acceptance_rate, stats.energy, stats.lp, f64::from(u8::from(stats.diverging))]
        })
    });
    array3(py, values, [chains, count, 4]).map(Some)
}

#[pymethods]
impl Fit {
    #[getter]
    fn names(&self) -> Vec<String> {
        self.fitted.names().to_vec()
    }

    /// The columns that the fit uses; None for all.
    #[getter]
    fn columns(&self) -> Option<Vec<String>> {
        columns(&self.fitted.config().options)
    }

    /// The columns that new rows need.
    #[getter]
    fn predictors(&self) -> PyResult<Vec<String>> {
        let config = self.fitted.config();
        let mut all = config.resolved.coding.columns().map_err(crate::errors::of_data)?;
        all.extend(config.options.trials.iter().cloned());
        all.extend(columns(&config.options).into_iter().flatten());
        Ok(all)
    }

    /// The name of the table that was fitted, and whether it is a file.
    #[getter]
    fn source(&self) -> (String, bool) {
        let config = self.fitted.config();
        (config.data.file.clone(), config.options.data.is_some())
    }

    #[getter]
    fn table(&self) -> Option<Table> {
        self.table.as_ref().map(|table| Table { inner: Arc::clone(table) })
    }

    fn draws<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        draws_array(py, self.fitted.draws())
    }

    fn stats<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyArray3<f64>>>> {
        stats_array(py, self.fitted.draws())
    }

    /// The content of `summary.json`.
    fn document(&self) -> PyResult<String> {
        self.fitted.document().to_json().map_err(failed)
    }

    /// The content of `config.toml`.
    fn config(&self) -> PyResult<String> {
        self.fitted.config().to_toml().map_err(failed)
    }

    /// The document with other intervals, or with ratios in place of coefficients.
    fn summary(&self, py: Python<'_>, interval: Option<f64>, exp: bool) -> PyResult<String> {
        let fitted = &self.fitted;
        let (config, draws) = (fitted.config(), fitted.draws());
        let interval = interval.unwrap_or(fitted.document().interval);
        let view = || -> Result<SummaryDocument, pipeline::Error> {
            in_threads(&config.options, || {
                let document = fitted.document().clone();
                if exp {
                    let ratio = Ratio::of(config.options.family)?;
                    let count = config.resolved.coefficients.len();
                    document.as_ratios(draws, ratio, count, interval)
                } else if interval == document.interval {
                    Ok(document)
                } else {
                    document.at_interval(draws, interval)
                }
            })?
        };
        py.detach(view).map_err(of_fit)?.to_json().map_err(failed)
    }

    /// The arrays that draws of groups make up, as JSON.
    fn arrays(&self) -> PyResult<String> {
        let (names, groups) = (self.fitted.names(), self.fitted.config().resolved.groups());
        json(&groups.arrays(names.len() - groups.parameters().len() - groups.effects()))
    }

    /// The arguments that the fit was made with, as JSON.
    fn options(&self) -> PyResult<String> {
        json(&self.fitted.config().options)
    }

    /// The rows of the data that were fitted.
    fn own_rows(&self) -> PyResult<Table> {
        let table = self.data()?;
        let rows = Observed::new(self.fitted.config(), &table).map_err(of_fit)?.rows_of(&table);
        let names: Vec<String> = table.columns().iter().map(|c| c.name().to_owned()).collect();
        Ok(Table::of(table.select(&rows, &names)))
    }

    /// Checks of the model against its data, as JSON; None if there is too little to check.
    fn checks(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let (fitted, table) = (&self.fitted, self.data()?);
        let work = || in_threads(&fitted.config().options, || fitted.checks_with(&table));
        let checks = py.detach(work).map_err(of_fit)?.map_err(of_fit)?;
        checks.map(|checks| json(&checks)).transpose()
    }

    /// The report as HTML.
    fn report(&self, py: Python<'_>) -> PyResult<String> {
        let fitted = &self.fitted;
        let work = || in_threads(&fitted.config().options, || ridgewalk::report_of(fitted));
        py.detach(work).map_err(of_fit)?.map_err(of_fit)
    }

    /// Writes a run directory.
    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        let fitted = &self.fitted;
        let work = || in_threads(&fitted.config().options, || ridgewalk::save(fitted, &path));
        py.detach(work).map_err(of_fit)?.map_err(of_run)?;
        Ok(())
    }

    /// Leave-one-out cross-validation.
    fn loo(
        &self, py: Python<'_>, exact: bool, folds: Option<usize>, refits: usize,
        groups: Option<String>, show: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Loo> {
        let method = match (exact, folds) {
            (true, None) => LooMethod::Exact,
            (false, Some(folds)) => LooMethod::Folds(folds),
            (false, None) => LooMethod::Psis,
            (true, Some(folds)) => {
                return Err(input(format!("--folds {folds} with --exact: need one of them")));
            }
        };
        self.has_data()?;
        let (table, fitted) = (self.table.clone(), Arc::clone(&self.fitted));
        let (document, responses) = watched(py, show, move |watch| {
            let (config, draws) = (fitted.config(), fitted.draws());
            let options = LooOptions { method, refits, groups };
            let progress = |progress| watch.loo(progress);
            let rows = rows_of(config, table.as_deref())?;
            pipeline::loo_of(config, draws, &rows, options, &watch.stop, &progress)
        })?
        .map_err(of_fit)?;
        Ok(Loo { document, responses })
    }
}

/// The result of cross-validation.
#[pyclass(frozen, module = "ridgewalk._ridgewalk")]
#[derive(Debug)]
pub(crate) struct Loo {
    document: LooDocument,
    responses: Responses,
}

#[pymethods]
impl Loo {
    /// The JSON document.
    fn document(&self) -> PyResult<String> {
        json(&self.document)
    }
}

/// Compares fits of the same responses: names and results of cross-validation, as JSON.
#[pyfunction]
pub(crate) fn compare(fits: Vec<(String, Py<Loo>)>) -> PyResult<String> {
    let all: Vec<(String, &Responses, &LooDocument)> = fits
        .iter()
        .map(|(name, loo)| (name.clone(), &loo.get().responses, &loo.get().document))
        .collect();
    json(&pipeline::compare(&all).map_err(of_fit)?)
}

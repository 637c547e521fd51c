//! What follows from a fit: predictions, average effects, and the arrays of an export for ArviZ.

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ridgewalk::REPLICATES_SEED;
use ridgewalk::pipeline::{
    self, Data, EffectsRequest, Observed, PredictionRequest, Predictor, in_threads, prior_draws,
};

use crate::errors::{input, of_fit};
use crate::fit::{Fit, array3, draws_array, rows_of};
use crate::json;
use crate::table::Table;

impl Fit {
    /// Runs `work` on the threads of the fit, without the interpreter lock.
    fn work<T: Send>(
        &self, py: Python<'_>, work: impl FnOnce(&Predictor) -> Result<T, pipeline::Error> + Send,
    ) -> PyResult<T> {
        let fitted = &self.fitted;
        let threads = &fitted.config().options;
        py.detach(|| in_threads(threads, || work(&fitted.predictor()?)).and_then(|found| found))
            .map_err(of_fit)
    }

    fn observed(&self) -> PyResult<Observed> {
        Observed::new(self.fitted.config(), &*self.data()?).map_err(of_fit)
    }
}

fn request(
    kind: &str, interval: f64, times: Vec<f64>, quantiles: Vec<f64>, seed: u64,
) -> PyResult<PredictionRequest> {
    let kind = kind.parse().map_err(|error| input(format!("--kind: {error}")))?;
    Ok(PredictionRequest { kind, interval, times, shares: quantiles, seed })
}

/// Names of quantities, and for each row and quantity mean, sd, lower, median and upper; the most
/// frequent level, where levels are drawn.
type Predicted<'py> = (Vec<String>, Bound<'py, PyArray3<f64>>, Option<Vec<String>>);

#[pymethods]
impl Fit {
    /// Predictions of the rows of a table: summaries.
    #[expect(clippy::too_many_arguments, reason = "those of the program")]
    fn predict<'py>(
        &self, py: Python<'py>, table: &Table, kind: &str, interval: f64, times: Vec<f64>,
        quantiles: Vec<f64>, seed: u64,
    ) -> PyResult<Predicted<'py>> {
        let request = request(kind, interval, times, quantiles, seed)?;
        let table = &table.inner;
        let (found, levels) = self.work(py, |predictor| {
            let levels = predictor.law().levels().to_vec();
            Ok((predictor.predict(table, 0, &request)?, levels))
        })?;
        let count = found.quantities.len();
        let shape = [found.rows.len() / count.max(1), count, 5];
        let numbers = found.rows.iter().flat_map(|row| {
            let pipeline::Summarized { mean, sd, lower, median, upper, .. } = *row;
            [mean, sd, lower, median, upper]
        });
        let array = array3(py, numbers, shape)?;
        let level = |level: Option<usize>| level.and_then(|k| levels.get(k).cloned());
        let drawn: Option<Vec<String>> = found.rows.iter().map(|row| level(row.level)).collect();
        Ok((found.quantities, array, drawn.filter(|drawn| !drawn.is_empty())))
    }

    /// The sparse matrices of the fit, and how many columns each has.
    fn widths(&self) -> Vec<(String, usize)> {
        let coding = &self.fitted.config().resolved.coding;
        coding.matrices().map(|(name, names)| (name.to_owned(), names.len())).collect()
    }

    /// What to say about rows with levels of groups that the fit has not seen, and about entries in
    /// columns that it has not seen.
    fn unseen(&self, py: Python<'_>, table: &Table) -> PyResult<Vec<String>> {
        let resolved = &self.fitted.config().resolved;
        let (entries, first) = resolved.coding.unknown_entries(&table.inner);
        let entries =
            first.filter(|_| entries > 0).map(|first| pipeline::unknown_columns(entries, &first));
        if resolved.groups().is_empty() {
            return Ok(entries.into_iter().collect());
        }
        let found = self.work(py, |predictor| predictor.unseen(&table.inner))?;
        let levels = found.iter().map(|(name, rows)| pipeline::unseen_levels(name, *rows));
        Ok(levels.chain(entries).collect())
    }

    /// Predictions of the rows of a table: draw x row x quantity.
    #[expect(clippy::too_many_arguments, reason = "those of the program")]
    fn predict_draws<'py>(
        &self, py: Python<'py>, table: &Table, kind: &str, interval: f64, times: Vec<f64>,
        quantiles: Vec<f64>, seed: u64,
    ) -> PyResult<(Vec<String>, Bound<'py, PyArray3<f64>>)> {
        let request = request(kind, interval, times, quantiles, seed)?;
        let table = &table.inner;
        let (quantities, each) = self.work(py, |predictor| {
            Ok((predictor.quantities(&request)?, predictor.predict_draws(table, 0, &request)?))
        })?;
        let (count, draws) = (quantities.len(), each.first().map_or(0, Vec::len));
        let shape = [draws, each.len() / count.max(1), count];
        let values = (0..draws).flat_map(|draw| each.iter().map(move |list| list[draw]));
        Ok((quantities, array3(py, values, shape)?))
    }

    /// Average effects of a column, as JSON.
    fn effects(
        &self, py: Python<'_>, by: String, at: Vec<(String, Vec<String>)>, interval: f64,
    ) -> PyResult<String> {
        let request = EffectsRequest { by, at, interval };
        self.has_data()?;
        let table = self.table.as_deref();
        let found = self.work(py, |predictor| {
            let rows = rows_of(predictor.config(), table)?;
            predictor.effects_of_fit(&rows, &request)
        })?;
        json(&found.0)
    }

    /// The log likelihood of each row in each draw: chain x draw x row.
    fn log_likelihood<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let observed = self.observed()?;
        let rows = observed.rows();
        let values = self.work(py, |predictor| Ok(predictor.log_likelihood(&observed, 0..rows)))?;
        self.by_chain(py, values, rows)
    }

    /// A response of each row drawn at random in each draw: chain x draw x row.
    fn replicates<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let observed = self.observed()?;
        let rows = observed.rows();
        let values = self
            .work(py, |predictor| Ok(predictor.replicates(&observed, 0..rows, REPLICATES_SEED)))?;
        self.by_chain(py, values, rows)
    }

    /// Draws of the prior: chain x draw x coefficient.
    fn prior<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (config, table) = (self.fitted.config(), self.data()?);
        let draws = self.work(py, |_| prior_draws(config, &Data::from(&*table)))?;
        draws_array(py, &draws)
    }

    /// The rows of the fit: response, design and what else there is, as arrays by name.
    fn observed_data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let observed = self.observed()?;
        let frame = observed.frame();
        let all = PyDict::new(py);
        all.set_item("response", PyArray1::from_slice(py, &frame.response))?;
        let design: Bound<'py, PyArray2<f64>> =
            PyArray1::from_slice(py, &frame.design.dense()).reshape([frame.rows, frame.columns])?;
        all.set_item("design", design)?;
        all.set_item("columns", frame.names.clone())?;
        all.set_item("rows", observed.rows_of(&*self.data()?))?;
        all.set_item("levels", frame.levels.clone())?;
        for (name, values) in [
            ("upper", &frame.upper),
            ("trials", &frame.trials),
            ("offset", &frame.offset),
            ("weights", &frame.weights),
        ] {
            if let Some(values) = values {
                all.set_item(name, PyArray1::from_slice(py, values))?;
            }
        }
        Ok(all)
    }
}

impl Fit {
    /// Values that come draw by draw, with the draws of each chain apart.
    fn by_chain<'py>(
        &self, py: Python<'py>, values: Vec<f64>, rows: usize,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let (chains, each) = (self.fitted.draws().chains(), self.fitted.draws().common());
        PyArray1::from_vec(py, values).reshape([chains, each, rows])
    }
}

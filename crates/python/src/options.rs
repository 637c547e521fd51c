//! Keyword arguments as settings.

use std::path::PathBuf;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};
use ridgewalk::Settings;
use ridgewalk::frame::{Condition, Formula};

use crate::errors::input;

/// One argument with its name, for messages.
struct Given<'a, 'py> {
    name: &'a str,
    value: Bound<'py, PyAny>,
}

impl Given<'_, '_> {
    fn wrong(&self, need: &str) -> PyErr {
        let found = self.value.repr().map_or_else(|_| "?".to_owned(), |text| text.to_string());
        let kind = self.value.get_type().name().map_or_else(|_| String::new(), |n| n.to_string());
        let found: String = found.chars().take(60).collect();
        PyTypeError::new_err(format!("{}={found} ({kind}): need {need}", self.name))
    }

    fn text(&self) -> PyResult<String> {
        self.value.extract().map_err(|_| self.wrong("a text"))
    }

    fn flag(&self) -> PyResult<bool> {
        self.value.cast::<PyBool>().map(|flag| flag.is_true()).or_else(|_| {
            // numpy's own type of booleans.
            self.value.extract::<bool>().map_err(|_| self.wrong("True or False"))
        })
    }

    fn number(&self) -> PyResult<f64> {
        if self.value.is_instance_of::<PyBool>() {
            return Err(self.wrong("a number"));
        }
        self.value.extract().map_err(|_| self.wrong("a number"))
    }

    fn whole<T: for<'a, 'py> FromPyObject<'a, 'py>>(&self) -> PyResult<T> {
        let need = "a whole number of at least 0";
        if self.value.is_instance_of::<PyBool>() || self.value.is_instance_of::<PyFloat>() {
            return Err(self.wrong(need));
        }
        self.value.extract().map_err(|_| {
            if self.value.is_instance_of::<PyInt>() {
                input(format!("{} {}: need {need}", self.name, self.value))
            } else {
                self.wrong(need)
            }
        })
    }

    fn texts(&self) -> PyResult<Vec<String>> {
        if self.value.is_instance_of::<PyString>() {
            return Err(self.wrong("a list of texts"));
        }
        let texts: PyResult<Vec<String>> = self
            .value
            .try_iter()
            .map_err(|_| self.wrong("a list of texts"))?
            .map(|item| item?.extract::<String>())
            .collect();
        texts.map_err(|_| self.wrong("a list of texts"))
    }

    fn path(&self) -> PyResult<PathBuf> {
        self.value.extract().map_err(|_| self.wrong("a path"))
    }

    /// A name that the library knows.
    fn known<T: std::str::FromStr<Err: std::fmt::Display>>(&self) -> PyResult<T> {
        self.text()?.parse().map_err(input)
    }
}

/// The settings of keyword arguments; `None` means the default.
pub(crate) fn settings(options: &Bound<'_, PyDict>) -> PyResult<Settings> {
    let mut settings = Settings::default();
    for (name, value) in options.iter() {
        if value.is_none() {
            continue;
        }
        let name: String = name.extract()?;
        let given = Given { name: &name, value };
        if !set_model(&mut settings, &given)? && !set_run(&mut settings, &given)? {
            return Err(PyTypeError::new_err(format!("fit() has no argument `{name}`")));
        }
    }
    Ok(settings)
}

/// Sets an argument that describes the model; false if there is none of that name.
fn set_model(s: &mut Settings, given: &Given<'_, '_>) -> PyResult<bool> {
    match given.name {
        "data" => s.data = Some(given.path()?),
        "formula" => s.formula = Some(given.text()?),
        "response" => s.response = Some(given.text()?),
        "family" => s.family = given.known()?,
        "predictors" => s.predictors = Some(given.texts()?),
        "exclude" => s.exclude = given.texts()?,
        "where" => s.condition = Some(given.text()?),
        "factor" => s.factor = given.texts()?,
        "base" => s.base = given.texts()?,
        "prior_only" => s.prior_only = given.flag()?,
        "trials" => s.trials = Some(given.text()?),
        "offset" => s.offset = Some(given.text()?),
        "weights" => s.weights = Some(given.text()?),
        "event" => s.event = Some(given.text()?),
        "upper" => s.upper = Some(given.text()?),
        "levels" => s.levels = Some(given.texts()?),
        "no_intercept" => s.no_intercept = given.flag()?,
        "drop_missing" => s.drop_missing = given.flag()?,
        "standardize" => s.standardize = given.flag()?,
        "original_scale" => s.original_scale = given.flag()?,
        "prior" => s.prior = Some(given.text()?),
        "intercept_prior" => s.intercept_prior = Some(given.text()?),
        "group_prior" => s.group_prior = Some(given.text()?),
        "aux_prior" => s.aux_prior = Some(given.text()?),
        "prior_scale" => s.prior_scale = Some(given.number()?),
        "intercept_prior_scale" => s.intercept_prior_scale = Some(given.number()?),
        "priors" => s.priors = Some(given.path()?),
        "prior_of" => s.prior_of = given.texts()?,
        "noise_scale" => s.noise_scale = Some(given.number()?),
        "dispersion" => s.dispersion = Some(given.number()?),
        "shape" => s.shape = Some(given.number()?),
        "degrees_of_freedom" => s.degrees_of_freedom = Some(given.number()?),
        "huber_delta" => s.huber_delta = Some(given.number()?),
        _ => return Ok(false),
    }
    Ok(true)
}

/// Sets an argument that describes the run; false if there is none of that name.
fn set_run(s: &mut Settings, given: &Given<'_, '_>) -> PyResult<bool> {
    match given.name {
        "mode_search" => s.mode_search = given.known()?,
        "kernel" => s.kernel = given.known()?,
        "nodes" => s.nodes = Some(given.whole()?),
        "gamma" => s.gamma = Some(given.number()?),
        "xi" => s.xi = Some(given.number()?),
        "eta" => s.eta = Some(given.number()?),
        "bias_tolerance" => s.bias_tolerance = Some(given.number()?),
        "chains" => s.chains = given.whole()?,
        "draws" => s.draws = given.whole()?,
        "thin" => s.thin = Some(given.whole()?),
        "target_ess" => s.target_ess = Some(given.number()?),
        "max_draws" => s.max_draws = given.whole()?,
        "interval" => s.interval = given.number()?,
        "seed" => s.seed = given.whole()?,
        "threads" => s.threads = Some(given.whole()?),
        "out" => s.out = given.path()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The columns that a model of these settings can use; `None` for all, or if the settings are not
/// valid, which the fit reports.
pub(crate) fn columns(settings: &Settings) -> Option<Vec<String>> {
    let formula: Formula = settings.formula.as_ref()?.parse().ok()?;
    let mut all: Vec<String> = formula.columns()?.into_iter().map(str::to_owned).collect();
    if let Some(text) = &settings.condition {
        let condition: Condition = text.parse().ok()?;
        all.extend(condition.columns().into_iter().map(str::to_owned));
    }
    let Settings { trials, offset, weights, event, upper, .. } = settings;
    all.extend([trials, offset, weights, event, upper].into_iter().flatten().cloned());
    Some(all)
}

/// The columns that a fit with these arguments can use; None for all.
#[pyfunction]
pub(crate) fn columns_of(options: &Bound<'_, PyDict>) -> PyResult<Option<Vec<String>>> {
    Ok(columns(&settings(options)?))
}

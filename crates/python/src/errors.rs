//! Errors as Python exceptions, in the words of the program. Options are named as arguments.

use pyo3::create_exception;
use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use ridgewalk::pipeline::{self as fit, ErrorKind};
use ridgewalk::{frame, sampler, store, theory};

create_exception!(
    ridgewalk,
    InputError,
    PyValueError,
    "Data, a formula, priors or arguments that cannot be used; the message says which, and what is needed."
);
create_exception!(ridgewalk, RunError, PyRuntimeError, "A run that failed.");

/// Adds the exceptions to the module.
pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    module.add("InputError", py.get_type::<InputError>())?;
    module.add("RunError", py.get_type::<RunError>())
}

/// A message of the program for Python: `--prior-scale` is the argument `prior_scale`.
#[pyfunction]
pub(crate) fn words(message: &str) -> String {
    let mut out = String::with_capacity(message.len());
    let mut rest = message;
    while let Some(at) = rest.find("--") {
        let (before, option) = rest.split_at(at);
        let name: String =
            option[2..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let name = name.trim_end_matches('-');
        let alone = !before.ends_with(|c: char| c.is_alphanumeric() || c == '-');
        out.push_str(before);
        if name.is_empty() || !alone {
            out.push_str("--");
            rest = &option[2..];
            continue;
        }
        out.push_str(&argument(name));
        rest = &option[2 + name.len()..];
    }
    out.push_str(rest);
    out
}

/// The argument of an option.
fn argument(option: &str) -> String {
    match option {
        "prior-of" => "priors".to_owned(),
        other => other.replace('-', "_"),
    }
}

/// An error of arguments or data.
pub(crate) fn input(message: impl ToString) -> PyErr {
    InputError::new_err(words(&message.to_string()))
}

/// An error of a run.
pub(crate) fn failed(message: impl ToString) -> PyErr {
    RunError::new_err(words(&message.to_string()))
}

/// An error of a fit.
pub(crate) fn of_fit(error: fit::Error) -> PyErr {
    match error.kind() {
        ErrorKind::Input => input(error),
        ErrorKind::Stopped => PyKeyboardInterrupt::new_err(error.to_string()),
        _ => failed(error),
    }
}

/// An error of a run directory.
pub(crate) fn of_run(error: ridgewalk::RunError) -> PyErr {
    use ridgewalk::RunError as E;
    match error {
        E::Fit(error) => of_fit(error),
        E::Store(error) => of_store(error),
        E::Stopped { .. } => PyKeyboardInterrupt::new_err(error.to_string()),
        E::MissingDraws { .. } => input(error),
        other => failed(other),
    }
}

/// An error of files.
pub(crate) fn of_store(error: store::Error) -> PyErr {
    match error.kind() {
        store::ErrorKind::Input => input(error),
        _ => failed(error),
    }
}

/// An error of data.
pub(crate) fn of_data(error: frame::DataError) -> PyErr {
    input(error)
}

/// An error of certificates and plans.
pub(crate) fn of_theory(error: theory::TheoryError) -> PyErr {
    input(error)
}

/// An error of the sampler on a density of the user's own.
pub(crate) fn of_sampler(error: sampler::Error) -> PyErr {
    match error {
        sampler::Error::Stopped => PyKeyboardInterrupt::new_err("stopped before the first draw"),
        sampler::Error::Zero { .. } | sampler::Error::Scheme(_) => input(error),
        other if other.to_string().contains("the density is 0") => failed(format!(
            "{other}. Where a density ends near its mode, sample a transformed coordinate: the \
             logarithm of a positive one, for example, with the Jacobian in the log density"
        )),
        other => failed(other),
    }
}

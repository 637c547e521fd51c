//! The native module of the Python package `ridgewalk`: tables, fits and sampling over the facade.
//!
//! The package in `python/ridgewalk` is what users import. It turns data frames into columns and
//! results into data frames; everything between is here, and is the library's. Documents come to
//! Python as JSON with the keys of the program's, numbers as arrays.

mod arrow;
mod density;
mod errors;
mod fit;
mod foreign;
mod options;
mod predict;
mod sample;
mod table;
mod theory;
mod watch;

use pyo3::prelude::*;

/// The native module.
#[pymodule(gil_used = false)]
mod _ridgewalk {
    use pyo3::prelude::*;

    #[pymodule_export]
    use super::errors::words;
    #[pymodule_export]
    use super::fit::{Fit, Loo, columns_of_run, compare, describe, fit, load, restore, resume};
    #[pymodule_export]
    use super::options::columns_of;
    #[pymodule_export]
    use super::sample::{Samples, restore_samples, sample};
    #[pymodule_export]
    use super::table::Table;
    #[pymodule_export]
    use super::theory::{certify, coefficients, plan};

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))?;
        super::errors::register(module)
    }
}

/// A document as Python reads it.
fn json<T: serde::Serialize + ?Sized>(document: &T) -> PyResult<String> {
    serde_json::to_string(document)
        .map_err(|error| errors::RunError::new_err(format!("cannot write the document: {error}")))
}

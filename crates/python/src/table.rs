//! Tables: columns from Python, from Arrow or from a file.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple};
use ridgewalk::Settings;
use ridgewalk::frame::{self, Column, SparseColumns};
use ridgewalk::pipeline::in_threads;

use crate::arrow;
use crate::errors::{input, of_data, of_fit};

/// Columns of data.
#[pyclass(frozen, module = "ridgewalk._ridgewalk")]
#[derive(Debug, Clone)]
pub(crate) struct Table {
    pub(crate) inner: Arc<frame::Table>,
}

impl Table {
    pub(crate) fn of(table: frame::Table) -> Self {
        Self { inner: Arc::new(table) }
    }
}

#[pymethods]
impl Table {
    /// A table of columns: ("numbers", name, float64 array), ("texts", name, codes, levels),
    /// ("levels", name, codes, levels), whose order is kept, ("sparse", name, names of columns, starts
    /// of rows, columns, values), or ("unusable", name, what).
    #[staticmethod]
    fn from_columns(name: &str, columns: &Bound<'_, PyList>) -> PyResult<Self> {
        let columns: PyResult<Vec<Column>> = columns.iter().map(|each| column(&each)).collect();
        frame::Table::from_columns(name, columns?).map(Self::of).map_err(of_data)
    }

    /// A table of an object with the Arrow PyCapsule interface, of some of its columns.
    #[staticmethod]
    fn from_arrow(
        py: Python<'_>, name: &str, frame: &Bound<'_, PyAny>, wanted: Option<Vec<String>>,
    ) -> PyResult<Self> {
        let stream = arrow::stream(frame)?;
        let columns = py.detach(|| arrow::columns(stream, wanted.as_deref())).map_err(input)?;
        frame::Table::from_columns(name, columns).map(Self::of).map_err(of_data)
    }

    /// Reads a file: CSV or Parquet.
    #[staticmethod]
    fn read(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        // On threads of its own, so that a process that is forked later is not left without them.
        let read = || in_threads(&Settings::default(), || frame::Table::read(&path));
        py.detach(read).map_err(of_fit)?.map(Self::of).map_err(of_data)
    }

    /// The data that ship with the package.
    #[staticmethod]
    fn built_in() -> PyResult<Self> {
        frame::Table::built_in().map(Self::of).map_err(of_data)
    }

    #[getter]
    fn name(&self) -> &str {
        self.inner.name()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.inner.rows()
    }

    #[getter]
    fn names(&self) -> Vec<&str> {
        self.inner.columns().iter().map(Column::name).collect()
    }

    /// The columns in the form that `from_columns` takes. Text comes with its levels.
    fn columns<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        for column in self.inner.columns() {
            let name = column.name();
            let entry = if let Some(values) = column.numbers() {
                ("numbers", name, PyArray1::from_slice(py, values)).into_pyobject(py)?
            } else if let Some((levels, codes, ordered)) = column.levels() {
                let kind = if ordered { "levels" } else { "texts" };
                let codes = PyArray1::from_slice(py, codes);
                (kind, name, codes, levels.to_vec()).into_pyobject(py)?
            } else if let Some(columns) = column.sparse() {
                let rows = columns.entries();
                let starts = rows.starts.iter().map(|start| *start as i64);
                let starts = PyArray1::from_iter(py, starts);
                let indices = PyArray1::from_slice(py, &rows.indices);
                let values = PyArray1::from_slice(py, &rows.values);
                ("sparse", name, columns.names().to_vec(), starts, indices, values)
                    .into_pyobject(py)?
            } else if column.is_missing() {
                let values = vec![f64::NAN; self.inner.rows()];
                ("numbers", name, PyArray1::from_vec(py, values)).into_pyobject(py)?
            } else {
                ("unusable", name, "values that were not kept").into_pyobject(py)?
            };
            all.append(entry)?;
        }
        Ok(all)
    }
}

/// One column.
fn column(each: &Bound<'_, PyAny>) -> PyResult<Column> {
    let each = each.cast::<PyTuple>()?;
    let kind: String = each.get_item(0)?.extract()?;
    let name: String = each.get_item(1)?.extract()?;
    match kind.as_str() {
        "numbers" => {
            let values = each.get_item(2)?;
            let values: PyReadonlyArray1<'_, f64> = values.extract()?;
            // One copy, whatever the strides.
            Ok(match values.as_slice() {
                Ok(values) => Column::from_numbers(&name, values),
                Err(_) => {
                    let values: Vec<f64> = values.as_array().iter().copied().collect();
                    Column::from_numbers(&name, &values)
                }
            })
        }
        "sparse" => {
            let starts: PyReadonlyArray1<'_, i64> = each.get_item(3)?.extract()?;
            let indices: PyReadonlyArray1<'_, u32> = each.get_item(4)?.extract()?;
            let values: PyReadonlyArray1<'_, f64> = each.get_item(5)?.extract()?;
            let start = |start: &i64| usize::try_from(*start).unwrap_or(usize::MAX);
            let found = SparseColumns::from_csr(
                each.get_item(2)?.extract()?,
                starts.as_array().iter().map(start).collect(),
                indices.as_array().iter().copied().collect(),
                values.as_array().iter().copied().collect(),
            );
            Ok(Column::from_sparse(&name, found.map_err(of_data)?))
        }
        "unusable" => Ok(Column::unusable(&name, &each.get_item(2)?.extract::<String>()?)),
        kind => {
            let codes = each.get_item(2)?;
            let codes: PyReadonlyArray1<'_, u32> = codes.extract()?;
            let codes: Vec<u32> = codes.as_array().iter().copied().collect();
            let levels: Vec<String> = each.get_item(3)?.extract()?;
            Ok(match kind {
                "levels" => Column::from_levels(&name, &levels, codes),
                _ => texts(&name, &levels, &codes),
            })
        }
    }
}

/// A column of text without an order of its own. A code beyond the last level is missing.
pub(crate) fn texts<S: AsRef<str>>(name: &str, levels: &[S], codes: &[u32]) -> Column {
    let text = |code: &u32| levels.get(*code as usize).map_or("", AsRef::as_ref);
    let values: Vec<&str> = codes.iter().map(text).collect();
    Column::from_texts(name, &values)
}

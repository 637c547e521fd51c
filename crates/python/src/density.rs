//! Log densities of the user's own: a Python function of one point or of many, or a compiled one.

use std::sync::{Arc, Mutex, PoisonError};

use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use ridgewalk::potentials::{Error, Gradient, GradientError};

use crate::foreign::Compiled;

/// A log density with its gradient.
#[derive(Debug, Clone)]
pub(crate) struct Density {
    dimension: usize,
    kind: Arc<Kind>,
    /// The first exception: nothing is called after it.
    raised: Arc<Mutex<Option<PyErr>>>,
}

#[derive(Debug)]
enum Kind {
    /// Called with one point.
    Point(Py<PyAny>),
    /// Called with an array of points.
    Points(Py<PyAny>),
    /// Called without Python.
    Compiled(Compiled),
}

/// Why there is no value: the exception is kept for later.
const RAISED: &str = "the function raised an exception";

impl Density {
    /// A Python function of one point or, `vectorized`, of the rows of an array.
    pub(crate) fn python(function: Py<PyAny>, dimension: usize, vectorized: bool) -> Self {
        let kind = if vectorized { Kind::Points(function) } else { Kind::Point(function) };
        Self::of(kind, dimension)
    }

    /// A compiled function.
    pub(crate) fn compiled(function: Compiled, dimension: usize) -> Self {
        Self::of(Kind::Compiled(function), dimension)
    }

    fn of(kind: Kind, dimension: usize) -> Self {
        Self { dimension, kind: Arc::new(kind), raised: Arc::default() }
    }

    /// Whether calls can run side by side.
    pub(crate) fn is_compiled(&self) -> bool {
        matches!(*self.kind, Kind::Compiled(_))
    }

    /// The exception of the function, once.
    pub(crate) fn raised(&self) -> Option<PyErr> {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    fn broken(&self) -> bool {
        self.raised.lock().unwrap_or_else(PoisonError::into_inner).is_some()
    }

    /// Calls Python, and keeps an exception.
    fn call<T>(&self, work: impl FnOnce(Python<'_>) -> PyResult<T>) -> Result<T, GradientError> {
        if self.broken() {
            return Err(RAISED.into());
        }
        Python::attach(work).map_err(|error| {
            let mut raised = self.raised.lock().unwrap_or_else(PoisonError::into_inner);
            raised.get_or_insert(error);
            RAISED.into()
        })
    }

    /// The log density at a point, with its gradient.
    fn at(&self, point: &[f64], gradient: &mut [f64]) -> Result<f64, GradientError> {
        match &*self.kind {
            Kind::Compiled(function) => Ok(function.call(point, gradient)),
            Kind::Point(function) => self.call(|py| {
                let found = function.call1(py, (PyArray1::from_slice(py, point),))?;
                let (value, slope) = pair(found.bind(py))?;
                let value = value.extract::<f64>().or_else(|_| scalar(&value))?;
                copy(&slope, gradient)?;
                finite(&[value])?;
                Ok(value)
            }),
            Kind::Points(_) => {
                let mut value = [0.0];
                self.at_all(point, &mut value, gradient)?;
                Ok(value[0])
            }
        }
    }

    /// The same at several points, with one call.
    fn at_all(
        &self, points: &[f64], values: &mut [f64], gradients: &mut [f64],
    ) -> Result<(), GradientError> {
        let Kind::Points(function) = &*self.kind else {
            let d = self.dimension;
            let each = points.chunks_exact(d).zip(gradients.chunks_exact_mut(d));
            for ((point, gradient), value) in each.zip(values) {
                *value = self.at(point, gradient)?;
            }
            return Ok(());
        };
        let shape = [values.len(), self.dimension];
        self.call(|py| {
            let array = PyArray1::from_slice(py, points).reshape(shape)?;
            let found = function.call1(py, (array,))?;
            let (value, slope) = pair(found.bind(py))?;
            copy(&value, values)?;
            finite(values)?;
            let slope = floats(&slope)?;
            let slope = slope.cast::<PyArray2<f64>>().map_err(|_| wrong_shape(&slope, &shape))?;
            let slope: PyReadonlyArray2<'_, f64> = slope.readonly();
            if slope.as_array().shape() != shape {
                return Err(wrong_shape(slope.as_any(), &shape));
            }
            gradients.iter_mut().zip(slope.as_array().iter()).for_each(|(to, from)| *to = *from);
            Ok(())
        })
    }
}

/// Value and gradient, as the function returned them.
fn pair<'py>(found: &Bound<'py, PyAny>) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
    let need = "the function must return the log density and its gradient, as jax.value_and_grad \
                does";
    let wrong = || {
        let kind = found.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
        PyTypeError::new_err(format!("found a result of type {kind}: {need}"))
    };
    let pair = found
        .cast::<PyTuple>()
        .cloned()
        .or_else(|_| {
            found
                .try_iter()?
                .collect::<PyResult<Vec<_>>>()
                .and_then(|items| PyTuple::new(found.py(), items))
        })
        .map_err(|_| wrong())?;
    if pair.len() != 2 {
        return Err(PyTypeError::new_err(format!("found {} results: {need}", pair.len())));
    }
    let (value, slope) = (pair.get_item(0)?, pair.get_item(1)?);
    if value.is_none() || slope.is_none() {
        return Err(PyTypeError::new_err(format!("found None: {need}")));
    }
    Ok((value, slope))
}

/// A number from an array of one.
fn scalar(value: &Bound<'_, PyAny>) -> PyResult<f64> {
    let array = floats(value)?;
    array.call_method0("item").and_then(|item| item.extract()).map_err(|_| {
        PyValueError::new_err("the log density must be one number, found an array of several")
    })
}

/// An array of 64-bit numbers, of whatever the function returned.
fn floats<'py>(found: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let numpy = found.py().import("numpy")?;
    numpy.call_method1("asarray", (found, "float64"))
}

fn wrong_shape(found: &Bound<'_, PyAny>, need: &[usize]) -> PyErr {
    let shape = found.getattr("shape").map_or_else(|_| "?".to_owned(), |shape| shape.to_string());
    let need: Vec<String> = need.iter().map(usize::to_string).collect();
    let comma = if need.len() == 1 { "," } else { "" };
    PyValueError::new_err(format!(
        "the function returned an array of shape {shape}: need ({}{comma})",
        need.join(", ")
    ))
}

/// Copies an array of one dimension.
fn copy(found: &Bound<'_, PyAny>, into: &mut [f64]) -> PyResult<()> {
    let array = floats(found)?;
    let array = array.cast::<PyArray1<f64>>().map_err(|_| wrong_shape(&array, &[into.len()]))?;
    let array: PyReadonlyArray1<'_, f64> = array.readonly();
    if array.as_array().len() != into.len() {
        return Err(wrong_shape(array.as_any(), &[into.len()]));
    }
    into.iter_mut().zip(array.as_array().iter()).for_each(|(to, from)| *to = *from);
    Ok(())
}

/// Refuses a density that is infinite somewhere.
fn finite(values: &[f64]) -> PyResult<()> {
    match values.contains(&f64::INFINITY) {
        true => Err(PyValueError::new_err("the log density is +inf, need a finite number or -inf")),
        false => Ok(()),
    }
}

/// The potential is minus the log density. Where that is −∞ or not a number, or the gradient is not
/// finite, the density is 0: trajectories that go there are rejected.
fn potential(value: &mut f64, gradient: &mut [f64]) -> bool {
    gradient.iter_mut().for_each(|g| *g = -*g);
    *value = -*value;
    value.is_finite() && gradient.iter().all(|g| g.is_finite())
}

impl Gradient for Density {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        self.value_and_gradient(point, gradient).map(|_| ())
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        let mut value = self.at(point, gradient)?;
        if potential(&mut value, gradient) {
            Ok(Some(value))
        } else {
            Err(GradientError::OutsideSupport)
        }
    }

    fn values_and_gradients_at(
        &self, points: &[f64], values: &mut [f64], gradients: &mut [f64],
    ) -> Result<(), Error> {
        let d = self.dimension.max(1);
        self.at_all(points, values, gradients)
            .map_err(|error| Error::Gradient { point: Vec::new(), message: error.to_string() })?;
        for (value, gradient) in values.iter_mut().zip(gradients.chunks_exact_mut(d)) {
            if !potential(value, gradient) {
                gradient.fill(0.0);
                *value = f64::INFINITY;
            }
        }
        Ok(())
    }
}

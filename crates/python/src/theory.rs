//! Certificates, plans and coefficients.

use pyo3::prelude::*;
use ridgewalk::coefficients::{Coefficients, Parameters};
use ridgewalk::theory::{CertifyRequest, PlanRequest};

use crate::errors::{input, of_theory};
use crate::json;

/// A contraction certificate, as JSON.
#[pyfunction]
#[pyo3(signature = (kappa, gamma, xi, eta, nodes, kernel))]
pub(crate) fn certify(
    py: Python<'_>, kappa: f64, gamma: Option<f64>, xi: Option<f64>, eta: Option<f64>,
    nodes: Option<usize>, kernel: Option<&str>,
) -> PyResult<String> {
    let kernel = kernel.map(str::parse).transpose().map_err(of_theory)?;
    let request = CertifyRequest { kappa, gamma, xi, eta, nodes, kernel };
    json(&py.detach(|| request.answer()).map_err(of_theory)?)
}

/// A plan that guarantees an accuracy, as JSON.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "those of the program")]
pub(crate) fn plan(
    py: Python<'_>, convexity: f64, smoothness: f64, dimension: u64, accuracy: f64,
    nodes: Option<usize>, lipschitz_hessian: Option<f64>, higher_smoothness: Vec<(u32, f64)>,
    start_distance: f64, start_at_rest: bool,
) -> PyResult<String> {
    let request = PlanRequest {
        convexity,
        smoothness,
        dimension,
        accuracy,
        nodes,
        lipschitz_hessian,
        higher_smoothness,
        start_distance,
        start_at_rest,
    };
    json(&py.detach(|| request.answer()).map_err(of_theory)?)
}

/// The numbers of one step, by name.
#[pyfunction]
pub(crate) fn coefficients(
    gamma: f64, xi: f64, eta: f64, smoothness: f64,
) -> PyResult<Vec<(&'static str, f64)>> {
    let parameters = Parameters::new(gamma, xi, eta).map_err(input)?;
    Ok(Coefficients::new(parameters, smoothness).map_err(input)?.named().to_vec())
}

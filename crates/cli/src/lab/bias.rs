//! `ridgewalk lab bias`: the bias of the stationary variance against the step size.

use clap::Args;
use ridgewalk::lyapunov::laws::{KernelKind, Scheme, Spectrum, relative_bias};
use serde::Serialize;

use super::{Common, by_kernel, exact, positive, series_by_kernel, short, slope};
use crate::failure::Failure;
use crate::plot::Panel;

/// A smaller bias is rounding in the stationary covariance, and is shown as 0.
const ROUNDING: f64 = 1e-11;
/// The dimension of the target: nine coordinates have the nine eigenvalues of a log-spaced target,
/// and more would give the same bias.
const DIMENSION: u64 = 9;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Condition number
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    kappa: f64,
    /// Coupling gamma of third-order, symmetric and averaged [default: such that gamma^2/xi =
    /// 1/sqrt(kappa)]
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    gamma: Option<f64>,
    /// Friction xi
    #[arg(long, value_name = "X", default_value_t = 2.0, allow_negative_numbers = true)]
    xi: f64,
    /// Shortest step
    #[arg(long, value_name = "H", default_value_t = 0.01, allow_negative_numbers = true)]
    eta_from: f64,
    /// Longest step
    #[arg(long, value_name = "H", default_value_t = 1.0, allow_negative_numbers = true)]
    eta_to: f64,
    /// Number of step sizes, evenly spaced in the logarithm
    #[arg(long, value_name = "N", default_value_t = 13, value_parser = clap::value_parser!(u16).range(2..=1000))]
    points: u16,
    #[command(flatten)]
    common: Common,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    kappa: f64,
    gamma: f64,
    xi: f64,
    results: Vec<Row>,
    orders: Vec<Order>,
}

#[derive(Debug, Serialize)]
struct Row {
    kernel: &'static str,
    eta: f64,
    /// None where the step is unstable.
    bias: Option<f64>,
}

/// The power of the step size with which the bias falls, from the shortest steps.
#[derive(Debug, Serialize)]
struct Order {
    kernel: &'static str,
    order: Option<f64>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kernels = options.common.kernels()?;
    let target = Spectrum::log_spaced(options.kappa, DIMENSION)?;
    let xi = positive("xi", options.xi)?;
    let gamma =
        positive("gamma", options.gamma.unwrap_or_else(|| (xi / options.kappa.sqrt()).sqrt()))?;
    let etas = etas(options)?;
    let mut results = Vec::new();
    for &kernel in &kernels {
        for &eta in &etas {
            let bias = relative_bias(&Scheme::new(kernel, gamma, xi, eta)?, &target);
            let bias = bias.map(|b| if b < ROUNDING { 0.0 } else { b });
            results.push(Row { kernel: kernel.name(), eta, bias });
        }
    }
    let orders = kernels.iter().map(|kernel| order(*kernel, &results)).collect();
    let document = Document { kappa: options.kappa, gamma, xi, results, orders };
    let rows = document
        .results
        .iter()
        .map(|row| vec![row.kernel.to_owned(), row.eta.to_string(), exact(row.bias)]);
    options.common.to.write(
        (&["kernel", "eta", "bias"], rows),
        || vec![panel(&document, &kernels)],
        &document,
        || text(&document, &kernels, &etas),
    )
}

/// The step sizes; the first and the last are exactly as given.
fn etas(options: &Options) -> Result<Vec<f64>, Failure> {
    let from = positive("eta-from", options.eta_from)?;
    let to = positive("eta-to", options.eta_to)?;
    if from >= to {
        return Err(Failure::Usage(format!(
            "eta-from = {from}: need a number below eta-to = {to}"
        )));
    }
    let last = options.points - 1;
    let at = |i: u16| {
        if i == last { to } else { from * (to / from).powf(f64::from(i) / f64::from(last)) }
    };
    Ok((0..options.points).map(at).collect())
}

fn order(kernel: KernelKind, results: &[Row]) -> Order {
    let rows = results.iter().filter(|row| row.kernel == kernel.name());
    let points = rows.filter_map(|row| row.bias.filter(|b| *b > 0.0).map(|bias| (row.eta, bias)));
    let shortest: Vec<(f64, f64)> = points.take(3).collect();
    Order { kernel: kernel.name(), order: slope(&shortest) }
}

fn panel(document: &Document, kernels: &[KernelKind]) -> Panel {
    let mut series = series_by_kernel(kernels, |kernel| {
        let rows = document.results.iter().filter(|row| row.kernel == kernel.name());
        rows.filter_map(|row| row.bias.map(|bias| (row.eta, bias))).collect()
    });
    for one in &mut series {
        if one.points.iter().all(|(_, bias)| *bias == 0.0) {
            one.name.push_str(" (no bias)");
        }
    }
    Panel {
        title: format!("Bias of the variance, condition number {}", document.kappa),
        x_label: "step size".to_owned(),
        y_label: "relative bias".to_owned(),
        series,
    }
}

fn text(document: &Document, kernels: &[KernelKind], etas: &[f64]) -> String {
    let rows = etas.iter().map(|eta| {
        let biases = document.results.iter().filter(|row| row.eta == *eta);
        let cells = biases
            .map(|row| row.bias.map_or_else(|| "unstable".to_owned(), |bias| short(Some(bias))));
        std::iter::once(short(Some(*eta))).chain(cells).collect()
    });
    let orders = document
        .orders
        .iter()
        .map(|order| order.order.map_or_else(|| "-".to_owned(), |o| format!("{o:.2}")));
    let orders: Vec<String> = std::iter::once("order".to_owned()).chain(orders).collect();
    format!(
        "Relative bias of the stationary variance of theta, the largest over the spectrum: kappa = {}, gamma = {}, xi = {}\n{}\n\
         order: the power of eta with which the bias falls, from the three shortest steps.",
        document.kappa,
        short(Some(document.gamma)),
        short(Some(document.xi)),
        by_kernel("eta", kernels, rows.chain([orders]))
    )
}

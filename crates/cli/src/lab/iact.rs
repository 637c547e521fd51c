//! `ridgewalk lab iact`: the cost of an independent draw.

use clap::Args;
use ridgewalk::lyapunov::laws::{KernelKind, Tuned, tune};
use serde::Serialize;

use super::{Common, by_kernel, exact, series_by_kernel, short};
use crate::failure::Failure;
use crate::output;
use crate::plot::Panel;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Condition numbers
    #[arg(
        long,
        value_name = "K,K,...",
        value_delimiter = ',',
        required = true,
        allow_negative_numbers = true
    )]
    kappa: Vec<f64>,
    /// Allowed relative bias of the variance
    #[arg(long, value_name = "B", default_value_t = 0.01, allow_negative_numbers = true)]
    bias: f64,
    #[command(flatten)]
    common: Common,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    bias_tolerance: f64,
    results: Vec<Row>,
}

#[derive(Debug, Serialize)]
struct Row {
    kappa: f64,
    kernel: &'static str,
    gradients_per_draw: f64,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: f64,
    bias: f64,
    worst_eigenvalue: f64,
}

impl Row {
    fn new(kappa: f64, tuned: &Tuned) -> Self {
        Self {
            kappa,
            kernel: tuned.scheme.name(),
            gradients_per_draw: tuned.cost,
            gamma: tuned.scheme.gamma(),
            xi: tuned.scheme.xi(),
            eta: tuned.scheme.eta(),
            bias: tuned.bias,
            worst_eigenvalue: tuned.worst_eigenvalue,
        }
    }
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kernels = options.common.kernels()?;
    let mut results = Vec::new();
    for &kappa in &options.kappa {
        for &kernel in &kernels {
            results.push(Row::new(kappa, &tune(kernel, kappa, options.bias)?));
        }
    }
    let document = Document { bias_tolerance: options.bias, results };
    let header =
        ["kappa", "kernel", "gradients_per_draw", "gamma", "xi", "eta", "bias", "worst_eigenvalue"];
    let rows = document.results.iter().map(|r| {
        let numbers = [
            Some(r.gradients_per_draw),
            r.gamma,
            r.xi,
            Some(r.eta),
            Some(r.bias),
            Some(r.worst_eigenvalue),
        ];
        [r.kappa.to_string(), r.kernel.to_owned()].into_iter().chain(numbers.map(exact)).collect()
    });
    options.common.to.write(
        (&header, rows),
        || vec![panel(&document, &kernels)],
        &document,
        || text(&document, &kernels),
    )
}

fn panel(document: &Document, kernels: &[KernelKind]) -> Panel {
    let points = |kernel: KernelKind| {
        let rows = document.results.iter().filter(|row| row.kernel == kernel.name());
        rows.map(|row| (row.kappa, row.gradients_per_draw)).collect()
    };
    Panel {
        title: format!("Cost of a draw, relative bias at most {}", document.bias_tolerance),
        x_label: "condition number".to_owned(),
        y_label: "gradients per independent draw".to_owned(),
        series: series_by_kernel(kernels, points),
    }
}

fn text(document: &Document, kernels: &[KernelKind]) -> String {
    let costs = document.results.chunks(kernels.len()).map(|chunk| {
        let first = chunk.first().map_or_else(String::new, |row| row.kappa.to_string());
        std::iter::once(first)
            .chain(chunk.iter().map(|row| short(Some(row.gradients_per_draw))))
            .collect()
    });
    let parameters = document.results.iter().map(|row| {
        vec![
            row.kernel.to_owned(),
            row.kappa.to_string(),
            short(row.gamma),
            short(row.xi),
            short(Some(row.eta)),
            // A smaller bias is rounding.
            short(Some(if row.bias < 1e-10 { 0.0 } else { row.bias })),
            short(Some(row.worst_eigenvalue)),
        ]
    });
    format!(
        "Gradients per independent draw (the longer of the times of theta and theta^2, at the worst eigenvalue),\n\
         each kernel tuned to minimise them with a relative bias of the variance of at most {}:\n{}\n\n\
         The tuned parameters (units of L = 1):\n{}",
        document.bias_tolerance,
        by_kernel("kappa", kernels, costs),
        output::table(
            ["kernel", "kappa", "gamma", "xi", "eta", "bias", "worst eigenvalue"],
            parameters
        )
    )
}

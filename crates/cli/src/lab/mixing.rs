//! `ridgewalk lab mixing`: gradients until the law is within an accuracy of the target, against
//! dimension, accuracy and condition number.

use clap::Args;
use ridgewalk::lyapunov::laws::{KernelKind, Spectrum, tune_mixing};
use serde::Serialize;

use super::{Common, by_kernel, exact, positive, series_by_kernel, short, slope};
use crate::failure::Failure;
use crate::plot::{Panel, Series};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Condition number
    #[arg(long, value_name = "K", allow_negative_numbers = true)]
    kappa: f64,
    /// Smallest dimension
    #[arg(long, value_name = "D")]
    dimension: u64,
    /// Coarsest W2 accuracy, in units of L = 1
    #[arg(long, value_name = "EPS", allow_negative_numbers = true)]
    accuracy: f64,
    /// How often the dimension is doubled, and the accuracy halved
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u8).range(1..=30))]
    doublings: u8,
    /// How often the condition number is doubled
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u8).range(0..=16))]
    kappa_doublings: u8,
    #[command(flatten)]
    common: Common,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    kappa: f64,
    dimension: u64,
    accuracy: f64,
    results: Vec<Row>,
    exponents: Vec<Exponents>,
}

#[derive(Debug, Clone, Serialize)]
struct Row {
    kernel: &'static str,
    dimension: u64,
    accuracy: f64,
    /// None if no parameters were found that reach the accuracy.
    steps: Option<u64>,
    gradients: Option<u64>,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: Option<f64>,
    kappa: f64,
}

/// Powers of d, of 1/ε and of κ with which the gradients grow: as fitted here, and as proved for a
/// class of potentials. The powers of 1/η do not include the logarithm in the number of steps.
#[derive(Debug, Serialize)]
struct Exponents {
    kernel: &'static str,
    dimension_fitted: Option<f64>,
    dimension_of_inverse_eta: Option<f64>,
    dimension_proved: Option<f64>,
    accuracy_fitted: Option<f64>,
    accuracy_of_inverse_eta: Option<f64>,
    accuracy_proved: Option<f64>,
    kappa_fitted: Option<f64>,
}

/// The dimensions, accuracies and condition numbers of the rows.
struct Grid {
    dimensions: Vec<u64>,
    accuracies: Vec<f64>,
    kappas: Vec<f64>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kernels = options.common.kernels()?;
    let grid = grid(options)?;
    let mut results = Vec::new();
    let mut exponents = Vec::new();
    for &kernel in &kernels {
        let (d, accuracy, kappa) = (options.dimension, options.accuracy, options.kappa);
        let rows = |questions: Vec<(f64, u64, f64)>| -> Result<Vec<Row>, Failure> {
            questions
                .into_iter()
                .map(|(kappa, d, accuracy)| row(kernel, kappa, d, accuracy))
                .collect()
        };
        let by_dimension = rows(grid.dimensions.iter().map(|&d| (kappa, d, accuracy)).collect())?;
        let finer = rows(grid.accuracies[1..].iter().map(|&a| (kappa, d, a)).collect())?;
        let worse = rows(grid.kappas[1..].iter().map(|&k| (k, d, accuracy)).collect())?;
        exponents.push(fitted(kernel, &by_dimension, &finer, &worse));
        results.extend([by_dimension, finer, worse].concat());
    }
    let document = Document {
        kappa: options.kappa,
        dimension: options.dimension,
        accuracy: options.accuracy,
        results,
        exponents,
    };
    options.common.to.write(
        (&HEADER, document.results.iter().map(Row::cells)),
        || panels(&document, &kernels, grid.kappas.len() > 1),
        &document,
        || text(&document, &kernels, &grid),
    )
}

/// The exponents of a kernel, from rows along the dimension, finer accuracies and larger condition
/// numbers.
fn fitted(kernel: KernelKind, by_dimension: &[Row], finer: &[Row], worse: &[Row]) -> Exponents {
    let by_accuracy = [&by_dimension[..1], finer].concat();
    let by_kappa = [&by_dimension[..1], worse].concat();
    let inverse_eta = |row: &Row| row.eta.map(f64::recip);
    let power = |rows: &[Row], x: &dyn Fn(&Row) -> f64, y: &dyn Fn(&Row) -> Option<f64>| {
        slope(&rows.iter().filter_map(|row| y(row).map(|y| (x(row), y))).collect::<Vec<_>>())
    };
    let along_d = |y| power(by_dimension, &|row| row.dimension as f64, y);
    let along_accuracy = |y| power(&by_accuracy, &|row| row.accuracy.recip(), y);
    Exponents {
        kernel: kernel.name(),
        dimension_fitted: along_d(&Row::cost),
        dimension_of_inverse_eta: along_d(&inverse_eta),
        dimension_proved: kernel.proved_exponents().map(|(dimension, _)| dimension),
        accuracy_fitted: along_accuracy(&Row::cost),
        accuracy_of_inverse_eta: along_accuracy(&inverse_eta),
        accuracy_proved: kernel.proved_exponents().map(|(_, accuracy)| accuracy),
        kappa_fitted: power(&by_kappa, &|row| row.kappa, &Row::cost),
    }
}

fn grid(options: &Options) -> Result<Grid, Failure> {
    let accuracy = positive("accuracy", options.accuracy)?;
    Spectrum::log_spaced(options.kappa, options.dimension)?;
    let doublings = u32::from(options.doublings);
    let largest = options.dimension.checked_mul(1 << doublings).ok_or_else(|| {
        Failure::Usage(format!(
            "dimension = {}: need one that can be doubled {doublings} times",
            options.dimension
        ))
    })?;
    let powers = |first: f64, factor: f64, last: u8| {
        (0..=last).map(move |i| first * factor.powi(i32::from(i)))
    };
    Ok(Grid {
        dimensions: (0..=doublings).map(|i| largest >> (doublings - i)).collect(),
        accuracies: powers(accuracy, 0.5, options.doublings).collect(),
        kappas: powers(options.kappa, 2.0, options.kappa_doublings).collect(),
    })
}

/// The header of the CSV file.
const HEADER: [&str; 9] =
    ["kernel", "dimension", "accuracy", "steps", "gradients", "gamma", "xi", "eta", "kappa"];

impl Row {
    /// The number of gradients; none if it is 0, which has no logarithm.
    fn cost(&self) -> Option<f64> {
        self.gradients.filter(|gradients| *gradients > 0).map(|gradients| gradients as f64)
    }

    /// The row of the CSV file.
    fn cells(&self) -> Vec<String> {
        let count = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
        let mut cells =
            vec![self.kernel.to_owned(), self.dimension.to_string(), self.accuracy.to_string()];
        cells.extend([count(self.steps), count(self.gradients)]);
        cells.extend([self.gamma, self.xi, self.eta].map(exact));
        cells.push(self.kappa.to_string());
        cells
    }
}

fn row(kernel: KernelKind, kappa: f64, dimension: u64, accuracy: f64) -> Result<Row, Failure> {
    let tuned = tune_mixing(kernel, &Spectrum::log_spaced(kappa, dimension)?, accuracy)?;
    let tuned = tuned.as_ref();
    Ok(Row {
        kernel: kernel.name(),
        dimension,
        accuracy,
        steps: tuned.map(|t| t.steps),
        gradients: tuned.map(|t| t.gradients),
        gamma: tuned.and_then(|t| t.scheme.gamma()),
        xi: tuned.and_then(|t| t.scheme.xi()),
        eta: tuned.map(|t| t.scheme.eta()),
        kappa,
    })
}

fn panels(document: &Document, kernels: &[KernelKind], by_kappa: bool) -> Vec<Panel> {
    let series = |kept: &dyn Fn(&Row) -> bool, x: &dyn Fn(&Row) -> f64| -> Vec<Series> {
        series_by_kernel(kernels, |kernel| {
            let rows = document.results.iter().filter(|row| row.kernel == kernel.name());
            rows.filter(|row| kept(row)).filter_map(|row| Some((x(row), row.cost()?))).collect()
        })
    };
    let (d, accuracy, kappa) = (document.dimension, document.accuracy, document.kappa);
    let panel = |title: String, x_label: &str, series: Vec<Series>| Panel {
        title,
        x_label: x_label.to_owned(),
        y_label: "gradients".to_owned(),
        series,
    };
    let mut all = vec![
        panel(
            format!("W2 at most {accuracy}, condition number {kappa}"),
            "dimension",
            series(&|row| row.accuracy == accuracy && row.kappa == kappa, &|row| {
                row.dimension as f64
            }),
        ),
        panel(
            format!("{d} dimensions, condition number {kappa}"),
            "accuracy in W2",
            series(&|row| row.dimension == d && row.kappa == kappa, &|row| row.accuracy),
        ),
    ];
    if by_kappa {
        all.push(panel(
            format!("W2 at most {accuracy}, {d} dimensions"),
            "condition number",
            series(&|row| row.dimension == d && row.accuracy == accuracy, &|row| row.kappa),
        ));
    }
    all
}

fn text(document: &Document, kernels: &[KernelKind], grid: &Grid) -> String {
    let (d, accuracy, kappa) = (document.dimension, document.accuracy, document.kappa);
    let cells = |first: String, kept: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let rows = document.results.iter().filter(|row| kept(row));
        let gradients =
            rows.map(|row| row.gradients.map_or_else(|| "-".to_owned(), |g| g.to_string()));
        std::iter::once(first).chain(gradients).collect()
    };
    let exponents = |first: &str, value: &dyn Fn(&Exponents) -> Option<f64>| -> Vec<String> {
        let values = document.exponents.iter().map(value);
        let values = values.map(|v| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}")));
        std::iter::once(first.to_owned()).chain(values).collect()
    };
    let at = |row: &Row, k: f64, dimension: u64, a: f64| {
        row.kappa == k && row.dimension == dimension && row.accuracy == a
    };
    let by_dimension =
        grid.dimensions.iter().map(|&x| cells(x.to_string(), &|row| at(row, kappa, x, accuracy)));
    let by_dimension = by_dimension.chain([
        exponents("fitted", &|e| e.dimension_fitted),
        exponents("of 1/eta", &|e| e.dimension_of_inverse_eta),
        exponents("proved", &|e| e.dimension_proved),
    ]);
    let by_accuracy =
        grid.accuracies.iter().map(|&x| cells(short(Some(x)), &|row| at(row, kappa, d, x)));
    let by_accuracy = by_accuracy.chain([
        exponents("fitted", &|e| e.accuracy_fitted),
        exponents("of 1/eta", &|e| e.accuracy_of_inverse_eta),
        exponents("proved", &|e| e.accuracy_proved),
    ]);
    let by_kappa =
        grid.kappas.iter().map(|&x| cells(x.to_string(), &|row| at(row, x, d, accuracy)));
    let by_kappa = by_kappa.chain([exponents("fitted", &|e| e.kappa_fitted)]);
    let last = if grid.kappas.len() > 1 {
        let table = by_kernel("kappa", kernels, by_kappa);
        format!("\n\nGradients until W2 <= {accuracy} in {d} dimensions:\n{table}")
    } else {
        String::new()
    };
    format!(
        "Gradients until W2 <= {accuracy} from the mode, kappa = {kappa}, each kernel tuned for it:\n{}\n\n\
         Gradients in {d} dimensions:\n{}{last}\n\
         fitted, proved: exponents of d and of 1/accuracy, fitted to these rows and proved for a class of potentials.\n\
         of 1/eta: fitted to the reciprocal of the step, without the logarithm in the number of steps.",
        by_kernel("dimension", kernels, by_dimension),
        by_kernel("accuracy", kernels, by_accuracy)
    )
}

//! `ridgewalk lab mixing`: gradients until the law is near the target, against dimension and accuracy.

use clap::Args;
use ridgewalk::lyapunov::laws::{Kernel, Target, tune_mixing};
use serde::Serialize;

use super::{Common, by_kernel, exact, positive, short, slope};
use crate::failure::Failure;
use crate::output;
use crate::plot::{self, Panel, Series};

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
    /// None where no parameters were found that get there.
    steps: Option<u64>,
    gradients: Option<u64>,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: Option<f64>,
}

/// Powers of d and of 1/ε with which the gradients grow: as fitted here, and as proved for potentials of the kernel's class.
#[derive(Debug, Serialize)]
struct Exponents {
    kernel: &'static str,
    dimension_fitted: Option<f64>,
    dimension_proved: Option<f64>,
    accuracy_fitted: Option<f64>,
    accuracy_proved: Option<f64>,
}

/// Exponents of d and of 1/ε in published guarantees of W2 <= ε.
fn proved(kernel: Kernel) -> Option<(f64, f64)> {
    match kernel {
        // Mou et al. 2021, Theorem 1; Sanz-Serna and Zygalakis 2021 (with a bound on the third derivative).
        Kernel::ThirdOrder | Kernel::Ubu => Some((0.25, 0.5)),
        // Dalalyan 2017; Durmus and Moulines 2019.
        Kernel::Ula => Some((1.0, 2.0)),
        // Cheng, Chatterji, Bartlett and Jordan 2018.
        Kernel::Klmc => Some((0.5, 1.0)),
        // Shen and Lee 2019.
        Kernel::RandomizedMidpoint => Some((1.0 / 3.0, 2.0 / 3.0)),
        _ => None,
    }
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kernels = options.common.kernels()?;
    let accuracy = positive("accuracy", options.accuracy)?;
    Target::log_spaced(options.kappa, options.dimension)?;
    let doublings = u32::from(options.doublings);
    let largest = options.dimension.checked_mul(1 << doublings).ok_or_else(|| {
        Failure::Usage(format!(
            "dimension = {}: need one that can be doubled {doublings} times",
            options.dimension
        ))
    })?;
    let dimensions: Vec<u64> = (0..=doublings).map(|i| largest >> (doublings - i)).collect();
    let accuracies: Vec<f64> =
        (0..=options.doublings).map(|i| accuracy * 0.5_f64.powi(i32::from(i))).collect();
    let mut results = Vec::new();
    let mut exponents = Vec::new();
    for &kernel in &kernels {
        let mut by_dimension = Vec::new();
        for &dimension in &dimensions {
            by_dimension.push(row(kernel, options.kappa, dimension, accuracy)?);
        }
        let mut by_accuracy = vec![by_dimension[0].clone()];
        for &accuracy in &accuracies[1..] {
            by_accuracy.push(row(kernel, options.kappa, options.dimension, accuracy)?);
        }
        exponents.push(Exponents {
            kernel: kernel.name(),
            dimension_fitted: slope(&points(&by_dimension, |row| row.dimension as f64)),
            dimension_proved: proved(kernel).map(|(dimension, _)| dimension),
            accuracy_fitted: slope(&points(&by_accuracy, |row| row.accuracy)).map(|s| -s),
            accuracy_proved: proved(kernel).map(|(_, accuracy)| accuracy),
        });
        results.extend(by_dimension);
        results.extend_from_slice(&by_accuracy[1..]);
    }
    let document =
        Document { kappa: options.kappa, dimension: options.dimension, accuracy, results, exponents };
    write_csv(options, &document)?;
    if let Some(path) = &options.common.to.svg {
        plot::save(path, &panels(&document, &kernels))?;
    }
    if options.common.to.json {
        output::json(&document)
    } else {
        output::text(&text(&document, &kernels, &dimensions, &accuracies))
    }
}

fn row(kernel: Kernel, kappa: f64, dimension: u64, accuracy: f64) -> Result<Row, Failure> {
    let tuned = tune_mixing(kernel, &Target::log_spaced(kappa, dimension)?, accuracy)?;
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
    })
}

/// (x, gradients) of the rows that have gradients to show; 0 gradients have no logarithm.
fn points(rows: &[Row], x: impl Fn(&Row) -> f64) -> Vec<(f64, f64)> {
    rows.iter().filter_map(|row| row.gradients.filter(|g| *g > 0).map(|g| (x(row), g as f64))).collect()
}

fn write_csv(options: &Options, document: &Document) -> Result<(), Failure> {
    let header = ["kernel", "dimension", "accuracy", "steps", "gradients", "gamma", "xi", "eta"];
    let rows = document.results.iter().map(|row| {
        let count = |value: Option<u64>| value.map_or_else(String::new, |v| v.to_string());
        let mut cells = vec![row.kernel.to_owned(), row.dimension.to_string(), row.accuracy.to_string()];
        cells.extend([
            count(row.steps),
            count(row.gradients),
            exact(row.gamma),
            exact(row.xi),
            exact(row.eta),
        ]);
        cells
    });
    options.common.to.write_csv(&header, rows)
}

fn panels(document: &Document, kernels: &[Kernel]) -> [Panel; 2] {
    let series = |kept: &dyn Fn(&Row) -> bool, x: &dyn Fn(&Row) -> f64| -> Vec<Series> {
        let one = |kernel: &Kernel| {
            let rows: Vec<Row> = document
                .results
                .iter()
                .filter(|row| row.kernel == kernel.name() && kept(row))
                .cloned()
                .collect();
            Series { name: kernel.name().to_owned(), points: points(&rows, x) }
        };
        kernels.iter().map(one).collect()
    };
    let y_label = "gradients".to_owned();
    [
        Panel {
            title: format!("W2 at most {}, condition number {}", document.accuracy, document.kappa),
            x_label: "dimension".to_owned(),
            y_label: y_label.clone(),
            series: series(&|row| row.accuracy == document.accuracy, &|row| row.dimension as f64),
        },
        Panel {
            title: format!("{} dimensions, condition number {}", document.dimension, document.kappa),
            x_label: "accuracy in W2".to_owned(),
            y_label,
            series: series(&|row| row.dimension == document.dimension, &|row| row.accuracy),
        },
    ]
}

fn text(document: &Document, kernels: &[Kernel], dimensions: &[u64], accuracies: &[f64]) -> String {
    let cells = |first: String, kept: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let rows = document.results.iter().filter(|row| kept(row));
        let gradients = rows.map(|row| row.gradients.map_or_else(|| "-".to_owned(), |g| g.to_string()));
        std::iter::once(first).chain(gradients).collect()
    };
    let exponents = |first: &str, value: &dyn Fn(&Exponents) -> Option<f64>| -> Vec<String> {
        let values = document.exponents.iter().map(value);
        let values = values.map(|v| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}")));
        std::iter::once(first.to_owned()).chain(values).collect()
    };
    let by_dimension = dimensions
        .iter()
        .map(|d| cells(d.to_string(), &|row| row.dimension == *d && row.accuracy == document.accuracy))
        .chain([exponents("fitted", &|e| e.dimension_fitted), exponents("proved", &|e| e.dimension_proved)]);
    let by_accuracy = accuracies
        .iter()
        .map(|a| cells(short(Some(*a)), &|row| row.accuracy == *a && row.dimension == document.dimension))
        .chain([exponents("fitted", &|e| e.accuracy_fitted), exponents("proved", &|e| e.accuracy_proved)]);
    format!(
        "Gradients until W2 <= {} from the mode, kappa = {}, each kernel tuned for it:\n{}\n\n\
         Gradients in {} dimensions:\n{}\n\
         fitted, proved: exponents of d and of 1/accuracy; proved ones hold for all potentials of a class, fitted ones here.",
        document.accuracy,
        document.kappa,
        by_kernel("dimension", kernels, by_dimension),
        document.dimension,
        by_kernel("accuracy", kernels, by_accuracy)
    )
}

//! `ridgewalk lab plan`: how the certified number of steps grows with dimension and accuracy.

use clap::Args;
use ridgewalk::lyapunov::planner::{IntegralRule, Problem, plan};
use serde::Serialize;

use super::{Destination, exact, short, slope};
use crate::failure::Failure;
use crate::output;
use crate::plot::{self, Panel, Series};

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Condition numbers
    #[arg(
        long,
        value_name = "K,K,...",
        value_delimiter = ',',
        default_value = "2,10,100",
        allow_negative_numbers = true
    )]
    kappa: Vec<f64>,
    /// The smallest dimension
    #[arg(long, value_name = "D", default_value_t = 100)]
    dimension: u64,
    /// The coarsest accuracy
    #[arg(long, value_name = "EPS", default_value_t = 0.2, allow_negative_numbers = true)]
    accuracy: f64,
    /// How often the dimension is doubled, and the accuracy halved
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(0..=30))]
    doublings: u32,
    #[command(flatten)]
    to: Destination,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    results: Vec<Row>,
    exponents: Vec<Exponents>,
}

#[derive(Debug, Serialize)]
struct Row {
    kappa: f64,
    dimension: u64,
    accuracy: f64,
    steps: Option<u64>,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: Option<f64>,
}

/// Slopes of log(steps) against log(d) and log(1/ε).
#[derive(Debug, Serialize)]
struct Exponents {
    kappa: f64,
    dimension: Option<f64>,
    accuracy: Option<f64>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let mut results = Vec::new();
    for &kappa in &options.kappa {
        for (dimension, accuracy) in questions(options) {
            results.push(row(kappa, dimension, accuracy)?);
        }
    }
    let exponents: Vec<Exponents> =
        options.kappa.iter().map(|&kappa| exponents(options, kappa, &results)).collect();
    let header = ["kappa", "dimension", "accuracy", "steps", "gamma", "xi", "eta"];
    let rows = results.iter().map(|r| {
        let steps = r.steps.map_or_else(String::new, |steps| steps.to_string());
        [r.kappa.to_string(), r.dimension.to_string(), r.accuracy.to_string(), steps]
            .into_iter()
            .chain([r.gamma, r.xi, r.eta].map(exact))
            .collect()
    });
    options.to.write_csv(&header, rows)?;
    if let Some(path) = &options.to.svg {
        plot::save(path, &panels(options, &results))?;
    }
    if options.to.json {
        output::json(&Document { results, exponents })
    } else {
        output::text(&text(options, &results, &exponents))
    }
}

/// Doubled dimensions at the coarsest accuracy, then halved accuracies at the smallest dimension.
fn questions(options: &Options) -> Vec<(u64, f64)> {
    let doubled = (0..=options.doublings)
        .map(|i| (options.dimension.saturating_mul(1 << i), options.accuracy));
    let halved =
        (1..=options.doublings).map(|i| (options.dimension, options.accuracy / f64::from(1 << i)));
    doubled.chain(halved).collect()
}

fn row(kappa: f64, dimension: u64, accuracy: f64) -> Result<Row, Failure> {
    if !(kappa >= 1.0 && kappa.is_finite()) {
        return Err(Failure::Usage(format!("kappa = {kappa}: need a finite number of at least 1")));
    }
    let found = plan(&Problem::new(1.0 / kappa, 1.0, dimension, accuracy, IntegralRule::Exact)?)?;
    let found = found.as_ref();
    Ok(Row {
        kappa,
        dimension,
        accuracy,
        steps: found.map(|plan| plan.steps()),
        gamma: found.map(|plan| plan.gamma()),
        xi: found.map(|plan| plan.xi()),
        eta: found.map(|plan| plan.eta()),
    })
}

/// (dimension, steps) where the accuracy is the coarsest.
fn by_dimension(options: &Options, kappa: f64, results: &[Row]) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|r| r.kappa == kappa && r.accuracy == options.accuracy);
    rows.filter_map(|r| Some((r.dimension as f64, r.steps? as f64))).collect()
}

/// (1/accuracy, steps) where the dimension is the smallest.
fn by_accuracy(options: &Options, kappa: f64, results: &[Row]) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|r| r.kappa == kappa && r.dimension == options.dimension);
    rows.filter_map(|r| Some((1.0 / r.accuracy, r.steps? as f64))).collect()
}

fn exponents(options: &Options, kappa: f64, results: &[Row]) -> Exponents {
    Exponents {
        kappa,
        dimension: slope(&by_dimension(options, kappa, results)),
        accuracy: slope(&by_accuracy(options, kappa, results)),
    }
}

/// One of the two functions above.
type Points = fn(&Options, f64, &[Row]) -> Vec<(f64, f64)>;

fn panels(options: &Options, results: &[Row]) -> [Panel; 2] {
    let series = |points: Points| {
        let each = |&kappa: &f64| Series {
            name: format!("kappa = {kappa}"),
            points: points(options, kappa, results),
        };
        options.kappa.iter().map(each).collect()
    };
    [
        Panel {
            title: format!("Certified steps, accuracy {}", options.accuracy),
            x_label: "dimension".to_owned(),
            y_label: "steps".to_owned(),
            series: series(by_dimension),
        },
        Panel {
            title: format!("Certified steps, dimension {}", options.dimension),
            x_label: "1 / accuracy".to_owned(),
            y_label: "steps".to_owned(),
            series: series(by_accuracy),
        },
    ]
}

fn text(options: &Options, results: &[Row], exponents: &[Exponents]) -> String {
    let rows = results.iter().map(|r| {
        vec![
            r.kappa.to_string(),
            r.dimension.to_string(),
            r.accuracy.to_string(),
            r.steps.map_or_else(|| "-".to_owned(), |steps| steps.to_string()),
            short(r.gamma),
            short(r.xi),
            short(r.eta),
        ]
    });
    let fitted =
        exponents.iter().map(|e| vec![e.kappa.to_string(), short(e.dimension), short(e.accuracy)]);
    format!(
        "Steps that guarantee W2 <= accuracy for every potential of the condition number (L = 1):\n{}\n\n\
         Fitted exponents over {} doublings, logarithm included (1/4 and 1/2 without it):\n{}",
        output::table(["kappa", "dimension", "accuracy", "steps", "gamma", "xi", "eta"], rows),
        options.doublings,
        output::table(["kappa", "in dimension", "in 1/accuracy"], fitted)
    )
}

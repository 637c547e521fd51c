//! `ridgewalk lab plan`: how the certified number of steps grows with dimension and accuracy.

use clap::Args;
use serde::Serialize;

use super::{Destination, Planned, exact, plan_for, short, slope};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Panel, Series};

#[derive(Debug, Args)]
pub(super) struct Options {
    #[command(flatten)]
    planned: Planned,
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
    let planned = &options.planned;
    let mut results = Vec::new();
    for &kappa in &planned.kappa {
        for (dimension, accuracy) in questions(options) {
            results.push(row(kappa, dimension, accuracy)?);
        }
    }
    let exponents: Vec<Exponents> =
        planned.kappa.iter().map(|&kappa| exponents(planned, kappa, &results)).collect();
    let document = Document { results, exponents };
    let header = ["kappa", "dimension", "accuracy", "steps", "gamma", "xi", "eta"];
    let rows = document.results.iter().map(|r| {
        let steps = r.steps.map_or_else(String::new, |steps| steps.to_string());
        [r.kappa.to_string(), r.dimension.to_string(), r.accuracy.to_string(), steps]
            .into_iter()
            .chain([r.gamma, r.xi, r.eta].map(exact))
            .collect()
    });
    options.to.write(
        (&header, rows),
        || panels(planned, &document.results),
        &document,
        || text(options, &document),
    )
}

/// Doubled dimensions at the coarsest accuracy, then halved accuracies at the smallest dimension.
fn questions(options: &Options) -> Vec<(u64, f64)> {
    let Planned { dimension, accuracy, .. } = options.planned;
    let doubled = (0..=options.doublings).map(|i| (dimension.saturating_mul(1 << i), accuracy));
    let halved = (1..=options.doublings).map(|i| (dimension, accuracy / f64::from(1 << i)));
    doubled.chain(halved).collect()
}

fn row(kappa: f64, dimension: u64, accuracy: f64) -> Result<Row, Failure> {
    let found = plan_for(kappa, dimension, accuracy)?;
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

/// (dimension, steps) at the coarsest accuracy.
fn by_dimension(planned: &Planned, kappa: f64, results: &[Row]) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|r| r.kappa == kappa && r.accuracy == planned.accuracy);
    rows.filter_map(|r| Some((r.dimension as f64, r.steps? as f64))).collect()
}

/// (1/accuracy, steps) at the smallest dimension.
fn by_accuracy(planned: &Planned, kappa: f64, results: &[Row]) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|r| r.kappa == kappa && r.dimension == planned.dimension);
    rows.filter_map(|r| Some((1.0 / r.accuracy, r.steps? as f64))).collect()
}

fn exponents(planned: &Planned, kappa: f64, results: &[Row]) -> Exponents {
    Exponents {
        kappa,
        dimension: slope(&by_dimension(planned, kappa, results)),
        accuracy: slope(&by_accuracy(planned, kappa, results)),
    }
}

/// [`by_dimension`] or [`by_accuracy`].
type Points = fn(&Planned, f64, &[Row]) -> Vec<(f64, f64)>;

fn panels(planned: &Planned, results: &[Row]) -> Vec<Panel> {
    let panel = |title: String, x_label: &str, points: Points| {
        let each = |&kappa: &f64| Series {
            name: format!("kappa = {kappa}"),
            points: points(planned, kappa, results),
        };
        Panel {
            title,
            x_label: x_label.to_owned(),
            y_label: "steps".to_owned(),
            series: planned.kappa.iter().map(each).collect(),
        }
    };
    let Planned { dimension, accuracy, .. } = planned;
    vec![
        panel(format!("Certified steps, accuracy {accuracy}"), "dimension", by_dimension),
        panel(format!("Certified steps, dimension {dimension}"), "1 / accuracy", by_accuracy),
    ]
}

fn text(options: &Options, document: &Document) -> String {
    let rows = document.results.iter().map(|r| {
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
    let fitted = document
        .exponents
        .iter()
        .map(|e| vec![e.kappa.to_string(), short(e.dimension), short(e.accuracy)]);
    format!(
        "Steps that guarantee W2 <= accuracy for every potential of the condition number (L = 1):\n{}\n\n\
         Fitted exponents over {} doublings, including the logarithm (1/4 and 1/2 without it):\n{}",
        output::table(["kappa", "dimension", "accuracy", "steps", "gamma", "xi", "eta"], rows),
        options.doublings,
        output::table(["kappa", "in dimension", "in 1/accuracy"], fitted)
    )
}

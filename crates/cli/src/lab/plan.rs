//! `ridgewalk lab plan`: how the certified number of steps grows with dimension and accuracy.

use clap::Args;
use ridgewalk::lyapunov::planner::{DerivativeBound, IntegralRule};
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
    /// Plans from gradients alone, with A - 1 nodes each, for potentials whose A-th derivative is
    /// bounded as in `plan --higher-smoothness` [default: exact line integrals]
    #[arg(long, value_name = "A,A,...", value_delimiter = ',')]
    alpha: Vec<u32>,
    /// With --alpha: the bound L_ALPHA, the same for every ALPHA
    #[arg(long, value_name = "L", default_value_t = 1.0, allow_negative_numbers = true)]
    l_alpha: f64,
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
    /// None for exact line integrals.
    alpha: Option<u32>,
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
    alpha: Option<u32>,
    kappa: f64,
    dimension: Option<f64>,
    accuracy: Option<f64>,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let planned = &options.planned;
    let mut results = Vec::new();
    for curve in curves(options) {
        for (dimension, accuracy) in questions(options) {
            results.push(row(options, curve, dimension, accuracy)?);
        }
    }
    let exponents: Vec<Exponents> =
        curves(options).into_iter().map(|curve| exponents(planned, curve, &results)).collect();
    let document = Document { results, exponents };
    let header = ["alpha", "kappa", "dimension", "accuracy", "steps", "gamma", "xi", "eta"];
    let skipped = usize::from(options.alpha.is_empty());
    let rows = document.results.iter().map(|r| {
        let [alpha, steps] = [r.alpha.map(u64::from), r.steps]
            .map(|number| number.map_or_else(String::new, |number| number.to_string()));
        [alpha, r.kappa.to_string(), r.dimension.to_string(), r.accuracy.to_string(), steps]
            .into_iter()
            .chain([r.gamma, r.xi, r.eta].map(exact))
            .skip(skipped)
            .collect()
    });
    options.to.write(
        (&header[skipped..], rows),
        || panels(options, &document.results),
        &document,
        || text(options, &document),
    )
}

/// A condition number, and α or none for exact line integrals.
type Curve = (f64, Option<u32>);

fn curves(options: &Options) -> Vec<Curve> {
    let alphas: Vec<Option<u32>> = if options.alpha.is_empty() {
        vec![None]
    } else {
        options.alpha.iter().copied().map(Some).collect()
    };
    let kappas = options.planned.kappa.iter();
    kappas.flat_map(|&kappa| alphas.iter().map(move |&alpha| (kappa, alpha))).collect()
}

/// Doubled dimensions at the coarsest accuracy, then halved accuracies at the smallest dimension.
fn questions(options: &Options) -> Vec<(u64, f64)> {
    let Planned { dimension, accuracy, .. } = options.planned;
    let doubled = (0..=options.doublings).map(|i| (dimension.saturating_mul(1 << i), accuracy));
    let halved = (1..=options.doublings).map(|i| (dimension, accuracy / f64::from(1 << i)));
    doubled.chain(halved).collect()
}

fn row(
    options: &Options, (kappa, alpha): Curve, dimension: u64, accuracy: f64,
) -> Result<Row, Failure> {
    let rule = match alpha {
        None => IntegralRule::Exact,
        Some(alpha) => IntegralRule::Nodes {
            nodes: alpha.saturating_sub(1) as usize,
            derivatives: vec![DerivativeBound::new(alpha, options.l_alpha)?],
        },
    };
    let found = plan_for(kappa, dimension, accuracy, rule)?;
    let found = found.as_ref();
    Ok(Row {
        alpha,
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
fn by_dimension(planned: &Planned, curve: Curve, results: &[Row]) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|r| r.is_on(curve) && r.accuracy == planned.accuracy);
    rows.filter_map(|r| Some((r.dimension as f64, r.steps? as f64))).collect()
}

/// (1/accuracy, steps) at the smallest dimension.
fn by_accuracy(planned: &Planned, curve: Curve, results: &[Row]) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|r| r.is_on(curve) && r.dimension == planned.dimension);
    rows.filter_map(|r| Some((1.0 / r.accuracy, r.steps? as f64))).collect()
}

fn exponents(planned: &Planned, curve: Curve, results: &[Row]) -> Exponents {
    Exponents {
        alpha: curve.1,
        kappa: curve.0,
        dimension: slope(&by_dimension(planned, curve, results)),
        accuracy: slope(&by_accuracy(planned, curve, results)),
    }
}

impl Row {
    fn is_on(&self, (kappa, alpha): Curve) -> bool {
        self.kappa == kappa && self.alpha == alpha
    }
}

/// [`by_dimension`] or [`by_accuracy`].
type Points = fn(&Planned, Curve, &[Row]) -> Vec<(f64, f64)>;

fn panels(options: &Options, results: &[Row]) -> Vec<Panel> {
    let planned = &options.planned;
    let name = |(kappa, alpha): Curve| match alpha {
        None => format!("kappa = {kappa}"),
        Some(alpha) => format!("kappa = {kappa}, alpha = {alpha}"),
    };
    let panel = |title: String, x_label: &str, points: Points| Panel {
        title,
        x_label: x_label.to_owned(),
        y_label: "steps".to_owned(),
        series: curves(options)
            .into_iter()
            .map(|curve| Series { name: name(curve), points: points(planned, curve, results) })
            .collect(),
    };
    let Planned { dimension, accuracy, .. } = planned;
    vec![
        panel(format!("Certified steps, accuracy {accuracy}"), "dimension", by_dimension),
        panel(format!("Certified steps, dimension {dimension}"), "1 / accuracy", by_accuracy),
    ]
}

fn text(options: &Options, document: &Document) -> String {
    let skipped = usize::from(options.alpha.is_empty());
    let order = |alpha: Option<u32>| alpha.map_or_else(String::new, |alpha| alpha.to_string());
    let rows = document.results.iter().map(|r| {
        let cells = [
            order(r.alpha),
            r.kappa.to_string(),
            r.dimension.to_string(),
            r.accuracy.to_string(),
            r.steps.map_or_else(|| "-".to_owned(), |steps| steps.to_string()),
            short(r.gamma),
            short(r.xi),
            short(r.eta),
        ];
        cells.into_iter().skip(skipped).collect::<Vec<_>>()
    });
    let fitted = document.exponents.iter().map(|e| {
        let cells = [order(e.alpha), e.kappa.to_string(), short(e.dimension), short(e.accuracy)];
        cells.into_iter().skip(skipped).collect::<Vec<_>>()
    });
    let with_header = |header: &[&str], rows: Vec<Vec<String>>| {
        let mut table = output::table([], rows);
        table.set_header(header[skipped..].to_vec());
        table
    };
    let header = ["alpha", "kappa", "dimension", "accuracy", "steps", "gamma", "xi", "eta"];
    let growth = if options.alpha.is_empty() {
        "1/4 and 1/2 without it"
    } else {
        "without it: 1/4 and 1/2, or 1/2 and 1/(ALPHA - 1) where quadrature dominates"
    };
    format!(
        "Steps that guarantee W2 <= accuracy for every potential of the condition number (L = 1):\n{}\n\n\
         Fitted exponents over {} doublings, including the logarithm ({growth}):\n{}",
        with_header(&header, rows.collect()),
        options.doublings,
        with_header(&["alpha", "kappa", "in dimension", "in 1/accuracy"], fitted.collect())
    )
}

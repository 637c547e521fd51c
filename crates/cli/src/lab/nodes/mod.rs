//! `ridgewalk lab nodes`: the number of Chebyshev nodes a line integral needs, on a smooth
//! potential that is no ridge.

mod dimension;
mod losses;

use clap::Args;
use ridgewalk::coefficients::Parameters;
use ridgewalk::lyapunov::laws::Scheme;
use ridgewalk::potentials::{Chebyshev, Gradient, ModeSearch};
use ridgewalk::sampler::{Batch, CoupledChains, ThirdOrder};
use serde::Serialize;

use super::chains::{Multinomial, Synchronous, at, failed, mean_square, multinomial};
use super::{Destination, exact, positive, short, slope};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Panel, Series};

/// A number of nodes that makes the integral exact to rounding at every step measured here.
const EXACT: usize = 24;
/// The number of chains, and the times before and during which distances are measured.
const CHAINS: usize = 16;
const SETTLING: f64 = 20.0;
const MEASURING: f64 = 20.0;
/// A smaller distance, in units of 1/√L, is rounding.
const ROUNDING: f64 = 1e-12;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Largest number of nodes
    #[arg(long, value_name = "N", default_value_t = 8, value_parser = clap::value_parser!(u8).range(1..=16))]
    nodes: u8,
    /// Coupling gamma
    #[arg(long, value_name = "G", default_value_t = 1.2, allow_negative_numbers = true)]
    gamma: f64,
    /// Friction xi
    #[arg(long, value_name = "X", default_value_t = 2.0, allow_negative_numbers = true)]
    xi: f64,
    /// Longest step
    #[arg(long, value_name = "H", default_value_t = 1.6, allow_negative_numbers = true)]
    eta: f64,
    /// How often the step is halved
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=10))]
    halvings: u8,
    /// W2 accuracies, in units of 1/sqrt(L); not used with --dimensions
    #[arg(
        long,
        value_name = "EPS,EPS,...",
        value_delimiter = ',',
        default_value = "1,0.3,0.1,0.03",
        allow_negative_numbers = true
    )]
    accuracy: Vec<f64>,
    /// Separable targets of these dimensions instead of the regression: Huber's loss, and a smooth
    /// one
    #[arg(long, value_name = "D,D,...", value_delimiter = ',')]
    dimensions: Vec<usize>,
    /// Seed of data and chains
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    to: Destination,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    results: Vec<Row>,
    orders: Vec<Order>,
    costs: Vec<Cost>,
}

/// Root mean square distances in units of 1/√L.
#[derive(Debug, Serialize)]
struct Row {
    /// None for the discretisation: the distance of steps η and η/2 with exact integrals, times
    /// 4/3.
    nodes: Option<u8>,
    eta: f64,
    /// The distance between chains with that many nodes and with exact integrals, everything else
    /// being equal.
    distance: f64,
}

/// The power of η with which a distance falls, over the two shortest steps at which it is above
/// rounding.
#[derive(Debug, Serialize)]
struct Order {
    nodes: Option<u8>,
    order: Option<f64>,
}

/// Gradients per unit of time at the longest step for which the sum of both distances is within an
/// accuracy.
#[derive(Debug, Serialize)]
struct Cost {
    accuracy: f64,
    nodes: u8,
    eta: f64,
    gradients_per_time: f64,
}

impl Options {
    /// The step sizes, longest first.
    fn etas(&self) -> impl Iterator<Item = f64> {
        (0..=self.halvings).map(|halving| self.eta * 0.5_f64.powi(i32::from(halving)))
    }
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    positive("eta", options.eta)?;
    for &accuracy in &options.accuracy {
        positive("accuracy", accuracy)?;
    }
    if !options.dimensions.is_empty() {
        return dimension::run(options);
    }
    let target = multinomial(options.seed)?;
    let mut results = Vec::new();
    for eta in options.etas() {
        results.extend(measure(options, &target, eta)?);
    }
    let kinds = || (1..=options.nodes).map(Some).chain([None]);
    let orders = kinds().map(|nodes| Order { nodes, order: order(nodes, &results) }).collect();
    let costs = options.accuracy.iter();
    let costs = costs.flat_map(|&accuracy| (1..=options.nodes).map(move |nodes| (accuracy, nodes)));
    let costs = costs.filter_map(|(accuracy, nodes)| cost(accuracy, nodes, &results)).collect();
    let document = Document { results, orders, costs };
    let rows = document.results.iter().map(|row| {
        let nodes = row.nodes.map_or_else(|| "halved step".to_owned(), |nodes| nodes.to_string());
        vec![nodes, row.eta.to_string(), exact(Some(row.distance))]
    });
    options.to.write(
        (&["nodes", "eta", "distance"], rows),
        || vec![panel(options, &document)],
        &document,
        || text(options, &document),
    )
}

/// The rows of one step size.
fn measure<G: Gradient + Sync + Clone>(
    options: &Options, target: &Multinomial<G>, eta: f64,
) -> Result<Vec<Row>, Failure> {
    let smoothness = target.smoothness;
    let parameters = Parameters::new(options.gamma, options.xi, eta)?;
    let kernel = ThirdOrder::new(parameters, smoothness).map_err(failed)?;
    let rule = |nodes: usize| Chebyshev::new(target.gradient.clone(), nodes).map_err(failed);
    let exactly = rule(EXACT)?;
    let mode = ModeSearch::new().of_gradient(&target.gradient).map_err(failed)?.point;

    // Chains with every number of nodes and with exact integrals, all with the same noise.
    let rules = (1..=usize::from(options.nodes)).map(rule).collect::<Result<Vec<_>, _>>()?;
    let mut reference = at(&mode, CHAINS, smoothness, options.seed)?;
    let mut batches: Vec<Batch> = rules.iter().map(|_| reference.clone()).collect();
    let mut squares = vec![0.0; rules.len()];
    let mut together = Synchronous::new(&reference, options.seed);
    let (settling, measuring) = ((SETTLING / eta).ceil(), (MEASURING / eta).ceil());
    let mut step = 0.0;
    while step < settling + measuring {
        together.draw(&kernel);
        together.step(&kernel, &exactly, &mut reference)?;
        for ((batch, rule), sum) in batches.iter_mut().zip(&rules).zip(&mut squares) {
            together.step(&kernel, rule, batch)?;
            if step >= settling {
                *sum += smoothness * mean_square(batch, &reference) / measuring;
            }
        }
        step += 1.0;
    }

    let scheme = Scheme::third_order(options.gamma, options.xi, eta)?;
    let from = reference.theta().to_vec();
    let mut halved =
        CoupledChains::new(&exactly, &scheme, smoothness, options.seed, &from).map_err(failed)?;
    halved.drift(SETTLING).map_err(failed)?;
    let (mut sum, mut step) = (0.0, 0.0);
    while step < measuring {
        halved.advance(1).map_err(failed)?;
        sum += smoothness * mean_square(halved.coarse(), halved.fine()) / measuring;
        step += 1.0;
    }
    let of_nodes = squares.iter().zip(1..).map(|(square, nodes)| Row {
        nodes: Some(nodes),
        eta,
        distance: square.sqrt(),
    });
    Ok(of_nodes.chain([Row { nodes: None, eta, distance: sum.sqrt() * 4.0 / 3.0 }]).collect())
}

/// (η, distance) for a number of nodes, or for the discretisation; the longest step first.
fn points(nodes: Option<u8>, results: &[Row]) -> Vec<(f64, f64)> {
    results.iter().filter(|row| row.nodes == nodes).map(|row| (row.eta, row.distance)).collect()
}

fn order(nodes: Option<u8>, results: &[Row]) -> Option<f64> {
    let points = points(nodes, results);
    let real: Vec<(f64, f64)> = points.into_iter().filter(|point| point.1 > ROUNDING).collect();
    slope(&real[real.len().saturating_sub(2)..])
}

/// The cost from the sum of both distances at the measured steps, interpolated linearly in
/// logarithms; none if even the shortest step is too coarse.
fn cost(accuracy: f64, nodes: u8, results: &[Row]) -> Option<Cost> {
    let both = points(Some(nodes), results).into_iter().zip(points(None, results));
    let both: Vec<(f64, f64)> =
        both.map(|((eta, quadrature), (_, steps))| (eta, quadrature + steps)).collect();
    let within = both.iter().position(|(_, distance)| *distance <= accuracy)?;
    let eta = match within.checked_sub(1) {
        None => both[0].0,
        Some(before) => {
            let ((long, far), (brief, near)) = (both[before], both[within]);
            let share = (accuracy / near).ln() / (far / near).ln();
            brief * (long / brief).powf(share)
        }
    };
    Some(Cost { accuracy, nodes, eta, gradients_per_time: f64::from(nodes) / eta })
}

fn panel(options: &Options, document: &Document) -> Panel {
    let name = |nodes: Option<u8>| match nodes {
        None => "step size alone".to_owned(),
        Some(1) => "1 node".to_owned(),
        Some(nodes) => format!("{nodes} nodes"),
    };
    let kinds = [None].into_iter().chain((1..=options.nodes).map(Some));
    Panel {
        title: "Multinomial regression from its gradient".to_owned(),
        x_label: "step size".to_owned(),
        y_label: "distance from exact integrals".to_owned(),
        series: kinds
            .map(|nodes| Series { name: name(nodes), points: points(nodes, &document.results) })
            .collect(),
    }
}

fn text(options: &Options, document: &Document) -> String {
    let etas: Vec<f64> = points(None, &document.results).into_iter().map(|point| point.0).collect();
    let kinds = || (1..=options.nodes).map(Some).chain([None]);
    let mut table = output::table([], []);
    let label = |nodes: Option<u8>| {
        nodes.map_or_else(|| "step size alone".to_owned(), |nodes| nodes.to_string())
    };
    table.set_header(
        std::iter::once("nodes".to_owned())
            .chain(etas.iter().map(|eta| format!("eta = {eta}")))
            .chain(["order".to_owned()]),
    );
    for (nodes, order) in kinds().zip(&document.orders) {
        let distances =
            points(nodes, &document.results).into_iter().map(|point| short(Some(point.1)));
        table.add_row(std::iter::once(label(nodes)).chain(distances).chain([short(order.order)]));
    }
    let costs = options.accuracy.iter().map(|&accuracy| {
        let of =
            |nodes: u8| document.costs.iter().find(|c| c.accuracy == accuracy && c.nodes == nodes);
        let cells =
            (1..=options.nodes).map(|nodes| short(of(nodes).map(|cost| cost.gradients_per_time)));
        std::iter::once(accuracy.to_string()).chain(cells).collect::<Vec<String>>()
    });
    let mut cheapest = output::table([], costs);
    cheapest.set_header(
        std::iter::once("accuracy".to_owned())
            .chain((1..=options.nodes).map(|n| format!("nodes {n}"))),
    );
    format!(
        "Root mean square distance, in 1/sqrt(L), from the same chains with exact line integrals:\n{table}\n\
         step size alone: between steps h and h/2 with exact integrals, times 4/3, which bounds W2 to the target.\n\n\
         Gradients per unit of time at the longest step for which the sum of both distances is within an accuracy:\n{cheapest}"
    )
}

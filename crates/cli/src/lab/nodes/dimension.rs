//! `ridgewalk lab nodes --dimensions`: how the error of Chebyshev nodes grows with the dimension
//! and falls with the step size, on separable potentials.

use ridgewalk::coefficients::Parameters;
use ridgewalk::potentials::{Chebyshev, LineIntegral, Scratch};
use ridgewalk::sampler::{Batch, ThirdOrder};
use serde::Serialize;

use super::losses::{LOSSES, Loss};
use super::{MEASURING, Options, ROUNDING, SETTLING};
use crate::failure::Failure;
use crate::lab::chains::{Synchronous, at, failed, root_mean};
use crate::lab::separable::Separable;
use crate::lab::{Power, exact, power, short};
use crate::output;
use crate::plot::{Panel, Series};

/// Coordinates of all chains together: smaller dimensions have more chains, at the same cost.
const COORDINATES: usize = 16_000;
const FEWEST_CHAINS: usize = 16;
const MOST_CHAINS: usize = 400;

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    results: Vec<Row>,
    exponents: Vec<Exponents>,
}

/// Root mean squares over chains and time, in units of 1/√L, with standard errors over chains.
#[derive(Debug, Serialize)]
struct Row {
    target: &'static str,
    nodes: u8,
    dimension: usize,
    eta: f64,
    /// The error of one line integral, (1/L) ∫ ∇U dt.
    one_step: f64,
    one_step_error: f64,
    /// The distance between chains with these nodes and with exact integrals, on the same noise.
    distance: f64,
    distance_error: f64,
}

/// Exponents of both errors with their standard errors: in d at the shortest step, in η at the
/// largest dimension (over the two shortest steps). And those of the bound, (η √d)^(α − 1).
#[derive(Debug, Serialize)]
struct Exponents {
    target: &'static str,
    nodes: u8,
    alpha: u8,
    one_step_in_dimension: Option<Power>,
    distance_in_dimension: Option<Power>,
    bound_in_dimension: f64,
    one_step_in_eta: Option<Power>,
    distance_in_eta: Option<Power>,
    bound_in_eta: f64,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    for &dimension in &options.dimensions {
        if !(1..=COORDINATES).contains(&dimension) {
            return Err(Failure::Usage(format!(
                "dimension {dimension}: need a number between 1 and {COORDINATES}"
            )));
        }
    }
    let mut results = Vec::new();
    for target in &LOSSES {
        for &dimension in &options.dimensions {
            for eta in options.etas() {
                results.extend(measure(options, target, dimension, eta)?);
            }
        }
    }
    let kinds = LOSSES.iter().flat_map(|target| (1..=options.nodes).map(move |n| (target, n)));
    let exponents = kinds.map(|(target, nodes)| exponents(target, nodes, &results)).collect();
    let document = Document { results, exponents };
    let header = [
        "target",
        "nodes",
        "dimension",
        "eta",
        "one_step",
        "one_step_error",
        "distance",
        "distance_error",
    ];
    let rows = document.results.iter().map(|row| {
        let [nodes, dimension] = [usize::from(row.nodes), row.dimension].map(|n| n.to_string());
        let numbers = [row.eta, row.one_step, row.one_step_error, row.distance, row.distance_error];
        [row.target.to_owned(), nodes, dimension]
            .into_iter()
            .chain(numbers.map(|number| exact(Some(number))))
            .collect()
    });
    options.to.write((&header, rows), || panels(options, &document), &document, || text(&document))
}

/// Means of squares of one number of nodes, for each chain.
struct Squares {
    one_step: Vec<f64>,
    distance: Vec<f64>,
}

/// The rows of one target, dimension and step size.
fn measure(
    options: &Options, target: &Loss, dimension: usize, eta: f64,
) -> Result<Vec<Row>, Failure> {
    let chains = (COORDINATES / dimension).clamp(FEWEST_CHAINS, MOST_CHAINS);
    let parameters = Parameters::new(options.gamma, options.xi, eta)?;
    let kernel = ThirdOrder::new(parameters, 1.0).map_err(failed)?;
    let exactly = Separable { derivative: *target, dimension };
    let rule = |nodes| Chebyshev::new(target.gradient(dimension), nodes).map_err(failed);
    let rules = (1..=usize::from(options.nodes)).map(rule).collect::<Result<Vec<_>, _>>()?;
    let mut reference = at(&vec![0.0; dimension], chains, 1.0, options.seed)?;
    let mut batches: Vec<Batch> = rules.iter().map(|_| reference.clone()).collect();
    let none = || Squares { one_step: vec![0.0; chains], distance: vec![0.0; chains] };
    let mut squares: Vec<Squares> = rules.iter().map(|_| none()).collect();
    let mut together = Synchronous::new(&reference, options.seed);
    let [mut truth, mut approximate] = [(); 2].map(|()| vec![0.0; chains * dimension]);
    let mut scratch = Scratch::default();
    let (settling, measuring) = ((SETTLING / eta).ceil(), (MEASURING / eta).ceil());
    let mut step = 0.0;
    while step < settling + measuring {
        let counted = step >= settling;
        if counted {
            let (theta, p) = (reference.theta(), reference.p());
            exactly.integrate(eta, theta, p, &mut truth, &mut scratch).map_err(failed)?;
            for (rule, sums) in rules.iter().zip(&mut squares) {
                rule.integrate(eta, theta, p, &mut approximate, &mut scratch).map_err(failed)?;
                add_squares(&truth, &approximate, measuring, &mut sums.one_step);
            }
        }
        together.draw(&kernel);
        together.step(&kernel, &exactly, &mut reference)?;
        for ((batch, rule), sums) in batches.iter_mut().zip(&rules).zip(&mut squares) {
            together.step(&kernel, rule, batch)?;
            if counted {
                add_squares(batch.theta(), reference.theta(), measuring, &mut sums.distance);
            }
        }
        step += 1.0;
    }
    let rows = squares.iter().zip(1..).map(|(sums, nodes)| {
        let [(one_step, one_step_error), (distance, distance_error)] =
            [&sums.one_step, &sums.distance].map(|list| root_mean(list));
        Row {
            target: target.name,
            nodes,
            dimension,
            eta,
            one_step,
            one_step_error,
            distance,
            distance_error,
        }
    });
    Ok(rows.collect())
}

/// Adds |a − b|²/count of each chain to its sum.
fn add_squares(a: &[f64], b: &[f64], count: f64, sums: &mut [f64]) {
    let dimension = a.len() / sums.len();
    let chains = a.chunks_exact(dimension).zip(b.chunks_exact(dimension));
    for ((a, b), sum) in chains.zip(sums) {
        *sum += a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>() / count;
    }
}

/// The power through the points (x, y, standard error of y) that are above rounding.
fn fitted(points: &[(f64, f64, f64)]) -> Option<Power> {
    let real: Vec<(f64, f64, f64)> = points.iter().copied().filter(|p| p.1 > ROUNDING).collect();
    Power::measured(&real)
}

/// The distance or the one-step error of a row, with its standard error.
type Value = fn(&Row) -> (f64, f64);
const DISTANCE: Value = |row| (row.distance, row.distance_error);
const ONE_STEP: Value = |row| (row.one_step, row.one_step_error);

/// (d, error, standard error) at the shortest step.
fn by_dimension(target: &str, nodes: u8, results: &[Row], value: Value) -> Vec<(f64, f64, f64)> {
    let shortest = results.iter().map(|row| row.eta).fold(f64::INFINITY, f64::min);
    let rows = of(target, nodes, results).filter(|row| row.eta == shortest);
    rows.map(|row| (row.dimension as f64, value(row).0, value(row).1)).collect()
}

/// (η, error, standard error) at the largest dimension, longest step first.
fn by_eta(target: &str, nodes: u8, results: &[Row], value: Value) -> Vec<(f64, f64, f64)> {
    let largest = results.iter().map(|row| row.dimension).max();
    let rows = of(target, nodes, results).filter(|row| Some(row.dimension) == largest);
    rows.map(|row| (row.eta, value(row).0, value(row).1)).collect()
}

fn of<'a>(target: &str, nodes: u8, results: &'a [Row]) -> impl Iterator<Item = &'a Row> {
    results.iter().filter(move |row| row.target == target && row.nodes == nodes)
}

fn exponents(target: &Loss, nodes: u8, results: &[Row]) -> Exponents {
    let in_dimension = |value| fitted(&by_dimension(target.name, nodes, results, value));
    let in_eta = |value| {
        let mut points = by_eta(target.name, nodes, results, value);
        points.retain(|point| point.1 > ROUNDING);
        fitted(&points[points.len().saturating_sub(2)..])
    };
    let alpha = target.alpha(nodes);
    Exponents {
        target: target.name,
        nodes,
        alpha,
        one_step_in_dimension: in_dimension(ONE_STEP),
        distance_in_dimension: in_dimension(DISTANCE),
        bound_in_dimension: 0.5 * f64::from(alpha - 1),
        one_step_in_eta: in_eta(ONE_STEP),
        distance_in_eta: in_eta(DISTANCE),
        bound_in_eta: f64::from(alpha - 1),
    }
}

fn panels(options: &Options, document: &Document) -> Vec<Panel> {
    let panel = |target: &Loss| Panel {
        title: format!("{}, shortest step", target.name),
        x_label: "dimension".to_owned(),
        y_label: "distance from exact integrals".to_owned(),
        series: (1..=options.nodes)
            .map(|nodes| Series {
                name: format!("nodes: {nodes}"),
                points: by_dimension(target.name, nodes, &document.results, DISTANCE)
                    .into_iter()
                    .map(|point| (point.0, point.1))
                    .collect(),
            })
            .collect(),
    };
    LOSSES.iter().map(panel).collect()
}

fn text(document: &Document) -> String {
    let with_error = |value: f64, error: f64| format!("{} ± {error:.1e}", short(Some(value)));
    let rows = document.results.iter().map(|row| {
        vec![
            row.target.to_owned(),
            row.nodes.to_string(),
            row.dimension.to_string(),
            row.eta.to_string(),
            with_error(row.one_step, row.one_step_error),
            with_error(row.distance, row.distance_error),
        ]
    });
    let fits = document.exponents.iter().map(|e| {
        vec![
            e.target.to_owned(),
            e.nodes.to_string(),
            e.alpha.to_string(),
            power(e.one_step_in_dimension),
            power(e.distance_in_dimension),
            e.bound_in_dimension.to_string(),
            power(e.one_step_in_eta),
            power(e.distance_in_eta),
            e.bound_in_eta.to_string(),
        ]
    });
    format!(
        "Errors of Chebyshev nodes on separable potentials (L = 1), in root mean square with standard errors:\n{}\n\
         one step: of a line integral; distance: of chains from those with exact integrals.\n\n\
         Exponents: in d at the shortest step, in eta at the largest dimension; bound: (eta sqrt(d))^(alpha - 1)\n{}",
        output::table(["target", "nodes", "dimension", "eta", "one step", "distance"], rows),
        output::table(
            [
                "target",
                "nodes",
                "alpha",
                "one step in d",
                "distance in d",
                "bound",
                "one step in eta",
                "distance in eta",
                "bound",
            ],
            fits
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    #[derive(Debug, clap::Parser)]
    struct Line {
        #[command(flatten)]
        options: Options,
    }

    /// u'' = (1 + cos wθ)/2: the higher derivatives grow with w, the smoothness does not.
    fn wave<const W: i32>() -> Loss {
        Loss {
            name: "wave",
            smooth: true,
            slope: |x| 0.5 * (x + (f64::from(W) * x).sin() / f64::from(W)),
            // cos a − cos b = 2 sin((b − a)/2) sin((a + b)/2)
            mean: |x, y| {
                let (w, middle) = (f64::from(W), x + 0.5 * y);
                0.5 * (middle + 2.0 * (0.5 * w * y).sin() * (w * middle).sin() / (w * w * y))
            },
        }
    }

    /// To leading order in η one node moves chains by an amount that depends on the smoothness
    /// alone, although its error in one step grows with the third derivative
    /// (docs/theory.md, section 5).
    #[test]
    fn a_larger_third_derivative_makes_one_step_worse_and_not_the_chain() {
        let options = Line::parse_from(["nodes", "--nodes", "1"]).options;
        let [slow, fast] = [wave::<2>(), wave::<8>()]
            .map(|loss| measure(&options, &loss, 1000, 0.025).unwrap().remove(0));
        let ratio = fast.one_step / slow.one_step;
        assert!((3.5..4.5).contains(&ratio), "{ratio}");
        let ratio = fast.distance / slow.distance;
        assert!((0.3..1.2).contains(&ratio), "{ratio}: {slow:?}, {fast:?}");
    }
}

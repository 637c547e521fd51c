//! `ridgewalk lab`: exact laws of every kernel on Gaussian targets, the growth of plans,
//! coupled chains on regressions, and searches for the start, as tables, CSV files and plots.

mod bias;
mod bound;
mod chains;
mod coupling;
mod iact;
mod mixing;
mod nodes;
mod orders;
mod plan;
mod separable;
mod start;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use comfy_table::Table;
use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk::lyapunov::planner::{IntegralRule, Plan, Problem, plan};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;
use crate::plot::{self, Panel, Series};

/// Options of `ridgewalk lab`.
#[derive(Debug, Args)]
pub(crate) struct LabOptions {
    #[command(subcommand)]
    command: LabCommand,
}

#[derive(Debug, Subcommand)]
enum LabCommand {
    /// Gradients per independent draw, each kernel tuned to minimise them at a given bias
    #[command(after_help = "Example:\n  ridgewalk lab iact --kappa 1,5,20,100\n\n\
                            The longer of the integrated autocorrelation times of theta and theta^2 at the worst eigenvalue of\n\
                            H/L in [1/kappa, 1], times gradients per step.")]
    Iact(iact::Options),
    /// Relative bias of the stationary variance against the step size
    #[command(
        after_help = "Example:\n  ridgewalk lab bias --kappa 5 --eta-from 0.01 --eta-to 1\n\n\
                            The largest over nine eigenvalues of H/L from 1/kappa to 1; 0 where it is below rounding."
    )]
    Bias(bias::Options),
    /// Gradients until W2 to the target is below an accuracy, against dimension, accuracy and
    /// condition number
    #[command(
        after_help = "Example:\n  ridgewalk lab mixing --kappa 5 --dimension 100 --accuracy 0.5 --doublings 2\n\n\
                            From the mode, each kernel tuned for it, on nine eigenvalues from 1/kappa to 1 (L = 1). On\n\
                            Gaussians some kernels are better than proved in general. For the randomized midpoint the\n\
                            distance is a lower bound, from the first two moments."
    )]
    Mixing(mixing::Options),
    /// Certified numbers of steps against dimension and accuracy
    #[command(
        after_help = "Example:\n  ridgewalk lab plan --kappa 2,10 --dimension 100 --accuracy 0.2 --doublings 3\n\n\
                            Steps of `ridgewalk plan` with L = 1, for doubled dimension and for halved accuracy; the fitted\n\
                            exponents include the logarithm of the bound."
    )]
    Plan(plan::Options),
    /// The guarantee of a plan compared with the exact distance on Gaussian targets
    #[command(
        after_help = "Example:\n  ridgewalk lab bound --kappa 2,10 --dimension 100 --accuracy 0.2\n\n\
                            W2 after each number of steps: the bound of `ridgewalk plan`, and the exact distance with its parameters on \
                            Gaussians whose eigenvalues are spread from 1/kappa to 1, or all but one at 1/kappa."
    )]
    Bound(bound::Options),
    /// Mixing on logistic regressions, bounded by coupled chains
    #[command(
        after_help = "Example:\n  ridgewalk lab coupling --dimensions 5,10 --kernels third-order,klmc\n\n\
                            Chains of steps h and h/2 on one Brownian path: their distance bounds W2 between their laws. Chains from \
                            the mode and settled ones with the same noise: their distance bounds W2 to the stationary law."
    )]
    Coupling(coupling::Options),
    /// The order of paths in the step size, by how smooth the potential is
    #[command(
        after_help = "Example:\n  ridgewalk lab orders --kernels third-order,quicsort --halvings 3\n\n\
                            Chains of steps h and h/2 on one Brownian path, on potentials that oscillate on \
                            the scale of the step: rough ones with a Lipschitz gradient, Hessian or third \
                            derivative."
    )]
    Orders(orders::Options),
    /// The number of Chebyshev nodes a line integral needs, on a smooth potential that is no ridge
    #[command(after_help = "Examples:\n  ridgewalk lab nodes --nodes 3 --halvings 1\n  \
                            ridgewalk lab nodes --nodes 2 --eta 0.4 --halvings 1 --dimensions 10,100\n\n\
                            Chains of Algorithm 1 on a multinomial regression, given by its gradient alone, \
                            that differ only in the number of nodes. With --dimensions, on separable \
                            potentials of each dimension: the growth of the error.")]
    Nodes(nodes::Options),
    /// Gradients until a chain can start: accelerated gradients against the condition number
    #[command(after_help = "Example:\n  ridgewalk lab start --kappa 2,10,100 --dimension 20\n\n\
                            From a distance of sqrt(d/m) until |theta - theta*| <= 1/sqrt(L) is proved, on \
                            quadratics and on logistic regressions of the same condition number, beside the \
                            proved bound and plain gradient descent.")]
    Start(start::Options),
}

/// Options of the commands that compare kernels.
#[derive(Debug, Args)]
struct Common {
    /// Kernels, by name [default: all]
    #[arg(long, value_name = "A,B,C", value_delimiter = ',')]
    kernels: Vec<String>,
    #[command(flatten)]
    to: Destination,
}

/// Options of the commands about plans.
#[derive(Debug, Args)]
struct Planned {
    /// Condition numbers
    #[arg(
        long,
        value_name = "K,K,...",
        value_delimiter = ',',
        default_value = "2,10,100",
        allow_negative_numbers = true
    )]
    kappa: Vec<f64>,
    /// Dimension; the smallest, if it is doubled
    #[arg(long, value_name = "D", default_value_t = 100)]
    dimension: u64,
    /// W2 accuracy in units of L = 1; the coarsest, if it is halved
    #[arg(long, value_name = "EPS", default_value_t = 0.2, allow_negative_numbers = true)]
    accuracy: f64,
}

/// The plan with L = 1, if one is found.
fn plan_for(
    kappa: f64, dimension: u64, accuracy: f64, rule: IntegralRule,
) -> Result<Option<Plan>, Failure> {
    if !(kappa >= 1.0 && kappa.is_finite()) {
        return Err(Failure::Usage(format!("kappa = {kappa}: need a finite number of at least 1")));
    }
    let problem = Problem::new(1.0 / kappa, 1.0, dimension, accuracy, rule)?;
    Ok(plan(&problem)?)
}

/// Options for the output.
#[derive(Debug, Args)]
struct Destination {
    /// Write the numbers to a CSV file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write a plot to an SVG file
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write one JSON document instead of tables
    #[arg(long)]
    json: bool,
}

/// Runs the subcommand.
pub(crate) fn run(options: &LabOptions) -> Result<(), Failure> {
    match &options.command {
        LabCommand::Iact(options) => iact::run(options),
        LabCommand::Bias(options) => bias::run(options),
        LabCommand::Mixing(options) => mixing::run(options),
        LabCommand::Plan(options) => plan::run(options),
        LabCommand::Bound(options) => bound::run(options),
        LabCommand::Coupling(options) => coupling::run(options),
        LabCommand::Orders(options) => orders::run(options),
        LabCommand::Nodes(options) => nodes::run(options),
        LabCommand::Start(options) => start::run(options),
    }
}

impl Common {
    /// The kernels named on the command line, each once.
    fn kernels(&self) -> Result<Vec<KernelKind>, Failure> {
        if self.kernels.is_empty() {
            return Ok(KernelKind::ALL.to_vec());
        }
        let mut kernels = Vec::new();
        for name in &self.kernels {
            let kernel = KernelKind::from_name(name).ok_or_else(|| {
                let names = KernelKind::ALL.map(KernelKind::name).join(", ");
                Failure::Usage(format!("kernel `{name}`: need one of {names}"))
            })?;
            if !kernels.contains(&kernel) {
                kernels.push(kernel);
            }
        }
        Ok(kernels)
    }
}

impl Destination {
    /// Writes the CSV file and the plot, if they are wanted, then the document or the tables.
    fn write(
        &self, (header, rows): (&[&str], impl IntoIterator<Item = Vec<String>>),
        panels: impl FnOnce() -> Vec<Panel>, document: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        self.write_csv(header, rows)?;
        if let Some(path) = &self.svg {
            plot::save(path, &panels())?;
        }
        if self.json { output::json(document) } else { output::text(&text()) }
    }

    fn write_csv(
        &self, header: &[&str], rows: impl IntoIterator<Item = Vec<String>>,
    ) -> Result<(), Failure> {
        let Some(path) = &self.csv else { return Ok(()) };
        let mut text = header.join(",");
        for row in rows {
            text.push('\n');
            text.push_str(&row.join(","));
        }
        text.push('\n');
        write(path, &text)
    }
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    std::fs::write(path, text).map_err(|source| Failure::File { path: path.to_owned(), source })
}

/// A table with one line for each name. `columns` begin with their heading.
fn by_name<'a>(
    first: &str, names: impl IntoIterator<Item = &'a str>,
    columns: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let columns: Vec<Vec<String>> = columns.into_iter().collect();
    let cell = |column: &Vec<String>, line: usize| column.get(line).cloned().unwrap_or_default();
    let rows = names.into_iter().enumerate().map(|(at, name)| {
        let cells = columns.iter().map(|column| cell(column, at + 1));
        std::iter::once(name.to_owned()).chain(cells).collect()
    });
    let mut table = output::table([], rows);
    let headings = columns.iter().map(|column| cell(column, 0));
    table.set_header(std::iter::once(first.to_owned()).chain(headings));
    table
}

/// One series per kernel.
fn series_by_kernel(
    kernels: &[KernelKind], points: impl Fn(KernelKind) -> Vec<(f64, f64)>,
) -> Vec<Series> {
    let one = |&kernel: &KernelKind| Series { name: kernel.name().into(), points: points(kernel) };
    kernels.iter().map(one).collect()
}

/// A table with one line for each kernel. `columns` begin with their heading.
fn by_kernel(
    first: &str, kernels: &[KernelKind], columns: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    by_name(first, kernels.iter().map(|kernel| kernel.name()), columns)
}

/// The shortest decimal that reads back to the same double; empty for none.
fn exact(value: Option<f64>) -> String {
    value.map_or_else(String::new, |v| v.to_string())
}

/// A few digits for tables; a dash for none.
fn short(value: Option<f64>) -> String {
    match value {
        None => "-".to_owned(),
        Some(0.0) => "0".to_owned(),
        Some(v) if (0.009_995..1e6).contains(&v.abs()) => {
            let digits = [(1000.0, 0), (100.0, 1), (10.0, 2), (1.0, 3)];
            let digits = digits
                .into_iter()
                .find(|(least, _)| v.abs() >= *least)
                .map_or(4, |(_, digits)| digits);
            format!("{v:.digits$}")
        }
        Some(v) => format!("{v:.2e}"),
    }
}

/// The slope of the regression line through the points (ln x, ln y); `None` for fewer than two
/// different x.
fn slope(points: &[(f64, f64)]) -> Option<f64> {
    let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let (x, y) =
        logs.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let spread: f64 = logs.iter().map(|point| (point.0 - x).powi(2)).sum();
    let product: f64 = logs.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    (spread > 0.0).then(|| product / spread)
}

/// A fitted exponent with its standard error.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
struct Power {
    #[serde(rename = "exponent")]
    value: f64,
    error: f64,
}

impl Power {
    /// [`slope`] with the standard error that the scatter around the line gives; 0 for two points.
    fn fitted(points: &[(f64, f64)]) -> Option<Self> {
        let value = slope(points)?;
        let logs: Vec<(f64, f64)> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
        let count = logs.len() as f64;
        let (x, y) = logs.iter().fold((0.0, 0.0), |(x, y), p| (x + p.0 / count, y + p.1 / count));
        let spread: f64 = logs.iter().map(|p| (p.0 - x).powi(2)).sum();
        let rest: f64 = logs.iter().map(|p| (p.1 - y - value * (p.0 - x)).powi(2)).sum();
        Some(Self { value, error: (rest / (count - 2.0).max(1.0) / spread).sqrt() })
    }

    /// [`slope`] through points (x, y, standard error of y), with the standard error that follows
    /// from theirs.
    fn measured(points: &[(f64, f64, f64)]) -> Option<Self> {
        let value = slope(&points.iter().map(|&(x, y, _)| (x, y)).collect::<Vec<_>>())?;
        let mean = points.iter().map(|p| p.0.ln()).sum::<f64>() / points.len() as f64;
        let spread: f64 = points.iter().map(|p| (p.0.ln() - mean).powi(2)).sum();
        let variance: f64 =
            points.iter().map(|p| ((p.0.ln() - mean) / spread * p.2 / p.1).powi(2)).sum();
        Some(Self { value, error: variance.sqrt() })
    }

    /// One over it.
    fn inverse(self) -> Self {
        Self { value: 1.0 / self.value, error: self.error / (self.value * self.value) }
    }

    /// Its product with an independent one.
    fn times(self, other: Self) -> Self {
        let error = (self.error * other.value).hypot(other.error * self.value);
        Self { value: self.value * other.value, error }
    }
}

impl std::fmt::Display for Power {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No "-0.000".
        let value = (1000.0 * self.value).round() / 1000.0 + 0.0;
        write!(f, "{value:.3} ± {:.3}", self.error)
    }
}

/// A power for a table; a dash for none.
fn power(value: Option<Power>) -> String {
    value.map_or_else(|| "-".to_owned(), |power| power.to_string())
}

/// Returns `value` if it is positive and finite.
fn positive(name: &str, value: f64) -> Result<f64, Failure> {
    if value > 0.0 && value.is_finite() {
        Ok(value)
    } else {
        Err(Failure::Usage(format!("{name} = {value}: need a positive, finite number")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people_are_short() {
        let written = [
            Some(0.0),
            Some(99.7371),
            Some(10072.4),
            Some(1.00990),
            Some(0.0196),
            Some(3.2e-5),
            None,
        ]
        .map(short);
        assert_eq!(written, ["0", "99.74", "10072", "1.010", "0.0196", "3.20e-5", "-"]);
    }

    #[test]
    fn powers_have_the_standard_errors_of_a_regression() {
        // y = x^2 with scatter of ±1 % in a known pattern: e = (1, −1, −1, 1) is orthogonal to the
        // line, and ln x is evenly spaced by ln 2.
        let points: Vec<(f64, f64)> = [1.0, -1.0, -1.0, 1.0]
            .into_iter()
            .zip([1.0, 2.0, 4.0, 8.0])
            .map(|(e, x): (f64, f64)| (x, x * x * (0.01 * e).exp()))
            .collect();
        let spread = 5.0 * 2.0_f64.ln().powi(2);
        let found = Power::fitted(&points).unwrap();
        assert!((found.value - 2.0).abs() < 1e-12);
        assert!((found.error - (4e-4 / 2.0 / spread).sqrt()).abs() < 1e-12);
        let known: Vec<(f64, f64, f64)> = points.iter().map(|&(x, y)| (x, y, 0.03 * y)).collect();
        let measured = Power::measured(&known).unwrap();
        assert!((measured.error - 0.03 / spread.sqrt()).abs() < 1e-12);
        assert_eq!(measured.inverse().to_string(), "0.500 ± 0.005");
        let twice = Power { value: 2.0, error: 0.1 };
        assert_eq!(twice.times(twice).to_string(), "4.000 ± 0.283");
        assert_eq!((Power::fitted(&points[..1]), power(None)), (None, "-".to_owned()));
    }

    #[test]
    fn the_slope_of_a_power_is_its_exponent() {
        let points: Vec<(f64, f64)> =
            (1..6).map(|i| (f64::from(i), 3.0 * f64::from(i).powf(0.25))).collect();
        assert!((slope(&points).unwrap() - 0.25).abs() < 1e-14);
        assert_eq!(slope(&points[..1]), None);
        assert_eq!(slope(&[]), None);
    }
}

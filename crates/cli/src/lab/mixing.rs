//! `ridgewalk lab mixing`: gradients until the law is within an accuracy of the target, against
//! dimension, accuracy and condition number.

use clap::Args;
use ridgewalk::lyapunov::laws::{KernelKind, Spectrum, tune_ideal_hmc, tune_mixing};
use serde::Serialize;

use super::{Common, Power, by_name, exact, positive, power, short};
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

/// A column of the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Method {
    Kernel(KernelKind),
    /// Exact Hamiltonian trajectories, which are counted in place of gradients.
    IdealHmc,
}

impl Method {
    fn name(self) -> &'static str {
        match self {
            Self::Kernel(kernel) => kernel.name(),
            Self::IdealHmc => "ideal-hmc",
        }
    }

    /// Exponents of d and 1/ε that are proved for a class of potentials.
    fn proved(self) -> Option<(f64, f64)> {
        match self {
            Self::Kernel(kernel) => kernel.proved_exponents(),
            // Chen and Vempala 2019: a contraction that depends on κ alone.
            Self::IdealHmc => Some((0.0, 0.0)),
        }
    }

    /// Exponents below which no method that follows the same paths can be, if only the gradient is
    /// Lipschitz.
    fn lower_bound(self) -> Option<(f64, f64)> {
        match self {
            Self::Kernel(kernel) => kernel.is_kinetic().then_some((1.0 / 3.0, 2.0 / 3.0)),
            Self::IdealHmc => None,
        }
    }
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
    /// None for exact trajectories too.
    gradients: Option<u64>,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: Option<f64>,
    kappa: f64,
}

/// Powers of d, of 1/ε and of κ with which the gradients grow: as fitted here with the standard
/// error of the fit, as proved for a class of potentials, and the lower bound of Cao, Lu and Wang
/// for kinetic paths. The powers of 1/η do not include the logarithm in the number of steps.
#[derive(Debug, Serialize)]
struct Exponents {
    kernel: &'static str,
    dimension_fitted: Option<f64>,
    dimension_error: Option<f64>,
    dimension_of_inverse_eta: Option<f64>,
    dimension_of_inverse_eta_error: Option<f64>,
    dimension_proved: Option<f64>,
    dimension_lower_bound: Option<f64>,
    accuracy_fitted: Option<f64>,
    accuracy_error: Option<f64>,
    accuracy_of_inverse_eta: Option<f64>,
    accuracy_of_inverse_eta_error: Option<f64>,
    accuracy_proved: Option<f64>,
    accuracy_lower_bound: Option<f64>,
    kappa_fitted: Option<f64>,
    kappa_error: Option<f64>,
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
    let mut methods: Vec<Method> = kernels.into_iter().map(Method::Kernel).collect();
    // The limit of short steps belongs beside leapfrog trajectories.
    if let Some(at) = methods.iter().position(|&m| m == Method::Kernel(KernelKind::Hmc)) {
        methods.insert(at + 1, Method::IdealHmc);
    }
    let mut results = Vec::new();
    let mut exponents = Vec::new();
    for &method in &methods {
        let (d, accuracy, kappa) = (options.dimension, options.accuracy, options.kappa);
        let rows = |questions: Vec<(f64, u64, f64)>| -> Result<Vec<Row>, Failure> {
            questions
                .into_iter()
                .map(|(kappa, d, accuracy)| row(method, kappa, d, accuracy))
                .collect()
        };
        let by_dimension = rows(grid.dimensions.iter().map(|&d| (kappa, d, accuracy)).collect())?;
        let finer = rows(grid.accuracies[1..].iter().map(|&a| (kappa, d, a)).collect())?;
        let worse = rows(grid.kappas[1..].iter().map(|&k| (k, d, accuracy)).collect())?;
        exponents.push(fitted(method, &by_dimension, &finer, &worse));
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
        || panels(&document, &methods, grid.kappas.len() > 1),
        &document,
        || text(&document, &methods, &grid),
    )
}

/// The exponents of a method, from rows along the dimension, finer accuracies and larger condition
/// numbers.
fn fitted(method: Method, by_dimension: &[Row], finer: &[Row], worse: &[Row]) -> Exponents {
    let by_accuracy = [&by_dimension[..1], finer].concat();
    let by_kappa = [&by_dimension[..1], worse].concat();
    let inverse_eta = |row: &Row| row.eta.map(f64::recip);
    let along = |rows: &[Row], x: &dyn Fn(&Row) -> f64, y: &dyn Fn(&Row) -> Option<f64>| {
        let points = rows.iter().filter_map(|row| y(row).map(|y| (x(row), y)));
        Power::fitted(&points.collect::<Vec<_>>())
    };
    let along_d = |y| along(by_dimension, &|row| row.dimension as f64, y);
    let along_accuracy = |y| along(&by_accuracy, &|row| row.accuracy.recip(), y);
    let value = |power: Option<Power>| power.map(|power| power.value);
    let error = |power: Option<Power>| power.map(|power| power.error);
    let (dimension, of_eta) = (along_d(&Row::cost), along_d(&inverse_eta));
    let (accuracy, finer_eta) = (along_accuracy(&Row::cost), along_accuracy(&inverse_eta));
    let kappa = along(&by_kappa, &|row| row.kappa, &Row::cost);
    Exponents {
        kernel: method.name(),
        dimension_fitted: value(dimension),
        dimension_error: error(dimension),
        dimension_of_inverse_eta: value(of_eta),
        dimension_of_inverse_eta_error: error(of_eta),
        dimension_proved: method.proved().map(|(dimension, _)| dimension),
        dimension_lower_bound: method.lower_bound().map(|(dimension, _)| dimension),
        accuracy_fitted: value(accuracy),
        accuracy_error: error(accuracy),
        accuracy_of_inverse_eta: value(finer_eta),
        accuracy_of_inverse_eta_error: error(finer_eta),
        accuracy_proved: method.proved().map(|(_, accuracy)| accuracy),
        accuracy_lower_bound: method.lower_bound().map(|(_, accuracy)| accuracy),
        kappa_fitted: value(kappa),
        kappa_error: error(kappa),
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
    /// The number of gradients, or of exact trajectories.
    fn count(&self) -> Option<u64> {
        self.gradients.or(self.steps)
    }

    /// The same; none if it is 0, which has no logarithm.
    fn cost(&self) -> Option<f64> {
        self.count().filter(|count| *count > 0).map(|count| count as f64)
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

fn row(method: Method, kappa: f64, dimension: u64, accuracy: f64) -> Result<Row, Failure> {
    let target = Spectrum::log_spaced(kappa, dimension)?;
    let kernel = method.name();
    let empty = Row {
        kernel,
        dimension,
        accuracy,
        steps: None,
        gradients: None,
        gamma: None,
        xi: None,
        eta: None,
        kappa,
    };
    Ok(match method {
        Method::Kernel(kind) => tune_mixing(kind, &target, accuracy)?.map(|tuned| Row {
            steps: Some(tuned.steps),
            gradients: Some(tuned.gradients),
            gamma: tuned.scheme.gamma(),
            xi: tuned.scheme.xi(),
            eta: Some(tuned.scheme.eta()),
            ..empty.clone()
        }),
        Method::IdealHmc => tune_ideal_hmc(&target, accuracy)?.map(|tuned| Row {
            steps: Some(tuned.trajectories),
            xi: Some(tuned.time.recip()),
            ..empty.clone()
        }),
    }
    .unwrap_or(empty))
}

fn panels(document: &Document, methods: &[Method], by_kappa: bool) -> Vec<Panel> {
    let series = |kept: &dyn Fn(&Row) -> bool, x: &dyn Fn(&Row) -> f64| -> Vec<Series> {
        let one = |method: &Method| {
            let rows = document.results.iter().filter(|row| row.kernel == method.name());
            let points = rows.filter(|row| kept(row)).filter_map(|row| Some((x(row), row.cost()?)));
            Series { name: method.name().to_owned(), points: points.collect() }
        };
        methods.iter().map(one).collect()
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

fn text(document: &Document, methods: &[Method], grid: &Grid) -> String {
    let (d, accuracy, kappa) = (document.dimension, document.accuracy, document.kappa);
    let cells = |first: String, kept: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let rows = document.results.iter().filter(|row| kept(row));
        let gradients =
            rows.map(|row| row.count().map_or_else(|| "-".to_owned(), |g| g.to_string()));
        std::iter::once(first).chain(gradients).collect()
    };
    let known = |first: &str, value: &dyn Fn(&Exponents) -> Option<f64>| -> Vec<String> {
        let values = document.exponents.iter().map(value);
        let values = values.map(|v| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}")));
        std::iter::once(first.to_owned()).chain(values).collect()
    };
    let fitted = |first: &str, value: &dyn Fn(&Exponents) -> [Option<f64>; 2]| -> Vec<String> {
        let powers = document.exponents.iter().map(|e| {
            let [value, error] = value(e);
            power(value.zip(error).map(|(value, error)| Power { value, error }))
        });
        std::iter::once(first.to_owned()).chain(powers).collect()
    };
    let at = |row: &Row, k: f64, dimension: u64, a: f64| {
        row.kappa == k && row.dimension == dimension && row.accuracy == a
    };
    let by_dimension =
        grid.dimensions.iter().map(|&x| cells(x.to_string(), &|row| at(row, kappa, x, accuracy)));
    let by_dimension = by_dimension.chain([
        fitted("fitted", &|e| [e.dimension_fitted, e.dimension_error]),
        fitted("of 1/eta", &|e| [e.dimension_of_inverse_eta, e.dimension_of_inverse_eta_error]),
        known("proved", &|e| e.dimension_proved),
        known("lower bound", &|e| e.dimension_lower_bound),
    ]);
    let by_accuracy =
        grid.accuracies.iter().map(|&x| cells(short(Some(x)), &|row| at(row, kappa, d, x)));
    let by_accuracy = by_accuracy.chain([
        fitted("fitted", &|e| [e.accuracy_fitted, e.accuracy_error]),
        fitted("of 1/eta", &|e| [e.accuracy_of_inverse_eta, e.accuracy_of_inverse_eta_error]),
        known("proved", &|e| e.accuracy_proved),
        known("lower bound", &|e| e.accuracy_lower_bound),
    ]);
    let by_kappa =
        grid.kappas.iter().map(|&x| cells(x.to_string(), &|row| at(row, x, d, accuracy)));
    let by_kappa = by_kappa.chain([fitted("fitted", &|e| [e.kappa_fitted, e.kappa_error])]);
    let names = || methods.iter().map(|method| method.name());
    let last = if grid.kappas.len() > 1 {
        let table = by_name("kappa", names(), by_kappa);
        format!("\n\nGradients until W2 <= {accuracy} in {d} dimensions:\n{table}")
    } else {
        String::new()
    };
    format!(
        "Gradients until W2 <= {accuracy} from the mode, kappa = {kappa}, each kernel tuned for it:\n{}\n\n\
         Gradients in {d} dimensions:\n{}{last}\n\
         fitted, proved: exponents of d and of 1/accuracy, fitted to these rows and proved for a class of potentials.\n\
         of 1/eta: fitted to the reciprocal of the step, without the logarithm in the number of steps.\n\
         lower bound: no method that follows paths of kinetic Langevin dynamics is better for every potential with a\n\
         Lipschitz gradient (Cao, Lu and Wang 2020). On smoother ones, such as these, it may be.\n\
         ideal-hmc: exact trajectories are counted, not gradients.",
        by_name("dimension", names(), by_dimension),
        by_name("accuracy", names(), by_accuracy)
    )
}

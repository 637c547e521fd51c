//! `ridgewalk lab coupling`: mixing on logistic regressions, bounded by coupled chains.
//!
//! Two quantities are measured for each kernel. Chains with steps η and η/2 on the same Brownian
//! path have a root mean square distance D(η), which bounds W2 between their stationary laws; with
//! repeated halving, D(η) + D(η/2) + ... bounds the distance to the target. And two chains with the
//! same noise, one of them stationary and the other started at the mode, approach each other; their
//! distance bounds W2 between the current and the stationary law. Both are means over finitely many
//! chains and times.

use clap::Args;
use ridgewalk::lyapunov::laws::{KernelKind, Scheme, tune};
use ridgewalk::potentials::families::Logistic;
use ridgewalk::potentials::{Ridge, Whitening};
use ridgewalk::sampler::{Batch, CoupledChains, from_scheme};
use serde::Serialize;

use super::chains::{Synchronous, at, failed, logistic, mean_square, root_mean, starts};
use super::{Common, Power, by_kernel, exact, positive, power, series_by_kernel, short, slope};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Panel, Series};

/// The condition number for which γ and ξ are tuned; those of the regressions are near it.
const TUNED_FOR: f64 = 10.0;
/// Time before distances are measured, and time during which they are, in units of the dynamics.
const SETTLING: f64 = 40.0;
const MEASURING: f64 = 20.0;
/// The longest time for which two chains are followed.
const LONGEST: f64 = 1000.0;
/// The number of coordinates over all pairs of chains, and the range of the number of pairs.
const COORDINATES: usize = 1600;
const PAIRS: (usize, usize) = (4, 32);

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Dimensions
    #[arg(
        long,
        value_name = "D,D,...",
        value_delimiter = ',',
        default_value = "10,32,100,316,1000"
    )]
    dimensions: Vec<usize>,
    /// Longest step
    #[arg(long, value_name = "H", default_value_t = 0.4, allow_negative_numbers = true)]
    eta: f64,
    /// How often the step is halved
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(1..=10))]
    halvings: u8,
    /// W2 accuracy, in units of 1/sqrt(L)
    #[arg(long, value_name = "EPS", default_value_t = 0.5, allow_negative_numbers = true)]
    accuracy: f64,
    /// Seed of data and chains
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    common: Common,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    accuracy: f64,
    results: Vec<Row>,
    exponents: Vec<Exponents>,
}

/// One kernel and step on one regression. Distances are in units of 1/√L.
#[derive(Debug, Clone, Serialize)]
struct Row {
    kernel: &'static str,
    dimension: usize,
    kappa: f64,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: f64,
    /// D(η) and its standard error.
    distance: f64,
    error: f64,
    /// Time until chains from the mode are within half the accuracy of stationary ones, at the
    /// longest step.
    time: f64,
    /// Gradients in that time at the step whose bias is at most half the accuracy.
    gradients: f64,
    /// Whether that step is shorter than all measured ones.
    extrapolated: bool,
}

/// D ~ d^a η^q; a step for a bias of ε is then ~ (ε/d^a)^(1/q). Standard errors are those of D.
#[derive(Debug, Serialize)]
struct Exponents {
    kernel: &'static str,
    order: Option<f64>,
    order_error: Option<f64>,
    distance_in_dimension: Option<f64>,
    distance_in_dimension_error: Option<f64>,
    dimension_measured: Option<f64>,
    dimension_error: Option<f64>,
    dimension_proved: Option<f64>,
    accuracy_measured: Option<f64>,
    accuracy_error: Option<f64>,
    accuracy_proved: Option<f64>,
}

/// A regression in coordinates centred at its mode, with its curvature and whitening.
struct Regression {
    ridge: Ridge<'static, Logistic>,
    smoothness: f64,
    kappa: f64,
    whitening: Whitening,
}

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    let kernels = options.common.kernels()?;
    positive("eta", options.eta)?;
    positive("accuracy", options.accuracy)?;
    if let Some(d) = options.dimensions.iter().find(|d| !(1..=2000).contains(*d)) {
        return Err(Failure::Usage(format!("dimension {d}: need a number between 1 and 2000")));
    }
    let tuned: Vec<(KernelKind, Option<f64>, Option<f64>)> = kernels
        .iter()
        .map(|&kernel| Ok((kernel, tune(kernel, TUNED_FOR, 0.01)?.scheme)))
        .map(|found| {
            found.map(|(kernel, scheme)| (kernel, scheme.gamma(), friction(&scheme, options.eta)))
        })
        .collect::<Result<_, Failure>>()?;
    let mut results = Vec::new();
    for &d in &options.dimensions {
        let regression = Regression::new(d, options.seed)?;
        for &(kernel, gamma, xi) in &tuned {
            let at = |eta| Scheme::new(kernel, gamma.unwrap_or(1.0), xi.unwrap_or(1.0), eta);
            results.extend(measure(options, &regression, &at)?);
        }
    }
    let exponents = kernels.iter().map(|&kernel| exponents(kernel, &results)).collect();
    let document = Document { accuracy: options.accuracy, results, exponents };
    options.common.to.write(
        (&HEADER, document.results.iter().map(Row::cells)),
        || panels(&document, &kernels),
        &document,
        || text(options, &document, &kernels),
    )
}

/// ξ of a tuned scheme. Trajectories get a duration that is a whole number of the longest steps, so
/// that it is the same for all steps.
fn friction(scheme: &Scheme, longest: f64) -> Option<f64> {
    if scheme.trajectory().is_some() {
        return Some(1.0 / ((scheme.time() / longest).round().max(1.0) * longest));
    }
    scheme.xi()
}

impl Regression {
    fn new(d: usize, seed: u64) -> Result<Self, Failure> {
        let ridge = logistic(d, seed)?;
        let curvature = ridge.curvature().map_err(failed)?;
        let [convexity, smoothness] = curvature.certifiable().map_err(failed)?;
        let mode = ridge.mode().map_err(failed)?.point;
        let hessian = ridge.hessian(&mode).map_err(failed)?;
        // Shifted, not scaled: the averaged kernel assumes that the target is centred at the
        // origin.
        let centred = Whitening::diagonal(&mode, &vec![1.0; d]).map_err(failed)?;
        let ridge = ridge.whitened(&centred).map_err(failed)?;
        let whitening = Whitening::from_hessian(&vec![0.0; d], &hessian).map_err(failed)?;
        Ok(Self { ridge, smoothness, kappa: smoothness / convexity, whitening })
    }

    /// The number of pairs of chains.
    fn pairs(&self) -> usize {
        (COORDINATES / self.whitening.dimension()).clamp(PAIRS.0, PAIRS.1)
    }
}

/// The rows of one kernel on one regression, the longest step first.
fn measure(
    options: &Options, regression: &Regression,
    scheme: &dyn Fn(f64) -> Result<Scheme, ridgewalk::lyapunov::Error>,
) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    let mut time = 0.0;
    for halving in 0..=options.halvings {
        let scheme = scheme(options.eta * 0.5_f64.powi(i32::from(halving)))?;
        let (distance, error, settled) = apart(options, regression, &scheme)?;
        if halving == 0 {
            time = approach(options, regression, &scheme, settled)?;
        }
        rows.push(Row {
            kernel: scheme.name(),
            dimension: regression.whitening.dimension(),
            kappa: regression.kappa,
            gamma: scheme.gamma(),
            xi: scheme.xi(),
            eta: scheme.eta(),
            distance,
            error,
            time,
            gradients: 0.0,
            extrapolated: false,
        });
    }
    // Those of a trajectory are per step of it, as its time is.
    let per_step = f64::from(scheme(options.eta)?.kernel().gradients_per_step());
    let (eta, extrapolated) = step_for(&rows, 0.5 * options.accuracy);
    for row in &mut rows {
        (row.gradients, row.extrapolated) = (per_step * time / eta, extrapolated);
    }
    Ok(rows)
}

/// D(η) in units of 1/√L, its standard error over pairs, and the stationary chains with long steps.
fn apart(
    options: &Options, regression: &Regression, scheme: &Scheme,
) -> Result<(f64, f64, Batch), Failure> {
    let pairs = regression.pairs();
    let from = starts(&regression.whitening, pairs, options.seed)?;
    let mut chains =
        CoupledChains::new(&regression.ridge, scheme, regression.smoothness, options.seed, &from)
            .map_err(failed)?;
    chains.drift(SETTLING).map_err(failed)?;
    let d = regression.whitening.dimension();
    let mut squares = vec![0.0; pairs];
    let steps = (MEASURING / scheme.time()).ceil();
    let mut step = 0.0;
    while step < steps {
        chains.advance(1).map_err(failed)?;
        let [coarse, fine] =
            [chains.coarse().theta(), chains.fine().theta()].map(|list| list.chunks_exact(d));
        for (sum, (a, b)) in squares.iter_mut().zip(coarse.zip(fine)) {
            *sum += a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>();
        }
        step += 1.0;
    }
    if chains.diverged() {
        return Err(Failure::Usage(format!(
            "eta = {}: {} is unstable with it",
            scheme.eta(),
            scheme.name()
        )));
    }
    let squares: Vec<f64> = squares.iter().map(|sum| regression.smoothness * sum / steps).collect();
    let (distance, error) = root_mean(&squares);
    Ok((distance, error, chains.coarse().clone()))
}

/// The time until chains from the mode are within half the accuracy of stationary ones with the
/// same noise, in root mean square.
fn approach(
    options: &Options, regression: &Regression, scheme: &Scheme, mut settled: Batch,
) -> Result<f64, Failure> {
    let kernel = from_scheme(scheme, regression.smoothness).map_err(failed)?;
    let mode = regression.whitening.centre();
    let mut fresh = at(mode, settled.chains(), regression.smoothness, options.seed)?;
    let mut both = Synchronous::new(&fresh, options.seed);
    let mut time = 0.0;
    while (regression.smoothness * mean_square(&settled, &fresh)).sqrt() > 0.5 * options.accuracy {
        if time > LONGEST {
            let name = scheme.name();
            return Err(Failure::Run(format!(
                "{name}: chains did not approach each other in a time of {LONGEST}"
            )));
        }
        both.draw(&*kernel);
        both.step(&*kernel, &regression.ridge, &mut settled)?;
        both.step(&*kernel, &regression.ridge, &mut fresh)?;
        time += scheme.time();
    }
    Ok(time)
}

/// The longest step, up to the longest measured, with D(η) + D(η/2) + ... at most `bias`, by the
/// fitted power; and whether it is an extrapolation.
fn step_for(rows: &[Row], bias: f64) -> (f64, bool) {
    let points: Vec<(f64, f64)> = rows.iter().map(|row| (row.eta, row.distance)).collect();
    let (longest, shortest) = (points[0], points[points.len() - 1]);
    let order = slope(&points).unwrap_or(1.0).max(0.1);
    let all_halvings = 1.0 / (1.0 - 0.5_f64.powf(order));
    let wanted = bias / all_halvings;
    let eta = longest.0.min(shortest.0 * (wanted / shortest.1).powf(1.0 / order));
    (eta, eta < 0.999 * shortest.0)
}

fn exponents(kernel: KernelKind, results: &[Row]) -> Exponents {
    let rows = || results.iter().filter(|row| row.kernel == kernel.name());
    let largest = rows().map(|row| row.dimension).max();
    let shortest = rows().map(|row| row.eta).fold(f64::INFINITY, f64::min);
    let at_largest: Vec<(f64, f64, f64)> = rows()
        .filter(|row| Some(row.dimension) == largest)
        .map(|row| (row.eta, row.distance, row.error))
        .collect();
    let at_shortest: Vec<(f64, f64, f64)> = rows()
        .filter(|row| row.eta == shortest)
        .map(|row| (row.dimension as f64, row.distance, row.error))
        .collect();
    let (order, growth) = (Power::measured(&at_largest), Power::measured(&at_shortest));
    let in_accuracy = order.map(Power::inverse);
    let in_dimension = growth.zip(in_accuracy).map(|(growth, inverse)| growth.times(inverse));
    let value = |power: Option<Power>| power.map(|power| power.value);
    let error = |power: Option<Power>| power.map(|power| power.error);
    let proved = kernel.proved_exponents();
    Exponents {
        kernel: kernel.name(),
        order: value(order),
        order_error: error(order),
        distance_in_dimension: value(growth),
        distance_in_dimension_error: error(growth),
        dimension_measured: value(in_dimension),
        dimension_error: error(in_dimension),
        dimension_proved: proved.map(|(dimension, _)| dimension),
        accuracy_measured: value(in_accuracy),
        accuracy_error: error(in_accuracy),
        accuracy_proved: proved.map(|(_, accuracy)| accuracy),
    }
}

/// The header of the CSV file.
const HEADER: [&str; 11] = [
    "kernel",
    "dimension",
    "kappa",
    "gamma",
    "xi",
    "eta",
    "distance",
    "error",
    "time",
    "gradients",
    "extrapolated",
];

impl Row {
    /// The row of the CSV file.
    fn cells(&self) -> Vec<String> {
        let mut cells = vec![self.kernel.to_owned(), self.dimension.to_string()];
        let known = [self.eta, self.distance, self.error, self.time, self.gradients].map(Some);
        cells.extend([Some(self.kappa), self.gamma, self.xi].into_iter().chain(known).map(exact));
        cells.push(self.extrapolated.to_string());
        cells
    }
}

fn panels(document: &Document, kernels: &[KernelKind]) -> Vec<Panel> {
    let largest = document.results.iter().map(|row| row.dimension).max().unwrap_or(1);
    let shortest = document.results.iter().map(|row| row.eta).fold(f64::INFINITY, f64::min);
    let series = |kept: &dyn Fn(&Row) -> bool, point: &dyn Fn(&Row) -> (f64, f64)| -> Vec<Series> {
        series_by_kernel(kernels, |kernel| {
            let rows = document.results.iter().filter(|row| row.kernel == kernel.name());
            rows.filter(|row| kept(row)).map(point).collect()
        })
    };
    let panel = |title: String, x_label: &str, y_label: &str, series: Vec<Series>| Panel {
        title,
        x_label: x_label.to_owned(),
        y_label: y_label.to_owned(),
        series,
    };
    let apart = "distance of steps h and h/2";
    vec![
        panel(
            format!("Logistic regression, {largest} dimensions"),
            "step size",
            apart,
            series(&|row| row.dimension == largest, &|row| (row.eta, row.distance)),
        ),
        panel(
            format!("Step size {shortest}"),
            "dimension",
            apart,
            series(&|row| row.eta == shortest, &|row| (row.dimension as f64, row.distance)),
        ),
        panel(
            format!("W2 at most {}, by coupling", document.accuracy),
            "dimension",
            "gradients",
            series(&|row| row.eta == shortest, &|row| (row.dimension as f64, row.gradients)),
        ),
    ]
}

fn text(options: &Options, document: &Document, kernels: &[KernelKind]) -> String {
    let shortest = document.results.iter().map(|row| row.eta).fold(f64::INFINITY, f64::min);
    let by_dimension = options.dimensions.iter().map(|d| {
        let rows = document.results.iter().filter(|row| row.dimension == *d && row.eta == shortest);
        let cells = rows
            .map(|row| format!("{:.0}{}", row.gradients, if row.extrapolated { "*" } else { "" }));
        std::iter::once(d.to_string()).chain(cells).collect()
    });
    let exponents = document.exponents.iter().map(|e| {
        let known = |v: Option<f64>| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"));
        let measured = |value: Option<f64>, error: Option<f64>| {
            power(value.zip(error).map(|(value, error)| Power { value, error }))
        };
        vec![
            e.kernel.to_owned(),
            measured(e.order, e.order_error),
            measured(e.distance_in_dimension, e.distance_in_dimension_error),
            measured(e.dimension_measured, e.dimension_error),
            known(e.dimension_proved),
            measured(e.accuracy_measured, e.accuracy_error),
            known(e.accuracy_proved),
        ]
    });
    let kappas = document.results.iter().map(|row| row.kappa);
    let (low, high) =
        kappas.fold((f64::INFINITY, 0.0_f64), |(low, high), k| (low.min(k), high.max(k)));
    format!(
        "Gradients until W2 <= {}/sqrt(L) on logistic regressions (kappa {} to {}), from the mode, bounded by couplings:\n{}\n\
         *: at a step shorter than those measured, by the fitted power.\n\n\
         The distance D of steps h and h/2 on one path, and the resulting exponents of d and 1/accuracy in the gradients:\n{}",
        document.accuracy,
        short(Some(low)),
        short(Some(high)),
        by_kernel("dimension", kernels, by_dimension),
        output::table(
            ["kernel", "D in h", "D in d", "in d", "proved", "in 1/accuracy", "proved",],
            exponents
        )
    )
}

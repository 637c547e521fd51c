//! `ridgewalk lab start`: the gradients that it takes to find where the paper's chains start,
//! |θ − θ*| ≤ 1/√L, by accelerated gradients.

use clap::Args;
use ridgewalk::potentials::families::Logistic;
use ridgewalk::potentials::{
    Dense, FromFn, Gradient, Method, ModeSearch, Prior, Ridge, accelerated_gradients_bound,
    start_tolerance,
};
use ridgewalk::sampler::Stream;
use serde::Serialize;

use super::chains::failed;
use super::{Destination, exact, short, slope};
use crate::failure::Failure;
use crate::output;
use crate::plot::{Panel, Series};

/// Rows of a regression per coefficient.
const ROWS: usize = 5;
/// The largest condition number: beyond, the bound of the method may be above its limit of a
/// million iterations.
const MOST_KAPPA: f64 = 1e8;
/// Streams of the data and of the directions of the starts.
const DATA: u64 = 1 << 42;
const DIRECTIONS: u64 = DATA + 1;

#[derive(Debug, Args)]
pub(super) struct Options {
    /// Condition numbers
    #[arg(
        long,
        value_name = "K,K,...",
        value_delimiter = ',',
        default_value = "2,10,100,1e3,1e4,1e5,1e6",
        allow_negative_numbers = true
    )]
    kappa: Vec<f64>,
    /// Dimension
    #[arg(long, value_name = "D", default_value_t = 100)]
    dimension: usize,
    /// Largest condition number at which plain gradient descent is run too
    #[arg(long, value_name = "K", default_value_t = 1e4, allow_negative_numbers = true)]
    plain: f64,
    /// Seed of data and starts
    #[arg(long, value_name = "S", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    to: Destination,
}

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    results: Vec<Row>,
    exponents: Vec<Exponents>,
}

/// A search on one target.
#[derive(Debug, Serialize)]
struct Row {
    target: &'static str,
    kappa: f64,
    dimension: usize,
    /// Gradients of the accelerated method, and the most that it can take.
    gradients: u64,
    bound: u64,
    /// √κ log(d κ).
    growth: f64,
    ratio: f64,
    /// Gradients of plain gradient descent with steps of 1/L.
    plain: Option<u64>,
    /// √L |θ − θ*| at the end, which is proved to be at most 1.
    distance: f64,
}

/// Powers of κ.
#[derive(Debug, Serialize)]
struct Exponents {
    target: &'static str,
    gradients: Option<f64>,
    /// Of gradients over log(d κ).
    without_logarithm: Option<f64>,
    plain: Option<f64>,
}

const HEADER: [&str; 9] =
    ["target", "kappa", "dimension", "gradients", "bound", "growth", "ratio", "plain", "distance"];
const QUADRATIC: &str = "quadratic";
const LOGISTIC: &str = "logistic";
const TARGETS: [&str; 2] = [QUADRATIC, LOGISTIC];

pub(super) fn run(options: &Options) -> Result<(), Failure> {
    if let Some(kappa) = options.kappa.iter().find(|k| !(**k > 1.0 && **k <= MOST_KAPPA)) {
        return Err(Failure::Usage(format!(
            "kappa = {kappa}: need a number above 1 and at most {MOST_KAPPA}"
        )));
    }
    let d = options.dimension;
    if !(1..=1000).contains(&d) {
        return Err(Failure::Usage(format!("dimension = {d}: need a number between 1 and 1000")));
    }
    if options.plain.is_nan() {
        return Err(Failure::Usage("plain = NaN: need a number".to_owned()));
    }
    let mut results = Vec::new();
    for &kappa in &options.kappa {
        results.push(quadratic(options, kappa)?);
    }
    for &kappa in &options.kappa {
        results.push(logistic(options, kappa)?);
    }
    let exponents = TARGETS.map(|target| exponents(target, &results)).into_iter().collect();
    let document = Document { results, exponents };
    options.to.write(
        (&HEADER, document.results.iter().map(Row::cells)),
        || TARGETS.map(|target| panel(target, &document.results)).into_iter().collect(),
        &document,
        || text(&document),
    )
}

/// A quadratic with log-spaced curvatures from 1/κ to 1 and its mode at 0.
fn quadratic(options: &Options, kappa: f64) -> Result<Row, Failure> {
    let d = options.dimension;
    let last = (d - 1).max(1) as f64;
    let curvatures: Vec<f64> = (0..d).map(|k| kappa.powf(k as f64 / last - 1.0)).collect();
    let gradient = FromFn::new(d, move |x: &[f64], g: &mut [f64]| {
        g.iter_mut().zip(x).zip(&curvatures).for_each(|((g, x), c)| *g = c * x);
        Ok(())
    });
    Measured {
        name: QUADRATIC,
        kappa,
        gradient: &gradient,
        mode: vec![0.0; d],
        m: kappa.recip(),
        l: 1.0,
    }
    .row(options)
}

/// A logistic regression with a normal(0, S) prior of that condition number.
fn logistic(options: &Options, kappa: f64) -> Result<Row, Failure> {
    // With a prior of scale 1, L is 1 and what the rows add.
    let rows = regression(options, kappa, 1.0)?;
    let by_rows = rows.curvature().map_err(failed)?.smoothness();
    let by_rows = by_rows.map_or(0.0, |bound| bound.value - 1.0);
    let ridge = regression(options, kappa, ((kappa - 1.0) / by_rows).sqrt())?;
    let curvature = ridge.curvature().map_err(failed)?;
    let [m, l] = curvature.certifiable().map_err(failed)?;
    let mode = ridge.mode().map_err(failed)?.point;
    Measured { name: LOGISTIC, kappa, gradient: &ridge, mode, m, l }.row(options)
}

/// Logistic regression with normal entries in columns of log-spaced scales from 1 to 1/√κ, and
/// responses drawn with linear predictors of variance 1.
fn regression(
    options: &Options, kappa: f64, prior_scale: f64,
) -> Result<Ridge<'static, Logistic>, Failure> {
    let d = options.dimension;
    let (n, last) = (ROWS * d, (d - 1).max(1) as f64);
    let mut stream = Stream::new(options.seed, DATA);
    let (mut values, mut truth, mut chance) = (vec![0.0; n * d], vec![0.0; d], vec![0.0; n]);
    stream.normals(&mut values);
    stream.normals(&mut truth);
    stream.uniforms(&mut chance);
    let size = truth.iter().map(|t| t * t).sum::<f64>().sqrt();
    let respond = |(row, chance): (&[f64], &f64)| {
        let predictor = row.iter().zip(&truth).map(|(x, t)| x * t).sum::<f64>() / size;
        f64::from(u8::from(*chance < 1.0 / (1.0 + (-predictor).exp())))
    };
    let responses: Vec<f64> = values.chunks_exact(d).zip(&chance).map(respond).collect();
    let scale = (n as f64).sqrt().recip();
    for row in values.chunks_exact_mut(d) {
        row.iter_mut()
            .enumerate()
            .for_each(|(k, x)| *x *= scale * kappa.powf(-0.5 * k as f64 / last));
    }
    let prior = Prior::centred(d, prior_scale).map_err(failed)?;
    Ridge::new(Dense::new(n, d, values).map_err(failed)?, Logistic, &responses, prior)
        .map_err(failed)
}

/// A target with known mode and m ≤ ∇²U ≤ L.
struct Measured<'a, G> {
    name: &'static str,
    /// The condition number that was asked for: L/m but for rounding.
    kappa: f64,
    gradient: &'a G,
    mode: Vec<f64>,
    m: f64,
    l: f64,
}

impl<G: Gradient> Measured<'_, G> {
    fn row(&self, options: &Options) -> Result<Row, Failure> {
        let d = self.mode.len();
        let (kappa, of_bounds) = (self.kappa, self.l / self.m);
        let from = self.start(options.seed);
        let tolerance = start_tolerance(of_bounds);
        let search = ModeSearch::new().with_method(Method::Accelerated).with_start(from.clone());
        let search = search.with_curvature(self.m, self.l).map_err(failed)?;
        let found = search.with_tolerance(tolerance).map_err(failed)?.of_gradient(self.gradient);
        let found = found.map_err(failed)?;
        let distance = self.apart(&from);
        let bound = accelerated_gradients_bound(of_bounds, distance, tolerance).map_err(failed)?;
        let growth = kappa.sqrt() * (d as f64 * kappa).ln();
        Ok(Row {
            target: self.name,
            kappa,
            dimension: d,
            gradients: found.gradients,
            bound,
            growth,
            ratio: found.gradients as f64 / growth,
            plain: if kappa <= options.plain { Some(self.descend(from)?) } else { None },
            distance: self.apart(&found.point),
        })
    }

    /// A point at a distance of √(d/m) from the mode, in a random direction.
    fn start(&self, seed: u64) -> Vec<f64> {
        let mut direction = vec![0.0; self.mode.len()];
        Stream::new(seed, DIRECTIONS).normals(&mut direction);
        let length = (self.mode.len() as f64 / self.m).sqrt() / norm(&direction);
        self.mode.iter().zip(&direction).map(|(mode, x)| mode + length * x).collect()
    }

    /// √L |θ − θ*|.
    fn apart(&self, point: &[f64]) -> f64 {
        let left: Vec<f64> = point.iter().zip(&self.mode).map(|(x, mode)| x - mode).collect();
        self.l.sqrt() * norm(&left)
    }

    /// Gradients of plain gradient descent with steps of 1/L until |∇U| ≤ m/√L.
    fn descend(&self, mut point: Vec<f64>) -> Result<u64, Failure> {
        let mut gradient = vec![0.0; point.len()];
        let mut gradients = 0;
        loop {
            self.gradient.gradient(&point, &mut gradient).map_err(failed)?;
            gradients += 1;
            if norm(&gradient) <= self.m / self.l.sqrt() {
                return Ok(gradients);
            }
            point.iter_mut().zip(&gradient).for_each(|(x, g)| *x -= g / self.l);
        }
    }
}

fn norm(list: &[f64]) -> f64 {
    list.iter().map(|x| x * x).sum::<f64>().sqrt()
}

impl Row {
    fn cells(&self) -> Vec<String> {
        let plain = self.plain.map_or_else(String::new, |count| count.to_string());
        vec![
            self.target.to_owned(),
            self.kappa.to_string(),
            self.dimension.to_string(),
            self.gradients.to_string(),
            self.bound.to_string(),
            exact(Some(self.growth)),
            exact(Some(self.ratio)),
            plain,
            exact(Some(self.distance)),
        ]
    }
}

/// (κ, y) of one target, where there is a y.
fn points(target: &str, results: &[Row], y: impl Fn(&Row) -> Option<f64>) -> Vec<(f64, f64)> {
    let rows = results.iter().filter(|row| row.target == target);
    rows.filter_map(|row| Some((row.kappa, y(row)?))).collect()
}

fn exponents(target: &'static str, results: &[Row]) -> Exponents {
    let of = |y: fn(&Row) -> Option<f64>| slope(&points(target, results, y));
    Exponents {
        target,
        gradients: of(|row| Some(row.gradients as f64)),
        without_logarithm: of(|row| Some(row.ratio * row.kappa.sqrt())),
        plain: of(|row| row.plain.map(|count| count as f64)),
    }
}

fn panel(target: &str, results: &[Row]) -> Panel {
    let series = |name: &str, y: fn(&Row) -> Option<f64>| Series {
        name: name.to_owned(),
        points: points(target, results, y),
    };
    Panel {
        title: format!("Gradients until |x - x*| <= 1/sqrt(L): {target}"),
        x_label: "condition number".to_owned(),
        y_label: "gradients".to_owned(),
        series: vec![
            series("accelerated", |row| Some(row.gradients as f64)),
            series("bound", |row| Some(row.bound as f64)),
            series("paper's growth", |row| Some(row.growth)),
            series("plain descent", |row| row.plain.map(|count| count as f64)),
        ],
    }
}

fn text(document: &Document) -> String {
    let rows = document.results.iter().map(|row| {
        vec![
            row.target.to_owned(),
            short(Some(row.kappa)),
            row.gradients.to_string(),
            row.bound.to_string(),
            short(Some(row.growth)),
            short(Some(row.ratio)),
            row.plain.map_or_else(|| "-".to_owned(), |count| count.to_string()),
            short(Some(row.distance)),
        ]
    });
    let fitted = document.exponents.iter().map(|e| {
        vec![e.target.to_owned(), short(e.gradients), short(e.without_logarithm), short(e.plain)]
    });
    let header = [
        "target",
        "kappa",
        "gradients",
        "bound",
        "sqrt(kappa) log(d kappa)",
        "ratio",
        "plain descent",
        "sqrt(L) distance",
    ];
    format!(
        "Gradients until |theta - theta*| <= 1/sqrt(L) is proved, from a distance of sqrt(d/m):\n{}\n\n\
         Fitted powers of kappa:\n{}",
        output::table(header, rows),
        output::table(["target", "gradients", "gradients / log(d kappa)", "plain descent"], fitted)
    )
}

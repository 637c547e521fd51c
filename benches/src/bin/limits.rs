//! The time of a step against its lower bounds:
//! `cargo run --release -p ridgewalk-benches --bin limits`.
//!
//! For logistic regressions of many shapes, dense and sparse, on one thread: a whole step of the
//! third-order kernel (noise, line integral, updates, checks) and, in the same run, lower bounds:
//! the two matrix products of an implementation by a library, one pass over the design, the normals
//! of the bare generator, and the slopes of all rows. Measurements take turns in rounds, and each
//! counts with its fastest round: on shared cores the others measure other processes.
//!
//! Then the growth of a step's time with n, d and C, with fitted exponents; two threads against
//! one; and a small problem against a plain implementation of Algorithm 1. Writes
//! docs/results/limits.csv, growth.csv and steps.csv.

use std::fmt::Write;
use std::time::{Duration, Instant};

use clap::Parser;
use rayon::ThreadPool;
use ridgewalk::coefficients::Parameters;
use ridgewalk::prelude::*;
use ridgewalk::sampler::{Ensemble, Symmetric, ThirdOrder};
use ridgewalk_benches::Failure;
use ridgewalk_benches::ceilings::{Ceilings, Entries, Shape};
use ridgewalk_benches::comparison::results;
use ridgewalk_benches::plain::PlainChain;

/// The time of a step against its lower bounds.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only shapes with at most this many rows.
    #[arg(long, default_value_t = 200_000)]
    rows: usize,
    /// Seconds for each shape.
    #[arg(long, default_value_t = 1.5)]
    seconds: f64,
    /// Only these parts.
    #[arg(long, value_delimiter = ',', default_values = ["limits", "growth", "steps"])]
    parts: Vec<String>,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

const ROWS: [usize; 3] = [500, 10_000, 200_000];
const COLUMNS: [usize; 3] = [10, 50, 200];
const CHAINS: [usize; 3] = [1, 8, 32];
/// The share of entries in sparse designs.
const SHARE: f64 = 0.01;
/// L of every kernel, about that of the data.
const SMOOTHNESS: f64 = 400.0;

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    for part in &arguments.parts {
        let (name, text) = match part.as_str() {
            "limits" => ("limits.csv", limits(&arguments)?),
            "growth" => ("growth.csv", growth(&arguments)?),
            "steps" => ("steps.csv", steps(&arguments)?),
            other => return Err(format!("no part `{other}`: need limits, growth or steps").into()),
        };
        if !arguments.dry {
            std::fs::write(results(name), text)?;
        }
    }
    Ok(())
}

/// The seconds of the fastest round of each call.
fn fastest(budget: f64, calls: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    const SHORTEST: Duration = Duration::from_micros(50);
    let mut counts = vec![1_u32; calls.len()];
    let mut least = vec![f64::INFINITY; calls.len()];
    let began = Instant::now();
    let mut rounds = 0;
    while rounds < 4 || began.elapsed().as_secs_f64() < budget {
        for ((call, count), least) in calls.iter_mut().zip(&mut counts).zip(&mut least) {
            let start = Instant::now();
            (0..*count).for_each(|_| call());
            let took = start.elapsed();
            if took < SHORTEST {
                *count *= 2;
            } else {
                *least = least.min(took.as_secs_f64() / f64::from(*count));
            }
        }
        rounds += 1;
    }
    least
}

fn pool(threads: usize) -> Result<ThreadPool, Failure> {
    Ok(rayon::ThreadPoolBuilder::new().num_threads(threads).build()?)
}

fn third_order() -> Result<ThirdOrder, Failure> {
    Ok(ThirdOrder::new(Parameters::new(0.6, 2.0, 0.4)?, SMOOTHNESS)?)
}

fn symmetric() -> Result<Symmetric, Failure> {
    Ok(Symmetric::new(Parameters::new(0.6, 2.0, 0.4)?, SMOOTHNESS)?)
}

fn ensemble<'a>(model: &'a Ridge<'_, Logistic>, chains: usize) -> Result<Ensemble<'a>, Failure> {
    Ok(Ensemble::new(model, 1, &vec![0.0; chains * model.dimension()], SMOOTHNESS)?)
}

/// One line for each shape.
fn limits(arguments: &Arguments) -> Result<String, Failure> {
    let mut text = String::from(
        "design,rows,columns,chains,step_us,products_us,reading_us,normals_us,slopes_us,products_per_step,limit_per_step\n",
    );
    println!(
        "{:<7} {:>7} {:>4} {:>3} {:>10} {:>10} {:>9} {:>8} {:>9}   products/step  limit/step",
        "", "n", "d", "C", "step µs", "products", "reading", "normals", "slopes"
    );
    let one = pool(1)?;
    for design in [Design::Dense, Design::Sparse] {
        for rows in ROWS.into_iter().filter(|rows| *rows <= arguments.rows) {
            for columns in COLUMNS {
                let shape = design.shape(rows, columns);
                let model = shape.model()?;
                for chains in CHAINS {
                    let us = one.install(|| step_and_bounds(arguments, &shape, &model, chains))?;
                    // The products include the pass over the design; the noise is added.
                    let limit = us[1].max(us[2]) + us[3];
                    let (products, all) = (us[1] / us[0], limit / us[0]);
                    let name = design.name();
                    println!(
                        "{name:<7} {rows:>7} {columns:>4} {chains:>3} {:>10.2} {:>10.2} {:>9.2} {:>8.2} {:>9.2} {products:>15.2} {all:>11.2}",
                        us[0], us[1], us[2], us[3], us[4]
                    );
                    writeln!(
                        text,
                        "{name},{rows},{columns},{chains},{:.2},{:.2},{:.2},{:.2},{:.2},{products:.3},{all:.3}",
                        us[0], us[1], us[2], us[3], us[4]
                    )?;
                }
            }
        }
    }
    Ok(text)
}

/// The kind of design.
#[derive(Debug, Clone, Copy)]
enum Design {
    Dense,
    Sparse,
}

impl Design {
    fn name(self) -> &'static str {
        match self {
            Self::Dense => "dense",
            Self::Sparse => "sparse",
        }
    }

    fn shape(self, rows: usize, columns: usize) -> Shape {
        match self {
            Self::Dense => Shape::dense(rows, columns),
            Self::Sparse => Shape::sparse(rows, columns, SHARE),
        }
    }
}

/// Microseconds of a step, of the products, of reading, of normals and of slopes.
fn step_and_bounds(
    arguments: &Arguments, shape: &Shape, model: &Ridge<'_, Logistic>, chains: usize,
) -> Result<Vec<f64>, Failure> {
    let kernel = third_order()?;
    let mut chain = ensemble(model, chains)?;
    let mut parts = [(); 4].map(|()| Ceilings::new(shape, chains));
    let [products, reading, normals, slopes] = &mut parts;
    products.products();
    slopes.products();
    let times = fastest(
        arguments.seconds,
        &mut [
            &mut || chain.advance(&kernel, 1),
            &mut || products.products(),
            &mut || reading.reading(),
            &mut || normals.normals(),
            &mut || slopes.slopes(),
        ],
    );
    Ok(times.iter().map(|t| 1e6 * t).collect())
}

/// Rows, columns and chains of the shapes along one of them.
type Series = (Design, &'static str, [[usize; 3]; 5]);

/// The shapes along which the growth is measured.
fn series() -> [Series; 5] {
    let rows = [2_000, 6_000, 20_000, 60_000, 200_000];
    let columns = [2_000, 4_000, 8_000, 16_000, 32_000];
    [
        (Design::Dense, "rows", rows.map(|n| [n, 50, 8])),
        (Design::Dense, "columns", [100, 200, 400, 800, 1600].map(|d| [4_000, d, 8])),
        (Design::Dense, "chains", [8, 16, 32, 64, 128].map(|c| [10_000, 50, c])),
        (Design::Sparse, "rows", rows.map(|n| [n, 200, 8])),
        (Design::Sparse, "columns", columns.map(|d| [2_000, d, 8])),
    ]
}

/// Times along each of n, d and C, and the exponents of powers fitted to them.
fn growth(arguments: &Arguments) -> Result<String, Failure> {
    let mut text = String::from("design,along,rows,columns,chains,step_us,exponent\n");
    let kernel = third_order()?;
    let one = pool(1)?;
    for (design, along, shapes) in series() {
        let mut times = Vec::new();
        for [rows, columns, chains] in shapes {
            let shape = design.shape(rows, columns);
            let model = shape.model()?;
            let seconds = one.install(|| -> Result<f64, Failure> {
                let mut chain = ensemble(&model, chains)?;
                Ok(fastest(arguments.seconds, &mut [&mut || chain.advance(&kernel, 1)])[0])
            })?;
            times.push(seconds);
        }
        // The entry that grows.
        let varied = (0..3).find(|&k| shapes[0][k] != shapes[1][k]).unwrap_or(0);
        let exponent = exponent(&shapes.map(|shape| shape[varied] as f64), &times);
        let design = design.name();
        println!("{design}, along {along}: exponent {exponent:.3}");
        for ([rows, columns, chains], time) in shapes.iter().zip(&times) {
            println!("  {rows:>7} x {columns:>5}, {chains:>3} chains: {:>12.1} µs", 1e6 * time);
            writeln!(
                text,
                "{design},{along},{rows},{columns},{chains},{:.2},{exponent:.3}",
                1e6 * time
            )?;
        }
    }
    Ok(text)
}

/// The slope of the logarithms, by least squares.
fn exponent(sizes: &[f64], times: &[f64]) -> f64 {
    let logs = |list: &[f64]| -> Vec<f64> { list.iter().map(|x| x.ln()).collect() };
    let (x, y) = (logs(sizes), logs(times));
    let mean = |list: &[f64]| list.iter().sum::<f64>() / list.len() as f64;
    let (mx, my) = (mean(&x), mean(&y));
    let covariance: f64 = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my)).sum();
    covariance / x.iter().map(|x| (x - mx).powi(2)).sum::<f64>()
}

/// Two threads against one, and a small problem against the plain implementation.
fn steps(arguments: &Arguments) -> Result<String, Failure> {
    let mut text = String::from("what,rows,columns,chains,us,beside_us,ratio\n");
    two_threads(arguments, &mut text)?;
    against_plain(arguments, &mut text)?;
    Ok(text)
}

/// Prints and writes a row: two times and their ratio.
fn report(
    text: &mut String, what: &str, shape: &Shape, chains: usize, [fast, slow]: [f64; 2],
) -> Result<(), Failure> {
    let (fast, slow) = (1e6 * fast, 1e6 * slow);
    let Shape { rows, columns, .. } = *shape;
    println!(
        "{what}: {rows} x {columns}, {chains} chains: {fast:.1} µs, {slow:.1} µs: {:.2}",
        slow / fast
    );
    writeln!(text, "{what},{rows},{columns},{chains},{fast:.2},{slow:.2},{:.2}", slow / fast)?;
    Ok(())
}

fn two_threads(arguments: &Arguments, text: &mut String) -> Result<(), Failure> {
    let kernel = third_order()?;
    let (one, two) = (pool(1)?, pool(2)?);
    for (rows, columns, chains) in
        [(200_000, 10, 8), (200_000, 50, 1), (200_000, 50, 8), (200_000, 50, 32), (200_000, 200, 8)]
    {
        if rows > arguments.rows {
            continue;
        }
        let shape = Shape::dense(rows, columns);
        let model = shape.model()?;
        let mut single = one.install(|| ensemble(&model, chains))?;
        let mut double = two.install(|| ensemble(&model, chains))?;
        let times = fastest(
            2.0 * arguments.seconds,
            &mut [&mut || two.install(|| double.advance(&kernel, 1)), &mut || {
                one.install(|| single.advance(&kernel, 1))
            }],
        );
        report(text, "two threads beside one", &shape, chains, [times[0], times[1]])?;
    }
    Ok(())
}

fn against_plain(arguments: &Arguments, text: &mut String) -> Result<(), Failure> {
    let kernels: [(&str, Box<dyn Kernel>); 2] =
        [("third-order", Box::new(third_order()?)), ("symmetric", Box::new(symmetric()?))];
    let one = pool(1)?;
    let shape = Shape::dense(500, 10);
    let model = shape.model()?;
    let Entries::Dense(values) = &shape.entries else { return Err("a dense shape".into()) };
    for chains in [1_u32, 8, 32] {
        for (name, kernel) in &kernels {
            let mut ours = one.install(|| ensemble(&model, chains as usize))?;
            let parameters = Parameters::new(0.6, 2.0, 0.4)?;
            let mut plain =
                PlainChain::new(values, shape.responses(), 2.5, parameters, SMOOTHNESS, 1)?;
            let times = one.install(|| {
                fastest(
                    arguments.seconds,
                    &mut [&mut || ours.advance(&**kernel, 1), &mut || plain.step()],
                )
            });
            // The plain implementation advances its chains one after the other.
            let times = [times[0], f64::from(chains) * times[1]];
            report(text, &format!("{name} beside plain"), &shape, chains as usize, times)?;
        }
    }
    Ok(())
}

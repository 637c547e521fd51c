//! Steps beside what bounds them: `cargo run --release -p ridgewalk-benches --bin limits`.
//!
//! For logistic regressions of many shapes, dense and sparse, on one thread: a whole step of the
//! third-order kernel (noise, line integral, updates, checks) and, in the same run, its ceilings:
//! the two matrix products that an implementation by a library would make, one reading of the
//! design, the bare generator's normals, and the slopes of all rows. Measurements take turns, round
//! after round, and each counts with its fastest round: on shared cores the others measure who else
//! is there.
//!
//! Then how a step's time grows with n, d and C, with fitted exponents; two threads beside one; and
//! a small problem beside Algorithm 1 written down plainly. Writes docs/results/limits.csv,
//! growth.csv and steps.csv.

use std::fmt::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use clap::Parser;
use rayon::ThreadPool;
use ridgewalk::prelude::*;
use ridgewalk_benches::Failure;
use ridgewalk_benches::ceilings::{Ceilings, Entries, Shape};
use ridgewalk_benches::plain::PlainChain;

/// Steps beside what bounds them.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only shapes with at most so many rows.
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
/// L of every kernel: of the size of the data's.
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
            std::fs::write(
                Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(name),
                text,
            )?;
        }
    }
    Ok(())
}

/// Seconds of the fastest round of each.
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
    let kernel = third_order()?;
    let one = pool(1)?;
    for design in ["dense", "sparse"] {
        for rows in ROWS.into_iter().filter(|rows| *rows <= arguments.rows) {
            for columns in COLUMNS {
                let shape = match design {
                    "dense" => Shape::dense(rows, columns),
                    _ => Shape::sparse(rows, columns, SHARE),
                };
                let model = shape.model()?;
                for chains in CHAINS {
                    let times = one.install(|| -> Result<Vec<f64>, Failure> {
                        let mut chain = ensemble(&model, chains)?;
                        let mut parts = [(); 4].map(|()| Ceilings::new(&shape, chains));
                        let [products, reading, normals, slopes] = &mut parts;
                        products.products();
                        slopes.products();
                        Ok(fastest(
                            arguments.seconds,
                            &mut [
                                &mut || chain.advance(&kernel, 1),
                                &mut || products.products(),
                                &mut || reading.reading(),
                                &mut || normals.normals(),
                                &mut || slopes.slopes(),
                            ],
                        ))
                    })?;
                    let us: Vec<f64> = times.iter().map(|t| 1e6 * t).collect();
                    // Whoever makes the products reads the design on the way; the noise comes on
                    // top.
                    let limit = us[1].max(us[2]) + us[3];
                    let (products, all) = (us[1] / us[0], limit / us[0]);
                    println!(
                        "{design:<7} {rows:>7} {columns:>4} {chains:>3} {:>10.2} {:>10.2} {:>9.2} {:>8.2} {:>9.2} {products:>15.2} {all:>11.2}",
                        us[0], us[1], us[2], us[3], us[4]
                    );
                    writeln!(
                        text,
                        "{design},{rows},{columns},{chains},{:.2},{:.2},{:.2},{:.2},{:.2},{products:.3},{all:.3}",
                        us[0], us[1], us[2], us[3], us[4]
                    )?;
                }
            }
        }
    }
    Ok(text)
}

/// Times along each of n, d and C, and the exponents of powers fitted to them.
fn growth(arguments: &Arguments) -> Result<String, Failure> {
    let mut text = String::from("design,along,rows,columns,chains,step_us,exponent\n");
    let kernel = third_order()?;
    let one = pool(1)?;
    let dense = |rows, columns| Shape::dense(rows, columns);
    let sparse = |rows, columns| Shape::sparse(rows, columns, SHARE);
    type Make<'a> = &'a dyn Fn(usize, usize) -> Shape;
    let series: [(&str, &str, Make<'_>, Vec<[usize; 3]>); 5] = [
        (
            "dense",
            "rows",
            &dense,
            [2_000, 6_000, 20_000, 60_000, 200_000].map(|n| [n, 50, 8]).to_vec(),
        ),
        ("dense", "columns", &dense, [100, 200, 400, 800, 1600].map(|d| [4_000, d, 8]).to_vec()),
        ("dense", "chains", &dense, [8, 16, 32, 64, 128].map(|c| [10_000, 50, c]).to_vec()),
        (
            "sparse",
            "rows",
            &sparse,
            [2_000, 6_000, 20_000, 60_000, 200_000].map(|n| [n, 200, 8]).to_vec(),
        ),
        (
            "sparse",
            "columns",
            &sparse,
            [2_000, 4_000, 8_000, 16_000, 32_000].map(|d| [2_000, d, 8]).to_vec(),
        ),
    ];
    for (design, along, make, shapes) in series {
        let mut times = Vec::new();
        for &[rows, columns, chains] in &shapes {
            let shape = make(rows, columns);
            let model = shape.model()?;
            let seconds = one.install(|| -> Result<f64, Failure> {
                let mut chain = ensemble(&model, chains)?;
                Ok(fastest(arguments.seconds, &mut [&mut || chain.advance(&kernel, 1)])[0])
            })?;
            times.push(seconds);
        }
        let sizes: Vec<f64> = shapes
            .iter()
            .map(|shape| {
                shape[match along {
                    "rows" => 0,
                    "columns" => 1,
                    _ => 2,
                }] as f64
            })
            .collect();
        let exponent = exponent(&sizes, &times);
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

/// Two threads beside one, and a small problem beside the plain implementation.
fn steps(arguments: &Arguments) -> Result<String, Failure> {
    let mut text = String::from("what,rows,columns,chains,us,beside_us,ratio\n");
    let mut tell = |what: &str,
                    shape: &Shape,
                    chains: usize,
                    times: &[f64]|
     -> Result<(), Failure> {
        let (fast, slow) = (1e6 * times[0], 1e6 * times[1]);
        let Shape { rows, columns, .. } = *shape;
        println!(
            "{what}: {rows} x {columns}, {chains} chains: {fast:.1} µs, {slow:.1} µs: {:.2}",
            slow / fast
        );
        writeln!(text, "{what},{rows},{columns},{chains},{fast:.2},{slow:.2},{:.2}", slow / fast)?;
        Ok(())
    };
    let kernels: [(&str, Box<dyn Kernel>); 2] =
        [("third-order", Box::new(third_order()?)), ("symmetric", Box::new(symmetric()?))];
    let (one, two) = (pool(1)?, pool(2)?);
    for (rows, columns, chains) in
        [(200_000, 10, 8), (200_000, 50, 1), (200_000, 50, 8), (200_000, 50, 32), (200_000, 200, 8)]
    {
        if rows > arguments.rows {
            continue;
        }
        let shape = Shape::dense(rows, columns);
        let model = shape.model()?;
        let mut both =
            [one.install(|| ensemble(&model, chains))?, two.install(|| ensemble(&model, chains))?];
        let [single, double] = &mut both;
        let kernel = &*kernels[0].1;
        let times = fastest(
            2.0 * arguments.seconds,
            &mut [&mut || two.install(|| double.advance(kernel, 1)), &mut || {
                one.install(|| single.advance(kernel, 1))
            }],
        );
        tell("two threads beside one", &shape, chains, &times)?;
    }
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
            // The plain one takes its chains one after the other.
            let times = [times[0], f64::from(chains) * times[1]];
            tell(&format!("{name} beside plain"), &shape, chains as usize, &times)?;
        }
    }
    Ok(text)
}

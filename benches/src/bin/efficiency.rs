//! Effective draws a gradient and a second, ours beside nuts-rs: `cargo run --profile checks -p ridgewalk-benches --bin efficiency [NAME ...]`.
//!
//! Six targets of the gallery; ridgewalk with its automatic warm-up, 8 chains of 1000 draws, and nuts-rs with every setting of
//! [`Setting::ALL`], 4 chains of 1000 draws after its own warm-up. E is the smallest, over coordinates, of the effective sample sizes of θ
//! and of (θ − mean)². Gradients are those of all chains, and for ours of the confirmation of the bias too; for nuts-rs a call of the
//! log-density is one, the value in it is free, and whitening costs it what the mode and the Hessian cost us. Seconds are those of one core, of a process with one thread. Every figure is a median
//! over seeds. Writes docs/results/efficiency.csv and prints the table.
//!
//! The smallest of many noisy effective sample sizes is the smaller the fewer the draws: by a tenth or so for 4 chains beside 8
//! (`--peer-chains 8` tells). A core's seconds favour batches: ours compute 8 chains at once, nuts-rs asks for one point at a time.

use std::fmt::Write;
use std::path::Path;

use clap::Parser;
use ridgewalk::diagnostics::summaries_of_table;
use ridgewalk::prelude::Memory;
use ridgewalk::sampler::automatic::{Length, Target, WarmUp};
use ridgewalk_benches::Failure;
use ridgewalk_benches::clock::Stopwatch;
use ridgewalk_benches::peers::{self, Cost, Setting};
use ridgewalk_benches::problems::{LadderProblem, Problem};
use ridgewalk_gallery::{self as gallery, Reference};

/// Effective draws a gradient and a second, ours beside nuts-rs.
#[derive(Debug, Parser)]
struct Arguments {
    /// Targets; all six where none is named.
    names: Vec<String>,
    /// How many seeds, from 1 on.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Chains of nuts-rs.
    #[arg(long, default_value_t = 4)]
    peer_chains: u64,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

const NAMES: [&str; 6] = ["correlated-logistic", "breast-cancer", "poisson", "probit", "huber", "ladder"];
const DRAWS: u64 = 1000;

/// What the table tells of a run, in the order of its columns.
const COLUMNS: [&str; 11] = [
    "ess",
    "gradients",
    "ess_per_gradient",
    "warm_up_gradients",
    "ess_per_gradient_with_warm_up",
    "ess_per_second",
    "ess_per_second_with_warm_up",
    "mean_error_sd",
    "sd_error_percent",
    "rhat",
    "divergences",
];
type Figures = [f64; COLUMNS.len()];

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    pool.install(|| compare(&arguments))
}

fn compare(arguments: &Arguments) -> Result<(), Failure> {
    let all = NAMES.map(String::from);
    let names = if arguments.names.is_empty() { &all[..] } else { &arguments.names[..] };
    let mut text = format!("target,sampler,{}\n", COLUMNS.join(","));
    for name in names {
        let reference = gallery::reference(name).map_err(|error| error.to_string())?;
        let rows = match name.as_str() {
            "correlated-logistic" => rows(gallery::correlated_logistic(), &reference, arguments)?,
            "breast-cancer" => rows(gallery::breast_cancer(), &reference, arguments)?,
            "poisson" => rows(gallery::poisson(), &reference, arguments)?,
            "probit" => rows(gallery::probit(), &reference, arguments)?,
            "huber" => rows(gallery::huber(), &reference, arguments)?,
            "ladder" => rows(LadderProblem::new(), &reference, arguments)?,
            other => return Err(format!("no target `{other}`: need one of {}", NAMES.join(", ")).into()),
        };
        print(name, &rows);
        for (sampler, figures) in rows {
            // Writing to a string does not fail.
            let _ = write!(text, "{name},{sampler}");
            figures.iter().for_each(|x| _ = write!(text, ",{}", short(*x)));
            text.push('\n');
        }
    }
    if !arguments.dry {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results/efficiency.csv");
        std::fs::write(path, text)?;
    }
    Ok(())
}

/// Four digits.
fn short(x: f64) -> String {
    if x.abs() >= 1000.0 { format!("{x:.0}") } else { format!("{x:.4}") }
}

fn print(name: &str, rows: &[(&'static str, Figures)]) {
    println!("{name}");
    println!(
        "{:<30} {:>7} {:>9} {:>8} {:>9} {:>8} {:>9} {:>9} {:>8} {:>7} {:>7} {:>5}",
        "", "E", "grads", "E/grad", "warm-up", "E/all", "E/s", "E/s all", "mean/sd", "sd %", "R-hat", "div"
    );
    for (sampler, f) in rows {
        println!(
            "{sampler:<30} {:>7.0} {:>9.0} {:>8.4} {:>9.0} {:>8.4} {:>9.0} {:>9.0} {:>8.3} {:>7.2} {:>7.4} {:>5.0}",
            f[0], f[1], f[2], f[3], f[4], f[5], f[6], f[7], f[8], f[9], f[10]
        );
    }
    println!();
}

/// One row for each sampler: medians over seeds.
fn rows<P: Problem, E: std::fmt::Display>(
    problem: Result<P, E>,
    reference: &Reference,
    arguments: &Arguments,
) -> Result<Vec<(&'static str, Figures)>, Failure> {
    let problem = problem.map_err(|error| error.to_string())?;
    let Arguments { seeds, peer_chains, .. } = *arguments;
    let mut rows = vec![("ridgewalk", over_seeds(seeds, |seed| ours(&problem, reference, seed))?)];
    for setting in Setting::ALL {
        rows.push((
            setting.name(),
            over_seeds(seeds, |seed| theirs(&problem, setting, peer_chains, reference, seed))?,
        ));
    }
    Ok(rows)
}

fn over_seeds(seeds: u64, run: impl Fn(u64) -> Result<Figures, Failure>) -> Result<Figures, Failure> {
    let runs: Result<Vec<Figures>, Failure> = (1..=seeds).map(run).collect();
    let runs = runs?;
    let mut medians = [f64::NAN; COLUMNS.len()];
    for (k, median) in medians.iter_mut().enumerate() {
        let mut column: Vec<f64> = runs.iter().map(|figures| figures[k]).collect();
        column.sort_by(f64::total_cmp);
        let middle = column.len() / 2;
        *median = match column.len() {
            0 => f64::NAN,
            n if n % 2 == 1 => column[middle],
            _ => 0.5 * (column[middle - 1] + column[middle]),
        };
    }
    Ok(medians)
}

fn ours<P: Problem>(problem: &P, reference: &Reference, seed: u64) -> Result<Figures, Failure> {
    let watch = Stopwatch::start();
    let warm = WarmUp::new(problem.target()).seed(seed).run()?;
    let warm_up = Cost { gradients: warm.gradients, seconds: watch.seconds() };
    let mut draws = Memory::default();
    let watch = Stopwatch::start();
    let sampled = warm.run(Length::Draws(DRAWS)).keep(&mut draws)?;
    let sampling = Cost { gradients: sampled.gradients(), seconds: watch.seconds() };
    if !sampled.outcome.complete() {
        return Err(format!("seed {seed}: a chain did not finish").into());
    }
    if !sampled.within_tolerance {
        return Err(format!("seed {seed}: not within the tolerance").into());
    }
    figures(&draws.tables(), problem.target().dimension(), reference, warm_up, sampling, 0)
}

fn theirs<P: Problem>(
    problem: &P,
    setting: Setting,
    chains: u64,
    reference: &Reference,
    seed: u64,
) -> Result<Figures, Failure> {
    let run = peers::run(problem, setting, chains, DRAWS, seed)?;
    let tables: Vec<&[f64]> = run.draws.iter().map(Vec::as_slice).collect();
    let dimension = problem.target().dimension();
    figures(&tables, dimension, reference, run.warm_up, run.sampling, run.divergences)
}

fn figures(
    tables: &[&[f64]],
    dimension: usize,
    reference: &Reference,
    warm_up: Cost,
    sampling: Cost,
    divergences: u64,
) -> Result<Figures, Failure> {
    let summaries = summaries_of_table(tables, dimension)?;
    let ess = summaries.iter().map(|s| s.ess_moments()).fold(f64::NAN, f64::min);
    let largest = |list: &mut dyn Iterator<Item = f64>| list.fold(f64::NAN, f64::max);
    let pairs = || summaries.iter().enumerate();
    let mean_error =
        largest(&mut pairs().map(|(k, s)| (s.mean - reference.means[k]).abs() / reference.sds[k]));
    let sd_error = largest(&mut pairs().map(|(k, s)| (s.sd / reference.sds[k] - 1.0).abs()));
    Ok([
        ess,
        sampling.gradients as f64,
        ess / sampling.gradients as f64,
        warm_up.gradients as f64,
        ess / (warm_up.gradients + sampling.gradients) as f64,
        ess / sampling.seconds,
        ess / (warm_up.seconds + sampling.seconds),
        mean_error,
        100.0 * sd_error,
        largest(&mut summaries.iter().map(|s| s.rhat)),
        divergences as f64,
    ])
}

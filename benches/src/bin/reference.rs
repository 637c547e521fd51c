//! Long runs of nuts-rs that give the references of the gallery:
//! `cargo run --profile checks -p ridgewalk-benches --bin reference [NAME ...]`.
//!
//! Writes crates/gallery/data/NAME.csv for every target but two: `ladder` is known exactly, and the
//! reference of `breast-cancer` comes from another sampler. The latter is compared with the run
//! instead, which checks our use of nuts-rs. With `--law` it writes NAME-law.csv with quantiles and
//! correlations, and NAME-draws.csv with widely spaced draws.

use std::fmt::Write;
use std::path::Path;

use clap::Parser;
use ridgewalk::diagnostics::{Summary, mcse_mean, mcse_quantile, quantile, summaries_of_table};
use ridgewalk_benches::Failure;
use ridgewalk_benches::peers::{Setting, VERSION, run};
use ridgewalk_benches::problems::{Density, Problem, Visit, on};
use ridgewalk_benches::runs::Run;
use ridgewalk_gallery as gallery;

/// Long runs of nuts-rs that give the references of the gallery.
#[derive(Debug, Parser)]
struct Arguments {
    /// Targets; by default all but the ladder.
    names: Vec<String>,
    /// Chains for each target.
    #[arg(long, default_value_t = 4)]
    chains: u64,
    /// Draws of each chain.
    #[arg(long, default_value_t = 100_000)]
    draws: u64,
    /// The seed; chains use different streams of it.
    #[arg(long, default_value_t = 20_260_101)]
    seed: u64,
    /// Use the integrator that is exact on a standard normal.
    #[arg(long)]
    exact_normal: bool,
    /// Write quantiles, correlations and some draws instead of means and standard deviations.
    #[arg(long)]
    law: bool,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

/// The number of draws kept with `--law`.
const KEPT: usize = 800;

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let all: Vec<String> = gallery::NAMES
        .iter()
        .filter(|name| **name != "ladder")
        .map(|name| (*name).to_string())
        .collect();
    let names = if arguments.names.is_empty() { &all } else { &arguments.names };
    for name in names {
        let (run, dimension) = on(name, Sample(&arguments))?;
        let tables: Vec<&[f64]> = run.draws.iter().map(Vec::as_slice).collect();
        let summaries = summaries_of_table(&tables, dimension)?;
        let head = head(name, &arguments, &run, &summaries);
        print!("{name}\n{head}");
        let seconds = run.warm_up.seconds + run.sampling.seconds;
        println!("{seconds:.0} core seconds, {} gradients\n", run.sampling.gradients);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/gallery/data");
        if arguments.law {
            let (law, draws) =
                (head.clone() + &law(&tables, &summaries)?, head + &some(&tables, dimension));
            if !arguments.dry {
                std::fs::write(folder.join(format!("{name}-law.csv")), law)?;
                std::fs::write(folder.join(format!("{name}-draws.csv")), draws)?;
            }
        } else if name == "breast-cancer" {
            compare(&summaries)?;
        } else if !arguments.dry {
            std::fs::write(folder.join(format!("{name}.csv")), head + &table(&summaries))?;
        }
    }
    Ok(())
}

/// Makes a long run and returns it with the dimension.
struct Sample<'a>(&'a Arguments);

impl Visit for Sample<'_> {
    type Output = (Run, usize);

    fn visit<P: Problem>(self, problem: &P) -> Result<(Run, usize), Failure> {
        let Arguments { chains, draws, seed, exact_normal, .. } = *self.0;
        let setting = if exact_normal { Setting::WhitenedExactNormal } else { Setting::Whitened };
        Ok((run(problem, setting, chains, draws, seed)?, problem.plain().dimension()))
    }
}

/// The smallest or largest value of a figure over all coordinates.
fn extreme(
    summaries: &[Summary], of: impl Fn(&Summary) -> f64, choose: fn(f64, f64) -> f64,
) -> f64 {
    summaries.iter().map(of).fold(f64::NAN, choose)
}

/// How the reference was computed, in lines that begin with #.
fn head(name: &str, arguments: &Arguments, run: &Run, summaries: &[Summary]) -> String {
    let Arguments { chains, draws, seed, exact_normal, .. } = arguments;
    let (flag, more) = if *exact_normal {
        ("--exact-normal ", ", the integrator exact on a standard normal")
    } else {
        ("", "")
    };
    let law = if arguments.law { "--law " } else { "" };
    format!(
        "# cargo run --profile checks -p ridgewalk-benches --bin reference -- --chains {chains} --draws {draws} --seed {seed} {law}{flag}{name}\n\
         # nuts-rs {VERSION}, NUTS with its defaults (diagonal metric, 400 draws of warm-up{more}) on the target whitened by the Hessian at the mode.\n\
         # {chains} chains of {draws} draws, seed {seed}, streams 0 to {}; {} divergences.\n\
         # Smallest ESS: {:.0} of means, {:.0} of squares; largest MCSE of a mean: {:.5} sd; largest R-hat: {:.6}.\n",
        chains - 1,
        run.divergences,
        extreme(summaries, |s| s.ess_mean, f64::min),
        extreme(summaries, |s| s.ess_sd, f64::min),
        extreme(summaries, |s| s.mcse_mean / s.sd, f64::max),
        extreme(summaries, |s| s.rhat, f64::max),
    )
}

fn table(summaries: &[Summary]) -> String {
    let mut text = String::from("name,mean,sd,mcse_mean,mcse_sd\n");
    for (k, s) in summaries.iter().enumerate() {
        let name = if k == 0 { "(Intercept)".to_string() } else { format!("x{k}") };
        // Writing to a string does not fail.
        let _ = writeln!(text, "{name},{},{},{},{}", s.mean, s.sd, s.mcse_mean, s.mcse_sd);
    }
    text
}

/// Quantiles of each coordinate, then the mean products of standardised coordinates, each with its
/// Monte Carlo standard error.
fn law(tables: &[&[f64]], summaries: &[Summary]) -> Result<String, Failure> {
    let d = summaries.len();
    let mut text = String::from("what,first,second,value,error\n");
    for k in 0..d {
        let traces: Vec<Vec<f64>> =
            tables.iter().map(|table| table.iter().skip(k).step_by(d).copied().collect()).collect();
        let traces: Vec<&[f64]> = traces.iter().map(Vec::as_slice).collect();
        for p in gallery::PROBABILITIES {
            let (value, error) = (quantile(&traces, p)?, mcse_quantile(&traces, p)?);
            let _ = writeln!(text, "quantile,{k},{p},{value:.7},{error:.2e}");
        }
    }
    for (i, j) in (0..d).flat_map(|i| (0..=i).map(move |j| (i, j))) {
        let score = |x: f64, k: usize| (x - summaries[k].mean) / summaries[k].sd;
        let of = |table: &&[f64]| -> Vec<f64> {
            table.chunks_exact(d).map(|x| score(x[i], i) * score(x[j], j)).collect()
        };
        let traces: Vec<Vec<f64>> = tables.iter().map(of).collect();
        let count: usize = traces.iter().map(Vec::len).sum();
        let value = traces.iter().flatten().sum::<f64>() / count as f64;
        let error = mcse_mean(&traces.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let _ = writeln!(text, "product,{i},{j},{value:.5},{error:.2e}");
    }
    Ok(text)
}

/// Equally spaced draws, the same number from each chain.
fn some(tables: &[&[f64]], dimension: usize) -> String {
    let mut text = String::new();
    for table in tables {
        let apart = (table.len() / dimension * tables.len() / KEPT).max(1);
        for point in table.chunks_exact(dimension).skip(apart - 1).step_by(apart) {
            let cells: Vec<String> = point.iter().map(|x| format!("{x:.4}")).collect();
            let _ = writeln!(text, "{}", cells.join(","));
        }
    }
    text
}

/// Prints the differences from the stored reference, in joint standard errors.
fn compare(summaries: &[Summary]) -> Result<(), Failure> {
    let stored = gallery::reference("breast-cancer").map_err(|error| error.to_string())?;
    println!("coordinate: mean and sd less the stored ones, in standard errors of the difference");
    let (mut of_means, mut of_sds) = (Vec::new(), Vec::new());
    for (k, s) in summaries.iter().enumerate() {
        of_means.push((s.mean - stored.means[k]) / s.mcse_mean.hypot(stored.mean_errors[k]));
        of_sds.push((s.sd - stored.sds[k]) / s.mcse_sd.hypot(stored.sd_errors[k]));
        println!("{k:3} {:6.2} {:6.2}", of_means[k], of_sds[k]);
    }
    for (what, list) in [("means", of_means), ("sds", of_sds)] {
        let square = list.iter().map(|z| z * z).sum::<f64>() / list.len() as f64;
        let largest = list.iter().fold(0.0_f64, |most, z| most.max(z.abs()));
        println!("{what}: largest {largest:.2}, root mean square {:.2}", square.sqrt());
    }
    Ok(())
}

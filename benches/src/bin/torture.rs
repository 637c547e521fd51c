//! The torture set with the library's defaults: how many runs are wrong without a warning?
//! `cargo run --release -p ridgewalk-benches --bin torture`.
//!
//! Each case runs with the seeds 1 to 20. Means, standard deviations and the 5, 50 and 95 %
//! quantiles of every coefficient are compared with the references; an estimate is off if it
//! differs by more than 5 joint standard errors plus 0.01 standard deviations. Writes
//! docs/results/torture.csv, one line for each case. Fails if a run is wrong without a warning.
//! `--tolerance` and `--kernel` choose another sampler, and `--name` another file. Results do not
//! depend on the number of threads.
//!
//! With `--file`, fits a data file instead, with the same settings as the program, and prints how
//! the seeds differ.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use ridgewalk::Settings;
use ridgewalk::frame::{FamilyName, Table};
use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk::pipeline::KernelChoice;
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::results;
use ridgewalk_benches::torture::table::{fits, largest_difference, mean_sds, spread};
use ridgewalk_benches::torture::tally::{HEADER, Tally};
use ridgewalk_benches::torture::{Attempt, Plan, Verdict, attempts};
use ridgewalk_gallery::{Torture, torture};

/// The torture set with the library's defaults, or one data file with several seeds.
#[derive(Debug, Parser)]
struct Arguments {
    /// Seeds of each case, from 1 on.
    #[arg(long, default_value_t = 20)]
    seeds: u64,
    /// Only cases with this name or, if there is none, with this in their names.
    #[arg(long)]
    only: Vec<String>,
    /// The number of chains.
    #[arg(long, default_value_t = 8)]
    chains: usize,
    /// Draws of each chain.
    #[arg(long, default_value_t = 1000)]
    draws: u64,
    /// The bias that the warm-up allows, in standard deviations; by default the library's.
    #[arg(long)]
    tolerance: Option<f64>,
    /// The kernel; by default the warm-up chooses one.
    #[arg(long)]
    kernel: Option<String>,
    /// The name of the file written.
    #[arg(long, default_value = "torture")]
    name: String,
    /// Runs at a time; by default one for each core.
    #[arg(long)]
    threads: Option<usize>,
    /// Only print.
    #[arg(long)]
    dry: bool,
    /// A data file (CSV) to fit instead of the torture set.
    #[arg(long, requires = "response")]
    file: Option<PathBuf>,
    /// With a file: the response column.
    #[arg(long)]
    response: Option<String>,
    /// With a file: the family.
    #[arg(long, default_value = "logistic")]
    family: String,
    /// With a file: centre predictors and divide them by their standard deviation.
    #[arg(long)]
    standardize: bool,
    /// With a file: the scale of all priors.
    #[arg(long, default_value_t = 2.5)]
    prior_scale: f64,
    /// With a file: known standard deviations of the coefficients, to compare with.
    #[arg(long, value_delimiter = ',')]
    sds: Vec<f64>,
}

fn main() -> Result<ExitCode, Failure> {
    let arguments = Arguments::parse();
    match &arguments.file {
        Some(path) => on_file(&arguments, &Table::read(path)?),
        None => on_set(&arguments),
    }
}

fn on_set(arguments: &Arguments) -> Result<ExitCode, Failure> {
    let kernel = match arguments.kernel.as_deref() {
        Some(name) => {
            let mut all = KernelKind::ALL.into_iter().chain([KernelKind::Adjusted]);
            let found = all.find(|kernel| kernel.name() == name);
            Some(found.ok_or_else(|| format!("no kernel `{name}`"))?)
        }
        None => None,
    };
    let Arguments { chains, draws, tolerance, seeds, .. } = *arguments;
    let plan = Plan { chains, draws, tolerance, kernel };
    let cases = cases(&arguments.only)?;
    let threads = match arguments.threads {
        Some(threads) => threads,
        None => std::thread::available_parallelism()?.get(),
    };
    let all = cases.len() as u64 * seeds;
    let made = attempts(&cases, &plan, seeds, threads, |done, case, made| {
        tell(done, all, case, made);
    })?;
    let mut csv = HEADER.to_owned();
    let mut totals = [0; Verdict::ALL.len()];
    for (case, made) in cases.iter().zip(&made) {
        let tally = Tally::new(made);
        totals.iter_mut().zip(tally.counts).for_each(|(sum, count)| *sum += count);
        csv += &tally.line(case);
    }
    print!("{csv}");
    for (verdict, count) in Verdict::ALL.into_iter().zip(totals) {
        println!("{}: {count} of {all}", verdict.name());
    }
    if !arguments.dry {
        std::fs::write(results(&format!("{}.csv", arguments.name)), csv)?;
    }
    let silent = made.iter().flatten().any(|made| made.verdict == Verdict::SilentlyWrong);
    Ok(if silent { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// The cases with these names or parts of names; all if there are none.
fn cases(only: &[String]) -> Result<Vec<Torture>, Failure> {
    let mut all = torture().map_err(|error| error.to_string())?;
    let names: Vec<String> = all.iter().map(|case| case.name.clone()).collect();
    let fits = |name: &String, part: &String| {
        if names.contains(part) { name == part } else { name.contains(part) }
    };
    all.retain(|case| only.is_empty() || only.iter().any(|part| fits(&case.name, part)));
    Ok(all)
}

/// Prints runs that are not simply right, and how many are done.
fn tell(done: usize, all: u64, case: &Torture, made: &Attempt) {
    let place = format!("{done}/{all} {}, seed {}", case.name, made.seed);
    let worst = made.worst.map_or(String::new(), |worst| {
        let (coefficient, measure) = (worst.coefficient, worst.measure);
        format!("{measure} of {coefficient} off by {:.2} tolerances", worst.tolerances)
    });
    match made.verdict {
        Verdict::Right => {
            if done.is_multiple_of(100) {
                eprintln!("{place}");
            }
        }
        Verdict::FalseAlarm => eprintln!("{place}: right, but {}", made.warnings.join(", ")),
        Verdict::OffWithWarning => eprintln!("{place}: {worst}; {}", made.warnings.join(", ")),
        Verdict::SilentlyWrong => eprintln!("{place}: SILENTLY WRONG, {worst}"),
        Verdict::Refused => {
            eprintln!("{place}: refused, {}", made.refusal.as_deref().unwrap_or_default());
        }
    }
}

fn on_file(arguments: &Arguments, table: &Table) -> Result<ExitCode, Failure> {
    let family: FamilyName = arguments.family.parse()?;
    let response = arguments.response.as_deref().unwrap_or_default();
    let mut settings = Settings {
        chains: arguments.chains,
        draws: arguments.draws,
        standardize: arguments.standardize,
        prior_scale: Some(arguments.prior_scale),
        intercept_prior_scale: Some(arguments.prior_scale),
        threads: arguments.threads,
        ..Settings::new(response, family)
    };
    if let Some(tolerance) = arguments.tolerance {
        settings.bias_tolerance = Some(tolerance);
    }
    if let Some(name) = &arguments.kernel {
        settings.kernel = name.parse::<KernelChoice>()?;
    }
    let made = fits(table, &settings, arguments.seeds)?;
    let means = mean_sds(&made);
    println!("seed,ess_bulk,ess_tail,longest_repeat,thin,gradients,sd_difference,sds,status");
    let sds = if arguments.sds.is_empty() { &means } else { &arguments.sds };
    if sds.len() != means.len() {
        return Err(format!("--sds has {} numbers: need {}", sds.len(), means.len()).into());
    }
    for fit in &made {
        let numbers: Vec<String> = fit.sds.iter().map(|sd| format!("{sd:.4}")).collect();
        println!(
            "{},{:.0},{:.0},{},{},{},{:.4},{},{}",
            fit.seed,
            fit.ess_bulk,
            fit.ess_tail,
            fit.longest_repeat,
            fit.thin,
            fit.gradients,
            largest_difference(&fit.sds, sds),
            numbers.join(" "),
            fit.status.replace(", ", " "),
        );
    }
    let largest = made.iter().map(|fit| largest_difference(&fit.sds, sds)).fold(0.0, f64::max);
    let longest = made.iter().map(|fit| fit.longest_repeat).max().unwrap_or(0);
    println!(
        "bulk ESS differ by a factor of {:.2}, tail ESS by {:.2}; longest repeat {longest}; \
         sds off by up to {:.2} %",
        spread(made.iter().map(|fit| fit.ess_bulk)),
        spread(made.iter().map(|fit| fit.ess_tail)),
        100.0 * largest,
    );
    println!("mean sds: {}", means.iter().map(|x| format!("{x:.5}")).collect::<Vec<_>>().join(","));
    Ok(ExitCode::SUCCESS)
}

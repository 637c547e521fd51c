//! Simulation-based calibration of mixed models, with planted errors that it must detect:
//! `cargo run --release -p ridgewalk-benches --bin calibrate-groups`.
//!
//! Uses 500 data sets per model by default. Writes docs/results/calibration-groups.csv with every
//! test. Fails if the correct sampler is rejected, if a run ends with an error, or if a planted
//! error is not detected. Results do not depend on the number of threads.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use ridgewalk_benches::Failure;
use ridgewalk_benches::calibration::CELLS;
use ridgewalk_benches::calibration::families::FamilySize;
use ridgewalk_benches::calibration::groups::{
    GroupMisfit, GroupModel, GroupRanks, calibrate_groups,
};
use ridgewalk_benches::comparison::results;

/// Simulation-based calibration of mixed models, with planted errors.
#[derive(Debug, Parser)]
struct Arguments {
    /// Models; by default all. Planted errors of other models are left out.
    models: Vec<String>,
    /// Data sets of each model.
    #[arg(long, default_value_t = 500)]
    replications: u64,
    /// Rows of each data set.
    #[arg(long, default_value_t = 48)]
    rows: usize,
    /// Draws for a rank; one less than a multiple of 16.
    #[arg(long, default_value_t = 127)]
    draws: usize,
    /// The probability with which a correct sampler is rejected.
    #[arg(long, default_value_t = 0.01)]
    level: f64,
    /// The seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the correct posteriors, without planted errors.
    #[arg(long)]
    right: bool,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

/// Planted errors, each with the model that must detect it. 500 data sets find only large errors of
/// acceptance; `calibrate`, whose models have more data sets, finds one of 2 %.
const PLANTED: [(&str, GroupModel, GroupMisfit); 4] = [
    ("Jacobian of log sd twice", GroupModel::Logistic, GroupMisfit::JacobianTwice),
    ("prior rate x 2", GroupModel::LogisticCrossed, GroupMisfit::Rate(2.0)),
    ("Jacobian of log sd twice", GroupModel::PoissonCrossed, GroupMisfit::JacobianTwice),
    ("acceptance -30 %", GroupModel::PoissonCrossed, GroupMisfit::Acceptance(0.7)),
];

fn main() -> Result<ExitCode, Failure> {
    let arguments = Arguments::parse();
    let Arguments { rows, replications, draws, level, seed, .. } = arguments;
    if rows == 0 || replications == 0 || !(level > 0.0 && level < 1.0) {
        return Err("need at least a row and a replication, and a level between 0 and 1".into());
    }
    if !(draws + 1).is_multiple_of(CELLS) {
        return Err(format!("{draws} draws: need one less than a multiple of {CELLS}").into());
    }
    let size = FamilySize { rows, replications, draws };
    let models = models(&arguments.models)?;
    let tests: usize = models.iter().map(|model| model.quantities().len()).sum();
    let level = level / tests as f64;
    println!("each of {tests} tests at {level:.2e}");
    let right = models.iter().map(|model| ("right", *model, None));
    let planted = PLANTED.iter().filter(|(_, model, _)| models.contains(model));
    let planted = planted.map(|(name, model, misfit)| (*name, *model, Some(*misfit)));
    let planted = planted.filter(|_| !arguments.right);
    let mut csv = String::from("sampler,model,quantity,replications,chi_square,p\n");
    let mut good = true;
    for (name, model, misfit) in right.chain(planted) {
        let began = Instant::now();
        let outcome = calibrate_groups(model, misfit, size, seed);
        let least = report(&mut csv, name, model, &outcome)?;
        let verdict = if least < level { "fails" } else { "passes" };
        println!("    {verdict}, {:.0} s", began.elapsed().as_secs_f64());
        for (replication, error) in &outcome.failures {
            println!("    replication {replication}: {error}");
        }
        good &= (least < level) == misfit.is_some() && outcome.failures.is_empty();
    }
    if !arguments.dry {
        std::fs::write(results("calibration-groups.csv"), csv)?;
    }
    println!("{}", if good { "as expected" } else { "NOT AS EXPECTED" });
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn models(names: &[String]) -> Result<Vec<GroupModel>, Failure> {
    if names.is_empty() {
        return Ok(GroupModel::ALL.to_vec());
    }
    let known = |name: &String| {
        GroupModel::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            let all = GroupModel::ALL.map(GroupModel::name).join(", ");
            format!("no model `{name}`: need one of {all}").into()
        })
    };
    names.iter().map(known).collect()
}

/// Writes and prints the test of every quantity. Returns the smallest p-value.
fn report(
    csv: &mut String, sampler: &str, model: GroupModel, outcome: &GroupRanks,
) -> Result<f64, Failure> {
    println!("{sampler}, {}", model.name());
    let mut least = f64::INFINITY;
    for (quantity, ranks) in model.quantities().into_iter().zip(&outcome.ranks) {
        let [chi_square, p] = ranks.chi_square(CELLS)?;
        let (name, total) = (model.name(), ranks.total());
        // Writing to a string does not fail.
        let _ = writeln!(csv, "{sampler},{name},{quantity},{total},{chi_square:.2},{p:.2e}");
        println!("    {quantity:<36} {total:>6} {chi_square:>9.2} {p:>9.1e}");
        least = least.min(p);
    }
    Ok(least)
}

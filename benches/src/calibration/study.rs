//! A calibration study of several models by the exact automatic run, with planted errors: what
//! `calibrate-families` and `calibrate-groups` have in common.

use std::fmt::Write;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use rayon::prelude::*;

use super::CELLS;
use super::uniformity::Ranks;
use crate::Failure;
use crate::comparison::results;

/// A model of a study.
pub trait StudyModel: Copy + PartialEq + Sync + 'static {
    /// An error in the model or the sampler.
    type Misfit: Copy + Sync;

    /// All models.
    const ALL: &'static [Self];

    /// Its name.
    fn name(self) -> &'static str;

    /// What is ranked.
    fn quantities(self) -> Vec<&'static str>;

    /// One replication: the rank of each quantity among those of the draws. It depends on its
    /// number, the seed and the model alone.
    ///
    /// # Errors
    /// A run that ends with an error.
    fn replicate(
        self, misfit: Option<Self::Misfit>, size: StudySize, seed: u64, number: u64,
    ) -> Result<Vec<usize>, Failure>;
}

/// An error to be found in a model, by its name.
pub type Planted<M> = (&'static str, M, <M as StudyModel>::Misfit);

/// The size of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StudySize {
    /// Rows of each data set.
    pub rows: usize,
    /// The number of data sets.
    pub replications: u64,
    /// The number of draws for a rank.
    pub draws: usize,
}

/// Ranks of every quantity of a model.
#[derive(Debug, Clone)]
pub struct StudyRanks {
    /// For each of [`StudyModel::quantities`].
    pub ranks: Vec<Ranks>,
    /// Replications without draws, with the error.
    pub failures: Vec<(u64, String)>,
}

/// Calibrates a model. Any misfit is an error that must be detected.
#[must_use]
pub fn calibrate<M: StudyModel>(
    model: M, misfit: Option<M::Misfit>, size: StudySize, seed: u64,
) -> StudyRanks {
    let one = |number| model.replicate(misfit, size, seed, number);
    let made: Vec<Result<Vec<usize>, Failure>> =
        (0..size.replications).into_par_iter().map(one).collect();
    let ranks = vec![Ranks::new(size.draws + 1); model.quantities().len()];
    let mut all = StudyRanks { ranks, failures: Vec::new() };
    for (replication, made) in (0..).zip(made) {
        match made {
            Ok(ranks) => all.ranks.iter_mut().zip(ranks).for_each(|(all, rank)| all.push(rank)),
            Err(error) => all.failures.push((replication, error.to_string())),
        }
    }
    all
}

/// Simulation-based calibration, with planted errors.
#[derive(Debug, Parser)]
struct Arguments {
    /// Models; by default all. Planted errors of other models are left out.
    models: Vec<String>,
    /// Data sets of each model.
    #[arg(long)]
    replications: Option<u64>,
    /// Rows of each data set.
    #[arg(long)]
    rows: Option<usize>,
    /// Draws for a rank; one less than a multiple of 16.
    #[arg(long)]
    draws: Option<usize>,
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

/// Runs the study that the command line asks for, of this size by default, and writes every test
/// into a file of docs/results. Fails if a correct posterior is rejected, if a run ends with an
/// error, or if a planted error is not detected.
///
/// # Errors
/// Arguments that cannot be used, and a file that cannot be written.
pub fn run<M: StudyModel>(
    size: StudySize, planted: &[Planted<M>], file: &str,
) -> Result<ExitCode, Failure> {
    let arguments = Arguments::parse();
    let size = StudySize {
        rows: arguments.rows.unwrap_or(size.rows),
        replications: arguments.replications.unwrap_or(size.replications),
        draws: arguments.draws.unwrap_or(size.draws),
    };
    let Arguments { level, seed, .. } = arguments;
    if size.rows == 0 || size.replications == 0 || !(level > 0.0 && level < 1.0) {
        return Err("need at least a row and a replication, and a level between 0 and 1".into());
    }
    if !(size.draws + 1).is_multiple_of(CELLS) {
        let draws = size.draws;
        return Err(format!("{draws} draws: need one less than a multiple of {CELLS}").into());
    }
    let models = models::<M>(&arguments.models)?;
    let tests: usize = models.iter().map(|model| model.quantities().len()).sum();
    let level = level / tests as f64;
    println!("each of {tests} tests at {level:.2e}");
    let right = models.iter().map(|model| ("right", *model, None));
    let planted = planted.iter().filter(|(_, model, _)| models.contains(model));
    let planted = planted.map(|(name, model, misfit)| (*name, *model, Some(*misfit)));
    let planted = planted.filter(|_| !arguments.right);
    let mut csv = String::from("sampler,model,quantity,replications,chi_square,p\n");
    let mut good = true;
    for (name, model, misfit) in right.chain(planted) {
        let began = Instant::now();
        let outcome = calibrate(model, misfit, size, seed);
        let least = report(&mut csv, name, model, &outcome)?;
        let verdict = if least < level { "fails" } else { "passes" };
        println!("    {verdict}, {:.0} s", began.elapsed().as_secs_f64());
        for (replication, error) in &outcome.failures {
            println!("    replication {replication}: {error}");
        }
        good &= (least < level) == misfit.is_some() && outcome.failures.is_empty();
    }
    if !arguments.dry {
        std::fs::write(results(file), csv)?;
    }
    println!("{}", if good { "as expected" } else { "NOT AS EXPECTED" });
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn models<M: StudyModel>(names: &[String]) -> Result<Vec<M>, Failure> {
    if names.is_empty() {
        return Ok(M::ALL.to_vec());
    }
    let known = |name: &String| {
        M::ALL.iter().copied().find(|model| model.name() == name).ok_or_else(|| {
            let all: Vec<&str> = M::ALL.iter().map(|model| model.name()).collect();
            format!("no model `{name}`: need one of {}", all.join(", ")).into()
        })
    };
    names.iter().map(known).collect()
}

/// Writes and prints the test of every quantity. Returns the smallest p-value.
fn report<M: StudyModel>(
    csv: &mut String, sampler: &str, model: M, outcome: &StudyRanks,
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

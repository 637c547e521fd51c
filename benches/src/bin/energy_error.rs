//! Two automatic choices of a step, each for its own promise about the bias:
//! `cargo run --profile checks -p ridgewalk-benches --bin energy_error [NAME ...]`.
//!
//! Unadjusted HMC takes the step at which the variance of the energy error corresponds to the
//! tolerated error of variances ([`ridgewalk_benches::energy_error`]): relative, root mean square
//! over coordinates. Ridgewalk measures its bias by pairs of chains and tolerates an error of any
//! mean in sd, and of any sd relative to it. Both make long runs with several seeds, which are
//! compared with the reference in both senses. Rates and costs are medians over seeds. Writes
//! docs/results/energy-error.csv and prints it; rows of other targets are kept.

use clap::Parser;
use rayon::prelude::*;
use ridgewalk::sampler::automatic::{Length, WarmUp};
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::{merged, results};
use ridgewalk_benches::energy_error::{skewed::Skewed, tuner};
use ridgewalk_benches::problems::{Density, Problem, Visit, on};
use ridgewalk_benches::rivals::note;
use ridgewalk_benches::runs::{Bias, Cost, Kept, Measured, Run, VarianceError, median};
use ridgewalk_gallery::{self as gallery, Reference};

/// Compares the choice of a step by the energy error with ridgewalk's.
#[derive(Debug, Parser)]
struct Arguments {
    /// Targets; by default six small ones and three skewed ones.
    names: Vec<String>,
    /// Number of seeds, from 1 on.
    #[arg(long, default_value_t = 3)]
    seeds: u64,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

const NAMES: [&str; 6] =
    ["correlated-logistic", "breast-cancer", "poisson", "probit", "huber", "ladder"];
/// Skewed targets and their shapes.
const SKEWED: [(&str, f64); 3] =
    [("log-gamma-20", 20.0), ("log-gamma-1", 1.0), ("log-gamma-0.3", 0.3)];
/// The tolerated biases, in the sense of each method.
const TOLERANCES: [f64; 3] = [0.1, 0.05, 0.02];
/// Effective draws of a run of HMC, and draws of each chain of ours, which have about as many.
const ESS: f64 = 3e4;
const DRAWS: u64 = 4000;

const HEADER: &str = "target,method,tolerance,seeds,claims,variance_rms,variance_noise,mean_bias,mean_noise,sd_bias,sd_noise,\
                      kept,within_sd,ess_per_gradient,tuning_gradients,length_gradients,note\n";

/// How the step is chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Method {
    EnergyError,
    Ridgewalk,
}

impl Method {
    const ALL: [Self; 2] = [Self::EnergyError, Self::Ridgewalk];

    fn name(self) -> &'static str {
        match self {
            Self::EnergyError => "HMC by energy error",
            Self::Ridgewalk => "ridgewalk",
        }
    }
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let skewed = SKEWED.map(|(name, _)| name);
    let all: Vec<String> = NAMES.iter().chain(&skewed).map(ToString::to_string).collect();
    let names = if arguments.names.is_empty() { &all[..] } else { &arguments.names[..] };
    print!("{HEADER}");
    for name in names {
        let study = Study { name, seeds: arguments.seeds };
        let lines = match SKEWED.iter().find(|(known, _)| known == name) {
            Some((_, shape)) => {
                let problem = Skewed::new(*shape)?;
                study.rows(&problem, &problem.reference())
            }
            None => on(name, study)?,
        };
        print!("{lines}");
        if !arguments.dry {
            let path = results("energy-error.csv");
            let old = std::fs::read_to_string(&path).unwrap_or_default();
            let keys: Vec<String> =
                gallery::NAMES.iter().chain(&skewed).map(ToString::to_string).collect();
            std::fs::write(path, merged(&old, HEADER, &keys, &[(name.clone(), lines)]))?;
        }
    }
    Ok(())
}

/// A run of one seed: its figures, the gradients before it, those of them that chose the length of
/// trajectories, and whether its method says that the tolerance is kept.
struct Seen {
    measured: Measured,
    tuning: [u64; 2],
    claims: bool,
}

/// The rows of one target.
struct Study<'a> {
    name: &'a str,
    seeds: u64,
}

impl Visit for Study<'_> {
    type Output = String;

    fn visit<P: Problem>(self, problem: &P) -> Result<String, Failure> {
        let reference = gallery::reference(self.name).map_err(|error| error.to_string())?;
        Ok(self.rows(problem, &reference))
    }
}

impl Study<'_> {
    fn rows<P: Problem>(&self, problem: &P, reference: &Reference) -> String {
        let mut text = String::new();
        for method in Method::ALL {
            for tolerance in TOLERANCES {
                let seen: Result<Vec<Seen>, Failure> = (1..=self.seeds)
                    .into_par_iter()
                    .map(|seed| match method {
                        Method::EnergyError => by_energy_error(problem, tolerance, seed),
                        Method::Ridgewalk => ridgewalk(problem, tolerance, seed),
                    })
                    .collect();
                text += &match seen {
                    Ok(seen) => row(self.name, method, tolerance, &seen, reference),
                    Err(error) => self.failed(method, tolerance, &error),
                };
            }
        }
        text
    }

    /// The row of runs that did not finish.
    fn failed(&self, method: Method, tolerance: f64, error: &Failure) -> String {
        let why = error.to_string().replace([',', '\n'], ";");
        let Self { name, seeds } = self;
        let empty = ",".repeat(11);
        format!("{name},{},{tolerance},{seeds}{empty},failed: {why}\n", method.name())
    }
}

fn by_energy_error<P: Problem>(problem: &P, tolerance: f64, seed: u64) -> Result<Seen, Failure> {
    let (run, tuned) = tuner::run(problem, tolerance, (1000, ESS), seed)?;
    let measured = run.measured(problem.plain().dimension(), None)?;
    Ok(Seen { measured, tuning: [run.warm_up.gradients, tuned.gradients[1]], claims: true })
}

fn ridgewalk<P: Problem>(problem: &P, tolerance: f64, seed: u64) -> Result<Seen, Failure> {
    let mut warm = WarmUp::new(problem.target()).seed(seed).tolerance(tolerance).run()?;
    let tuning = [warm.gradients, 0];
    let mut kept = Kept::with_room(usize::try_from(DRAWS)?);
    let sampled = warm.run(Length::Draws(DRAWS)).keep(&mut kept)?;
    if !sampled.outcome.complete() {
        return Err(format!("seed {seed}: a chain did not finish").into());
    }
    let sampling = Cost { gradients: sampled.gradients(), seconds: 0.0 };
    let run = Run { draws: kept.draws, sampling, note: note(&warm.scheme), ..Run::default() };
    let measured = run.measured(problem.plain().dimension(), None)?;
    Ok(Seen { measured, tuning, claims: sampled.within_tolerance })
}

fn row(name: &str, method: Method, tolerance: f64, seen: &[Seen], reference: &Reference) -> String {
    let runs: Vec<Measured> = seen.iter().map(|one| one.measured.clone()).collect();
    let bias = Bias::of(&runs, reference);
    let variance = VarianceError::of(&runs, reference);
    let within_sd = bias.clear.iter().all(|off| *off <= tolerance);
    let kept = match method {
        Method::EnergyError => variance.rms - 2.0 * variance.noise <= tolerance,
        Method::Ridgewalk => within_sd,
    };
    let rate = median(runs.iter().map(|run| run.ess / run.sampling.gradients as f64).collect());
    let [tuning, length] =
        [0, 1].map(|k| median(seen.iter().map(|one| one.tuning[k] as f64).collect()));
    let claims = seen.iter().filter(|one| one.claims).count();
    let Bias { largest: [mean, sd], noise: [mean_noise, sd_noise], .. } = bias;
    let VarianceError { rms, noise } = variance;
    let note = runs.first().map_or("", |run| &run.note);
    format!(
        "{name},{},{tolerance},{},{claims},{rms:.4},{noise:.4},{mean:.4},{mean_noise:.4},{sd:.4},{sd_noise:.4},\
         {kept},{within_sd},{rate:.4},{tuning:.0},{length:.0},{note}\n",
        method.name(),
        seen.len(),
    )
}

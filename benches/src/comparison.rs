//! Runs of a sampler on a target in a separate process, rows of the results of many runs, and the
//! files that store them.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk::sampler::automatic::{Length, UNADJUSTED_TOLERANCE, WarmUp};
use ridgewalk_gallery as gallery;

use crate::Failure;
use crate::clock::Stopwatch;
use crate::energy_error::tuner;
use crate::memory;
use crate::parameters::Best;
use crate::peers::{self, Setting};
use crate::problems::{Density, Problem, Visit};
use crate::rivals::{self, note};
use crate::runs::{Bias, Cost, Kept, Measured, Run, median};
use crate::tuning::Effort;

/// The version of mini-mcmc in benches/mini-mcmc/Cargo.toml.
pub const MINI_MCMC: &str = "0.9.1";

/// A sampler in the tables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sampler {
    /// Ours, with its automatic warm-up.
    Ridgewalk,
    /// Ours with no bias allowed: adjusted trajectories.
    Adjusted,
    /// nuts-rs.
    NutsRs(Setting),
    /// mini-mcmc's NUTS, on the original or the whitened target.
    MiniMcmc {
        /// Whether the target is whitened by the Hessian at the mode.
        whitened: bool,
    },
    /// Unadjusted HMC with its step chosen by the energy error.
    EnergyError,
    /// A kernel with its best parameters.
    Kernel(KernelKind),
}

impl Sampler {
    /// All samplers, in the order of the tables.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Ridgewalk, Self::Adjusted];
        all.extend(Setting::ALL.map(Self::NutsRs));
        all.extend([false, true].map(|whitened| Self::MiniMcmc { whitened }));
        all.push(Self::EnergyError);
        all.extend(rivals::KERNELS.map(Self::Kernel));
        all
    }

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Ridgewalk => "ridgewalk".into(),
            Self::Adjusted => "ridgewalk adjusted".into(),
            Self::NutsRs(setting) => setting.name().into(),
            Self::MiniMcmc { whitened } => {
                if whitened { "mini-mcmc NUTS whitened" } else { "mini-mcmc NUTS" }.into()
            }
            Self::EnergyError => "unadjusted HMC by energy error".into(),
            Self::Kernel(kernel) => rivals::label(kernel),
        }
    }

    /// The number of chains, and of draws of each.
    #[must_use]
    pub fn size(self, plan: Plan) -> [u64; 2] {
        match self {
            Self::Ridgewalk | Self::Adjusted | Self::EnergyError | Self::Kernel(_) => {
                [rivals::CHAINS as u64, plan.draws]
            }
            Self::NutsRs(_) | Self::MiniMcmc { .. } => [plan.peer_chains, plan.peer_draws],
        }
    }
}

/// The size of the runs on a target.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The number of seeds, from 1 on.
    pub seeds: u64,
    /// Draws of each of our eight chains.
    pub draws: u64,
    /// Chains of other packages.
    pub peer_chains: u64,
    /// Draws of each of those chains.
    pub peer_draws: u64,
    /// Runs that take fewer seconds are repeated.
    pub short: f64,
    /// The lengths of the runs of a search for parameters.
    pub effort: Effort,
}

impl Plan {
    /// The plan for a target: if a gradient takes milliseconds, one seed, and half the draws for
    /// other packages.
    #[must_use]
    pub fn of(target: &str) -> Self {
        let usual = Self {
            seeds: 3,
            draws: 1000,
            peer_chains: 4,
            peer_draws: 1000,
            short: 1.0,
            effort: Effort { glance: 300, look: 1000, proof: 3e4 },
        };
        match target {
            "independent-logistic" => Self {
                seeds: 1,
                peer_draws: 500,
                short: 12.0,
                effort: Effort { glance: 120, look: 500, proof: 1e4 },
                ..usual
            },
            _ => usual,
        }
    }
}

/// The path of a results file.
#[must_use]
pub fn results(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/results").join(file)
}

/// A run in this process.
#[derive(Debug)]
pub struct Child<'a> {
    /// The target.
    pub target: &'a str,
    /// A sampler's name, or [`LOADED`] to only load the target.
    pub sampler: &'a str,
    /// The seed.
    pub seed: u64,
    /// The best parameters of kernels.
    pub best: &'a [Best],
}

impl Visit for Child<'_> {
    type Output = Measured;

    fn visit<P: Problem>(self, problem: &P) -> Result<Measured, Failure> {
        let plan = Plan::of(self.target);
        if self.sampler == LOADED {
            // Figures of meaningless draws, so that the same code is loaded.
            let d = problem.plain().dimension();
            let draws = vec![(0..8 * d).map(|k| (k as f64).sin()).collect(); 2];
            return Run { draws, ..Run::default() }.measured(d, memory::peak());
        }
        let sampler = Sampler::all().into_iter().find(|sampler| sampler.name() == self.sampler);
        let sampler = sampler.ok_or_else(|| format!("no sampler `{}`", self.sampler))?;
        let [chains, draws] = sampler.size(plan);
        let run = match sampler {
            Sampler::Ridgewalk => ours(problem, UNADJUSTED_TOLERANCE, draws, self.seed)?,
            Sampler::Adjusted => ours(problem, 0.0, draws, self.seed)?,
            Sampler::NutsRs(setting) => peers::run(problem, setting, chains, draws, self.seed)?,
            Sampler::MiniMcmc { .. } => return Err("mini-mcmc has a program of its own".into()),
            Sampler::EnergyError => {
                // An error of 5 % of an sd is one of 10 % of a variance.
                tuner::run(problem, 2.0 * Bias::TOLERANCE, (draws, 0.0), self.seed)?.0
            }
            Sampler::Kernel(kernel) => {
                let found = self
                    .best
                    .iter()
                    .find(|best| (&*best.target, best.kernel) == (self.target, kernel));
                let best = found.ok_or("no parameters: `compare --tune` finds them")?;
                best.run(problem, draws, self.seed)?
            }
        };
        run.measured(problem.plain().dimension(), memory::peak())
    }
}

/// Ridgewalk with its automatic warm-up at this tolerance of the bias.
fn ours<P: Problem>(problem: &P, tolerance: f64, length: u64, seed: u64) -> Result<Run, Failure> {
    let watch = Stopwatch::start();
    let mut warm = WarmUp::new(problem.target()).seed(seed).tolerance(tolerance).run()?;
    let seconds = watch.seconds();
    let mut kept = Kept::with_room(usize::try_from(length)?);
    let watch = Stopwatch::start();
    let sampled = warm.run(Length::Draws(length)).keep(&mut kept)?;
    let sampling = Cost { gradients: sampled.gradients(), seconds: watch.seconds() };
    // A run that was repaired counts its first part with the warm-up.
    let warm_up = Cost { gradients: warm.gradients, seconds };
    if !sampled.outcome.complete() {
        return Err(format!("seed {seed}: a chain did not finish").into());
    }
    if !sampled.within_tolerance {
        return Err(format!("seed {seed}: not within the tolerance").into());
    }
    let divergences = sampled.outcome.acceptance().divergences;
    Ok(Run { draws: kept.draws, warm_up, sampling, divergences, note: note(&warm.scheme) })
}

/// In place of a sampler's name: measure the memory of the target alone.
pub const LOADED: &str = "loaded";

/// Makes a run in a separate process: of this program, or of mini-mcmc's.
///
/// # Errors
/// If the process fails, with the last line of its output.
pub fn in_a_child(command: &mut Command) -> Result<Measured, Failure> {
    let done = command.output()?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let last = said.lines().last().unwrap_or("no output");
        return Err(last.trim_start_matches("Error: ").trim_matches('"').into());
    }
    Ok(serde_json::from_slice(&done.stdout)?)
}

/// One sampler on one target.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The target.
    pub target: String,
    /// The sampler.
    pub sampler: Sampler,
    /// Chains, draws of each, and seeds.
    pub size: [u64; 3],
    /// The results; `None` if it was not run.
    pub result: Option<ComparisonRow>,
    /// Parameters, or why it was not run.
    pub note: String,
}

/// The results of the runs of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparisonRow {
    /// Medians over seeds, in the order of [`COLUMNS`].
    pub figures: [f64; COLUMNS.len()],
    /// The bias over all seeds and its noise: of means in sd, of sds in percent.
    pub bias: [f64; 4],
    /// Whether the bias is within the tolerance.
    pub within: bool,
}

/// The figures of a run.
pub const COLUMNS: [&str; 10] = [
    "ess",
    "gradients",
    "ess_per_gradient",
    "warm_up_gradients",
    "ess_per_gradient_with_warm_up",
    "ess_per_second",
    "ess_per_second_with_warm_up",
    "rhat",
    "divergences",
    "memory_mib",
];
/// The index of effective draws per gradient.
pub const PER_GRADIENT: usize = 2;
/// The index of effective draws per gradient, including the warm-up.
pub const PER_GRADIENT_ALL: usize = 4;
/// The index of effective draws per second.
pub const PER_SECOND: usize = 5;
/// The index of effective draws per second, including the warm-up.
pub const PER_SECOND_ALL: usize = 6;
/// The index of the peak memory.
const MEMORY: usize = 9;

impl Row {
    /// The row for the runs of all seeds.
    ///
    /// # Errors
    /// If the target has no reference.
    pub fn new(
        target: &str, sampler: Sampler, plan: Plan, runs: Result<Vec<Measured>, Failure>,
    ) -> Result<Self, Failure> {
        let [chains, draws] = sampler.size(plan);
        let reference = gallery::reference(target).map_err(|error| error.to_string())?;
        let (result, note) = match &runs {
            Ok(runs) => {
                let figures = std::array::from_fn(|k| {
                    median(runs.iter().map(|run| figures(run)[k]).collect())
                });
                let bias = Bias::of(runs, &reference);
                let Bias { largest: [mean, sd], noise: [mean_noise, sd_noise], .. } = bias;
                let outcome = ComparisonRow {
                    figures,
                    bias: [mean, mean_noise, 100.0 * sd, 100.0 * sd_noise],
                    within: bias.within(),
                };
                (Some(outcome), runs.first().map_or(String::new(), |run| run.note.clone()))
            }
            Err(error) => {
                (None, format!("not run: {}", error.to_string().replace([',', '\n'], ";")))
            }
        };
        Ok(Self { target: target.into(), sampler, size: [chains, draws, plan.seeds], result, note })
    }

    /// Parses a line of compare.csv: a row, and the memory of the target alone.
    fn parse(line: &str) -> Option<(Self, f64)> {
        let cells: Vec<&str> = line.split(',').collect();
        let name = cells.get(1)?.replace(';', ",");
        let sampler = Sampler::all().into_iter().find(|sampler| sampler.name() == name)?;
        let count = |k: usize| cells.get(k)?.parse::<u64>().ok();
        let number =
            |k: usize| cells.get(k).and_then(|cell| cell.parse::<f64>().ok()).unwrap_or(f64::NAN);
        let after = 5 + COLUMNS.len();
        let within = cells.get(after + 7)?.parse::<bool>().ok();
        let result = within.map(|within| ComparisonRow {
            figures: std::array::from_fn(|k| number(5 + k)),
            bias: std::array::from_fn(|k| number(after + 3 + k)),
            within,
        });
        let note = (*cells.get(after + 8)?).to_string();
        let size = [count(2)?, count(3)?, count(4)?];
        Some((
            Self { target: (*cells.first()?).into(), sampler, size, result, note },
            number(after),
        ))
    }

    /// The row without seconds and memory, which were measured elsewhere than those of other rows.
    #[must_use]
    pub fn without_seconds(mut self) -> Self {
        if let Some(result) = &mut self.result {
            for place in [PER_SECOND, PER_SECOND_ALL, MEMORY] {
                result.figures[place] = f64::NAN;
            }
        }
        self
    }

    /// A figure; `None` if it was not run.
    #[must_use]
    pub fn figure(&self, place: usize) -> Option<f64> {
        self.result.map(|result| result.figures[place])
    }
}

fn figures(run: &Measured) -> [f64; COLUMNS.len()] {
    let (warm_up, sampling) = (run.warm_up, run.sampling);
    let mut all = warm_up;
    all.add(sampling);
    [
        run.ess,
        sampling.gradients as f64,
        run.ess / sampling.gradients as f64,
        warm_up.gradients as f64,
        run.ess / all.gradients as f64,
        run.ess / sampling.seconds,
        run.ess / all.seconds,
        run.rhat,
        run.divergences as f64,
        run.memory.unwrap_or(f64::NAN),
    ]
}

/// The rows of one target, and the memory of the target alone.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// The target.
    pub target: String,
    /// One row for each sampler, ours first.
    pub rows: Vec<Row>,
    /// The memory of the target alone, in MiB.
    pub loaded: f64,
}

impl Table {
    /// A figure of ours divided by that of the row.
    #[must_use]
    pub fn ratio(&self, row: &Row, place: usize) -> Option<f64> {
        let ours = self.rows.iter().find(|row| row.sampler == Sampler::Ridgewalk)?;
        Some(ours.figure(place)? / row.figure(place)?)
    }

    /// Parses compare.csv.
    ///
    /// # Errors
    /// For a line in another format.
    pub fn read(text: &str) -> Result<Vec<Self>, Failure> {
        let mut tables: Vec<Self> = Vec::new();
        for line in text.lines().skip(1) {
            let (row, loaded) =
                Row::parse(line).ok_or_else(|| format!("not a line of results: `{line}`"))?;
            match tables.last_mut().filter(|table| table.target == row.target) {
                Some(table) => table.rows.push(row),
                None => tables.push(Self { target: row.target.clone(), rows: vec![row], loaded }),
            }
        }
        Ok(tables)
    }

    /// The lines of compare.csv.
    #[must_use]
    pub fn csv(&self) -> String {
        self.rows.iter().map(|row| self.line(row)).collect()
    }

    /// The line of a row.
    fn line(&self, row: &Row) -> String {
        let mut cells = vec![key(&row.target, row.sampler)];
        cells.extend(row.size.map(|count| count.to_string()));
        cells.extend((0..COLUMNS.len()).map(|place| short(row.figure(place))));
        cells.push(short(Some(self.loaded)));
        cells.extend([PER_SECOND, PER_SECOND_ALL].map(|place| short(self.ratio(row, place))));
        cells.extend((0..4).map(|k| short(row.result.map(|result| result.bias[k]))));
        cells.push(row.result.map_or(String::new(), |result| result.within.to_string()));
        cells.push(row.note.clone());
        cells.join(",") + "\n"
    }

    /// compare.csv with the rows of this table replaced. If this table has no row of ours, its rows
    /// are compared with the row of ours in the file.
    ///
    /// # Errors
    /// For a line of the file in another format.
    pub fn put_into(mut self, old: &str) -> Result<String, Failure> {
        let new = self.rows.clone();
        let others = Self::read(old)?.into_iter().filter(|table| table.target == self.target);
        let missing = others.flat_map(|table| table.rows);
        self.rows
            .extend(missing.filter(|row| new.iter().all(|found| found.sampler != row.sampler)));
        let lines: Vec<(String, String)> =
            new.iter().map(|row| (key(&row.target, row.sampler), self.line(row))).collect();
        let keys: Vec<String> = gallery::NAMES
            .iter()
            .flat_map(|target| Sampler::all().into_iter().map(|sampler| key(target, sampler)))
            .collect();
        Ok(merged(old, &head(), &keys, &lines))
    }

    /// The table as text for the terminal.
    #[must_use]
    pub fn text(&self) -> String {
        let words = [
            "E", "grads", "E/grad", "warm-up", "E/all", "E/s", "E/s all", "ours/", "all/",
            "mean/sd", "sd %", "MiB",
        ];
        let mut text =
            format!("{} (the target alone: {:.0} MiB)\n{:<36}", self.target, self.loaded, "");
        // Writing to a string does not fail.
        words.iter().for_each(|word| _ = write!(text, " {word:>8}"));
        text.push('\n');
        for row in &self.rows {
            let _ = write!(text, "{:<36}", row.sampler.name());
            match row.result {
                Some(ComparisonRow { figures: f, bias, within }) => {
                    let [ratio, all] = [PER_SECOND, PER_SECOND_ALL]
                        .map(|k| self.ratio(row, k).unwrap_or(f64::NAN));
                    let cells = [
                        f[0], f[1], f[2], f[3], f[4], f[5], f[6], ratio, all, bias[0], bias[2],
                        f[9],
                    ];
                    let digits = [0, 0, 4, 0, 4, 0, 0, 2, 2, 3, 2, 0];
                    cells
                        .iter()
                        .zip(digits)
                        .for_each(|(x, digits)| _ = write!(text, " {x:>8.digits$}"));
                    text += if within { "\n" } else { " biased\n" };
                }
                None => _ = writeln!(text, " {}", row.note),
            }
        }
        text
    }
}

/// The beginning of a line of compare.csv.
fn key(target: &str, sampler: Sampler) -> String {
    format!("{target},{}", sampler.name().replace(',', ";"))
}

/// The first line of compare.csv.
#[must_use]
pub fn head() -> String {
    format!(
        "target,sampler,chains,draws,seeds,{},memory_loaded_mib,ratio,ratio_with_warm_up,mean_bias_sd,mean_noise_sd,\
         sd_bias_percent,sd_noise_percent,within,note\n",
        COLUMNS.join(",")
    )
}

/// A number with four digits; empty if it is not known.
fn short(x: Option<f64>) -> String {
    match x {
        Some(x) if x.abs() >= 1000.0 => format!("{x:.0}"),
        Some(x) if x.is_finite() => format!("{x:.4}"),
        _ => String::new(),
    }
}

/// A file with some of its lines replaced. Each line begins with its key; lines are in the order of
/// the keys.
#[must_use]
pub fn merged(old: &str, head: &str, keys: &[String], new: &[(String, String)]) -> String {
    let mut text = head.to_string();
    for key in keys {
        match new.iter().find(|(name, _)| name == key) {
            Some((_, lines)) => text += lines,
            None => {
                let kept = old.lines().filter(|line| line.starts_with(&format!("{key},")));
                kept.for_each(|line| text += &format!("{line}\n"));
            }
        }
    }
    text
}

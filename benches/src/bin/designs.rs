//! Designs of exact trajectories: `cargo run --release -p ridgewalk-benches --bin designs`.
//!
//! In the coordinates of a warm-up: drifts that rotate or are straight, one step or several, p and r
//! drawn anew or kept, and how often steps are shorter; and what default runs choose. Prints a table and writes
//! docs/results/designs.csv; `--dry` only prints.

use clap::Parser;
use ridgewalk::coefficients::Parameters;
use ridgewalk::lyapunov::laws::{Autocorrelation, Drift, Scheme, Trajectory};
use ridgewalk::sampler::automatic::{Length, Target, WarmUp};
use ridgewalk::sampler::{Adjusted, InOriginal, Sampler};
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::results;
use ridgewalk_benches::runs::{Cost, Kept, Run};
use ridgewalk_gallery as gallery;

/// Trajectories of each of eight chains, and those before them.
const DRAWS: u64 = 4000;
const BEFORE: u64 = 200;
/// Seeds and draws of default runs.
const SEEDS: u64 = 4;
const CHOSEN_DRAWS: u64 = 1000;
/// γ and ξ that are chosen from, and those that forget everything within a trajectory.
const GAMMAS: [f64; 7] = [0.3, 0.5, 0.8, 1.2, 1.6, 2.2, 3.0];
const XIS: [f64; 4] = [2.0, 3.0, 5.0, 8.0];
const FRESH: [f64; 2] = [1e4, 1e4];
/// The acceptance that kept momenta are chosen for.
const ACCEPTANCE: f64 = 0.8;

/// Designs of exact trajectories.
#[derive(Debug, Parser)]
struct Arguments {
    /// Only print.
    #[arg(long)]
    dry: bool,
}

/// A design.
#[derive(Debug, Clone, Copy)]
struct Design {
    drift: Drift,
    steps: u32,
    eta: f64,
    kept: bool,
    short: f64,
}

impl Design {
    /// The designs of the table.
    fn all() -> Vec<Self> {
        use Drift::{Rotating, Split, Straight};
        let lengths = [
            (Rotating, 1, 1.6),
            (Rotating, 1, 1.2),
            (Rotating, 2, 0.6),
            (Rotating, 3, 0.6),
            (Split, 1, 1.0),
            (Split, 2, 0.75),
            (Split, 3, 0.6),
            (Straight, 1, 1.2),
            (Straight, 1, 0.9),
            (Straight, 2, 0.6),
            (Straight, 3, 0.6),
        ];
        let kinds = [(false, 0.0), (true, 0.0), (true, 0.02), (true, 0.2)];
        let one = |(drift, steps, eta)| {
            kinds.map(|(kept, short)| Self { drift, steps, eta, kept, short })
        };
        lengths.into_iter().flat_map(one).collect()
    }

    fn kernel(self) -> Result<Adjusted, Failure> {
        let trajectory =
            Trajectory { short: self.short, ..Trajectory::new(self.steps, self.drift) };
        let [gamma, xi] = if self.kept { self.friction()? } else { FRESH };
        Ok(Adjusted::new(Parameters::new(gamma, xi, self.eta)?, trajectory, 1.0)?)
    }

    /// The γ and ξ that forget fastest at this acceptance.
    fn friction(self) -> Result<[f64; 2], Failure> {
        let trajectory = Trajectory::new(self.steps, self.drift);
        let mut best = ([1.0; 2], f64::INFINITY);
        for (gamma, xi) in GAMMAS.iter().flat_map(|gamma| XIS.iter().map(|xi| (*gamma, *xi))) {
            let form = Scheme::adjusted(gamma, xi, self.eta, trajectory)?
                .with_acceptance(1.0, ACCEPTANCE)?;
            let time = form.and_then(|form| Some(Autocorrelation::new(&form)?.longer()));
            if time.is_some_and(|time| time < best.1) {
                best = ([gamma, xi], time.unwrap_or(f64::INFINITY));
            }
        }
        Ok(best.0)
    }
}

/// Acceptance, effective draws per gradient and the longest run of rejections of every design.
fn measured<T: Target>(name: &str, target: &T) -> Result<Vec<String>, Failure> {
    let warm = WarmUp::new(target).seed(1).run()?;
    let d = target.dimension();
    let mut lines = Vec::new();
    for design in Design::all() {
        let kernel = design.kernel()?;
        let mut kept = Kept::with_room(usize::try_from(DRAWS)?);
        let outcome = Sampler::new(&warm.potential, &kernel)
            .chains(8)
            .seed(2)
            .starts(&warm.starts)
            .warm_up(BEFORE)
            .draws(DRAWS)
            .run(&mut InOriginal::new(&warm.whitening, &mut kept))?;
        let gradients = 8 * DRAWS * u64::from(design.steps);
        let longest = kept.draws.iter().map(|chain| longest_repeat(chain, d)).max().unwrap_or(0);
        let sampling = Cost { gradients, seconds: 0.0 };
        let run = Run { draws: kept.draws, sampling, ..Run::default() }.measured(d, None)?;
        let Design { drift, steps, eta, kept, short } = design;
        lines.push(format!(
            "{name},{},{steps},{eta},{},{short},{:.3},{:.4},{longest}",
            drift.name(),
            if kept { "kept" } else { "fresh" },
            outcome.acceptance().rate(),
            run.ess / gradients as f64,
        ));
        println!("{}", lines[lines.len() - 1]);
    }
    Ok(lines)
}

/// The design that a default run has, the median of some seeds.
fn chosen<T: Target>(name: &str, target: &T) -> Result<String, Failure> {
    let d = target.dimension();
    let mut found = Vec::new();
    for seed in 1..=SEEDS {
        let mut warm = WarmUp::new(target).seed(seed).run()?;
        let mut kept = Kept::with_room(usize::try_from(CHOSEN_DRAWS)?);
        let sampled = warm.run(Length::Draws(CHOSEN_DRAWS)).keep(&mut kept)?;
        let longest = kept.draws.iter().map(|chain| longest_repeat(chain, d)).max().unwrap_or(0);
        let gradients = sampled.gradients();
        let sampling = Cost { gradients, seconds: 0.0 };
        let run = Run { draws: kept.draws, sampling, ..Run::default() }.measured(d, None)?;
        let trajectory = warm.scheme.trajectory().ok_or("a kernel with a bias")?;
        found.push((
            run.ess / gradients as f64,
            format!(
                "{name},chosen ({}),{},{:.3},kept,{},{:.3},{:.4},{longest}",
                trajectory.drift.name(),
                trajectory.steps,
                warm.scheme.eta(),
                trajectory.short,
                sampled.outcome.acceptance().rate(),
                run.ess / gradients as f64,
            ),
        ));
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0));
    let line = found.swap_remove(found.len() / 2).1;
    println!("{line}");
    Ok(line)
}

/// The longest run of draws that are equal to the one before.
fn longest_repeat(chain: &[f64], d: usize) -> usize {
    let (mut longest, mut now) = (0, 0);
    for (old, new) in chain.chunks_exact(d).zip(chain.chunks_exact(d).skip(1)) {
        now = if old == new { now + 1 } else { 0 };
        longest = longest.max(now);
    }
    longest
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    let failed = |error: Box<dyn std::error::Error>| Failure::from(error.to_string());
    let torture = gallery::torture().map_err(failed)?;
    let mut lines = vec![
        "target,drift,steps,eta,momenta,short,acceptance,ess_per_gradient,longest_rejections"
            .to_owned(),
    ];
    let [scaled, unscaled] = [gallery::breast_cancer(), gallery::breast_cancer_unstandardised()];
    let scaled = scaled.map_err(failed)?;
    lines.push(chosen("breast-cancer", &scaled)?);
    lines.push(chosen("breast-cancer-unstandardised", &unscaled.map_err(failed)?)?);
    lines.extend(measured("breast-cancer", &scaled)?);
    lines.extend(measured("huber-large", &gallery::huber_large().map_err(failed)?)?);
    for name in ["logistic-nearly-separated", "poisson-zeros-5-rows"] {
        let case = torture.iter().find(|case| case.name == name).ok_or("no such case")?;
        lines.extend(measured(name, &case.posterior().map_err(failed)?)?);
    }
    if !arguments.dry {
        std::fs::write(results("designs.csv"), lines.join("\n") + "\n")?;
    }
    Ok(())
}

//! Comparison of samplers: `cargo run --release -p ridgewalk-benches --bin compare [NAME ...]`.
//!
//! Ridgewalk with its automatic warm-up, with a tolerance of the bias of 0.05 and with none,
//! nuts-rs with every [`ridgewalk_benches::peers::Setting`], mini-mcmc's NUTS, unadjusted HMC with
//! its step chosen by the energy error, and kernels with the best parameters that `compare --tune`
//! found, on every target of the gallery, all with the same
//! code for the pass over the data. E is the smallest effective sample size of θ and of (θ − mean)²
//! over all coordinates. Gradients are counted over all chains, and for ours include the
//! confirmation of the bias. A value that comes with a gradient is free, and other samplers are
//! charged for whitening what the mode and the Hessian cost us. Each run is a separate process with
//! one thread: seconds are its CPU time, and memory is its peak. Samplers take turns, and short
//! runs are repeated, with the same draws and the median of the seconds. Figures are medians over
//! seeds; biases are those of the mean over seeds. Prints the tables, and writes
//! docs/results/compare.csv, two plots and, by scripts/tables.py, the tables of docs/benchmarks.md
//! and docs/sampler.md.
//!
//! CPU time favours batches: our kernels compute eight chains at once, while other packages
//! evaluate one point at a time. The smallest of many noisy effective sample sizes is smaller for
//! fewer draws, by about a tenth for 4 chains compared with 8.
//!
//! `compare --tune [NAME ...]` searches for the best parameters of kernels
//! ([`ridgewalk_benches::tuning`]) and writes docs/results/rivals.csv. In both files, rows of other
//! targets and kernels are kept.

use std::path::{Path, PathBuf};
use std::process::Command;

use clap::Parser;
use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk_benches::Failure;
use ridgewalk_benches::comparison::{
    Child, LOADED, PER_GRADIENT, PER_GRADIENT_ALL, PER_SECOND, PER_SECOND_ALL, Plan, Row, Sampler,
    Table, in_a_child, merged, results,
};
use ridgewalk_benches::parameters::{BEST_HEAD, Best, tuned};
use ridgewalk_benches::plots::Plot;
use ridgewalk_benches::problems::on;
use ridgewalk_benches::rivals;
use ridgewalk_benches::runs::Measured;
use ridgewalk_gallery as gallery;

/// How often short runs are repeated: the speed of a shared core varies, which averages out in long
/// runs.
const ROUNDS: usize = 5;

/// Comparison of samplers.
#[derive(Debug, Parser)]
struct Arguments {
    /// Targets; by default all nine.
    names: Vec<String>,
    /// Search for the best parameters of kernels.
    #[arg(long)]
    tune: bool,
    /// The kernels to search; by default all.
    #[arg(long, requires = "tune")]
    kernel: Vec<String>,
    /// Only samplers whose name contains one of these; rows of others are kept.
    #[arg(long, conflicts_with = "tune", value_delimiter = ',')]
    only: Vec<String>,
    /// Leave out seconds and memory: for rows measured beside other work, or on another machine than
    /// the rows that are kept.
    #[arg(long, conflicts_with = "tune")]
    without_seconds: bool,
    /// Only print.
    #[arg(long)]
    dry: bool,
    /// One run in this process, started by the program itself: sampler and seed.
    #[arg(long, hide = true, num_args = 2)]
    child: Vec<String>,
}

fn main() -> Result<(), Failure> {
    let arguments = Arguments::parse();
    if let ([sampler, seed], [target]) = (&arguments.child[..], &arguments.names[..]) {
        let best = Best::read(&old("rivals.csv"))?;
        let child = Child { target, sampler, seed: seed.parse()?, best: &best };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        println!("{}", serde_json::to_string(&pool.install(|| on(target, child))?)?);
        return Ok(());
    }
    let all = gallery::NAMES.map(String::from);
    let names = if arguments.names.is_empty() { &all[..] } else { &arguments.names[..] };
    if let Some(name) = names.iter().find(|name| !all.contains(name)) {
        return Err(format!("no target `{name}`: need one of {}", all.join(", ")).into());
    }
    if arguments.tune { search(&arguments, names) } else { compare(&arguments, names) }
}

/// The current content of a results file; empty if there is none.
fn old(file: &str) -> String {
    std::fs::read_to_string(results(file)).unwrap_or_default()
}

fn search(arguments: &Arguments, names: &[String]) -> Result<(), Failure> {
    let named: Option<Vec<KernelKind>> =
        arguments.kernel.iter().map(|name| KernelKind::from_name(name)).collect();
    let named = named.ok_or("no such kernel")?;
    let kernels = if named.is_empty() { &rivals::KERNELS[..] } else { &named };
    let key = |target: &str, kernel: KernelKind| format!("{target},{}", kernel.name());
    let keys: Vec<String> = gallery::NAMES
        .iter()
        .flat_map(|name| rivals::KERNELS.map(|kernel| key(name, kernel)))
        .collect();
    print!("{BEST_HEAD}");
    for (name, kernel) in
        names.iter().flat_map(|name| kernels.iter().map(move |kernel| (name, *kernel)))
    {
        let line = tuned(name, kernel);
        print!("{line}");
        if !arguments.dry {
            let text = merged(&old("rivals.csv"), BEST_HEAD, &keys, &[(key(name, kernel), line)]);
            std::fs::write(results("rivals.csv"), text)?;
        }
    }
    Ok(())
}

fn compare(arguments: &Arguments, names: &[String]) -> Result<(), Failure> {
    let only = &arguments.only;
    let wanted = |sampler: &Sampler| {
        only.is_empty() || only.iter().any(|part| sampler.name().contains(part))
    };
    let samplers: Vec<Sampler> = Sampler::all().into_iter().filter(wanted).collect();
    let mini_mcmc = if samplers.iter().any(|sampler| matches!(sampler, Sampler::MiniMcmc { .. })) {
        build_mini_mcmc()
            .inspect_err(|error| eprintln!("mini-mcmc is not run: {error}"))
            .map_err(|error| format!("benches/mini-mcmc: {error}"))
    } else {
        Err("not wanted".into())
    };
    let writes = !arguments.dry;
    for name in names {
        let mini_mcmc = mini_mcmc.as_deref().map_err(Clone::clone);
        let table = table(name, &samplers, mini_mcmc, !arguments.without_seconds)?;
        println!("{}", table.text());
        if writes {
            std::fs::write(results("compare.csv"), table.put_into(&old("compare.csv"))?)?;
        }
    }
    if writes { show() } else { Ok(()) }
}

/// Writes the plots and tables from compare.csv.
fn show() -> Result<(), Failure> {
    let tables = Table::read(&old("compare.csv"))?;
    let plots = [
        (
            "compare-seconds.svg",
            "Effective draws per second of one core",
            [PER_SECOND, PER_SECOND_ALL],
        ),
        ("compare-gradients.svg", "Effective draws per gradient", [PER_GRADIENT, PER_GRADIENT_ALL]),
    ];
    for (file, title, places) in plots {
        std::fs::write(results(file), Plot { title, places }.svg(&tables))?;
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts/tables.py");
    let updated = Command::new("python3")
        .arg(script)
        .args(["efficiency", "headline", "goals", "losses", "compare", "rivals", "per-gradient"])
        .status();
    if !updated.is_ok_and(|status| status.success()) {
        eprintln!("the pages are not up to date: run scripts/tables.py");
    }
    Ok(())
}

/// Runs all samplers on one target, one process at a time, in rounds; in a single one if seconds do
/// not matter.
fn table(
    target: &str, samplers: &[Sampler], mini_mcmc: Result<&Path, String>, seconds: bool,
) -> Result<Table, Failure> {
    let plan = Plan::of(target);
    let this = std::env::current_exe()?;
    let child = |sampler: &str, seed: u64| {
        in_a_child(Command::new(&this).arg(target).args(["--child", sampler, &seed.to_string()]))
    };
    let loaded = if seconds { child(LOADED, 0)?.memory } else { None }.unwrap_or(f64::NAN);
    let run = |sampler: Sampler, seed: u64| match sampler {
        Sampler::MiniMcmc { whitened } => {
            let [chains, draws] = sampler.size(plan);
            let numbers = [u64::from(whitened), chains, draws, seed].map(|x| x.to_string());
            in_a_child(Command::new(mini_mcmc.clone()?).arg(target).args(numbers))
        }
        other => child(&other.name(), seed),
    };
    let mut all: Vec<Vec<Result<Vec<Measured>, Failure>>> =
        samplers.iter().map(|_| Vec::new()).collect();
    for round in 0..if seconds { ROUNDS } else { 1 } {
        for (sampler, seeds) in samplers.iter().zip(&mut all) {
            for seed in 1..=plan.seeds {
                if round == 0 {
                    seeds.push(run(*sampler, seed).map(|measured| vec![measured]));
                } else if let Some(Ok(known)) = seeds.get_mut(usize::try_from(seed - 1)?)
                    && known[0].seconds() < plan.short
                {
                    known.push(run(*sampler, seed)?);
                }
            }
        }
    }
    let mut rows = Vec::new();
    for (sampler, seeds) in samplers.iter().zip(all) {
        let runs = seeds
            .into_iter()
            .map(|known| known.and_then(|known| Measured::with_usual_seconds(&known)));
        let row = Row::new(target, *sampler, plan, runs.collect())?;
        rows.push(if seconds { row } else { row.without_seconds() });
    }
    Ok(Table { target: target.into(), rows, loaded })
}

/// Builds the program that runs mini-mcmc. It is a separate package, because mini-mcmc depends on
/// several hundred crates.
fn build_mini_mcmc() -> Result<PathBuf, Failure> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("mini-mcmc");
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/mini-mcmc");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    eprintln!("building benches/mini-mcmc");
    let done = Command::new(cargo)
        .args(["build", "--release", "--locked", "--manifest-path"])
        .arg(package.join("Cargo.toml"))
        .arg("--target-dir")
        .arg(&target)
        .output()?;
    if !done.status.success() {
        let said = String::from_utf8_lossy(&done.stderr);
        let error = said.lines().find(|line| line.starts_with("error")).unwrap_or("cargo failed");
        return Err(error.to_string().into());
    }
    Ok(target.join("release").join(format!("ridgewalk-mini-mcmc{}", std::env::consts::EXE_SUFFIX)))
}

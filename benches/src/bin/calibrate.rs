//! Simulation-based calibration of the automatic run, with planted errors that it must detect:
//! `cargo run --release -p ridgewalk-benches --bin calibrate`.
//!
//! Uses 2,000 data sets per model by default. Writes docs/results/calibration.csv with every test,
//! calibration-power.csv with how often errors of which size are detected, and the plots
//! calibration.svg and calibration-planted.svg. Fails if the correct sampler is rejected, or if a
//! planted error that must be detected is not. Results do not depend on the number of threads; set
//! `RAYON_NUM_THREADS=1` for a single one.

use std::fmt::Write;
use std::process::ExitCode;

use clap::Parser;
use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk_benches::Failure;
use ridgewalk_benches::calibration::mistakes::{Coefficient, Mistake, Planted};
use ridgewalk_benches::calibration::models::Model;
use ridgewalk_benches::calibration::power::power;
use ridgewalk_benches::calibration::sampler::Automatic;
use ridgewalk_benches::calibration::{Calibrated, QUANTITIES, Size, calibrate, plots, tests};
use ridgewalk_benches::comparison::results;

/// Simulation-based calibration of the automatic run, with planted errors.
#[derive(Debug, Parser)]
struct Arguments {
    /// Models; by default all.
    models: Vec<String>,
    /// Data sets of each model.
    #[arg(long, default_value_t = Size::FULL.replications)]
    replications: u64,
    /// Rows of each data set.
    #[arg(long, default_value_t = Size::FULL.rows)]
    rows: usize,
    /// Coefficients of each data set, at least three.
    #[arg(long, default_value_t = Size::FULL.columns)]
    columns: usize,
    /// Draws for a rank; one less than a multiple of 16.
    #[arg(long, default_value_t = Size::FULL.draws)]
    draws: usize,
    /// The bias that the warm-up allows, in standard deviations; at 0 the run is exact.
    #[arg(long, default_value_t = 0.0)]
    tolerance: f64,
    /// The kernel; by default the warm-up chooses one.
    #[arg(long)]
    kernel: Option<String>,
    /// The probability with which a correct sampler is rejected.
    #[arg(long, default_value_t = 0.01)]
    level: f64,
    /// The seed.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the correct sampler: no planted errors, and no power.
    #[arg(long)]
    right: bool,
    /// The beginning of the names of the files written.
    #[arg(long, default_value = "calibration")]
    name: String,
    /// Only print.
    #[arg(long)]
    dry: bool,
}

/// The expected result of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Expected {
    Passes,
    Fails,
    /// Reported only: a tolerance allows a bias, and some mistakes are too small to be detected.
    Either,
}

/// A sampler, the factor on its prior scale, the number of replications as a multiple of the usual
/// one, and the expected result.
struct Variant {
    name: &'static str,
    sampler: Automatic,
    prior: f64,
    times: u64,
    expected: Expected,
}

fn variants(arguments: &Arguments, kernel: Option<KernelKind>) -> Vec<Variant> {
    let right = Automatic { kernel, ..Automatic::new(arguments.tolerance) };
    let of = |name, sampler, expected| Variant { name, sampler, prior: 1.0, times: 1, expected };
    let allowing = |tolerance| Automatic { kernel, ..Automatic::new(tolerance) };
    let wrong = |mistake| Automatic { mistake: Some(mistake), ..right };
    let step = |coefficient| wrong(Planted::Step(Mistake { coefficient, factor: 1.02 }));
    let mut all = vec![of("right", right, Expected::Passes)];
    if !arguments.right {
        all.extend([
            of("tolerance 0.01", allowing(0.01), Expected::Passes),
            of("tolerance 0.05", allowing(0.05), Expected::Either),
            Variant { prior: 1.05, ..of("prior scale +5 %", right, Expected::Fails) },
            // Standard deviations are 1 % too large: twice the usual size, because a single model
            // seldom finds so small an error.
            Variant {
                times: 2,
                ..of("acceptance -2 %", wrong(Planted::Acceptance(0.98)), Expected::Fails)
            },
            of("p to p +2 %", step(Coefficient::PToP), Expected::Fails),
            of("noise of p +2 %", step(Coefficient::NoiseOfP), Expected::Either),
        ]);
    }
    all
}

const HEADER: &str = "sampler,model,quantity,replications,chi_square,chi_square_p,ecdf_tail,ecdf_p,level,within,gradients,kernels\n";
/// Relative errors of all standard deviations, in percent, for which the power is estimated, and
/// the number of calibrations for each.
const ERRORS: [f64; 6] = [0.0, 1.0, 1.5, 2.0, 3.0, 5.0];
const TRIALS: u64 = 200;

fn main() -> Result<ExitCode, Failure> {
    let arguments = Arguments::parse();
    let Arguments { rows, columns, replications, draws, .. } = arguments;
    let size = Size { rows, columns, replications, draws };
    if columns < 3 || replications == 0 || !(arguments.level > 0.0 && arguments.level < 1.0) {
        return Err("need three columns, a replication and a level between 0 and 1 at least".into());
    }
    let kernel = arguments.kernel.as_deref().map(kernel).transpose()?;
    let models = models(&arguments.models)?;
    let level = arguments.level / tests(models.len()) as f64;
    println!("each of {} tests at {level:.2e}", tests(models.len()));
    let (mut csv, mut good) = (HEADER.to_string(), true);
    let (mut right, mut all) = (Vec::new(), Vec::new());
    for variant in variants(&arguments, kernel) {
        let (mut made, mut fails) = (Vec::new(), false);
        let size = Size { replications: variant.times * replications, ..size };
        for model in &models {
            let outcome = calibrate(&variant.sampler, *model, size, variant.prior, arguments.seed)?;
            fails |= report(&mut csv, [variant.name, model.name()], &outcome, level)?;
            made.push((model.name().to_string(), outcome));
        }
        let together = Calibrated::together(
            &made.iter().map(|(_, outcome)| outcome.clone()).collect::<Vec<_>>(),
        );
        if models.len() > 1 {
            fails |= report(&mut csv, [variant.name, "all"], &together, level)?;
        }
        good &= match variant.expected {
            Expected::Passes => !fails,
            Expected::Fails => fails,
            Expected::Either => true,
        };
        if right.is_empty() {
            right = made;
            right.push(("all".to_string(), together.clone()));
        }
        all.push((variant.name.to_string(), together));
    }
    if !arguments.dry {
        write(&arguments, "", "csv", &csv)?;
        let title = "Ranks of the truth among draws of the automatic run";
        write(&arguments, "", "svg", &plots::svg(title, &right, level)?)?;
    }
    if !arguments.right {
        let title = "The same, all models together, with errors planted";
        let picture = plots::svg(title, &all, level)?;
        let power = powers(size, models.len() as u64, level)?;
        print!("{power}");
        if !arguments.dry {
            write(&arguments, "-planted", "svg", &picture)?;
            write(&arguments, "-power", "csv", &power)?;
        }
    }
    println!("{}", if good { "as expected" } else { "NOT AS EXPECTED" });
    Ok(if good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The kernel of this name.
fn kernel(name: &str) -> Result<KernelKind, Failure> {
    let mut all = KernelKind::ALL.into_iter().chain([KernelKind::Adjusted]);
    let found = all.find(|kernel| kernel.name() == name);
    found.ok_or_else(|| format!("no kernel `{name}`").into())
}

fn models(names: &[String]) -> Result<Vec<Model>, Failure> {
    if names.is_empty() {
        return Ok(Model::ALL.to_vec());
    }
    let known = |name: &String| {
        Model::ALL.into_iter().find(|model| model.name() == name).ok_or_else(|| {
            let all = Model::ALL.map(Model::name).join(", ");
            format!("no model `{name}`: need one of {all}").into()
        })
    };
    names.iter().map(known).collect()
}

/// Writes and prints the results of the tests. Returns whether one of them fails.
fn report(
    csv: &mut String, [sampler, model]: [&str; 2], outcome: &Calibrated, level: f64,
) -> Result<bool, Failure> {
    let total = outcome.ranks[0].total();
    let kernels: Vec<String> = outcome
        .kernels
        .iter()
        .map(|(name, (count, sum))| format!("{name} {count} at {:.2}", sum / *count as f64))
        .collect();
    let kernels = kernels.join("; ");
    let verdicts = outcome.verdicts()?;
    for (quantity, verdict) in QUANTITIES.iter().zip(&verdicts) {
        let ([chi_square, chi_p], [tail, ecdf_p]) = (verdict.chi_square, verdict.ecdf);
        // Writing to a string does not fail.
        let _ = writeln!(
            csv,
            "{sampler},{model},{quantity},{total},{chi_square:.2},{chi_p:.2e},{tail:.2e},{ecdf_p:.2e},{level:.3e},{},{},{kernels}",
            outcome.within,
            outcome.gradients / total.max(1),
        );
    }
    let (quantity, least) = QUANTITIES
        .iter()
        .zip(&verdicts)
        .map(|(quantity, verdict)| (quantity, verdict.smallest()))
        .fold((&"", f64::INFINITY), |least, found| if found.1 < least.1 { found } else { least });
    let fails = least < level;
    println!(
        "{sampler}, {model}: smallest p {least:.1e} ({quantity}), {}; within {} of {total}; {kernels}",
        if fails { "fails" } else { "passes" },
        outcome.within,
    );
    Ok(fails)
}

/// How often errors of all standard deviations are detected, by one model and by all together.
fn powers(size: Size, models: u64, level: f64) -> Result<String, Failure> {
    let mut csv = String::from("error_percent,replications,calibrations,found\n");
    for (error, seed) in ERRORS.into_iter().zip(1..) {
        for times in [1, models, 2 * models] {
            let replications = times * size.replications;
            let found = power(Size { replications, ..size }, error / 100.0, level, TRIALS, seed)?;
            let _ = writeln!(csv, "{error},{replications},{TRIALS},{found:.3}");
        }
    }
    Ok(csv)
}

fn write(arguments: &Arguments, more: &str, ending: &str, text: &str) -> Result<(), Failure> {
    Ok(std::fs::write(results(&format!("{}{more}.{ending}", arguments.name)), text)?)
}

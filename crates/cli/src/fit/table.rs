//! The table at the end of a fit, and `ridgewalk summary` and `ridgewalk report`.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use ridgewalk::pipeline::{Parameter, SummaryDocument};
use ridgewalk::report::write_report;
use ridgewalk::store::{RunDirectory, read_summary};

use crate::failure::Failure;
use crate::output;

/// Maximum length of a name in the table.
const NAME: usize = 40;

/// Options of `ridgewalk summary` and `ridgewalk report`.
#[derive(Debug, Args)]
pub(crate) struct AgainOptions {
    /// The run directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Write one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs `ridgewalk summary`.
pub(crate) fn summary(options: &AgainOptions) -> Result<(), Failure> {
    let directory = RunDirectory::open(&options.directory)?;
    let document = read_summary(&directory.summary())?;
    if options.json {
        output::json(&document)
    } else {
        output::text(&text(&document, &options.directory))
    }
}

/// Runs `ridgewalk report`.
pub(crate) fn report(options: &AgainOptions) -> Result<(), Failure> {
    let directory = RunDirectory::open(&options.directory)?;
    write_report(&directory)?;
    let path = directory.report();
    if options.json {
        output::json(&serde_json::json!({ "report": path.display().to_string() }))
    } else {
        output::text(&format!("report written to {}", path.display()))
    }
}

/// The table, notes, warnings, the guarantee and the path of the run directory.
pub(crate) fn text(document: &SummaryDocument, directory: &Path) -> String {
    let SummaryDocument { parameters, sampler, text: said, .. } = document;
    let header = ["", "mean", "sd", "mcse", "5 %", "50 %", "95 %", "ESS bulk", "ESS tail", "R-hat"];
    let table = output::table(header, parameters.iter().map(row));
    let mut text = format!("{}\n\n{table}\n\n", said.title);
    let _ = writeln!(
        text,
        "{} of {} draws, {} kernel, eta {:.3}; {} gradients in warm-up and {} in sampling, {:.1} s.",
        if sampler.chains == 1 {
            "1 chain".to_owned()
        } else {
            format!("{} chains", sampler.chains)
        },
        sampler.draws,
        sampler.kernel,
        sampler.eta,
        sampler.warmup_gradients,
        sampler.gradients,
        sampler.seconds
    );
    if let Some(found) = &sampler.trajectories {
        let _ = writeln!(
            text,
            "trajectories of {}: {:.1} % accepted, energy error {:.2} ± {:.2}, {} diverged.",
            if found.steps == 1 { "1 step".to_owned() } else { format!("{} steps", found.steps) },
            100.0 * found.acceptance,
            found.energy_error_mean,
            found.energy_error_sd,
            found.divergences
        );
    }
    if let Some(prior) = said.facts.iter().find(|fact| fact.name == "prior") {
        let _ = writeln!(text, "priors: {}.", prior.value);
    }
    for note in &said.notes {
        let _ = writeln!(text, "note: {note}");
    }
    for warning in &said.warnings {
        let _ = writeln!(text, "warning {}: {}", warning.name, warning.text);
    }
    let _ = writeln!(text, "guarantee: {}", said.guarantee);
    let _ = write!(
        text,
        "written to {}: open report.html in a browser, draws.zarr in ArviZ",
        directory.display()
    );
    text
}

fn row(parameter: &Parameter) -> Vec<String> {
    let Parameter { name, mean, sd, mcse_mean, q05, q50, q95, ess_bulk, ess_tail, rhat, .. } =
        parameter;
    let mut cells = vec![shortened(name)];
    // The digits that are significant given the standard error, and one more.
    cells.extend([mean, sd, mcse_mean, q05, q50, q95].map(|value| digits(*value, *mcse_mean)));
    cells.extend([ess_bulk, ess_tail].map(|value| format!("{value:.0}")));
    cells.push(format!("{rhat:.3}"));
    cells
}

/// A number with the digits that are significant given its error.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of digits between 0 and 8"
)]
fn digits(value: f64, error: f64) -> String {
    let places = if error > 0.0 && error.is_finite() { 1.0 - error.log10().floor() } else { 3.0 };
    if !(-8.0..=8.0).contains(&places) {
        return format!("{value:.3e}");
    }
    format!("{value:.*}", places.clamp(0.0, 8.0) as usize)
}

fn shortened(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    let start: String = name.chars().take(NAME - 1).collect();
    format!("{start}…")
}

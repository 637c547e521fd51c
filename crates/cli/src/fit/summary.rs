//! `ridgewalk summary` and `ridgewalk report`: the results of a run again, with other intervals, as
//! ratios, in part, or in the format of another program.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use ridgewalk::frame::FamilyName;
use ridgewalk::frame::place::listed;
use ridgewalk::pipeline::{Config, Parameter, Ratio, SummaryDocument, validate_interval};
use ridgewalk::report::write_report;
use ridgewalk::store::{RunDirectory, StoredDraws, read_config, read_summary};

use super::table::Run;
use super::{formats, progress};
use crate::failure::Failure;
use crate::output;

/// The most parameters that a note names.
const NAMED: usize = 6;

/// Options of `ridgewalk report`.
#[derive(Debug, Args)]
pub(crate) struct ReportOptions {
    /// The run directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Write one JSON document
    #[arg(long)]
    json: bool,
}

/// Options of `ridgewalk summary`.
#[derive(Debug, Args)]
pub(crate) struct SummaryOptions {
    /// The run directory
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// The form of the table; all but the first write only the table, and notes to standard error
    #[arg(long, value_enum, default_value_t = Format::Table)]
    format: Format,
    /// Show ratios instead of coefficients: odds ratios, rate ratios, time ratios or ratios of
    /// means, by the family
    #[arg(long)]
    exp: bool,
    /// Show only the N coefficients, or effects, with the largest |mean|/sd, largest first
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// Show the effects of the levels of GROUP, or of all groups, in place of the coefficients
    #[arg(long, value_name = "GROUP", num_args = 0..=1, conflicts_with = "exp")]
    effects: Option<Option<String>>,
    /// Intervals that hold the share P of the posterior [default: as in the fit]
    #[arg(long, value_name = "P", allow_negative_numbers = true)]
    interval: Option<f64>,
    /// Show highest-density intervals, the shortest ones, instead of central ones
    #[arg(long)]
    hdi: bool,
    /// Write one JSON document, with the keys of summary.json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

/// The forms of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Text for a terminal
    Table,
    /// A Markdown table
    Markdown,
    /// A LaTeX tabular, for the package booktabs
    Latex,
    /// CSV, with every column and unrounded numbers, and the effects of groups too
    Csv,
    /// An HTML table
    Html,
}

/// Runs `ridgewalk summary`.
pub(crate) fn summary(options: &SummaryOptions) -> Result<(), Failure> {
    if options.top == Some(0) {
        return Err(Failure::Usage("--top 0: need at least 1".into()));
    }
    if let Some(interval) = options.interval {
        validate_interval(interval)?;
    }
    let directory = RunDirectory::open(&options.directory)?;
    let stored = read_summary(&directory.summary())?;
    let (mut document, notes) = view(stored.clone(), &directory, options)?;
    if options.json || options.format == Format::Table {
        document.text.notes.splice(0..0, notes);
        return if options.json {
            output::json(&document)
        } else {
            let (directory, hdi) = (options.directory.as_path(), options.hdi);
            let run = Run { shown: &document, whole: &stored, directory, hdi };
            output::text(&run.text(output::width()))
        };
    }
    for warning in &document.text.warnings {
        progress::write_line(&format!("warning {}: {}", warning.name, warning.text));
    }
    for note in notes {
        progress::write_line(&format!("note: {note}"));
    }
    let listed = document.without_effects();
    output::text(&match options.format {
        Format::Markdown => formats::markdown(&listed, options.hdi),
        Format::Latex => formats::latex(&listed, options.hdi),
        Format::Html => formats::html(&listed, options.hdi),
        Format::Csv | Format::Table => formats::csv(&document),
    })
}

/// The document that was asked for, and notes on what it shows.
fn view(
    stored: SummaryDocument, directory: &RunDirectory, options: &SummaryOptions,
) -> Result<(SummaryDocument, Vec<String>), Failure> {
    let interval = options.interval.unwrap_or(stored.interval);
    // Options and names are needed only where coefficients are told from other parameters.
    let config = match options.exp || options.top.is_some() {
        true => Some(read_config(&directory.config())?),
        false => None,
    };
    let coefficients = config.as_ref().map_or(0, |config| config.resolved.coefficients.len());
    let by_size = ranked(&stored.parameters, coefficients);
    let (mut notes, mut ratios) = (Vec::new(), None);
    let mut document = match &config {
        Some(config) if options.exp => {
            let ratio = Ratio::of(config.options.family)?;
            let draws = StoredDraws::open(&directory.draws())?;
            ratios = Some((config, ratio));
            stored.as_ratios(&draws, ratio, coefficients, interval)?
        }
        _ if interval != stored.interval || stored.parameters.iter().any(|p| p.hdi().is_none()) => {
            stored.at_interval(&StoredDraws::open(&directory.draws())?, interval)?
        }
        _ => stored,
    };
    let (what, by_size) = match &options.effects {
        Some(name) => {
            document = effects(document, name.as_deref(), options)?;
            ("effect", ranked(&document.parameters, document.parameters.len()))
        }
        None => ("coefficient", by_size),
    };
    if let Some(top) = options.top {
        let rows = document.before_effects();
        let all = std::mem::take(&mut document.parameters);
        document.groups.clear();
        let kept = by_size.iter().take(top).filter_map(|k| all.get(*k).cloned());
        document.parameters = kept.collect();
        let shown = document.parameters.len();
        if shown < rows {
            let plural = if shown == 1 { "" } else { "s" };
            notes.push(format!(
                "shown: the {shown} {what}{plural} with the largest |mean|/sd; {} of {rows} rows are left out, and `ridgewalk summary {}{}` shows them all",
                rows - shown,
                options.directory.display(),
                if options.effects.is_some() { " --effects" } else { "" }
            ));
        }
    }
    if let Some((config, ratio)) = ratios {
        notes.extend(about_ratios(config, ratio, &document.parameters));
    }
    Ok((document, notes))
}

/// The effects of a grouping, or of all.
fn effects(
    document: SummaryDocument, name: Option<&str>, options: &SummaryOptions,
) -> Result<SummaryDocument, Failure> {
    document.only_effects(name).ok_or_else(|| {
        let names: Vec<String> = document.groups.iter().map(|group| group.name.clone()).collect();
        let directory = options.directory.display();
        Failure::Usage(match name {
            _ if names.is_empty() => format!(
                "--effects: found no groups in {directory}, need a model such as y ~ x + (1 | g)"
            ),
            name => format!(
                "--effects {}: need one of {}",
                name.unwrap_or_default(),
                listed(&names, NAMED)
            ),
        })
    })
}

/// The numbers of the coefficients by |mean|/sd, the largest first; those without a number last.
fn ranked(parameters: &[Parameter], coefficients: usize) -> Vec<usize> {
    let clear = |p: &Parameter| {
        let size = (p.mean / p.sd).abs();
        if size.is_nan() { -1.0 } else { size }
    };
    let mut order: Vec<usize> = (0..coefficients.min(parameters.len())).collect();
    // Equal ones stay in the order of the table.
    order.sort_by(|a, b| clear(&parameters[*b]).total_cmp(&clear(&parameters[*a])));
    order
}

/// What a reader of ratios should know.
fn about_ratios(config: &Config, ratio: Ratio, shown: &[Parameter]) -> Vec<String> {
    let at_zero = match ratio {
        Ratio::Odds => "the odds",
        Ratio::Rate => "the rate",
        Ratio::Time => "the time",
        _ => "the mean",
    };
    let mut notes = vec![format!(
        "{}: every number is that of e^coefficient, computed draw by draw",
        ratio.plural()
    )];
    if shown.iter().any(|parameter| parameter.name.ends_with("(Intercept)")) {
        notes.push(format!(
            "(Intercept) is not a ratio: it is {at_zero} where every predictor is 0"
        ));
    }
    if config.options.standardize && !config.options.original_scale {
        notes.push("a ratio is for one standard deviation of its predictor".into());
    }
    if config.options.family == FamilyName::Multinomial {
        notes.push("odds are those of a level against the base level".into());
    }
    let own = [&config.resolved.parameters[..], &config.resolved.groups().parameters()].concat();
    match &own[..] {
        [] => {}
        [one] => notes.push(format!("`{one}` is left out, because it is not a coefficient")),
        many => {
            let names = listed(many, NAMED);
            notes.push(format!("left out, because they are not coefficients: {names}"));
        }
    }
    if !config.resolved.groups().is_empty() {
        notes.push("the effects of groups are left out: --effects lists them".into());
    }
    notes
}

/// Runs `ridgewalk report`.
pub(crate) fn report(options: &ReportOptions) -> Result<(), Failure> {
    let directory = RunDirectory::open(&options.directory)?;
    write_report(&directory)?;
    let path = directory.report();
    if options.json {
        output::json(&serde_json::json!({ "report": path.display().to_string() }))
    } else {
        output::text(&format!("report written to {}", path.display()))
    }
}

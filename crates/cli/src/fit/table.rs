//! What `ridgewalk fit`, `resume` and `summary` print about a run: the conclusion first, then the
//! table, then how it was computed.

use std::path::Path;

use ridgewalk::pipeline::{GroupSummary, SamplerFacts, SummaryDocument, Text};

use super::layout;
use crate::numbers::{self, percent, rhat};
use crate::output::wrapped;

/// A longer table comes with a hint, and one longer than the second is cut.
const LONG: usize = 60;
const TOO_LONG: usize = 1000;

/// A run to be shown.
pub(crate) struct Run<'a> {
    /// What is shown: all results, or a part of them.
    pub(crate) shown: &'a SummaryDocument,
    /// All results.
    pub(crate) whole: &'a SummaryDocument,
    /// The run directory.
    pub(crate) directory: &'a Path,
    /// Whether intervals are those of highest density.
    pub(crate) hdi: bool,
}

impl Run<'_> {
    /// The text about the run, in lines of at most `width` columns.
    pub(crate) fn text(&self, width: usize) -> String {
        let Self { shown, whole, directory, hdi } = *self;
        let said = &shown.text;
        let count = shown.before_effects();
        let most = if count > TOO_LONG { LONG } else { TOO_LONG };
        let listed = shown.only(&shown.listed(most));
        let table = layout::table(&listed, hdi, width);
        let rows = shown.problem.n;
        let title = format!("{}: {} model, {rows} rows", said.title, shown.problem.family);
        let mut paragraphs =
            vec![wrapped(&title, width, 0), wrapped(&verdict(whole, said), width, 0)];
        let warnings = said.warnings.iter();
        let warnings =
            warnings.map(|warning| format!("warning {}: {}", warning.name, warning.text));
        paragraphs.extend(warnings.map(|warning| wrapped(&warning, width, 2)));
        paragraphs.extend([String::new(), table.text, String::new()]);

        let run = directory.display();
        let mut below = vec![interval(shown, hdi)];
        if !table.left_out.is_empty() {
            below.push(format!(
                "Left out to fit the width: {}. `ridgewalk summary {run} --format csv` and --json have every column.",
                table.left_out.join(", ")
            ));
        }
        below.extend(shown.groups.iter().map(|group| effects(group, &run.to_string())));
        if count > TOO_LONG {
            below.push(format!(
                "{} of {count} rows are left out: `ridgewalk summary {run} --format csv` has them all, and --top 20 shows the 20 coefficients that are clearest of 0.",
                count - listed.parameters.len()
            ));
        } else if count > LONG {
            below.push(format!(
                "{count} rows: `ridgewalk summary {run} --top 20` shows the 20 coefficients that are clearest of 0."
            ));
        }
        below.extend(said.notes.iter().map(|note| format!("note: {note}")));
        below.extend(origin(said));
        below.extend(computed(&shown.sampler));
        below.push(format!("guarantee: {}", said.guarantee));
        below.push(format!("written to {run}: open report.html in a browser, draws.zarr in ArviZ"));
        paragraphs.extend(below.iter().map(|line| wrapped(line, width, 2)));
        paragraphs.join("\n")
    }
}

/// Whether the results can be used.
fn verdict(whole: &SummaryDocument, said: &Text) -> String {
    let mut text = match said.warnings.len() {
        0 => format!(
            "No warnings: the chains agree (R-hat at most {}), and the draws are worth at least {} independent ones.",
            rhat(whole.largest_rhat()),
            numbers::whole(whole.smallest_ess())
        ),
        1 => "1 warning: read it before you use the results.".to_owned(),
        count => format!("{count} warnings: read them before you use the results."),
    };
    if !said.notes.is_empty() {
        text.push_str(" Notes are below the table.");
    }
    text
}

/// What the interval of the table is.
fn interval(document: &SummaryDocument, hdi: bool) -> String {
    let share = percent(document.interval);
    if hdi {
        return format!(
            "HDI low and HDI high: the highest-density interval, the shortest that holds {share} of the draws."
        );
    }
    let [low, high] = layout::tails(document.interval);
    format!("{low} and {high}: quantiles; {share} of the posterior is between them.")
}

/// Where the effects of a grouping are, and how well they were computed.
fn effects(group: &GroupSummary, run: &str) -> String {
    let GroupSummary { name, coefficients, levels, smallest_ess, largest_rhat, .. } = group;
    let count = group.effects();
    let each = match coefficients.len() {
        _ if group.smooth => format!("{count} effects of {name}, the wiggles of its curve"),
        1 => format!("{count} effects of {name}, one for each level"),
        several => format!("{count} effects of {name}, {several} for each of {levels} levels"),
    };
    format!(
        "{each} (ESS at least {}, R-hat at most {}): `ridgewalk summary {run} --effects {}`.",
        numbers::whole(*smallest_ess),
        rhat(*largest_rhat),
        quoted(name)
    )
}

/// A name as a shell takes it.
fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "_-.:".contains(c);
    match name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

/// Priors, and the scale of the results if it is not that of the data.
fn origin(said: &Text) -> Vec<String> {
    let fact = |name: &str| said.facts.iter().find(|fact| fact.name == name);
    let scale = fact("scale of the results").filter(|scale| scale.value != "the data");
    let scale = scale.map(|scale| format!("scale: {}.", scale.value));
    let priors = fact("prior").map(|prior| format!("priors: {}.", prior.value));
    scale.into_iter().chain(priors).collect()
}

/// How the draws were made.
fn computed(sampler: &SamplerFacts) -> Vec<String> {
    let chains = if sampler.chains == 1 {
        "1 chain".to_owned()
    } else {
        format!("{} chains", sampler.chains)
    };
    let mut lines = vec![format!(
        "sampling: {chains} of {} draws in {:.1} s; {} kernel, eta {:.3}, {} gradients in warm-up and {} in sampling.",
        sampler.draws,
        sampler.seconds,
        sampler.kernel,
        sampler.eta,
        sampler.warmup_gradients,
        sampler.gradients
    )];
    if let Some(found) = sampler.trajectories.as_ref().filter(|found| found.steps == 0) {
        let accepted = 100.0 * found.acceptance;
        lines.push(format!("moves decided by a few rows: {accepted:.1} % accepted."));
    } else if let Some(found) = &sampler.trajectories {
        let steps =
            if found.steps == 1 { "1 step".to_owned() } else { format!("{} steps", found.steps) };
        lines.push(format!(
            "trajectories of {steps}: {:.1} % accepted, energy error {:.2} ± {:.2}, {} diverged.",
            100.0 * found.acceptance,
            found.energy_error_mean,
            found.energy_error_sd,
            found.divergences
        ));
    }
    lines
}

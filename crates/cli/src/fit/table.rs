//! What `ridgewalk fit`, `resume` and `summary` print about a run: the conclusion first, then the
//! table, then how it was computed.

use std::path::Path;

use ridgewalk::pipeline::{SamplerFacts, SummaryDocument, Text};

use super::layout;
use crate::numbers::{percent, rhat, whole};
use crate::output::wrapped;

/// A longer table comes with a hint.
const LONG: usize = 60;

/// The text about a run, in lines of at most `width` columns.
pub(crate) fn text(
    document: &SummaryDocument, directory: &Path, hdi: bool, width: usize,
) -> String {
    let SummaryDocument { parameters, sampler, problem, text: said, .. } = document;
    let table = layout::table(document, hdi, width);
    let mut lines = vec![format!("{}: {} model, {} rows", said.title, problem.family, problem.n)];
    lines.extend(verdict(document));
    lines.push(String::new());
    let above: Vec<String> = lines.iter().map(|line| wrapped(line, width)).collect();

    let run = directory.display();
    let mut lines = vec![String::new(), interval(document, hdi)];
    if !table.left_out.is_empty() {
        lines.push(format!(
            "Left out, to fit the width: {}. --json and `ridgewalk summary {run} --format csv` have every column.",
            table.left_out.join(", ")
        ));
    }
    if parameters.len() > LONG {
        lines.push(format!(
            "{} rows: `ridgewalk summary {run} --top 20` shows the 20 coefficients that are clearest of 0.",
            parameters.len()
        ));
    }
    lines.extend(said.notes.iter().map(|note| format!("note: {note}")));
    lines.extend(origin(said));
    lines.extend(computed(sampler));
    lines.push(format!("guarantee: {}", said.guarantee));
    lines.push(format!("written to {run}: open report.html in a browser, draws.zarr in ArviZ"));
    let below: Vec<String> = lines.iter().map(|line| wrapped(line, width)).collect();
    format!("{}\n{}\n{}", above.join("\n"), table.text, below.join("\n"))
}

/// Whether the results can be used, and what to be careful of.
fn verdict(document: &SummaryDocument) -> Vec<String> {
    let warnings = &document.text.warnings;
    let first = match warnings.len() {
        // The document may be a view with some of the parameters; each of them passed.
        0 => format!(
            "All checks passed: the chains agree (R-hat at most {}), and the draws are worth at least {} independent ones.",
            rhat(document.largest_rhat()),
            whole(document.smallest_ess())
        ),
        1 => "1 warning: read it before you use the results.".to_owned(),
        count => format!("{count} warnings: read them before you use the results."),
    };
    let each = warnings.iter().map(|warning| format!("warning {}: {}", warning.name, warning.text));
    std::iter::once(first).chain(each).collect()
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
    if let Some(found) = &sampler.trajectories {
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

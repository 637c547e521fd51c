//! `ridgewalk compare`: several fits of the same responses, the best first.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use ridgewalk::pipeline::{Comparison, LooDocument, Responses, compare};

use super::loo::MethodOptions;
use super::{Counter, MemoryOption, open};
use crate::failure::Failure;
use crate::fit::options::Voice;
use crate::output;
use crate::signals::stop_reading;

/// Options of `ridgewalk compare`.
#[derive(Debug, Args)]
pub(crate) struct CompareOptions {
    /// Run directories of fits with the same response and rows
    #[arg(required = true, num_args = 2..)]
    directories: Vec<PathBuf>,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    voice: Voice,
}

/// Runs `ridgewalk compare`.
pub(crate) fn run(options: &CompareOptions) -> Result<(), Failure> {
    let stop = stop_reading(options.voice);
    let mut fits: Vec<(String, Responses, LooDocument)> = Vec::new();
    for path in &options.directories {
        let run = open(path, options.memory)?;
        let (rows, counter) = (run.rows()?, Counter::new(options.voice));
        let done =
            run.loo(&rows, options.method.options(), &stop, &|progress| counter.loo(progress));
        counter.end();
        let (document, responses) = done?;
        fits.push((path.display().to_string(), responses, document));
    }
    let lent: Vec<(String, &Responses, &LooDocument)> = fits
        .iter()
        .map(|(name, responses, document)| (name.clone(), responses, document))
        .collect();
    let comparison = compare(&lent)?;
    if options.voice.json { output::json(&comparison) } else { output::text(&text(&comparison)) }
}

fn text(comparison: &Comparison) -> String {
    let heads = ["", "elpd_loo", "se", "p_loo", "difference", "se", "weight"].map(str::to_owned);
    let rows: Vec<Vec<String>> = comparison
        .models
        .iter()
        .map(|model| {
            let number = |value: f64| format!("{value:.1}");
            vec![
                model.name.clone(),
                number(model.elpd_loo),
                number(model.se),
                if model.p_loo.is_nan() { String::new() } else { number(model.p_loo) },
                number(model.elpd_diff),
                number(model.se_diff),
                format!("{:.2}", model.weight),
            ]
        })
        .collect();
    let fitted = |text: &str| output::wrapped(text, output::width(), 2);
    let what = match &comparison.groups {
        Some(by) => format!("responses, leaving out {} levels of {by}", comparison.n),
        None => format!("{} responses", comparison.n),
    };
    let title =
        format!("{} fits of the same {what}, the best predictions first.", comparison.models.len());
    let mut text = format!("{}\n\n{}\n\n", fitted(&title), output::plain(&heads, &rows));
    let said = "difference: how much worse than the best, with its standard error. weight: share in \
                the mixture that predicts best (stacking).";
    let _ = writeln!(text, "{}", fitted(said));
    for warning in &comparison.warnings {
        let _ = writeln!(text, "{}", fitted(&format!("note: {warning}")));
    }
    text.trim_end().to_owned()
}

//! `ridgewalk loo`: how well a fit predicts rows that it has not seen.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use ridgewalk::pipeline::{FitRows, LeftOutGroups, LooDocument, LooMethod, LooOptions as Options};

use super::{Counter, MemoryOption, open};
use crate::failure::Failure;
use crate::fit::options::Voice;
use crate::output;
use crate::signals::stop_reading;

/// Rows named in messages.
const NAMED: usize = 8;

/// Options of `ridgewalk loo`.
#[derive(Debug, Args)]
pub(crate) struct LooOptions {
    /// The run directory
    directory: PathBuf,
    #[command(flatten)]
    method: MethodOptions,
    #[command(flatten)]
    memory: MemoryOption,
    #[command(flatten)]
    voice: Voice,
}

/// How rows are left out.
#[derive(Debug, Clone, Args)]
pub(crate) struct MethodOptions {
    /// Leave out all rows of a level together: a grouping of the fit, or a column of its data. The
    /// effects of the level are integrated out
    #[arg(long, value_name = "G")]
    groups: Option<String>,
    /// Refit without each row in turn, instead of importance sampling
    #[arg(long, conflicts_with = "folds")]
    exact: bool,
    /// Leave rows, or levels of G, out in K folds, chosen at random by the seed of the fit
    #[arg(long, value_name = "K")]
    folds: Option<usize>,
    /// The most rows that are refitted because importance sampling fails for them, or levels of G
    #[arg(long, value_name = "N", default_value_t = Options::default().refits)]
    refits: usize,
}

impl MethodOptions {
    pub(crate) fn options(&self) -> Options {
        let method = match (self.exact, self.folds) {
            (true, _) => LooMethod::Exact,
            (false, Some(folds)) => LooMethod::Folds(folds),
            (false, None) => LooMethod::Psis,
        };
        Options { method, refits: self.refits, groups: self.groups.clone() }
    }
}

/// Runs `ridgewalk loo`.
pub(crate) fn run(options: &LooOptions) -> Result<(), Failure> {
    let run = open(&options.directory, options.memory)?;
    let stop = stop_reading(options.voice);
    let counter = Counter::new(options.voice);
    let rows = run.rows()?;
    let done = run.loo(&rows, options.method.options(), &stop, &|progress| counter.loo(progress));
    counter.end();
    let (document, _) = done?;
    if options.voice.json {
        output::json(&document)
    } else {
        output::text(&text(&document, &rows)?)
    }
}

fn text(document: &LooDocument, data: &FitRows<'_>) -> Result<String, Failure> {
    let LooDocument { n, draws, .. } = document;
    let how = match (&document.groups, document.method) {
        (Some(groups), LooMethod::Folds(folds)) => {
            format!(
                "leaving out {n} levels of {} in {folds} folds, with a refit for each",
                groups.by
            )
        }
        (Some(groups), _) => {
            format!(
                "leaving out each of {n} levels of {} in turn, with a refit for each",
                groups.by
            )
        }
        (None, LooMethod::Psis) => {
            format!("leaving out each of {n} rows in turn, from {draws} draws")
        }
        (None, LooMethod::Exact) => {
            format!("leaving out each of {n} rows in turn, with a refit for each")
        }
        (None, LooMethod::Folds(folds)) => {
            format!("leaving out {n} rows in {folds} groups, with a refit for each")
        }
    };
    let number = |value: f64| if value.is_nan() { String::new() } else { format!("{value:.1}") };
    let row =
        |name: &str, value: f64, error: f64| vec![name.to_owned(), number(value), number(error)];
    let mut rows = vec![
        row("elpd_loo", document.elpd_loo, document.se),
        row("p_loo", document.p_loo, f64::NAN),
        row("looic", document.looic, 2.0 * document.se),
    ];
    if document.method == LooMethod::Psis {
        rows.push(row("elpd_waic", document.elpd_waic, document.se_waic));
        rows.push(row("p_waic", document.p_waic, f64::NAN));
    }
    rows.retain(|row| !row[1].is_empty());
    let heads = ["", "estimate", "standard error"].map(str::to_owned);
    let title = format!("How well new responses are predicted, {how}.");
    let mut text = format!("{}\n\n{}\n\n", fitted(&title), output::plain(&heads, &rows));
    let said = "elpd_loo is the expected log density of new responses: larger is better.";
    let _ = writeln!(text, "{}", fitted(said));
    if let Some(groups) = &document.groups {
        let _ = writeln!(text, "{}", fitted(&hardest(document, groups)));
    }
    if document.method == LooMethod::Psis {
        let _ = writeln!(text, "{}", fitted(&reliability(document, data)?));
    }
    for warning in &document.warnings {
        let _ = writeln!(text, "{}", fitted(&format!("warning: {warning}")));
    }
    Ok(text.trim_end().to_owned())
}

/// The levels whose rows were predicted worst.
fn hardest(document: &LooDocument, groups: &LeftOutGroups) -> String {
    let mut order: Vec<usize> = (0..document.n).collect();
    order.sort_by(|a, b| document.pointwise[*a].total_cmp(&document.pointwise[*b]));
    let one = |k: &usize| format!("{} ({:.1})", groups.levels[*k], document.pointwise[*k]);
    let named: Vec<String> = order.iter().take(NAMED).map(one).collect();
    let more = if document.n > NAMED { ", ..." } else { "" };
    format!(
        "Each level contributes the log of the joint density of its rows, averaged over its effects. \
         The lowest: {}{more}.",
        named.join(", ")
    )
}

/// A paragraph that fits the terminal.
fn fitted(text: &str) -> String {
    output::wrapped(text, output::width(), 2)
}

/// Which rows importance sampling could not leave out.
fn reliability(document: &LooDocument, data: &FitRows<'_>) -> Result<String, Failure> {
    let LooDocument { pareto_k, k_limit, refitted, unreliable, .. } = document;
    let high = refitted.len() + unreliable.len();
    if high == 0 {
        let largest = pareto_k.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        return Ok(format!(
            "Reliable for every row: the largest Pareto k is {largest:.2}, below {k_limit:.2}."
        ));
    }
    let mut named: Vec<usize> = refitted.iter().chain(unreliable).copied().collect();
    named.sort_by(|a, b| pareto_k[*b].total_cmp(&pareto_k[*a]));
    let place = |row: &usize| {
        let at = data.place(*row)?.map(|place| place.to_string()).unwrap_or_default();
        Ok(format!("{at} (k = {:.2})", pareto_k[*row]))
    };
    let places = named.iter().take(NAMED).map(place).collect::<Result<Vec<_>, Failure>>()?;
    let more = if high > NAMED { ", ..." } else { "" };
    Ok(format!(
        "{high} of {} rows are influential, with Pareto k above {k_limit:.2}: {}{more}. {} of them \
         were refitted exactly.",
        document.n,
        places.join(", "),
        refitted.len()
    ))
}

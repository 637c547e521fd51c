//! `report.html`: everything about a run in one self-contained file.
//!
//! No script is needed to read it; a short one sorts and filters the table. Plots are inline SVG
//! whose colours come from the style sheet, so that they follow the reader's light or dark setting.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod convergence;
mod density;
mod forest;
mod html;
mod numbers;
mod panels;
mod svg;
mod table;

use std::fmt::Write;
use std::fs;

use rayon::prelude::*;
use ridgewalk_fit::{DrawReader, SummaryDocument, Trajectories};
use ridgewalk_store::{
    Error, FileAction, RunDirectory, StoredDraws, read_summary, write_atomically,
};

use html::escape;
use numbers::{count, short, whole};
use panels::{Column, Shown};

/// Makes `report.html` from the other files of a run directory.
///
/// # Errors
/// If one of them cannot be read, they do not match, or the report cannot be written.
pub fn write_report(directory: &RunDirectory) -> Result<(), Error> {
    let summary = read_summary(&directory.summary())?;
    let draws = StoredDraws::open(&directory.draws())?;
    let (path, what) = (directory.config(), FileAction::Read);
    let config = fs::read_to_string(&path);
    let config = config.map_err(|source| Error::File { what, path, source })?;
    if draws.names().len() != summary.parameters.len() {
        let (got, need) = (draws.names().len(), summary.parameters.len());
        return Err(Error::Shape { what: "coefficients in draws.zarr", got, need });
    }
    let page = report(&summary, &draws, &config)?;
    write_atomically(&directory.report(), page.as_bytes())
}

/// The report as HTML, from a summary, its draws and the text of `config.toml`.
///
/// # Errors
/// If the draws cannot be read.
pub fn report(
    summary: &SummaryDocument, draws: &dyn DrawReader, config: &str,
) -> Result<String, ridgewalk_fit::Error> {
    let about = About {
        made: draws.made(),
        incomplete: draws.incomplete(),
        chains: draws.chains(),
        draws: draws.draws(),
    };
    let points = panels::points(summary.parameters.len(), summary.sampler.chains);
    let mut shown: Vec<Shown> = Vec::with_capacity(summary.parameters.len());
    draws.columns(&mut |columns| {
        let first = shown.len();
        let parameters = summary.parameters.get(first..).unwrap_or_default();
        let some =
            columns.par_iter().zip(parameters).enumerate().map(|(i, (column, parameter))| {
                let chains = column.chunks_exact(about.draws.max(1)).collect();
                Shown::of(first + i, parameter, &Column::new(chains), points)
            });
        shown.par_extend(some);
        Ok(())
    })?;
    Ok(page(summary, &about, config, &shown))
}

/// Facts about the draws as a whole.
#[derive(Debug)]
struct About {
    /// Draws made by each chain, and whether the run is incomplete.
    made: Vec<u64>,
    incomplete: bool,
    chains: usize,
    /// Draws per chain that are shown.
    draws: usize,
}

fn page(summary: &SummaryDocument, draws: &About, config: &str, shown: &[Shown]) -> String {
    let (forest, forests) = forest::forest(&summary.parameters, shown);
    let (convergence, overviews) = convergence::convergence(summary);
    let cards: String = shown.iter().map(|shown| shown.card.as_str()).collect();
    let cards = format!("<div class=\"cards\">\n{cards}</div>\n");
    let plots = forests + overviews + cards.matches("<svg").count();
    let title = escape(&summary.text.title);
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
         content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" \
         content=\"ridgewalk {}\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main data-plots=\"{plots}\">\n",
        env!("CARGO_PKG_VERSION"),
        include_str!("style.css")
    );
    page.push_str(&header(summary, draws));
    section(&mut page, "summary", "Summary", &table::table(&summary.parameters));
    section(&mut page, "intervals", "Intervals", &forest);
    section(&mut page, "convergence", "Convergence", &convergence);
    section(&mut page, "accuracy", "Accuracy", &accuracy(summary));
    section(&mut page, "problem", "Problem", &problem(summary));
    section(&mut page, "tuning", "Tuning", &tuning(summary));
    section(
        &mut page,
        "plots",
        "Densities and traces",
        &format!("{}{cards}", about_cards(summary, draws)),
    );
    section(&mut page, "again", "Run it again", &again(summary, config));
    let _ = write!(
        page,
        "<footer>Made by ridgewalk {}.</footer>\n</main>\n<script>\n{}</script>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        include_str!("script.js")
    );
    page
}

fn section(page: &mut String, id: &str, title: &str, body: &str) {
    let _ = write!(page, "<section id=\"{id}\">\n<h2>{title}</h2>\n{body}</section>\n");
}

/// Title, status, warnings and key figures.
fn header(summary: &SummaryDocument, draws: &About) -> String {
    let SummaryDocument { sampler, problem, text, .. } = summary;
    let missing = shortfall(draws);
    let (class, status) = match &missing {
        _ if sampler.status != "ok" => ("warn", escape(&sampler.status)),
        Some((name, _)) => ("warn", (*name).to_owned()),
        None => ("good", "No warnings".to_owned()),
    };
    let mut html = format!(
        "<header>\n<h1>{}</h1>\n<p class=\"lede\">{} model, {} observations, {} coefficients; {} chains of {} draws with the {} kernel.</p>\n\
         <p class=\"status {class}\"><span>{status}</span></p>\n",
        escape(&text.title),
        escape(&capital(&problem.family)),
        count(problem.n as u64),
        count(problem.d as u64),
        count(sampler.chains as u64),
        count(sampler.draws),
        escape(&sampler.kernel)
    );
    let mut warnings: Vec<String> = Vec::new();
    for warning in &text.warnings {
        warnings.push(format!("<b>{}</b> {}", escape(&warning.name), escape(&warning.text)));
    }
    warnings.extend(missing.map(|(name, said)| format!("<b>{name}</b> {said}")));
    list(&mut html, "warnings", &warnings);
    list(&mut html, "notes", &text.notes.iter().map(|note| escape(note)).collect::<Vec<_>>());
    html.push_str("<dl class=\"figures\">\n");
    let bias = if sampler.bias_estimate.is_nan() {
        "–".to_owned()
    } else {
        short(sampler.bias_estimate)
    };
    for (value, name) in [
        (whole(summary.smallest_ess()), "smallest ESS"),
        (rhat(summary.largest_rhat()), "largest R&#770;"),
        (bias, "bias estimate, in sd"),
        (count(sampler.warmup_gradients.saturating_add(sampler.gradients)), "gradients"),
        (format!("{} s", short(sampler.seconds)), "run time"),
    ] {
        let _ = writeln!(html, "<div><dd>{value}</dd><dt>{name}</dt></div>");
    }
    html.push_str(
        "</dl>\n<nav aria-label=\"Contents\"><a href=\"#summary\">Summary</a><a href=\"#intervals\">Intervals</a>\
         <a href=\"#convergence\">Convergence</a><a href=\"#accuracy\">Accuracy</a><a href=\"#problem\">Problem</a>\
         <a href=\"#tuning\">Tuning</a><a href=\"#plots\">Densities and traces</a><a href=\"#again\">Run it again</a></nav>\n</header>\n",
    );
    html
}

/// The name and text of a warning about missing draws.
fn shortfall(draws: &About) -> Option<(&'static str, String)> {
    let least = draws.made.iter().min()?;
    if draws.made.iter().any(|made| made > least) {
        let made: Vec<String> = draws.made.iter().map(u64::to_string).collect();
        let said = format!(
            "The chains made {} draws. This report uses the first {least} of each, so that all chains have the same weight.",
            made.join(", ")
        );
        return Some(("truncated", said));
    }
    let said = || {
        format!(
            "The run ended before it had made all its draws: there are {least} draws per chain."
        )
    };
    draws.incomplete.then(|| ("incomplete", said()))
}

fn list(html: &mut String, class: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(html, "<ul class=\"{class}\">");
    for item in items {
        let _ = writeln!(html, "<li>{item}</li>");
    }
    html.push_str("</ul>\n");
}

/// The bias estimate and the guarantee.
fn accuracy(summary: &SummaryDocument) -> String {
    let sampler = &summary.sampler;
    let mut html = String::new();
    if !summary.text.guarantee.is_empty() {
        let _ = writeln!(html, "<p class=\"guarantee\">{}</p>", escape(&summary.text.guarantee));
    }
    if let Some(trajectories) = &sampler.trajectories {
        return html + &energy(trajectories);
    }
    let Some(bias) = &sampler.bias_details else {
        let said = if sampler.bias_estimate.is_nan() {
            "The discretisation bias was not estimated.".to_owned()
        } else {
            format!(
                "The discretisation bias is estimated as {} posterior standard deviations.",
                short(sampler.bias_estimate)
            )
        };
        return html + &format!("<p class=\"say\">{said}</p>\n");
    };
    let _ = write!(
        html,
        "<p class=\"say\">A sampler with a finite step has a bias that more draws do not remove. It was estimated from pairs of chains with the full and the half step, driven by the same noise.</p>\n<table class=\"facts\">\n<thead><tr><th></th><th scope=\"col\">estimate</th>\
         <th scope=\"col\">standard error</th><th scope=\"col\">allowed</th></tr></thead>\n<tbody>\n"
    );
    for (name, value, error) in [
        ("largest bias of a mean, in posterior sd", bias.mean, bias.mean_error),
        ("largest relative bias of an sd", bias.sd, bias.sd_error),
        ("largest bias of a quantile, in sds", bias.quantile, bias.quantile_error),
    ] {
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            short(value),
            short(error),
            short(bias.tolerance)
        );
    }
    html + "</tbody>\n</table>\n"
}

/// Trajectory statistics.
fn energy(found: &Trajectories) -> String {
    let Trajectories { steps, count: made, acceptance, divergences, acceptance_by_chain, .. } =
        found;
    let lowest = acceptance_by_chain.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = acceptance_by_chain.iter().copied().fold(0.0, f64::max);
    let facts = [
        ("trajectories, all chains", count(*made)),
        ("steps per trajectory", count(u64::from(*steps))),
        ("accepted", format!("{:.1} %", 100.0 * acceptance)),
        ("accepted, by chain", format!("{:.1} to {:.1} %", 100.0 * lowest, 100.0 * highest)),
        (
            "energy error, mean and standard deviation",
            format!("{} and {}", short(found.energy_error_mean), short(found.energy_error_sd)),
        ),
        ("largest energy error", short(found.energy_error_largest)),
        ("divergences", count(*divergences)),
    ];
    let mut html = String::from(
        "<p class=\"say\">Trajectories are accepted or rejected by their energy error, so there is no discretisation bias: accuracy improves with more draws without limit.</p>\n<table class=\"facts\">\n<tbody>\n",
    );
    for (name, value) in facts {
        let _ = writeln!(html, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    html + "</tbody>\n</table>\n"
}

/// The data, the curvature and the sampler's parameters.
fn problem(summary: &SummaryDocument) -> String {
    let SummaryDocument { sampler, problem, text, .. } = summary;
    let mut facts: Vec<(String, String)> = vec![
        ("family".to_owned(), escape(&problem.family)),
        ("observations".to_owned(), count(problem.n as u64)),
        ("coefficients".to_owned(), count(problem.d as u64)),
    ];
    facts.extend(text.facts.iter().map(|fact| (escape(&fact.name), escape(&fact.value))));
    let curvature: [(&str, String); 3] = [
        ("smallest curvature <i>m</i>", short(problem.convexity)),
        ("largest curvature <i>L</i>", short(problem.smoothness)),
        ("condition number <i>L</i>/<i>m</i>", short(problem.condition_number)),
    ];
    let sampling: [(&str, String); 8] = [
        ("kernel", escape(&sampler.kernel)),
        ("friction γ", short(sampler.gamma)),
        ("friction ξ", short(sampler.xi)),
        ("step η", short(sampler.eta)),
        ("steps between draws", count(sampler.thin)),
        ("chains × draws", format!("{} × {}", count(sampler.chains as u64), count(sampler.draws))),
        ("gradients in warm-up", count(sampler.warmup_gradients)),
        ("gradients in sampling", count(sampler.gradients)),
    ];
    let mut html = "<div class=\"three\">\n".to_owned();
    let rows = |title: &str, rows: &mut dyn Iterator<Item = (String, String)>| {
        let mut html = format!("<table class=\"facts\">\n<caption>{title}</caption>\n<tbody>\n");
        for (name, value) in rows {
            let _ = writeln!(html, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
        }
        html + "</tbody>\n</table>\n"
    };
    let owned = |(name, value): (&str, String)| (name.to_owned(), value);
    html.push_str(&rows("Model and data", &mut facts.into_iter()));
    html.push_str(&rows("Curvature", &mut curvature.into_iter().map(owned)));
    html.push_str(&rows("Sampler", &mut sampling.into_iter().map(owned)));
    html + "</div>\n"
}

/// The decisions of the warm-up.
fn tuning(summary: &SummaryDocument) -> String {
    let history = &summary.text.history;
    if history.is_empty() {
        return "<p class=\"say\">Nothing was tuned: the parameters were given.</p>\n".to_owned();
    }
    let mut html = "<ol class=\"history\">\n".to_owned();
    for entry in history {
        let _ = writeln!(html, "<li>{}</li>", escape(entry));
    }
    html + "</ol>\n"
}

/// A legend for the plots.
fn about_cards(summary: &SummaryDocument, draws: &About) -> String {
    let mut said = "Left, the density of all draws (bold; the central 90 % filled) and of each chain; right, the trace of each chain, with the means of short stretches: a chain that drifts or is stuck stands apart."
        .to_owned();
    if draws.draws > panels::points(summary.parameters.len(), draws.chains) {
        said.push_str(
            " Long traces show only the lowest and the highest draw of each short stretch.",
        );
    }
    if draws.chains > panels::MOST_CHAINS {
        let _ = write!(
            said,
            " Only the first {} of {} chains are drawn individually.",
            panels::MOST_CHAINS,
            draws.chains
        );
    }
    format!("<p class=\"say\">{said}</p>\n")
}

/// The command and the configuration.
fn again(summary: &SummaryDocument, config: &str) -> String {
    format!(
        "<pre class=\"command\"><code>{}</code></pre>\n<p class=\"say\">The configuration (<code>config.toml</code>):</p>\n\
         <pre><code>{}</code></pre>\n",
        escape(&summary.text.command),
        escape(config.trim_end())
    )
}

/// R-hat, to three decimals.
fn rhat(value: f64) -> String {
    if value == f64::INFINITY { "∞".to_owned() } else { numbers::fixed(value, 3) }
}

/// The text with a capital first letter.
fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

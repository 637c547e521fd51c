//! `report.html`: everything about a run in one self-contained file. What was asked and found comes
//! first, then the model against its data, then the details; how it was sampled is in the back.
//!
//! No script is needed to read it; a short one sorts and filters the table. Plots are inline SVG
//! whose colours come from the style sheet, so that they follow the reader's light or dark setting.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod accuracy;
mod checks;
mod convergence;
mod density;
mod findings;
mod forest;
mod groups;
mod html;
mod model;
mod numbers;
mod pairs;
mod panels;
mod priors;
mod svg;
mod table;

use std::fmt::Write;
use std::fs;

use rayon::prelude::*;
use ridgewalk_fit::{Checks, DrawReader, GroupSummary, SummaryDocument};
use ridgewalk_store::{
    Error, FileAction, RunDirectory, StoredDraws, read_checks, read_summary, write_atomically,
};

use groups::Groups;
use html::escape;
use model::Model;
use numbers::{count, short, whole};
use panels::{Column, Shown};

/// The most parameters with a row and plots of their own.
const MOST_LISTED: usize = 500;

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
    let checks = read_checks(&directory.checks())?;
    let page = report(&summary, &draws, &config, checks.as_ref())?;
    write_atomically(&directory.report(), page.as_bytes())
}

/// The report as HTML, from a summary, its draws, the text of `config.toml` and the checks of the
/// model against its data. Sections whose source is missing are left out.
///
/// # Errors
/// If the draws cannot be read.
pub fn report(
    summary: &SummaryDocument, draws: &dyn DrawReader, config: &str, checks: Option<&Checks>,
) -> Result<String, ridgewalk_fit::Error> {
    let about = About {
        made: draws.made(),
        incomplete: draws.incomplete(),
        chains: draws.chains(),
        draws: draws.draws(),
    };
    // Effects of groups have no plots of their own.
    let (own, kept) = (summary.before_effects(), summary.listed(MOST_LISTED));
    let smooths: Vec<_> = summary.groups.iter().filter(|group| group.smooth).collect();
    let smooth = |number: usize| smooths.iter().any(|group| group.range().contains(&number));
    let points = panels::points(kept.len(), summary.sampler.chains);
    let mut shown: Vec<Shown> = Vec::with_capacity(summary.parameters.len());
    draws.columns(&mut |columns| {
        let first = shown.len();
        let parameters = summary.parameters.get(first..).unwrap_or_default();
        let some =
            columns.par_iter().zip(parameters).enumerate().map(|(i, (column, parameter))| {
                let chains = column.chunks_exact(about.draws.max(1)).collect();
                let (number, column) = (first + i, Column::new(chains));
                match kept.binary_search(&number) {
                    Ok(place) => Shown::of(place, parameter, &column, points),
                    Err(_) => Shown::of_effect(&column, smooth(number)),
                }
            });
        shown.par_extend(some);
        Ok(())
    })?;
    let model = Model::new(config, summary);
    let groups = Groups::new(summary, &shown, model.as_ref(), checks);
    let (listed, left_out) = (summary.only(&kept), own - kept.len());
    let some: Vec<Shown> = match left_out {
        0 => Vec::new(),
        _ => kept.iter().filter_map(|&k| shown.get(k).cloned()).collect(),
    };
    let model_of_some = model.as_ref().filter(|_| left_out > 0).map(|model| model.only(&kept));
    let (model, whole) = (model_of_some.as_ref().or(model.as_ref()), summary);
    let (summary, shown) =
        (&listed, if left_out > 0 { &some } else { &shown[..own.min(shown.len())] });
    let about = &about;
    let all = Source { summary, whole, left_out, about, config, checks, model, shown, groups };
    Ok(all.page())
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

/// What a page is made of.
struct Source<'a> {
    /// Without the effects of groups.
    summary: &'a SummaryDocument,
    /// With them.
    whole: &'a SummaryDocument,
    /// How many coefficients are not shown one by one.
    left_out: usize,
    about: &'a About,
    config: &'a str,
    checks: Option<&'a Checks>,
    model: Option<&'a Model>,
    shown: &'a [Shown],
    groups: Option<Groups<'a>>,
}

impl Source<'_> {
    fn page(&self) -> String {
        let summary = self.summary;
        let sections = self.sections();
        let mut body = self.header();
        body.push_str("<nav aria-label=\"Contents\">");
        for (id, title, _) in &sections {
            let _ = write!(body, "<a href=\"#{id}\">{title}</a>");
        }
        body.push_str("</nav>\n</header>\n");
        for (id, title, content) in &sections {
            let _ = write!(body, "<section id=\"{id}\">\n<h2>{title}</h2>\n{content}</section>\n");
        }
        let (version, plots) = (env!("CARGO_PKG_VERSION"), body.matches("<svg").count());
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"generator\" \
             content=\"ridgewalk {version}\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main data-plots=\"{plots}\">\n\
             {body}<footer>Made by ridgewalk {version}.</footer>\n</main>\n<script>\n{}</script>\n</body>\n</html>\n",
            escape(&summary.text.title),
            include_str!("style.css"),
            include_str!("script.js")
        )
    }

    /// Identifier, title and content of each section, in order.
    fn sections(&self) -> Vec<(&'static str, &'static str, String)> {
        let Self { summary, about, config, model, shown, .. } = *self;
        let mut all = vec![("effects", "Effects", forest::forest(summary, shown, model))];
        if let Some(groups) = &self.groups {
            all.push(("groups", groups.title(), groups.section()));
        }
        if let Some(checks) = self.checks {
            all.push(("checks", "Does the model fit the data?", checks::checks(checks)));
        }
        let curves: Vec<_> = shown.iter().map(|shown| shown.curve.clone()).collect();
        let priors = model.and_then(|model| {
            priors::priors(model, &summary.parameters, &curves, &self.at_means(model))
        });
        all.extend(priors.map(|content| ("priors", "Priors and posteriors", content)));
        all.push(("summary", "Table", table::table(summary, model)));
        let names: Vec<&str> = summary.parameters.iter().map(|p| p.name.as_str()).collect();
        let some: Vec<&[f64]> = shown.iter().map(|shown| &shown.some[..]).collect();
        let pairs = pairs::pairs(&names, &some);
        all.extend(pairs.map(|content| ("pairs", "Correlated coefficients", content)));
        let cards: String = shown.iter().map(|shown| shown.card.as_str()).collect();
        let cards =
            format!("{}<div class=\"cards\">\n{cards}</div>\n", about_cards(summary, about));
        let converged = figures(self.whole) + &convergence::convergence(summary, self.whole);
        all.extend([
            ("convergence", "Convergence", converged),
            ("accuracy", "Accuracy", accuracy::accuracy(self.whole)),
            ("problem", "Model, data and sampler", problem(summary)),
            ("tuning", "Tuning", tuning(summary)),
            ("plots", "Densities and traces", cards),
            ("again", "Run it again", again(summary, config)),
        ]);
        all
    }

    /// Draws of the intercept at the means of the predictors, for each linear predictor.
    fn at_means(&self, model: &Model) -> Vec<Vec<f64>> {
        let columns = model.centres.len();
        if columns == 0 {
            return Vec::new();
        }
        let coefficients = &self.shown[..model.coefficients.min(self.shown.len())];
        let sum = |own: &[Shown]| {
            let mut sum: Vec<f64> = own.first().map(|first| first.some.clone()).unwrap_or_default();
            for (shown, centre) in own.iter().zip(&model.centres).skip(1) {
                sum.iter_mut().zip(&shown.some).for_each(|(sum, beta)| *sum += centre * beta);
            }
            sum
        };
        coefficients.chunks_exact(columns).map(sum).collect()
    }

    /// What was asked, whether the results can be used, and what was found.
    fn header(&self) -> String {
        let Self { summary, about, model, .. } = *self;
        let (sampler, text) = (&summary.sampler, &summary.text);
        let missing = shortfall(about);
        let mut warnings: Vec<String> = Vec::new();
        for warning in &text.warnings {
            let (name, said) = (escape(&warning.name), escape(&warning.text));
            warnings.push(format!("{}. <code>{name}</code>", capital(said.trim_end_matches('.'))));
        }
        warnings.extend(missing.map(|(name, said)| format!("{said} <code>{name}</code>")));
        let (class, status) = match warnings.len() {
            0 if sampler.status != "ok" => ("warn", escape(&sampler.status)),
            0 => ("good", "No warnings".to_owned()),
            1 => ("warn", "1 warning: read it before you use the results".to_owned()),
            many => ("warn", format!("{many} warnings: read them before you use the results")),
        };
        let mut html = format!(
            "<header>\n<h1>{}</h1>\n<p class=\"lede\">{}</p>\n<p class=\"status {class}\"><span>{status}</span></p>\n",
            findings::question(summary, model),
            findings::fitted(summary, model)
        );
        list(&mut html, "warnings", &warnings);
        if self.left_out > 0 {
            let (shown, of) = (summary.parameters.len(), summary.parameters.len() + self.left_out);
            let _ = writeln!(
                html,
                "<p class=\"say\">{} of {} coefficients and parameters are shown one by one: the first, and \
                 the last. <code>ridgewalk summary DIR --format csv</code> has all; figures of convergence \
                 and warnings are of all.</p>",
                count(shown as u64),
                count(of as u64)
            );
        }
        let groups = self.groups.as_ref().map(Groups::sentences).unwrap_or_default();
        html.push_str(&findings::findings(summary, model, self.checks, &groups));
        let notes: Vec<String> = text.notes.iter().map(|note| capital(&escape(note))).collect();
        if notes.len() > FEW_NOTES {
            let _ = writeln!(html, "<details><summary>{} notes</summary>", notes.len());
            list(&mut html, "notes", &notes);
            html.push_str("</details>\n");
        } else {
            list(&mut html, "notes", &notes);
        }
        html
    }
}

/// More notes than these are folded.
const FEW_NOTES: usize = 2;

/// Key figures of the sampling.
fn figures(summary: &SummaryDocument) -> String {
    let sampler = &summary.sampler;
    let mut html = "<dl class=\"figures\">\n".to_owned();
    for (value, name) in [
        (whole(summary.smallest_ess()), "smallest effective sample size"),
        (rhat(summary.largest_rhat()), "largest R&#770;"),
        (format!("{} × {}", count(sampler.chains as u64), count(sampler.draws)), "chains × draws"),
        (format!("{} s", short(sampler.seconds)), "run time"),
    ] {
        let _ = writeln!(html, "<div><dd>{value}</dd><dt>{name}</dt></div>");
    }
    html + "</dl>\n"
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

/// The data, the curvature and the sampler's parameters.
fn problem(summary: &SummaryDocument) -> String {
    let SummaryDocument { sampler, problem, text, .. } = summary;
    let mut facts: Vec<(String, String)> = vec![
        ("family".to_owned(), escape(&problem.family)),
        ("observations".to_owned(), count(problem.n as u64)),
        ("coefficients".to_owned(), count(problem.d.min(summary.parameters.len()) as u64)),
    ];
    let effects: usize = summary.groups.iter().map(GroupSummary::effects).sum();
    if effects > 0 {
        facts.push(("effects of groups".to_owned(), count(effects as u64)));
    }
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

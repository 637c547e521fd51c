//! The summary table: estimates and intervals first, ratios where the family has them, how well each
//! was computed at the right.

use std::fmt::Write;

use crate::convergence::{ENOUGH_ESS, HIGHEST_RHAT};
use crate::html::escape;
use crate::model::Model;
use crate::numbers::{aligned, column, percent, short, significant, whole};
use ridgewalk_fit::{Parameter, SummaryDocument};

/// A column of numbers.
struct Numbers {
    head: String,
    said: String,
    cells: Vec<String>,
    /// Whether a narrow page leaves it out.
    back: bool,
    /// Marks doubtful entries.
    doubtful: fn(&Parameter) -> bool,
}

/// The section. Each row has a link to its plots.
pub(super) fn table(summary: &SummaryDocument, model: Option<&Model>) -> String {
    let parameters = &summary.parameters;
    let columns = columns(summary, model);
    let share = percent(summary.interval);
    let mut said = format!(
        "With the model and its priors, each number is between the ends of its interval with a probability of {share}."
    );
    if let Some(ratio) = model.and_then(|model| model.ratio) {
        let _ = write!(
            said,
            " The {} is e to the power of the coefficient: what one more unit multiplies.",
            ratio.name()
        );
    }
    let mut html = format!(
        "<p class=\"say\">{said}</p>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Summary table\">\n<table id=\"table\">\n<thead><tr>\
         <th scope=\"col\">coefficient</th>"
    );
    let class = |back: bool, bad: bool| match (back, bad) {
        (true, true) => " class=\"back bad\"",
        (true, false) => " class=\"back\"",
        (false, true) => " class=\"bad\"",
        (false, false) => "",
    };
    for Numbers { head, said, back, .. } in &columns {
        let class = class(*back, false);
        let _ = write!(html, "<th scope=\"col\"{class} title=\"{said}\">{head}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (i, parameter) in parameters.iter().enumerate() {
        let name = escape(&parameter.name);
        let _ = write!(
            html,
            "<tr id=\"r{i}\" data-name=\"{name}\"><th scope=\"row\"><a href=\"#c{i}\" title=\"{name}\">{name}</a></th>"
        );
        for Numbers { cells, back, doubtful, .. } in &columns {
            let class = class(*back, doubtful(parameter));
            let _ = write!(html, "<td{class}>{}</td>", cells.get(i).map_or("–", String::as_str));
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody>\n</table>\n</div>\n"
}

fn columns(summary: &SummaryDocument, model: Option<&Model>) -> Vec<Numbers> {
    let parameters = &summary.parameters;
    let of = |value: fn(&Parameter) -> f64| parameters.iter().map(value).collect::<Vec<f64>>();
    let (sds, mcses) = (of(|p| p.sd), of(|p| p.mcse_mean));
    let scaled = |value: fn(&Parameter) -> f64| aligned(column(&of(value), &sds));
    let fine: fn(&Parameter) -> bool = |_| false;
    let tail = 50.0 * (1.0 - summary.interval);
    let [low, high] = [tail, 100.0 - tail].map(|p| format!("{} %", short(p)));
    let new = |head: &str, said: &str, cells: Vec<String>, back: bool, doubtful| Numbers {
        head: head.to_owned(),
        said: said.to_owned(),
        cells,
        back,
        doubtful,
    };
    let mut all = vec![
        new("mean", "the mean of all draws", scaled(|p| p.mean), true, fine),
        new("sd", "their standard deviation", aligned(column(&sds, &sds)), true, fine),
        new("median", "the 50 % quantile", scaled(|p| p.q50), false, fine),
        new(&low, "the lower end of the interval", scaled(|p| p.central()[0]), false, fine),
        new(&high, "the upper end of the interval", scaled(|p| p.central()[1]), false, fine),
    ];
    if let Some((model, ratio)) = model.and_then(|model| Some((model, model.ratio?))) {
        let ratios = |of: fn(&Parameter) -> f64| -> Vec<String> {
            let cell = |(number, p): (usize, &Parameter)| {
                let [low, high] = p.central().map(f64::exp);
                if model.compares(number) {
                    significant(of(p).exp(), high - low)
                } else {
                    "–".to_owned()
                }
            };
            aligned(parameters.iter().enumerate().map(cell).collect())
        };
        let name = ratio.name();
        all.push(new(name, "e to the power of the median", ratios(|p| p.q50), false, fine));
        let [from, to] = ["lower", "upper"].map(|end| format!("the {end} end of its interval"));
        all.push(new(&low, &from, ratios(|p| p.central()[0]), false, fine));
        all.push(new(&high, &to, ratios(|p| p.central()[1]), false, fine));
    }
    let whole = |value: fn(&Parameter) -> f64| of(value).into_iter().map(whole).collect();
    let rhats = of(|p| p.rhat).into_iter().map(crate::rhat).collect();
    let error = "the Monte Carlo standard error of the mean";
    let agree = "rank-normalised split R-hat: 1 if the chains agree";
    let (bulk, tails) =
        ("the effective sample size of the bulk", "the effective sample size of the tails");
    all.extend([
        new("mcse", error, aligned(column(&mcses, &mcses)), true, fine),
        new("ESS bulk", bulk, whole(|p| p.ess_bulk), true, |p| p.ess_bulk < ENOUGH_ESS),
        new("ESS tail", tails, whole(|p| p.ess_tail), true, |p| p.ess_tail < ENOUGH_ESS),
        new("R&#770;", agree, rhats, true, |p| p.rhat > HIGHEST_RHAT),
    ]);
    all
}

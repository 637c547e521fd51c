//! The summary table.

use std::fmt::Write;

use crate::convergence::{ENOUGH_ESS, HIGHEST_RHAT};
use crate::html::escape;
use crate::numbers::{aligned, column, whole};
use ridgewalk_fit::Parameter;

/// The headers of the numeric columns, with explanations.
const HEADS: [(&str, &str); 9] = [
    ("mean", "the mean of all draws"),
    ("sd", "their standard deviation"),
    ("mcse", "the Monte Carlo standard error of the mean"),
    ("5 %", "the 5 % quantile"),
    ("50 %", "the median"),
    ("95 %", "the 95 % quantile"),
    ("ESS bulk", "the effective sample size of the bulk"),
    ("ESS tail", "the effective sample size of the tails"),
    ("R&#770;", "rank-normalised split R-hat: 1 if the chains agree"),
];

/// The table, each row with a link to its plots.
pub(super) fn table(parameters: &[Parameter]) -> String {
    let of = |value: fn(&Parameter) -> f64| parameters.iter().map(value).collect::<Vec<f64>>();
    let (sds, mcses) = (of(|p| p.sd), of(|p| p.mcse_mean));
    let columns: [Vec<String>; 9] = [
        aligned(column(&of(|p| p.mean), &sds)),
        aligned(column(&sds, &sds)),
        aligned(column(&mcses, &mcses)),
        aligned(column(&of(|p| p.q05), &sds)),
        aligned(column(&of(|p| p.q50), &sds)),
        aligned(column(&of(|p| p.q95), &sds)),
        of(|p| p.ess_bulk).into_iter().map(whole).collect(),
        of(|p| p.ess_tail).into_iter().map(whole).collect(),
        of(|p| p.rhat).into_iter().map(crate::rhat).collect(),
    ];
    let mut html = "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Summary table\">\n<table id=\"table\">\n<thead><tr>\
                    <th scope=\"col\">coefficient</th>"
        .to_owned();
    for (head, said) in HEADS {
        let _ = write!(html, "<th scope=\"col\" title=\"{said}\">{head}</th>");
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for (i, parameter) in parameters.iter().enumerate() {
        let name = escape(&parameter.name);
        let _ = write!(
            html,
            "<tr id=\"r{i}\" data-name=\"{name}\"><th scope=\"row\"><a href=\"#c{i}\" title=\"{name}\">{name}</a></th>"
        );
        for (k, column) in columns.iter().enumerate() {
            let class = if doubtful(parameter, k) { " class=\"bad\"" } else { "" };
            let _ = write!(html, "<td{class}>{}</td>", column[i]);
        }
        html.push_str("</tr>\n");
    }
    html + "</tbody>\n</table>\n</div>\n"
}

/// Whether an entry is marked as doubtful.
fn doubtful(parameter: &Parameter, column: usize) -> bool {
    match column {
        6 => parameter.ess_bulk < ENOUGH_ESS,
        7 => parameter.ess_tail < ENOUGH_ESS,
        8 => parameter.rhat > HIGHEST_RHAT,
        _ => false,
    }
}

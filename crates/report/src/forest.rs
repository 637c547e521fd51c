//! The intervals of all coefficients on one scale.

use std::fmt::Write;

use crate::html::escape;
use crate::numbers::{column, short, ticks};
use crate::panels::Shown;
use crate::svg::{Scale, labels_below, units};
use ridgewalk_fit::Parameter;

/// Rows per block; blocks are side by side if there is room.
const ROWS: usize = 40;
/// The height of a row, the same in CSS pixels.
const ROW: i32 = 24;
/// The width of a drawing in its own units.
const WIDTH: i32 = 1000;
/// Posterior widths that differ by more than this factor are not shown on one scale.
const ONE_SCALE: f64 = 40.0;

/// One row.
#[derive(Debug)]
struct Row<'a> {
    number: usize,
    parameter: &'a Parameter,
    /// Quantiles: 5 %, 25 %, 50 %, 75 % and 95 %, on the scale of the plot.
    at: [f64; 5],
}

/// The section and its number of drawings.
pub(super) fn forest(parameters: &[Parameter], shown: &[Shown]) -> (String, usize) {
    let own = own_scales(parameters);
    let mut rows: Vec<Row<'_>> = Vec::new();
    for (number, (parameter, shown)) in parameters.iter().zip(shown).enumerate() {
        let Parameter { q05, q50, q95, sd, .. } = *parameter;
        let [q25, q75] = shown.quartiles;
        let at = [q05, q25, q50, q75, q95];
        let unit = if own { sd } else { 1.0 };
        rows.push(Row { number, parameter, at: at.map(|x| x / unit) });
    }
    let said = if own {
        "Median, central 50 % and central 90 % of each posterior. The coefficients differ greatly in size, so each is drawn in units of its \
         own posterior standard deviation: compare distances from zero, not widths."
    } else {
        "Median, central 50 % and central 90 % of each posterior, all on one scale."
    };
    let ends = rows.iter().flat_map(|row| row.at).filter(|x| x.is_finite());
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    // Zero is shown if it is close.
    let reach = 0.35 * (high - low);
    let (low, high) = (
        if low > 0.0 && low < reach { 0.0 } else { low },
        if high < 0.0 && -high < reach { 0.0 } else { high },
    );
    let margin = 0.03 * (high - low);
    let scale = Scale::new(low - margin, high + margin, WIDTH);
    let values = values(parameters);
    let blocks = rows.len().div_ceil(ROWS).max(1);
    let each = rows.len().div_ceil(blocks).max(1);
    let mut html = format!("<p class=\"say\">{said}</p>\n<div class=\"forests\">\n");
    for block in rows.chunks(each) {
        html.push_str(&draw(block, &scale, &values));
    }
    html.push_str("</div>\n");
    (html, rows.chunks(each).count())
}

/// Whether coefficients differ too much in size for one scale.
fn own_scales(parameters: &[Parameter]) -> bool {
    let widths = || parameters.iter().map(|p| p.sd).filter(|sd| sd.is_finite() && *sd > 0.0);
    let (low, high) = widths().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    high > ONE_SCALE * low && widths().count() == parameters.len()
}

/// Median and interval as text.
fn values(parameters: &[Parameter]) -> Vec<String> {
    let scales: Vec<f64> = parameters.iter().map(|p| p.sd).collect();
    let text =
        |of: fn(&Parameter) -> f64| column(&parameters.iter().map(of).collect::<Vec<_>>(), &scales);
    let (q05, q50, q95) = (text(|p| p.q05), text(|p| p.q50), text(|p| p.q95));
    q50.iter()
        .zip(q05.iter().zip(&q95))
        .map(|(m, (l, h))| format!("{m} <span>[{l}, {h}]</span>"))
        .collect()
}

fn draw(rows: &[Row<'_>], scale: &Scale, values: &[String]) -> String {
    let height = ROW * units(rows.len());
    let ticks = ticks(scale.low(), scale.high(), 6);
    let mut names = String::new();
    let mut numbers = String::new();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" preserveAspectRatio=\"none\" style=\"height:{height}px\" role=\"img\">\
         <title>Intervals of {} coefficients, from {} to {}</title>",
        rows.len(),
        rows.first().map_or_else(String::new, |row| escape(&row.parameter.name)),
        rows.last().map_or_else(String::new, |row| escape(&row.parameter.name)),
    );
    for (tick, _) in &ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M{} 0v{height}\"/>", scale.at(*tick));
    }
    if scale.holds(0.0) {
        let _ = write!(svg, "<path class=\"zero\" d=\"M{} 0v{height}\"/>", scale.at(0.0));
    }
    for (i, row) in rows.iter().enumerate() {
        let Row { number, parameter, at } = row;
        let name = escape(&parameter.name);
        let _ = write!(names, "<li><a href=\"#c{number}\" title=\"{name}\">{name}</a></li>");
        let _ = write!(numbers, "<li>{}</li>", values.get(*number).map_or("", String::as_str));
        if at.iter().all(|x| x.is_finite()) {
            let y = ROW * units(i) + ROW / 2;
            let [q05, q25, q50, q75, q95] = at.map(|x| scale.at(x));
            let _ = write!(
                svg,
                "<g><title>{name}: {} [{}, {}]</title><path class=\"long\" d=\"M{q05} {y}H{q95}\"/>\
                 <path class=\"wide\" d=\"M{q25} {y}H{q75}\"/><path class=\"dot\" d=\"M{q50} {y}h0\"/></g>",
                short(parameter.q50),
                short(parameter.q05),
                short(parameter.q95)
            );
        }
    }
    let labels = labels_below(scale, &ticks);
    format!(
        "<div class=\"forest\"><ol class=\"names\">{names}</ol><figure class=\"plot\">{svg}</svg>{labels}</figure>\
         <ol class=\"values\">{numbers}</ol></div>\n"
    )
}

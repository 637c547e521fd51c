//! The effects: intervals of all coefficients on one scale, as ratios where the family has them.

use std::fmt::Write;

use crate::html::escape;
use crate::model::Model;
use crate::numbers::{column, percent, short, significant, ticks};
use crate::panels::Shown;
use crate::svg::{Scale, labels_below, units};
use ridgewalk_fit::{Parameter, SummaryDocument};

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
    /// The lower end, 25 %, 50 %, 75 % and the upper end, on the scale of the plot.
    at: [f64; 5],
    /// Median and interval as text.
    text: String,
}

/// The section. Intercepts and parameters beside the coefficients are left out if there is anything
/// else.
pub(super) fn forest(summary: &SummaryDocument, shown: &[Shown], model: Option<&Model>) -> String {
    let all = summary.parameters.iter().zip(shown).enumerate();
    let compares = |number: usize| model.is_none_or(|model| model.compares(number));
    let some: Vec<_> = all.clone().filter(|(number, _)| compares(*number)).collect();
    let left_out = !some.is_empty() && some.len() < summary.parameters.len();
    let some = if some.is_empty() { all.collect() } else { some };
    let parameters: Vec<&Parameter> = some.iter().map(|(_, (parameter, _))| *parameter).collect();
    let own = own_scales(&parameters);
    let ratio = model.and_then(|model| model.ratio);
    let texts = values(&parameters, ratio.is_some());
    let mut rows: Vec<Row<'_>> = Vec::new();
    for ((number, (parameter, shown)), text) in some.into_iter().zip(texts) {
        let ([low, high], [q25, q75]) = (parameter.central(), shown.quartiles);
        let unit = if own { parameter.sd } else { 1.0 };
        let at = [low, q25, parameter.q50, q75, high].map(|x| x / unit);
        rows.push(Row { number, parameter, at, text });
    }
    let share = percent(summary.interval);
    let mut said = format!(
        "The dot is the median of each coefficient; the thick bar holds 50 % of its probability, the thin line {share}."
    );
    match ratio {
        _ if own => said.push_str(
            " The coefficients differ greatly in size, so each is drawn in units of its own standard deviation: compare distances from zero, not widths.",
        ),
        Some(ratio) => {
            let _ = write!(said, " The axis has {}: 1 is no effect.", ratio.plural());
        }
        None => said.push_str(" 0 is no effect."),
    }
    if let (true, Some(ratio)) = (own, ratio) {
        let _ = write!(said, " The numbers are {}.", ratio.plural());
    }
    if model.is_some_and(|model| model.standardized) {
        said.push_str(" Each is for one standard deviation of its predictor.");
    }
    if left_out {
        said.push_str(" What compares no rows, such as the intercept, is in the <a href=\"#summary\">table</a>.");
    }
    let ends = rows.iter().flat_map(|row| row.at).filter(|x| x.is_finite());
    let (low, high) =
        ends.fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    // Zero is shown if it is close.
    let reach = 0.5 * (high - low);
    let (low, high) = (
        if low > 0.0 && low < reach { 0.0 } else { low },
        if high < 0.0 && -high < reach { 0.0 } else { high },
    );
    let margin = 0.03 * (high - low);
    let scale = Scale::new(low - margin, high + margin, WIDTH);
    let axis = match ratio {
        Some(_) if !own => ratio_ticks(&scale),
        _ => ticks(scale.low(), scale.high(), 6),
    };
    let blocks = rows.len().div_ceil(ROWS).max(1);
    let each = rows.len().div_ceil(blocks).max(1);
    let mut html = format!("<p class=\"say\">{said}</p>\n<div class=\"forests\">\n");
    for block in rows.chunks(each) {
        html.push_str(&draw(block, &scale, &axis));
    }
    html + "</div>\n"
}

/// Round ratios within a scale of their logarithms.
fn ratio_ticks(scale: &Scale) -> Vec<(f64, String)> {
    let of = |digits: &[f64]| -> Vec<(f64, String)> {
        let each = (-9..=9).flat_map(|power| digits.iter().map(move |d| d * 10f64.powi(power)));
        each.filter(|x| scale.holds(x.ln())).map(|x| (x.ln(), short(x))).collect()
    };
    for digits in [&[1.0, 2.0, 5.0][..], &[1.0]] {
        let found = of(digits);
        if (3..=7).contains(&found.len()) {
            return found;
        }
    }
    // A narrow range, or one that ratios cannot label.
    let (low, high) = (scale.low().exp(), scale.high().exp());
    if high / low < 1e3 {
        return ticks(low, high, 6).into_iter().map(|(x, label)| (x.ln(), label)).collect();
    }
    let plain = ticks(scale.low(), scale.high(), 5);
    plain.into_iter().map(|(x, _)| (x, short(x.exp()))).collect()
}

/// Whether coefficients differ too much in size for one scale.
fn own_scales(parameters: &[&Parameter]) -> bool {
    let widths = || parameters.iter().map(|p| p.sd).filter(|sd| sd.is_finite() && *sd > 0.0);
    let (low, high) = widths().fold((f64::INFINITY, 0.0_f64), |(a, b), x| (a.min(x), b.max(x)));
    high > ONE_SCALE * low && widths().count() == parameters.len()
}

/// Median and interval as text.
fn values(parameters: &[&Parameter], ratios: bool) -> Vec<String> {
    if ratios {
        let text = |p: &&Parameter| {
            let [low, at, high] = [p.central()[0], p.q50, p.central()[1]].map(f64::exp);
            let [low, at, high] = [low, at, high].map(|x| significant(x, high - low));
            format!("{at} <span>[{low}, {high}]</span>")
        };
        return parameters.iter().map(text).collect();
    }
    let scales: Vec<f64> = parameters.iter().map(|p| p.sd).collect();
    let text = |of: fn(&Parameter) -> f64| {
        column(&parameters.iter().map(|p| of(p)).collect::<Vec<_>>(), &scales)
    };
    let (low, at, high) = (text(|p| p.central()[0]), text(|p| p.q50), text(|p| p.central()[1]));
    at.iter()
        .zip(low.iter().zip(&high))
        .map(|(m, (l, h))| format!("{m} <span>[{l}, {h}]</span>"))
        .collect()
}

fn draw(rows: &[Row<'_>], scale: &Scale, ticks: &[(f64, String)]) -> String {
    let height = ROW * units(rows.len());
    let mut names = String::new();
    let mut numbers = String::new();
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" preserveAspectRatio=\"none\" style=\"height:{height}px\" role=\"img\">\
         <title>Intervals of {} coefficients, from {} to {}</title>",
        rows.len(),
        rows.first().map_or_else(String::new, |row| escape(&row.parameter.name)),
        rows.last().map_or_else(String::new, |row| escape(&row.parameter.name)),
    );
    for (tick, _) in ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M{} 0v{height}\"/>", scale.at(*tick));
    }
    if scale.holds(0.0) {
        let _ = write!(svg, "<path class=\"zero\" d=\"M{} 0v{height}\"/>", scale.at(0.0));
    }
    for (i, row) in rows.iter().enumerate() {
        let Row { number, parameter, at, text } = row;
        let name = escape(&parameter.name);
        let _ = write!(names, "<li><a href=\"#c{number}\" title=\"{name}\">{name}</a></li>");
        let _ = write!(numbers, "<li>{text}</li>");
        if at.iter().all(|x| x.is_finite()) {
            let y = ROW * units(i) + ROW / 2;
            let [low, q25, q50, q75, high] = at.map(|x| scale.at(x));
            let _ = write!(
                svg,
                "<g><title>{name}: {} [{}, {}]</title><path class=\"long\" d=\"M{low} {y}H{high}\"/>\
                 <path class=\"wide\" d=\"M{q25} {y}H{q75}\"/><path class=\"dot\" d=\"M{q50} {y}h0\"/></g>",
                short(parameter.q50),
                short(parameter.central()[0]),
                short(parameter.central()[1])
            );
        }
    }
    let labels = labels_below(scale, ticks);
    format!(
        "<div class=\"forest\"><ol class=\"names\">{names}</ol><figure class=\"plot\">{svg}</svg>{labels}</figure>\
         <ol class=\"values\">{numbers}</ol></div>\n"
    )
}

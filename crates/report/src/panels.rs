//! The density and trace of each coefficient.

use std::fmt::Write;

use crate::density::{Densities, GRID, densities, quantile};
use crate::html::escape;
use crate::numbers::{column as column_of_numbers, short, ticks, whole};
use crate::priors::Curve;
use crate::svg::{Scale, labels_below, labels_beside, line, units};
use ridgewalk_fit::Parameter;

/// Maximum number of points over all traces of a report, and of one trace.
const ALL_POINTS: usize = 600_000;
const MOST_POINTS: usize = 320;
/// Stretches of a trace whose means are drawn.
const STRETCHES: usize = 24;
/// Maximum number of chains drawn individually.
pub(super) const MOST_CHAINS: usize = 32;
/// Number of colours in the style sheet.
const COLOURS: usize = 8;
/// The most draws that are kept for plots of several coefficients.
const SOME_DRAWS: usize = 1200;
/// Heights of the drawings in their own units.
const HEIGHT: i32 = 200;

/// The data for the plots of one coefficient.
#[derive(Debug)]
pub(super) struct Column<'a> {
    /// The draws, chain by chain.
    chains: Vec<&'a [f64]>,
    /// All finite draws, sorted.
    sorted: Vec<f64>,
}

impl<'a> Column<'a> {
    pub(super) fn new(chains: Vec<&'a [f64]>) -> Self {
        let all = chains.iter().copied().flatten().copied();
        let mut sorted: Vec<f64> = all.filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        Self { chains, sorted }
    }

    /// Some of its draws, evenly spaced.
    fn some(&self) -> Vec<f64> {
        let all = self.chains.iter().map(|chain| chain.len()).sum::<usize>();
        let every = all.div_ceil(SOME_DRAWS).max(1);
        self.chains.iter().copied().flatten().step_by(every).copied().collect()
    }
}

/// The rendered parts of one coefficient, after its draws are freed.
#[derive(Debug, Clone)]
pub(super) struct Shown {
    /// Quantiles: 25 % and 75 %.
    pub(super) quartiles: [f64; 2],
    /// Its card.
    pub(super) card: String,
    /// Its posterior density.
    pub(super) curve: Option<Curve>,
    /// Some of its draws, evenly spaced.
    pub(super) some: Vec<f64>,
}

impl Shown {
    pub(super) fn of(
        number: usize, parameter: &Parameter, column: &Column<'_>, points: usize,
    ) -> Self {
        let quartiles = [0.25, 0.75].map(|p| quantile(&column.sorted, p));
        let density = densities(&column.chains, &column.sorted);
        let curve = density.as_ref().and_then(|d| Curve::new(d.low, d.high, &d.pooled));
        let some = column.some();
        let card = card(number, parameter, column, density.as_ref(), points);
        Self { quartiles, card, curve, some }
    }
}

impl Shown {
    /// What is shown of the effect of a level: no card. Draws are kept for smooths.
    pub(super) fn of_effect(column: &Column<'_>, keep: bool) -> Self {
        let quartiles = [0.25, 0.75].map(|p| quantile(&column.sorted, p));
        let some = if keep { column.some() } else { Vec::new() };
        Self { quartiles, card: String::new(), curve: None, some }
    }
}

/// The number of points of a trace, given the number of coefficients and chains.
pub(super) fn points(coefficients: usize, chains: usize) -> usize {
    let traces = coefficients.max(1).saturating_mul(chains.clamp(1, MOST_CHAINS));
    (ALL_POINTS / traces).clamp(24, MOST_POINTS)
}

/// The card of a coefficient.
fn card(
    number: usize, parameter: &Parameter, column: &Column<'_>, density: Option<&Densities>,
    points: usize,
) -> String {
    let name = escape(&parameter.name);
    let Parameter { mean, sd, ess_bulk, rhat, .. } = *parameter;
    let written = column_of_numbers(&[mean, sd], &[sd, sd]);
    let mut html = format!(
        "<article class=\"card\" id=\"c{number}\" data-name=\"{name}\">\n<h3><a href=\"#r{number}\">{name}</a></h3>\n\
         <p class=\"small\">mean {} · sd {} · ESS {} · R&#770; {}</p>\n<div class=\"pair\">\n",
        written[0],
        written[1],
        whole(ess_bulk),
        crate::rhat(rhat)
    );
    match (column.sorted.first(), column.sorted.last()) {
        (Some(low), Some(high)) => {
            match density {
                Some(density) => html.push_str(&draw_density(&name, column, density)),
                None => {
                    let _ = writeln!(
                        html,
                        "<p class=\"none\">Every draw is {}: no density.</p>",
                        short(*low)
                    );
                }
            }
            html.push_str(&draw_traces(&name, column, (*low, *high), points));
        }
        _ => html.push_str("<p class=\"none\">No finite draw.</p>\n"),
    }
    html.push_str("</div>\n</article>\n");
    html
}

fn draw_density(name: &str, column: &Column<'_>, all: &Densities) -> String {
    let across = Scale::new(all.low, all.high, 10 * units(GRID - 1));
    let up = Scale::new(0.0, 1.05, HEIGHT);
    let grid = |i: usize| 10 * units(i);
    let curve =
        |values: &[f64]| line(values.iter().enumerate().map(|(i, value)| (grid(i), up.up(*value))));
    let (q05, q95) = (quantile(&column.sorted, 0.05), quantile(&column.sorted, 0.95));
    let mut svg = open("density", grid(GRID - 1), &format!("Density of {name}"));
    // The area between the quantiles.
    let step = (all.high - all.low) / (GRID - 1) as f64;
    let height = |x: f64| interpolated(&all.pooled, (x - all.low) / step);
    let inside = all.pooled.iter().enumerate().map(|(i, y)| (all.low + i as f64 * step, *y));
    let inside = inside.filter(|(x, _)| (q05..=q95).contains(x));
    let top = std::iter::once((q05, height(q05))).chain(inside).chain([(q95, height(q95))]);
    let outline =
        [(across.at(q05), HEIGHT)].into_iter().chain(top.map(|(x, y)| (across.at(x), up.up(y))));
    let _ = write!(svg, "<path class=\"fill\" d=\"{}V{HEIGHT}z\"/>", line(outline));
    if across.holds(0.0) {
        let _ = write!(svg, "<path class=\"zero\" d=\"M{} 0v{HEIGHT}\"/>", across.at(0.0));
    }
    for (chain, values) in all.chains.iter().enumerate().take(MOST_CHAINS) {
        let _ = write!(svg, "<path class=\"thin t{}\" d=\"{}\"/>", chain % COLOURS, curve(values));
    }
    let _ = write!(svg, "<path class=\"bold\" d=\"{}\"/></svg>", curve(&all.pooled));
    let labels = labels_below(&across, &ticks(all.low, all.high, 4));
    format!("<figure class=\"plot\">{svg}{labels}</figure>\n")
}

/// A value between the points of a grid.
fn interpolated(values: &[f64], at: f64) -> f64 {
    let last = values.len().saturating_sub(1);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "clamped to an index"
    )]
    let below = at.clamp(0.0, last as f64).floor() as usize;
    let above = (below + 1).min(last);
    values[below] + (at - below as f64).clamp(0.0, 1.0) * (values[above] - values[below])
}

fn draw_traces(name: &str, column: &Column<'_>, (low, high): (f64, f64), points: usize) -> String {
    let up = Scale::new(low, high, HEIGHT);
    let drawn: Vec<Vec<f64>> =
        column.chains.iter().take(MOST_CHAINS).map(|draws| thinned(draws, points)).collect();
    let width = units(drawn.iter().map(Vec::len).max().unwrap_or(0).saturating_sub(1).max(1));
    let mut svg = open("trace", width, &format!("Trace of {name}"));
    for (chain, values) in drawn.iter().enumerate() {
        let path = line(values.iter().enumerate().map(|(i, value)| (units(i), up.up(*value))));
        let _ = write!(svg, "<path class=\"faint t{}\" d=\"{path}\"/>", chain % COLOURS);
    }
    // Means of each chain over short stretches, on top of all traces: a chain that is stuck or
    // drifts stands out.
    for (chain, draws) in column.chains.iter().enumerate().take(MOST_CHAINS) {
        let means = stretches(draws, STRETCHES);
        let across = Scale::new(0.0, means.len() as f64, width);
        let at = |i: usize| across.at(i as f64 + 0.5);
        let path = line(means.iter().enumerate().map(|(i, mean)| (at(i), up.up(*mean))));
        let _ = write!(svg, "<path class=\"mean t{}\" d=\"{path}\"/>", chain % COLOURS);
    }
    svg.push_str("</svg>");
    let labels = labels_beside(&up, &ticks(low, high, 4));
    let draws = column.chains.iter().map(|draws| draws.len()).max().unwrap_or(0);
    let ends = format!(
        "<div class=\"below ends\" aria-hidden=\"true\"><span>1</span><span>{draws}</span></div>"
    );
    format!("<figure class=\"plot\">{labels}{svg}{ends}</figure>\n")
}

/// The means of at most `most` stretches of the draws, each of at least ten draws.
fn stretches(draws: &[f64], most: usize) -> Vec<f64> {
    let count = most.min(draws.len() / 10).max(1);
    let bounds = |k: usize| k * draws.len() / count;
    let mean = |k: usize| {
        let stretch = &draws[bounds(k)..bounds(k + 1)];
        stretch.iter().sum::<f64>() / stretch.len().max(1) as f64
    };
    (0..count).map(mean).collect()
}

/// Thins draws to a maximum number: the lowest and the highest of each stretch, in order, so that
/// no excursion is lost.
fn thinned(draws: &[f64], points: usize) -> Vec<f64> {
    if draws.len() <= points {
        return draws.to_vec();
    }
    let stretches = (points / 2).max(1);
    let mut kept = Vec::with_capacity(2 * stretches);
    for k in 0..stretches {
        let (from, to) = (k * draws.len() / stretches, (k + 1) * draws.len() / stretches);
        let stretch = draws[from..to].iter().enumerate();
        let lowest = stretch.clone().min_by(|a, b| a.1.total_cmp(b.1));
        let highest = stretch.max_by(|a, b| a.1.total_cmp(b.1));
        if let (Some(a), Some(b)) = (lowest, highest) {
            kept.extend(if a.0 < b.0 { [*a.1, *b.1] } else { [*b.1, *a.1] });
        }
    }
    kept
}

/// The opening tag of a drawing that is stretched to its container.
fn open(class: &str, width: i32, title: &str) -> String {
    format!(
        "<svg class=\"{class}\" viewBox=\"0 0 {width} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\">\
         <title>{title}</title>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thinning_keeps_every_excursion() {
        let mut draws: Vec<f64> = (0..10_000).map(|i| f64::from(i % 7)).collect();
        draws[1234] = 99.0;
        draws[8765] = -99.0;
        let kept = thinned(&draws, 375);
        assert!(kept.len() <= 375 && kept.contains(&99.0) && kept.contains(&-99.0));
        assert_eq!(thinned(&draws[..300], 375), &draws[..300]);
    }
}

//! Rank plots as SVG: a panel for each set, a line for each quantity, showing the difference
//! between the empirical and the uniform distribution function.

use std::fmt::Write;

use super::uniformity::Envelope;
use super::{Calibrated, QUANTITIES};
use crate::Failure;
use crate::plots::{line, open, text};

/// Sizes in pixels: a panel, the gap between panels, the space above a panel and above all.
const WIDTH: f64 = 250.0;
const HEIGHT: f64 = 170.0;
const GAP: f64 = 62.0;
const ABOVE: f64 = 34.0;
const HEAD: f64 = 64.0;
/// Panels side by side.
const COLUMNS: usize = 4;
/// The number of ranks between points of a line.
const EVERY: usize = 2;

/// Colours that colour-blind readers can distinguish (Okabe and Ito), for the last three
/// quantities; the others are grey.
const COLOURS: [&str; 3] = ["#0072b2", "#009e73", "#d55e00"];

fn colour(quantity: usize) -> &'static str {
    let first = QUANTITIES.len() - COLOURS.len();
    if quantity < first { "#999999" } else { COLOURS[quantity - first] }
}

/// The plot of several named sets of ranks. The grey band is the acceptance region of a test of one
/// line at `level`.
///
/// # Errors
/// If there are too many ranks to count.
pub fn svg(title: &str, panels: &[(String, Calibrated)], level: f64) -> Result<String, Failure> {
    let columns = COLUMNS.min(panels.len().max(1));
    let width = GAP + (WIDTH + GAP) * columns as f64;
    let height = HEAD + (HEIGHT + ABOVE + 30.0) * panels.len().div_ceil(columns) as f64;
    let mut svg = open(width, height);
    text(&mut svg, [10.0, 24.0], "start", 17, "#000", title);
    text(&mut svg, [10.0, 46.0], "start", 12, "#444", "share of ranks at most x, less x, for the");
    let mut at = 250.0;
    for quantity in QUANTITIES.len() - COLOURS.len()..QUANTITIES.len() {
        let name = QUANTITIES[quantity];
        text(&mut svg, [at, 46.0], "start", 12, colour(quantity), name);
        at += 7.0 * name.len() as f64;
    }
    let words = format!(
        "and five functions of the coefficients (grey); band: all of a line is in it but for {level:.1e}"
    );
    text(&mut svg, [at, 46.0], "start", 12, "#444", &words);
    for (k, (name, outcome)) in panels.iter().enumerate() {
        let left = GAP + (WIDTH + GAP) * (k % columns) as f64;
        let top = HEAD + (HEIGHT + ABOVE + 30.0) * (k / columns) as f64 + ABOVE;
        panel(&mut svg, name, outcome, level, [left, top])?;
    }
    Ok(svg + "</svg>\n")
}

fn panel(
    svg: &mut String, name: &str, outcome: &Calibrated, level: f64, [left, top]: [f64; 2],
) -> Result<(), Failure> {
    let (total, values) = (outcome.ranks[0].total(), outcome.ranks[0].counts.len());
    let envelope = Envelope::new(usize::try_from(total)?, values);
    let bounds = envelope.bounds(envelope.level(level));
    // For the first k + 1 ranks.
    let gap = |k: usize, count: f64| count / total as f64 - (k + 1) as f64 / values as f64;
    let low: Vec<f64> = bounds.iter().enumerate().map(|(k, b)| gap(k, b[0] as f64)).collect();
    let high: Vec<f64> = bounds.iter().enumerate().map(|(k, b)| gap(k, b[1] as f64)).collect();
    let lines: Vec<Vec<f64>> = outcome
        .ranks
        .iter()
        .map(|ranks| {
            ranks.cumulative().iter().enumerate().map(|(k, c)| gap(k, *c as f64)).collect()
        })
        .collect();
    let most =
        lines.iter().chain([&low, &high]).flatten().fold(0.0_f64, |most, y| most.max(y.abs()));
    // Rounded up to hundredths.
    let most = (most * 100.0).ceil().max(1.0) / 100.0;
    let point = |k: usize, y: f64| {
        let x = (k + 1) as f64 / values as f64;
        format!("{:.1},{:.1}", left + WIDTH * x, top + 0.5 * HEIGHT * (1.0 - y / most))
    };
    let path = |list: &[f64]| -> Vec<String> {
        list.iter().enumerate().step_by(EVERY).map(|(k, y)| point(k, *y)).collect()
    };
    text(svg, [left, top - 10.0], "start", 14, "#000", &format!("{name} ({total})"));
    let mut around = path(&low);
    around.extend(path(&high).into_iter().rev());
    // Writing to a string does not fail.
    let _ = writeln!(svg, "<polygon points=\"{}\" fill=\"#e4e4e4\"/>", around.join(" "));
    for (y, words) in
        [(most, format!("{most:.2}")), (0.0, "0".into()), (-most, format!("−{most:.2}"))]
    {
        let at = top + 0.5 * HEIGHT * (1.0 - y / most);
        line(svg, [left, at, left + WIDTH, at], "#cccccc", 1.0);
        text(svg, [left - 6.0, at + 4.0], "end", 11, "#444", &words);
    }
    for x in [0.0, 0.5, 1.0] {
        text(svg, [left + WIDTH * x, top + HEIGHT + 15.0], "middle", 11, "#444", &format!("{x}"));
    }
    for (quantity, list) in lines.iter().enumerate() {
        let _ = writeln!(
            svg,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.4\"/>",
            path(list).join(" "),
            colour(quantity)
        );
    }
    Ok(())
}

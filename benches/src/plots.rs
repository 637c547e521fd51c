//! Logarithmic dot plots of a comparison as SVG: a panel for each target, a line for each sampler.

use std::fmt::Write;

use crate::comparison::{Row, Sampler, Table};

/// Sizes in pixels: the names on the left, a panel, the gap after it, a line, and the space above
/// and below the lines of a panel.
const NAMES: f64 = 252.0;
const PANEL: f64 = 264.0;
const GAP: f64 = 42.0;
const LINE: f64 = 19.0;
const ABOVE: f64 = 34.0;
const BELOW: f64 = 34.0;
/// Panels side by side.
const COLUMNS: usize = 3;
/// The height of the head with title and legend.
const HEAD: f64 = 58.0;

/// One plot.
#[derive(Debug, Clone, Copy)]
pub struct Plot<'a> {
    /// The title.
    pub title: &'a str,
    /// The indices of the figure without and with the warm-up.
    pub places: [usize; 2],
}

impl Plot<'_> {
    /// The plot as SVG. Dots exclude the warm-up, bars include it; a dot is empty if the bias
    /// exceeds the tolerance.
    #[must_use]
    pub fn svg(&self, tables: &[Table]) -> String {
        let lines = tables.iter().map(|table| table.rows.len()).max().unwrap_or(0);
        let panel_height = ABOVE + LINE * lines as f64 + BELOW;
        let rows = tables.len().div_ceil(COLUMNS);
        let width = NAMES + (PANEL + GAP) * COLUMNS.min(tables.len().max(1)) as f64;
        let height = HEAD + panel_height * rows as f64;
        let mut svg = open(width, height);
        text(&mut svg, [10.0, 24.0], "start", 17, "#000", self.title);
        let words = "dot: warm-up not counted; bar: counted; empty: bias beyond 0.05 sd or 5 %. Orange: ridgewalk, blue: other packages, \
                     grey: kernels with their best parameters";
        text(&mut svg, [10.0, 44.0], "start", 12, "#444", words);
        for (k, table) in tables.iter().enumerate() {
            let (column, row) = (k % COLUMNS, k / COLUMNS);
            let (left, top) =
                (NAMES + (PANEL + GAP) * column as f64, HEAD + panel_height * row as f64 + ABOVE);
            if column == 0 {
                for (line, row) in table.rows.iter().enumerate() {
                    let place = [NAMES - 10.0, top + LINE * (line as f64 + 0.5) + 4.0];
                    text(&mut svg, place, "end", 12, colour(row.sampler), &row.sampler.name());
                }
            }
            self.panel(&mut svg, table, [left, top]);
        }
        svg + "</svg>\n"
    }

    fn panel(&self, svg: &mut String, table: &Table, [left, top]: [f64; 2]) {
        let bottom = top + LINE * table.rows.len() as f64;
        let figures = |row: &Row| {
            self.places.map(|place| row.figure(place).filter(|x| x.is_normal() && *x > 0.0))
        };
        let known = || table.rows.iter().flat_map(figures).flatten();
        let (low, high) =
            known().fold((f64::INFINITY, 0.0_f64), |(low, high), x| (low.min(x), high.max(x)));
        text(svg, [left, top - 10.0], "start", 14, "#000", &table.target);
        if !(high > 0.0) {
            return;
        }
        let (low, high) = (low.log10().floor(), high.log10().ceil().max(low.log10().floor() + 1.0));
        let x = |value: f64| left + PANEL * (value.log10() - low) / (high - low);
        let mut exponent = low;
        while exponent <= high {
            let at = x(10_f64.powf(exponent));
            line(svg, [at, top, at, bottom], "#d5d5d5", 1.0);
            text(svg, [at, bottom + 15.0], "middle", 11, "#444", &power(exponent));
            exponent += 1.0;
        }
        for (k, row) in table.rows.iter().enumerate() {
            let y = top + LINE * (k as f64 + 0.5);
            let shade = colour(row.sampler);
            line(svg, [left, y, left + PANEL, y], "#eeeeee", 1.0);
            let [without, with] = figures(row).map(|figure| figure.map(x));
            match (without, with) {
                (Some(without), Some(with)) => {
                    line(svg, [with, y, without, y], shade, 1.5);
                    line(svg, [with, y - 5.0, with, y + 5.0], shade, 2.0);
                    let fill = if row.result.is_some_and(|result| result.within) {
                        shade
                    } else {
                        "white"
                    };
                    let _ = writeln!(
                        svg,
                        "<circle cx=\"{without:.1}\" cy=\"{y:.1}\" r=\"4.5\" fill=\"{fill}\" stroke=\"{shade}\" stroke-width=\"1.5\"/>"
                    );
                }
                _ => {
                    let words = if row.result.is_some() { "not measured" } else { "not run" };
                    text(svg, [left + 4.0, y + 4.0], "start", 11, "#888", words);
                }
            }
        }
    }
}

/// Colours that colour-blind readers can distinguish (Okabe and Ito).
fn colour(sampler: Sampler) -> &'static str {
    match sampler {
        Sampler::Ridgewalk | Sampler::Adjusted => "#d55e00",
        Sampler::NutsRs(_) | Sampler::MiniMcmc { .. } => "#0072b2",
        Sampler::EnergyError | Sampler::Kernel(_) => "#666666",
    }
}

/// A power of ten, without an exponent if it is short.
fn power(exponent: f64) -> String {
    if (-4.0..=5.0).contains(&exponent) {
        format!("{}", 10_f64.powf(exponent))
    } else {
        format!("1e{exponent:.0}")
    }
}

/// The beginning of an SVG file with a white background.
pub(crate) fn open(width: f64, height: f64) -> String {
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    )
}

// Writing to a string does not fail.

pub(crate) fn line(svg: &mut String, [x1, y1, x2, y2]: [f64; 4], colour: &str, width: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
    );
}

pub(crate) fn text(
    svg: &mut String, [x, y]: [f64; 2], anchor: &str, size: u32, colour: &str, words: &str,
) {
    let words = words.replace('&', "&amp;").replace('<', "&lt;");
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" font-size=\"{size}\" fill=\"{colour}\">{words}</text>"
    );
}

//! Log-log line plots as SVG files: panels side by side, one line for each series, one legend.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::failure::Failure;

/// Colours that stay apart for colour-blind readers (Okabe and Ito), in the order of the series.
const COLOURS: [RGBColor; 9] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 0, 0),
    RGBColor(120, 120, 120),
    RGBColor(204, 121, 167),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(140, 86, 75),
];
/// Width and height of a panel, and width of the legend, in pixels.
const PANEL: (u32, u32) = (560, 460);
const LEGEND: u32 = 190;

/// One line.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// (x, y); points that are not positive and finite are left out.
    pub(crate) points: Vec<(f64, f64)>,
}

/// One pair of axes, both logarithmic.
#[derive(Debug, Clone)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) series: Vec<Series>,
}

/// Writes the panels to an SVG file. All panels have the same series in the same order; the legend is at the right.
pub(crate) fn save(path: &Path, panels: &[Panel]) -> Result<(), Failure> {
    let svg = draw(panels).map_err(|error| std::io::Error::other(error.to_string()));
    svg.and_then(|svg| std::fs::write(path, svg))
        .map_err(|source| Failure::File { path: path.to_owned(), source })
}

type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

fn draw(panels: &[Panel]) -> Drawn<String> {
    let mut svg = String::new();
    let count = u32::try_from(panels.len()).unwrap_or(1).max(1);
    {
        let root = SVGBackend::with_string(&mut svg, (count * PANEL.0 + LEGEND, PANEL.1)).into_drawing_area();
        root.fill(&WHITE)?;
        let (left, right) = root.split_horizontally(count * PANEL.0);
        for (panel, area) in panels.iter().zip(left.split_evenly((1, count as usize))) {
            draw_panel(panel, &area)?;
        }
        if let Some(panel) = panels.first() {
            draw_legend(&panel.series, &right)?;
        }
        root.present()?;
    }
    Ok(svg)
}

fn draw_panel(panel: &Panel, area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn<()> {
    let drawable = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
        points.iter().copied().filter(|(x, y)| [x, y].iter().all(|v| v.is_normal() && **v > 0.0)).collect()
    };
    let lines: Vec<Vec<(f64, f64)>> = panel.series.iter().map(|series| drawable(&series.points)).collect();
    let all = || lines.iter().flatten();
    let (x, y) = (decades(all().map(|point| point.0), 1.0), decades(all().map(|point| point.1), 1.3));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 19))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(
            (x.0..x.1).log_scale().with_key_points(ticks(x)),
            (y.0..y.1).log_scale().with_key_points(ticks(y)),
        )?;
    chart
        .configure_mesh()
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .x_label_formatter(&|value| number(*value))
        .y_label_formatter(&|value| number(*value))
        .light_line_style(RGBColor(238, 238, 238))
        .bold_line_style(RGBColor(205, 205, 205))
        .draw()?;
    // Lines are drawn one over the other, the first the widest, so that two that coincide are both seen. Markers show where
    // values were computed.
    let widths = (2..=5).rev().chain(std::iter::repeat(2));
    for ((line, colour), width) in lines.into_iter().zip(COLOURS.iter().cycle()).zip(widths) {
        chart.draw_series(LineSeries::new(line.iter().copied(), colour.stroke_width(width)))?;
        chart
            .draw_series(line.into_iter().map(|point| Circle::new(point, width / 2 + 2, colour.filled())))?;
    }
    Ok(())
}

fn draw_legend(series: &[Series], area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn<()> {
    let mut y = 60;
    for (series, colour) in series.iter().zip(COLOURS.iter().cycle()) {
        area.draw(&PathElement::new([(8, y), (38, y)], colour.stroke_width(3)))?;
        area.draw(&Circle::new((23, y), 4, colour.filled()))?;
        area.draw(&Text::new(series.name.clone(), (46, y - 8), ("sans-serif", 16)))?;
        y += 26;
    }
    Ok(())
}

/// A range around the values, wider by `margin` at both ends; a range of some width even for a single value or none.
fn decades(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return (0.1, 10.0);
    }
    if high < low * 1.5 { (low / 3.0, high * 3.0) } else { (low / margin, high * margin) }
}

/// Round numbers in a range, few enough to be read: 1, 2 and 5 times powers of ten in a short range, some powers in a long one.
fn ticks((low, high): (f64, f64)) -> Vec<f64> {
    let decades = high.log10() - low.log10();
    let multiples: &[f64] = if decades < 2.5 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let stride = (decades / 8.0).ceil().max(1.0);
    let mut exponent = (low.log10() / stride).floor() * stride;
    let mut all = Vec::new();
    while 10f64.powf(exponent) <= high * 1.000_001 {
        all.extend(multiples.iter().map(|multiple| multiple * 10f64.powf(exponent)));
        exponent += stride;
    }
    all.retain(|value| (low / 1.000_001..=high * 1.000_001).contains(value));
    all
}

/// Plain between 0.001 and a million, a power of ten otherwise.
fn number(value: f64) -> String {
    if (1e-3..1e6).contains(&value) {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        format!("{value:.0e}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plot_names_its_axes_its_series_and_survives_points_that_cannot_be_drawn() {
        let panel = Panel {
            title: "cost and condition".to_owned(),
            x_label: "kappa".to_owned(),
            y_label: "gradients".to_owned(),
            series: vec![
                Series { name: "one".to_owned(), points: vec![(1.0, 2.0), (10.0, f64::NAN), (100.0, 30.0)] },
                Series { name: "two".to_owned(), points: vec![(1.0, 0.0), (10.0, f64::INFINITY)] },
            ],
        };
        let svg = draw(&[panel.clone(), panel.clone()]).unwrap();
        for text in ["cost and condition", "kappa", "gradients", "one", "two", "<polyline"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN"));
        let empty = Panel { series: Vec::new(), ..panel };
        assert!(draw(&[empty]).unwrap().contains("</svg>"));
    }

    #[test]
    fn ticks_are_round_and_few() {
        assert_eq!(ticks((90.0, 3300.0)).len(), 5);
        assert_eq!(
            ticks((1.0, 100.0)).iter().map(|v| number(*v)).collect::<Vec<_>>().join(" "),
            "1 2 5 10 20 50 100"
        );
        for (low, high) in [(1e-9, 1e9), (0.3, 0.5), (1.0, 1e5), (1e-300, 1e300)] {
            let count = ticks((low, high)).len();
            assert!((1..=10).contains(&count), "{low} to {high}: {count}");
        }
    }

    #[test]
    fn axis_numbers_are_short() {
        let written = [0.001, 0.25, 1.0, 1000.0, 999_999.0, 1e7, 1e-5].map(number);
        assert_eq!(written, ["0.001", "0.25", "1", "1000", "999999", "1e7", "1e-5"]);
    }
}

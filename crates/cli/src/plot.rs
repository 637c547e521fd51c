//! Log-log line plots as SVG files: panels side by side, one line per series, one legend.

use std::path::Path;

use plotters::coord::Shift;
use plotters::prelude::*;

use crate::failure::Failure;

/// Colours that colour-blind readers can distinguish (Okabe and Ito), in the order of the series,
/// and darker ones for what is beyond them.
pub(crate) const COLOURS: [RGBColor; 13] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 0, 0),
    RGBColor(120, 120, 120),
    RGBColor(204, 121, 167),
    RGBColor(0, 158, 115),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(140, 86, 75),
    RGBColor(110, 0, 60),
    RGBColor(90, 110, 0),
    RGBColor(0, 60, 70),
    RGBColor(100, 60, 200),
];
/// Width and height of a panel, and width of the legend, in pixels.
const PANEL: (u32, u32) = (560, 460);
const LEGEND: u32 = 190;
/// The length of a dash and of the gap after it, in pixels.
const DASH: u32 = 6;
/// Up to this many values of x get a tick each, unless two are closer than 1/`NEAR` of the axis.
const FEW: usize = 8;
const NEAR: f64 = 12.0;

/// One line.
#[derive(Debug, Clone)]
pub(crate) struct Series {
    pub(crate) name: String,
    /// (x, y); points that are not positive and finite are not drawn.
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

/// Writes the panels to an SVG file. All panels have the same series in the same order; the legend
/// is on the right.
pub(crate) fn save(path: &Path, panels: &[Panel]) -> Result<(), Failure> {
    let svg = draw(panels).map_err(|error| std::io::Error::other(error.to_string()));
    svg.and_then(|svg| std::fs::write(path, svg))
        .map_err(|source| Failure::File { path: path.to_owned(), source })
}

pub(crate) type Drawn<T> = Result<T, DrawingAreaErrorKind<std::io::Error>>;

fn draw(panels: &[Panel]) -> Drawn<String> {
    let mut svg = String::new();
    let count = u32::try_from(panels.len()).unwrap_or(1).max(1);
    {
        let root = SVGBackend::with_string(&mut svg, (count * PANEL.0 + LEGEND, PANEL.1))
            .into_drawing_area();
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
        points
            .iter()
            .copied()
            .filter(|(x, y)| [x, y].iter().all(|v| v.is_normal() && **v > 0.0))
            .collect()
    };
    let lines: Vec<Vec<(f64, f64)>> =
        panel.series.iter().map(|series| drawable(&series.points)).collect();
    let all = || lines.iter().flatten();
    let (x, y) =
        (decades(all().map(|point| point.0), 1.0), decades(all().map(|point| point.1), 1.3));
    let (x_ticks, y_ticks) =
        (few(all().map(|point| point.0)).unwrap_or_else(|| ticks(x)), ticks(y));
    let (x_plain, y_plain) = (plain(&x_ticks), plain(&y_ticks));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", 19))
        .margin(12)
        .x_label_area_size(48)
        .y_label_area_size(72)
        .build_cartesian_2d(
            (x.0..x.1).log_scale().with_key_points(x_ticks),
            (y.0..y.1).log_scale().with_key_points(y_ticks),
        )?;
    chart
        .configure_mesh()
        .x_desc(&panel.x_label)
        .y_desc(&panel.y_label)
        .axis_desc_style(("sans-serif", 16))
        .label_style(("sans-serif", 14))
        .x_label_formatter(&|value| number(*value, x_plain))
        .y_label_formatter(&|value| number(*value, y_plain))
        .light_line_style(RGBColor(238, 238, 238))
        .bold_line_style(RGBColor(205, 205, 205))
        .draw()?;
    // Lines that coincide must both be visible: solid lines are drawn first, the first one widest,
    // and dashed lines on top of them. Markers show where values were computed.
    let (dashed, solid): (Vec<_>, Vec<_>) =
        lines.iter().zip(COLOURS.iter().cycle()).enumerate().partition(|(at, _)| is_dashed(*at));
    for (at, (line, colour)) in solid.into_iter().chain(dashed) {
        let width = width(at);
        let style = colour.stroke_width(width);
        if is_dashed(at) {
            chart.draw_series(DashedLineSeries::new(line.iter().copied(), DASH, DASH, style))?;
        } else {
            chart.draw_series(LineSeries::new(line.iter().copied(), style))?;
        }
        chart.draw_series(
            line.iter().map(|point| Circle::new(*point, width / 2 + 2, colour.filled())),
        )?;
    }
    Ok(())
}

/// The line width of a series: a dashed line is narrower than the solid one below it.
fn width(at: usize) -> u32 {
    match at {
        0 => 5,
        1 => 4,
        _ if is_dashed(at) => 2,
        _ => 3,
    }
}

/// Whether the line of a series is dashed: every other one from the third on.
fn is_dashed(at: usize) -> bool {
    at >= 2 && at.is_multiple_of(2)
}

fn draw_legend(series: &[Series], area: &DrawingArea<SVGBackend<'_>, Shift>) -> Drawn<()> {
    let mut y = 60;
    for ((series, colour), at) in series.iter().zip(COLOURS.iter().cycle()).zip(0..) {
        let pieces: &[(i32, i32)] =
            if is_dashed(at) { &[(8, 14), (20, 26), (32, 38)] } else { &[(8, 38)] };
        for (from, to) in pieces {
            area.draw(&PathElement::new([(*from, y), (*to, y)], colour.stroke_width(3)))?;
        }
        area.draw(&Circle::new((23, y), 4, colour.filled()))?;
        area.draw(&Text::new(series.name.clone(), (46, y - 8), ("sans-serif", 16)))?;
        y += 26;
    }
    Ok(())
}

/// A range around the values, wider by the factor `margin` at both ends; never empty, even for a
/// single value or none.
fn decades(values: impl Iterator<Item = f64>, margin: f64) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
    if low > high {
        return (0.1, 10.0);
    }
    if high < low * 1.5 { (low / 3.0, high * 3.0) } else { (low / margin, high * margin) }
}

/// The sorted values, if they are few and not too close to each other, so that each gets a tick.
fn few(values: impl Iterator<Item = f64>) -> Option<Vec<f64>> {
    let mut all: Vec<f64> = values.collect();
    all.sort_by(f64::total_cmp);
    all.dedup_by(|a, b| (*a / *b - 1.0).abs() < 1e-9);
    let whole = all.last()?.ln() - all.first()?.ln();
    let apart = all.windows(2).all(|pair| pair[1].ln() - pair[0].ln() > whole / NEAR);
    (apart && all.len() <= FEW).then_some(all)
}

/// Round numbers in a range, few enough to be legible: 1, 2 and 5 times powers of ten in a short
/// range, powers of ten in a long one.
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

/// Whether the numbers of an axis are written without exponents: if all are between 0.001 and a
/// million.
fn plain(ticks: &[f64]) -> bool {
    ticks.iter().all(|value| (1e-3..1e6).contains(value))
}

/// A number without or with an exponent.
fn number(value: f64, plain: bool) -> String {
    if plain {
        let text = format!("{value:.6}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        // As few digits as possible.
        let [short, long] = [format!("{value:.0e}"), format!("{value:.1e}")];
        if short.parse().is_ok_and(|near: f64| (near / value - 1.0).abs() < 1e-3) {
            short
        } else {
            long
        }
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
                Series {
                    name: "one".to_owned(),
                    points: vec![(1.0, 2.0), (10.0, f64::NAN), (100.0, 30.0)],
                },
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
            ticks((1.0, 100.0)).iter().map(|v| number(*v, true)).collect::<Vec<_>>().join(" "),
            "1 2 5 10 20 50 100"
        );
        for (low, high) in [(1e-9, 1e9), (0.3, 0.5), (1.0, 1e5), (1e-300, 1e300)] {
            let count = ticks((low, high)).len();
            assert!((1..=10).contains(&count), "{low} to {high}: {count}");
        }
    }

    #[test]
    fn axis_numbers_are_short_and_all_of_one_kind() {
        let written =
            |values: &[f64]| values.iter().map(|v| number(*v, plain(values))).collect::<Vec<_>>();
        assert_eq!(written(&[0.001, 0.25, 1.0, 999_999.0]), ["0.001", "0.25", "1", "999999"]);
        assert_eq!(written(&[1e-4, 1e-3, 0.01, 0.25]), ["1e-4", "1e-3", "1e-2", "2.5e-1"]);
    }

    #[test]
    fn few_values_are_each_a_tick_the_last_too() {
        assert_eq!(few([0.4, 0.1, 0.2, 0.1, 0.4].into_iter()), Some(vec![0.1, 0.2, 0.4]));
        assert_eq!(few((1..20).map(f64::from)), None);
        assert_eq!(few([1.0, 1.02, 1.05, 5.0].into_iter()), None);
        assert_eq!(few(std::iter::empty()), None);
    }

    #[test]
    fn lines_that_coincide_are_both_seen() {
        let line =
            |name: &str| Series { name: name.to_owned(), points: vec![(1.0, 2.0), (100.0, 30.0)] };
        let names = ["a", "b", "c", "d", "e"];
        let panel = Panel {
            title: String::new(),
            x_label: String::new(),
            y_label: String::new(),
            series: names.map(line).to_vec(),
        };
        let svg = draw(&[panel]).unwrap();
        // The last is dashed, and the one below it is not.
        let pieces = |colour: &str| {
            svg.lines().filter(|line| line.contains("<polyline") && line.contains(colour)).count()
        };
        assert!(pieces("#CC79A7") > 10 && pieces("#787878") <= 2, "{svg}");
        // The third is dashed too, and is drawn over the fourth, which is not.
        let first = |stroke: &str| svg.find(&format!("stroke={stroke}")).unwrap();
        assert!(
            first(r##""#000000" stroke-width="2""##) > first(r##""#787878" stroke-width="3""##),
            "{svg}"
        );
    }
}

//! The plot of `ridgewalk effects`: the average expected response with its interval.

use std::path::Path;

use plotters::prelude::*;
use ridgewalk::pipeline::{CurvePoint, Effects};

use crate::failure::Failure;
use crate::plot::{COLOURS, Drawn};

const SIZE: (u32, u32) = (720, 480);

/// Writes the plot.
pub(super) fn save(path: &Path, effects: &Effects) -> Result<(), Failure> {
    let svg = draw(effects).map_err(|error| std::io::Error::other(error.to_string()));
    svg.and_then(|svg| std::fs::write(path, svg))
        .map_err(|source| Failure::File { path: path.to_owned(), source })
}

/// The curves: one for each scenario and level of the response.
fn curves(effects: &Effects) -> Vec<(String, Vec<&CurvePoint>)> {
    let mut all: Vec<(String, Vec<&CurvePoint>)> = Vec::new();
    for point in &effects.curve {
        let name = match (&point.level, point.at.is_empty()) {
            (Some(level), true) => level.clone(),
            (Some(level), false) => format!("{level}, {}", point.at),
            (None, _) => point.at.clone(),
        };
        match all.iter_mut().find(|(other, _)| *other == name) {
            Some((_, points)) => points.push(point),
            None => all.push((name, vec![point])),
        }
    }
    all
}

fn draw(effects: &Effects) -> Drawn<String> {
    let curves = curves(effects);
    let numbers = effects.curve.iter().all(|point| point.x.is_some()) && effects.curve.len() > 2;
    let x_of = |k: usize, point: &CurvePoint| point.x.filter(|_| numbers).unwrap_or(k as f64);
    // Intervals at one value stand side by side.
    let aside = |number: usize| match numbers {
        true => 0.0,
        false => 0.1 * (number as f64 - 0.5 * (curves.len() - 1) as f64),
    };
    let all = || curves.iter().flat_map(|(_, points)| points.iter().enumerate());
    let range = |values: Vec<f64>| {
        let low = values.iter().copied().fold(f64::INFINITY, f64::min);
        let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let margin = 0.05 * (high - low).max(1e-9 * high.abs().max(1e-9));
        low - margin..high + margin
    };
    let across = range(all().map(|(k, point)| x_of(k, point)).collect());
    let across = if numbers { across } else { across.start - 0.5..across.end + 0.5 };
    let ends = |(_, point): (usize, &&CurvePoint)| [point.response.lower, point.response.upper];
    let up = range(all().flat_map(ends).filter(|y| y.is_finite()).collect());
    // Room for the legend.
    let room = if curves.len() > 1 { 0.06 * curves.len() as f64 + 0.03 } else { 0.0 };
    let up = up.start..up.end + room * (up.end - up.start);
    let mut svg = String::new();
    {
        let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
        root.fill(&WHITE)?;
        let mut chart = ChartBuilder::on(&root)
            .margin(12)
            .x_label_area_size(44)
            .y_label_area_size(64)
            .build_cartesian_2d(across, up)?;
        let names: Vec<String> = curves
            .first()
            .map(|(_, points)| points.iter().map(|p| p.value.clone()).collect())
            .unwrap_or_default();
        let label = |x: &f64| match numbers {
            true => crate::numbers::short(*x),
            // Positions of values are whole numbers.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            false if (x - x.round()).abs() < 1e-6 && *x > -0.5 => {
                names.get(x.round() as usize).cloned().unwrap_or_default()
            }
            false => String::new(),
        };
        let labels = if numbers { 8 } else { names.len().max(2) };
        let title = format!("average {}", effects.of);
        let mut mesh = chart.configure_mesh();
        mesh.x_desc(&effects.by).y_desc(title).x_labels(labels).x_label_formatter(&label);
        mesh.light_line_style(TRANSPARENT).draw()?;
        for (number, (name, points)) in curves.iter().enumerate() {
            let colour = COLOURS[(number + 1) % COLOURS.len()];
            let at = |k: usize, y: f64| (x_of(k, points[k]) + aside(number), y);
            if numbers {
                let lower = points.iter().enumerate().map(|(k, p)| at(k, p.response.lower));
                let upper = points.iter().enumerate().rev().map(|(k, p)| at(k, p.response.upper));
                let band: Vec<(f64, f64)> = lower.chain(upper).collect();
                chart.draw_series(std::iter::once(Polygon::new(band, colour.mix(0.2).filled())))?;
                let middle = points.iter().enumerate().map(|(k, p)| at(k, p.response.mean));
                let line = chart.draw_series(LineSeries::new(middle, colour.stroke_width(2)))?;
                if !name.is_empty() {
                    line.label(name).legend(move |(x, y)| {
                        PathElement::new(vec![(x, y), (x + 18, y)], colour.stroke_width(2))
                    });
                }
            } else {
                let bars = points.iter().enumerate().map(|(k, p)| {
                    let ends = vec![at(k, p.response.lower), at(k, p.response.upper)];
                    PathElement::new(ends, colour.stroke_width(2))
                });
                chart.draw_series(bars)?;
                let dots = points
                    .iter()
                    .enumerate()
                    .map(|(k, p)| Circle::new(at(k, p.response.mean), 4, colour.filled()));
                let dots = chart.draw_series(dots)?;
                if !name.is_empty() {
                    dots.label(name)
                        .legend(move |(x, y)| Circle::new((x + 9, y), 4, colour.filled()));
                }
            }
        }
        if curves.len() > 1 {
            chart
                .configure_series_labels()
                .position(SeriesLabelPosition::UpperRight)
                .background_style(WHITE.mix(0.8))
                .border_style(BLACK)
                .draw()?;
        }
        root.present()?;
    }
    Ok(svg)
}

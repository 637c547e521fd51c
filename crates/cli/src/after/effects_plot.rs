//! The plot of `ridgewalk effects`: the average expected response with its interval.

use std::ops::Range;
use std::path::Path;

use plotters::coord::types::RangedCoordf64;
use plotters::prelude::*;
use ridgewalk::pipeline::{CurvePoint, Effects};

use crate::failure::Failure;
use crate::plot::{COLOURS, Drawn};

const SIZE: (u32, u32) = (720, 480);

/// Writes the plot.
pub(super) fn save(path: &Path, effects: &Effects) -> Result<(), Failure> {
    let svg = Plot::new(effects).draw().map_err(|error| std::io::Error::other(error.to_string()));
    svg.and_then(|svg| std::fs::write(path, svg))
        .map_err(|source| Failure::File { path: path.to_owned(), source })
}

/// A curve: one for each scenario and level of the response.
struct Curve<'a> {
    name: String,
    points: Vec<&'a CurvePoint>,
}

struct Plot<'a> {
    effects: &'a Effects,
    curves: Vec<Curve<'a>>,
    /// Whether the column has numbers: curves with bands. Otherwise dots with intervals.
    numbers: bool,
}

type Chart<'a, 'b> = ChartContext<'a, SVGBackend<'b>, Cartesian2d<RangedCoordf64, RangedCoordf64>>;

impl<'a> Plot<'a> {
    fn new(effects: &'a Effects) -> Self {
        let mut curves: Vec<Curve<'a>> = Vec::new();
        for point in &effects.curve {
            let name = match (&point.level, point.at.is_empty()) {
                (Some(level), true) => level.clone(),
                (Some(level), false) => format!("{level}, {}", point.at),
                (None, _) => point.at.clone(),
            };
            match curves.iter_mut().find(|curve| curve.name == name) {
                Some(curve) => curve.points.push(point),
                None => curves.push(Curve { name, points: vec![point] }),
            }
        }
        let slopes = effects.effects.iter().any(|effect| effect.contrast == "slope");
        Self { effects, curves, numbers: slopes }
    }

    /// Where a point is; intervals at one value stand side by side.
    fn x(&self, number: usize, k: usize) -> f64 {
        let aside = 0.1 * (number as f64 - 0.5 * (self.curves.len() - 1) as f64);
        match self.curves[number].points[k].x {
            Some(x) if self.numbers => x,
            _ => k as f64 + aside,
        }
    }

    fn draw(&self) -> Drawn<String> {
        let mut svg = String::new();
        {
            let root = SVGBackend::with_string(&mut svg, SIZE).into_drawing_area();
            root.fill(&WHITE)?;
            let [across, up] = self.ranges();
            let mut chart = ChartBuilder::on(&root)
                .margin(12)
                .x_label_area_size(44)
                .y_label_area_size(64)
                .build_cartesian_2d(across, up)?;
            self.axes(&mut chart)?;
            for number in 0..self.curves.len() {
                if self.numbers {
                    self.curve(&mut chart, number)?;
                } else {
                    self.dots(&mut chart, number)?;
                }
            }
            if self.curves.len() > 1 {
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

    fn ranges(&self) -> [Range<f64>; 2] {
        let range = |values: Vec<f64>| {
            let low = values.iter().copied().fold(f64::INFINITY, f64::min);
            let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let margin = 0.05 * (high - low).max(1e-9 * high.abs().max(1e-9));
            low - margin..high + margin
        };
        let (mut xs, mut ys) = (Vec::new(), Vec::new());
        for (number, curve) in self.curves.iter().enumerate() {
            xs.extend((0..curve.points.len()).map(|k| self.x(number, k)));
            ys.extend(curve.points.iter().flat_map(|p| [p.response.lower, p.response.upper]));
        }
        ys.retain(|y| y.is_finite());
        let (across, up) = (range(xs), range(ys));
        let aside = if self.numbers { 0.0 } else { 0.4 };
        // Room for the legend.
        let lines = if self.curves.len() > 1 { self.curves.len() as f64 + 0.5 } else { 0.0 };
        let room = 0.06 * lines * (up.end - up.start);
        [across.start - aside..across.end + aside, up.start..up.end + room]
    }

    fn axes(&self, chart: &mut Chart<'_, '_>) -> Drawn<()> {
        let values = self.curves.first().map(|curve| &curve.points[..]).unwrap_or_default();
        let label = |x: &f64| {
            if self.numbers {
                return crate::numbers::short(*x);
            }
            let near = |k: &usize| (x - *k as f64).abs() < 1e-6;
            (0..values.len()).find(near).map(|k| values[k].value.clone()).unwrap_or_default()
        };
        let labels = if self.numbers { 8 } else { values.len().max(2) };
        let mut mesh = chart.configure_mesh();
        let title = format!("average {}", self.effects.of);
        mesh.x_desc(&self.effects.by).y_desc(title).x_labels(labels).x_label_formatter(&label);
        mesh.light_line_style(TRANSPARENT).draw()
    }

    /// A line with a band.
    fn curve(&self, chart: &mut Chart<'_, '_>, number: usize) -> Drawn<()> {
        let Curve { name, points } = &self.curves[number];
        let colour = colour(number);
        let at = |k: usize, y: f64| (self.x(number, k), y);
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
        Ok(())
    }

    /// Dots with intervals.
    fn dots(&self, chart: &mut Chart<'_, '_>, number: usize) -> Drawn<()> {
        let Curve { name, points } = &self.curves[number];
        let colour = colour(number);
        let at = |k: usize, y: f64| (self.x(number, k), y);
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
            dots.label(name).legend(move |(x, y)| Circle::new((x + 9, y), 4, colour.filled()));
        }
        Ok(())
    }
}

fn colour(number: usize) -> RGBColor {
    COLOURS[(number + 1) % COLOURS.len()]
}

//! SVG helpers for the plots.
//!
//! A drawing is stretched to the width of its container, lines keep their width (CSS
//! `vector-effect`), and all text is HTML beside it, so that labels are readable at every width. A
//! dot is a line of no length with a round cap. Colours come from CSS classes.

use std::fmt::Write;

/// Maps numbers to coordinates: [low, high] to [0, size].
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    low: f64,
    high: f64,
    size: f64,
}

impl Scale {
    /// A range of zero width is widened.
    pub(super) fn new(low: f64, high: f64, size: i32) -> Self {
        let size = f64::from(size);
        if low < high && (high - low).is_finite() {
            return Self { low, high, size };
        }
        let (centre, half) =
            if low.is_finite() { (low, low.abs().clamp(1e-300, 1e300)) } else { (0.0, 1.0) };
        Self { low: centre - half, high: centre + half, size }
    }

    /// The coordinate of a number, clamped to the range.
    #[expect(clippy::cast_possible_truncation, reason = "the value lies between 0 and the size")]
    pub(super) fn at(&self, value: f64) -> i32 {
        (self.share(value) * self.size).round() as i32
    }

    /// The same for an axis that points upwards.
    pub(super) fn up(&self, value: f64) -> i32 {
        self.at(self.high - (value - self.low))
    }

    /// The position of a number, from 0 to 1.
    pub(super) fn share(&self, value: f64) -> f64 {
        let share = (value - self.low) / (self.high - self.low);
        if share.is_nan() { 0.0 } else { share.clamp(0.0, 1.0) }
    }

    pub(super) fn low(&self) -> f64 {
        self.low
    }

    pub(super) fn high(&self) -> f64 {
        self.high
    }

    /// Whether a number is within the range.
    pub(super) fn holds(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// A count as a coordinate.
pub(super) fn units(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// A path through points, in relative coordinates, which have fewer digits.
pub(super) fn line(points: impl IntoIterator<Item = (i32, i32)>) -> String {
    let mut path = String::new();
    let mut last: Option<(i32, i32)> = None;
    for (x, y) in points {
        match last {
            None => {
                let _ = write!(path, "M{x} {y}");
            }
            Some((x0, y0)) => {
                path.push(if path.contains('l') { ' ' } else { 'l' });
                let (dx, dy) = (x - x0, y - y0);
                let _ = if dy < 0 { write!(path, "{dx}{dy}") } else { write!(path, "{dx} {dy}") };
            }
        }
        last = Some((x, y));
    }
    path
}

/// The labels of an axis from left to right, as HTML.
pub(super) fn labels_below(scale: &Scale, ticks: &[(f64, String)]) -> String {
    labels("below", "left", ticks.iter().map(|(value, label)| (scale.share(*value), label)))
}

/// The labels of an axis that points upwards.
pub(super) fn labels_beside(scale: &Scale, ticks: &[(f64, String)]) -> String {
    labels("beside", "top", ticks.iter().map(|(value, label)| (1.0 - scale.share(*value), label)))
}

fn labels<'a>(class: &str, edge: &str, ticks: impl Iterator<Item = (f64, &'a String)>) -> String {
    let mut html = format!("<div class=\"{class}\" aria-hidden=\"true\">");
    for (share, label) in ticks {
        let _ = write!(html, "<span style=\"{edge}:{:.1}%\">{label}</span>", 100.0 * share);
    }
    html + "</div>"
}

/// The size of a chart in its own units.
pub(super) const CHART: [i32; 2] = [1000, 500];

/// A chart with two axes: HTML labels around a stretched drawing.
#[derive(Debug)]
pub(super) struct Chart {
    pub(super) x: Scale,
    pub(super) y: Scale,
    /// Ticks of the axes.
    pub(super) across: Vec<(f64, String)>,
    pub(super) up: Vec<(f64, String)>,
    /// What is drawn.
    pub(super) body: String,
}

impl Chart {
    /// A chart of these ranges, with round ticks.
    pub(super) fn new(x: [f64; 2], y: [f64; 2]) -> Self {
        let [x, y] = [(x, CHART[0]), (y, CHART[1])].map(|([a, b], size)| Scale::new(a, b, size));
        let across = crate::numbers::ticks(x.low(), x.high(), 5);
        let up = crate::numbers::ticks(y.low(), y.high(), 5);
        Self { x, y, across, up, body: String::new() }
    }

    pub(super) fn at(&self, x: f64, y: f64) -> (i32, i32) {
        (self.x.at(x), self.y.up(y))
    }

    /// A line through points; those that are not finite are left out.
    pub(super) fn line(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let points = points.into_iter().filter(|(x, y)| x.is_finite() && y.is_finite());
        let path = line(points.map(|(x, y)| self.at(x, y)));
        if !path.is_empty() {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// Dots, all in one path; those beyond the axes are left out.
    pub(super) fn dots(&mut self, class: &str, points: impl IntoIterator<Item = (f64, f64)>) {
        let mut path = String::new();
        for (x, y) in points {
            if self.x.holds(x) && self.y.holds(y) {
                let (x, y) = self.at(x, y);
                let _ = write!(path, "M{x} {y}h0");
            }
        }
        if !path.is_empty() {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// The area between two lines over the same x.
    pub(super) fn band(&mut self, class: &str, points: &[(f64, [f64; 2])]) {
        let good = || points.iter().filter(|(_, ends)| ends.iter().all(|y| y.is_finite()));
        let low = good().map(|(x, ends)| (*x, ends[0]));
        let high = good().rev().map(|(x, ends)| (*x, ends[1]));
        let path = line(low.chain(high).map(|(x, y)| self.at(x, y)));
        if !path.is_empty() {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{path}z\"/>");
        }
    }

    /// Vertical bars from one height to another.
    pub(super) fn bars(&mut self, class: &str, bars: impl IntoIterator<Item = (f64, [f64; 2])>) {
        let mut path = String::new();
        for (x, [low, high]) in bars {
            if x.is_finite() && low.is_finite() && high.is_finite() {
                let ((x, from), (_, to)) = (self.at(x, low), self.at(x, high));
                let _ = write!(path, "M{x} {from}V{to}");
            }
        }
        if !path.is_empty() {
            let _ = write!(self.body, "<path class=\"{class}\" d=\"{path}\"/>");
        }
    }

    /// The figure: heading, drawing, axes and caption. `names` are those of the axes, x first.
    pub(super) fn figure(self, heading: &str, names: [&str; 2], caption: &str) -> String {
        let [width, height] = CHART;
        let mut grid = String::new();
        for (tick, _) in &self.up {
            let _ = write!(grid, "M0 {}h{width}", self.y.up(*tick));
        }
        for (tick, _) in &self.across {
            let _ = write!(grid, "M{} 0v{height}", self.x.at(*tick));
        }
        let grid = if grid.is_empty() { "M0 0".to_owned() } else { grid };
        let (beside, below) =
            (labels_beside(&self.y, &self.up), labels_below(&self.x, &self.across));
        let [x, y] = names;
        let caption = match caption {
            "" => String::new(),
            text => format!("<figcaption>{text}</figcaption>"),
        };
        format!(
            "<div class=\"chart\"><h3>{heading}</h3><p class=\"small\">{y}</p><figure class=\"plot\">{beside}\
             <svg class=\"tall\" viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\"><title>{heading}</title>\
             <path class=\"grid\" d=\"{grid}\"/>{}</svg>{below}<p class=\"axis\">{x}</p>{caption}</figure></div>\n",
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_short_text() {
        assert_eq!(line([(0, 10), (1, 7), (2, 7), (3, 12)]), "M0 10l1-3 1 0 1 5");
        assert_eq!(line([]), "");
    }

    #[test]
    fn a_scale_stays_within_its_size() {
        let scale = Scale::new(-1.0, 1.0, 100);
        assert_eq!(
            [-5.0, -1.0, 0.0, 1.0, f64::INFINITY, f64::NAN].map(|x| scale.at(x)),
            [0, 0, 50, 100, 100, 0]
        );
        assert_eq!([-1.0, 0.5, 7.0].map(|x| scale.up(x)), [100, 25, 0]);
        for (low, high) in
            [(3.0, 3.0), (0.0, 0.0), (f64::NAN, 1.0), (f64::INFINITY, f64::NEG_INFINITY)]
        {
            let scale = Scale::new(low, high, 100);
            assert!(scale.low() < scale.high() && (0..=100).contains(&scale.at(low)));
        }
    }
}

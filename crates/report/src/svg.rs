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

//! The most correlated coefficients, each against each.

use std::fmt::Write;

use crate::html::escape;
use crate::svg::Scale;

/// The most coefficients that are drawn, and that are searched for correlations.
const DRAWN: usize = 5;
const SEARCHED: usize = 200;
/// Dots of a panel.
const DOTS: usize = 300;
/// Correlations below this are not worth a look.
const WEAK: f64 = 0.3;
/// The size of a panel in its own units.
const SIZE: i32 = 300;

/// The section, from thinned draws of each coefficient; `None` for fewer than two.
pub(super) fn pairs(names: &[&str], draws: &[&[f64]]) -> Option<String> {
    let scores: Vec<Vec<f64>> = draws.iter().take(SEARCHED).map(|draws| scores(draws)).collect();
    let mut found: Vec<(f64, usize, usize)> = Vec::new();
    for i in 0..scores.len() {
        for j in 0..i {
            let r: f64 = scores[i].iter().zip(&scores[j]).map(|(a, b)| a * b).sum();
            if r.is_finite() && !scores[i].is_empty() && !scores[j].is_empty() {
                found.push((r, j, i));
            }
        }
    }
    found.sort_by(|a, b| b.0.abs().total_cmp(&a.0.abs()));
    let largest = found.first()?;
    let mut chosen: Vec<usize> = vec![largest.1, largest.2];
    for (r, a, b) in &found {
        for one in [a, b] {
            if chosen.len() < DRAWN && r.abs() >= WEAK && !chosen.contains(one) {
                chosen.push(*one);
            }
        }
    }
    chosen.sort_unstable();
    let name = |k: usize| names.get(k).map_or_else(String::new, |name| escape(name));
    let (r, a, b) = *largest;
    let how = format!("{} and {} ({})", name(a), name(b), correlation(r));
    let mut said = if r.abs() < WEAK {
        format!("No two are strongly correlated. The largest correlation is that of {how}.")
    } else {
        format!(
            "The largest correlation is that of {how}. Where it is strong, the data tell the sum or \
             the difference of two coefficients better than either."
        )
    };
    if names.len() > SEARCHED {
        let _ = write!(said, " Only the first {SEARCHED} were searched.");
    }
    Some(format!(
        "<p class=\"say\">{said} Each dot is a draw.</p>\n{}",
        grid(&chosen, &name, draws, &found)
    ))
}

/// The lower triangle of panels: one column for each coefficient but the last, one row for each but
/// the first.
fn grid(
    chosen: &[usize], name: &dyn Fn(usize) -> String, draws: &[&[f64]],
    found: &[(f64, usize, usize)],
) -> String {
    let columns = chosen.len() - 1;
    let mut html = format!("<div class=\"pairs p{columns}\">\n");
    for (row, &up) in chosen.iter().enumerate().skip(1) {
        let _ = write!(html, "<span class=\"row\" title=\"{0}\">{0}</span>", name(up));
        for (column, &across) in chosen.iter().enumerate().take(columns) {
            if column >= row {
                html.push_str("<span></span>");
                continue;
            }
            let r =
                found.iter().find(|(_, a, b)| (*a, *b) == (across, up)).map_or(f64::NAN, |f| f.0);
            html.push_str(&panel(&name(across), &name(up), draws[across], draws[up], r));
        }
        html.push('\n');
    }
    html.push_str("<span></span>");
    for &across in chosen.iter().take(columns) {
        let _ = write!(html, "<span class=\"col\" title=\"{0}\">{0}</span>", name(across));
    }
    html + "\n</div>\n"
}

fn panel(x_name: &str, y_name: &str, x: &[f64], y: &[f64], r: f64) -> String {
    let range = |values: &[f64]| {
        let ends = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), v| (a.min(*v), b.max(*v)));
        let margin = 0.04 * (ends.1 - ends.0);
        Scale::new(ends.0 - margin, ends.1 + margin, SIZE)
    };
    let (across, up) = (range(x), range(y));
    let every = x.len().div_ceil(DOTS).max(1);
    let mut path = String::new();
    for (x, y) in x.iter().zip(y).step_by(every) {
        let _ = write!(path, "M{} {}h0", across.at(*x), up.up(*y));
    }
    let r = correlation(r);
    format!(
        "<figure><svg viewBox=\"0 0 {SIZE} {SIZE}\" preserveAspectRatio=\"none\" role=\"img\"><title>{y_name} against {x_name}: \
         {r}</title><path class=\"point\" d=\"{path}\"/></svg><figcaption>{r}</figcaption></figure>"
    )
}

fn correlation(r: f64) -> String {
    format!("{r:.2}").replace('-', "\u{2212}")
}

/// Centred and scaled to unit length; empty if that is impossible.
fn scores(draws: &[f64]) -> Vec<f64> {
    let mean = draws.iter().sum::<f64>() / draws.len().max(1) as f64;
    let length = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>().sqrt();
    if !(length > 0.0) || !length.is_finite() {
        return Vec::new();
    }
    draws.iter().map(|x| (x - mean) / length).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_correlated_are_found() {
        // Columns 1 and 3 are opposite, the others wave at other speeds.
        let wave =
            |speed: f64| -> Vec<f64> { (0..500).map(|i| (speed * f64::from(i)).sin()).collect() };
        let (a, b, c) = (wave(0.7), wave(1.3), wave(2.1));
        let opposite: Vec<f64> = b.iter().map(|x| 3.0 - 2.0 * x).collect();
        let draws: Vec<&[f64]> = vec![&a, &b, &c, &opposite];
        let html = pairs(&["a", "b", "c", "d"], &draws).unwrap();
        assert!(html.contains("that of b and d (\u{2212}1.00)"), "{html}");
        assert_eq!(html.matches("<svg").count(), 1, "the others are not correlated");
    }

    #[test]
    fn constant_draws_have_no_correlation() {
        assert!(pairs(&[], &[&[1.0; 9], &[2.0; 9]]).is_none());
        assert!(pairs(&[], &[]).is_none());
    }
}

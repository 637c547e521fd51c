//! Levels of factors: their natural order, their contrasts, and intervals as levels.

use std::cmp::Ordering;

use crate::place::number;

/// How a factor is coded where it is not coded in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Contrast {
    /// Each level but the base.
    Treatment {
        /// The number of the base level.
        base: usize,
    },
    /// Each level but the last, against the mean of all.
    Sum,
    /// Each level but the first, against the mean of those before it.
    Helmert,
}

impl Contrast {
    /// The names of its columns.
    pub(crate) fn names(self, levels: &[String]) -> Vec<String> {
        let rest = |skipped: usize| {
            let kept = levels.iter().enumerate().filter(move |(k, _)| *k != skipped);
            kept.map(|(_, level)| level.clone())
        };
        match self {
            Self::Treatment { base } => rest(base).collect(),
            Self::Sum => rest(levels.len() - 1).map(|level| format!("S.{level}")).collect(),
            Self::Helmert => rest(0).map(|level| format!("H.{level}")).collect(),
        }
    }

    /// The column of a level, or none, where every entry is 1 or 0 and a row has at most one 1;
    /// `None` for other contrasts.
    #[allow(clippy::option_option, reason = "the base level has no column")]
    pub(crate) fn column_of(self, level: usize, full: bool) -> Option<Option<usize>> {
        match self {
            _ if full => Some(Some(level)),
            Self::Treatment { base } if level == base => Some(None),
            Self::Treatment { base } => Some(Some(level - usize::from(level > base))),
            Self::Sum | Self::Helmert => None,
        }
    }

    /// The entry of a level, of `count` in all, in one of the columns.
    pub(crate) fn entry(self, level: usize, column: usize, count: usize) -> f64 {
        match self {
            Self::Treatment { base } => {
                f64::from(u8::from(level == column + usize::from(column >= base)))
            }
            Self::Sum if level + 1 == count => -1.0,
            Self::Sum => f64::from(u8::from(level == column)),
            Self::Helmert => match level.cmp(&(column + 1)) {
                Ordering::Less => -1.0,
                Ordering::Equal => (column + 1) as f64,
                Ordering::Greater => 0.0,
            },
        }
    }
}

/// A piece of a level: a number, or the text between numbers. Numbers come before text.
#[derive(Debug, PartialEq, PartialOrd)]
enum Piece<'t> {
    /// With −1, 0 or 1 for "less than", "from" and "more than".
    Number(f64, i8),
    Text(&'t str),
}

/// The order in which a reader expects levels: `<25`, `25-29`, `100+`; `a2` before `a10`; otherwise
/// by code point.
pub(crate) fn natural_order(a: &str, b: &str) -> Ordering {
    let (left, right) = (pieces(a), pieces(b));
    left.partial_cmp(&right).unwrap_or(Ordering::Equal).then_with(|| a.cmp(b))
}

/// Sorts by the texts of items, as [`natural_order`] has them.
pub(crate) fn sort_naturally<'t, T>(items: &mut Vec<T>, text: impl Fn(&T) -> &'t String) {
    let mut keyed: Vec<(Vec<Piece<'_>>, &str, T)> = std::mem::take(items)
        .into_iter()
        .map(|item| (pieces(text(&item)), text(&item).as_str(), item))
        .collect();
    keyed.sort_by(|a, b| {
        a.0.partial_cmp(&b.0).unwrap_or(Ordering::Equal).then_with(|| a.1.cmp(b.1))
    });
    items.extend(keyed.into_iter().map(|(_, _, item)| item));
}

fn pieces(level: &str) -> Vec<Piece<'_>> {
    let signs = [("<=", -1), (">=", 0), ("<", -1), (">", 1), ("≤", -1), ("≥", 0)];
    let sign = signs.into_iter().find(|(sign, _)| level.starts_with(sign));
    let (side, mut rest) = match sign {
        Some((sign, side)) => (side, level.get(sign.len()..).unwrap_or_default().trim_start()),
        None => (0, level),
    };
    let mut all = Vec::new();
    // A sign belongs to a number at the beginning; later a minus is a dash.
    let signed =
        rest.strip_prefix('-').filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    let mut factor = 1.0;
    if let Some(after) = signed {
        (rest, factor) = (after, -1.0);
    }
    while !rest.is_empty() {
        let end = digits(rest);
        let at = if end > 0 {
            end
        } else {
            rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len())
        };
        let (piece, after) = rest.split_at(at);
        match piece.parse::<f64>() {
            Ok(value) if end > 0 => {
                let side = if all.is_empty() { side } else { 0 };
                all.push(Piece::Number(factor * value, side));
                factor = 1.0;
            }
            _ => all.push(Piece::Text(piece)),
        }
        rest = after;
    }
    if sign.is_some() && !matches!(all.first(), Some(Piece::Number(..))) {
        return vec![Piece::Text(level)];
    }
    all
}

/// The length of the decimal number at the beginning of a text; 0 if there is none.
fn digits(text: &str) -> usize {
    let whole = text.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = text.get(whole..).and_then(|rest| rest.strip_prefix('.'));
    let fraction = fraction.map_or(0, |rest| rest.bytes().take_while(u8::is_ascii_digit).count());
    if whole == 0 {
        0
    } else if fraction > 0 {
        whole + 1 + fraction
    } else {
        whole
    }
}

/// Intervals of equal length that cover a range, as R's `cut(x, count)` has them.
pub(crate) fn equal_breaks([low, high]: [f64; 2], count: usize) -> Vec<f64> {
    let width = if high > low { high - low } else { low.abs() };
    let step = (high - low) / count as f64;
    let mut breaks: Vec<f64> = (0..=count).map(|k| low + k as f64 * step).collect();
    if high <= low {
        breaks = (0..=count)
            .map(|k| low - width / 1000.0 + k as f64 * (width / 500.0) / count as f64)
            .collect();
    } else if let [first, .., last] = &mut breaks[..] {
        (*first, *last) = (low - width / 1000.0, high + width / 1000.0);
    }
    breaks
}

/// The names of intervals: `(0,18]`, with as many digits as tell their ends apart, from 3.
pub(crate) fn interval_names(breaks: &[f64], right: bool, lowest: bool) -> Vec<String> {
    let written =
        |digits: usize| breaks.iter().map(|end| significant(*end, digits)).collect::<Vec<_>>();
    let apart = |names: &Vec<String>| names.windows(2).all(|pair| pair[0] != pair[1]);
    let ends = (3..=12).map(written).find(apart).unwrap_or_else(|| written(12));
    let count = ends.len().saturating_sub(1);
    let name = |(k, pair): (usize, &[String])| {
        let (mut open, mut close) = if right { ('(', ']') } else { ('[', ')') };
        if lowest && right && k == 0 {
            open = '[';
        }
        if lowest && !right && k + 1 == count {
            close = ']';
        }
        format!("{open}{},{}{close}", pair[0], pair[1])
    };
    ends.windows(2).enumerate().map(name).collect()
}

/// The interval that a number is in.
pub(crate) fn interval_of(value: f64, breaks: &[f64], right: bool, lowest: bool) -> Option<usize> {
    let count = breaks.len().checked_sub(1)?;
    let inside = |k: usize| {
        let (low, high) = (breaks[k], breaks[k + 1]);
        if right { low < value && value <= high } else { low <= value && value < high }
    };
    let at_end = |k: usize| {
        lowest
            && if right {
                k == 0 && value == breaks[0]
            } else {
                k + 1 == count && value == breaks[count]
            }
    };
    (0..count).find(|&k| inside(k) || at_end(k))
}

/// A number with so many significant digits and no trailing zeros, as C's `%g` writes it.
fn significant(value: f64, digits: usize) -> String {
    if !value.is_finite() {
        return if value > 0.0 { "Inf".to_owned() } else { "-Inf".to_owned() };
    }
    if value == 0.0 {
        return "0".to_owned();
    }
    let scientific = format!("{value:.*e}", digits - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let trimmed = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let wide = i32::try_from(digits).unwrap_or(i32::MAX);
    if exponent < -4 || exponent >= wide {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{}e{sign}{:02}", trimmed(mantissa), exponent.abs());
    }
    let places = usize::try_from(wide - 1 - exponent).unwrap_or(0);
    trimmed(&format!("{value:.places$}"))
}

/// The name of the level of a number.
pub(crate) fn level_of(value: f64) -> String {
    number(if value == 0.0 { 0.0 } else { value })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(mut levels: Vec<&str>) -> Vec<&str> {
        levels.sort_by(|a, b| natural_order(a, b));
        levels
    }

    #[test]
    fn levels_are_in_natural_order() {
        assert_eq!(sorted(vec!["25-29", "40+", "<25", "30-39"]), ["<25", "25-29", "30-39", "40+"]);
        assert_eq!(
            sorted(vec!["120+", "0-39g/day", "80-119", "40-79"]),
            ["0-39g/day", "40-79", "80-119", "120+"]
        );
        assert_eq!(sorted(vec!["a10", "a2", "b1", "a"]), ["a", "a2", "a10", "b1"]);
        assert_eq!(sorted(vec!["Oslo", "Bergen", "oslo"]), ["Bergen", "Oslo", "oslo"]);
        assert_eq!(sorted(vec![">65", "65", "<65", ">=65"]), ["<65", "65", ">=65", ">65"]);
        assert_eq!(sorted(vec!["1.5", "1.25", "-2", "10"]), ["-2", "1.25", "1.5", "10"]);
        assert_eq!(sorted(vec!["<a", "b", "<5"]), ["<5", "<a", "b"]);
    }

    #[test]
    fn contrasts_are_those_of_r() {
        let rows = |contrast: Contrast| -> Vec<Vec<f64>> {
            let row = |level| (0..3).map(|column| contrast.entry(level, column, 4)).collect();
            (0..4).map(row).collect()
        };
        assert_eq!(
            rows(Contrast::Helmert),
            [[-1.0, -1.0, -1.0], [1.0, -1.0, -1.0], [0.0, 2.0, -1.0], [0.0, 0.0, 3.0]]
        );
        assert_eq!(
            rows(Contrast::Sum),
            [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]]
        );
        assert_eq!(
            rows(Contrast::Treatment { base: 1 }),
            [[1.0, 0.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        );
    }

    #[test]
    fn intervals_are_named_as_in_r() {
        // levels(cut(c(0.5, 9.75), 3)) and levels(cut(1, c(0, 18, 65.25, Inf), right = FALSE)).
        let names = interval_names(&equal_breaks([0.5, 9.75], 3), true, false);
        assert_eq!(names, ["(0.491,3.58]", "(3.58,6.67]", "(6.67,9.76]"]);
        let names = interval_names(&[0.0, 18.0, 65.25, f64::INFINITY], false, true);
        assert_eq!(names, ["[0,18)", "[18,65.2)", "[65.2,Inf]"]);
        assert_eq!(
            interval_names(&[1e5, 2e5, 2.0001e5], true, false),
            ["(1e+05,2e+05]", "(2e+05,2.0001e+05]"]
        );
        assert_eq!(interval_of(18.0, &[0.0, 18.0, 65.0], true, false), Some(0));
        assert_eq!(interval_of(0.0, &[0.0, 18.0, 65.0], true, false), None);
        assert_eq!(interval_of(0.0, &[0.0, 18.0, 65.0], true, true), Some(0));
    }
}

//! Formats numbers: only significant digits, decimal points aligned.

/// A column of a table. Every number shows two digits of its scale; all have the same number of
/// decimals if that costs little, so that decimal points align. A number that is not finite is a
/// dash.
pub(super) fn column(values: &[f64], scales: &[f64]) -> Vec<String> {
    let wanted: Vec<Option<i32>> = scales.iter().map(|scale| decimals(*scale)).collect();
    let known = || wanted.iter().flatten().copied();
    let (least, most) = (known().min().unwrap_or(2), known().max().unwrap_or(2));
    let same = most - least <= 2;
    let number = |(value, wanted): (&f64, &Option<i32>)| {
        let places = if same { most } else { wanted.unwrap_or(most) };
        fixed(*value, places)
    };
    values.iter().zip(&wanted).map(number).collect()
}

/// Pads texts with spaces as wide as digits, so that decimal points align at the right edge of a
/// column.
pub(super) fn aligned(column: Vec<String>) -> Vec<String> {
    let behind = |text: &str| text.split_once('.').map(|(_, decimals)| decimals.len());
    let plain = |text: &str| !text.contains(['e', '–']);
    let most = column.iter().filter(|text| plain(text)).filter_map(|text| behind(text)).max();
    let pad = |text: String| match (most, behind(&text)) {
        (Some(most), got) if plain(&text) => {
            // One as wide as a point, one as wide as a digit.
            let point = if got.is_none() { "\u{2008}" } else { "" };
            format!("{text}{point}{}", "\u{2007}".repeat(most - got.unwrap_or(0)))
        }
        _ => text,
    };
    column.into_iter().map(pad).collect()
}

/// Decimals that show two digits of a number; `None` if it is not finite and positive.
fn decimals(scale: f64) -> Option<i32> {
    #[expect(clippy::cast_possible_truncation, reason = "the logarithm of a number is at most 324")]
    let magnitude = || scale.log10().floor() as i32;
    (scale.is_finite() && scale > 0.0).then(|| 1 - magnitude())
}

/// With this many decimals; in scientific notation if that would be many digits.
pub(super) fn fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if decimals > 7 || value.abs() >= 1e7 {
        return format!("{value:.2e}");
    }
    let text = format!("{value:.*}", usize::try_from(decimals).unwrap_or(0));
    // No negative zero.
    if text.starts_with('-') && text.bytes().all(|b| matches!(b, b'-' | b'0' | b'.')) {
        text[1..].to_owned()
    } else {
        text
    }
}

/// A positive number with two digits of its own, and of an interval of this width.
pub(super) fn significant(value: f64, width: f64) -> String {
    if !value.is_finite() || !(1e-4..1e6).contains(&value) {
        return short(value);
    }
    let places = [value, width].into_iter().filter_map(decimals).max();
    fixed(value, places.unwrap_or(2).min(6))
}

/// A number with two digits of an interval of this width, and a proper minus.
pub(super) fn signed(value: f64, width: f64) -> String {
    fixed(value, decimals(width).unwrap_or(2)).replace('-', "\u{2212}")
}

/// A share in per cent.
pub(super) fn percent(share: f64) -> String {
    let value = 100.0 * share;
    let whole = (value - value.round()).abs() < 1e-9;
    if whole { format!("{value:.0} %") } else { format!("{} %", short(value)) }
}

/// About three digits.
pub(super) fn short(value: f64) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() || !(1e-3..1e6).contains(&value.abs()) {
        return if value.is_finite() { format!("{value:.2e}") } else { "–".to_owned() };
    }
    let places = decimals(value.abs()).map_or(2, |places| (places + 1).max(0));
    let text = fixed(value, places);
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A whole number, in groups of three.
pub(super) fn count(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A number shown without decimals, such as an ESS.
pub(super) fn whole(value: f64) -> String {
    if value.is_finite() && value < 1e15 { format!("{value:.0}") } else { "–".to_owned() }
}

/// Round numbers within a range, at most about `most` of them, with their labels.
pub(super) fn ticks(low: f64, high: f64, most: usize) -> Vec<(f64, String)> {
    let width = high - low;
    if !(width > 0.0) || !width.is_finite() {
        return Vec::new();
    }
    let rough = width / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= rough).unwrap_or(rough);
    let places = decimals(step).map_or(0, |places| (places - 1).max(0));
    let first = (low / step).ceil();
    let values = (0..=most).map(|i| (first + i as f64) * step).take_while(|tick| *tick <= high);
    values.map(|tick| (tick, tick_label(tick, step, places))).collect()
}

fn tick_label(tick: f64, step: f64, places: i32) -> String {
    if tick.abs() < step / 2.0 {
        return "0".to_owned();
    }
    let text =
        if places > 5 || tick.abs() >= 1e6 { format!("{tick:.2e}") } else { fixed(tick, places) };
    text.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_significant() {
        let values = [1.23456, -0.5, 100.0];
        assert_eq!(column(&values, &[0.31, 0.052, 0.9]), ["1.235", "-0.500", "100.000"]);
        assert_eq!(column(&values, &[31.0, 0.052, f64::NAN]), ["1", "-0.500", "100.000"]);
        assert_eq!(
            column(&[f64::NAN, 2e-9, -1e-9], &[1.0, 1e-9, 1e-3]),
            ["–", "2.00e-9", "0.0000"]
        );
        assert_eq!(
            [0.0, 1.0, 0.05, 1234.5, 1e-7, f64::INFINITY].map(short),
            ["0", "1", "0.05", "1234", "1.00e-7", "–"]
        );
        assert_eq!(
            [0, 999, 1000, 12345, 1_234_567].map(count),
            ["0", "999", "1000", "12\u{202f}345", "1\u{202f}234\u{202f}567"]
        );
    }

    #[test]
    fn numbers_in_sentences_have_two_digits() {
        assert_eq!(significant(0.4123, 0.14), "0.41");
        assert_eq!([12.3, 1.21, 120.4].map(|x| significant(x, 119.0)), ["12", "1.2", "120"]);
        assert_eq!(signed(-0.0441, 0.098), "\u{2212}0.044");
        assert_eq!([0.9, 0.955, 0.5].map(percent), ["90 %", "95.5 %", "50 %"]);
    }

    #[test]
    fn decimal_points_are_aligned() {
        let column = ["1.25", "10", "-0.5", "–", "2.00e-9"].map(str::to_owned).to_vec();
        assert_eq!(
            aligned(column),
            ["1.25", "10\u{2008}\u{2007}\u{2007}", "-0.5\u{2007}", "–", "2.00e-9"]
        );
        assert_eq!(aligned(vec!["3".to_owned()]), ["3"]);
    }

    #[test]
    fn ticks_are_round_within_the_range_and_few() {
        let labels =
            |low, high| ticks(low, high, 4).into_iter().map(|t| t.1).collect::<Vec<_>>().join(" ");
        assert_eq!(labels(-1.2, 2.1), "\u{2212}1 0 1 2");
        assert_eq!(labels(0.12, 0.31), "0.15 0.20 0.25 0.30");
        assert_eq!(labels(0.0, 0.0), "");
        for (low, high) in [(1e-9, 3e-9), (-1e300, 1e300), (1e8, 1.0001e8), (-f64::MAX, f64::MAX)] {
            assert!(ticks(low, high, 4).len() <= 5);
        }
    }
}

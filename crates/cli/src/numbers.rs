//! Numbers in tables: as many digits as mean something, in few characters.

/// A number that takes more characters than this has an exponent instead.
const WIDEST: usize = 9;
/// The most decimals of a number with an exponent.
const MANTISSA: i32 = 6;

/// Numbers that share a scale, such as a mean and the ends of its interval, with two digits of that
/// scale. If one of them is too wide, all have exponents. A number that is not finite is a dash.
pub(crate) fn alike<const N: usize>(values: [f64; N], scale: f64) -> [String; N] {
    let known = scale.is_finite() && scale > 0.0;
    let largest = values.iter().filter(|value| value.is_finite()).map(|value| value.abs());
    let largest = largest.fold(0.0, f64::max);
    // Numbers without a scale have three digits.
    let scale = if known { scale } else { 0.1 * largest };
    let decimals = if scale > 0.0 { 1 - magnitude(scale) } else { 0 };
    let texts = values.map(|value| fixed(value, decimals));
    if texts.iter().all(|text| text.chars().count() <= WIDEST) {
        return texts;
    }
    values.map(|value| scientific(value, decimals))
}

/// The power of ten of the first digit.
#[allow(clippy::cast_possible_truncation, reason = "between -324 and 308")]
fn magnitude(value: f64) -> i32 {
    value.abs().log10().floor() as i32
}

fn fixed(value: f64, decimals: i32) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    // So many digits are too wide in any case.
    let decimals = usize::try_from(decimals).unwrap_or(0).min(2 * WIDEST);
    let text = format!("{value:.decimals$}");
    // No negative zero.
    match text.strip_prefix('-') {
        Some(zero) if zero.bytes().all(|byte| matches!(byte, b'0' | b'.')) => zero.to_owned(),
        _ => text,
    }
}

/// With an exponent and the same last digit.
fn scientific(value: f64, decimals: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if !value.is_finite() {
        return "–".to_owned();
    }
    let digits = (magnitude(value) + decimals).clamp(1, MANTISSA);
    format!("{value:.*e}", usize::try_from(digits).unwrap_or(1))
}

/// A count, such as an effective sample size.
pub(crate) fn whole(value: f64) -> String {
    if value.is_finite() { format!("{value:.0}") } else { "–".to_owned() }
}

/// R-hat.
pub(crate) fn rhat(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { "–".to_owned() }
}

/// A share in per cent, with as many decimals as it has: `5 %`, `2.5 %`.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (1e8 * share).round() / 1e6;
    format!("{rounded} %")
}

/// Pads the texts of a column so that decimal points are below each other, unless that makes the
/// column too wide.
pub(crate) fn aligned(column: &mut [String]) {
    let plain = |text: &String| !text.contains(['e', '–']);
    let parts = |text: &String| {
        text.split_once('.').map_or((text.len(), 0), |(whole, rest)| (whole.len(), 1 + rest.len()))
    };
    let texts = || column.iter().filter(|text| plain(text)).map(parts);
    let before = texts().map(|(before, _)| before).max().unwrap_or(0);
    let behind = texts().map(|(_, behind)| behind).max().unwrap_or(0);
    if before + behind > WIDEST {
        return;
    }
    for text in column.iter_mut().filter(|text| plain(text)) {
        let missing = behind - parts(text).1;
        text.push_str(&" ".repeat(missing));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_follow_the_scale() {
        assert_eq!(alike([-0.4751, 0.708, 0.0], 0.708), ["-0.48", "0.71", "0.00"]);
        assert_eq!(alike([-0.0001, 12.345], 0.031), ["0.000", "12.345"]);
        assert_eq!(alike([-667.5, 85.9], 85.9), ["-668", "86"]);
        assert_eq!(alike([12_345_678.0, 85_900.0], 85_900.0), ["12345678", "85900"]);
    }

    #[test]
    fn very_small_and_very_large_numbers_have_exponents() {
        assert_eq!(alike([-1.636e-5, 4.62e-6, 0.0], 4.62e-6), ["-1.64e-5", "4.6e-6", "0"]);
        assert_eq!(alike([1.234e12, 5.6e11], 5.6e11), ["1.23e12", "5.6e11"]);
        assert_eq!(alike([1_234_567_891.0, 1.2], 1.2), ["1.234568e9", "1.2e0"]);
        assert_eq!(alike([3e-300, 2e-310], 2e-310), ["3.000000e-300", "2.0e-310"]);
    }

    #[test]
    fn numbers_without_a_scale_and_no_numbers() {
        assert_eq!(alike([2.0, 0.0], 0.0), ["2.00", "0.00"]);
        assert_eq!(alike([0.0, 0.0], 0.0), ["0", "0"]);
        assert_eq!(alike([f64::NAN, 1.25], f64::NAN), ["–", "1.25"]);
        assert_eq!(alike([f64::INFINITY; 2], f64::INFINITY), ["–", "–"]);
        assert_eq!([whole(f64::NAN), rhat(1.0), whole(12.6)], ["–", "1.000", "13"]);
    }

    #[test]
    fn shares_have_the_decimals_they_need() {
        let shares = [0.05, 0.95, (1.0 - 0.95) / 2.0, 1.0 - (1.0 - 0.89) / 2.0, 0.9];
        assert_eq!(shares.map(percent), ["5 %", "95 %", "2.5 %", "94.5 %", "90 %"]);
    }

    #[test]
    fn points_are_below_each_other_in_a_narrow_column() {
        let mut column = ["1.25", "10", "-0.5", "–", "2.0e-9"].map(str::to_owned);
        aligned(&mut column);
        assert_eq!(column, ["1.25", "10   ", "-0.5 ", "–", "2.0e-9"]);
        let mut wide = ["12345", "0.000012"].map(str::to_owned);
        aligned(&mut wide);
        assert_eq!(wide, ["12345", "0.000012"]);
    }
}

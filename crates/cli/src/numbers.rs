//! Numbers in tables: as many digits as mean something, in few characters.

/// A number that takes more characters than this has an exponent instead.
const WIDEST: usize = 9;
/// The most decimals of a number with an exponent.
const MANTISSA: i32 = 6;

/// The decimals that show two digits of each scale; the same for all if they differ by two at most,
/// so that columns are even. Zero and what is not finite has no scale of its own.
pub(crate) fn decimals(scales: &[f64]) -> Vec<Option<i32>> {
    let own = |scale: &f64| (scale.is_finite() && *scale > 0.0).then(|| 1 - magnitude(*scale));
    let wanted: Vec<Option<i32>> = scales.iter().map(own).collect();
    let known = || wanted.iter().flatten().copied();
    match (known().min(), known().max()) {
        (Some(least), Some(most)) if most - least <= 2 => vec![Some(most); scales.len()],
        _ => wanted,
    }
}

/// Numbers that share a scale, such as a mean and the ends of its interval, with the same decimals:
/// three digits if those are not known. If a number is too wide, all have exponents. A number that
/// is not finite is a dash.
pub(crate) fn alike<const N: usize>(values: [f64; N], decimals: Option<i32>) -> [String; N] {
    written(values, [decimals; N])
}

/// The same for ratios: each has two digits of its own at least.
pub(crate) fn ratios<const N: usize>(values: [f64; N], decimals: Option<i32>) -> [String; N] {
    let own = |value: f64| if value == 0.0 { i32::MIN } else { 1 - magnitude(value) };
    written(values, values.map(|value| decimals.map(|common| common.max(own(value)))))
}

fn written<const N: usize>(values: [f64; N], decimals: [Option<i32>; N]) -> [String; N] {
    let sizes = values.iter().filter(|value| value.is_finite()).map(|value| value.abs());
    let largest = sizes.fold(0.0, f64::max);
    let some = if largest > 0.0 { 2 - magnitude(largest) } else { 0 };
    let mut pairs = values.into_iter().zip(decimals.map(|decimals| decimals.unwrap_or(some)));
    let pairs: [(f64, i32); N] = std::array::from_fn(|_| pairs.next().unwrap_or_default());
    let texts = pairs.map(|(value, decimals)| fixed(value, decimals));
    if texts.iter().all(|text| text.chars().count() <= WIDEST) {
        return texts;
    }
    pairs.map(|(value, decimals)| scientific(value, decimals))
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

/// Pads the texts of columns so that decimal points are below each other, unless that makes one of
/// them too wide.
pub(crate) fn align(columns: &mut [Vec<String>]) {
    let plain = |text: &&mut String| !text.contains(['e', '–']);
    let parts = |text: &str| {
        text.split_once('.').map_or((text.len(), 0), |(whole, rest)| (whole.len(), 1 + rest.len()))
    };
    let mut sizes = Vec::new();
    for column in &mut *columns {
        let (mut before, mut behind) = (0, 0);
        for text in column.iter_mut().filter(plain) {
            let (whole, rest) = parts(text);
            (before, behind) = (before.max(whole), behind.max(rest));
        }
        sizes.push((before, behind));
    }
    if sizes.iter().any(|(before, behind)| before + behind > WIDEST) {
        return;
    }
    for (column, (_, behind)) in columns.iter_mut().zip(sizes) {
        for text in column.iter_mut().filter(plain) {
            let missing = behind - parts(text).1;
            text.push_str(&" ".repeat(missing));
        }
    }
}

/// Four significant digits in at most seven characters.
pub(crate) fn short(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 {
        return "0".to_owned();
    }
    if !(1e-3..1e5).contains(&size) {
        return match value.fract() == 0.0 && size < 1e6 {
            true => format!("{value}"),
            false => format!("{value:.1e}"),
        };
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    let text = rounded.to_string();
    if text.chars().count() <= 7 { text } else { format!("{value:.1e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With two digits of a scale.
    fn of<const N: usize>(values: [f64; N], scale: f64) -> [String; N] {
        alike(values, decimals(&[scale])[0])
    }

    #[test]
    fn digits_follow_the_scale() {
        assert_eq!(of([-0.4751, 0.708, 0.0], 0.708), ["-0.48", "0.71", "0.00"]);
        assert_eq!(of([-0.0001, 12.345], 0.031), ["0.000", "12.345"]);
        assert_eq!(of([-667.5, 85.9], 85.9), ["-668", "86"]);
        assert_eq!(of([12_345_678.0, 85_900.0], 85_900.0), ["12345678", "85900"]);
    }

    #[test]
    fn decimals_are_the_same_where_that_costs_little() {
        assert_eq!(decimals(&[0.31, 0.052, 3.0]), [Some(3); 3]);
        assert_eq!(decimals(&[0.31, 0.052, 31.0]), [Some(2), Some(3), Some(0)]);
        assert_eq!(decimals(&[0.31, f64::NAN, 0.0]), [Some(2); 3]);
        assert_eq!(decimals(&[f64::NAN]), [None]);
    }

    #[test]
    fn very_small_and_very_large_numbers_have_exponents() {
        assert_eq!(of([-1.636e-5, 4.62e-6, 0.0], 4.62e-6), ["-1.64e-5", "4.6e-6", "0"]);
        assert_eq!(of([1.234e12, 5.6e11], 5.6e11), ["1.23e12", "5.6e11"]);
        assert_eq!(of([1_234_567_891.0, 1.2], 1.2), ["1.234568e9", "1.2e0"]);
        assert_eq!(of([3e-300, 2e-310], 2e-310), ["3.000000e-300", "2.0e-310"]);
    }

    #[test]
    fn ratios_near_zero_keep_two_digits() {
        assert_eq!(ratios([0.21, 0.72, 0.0027], Some(2)), ["0.21", "0.72", "0.0027"]);
        assert_eq!(ratios([26.0, 80.1, 0.0], Some(0)), ["26", "80", "0"]);
        assert_eq!(ratios([2e-30, 1.0], Some(1)), ["2.0e-30", "1.0e0"]);
    }

    #[test]
    fn numbers_without_a_scale_and_no_numbers() {
        assert_eq!(of([2.0, 0.0], 0.0), ["2.00", "0.00"]);
        assert_eq!(of([0.0, 0.0], 0.0), ["0", "0"]);
        assert_eq!(of([f64::NAN, 1.25], f64::NAN), ["–", "1.25"]);
        assert_eq!(of([f64::INFINITY; 2], f64::INFINITY), ["–", "–"]);
        assert_eq!(ratios([f64::NAN, 1.25], None), ["–", "1.25"]);
        assert_eq!([whole(f64::NAN), rhat(1.0), whole(12.6)], ["–", "1.000", "13"]);
    }

    #[test]
    fn shares_have_the_decimals_they_need() {
        let shares = [0.05, 0.95, (1.0 - 0.95) / 2.0, 1.0 - (1.0 - 0.89) / 2.0, 0.9];
        assert_eq!(shares.map(percent), ["5 %", "95 %", "2.5 %", "94.5 %", "90 %"]);
    }

    #[test]
    fn points_are_below_each_other_in_narrow_columns() {
        let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        let mut columns = [texts(&["1.25", "10", "-0.5", "–", "2.0e-9"]), texts(&["1", "1.5"])];
        align(&mut columns);
        assert_eq!(columns[0], ["1.25", "10   ", "-0.5 ", "–", "2.0e-9"]);
        assert_eq!(columns[1], ["1  ", "1.5"]);
        let mut wide = [texts(&["12345", "0.000012"]), texts(&["1", "1.5"])];
        align(&mut wide);
        assert_eq!(wide, [texts(&["12345", "0.000012"]), texts(&["1", "1.5"])]);
    }
}

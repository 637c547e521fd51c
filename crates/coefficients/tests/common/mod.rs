//! Reading the golden files: cases with hexadecimal parameters and decimal values.

use serde_json::Value;

/// The cases of a golden file.
pub(crate) fn cases(document: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(document).unwrap();
    document["cases"].as_array().unwrap().clone()
}

/// γ, ξ and η of a case.
pub(crate) fn parameters(case: &Value) -> [f64; 3] {
    ["gamma", "xi", "eta"].map(|name| hex(case[name].as_str().unwrap()))
}

/// A decimal number, stored as a string to keep its digits.
pub(crate) fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

/// The larger of the two terms whose difference an entry is, or 0 if the entry is no difference.
pub(crate) fn larger_term(case: &Value, name: &str) -> f64 {
    case["terms"].get(name).map_or(0.0, number)
}

/// A hexadecimal double as Python's `float.hex` writes it.
fn hex(text: &str) -> f64 {
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = i64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    digits as f64 * 2f64.powi(exponent - 4 * i32::try_from(fraction.len()).unwrap())
}

#[test]
fn hexadecimal_doubles_are_read_exactly() {
    assert_eq!(hex("0x1.8p+1"), 3.0);
    assert_eq!(hex("0x1.999999999999ap-4"), 0.1);
}

//! Every coefficient against values from two independent high-precision programs.
//!
//! `golden/independent.json` was computed from the integrals that define the noise, 25 digits;
//! `golden/oracle.json` by `scripts/oracles/coefficients.py` from the differential equations
//! themselves, 120 digits. Neither uses a closed form.

use ridgewalk_coefficients::{Coefficients, Parameters};
use serde_json::Value;

const RELATIVE: f64 = 1e-13;
/// Allowed error of a difference that may vanish, as a fraction of its larger term.
const MU_OF_LARGER_TERM: f64 = 1e-15;
const NOISE_OF_LARGER_TERM: f64 = 5e-14;

/// A hexadecimal double as Python's `float.hex` writes it.
fn hex(text: &str) -> f64 {
    let (mantissa, exponent) = text.strip_prefix("0x").unwrap().split_once('p').unwrap();
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = i64::from_str_radix(&format!("{whole}{fraction}"), 16).unwrap();
    let exponent: i32 = exponent.parse().unwrap();
    let shift = exponent - 4 * i32::try_from(fraction.len()).unwrap();
    digits as f64 * 2f64.powi(shift)
}

fn cases(document: &str) -> Vec<Value> {
    let document: Value = serde_json::from_str(document).unwrap();
    document["cases"].as_array().unwrap().clone()
}

fn named(c: &Coefficients) -> [(&'static str, f64); 19] {
    let [l11, l21, l22, l31, l32, l33] = c.cholesky();
    [
        ("mu12", c.mu12()),
        ("mu13", c.mu13()),
        ("mu22", c.mu22()),
        ("mu23", c.mu23()),
        ("mu31", c.mu31()),
        ("mu32", c.mu32()),
        ("mu33", c.mu33()),
        ("sigma11", c.sigma11()),
        ("sigma12", c.sigma12()),
        ("sigma13", c.sigma13()),
        ("sigma22", c.sigma22()),
        ("sigma23", c.sigma23()),
        ("sigma33", c.sigma33()),
        ("chol11", l11),
        ("chol21", l21),
        ("chol22", l22),
        ("chol31", l31),
        ("chol32", l32),
        ("chol33", l33),
    ]
}

fn number(value: &Value) -> f64 {
    value.as_str().unwrap().parse().unwrap()
}

fn coefficients(case: &Value) -> Coefficients {
    let [gamma, xi, eta] = ["gamma", "xi", "eta"].map(|name| hex(case[name].as_str().unwrap()));
    Coefficients::new(Parameters::new(gamma, xi, eta).unwrap(), 1.0).unwrap()
}

#[test]
fn hexadecimal_doubles_are_read_exactly() {
    assert_eq!(hex("0x1.8p+1"), 3.0);
    assert_eq!(hex("0x1.999999999999ap-4"), 0.1);
}

#[test]
fn the_independent_values_agree_to_1e_minus_13() {
    let cases = cases(include_str!("golden/independent.json"));
    assert_eq!(cases.len(), 40);
    let mut worst = (0.0, "");
    for case in &cases {
        for (name, value) in named(&coefficients(case)) {
            let error = (value / number(&case["values"][name]) - 1.0).abs();
            assert!(error < RELATIVE, "{name} at {}: relative error {error:e}", case["eta"]);
            if error > worst.0 {
                worst = (error, name);
            }
        }
    }
    println!("largest relative error {:e}, in {}", worst.0, worst.1);
}

#[test]
fn our_oracle_agrees_everywhere_zeros_included() {
    let cases = cases(include_str!("golden/oracle.json"));
    assert!(cases.len() >= 100);
    let mut worst = [(0.0, String::new()), (0.0, String::new()), (0.0, String::new())];
    for case in &cases {
        let kind = case["kind"].as_str().unwrap();
        for (name, value) in named(&coefficients(case)) {
            let exact = number(&case["values"][name]);
            let error = (value - exact).abs();
            let relative = error / exact.abs();
            // A difference of two terms that has lost a digit or more is held to its larger term.
            let term = case["terms"].get(name).map_or(0.0, number);
            let cancels = term > 10.0 * exact.abs();
            let (slot, measured, allowed) = match (cancels, name.starts_with("mu")) {
                (false, _) => (0, relative, RELATIVE),
                (true, true) => (1, error / term, MU_OF_LARGER_TERM),
                (true, false) => (2, error / term, NOISE_OF_LARGER_TERM),
            };
            if measured > worst[slot].0 {
                worst[slot] = (measured, format!("{name} in {kind}, eta {}", case["eta"]));
            }
            assert!(
                measured < allowed,
                "{kind}: {name} is {value:e}, exactly {exact:e}: error {measured:e}"
            );
        }
    }
    println!(
        "largest errors: relative {:?}; of mu's larger term {:?}; of the noise's {:?}",
        worst[0], worst[1], worst[2]
    );
}

#[test]
fn a_mean_at_its_zero_is_within_1e_minus_15_of_its_larger_term() {
    let mut seen = 0;
    for case in cases(include_str!("golden/oracle.json")) {
        let Some(name) = case["kind"].as_str().unwrap().strip_prefix("zero of mu") else {
            continue;
        };
        let name = format!("mu{name}");
        let (_, value) = *named(&coefficients(&case)).iter().find(|(n, _)| *n == name).unwrap();
        let error = (value - number(&case["values"][&name])).abs() / number(&case["terms"][&name]);
        assert!(error < MU_OF_LARGER_TERM, "{name}: {error:e} of its larger term");
        seen += 1;
    }
    assert_eq!(seen, 24);
}

#[test]
fn the_smoothness_divides_the_factor_by_its_root_and_leaves_sigma_alone() {
    for case in cases(include_str!("golden/independent.json")) {
        let one = coefficients(&case);
        let seven = Coefficients::new(one.parameters(), 7.0).unwrap();
        for ((name, a), (_, b)) in named(&one).into_iter().zip(named(&seven)) {
            if name.starts_with("chol") {
                assert!((b * 7f64.sqrt() / a - 1.0).abs() < 1e-15, "{name}");
            } else {
                assert_eq!(a, b, "{name}");
            }
        }
        assert_eq!(seven.covariance()[0][1], seven.sigma12() / 7.0);
    }
}

//! Every coefficient against values from two independent high-precision programs.
//!
//! `golden/independent.json` was computed with 25 digits from the integrals that define the noise,
//! `golden/oracle.json` with 120 digits by `scripts/oracles/coefficients.py` from the differential
//! equations. Neither uses a closed form.

use ridgewalk_coefficients::{Coefficients, Parameters};
use serde_json::Value;

use crate::common::{cases, larger_term, number, parameters};

const RELATIVE: f64 = 1e-13;
/// Allowed error of a difference that may vanish, as a fraction of its larger term.
const MU_OF_LARGER_TERM: f64 = 1e-15;
const NOISE_OF_LARGER_TERM: f64 = 5e-14;

fn coefficients(case: &Value) -> Coefficients {
    let [gamma, xi, eta] = parameters(case);
    Coefficients::new(Parameters::new(gamma, xi, eta).unwrap(), 1.0).unwrap()
}

#[test]
fn the_independent_values_agree_to_1e_minus_13() {
    let cases = cases(include_str!("golden/independent.json"));
    assert_eq!(cases.len(), 40);
    let mut worst = (0.0, "");
    for case in &cases {
        for (name, value) in coefficients(case).named() {
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
        for (name, value) in coefficients(case).named() {
            let exact = number(&case["values"][name]);
            let error = (value - exact).abs();
            let relative = error / exact.abs();
            // For a difference that has lost a digit or more, the error is relative to the larger
            // term.
            let term = larger_term(case, name);
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
        let (_, value) = *coefficients(&case).named().iter().find(|(n, _)| *n == name).unwrap();
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
        for ((name, a), (_, b)) in one.named().into_iter().zip(seven.named()) {
            if name.starts_with("chol") {
                assert!((b * 7f64.sqrt() / a - 1.0).abs() < 1e-15, "{name}");
            } else {
                assert_eq!(a, b, "{name}");
            }
        }
        assert_eq!(seven.covariance()[0][1], seven.sigma12() / 7.0);
    }
}

//! The exact step of (p, r) against a high-precision oracle, and the identities it must satisfy for
//! all parameters.
//!
//! `golden/ornstein_uhlenbeck.json` is computed with 120 digits from matrix exponentials by
//! `scripts/oracles/ornstein_uhlenbeck.py`.

use proptest::prelude::*;
use ridgewalk_coefficients::{Error, OrnsteinUhlenbeck, Parameters};

use crate::common;

/// Allowed error, relative or as a fraction of the larger term, up to moderate ξη and γη.
const TOLERANCE: f64 = 1e-13;

fn step(gamma: f64, xi: f64, eta: f64) -> OrnsteinUhlenbeck {
    OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, eta).unwrap(), 1.0).unwrap()
}

fn named(s: &OrnsteinUhlenbeck) -> [(&'static str, f64); 10] {
    let ([[a, b], [c, d]], [[pp, pr], [_, rr]], [l11, l21, l22]) =
        (s.flow(), s.covariance(), s.cholesky());
    [
        ("flow_pp", a),
        ("flow_pr", b),
        ("flow_rp", c),
        ("flow_rr", d),
        ("sigma_pp", pp),
        ("sigma_pr", pr),
        ("sigma_rr", rr),
        ("chol11", l11),
        ("chol21", l21),
        ("chol22", l22),
    ]
}

#[test]
fn every_entry_agrees_with_the_oracle_relative_or_to_its_larger_term() {
    let mut worst = [(0.0, String::new()), (0.0, String::new())];
    let mut kinds = std::collections::BTreeSet::new();
    for case in common::cases(include_str!("golden/ornstein_uhlenbeck.json")) {
        let kind = case["kind"].as_str().unwrap();
        kinds.insert(kind.to_owned());
        let [gamma, xi, eta] = common::parameters(&case);
        for (name, value) in named(&step(gamma, xi, eta)) {
            let exact = common::number(&case["values"][name]);
            let error = (value - exact).abs();
            // For a difference that has lost a digit or more, the error is relative to the larger
            // term.
            let term = common::larger_term(&case, name);
            let cancels = term > 10.0 * exact.abs();
            let measured = if cancels { error / term } else { error / exact.abs() };
            // Each doubling doubles the relative error of E, which matters for (ξ + γ)η above 50.
            let allowed = TOLERANCE * ((xi + gamma) * eta / 50.0).max(1.0);
            assert!(
                measured < allowed,
                "{kind}, xi eta = {}: {name} is {value:e}, exactly {exact:e}: {measured:e}",
                xi * eta
            );
            if measured > worst[usize::from(cancels)].0 {
                worst[usize::from(cancels)] =
                    (measured, format!("{name} in {kind}, xi eta = {}", xi * eta));
            }
        }
    }
    assert_eq!(kinds.len(), 8, "{kinds:?}");
    println!("largest errors: relative {:?}; of the larger term {:?}", worst[0], worst[1]);
}

/// γ, ξ, η with ξη log-uniform from 1e-9 to 50 and γη between a thirtieth and thirty times ξη, at
/// most 100.
fn parameters() -> impl Strategy<Value = (f64, f64, f64)> {
    (-9.0..1.69_f64, -3.0..3.0_f64, -1.5..1.5_f64).prop_map(|(z, xi, ratio)| {
        let (z, xi) = (10f64.powf(z), 10f64.powf(xi));
        (xi * 10f64.powf(ratio).min(100.0 / z), xi, z / xi)
    })
}

proptest! {
    #[test]
    fn two_steps_are_one_of_twice_the_length((gamma, xi, eta) in parameters(), fraction in 0.05..0.95_f64) {
        let [whole, first, second] = [1.0, fraction, 1.0 - fraction].map(|part| step(gamma, xi, part * eta));
        let ([[a, b], [c, d]], [[e, f], [g, h]]) = (second.flow(), first.flow());
        let product = [[a * e + b * g, a * f + b * h], [c * e + d * g, c * f + d * h]];
        let [[pp, pr], [_, rr]] = first.covariance();
        let [[qq, qs], [_, ss]] = second.covariance();
        let sum = [
            qq + a * a * pp + 2.0 * a * b * pr + b * b * rr,
            qs + a * c * pp + (a * d + b * c) * pr + b * d * rr,
            ss + c * c * pp + 2.0 * c * d * pr + d * d * rr,
        ];
        let tolerance = 1e-13 * (1.0 + (gamma + xi) * eta);
        let entries = whole.flow().into_iter().flatten().zip(product.into_iter().flatten()).enumerate();
        for (entry, (once, twice)) in entries {
            // The lengths of the two steps are rounded: the error of a small entry is relative to
            // the products that it is the sum of.
            let scale = twice.abs() + if entry == 0 || entry == 3 { 1.0 } else { gamma * eta };
            prop_assert!((once - twice).abs() < tolerance * scale, "entry {entry}: {once} and {twice}");
        }
        let [[s, t], [_, u]] = whole.covariance();
        prop_assert!((sum[0] / s - 1.0).abs() < tolerance, "{} and {s}", sum[0]);
        prop_assert!((sum[1] - t).abs() < tolerance * (s * u).sqrt());
        prop_assert!((sum[2] / u - 1.0).abs() < tolerance);
    }

    #[test]
    fn the_map_and_the_noise_keep_the_stationary_law((gamma, xi, eta) in parameters(), smoothness in 0.01..100.0_f64) {
        // E Eᵀ + Σ L = I, to the rounding of 1.
        let s = OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, eta).unwrap(), smoothness).unwrap();
        let (e, sigma) = (s.flow(), s.covariance());
        for i in 0..2 {
            for j in 0..2 {
                let kept = e[i][0] * e[j][0] + e[i][1] * e[j][1] + sigma[i][j] * smoothness;
                let error = (kept - f64::from(u8::from(i == j))).abs();
                prop_assert!(error < 1e-14 * (1.0 + (gamma + xi) * eta), "{i} {j}: {error:e}");
            }
        }
    }

    #[test]
    fn the_factor_times_its_transpose_is_the_covariance((gamma, xi, eta) in parameters(), smoothness in 0.01..100.0_f64) {
        let s = OrnsteinUhlenbeck::new(Parameters::new(gamma, xi, eta).unwrap(), smoothness).unwrap();
        let ([l11, l21, l22], [[pp, pr], [rp, rr]]) = (s.cholesky(), s.covariance());
        prop_assert!(l11 > 0.0 && l22 > 0.0);
        prop_assert_eq!(pr, rp);
        prop_assert!((l11 * l11 / pp - 1.0).abs() < 1e-14);
        prop_assert!((l11 * l21 - pr).abs() < 1e-14 * (pp * rr).sqrt());
        prop_assert!(((l21 * l21 + l22 * l22) / rr - 1.0).abs() < 1e-14);
    }

    #[test]
    fn whatever_bits_come_in_no_nan_goes_out(gamma: u64, xi: u64, eta: u64, smoothness: u64) {
        let [gamma, xi, eta, smoothness] = [gamma, xi, eta, smoothness].map(f64::from_bits);
        prop_assert!(is_sound(gamma, xi, eta, smoothness));
    }

    #[test]
    fn nor_over_the_range_where_most_are_good(e in prop::array::uniform4(-25.0..25.0_f64)) {
        let [gamma, xi, eta, smoothness] = e.map(|power| 10f64.powf(power));
        prop_assert!(is_sound(gamma, xi, eta, smoothness));
    }
}

/// Whether the parameters are rejected or all entries are finite.
fn is_sound(gamma: f64, xi: f64, eta: f64, smoothness: f64) -> bool {
    let Ok(parameters) = Parameters::new(gamma, xi, eta) else { return true };
    let Ok(s) = OrnsteinUhlenbeck::new(parameters, smoothness) else { return true };
    named(&s).iter().all(|(_, value)| value.is_finite())
}

#[test]
fn the_plain_difference_has_no_digit_of_a_small_variance() {
    // Why there is doubling: the variance 2 ξ γ² η³/3 is about 1e-18, far below the rounding of
    // 1 − (E Eᵀ)₁₁.
    let (gamma, xi, eta) = (1.0_f64, 2.0, 1e-6);
    let s = step(gamma, xi, eta);
    let leading = 2.0 * xi * gamma * gamma * eta.powi(3) / 3.0;
    assert!((s.covariance()[0][0] / leading - 1.0).abs() < 1e-5);
    let [a, b] = s.flow()[0];
    assert!(((1.0 - a * a - b * b) / leading - 1.0).abs() > 0.5);
}

#[test]
fn steps_that_are_too_long_or_too_short_are_refused_with_the_value() {
    let refused = |gamma, xi, eta, smoothness| match OrnsteinUhlenbeck::new(
        Parameters::new(gamma, xi, eta).unwrap(),
        smoothness,
    )
    .unwrap_err()
    {
        Error::OutOfRange { quantity, .. } | Error::TooLong { quantity, .. } => quantity,
        Error::NotPositive { name, .. } => name,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(2e6, 1.0, 1.0, 1.0), "gamma * eta");
    assert_eq!(refused(1.0, 2e6, 1.0, 1.0), "xi * eta");
    assert_eq!(refused(1.0, 1.0, 1e-110, 1.0), "variance of p");
    assert_eq!(refused(1.0, 1.0, 1.0, f64::NAN), "smoothness");
}

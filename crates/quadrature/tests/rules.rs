//! Nodes, basis, weights and bounds, for 1 to 64 nodes and beyond.

use proptest::prelude::*;
use ridgewalk_quadrature::{
    Error, LineRule, MAX_NODES, integral_error_bound, interpolation_error_bound,
};

fn integral(rule: &LineRule, function: impl Fn(f64) -> f64) -> f64 {
    let mut out = [0.0];
    rule.integrate(|t, value| value[0] = function(t), &mut Vec::new(), &mut out);
    out[0]
}

/// The Chebyshev polynomial Tk on [0, length]; its integral is length/(1 − k²) for even k and 0 for
/// odd k.
fn chebyshev(k: usize, t: f64, length: f64) -> f64 {
    (k as f64 * (2.0 * t / length - 1.0).clamp(-1.0, 1.0).acos()).cos()
}

#[test]
fn the_smallest_rules_are_the_known_ones() {
    let close = |a: &[f64], b: &[f64]| {
        a.len() == b.len() && a.iter().zip(b).all(|(x, y)| (x - y).abs() < 2e-15)
    };
    let midpoint = LineRule::new(1, 3.0).unwrap();
    assert!(close(midpoint.nodes(), &[1.5]) && close(midpoint.weights(), &[3.0]));
    let two = LineRule::new(2, 2.0).unwrap();
    let root = 0.5f64.sqrt();
    assert!(close(two.nodes(), &[1.0 + root, 1.0 - root]) && close(two.weights(), &[1.0, 1.0]));
    // Fejér's first rule with three nodes on [-1, 1]: weights 4/9, 10/9, 4/9.
    let three = LineRule::new(3, 2.0).unwrap();
    assert!(close(three.weights(), &[4.0 / 9.0, 10.0 / 9.0, 4.0 / 9.0]));
}

#[test]
fn rules_are_exact_to_their_degree_and_not_beyond() {
    for nodes in (1..=64).chain([100, 257, MAX_NODES]) {
        let rule = LineRule::new(nodes, 1.7).unwrap();
        let degree = if nodes % 2 == 1 { nodes } else { nodes - 1 };
        for k in 0..=degree {
            let exact = if k % 2 == 1 { 0.0 } else { 1.7 / (1.0 - (k * k) as f64) };
            let error = (integral(&rule, |t| chebyshev(k, t, 1.7)) - exact).abs();
            assert!(error < 1e-13, "{nodes} nodes, degree {k}: {error:e}");
        }
        let beyond = degree + 1;
        let exact = 1.7 / (1.0 - (beyond * beyond) as f64);
        // At the nodes Tn vanishes and T(n+1) equals -T(n-1), so both integrals are clearly wrong.
        assert!(
            (integral(&rule, |t| chebyshev(beyond, t, 1.7)) - exact).abs() > 0.5 * exact.abs(),
            "{nodes} nodes"
        );
    }
}

#[test]
fn weights_are_positive_symmetric_and_sum_to_the_length() {
    for nodes in (1..=64).chain([500, MAX_NODES]) {
        let rule = LineRule::new(nodes, 0.3).unwrap();
        assert!(rule.weights().iter().all(|&w| w > 0.0));
        assert!(rule.nodes().iter().all(|&s| 0.0 < s && s < 0.3));
        assert!(
            rule.nodes().windows(2).all(|pair| pair[0] > pair[1]),
            "from the far end to the near"
        );
        assert!((rule.weights().iter().sum::<f64>() - 0.3).abs() < 1e-15 * nodes as f64);
        for i in 0..nodes {
            assert_eq!(rule.weights()[i], rule.weights()[nodes - 1 - i]);
        }
    }
}

#[test]
fn weights_are_the_integrals_of_the_basis() {
    for nodes in 1..=24 {
        let rule = LineRule::new(nodes, 0.8).unwrap();
        // An independent rule of higher degree integrates each basis polynomial.
        let finer = LineRule::new(2 * nodes + 1, 0.8).unwrap();
        let mut integrals = vec![0.0; nodes];
        finer.integrate(
            |t, value| value.copy_from_slice(&rule.basis(t)),
            &mut Vec::new(),
            &mut integrals,
        );
        for (a, b) in integrals.iter().zip(rule.weights()) {
            assert!((a - b).abs() < 1e-13, "{nodes} nodes: {a} and {b}");
        }
    }
}

#[test]
fn the_printed_lagrange_basis_is_not_one() {
    // The paper prints Π_{j≠i} (t − s_i)/(s_j − s_i). It is 0, not 1, at its own node, and the
    // "interpolant" misses the data.
    let rule = LineRule::new(4, 1.0).unwrap();
    let s = rule.nodes();
    let printed = |i: usize, t: f64| -> f64 {
        (0..4).filter(|&j| j != i).map(|j| (t - s[i]) / (s[j] - s[i])).product()
    };
    for i in 0..4 {
        assert_eq!(printed(i, s[i]), 0.0);
        assert_eq!(rule.basis(s[i])[i], 1.0);
        // The right one is 0 at the other nodes and close to 1 next to its own.
        let beside = rule.basis(s[i] + 1e-9);
        assert!((beside[i] - 1.0).abs() < 1e-6);
        assert!(beside.iter().enumerate().all(|(j, b)| j == i || b.abs() < 1e-6));
    }
}

#[test]
fn the_basis_itself_is_not_positive_only_its_integrals_are() {
    let rule = LineRule::new(5, 1.0).unwrap();
    let smallest =
        (0..100).flat_map(|i| rule.basis(f64::from(i) / 100.0)).fold(f64::INFINITY, f64::min);
    assert!(smallest < -0.1, "the smallest value of a basis polynomial is {smallest}");
    assert!(rule.weights().iter().all(|&w| w > 0.0));
}

#[test]
fn the_error_bounds_hold_and_are_not_idle() {
    // f = cos(w t), whose n-th derivative is at most w^n.
    for (nodes, length, w) in
        [(1, 0.5, 1.0), (2, 0.9, 2.0), (3, 1.0, 1.5), (4, 2.0, 1.0), (7, 3.0, 1.0), (12, 4.0, 1.5)]
    {
        let rule = LineRule::new(nodes, length).unwrap();
        let derivative = f64::powi(w, i32::try_from(nodes).unwrap());
        let values: Vec<f64> = rule.nodes().iter().map(|s| (w * s).cos()).collect();
        let error = (0..=1000)
            .map(|i| length * f64::from(i) / 1000.0)
            .map(|t| {
                let interpolant: f64 = rule.basis(t).iter().zip(&values).map(|(b, v)| b * v).sum();
                (interpolant - (w * t).cos()).abs()
            })
            .fold(0.0, f64::max);
        let bound = interpolation_error_bound(nodes, length, derivative);
        assert!(error <= bound, "{nodes} nodes: {error:e} above {bound:e}");
        assert!(error > 0.02 * bound, "{nodes} nodes: {error:e} far below {bound:e}");
        let error = (integral(&rule, |t| (w * t).cos()) - (w * length).sin() / w).abs();
        let bound = integral_error_bound(nodes, length, derivative);
        assert!(error <= bound, "{nodes} nodes: {error:e} above {bound:e}");
        assert!(bound < length * interpolation_error_bound(nodes, length, derivative));
    }
}

#[test]
fn the_interpolation_bound_is_attained_by_the_monic_polynomial() {
    // f = t^n has the constant n-th derivative n!, and its error is the monic Chebyshev polynomial,
    // extremal at the ends.
    for nodes in 1..=10_usize {
        let rule = LineRule::new(nodes, 1.3).unwrap();
        let factorial: f64 = (1..=nodes).map(|k| k as f64).product();
        let power = i32::try_from(nodes).unwrap();
        let at_zero: f64 =
            rule.basis(0.0).iter().zip(rule.nodes()).map(|(b, s)| b * s.powi(power)).sum();
        let bound = interpolation_error_bound(nodes, 1.3, factorial);
        assert!((at_zero.abs() / bound - 1.0).abs() < 1e-9, "{nodes} nodes: {at_zero} and {bound}");
    }
}

#[test]
fn bad_rules_are_refused_with_the_value() {
    assert_eq!(LineRule::new(0, 1.0).unwrap_err(), Error::Nodes { nodes: 0 });
    assert_eq!(LineRule::new(0, 1.0).unwrap_err().to_string(), "nodes = 0: need 1 to 1024");
    assert!(LineRule::new(MAX_NODES + 1, 1.0).is_err());
    for length in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-310] {
        let error = LineRule::new(3, length).unwrap_err();
        assert!(error.to_string().starts_with(&format!("length = {length}: need")), "{error}");
    }
}

#[test]
fn a_failing_function_stops_the_integral_with_its_own_error() {
    let rule = LineRule::new(5, 1.0).unwrap();
    let mut calls = 0;
    let outcome = rule.try_integrate(
        |t, _| {
            calls += 1;
            if calls == 3 { Err(format!("no value at {t}")) } else { Ok(()) }
        },
        &mut Vec::new(),
        &mut [0.0],
    );
    assert_eq!(outcome, Err(format!("no value at {}", rule.nodes()[2])));
    assert_eq!(calls, 3);
}

proptest! {
    #[test]
    fn scratch_of_any_size_is_fine_and_vectors_are_integrated_entry_by_entry(
        nodes in 1_usize..65, length in 1e-3..1e3_f64, dimension in 0_usize..9, junk in 0_usize..20,
    ) {
        let rule = LineRule::new(nodes, length).unwrap();
        let mut scratch = vec![f64::NAN; junk];
        let mut out = vec![f64::NAN; dimension];
        rule.integrate(|_, value| (0..value.len()).for_each(|i| value[i] = i as f64), &mut scratch, &mut out);
        for (i, value) in out.iter().enumerate() {
            prop_assert!((value - i as f64 * length).abs() <= 1e-12 * length);
        }
    }

    #[test]
    fn polynomials_of_random_coefficients_are_integrated_exactly(
        c in prop::collection::vec(-1.0..1.0_f64, 1..20), length in 0.1..2.0_f64,
    ) {
        let rule = LineRule::new(c.len(), length).unwrap();
        let polynomial = |t: f64| c.iter().rev().fold(0.0, |sum, a| sum * t + a);
        let terms: Vec<f64> =
            c.iter().zip(1_i32..).map(|(a, k)| a * length.powi(k) / f64::from(k)).collect();
        let size: f64 = terms.iter().map(|t| t.abs()).sum();
        prop_assert!((integral(&rule, polynomial) - terms.iter().sum::<f64>()).abs() <= 1e-13 * (size + 1e-3));
    }
}

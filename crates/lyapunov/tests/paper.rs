//! The checks of the paper: closed forms against a library and against exact arithmetic, verdicts
//! that change when the printed formulas are changed, and the powers in the theorems.

use std::sync::OnceLock;

use num_rational::{BigRational, Rational64};
use num_traits::{Signed, ToPrimitive};
use proptest::prelude::*;
use ridgewalk_lyapunov::Error;
use ridgewalk_lyapunov::paper::{
    Claim, HigherSmoothness, Matrix3, Polynomial, Printed, Problem, Reading, Unknown, Verdict,
    best_rate, cubic, derivative, derivative_eigenvalues, drift, eigenvalues_of_s, g1, g2, g3, g4,
    g5, g6, rate, rational, roots_of_cubic, s, symmetric_eigenvalues, theorem1_mixing_time,
    theorem1_step_size, theorem2_mixing_time, theorem2_step, theorem2_step_size, verify, verify_at,
    verify_printed,
};

const KAPPAS: [f64; 9] = [1.0, 1.5, 2.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6];

/// x = 1/κ for the double κ, exactly.
fn exact_x(kappa: f64) -> BigRational {
    BigRational::from_float(kappa).unwrap().recip()
}

fn value(polynomial: &Polynomial, kappa: f64) -> f64 {
    polynomial.at(&exact_x(kappa)).unwrap().to_f64().unwrap()
}

/// The claims of [`verify`], computed once for all tests.
pub(crate) fn verified() -> &'static [Claim] {
    static CLAIMS: OnceLock<Vec<Claim>> = OnceLock::new();
    CLAIMS.get_or_init(|| verify().unwrap())
}

/// The claims of [`verify_printed`] for the paper as printed, computed once for all tests.
fn verified_print() -> &'static [Claim] {
    static CLAIMS: OnceLock<Vec<Claim>> = OnceLock::new();
    CLAIMS.get_or_init(|| verify_printed(&Printed::paper()))
}

fn find<'a>(claims: &'a [Claim], start: &str) -> &'a Claim {
    let mut hits = claims.iter().filter(|claim| claim.what.starts_with(start));
    let hit = hits.next().unwrap_or_else(|| panic!("no claim starts with {start:?}"));
    assert!(hits.next().is_none(), "{start:?} is ambiguous");
    hit
}

/// The claims whose verdict changes when the printed formulas are altered.
fn broken_by(alter: impl FnOnce(&mut Printed)) -> Vec<String> {
    let mut printed = Printed::paper();
    alter(&mut printed);
    let before = verified_print();
    let after = verify_printed(&printed);
    assert_eq!(before.len(), after.len());
    let changed = before.iter().zip(&after).filter(|(b, a)| b.verdict != a.verdict);
    changed.map(|(b, a)| format!("{} {} -> {}", b.what, b.verdict, a.verdict)).collect()
}

fn assert_breaks(broken: &[String], parts: &[&str]) {
    for part in parts {
        assert!(broken.iter().any(|b| b.contains(part)), "{part:?} is not among {broken:#?}");
    }
}

#[test]
fn nothing_fails_and_every_margin_has_the_sign_of_its_verdict() {
    for claim in verified() {
        assert_ne!(claim.verdict, Verdict::Fails, "{claim:?}");
        if let Some(margin) = claim.margin {
            assert_eq!(margin >= 0.0, claim.verdict == Verdict::Holds, "{claim:?}");
        }
        assert!(!claim.detail.is_empty() && !claim.place.is_empty());
    }
}

#[test]
fn every_known_misprint_is_found_and_nothing_right_is_called_one() {
    let misprints: Vec<(&str, &str)> = verified()
        .iter()
        .filter(|claim| claim.verdict == Verdict::Misprint)
        .map(|claim| (claim.what.as_str(), claim.place))
        .collect();
    let expected = [
        ("dx = (D + Q) grad H", "Section 2.4"),
        ("increments of p", "Section 4.2.1"),
        ("g6 >= 38097/12800", "Appendix B.2"),
        ("sigma12", "Appendix C"),
        ("the basis prod", "Section 3.3"),
        ("the weights of Lagrange", "Section 4.2.3"),
        ("sup over t of the straight-line error", "Lemma 7"),
        ("Lemmas 8 and 9 and Proposition 2", "Appendix A.2"),
        ("black box: Delta U", "Section 3.3"),
        ("the gradient is approximated", "Section 3.4"),
        ("the start is within 1/L", "Section 3.1"),
        ("an O(d^(1/3)) mixing time", "Section 3.2"),
        ("eta < c kappa^(-11/4) d^(-1/4) eps", "Section 4.2.2"),
        ("step size: kappa^(-11/4)", "Theorem 2"),
        ("step size: L_alpha^(-1)", "Theorem 2"),
        ("kappa^(-4) in the second", "Section 4.2.3"),
        ("the step size satisfies", "Section 4.2.3"),
        ("the mixing time has the log", "Theorem 2"),
        ("eta < c min", "Section 4.2.3"),
        ("W2 <= E", "Section 4.2.1"),
        ("E |x~ - x|^2 <= eps^2", "Section 4.2.3"),
        ("the distance at the start", "Section 4.2.2"),
        ("the nodes are k eta", "Section 3.3"),
        ("d(x - x~) has the brackets", "Appendix A.1"),
        ("J = integral", "Appendix A.1"),
        ("the bound along the path", "Section 4.2.1"),
        ("theta^ - theta~", "Section 4.2.1"),
        ("a bias of O(sqrt(eta^3 d))", "Section 4.2.1"),
        ("||d g^/ds||", "Section 4.2.3"),
        ("the chord less the curve", "Lemma 7"),
        ("E ||r^||^2", "Appendix A.3.1"),
        ("E ||r~ - r~_0||^2", "Lemma 8"),
        ("a <- (1 - eta", "Lemma 9"),
        ("E ||theta - theta*||^2", "Appendix A.4"),
        ("d/L^2 beside", "Appendix A.4"),
        ("the logarithms are", "Theorems 1 and 2"),
        ("the rate 1/(20 kappa^2 + 200)", "Appendix A.4"),
    ];
    assert_eq!(misprints.len(), expected.len(), "{misprints:#?}");
    for ((what, place), (start, expected_place)) in misprints.iter().zip(expected) {
        assert!(what.starts_with(start), "{what:?} and {start:?}");
        assert_eq!(*place, expected_place);
    }
}

#[test]
fn the_printed_lower_bound_of_g6_is_wrong_at_kappa_1_and_its_own_bracket_adds_up_to_another() {
    // By hand: g6(1) = 64/5 - 564/25 - 16 + 52 + 16 - 44 + 20 + 3 - 12 + 2 - 1 = 256/25 = 10.24.
    let at_one = rational(256, 25);
    assert_eq!(Printed::paper().g6.at(&rational(1, 1)), Some(at_one.clone()));
    let printed = rational(38_097, 12_800) + rational(1, 4) * rational(5_523, 128);
    assert!(printed > at_one, "the printed bound is 13.76");
    let terms = [2_955, 2 * 3_397, 2 * 1_399, 2 * 751, 2 * 381, 189, 47, 11, 1].iter().sum::<i64>();
    assert_eq!(rational(24_025 - terms, 512), rational(4_483, 256));
    let claim = find(verified_print(), "g6 >= 38097/12800");
    assert_eq!(claim.verdict, Verdict::Misprint);
    assert!((claim.margin.unwrap() - (at_one - printed).to_f64().unwrap()).abs() < 1e-8);
    assert_eq!(claim.at_kappa, Some(1.0));
    assert!(claim.detail.contains("4483/256"));
    // With the correct sum the claim holds.
    let mut corrected = Printed::paper();
    corrected.g6_bound[1] = rational(4_483, 256);
    let claims = verify_printed(&corrected);
    assert_eq!(find(&claims, "g6 >= 38097/12800").verdict, Verdict::Holds);
}

#[test]
fn the_known_extremes_are_found() {
    let claims = verified();
    // A fine grid, independent of the exact search: the largest eigenvalue is -0.402444 at 1.8731.
    let (largest, at) = (0..30_000)
        .map(|i| 1.0 + f64::from(i) * 1e-4)
        .map(|kappa| (derivative_eigenvalues(kappa, 1.0)[2], kappa))
        .fold((f64::NEG_INFINITY, 0.0), |best, next| if next.0 > best.0 { next } else { best });
    let lemma2 = find(claims, "eigenvalues of S M + M^T S are below");
    assert!((lemma2.margin.unwrap() - (-0.2 - largest)).abs() < 1e-8);
    assert!((lemma2.at_kappa.unwrap() - at).abs() < 2e-4);
    assert!((largest + 0.402_443_8).abs() < 1e-7);

    let (smallest, at) = (0..30_000)
        .map(|i| 1.0 + f64::from(i) * 1e-4)
        .map(|kappa| (g6(kappa), kappa))
        .fold((f64::INFINITY, 0.0), |best, next| if next.0 < best.0 { next } else { best });
    let positive = find(claims, "g6 > 0");
    assert!((positive.margin.unwrap() - smallest).abs() < 1e-7);
    assert!((positive.at_kappa.unwrap() - at).abs() < 2e-4);

    // For large κ the two small eigenvalues of S solve λ² − (2/κ) λ + 1/(2κ²) = 0.
    let smallest_of_s = 5.0 * (1.0 - 0.5f64.sqrt()) - 1.0;
    let lemma3 = find(claims, "eigenvalues of S are at least");
    assert!((lemma3.margin.unwrap() - smallest_of_s).abs() < 1e-8);
    assert_eq!(lemma3.at_kappa, Some(f64::INFINITY));

    let proposition = find(claims, "the squared S-norm");
    let at_one = best_rate(1.0).unwrap() / rate(1.0) - 1.0;
    assert!((proposition.margin.unwrap() - at_one).abs() < 1e-8);
    assert_eq!(proposition.at_kappa, Some(1.0));
}

#[test]
fn one_coefficient_of_g1_changes_the_verdicts_that_rest_on_it() {
    let broken = broken_by(|p| p.g1 = &p.g1 + &Polynomial::table(&[(6, 1, 1)]));
    assert_breaks(&broken, &["eigenvalues of S M + M^T S are -1 and", "expands to", "g6 = "]);
    assert!(broken.iter().all(|b| b.ends_with("holds -> fails")), "{broken:#?}");
    // A g1 that dips below 4.
    let broken = broken_by(|p| p.g1 = &p.g1 - &Polynomial::table(&[(1, 1, 1000)]));
    assert_breaks(&broken, &["g1 >= 4"]);
}

#[test]
fn one_entry_of_s_changes_the_verdicts_that_rest_on_it() {
    let broken = broken_by(|p| p.s[2][2] = &p.s[2][2] + &Polynomial::table(&[(1, 1, 1000)]));
    assert_breaks(
        &broken,
        &["eigenvalues of S M + M^T S are -1 and", "f is the characteristic", "trace of S^-1"],
    );
    // Far from the printed matrix there is no contraction.
    let broken = broken_by(|p| {
        p.s[0][1] = -&p.s[0][1];
        p.s[1][0] = -&p.s[1][0];
    });
    assert_breaks(&broken, &["the squared S-norm"]);
}

#[test]
fn each_printed_polynomial_and_constant_is_looked_at() {
    type Alteration = fn(&mut Printed);
    let cases: [(Alteration, &str); 22] = [
        (|p| p.g2 = &p.g2 + &Polynomial::x(7), "f is the characteristic"),
        (|p| p.g3 = &p.g3 + &Polynomial::x(7), "f is the characteristic"),
        (|p| p.g4 = &p.g4 + &Polynomial::x(7), "g4 = g2"),
        (|p| p.g5 = &p.g5 + &Polynomial::x(13), "g5 = g4^2"),
        (|p| p.expansion = &p.expansion + &Polynomial::x(4), "expands to"),
        (|p| p.g6 = &p.g6 + &Polynomial::x(4), "g6 = "),
        (|p| p.g6 = &p.g6 - &Polynomial::integer(4), "g6 > 0"),
        (|p| p.g6_recentred[7] += rational(1, 8), "g6 in powers"),
        (|p| p.f_at_upper = &p.f_at_upper + &Polynomial::x(19), "f(4/kappa^3 + 40/kappa^5) = "),
        (
            |p| p.f_at_upper_bound = &p.f_at_upper_bound + &Polynomial::x(9),
            "f(4/kappa^3 + 40/kappa^5) >= ",
        ),
        (|p| p.f_at_lower = &p.f_at_lower + &Polynomial::x(19), "f(4/(5 kappa^6)) = "),
        (|p| p.f_at_lower = -&p.f_at_lower, "f(4/(5 kappa^6)) < 0"),
        (|p| p.g4_bound = Polynomial::table(&[(3, 1, 1), (5, 24, 1)]), "g4 <= "),
        (|p| p.g5_bound = Polynomial::table(&[(6, 11, 1), (10, 124, 1)]), "g5 <= "),
        (|p| p.root_bound = Polynomial::table(&[(3, 3, 1), (5, 12, 1)]), "sqrt(g5) <= "),
        (|p| p.sum_bounds[0] = &p.sum_bounds[0] - &Polynomial::x(10), "g4 + 4/kappa^3"),
        (|p| p.sum_bounds[1] = &p.sum_bounds[1] - &Polynomial::x(6), "... <= 5/kappa^3"),
        (
            |p| p.smaller_root_bound = Polynomial::table(&[(6, 4, 1)]),
            "the smaller root of f' is at least 1/",
        ),
        (|p| p.decay = rational(41, 100), "eigenvalues of S M + M^T S are below"),
        (|p| p.smallest = Polynomial::table(&[(1, 3, 10)]), "eigenvalues of S are at least"),
        (|p| p.largest = Polynomial::table(&[(-2, 1, 4)]), "eigenvalues of S are at most"),
        (|p| p.rate_denominator = Polynomial::table(&[(-2, 1, 5)]), "the squared S-norm"),
    ];
    for (alter, part) in cases {
        assert_breaks(&broken_by(alter), &[part]);
    }
}

#[test]
fn signs_in_the_dynamics_are_told_apart() {
    let broken = broken_by(|p| p.diffusion_sign = -1);
    assert_eq!(broken.len(), 1);
    assert!(broken[0].contains("misprint -> holds"), "{broken:?}");
    let broken = broken_by(|p| p.increment_sign = 1);
    assert_eq!(broken.len(), 1);
    assert!(broken[0].contains("misprint -> holds"), "{broken:?}");
    let broken = broken_by(|p| p.drift[2][2] = -&p.drift[2][2]);
    assert_breaks(&broken, &["is stationary holds -> fails", "dx = (D + Q)"]);
}

#[test]
fn the_decided_sign_of_a_claim_that_is_barely_true_or_barely_false_is_right() {
    // The largest eigenvalue is -0.40244381...: a decay of 0.402443 holds, 0.402444 does not.
    let verdict = |decay: BigRational| {
        let mut printed = Printed::paper();
        printed.decay = decay;
        find(&verify_printed(&printed), "eigenvalues of S M + M^T S are below").verdict
    };
    assert_eq!(verdict(rational(402_443, 1_000_000)), Verdict::Holds);
    assert_eq!(verdict(rational(402_444, 1_000_000)), Verdict::Fails);
}

#[test]
fn eigenvalues_by_faer_agree_with_the_closed_forms_from_kappa_1_to_a_million() {
    for kappa in KAPPAS {
        for share in [0.0, 0.25, 0.5, 1.0] {
            let l = 1.0 / kappa + share * (1.0 - 1.0 / kappa);
            let by_library = symmetric_eigenvalues(&derivative(kappa, l)).unwrap();
            let mut closed = derivative_eigenvalues(kappa, l);
            closed.sort_by(f64::total_cmp);
            for (a, b) in by_library.iter().zip(closed) {
                assert!(
                    (a - b).abs() < 1e-14 * closed[0].abs(),
                    "kappa = {kappa}, l = {l}: {a} and {b}"
                );
            }
            assert!(closed[2] < -0.4, "kappa = {kappa}, l = {l}: {closed:?}");
        }
        let by_library = eigenvalues_of_s(kappa).unwrap();
        let roots = roots_of_cubic(kappa).unwrap();
        for (a, b) in by_library.iter().zip(roots) {
            assert!((a / b - 1.0).abs() < 1e-14, "kappa = {kappa}: {a} and {b}");
        }
        assert!(roots[0] > 1.0 / (5.0 * kappa) && roots[2] < kappa * kappa + 10.0);
        let inverse_sum: f64 = roots.iter().map(|root| 1.0 / root).sum();
        assert!(
            (inverse_sum / (4.0 * kappa) - 1.0).abs() < 1e-14,
            "the trace of the inverse is 4 kappa"
        );
    }
}

#[test]
fn the_stable_form_of_the_middle_eigenvalue_keeps_its_digits_where_the_printed_one_loses_them() {
    let kappa = 1e6;
    let root = g1(kappa).sqrt();
    let as_printed = -0.25 * kappa * ((2.0 - root) + 2.0 / kappa + root / kappa);
    // At l = 1, from √g1 = 2 + 5x² + 14x³ + ...: λ⁻ = −1 + (5/4) x + (9/4) x² + ...
    let expected = -1.0 + 1.25 / kappa + 2.25 / (kappa * kappa);
    assert!((derivative_eigenvalues(kappa, 1.0)[2] - expected).abs() < 1e-15);
    assert!((as_printed - expected).abs() > 1e-12, "{as_printed}");
}

#[test]
fn functions_in_double_precision_agree_with_the_exact_polynomials() {
    let printed = Printed::paper();
    for kappa in KAPPAS {
        let functions = [
            (g1(kappa), &printed.g1),
            (g2(kappa), &printed.g2),
            (g3(kappa), &printed.g3),
            (g4(kappa), &printed.g4),
            (g5(kappa), &printed.g5),
            (g6(kappa), &printed.g6),
        ];
        for (i, (double, exact)) in functions.into_iter().enumerate() {
            assert!((double / value(exact, kappa) - 1.0).abs() < 2e-15, "g{} at {kappa}", i + 1);
        }
        for (i, (row, exact)) in s(kappa).iter().zip(&printed.s).enumerate() {
            for (double, exact) in row.iter().zip(exact) {
                assert!(
                    (double / value(exact, kappa) - 1.0).abs() < 1e-15,
                    "row {i} of S at {kappa}"
                );
            }
        }
        assert!((2.0 * rate(kappa) * value(&printed.rate_denominator, kappa) - 1.0).abs() < 1e-15);
        let at = 3.0 / kappa.powi(4);
        let point = Polynomial::constant(BigRational::from_float(at).unwrap());
        let exact = printed.cubic().substitute(Unknown::Lambda, &point);
        let size = at.powi(3) + at.powi(2) * g2(kappa) + at * g3(kappa) / kappa.powi(9);
        assert!((cubic(kappa, at) - value(&exact, kappa)).abs() < 1e-14 * size, "f at {kappa}");
    }
}

/// S M + Mᵀ S by plain products.
fn derivative_by_products(kappa: f64, l: f64) -> Matrix3 {
    let (s, m) = (s(kappa), drift(l, kappa, 2.0 * kappa));
    std::array::from_fn(|i| {
        std::array::from_fn(|j| (0..3).map(|k| s[i][k] * m[k][j] + m[k][i] * s[k][j]).sum())
    })
}

proptest! {
    #[test]
    fn the_simplified_derivative_is_the_product(kappa in 1.0..50.0_f64, share in 0.0..1.0_f64) {
        let l = 1.0 / kappa + share * (1.0 - 1.0 / kappa);
        let (closed, products) = (derivative(kappa, l), derivative_by_products(kappa, l));
        for i in 0..3 {
            for j in 0..3 {
                prop_assert!((closed[i][j] - products[i][j]).abs() < 1e-14 * kappa.powi(3), "{i}{j}");
            }
        }
    }

    #[test]
    fn exact_signs_agree_with_doubles(kappa in 1.0..1e6_f64) {
        let printed = Printed::paper();
        for polynomial in [&printed.g5, &printed.g6, &printed.f_at_upper, &printed.f_at_lower] {
            let exact = polynomial.at(&exact_x(kappa)).unwrap();
            let sign = polynomial.in_x().unwrap().sign_at(&exact_x(kappa));
            prop_assert_eq!(sign > 0, exact.is_positive());
        }
    }

    #[test]
    fn the_rate_of_proposition_1_is_proved_by_s_at_every_kappa(kappa in 1.0..1e4_f64) {
        let best = best_rate(kappa).unwrap();
        prop_assert!(best > 15.0 * rate(kappa), "{} and {}", best, rate(kappa));
        // No S can prove more than the slowest mode of the drift itself, which for large κ is near
        // 2/κ².
        prop_assert!(best * kappa * kappa < 2.3, "{best}");
    }
}

#[test]
fn rows_at_given_kappas_hold_from_1_to_1e100() {
    let before = verified().len();
    let kappas: Vec<f64> =
        KAPPAS.into_iter().chain([1.0 + f64::EPSILON, 1.8731, 7.3e17, 1e100]).collect();
    let claims = verify_at(&kappas).unwrap();
    let rows = (claims.len() - before) / kappas.len();
    assert!(rows >= 8);
    for (kappa, claims) in kappas.iter().zip(claims[before..].chunks(rows)) {
        for claim in claims {
            assert_eq!(claim.verdict, Verdict::Holds, "{claim:?}");
            assert!(claim.margin.is_some_and(f64::is_finite), "{claim:?}");
            assert_eq!(claim.at_kappa, Some(*kappa));
        }
    }
}

#[test]
fn condition_numbers_out_of_range_are_refused_with_the_value() {
    for kappa in [0.999, 0.0, -2.0, f64::NAN, f64::INFINITY, 1e101] {
        let error = verify_at(&[2.0, kappa]).unwrap_err();
        assert!(matches!(error, Error::NotInRange { name: "kappa", .. }), "{error:?}");
        assert!(error.to_string().starts_with(&format!("kappa = {kappa}: need")), "{error}");
    }
}

#[test]
fn step_size_times_mixing_time_is_c_times_c_times_kappa_squared_as_meant_and_not_as_printed() {
    let higher = HigherSmoothness::new(4, 0.6).unwrap();
    for (kappa, dimension, smoothness, accuracy) in
        [(2.0, 10, 1.0, 0.1), (2.0, 10_000, 1.0, 0.1), (7.0, 10, 30.0, 0.1), (7.0, 10, 30.0, 1e-5)]
    {
        let problem = Problem::new(kappa, dimension, smoothness, accuracy).unwrap();
        let one = theorem1_step_size(0.3, &problem).unwrap()
            * theorem1_mixing_time(5.0, &problem).unwrap();
        assert!((one / (1.5 * kappa * kappa * problem.logarithm()) - 1.0).abs() < 1e-12);
        let two = |reading| {
            let step = theorem2_step_size(0.3, &problem, &higher, reading).unwrap();
            step * theorem2_mixing_time(5.0, &problem, &higher, reading).unwrap()
                / (1.5 * kappa * kappa)
        };
        assert!((two(Reading::Meant) - 1.0).abs() < 1e-12);
        assert!((two(Reading::Derived) / problem.logarithm() - 1.0).abs() < 1e-12);
    }
    // With a small L_alpha the first term is the smallest, and the sign of its exponent of ε
    // matters.
    let higher = HigherSmoothness::new(4, 1e-9).unwrap();
    let product = |accuracy: f64| {
        let problem = Problem::new(2.0, 100, 1.0, accuracy).unwrap();
        let step = theorem2_step_size(1.0, &problem, &higher, Reading::Printed).unwrap();
        step * theorem2_mixing_time(1.0, &problem, &higher, Reading::Printed).unwrap()
    };
    assert!(
        (product(1e-4) / product(1e-2) - 100.0).abs() < 1e-9,
        "the printed product grows like 1/eps"
    );
}

#[test]
fn step_sizes_do_not_depend_on_the_unit_of_length_except_where_misprinted() {
    // θ measured in a unit 10 times smaller: L is 100 times smaller, ε 10 times larger, L_α (α = 3)
    // 10^1.5 times smaller.
    let small = Problem::new(3.0, 50, 40.0, 0.001).unwrap();
    let large = Problem::new(3.0, 50, 0.4, 0.01).unwrap();
    let one = theorem1_step_size(1.0, &small).unwrap() / theorem1_step_size(1.0, &large).unwrap();
    assert!((one - 1.0).abs() < 1e-12);
    let ratio = |reading, bound: f64| {
        let (a, b) =
            (HigherSmoothness::new(3, bound), HigherSmoothness::new(3, bound / 10f64.powf(1.5)));
        let step = |problem, higher: &HigherSmoothness| {
            theorem2_step_size(1.0, problem, higher, reading).unwrap()
        };
        step(&small, &a.unwrap()) / step(&large, &b.unwrap())
    };
    for bound in [1e-6, 1e2, 1e6] {
        assert!((ratio(Reading::Derived, bound) - 1.0).abs() < 1e-12, "{bound}");
    }
    assert!(
        (ratio(Reading::Meant, 1e6) - 0.1).abs() < 1e-12,
        "the second term has a unit, length for alpha = 3"
    );
    assert!(
        (ratio(Reading::Printed, 1e-6) - 10.0).abs() < 1e-9,
        "the first term as printed has one too"
    );
}

#[test]
fn the_second_step_size_of_theorem_2_has_other_powers_than_proposition_2_gives() {
    let ratio = Rational64::new;
    for (alpha, kappa, smoothness) in
        [(3, ratio(-5, 1), ratio(1, 1)), (5, ratio(-4, 1), ratio(3, 4))]
    {
        let printed = theorem2_step(alpha, Reading::Meant)[1];
        let derived = theorem2_step(alpha, Reading::Derived)[1];
        // κ^8/L² (η L_α κ³ √(d/L))^(2(α − 1)), solved by hand for η where it is ε².
        assert_eq!((derived.kappa, derived.smoothness), (kappa, smoothness));
        assert_eq!((printed.kappa, printed.smoothness), (ratio(-4, 1), ratio(1, 2)));
        assert_eq!(derived.dimension, printed.dimension);
        assert_eq!(derived.accuracy, printed.accuracy);
        assert_eq!(derived.higher, printed.higher);
    }
    // The error as the proof bounds it: with the printed power it grows with κ for α = 3.
    let error = |kappa: f64, reading: Reading| {
        let step = kappa.powf(theorem2_step(3, reading)[1].kappa.to_f64().unwrap());
        kappa.powi(8) * (step * kappa.powi(3)).powi(4)
    };
    assert!((error(10.0, Reading::Derived) / error(100.0, Reading::Derived) - 1.0).abs() < 1e-9);
    assert!((error(100.0, Reading::Meant) / error(10.0, Reading::Meant) / 1e4 - 1.0).abs() < 1e-9);
}

#[test]
fn arguments_of_the_theorems_are_checked() {
    let good = Problem::new(2.0, 3, 1.0, 0.5).unwrap();
    for (problem, name) in [
        (Problem::new(0.5, 3, 1.0, 0.5), "kappa"),
        (Problem::new(2.0, 0, 1.0, 0.5), "dimension"),
        (Problem::new(2.0, 3, -1.0, 0.5), "smoothness"),
        (Problem::new(2.0, 3, 1.0, 1.0), "accuracy"),
        (Problem::new(2.0, 3, 1.0, f64::NAN), "accuracy"),
    ] {
        let error = problem.unwrap_err();
        assert!(error.to_string().starts_with(&format!("{name} = ")), "{error}");
    }
    assert!(HigherSmoothness::new(1, 1.0).is_err() && HigherSmoothness::new(2, 0.0).is_err());
    assert!(
        theorem1_step_size(0.0, &good).is_err()
            && theorem1_mixing_time(f64::INFINITY, &good).is_err()
    );
}

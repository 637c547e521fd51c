//! Steps of the paper's proofs that are misprinted or do not follow. `paper::proof_claims`, which
//! `ridgewalk verify` prints, must report each as a misprint whose correction holds; margins are
//! computed by hand. `docs/errata.md` lists the places. Last come the two integrations by parts at
//! the beginning of the bound in `docs/theory.md`.

use ridgewalk_lyapunov::paper::{Claim, Reading, Verdict, proof_claims};

use crate::paper::verified;

/// The step whose claim begins with `start`: a misprint as printed, and true as corrected.
fn misprint(start: &str) -> Claim {
    let found = |reading: Reading| -> Claim {
        let claims = proof_claims(reading).unwrap();
        let mut hits = claims.into_iter().filter(|claim| claim.what.starts_with(start));
        let hit = hits.next().unwrap_or_else(|| panic!("no claim starts with {start:?}"));
        assert!(hits.next().is_none(), "{start:?} is ambiguous");
        hit
    };
    let (printed, corrected) = (found(Reading::Printed), found(Reading::Derived));
    assert_eq!(printed.verdict, Verdict::Misprint, "{printed:?}");
    assert_eq!(corrected.verdict, Verdict::Holds, "{corrected:?}");
    assert!(corrected.margin.is_none_or(|margin| margin >= 0.0), "{corrected:?}");
    printed
}

/// The margin of a misprint.
fn margin(start: &str) -> f64 {
    misprint(start).margin.unwrap()
}

#[test]
fn every_step_is_among_the_rows_of_verify() {
    let steps = proof_claims(Reading::Printed).unwrap();
    assert_eq!(steps.len(), 15);
    assert!(steps.iter().all(|step| verified().contains(step)));
}

#[test]
fn nodes_that_move_on_with_the_number_of_the_step_miss_the_segment() {
    // s² through the nodes 5 + η/2 ± η/√8 is off by the product of the distances from them, at t =
    // 0 by (5 + η/2)² − η²/8; Lemma 6 has η²/2.
    let worst = 5.05_f64.powi(2) - 0.01 / 8.0;
    assert!((margin("the nodes are k eta") - (1.0 - worst / 0.005)).abs() < 1e-6);
}

#[test]
fn the_decomposition_of_appendix_a_1_has_gamma_before_the_auxiliary_variable_and_other_signs() {
    assert!(misprint("d(x - x~) has the brackets").detail.contains("gamma (r~ - r^)"));
}

#[test]
fn the_derivative_of_the_squared_norm_is_twice_the_printed_product() {
    misprint("J = integral");
}

#[test]
fn the_bound_of_section_4_2_1_is_below_zero_with_the_printed_minus() {
    // The lowest value is at the end, t = 0.2: there r̂ − r̃ = γ² t² (φ1 − φ2) and θ̃ = γ t² φ2,
    // with φ1 and φ2 at ξ t = 0.8.
    let phi1 = (1.0 - (-0.8_f64).exp()) / 0.8;
    let phi2 = (1.0 - phi1) / 0.8;
    let by_hand = (0.9 * 0.08 * phi2).powi(2) - (0.16 * (phi1 - phi2)).powi(2);
    assert!(
        by_hand < 0.0 && (margin("the bound along the path") - by_hand).abs() < 1e-12,
        "{by_hand}"
    );
}

#[test]
fn the_first_stage_is_behind_the_third_where_the_proof_has_it_ahead() {
    misprint("theta^ - theta~");
}

#[test]
fn a_bias_of_eta_to_the_three_halves_would_give_the_cube_root_of_the_dimension() {
    assert!((margin("a bias of O(sqrt(eta^3 d))") - (1.0 / 4.0 - 1.0 / 3.0)).abs() < 1e-15);
}

#[test]
fn the_interpolant_can_be_steeper_than_what_it_interpolates() {
    // |t − 1| through three Chebyshev nodes of [0, 2] is (2/√3)(t − 1)², with slope 4/√3 at the
    // ends.
    assert!((margin("||d g^/ds||") - (1.0 - 4.0 / 3f64.sqrt())).abs() < 1e-12);
}

#[test]
fn the_first_line_of_the_proof_of_lemma_7_has_the_opposite_sign() {
    misprint("the chord less the curve");
}

#[test]
fn the_second_moment_of_the_first_stage_needs_the_square_of_gamma() {
    // The mean of r̂ is 50 (1 − e^−0.2) and its variance 1 − e^−0.4; the printed bound is 3 + 1.2.
    let moment = (50.0 * (1.0 - (-0.2_f64).exp())).powi(2) + 1.0 - (-0.4_f64).exp();
    assert!((margin("E ||r^||^2") - (4.2 - moment)).abs() < 1e-9, "{moment}");
}

#[test]
fn the_distance_of_r_from_its_start_changes_with_gamma_and_xi() {
    misprint("E ||r~ - r~_0||^2");
}

#[test]
fn noise_that_is_added_in_size_and_not_in_squares_grows_without_bound_as_the_step_falls() {
    // c/(ρ √η) at η = 1/100 is ten times that at η = 1.
    assert!((margin("a <- (1 - eta/(10 kappa^2 + 100)) a") - (1.0 - 10.0)).abs() < 1e-12);
}

#[test]
fn the_second_moment_of_theta_is_d_over_m_and_that_of_its_gradient_at_most_d_times_l() {
    misprint("E ||theta - theta*||^2");
}

#[test]
fn logarithms_and_second_moments_are_told_apart_by_the_unit_of_length() {
    misprint("d/L^2 beside squares of lengths");
    misprint("the logarithms are");
}

#[test]
fn no_faster_decay_follows_than_that_of_the_line_before() {
    // (1 − e^−x)/x is just below 1, but 2 is claimed; it is smallest at κ = 1.
    let x: f64 = 0.1 / 220.0;
    assert!(
        (margin("the rate 1/(20 kappa^2 + 200)") - (1.0 - x / 2.0 + x * x / 6.0 - 2.0)).abs()
            < 1e-9
    );
}

#[test]
fn slips_of_constants_leave_no_decay_or_too_little_noise() {
    for kappa in [1.0_f64, 2.0, 10.0, 1e3] {
        let part = |factor: f64| 1.0 / (factor * (kappa * kappa + 10.0));
        // Errors of 1/(10κ² + 100) exceed the rate; errors below 1/(80κ² + 800) leave
        // 1/(40κ² + 400).
        assert!(part(20.0) - part(10.0) < 0.0 && part(20.0) - part(80.0) >= part(40.0));
        // A contraction of squares by a factor is one of norms by its root, which is closer to 1.
        let of_squares = 1.0 - 0.1 * part(10.0);
        assert!(of_squares.sqrt() > of_squares && of_squares.sqrt() <= 1.0 - 0.1 * part(20.0));
    }
    // Three equal terms, with a squared noise of 2ξη: (x + y + z)² = 3(x² + y² + z²) requires 6ξη
    // for the noise; 3ξη is too little.
    let noise = 2.0 * 4.0 * 0.25_f64;
    let (whole, others) = ((3.0 * noise.sqrt()).powi(2), 3.0 * (noise + noise));
    assert!(
        whole <= (others + 6.0 * 4.0 * 0.25) * (1.0 + 1e-15) && whole > others + 3.0 * 4.0 * 0.25
    );
}

#[test]
fn the_two_integrations_by_parts_hold_on_a_law_that_is_not_normal() {
    // U = m θ²/2 + log(1 + e^(3θ)), skewed, with m = 1/2 and L = m + 9/4. Moments are sums over a
    // grid, which converge fast for such a law.
    let m = 0.5;
    let smoothness = m + 2.25;
    let sigmoid = |x: f64| 1.0 / (1.0 + (-3.0 * x).exp());
    let potential = |x: f64| 0.5 * m * x * x + (3.0 * x).exp().ln_1p();
    let first = |x: f64| m * x + 3.0 * sigmoid(x);
    let second = |x: f64| m + 9.0 * sigmoid(x) * (1.0 - sigmoid(x));
    let mean = |f: &dyn Fn(f64) -> f64| {
        let points = || (-15_000..=15_000).map(|i| 1e-3 * f64::from(i));
        let mass: f64 = points().map(|x| (-potential(x)).exp()).sum();
        points().map(|x| f(x) * (-potential(x)).exp()).sum::<f64>() / mass
    };
    // The mode, by bisection: U' increases.
    let (mut low, mut high) = (-5.0, 5.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if first(middle) < 0.0 { low = middle } else { high = middle }
    }
    let square = mean(&|x| first(x).powi(2));
    assert!((square - mean(&second)).abs() < 1e-9 && square <= smoothness);
    assert!((mean(&|x| first(x) * (x - low)) - 1.0).abs() < 1e-9);
    assert!(m * mean(&|x| (x - low).powi(2)) <= 1.0);
}

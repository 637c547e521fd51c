//! Steps of the paper's proofs that are misprinted or do not follow, each in numbers small enough to be redone by hand.
//!
//! `ridgewalk verify` decides what is claimed; this is about how it is proved. `docs/errata.md` lists the places. Nothing
//! here uses the library: the measure is the dynamics itself, at L = 1 where no other L is named. Last come the two integrations
//! by parts from which the bound of `docs/theory.md` starts.

use std::f64::consts::PI;

const GAMMA: f64 = 2.0;
const XI: f64 = 4.0;

/// One coordinate of (θ, p, r).
type State = [f64; 3];

fn bilinear(s: &[[f64; 3]; 3], u: State, v: State) -> f64 {
    (0..3).map(|i| (0..3).map(|j| u[i] * s[i][j] * v[j]).sum::<f64>()).sum()
}

/// A step from θ = p = 0 and r = 1 without noise, where the gradient along θ + t p is 0: r̂, p̂ = p̃, θ̃ and r̃ after a time t.
fn without_noise(t: f64) -> (f64, f64, f64, f64) {
    let z = XI * t;
    let e = (-z).exp();
    let phi1 = (1.0 - e) / z;
    let phi2 = (1.0 - phi1) / z;
    let b = phi1 - phi2;
    (e, GAMMA * t * phi1, GAMMA * t * t * phi2, e - GAMMA * GAMMA * t * t * b)
}

#[test]
fn the_decomposition_of_appendix_a_1_has_gamma_before_the_auxiliary_variable_and_other_signs() {
    // Any numbers will do: it is an identity between drifts. ∇U(θ) = 0.3 θ, L = 0.5.
    let (smoothness, gradient) = (0.5, |theta: f64| 0.3 * theta);
    let (x, tilde): (State, State) = ([0.7, -0.4, 1.1], [0.2, 0.5, -0.6]);
    let (g_hat, p_hat, r_hat) = (0.9, 0.35, -1.3);
    let drift_of_x = [x[1], -gradient(x[0]) / smoothness + GAMMA * x[2], -GAMMA * x[1] - XI * x[2]];
    let drift_of_tilde = [p_hat, -g_hat / smoothness + GAMMA * r_hat, -GAMMA * p_hat - XI * tilde[2]];
    let difference: State = std::array::from_fn(|i| drift_of_x[i] - drift_of_tilde[i]);
    // (Q − D) of the differences, and the bracket with p̂, which is printed as it should be.
    let common = [
        x[1] - tilde[1] + tilde[1] - p_hat,
        -(gradient(x[0]) - gradient(tilde[0])) / smoothness + GAMMA * (x[2] - tilde[2]),
        -GAMMA * (x[1] - tilde[1]) - XI * (x[2] - tilde[2]) + GAMMA * (p_hat - tilde[1]),
    ];
    let with = |on_p: f64| -> f64 {
        let sum = [common[0], common[1] + on_p, common[2]];
        (0..3).map(|i| (sum[i] - difference[i]).abs()).fold(0.0, f64::max)
    };
    assert!(with((g_hat - gradient(tilde[0])) / smoothness + GAMMA * (tilde[2] - r_hat)) < 1e-14);
    assert!(with((gradient(tilde[0]) - g_hat) / smoothness + r_hat - tilde[2]) > 1.0, "as printed");
    // What the γ costs is regained: in the norm of S a bracket in the row of p alone has the factor S22, and not |S| = O(κ²).
    for kappa in [1.0_f64, 1.5, 2.0, 10.0, 1e3, 1e6] {
        let s22 = 1.0 + 1.5 / kappa + 0.25 / kappa.powi(3) + 0.25 / kappa.powi(4);
        assert!(s22 <= 3.0, "{kappa}: {s22}");
    }
}

#[test]
fn the_derivative_of_the_squared_norm_is_twice_the_printed_product() {
    let s = [[2.0, 0.5, 0.3], [0.5, 1.5, 0.4], [0.3, 0.4, 1.0]];
    let (u, v): (State, State) = ([0.7, -0.4, 1.1], [0.2, 0.5, -0.6]);
    let square = |t: f64| {
        let w: State = std::array::from_fn(|i| u[i] + t * v[i]);
        bilinear(&s, w, w)
    };
    let derivative = (square(1e-5) - square(-1e-5)) / 2e-5;
    let product = bilinear(&s, u, v);
    assert!((derivative - 2.0 * product).abs() < 1e-9);
    assert!((derivative - product).abs() > 0.1, "as printed");
}

#[test]
fn the_bound_of_section_4_2_1_is_below_zero_with_the_printed_minus() {
    // Both processes start at θ = p = 0, r = 1, U = l θ²/2. What stands in the printed bracket is |ĝ − ∇U(θ̃)|² − |r̂ − r̃|² + 0,
    // below 0 at every time for l <= 1 < γ; the rest of the bound is not above 0, and the squared distance that it bounds is.
    let l = 0.9;
    for i in 1..=200 {
        let (r_hat, _, theta, r) = without_noise(1e-3 * f64::from(i));
        let (of_gradient, of_r) = ((l * theta).powi(2), (r_hat - r).powi(2));
        assert!(of_gradient - of_r < 0.0, "step {i}: {of_gradient} and {of_r}");
        assert!(of_gradient + of_r > 0.0);
    }
}

#[test]
fn the_first_stage_is_behind_the_third_where_the_proof_has_it_ahead() {
    // θ̂ − θ̃ = −∫∫ (−ĝ/L + γ r̂): here ĝ = 0, r̂ > 0 and θ̂ = 0, so that it is below 0 and the double integral is above.
    let (_, p_hat, theta, _) = without_noise(0.1);
    assert!(p_hat > 0.0 && 0.0 - theta < 0.0);
    let steps = 1000;
    let integral: f64 = (0..steps)
        .map(|i| (f64::from(i) + 0.5) * 0.1 / f64::from(steps))
        .map(|t| without_noise(t).1 * 0.1 / f64::from(steps))
        .sum();
    assert!((theta - integral).abs() < 1e-6 * theta, "the double integral of γ r̂ is the integral of p̂");
}

#[test]
fn a_bias_of_eta_to_the_three_halves_would_give_the_cube_root_of_the_dimension() {
    // η^a √d <= ε for η = (ε/√d)^(1/a): 1/η is d^(1/2a).
    let power_of_d = |a: f64| 1.0 / (2.0 * a);
    assert_eq!(power_of_d(2.0), 0.25);
    assert_eq!(power_of_d(1.5), 1.0 / 3.0);
}

/// The Lagrange interpolant of `f` at `nodes`, at t.
fn interpolant(nodes: &[f64], f: impl Fn(f64) -> f64, t: f64) -> f64 {
    let basis = |i: usize| -> f64 {
        (0..nodes.len()).filter(|&j| j != i).map(|j| (t - nodes[j]) / (nodes[i] - nodes[j])).product()
    };
    (0..nodes.len()).map(|i| f(nodes[i]) * basis(i)).sum()
}

/// The paper's nodes: k η + (η/2)(1 + cos((2i − 1)π/2n)).
fn chebyshev(n: u32, eta: f64, k: u32) -> Vec<f64> {
    let node = |i: u32| {
        f64::from(k) * eta + 0.5 * eta * (1.0 + (f64::from(2 * i - 1) * PI / f64::from(2 * n)).cos())
    };
    (1..=n).map(node).collect()
}

#[test]
fn nodes_that_move_on_with_the_number_of_the_step_miss_the_segment() {
    // The gradient along θ + s p for s in [0, η], here s², by two nodes: with k = 0 within Lemma 6, with k = 50 far off.
    let eta = 0.1;
    let worst = |k: u32| {
        let nodes = chebyshev(2, eta, k);
        let error = |i: u32| {
            let t = eta * f64::from(i) / 100.0;
            (interpolant(&nodes, |s| s * s, t) - t * t).abs()
        };
        (0..=100).map(error).fold(0.0, f64::max)
    };
    let lemma6 = eta * eta / 4.0 * 2.0;
    assert!(worst(0) <= lemma6);
    assert!(worst(50) > 1000.0 * lemma6, "{}", worst(50));
}

#[test]
fn the_interpolant_can_be_steeper_than_what_it_interpolates() {
    // |t − 1| on [0, 2] has slopes of size 1. Through three Chebyshev nodes it is (2/√3)(t − 1)², with the slope 4/√3 at the end.
    let slope = |n: u32| {
        let nodes = chebyshev(n, 2.0, 0);
        let at = |t: f64| interpolant(&nodes, |s| (s - 1.0).abs(), t);
        (at(2.0) - at(2.0 - 1e-6)) / 1e-6
    };
    assert!((slope(3) - 4.0 / 3f64.sqrt()).abs() < 1e-5, "{}", slope(3));
    // One node and two have no such slope: the proof's words, a difference quotient of two points, describe them.
    assert!(slope(1).abs() <= 1.0 && slope(2).abs() <= 1.0);
}

#[test]
fn the_first_line_of_the_proof_of_lemma_7_has_the_opposite_sign() {
    // x = t² on [0, ℓ]: the chord is above it. The two integrals are those of 2 τ ℓ over [0, λ] and 2 (1 − τ) ℓ over [0, 1 − λ].
    let (length, lambda) = (1.5_f64, 0.3);
    let chord_minus_curve = lambda * length.powi(2) - (lambda * length).powi(2);
    let (near, far) = (length * lambda.powi(2), length * (1.0 - lambda.powi(2)));
    let printed = (1.0 - lambda) * length * near - lambda * length * far;
    assert!((printed + chord_minus_curve).abs() < 1e-14 && chord_minus_curve > 0.1);
}

#[test]
fn the_second_moment_of_the_first_stage_needs_the_square_of_gamma() {
    // r = 0, p = 100, d = 1, L = 1, γ = κ = 10, ξ = 2κ, η = 0.01: the mean of r̂ alone is above the printed bound.
    let (gamma, xi, eta, p) = (10.0_f64, 20.0_f64, 0.01_f64, 100.0_f64);
    let mean = gamma * p * (1.0 - (-xi * eta).exp()) / xi;
    let second_moment = mean * mean + 1.0 - (-2.0 * xi * eta).exp();
    assert!(second_moment > 3.0 * eta * eta * p * p + 6.0 * xi * eta, "as printed");
    assert!(second_moment < 3.0 * (gamma * eta * p).powi(2) + 6.0 * xi * eta);
}

#[test]
fn the_distance_of_r_from_its_start_changes_with_gamma_and_xi() {
    // d|r̃ − r̃_0|²/dt = 2 ⟨r̃ − r̃_0, −γ p̂ − ξ r̃⟩, without noise.
    let t = 0.1;
    let distance = |t: f64| (without_noise(t).3 - 1.0).powi(2);
    let derivative = (distance(t + 1e-5) - distance(t - 1e-5)) / 2e-5;
    let (_, p_hat, _, r) = without_noise(t);
    assert!((derivative - 2.0 * (r - 1.0) * (-GAMMA * p_hat - XI * r)).abs() < 1e-7);
    assert!((derivative - (r - 1.0) * (-p_hat - r)).abs() > 0.5, "as printed, without 2γ and 2ξ");
}

#[test]
fn noise_that_is_added_in_size_and_not_in_squares_grows_without_bound_as_the_step_falls() {
    // The last recursion of the proof of Lemma 9, a <- (1 − ρη) a + c √η, tends to c/(ρ √η). With squares, which is what noise
    // with mean 0 allows, a² <- (1 − ρη)² a² + c² η, it tends to c²/(2ρ − ρ²η), whatever η.
    let (rho, c) = (1.0 / 140.0, 1.0);
    let limit = |eta: f64, squares: bool| {
        let mut a = 0.0_f64;
        // Until 20 units of the time 1/ρ are over.
        let mut time = 0.0;
        while time * rho < 20.0 {
            time += eta;
            let kept = (1.0 - rho * eta) * a;
            a = if squares { (kept * kept + c * c * eta).sqrt() } else { kept + c * eta.sqrt() };
        }
        a
    };
    assert!((limit(0.01, false) / limit(1.0, false) - 10.0).abs() < 1e-3);
    assert!((limit(0.01, true) / limit(1.0, true) - 1.0).abs() < 0.01);
    assert!((limit(0.01, true).powi(2) * 2.0 * rho - 1.0).abs() < 0.01);
}

#[test]
fn the_second_moment_of_theta_is_d_over_m_and_that_of_its_gradient_at_most_d_times_l() {
    // U = m|θ|²/2: Appendix A.4 bounds E|θ − θ*|² by a multiple of d/L, which fails for large κ; E|∇U|²/L² does not.
    let (dimension, smoothness) = (5.0, 3.0);
    for kappa in [1.0_f64, 10.0, 1e4] {
        let m = smoothness / kappa;
        let of_theta = dimension / m;
        let of_gradient = m * m * of_theta;
        assert!((of_theta * smoothness / dimension / kappa - 1.0).abs() < 1e-12);
        assert!(of_gradient <= dimension * smoothness * (1.0 + 1e-12));
    }
}

#[test]
fn logarithms_and_second_moments_are_told_apart_by_the_unit_of_length() {
    // The same problem in a unit ten times smaller: L is 100 times smaller, ε ten times larger, squared lengths 100 times larger.
    let (d, kappa) = (50.0_f64, 3.0);
    let (small, large) = ((40.0_f64, 0.001_f64), (0.4_f64, 0.01_f64));
    let differs =
        |f: fn(f64, f64, f64, f64) -> f64| f(d, kappa, large.0, large.1) - f(d, kappa, small.0, small.1);
    let theorem = |d: f64, kappa: f64, _: f64, eps: f64| (d * kappa / eps).ln();
    let proof = |d: f64, _: f64, smoothness: f64, eps: f64| (3.0 * d / (smoothness * eps)).ln();
    let right = |d: f64, kappa: f64, smoothness: f64, eps: f64| (d * kappa / (smoothness * eps * eps)).ln();
    assert!((differs(theorem) + 10f64.ln()).abs() < 1e-12 && (differs(proof) - 10f64.ln()).abs() < 1e-12);
    assert!(differs(right).abs() < 1e-12);
    // d/L is a length squared, d/L² (Appendix A.4) is not.
    let ratio = |power: i32| (small.0 / large.0).powi(power);
    assert!((ratio(1) - 100.0).abs() < 1e-9 && (ratio(2) - 1e4).abs() < 1e-6);
}

#[test]
fn no_faster_decay_follows_than_that_of_the_line_before() {
    // Appendix A.4 has the rate 1/(20κ² + 200) and ends with 1 − η/(10κ² + 100); the exponential is above both that and
    // 1 − η/(20κ² + 200), and below 1 − η/(40κ² + 400).
    for kappa in [1.0_f64, 2.0, 10.0] {
        let x = 0.1 * kappa.powf(-2.75) / (20.0 * kappa * kappa + 200.0);
        let taken_off = -(-x).exp_m1();
        assert!(taken_off < 2.0 * x && taken_off < x && taken_off > 0.5 * x, "{kappa}");
    }
}

#[test]
fn the_two_integrations_by_parts_hold_on_a_law_that_is_not_normal() {
    // U = m θ²/2 + log(1 + e^(3θ)), skewed, with m = 1/2 and L = m + 9/4; moments by sums, which converge fast for such a law.
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

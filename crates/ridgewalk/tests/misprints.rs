//! Misprints of the paper that concern one step, each shown by what goes wrong if it is followed.
//!
//! The measure is the dynamics itself: for small η the mean of one step must move (θ, p, r) by η
//! times the drift (p, −∇U/L + γr, −γp − ξr). `docs/errata.md` lists them all.

use ridgewalk::coefficients::{Coefficients, Parameters};
use ridgewalk::quadrature::LineRule;

const GAMMA: f64 = 1.3;
const XI: f64 = 2.1;
const ETA: f64 = 1e-4;
const SMOOTHNESS: f64 = 3.0;

/// ∇U for U = L θ²/2 − 0.4 cos θ.
fn gradient(theta: f64) -> f64 {
    SMOOTHNESS * theta + 0.4 * theta.sin()
}

/// The integral of the gradient along `point(t)` for t in [0, η], by 4 Chebyshev nodes.
fn line_integral(point: impl Fn(f64) -> f64) -> f64 {
    let mut integral = [0.0];
    let rule = LineRule::new(4, ETA).unwrap();
    rule.integrate(|t, value| value[0] = gradient(point(t)), &mut Vec::new(), &mut integral);
    integral[0]
}

/// (mean of p after the step − p)/η, for a given ΔU.
fn drift_of_p(delta_u: f64, p: f64, r: f64) -> f64 {
    let c = Coefficients::new(Parameters::new(GAMMA, XI, ETA).unwrap(), SMOOTHNESS).unwrap();
    (-delta_u + (c.mu22() - 1.0) * p + c.mu23() * r) / ETA
}

#[test]
fn delta_u_of_a_black_box_needs_the_division_by_the_smoothness() {
    let (theta, p, r) = (0.7, -0.2, 0.5);
    let drift = -gradient(theta) / SMOOTHNESS + GAMMA * r;
    let integral = line_integral(|t| theta + t * p);
    assert!((drift_of_p(integral / SMOOTHNESS, p, r) - drift).abs() < 1e-3);
    assert!(
        (drift_of_p(integral, p, r) - drift).abs() > 1.0,
        "as printed, without 1/L, the force is L times too large"
    );
}

#[test]
fn the_gradient_is_taken_along_theta_plus_t_p_not_t_p_over_eta() {
    // "Derivation of the discretization" prints θ + ((s − kη)/η) p, which runs through a whole p in
    // one step.
    let (theta, p, r) = (0.7, 5.0, 0.5);
    let drift = -gradient(theta) / SMOOTHNESS + GAMMA * r;
    assert!((drift_of_p(line_integral(|t| theta + t * p) / SMOOTHNESS, p, r) - drift).abs() < 1e-2);
    assert!(
        (drift_of_p(line_integral(|t| theta + t / ETA * p) / SMOOTHNESS, p, r) - drift).abs() > 1.0
    );
}

#[test]
fn the_auxiliary_variable_pushes_the_momentum_forward() {
    // The proofs print increments −g/L − γr of p; the dynamics and the algorithm have −g/L + γr.
    let (theta, p, r) = (0.0, 0.0, 0.5);
    let drift = drift_of_p(line_integral(|t| theta + t * p) / SMOOTHNESS, p, r);
    assert!((drift - GAMMA * r).abs() < 1e-3);
    assert!((drift + GAMMA * r).abs() > 1.0);
}

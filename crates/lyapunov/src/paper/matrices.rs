//! The matrices and functions of the paper's continuous-time proof, in double precision.
//!
//! Notation: γ = κ and ξ = 2κ; l is an eigenvalue of the Hessian divided by L, between 1/κ and 1.
//! Arguments are not checked. Formulas are arranged so that nothing cancels for κ from 1 to 1e6 and
//! beyond. [`super::Printed`] has the same objects as exact polynomials.

/// A 3x3 matrix, row by row, in the order θ, p, r.
pub type Matrix3 = [[f64; 3]; 3];

/// The drift M(l, γ, ξ) of the difference of two paths with the same noise: d(δθ, δp, δr) = M (δθ,
/// δp, δr) dt.
#[must_use]
pub fn drift(l: f64, gamma: f64, xi: f64) -> Matrix3 {
    [[0.0, 1.0, 0.0], [-l, 0.0, gamma], [0.0, -gamma, -xi]]
}

/// The paper's S(κ), the quadratic form in which two paths approach each other (equation for the
/// Lyapunov function in Section 4.1).
#[must_use]
pub fn s(kappa: f64) -> Matrix3 {
    let x = 1.0 / kappa;
    let s11 = 0.25 * (kappa * kappa + x * (3.0 + x * (5.0 + x * x * (1.0 + x))));
    let s12 = 0.5 * kappa;
    let s13 = 0.25 * (kappa - x * x * (1.0 + x));
    let s33 = 0.25 + 0.5 * x;
    [[s11, s12, s13], [s12, s22(x), s23(x)], [s13, s23(x), s33]]
}

fn s22(x: f64) -> f64 {
    1.0 + 0.25 * x * (6.0 + x * x * (1.0 + x))
}

fn s23(x: f64) -> f64 {
    0.5 * (1.0 + x)
}

/// S M + Mᵀ S at γ = κ, ξ = 2κ, simplified: −1 − (l − 1/κ) E, where E has κ in its corner, S22 and
/// S23 beside it, and zeros elsewhere. At l = 1/κ it is minus the identity.
#[must_use]
pub fn derivative(kappa: f64, l: f64) -> Matrix3 {
    let x = 1.0 / kappa;
    let p = (x - l) * s22(x);
    let r = (x - l) * s23(x);
    [[-l * kappa, p, r], [p, -1.0, 0.0], [r, 0.0, -1.0]]
}

/// The eigenvalues λ0 = −1, λ⁺ and λ⁻ of S M + Mᵀ S.
///
/// The paper prints λ± = −(2(l + 1/κ) ± (l − 1/κ) √g1)/(4/κ). For large κ, λ⁻ is a difference of
/// nearly equal numbers, so it is computed from the product λ⁺λ⁻ = κ l − (l κ − 1)² (g1 − 4)/16
/// instead.
#[must_use]
pub fn derivative_eigenvalues(kappa: f64, l: f64) -> [f64; 3] {
    let excess = g1_above_four(1.0 / kappa);
    let apart = l * kappa - 1.0;
    let plus = -0.25 * (2.0 * (l * kappa + 1.0) + apart * (4.0 + excess).sqrt());
    let product = l * kappa - apart * apart * excess / 16.0;
    [-1.0, plus, product / plus]
}

/// g1, under the root in the eigenvalues of S M + Mᵀ S.
#[must_use]
pub fn g1(kappa: f64) -> f64 {
    4.0 + g1_above_four(1.0 / kappa)
}

fn g1_above_four(x: f64) -> f64 {
    x * x * horner(x, &[20.0, 56.0, 40.0, 8.0, 20.0, 12.0, 1.0, 2.0, 1.0])
}

/// g2, the sum of the roots of the cubic f.
#[must_use]
pub fn g2(kappa: f64) -> f64 {
    let x = 1.0 / kappa;
    x.powi(3) * horner(x, &[1.0, 0.0, 5.0, 11.0, 5.0, 1.0, 2.0, 1.0])
}

/// g3, in the last two coefficients of the cubic f.
#[must_use]
pub fn g3(kappa: f64) -> f64 {
    horner(1.0 / kappa, &[8.0, 0.0, 24.0, 60.0, 41.0, 10.0, 21.0, 12.0, 1.0, 2.0, 1.0])
}

/// g4 = g2, in the roots (g4 ± √g5)/3 of f′.
#[must_use]
pub fn g4(kappa: f64) -> f64 {
    g2(kappa)
}

/// g5 = g4² − 3 g3/κ⁹, under the root in the roots of f′.
#[must_use]
pub fn g5(kappa: f64) -> f64 {
    let x = 1.0 / kappa;
    let tail = [1.0, 0.0, 10.0, -2.0, 35.0, 40.0, -5.0, -1.0, 37.0, 1.0, 7.0, 11.0, 0.0, 1.0, 1.0];
    x.powi(6) * horner(x, &tail)
}

/// g6(1/κ) = ((2κ + 6/5)² − (κ − 1)² g1)/κ; it is positive exactly if λ⁻ < −1/5 for all l.
#[must_use]
pub fn g6(kappa: f64) -> f64 {
    let c = [12.8, -22.56, -16.0, 52.0, 16.0, -44.0, 20.0, 3.0, -12.0, 2.0, 0.0, -1.0];
    horner(1.0 / kappa, &c)
}

/// f, the characteristic polynomial of (4/κ⁵) S.
#[must_use]
pub fn cubic(kappa: f64, x: f64) -> f64 {
    let by = 1.0 / kappa;
    let low = by.powi(9) * g3(kappa);
    ((x - g2(kappa)) * x + low) * x - by.powi(6) * low
}

/// The rate ρ of Proposition 1: the S-norm of the difference of two paths falls at least like
/// exp(−ρ t), with ρ = 1/(2(5κ² + 50)). (The proposition is about the squared norm, with twice this
/// rate.)
#[must_use]
pub fn rate(kappa: f64) -> f64 {
    0.5 / (5.0 * kappa * kappa + 50.0)
}

/// The polynomial with the given coefficients, constant first.
fn horner(x: f64, coefficients: &[f64]) -> f64 {
    coefficients.iter().rev().fold(0.0, |sum, c| sum.mul_add(x, *c))
}

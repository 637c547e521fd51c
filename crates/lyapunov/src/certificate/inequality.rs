//! The matrix inequalities of contraction for the diffusion and for the algorithms, in a common
//! form.
//!
//! Two copies with the same noise differ by δ, and one step takes δ to δ + η (G δ + B w). For the
//! paper's algorithm G is taken at the middle curvature h = (1 + 1/κ)/2, and w, with |w|² <= q(δ),
//! accounts for the deviation of the true curvatures, which lie anywhere in [1/κ, 1] along the
//! segment. For the diffusion (η = 0) and for the symmetric splitting the step is affine in the
//! curvature, so G at the two ends of its range is enough. In the S-norm the step contracts by r,
//! with r² = 1 + η λ, if for every G
//!
//! ```text
//! λ S − (S G + Gᵀ S + η Gᵀ S G) >= 0,    or, with w,
//! λ diag(S, 0) − ([G B]ᵀ S [I 0] + its transpose + η [G B]ᵀ S [G B]) − τ diag(Q, −1) >= 0
//! ```
//!
//! (for the diffusion λ = −2ρ). Dividing by η keeps full precision for small steps.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters, phi1, phi2, phi3};

use super::Witness;
use super::barrier::{Cone, Objective, UNKNOWNS, Unknowns, centre};
use super::setting::{Process, Setting};
use crate::error::Error;
use crate::matrix::{
    Matrix, cholesky, combine, congruence, from_fn, identity, product, symmetric_eigenvalues,
    transpose,
};

/// An inequality of either kind.
#[derive(Debug, Clone)]
pub(crate) struct Inequality {
    /// η; 0 for the diffusion.
    eta: f64,
    /// The drifts G.
    drifts: Vec<Matrix<3>>,
    /// B and Q, if there is a w.
    uncertainty: Option<([f64; 3], Matrix<3>)>,
}

/// S and τ with the λ they were found for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Solution {
    pub(crate) unknowns: Unknowns,
    pub(crate) lambda: f64,
}

impl Inequality {
    /// The inequality of a setting.
    pub(crate) fn new(setting: &Setting) -> Result<Self, Error> {
        let (gamma, xi) = (setting.gamma(), setting.xi());
        let parameters = setting.parameters();
        let smallest = 1.0 / setting.kappa();
        let drift = |l: f64| [[0.0, 1.0, 0.0], [-l, 0.0, gamma], [0.0, -gamma, -xi]];
        Ok(match setting.process() {
            Process::Diffusion => {
                Self { eta: 0.0, drifts: vec![drift(smallest), drift(1.0)], uncertainty: None }
            }
            Process::Symmetric { eta } => {
                let ends = [smallest, 1.0].map(|l| symmetric_drift(parameters, l));
                Self { eta, drifts: ends.into_iter().collect::<Result<_, _>>()?, uncertainty: None }
            }
            Process::ThirdOrder { eta, nodes } => {
                let middle = 0.5 * (1.0 + smallest);
                let half_range = 0.5 * (1.0 - smallest);
                let (g, b) = third_order_drift(parameters, middle);
                let (numerator, denominator) = second_moment(nodes);
                let second = eta * eta * numerator / denominator;
                let q = [[1.0, 0.5 * eta, 0.0], [0.5 * eta, second, 0.0], [0.0; 3]];
                let q = q.map(|row| row.map(|entry| half_range * half_range * entry));
                // With a single curvature there is no w.
                let uncertainty = (half_range > 0.0).then_some((b, q));
                Self { eta, drifts: vec![g], uncertainty }
            }
        })
    }

    /// The factor r of one step for a λ; has no meaning for the diffusion.
    pub(crate) fn factor(&self, lambda: f64) -> f64 {
        (1.0 + self.eta * lambda).max(0.0).sqrt()
    }

    /// λ for a factor r.
    pub(crate) fn lambda(&self, factor: f64) -> f64 {
        (factor - 1.0) * (factor + 1.0) / self.eta
    }

    /// The number of unknowns in use.
    fn unknowns(&self) -> usize {
        if self.uncertainty.is_some() { UNKNOWNS } else { UNKNOWNS - 1 }
    }

    /// The left-hand side for one drift, as a function of S, τ and λ.
    fn left_hand_side(&self, drift: &Matrix<3>, s: &Matrix<3>, tau: f64, lambda: f64) -> Matrix<4> {
        let (b, q) = self.uncertainty.unwrap_or(([0.0; 3], [[0.0; 3]; 3]));
        let wide: Matrix<3, 4> = from_fn(|i, j| if j < 3 { drift[i][j] } else { b[i] });
        let s_wide = product(s, &wide);
        let cross: Matrix<4> = from_fn(|i, j| if i < 3 { s_wide[i][j] } else { 0.0 });
        let square = congruence(s, &wide);
        from_fn(|i, j| {
            let on_s = if i < 3 && j < 3 { lambda * s[i][j] - tau * q[i][j] } else { 0.0 };
            let on_w = if i == 3 && j == 3 { tau } else { 0.0 };
            on_s + on_w - cross[i][j] - cross[j][i] - self.eta * square[i][j]
        })
    }

    /// The left-hand sides at a given λ as constraints on the unknowns.
    pub(crate) fn cones(&self, lambda: f64) -> Vec<Cone> {
        let padding = if self.uncertainty.is_some() { 0.0 } else { 1.0 };
        let constant = from_fn(|i, j| if i == 3 && j == 3 { padding } else { 0.0 });
        let cone = |drift: &Matrix<3>| Cone {
            constant,
            coefficients: std::array::from_fn(|k| {
                let (s, tau) = unpack(&unit(k));
                let mut lhs = self.left_hand_side(drift, &s, tau, lambda);
                if self.uncertainty.is_none() {
                    lhs = from_fn(|i, j| if i < 3 && j < 3 { lhs[i][j] } else { 0.0 });
                }
                lhs
            }),
        };
        self.drifts.iter().map(cone).collect()
    }

    /// The smallest λ for which S and τ satisfy the inequality: the largest eigenvalue of the
    /// pencil with S, after the row of w is eliminated.
    pub(crate) fn smallest_lambda(&self, v: &Unknowns) -> Option<f64> {
        let (s, tau) = unpack(v);
        let l = cholesky(&s)?;
        let mut largest = f64::NEG_INFINITY;
        for drift in &self.drifts {
            let lhs = self.left_hand_side(drift, &s, tau, 0.0);
            let corner = if self.uncertainty.is_some() { lhs[3][3] } else { 1.0 };
            if !(corner > 0.0) {
                return None;
            }
            let k: Matrix<3> = from_fn(|i, j| lhs[i][3] * lhs[j][3] / corner - lhs[i][j]);
            let half = solve_lower(&l, &k);
            let reduced = solve_lower(&l, &transpose(&half));
            let symmetric = combine(0.5, &reduced, 0.5, &transpose(&reduced));
            largest = largest.max(symmetric_eigenvalues(&symmetric)[2]);
        }
        largest.is_finite().then_some(largest)
    }

    /// The smallest eigenvalue of all left-hand sides, with S scaled to trace 1: the margin by
    /// which the inequality holds.
    pub(crate) fn margin(&self, v: &Unknowns, lambda: f64) -> f64 {
        let (s, tau) = unpack(v);
        let trace = s[0][0] + s[1][1] + s[2][2];
        let smallest = |drift| {
            let lhs = self.left_hand_side(drift, &s, tau, lambda);
            if self.uncertainty.is_some() {
                symmetric_eigenvalues(&lhs)[0]
            } else {
                symmetric_eigenvalues(&from_fn::<3, 3>(|i, j| lhs[i][j]))[0]
            }
        };
        self.drifts.iter().map(smallest).fold(f64::INFINITY, f64::min) / trace
    }

    /// The best λ over S and τ, by the method of centres: alternately, λ moves towards the value
    /// that the current S achieves, and S to the centre of the set that is feasible at the new λ.
    /// `precision` is relative to |λ|.
    pub(crate) fn best(&self, precision: f64) -> Option<Solution> {
        const ROUNDS: usize = 80;
        let mut v = [0.3, 0.0, 0.0, 0.3, 0.0, 0.3, 0.0];
        if let Some((b, _)) = &self.uncertainty {
            // τ must exceed η Bᵀ S B; start well above it.
            v[6] = 1.0 + 2.0 * self.eta * congruence(&unpack(&v).0, &b.map(|x| [x]))[0][0];
        }
        let mut achieved = self.smallest_lambda(&v)?;
        let mut lambda = achieved + 1.0 + achieved.abs();
        let mut norm = vec![positive_s(&[[0.0; 3]; 3]), bounded_trace()];
        for _ in 0..ROUNDS {
            lambda = achieved + 0.2 * (lambda - achieved);
            let mut cones = self.cones(lambda);
            cones.append(&mut norm);
            v = centre(&cones, None, v, self.unknowns());
            norm = cones.split_off(cones.len() - 2);
            let now = self.smallest_lambda(&v)?;
            if !(now < lambda) {
                break;
            }
            achieved = now;
            if lambda - achieved < precision * achieved.abs() {
                break;
            }
        }
        Some(Solution { unknowns: v, lambda: achieved })
    }

    /// The S and τ that minimise Σ |S_ij| e_i e_j among those that satisfy the inequality at
    /// `lambda` and have (S⁻¹)₁₁ <= 1. `start` must satisfy the inequality strictly.
    pub(crate) fn least_error(
        &self, lambda: f64, start: &Unknowns, errors: &[f64; 3],
    ) -> Option<Unknowns> {
        let (s, _) = unpack(start);
        let first = crate::matrix::inverse(&s)?[0][0];
        let mut v = start.map(|x| x * 2.0 * first);
        let [a, b, c] = *errors;
        let weights = [a * a, 2.0 * a * b, 2.0 * a * c, b * b, 2.0 * b * c, c * c, 0.0];
        let size: f64 = weights.iter().zip(&v).map(|(w, x)| w * x.abs()).sum();
        let objective = Objective { weights: weights.map(|w| w / size), rounding: 1e-6 };
        let mut cones = self.cones(lambda);
        cones.push(positive_s(&[[-1.0, 0.0, 0.0], [0.0; 3], [0.0; 3]]));
        // The barrier parameter is about 7, so t = 1e4 brings the objective within a thousandth of
        // its minimum.
        for t in [1.0, 10.0, 100.0, 1e3, 1e4] {
            v = centre(&cones, Some((t, &objective)), v, self.unknowns());
        }
        Some(v)
    }
}

/// S and τ from the unknowns.
pub(crate) fn unpack(v: &Unknowns) -> (Matrix<3>, f64) {
    let [s11, s12, s13, s22, s23, s33, tau] = *v;
    ([[s11, s12, s13], [s12, s22, s23], [s13, s23, s33]], tau)
}

fn unit(k: usize) -> Unknowns {
    std::array::from_fn(|i| f64::from(u8::from(i == k)))
}

/// S + `constant` is positive definite.
fn positive_s(constant: &Matrix<3>) -> Cone {
    let pad = |m: &Matrix<3>, corner: f64| {
        from_fn(|i, j| {
            if i < 3 && j < 3 {
                m[i][j]
            } else if i == j {
                corner
            } else {
                0.0
            }
        })
    };
    Cone {
        constant: pad(constant, 1.0),
        coefficients: std::array::from_fn(|k| pad(&unpack(&unit(k)).0, 0.0)),
    }
}

/// The trace of S is below 1; this fixes the scale.
fn bounded_trace() -> Cone {
    let corner = |value: f64| from_fn(|i, j| if i == 0 && j == 0 { value } else { 0.0 });
    Cone {
        constant: identity(),
        coefficients: std::array::from_fn(|k| {
            corner(if matches!(k, 0 | 3 | 5) { -1.0 } else { 0.0 })
        }),
    }
}

fn solve_lower(l: &Matrix<3>, b: &Matrix<3>) -> Matrix<3> {
    let mut x = *b;
    for i in 0..3 {
        for j in 0..3 {
            let known: f64 = (0..i).map(|k| l[i][k] * x[k][j]).sum();
            x[i][j] = (x[i][j] - known) / l[i][i];
        }
    }
    x
}

/// (F − I)/η and B/η for one step of Algorithm 1 at curvature h, in terms of the φ functions: with
/// a = φ2 − 2φ3 and b = φ1 − φ2 the differences μ22 − 1 and μ33 − 1 need not be formed. w is in
/// units of η.
fn third_order_drift(parameters: Parameters, h: f64) -> (Matrix<3>, [f64; 3]) {
    let (gamma, xi, eta) = (parameters.gamma(), parameters.xi(), parameters.eta());
    let z = xi * eta;
    let g2 = (gamma * eta).powi(2);
    let (f1, f2, f3) = (phi1(z), phi2(z), phi3(z));
    let kick = gamma * eta * f2;
    let g = [
        [-0.5 * h * eta, 1.0 - g2 * f3 - 0.25 * h * eta * eta, gamma * eta * f2],
        [-h, -gamma * kick - 0.5 * h * eta, gamma * f1],
        [
            kick * h,
            -gamma * (f1 - g2 * (f2 - 2.0 * f3)) + 0.5 * kick * h * eta,
            -xi * f1 - gamma * gamma * eta * (f1 - f2),
        ],
    ];
    (g, [-0.5 * eta, -1.0, kick])
}

/// (F − I)/η for the symmetric splitting at curvature l, in the cyclic order half drift,
/// Ornstein-Uhlenbeck step, half drift, full kick. The kick is evaluated at one point, so this
/// order is affine in l. It differs from the order with half kicks first and last only by half a
/// kick at the start and at the end of the run.
fn symmetric_drift(parameters: Parameters, l: f64) -> Result<Matrix<3>, Error> {
    let eta = parameters.eta();
    let [[a, b], [c, d]] = OrnsteinUhlenbeck::new(parameters, 1.0)?.flow();
    let free = [[1.0, 0.5 * eta * (1.0 + a), 0.5 * eta * b], [0.0, a, b], [0.0, c, d]];
    let step: Matrix<3> =
        from_fn(|i, j| if i == 1 { free[1][j] - eta * l * free[0][j] } else { free[i][j] });
    Ok(combine(1.0 / eta, &step, -1.0 / eta, &identity()))
}

/// ∫ t² dt over [0, 1] by the line rule, as a fraction: 1/3 for the exact integral and every rule
/// that is exact for squares (three nodes or more), 1/4 for one node and 3/8 for two.
pub(crate) fn second_moment(nodes: Option<usize>) -> (f64, f64) {
    match nodes {
        Some(1) => (1.0, 4.0),
        Some(2) => (3.0, 8.0),
        _ => (1.0, 3.0),
    }
}

/// The curvature of a fine grid on [1/κ, 1] at which the step's spectral radius is largest, if that
/// is above 1. The diffusion has none: its drift is stable at every positive curvature.
pub(crate) fn witness(setting: &Setting) -> Result<Option<Witness>, Error> {
    const GRID: i32 = 400;
    /// Above 1 by more than the rounding of the eigenvalues.
    const ABOVE: f64 = 1.0 + 1e-9;
    let parameters = setting.parameters();
    let mut worst = Witness { curvature: 1.0, spectral_radius: 0.0 };
    for i in 0..=GRID {
        let curvature = setting.kappa().powf(-f64::from(i) / f64::from(GRID));
        let drift = match setting.process() {
            Process::Diffusion => return Ok(None),
            Process::Symmetric { .. } => symmetric_drift(parameters, curvature)?,
            Process::ThirdOrder { .. } => third_order_drift(parameters, curvature).0,
        };
        let step = combine(1.0, &identity(), parameters.eta(), &drift);
        // Where the step overflows, nothing is known about it.
        let Some(spectral_radius) = spectral_radius(&step) else { continue };
        if spectral_radius > worst.spectral_radius {
            worst = Witness { curvature, spectral_radius };
        }
    }
    Ok((worst.spectral_radius > ABOVE).then_some(worst))
}

/// The largest absolute value of an eigenvalue; `None` if the matrix or its eigenvalues are not
/// finite.
fn spectral_radius(a: &Matrix<3>) -> Option<f64> {
    let matrix = faer::Mat::from_fn(3, 3, |i, j| a[i][j]);
    let finite = a.iter().flatten().all(|x| x.is_finite());
    let values = if finite { matrix.eigenvalues().ok()? } else { return None };
    let radius = values.into_iter().map(|v| v.re.hypot(v.im)).fold(0.0, f64::max);
    radius.is_finite().then_some(radius)
}

//! One step of Algorithm 1 at γ = κ, ξ = 2κ beside the diffusion on the same Brownian path, in
//! units of L = 1. Everything is per unit of time, so that nothing cancels in short steps: at κ =
//! 10⁶ the paper's step sizes are below 10⁻¹⁶.

use ridgewalk_coefficients::{Coefficients, Parameters, phi1, phi2, phi3};

use crate::error::{Error, condition_number};
use crate::matrix::{
    Matrix, cholesky, combine, congruence, from_fn, identity, product, times_vector, transpose,
};
use crate::paper::matrices::{derivative, drift, s};

/// The pieces into which a step is divided to integrate its difference from the diffusion; even.
const PIECES: u32 = 64;

/// What is taken off the diagonal of a matrix before it is called positive definite.
const KEPT_BACK: f64 = 0.01;

/// Where on the segment the mean gradient of a step is taken, in parts of the segment: mean, and a
/// bound on the mean square.
#[derive(Debug, Clone, Copy)]
struct Position {
    mean: f64,
    square: f64,
}

/// A condition number and a step size, with the paper's γ and ξ.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) kappa: f64,
    pub(super) eta: f64,
    pub(super) s: Matrix<3>,
    pub(super) coefficients: Coefficients,
}

impl Step {
    pub(super) fn new(kappa: f64, eta: f64) -> Result<Self, Error> {
        condition_number(kappa)?;
        let parameters = Parameters::new(kappa, 2.0 * kappa, eta)?;
        let coefficients = Coefficients::new(parameters, 1.0)?;
        Ok(Self { kappa, eta, s: s(kappa), coefficients })
    }

    /// R, with F(l) = 1 + η (M(l) + R) for the step's matrix F: what the step adds to the drift. The
    /// mean gradient is that at θ + `mean` η p.
    fn beyond_the_drift(&self, l: f64, mean: f64) -> Matrix<3> {
        let (gamma, xi, eta) = (self.kappa, 2.0 * self.kappa, self.eta);
        let (g, z) = (gamma * eta, xi * eta);
        let (f2, f3) = (phi2(z), phi3(z));
        let push = g * f2;
        [
            [-0.5 * l * eta, -g * g * f3 - 0.5 * mean * l * eta * eta, push],
            [0.0, -gamma * g * f2 - mean * l * eta, -gamma * z * f2],
            [
                push * l,
                gamma * (z * f2 + g * g * (f2 - 2.0 * f3)) + mean * push * l * eta,
                xi * z * f2 - gamma * g * (phi1(z) - f2),
            ],
        ]
    }

    fn increment_at(&self, l: f64, mean: f64) -> Matrix<3> {
        let beyond = self.beyond_the_drift(l, mean);
        combine(1.0, &drift(l, self.kappa, 2.0 * self.kappa), 1.0, &beyond)
    }

    /// K, with F = 1 + η K, for exact line integrals.
    pub(super) fn increment(&self, l: f64) -> Matrix<3> {
        self.increment_at(l, 0.5)
    }

    /// F, for exact line integrals.
    pub(super) fn matrix(&self, l: f64) -> Matrix<3> {
        combine(1.0, &identity(), self.eta, &self.increment(l))
    }

    /// (S − Fᵀ S F)/η: what the squared S-norm of a difference loses. S M + Mᵀ S, which cancels, is
    /// taken from its closed form.
    fn loss_at(&self, l: f64, mean: f64) -> Matrix<3> {
        let k = self.increment_at(l, mean);
        let sr = product(&self.s, &self.beyond_the_drift(l, mean));
        let square = congruence(&self.s, &k);
        let m = derivative(self.kappa, l);
        from_fn(|i, j| -m[i][j] - sr[i][j] - sr[j][i] - self.eta * square[i][j])
    }

    /// [`Step::loss_at`] for exact line integrals.
    pub(super) fn loss(&self, l: f64) -> Matrix<3> {
        self.loss_at(l, 0.5)
    }

    /// The column with which ΔU enters (θ, p, r).
    pub(super) fn kick(&self) -> [f64; 3] {
        [-0.5 * self.eta, -1.0, self.coefficients.mu31()]
    }

    /// Whether a step brings two copies closer in the S-norm, its square by the factor 1 − rate η,
    /// for every potential with this κ: the 4x4 inequality of `docs/theory.md`, section 4, divided
    /// by η. It covers exact line integrals and any number of Chebyshev nodes, whose second moment
    /// of the segment is at most 3/8.
    pub(super) fn contracts(&self, rate: f64) -> bool {
        self.one_multiplier(rate, &[Position { mean: 0.5, square: 0.375 }])
    }

    /// Whether a step without noise brings (θ, p, r) closer to the mode, likewise, for every ĝ in
    /// the convex hull of the gradients along the segment.
    ///
    /// The mean of ĝ is h (θ + λ η p) + v, where λ in [0, 1] is a mean position on the segment and
    /// |v|² <= g² (|θ|² + 2λη⟨θ, p⟩ + λη²|p|²), since λ² <= λ. For a fixed multiplier the matrix of
    /// the inequality is an affine one less [F B]ᵀ S [F B], in which F is affine in λ. So it is
    /// concave in λ, and a multiplier for both ends of [0, 1] is one for all λ.
    pub(super) fn contracts_to_the_mode(&self, rate: f64) -> bool {
        let ends = [0.0, 1.0].map(|mean| Position { mean, square: mean });
        self.one_multiplier(rate, &ends)
    }

    /// Whether one multiplier proves the contraction at every given position. A hundredth is taken
    /// off the diagonal, far more than the rounding.
    fn one_multiplier(&self, rate: f64, positions: &[Position]) -> bool {
        let inverse = 1.0 / self.kappa;
        let half_range = 0.5 * (1.0 - inverse);
        if half_range == 0.0 {
            return positions.iter().all(|at| cholesky(&self.left(rate, at)).is_some());
        }
        let parts: Vec<_> = positions.iter().map(|at| self.inequality(rate, at)).collect();
        // At this τ the terms between θ and (p, r) cancel in the limit of short steps.
        let first = 0.5 * self.kappa / half_range;
        (-45..=150)
            .map(|i| first * (1.0 + 0.02 * f64::from(i) * inverse))
            .any(|tau| parts.iter().all(|part| cholesky(&part(tau)).is_some()))
    }

    /// (S − Fᵀ S F)/η − rate S at the middle curvature, less a hundredth.
    fn left(&self, rate: f64, at: &Position) -> Matrix<3> {
        let loss = self.loss_at(0.5 * (1.0 + 1.0 / self.kappa), at.mean);
        from_fn(|i, j| loss[i][j] - rate * self.s[i][j] - if i == j { KEPT_BACK } else { 0.0 })
    }

    /// The matrix that must be positive definite, as a function of the multiplier τ.
    fn inequality(&self, rate: f64, at: &Position) -> impl Fn(f64) -> Matrix<4> + use<> {
        let inverse = 1.0 / self.kappa;
        let (middle, half_range) = (0.5 * (1.0 + inverse), 0.5 * (1.0 - inverse));
        let left = self.left(rate, at);
        let (eta, b) = (self.eta, self.kick());
        let sb = times_vector(&self.s, &b);
        let map = combine(1.0, &identity(), eta, &self.increment_at(middle, at.mean));
        let across = times_vector(&transpose(&map), &sb);
        let bsb = self.square(&b);
        let square = half_range * half_range;
        let q = [[1.0, at.mean * eta], [at.mean * eta, at.square * eta * eta]];
        move |tau: f64| {
            from_fn(|i, j| match (i, j) {
                (0 | 1, 0 | 1) => left[i][j] - tau * square * q[i][j],
                (3, 3) => tau - eta * bsb - KEPT_BACK,
                (3, _) => -across[j],
                (_, 3) => -across[i],
                _ => left[i][j],
            })
        }
    }

    /// |v|_S².
    pub(super) fn square(&self, v: &[f64; 3]) -> f64 {
        let sv = times_vector(&self.s, v);
        (0..3).map(|i| v[i] * sv[i]).sum()
    }

    /// A lower bound of the eigenvalues of S, from tr S⁻¹ = 4κ.
    pub(super) fn smallest_of_s(&self) -> f64 {
        0.25 / self.kappa
    }

    /// Σ |S_ij| v_i v_j: a bound on the squared S-norm of vectors with these root mean squares.
    pub(super) fn square_of(&self, v: &[f64; 3]) -> f64 {
        (0..3)
            .flat_map(|i| (0..3).map(move |j| (i, j)))
            .map(|(i, j)| self.s[i][j].abs() * v[i].abs() * v[j].abs())
            .sum()
    }

    /// By how much the step differs from the diffusion on the same path at curvature l, both from
    /// the same start: the matrix D on the start, and the covariance of the noise.
    ///
    /// The differences are integrated themselves, by the classical Runge-Kutta method, and not
    /// subtracted. With q = p − p₀, y = θ − θ₀ − t p₀, the errors ρ = r̂ − r and e of θ, p, r, and
    /// u = (t² − ηt)/2 p₀, which is the straight line against the integral of t:
    ///
    /// ```text
    /// y' = q,  q' = −l θ + γ r,  ρ' = γ q − ξ ρ,  v' = l y + γ ρ,  e_p = v + l u,
    /// e_θ' = e_p,  e_r' = −γ e_p − ξ e_r
    /// ```
    ///
    /// The noise drives r alone, so its effect is that of a start at r = 1.
    pub(super) fn difference(&self, l: f64) -> Difference {
        let columns = [0, 1, 2].map(|start| self.errors_from(start, l));
        let end = |column: &[[f64; 3]]| column.last().copied().unwrap_or_default();
        let ends = columns.each_ref().map(|column| end(column));
        Difference {
            map: from_fn(|i, j| ends[j][i]),
            noise: self.integrated(&columns[2], 4.0 * self.kappa),
        }
    }

    /// e_θ, e_p and e_r, without the part l u of e_p that vanishes at the end, at equal times of
    /// the step, from a start at 1 in one of θ, p and r.
    fn errors_from(&self, start: usize, l: f64) -> Vec<[f64; 3]> {
        let (gamma, xi) = (self.kappa, 2.0 * self.kappa);
        let p0 = f64::from(u8::from(start == 1));
        let slope = |t: f64, z: &[f64; 9]| {
            let [theta, p, r, y, q, rho, v, _, er] = *z;
            let ep = v + 0.5 * l * t * (t - self.eta) * p0;
            let force = -l * theta + gamma * r;
            [
                p,
                force,
                -gamma * p - xi * r,
                q,
                force,
                gamma * q - xi * rho,
                l * y + gamma * rho,
                ep,
                -gamma * ep - xi * er,
            ]
        };
        let h = self.eta / f64::from(PIECES);
        let mut z = [0.0; 9];
        z[start] = 1.0;
        let mut errors = vec![[0.0; 3]];
        for i in 0..PIECES {
            z = runge_kutta(h * f64::from(i), h, &z, slope);
            errors.push([z[7], z[6], z[8]]);
        }
        errors
    }

    /// `factor` times the integral of e eᵀ over the step, by Simpson's rule.
    fn integrated(&self, errors: &[[f64; 3]], factor: f64) -> Matrix<3> {
        let third = self.eta / f64::from(PIECES) / 3.0;
        let weights = |i: usize| match i {
            0 => 1.0,
            _ if i + 1 == errors.len() => 1.0,
            _ if i % 2 == 1 => 4.0,
            _ => 2.0,
        };
        let entry = |a: usize, b: usize| -> f64 {
            errors.iter().enumerate().map(|(i, e)| weights(i) * e[a] * e[b]).sum()
        };
        from_fn(|a, b| factor * third * entry(a, b))
    }
}

/// The step minus the diffusion: `map` times the start, plus noise of covariance `noise`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Difference {
    pub(super) map: Matrix<3>,
    pub(super) noise: Matrix<3>,
}

fn runge_kutta<const N: usize>(
    t: f64, h: f64, z: &[f64; N], slope: impl Fn(f64, &[f64; N]) -> [f64; N],
) -> [f64; N] {
    let ahead = |by: f64, k: &[f64; N]| std::array::from_fn(|i| z[i] + by * k[i]);
    let k1 = slope(t, z);
    let k2 = slope(t + 0.5 * h, &ahead(0.5 * h, &k1));
    let k3 = slope(t + 0.5 * h, &ahead(0.5 * h, &k2));
    let k4 = slope(t + h, &ahead(h, &k3));
    std::array::from_fn(|i| z[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::Scheme;
    use crate::planner::tests::true_errors;

    #[test]
    fn the_difference_from_the_diffusion_is_that_of_the_joint_covariance() {
        for (kappa, eta, l) in [(1.0, 0.5, 1.0), (2.0, 0.2, 0.5), (5.0, 0.1, 1.0), (8.0, 0.05, 0.2)]
        {
            let Difference { map, noise } = Step::new(kappa, eta).unwrap().difference(l);
            let errors = true_errors(kappa, 2.0 * kappa, eta, l);
            for i in 0..3 {
                let [a, b, c] = map[i];
                let square = a * a / l + b * b + c * c + noise[i][i];
                assert!((square.sqrt() / errors[i] - 1.0).abs() < 1e-5, "{square} {errors:?}");
            }
        }
    }

    #[test]
    fn the_matrix_is_that_of_the_scheme_and_its_loss_what_it_takes_off() {
        for (kappa, eta, l) in [(1.0, 0.5, 1.0), (3.0, 0.1, 0.4), (20.0, 0.02, 0.05)] {
            let step = Step::new(kappa, eta).unwrap();
            let form =
                Scheme::third_order(kappa, 2.0 * kappa, eta).unwrap().linear_form(l).unwrap();
            let (f, scheme) = (step.matrix(l), form.mean_matrix());
            let square = congruence(&step.s, &scheme);
            let loss = step.loss(l);
            for i in 0..3 {
                for j in 0..3 {
                    assert!((f[i][j] - scheme[i][j]).abs() < 1e-14);
                    let direct = (step.s[i][j] - square[i][j]) / eta;
                    assert!((loss[i][j] - direct).abs() < 1e-9 * step.s[0][0] / eta);
                }
            }
        }
    }
}

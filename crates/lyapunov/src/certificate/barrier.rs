//! The search for quadratic forms: small linear matrix inequalities, solved by a logarithmic
//! barrier and Newton's method.
//!
//! The unknown is a vector v of at most seven numbers (the six entries of a symmetric 3x3 matrix S
//! and a multiplier τ). The constraints are that matrices of size at most 4, affine in v, are
//! positive definite. Results of this search are not trusted: [`super::check`] verifies
//! certificates independently.

use crate::matrix::{Matrix, cholesky, inverse, solve};

/// The largest number of unknowns.
pub(crate) const UNKNOWNS: usize = 7;

/// The unknowns: S11, S12, S13, S22, S23, S33, τ.
pub(crate) type Unknowns = [f64; UNKNOWNS];

/// The constraint that `constant` + Σ v_k `coefficients[k]` is positive definite. Smaller matrices
/// are padded with the identity.
#[derive(Debug, Clone)]
pub(crate) struct Cone {
    pub(crate) constant: Matrix<4>,
    pub(crate) coefficients: [Matrix<4>; UNKNOWNS],
}

impl Cone {
    fn at(&self, v: &Unknowns) -> Matrix<4> {
        let mut sum = self.constant;
        for (value, coefficient) in v.iter().zip(&self.coefficients) {
            for (row, from) in sum.iter_mut().zip(coefficient) {
                for (entry, c) in row.iter_mut().zip(from) {
                    *entry += value * c;
                }
            }
        }
        sum
    }

    /// log det, if positive definite.
    fn log_det(&self, v: &Unknowns) -> Option<f64> {
        let l = cholesky(&self.at(v))?;
        Some((0..4).map(|i| 2.0 * l[i][i].ln()).sum())
    }
}

/// A convex objective beside the barrier: Σ weights_k |v_k|, with the absolute value smoothed near
/// 0.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Objective {
    pub(crate) weights: Unknowns,
    pub(crate) rounding: f64,
}

impl Objective {
    fn value(&self, v: &Unknowns) -> f64 {
        self.weights.iter().zip(v).map(|(w, x)| w * x.hypot(self.rounding)).sum()
    }

    fn derivatives(&self, v: &Unknowns) -> (Unknowns, Unknowns) {
        let length = v.map(|x| x.hypot(self.rounding));
        let first = std::array::from_fn(|k| self.weights[k] * v[k] / length[k]);
        let second =
            std::array::from_fn(|k| self.weights[k] * self.rounding.powi(2) / length[k].powi(3));
        (first, second)
    }
}

/// Minimises t · objective − Σ log det of the cones, starting from a point strictly inside them,
/// over the first `unknowns` entries of v. Returns the last point, which is inside too.
pub(crate) fn centre(
    cones: &[Cone], objective: Option<(f64, &Objective)>, start: Unknowns, unknowns: usize,
) -> Unknowns {
    const STEPS: usize = 40;
    let value = |v: &Unknowns| {
        let mut sum = objective.map_or(0.0, |(t, f)| t * f.value(v));
        for cone in cones {
            sum -= cone.log_det(v)?;
        }
        Some(sum)
    };
    let mut v = start;
    let Some(mut current) = value(&v) else { return start };
    for _ in 0..STEPS {
        let Some((gradient, hessian)) = derivatives(cones, objective, &v, unknowns) else {
            return v;
        };
        let Some(step) = solve(&hessian, &gradient) else { return v };
        let decrement: f64 = step.iter().zip(&gradient).map(|(s, g)| s * g).sum();
        if !(decrement > 1e-7) {
            return v;
        }
        let mut length = if decrement > 0.06 { 1.0 / (1.0 + decrement.sqrt()) } else { 1.0 };
        let moved = loop {
            let candidate = std::array::from_fn(|k| v[k] - length * step[k]);
            match value(&candidate) {
                Some(new) if new < current => break Some((candidate, new)),
                _ if length < 1e-4 => break None,
                _ => length *= 0.5,
            }
        };
        let Some((candidate, new)) = moved else { return v };
        (v, current) = (candidate, new);
    }
    v
}

/// Gradient and Hessian of the function that [`centre`] minimises; unused unknowns get an identity
/// row.
fn derivatives(
    cones: &[Cone], objective: Option<(f64, &Objective)>, v: &Unknowns, unknowns: usize,
) -> Option<(Unknowns, Matrix<UNKNOWNS>)> {
    let mut gradient = [0.0; UNKNOWNS];
    let mut hessian = [[0.0; UNKNOWNS]; UNKNOWNS];
    for cone in cones {
        let inverse = inverse(&cone.at(v))?;
        // With A_k the coefficients, the derivatives are −tr(P⁻¹A_k) and tr(P⁻¹A_k P⁻¹A_l).
        let mut products = [[[0.0; 4]; 4]; UNKNOWNS];
        for k in 0..unknowns {
            products[k] = crate::matrix::product(&inverse, &cone.coefficients[k]);
            gradient[k] -= (0..4).map(|i| products[k][i][i]).sum::<f64>();
        }
        for k in 0..unknowns {
            for l in 0..=k {
                let trace: f64 = (0..4)
                    .map(|i| (0..4).map(|j| products[k][i][j] * products[l][j][i]).sum::<f64>())
                    .sum();
                hessian[k][l] += trace;
                if l != k {
                    hessian[l][k] += trace;
                }
            }
        }
    }
    if let Some((t, f)) = objective {
        let (first, second) = f.derivatives(v);
        for k in 0..unknowns {
            gradient[k] += t * first[k];
            hessian[k][k] += t * second[k];
        }
    }
    for (k, row) in hessian.iter_mut().enumerate().skip(unknowns) {
        row[k] = 1.0;
    }
    Some((gradient, hessian))
}

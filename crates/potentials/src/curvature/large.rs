//! Bounds from above of the largest eigenvalue of B = Q + Aᵀ diag(c) A where d x d is too large to
//! form: products only.

use std::f64::consts::TAU;

use faer::{Mat, Side};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Basis, Bound, DENSE, Guarantee, proof};
use crate::error::Error;
use crate::families::Family;
use crate::hessian::{dot, forward, norm, row_gram, visit};
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;

/// The probability that Lanczos's bound is wrong.
const FAILURE: f64 = 1e-12;
/// The share of the largest eigenvalue by which Lanczos's method may fall short of it.
const GAP: f64 = 0.03;
/// Power iterations for the bound of Collatz and Wielandt.
const ITERATIONS: usize = 20;
/// Keeps the vector of that bound positive where a column is 0.
const FLOOR: f64 = 1e-100;

impl<F: Family> Ridge<'_, F> {
    /// The smallest of the available bounds.
    pub(super) fn large_smoothness(&self, c: &[f64], guarantee: Guarantee) -> Result<Bound, Error> {
        let mut bounds = vec![self.trace(c), self.collatz_wielandt(c)];
        bounds.extend(self.row_products(c));
        if guarantee == Guarantee::AlmostCertain {
            let apply = |x: &[f64]| {
                let mut s = forward(self.design(), x);
                s.iter_mut().zip(c).for_each(|(s, c)| *s *= c);
                let mut out = vec![0.0; self.dimension()];
                self.add_backward(&s, &mut out);
                self.quadratic().add_product(1.0, x, &mut out);
                out
            };
            bounds.push(lanczos(self.dimension(), self.rounding(), &apply));
        }
        let finite = bounds.into_iter().filter(|bound| bound.value.is_finite());
        let best = finite.min_by(|a, b| a.value.total_cmp(&b.value));
        best.ok_or(Error::Overflow { what: "the matrix Aᵀ A" })
    }

    /// The relative rounding error of a sum of positive terms over rows and columns.
    fn rounding(&self) -> f64 {
        2.0 * f64::EPSILON * (self.all_rows() + self.dimension() + 16) as f64
    }

    fn trace(&self, c: &[f64]) -> Bound {
        let mut sum: f64 = self.once(self.quadratic().diagonal()).iter().sum();
        for (row, c) in c.iter().enumerate() {
            // The root of the weight first: squares alone could under- or overflow where the
            // products do not.
            let root = c.sqrt();
            visit(self.design(), row, |_, a| sum += (root * a) * (root * a));
        }
        let mut sum = [sum];
        self.rows().sum(&mut sum);
        Bound { value: sum[0] * (1.0 + self.rounding()), basis: Basis::Trace }
    }

    /// The spectral radius of B is at most that of M = |A|ᵀ diag(c) |A| + |Q|, and that at most the
    /// largest (M x)_k/x_k for whatever positive x; power iterations x ← M x never make it larger.
    /// All terms are positive, so that rounding is a share of the result.
    fn collatz_wielandt(&self, c: &[f64]) -> Bound {
        let d = self.dimension();
        let mut x = vec![1.0; d];
        let mut best = f64::INFINITY;
        for _ in 0..ITERATIONS {
            let mut product = self.once(self.absolute_quadratic(&x));
            for (row, c) in c.iter().enumerate() {
                let mut s = 0.0;
                visit(self.design(), row, |k, a| s += a.abs() * x[k]);
                s *= c;
                visit(self.design(), row, |k, a| product[k] += s * a.abs());
            }
            self.rows().sum(&mut product);
            let ratio = product.iter().zip(&x).map(|(y, x)| y / x).fold(0.0, f64::max);
            if !ratio.is_finite() {
                break;
            }
            let improved = ratio < best * (1.0 - 1e-4);
            best = best.min(ratio);
            if !improved {
                break;
            }
            let largest = product.iter().copied().fold(0.0, f64::max);
            x.iter_mut().zip(&product).for_each(|(x, y)| *x = (y / largest).max(FLOOR));
        }
        Bound { value: best * (1.0 + self.rounding()), basis: Basis::CollatzWielandt }
    }

    /// |Q| x.
    fn absolute_quadratic(&self, x: &[f64]) -> Vec<f64> {
        match self.quadratic() {
            Quadratic::Diagonal(prior) => {
                prior.precision().iter().zip(x).map(|(q, x)| q * x).collect()
            }
            Quadratic::At { prior, at, precision, .. } => {
                let along: f64 = at.iter().zip(x).map(|(a, x)| a.abs() * x).sum();
                let terms = prior.precision().iter().zip(at).zip(x);
                terms.map(|((q, a), x)| q * x + precision * along * a.abs()).collect()
            }
            Quadratic::General { matrix, .. } => {
                let rows = matrix.chunks_exact(x.len());
                rows.map(|row| row.iter().zip(x).map(|(q, x)| q.abs() * x).sum()).collect()
            }
        }
    }

    /// For few rows: Aᵀ diag(c) A has the eigenvalues of the n x n matrix of products of scaled
    /// rows, and Q adds no more than its own largest (exactly that, if Q is a multiple of the
    /// identity). Rounding as for the d x d matrix, with d for n.
    fn row_products(&self, c: &[f64]) -> Option<Bound> {
        let n = self.design().rows();
        // Products of rows in different processes are not available.
        if n > DENSE || self.rows().is_shared() {
            return None;
        }
        let scales: Vec<f64> = c.iter().map(|c| c.sqrt()).collect();
        let matrix = row_gram(self.design(), &scales);
        let trace: f64 = matrix.iter().step_by(n + 1).sum();
        // Row sums of |Q| bound its eigenvalues.
        let prior =
            self.absolute_quadratic(&vec![1.0; self.dimension()]).into_iter().fold(0.0, f64::max);
        let value = proof::largest(&matrix, n)? + self.rounding() * (trace + prior) + prior;
        Some(Bound { value, basis: Basis::RowProducts })
    }
}

/// A bound of the largest eigenvalue of a positive semidefinite matrix that is known by its products,
/// with this relative rounding error.
///
/// J. Kuczyński and H. Woźniakowski (SIAM J. Matrix Anal. Appl. 13, 1992): after k steps from a
/// uniformly random direction, for every positive semidefinite matrix, the largest Ritz value θ is
/// below (1 − e) λ with a probability of at most 1.648 √d exp(−√e (2k − 1)). k is chosen for e =
/// [`GAP`] before anything is computed. A power iteration would need 1/e in place of 1/√e steps for
/// the same, and a run of it that has not settled proves nothing. The start comes from a fixed seed:
/// the probability is that of the seed, for data that were not made with it in mind.
pub(crate) fn lanczos(d: usize, rounding: f64, apply: &dyn Fn(&[f64]) -> Vec<f64>) -> Bound {
    let needed = (1.648 * (d as f64).sqrt() / FAILURE).ln() / GAP.sqrt();
    let mut steps = 1;
    while ((2 * steps - 1) as f64) < needed {
        steps += 1;
    }
    let value =
        largest_ritz_value(apply, random_direction(d), steps).map_or(f64::INFINITY, |ritz| {
            // Each step's rounding changes the matrix by no more than this share.
            ritz / (1.0 - GAP) * (1.0 + steps as f64 * rounding)
        });
    Bound { value, basis: Basis::Lanczos { steps, failure: FAILURE } }
}

/// Normal numbers (Box and Muller): their direction is uniform.
fn random_direction(d: usize) -> Vec<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(0x5269_6467_6577_616c);
    let mut normal = || {
        let radius = (-2.0 * (1.0 - rng.random::<f64>()).ln()).sqrt();
        radius * (TAU * rng.random::<f64>()).cos()
    };
    (0..d).map(|_| normal()).collect()
}

/// The largest Ritz value of a symmetric matrix after some steps of Lanczos's method; each vector
/// is made orthogonal to all before it, twice. Ends early where the space can no longer grow.
fn largest_ritz_value(
    apply: &dyn Fn(&[f64]) -> Vec<f64>, mut next: Vec<f64>, steps: usize,
) -> Option<f64> {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut diagonal, mut beside) = (Vec::new(), Vec::new());
    let mut length = norm(&next);
    for _ in 0..steps {
        next.iter_mut().for_each(|x| *x /= length);
        let mut image = apply(&next);
        diagonal.push(dot(&image, &next));
        basis.push(next);
        for _ in 0..2 {
            for vector in &basis {
                let share = dot(&image, vector);
                image.iter_mut().zip(vector).for_each(|(x, v)| *x -= share * v);
            }
        }
        length = norm(&image);
        let size = diagonal.iter().fold(0.0, |size: f64, x| size.max(x.abs()));
        if !(length > 1e-12 * size) {
            break;
        }
        beside.push(length);
        next = image;
    }
    let k = diagonal.len();
    let entry = |i: usize, j: usize| match i.abs_diff(j) {
        0 => diagonal[i],
        1 => beside[i.min(j)],
        _ => 0.0,
    };
    let projected = Mat::from_fn(k, k, entry);
    if (0..k).any(|i| !entry(i, i).is_finite()) {
        return None;
    }
    projected.self_adjoint_eigenvalues(Side::Lower).ok()?.last().copied()
}

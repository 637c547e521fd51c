//! Group effects: their covariance by its parameters, and the priors of these.

use crate::density::Density;
use crate::error::Error;

/// The step of a central difference of the energy, which is smooth on the scale of 1.
const STEP: f64 = 1e-5;

/// Effects of the levels of a grouping factor: u_j ~ N(0, Λ Λᵀ) for each level j, Λ = D C with the
/// standard deviations D and the Cholesky factor C of their correlation matrix.
///
/// Its parameters φ are real numbers: the logarithms of the standard deviations, then for each
/// coefficient after the first the inverse hyperbolic tangents of its canonical partial
/// correlations with those before it (Lewandowski, Kurowicka and Joe 2009).
#[derive(Debug, Clone, PartialEq)]
pub struct GroupTerm {
    /// The first of its effects among all coefficients; level after level, the effects of a level
    /// together.
    pub first: usize,
    /// The number of levels.
    pub levels: usize,
    /// The number of coefficients of each level.
    pub width: usize,
    /// The prior of each standard deviation.
    pub sds: Vec<Density>,
    /// The concentration of the prior of the correlations, LKJ: at 1 all correlation matrices are
    /// equally likely.
    pub concentration: f64,
}

impl GroupTerm {
    /// The number of parameters: standard deviations and correlations.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.width * (self.width + 1) / 2
    }

    /// The number of its effects.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.levels * self.width
    }

    pub(super) fn check(&self) -> Result<(), Error> {
        crate::error::length(
            "the list of priors of standard deviations",
            self.sds.len(),
            self.width,
        )?;
        self.sds.iter().try_for_each(Density::check)?;
        let value = self.concentration;
        if value > 0.0 && value.is_finite() {
            Ok(())
        } else {
            Err(Error::NotPositive { name: "concentration of the LKJ prior", value })
        }
    }

    /// Λ by its parameters, row by row.
    #[must_use]
    pub fn scale(&self, phi: &[f64]) -> Scale {
        let q = self.width;
        let mut lower = vec![0.0; q * q];
        let mut next = q;
        for i in 0..q {
            // What is left of the row's unit length.
            let mut rest = 1.0_f64;
            let sd = bounded_exp(phi[i]);
            for j in 0..i {
                let part = phi[next].tanh();
                next += 1;
                lower[i * q + j] = sd * part * rest.sqrt();
                rest *= 1.0 - part * part;
            }
            lower[i * q + i] = sd * rest.max(f64::MIN_POSITIVE).sqrt();
        }
        Scale { width: q, lower }
    }

    /// The standard deviations and the correlations, row by row below the diagonal, in place of φ.
    pub fn to_natural(&self, phi: &mut [f64]) {
        let q = self.width;
        let scale = self.scale(phi);
        let row = |i: usize| &scale.lower[i * q..(i + 1) * q];
        let sd = |i: usize| row(i).iter().map(|x| x * x).sum::<f64>().sqrt();
        let sds: Vec<f64> = (0..q).map(sd).collect();
        let mut next = q;
        for i in 0..q {
            for j in 0..i {
                let covariance: f64 = row(i).iter().zip(row(j)).map(|(x, y)| x * y).sum();
                phi[next] = (covariance / (sds[i] * sds[j])).clamp(-1.0, 1.0);
                next += 1;
            }
        }
        phi[..q].copy_from_slice(&sds);
    }

    /// φ of standard deviations and correlations; the inverse of [`GroupTerm::to_natural`].
    pub fn to_unconstrained(&self, natural: &mut [f64]) {
        let q = self.width;
        let sds = natural[..q].to_vec();
        // C row by row, and from it the partial correlations.
        let mut factor = vec![0.0; q * q];
        let mut next = q;
        for i in 0..q {
            let mut rest = 1.0_f64;
            for j in 0..i {
                let (above, below) = factor.split_at(i * q);
                let known: f64 = (0..j).map(|k| below[k] * above[j * q + k]).sum();
                let entry = (natural[next] - known) / factor[j * q + j];
                factor[i * q + j] = entry;
                natural[next] = (entry / rest.sqrt()).atanh();
                rest = (rest - entry * entry).max(f64::MIN_POSITIVE);
                next += 1;
            }
            factor[i * q + i] = rest.sqrt();
            natural[i] = sds[i].ln();
        }
    }

    /// −log prior density of φ, up to a constant, with the change of variables from standard
    /// deviations and correlations.
    #[must_use]
    pub fn prior(&self, phi: &[f64]) -> f64 {
        let q = self.width;
        let sds = self.sds.iter().zip(phi);
        let sum: f64 = sds.map(|(prior, &t)| prior.value_and_slope(bounded_exp(t))[0] - t).sum();
        let mut next = q;
        let mut correlations = 0.0;
        for i in 1..q {
            for j in 0..i {
                // Beta on (−1, 1), and the derivative 1 − c² of the hyperbolic tangent.
                let power = self.concentration + 0.5 * (q - 2 - j) as f64;
                correlations += 2.0 * power * log_cosh(phi[next]);
                next += 1;
            }
        }
        sum + correlations
    }

    /// −log density of effects with this sum of u uᵀ over levels, without constants.
    pub(super) fn energy(&self, phi: &[f64], squares: &[f64]) -> f64 {
        let scale = self.scale(phi);
        0.5 * scale.quadratic(squares) + self.levels as f64 * scale.log_determinant()
    }

    /// The sum of u uᵀ over levels.
    pub(super) fn squares(&self, point: &[f64]) -> Vec<f64> {
        let q = self.width;
        let mut sums = vec![0.0; q * q];
        for u in self.of(point).chunks_exact(q) {
            for i in 0..q {
                for j in 0..q {
                    sums[i * q + j] += u[i] * u[j];
                }
            }
        }
        sums
    }

    /// Its effects in a list of all coefficients.
    pub(super) fn of<'a>(&self, point: &'a [f64]) -> &'a [f64] {
        &point[self.first..self.first + self.effects()]
    }

    pub(super) fn of_mut<'a>(&self, point: &'a mut [f64]) -> &'a mut [f64] {
        &mut point[self.first..self.first + self.effects()]
    }

    /// The lower triangles of the blocks of its levels, each column by column.
    pub(super) fn block_entries(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let (first, q) = (self.first, self.width);
        let block = move |level: usize| {
            let start = first + level * q;
            (0..q).flat_map(move |j| (j..q).map(move |i| (start + i, start + j)))
        };
        (0..self.levels).flat_map(block)
    }

    /// The derivatives of prior and energy with respect to φ, with the effects held.
    pub(super) fn slopes(&self, phi: &[f64], squares: &[f64], slopes: &mut [f64]) {
        let mut moved = phi.to_vec();
        for (k, slope) in slopes.iter_mut().enumerate() {
            let [high, low] = [STEP, -STEP].map(|by| {
                moved[k] = phi[k] + by;
                self.prior(&moved) + self.energy(&moved, squares)
            });
            moved[k] = phi[k];
            *slope = (high - low) / (2.0 * STEP);
        }
    }
}

/// e^x, away from 0 and infinity.
fn bounded_exp(x: f64) -> f64 {
    x.clamp(-300.0, 300.0).exp()
}

/// log cosh x, without overflow.
fn log_cosh(x: f64) -> f64 {
    let x = x.abs();
    x + (-2.0 * x).exp().ln_1p() - std::f64::consts::LN_2
}

/// The lower triangular factor Λ of a covariance.
#[derive(Debug, Clone, PartialEq)]
pub struct Scale {
    width: usize,
    lower: Vec<f64>,
}

impl Scale {
    /// Λ v in place of v: effects of a level from standard normal numbers.
    pub fn times(&self, v: &mut [f64]) {
        let q = self.width;
        for i in (0..q).rev() {
            v[i] = (0..=i).map(|j| self.lower[i * q + j] * v[j]).sum();
        }
    }

    /// Λ⁻¹ u in place of u.
    fn solve(&self, u: &mut [f64]) {
        let q = self.width;
        for i in 0..q {
            let known: f64 = (0..i).map(|j| self.lower[i * q + j] * u[j]).sum();
            u[i] = (u[i] - known) / self.lower[i * q + i];
        }
    }

    /// Λ⁻ᵀ g in place of g.
    fn solve_transposed(&self, g: &mut [f64]) {
        let q = self.width;
        for i in (0..q).rev() {
            let known: f64 = (i + 1..q).map(|j| self.lower[j * q + i] * g[j]).sum();
            g[i] = (g[i] - known) / self.lower[i * q + i];
        }
    }

    /// log det Λ.
    fn log_determinant(&self) -> f64 {
        (0..self.width).map(|i| self.lower[i * (self.width + 1)].ln()).sum()
    }

    /// (Λ Λᵀ)⁻¹, row by row.
    pub(super) fn precision(&self) -> Vec<f64> {
        let q = self.width;
        let mut precision = vec![0.0; q * q];
        for (k, row) in precision.chunks_exact_mut(q).enumerate() {
            row[k] = 1.0;
            self.solve(row);
            self.solve_transposed(row);
        }
        precision
    }

    /// The sum of uᵀ (Λ Λᵀ)⁻¹ u over levels, by that of u uᵀ.
    fn quadratic(&self, squares: &[f64]) -> f64 {
        self.precision().iter().zip(squares).map(|(p, s)| p * s).sum()
    }
}

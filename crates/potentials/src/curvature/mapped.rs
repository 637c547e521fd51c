//! Bounds for a potential in other coordinates whose design is as it was: of Wᵀ H W for H = Q + Aᵀ
//! diag(c) A.
//!
//! Rounding. H is positive semidefinite, so |H_kl| <= m_k m_l with m the roots of its diagonal, and
//! errors of its entries, sums of n products, are at most (n + 8) ε times that. Two products with W
//! add at most 2 d ε |W|ᵀ |H| |W|. All together changes the matrix by no more than a multiple of
//! | |W|ᵀ m |² in norm, whatever the units of the coordinates are.

use super::large::lanczos;
use super::{Basis, Bound, Curvature, DENSE, diagonal_sum, proof};
use crate::coordinates::MappedRidge;
use crate::error::Error;
use crate::families::Family;
use crate::hessian::forward;
use crate::whitening::Map;

impl<F: Family> MappedRidge<'_, F> {
    /// Bounds m <= Hessian <= L over all points. Up to 1,000 columns they hold for certain; beyond,
    /// L may be wrong with a probability below 1e-12, and m is from the prior alone and may be much
    /// smaller than it need be.
    ///
    /// # Errors
    /// Numbers so large that they overflow.
    pub fn curvature(&self) -> Result<Curvature, Error> {
        let found = self.find_curvature();
        self.ridge().design().intact()?;
        found
    }

    fn find_curvature(&self) -> Result<Curvature, Error> {
        let ridge = self.ridge();
        let upper = ridge.weighted(|y| ridge.family().curvature_bounds(y).upper);
        let bounded = ridge.rows().everywhere(upper.is_some());
        let smoothness = match upper.filter(|_| bounded) {
            None => None,
            Some(upper) if self.forms_matrices() => {
                let (matrix, slack) = self.formed(&upper)?;
                let d = ridge.dimension();
                let trace = diagonal_sum(&matrix, d) * (1.0 + 2.0 * f64::EPSILON * d as f64);
                let proven = proof::largest(&matrix, d).filter(|value| *value <= trace);
                let (value, basis) =
                    proven.map_or((trace, Basis::Trace), |value| (value, Basis::Eigenvalues));
                Some(Bound { value: value + slack, basis })
            }
            Some(upper) => Some(self.lanczos(&upper)?),
        };
        Ok(Curvature { convexity: self.convexity()?, smoothness })
    }

    /// Whether d x d matrices are formed.
    fn forms_matrices(&self) -> bool {
        self.ridge().dimension() <= DENSE && !matches!(self.whitening().map(), Map::Factor(_))
    }

    /// Wᵀ (Q + Aᵀ diag(c) A) W, and a bound of its rounding error.
    fn formed(&self, c: &[f64]) -> Result<(Vec<f64>, f64), Error> {
        let (ridge, d) = (self.ridge(), self.ridge().dimension());
        let mut matrix = ridge.gram(c);
        ridge.quadratic().add_to(&mut matrix);
        let diagonal: Vec<f64> = matrix.iter().step_by(d + 1).copied().collect();
        let slack = self.rounding(&diagonal)?;
        Ok((self.whitening().map().congruence(&matrix, d), slack))
    }

    /// What rounding can change of Wᵀ H W, for H with this diagonal.
    fn rounding(&self, diagonal: &[f64]) -> Result<f64, Error> {
        let roots: Vec<f64> = diagonal.iter().map(|h| h.sqrt()).collect();
        let square = self.whitening().map().absolute_square(&roots);
        let terms = (self.ridge().all_rows() + 2 * roots.len() + 16) as f64;
        let slack = 2.0 * terms * f64::EPSILON * square;
        if slack.is_finite() {
            Ok(slack)
        } else {
            Err(Error::Overflow { what: "the matrix Aᵀ A" })
        }
    }

    fn lanczos(&self, c: &[f64]) -> Result<Bound, Error> {
        let (ridge, map) = (self.ridge(), self.whitening().map());
        let d = ridge.dimension();
        let slack = self.rounding(&ridge.diagonal(c))?;
        let apply = |x: &[f64]| {
            let [mut moved, mut force, mut out] = [vec![0.0; d], vec![0.0; d], vec![0.0; d]];
            map.add_image(x, &mut moved);
            let mut s = forward(ridge.design(), &moved);
            s.iter_mut().zip(c).for_each(|(s, c)| *s *= c);
            ridge.add_backward(&s, &mut force);
            ridge.quadratic().add_product(1.0, &moved, &mut force);
            map.add_transposed_image(&force, &mut out);
            out
        };
        let Bound { value, basis } = lanczos(d, 0.0, &apply);
        let value = value + slack;
        if value.is_finite() {
            Ok(Bound { value, basis })
        } else {
            Err(Error::Overflow { what: "the matrix Aᵀ A" })
        }
    }

    fn convexity(&self) -> Result<Bound, Error> {
        let (ridge, d) = (self.ridge(), self.ridge().dimension());
        let mut best = Bound { value: 0.0, basis: Basis::Convexity };
        if !self.forms_matrices() {
            // |W x|² >= |x|²/|W⁻¹|², and the Frobenius norm is no less than the spectral one.
            if let Some(smallest) = ridge.quadratic().smallest() {
                let value = smallest / self.whitening().back().largest_square(d);
                let value = value * (1.0 - 4.0 * f64::EPSILON * (d as f64).powi(2));
                if value > 0.0 {
                    best = Bound { value, basis: Basis::PriorPrecision };
                }
            }
            return Ok(best);
        }
        let lower = |y| Some(ridge.family().curvature_bounds(y).lower.max(0.0));
        let lower = ridge.weighted(lower).unwrap_or_default();
        let (matrix, slack) = self.formed(&lower)?;
        let value = proof::smallest(&matrix, d).unwrap_or(0.0) - slack;
        if value > 0.0 {
            best = Bound { value, basis: Basis::Eigenvalues };
        }
        Ok(best)
    }
}

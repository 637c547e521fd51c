//! Curvature: numbers m and L with m <= Hessian <= L at every point, guaranteed, and how each was
//! obtained.
//!
//! The Hessian is Q + Aᵀ diag(w u″) A, with each u″ between the bounds of its family. So L
//! is the largest eigenvalue of that matrix with the upper bounds in place of u″, and m the
//! smallest with the lower ones. Up to [`DENSE`] columns the matrix is formed and its eigenvalues
//! are proven; beyond, several bounds that need only products with A compete and the smallest is
//! taken.

mod large;
mod mapped;
mod proof;

pub(crate) use large::lanczos;

use std::fmt;

use crate::error::Error;
use crate::families::{Family, Observation};
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;

/// Up to this many columns, d x d matrices are formed and their eigenvalues taken.
pub(crate) const DENSE: usize = 1000;

/// Bounds of the Hessian over all points.
#[derive(Debug, Clone, PartialEq)]
pub struct Curvature {
    convexity: Bound,
    smoothness: Option<Bound>,
}

impl Curvature {
    /// m: the Hessian is nowhere below m. 0 if nothing better is known.
    #[must_use]
    pub fn convexity(&self) -> Bound {
        self.convexity
    }

    /// L: the Hessian is nowhere above L. `None` for families whose curvature grows without bound
    /// (Poisson): no smoothness exists, and with it no certificate, though sampling works.
    #[must_use]
    pub fn smoothness(&self) -> Option<Bound> {
        self.smoothness
    }

    /// The bounds of a Hessian that has besides this block another one, which is the identity.
    pub(crate) fn beside_ones(self) -> Self {
        let one = |bound: Bound, keeps: fn(&f64, &f64) -> bool| match keeps(&bound.value, &1.0) {
            true => bound,
            false => Bound { value: 1.0, basis: Basis::PriorPrecision },
        };
        Self {
            convexity: one(self.convexity, f64::le),
            smoothness: self.smoothness.map(|bound| one(bound, f64::ge)),
        }
    }

    /// m and L for a certificate of contraction, or the obstacle to one.
    ///
    /// # Errors
    /// The obstacle, for a caller to match on or to show.
    pub fn certifiable(&self) -> Result<[f64; 2], Obstacle> {
        let smoothness = self.smoothness.ok_or(Obstacle::NotSmooth)?;
        if self.convexity.value > 0.0 {
            Ok([self.convexity.value, smoothness.value])
        } else {
            Err(Obstacle::NotStronglyConvex)
        }
    }
}

/// A guaranteed bound of the Hessian, and how it was obtained.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The bound.
    pub value: f64,
    /// Where it comes from.
    pub basis: Basis,
}

/// How a bound of the Hessian was obtained.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Basis {
    /// Eigenvalues of the d x d matrix, widened for rounding and proven by a Cholesky
    /// factorisation.
    Eigenvalues,
    /// Eigenvalues of the n x n matrix of products of rows, proven likewise, and the largest prior
    /// precision.
    RowProducts,
    /// The smallest prior precision: the likelihood adds nothing that is negative.
    PriorPrecision,
    /// Lanczos's method from a random start, widened so that it is too small with no more than this
    /// probability.
    Lanczos {
        /// The number of steps.
        steps: usize,
        /// The probability that the bound is wrong.
        failure: f64,
    },
    /// The bound of Collatz and Wielandt for the matrix of absolute values.
    CollatzWielandt,
    /// The trace: no eigenvalue exceeds the sum of all.
    Trace,
    /// Nothing is known but that the potential is convex.
    Convexity,
}

impl Basis {
    /// Whether the bound holds for certain, and not merely with a probability near 1.
    #[must_use]
    pub fn is_certain(&self) -> bool {
        !matches!(self, Self::Lanczos { .. })
    }
}

impl fmt::Display for Basis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eigenvalues => write!(f, "eigenvalues, proven by a Cholesky factorisation"),
            Self::RowProducts => {
                write!(f, "eigenvalues of the products of rows, proven by a Cholesky factorisation")
            }
            Self::PriorPrecision => write!(f, "the smallest prior precision"),
            Self::Lanczos { steps, failure } => {
                write!(
                    f,
                    "Lanczos's method, {steps} steps from a random start, wrong with a probability below {failure:e}"
                )
            }
            Self::CollatzWielandt => {
                write!(f, "the bound of Collatz and Wielandt for absolute values")
            }
            Self::Trace => write!(f, "the trace"),
            Self::Convexity => write!(f, "convexity alone"),
        }
    }
}

/// Why no certificate of contraction exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Obstacle {
    /// L is infinite.
    #[error("the family's curvature has no upper bound, so that no step size can be certified")]
    NotSmooth,
    /// m is 0.
    #[error(
        "no lower bound of the curvature above 0 could be proven (the prior is flat along some direction, or too nearly so for rounding), so that no rate can be certified"
    )]
    NotStronglyConvex,
}

/// The kind of guarantee that [`Ridge::curvature_with`] gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Guarantee {
    /// Bounds that hold for certain. With many columns L may be several times larger than it need
    /// be.
    Certain,
    /// Where it is smaller, a bound that is wrong with a probability below 1e-12.
    AlmostCertain,
}

impl<F: Family> Ridge<'_, F> {
    /// Bounds m <= Hessian <= L over all points; beyond 1,000 columns L may be wrong with a
    /// probability below 1e-12, which its basis reports.
    ///
    /// ```
    /// use ridgewalk_potentials::families::Logistic;
    /// use ridgewalk_potentials::{Dense, Prior, Ridge};
    ///
    /// let design = Dense::new(2, 2, vec![2.0, 0.0, 0.0, 6.0])?;
    /// let model = Ridge::new(design, Logistic, &[0.0, 1.0], Prior::centred(2, 1.0)?)?;
    /// // Logistic curvature is at most 1/4: L = 1 + 36/4, m = 1 from the prior.
    /// let [m, l] = model.curvature()?.certifiable()?;
    /// assert!(m == 1.0 && (10.0..10.0 + 1e-12).contains(&l));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the entries of the design are so large that their squares overflow.
    pub fn curvature(&self) -> Result<Curvature, Error> {
        self.curvature_with(Guarantee::AlmostCertain)
    }

    /// [`Ridge::curvature`] with a choice of the guarantee.
    ///
    /// # Errors
    /// As [`Ridge::curvature`].
    pub fn curvature_with(&self, guarantee: Guarantee) -> Result<Curvature, Error> {
        let found = self.find_curvature(guarantee);
        self.design().intact()?;
        found
    }

    fn find_curvature(&self, guarantee: Guarantee) -> Result<Curvature, Error> {
        let smoothness = self.smoothness(guarantee)?;
        Ok(Curvature { convexity: self.convexity()?, smoothness })
    }

    fn smoothness(&self, guarantee: Guarantee) -> Result<Option<Bound>, Error> {
        let upper = self.weighted(|y| self.family().curvature_bounds(y).upper);
        let bounded = self.rows().everywhere(upper.is_some());
        match upper.filter(|_| bounded) {
            None => Ok(None),
            Some(upper) if self.forms_matrices() => self.dense_smoothness(&upper).map(Some),
            Some(upper) => self.large_smoothness(&upper, guarantee).map(Some),
        }
    }

    /// Whether d x d matrices are formed: not of many columns, nor of sparse ones that have
    /// coordinates without them.
    pub(crate) fn forms_matrices(&self) -> bool {
        self.dimension() <= DENSE && !self.is_sparse()
    }

    /// The largest eigenvalue of Q + Aᵀ diag(upper) A, from above.
    fn dense_smoothness(&self, upper: &[f64]) -> Result<Bound, Error> {
        let d = self.dimension();
        let (matrix, forming) = self.formed(upper)?;
        // The trace is a bound too, if the eigenvalues cannot be computed.
        let trace = diagonal_sum(&matrix, d) * (1.0 + 2.0 * f64::EPSILON * d as f64);
        let proven = proof::largest(&matrix, d).filter(|value| *value <= trace);
        let (value, basis) =
            proven.map_or((trace, Basis::Trace), |value| (value, Basis::Eigenvalues));
        Ok(Bound { value: value + forming, basis })
    }

    /// Q + Aᵀ diag(c) A, and a bound of its rounding error.
    ///
    /// Each entry is a sum of n products, in whatever order: the error is at most (n + 8) ε |A|ᵀ
    /// diag(c) |A|, entry by entry, with the rounding of c and of Q's part included. That is a
    /// positive semidefinite matrix with the trace of Aᵀ diag(c) A, so this trace bounds its norm,
    /// and with Q's trace that of all.
    fn formed(&self, c: &[f64]) -> Result<(Vec<f64>, f64), Error> {
        let d = self.dimension();
        let mut matrix = self.gram(c);
        self.quadratic().add_to(&mut matrix);
        let forming = (self.all_rows() as f64 + 8.0) * f64::EPSILON * diagonal_sum(&matrix, d);
        if forming.is_finite() {
            Ok((matrix, forming))
        } else {
            Err(Error::Overflow { what: "the matrix Aᵀ A" })
        }
    }

    /// m: from the prior alone, or with the likelihood's share where it has one.
    fn convexity(&self) -> Result<Bound, Error> {
        let d = self.dimension();
        let prior = match (self.quadratic(), self.quadratic().smallest()) {
            (Quadratic::General { matrix, .. }, _) => Bound {
                value: proof::smallest(matrix, d).unwrap_or(0.0),
                basis: Basis::Eigenvalues,
            },
            (_, smallest) => Bound { value: smallest.unwrap_or(0.0), basis: Basis::PriorPrecision },
        };
        let lower = |y: Observation| self.family().curvature_bounds(y).lower.max(0.0);
        let mut best = prior;
        let any = self.observations().iter().any(|y| lower(*y) > 0.0);
        if self.forms_matrices() && self.rows().somewhere(any) {
            let lower = self.weighted(|y| Some(lower(y))).unwrap_or_default();
            let (matrix, forming) = self.formed(&lower)?;
            let value = proof::smallest(&matrix, d).unwrap_or(0.0) - forming;
            if value > best.value {
                best = Bound { value, basis: Basis::Eigenvalues };
            }
        }
        Ok(if best.value > 0.0 { best } else { Bound { value: 0.0, basis: Basis::Convexity } })
    }
}

/// Whether a symmetric matrix is positive definite for certain.
pub(crate) fn is_definite(matrix: &[f64], d: usize) -> bool {
    proof::smallest(matrix, d).is_some_and(|smallest| smallest > 0.0)
}

fn diagonal_sum(matrix: &[f64], d: usize) -> f64 {
    matrix.iter().step_by(d + 1).sum()
}

//! A prior along one direction, on top of a sparse precision.
//!
//! A prior of the linear predictor at the means of the predictors adds c a aᵀ to the precision M = L Lᵀ,
//! with the means in a: of rank one, but dense. With v = L⁻¹ P a the sum is L (I + c v vᵀ) Lᵀ, and
//! the square root of what is in the middle is T = I + κ û ûᵀ, with û along v.

use super::factor::Symbolic;
use crate::hessian::dot;

/// T.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Tilt {
    /// û; empty where T is the identity.
    direction: Vec<f64>,
    /// 1 + κ.
    stretch: f64,
}

impl Tilt {
    /// For a factor, a and c.
    pub(crate) fn new(symbolic: &Symbolic, factor: &[f64], along: &[f64], weight: f64) -> Self {
        if !(weight > 0.0) {
            return Self::default();
        }
        let mut direction = vec![0.0; symbolic.size()];
        symbolic.forward(factor, [along], [&mut direction], &mut Vec::new());
        let square = dot(&direction, &direction);
        if !(square > 0.0) {
            return Self::default();
        }
        let length = square.sqrt();
        direction.iter_mut().for_each(|v| *v /= length);
        Self { direction, stretch: (1.0 + weight * square).sqrt() }
    }

    /// z += (by − 1) û ûᵀ z.
    fn scale(&self, z: &mut [f64], by: f64) {
        let share = (by - 1.0) * dot(&self.direction, z);
        z.iter_mut().zip(&self.direction).for_each(|(z, u)| *z += share * u);
    }

    /// T z in place of z.
    pub(crate) fn apply(&self, z: &mut [f64]) {
        if !self.direction.is_empty() {
            self.scale(z, self.stretch);
        }
    }

    /// T⁻¹ z in place of z.
    pub(crate) fn undo(&self, z: &mut [f64]) {
        if !self.direction.is_empty() {
            self.scale(z, 1.0 / self.stretch);
        }
    }

    /// û and the share of û ûᵀ that T⁻² takes from the identity; `None` where T is the identity.
    pub(crate) fn taken(&self) -> Option<(&[f64], f64)> {
        let share = 1.0 - 1.0 / (self.stretch * self.stretch);
        (!self.direction.is_empty()).then_some((&self.direction, share))
    }

    /// The largest |T z| for |z| = 1.
    pub(crate) fn largest(&self) -> f64 {
        if self.direction.is_empty() { 1.0 } else { self.stretch }
    }

    pub(crate) fn log_determinant(&self) -> f64 {
        if self.direction.is_empty() { 0.0 } else { self.stretch.ln() }
    }
}

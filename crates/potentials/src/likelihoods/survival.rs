//! Survival times, known exactly or to lie in an interval.

use super::{Block, Likelihood};
use crate::censored::{self, Known, SurvivalKind};
use crate::error::Error;
use crate::families::{Objection, Observation, interval, scale};
use crate::special::exp_within;

/// Accelerated failure times: z = k (log t − s) has one of the laws of [`SurvivalKind`], ψ = log k.
///
/// Observations are intervals of time, see [`Observation::between`]. For an event at t, u = −log
/// f(z) − log k + log t with the density f of z; otherwise u is minus the log probability of the
/// interval. A row right-censored at time 0 says nothing: u = 0.
///
/// With [`Survival::with_shape`] k is fixed, there are no parameters, and u is convex; Weibull times
/// with k = 1 are exponential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Survival {
    kind: SurvivalKind,
    /// k, if it is fixed.
    shape: Option<f64>,
}

impl Survival {
    /// Unknown shape: ψ = log k.
    #[must_use]
    pub fn new(kind: SurvivalKind) -> Self {
        Self { kind, shape: None }
    }

    /// Shape k = `shape`: no parameters.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn with_shape(kind: SurvivalKind, shape: f64) -> Result<Self, Error> {
        Ok(Self { kind, shape: Some(scale("shape", shape)?) })
    }

    /// The law of z.
    #[must_use]
    pub fn kind(&self) -> SurvivalKind {
        self.kind
    }
}

impl Likelihood for Survival {
    fn name(&self) -> &'static str {
        self.kind.name()
    }

    fn parameters(&self) -> usize {
        usize::from(self.shape.is_none())
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        interval(y)
    }

    fn unit(&self, psi: &[f64]) -> f64 {
        self.shape.map_or_else(|| exp_within(-psi[0]), f64::recip)
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let (shape, log_shape) = match self.shape {
            Some(shape) => (shape, shape.ln()),
            None => (exp_within(psi[0]), psi[0]),
        };
        let mut by_shape = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let known = Known::of(y, s, shape);
            let mut terms = censored::terms(self.kind, known);
            if let Known::Exactly(_) = known {
                // The density is that of t.
                terms.value += y.response.ln() - log_shape;
                terms.by_stretch -= 1.0;
            }
            by_shape += weight * terms.by_stretch;
            [terms.value, -shape * terms.by_shift]
        });
        if let (None, Some(by_parameter)) = (self.shape, by_parameter.first_mut()) {
            *by_parameter += by_shape;
        }
        sum
    }

    fn convex(&self) -> bool {
        self.shape.is_some()
    }
}

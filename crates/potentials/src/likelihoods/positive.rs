//! Positive responses whose standard deviation is proportional to their mean.

use super::{Block, Likelihood};
use crate::families::{Objection, Observation, positive};
use crate::special::{exp_within, log_1p_minus, scaled_gamma};

/// Gamma responses of mean μ = e^s and shape a, ψ = log a: the variance is μ²/a. With q = y/μ,
/// u = a (q − 1 − log q) + log y + log Γ(a) − a log a + a.
///
/// In this form nothing cancels for large a: q − 1 − log q is (q − 1)²/2 near 1, and the last three
/// terms are close to ½ log(2π/a).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gamma;

impl Likelihood for Gamma {
    fn name(&self) -> &'static str {
        "gamma"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        positive(y)
    }

    fn information(&self, psi: &[f64]) -> f64 {
        exp_within(psi[0])
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let shape = exp_within(psi[0]);
        let [constant, by_constant] = scaled_gamma(shape, psi[0]);
        let mut by_shape = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let misfit = shape * misfit(s, y.response);
            by_shape += weight * (misfit + by_constant);
            [misfit + y.response.ln() + constant, -shape * excess(s, y.response)]
        });
        by_parameter[0] += by_shape;
        sum
    }
}

/// Predictors below −700 are moved up by that, because e^-s would overflow before y e^-s does. The
/// sum is exact.
pub(crate) const FAR: f64 = 700.0;

/// y e^-s.
fn ratio(s: f64, y: f64) -> f64 {
    if s < -FAR { y * (-s - FAR).exp() * FAR.exp() } else { y * (-s).exp() }
}

/// q − 1 for q = y e^-s.
pub(crate) fn excess(s: f64, y: f64) -> f64 {
    ratio(s, y) - 1.0
}

/// q − 1 − log q for q = y e^-s.
///
/// Not e^δ − 1 − δ with δ = log y − s: that difference is off by the rounding of the larger of the
/// two, q by a few units in the last place only.
pub(crate) fn misfit(s: f64, y: f64) -> f64 {
    let q = ratio(s, y);
    if (q - 1.0).abs() < 0.5 {
        -log_1p_minus(q - 1.0)
    } else {
        q - 1.0 - if q.is_normal() { q.ln() } else { y.ln() - s }
    }
}

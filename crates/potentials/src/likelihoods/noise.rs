//! Real responses around the linear predictor, with noise of unknown scale.

use super::{Block, Likelihood};
use crate::families::{Objection, Observation, real};

/// Half the logarithm of 2π.
const HALF_LOG_TWO_PI: f64 = 0.918_938_533_204_672_8;

/// Normal noise, ψ = log σ: u = z²/2 + log σ + ½ log 2π with z = (s − y)/σ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Normal;

impl Likelihood for Normal {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let (log_scale, inverse) = (psi[0], (-psi[0]).exp());
        let mut by_scale = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let z = (s - y.response) * inverse;
            by_scale += weight * (1.0 - z * z);
            [0.5 * z * z + log_scale + HALF_LOG_TWO_PI, z * inverse]
        });
        by_parameter[0] += by_scale;
        sum
    }
}

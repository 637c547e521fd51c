//! Synthetic data for benchmarks, and a potential that costs next to nothing.

use ridgewalk::potentials::{Error, LineIntegral, Scratch};

/// Numbers between −scale and scale by a linear congruential generator: seeded, and fast for
/// designs of hundreds of megabytes.
#[must_use]
pub fn numbers(seed: u64, count: usize, scale: f64) -> Vec<f64> {
    let mut state = seed;
    let next = || {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        scale * (2.0 * (state >> 11) as f64 / (1_u64 << 53) as f64 - 1.0)
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Responses of a logistic regression: every third is 1.
#[must_use]
pub fn responses(rows: usize) -> Vec<f64> {
    (0..rows).map(|i| f64::from(u8::from(i % 3 == 0))).collect()
}

/// A potential whose gradients and integrals are `factor` times the position, at the cost of a
/// copy.
#[derive(Debug, Clone, Copy)]
pub struct Free {
    /// The dimension.
    pub dimension: usize,
    /// The factor; 0 for U = 0.
    pub factor: f64,
}

impl LineIntegral for Free {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self,
        _: f64,
        positions: &[f64],
        _: &[f64],
        integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.gradients(positions, integrals, scratch)
    }

    fn gradients(&self, x: &[f64], gradients: &mut [f64], _: &mut Scratch) -> Result<(), Error> {
        gradients.iter_mut().zip(x).for_each(|(g, x)| *g = self.factor * x);
        Ok(())
    }
}

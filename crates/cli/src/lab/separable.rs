//! Separable potentials with exact line integrals: the same function of every coordinate.

use ridgewalk::potentials::{Error, LineIntegral, Scratch};

/// The derivative of a function of one coordinate.
pub(super) trait Derivative {
    /// Its value.
    fn at(&self, x: f64) -> f64;

    /// Its mean between x and x + y.
    fn mean(&self, x: f64, y: f64) -> f64;
}

/// U = Σ u(θᵢ).
#[derive(Debug, Clone, Copy)]
pub(super) struct Separable<D> {
    /// u'.
    pub(super) derivative: D,
    pub(super) dimension: usize,
}

impl<D: Derivative> LineIntegral for Separable<D> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        _: &mut Scratch,
    ) -> Result<(), Error> {
        for ((x, p), integral) in positions.iter().zip(momenta).zip(integrals) {
            *integral = length * self.derivative.mean(*x, length * p);
        }
        Ok(())
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], _: &mut Scratch,
    ) -> Result<(), Error> {
        positions.iter().zip(gradients).for_each(|(x, g)| *g = self.derivative.at(*x));
        Ok(())
    }
}

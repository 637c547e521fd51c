//! Pairs of chains on N(0, I/L), driven by the paths of the pairs that are measured: a control
//! variate without gradients.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::{LineIntegral, Scratch};

use super::one_step;
use super::paths::Lists;
use crate::batch::Batch;
use crate::error::Error;
use crate::kernels::{Kernel, LinearKernel, Workspace};

/// The pairs, and what is known of them.
#[derive(Debug)]
pub(super) struct Twin {
    round: Round,
    coarse: Batch,
    fine: Batch,
    variances: [f64; 2],
}

impl Twin {
    /// Pairs that start where those of the target do; none where the long step is not stable.
    pub(super) fn new(
        long: &dyn LinearKernel, short: &dyn LinearKernel, start: &Batch,
    ) -> Result<Option<Self>, Error> {
        let variance = |scheme: &Scheme| -> Result<Option<f64>, Error> {
            Ok(scheme.linear_form(1.0)?.stationary().map(|covariance| covariance[0][0]))
        };
        let (Some(at_long), Some(at_short)) = (variance(long.scheme())?, variance(short.scheme())?)
        else {
            return Ok(None);
        };
        let round = Round { dimension: start.dimension(), smoothness: long.smoothness() };
        Ok(Some(Self {
            round,
            coarse: start.clone(),
            fine: start.clone(),
            variances: [at_long, at_short],
        }))
    }

    /// The stationary variances with long steps and with short ones, in units of 1/L.
    pub(super) fn variances(&self) -> [f64; 2] {
        self.variances
    }

    /// The states with long steps and with short ones.
    pub(super) fn pair(&self) -> [&Batch; 2] {
        [&self.coarse, &self.fine]
    }

    /// A long step, and the short ones that take the same time.
    pub(super) fn step(
        &mut self, [short, long]: [&dyn Kernel; 2], short_steps: usize, noise: &Lists,
        spare: &mut Batch, workspace: &mut Workspace,
    ) -> Result<(), Error> {
        let [first, second, whole] = noise.steps();
        for noise in [first, second].into_iter().take(short_steps) {
            one_step(short, &self.round, &mut self.fine, spare, noise, workspace)?;
        }
        one_step(long, &self.round, &mut self.coarse, spare, whole, workspace)?;
        Ok(())
    }
}

/// The potential L|z|²/2.
#[derive(Debug)]
struct Round {
    dimension: usize,
    smoothness: f64,
}

impl LineIntegral for Round {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        _: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        let whole = length * self.smoothness;
        for ((out, x), p) in integrals.iter_mut().zip(positions).zip(momenta) {
            *out = whole * (x + 0.5 * length * p);
        }
        Ok(())
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], _: &mut Scratch,
    ) -> Result<(), ridgewalk_potentials::Error> {
        gradients.iter_mut().zip(positions).for_each(|(g, x)| *g = self.smoothness * x);
        Ok(())
    }
}

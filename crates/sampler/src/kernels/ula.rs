//! The unadjusted Langevin algorithm.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{Kernel, Workspace, check_shapes, components};
use crate::batch::Batch;
use crate::error::{Error, positive};
use crate::noise::Noise;

/// θ' = θ − (η/L) ∇U(θ) + √(2η/L) noise: an Euler step of the overdamped dynamics, with η in units
/// of 1/L.
#[derive(Debug, Clone)]
pub struct Ula {
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Ula {
    /// The kernel with step η/L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite.
    pub fn new(eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::ula(eta)?;
        Ok(Self { eta, smoothness: positive("smoothness", smoothness)?, scheme })
    }
}

impl Kernel for Ula {
    fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn normals(&self) -> usize {
        1
    }

    fn gradients_per_step(&self, _: &dyn LineIntegral) -> u64 {
        1
    }

    fn step(
        &self,
        potential: &dyn LineIntegral,
        from: &Batch,
        noise: Noise<'_>,
        to: &mut Batch,
        workspace: &mut Workspace,
    ) -> Result<u64, Error> {
        check_shapes(self, potential, from, noise, to)?;
        let room = workspace.room(from);
        potential.gradients(&from.theta, room.first, room.scratch)?;

        let step = self.eta / self.smoothness;
        let scale = (2.0 * step).sqrt();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.p.copy_from_slice(&from.p);
        fields.r.copy_from_slice(&from.r);
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [normals] = components::<1>(noise, chain, d);
            let (theta, gradient) = (&from.theta[range.clone()], &room.first[range.clone()]);
            let new_theta = &mut fields.theta[range];
            for k in 0..d {
                new_theta[k] = theta[k] - step * gradient[k] + scale * normals[k];
            }
        }
        Ok(1)
    }
}

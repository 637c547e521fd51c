//! The symmetric splitting of the kinetic dynamics.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{Kernel, Workspace, check_shapes, components, start_gradient};
use crate::batch::Batch;
use crate::error::{Error, positive};
use crate::noise::Noise;

/// Half kick, half drift, exact friction and noise, half drift, half kick (Leimkuhler and Matthews,
/// Applied Mathematics Research eXpress 2013), for dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB.
/// One new gradient a step.
#[derive(Debug, Clone)]
pub struct Baoab {
    decay: f64,
    noise: f64,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Baoab {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::baoab(xi, eta)?;
        let smoothness = positive("smoothness", smoothness)?;
        let noise = (-(-2.0 * xi * eta).exp_m1() / smoothness).sqrt();
        Ok(Self { decay: (-xi * eta).exp(), noise, eta, smoothness, scheme })
    }
}

impl Kernel for Baoab {
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
        let (gradient, at_start) = start_gradient(potential, from, room.first, room.scratch)?;

        let half = 0.5 * self.eta;
        let half_kick = half / self.smoothness;
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [normals] = components::<1>(noise, chain, d);
            let (theta, p) = (&from.theta[range.clone()], &from.p[range.clone()]);
            let gradient = &gradient[range.clone()];
            let new_theta = &mut fields.theta[range.clone()];
            let new_p = &mut fields.p[range];
            for k in 0..d {
                let kicked = p[k] - half_kick * gradient[k];
                new_p[k] = self.decay * kicked + self.noise * normals[k];
                new_theta[k] = theta[k] + half * (kicked + new_p[k]);
            }
        }
        Ok(at_start + to.kick(half_kick, potential, room.scratch)?)
    }
}

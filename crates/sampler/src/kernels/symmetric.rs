//! The symmetric splitting of the third-order dynamics.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{Kernel, Workspace, check_shapes, components, start_gradient};
use crate::batch::Batch;
use crate::error::Error;
use crate::noise::Noise;

/// Half kick, half drift, exact Ornstein-Uhlenbeck step of (p, r) together, half drift, half kick.
/// The gradient that ends a step begins the next: one new gradient a step.
#[derive(Debug, Clone)]
pub struct Symmetric {
    middle: OrnsteinUhlenbeck,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Symmetric {
    /// The kernel with these γ, ξ and η at smoothness L.
    ///
    /// # Errors
    /// For a bad L, and for γη or ξη above 1e6.
    pub fn new(parameters: Parameters, smoothness: f64) -> Result<Self, Error> {
        let eta = parameters.eta();
        let scheme = Scheme::symmetric(parameters.gamma(), parameters.xi(), eta)?;
        Ok(Self {
            middle: OrnsteinUhlenbeck::new(parameters, smoothness)?,
            eta,
            smoothness,
            scheme,
        })
    }
}

impl Kernel for Symmetric {
    fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn normals(&self) -> usize {
        2
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
        let [[pp, pr], [rp, rr]] = self.middle.flow();
        let [l11, l21, l22] = self.middle.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [n1, n2] = components::<2>(noise, chain, d);
            let (theta, p, r) =
                (&from.theta[range.clone()], &from.p[range.clone()], &from.r[range.clone()]);
            let gradient = &gradient[range.clone()];
            let new_theta = &mut fields.theta[range.clone()];
            let new_p = &mut fields.p[range.clone()];
            let new_r = &mut fields.r[range];
            for k in 0..d {
                let kicked = p[k] - half_kick * gradient[k];
                new_p[k] = pp * kicked + pr * r[k] + l11 * n1[k];
                new_r[k] = rp * kicked + rr * r[k] + l21 * n1[k] + l22 * n2[k];
                new_theta[k] = theta[k] + half * (kicked + new_p[k]);
            }
        }
        Ok(at_start + to.kick(half_kick, potential, room.scratch)?)
    }
}

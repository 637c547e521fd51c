//! Kinetic Langevin with one kick in the middle of the step.

use ridgewalk_coefficients::FreeFlow;
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{Kernel, Workspace, check_shapes, components};
use crate::batch::Batch;
use crate::error::Error;
use crate::noise::Noise;

/// Free flow over η/2, kick over η, free flow over η/2 (Sanz-Serna and Zygalakis, JMLR 2021), for
/// dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB.
#[derive(Debug, Clone)]
pub struct Ubu {
    half: FreeFlow,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Ubu {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::ubu(xi, eta)?;
        Ok(Self { half: FreeFlow::new(xi, 0.5 * eta, smoothness)?, eta, smoothness, scheme })
    }
}

impl Kernel for Ubu {
    fn scheme(&self) -> &Scheme {
        &self.scheme
    }

    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn normals(&self) -> usize {
        4
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
        let (reach, decay) = (self.half.reach(), self.half.decay());
        let [l11, l21, l22] = self.half.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [n1, n2, _, _] = components::<4>(noise, chain, d);
            let (theta, p) = (&from.theta[range.clone()], &from.p[range.clone()]);
            let new_theta = &mut fields.theta[range.clone()];
            let new_p = &mut fields.p[range];
            for k in 0..d {
                new_theta[k] = theta[k] + reach * p[k] + l11 * n1[k];
                new_p[k] = decay * p[k] + l21 * n1[k] + l22 * n2[k];
            }
        }
        potential.gradients(fields.theta, room.first, room.scratch)?;
        let kick = self.eta / self.smoothness;
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [_, _, n3, n4] = components::<4>(noise, chain, d);
            let gradient = &room.first[range.clone()];
            let theta = &mut fields.theta[range.clone()];
            let p = &mut fields.p[range];
            for k in 0..d {
                let kicked = p[k] - kick * gradient[k];
                theta[k] += reach * kicked + l11 * n3[k];
                p[k] = decay * kicked + l21 * n3[k] + l22 * n4[k];
            }
        }
        Ok(1)
    }
}

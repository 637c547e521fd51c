//! Kinetic Langevin with the gradient of the start of the step.

use ridgewalk_coefficients::FreeFlow;
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{Kernel, Workspace, check_shapes, components};
use crate::batch::Batch;
use crate::error::Error;
use crate::noise::Noise;

/// dθ = p dt, dp = −∇U(θ of the start)/L dt − ξ p dt + √(2ξ/L) dB, solved exactly (Cheng,
/// Chatterji, Bartlett and Jordan, COLT 2018, who take ξ = 2 and write u for 1/L).
#[derive(Debug, Clone)]
pub struct Klmc {
    flow: FreeFlow,
    smoothness: f64,
    scheme: Scheme,
}

impl Klmc {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::klmc(xi, eta)?;
        Ok(Self { flow: FreeFlow::new(xi, eta, smoothness)?, smoothness, scheme })
    }
}

impl Kernel for Klmc {
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
        potential.gradients(&from.theta, room.first, room.scratch)?;

        let per_l = 1.0 / self.smoothness;
        let (reach, decay, pushed) = (self.flow.reach(), self.flow.decay(), self.flow.pushed());
        let [l11, l21, l22] = self.flow.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        for chain in 0..from.chains() {
            let range = from.range(chain);
            let [n1, n2] = components::<2>(noise, chain, d);
            let (theta, p) = (&from.theta[range.clone()], &from.p[range.clone()]);
            let gradient = &room.first[range.clone()];
            let new_theta = &mut fields.theta[range.clone()];
            let new_p = &mut fields.p[range];
            for k in 0..d {
                let push = per_l * gradient[k];
                new_theta[k] = theta[k] + reach * p[k] - pushed * push + l11 * n1[k];
                new_p[k] = decay * p[k] - reach * push + l21 * n1[k] + l22 * n2[k];
            }
        }
        Ok(1)
    }
}

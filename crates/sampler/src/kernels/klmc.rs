//! Kinetic Langevin with the gradient of the start of the step.

use ridgewalk_coefficients::FreeFlow;
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

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

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        potential.gradients(&from.theta, room.first, room.scratch)?;

        let per_l = 1.0 / self.smoothness;
        let (reach, decay, pushed) = (self.flow.reach(), self.flow.decay(), self.flow.pushed());
        let [l11, l21, l22] = self.flow.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [n1, n2]|,
            read { theta: from.theta, p: from.p, gradient: room.first },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let push = per_l * gradient[k];
                    new_theta[k] = theta[k] + reach * p[k] - pushed * push + l11 * n1[k];
                    new_p[k] = decay * p[k] - reach * push + l21 * n1[k] + l22 * n2[k];
                }
            }
        );
        Ok(1)
    }
}

built_in!(Klmc {
    normals: 2,
    gradients: |_| 1,
    paths: |short| Ok(Paths::in_step(Coupling::klmc(friction(short), short.eta())?)),
});

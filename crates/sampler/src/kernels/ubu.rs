//! Kinetic Langevin with one kick in the middle of the step.

use ridgewalk_coefficients::FreeFlow;
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

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

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (reach, decay) = (self.half.reach(), self.half.decay());
        let [l11, l21, l22] = self.half.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [n1, n2, _, _]|,
            read { theta: from.theta, p: from.p },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    new_theta[k] = theta[k] + reach * p[k] + l11 * n1[k];
                    new_p[k] = decay * p[k] + l21 * n1[k] + l22 * n2[k];
                }
            }
        );
        potential.gradients(fields.theta, room.first, room.scratch)?;
        let kick = self.eta / self.smoothness;
        each_chain!(from, noise, |_chain, [_, _, n3, n4]|,
            read { gradient: room.first },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let kicked = new_p[k] - kick * gradient[k];
                    new_theta[k] += reach * kicked + l11 * n3[k];
                    new_p[k] = decay * kicked + l21 * n3[k] + l22 * n4[k];
                }
            }
        );
        Ok(1)
    }
}

built_in!(Ubu {
    normals: 4,
    gradients: |_| 1,
    paths: |short| Ok(Paths::in_step(Coupling::ubu(friction(short), short.eta())?)),
});

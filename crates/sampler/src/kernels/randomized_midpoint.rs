//! Kinetic Langevin with the gradient at a random time of the step.

use ridgewalk_coefficients::FreeFlow;
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::error::Error;

/// Shen and Lee's randomized midpoint method (NeurIPS 2019, Algorithm 1, who take ξ = 2 and write u
/// for 1/L): the gradient at θ(αη), α uniform and drawn for each chain, stands for that of the
/// whole step; θ(αη) itself is reached with the gradient of the start. Two gradients per step.
///
/// The noises until the midpoint and until the end belong to one Brownian path: that of the end is
/// the flow of the first part's plus an independent one.
#[derive(Debug, Clone)]
pub struct RandomizedMidpoint {
    full: FreeFlow,
    xi: f64,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl RandomizedMidpoint {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::randomized_midpoint(xi, eta)?;
        Ok(Self { full: FreeFlow::new(xi, eta, smoothness)?, xi, eta, smoothness, scheme })
    }

    /// The flows until the midpoint and from there to the end.
    fn parts(&self, alpha: f64) -> Result<[FreeFlow; 2], Error> {
        let flow = |share: f64| FreeFlow::new(self.xi, share * self.eta, self.smoothness);
        Ok([flow(alpha)?, flow(1.0 - alpha)?])
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let per_l = 1.0 / self.smoothness;
        let d = from.dimension();
        potential.gradients(&from.theta, room.first, room.scratch)?;
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |chain, [n1, _, _, _]|,
            read { theta: from.theta, p: from.p, gradient: room.first },
            write { midpoint: fields.theta },
            {
                let [before, _] = self.parts(noise.uniforms[chain])?;
                let (reach, pushed, [l11, _, _]) =
                    (before.reach(), before.pushed() * per_l, before.cholesky());
                for k in 0..d {
                    midpoint[k] = theta[k] + reach * p[k] - pushed * gradient[k] + l11 * n1[k];
                }
            }
        );
        potential.gradients(fields.theta, room.second, room.scratch)?;
        let (reach, decay) = (self.full.reach(), self.full.decay());
        let kick = self.eta * per_l;
        each_chain!(from, noise, |chain, [n1, n2, n3, n4]|,
            read { theta: from.theta, p: from.p, gradient: room.second },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                let [before, after] = self.parts(noise.uniforms[chain])?;
                let [b11, b21, b22] = before.cholesky();
                let [a11, a21, a22] = after.cholesky();
                for k in 0..d {
                    // What reaches p at the midpoint apart from p itself, and from there the end.
                    let arriving = b21 * n1[k] + b22 * n2[k] - kick * gradient[k];
                    new_theta[k] =
                        theta[k] + reach * p[k] + b11 * n1[k] + after.reach() * arriving + a11 * n3[k];
                    new_p[k] = decay * p[k] + after.decay() * arriving + a21 * n3[k] + a22 * n4[k];
                }
            }
        );
        Ok(2)
    }
}

built_in!(RandomizedMidpoint {
    normals: 4,
    uniforms: 1,
    gradients: |_| 2,
    paths: |short| Ok(Paths::cut(friction(short), short.eta())),
});

//! The symmetric splitting of the kinetic dynamics.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction, start_gradient};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::{Error, positive};

/// Half kick, half drift, exact friction and noise, half drift, half kick (Leimkuhler and Matthews,
/// Applied Mathematics Research eXpress 2013), for dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB.
/// One new gradient per step.
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

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (gradients, at_start) = start_gradient(potential, from, room.first, room.scratch)?;

        let half = 0.5 * self.eta;
        let half_kick = half / self.smoothness;
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [normals]|,
            read { theta: from.theta, p: from.p, gradient: gradients },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let kicked = p[k] - half_kick * gradient[k];
                    new_p[k] = self.decay * kicked + self.noise * normals[k];
                    new_theta[k] = theta[k] + half * (kicked + new_p[k]);
                }
            }
        );
        Ok(at_start + to.kick(half_kick, potential, room.scratch)?)
    }
}

built_in!(Baoab {
    normals: 1,
    gradients: |_| 1,
    paths: |short| Ok(Paths::in_step(Coupling::baoab(friction(short), short.eta())?)),
});

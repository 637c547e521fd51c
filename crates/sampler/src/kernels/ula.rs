//! The unadjusted Langevin algorithm.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::{Error, positive};

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

    pub(super) const BUILT_IN: BuiltIn =
        BuiltIn::new(|scheme, smoothness| Ok(Box::new(Self::new(scheme.eta(), smoothness)?)));

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        potential.gradients(&from.theta, room.first, room.scratch)?;

        let step = self.eta / self.smoothness;
        let scale = (2.0 * step).sqrt();
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.p.copy_from_slice(&from.p);
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [normals]|,
            read { theta: from.theta, gradient: room.first },
            write { new_theta: fields.theta },
            {
                for k in 0..d {
                    new_theta[k] = theta[k] - step * gradient[k] + scale * normals[k];
                }
            }
        );
        Ok(1)
    }
}

built_in!(Ula { normals: 1, gradients: |_| 1, paths: |_| Ok(Paths::in_step(Coupling::ula())) });

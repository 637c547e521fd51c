//! The symmetric splitting of the third-order dynamics.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, parameters, start_gradient};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

/// Half kick, half drift, exact Ornstein-Uhlenbeck step of (p, r) together, half drift, half kick.
/// The gradient that ends a step begins the next: one new gradient per step.
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

    /// Near the end of its stable steps the bias grows far faster than η², as chains meet curvature
    /// at which steps are no longer stable.
    pub(super) const BUILT_IN: BuiltIn = BuiltIn {
        first_step: 1.86,
        longest_step: 1.91,
        bias_order: 5.0,
        ..BuiltIn::new(|scheme, smoothness| {
            Ok(Box::new(Self::new(parameters(scheme)?, smoothness)?))
        })
    };

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (gradients, at_start) = start_gradient(potential, from, room.first, room.scratch)?;

        let half = 0.5 * self.eta;
        let half_kick = half / self.smoothness;
        let [[pp, pr], [rp, rr]] = self.middle.flow();
        let [l11, l21, l22] = self.middle.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        each_chain!(from, noise, |_chain, [n1, n2]|,
            read { theta: from.theta, p: from.p, r: from.r, gradient: gradients },
            write { new_theta: fields.theta, new_p: fields.p, new_r: fields.r },
            {
                for k in 0..d {
                    let kicked = p[k] - half_kick * gradient[k];
                    new_p[k] = pp * kicked + pr * r[k] + l11 * n1[k];
                    new_r[k] = rp * kicked + rr * r[k] + l21 * n1[k] + l22 * n2[k];
                    new_theta[k] = theta[k] + half * (kicked + new_p[k]);
                }
            }
        );
        Ok(at_start + to.kick(half_kick, potential, room.scratch)?)
    }
}

built_in!(Symmetric {
    normals: 2,
    gradients: |_| 1,
    paths: |short| Ok(Paths::in_step(Coupling::symmetric(parameters(short)?)?)),
});

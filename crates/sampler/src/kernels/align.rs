//! Kinetic Langevin with the increment and the area of the path, and the gradient interpolated.

use ridgewalk_coefficients::{FreeFlow, PolynomialPath};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction, start_gradient};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

/// For dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB: the noise of a path with the right increment
/// and area, θ with the gradient of the start, and p with the line between the gradients at both
/// ends ("adaptive Langevin via interpolated gradients and noise", known from the library diffrax;
/// a relative of the splitting of Foster, Lyons and Oberhauser, 2021). One new gradient per step.
#[derive(Debug, Clone)]
pub struct Align {
    full: FreeFlow,
    path: PolynomialPath,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Align {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::align(xi, eta)?;
        let full = FreeFlow::new(xi, eta, smoothness)?;
        let path = PolynomialPath::new(xi, eta, smoothness)?;
        Ok(Self { full, path, eta, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (gradients, at_start) = start_gradient(potential, from, room.first, room.scratch)?;
        let per_l = 1.0 / self.smoothness;
        let (reach, decay, pushed) = (self.full.reach(), self.full.decay(), self.full.pushed());
        // The effect on p of the gradient at the end, which grows from 0 over the step.
        let at_end = pushed / self.eta;
        let ([t0, t1, _], [p0, p1, _]) = (self.path.theta_noise(), self.path.p_noise());
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [n0, n1]|,
            read { theta: from.theta, p: from.p, gradient: gradients },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let push = per_l * gradient[k];
                    new_theta[k] =
                        theta[k] + reach * p[k] - pushed * push + t0 * n0[k] + t1 * n1[k];
                    new_p[k] =
                        decay * p[k] - (reach - at_end) * push + p0 * n0[k] + p1 * n1[k];
                }
            }
        );
        Ok(at_start + to.kick(per_l * at_end, potential, room.scratch)?)
    }
}

built_in!(Align {
    normals: 2,
    gradients: |_| 1,
    paths: |_| Ok(Paths::in_step(Coupling::polynomial(2))),
});

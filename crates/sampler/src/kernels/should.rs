//! Kinetic Langevin along a polynomial path, with Simpson's rule for the gradient.

use ridgewalk_coefficients::{FreeFlow, PolynomialPath};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction, start_gradient};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

/// For dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB: the noise along a path of degree 3 with the
/// right increment and areas, and the gradient by Simpson's rule at the start, a predicted middle
/// and the end (Foster, Lyons and Oberhauser, *The shifted ODE method for underdamped Langevin
/// MCMC*, 2021). Two new gradients per step.
#[derive(Debug, Clone)]
pub struct Should {
    half: FreeFlow,
    full: FreeFlow,
    path: PolynomialPath,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Should {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::should(xi, eta)?;
        let [half, full] = [0.5, 1.0].map(|share| FreeFlow::new(xi, share * eta, smoothness));
        let path = PolynomialPath::new(xi, eta, smoothness)?;
        Ok(Self { half: half?, full: full?, path, eta, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (gradients, at_start) = start_gradient(potential, from, room.first, room.scratch)?;
        let (half, full) = (&self.half, &self.full);
        let [[slope0, _, slope2], [_, before1, before2], _] = self.path.slope_and_jumps();
        let (per_l, kick) = (1.0 / self.smoothness, self.eta / self.smoothness);
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [n0, n1, n2]|,
            read { theta: from.theta, p: from.p, gradient: gradients },
            write { new_theta: fields.theta },
            {
                for k in 0..d {
                    let slope = (slope0 * n0[k] + slope2 * n2[k]) / self.eta;
                    let jumped = p[k] + before1 * n1[k] + before2 * n2[k];
                    new_theta[k] = theta[k]
                        + half.reach() * jumped
                        + half.pushed() * (slope - per_l * gradient[k]);
                }
            }
        );
        potential.gradients(fields.theta, room.second, room.scratch)?;
        let ([t0, t1, t2], [p0, p1, p2]) = (self.path.theta_noise(), self.path.p_noise());
        each_chain!(from, noise, |_chain, [n0, n1, n2]|,
            read { theta: from.theta, p: from.p, gradient: gradients, middle: room.second },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let force = (gradient[k] + 2.0 * middle[k]) * per_l / 3.0;
                    new_theta[k] = theta[k] + full.reach() * p[k] - full.pushed() * force
                        + t0 * n0[k]
                        + t1 * n1[k]
                        + t2 * n2[k];
                    let kicks =
                        full.decay() / 6.0 * gradient[k] + half.decay() * 2.0 / 3.0 * middle[k];
                    new_p[k] = full.decay() * p[k] - kick * kicks
                        + p0 * n0[k]
                        + p1 * n1[k]
                        + p2 * n2[k];
                }
            }
        );
        Ok(at_start + 1 + to.kick(kick / 6.0, potential, room.scratch)?)
    }
}

built_in!(Should {
    normals: 3,
    gradients: |_| 2,
    paths: |_| Ok(Paths::in_step(Coupling::polynomial(3))),
});

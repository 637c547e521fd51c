//! The third-order dynamics with the gradient's average over a predicted segment, for whitened
//! potentials.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, parameters};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::error::Error;

/// Exact Ornstein-Uhlenbeck step of (p, r) together, then an average-vector-field step of (θ, p):
///
/// ```text
/// q  = (p − (η/2) θ)/(1 + η²/4)
/// G  = (1/L) ∫₀^η ∇U(θ + t q) dt
/// θ' = θ + η p − (η/2) G
/// p' = p − G
/// ```
///
/// An average-vector-field step would need the segment that it ends up on, from an equation with ∇U
/// in it. Here q is the velocity that the implicit midpoint rule has for U = L|θ|²/2. So this
/// kernel is for coordinates whose origin is near the mean and in which the curvature is about L in
/// every direction (whitened ones): on a Gaussian where it is L the step is the midpoint rule
/// itself, which keeps the law at every step size; at curvature l L variances are off by the factor
/// 1 + (1 − l) η²/4. L need not bound the curvature from above: the middle of its range gives the
/// least bias, and a step is stable for (l − 1) η²/4 < 1.
#[derive(Debug, Clone)]
pub struct Averaged {
    first: OrnsteinUhlenbeck,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Averaged {
    /// The kernel with these γ, ξ and η at curvature L.
    ///
    /// # Errors
    /// For a bad L, and for γη or ξη above 1e6.
    pub fn new(parameters: Parameters, smoothness: f64) -> Result<Self, Error> {
        let eta = parameters.eta();
        let scheme = Scheme::averaged(parameters.gamma(), parameters.xi(), eta)?;
        Ok(Self { first: OrnsteinUhlenbeck::new(parameters, smoothness)?, eta, smoothness, scheme })
    }

    /// Stable at any step where the curvature is as predicted.
    pub(super) const BUILT_IN: BuiltIn = BuiltIn {
        first_step: 0.6,
        longest_step: 3.0,
        ..BuiltIn::new(|scheme, smoothness| {
            Ok(Box::new(Self::new(parameters(scheme)?, smoothness)?))
        })
    };

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (velocities, integrals) = (room.first, room.second);

        let half = 0.5 * self.eta;
        let alpha = 1.0 / (1.0 + half * half);
        let [[pp, pr], [rp, rr]] = self.first.flow();
        let [l11, l21, l22] = self.first.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        each_chain!(from, noise, |_chain, [n1, n2]|,
            read { theta: from.theta, p: from.p, r: from.r },
            write { velocity: velocities, new_p: fields.p, new_r: fields.r },
            {
                for k in 0..d {
                    new_p[k] = pp * p[k] + pr * r[k] + l11 * n1[k];
                    new_r[k] = rp * p[k] + rr * r[k] + l21 * n1[k] + l22 * n2[k];
                    velocity[k] = alpha * (new_p[k] - half * theta[k]);
                }
            }
        );
        potential.integrate(self.eta, &from.theta, velocities, integrals, room.scratch)?;

        let per_l = 1.0 / self.smoothness;
        let moved = fields.theta.iter_mut().zip(fields.p).zip(from.theta.iter().zip(&*integrals));
        for ((new_theta, new_p), (theta, integral)) in moved {
            let kick = per_l * integral;
            *new_theta = theta + self.eta * *new_p - half * kick;
            *new_p -= kick;
        }
        Ok(potential.gradients_per_integral())
    }
}

built_in!(Averaged {
    normals: 2,
    gradients: |potential| potential.gradients_per_integral(),
    paths: |short| Paths::ahead(parameters(short)?),
});

//! Kinetic Langevin along a straight path between two jumps, with Gauss's rule for the gradient.

use ridgewalk_coefficients::{FreeFlow, PolynomialPath};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, friction};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

/// The two nodes of Gauss's rule on [0, 1] are this far from the middle.
const OFFSET: f64 = 0.288_675_134_594_812_9;

/// For dθ = p dt, dp = −∇U/L dt − ξ p dt + √(2ξ/L) dB: the path of a step is replaced by a jump, a
/// straight line and a jump with the same increment and areas, and the gradient is taken at the two
/// nodes of Gauss's rule (Scott, O'Kane, Jelinčič and Foster, *Underdamped Langevin MCMC with third
/// order convergence*, 2025). Two gradients per step.
#[derive(Debug, Clone)]
pub struct Quicsort {
    /// Free flows to the early node, to the late one, to the end, and over a third of the step.
    flows: [FreeFlow; 4],
    /// Factors of the normals: in the slope, in the jump before it, and in the jump after it.
    path: [[f64; 3]; 3],
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Quicsort {
    /// The kernel with friction ξ and step η at smoothness L.
    ///
    /// # Errors
    /// For a parameter that is not positive and finite, and for ξη above 700.
    pub fn new(xi: f64, eta: f64, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::quicsort(xi, eta)?;
        let flow = |share: f64| FreeFlow::new(xi, share * eta, smoothness);
        let flows = [flow(0.5 - OFFSET)?, flow(0.5 + OFFSET)?, flow(1.0)?, flow(1.0 / 3.0)?];
        let path = PolynomialPath::new(xi, eta, smoothness)?.slope_and_jumps();
        Ok(Self { flows, path, eta, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(friction(scheme), scheme.eta(), smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let [early, late, full, third] = &self.flows;
        let [[slope0, _, slope2], [_, before1, before2], [_, after1, after2]] = self.path;
        let kick = self.eta / self.smoothness;
        let per_eta = 1.0 / self.eta;
        let d = from.dimension();
        let fields = to.fields_mut();
        fields.r.copy_from_slice(&from.r);
        each_chain!(from, noise, |_chain, [n0, n1, n2]|,
            read { theta: from.theta, p: from.p },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let slope = per_eta * (slope0 * n0[k] + slope2 * n2[k]);
                    new_p[k] = p[k] + before1 * n1[k] + before2 * n2[k];
                    new_theta[k] = theta[k] + early.reach() * new_p[k] + early.pushed() * slope;
                }
            }
        );
        potential.gradients(fields.theta, room.first, room.scratch)?;
        each_chain!(from, noise, |_chain, [n0, _, n2]|,
            read { theta: from.theta, first: room.first },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let slope = per_eta * (slope0 * n0[k] + slope2 * n2[k]);
                    let moved = third.reach() * kick * first[k];
                    new_theta[k] =
                        theta[k] + late.reach() * new_p[k] + late.pushed() * slope - moved;
                }
            }
        );
        potential.gradients(fields.theta, room.second, room.scratch)?;
        each_chain!(from, noise, |_chain, [n0, n1, n2]|,
            read { theta: from.theta, first: room.first, second: room.second },
            write { new_theta: fields.theta, new_p: fields.p },
            {
                for k in 0..d {
                    let slope = per_eta * (slope0 * n0[k] + slope2 * n2[k]);
                    let [first, second] = [first[k], second[k]].map(|g| 0.5 * kick * g);
                    new_theta[k] = theta[k] + full.reach() * new_p[k] + full.pushed() * slope
                        - late.reach() * first
                        - early.reach() * second;
                    new_p[k] = full.decay() * new_p[k] + full.reach() * slope
                        - late.decay() * first
                        - early.decay() * second
                        + after1 * n1[k]
                        + after2 * n2[k];
                }
            }
        );
        Ok(2)
    }
}

built_in!(Quicsort {
    normals: 3,
    gradients: |_| 2,
    paths: |_| Ok(Paths::in_step(Coupling::polynomial(3))),
});

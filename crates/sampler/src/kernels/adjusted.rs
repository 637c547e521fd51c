//! Trajectories of the third-order dynamics that are accepted or rejected as a whole: no
//! discretisation bias.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::laws::{Drift, Scheme, Trajectory};
use ridgewalk_potentials::{Error as Potential, LineIntegral};

use super::{BuiltIn, Kernel, LinearKernel, Step, parameters};
use crate::acceptance::Proposal;
use crate::batch::Lists;
use crate::error::Error;
use crate::noise::Noise;

/// Metropolis-adjusted trajectories: (p, r) drawn anew, then K times half kick, drift, half kick,
/// with an exact Ornstein-Uhlenbeck step of (p, r) together between two of them; then all of it is
/// accepted with probability min(1, e^−Δ), or θ stays. Δ is the change of U + (L/2)|p|² over the
/// kicks and drifts alone: the steps of (p, r) leave the target's law as it is and are not charged.
/// The third-order form of Metropolis-adjusted Langevin trajectories (Riou-Durand and Vogrinc
/// 2022); section 11 of `docs/theory.md` shows that it leaves exp(−U) invariant, whatever the
/// parameters.
///
/// The half steps of (p, r) that a symmetric splitting would begin and end with are left out: the
/// first would act on a fresh draw from the law that it keeps, the last on numbers that are drawn
/// anew. One step of this kernel is a trajectory of K gradients, which the potential must give with
/// its values.
///
/// A trajectory with an energy error above [`Proposal::DIVERGENT`], or that leaves the finite
/// numbers or the support of the density, is rejected and counted as a divergence. Near a hard
/// boundary of the support divergences are therefore normal, and no sign of too long a step.
#[derive(Debug, Clone)]
pub struct Adjusted {
    between: OrnsteinUhlenbeck,
    trajectory: Trajectory,
    /// What θ and p become in a drift, row by row.
    drift: [[f64; 2]; 2],
    /// What of a kick is not left to the kicks: 1 for drifts that rotate.
    within: f64,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

impl Adjusted {
    /// The kernel with these γ, ξ and η at smoothness L.
    ///
    /// # Errors
    /// For a bad L, γη or ξη above 1e6, and a number of steps that is not between 1 and 1024.
    pub fn new(
        parameters: Parameters, trajectory: Trajectory, smoothness: f64,
    ) -> Result<Self, Error> {
        let eta = parameters.eta();
        let scheme = Scheme::adjusted(parameters.gamma(), parameters.xi(), eta, trajectory)?;
        let (drift, within) = match trajectory.drift {
            Drift::Straight => ([[1.0, eta], [0.0, 1.0]], 0.0),
            Drift::Rotating => ([[eta.cos(), eta.sin()], [-eta.sin(), eta.cos()]], 1.0),
        };
        let between = OrnsteinUhlenbeck::new(parameters, smoothness)?;
        Ok(Self { between, trajectory, drift, within, eta, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        let straight = Trajectory { steps: 1, drift: Drift::Straight };
        let trajectory = scheme.trajectory().unwrap_or(straight);
        Ok(Box::new(Self::new(parameters(scheme)?, trajectory, smoothness)?))
    });

    /// For each chain: (p, r) are drawn anew or make their exact step, then half a kick and a
    /// drift. (L/2)|p|² before the kick is taken off its energy.
    fn first_halves(
        &self, lists: &mut Lists<'_>, noise: Noise<'_>, step: usize, energies: &mut [f64],
    ) {
        let root = self.smoothness.sqrt().recip();
        let [[pp, pr], [rp, rr]] = if step == 0 { [[0.0; 2]; 2] } else { self.between.flow() };
        let [l11, l21, l22] = if step == 0 { [root, 0.0, root] } else { self.between.cholesky() };
        let (half, per_l) = (0.5 * self.eta, 1.0 / self.smoothness);
        let [[to_theta, reach], [back, to_p]] = self.drift;
        let (d, steps) = (lists.dimension, self.trajectory.steps as usize);
        for (chain, energy) in energies.iter_mut().enumerate() {
            let normals = &noise.normals[(chain * steps + step) * 2 * d..][..2 * d];
            let (n1, n2) = normals.split_at(d);
            let range = chain * d..(chain + 1) * d;
            let gradient = &lists.gradient[range.clone()];
            let (theta, p) = (&mut lists.theta[range.clone()], &mut lists.p[range.clone()]);
            let r = &mut lists.r[range];
            let mut squares = 0.0;
            for k in 0..d {
                let new = pp * p[k] + pr * r[k] + l11 * n1[k];
                r[k] = rp * p[k] + rr * r[k] + l21 * n1[k] + l22 * n2[k];
                squares += new * new;
                let kicked = new - half * (per_l * gradient[k] - self.within * theta[k]);
                p[k] = back * theta[k] + to_p * kicked;
                theta[k] = to_theta * theta[k] + reach * kicked;
            }
            *energy -= 0.5 * self.smoothness * squares;
        }
    }

    /// For each chain the other half of the kick. (L/2)|p|² after it is added to its energy.
    fn second_halves(&self, lists: &mut Lists<'_>, energies: &mut [f64]) {
        let (half, per_l) = (0.5 * self.eta, 1.0 / self.smoothness);
        let d = lists.dimension;
        for (chain, energy) in energies.iter_mut().enumerate() {
            let range = chain * d..(chain + 1) * d;
            let (theta, gradient) = (&lists.theta[range.clone()], &lists.gradient[range.clone()]);
            let p = &mut lists.p[range];
            let mut squares = 0.0;
            for k in 0..d {
                p[k] -= half * (per_l * gradient[k] - self.within * theta[k]);
                squares += p[k] * p[k];
            }
            *energy += 0.5 * self.smoothness * squares;
        }
    }
}

impl LinearKernel for Adjusted {
    fn scheme(&self) -> &Scheme {
        &self.scheme
    }
}

impl Kernel for Adjusted {
    fn smoothness(&self) -> f64 {
        self.smoothness
    }

    fn name(&self) -> &'static str {
        self.scheme.name()
    }

    fn normals(&self) -> usize {
        2 * self.trajectory.steps as usize
    }

    fn uniforms(&self) -> usize {
        1
    }

    fn gradients_per_step(&self, _: &dyn LineIntegral) -> u64 {
        u64::from(self.trajectory.steps)
    }

    fn step(&self, step: Step<'_>) -> Result<u64, Error> {
        step.check(self)?;
        let Step { potential, from, noise, to, workspace } = step;
        let (room, energies) = workspace.room_with_energies(from);
        // Where a rejected chain goes back to: its gradient, and its value behind it.
        let (start, scratch) = (room.first, room.scratch);
        let known = from.gradient().zip(from.values());
        let lists = &mut to.lists_mut();
        lists.theta.copy_from_slice(&from.theta);
        if let Some((gradient, values)) = known {
            lists.gradient.copy_from_slice(gradient);
            lists.values.copy_from_slice(values);
        } else {
            potential.values_and_gradients(lists.theta, lists.values, lists.gradient, scratch)?;
        }
        let d = lists.dimension;
        for (chain, (value, gradient)) in
            lists.values.iter().zip(lists.gradient.chunks_exact(d)).enumerate()
        {
            if !(value.is_finite() && all_finite(gradient)) {
                let point = from.theta[from.range(chain)].to_vec();
                let outside = *value == f64::INFINITY && all_finite(gradient);
                return Err(Error::Potential(if outside {
                    Potential::OutsideSupport { point }
                } else {
                    Potential::NotFinite { what: "the potential or its gradient", point }
                }));
            }
            energies[chain] = -value;
        }
        start.copy_from_slice(lists.gradient);
        room.second[..lists.values.len()].copy_from_slice(lists.values);

        for step in 0..self.trajectory.steps as usize {
            self.first_halves(lists, noise, step, energies);
            if step == 0 {
                // So far the energies are those of the start, with a minus.
                let begun = room.second.iter().zip(&*energies);
                lists
                    .proposals
                    .extend(begun.map(|(value, energy)| Proposal::begun(*value, -energy)));
            }
            potential.values_and_gradients(lists.theta, lists.values, lists.gradient, scratch)?;
            self.second_halves(lists, energies);
            for (chain, energy) in energies.iter_mut().enumerate() {
                let range = from.range(chain);
                let fine = energy.is_finite() && lists.values[chain].is_finite();
                // A path beyond the finite numbers has no way back, whatever comes after. It waits
                // where it began, so that the potential is not asked about such points.
                if !(fine && all_finite(&lists.theta[range])) {
                    *energy = f64::INFINITY;
                    lists.put_back(chain, from, start, room.second);
                }
            }
        }
        for (chain, energy) in energies.iter().enumerate() {
            let proposal = &mut lists.proposals[chain];
            *proposal = proposal.decided(energy + lists.values[chain], noise.uniforms[chain]);
            if !proposal.accepted {
                lists.put_back(chain, from, start, room.second);
            }
        }
        to.assume_values();
        Ok(u64::from(known.is_none()) + u64::from(self.trajectory.steps))
    }
}

/// Without a branch for each number, so that it runs in vectors.
fn all_finite(list: &[f64]) -> bool {
    list.iter().fold(true, |finite, x| finite & x.is_finite())
}

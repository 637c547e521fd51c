//! Trajectories of the third-order dynamics that are accepted or rejected as a whole: no
//! discretisation bias.

use ridgewalk_coefficients::{OrnsteinUhlenbeck, Parameters};
use ridgewalk_lyapunov::laws::{Drift, Scheme, Trajectory};
use ridgewalk_potentials::{Error as Potential, LineIntegral};

use super::{BuiltIn, Kernel, LinearKernel, Step, parameters};
use crate::acceptance::Proposal;
use crate::batch::{Batch, Lists};
use crate::error::Error;
use crate::noise::Noise;

/// Metropolis-adjusted trajectories: K times an exact Ornstein-Uhlenbeck step of (p, r) together,
/// half kick, drift, half kick; then all of it is accepted with probability min(1, e^−Δ), or θ stays
/// and p is turned round. Δ is the change of U + (L/2)|p|² over the kicks and drifts alone: the
/// steps of (p, r) leave the target's law as it is and are not charged. p and r are kept from one
/// trajectory to the next, so that the motion goes on in its direction. The third-order form of
/// Metropolis-adjusted Langevin trajectories (Riou-Durand and Vogrinc 2022) and of generalised
/// Hamiltonian Monte Carlo (Horowitz 1991); section 11 of `docs/theory.md` shows that it leaves
/// exp(−U) invariant, whatever the parameters.
///
/// Now and then ([`Trajectory::short`]) the steps of a trajectory are shorter, by a factor that does
/// not depend on the state. Where the target is so steep that steps of η are all rejected, chains so
/// do not stay for long.
///
/// One step of this kernel is a trajectory of K gradients, which the potential must give with its
/// values.
///
/// A trajectory with an energy error above [`Proposal::DIVERGENT`], or that leaves the finite
/// numbers or the support of the density, is rejected and counted as a divergence. Near a hard
/// boundary of the support, or where the target is steep, divergences are therefore normal, and no
/// sign of too long a step.
#[derive(Debug, Clone)]
pub struct Adjusted {
    refresh: OrnsteinUhlenbeck,
    trajectory: Trajectory,
    eta: f64,
    smoothness: f64,
    scheme: Scheme,
}

/// A step of a chain: its time, what θ and p become in a drift, row by row, and what of a kick is
/// not left to the kicks (1 for drifts that rotate).
#[derive(Debug, Clone, Copy)]
struct Motion {
    eta: f64,
    drift: [[f64; 2]; 2],
    within: f64,
}

impl Motion {
    fn new(drift: Drift, eta: f64) -> Self {
        let (drift, within) = match drift {
            Drift::Straight => ([[1.0, eta], [0.0, 1.0]], 0.0),
            Drift::Rotating => {
                let (sin, cos) = eta.sin_cos();
                ([[cos, sin], [-sin, cos]], 1.0)
            }
        };
        Self { eta, drift, within }
    }
}

impl Adjusted {
    /// The kernel with these γ, ξ and η at smoothness L.
    ///
    /// # Errors
    /// For a bad L, γη or ξη above 1e6, and a trajectory that [`Trajectory`] does not allow.
    pub fn new(
        parameters: Parameters, trajectory: Trajectory, smoothness: f64,
    ) -> Result<Self, Error> {
        let eta = parameters.eta();
        let scheme = Scheme::adjusted(parameters.gamma(), parameters.xi(), eta, trajectory)?;
        let refresh = OrnsteinUhlenbeck::new(parameters, smoothness)?;
        Ok(Self { refresh, trajectory, eta, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        let straight = Trajectory::new(1, Drift::Straight);
        let trajectory = scheme.trajectory().unwrap_or(straight);
        Ok(Box::new(Self::new(parameters(scheme)?, trajectory, smoothness)?))
    });

    /// The length of a trajectory's steps, by a number uniform on [0, 1).
    fn length(&self, uniform: f64) -> f64 {
        let short = self.trajectory.short;
        if uniform < short {
            self.eta * Trajectory::SHORTEST.powf(uniform / short)
        } else {
            self.eta
        }
    }

    /// The normals of a chain for a step of its trajectory, those of p and those of r.
    fn normals_of<'a>(
        &self, noise: Noise<'a>, chain: usize, step: usize, d: usize,
    ) -> (&'a [f64], &'a [f64]) {
        let steps = self.trajectory.steps as usize;
        noise.normals[(chain * steps + step) * 2 * d..][..2 * d].split_at(d)
    }

    /// For each chain the exact step of (p, r), half a kick and a drift. (L/2)|p|² before the kick is
    /// taken off its energy.
    fn first_halves(
        &self, lists: &mut Lists<'_>, noise: Noise<'_>, step: usize, energies: &mut [f64],
    ) {
        let [[pp, pr], [rp, rr]] = self.refresh.flow();
        let [l11, l21, l22] = self.refresh.cholesky();
        let per_l = 1.0 / self.smoothness;
        let d = lists.dimension;
        for (chain, energy) in energies.iter_mut().enumerate() {
            let eta = self.length(noise.uniforms[2 * chain]);
            let Motion { drift: [[to_theta, reach], [back, to_p]], within, .. } =
                Motion::new(self.trajectory.drift, eta);
            let half = 0.5 * eta;
            let (n1, n2) = self.normals_of(noise, chain, step, d);
            let range = chain * d..(chain + 1) * d;
            let gradient = &lists.gradient[range.clone()];
            let (theta, p) = (&mut lists.theta[range.clone()], &mut lists.p[range.clone()]);
            let r = &mut lists.r[range];
            let mut squares = 0.0;
            for k in 0..d {
                let new = pp * p[k] + pr * r[k] + l11 * n1[k];
                r[k] = rp * p[k] + rr * r[k] + l21 * n1[k] + l22 * n2[k];
                squares += new * new;
                let kicked = new - half * (per_l * gradient[k] - within * theta[k]);
                p[k] = back * theta[k] + to_p * kicked;
                theta[k] = to_theta * theta[k] + reach * kicked;
            }
            *energy -= 0.5 * self.smoothness * squares;
        }
    }

    /// For each chain the other half of the kick. (L/2)|p|² after it is added to its energy.
    fn second_halves(&self, lists: &mut Lists<'_>, noise: Noise<'_>, energies: &mut [f64]) {
        let per_l = 1.0 / self.smoothness;
        let d = lists.dimension;
        for (chain, energy) in energies.iter_mut().enumerate() {
            let Motion { eta, within, .. } =
                Motion::new(self.trajectory.drift, self.length(noise.uniforms[2 * chain]));
            let range = chain * d..(chain + 1) * d;
            let (theta, gradient) = (&lists.theta[range.clone()], &lists.gradient[range.clone()]);
            let p = &mut lists.p[range];
            let mut squares = 0.0;
            for k in 0..d {
                p[k] -= 0.5 * eta * (per_l * gradient[k] - within * theta[k]);
                squares += p[k] * p[k];
            }
            *energy += 0.5 * self.smoothness * squares;
        }
    }

    /// Puts the momenta of a rejected chain back to where its first step of (p, r) led from `from`,
    /// with p turned round.
    fn turn_round(&self, lists: &mut Lists<'_>, from: &Batch, noise: Noise<'_>, chain: usize) {
        let [[pp, pr], [rp, rr]] = self.refresh.flow();
        let [l11, l21, l22] = self.refresh.cholesky();
        let (n1, n2) = self.normals_of(noise, chain, 0, lists.dimension);
        for (k, at) in from.range(chain).enumerate() {
            let (p, r) = (from.p[at], from.r[at]);
            lists.p[at] = -(pp * p + pr * r + l11 * n1[k]);
            lists.r[at] = rp * p + rr * r + l21 * n1[k] + l22 * n2[k];
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
        2
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
        lists.p.copy_from_slice(&from.p);
        lists.r.copy_from_slice(&from.r);
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
            potential.values_and_gradients(lists.theta, lists.values, lists.gradient, scratch)?;
            self.second_halves(lists, noise, energies);
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
            let uniform = noise.uniforms[2 * chain + 1];
            let proposal = Proposal::new(energy + lists.values[chain], uniform);
            if !proposal.accepted {
                lists.put_back(chain, from, start, room.second);
                self.turn_round(lists, from, noise, chain);
            }
            lists.proposals.push(proposal);
        }
        to.assume_values();
        Ok(u64::from(known.is_none()) + u64::from(self.trajectory.steps))
    }
}

/// Without a branch for each number, so that it runs in vectors.
fn all_finite(list: &[f64]) -> bool {
    list.iter().fold(true, |finite, x| finite & x.is_finite())
}

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

/// Metropolis-adjusted trajectories: an exact Ornstein-Uhlenbeck step of (p, r) together over the time
/// of a trajectory, then K times half kick, drift, half kick; these are accepted with probability
/// min(1, e^−Δ), or θ stays and p is turned round. Δ is the change of U + (L/2)|p|² over the kicks
/// and drifts: the step of (p, r) leaves the target's law as it is and is not charged. p and r are
/// kept from one trajectory to the next, so that the motion goes on in its direction. The
/// third-order form of generalised Hamiltonian Monte Carlo (Horowitz 1991); section 11 of
/// `docs/theory.md` shows that it leaves exp(−U) invariant, whatever the parameters.
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

/// A step of a chain: what θ and p become in a drift, row by row, half its time, and what of a kick
/// is not left to the kicks (1 for drifts that rotate).
#[derive(Debug, Clone, Copy)]
struct Motion {
    drift: [[f64; 2]; 2],
    half: f64,
    within: f64,
    eta: f64,
}

impl Motion {
    fn new(drift: Drift, eta: f64) -> Self {
        let (drift, within) = match drift {
            Drift::Straight => ([[1.0, eta], [0.0, 1.0]], 0.0),
            Drift::Rotating | Drift::Split => {
                let (sin, cos) = eta.sin_cos();
                ([[cos, sin], [-sin, cos]], 1.0)
            }
        };
        Self { drift, half: 0.5 * eta, within, eta }
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
        let whole = Parameters::new(parameters.gamma(), parameters.xi(), scheme.time())?;
        let refresh = OrnsteinUhlenbeck::new(whole, smoothness)?;
        Ok(Self { refresh, trajectory, eta, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        let straight = Trajectory::new(1, Drift::Straight);
        let trajectory = scheme.trajectory().unwrap_or(straight);
        Ok(Box::new(Self::new(parameters(scheme)?, trajectory, smoothness)?))
    });

    /// The steps of a chain, of a length by its first uniform number.
    fn motion(&self, noise: Noise<'_>, chain: usize) -> Motion {
        let (uniform, short) = (noise.uniforms[2 * chain], self.trajectory.short);
        let factor = if uniform < short { Trajectory::SHORTEST.powf(uniform / short) } else { 1.0 };
        Motion::new(self.trajectory.drift, factor * self.eta)
    }

    /// p and r of a chain after their exact step, and (L/2)|p|².
    fn refresh(
        &self, from: &Batch, noise: Noise<'_>, chain: usize, p: &mut [f64], r: &mut [f64],
    ) -> f64 {
        let [[pp, pr], [rp, rr]] = self.refresh.flow();
        let [l11, l21, l22] = self.refresh.cholesky();
        let d = from.dimension();
        let (n1, n2) = noise.normals[2 * d * chain..][..2 * d].split_at(d);
        let range = from.range(chain);
        let (old_p, old_r) = (&from.p[range.clone()], &from.r[range]);
        let mut squares = 0.0;
        for k in 0..d {
            p[k] = pp * old_p[k] + pr * old_r[k] + l11 * n1[k];
            r[k] = rp * old_p[k] + rr * old_r[k] + l21 * n1[k] + l22 * n2[k];
            squares += p[k] * p[k];
        }
        0.5 * self.smoothness * squares
    }

    /// For each chain half a kick and a drift.
    fn first_halves(&self, potential: &dyn LineIntegral, lists: &mut Lists<'_>, noise: Noise<'_>) {
        let (per_l, d) = (1.0 / self.smoothness, lists.dimension);
        for chain in 0..lists.values.len() {
            let Motion { drift: [[to_theta, reach], [back, to_p]], half, within, eta } =
                self.motion(noise, chain);
            let range = chain * d..(chain + 1) * d;
            let gradient = &lists.gradient[range.clone()];
            let (theta, p) = (&mut lists.theta[range.clone()], &mut lists.p[range]);
            for k in 0..d {
                let kicked = p[k] - half * (per_l * gradient[k] - within * theta[k]);
                p[k] = back * theta[k] + to_p * kicked;
                theta[k] = to_theta * theta[k] + reach * kicked;
            }
            if self.trajectory.drift == Drift::Split {
                potential.add_stiff(eta, per_l, theta, p);
            }
        }
    }

    /// For each chain the other half of the kick, and U + (L/2)|p|² after it into `energies`.
    fn second_halves(&self, lists: &mut Lists<'_>, noise: Noise<'_>, energies: &mut [f64]) {
        let (per_l, d) = (1.0 / self.smoothness, lists.dimension);
        for (chain, energy) in energies.iter_mut().enumerate() {
            let Motion { half, within, .. } = self.motion(noise, chain);
            let range = chain * d..(chain + 1) * d;
            let (theta, gradient) = (&lists.theta[range.clone()], &lists.gradient[range.clone()]);
            let p = &mut lists.p[range];
            let mut squares = 0.0;
            for k in 0..d {
                p[k] -= half * (per_l * gradient[k] - within * theta[k]);
                squares += p[k] * p[k];
            }
            *energy = lists.values[chain] + 0.5 * self.smoothness * squares;
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
        2
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
        let (room, [before, energies]) = workspace.room_with_energies(from);
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
        check_starts(from, lists)?;
        start.copy_from_slice(lists.gradient);
        room.second[..lists.values.len()].copy_from_slice(lists.values);

        for (chain, before) in before.iter_mut().enumerate() {
            let range = from.range(chain);
            let (p, r) = (&mut lists.p[range.clone()], &mut lists.r[range]);
            *before = lists.values[chain] + self.refresh(from, noise, chain, p, r);
            lists.proposals.push(Proposal::begun(lists.values[chain], *before));
        }
        for _ in 0..self.trajectory.steps {
            self.first_halves(potential, lists, noise);
            potential.values_and_gradients(lists.theta, lists.values, lists.gradient, scratch)?;
            self.second_halves(lists, noise, energies);
            for (chain, (energy, before)) in energies.iter().zip(&mut *before).enumerate() {
                // A path beyond the finite numbers has no way back, whatever comes after. It waits
                // where it began, so that the potential is not asked about such points.
                if !(energy.is_finite() && all_finite(&lists.theta[from.range(chain)])) {
                    *before = f64::NEG_INFINITY;
                    lists.put_back(chain, from, start, room.second);
                }
            }
        }
        for (chain, (energy, before)) in energies.iter().zip(&*before).enumerate() {
            let proposal = &mut lists.proposals[chain];
            *proposal = proposal.decided(energy - before, noise.uniforms[2 * chain + 1]);
            if !proposal.accepted {
                lists.put_back(chain, from, start, room.second);
                let range = from.range(chain);
                let (p, r) = (&mut lists.p[range.clone()], &mut lists.r[range]);
                self.refresh(from, noise, chain, p, r);
                p.iter_mut().for_each(|p| *p = -*p);
            }
        }
        to.assume_values();
        Ok(u64::from(known.is_none()) + u64::from(self.trajectory.steps))
    }
}

/// An error unless every chain starts where the potential and its gradient are finite.
fn check_starts(from: &Batch, lists: &Lists<'_>) -> Result<(), Error> {
    let d = lists.dimension;
    let gradients = lists.gradient.chunks_exact(d);
    for (chain, (value, gradient)) in lists.values.iter().zip(gradients).enumerate() {
        if !(value.is_finite() && all_finite(gradient)) {
            let point = from.theta[from.range(chain)].to_vec();
            let outside = *value == f64::INFINITY && all_finite(gradient);
            return Err(Error::Potential(if outside {
                Potential::OutsideSupport { point }
            } else {
                Potential::NotFinite { what: "the potential or its gradient", point }
            }));
        }
    }
    Ok(())
}

/// Without a branch for each number, so that it runs in vectors.
fn all_finite(list: &[f64]) -> bool {
    list.iter().fold(true, |finite, x| finite & x.is_finite())
}

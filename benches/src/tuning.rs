//! The search for a kernel's best parameters on a target: the most effective draws per gradient
//! with a bias within [`Bias::TOLERANCE`] of the reference.
//!
//! 1. Short runs with step sizes from a wide range, in both kinds of coordinates, each with the
//!    frictions that are best for it by the exact laws (on a standard normal and on curvatures
//!    around 1), and with a third and three times of these.
//! 2. A compass search over step and friction, separately and together, by longer runs of one seed:
//!    with a factor of 1.2 from the two best step sizes, then 1.08 and 1.03 from the better.
//! 3. A run of another seed that is long enough to measure the bias. While that is significantly
//!    beyond the tolerance, the step is shortened by 5 %.
//!
//! Unadjusted HMC has a whole number of leapfrog steps instead of a friction. The first runs take the
//! number that is best by the laws, a third and three times of it; the compass search changes it by
//! at least one.
//!
//! A bias is significantly beyond the tolerance if it exceeds it by two standard errors, which
//! favours the kernel.

use rayon::prelude::*;
use ridgewalk::lyapunov::laws::{Autocorrelation, KernelKind, Scheme, Trajectory};
use ridgewalk::potentials::Whitening;
use ridgewalk::sampler::automatic::Target;
use ridgewalk_gallery::Reference;

use crate::Failure;
use crate::problems::Problem;
use crate::rivals::{CHAINS, Coordinates, run_in, settling};
use crate::runs::Bias;

/// First step sizes: the shortest, the longest, and the ratio of neighbours.
const ETAS: [f64; 3] = [0.06, 1.95, 1.35];
/// Factors on the friction that is best by the laws.
const FRICTIONS: [f64; 3] = [1.0 / 3.0, 1.0, 3.0];
/// Values of γ and ξ considered in the laws.
const CHOICES: [f64; 10] = [0.3, 0.5, 0.8, 1.2, 2.0, 3.0, 5.0, 8.0, 15.0, 40.0];
/// Eigenvalues of the curvature in whitened coordinates used in the laws, the middle one first.
const EIGENVALUES: [f64; 3] = [1.0, 0.85, 1.15];
/// The number of step sizes from which the compass search starts, and its factors.
const STARTS: usize = 2;
const COMPASS: [f64; 3] = [1.2, 1.08, 1.03];
/// The ratio by which a point must be better to move to it; less is noise.
const BETTER: f64 = 1.01;
/// The factor by which a step with too much bias is shortened, and how often at most.
const SHORTER: f64 = 0.95;
const SHORTENED: usize = 40;
/// Seeds of the search and of the long runs.
const SEARCH_SEED: u64 = 71;
const LONG_SEED: u64 = 72;

/// The lengths of the runs of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Effort {
    /// Draws of each of eight chains in the first runs.
    pub glance: u64,
    /// Draws of each of eight chains in the compass search.
    pub look: u64,
    /// Effective draws of the long run.
    pub proof: f64,
}

/// Parameters of a kernel.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The coordinates.
    pub coordinates: Coordinates,
    /// γ, if the kernel has it.
    pub gamma: f64,
    /// ξ, if the kernel has it.
    pub xi: f64,
    /// The step size.
    pub eta: f64,
}

impl Point {
    /// The kernel with these parameters.
    ///
    /// # Errors
    /// For parameters that the kernel does not allow.
    pub fn scheme(self, kernel: KernelKind) -> Result<Scheme, Failure> {
        Ok(Scheme::new(kernel, self.gamma, self.xi, self.eta)?)
    }

    /// The point with γ, ξ and η multiplied by powers of a factor. If ξ stands for a whole number
    /// of steps, its power changes that number by at least one, and a change of η alone keeps it.
    fn moved(self, kernel: KernelKind, [gamma, xi, eta]: [i32; 3], factor: f64) -> Self {
        if kernel == KernelKind::Hmc {
            let moved = self.eta * factor.powi(eta);
            let steps = (1.0 / (self.xi * self.eta)).round().max(1.0);
            let more = ((factor.powi(xi.abs()) - 1.0) * steps).ceil();
            let steps = (steps - f64::from(xi.signum()) * more).max(1.0);
            return Self { xi: 1.0 / (steps * moved), eta: moved, ..self };
        }
        Self {
            gamma: self.gamma * factor.powi(gamma),
            xi: self.xi * factor.powi(xi),
            eta: self.eta * factor.powi(eta),
            ..self
        }
    }
}

/// Directions of the compass search: powers of the factor for γ, ξ and η. Frictions move twice as
/// far as steps. If the kernel has a γ, it plays the role of the friction, and ξ matters little.
fn directions(kernel: KernelKind) -> Vec<[i32; 3]> {
    let frictions: &[i32] = if kernel.has_xi() { &[-2, 0, 2] } else { &[0] };
    let mut all = Vec::new();
    for friction in frictions {
        for eta in [-1, 0, 1] {
            all.push(if kernel.has_gamma() { [*friction, 0, eta] } else { [0, *friction, eta] });
        }
    }
    all.retain(|direction| *direction != [0; 3]);
    all
}

/// The result of a run with given parameters.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The parameters.
    pub point: Point,
    /// Effective draws per gradient.
    pub efficiency: f64,
    /// The bias relative to the reference.
    pub bias: Bias,
}

impl Trial {
    /// Whether this is better: within the tolerance, then more efficient; if neither is within it,
    /// less biased.
    fn beats(&self, other: &Self, by: f64) -> bool {
        match (self.bias.within(), other.bias.within()) {
            (true, true) => self.efficiency > by * other.efficiency,
            (false, false) => worst(&self.bias) * by < worst(&other.bias),
            (within, _) => within,
        }
    }
}

fn worst(bias: &Bias) -> f64 {
    bias.clear[0].max(bias.clear[1])
}

/// The best parameters found, and the number of runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tuned {
    /// The result of the long run.
    pub best: Trial,
    /// The number of runs.
    pub tried: u64,
}

/// Searches for the best parameters of a kernel on a target.
///
/// # Errors
/// If the whitening fails, or no parameters are within the tolerance.
pub fn tune<P: Problem>(
    problem: &P, reference: &Reference, kernel: KernelKind, effort: Effort,
) -> Result<Tuned, Failure> {
    let mut places = Vec::new();
    for coordinates in Coordinates::ALL {
        let (whitening, _) = coordinates.make(problem, 1)?;
        places.push((coordinates, problem.target().whitened(&whitening)?, whitening));
    }
    let mut search: Search<'_, P::Target> = Search { places: &places, reference, kernel, tried: 0 };
    let starts = search.glance(effort.glance);
    let mut found: Vec<Trial> = Vec::new();
    for start in starts {
        found.extend(search.compass(start, COMPASS[0], effort.look));
    }
    let mut best = best_of(&found).ok_or("no parameters make a stable chain")?;
    for factor in &COMPASS[1..] {
        best = search.compass(best.point, *factor, effort.look).unwrap_or(best);
    }
    let Trial { mut point, efficiency, .. } = best;
    for _ in 0..SHORTENED {
        let gradients = point.scheme(kernel)?.gradients_per_step();
        let per_step = efficiency * f64::from(gradients) * CHAINS as f64;
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at most a million"
        )]
        let draws = (effort.proof / per_step).clamp(effort.look as f64, 1e6) as u64;
        if let Some(trial) = search.try_all(&[point], draws, LONG_SEED).first()
            && trial.bias.within()
        {
            return Ok(Tuned { best: *trial, tried: search.tried });
        }
        point.eta *= SHORTER;
    }
    Err(format!("{}: no parameters within the tolerance", kernel.name()).into())
}

struct Search<'a, T: Target> {
    places: &'a [(Coordinates, T::White, Whitening)],
    reference: &'a Reference,
    kernel: KernelKind,
    tried: u64,
}

impl<T: Target> Search<'_, T> {
    /// The best points of a wide range, with different steps.
    fn glance(&mut self, draws: u64) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        let mut eta = ETAS[0];
        while eta < ETAS[1] * ETAS[2] {
            let step = eta.min(ETAS[1]);
            for (gamma, xi) in preferred(self.kernel, step) {
                let frictions = if self.kernel.has_xi() { &FRICTIONS[..] } else { &[1.0] };
                for factor in frictions {
                    // If there is a γ, it couples θ to the noise.
                    let (gamma, xi) = if self.kernel.has_gamma() {
                        (gamma * factor, xi)
                    } else {
                        (gamma, xi * factor)
                    };
                    points.extend(Coordinates::ALL.map(|coordinates| Point {
                        coordinates,
                        gamma,
                        xi,
                        eta: step,
                    }));
                }
            }
            eta *= ETAS[2];
        }
        let mut trials = self.try_all(&points, draws, SEARCH_SEED);
        let mut best: Vec<Point> = Vec::new();
        while best.len() < STARTS
            && let Some(trial) = best_of(&trials)
        {
            best.push(trial.point);
            trials.retain(|other| other.point.eta != trial.point.eta);
        }
        best
    }

    /// The best trial reached by moves with this factor in one or two parameters at a time; `None`
    /// if the start fails.
    fn compass(&mut self, start: Point, factor: f64, draws: u64) -> Option<Trial> {
        let mut here = best_of(&self.try_all(&[start], draws, SEARCH_SEED))?;
        loop {
            let around: Vec<Point> = directions(self.kernel)
                .into_iter()
                .map(|direction| here.point.moved(self.kernel, direction, factor))
                .collect();
            match best_of(&self.try_all(&around, draws, SEARCH_SEED)) {
                Some(found) if found.beats(&here, BETTER) => here = found,
                _ => return Some(here),
            }
        }
    }

    /// Runs with these parameters, without those that fail.
    fn try_all(&mut self, points: &[Point], draws: u64, seed: u64) -> Vec<Trial> {
        self.tried += points.len() as u64;
        points.par_iter().filter_map(|point| self.try_one(*point, draws, seed)).collect()
    }

    fn try_one(&self, point: Point, draws: u64, seed: u64) -> Option<Trial> {
        let (_, white, whitening) = self.places.iter().find(|(c, ..)| *c == point.coordinates)?;
        let scheme = point.scheme(self.kernel).ok()?;
        let point = Point { xi: scheme.xi().unwrap_or(point.xi), ..point };
        let per_step = predicted(&scheme, &EIGENVALUES[..1]).unwrap_or(0.05).min(1.0);
        let run =
            run_in::<T>(white, whitening, &scheme, [settling(per_step).min(draws), draws], seed)
                .ok()?;
        let measured = run.measured(whitening.dimension(), None).ok()?;
        let bias = Bias::of(std::slice::from_ref(&measured), self.reference);
        let efficiency = measured.ess / measured.sampling.gradients as f64;
        Some(Trial { point, efficiency, bias })
    }
}

fn best_of(trials: &[Trial]) -> Option<Trial> {
    trials.iter().copied().reduce(|best, next| if next.beats(&best, 1.0) { next } else { best })
}

/// Effective draws per step on normal targets of these curvatures; `None` if a step is unstable.
fn predicted(scheme: &Scheme, eigenvalues: &[f64]) -> Option<f64> {
    let time = eigenvalues.iter().try_fold(0.0_f64, |worst, l| {
        Some(worst.max(Autocorrelation::new(&scheme.linear_form(*l).ok()?)?.longer()))
    })?;
    Some(1.0 / time)
}

/// The γ and ξ with the most effective draws per gradient, with steps of this length, by the exact
/// laws: on a standard normal, and at all eigenvalues.
fn preferred(kernel: KernelKind, eta: f64) -> Vec<(f64, f64)> {
    let gammas = if kernel.has_gamma() { &CHOICES[..] } else { &[1.0] };
    let xis = if kernel == KernelKind::Hmc {
        durations(eta).map(f64::recip).collect()
    } else if kernel.has_xi() {
        CHOICES.to_vec()
    } else {
        vec![1.0]
    };
    let best = |eigenvalues: &[f64]| {
        let all = gammas.iter().flat_map(|gamma| xis.iter().map(|xi| (*gamma, *xi)));
        let scored = all.filter_map(|(gamma, xi)| {
            let scheme = Scheme::new(kernel, gamma, xi, eta).ok()?;
            let gradients = f64::from(scheme.gradients_per_step());
            Some((predicted(&scheme, eigenvalues)? / gradients, (gamma, xi)))
        });
        scored.max_by(|(a, _), (b, _)| a.total_cmp(b)).map(|(_, choice)| choice)
    };
    let mut found: Vec<(f64, f64)> =
        [&EIGENVALUES[..1], &EIGENVALUES[..]].into_iter().filter_map(best).collect();
    found.dedup();
    found
}

/// Durations of trajectories of steps of this length, up to half a period of a standard normal; at
/// least one.
fn durations(eta: f64) -> impl Iterator<Item = f64> {
    (1..=Trajectory::LONGEST)
        .map(move |steps| f64::from(steps) * eta)
        .enumerate()
        .take_while(|(k, duration)| *k == 0 || *duration <= std::f64::consts::PI)
        .map(|(_, duration)| duration)
}

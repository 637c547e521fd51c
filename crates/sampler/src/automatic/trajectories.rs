//! Trajectories without bias: in which coordinates, how long their steps are, by the acceptance that
//! is seen, how many, by the autocorrelation that is seen, and how often they are shorter, by the
//! acceptance far out.
//!
//! In whitened coordinates drifts can rotate, so that on a normal posterior nothing is left to the
//! kicks and one step of a quarter turn is an independent draw. That is best for posteriors that are
//! nearly normal, far out too. On others such steps are rejected again and again in the tails, and
//! straight drifts are better: `docs/sampler.md` has the figures.

use ridgewalk_lyapunov::laws::{Autocorrelation, Drift, Scheme, Trajectory};
use ridgewalk_potentials::{LineIntegral, Scratch};

use super::bias::Bias;
use super::candidates::{Candidate, Wanted};
use super::coordinates::advance;
use super::correlation::efficiency;
use super::history::Decision;
use super::search::SHARE;
use super::step_size::Averaging;
use super::target::Target;
use super::warm_up::{NEAR, Work};
use crate::ensemble::Ensemble;
use crate::error::{Error, Quantity};

/// The acceptance that steps aim at: of single rotating steps, which are for nearly normal
/// posteriors only, and of others. Effective draws per gradient change little between 0.7 and 0.85.
const NEARLY_ALL: f64 = 0.9;
const ACCEPTANCE: f64 = 0.8;
/// The longest useful step of a trajectory of one, for drifts that rotate: somewhat more than a
/// quarter turn, after which a normal coordinate has forgotten where it was; for straight ones:
/// somewhat less than where they become unstable; and the longest useful trajectory of more.
const QUARTER_TURN: f64 = 1.65;
const STRAIGHT: f64 = 1.35;
const LONGEST: f64 = 2.2;
/// A posterior on which single rotating steps of this length have their acceptance is nearly normal.
const NEARLY_NORMAL: f64 = 1.4;
/// Steps enough to cover this time are tried where one is not enough.
const ENOUGH: f64 = 1.1;
/// The most steps of a trajectory.
const MOST: u32 = 32;
/// Trajectories of each chain that find the step; those after which it is taken as it is if nothing
/// has shortened it; and those that autocorrelations are seen in.
const ADAPTING: u32 = 20;
const SETTLED: u32 = 8;
const SEEN: u32 = 20;
/// Trajectories of each chain between the last choice and the first draw.
const LEAD_IN: u32 = 14;
/// Values of γ and ξ that are tried, and a pair at which r forgets at once and p is as in kinetic
/// dynamics.
const GAMMAS: [f64; 7] = [0.3, 0.5, 0.8, 1.2, 1.6, 2.2, 3.0];
const XIS: [f64; 4] = [2.0, 3.0, 5.0, 8.0];
const KINETIC: [f64; 2] = [6.0, 50.0];
/// Effective draws per gradient that new coordinates may bring to a nearly normal posterior.
const BEST: f64 = 0.9;
/// How far out, in standard deviations of U above its mean, the acceptance is looked at; evaluations
/// that find such points, and trajectories of each chain from there.
const FAR_OUT: f64 = 5.0;
const SEARCH: u32 = 12;
const LOOKS: u32 = 3;
/// How often steps are shorter, by the acceptance far out: from the first of these on, from the
/// second, and below. Rotating steps need at least the second.
const FAR_ACCEPTANCES: [f64; 2] = [0.15, 0.03];
const SHORT: [f64; 3] = [0.02, 0.08, 0.2];
/// The acceptance far out that single rotating steps need where tails are those of a few coordinates,
/// in which chains are often.
const FAR_ROUND: f64 = 0.3;
/// The same for single rotating steps.
const SHORT_TURNS: f64 = 0.005;

impl<T: Target> Work<'_, T> {
    /// A kernel without bias, and the coordinates that suit it: moves decided by a few rows, or
    /// trajectories, in the coordinates of the mode or in new ones if these pay.
    pub(super) fn exact(&mut self, white: T::White) -> Result<(T::White, Candidate), Error> {
        if let Some(best) = self.subsampled(&white)? {
            self.lead_in(&white, &best)?;
            return Ok((white, best));
        }
        let (white, best) = self.fitted(white)?;
        let (mut best, far) = self.guarded(&white, best)?;
        let round = self.question.target.round() > 0;
        if turns(&best.scheme) && far < if round { FAR_ROUND } else { FAR_ACCEPTANCES[1] } {
            // Nearly normal, but not far out.
            best = self.best_trajectories(&white, None, 0)?;
            best = self.guarded(&white, best)?.0;
        }
        self.lead_in(&white, &best)?;
        Ok((white, best))
    }

    /// Coordinates and trajectories that suit each other.
    fn fitted(&mut self, white: T::White) -> Result<(T::White, Candidate), Error> {
        if self.question.wanted.eta.is_some_and(|eta| eta < self.nearly_normal()) {
            return self.settled(white);
        }
        let hessians = self.curvature_points() > 0;
        match self.try_trajectories(&white, Try::turn())? {
            Ok(first) if first.efficiency > BEST || !hessians => Ok((white, first)),
            Ok(first) => self.refined(white, &first.scheme),
            Err(scheme) if hessians && scheme.eta() >= 0.7 * self.nearly_normal() => {
                self.refined(white, &scheme)
            }
            Err(_) => self.settled(white),
        }
    }

    /// The length of single rotating steps from which on a posterior is nearly normal. Energy errors
    /// of many coordinates add up, so that each of them has less in higher dimensions.
    fn nearly_normal(&self) -> f64 {
        NEARLY_NORMAL * (4.0 / self.whitening.dimension() as f64).powf(0.25).min(1.0)
    }

    /// For a posterior that may be nearly normal: better coordinates, from Hessians.
    fn refined(
        &mut self, white: T::White, scheme: &Scheme,
    ) -> Result<(T::White, Candidate), Error> {
        let white = self.refine(&white, scheme)?;
        match self.try_trajectories(&white, Try::turn())? {
            Ok(again) => Ok((white, again)),
            Err(_) => self.settled(white),
        }
    }

    /// For another posterior: coordinates from pilots, corrected by what the first trajectories in
    /// them show.
    fn settled(&mut self, white: T::White) -> Result<(T::White, Candidate), Error> {
        let (mut white, eta) = self.settle(white)?;
        let first = self.first_try(&white, Some(eta))?;
        let spread = self.spread(&first.points)?;
        let mut first = Some(first);
        if let Some(corrected) = self.corrected(&spread)? {
            (white, first) = (corrected, None);
        }
        let first = match first {
            Some(first) => first,
            None => self.first_try(&white, Some(eta))?,
        };
        let best = self.more(&white, first, 0)?;
        Ok((white, best))
    }

    /// The trajectories with most effective draws per gradient, in these coordinates. `eta`: a step
    /// that is nearly right, if one is known; `others`: gradients that were spent on other kernels,
    /// which leave these their share.
    pub(super) fn best_trajectories(
        &mut self, white: &T::White, eta: Option<f64>, others: u64,
    ) -> Result<Candidate, Error> {
        let first = self.first_try(white, eta)?;
        self.more(white, first, others)
    }

    /// Straight trajectories of as many steps as promise most.
    fn first_try(&mut self, white: &T::White, eta: Option<f64>) -> Result<Candidate, Error> {
        let eta = self.question.wanted.eta.or(eta);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 32")]
        let steps =
            eta.map_or(1.0, |eta| (ENOUGH / eta).round().clamp(1.0, f64::from(MOST))) as u32;
        let first = Try { steps, drift: Drift::Straight, eta };
        let found = self.try_trajectories(white, first)?;
        found.map_err(|_| Error::Zero { what: Quantity::Frictions })
    }

    /// The same, and others as long as they are better and can be afforded: rotating ones, and those
    /// of more or fewer steps.
    fn more(
        &mut self, white: &T::White, first: Candidate, others: u64,
    ) -> Result<Candidate, Error> {
        let mut best = first;
        let mut tried = Vec::new();
        loop {
            let Some(Trajectory { steps, drift, .. }) = best.scheme.trajectory() else {
                return Ok(best);
            };
            tried.push((steps, drift));
            let change = (steps / 4).max(1);
            // Where some rows are stiff, rotations that split them off take the place of others.
            let turning = if white.stiff() > 0 { Drift::Split } else { Drift::Rotating };
            let turned = (steps, turning);
            let longer = (steps + change, drift);
            let shorter = (steps.saturating_sub(change).max(1), drift);
            let open = |(steps, drift): &(u32, Drift)| {
                let single = *steps == 1 && *drift != Drift::Straight;
                let enough = f64::from(*steps) * best.scheme.eta() > LONGEST;
                *steps <= MOST && !single && !enough && !tried.contains(&(*steps, *drift))
            };
            let Some((steps, drift)) = [turned, longer, shorter].into_iter().find(open) else {
                return Ok(best);
            };
            if !self.affords_trajectories(&best, steps, others) {
                return Ok(best);
            }
            tried.push((steps, drift));
            let next = Try { steps, drift, eta: Some(best.scheme.eta()) };
            if let Ok(found) = self.try_trajectories(white, next)?
                && found.promised > best.promised
            {
                best = found;
            }
        }
    }

    /// Whether trajectories of this many steps can be tried within the warm-up's share of the run
    /// that `best` would make.
    fn affords_trajectories(&self, best: &Candidate, steps: u32, others: u64) -> bool {
        let each = steps * (ADAPTING + SEEN) + best.scheme.gradients_per_step() * LEAD_IN;
        let cost = u64::from(each) * self.chains() as u64;
        (self.gradients - others + cost) as f64 <= SHARE * self.run_cost(best)
    }

    /// Finds the step size of trajectories, and measures their efficiency. Single rotating
    /// steps that show no nearly normal posterior are an `Err` within.
    fn try_trajectories(
        &mut self, white: &T::White, attempt: Try,
    ) -> Result<Result<Candidate, Scheme>, Error> {
        let Try { steps, drift, eta } = attempt;
        let (d, wanted) = (self.whitening.dimension(), self.question.wanted);
        // A potential without values is reported by its own error, not by chains that end.
        self.needs_values(white)?;
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        let single = steps == 1 && drift == Drift::Rotating;
        let aim = if single { NEARLY_ALL } else { ACCEPTANCE };
        let longest = wanted.eta.unwrap_or(longest_step(steps, drift));
        let mut step = Averaging::beginning_at(eta.unwrap_or(longest), longest, aim);
        let trajectory = Trajectory { steps, drift, short: SHORT[0] };
        let adapting = if eta.is_some() { ADAPTING / 2 } else { ADAPTING };
        for made in 0..adapting {
            self.go_on()?;
            let settled = wanted.eta.is_some() || step.at_longest();
            let hopeless = single && step.mean() < 0.8 * self.nearly_normal();
            if made == SETTLED && (settled || hopeless) {
                break;
            }
            let scheme = Scheme::adjusted(1.2, 2.0, step.eta(), trajectory)?;
            let seen = advance(&mut ensemble, &scheme)?;
            if wanted.eta.is_none() {
                step.hear(seen);
            }
        }
        let mut points = Vec::new();
        let scheme = with_best_friction(trajectory, step.mean(), aim, wanted)?;
        let before = ensemble.acceptance();
        let hopeless = single && wanted.eta.is_none() && scheme.eta() < self.nearly_normal();
        let seen = if single { SEEN / 2 } else { SEEN };
        for _ in 0..if hopeless { 0 } else { seen } {
            self.go_on()?;
            advance(&mut ensemble, &scheme)?;
            points.extend(self.positions(&ensemble));
        }
        self.states = self.positions(&ensemble);
        self.gradients += ensemble.gradients();
        if hopeless {
            self.decide(Decision::NotNormal { eta: scheme.eta() });
            return Ok(Err(scheme));
        }
        let acceptance = ensemble.acceptance().since(&before);
        let seen = efficiency(&points, d, self.chains());
        let rate = acceptance.rate();
        let by_law = effective_draws(&scheme, rate);
        let efficiency = (seen * by_law).sqrt() / f64::from(steps);
        self.decide(Decision::Trajectories {
            scheme: scheme.clone(),
            acceptance: rate,
            divergences: acceptance.divergences,
            efficiency,
        });
        Ok(Ok(Candidate {
            scheme,
            bias: Bias::NONE,
            differences: Vec::new(),
            efficiency: efficiency.max(1e-6),
            promised: by_law / f64::from(steps),
            gradients_per_step: u64::from(steps),
            within: true,
            points,
        }))
    }

    /// The same trajectories, with shorter steps as often as the acceptance far out asks for; and
    /// that acceptance.
    fn guarded(
        &mut self, white: &T::White, mut best: Candidate,
    ) -> Result<(Candidate, f64), Error> {
        let Some(trajectory) = best.scheme.trajectory() else { return Ok((best, 1.0)) };
        let far = self.far_acceptance(white, &best.scheme)?;
        let place = FAR_ACCEPTANCES.iter().position(|least| far >= *least);
        let turning = turns(&best.scheme) && place == Some(0);
        let short =
            if turning { SHORT_TURNS } else { SHORT[place.unwrap_or(FAR_ACCEPTANCES.len())] };
        let (gamma, xi) = (best.scheme.gamma().unwrap_or(1.2), best.scheme.xi().unwrap_or(2.0));
        let trajectory = Trajectory { short, ..trajectory };
        best.scheme = Scheme::adjusted(gamma, xi, best.scheme.eta(), trajectory)?;
        self.decide(Decision::FarOut { acceptance: far, short });
        Ok((best, far))
    }

    /// The mean acceptance of trajectories that start far out, on the worst quarter of the rays from
    /// the origin through the chains.
    fn far_acceptance(&mut self, white: &T::White, scheme: &Scheme) -> Result<f64, Error> {
        let points = self.far_points(white)?;
        let shared = self.question.team.share(white);
        let mut rates = vec![0.0; self.chains()];
        for _ in 0..LOOKS {
            self.go_on()?;
            let mut ensemble = Ensemble::new(&shared, self.next_seed(), &points, 1.0)?;
            advance(&mut ensemble, scheme)?;
            for (rate, chain) in rates.iter_mut().zip(ensemble.snapshot().chains) {
                *rate += chain.acceptance.rate() / f64::from(LOOKS);
            }
            self.gradients += ensemble.gradients();
        }
        rates.sort_by(f64::total_cmp);
        let worst = &rates[..rates.len().div_ceil(4)];
        Ok(worst.iter().sum::<f64>() / worst.len() as f64)
    }

    /// A point on each ray where U is well above what it is at the chains, by bisection.
    fn far_points(&mut self, white: &T::White) -> Result<Vec<f64>, Error> {
        let (d, chains) = (self.whitening.dimension(), self.chains());
        let shared = self.question.team.share(white);
        let (mut values, mut gradients) = (vec![0.0; chains], vec![0.0; chains * d]);
        let scratch = &mut Scratch::default();
        shared.values_and_gradients(&self.states, &mut values, &mut gradients, scratch)?;
        let mean = values.iter().sum::<f64>() / chains as f64;
        let variance = values.iter().map(|u| (u - mean).powi(2)).sum::<f64>() / chains as f64;
        // A normal posterior has the variance d/2.
        let mut levels = vec![mean + FAR_OUT * variance.max(0.5 * d as f64).sqrt(); chains];
        // Where leading coordinates are round, tails are those of the others: rays lead out there.
        let first = self.question.target.round() % d;
        if first > 0 {
            let rise = FAR_OUT * (0.5 * (d - first) as f64).sqrt().max(1.0);
            levels.iter_mut().zip(&values).for_each(|(level, value)| *level = value + rise);
        }
        let scaled = |factors: &[f64]| -> Vec<f64> {
            let rays = self.states.chunks_exact(d).zip(factors);
            let along = |(z, factor): (&[f64], &f64)| -> Vec<f64> {
                let (round, others) = z.split_at(first);
                let others = others.iter().map(|z| factor * z);
                round.iter().copied().chain(others).collect()
            };
            rays.flat_map(along).collect()
        };
        let (mut low, mut high) = (vec![1.0; chains], vec![f64::INFINITY; chains]);
        let mut factors = vec![1.5; chains];
        for _ in 0..SEARCH {
            let points = scaled(&factors);
            shared.values_and_gradients(&points, &mut values, &mut gradients, scratch)?;
            for k in 0..chains {
                let end = if values[k] <= levels[k] { &mut low[k] } else { &mut high[k] };
                *end = factors[k];
                factors[k] =
                    if high[k].is_finite() { 0.5 * (low[k] + high[k]) } else { 2.0 * low[k] };
            }
        }
        let points = scaled(&low);
        self.gradients += u64::from(SEARCH + 1) * chains as u64;
        Ok(points)
    }

    /// Some trajectories before the first draw.
    fn lead_in(&mut self, white: &T::White, best: &Candidate) -> Result<(), Error> {
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        for _ in 0..LEAD_IN {
            self.go_on()?;
            advance(&mut ensemble, &best.scheme)?;
        }
        self.gradients += ensemble.gradients();
        self.states = self.positions(&ensemble);
        Ok(())
    }
}

/// Trajectories to be tried.
#[derive(Debug, Clone, Copy)]
struct Try {
    steps: u32,
    drift: Drift,
    /// A step that is nearly right.
    eta: Option<f64>,
}

impl Try {
    /// Single steps that rotate.
    fn turn() -> Self {
        Self { steps: 1, drift: Drift::Rotating, eta: None }
    }
}

/// Whether these are single steps that rotate.
fn turns(scheme: &Scheme) -> bool {
    scheme.trajectory().is_some_and(|t| t.steps == 1 && t.drift == Drift::Rotating)
}

fn longest_step(steps: u32, drift: Drift) -> f64 {
    match (steps, drift) {
        (1, Drift::Rotating) => QUARTER_TURN,
        (1, Drift::Straight) => STRAIGHT,
        (steps, _) => LONGEST / f64::from(steps),
    }
}

/// The trajectory with the γ and ξ that forget fastest if it is accepted with this probability, by
/// the exact laws. Values set by the user are kept.
fn with_best_friction(
    trajectory: Trajectory, eta: f64, acceptance: f64, wanted: Wanted,
) -> Result<Scheme, Error> {
    let pairs = GAMMAS.iter().flat_map(|gamma| XIS.map(|xi| [*gamma, xi])).chain([KINETIC]);
    let mut best: Option<(Scheme, f64)> = None;
    for [gamma, xi] in pairs {
        let (gamma, xi) = (wanted.gamma.unwrap_or(gamma), wanted.xi.unwrap_or(xi));
        let scheme = Scheme::adjusted(gamma, xi, eta, trajectory)?;
        let worth = effective_draws(&scheme, acceptance);
        if best.as_ref().is_none_or(|(_, most)| worth > *most) {
            best = Some((scheme, worth));
        }
    }
    best.map(|(scheme, _)| scheme).ok_or(Error::Zero { what: Quantity::Frictions })
}

/// Effective draws that a trajectory is worth if it is accepted with this probability, by the exact
/// laws. One that is not stable is worth nothing: what it proposes is rejected.
fn effective_draws(scheme: &Scheme, acceptance: f64) -> f64 {
    let time = NEAR.iter().try_fold(0.0_f64, |worst, l| {
        let form = scheme.with_acceptance(*l, acceptance.clamp(0.0, 1.0)).ok()??;
        Some(worst.max(Autocorrelation::new(&form)?.longer()))
    });
    time.map_or(0.0, f64::recip)
}

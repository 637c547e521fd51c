//! Where chains start, the pilot, and the coordinates that follow from it.
//!
//! The pilot is exact from its first step: trajectories that are accepted or rejected, with a step
//! that follows the acceptance. A pilot without acceptance runs away where the posterior is steep,
//! and coordinates from its points would be of no use to any kernel.

use ridgewalk_lyapunov::laws::{Drift, KernelKind, Scheme, Trajectory};
use ridgewalk_potentials::{Error as Potential, LineIntegral, Scratch, Spread, Whitening};

use super::history::Decision;
use super::step_size::Averaging;
use super::target::Target;
use super::warm_up::Work;
use crate::ensemble::Ensemble;
use crate::error::{Error, Quantity};
use crate::kernels::from_scheme;
use crate::noise::Stream;

/// Trajectories of a pilot, the share of them that is forgotten, and their steps.
const PILOT: u32 = 32;
const FORGOTTEN: u32 = 8;
pub(super) const PILOT_STEPS: u32 = 2;
/// How often a pilot's steps are shorter: often, as nothing is known yet.
const SHORT: f64 = 0.2;
/// The longest step of a pilot, and the acceptance that it aims at.
const LONGEST: f64 = 1.2;
const ACCEPTANCE: f64 = 0.75;
/// Independent draws that a draw of the pilot is worth, roughly.
const EFFICIENCY: f64 = 0.3;
/// How often coordinates are made from the spread of a pilot. Each time they can follow a posterior
/// that is some ten times as wide.
const ROUNDS: usize = 8;
/// A posterior this many times as wide, or as narrow, as the coordinates say (in variance) is too
/// far off for Hessians to help.
const FAR_OFF: f64 = 4.0;
/// Chains that are still wider than their coordinates after so many rounds, and are this many times as
/// wide as those at the beginning in one direction, run away.
const RUNAWAY: f64 = 1e4;
/// A variance that is off by this factor is worth a correction.
const OFF: f64 = 1.5;
/// Points at which Hessians are averaged.
const CURVATURE_POINTS: usize = 64;
/// The same for kernels with a bias, whose search takes more than they do.
const FEW_POINTS: usize = 16;
/// The share of the upper bound of the covariance in what is taken, what is added to Hessians before
/// they are inverted, in units of their mean, and the largest dimension in which they are.
const UPPER: f64 = 0.3;
const FLOOR: f64 = 0.1;
const MOST_INVERTED: usize = 500;
/// What they may cost, as a share of a run of one gradient per draw.
const CURVATURE_SHARE: f64 = 0.05;
/// Steps of a pilot without values: before and while points are taken; and its step, which is halved
/// where chains diverge.
const UNADJUSTED: [u64; 2] = [24, 160];
const UNADJUSTED_STEP: f64 = 0.5;
const HALVINGS: i32 = 6;
/// Halvings of the distance from the mode that bring a start into the posterior.
const RETREATS: usize = 60;

impl<T: Target> Work<'_, T> {
    /// A start for each chain: from the normal distribution of the whitened coordinates, and nearer
    /// to the mode where that is outside the posterior.
    ///
    /// For a log-concave density U − min U is at most Gamma(d, 1): a start above its mean by more
    /// than two standard deviations is brought back.
    pub(super) fn starts(&mut self, white: &T::White) -> Result<Vec<f64>, Error> {
        let mut states = self.normal_draws()?;
        let d = self.whitening.dimension();
        let mut lowest = [0.0];
        let scratch = &mut Scratch::default();
        self.gradients += 1;
        match white.values_and_gradients(&vec![0.0; d], &mut lowest, &mut vec![0.0; d], scratch) {
            Ok(()) => {}
            // A target without values: nothing is known of where it ends.
            Err(Potential::NoValue) => return Ok(states),
            Err(error) => return Err(error.into()),
        }
        let most = d as f64 + 2.0 * (d as f64).sqrt();
        let shared = self.question.team.share(white);
        let (mut values, mut gradients) = (vec![0.0; self.chains()], vec![0.0; states.len()]);
        for _ in 0..RETREATS {
            shared.values_and_gradients(&states, &mut values, &mut gradients, scratch)?;
            self.gradients += self.chains() as u64;
            let outside = |value: &f64| !(value - lowest[0] <= most);
            if !values.iter().any(outside) {
                break;
            }
            for (state, _) in
                states.chunks_exact_mut(d).zip(&values).filter(|(_, value)| outside(value))
            {
                state.iter_mut().for_each(|z| *z *= 0.5);
            }
        }
        Ok(states)
    }

    /// A point for each chain from the normal distribution of the whitened coordinates.
    fn normal_draws(&mut self) -> Result<Vec<f64>, Error> {
        let (seed, d) = (self.next_seed(), self.whitening.dimension());
        let too_many = Error::TooMany { what: Quantity::Chains };
        let Some(entries) = d.checked_mul(self.chains()) else { return Err(too_many) };
        let mut states = Vec::new();
        if states.try_reserve_exact(entries).is_err() {
            return Err(too_many);
        }
        states.resize(entries, 0.0);
        for (state, chain) in states.chunks_exact_mut(d).zip(0..) {
            Stream::new(seed, chain).normals(state);
        }
        Ok(states)
    }

    /// New coordinates for a posterior that is not nearly normal: from the spread of pilots until
    /// they fit, then from the mean Hessian along the last one where that is cheap. And the step of
    /// the last pilot.
    pub(super) fn settle(&mut self, mut white: T::White) -> Result<(T::White, f64), Error> {
        let (mut round, first) = (1, self.whitening.clone());
        loop {
            let (points, eta) = self.pilot(&white)?;
            let spread = self.spread(&points)?;
            let far_off = spread.widest() > FAR_OFF || spread.narrowest() < 1.0 / FAR_OFF;
            let last = round == ROUNDS && spread.widest() > FAR_OFF;
            if last && self.width_in(&first, &points)? > RUNAWAY {
                let why = "chains went farther and farther out, as they do where a density has no \
                           finite integral: check that the posterior is proper";
                return Err(Error::Pilot { why: why.to_owned() });
            }
            if far_off && round < ROUNDS {
                white = self.change(&spread.whitening(spread.mean())?, 0)?;
                round += 1;
                continue;
            }
            let hessians = if far_off { 0 } else { self.curvature_points() };
            let within = self.mean_hessian(&white, &points, hessians)?;
            if let Some(within) = within {
                white = self.change(&within, hessians)?;
            } else if let Some(corrected) = self.corrected(&spread)? {
                white = corrected;
            }
            return Ok((white, eta));
        }
    }

    /// The standard deviation of points, of the present coordinates, along their widest direction in
    /// earlier coordinates.
    fn width_in(&self, earlier: &Whitening, points: &[f64]) -> Result<f64, Error> {
        let d = self.whitening.dimension();
        let (mut theta, mut moved) = (vec![0.0; d], vec![0.0; points.len()]);
        for (point, moved) in points.chunks_exact(d).zip(moved.chunks_exact_mut(d)) {
            self.whitening.to_original(point, &mut theta)?;
            earlier.to_whitened(&theta, moved)?;
        }
        let count = (points.len() / d) as f64;
        Ok(self.spread_of(&moved, EFFICIENCY * count)?.widest().sqrt())
    }

    /// The spread of points in the coordinates that may change.
    fn spread_of(&self, points: &[f64], effective: f64) -> Result<Spread, Error> {
        let (d, first) = (self.whitening.dimension(), self.question.target.round());
        if first == 0 {
            return Ok(Spread::of(points, d, effective)?);
        }
        let last: Vec<f64> =
            points.chunks_exact(d).flat_map(|point| &point[first..]).copied().collect();
        Ok(Spread::of(&last, d - first, effective)?)
    }

    /// Coordinates in which draws of this spread are round, if they are not yet.
    pub(super) fn corrected(&mut self, spread: &Spread) -> Result<Option<T::White>, Error> {
        if spread.widest() <= OFF && spread.narrowest() >= 1.0 / OFF {
            return Ok(None);
        }
        let origin = vec![0.0; spread.mean().len()];
        self.change(&spread.whitening(&origin)?, 0).map(Some)
    }

    /// New coordinates for a nearly normal posterior, from the mean Hessian along trajectories of
    /// this scheme.
    pub(super) fn refine(&mut self, white: &T::White, scheme: &Scheme) -> Result<T::White, Error> {
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        let mut points = Vec::new();
        for made in 0..PILOT / 2 {
            self.go_on()?;
            advance(&mut ensemble, scheme)?;
            if made % 4 == 3 {
                points.extend(self.positions(&ensemble));
            }
        }
        self.gradients += ensemble.gradients();
        self.states = self.positions(&ensemble);
        let hessians = self.curvature_points();
        match self.mean_hessian(white, &points, hessians)? {
            Some(within) => self.change(&within, hessians),
            None => self.question.target.whitened(&self.whitening),
        }
    }

    /// The spread of the points of a pilot.
    pub(super) fn spread(&mut self, points: &[f64]) -> Result<Spread, Error> {
        let d = self.whitening.dimension();
        let count = (points.len() / d) as f64;
        let spread = self.spread_of(points, EFFICIENCY * count)?;
        self.decide(Decision::Pilot {
            draws: (points.len() / d) as u64,
            widest: spread.widest().sqrt(),
            narrowest: spread.narrowest().sqrt(),
        });
        Ok(spread)
    }

    /// Goes over to coordinates within the present ones that may change.
    fn change(&mut self, within: &Whitening, hessians: usize) -> Result<T::White, Error> {
        let d = self.whitening.dimension();
        let within = &within.clone().of_last(d)?;
        let states = self.states.clone();
        for (state, new) in states.chunks_exact(d).zip(self.states.chunks_exact_mut(d)) {
            within.to_whitened(state, new)?;
        }
        self.whitening = self.whitening.then(within)?;
        self.decide(Decision::Rewhitened { hessians });
        self.question.target.whitened(&self.whitening)
    }

    /// Coordinates from some Hessians at points of a pilot.
    ///
    /// The inverse of their mean is a lower bound of the covariance (Cramér and Rao), the mean of
    /// their inverses an upper one for log-concave targets (Brascamp and Lieb). Both are far less
    /// noisy than a covariance of as many draws, and what is taken is between them. `None` if there
    /// are none, or their mean is singular, as it can be on a plateau of Huber's loss.
    fn mean_hessian(
        &mut self, white: &T::White, points: &[f64], hessians: usize,
    ) -> Result<Option<Whitening>, Error> {
        let d = self.whitening.dimension();
        let count = points.len() / d;
        let hessians = hessians.min(count);
        if hessians == 0 {
            return Ok(None);
        }
        let chosen: Vec<f64> = (0..hessians)
            .flat_map(|k| points[(k * count / hessians) * d..][..d].iter().copied())
            .collect();
        let last = self.whitening.last(d - self.question.target.round())?;
        let (mean, all) = match self.mean_at_once(&last, &chosen)? {
            Some(mean) => (mean, Vec::new()),
            None => self.mean_one_by_one(&last, &chosen)?,
        };
        let within = match self.centred(white, &chosen, mean) {
            Err(Error::Potential(Potential::Whitening { .. })) => return Ok(None),
            found => found?,
        };
        if all.is_empty() { Ok(Some(within)) } else { between(&within, &all).map(Some) }
    }

    /// The mean Hessian at some points in the coordinates that may change, if the target has it.
    fn mean_at_once(
        &mut self, last: &Whitening, points: &[f64],
    ) -> Result<Option<Vec<f64>>, Error> {
        self.go_on()?;
        if !self.question.target.has_mean_hessian() {
            return Ok(None);
        }
        let d = self.whitening.dimension();
        let mut thetas = vec![0.0; points.len()];
        for (point, theta) in points.chunks_exact(d).zip(thetas.chunks_exact_mut(d)) {
            self.whitening.to_original(point, theta)?;
        }
        let Some((mean, spent)) = self.question.target.mean_hessian(&thetas)? else {
            return Ok(None);
        };
        self.gradients += spent;
        Ok(Some(last.hessian_to_whitened(&mean)?))
    }

    /// The mean of the Hessians at some points, and each of them where they may be inverted.
    fn mean_one_by_one(
        &mut self, last: &Whitening, points: &[f64],
    ) -> Result<(Vec<f64>, Vec<Vec<f64>>), Error> {
        let (d, inner) = (self.whitening.dimension(), last.dimension());
        let share = d as f64 / points.len() as f64;
        let (mut mean, mut theta) = (vec![0.0; inner * inner], vec![0.0; d]);
        let mut all = Vec::new();
        for point in points.chunks_exact(d) {
            self.go_on()?;
            self.whitening.to_original(point, &mut theta)?;
            let (hessian, spent) = self.question.target.hessian(&theta)?;
            self.gradients += spent;
            let hessian = last.hessian_to_whitened(&hessian)?;
            mean.iter_mut().zip(&hessian).for_each(|(sum, h)| *sum += share * h);
            if inner <= MOST_INVERTED {
                all.push(hessian);
            }
        }
        Ok((mean, all))
    }

    /// Coordinates from a mean Hessian, with the centre of the normal distribution that comes
    /// closest.
    ///
    /// Gradients have mean 0 under the target, so that the mean of the points less H⁻¹ times that of
    /// their gradients has the same expectation as the former and little of its noise; none on a
    /// normal target.
    fn centred(
        &mut self, white: &T::White, points: &[f64], hessian: Vec<f64>,
    ) -> Result<Whitening, Error> {
        let d = self.whitening.dimension();
        let mut gradients = vec![0.0; points.len()];
        let shared = self.question.team.share(white);
        shared.gradients(points, &mut gradients, &mut Scratch::default())?;
        self.gradients += (points.len() / d) as u64;
        let first = self.question.target.round();
        let mean_of = |list: &[f64]| {
            let mut mean = vec![0.0; d - first];
            let share = d as f64 / list.len() as f64;
            for point in list.chunks_exact(d) {
                mean.iter_mut().zip(&point[first..]).for_each(|(sum, x)| *sum += share * x);
            }
            mean
        };
        let within = definite(&mean_of(points), hessian)?;
        let (mut back, mut centre) = (vec![0.0; d - first], vec![0.0; d - first]);
        within.gradient_to_whitened(&mean_of(&gradients), &mut back)?;
        back.iter_mut().for_each(|z| *z = -*z);
        within.to_original(&back, &mut centre)?;
        Ok(within.centred_at(centre)?)
    }

    /// The number of Hessians that new coordinates are made from; 0 if they are too expensive.
    /// Trajectories can also use other coordinates, so they get fewer if Hessians are expensive
    /// compared with the run.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 64")]
    pub(super) fn curvature_points(&self) -> usize {
        let exact = self.question.exact();
        let most = if exact { CURVATURE_POINTS } else { FEW_POINTS };
        let points = self.question.target.affordable_hessians(most);
        if points == 0 || !exact || self.question.target.has_mean_hessian() {
            return points;
        }
        let run = self.question.draws as f64 * self.chains() as f64;
        let affordable = CURVATURE_SHARE * run / self.hessian.max(1) as f64;
        affordable.clamp(self.chains().min(points) as f64, points as f64) as usize
    }

    /// Points of all chains along a pilot, which goes on where they are, and its step.
    fn pilot(&mut self, white: &T::White) -> Result<(Vec<f64>, f64), Error> {
        match self.exact_pilot(white) {
            Err(Error::Potential(Potential::NoValue)) => {
                Ok((self.unadjusted_pilot(white)?, LONGEST))
            }
            found => found,
        }
    }

    fn exact_pilot(&mut self, white: &T::White) -> Result<(Vec<f64>, f64), Error> {
        self.needs_values(white)?;
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        let mut step = Averaging::new(LONGEST, ACCEPTANCE);
        let trajectory = Trajectory { steps: PILOT_STEPS, drift: Drift::Straight, short: SHORT };
        let mut points = Vec::new();
        for made in 0..PILOT {
            self.go_on()?;
            let scheme = Scheme::adjusted(1.2, 2.0, step.eta(), trajectory)?;
            step.hear(advance(&mut ensemble, &scheme)?);
            if made >= FORGOTTEN {
                points.extend(self.positions(&ensemble));
            }
        }
        self.gradients += ensemble.gradients();
        self.states = self.positions(&ensemble);
        Ok((points, step.mean()))
    }

    /// An error that says so, for a potential without values.
    pub(super) fn needs_values(&mut self, white: &T::White) -> Result<(), Error> {
        self.gradients += 1;
        let d = self.whitening.dimension();
        let (mut value, mut gradient) = ([0.0], vec![0.0; d]);
        let scratch = &mut Scratch::default();
        Ok(white.values_and_gradients(&self.states[..d], &mut value, &mut gradient, scratch)?)
    }

    /// A pilot of a potential without values: with short steps, and shorter ones where chains
    /// diverge.
    fn unadjusted_pilot(&mut self, white: &T::White) -> Result<Vec<f64>, Error> {
        let mut halvings = 0;
        loop {
            match self.unadjusted_pilot_of(white, halvings) {
                Err(Error::Pilot { .. }) if halvings < HALVINGS => halvings += 1,
                found => return found,
            }
        }
    }

    fn unadjusted_pilot_of(&mut self, white: &T::White, halvings: i32) -> Result<Vec<f64>, Error> {
        let (eta, more) = (UNADJUSTED_STEP * 0.5_f64.powi(halvings), 1 << halvings);
        let kernel = if white.gradients_per_integral() > 1 {
            KernelKind::Symmetric
        } else {
            KernelKind::ThirdOrder
        };
        let kernel = from_scheme(&Scheme::new(kernel, 1.2, 2.0, eta)?, 1.0)?;
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        let [before, steps] = UNADJUSTED;
        ensemble.advance(&*kernel, before * more);
        let mut points = Vec::new();
        for _ in 0..steps {
            self.go_on()?;
            ensemble.advance(&*kernel, more);
            points.extend(self.positions(&ensemble));
        }
        self.gradients += ensemble.gradients();
        if let Some(end) = (0..self.chains()).find_map(|chain| ensemble.end(chain)) {
            return Err(Error::Pilot { why: end.why.to_string() });
        }
        self.states = self.positions(&ensemble);
        Ok(points)
    }

    /// Where the chains are, one after the other.
    pub(super) fn positions(&self, ensemble: &Ensemble<'_>) -> Vec<f64> {
        (0..self.chains())
            .filter_map(|chain| ensemble.state(chain))
            .flat_map(|state| state.theta)
            .collect()
    }
}

/// One trajectory of every chain, and its mean acceptance. A chain that ends is an error.
pub(super) fn advance(ensemble: &mut Ensemble<'_>, scheme: &Scheme) -> Result<f64, Error> {
    let before = ensemble.acceptance();
    ensemble.advance(&*from_scheme(scheme, 1.0)?, 1);
    match (0..ensemble.chains()).find_map(|chain| ensemble.end(chain)) {
        Some(end) => Err(Error::Pilot { why: end.why.to_string() }),
        None => Ok(ensemble.acceptance().since(&before).rate()),
    }
}

/// Coordinates that lie between the inverse of the mean Hessian, which `mean` has, and the mean of
/// the inverses. Where a Hessian is singular, as Huber's can be, its inverse is kept in bounds. Those
/// that are not positive definite, as a target that is not log-concave can have, do not count.
fn between(mean: &Whitening, hessians: &[Vec<f64>]) -> Result<Whitening, Error> {
    let d = mean.dimension();
    let origin = vec![0.0; d];
    let mut inverses = Vec::new();
    for hessian in hessians {
        let mut hessian = mean.hessian_to_whitened(hessian)?;
        hessian.iter_mut().step_by(d + 1).for_each(|h| *h += FLOOR);
        match Whitening::from_hessian(&origin, &hessian) {
            Ok(inverse) => inverses.push(inverse.covariance()),
            Err(Potential::Whitening { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if inverses.is_empty() {
        return Ok(mean.clone());
    }
    let mut covariance = vec![0.0; d * d];
    let share = UPPER * (1.0 + FLOOR) / inverses.len() as f64;
    for inverse in inverses {
        covariance.iter_mut().zip(&inverse).for_each(|(sum, c)| *sum += share * c);
    }
    covariance.iter_mut().step_by(d + 1).for_each(|c| *c += 1.0 - UPPER);
    Ok(mean.then(&Whitening::from_covariance(&origin, &covariance)?)?)
}

/// Whitening by a Hessian; where that is singular (as Huber's can be), by a little more than it.
pub(super) fn definite(centre: &[f64], mut hessian: Vec<f64>) -> Result<Whitening, Error> {
    let d = centre.len();
    if d == 0 {
        return Ok(Whitening::diagonal(&[], &[])?);
    }
    let trace: f64 = hessian.iter().step_by(d + 1).sum();
    let mut added = 1e-8 * trace / d as f64;
    loop {
        match Whitening::from_hessian(centre, &hessian) {
            Ok(whitening) => return Ok(whitening),
            Err(error) if !(added > 0.0 && added < trace) => return Err(error.into()),
            Err(_) => {
                (0..d).for_each(|k| hessian[k * (d + 1)] += added);
                added *= 100.0;
            }
        }
    }
}

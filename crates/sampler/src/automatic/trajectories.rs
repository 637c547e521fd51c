//! Trajectories without bias: how long their steps are, by the acceptance that is seen, and how
//! many, by the autocorrelation that is seen.
//!
//! In whitened coordinates drifts rotate, so that on a normal posterior nothing is left to the
//! kicks and one step of a quarter turn is an independent draw. What a posterior has beyond that
//! shows in the energy errors: steps are made as long as a wanted acceptance allows, and more of
//! them take the place of a longer one where that pays.

use ridgewalk_lyapunov::laws::{Autocorrelation, Drift, Scheme, Trajectory};
use ridgewalk_potentials::{LineIntegral, Scratch};

use super::bias::Bias;
use super::candidates::{Candidate, Wanted};
use super::history::Decision;
use super::search::SHARE;
use super::target::Target;
use super::warm_up::{FAR, Work};
use crate::acceptance::Acceptance;
use crate::ensemble::Ensemble;
use crate::error::{Error, Quantity};
use crate::kernels::from_scheme;

/// The acceptance that steps aim for. Effective draws per gradient change little between 0.65
/// and 0.85.
const ACCEPTANCE: f64 = 0.75;
/// The longest useful step of a trajectory of one: somewhat more than a quarter turn, after which a
/// normal coordinate has forgotten where it was; and the longest useful trajectory of more, in
/// which noise between the steps takes part.
const ONE_STEP: f64 = 1.65;
const LONGEST: f64 = 2.2;
/// Steps enough to cover this time are tried where one is not enough.
const ENOUGH: f64 = 1.8;
/// The most steps of a trajectory.
const MOST: u32 = 32;
/// Trajectories of each chain that find the step; those after which it is taken as it is if nothing
/// has shortened it; and those that autocorrelations are seen in.
const ADAPTING: u32 = 20;
const SETTLED: u32 = 8;
const SEEN: u32 = 24;
/// Dual averaging (Nesterov 2009; Hoffman and Gelman 2014): how strongly the step follows the
/// acceptance, how many trajectories the start counts for, and how fast old steps are forgotten in
/// their mean.
const FOLLOWING: f64 = 0.1;
const START: f64 = 10.0;
const FORGETTING: f64 = 0.75;
/// Values of γ and ξ that are tried. Over ten trajectories of breast cancer none beyond them did
/// better.
const GAMMAS: [f64; 4] = [0.2, 0.5, 0.8, 1.2];
const XIS: [f64; 2] = [2.0, 3.0];
/// Effective draws per gradient that new coordinates may bring: from Hessians, and from the
/// covariance of a pilot, whose noise costs acceptance.
const BEST: f64 = 0.75;
const BEST_OF_COVARIANCE: f64 = 0.4;

impl<T: Target> Work<'_, T> {
    /// Trajectories, and the coordinates that they suit: those of the mode, or new ones if these
    /// pay.
    pub(super) fn exact(&mut self, white: T::White) -> Result<(T::White, Candidate), Error> {
        let first = self.try_trajectories(&white, 1)?;
        let best = if self.curvature_points() > 0 { BEST } else { BEST_OF_COVARIANCE };
        let wanted = (self.question.draws as f64) * self.chains() as f64 * BEST;
        let saved = wanted * (first.efficiency.recip() - best.recip());
        if saved <= self.rewhitening() as f64 {
            let best = self.more_steps(&white, first, 0)?;
            return Ok((white, best));
        }
        self.rewhiten(&white)?;
        let white = self.question.target.whitened(&self.whitening)?;
        let best = self.fit_trajectories(&white, 0)?;
        Ok((white, best))
    }

    /// The trajectories with most effective draws per gradient, in these coordinates. `others`:
    /// gradients that were spent on other kernels, which leave these their share.
    pub(super) fn fit_trajectories(
        &mut self, white: &T::White, others: u64,
    ) -> Result<Candidate, Error> {
        let first = self.try_trajectories(white, 1)?;
        self.more_steps(white, first, others)
    }

    /// The same, given those of one step: more are tried as long as they are better, and can be
    /// afforded.
    fn more_steps(
        &mut self, white: &T::White, first: Candidate, others: u64,
    ) -> Result<Candidate, Error> {
        let eta = first.scheme.eta();
        if eta >= 0.95 * longest_step(1) {
            return Ok(first);
        }
        let (mut best, mut tried) = (first, vec![1]);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 32")]
        let mut next = (ENOUGH / eta).ceil().clamp(2.0, f64::from(MOST)) as u32;
        loop {
            tried.push(next);
            if !self.affords_trajectories(&best, next, others) {
                return Ok(best);
            }
            let found = self.try_trajectories(white, next)?;
            if found.beats(&best) {
                best = found;
            }
            let steps = best.scheme.gradients_per_step();
            let change = (steps / 4).max(1);
            let neighbours = [steps + change, steps.saturating_sub(change).max(1)];
            match neighbours.into_iter().find(|k| *k <= MOST && !tried.contains(k)) {
                Some(neighbour) => next = neighbour,
                None => return Ok(best),
            }
        }
    }

    /// Whether trajectories of this many steps can be tried within the warm-up's share of the run
    /// that `best` would make.
    fn affords_trajectories(&self, best: &Candidate, steps: u32, others: u64) -> bool {
        let cost = u64::from(steps * (ADAPTING + SEEN)) * self.chains() as u64;
        (self.gradients - others + cost) as f64 <= SHARE * self.run_cost(best)
    }

    /// Finds the step size of trajectories of this many steps, and measures their efficiency.
    fn try_trajectories(&mut self, white: &T::White, steps: u32) -> Result<Candidate, Error> {
        let (d, wanted) = (self.whitening.dimension(), self.question.wanted);
        // A potential without values is reported by its own error, not by chains that end.
        let mut gradient = vec![0.0; d];
        white.values_and_gradients(
            &self.states[..d],
            &mut [0.0],
            &mut gradient,
            &mut Scratch::default(),
        )?;
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        let mut step = Averaging::new(wanted.eta.unwrap_or(longest_step(steps)));
        for made in 0..ADAPTING {
            self.go_on()?;
            if made == SETTLED && (wanted.eta.is_some() || step.at_longest()) {
                break;
            }
            let seen = advance(&mut ensemble, &trajectory(steps, step.eta(), wanted)?)?;
            if wanted.eta.is_none() {
                step.hear(seen.rate());
            }
        }
        let scheme = trajectory(steps, step.mean(), wanted)?;
        let (mut motion, before) = (Motion::new(d), ensemble.acceptance());
        let mut from = self.positions(&ensemble);
        for _ in 0..SEEN {
            self.go_on()?;
            advance(&mut ensemble, &scheme)?;
            let to = self.positions(&ensemble);
            motion.push(&from, &to);
            from = to;
        }
        self.states = from;
        self.gradients += ensemble.gradients() + 1;
        let acceptance = ensemble.acceptance().since(&before);
        let efficiency = motion.efficiency() / f64::from(steps);
        self.decide(Decision::Trajectories {
            scheme: scheme.clone(),
            acceptance: acceptance.rate(),
            divergences: acceptance.divergences,
            efficiency,
        });
        let bias = Bias::NONE;
        let gradients_per_step = u64::from(steps);
        Ok(Candidate {
            scheme,
            bias,
            differences: Vec::new(),
            efficiency,
            gradients_per_step,
            within: true,
        })
    }

    fn positions(&self, ensemble: &Ensemble<'_>) -> Vec<f64> {
        (0..self.chains())
            .filter_map(|chain| ensemble.state(chain))
            .flat_map(|state| state.theta)
            .collect()
    }
}

/// One trajectory of every chain, and its acceptance. A chain that ends is an error.
fn advance(ensemble: &mut Ensemble<'_>, scheme: &Scheme) -> Result<Acceptance, Error> {
    let before = ensemble.acceptance();
    ensemble.advance(&*from_scheme(scheme, 1.0)?, 1);
    match (0..ensemble.chains()).find_map(|chain| ensemble.end(chain)) {
        Some(end) => Err(Error::Pilot { why: end.why.to_string() }),
        None => Ok(ensemble.acceptance().since(&before)),
    }
}

fn longest_step(steps: u32) -> f64 {
    if steps == 1 { ONE_STEP } else { LONGEST / f64::from(steps) }
}

/// The trajectory of this many steps of η with the γ and ξ that forget fastest, by the exact laws.
/// Values set by the user are kept.
fn trajectory(steps: u32, eta: f64, wanted: Wanted) -> Result<Scheme, Error> {
    let [low, high] = FAR;
    let eigenvalues = [low, (low * high).sqrt(), high];
    let gammas = wanted.gamma.map_or(GAMMAS.to_vec(), |gamma| vec![gamma]);
    let xis = wanted.xi.map_or(XIS.to_vec(), |xi| vec![xi]);
    let mut best: Option<(Scheme, f64)> = None;
    for (gamma, xi) in gammas.iter().flat_map(|gamma| xis.iter().map(|xi| (*gamma, *xi))) {
        let scheme =
            Scheme::adjusted(gamma, xi, eta, Trajectory { steps, drift: Drift::Rotating })?;
        // A trajectory that is not stable there is the worst, but it is one: what it proposes is
        // rejected.
        let time = eigenvalues.iter().try_fold(0.0_f64, |worst, l| {
            Some(worst.max(Autocorrelation::new(&scheme.linear_form(*l).ok()?)?.longer()))
        });
        let time = time.unwrap_or(f64::INFINITY);
        if best.as_ref().is_none_or(|(_, shortest)| time < *shortest) {
            best = Some((scheme, time));
        }
    }
    best.map(|(scheme, _)| scheme).ok_or(Error::Zero { what: Quantity::Frictions })
}

/// The step size by dual averaging of the acceptance, no longer than where it began.
#[derive(Debug)]
struct Averaging {
    /// Logarithms: of the longest step, of the present one and of the mean.
    longest: f64,
    now: f64,
    mean: f64,
    lack: f64,
    heard: f64,
    shortened: bool,
}

impl Averaging {
    fn new(longest: f64) -> Self {
        let longest = longest.ln();
        Self { longest, now: longest, mean: longest, lack: 0.0, heard: 0.0, shortened: false }
    }

    /// Adds an acceptance that was seen at the present step.
    fn hear(&mut self, acceptance: f64) {
        self.heard += 1.0;
        let weight = (self.heard + START).recip();
        self.lack += weight * (ACCEPTANCE - acceptance - self.lack);
        self.now = (self.longest - self.heard.sqrt() / FOLLOWING * self.lack).min(self.longest);
        self.shortened |= self.mean < self.longest - 0.05;
        let weight = self.heard.powf(-FORGETTING);
        self.mean += weight * (self.now - self.mean);
    }

    fn eta(&self) -> f64 {
        self.now.exp()
    }

    /// What is taken in the end.
    fn mean(&self) -> f64 {
        self.mean.exp()
    }

    fn at_longest(&self) -> bool {
        !self.shortened && self.mean > self.longest - 0.05
    }
}

/// How far coordinates and their squares go from one draw to the next, beside how far they are
/// spread.
#[derive(Debug)]
struct Motion {
    count: f64,
    /// For each coordinate, of x and of x²: the sum, that of squares, and that of squared
    /// differences between draws.
    sums: Vec<[[f64; 3]; 2]>,
}

impl Motion {
    fn new(dimension: usize) -> Self {
        Self { count: 0.0, sums: vec![[[0.0; 3]; 2]; dimension] }
    }

    /// Adds a draw of each chain and the next.
    fn push(&mut self, from: &[f64], to: &[f64]) {
        let d = self.sums.len();
        for (from, to) in from.chunks_exact(d).zip(to.chunks_exact(d)) {
            self.count += 1.0;
            for ((sums, x), y) in self.sums.iter_mut().zip(from).zip(to) {
                for (sums, [x, y]) in sums.iter_mut().zip([[*x, *y], [x * x, y * y]]) {
                    sums[0] += y;
                    sums[1] += y * y;
                    sums[2] += (y - x) * (y - x);
                }
            }
        }
    }

    /// Effective draws per draw, of the slowest quarter of the coordinates and of the slower of
    /// them and their squares, taken to forget geometrically.
    fn efficiency(&self) -> f64 {
        let quarter = self.sums.len().div_ceil(4);
        let of = |moment: usize| {
            let mut correlations: Vec<f64> = self
                .sums
                .iter()
                .map(|sums| {
                    let [sum, squares, moved] = sums[moment].map(|sum| sum / self.count);
                    1.0 - 0.5 * moved / (squares - sum * sum)
                })
                .collect();
            correlations.sort_by(|a, b| b.total_cmp(a));
            let slow = correlations[..quarter].iter().sum::<f64>() / quarter as f64;
            // Draws that stay where they are have neither a spread nor a correlation.
            if slow.is_finite() { ((1.0 - slow) / (1.0 + slow)).max(0.0) } else { 0.0 }
        };
        of(0).min(of(1)).clamp(1e-6, 1.0)
    }
}

//! The search for a kernel's longest step whose measured bias is within the tolerance, at a bounded
//! cost.

use ridgewalk_lyapunov::laws::{KernelKind, Scheme};

use super::bias::Bias;
use super::candidates::{Candidate, NEARLY_NORMAL, first_step, longest_step, with_best_friction};
use super::history::Decision;
use super::target::Target;
use super::warm_up::{NEAR, NEARER, Work};
use crate::coupled::CoupledChains;
use crate::error::{Error, Quantity};
use crate::kernels::{BuiltIn, from_scheme};

/// The part of the tolerance that a predicted bias is aimed at.
const AIM: f64 = 0.7;
/// A bias this many times the tolerance shows that a posterior is not nearly normal after all.
const HOPELESS: f64 = 10.0;
/// How often a kernel's step is corrected at most.
const ROUNDS: usize = 6;
/// A step that is longer by less than this factor is not worth another measurement.
const WORTHWHILE: f64 = 1.15;
/// What the whole warm-up may cost, as a share of the run, before a step that is within the
/// tolerance is taken as it is.
pub(super) const SHARE: f64 = 0.19;
/// Time of the dynamics that pairs of chains get to drift apart before they are compared.
const DRIFT: f64 = 6.0;
/// What one measurement may cost, as a share of the run, before it is taken as it is, and its
/// blocks of steps at most.
const MEASUREMENT: f64 = 0.07;
const BLOCKS: u64 = 8;

impl<T: Target> Work<'_, T> {
    /// The longest step of a kernel that is within the tolerance; if none is found, the least
    /// biased one.
    pub(super) fn fit_step(
        &mut self, white: &T::White, kernel: KernelKind, range: [f64; 2],
    ) -> Result<Candidate, Error> {
        let (wanted, tolerance) = (self.question.wanted, self.question.tolerance);
        let longest = longest_step(kernel, range[1]);
        // Most posteriors with far more rows than columns are so nearly normal that the longest of
        // steps will do: that is tried first.
        let hopeful = kernel == NEARLY_NORMAL && range == NEAR && wanted.eta.is_none();
        let mut ready_for = if hopeful { NEARER } else { range };
        let mut eta = wanted.eta.unwrap_or_else(|| first_step(kernel, ready_for[1]));
        let mut best: Option<Candidate> = None;
        let mut too_long = f64::INFINITY;
        for _ in 0..ROUNDS {
            let (scheme, per_step) = with_best_friction(kernel, eta, ready_for, wanted)?;
            ready_for = range;
            let steps = from_scheme(&scheme, 1.0)?.gradients_per_step(white);
            if best.as_ref().is_some_and(|best| best.within && !self.affords(best, &scheme, steps))
            {
                break;
            }
            let found = self.measure(white, scheme, per_step)?;
            let bias = found.bias.bound();
            let power = BuiltIn::of(kernel).bias_order.recip();
            let predicted = eta * (AIM * tolerance / bias).powf(power);
            let within = found.within;
            // A kernel that was asked for is given up in its first coordinates only: there is no
            // other.
            let given_up = kernel == NEARLY_NORMAL && (wanted.kernel.is_none() || range == NEAR);
            let hopeless = given_up && found.bias.largest() > HOPELESS * tolerance;
            if best.as_ref().is_none_or(|old| found.beats(old)) {
                best = Some(found);
            }
            if wanted.eta.is_some() || hopeless {
                break;
            }
            let good = best.as_ref().filter(|best| best.within).map(|best| best.scheme.eta());
            eta = if within {
                // Longer, but only half the way to what was too long.
                predicted.min(1.5 * eta).min(longest).min((eta * too_long).sqrt())
            } else {
                too_long = too_long.min(eta);
                let shorter = if predicted.is_finite() {
                    predicted.clamp(0.3 * eta, 0.9 * eta)
                } else {
                    0.5 * eta
                };
                shorter.max(good.map_or(0.0, |good| (good * eta).sqrt()))
            };
            if good.is_some_and(|good| eta < WORTHWHILE * good) {
                break;
            }
        }
        best.ok_or(Error::Zero { what: Quantity::Rounds })
    }

    /// Whether another measurement keeps the warm-up within its share of the run that `best` would
    /// make.
    fn affords(&self, best: &Candidate, next: &Scheme, gradients_per_step: u64) -> bool {
        let steps = DRIFT / next.eta() + 2.0 * CoupledChains::block_of(next.eta()) as f64;
        self.affords_steps(best, steps, self.gradients, gradients_per_step)
    }

    /// The same for a number of steps of pairs.
    fn affords_steps(
        &self, best: &Candidate, steps: f64, spent: u64, gradients_per_step: u64,
    ) -> bool {
        let cost = 3.0 * steps * self.chains() as f64 * gradients_per_step as f64;
        spent as f64 + cost <= SHARE * self.run_cost(best)
    }

    /// Gradients of the run that a candidate would make, with no fewer chains than the warm-up has.
    pub(super) fn run_cost(&self, candidate: &Candidate) -> f64 {
        let per_draw = candidate.thin() * candidate.gradients_per_step;
        self.question.draws as f64 * self.chains() as f64 * per_draw as f64
    }

    /// The bias of a scheme, measured until it is clear whether it is within the tolerance, or no
    /// more can be afforded.
    fn measure(
        &mut self, white: &T::White, scheme: Scheme, per_step: f64,
    ) -> Result<Candidate, Error> {
        let seed = self.next_seed();
        let tolerance = self.question.tolerance;
        self.go_on()?;
        let shared = self.question.team.share(white);
        let whitening = self.in_frame()?;
        let mut chains =
            CoupledChains::new(&shared, &scheme, 1.0, seed, &self.states)?.whitened(&whitening)?;
        chains.drift(DRIFT)?;
        let gradients_per_step = from_scheme(&scheme, 1.0)?.gradients_per_step(white).max(1);
        let differences = chains.measure(chains.block())?;
        let bias = Bias::from_differences(&differences);
        let efficiency = per_step / gradients_per_step as f64;
        let mut found = Candidate {
            scheme,
            bias,
            differences,
            efficiency,
            promised: efficiency,
            gradients_per_step,
            within: false,
            points: Vec::new(),
        };
        for blocks in 1..BLOCKS {
            self.go_on()?;
            // One block is enough for a clear case only.
            let (enough, too_much) = if blocks == 1 { (0.5, 2.0) } else { (1.0, 1.0) };
            let clear = found.bias.bound() <= enough * tolerance
                || found.bias.at_least() > too_much * tolerance;
            let spent = self.gradients + chains.gradients();
            let dear =
                !self.affords_steps(&found, chains.block() as f64, spent, gradients_per_step)
                    || chains.gradients() as f64 > MEASUREMENT * self.run_cost(&found);
            if clear || dear {
                break;
            }
            found.differences = chains.measure(chains.block())?;
            found.bias = Bias::from_differences(&found.differences);
        }
        self.gradients += chains.gradients();
        // A step that is far too long has taken even the finer chains away from where the posterior
        // is. The bound shows this, the estimate does not: a bias with an enormous error is drawn
        // to 0.
        if found.bias.bound() <= HOPELESS * tolerance {
            self.states.copy_from_slice(chains.fine().theta());
        }
        found.within = found.bias.bound() <= tolerance;
        let Candidate { scheme, bias, efficiency, within, .. } = &found;
        let (scheme, bias, efficiency, accepted) = (scheme.clone(), *bias, *efficiency, *within);
        self.decide(Decision::Tried { scheme, bias, efficiency, accepted });
        Ok(found)
    }
}

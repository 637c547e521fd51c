//! Some chains that take their steps together, as columns of one batch, and how a failure of one
//! of them is handled.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ridgewalk_potentials::LineIntegral;

use crate::acceptance::{Acceptance, DrawStats, Proposal};
use crate::batch::{Batch, State};
use crate::ensemble::SavedChain;
use crate::error::panic_message;
use crate::kernels::{Kernel, Step, Workspace};
use crate::noise::{Buffer, Stream};
use crate::outcome::{ChainEnd, Why};
use crate::vitals::Vitals;

/// Which steps' states are draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Schedule {
    pub(crate) warm_up: u64,
    pub(crate) thin: u64,
}

impl Schedule {
    /// Draws among the first `steps` steps.
    pub(crate) fn draws(self, steps: u64) -> u64 {
        steps.saturating_sub(self.warm_up) / self.thin
    }

    pub(crate) fn keeps(self, step: u64) -> bool {
        step > self.warm_up && (step - self.warm_up).is_multiple_of(self.thin)
    }
}

/// What belongs to a chain besides its state.
#[derive(Debug, Clone)]
pub(crate) struct Chain {
    pub(crate) number: usize,
    pub(crate) stream: Stream,
    pub(crate) steps: u64,
    pub(crate) gradients: u64,
    pub(crate) acceptance: Acceptance,
    /// Since the last draw.
    pub(crate) recent: Acceptance,
    pub(crate) vitals: Option<Vitals>,
    pub(crate) end: Option<ChainEnd>,
}

impl Chain {
    fn count(&mut self, proposal: &Proposal) {
        self.acceptance.count(proposal);
        self.recent.count(proposal);
        if let Some(vitals) = &mut self.vitals {
            vitals.count(proposal);
        }
    }
}

/// A chain's draws that no sink has taken yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Waiting {
    pub(crate) points: Vec<f64>,
    /// One entry per draw.
    pub(crate) stats: Vec<Option<DrawStats>>,
    /// The number of the first.
    pub(crate) first: u64,
    /// How many of them a delivery that is under way has given.
    pub(crate) given: usize,
}

impl Waiting {
    /// The numbers of the draws.
    pub(crate) fn draws(&self, dimension: usize) -> Range<u64> {
        self.first..self.first + (self.points.len() / dimension) as u64
    }

    /// The draw of this number, if it is the next to be given.
    pub(crate) fn next(&self, draw: u64, dimension: usize) -> Option<(&[f64], Option<&DrawStats>)> {
        if self.first + self.given as u64 != draw {
            return None;
        }
        let point = self.points.get(self.given * dimension..(self.given + 1) * dimension)?;
        Some((point, self.stats.get(self.given)?.as_ref()))
    }

    pub(crate) fn given(&mut self) {
        self.given += 1;
    }

    /// Forgets those that were given.
    pub(crate) fn settle(&mut self, dimension: usize) {
        self.points.drain(..self.given * dimension);
        self.stats.drain(..self.given);
        self.first += self.given as u64;
        self.given = 0;
    }
}

/// Chains that take their steps together.
#[derive(Debug)]
pub(crate) struct Group {
    /// In the order of the batch.
    pub(crate) active: Vec<Chain>,
    pub(crate) ended: Vec<Chain>,
    pub(crate) now: Batch,
    /// In the order of the chains' numbers, which follow each other.
    pub(crate) waiting: Vec<Waiting>,
    /// The first chain's number.
    pub(crate) first: usize,
    next: Batch,
    noise: Buffer,
    workspace: Workspace,
}

impl Group {
    /// Chains whose numbers follow each other, from `first` on.
    pub(crate) fn new(first: usize, active: Vec<Chain>, ended: Vec<Chain>, now: Batch) -> Self {
        let next = now.clone();
        let waiting = vec![Waiting::default(); active.len() + ended.len()];
        let (noise, workspace) = (Buffer::default(), Workspace::default());
        Self { active, ended, now, waiting, first, next, noise, workspace }
    }

    /// Makes steps, and keeps the draws among them.
    pub(crate) fn advance(
        &mut self, potential: &dyn LineIntegral, kernel: &dyn Kernel, steps: u64,
        schedule: Option<Schedule>,
    ) {
        self.make_room(kernel, steps, schedule);
        for _ in 0..steps {
            if self.active.is_empty() {
                return;
            }
            self.step(potential, kernel);
            let Some(schedule) = schedule else { continue };
            self.keep_draws(kernel.smoothness(), schedule);
            self.note_draws(potential, schedule);
        }
    }

    /// Stores the states that are draws, with their statistics if the kernel accepts or rejects.
    fn keep_draws(&mut self, smoothness: f64, schedule: Schedule) {
        for (slot, chain) in self.active.iter_mut().enumerate() {
            // Proposals before the first step that can be a draw are no part of its statistics.
            if chain.steps <= schedule.warm_up {
                chain.recent = Acceptance::default();
            }
            if !schedule.keeps(chain.steps) {
                continue;
            }
            let range = self.now.range(slot);
            let recent = std::mem::take(&mut chain.recent);
            let value = self.now.values().map(|values| values[slot]);
            let stats = value.filter(|_| recent.proposals > 0).map(|value| {
                let squares: f64 = self.now.p()[range.clone()].iter().map(|p| p * p).sum();
                DrawStats {
                    acceptance_rate: recent.rate(),
                    energy: value + 0.5 * smoothness * squares,
                    lp: -value,
                    diverging: recent.divergences > 0,
                }
            });
            let waiting = &mut self.waiting[chain.number - self.first];
            waiting.points.extend_from_slice(&self.now.theta()[range]);
            waiting.stats.push(stats);
        }
    }

    /// Every chain that has just made a draw notes it, if it takes notes.
    fn note_draws(&mut self, potential: &dyn LineIntegral, schedule: Schedule) {
        let draws = |chain: &Chain| schedule.keeps(chain.steps) && chain.vitals.is_some();
        if !self.active.iter().any(draws) {
            return;
        }
        if self.now.gradient().is_none() {
            self.find_gradients(potential, schedule);
            return;
        }
        let Some(gradients) = self.now.gradient() else { return };
        for (slot, chain) in self.active.iter_mut().enumerate() {
            if let Some(vitals) = chain.vitals.as_mut().filter(|_| schedule.keeps(chain.steps)) {
                let range = self.now.range(slot);
                let value = self.now.values().map(|values| values[slot]);
                vitals.draw(&self.now.theta()[range.clone()], &gradients[range], value);
            }
        }
    }

    /// For kernels that leave no gradient: it is computed for some of the draws. The potential may
    /// fail or panic there, which is not the chain's fault: that draw is not noted.
    fn find_gradients(&mut self, potential: &dyn LineIntegral, schedule: Schedule) {
        let room = self.workspace.room(&self.now);
        for (slot, chain) in self.active.iter_mut().enumerate() {
            let Some(vitals) = chain.vitals.as_mut().filter(|_| schedule.keeps(chain.steps)) else {
                continue;
            };
            if !schedule.draws(chain.steps).is_multiple_of(vitals.reference().every) {
                continue;
            }
            let point = &self.now.theta()[self.now.range(slot)];
            let gradient = &mut room.first[..point.len()];
            let found = catch_unwind(AssertUnwindSafe(|| {
                potential.gradients(point, gradient, room.scratch)
            }));
            chain.gradients += 1;
            if matches!(found, Ok(Ok(()))) && gradient.iter().all(|g| g.is_finite()) {
                vitals.draw(point, gradient, None);
            }
        }
    }

    fn make_room(&mut self, kernel: &dyn Kernel, steps: u64, schedule: Option<Schedule>) {
        self.noise.resize(kernel, self.now.dimension(), self.active.len());
        let Some(schedule) = schedule else { return };
        for chain in &self.active {
            let waiting = &mut self.waiting[chain.number - self.first];
            if waiting.points.is_empty() {
                waiting.first = schedule.draws(chain.steps);
            }
            let draws =
                schedule.draws(chain.steps.saturating_add(steps)) - schedule.draws(chain.steps);
            let draws = usize::try_from(draws).unwrap_or(0);
            waiting.points.reserve(draws.saturating_mul(self.now.dimension()));
            waiting.stats.reserve(draws);
        }
    }

    fn step(&mut self, potential: &dyn LineIntegral, kernel: &dyn Kernel) {
        for (slot, chain) in self.active.iter_mut().enumerate() {
            self.noise.draw(slot, &mut chain.stream);
        }
        let (to, workspace) = (&mut self.next, &mut self.workspace);
        let noise = self.noise.all();
        let together = attempt(kernel, Step { potential, from: &self.now, noise, to, workspace });
        match together {
            Ok(spent) => {
                for chain in &mut self.active {
                    chain.gradients += spent;
                }
                for (chain, proposal) in self.active.iter_mut().zip(self.next.proposals()) {
                    chain.count(proposal);
                }
            }
            Err(why) => self.one_by_one(potential, kernel, why),
        }
        for (slot, chain) in self.active.iter_mut().enumerate() {
            if chain.end.is_none() && !self.next.is_finite(slot) {
                chain.end = Some(end(chain, &self.now, slot, Why::NonFinite));
            }
            if chain.end.is_none() {
                chain.steps += 1;
            }
        }
        std::mem::swap(&mut self.now, &mut self.next);
        if self.active.iter().any(|chain| chain.end.is_some()) {
            self.take_out_ended(kernel);
        }
    }

    /// Makes the step that failed for all together for each chain alone, with the same noise, to
    /// find those that cannot make it.
    fn one_by_one(&mut self, potential: &dyn LineIntegral, kernel: &dyn Kernel, why: Why) {
        if let [chain] = self.active.as_mut_slice() {
            chain.end = Some(end(chain, &self.now, 0, why));
            return;
        }
        self.next.assume_values();
        for (slot, chain) in self.active.iter_mut().enumerate() {
            let from = self.now.only(slot);
            let mut to = from.clone();
            let (noise, workspace) = (self.noise.of(slot), &mut self.workspace);
            let step = Step { potential, from: &from, noise, to: &mut to, workspace };
            match attempt(kernel, step) {
                Ok(spent) => {
                    chain.gradients += spent;
                    to.proposals().iter().for_each(|proposal| chain.count(proposal));
                    self.next.copy_chain(slot, &to, 0);
                }
                Err(why) => chain.end = Some(end(chain, &self.now, slot, why)),
            }
        }
    }

    fn take_out_ended(&mut self, kernel: &dyn Kernel) {
        for slot in (0..self.active.len()).rev() {
            if self.active[slot].end.is_some() {
                self.ended.push(self.active.remove(slot));
                self.now.remove(slot);
                self.next.remove(slot);
            }
        }
        self.noise.resize(kernel, self.now.dimension(), self.active.len());
    }

    /// The state that a chain has, or last had, if it is here.
    pub(crate) fn state(&self, number: usize) -> Option<State> {
        match self.active.iter().position(|chain| chain.number == number) {
            Some(slot) => Some(self.now.copy_of(slot)),
            None => {
                let chain = self.ended.iter().find(|chain| chain.number == number)?;
                chain.end.as_ref().map(|end| end.last.clone())
            }
        }
    }

    /// Every chain by its number, as it is stored; in no order.
    pub(crate) fn saved(&self) -> impl Iterator<Item = (usize, SavedChain)> {
        self.states().map(|(chain, state, gradient, value)| {
            let Chain { stream, steps, gradients, acceptance, recent, vitals, end, .. } = chain;
            let saved = SavedChain {
                state,
                gradient,
                value,
                position: stream.position(),
                steps: *steps,
                gradients: *gradients,
                acceptance: *acceptance,
                recent: *recent,
                vitals: vitals.clone(),
                end: end.clone(),
            };
            (chain.number, saved)
        })
    }

    /// Every chain with the state it has, or last had, and the gradient and the value there if they
    /// are stored.
    fn states(&self) -> impl Iterator<Item = (&Chain, State, Option<Vec<f64>>, Option<f64>)> {
        let active = self.active.iter().enumerate().map(|(slot, chain)| {
            let gradient = self.now.gradient().map(|all| all[self.now.range(slot)].to_vec());
            (chain, self.now.copy_of(slot), gradient, self.now.values().map(|values| values[slot]))
        });
        let ended = self.ended.iter();
        let ended =
            ended.filter_map(|chain| Some((chain, chain.end.as_ref()?.last.clone(), None, None)));
        active.chain(ended)
    }
}

fn end(chain: &Chain, now: &Batch, slot: usize, why: Why) -> ChainEnd {
    ChainEnd { step: chain.steps + 1, last: now.copy_of(slot), why }
}

/// A step, with a panic in the potential caught.
fn attempt(kernel: &dyn Kernel, step: Step<'_>) -> Result<u64, Why> {
    // A panic may leave `to` and the workspace half written. Both are written anew before they are
    // read again: a step that failed is not used, and working space has no content between calls.
    // The potential's own state is up to its owner.
    match catch_unwind(AssertUnwindSafe(|| kernel.step(step))) {
        Ok(result) => result.map_err(Why::from),
        Err(payload) => Err(Why::Panic { message: panic_message(&*payload) }),
    }
}

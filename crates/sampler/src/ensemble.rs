//! Chains with their states and random streams, which can be advanced, saved and restored.

use std::fmt;

use rayon::prelude::*;
use ridgewalk_potentials::LineIntegral;

use crate::acceptance::Acceptance;
use crate::batch::{Batch, State};
use crate::codec::Code;
use crate::error::{Error, Quantity, SavedKind, length, positive};
use crate::group::{Chain, Group, Schedule, Waiting};
use crate::kernels::Kernel;
use crate::noise::Stream;
use crate::outcome::ChainEnd;
use crate::sink::Sink;
use crate::team::Team;
use crate::vitals::Vitals;

/// The most chains that take their steps together: as many as the potentials' passes over data take
/// at a time.
const WIDEST: usize = 32;

/// Many chains on one potential.
///
/// They are put into groups that take their steps together, and groups are advanced in parallel in
/// rayon's current pool. None of that changes a chain: its course depends on the seed, its own
/// number, its start, the potential and the kernels alone.
pub struct Ensemble<'a> {
    potential: &'a (dyn LineIntegral + Sync),
    seed: u64,
    chains: usize,
    steps: u64,
    groups: Vec<Group>,
    /// Processes that have other chains.
    team: Team,
}

impl fmt::Debug for Ensemble<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ensemble")
            .field("seed", &self.seed)
            .field("steps", &self.steps)
            .field("groups", &self.groups)
            .finish_non_exhaustive()
    }
}

/// Everything that determines how an ensemble goes on, in plain numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct Snapshot {
    /// The seed.
    pub seed: u64,
    /// Steps made.
    pub steps: u64,
    /// Chain by chain.
    pub chains: Vec<SavedChain>,
}

/// The most steps or gradients that a saved chain can have made: beyond, counting on would overflow
/// one day.
const MOST: u64 = 1 << 53;

/// One chain of a [`Snapshot`].
#[derive(Debug, Clone, PartialEq)]
pub struct SavedChain {
    /// Its state, or the last good one.
    pub state: State,
    /// The gradient at its position, where the last step has left it. Without it the next step may
    /// have to compute it again, which changes the count of gradients and nothing else.
    pub gradient: Option<Vec<f64>>,
    /// U there, where the last step has left it with the gradient.
    pub value: Option<f64>,
    /// How much of its random stream was used.
    pub position: u128,
    /// Steps that it made.
    pub steps: u64,
    /// Gradients that they took.
    pub gradients: u64,
    /// Statistics of its proposals.
    pub acceptance: Acceptance,
    /// Statistics of those since its last draw.
    pub recent: Acceptance,
    /// What it notes about itself, for the checks of a finished run; `None` if it takes no notes.
    pub vitals: Option<Vitals>,
    /// Its end, if it could not go on.
    pub end: Option<ChainEnd>,
}

impl<'a> Ensemble<'a> {
    /// Chains that start at the points `starts`, one after the other, with p and r drawn from N(0,
    /// I/L).
    ///
    /// # Errors
    /// For no chains, starts that are not whole points of the potential's dimension or not finite,
    /// a bad L.
    pub fn new(
        potential: &'a (dyn LineIntegral + Sync), seed: u64, starts: &[f64], smoothness: f64,
    ) -> Result<Self, Error> {
        positive("smoothness", smoothness)?;
        Self::begin(potential, seed, starts, smoothness.sqrt().recip())
    }

    /// Chains that start at the points `starts`, one after the other, at rest: p = r = 0, as in the
    /// paper. Their steps have the same noise as those of [`Ensemble::new`].
    ///
    /// # Errors
    /// For no chains, and starts that are not whole points of the potential's dimension or not
    /// finite.
    pub fn at_rest(
        potential: &'a (dyn LineIntegral + Sync), seed: u64, starts: &[f64],
    ) -> Result<Self, Error> {
        Self::begin(potential, seed, starts, 0.0)
    }

    /// Chains whose p and r have this standard deviation.
    fn begin(
        potential: &'a (dyn LineIntegral + Sync), seed: u64, starts: &[f64], scale: f64,
    ) -> Result<Self, Error> {
        let d = potential.dimension();
        if d == 0 {
            return Err(Error::Zero { what: Quantity::Dimension });
        }
        if starts.is_empty() {
            return Err(Error::Zero { what: Quantity::Chains });
        }
        length("the list of starts", starts.len(), starts.len().div_ceil(d) * d)?;
        let chains = starts.chunks_exact(d).zip(0_u64..).map(|(start, number)| {
            let mut stream = Stream::new(seed, number);
            let mut draw = || {
                let mut list = vec![0.0; d];
                stream.normals(&mut list);
                // A product with 0 could be −0.
                list.iter_mut().for_each(|x| *x = if scale == 0.0 { 0.0 } else { *x * scale });
                list
            };
            let state = State { theta: start.to_vec(), p: draw(), r: draw() };
            let position = stream.position();
            SavedChain {
                state,
                gradient: None,
                value: None,
                position,
                steps: 0,
                gradients: 0,
                acceptance: Acceptance::default(),
                recent: Acceptance::default(),
                vitals: None,
                end: None,
            }
        });
        Self::restore(potential, Snapshot { seed, steps: 0, chains: chains.collect() })
    }

    /// The ensemble of which [`Ensemble::snapshot`] was taken. It goes on as if nothing had
    /// happened, bit for bit.
    ///
    /// # Errors
    /// For no chains, and states that are not finite or not of the potential's dimension.
    pub fn restore(
        potential: &'a (dyn LineIntegral + Sync), snapshot: Snapshot,
    ) -> Result<Self, Error> {
        let Snapshot { seed, steps, chains } = snapshot;
        if chains.is_empty() {
            return Err(Error::Zero { what: Quantity::Chains });
        }
        let d = potential.dimension();
        if let Some(saved) = chains.iter().find(|saved| saved.end.is_none() && saved.steps != steps)
        {
            return Err(Error::Snapshot { got: saved.steps, need: steps });
        }
        for (chain, saved) in chains.iter().enumerate() {
            let counts = [
                ("steps", saved.steps),
                ("gradients", saved.gradients),
                ("proposals", saved.acceptance.proposals),
                ("proposals since the last draw", saved.recent.proposals),
            ];
            if let Some((name, count)) = counts.into_iter().find(|(_, count)| *count > MOST) {
                let (found, need) =
                    (format!("{name} = {count} of chain {chain}"), format!("at most {MOST}"));
                return Err(Error::Saved { what: SavedKind::Ensemble, found, need });
            }
            for Acceptance { proposals, accepted, divergences, .. } in
                [saved.acceptance, saved.recent]
            {
                if accepted > proposals || divergences > proposals {
                    let found = format!(
                        "{accepted} accepted and {divergences} divergent proposals of chain {chain}"
                    );
                    return Err(Error::Saved {
                        what: SavedKind::Ensemble,
                        found,
                        need: format!("at most {proposals}"),
                    });
                }
            }
            let State { theta, p, r } = &saved.state;
            for (what, list) in
                [("theta of a chain", theta), ("p of a chain", p), ("r of a chain", r)]
            {
                length(what, list.len(), d)?;
                if let Some(coordinate) = list.iter().position(|x| !x.is_finite()) {
                    return Err(Error::Start { chain, coordinate, value: list[coordinate] });
                }
            }
            length("the gradient of a chain", saved.gradient.as_ref().map_or(d, Vec::len), d)?;
            if saved.vitals.as_ref().is_some_and(|vitals| !vitals.fits(d)) {
                return Err(Error::Saved {
                    what: SavedKind::Ensemble,
                    found: format!("notes of chain {chain} of another shape"),
                    need: format!("notes on {d} coordinates"),
                });
            }
        }
        let team = Team::default();
        let mut ensemble =
            Self { potential, seed, chains: chains.len(), steps, groups: Vec::new(), team };
        let width = ensemble.width(chains.len());
        ensemble.regroup(chains, width)?;
        Ok(ensemble)
    }

    /// The number of chains, of `chains` in all, that take their steps together.
    fn width(&self, chains: usize) -> usize {
        if self.potential.collective() {
            // One call at a time: all in one.
            return chains.max(1);
        }
        // No group so wide that threads would be left without one, unless the potential has work
        // for them all.
        let together = chains.min(WIDEST);
        let threads =
            if self.potential.shares_out(together) { 1 } else { rayon::current_num_threads() };
        chains.div_ceil(threads).clamp(1, WIDEST)
    }

    /// The same chains shared out among processes that all have this ensemble: each advances its
    /// own in [`Ensemble::leg`].
    pub(crate) fn with_team(mut self, team: &Team) -> Result<Self, Error> {
        if team.chains().size() == 1 {
            return Ok(self);
        }
        self.team = team.clone();
        let most =
            self.team.shares(self.chains).iter().map(std::ops::Range::len).max().unwrap_or(0);
        let (chains, width) = (self.snapshot().chains, self.width(most));
        self.regroup(chains, width)?;
        Ok(self)
    }

    /// The same chains in groups of another width, 1 or more. This changes the speed and nothing
    /// else.
    ///
    /// # Errors
    /// For a width of 0.
    pub fn with_width(mut self, width: usize) -> Result<Self, Error> {
        if width == 0 {
            return Err(Error::Zero { what: Quantity::Width });
        }
        let chains = self.snapshot().chains;
        self.regroup(chains, width)?;
        Ok(self)
    }

    fn regroup(&mut self, chains: Vec<SavedChain>, width: usize) -> Result<(), Error> {
        self.groups.clear();
        for share in self.team.shares(chains.len()) {
            for (first, members) in (share.start..).step_by(width).zip(chains[share].chunks(width))
            {
                let group = self.group(first, members)?;
                self.groups.push(group);
            }
        }
        Ok(())
    }

    /// Chains whose numbers follow each other, from `first` on.
    fn group(&self, first: usize, members: &[SavedChain]) -> Result<Group, Error> {
        let d = self.potential.dimension();
        let (mut active, mut ended) = (Vec::new(), Vec::new());
        let mut now = Batch::new(d, members.iter().filter(|saved| saved.end.is_none()).count())?;
        for (number, saved) in (first..).zip(members) {
            let stream = Stream::at(self.seed, number as u64, saved.position);
            let SavedChain { steps, gradients, acceptance, recent, vitals, end, .. } =
                saved.clone();
            let chain = Chain { number, stream, steps, gradients, acceptance, recent, vitals, end };
            if chain.end.is_some() {
                ended.push(chain);
            } else {
                now.set_state(active.len(), &saved.state);
                active.push(chain);
            }
        }
        let running = members.iter().filter(|saved| saved.end.is_none());
        let stored: Vec<_> =
            running.map(|saved| (saved.gradient.as_deref(), saved.value)).collect();
        now.set_gradients(&stored);
        Ok(Group::new(first, active, ended, now))
    }

    /// The number of chains, those that ended included.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.chains
    }

    /// The dimension d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.potential.dimension()
    }

    /// Steps made by every chain that has not ended.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Chains that have not ended.
    #[must_use]
    pub fn running(&self) -> usize {
        self.groups.iter().map(|group| group.active.len()).sum()
    }

    /// Gradients of all chains so far.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.members().map(|chain| chain.gradients).fold(0, u64::saturating_add)
    }

    /// Gradients that a chain may need beside those of a step, to note a draw: 1 for chains that take
    /// notes after steps that leave no gradient.
    pub(crate) fn gradients_per_note(&self) -> u64 {
        let needs = |group: &Group| {
            group.now.gradient().is_none() && group.active.iter().any(|c| c.vitals.is_some())
        };
        u64::from(self.groups.iter().any(needs))
    }

    /// Statistics of the proposals of all chains so far.
    #[must_use]
    pub fn acceptance(&self) -> Acceptance {
        // In the order of their numbers: a sum of floating-point numbers depends on it.
        let chains = self.members_in_order();
        chains.into_iter().fold(Acceptance::default(), |sum, chain| sum.and(&chain.acceptance))
    }

    /// The state of a chain, or its last good one; `None` if there is no such chain.
    #[must_use]
    pub fn state(&self, chain: usize) -> Option<State> {
        self.groups.iter().find_map(|group| group.state(chain))
    }

    /// How a chain ended, if it did.
    #[must_use]
    pub fn end(&self, chain: usize) -> Option<&ChainEnd> {
        self.members().find(|member| member.number == chain)?.end.as_ref()
    }

    /// Makes steps. Chains that fail on the way end; [`Ensemble::end`] has the reason.
    pub fn advance(&mut self, kernel: &dyn Kernel, steps: u64) {
        self.step(kernel, steps, None);
        self.steps += steps;
    }

    /// Makes steps and stores the draws among them with the chains. Those of other processes are
    /// what these found.
    pub(crate) fn leg(
        &mut self, kernel: &dyn Kernel, steps: u64, schedule: Schedule,
    ) -> Result<(), Error> {
        self.step(kernel, steps, Some(schedule));
        self.steps += steps;
        if self.team.chains().size() > 1 { self.meet() } else { Ok(()) }
    }

    /// Advances the chains of this process.
    fn step(&mut self, kernel: &dyn Kernel, steps: u64, schedule: Option<Schedule>) {
        let potential = self.potential;
        let mine = self.team.chains().share(self.chains);
        // Groups hold chains one after the other.
        let [first, last] = [mine.start, mine.end]
            .map(|end| self.groups.partition_point(|group| group.first < end));
        match &mut self.groups[first..last] {
            [group] => group.advance(potential, kernel, steps, schedule),
            groups => {
                groups
                    .par_iter_mut()
                    .for_each(|group| group.advance(potential, kernel, steps, schedule));
            }
        }
    }

    /// Exchanges the states of chains, and the draws that wait, with the other processes.
    fn meet(&mut self) -> Result<(), Error> {
        let mine = self.team.chains().share(self.chains);
        let mut bytes = Vec::new();
        for group in self.groups.iter().filter(|group| mine.contains(&group.first)) {
            let mut members: Vec<(usize, SavedChain)> = group.saved().collect();
            members.sort_by_key(|(number, _)| *number);
            for ((_, saved), waiting) in members.iter().zip(&group.waiting) {
                saved.put(&mut bytes);
                waiting.put(&mut bytes);
            }
        }
        let all = self.team.chains().gather(&bytes);
        for (share, bytes) in self.team.shares(self.chains).into_iter().zip(all) {
            if share == mine {
                continue;
            }
            let mut left = bytes.as_slice();
            for at in 0..self.groups.len() {
                let (first, count) = (self.groups[at].first, self.groups[at].waiting.len());
                if !share.contains(&first) {
                    continue;
                }
                let (mut members, mut waiting) = (Vec::new(), Vec::new());
                for _ in 0..count {
                    members.push(SavedChain::take(&mut left)?);
                    waiting.push(Waiting::take(&mut left)?);
                }
                self.groups[at] = self.group(first, &members)?;
                self.groups[at].waiting = waiting;
            }
        }
        Ok(())
    }

    /// Hands the draws that are waiting to a sink, draw by draw, and counts them in `kept`. Those
    /// that it does not take go on waiting.
    pub(crate) fn deliver(&mut self, sink: &mut dyn Sink, kept: &mut u64) -> Result<(), Error> {
        let d = self.dimension();
        let waiting =
            self.groups.iter().flat_map(|group| &group.waiting).map(|waiting| waiting.draws(d));
        let waiting = waiting.filter(|draws| !draws.is_empty());
        let all = waiting.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0);
        let mut outcome = Ok(());
        // Groups hold chains one after the other: this is the order of their numbers.
        'all: for draw in all {
            for group in &mut self.groups {
                for (chain, waiting) in (group.first..).zip(&mut group.waiting) {
                    let Some((point, stats)) = waiting.next(draw, d) else { continue };
                    if let Err(source) = sink.keep_with(chain, draw, point, stats) {
                        outcome = Err(Error::Sink { kept: *kept, source });
                        break 'all;
                    }
                    waiting.given();
                    *kept += 1;
                }
            }
        }
        self.groups
            .iter_mut()
            .flat_map(|group| &mut group.waiting)
            .for_each(|waiting| waiting.settle(d));
        outcome?;
        sink.flush().map_err(|source| Error::Sink { kept: *kept, source })
    }

    /// In the order of their numbers.
    pub(crate) fn members_in_order(&self) -> Vec<&Chain> {
        let mut members: Vec<&Chain> = self.members().collect();
        members.sort_by_key(|chain| chain.number);
        members
    }

    fn members(&self) -> impl Iterator<Item = &Chain> {
        self.groups.iter().flat_map(|group| group.active.iter().chain(&group.ended))
    }

    /// What is needed to go on later, or elsewhere.
    #[must_use]
    pub fn snapshot(&self) -> Snapshot {
        let mut all: Vec<(usize, SavedChain)> = self.groups.iter().flat_map(Group::saved).collect();
        all.sort_by_key(|(number, _)| *number);
        let chains = all.into_iter().map(|(_, saved)| saved).collect();
        Snapshot { seed: self.seed, steps: self.steps, chains }
    }
}

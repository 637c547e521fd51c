//! Looks at the effective sample size on the way of a run, to end it once that is large enough.

use ridgewalk_diagnostics::Summarizer;

use super::sampling::Length;
use crate::acceptance::DrawStats;
use crate::draws::Table;
use crate::ensemble::Ensemble;
use crate::error::{Error, Quantity, SavedKind, positive};
use crate::saved::{SavedLooks, SavedRun, SavedWarmUp};
use crate::sink::{Sink, SinkError};

/// Draws of each chain before the effective sample size is looked at for the first time, and the
/// fewest that a later look is at.
const FIRST_LOOK: u64 = 200;
/// How much longer each interval between looks is than the one before.
const GROWTH: f64 = 1.5;
/// The most numbers that are remembered for a look, if that leaves room for [`FIRST_LOOK`] draws of
/// each chain: 32 MiB.
const REMEMBERED: usize = 1 << 22;

/// One look at the effective sample size.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Look {
    /// Draws of each chain so far.
    pub draws: u64,
    /// The smallest bulk effective sample size that the draws since the last look promise for all
    /// of them.
    #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
    pub ess: f64,
}

/// When to look at the effective sample size, and what was seen.
#[derive(Debug)]
pub(super) struct Looks {
    target: Option<f64>,
    /// Draws of each chain in earlier runs.
    before: u64,
    /// The most draws of each chain, those of earlier runs included.
    most: u64,
    interval: u64,
    made: Vec<Look>,
    reached: bool,
    workspace: Summarizer,
}

impl Looks {
    /// For a run of this length after `before` draws of each chain.
    pub(super) fn new(length: Length, before: u64) -> Result<Self, Error> {
        let (target, most) = match length {
            Length::Draws(draws) => (None, draws),
            Length::Ess { target, most } => (Some(positive("target_ess", target)?), most),
        };
        if most == 0 {
            return Err(Error::Zero { what: Quantity::Draws });
        }
        let interval = if target.is_some() { next_look(FIRST_LOOK, most) } else { most };
        let most = before.checked_add(most).ok_or(Error::TooMany { what: Quantity::Draws })?;
        Ok(Self {
            target,
            before,
            most,
            interval,
            made: Vec::new(),
            reached: false,
            workspace: Summarizer::new(),
        })
    }

    /// Takes up saved looks. Returns the number of draws of each chain at the next look, and the
    /// draws since the last.
    pub(super) fn go_on(
        &mut self, saved: Option<SavedLooks>, first: u64,
    ) -> Result<(u64, Table), Error> {
        match (saved, self.target) {
            (None, None) => Ok((first, Table::default())),
            (Some(saved), Some(_)) => {
                // 1.5 times 0 or 1 is no more, in whole numbers: looks without end.
                let least = self.interval.min(2);
                if saved.interval < least {
                    let [found, need] =
                        [saved.interval, least].map(|draws| format!("a look every {draws} draws"));
                    return Err(Error::Saved { what: SavedKind::Run, found, need });
                }
                (self.made, self.interval) = (saved.made, saved.interval);
                Ok((saved.next.min(self.most), saved.fresh))
            }
            (saved, _) => {
                let words =
                    ["a number of draws to be made", "an effective sample size to be reached"];
                let had = usize::from(saved.is_some());
                let [found, need] = [words[had], words[1 - had]].map(str::to_owned);
                Err(Error::Saved { what: SavedKind::Run, found, need })
            }
        }
    }

    /// The state to save, without the draws since the last look.
    pub(super) fn saved(&self, next: u64) -> Option<SavedLooks> {
        let (made, interval, fresh) = (self.made.clone(), self.interval, Table::default());
        self.target.map(|_| SavedLooks { made, interval, next, fresh })
    }

    /// Draws of each chain at the first look.
    pub(super) fn first(&self) -> u64 {
        self.before + self.interval
    }

    /// The last look.
    pub(super) fn last(&self) -> Option<Look> {
        self.made.last().copied()
    }

    /// All of them.
    pub(super) fn made(self) -> Vec<Look> {
        self.made
    }

    /// Whether the target was reached; true if there is none.
    pub(super) fn reached(&self) -> bool {
        self.target.is_none() || self.reached
    }

    /// The most draws of each chain that a look is at; 0 if there are no looks.
    pub(super) fn room(&self, ensemble: &Ensemble<'_>) -> usize {
        let numbers = ensemble.chains().saturating_mul(ensemble.dimension()).max(1);
        let first = usize::try_from(FIRST_LOOK).unwrap_or(usize::MAX);
        if self.target.is_some() { (REMEMBERED / numbers).max(first) } else { 0 }
    }

    /// Looks at the draws since the last look and forgets them. Returns the number of draws of each
    /// chain at the next look; `None` if this was the last.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count times 1.5")]
    pub(super) fn after(&mut self, draws: u64, fresh: &mut Table) -> Result<Option<u64>, Error> {
        let Some(target) = self.target else { return Ok(None) };
        let mut smallest = f64::INFINITY;
        for coordinate in 0..fresh.dimension {
            let traces: Vec<Vec<f64>> =
                (0..fresh.chains.len()).map(|c| fresh.trace(c, coordinate)).collect();
            let traces: Vec<&[f64]> = traces.iter().map(Vec::as_slice).collect();
            let ess = self.workspace.ess_bulk(&traces)?;
            // Not a number for draws that do not move: never enough.
            smallest = if ess.is_nan() { 0.0 } else { smallest.min(ess) };
        }
        let ess = smallest * draws as f64 / fresh.draws(0).max(1) as f64;
        *fresh = Table::default();
        self.made.push(Look { draws, ess });
        self.reached = ess >= target;
        if self.reached || draws >= self.most {
            return Ok(None);
        }
        self.interval = (GROWTH * self.interval as f64) as u64;
        Ok(Some(next_look(draws.saturating_add(self.interval), self.most)))
    }
}

/// When to look next: as wanted, or at the end if that leaves too few draws for a look after it.
fn next_look(wanted: u64, most: u64) -> u64 {
    if most.saturating_sub(wanted) < FIRST_LOOK { most } else { wanted }
}

/// Passes draws on, and remembers the first of each chain since the last look.
pub(super) struct Tee<'a> {
    pub(super) sink: &'a mut dyn Sink,
    pub(super) fresh: Table,
    /// Draws of each chain that are remembered.
    pub(super) room: usize,
    /// Where the looks are, if there are any.
    pub(super) looks: Option<SavedLooks>,
    /// Whether the run continues another.
    pub(super) continued: bool,
}

impl Sink for Tee<'_> {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if self.room > 0 {
            self.fresh.begin(chains, dimension)?;
        }
        self.sink.begin(chains, dimension)
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.keep_with(chain, draw, point, None)
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        self.sink.keep_with(chain, draw, point, stats)?;
        if self.fresh.draws(chain) < self.room {
            self.fresh.keep(chain, point)?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.sink.flush()
    }

    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        self.fresh = Table::default();
        self.sink.restart(warm_up)
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        let looks =
            self.looks.clone().map(|looks| SavedLooks { fresh: self.fresh.clone(), ..looks });
        self.sink.checkpoint(SavedRun { looks, continued: self.continued, ..state })
    }
}

#[cfg(test)]
mod tests {
    use super::{FIRST_LOOK, next_look};

    #[test]
    fn no_look_is_at_a_handful_of_draws() {
        for most in 1..3000 {
            let (mut draws, mut interval) = (next_look(FIRST_LOOK, most), FIRST_LOOK);
            while draws < most {
                interval += interval / 2;
                let next = next_look(draws + interval, most);
                assert!(next <= most && next - draws >= FIRST_LOOK, "{draws} to {next} of {most}");
                draws = next;
            }
            assert_eq!(draws, most);
        }
    }
}

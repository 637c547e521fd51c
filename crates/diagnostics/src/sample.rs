//! The draws of one parameter: pooled, sorted, and split into halves.

use crate::error::Error;
use crate::numeric;

/// A draw in the sorted pool: its value and its place among the halves.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Placed {
    pub(crate) value: f64,
    /// Index into the halves laid end to end; `DROPPED` for the middle draw of a chain of odd
    /// length.
    pub(crate) place: usize,
}

/// The `place` of a draw that is in neither half.
const DROPPED: usize = usize::MAX;

/// One parameter's draws, chain after chain.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sample {
    chains: usize,
    draws: usize,
    finite: bool,
    pooled: Vec<f64>,
    mean: f64,
    /// The draws less their mean; filled by `center`.
    centered: Vec<f64>,
    /// All draws in increasing order; filled by `sort`.
    sorted: Vec<Placed>,
}

/// The number of draws per chain; an error if there are no chains, no draws or unequal lengths.
pub(crate) fn common_length(chains: &[&[f64]]) -> Result<usize, Error> {
    let need = chains.first().ok_or(Error::NoChains)?.len();
    for (chain, draws) in chains.iter().enumerate() {
        if draws.len() != need {
            return Err(Error::Lengths { chain, got: draws.len(), need });
        }
    }
    if need == 0 { Err(Error::Empty) } else { Ok(need) }
}

impl Sample {
    /// Loads the chains.
    pub(crate) fn load(&mut self, chains: &[&[f64]]) -> Result<(), Error> {
        let draws = common_length(chains)?;
        self.pooled.clear();
        for chain in chains {
            self.pooled.extend_from_slice(chain);
        }
        self.settle(chains.len(), draws);
        Ok(())
    }

    /// Loads chains laid end to end, whose shape has been checked.
    pub(crate) fn load_pooled(&mut self, pooled: &[f64], chains: usize) {
        self.pooled.clear();
        self.pooled.extend_from_slice(pooled);
        self.settle(chains, pooled.len() / chains.max(1));
    }

    fn settle(&mut self, chains: usize, draws: usize) {
        (self.chains, self.draws) = (chains, draws);
        self.finite = self.pooled.iter().all(|x| x.is_finite());
        self.centered.clear();
        self.sorted.clear();
    }

    pub(crate) fn chains(&self) -> usize {
        self.chains
    }

    pub(crate) fn draws(&self) -> usize {
        self.draws
    }

    /// Half the length of a chain, rounded down.
    pub(crate) fn half(&self) -> usize {
        self.draws / 2
    }

    /// Whether every draw is a finite number.
    pub(crate) fn is_finite(&self) -> bool {
        self.finite
    }

    /// Subtracts the mean, once per load, in two steps: a mean far from zero is rounded at its own
    /// scale, and the residuals have a small mean at the scale of the draws.
    pub(crate) fn center(&mut self) {
        if self.centered.len() == self.pooled.len() {
            return;
        }
        let rough = numeric::mean(&self.pooled);
        if numeric::is_constant(&self.pooled) {
            self.mean = rough;
            self.centered.resize(self.pooled.len(), 0.0);
            return;
        }
        self.centered.extend(self.pooled.iter().map(|x| x - rough));
        let rest = numeric::mean(&self.centered);
        for x in &mut self.centered {
            *x -= rest;
        }
        self.mean = rough + rest;
    }

    /// The mean of all draws; after `center`.
    pub(crate) fn mean(&self) -> f64 {
        self.mean
    }

    /// The draws less their mean, chain after chain; after `center`.
    pub(crate) fn centered(&self) -> &[f64] {
        &self.centered
    }

    /// Their variance with divisor n − 1, NaN for a single draw; after `center`.
    pub(crate) fn variance(&self) -> f64 {
        let n = self.centered.len();
        if n < 2 { f64::NAN } else { numeric::sum_of_squares(&self.centered, 0.0) / (n - 1) as f64 }
    }

    /// Writes f of every draw into `halves`: first and second half of the first chain, then of the
    /// next.
    pub(crate) fn map_halves(&self, halves: &mut Vec<f64>, f: impl Fn(f64) -> f64) {
        self.cut(&self.pooled, halves, f);
    }

    /// [`Self::map_halves`] for the draws less their mean; after `center`.
    pub(crate) fn map_centered_halves(&self, halves: &mut Vec<f64>, f: impl Fn(f64) -> f64) {
        self.cut(&self.centered, halves, f);
    }

    fn cut(&self, values: &[f64], halves: &mut Vec<f64>, f: impl Fn(f64) -> f64) {
        let half = self.half();
        halves.clear();
        for chain in values.chunks_exact(self.draws) {
            halves.extend(chain[..half].iter().map(|&x| f(x)));
            halves.extend(chain[self.draws - half..].iter().map(|&x| f(x)));
        }
    }

    /// Sorts the pool, once per load.
    pub(crate) fn sort(&mut self) {
        if self.sorted.len() == self.pooled.len() {
            return;
        }
        let half = self.half();
        for (c, chain) in self.pooled.chunks_exact(self.draws).enumerate() {
            for (t, &value) in chain.iter().enumerate() {
                let place = if t < half {
                    2 * c * half + t
                } else if t >= self.draws - half {
                    (2 * c + 1) * half + t - (self.draws - half)
                } else {
                    DROPPED
                };
                self.sorted.push(Placed { value, place });
            }
        }
        self.sorted.sort_unstable_by(|a, b| a.value.total_cmp(&b.value));
    }

    /// The pool in increasing order; empty before `sort`.
    pub(crate) fn sorted(&self) -> &[Placed] {
        &self.sorted
    }

    /// Copies the sorted draws that are in a half.
    pub(crate) fn sorted_halves(&self, kept: &mut Vec<Placed>) {
        kept.clear();
        kept.extend(self.sorted.iter().filter(|draw| draw.place != DROPPED));
    }
}

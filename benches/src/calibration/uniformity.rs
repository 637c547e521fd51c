//! Tests of the uniformity of ranks: Pearson's chi-square test, and a simultaneous envelope for the
//! empirical distribution function.
//!
//! The envelope is that of Säilynoja, Bürkner and Vehtari (Statistics and Computing 32, 2022): an
//! interval of the binomial law of the cumulative count at every rank, all at the same level, which
//! is chosen so that all hold simultaneously with the wanted probability. They find it by
//! simulation; here it is computed recursively: given the number of ranks up to i − 1, the number
//! at i is binomial among the rest.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::Failure;

/// Counts of the ranks from 0 to `values` − 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    /// The count of each rank.
    pub counts: Vec<u64>,
}

impl Ranks {
    /// No ranks yet.
    #[must_use]
    pub fn new(values: usize) -> Self {
        Self { counts: vec![0; values] }
    }

    /// Adds a rank.
    pub fn push(&mut self, rank: usize) {
        self.counts[rank] += 1;
    }

    /// Adds other ranks.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
    }

    /// The total number of ranks.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// The number of ranks up to i, for each i.
    #[must_use]
    pub fn cumulative(&self) -> Vec<u64> {
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.collect()
    }

    /// Pearson's statistic over cells of equal size, and the probability of a larger one.
    ///
    /// # Errors
    /// Unless the number of values is a multiple of the number of cells, which must be at least 2.
    pub fn chi_square(&self, cells: usize) -> Result<[f64; 2], Failure> {
        let values = self.counts.len();
        if cells < 2 || !values.is_multiple_of(cells) {
            return Err(format!(
                "{values} ranks in {cells} cells: need at least two cells of equal size"
            )
            .into());
        }
        let expected = self.total() as f64 / cells as f64;
        let of = |cell: &[u64]| (cell.iter().sum::<u64>() as f64 - expected).powi(2) / expected;
        let statistic: f64 = self.counts.chunks(values / cells).map(of).sum();
        Ok([statistic, ChiSquared::new(cells as f64 - 1.0)?.sf(statistic)])
    }
}

/// The law of the cumulative counts for independent uniform ranks.
#[derive(Debug, Clone)]
pub struct Envelope {
    total: usize,
    values: usize,
    /// For each rank but the last and each cumulative count: twice the smaller of its two tail
    /// probabilities.
    tails: Vec<Vec<f64>>,
    /// ln k!.
    factorials: Vec<f64>,
}

/// Terms of a binomial law below this fraction of the largest are neglected.
const NEGLIGIBLE: f64 = 1e-20;
/// Tails with a smaller relative difference are considered equal: those of a rank and of its mirror
/// image are equal, but rounded differently.
const SAME: f64 = 1e-9;

impl Envelope {
    /// For `total` ranks from 0 to `values` − 1.
    #[must_use]
    pub fn new(total: usize, values: usize) -> Self {
        let factorials: Vec<f64> = std::iter::once(0.0)
            .chain((1..=total).scan(0.0, |sum, k| {
                *sum += (k as f64).ln();
                Some(*sum)
            }))
            .collect();
        let mut envelope = Self { total, values, tails: Vec::new(), factorials };
        envelope.tails = (1..values).map(|k| envelope.tails_at(k as f64 / values as f64)).collect();
        envelope
    }

    fn tails_at(&self, share: f64) -> Vec<f64> {
        let mut law = vec![0.0; self.total + 1];
        self.binomial(self.total, share, |k, probability| law[k] = probability);
        let (mut below, mut above) = (law.clone(), law);
        (1..below.len()).for_each(|k| below[k] += below[k - 1]);
        (1..above.len()).rev().for_each(|k| above[k - 1] += above[k]);
        below.iter().zip(&above).map(|(b, a)| 2.0 * b.min(*a)).collect()
    }

    /// Calls `take` with k and the probability of k among n, for all but negligible ones.
    fn binomial(&self, n: usize, share: f64, mut take: impl FnMut(usize, f64)) {
        if share >= 1.0 {
            return take(n, 1.0);
        }
        #[allow(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "between 0 and n"
        )]
        let mode = (((n + 1) as f64 * share) as usize).min(n);
        let ln = self.factorials[n] - self.factorials[mode] - self.factorials[n - mode]
            + mode as f64 * share.ln()
            + (n - mode) as f64 * (-share).ln_1p();
        let (largest, odds) = (ln.exp(), share / (1.0 - share));
        take(mode, largest);
        let mut term = largest;
        for k in mode..n {
            term *= odds * (n - k) as f64 / (k + 1) as f64;
            if term < NEGLIGIBLE * largest {
                break;
            }
            take(k + 1, term);
        }
        term = largest;
        for k in (1..=mode).rev() {
            term *= k as f64 / (odds * (n - k + 1) as f64);
            if term < NEGLIGIBLE * largest {
                break;
            }
            take(k - 1, term);
        }
    }

    /// The probability that some count has a tail of at most `level`.
    #[must_use]
    pub fn leaves(&self, level: f64) -> f64 {
        let level = (1.0 + SAME) * level;
        let mut inside = vec![0.0; self.total + 1];
        inside[0] = 1.0;
        let mut out = 0.0;
        for (i, tails) in self.tails.iter().enumerate() {
            let mut next = vec![0.0; self.total + 1];
            let share = 1.0 / (self.values - i) as f64;
            for (count, mass) in inside.iter().enumerate().filter(|(_, mass)| **mass > 0.0) {
                self.binomial(self.total - count, share, |more, probability| {
                    let (to, mass) = (count + more, mass * probability);
                    if tails[to] <= level { out += mass } else { next[to] += mass }
                });
            }
            inside = next;
        }
        out
    }

    /// The smallest tail of the cumulative counts of the ranks, and the probability of one as small.
    ///
    /// # Errors
    /// If the numbers of ranks or values differ from those of this envelope.
    pub fn test(&self, ranks: &Ranks) -> Result<[f64; 2], Failure> {
        let cumulative = ranks.cumulative();
        let total = usize::try_from(ranks.total())?;
        if (total, cumulative.len()) != (self.total, self.values) {
            return Err(format!(
                "{total} ranks of {} values: need {} of {}",
                cumulative.len(),
                self.total,
                self.values
            )
            .into());
        }
        let mut smallest = f64::INFINITY;
        for (tails, count) in self.tails.iter().zip(cumulative) {
            smallest = smallest.min(tails[usize::try_from(count)?]);
        }
        Ok([smallest, self.leaves(smallest).min(1.0)])
    }

    /// The largest level of the single intervals for which the probability of leaving any of them is
    /// at most this.
    #[must_use]
    pub fn level(&self, probability: f64) -> f64 {
        // Bisection of logarithms.
        let (mut low, mut high) = ((1e-6 * probability).ln(), 0.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.leaves(middle.exp()) > probability { high = middle } else { low = middle }
        }
        low.exp()
    }

    /// The smallest and the largest count inside, for each rank but the last, at a level of the
    /// single intervals.
    #[must_use]
    pub fn bounds(&self, level: f64) -> Vec<[usize; 2]> {
        let bound = |tails: &Vec<f64>| {
            let within = |k: &usize| tails[*k] > (1.0 + SAME) * level;
            let low = (0..tails.len()).find(within).unwrap_or(0);
            let high = (0..tails.len()).rev().find(within).unwrap_or(self.total);
            [low, high]
        };
        self.tails.iter().map(bound).collect()
    }
}

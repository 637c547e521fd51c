//! Whether ranks are uniform: Pearson's chi-square test, and the empirical distribution function
//! within a simultaneous envelope.
//!
//! The envelope is that of Säilynoja, Bürkner and Vehtari (Statistics and Computing 32, 2022): at
//! every rank an interval of the binomial law of the count up to there, all of the same level,
//! which is chosen so that all hold at once with the probability wanted. They find it by
//! simulation; here it is computed, count by count: given how many ranks are at most i − 1, those
//! at i are binomial among the rest.

use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::Failure;

/// Ranks from 0 to `values` − 1, counted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranks {
    /// How often each came.
    pub counts: Vec<u64>,
}

impl Ranks {
    /// None yet.
    #[must_use]
    pub fn new(values: usize) -> Self {
        Self { counts: vec![0; values] }
    }

    /// One more.
    pub fn push(&mut self, rank: usize) {
        self.counts[rank] += 1;
    }

    /// These and others.
    pub fn add(&mut self, other: &Self) {
        self.counts.iter_mut().zip(&other.counts).for_each(|(sum, more)| *sum += more);
    }

    /// How many.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How many are at most i, for each i.
    #[must_use]
    pub fn cumulative(&self) -> Vec<u64> {
        let sums = self.counts.iter().scan(0, |sum, count| {
            *sum += count;
            Some(*sum)
        });
        sums.collect()
    }

    /// Pearson's statistic over so many cells of equally many ranks, and the probability of a
    /// larger one.
    ///
    /// # Errors
    /// Unless ranks can be shared out among the cells, two at least.
    pub fn chi_square(&self, cells: usize) -> Result<[f64; 2], Failure> {
        let values = self.counts.len();
        if cells < 2 || !values.is_multiple_of(cells) {
            return Err(format!(
                "{values} ranks in {cells} cells: need as many in each of two or more"
            )
            .into());
        }
        let expected = self.total() as f64 / cells as f64;
        let of = |cell: &[u64]| (cell.iter().sum::<u64>() as f64 - expected).powi(2) / expected;
        let statistic: f64 = self.counts.chunks(values / cells).map(of).sum();
        Ok([statistic, ChiSquared::new(cells as f64 - 1.0)?.sf(statistic)])
    }
}

/// The law of the counts up to each rank, for ranks that are uniform and independent.
#[derive(Debug, Clone)]
pub struct Envelope {
    total: usize,
    values: usize,
    /// For each rank but the last and each count: twice the smaller of the probabilities of at most
    /// and of at least so many.
    tails: Vec<Vec<f64>>,
    /// ln k!.
    factorials: Vec<f64>,
}

/// Terms of a binomial law below this part of the largest are left out.
const NEGLIGIBLE: f64 = 1e-20;
/// Tails that differ by less, relatively, are the same: those of a rank and of its mirror image
/// are, and are rounded differently.
const SAME: f64 = 1e-9;

impl Envelope {
    /// For so many ranks from 0 to `values` − 1.
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

    /// Hands out the probabilities of k among n, but for negligible ones.
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

    /// The smallest tail of the counts of some ranks, and the probability that one is as small.
    ///
    /// # Errors
    /// For other numbers of ranks than this envelope's.
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

    /// The level of each interval with which all hold but for this probability, at most.
    #[must_use]
    pub fn level(&self, probability: f64) -> f64 {
        // Of logarithms.
        let (mut low, mut high) = ((1e-6 * probability).ln(), 0.0);
        for _ in 0..40 {
            let middle = 0.5 * (low + high);
            if self.leaves(middle.exp()) > probability { high = middle } else { low = middle }
        }
        low.exp()
    }

    /// The smallest and the largest count within, for each rank but the last, at a level of each.
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

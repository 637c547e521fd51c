//! Simulation-based calibration (Cook, Gelman and Rubin 2006; Talts and others 2018; Modrák and
//! others 2023): coefficients are drawn from the prior, data from the coefficients, draws from the
//! posterior. If the draws are right, coefficients and draws have the same law given the data, and
//! the rank of any function of the coefficients among its values at the draws is uniform, exactly,
//! at any size of the data.

pub mod mistakes;
pub mod models;
pub mod plots;
pub mod power;
pub mod sampler;
#[cfg(test)]
mod tests;
pub mod uniformity;

use std::collections::BTreeMap;

use rayon::prelude::*;
use ridgewalk::potentials::Ridge;
use ridgewalk::potentials::families::Family;

use crate::Failure;
use models::{Drawn, Model, Visit};
use sampler::{Draws, Sampler};
use uniformity::{Envelope, Ranks};

/// Functions of the coefficients whose ranks are taken. The last three add up what all coefficients
/// say: an error of a few percent in every direction, which hardly moves the rank of a coefficient,
/// moves theirs.
pub const QUANTITIES: [&str; 8] = [
    "intercept",
    "first slope",
    "sum of slopes",
    "square of the first slope",
    "product of the first two slopes",
    "prior density",
    "likelihood",
    "posterior density",
];

/// Cells of the chi-square test.
pub const CELLS: usize = 16;

/// How large a calibration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows of each data set.
    pub rows: usize,
    /// Coefficients of each.
    pub columns: usize,
    /// Data sets.
    pub replications: u64,
    /// Draws among which ranks are taken; with one more they can be shared out among [`CELLS`]
    /// cells.
    pub draws: usize,
}

impl Size {
    /// That of the full calibration. About as many rows as columns, so that data and prior both
    /// matter.
    pub const FULL: Self = Self { rows: 32, columns: 32, replications: 1000, draws: 127 };
}

/// Ranks of every quantity, and how the draws were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// For each of [`QUANTITIES`].
    pub ranks: Vec<Ranks>,
    /// Replications whose bias the sampler takes to be within its tolerance.
    pub within: u64,
    /// By kernel, how many replications used it and the sum of their steps.
    pub kernels: BTreeMap<&'static str, (u64, f64)>,
    /// Gradients of all.
    pub gradients: u64,
}

/// What the two tests say of a quantity: their statistics and probabilities.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Pearson's statistic, and the probability of a larger one.
    pub chi_square: [f64; 2],
    /// The smallest tail of the counts, and the probability of a smaller one.
    pub ecdf: [f64; 2],
}

impl Verdict {
    /// The smaller of the two probabilities.
    #[must_use]
    pub fn smallest(&self) -> f64 {
        self.chi_square[1].min(self.ecdf[1])
    }
}

impl Calibrated {
    fn new(values: usize) -> Self {
        let ranks = QUANTITIES.map(|_| Ranks::new(values)).to_vec();
        Self { ranks, within: 0, kernels: BTreeMap::new(), gradients: 0 }
    }

    /// This and another: ranks of other models, of which the same is expected.
    pub fn add(&mut self, other: &Self) {
        self.ranks.iter_mut().zip(&other.ranks).for_each(|(sum, more)| sum.add(more));
        self.within += other.within;
        self.gradients += other.gradients;
        for (name, (count, sum)) in &other.kernels {
            let entry = self.kernels.entry(name).or_default();
            *entry = (entry.0 + count, entry.1 + sum);
        }
    }

    /// All of some.
    #[must_use]
    pub fn together(outcomes: &[Self]) -> Self {
        let values = outcomes.first().map_or(0, |first| first.ranks[0].counts.len());
        let mut all = Self::new(values);
        outcomes.iter().for_each(|outcome| all.add(outcome));
        all
    }

    /// Both tests of every quantity.
    ///
    /// # Errors
    /// For ranks that cannot be shared out among the cells.
    pub fn verdicts(&self) -> Result<Vec<Verdict>, Failure> {
        let first = &self.ranks[0];
        let envelope = Envelope::new(usize::try_from(first.total())?, first.counts.len());
        let verdict = |ranks: &Ranks| {
            Ok(Verdict { chi_square: ranks.chi_square(CELLS)?, ecdf: envelope.test(ranks)? })
        };
        self.ranks.iter().map(verdict).collect()
    }

    /// One more replication.
    fn push(&mut self, replication: &Replication) {
        self.ranks.iter_mut().zip(replication.ranks).for_each(|(all, rank)| all.push(rank));
        let Draws { within, kernel, eta, gradients, .. } = &replication.draws;
        self.within += u64::from(*within);
        self.gradients += gradients;
        let entry = self.kernels.entry(kernel).or_default();
        *entry = (entry.0 + 1, entry.1 + eta);
    }
}

/// The number of tests that a calibration of so many models makes: two for each quantity, of each
/// model and of all together.
#[must_use]
pub fn tests(models: usize) -> usize {
    2 * QUANTITIES.len() * (models + usize::from(models > 1))
}

/// Calibrates a sampler on a model. It is handed posteriors under the prior scale times `prior`:
/// anything but 1 is an error that must be found. What a replication is depends on its number, the
/// seed and the model alone.
///
/// # Errors
/// If a run fails.
pub fn calibrate<S: Sampler>(
    sampler: &S,
    model: Model,
    size: Size,
    prior: f64,
    seed: u64,
) -> Result<Calibrated, Failure> {
    let one = |replication: u64| {
        let seed = mixed(seed ^ mixed(replication ^ mixed(model as u64)));
        let data = model.draw(size.rows, size.columns, seed)?;
        let visit = Sampling { sampler, count: size.draws, seed: mixed(seed) };
        let draws = model.posterior(&data, prior * model.prior_scale(), visit)?;
        let ranking =
            Ranking { data: &data, draws: &draws, precision: model.prior_scale().powi(-2), size };
        let ranks = model.posterior(&data, model.prior_scale(), ranking)?;
        Ok(Replication { ranks, draws })
    };
    let made: Result<Vec<Replication>, Failure> =
        (0..size.replications).into_par_iter().map(one).collect();
    let mut outcome = Calibrated::new(size.draws + 1);
    made?.iter().for_each(|replication| outcome.push(replication));
    Ok(outcome)
}

/// A number that has nothing to do with another: the last step of SplitMix64.
fn mixed(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

struct Replication {
    ranks: [usize; QUANTITIES.len()],
    draws: Draws,
}

struct Sampling<'a, S> {
    sampler: &'a S,
    count: usize,
    seed: u64,
}

impl<S: Sampler> Visit for Sampling<'_, S> {
    type Output = Draws;

    fn visit<F: Family + Clone>(self, posterior: &Ridge<'_, F>) -> Result<Draws, Failure> {
        self.sampler.draw(posterior, self.count, self.seed)
    }
}

/// Ranks under the model that the data are from.
struct Ranking<'a> {
    data: &'a Drawn,
    draws: &'a Draws,
    precision: f64,
    size: Size,
}

impl Visit for Ranking<'_> {
    type Output = [usize; QUANTITIES.len()];

    fn visit<F: Family + Clone>(self, posterior: &Ridge<'_, F>) -> Result<Self::Output, Failure> {
        let truth = quantities(posterior, self.precision, &self.data.truth)?;
        let mut ranks = [0; QUANTITIES.len()];
        let points = self.draws.points.chunks_exact(self.size.columns).take(self.size.draws);
        if points.len() < self.size.draws {
            return Err(format!("{} draws: need {}", points.len(), self.size.draws).into());
        }
        for point in points {
            let found = quantities(posterior, self.precision, point)?;
            ranks
                .iter_mut()
                .zip(found)
                .zip(truth)
                .for_each(|((rank, x), y)| *rank += usize::from(x < y));
        }
        Ok(ranks)
    }
}

/// The values of [`QUANTITIES`], with the precision of every coefficient in the prior.
fn quantities<F: Family>(
    posterior: &Ridge<'_, F>,
    precision: f64,
    point: &[f64],
) -> Result<[f64; QUANTITIES.len()], Failure> {
    let (slopes, density) = (&point[1..], -posterior.value(point)?);
    let prior = -0.5 * precision * point.iter().map(|x| x * x).sum::<f64>();
    let [first, second] = [slopes[0], slopes[1]];
    let sum = slopes.iter().sum();
    Ok([point[0], first, sum, first * first, first * second, prior, density - prior, density])
}

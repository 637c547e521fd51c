//! Simulation-based calibration (Cook, Gelman and Rubin 2006; Talts and others 2018; Modrák and
//! others 2023): coefficients are drawn from the prior, data given the coefficients, and draws from
//! the posterior. If the sampler is correct, coefficients and draws have the same law given the
//! data, and the rank of any function of the coefficients among its values at the draws is exactly
//! uniform, for data of any size.

pub mod families;
pub mod groups;
pub mod mistakes;
pub mod models;
pub mod plots;
pub mod power;
pub mod sampler;
pub mod study;
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

/// Functions of the coefficients whose ranks are tested. The last three combine all coefficients:
/// an error of a few percent in every direction hardly changes the rank of a single coefficient,
/// but changes theirs.
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

/// The size of a calibration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Rows of each data set.
    pub rows: usize,
    /// Coefficients of each data set.
    pub columns: usize,
    /// The number of data sets.
    pub replications: u64,
    /// The number of draws for a rank; one less than a multiple of [`CELLS`].
    pub draws: usize,
}

impl Size {
    /// The full calibration. About as many rows as columns, so that both data and prior matter.
    pub const FULL: Self = Self { rows: 32, columns: 32, replications: 2000, draws: 127 };
}

/// Ranks of every quantity, and statistics of the runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Calibrated {
    /// For each of [`QUANTITIES`].
    pub ranks: Vec<Ranks>,
    /// Replications whose bias the sampler reports to be within its tolerance.
    pub within: u64,
    /// For each kernel, the number of replications that used it and the sum of their step sizes.
    pub kernels: BTreeMap<&'static str, (u64, f64)>,
    /// Gradients of all replications.
    pub gradients: u64,
}

/// The statistics and p-values of the two tests for a quantity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Verdict {
    /// Pearson's statistic, and the probability of a larger one.
    pub chi_square: [f64; 2],
    /// The smallest tail of the counts, and the probability of a smaller one.
    pub ecdf: [f64; 2],
}

impl Verdict {
    /// The smaller of the two p-values.
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

    /// Adds another outcome, such as that of another model.
    pub fn add(&mut self, other: &Self) {
        self.ranks.iter_mut().zip(&other.ranks).for_each(|(sum, more)| sum.add(more));
        self.within += other.within;
        self.gradients += other.gradients;
        for (name, (count, sum)) in &other.kernels {
            let entry = self.kernels.entry(name).or_default();
            *entry = (entry.0 + count, entry.1 + sum);
        }
    }

    /// The sum of several outcomes.
    #[must_use]
    pub fn together(outcomes: &[Self]) -> Self {
        let values = outcomes.first().map_or(0, |first| first.ranks[0].counts.len());
        let mut all = Self::new(values);
        outcomes.iter().for_each(|outcome| all.add(outcome));
        all
    }

    /// Both tests for every quantity.
    ///
    /// # Errors
    /// If the number of ranks is not a multiple of the number of cells.
    pub fn verdicts(&self) -> Result<Vec<Verdict>, Failure> {
        let first = &self.ranks[0];
        let envelope = Envelope::new(usize::try_from(first.total())?, first.counts.len());
        let verdict = |ranks: &Ranks| {
            Ok(Verdict { chi_square: ranks.chi_square(CELLS)?, ecdf: envelope.test(ranks)? })
        };
        self.ranks.iter().map(verdict).collect()
    }

    /// Adds a replication.
    fn push(&mut self, replication: &Replication) {
        self.ranks.iter_mut().zip(replication.ranks).for_each(|(all, rank)| all.push(rank));
        let Draws { within, kernel, eta, gradients, .. } = &replication.draws;
        self.within += u64::from(*within);
        self.gradients += gradients;
        let entry = self.kernels.entry(kernel).or_default();
        *entry = (entry.0 + 1, entry.1 + eta);
    }
}

/// The number of tests in a calibration of several models: two for each quantity, for each model
/// and for all together.
#[must_use]
pub fn tests(models: usize) -> usize {
    2 * QUANTITIES.len() * (models + usize::from(models > 1))
}

/// Calibrates a sampler on a model. The sampler gets posteriors with the prior scale times `prior`;
/// any factor other than 1 is an error that must be detected. A replication depends only on its
/// number, the seed and the model.
///
/// # Errors
/// If a run fails.
pub fn calibrate<S: Sampler>(
    sampler: &S, model: Model, size: Size, prior: f64, seed: u64,
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

/// A well-mixed seed from a number: the last step of SplitMix64.
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

/// Ranks under the model that generated the data.
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

/// The values of [`QUANTITIES`], given the prior precision of the coefficients.
fn quantities<F: Family>(
    posterior: &Ridge<'_, F>, precision: f64, point: &[f64],
) -> Result<[f64; QUANTITIES.len()], Failure> {
    let (slopes, density) = (&point[1..], -posterior.value(point)?);
    let prior = -0.5 * precision * point.iter().map(|x| x * x).sum::<f64>();
    let [first, second] = [slopes[0], slopes[1]];
    let sum = slopes.iter().sum();
    Ok([point[0], first, sum, first * first, first * second, prior, density - prior, density])
}

//! What every sampler gives back, whoever wrote it, and what is worked out from that alike for all.

use ridgewalk::diagnostics::{Summary, summaries_of_table};
use ridgewalk::sampler::{Sink, SinkError};
use ridgewalk_gallery::Reference;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// What one phase of a run took, over all chains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Gradients; a value that comes with one is free.
    pub gradients: u64,
    /// Seconds of a core.
    pub seconds: f64,
}

impl Cost {
    /// One phase and another.
    pub fn add(&mut self, other: Self) {
        self.gradients += other.gradients;
        self.seconds += other.seconds;
    }
}

/// A run of a sampler.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// For each chain the draws after the warm-up, in original coordinates, one after the other.
    pub draws: Vec<Vec<f64>>,
    /// Until the warm-up's end; with mode and Hessian, where the target was whitened.
    pub warm_up: Cost,
    /// After it.
    pub sampling: Cost,
    /// Trajectories after the warm-up that diverged.
    pub divergences: u64,
    /// What else there is to say: parameters.
    pub note: String,
}

/// Draws of kernels of ours, kept as those of others are: in lists that have room for all from the
/// start.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    each: usize,
    /// For each chain its draws, one after the other.
    pub draws: Vec<Vec<f64>>,
}

impl Kept {
    /// Room for so many draws of each chain.
    #[must_use]
    pub fn with_room(each: usize) -> Self {
        Self { each, draws: Vec::new() }
    }
}

impl Sink for Kept {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if self.draws.is_empty() {
            self.draws = (0..chains).map(|_| Vec::with_capacity(self.each * dimension)).collect();
        }
        Ok(())
    }

    fn keep(&mut self, chain: usize, _: u64, point: &[f64]) -> Result<(), SinkError> {
        self.draws[chain].extend_from_slice(point);
        Ok(())
    }
}

/// A run in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The smallest, over coordinates, of the effective sample sizes of θ and of (θ − mean)².
    pub ess: f64,
    /// Until the warm-up's end.
    pub warm_up: Cost,
    /// After it.
    pub sampling: Cost,
    /// The largest R-hat.
    pub rhat: f64,
    /// Trajectories after the warm-up that diverged.
    pub divergences: u64,
    /// The mean of each coordinate with its Monte Carlo standard error.
    pub means: Vec<[f64; 2]>,
    /// The standard deviation of each coordinate with its own.
    pub sds: Vec<[f64; 2]>,
    /// The most memory that the process had in use until the run's end, in MiB, where the system
    /// tells.
    pub memory: Option<f64>,
    /// What else there is to say.
    pub note: String,
}

impl Measured {
    /// What the whole run took.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.warm_up.seconds + self.sampling.seconds
    }

    /// One run that was made several times, with the median of the seconds.
    ///
    /// # Errors
    /// If it was never made.
    pub fn with_usual_seconds(runs: &[Self]) -> Result<Self, Failure> {
        let mut one = runs.first().ok_or("no runs")?.clone();
        one.warm_up.seconds = median(runs.iter().map(|run| run.warm_up.seconds).collect());
        one.sampling.seconds = median(runs.iter().map(|run| run.sampling.seconds).collect());
        Ok(one)
    }
}

impl Run {
    /// Its figures.
    ///
    /// # Errors
    /// If there are no draws, or the effective sample size is not a number.
    pub fn measured(&self, dimension: usize, memory: Option<f64>) -> Result<Measured, Failure> {
        let tables: Vec<&[f64]> = self.draws.iter().map(Vec::as_slice).collect();
        let summaries = summaries_of_table(&tables, dimension)?;
        let ess = summaries.iter().map(Summary::ess_moments).fold(f64::NAN, f64::min);
        let rhat = summaries.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
        if !(ess.is_finite() && rhat.is_finite()) {
            return Err(format!("effective sample size {ess}, R-hat {rhat}").into());
        }
        Ok(Measured {
            ess,
            warm_up: self.warm_up,
            sampling: self.sampling,
            rhat,
            divergences: self.divergences,
            means: summaries.iter().map(|s| [s.mean, s.mcse_mean]).collect(),
            sds: summaries.iter().map(|s| [s.sd, s.mcse_sd]).collect(),
            memory,
            note: self.note.clone(),
        })
    }
}

/// How far moments are from a reference: of means in sd, of sds relative to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// The largest over coordinates, of means and of sds.
    pub largest: [f64; 2],
    /// The largest that is left after two standard errors were taken off, no less than 0.
    pub clear: [f64; 2],
    /// The root mean square of the standard errors: what of it can be noise.
    pub noise: [f64; 2],
}

impl Bias {
    /// What counts as unbiased, of means in sd and of sds relative to them.
    pub const TOLERANCE: f64 = 0.05;

    /// The bias of the mean over some runs of the same sampler.
    ///
    /// No standard error is taken to be larger than what the smallest effective sample size says of
    /// a distribution with the reference's spread, or half as much again for standard deviations:
    /// draws that break out now and then have enormous errors, which are no excuse.
    #[must_use]
    pub fn of(runs: &[Measured], reference: &Reference) -> Self {
        let (share, d) = (1.0 / runs.len() as f64, reference.means.len());
        let mut bias = Self { largest: [0.0; 2], clear: [0.0; 2], noise: [0.0; 2] };
        for k in 0..d {
            let scale = reference.sds[k];
            let known = [
                (reference.means[k], reference.mean_errors[k]),
                (reference.sds[k], reference.sd_errors[k]),
            ];
            for (moment, (truth, error)) in known.into_iter().enumerate() {
                let (mut mean, mut variance) = (0.0, error * error);
                for run in runs {
                    let [value, error] = if moment == 0 { run.means[k] } else { run.sds[k] };
                    let most = scale * if moment == 0 { 1.0 } else { 1.5 / 2.0_f64.sqrt() }
                        / run.ess.sqrt();
                    mean += share * value;
                    variance += (share * error.min(most)).powi(2);
                }
                let (off, error) = ((mean - truth).abs() / scale, variance.sqrt() / scale);
                bias.largest[moment] = bias.largest[moment].max(off);
                bias.clear[moment] = bias.clear[moment].max(off - 2.0 * error);
                bias.noise[moment] += error * error / d as f64;
            }
        }
        bias.noise = bias.noise.map(f64::sqrt);
        bias
    }

    /// Whether no coordinate is clearly beyond the tolerance.
    #[must_use]
    pub fn within(&self) -> bool {
        self.clear.iter().all(|off| *off <= Self::TOLERANCE)
    }
}

/// The middle one, or the mean of both.
#[must_use]
pub fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    match list.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => list[n / 2],
        n => 0.5 * (list[n / 2 - 1] + list[n / 2]),
    }
}

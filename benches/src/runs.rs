//! The common result of all samplers, and figures computed from it in the same way for all.

use ridgewalk::diagnostics::{Summary, summaries_of_table};
use ridgewalk::sampler::{Sink, SinkError};
use ridgewalk_gallery::Reference;
use serde::{Deserialize, Serialize};

use crate::Failure;

/// The cost of one phase of a run, over all chains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// Gradients; a value that comes with one is free.
    pub gradients: u64,
    /// CPU seconds.
    pub seconds: f64,
}

impl Cost {
    /// Adds the cost of another phase.
    pub fn add(&mut self, other: Self) {
        self.gradients += other.gradients;
        self.seconds += other.seconds;
    }
}

/// A run of a sampler.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Run {
    /// The draws of each chain after the warm-up, in original coordinates, one after the other.
    pub draws: Vec<Vec<f64>>,
    /// The cost of the warm-up, including mode and Hessian if the target is whitened.
    pub warm_up: Cost,
    /// The cost of sampling.
    pub sampling: Cost,
    /// Divergent trajectories after the warm-up.
    pub divergences: u64,
    /// A note, such as the parameters.
    pub note: String,
}

/// A sink that stores draws like those of other samplers: in lists allocated once.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Kept {
    each: usize,
    /// The draws of each chain, one after the other.
    pub draws: Vec<Vec<f64>>,
}

impl Kept {
    /// Allocates room for `each` draws per chain.
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

/// The figures of a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Measured {
    /// The smallest effective sample size of θ and of (θ − mean)² over all coordinates.
    pub ess: f64,
    /// The cost of the warm-up.
    pub warm_up: Cost,
    /// The cost of sampling.
    pub sampling: Cost,
    /// The largest R-hat.
    pub rhat: f64,
    /// Divergent trajectories after the warm-up.
    pub divergences: u64,
    /// The mean of each coordinate with its Monte Carlo standard error.
    pub means: Vec<[f64; 2]>,
    /// The standard deviation of each coordinate with its Monte Carlo standard error.
    pub sds: Vec<[f64; 2]>,
    /// The peak memory of the process in MiB, if the system reports it.
    pub memory: Option<f64>,
    /// A note, such as the parameters.
    pub note: String,
}

impl Measured {
    /// CPU seconds of the whole run.
    #[must_use]
    pub fn seconds(&self) -> f64 {
        self.warm_up.seconds + self.sampling.seconds
    }

    /// Combines repetitions of one run, with the median of the seconds.
    ///
    /// # Errors
    /// If there are none.
    pub fn with_usual_seconds(runs: &[Self]) -> Result<Self, Failure> {
        let mut one = runs.first().ok_or("no runs")?.clone();
        one.warm_up.seconds = median(runs.iter().map(|run| run.warm_up.seconds).collect());
        one.sampling.seconds = median(runs.iter().map(|run| run.sampling.seconds).collect());
        Ok(one)
    }
}

impl Run {
    /// The figures of this run.
    ///
    /// # Errors
    /// If there are no draws, or if the effective sample size or R-hat is not finite.
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

/// The bias relative to a reference: of means in sd, of sds relative to them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bias {
    /// The largest bias over coordinates, of means and of sds.
    pub largest: [f64; 2],
    /// The largest bias minus two standard errors, at least 0.
    pub clear: [f64; 2],
    /// The root mean square of the standard errors: the part that can be noise.
    pub noise: [f64; 2],
}

impl Bias {
    /// The bias that is tolerated, of means in sd and of sds relative to them.
    pub const TOLERANCE: f64 = 0.05;

    /// The bias of the average over several runs of the same sampler.
    ///
    /// Standard errors are limited to those implied by the smallest effective sample size and the
    /// standard deviation of the reference, times 1.5 for standard deviations: occasional extreme
    /// draws inflate the estimated errors, which must not hide a bias.
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
                    let most = most_error(scale, run.ess)[moment];
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

    /// Whether no coordinate is significantly beyond the tolerance.
    #[must_use]
    pub fn within(&self) -> bool {
        self.clear.iter().all(|off| *off <= Self::TOLERANCE)
    }
}

/// The largest standard errors that count, of a mean and of an sd.
fn most_error(sd: f64, ess: f64) -> [f64; 2] {
    [1.0, 1.5 / 2.0_f64.sqrt()].map(|factor| sd * factor / ess.sqrt())
}

/// The relative errors of variances over coordinates, and their standard errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VarianceError {
    /// The root mean square of the errors, after that of the standard errors is taken off in
    /// quadrature.
    pub rms: f64,
    /// The root mean square of the standard errors.
    pub noise: f64,
}

impl VarianceError {
    /// The errors of the average over several runs of the same sampler. Standard errors are limited
    /// as in [`Bias::of`].
    #[must_use]
    pub fn of(runs: &[Measured], reference: &Reference) -> Self {
        let (share, d) = (1.0 / runs.len() as f64, reference.means.len());
        let (mut square, mut noise) = (0.0, 0.0);
        for (k, truth) in reference.sds.iter().enumerate() {
            let off = runs.iter().map(|run| share * (run.sds[k][0] / truth).powi(2)).sum::<f64>();
            let most = |run: &Measured| most_error(*truth, run.ess)[1];
            let errors = runs.iter().map(|run| share * run.sds[k][1].min(most(run)));
            let variance = errors.map(|x| x * x).sum::<f64>() + reference.sd_errors[k].powi(2);
            square += (off - 1.0).powi(2) / d as f64;
            noise += 4.0 * variance / (truth * truth) / d as f64;
        }
        Self { rms: (square - noise).max(0.0).sqrt(), noise: noise.sqrt() }
    }
}

/// The median; NaN for an empty list.
#[must_use]
pub fn median(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    match list.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => list[n / 2],
        n => 0.5 * (list[n / 2 - 1] + list[n / 2]),
    }
}

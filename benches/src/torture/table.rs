//! Fits of one data file with several seeds: how much do they differ?

use ridgewalk::frame::Table;
use ridgewalk::{Fitted, Settings};

use super::longest_repeat;
use crate::Failure;

/// One fit.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    /// The seed.
    pub seed: u64,
    /// The smallest effective sample size of the bulk, over coefficients.
    pub ess_bulk: f64,
    /// The smallest effective sample size of the tails.
    pub ess_tail: f64,
    /// See [`longest_repeat`].
    pub longest_repeat: usize,
    /// Steps from one draw to the next.
    pub thin: u64,
    /// Gradients of warm-up and run, over all chains.
    pub gradients: u64,
    /// The standard deviation of each coefficient.
    pub sds: Vec<f64>,
    /// `ok`, or the names of the warnings.
    pub status: String,
}

/// Fits a table with each of the seeds from 1 on.
///
/// # Errors
/// Those of the fit.
pub fn fits(table: &Table, settings: &Settings, seeds: u64) -> Result<Vec<Fit>, Failure> {
    let one = |seed: u64| {
        let fitted = ridgewalk::fit(table, &Settings { seed, ..settings.clone() })?;
        Ok(Fit::new(seed, &fitted))
    };
    (1..=seeds).map(one).collect()
}

impl Fit {
    fn new(seed: u64, fitted: &Fitted) -> Self {
        let least = |of: fn(&ridgewalk::pipeline::Parameter) -> f64| {
            fitted.summary().iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let sampler = &fitted.document().sampler;
        Self {
            seed,
            ess_bulk: least(|parameter| parameter.ess_bulk),
            ess_tail: least(|parameter| parameter.ess_tail),
            longest_repeat: longest_repeat(fitted.draws()),
            thin: sampler.thin,
            gradients: sampler.warmup_gradients + sampler.gradients,
            sds: fitted.summary().iter().map(|parameter| parameter.sd).collect(),
            status: sampler.status.clone(),
        }
    }
}

/// The mean over fits of the standard deviation of each coefficient.
#[must_use]
pub fn mean_sds(fits: &[Fit]) -> Vec<f64> {
    let d = fits.first().map_or(0, |fit| fit.sds.len());
    (0..d).map(|k| fits.iter().map(|fit| fit.sds[k]).sum::<f64>() / fits.len() as f64).collect()
}

/// The largest relative difference of standard deviations from others.
#[must_use]
pub fn largest_difference(sds: &[f64], others: &[f64]) -> f64 {
    sds.iter().zip(others).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
}

/// The largest value over the smallest.
#[must_use]
pub fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    values.clone().fold(0.0, f64::max) / values.fold(f64::INFINITY, f64::min)
}

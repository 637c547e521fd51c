//! Fits without some of the rows, with the priors and the coding of the whole.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use ridgewalk_frame::{Combine, Frame, Table};
use ridgewalk_potentials::Rows;
use ridgewalk_sampler::clock::Instant;

use super::observed::Observed;
use crate::config::Config;
use crate::error::Error;
use crate::fit::run;
use crate::model::Model;
use crate::predict::{Posterior, Room};
use crate::priors::ModelPriors;

/// The log density of each row that was left out, and the status of the refit if it is not `ok`.
type LeftOut = (Vec<(usize, f64)>, Option<String>);

/// Fits some of the rows of a run.
pub(crate) struct Refitter<'a> {
    config: &'a Config,
    /// Scaled by all rows, so that priors mean the same without some of them.
    frame: Frame,
    priors: ModelPriors,
}

/// What refits found.
pub(crate) struct Refits {
    /// Rows with the log density that the others predict for them.
    pub(crate) rows: Vec<(usize, f64)>,
    pub(crate) warnings: Vec<String>,
}

impl<'a> Refitter<'a> {
    pub(crate) fn new(config: &'a Config, table: &Table) -> Result<Self, Error> {
        let settings = &config.options;
        let priors = config.resolved.model_priors(settings)?;
        let mut frame = Frame::new(table, &settings.question(table)?)?;
        if priors.centred {
            frame.centre(|_: Combine, _: &mut [f64]| {});
        }
        Ok(Self { config, frame, priors })
    }

    /// Leaves out each group of rows in turn, and predicts it.
    pub(crate) fn elpd(
        &self, observed: &Observed, groups: &[Vec<usize>], stop: &AtomicBool,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Refits, Error> {
        let done = AtomicUsize::new(0);
        let one = |group: &Vec<usize>| {
            let found = self.without(observed, group, stop)?;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(found)
        };
        let all = groups.par_iter().map(one).collect::<Result<Vec<_>, Error>>()?;
        let (mut rows, mut named) = (Vec::new(), Vec::new());
        for (some, status) in all {
            rows.extend(some);
            named.extend(status);
        }
        named.sort_unstable();
        let total = named.len();
        named.dedup();
        let warnings = match total {
            0 => Vec::new(),
            _ => vec![format!(
                "{total} of {} refits have warnings: {}",
                groups.len(),
                named.join(", ")
            )],
        };
        Ok(Refits { rows, warnings })
    }

    /// The log density of each row of a group given the other rows, and the status of the refit if
    /// it is not `ok`.
    fn without(
        &self, observed: &Observed, group: &[usize], stop: &AtomicBool,
    ) -> Result<LeftOut, Error> {
        let mut left_out = vec![false; self.frame.rows];
        group.iter().for_each(|&row| left_out[row] = true);
        let others: Vec<usize> = (0..self.frame.rows).filter(|&row| !left_out[row]).collect();
        let frame = self.frame.select(&others);
        let settings = &self.config.options;
        let model = Model::new(settings, frame, Some(self.priors.clone()), &Rows::default())?;
        let fitted = run(&model, self.config, stop, &(), Instant::now())?;
        if fitted.document().stopped() {
            return Err(Error::Stopped);
        }
        let posterior = Posterior::new(self.config, fitted.draws())?;
        let mut room = Room::default();
        let rows = group.iter().map(|&row| {
            observed.log_densities(&posterior, row, &mut room);
            (row, log_mean_exp(&room.values))
        });
        // Notes on priors and data are those of the whole fit; what counts is the sampling.
        let status = fitted.warnings().iter().find(|warning| !OF_DATA.contains(&&*warning.name));
        Ok((rows.collect(), status.map(|warning| warning.name.clone())))
    }
}

/// Warnings about the data and the model, which the whole fit has shown.
const OF_DATA: [&str; 3] = ["prior_conflict", "overdispersion", "unlogged_offset"];

fn log_mean_exp(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return most;
    }
    let sum: f64 = values.iter().map(|value| (value - most).exp()).sum();
    most + (sum / values.len() as f64).ln()
}

/// Rows in groups of nearly equal size, chosen at random by the seed of the fit.
pub(crate) fn folds(rows: usize, folds: usize, config: &Config) -> Result<Vec<Vec<usize>>, Error> {
    if folds < 2 || folds > rows {
        return Err(Error::setting("--folds", folds, format!("2 to {rows}, the number of rows")));
    }
    let mut order: Vec<usize> = (0..rows).collect();
    let mut rng = ChaCha8Rng::seed_from_u64(config.options.seed);
    for last in (1..rows).rev() {
        // The bias of a remainder of 64 bits is far below that of anything else.
        let other = usize::try_from(rng.next_u64() % (last as u64 + 1)).unwrap_or(last);
        order.swap(last, other);
    }
    let mut groups = vec![Vec::new(); folds];
    order.into_iter().enumerate().for_each(|(k, row)| groups[k % folds].push(row));
    groups.iter_mut().for_each(|group| group.sort_unstable());
    Ok(groups)
}

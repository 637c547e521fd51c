//! Fits without some of the rows, with the priors and the coding of the whole.
//!
//! A level of a grouping factor may lose all of its rows. It stays in the model, where its effects
//! follow their prior given standard deviations and correlations. The density of its rows is an
//! integral over these effects: for each draw of everything else it is averaged over
//! [`REPEATS`] draws of them, in pairs u and −u, and over more while its standard error is above
//! [`ENOUGH`].

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};
use rayon::prelude::*;
use ridgewalk_diagnostics::ess_mean;
use ridgewalk_frame::{Combine, Frame, GroupEntries};
use ridgewalk_potentials::Rows;
use ridgewalk_sampler::clock::Instant;

use crate::config::Config;
use crate::data::{Filed, nearest};
use crate::error::Error;
use crate::fit::run;
use crate::model::Model;
use crate::predict::Posterior;
use crate::priors::ModelPriors;
use crate::rows::FitRows;

/// Draws of the effects of levels without rows, for each draw of the refit: at first, and at most.
const REPEATS: usize = 20;
const MOST_REPEATS: usize = 200;
/// A standard error of a log density that is small enough.
const ENOUGH: f64 = 0.02;
/// The number of the generator's seed, apart from those of chains.
const SEED: u64 = 0x006c_6566_746f_7574;

/// Fits some of the rows of a run.
pub(crate) struct Refitter<'a> {
    config: &'a Config,
    /// Scaled by all rows, so that priors mean the same without some of them.
    frame: Frame,
    /// The design, if it is in a file.
    filed: Option<Filed>,
    priors: ModelPriors,
}

/// What is predicted together.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Units<'a> {
    /// Each row by itself.
    Rows,
    /// Sets of rows.
    Sets(&'a [Vec<usize>]),
}

impl<'a> Units<'a> {
    /// The rows of a unit by its number.
    fn rows(self, unit: &'a usize) -> &'a [usize] {
        match self {
            Self::Rows => std::slice::from_ref(unit),
            Self::Sets(sets) => &sets[*unit],
        }
    }
}

/// A unit of rows that are predicted together.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Predicted {
    /// Its number.
    pub(crate) unit: usize,
    /// The log of the joint density of its rows that the others predict.
    pub(crate) elpd: f64,
    /// Its Monte Carlo standard error.
    pub(crate) mcse: f64,
}

/// What refits found.
pub(crate) struct Refits {
    pub(crate) units: Vec<Predicted>,
    pub(crate) warnings: Vec<String>,
}

impl<'a> Refitter<'a> {
    pub(crate) fn new(config: &'a Config, rows: &FitRows<'_>) -> Result<Self, Error> {
        let settings = &config.options;
        let priors = config.resolved.model_priors(settings)?;
        if let Some(packed) = rows.packed() {
            let (mut frame, mut filed, _) = packed.filed(settings)?;
            if priors.centred
                && let Some(scaling) = frame.centre_by(&filed.moments)
            {
                filed.rescale(&scaling)?;
            }
            return Ok(Self { config, frame, filed: Some(filed), priors });
        }
        let mut frame = rows.framed(settings)?;
        if priors.centred {
            let sizes = frame.sizes(settings.family, |_: Combine, _: &mut [f64]| {});
            frame.centre(&sizes);
        }
        Ok(Self { config, frame, filed: None, priors })
    }

    /// Whether there is memory for refits of data on the disk.
    pub(crate) fn check(config: &Config, rows: &FitRows<'_>) -> Result<(), Error> {
        let packed = rows.packed();
        packed.map_or(Ok(()), |packed| packed.check_refits(&config.options, rows.columns()))
    }

    /// The model of some rows.
    fn model(&self, rows: &[usize]) -> Result<Model, Error> {
        let (settings, frame) = (&self.config.options, self.frame.select(rows));
        let priors = Some(self.priors.clone());
        let Some(filed) = &self.filed else {
            return Model::new(settings, frame, priors, &Rows::default());
        };
        let filed = filed.select(rows, &nearest(&settings.out))?;
        Model::of_design(settings, frame, filed, priors)
    }

    /// Leaves out each fold of units in turn, and predicts the units: sets of rows, or single ones.
    pub(crate) fn elpd(
        &self, data: &FitRows<'_>, folds: &[Vec<usize>], units: Units<'_>, stop: &AtomicBool,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Refits, Error> {
        let done = AtomicUsize::new(0);
        let one = |fold: &Vec<usize>| {
            let found = self.without(data, fold, units, stop)?;
            progress(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(found)
        };
        let all: Result<Vec<_>, Error> = match self.filed {
            // There is no memory for several models.
            Some(_) => folds.iter().map(one).collect(),
            None => folds.par_iter().map(one).collect(),
        };
        let all = all?;
        let (mut found, mut named) = (Vec::new(), Vec::new());
        for (some, status) in all {
            found.extend(some);
            named.extend(status);
        }
        named.sort_unstable();
        let total = named.len();
        named.dedup();
        let warnings = match total {
            0 => Vec::new(),
            _ => vec![format!(
                "{total} of {} refits have warnings: {}",
                folds.len(),
                named.join(", ")
            )],
        };
        Ok(Refits { units: found, warnings })
    }

    /// The log density of each unit of a fold given the rows that are not in the fold, and the
    /// status of the refit if it is not `ok`.
    fn without(
        &self, data: &FitRows<'_>, fold: &[usize], units: Units<'_>, stop: &AtomicBool,
    ) -> Result<(Vec<Predicted>, Option<String>), Error> {
        let mut left_out = vec![false; self.frame.rows];
        fold.iter().flat_map(|unit| units.rows(unit)).for_each(|&row| left_out[row] = true);
        let others: Vec<usize> = (0..self.frame.rows).filter(|&row| !left_out[row]).collect();
        let model = self.model(&others)?;
        let fitted = run(&model, self.config, stop, &(), Instant::now())?;
        if fitted.document().stopped() {
            return Err(Error::Stopped);
        }
        let mut posterior = Posterior::new(self.config, fitted.draws())?;
        let seen = self.seen(&others);
        let mut found = Vec::with_capacity(fold.len());
        for unit in fold {
            let rows = units.rows(unit);
            let unseen = self.unseen(&seen, rows);
            let (elpd, mcse) = joint(&mut posterior, data, rows, &unseen, *unit)?;
            found.push(Predicted { unit: *unit, elpd, mcse });
        }
        // Notes on priors and data are those of the whole fit; what counts is the sampling.
        let status = fitted.warnings().iter().find(|warning| !OF_DATA.contains(&&*warning.name));
        Ok((found, status.map(|warning| warning.name.clone())))
    }

    /// For each grouping, the levels that some rows have. Smooths have no levels.
    fn seen(&self, rows: &[usize]) -> Vec<Vec<bool>> {
        let of = |group: &ridgewalk_frame::Grouping| {
            let mut seen = vec![false; group.levels.len()];
            if let GroupEntries::Basis(_) = &group.entries {
                seen.fill(true);
            }
            let levels = rows.iter().flat_map(|&row| group.entries.of_row(row));
            levels.for_each(|&level| seen[level as usize] = true);
            seen
        };
        self.frame.groups.iter().map(of).collect()
    }

    /// The levels of some rows that no other row of the refit has, each with the number of its
    /// grouping.
    fn unseen(&self, seen: &[Vec<bool>], rows: &[usize]) -> Vec<(usize, usize)> {
        let mut unseen = Vec::new();
        for (grouping, (group, seen)) in self.frame.groups.iter().zip(seen).enumerate() {
            let levels = rows.iter().flat_map(|&row| group.entries.of_row(row));
            let levels = levels.map(|&level| level as usize);
            unseen.extend(levels.filter(|level| !seen[*level]).map(|level| (grouping, level)));
        }
        unseen.sort_unstable();
        unseen.dedup();
        unseen
    }
}

/// The log of the mean over draws of the joint density of some rows, and its standard error.
fn joint(
    posterior: &mut Posterior, data: &FitRows<'_>, rows: &[usize], unseen: &[(usize, usize)],
    stream: usize,
) -> Result<(f64, f64), Error> {
    let mut rng = Posterior::generator(SEED, stream);
    // The log of the sum of densities over repeats, in each draw.
    let mut sums = vec![f64::NEG_INFINITY; posterior.draws];
    let mut repeats = 0;
    loop {
        if !unseen.is_empty() {
            match repeats % 2 {
                0 => posterior.redraw(unseen, &mut rng),
                _ => posterior.reflect(unseen),
            }
        }
        let densities = log_densities(posterior, data, rows)?;
        sums.iter_mut().zip(densities).for_each(|(sum, value)| *sum = log_add(*sum, value));
        repeats += 1;
        if !unseen.is_empty() && repeats % REPEATS != 0 {
            continue;
        }
        let error = relative_error(&sums, posterior.chains)?;
        if unseen.is_empty() || error <= ENOUGH || repeats >= MOST_REPEATS {
            return Ok((log_mean_exp(&sums) - (repeats as f64).ln(), error));
        }
    }
}

/// The log of the joint density of some rows in every draw.
fn log_densities(
    posterior: &Posterior, data: &FitRows<'_>, rows: &[usize],
) -> Result<Vec<f64>, Error> {
    let mut total = vec![0.0; posterior.draws];
    for &row in rows {
        let values = data.with(row..row + 1, |observed, row| {
            posterior.map_rows(
                observed.design(),
                row,
                || (),
                |(), room, row| {
                    observed.log_densities(posterior, row, room);
                    std::mem::take(&mut room.values)
                },
            )
        })?;
        let add = |values: &Vec<f64>| total.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
        values.iter().for_each(add);
    }
    Ok(total)
}

/// The standard error of the log of a mean of e^value: that of the mean relative to it.
fn relative_error(values: &[f64], chains: usize) -> Result<f64, Error> {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return Ok(f64::NAN);
    }
    let weights: Vec<f64> = values.iter().map(|value| (value - most).exp()).collect();
    let n = weights.len() as f64;
    let mean = weights.iter().sum::<f64>() / n;
    let variance = weights.iter().map(|w| (w - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let each = (weights.len() / chains.max(1)).max(1);
    let chains: Vec<&[f64]> = weights.chunks_exact(each).collect();
    Ok((variance / ess_mean(&chains)?).sqrt() / mean)
}

/// log(e^a + e^b).
fn log_add(a: f64, b: f64) -> f64 {
    let most = a.max(b);
    if a == f64::NEG_INFINITY || b == f64::NEG_INFINITY {
        most
    } else {
        most + (-(a - b).abs()).exp().ln_1p()
    }
}

/// Warnings about the data and the model, which the whole fit has shown.
const OF_DATA: [&str; 4] = ["prior_conflict", "prior_decides", "overdispersion", "unlogged_offset"];

fn log_mean_exp(values: &[f64]) -> f64 {
    let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !most.is_finite() {
        return most;
    }
    let sum: f64 = values.iter().map(|value| (value - most).exp()).sum();
    most + (sum / values.len() as f64).ln()
}

/// The folds of [`LooMethod::Folds`](super::LooMethod::Folds): rows, or levels, in groups of nearly equal size,
/// chosen at random by the seed of the fit.
///
/// # Errors
/// Fewer than two folds, or more than rows.
pub fn folds(rows: usize, folds: usize, config: &Config) -> Result<Vec<Vec<usize>>, Error> {
    if folds < 2 || folds > rows {
        let need = format!("2 to {rows}, the number of rows or levels that are left out");
        return Err(Error::setting("--folds", folds, need));
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

#[cfg(test)]
mod tests {
    use ridgewalk_frame::{Column, FamilyName, PackWriter, Table};

    use super::*;
    use crate::data::Data;
    use crate::fit::prepare;
    use crate::memory::Memory;
    use crate::settings::Settings;

    /// Two blocks of a packed file.
    const ROWS: usize = 70_000;

    #[test]
    fn refits_of_data_on_the_disk_are_those_in_memory() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.pack");
        let numbers = |name: &str, of: &dyn Fn(usize) -> f64| {
            Column::from_numbers(name, &(0..ROWS).map(of).collect::<Vec<f64>>())
        };
        let y = numbers("y", &|row| f64::from(u8::from(row * 7919 % 13 < 5)));
        let x = numbers("x", &|row| if row % 900 == 3 { f64::NAN } else { (row as f64).sin() });
        let mut writer = PackWriter::create(&path).unwrap();
        writer.push(&Table::from_columns("d", vec![y, x]).unwrap()).unwrap();
        writer.finish().unwrap();
        let settings = Settings {
            data: Some(path.clone()),
            out: dir.path().join("run"),
            drop_missing: true,
            draws: 10,
            chains: 2,
            ..Settings::of_formula("y ~ x", FamilyName::Logistic)
        };
        let table = Table::read(&path).unwrap();
        let config = Config::new(&settings, &prepare(&table, &settings, None).unwrap(), &table);
        let little = Settings { memory: Some(Memory(70 << 20)), ..settings };
        let data = [Data::from(&table), Data::open(&little).unwrap()];
        // One row of each block, and the rows of two groups.
        let sets = [vec![7, 69_000], (100..30_000).collect::<Vec<usize>>()];
        let found = data.map(|data| {
            let rows = FitRows::new(&config, data).unwrap();
            let refitter = Refitter::new(&config, &rows).unwrap();
            assert_eq!(refitter.filed.is_some(), rows.streamed());
            let stop = AtomicBool::new(false);
            let by_row = refitter.elpd(&rows, &[vec![5, 68_000]], Units::Rows, &stop, &|_| {});
            let by_set =
                refitter.elpd(&rows, &[vec![0, 1]], Units::Sets(&sets), &stop, &|_| {}).unwrap();
            let all = by_row.unwrap().units.into_iter().chain(by_set.units);
            all.map(|one| (one.unit, one.elpd.to_bits())).collect::<Vec<_>>()
        });
        assert_eq!(found[0].len(), 4);
        assert_eq!(found[0], found[1]);
    }
}

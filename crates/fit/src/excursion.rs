//! Detects draws where an exact sample of the posterior would almost surely have none: the sign of
//! a step that is sometimes too long.
//!
//! Where the curvature grows without bound, a chain may overshoot once in a thousand steps and land
//! far out. The bias measurement sees too few steps to notice; the run itself does, by the bound on
//! U that every log-concave density obeys. A run of trajectories that are accepted or rejected has
//! the values of U and is held to the same bound by the sampler.

use ridgewalk_potentials::{Error as PotentialError, Whitening};
use ridgewalk_sampler::automatic::{Warning, beyond_bound, counted_heights};

use crate::draws::DrawReader;
use crate::error::Error;
use crate::scale::Rescaling;

/// U is computed for the farthest draws: at least this many, and at least this share of all.
const LOOKED_AT: usize = 256;
const SHARE: usize = 50;
/// Number of points per evaluation of U.
const BATCH: usize = 64;

/// Computes U at points stored one after another.
pub type Values<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> Result<(), PotentialError>;

/// Looks for draws that left a log-concave posterior: [`Warning::Excursion`] if there are some.
/// `mode` and `whitening` are those of a warm-up, and `values` computes U.
///
/// # Errors
/// If the draws cannot be read or U cannot be computed.
pub fn excursion(
    whitening: &Whitening, mode: &[f64], draws: &dyn DrawReader, values: Values<'_>,
) -> Result<Option<Warning>, Error> {
    Search { whitening, mode, rescaling: None }.run(draws, values)
}

/// Where to look for draws that left the posterior.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search<'a> {
    pub(crate) whitening: &'a Whitening,
    pub(crate) mode: &'a [f64],
    /// For draws that are not on the sampled scale.
    pub(crate) rescaling: Option<&'a Rescaling>,
}

impl Search<'_> {
    /// Checks the draws that are farthest from the mode in whitened coordinates. Draws are read
    /// twice, first for the distances and then for U at the farthest, so that only one number per
    /// draw is in memory.
    pub(crate) fn run(
        &self, draws: &dyn DrawReader, values: Values<'_>,
    ) -> Result<Option<Warning>, Error> {
        let total = draws.chains() * draws.draws();
        let mut point = vec![0.0; self.mode.len()];
        let mut distances = Vec::with_capacity(total);
        draws.points(&mut |draw| {
            distances.push(self.distance(draw, &mut point)?);
            Ok(())
        })?;
        let (threshold, mut ties) = farthest(&mut distances, LOOKED_AT.max(total / SHARE));
        drop(distances);
        let mut heights = Heights::new(values, self.mode)?;
        draws.points(&mut |draw| {
            let found = self.distance(draw, &mut point)?.total_cmp(&threshold);
            let tie = found.is_eq() && ties > 0;
            ties -= usize::from(tie);
            if found.is_gt() || tie { heights.add(&point) } else { Ok(()) }
        })?;
        Ok(judged(&heights.finish()?, self.mode.len(), total))
    }

    /// Writes a draw on the sampled scale into `point` and returns its squared distance from the
    /// mode in whitened coordinates.
    fn distance(&self, draw: &[f64], point: &mut [f64]) -> Result<f64, Error> {
        point.copy_from_slice(draw);
        if let Some(rescaling) = self.rescaling {
            rescaling.undo(point);
        }
        let mut z = vec![0.0; point.len()];
        self.whitening.to_whitened(point, &mut z).map_err(failed)?;
        Ok(z.iter().map(|z| z * z).sum())
    }
}

/// U cannot be computed.
fn failed(error: PotentialError) -> Error {
    Error::Model { message: error.to_string(), source: Box::new(error), input: false }
}

/// The distance of the `count`-th farthest draw, and how many of the farthest are at exactly that
/// distance.
fn farthest(distances: &mut [f64], count: usize) -> (f64, usize) {
    if distances.len() <= count {
        return (f64::NEG_INFINITY, 0);
    }
    let (_, threshold, _) = distances.select_nth_unstable_by(count - 1, |a, b| b.total_cmp(a));
    let threshold = *threshold;
    let beyond = distances.iter().filter(|distance| distance.total_cmp(&threshold).is_gt()).count();
    (threshold, count - beyond)
}

/// U minus its value at the mode, in batches of points.
struct Heights<'a> {
    values: Values<'a>,
    dimension: usize,
    at_mode: f64,
    found: Vec<f64>,
    waiting: Vec<f64>,
}

impl<'a> Heights<'a> {
    fn new(values: Values<'a>, mode: &[f64]) -> Result<Self, Error> {
        let mut value = [0.0];
        values(mode, &mut value).map_err(failed)?;
        let (at_mode, dimension) = (value[0], mode.len().max(1));
        Ok(Self { values, dimension, at_mode, found: Vec::new(), waiting: Vec::new() })
    }

    fn add(&mut self, point: &[f64]) -> Result<(), Error> {
        self.waiting.extend_from_slice(point);
        if self.waiting.len() >= BATCH * self.dimension { self.compute() } else { Ok(()) }
    }

    fn compute(&mut self) -> Result<(), Error> {
        let mut values = [0.0; BATCH];
        let values = &mut values[..self.waiting.len() / self.dimension];
        if !values.is_empty() {
            (self.values)(&self.waiting, values).map_err(failed)?;
            self.found.extend(values.iter().map(|value| value - self.at_mode));
            self.waiting.clear();
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Vec<f64>, Error> {
        self.compute()?;
        Ok(self.found)
    }
}

/// Whether some of the largest heights of `total` draws exceed the bound in d dimensions.
fn judged(heights: &[f64], d: usize, total: usize) -> Option<Warning> {
    let farthest = heights.iter().copied().fold(0.0, f64::max);
    let above = counted_heights(d)
        .map(|bound| heights.iter().filter(|height| **height > bound).count() as u64);
    beyond_bound(above, farthest, total as u64)
}

#[cfg(test)]
mod tests {
    use super::farthest;

    #[test]
    fn the_farthest_draws_include_ties() {
        let list = [3.0, 1.0, 2.0, 3.0, 2.0, 5.0, 2.0];
        for (count, wanted) in
            [(1, (5.0, 1)), (2, (3.0, 1)), (3, (3.0, 2)), (5, (2.0, 2)), (6, (2.0, 3))]
        {
            assert_eq!(farthest(&mut list.clone(), count), wanted, "{count}");
        }
        assert_eq!(farthest(&mut list.clone(), 7), (f64::NEG_INFINITY, 0));
    }
}

//! Reading draws back, from memory or from a store.

use rayon::prelude::*;
use ridgewalk_diagnostics::{Intervals, Summarizer, Summary, summaries_and_intervals};
use ridgewalk_sampler::Draws;

use crate::error::Error;

/// Above this many draws, coefficients are summarised one after another: each thread needs about
/// eighty bytes per draw.
const ONE_BY_ONE: usize = 1 << 18;

/// Takes a draw.
pub type TakePoint<'a> = &'a mut dyn FnMut(&[f64]) -> Result<(), Error>;
/// Takes some columns of draws.
pub type TakeColumns<'a> = &'a mut dyn FnMut(&[Vec<f64>]) -> Result<(), Error>;

/// Draws of all chains, the same number for each.
pub trait DrawReader {
    /// The number of chains.
    fn chains(&self) -> usize;

    /// Draws per chain.
    fn draws(&self) -> usize;

    /// Draws made by each chain: more than [`draws`](Self::draws) if another chain ended earlier.
    fn made(&self) -> Vec<u64>;

    /// Whether the run has not made all its draws.
    fn incomplete(&self) -> bool;

    /// Passes every draw to `take`, chain after chain.
    ///
    /// # Errors
    /// If they cannot be read, and whatever `take` returns.
    fn points(&self, take: TakePoint<'_>) -> Result<(), Error>;

    /// Passes the columns to `take`, some at a time: per coefficient, the draws of all chains end
    /// to end.
    ///
    /// # Errors
    /// If they cannot be read, and whatever `take` returns.
    fn columns(&self, take: TakeColumns<'_>) -> Result<(), Error>;
}

impl DrawReader for Draws {
    fn chains(&self) -> usize {
        Draws::chains(self)
    }

    fn draws(&self) -> usize {
        self.common()
    }

    fn made(&self) -> Vec<u64> {
        (0..Draws::chains(self)).map(|chain| self.draws(chain) as u64).collect()
    }

    fn incomplete(&self) -> bool {
        false
    }

    fn points(&self, take: TakePoint<'_>) -> Result<(), Error> {
        let (draws, d) = (DrawReader::draws(self), self.dimension().max(1));
        (0..Draws::chains(self))
            .flat_map(|chain| self.chain(chain).chunks_exact(d).take(draws))
            .try_for_each(take)
    }

    fn columns(&self, take: TakeColumns<'_>) -> Result<(), Error> {
        let draws = DrawReader::draws(self);
        for k in 0..self.dimension() {
            let chains = (0..Draws::chains(self)).map(|chain| self.trace(chain, k));
            let column = chains.flat_map(|trace| trace.into_iter().take(draws)).collect();
            take(&[column])?;
        }
        Ok(())
    }
}

/// The summary of every coefficient, with intervals that hold the share `interval`, some columns at
/// a time.
pub(crate) fn summaries_of(
    draws: &dyn DrawReader, interval: f64,
) -> Result<Vec<(Summary, Intervals)>, Error> {
    let (mut all, mut summarizer) = (Vec::new(), Summarizer::new());
    draws.columns(&mut |columns| {
        all.extend(summaries_of_columns(draws, columns, interval, &mut summarizer)?);
        Ok(())
    })?;
    Ok(all)
}

/// The same of e^x, draw by draw, for the first `count` coefficients.
pub(crate) fn summaries_of_exponentials(
    draws: &dyn DrawReader, interval: f64, count: usize,
) -> Result<Vec<(Summary, Intervals)>, Error> {
    let (mut all, mut summarizer) = (Vec::new(), Summarizer::new());
    draws.columns(&mut |columns| {
        let columns = columns.iter().take(count.saturating_sub(all.len()));
        let columns: Vec<Vec<f64>> =
            columns.map(|column| column.iter().map(|x| x.exp()).collect()).collect();
        all.extend(summaries_of_columns(draws, &columns, interval, &mut summarizer)?);
        Ok(())
    })?;
    Ok(all)
}

fn summaries_of_columns(
    draws: &dyn DrawReader, columns: &[Vec<f64>], interval: f64, summarizer: &mut Summarizer,
) -> Result<Vec<(Summary, Intervals)>, Error> {
    let chain = |chain: usize| chain * draws.draws()..(chain + 1) * draws.draws();
    let chains: Vec<Vec<&[f64]>> = columns
        .iter()
        .map(|column| (0..draws.chains()).map(|number| &column[chain(number)]).collect())
        .collect();
    let chains: Vec<&[&[f64]]> = chains.iter().map(Vec::as_slice).collect();
    Ok(if draws.chains().saturating_mul(draws.draws()) > ONE_BY_ONE {
        let one = |chains: &&[&[f64]]| summarizer.summary_and_intervals(chains, interval);
        chains.iter().map(one).collect::<Result<_, _>>()?
    } else {
        summaries_and_intervals(&chains, interval)?
    })
}

/// Intervals of every coefficient that hold the share `interval`, some columns at a time.
pub(crate) fn intervals_of(draws: &dyn DrawReader, interval: f64) -> Result<Vec<Intervals>, Error> {
    let mut all = Vec::new();
    draws.columns(&mut |columns| {
        let some: Result<Vec<Intervals>, _> = columns
            .par_iter()
            .map_init(Summarizer::new, |summarizer, column| {
                summarizer.intervals(&[column], interval)
            })
            .collect();
        all.extend(some?);
        Ok(())
    })?;
    Ok(all)
}

//! Draws in memory.

use std::io::{self, Write};

use ridgewalk_diagnostics::{Covariance, Summary, summaries_of_table};

use crate::acceptance::DrawStats;
use crate::error::{Error, Quantity, length};
use crate::saved::SavedWarmUp;
use crate::sink::{Sink, SinkError};

/// Draws of some chains in memory, with a name for each coordinate.
///
/// Chains may have different numbers of draws: one that could not go on has fewer. Draws are equal if
/// their names and points are; statistics that came with them do not count.
///
/// ```
/// use ridgewalk_sampler::{Draws, Sink};
///
/// let mut draws = Draws::named(["intercept", "slope"]);
/// draws.begin(1, 2)?;
/// draws.keep(0, 0, &[0.5, 2.0])?;
/// draws.keep(0, 1, &[1.5, 4.0])?;
/// assert_eq!(draws.traces_of("slope"), Some(vec![vec![2.0, 4.0]]));
/// assert_eq!(draws.means(), [1.0, 3.0]);
///
/// let mut csv = Vec::new();
/// draws.write_csv(&mut csv)?;
/// assert_eq!(String::from_utf8(csv)?, "chain,draw,intercept,slope\n0,0,0.5,2.0\n0,1,1.5,4.0\n");
/// # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
/// ```
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Draws {
    names: Vec<String>,
    table: Table,
    /// The statistics of each chain's draws; fewer than draws if some came without.
    #[cfg_attr(feature = "serde", serde(default))]
    stats: Vec<Vec<DrawStats>>,
    /// Numbers that each chain had when the present run began.
    #[cfg_attr(feature = "serde", serde(skip))]
    before: Vec<usize>,
}

impl PartialEq for Draws {
    fn eq(&self, other: &Self) -> bool {
        self.names == other.names && self.table == other.table
    }
}

/// Draws without names: for each chain d numbers per draw, one draw after the other.
#[derive(Debug, Clone, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Table {
    pub(crate) dimension: usize,
    pub(crate) chains: Vec<Vec<f64>>,
}

impl Table {
    fn chain(&self, chain: usize) -> &[f64] {
        self.chains.get(chain).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn draws(&self, chain: usize) -> usize {
        self.chain(chain).len() / self.dimension.max(1)
    }

    pub(crate) fn trace(&self, chain: usize, coordinate: usize) -> Vec<f64> {
        if coordinate >= self.dimension {
            return Vec::new();
        }
        self.chain(chain).iter().skip(coordinate).step_by(self.dimension).copied().collect()
    }

    pub(crate) fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if self.chains.is_empty() {
            self.dimension = dimension;
            self.chains.resize(chains, Vec::new());
        }
        if (self.chains.len(), self.dimension) == (chains, dimension) {
            return Ok(());
        }
        let (got, of) = (self.chains.len(), self.dimension);
        let found = format!("draws of {got} chains in {of} dimensions");
        Err(format!("{found}: need {chains} chains in {dimension}").into())
    }

    pub(crate) fn keep(&mut self, chain: usize, point: &[f64]) -> Result<(), SinkError> {
        if point.len() != self.dimension {
            let (got, need) = (point.len(), self.dimension);
            return Err(format!("a point of {got} coordinates: need {need}").into());
        }
        let chain = self.chains.get_mut(chain).ok_or("a chain beyond those announced")?;
        chain.try_reserve(point.len())?;
        chain.extend_from_slice(point);
        Ok(())
    }
}

impl Draws {
    /// No draws yet, of coordinates with these names. Without names (`Draws::default()`) they are
    /// called `x[0]`, `x[1]` and so on.
    #[must_use]
    pub fn named<S: Into<String>>(names: impl IntoIterator<Item = S>) -> Self {
        let names = names.into_iter().map(Into::into).collect();
        Self { names, ..Self::default() }
    }

    /// Draws that were made elsewhere: for each chain d numbers per draw, one draw after the other.
    ///
    /// # Errors
    /// For no names, and chains that do not consist of whole draws.
    pub fn from_chains(names: Vec<String>, chains: Vec<Vec<f64>>) -> Result<Self, Error> {
        let dimension = names.len();
        if dimension == 0 {
            return Err(Error::Zero { what: Quantity::Dimension });
        }
        for chain in &chains {
            length("a chain", chain.len(), chain.len().next_multiple_of(dimension))?;
        }
        Ok(Self { names, table: Table { dimension, chains }, ..Self::default() })
    }

    /// The names of the coordinates.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The coordinate of this name.
    #[must_use]
    pub fn index(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|other| other == name)
    }

    /// The number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.table.chains.len()
    }

    /// The dimension d.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.table.dimension
    }

    /// A chain's draws, d numbers each, one after the other; empty if there is no such chain.
    #[must_use]
    pub fn chain(&self, chain: usize) -> &[f64] {
        self.table.chain(chain)
    }

    /// The statistics of a chain's draws; empty for kernels that do not accept or reject.
    #[must_use]
    pub fn stats(&self, chain: usize) -> &[DrawStats] {
        let known = self.stats.get(chain).filter(|stats| stats.len() == self.draws(chain));
        known.map_or(&[], Vec::as_slice)
    }

    /// Every chain's draws, in the layout of [`Draws::chain`].
    #[must_use]
    pub fn tables(&self) -> Vec<&[f64]> {
        self.table.chains.iter().map(Vec::as_slice).collect()
    }

    /// The number of draws of a chain.
    #[must_use]
    pub fn draws(&self, chain: usize) -> usize {
        self.table.draws(chain)
    }

    /// The number of draws that every chain has.
    #[must_use]
    pub fn common(&self) -> usize {
        (0..self.chains()).map(|chain| self.draws(chain)).min().unwrap_or(0)
    }

    /// The number of draws of all chains together.
    #[must_use]
    pub fn len(&self) -> usize {
        (0..self.chains()).map(|chain| self.draws(chain)).sum()
    }

    /// Whether there are no draws.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One draw; `None` if there is none of that number.
    #[must_use]
    pub fn point(&self, chain: usize, draw: usize) -> Option<&[f64]> {
        let first = draw.checked_mul(self.dimension())?;
        self.table.chains.get(chain)?.get(first..first.checked_add(self.dimension())?)
    }

    /// One coordinate of a chain, draw by draw; empty if there is no such chain or coordinate.
    #[must_use]
    pub fn trace(&self, chain: usize, coordinate: usize) -> Vec<f64> {
        self.table.trace(chain, coordinate)
    }

    /// One coordinate of every chain, by name.
    #[must_use]
    pub fn traces_of(&self, name: &str) -> Option<Vec<Vec<f64>>> {
        let coordinate = self.index(name)?;
        Some((0..self.chains()).map(|chain| self.trace(chain, coordinate)).collect())
    }

    /// The mean of a coordinate over all draws of all chains; not a number if there are none.
    #[must_use]
    pub fn mean(&self, coordinate: usize) -> f64 {
        let traces: Vec<Vec<f64>> =
            (0..self.chains()).map(|chain| self.trace(chain, coordinate)).collect();
        let count: usize = traces.iter().map(Vec::len).sum();
        traces.iter().flatten().sum::<f64>() / count as f64
    }

    /// The mean of every coordinate over all draws of all chains.
    #[must_use]
    pub fn means(&self) -> Vec<f64> {
        (0..self.dimension()).map(|coordinate| self.mean(coordinate)).collect()
    }

    /// The covariance matrix over all draws of all chains, row by row, with divisor n − 1. Not a
    /// number with fewer than two draws.
    ///
    /// # Errors
    /// For draws that are not finite.
    pub fn covariance(&self) -> Result<Vec<f64>, Error> {
        let d = self.dimension();
        let mut sums = Covariance::new(d);
        for (_, _, point) in self {
            sums.push(point)?;
        }
        Ok((0..d * d).map(|at| sums.covariance(at / d, at % d)).collect())
    }

    /// Moments, quantiles, effective sample sizes and R-hat of every coordinate, over the draws that
    /// every chain has.
    ///
    /// # Errors
    /// For draws that are not finite, or too few.
    pub fn summary(&self) -> Result<Vec<Summary>, Error> {
        let values = self.common() * self.dimension();
        let tables: Vec<&[f64]> = self.table.chains.iter().map(|chain| &chain[..values]).collect();
        Ok(summaries_of_table(&tables, self.dimension())?)
    }

    /// Every draw with its chain and its number in the chain: one chain after the other.
    pub fn iter(&self) -> Iter<'_> {
        Iter { draws: self, chain: 0, draw: 0 }
    }

    /// Writes all draws as CSV: `chain`, `draw`, then the coordinates, with as many digits as
    /// reading them back to the last bit takes.
    ///
    /// # Errors
    /// Those of the writer.
    pub fn write_csv(&self, mut to: impl Write) -> io::Result<()> {
        write!(to, "chain,draw")?;
        for name in &self.names {
            write!(to, ",{}", quoted(name))?;
        }
        writeln!(to)?;
        for (chain, draw, point) in self {
            write!(to, "{chain},{draw}")?;
            for x in point {
                // `Debug` has an exponent where plain digits would be long, and is exact.
                write!(to, ",{x:?}")?;
            }
            writeln!(to)?;
        }
        to.flush()
    }
}

impl Draws {
    /// Forgets the draws of the present run.
    pub(crate) fn forget(&mut self) {
        for (chain, before) in self.table.chains.iter_mut().zip(&self.before) {
            chain.truncate(*before);
        }
        for (chain, stats) in self.stats.iter_mut().enumerate() {
            stats.truncate(self.table.draws(chain));
        }
    }
}

/// A field of a CSV file, in quotes if it must be.
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", name.replace('"', "\"\""))
    } else {
        name.to_owned()
    }
}

impl Sink for Draws {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        if !self.names.is_empty() && self.names.len() != dimension {
            let got = self.names.len();
            return Err(format!("names of {got} coordinates: need {dimension}").into());
        }
        self.table.begin(chains, dimension)?;
        self.before.resize(chains, 0);
        if self.names.is_empty() {
            self.names = (0..dimension).map(|k| format!("x[{k}]")).collect();
        }
        Ok(())
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        if draw == 0 {
            let had = self.table.chain(chain).len();
            self.before.iter_mut().skip(chain).take(1).for_each(|before| *before = had);
        }
        self.table.keep(chain, point)
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        self.keep(chain, draw, point)?;
        if let Some(stats) = stats {
            self.stats.resize(self.chains(), Vec::new());
            self.stats[chain].push(*stats);
        }
        Ok(())
    }

    /// Draws of earlier runs stay.
    fn restart(&mut self, _: &SavedWarmUp) -> Result<bool, SinkError> {
        self.forget();
        Ok(true)
    }
}

/// An iterator over draws: chain, number in the chain, point.
#[derive(Debug, Clone)]
pub struct Iter<'a> {
    draws: &'a Draws,
    chain: usize,
    draw: usize,
}

impl<'a> Iterator for Iter<'a> {
    type Item = (usize, usize, &'a [f64]);

    fn next(&mut self) -> Option<Self::Item> {
        while self.chain < self.draws.chains() {
            let (chain, draw) = (self.chain, self.draw);
            if draw < self.draws.draws(chain) {
                self.draw += 1;
                return Some((chain, draw, self.draws.point(chain, draw)?));
            }
            (self.chain, self.draw) = (chain + 1, 0);
        }
        None
    }
}

impl<'a> IntoIterator for &'a Draws {
    type Item = (usize, usize, &'a [f64]);
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

//! Reading back a store written by this crate.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use ridgewalk_fit::{DrawReader, Error as FitError, TakeColumns, TakePoint};
use ridgewalk_sampler::{DrawStats, Draws, Sink, SinkError};
use serde_json::Value;

use super::metadata::{self, Extent, Layout, STATISTICS, Statistic, ValueKind};
use crate::directory::{MAX_DOCUMENT, read_file};
use crate::error::Error;

/// Numbers that [`StoredDraws::columns`] holds in memory at a time, unless one column needs more:
/// 16 MiB.
const COLUMNS: usize = 1 << 21;

/// A store on disk.
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    pub(super) layout: Layout,
    pub(super) extent: Extent,
}

impl Store {
    /// Reads the root's document, which has everything but the draws.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let document = metadata::document(path, "");
        let need = "the metadata of a store that ridgewalk wrote";
        let text = read_file(&document, MAX_DOCUMENT, need)?;
        let root: Value =
            serde_json::from_slice(&text).map_err(|error| Error::format(&document, error, need))?;
        parse(&root)
            .map(|(layout, extent)| Self { path: path.to_owned(), layout, extent })
            .ok_or_else(|| {
                Error::format(&document, "entries are missing or have an unknown layout", need)
            })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The names of the coefficients.
    pub(super) fn names(&self) -> Result<Vec<String>, Error> {
        let path = metadata::chunk(&self.path, "posterior/coef", &[0]);
        let need = "one name per coefficient";
        let bytes = read_file(&path, MAX_DOCUMENT, need)?;
        metadata::decode_strings(&bytes)
            .filter(|names| names.len() == self.layout.dimension)
            .ok_or_else(|| Error::format(&path, "it does not hold a list of names", need))
    }

    /// One whole chunk of a chain; `None` if it was never written.
    pub(super) fn chunk(&self, chain: usize, block: usize) -> Result<Option<Vec<f64>>, Error> {
        Ok(self.bytes(chain, block)?.map(|bytes| numbers(&bytes)))
    }

    /// The bytes of a chunk.
    pub(super) fn bytes(&self, chain: usize, block: usize) -> Result<Option<Vec<u8>>, Error> {
        let path = metadata::chunk(&self.path, "posterior/beta", &[chain, block, 0]);
        let values = self.layout.block.checked_mul(self.layout.dimension);
        self.bytes_of(&path, values.and_then(|values| values.checked_mul(size_of::<f64>())))
    }

    /// The bytes of a chunk of statistics; `None` if it was never written.
    pub(super) fn statistic_bytes(
        &self, statistic: &Statistic, chain: usize, block: usize,
    ) -> Result<Option<Vec<u8>>, Error> {
        let path = metadata::chunk(&self.path, statistic.array, &[chain, block]);
        self.bytes_of(&path, self.layout.block.checked_mul(statistic.width()))
    }

    /// One whole chunk of statistics, as numbers; `None` if it was never written.
    pub(super) fn statistic(
        &self, statistic: &Statistic, chain: usize, block: usize,
    ) -> Result<Option<Vec<f64>>, Error> {
        let Some(bytes) = self.statistic_bytes(statistic, chain, block)? else { return Ok(None) };
        if statistic.kind != ValueKind::Flag {
            return Ok(Some(numbers(&bytes)));
        }
        if let Some(byte) = bytes.iter().find(|byte| **byte > 1) {
            let path = metadata::chunk(&self.path, statistic.array, &[chain, block]);
            return Err(Error::format(&path, format!("a byte of {byte}"), "flags of 0 and 1"));
        }
        Ok(Some(bytes.into_iter().map(f64::from).collect()))
    }

    /// The statistics of the first draws of a block, which must exist.
    pub(super) fn statistics(
        &self, chain: usize, block: usize, rows: usize,
    ) -> Result<Vec<DrawStats>, Error> {
        let mut columns = Vec::new();
        for statistic in &STATISTICS {
            columns.push(self.statistic(statistic, chain, block)?.ok_or_else(|| {
                self.missing_file(&metadata::chunk(&self.path, statistic.array, &[chain, block]))
            })?);
        }
        let [acceptance_rate, diverging, energy, lp] = columns.as_slice() else {
            return Ok(Vec::new());
        };
        let of = |row: usize| DrawStats {
            acceptance_rate: acceptance_rate[row],
            energy: energy[row],
            lp: lp[row],
            diverging: diverging[row] > 0.0,
        };
        Ok((0..rows.min(self.layout.block)).map(of).collect())
    }

    /// The bytes of a file that must have this length.
    fn bytes_of(&self, path: &Path, length: Option<usize>) -> Result<Option<Vec<u8>>, Error> {
        let need = "the chunk size given by the metadata";
        let bytes = match read_file(path, length.unwrap_or_default() as u64, need) {
            Err(Error::File { source, .. }) if source.kind() == ErrorKind::NotFound => {
                return Ok(None);
            }
            read => read?,
        };
        if length != Some(bytes.len()) {
            return Err(Error::format(path, format!("{} bytes", bytes.len()), need));
        }
        Ok(Some(bytes))
    }

    pub(super) fn missing(&self, chain: usize, block: usize) -> Error {
        self.missing_file(&metadata::chunk(&self.path, "posterior/beta", &[chain, block, 0]))
    }

    pub(super) fn missing_file(&self, path: &Path) -> Error {
        Error::format(path, "file not found", "the draws that the metadata declare")
    }

    /// The first rows of a chunk, which must exist.
    fn rows(&self, chain: usize, block: usize, rows: usize) -> Result<Vec<f64>, Error> {
        let mut values = self.chunk(chain, block)?.ok_or_else(|| self.missing(chain, block))?;
        values.truncate(rows * self.layout.dimension);
        Ok(values)
    }
}

fn numbers(bytes: &[u8]) -> Vec<f64> {
    let (numbers, _) = bytes.as_chunks::<8>();
    numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

/// Parses the root's document, if it was written by this crate.
fn parse(root: &Value) -> Option<(Layout, Extent)> {
    let attributes = root.get("attributes")?;
    let made: Vec<u64> = attributes
        .get("draws_of_chains")?
        .as_array()?
        .iter()
        .map(Value::as_u64)
        .collect::<Option<_>>()?;
    // Stores of earlier versions have a boolean.
    let incomplete = attributes.get("incomplete")?;
    let incomplete = incomplete.as_bool().or(incomplete.as_u64().map(|flag| flag != 0))?;
    let extent = Extent { made, incomplete };
    let arrays = root.get("consolidated_metadata")?.get("metadata")?;
    let beta = arrays.get("posterior/beta")?;
    let count = |value: &Value| value.as_u64().and_then(|count| usize::try_from(count).ok());
    let counts = |value: &Value| -> Option<Vec<usize>> {
        value.as_array()?.iter().map(count).collect::<Option<_>>()
    };
    let [chains, draws, dimension] = counts(beta.get("shape")?)?.try_into().ok()?;
    let grid = beta.get("chunk_grid")?.get("configuration")?.get("chunk_shape")?;
    let [one, block, width]: [usize; 3] = counts(grid)?.try_into().ok()?;
    let steps_per_draw = arrays.get("sample_stats/n_steps")?.get("fill_value")?.as_u64()?;
    let statistics = arrays.get("sample_stats/lp").is_some();
    let layout = Layout { chains, dimension, block, steps_per_draw, statistics };
    // The rest of the document must be exactly as this crate writes it.
    let same = (one, width) == (1, dimension)
        && block > 0
        && dimension > 0
        && chains > 0
        && chains == extent.made.len()
        && draws as u64 == extent.common()
        && metadata::arrays(&layout, &extent).iter().all(|(path, ours)| {
            let read = *path == "posterior/beta"
                || (statistics && STATISTICS.iter().any(|statistic| statistic.array == *path));
            !read || arrays.get(path) == Some(ours)
        });
    same.then_some((layout, extent))
}

/// The draws of a store: for each chain, as many as all chains have.
///
/// # Errors
/// If it cannot be read, or was not written by this crate.
pub fn read_draws(store: &Path) -> Result<Draws, Error> {
    let store = Store::open(store)?;
    let common = store.extent.common();
    read(&store, &vec![common; store.layout.chains])
}

/// Every draw of a store: chains that ended later are longer.
///
/// # Errors
/// As [`read_draws`].
pub fn read_every_draw(store: &Path) -> Result<Draws, Error> {
    let store = Store::open(store)?;
    read(&store, &store.extent.made)
}

/// So many draws of each chain, with their statistics.
fn read(store: &Store, made: &[u64]) -> Result<Draws, Error> {
    let mut draws = Draws::named(store.names()?);
    pass(store, made, &mut draws)
        .map_err(|error| Error::format(store.path(), error, "complete draws of every chain"))?;
    Ok(draws)
}

/// The draws of a store, left on disk and read point by point or some columns at a time: for each
/// chain, as many as all chains have.
#[derive(Debug)]
pub struct StoredDraws {
    store: Store,
    names: Vec<String>,
}

impl StoredDraws {
    /// Opens a store.
    ///
    /// # Errors
    /// If it cannot be read, or was not written by this crate.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let store = Store::open(path)?;
        let names = store.names()?;
        Ok(Self { store, names })
    }

    /// The names of the coefficients.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.store.layout.chains
    }

    /// Draws per chain: the number that all chains have.
    #[must_use]
    pub fn draws(&self) -> usize {
        metadata::size(self.store.extent.common())
    }

    /// The number of draws that each chain made.
    #[must_use]
    pub fn made(&self) -> &[u64] {
        &self.store.extent.made
    }

    /// Whether the run has not made all its draws.
    #[must_use]
    pub fn incomplete(&self) -> bool {
        self.store.extent.incomplete
    }

    /// The statistics of every draw, chain by chain; `None` if the run has none, because its kernel
    /// does not accept or reject.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn statistics(&self) -> Result<Option<Vec<Vec<DrawStats>>>, Error> {
        if !self.store.layout.statistics {
            return Ok(None);
        }
        let chain = |chain: usize| {
            let mut all = Vec::new();
            self.blocks(|block, rows| {
                all.extend(self.store.statistics(chain, block, rows)?);
                Ok::<(), Error>(())
            })?;
            Ok(all)
        };
        (0..self.chains()).map(chain).collect::<Result<_, Error>>().map(Some)
    }

    /// Passes every draw to `take`, chain after chain. One chunk is in memory at a time.
    ///
    /// # Errors
    /// If the store cannot be read, and whatever `take` returns.
    pub fn points<E: From<Error>>(
        &self, mut take: impl FnMut(&[f64]) -> Result<(), E>,
    ) -> Result<(), E> {
        for chain in 0..self.chains() {
            self.blocks(|block, rows| {
                let values = self.store.rows(chain, block, rows)?;
                values.chunks_exact(self.names.len().max(1)).try_for_each(&mut take)
            })?;
        }
        Ok(())
    }

    /// Passes the columns to `take`, some at a time: the index of the first, and for each column
    /// the draws of all chains end to end. The more draws there are, the fewer columns are in
    /// memory together, and the more often the store is read.
    ///
    /// # Errors
    /// If the store cannot be read, and whatever `take` returns.
    pub fn columns<E: From<Error>>(
        &self, mut take: impl FnMut(usize, &[Vec<f64>]) -> Result<(), E>,
    ) -> Result<(), E> {
        let length = self.chains().saturating_mul(self.draws());
        let dimension = self.names.len();
        let width = (COLUMNS / length.max(1)).clamp(1, dimension.max(1));
        // A count that does not fit into memory cannot be right.
        let room = |column: &mut Vec<f64>| {
            column.clear();
            column.try_reserve_exact(length).map_err(|_| {
                Error::format(
                    self.store.path(),
                    format!("the metadata declare {length} draws"),
                    "draws that fit into memory",
                )
            })
        };
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for first in (0..dimension).step_by(width) {
            columns.resize_with(width.min(dimension - first), Vec::new);
            columns.iter_mut().try_for_each(room)?;
            for chain in 0..self.chains() {
                self.blocks(|block, rows| {
                    let bytes = self
                        .store
                        .bytes(chain, block)?
                        .ok_or_else(|| self.store.missing(chain, block))?;
                    let (numbers, _) = bytes.as_chunks::<8>();
                    for row in numbers.chunks_exact(dimension).take(rows) {
                        for (column, number) in columns.iter_mut().zip(&row[first..]) {
                            column.push(f64::from_le_bytes(*number));
                        }
                    }
                    Ok::<(), Error>(())
                })?;
            }
            take(first, &columns)?;
        }
        Ok(())
    }

    /// Each block of draws, and how many of them count.
    fn blocks<E>(&self, mut each: impl FnMut(usize, usize) -> Result<(), E>) -> Result<(), E> {
        let (draws, length) = (self.draws(), self.store.layout.block);
        (0..draws)
            .step_by(length)
            .enumerate()
            .try_for_each(|(block, first)| each(block, length.min(draws - first)))
    }
}

impl DrawReader for StoredDraws {
    fn chains(&self) -> usize {
        StoredDraws::chains(self)
    }

    fn draws(&self) -> usize {
        StoredDraws::draws(self)
    }

    fn made(&self) -> Vec<u64> {
        StoredDraws::made(self).to_vec()
    }

    fn incomplete(&self) -> bool {
        StoredDraws::incomplete(self)
    }

    fn points(&self, take: TakePoint<'_>) -> Result<(), FitError> {
        StoredDraws::points(self, |point| take(point).map_err(Passed::Fit)).map_err(FitError::from)
    }

    fn columns(&self, take: TakeColumns<'_>) -> Result<(), FitError> {
        let take = |_, columns: &[Vec<f64>]| take(columns).map_err(Passed::Fit);
        StoredDraws::columns(self, take).map_err(FitError::from)
    }
}

/// An error of the store, or of the callback that reads its draws.
enum Passed {
    Store(Error),
    Fit(FitError),
}

impl From<Error> for Passed {
    fn from(error: Error) -> Self {
        Self::Store(error)
    }
}

impl From<Passed> for FitError {
    fn from(passed: Passed) -> Self {
        match passed {
            Passed::Store(error) => Self::Draws(Box::new(error)),
            Passed::Fit(error) => error,
        }
    }
}

/// Passes every draw of a store to a sink, in the order of the run. One block of draws is in memory
/// at a time.
///
/// # Errors
/// If the store cannot be read or the sink fails.
pub fn replay(store: &Path, sink: &mut dyn Sink) -> Result<(), SinkError> {
    let store = Store::open(store)?;
    pass(&store, &store.extent.made, sink)
}

/// Passes so many draws of each chain to a sink.
fn pass(store: &Store, made: &[u64], sink: &mut dyn Sink) -> Result<(), SinkError> {
    let Layout { chains, dimension, block, .. } = store.layout;
    sink.begin(chains, dimension)?;
    let last = made.iter().copied().max().unwrap_or(0);
    for (number, first) in (0..last).step_by(block).enumerate() {
        let held = |chain: usize| metadata::size(made[chain].saturating_sub(first)).min(block);
        let tables: Result<Vec<Vec<f64>>, Error> = (0..chains)
            .map(|chain| {
                if held(chain) > 0 {
                    store.rows(chain, number, held(chain))
                } else {
                    Ok(Vec::new())
                }
            })
            .collect();
        let tables = tables?;
        let stats: Result<Vec<Vec<DrawStats>>, Error> = (0..chains)
            .map(|chain| {
                if store.layout.statistics && held(chain) > 0 {
                    store.statistics(chain, number, held(chain))
                } else {
                    Ok(Vec::new())
                }
            })
            .collect();
        let stats = stats?;
        for row in 0..block {
            for (chain, table) in tables.iter().enumerate() {
                if let Some(point) = table.get(row * dimension..(row + 1) * dimension) {
                    sink.keep_with(chain, first + row as u64, point, stats[chain].get(row))?;
                }
            }
        }
        sink.flush()?;
    }
    sink.flush()
}

//! The sink that writes a store, chunk by chunk, while the chains run.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ridgewalk_sampler::{DrawStats, Sink, SinkError};

use super::metadata::{self, Extent, GROUPS, Layout, STATISTICS, ValueKind};
use super::read::Store;
use super::writer::Writer;
use crate::directory::write_atomically;
use crate::error::{Error, FileAction};

/// Numbers buffered in memory until their chunk is full, over all chains: 64 MiB. As many may be
/// queued for writing.
const WAITING: usize = 1 << 23;
/// The maximum number of draws in a chunk.
const LONGEST: usize = 1000;
/// The minimum interval between writes of chunks that are not full; they take at most a twentieth
/// of the chains' time.
const SAVE: Duration = Duration::from_secs(5);
/// The queue of files to be written is at least this long.
const UNDER_WAY: usize = 8;

/// Draws as a Zarr store, written as they come.
///
/// A separate thread writes a chunk as soon as it is full, and chunks that are not full every few
/// seconds: a run that is killed leaves a valid store with the draws so far. [`ZarrDraws::save`]
/// writes everything at once, before a checkpoint.
///
/// A file that cannot be written makes one of the next calls fail. Nothing is lost: accepted draws
/// stay in memory, the draw passed to the failing call is not accepted, and the next call tries
/// again.
#[derive(Debug)]
pub struct ZarrDraws {
    path: PathBuf,
    names: Vec<String>,
    steps_per_draw: u64,
    open: Option<Open>,
}

/// A store that is being written.
#[derive(Debug)]
struct Open {
    layout: Layout,
    chains: Vec<Chain>,
    /// Number of blocks of the coordinate `draw` written.
    numbered: usize,
    saved: Instant,
    /// How long writing took.
    cost: Duration,
    writer: Writer,
}

/// The draws of one chain that do not fill a chunk yet.
#[derive(Debug)]
struct Chain {
    made: u64,
    waiting: Vec<f64>,
    /// One for each draw in `waiting`, if the store has statistics.
    stats: Vec<DrawStats>,
    unsaved: bool,
}

impl ZarrDraws {
    /// A new store for these coefficients; it is created when the run begins.
    /// `steps_per_draw` is the thinning.
    ///
    /// # Errors
    /// If the path exists.
    pub fn create(path: &Path, names: &[String], steps_per_draw: u64) -> Result<Self, Error> {
        if path.exists() {
            let remedy = "choose another name for the new store".to_owned();
            return Err(Error::Exists {
                path: path.to_owned(),
                found: "holds earlier draws",
                remedy,
            });
        }
        Ok(Self { path: path.to_owned(), names: names.to_vec(), steps_per_draw, open: None })
    }

    /// Opens the store of an interrupted run, to continue after the given number of draws per
    /// chain. Later draws are dropped.
    ///
    /// # Errors
    /// If it cannot be read, or holds fewer draws.
    pub fn resume(path: &Path, made: &[u64]) -> Result<Self, Error> {
        let store = Store::open(path)?;
        if made.len() != store.layout.chains {
            return Err(Error::Shape {
                what: "chains",
                got: made.len(),
                need: store.layout.chains,
            });
        }
        let chains: Result<Vec<Chain>, Error> =
            made.iter().enumerate().map(|(chain, made)| go_on(&store, chain, *made)).collect();
        let names = store.names()?;
        let Store { layout, .. } = store;
        let steps_per_draw = layout.steps_per_draw;
        let open = Open::new(layout, chains?);
        let mut resumed = Self { path: path.to_owned(), names, steps_per_draw, open: Some(open) };
        resumed.save()?;
        Ok(resumed)
    }

    /// The names of the coefficients.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// Draws of each chain so far; empty before the run has begun.
    #[must_use]
    pub fn made(&self) -> Vec<u64> {
        self.open.iter().flat_map(|open| &open.chains).map(|chain| chain.made).collect()
    }

    /// Writes every draw so far, partial chunks included, and the shape. They are on disk when it
    /// returns.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn save(&mut self) -> Result<(), Error> {
        self.save_as(true)?;
        self.wait()
    }

    /// Finishes the store: writes the last chunks, the final shape, and whether the run made all
    /// its draws. Returns the number of draws that all chains have.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, complete: bool) -> Result<u64, Error> {
        self.save_as(!complete)?;
        self.wait()?;
        Ok(self.made().into_iter().min().unwrap_or(0))
    }

    /// Removes the store. It is created again when the run begins.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        // Files that are queued are written before the writer is gone.
        self.open = None;
        match fs::remove_dir_all(&self.path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::file(FileAction::Remove, &self.path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Queues everything that is not queued yet.
    fn save_as(&mut self, incomplete: bool) -> Result<(), Error> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let began = Instant::now();
        open.writer.check()?;
        for (number, chain) in open.chains.iter_mut().enumerate().filter(|(_, chain)| chain.unsaved)
        {
            chain.write(&self.path, number, &open.layout, &mut open.writer);
        }
        let extent =
            Extent { made: open.chains.iter().map(|chain| chain.made).collect(), incomplete };
        open.number_draws(&self.path, extent.common());
        // A reader sees the old shape, or the new one with all its chunks.
        let arrays = metadata::arrays(&open.layout, &extent);
        for (array, document) in &arrays {
            open.writer.write(metadata::document(&self.path, array), metadata::text(document));
        }
        let root = metadata::root(metadata::nodes(arrays), Some(&extent));
        open.writer.write(metadata::document(&self.path, ""), metadata::text(&root));
        (open.saved, open.cost) = (Instant::now(), began.elapsed());
        Ok(())
    }

    fn wait(&mut self) -> Result<(), Error> {
        self.open.as_mut().map_or(Ok(()), |open| open.writer.wait())
    }

    /// Creates the directories and writes what does not change.
    fn found(&mut self, chains: usize) -> Result<(), Error> {
        let dimension = self.names.len();
        let block = (WAITING / chains.saturating_mul(dimension).max(1)).clamp(1, LONGEST);
        // Whether there are statistics is known with the first draw.
        let (steps_per_draw, statistics) = (self.steps_per_draw, false);
        let layout = Layout { chains, dimension, block, steps_per_draw, statistics };
        make_arrays(&self.path, &layout)?;
        for group in GROUPS {
            write_atomically(
                &metadata::document(&self.path, group),
                &metadata::text(&metadata::group()),
            )?;
            let numbers = metadata::counted(0..chains);
            let array = format!("{group}/chain");
            write_atomically(&metadata::chunk(&self.path, &array, &[0]), &numbers)?;
        }
        let coef = metadata::chunk(&self.path, "posterior/coef", &[0]);
        let names =
            metadata::encode_strings(self.names.iter().map(String::as_str)).ok_or_else(|| {
                Error::format(
                    &coef,
                    "names of more than 4 GiB",
                    "shorter names of the coefficients",
                )
            })?;
        write_atomically(&coef, &names)?;
        let chain = |_| Chain { made: 0, waiting: Vec::new(), stats: Vec::new(), unsaved: false };
        self.open = Some(Open::new(layout, (0..chains).map(chain).collect()));
        self.save()
    }
}

impl Open {
    fn new(layout: Layout, chains: Vec<Chain>) -> Self {
        let writer = Writer::new(chains.len().max(UNDER_WAY));
        Self { layout, chains, numbered: 0, saved: Instant::now(), cost: Duration::ZERO, writer }
    }

    /// Writes the blocks of the coordinate `draw` for this many draws.
    fn number_draws(&mut self, store: &Path, draws: u64) {
        while (self.numbered * self.layout.block) as u64 <= draws.saturating_sub(1) {
            let first = self.numbered * self.layout.block;
            for group in GROUPS {
                let path = metadata::chunk(store, &format!("{group}/draw"), &[self.numbered]);
                self.writer.write(path, metadata::counted(first..first + self.layout.block));
            }
            self.numbered += 1;
        }
    }
}

impl Chain {
    /// Writes the partial chunk, padded with NaN.
    fn write(&mut self, store: &Path, number: usize, layout: &Layout, writer: &mut Writer) {
        let values = layout.block * layout.dimension;
        let mut bytes = writer.buffer();
        bytes.resize(values * size_of::<f64>(), 0);
        let (numbers, _) = bytes.as_chunks_mut::<8>();
        for (number, x) in
            numbers.iter_mut().zip(self.waiting.iter().chain(std::iter::repeat(&f64::NAN)))
        {
            *number = x.to_le_bytes();
        }
        // The chunk that holds the last draw.
        let block = metadata::size(self.made.saturating_sub(1) / layout.block as u64);
        writer.write(metadata::chunk(store, "posterior/beta", &[number, block, 0]), bytes);
        for statistic in STATISTICS.iter().filter(|_| layout.statistics) {
            let mut bytes = writer.buffer();
            bytes.clear();
            let known = self.stats.iter().map(statistic.of);
            if statistic.kind == ValueKind::Flag {
                bytes.extend(known.map(|flag| u8::from(flag > 0.0)));
                bytes.resize(layout.block, 0);
            } else {
                let padded = known.chain(std::iter::repeat(f64::NAN)).take(layout.block);
                bytes.extend(padded.flat_map(f64::to_le_bytes));
            }
            writer.write(metadata::chunk(store, statistic.array, &[number, block]), bytes);
        }
        self.unsaved = false;
        if self.waiting.len() >= values {
            self.waiting.clear();
            self.stats.clear();
        }
    }
}

/// A chain as it was after `made` draws.
fn go_on(store: &Store, chain: usize, made: u64) -> Result<Chain, Error> {
    let Layout { block, dimension, .. } = store.layout;
    let (full, rest) = (metadata::size(made / block as u64), metadata::size(made % block as u64));
    let missing = |got| Error::Missing { path: store.path().to_owned(), chain, got, need: made };
    for number in 0..full {
        // Draws are finite; NaN is padding after the last.
        let values = store.chunk(chain, number)?;
        if values.as_ref().and_then(|values| values.last()).is_none_or(|x| x.is_nan()) {
            return Err(missing((number * block) as u64));
        }
    }
    let mut waiting = Vec::new();
    if rest > 0 {
        waiting = store.chunk(chain, full)?.unwrap_or_default();
        waiting.truncate(rest * dimension);
        if waiting.last().is_none_or(|x| x.is_nan()) {
            let held = waiting.iter().take_while(|x| !x.is_nan()).count() / dimension.max(1);
            return Err(missing((full * block + held) as u64));
        }
    }
    let stats = if store.layout.statistics {
        go_on_with_statistics(store, chain, made)?
    } else {
        Vec::new()
    };
    // Its chunk stays unchanged until there is more to write. The shape is reduced first and hides
    // the rest.
    Ok(Chain { made, unsaved: false, waiting, stats })
}

/// The statistics of the draws that do not fill a chunk, as they were after `made` draws.
fn go_on_with_statistics(store: &Store, chain: usize, made: u64) -> Result<Vec<DrawStats>, Error> {
    let block = store.layout.block;
    let (full, rest) = (metadata::size(made / block as u64), metadata::size(made % block as u64));
    for number in 0..full {
        if store.statistics(chain, number, block)?.last().is_none_or(unknown) {
            let (path, got) = (store.path().to_owned(), (number * block) as u64);
            return Err(Error::Missing { path, chain, got, need: made });
        }
    }
    if rest == 0 {
        return Ok(Vec::new());
    }
    let stats = store.statistics(chain, full, rest)?;
    if stats.last().is_none_or(unknown) {
        let held = stats.iter().take_while(|stats| !unknown(stats)).count();
        let (path, got) = (store.path().to_owned(), (full * block + held) as u64);
        return Err(Error::Missing { path, chain, got, need: made });
    }
    Ok(stats)
}

/// Whether statistics are padding after the last draw.
fn unknown(stats: &DrawStats) -> bool {
    STATISTICS.iter().any(|statistic| (statistic.of)(stats).is_nan())
}

/// Creates the directories of all arrays.
fn make_arrays(store: &Path, layout: &Layout) -> Result<(), Error> {
    let extent = Extent { made: vec![0; layout.chains], incomplete: true };
    for (array, _) in metadata::arrays(layout, &extent) {
        let directory = store.join(array);
        fs::create_dir_all(&directory).map_err(Error::file(FileAction::Make, &directory))?;
    }
    Ok(())
}

impl Sink for ZarrDraws {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        let shape = |what, got, need| {
            if got == need { Ok(()) } else { Err(Error::Shape { what, got, need }) }
        };
        shape("coefficients", dimension, self.names.len())?;
        match &self.open {
            Some(open) => shape("chains", chains, open.layout.chains)?,
            None => self.found(chains)?,
        }
        Ok(())
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.keep_with(chain, draw, point, None)
    }

    /// The first draw decides whether the store has statistics; all draws have them or none.
    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        let open = self.open.as_mut().ok_or("a draw arrived before the run began")?;
        let of = open.chains.len();
        let first = open.chains.iter().all(|chain| chain.made == 0);
        let kept = open.chains.get_mut(chain).ok_or(Error::Shape {
            what: "chains",
            got: chain.saturating_add(1),
            need: of,
        })?;
        if draw != kept.made {
            return Err(Error::Order { chain, got: draw, need: kept.made }.into());
        }
        if point.len() != open.layout.dimension {
            let need = open.layout.dimension;
            return Err(Error::Shape { what: "coefficients", got: point.len(), need }.into());
        }
        if stats.is_some() != open.layout.statistics {
            if !first {
                return Err(Error::Statistics { chain, draw, got: stats.is_some() }.into());
            }
            let layout = Layout { statistics: stats.is_some(), ..open.layout.clone() };
            make_arrays(&self.path, &layout)?;
            open.layout = layout;
        }
        let full = open.layout.block * open.layout.dimension;
        if kept.waiting.is_empty() {
            open.writer.check()?;
            kept.waiting.try_reserve_exact(full)?;
            kept.stats.try_reserve_exact(if stats.is_some() { open.layout.block } else { 0 })?;
        }
        kept.waiting.extend_from_slice(point);
        kept.stats.extend(stats);
        kept.made += 1;
        kept.unsaved = true;
        if kept.waiting.len() >= full {
            kept.write(&self.path, chain, &open.layout, &mut open.writer);
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        let due = |open: &Open| open.saved.elapsed() >= SAVE.max(20 * open.cost);
        let Some(open) = &mut self.open else { return Ok(()) };
        open.writer.check()?;
        if due(open) {
            self.save_as(true)?;
        }
        Ok(())
    }
}

//! Dense designs in a file, for those that do not fit into memory. Passes read them from the first
//! row to the last while a thread reads ahead.
//!
//! The file belongs to this process alone: it has no name (or loses it when it is closed), so that
//! nothing is left of it after a crash. Its rows are cut where the blocks of a pass end
//! ([`crate::batch`]), so that sums over rows are the same, to the last bit, as with the design in
//! memory. Each piece has a checksum, which is compared whenever the piece is read.
//!
//! Sums over rows cannot fail half-way. A piece that cannot be read counts as entries that are not
//! numbers, and the failure is kept: [`Stored::intact`] returns it, and every function that has
//! used the design asks.

use std::fmt;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{channel, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;

use crate::batch::blocks_of_rows;
use crate::error::Error;

/// Entries of a piece, about: 4 MiB.
const PIECE: usize = 1 << 19;
/// Pieces that are read ahead.
const AHEAD: usize = 2;
/// Entries of a part of a piece, with a checksum of its own: what a single row is read with. 32 KiB.
const PART: usize = 1 << 12;

/// A dense design in a file. Clones share the file.
#[derive(Clone)]
pub struct Stored {
    inner: Arc<Inner>,
}

struct Inner {
    layout: Layout,
    /// The checksum of each piece.
    sums: Vec<u64>,
    /// The checksums of its parts.
    parts: Vec<Vec<u64>>,
    file: Mutex<File>,
    directory: PathBuf,
    /// Removes the file where an open one keeps its name.
    _name: Option<Name>,
    /// Why a piece could not be read.
    failure: OnceLock<String>,
    /// Room for pieces, kept between passes.
    room: Mutex<Vec<Vec<f64>>>,
    /// The piece that single rows were read from last.
    last: Mutex<Option<(usize, Arc<Vec<f64>>)>>,
}

impl fmt::Debug for Stored {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Layout { rows, columns, .. } = self.inner.layout;
        f.debug_struct("Stored").field("rows", &rows).field("columns", &columns).finish()
    }
}

impl PartialEq for Stored {
    /// Whether both are the same file.
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

/// How rows go into pieces: some blocks of a pass each.
#[derive(Debug, Clone, Copy)]
struct Layout {
    rows: usize,
    columns: usize,
    blocks: usize,
    /// Blocks of a piece.
    group: usize,
}

impl Layout {
    fn new(rows: usize, columns: usize) -> Self {
        let blocks = blocks_of_rows(rows, rows * columns, columns);
        let group = (PIECE / (rows * columns / blocks).max(1)).clamp(1, blocks);
        Self { rows, columns, blocks, group }
    }

    fn pieces(&self) -> usize {
        self.blocks.div_ceil(self.group)
    }

    /// The first row of a piece; beyond the last piece the number of rows.
    fn first(&self, piece: usize) -> usize {
        (piece * self.group).min(self.blocks) * self.rows / self.blocks
    }

    /// The entries of a piece.
    fn entries(&self, piece: usize) -> usize {
        (self.first(piece + 1) - self.first(piece)) * self.columns
    }

    /// The piece of a row.
    fn piece_of(&self, row: usize) -> usize {
        let block = row * self.blocks / self.rows;
        let near = block / self.group;
        // Blocks have not all the same number of rows, so that the guess may be one too low.
        if self.first(near + 1) <= row { near + 1 } else { near }
    }
}

/// The name of a file, removed with it.
struct Name(PathBuf);

impl Drop for Name {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Writes a [`Stored`] design.
pub struct StoredWriter {
    layout: Layout,
    file: File,
    name: Option<Name>,
    directory: PathBuf,
    sums: Vec<u64>,
    parts: Vec<Vec<u64>>,
    /// The beginning of the next piece.
    values: Vec<f64>,
}

impl fmt::Debug for StoredWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoredWriter").field("layout", &self.layout).finish_non_exhaustive()
    }
}

impl StoredWriter {
    /// Begins a design of this many rows and columns, in a file in this directory.
    ///
    /// # Errors
    /// No rows or columns, or a file that cannot be created.
    pub fn new(directory: &Path, rows: usize, columns: usize) -> Result<Self, Error> {
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { rows, columns });
        }
        let layout = Layout::new(rows, columns);
        let (file, name) = nameless(directory).map_err(|error| cannot_write(directory, &error))?;
        let (sums, parts, values) = (Vec::new(), Vec::new(), Vec::new());
        Ok(Self { layout, file, name, directory: directory.to_owned(), sums, parts, values })
    }

    /// Adds rows, one after the other.
    ///
    /// # Errors
    /// A disk that is full, an entry that is not finite, or more rows than announced.
    pub fn push(&mut self, mut rows: &[f64]) -> Result<(), Error> {
        if let Some(at) = rows.iter().position(|x| !x.is_finite()) {
            let (columns, before) = (self.layout.columns, self.layout.first(self.sums.len()));
            let row = before + (self.values.len() + at) / columns;
            return Err(Error::Entry { row, column: at % columns, value: rows[at] });
        }
        while !rows.is_empty() {
            if self.sums.len() == self.layout.pieces() {
                return Err(self.length(rows.len()));
            }
            let whole = self.layout.entries(self.sums.len());
            let (now, rest) = rows.split_at(rows.len().min(whole - self.values.len()));
            self.values.extend_from_slice(now);
            rows = rest;
            if self.values.len() == whole {
                let done = self.file.write_all(bytemuck::cast_slice(&self.values));
                done.map_err(|error| cannot_write(&self.directory, &error))?;
                self.sums.push(checksum(&self.values));
                self.parts.push(self.values.chunks(PART).map(checksum).collect());
                self.values.clear();
            }
        }
        Ok(())
    }

    /// The design, when all rows have come.
    ///
    /// # Errors
    /// Fewer rows than announced.
    pub fn finish(self) -> Result<Stored, Error> {
        if self.sums.len() < self.layout.pieces() {
            return Err(self.length(0));
        }
        let Self { layout, file, name, directory, sums, parts, .. } = self;
        let inner = Inner {
            layout,
            sums,
            parts,
            file: Mutex::new(file),
            directory,
            _name: name,
            failure: OnceLock::new(),
            room: Mutex::default(),
            last: Mutex::default(),
        };
        Ok(Stored { inner: Arc::new(inner) })
    }

    fn length(&self, more: usize) -> Error {
        let Layout { rows, columns, .. } = self.layout;
        let got = self.layout.first(self.sums.len()) * columns + self.values.len() + more;
        Error::Length { what: "the design", got, need: rows * columns }
    }
}

impl Stored {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.inner.layout.rows
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.inner.layout.columns
    }

    /// The bytes of memory that reading takes.
    #[must_use]
    pub fn memory(rows: usize, columns: usize) -> usize {
        let layout = Layout::new(rows.max(1), columns.max(1));
        // The last pieces of single rows and of blocks that cross pieces.
        (AHEAD + 4) * 8 * layout.entries(0)
    }

    /// The error of a piece that could not be read, if there was one.
    ///
    /// # Errors
    /// [`Error::Stored`].
    pub fn intact(&self) -> Result<(), Error> {
        match self.inner.failure.get() {
            Some(message) => Err(Error::Stored { message: message.clone() }),
            None => Ok(()),
        }
    }

    /// Calls a function with `step` rows after another, and with the number of the first; the last
    /// call may have fewer.
    ///
    /// # Errors
    /// [`Error::Stored`].
    pub fn each(&self, step: usize, with: impl FnMut(usize, &[f64])) -> Result<(), Error> {
        self.for_blocks(step.max(1), with);
        self.intact()
    }

    /// The design whose rows a function makes of the rows here, `step` at a time.
    ///
    /// # Errors
    /// [`Error::Stored`]; a disk that is full; entries that are not finite.
    pub fn mapped(
        &self, step: usize, mut with: impl FnMut(&[f64], &mut [f64]),
    ) -> Result<Self, Error> {
        let mut writer = StoredWriter::new(&self.inner.directory, self.rows(), self.columns())?;
        let (mut out, mut outcome) = (Vec::new(), Ok(()));
        self.for_blocks(step, |_, rows| {
            if outcome.is_ok() {
                out.clear();
                out.resize(rows.len(), 0.0);
                with(rows, &mut out);
                outcome = writer.push(&out);
            }
        });
        // What was made of rows that could not be read is not finite.
        self.intact()?;
        outcome?;
        writer.finish()
    }

    /// Calls a function with a row.
    ///
    /// # Errors
    /// [`Error::Stored`].
    pub fn with_row<T>(&self, row: usize, with: impl FnOnce(&[f64]) -> T) -> Result<T, Error> {
        let found = self.row(row, with);
        self.intact().map(|()| found)
    }

    pub(crate) fn row<T>(&self, row: usize, with: impl FnOnce(&[f64]) -> T) -> T {
        let (layout, piece) = (self.inner.layout, self.inner.layout.piece_of(row));
        let mut last = locked(&self.inner.last);
        let values = match &*last {
            Some((found, values)) if *found == piece => Arc::clone(values),
            _ => {
                let mut values = Vec::new();
                self.load(piece, &mut values);
                let values = Arc::new(values);
                *last = Some((piece, Arc::clone(&values)));
                values
            }
        };
        drop(last);
        let from = (row - layout.first(piece)) * layout.columns;
        with(&values[from..from + layout.columns])
    }

    /// The same for rows in no order: the parts that the row is in are read, and not its piece. Entries
    /// that are not numbers if that fails.
    pub(crate) fn row_alone<T>(&self, row: usize, with: impl FnOnce(&[f64]) -> T) -> T {
        let Inner { layout, parts, file, failure, .. } = &*self.inner;
        let (piece, columns) = (layout.piece_of(row), layout.columns);
        let first = layout.first(piece);
        let from = (row - first) * columns;
        let [low, high] = [from / PART, (from + columns).div_ceil(PART)];
        let start = low * PART;
        let mut values = vec![0.0; (high * PART).min(layout.entries(piece)) - start];
        let mut file = locked(file);
        let read =
            file.seek(SeekFrom::Start(((first * columns + start) * size_of::<f64>()) as u64));
        let read = read.and_then(|_| file.read_exact(bytemuck::cast_slice_mut(&mut values)));
        drop(file);
        let same = || values.chunks(PART).map(checksum).eq(parts[piece][low..high].iter().copied());
        let message = match read {
            Ok(()) if same() => return with(&values[from - start..][..columns]),
            Ok(()) => format!("the checksum of row {} differs from the one it had", row + 1),
            Err(error) => format!("row {} cannot be read: {error}", row + 1),
        };
        failure.get_or_init(|| message);
        with(&vec![f64::NAN; columns])
    }

    /// The number of blocks of a pass, and of those in a piece.
    pub(crate) fn blocks(&self) -> (usize, usize) {
        (self.inner.layout.blocks, self.inner.layout.group)
    }

    /// Calls a function with the number and the entries of each piece, in order.
    pub(crate) fn for_pieces(&self, mut with: impl FnMut(usize, &[f64])) {
        let pieces = self.inner.layout.pieces();
        if pieces > AHEAD && !cfg!(target_family = "wasm") && self.read_ahead(pieces, &mut with) {
            return;
        }
        let mut values = self.take_room();
        for piece in 0..pieces {
            self.load(piece, &mut values);
            with(piece, &values);
        }
        self.give_room(values);
    }

    /// The same with a thread that reads; false, with nothing done, if it cannot be started.
    fn read_ahead(&self, pieces: usize, with: &mut impl FnMut(usize, &[f64])) -> bool {
        let (full, filled) = sync_channel::<Vec<f64>>(AHEAD);
        let (free, emptied) = channel::<Vec<f64>>();
        thread::scope(|scope| {
            let read = move || {
                for piece in 0..pieces {
                    let Ok(mut values) = emptied.recv() else { return };
                    self.load(piece, &mut values);
                    if full.send(values).is_err() {
                        return;
                    }
                }
            };
            if thread::Builder::new().spawn_scoped(scope, read).is_err() {
                return false;
            }
            for _ in 0..=AHEAD {
                let _ = free.send(self.take_room());
            }
            let mut left = pieces;
            for (piece, values) in (0..).zip(filled) {
                with(piece, &values);
                left -= 1;
                // The reader takes no more than it needs; the last ones stay here.
                if left > AHEAD {
                    let _ = free.send(values);
                } else {
                    self.give_room(values);
                }
            }
            true
        })
    }

    /// Calls a function with `step` rows after another, and with the number of the first.
    pub(crate) fn for_blocks(&self, step: usize, mut with: impl FnMut(usize, &[f64])) {
        let size = step * self.columns();
        let (mut first, mut begun) = (0, Vec::new());
        self.for_pieces(|_, mut values| {
            if !begun.is_empty() {
                let (now, rest) = values.split_at(values.len().min(size - begun.len()));
                begun.extend_from_slice(now);
                values = rest;
                if begun.len() < size {
                    return;
                }
                with(first, &begun);
                first += step;
                begun.clear();
            }
            let mut blocks = values.chunks_exact(size);
            for block in &mut blocks {
                with(first, block);
                first += step;
            }
            begun.extend_from_slice(blocks.remainder());
        });
        if !begun.is_empty() {
            with(first, &begun);
        }
    }

    /// Reads a piece; entries that are not numbers if that fails.
    fn load(&self, piece: usize, into: &mut Vec<f64>) {
        let Inner { layout, sums, file, failure, .. } = &*self.inner;
        into.resize(layout.entries(piece), 0.0);
        let at = (layout.first(piece) * layout.columns * size_of::<f64>()) as u64;
        let mut file = locked(file);
        let read = file.seek(SeekFrom::Start(at));
        let read = read.and_then(|_| file.read_exact(bytemuck::cast_slice_mut(into)));
        drop(file);
        let rows = || format!("rows {} to {}", layout.first(piece) + 1, layout.first(piece + 1));
        let message = match read {
            Ok(()) if checksum(into) == sums[piece] => return,
            Ok(()) => format!("the checksum of {} differs from the one they had", rows()),
            Err(error) => format!("{} cannot be read: {error}", rows()),
        };
        failure.get_or_init(|| message);
        into.fill(f64::NAN);
    }

    fn take_room(&self) -> Vec<f64> {
        locked(&self.inner.room).pop().unwrap_or_default()
    }

    fn give_room(&self, values: Vec<f64>) {
        let mut room = locked(&self.inner.room);
        if room.len() <= AHEAD {
            room.push(values);
        }
    }
}

/// A lock. What it guards is whole even if a holder panicked.
fn locked<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A new file without a name, or with one that is removed with it.
fn nameless(directory: &Path) -> io::Result<(File, Option<Name>)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let process = std::process::id();
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = directory.join(format!(".ridgewalk-{process}-{number}.rows"));
        let made = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
        match made {
            Ok(file) => {
                let name = Name(path);
                // An open file outlives its name, except on Windows.
                let keeps = cfg!(windows).then_some(name);
                return Ok((file, keeps));
            }
            // Left behind by another process of this number.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

fn cannot_write(directory: &Path, error: &io::Error) -> Error {
    let message = format!("a temporary file in {} cannot be written: {error}", directory.display());
    Error::Stored { message }
}

/// Eight running numbers, each of every eighth entry, mixed at the end. A step is a bijection of the
/// entry, so that any change within one entry changes the result; others go unseen with a
/// probability of about 2⁻⁶⁴.
fn checksum(values: &[f64]) -> u64 {
    const ODD: u64 = 0x9e37_79b9_7f4a_7c15;
    let step = |sum: u64, value: f64| (sum ^ value.to_bits()).wrapping_mul(ODD).rotate_left(29);
    let (chunks, rest) = values.as_chunks::<8>();
    let mut sums: [u64; 8] = std::array::from_fn(|k| k as u64);
    for chunk in chunks {
        for k in 0..8 {
            sums[k] = step(sums[k], chunk[k]);
        }
    }
    let all = sums.into_iter().map(f64::from_bits).chain(rest.iter().copied());
    all.fold(values.len() as u64, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(at: usize) -> f64 {
        (at as f64 * 0.7).sin()
    }

    fn stored(rows: usize, columns: usize) -> Stored {
        let mut writer = StoredWriter::new(&std::env::temp_dir(), rows, columns).unwrap();
        let values: Vec<f64> = (0..rows * columns).map(value).collect();
        // Rows come in groups of any size.
        for group in values.chunks(17 * columns) {
            writer.push(group).unwrap();
        }
        writer.finish().unwrap()
    }

    #[test]
    fn rows_come_back_in_order_and_blocks_of_any_size() {
        for (rows, columns) in [(1, 1), (100, 3), (40_000, 31), (700, 2000), (300_000, 5)] {
            let design = stored(rows, columns);
            assert_eq!((design.rows(), design.columns()), (rows, columns));
            for step in [1, 8, 1000, rows] {
                let mut next = 0;
                let step = step.max(rows / 5000);
                design
                    .each(step, |first, block| {
                        assert_eq!(first * columns, next);
                        let end = first + block.len() / columns;
                        assert!(end == rows || block.len() == step * columns);
                        let all = block.iter().zip(next..).all(|(x, at)| *x == value(at));
                        assert!(all, "{rows} x {columns}, {step} from {first}");
                        next += block.len();
                    })
                    .unwrap();
                assert_eq!(next, rows * columns);
            }
            for row in [0, rows / 3, rows - 1, 0] {
                let first = design.with_row(row, |row| row[0]).unwrap();
                assert_eq!(first, value(row * columns));
            }
            for row in (0..rows).step_by(rows.div_ceil(300)).chain([rows - 1]) {
                let same = |found: &[f64]| {
                    found.iter().zip(row * columns..).all(|(x, at)| *x == value(at))
                };
                assert!(design.row_alone(row, same), "{rows} x {columns}, row {row}");
            }
            let pieces = design.inner.layout.pieces();
            let bounds = (0..pieces).map(|piece| design.inner.layout.first(piece));
            for (piece, first) in bounds.enumerate() {
                assert_eq!(design.inner.layout.piece_of(first), piece);
                let last = design.inner.layout.first(piece + 1) - 1;
                assert_eq!(design.inner.layout.piece_of(last), piece);
            }
            let doubled = design.mapped(13, |rows, out| {
                out.iter_mut().zip(rows).for_each(|(out, x)| *out = 2.0 * x);
            });
            let doubled = doubled.unwrap();
            assert_eq!(
                doubled.with_row(rows - 1, |row| row[0]),
                Ok(2.0 * value((rows - 1) * columns))
            );
        }
    }

    #[test]
    fn a_piece_that_changed_or_is_gone_is_reported() {
        let design = stored(200_000, 11);
        let middle = 8 * 11 * 100_000;
        {
            let mut file = locked(&design.inner.file);
            file.seek(SeekFrom::Start(middle + 3)).unwrap();
            file.write_all(&[0x55]).unwrap();
        }
        assert_eq!(design.with_row(0, |row| row[0]), Ok(value(0)));
        assert!(design.row_alone(0, |row| row[0]) == value(0) && design.intact().is_ok());
        let twin = stored(200_000, 11);
        {
            let mut file = locked(&twin.inner.file);
            file.seek(SeekFrom::Start(middle + 3)).unwrap();
            file.write_all(&[0x55]).unwrap();
        }
        assert!(twin.row_alone(100_000, |row| row[0]).is_nan());
        let error = twin.intact().unwrap_err().to_string();
        assert!(error.contains("the checksum of row 100001 differs"), "{error}");
        let mut wrong = 0;
        let error = design.each(1000, |_, block| wrong += usize::from(block[0].is_nan()));
        let error = error.unwrap_err().to_string();
        assert!(error.contains("the checksum of rows"), "{error}");
        assert!(wrong > 0, "no entry of a piece that is wrong is used");
        assert!(design.mapped(5, |a, b| b.copy_from_slice(a)).is_err());
        let design = stored(200_000, 11);
        locked(&design.inner.file).set_len(middle).unwrap();
        assert!(design.with_row(0, |_| ()).is_ok());
        let error = design.with_row(199_999, |_| ()).unwrap_err().to_string();
        assert!(error.contains("cannot be read"), "{error}");
    }

    /// Whatever uses the rows reports that they could not be read; nothing goes on without them.
    #[test]
    fn sums_over_rows_that_cannot_be_read_are_errors() {
        use crate::families::Logistic;
        use crate::likelihoods::NegativeBinomial;
        use crate::{Joint, LineIntegral, MappedRidge, Prior, Ridge, Scratch, Whitening};

        const D: usize = 3;
        let design = stored(300_000, D);
        let responses: Vec<f64> = (0..300_000).map(|row| f64::from(row * 7 % 3 / 2)).collect();
        let prior = Prior::centred(D, 1.0).unwrap();
        let ridge = Ridge::new(design.clone(), Logistic, &responses, prior).unwrap();
        let joint = Joint::new(design.clone(), Arc::new(NegativeBinomial), &responses).unwrap();
        let whitening = Whitening::diagonal(&[0.0; D], &[0.5; D]).unwrap();
        let mapped = MappedRidge::new(&ridge, &whitening).unwrap();
        let point = [0.1; D];
        let pass = |potential: &dyn LineIntegral| {
            let (mut out, mut scratch) = (vec![0.0; potential.dimension()], Scratch::default());
            let point = vec![0.1; potential.dimension()];
            let values = potential.values_and_gradients(&point, &mut [0.0], &mut out, &mut scratch);
            values.map(|()| out)
        };
        assert!(pass(&ridge).is_ok() && pass(&joint).is_ok() && ridge.hessian(&point).is_ok());
        locked(&design.inner.file).set_len(8 * D as u64 * 250_000).unwrap();
        *locked(&design.inner.last) = None;
        let (mut out, mut scratch) = ([0.0; D], Scratch::default());
        let found = [
            pass(&ridge).err(),
            pass(&joint).err(),
            pass(&mapped).err(),
            ridge.integrate(0.1, &point, &point, &mut out, &mut scratch).err(),
            ridge.gradients(&point, &mut out, &mut scratch).err(),
            ridge.value(&point).err(),
            ridge.hessian(&point).err(),
            ridge.mode().err(),
            ridge.curvature().err(),
            ridge.separation().err(),
            ridge.linear_predictors(&point).err(),
            ridge.whitened(&whitening).err(),
            ridge.in_coordinates(&whitening).err(),
            MappedRidge::new(&ridge, &whitening).err(),
            mapped.curvature().err(),
            joint.mode(&[0.1; D + 1]).err(),
            joint.hessian(&[0.1; D + 1]).err(),
        ];
        for (index, error) in found.into_iter().enumerate() {
            assert!(matches!(error, Some(Error::Stored { .. })), "{index}: {error:?}");
        }
    }

    #[test]
    fn wrong_numbers_of_rows_and_entries_are_refused() {
        let new = || StoredWriter::new(&std::env::temp_dir(), 4, 2).unwrap();
        let mut writer = new();
        writer.push(&[1.0; 6]).unwrap();
        assert!(matches!(writer.push(&[1.0; 4]), Err(Error::Length { got: 10, need: 8, .. })));
        let mut writer = new();
        writer.push(&[1.0; 6]).unwrap();
        assert!(matches!(writer.finish(), Err(Error::Length { got: 6, need: 8, .. })));
        let mut writer = new();
        writer.push(&[1.0; 2]).unwrap();
        let error = writer.push(&[1.0, 1.0, 1.0, f64::NAN]).unwrap_err();
        assert!(matches!(error, Error::Entry { row: 2, column: 1, .. }), "{error}");
        assert!(StoredWriter::new(Path::new("/no/such/directory"), 1, 1).is_err());
    }

    #[test]
    fn any_change_of_an_entry_changes_the_checksum() {
        let values: Vec<f64> = (0..37).map(value).collect();
        let whole = checksum(&values);
        for at in 0..37 {
            for bit in 0..64 {
                let mut changed = values.clone();
                changed[at] = f64::from_bits(changed[at].to_bits() ^ (1 << bit));
                assert_ne!(checksum(&changed), whole);
            }
        }
        assert_ne!(checksum(&values[1..]), whole);
        let mut swapped = values.clone();
        swapped.swap(0, 8);
        assert_ne!(checksum(&swapped), whole);
    }

    #[test]
    #[cfg(unix)]
    fn nothing_is_left_behind() {
        let here = std::env::temp_dir().join(format!("ridgewalk-stored-{}", std::process::id()));
        std::fs::create_dir_all(&here).unwrap();
        let mut writer = StoredWriter::new(&here, 2, 1).unwrap();
        writer.push(&[1.0, 2.0]).unwrap();
        assert_eq!(std::fs::read_dir(&here).unwrap().count(), 0);
        let design = writer.finish().unwrap();
        assert_eq!(design.with_row(1, |row| row[0]), Ok(2.0));
        std::fs::remove_dir(&here).unwrap();
    }
}

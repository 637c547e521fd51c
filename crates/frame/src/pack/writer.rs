//! Writing a packed file: rows come in tables of any length, and at most one block is in memory.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use super::contents::{Chunk, Contents, Described, Kind};
use super::{damaged, head, rows_of_block};
use crate::column::{Cells, Column, NO_TEXT};
use crate::error::DataError;
use crate::place::number;
use crate::table::{Table, hex};
use crate::{MAX_HELD_LEVELS, MAX_LEVEL_BYTES};

/// What was written.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Packed {
    /// The number of rows.
    pub rows: u64,
    /// The number of columns.
    pub columns: usize,
    /// The length of the file.
    pub bytes: u64,
    /// The digest of the contents, which covers every value.
    pub digest: String,
    /// Columns that cannot be used, as in the source, and why.
    pub unusable: Vec<String>,
}

/// Packs a data file of any format that [`Table::read`] reads, some rows at a time where the format
/// allows. The new file appears under its name when it is complete.
///
/// # Errors
/// As [`Table::read_in_turn`]; a file `to` that exists, or cannot be written.
pub fn pack(from: &Path, to: &Path) -> Result<Packed, DataError> {
    let mut writer = PackWriter::create(to)?;
    Table::read_in_turn(from, &mut |table: Table| writer.push(&table))?;
    writer.finish()
}

/// Writes a packed file.
#[derive(Debug)]
pub struct PackWriter {
    path: PathBuf,
    partial: PathBuf,
    file: File,
    columns: Vec<Growing>,
    contents: Contents,
    /// Rows that wait for their block to be complete.
    waiting: usize,
    written: u64,
    bytes: Vec<u8>,
    done: bool,
}

impl PackWriter {
    /// Begins a file that does not exist yet.
    ///
    /// # Errors
    /// [`DataError::Exists`]; [`DataError::Write`] if it cannot be created.
    pub fn create(path: &Path) -> Result<Self, DataError> {
        if path.symlink_metadata().is_ok() {
            return Err(DataError::Exists { file: path.display().to_string() });
        }
        let mut partial = path.as_os_str().to_owned();
        partial.push(".partial");
        let partial = PathBuf::from(partial);
        let cannot = |source| DataError::Write { file: path.display().to_string(), source };
        // One that a killed process left behind is used again, one that is being written is not.
        let mut options = OpenOptions::new();
        let file = options.write(true).create(true).truncate(false).open(&partial);
        let mut file = file.map_err(cannot)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                let (name, need) = (partial.display().to_string(), "one that no process writes");
                return Err(damaged(&name, "a file that another process writes", need));
            }
            // Where there are no locks, nothing is lost but this check.
            Err(TryLockError::Error(_)) | Ok(()) => {}
        }
        file.set_len(0).and_then(|()| file.write_all(&head())).map_err(|source| {
            let _ = fs::remove_file(&partial);
            cannot(source)
        })?;
        Ok(Self {
            path: path.to_owned(),
            partial,
            file,
            columns: Vec::new(),
            contents: Contents::default(),
            waiting: 0,
            written: head().len() as u64,
            bytes: Vec::new(),
            done: false,
        })
    }

    /// Adds rows. All tables have the columns of the first.
    ///
    /// # Errors
    /// [`DataError::OtherColumns`]; [`DataError::Write`]; [`DataError::Format`] for a sparse matrix.
    pub fn push(&mut self, table: &Table) -> Result<(), DataError> {
        if table.columns().iter().any(|column| column.sparse().is_some()) {
            let need = "columns of single numbers or texts; sparse rows are fitted without packing";
            let (file, found) = (table.name().to_owned(), "a sparse matrix");
            return Err(DataError::Format { file, found, need });
        }
        if self.columns.is_empty() {
            self.columns = table.columns().iter().map(Growing::new).collect();
            self.contents.block = rows_of_block(self.columns.len()) as u64;
        }
        let names = |columns: &[Column]| {
            columns.iter().map(Column::name).eq(self.columns.iter().map(|c| c.name.as_str()))
        };
        if !names(table.columns()) {
            let file = table.name().to_owned();
            return Err(DataError::OtherColumns { file, part: 0 });
        }
        let block = usize::try_from(self.contents.block).unwrap_or(usize::MAX);
        let mut from = 0;
        while from < table.rows() {
            let to = table.rows().min(from + block - self.waiting);
            let row = usize::try_from(self.contents.rows).unwrap_or(usize::MAX);
            for (growing, column) in self.columns.iter_mut().zip(table.columns()) {
                growing.push(column, from..to, row);
            }
            self.waiting += to - from;
            self.contents.rows += (to - from) as u64;
            from = to;
            if self.waiting == block {
                self.write_block().map_err(|source| self.cannot(source))?;
            }
        }
        Ok(())
    }

    /// Writes the rest and gives the file its name.
    ///
    /// # Errors
    /// No rows; [`DataError::Exists`] if a file of that name has come up meanwhile;
    /// [`DataError::Write`].
    pub fn finish(mut self) -> Result<Packed, DataError> {
        if self.contents.rows == 0 {
            return Err(DataError::NoRows { file: self.path.display().to_string() });
        }
        let digest = self.write_end().map_err(|source| self.cannot(source))?;
        publish(&self.partial, &self.path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => {
                DataError::Exists { file: self.path.display().to_string() }
            }
            _ => self.cannot(source),
        })?;
        self.done = true;
        let unusable = self.contents.columns.iter();
        let unusable = unusable.filter(|column| matches!(column.kind, Kind::Unusable(_)));
        Ok(Packed {
            rows: self.contents.rows,
            columns: self.columns.len(),
            bytes: self.written,
            digest,
            unusable: unusable.map(|column| column.name.clone()).collect(),
        })
    }

    fn cannot(&self, source: io::Error) -> DataError {
        DataError::Write { file: self.path.display().to_string(), source }
    }

    fn write_block(&mut self) -> io::Result<()> {
        for column in &mut self.columns {
            let chunk = column.take(self.waiting, &mut self.bytes);
            self.file.write_all(&self.bytes)?;
            self.written += self.bytes.len() as u64;
            self.contents.chunks.push(chunk);
        }
        self.waiting = 0;
        Ok(())
    }

    /// The last block, the contents and the tail; returns the digest.
    fn write_end(&mut self) -> io::Result<String> {
        if self.waiting > 0 {
            self.write_block()?;
        }
        self.contents.columns = self.columns.iter_mut().map(Growing::finish).collect();
        let mut end = self.contents.to_bytes();
        let (size, digest) = (end.len() as u64, Sha256::new_with_prefix(&end));
        end.extend(size.to_le_bytes());
        end.extend(digest.clone().finalize());
        end.extend(head());
        self.file.write_all(&end)?;
        self.written += end.len() as u64;
        self.file.sync_all()?;
        Ok(hex(digest))
    }
}

impl Drop for PackWriter {
    fn drop(&mut self) {
        if !self.done {
            let _ = fs::remove_file(&self.partial);
        }
    }
}

/// Gives a complete file its name, unless there is a file of that name.
fn publish(partial: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(partial, path) {
        Ok(()) => {
            let _ = fs::remove_file(partial);
        }
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
        // A file system without links.
        Err(_) if path.symlink_metadata().is_ok() => {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        Err(_) => fs::rename(partial, path)?,
    }
    // The name is on the disk when its directory is; not every system has that.
    if let Some(directory) = path.parent().filter(|path| !path.as_os_str().is_empty())
        && let Ok(directory) = File::open(directory)
    {
        let _ = directory.sync_all();
    }
    Ok(())
}

/// A column under construction: its type so far, and the values of the block that is not complete.
/// The type is that of [`Builder`](crate::column::Builder) for the same rows.
#[derive(Debug)]
struct Growing {
    name: String,
    so_far: SoFar,
    waiting: Waiting,
    levels: Vec<String>,
    codes: HashMap<String, u32>,
    level_bytes: usize,
    ordered: bool,
}

#[derive(Debug)]
enum SoFar {
    Missing,
    /// The first number with its row.
    Numbers(usize, f64),
    /// The first text with its row.
    Text(usize, String),
    Unusable(Cells),
}

#[derive(Debug)]
enum Waiting {
    Missing(usize),
    Numbers(Vec<f64>),
    Texts(Vec<u32>),
}

impl Growing {
    fn new(column: &Column) -> Self {
        Self {
            name: column.name().to_owned(),
            so_far: SoFar::Missing,
            waiting: Waiting::Missing(0),
            levels: Vec::new(),
            codes: HashMap::new(),
            level_bytes: 0,
            ordered: false,
        }
    }

    /// Adds some rows of a column, which are rows from `row` on of the file.
    fn push(&mut self, column: &Column, rows: Range<usize>, row: usize) {
        match column.cells() {
            _ if matches!(self.so_far, SoFar::Unusable(_)) => {}
            Cells::Missing(_) => self.missing(rows.len()),
            Cells::Numbers(values) => self.numbers(&values[rows], row),
            Cells::Text { levels, codes } => {
                let ordered = column.levels().is_some_and(|(_, _, ordered)| ordered);
                self.texts(levels, ordered, &codes[rows], row);
            }
            cells => self.unusable(cells, rows.start, row),
        }
    }

    fn missing(&mut self, count: usize) {
        match &mut self.waiting {
            Waiting::Missing(waiting) => *waiting += count,
            Waiting::Numbers(values) => values.resize(values.len() + count, f64::NAN),
            Waiting::Texts(codes) => codes.resize(codes.len() + count, NO_TEXT),
        }
    }

    fn numbers(&mut self, values: &[f64], row: usize) {
        let Some(at) = values.iter().position(|value| !value.is_nan()) else {
            return self.missing(values.len());
        };
        let first = (row + at, values[at]);
        match &self.so_far {
            SoFar::Missing => self.so_far = SoFar::Numbers(first.0, first.1),
            SoFar::Text(row, text) => {
                let text = (*row, text.clone());
                return self.mix((first.0, number(first.1)), text);
            }
            SoFar::Numbers(..) | SoFar::Unusable(_) => {}
        }
        if let Waiting::Missing(count) = self.waiting {
            self.waiting = Waiting::Numbers(vec![f64::NAN; count]);
        }
        if let Waiting::Numbers(waiting) = &mut self.waiting {
            waiting.extend_from_slice(values);
        }
    }

    fn texts(&mut self, levels: &[String], ordered: bool, codes: &[u32], row: usize) {
        let Some(at) = codes.iter().position(|code| *code != NO_TEXT) else {
            return self.missing(codes.len());
        };
        let first = (row + at, levels.get(codes[at] as usize).cloned().unwrap_or_default());
        match &self.so_far {
            SoFar::Missing => self.so_far = SoFar::Text(first.0, first.1.clone()),
            SoFar::Numbers(row, value) => {
                let number = (*row, number(*value));
                return self.mix(number, first);
            }
            SoFar::Text(..) | SoFar::Unusable(_) => {}
        }
        self.ordered |= ordered;
        // Levels in an order that was given keep it; others come in the order of their first use.
        let mut known = vec![NO_TEXT; levels.len()];
        let used = codes.iter().map(|code| *code as usize).filter(|code| *code < levels.len());
        let all = if ordered { 0..levels.len() } else { 0..0 };
        for code in all.chain(used) {
            if known[code] == NO_TEXT {
                match self.code(&levels[code]) {
                    Some(number) => known[code] = number,
                    None => return self.too_many(),
                }
            }
        }
        if let Waiting::Missing(count) = self.waiting {
            self.waiting = Waiting::Texts(vec![NO_TEXT; count]);
        }
        if let Waiting::Texts(waiting) = &mut self.waiting {
            let code = |code: &u32| known.get(*code as usize).copied().unwrap_or(NO_TEXT);
            waiting.extend(codes.iter().map(code));
        }
    }

    /// The number of a level, new or not; `None` if that would be too many.
    fn code(&mut self, level: &str) -> Option<u32> {
        if let Some(&code) = self.codes.get(level) {
            return Some(code);
        }
        self.level_bytes += level.len();
        if self.levels.len() == MAX_HELD_LEVELS || self.level_bytes > MAX_LEVEL_BYTES {
            return None;
        }
        let code = u32::try_from(self.levels.len()).ok()?;
        self.codes.insert(level.to_owned(), code);
        self.levels.push(level.to_owned());
        Some(code)
    }

    fn too_many(&mut self) {
        let (row, text) = match &self.so_far {
            SoFar::Text(row, text) if !self.levels.is_empty() => (*row, text.clone()),
            _ => (0, String::new()),
        };
        self.refuse(Cells::ManyTexts { row, text });
    }

    fn mix(&mut self, number: (usize, String), text: (usize, String)) {
        self.refuse(Cells::Mixed { number, text });
    }

    /// Adds rows that cannot be used: those from `start` on of their table.
    fn unusable(&mut self, cells: &Cells, start: usize, row: usize) {
        // A table that is cut in blocks is pushed several times; its rows count from its first.
        let row = row - start;
        let moved = match cells {
            Cells::Mixed { number, text } => Cells::Mixed {
                number: (row + number.0, number.1.clone()),
                text: (row + text.0, text.1.clone()),
            },
            Cells::Infinite { row: at, value } => {
                Cells::Infinite { row: row + at, value: value.clone() }
            }
            Cells::ManyTexts { row: at, text } => {
                Cells::ManyTexts { row: row + at, text: text.clone() }
            }
            other => other.clone(),
        };
        match (&self.so_far, moved) {
            (SoFar::Numbers(row, value), Cells::Mixed { text, .. }) => {
                let number = (*row, number(*value));
                self.mix(number, text);
            }
            (SoFar::Numbers(row, value), Cells::ManyTexts { row: at, text }) => {
                let number = (*row, number(*value));
                self.mix(number, (at, text));
            }
            (SoFar::Text(row, text), Cells::Mixed { number, .. }) => {
                let text = (*row, text.clone());
                self.mix(number, text);
            }
            (SoFar::Text(row, text), Cells::Infinite { row: at, .. }) => {
                let text = (*row, text.clone());
                self.mix((at, number(f64::INFINITY)), text);
            }
            (SoFar::Text(..), Cells::ManyTexts { .. }) => self.too_many(),
            (_, moved) => self.refuse(moved),
        }
    }

    /// From here on nothing is kept.
    fn refuse(&mut self, cells: Cells) {
        self.so_far = SoFar::Unusable(cells);
        self.waiting = Waiting::Missing(0);
        self.levels = Vec::new();
        self.codes = HashMap::new();
    }

    /// The values that wait, as bytes.
    fn take(&mut self, rows: usize, bytes: &mut Vec<u8>) -> Chunk {
        bytes.clear();
        match std::mem::replace(&mut self.waiting, Waiting::Missing(0)) {
            Waiting::Missing(_) => Chunk::Missing,
            Waiting::Numbers(values) => {
                debug_assert_eq!(values.len(), rows);
                bytes.extend(values.iter().flat_map(|value| value.to_le_bytes()));
                Chunk::Numbers(Sha256::digest(&*bytes).into())
            }
            Waiting::Texts(codes) => {
                debug_assert_eq!(codes.len(), rows);
                bytes.extend(codes.iter().flat_map(|code| code.to_le_bytes()));
                Chunk::Texts(Sha256::digest(&*bytes).into())
            }
        }
    }

    fn finish(&mut self) -> Described {
        let kind = match &self.so_far {
            SoFar::Missing => Kind::Missing,
            SoFar::Numbers(..) => Kind::Numbers,
            SoFar::Text(..) => {
                let levels = std::mem::take(&mut self.levels);
                Kind::Text { levels, ordered: self.ordered }
            }
            SoFar::Unusable(cells) => Kind::Unusable(cells.clone()),
        };
        Described { name: self.name.clone(), kind }
    }
}

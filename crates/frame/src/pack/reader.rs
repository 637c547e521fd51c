//! Reading a packed file: any rows of any columns, each chunk checked when it is read.

use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;

use sha2::{Digest as _, Sha256};

use super::contents::{Chunk, Contents, Described, Kind};
use super::{Digest, HEAD_BYTES, MAGIC, TAIL_BYTES, VERSION, damaged, head, is_pack};
use crate::MAX_VALUES;
use crate::column::{Cells, Column, NO_TEXT};
use crate::error::DataError;
use crate::place::Place;
use crate::table::{Table, check_names, hex};

/// A packed table in a file, or in memory.
///
/// ```
/// use ridgewalk_frame::{Column, Pack, PackWriter, Table};
///
/// let dir = tempfile::tempdir().unwrap();
/// let path = dir.path().join("study.pack");
/// let hours = Column::from_numbers("hours", &[0.5, 1.0, 1.5]);
/// let mut writer = PackWriter::create(&path)?;
/// writer.push(&Table::from_columns("study", vec![hours.clone()])?)?;
/// writer.finish()?;
/// let mut pack = Pack::open(&path)?;
/// assert_eq!(pack.rows(), 3);
/// assert_eq!(pack.read(1..3, None)?.columns()[0].numbers(), Some(&[1.0, 1.5][..]));
/// # Ok::<(), ridgewalk_frame::DataError>(())
/// ```
#[derive(Debug)]
pub struct Pack<R = File> {
    name: String,
    input: R,
    contents: Contents,
    digest: String,
    /// Where each chunk begins.
    starts: Vec<u64>,
    bytes: Vec<u8>,
}

/// What a packed file has in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PackedColumn {
    /// Missing values only, or values that cannot be used.
    Nothing,
    /// Numbers.
    Numbers,
    /// Texts with this many levels.
    Text(usize),
}

impl Pack<File> {
    /// Opens a packed file and checks its contents, but not yet its values.
    ///
    /// # Errors
    /// A file that cannot be read, is not packed, or is damaged.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, DataError> {
        let path = path.as_ref();
        let name = path.display().to_string();
        let file =
            File::open(path).map_err(|source| DataError::Read { file: name.clone(), source })?;
        Self::new(&name, file)
    }

    /// Whether a file is a packed one, of any version, by its first bytes.
    ///
    /// # Errors
    /// A file that cannot be read.
    pub fn is_at(path: impl AsRef<Path>) -> Result<bool, DataError> {
        let path = path.as_ref();
        let cannot = |source| DataError::Read { file: path.display().to_string(), source };
        // A pipe must not lose its first bytes.
        if !std::fs::metadata(path).map_err(cannot)?.is_file() {
            return Ok(false);
        }
        let mut start = Vec::new();
        let file = File::open(path).map_err(cannot)?;
        file.take(MAGIC.len() as u64).read_to_end(&mut start).map_err(cannot)?;
        Ok(is_pack(&start))
    }
}

impl<R: Read + Seek> Pack<R> {
    pub(crate) fn new(name: &str, mut input: R) -> Result<Self, DataError> {
        let cannot = |source| DataError::Read { file: name.to_owned(), source };
        let length = input.seek(SeekFrom::End(0)).map_err(cannot)?;
        check_head(name, &mut input, length)?;
        let (contents, digest) = contents(name, &mut input, length)?;
        let names: Vec<String> = contents.columns.iter().map(|c| c.name.clone()).collect();
        check_names(&Place::file(name), &names)?;
        if contents.rows == 0 || names.is_empty() {
            return Err(DataError::NoRows { file: name.to_owned() });
        }
        let starts = starts(name, &contents, length)?;
        let (name, bytes) = (name.to_owned(), Vec::new());
        Ok(Self { name, input, contents, digest, starts, bytes })
    }

    /// The file as the user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, reason = "a file that is read has fewer bytes")]
    pub fn rows(&self) -> usize {
        self.contents.rows as usize
    }

    /// The digest of its contents, which covers every value: 64 hexadecimal digits.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The names of the columns, and what each has.
    pub fn columns(&self) -> impl Iterator<Item = (&str, PackedColumn)> {
        self.contents.columns.iter().map(|column| {
            let kind = match &column.kind {
                Kind::Missing | Kind::Unusable(_) => PackedColumn::Nothing,
                Kind::Numbers => PackedColumn::Numbers,
                Kind::Text { levels, .. } => PackedColumn::Text(levels.len()),
            };
            (column.name.as_str(), kind)
        })
    }

    /// The rows of each block, in order.
    pub fn blocks(&self) -> impl Iterator<Item = Range<usize>> + use<R> {
        let (rows, block) = (self.rows(), self.contents.block.try_into().unwrap_or(usize::MAX));
        (0..rows).step_by(block).map(move |from| from..from.saturating_add(block).min(rows))
    }

    /// Some rows; of all columns, or of those named. Rows and columns that do not exist are left
    /// out. The digest of the table is that of the whole file.
    ///
    /// # Errors
    /// Values that cannot be read or whose checksum is wrong; [`DataError::TooManyValues`] if there
    /// are more than a table may have.
    pub fn read(
        &mut self, rows: Range<usize>, columns: Option<&[String]>,
    ) -> Result<Table, DataError> {
        let rows = rows.start.min(self.rows())..rows.end.min(self.rows());
        let wanted = |column: &Described| columns.is_none_or(|names| names.contains(&column.name));
        let wanted: Vec<usize> = (0..self.contents.columns.len())
            .filter(|index| wanted(&self.contents.columns[*index]))
            .collect();
        if rows.len().saturating_mul(wanted.len()) > MAX_VALUES {
            let place = Place::file(&self.name);
            return Err(DataError::TooManyValues { place, limit: MAX_VALUES });
        }
        let read = wanted.into_iter().map(|index| self.column(index, rows.clone()));
        let columns = read.collect::<Result<Vec<Column>, DataError>>()?;
        Ok(Table::of_rows(&self.name, columns, rows, self.digest.clone()))
    }

    /// Some rows of a column.
    fn column(&mut self, index: usize, rows: Range<usize>) -> Result<Column, DataError> {
        let Described { name, kind } = self.contents.columns[index].clone();
        let (cells, ordered) = match kind {
            Kind::Missing => (Cells::Missing(rows.len()), false),
            Kind::Unusable(cells) => (cells, false),
            Kind::Numbers => {
                let mut values = Vec::with_capacity(rows.len());
                self.chunks(index, rows, |bytes, missing| {
                    values.resize(values.len() + missing, f64::NAN);
                    let (numbers, _) = bytes.as_chunks();
                    values.extend(numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)));
                })?;
                if values.iter().any(|value| value.is_infinite()) {
                    return Err(self.wrong(&name, "an infinite number"));
                }
                (Cells::Numbers(values), false)
            }
            Kind::Text { levels, ordered } => {
                let mut codes = Vec::with_capacity(rows.len());
                self.chunks(index, rows, |bytes, missing| {
                    codes.resize(codes.len() + missing, NO_TEXT);
                    let (numbers, _) = bytes.as_chunks();
                    codes.extend(numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)));
                })?;
                if codes.iter().any(|&code| code != NO_TEXT && code as usize >= levels.len()) {
                    return Err(self.wrong(&name, "the number of a level that is not there"));
                }
                (Cells::Text { levels, codes }, ordered)
            }
        };
        Ok(Column::of_cells(name, cells, ordered))
    }

    fn wrong(&self, column: &str, found: &str) -> DataError {
        let found = format!("{found} in column `{column}`");
        damaged(&self.name, found, "data that `ridgewalk pack` wrote; pack them again")
    }

    /// Calls `take` with the bytes of these rows of a column, or with a number of missing values,
    /// chunk by chunk.
    fn chunks(
        &mut self, column: usize, rows: Range<usize>, mut take: impl FnMut(&[u8], usize),
    ) -> Result<(), DataError> {
        let count = self.contents.columns.len();
        let mut row = rows.start as u64;
        while row < rows.end as u64 {
            let block = row / self.contents.block;
            let of = self.contents.rows_of(block);
            let until = of.end.min(rows.end as u64);
            let at = |row: u64| usize::try_from(row - of.start).unwrap_or(usize::MAX);
            let part = at(row)..at(until);
            let chunk = at(of.start + block) * count + column;
            let width = match self.contents.chunks[chunk] {
                Chunk::Missing => {
                    take(&[], part.len());
                    row = until;
                    continue;
                }
                Chunk::Numbers(_) => 8,
                Chunk::Texts(_) => 4,
            };
            self.load(chunk, &of)?;
            take(self.bytes.get(part.start * width..part.end * width).unwrap_or_default(), 0);
            row = until;
        }
        Ok(())
    }

    /// Reads a chunk and checks it.
    fn load(&mut self, chunk: usize, rows: &Range<u64>) -> Result<(), DataError> {
        let cannot = |source| DataError::Read { file: self.name.clone(), source };
        let of_chunk = self.contents.chunks[chunk];
        let bytes = of_chunk.bytes(rows.end - rows.start);
        self.bytes.resize(usize::try_from(bytes).unwrap_or(usize::MAX), 0);
        self.input.seek(SeekFrom::Start(self.starts[chunk])).map_err(cannot)?;
        let short = |error: io::Error| match error.kind() {
            ErrorKind::UnexpectedEof => damaged(
                &self.name,
                "a file that became shorter while it was read",
                "one that nothing writes to",
            ),
            _ => cannot(error),
        };
        self.input.read_exact(&mut self.bytes).map_err(short)?;
        let (Chunk::Numbers(need) | Chunk::Texts(need)) = of_chunk else { return Ok(()) };
        let found: Digest = Sha256::digest(&self.bytes).into();
        if found != need {
            let column = &self.contents.columns[chunk % self.contents.columns.len()].name;
            let (first, last) = (rows.start + 1, rows.end);
            let found = format!(
                "the checksum {} of column `{column}`, rows {first} to {last}",
                short_hex(&found)
            );
            let need = format!("{}; the file is damaged: pack the data again", short_hex(&need));
            return Err(damaged(&self.name, found, need));
        }
        Ok(())
    }
}

/// The first digits of a checksum.
fn short_hex(digest: &Digest) -> String {
    digest.iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Checks the first bytes.
fn check_head<R: Read + Seek>(name: &str, input: &mut R, length: u64) -> Result<(), DataError> {
    let cannot = |source| DataError::Read { file: name.to_owned(), source };
    let least = HEAD_BYTES + TAIL_BYTES;
    let mut found = Vec::new();
    input.rewind().map_err(cannot)?;
    input.take(HEAD_BYTES as u64).read_to_end(&mut found).map_err(cannot)?;
    if !is_pack(&found) {
        return Err(damaged(name, "another format", "a file that `ridgewalk pack` wrote"));
    }
    let version = found[MAGIC.len()..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes));
    if let Some(version) = version.filter(|version| *version != VERSION) {
        return Err(damaged(
            name,
            format!("packed data of version {version}"),
            format!("version {VERSION}; pack the data again with this program"),
        ));
    }
    if length < least as u64 {
        return Err(truncated(name, format!("{length} bytes"), format!("{least} at least")));
    }
    Ok(())
}

fn truncated(name: &str, found: impl Into<String>, need: impl AsRef<str>) -> DataError {
    let need = format!("{}; the file is truncated or damaged: pack the data again", need.as_ref());
    damaged(name, found, need)
}

/// The list of contents, checked, and its digest.
fn contents<R: Read + Seek>(
    name: &str, input: &mut R, length: u64,
) -> Result<(Contents, String), DataError> {
    let cannot = |source| DataError::Read { file: name.to_owned(), source };
    let mut tail = [0; TAIL_BYTES];
    input.seek(SeekFrom::Start(length - TAIL_BYTES as u64)).map_err(cannot)?;
    input.read_exact(&mut tail).map_err(cannot)?;
    if !tail.ends_with(&head()) {
        return Err(truncated(
            name,
            "other bytes at the end",
            "those that every packed file ends with",
        ));
    }
    let size = u64::from_le_bytes(*tail.first_chunk().unwrap_or(&[0; 8]));
    let room = length - (HEAD_BYTES + TAIL_BYTES) as u64;
    if size > room {
        let need = format!("at most {room} in a file of this length");
        return Err(truncated(name, format!("a list of contents of {size} bytes"), need));
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or(usize::MAX)];
    input.seek(SeekFrom::Start(length - TAIL_BYTES as u64 - size)).map_err(cannot)?;
    input.read_exact(&mut bytes).map_err(cannot)?;
    let digest = Sha256::new_with_prefix(&bytes);
    let found: Digest = digest.clone().finalize().into();
    if found != tail[8..40] {
        let found = format!("the checksum {} of the list of contents", short_hex(&found));
        let need = tail[8..16].iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        return Err(truncated(name, found, need));
    }
    match Contents::from_bytes(&bytes) {
        Some(contents) => Ok((contents, hex(digest))),
        None => Err(truncated(name, "a list of contents that cannot be read", "one that can be")),
    }
}

/// Where each chunk begins. The chunks must fill the file.
fn starts(name: &str, contents: &Contents, length: u64) -> Result<Vec<u64>, DataError> {
    let columns = contents.columns.len();
    let mut starts = Vec::with_capacity(contents.chunks.len());
    let mut at = HEAD_BYTES as u64;
    for (block, chunks) in (0..).zip(contents.chunks.chunks(columns.max(1))) {
        let rows = contents.rows_of(block);
        for (chunk, column) in chunks.iter().zip(&contents.columns) {
            let fits = match (chunk, &column.kind) {
                (Chunk::Missing, _) | (_, Kind::Unusable(_)) => true,
                (Chunk::Numbers(_), kind) => matches!(kind, Kind::Numbers),
                (Chunk::Texts(_), kind) => matches!(kind, Kind::Text { .. }),
            };
            if !fits {
                let found = format!("values of another type in column `{}`", column.name);
                return Err(truncated(name, found, "those of its type"));
            }
            starts.push(at);
            at = at.saturating_add(chunk.bytes(rows.end - rows.start));
        }
    }
    let size = contents.to_bytes().len() as u64 + TAIL_BYTES as u64;
    let need = at.saturating_add(size);
    if need != length {
        return Err(truncated(name, format!("{length} bytes"), format!("{need}")));
    }
    Ok(starts)
}

//! A data file in memory: its columns, the line of each row, and the digest of its bytes.

use std::collections::HashMap;
use std::fs::File;
use std::io::{Cursor, Read, Seek};
use std::ops::Range;
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::blocks::{Blocks, Digesting, Plan};
use crate::column::Column;
use crate::error::DataError;
use crate::pack::{self, Pack};
use crate::parts::Part;
use crate::place::{Place, Row};
use crate::rows::{Header, Rows, count_rows};
use crate::svm::{self, is_svm};

/// The data set that ships inside the program; `data/README.md` has its source and licence.
const BUILT_IN: &[u8] = include_bytes!("../data/breast-cancer.csv");

/// The columns of a data file.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    name: String,
    columns: Vec<Column>,
    rows: usize,
    /// The line of each row; none in a file without lines.
    lines: Option<Vec<u64>>,
    /// The row of a file without lines that the first one here is.
    first: u64,
    digest: String,
}

impl Table {
    /// The name of the data that ship with the program.
    pub const BUILT_IN: &'static str = "breast-cancer.csv (built in)";

    /// Reads a file: packed by [`pack`](crate::pack()) if its first bytes say so, Parquet if the name
    /// ends in `.parquet` or the first bytes are `PAR1`, otherwise delimited text.
    ///
    /// # Errors
    /// A file that cannot be read or is not a table, with the place of the error.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, DataError> {
        Self::read_part(path.as_ref(), Part::WHOLE)
    }

    /// Reads one part of the rows of a file, the same rows in every format; the digest covers the
    /// whole file. A text file is read twice, and only the rows of the part are kept. Of a packed
    /// file the blocks with these rows are read. Of a Parquet file the row groups with these rows
    /// are decoded, and all bytes are hashed.
    ///
    /// # Errors
    /// As [`Table::read`].
    pub fn read_part(path: &Path, part: Part) -> Result<Self, DataError> {
        if part.of > 1 && is_svm(path) {
            return Err(DataError::Format {
                file: path.display().to_string(),
                found: "a file of sparse rows",
                need: "a CSV or Parquet file: sparse rows are not divided over processes",
            });
        }
        let (path, part) = match Part::has_file(path) && part.of > 1 {
            true => (&*part.file(path), Part::WHOLE),
            false => (path, part),
        };
        let name = path.display().to_string();
        let cannot = |source| DataError::Read { file: name.clone(), source };
        if std::fs::metadata(path).map_err(cannot)?.is_dir() {
            return Err(DataError::Directory { file: name });
        }
        let file = File::open(path).map_err(cannot)?;
        let before = file.metadata().map_err(cannot)?;
        let table = Self::read_open(&name, path, &file, part);
        // A pipe has no length to compare.
        if before.is_file() {
            let after = file.metadata().map_err(cannot)?;
            let same =
                before.len() == after.len() && before.modified().ok() == after.modified().ok();
            if !same {
                return Err(DataError::Changed {
                    file: name,
                    before: before.len(),
                    after: after.len(),
                });
            }
        }
        table
    }

    fn read_open(name: &str, path: &Path, file: &File, part: Part) -> Result<Self, DataError> {
        let cannot = |source| DataError::Read { file: name.to_owned(), source };
        if is_svm(path) {
            return Self::read_svm(name, file);
        }
        let blocks = Blocks::new(name, Digesting::new(file), Plan::default())?;
        if pack::is_pack(blocks.start()) {
            return Self::read_pack(Pack::new(name, file)?, part);
        }
        if is_parquet(path, blocks.start()) {
            return Self::read_parquet(name, file, part);
        }
        let rows = if part.of > 1 {
            let file = File::open(path).map_err(cannot)?;
            part.rows_of(name, count_rows(name, Blocks::new(name, file, Plan::default())?)?)?
        } else {
            0..usize::MAX
        };
        Self::from_text(name, blocks, rows)
    }

    /// Reads a file some rows at a time: `take` is given one table after another, each with the
    /// rows of a few megabytes of text, so that files larger than memory can be read. A packed file
    /// is read block by block, a Parquet file 65,536 rows at a time.
    ///
    /// # Errors
    /// As [`Table::read`], and whatever `take` returns. Rows before the place of an error may have
    /// been given to `take`.
    ///
    /// ```
    /// use ridgewalk_frame::{DataError, Table};
    ///
    /// let file = tempfile::NamedTempFile::new().unwrap();
    /// let rows = (0..200_000).map(|row| format!("{row}\n"));
    /// std::fs::write(file.path(), format!("x\n{}", rows.collect::<String>())).unwrap();
    /// let (mut tables, mut rows) = (0, 0);
    /// Table::read_in_turn(file.path(), &mut |table: Table| {
    ///     tables += 1;
    ///     rows += table.rows();
    ///     Ok::<(), DataError>(())
    /// })?;
    /// assert!(tables > 1 && rows == 200_000);
    /// # Ok::<(), DataError>(())
    /// ```
    pub fn read_in_turn<E: From<DataError>>(
        path: &Path, take: &mut dyn FnMut(Self) -> Result<(), E>,
    ) -> Result<(), E> {
        let name = path.display().to_string();
        let cannot = |source| DataError::Read { file: name.clone(), source };
        if std::fs::metadata(path).map_err(cannot)?.is_dir() {
            return Err(DataError::Directory { file: name }.into());
        }
        let file = File::open(path).map_err(cannot)?;
        if is_svm(path) {
            svm::read(&name, &file, true, &mut |(columns, lines)| {
                take(Self::of_lines(&name, columns, lines, String::new()))
            })?;
            return Ok(());
        }
        let mut blocks = Blocks::new(&name, &file, Plan::default())?;
        if pack::is_pack(blocks.start()) {
            let mut pack = Pack::new(&name, &file)?;
            return pack.blocks().try_for_each(|rows| take(pack.read(rows, None)?));
        }
        if is_parquet(path, blocks.start()) {
            return Self::parquet_in_turn(&name, &file, take);
        }
        let mut rows = Self::begin(&name, &mut blocks, 0..usize::MAX)?;
        let mut any = false;
        rows.read_with(&mut blocks, |rows| {
            let Some((columns, lines)) = rows.take() else { return Ok(()) };
            any = true;
            take(Self::of_lines(&name, columns, lines, String::new()))
        })?;
        if any { Ok(()) } else { Err(DataError::NoRows { file: name }.into()) }
    }

    /// Reads delimited text, Parquet or packed data from memory, or sparse rows if the name ends as
    /// those of such files do. The name appears in messages.
    ///
    /// # Errors
    /// Bytes that are not a table, with the place of the error.
    pub fn from_bytes(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        if is_svm(Path::new(name)) {
            return Self::read_svm(name, bytes);
        }
        if bytes.starts_with(b"PAR1") {
            return Self::parquet_from_bytes(name, bytes);
        }
        if pack::is_pack(bytes) {
            return Self::read_pack(Pack::new(name, Cursor::new(bytes))?, Part::WHOLE);
        }
        Self::from_blocks_of(name, bytes, Plan::default())
    }

    /// A table of columns in memory. The name appears in messages.
    ///
    /// # Errors
    /// Columns of different lengths, no rows, or names that are empty or occur twice.
    ///
    /// ```
    /// use ridgewalk_frame::{Column, Table};
    ///
    /// let hours = Column::from_numbers("hours", &[0.5, 1.0, 1.5]);
    /// let city = Column::from_texts("city", &["Oslo", "Bergen", "Oslo"]);
    /// let table = Table::from_columns("study", vec![hours, city])?;
    /// assert_eq!((table.rows(), table.columns()[1].name()), (3, "city"));
    /// # Ok::<(), ridgewalk_frame::DataError>(())
    /// ```
    pub fn from_columns(name: &str, columns: Vec<Column>) -> Result<Self, DataError> {
        let names: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
        check_names(&Place::file(name), &names)?;
        let rows = columns.iter().find_map(Column::rows).unwrap_or(0);
        if rows == 0 {
            return Err(DataError::NoRows { file: name.to_owned() });
        }
        let mut digest = Sha256::new();
        for column in &columns {
            if let Some(got) = column.rows().filter(|got| *got != rows) {
                let place = Place::column(name, column.name());
                return Err(DataError::Lengths { place, got, need: rows });
            }
            column.digest(&mut digest);
        }
        let digest = hex(digest);
        Ok(Self { name: name.to_owned(), columns, rows, lines: None, first: 0, digest })
    }

    /// The same table with another column in place of the one of the same name, or with one more.
    /// It has no digest: it is no file's. A column of another length is ignored.
    #[must_use]
    pub fn with_column(&self, column: Column) -> Self {
        let mut columns = self.columns.clone();
        if column.rows().is_some_and(|rows| rows == self.rows) {
            match columns.iter_mut().find(|other| other.name() == column.name()) {
                Some(other) => *other = column,
                None => columns.push(column),
            }
        }
        Self { columns, digest: String::new(), ..self.clone() }
    }

    /// Some rows of some columns, in this order; columns and rows that do not exist are left out.
    /// It has no digest.
    #[must_use]
    pub fn select(&self, rows: &[usize], columns: &[String]) -> Self {
        let rows: Vec<usize> = rows.iter().copied().filter(|&row| row < self.rows).collect();
        let wanted =
            self.columns.iter().filter(|column| columns.iter().any(|n| n == column.name()));
        let columns = wanted.map(|column| column.select(&rows)).collect();
        let lines = self.lines.as_ref().map(|lines| rows.iter().map(|&row| lines[row]).collect());
        let digest = String::new();
        Self { name: self.name.clone(), columns, rows: rows.len(), lines, first: 0, digest }
    }

    /// The Wisconsin diagnostic breast cancer data: 569 rows, 30 predictors, response `y`.
    ///
    /// # Errors
    /// None; the file inside the program is a table.
    pub fn built_in() -> Result<Self, DataError> {
        Self::from_bytes(Self::BUILT_IN, BUILT_IN)
    }

    /// The file as the user named it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The columns in the order of the file.
    #[must_use]
    pub fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// The response and the predictor that a file of sparse rows has, so that it needs no formula.
    #[must_use]
    pub fn own_model(&self) -> Option<(&'static str, &'static str)> {
        let label = self.columns.first().is_some_and(|column| column.name() == svm::LABEL);
        let entries = self.column(svm::ENTRIES).is_some_and(|column| column.sparse().is_some());
        (label && entries).then_some((svm::LABEL, svm::ENTRIES))
    }

    /// The column of that name.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns.iter().find(|column| column.name() == name)
    }

    /// SHA-256 of the bytes of the file, in hexadecimal.
    #[must_use]
    pub fn digest(&self) -> &str {
        &self.digest
    }

    /// The place of row `row`, counted from 0, in the file.
    #[must_use]
    pub fn row_place(&self, row: usize) -> Row {
        match &self.lines {
            Some(lines) => Row::Line(lines.get(row).copied().unwrap_or_default()),
            None => Row::Row(self.first + row as u64 + 1),
        }
    }

    pub(crate) fn cell(&self, row: usize, column: &str) -> Box<Place> {
        Place::cell(&self.name, self.row_place(row), column)
    }

    /// Some rows of a packed or a Parquet file.
    pub(crate) fn of_rows(
        name: &str, columns: Vec<Column>, rows: Range<usize>, digest: String,
    ) -> Self {
        let (name, first) = (name.to_owned(), rows.start as u64);
        Self { name, columns, rows: rows.len(), lines: None, first, digest }
    }

    fn read_pack<R: Read + Seek>(mut pack: Pack<R>, part: Part) -> Result<Self, DataError> {
        let rows = part.rows_of(pack.name(), pack.rows())?;
        pack.read(rows, None)
    }

    #[cfg(feature = "parquet")]
    fn read_parquet(name: &str, file: &File, part: Part) -> Result<Self, DataError> {
        crate::parquet::read(name, file, part)
    }

    #[cfg(feature = "parquet")]
    fn parquet_in_turn<E: From<DataError>>(
        name: &str, file: &File, take: &mut dyn FnMut(Self) -> Result<(), E>,
    ) -> Result<(), E> {
        crate::parquet::read_in_turn(name, file, take)
    }

    #[cfg(feature = "parquet")]
    fn parquet_from_bytes(name: &str, bytes: &[u8]) -> Result<Self, DataError> {
        crate::parquet::from_bytes(name, bytes)
    }

    #[cfg(not(feature = "parquet"))]
    fn read_parquet(name: &str, _: &File, _: Part) -> Result<Self, DataError> {
        Err(without_parquet(name))
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet_in_turn<E: From<DataError>>(
        name: &str, _: &File, _: &mut dyn FnMut(Self) -> Result<(), E>,
    ) -> Result<(), E> {
        Err(without_parquet(name).into())
    }

    #[cfg(not(feature = "parquet"))]
    fn parquet_from_bytes(name: &str, _: &[u8]) -> Result<Self, DataError> {
        Err(without_parquet(name))
    }

    /// Reads delimited text from memory, cut into blocks and pieces as planned.
    pub(crate) fn from_blocks_of(name: &str, bytes: &[u8], plan: Plan) -> Result<Self, DataError> {
        Self::from_text(name, Blocks::new(name, Digesting::new(bytes), plan)?, 0..usize::MAX)
    }

    fn from_text<R: Read + Send>(
        name: &str, mut blocks: Blocks<'_, Digesting<R>>, kept: Range<usize>,
    ) -> Result<Self, DataError> {
        let mut rows = Self::begin(name, &mut blocks, kept)?;
        rows.read(&mut blocks)?;
        let (columns, lines) = rows.finish();
        if lines.is_empty() {
            return Err(DataError::NoRows { file: name.to_owned() });
        }
        Ok(Self::of_lines(name, columns, lines, blocks.into_input().hex()))
    }

    /// The columns of a text file with the line of each row.
    fn of_lines(name: &str, columns: Vec<Column>, lines: Vec<u64>, digest: String) -> Self {
        let (name, rows, lines) = (name.to_owned(), lines.len(), Some(lines));
        Self { name, columns, rows, lines, first: 0, digest }
    }

    fn read_svm<R: Read>(name: &str, input: R) -> Result<Self, DataError> {
        let mut found = None;
        let input = svm::read(name, Digesting::new(input), false, &mut |rows| {
            found = Some(rows);
            Ok::<(), DataError>(())
        })?;
        let (columns, lines) = found.unwrap_or_default();
        Ok(Self::of_lines(name, columns, lines, input.hex()))
    }

    /// The rows of a text file, none read yet, after its line of names.
    fn begin<'n, R: Read + Send>(
        name: &'n str, blocks: &mut Blocks<'_, R>, kept: Range<usize>,
    ) -> Result<Rows<'n>, DataError> {
        refuse_other_formats(name, blocks.start())?;
        refuse_zeros(name, blocks.start())?;
        let Some(header) = Header::read(name, blocks, check_header)? else {
            return Err(DataError::Empty { file: name.to_owned() });
        };
        Ok(Rows::new(name, header, kept, blocks.plan().values))
    }
}

/// Whether a file is a Parquet file, by its name or its first bytes.
fn is_parquet(path: &Path, start: &[u8]) -> bool {
    let named = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
    named || start.starts_with(b"PAR1")
}

#[cfg(not(feature = "parquet"))]
fn without_parquet(name: &str) -> DataError {
    DataError::Format {
        file: name.to_owned(),
        found: "a Parquet file",
        need: "CSV, because this program was built without Parquet; \
               `cargo install --path crates/cli --features parquet` adds it",
    }
}

/// Recognizes unsupported formats by their first bytes.
pub(crate) fn refuse_other_formats(name: &str, start: &[u8]) -> Result<(), DataError> {
    let kinds: [(&[u8], &str, &str); 6] = [
        (b"\x1f\x8b", "a gzip archive", "the file in it; unpack it with `gunzip`"),
        (b"\x28\xb5\x2f\xfd", "a zstd archive", "the file in it; unpack it with `unzstd`"),
        (
            b"PK\x03\x04",
            "a zip archive or a workbook",
            "a CSV file; unpack it, or export the sheet as CSV",
        ),
        (b"\xd0\xcf\x11\xe0", "a workbook", "a CSV file; export the sheet as CSV"),
        (b"\xff\xfe", "text in UTF-16", "text in UTF-8; save the file in that encoding"),
        (b"\xfe\xff", "text in UTF-16", "text in UTF-8; save the file in that encoding"),
    ];
    match kinds.into_iter().find(|(magic, ..)| start.starts_with(magic)) {
        Some((_, found, need)) => Err(DataError::Format { file: name.to_owned(), found, need }),
        None => Ok(()),
    }
}

/// Checks for zero bytes at the start of a file, before an endless line is read.
fn refuse_zeros(name: &str, start: &[u8]) -> Result<(), DataError> {
    let Some(at) = start.iter().position(|&byte| byte == 0) else { return Ok(()) };
    let before = start.get(..at).unwrap_or_default();
    let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count() as u64;
    let byte = 1 + before.iter().rev().take_while(|&&byte| byte != b'\n').count();
    Err(DataError::NotText { place: Place::line(name, line), byte })
}

/// Checks a line of names, which must be unique and printable.
fn check_header(place: &Place, names: &[String]) -> Result<(), DataError> {
    if are_values(names) {
        let found = names.first().cloned().unwrap_or_default();
        return Err(DataError::NoHeader { place: Box::new(place.clone()), found });
    }
    check_names(place, names)
}

/// Whether a line of names is a row of numbers. Consecutive numbers from 0 or 1 count as names.
fn are_values(names: &[String]) -> bool {
    let counted =
        |first: usize| names.iter().zip(first..).all(|(name, index)| *name == index.to_string());
    names.iter().all(|name| name.parse::<f64>().is_ok()) && !counted(0) && !counted(1)
}

pub(crate) fn check_names(place: &Place, names: &[String]) -> Result<(), DataError> {
    let place = || Box::new(place.clone());
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(names.len());
    for (index, name) in names.iter().enumerate() {
        let number = index + 1;
        if name.is_empty() {
            return Err(DataError::EmptyName { place: place(), number });
        }
        if name.chars().any(char::is_control) {
            return Err(DataError::UnprintableName { place: place(), name: name.clone() });
        }
        if let Some(first) = seen.insert(name, number) {
            return Err(DataError::DuplicateName {
                place: place(),
                name: name.clone(),
                first,
                second: number,
            });
        }
    }
    Ok(())
}

/// The digest as 64 hexadecimal digits.
pub(crate) fn hex(digest: Sha256) -> String {
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// SHA-256 of some bytes, as 64 hexadecimal digits.
#[must_use]
pub fn digest_of(bytes: &[u8]) -> String {
    hex(Sha256::new_with_prefix(bytes))
}

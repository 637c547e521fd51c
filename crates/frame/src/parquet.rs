//! Parquet files of flat columns, as pyarrow and polars write them.
//!
//! Sizes that a file declares are checked before anything is allocated: see `footer` and `pages`.

mod footer;
mod pages;
mod quiet;
mod thrift;

use std::fs::File;
use std::io::{Read, Seek};
use std::ops::Range;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Type};
use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::DataType;
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, FileReader, SerializedFileReader};
use parquet::schema::types::ColumnDescriptor;
use sha2::{Digest, Sha256};

use crate::column::Builder;
use crate::error::DataError;
use crate::parts::Part;
use crate::place::{Place, Row};
use crate::table::{Table, check_names, hex};
use crate::{MAX_COLUMNS, MAX_VALUES};
use pages::Pages;

/// Number of values decoded at a time.
const BATCH: usize = 8192;
/// Number of values that any file may have, and how many more per byte. Runs of one value compress
/// to almost nothing: a thousand bytes could declare gigabytes of numbers.
const FREE_VALUES: usize = 4 << 20;
const VALUES_PER_BYTE: u64 = 64;

/// Rows that are decoded together where a file is read some rows at a time.
const ROWS: usize = 1 << 16;

/// Reads a part of the rows of a Parquet file.
pub(super) fn read(name: &str, mut file: &File, part: Part) -> Result<Table, DataError> {
    let cannot = |source| DataError::Read { file: name.to_owned(), source };
    // Checked before gigabytes are hashed for nothing.
    check_file(name, file)?;
    file.rewind().map_err(cannot)?;
    let mut digest = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    loop {
        let count = file.read(&mut buffer).map_err(cannot)?;
        if count == 0 {
            break;
        }
        digest.update(buffer.get(..count).unwrap_or_default());
    }
    let input = file.try_clone().map_err(cannot)?;
    decode(name, input, file, (hex(digest), part))
}

/// Reads a Parquet file some rows at a time, and passes them to `take`.
pub(super) fn read_in_turn<E: From<DataError>>(
    name: &str, file: &File, take: &mut dyn FnMut(Table) -> Result<(), E>,
) -> Result<(), E> {
    check_file(name, file)?;
    let input =
        file.try_clone().map_err(|source| DataError::Read { file: name.to_owned(), source })?;
    let mut turns = undamaged(name, || Turns::new(name, input, file, Part::WHOLE))?;
    while let Some(table) = undamaged(name, || turns.next(file))? {
        take(table)?;
    }
    Ok(())
}

/// Checks that a file is one, and its footer.
fn check_file(name: &str, file: &File) -> Result<(), DataError> {
    let cannot = |source| DataError::Read { file: name.to_owned(), source };
    if !file.metadata().map_err(cannot)?.is_file() {
        let need = "a file, because Parquet is read from its end";
        return Err(DataError::Format { file: name.to_owned(), found: "a pipe or a device", need });
    }
    footer::check(file).map_err(|message| DataError::Parquet { file: name.to_owned(), message })
}

/// Reads Parquet from memory.
pub(super) fn from_bytes(name: &str, bytes: &[u8]) -> Result<Table, DataError> {
    let digest = Sha256::new_with_prefix(bytes);
    let bytes = Bytes::copy_from_slice(bytes);
    decode(name, bytes.clone(), &bytes, (hex(digest), Part::WHOLE))
}

/// The type name shown for text in an unsupported encoding.
const DELTA_TEXT: &str =
    "text in delta encoding (only plain and dictionary encoding are supported)";

/// The type of a column's values.
#[derive(Clone, Copy)]
enum Kind {
    /// Numbers, to be divided by this scale.
    Number {
        unsigned: bool,
        divisor: f64,
    },
    Text,
}

/// The decoder panics on some damaged files. The panic is caught here and becomes an error.
fn decode<R: ChunkReader + 'static>(
    name: &str, input: R, headers: &R, asked: (String, Part),
) -> Result<Table, DataError> {
    undamaged(name, || decode_columns(name, input, headers, asked))
}

fn undamaged<T>(name: &str, work: impl FnOnce() -> Result<T, DataError>) -> Result<T, DataError> {
    quiet::catch(work).unwrap_or_else(|found| {
        let message = format!("the file is damaged and cannot be decoded: {found}");
        Err(DataError::Parquet { file: name.to_owned(), message })
    })
}

/// Reads the same bytes through two handles: page headers from `headers`, everything else from
/// `input`. Row groups without rows of the part are not read.
fn decode_columns<R: ChunkReader + 'static>(
    name: &str, input: R, headers: &R, (digest, part): (String, Part),
) -> Result<Table, DataError> {
    let mut turns = Turns::new(name, input, headers, part)?;
    turns.columns.iter_mut().for_each(InTurn::begin);
    let wanted = turns.row..turns.end;
    let mut end = 0;
    for group in 0..turns.reader.metadata().num_row_groups() {
        let start = end;
        end += turns.rows_of_group(group);
        let within = wanted.start.max(start)..wanted.end.min(end);
        if !within.is_empty() {
            turns.open(group, headers)?;
            turns.take(within.start - start, within.len())?;
        }
    }
    Ok(turns.table(digest))
}

/// A file that is decoded some rows at a time.
struct Turns<R: ChunkReader + 'static> {
    name: String,
    reader: SerializedFileReader<R>,
    pages: Pages,
    columns: Vec<InTurn>,
    /// The number of row groups that were begun, and the rows of the last that are left.
    groups: usize,
    left: usize,
    /// The row after those that were decoded, that after the last, and the first that no table has
    /// yet.
    row: usize,
    end: usize,
    first: usize,
}

/// A column of such a file.
struct InTurn {
    index: usize,
    title: String,
    /// The type of its values, or what it has instead.
    kind: Result<Kind, String>,
    builder: Builder,
    values: Option<ColumnReader>,
}

impl InTurn {
    /// No rows yet.
    fn begin(&mut self) {
        self.builder = match &self.kind {
            Ok(_) => Builder::new(self.title.clone()),
            Err(found) => Builder::other(self.title.clone(), found.clone()),
        };
    }
}

impl<R: ChunkReader + 'static> Turns<R> {
    fn new(name: &str, input: R, headers: &R, part: Part) -> Result<Self, DataError> {
        let cannot = |message: String| DataError::Parquet { file: name.to_owned(), message };
        footer::check(headers).map_err(cannot)?;
        let reader = SerializedFileReader::new(input).map_err(|e| cannot(e.to_string()))?;
        let metadata = reader.metadata();
        let schema = metadata.file_metadata().schema_descr();
        if schema.num_columns() > MAX_COLUMNS {
            return Err(DataError::TooManyColumns { place: Place::file(name), limit: MAX_COLUMNS });
        }
        let rows = declared_rows(name, metadata, schema.num_columns(), part)?;
        check_values(rows.saturating_mul(schema.num_columns()), headers.len()).map_err(cannot)?;
        let column = |index: usize| {
            let descriptor = schema.column(index);
            let title = descriptor.path().parts().join(".");
            let builder = Builder::new(title.clone());
            InTurn { index, title, kind: kind(&descriptor), builder, values: None }
        };
        let columns = (0..schema.num_columns()).map(column);
        // The row labels of a pandas data frame are not data.
        let columns = columns.filter(|column| !column.title.starts_with("__index_level_"));
        let columns: Vec<InTurn> = columns.collect();
        let names: Vec<String> = columns.iter().map(|column| column.title.clone()).collect();
        check_names(&Place::file(name), &names)?;
        if rows == 0 {
            return Err(DataError::NoRows { file: name.to_owned() });
        }
        let Range { start: first, end } = part.rows_of(name, rows)?;
        let (name, pages) = (name.to_owned(), Pages::default());
        Ok(Self { name, reader, pages, columns, groups: 0, left: 0, row: first, end, first })
    }

    fn rows_of_group(&self, group: usize) -> usize {
        usize::try_from(self.reader.metadata().row_group(group).num_rows()).unwrap_or_default()
    }

    /// Begins a row group.
    fn open(&mut self, group: usize, headers: &R) -> Result<(), DataError> {
        let cannot = |message: String| DataError::Parquet { file: self.name.clone(), message };
        let failed = |error: ParquetError| cannot(error.to_string());
        let about = self.reader.metadata().row_group(group);
        let count = self.rows_of_group(group);
        for column in &mut self.columns {
            if column.kind.is_err() {
                continue;
            }
            let chunk = about.column(column.index);
            check_compression(chunk.compression()).map_err(cannot)?;
            if !self.pages.check(headers, chunk, count).map_err(cannot)? {
                column.kind = Err(DELTA_TEXT.to_owned());
                column.begin();
                continue;
            }
            let values =
                self.reader.get_row_group(group).and_then(|g| g.get_column_reader(column.index));
            column.values = Some(values.map_err(failed)?);
        }
        Ok(())
    }

    /// Skips and decodes so many rows of the row group that was begun.
    fn take(&mut self, skipped: usize, count: usize) -> Result<(), DataError> {
        for InTurn { kind, builder, values, .. } in &mut self.columns {
            if let (Ok(kind), Some(values)) = (kind, values) {
                let (first, row) = (self.first, self.row - self.first);
                let mut sink = Sink { builder, first, row, skipped, kind: *kind };
                let taken = sink.take(values, skipped + count);
                taken.map_err(|message| DataError::Parquet { file: self.name.clone(), message })?;
            }
        }
        self.row += count;
        Ok(())
    }

    /// The rows that were decoded and that no table has yet.
    fn table(&mut self, digest: String) -> Table {
        let columns = self.columns.iter_mut().map(|column| {
            let empty = Builder::new(String::new());
            std::mem::replace(&mut column.builder, empty).finish()
        });
        let columns = columns.collect();
        let rows = std::mem::replace(&mut self.first, self.row)..self.row;
        Table::of_rows(&self.name, columns, rows, digest)
    }

    /// The next rows; `None` after the last.
    fn next(&mut self, headers: &R) -> Result<Option<Table>, DataError> {
        if self.row == self.end {
            return Ok(None);
        }
        self.columns.iter_mut().for_each(InTurn::begin);
        while self.row == self.first {
            while self.left == 0 {
                self.open(self.groups, headers)?;
                self.left = self.rows_of_group(self.groups);
                self.groups += 1;
            }
            let count = self.left.min(ROWS);
            self.take(0, count)?;
            self.left -= count;
        }
        Ok(Some(self.table(String::new())))
    }
}

/// The declared number of rows, if those of a part are within the limits.
fn declared_rows(
    name: &str, metadata: &parquet::file::metadata::ParquetMetaData, columns: usize, part: Part,
) -> Result<usize, DataError> {
    let mut rows = 0_usize;
    for group in metadata.row_groups() {
        let Ok(count) = usize::try_from(group.num_rows()) else {
            let message = format!("a row group of {} rows", group.num_rows());
            return Err(DataError::Parquet { file: name.to_owned(), message });
        };
        rows = rows.saturating_add(count);
        if (rows / part.of.max(1)).saturating_mul(columns.max(1)) > MAX_VALUES {
            let place = Box::new(Place { row: Some(Row::Row(rows as u64)), ..*Place::file(name) });
            return Err(DataError::TooManyValues { place, limit: MAX_VALUES });
        }
        if group.columns().len() != columns {
            let message =
                format!("a row group of {} columns, need {columns}", group.columns().len());
            return Err(DataError::Parquet { file: name.to_owned(), message });
        }
    }
    Ok(rows)
}

/// Checks the declared number of values against the length of the file.
fn check_values(values: usize, bytes: u64) -> Result<(), String> {
    if values > FREE_VALUES && values as u64 / VALUES_PER_BYTE > bytes {
        return Err(format!(
            "found {values} declared values in {bytes} bytes, need at most {VALUES_PER_BYTE} values \
             per byte; if this is correct, write the table as CSV"
        ));
    }
    Ok(())
}

/// Checks that the compression is supported.
fn check_compression(found: Compression) -> Result<(), String> {
    match found {
        Compression::UNCOMPRESSED | Compression::SNAPPY | Compression::ZSTD(_) => Ok(()),
        other => {
            let name = format!("{other:?}");
            let name = name.split('(').next().unwrap_or_default().to_lowercase();
            Err(format!(
                "found {name} compression, need snappy, zstd or none; rewrite the file with one of these"
            ))
        }
    }
}

/// The type of a column, or the name of an unsupported type.
fn kind(column: &ColumnDescriptor) -> Result<Kind, String> {
    if column.max_rep_level() > 0 || column.path().parts().len() > 1 {
        return Err("nested".to_owned());
    }
    let plain = |unsigned| Ok(Kind::Number { unsigned, divisor: 1.0 });
    let other = || match column.logical_type_ref() {
        Some(logical) => {
            // `Timestamp(..)` and the like, without its details.
            let name = format!("{logical:?}");
            Err(name.split('(').next().unwrap_or_default().to_lowercase())
        }
        None if column.converted_type() != ConvertedType::NONE => {
            Err(column.converted_type().to_string().to_lowercase())
        }
        None => Err(column.physical_type().to_string().to_lowercase()),
    };
    let decimal = |scale: i32| Ok(Kind::Number { unsigned: false, divisor: 10_f64.powi(scale) });
    match column.physical_type() {
        Type::BOOLEAN | Type::FLOAT | Type::DOUBLE => plain(false),
        Type::INT32 | Type::INT64 => match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::Integer(integer)), _) => plain(!integer.is_signed),
            (Some(LogicalType::Unknown), _) => plain(false),
            (Some(LogicalType::Decimal(_)), _) | (None, ConvertedType::DECIMAL) => {
                decimal(column.type_scale())
            }
            (None, ConvertedType::NONE) => plain(false),
            (None, kind) if kind.to_string().starts_with("UINT") => plain(true),
            (None, kind) if kind.to_string().starts_with("INT_") => plain(false),
            _ => other(),
        },
        Type::BYTE_ARRAY => match (column.logical_type_ref(), column.converted_type()) {
            (Some(LogicalType::String | LogicalType::Enum), _)
            | (None, ConvertedType::UTF8 | ConvertedType::ENUM) => Ok(Kind::Text),
            _ => other(),
        },
        Type::INT96 | Type::FIXED_LEN_BYTE_ARRAY => other(),
    }
}

/// Receives the values of one column.
struct Sink<'b> {
    builder: &'b mut Builder,
    /// The number of the table's first row in the file, and the row of the next value in the table.
    first: usize,
    row: usize,
    /// The number of values before it, which are of another part.
    skipped: usize,
    kind: Kind,
}

impl Sink<'_> {
    /// Reads `rows` values, those that are skipped among them, or returns why there are fewer.
    fn take(&mut self, values: &mut ColumnReader, rows: usize) -> Result<(), String> {
        let (unsigned, divisor) = match self.kind {
            Kind::Number { unsigned, divisor } => (unsigned, divisor),
            Kind::Text => (false, 1.0),
        };
        match values {
            ColumnReader::BoolColumnReader(reader) => {
                self.all(reader, rows, |sink, &value| sink.number(f64::from(u8::from(value))))
            }
            ColumnReader::Int32ColumnReader(reader) => self.all(reader, rows, |sink, &value| {
                let value =
                    if unsigned { f64::from(value.cast_unsigned()) } else { f64::from(value) };
                sink.number(value / divisor)
            }),
            ColumnReader::Int64ColumnReader(reader) => self.all(reader, rows, |sink, &value| {
                let value = if unsigned { value.cast_unsigned() as f64 } else { value as f64 };
                sink.number(value / divisor)
            }),
            ColumnReader::FloatColumnReader(reader) => {
                self.all(reader, rows, |sink, &value| sink.number(f64::from(value)))
            }
            ColumnReader::DoubleColumnReader(reader) => {
                self.all(reader, rows, |sink, &value| sink.number(value))
            }
            ColumnReader::ByteArrayColumnReader(reader) => {
                self.all(reader, rows, |sink, value| sink.text(value.data()))
            }
            _ => Err("values whose type differs from the schema".to_owned()),
        }
    }

    fn number(&mut self, value: f64) -> Result<(), String> {
        if value.is_nan() {
            self.builder.push_missing();
        } else if value.is_infinite() {
            self.builder.push_infinite(self.row, &value.to_string());
        } else {
            self.builder.push_number(self.row, value);
        }
        Ok(())
    }

    fn text(&mut self, bytes: &[u8]) -> Result<(), String> {
        match std::str::from_utf8(bytes) {
            Ok("") => self.builder.push_missing(),
            Ok(text) => self.builder.push_text(self.row, text),
            Err(_) => {
                let row = self.first + self.row + 1;
                return Err(format!("row {row}: text that is not UTF-8"));
            }
        }
        Ok(())
    }

    /// Reads batches until there are `rows` values, missing ones included.
    fn all<T: DataType>(
        &mut self, reader: &mut ColumnReaderImpl<T>, rows: usize,
        mut push: impl FnMut(&mut Self, &T::T) -> Result<(), String>,
    ) -> Result<(), String> {
        let column = self.builder.name().to_owned();
        let mut left = rows;
        let (mut levels, mut values) = (Vec::with_capacity(BATCH), Vec::with_capacity(BATCH));
        while left > 0 {
            levels.clear();
            values.clear();
            let read = reader.read_records(left.min(BATCH), Some(&mut levels), None, &mut values);
            let (records, ..) = read.map_err(|error| format!("column `{column}`: {error}"))?;
            if records == 0 || records > left {
                return Err(format!(
                    "column `{column}`: {} values, need {rows}",
                    rows - left + records
                ));
            }
            // Only nullable columns have definition levels.
            let mut present = values.iter();
            for index in 0..records {
                let missing = levels.get(index) == Some(&0);
                let value = if missing { None } else { Some(present.next()) };
                if self.skipped > 0 {
                    self.skipped -= 1;
                    continue;
                }
                match value {
                    None => self.builder.push_missing(),
                    Some(Some(value)) => push(self, value)?,
                    Some(None) => {
                        return Err(format!("column `{column}`: a declared value is missing"));
                    }
                }
                self.row += 1;
            }
            left -= records;
        }
        Ok(())
    }
}

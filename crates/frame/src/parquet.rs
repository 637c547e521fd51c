//! Parquet files of flat columns, as pyarrow and polars write them.
//!
//! Sizes that a file declares are checked before anything is allocated: see `footer` and `pages`.

mod footer;
mod pages;
mod quiet;
mod thrift;

use std::fs::File;
use std::io::{Read, Seek};

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

/// Reads a part of the rows of a Parquet file.
pub(super) fn read(name: &str, mut file: &File, part: Part) -> Result<Table, DataError> {
    let cannot = |source| DataError::Read { file: name.to_owned(), source };
    if !file.metadata().map_err(cannot)?.is_file() {
        let need = "a file, because Parquet is read from its end";
        return Err(DataError::Format { file: name.to_owned(), found: "a pipe or a device", need });
    }
    // Checked before gigabytes are hashed for nothing.
    footer::check(file).map_err(|message| DataError::Parquet { file: name.to_owned(), message })?;
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
    quiet::catch(|| decode_columns(name, input, headers, asked)).unwrap_or_else(|found| {
        let message = format!("the file is damaged and cannot be decoded: {found}");
        Err(DataError::Parquet { file: name.to_owned(), message })
    })
}

/// Reads the same bytes through two handles: page headers from `headers`, everything else from
/// `input`. Row groups without rows of the part are not read.
fn decode_columns<R: ChunkReader + 'static>(
    name: &str, input: R, headers: &R, (digest, part): (String, Part),
) -> Result<Table, DataError> {
    let cannot = |message: String| DataError::Parquet { file: name.to_owned(), message };
    let failed = |error: ParquetError| cannot(error.to_string());
    footer::check(headers).map_err(cannot)?;
    let reader = SerializedFileReader::new(input).map_err(failed)?;
    let metadata = reader.metadata();
    let schema = metadata.file_metadata().schema_descr();
    if schema.num_columns() > MAX_COLUMNS {
        return Err(DataError::TooManyColumns { place: Place::file(name), limit: MAX_COLUMNS });
    }
    let rows = declared_rows(name, metadata, schema.num_columns(), part)?;
    check_values(rows.saturating_mul(schema.num_columns()), headers.len()).map_err(cannot)?;
    let wanted = if rows == 0 { 0..0 } else { part.rows_of(name, rows)? };
    let mut pages = Pages::default();
    let mut columns = Vec::new();
    for index in 0..schema.num_columns() {
        let descriptor = schema.column(index);
        let title = descriptor.path().parts().join(".");
        if title.starts_with("__index_level_") {
            // The row labels of a pandas data frame are not data.
            continue;
        }
        let kind = match kind(&descriptor) {
            Ok(kind) => kind,
            Err(found) => {
                columns.push(Builder::other(title, found));
                continue;
            }
        };
        let mut builder = Builder::new(title);
        let mut end = 0;
        for group in 0..metadata.num_row_groups() {
            let about = metadata.row_group(group);
            check_compression(about.column(index).compression()).map_err(cannot)?;
            let count = usize::try_from(about.num_rows()).unwrap_or_default();
            let start = end;
            end += count;
            let within = wanted.start.max(start)..wanted.end.min(end);
            if within.is_empty() {
                continue;
            }
            if !pages.check(headers, about.column(index), count).map_err(cannot)? {
                builder = Builder::other(builder.name().to_owned(), DELTA_TEXT.to_owned());
                break;
            }
            let values =
                reader.get_row_group(group).and_then(|group| group.get_column_reader(index));
            let skipped = within.start - start;
            let row = within.start - wanted.start;
            let mut sink = Sink { builder: &mut builder, row, skipped, kind };
            sink.take(values.map_err(failed)?, skipped + within.len()).map_err(cannot)?;
        }
        columns.push(builder);
    }
    let names: Vec<String> = columns.iter().map(|column| column.name().to_owned()).collect();
    check_names(&Place::file(name), &names)?;
    if rows == 0 {
        return Err(DataError::NoRows { file: name.to_owned() });
    }
    let columns = columns.into_iter().map(Builder::finish).collect();
    Ok(Table::of_rows(name, columns, wanted, digest))
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
    /// The row of the next value.
    row: usize,
    /// The number of values before it, which are of another part.
    skipped: usize,
    kind: Kind,
}

impl Sink<'_> {
    /// Reads `rows` values, those that are skipped among them, or returns why there are fewer.
    fn take(&mut self, values: ColumnReader, rows: usize) -> Result<(), String> {
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
            Err(_) => return Err(format!("row {}: text that is not UTF-8", self.row + 1)),
        }
        Ok(())
    }

    /// Reads batches until there are `rows` values, missing ones included.
    fn all<T: DataType>(
        &mut self, mut reader: ColumnReaderImpl<T>, rows: usize,
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

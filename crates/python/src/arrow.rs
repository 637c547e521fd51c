//! Columns of Arrow tables: polars, pyarrow, DuckDB and whoever else has the PyCapsule interface.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::RecordBatchStreamReader;
use arrow_array::types::{
    ArrowDictionaryKeyType, Date32Type, Date64Type, Decimal128Type, DecimalType, Float16Type,
    Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, ArrayRef, RecordBatchReader};
use arrow_schema::{DataType, TimeUnit};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use ridgewalk::frame::Column;

use crate::errors::input;
use crate::foreign;
use crate::table::texts;

/// Whole numbers beyond this are not all floating-point numbers.
const EXACT: i128 = 1 << 53;

/// The stream of an object with the Arrow PyCapsule interface.
pub(crate) fn stream(frame: &Bound<'_, PyAny>) -> PyResult<RecordBatchStreamReader> {
    let capsule = frame.call_method0("__arrow_c_stream__")?;
    let capsule = capsule.cast::<PyCapsule>().map_err(|_| {
        input("found an object whose __arrow_c_stream__ returns no capsule, need a data frame")
    })?;
    foreign::stream(capsule)
}

/// The columns of a stream that are wanted, in its order; all if none are named. If one is missing,
/// the others come along without values, so that the message can name them.
pub(crate) fn columns(
    reader: RecordBatchStreamReader, wanted: Option<&[String]>,
) -> Result<Vec<Column>, String> {
    let schema = reader.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    let used = |name: &String| wanted.is_none_or(|wanted| wanted.contains(name));
    let mut parts: Vec<Vec<ArrayRef>> = vec![Vec::new(); names.len()];
    for batch in reader {
        let batch = batch.map_err(|error| error.to_string())?;
        for (part, column) in parts.iter_mut().zip(batch.columns()) {
            part.push(Arc::clone(column));
        }
    }
    let missing = wanted.is_some_and(|wanted| wanted.iter().any(|name| !names.contains(name)));
    let mut columns = Vec::new();
    for ((name, parts), field) in names.iter().zip(&parts).zip(schema.fields()) {
        if used(name) {
            columns.push(column(name, field.data_type(), parts));
        } else if missing {
            columns.push(Column::unusable(name, "a column that was not read"));
        }
    }
    Ok(columns)
}

/// One column from its parts.
fn column(name: &str, kind: &DataType, parts: &[ArrayRef]) -> Column {
    match kind {
        DataType::Null => Column::from_numbers(name, &vec![f64::NAN; length(parts)]),
        DataType::Utf8 => strings(name, parts, |part, row| part.as_string::<i32>().value(row)),
        DataType::LargeUtf8 => strings(name, parts, |part, row| part.as_string::<i64>().value(row)),
        DataType::Utf8View => strings(name, parts, |part, row| part.as_string_view().value(row)),
        DataType::Dictionary(key, _) => match **key {
            DataType::Int8 => dictionary::<Int8Type>(name, parts),
            DataType::Int16 => dictionary::<Int16Type>(name, parts),
            DataType::Int32 => dictionary::<Int32Type>(name, parts),
            DataType::Int64 => dictionary::<Int64Type>(name, parts),
            DataType::UInt8 => dictionary::<UInt8Type>(name, parts),
            DataType::UInt16 => dictionary::<UInt16Type>(name, parts),
            DataType::UInt32 => dictionary::<UInt32Type>(name, parts),
            _ => dictionary::<UInt64Type>(name, parts),
        },
        DataType::Timestamp(_, Some(zone)) => Column::unusable(name, &with_zone(zone)),
        DataType::Timestamp(..) | DataType::Date32 | DataType::Date64 => {
            let values: Vec<String> =
                each(parts, |part, row| moment(part, row).unwrap_or_default()).collect();
            Column::from_texts(name, &values)
        }
        _ => numbers(name, kind, parts),
    }
}

/// What is said of times with a time zone.
fn with_zone(zone: &str) -> String {
    format!("time with the zone {zone}")
}

fn length(parts: &[ArrayRef]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

/// A value of each row; that of a missing one is the default.
fn each<'a, T: Default + 'a>(
    parts: &'a [ArrayRef], of: impl Fn(&'a ArrayRef, usize) -> T + 'a,
) -> impl Iterator<Item = T> + 'a {
    let of = Arc::new(of);
    parts.iter().flat_map(move |part| {
        let of = Arc::clone(&of);
        (0..part.len()).map(move |row| if part.is_null(row) { T::default() } else { of(part, row) })
    })
}

fn strings<'a>(
    name: &str, parts: &'a [ArrayRef], of: impl Fn(&'a ArrayRef, usize) -> &'a str + 'a,
) -> Column {
    let values: Vec<&str> = each(parts, of).collect();
    Column::from_texts(name, &values)
}

/// Categories: their order is kept. Parts may have different ones.
fn dictionary<K: ArrowDictionaryKeyType>(name: &str, parts: &[ArrayRef]) -> Column {
    let mut levels: Vec<String> = Vec::new();
    let mut codes: Vec<u32> = Vec::with_capacity(length(parts));
    let mut ordered = true;
    for part in parts {
        let part = part.as_dictionary::<K>();
        let values = Arc::clone(part.values());
        let Some(own) = text_values(&values) else {
            return Column::unusable(name, "categories of other than text");
        };
        let mut numbers: Vec<u32> = Vec::with_capacity(own.len());
        for level in own {
            let known = levels.iter().position(|other| *other == level);
            let at = known.unwrap_or_else(|| {
                // Categories that grow from part to part have no order of their own.
                ordered &= codes.is_empty();
                levels.push(level);
                levels.len() - 1
            });
            numbers.push(u32::try_from(at).unwrap_or(u32::MAX));
        }
        let key = |row: usize| part.key(row).and_then(|key| numbers.get(key).copied());
        codes.extend((0..part.len()).map(|row| key(row).unwrap_or(u32::MAX)));
    }
    if ordered { Column::from_levels(name, &levels, codes) } else { texts(name, &levels, &codes) }
}

fn text_values(values: &ArrayRef) -> Option<Vec<String>> {
    let parts = std::slice::from_ref(values);
    let all: Vec<String> = match values.data_type() {
        DataType::Utf8 => {
            each(parts, |p, row| p.as_string::<i32>().value(row).to_owned()).collect()
        }
        DataType::LargeUtf8 => {
            each(parts, |p, row| p.as_string::<i64>().value(row).to_owned()).collect()
        }
        DataType::Utf8View => {
            each(parts, |p, row| p.as_string_view().value(row).to_owned()).collect()
        }
        _ => return None,
    };
    Some(all)
}

/// Numbers, whatever they are stored as.
fn numbers(name: &str, kind: &DataType, parts: &[ArrayRef]) -> Column {
    let mut values: Vec<f64> = Vec::with_capacity(length(parts));
    for part in parts {
        for row in 0..part.len() {
            if part.is_null(row) {
                values.push(f64::NAN);
                continue;
            }
            match number(kind, part, row) {
                Ok(value) => values.push(value),
                Err(found) => return Column::unusable(name, &found),
            }
        }
    }
    Column::from_numbers(name, &values)
}

fn number(kind: &DataType, part: &ArrayRef, row: usize) -> Result<f64, String> {
    macro_rules! primitive {
        ($kind:ty) => {
            part.as_primitive::<$kind>().value(row)
        };
    }
    let whole = |value: i128| match value.abs() <= EXACT {
        true => Ok(value as f64),
        false => {
            Err(format!("integer beyond 2^53 ({value}), which floating point cannot tell apart"))
        }
    };
    Ok(match kind {
        DataType::Boolean => f64::from(u8::from(part.as_boolean().value(row))),
        DataType::Float64 => primitive!(Float64Type),
        DataType::Float32 => f64::from(primitive!(Float32Type)),
        DataType::Float16 => f64::from(primitive!(Float16Type)),
        DataType::Int8 => f64::from(primitive!(Int8Type)),
        DataType::Int16 => f64::from(primitive!(Int16Type)),
        DataType::Int32 => f64::from(primitive!(Int32Type)),
        DataType::UInt8 => f64::from(primitive!(UInt8Type)),
        DataType::UInt16 => f64::from(primitive!(UInt16Type)),
        DataType::UInt32 => f64::from(primitive!(UInt32Type)),
        DataType::Int64 => whole(i128::from(primitive!(Int64Type)))?,
        DataType::UInt64 => whole(i128::from(primitive!(UInt64Type)))?,
        DataType::Decimal128(precision, scale) => {
            let value = primitive!(Decimal128Type);
            let text = Decimal128Type::format_decimal(value, *precision, *scale);
            text.parse().map_err(|_| kind.to_string())?
        }
        other => return Err(other.to_string()),
    })
}

/// A date, and a time unless it is midnight, as the formulas read them.
fn moment(part: &ArrayRef, row: usize) -> Option<String> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    macro_rules! at {
        ($kind:ty) => {
            part.as_primitive::<$kind>().value_as_datetime(row)
        };
    }
    let at = match part.data_type() {
        DataType::Date32 => at!(Date32Type),
        DataType::Date64 => at!(Date64Type),
        DataType::Timestamp(Second, _) => at!(TimestampSecondType),
        DataType::Timestamp(Millisecond, _) => at!(TimestampMillisecondType),
        DataType::Timestamp(Microsecond, _) => at!(TimestampMicrosecondType),
        DataType::Timestamp(Nanosecond, _) => at!(TimestampNanosecondType),
        _ => None,
    };
    let text = at?.to_string();
    Some(text.strip_suffix(" 00:00:00").unwrap_or(&text).to_owned())
}

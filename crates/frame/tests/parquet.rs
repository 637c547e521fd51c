//! Parquet files: written and read back, then mutated and read again.

#![cfg(feature = "parquet")]

use std::sync::Arc;

use parquet::basic::Compression;
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DoubleType, Int32Type, Int64Type};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;
use ridgewalk_frame::{
    Column, DataError, FamilyName, Formula, Frame, Part, Question, Row, Table, pack,
};

const SCHEMA: &str = "message m {
    required double x;
    optional int32 k;
    required int64 u (INTEGER(64, false));
    required boolean y;
    optional binary city (STRING);
    required int32 day (DATE);
    required int64 price (DECIMAL(10, 2));
}";

/// Two row groups of three rows.
fn written(compression: Compression) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let text = |text: &str| ByteArray::from(text);
    for group in 0..2 {
        let mut rows = writer.next_row_group().unwrap();
        let mut number = 0;
        while let Some(mut column) = rows.next_column().unwrap() {
            match number {
                0 => column.typed::<DoubleType>().write_batch(&[1.5, f64::NAN, 3e10], None, None),
                1 => {
                    column.typed::<Int32Type>().write_batch(&[7, 8 + group], Some(&[1, 0, 1]), None)
                }
                2 => column.typed::<Int64Type>().write_batch(&[1, 2, -1], None, None),
                3 => column.typed::<BoolType>().write_batch(&[true, false, true], None, None),
                4 => {
                    let texts = [text("Oslo"), text("Ås")];
                    column.typed::<ByteArrayType>().write_batch(&texts, Some(&[1, 1, 0]), None)
                }
                5 => column.typed::<Int32Type>().write_batch(&[0, 1, 2], None, None),
                _ => column.typed::<Int64Type>().write_batch(&[125, 250, -1], None, None),
            }
            .unwrap();
            column.close().unwrap();
            number += 1;
        }
        rows.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

fn compressions() -> [Compression; 3] {
    [Compression::UNCOMPRESSED, Compression::SNAPPY, Compression::ZSTD(Default::default())]
}

#[test]
fn what_was_written_is_read() {
    for compression in compressions() {
        let bytes = written(compression);
        let dir = tempfile::tempdir().unwrap();
        // The first bytes decide, not the name.
        let path = dir.path().join("d.csv");
        std::fs::write(&path, &bytes).unwrap();
        let table = Table::read(&path).unwrap();
        assert_eq!(table.digest(), Table::from_bytes("d", &bytes).unwrap().digest());
        assert_eq!((table.rows(), table.columns().len()), (6, 7));
        let numbers = |index: usize| table.columns()[index].numbers().unwrap().to_vec();
        assert_eq!(numbers(0)[2..4], [3e10, 1.5]);
        assert!(numbers(0)[1].is_nan() && numbers(1)[1].is_nan() && numbers(1)[4].is_nan());
        assert_eq!(
            [numbers(1)[0], numbers(1)[2], numbers(1)[3], numbers(1)[5]],
            [7.0, 8.0, 7.0, 9.0]
        );
        assert_eq!(numbers(2)[2], 18_446_744_073_709_551_615.0);
        assert_eq!(numbers(3), [1.0, 0.0, 1.0, 1.0, 0.0, 1.0]);
        assert_eq!(table.columns()[4].texts().unwrap()[..3], [Some("Oslo"), Some("Ås"), None]);
        assert_eq!(numbers(6)[..3], [1.25, 2.5, -0.01]);
        assert_eq!(table.row_place(4), Row::Row(5));
    }
}

/// Rows of parts are those of the whole file, in parts that begin within a row group and in parts
/// of several groups. A packed file has the same parts.
#[test]
fn a_part_has_its_rows_and_no_others() {
    let place = tempfile::tempdir().unwrap();
    let source = place.path().join("d.parquet");
    std::fs::write(&source, written(Compression::SNAPPY)).unwrap();
    let packed = place.path().join("d.pack");
    pack(&source, &packed).unwrap();
    for path in [&source, &packed] {
        let whole = Table::read(path).unwrap();
        for of in 1..=6 {
            let mut row = 0;
            for number in 0..of {
                let part = Table::read_part(path, Part { number, of }).unwrap();
                assert_eq!((part.digest(), part.rows()), (whole.digest(), part_rows(number, of)));
                assert_eq!(part.row_place(0), Row::Row(row as u64 + 1));
                for (found, need) in part.columns().iter().zip(whole.columns()) {
                    let bits = |column: &Column, from: usize| -> Vec<String> {
                        let texts = column.levels().map(|(levels, codes, _)| {
                            let text = |code: &u32| levels.get(*code as usize).cloned();
                            codes.iter().map(|code| format!("{:?}", text(code))).collect()
                        });
                        let numbers = column.numbers().unwrap_or_default();
                        let numbers = numbers.iter().map(|x| format!("{:x}", x.to_bits()));
                        let all: Vec<String> = texts.unwrap_or_else(|| numbers.collect());
                        all.into_iter().skip(from).take(part.rows()).collect()
                    };
                    let (found, need) = (bits(found, 0), bits(need, row));
                    // A column without values has no type.
                    let nothing =
                        need.iter().all(|bits| bits == "None" || bits.starts_with("7ff8"));
                    let same = found == need || (found.is_empty() && nothing);
                    assert!(same, "part {number} of {of}: {found:?}, need {need:?}");
                }
                row += part.rows();
            }
            assert_eq!(row, 6);
        }
        let message = Table::read_part(path, Part { number: 0, of: 7 }).unwrap_err().to_string();
        assert!(message.contains("found 6 rows for 7 row shards"), "{message}");
    }
}

/// The rows of a part of six rows.
fn part_rows(number: usize, of: usize) -> usize {
    6 * (number + 1) / of - 6 * number / of
}

#[test]
fn messages_name_rows_and_types() {
    let table = Table::from_bytes("d.parquet", &written(Compression::SNAPPY)).unwrap();
    let mut question = Question::new("y", FamilyName::Logistic);
    let message = Frame::new(&table, &question).unwrap_err().to_string();
    assert!(message.starts_with("d.parquet, column `day`: found values of type date"), "{message}");
    let columns = ["x".to_owned(), "k".to_owned()];
    question.formula = Formula::of_columns("y", Some(&columns));
    let message = Frame::new(&table, &question).unwrap_err().to_string();
    assert!(
        message.contains("column `x` (2, first in row 2), column `k` (2, first in row 2)"),
        "{message}"
    );
}

#[test]
fn a_page_that_claims_to_be_huge_is_refused_before_it_is_unpacked() {
    let bytes = written(Compression::SNAPPY);
    // A page header opens with its type (field 1, i32), its unpacked size (field 2) and its packed
    // size (field 3).
    let at = (4..bytes.len() - 8)
        .find(|&at| bytes[at] == 0x15 && bytes[at + 2] == 0x15 && bytes[at + 4] == 0x15)
        .unwrap();
    let mut mutated = bytes.clone();
    // The size 2 GiB takes five bytes instead of one. Later pages move, but the first is checked
    // first, and the footer is found from the end.
    mutated.splice(at + 3..at + 4, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
    let error = Table::from_bytes("d.parquet", &mutated).unwrap_err();
    assert!(error.to_string().contains("a page of 2147483647 bytes"), "{error}");
}

#[test]
fn mutated_files_are_refused_or_read_and_never_panic() {
    for compression in compressions() {
        let bytes = written(compression);
        for end in (0..bytes.len()).step_by(7) {
            assert!(Table::from_bytes("d.parquet", &bytes[..end]).is_err());
        }
        for at in 4..bytes.len() {
            for value in [0x00, 0x7f, 0xff, bytes[at] ^ 0x10] {
                let mut mutated = bytes.clone();
                mutated[at] = value;
                let _ = Table::from_bytes("d.parquet", &mutated);
            }
        }
    }
    let error = Table::from_bytes("d.parquet", b"PAR1 and no more").unwrap_err();
    assert!(matches!(error, DataError::Parquet { .. }), "{error}");
}

/// A file with one column, filled by `write`.
fn one_column(
    text: &str, properties: WriterProperties,
    write: impl FnOnce(&mut parquet::file::writer::SerializedColumnWriter<'_>),
) -> Vec<u8> {
    let schema = Arc::new(parse_message_type(text).unwrap());
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema, Arc::new(properties)).unwrap();
    let mut rows = writer.next_row_group().unwrap();
    let mut column = rows.next_column().unwrap().unwrap();
    write(&mut column);
    column.close().unwrap();
    rows.close().unwrap();
    writer.close().unwrap();
    bytes
}

#[test]
fn a_small_file_that_unpacks_to_millions_of_values_is_refused() {
    let constant = |rows: usize| {
        one_column(
            "message m { required double y; }",
            WriterProperties::builder().build(),
            |column| {
                column.typed::<DoubleType>().write_batch(&vec![1.0; rows], None, None).unwrap();
            },
        )
    };
    let bytes = constant(1_000_000);
    assert_eq!(Table::from_bytes("d.parquet", &bytes).unwrap().rows(), 1_000_000);
    let bytes = constant(5_000_000);
    assert!(bytes.len() < 50_000, "{}", bytes.len());
    let message = Table::from_bytes("d.parquet", &bytes).unwrap_err().to_string();
    assert!(message.contains("found 5000000 declared values"), "{message}");
}

#[test]
fn delta_encoded_texts_are_refused_where_they_are_used() {
    for encoding in [
        parquet::basic::Encoding::DELTA_LENGTH_BYTE_ARRAY,
        parquet::basic::Encoding::DELTA_BYTE_ARRAY,
    ] {
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(encoding)
            .build();
        let bytes = one_column("message m { required binary y (STRING); }", properties, |column| {
            let texts = ["a", "b", "a"].map(ByteArray::from);
            column.typed::<ByteArrayType>().write_batch(&texts, None, None).unwrap();
        });
        let table = Table::from_bytes("d.parquet", &bytes).unwrap();
        let message =
            Frame::new(&table, &Question::new("y", FamilyName::Logistic)).unwrap_err().to_string();
        assert!(message.contains("text in delta encoding"), "{message}");
    }
}

/// A footer in Thrift's compact protocol: a version and a schema of nested groups.
fn nested(levels: u32) -> Vec<u8> {
    let mut footer = vec![0x15, 0x02, 0x19, 0xfc];
    let mut count = levels;
    while count >= 128 {
        footer.push(count.to_le_bytes()[0] | 128);
        count >>= 7;
    }
    footer.push(count.to_le_bytes()[0]);
    for _ in 0..levels {
        // Fields 3 (required), 4 (`g`) and 5 (one child).
        footer.extend([0x35, 0x00, 0x18, 0x01, b'g', 0x15, 0x02, 0x00]);
    }
    footer.push(0);
    let length = u32::try_from(footer.len()).unwrap();
    [b"PAR1", &footer[..], &length.to_le_bytes(), b"PAR1"].concat()
}

#[test]
fn a_schema_that_is_too_deep_is_refused_before_the_decoder_recurses() {
    let message = Table::from_bytes("d.parquet", &nested(200_000)).unwrap_err().to_string();
    assert!(message.contains("nested deeper than 64 levels"), "{message}");
}

/// Two row groups, of 100,000 and 50,000 rows, in tables of at most 65,536.
#[test]
fn rows_in_turn_are_those_of_the_whole() {
    let schema = parse_message_type(
        "message m { required double x; optional binary city (STRING); optional double z; }",
    );
    let mut bytes = Vec::new();
    let properties = WriterProperties::builder().set_compression(Compression::SNAPPY).build();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, Arc::new(schema.unwrap()), Arc::new(properties))
            .unwrap();
    for rows in [0..100_000_usize, 100_000..150_000] {
        let mut group = writer.next_row_group().unwrap();
        let x: Vec<f64> = rows.clone().map(|row| row as f64).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&x, None, None).unwrap();
        column.close().unwrap();
        let there: Vec<i16> = rows.clone().map(|row| i16::from(row % 5 != 0)).collect();
        let text = |row: usize| ByteArray::from(["Oslo", "Moss", "Ås"][row % 3]);
        let texts: Vec<ByteArray> = rows.clone().filter(|row| row % 5 != 0).map(text).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<ByteArrayType>().write_batch(&texts, Some(&there), None).unwrap();
        column.close().unwrap();
        // Missing in the first 100,000 rows, and infinite in one.
        let there: Vec<i16> = rows.clone().map(|row| i16::from(row == 140_000)).collect();
        let z: Vec<f64> = rows.filter(|row| *row == 140_000).map(|_| f64::INFINITY).collect();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(&z, Some(&there), None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.parquet");
    std::fs::write(&path, &bytes).unwrap();
    let whole = Table::read(&path).unwrap();
    let (mut row, mut sizes) = (0, Vec::new());
    Table::read_in_turn::<DataError>(&path, &mut |table| {
        let rows = row..row + table.rows();
        assert_eq!(table.row_place(0), Row::Row(row as u64 + 1));
        let numbers = |table: &Table| table.columns()[0].numbers().unwrap().to_vec();
        assert_eq!(numbers(&table), numbers(&whole)[rows.clone()]);
        let texts = table.columns()[1].texts().unwrap();
        assert_eq!(texts, whole.columns()[1].texts().unwrap()[rows.clone()]);
        if rows.contains(&140_000) {
            let question = Question::of_formula("x ~ z".parse().unwrap(), FamilyName::Gaussian);
            let message = Frame::new(&table, &question).unwrap_err().to_string();
            assert!(message.contains("row 140001"), "{message}");
        }
        row = rows.end;
        sizes.push(table.rows());
        Ok(())
    })
    .unwrap();
    assert_eq!((row, &sizes[..]), (150_000, &[65_536, 34_464, 50_000][..]));
    // Damaged: an error, after the tables before it.
    bytes[8] ^= 0x10;
    std::fs::write(&path, &bytes).unwrap();
    let damaged = Table::read_in_turn::<DataError>(&path, &mut |_| Ok(()));
    let _ = damaged.map_err(|error| assert!(matches!(error, DataError::Parquet { .. })));
}

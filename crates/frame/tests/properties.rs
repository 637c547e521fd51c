//! Properties of reading: nothing panics, files read back as written, and an independent reader
//! sees the same fields.

use proptest::prelude::*;
use ridgewalk_frame::{FamilyName, Frame, Question, Table, split_names};

/// Files made of typical pieces in random order, which reach more code than random bytes.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        Just(b",".to_vec()),
        Just(b";".to_vec()),
        Just(b"\t".to_vec()),
        Just(b"\"".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\r".to_vec()),
        Just(b" ".to_vec()),
        Just(b"NA".to_vec()),
        Just(b"inf".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        "[a-c]{1,2}".prop_map(String::into_bytes),
        "[-+]?[0-9]{1,3}(\\.[0-9])?(e-?[0-9]{1,3})?".prop_map(String::into_bytes),
        any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

/// A column of numbers or of texts, some missing.
#[derive(Debug, Clone)]
enum Written {
    Numbers(Vec<Option<f64>>),
    Texts(Vec<Option<String>>),
}

fn written(rows: usize) -> impl Strategy<Value = Written> {
    let finite = prop_oneof![
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
        prop::sample::select(vec![-1.5, 0.0, 1.0, 2.0]),
    ];
    // A text that is neither a number nor a missing marker: no such value begins and ends with x.
    let text = "x[a-z,;\"\t\n é]{0,6}x";
    prop_oneof![
        prop::collection::vec(prop::option::of(finite), rows).prop_map(Written::Numbers),
        prop::collection::vec(prop::option::of(text), rows).prop_map(Written::Texts),
    ]
}

fn tables() -> impl Strategy<Value = (Vec<Written>, u8, bool)> {
    let columns = (1..8_usize).prop_flat_map(|rows| prop::collection::vec(written(rows), 2..5));
    (columns, prop::sample::select(vec![b',', b';', b'\t']), any::<bool>())
}

fn cell(column: &Written, row: usize) -> String {
    match column {
        Written::Numbers(values) => values[row].map_or(String::new(), |value| format!("{value:e}")),
        Written::Texts(values) => values[row].clone().unwrap_or_else(|| "NA".to_owned()),
    }
}

fn write(columns: &[Written], delimiter: u8, windows: bool) -> Vec<u8> {
    let ends = if windows { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
    let mut writer =
        csv::WriterBuilder::new().delimiter(delimiter).terminator(ends).from_writer(Vec::new());
    writer.write_record((0..columns.len()).map(|index| format!("c{index}"))).unwrap();
    let rows = match &columns[0] {
        Written::Numbers(values) => values.len(),
        Written::Texts(values) => values.len(),
    };
    for row in 0..rows {
        writer.write_record(columns.iter().map(|column| cell(column, row))).unwrap();
    }
    writer.into_inner().unwrap()
}

/// Asks every kind of question with each column as the response. Frames must have the right shape
/// and finite numbers. Returns the number of questions answered.
fn ask_everything(table: &Table) -> Result<usize, TestCaseError> {
    let mut answered = 0;
    for response in table.columns() {
        for (family, bits) in
            FamilyName::ALL.into_iter().flat_map(|family| (0..4).map(move |bits| (family, bits)))
        {
            let mut question = Question::new(response.name(), family);
            (question.standardize, question.drop_missing) = (bits & 1 > 0, true);
            if bits & 2 == 0 {
                question.formula = question.formula.without_intercept();
            }
            let Ok(frame) = Frame::new(table, &question) else { continue };
            answered += 1;
            prop_assert_eq!(frame.design.dense().len(), frame.rows * frame.columns);
            prop_assert_eq!((frame.names.len(), frame.lines.len()), (frame.columns, frame.rows));
            prop_assert_eq!(frame.response.len(), frame.rows);
            prop_assert!(
                frame.design.dense().iter().chain(&frame.response).all(|value| value.is_finite())
            );
        }
    }
    Ok(answered)
}

#[test]
fn some_questions_are_answered() {
    let table = Table::from_bytes("t", b"a,b,c\n0,1,u\n1,2,v\n1,5,u\n").unwrap();
    // As the response: a in all families but those of positive numbers, b in all but those of two
    // outcomes, and c in four; each with four settings.
    assert_eq!(ask_everything(&table).unwrap(), 4 * (10 + 13 + 4));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_bytes_panic(bytes in prop_oneof![pieces(), prop::collection::vec(any::<u8>(), 0..200)]) {
        if let Ok(table) = Table::from_bytes("t", &bytes) {
            ask_everything(&table)?;
        }
        let text = String::from_utf8_lossy(&bytes);
        let _ = split_names(&text);
    }

    #[test]
    fn what_was_written_is_read((columns, delimiter, windows) in tables()) {
        let bytes = write(&columns, delimiter, windows);
        let table = Table::from_bytes("t", &bytes).unwrap();
        prop_assert_eq!(table.columns().len(), columns.len());
        for (read, written) in table.columns().iter().zip(&columns) {
            match written {
                Written::Numbers(values) if values.iter().any(Option::is_some) => {
                    let read = read.numbers().unwrap().iter().map(|value| value.to_bits());
                    let written = values.iter().map(|value| value.unwrap_or(f64::NAN).to_bits());
                    prop_assert!(read.eq(written));
                }
                Written::Texts(values) if values.iter().any(Option::is_some) => {
                    let written: Vec<Option<&str>> = values.iter().map(Option::as_deref).collect();
                    prop_assert_eq!(read.texts().unwrap(), written);
                }
                _ => prop_assert!(read.numbers().is_none() && read.texts().is_none()),
            }
        }
        ask_everything(&table)?;
        // The line of each row, counted independently by where its text begins.
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).from_reader(&bytes[..]);
        for (row, record) in reader.byte_records().enumerate() {
            let start = usize::try_from(record.unwrap().position().unwrap().byte()).unwrap();
            // The csv crate starts a row before the rest of the previous line ending.
            let start = start + usize::from(bytes[start] == b'\n');
            let line = 1 + bytes[..start].iter().filter(|&&byte| byte == b'\n').count();
            prop_assert_eq!(table.row_place(row).to_string(), format!("line {line}"));
        }
    }
}

//! Packed files: written and read back, then damaged and read again.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ridgewalk_frame::{
    Column, DataError, FamilyName, Frame, Pack, PackWriter, PackedColumn, Question, Row, Table,
    pack,
};

/// Rows beyond one block of a file with few columns.
const MANY: usize = 150_000;

/// Numbers, texts, booleans, dates, missing values, and columns that cannot be used.
fn text(rows: usize) -> String {
    let mut text = "x,k,city,flag,day,gone,late,mixed,huge\n".to_owned();
    for row in 0..rows {
        let x = (row as f64 * 0.37).sin() * [1e-3, 0.01, 0.1, 1.0, 10.0, 100.0, 1e3][row % 7];
        let city = ["Oslo", "Bergen", "", "Ås"][row % 4];
        let flag = if row % 3 == 0 { "TRUE" } else { "FALSE" };
        let day = format!("2024-{:02}-{:02}", row % 12 + 1, row % 28 + 1);
        let k = if row % 5 == 0 { String::new() } else { (row as i64 - 70).to_string() };
        let late = if row == rows - 1 { "-0" } else { "NA" };
        let mixed = if row == 3 { "abc" } else { "7" };
        let huge = if row == rows / 2 { "-1e999" } else { "1e300" };
        text += &format!("{x},{k},{city},{flag},{day},,{late},{mixed},{huge}\n");
    }
    text
}

fn packed(dir: &Path, text: &str) -> PathBuf {
    let (from, to) = (dir.join("d.csv"), dir.join("d.pack"));
    fs::write(&from, text).unwrap();
    pack(&from, &to).unwrap();
    to
}

/// Missing numbers are NaN, which is not equal to itself.
fn same(a: &Table, b: &Table) {
    assert_eq!((a.rows(), a.columns().len()), (b.rows(), b.columns().len()));
    for (a, b) in a.columns().iter().zip(b.columns()) {
        let bits = |column: &Column| {
            let values = column.numbers()?;
            Some(values.iter().map(|value| value.to_bits()).collect::<Vec<_>>())
        };
        assert_eq!(a.name(), b.name());
        assert!(bits(a) == bits(b), "{}", a.name());
        assert!(a.levels() == b.levels(), "{}", a.name());
        if bits(a).is_none() && a.levels().is_none() {
            assert_eq!(a, b);
        }
    }
}

#[test]
fn every_type_of_column_is_read_as_from_the_source() {
    let dir = tempfile::tempdir().unwrap();
    for rows in [4, MANY] {
        let to = packed(dir.path(), &text(rows));
        let source = Table::read(dir.path().join("d.csv")).unwrap();
        let table = Table::read(&to).unwrap();
        same(&source, &table);
        let names: Vec<String> = (0..9).map(|k| source.columns()[k].name().to_owned()).collect();
        assert_eq!(source.column("late").unwrap().numbers().unwrap()[rows - 1].to_bits(), 1 << 63);
        // From memory, and of the same digest.
        let bytes = fs::read(&to).unwrap();
        let again = Table::from_bytes("d", &bytes).unwrap();
        same(&table, &again);
        assert_eq!(table.digest(), again.digest());
        // Some rows of some columns, and their places.
        let mut file = Pack::open(&to).unwrap();
        let part = rows / 3..rows - 1;
        let some = file.read(part.clone(), Some(&names[..4])).unwrap();
        let numbers: Vec<usize> = part.clone().collect();
        same(&some, &source.select(&numbers, &names[..4]));
        assert_eq!(some.row_place(1), Row::Row(part.start as u64 + 2));
        assert_eq!(file.digest(), table.digest());
        let kinds: Vec<PackedColumn> = file.columns().map(|(_, kind)| kind).collect();
        assert_eq!(kinds[1..3], [PackedColumn::Numbers, PackedColumn::Text(3)]);
        assert_eq!((kinds[5], kinds[7]), (PackedColumn::Nothing, PackedColumn::Nothing));
        assert_eq!(file.blocks().map(|rows| rows.len()).sum::<usize>(), rows);
        let mut turns = 0;
        let mut next = 0;
        Table::read_in_turn::<DataError>(&to, &mut |table| {
            assert_eq!(table.row_place(0), Row::Row(next as u64 + 1));
            (turns, next) = (turns + 1, next + table.rows());
            Ok(())
        })
        .unwrap();
        assert_eq!((next, turns > 1), (rows, rows == MANY));
        fs::remove_file(to).unwrap();
    }
}

/// The messages about columns that cannot be used are those of the source, with rows for lines.
#[test]
fn frames_and_messages_are_those_of_the_source() {
    let dir = tempfile::tempdir().unwrap();
    let to = packed(dir.path(), &text(1000));
    let [source, table] = [dir.path().join("d.csv"), to].map(|path| Table::read(path).unwrap());
    let mut question =
        Question::of_formula("x ~ city + day + flag".parse().unwrap(), FamilyName::Gaussian);
    question.drop_missing = true;
    let [a, b] = [&source, &table].map(|table| Frame::new(table, &question).unwrap());
    assert!(a.design == b.design && a.response == b.response && a.names == b.names);
    for (column, rest) in [
        ("mixed", "row 4, column `mixed`: found `abc`"),
        ("huge", "row 501, column `huge`: found `-1e999`"),
        ("gone", "column `gone`: found only missing values"),
    ] {
        let formula = format!("x ~ {column}").parse().unwrap();
        let question = Question::of_formula(formula, FamilyName::Gaussian);
        let message = Frame::new(&table, &question).unwrap_err().to_string();
        assert!(message.contains(rest), "{message}");
    }
}

#[test]
fn levels_keep_the_order_that_was_given() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.pack");
    let levels = ["small", "medium", "large", "huge"];
    let size = Column::from_levels("size", &levels, vec![2, 0, 9, 1]);
    let table = Table::from_columns("d", vec![size]).unwrap();
    let mut writer = PackWriter::create(&path).unwrap();
    writer.push(&table).unwrap();
    writer.finish().unwrap();
    same(&table, &Table::read(&path).unwrap());
    // Other columns are refused.
    let other = Table::from_columns("e", vec![Column::from_numbers("x", &[1.0])]).unwrap();
    let mut writer = PackWriter::create(&dir.path().join("e.pack")).unwrap();
    writer.push(&table).unwrap();
    assert!(matches!(writer.push(&other), Err(DataError::OtherColumns { .. })));
    drop(writer);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "nothing is left behind");
}

/// Every byte is covered: whatever is cut off or flipped, the file is refused.
#[test]
fn damaged_files_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let bytes = fs::read(packed(dir.path(), &text(300))).unwrap();
    let read = |bytes: &[u8]| Table::from_bytes("d.pack", bytes);
    assert!(read(&bytes).is_ok() && bytes.len() > 10_000);
    let cut = (0..bytes.len()).step_by(100).chain([1, 11, 12, 15, 16, 17, bytes.len() - 1]);
    for end in cut {
        let error = read(&bytes[..end]).unwrap_err().to_string();
        assert!(error.starts_with("d.pack"), "{end}: {error}");
        let packed = end >= 16;
        assert!(!packed || error.contains("pack the data again"), "{end}: {error}");
    }
    assert!(read(&[&bytes[..], b"\n"].concat()).is_err());
    let mut state = 1_u64;
    let mut random = |below: usize| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap() % below
    };
    let ends = (0..16).chain(bytes.len() - 72..bytes.len()).map(|byte| byte * 8 + 3);
    let flips: Vec<usize> = (0..200).map(|_| random(bytes.len() * 8)).chain(ends).collect();
    for bit in flips {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let error = read(&flipped).unwrap_err().to_string();
        assert!(error.contains("found") && error.contains("need"), "bit {bit}: {error}");
    }
}

#[test]
fn damage_is_named_with_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let path = packed(dir.path(), &text(300));
    let mut bytes = fs::read(&path).unwrap();
    // The second column begins after 300 numbers.
    bytes[16 + 8 * 300 + 5] ^= 1;
    fs::write(&path, &bytes).unwrap();
    let mut file = Pack::open(&path).unwrap();
    let one = |name: &str| [name.to_owned()];
    assert!(file.read(0..300, Some(&one("x"))).is_ok());
    let message = file.read(0..300, Some(&one("k"))).unwrap_err().to_string();
    assert!(message.contains("of column `k`, rows 1 to 300, need "), "{message}");
    // Another version.
    bytes[12] = 2;
    let message = Table::from_bytes("d.pack", &bytes).unwrap_err().to_string();
    let need = "d.pack: found packed data of version 2, need version 1; pack the data again with this program";
    assert_eq!(message, need);
}

#[test]
fn files_are_never_overwritten_and_appear_when_they_are_complete() {
    let dir = tempfile::tempdir().unwrap();
    let path = packed(dir.path(), "x\n1\n2\n");
    let before = fs::read(&path).unwrap();
    let error = pack(&dir.path().join("d.csv"), &path).unwrap_err();
    assert!(matches!(error, DataError::Exists { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), before);
    // One that comes up while another is written stays, and nothing else does.
    let (path, table) = (dir.path().join("e.pack"), Table::read(&path).unwrap());
    let mut writer = PackWriter::create(&path).unwrap();
    let second = PackWriter::create(&path).unwrap_err().to_string();
    assert!(second.contains("another process writes"), "{second}");
    writer.push(&table).unwrap();
    assert!(!path.exists());
    fs::write(&path, "mine").unwrap();
    assert!(matches!(writer.finish(), Err(DataError::Exists { .. })));
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
    // What a killed process left behind is no obstacle.
    fs::remove_file(&path).unwrap();
    fs::write(dir.path().join("e.pack.partial"), vec![7; 5000]).unwrap();
    let mut writer = PackWriter::create(&path).unwrap();
    writer.push(&table).unwrap();
    writer.finish().unwrap();
    assert_eq!(fs::read(&path).unwrap(), before);
    // Bad data leave nothing behind.
    fs::write(dir.path().join("d.csv"), "x,y\n1\n").unwrap();
    assert!(pack(&dir.path().join("d.csv"), &dir.path().join("f.pack")).is_err());
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 3);
}

/// Cells of one table after another. A number before an infinite one is not known any more when a
/// text follows in another table, so that these two do not mix here.
fn pieces() -> impl Strategy<Value = Vec<Vec<String>>> {
    let of = |others: &[&'static str]| {
        let cells = [&["", "NA", "1", "-0", "2e3"][..], others].concat();
        let cell = prop::sample::select(cells).prop_map(str::to_owned);
        prop::collection::vec(prop::collection::vec(cell, 1..5), 1..6)
    };
    let texts = prop::collection::vec(
        prop::collection::vec(prop::sample::select(vec!["", "a", "b", "c"]), 1..5),
        1..6,
    );
    let owned = |pieces: Vec<Vec<&str>>| {
        let piece = |piece: Vec<&str>| piece.into_iter().map(str::to_owned).collect();
        pieces.into_iter().map(piece).collect::<Vec<Vec<String>>>()
    };
    prop_oneof![of(&["a", "b"]), of(&["inf", "-1e999"]), texts.prop_map(owned)]
}

/// A table of these cells beside a column of numbers, which keeps blank lines from being skipped.
fn table(cells: &[String]) -> Table {
    let rows: String = cells.iter().map(|cell| format!("1,{cell}\n")).collect();
    Table::from_bytes("d", format!("one,x\n{rows}").as_bytes()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn tables_that_are_pushed_in_turn_are_one(pieces in pieces()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("d.pack");
        let mut writer = PackWriter::create(&path).unwrap();
        for piece in &pieces {
            writer.push(&table(piece)).unwrap();
        }
        writer.finish().unwrap();
        let [apart, one] = [Table::read(&path).unwrap(), table(&pieces.concat())];
        let [apart, one] = [apart, one].map(|table| format!("{:?}", table.columns()));
        prop_assert_eq!(apart, one);
    }
}

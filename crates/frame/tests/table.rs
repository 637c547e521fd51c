//! Reading data files: what is accepted, and the message and place for what is refused.

use ridgewalk_frame::{
    Column, DataError, FamilyName, MAX_COLUMNS, MAX_ROW_BYTES, MISSING_MARKERS, Question, Row,
    Table,
};

fn table(text: &str) -> Table {
    Table::from_bytes("d.csv", text.as_bytes()).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    Table::from_bytes("d.csv", bytes).unwrap_err().to_string()
}

/// Compares the start of a message; the remedy may follow.
#[track_caller]
fn starts(message: &str, start: &str) {
    assert!(message.starts_with(start), "\n got: {message}\nneed: {start}");
}

fn names(table: &Table) -> Vec<&str> {
    table.columns().iter().map(Column::name).collect()
}

#[test]
fn delimiters_quotes_byte_order_marks_and_line_ends() {
    for text in [
        "a,b,c\n1,x,2.5\n2,y,-3e2\n",
        "a;b;c\r\n1;x;2.5\r\n2;y;-3e2\r\n",
        "\u{feff}a\tb\tc\n1\tx\t2.5\n2\ty\t-3e2",
        "\"a\", b ,\"c\"\n\n\"1\", x ,2.5\n2,\"y\",\"-3e2\"\n\n\n",
    ] {
        let t = table(text);
        assert_eq!(names(&t), ["a", "b", "c"], "{text}");
        assert_eq!(t.rows(), 2);
        assert_eq!(t.columns()[0].numbers().unwrap(), [1.0, 2.0]);
        assert_eq!(t.columns()[1].texts().unwrap(), [Some("x"), Some("y")]);
        assert_eq!(t.columns()[2].numbers().unwrap(), [2.5, -300.0]);
    }
    let t = table("a,b\n\n1,\"two\nlines\"\n2,z\n");
    assert_eq!([t.row_place(0), t.row_place(1)], [Row::Line(3), Row::Line(5)]);
}

#[test]
fn no_line_is_a_comment() {
    let t = table("#a,b\n1,2\n3,4\n");
    assert_eq!(names(&t), ["#a", "b"]);
    starts(&refused(b"a,b\n# note\n1,2\n"), "d.csv, line 2: found 1 field, need 2");
}

#[test]
fn a_file_that_is_not_a_table_is_refused_with_what_it_lacks() {
    starts(&refused(b""), "d.csv: found an empty file");
    starts(&refused(b"\n \n"), "d.csv: found an empty file");
    starts(&refused(b"a,b\n"), "d.csv: found column names but no rows");
    starts(&refused(b"a,b\n\n\n"), "d.csv: found column names but no rows");
    starts(
        &refused(b"a,b\n1,2\n3\n"),
        "d.csv, line 3: found 1 field, need 2 as in the line of column names (the separator is `,`)",
    );
    starts(&refused(b"a;b\n1;2\n3;4;5\n"), "d.csv, line 3: found 3 fields, need 2");
    starts(
        &refused(b"5.1,3,3\n4.9,3,1\n"),
        "d.csv, line 1: found numbers only (`5.1`), need a line of column names",
    );
    assert_eq!(names(&table("0,1,2\n5,6,7\n")), ["0", "1", "2"]);
    starts(&refused(b"a,b,a\n1,2,3\n"), "d.csv, line 1: found the name `a` for columns 1 and 3");
    starts(&refused(b"\n,b\n1,2\n"), "d.csv, line 2: found no name for column 1");
    starts(&refused(b"a,b,\n1,2,\n"), "d.csv, line 1: found no name for column 3");
    starts(&refused(b"a,\"b\nc\"\n1,2\n"), "d.csv, line 1: found `b\\nc` as a name");
    starts(&refused(b"a,b\n1,2\n\"3,4\n5,6\n"), "d.csv, line 3: found a quote that is not closed");
}

#[test]
fn bytes_that_are_not_text_are_reported_with_line_and_byte() {
    starts(
        &refused(b"a,b\n1,2\n3,caf\xe9\n"),
        "d.csv, line 3, byte 6: found 0xe9, need text in UTF-8",
    );
    starts(&refused(b"a,b\n1,\"x\n\xff\"\n"), "d.csv, line 3, byte 1: found 0xff");
    starts(&refused(b"\xff\xfea\0,\0"), "d.csv: found text in UTF-16");
    starts(&refused(b"\x1f\x8b\x08\0"), "d.csv: found a gzip archive");
    starts(&refused(b"PK\x03\x04xx"), "d.csv: found a zip archive or a workbook");
}

#[test]
fn a_file_with_another_delimiter_is_not_taken_for_one_column() {
    starts(&refused(b"a|b|c\n1|2|3\n"), "d.csv, line 1: found one column, `a|b|c`");
    assert!(
        refused(b"a|b|c\n1|2|3\n")
            .ends_with("the separator seems to be `|`: save the file with one of the three")
    );
    assert!(refused(b"a b\n1 2\n").contains("the separator seems to be spaces: "));
    // In a file with one column a blank line is a missing value, but not at the end of the file.
    let t = table("my score\n1\n\n3\n\n\n");
    assert_eq!(t.rows(), 3);
    assert!(t.columns()[0].numbers().unwrap()[1].is_nan());
    assert_eq!(t.row_place(1), Row::Line(3));
}

#[test]
fn too_many_columns_and_too_long_rows_are_refused_early() {
    let wide = vec!["x"; 2_000_000].join(",");
    let message = refused(wide.as_bytes());
    starts(&message, &format!("d.csv, line 1: found more than {MAX_COLUMNS} columns"));
    let long = vec![b'x'; MAX_ROW_BYTES + 10];
    starts(
        &refused(&long),
        &format!("d.csv, line 1: found a row longer than {MAX_ROW_BYTES} bytes"),
    );
    let mut quoted = b"a,b\n1,\"".to_vec();
    quoted.extend(b"line\n".repeat(MAX_ROW_BYTES / 5 + 1));
    assert!(refused(&quoted).contains("found a row longer than"), "{}", refused(&quoted));
    // At the limit.
    let header: Vec<String> = (0..MAX_COLUMNS).map(|index| format!("c{index}")).collect();
    let row = vec!["1"; MAX_COLUMNS].join(",");
    let t = table(&format!("{}\n{row}\n{row}\n", header.join(",")));
    assert_eq!((t.columns().len(), t.rows()), (MAX_COLUMNS, 2));
}

#[test]
fn paths_that_lead_to_no_file() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Table::read(dir.path().join("none.csv")).unwrap_err();
    assert!(matches!(missing, DataError::Read { .. }));
    assert!(missing.to_string().contains("none.csv: file not found"), "{missing}");
    assert!(matches!(Table::read(dir.path()), Err(DataError::Directory { .. })));
}

#[test]
fn a_file_and_its_bytes_are_the_same_table_with_the_same_digest() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("d.csv");
    std::fs::write(&path, "abc,b\n1,2\n3,4\n").unwrap();
    let read = Table::read(&path).unwrap();
    // printf 'abc,b\n1,2\n3,4\n' | sha256sum
    assert_eq!(read.digest(), "b38bc18df0d4f698df48d6f1041597d4059694222e21a8874b5c7d3c4ef1dd1b");
    assert_eq!(read.digest(), table("abc,b\n1,2\n3,4\n").digest());
    assert_eq!(read.columns(), table("abc,b\n1,2\n3,4\n").columns());
}

#[test]
fn the_data_set_inside_the_program() {
    let t = Table::built_in().unwrap();
    assert_eq!((t.rows(), t.columns().len()), (569, 31));
    let mut question = Question::new("y", FamilyName::Logistic);
    question.standardize = true;
    let frame = ridgewalk_frame::Frame::new(&t, &question).unwrap();
    assert_eq!((frame.rows, frame.columns), (569, 31));
    assert_eq!(frame.response.iter().sum::<f64>(), 357.0);
    for (index, (_, sd)) in frame.scaling.as_ref().unwrap().iter().enumerate().skip(1) {
        let column = || (0..frame.rows).map(|row| frame.row(row)[index]);
        assert!(column().sum::<f64>().abs() < 1e-10 && *sd > 0.0);
        assert!((column().map(|x| x * x).sum::<f64>() / 569.0 - 1.0).abs() < 1e-12);
    }
}

#[test]
fn every_marker_is_missing() {
    for marker in MISSING_MARKERS {
        let t = table(&format!("a,b\n1,2\n{marker},3\n{},4\n", marker.to_lowercase()));
        assert!(
            t.columns()[0].numbers().unwrap()[1..].iter().all(|value| value.is_nan()),
            "{marker}"
        );
    }
}

//! Sparse rows: files of SVMlight and libsvm, and sparse columns beside others.

use ridgewalk_frame::{
    Column, DataError, Description, FamilyName, Frame, Matrix, Part, Question, SparseColumns, Table,
};

fn table(text: &str) -> Result<Table, DataError> {
    Table::from_bytes("d.svm", text.as_bytes())
}

fn question(formula: &str, family: FamilyName) -> Question {
    Question::of_formula(formula.parse().unwrap(), family)
}

const FILE: &str = "# three rows\n+1 3:0.5 10:2 # first\n\n-1 1:1e0\t10:0\r\n1 3:-4\n";

#[test]
fn entries_become_columns_in_order_of_their_index() {
    let table = table(FILE).unwrap();
    assert_eq!(table.column("label").unwrap().numbers().unwrap(), [1.0, -1.0, 1.0]);
    let x = table.column("x").unwrap().sparse().unwrap();
    assert_eq!(x.names(), ["x1", "x3", "x10"]);
    let lines: Vec<String> = (0..3).map(|row| table.row_place(row).to_string()).collect();
    assert_eq!(lines, ["line 2", "line 4", "line 5"]);
    let frame = Frame::new(&table, &question("label ~ x", FamilyName::Logistic)).unwrap();
    assert_eq!(frame.names, ["(Intercept)", "x1", "x3", "x10"]);
    assert_eq!(frame.terms, ["(Intercept)", "x", "x", "x"]);
    let rows = [[1.0, 0.0, 0.5, 2.0], [1.0, 1.0, 0.0, 0.0], [1.0, 0.0, -4.0, 0.0]];
    assert_eq!(&*frame.design.dense(), rows.concat());
    assert_eq!(frame.response, [1.0, 0.0, 1.0]);
    assert!(
        frame.notes.iter().any(|note| note == "the response `label` is -1 or 1: -1 counts as 0")
    );
    let described = Description::new(&table, None).unwrap();
    let found = described.columns[1].sparse.as_ref().unwrap();
    assert_eq!((found.columns, found.entries, found.range), (3, 4, [-4.0, 2.0]));
}

#[test]
fn queries_are_a_column_and_labels_may_be_anything() {
    let ranked = table("3 qid:7 1:1 2:1\n0.5 qid:7 2:1\n2 qid:9 1:1\n1 qid:9\n").unwrap();
    let names: Vec<&str> = ranked.columns().iter().map(Column::name).collect();
    assert_eq!(names, ["label", "qid", "x"]);
    let asked = question("label ~ x + (1 | qid)", FamilyName::Gaussian);
    let frame = Frame::new(&ranked, &asked).unwrap();
    assert_eq!(frame.names, ["(Intercept)", "x1", "x2"]);
    assert_eq!(frame.groups[0].levels, ["7", "9"]);
    let mixed = table("1 1:1\n0 2:1\n-1 1:1\n").unwrap();
    let error = Frame::new(&mixed, &question("label ~ x", FamilyName::Logistic)).unwrap_err();
    assert!(error.to_string().contains("found -1, need 0 or 1"), "{error}");
}

/// Crossed with a factor, a sparse matrix has a column for each pair.
#[test]
fn sparse_columns_cross_other_variables() {
    let names = ["a", "b"].map(str::to_owned).to_vec();
    let x = SparseColumns::from_csr(
        names,
        vec![0, 1, 2, 4, 4],
        vec![0, 1, 0, 1],
        vec![2.0, 3.0, 4.0, 5.0],
    );
    let columns = vec![
        Column::from_numbers("y", &[1.0, 3.0, 2.0, 5.0]),
        Column::from_sparse("m", x.unwrap()),
        Column::from_texts("g", &["u", "v", "v", "u"]),
        Column::from_numbers("z", &[1.0, 2.0, 3.0, 4.0]),
    ];
    let table = Table::from_columns("t", columns).unwrap();
    let frame = Frame::new(&table, &question("y ~ 0 + z:m + m:g", FamilyName::Gaussian)).unwrap();
    assert_eq!(frame.names, ["z:a", "z:b", "a:g[u]", "b:g[u]", "a:g[v]", "b:g[v]"]);
    assert_eq!(frame.row(2), [12.0, 15.0, 0.0, 0.0, 4.0, 5.0]);
    assert_eq!(frame.coding.rows(&table).unwrap().design, frame.design);
    for (formula, need) in [
        ("y ~ log(m)", "column `m` is a sparse matrix"),
        ("m ~ z", "column `m` is a sparse matrix"),
        ("y ~ z + (1 | m)", "column `m` is a sparse matrix"),
    ] {
        let error = Frame::new(&table, &question(formula, FamilyName::Gaussian)).unwrap_err();
        assert!(error.to_string().contains(need), "{formula}: {error}");
    }
    let weighted =
        Question { weights: Some("m".into()), ..question("y ~ z", FamilyName::Gaussian) };
    let error = Frame::new(&table, &weighted).unwrap_err().to_string();
    assert!(error.contains("a sparse matrix of 2 columns"), "{error}");
}

/// 300 columns: stored sparsely. New rows may have fewer columns, or others, which count as 0.
#[test]
fn wide_files_have_sparse_designs_and_new_rows_the_same_columns() {
    let row = |row: usize| format!("{} {}:1 {}:2.5\n", row % 3, 1 + row % 300, 301 + row % 299);
    let text: String = (0..600).map(row).collect();
    let table = table(&text).unwrap();
    let frame = Frame::new(&table, &question("label ~ x", FamilyName::Poisson)).unwrap();
    assert_eq!(frame.columns, 1 + 300 + 299);
    assert!(matches!(frame.design, Matrix::Sparse(_)) && frame.design.stored() == 3 * 600);
    let new = Table::from_bytes("new.svm", b"0 2:7 299:1 900:3 901:1\n0 900:1\n").unwrap();
    let rows = frame.coding.rows(&new).unwrap();
    let at = |name: &str| frame.names.iter().position(|other| other == name).unwrap();
    let mut need = vec![0.0; frame.columns];
    (need[0], need[at("x2")], need[at("x299")]) = (1.0, 7.0, 1.0);
    assert_eq!(&*rows.design.row(0), need);
    assert_eq!(frame.coding.unknown_entries(&new), (3, Some("x900".to_owned())));
    let dense = Table::from_bytes("new.csv", b"x,label\n1,0\n").unwrap();
    let error = frame.coding.rows(&dense).unwrap_err().to_string();
    assert!(error.contains("a sparse matrix, as in the data of the fit"), "{error}");
}

#[test]
fn a_file_in_parts_is_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("d.libsvm");
    let rows = 300_000;
    let text: String =
        (0..rows).map(|row| format!("{} {}:1 999:{row}\n", row % 2, 1 + row % 997)).collect();
    std::fs::write(&path, text).unwrap();
    let whole = Table::read(&path).unwrap();
    let (mut tables, mut labels, mut last) = (0, Vec::new(), String::new());
    Table::read_in_turn(&path, &mut |table: Table| {
        tables += 1;
        labels.extend_from_slice(table.column("label").unwrap().numbers().unwrap());
        last = table.row_place(table.rows() - 1).to_string();
        Ok::<(), DataError>(())
    })
    .unwrap();
    assert!(tables > 1 && last == format!("line {rows}"));
    assert_eq!(labels, whole.column("label").unwrap().numbers().unwrap());
    let part = Table::read_part(&path, Part { number: 0, of: 2 }).unwrap_err();
    assert!(part.to_string().contains("not divided over processes"), "{part}");
    let error = ridgewalk_frame::pack(&path, &directory.path().join("p")).unwrap_err().to_string();
    assert!(error.contains("found a sparse matrix"), "{error}");
}

#[test]
fn what_cannot_be_read_says_where_and_what_is_needed() {
    for (text, need) in [
        ("", "d.svm: found an empty file, need a row on each line: label index:value"),
        ("# only a comment\n\n", "d.svm: found no rows, need a row on each line"),
        (
            "1 1:1\n0 4000000000:1\n",
            "line 2: found `4000000000:1`, need a whole number from 1 to 2147483647 before the colon",
        ),
        ("1 0:1\n", "line 1: found `0:1`, need indices from 1 on; if yours count from 0"),
        ("1 -3:1\n", "found `-3:1`, need a whole number from 1"),
        ("1 +3:1\n", "found `+3:1`, need a whole number from 1"),
        ("1 3:1 2:1\n", "line 1: found the index 2 after 3, need indices that rise within a row"),
        ("1 3:1 3:1\n", "found the index 3 after 3"),
        ("1 3:nan\n", "found `3:nan`, need a number after the colon"),
        ("1 3:\n", "found `3:`, need a number after the colon"),
        ("1 3:inf\n", "found inf in `3:inf`, need a number of at most 1e100"),
        ("1 3:1e300\n", "found 1e300 in `3:1e300`"),
        ("1 abc\n", "found `abc`, need index:value, such as 3:0.5"),
        ("3:1 4:1\n", "found `3:1`, need a number as the label"),
        ("nan 4:1\n", "found `nan`, need a number as the label"),
        ("1,2 4:1\n", "found `1,2`, need a number as the label"),
        ("1 qid:1 4:1\n0 4:1\n", "line 2: found no query after the label, need qid:number"),
        ("1 4:1\n0 qid:3 4:1\n", "line 2: found `qid:3`, need none, as in the rows before"),
        ("1 qid:x 4:1\n", "found `qid:x`, need qid: and a whole number below 2^53"),
        ("1 1:1\n1 \0\n", "line 2, byte 3"),
        ("\u{1f}\u{8b}", "line 1"),
    ] {
        let error = table(text).unwrap_err().to_string();
        assert!(error.contains(need), "{text:?}: {error}");
    }
    let gzip = Table::from_bytes("d.svm", b"\x1f\x8b\x08\x00").unwrap_err().to_string();
    assert!(gzip.contains("found a gzip archive, need the file in it"), "{gzip}");
    let long = [b"1 ".to_vec(), vec![b' '; 33 << 20]].concat();
    assert!(matches!(Table::from_bytes("d.svm", &long), Err(DataError::RowTooLong { .. })));
    let wide: String = (1..=200_001).map(|k| format!("1 {k}:1\n")).collect();
    assert!(matches!(table(&wide), Err(DataError::TooManyCoefficients { .. })));
    let none = Frame::new(&table("1\n0\n").unwrap(), &question("label ~ x", FamilyName::Logistic));
    assert!(none.unwrap_err().to_string().contains("an entry that is not 0"));
}

#[test]
fn lists_that_are_no_sparse_matrix_are_refused() {
    let names = || vec!["a".to_owned(), "b".to_owned()];
    let csr = |starts: &[usize], indices: &[u32], values: &[f64]| {
        let found =
            SparseColumns::from_csr(names(), starts.to_vec(), indices.to_vec(), values.to_vec());
        found.unwrap_err().to_string()
    };
    for (found, need) in [
        (csr(&[0, 1], &[0], &[1.0, 2.0]), "found 1 indices for 2 values"),
        (csr(&[0, 3], &[0], &[1.0]), "found starts from 0 to 3, need starts from 0 to 1"),
        (csr(&[], &[], &[]), "found starts from none to none"),
        (csr(&[0, 2, 1, 2], &[0, 1], &[1.0, 1.0]), "found the start 1 after 2"),
        (csr(&[0, 1], &[2], &[1.0]), "row 1: found the column number 2, need one below 2"),
        (csr(&[0, 0, 2], &[1, 0], &[1.0, 1.0]), "row 2: found the column number 0 after 1"),
        (csr(&[0, 1], &[1], &[f64::NAN]), "row 1, column `b`: found NaN"),
        (csr(&[0, 1], &[1], &[1e101]), "found 1e101"),
    ] {
        assert!(found.contains(need), "{found}");
    }
    let twice = SparseColumns::from_csr(vec!["a".into(), "a".into()], vec![0], vec![], vec![]);
    assert!(twice.unwrap_err().to_string().contains("found the name `a` for two columns"));
    let csc = |starts: &[usize], rows: &[u32]| {
        SparseColumns::from_csc(names(), 2, starts, rows, &vec![1.0; rows.len()])
            .unwrap_err()
            .to_string()
    };
    assert!(csc(&[0, 1, 2], &[0, 2]).contains("found the row number 2 in the column `b`"));
    assert!(csc(&[0, 2, 2], &[1, 0]).contains("found the row number 0 after 1"));
    assert!(csc(&[0, 2], &[0, 1]).contains("found 2 starts of columns, need 3"));
    // A zero that is stored is no entry.
    let zero = SparseColumns::from_csr(names(), vec![0, 2], vec![0, 1], vec![0.0, 1.0]).unwrap();
    assert_eq!(zero.entries().values, [1.0]);
}

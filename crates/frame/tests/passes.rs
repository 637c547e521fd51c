//! Frames made block by block, against the frame of the whole table.

use std::fs;
use std::path::Path;

use ridgewalk_frame::{
    Column, DataError, FamilyName, Frame, Moments, Pack, PackWriter, Passes, Question, Table,
};

/// Three blocks.
const ROWS: usize = 150_000;

fn table() -> Table {
    let number = |f: &dyn Fn(usize) -> f64| (0..ROWS).map(f).collect::<Vec<f64>>();
    let text = |f: &dyn Fn(usize) -> &'static str| (0..ROWS).map(f).collect::<Vec<_>>();
    let x = number(&|row| {
        if row == 70_001 || row == 11 { f64::NAN } else { 3.0 + (row as f64 * 0.7).sin() }
    });
    // A level that occurs in the last block alone, and one in the first.
    let city = text(&|row| match row {
        140_000.. => "Ås",
        ..10 => "Bergen",
        _ => ["Oslo", "Moss"][row % 2],
    });
    let year = number(&|row| 2000.0 + (row / 40_000) as f64);
    let y = number(&|row| f64::from(u8::from(row * 7919 % 13 < 5)));
    let weight = number(&|row| (row % 4) as f64);
    let columns = vec![
        Column::from_numbers("y", &y),
        Column::from_numbers("x", &x),
        Column::from_texts("city", &city),
        Column::from_numbers("year", &year),
        Column::from_numbers("weight", &weight),
        Column::from_texts("name", &text(&|row| if row == 3 { "7" } else { "a" })),
    ];
    Table::from_columns("d", columns).unwrap()
}

fn packed(dir: &Path, table: &Table) -> Pack {
    let path = dir.join("d.pack");
    let mut writer = PackWriter::create(&path).unwrap();
    writer.push(table).unwrap();
    writer.finish().unwrap();
    Pack::open(path).unwrap()
}

fn question(formula: &str) -> Question {
    let question = Question::of_formula(formula.parse().unwrap(), FamilyName::Logistic);
    Question { drop_missing: true, ..question }
}

#[test]
fn blocks_have_the_rows_of_the_whole() {
    let (dir, table) = (tempfile::tempdir().unwrap(), table());
    packed(dir.path(), &table);
    let formulas = [
        "y ~ x * city",
        "y ~ poly(x, 3) + factor(year) + offset(log(weight + 1))",
        "y ~ ns(x, 4) + scale(year) + cut(x, 3)",
        "y ~ .",
    ];
    for (index, formula) in formulas.into_iter().enumerate() {
        let mut question = question(formula);
        question.exclude = vec!["name".to_owned()];
        if index == 0 {
            question.weights = Some("weight".to_owned());
            question.factors = vec!["year".to_owned()];
            question.bases = vec![("city".to_owned(), "Ås".to_owned())];
        }
        if index == 2 {
            // No row of the second block.
            question.condition = Some("year != 2002 & (year != 2001)".parse().unwrap());
        }
        let whole = Frame::new(&table, &question).unwrap();
        let pack = Pack::open(dir.path().join("d.pack")).unwrap();
        let mut passes = Passes::new(pack, &question).unwrap();
        assert_eq!((passes.rows(), passes.columns()), (whole.rows, whole.columns));
        let mut from = 0;
        passes
            .frames::<DataError>(&mut |frame| {
                let (d, to) = (whole.columns, from + frame.rows);
                assert!(
                    *frame.design.dense() == whole.design.dense()[from * d..to * d],
                    "{formula}"
                );
                assert!(frame.response[..] == whole.response[from..to]);
                let part = |list: &Option<Vec<f64>>| list.as_ref().map(|l| l[from..to].to_vec());
                assert!(frame.weights == part(&whole.weights));
                assert!(frame.offset == part(&whole.offset));
                assert_eq!(frame.names, whole.names);
                assert_eq!(frame.coding, whole.coding);
                assert_eq!(frame.all_rows, whole.rows);
                from = to;
                Ok(())
            })
            .unwrap();
        assert_eq!(from, whole.rows, "{formula}");
    }
}

#[test]
fn moments_of_passes_are_those_of_the_whole() {
    let table = table();
    for standardize in [false, true] {
        let question = Question { standardize, ..question("y ~ x * city + I(1e-150 * year)") };
        let frame = Frame::new(&table, &question).unwrap();
        let raw = Frame::new(&table, &Question { standardize: false, ..question }).unwrap();
        let of = |design: &[f64]| {
            let mut pass = |with: &mut dyn FnMut(&[f64])| {
                design.chunks(977 * frame.columns).for_each(with);
                Ok::<(), ()>(())
            };
            Moments::of_columns(frame.rows, frame.columns, &mut pass).unwrap()
        };
        let need = frame.sizes(FamilyName::Gaussian, |_, _| {});
        let (moments, before) = (of(&frame.design.dense()), of(&raw.design.dense()));
        assert_eq!(frame.sizes_by(&moments, FamilyName::Gaussian), need);
        let mut other = raw.clone();
        let mut centred = frame.clone();
        if standardize {
            let scaling = other.standardize_by(&before).unwrap();
            assert_eq!(frame.scaling, Some(scaling));
            assert_eq!(other.centre_by(&before), None);
        } else {
            centred.centre(&need);
            assert_eq!(centred.scaling, other.centre_by(&before));
        }
    }
    let mut flat = Frame::new(&table, &question("y ~ 0 + x + I(0 * x + 1/3)")).unwrap();
    let one = Moments::of_columns(flat.rows, flat.columns, &mut |with| {
        with(&flat.design.dense());
        Ok::<(), ()>(())
    });
    let error = flat.standardize_by(&one.unwrap()).unwrap_err();
    assert!(matches!(error, DataError::Constant { .. }), "{error}");
}

#[test]
fn errors_are_about_all_rows() {
    let (dir, table) = (tempfile::tempdir().unwrap(), table());
    packed(dir.path(), &table);
    let error = |question: &Question| {
        let pack = Pack::open(dir.path().join("d.pack")).unwrap();
        let found = Passes::new(pack, question);
        let found = found.and_then(|mut passes| passes.frames(&mut |_| Ok::<(), DataError>(())));
        found.unwrap_err().to_string()
    };
    let mut missing = question("y ~ x");
    missing.drop_missing = false;
    let message = error(&missing);
    assert!(message.contains("column `x` (2, first in row 12)"), "{message}");
    assert_eq!(
        message.replace(&dir.path().join("d.pack").display().to_string(), "d"),
        Frame::new(&table, &missing).unwrap_err().to_string()
    );
    let mut none = question("y ~ x");
    none.condition = Some("x > 99".parse().unwrap());
    assert!(error(&none).contains("150000"), "{}", error(&none));
    let mut wrong = question("y ~ log(x - 2.0001)");
    wrong.condition = None;
    assert!(error(&wrong).contains("row "), "{}", error(&wrong));
    assert!(error(&question("y ~ x + (1 | city)")).contains("(1 | city)"));
    assert!(error(&question("y ~ doze")).contains("no column `doze`"));
    // A file that changes between the passes is found out.
    let pack = Pack::open(dir.path().join("d.pack")).unwrap();
    let mut passes = Passes::new(pack, &question("y ~ city")).unwrap();
    let file = fs::OpenOptions::new().write(true).open(dir.path().join("d.pack")).unwrap();
    file.set_len(1 << 20).unwrap();
    let found = passes.frames(&mut |_| Ok::<(), DataError>(())).unwrap_err().to_string();
    assert!(found.contains("became shorter"), "{found}");
}

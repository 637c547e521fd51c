//! Paired comparisons: columns of +1 and -1, and groups that rows have two levels of.

use ridgewalk_frame::{
    Column, DataError, Draft, Facts, FamilyName, Frame, GroupEntries, Matrix, Question, Table,
};

const MATCHES: &[u8] = b"y,a,b,x\n1,Bo,Al,2\n0,Cy,Bo,3\n1,Al,Di,5\n1,Di,Cy,7\n";

fn table() -> Table {
    Table::from_bytes("m.csv", MATCHES).unwrap()
}

fn question(formula: &str) -> Question {
    Question::of_formula(formula.parse().unwrap(), FamilyName::Logistic)
}

fn frame(formula: &str) -> Frame {
    Frame::new(&table(), &question(formula)).unwrap_or_else(|error| panic!("{formula}: {error}"))
}

fn error(table: &Table, formula: &str) -> String {
    Frame::new(table, &question(formula)).unwrap_err().to_string()
}

#[test]
fn columns_are_differences_from_the_base() {
    let found = frame("y ~ pair(a, b)");
    let names = ["(Intercept)", "pair(a, b)[Bo]", "pair(a, b)[Cy]", "pair(a, b)[Di]"];
    assert_eq!(found.names, names);
    let need =
        [[1.0, 1.0, 0.0, 0.0], [1.0, -1.0, 1.0, 0.0], [1.0, 0.0, 0.0, -1.0], [1.0, 0.0, -1.0, 1.0]];
    assert_eq!(&*found.design.dense(), need.concat());
    let base =
        "`pair(a, b)`: each coefficient is the difference of a level from the base level `Al`";
    assert!(found.notes.iter().any(|note| note == base), "{:?}", found.notes);
    // Without an intercept too: all levels together are not identified.
    let found = frame("1 ~ 0 + pair(a, b, base = \"Cy\")");
    assert_eq!(found.names[1], "pair(a, b, base = \"Cy\")[Bo]");
    assert_eq!(found.row(1), [0.0, -1.0, 0.0]);
    assert_eq!(found.response, [1.0; 4]);
    let crossed = frame("y ~ pair(a, b):x");
    assert_eq!(crossed.row(1), [1.0, -3.0, 3.0, 0.0]);
}

#[test]
fn groups_have_the_first_level_and_the_second_with_a_minus() {
    let found = frame("1 ~ 0 + (1 + x | pair(a, b))");
    assert_eq!((found.columns, &*found.groups[0].name), (0, "pair(a, b)"));
    assert_eq!(found.groups[0].levels, ["Al", "Bo", "Cy", "Di"]);
    let GroupEntries::Pairs { levels, values } = &found.groups[0].entries else { panic!() };
    assert_eq!(levels, &[[1, 0], [2, 1], [0, 3], [3, 2]]);
    assert_eq!(values, &[1.0, 2.0, 1.0, 3.0, 1.0, 5.0, 1.0, 7.0]);
    assert_eq!(found.select(&[3]).groups[0].entries.of_row(0), [3, 2]);
    let described = &found.describe_groups()[0];
    assert_eq!((described.levels, described.smallest, described.largest), (4, 2, 2));
    let new = Table::from_bytes("new.csv", b"a,b,x\nCy,Ed,1\nAl,Bo,2\n").unwrap();
    let rows = found.coding.rows(&new).unwrap();
    assert_eq!(rows.groups[0].entries.of_row(0), [2, GroupEntries::NEW]);
    assert_eq!(rows.groups[0].entries.of_row(1), [0, 1]);
    let unseen = frame("y ~ pair(a, b)").coding.rows(&new).unwrap_err().to_string();
    assert!(unseen.starts_with("new.csv, line 2, column `b`: found the level `Ed`"), "{unseen}");
}

/// Numbers are levels too, and many levels make the design sparse.
#[test]
fn many_levels_have_a_sparse_design() {
    let column = |name, step: usize| {
        let values: Vec<f64> = (0..2000).map(|row| (row * step % 400) as f64).collect();
        Column::from_numbers(name, &values)
    };
    let ones =
        Column::from_numbers("y", &(0..2000).map(|row| f64::from(row % 2)).collect::<Vec<_>>());
    let second = (0..2000).map(|row| ((row * 7 + 1) % 400) as f64);
    let second: Vec<f64> = second
        .zip(0..2000)
        .map(|(b, row)| if b == (row * 3 % 400) as f64 { (b + 1.0) % 400.0 } else { b })
        .collect();
    let columns = vec![ones, column("a", 3), Column::from_numbers("b", &second)];
    let table = Table::from_columns("t", columns).unwrap();
    let found = Frame::new(&table, &question("y ~ pair(a, b)")).unwrap();
    assert!(matches!(found.design, Matrix::Sparse(_)));
    assert_eq!(found.names[1..4], ["pair(a, b)[1]", "pair(a, b)[2]", "pair(a, b)[3]"]);
    assert!(
        found.notes.iter().any(|note| note.contains("(1 | pair(a, b)) estimates")),
        "{:?}",
        found.notes
    );
    assert_eq!(found.coding.rows(&table).unwrap().design, found.design);
}

#[test]
fn what_cannot_be_compared_is_refused_or_noted() {
    for (formula, need) in [
        ("y ~ pair(a)", "pair() needs two columns, as in pair(winner, loser)"),
        ("y ~ pair(a, a)", "pair() needs two different columns"),
        ("y ~ pair(a, c)", "m.csv has no column `c`"),
        ("y ~ log(pair(a, b))", "pair(...) makes columns of its own"),
        ("y ~ (1 | pair(a, b):x)", "crossed with others, need it by itself"),
        ("y ~ (1 | pair(a, b, base = \"Al\"))", "group effects have no base"),
        ("y ~ pair(a, b, base = \"All\")", "`All`"),
    ] {
        let found = error(&table(), formula);
        assert!(found.contains(need), "{formula}: {found}");
    }
    let own = Table::from_bytes("m.csv", b"y,a,b\n1,Bo,Al\n0,Cy,Cy\n").unwrap();
    let found = error(&own, "y ~ (1 | pair(a, b))");
    assert!(
        found.starts_with("m.csv, line 3, column `a`: found `Cy`, which column `b` has"),
        "{found}"
    );
    let apart = Table::from_bytes("m.csv", b"y,a,b\n1,Bo,Al\n0,Cy,Di\n1,Al,Bo\n").unwrap();
    for formula in ["y ~ pair(a, b)", "y ~ (1 | pair(a, b))"] {
        let notes = Frame::new(&apart, &question(formula)).unwrap().notes;
        assert!(notes.iter().any(|note| note.contains("fall into 2 parts")), "{notes:?}");
    }
}

/// Rows that are split over processes have the levels of all of them.
#[test]
fn parts_have_the_levels_of_the_whole_table() -> Result<(), DataError> {
    let parts = [&b"y,a,b,x\n1,Bo,Al,2\n0,Cy,Bo,3\n"[..], b"y,a,b,x\n1,Al,Di,5\n1,Di,Cy,7\n"];
    let tables = parts.map(|part| Table::from_bytes("m.csv", part).unwrap());
    for formula in ["y ~ x + (1 | pair(a, b))", "y ~ pair(a, b)"] {
        let question = question(formula);
        let drafts = [Draft::new(&tables[0], &question)?, Draft::new(&tables[1], &question)?];
        let facts = Facts::merge("m.csv", [drafts[0].facts()?, drafts[1].facts()?])?;
        let [first, second] = [drafts[0].finish(&facts)?, drafts[1].finish(&facts)?];
        let whole = frame(formula);
        assert_eq!(
            [&*first.design.dense(), &*second.design.dense()].concat(),
            *whole.design.dense()
        );
        for (k, group) in whole.groups.iter().enumerate() {
            assert_eq!(first.groups[k].levels, group.levels);
            assert_eq!(second.groups[k].entries.of_row(1), group.entries.of_row(3));
        }
    }
    Ok(())
}

//! Smooth terms: their columns, new rows and messages. `smooths.rs` in the crate compares them with
//! mgcv's.

use ridgewalk_frame::{Coding, FamilyName, Frame, GroupEntries, Grouping, Question, Table};

fn data() -> Table {
    let path = format!("{}/tests/data/groups/data.csv", env!("CARGO_MANIFEST_DIR"));
    Table::from_bytes("data.csv", &std::fs::read(path).unwrap()).unwrap()
}

fn question(formula: &str) -> Question {
    let formula = formula.parse().unwrap_or_else(|error| panic!("{formula}: {error}"));
    Question::of_formula(formula, FamilyName::Gaussian)
}

fn frame(table: &Table, formula: &str) -> Frame {
    Frame::new(table, &question(formula)).unwrap_or_else(|error| panic!("{formula}: {error}"))
}

fn basis(group: &Grouping) -> &[f64] {
    match &group.entries {
        GroupEntries::Basis(values) => values,
        _ => panic!("{} is no smooth", group.name),
    }
}

/// A column of a frame by its name.
fn column(frame: &Frame, name: &str) -> Vec<f64> {
    let at = frame.names.iter().position(|other| other == name).unwrap();
    frame.design.dense().iter().skip(at).step_by(frame.columns).copied().collect()
}

fn mean(values: impl Iterator<Item = f64>, count: usize) -> f64 {
    values.sum::<f64>() / count as f64
}

#[test]
fn a_smooth_is_a_line_and_wiggles_of_size_1() {
    let table = data();
    let frame = frame(&table, "y ~ x + s(t) + f + (1 | school)");
    assert_eq!(frame.names, ["(Intercept)", "x", "f[b]", "f[c]", "s(t)"]);
    assert_eq!(frame.terms, ["(Intercept)", "x", "f", "f", "s(t)"]);
    assert_eq!(frame.rank, Some(5));
    let [school, smooth] = &frame.groups[..] else { panic!("{:?}", frame.groups) };
    assert!(!school.smooth && smooth.smooth);
    assert_eq!(
        (smooth.name.as_str(), &smooth.coefficients[..]),
        ("s(t)", &["smooth".to_owned()][..])
    );
    assert_eq!(smooth.levels, ["1", "2", "3", "4", "5", "6", "7", "8"]);
    let (line, values) = (column(&frame, "s(t)"), basis(smooth));
    assert!(mean(line.iter().copied(), 90).abs() < 1e-12);
    assert!((mean(line.iter().map(|x| x * x), 90) - 1.0).abs() < 1e-12);
    assert!((mean(values.iter().map(|x| x * x), 90) - 1.0).abs() < 1e-12);
    for k in 0..8 {
        let own = || values.iter().skip(k).step_by(8);
        assert!(own().sum::<f64>().abs() < 1e-9);
        assert!(own().zip(&line).map(|(a, b)| a * b).sum::<f64>().abs() < 1e-9);
    }
}

#[test]
fn each_level_has_its_smooth() {
    let table = data();
    let by = frame(&table, "y ~ f + s(t, k = 6, by = f)");
    assert_eq!(by.names[3..], ["s(t):f[a]", "s(t):f[b]", "s(t):f[c]"]);
    assert_eq!(by.terms[3..], ["s(t):f", "s(t):f", "s(t):f"]);
    let levels = table.column("f").unwrap().texts().unwrap();
    for (group, level) in by.groups.iter().zip(["a", "b", "c"]) {
        assert_eq!((group.name.clone(), group.levels.len()), (format!("s(t):f[{level}]"), 4));
        let line = column(&by, &group.name);
        let own: Vec<usize> = (0..90).filter(|row| levels[*row] == Some(level)).collect();
        for row in (0..90).filter(|row| !own.contains(row)) {
            assert!(line[row] == 0.0 && basis(group)[4 * row..4 * row + 4] == [0.0; 4]);
        }
        assert!((mean(line.iter().map(|x| x * x), own.len()) - 1.0).abs() < 1e-12);
        assert!((mean(basis(group).iter().map(|x| x * x), own.len()) - 1.0).abs() < 1e-12);
    }
    let number = frame(&table, "y ~ s(t, by = z)");
    assert_eq!(number.names, ["(Intercept)", "s(t):z"]);
    assert!((mean(basis(&number.groups[0]).iter().map(|x| x * x), 90) - 1.0).abs() < 1e-12);
    let factor = frame(&table, "y ~ s(log(z), by = factor(class)) + s(t)");
    assert_eq!(factor.names[1..3], ["s(log(z)):factor(class)[1]", "s(log(z)):factor(class)[2]"]);
    // `.` does not stand for a column with a smooth.
    assert_eq!(
        frame(&table, "y ~ . - school - class - pupil - f - h + s(t)").names[1..],
        ["x", "z", "s(t)"]
    );
}

#[test]
fn new_rows_continue_as_lines() {
    let table = data();
    for formula in
        ["y ~ x + s(t) + (x | pupil)", "y ~ s(t, k = 7, by = f)", "y ~ s(t, by = z) + s(x)"]
    {
        let frame = frame(&table, formula);
        let text = serde_json::to_string(&frame.coding).unwrap();
        let coding: Coding = serde_json::from_str(&text).unwrap();
        assert_eq!(coding, frame.coding);
        let rows = coding.rows(&table).unwrap();
        assert_eq!((&rows.design, &rows.groups), (&frame.design, &frame.groups), "{formula}");
        assert_eq!((rows.rows, rows.columns), (frame.rows, frame.columns));
        for (names, group) in coding.groups().zip(&frame.groups) {
            assert_eq!((&names.name, names.smooth), (&group.name, group.smooth));
            assert_eq!(*names.coefficients, group.coefficients);
            assert_eq!(*names.levels, group.levels);
        }
        let some = frame.select(&[7, 2]);
        for (all, some) in frame.groups.iter().zip(&some.groups).filter(|(all, _)| all.smooth) {
            let wide = all.levels.len();
            assert_eq!(basis(some)[..wide], basis(all)[7 * wide..8 * wide]);
        }
    }
    let frame = frame(&table, "y ~ s(t)");
    assert_eq!(frame.coding.columns().unwrap(), ["t"]);
    let at = |values: &str| {
        let new = Table::from_bytes("new.csv", format!("t\n{values}\n").as_bytes()).unwrap();
        frame.coding.rows(&new).unwrap()
    };
    // The ends are 0 and about 10: lines beyond them, which meet the curve with its slope.
    for (values, end) in [("-1\n-2\n-3", "0\n-1e-6"), ("11\n12\n13", "10\n10.000001")] {
        let top: f64 =
            table.column("t").unwrap().numbers().unwrap().iter().copied().fold(0.0, f64::max);
        assert!((top - 10.0).abs() < 1e-12);
        let (rows, near) = (at(values), at(end));
        let (values, near) = (basis(&rows.groups[0]), basis(&near.groups[0]));
        for k in 0..8 {
            let [a, b, c] = [0, 1, 2].map(|row| values[8 * row + k]);
            assert!((a - 2.0 * b + c).abs() < 1e-9 * (1.0 + b.abs()));
            let slope = (near[8 + k] - near[k]) / 1e-6;
            let size = 1e-6 * (1.0 + slope.abs());
            assert!((slope - (b - a)).abs() < size && (near[k] + slope - a).abs() < size);
        }
    }
}

#[test]
fn smooths_that_cannot_be_made_are_refused() {
    let rows: String =
        (0..30).map(|k| format!("{k},{},{},{},u{}\n", k % 7, k % 3, k % 2, k / 28)).collect();
    let table = Table::from_bytes("d.csv", format!("y,x,few,two,f\n{rows}").as_bytes()).unwrap();
    for (formula, need) in [
        (
            "y ~ s(x)",
            "d.csv: s(x) needs at least 10 distinct values for k = 10; found 7: s(x, k = 7) would do",
        ),
        ("y ~ s(x, by = f)", "found 7: s(x, k = 7, by = f) would do"),
        ("y ~ s(few)", "s(few) needs at least 4 distinct values; found 3"),
        (
            "y ~ s(x, k = 5, by = f)",
            "needs at least 3 distinct values in each level of f; found 2 in `u1`",
        ),
        ("y ~ s(x, k = 3)", "found `3`, need a whole number from 4 to 100"),
        ("y ~ s(x, two)", "s() smooths one column: need s(x, k = 10, by = f)"),
        ("y ~ s(x, bs = \"cr\")", "s() has no argument `bs`"),
        ("y ~ s(f)", "`f` is text, s() needs numbers"),
        ("y ~ s(scale(x), k = 5)", "need a column or a function of its own row in s()"),
        (
            "y ~ s(x, k = 5) + s(x, k = 6)",
            "the smooth is there twice, as s(x, k = 5) and as s(x, k = 6)",
        ),
        ("y ~ s(y)", "column `y` is used by both --response and --predictors"),
        ("y ~ s(x, k = 5, by = zz)", "d.csv has no column `zz`"),
    ] {
        let found = Frame::new(&table, &question(formula)).unwrap_err().to_string();
        assert!(found.contains(need), "{formula}: {found}");
    }
    let frame = frame(&data(), "y ~ s(t, by = f)");
    let new = Table::from_bytes("new.csv", b"t,f\n1,a\n2,d\n").unwrap();
    let found = frame.coding.rows(&new).unwrap_err().to_string();
    assert!(found.contains("line 3, column `f`: found the level `d`"), "{found}");
}

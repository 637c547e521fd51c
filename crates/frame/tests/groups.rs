//! Group effects: levels and values against those of lme4, new rows, limits and messages.

use std::time::Instant;

use ridgewalk_frame::{Coding, Column, FamilyName, Frame, GroupEntries, Grouping, Question, Table};
use serde::Deserialize;

#[derive(Deserialize)]
struct References {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    formula: String,
    terms: Vec<Term>,
}

/// A term of lme4's `reTrms`.
#[derive(Deserialize)]
struct Term {
    name: String,
    coefficients: Vec<String>,
    levels: Vec<String>,
    level: Vec<usize>,
    values: Vec<Vec<f64>>,
}

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

fn error(table: &Table, formula: &str) -> String {
    Frame::new(table, &question(formula)).unwrap_err().to_string()
}

fn parts(group: &Grouping) -> (&[u32], &[f64]) {
    match &group.entries {
        GroupEntries::Levels { level, values } => (level, values),
        _ => panic!("{} has no levels", group.name),
    }
}

/// The parts of a name or a level, in alphabetical order of the names: lme4 turns `a/b` around.
fn turned(name: &str, text: &str) -> String {
    let mut pairs: Vec<(&str, &str)> = name.split(':').zip(text.split(':')).collect();
    pairs.sort_unstable();
    pairs.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(":")
}

#[test]
fn levels_and_values_are_those_of_lme4() {
    let path = format!("{}/tests/data/groups/groups.json", env!("CARGO_MANIFEST_DIR"));
    let found: References = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    let table = data();
    assert!(found.cases.len() >= 12);
    for case in found.cases {
        let mut groups = frame(&table, &case.formula).groups;
        assert_eq!(groups.len(), case.terms.len(), "{}", case.formula);
        for mut term in case.terms {
            // `h:(class:school)`.
            term.name.retain(|c| !"()".contains(c));
            // lme4 has the terms in order of their numbers of levels.
            let at = groups.iter().position(|group| {
                let plain = |name: &String| name.replace(['[', ']'], "");
                turned(&group.name, &group.name) == turned(&term.name, &term.name)
                    && group.coefficients.iter().map(plain).eq(term.coefficients.iter().cloned())
            });
            let names: Vec<_> =
                groups.iter().map(|group| (&group.name, &group.coefficients)).collect();
            let at =
                at.unwrap_or_else(|| panic!("{}: {} among {names:?}", case.formula, term.name));
            let group = groups.swap_remove(at);
            if group.name == term.name {
                assert_eq!(group.levels, term.levels, "{}", case.formula);
            }
            assert_eq!(group.levels.len(), term.levels.len());
            let (level, values) = parts(&group);
            let width = group.coefficients.len();
            for (row, need) in term.values.iter().enumerate() {
                let own = &group.levels[level[row] as usize];
                let theirs = &term.levels[term.level[row]];
                assert_eq!(turned(&group.name, own), turned(&term.name, theirs));
                if values.is_empty() {
                    assert_eq!(need, &[1.0]);
                    continue;
                }
                let row = &values[row * width..(row + 1) * width];
                assert!(
                    row.iter().zip(need).all(|(a, b)| (a - b).abs() <= 1e-12 * b.abs().max(1.0))
                );
            }
        }
    }
}

#[test]
fn groupings_are_written_in_many_ways() {
    let table = data();
    let names = |formula: &str| -> Vec<String> {
        let each =
            |group: &Grouping| format!("{} | {}", group.coefficients.join(" + "), group.name);
        frame(&table, formula).groups.iter().map(each).collect()
    };
    assert_eq!(names("y ~ (1 | factor(class))"), ["(Intercept) | factor(class)"]);
    assert_eq!(names("y ~ (f || h)"), ["(Intercept) | h", "f[a] + f[b] + f[c] | h"]);
    assert_eq!(names("y ~ (x > 0 | h)"), ["(Intercept) + x > 0[TRUE] | h"]);
    assert_eq!(names("y ~ (1 | I(pupil %% 7))"), ["(Intercept) | I(pupil%%7)"]);
    let [plain, factor] = ["y ~ (1 | class)", "y ~ (1 | factor(class))"].map(|f| frame(&table, f));
    assert_eq!(plain.groups[0].entries, factor.groups[0].entries);
    assert_eq!(plain.groups[0].levels, ["1", "2", "10"]);
    let [name] = &plain.names[..] else { panic!("{:?}", plain.names) };
    assert_eq!((name.as_str(), plain.design.dense().len()), ("(Intercept)", plain.rows));
    // A column may be both; `.` does not stand for grouping factors, but for slopes.
    assert_eq!(
        frame(&table, "y ~ school + (1 | school)").names,
        ["(Intercept)", "school[north]", "school[south]", "school[west]"]
    );
    let all = frame(&table, "y ~ . + (x | school/class) + (1 | pupil)").names;
    assert_eq!(all, ["(Intercept)", "x", "z", "f[b]", "f[c]", "h[lo]", "t"]);
}

#[test]
fn new_rows_are_coded_with_the_levels_of_the_fit() {
    let table = data();
    let formulas = [
        "y ~ x + (1 + x | school/class)",
        "y ~ (poly(x, 2) * f | pupil) + (1 | school:h)",
        "y ~ (scale(x) || class) + (0 + h | school)",
    ];
    for formula in formulas {
        let frame = frame(&table, formula);
        let text = serde_json::to_string(&frame.coding).unwrap();
        let coding: Coding = serde_json::from_str(&text).unwrap();
        assert_eq!(coding, frame.coding);
        let rows = coding.rows(&table).unwrap();
        assert_eq!((&rows.groups, &rows.design), (&frame.groups, &frame.design), "{formula}");
        for (names, group) in coding.groups().zip(&frame.groups) {
            assert_eq!((&names.name, names.smooth), (&group.name, false));
            assert_eq!(*names.coefficients, group.coefficients);
            assert_eq!(*names.levels, group.levels);
        }
        assert_eq!(coding.groups().count(), frame.groups.len());
    }
    let frame = frame(&table, "y ~ x + (1 + z | school) + (1 | school:class) + (1 | pupil)");
    assert_eq!(frame.coding.columns().unwrap(), ["x", "z", "school", "class", "pupil"]);
    let new = b"x,z,school,class,pupil\n1,2,north,1,3\n3,4,up,1,3\n5,6,west,2,99\n";
    let new = frame.coding.rows(&Table::from_bytes("new.csv", new).unwrap()).unwrap();
    let [school, class, pupil] = &new.groups[..] else { panic!("{:?}", new.groups) };
    let level = |group: &Grouping, row: usize| match parts(group).0[row] {
        GroupEntries::NEW => "new".to_owned(),
        level => group.levels[level as usize].clone(),
    };
    let levels = |group: &Grouping| [0, 1, 2].map(|row| level(group, row));
    assert_eq!(levels(school), ["north", "new", "west"]);
    assert_eq!(levels(class), ["north:1", "new", "new"]);
    assert_eq!(levels(pupil), ["3", "3", "new"]);
    assert_eq!(parts(school).1, [1.0, 2.0, 1.0, 4.0, 1.0, 6.0]);
    assert_eq!(new.design.dense(), &[1.0, 1.0, 1.0, 3.0, 1.0, 5.0][..]);
    let incomplete =
        Table::from_bytes("new.csv", b"x,z,school,class,pupil\n1,2,,1,3\n2,3,north,1,1\n");
    let message = frame.coding.rows(&incomplete.unwrap()).unwrap_err().to_string();
    assert_eq!(
        message,
        "new.csv, line 2, column `school`: found a missing value, need a value to code this row"
    );
    let without =
        Table::from_bytes("new.csv", b"x,z,school,class\n1,2,north,1\n2,3,north,1\n").unwrap();
    let message = frame.coding.rows(&without).unwrap_err().to_string();
    assert!(message.contains("new.csv has no column `pupil`"), "{message}");
}

#[test]
fn a_coding_without_groups_is_written_as_before() {
    let text = serde_json::to_string(&frame(&data(), "y ~ x + f").coding).unwrap();
    assert!(!text.contains("groups") && !text.contains("smooths"), "{text}");
    let old: Coding = serde_json::from_str(&text).unwrap();
    assert_eq!(old, frame(&data(), "y ~ x + f").coding);
}

#[test]
fn some_rows_have_their_own_groups() {
    let whole = frame(&data(), "y ~ x + (1 + x | school) + (1 | pupil)");
    let some = whole.select(&[5, 3, 80]);
    for (all, some) in whole.groups.iter().zip(&some.groups) {
        assert_eq!((&all.levels, &all.name), (&some.levels, &some.name));
        let ((level, values), (few, slopes)) = (parts(all), parts(some));
        assert_eq!(few, [level[5], level[3], level[80]]);
        let need: Vec<f64> = [5, 3, 80]
            .iter()
            .flat_map(|row| values.chunks(2).nth(*row).unwrap_or_default().to_vec())
            .collect();
        assert_eq!(slopes, need);
    }
}

#[test]
fn levels_are_in_natural_order_or_in_the_order_given() {
    let table = Table::from_bytes("d.csv", b"y,g,n\n1,a10,10\n2,a2,9\n4,a1,-1\n5,a2,-0\n").unwrap();
    assert_eq!(frame(&table, "y ~ (1 | g)").groups[0].levels, ["a1", "a2", "a10"]);
    assert_eq!(frame(&table, "y ~ (1 | n)").groups[0].levels, ["-1", "0", "9", "10"]);
    assert_eq!(
        frame(&table, "y ~ (1 | g:n)").groups[0].levels,
        ["a1:-1", "a2:0", "a2:9", "a10:10"]
    );
    let factor = Question { factors: vec!["n".into()], ..question("y ~ (1 | n)") };
    assert_eq!(Frame::new(&table, &factor).unwrap().groups[0].levels, ["-1", "0", "9", "10"]);
    let g = Column::from_levels("g", &["z", "unused", "a"], vec![2, 0, 2]);
    let y = Column::from_numbers("y", &[1.0, 2.0, 4.0]);
    let table = Table::from_columns("d", vec![y, g]).unwrap();
    assert_eq!(frame(&table, "y ~ (1 | g)").groups[0].levels, ["z", "a"]);
}

#[test]
fn missing_groups_are_treated_like_missing_predictors() {
    let table = Table::from_bytes("d.csv", b"y,g\n1,a\n2,\n4,b\n5,a\n").unwrap();
    assert_eq!(
        error(&table, "y ~ (1 | g)"),
        "d.csv: found missing values in column `g` (1, first in line 3); pass --drop-missing to \
         leave out these rows (1 of 4)"
    );
    let dropped = Question { drop_missing: true, ..question("y ~ (1 | g)") };
    let frame = Frame::new(&table, &dropped).unwrap();
    assert_eq!(parts(&frame.groups[0]).0, [0, 1, 0]);
}

#[test]
fn what_cannot_be_grouped_is_refused() {
    let table = Table::from_bytes(
        "d.csv",
        b"y,x,zero,g,one,a,b\n1,1,0,u,k,p:q,r\n2,3,0,v,k,p,q:r\n4,2,0,u,k,p,r\n",
    );
    let table = table.unwrap();
    for (formula, need) in [
        (
            "y ~ (1 | one)",
            "d.csv, column `one`: found the level `k` only, need at least two levels for group effects; leave the term out",
        ),
        (
            "y ~ (0 + zero | g)",
            "d.csv: found 0 in every row for `zero`, which varies with `g`, need another value in some row; leave it out of the bars",
        ),
        ("y ~ (0 | g)", "found no effects in (0 | g), need 1 or predictors"),
        ("y ~ (1 | gg)", "d.csv has no column `gg`; did you mean `g`?"),
        ("y ~ (xx | g)", "d.csv has no column `xx`"),
        (
            "y ~ (1 | a:b)",
            "d.csv, column `a:b`: found two combinations of levels that are both written `p:q:r`",
        ),
        ("y ~ (1 | y)", "column `y` is used by both --response and a grouping factor"),
        ("y ~ (y | g)", "column `y` is used by both --response and --predictors"),
        ("y ~ (one | g)", "d.csv, column `one`: found `k` in every row, need values that differ"),
        ("y ~ (1 | scale(x))", "found `scale(x)`, need a column as grouping factor"),
        ("y ~ (1 | cut(x, 2))", "makes columns of its own"),
        ("y ~ (1 | log(zero))", "for log(zero) (zero = 0), need a finite number"),
        ("y ~ 0 + (1 | g)", "found no predictors and no intercept"),
    ] {
        let found = error(&table, formula);
        assert!(found.starts_with(need) || found.contains(need), "{formula}: {found}");
    }
    let twice = "y ~ (1 | g) + (1 | g)".parse::<ridgewalk_frame::Formula>().unwrap_err();
    assert_eq!(
        twice.message(),
        "the intercept varies with `g` twice, in (1 | g) and in (1 | g), need it once; 0 + leaves \
         the intercept out, as in (0 + x | g)"
    );
}

#[test]
fn notes_say_what_groups_cannot_tell() {
    let table = data();
    let notes = |formula: &str| frame(&table, formula).notes.join("\n");
    assert!(notes("y ~ (1 | school)").contains(
        "`school` has 4 levels: the standard deviation of 4 levels is known poorly; consider a fixed factor"
    ));
    assert!(!notes("y ~ (1 | pupil)").contains("poorly"));
    let single = Table::from_bytes("d.csv", b"y,g\n1,a\n2,b\n4,c\n5,d\n3,e\n").unwrap();
    let ask = |family| {
        let question = Question { family, ..question("y ~ (1 | g)") };
        Frame::new(&single, &question).unwrap().notes.join("\n")
    };
    let need = "every level of `g` has one row: its effects cannot be told from the noise";
    assert!(ask(FamilyName::Gaussian).contains(need));
    assert!(!ask(FamilyName::Poisson).contains(need));
    let rows: String =
        (0..60).map(|k| format!("{},s{},{}\n", k % 7, k % 6, 1 + k / 6 % 5)).collect();
    let classes = Table::from_bytes("d.csv", format!("y,school,class\n{rows}").as_bytes()).unwrap();
    let notes = |formula: &str| frame(&classes, formula).notes.join("\n");
    assert!(notes("y ~ (1 | school) + (1 | class)").contains("write (1 | school/class)"));
    assert!(!notes("y ~ (1 | school/class)").contains("write"));
}

#[test]
fn two_hundred_thousand_levels_take_a_second() {
    let mut text = String::from("y,g,n,x\n");
    for k in 0..400_000_u64 {
        let level = k.wrapping_mul(2_654_435_761) % 200_000;
        text.push_str(&format!("{},id-{level},{level},{}\n", k % 13, k % 11));
    }
    let table = Table::from_bytes("d.csv", text.as_bytes()).unwrap();
    // The limits of fixed factors stay.
    assert!(
        error(&table, "y ~ g").contains("found more than 100000 distinct texts in 400000 rows")
    );
    let start = Instant::now();
    let frame = frame(&table, "y ~ x + (x | g) + (1 | n)");
    let taken = start.elapsed();
    let [g, n] = &frame.groups[..] else { panic!("{:?}", frame.names) };
    assert_eq!((g.levels.len(), n.levels.len()), (200_000, 200_000));
    assert_eq!(parts(g).0, parts(n).0);
    assert_eq!(g.levels[199_999], "id-199999");
    // Two groupings; a debug build is slower.
    let most = if cfg!(debug_assertions) { 20.0 } else { 4.0 };
    assert!(taken.as_secs_f64() < most, "{taken:?}");
    println!("{taken:?}");
}

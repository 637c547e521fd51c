//! Formulas: model matrices against those of R and of formulaic, new rows, and messages.

use std::collections::HashMap;

use ridgewalk_frame::{Column, FamilyName, Formula, Frame, Question, Table};
use serde::Deserialize;

/// Entries agree to this, relative to the largest of their column where that is above 1.
const TOLERANCE: f64 = 1e-12;

#[derive(Deserialize)]
struct References {
    /// The rows of the training table that are stored.
    rows: Vec<usize>,
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    formula: String,
    #[serde(default)]
    exclude: Vec<String>,
    #[serde(default)]
    names: Vec<String>,
    matrix: Vec<Vec<f64>>,
    #[serde(default)]
    new: Vec<Option<Vec<f64>>>,
    offset: Option<Vec<f64>>,
    new_offset: Option<Vec<Option<f64>>>,
}

fn references(file: &str) -> References {
    let path = format!("{}/tests/data/formulas/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn table(file: &str) -> Table {
    let path = format!("{}/tests/data/formulas/{file}", env!("CARGO_MANIFEST_DIR"));
    Table::from_bytes(file, &std::fs::read(path).unwrap()).unwrap()
}

fn question(formula: &str) -> Question {
    let family = match () {
        () if formula.starts_with("cbind") || formula.contains("trials") => FamilyName::Logistic,
        () if formula.starts_with("Surv") => FamilyName::Weibull,
        () => FamilyName::Gaussian,
    };
    let formula: Formula = formula.parse().unwrap_or_else(|error| panic!("{formula}: {error}"));
    Question::of_formula(formula, family)
}

/// Whether a formula has a power such as `x^2` outside of `I`, which R takes for `x`, and which is
/// refused here with the advice to write `I(x^2)`.
fn is_power(formula: &str) -> bool {
    let refused = formula.parse::<Formula>().is_err_and(|error| error.message().contains("I("));
    assert!(!refused || formula == "y ~ x^2", "{formula}");
    refused
}

/// Some rows of a table.
fn rows_of(table: &Table, rows: &[usize]) -> Table {
    let columns = table.columns().iter().map(|column| match column.numbers() {
        Some(values) => {
            let values: Vec<f64> = rows.iter().map(|&row| values[row]).collect();
            Column::from_numbers(column.name(), &values)
        }
        None => {
            let texts = column.texts().unwrap();
            let texts: Vec<&str> = rows.iter().map(|&row| texts[row].unwrap()).collect();
            Column::from_texts(column.name(), &texts)
        }
    });
    Table::from_columns(table.name(), columns.collect()).unwrap()
}

#[track_caller]
fn near(got: &[f64], need: &[f64], sizes: &[f64], what: &str) {
    assert_eq!(got.len(), need.len(), "{what}");
    for (column, ((got, need), size)) in got.iter().zip(need).zip(sizes).enumerate() {
        let limit = TOLERANCE * size.max(1.0);
        assert!((got - need).abs() <= limit, "{what}, column {column}: got {got}, need {need}");
    }
}

/// The largest magnitude in each column.
fn sizes<'a>(rows: impl Iterator<Item = &'a Vec<f64>>, columns: usize) -> Vec<f64> {
    let mut sizes = vec![0.0_f64; columns];
    for row in rows {
        sizes.iter_mut().zip(row).for_each(|(size, value)| *size = size.max(value.abs()));
    }
    sizes
}

#[test]
fn model_matrices_are_those_of_r() {
    let (data, new, references) =
        (table("data.csv"), table("new.csv"), references("formulas.json"));
    assert!(references.cases.len() >= 300);
    for case in references.cases.iter().filter(|case| !is_power(&case.formula)) {
        let what = &case.formula;
        let mut question = question(what);
        question.exclude.clone_from(&case.exclude);
        let frame = Frame::new(&data, &question).unwrap_or_else(|error| panic!("{what}: {error}"));
        assert_eq!(frame.names, case.names, "{what}");
        let old = sizes(case.matrix.iter(), frame.columns);
        for (&row, need) in references.rows.iter().zip(&case.matrix) {
            near(&frame.row(row), need, &old, &format!("{what}, row {row}"));
        }
        if let Some(need) = &case.offset {
            let got: Vec<f64> =
                references.rows.iter().map(|&row| frame.offset.as_ref().unwrap()[row]).collect();
            near(&got, need, need, what);
        }
        let known: Vec<usize> =
            (0..case.new.len()).filter(|&row| case.new[row].is_some()).collect();
        // As kept with a run.
        let kept = serde_json::to_string(&frame.coding).unwrap();
        let coding: ridgewalk_frame::Coding = serde_json::from_str(&kept).unwrap();
        let coded = coding.rows(&rows_of(&new, &known)).unwrap_or_else(|e| panic!("{what}: {e}"));
        let large = sizes(case.new.iter().flatten(), frame.columns);
        for (got, row) in coded.design.dense().chunks(coded.columns.max(1)).zip(&known) {
            let need = case.new[*row].as_ref().unwrap();
            near(got, need, &large, &format!("{what}, new row {row}"));
        }
        if let (Some(need), Some(got)) = (&case.new_offset, &coded.offset) {
            for (got, &row) in got.iter().zip(&known) {
                let need = need[row].unwrap();
                assert!((got - need).abs() <= 1e-12 * need.abs().max(1.0), "{what}");
            }
        }
        for row in (0..case.new.len()).filter(|row| case.new[*row].is_none()) {
            let error = coding.rows(&rows_of(&new, &[row])).unwrap_err().to_string();
            assert!(error.contains("found the level"), "{what}: {error}");
        }
    }
}

#[test]
fn model_matrices_are_those_of_formulaic_where_it_agrees_with_r() {
    let (data, references) = (table("data.csv"), references("formulaic.json"));
    assert!(references.cases.len() >= 300);
    for case in references.cases.iter().filter(|case| !is_power(&case.formula)) {
        let mut question = question(&case.formula);
        question.exclude.clone_from(&case.exclude);
        let frame = Frame::new(&data, &question).unwrap();
        let sizes = sizes(case.matrix.iter(), frame.columns);
        for (&row, need) in references.rows.iter().zip(&case.matrix) {
            near(&frame.row(row), need, &sizes, &format!("{}, row {row}", case.formula));
        }
    }
}

#[test]
fn a_frame_in_parts_is_that_of_the_whole_table() {
    use ridgewalk_frame::{Draft, Facts};
    let data = table("data.csv");
    let thirds: Vec<Table> = (0..3)
        .map(|part| {
            rows_of(&data, &(part * 20..(part * 20 + 20).min(data.rows())).collect::<Vec<_>>())
        })
        .collect();
    let whole = rows_of(&data, &(0..60).collect::<Vec<_>>());
    for formula in [
        "y ~ poly(x, 3) * f + scale(log(w))",
        "y ~ bs(z, df = 5) + ns(x, df = 3):g + cut(w, 4)",
        "y ~ factor(k) * h + C(f, sum) + center(x)",
    ] {
        let question = question(formula);
        let all = Frame::new(&whole, &question).unwrap();
        let drafts: Vec<Draft<'_>> =
            thirds.iter().map(|table| Draft::new(table, &question).unwrap()).collect();
        let facts = Facts::merge("d", drafts.iter().map(|draft| draft.facts().unwrap())).unwrap();
        let frames: Vec<Frame> = drafts.iter().map(|draft| draft.finish(&facts).unwrap()).collect();
        let design: Vec<f64> =
            frames.iter().flat_map(|frame| frame.design.dense().into_owned()).collect();
        assert_eq!(design, *all.design.dense(), "{formula}");
        assert!(frames.iter().all(|frame| frame.names == all.names && frame.coding == all.coding));
    }
}

/// The message for a formula over the training table.
fn refused(formula: &str) -> String {
    let formula = match formula.parse::<Formula>() {
        Ok(formula) => formula,
        Err(error) => return error.to_string(),
    };
    let question = Question::of_formula(formula, FamilyName::Gaussian);
    Frame::new(&table("data.csv"), &question).unwrap_err().to_string()
}

#[test]
fn errors_point_at_the_character() {
    assert_eq!(
        refused("y ~ x + zz"),
        "data.csv has no column `zz`; did you mean `z`?\n  y ~ x + zz\n          ^^"
    );
    assert_eq!(
        refused("y ~ x + logg(w)"),
        "there is no function `logg`; did you mean log()?\n  y ~ x + logg(w)\n          ^^^^^^^"
    );
    for (formula, need) in [
        ("y ~ x + f^2", "write I(f^2) for the power"),
        ("y ~ log(f)", "column `f` is text, need numbers here"),
        ("y ~ poly(x)", ""),
        ("y ~ poly(x, 0)", "need a whole number from 1 to 25"),
        ("y ~ bs(x, df = 2)", "bs(x, df = 2) needs df of at least 3"),
        ("y ~ C(f, base = \"q\")", "found no level `q` to be the base"),
        ("y ~ y + x", "column `y` is used by both --response and --predictors"),
        ("y ~ log(y) + x", "column `y` is used by both"),
        ("scale(y) ~ x", "it can only be a predictor"),
        ("y ~ log(x)", "found NaN for log(x) (x = "),
        ("y ~ I(x == \"a\")", "found text and numbers"),
        ("y ~ I(f == \"q\")", "column `f` has no value `q`"),
        ("f ~ x", "need numbers as the response of this family"),
        ("cbind(s, n) ~ x", "--trials needs the family logistic"),
        ("y ~ 0", "found no predictors and no intercept"),
    ] {
        if !need.is_empty() {
            let message = refused(formula);
            assert!(message.contains(need), "{formula}: {message}");
        }
    }
}

fn ask(text: &str, formula: &str, change: impl FnOnce(&mut Question)) -> Result<Frame, String> {
    let mut question = question(formula);
    change(&mut question);
    let table = Table::from_bytes("d.csv", text.as_bytes()).unwrap();
    Frame::new(&table, &question).map_err(|error| error.to_string())
}

const PEOPLE: &str = "y,age,sex,city,race,w\n1,17,f,Oslo,1,1\n2,18,f,Bergen,2,0\n3,30,m,Oslo,3,2\n\
                      4,44,f,Oslo,1,1\n5,,m,Bergen,2,1\n6,65,f,Bergen,3,1\n7,20,m,Oslo,10,1\n";

#[test]
fn rows_are_selected_by_a_condition() {
    let rows = |condition: &str| {
        let frame =
            ask(PEOPLE, "y ~ 1", |q| q.condition = Some(condition.parse().unwrap())).unwrap();
        frame.response
    };
    assert_eq!(rows("age >= 18 & sex == \"f\""), [2.0, 4.0, 6.0]);
    assert_eq!(rows("age < 18 | city == 'Bergen'"), [1.0, 2.0, 5.0, 6.0]);
    assert_eq!(rows("!(city == 'Oslo')"), [2.0, 5.0, 6.0]);
    assert_eq!(rows("race %in% c(1, 10)"), [1.0, 4.0, 7.0]);
    // Neither true nor false where the age is missing.
    assert_eq!(rows("age != 17"), [2.0, 3.0, 4.0, 6.0, 7.0]);
    assert_eq!(rows("is.na(age) | age > 40"), [4.0, 5.0, 6.0]);
    let frame =
        ask(PEOPLE, "y ~ age", |q| q.condition = Some("age > 17".parse().unwrap())).unwrap();
    assert_eq!(frame.notes, ["uses 5 of 7 rows, those with age > 17"]);
    let error =
        ask(PEOPLE, "y ~ 1", |q| q.condition = Some("age > 99".parse().unwrap())).unwrap_err();
    assert!(error.starts_with("d.csv: found no row with age > 99 among 7"), "{error}");
    let error = ask(PEOPLE, "y ~ 1", |q| q.condition = Some("sex == 'female'".parse().unwrap()))
        .unwrap_err();
    assert!(error.starts_with("column `sex` has no value `female`"), "{error}");
}

#[test]
fn columns_are_shaped_by_options() {
    let all = |q: &mut Question| {
        q.exclude = vec!["age".into(), "w".into()];
        q.factors = vec!["race".into()];
        q.bases = vec![("city".into(), "Oslo".into()), ("race".into(), "10".into())];
    };
    let frame = ask(PEOPLE, "y ~ .", all).unwrap();
    assert_eq!(
        frame.names,
        ["(Intercept)", "sex[m]", "city[Bergen]", "race[1]", "race[2]", "race[3]"]
    );
    assert_eq!(frame.terms[3..], ["race", "race", "race"]);
    let base = |column: &str, level: &str| {
        ask(PEOPLE, "y ~ city", |q| q.bases = vec![(column.into(), level.into())]).unwrap_err()
    };
    let error = base("city", "Olo");
    assert!(error.contains("found no level `Olo` to be the base; did you mean `Oslo`?"), "{error}");
    let exclude = |q: &mut Question| q.exclude = vec!["city".into()];
    let error = ask(PEOPLE, "y ~ city", exclude).unwrap_err();
    assert_eq!(
        error,
        "column `city` is used by both --exclude and --predictors, need a different column for each"
    );
    assert!(base("race", "1").contains("pass it to --factor too"));
    // A weight of 0 leaves a row out.
    let weights = |q: &mut Question| q.weights = Some("w".into());
    let frame = ask(PEOPLE, "y ~ city", weights).unwrap();
    assert_eq!(frame.response, [1.0, 3.0, 4.0, 5.0, 6.0, 7.0]);
    assert!(frame.notes.contains(&"left out 1 of 7 rows, whose weight is 0".to_owned()));
}

#[test]
fn levels_have_their_natural_order() {
    let text = "y,age\n1,25-29\n2,100+\n3,<25\n4,30-99\n5,<25\n6,100+\n7,25-29\n8,30-99\n";
    let frame = ask(text, "y ~ age", |_| {}).unwrap();
    assert_eq!(frame.names, ["(Intercept)", "age[25-29]", "age[30-99]", "age[100+]"]);
}

#[test]
fn responses_of_formulas() {
    let text = "dead,alive,n,t,status,x\n1,4,5,2.5,dead,0\n2,2,4,3,alive,1\n0,3,3,1,dead,4\n";
    let family = |family| move |q: &mut Question| q.family = family;
    let both = ask(text, "cbind(dead, alive) ~ x", family(FamilyName::Logistic)).unwrap();
    assert_eq!(
        (&both.response[..], both.trials.as_deref()),
        (&[1.0, 2.0, 0.0][..], Some(&[5.0, 4.0, 3.0][..]))
    );
    let same = ask(text, "cbind(dead, n - dead) ~ x", family(FamilyName::Logistic)).unwrap();
    assert_eq!((&same.response, &same.trials), (&both.response, &both.trials));
    let same = ask(text, "dead | trials(n) ~ x", family(FamilyName::Probit)).unwrap();
    assert_eq!((&same.response, &same.trials), (&both.response, &both.trials));
    let times = ask(text, "Surv(t, status == \"dead\") ~ x", family(FamilyName::Weibull)).unwrap();
    assert_eq!(times.response, [2.5, 3.0, 1.0]);
    assert_eq!(times.upper.unwrap(), [2.5, f64::INFINITY, 1.0]);
    let log = ask(text, "log(n) ~ x", |_| {}).unwrap();
    assert_eq!(log.response, [5.0_f64.ln(), 4.0_f64.ln(), 3.0_f64.ln()]);
    let error = ask(text, "log(dead) ~ x", |_| {}).unwrap_err();
    assert!(
        error.starts_with("d.csv, line 4, column `dead`: found -inf for log(dead) (dead = 0)"),
        "{error}"
    );
    let zero = ask(text, "I(dead > 0) ~ x", family(FamilyName::Logistic)).unwrap();
    assert_eq!(zero.response, [1.0, 1.0, 0.0]);
}

#[test]
fn dates_become_numbers() {
    let text = "y,day\n1,2024-02-28\n2,2024-03-01\n3,2023-12-31\n4,2024-01-01\n";
    let frame = ask(text, "y ~ days(day) + year(day)", |_| {}).unwrap();
    let column: Vec<f64> = (0..4).map(|row| frame.row(row)[1] - frame.row(0)[1]).collect();
    assert_eq!(column, [0.0, 2.0, -59.0, -58.0]);
    assert_eq!(frame.row(2)[2], 2023.0);
    let error = ask(text, "y ~ day", |_| {}).unwrap_err();
    assert!(error.contains("days(...)"), "{error}");
}

#[test]
fn names_and_terms_of_coefficients() {
    let frame =
        Frame::new(&table("data.csv"), &question("y ~ f * x + poly(z, 2) + `odd name`")).unwrap();
    let found: HashMap<&str, &str> = frame
        .names
        .iter()
        .map(String::as_str)
        .zip(frame.terms.iter().map(String::as_str))
        .collect();
    assert_eq!(found["f[b]:x"], "f:x");
    assert_eq!(found["poly(z, 2)[1]"], "poly(z, 2)");
    assert_eq!(found["odd name"], "odd name");
}

/// Notes about a design, without those about base levels.
fn advice(text: &str, formula: &str) -> Vec<String> {
    let frame = ask(text, formula, |_| {}).unwrap();
    frame.notes.into_iter().filter(|note| !note.contains("base level")).collect()
}

/// A table of 60 rows.
fn rows(header: &str, row: impl Fn(usize) -> String) -> String {
    let rows: String = (0..60).map(|k| row(k) + "\n").collect();
    format!("{header}\n{rows}")
}

#[test]
fn columns_that_may_not_be_amounts_are_noted() {
    let text = rows("y,race,id,patient_id,children,year", |k| {
        format!("{},{},{},{},{},{}", k % 7, 1 + k % 4, k + 1, 900 + 7 * k, k % 5, 1960 + k)
    });
    let notes = advice(&text, "y ~ race");
    assert_eq!(
        notes,
        [
            "column `race` has only the values 1, 2, 3, 4, and its coefficient is an effect per unit: \
          if they are codes of groups, pass --factor race"
        ]
    );
    for id in ["id", "patient_id"] {
        let notes = advice(&text, &format!("y ~ {id}"));
        assert!(notes[0].contains(&format!("leave it out with --exclude {id}")), "{notes:?}");
    }
    assert!(advice(&text, "y ~ children + year").is_empty());
    assert!(advice(&text, "y ~ factor(race)").is_empty());
    let text = rows("y,day", |k| format!("{},2024-03-{:02}", k % 7, 1 + k % 3));
    assert!(advice(&text, "y ~ day")[0].contains("days(day) in a formula"));
}

#[test]
fn columns_that_others_determine_are_noted() {
    let text = rows("y,a,b,total,district,school", |k| {
        let (a, b) = (k % 7, (k * k) % 11);
        format!("{},{a},{b},{},d{},s{}", k % 5, a + 2 * b, k % 2, k % 6)
    });
    let notes = advice(&text, "y ~ a + b + total");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("`total` = `a` + 2 `b`: the data cannot tell"), "{notes:?}");
    let notes = advice(&text, "y ~ district + school");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with("`school` is nested in `district`"), "{notes:?}");
    let notes = advice(&text, "y ~ district:school");
    assert!(notes[0].starts_with("no row has `district[d1]:school[s0]`"), "{notes:?}");
    assert!(advice(&text, "y ~ a + b + school").is_empty());
}

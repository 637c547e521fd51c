//! Questions about a table: the resulting design, and every error.

use std::sync::{Barrier, Mutex};

use ridgewalk_frame::{
    Column, Combine, DataError, Draft, Facts, FamilyName, Formula, Frame, Part, Question, Row,
    Table,
};

fn ask(text: &str, change: impl FnOnce(&mut Question)) -> Result<Frame, DataError> {
    let mut question = Question::new("y", FamilyName::Logistic);
    change(&mut question);
    Frame::new(&Table::from_bytes("d.csv", text.as_bytes())?, &question)
}

fn gaussian(question: &mut Question) {
    question.family = FamilyName::Gaussian;
}

fn refused(text: &str, change: impl FnOnce(&mut Question)) -> String {
    ask(text, change).unwrap_err().to_string()
}

#[track_caller]
fn starts(message: &str, start: &str) {
    assert!(message.starts_with(start), "\n got: {message}\nneed: {start}");
}

/// `y` on these columns.
fn on(names: &[&str]) -> Formula {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    Formula::of_columns("y", Some(&names))
}

fn no_intercept(question: &mut Question) {
    question.formula = question.formula.clone().without_intercept();
}

#[test]
fn numbers_and_texts_become_a_design() {
    let text = "x,city,y\n1,Oslo,0\n2,Bergen,1\n3,Oslo,1\n4,Aas,0\n5,Aas,1\n";
    let frame = ask(text, |_| {}).unwrap();
    assert_eq!(frame.names, ["(Intercept)", "x", "city[Bergen]", "city[Oslo]"]);
    assert_eq!((frame.rows, frame.columns), (5, 4));
    assert_eq!(frame.row(0), [1.0, 1.0, 0.0, 1.0]);
    assert_eq!(frame.row(1), [1.0, 2.0, 1.0, 0.0]);
    assert_eq!(frame.row(4), [1.0, 5.0, 0.0, 0.0]);
    assert_eq!(frame.response, [0.0, 1.0, 1.0, 0.0, 1.0]);
    assert_eq!(frame.lines[4], Row::Line(6));
    assert_eq!(frame.scaling, None);
    assert_eq!(
        frame.notes,
        [
            "column `city` is text: its base level is `Aas`, its coefficients are `city[Bergen]`, `city[Oslo]`"
        ]
    );
    // Coefficients keep the order of the list.
    let frame = ask(text, |q| q.formula = on(&["city", "x"])).unwrap();
    assert_eq!(frame.names, ["(Intercept)", "city[Bergen]", "city[Oslo]", "x"]);
    // Without an intercept each level has its own constant.
    let frame = ask(text, no_intercept).unwrap();
    assert_eq!(frame.names, ["x", "city[Aas]", "city[Bergen]", "city[Oslo]"]);
    assert!(frame.notes[0].contains("each level has a coefficient"), "{:?}", frame.notes);
    let frame = ask(text, |q| q.formula = on(&[])).unwrap();
    assert_eq!(frame.names, ["(Intercept)"]);
}

#[test]
fn standardized_columns_have_mean_0_and_deviation_1() {
    let text = "x,city,y\n1,a,0\n2,b,1\n3,a,1\n6,a,0\n";
    let frame = ask(text, |q| q.standardize = true).unwrap();
    let scaling = frame.scaling.as_ref().unwrap();
    assert_eq!(scaling[0], (0.0, 1.0));
    assert_eq!(scaling[1], (3.0, 3.5_f64.sqrt()));
    assert_eq!(scaling[2], (0.25, 0.1875_f64.sqrt()));
    assert_eq!(frame.row(3)[1], 3.0 / 3.5_f64.sqrt());
    assert_eq!(frame.row(0)[2], -0.25 / 0.1875_f64.sqrt());
    let frame = ask(text, |q| {
        q.standardize = true;
        no_intercept(q);
    })
    .unwrap();
    assert_eq!(frame.names, ["x", "city[b]"]);
    assert!(frame.notes.iter().any(|note| note.contains("centred although there is no intercept")));
}

#[test]
fn unknown_columns_and_columns_with_two_roles() {
    let text = "age,height,y,w\n1,2,0,1\n2,3,1,1\n3,9,1,2\n";
    starts(
        &refused(text, |q| q.formula = Formula::of_columns("Y", None)),
        "d.csv: found no column `Y` for --response; did you mean `y`?",
    );
    starts(
        &refused(text, |q| q.formula = on(&["age", "heigth"])),
        "d.csv: found no column `heigth` for --predictors; did you mean `height`?",
    );
    let message = refused(text, |q| q.weights = Some("something".into()));
    assert!(message.ends_with("for --weights; available: `age`, `height`, `y`, `w`"), "{message}");
    starts(
        &refused(text, |q| q.formula = on(&["age", "y"])),
        "column `y` is used by both --response and --predictors",
    );
    starts(
        &refused(text, |q| q.offset = Some("y".into())),
        "column `y` is used by both --response and --offset",
    );
    starts(&refused(text, |q| q.formula = on(&["age", "age"])), "column `age` is listed twice");
    let none = |q: &mut Question| q.formula = on(&[]).without_intercept();
    starts(&refused(text, none), "found no predictors and no intercept");
    // Columns with another role are not predictors.
    let frame = ask(text, |q| q.weights = Some("w".into())).unwrap();
    assert_eq!(frame.names, ["(Intercept)", "age", "height"]);
    assert_eq!(frame.weights.unwrap(), [1.0, 1.0, 2.0]);
}

#[test]
fn text_among_numbers_is_reported_with_line_column_and_value() {
    let text = "age,y,note\n31,0,a\n,1,b\nabc,1,c\n12,0,7\n";
    assert_eq!(
        refused(text, |q| q.formula = on(&["age"])),
        "d.csv, line 4, column `age`: found `abc`, need a number as in line 2 (`31`); correct it, or leave the column \
         out with --exclude"
    );
    // A number among texts is an error too; unused columns are not checked.
    starts(
        &refused(text, |q| q.formula = on(&["note"])),
        "d.csv, line 2, column `note`: found `a`, need a number as in line 5 (`7`)",
    );
    assert!(ask(text, |q| q.formula = on(&[])).is_ok());
    let message = refused("x,y\n1,0\n2,one\n3,1\n", |_| {});
    assert!(message.ends_with("need a number as in line 2 (`0`); correct it"), "{message}");
    starts(
        &refused("x;y\n1,5;0\n2,5;1\n2,7;1\n", |_| {}),
        "d.csv, line 2, column `x`: found `1,5`, need a number with a decimal point and no commas (1.5)",
    );
    starts(
        &refused("x,y,w\n1,0,a\n2,1,b\n", |q| q.weights = Some("w".into())),
        "d.csv, line 2, column `w`: found the text `a`, need positive numbers as weights",
    );
}

#[test]
fn missing_values_are_counted_or_left_out() {
    let text = "age,bmi,y\n1,NA,0\nn/a,3,1\n3,,0\n4,5,1\n5,6,\n6,8,0\n";
    assert_eq!(
        refused(text, |_| {}),
        "d.csv: found missing values in column `age` (1, first in line 3), column `bmi` (2, first in line 2), column \
         `y` (1, first in line 6); pass --drop-missing to leave out these rows (4 of 6)"
    );
    let frame = ask(text, |q| q.drop_missing = true).unwrap();
    assert_eq!(frame.lines, [Row::Line(5), Row::Line(7)]);
    assert_eq!(frame.row(1), [1.0, 6.0, 8.0]);
    assert_eq!(frame.notes[0], "left out 4 of 6 rows with missing values in `age`, `bmi`, `y`");
    // Unused columns may have missing values.
    assert!(ask("a,b,y\n1,,0\n2,3,1\n", |q| q.formula = on(&["a"])).is_ok());
    starts(
        &refused("a,y\n1,0\n,1\n,1\n", |q| q.drop_missing = true),
        "d.csv: found 1 usable row, need at least two (2 left out for missing values)",
    );
    starts(&refused("a,y\n,0\nNA,1\n", |_| {}), "d.csv, column `a`: found only missing values");
    starts(&refused("a,y\n1,0\n", |_| {}), "d.csv: found 1 usable row, need at least two");
}

#[test]
fn numbers_too_large_or_small_to_compute_with() {
    for value in ["inf", "-Infinity", "1e999"] {
        let message = refused(&format!("x,y\n1,0\n{value},1\n"), |_| {});
        starts(
            &message,
            &format!(
                "d.csv, line 3, column `x`: found `{value}`, need a finite number of at most 1e100"
            ),
        );
    }
    starts(
        &refused("x,y\n1,0\n-1e308,1\n", |_| {}),
        "d.csv, line 3, column `x`: found `-1e308`, need a finite number",
    );
    starts(
        &refused("x,y\n1e-200,0\n0,1\n", |_| {}),
        "d.csv, column `x`: found no magnitude above 1e-200",
    );
    starts(
        &refused("x,y,o\n1,0,1e400\n2,1,2\n", |q| q.offset = Some("o".into())),
        "d.csv, line 2, column `o`: found `1e400`",
    );
    let frame = ask("x,y\n1e99,0\n-2e99,1\n", |q| q.standardize = true).unwrap();
    assert!(frame.design.dense().iter().all(|value| value.is_finite()));
}

#[test]
fn predictors_that_do_not_vary() {
    let text = "x,k,y\n1,3,0\n2,3,1\n";
    assert_eq!(
        refused(text, |_| {}),
        "d.csv, column `k`: found `3` in every row, need values that differ because there is an intercept; leave the column out \
         with --exclude"
    );
    // A constant may replace the intercept, unless it is standardized or zero.
    assert!(ask(text, no_intercept).is_ok());
    starts(
        &refused(text, |q| {
            q.standardize = true;
            no_intercept(q);
        }),
        "d.csv, column `k`: found `3` in every row",
    );
    starts(
        &refused("x,k,y\n1,0,0\n2,0,1\n", no_intercept),
        "d.csv, column `k`: found `0` in every row",
    );
    starts(
        &refused("x,k,y\n1,u,0\n2,u,1\n3,u,1\n", |_| {}),
        "d.csv, column `k`: found `u` in every row",
    );
    // Varies only in rows that are left out.
    let gaps = "x,k,y\n1,3,0\n2,3,1\n,4,1\n";
    starts(&refused(gaps, |q| q.drop_missing = true), "d.csv, column `k`: found `3` in every row");
    let rounding = "x,k,y\n1,0.3,0\n2,0.30000000000000004,1\n3,0.3,1\n";
    assert!(refused(rounding, |q| q.standardize = true).contains("differ by more than rounding"));
}

#[test]
fn responses_that_are_invalid_for_the_family() {
    assert_eq!(
        refused("x,y\n1,1\n2,2\n3,1\n", |_| {}),
        "d.csv, line 3, column `y`: found 2, need 0 or 1 (or successes, with --trials) for the logistic family (values \
         seen: 1, 2)"
    );
    let message = refused("x,y\n1,0.7\n2,1\n3,0\n", |q| q.family = FamilyName::Probit);
    starts(&message, "d.csv, line 2, column `y`: found 0.7, need 0 or 1");
    let poisson = |q: &mut Question| q.family = FamilyName::Poisson;
    starts(
        &refused("x,y\n1,3\n2,1.5\n", poisson),
        "d.csv, line 3, column `y`: found 1.5, need a whole number of at least 0",
    );
    starts(
        &refused("x,y\n1,3\n2,-1\n", poisson),
        "d.csv, line 3, column `y`: found -1, need a whole number",
    );
    let many: String = (0..30).map(|row| format!("{row},{}\n", row * 2)).collect();
    let message = refused(&format!("x,y\n{many}"), |_| {});
    assert!(message.ends_with("(values seen: 0, 2, 4, 6, 8, 10, and 24 more)"), "{message}");
    for family in [FamilyName::Gaussian, FamilyName::RobustHuber, FamilyName::RobustLogistic] {
        assert!(ask("x,y\n1,-0.7\n2,3e5\n", |q| q.family = family).is_ok());
    }
    let frame = ask("x,y\n1,0\n2,0\n", |_| {}).unwrap();
    assert_eq!(frame.notes, ["the response `y` is 0 in every row"]);
}

#[test]
fn a_text_response_of_two_levels_becomes_0_and_1_with_a_note() {
    let text = "x,y\n1,malignant\n2,benign\n3,malignant\n4,benign\n";
    let frame = ask(text, |_| {}).unwrap();
    assert_eq!(frame.response, [1.0, 0.0, 1.0, 0.0]);
    assert_eq!(frame.notes, ["the response `y` is text: `malignant` counts as 1, `benign` as 0"]);
    starts(
        &refused(text, gaussian),
        "d.csv, column `y`: found the texts `benign`, `malignant`, need numbers as the response",
    );
    starts(
        &refused("x,y\n1,a\n2,b\n3,c\n4,c\n", |_| {}),
        "d.csv, column `y`: found the texts `a`, `b`, `c`, need 0 and 1, or two",
    );
    starts(
        &refused("x,y\n1,a\n2,a\n3,a\n", |_| {}),
        "d.csv, column `y`: found the texts `a`, need 0 and 1, or two",
    );
}

#[test]
fn trials_offsets_and_weights() {
    let text = "x,y,n,o,w\n1,3,5,0.1,1\n2,0,2,-4,2\n3,2,2,0,0.5\n";
    let frame = ask(text, |q| {
        (q.trials, q.offset, q.weights) = (Some("n".into()), Some("o".into()), Some("w".into()))
    });
    let frame = frame.unwrap();
    assert_eq!(frame.names, ["(Intercept)", "x"]);
    assert_eq!(frame.trials.unwrap(), [5.0, 2.0, 2.0]);
    assert_eq!(frame.offset.unwrap(), [0.1, -4.0, 0.0]);
    assert_eq!(frame.weights.unwrap(), [1.0, 2.0, 0.5]);
    let trials = |q: &mut Question| q.trials = Some("n".into());
    starts(
        &refused("x,y,n\n1,3,5\n2,3,2\n", trials),
        "d.csv, line 3, column `y`: found 3 successes, need at most the 2 trials of column `n`",
    );
    starts(
        &refused("x,y,n\n1,3,5\n2,0,0\n", trials),
        "d.csv, line 3, column `n`: found 0, need a whole number of trials",
    );
    starts(
        &refused("x,y,n\n1,0.5,5\n2,0,1\n", trials),
        "d.csv, line 2, column `y`: found 0.5, need a whole number of successes",
    );
    starts(
        &refused("x,y,n\n1,3,5\n2,0,1\n", |q| {
            (q.trials, q.family) = (Some("n".into()), FamilyName::Poisson)
        }),
        "--trials needs the family logistic or probit, found poisson",
    );
    starts(
        &refused("x,y,w\n1,0,2\n2,1,-1\n", |q| q.weights = Some("w".into())),
        "d.csv, line 3, column `w`: found -1, need a weight of at least 0",
    );
}

#[test]
fn identifiers_are_not_taken_for_groups() {
    let rows = |count: usize, id: fn(usize) -> usize| -> String {
        (0..count).map(|row| format!("p{},{row},{}\n", id(row), row % 2)).collect()
    };
    let each = format!("id,x,y\n{}", rows(100, |row| row));
    assert_eq!(
        refused(&each, |_| {}),
        "d.csv, column `id`: found 100 distinct texts in 100 rows, need a few that repeat; is this an identifier? Leave it \
         out with --exclude"
    );
    assert!(ask(&each, |q| q.formula = on(&["x"])).is_ok());
    starts(
        &refused(&format!("id,x,y\n{}", rows(4000, |row| 2 * row / 3)), |_| {}),
        "d.csv, column `id`: found 2667 distinct texts",
    );
    let many = format!("id,x,y\n{}", rows(120_000, |row| row));
    starts(
        &refused(&many, |_| {}),
        "d.csv, column `id`: found more than 100000 distinct texts in 120000 rows",
    );
    assert!(ask(&format!("id,x,y\n{}", rows(100, |row| row % 30)), |_| {}).is_ok());
}

#[test]
fn names_of_coefficients_are_unique_and_printable() {
    starts(
        &refused("a,a[v],y\nu,1,0\nv,2,1\nu,3,1\n", |_| {}),
        "d.csv, column `a[v]`: found two coefficients named `a[v]`",
    );
    starts(
        &refused("(Intercept),y\n1,0\n2,1\n", |_| {}),
        "d.csv, column `(Intercept)`: found two coefficients",
    );
    starts(
        &refused("a,y\nu,0\n\"v\nw\",1\nu,1\n", |_| {}),
        "d.csv, column `a`: found `a[v\\nw]` as a name, need names without line breaks",
    );
}

#[test]
fn a_very_long_name_works_and_is_shown_whole() {
    let name = "n".repeat(300);
    let text = format!("{name},y\n1,0\n2,1\n");
    let frame = ask(&text, |q| q.formula = on(&[&name])).unwrap();
    assert_eq!(frame.names[1], name);
    let message = refused(&format!("{name},y\n1,0\nabc,1\n"), |_| {});
    assert!(message.contains(&format!("column `{name}`")), "{message}");
}

#[test]
fn more_coefficients_than_can_be_fitted() {
    let header: Vec<String> = (0..12_001).map(|index| format!("c{index}")).collect();
    let row = |value: &str| vec![value; 12_001].join(",");
    let text = format!("y,{}\n0,{}\n1,{}\n", header.join(","), row("1"), row("2"));
    starts(&refused(&text, |_| {}), "d.csv: found 12002 coefficients, need at most 12000");
}

#[test]
fn families_are_named_as_on_the_command_line() {
    let names: Vec<String> = FamilyName::ALL.iter().map(ToString::to_string).collect();
    let six = ["logistic", "probit", "poisson", "gaussian", "robust-logistic", "robust-huber"];
    assert!(names.len() == 15 && six.iter().all(|name| names.contains(&(*name).to_owned())));
    for (family, name) in FamilyName::ALL.into_iter().zip(&names) {
        assert_eq!(name.parse(), Ok(family));
        assert_eq!(serde_json::to_value(family).unwrap(), *name);
    }
    assert!("logit".parse::<FamilyName>().is_err());
}

/// The tables of the parts of a text file.
fn parts_of(text: &str, parts: usize) -> Vec<Table> {
    let place = tempfile::tempdir().unwrap();
    let path = &place.path().join("d.csv");
    std::fs::write(path, text).unwrap();
    (0..parts).map(|number| Table::read_part(path, Part { number, of: parts }).unwrap()).collect()
}

/// The frames of the parts of a table, built by processes that exchange facts and sums.
fn in_parts(tables: &[Table], question: &Question) -> Result<Vec<Frame>, DataError> {
    let drafts: Vec<Draft<'_>> =
        tables.iter().map(|table| Draft::new(table, question)).collect::<Result<_, _>>()?;
    // Processes exchange facts as text.
    let facts = drafts.iter().map(|draft| serde_json::to_string(&draft.facts().unwrap()).unwrap());
    let facts = facts.map(|text| serde_json::from_str(&text).unwrap());
    let facts = Facts::merge("d.csv", facts)?;
    let mut frames: Vec<Frame> =
        drafts.iter().map(|draft| draft.finish(&facts)).collect::<Result<_, _>>()?;
    if question.standardize {
        standardize(&mut frames)?;
    }
    Ok(frames)
}

/// One thread per part; their numbers are combined at a barrier.
fn standardize(frames: &mut [Frame]) -> Result<(), DataError> {
    let barrier = &Barrier::new(frames.len());
    let numbers = &Mutex::new(vec![0.0; frames.len()]);
    std::thread::scope(|scope| {
        let threads: Vec<_> = frames
            .iter_mut()
            .enumerate()
            .map(|(part, frame)| {
                scope.spawn(move || {
                    frame.standardize(|combine, mine| {
                        numbers.lock().unwrap()[part] = mine[0];
                        barrier.wait();
                        let all = numbers.lock().unwrap().clone();
                        mine[0] = match combine {
                            Combine::Sum => all.iter().sum(),
                            Combine::Largest => all.into_iter().fold(f64::NEG_INFINITY, f64::max),
                        };
                        barrier.wait();
                    })
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

#[test]
fn parts_of_the_rows_make_one_frame() {
    // Only the last part has one of the levels and responses; there are a quoted line break and a
    // missing value.
    let text = "x,city,y,note\n1,Oslo,0,\n2.5,Bergen,0,\n\n7,Oslo,0,\"a\nb\"\nNA,Oslo,1,\n4,Oslo,0,\n5,Aas,1,\n-3,Bergen,1,\n";
    let question = Question {
        formula: on(&["x", "city"]),
        standardize: true,
        drop_missing: true,
        ..Question::new("y", FamilyName::Logistic)
    };
    let whole =
        Frame::new(&Table::from_bytes("d.csv", text.as_bytes()).unwrap(), &question).unwrap();
    for parts in [1, 2, 3] {
        let frames = in_parts(&parts_of(text, parts), &question).unwrap();
        let all =
            |of: fn(&Frame) -> &Vec<f64>| frames.iter().flat_map(of).copied().collect::<Vec<_>>();
        assert_eq!(all(|frame| &frame.response), whole.response);
        assert_eq!(
            frames.iter().flat_map(|frame| &frame.lines).copied().collect::<Vec<_>>(),
            whole.lines
        );
        let design: Vec<f64> =
            frames.iter().flat_map(|frame| frame.design.dense().into_owned()).collect();
        for (found, need) in design.iter().zip(&*whole.design.dense()) {
            assert!((found - need).abs() < 1e-14, "{parts}: {found} and {need}");
        }
        for frame in &frames {
            assert_eq!((&frame.names, &frame.notes), (&whole.names, &whole.notes), "{parts}");
            assert_eq!((frame.all_rows, &frame.scaling), (whole.rows, &frames[0].scaling));
        }
    }
}

#[test]
fn parts_with_other_columns_or_another_order_of_them_are_refused() {
    let first = "y,a,b\n0,1,2\n1,3,5\n0,2,9\n";
    for second in [
        "y,b,a\n0,1,2\n1,3,5\n0,2,9\n",
        "y,a,c\n0,1,2\n1,3,5\n0,2,9\n",
        "y,a,b,c\n0,1,2,1\n1,3,5,2\n0,2,9,5\n",
    ] {
        let tables = [first, second].map(|t| Table::from_bytes("d.csv", t.as_bytes()).unwrap());
        let error = in_parts(&tables, &Question::new("y", FamilyName::Logistic)).unwrap_err();
        assert!(matches!(error, DataError::OtherColumns { part: 1, .. }), "{error}");
    }
}

#[test]
fn errors_that_depend_on_all_rows_are_found_in_parts_too() {
    let question = Question::new("y", FamilyName::Logistic);
    let cases = [
        ("x,z,y\n1,4,0\n1,5,1\n1,6,0\n1,4,1\n", "found `1` in every row"),
        ("x,y\n1,0\n2,1\na,0\nb,1\n", "found numbers in one part of the rows and text in another"),
    ];
    for (text, need) in cases {
        let error = in_parts(&parts_of(text, 2), &question).unwrap_err().to_string();
        assert!(error.contains(need), "{error}");
    }
    // A bad value is reported by the part that has it.
    let cases = [
        ("x,y\n1,0\n2,1\n3,0\n4,5\n", 1, "d.csv, line 5"),
        ("x,y\n1,0\n2,1\n3,0\nNA,1\n", 1, "found missing values in column `x`"),
        ("x,y\n1e200,0\n2,1\n3,0\n4,1\n", 0, "d.csv, line 2"),
    ];
    for (text, at, need) in cases {
        for (number, table) in parts_of(text, 2).iter().enumerate() {
            match Draft::new(table, &question) {
                Ok(_) => assert_ne!(number, at, "{text}"),
                Err(error) => {
                    assert!(number == at && error.to_string().contains(need), "{error}");
                }
            }
        }
    }
    // Constant within each part but not overall.
    assert!(in_parts(&parts_of("x,y\n1,0\n1,1\n2,0\n2,1\n", 2), &question).is_ok());
}

#[test]
fn levels_in_an_order_of_their_own_keep_it() {
    let y = Column::from_numbers("y", &[1.0, 2.0, 3.0, 5.0, 4.0, 6.0]);
    // `none` does not occur, the last row has none, and the first in natural order is not the base.
    let levels = ["none", "small", "large", "big"];
    let size = |codes: [u32; 6]| Column::from_levels("size", &levels, codes.to_vec());
    let of = |column: Column| {
        let table = Table::from_columns("shop", vec![y.clone(), column]).unwrap();
        let question = Question { drop_missing: true, ..Question::new("y", FamilyName::Gaussian) };
        (Frame::new(&table, &question).unwrap(), table.digest().to_owned())
    };
    let (frame, digest) = of(size([1, 2, 3, 2, 1, 9]));
    assert_eq!(frame.names, ["(Intercept)", "size[large]", "size[big]"]);
    assert_eq!(frame.rows, 5);
    assert!(frame.notes.iter().any(|note| note == "no row has these levels of `size`: `none`"));
    let texts = ["small", "large", "big", "large", "small", ""];
    let (plain, other) = of(Column::from_texts("size", &texts));
    assert_eq!(plain.names, ["(Intercept)", "size[large]", "size[small]"]);
    assert_ne!(digest, other, "another order is other data");
    // The response goes up through them.
    let table = Table::from_columns(
        "shop",
        vec![size([1, 2, 3, 2, 1, 3]), Column::from_numbers("x", &[1.0, 2.0, 4.0, 3.0, 1.0, 5.0])],
    )
    .unwrap();
    let frame = Frame::new(&table, &Question::new("size", FamilyName::Ordinal)).unwrap();
    assert_eq!(frame.levels, ["small", "large", "big"]);
    assert_eq!(frame.response, [0.0, 1.0, 2.0, 1.0, 0.0, 2.0]);
}

#[test]
fn a_column_that_cannot_be_used_is_an_error_only_where_it_is_used() {
    let y = Column::from_numbers("y", &[1.0, 2.0, 3.0, 5.0]);
    let x = Column::from_numbers("x", &[1.0, 2.0, 4.0, 3.0]);
    let odd = Column::unusable("odd", "list");
    let table = Table::from_columns("data", vec![y, x, odd]).unwrap();
    let of = |formula: &str| {
        let question = Question::of_formula(formula.parse().unwrap(), FamilyName::Gaussian);
        Frame::new(&table, &question)
    };
    assert!(of("y ~ x").is_ok());
    let error = of("y ~ odd").unwrap_err().to_string();
    assert!(error.starts_with("data, column `odd`: found values of type list, need"), "{error}");
    let error = of("y ~ days(odd)").unwrap_err().to_string();
    assert!(error.starts_with("column `odd` has values of type list, need dates"), "{error}");
}

#[test]
fn new_rows_have_the_types_of_the_fit() {
    let numbers = |name: &str, values: &[f64]| Column::from_numbers(name, values);
    let old = Table::from_columns(
        "old",
        vec![
            numbers("y", &[1.0, 0.0, 1.0, 0.0, 1.0, 0.0]),
            numbers("x", &[0.0, 2.0, 4.0, 2.0, 3.0, 1.0]),
            Column::from_texts("sex", &["f", "m", "f", "m", "f", "m"]),
            Column::from_texts("band", &["<25", "25", "30", "<25", "25", "30"]),
        ],
    )
    .unwrap();
    let question =
        Question::of_formula("y ~ x + sex * band".parse().unwrap(), FamilyName::Gaussian);
    let coding = Frame::new(&old, &question).unwrap().coding;
    let code = |text: &str| coding.rows(&Table::from_bytes("new.csv", text.as_bytes()).unwrap());
    // A file whose bands are all numbers: they are levels all the same.
    let rows = code("x,sex,band\n1,f,25\n2,m,30\n").unwrap();
    let design = rows.design.dense();
    // (Intercept), x, sex[m], band[25], band[30], sex[m]:band[25], sex[m]:band[30].
    assert_eq!(design[..7], [1.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(design[7..], [1.0, 2.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
    // Numbers in place of text are levels that the fit has not seen, not numbers to be multiplied.
    for (text, message) in [
        ("x,sex,band\n1,7,25\n", "new.csv, line 2, column `sex`: found the level `7`"),
        ("x,sex,band\n1,f,26\n", "new.csv, line 2, column `band`: found the level `26`"),
        ("x,sex,band\nhigh,f,25\n", "new.csv, line 2, column `x`: found the text `high`"),
    ] {
        let error = code(text).unwrap_err().to_string();
        assert!(error.starts_with(message), "{error}");
    }
}

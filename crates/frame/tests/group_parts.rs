//! Group effects and smooths of a table in parts: levels, knots and names are those of the whole
//! table, and the rows are its rows.

use std::time::Instant;

use ridgewalk_frame::{
    Column, Combine, DataError, Draft, Facts, FamilyName, Frame, GroupEntries, Question, Table,
};

/// Parts of different sizes, by the first row of each.
const CUTS: [&[usize]; 3] = [&[0], &[0, 37], &[0, 8, 60]];

fn text() -> String {
    let path = format!("{}/tests/data/groups/data.csv", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn table(text: &str) -> Table {
    Table::from_bytes("data.csv", text.as_bytes()).unwrap()
}

fn question(formula: &str) -> Question {
    let formula = formula.parse().unwrap_or_else(|error| panic!("{formula}: {error}"));
    Question::of_formula(formula, FamilyName::Gaussian)
}

/// The parts of a text that begin at these rows.
fn cut(text: &str, firsts: &[usize]) -> Vec<Table> {
    let (names, rows) = text.split_once('\n').unwrap();
    let rows: Vec<&str> = rows.lines().collect();
    let ends = firsts.iter().skip(1).copied().chain([rows.len()]);
    let part = |(&first, end): (&usize, usize)| {
        table(&format!("{names}\n{}", rows[first..end].join("\n")))
    };
    firsts.iter().zip(ends).map(part).collect()
}

/// The frames of the parts, made as processes do that exchange their facts as text.
fn in_parts(tables: &[Table], question: &Question) -> Result<Vec<Frame>, DataError> {
    let drafts: Vec<Draft<'_>> =
        tables.iter().map(|table| Draft::new(table, question)).collect::<Result<_, _>>()?;
    let facts: Vec<Facts> = drafts.iter().map(Draft::facts).collect::<Result<_, _>>()?;
    let facts = facts
        .iter()
        .map(|facts| serde_json::from_str(&serde_json::to_string(facts).unwrap()).unwrap());
    let facts = Facts::merge("data.csv", facts)?;
    let frames: Vec<Frame> =
        drafts.iter().map(|draft| draft.finish(&facts)).collect::<Result<_, _>>()?;
    check_slopes(&frames)?;
    Ok(frames)
}

/// The check of all parts. In place of messages: the largest numbers of each part alone, combined.
fn check_slopes(frames: &[Frame]) -> Result<(), DataError> {
    let mut all: Vec<Vec<Vec<f64>>> = Vec::new();
    for frame in frames {
        let mut own = Vec::new();
        // An error of one part alone says nothing.
        let _ = frame.check_slopes(|_, numbers| {
            own.push(numbers.to_vec());
            numbers.fill(1.0);
        });
        all.push(own);
    }
    let done = frames.iter().map(|frame| {
        let mut next = 0;
        frame.check_slopes(|how, numbers| {
            assert_eq!(how, Combine::Largest);
            for own in &all {
                numbers
                    .iter_mut()
                    .zip(&own[next])
                    .for_each(|(most, other)| *most = most.max(*other));
            }
            next += 1;
        })
    });
    let done: Vec<Result<(), DataError>> = done.collect();
    let said = |done: &Result<(), DataError>| done.as_ref().err().map(ToString::to_string);
    assert!(done.iter().all(|other| said(other) == said(&done[0])));
    done.into_iter().collect()
}

/// Checks that parts have the coding, the levels and the rows of the whole table.
fn same(whole: &Frame, parts: &[Frame], what: &str) {
    let design: Vec<f64> = parts.iter().flat_map(|part| part.design.dense().into_owned()).collect();
    assert_eq!(design, *whole.design.dense(), "{what}");
    for part in parts {
        assert_eq!((&part.names, &part.coding), (&whole.names, &whole.coding), "{what}");
        assert_eq!((part.all_rows, part.groups.len()), (whole.rows, whole.groups.len()), "{what}");
    }
    for (k, need) in whole.groups.iter().enumerate() {
        let mut found = GroupEntries::Basis(Vec::new());
        for part in parts.iter().map(|part| &part.groups[k]) {
            assert_eq!((&part.name, part.smooth), (&need.name, need.smooth), "{what}");
            assert_eq!(part.coefficients, need.coefficients, "{what}");
            assert_eq!(part.levels, need.levels, "{what}");
            found = match (found, part.entries.clone()) {
                (
                    GroupEntries::Levels { mut level, mut values },
                    GroupEntries::Levels { level: more, values: others },
                ) => {
                    level.extend(more);
                    values.extend(others);
                    GroupEntries::Levels { level, values }
                }
                (GroupEntries::Basis(mut values), GroupEntries::Basis(more)) => {
                    values.extend(more);
                    GroupEntries::Basis(values)
                }
                (_, other) => other,
            };
        }
        assert_eq!(found, need.entries, "{what}");
    }
}

#[test]
fn parts_have_the_groups_of_the_whole_table() {
    let text = text();
    for formula in [
        "y ~ x + (1 | school)",
        "y ~ (x | school) + (1 | pupil)",
        "y ~ (1 | school/class)",
        "y ~ (1 | school:class:f) + (0 + z | school)",
        "y ~ (1 | class) + (1 | factor(class):h)",
        "y ~ (1 | floor(2 * x)) + (z | sign(x))",
        "y ~ (scale(x) + f | school)",
        "y ~ (poly(z, 2) | pupil) + (0 + f || school)",
        "y ~ x * f + s(t, k = 6) + (1 | school)",
        "y ~ s(t, k = 5, by = f) + f",
        "y ~ s(t, k = 5, by = factor(h)) + s(z, k = 4, by = x)",
        "y ~ s(log(z + 10), k = 7) + (cut(x, 2) | school)",
    ] {
        let question = question(formula);
        let whole = Frame::new(&table(&text), &question);
        let whole = whole.unwrap_or_else(|error| panic!("{formula}: {error}"));
        for cuts in CUTS {
            let parts = in_parts(&cut(&text, cuts), &question);
            let parts = parts.unwrap_or_else(|error| panic!("{formula}: {error}"));
            same(&whole, &parts, formula);
        }
    }
    let factor = Question { factors: vec!["class".into()], ..question("y ~ (1 | class)") };
    let whole = Frame::new(&table(&text), &factor).unwrap();
    same(&whole, &in_parts(&cut(&text, CUTS[2]), &factor).unwrap(), "--factor");
}

/// Sorted by a column, parts share at most one of its levels: their own numbers of levels would not
/// do.
#[test]
fn levels_may_be_in_one_part_only() {
    let text = text();
    let (names, rows) = text.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.sort_by_key(|row| row.split(',').nth(7).unwrap().parse::<u32>().unwrap());
    let text = format!("{names}\n{}\n", rows.join("\n"));
    let question = question("y ~ (x | pupil) + (1 | school:pupil)");
    let whole = Frame::new(&table(&text), &question).unwrap();
    let tables = cut(&text, CUTS[2]);
    let parts = in_parts(&tables, &question).unwrap();
    same(&whole, &parts, "sorted");
    let own = Frame::new(&tables[0], &question).unwrap();
    assert!(own.groups[0].levels.len() < whole.groups[0].levels.len());
}

#[test]
fn an_order_of_levels_that_was_given_holds_in_parts() {
    let levels = ["z", "b", "unused", "a"];
    let part = |codes: &[u32], y: &[f64]| {
        let x: Vec<f64> = y.iter().map(|y| y * y).collect();
        let columns = vec![
            Column::from_levels("g", &levels, codes.to_vec()),
            Column::from_numbers("y", y),
            Column::from_numbers("x", &x),
        ];
        Table::from_columns("d", columns).unwrap()
    };
    let all = part(&[3, 1, 3, 1, 1, 0, 3, 0, 0], &[1., 2., 4., 5., 3., 7., 6., 2.5, 8.]);
    let parts =
        [part(&[3, 1, 3], &[1., 2., 4.]), part(&[1, 1, 0, 3, 0, 0], &[5., 3., 7., 6., 2.5, 8.])];
    for formula in ["y ~ (1 | g)", "y ~ s(x, k = 4, by = g)"] {
        let question = question(formula);
        let whole = Frame::new(&all, &question).unwrap();
        match &whole.groups[..] {
            [group] => assert_eq!(group.levels, ["z", "b", "a"]),
            smooths => assert!(smooths.iter().map(|s| &s.name[5..]).eq(["g[z]", "g[b]", "g[a]"])),
        }
        same(&whole, &in_parts(&parts, &question).unwrap(), formula);
    }
}

/// What is said about groups needs all rows, and so does what is refused.
#[test]
fn notes_and_errors_are_those_of_all_rows() {
    let single = "y,g\n1,a\n2,b\n4,c\n5,d\n3,e\n6,f\n";
    let twice = "y,g\n1,a\n2,b\n4,c\n5,a\n3,b\n6,c\n";
    let need = "every level of `g` has one row: its effects cannot be told from the noise";
    for (text, need) in [(single, Some(need)), (twice, None)] {
        let parts = in_parts(&cut(text, &[0, 3]), &question("y ~ (1 | g)")).unwrap();
        let found =
            parts.iter().map(|part| part.notes.iter().find(|note| note.contains("every level")));
        assert!(
            found.clone().all(|found| found.map(String::as_str) == need),
            "{:?}",
            parts[0].notes
        );
    }
    let rows = "y,x,g,h,w\n1,0,a,1,0\n2,0,b,2,0\n4,0,a,1,0\n5,1,b,q,0\n3,4,a,r,0\n6,2,b,s,0\n";
    let tables = cut(rows, &[0, 3]);
    // The slope is 0 in the rows of one part.
    assert!(in_parts(&tables, &question("y ~ (x | g)")).is_ok());
    for (formula, need) in [
        (
            "y ~ (0 + w | g)",
            "data.csv: found 0 in every row for `w`, which varies with `g`, need another value in some row; leave it out of the bars",
        ),
        (
            "y ~ (1 | h)",
            "data.csv, column `h`: found numbers in one part of the rows and text in another, need the same type in all parts",
        ),
        ("y ~ (1 | w)", "data.csv, column `w`: found the level `0` only"),
        ("y ~ s(x, k = 5)", "found 4"),
    ] {
        let found = in_parts(&tables, &question(formula)).unwrap_err().to_string();
        assert!(found.contains(need), "{formula}: {found}");
    }
    // `p:q` with `r`, and `p` with `q:r`, in different parts.
    let clash = cut("y,a,b\n1,p:q,r\n2,p:q,s\n4,p,q:r\n5,t,u\n", &[0, 2]);
    let found = in_parts(&clash, &question("y ~ (1 | a:b)")).unwrap_err().to_string();
    assert!(found.contains("two combinations of levels that are both written `p:q:r`"), "{found}");
    // A number that is not finite is reported with its own row.
    let infinite = cut("y,x\n1,1\n2,2\n4,3\n5,0\n3,4\n6,5\n", &[0, 3]);
    let found = in_parts(&infinite, &question("y ~ s(log(x), k = 4)")).unwrap_err().to_string();
    assert!(found.contains("for log(x) (x = 0)"), "{found}");
}

/// What processes exchange is the text of levels once, and a few numbers for each; time does not grow
/// with pairs of levels.
#[test]
fn two_hundred_thousand_levels_in_parts_take_seconds() {
    let row = |k: u64| {
        let level = k.wrapping_mul(2_654_435_761) % 200_000;
        format!("{},id-{level},{level},{}\n", k % 13, k % 11)
    };
    let part = |rows: std::ops::Range<u64>| {
        table(&format!("y,g,n,x\n{}", rows.map(row).collect::<String>()))
    };
    let tables = [part(0..150_000), part(150_000..200_000), part(200_000..400_000)];
    let question = question("y ~ x + (x | g) + (1 | n) + (1 | g:n)");
    let drafts = tables.each_ref().map(|table| Draft::new(table, &question).unwrap());
    let start = Instant::now();
    let texts: Vec<Vec<u8>> =
        drafts.iter().map(|draft| serde_json::to_vec(&draft.facts().unwrap()).unwrap()).collect();
    let parts = texts.iter().map(|text| serde_json::from_slice(text).unwrap());
    let facts = Facts::merge("data.csv", parts).unwrap();
    let frame = drafts[1].finish(&facts).unwrap();
    let taken = start.elapsed();
    let [g, n, both] = &frame.groups[..] else { panic!("{:?}", frame.names) };
    assert!([g, n, both].iter().all(|group| group.levels.len() == 200_000));
    assert_eq!((g.levels[199_999].as_str(), n.levels[7].as_str()), ("id-199999", "7"));
    assert_eq!(both.levels[123_456], "id-123456:123456");
    // About 9 and 6 bytes of text; a number of a level and one of rows for each key and factor.
    assert!(texts[2].len() < 200_000 * 80, "{}", texts[2].len());
    let most = if cfg!(debug_assertions) { 120.0 } else { 30.0 };
    assert!(taken.as_secs_f64() < most, "{taken:?}");
    println!("{taken:?}, {} bytes", texts[2].len());
}

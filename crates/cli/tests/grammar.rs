//! The tables of docs/formulas.md: every row has an example, which is run, and every function of the
//! language has a row.

use std::fs;
use std::path::{Path, PathBuf};

use ridgewalk::frame::{Description, FamilyName, Formula, Frame, Question, Table, functions};

const BEGIN: &str = "<!-- grammar: begin; RIDGEWALK_WRITE_DOCS=1 cargo test -p ridgewalk-cli --test tests grammar -->\n";
const END: &str = "<!-- grammar: end -->\n";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// What an example gives: the names of its coefficients, or the number of rows that it selects.
fn result(example: &str, table: &Table) -> String {
    if !example.contains('~') {
        let condition = example.parse().unwrap_or_else(|error| panic!("{example}: {error}"));
        return Description::new(table, Some(&condition)).unwrap().rows.to_string();
    }
    let family = match example {
        text if text.starts_with("Surv") => FamilyName::Weibull,
        text if text.starts_with("cbind") || text.contains("trials(") => FamilyName::Logistic,
        text if text.starts_with("visits") => FamilyName::Poisson,
        text if text.starts_with("I(") || text.starts_with("improved") => FamilyName::Logistic,
        _ => FamilyName::Gaussian,
    };
    let formula: Formula = example.parse().unwrap_or_else(|error| panic!("{example}: {error}"));
    let frame = Frame::new(table, &Question::of_formula(formula, family));
    let frame = frame.unwrap_or_else(|error| panic!("{example}: {error}"));
    frame.names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

/// The text of a cell in code, without backquotes and escapes.
fn code(cell: &str) -> String {
    let text = cell.trim().replace("\\|", "|");
    let bare = text.strip_prefix("``").and_then(|text| text.strip_suffix("``"));
    let bare = bare.or_else(|| text.strip_prefix('`').and_then(|text| text.strip_suffix('`')));
    bare.unwrap_or_else(|| panic!("{cell}: need an example in backquotes")).trim().to_owned()
}

/// A row with its last cell made anew.
fn row(line: &str, table: &Table) -> String {
    // A `|` in a cell is escaped.
    let cells: Vec<String> =
        line.replace("\\|", "\u{0}").split('|').map(|cell| cell.replace('\u{0}', "\\|")).collect();
    let [_, write, meaning, example, _, _] = &cells[..] else { panic!("{line}: need four cells") };
    let result = result(&code(example), table);
    format!("| {} | {} | {} | {result} |", write.trim(), meaning.trim(), example.trim())
}

#[test]
fn every_row_of_the_grammar_is_run() {
    let page = root().join("docs/formulas.md");
    let text = fs::read_to_string(&page).unwrap();
    let data = root().join("crates/cli/tests/data/patients.csv");
    let table = Table::from_bytes("patients.csv", &fs::read(data).unwrap()).unwrap();
    let (mut fresh, mut in_table, mut examples) = (String::new(), false, String::new());
    for line in text.lines() {
        in_table = (in_table || format!("{line}\n") == BEGIN) && format!("{line}\n") != END;
        let is_row = in_table
            && line.starts_with('|')
            && !line.starts_with("| write |")
            && !line.starts_with("| ---");
        if is_row {
            let made = row(line, &table);
            examples.push_str(&made);
            fresh.push_str(&made);
        } else {
            fresh.push_str(line);
        }
        fresh.push('\n');
    }
    for function in functions() {
        assert!(examples.contains(&format!("{function}(")), "no row for {function}()");
    }
    if std::env::var_os("RIDGEWALK_WRITE_DOCS").is_some() {
        fs::write(&page, fresh).unwrap();
        return;
    }
    for (made, line) in fresh.lines().zip(text.lines()) {
        assert_eq!(made, line, "RIDGEWALK_WRITE_DOCS=1 rewrites the page");
    }
}

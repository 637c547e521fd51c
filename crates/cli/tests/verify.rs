//! `ridgewalk verify`, run as by users: rows, JSON keys, exit codes.

use std::process::{Command, Output};
use std::time::{Duration, Instant};

use ridgewalk::lyapunov::paper::verify;
use serde_json::Value;

fn ridgewalk(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ridgewalk")).args(arguments).output().unwrap()
}

fn document(arguments: &[&str]) -> Value {
    let output = ridgewalk(&[&["verify", "--json"], arguments].concat());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(output.stderr.is_empty());
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn json_has_a_row_for_every_claim_with_the_promised_keys_and_the_right_counts() {
    let document = document(&[]);
    let rows = document["claims"].as_array().unwrap();
    let claims = verify().unwrap();
    assert_eq!(rows.len(), claims.len());
    let mut counts = [0, 0, 0];
    for (row, claim) in rows.iter().zip(&claims) {
        assert_eq!(row["claim"], claim.what.as_str());
        assert_eq!(row["where"], claim.place);
        assert_eq!(row["detail"], claim.detail.as_str());
        assert_eq!(row["margin"].as_f64(), claim.margin);
        assert_eq!(row["kappa"].as_f64(), claim.at_kappa.filter(|kappa| kappa.is_finite()));
        let verdicts = ["holds", "misprint", "fails"];
        counts[verdicts.iter().position(|v| row["verdict"] == *v).unwrap()] += 1;
    }
    assert_eq!(document["holds"], counts[0]);
    assert_eq!(document["misprints"], counts[1]);
    assert_eq!(document["fails"], counts[2]);
    assert!(counts[0] > 40 && counts[1] > 10 && counts[2] == 0);
}

#[test]
fn every_numbered_statement_of_the_paper_has_a_row_that_holds() {
    let document = document(&[]);
    let rows = document["claims"].as_array().unwrap();
    let lemmas = (1..=10).map(|i| format!("Lemma {i}"));
    let others = ["Proposition 1", "Proposition 2", "Theorem 1", "Theorem 2"].map(str::to_owned);
    for statement in lemmas.chain(others) {
        // Lemma 10 has the parts (a) and (b).
        let place = |row: &&Value| {
            let place = row["where"].as_str().unwrap();
            place == statement
                || place.strip_prefix(&statement).is_some_and(|p| p.starts_with(" ("))
        };
        let holding = rows.iter().filter(place).filter(|row| row["verdict"] == "holds").count();
        assert!(holding > 0, "{statement}");
    }
}

#[test]
fn each_kappa_adds_the_same_rows_given_once_or_many_times() {
    let none = document(&[])["claims"].as_array().unwrap().len();
    let two = document(&["--kappa", "1.5", "1e6"]);
    let rows = two["claims"].as_array().unwrap();
    assert_eq!(two, document(&["--kappa", "1.5", "--kappa", "1e6"]));
    let added = &rows[none..];
    assert!(added.len() > 8 && added.len().is_multiple_of(2));
    let half = added.len() / 2;
    assert!(added[..half].iter().all(|row| row["kappa"] == 1.5 && row["verdict"] == "holds"));
    assert!(added[half..].iter().all(|row| row["kappa"] == 1e6 && row["verdict"] == "holds"));
}

#[test]
fn the_table_names_claims_and_places_and_explains_what_is_misprinted() {
    let output = ridgewalk(&["verify"]);
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).unwrap();
    let row = text
        .lines()
        .find(|line| line.contains("eigenvalues of S M + M^T S are below -1/5"))
        .unwrap();
    for word in ["Lemma 2", "holds", "0.2024", "1.8731"] {
        assert!(row.contains(word), "{word} in {row}");
    }
    let row =
        text.lines().find(|line| line.contains("one step: rate 1/(20 kappa^2 + 200)")).unwrap();
    for word in ["Proposition 2", "holds", "kappa^8 eta^5 d/L + kappa^5 eta Delta^2/L^2"] {
        assert!(row.contains(word), "{word} in {row}");
    }
    assert!(text.contains("4483/256"), "the right sum beside the printed 5523/128");
    assert!(text.trim_end().ends_with("0 fail"));
}

#[test]
fn bad_condition_numbers_end_with_exit_code_2_and_the_value() {
    for (value, message) in [
        ("0.5", "kappa = 0.5: need"),
        ("-3", "kappa = -3: need"),
        ("nan", "kappa = NaN: need"),
        ("inf", "kappa = inf: need"),
        ("1e200", "from 1 to 1e100"),
        ("two", "invalid value 'two' for '--kappa <K>...'"),
    ] {
        let output = ridgewalk(&["verify", "--kappa", "2", value]);
        assert_eq!(output.status.code(), Some(2), "{value}");
        assert!(output.stdout.is_empty());
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(text.contains(message), "{value} said {text}");
    }
}

#[test]
fn verify_takes_seconds() {
    // Measured well under 2 s, on one core of a shared machine.
    let start = Instant::now();
    assert!(ridgewalk(&["verify", "--kappa", "1", "2", "10", "1e6"]).status.success());
    if !cfg!(debug_assertions) {
        assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    }
}

#[test]
fn help_has_an_example_that_runs() {
    let help = String::from_utf8(ridgewalk(&["verify", "--help"]).stdout).unwrap();
    // The help names as many values of κ as the rows do.
    let checked = "11 values of kappa from";
    assert!(help.split_whitespace().collect::<Vec<_>>().join(" ").contains(checked), "{help}");
    let claims = verify().unwrap();
    for place in ["Lemma 9", "Proposition 2", "Theorem 1", "Theorem 2"] {
        assert!(claims.iter().any(|c| c.place == place && c.detail.contains(checked)), "{place}");
    }
    let example = help.lines().find_map(|line| line.trim().strip_prefix("ridgewalk ")).unwrap();
    let words: Vec<&str> = example.split(' ').collect();
    assert!(ridgewalk(&words).status.success(), "{example}");
}

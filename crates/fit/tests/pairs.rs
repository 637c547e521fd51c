//! Paired comparisons against their exact posteriors (`scripts/oracles/pairs.py`: importance sampling
//! of designs that are made entry by entry).
//!
//! Means and standard deviations of all 18 parameters must be within 5 standard errors: a false alarm
//! in about 1 of 50,000 seeds. With winner and loser exchanged the same test must fail.

use std::collections::BTreeMap;

use ridgewalk_diagnostics::{mcse_mean, mcse_sd};
use ridgewalk_fit::{PredictionKind, PredictionRequest, Settings, fit};
use ridgewalk_frame::{FamilyName, Table};
use serde::Deserialize;

use crate::references::data;

const ERRORS: f64 = 5.0;

#[derive(Debug, Deserialize)]
struct Case {
    name: String,
    formula: String,
    parameters: BTreeMap<String, Reference>,
}

#[derive(Debug, Deserialize)]
struct Reference {
    mean: f64,
    sd: f64,
    mean_error: f64,
    sd_error: f64,
}

fn table() -> Table {
    Table::read(data("pairs/matches.csv")).unwrap()
}

fn settings(formula: &str) -> Settings {
    Settings {
        prior_scale: Some(1.5),
        intercept_prior_scale: Some(1.5),
        group_prior: Some("half_normal(1)".to_owned()),
        chains: 4,
        draws: 1500,
        seed: 1,
        ..Settings::of_formula(formula, FamilyName::Logistic)
    }
}

/// The largest distance of a mean or standard deviation from that of a reference, in standard errors.
fn worst(case: &Case, formula: &str) -> (f64, usize) {
    let fitted = fit(&table(), &settings(formula)).unwrap();
    let (mut worst, mut compared) = (0.0_f64, 0);
    for parameter in &fitted.document().parameters {
        let name = parameter.name.replace("pair(loser, winner)", "pair(winner, loser)");
        let Some(need) = case.parameters.get(&name) else { continue };
        let traces = fitted.draws().traces_of(&parameter.name).unwrap();
        let chains: Vec<&[f64]> = traces.iter().map(|trace| &trace[..]).collect();
        let [mean_error, sd_error] = [mcse_mean(&chains).unwrap(), mcse_sd(&chains).unwrap()];
        let mean = (parameter.mean - need.mean).abs() / mean_error.hypot(need.mean_error);
        let sd = (parameter.sd - need.sd).abs() / sd_error.hypot(need.sd_error);
        worst = worst.max(mean).max(sd);
        compared += 1;
    }
    (worst, compared)
}

fn cases() -> Vec<Case> {
    serde_json::from_str(&std::fs::read_to_string(data("pairs/pairs.json")).unwrap()).unwrap()
}

#[test]
fn posteriors_of_comparisons_are_exact_and_an_exchanged_sign_is_seen() {
    for case in cases() {
        let (off, compared) = worst(&case, &case.formula);
        assert_eq!(compared, case.parameters.len(), "{}", case.name);
        assert!(off < ERRORS, "{}: {off}", case.name);
        let swapped = case.formula.replace("pair(winner, loser)", "pair(loser, winner)");
        if swapped != case.formula {
            let (off, compared) = worst(&case, &swapped);
            assert_eq!(compared, case.parameters.len(), "{}", case.name);
            assert!(off > 4.0 * ERRORS, "{}: the planted error is {off}", case.name);
        }
    }
}

/// The probability that one wins is 1 less that of the other, and that of a newcomer against another
/// one is 1/2 on average.
#[test]
fn predictions_are_of_the_difference() {
    let table = table();
    let fitted = fit(&table, &settings("1 ~ 0 + (1 | pair(winner, loser))")).unwrap();
    let predictor = fitted.predictor().unwrap();
    let text = b"winner,loser\nAda,Flo\nFlo,Ada\nZoe,Yve\nZoe,Ada\n";
    let new = Table::from_bytes("new.csv", text).unwrap();
    let request = PredictionRequest { kind: PredictionKind::Mean, ..PredictionRequest::default() };
    let found = predictor.predict(&new, 0, &request).unwrap().rows;
    assert!(found[0].mean > 0.7 && (found[0].mean + found[1].mean - 1.0).abs() < 1e-12);
    assert!((found[2].mean - 0.5).abs() < 0.03, "{}", found[2].mean);
    assert!(found[3].mean < 0.5 && found[3].sd > found[1].sd);
    let name = "pair(winner, loser)".to_owned();
    assert_eq!(predictor.unseen(&new).unwrap(), [(name, 2)]);
    let itself = Table::from_bytes("new.csv", b"winner,loser\nAda,Ada\n").unwrap();
    let error = predictor.predict(&itself, 0, &request).unwrap_err().to_string();
    assert!(error.contains("found `Ada`, which column `loser` has in this row too"), "{error}");
}

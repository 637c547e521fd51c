//! `ridgewalk verify`: every claim of the paper that can be checked, one row each.

use ridgewalk::lyapunov::paper::{Claim, Verdict, verify_at};
use serde::Serialize;

use crate::arguments::VerifyOptions;
use crate::failure::Failure;
use crate::output;

/// One row; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Row<'a> {
    claim: &'a str,
    #[serde(rename = "where")]
    place: &'a str,
    verdict: String,
    margin: Option<f64>,
    /// Null if no κ is involved, or if the margin is approached only as κ grows without bound.
    kappa: Option<f64>,
    detail: &'a str,
}

/// The JSON document.
#[derive(Debug, Serialize)]
struct Document<'a> {
    claims: Vec<Row<'a>>,
    holds: usize,
    misprints: usize,
    fails: usize,
}

impl<'a> Document<'a> {
    fn new(claims: &'a [Claim]) -> Self {
        let row = |claim: &'a Claim| Row {
            claim: &claim.what,
            place: claim.place,
            verdict: claim.verdict.to_string(),
            margin: claim.margin,
            kappa: claim.at_kappa.filter(|kappa| kappa.is_finite()),
            detail: &claim.detail,
        };
        let count =
            |verdict: Verdict| claims.iter().filter(|claim| claim.verdict == verdict).count();
        Self {
            claims: claims.iter().map(row).collect(),
            holds: count(Verdict::Holds),
            misprints: count(Verdict::Misprint),
            fails: count(Verdict::Fails),
        }
    }
}

/// Runs the subcommand.
pub(crate) fn run(options: &VerifyOptions) -> Result<(), Failure> {
    let claims = verify_at(&options.kappa)?;
    let document = Document::new(&claims);
    if options.json {
        output::json(&document)?;
    } else {
        output::text(&text(&claims, &document))?;
    }
    match document.fails {
        0 => Ok(()),
        fails => Err(Failure::Claims(fails)),
    }
}

/// The table, and below it the details of claims that do not hold.
fn text(claims: &[Claim], document: &Document) -> String {
    let rows = claims.iter().map(|claim| {
        vec![
            claim.what.clone(),
            claim.place.to_owned(),
            claim.verdict.to_string(),
            claim.margin.map_or_else(String::new, number),
            claim.at_kappa.map_or_else(String::new, number),
        ]
    });
    let table = output::table(["claim", "where", "verdict", "margin", "at kappa"], rows);
    let notes: String = claims
        .iter()
        .filter(|claim| claim.verdict != Verdict::Holds)
        .map(|claim| {
            format!(
                "\n{} ({}, {}):\n    {}\n",
                claim.what, claim.place, claim.verdict, claim.detail
            )
        })
        .collect();
    format!(
        "The paper's claims, each decided for every kappa >= 1 and at the given values; but Lemma 9,\n\
         Proposition 2 and the theorems are checked at 11 values of kappa from 1 to 1e6, in floating\n\
         point, with explicit constants. Then the steps of its proofs that do not follow as printed,\n\
         each in an example. A margin is how much more could have been claimed; --json explains it\n\
         for each row, and has the constants.\n\n{table}\n{notes}\n\
         {} hold, {} are misprints, {} fail",
        document.holds, document.misprints, document.fails
    )
}

/// Four decimals, an exponent for small numbers, and whole numbers as they are.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || !value.is_finite() {
        format!("{value}")
    } else if value.abs() < 5e-4 {
        format!("{value:.1e}")
    } else {
        format!("{value:.4}")
    }
}

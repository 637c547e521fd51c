//! What a statistician would say about a design before fitting it: codes taken for amounts, row
//! numbers, dates, nested factors, cells without rows, and columns that others determine.

use std::collections::HashMap;

use crate::column::{Cells, Column};
use crate::design::Designed;
use crate::draft::Draft;
use crate::facts::Facts;
use crate::formula::syntax::Kind;
use crate::matrix::Matrix;
use crate::place::{VALUE_SHOWN, listed, shown};
use crate::plan::Plan;
use crate::relations::{Relation, relations};
use crate::{dates, frame};

/// A column with this many different whole numbers may hold codes.
const CODES: std::ops::RangeInclusive<usize> = 3..=8;
/// Rows needed for each code, or for row numbers.
const ROWS: usize = 10;
/// Relations and cells are listed up to this number.
const LISTED: usize = 4;

/// Notes on the predictors, and the rank of the design where it is known. Rows of other parts of the
/// table are not looked at.
pub(crate) fn advice(
    draft: &Draft<'_>, facts: &Facts, designed: &Designed,
) -> (Vec<String>, Option<usize>) {
    let mut notes = Vec::new();
    let whole = facts.counts.kept == draft.kept.len();
    for plan in &draft.roles.plans {
        match plan {
            Plan::Number(node) => {
                // Some rows do not show what values there are.
                if let Kind::Name(name) = &node.kind
                    && whole
                    && let Some(column) = draft.source.column(name)
                {
                    notes.extend(of_numbers(column, &draft.kept));
                }
            }
            Plan::Factor(factor) if factor.text => {
                notes.extend(of_dates(draft, factor.of.columns()[0]));
            }
            _ => {}
        }
    }
    if !whole {
        return (notes, None);
    }
    let Designed { coding, names, design, .. } = designed;
    let found = match design {
        Matrix::Dense { values, .. } => {
            relations(values, names.len(), coding.intercept, draft.roles.constant)
        }
        Matrix::Sparse(_) => None,
    };
    notes.extend(of_design(draft, designed, found.as_deref().unwrap_or_default()));
    (notes, found.map(|found| names.len() - found.len()))
}

/// Codes and row numbers.
fn of_numbers(column: &Column, kept: &[usize]) -> Option<String> {
    let values = frame::numbers(column, kept);
    let name = shown(column.name(), VALUE_SHOWN);
    let whole = values.iter().all(|value| value.fract() == 0.0 && value.abs() < 1e15);
    if !whole || values.len() < ROWS {
        return None;
    }
    let mut seen: Vec<f64> = Vec::new();
    for &value in &values {
        if seen.len() > *CODES.end() {
            break;
        }
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    let low = seen.iter().copied().fold(f64::INFINITY, f64::min);
    if CODES.contains(&seen.len()) && low >= 1.0 && values.len() >= ROWS * seen.len() {
        seen.sort_unstable_by(f64::total_cmp);
        let codes: Vec<String> = seen.iter().map(ToString::to_string).collect();
        return Some(format!(
            "column `{name}` has only the values {}, and its coefficient is an effect per unit: if \
             they are codes of groups, pass --factor {name}",
            codes.join(", ")
        ));
    }
    let low = values.iter().copied().fold(f64::INFINITY, f64::min);
    let high = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let numbered = high - low + 1.0 == values.len() as f64 && (low == 0.0 || low == 1.0);
    if !numbered && !is_identifier(column.name()) {
        return None;
    }
    let mut distinct = values;
    let rows = distinct.len();
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    (distinct.len() == rows).then(|| {
        format!(
            "column `{name}` has a different whole number in every row: if it only identifies them, \
             leave it out with --exclude {name}"
        )
    })
}

/// Whether a column is called as identifiers are.
fn is_identifier(name: &str) -> bool {
    let lower = name.to_lowercase();
    ["id", "index", "row", "rowid", "rownames", "obs", "unnamed: 0"].contains(&lower.as_str())
        || lower.ends_with("_id")
        || lower.ends_with(".id")
        || name.ends_with("Id")
        || name.ends_with("ID")
}

/// Dates as levels.
fn of_dates(draft: &Draft<'_>, name: &str) -> Option<String> {
    let Cells::Text { levels, .. } = draft.source.column(name)?.cells() else { return None };
    let all = levels.len() > 1 && levels.iter().all(|level| dates::days(level).is_some());
    let written = crate::formula_name(name);
    all.then(|| {
        format!(
            "column `{}` has dates, and each is a level of its own: days({written}) in a formula \
             makes numbers of them, month({written}) and weekday({written}) groups",
            shown(name, VALUE_SHOWN)
        )
    })
}

/// Cells without rows, nested factors, and columns that others determine.
fn of_design(draft: &Draft<'_>, designed: &Designed, found: &[Relation]) -> Vec<String> {
    let Designed { names, .. } = designed;
    let (rows, columns) = (draft.kept.len(), names.len());
    let mut notes: Vec<String> = Vec::new();
    if columns > rows {
        notes.push(format!(
            "there are more coefficients ({columns}) than rows ({rows}): the data alone cannot tell \
             them apart, and the priors decide"
        ));
        return notes;
    }
    let empty: Vec<&Relation> = found.iter().filter(|relation| relation.zero).collect();
    let dependent: Vec<&Relation> =
        found.iter().filter(|relation| !relation.terms.is_empty()).collect();
    if !empty.is_empty() {
        let cells: Vec<&str> =
            empty.iter().map(|relation| names[relation.column].as_str()).collect();
        let which =
            if cells.len() == 1 { "its coefficient has" } else { "their coefficients have" };
        notes.push(format!("no row has {}: {which} only the prior", listed(&cells, LISTED)));
    }
    let nested = nested(draft);
    notes.extend(nested.iter().filter(|_| !dependent.is_empty()).map(|(inner, outer)| {
        format!(
            "`{inner}` is nested in `{outer}`: each of its levels occurs with one level of \
             `{outer}`, so the data cannot tell the effects of the two apart, and the priors share \
             them out. Leave one of the two out"
        )
    }));
    // Nesting explains what it makes dependent.
    let explained = |relation: &&&Relation| {
        nested.iter().any(|(inner, _)| designed.terms[relation.column] == *inner)
            || nested.iter().any(|(_, outer)| designed.terms[relation.column] == *outer)
    };
    let rest: Vec<&&Relation> = dependent.iter().filter(|relation| !explained(relation)).collect();
    for relation in rest.iter().take(LISTED) {
        notes.push(format!(
            "{}: the data cannot tell their effects apart, and the priors share them out. Leave one \
             of them out",
            spelled(relation, names)
        ));
    }
    if rest.len() > LISTED {
        let more = rest.len() - LISTED;
        notes.push(format!("{more} more columns are determined by others in the same way"));
    }
    notes
}

/// `x3` = `x1` - 2 `x2`.
fn spelled(relation: &Relation, names: &[String]) -> String {
    let name = |column: usize| format!("`{}`", shown(&names[column], VALUE_SHOWN));
    let column = name(relation.column);
    if relation.terms.len() > LISTED {
        let others = relation.terms.len();
        return format!("{column} is a linear combination of {others} other columns");
    }
    let mut text = String::new();
    for (k, &(other, factor)) in relation.terms.iter().enumerate() {
        let size: f64 = format!("{:.5e}", factor.abs()).parse().unwrap_or(factor.abs());
        let sign = match (k, factor < 0.0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        let size = if size == 1.0 { String::new() } else { format!("{size} ") };
        text.push_str(&format!("{sign}{size}{}", name(other)));
    }
    format!("{column} = {text}")
}

/// Pairs of factors, both main effects, of which each level of the first occurs with one level of
/// the second.
fn nested(draft: &Draft<'_>) -> Vec<(String, String)> {
    let main = |variable: usize| draft.roles.terms.terms.iter().any(|term| *term == [variable]);
    let factors = draft.roles.plans.iter().enumerate().filter_map(|(variable, plan)| match plan {
        Plan::Factor(factor) if factor.text && main(variable) => {
            let name = factor.of.columns().first().copied()?;
            match draft.source.column(name)?.cells() {
                Cells::Text { codes, .. } => Some((name, codes)),
                _ => None,
            }
        }
        _ => None,
    });
    let factors: Vec<(&str, &Vec<u32>)> = factors.collect();
    let mut found = Vec::new();
    for (inner, of_inner) in &factors {
        for (outer, of_outer) in factors.iter().filter(|(outer, _)| outer != inner) {
            let mut within: HashMap<u32, u32> = HashMap::new();
            let one = draft
                .kept
                .iter()
                .all(|&row| *within.entry(of_inner[row]).or_insert(of_outer[row]) == of_outer[row]);
            if one && !found.contains(&((*outer).to_owned(), (*inner).to_owned())) {
                found.push(((*inner).to_owned(), (*outer).to_owned()));
            }
        }
    }
    found
}

//! The response, trials and weights of each row, checked against what the family can take.

use ridgewalk::potentials::peers::Peers;

use super::column::Column;
use super::error::DataError;
use super::frame::numbers;
use super::parts::{agreed, range};
use super::place::{NAME_SHOWN, Place, VALUE_SHOWN, number, shown};
use super::question::{FamilyName, Question, Roles};
use super::table::Table;
use super::terms::levels;

/// Counts beyond this are not all whole numbers in floating point.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// The response in the rows that are kept.
pub(crate) fn values(
    table: &Table,
    roles: &Roles<'_>,
    question: &Question,
    kept: &[usize],
    notes: &mut Vec<String>,
    peers: &dyn Peers,
) -> Result<Vec<f64>, DataError> {
    let column = roles.response;
    if column.numbers().is_none() {
        return text(table, roles, question, kept, notes, peers);
    }
    let values = numbers(column, kept);
    let checked = match roles.trials {
        Some(trials) => check_trials(table, column, trials, &values, kept),
        None => check(table, column, question.family, &values, kept),
    };
    agreed(peers, checked)?;
    let [low, high] = range(peers, values.iter().copied());
    if roles.trials.is_none() && low == high {
        let name = shown(column.name(), NAME_SHOWN);
        notes.push(format!("the response `{name}` is {} in every row", number(low)));
    }
    Ok(values)
}

/// Responses as the family needs them, without trials.
fn check(
    table: &Table,
    column: &Column,
    family: FamilyName,
    values: &[f64],
    kept: &[usize],
) -> Result<(), DataError> {
    let (good, need): (fn(f64) -> bool, _) = match family {
        FamilyName::Logistic | FamilyName::Probit => {
            (|value| value == 0.0 || value == 1.0, "0 or 1 (or successes, with --trials)")
        }
        FamilyName::Poisson => (whole, "a whole number of at least 0"),
        FamilyName::Gaussian | FamilyName::RobustLogistic | FamilyName::RobustHuber => {
            return Ok(());
        }
    };
    let Some(at) = values.iter().position(|&value| !good(value)) else { return Ok(()) };
    let place = table.cell(kept[at], column.name());
    Err(DataError::Response { place, value: values[at], need, family, seen: seen(values) })
}

fn whole(value: f64) -> bool {
    value >= 0.0 && value.fract() == 0.0 && value <= MAX_COUNT
}

/// The smallest few of the different values.
fn seen(values: &[f64]) -> Vec<String> {
    let mut different = values.to_vec();
    different.sort_unstable_by(f64::total_cmp);
    different.dedup();
    let mut shown: Vec<String> = different.iter().take(6).map(|&value| number(value)).collect();
    if different.len() > shown.len() {
        shown.push(format!("and {} more", different.len() - shown.len()));
    }
    shown
}

/// Successes out of trials.
fn check_trials(
    table: &Table,
    column: &Column,
    trials: &Column,
    successes: &[f64],
    kept: &[usize],
) -> Result<(), DataError> {
    let counts = numbers(trials, kept);
    for ((&row, &count), &value) in kept.iter().zip(&counts).zip(successes) {
        if !(whole(count) && count >= 1.0) {
            let place = table.cell(row, trials.name());
            return Err(DataError::Value {
                place,
                value: count,
                need: "a whole number of trials of at least 1",
            });
        }
        let place = || table.cell(row, column.name());
        if !whole(value) {
            let need = "a whole number of successes of at least 0";
            return Err(DataError::Value { place: place(), value, need });
        }
        if value > count {
            let column = trials.name().to_owned();
            return Err(DataError::Successes {
                place: place(),
                successes: value,
                trials: count,
                column,
            });
        }
    }
    Ok(())
}

/// Weights above 0.
pub(crate) fn check_weights(
    table: &Table,
    column: &Column,
    weights: &[f64],
    kept: &[usize],
) -> Result<(), DataError> {
    for (&row, &value) in kept.iter().zip(weights) {
        if !(value > 0.0) {
            let place = table.cell(row, column.name());
            let need = "a weight above 0; a row that should not count is left out of the file";
            return Err(DataError::Value { place, value, need });
        }
    }
    Ok(())
}

/// A text response with two levels: the second in alphabetical order is 1, as R has it, and the
/// user is told.
fn text(
    table: &Table,
    roles: &Roles<'_>,
    question: &Question,
    kept: &[usize],
    notes: &mut Vec<String>,
    peers: &dyn Peers,
) -> Result<Vec<f64>, DataError> {
    let column = roles.response;
    let refuse = |need| {
        let mut texts: Vec<String> =
            column.texts().into_iter().flatten().flatten().map(str::to_owned).collect();
        texts.sort_unstable();
        texts.dedup();
        Err(DataError::TextResponse {
            place: Place::column(table.name(), column.name()),
            levels: texts,
            need,
        })
    };
    if roles.trials.is_some() {
        return refuse("whole numbers of successes beside --trials");
    }
    if !question.family.is_binomial() {
        return refuse("numbers as the response of this family");
    }
    // More texts than were kept, here or elsewhere.
    let many = peers.somewhere(column.texts().is_none());
    let found = levels(table, column, kept, peers);
    if many {
        found?;
        return Err(DataError::Elsewhere);
    }
    let Ok([(zero, _), (one, _)]) = found.as_deref() else {
        return refuse("0 and 1, or two different texts");
    };
    let texts = column.texts().unwrap_or_default();
    let name = shown(column.name(), NAME_SHOWN);
    notes.push(format!(
        "the response `{name}` is text: `{}` counts as 1, `{}` as 0",
        shown(one, VALUE_SHOWN),
        shown(zero, VALUE_SHOWN)
    ));
    Ok(kept
        .iter()
        .map(|&row| f64::from(u8::from(texts.get(row) == Some(&Some(one.as_str())))))
        .collect())
}

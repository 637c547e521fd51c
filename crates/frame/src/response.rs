//! The response, trials and weights of each row, checked against the family.

use crate::column::Column;
use crate::draft::Draft;
use crate::error::DataError;
use crate::facts::Facts;
use crate::frame::numbers;
use crate::place::{NAME_SHOWN, Place, VALUE_SHOWN, number, shown};
use crate::question::{FamilyName, Question, Roles};
use crate::table::Table;
use crate::terms::levels;

/// Above this, not every integer is exact in floating point.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// Checks each response against the range of the family.
pub(crate) fn check(
    table: &Table, roles: &Roles<'_>, question: &Question, kept: &[usize],
) -> Result<(), DataError> {
    let column = roles.response;
    if column.numbers().is_none() {
        return Ok(());
    }
    let values = numbers(column, kept);
    match roles.trials {
        Some(trials) => check_trials(table, column, trials, &values, kept),
        None => check_numbers(table, column, question.family, &values, kept),
    }
}

/// The response in the rows kept, already checked one by one.
pub(crate) fn values(
    draft: &Draft<'_>, facts: &Facts, notes: &mut Vec<String>,
) -> Result<Vec<f64>, DataError> {
    let column = draft.roles.response;
    if column.numbers().is_none() {
        return text(draft, facts, notes);
    }
    let [low, high] = facts.range(column);
    if draft.roles.trials.is_none() && low == high {
        let name = shown(column.name(), NAME_SHOWN);
        notes.push(format!("the response `{name}` is {} in every row", number(low)));
    }
    Ok(numbers(column, &draft.kept))
}

/// Checks responses without trials.
fn check_numbers(
    table: &Table, column: &Column, family: FamilyName, values: &[f64], kept: &[usize],
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

/// The smallest few of the distinct values.
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
    table: &Table, column: &Column, trials: &Column, successes: &[f64], kept: &[usize],
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
    table: &Table, column: &Column, kept: &[usize],
) -> Result<(), DataError> {
    for (&row, value) in kept.iter().zip(numbers(column, kept)) {
        if !(value > 0.0) {
            let place = table.cell(row, column.name());
            let need = "a weight above 0; to ignore a row, remove it from the file";
            return Err(DataError::Value { place, value, need });
        }
    }
    Ok(())
}

/// A text response with two levels: the second in alphabetical order is 1, as in R.
fn text(draft: &Draft<'_>, facts: &Facts, notes: &mut Vec<String>) -> Result<Vec<f64>, DataError> {
    let Draft { table, question, roles, kept, .. } = draft;
    let column = roles.response;
    let refuse = |need| {
        let mut texts: Vec<String> =
            column.texts().into_iter().flatten().flatten().map(str::to_owned).collect();
        texts.sort_unstable();
        texts.dedup();
        let place = Place::column(table.name(), column.name());
        Err(DataError::TextResponse { place, levels: texts, need })
    };
    if roles.trials.is_some() {
        return refuse("whole numbers of successes with --trials");
    }
    if !question.family.is_binomial() {
        return refuse("numbers as the response of this family");
    }
    if facts.levels(column).is_none() {
        // More texts than are kept.
        levels(draft, column, facts)?;
    }
    let found: Vec<&String> = facts.levels(column).into_iter().flatten().collect();
    let [zero, one] = found[..] else {
        return refuse("0 and 1, or two distinct texts");
    };
    let texts = column.texts().unwrap_or_default();
    let name = shown(column.name(), NAME_SHOWN);
    notes.push(format!(
        "the response `{name}` is text: `{}` counts as 1, `{}` as 0",
        shown(one, VALUE_SHOWN),
        shown(zero, VALUE_SHOWN)
    ));
    let is_one = |&row: &usize| texts.get(row) == Some(&Some(one.as_str()));
    Ok(kept.iter().map(|row| f64::from(u8::from(is_one(row)))).collect())
}

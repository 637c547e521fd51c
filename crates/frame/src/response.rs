//! The response, trials and weights of each row, checked against the family.

use crate::column::Column;
use crate::draft::Draft;
use crate::error::DataError;
use crate::facts::Facts;
use crate::frame::numbers;
use crate::place::{NAME_SHOWN, Place, VALUE_SHOWN, number, shown};
use crate::question::{FamilyName, Question};
use crate::roles::Parts;
use crate::table::Table;

/// Above this, not every integer is exact in floating point.
const MAX_COUNT: f64 = 9_007_199_254_740_992.0;

/// Checks each response against the range of the family.
pub(crate) fn check(
    table: &Table, parts: &Parts<'_>, question: &Question, kept: &[usize],
) -> Result<(), DataError> {
    let column = &*parts.response;
    if column.numbers().is_none() {
        return Ok(());
    }
    let values = numbers(column, kept);
    match &parts.trials {
        Some(trials) => check_trials(table, column, trials, &values, kept),
        None => check_numbers(table, column, question.family, &values, kept),
    }
}

/// The response in the rows kept, already checked one by one.
pub(crate) fn values(
    draft: &Draft<'_>, facts: &Facts, notes: &mut Vec<String>,
) -> Result<Vec<f64>, DataError> {
    let column = &*draft.parts.response;
    if draft.question.family.has_levels() {
        return Ok(coded(draft, facts, notes)?.0);
    }
    if column.numbers().is_none() {
        return text(draft, facts, notes);
    }
    let [low, high] = facts.range(column.name());
    if draft.parts.trials.is_none() && low == high {
        let name = shown(column.name(), NAME_SHOWN);
        notes.push(format!("the response `{name}` is {} in every row", number(low)));
    }
    let mut all = numbers(column, &draft.kept);
    let signs = draft.question.family.is_binomial() && draft.parts.trials.is_none();
    if signs && low == -1.0 {
        // Another part of the table may have -1.
        if let Some(at) = all.iter().position(|value| *value == 0.0) {
            let place = draft.table.cell(draft.kept[at], column.name());
            let (family, seen) = (draft.question.family, vec!["-1".into(), "0".into()]);
            let need = "1 or -1, as in other rows";
            return Err(DataError::Response { place, value: 0.0, need, family, seen });
        }
        all.iter_mut().for_each(|value| *value = value.max(0.0));
        let name = shown(column.name(), NAME_SHOWN);
        notes.push(format!("the response `{name}` is -1 or 1: -1 counts as 0"));
    }
    Ok(all)
}

/// Checks responses without trials.
fn check_numbers(
    table: &Table, column: &Column, family: FamilyName, values: &[f64], kept: &[usize],
) -> Result<(), DataError> {
    let (good, need): (fn(f64) -> bool, _) = match family {
        FamilyName::Logistic | FamilyName::Probit => {
            (|value| value == 0.0 || value == 1.0, "0 or 1 (or successes, with --trials)")
        }
        FamilyName::Poisson | FamilyName::NegativeBinomial => {
            (whole, "a whole number of at least 0")
        }
        FamilyName::Gamma => (|value| value > 0.0, "a number above 0"),
        FamilyName::Weibull
        | FamilyName::LogLogistic
        | FamilyName::LogNormal
        | FamilyName::Exponential => {
            // Missing is a time before the end of its interval.
            (|value| value > 0.0 || value.is_nan(), "a time above 0")
        }
        FamilyName::Ordinal | FamilyName::Multinomial => {
            (|value| value.fract() == 0.0 && value.abs() <= MAX_COUNT, "a whole number or text")
        }
        FamilyName::Gaussian
        | FamilyName::StudentT
        | FamilyName::RobustLogistic
        | FamilyName::RobustHuber => {
            return Ok(());
        }
    };
    let signs = values.iter().all(|value| value.abs() == 1.0);
    if family.is_binomial() && signs {
        return Ok(());
    }
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

/// Events are 0 or 1, and intervals have a start before their end.
pub(crate) fn check_censoring(
    table: &Table, parts: &Parts<'_>, kept: &[usize],
) -> Result<(), DataError> {
    if let Some(column) = &parts.event {
        for (&row, value) in kept.iter().zip(numbers(column, kept)) {
            if value != 0.0 && value != 1.0 {
                let place = table.cell(row, column.name());
                let need = "1 for an event or 0 for a censored row";
                return Err(DataError::Value { place, value, need });
            }
        }
    }
    let Some(column) = &parts.upper else { return Ok(()) };
    let starts = numbers(&parts.response, kept);
    for ((&row, end), start) in kept.iter().zip(numbers(column, kept)).zip(starts) {
        let place = table.cell(row, column.name());
        if end.is_nan() && start.is_nan() {
            let need = "a start or an end of the interval";
            return Err(DataError::Value { place, value: end, need });
        }
        // Missing numbers pass.
        if end <= 0.0 || end < start {
            let need = "an end of the interval above 0 and not before its start";
            return Err(DataError::Value { place, value: end, need });
        }
    }
    Ok(())
}

/// For survival families the start and the end of the interval that each time lies in: equal for an
/// event, with an infinite end for a time that is censored.
pub(crate) fn intervals(draft: &Draft<'_>, response: &mut [f64]) -> Option<Vec<f64>> {
    let Draft { question, parts, kept, .. } = draft;
    if !question.family.is_survival() {
        return None;
    }
    let mut ends = match &parts.upper {
        Some(column) => numbers(column, kept),
        None => response.to_vec(),
    };
    ends.iter_mut().filter(|end| end.is_nan()).for_each(|end| *end = f64::INFINITY);
    response.iter_mut().filter(|start| start.is_nan()).for_each(|start| *start = 0.0);
    if let Some(column) = &parts.event {
        let censored = numbers(column, kept).into_iter().map(|event| event == 0.0);
        let rows = ends.iter_mut().zip(censored).filter(|(_, censored)| *censored);
        rows.for_each(|(end, _)| *end = f64::INFINITY);
    }
    Some(ends)
}

/// The most levels of a response.
const MAX_RESPONSE_LEVELS: usize = 64;

/// The response of each row as the number of its level, and the levels in order.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped count")]
pub(crate) fn coded(
    draft: &Draft<'_>, facts: &Facts, notes: &mut Vec<String>,
) -> Result<(Vec<f64>, Vec<String>), DataError> {
    let Draft { table, question, parts, kept, .. } = draft;
    let column = &*parts.response;
    let place = || Place::column(table.name(), column.name());
    let found: Vec<String> = if column.numbers().is_some() {
        let [low, high] = facts.range(column.name());
        let count = (high - low + 1.0).clamp(0.0, 1e6) as usize;
        if count > MAX_RESPONSE_LEVELS {
            let most = MAX_RESPONSE_LEVELS;
            return Err(DataError::LevelCount { place: place(), found: count, most });
        }
        (0..count).map(|k| number(low + k as f64)).collect()
    } else {
        draft.levels(column.name(), facts)?
    };
    if !(2..=MAX_RESPONSE_LEVELS).contains(&found.len()) {
        let (found, most) = (found.len(), MAX_RESPONSE_LEVELS);
        return Err(DataError::LevelCount { place: place(), found, most });
    }
    let listed = match &question.levels {
        Some(listed) => {
            let missing = found.iter().any(|level| !listed.contains(level));
            if missing || listed.len() != found.len() {
                return Err(DataError::Levels { place: place(), found, listed: listed.clone() });
            }
            listed.clone()
        }
        None => found,
    };
    let name = shown(column.name(), NAME_SHOWN);
    let order: Vec<String> = listed.iter().map(|level| shown(level, VALUE_SHOWN)).collect();
    let what = if question.family == FamilyName::Ordinal {
        format!("the levels of `{name}`, from low to high, are {}", order.join(" < "))
    } else {
        format!("the base level of `{name}` is `{}` of {}", order[0], order.join(", "))
    };
    let hint = if question.levels.is_some() { "" } else { "; --levels changes that" };
    notes.push(format!("{what}{hint}"));
    let code = |text: &str| listed.iter().position(|level| level == text).unwrap_or(0) as f64;
    let codes = match column.numbers() {
        Some(values) => kept.iter().map(|&row| code(&number(values[row]))).collect(),
        None => {
            let texts = column.texts().unwrap_or_default();
            kept.iter().map(|&row| code(texts[row].unwrap_or_default())).collect()
        }
    };
    Ok((codes, listed))
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

/// Weights above 0. Rows of weight 0 were left out.
pub(crate) fn check_weights(
    table: &Table, column: &Column, kept: &[usize],
) -> Result<(), DataError> {
    for (&row, value) in kept.iter().zip(numbers(column, kept)) {
        if !(value > 0.0) {
            let place = table.cell(row, column.name());
            let need = "a weight of at least 0";
            return Err(DataError::Value { place, value, need });
        }
    }
    Ok(())
}

/// A text response with two levels: the second in natural order is 1, as in R.
fn text(draft: &Draft<'_>, facts: &Facts, notes: &mut Vec<String>) -> Result<Vec<f64>, DataError> {
    let Draft { table, question, parts, kept, .. } = draft;
    let column = &*parts.response;
    let refuse = |need| {
        let mut texts: Vec<String> =
            column.texts().into_iter().flatten().flatten().map(str::to_owned).collect();
        texts.sort_unstable();
        texts.dedup();
        let place = Place::column(table.name(), column.name());
        Err(DataError::TextResponse { place, levels: texts, need })
    };
    if parts.trials.is_some() {
        return refuse("whole numbers of successes with --trials");
    }
    if !question.family.is_binomial() {
        return refuse("numbers as the response of this family");
    }
    if facts.levels(column.name()).is_none() {
        // More texts than are kept.
        draft.levels(column.name(), facts)?;
    }
    if facts.levels(column.name()).is_some_and(|levels| levels.len() != 2) {
        return refuse(
            "0 and 1, or two distinct texts (for more levels, --family ordinal or multinomial)",
        );
    }
    let [zero, one] = &draft.levels(column.name(), facts)?[..] else { return Ok(Vec::new()) };
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

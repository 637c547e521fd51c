//! From predictors to the columns of a design: numbers as they are, texts as indicators of their levels.

use super::column::{Cells, Column, NO_TEXT};
use super::error::DataError;
use super::place::{Place, VALUE_SHOWN, listed, number, shown};
use super::question::{Question, Roles};
use super::table::Table;
use super::{MAX_HELD_LEVELS, MAX_LEVELS};

/// A column of the design.
pub(crate) enum Term<'t> {
    /// A column of numbers.
    Number(&'t Column),
    /// 1 where the column has the level of this code, 0 elsewhere.
    Indicator { column: &'t Column, code: u32, level: &'t str },
}

impl Term<'_> {
    pub(crate) fn column(&self) -> &Column {
        match self {
            Self::Number(column) | Self::Indicator { column, .. } => column,
        }
    }

    pub(crate) fn name(&self) -> String {
        match self {
            Self::Number(column) => column.name().to_owned(),
            Self::Indicator { column, level, .. } => format!("{}[{level}]", column.name()),
        }
    }

    /// Its values in the rows that are kept.
    pub(crate) fn values(&self, kept: &[usize]) -> Vec<f64> {
        match self {
            Self::Number(column) => super::frame::numbers(column, kept),
            Self::Indicator { column, code, .. } => {
                let codes = codes(column);
                kept.iter().map(|&row| f64::from(u8::from(codes.get(row) == Some(code)))).collect()
            }
        }
    }
}

fn codes(column: &Column) -> &[u32] {
    match column.cells() {
        Cells::Text { codes, .. } => codes,
        _ => &[],
    }
}

/// The terms of all predictors.
///
/// The base level of a text column is the first in alphabetical order and has no term: the intercept stands for it. Without an
/// intercept the first text column keeps all its levels, unless they are centred, which would make them collinear.
pub(crate) fn terms<'t>(
    table: &Table,
    roles: &Roles<'t>,
    question: &Question,
    kept: &[usize],
    notes: &mut Vec<String>,
) -> Result<Vec<Term<'t>>, DataError> {
    let mut all = Vec::new();
    let mut base_needed = question.intercept || question.standardize;
    for &column in &roles.predictors {
        if let Some(values) = column.numbers() {
            check_varies(table, column, values, question, kept)?;
            all.push(Term::Number(column));
            continue;
        }
        let levels = levels(table, column, kept)?;
        let base = usize::from(base_needed);
        let terms = levels.iter().skip(base).map(|&(level, code)| Term::Indicator { column, code, level });
        let first = all.len();
        all.extend(terms);
        notes.push(text_note(column, levels.first().filter(|_| base_needed), &all[first..]));
        base_needed = true;
    }
    Ok(all)
}

fn text_note(column: &Column, base: Option<&(&str, u32)>, terms: &[Term<'_>]) -> String {
    let name = shown(column.name(), VALUE_SHOWN);
    let names: Vec<String> = terms.iter().map(Term::name).collect();
    let names = listed(&names, 6);
    match base {
        Some((level, _)) => {
            let level = shown(level, VALUE_SHOWN);
            format!("column `{name}` is text: its base level is `{level}`, its coefficients are {names}")
        }
        None => {
            format!("column `{name}` is text: without an intercept each level has a coefficient, {names}")
        }
    }
}

/// The levels of a text column that occur in the rows kept, in alphabetical order, with their codes.
pub(crate) fn levels<'t>(
    table: &Table,
    column: &'t Column,
    kept: &[usize],
) -> Result<Vec<(&'t str, u32)>, DataError> {
    let place = || Place::column(table.name(), column.name());
    let rows = kept.len();
    let Cells::Text { levels, codes } = column.cells() else {
        let levels = MAX_HELD_LEVELS;
        return Err(DataError::TooManyLevels { place: place(), levels, more: true, rows });
    };
    let mut seen = vec![false; levels.len()];
    for &row in kept {
        let code = codes.get(row).copied().unwrap_or(NO_TEXT);
        if let Some(flag) = usize::try_from(code).ok().and_then(|code| seen.get_mut(code)) {
            *flag = true;
        }
    }
    let mut found: Vec<(&str, u32)> =
        levels.iter().map(String::as_str).zip(0..).filter(|&(_, code)| seen[code as usize]).collect();
    found.sort_unstable();
    let count = found.len();
    // An identifier: a text for each row, or nearly; or so many that they are hardly groups.
    let own = (count == rows && rows > 2) || (count > 20 && 2 * count > rows);
    if own || count > MAX_LEVELS {
        return Err(DataError::TooManyLevels { place: place(), levels: count, more: false, rows });
    }
    match found[..] {
        [(level, _)] => Err(DataError::Constant { place: place(), value: level.to_owned(), reason: "" }),
        _ => Ok(found),
    }
}

/// Whether a column of numbers varies, where it must.
fn check_varies(
    table: &Table,
    column: &Column,
    values: &[f64],
    question: &Question,
    kept: &[usize],
) -> Result<(), DataError> {
    let mut kept = kept.iter().filter_map(|&row| values.get(row));
    let Some(&first) = kept.next() else { return Ok(()) };
    if kept.any(|&value| value != first) {
        return Ok(());
    }
    let reason = match (question.intercept, question.standardize) {
        (true, _) => " beside the intercept",
        (false, true) => ", for --standardize",
        (false, false) if first == 0.0 => "",
        // A constant of the user's own in place of the intercept.
        (false, false) => return Ok(()),
    };
    let place = Place::column(table.name(), column.name());
    Err(DataError::Constant { place, value: number(first), reason })
}

//! From predictors to columns of the design: numbers as they are, text as indicators of its levels.

use crate::column::{Cells, Column, NO_TEXT};
use crate::draft::Draft;
use crate::error::DataError;
use crate::facts::Facts;
use crate::place::{Place, VALUE_SHOWN, listed, number, shown};
use crate::{MAX_HELD_LEVELS, MAX_LEVELS};

/// A column of the design.
pub(crate) enum Term<'t> {
    /// A column of numbers.
    Number(&'t Column),
    /// 1 where the column has the level of this code, 0 elsewhere.
    Indicator { column: &'t Column, code: u32, level: String },
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
            Self::Number(column) => crate::frame::numbers(column, kept),
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
/// The base level of a text column is the first in alphabetical order. It has no term, because the
/// intercept covers it. Without an intercept the first text column keeps all its levels, unless
/// they are centred, which would make them collinear.
pub(crate) fn terms<'t>(
    draft: &Draft<'t>, facts: &Facts, notes: &mut Vec<String>,
) -> Result<Vec<Term<'t>>, DataError> {
    let Draft { question, roles, .. } = draft;
    let mut all = Vec::new();
    let mut base_needed = question.has_constant() || question.standardize;
    for &column in &roles.predictors {
        if column.numbers().is_some() {
            check_varies(draft, column, facts)?;
            all.push(Term::Number(column));
            continue;
        }
        let levels = levels(draft, column, facts)?;
        let base = usize::from(base_needed);
        let others = levels.iter().skip(base).cloned();
        let terms = others.map(|(level, code)| Term::Indicator { column, code, level });
        let first = all.len();
        all.extend(terms);
        notes.push(text_note(column, levels.first().filter(|_| base_needed), &all[first..]));
        base_needed = true;
    }
    Ok(all)
}

fn text_note(column: &Column, base: Option<&(String, u32)>, terms: &[Term<'_>]) -> String {
    let name = shown(column.name(), VALUE_SHOWN);
    let names: Vec<String> = terms.iter().map(Term::name).collect();
    let names = listed(&names, 6);
    match base {
        Some((level, _)) => {
            let level = shown(level, VALUE_SHOWN);
            format!(
                "column `{name}` is text: its base level is `{level}`, its coefficients are {names}"
            )
        }
        None => {
            format!(
                "column `{name}` is text: without an intercept each level has a coefficient, {names}"
            )
        }
    }
}

/// The levels of a text column in alphabetical order, with their codes. A level that occurs only in
/// another part of the table has a code that no row uses.
pub(crate) fn levels(
    draft: &Draft<'_>, column: &Column, facts: &Facts,
) -> Result<Vec<(String, u32)>, DataError> {
    let place = || Place::column(draft.table.name(), column.name());
    let (rows, held) = (facts.kept, MAX_HELD_LEVELS);
    let (Some(all), Cells::Text { levels, .. }) = (facts.levels(column), column.cells()) else {
        return Err(DataError::TooManyLevels { place: place(), levels: held, more: true, rows });
    };
    // An identifier: a distinct text in almost every row, or too many to be groups.
    let count = all.len();
    let own = (count == rows && rows > 2) || (count > 20 && 2 * count > rows);
    if own || count > MAX_LEVELS {
        return Err(DataError::TooManyLevels { place: place(), levels: count, more: false, rows });
    }
    let here = |level: &String| levels.iter().zip(0..).find(|(other, _)| *other == level);
    let code = |level: &String| here(level).map_or(NO_TEXT - 1, |(_, code)| code);
    let found: Vec<(String, u32)> = all.iter().map(|level| (level.clone(), code(level))).collect();
    match &found[..] {
        [(level, _)] => {
            Err(DataError::Constant { place: place(), value: level.clone(), reason: "" })
        }
        _ => Ok(found),
    }
}

/// Checks that a column of numbers varies if it has to.
fn check_varies(draft: &Draft<'_>, column: &Column, facts: &Facts) -> Result<(), DataError> {
    let [first, last] = facts.range(column);
    if first != last {
        return Ok(());
    }
    let reason = match (draft.question.has_constant(), draft.question.standardize) {
        (true, _) => " because there is an intercept",
        (false, true) => ", for --standardize",
        (false, false) if first == 0.0 => "",
        // A constant column may replace the intercept.
        (false, false) => return Ok(()),
    };
    let place = Place::column(draft.table.name(), column.name());
    Err(DataError::Constant { place, value: number(first), reason })
}

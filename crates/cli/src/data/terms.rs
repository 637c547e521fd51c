//! From predictors to the columns of a design: numbers as they are, texts as indicators of their
//! levels.

use std::collections::BTreeSet;

use ridgewalk::potentials::peers::Peers;

use super::column::{Cells, Column, NO_TEXT};
use super::error::DataError;
use super::parts::{agreed, range, total};
use super::place::{Place, VALUE_SHOWN, listed, number, shown};
use super::question::{Question, Roles};
use super::table::Table;
use super::{MAX_HELD_LEVELS, MAX_LEVELS};

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
/// The base level of a text column is the first in alphabetical order and has no term: the
/// intercept stands for it. Without an intercept the first text column keeps all its levels, unless
/// they are centred, which would make them collinear.
pub(crate) fn terms<'t>(
    table: &Table,
    roles: &Roles<'t>,
    question: &Question,
    kept: &[usize],
    notes: &mut Vec<String>,
    peers: &dyn Peers,
) -> Result<Vec<Term<'t>>, DataError> {
    let mut all = Vec::new();
    let mut base_needed = question.intercept || question.standardize;
    for &column in &roles.predictors {
        if let Some(values) = column.numbers() {
            check_varies(table, column, values, question, kept, peers)?;
            all.push(Term::Number(column));
            continue;
        }
        let levels = levels(table, column, kept, peers)?;
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

/// The levels of a text column that occur in the rows kept, by any process, in alphabetical order,
/// with their codes; the code of a level that occurs elsewhere only is that of no row here.
pub(crate) fn levels(
    table: &Table,
    column: &Column,
    kept: &[usize],
    peers: &dyn Peers,
) -> Result<Vec<(String, u32)>, DataError> {
    let place = || Place::column(table.name(), column.name());
    let rows = total(peers, kept.len());
    let held = match column.cells() {
        Cells::Text { levels, codes } => Ok((levels, codes)),
        _ => {
            let levels = MAX_HELD_LEVELS;
            Err(DataError::TooManyLevels { place: place(), levels, more: true, rows })
        }
    };
    let (levels, codes) = agreed(peers, held)?;
    let mut seen = vec![false; levels.len()];
    for &row in kept {
        let code = codes.get(row).copied().unwrap_or(NO_TEXT);
        if let Some(flag) = usize::try_from(code).ok().and_then(|code| seen.get_mut(code)) {
            *flag = true;
        }
    }
    let here = || levels.iter().zip(0..).filter(|&(_, code)| seen[code as usize]);
    // Each with its end: a level has no byte that text has none of.
    let bytes: Vec<u8> = here().flat_map(|(level, _)| level.bytes().chain([0xff])).collect();
    let all: BTreeSet<String> = peers
        .gather(&bytes)
        .iter()
        .flat_map(|bytes| bytes.split_inclusive(|byte| *byte == 0xff))
        .map(|level| String::from_utf8_lossy(&level[..level.len() - 1]).into_owned())
        .collect();
    let code = |level: &String| {
        here().find(|(other, _)| *other == level).map_or(NO_TEXT - 1, |(_, code)| code)
    };
    let count = all.len();
    let coded = |level: String| (code(&level), level);
    let found = all.into_iter().take(MAX_LEVELS).map(coded).map(|(code, level)| (level, code));
    let found: Vec<(String, u32)> = found.collect();
    // An identifier: a text for each row, or nearly; or so many that they are hardly groups.
    let own = (count == rows && rows > 2) || (count > 20 && 2 * count > rows);
    if own || count > MAX_LEVELS {
        return Err(DataError::TooManyLevels { place: place(), levels: count, more: false, rows });
    }
    match &found[..] {
        [(level, _)] => {
            Err(DataError::Constant { place: place(), value: level.clone(), reason: "" })
        }
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
    peers: &dyn Peers,
) -> Result<(), DataError> {
    let [first, last] = range(peers, kept.iter().filter_map(|&row| values.get(row).copied()));
    if first != last {
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

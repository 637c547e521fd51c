//! A frame under construction: columns are looked up and each row is checked on its own. What
//! depends on all rows together comes later, from [`Facts`].

use std::collections::HashSet;

use crate::column::{Cells, Column};
use crate::error::{DataError, MissingIn};
use crate::facts::Facts;
use crate::place::{Place, number};
use crate::question::{Question, Role, Roles};
use crate::response;
use crate::table::Table;
use crate::{Frame, MAX_MAGNITUDE};

/// A question about a table, with every row checked.
#[derive(Debug)]
pub struct Draft<'t> {
    pub(crate) table: &'t Table,
    pub(crate) question: &'t Question,
    pub(crate) roles: Roles<'t>,
    /// The rows without missing values.
    pub(crate) kept: Vec<usize>,
    facts: Facts,
}

impl<'t> Draft<'t> {
    /// Finds the columns that the question names and checks their values.
    ///
    /// # Errors
    /// Columns that do not exist or cannot be used as asked, with the place of the first bad value.
    pub fn new(table: &'t Table, question: &'t Question) -> Result<Self, DataError> {
        let roles = Roles::new(table, question)?;
        roles.all().try_for_each(|(column, role)| usable(table, column, role))?;
        let (kept, dropped) = kept_rows(table, &roles, question.drop_missing)?;
        roles.all().try_for_each(|(column, _)| check_sizes(table, column, &kept))?;
        response::check(table, &roles, question, &kept)?;
        response::check_censoring(table, &roles, &kept)?;
        if let Some(column) = roles.weights {
            response::check_weights(table, column, &kept)?;
        }
        let facts = Facts::new(&roles, &kept, dropped);
        Ok(Self { table, question, roles, kept, facts })
    }

    /// The facts of these rows: complete unless they are only a part of the table.
    #[must_use]
    pub fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The frame of these rows, given the facts of all rows. Predictors are not standardized yet:
    /// [`Frame::standardize`] does that.
    ///
    /// # Errors
    /// Errors that only all rows together show: too few rows, a constant predictor, too many
    /// levels, a design that is too large.
    pub fn finish(&self, facts: &Facts) -> Result<Frame, DataError> {
        Frame::unscaled(self, facts)
    }
}

/// Checks that a column holds numbers or text, as its role requires.
fn usable(table: &Table, column: &Column, role: Role) -> Result<(), DataError> {
    let (file, name) = (table.name(), column.name());
    match column.cells() {
        Cells::Numbers(_) => Ok(()),
        Cells::Missing(_) => Err(DataError::NoValues { place: Place::column(file, name), role }),
        Cells::Other(found) => Err(DataError::ColumnType {
            place: Place::column(file, name),
            found: found.clone(),
            role,
        }),
        Cells::Infinite { row, value } => {
            Err(DataError::TooLarge { place: table.cell(*row, name), value: value.clone() })
        }
        Cells::Mixed { number, text } => Err(DataError::NotANumber {
            place: table.cell(text.0, name),
            value: text.1.clone(),
            number_row: table.row_place(number.0),
            number: number.1.clone(),
            role,
        }),
        Cells::ManyTexts { row, text } => text_usable(table, column, role, (*row, text)),
        Cells::Text { levels, codes } => {
            let row = codes.iter().position(|&code| code == 0).unwrap_or_default();
            let text = levels.first().map(String::as_str).unwrap_or_default();
            text_usable(table, column, role, (row, text))
        }
    }
}

/// Checks that a text column may have the role; `first` is its first value.
fn text_usable(
    table: &Table, column: &Column, role: Role, first: (usize, &str),
) -> Result<(), DataError> {
    let (row, text) = first;
    let place = || table.cell(row, column.name());
    if let Some(point) = with_decimal_point(text) {
        return Err(DataError::DecimalComma { place: place(), value: text.to_owned(), point });
    }
    let need = match role {
        Role::Trials => "whole numbers of trials",
        Role::Offset => "numbers as the offset",
        Role::Weights => "positive numbers as weights",
        Role::Event => "1 for an event and 0 for a censored row",
        Role::Upper => "numbers as the ends of intervals",
        Role::Predictor | Role::Response => return Ok(()),
    };
    Err(DataError::Text { place: place(), value: text.to_owned(), need })
}

/// `3,14` as `3.14`; `None` for text that is not such a number.
fn with_decimal_point(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once(',')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let sign = whole.trim_start_matches(['+', '-']);
    (digits(sign) && digits(fraction)).then(|| format!("{whole}.{fraction}"))
}

/// The rows without missing values in the columns in use, and the number of rows left out. Missing
/// values are an error unless rows may be dropped.
fn kept_rows(
    table: &Table, roles: &Roles<'_>, drop_missing: bool,
) -> Result<(Vec<usize>, usize), DataError> {
    // An interval may be open at either end.
    let open =
        |role: &Role| *role == Role::Upper || (*role == Role::Response && roles.upper.is_some());
    let used = roles.all().filter(|(_, role)| !open(role));
    let used: HashSet<&str> = used.map(|(column, _)| column.name()).collect();
    let mut lacking = vec![false; table.rows()];
    let mut columns = Vec::new();
    for column in table.columns().iter().filter(|column| used.contains(column.name())) {
        let missing = column.missing();
        for &row in &missing {
            if let Some(flag) = lacking.get_mut(row) {
                *flag = true;
            }
        }
        if let Some(&row) = missing.first() {
            let (column, first) = (column.name().to_owned(), table.row_place(row));
            columns.push(MissingIn { column, count: missing.len(), first });
        }
    }
    let kept: Vec<usize> = (0..table.rows()).filter(|&row| !lacking[row]).collect();
    let (of, rows) = (table.rows(), table.rows() - kept.len());
    let file = table.name().to_owned();
    if rows > 0 && !drop_missing {
        Err(DataError::Missing { file, columns, rows, of })
    } else if kept.is_empty() {
        Err(DataError::TooFewRows { file, rows: 0, dropped: rows })
    } else {
        Ok((kept, rows))
    }
}

/// Checks that numbers can be squared without overflow.
fn check_sizes(table: &Table, column: &Column, kept: &[usize]) -> Result<(), DataError> {
    let values = column.numbers().unwrap_or_default();
    let mut kept = kept.iter().filter_map(|&row| Some((row, *values.get(row)?)));
    match kept.find(|(_, value)| value.abs() > MAX_MAGNITUDE) {
        Some((row, value)) => {
            let place = table.cell(row, column.name());
            Err(DataError::TooLarge { place, value: number(value) })
        }
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::with_decimal_point;

    #[test]
    fn decimal_commas_are_distinguished_from_text() {
        assert_eq!(with_decimal_point("-3,14").as_deref(), Some("-3.14"));
        for text in ["a,b", "1,2,3", "1,", ",5", "3.14"] {
            assert_eq!(with_decimal_point(text), None, "{text}");
        }
    }
}

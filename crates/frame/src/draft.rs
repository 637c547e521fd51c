//! A frame under construction: columns are looked up and each row is checked on its own. What
//! depends on all rows together comes later, from [`Facts`].

use crate::column::{Cells, Column};
use crate::error::{DataError, MissingIn};
use crate::evaluate::{Memory, Source, Type};
use crate::factors::natural_order;
use crate::facts::{Counts, Facts};
use crate::formula::{Condition, FormulaError};
use crate::place::{Place, number};
use crate::question::{Question, Role};
use crate::response;
use crate::roles::{Parts, Roles, Use};
use crate::table::Table;
use crate::{Frame, MAX_COUNTED_LEVELS, MAX_LEVELS, MAX_MAGNITUDE, dates};

/// A question about a table, with every row checked.
#[derive(Debug)]
pub struct Draft<'t> {
    pub(crate) table: &'t Table,
    pub(crate) source: Source<'t>,
    pub(crate) question: &'t Question,
    pub(crate) roles: Roles,
    pub(crate) parts: Parts<'t>,
    /// The rows in use.
    pub(crate) kept: Vec<usize>,
    pub(crate) facts: Facts,
}

impl<'t> Draft<'t> {
    /// Finds the columns that the question names and checks their values.
    ///
    /// # Errors
    /// Columns that do not exist or cannot be used as asked, with the place of the first bad value.
    pub fn new(table: &'t Table, question: &'t Question) -> Result<Self, DataError> {
        let draft = Self::of_block(table, question)?;
        let Counts { kept, missing, unselected, .. } = draft.facts.counts;
        match &question.condition {
            Some(condition) if unselected == table.rows() => {
                let (file, condition) = (table.name().to_owned(), condition.to_string());
                Err(DataError::NothingSelected { file, condition, of: unselected })
            }
            _ if kept == 0 => {
                let file = table.name().to_owned();
                Err(DataError::TooFewRows { file, rows: 0, dropped: missing })
            }
            _ => Ok(draft),
        }
    }

    /// The same for some rows of a larger table, none of which may be in use.
    pub(crate) fn of_block(table: &'t Table, question: &'t Question) -> Result<Self, DataError> {
        let source = Source::new(table, &question.factors)?;
        let roles = Roles::new(&source, question)?;
        let used = roles.columns(&source);
        used.iter().try_for_each(|used| usable(table, used.column, used.needs()))?;
        let (kept, counts) = kept_rows(&source, question, &roles, &used)?;
        used.iter().try_for_each(|used| check_sizes(table, used.column, &kept))?;
        let parts = Parts::new(&source, &roles, &kept)?;
        response::check(table, &parts, question, &kept)?;
        response::check_censoring(table, &parts, &kept)?;
        if let Some(column) = &parts.weights {
            response::check_weights(table, column, &kept)?;
        }
        // Levels of grouping factors may be too many to gather, and no other part needs them.
        let own = used.iter().filter(|used| used.role != Role::Group).map(|used| used.column);
        let columns: Vec<&Column> = own.chain(parts.computed()).collect();
        let facts = Facts::new(&source, &roles, &columns, &kept, counts);
        Ok(Self { table, source, question, roles, parts, kept, facts })
    }

    /// The facts of these rows, to be merged with those of the other parts of the table.
    ///
    /// # Errors
    /// Too many levels of a grouping factor; values that smooths cannot learn from.
    pub fn facts(&self) -> Result<Facts, DataError> {
        // In a table of all parts, rows have no places.
        self.roles.smooths.iter().try_for_each(|smooth| smooth.check(&self.source, &self.kept))?;
        self.facts.gathered(&self.source, &self.roles, &self.kept)
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

    /// The levels of a text column in the order that it gives them, or in natural order; the base
    /// level that was asked for comes first.
    pub(crate) fn levels(&self, name: &str, facts: &Facts) -> Result<Vec<String>, DataError> {
        let place = || Place::column(self.table.name(), name);
        let rows = facts.counts.kept;
        let Some(all) = facts.levels(name) else {
            let levels = MAX_COUNTED_LEVELS;
            let dates = self.has_dates(name);
            return Err(DataError::TooManyLevels {
                place: place(),
                levels,
                more: true,
                rows,
                dates,
            });
        };
        // An identifier: a distinct text in almost every row, or too many to be groups.
        let count = all.len();
        let own = (count == rows && rows > 2) || (count > 20 && 2 * count > rows);
        if own || count > MAX_LEVELS {
            let (levels, dates) = (count, self.has_dates(name));
            return Err(DataError::TooManyLevels {
                place: place(),
                levels,
                more: false,
                rows,
                dates,
            });
        }
        let mut levels: Vec<String> = all.iter().cloned().collect();
        match self.source.column(name) {
            Some(column) => column.sort_levels(&mut levels),
            None => levels.sort_by(|a, b| natural_order(a, b)),
        }
        if let [level] = &levels[..] {
            return Err(DataError::Constant { place: place(), value: level.clone(), reason: "" });
        }
        if let Some((_, base)) = self.question.bases.iter().find(|(column, _)| column == name) {
            let Some(at) = levels.iter().position(|level| level == base) else {
                return Err(crate::variables::no_level(&self.source, name, base, &levels));
            };
            levels[..=at].rotate_right(1);
        }
        Ok(levels)
    }

    /// A term that needs all rows at once, if there is one.
    pub(crate) fn whole_term(&self) -> Option<String> {
        let group = self.roles.groups.first().map(|group| format!("({})", group.node));
        group.or_else(|| self.roles.smooths.first().map(|smooth| smooth.node.to_string()))
    }

    /// Whether the first text of a column is a date.
    fn has_dates(&self, name: &str) -> bool {
        match self.source.column(name).map(Column::cells) {
            Some(Cells::Text { levels, .. }) => {
                levels.first().is_some_and(|level| dates::days(level).is_some())
            }
            Some(Cells::ManyTexts { text, .. }) => dates::days(text).is_some(),
            _ => false,
        }
    }
}

/// Checks that a column holds numbers or text, as its role requires.
pub(crate) fn usable(table: &Table, column: &Column, role: Role) -> Result<(), DataError> {
    let (file, name) = (table.name(), column.name());
    match column.cells() {
        Cells::Numbers(_) => Ok(()),
        // Where only one column fits, an expression of it was refused.
        Cells::Sparse(_) if role == Role::Predictor => Ok(()),
        Cells::Sparse(columns) => {
            let found = format!("a sparse matrix of {} columns", columns.names().len());
            Err(DataError::ColumnType { place: Place::column(file, name), found, role })
        }
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
        _ => return Ok(()),
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

/// The rows in use: those that the condition selects, with a weight above 0 and without missing
/// values, which are an error unless rows may be dropped.
fn kept_rows(
    source: &Source<'_>, question: &Question, roles: &Roles, used: &[Use<'_>],
) -> Result<(Vec<usize>, Counts), DataError> {
    let table = source.table;
    let mut rows: Vec<usize> = (0..table.rows()).collect();
    if let Some(condition) = &question.condition {
        rows = match selected(source, condition, rows) {
            Err(DataError::NothingSelected { .. }) => Vec::new(),
            found => found?,
        };
    }
    let unselected = table.rows() - rows.len();
    if let Some(weights) = roles.weights.as_ref() {
        let weights = weights.columns().first().and_then(|name| source.column(name)?.numbers());
        rows.retain(|&row| weights.is_none_or(|weights| weights[row] != 0.0));
    }
    let (of, weightless) = (rows.len(), table.rows() - unselected - rows.len());
    let mut lacking = vec![false; table.rows()];
    let mut selected = vec![false; table.rows()];
    rows.iter().for_each(|&row| selected[row] = true);
    let mut columns = Vec::new();
    // An interval may be open at either end.
    let open = |role: Role| roles.upper.is_some() && matches!(role, Role::Upper | Role::Response);
    let names: std::collections::HashSet<&str> =
        used.iter().filter(|used| !open(used.role)).map(|used| used.column.name()).collect();
    for column in table.columns().iter().filter(|column| names.contains(column.name())) {
        let missing: Vec<usize> =
            column.missing().into_iter().filter(|&row| selected[row]).collect();
        missing.iter().for_each(|&row| lacking[row] = true);
        if let Some(&row) = missing.first() {
            let (column, first) = (column.name().to_owned(), table.row_place(row));
            columns.push(MissingIn { column, count: missing.len(), first });
        }
    }
    rows.retain(|&row| !lacking[row]);
    let (file, missing) = (table.name().to_owned(), of - rows.len());
    if missing > 0 && !question.drop_missing {
        Err(DataError::Missing { file, columns, rows: missing, of })
    } else {
        let missing_in = columns.into_iter().map(|column| column.column).collect();
        let counts = Counts { kept: rows.len(), missing, missing_in, unselected, weightless };
        Ok((rows, counts))
    }
}

/// The rows that fulfil a condition.
pub(crate) fn selected(
    source: &Source<'_>, condition: &Condition, mut rows: Vec<usize>,
) -> Result<Vec<usize>, DataError> {
    let (text, node) = (condition.text(), condition.node());
    if source.check(text, node)? == Type::Text {
        let message = format!("found `{node}`, need a comparison such as {node} == \"a\"");
        return Err(FormulaError::new(text, &node.span, message).into());
    }
    for name in node.columns() {
        if let Some(column) = source.column(name) {
            usable(source.table, column, Role::Where)?;
        }
    }
    let of = rows.len();
    let values = source.numbers(node, &rows, &Memory::new());
    let mut values = values.into_iter();
    rows.retain(|_| values.next().is_some_and(|value| value != 0.0 && !value.is_nan()));
    if rows.is_empty() {
        let (file, condition) = (source.table.name().to_owned(), condition.to_string());
        return Err(DataError::NothingSelected { file, condition, of });
    }
    Ok(rows)
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

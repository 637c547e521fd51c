//! A table turned into what a model needs: the design, the response and what goes with each row,
//! all checked.

use std::collections::HashSet;

use ridgewalk::potentials::peers::{Alone, Peers};

use super::column::{Cells, Column};
use super::error::{DataError, MissingIn};
use super::parts::{agreed, range, total};
use super::place::{NAME_SHOWN, Place, Row, listed, number, shown};
use super::question::{Question, Role, Roles};
use super::response;
use super::table::Table;
use super::terms::{Term, terms};
use super::{MAX_COEFFICIENTS, MAX_MAGNITUDE, MAX_VALUES, MIN_MAGNITUDE};

/// The name of the constant.
pub const INTERCEPT: &str = "(Intercept)";

/// Numbers for a model, row by row and coefficient by coefficient.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Frame {
    /// The name of each coefficient: the intercept first unless it is left out, then the predictors
    /// in the order they were given. A text column has one coefficient `column[level]` for each
    /// level but its base level.
    pub names: Vec<String>,
    /// How many rows are used.
    pub rows: usize,
    /// How many are used by all processes that have a part of them.
    pub all_rows: usize,
    /// How many coefficients there are.
    pub columns: usize,
    /// The design, row after row.
    pub design: Vec<f64>,
    /// The response of each row.
    pub response: Vec<f64>,
    /// The number of trials of each row.
    pub trials: Option<Vec<f64>>,
    /// The offset of each row.
    pub offset: Option<Vec<f64>>,
    /// The weight of each row.
    pub weights: Option<Vec<f64>>,
    /// Where each row stands in the file.
    pub lines: Vec<Row>,
    /// With `--standardize`: the mean that was taken from each column of the design and the
    /// standard deviation (divisor n) by which it was divided; (0, 1) for the intercept.
    pub scaling: Option<Vec<(f64, f64)>>,
    /// What the user should know: base levels, rows left out, what stands for 1.
    pub notes: Vec<String>,
}

impl Frame {
    /// Answers a question to a table.
    ///
    /// # Errors
    /// Columns that do not exist or cannot be used as asked, with the place of the first value in
    /// the way.
    pub fn new(table: &Table, question: &Question) -> Result<Self, DataError> {
        Self::of_part(table, question, &Alone)
    }

    /// Answers a question to a table of which other processes have the other rows; they all ask the
    /// same. Levels, means and standard deviations are those of all rows.
    ///
    /// # Errors
    /// As [`Frame::new`], in the process whose rows are in the way; [`DataError::Elsewhere`] in the
    /// others.
    pub fn of_part(
        table: &Table,
        question: &Question,
        peers: &dyn Peers,
    ) -> Result<Self, DataError> {
        let usable = Roles::new(table, question).and_then(|roles| {
            roles.all().try_for_each(|(column, role)| usable(table, column, role))?;
            Ok(roles)
        });
        let roles = agreed(peers, usable)?;
        same_kinds(table, &roles, peers)?;
        let mut notes = Vec::new();
        let kept = kept_rows(table, &roles, question.drop_missing, &mut notes, peers)?;
        for (column, role) in roles.all() {
            magnitudes(table, column, role, &kept, peers)?;
        }
        let response = response::values(table, &roles, question, &kept, &mut notes, peers)?;
        let of = |column: Option<&Column>| column.map(|column| numbers(column, &kept));
        let (offset, weights) = (of(roles.offset), of(roles.weights));
        if let (Some(weights), Some(column)) = (&weights, roles.weights) {
            agreed(peers, response::check_weights(table, column, weights, &kept))?;
        }
        let terms = terms(table, &roles, question, &kept, &mut notes, peers)?;
        let names = names(table, &terms, question.intercept)?;
        let (rows, columns) = (kept.len(), names.len());
        let too_large = if rows.saturating_mul(columns) > MAX_VALUES {
            let file = table.name().to_owned();
            Err(DataError::DesignTooLarge { file, rows, columns, limit: MAX_VALUES })
        } else {
            Ok(())
        };
        agreed(peers, too_large)?;
        let (design, scaling) = design(table, &terms, question, &kept, peers)?;
        if question.standardize && !question.intercept {
            notes.push("predictors are centred although there is no intercept: the linear predictor is 0 at their means".to_owned());
        }
        Ok(Self {
            names,
            rows,
            all_rows: total(peers, rows),
            columns,
            design,
            response,
            trials: of(roles.trials),
            offset,
            weights,
            lines: kept.iter().map(|&row| table.row_place(row)).collect(),
            scaling: question.standardize.then_some(scaling),
            notes,
        })
    }

    /// Row `row` of the design; empty beyond the last.
    #[must_use]
    pub fn row(&self, row: usize) -> &[f64] {
        self.design.chunks_exact(self.columns.max(1)).nth(row).unwrap_or_default()
    }
}

/// The numbers of a column in the rows that are kept; none of another column.
pub(crate) fn numbers(column: &Column, kept: &[usize]) -> Vec<f64> {
    let values = column.numbers().unwrap_or_default();
    kept.iter().filter_map(|&row| values.get(row).copied()).collect()
}

/// Whether a column is of numbers or of text, as its use needs.
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

/// Whether a column of text, of which one is given, may have the use.
fn text_usable(
    table: &Table,
    column: &Column,
    role: Role,
    first: (usize, &str),
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
        Role::Predictor | Role::Response => return Ok(()),
    };
    Err(DataError::Text { place: place(), value: text.to_owned(), need })
}

/// `3,14` as `3.14`; nothing of a text that is no such number.
fn with_decimal_point(text: &str) -> Option<String> {
    let (whole, fraction) = text.split_once(',')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let sign = whole.trim_start_matches(['+', '-']);
    (digits(sign) && digits(fraction)).then(|| format!("{whole}.{fraction}"))
}

/// Whether the columns that are used are the same in every process, in one order, and each of
/// numbers in all of them or of text.
fn same_kinds(table: &Table, roles: &Roles<'_>, peers: &dyn Peers) -> Result<(), DataError> {
    let columns: Vec<&Column> = roles.all().map(|(column, _)| column).collect();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    // Names are read from lines: none has a line break in it that is not quoted, and quoted ones
    // differ where the names do.
    let all = peers.gather(names.join("\n").as_bytes());
    if let Some(part) = all.iter().position(|other| *other != all[0]) {
        return Err(DataError::OtherColumns { file: table.name().to_owned(), part });
    }
    let mut kinds: Vec<f64> = columns
        .iter()
        .flat_map(|column| [column.numbers().is_some(), column.numbers().is_none()])
        .map(|kind| f64::from(u8::from(kind)))
        .collect();
    peers.largest(&mut kinds);
    match kinds.chunks_exact(2).position(|kinds| kinds == [1.0, 1.0]) {
        Some(at) => {
            Err(DataError::Parts { place: Place::column(table.name(), columns[at].name()) })
        }
        None => Ok(()),
    }
}

/// The rows without missing values in the columns that are used, or a refusal that counts the
/// others.
fn kept_rows(
    table: &Table,
    roles: &Roles<'_>,
    drop_missing: bool,
    notes: &mut Vec<String>,
    peers: &dyn Peers,
) -> Result<Vec<usize>, DataError> {
    let mut lacking = vec![false; table.rows()];
    let mut columns = Vec::new();
    let used: HashSet<&str> = roles.all().map(|(column, _)| column.name()).collect();
    let mut counts = Vec::new();
    let used_columns = || table.columns().iter().filter(|column| used.contains(column.name()));
    for column in used_columns() {
        let missing = column.missing();
        counts.push(missing.len() as f64);
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
    // A part needs a row, and all of them two.
    let found = if rows > 0 && !drop_missing {
        Err(DataError::Missing { file, columns, rows, of })
    } else if kept.is_empty() {
        Err(DataError::TooFewRows { file, rows: 0, dropped: rows })
    } else {
        Ok(())
    };
    agreed(peers, found)?;
    let [all, rows, of] = [kept.len(), rows, of].map(|count| total(peers, count));
    if all < 2 {
        let file = table.name().to_owned();
        return Err(DataError::TooFewRows { file, rows: all, dropped: rows });
    }
    if rows > 0 {
        peers.sum(&mut counts);
        let names = used_columns().zip(&counts).filter(|(_, count)| **count > 0.0);
        let names = listed(&names.map(|(column, _)| column.name()).collect::<Vec<_>>(), 8);
        notes.push(format!("left out {rows} of {of} rows for missing values in {names}"));
    }
    Ok(kept)
}

/// Whether numbers can be squared without overflow, and do not all vanish when they are.
fn magnitudes(
    table: &Table,
    column: &Column,
    role: Role,
    kept: &[usize],
    peers: &dyn Peers,
) -> Result<(), DataError> {
    let Some(values) = column.numbers() else { return Ok(()) };
    let kept = || kept.iter().filter_map(|&row| Some((row, values.get(row)?.abs())));
    let found = match kept().find(|(_, size)| !(*size <= MAX_MAGNITUDE)) {
        Some((row, _)) => Err(DataError::TooLarge {
            place: table.cell(row, column.name()),
            value: number(values[row]),
        }),
        None => Ok(()),
    };
    agreed(peers, found)?;
    let [_, largest] = range(peers, kept().map(|(_, size)| size));
    let may_vanish = matches!(role, Role::Offset);
    if largest > 0.0 && largest < MIN_MAGNITUDE && !may_vanish {
        return Err(DataError::TooSmall {
            place: Place::column(table.name(), column.name()),
            largest,
        });
    }
    Ok(())
}

/// The names of the coefficients, each there once.
fn names(table: &Table, terms: &[Term<'_>], intercept: bool) -> Result<Vec<String>, DataError> {
    let found = terms.len() + usize::from(intercept);
    if found > MAX_COEFFICIENTS {
        let file = table.name().to_owned();
        return Err(DataError::TooManyCoefficients { file, found, limit: MAX_COEFFICIENTS });
    }
    let mut names = Vec::with_capacity(found);
    let mut seen = HashSet::with_capacity(found);
    if intercept {
        seen.insert(INTERCEPT.to_owned());
        names.push(INTERCEPT.to_owned());
    }
    for term in terms {
        let name = term.name();
        let place = || Place::column(table.name(), term.column().name());
        if name.chars().any(char::is_control) {
            return Err(DataError::UnprintableName { place: place(), name });
        }
        if !seen.insert(name.clone()) {
            return Err(DataError::NameClash { place: place(), name });
        }
        names.push(name);
    }
    Ok(names)
}

/// A design row after row, and the mean and the standard deviation of each of its columns.
type Scaled = (Vec<f64>, Vec<(f64, f64)>);

/// The design, standardized if asked for. The scaling is (0, 1) where nothing was scaled.
fn design(
    table: &Table,
    terms: &[Term<'_>],
    question: &Question,
    kept: &[usize],
    peers: &dyn Peers,
) -> Result<Scaled, DataError> {
    let first = usize::from(question.intercept);
    let width = terms.len() + first;
    // The intercept's entries stay; all others are written below.
    let mut design = vec![1.0; kept.len() * width];
    let mut scaling = vec![(0.0, 1.0); width];
    for (index, term) in terms.iter().enumerate() {
        let mut values = term.values(kept);
        if question.standardize {
            let (mean, sd) = mean_and_sd(&values, peers);
            let [_, size] = range(peers, values.iter().map(|value| value.abs()));
            // Differences of the size of rounding would be blown up to differences of size 1.
            if !(sd > 16.0 * f64::EPSILON * size) {
                return Err(DataError::Constant {
                    place: Place::column(table.name(), term.column().name()),
                    value: shown(&number(mean), NAME_SHOWN),
                    reason: " by more than rounding, for --standardize",
                });
            }
            values.iter_mut().for_each(|value| *value = (*value - mean) / sd);
            scaling[index + first] = (mean, sd);
        }
        for (row, value) in design.chunks_exact_mut(width).zip(values) {
            row[index + first] = value;
        }
    }
    Ok((design, scaling))
}

/// The bits of a number that are its power of two.
const EXPONENT: u64 = 0x7ff0_0000_0000_0000;

/// The mean and the standard deviation with divisor n, in two passes, free of overflow and
/// underflow for any finite values that can be added up; over all processes.
fn mean_and_sd(values: &[f64], peers: &dyn Peers) -> (f64, f64) {
    let sum = |here: f64| {
        let mut sum = [here];
        peers.sum(&mut sum);
        sum[0]
    };
    let n = total(peers, values.len()) as f64;
    let first = sum(values.iter().sum()) / n;
    // The second pass takes the rounding of the first sum away.
    let mean = first + sum(values.iter().map(|value| value - first).sum()) / n;
    let [_, largest] = range(peers, values.iter().map(|value| (value - mean).abs()));
    if largest == 0.0 {
        return (mean, 0.0);
    }
    // A power of two as the unit: no square overflows or vanishes, and nothing is rounded that
    // would not be without it.
    let power = f64::from_bits(largest.to_bits() & EXPONENT);
    let unit = if power > 0.0 { power } else { largest };
    let squares = sum(values.iter().map(|value| ((value - mean) / unit).powi(2)).sum());
    (mean, unit * (squares / n).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_deviations_have_divisor_n_and_do_not_overflow() {
        let (mean, sd) = mean_and_sd(&[1.0, 2.0, 3.0, 4.0], &Alone);
        assert_eq!((mean, sd), (2.5, 1.25_f64.sqrt()));
        let (mean, sd) = mean_and_sd(&[1e200, 3e200], &Alone);
        assert_eq!(mean, 2e200);
        assert!((sd / 1e200 - 1.0).abs() < 1e-15);
        // With the squares themselves this would be 0.
        let (_, sd) = mean_and_sd(&[1e-200, 3e-200], &Alone);
        assert!((sd / 1e-200 - 1.0).abs() < 1e-15);
        let (mean, sd) = mean_and_sd(&[1e9, 1e9 + 1.0, 1e9 + 2.0], &Alone);
        assert_eq!(mean, 1e9 + 1.0);
        assert!((sd - (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
    }

    #[test]
    fn decimal_commas_are_told_from_words() {
        assert_eq!(with_decimal_point("-3,14").as_deref(), Some("-3.14"));
        for text in ["a,b", "1,2,3", "1,", ",5", "3.14"] {
            assert_eq!(with_decimal_point(text), None, "{text}");
        }
    }
}

//! Sparse columns: a matrix of numbers, most of them 0, that is one column of a table. In a formula
//! its name stands for all of its columns.

use std::collections::HashSet;

use sha2::{Digest, Sha256};

use crate::error::DataError;
use crate::matrix::SparseRows;
use crate::place::{NAME_SHOWN, Place, number, shown};
use crate::{MAX_MAGNITUDE, MAX_SPARSE_COEFFICIENTS, MAX_VALUES};

/// Numbers with a name for each of their columns, of which only those that are not 0 are stored.
///
/// [`Column::from_sparse`](crate::Column::from_sparse) makes a column of a table of them. In a
/// formula the name of that column stands for all of them: `y ~ x`, `y ~ x + age + (1 | g)`.
///
/// ```
/// use ridgewalk_frame::{Column, FamilyName, Frame, Question, SparseColumns, Table};
///
/// // Rows (5, 0, 0), (0, 0, 1), (0, 2, 0), (1, 0, 3).
/// let names = ["red", "green", "blue"].map(str::to_owned).to_vec();
/// let starts = vec![0, 1, 2, 3, 5];
/// let x = SparseColumns::from_csr(names, starts, vec![0, 2, 1, 0, 2], vec![5.0, 1.0, 2.0, 1.0, 3.0])?;
/// let y = Column::from_numbers("y", &[1.0, 0.0, 1.0, 0.0]);
/// let table = Table::from_columns("colours", vec![y, Column::from_sparse("x", x)])?;
/// let frame = Frame::new(&table, &Question::of_formula("y ~ x".parse()?, FamilyName::Logistic))?;
/// assert_eq!(frame.names, ["(Intercept)", "red", "green", "blue"]);
/// assert_eq!(frame.row(3), [1.0, 1.0, 0.0, 3.0]);
///
/// let wrong = SparseColumns::from_csr(vec!["a".to_owned()], vec![0, 1], vec![1], vec![2.0]);
/// let message = wrong.unwrap_err().to_string();
/// assert_eq!(message, "sparse matrix, row 1: found the column number 1, need one below 1, the number of columns");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct SparseColumns {
    names: Vec<String>,
    rows: SparseRows,
}

/// What messages call a matrix that has no file.
const MATRIX: &str = "sparse matrix";

fn wrong(found: String, need: impl Into<String>) -> DataError {
    DataError::Sparse { place: Place::file(MATRIX), found, need: need.into() }
}

/// Rows count from 0 here and from 1 in messages.
fn wrong_row(row: usize, found: String, need: impl Into<String>) -> DataError {
    let mut place = Place::file(MATRIX);
    place.row = Some(crate::Row::Row(row as u64 + 1));
    DataError::Sparse { place, found, need: need.into() }
}

impl SparseColumns {
    /// Columns in compressed rows: row i has the entries `starts[i]..starts[i + 1]`, each with the
    /// number of its column, from 0, and its value. Zeros that are stored are left out.
    ///
    /// # Errors
    /// Names that are empty or occur twice; lists whose lengths do not agree; columns of a row that
    /// do not rise, or do not exist; values that are not finite or above 1e100 in size.
    pub fn from_csr(
        names: Vec<String>, starts: Vec<usize>, indices: Vec<u32>, values: Vec<f64>,
    ) -> Result<Self, DataError> {
        check_names(&names)?;
        check_starts(&starts, indices.len(), values.len())?;
        let columns = names.len();
        let mut zeros = false;
        for (row, pair) in starts.windows(2).enumerate() {
            let mut before = None;
            for (&index, &value) in indices[pair[0]..pair[1]].iter().zip(&values[pair[0]..pair[1]])
            {
                if index as usize >= columns {
                    let need = format!("one below {columns}, the number of columns");
                    return Err(wrong_row(row, format!("the column number {index}"), need));
                }
                if before.is_some_and(|before| before >= index) {
                    let found = format!("the column number {index} after {}", before.unwrap_or(0));
                    return Err(wrong_row(row, found, "columns that rise within a row"));
                }
                check_value(value, row, &names[index as usize])?;
                zeros |= value == 0.0;
                before = Some(index);
            }
        }
        let rows = SparseRows { columns, starts, indices, values };
        Ok(Self { names, rows: if zeros { rows.without_zeros() } else { rows } })
    }

    /// Columns in compressed columns: column k has the entries `starts[k]..starts[k + 1]`, each with
    /// the number of its row, from 0, and its value. `rows` is the number of rows.
    ///
    /// # Errors
    /// As [`from_csr`](Self::from_csr), with rows and columns exchanged.
    ///
    /// ```
    /// use ridgewalk_frame::SparseColumns;
    ///
    /// let names = || vec!["a".to_owned(), "b".to_owned()];
    /// let by_row = SparseColumns::from_csr(names(), vec![0, 2, 3], vec![0, 1, 1], vec![1.0, 2.0, 3.0])?;
    /// let by_column = SparseColumns::from_csc(names(), 2, &[0, 1, 3], &[0, 0, 1], &[1.0, 2.0, 3.0])?;
    /// assert_eq!(by_row, by_column);
    /// # Ok::<(), ridgewalk_frame::DataError>(())
    /// ```
    pub fn from_csc(
        names: Vec<String>, rows: usize, starts: &[usize], indices: &[u32], values: &[f64],
    ) -> Result<Self, DataError> {
        check_names(&names)?;
        check_starts(starts, indices.len(), values.len())?;
        if rows > MAX_VALUES {
            return Err(wrong(format!("{rows} rows"), format!("at most {MAX_VALUES}")));
        }
        if starts.len() != names.len() + 1 {
            let found = format!("{} starts of columns", starts.len());
            return Err(wrong(found, format!("{}, one more than names", names.len() + 1)));
        }
        let mut ends = vec![0; rows + 1];
        for (column, pair) in starts.windows(2).enumerate() {
            let mut before = None;
            for &row in &indices[pair[0]..pair[1]] {
                let Some(count) = ends.get_mut(row as usize + 1) else {
                    let found = format!("the row number {row} in the column `{}`", names[column]);
                    return Err(wrong(found, format!("one below {rows}, the number of rows")));
                };
                if before.is_some_and(|before| before >= row) {
                    let found = format!("the row number {row} after {}", before.unwrap_or(0));
                    return Err(wrong(found, "rows that rise within a column"));
                }
                *count += 1;
                before = Some(row);
            }
        }
        (1..=rows).for_each(|row| ends[row] += ends[row - 1]);
        let begins = ends.clone();
        let (mut columns, mut by_row) = (vec![0; indices.len()], vec![0.0; values.len()]);
        for (pair, column) in starts.windows(2).zip(0_u32..) {
            for at in pair[0]..pair[1] {
                let place = &mut ends[indices[at] as usize];
                (columns[*place], by_row[*place]) = (column, values[at]);
                *place += 1;
            }
        }
        Self::from_csr(names, begins, columns, by_row)
    }

    /// Rows that were checked while they were read.
    pub(crate) fn checked(names: Vec<String>, rows: SparseRows) -> Self {
        Self { names, rows }
    }

    /// The name of each column.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The entries.
    #[must_use]
    pub fn entries(&self) -> &SparseRows {
        &self.rows
    }

    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows.rows()
    }

    /// Some rows, in this order. Each must exist.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        Self { names: self.names.clone(), rows: self.rows.select(rows) }
    }

    pub(crate) fn digest(&self, digest: &mut Sha256) {
        for name in &self.names {
            digest.update(name.as_bytes());
            digest.update([0xff]);
        }
        for start in &self.rows.starts {
            digest.update((*start as u64).to_le_bytes());
        }
        for (index, value) in self.rows.indices.iter().zip(&self.rows.values) {
            digest.update(index.to_le_bytes());
            digest.update(value.to_bits().to_le_bytes());
        }
    }
}

fn check_names(names: &[String]) -> Result<(), DataError> {
    if names.is_empty() || names.len() > MAX_SPARSE_COEFFICIENTS {
        let found = format!("{} columns", names.len());
        return Err(wrong(found, format!("from 1 to {MAX_SPARSE_COEFFICIENTS}")));
    }
    let mut seen = HashSet::with_capacity(names.len());
    for name in names {
        if name.is_empty() || name.chars().any(char::is_control) {
            let found = format!("the name `{}` of a column", shown(name, NAME_SHOWN));
            return Err(wrong(found, "names without control characters that are not empty"));
        }
        if !seen.insert(name) {
            let found = format!("the name `{}` for two columns", shown(name, NAME_SHOWN));
            return Err(wrong(found, "different names"));
        }
    }
    Ok(())
}

fn check_starts(starts: &[usize], indices: usize, values: usize) -> Result<(), DataError> {
    if indices != values {
        let found = format!("{indices} indices for {values} values");
        return Err(wrong(found, "an index for each value"));
    }
    if values > MAX_VALUES {
        return Err(wrong(format!("{values} values"), format!("at most {MAX_VALUES}")));
    }
    match (starts.first(), starts.last()) {
        (Some(0), Some(&last)) if last == values => {}
        (first, last) => {
            let shown = |end: Option<&usize>| end.map_or("none".to_owned(), ToString::to_string);
            let found = format!("starts from {} to {}", shown(first), shown(last));
            return Err(wrong(found, format!("starts from 0 to {values}, the number of values")));
        }
    }
    match starts.windows(2).find(|pair| pair[0] > pair[1]) {
        Some(pair) => {
            let found = format!("the start {} after {}", pair[1], pair[0]);
            Err(wrong(found, "starts that do not fall"))
        }
        None => Ok(()),
    }
}

fn check_value(value: f64, row: usize, name: &str) -> Result<(), DataError> {
    if value.abs() <= MAX_MAGNITUDE {
        return Ok(());
    }
    let mut place = Place::column(MATRIX, name);
    place.row = Some(crate::Row::Row(row as u64 + 1));
    let need = "a finite number of at most 1e100 in size; a missing value is not 0".to_owned();
    Err(DataError::Sparse { place, found: number(value), need })
}

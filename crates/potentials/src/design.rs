//! Designs: the rows a_i of a ridge-separable potential, dense or sparse, in memory or in a file,
//! checked on construction.

use std::borrow::Cow;

use crate::error::{Error, length};
use crate::stored::Stored;

/// The matrix whose rows are the a_i.
#[derive(Debug, Clone, PartialEq)]
pub enum Design<'a> {
    /// Every entry, row by row.
    Dense(Dense<'a>),
    /// The entries that are not 0.
    Sparse(Sparse),
    /// Every entry, in a file.
    Stored(Stored),
}

impl Design<'_> {
    /// The number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.values.len() / dense.columns,
            Self::Sparse(sparse) => sparse.starts.len() - 1,
            Self::Stored(stored) => stored.rows(),
        }
    }

    /// The number of entries that are stored.
    pub(crate) fn entries(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.values.len(),
            Self::Sparse(sparse) => sparse.values.len(),
            Self::Stored(stored) => stored.rows() * stored.columns(),
        }
    }

    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.columns,
            Self::Sparse(sparse) => sparse.columns,
            Self::Stored(stored) => stored.columns(),
        }
    }

    /// An error if entries in a file could not be read since it was made. Results of all passes
    /// since then are worthless.
    pub(crate) fn intact(&self) -> Result<(), Error> {
        match self {
            Self::Stored(stored) => stored.intact(),
            Self::Dense(_) | Self::Sparse(_) => Ok(()),
        }
    }
}

impl<'a> From<Dense<'a>> for Design<'a> {
    fn from(dense: Dense<'a>) -> Self {
        Self::Dense(dense)
    }
}

impl From<Stored> for Design<'_> {
    fn from(stored: Stored) -> Self {
        Self::Stored(stored)
    }
}

impl From<Sparse> for Design<'_> {
    fn from(sparse: Sparse) -> Self {
        Self::Sparse(sparse)
    }
}

/// A dense design, row by row; borrowed or owned.
#[derive(Debug, Clone, PartialEq)]
pub struct Dense<'a> {
    columns: usize,
    values: Cow<'a, [f64]>,
}

impl<'a> Dense<'a> {
    /// A design of `rows` times `columns` entries, row by row.
    ///
    /// # Errors
    /// No rows or columns, a wrong number of entries, or an entry that is not finite, by row and
    /// column.
    pub fn new(
        rows: usize, columns: usize, values: impl Into<Cow<'a, [f64]>>,
    ) -> Result<Self, Error> {
        let values = values.into();
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { rows, columns });
        }
        length("the design", values.len(), rows.saturating_mul(columns))?;
        if let Some(at) = values.iter().position(|x| !x.is_finite()) {
            return Err(Error::Entry {
                row: at / columns,
                column: at % columns,
                value: values[at],
            });
        }
        Ok(Self { columns, values })
    }

    /// Whole rows that were checked before.
    pub(crate) fn of_checked(columns: usize, values: &'a [f64]) -> Self {
        Self { columns, values: values.into() }
    }

    /// The design with these columns, all of one length.
    ///
    /// ```
    /// use ridgewalk_potentials::Dense;
    ///
    /// let (age, dose) = (vec![31.0, 45.0, 27.0], vec![1.0, 0.5, 2.0]);
    /// let design = Dense::from_columns(&[age, dose])?;
    /// assert_eq!(design, Dense::new(3, 2, vec![31.0, 1.0, 45.0, 0.5, 27.0, 2.0])?);
    /// # Ok::<(), ridgewalk_potentials::Error>(())
    /// ```
    ///
    /// # Errors
    /// No rows or columns, a column that is shorter or longer than the first, or an entry that is
    /// not finite, by row and column.
    pub fn from_columns<C: AsRef<[f64]>>(columns: &[C]) -> Result<Dense<'static>, Error> {
        let rows = columns.first().map_or(0, |column| column.as_ref().len());
        for (column, values) in columns.iter().enumerate() {
            let got = values.as_ref().len();
            if got != rows {
                return Err(Error::Column { column, got, need: rows });
            }
        }
        let row = |row: usize| columns.iter().map(move |column| column.as_ref()[row]);
        let values: Vec<f64> = (0..rows).flat_map(row).collect();
        Dense::new(rows, columns.len(), values)
    }

    /// The same design with a column of ones before the others.
    #[must_use]
    pub fn with_intercept(&self) -> Dense<'static> {
        let rows = self.values.chunks_exact(self.columns);
        let values: Vec<f64> =
            rows.flat_map(|row| std::iter::once(1.0).chain(row.iter().copied())).collect();
        Dense { columns: self.columns + 1, values: values.into() }
    }

    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    pub(crate) fn values(&self) -> &[f64] {
        &self.values
    }
}

/// A sparse design in compressed rows: row i has the entries `starts[i]..starts[i + 1]` of
/// `indices` and `values`.
#[derive(Debug, Clone, PartialEq)]
pub struct Sparse {
    columns: usize,
    starts: Vec<usize>,
    /// 32 bits instead of 64: a large design is read once per step, and this makes it a quarter
    /// smaller.
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// A column index in its stored form.
#[allow(clippy::cast_possible_truncation, reason = "a design has at most MOST_COLUMNS columns")]
fn narrow(column: usize) -> u32 {
    column as u32
}

/// The most columns of a sparse design.
const MOST_COLUMNS: usize = u32::MAX as usize;

impl Sparse {
    /// A design from the three lists of the format; indices must rise within each row.
    ///
    /// # Errors
    /// No rows or columns, 2³² columns or more, lists that do not fit together, or an entry that is
    /// not finite, by row and column.
    pub fn new(
        columns: usize, starts: Vec<usize>, indices: Vec<usize>, values: Vec<f64>,
    ) -> Result<Self, Error> {
        let rows = starts.len().saturating_sub(1);
        if rows == 0 || columns == 0 {
            return Err(Error::Empty { rows, columns });
        }
        if columns > MOST_COLUMNS {
            return Err(Error::Structure {
                row: 0,
                column: columns,
                need: "fewer than 2^32 columns",
            });
        }
        length("the list of column indices", indices.len(), values.len())?;
        let ordered = starts.windows(2).position(|pair| pair[0] > pair[1]);
        if let Some(row) = ordered {
            return Err(Error::Structure {
                row,
                column: starts[row],
                need: "row starts that do not fall",
            });
        }
        if starts[0] != 0 {
            return Err(Error::Structure {
                row: 0,
                column: starts[0],
                need: "a first row start of 0",
            });
        }
        length("the list of values", values.len(), starts[rows])?;
        for row in 0..rows {
            let range = starts[row]..starts[row + 1];
            for (k, &column) in indices[range.clone()].iter().enumerate() {
                if column >= columns {
                    return Err(Error::Structure {
                        row,
                        column,
                        need: "an index below the number of columns",
                    });
                }
                if k > 0 && indices[range.start + k - 1] >= column {
                    return Err(Error::Structure { row, column, need: "indices that rise" });
                }
                let value = values[range.start + k];
                if !value.is_finite() {
                    return Err(Error::Entry { row, column, value });
                }
            }
        }
        let indices = indices.into_iter().map(narrow).collect();
        Ok(Self { columns, starts, indices, values })
    }

    /// The entries of a dense design that are not 0.
    #[must_use]
    pub fn from_dense(dense: &Dense<'_>) -> Self {
        let mut sparse = Self {
            columns: dense.columns,
            starts: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
        };
        for row in dense.values.chunks_exact(dense.columns) {
            for (column, &value) in row.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                sparse.indices.push(narrow(column));
                sparse.values.push(value);
            }
            sparse.starts.push(sparse.values.len());
        }
        sparse
    }

    /// The same design with a column of ones before the others.
    #[must_use]
    pub fn with_intercept(&self) -> Self {
        let rows = self.starts.len() - 1;
        let mut sparse = Self {
            columns: self.columns + 1,
            starts: vec![0],
            indices: Vec::new(),
            values: Vec::new(),
        };
        for row in 0..rows {
            let (indices, values) = self.row(row);
            sparse.indices.push(0);
            sparse.indices.extend(indices.iter().map(|k| k + 1));
            sparse.values.push(1.0);
            sparse.values.extend_from_slice(values);
            sparse.starts.push(sparse.values.len());
        }
        sparse
    }

    /// Every entry, zeros included.
    pub(crate) fn to_dense(&self) -> Result<Dense<'static>, Error> {
        let rows = self.starts.len() - 1;
        let mut values = vec![0.0; rows * self.columns];
        for (row, entries) in values.chunks_exact_mut(self.columns).enumerate() {
            self.entries(row).for_each(|(k, value)| entries[k] = value);
        }
        Dense::new(rows, self.columns, values)
    }

    /// The same design with each column times a number.
    pub(crate) fn with_scaled_columns(&self, scales: &[f64]) -> Result<Self, Error> {
        let mut scaled = self.clone();
        for row in 0..self.starts.len() - 1 {
            let values = &mut scaled.values[self.starts[row]..self.starts[row + 1]];
            for ((column, value), into) in self.entries(row).zip(values) {
                *into = scales[column] * value;
                if !into.is_finite() {
                    return Err(Error::Entry { row, column, value: *into });
                }
            }
        }
        Ok(scaled)
    }

    /// The column indices and values of a row.
    pub(crate) fn row(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.starts[row]..self.starts[row + 1];
        (&self.indices[range.clone()], &self.values[range])
    }

    /// The columns of a row with their values.
    pub(crate) fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + Clone {
        let (indices, values) = self.row(row);
        indices.iter().map(|&k| k as usize).zip(values.iter().copied())
    }
}

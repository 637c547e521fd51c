//! Designs: every entry, or, for wide designs of factors, only the entries that are not 0.

use std::borrow::Cow;

use rayon::prelude::*;

/// The rows of a design.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Matrix {
    /// Every entry.
    Dense {
        /// The number of columns.
        columns: usize,
        /// Row after row.
        values: Vec<f64>,
    },
    /// The entries that are not 0.
    Sparse(SparseRows),
}

/// A design in compressed rows: row i has the entries `starts[i]..starts[i + 1]`.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseRows {
    /// The number of columns.
    pub columns: usize,
    /// Where each row begins, and where the last ends.
    pub starts: Vec<usize>,
    /// The columns of the entries, rising within a row.
    pub indices: Vec<u32>,
    /// The entries.
    pub values: Vec<f64>,
}

impl Default for Matrix {
    fn default() -> Self {
        Self::Dense { columns: 0, values: Vec::new() }
    }
}

impl Matrix {
    /// The number of columns.
    #[must_use]
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense { columns, .. } => *columns,
            Self::Sparse(rows) => rows.columns,
        }
    }

    /// Whether only entries that are not 0 are stored.
    #[must_use]
    pub fn is_sparse(&self) -> bool {
        matches!(self, Self::Sparse(_))
    }

    /// The number of entries that are stored.
    #[must_use]
    pub fn stored(&self) -> usize {
        match self {
            Self::Dense { values, .. } => values.len(),
            Self::Sparse(rows) => rows.values.len(),
        }
    }

    /// Every entry, row after row.
    #[must_use]
    pub fn dense(&self) -> Cow<'_, [f64]> {
        match self {
            Self::Dense { values, .. } => Cow::Borrowed(values),
            Self::Sparse(rows) => {
                let mut values = vec![0.0; (rows.starts.len() - 1) * rows.columns];
                let each = values.chunks_exact_mut(rows.columns.max(1)).enumerate();
                each.for_each(|(row, out)| rows.entries(row).for_each(|(k, value)| out[k] = value));
                Cow::Owned(values)
            }
        }
    }

    /// Every entry of a row; of a row beyond the last, none.
    #[must_use]
    pub fn row(&self, row: usize) -> Cow<'_, [f64]> {
        match self {
            Self::Dense { columns, values } => {
                Cow::Borrowed(values.chunks_exact((*columns).max(1)).nth(row).unwrap_or_default())
            }
            Self::Sparse(rows) if row + 1 < rows.starts.len() => {
                let mut values = vec![0.0; rows.columns];
                rows.entries(row).for_each(|(k, value)| values[k] = value);
                Cow::Owned(values)
            }
            Self::Sparse(_) => Cow::Owned(Vec::new()),
        }
    }

    /// Calls `visit` with the column and the value of each stored entry of a row, which must exist.
    pub fn visit(&self, row: usize, mut visit: impl FnMut(usize, f64)) {
        match self {
            Self::Dense { columns, values } => {
                let values = &values[row * columns..(row + 1) * columns];
                values.iter().enumerate().for_each(|(k, value)| visit(k, *value));
            }
            Self::Sparse(rows) => rows.entries(row).for_each(|(k, value)| visit(k, value)),
        }
    }

    /// What `each` makes of the columns: it gets the number of a column, its stored entries, and the
    /// number of zeros beside them.
    pub fn by_column<T>(&self, mut each: impl FnMut(usize, &[f64], usize) -> T) -> Vec<T> {
        match self {
            Self::Dense { columns, values } => {
                let column = |k: usize| -> Vec<f64> {
                    values.iter().skip(k).step_by((*columns).max(1)).copied().collect()
                };
                (0..*columns).map(|k| each(k, &column(k), 0)).collect()
            }
            Self::Sparse(rows) => {
                let (ends, values) = rows.columns_of_values();
                let count = rows.starts.len() - 1;
                let mut start = 0;
                let column = |(k, &end): (usize, &usize)| {
                    let own = &values[start..end];
                    start = end;
                    each(k, own, count - own.len())
                };
                ends.iter().enumerate().map(column).collect()
            }
        }
    }

    /// Adds the rows of another one of its kind.
    pub fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Dense { columns, values }, Self::Dense { columns: same, values: more }) => {
                *columns = same;
                values.extend(more);
            }
            (Self::Sparse(rows), Self::Sparse(more)) => rows.append(more),
            (all, other) => {
                let columns = other.columns();
                let values = [all.dense(), other.dense()].concat();
                *all = Self::Dense { columns, values };
            }
        }
    }

    /// These rows, in this order. Each must exist.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        match self {
            Self::Dense { columns, values } => {
                let row = |&row: &usize| values[row * columns..(row + 1) * columns].iter().copied();
                Self::Dense { columns: *columns, values: rows.iter().flat_map(row).collect() }
            }
            Self::Sparse(all) => Self::Sparse(all.select(rows)),
        }
    }

    /// The same with more columns at its end.
    pub(crate) fn widened(self, lines: &[Vec<f64>]) -> Self {
        if lines.is_empty() {
            return self;
        }
        let rows = lines[0].len();
        match self {
            Self::Dense { columns, values } => {
                let mut all = Vec::with_capacity(rows * (columns + lines.len()));
                for row in 0..rows {
                    all.extend_from_slice(&values[row * columns..(row + 1) * columns]);
                    all.extend(lines.iter().map(|line| line[row]));
                }
                Self::Dense { columns: columns + lines.len(), values: all }
            }
            Self::Sparse(narrow) => {
                let mut all = SparseRows::new(narrow.columns + lines.len());
                for row in 0..rows {
                    narrow.entries(row).for_each(|(k, value)| all.push(k, value));
                    let own = lines.iter().enumerate();
                    own.for_each(|(k, line)| all.push(narrow.columns + k, line[row]));
                    all.end_row();
                }
                Self::Sparse(all)
            }
        }
    }

    /// Replaces each stored entry by what `map` makes of its column and itself.
    pub fn map(&mut self, map: impl Fn(usize, f64) -> f64 + Sync) {
        match self {
            Self::Dense { columns, values } => {
                let rows = values.par_chunks_mut((*columns).max(1));
                rows.for_each(|row| {
                    row.iter_mut().enumerate().for_each(|(k, value)| *value = map(k, *value));
                });
            }
            Self::Sparse(rows) => {
                let entries = rows.values.iter_mut().zip(&rows.indices);
                entries.for_each(|(value, k)| *value = map(*k as usize, *value));
            }
        }
    }
}

impl SparseRows {
    pub(crate) fn new(columns: usize) -> Self {
        Self { columns, starts: vec![0], indices: Vec::new(), values: Vec::new() }
    }

    /// The number of rows.
    pub(crate) fn rows(&self) -> usize {
        self.starts.len() - 1
    }

    /// These rows, in this order. Each must exist.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let mut some = Self::new(self.columns);
        for &row in rows {
            self.entries(row).for_each(|(k, value)| some.push(k, value));
            some.end_row();
        }
        some
    }

    /// The same rows, none of whose stored entries is 0.
    pub(crate) fn without_zeros(&self) -> Self {
        self.select(&(0..self.rows()).collect::<Vec<usize>>())
    }

    /// An entry of the row that is open; nothing if it is 0.
    #[allow(clippy::cast_possible_truncation, reason = "a design has far fewer columns than 2^32")]
    pub(crate) fn push(&mut self, column: usize, value: f64) {
        if value != 0.0 {
            self.indices.push(column as u32);
            self.values.push(value);
        }
    }

    /// Ends the row that is open.
    pub(crate) fn end_row(&mut self) {
        self.starts.push(self.values.len());
    }

    /// The same rows followed by others.
    pub(crate) fn append(&mut self, others: Self) {
        let before = self.values.len();
        self.starts.extend(others.starts[1..].iter().map(|start| before + start));
        self.indices.extend(others.indices);
        self.values.extend(others.values);
    }

    /// The entry of a column in a row.
    pub(crate) fn entry(&self, row: usize, column: usize) -> f64 {
        let range = self.starts[row]..self.starts[row + 1];
        let found = self.indices[range.clone()].binary_search_by(|&k| (k as usize).cmp(&column));
        found.map_or(0.0, |at| self.values[range.start + at])
    }

    /// The columns of a row with their values.
    pub(crate) fn entries(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        self.indices[range.clone()]
            .iter()
            .map(|&k| k as usize)
            .zip(self.values[range].iter().copied())
    }

    /// Where each column ends in the list of all values by column, and that list.
    fn columns_of_values(&self) -> (Vec<usize>, Vec<f64>) {
        let mut ends = vec![0; self.columns];
        self.indices.iter().for_each(|&k| ends[k as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            let count = *end;
            // Filling moves it to the end.
            *end = sum;
            sum += count;
        }
        let mut values = vec![0.0; self.values.len()];
        for (&k, &value) in self.indices.iter().zip(&self.values) {
            values[ends[k as usize]] = value;
            ends[k as usize] += 1;
        }
        (ends, values)
    }
}

#[cfg(test)]
mod tests {
    use super::{Matrix, SparseRows};

    #[test]
    fn sparse_and_dense_rows_are_one_matrix() {
        let values = vec![0.0, 1.5, 0.0, 0.0, 0.0, 0.0, -2.0, 0.0, 3.0, 0.0, 4.0, 0.0];
        let dense = Matrix::Dense { columns: 4, values: values.clone() };
        let mut rows = SparseRows::new(4);
        for row in values.chunks_exact(4) {
            row.iter().enumerate().for_each(|(k, value)| rows.push(k, *value));
            rows.end_row();
        }
        let sparse = Matrix::Sparse(rows);
        assert_eq!((sparse.stored(), dense.stored()), (4, 12));
        assert_eq!(sparse.dense(), dense.dense());
        assert_eq!(sparse.select(&[2, 0]).dense(), dense.select(&[2, 0]).dense());
        assert_eq!(sparse.row(1), dense.row(1));
        assert!(sparse.row(3).is_empty() && dense.row(3).is_empty());
        let lines = vec![vec![7.0, 0.0, 9.0]];
        assert_eq!(sparse.clone().widened(&lines).dense(), dense.clone().widened(&lines).dense());
        let sums = |matrix: &Matrix| {
            matrix.by_column(|k, own, zeros| (k, own.iter().sum::<f64>(), own.len() + zeros))
        };
        assert_eq!(sums(&sparse), sums(&dense));
        let [mut a, mut b] = [sparse, dense];
        a.map(|k, value| value * k as f64);
        b.map(|k, value| value * k as f64);
        assert_eq!(a.dense(), b.dense());
    }
}

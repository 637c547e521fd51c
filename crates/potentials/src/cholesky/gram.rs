//! The curvature of the rows of a model: Aᵀ W A as a sparse matrix.

use super::factor::Pattern;
use crate::design::Design;
use crate::hessian::visit;
use crate::rows::Rows;

/// A design column by column, and how its Gram matrices are made: of the rows of this process.
///
/// With m linear predictors, the columns of the first come first, then those of the second. After
/// them come parameters of the likelihood.
#[derive(Debug)]
pub(crate) struct Gram {
    /// Where the rows of each column of the design start.
    starts: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    predictors: usize,
    columns: usize,
    /// The parameters of the likelihood that are part of the matrix.
    parameters: usize,
    /// The number of rows and of stored entries over all processes.
    all_rows: usize,
    all_entries: usize,
}

impl Gram {
    pub(crate) fn new(
        design: &Design<'_>, predictors: usize, parameters: usize, all: &Rows,
    ) -> Self {
        let (n, columns) = (design.rows(), design.columns());
        let mut starts = vec![0; columns + 1];
        for row in 0..n {
            visit(design, row, |k, _| starts[k + 1] += 1);
        }
        for k in 0..columns {
            starts[k + 1] += starts[k];
        }
        let mut next = starts.clone();
        let (mut rows, mut values) = (vec![0; starts[columns]], vec![0.0; starts[columns]]);
        for (row, number) in (0..n).zip(0_u32..) {
            visit(design, row, |k, entry| {
                (rows[next[k]], values[next[k]]) = (number, entry);
                next[k] += 1;
            });
        }
        let (all_rows, all_entries) = (all.count(n), all.count(values.len()));
        Self { starts, rows, values, predictors, columns, parameters, all_rows, all_entries }
    }

    /// The number of rows and columns of the matrix.
    pub(crate) fn size(&self) -> usize {
        self.predictors * self.columns + self.parameters
    }

    /// The number of rows over all processes.
    pub(crate) fn all_rows(&self) -> usize {
        self.all_rows
    }

    /// The number of stored entries of the design, over all processes.
    pub(crate) fn all_entries(&self) -> usize {
        self.all_entries
    }

    /// The rows of a column, with their entries.
    pub(crate) fn column(&self, k: usize) -> impl Iterator<Item = (usize, f64)> {
        let range = self.starts[k]..self.starts[k + 1];
        let rows = self.rows[range.clone()].iter().map(|&row| row as usize);
        rows.zip(self.values[range].iter().copied())
    }

    /// The pattern of the matrix by these rows. `also` are further entries, row and column.
    pub(crate) fn pattern(
        &self, design: &Design<'_>, also: impl Iterator<Item = (usize, usize)>,
    ) -> Pattern {
        let (m, columns) = (self.predictors, self.columns);
        let mut extra: Vec<Vec<usize>> = vec![Vec::new(); self.size()];
        also.for_each(|(row, column)| extra[column].push(row));
        let (mut starts, mut rows) = (vec![0], Vec::new());
        let mut seen = vec![usize::MAX; self.size()];
        for (column, extra) in extra.iter().enumerate() {
            let first = rows.len();
            rows.push(column);
            let mut note = |row: usize| {
                if row > column && std::mem::replace(&mut seen[row], column) != column {
                    rows.push(row);
                }
            };
            if column < m * columns {
                for (row, _) in self.column(column % columns) {
                    visit(design, row, |k, _| (0..m).for_each(|j| note(j * columns + k)));
                }
            }
            extra.iter().for_each(|&row| note(row));
            (m * columns..self.size()).for_each(note);
            rows[first..].sort_unstable();
            starts.push(rows.len());
        }
        Pattern { starts, rows }
    }

    /// Adds Aᵀ W A to the values of a matrix of this pattern. `w` has the m² second derivatives of
    /// each row.
    pub(crate) fn add(&self, design: &Design<'_>, w: &[f64], pattern: &Pattern, into: &mut [f64]) {
        let (m, columns) = (self.predictors, self.columns);
        let mut sums = vec![0.0; self.size()];
        for column in 0..m * columns {
            let (j, k) = (column / columns, column % columns);
            for (row, entry) in self.column(k) {
                let w = &w[row * m * m + j * m..][..m];
                visit(design, row, |l, other| {
                    for (i, w) in w.iter().enumerate() {
                        sums[i * columns + l] += w * entry * other;
                    }
                });
            }
            // The rows of the pattern are those that this column meets, and those above it.
            let range = pattern.starts[column]..pattern.starts[column + 1];
            for (value, &row) in into[range.clone()].iter_mut().zip(&pattern.rows[range]) {
                *value += sums[row];
            }
            for (row, _) in self.column(k) {
                visit(design, row, |l, _| (0..m).for_each(|i| sums[i * columns + l] = 0.0));
            }
        }
    }
}

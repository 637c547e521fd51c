//! One column of a table: numbers, text, or the reason why it is neither.

mod builder;

use std::sync::Arc;

use sha2::{Digest, Sha256};

pub(crate) use builder::Builder;

use crate::MAX_HELD_LEVELS;
use crate::factors::{level_of, natural_order};
use crate::sparse::SparseColumns;

/// Cells that count as missing, in upper or lower case; an empty cell does too.
pub const MISSING_MARKERS: [&str; 7] = ["NA", "N/A", "#N/A", "NaN", "null", ".", "?"];

/// The code of a missing text.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// A column of a [`Table`](super::Table).
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    cells: Cells,
    /// Whether the levels are in an order that was given, instead of that of their first use.
    ordered: bool,
}

/// The values of a column. Rows count from 0.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Cells {
    /// Only missing values, this many.
    Missing(usize),
    /// Numbers; NaN is missing.
    Numbers(Vec<f64>),
    /// Texts as indices of levels, in order of first use; `NO_TEXT` is missing.
    Text { levels: Vec<String>, codes: Vec<u32> },
    /// Numbers and texts: the first of each, with its row.
    Mixed { number: (usize, String), text: (usize, String) },
    /// An infinite number, or one that overflows, with its row.
    Infinite { row: usize, value: String },
    /// More distinct texts than are kept in memory: the first, with its row.
    ManyTexts { row: usize, text: String },
    /// Values of a type that cannot be used.
    Other(String),
    /// Several columns of numbers, of which those that are not 0 are stored.
    Sparse(Arc<SparseColumns>),
}

impl Cells {
    /// The number of rows, where values are kept.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Missing(count) => Some(*count),
            Self::Numbers(values) => Some(values.len()),
            Self::Text { codes, .. } => Some(codes.len()),
            Self::Sparse(columns) => Some(columns.rows()),
            Self::Mixed { .. }
            | Self::Infinite { .. }
            | Self::ManyTexts { .. }
            | Self::Other(_) => None,
        }
    }
}

impl Column {
    /// A column of numbers; NaN is missing.
    #[must_use]
    pub fn from_numbers(name: &str, values: &[f64]) -> Self {
        let mut builder = Builder::new(name.to_owned());
        for (row, &value) in values.iter().enumerate() {
            match value {
                value if value.is_nan() => builder.push_missing(),
                value if value.is_infinite() => builder.push_infinite(row, &value.to_string()),
                value => builder.push_number(row, value),
            }
        }
        builder.finish()
    }

    /// A column of text; an empty text is missing.
    #[must_use]
    pub fn from_texts<S: AsRef<str>>(name: &str, values: &[S]) -> Self {
        let mut builder = Builder::new(name.to_owned());
        for (row, value) in values.iter().enumerate() {
            match value.as_ref() {
                "" => builder.push_missing(),
                text => builder.push_text(row, text),
            }
        }
        builder.finish()
    }

    /// A column of text with its levels in an order of their own: the first that occurs is the base
    /// of a factor, and an ordinal response goes up through them. A code is the number of a level;
    /// one beyond the last is missing, and so is a level without text.
    ///
    /// ```
    /// use ridgewalk_frame::{Column, FamilyName, Frame, Question, Table};
    ///
    /// let size = Column::from_levels("size", &["small", "medium", "large"], vec![2, 0, 1, 0]);
    /// let y = Column::from_numbers("y", &[5.0, 1.5, 2.5, 1.0]);
    /// let table = Table::from_columns("shop", vec![y, size])?;
    /// let frame = Frame::new(&table, &Question::new("y", FamilyName::Gaussian))?;
    /// assert_eq!(frame.names, ["(Intercept)", "size[medium]", "size[large]"]);
    /// # Ok::<(), ridgewalk_frame::DataError>(())
    /// ```
    #[must_use]
    pub fn from_levels<S: AsRef<str>>(name: &str, levels: &[S], mut codes: Vec<u32>) -> Self {
        let name = name.to_owned();
        let mut used = vec![false; levels.len()];
        for code in &mut codes {
            let index = *code as usize;
            match used.get_mut(index) {
                Some(used) if !levels[index].as_ref().is_empty() => *used = true,
                _ => *code = NO_TEXT,
            }
        }
        let levels: Vec<String> = levels.iter().map(|level| level.as_ref().to_owned()).collect();
        let cells = if !used.contains(&true) {
            Cells::Missing(codes.len())
        } else if levels.len() > MAX_HELD_LEVELS {
            let row = codes.iter().position(|code| *code != NO_TEXT).unwrap_or_default();
            let text = levels.get(codes[row] as usize).cloned().unwrap_or_default();
            Cells::ManyTexts { row, text }
        } else {
            Cells::Text { levels, codes }
        };
        Self { name, cells, ordered: true }
    }

    /// Several columns of numbers as one: in a formula its name stands for all of them.
    #[must_use]
    pub fn from_sparse(name: &str, columns: SparseColumns) -> Self {
        let cells = Cells::Sparse(Arc::new(columns));
        Self { name: name.to_owned(), cells, ordered: false }
    }

    /// A column of a packed file.
    pub(crate) fn of_cells(name: String, cells: Cells, ordered: bool) -> Self {
        Self { name, cells, ordered }
    }

    /// A column whose values cannot be used: `found` says what they are. It is an error only where
    /// it is used.
    #[must_use]
    pub fn unusable(name: &str, found: &str) -> Self {
        Builder::other(name.to_owned(), found.to_owned()).finish()
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its numbers, NaN where missing, if it is a column of numbers.
    #[must_use]
    pub fn numbers(&self) -> Option<&[f64]> {
        match &self.cells {
            Cells::Numbers(values) => Some(values),
            _ => None,
        }
    }

    /// Its texts, if it is a column of text; a missing one is `None` in turn.
    #[must_use]
    pub fn texts(&self) -> Option<Vec<Option<&str>>> {
        match &self.cells {
            Cells::Text { levels, codes } => {
                let text =
                    |&code: &u32| levels.get(usize::try_from(code).ok()?).map(String::as_str);
                Some(codes.iter().map(text).collect())
            }
            _ => None,
        }
    }

    /// Its levels, the number of the level of each row, and whether their order was given, if it is
    /// a column of text. A number beyond the last level is a missing value.
    #[must_use]
    pub fn levels(&self) -> Option<(&[String], &[u32], bool)> {
        match &self.cells {
            Cells::Text { levels, codes } => Some((levels, codes, self.ordered)),
            _ => None,
        }
    }

    /// Its columns, if it is several.
    #[must_use]
    pub fn sparse(&self) -> Option<&SparseColumns> {
        match &self.cells {
            Cells::Sparse(columns) => Some(columns),
            _ => None,
        }
    }

    /// Whether all its values are missing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self.cells, Cells::Missing(_))
    }

    /// Some of its rows, in this order.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let name = self.name.clone();
        let cells = match &self.cells {
            Cells::Numbers(values) => {
                Cells::Numbers(rows.iter().filter_map(|&row| values.get(row).copied()).collect())
            }
            Cells::Text { levels, codes } => {
                let codes = rows.iter().filter_map(|&row| codes.get(row).copied()).collect();
                Cells::Text { levels: levels.clone(), codes }
            }
            Cells::Missing(_) => Cells::Missing(rows.len()),
            Cells::Sparse(columns) => Cells::Sparse(Arc::new(columns.select(rows))),
            other => other.clone(),
        };
        Self { name, cells, ordered: self.ordered }
    }

    /// Sorts levels into the order that was given, or into natural order.
    pub(crate) fn sort_levels(&self, found: &mut [String]) {
        match &self.cells {
            Cells::Text { levels, .. } if self.ordered => {
                found.sort_by_key(|level| levels.iter().position(|other| other == level));
            }
            _ => found.sort_by(|a, b| natural_order(a, b)),
        }
    }

    /// The levels in the order that was given, if one was.
    pub(crate) fn given_levels(&self) -> &[String] {
        match &self.cells {
            Cells::Text { levels, .. } if self.ordered => levels,
            _ => &[],
        }
    }

    /// The number of rows that were kept.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.cells.rows()
    }

    /// Adds the name and every value to a digest.
    pub(crate) fn digest(&self, digest: &mut Sha256) {
        digest.update(self.name.as_bytes());
        digest.update([0xff]);
        for level in self.given_levels() {
            digest.update(level.as_bytes());
            digest.update([0xff]);
        }
        for value in self.numbers().unwrap_or_default() {
            digest.update(value.to_bits().to_le_bytes());
        }
        for text in self.texts().unwrap_or_default() {
            digest.update(text.unwrap_or_default().as_bytes());
            digest.update([0xff]);
        }
        if let Some(columns) = self.sparse() {
            columns.digest(digest);
        }
    }

    /// Whether it has texts.
    #[must_use]
    pub fn is_text(&self) -> bool {
        matches!(self.cells, Cells::Text { .. } | Cells::ManyTexts { .. })
    }

    /// The same column with its numbers as texts.
    pub(crate) fn as_factor(&self) -> Self {
        let Some(values) = self.numbers() else { return self.clone() };
        let mut builder = Builder::new(self.name.clone());
        for (row, &value) in values.iter().enumerate() {
            match value.is_nan() {
                true => builder.push_missing(),
                false => builder.push_text(row, &level_of(value)),
            }
        }
        builder.finish()
    }

    pub(crate) fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The rows with a missing value, in order.
    pub(crate) fn missing(&self) -> Vec<usize> {
        match &self.cells {
            Cells::Numbers(values) => {
                (0..values.len()).filter(|&row| values[row].is_nan()).collect()
            }
            Cells::Text { codes, .. } => {
                (0..codes.len()).filter(|&row| codes[row] == NO_TEXT).collect()
            }
            Cells::Missing(count) => (0..*count).collect(),
            _ => Vec::new(),
        }
    }
}

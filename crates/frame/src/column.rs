//! One column of a table: numbers, text, or the reason why it is neither.

mod builder;

use sha2::{Digest, Sha256};

pub(crate) use builder::Builder;

use crate::factors::level_of;

/// Cells that count as missing, in upper or lower case; an empty cell does too.
pub const MISSING_MARKERS: [&str; 7] = ["NA", "N/A", "#N/A", "NaN", "null", ".", "?"];

/// The code of a missing text.
pub(crate) const NO_TEXT: u32 = u32::MAX;

/// A column of a [`Table`](super::Table).
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    name: String,
    cells: Cells,
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
    #[cfg_attr(not(feature = "parquet"), allow(dead_code))]
    Other(String),
}

impl Cells {
    /// The number of rows, where values are kept.
    fn rows(&self) -> Option<usize> {
        match self {
            Self::Missing(count) => Some(*count),
            Self::Numbers(values) => Some(values.len()),
            Self::Text { codes, .. } => Some(codes.len()),
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
            other => other.clone(),
        };
        Self { name, cells }
    }

    /// The number of rows that were kept.
    pub(crate) fn rows(&self) -> Option<usize> {
        self.cells.rows()
    }

    /// Adds the name and every value to a digest.
    pub(crate) fn digest(&self, digest: &mut Sha256) {
        digest.update(self.name.as_bytes());
        digest.update([0xff]);
        for value in self.numbers().unwrap_or_default() {
            digest.update(value.to_bits().to_le_bytes());
        }
        for text in self.texts().unwrap_or_default() {
            digest.update(text.unwrap_or_default().as_bytes());
            digest.update([0xff]);
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

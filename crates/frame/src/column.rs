//! One column of a table: numbers, text, or the reason why it is neither, decided value by value
//! while the file is read.

use std::collections::HashMap;

use sha2::{Digest, Sha256};

use crate::place::number;
use crate::{MAX_HELD_LEVELS, MAX_LEVEL_BYTES};

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

    /// The number of rows that were kept.
    pub(crate) fn rows(&self) -> Option<usize> {
        match &self.cells {
            Cells::Missing(count) => Some(*count),
            Cells::Numbers(values) => Some(values.len()),
            Cells::Text { codes, .. } => Some(codes.len()),
            Cells::Mixed { .. }
            | Cells::Infinite { .. }
            | Cells::ManyTexts { .. }
            | Cells::Other(_) => None,
        }
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

/// A column under construction.
#[derive(Debug)]
pub(crate) struct Builder {
    name: String,
    cells: Cells,
    /// The code of each text.
    codes: HashMap<Box<str>, u32>,
    /// The bytes of all texts in `codes`.
    bytes: usize,
}

impl Builder {
    pub(crate) fn new(name: String) -> Self {
        Self { name, cells: Cells::Missing(0), codes: HashMap::new(), bytes: 0 }
    }

    /// A column whose type cannot be used.
    #[cfg(feature = "parquet")]
    pub(crate) fn other(name: String, found: String) -> Self {
        Self { cells: Cells::Other(found), ..Self::new(name) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Adds a cell of a text file, already trimmed, in the given row.
    pub(crate) fn push_cell(&mut self, row: usize, cell: &str) {
        match cell.parse::<f64>() {
            Ok(value) if value.is_finite() => self.push_number(row, value),
            Ok(value) if value.is_infinite() => self.push_infinite(row, cell),
            // `nan` in all its spellings.
            Ok(_) => self.push_missing(),
            Err(_) if is_missing(cell) => self.push_missing(),
            Err(_) => self.push_text(row, cell),
        }
    }

    pub(crate) fn push_missing(&mut self) {
        match &mut self.cells {
            Cells::Missing(count) => *count += 1,
            Cells::Numbers(values) => values.push(f64::NAN),
            Cells::Text { codes, .. } => codes.push(NO_TEXT),
            _ => {}
        }
    }

    pub(crate) fn push_number(&mut self, row: usize, value: f64) {
        match &mut self.cells {
            Cells::Numbers(values) => values.push(value),
            Cells::Missing(count) => {
                let mut values = vec![f64::NAN; *count];
                values.push(value);
                self.cells = Cells::Numbers(values);
            }
            Cells::Text { .. } => {
                let text = self.first_text();
                self.give_up(Cells::Mixed { number: (row, number(value)), text });
            }
            _ => {}
        }
    }

    pub(crate) fn push_infinite(&mut self, row: usize, cell: &str) {
        if matches!(self.cells, Cells::Text { .. }) {
            self.push_number(row, f64::INFINITY);
        } else if matches!(self.cells, Cells::Missing(_) | Cells::Numbers(_)) {
            self.give_up(Cells::Infinite { row, value: cell.to_owned() });
        }
    }

    pub(crate) fn push_text(&mut self, row: usize, text: &str) {
        match &mut self.cells {
            Cells::Text { codes, .. } => {
                if let Some(&code) = self.codes.get(text) {
                    codes.push(code);
                    return;
                }
                self.bytes += text.len();
                let code = u32::try_from(self.codes.len()).unwrap_or(NO_TEXT);
                if self.codes.len() == MAX_HELD_LEVELS || self.bytes > MAX_LEVEL_BYTES {
                    let (row, text) = self.first_text();
                    return self.give_up(Cells::ManyTexts { row, text });
                }
                codes.push(code);
                self.codes.insert(text.into(), code);
            }
            Cells::Missing(count) => {
                let codes = vec![NO_TEXT; *count];
                self.cells = Cells::Text { levels: Vec::new(), codes };
                self.push_text(row, text);
            }
            Cells::Numbers(values) => {
                let first = values.iter().position(|value| !value.is_nan()).unwrap_or_default();
                let shown = values.get(first).copied().map(number).unwrap_or_default();
                self.give_up(Cells::Mixed { number: (first, shown), text: (row, text.to_owned()) });
            }
            _ => {}
        }
    }

    /// The first text, with its row. The first code given is 0.
    fn first_text(&self) -> (usize, String) {
        let row = match &self.cells {
            Cells::Text { codes, .. } => codes.iter().position(|&code| code == 0),
            _ => None,
        };
        let text = self.codes.iter().find(|&(_, &code)| code == 0);
        (row.unwrap_or_default(), text.map(|(text, _)| text.to_string()).unwrap_or_default())
    }

    /// Replaces the values by the reason and frees them.
    fn give_up(&mut self, reason: Cells) {
        self.cells = reason;
        self.codes = HashMap::new();
    }

    pub(crate) fn finish(mut self) -> Column {
        if let Cells::Text { levels, .. } = &mut self.cells {
            let mut texts: Vec<(u32, Box<str>)> =
                self.codes.into_iter().map(|(t, code)| (code, t)).collect();
            texts.sort_unstable_by_key(|&(code, _)| code);
            *levels = texts.into_iter().map(|(_, text)| text.into()).collect();
        }
        if let Cells::Numbers(values) = &mut self.cells {
            values.shrink_to_fit();
        }
        Column { name: self.name, cells: self.cells }
    }
}

fn is_missing(cell: &str) -> bool {
    cell.is_empty() || MISSING_MARKERS.iter().any(|marker| cell.eq_ignore_ascii_case(marker))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(cells: &[&str]) -> Column {
        let mut builder = Builder::new("x".to_owned());
        for (row, cell) in cells.iter().enumerate() {
            builder.push_cell(row, cell);
        }
        builder.finish()
    }

    #[test]
    fn markers_are_missing_in_numbers_and_in_texts() {
        let numbers = column(&["", "NA", "1", "n/a", "-nan", ".", "2e3"]);
        let values = numbers.numbers().unwrap();
        assert_eq!(numbers.missing(), [0, 1, 3, 4, 5]);
        assert_eq!((values[2], values[6]), (1.0, 2000.0));
        let texts = column(&["?", "b", "null", "a", "b"]);
        assert_eq!(texts.texts().unwrap(), [None, Some("b"), None, Some("a"), Some("b")]);
        assert_eq!(*column(&["", "."]).cells(), Cells::Missing(2));
    }

    #[test]
    fn numbers_and_texts_do_not_mix() {
        let mixed = Cells::Mixed { number: (1, "7".to_owned()), text: (3, "abc".to_owned()) };
        assert_eq!(*column(&["", "7", "NA", "abc", "x"]).cells(), mixed);
        let mixed = Cells::Mixed { number: (3, "7".to_owned()), text: (1, "abc".to_owned()) };
        assert_eq!(*column(&["", "abc", "NA", "7", "8"]).cells(), mixed);
        let infinite = Cells::Infinite { row: 1, value: "1e999".to_owned() };
        assert_eq!(*column(&["1", "1e999", "-inf", "x"]).cells(), infinite);
    }

    #[test]
    fn too_many_texts_are_freed() {
        let mut builder = Builder::new("id".to_owned());
        for row in 0..MAX_HELD_LEVELS + 1 {
            builder.push_cell(row, &format!("p{row}"));
        }
        assert_eq!(*builder.finish().cells(), Cells::ManyTexts { row: 0, text: "p0".to_owned() });
    }
}

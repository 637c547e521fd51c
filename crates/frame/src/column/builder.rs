//! A column under construction. What it holds is decided value by value while the file is read,
//! also where pieces of the file are read apart and appended.

use std::collections::HashMap;

use super::{Cells, Column, MISSING_MARKERS, NO_TEXT};
use crate::place::number;
use crate::{MAX_HELD_LEVELS, MAX_LEVEL_BYTES};

/// A column under construction.
#[derive(Debug)]
pub(crate) struct Builder {
    name: String,
    cells: Cells,
    texts: Dictionary,
    /// The first number, finite or not, with its row.
    number: Option<(usize, f64)>,
    /// The first text, with its row.
    text: Option<(usize, String)>,
}

impl Builder {
    pub(crate) fn new(name: String) -> Self {
        let (cells, texts) = (Cells::Missing(0), Dictionary::default());
        Self { name, cells, texts, number: None, text: None }
    }

    /// A column whose type cannot be used.
    pub(crate) fn other(name: String, found: String) -> Self {
        Self { cells: Cells::Other(found), ..Self::new(name) }
    }

    /// A builder for rows that follow, to be appended. It ignores them if this column has no use
    /// for them.
    pub(crate) fn follower(&self) -> Self {
        let cells = match self.rows() {
            Some(_) => Cells::Missing(0),
            None => Cells::Other(String::new()),
        };
        Self { cells, ..Self::new(String::new()) }
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The number of rows, if they are kept.
    fn rows(&self) -> Option<usize> {
        self.cells.rows()
    }

    /// Adds a cell of a text file, already trimmed, in the given row.
    pub(crate) fn push_cell(&mut self, row: usize, cell: &str) {
        if let Some(value) = short_decimal(cell) {
            return self.push_number(row, value);
        }
        if self.rows().is_none() {
            return;
        }
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
                self.number = Some((row, value));
            }
            Cells::Text { .. } => {
                self.number = Some((row, value));
                self.mix();
            }
            _ => {}
        }
    }

    pub(crate) fn push_infinite(&mut self, row: usize, cell: &str) {
        if matches!(self.cells, Cells::Text { .. }) {
            self.push_number(row, f64::INFINITY);
        } else if matches!(self.cells, Cells::Missing(_) | Cells::Numbers(_)) {
            self.number.get_or_insert((row, f64::INFINITY));
            self.cells = Cells::Infinite { row, value: cell.to_owned() };
        }
    }

    pub(crate) fn push_text(&mut self, row: usize, text: &str) {
        if let Cells::Missing(count) = self.cells {
            self.cells = no_texts(count);
            self.text = Some((row, text.to_owned()));
        }
        match &mut self.cells {
            Cells::Text { codes, .. } => match self.texts.code(text) {
                Some(code) => codes.push(code),
                None => self.refuse_texts(),
            },
            Cells::Numbers(_) => {
                self.text = Some((row, text.to_owned()));
                self.mix();
            }
            _ => {}
        }
    }

    /// Appends rows that were read by a [`follower`](Self::follower), with the same result as if
    /// each of their cells had been pushed here.
    pub(crate) fn append(&mut self, next: &Self) {
        let Some(rows) = self.rows() else { return };
        let number = next.number.map(|(row, value)| (rows + row, value));
        let text = next.text.as_ref().map(|(row, text)| (rows + row, text.clone()));
        if let Cells::Missing(count) = &mut self.cells {
            match (&number, &text) {
                (None, None) => *count += next.rows().unwrap_or_default(),
                (Some(_), None) => self.cells = Cells::Numbers(vec![f64::NAN; rows]),
                // With a number as well, the column is mixed either way.
                (_, Some(_)) => self.cells = no_texts(rows),
            }
        }
        match &self.cells {
            Cells::Numbers(_) => self.append_to_numbers(rows, next, number, text),
            Cells::Text { .. } => self.append_to_texts(rows, next, number, text),
            _ => {}
        }
        if self.rows().is_none() {
            self.texts = Dictionary::default();
        }
    }

    fn append_to_numbers(
        &mut self, rows: usize, next: &Self, number: Option<(usize, f64)>,
        text: Option<(usize, String)>,
    ) {
        self.number = self.number.or(number);
        let Cells::Numbers(values) = &mut self.cells else { return };
        match &next.cells {
            Cells::Missing(count) => values.resize(rows + count, f64::NAN),
            Cells::Numbers(more) => values.extend_from_slice(more),
            Cells::Infinite { row, value } => {
                self.cells = Cells::Infinite { row: rows + row, value: value.clone() };
            }
            Cells::Text { .. } | Cells::Mixed { .. } | Cells::ManyTexts { .. } => {
                self.text = text;
                self.mix();
            }
            Cells::Other(_) | Cells::Sparse(_) => {}
        }
    }

    fn append_to_texts(
        &mut self, rows: usize, next: &Self, number: Option<(usize, f64)>,
        text: Option<(usize, String)>,
    ) {
        self.text = self.text.take().or(text);
        let Cells::Text { codes, .. } = &mut self.cells else { return };
        if let Cells::ManyTexts { row, text } = &next.cells {
            if self.texts.codes.is_empty() && !text.is_empty() {
                self.cells = Cells::ManyTexts { row: rows + row, text: text.clone() };
                return;
            }
            return self.refuse_texts();
        }
        // Texts before a number can be too many, so they come first.
        let Some(new_codes) = self.texts.merge(&next.texts) else { return self.refuse_texts() };
        match &next.cells {
            Cells::Missing(count) => codes.resize(rows + count, NO_TEXT),
            Cells::Text { codes: more, .. } => {
                let code = |&old: &u32| new_codes.get(old as usize).copied().unwrap_or(NO_TEXT);
                codes.extend(more.iter().map(code));
            }
            _ => {
                self.number = number;
                self.mix();
            }
        }
    }

    /// Replaces the values by the first number and the first text. The texts stay: where this is
    /// appended to a column of text, they count before the number does.
    fn mix(&mut self) {
        let (row, value) = self.number.unwrap_or_default();
        let text = self.text.clone().unwrap_or_default();
        self.cells = Cells::Mixed { number: (row, number(value)), text };
    }

    /// Replaces too many texts by the first one and frees them. If that is too long by itself, no
    /// text stands for it, in row 0.
    fn refuse_texts(&mut self) {
        let first = self.text.clone().filter(|_| !self.texts.codes.is_empty());
        let (row, text) = first.unwrap_or_default();
        self.cells = Cells::ManyTexts { row, text };
        self.texts = Dictionary::default();
    }

    pub(crate) fn finish(mut self) -> Column {
        if let Cells::Text { levels, .. } = &mut self.cells {
            *levels = self.texts.in_order().into_iter().map(str::to_owned).collect();
        }
        if let Cells::Numbers(values) = &mut self.cells {
            values.shrink_to_fit();
        }
        Column { name: self.name, cells: self.cells, ordered: false }
    }
}

fn no_texts(rows: usize) -> Cells {
    Cells::Text { levels: Vec::new(), codes: vec![NO_TEXT; rows] }
}

/// Distinct texts with their codes, which count from 0 in order of first use.
#[derive(Debug, Default)]
struct Dictionary {
    codes: HashMap<Box<str>, u32>,
    /// The bytes of all texts.
    bytes: usize,
}

impl Dictionary {
    /// The code of a text, new or not; `None` if that would be too many texts.
    fn code(&mut self, text: &str) -> Option<u32> {
        if let Some(&code) = self.codes.get(text) {
            return Some(code);
        }
        self.bytes += text.len();
        if self.codes.len() == MAX_HELD_LEVELS || self.bytes > MAX_LEVEL_BYTES {
            return None;
        }
        let code = u32::try_from(self.codes.len()).ok()?;
        self.codes.insert(text.into(), code);
        Some(code)
    }

    /// Adds the texts of another dictionary. Returns the new code for each of its codes, `None` if
    /// that would be too many texts.
    fn merge(&mut self, other: &Self) -> Option<Vec<u32>> {
        other.in_order().into_iter().map(|text| self.code(text)).collect()
    }

    fn in_order(&self) -> Vec<&str> {
        let mut texts: Vec<(u32, &str)> =
            self.codes.iter().map(|(text, &code)| (code, &**text)).collect();
        texts.sort_unstable_by_key(|&(code, _)| code);
        texts.into_iter().map(|(_, text)| text).collect()
    }
}

/// Powers of ten that are exact.
const POWERS_OF_TEN: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// The value of a number such as `-12.5`, with at most 15 digits and no exponent: the common case,
/// faster than `str::parse` and the same to the last bit. The digits as an integer and the power of
/// ten are exact, so the division is the only rounding.
fn short_decimal(cell: &str) -> Option<f64> {
    let (negative, unsigned) = match cell.as_bytes() {
        [b'-', rest @ ..] => (true, rest),
        all => (false, all),
    };
    if unsigned.len() > POWERS_OF_TEN.len() {
        return None;
    }
    let (mut integer, mut digits, mut point) = (0_i64, 0, None);
    for &byte in unsigned {
        match byte {
            b'0'..=b'9' => {
                integer = 10 * integer + i64::from(byte - b'0');
                digits += 1;
            }
            b'.' if point.is_none() => point = Some(digits),
            _ => return None,
        }
    }
    if !(1..=15).contains(&digits) {
        return None;
    }
    let decimals: usize = digits - point.unwrap_or(digits);
    let value = integer as f64 / POWERS_OF_TEN.get(decimals)?;
    // Not a branch, which would be mispredicted in columns with both signs.
    Some(f64::from_bits(value.to_bits() | u64::from(negative) << 63))
}

fn is_missing(cell: &str) -> bool {
    cell.is_empty() || MISSING_MARKERS.iter().any(|marker| cell.eq_ignore_ascii_case(marker))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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

    /// The column of several pieces that were read apart and appended.
    fn appended(pieces: &[Vec<String>]) -> Column {
        let mut builder = Builder::new("x".to_owned());
        for piece in pieces {
            let mut next = builder.follower();
            for (row, cell) in piece.iter().enumerate() {
                next.push_cell(row, cell);
            }
            builder.append(&next);
        }
        builder.finish()
    }

    fn in_one(pieces: &[Vec<String>]) -> Column {
        column(&pieces.iter().flatten().map(String::as_str).collect::<Vec<_>>())
    }

    fn texts(from: usize, count: usize) -> Vec<String> {
        (from..from + count).map(|index| format!("p{index}")).collect()
    }

    #[test]
    fn appended_texts_reach_the_limits_where_pushed_ones_do() {
        let half = MAX_HELD_LEVELS / 2;
        let many = Cells::ManyTexts { row: 0, text: "p0".to_owned() };
        let full = [texts(0, half), texts(half / 2, half), texts(half, half)];
        assert_eq!(appended(&full), in_one(&full));
        assert_eq!(appended(&full).texts().unwrap().len(), 3 * half);
        let over = [full.concat(), texts(2 * half, 1)];
        assert_eq!(*appended(&over).cells(), many);
        // The number comes after too many texts, or before.
        let [seven, long] = ["7".to_owned(), "x".repeat(MAX_LEVEL_BYTES / 2 + 1)];
        let after = [texts(0, half), [texts(half, half + 1), vec![seven.clone()]].concat()];
        assert_eq!(*appended(&after).cells(), many);
        let before = [texts(0, half), [texts(half, half), vec![seven]].concat()];
        let mixed = (2 * half, "7".to_owned());
        let mixed = Cells::Mixed { number: mixed, text: (0, "p0".to_owned()) };
        assert_eq!(*appended(&before).cells(), mixed);
        let bytes = [vec!["p0".to_owned(), long.clone()], vec![long.replacen('x', "y", 1)]];
        assert_eq!(*appended(&bytes).cells(), many);
        assert_eq!(*in_one(&bytes).cells(), many);
        // A text that is too long by itself.
        let alone = [vec![String::new()], vec![long.repeat(2)]];
        assert_eq!(*in_one(&alone).cells(), Cells::ManyTexts { row: 0, text: String::new() });
        assert_eq!(appended(&alone), in_one(&alone));
    }

    #[test]
    fn the_first_number_before_an_infinite_one_is_reported() {
        let pieces = [&["a", "NA"][..], &["", "7", "inf"], &["b"]];
        let pieces = pieces.map(|piece| piece.iter().map(|&cell| cell.to_owned()).collect());
        let mixed = Cells::Mixed { number: (3, "7".to_owned()), text: (0, "a".to_owned()) };
        assert_eq!(*appended(&pieces).cells(), mixed);
        assert_eq!(*in_one(&pieces).cells(), mixed);
    }

    fn pieces() -> impl Strategy<Value = Vec<Vec<String>>> {
        let cells = |cells: &[&'static str]| prop::sample::select(cells.to_vec());
        let cell = prop_oneof![
            6 => cells(&["", "NA"]),
            2 => cells(&["1", "-0", "2e3"]),
            2 => cells(&["a", "b", "c"]),
            1 => cells(&["inf", "-1e999"]),
        ];
        let some = prop::collection::vec(cell.prop_map(str::to_owned), 0..5);
        // Two of these with little in common are more texts than are kept.
        let many = (0..9_000_usize).prop_map(|from| texts(from, 6_000));
        let piece = prop_oneof![
            9 => some.clone(),
            1 => (some.clone(), many, some).prop_map(|(before, many, after)| {
                [before, many, after].concat()
            }),
        ];
        prop::collection::vec(piece, 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1000))]

        #[test]
        fn appended_cells_are_the_same_as_pushed_ones(pieces in pieces()) {
            // Missing numbers are NaN, which is not equal to itself.
            let [apart, one] = [appended(&pieces), in_one(&pieces)].map(|c| format!("{c:?}"));
            prop_assert!(apart == one, "{:.300} is not {:.300}", apart, one);
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(20_000))]

        #[test]
        fn short_decimals_are_parsed_to_the_last_bit(cell in "-?[0-9]{0,9}\\.?[0-9]{0,8}") {
            let parsed = cell.parse::<f64>().ok().map(f64::to_bits);
            let short = short_decimal(&cell).map(f64::to_bits);
            let digits = cell.bytes().filter(u8::is_ascii_digit).count();
            prop_assert_eq!(short, parsed.filter(|_| digits <= 15));
        }
    }

    #[test]
    fn what_is_no_short_decimal_is_left_to_the_standard_library() {
        for cell in ["", "-", ".", "-.", "+1", "1e3", "1.2.3", "--1", "1-", " 1", "inf", "1_0"] {
            assert_eq!(short_decimal(cell), None, "{cell}");
        }
        for cell in ["0", "-0", "5.", ".5", "-.5", "0.1", "999999999999999", "0.00000000000001"] {
            let bits = short_decimal(cell).map(f64::to_bits);
            assert_eq!(bits, cell.parse().ok().map(f64::to_bits), "{cell}");
        }
    }
}

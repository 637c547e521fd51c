//! Sparse text files of SVMlight and libsvm: `label index:value index:value ... # comment`, with an
//! optional `qid:number` after the label. They are read line by line, straight into sparse rows.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use crate::column::Column;
use crate::error::DataError;
use crate::matrix::SparseRows;
use crate::place::{Place, VALUE_SHOWN, number, shown};
use crate::sparse::SparseColumns;
use crate::{MAX_MAGNITUDE, MAX_ROW_BYTES, MAX_SPARSE_COEFFICIENTS, MAX_VALUES};

/// The endings of the names of such files.
const ENDINGS: [&str; 3] = ["svm", "svmlight", "libsvm"];
/// The column of labels, that of the entries, and that of queries.
pub(crate) const LABEL: &str = "label";
pub(crate) const ENTRIES: &str = "x";
const QUERY: &str = "qid";
/// The largest index: that of libsvm, which has 32 bits with a sign.
const LARGEST: u32 = i32::MAX as u32;
/// Files that are read in turn are read in parts of about this many bytes.
const PART: usize = 4 << 20;

/// Whether a file is one of these, by its name.
pub(crate) fn is_svm(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    ending.is_some_and(|ending| ENDINGS.iter().any(|known| known.eq_ignore_ascii_case(ending)))
}

/// The columns of some rows, and the line of each row.
pub(crate) type Rows = (Vec<Column>, Vec<u64>);

/// Reads a file. With `in_turn`, `take` gets some rows at a time, otherwise all of them at once.
/// Returns the input, whose end was reached.
pub(crate) fn read<R: Read, E: From<DataError>>(
    file: &str, input: R, in_turn: bool, take: &mut dyn FnMut(Rows) -> Result<(), E>,
) -> Result<R, E> {
    let mut input = BufReader::with_capacity(1 << 18, input);
    let cannot = |source| DataError::Read { file: file.to_owned(), source };
    let start = input.fill_buf().map_err(cannot)?;
    if start.is_empty() {
        return Err(nothing(file, "an empty file").into());
    }
    crate::table::refuse_other_formats(file, start)?;
    let mut reader = Reader::new(file);
    let (mut bytes, mut any, mut line) = (Vec::new(), false, 0);
    loop {
        bytes.clear();
        let limit = MAX_ROW_BYTES as u64 + 1;
        let count = input.by_ref().take(limit).read_until(b'\n', &mut bytes).map_err(cannot)?;
        line += 1;
        if count > MAX_ROW_BYTES {
            let place = Place::line(file, line);
            return Err(DataError::RowTooLong { place, limit: MAX_ROW_BYTES }.into());
        }
        if count == 0 || (in_turn && reader.bytes >= PART) {
            let next = Reader { queries: reader.queries, ..Reader::new(file) };
            if let Some(rows) = std::mem::replace(&mut reader, next).finish() {
                any = true;
                take(rows)?;
            }
        }
        if count == 0 {
            break;
        }
        reader.line(line, &bytes)?;
    }
    match any {
        true => Ok(input.into_inner()),
        false => Err(nothing(file, "no rows").into()),
    }
}

fn nothing(file: &str, found: &str) -> DataError {
    let need = "a row on each line: label index:value index:value ...".to_owned();
    DataError::Sparse { place: Place::file(file), found: found.to_owned(), need }
}

/// Rows that are being read.
struct Reader<'f> {
    file: &'f str,
    /// The bytes that they come from.
    bytes: usize,
    labels: Vec<f64>,
    qids: Vec<f64>,
    /// Whether rows have a query, as the first one shows.
    queries: Option<bool>,
    /// The entries, whose columns are numbered as they come.
    rows: SparseRows,
    /// The number of the column of each index.
    columns: HashMap<u32, u32>,
    lines: Vec<u64>,
}

/// An entry of a row.
type Entry = (u32, f64);

impl<'f> Reader<'f> {
    fn new(file: &'f str) -> Self {
        Self {
            file,
            bytes: 0,
            labels: Vec::new(),
            qids: Vec::new(),
            queries: None,
            rows: SparseRows::new(0),
            columns: HashMap::new(),
            lines: Vec::new(),
        }
    }

    fn wrong(&self, line: u64, found: String, need: &str) -> DataError {
        DataError::Sparse { place: Place::line(self.file, line), found, need: need.to_owned() }
    }

    /// Reads a line, which may be blank or a comment.
    fn line(&mut self, line: u64, bytes: &[u8]) -> Result<(), DataError> {
        self.bytes += bytes.len();
        let text = bytes.split(|&byte| byte == b'#').next().unwrap_or_default();
        let zero = text.iter().position(|&byte| byte == 0);
        let wrong = |at: usize| {
            Err(DataError::NotText { place: Place::line(self.file, line), byte: at + 1 })
        };
        let text = match (zero, std::str::from_utf8(text)) {
            (Some(at), _) => return wrong(at),
            (None, Err(error)) => return wrong(error.valid_up_to()),
            (None, Ok(text)) => text,
        };
        let mut words = text.split_ascii_whitespace().peekable();
        let Some(first) = words.next() else { return Ok(()) };
        self.label(line, first)?;
        let query = words.next_if(|word| word.starts_with("qid:"));
        self.query(line, query)?;
        let mut before = 0;
        for word in words {
            let (index, value) = self.entry(line, word, before)?;
            before = index;
            self.push(line, index, value)?;
        }
        self.rows.end_row();
        self.lines.push(line);
        if self.lines.len() > MAX_VALUES {
            return Err(self.too_many(line));
        }
        Ok(())
    }

    fn too_many(&self, line: u64) -> DataError {
        DataError::TooManyValues { place: Place::line(self.file, line), limit: MAX_VALUES }
    }

    fn label(&mut self, line: u64, word: &str) -> Result<(), DataError> {
        match word.parse::<f64>() {
            Ok(label) if label.abs() <= MAX_MAGNITUDE => {
                self.labels.push(label);
                Ok(())
            }
            _ => {
                let found = format!("`{}`", shown(word, VALUE_SHOWN));
                Err(self.wrong(line, found, "a number as the label at the start of the row"))
            }
        }
    }

    fn query(&mut self, line: u64, word: Option<&str>) -> Result<(), DataError> {
        let queries = *self.queries.get_or_insert(word.is_some());
        if queries != word.is_some() {
            let (found, need) = match word {
                Some(word) => (format!("`{}`", shown(word, VALUE_SHOWN)), "none"),
                None => ("no query after the label".to_owned(), "qid:number"),
            };
            return Err(self.wrong(line, found, &format!("{need}, as in the rows before")));
        }
        let Some(word) = word else { return Ok(()) };
        let value = word.strip_prefix("qid:").filter(|value| digits(value));
        match value.and_then(|value| value.parse::<u64>().ok()).filter(|id| *id < 1 << 53) {
            Some(id) => {
                self.qids.push(id as f64);
                Ok(())
            }
            None => {
                let found = format!("`{}`", shown(word, VALUE_SHOWN));
                Err(self.wrong(line, found, "qid: and a whole number below 2^53"))
            }
        }
    }

    /// The index and the value of an entry. `before` is the index of the one before it, or 0.
    fn entry(&self, line: u64, word: &str, before: u32) -> Result<Entry, DataError> {
        let found = || format!("`{}`", shown(word, VALUE_SHOWN));
        let Some((index, value)) = word.split_once(':') else {
            return Err(self.wrong(line, found(), "index:value, such as 3:0.5"));
        };
        let index = match index.parse::<u32>() {
            Ok(0) => {
                let need = "indices from 1 on; if yours count from 0, add 1 to each";
                return Err(self.wrong(line, found(), need));
            }
            Ok(index) if digits(word.split(':').next().unwrap_or_default()) && index <= LARGEST => {
                index
            }
            _ => {
                let need = format!("a whole number from 1 to {LARGEST} before the colon");
                return Err(self.wrong(line, found(), &need));
            }
        };
        if index <= before {
            let found = format!("the index {index} after {before}");
            return Err(self.wrong(line, found, "indices that rise within a row"));
        }
        match value.parse::<f64>() {
            Ok(value) if value.abs() <= MAX_MAGNITUDE => Ok((index, value)),
            Ok(value) if !value.is_nan() => {
                let found = format!("{} in {}", number(value), found());
                Err(self.wrong(line, found, "a number of at most 1e100 in size"))
            }
            _ => {
                let need =
                    "a number after the colon; an entry that is left out is 0, none is missing";
                Err(self.wrong(line, found(), need))
            }
        }
    }

    fn push(&mut self, line: u64, index: u32, value: f64) -> Result<(), DataError> {
        if value == 0.0 {
            return Ok(());
        }
        let next = self.columns.len();
        let column = *self.columns.entry(index).or_insert(u32::try_from(next).unwrap_or(u32::MAX));
        if self.columns.len() > MAX_SPARSE_COEFFICIENTS {
            let (file, found) = (self.file.to_owned(), self.columns.len());
            let limit = MAX_SPARSE_COEFFICIENTS;
            return Err(DataError::TooManyCoefficients { file, found, limit });
        }
        self.rows.push(column as usize, value);
        if self.rows.values.len() > MAX_VALUES { Err(self.too_many(line)) } else { Ok(()) }
    }

    /// The columns of the rows so far, the entries in order of their indices; `None` without rows.
    fn finish(mut self) -> Option<Rows> {
        if self.lines.is_empty() {
            return None;
        }
        let mut order: Vec<(u32, u32)> = self.columns.into_iter().collect();
        order.sort_unstable();
        let mut numbers = vec![0; order.len()];
        order.iter().zip(0_u32..).for_each(|((_, old), new)| numbers[*old as usize] = new);
        self.rows.indices.iter_mut().for_each(|column| *column = numbers[*column as usize]);
        self.rows.columns = order.len();
        let names = order.iter().map(|(index, _)| format!("{ENTRIES}{index}")).collect();
        let mut columns = vec![Column::from_numbers(LABEL, &self.labels)];
        if !self.qids.is_empty() {
            columns.push(Column::from_numbers(QUERY, &self.qids));
        }
        columns.push(Column::from_sparse(ENTRIES, SparseColumns::checked(names, self.rows)));
        Some((columns, self.lines))
    }
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

//! Rows of a delimited text file, one at a time: quotes, line ends, encodings and bounds.
//!
//! Not taken from a CSV crate because three things are needed: the line on which each row begins,
//! even after blank lines and quoted line breaks; a bound on the memory of one row; and an error
//! for an unclosed quote.

use std::io::{BufRead, Read};

use crate::error::DataError;
use crate::place::Place;
use crate::{MAX_COLUMNS, MAX_ROW_BYTES};

/// Reads rows from a text. After `next` returns a line, `fields` holds its fields.
pub(crate) struct Records<R> {
    name: String,
    input: R,
    delimiter: u8,
    /// The line that was read last, counted from 1.
    line: u64,
    /// That line, without its end.
    bytes: Vec<u8>,
    /// The text of the current row, without quotes.
    text: String,
    /// Where each field begins and ends in `text`.
    spans: Vec<(usize, usize)>,
}

/// Where a line ended relative to a quoted field.
#[derive(PartialEq)]
enum Left {
    Closed,
    InQuotes,
}

impl<R: BufRead> Records<R> {
    /// The rows of `input`, called `name` in messages.
    pub(crate) fn new(name: &str, input: R) -> Self {
        Self {
            name: name.to_owned(),
            input,
            delimiter: b',',
            line: 0,
            bytes: Vec::new(),
            text: String::new(),
            spans: Vec::new(),
        }
    }

    /// Reads the row of names, detects the delimiter and returns its line; `None` for an empty
    /// file.
    pub(crate) fn header(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            if !self.read_line(0)? {
                return Ok(None);
            }
            if self.line == 1 && self.bytes.starts_with(b"\xef\xbb\xbf") {
                self.bytes.drain(..3);
            }
            if !self.blank() {
                break;
            }
        }
        self.delimiter = delimiter(&self.bytes);
        self.row().map(Some)
    }

    /// Reads the next line and, where a quoted field has line breaks, the lines that belong to it.
    /// Returns the line where the row begins, `None` at the end of the file. A blank line is a row
    /// without fields.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, DataError> {
        if !self.read_line(0)? {
            return Ok(None);
        }
        if self.blank() {
            self.text.clear();
            self.spans.clear();
            return Ok(Some(self.line));
        }
        self.row().map(Some)
    }

    /// The fields of the current row, without the blanks around them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        self.spans.iter().map(|&(start, end)| self.text.get(start..end).unwrap_or_default().trim())
    }

    /// The number of fields of the current row; 0 for a blank line.
    pub(crate) fn count(&self) -> usize {
        self.spans.len()
    }

    /// The field separator, for messages.
    pub(crate) fn delimiter_name(&self) -> &'static str {
        match self.delimiter {
            b';' => "`;`",
            b'\t' => "a tab",
            _ => "`,`",
        }
    }

    fn place(&self, line: u64) -> Box<Place> {
        Place::line(&self.name, line)
    }

    fn blank(&self) -> bool {
        self.bytes.iter().all(|&byte| byte == b' ')
    }

    /// Splits the line in `bytes`, and further lines if the row continues.
    fn row(&mut self) -> Result<u64, DataError> {
        let first = self.line;
        self.text.clear();
        self.spans.clear();
        let mut left = Left::Closed;
        loop {
            self.check_text()?;
            left = self.split(left, first)?;
            if left == Left::Closed {
                return Ok(first);
            }
            let held = self.text.len();
            if !self.read_line(held)? {
                return Err(DataError::OpenQuote { place: self.place(first) });
            }
        }
    }

    /// Reads a line into `bytes` without its end; false at the end of the file. A row has `held`
    /// bytes already.
    fn read_line(&mut self, held: usize) -> Result<bool, DataError> {
        self.bytes.clear();
        let room = MAX_ROW_BYTES.saturating_sub(held) + 1;
        let read = (&mut self.input).take(room as u64).read_until(b'\n', &mut self.bytes);
        let read = read.map_err(|source| DataError::Read { file: self.name.clone(), source })?;
        if read == 0 {
            return Ok(false);
        }
        self.line += 1;
        if self.bytes.last() == Some(&b'\n') {
            self.bytes.pop();
        } else if read == room {
            return Err(DataError::RowTooLong {
                place: self.place(self.line),
                limit: MAX_ROW_BYTES,
            });
        }
        if self.bytes.last() == Some(&b'\r') {
            self.bytes.pop();
        }
        Ok(true)
    }

    /// Checks that the line is text.
    fn check_text(&self) -> Result<(), DataError> {
        if self.bytes.contains(&0) {
            let before = self.bytes.iter().take_while(|&&byte| byte != 0).count();
            return Err(DataError::NotText { place: self.place(self.line), byte: before + 1 });
        }
        let Err(error) = std::str::from_utf8(&self.bytes) else { return Ok(()) };
        let at = error.valid_up_to();
        let value = self.bytes.get(at).copied().unwrap_or_default();
        Err(DataError::NotUtf8 { place: self.place(self.line), byte: at + 1, value })
    }

    /// Splits the line in `bytes` into fields. `left` is whether it begins inside quotes; the
    /// result is whether it ends inside quotes.
    fn split(&mut self, left: Left, first: u64) -> Result<Left, DataError> {
        let line = std::mem::take(&mut self.bytes);
        let text = std::str::from_utf8(&line).unwrap_or_default();
        let done = self.split_text(text, left, first);
        self.bytes = line;
        done
    }

    fn split_text(&mut self, text: &str, mut left: Left, first: u64) -> Result<Left, DataError> {
        if left == Left::Closed && !text.contains('"') {
            self.split_plain(text, first)?;
            return Ok(Left::Closed);
        }
        let delimiter = char::from(self.delimiter);
        let mut rest = text;
        if left == Left::InQuotes {
            self.text.push('\n');
        }
        loop {
            if left == Left::Closed {
                // A quote is special only at the start of a field, so `5" pipe` is plain text.
                let Some(quoted) = rest.trim_start_matches(' ').strip_prefix('"') else {
                    let (field, next) = match rest.split_once(delimiter) {
                        Some((field, next)) => (field, Some(next)),
                        None => (rest, None),
                    };
                    self.split_plain(field, first)?;
                    match next {
                        Some(next) => rest = next,
                        None => return Ok(Left::Closed),
                    }
                    continue;
                };
                rest = quoted;
                self.begin_field(first)?;
            }
            left = Left::Closed;
            let Some(after) = self.quoted(rest) else { return Ok(Left::InQuotes) };
            self.end_field();
            let after = after.trim_start_matches(' ');
            match after.strip_prefix(delimiter) {
                Some(next) => rest = next,
                None if after.is_empty() => return Ok(Left::Closed),
                None => {
                    let found = after.split(delimiter).next().unwrap_or_default().to_owned();
                    return Err(DataError::AfterQuote { place: self.place(self.line), found });
                }
            }
        }
    }

    /// Splits fields without quotes in one pass over the bytes: the common case.
    fn split_plain(&mut self, text: &str, first: u64) -> Result<(), DataError> {
        if text.contains('\r') {
            return Err(DataError::CarriageReturn { place: self.place(self.line) });
        }
        let offset = self.text.len();
        self.text.push_str(text);
        let mut start = offset;
        for (at, &byte) in text.as_bytes().iter().enumerate() {
            if byte == self.delimiter {
                self.push_span(start, offset + at, first)?;
                start = offset + at + 1;
            }
        }
        self.push_span(start, offset + text.len(), first)
    }

    /// Reads a quoted field up to its closing quote and returns the rest; `None` if the line ends
    /// first.
    fn quoted<'t>(&mut self, mut rest: &'t str) -> Option<&'t str> {
        loop {
            let Some((inside, after)) = rest.split_once('"') else {
                self.text.push_str(rest);
                return None;
            };
            self.text.push_str(inside);
            match after.strip_prefix('"') {
                Some(more) => {
                    self.text.push('"');
                    rest = more;
                }
                None => return Some(after),
            }
        }
    }

    fn begin_field(&mut self, first: u64) -> Result<(), DataError> {
        self.push_span(self.text.len(), self.text.len(), first)
    }

    fn end_field(&mut self) {
        if let Some((_, end)) = self.spans.last_mut() {
            *end = self.text.len();
        }
    }

    fn push_span(&mut self, start: usize, end: usize, first: u64) -> Result<(), DataError> {
        if self.spans.len() == MAX_COLUMNS {
            return Err(DataError::TooManyColumns { place: self.place(first), limit: MAX_COLUMNS });
        }
        self.spans.push((start, end));
        Ok(())
    }
}

/// The most frequent delimiter outside quotes in the line of names. Ties go to the one that is
/// rarer in text.
fn delimiter(header: &[u8]) -> u8 {
    let mut quotes = false;
    let mut counts = [0usize; 3];
    for &byte in header {
        match byte {
            b'"' => quotes = !quotes,
            b'\t' if !quotes => counts[0] += 1,
            b';' if !quotes => counts[1] += 1,
            b',' if !quotes => counts[2] += 1,
            _ => {}
        }
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    match counts.iter().position(|&count| count == most && count > 0) {
        Some(0) => b'\t',
        Some(1) => b';',
        _ => b',',
    }
}

/// Splits a list such as `age,"height, cm",sex` into names, with quotes as in a data file.
///
/// # Errors
/// An unclosed quote, an empty name or an empty list.
pub fn split_names(list: &str) -> Result<Vec<String>, DataError> {
    let bad = || DataError::NameList { found: list.to_owned() };
    let mut records = Records::new("", list.as_bytes());
    records.next().map_err(|_| bad())?;
    let names: Vec<String> = records.fields().map(str::to_owned).collect();
    let more = records.next().map_err(|_| bad())?.is_some();
    if more || names.is_empty() || names.iter().any(String::is_empty) {
        return Err(bad());
    }
    Ok(names)
}

/// The inverse of [`split_names`].
#[must_use]
pub fn join_names(names: &[String]) -> String {
    let plain = |c: char| !(c.is_control() || c.is_whitespace() || ",;\"".contains(c));
    let quoted = |name: &String| {
        if name.chars().all(plain) {
            name.clone()
        } else {
            format!("\"{}\"", name.replace('"', "\"\""))
        }
    };
    names.iter().map(quoted).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<(u64, Vec<String>)>, DataError> {
        let mut records = Records::new("t.csv", text.as_bytes());
        let mut all = Vec::new();
        let mut line = records.header()?;
        while let Some(at) = line {
            all.push((at, records.fields().map(str::to_owned).collect()));
            line = records.next()?;
        }
        Ok(all)
    }

    fn row(line: u64, fields: &[&str]) -> (u64, Vec<String>) {
        (line, fields.iter().map(|&field| field.to_owned()).collect())
    }

    #[test]
    fn quotes_line_breaks_and_blank_lines_keep_their_lines() {
        let text = "\u{feff}\r\na, \"b \"\"x\"\"\" ,c\r\n1,\"two\r\nlines\",3\r\n\r\n4,5\" pipe,6";
        let all = rows(text).unwrap();
        let expected = [
            row(2, &["a", "b \"x\"", "c"]),
            row(3, &["1", "two\nlines", "3"]),
            row(5, &[]),
            row(6, &["4", "5\" pipe", "6"]),
        ];
        assert_eq!(all, expected);
    }

    #[test]
    fn each_delimiter_is_found_by_itself() {
        for text in ["a,b\n1,2\n", "a;b\n1;2\n", "a\tb\n1\t2\n", "\"a,;,\"\tb\n1\t2\n"] {
            assert_eq!(rows(text).unwrap()[1], row(2, &["1", "2"]), "{text}");
        }
        assert_eq!(rows("a, net;b\n1;2\n").unwrap()[0], row(1, &["a, net", "b"]));
    }

    #[test]
    fn unclosed_quotes_are_reported_where_they_open() {
        let error = rows("a,b\n1,\"x\n2,y\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 2: found a quote that is not closed"), "{error}");
        let error = rows("a,b\n1,\"x\"y,z\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 2: found `y` after a closing quote"), "{error}");
        let error = rows("a,b\r1,2\r3,4\r").unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 1: found a carriage return"), "{error}");
    }

    #[test]
    fn joined_names_split_again() {
        for names in [&["a"][..], &["a", "b"], &["x;y", "height, cm", "say \"hi\""], &["a b;c"]] {
            let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            assert_eq!(split_names(&join_names(&names)).unwrap(), names);
        }
    }

    #[test]
    fn lists_of_names_take_quotes() {
        assert_eq!(split_names("a, b,c").unwrap(), ["a", "b", "c"]);
        assert_eq!(split_names("a,\"b, cm\"").unwrap(), ["a", "b, cm"]);
        for bad in ["", "a,,b", "a,\"b", "a\nb", " "] {
            assert!(matches!(split_names(bad), Err(DataError::NameList { .. })), "{bad:?}");
        }
    }
}

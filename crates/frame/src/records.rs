//! Rows of a delimited text file, one at a time: quotes, line ends, encodings and bounds.
//!
//! Not taken from a CSV crate because three things are needed: the line on which each row begins,
//! even after blank lines and quoted line breaks; a bound on the memory of one row; and an error
//! for an unclosed quote.

use crate::error::DataError;
use crate::place::Place;
use crate::{MAX_COLUMNS, MAX_ROW_BYTES};

/// Reads rows from a text, which may be a part of a file that begins at a row. After `next` returns
/// a line, `fields` holds its fields.
pub(crate) struct Records<'a> {
    name: &'a str,
    /// What has not been read.
    rest: &'a [u8],
    /// Whether the file ends where the text ends. Otherwise the last row may be unfinished.
    ends: bool,
    delimiter: u8,
    /// The bytes that a field without quotes cannot contain.
    ends_field: [bool; 256],
    /// The line that was read last, counted from 1.
    line: u64,
    /// The current row, if it has no quotes.
    plain: Option<&'a str>,
    /// Otherwise its text, without quotes.
    text: String,
    /// Where each field begins and ends in the row.
    spans: Vec<(usize, usize)>,
}

/// Where a line ended relative to a quoted field.
#[derive(PartialEq)]
enum Left {
    Closed,
    InQuotes,
}

impl<'a> Records<'a> {
    /// The rows of `text`, from a file called `name` in messages. `ends` is whether the file ends
    /// with it.
    pub(crate) fn new(name: &'a str, text: &'a [u8], ends: bool) -> Self {
        Self {
            name,
            rest: text,
            ends,
            delimiter: b',',
            ends_field: ends_field(b','),
            line: 0,
            plain: None,
            text: String::new(),
            spans: Vec::new(),
        }
    }

    /// The same text after `line` lines of the file, with another delimiter.
    pub(crate) fn after(self, line: u64, delimiter: u8) -> Self {
        Self { line, delimiter, ends_field: ends_field(delimiter), ..self }
    }

    /// Reads the row of names, detects the delimiter and returns its line; `None` if there is no
    /// finished row.
    pub(crate) fn header(&mut self) -> Result<Option<u64>, DataError> {
        loop {
            let before = (self.rest, self.line);
            let Some(mut bytes) = self.read_line(0)? else { return Ok(None) };
            if self.line == 1 {
                bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            }
            if blank(bytes) {
                continue;
            }
            self.delimiter = delimiter(bytes);
            self.ends_field = ends_field(self.delimiter);
            let row = self.row(bytes)?;
            if row.is_none() {
                (self.rest, self.line) = before;
            }
            return Ok(row);
        }
    }

    /// Reads the next line and, where a quoted field has line breaks, the lines that belong to it.
    /// Returns the line where the row begins, `None` if there is no further finished row. A blank
    /// line is a row without fields.
    pub(crate) fn next(&mut self) -> Result<Option<u64>, DataError> {
        if self.plain_row().is_some() {
            return Ok(Some(self.line));
        }
        let before = (self.rest, self.line);
        let Some(bytes) = self.read_line(0)? else { return Ok(None) };
        if blank(bytes) {
            self.clear();
            return Ok(Some(self.line));
        }
        let row = self.row(bytes)?;
        if row.is_none() {
            (self.rest, self.line) = before;
        }
        Ok(row)
    }

    /// The fields of the current row, without the blanks around them.
    pub(crate) fn fields(&self) -> impl Iterator<Item = &str> {
        let text = self.plain.unwrap_or(&self.text);
        self.spans.iter().map(move |&(start, end)| trim(text.get(start..end).unwrap_or_default()))
    }

    /// The number of fields of the current row; 0 for a blank line.
    pub(crate) fn count(&self) -> usize {
        self.spans.len()
    }

    /// The number of bytes after the rows that were read.
    pub(crate) fn left(&self) -> usize {
        self.rest.len()
    }

    /// The line that was read last.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// The field separator.
    pub(crate) fn delimiter(&self) -> u8 {
        self.delimiter
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
        Place::line(self.name, line)
    }

    fn clear(&mut self) {
        self.plain = None;
        self.text.clear();
        self.spans.clear();
    }

    /// Reads a line that has nothing but fields and delimiters, in one pass over its bytes: the
    /// common case. `None`, with nothing read, for every other line.
    fn plain_row(&mut self) -> Option<()> {
        self.spans.clear();
        let head = self.rest.get(..MAX_ROW_BYTES).unwrap_or(self.rest);
        let mut start = 0;
        let (end, next) = loop {
            let field = head.get(start..)?;
            let length = field.iter().position(|&b| self.ends_field[usize::from(b)])?;
            let at = start + length;
            if self.spans.len() == MAX_COLUMNS {
                return None;
            }
            self.spans.push((start, at));
            match field.get(length..) {
                Some([b'\n', ..]) => break (at, at + 1),
                Some([b'\r', b'\n', ..]) => break (at, at + 2),
                Some([byte, ..]) if *byte == self.delimiter => start = at + 1,
                _ => return None,
            }
        };
        let line = head.get(..end)?;
        if self.spans.len() == 1 && blank(line) {
            self.spans.clear();
        }
        self.plain = Some(std::str::from_utf8(line).ok()?);
        self.rest = self.rest.get(next..)?;
        self.line += 1;
        Some(())
    }

    /// Splits a line, and further lines if the row continues. `None` if the row is unfinished.
    fn row(&mut self, mut bytes: &'a [u8]) -> Result<Option<u64>, DataError> {
        let first = self.line;
        self.clear();
        let mut left = Left::Closed;
        loop {
            let text = self.checked_text(bytes)?;
            left = self.split_text(text, left, first)?;
            if left == Left::Closed {
                return Ok(Some(first));
            }
            match self.read_line(self.text.len())? {
                Some(next) => bytes = next,
                None if self.ends => {
                    return Err(DataError::OpenQuote { place: self.place(first) });
                }
                None => return Ok(None),
            }
        }
    }

    /// Reads a line without its end; `None` if there is no finished line. A row has `held` bytes
    /// already.
    fn read_line(&mut self, held: usize) -> Result<Option<&'a [u8]>, DataError> {
        let room = MAX_ROW_BYTES.saturating_sub(held) + 1;
        let head = self.rest.get(..room).unwrap_or(self.rest);
        let (line, used) = match head.iter().position(|&byte| byte == b'\n') {
            Some(end) => (&head[..end], end + 1),
            None if head.len() == room => {
                return Err(DataError::RowTooLong {
                    place: self.place(self.line + 1),
                    limit: MAX_ROW_BYTES,
                });
            }
            None if head.is_empty() || !self.ends => return Ok(None),
            None => (head, head.len()),
        };
        self.line += 1;
        self.rest = self.rest.get(used..).unwrap_or_default();
        Ok(Some(line.strip_suffix(b"\r").unwrap_or(line)))
    }

    /// The line that was read last, if it is text.
    fn checked_text(&self, bytes: &'a [u8]) -> Result<&'a str, DataError> {
        if let Some(before) = bytes.iter().position(|&byte| byte == 0) {
            return Err(DataError::NotText { place: self.place(self.line), byte: before + 1 });
        }
        std::str::from_utf8(bytes).map_err(|error| {
            let at = error.valid_up_to();
            let value = bytes.get(at).copied().unwrap_or_default();
            DataError::NotUtf8 { place: self.place(self.line), byte: at + 1, value }
        })
    }

    /// Splits a line into fields. `left` is whether it begins inside quotes; the result is whether
    /// it ends inside quotes.
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

    /// Splits fields without quotes in one pass over the bytes.
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

fn blank(line: &[u8]) -> bool {
    line.iter().all(|&byte| byte == b' ')
}

/// Which bytes a field without quotes cannot contain.
fn ends_field(delimiter: u8) -> [bool; 256] {
    let mut ends = [false; 256];
    for byte in [delimiter, b'\n', b'\r', b'"', 0] {
        ends[usize::from(byte)] = true;
    }
    ends
}

/// `str::trim`, faster where there is nothing to trim.
fn trim(field: &str) -> &str {
    match field.as_bytes() {
        [first, .., last] if first.is_ascii_graphic() && last.is_ascii_graphic() => field,
        _ => field.trim(),
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
    let mut records = Records::new("", list.as_bytes(), true);
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
        let mut records = Records::new("t.csv", text.as_bytes(), true);
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
        let error = rows("a,b\n1,\0\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 2, byte 3: found a zero byte"), "{error}");
        let error = rows("a,b\n1,2\r3\n").unwrap_err().to_string();
        assert!(error.starts_with("t.csv, line 2: found a carriage return"), "{error}");
    }

    #[test]
    fn an_unfinished_row_is_left_unread() {
        for (text, left) in [("1,2\n3,4", 3), ("1,2\n\"3\n4\",\"5\n", 9), ("1,2\n", 0)] {
            let mut records = Records::new("t.csv", text.as_bytes(), false);
            assert_eq!(records.next().unwrap(), Some(1));
            assert_eq!(records.next().unwrap(), None);
            assert_eq!((records.left(), records.line()), (left, 1), "{text}");
        }
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

//! The rows of a text file, read into columns on all threads.
//!
//! A block of the file is cut into pieces at line ends, and each piece is parsed as if a row began
//! there. Pieces for which this turns out to be true are appended in order. Where a piece begins
//! inside a quoted field, or has an error, its rows are parsed again after those before it. The
//! result is that of reading row by row.

use std::io::Read;
use std::ops::Range;

use rayon::prelude::*;

use crate::blocks::Blocks;
use crate::column::{Builder, Column};
use crate::error::DataError;
use crate::place::Place;
use crate::records::Records;

/// Every row of a file.
const ALL: Range<usize> = 0..usize::MAX;

/// The row of column names.
pub(crate) struct Header {
    names: Vec<String>,
    /// Where it begins.
    line: u64,
    /// Where it ends.
    end: u64,
    delimiter: u8,
}

impl Header {
    /// Reads the row of names, which `check` may refuse; `None` if the file has no rows.
    pub(crate) fn read<R: Read + Send>(
        name: &str, blocks: &mut Blocks<'_, R>,
        check: impl Fn(&Place, &[String]) -> Result<(), DataError> + Sync,
    ) -> Result<Option<Self>, DataError> {
        let (mut end, mut header) = (0, None);
        loop {
            let last = blocks.ended();
            blocks.step(blocks.plan().start, |text, ends| {
                let mut records = Records::new(name, text, ends).after(end, b',');
                let found = records.header()?;
                end = records.line();
                if let Some(line) = found {
                    let names: Vec<String> = records.fields().map(str::to_owned).collect();
                    check(&Place::line(name, line), &names)?;
                    header = Some(Self { names, line, end, delimiter: records.delimiter() });
                }
                Ok(records.left())
            })?;
            if last || header.is_some() {
                return Ok(header);
            }
        }
    }
}

/// The number of rows of a text, as [`Rows`] counts them.
pub(crate) fn count_rows<R: Read + Send>(
    name: &str, mut blocks: Blocks<'_, R>,
) -> Result<usize, DataError> {
    let Some(header) = Header::read(name, &mut blocks, |_, _| Ok(()))? else { return Ok(0) };
    let (mut count, mut blank, mut line) = (0, 0, header.end);
    loop {
        let last = blocks.ended();
        blocks.step(block_size(&blocks, header.names.len()), |text, ends| {
            let mut records = Records::new(name, text, ends).after(line, header.delimiter);
            while records.next()?.is_some() {
                if records.count() > 0 {
                    count += 1 + blank;
                    blank = 0;
                } else if header.names.len() == 1 {
                    blank += 1;
                }
            }
            line = records.line();
            Ok(records.left())
        })?;
        if last {
            return Ok(count);
        }
    }
}

/// The number of bytes in a piece of a file with this many columns.
fn piece_size<R: Read + Send>(blocks: &Blocks<'_, R>, columns: usize) -> usize {
    blocks.plan().piece.max(columns.saturating_mul(blocks.plan().column))
}

/// The number of bytes to read next. Threads are not started for what little may be left.
fn block_size<R: Read + Send>(blocks: &Blocks<'_, R>, columns: usize) -> usize {
    let piece = piece_size(blocks, columns);
    if blocks.ended() && blocks.len() <= piece {
        return piece;
    }
    piece.saturating_mul(blocks.plan().pieces())
}

/// The rows that were read, or those of a piece.
pub(crate) struct Rows<'a> {
    file: &'a str,
    delimiter: u8,
    /// The line of names; none in a piece.
    header: Option<u64>,
    columns: Vec<Builder>,
    /// The line where each row begins. In a piece, lines count from its start.
    lines: Vec<u64>,
    /// Blank lines after the last row, in a file with one column: missing values if a row follows.
    blank: Vec<u64>,
    /// The number of rows, kept or not.
    row: usize,
    kept: Range<usize>,
    /// The maximum number of values.
    limit: usize,
    /// The line that was read last.
    line: u64,
    /// Whether every piece of the last block began at a row.
    cut_at_rows: bool,
    /// Whether rows were taken away, so that the separator is no longer in doubt.
    taken: bool,
}

impl<'a> Rows<'a> {
    /// No rows yet of a file. Only those in `kept` will be kept, up to `limit` values.
    pub(crate) fn new(file: &'a str, header: Header, kept: Range<usize>, limit: usize) -> Self {
        Self {
            file,
            delimiter: header.delimiter,
            header: Some(header.line),
            columns: header.names.into_iter().map(Builder::new).collect(),
            lines: Vec::new(),
            blank: Vec::new(),
            row: 0,
            kept,
            limit,
            line: header.end,
            cut_at_rows: true,
            taken: false,
        }
    }

    /// Reads all rows after the row of names.
    pub(crate) fn read<R: Read + Send>(
        &mut self, blocks: &mut Blocks<'_, R>,
    ) -> Result<(), DataError> {
        self.read_with(blocks, |_| Ok(()))
    }

    /// The same; after each block of the file, `seen` may take the rows so far away.
    pub(crate) fn read_with<R: Read + Send, E: From<DataError>>(
        &mut self, blocks: &mut Blocks<'_, R>, mut seen: impl FnMut(&mut Self) -> Result<(), E>,
    ) -> Result<(), E> {
        loop {
            let last = blocks.ended();
            let piece = piece_size(blocks, self.columns.len());
            let size = block_size(blocks, self.columns.len());
            blocks.step(size, |text, ends| {
                // Before the first row, the separator is in doubt; a row that may be dropped must
                // know its number.
                let doubt = self.lines.is_empty() && !self.taken;
                let one = size == piece || doubt || self.kept != ALL;
                if one || !std::mem::replace(&mut self.cut_at_rows, true) {
                    self.parse(text, ends)
                } else {
                    self.parse_pieces(text, ends, piece)
                }
            })?;
            seen(self)?;
            if last {
                return Ok(());
            }
        }
    }

    /// The columns so far and the line of each row, which are then no longer here; `None` if there
    /// are none. Columns without a single value in these rows stay as they are: missing.
    pub(crate) fn take(&mut self) -> Option<(Vec<Column>, Vec<u64>)> {
        if self.lines.is_empty() {
            return None;
        }
        let fresh = self.columns.iter().map(|column| Builder::new(column.name().to_owned()));
        let fresh = fresh.collect();
        let columns = std::mem::replace(&mut self.columns, fresh);
        self.taken = true;
        Some((columns.into_iter().map(Builder::finish).collect(), std::mem::take(&mut self.lines)))
    }

    /// The columns, and the line of each row.
    pub(crate) fn finish(self) -> (Vec<Column>, Vec<u64>) {
        (self.columns.into_iter().map(Builder::finish).collect(), self.lines)
    }

    /// Reads the rows of a text, one after the other. Returns the number of bytes of an unfinished
    /// row at its end.
    fn parse(&mut self, text: &[u8], ends: bool) -> Result<usize, DataError> {
        let mut records = Records::new(self.file, text, ends).after(self.line, self.delimiter);
        while let Some(line) = records.next()? {
            match records.count() {
                0 if self.columns.len() == 1 => {
                    self.blank.push(line);
                    if !self.has_room(self.count()) {
                        return Err(self.too_many(line));
                    }
                }
                0 => {}
                _ => self.push(&records, line)?,
            }
        }
        self.line = records.line();
        Ok(records.left())
    }

    /// Adds a row that is not blank.
    fn push(&mut self, records: &Records<'_>, line: u64) -> Result<(), DataError> {
        let (got, need) = (records.count(), self.columns.len());
        if let ([column], Some(header), true) =
            (&*self.columns, self.header, self.lines.is_empty() && !self.taken)
        {
            let first = records.fields().next().unwrap_or_default();
            look_for_delimiter(column.name(), first, self.file, header)?;
        }
        if got != need {
            let (place, delimiter) = (Place::line(self.file, line), records.delimiter_name());
            return Err(DataError::Fields { place, got, need, delimiter });
        }
        for line in self.blank.drain(..) {
            if self.kept.contains(&self.row) {
                self.columns.iter_mut().for_each(Builder::push_missing);
                self.lines.push(line);
            }
            self.row += 1;
        }
        self.row += 1;
        if !self.kept.contains(&(self.row - 1)) {
            return Ok(());
        }
        let row = self.lines.len();
        for (column, cell) in self.columns.iter_mut().zip(records.fields()) {
            column.push_cell(row, cell);
        }
        self.lines.push(line);
        if !self.has_room(self.lines.len()) {
            return Err(self.too_many(line));
        }
        Ok(())
    }

    fn too_many(&self, line: u64) -> DataError {
        DataError::TooManyValues { place: Place::line(self.file, line), limit: self.limit }
    }

    /// As [`parse`](Self::parse), in pieces of about `size` bytes.
    fn parse_pieces(&mut self, text: &[u8], ends: bool, size: usize) -> Result<usize, DataError> {
        let ranges = cut(text, size);
        let ends_at = |end: usize| ends && end == text.len();
        let parse = |range: &Range<usize>| {
            let mut piece = self.piece();
            let left = piece.parse(text.get(range.clone())?, ends_at(range.end)).ok()?;
            Some((piece, range.end - left))
        };
        let mut pieces: Vec<Option<(Rows<'_>, usize)>> = ranges.par_iter().map(parse).collect();
        // All rows before this byte have been added.
        let mut at = 0;
        let mut good = Vec::new();
        let mut rows = self.count();
        for (range, piece) in ranges.iter().zip(&mut pieces) {
            match piece.take() {
                Some((piece, end)) if at == range.start && self.has_room(rows + piece.count()) => {
                    rows += piece.count();
                    good.push(piece);
                    at = end;
                }
                _ => {
                    self.append(&std::mem::take(&mut good));
                    self.cut_at_rows &= at == range.start;
                    let rest = text.get(at..range.end).unwrap_or_default();
                    at = range.end - self.parse(rest, ends_at(range.end))?;
                    rows = self.count();
                }
            }
        }
        self.append(&good);
        Ok(text.len() - at)
    }

    /// Rows of a piece, none yet.
    fn piece(&self) -> Self {
        Self {
            file: self.file,
            delimiter: self.delimiter,
            header: None,
            columns: self.columns.iter().map(Builder::follower).collect(),
            lines: Vec::new(),
            blank: Vec::new(),
            row: 0,
            kept: ALL,
            limit: self.limit,
            line: 0,
            cut_at_rows: true,
            taken: false,
        }
    }

    /// The number of rows, with the blank lines that may become rows.
    fn count(&self) -> usize {
        self.lines.len() + self.blank.len()
    }

    /// Whether this many rows are allowed.
    fn has_room(&self, rows: usize) -> bool {
        rows.saturating_mul(self.columns.len()) <= self.limit
    }

    /// Adds the rows of pieces that follow.
    fn append(&mut self, pieces: &[Self]) {
        // The number of blank lines before each piece that became missing values.
        let mut missing = Vec::with_capacity(pieces.len());
        for piece in pieces {
            missing.push(if piece.lines.is_empty() { 0 } else { self.blank.len() });
            if !piece.lines.is_empty() {
                self.lines.append(&mut self.blank);
            }
            self.lines.extend(piece.lines.iter().map(|line| self.line + line));
            self.blank.extend(piece.blank.iter().map(|line| self.line + line));
            self.line += piece.line;
        }
        self.row = self.lines.len();
        self.columns.par_iter_mut().enumerate().for_each(|(index, column)| {
            for (piece, &missing) in pieces.iter().zip(&missing) {
                (0..missing).for_each(|_| column.push_missing());
                if let Some(next) = piece.columns.get(index) {
                    column.append(next);
                }
            }
        });
    }
}

/// Cuts a text at line ends into pieces of `size` bytes or a little more.
fn cut(text: &[u8], size: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let rest = text.get(start + size..).unwrap_or_default();
        let line_end = rest.iter().position(|&byte| byte == b'\n');
        let end = line_end.map_or(text.len(), |at| start + size + at + 1);
        ranges.push(start..end);
        start = end;
    }
    ranges
}

/// In a file with one column: whether its name and its first value split into the same number of
/// parts at another separator.
fn look_for_delimiter(header: &str, first: &str, file: &str, line: u64) -> Result<(), DataError> {
    let separators = [("|", "`|`"), (":", "`:`"), ("^", "`^`"), ("&", "`&`"), ("~", "`~`")];
    let parts = |text: &str, at: &str| text.split(at).count();
    let found = separators.into_iter().find(|(at, _)| {
        let count = parts(header, at);
        count > 1 && parts(first, at) == count
    });
    let words = header.split_whitespace().count();
    let spaces = words > 1 && first.split_whitespace().count() == words;
    let separator = match (found, spaces) {
        (Some((_, shown)), _) => shown,
        (None, true) => "spaces",
        (None, false) => return Ok(()),
    };
    Err(DataError::Delimiter {
        place: Place::line(file, line),
        header: header.to_owned(),
        separator,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::Table;
    use crate::blocks::Plan;

    /// A table with all that it contains, NaN included, or the error.
    fn read(bytes: &[u8], plan: Plan) -> String {
        match Table::from_blocks_of("t", bytes, plan) {
            Ok(table) => format!("{table:?}"),
            Err(error) => error.to_string(),
        }
    }

    /// A plan with one block, in one piece.
    fn whole(start: usize, values: usize) -> Plan {
        Plan { start, piece: 1 << 20, column: 0, pieces: Some(1), values }
    }

    /// Lines of typical and of broken tables with up to three columns.
    fn files() -> impl Strategy<Value = Vec<u8>> {
        let header =
            prop::sample::select(vec!["a\n", "a b\n", "\n\"a\nb\",b\n", "a;b\r\n", "a,b,c\n"]);
        let common =
            prop::sample::select(vec!["1", "-2.50", "7e3", "x", "y z", "NA", "", " ", "é"]);
        let rare = prop::sample::select(vec!["inf", "\"p\nq\"", "\"\"\"\"", "5\" pipe", "\"u"]);
        let bad = prop::sample::select(vec![&b"\0"[..], b"\xff", b"\r", b"\"a\"b", b",", b";"]);
        let bytes = |text: &str| text.as_bytes().to_vec();
        let cell = prop_oneof![
            200 => common.prop_map(bytes),
            20 => rare.prop_map(bytes),
            1 => bad.prop_map(<[u8]>::to_vec),
        ];
        let end = prop::sample::select(vec!["\n", "\n", "\r\n", "\n\n", "\n \n"]);
        let row = (prop::collection::vec(cell, 3), end);
        let rows = prop::collection::vec(row, 0..30);
        (header, rows, any::<bool>()).prop_map(|(header, rows, ended)| {
            let mut file = header.as_bytes().to_vec();
            let columns = header.split([',', ';']).count();
            let delimiter = if header.contains(';') { b";" } else { b"," };
            for (cells, end) in rows {
                file.extend(cells[..columns].join(&delimiter[..]));
                file.extend(end.as_bytes());
            }
            file.truncate(file.len() - usize::from(!ended));
            file
        })
    }

    /// Bytes that occur in tables, in random order.
    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(prop::sample::select(b"a1,;\"\n\r \xef\xbb\xbf\0".to_vec()), 0..60)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn a_table_does_not_depend_on_where_its_file_is_cut(
            file in prop_oneof![3 => files(), 1 => bytes()], start in 1..80_usize,
            piece in 1..80_usize, pieces in 1..6_usize, values in 1..200_usize,
        ) {
            let plan = Plan { start, piece, column: 0, pieces: Some(pieces), values };
            prop_assert_eq!(read(&file, plan), read(&file, whole(start, values)));
        }
    }

    /// The file above the limits of the first read, with every kind of column and thousands of
    /// pieces; an error in it is found in its line.
    #[test]
    fn a_long_file_is_the_same_in_pieces() {
        let row = |row: usize| {
            let late = if row == 7_000 { "late".to_owned() } else { format!("-{row}.5") };
            format!("{row},l{},\"id {row}\n\",{late},{}\n", row % 12, 1.0 / row as f64)
        };
        let mut file = "n,level,id,late,inverse\n".to_owned();
        file.extend((0..12_000).map(row));
        let small = Plan { start: 100, piece: 1000, column: 0, pieces: Some(8), ..Plan::default() };
        let table = Table::from_blocks_of("t", file.as_bytes(), small).unwrap();
        assert_eq!(table.rows(), 12_000);
        assert_eq!(table.row_place(11_999).to_string(), "line 24000");
        assert_eq!(table.columns()[1].texts().unwrap()[11_999], Some("l11"));
        for plan in [small, Plan::default()] {
            assert_eq!(read(file.as_bytes(), plan), read(file.as_bytes(), whole(100, 1 << 20)));
        }
        file.push_str("1,2,3\n");
        let error = read(file.as_bytes(), small);
        assert!(error.starts_with("t, line 24002: found 3 fields, need 5"), "{error}");
    }
}

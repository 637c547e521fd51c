//! Writing results to standard output: one JSON document, or text with tables that fit the
//! terminal.

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use ridgewalk::frame::place::shown;
use serde::Serialize;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use crate::failure::Failure;

/// The width of lines where standard output is no terminal.
const LINE: usize = 80;
/// Running text is not wider than this on any terminal.
const TEXT: usize = 100;

/// Writes one JSON document and a newline.
pub(crate) fn json(document: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document).map_err(std::io::Error::from)?;
    self::text(&text)
}

/// Writes text and a newline. A closed pipe (`| head`) is not an error.
pub(crate) fn text(text: &str) -> Result<(), Failure> {
    let mut out = std::io::stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(()),
        other => Ok(other?),
    }
}

/// A number of bytes, in the largest unit of which there is at least one.
pub(crate) fn bytes(count: u64) -> String {
    let units = [(1_u64 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")];
    match units.into_iter().find(|(unit, _)| count >= *unit) {
        Some((unit, name)) => format!("{:.1} {name}", count as f64 / unit as f64),
        None => format!("{count} bytes"),
    }
}

/// A table in the style of this program: a line under the header, names left-aligned, numbers
/// right-aligned.
pub(crate) fn table<const H: usize>(
    header: [&str; H], rows: impl IntoIterator<Item = Vec<String>>,
) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_BORDERS_ONLY_CONDENSED);
    table.set_header(header);
    table.add_rows(rows);
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

/// Columns of text without borders: the first left-aligned, the others right-aligned. Wide ones are
/// shortened, so that lines fit the terminal.
pub(crate) fn plain(heads: &[String], rows: &[Vec<String>]) -> String {
    let of = |row: &Vec<String>, column: usize| row.get(column).map_or(0, |cell| columns(cell));
    let mut widths: Vec<usize> = (0..heads.len())
        .map(|k| rows.iter().map(|row| of(row, k)).fold(columns(&heads[k]), usize::max))
        .collect();
    let total =
        |widths: &[usize]| widths.iter().sum::<usize>() + 2 * widths.len().saturating_sub(1);
    // The widest column gives way, down to a few characters.
    while total(&widths) > width() {
        match widths.iter_mut().max() {
            Some(widest) if *widest > 12 => *widest -= 1,
            _ => break,
        }
    }
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).enumerate().map(|(k, (cell, width))| {
            let cell = shortened(cell, *width);
            let blank = " ".repeat(width.saturating_sub(columns(&cell)));
            if k == 0 { format!("{cell}{blank}") } else { format!("{blank}{cell}") }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let lines = std::iter::once(line(heads)).chain(rows.iter().map(|row| line(row)));
    lines.collect::<Vec<_>>().join("\n")
}

/// The width of the terminal that standard output is; 80 where it is none.
pub(crate) fn width() -> usize {
    width_of(std::io::stdout())
}

/// The same of another stream.
#[cfg(unix)]
pub(crate) fn width_of(stream: impl std::os::fd::AsFd) -> usize {
    columns_of(terminal_size::terminal_size_of(stream))
}

/// The same of another stream.
#[cfg(windows)]
pub(crate) fn width_of(stream: impl std::os::windows::io::AsHandle) -> usize {
    columns_of(terminal_size::terminal_size_of(stream))
}

fn columns_of(size: Option<(terminal_size::Width, terminal_size::Height)>) -> usize {
    size.map_or(LINE, |(columns, _)| usize::from(columns.0)).max(1)
}

/// The columns of a terminal that a text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// A name without its middle if it is too long: levels are at its end.
pub(crate) fn shortened(name: &str, width: usize) -> String {
    let whole = shown(name, usize::MAX);
    if columns(&whole) <= width {
        return whole;
    }
    let end = width.saturating_sub(1) / 2;
    let start = width.saturating_sub(1) - end;
    let first = beginning(whole.chars(), start);
    let last: String = beginning(whole.chars().rev(), end).chars().rev().collect();
    format!("{first}…{last}")
}

/// The first characters, as many as fit.
fn beginning(characters: impl Iterator<Item = char>, width: usize) -> String {
    let mut left = width;
    let fits = |character: &char| {
        let rest = left.checked_sub(character.width().unwrap_or(0));
        left = rest.unwrap_or(left);
        rest.is_some()
    };
    characters.take_while(fits).collect()
}

/// A paragraph in lines of at most `width` columns, broken at blanks outside of backquotes; further
/// lines are indented by so many blanks.
pub(crate) fn wrapped(text: &str, width: usize, indent: usize) -> String {
    let width = width.min(TEXT);
    let (mut lines, mut used) = (String::new(), 0);
    for word in words(text, width.saturating_sub(indent)) {
        if lines.is_empty() {
            used = columns(word);
        } else if used + 1 + columns(word) <= width {
            lines.push(' ');
            used += 1 + columns(word);
        } else {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            used = indent + columns(word);
        }
        lines.push_str(word);
    }
    lines
}

/// The words of a text. Words in backquotes are one if they fit into a line.
fn words(text: &str, width: usize) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut begin, mut quoted) = (0, false);
    for (at, character) in text.char_indices() {
        match character {
            '`' => quoted = !quoted,
            ' ' if !quoted => {
                found.push(&text[begin..at]);
                begin = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[begin..]);
    let parts = |word: &'_ str| columns(word) > width;
    found.into_iter().flat_map(|word| word.split(if parts(word) { ' ' } else { '\n' })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_both_ends() {
        assert_eq!(shortened("season[summer]", 14), "season[summer]");
        assert_eq!(shortened("income:season[summer]", 14), "income:…ummer]");
        assert_eq!(shortened("a\tb", 9), "a\\tb");
        // Characters of two columns.
        let wide = shortened("\u{6e29}\u{5ea6}\u{6e29}\u{5ea6}\u{6e29}", 8);
        assert_eq!((wide.as_str(), columns(&wide)), ("\u{6e29}\u{5ea6}…\u{6e29}", 7));
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrapped("one two three", 80, 2), "one two three");
        assert_eq!(wrapped("one two three", 7, 2), "one two\n  three");
        assert_eq!(wrapped("one two three", 7, 0), "one two\nthree");
        assert_eq!(wrapped("see `a b c` now", 9, 0), "see\n`a b c`\nnow");
        assert_eq!(wrapped("see `a b c d e` now", 7, 0), "see `a\nb c d\ne` now");
        assert_eq!(wrapped("a word-that-is-too-long b", 8, 2), "a\n  word-that-is-too-long\n  b");
    }
}

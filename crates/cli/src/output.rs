//! Writing results to standard output: one JSON document, or text with tables.

use std::io::Write;

use comfy_table::{CellAlignment, Table, presets};
use serde::Serialize;

use crate::failure::Failure;

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

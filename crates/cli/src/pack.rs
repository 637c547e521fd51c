//! `ridgewalk pack`: a data file as columns in blocks of rows, with checksums.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use ridgewalk::frame::place::listed;
use ridgewalk::frame::{self, DataError};
use serde::Serialize;

use crate::failure::Failure;
use crate::output;

/// Options of `ridgewalk pack`.
#[derive(Debug, Args)]
pub(crate) struct PackOptions {
    /// Data file with a line of column names: CSV, or Parquet where it is built in
    #[arg(value_name = "DATA")]
    data: PathBuf,
    /// The packed file, which must not exist
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// Write one JSON document
    #[arg(long)]
    json: bool,
}

/// What was packed, as JSON.
#[derive(Debug, Serialize)]
struct Document {
    file: String,
    rows: u64,
    columns: usize,
    bytes: u64,
    digest: String,
    unusable: Vec<String>,
}

/// Runs `ridgewalk pack`.
pub(crate) fn run(options: &PackOptions) -> Result<(), Failure> {
    let packed = frame::pack(&options.data, &options.out).map_err(failed(options))?;
    let file = options.out.display().to_string();
    if options.json {
        let document = Document {
            file,
            rows: packed.rows,
            columns: packed.columns,
            bytes: packed.bytes,
            digest: packed.digest,
            unusable: packed.unusable,
        };
        return output::json(&document);
    }
    if !packed.unusable.is_empty() {
        let names = listed(&packed.unusable, 8);
        let note = "have values that no model can use; naming one in a model gives the reason";
        let _ = writeln!(std::io::stderr(), "note: {names} {note}");
    }
    let (rows, columns) = (packed.rows, packed.columns);
    let size = output::bytes(packed.bytes);
    output::text(&format!("{file}: {rows} rows, {columns} columns, {size}"))
}

/// A file that cannot be written is no fault of the data: exit code 1.
fn failed(options: &PackOptions) -> impl Fn(DataError) -> Failure + '_ {
    |error| match error {
        DataError::Write { source, .. } => Failure::File { path: options.out.clone(), source },
        other => other.into(),
    }
}

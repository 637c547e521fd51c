//! Reading and writing `summary.json`, and reading `config.toml`.

use std::path::Path;

use ridgewalk_fit::{Config, SummaryDocument};

use crate::directory::{MAX_DOCUMENT, read_file, write_atomically};
use crate::error::{Error, FileAction};

/// Writes a summary to a file, atomically.
///
/// # Errors
/// If it cannot be written.
pub fn write_summary(document: &SummaryDocument, path: &Path) -> Result<(), Error> {
    let text =
        document.to_json().map_err(|error| Error::file(FileAction::Write, path)(error.into()))?;
    write_atomically(path, text.as_bytes())
}

/// Reads a summary back.
///
/// # Errors
/// If it cannot be read or is not a summary.
pub fn read_summary(path: &Path) -> Result<SummaryDocument, Error> {
    let need = "a summary written by `ridgewalk fit` (keys parameters, sampler, problem)";
    let text = read_file(path, MAX_DOCUMENT, need)?;
    serde_json::from_slice(&text).map_err(|error| Error::format(path, error, need))
}

/// Reads the configuration of a run.
///
/// # Errors
/// If it cannot be read or is not a configuration.
pub fn read_config(path: &Path) -> Result<Config, Error> {
    let need = "a configuration written by `ridgewalk fit`";
    let text = read_file(path, MAX_DOCUMENT, need)?;
    let text = String::from_utf8(text).map_err(|error| Error::format(path, error, need))?;
    Config::from_toml(&text).map_err(|error| Error::format(path, error.message(), need))
}

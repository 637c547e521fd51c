//! The run directory of a fit: draws, checkpoint and summary.
//!
//! - [`OpenRun`]: a run directory that this process writes into, new or resumed;
//! - [`RunDirectory`]: the paths of the files, and writing them atomically;
//! - [`Checkpoint`]: from where an interrupted run resumes; a [`Lock`] keeps two processes from
//!   doing so at the same time;
//! - [`ZarrDraws`] and [`CsvDraws`]: sinks that take draws as they come, in bounded memory;
//! - [`StoredDraws`]: draws read back, in bounded memory; [`read_draws`], [`read_every_draw`] and
//!   [`replay`]: all at once, and into a sink;
//! - [`Export`]: a store with more groups for ArviZ, written in bounded memory;
//! - [`read_summary`], [`write_summary`], [`read_checks`] and [`write_checks`]: `summary.json` and
//!   `checks.json`; [`read_config`]: `config.toml`.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod checkpoint;
mod csv;
mod directory;
mod error;
mod keeper;
mod open;
mod resume;
mod summary;
mod zarr;

pub use checkpoint::{Checkpoint, Head};
pub use csv::CsvDraws;
pub use directory::{Lock, RunDirectory, write_atomically};
pub use error::{Error, ErrorKind, FileAction};
pub use keeper::Keeper;
pub use open::OpenRun;
pub use summary::{read_checks, read_config, read_summary, write_checks, write_summary};
pub use zarr::{
    Export, ExportGroup, StoredDraws, Stream, ValueKind, Values, ZarrDraws, read_draws,
    read_every_draw, replay,
};

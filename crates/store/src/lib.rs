//! What a fit leaves behind: the run directory with its draws, summary and report.
//!
//! - [`RunDirectory`]: where the files are, and how they are written so that a crash leaves the old
//!   or the new one whole;
//! - [`Checkpoint`]: from where an interrupted run goes on; a [`Lock`] keeps two processes from
//!   doing so at a time;
//! - [`ZarrDraws`] and [`CsvDraws`]: sinks that take draws as they come, in bounded memory;
//! - [`StoredDraws`]: the way back, in bounded memory; [`read_draws`], [`read_every_draw`] and
//!   [`replay`]: all at once, and into a sink;
//! - `summary.json` is a [`SummaryDocument`];
//! - `report.html` is made by [`report()`], from nothing but what is in the directory
//!   ([`write_report`]).

mod checkpoint;
mod csv;
mod directory;
mod draws;
mod error;
mod report;
mod summary;
mod zarr;

pub use checkpoint::{Checkpoint, Head};
pub use csv::CsvDraws;
pub use directory::{Lock, RunDirectory, write_atomically};
pub(crate) use directory::{MAX_DOCUMENT, read_file};
pub use draws::Draws;
pub use error::Error;
pub use report::{ReportInput, report, write_report};
pub use summary::{
    BiasDetails, Fact, Parameter, ProblemFacts, SamplerFacts, SummaryDocument, Text, Trajectories,
    Warning,
};
pub use zarr::{StoredDraws, ZarrDraws, read_draws, read_every_draw, replay};

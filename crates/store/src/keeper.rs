//! The sinks of a run directory: the Zarr store, an optional CSV file, and the checkpoint, which is
//! written once the draws that it counts are on disk.

use std::path::PathBuf;
use std::time::Instant;

use ridgewalk_sampler::{DrawStats, SavedRun, SavedWarmUp, Sink, SinkError};

use crate::checkpoint::Checkpoint;
use crate::csv::CsvDraws;
use crate::error::Error;
use crate::zarr::ZarrDraws;

/// All sinks of a run directory.
#[derive(Debug)]
pub struct Keeper {
    pub(crate) zarr: ZarrDraws,
    pub(crate) csv: Option<CsvDraws>,
    /// The path of the checkpoint.
    pub(crate) path: PathBuf,
    /// The last checkpoint, with the warm-up.
    pub(crate) checkpoint: Checkpoint,
    /// When this process started, and the run time of earlier processes in seconds.
    pub(crate) began: Instant,
    pub(crate) earlier: f64,
}

impl Keeper {
    /// Draws per chain from which the run would resume.
    #[must_use]
    pub fn safe_draws(&self) -> u64 {
        self.checkpoint.safe_draws()
    }

    /// Closes the sinks of a failed run as far as possible: the disk may be full. Returns the
    /// number of draws that all chains have in the store.
    #[must_use]
    pub fn salvage(self) -> u64 {
        let safe = self.safe_draws();
        if let Some(csv) = self.csv {
            // The first error is the one to report.
            let _ = csv.finish();
        }
        self.zarr.finish(false).unwrap_or(safe)
    }

    /// Closes all sinks. Returns the number of draws that all chains have.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn finish(self, complete: bool) -> Result<u64, Error> {
        if let Some(csv) = self.csv {
            csv.finish()?;
        }
        self.zarr.finish(complete)
    }
}

impl Sink for Keeper {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.zarr.begin(chains, dimension)?;
        self.csv.as_mut().map_or(Ok(()), |csv| csv.begin(chains, dimension))
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        self.keep_with(chain, draw, point, None)
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        self.zarr.keep_with(chain, draw, point, stats)?;
        self.csv.as_mut().map_or(Ok(()), |csv| csv.keep(chain, draw, point))
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        self.zarr.flush()?;
        self.csv.as_mut().map_or(Ok(()), CsvDraws::flush)
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        let draws = state.draws();
        if self.zarr.made() != draws {
            return Err(format!(
                "the store holds {:?} draws per chain but the chains made {draws:?}",
                self.zarr.made()
            )
            .into());
        }
        // A store that was just created or opened is on disk.
        if self.checkpoint.head.draws != draws && draws.iter().any(|draws| *draws > 0) {
            self.zarr.save()?;
        }
        let head = &mut self.checkpoint.head;
        head.csv_bytes = self.csv.as_mut().map(CsvDraws::save).transpose()?;
        head.seconds = self.earlier + self.began.elapsed().as_secs_f64();
        head.draws = draws;
        self.checkpoint.run = state.to_bytes();
        self.checkpoint.write(&self.path)?;
        Ok(())
    }

    /// The checkpoint goes first: a run that is killed between the two begins again with the new
    /// warm-up, and clears the draws itself.
    fn restart(&mut self, warm_up: &SavedWarmUp) -> Result<bool, SinkError> {
        let Checkpoint { head, warm_up: bytes, run, .. } = &mut self.checkpoint;
        (*bytes, *run) = (warm_up.to_bytes(), Vec::new());
        (head.draws, head.csv_bytes) = (Vec::new(), None);
        head.seconds = self.earlier + self.began.elapsed().as_secs_f64();
        self.checkpoint.write(&self.path)?;
        self.zarr.clear()?;
        self.csv.as_mut().map_or(Ok(()), CsvDraws::clear)?;
        Ok(true)
    }
}

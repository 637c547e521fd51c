//! A run directory that this process writes into: newly begun, or resumed.

use std::path::Path;
use std::time::Instant;

use ridgewalk_fit::Config;
use ridgewalk_sampler::SavedRun;

use crate::checkpoint::Checkpoint;
use crate::csv::CsvDraws;
use crate::directory::{Lock, RunDirectory};
use crate::error::Error;
use crate::keeper::Keeper;
use crate::zarr::ZarrDraws;

/// A run directory that this process writes into.
#[derive(Debug)]
pub struct OpenRun {
    pub(crate) directory: RunDirectory,
    pub(crate) lock: Lock,
    pub(crate) config: Config,
    pub(crate) checkpoint: Checkpoint,
}

impl OpenRun {
    /// Makes the directory of a new run with its `config.toml` and its first checkpoint.
    ///
    /// # Errors
    /// If something of that name is there, or it cannot be made.
    pub fn begin(path: &Path, config: Config) -> Result<Self, Error> {
        let failed =
            |error: String| Error::format(path, error, "a configuration that can be written");
        let text = config.to_toml().map_err(|error| failed(error.to_string()))?;
        let checkpoint = Checkpoint::new(&text);
        let bytes = checkpoint.to_bytes().map_err(|error| failed(error.to_string()))?;
        let (directory, lock) = RunDirectory::begin(path, text.as_bytes(), &bytes)?;
        Ok(Self { directory, lock, config, checkpoint })
    }

    /// Its files.
    #[must_use]
    pub fn directory(&self) -> &RunDirectory {
        &self.directory
    }

    /// What was asked for.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Where the run is.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Seconds that the run has taken, those of earlier processes included. This process has it
    /// since `began`.
    #[must_use]
    pub fn seconds(&self, began: Instant) -> f64 {
        self.checkpoint.head.seconds + began.elapsed().as_secs_f64()
    }

    /// Keeps a finished warm-up, to be written with the next checkpoint.
    pub fn warmed_up(&mut self, bytes: Vec<u8>) {
        self.checkpoint.warm_up = bytes;
    }

    /// The state that sampling goes on from; `None` if it has not begun.
    ///
    /// # Errors
    /// If the checkpoint does not hold a state.
    pub fn saved(&self) -> Result<Option<SavedRun>, ridgewalk_sampler::Error> {
        match self.checkpoint.run.as_slice() {
            [] => Ok(None),
            bytes => SavedRun::from_bytes(bytes).map(Some),
        }
    }

    /// The sinks of the run: new ones, or those of the interrupted run, cut to what the saved state
    /// counts. `began` is when this process began with the run.
    ///
    /// # Errors
    /// If draws that the state counts are missing, and if the files cannot be written.
    pub fn keeper(
        &self, thin: u64, saved: Option<&SavedRun>, began: Instant,
    ) -> Result<Keeper, Error> {
        let (names, head) = (&self.config.resolved.coefficients, &self.checkpoint.head);
        let (store, text) = (self.directory.draws(), self.directory.csv());
        let (zarr, csv) = match saved {
            Some(saved) => {
                // Both are looked at before one is cut.
                let csv = head.csv_bytes.map(|bytes| CsvDraws::resume(&text, names, bytes));
                let csv = csv.transpose()?;
                (ZarrDraws::resume(&store, &saved.draws())?, csv)
            }
            None => {
                self.directory.clear_draws()?;
                let csv = self.config.options.csv.then(|| CsvDraws::create(&text, names));
                (ZarrDraws::create(&store, names, thin)?, csv.transpose()?)
            }
        };
        let (path, checkpoint) = (self.directory.checkpoint(), self.checkpoint.clone());
        Ok(Keeper { zarr, csv, path, checkpoint, began, earlier: head.seconds })
    }

    /// The run has everything it was to have: there is nothing to resume from now on.
    ///
    /// # Errors
    /// If the checkpoint cannot be removed.
    pub fn finish(self) -> Result<(), Error> {
        self.directory.finish(self.lock)
    }

    /// Takes a directory away that holds nothing but the question, as if the run had not begun.
    pub fn abandon(self) {
        self.directory.abandon(self.lock);
    }
}

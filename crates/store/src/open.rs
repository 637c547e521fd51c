//! A run directory that this process writes into, new or resumed.

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
    /// Creates the directory of a new run with its `config.toml` and its first checkpoint.
    ///
    /// # Errors
    /// If the path exists or cannot be created.
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

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The current checkpoint.
    #[must_use]
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Run time in seconds, earlier processes included. This process started at `began`.
    #[must_use]
    pub fn seconds(&self, began: Instant) -> f64 {
        self.checkpoint.head.seconds + began.elapsed().as_secs_f64()
    }

    /// Stores a finished warm-up, to be written with the next checkpoint.
    pub fn warmed_up(&mut self, bytes: Vec<u8>) {
        self.checkpoint.warm_up = bytes;
    }

    /// The state from which sampling resumes; `None` if it has not begun.
    ///
    /// # Errors
    /// If the checkpoint holds no valid state.
    pub fn saved(&self) -> Result<Option<SavedRun>, ridgewalk_sampler::Error> {
        match self.checkpoint.run.as_slice() {
            [] => Ok(None),
            bytes => SavedRun::from_bytes(bytes).map(Some),
        }
    }

    /// The sinks of the run: new, or those of the interrupted run, truncated to the saved state.
    /// `began` is when this process started.
    ///
    /// # Errors
    /// If draws counted by the state are missing, or the files cannot be written.
    pub fn keeper(
        &self, thin: u64, saved: Option<&SavedRun>, began: Instant,
    ) -> Result<Keeper, Error> {
        let (names, head) = (&self.config.resolved.names(), &self.checkpoint.head);
        let (store, text) = (self.directory.draws(), self.directory.csv());
        let (zarr, csv) = match saved {
            Some(saved) => {
                // Both are checked before either is truncated.
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

    /// Marks the run as finished: there is nothing left to resume.
    ///
    /// # Errors
    /// If the checkpoint cannot be removed.
    pub fn finish(self) -> Result<(), Error> {
        self.directory.finish(self.lock)
    }

    /// Removes a directory that holds only the configuration, as if the run had not begun.
    pub fn abandon(self) {
        self.directory.abandon(self.lock);
    }
}

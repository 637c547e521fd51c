//! A sink that writes draws as a CSV file.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ridgewalk::sampler::{Sink, SinkError};

use super::error::Error;

/// How often what was written is pushed from the system's memory to the disk.
const SYNC: Duration = Duration::from_secs(5);

/// Draws as text: one line for each draw of each chain, in the order in which they come. The columns are `chain`, `draw` and the
/// coefficients. Numbers have as many digits as it takes to read the same number back.
///
/// A run that goes on after an interruption makes the file anew and is given the earlier draws by [`replay`](super::replay).
#[derive(Debug)]
pub struct CsvDraws {
    path: PathBuf,
    out: csv::Writer<BufWriter<File>>,
    dimension: usize,
    synced: Instant,
}

impl CsvDraws {
    /// Makes the file, with its header. One of that name is replaced.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, names: &[String]) -> Result<Self, Error> {
        let file = File::create(path).map_err(Error::file("write", path))?;
        let mut out = csv::Writer::from_writer(BufWriter::new(file));
        let header = ["chain", "draw"].into_iter().chain(names.iter().map(String::as_str));
        out.write_record(header).map_err(|error| wrong(path, error))?;
        Ok(Self { path: path.to_owned(), out, dimension: names.len(), synced: Instant::now() })
    }

    /// Everything is on the disk when this returns.
    ///
    /// # Errors
    /// If it is not.
    pub fn finish(mut self) -> Result<(), Error> {
        self.sync()
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.out.flush().map_err(Error::file("write", &self.path))?;
        self.out.get_ref().get_ref().sync_data().map_err(Error::file("write", &self.path))?;
        self.synced = Instant::now();
        Ok(())
    }
}

fn wrong(path: &Path, error: csv::Error) -> Error {
    Error::file("write", path)(error.into())
}

impl Sink for CsvDraws {
    fn begin(&mut self, _: usize, dimension: usize) -> Result<(), SinkError> {
        if dimension == self.dimension {
            Ok(())
        } else {
            Err(Error::Shape { what: "so many coefficients", got: dimension, need: self.dimension }.into())
        }
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        // Straight into the record: the fields hold digits and signs alone, and need no quotes.
        let out = &mut self.out;
        let fields = [chain.to_string(), draw.to_string()];
        let numbers = point.iter().map(|x| format!("{x:?}"));
        out.write_record(fields.into_iter().chain(numbers)).map_err(|error| wrong(&self.path, error))?;
        Ok(())
    }

    fn flush(&mut self) -> Result<(), SinkError> {
        if self.synced.elapsed() >= SYNC {
            self.sync()?;
        } else {
            self.out.flush().and_then(|()| self.out.get_ref().get_ref().flush())?;
        }
        Ok(())
    }
}

//! A sink that writes draws as a CSV file.

use std::fs::{File, OpenOptions};
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use ridgewalk_sampler::{Sink, SinkError};

use crate::error::{Error, FileAction};

/// How often the file is synced to disk.
const SYNC: Duration = Duration::from_secs(5);

/// Draws as text: one line per draw of each chain, in the order of arrival. The columns are
/// `chain`, `draw` and the coefficients. Numbers have enough digits to read back exactly.
///
/// [`CsvDraws::save`] returns the length of the file with the draws so far, and
/// [`CsvDraws::resume`] truncates it there.
#[derive(Debug)]
pub struct CsvDraws {
    path: PathBuf,
    out: csv::Writer<BufWriter<File>>,
    names: Vec<String>,
    synced: Instant,
    /// Where to truncate the file of an earlier run before the first draw.
    cut: Option<u64>,
}

impl CsvDraws {
    /// Creates the file with its header. An existing file is replaced.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, names: &[String]) -> Result<Self, Error> {
        let file = File::create(path).map_err(Error::file(FileAction::Write, path))?;
        let mut sink = Self::on(path, file, names);
        let header = ["chain", "draw"].into_iter().chain(names.iter().map(String::as_str));
        sink.out.write_record(header).map_err(|error| wrong(path, error))?;
        Ok(sink)
    }

    /// Opens the file of an interrupted run, to continue after its first `bytes` bytes. The rest is
    /// cut off when the run begins.
    ///
    /// # Errors
    /// If it is shorter, no line ends there, or it cannot be read or written.
    pub fn resume(path: &Path, names: &[String], bytes: u64) -> Result<Self, Error> {
        let of = || Error::file(FileAction::Resume, path);
        let mut file = OpenOptions::new().read(true).write(true).open(path).map_err(of())?;
        let there = file.metadata().map_err(of())?.len();
        let mut last = [0];
        if there >= bytes && bytes > 0 {
            file.seek(SeekFrom::Start(bytes - 1))
                .and_then(|_| file.read_exact(&mut last))
                .map_err(of())?;
        }
        if last != *b"\n" {
            let found = format!("{there} bytes and no line ending after byte {bytes}");
            return Err(Error::format(path, found, "the draws made before the interruption"));
        }
        file.seek(SeekFrom::Start(bytes)).map_err(of())?;
        Ok(Self { cut: Some(bytes), ..Self::on(path, file, names) })
    }

    fn on(path: &Path, file: File, names: &[String]) -> Self {
        let out = csv::Writer::from_writer(BufWriter::new(file));
        Self {
            path: path.to_owned(),
            out,
            names: names.to_vec(),
            synced: Instant::now(),
            cut: None,
        }
    }

    /// Writes every draw so far to disk and returns the length of the file in bytes.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn save(&mut self) -> Result<u64, Error> {
        self.sync()?;
        let about = self.out.get_ref().get_ref().metadata();
        Ok(about.map_err(Error::file(FileAction::Write, &self.path))?.len())
    }

    /// Removes every draw.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(crate) fn clear(&mut self) -> Result<(), Error> {
        *self = Self::create(&self.path, &self.names)?;
        Ok(())
    }

    /// Writes everything to disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self) -> Result<(), Error> {
        self.sync()
    }

    fn sync(&mut self) -> Result<(), Error> {
        self.out.flush().map_err(Error::file(FileAction::Write, &self.path))?;
        self.out
            .get_ref()
            .get_ref()
            .sync_data()
            .map_err(Error::file(FileAction::Write, &self.path))?;
        self.synced = Instant::now();
        Ok(())
    }
}

fn wrong(path: &Path, error: csv::Error) -> Error {
    Error::file(FileAction::Write, path)(error.into())
}

impl Sink for CsvDraws {
    fn begin(&mut self, _: usize, dimension: usize) -> Result<(), SinkError> {
        if dimension != self.names.len() {
            let need = self.names.len();
            return Err(Error::Shape { what: "coefficients", got: dimension, need }.into());
        }
        if let Some(bytes) = self.cut.take() {
            let file = self.out.get_ref().get_ref();
            let cut = file.set_len(bytes).and_then(|()| file.sync_all());
            cut.map_err(Error::file(FileAction::Resume, &self.path))?;
        }
        Ok(())
    }

    fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
        // Written directly: the fields hold only digits and signs and need no quotes.
        let out = &mut self.out;
        let fields = [chain.to_string(), draw.to_string()];
        let numbers = point.iter().map(|x| format!("{x:?}"));
        out.write_record(fields.into_iter().chain(numbers))
            .map_err(|error| wrong(&self.path, error))?;
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

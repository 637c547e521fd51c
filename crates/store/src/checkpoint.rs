//! `checkpoint`: from where an interrupted run resumes.
//!
//! ```text
//! ridgewalk checkpoint 1
//! {"version": .., "seconds": .., "draws": [..], "csv_bytes": .., "parts": [.., .., ..]}     one line
//! the text of config.toml, which has the hash of the data; the warm-up; the run             as many bytes as `parts` says
//! SHA-256 of everything before, in 64 digits, and a newline
//! ```
//!
//! The warm-up and the run are in the formats of [`SavedWarmUp`](ridgewalk_sampler::SavedWarmUp)
//! and [`SavedRun`](ridgewalk_sampler::SavedRun); each is empty until it exists. The file is
//! replaced atomically, after the draws that it counts are on disk.

use std::fmt::Write;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::directory::write_atomically;
use crate::error::{Error, FileAction};

const TITLE: &str = "ridgewalk checkpoint 1\n";
/// The checksum's digits and a newline.
const END: usize = 65;
const NEED: &str = "a checkpoint written by `ridgewalk fit`";

/// From where a run resumes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Checkpoint {
    /// The header line.
    pub head: Head,
    /// The text of `config.toml`.
    pub config: String,
    /// The warm-up; empty until it is finished.
    pub warm_up: Vec<u8>,
    /// The run; empty until it has begun.
    pub run: Vec<u8>,
}

/// The readable header line of a checkpoint.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Head {
    /// The version of the program.
    pub version: String,
    /// Run time so far in seconds.
    pub seconds: f64,
    /// Draws of each chain that are safe.
    pub draws: Vec<u64>,
    /// Bytes of `draws.csv` that hold them, if the file exists.
    pub csv_bytes: Option<u64>,
    /// The lengths of the parts that follow.
    parts: [usize; 3],
}

impl Checkpoint {
    /// The checkpoint of a run that has not begun its warm-up.
    #[must_use]
    pub fn new(config: &str) -> Self {
        let head = Head { version: env!("CARGO_PKG_VERSION").to_owned(), ..Head::default() };
        Self { head, config: config.to_owned(), ..Self::default() }
    }

    /// Draws of each chain that are safe.
    #[must_use]
    pub fn safe_draws(&self) -> u64 {
        self.head.draws.iter().copied().min().unwrap_or(0)
    }

    /// The file's bytes.
    ///
    /// # Errors
    /// None is known: everything in the header can be written as JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>, serde_json::Error> {
        let parts = [self.config.as_bytes(), &self.warm_up, &self.run];
        let head = Head { parts: parts.map(<[u8]>::len), ..self.head.clone() };
        let mut bytes = TITLE.as_bytes().to_vec();
        bytes.extend(serde_json::to_vec(&head)?);
        bytes.push(b'\n');
        parts.iter().for_each(|part| bytes.extend(*part));
        let checksum = digits(&bytes);
        bytes.extend(checksum.bytes());
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Writes the file atomically.
    ///
    /// # Errors
    /// If it cannot be written; the old file is then unchanged.
    pub fn write(&self, path: &Path) -> Result<(), Error> {
        let bytes =
            self.to_bytes().map_err(|error| Error::file(FileAction::Write, path)(error.into()))?;
        write_atomically(path, &bytes)
    }

    /// Reads the file back.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    pub fn read(path: &Path) -> Result<Self, Error> {
        if !fs::metadata(path).map_err(Error::file(FileAction::Read, path))?.is_file() {
            return Err(Error::format(path, "it is not a regular file", NEED));
        }
        let mut file = File::open(path).map_err(Error::file(FileAction::Read, path))?;
        let length = file.metadata().map_err(Error::file(FileAction::Read, path))?.len();
        // A checkpoint may be large. A file that does not begin like one is not read further, and
        // one that does not fit into memory is refused.
        let mut bytes = Vec::new();
        let title = (&mut file).take(TITLE.len() as u64).read_to_end(&mut bytes);
        title.map_err(Error::file(FileAction::Read, path))?;
        if bytes == TITLE.as_bytes() {
            let room = usize::try_from(length)
                .ok()
                .and_then(|length| bytes.try_reserve_exact(length).ok());
            if room.is_none() {
                return Err(Error::format(
                    path,
                    format!("{length} bytes do not fit into memory"),
                    NEED,
                ));
            }
            file.take(length)
                .read_to_end(&mut bytes)
                .map_err(Error::file(FileAction::Read, path))?;
        }
        Self::from_bytes(&bytes).map_err(|found| Error::format(path, found, NEED))
    }

    /// Parses the bytes of a checkpoint file.
    ///
    /// # Errors
    /// If they are damaged.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, String> {
        parse(bytes)
    }
}

fn parse(bytes: &[u8]) -> Result<Checkpoint, String> {
    let cut = || format!("it is damaged: it ends after {} bytes", bytes.len());
    let Some(rest) = bytes.strip_prefix(TITLE.as_bytes()) else {
        return Err(format!("it does not begin with `{}`", TITLE.trim_end()));
    };
    let Some((body, checksum)) =
        bytes.len().checked_sub(END).and_then(|at| bytes.split_at_checked(at))
    else {
        return Err(cut());
    };
    if checksum != format!("{}\n", digits(body)).as_bytes() {
        return Err("it is damaged: its checksum does not match".into());
    }
    let rest = &rest[..rest.len() - END];
    let at = rest.iter().position(|byte| *byte == b'\n').ok_or_else(cut)?;
    let head: Head = serde_json::from_slice(&rest[..at]).map_err(|error| error.to_string())?;
    let mut left = &rest[at + 1..];
    let mut part = |length: usize| -> Option<Vec<u8>> {
        let (part, behind) = left.split_at_checked(length)?;
        left = behind;
        Some(part.to_vec())
    };
    let [config, warm_up, run] = head.parts.map(&mut part);
    let [config, warm_up, run] = [config, warm_up, run].map(|part| part.ok_or_else(cut));
    let config = String::from_utf8(config?).map_err(|error| error.to_string())?;
    let (warm_up, run) = (warm_up?, run?);
    if left.is_empty() { Ok(Checkpoint { head, config, warm_up, run }) } else { Err(cut()) }
}

fn digits(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_and_no_damage_goes_unnoticed() {
        let mut checkpoint = Checkpoint::new("seed = \"0\"\n# größe\n");
        checkpoint.head.seconds = 0.1 + 0.2;
        checkpoint.head.draws = vec![3, 2];
        checkpoint.head.csv_bytes = Some(77);
        checkpoint.warm_up = vec![0, 10, 255];
        checkpoint.run = (0..200).collect();
        let bytes = checkpoint.to_bytes().unwrap();
        let back = parse(&bytes).unwrap();
        assert_eq!(back.to_bytes().unwrap(), bytes);
        assert_eq!(
            (&back.config, &back.warm_up, &back.run),
            (&checkpoint.config, &checkpoint.warm_up, &checkpoint.run)
        );
        assert_eq!(back.head, Head { parts: back.head.parts, ..checkpoint.head });
        for cut in 0..bytes.len() {
            assert!(parse(&bytes[..cut]).is_err(), "{cut}");
        }
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(parse(&changed).is_err(), "{at}");
        }
        assert!(parse(&[&bytes[..], b"\n"].concat()).is_err());
    }
}

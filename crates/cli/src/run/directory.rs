//! The directory of a run: the names of its files, and writing them whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use super::error::Error;

/// The directory of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes the directory, and those above it that are missing.
    ///
    /// # Errors
    /// If something of that name is there, with what it is and what to do; if it cannot be made.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            make_parents(parent)?;
        }
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self { path }),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(occupied(path)),
            Err(error) => Err(Error::file("make the directory", &path)(error)),
        }
    }

    /// A directory that a run has made.
    ///
    /// # Errors
    /// If there is none, or it has no `config.toml`.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        fs::read_dir(&path).map_err(Error::file("open the run directory", &path))?;
        let directory = Self { path };
        if directory.config().is_file() {
            Ok(directory)
        } else {
            Err(Error::NotARun { path: directory.path, need: "config.toml" })
        }
    }

    /// The directory itself.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `config.toml`: everything needed to run it again.
    #[must_use]
    pub fn config(&self) -> PathBuf {
        self.path.join("config.toml")
    }

    /// `draws.zarr`: the draws.
    #[must_use]
    pub fn draws(&self) -> PathBuf {
        self.path.join("draws.zarr")
    }

    /// `draws.csv`: the draws as text, if they were asked for.
    #[must_use]
    pub fn csv(&self) -> PathBuf {
        self.path.join("draws.csv")
    }

    /// `summary.json`.
    #[must_use]
    pub fn summary(&self) -> PathBuf {
        self.path.join("summary.json")
    }

    /// `report.html`.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// `checkpoint`: there until the run is finished.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint")
    }

    /// Whether the run was interrupted and can go on.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.checkpoint().exists()
    }
}

/// Makes a directory and those above it. The one that could not be made, or is not writable, is named.
fn make_parents(path: &Path) -> Result<(), Error> {
    let mut missing: Vec<&Path> = Vec::new();
    for above in path.ancestors().filter(|above| !above.as_os_str().is_empty()) {
        if above.exists() {
            break;
        }
        missing.push(above);
    }
    for directory in missing.into_iter().rev() {
        match fs::create_dir(directory) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(Error::file("make the directory", directory)(error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// The error for a directory that is there: what it holds decides what to do.
fn occupied(path: PathBuf) -> Error {
    let directory = RunDirectory { path };
    let elsewhere = "pass `--out OTHER` to write somewhere else".to_owned();
    let (found, remedy) = if !directory.path.is_dir() {
        ("no directory but a file", elsewhere)
    } else if directory.interrupted() {
        let resume =
            format!("`ridgewalk resume {}` goes on with it, or {elsewhere}", directory.path.display());
        ("an interrupted run", resume)
    } else if directory.summary().exists() {
        ("a finished run", elsewhere)
    } else if fs::read_dir(&directory.path).is_ok_and(|mut entries| entries.next().is_none()) {
        ("nothing", elsewhere)
    } else {
        ("other files", elsewhere)
    };
    Error::Exists { path: directory.path, found, remedy }
}

/// Writes a file so that a crash at any moment leaves the old one or the new one whole: under another name first, on the disk, then renamed.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".partial");
    let partial = path.with_file_name(name);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&partial, path)).and_then(|()| sync_directory(path));
    renamed.map_err(|error| {
        // What is half written helps nobody, least of all on a full disk; the first error is the one to tell.
        let _ = fs::remove_file(&partial);
        Error::file("write", path)(error)
    })
}

/// The new name is on the disk once the directory is.
#[cfg(unix)]
fn sync_directory(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// Elsewhere directories cannot be opened as files; the rename is all there is.
#[cfg(not(unix))]
fn sync_directory(_: &Path) -> std::io::Result<()> {
    Ok(())
}

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
        make(&path)?;
        Ok(Self { path })
    }

    /// Whether [`create`](Self::create) would succeed. What has to be made to find out is taken away again.
    ///
    /// # Errors
    /// As `create`.
    pub fn check(path: &Path) -> Result<(), Error> {
        take_away(&make(path)?);
        Ok(())
    }

    /// A directory that a run has made.
    ///
    /// # Errors
    /// If there is none, or it has no `config.toml`.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if let Err(error) = fs::read_dir(&path) {
            return Err(match error.kind() {
                ErrorKind::NotFound => Error::NotARun { path, found: "there is nothing of that name" },
                ErrorKind::NotADirectory => Error::NotARun { path, found: "it is a file" },
                _ => Error::file("open the run directory", &path)(error),
            });
        }
        let directory = Self { path };
        if directory.config().is_file() {
            Ok(directory)
        } else {
            Err(Error::NotARun { path: directory.path, found: "it has no config.toml" })
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

/// Makes a directory that must not be there, and those above it that are missing: these, the deepest last. After an error none of them
/// is left. The one that could not be made is named.
fn make(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let mut missing: Vec<&Path> = above.take_while(|above| !above.exists()).collect();
    missing.reverse();
    let mut made = Vec::new();
    for directory in missing.into_iter().chain([path]) {
        match fs::create_dir(directory) {
            Ok(()) => made.push(directory.to_owned()),
            // Somebody else made it just now.
            Err(error) if error.kind() == ErrorKind::AlreadyExists && directory != path => {}
            Err(source) => {
                take_away(&made);
                return Err(if source.kind() == ErrorKind::AlreadyExists {
                    occupied(directory.to_owned())
                } else {
                    Error::Make { path: directory.to_owned(), source }
                });
            }
        }
    }
    Ok(made)
}

/// Removes directories that were just made; one that somebody else has put something in stays.
fn take_away(made: &[PathBuf]) {
    for directory in made.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
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

//! The directory of a run: the names of its files, and writing them whole or not at all.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use crate::error::{Error, FileAction};

/// The directory of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDirectory {
    path: PathBuf,
}

/// The right to write into a run directory, until it is dropped or the process ends, however it
/// ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    /// Directories above that were made for the run.
    above: Vec<PathBuf>,
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

    /// Whether [`create`](Self::create) would succeed. What has to be made to find out is taken
    /// away again.
    ///
    /// # Errors
    /// As `create`.
    pub fn check(path: &Path) -> Result<(), Error> {
        let (partial, mut made) = prepare(path)?;
        made.push(partial);
        take_away(&made);
        Ok(())
    }

    /// Makes the directory of a new run with its `config.toml` and its first `checkpoint`. It
    /// appears with both of them or not at all: whatever ends the process, there is a run to resume
    /// or nothing.
    ///
    /// # Errors
    /// As [`create`](Self::create); and if they cannot be written.
    pub fn begin(path: &Path, config: &[u8], checkpoint: &[u8]) -> Result<(Self, Lock), Error> {
        let (partial, made) = prepare(path)?;
        let fill = |partial: &Self| -> Result<Lock, Error> {
            let lock = partial.lock()?;
            write_atomically(&partial.config(), config)?;
            write_atomically(&partial.checkpoint(), checkpoint)?;
            // Windows renames no directory in which a file is open.
            let lock = (!cfg!(windows)).then_some(lock);
            fs::rename(&partial.path, path).map_err(|source| match path.symlink_metadata() {
                Ok(_) => occupied(path.to_owned()),
                Err(_) => Error::Make { path: path.to_owned(), source },
            })?;
            sync_directory(path).map_err(Error::file(FileAction::Write, path))?;
            lock.map_or_else(|| Self { path: path.to_owned() }.lock(), Ok)
        };
        match fill(&Self { path: partial.clone() }) {
            Ok(lock) => Ok((Self { path: path.to_owned() }, Lock { above: made, ..lock })),
            Err(error) => {
                let _ = fs::remove_dir_all(&partial);
                take_away(&made);
                Err(error)
            }
        }
    }

    /// The right to write here, which one process can have at a time.
    ///
    /// # Errors
    /// [`Error::Busy`] if another has it; if the file `lock` cannot be written.
    pub fn lock(&self) -> Result<Lock, Error> {
        let path = self.path.join(LOCK);
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(Error::file(FileAction::Write, &path))?;
        match file.try_lock() {
            Ok(()) => Ok(Lock { _file: file, above: Vec::new() }),
            Err(TryLockError::WouldBlock) => Err(Error::Busy { path: self.path.clone() }),
            Err(TryLockError::Error(error)) => Err(Error::file(FileAction::Lock, &path)(error)),
        }
    }

    /// Takes away files that were half written when a process ended.
    ///
    /// # Errors
    /// If one cannot be removed, or a directory cannot be read.
    pub fn sweep(&self) -> Result<(), Error> {
        let mut left = vec![self.path.clone()];
        while let Some(directory) = left.pop() {
            for entry in
                fs::read_dir(&directory).map_err(Error::file(FileAction::Read, &directory))?
            {
                let path = entry.map_err(Error::file(FileAction::Read, &directory))?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if path.is_dir() {
                    left.push(path);
                } else if name.starts_with('.') && name.ends_with(PARTIAL) {
                    fs::remove_file(&path).map_err(Error::file(FileAction::Remove, &path))?;
                }
            }
        }
        Ok(())
    }

    /// Takes draws away that no checkpoint counts: the run begins again.
    ///
    /// # Errors
    /// If they cannot be removed.
    pub fn clear_draws(&self) -> Result<(), Error> {
        let store = self.draws();
        match fs::remove_dir_all(&store) {
            Err(error) if error.kind() != ErrorKind::NotFound => {
                Err(Error::file(FileAction::Remove, &store)(error))
            }
            _ => Ok(()),
        }
    }

    /// The run has everything it was to have: there is nothing to resume from now on.
    ///
    /// # Errors
    /// If the checkpoint cannot be removed.
    pub fn finish(&self, lock: Lock) -> Result<(), Error> {
        let checkpoint = self.checkpoint();
        let removed = fs::remove_file(&checkpoint).and_then(|()| sync_directory(&checkpoint));
        removed.map_err(Error::file(FileAction::Remove, &checkpoint))?;
        // Whoever opened the file before and gets the lock now finds no checkpoint.
        let _ = fs::remove_file(self.path.join(LOCK));
        drop(lock);
        Ok(())
    }

    /// Takes away what a process that ended between the last two steps of [`finish`](Self::finish)
    /// left of a finished run.
    pub fn tidy(&self) {
        let path = self.path.join(LOCK);
        if path.exists()
            && let Ok(lock) = self.lock()
            && !self.interrupted()
        {
            let _ = fs::remove_file(path);
            drop(lock);
        }
    }

    /// Takes a directory that [`begin`](Self::begin) has made away again, and those above it that
    /// it made, as far as nothing else is in them.
    pub fn abandon(&self, mut lock: Lock) {
        for file in [self.checkpoint(), self.config(), self.path.join(LOCK)] {
            let _ = fs::remove_file(file);
        }
        let mut made = std::mem::take(&mut lock.above);
        made.push(self.path.clone());
        drop(lock);
        take_away(&made);
    }

    /// A directory that a run has made.
    ///
    /// # Errors
    /// If there is none, or it has no `config.toml`.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        if let Err(error) = fs::read_dir(&path) {
            return Err(match error.kind() {
                ErrorKind::NotFound => Error::NotARun { path, found: "it does not exist" },
                ErrorKind::NotADirectory => Error::NotARun { path, found: "it is a file" },
                _ => Error::file(FileAction::Open, &path)(error),
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

/// Files of this name are locked by the process that writes into the directory.
const LOCK: &str = "lock";
/// The largest `config.toml`, `summary.json` or document of a store that is read: each has some
/// lines for a coefficient or a chain.
pub(crate) const MAX_DOCUMENT: u64 = 256 << 20;
/// How the names of files end that are being written.
const PARTIAL: &str = ".partial";

/// Makes a directory beside one that is to be made, to be filled and renamed: its name, and the
/// directories above it that were missing.
fn prepare(path: &Path) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    if path.symlink_metadata().is_ok() {
        return Err(occupied(path.to_owned()));
    }
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}{PARTIAL}", std::process::id()));
    let partial = path.with_file_name(name);
    // One of an earlier process of that number.
    let _ = fs::remove_dir_all(&partial);
    let mut made = make(&partial).map_err(|error| match error {
        Error::Make { path: at, source } if at == partial => {
            Error::Make { path: path.to_owned(), source }
        }
        other => other,
    })?;
    made.pop();
    Ok((partial, made))
}

/// Makes a directory that must not be there, and those above it that are missing: these, the
/// deepest last. After an error none of them is left. The one that could not be made is named.
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
        ("a file, not a directory", elsewhere)
    } else if directory.path.join(LOCK).exists()
        && matches!(directory.lock(), Err(Error::Busy { .. }))
    {
        ("a run that another process is using", elsewhere)
    } else if directory.interrupted() {
        let resume = format!(
            "continue it with `ridgewalk resume {}`, or {elsewhere}",
            directory.path.display()
        );
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

/// Writes a file so that a crash at any moment leaves the old one or the new one whole: under
/// another name first, on the disk, then renamed.
///
/// # Errors
/// If it cannot be written; what was there before is then still there.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(PARTIAL);
    let partial = path.with_file_name(name);
    let written = File::create(&partial).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    let renamed =
        written.and_then(|()| fs::rename(&partial, path)).and_then(|()| sync_directory(path));
    renamed.map_err(|error| {
        // What is half written helps nobody, least of all on a full disk; the first error is the
        // one to tell.
        let _ = fs::remove_file(&partial);
        Error::file(FileAction::Write, path)(error)
    })
}

/// The bytes of a file of at most `limit` bytes. What is no file, such as a pipe that nobody writes
/// to, is not waited for.
pub(crate) fn read_file(path: &Path, limit: u64, need: &'static str) -> Result<Vec<u8>, Error> {
    let about = fs::metadata(path).map_err(Error::file(FileAction::Read, path))?;
    if !about.is_file() {
        return Err(Error::format(path, "it is not a regular file", need));
    }
    if about.len() > limit {
        return Err(Error::format(
            path,
            format!("it has {} bytes, the limit is {limit}", about.len()),
            need,
        ));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(Error::file(FileAction::Read, path))?;
    file.take(limit).read_to_end(&mut bytes).map_err(Error::file(FileAction::Read, path))?;
    Ok(bytes)
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

//! The directory of a run: the names of its files, and writing them atomically.

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

/// The exclusive right to write into a run directory. Released when dropped or when the process
/// ends, however it ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    /// Parent directories created for the run.
    above: Vec<PathBuf>,
}

impl RunDirectory {
    /// Creates the directory and its missing parents.
    ///
    /// # Errors
    /// If the path exists, with what it is and a remedy; if it cannot be created.
    pub fn create(path: impl Into<PathBuf>) -> Result<Self, Error> {
        let path = path.into();
        make(&path)?;
        Ok(Self { path })
    }

    /// Checks that [`create`](Self::create) would succeed. Directories created to find out are
    /// removed again.
    ///
    /// # Errors
    /// As `create`.
    pub fn check(path: &Path) -> Result<(), Error> {
        let (partial, mut made) = prepare(path)?;
        made.push(partial);
        take_away(&made);
        Ok(())
    }

    /// Creates the directory of a new run with its `config.toml` and its first `checkpoint`. It
    /// appears with both or not at all: whatever ends the process, there is a run to resume or
    /// nothing.
    ///
    /// # Errors
    /// As [`create`](Self::create), and if they cannot be written.
    pub fn begin(path: &Path, config: &[u8], checkpoint: &[u8]) -> Result<(Self, Lock), Error> {
        let (partial, made) = prepare(path)?;
        let fill = |partial: &Self| -> Result<Lock, Error> {
            let lock = partial.lock()?;
            write_atomically(&partial.config(), config)?;
            write_atomically(&partial.checkpoint(), checkpoint)?;
            // Windows cannot rename a directory in which a file is open.
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

    /// Takes the exclusive right to write here.
    ///
    /// # Errors
    /// [`Error::Busy`] if another process has it; if the file `lock` cannot be written.
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

    /// Removes files that were half written when a process ended.
    ///
    /// # Errors
    /// If a file cannot be removed or a directory cannot be read.
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

    /// Removes draws that no checkpoint counts: the run starts again.
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

    /// Marks the run as finished: there is nothing left to resume.
    ///
    /// # Errors
    /// If the checkpoint cannot be removed.
    pub fn finish(&self, lock: Lock) -> Result<(), Error> {
        let checkpoint = self.checkpoint();
        let removed = fs::remove_file(&checkpoint).and_then(|()| sync_directory(&checkpoint));
        removed.map_err(Error::file(FileAction::Remove, &checkpoint))?;
        // A process that opened the file earlier and gets the lock now finds no checkpoint.
        let _ = fs::remove_file(self.path.join(LOCK));
        drop(lock);
        Ok(())
    }

    /// Removes what is left of a finished run if a process ended between the last two steps of
    /// [`finish`](Self::finish).
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

    /// Removes a directory made by [`begin`](Self::begin), and the parents that it created if they
    /// are empty.
    pub fn abandon(&self, mut lock: Lock) {
        for file in [self.checkpoint(), self.config(), self.path.join(LOCK)] {
            let _ = fs::remove_file(file);
        }
        let mut made = std::mem::take(&mut lock.above);
        made.push(self.path.clone());
        drop(lock);
        take_away(&made);
    }

    /// Opens a run directory.
    ///
    /// # Errors
    /// If it does not exist or has no `config.toml`.
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

    /// `draws.csv`: the draws as text, if requested.
    #[must_use]
    pub fn csv(&self) -> PathBuf {
        self.path.join("draws.csv")
    }

    /// `summary.json`.
    #[must_use]
    pub fn summary(&self) -> PathBuf {
        self.path.join("summary.json")
    }

    /// `checks.json`: the model against its data.
    #[must_use]
    pub fn checks(&self) -> PathBuf {
        self.path.join("checks.json")
    }

    /// `report.html`.
    #[must_use]
    pub fn report(&self) -> PathBuf {
        self.path.join("report.html")
    }

    /// `checkpoint`: exists until the run is finished.
    #[must_use]
    pub fn checkpoint(&self) -> PathBuf {
        self.path.join("checkpoint")
    }

    /// Whether the run was interrupted and can be resumed.
    #[must_use]
    pub fn interrupted(&self) -> bool {
        self.checkpoint().exists()
    }
}

/// The file locked by the process that writes into the directory.
const LOCK: &str = "lock";
/// The size limit for `config.toml`, `summary.json` and metadata: each has a few lines per
/// coefficient or chain.
pub(crate) const MAX_DOCUMENT: u64 = 256 << 20;
/// The suffix of files that are being written.
const PARTIAL: &str = ".partial";

/// Creates a sibling directory, to be filled and renamed. Returns its path and the parents created.
pub(crate) fn prepare(path: &Path) -> Result<(PathBuf, Vec<PathBuf>), Error> {
    if path.symlink_metadata().is_ok() {
        return Err(occupied(path.to_owned()));
    }
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}{PARTIAL}", std::process::id()));
    let partial = path.with_file_name(name);
    // Left by an earlier process with the same id.
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

/// Creates a directory that must not exist, and its missing parents. Returns the parents, deepest
/// last. After an error none of them is left, and the error names the one that failed.
fn make(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
    let mut missing: Vec<&Path> = above.take_while(|above| !above.exists()).collect();
    missing.reverse();
    let mut made = Vec::new();
    for directory in missing.into_iter().chain([path]) {
        match fs::create_dir(directory) {
            Ok(()) => made.push(directory.to_owned()),
            // Another process has just created it.
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

/// Removes directories that were just created, unless they are no longer empty.
pub(crate) fn take_away(made: &[PathBuf]) {
    for directory in made.iter().rev() {
        let _ = fs::remove_dir(directory);
    }
}

/// The error for an existing path: the remedy depends on what it holds.
fn occupied(path: PathBuf) -> Error {
    let directory = RunDirectory { path };
    let elsewhere = "pass `--out OTHER` to write somewhere else".to_owned();
    let (found, remedy) = if !directory.path.is_dir() {
        ("is not a directory", elsewhere)
    } else if directory.path.join(LOCK).exists()
        && matches!(directory.lock(), Err(Error::Busy { .. }))
    {
        ("holds a run that another process is using", elsewhere)
    } else if directory.interrupted() {
        let resume = format!(
            "continue it with `ridgewalk resume {}`, or {elsewhere}",
            directory.path.display()
        );
        ("holds an interrupted run", resume)
    } else if directory.summary().exists() {
        ("holds a finished run", elsewhere)
    } else if fs::read_dir(&directory.path).is_ok_and(|mut entries| entries.next().is_none()) {
        ("is empty", elsewhere)
    } else {
        ("holds other files", elsewhere)
    };
    Error::Exists { path: directory.path, found, remedy }
}

/// Writes a file atomically: first under another name, synced to disk, then renamed. A crash leaves
/// either the old file or the new one.
///
/// # Errors
/// If it cannot be written; the old file is then unchanged.
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
        // A half-written file is useless, above all on a full disk. The first error is reported.
        let _ = fs::remove_file(&partial);
        Error::file(FileAction::Write, path)(error)
    })
}

/// The bytes of a file of at most `limit` bytes. Anything but a regular file, such as a pipe
/// without a writer, is refused instead of waited for.
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

/// A rename is durable once the directory is synced.
#[cfg(unix)]
pub(crate) fn sync_directory(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => File::open(parent)?.sync_all(),
        _ => File::open(".")?.sync_all(),
    }
}

/// On other systems directories cannot be opened as files, so there is nothing to sync.
#[cfg(not(unix))]
pub(crate) fn sync_directory(_: &Path) -> std::io::Result<()> {
    Ok(())
}

//! Files are written by a thread of their own, in the order in which they were handed over, so that
//! the chains do not wait for the disk.
//!
//! What was handed over is bounded: who is too fast waits. A file that cannot be written comes back
//! with all that were to follow it, so that metadata never tell of a chunk that is not there; the
//! next call writes them once more, in their order, and tells what is wrong.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TryRecvError, channel, sync_channel};
use std::thread::{Builder, JoinHandle};

use crate::directory::write_atomically;
use crate::error::Error;

/// A file to be written.
#[derive(Debug)]
struct Job {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Job {
    fn write(&self) -> Result<(), Error> {
        write_atomically(&self.path, &self.bytes)
    }
}

/// The files that are under way.
#[derive(Debug)]
pub(super) struct Writer {
    /// The most files that may be under way.
    room: usize,
    thread: Option<Thread>,
    under_way: usize,
    /// Files that came back, in their order.
    failed: Vec<Job>,
    /// Buffers to be used again.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Thread {
    jobs: SyncSender<Job>,
    /// The buffer of a file that was written; a file that was not.
    done: Receiver<Result<Vec<u8>, Job>>,
    /// Whether a file could not be written: none is from then on.
    broken: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl Writer {
    /// The thread is started with the first file.
    pub(super) fn new(room: usize) -> Self {
        Self {
            room: room.max(1),
            thread: None,
            under_way: 0,
            failed: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// A buffer, with whatever is in it.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Hands a file over. It is taken whatever happens; what went wrong before is told by
    /// [`Writer::check`] and [`Writer::wait`].
    pub(super) fn write(&mut self, path: PathBuf, bytes: Vec<u8>) {
        let mut job = Job { path, bytes };
        while self.under_way >= self.room {
            self.collect(true);
        }
        if self.failed.is_empty() {
            if self.thread.is_none() {
                self.thread = Thread::start(self.room);
            }
            if let Some(thread) = &self.thread {
                match thread.jobs.send(job) {
                    Ok(()) => {
                        self.under_way += 1;
                        return;
                    }
                    Err(back) => job = back.0,
                }
            }
        }
        // Without a thread, or behind a file that came back: by this one, when it asks how things
        // are.
        while self.under_way > 0 {
            self.collect(true);
        }
        self.failed.push(job);
    }

    /// Whether all is well so far. Files that came back are written once more.
    ///
    /// # Errors
    /// If one of them cannot be; it is kept, and those behind it.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        while self.under_way > 0 && self.collect(false) {}
        if self.failed.is_empty() { Ok(()) } else { self.wait() }
    }

    /// Returns when everything is on the disk.
    ///
    /// # Errors
    /// As [`Writer::check`].
    pub(super) fn wait(&mut self) -> Result<(), Error> {
        while self.under_way > 0 {
            self.collect(true);
        }
        while let Some(job) = self.failed.first() {
            job.write()?;
            self.failed.remove(0);
        }
        if let Some(thread) = &self.thread {
            thread.broken.store(false, Ordering::Release);
        }
        Ok(())
    }

    /// Takes back one file, waiting for it if wanted; whether there was one.
    fn collect(&mut self, waiting: bool) -> bool {
        let Some(thread) = &self.thread else {
            self.under_way = 0;
            return false;
        };
        let got = if waiting {
            thread.done.recv().map_err(TryRecvError::from)
        } else {
            thread.done.try_recv()
        };
        match got {
            Ok(Ok(buffer)) => {
                if self.spare.len() < self.room {
                    self.spare.push(buffer);
                }
            }
            Ok(Err(job)) => self.failed.push(job),
            Err(TryRecvError::Empty) => return false,
            // It has ended, which it does only after the last file.
            Err(TryRecvError::Disconnected) => {
                self.under_way = 0;
                return false;
            }
        }
        self.under_way -= 1;
        true
    }
}

impl Drop for Writer {
    /// What was handed over is written even if nobody asks any more.
    fn drop(&mut self) {
        if let Some(Thread { jobs, handle, .. }) = self.thread.take() {
            drop(jobs);
            // It does not panic; and there is nobody to tell.
            let _ = handle.join();
        }
    }
}

impl Thread {
    /// Nothing if the system gives no thread.
    fn start(room: usize) -> Option<Self> {
        let (jobs, inbox) = sync_channel::<Job>(room);
        let (outbox, done) = channel();
        let broken = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&broken);
        let work = move || {
            for job in inbox {
                let written = !seen.load(Ordering::Acquire) && job.write().is_ok();
                if !written {
                    seen.store(true, Ordering::Release);
                }
                // If nobody listens any more, the files are written all the same.
                let _ = outbox.send(if written { Ok(job.bytes) } else { Err(job) });
            }
        };
        let handle = Builder::new().name("draws".to_owned()).spawn(work).ok()?;
        Some(Self { jobs, done, broken, handle })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Writer;

    #[test]
    fn files_are_written_in_order_and_none_behind_one_that_cannot_be() {
        let place = tempfile::tempdir().unwrap();
        let away = place.path().join("away");
        let mut writer = Writer::new(3);
        for k in 0..10 {
            writer.write(place.path().join("file"), vec![k; 3]);
        }
        writer.wait().unwrap();
        assert_eq!(fs::read(place.path().join("file")).unwrap(), [9; 3]);
        // More than there is room for, behind a file that has no place.
        writer.write(away.join("first"), vec![1]);
        for k in 0..10 {
            writer.write(place.path().join("file"), vec![k + 20]);
        }
        for _ in 0..2 {
            assert!(writer.wait().unwrap_err().to_string().contains("first"));
            assert!(writer.check().unwrap_err().to_string().contains("first"));
            assert_eq!(fs::read(place.path().join("file")).unwrap(), [9; 3]);
        }
        fs::create_dir(&away).unwrap();
        writer.write(place.path().join("last"), vec![7]);
        writer.check().unwrap();
        assert_eq!(fs::read(place.path().join("file")).unwrap(), [29]);
        assert_eq!(fs::read(away.join("first")).unwrap(), [1]);
        // The thread goes on; what was handed over is written though nobody waits.
        writer.write(place.path().join("file"), vec![30]);
        drop(writer);
        assert_eq!(fs::read(place.path().join("file")).unwrap(), [30]);
        assert_eq!(fs::read(place.path().join("last")).unwrap(), [7]);
    }
}

//! A separate thread writes files in the order in which they were queued, so that the chains do not
//! wait for the disk.
//!
//! The queue is bounded: a caller that is too fast waits. A file that cannot be written is returned
//! with all that follow it, so that metadata never refer to a missing chunk. The next call writes
//! them again, in order, and reports the error.

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

/// The queue of files to be written.
#[derive(Debug)]
pub(super) struct Writer {
    /// The maximum length of the queue.
    room: usize,
    thread: Option<Thread>,
    under_way: usize,
    /// Files that failed, in order.
    failed: Vec<Job>,
    /// Buffers for reuse.
    spare: Vec<Vec<u8>>,
}

#[derive(Debug)]
struct Thread {
    jobs: SyncSender<Job>,
    /// The buffer of a file that was written, or a file that was not.
    done: Receiver<Result<Vec<u8>, Job>>,
    /// Whether a file failed: later files are then returned unwritten.
    broken: Arc<AtomicBool>,
    handle: JoinHandle<()>,
}

impl Writer {
    /// The thread starts with the first file.
    pub(super) fn new(room: usize) -> Self {
        Self {
            room: room.max(1),
            thread: None,
            under_way: 0,
            failed: Vec::new(),
            spare: Vec::new(),
        }
    }

    /// A buffer with arbitrary content.
    pub(super) fn buffer(&mut self) -> Vec<u8> {
        self.spare.pop().unwrap_or_default()
    }

    /// Queues a file. It is always accepted; earlier errors are reported by [`Writer::check`] and
    /// [`Writer::wait`].
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
        // Without a thread, or after a failed file, it is written by this thread at the next check.
        while self.under_way > 0 {
            self.collect(true);
        }
        self.failed.push(job);
    }

    /// Reports errors so far. Failed files are written again.
    ///
    /// # Errors
    /// If one fails again; it is kept, with those after it.
    pub(super) fn check(&mut self) -> Result<(), Error> {
        while self.under_way > 0 && self.collect(false) {}
        if self.failed.is_empty() { Ok(()) } else { self.wait() }
    }

    /// Waits until everything is on disk.
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

    /// Takes back one file, waiting for it if `waiting`; returns whether there was one.
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
            // The thread has ended, which happens only after the last file.
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
    /// Queued files are written even after the last check.
    fn drop(&mut self) {
        if let Some(Thread { jobs, handle, .. }) = self.thread.take() {
            drop(jobs);
            // It does not panic, and there is nobody to report to.
            let _ = handle.join();
        }
    }
}

impl Thread {
    /// `None` if no thread can be started.
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
                // The files are written even if the receiver is gone.
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
    fn files_are_written_in_order_and_none_after_a_failure() {
        let place = tempfile::tempdir().unwrap();
        let away = place.path().join("away");
        let mut writer = Writer::new(3);
        for k in 0..10 {
            writer.write(place.path().join("file"), vec![k; 3]);
        }
        writer.wait().unwrap();
        assert_eq!(fs::read(place.path().join("file")).unwrap(), [9; 3]);
        // More files than the queue holds, after one that cannot be written.
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
        // The thread continues: queued files are written although nobody waits.
        writer.write(place.path().join("file"), vec![30]);
        drop(writer);
        assert_eq!(fs::read(place.path().join("file")).unwrap(), [30]);
        assert_eq!(fs::read(place.path().join("last")).unwrap(), [7]);
    }
}

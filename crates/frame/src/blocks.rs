//! The bytes of a text file, in blocks. The next block is read and hashed while the rows of the one
//! before it are parsed.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use crate::MAX_VALUES;
use crate::error::DataError;
use crate::table::hex;

/// How a file is cut up, which changes nothing in the table, and how much of it is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// The number of bytes in which other formats and zero bytes are looked for.
    pub(crate) start: usize,
    /// The number of bytes that one task parses.
    pub(crate) piece: usize,
    /// The minimum of that number for each column, so that a piece has several rows.
    pub(crate) column: usize,
    /// The number of pieces in a block; if not given, it follows from the number of threads.
    pub(crate) pieces: Option<usize>,
    /// The maximum number of values.
    pub(crate) values: usize,
}

impl Default for Plan {
    fn default() -> Self {
        Self { start: 1 << 16, piece: 1 << 18, column: 64, pieces: None, values: MAX_VALUES }
    }
}

impl Plan {
    /// The number of pieces in a block. With one thread there is one, which needs no merging.
    /// WebAssembly has no threads.
    pub(crate) fn pieces(&self) -> usize {
        let threads =
            || if cfg!(target_family = "wasm") { 1 } else { rayon::current_num_threads() };
        self.pieces.unwrap_or_else(|| match threads() {
            1 => 1,
            threads => 16 * threads,
        })
    }
}

/// A file that is read in blocks, each of which begins at the start of a row.
pub(crate) struct Blocks<'a, R> {
    name: &'a str,
    plan: Plan,
    input: R,
    /// Bytes that have not been parsed.
    bytes: Vec<u8>,
    /// The block that is being read. Kept for its memory.
    next: Vec<u8>,
    /// Whether the file ends with `bytes`.
    ended: bool,
    /// Why no more could be read.
    failure: Option<io::Error>,
}

impl<'a, R: Read + Send> Blocks<'a, R> {
    /// Reads the first bytes of a file that is called `name` in messages.
    pub(crate) fn new(name: &'a str, mut input: R, plan: Plan) -> Result<Self, DataError> {
        let mut bytes = vec![0; plan.start];
        let count = loop {
            match input.read(&mut bytes) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                done => break done.map_err(|source| cannot_read(name, source))?,
            }
        };
        bytes.truncate(count);
        let (next, ended, failure) = (Vec::new(), count == 0, None);
        Ok(Self { name, plan, input, bytes, next, ended, failure })
    }

    /// The first bytes, as long as there was no step.
    pub(crate) fn start(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn plan(&self) -> Plan {
        self.plan
    }

    /// The number of bytes at hand.
    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Whether the file ends with the bytes at hand, so that the next step is the last.
    pub(crate) fn ended(&self) -> bool {
        self.ended
    }

    pub(crate) fn into_input(self) -> R {
        self.input
    }

    /// Calls `parse` with the bytes at hand and with whether the file ends there, and reads about
    /// `size` more. `parse` returns the number of bytes of an unfinished row at the end.
    pub(crate) fn step(
        &mut self, size: usize, parse: impl FnOnce(&[u8], bool) -> Result<usize, DataError> + Send,
    ) -> Result<(), DataError> {
        let Self { input, bytes, next, .. } = self;
        if self.ended || self.failure.is_some() {
            let left = parse(bytes, self.ended)?;
            bytes.drain(..bytes.len() - left);
            return match self.failure.take() {
                Some(source) => Err(cannot_read(self.name, source)),
                None => Ok(()),
            };
        }
        let line_end = bytes.iter().rposition(|&byte| byte == b'\n');
        let (lines, tail) = bytes.split_at(line_end.map_or(bytes.len(), |at| at + 1));
        next.clear();
        next.extend_from_slice(tail);
        // A row longer than a block is parsed again with each block: their sizes double.
        let size = size.max(bytes.len());
        let mut read = || {
            next.reserve(size);
            input.by_ref().take(size as u64).read_to_end(next)
        };
        let (left, read) = if cfg!(target_family = "wasm") || bytes.len() <= self.plan.piece {
            (parse(lines, false), read())
        } else {
            rayon::join(|| parse(lines, false), read)
        };
        let left = left?;
        next.splice(..0, lines.iter().copied().skip(lines.len() - left));
        match read {
            Ok(count) => self.ended = count < size,
            Err(error) => self.failure = Some(error),
        }
        std::mem::swap(bytes, next);
        Ok(())
    }
}

fn cannot_read(name: &str, source: io::Error) -> DataError {
    DataError::Read { file: name.to_owned(), source }
}

/// A reader that hashes what it reads.
pub(crate) struct Digesting<R> {
    inner: R,
    digest: Sha256,
}

impl<R> Digesting<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self { inner, digest: Sha256::new() }
    }

    pub(crate) fn hex(self) -> String {
        hex(self.digest)
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.digest.update(buffer.get(..count).unwrap_or_default());
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("broken"))
        }
    }

    #[test]
    fn what_was_read_before_a_failure_is_parsed_before_it_is_reported() {
        for start in 1..12 {
            let plan = Plan { start, piece: 3, ..Plan::default() };
            let input = b"ab\ncd\nef".chain(Broken);
            let mut blocks = Blocks::new("t", input, plan).unwrap();
            let mut parsed = String::new();
            let error = loop {
                let step = blocks.step(4, |text, ends| {
                    assert!(!ends);
                    let finished = text.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
                    parsed.extend(text[..finished].iter().map(|&byte| char::from(byte)));
                    Ok(text.len() - finished)
                });
                if let Err(error) = step {
                    break error.to_string();
                }
            };
            assert_eq!(parsed, "ab\ncd\n");
            assert!(error.contains("broken"), "{error}");
        }
    }
}

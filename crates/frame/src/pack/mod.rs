//! Packed tables: columns with their types, in blocks of rows, every byte covered by a checksum.
//!
//! ```text
//! head      "ridgewalkpk\n" and the version, 16 bytes
//! chunks    block after block, and in it column after column: numbers as f64, texts as the u32
//!           number of their level; nothing for a chunk without values
//! contents  rows, rows of a block, columns with names, types and levels, SHA-256 of each chunk
//! tail      length and SHA-256 of the contents, and the head again, 56 bytes
//! ```
//!
//! Everything is little-endian. The SHA-256 of the contents is the digest of the table: it covers
//! every value.
//!
//! Why not Arrow IPC or Parquet: neither covers its metadata by checksums, Arrow has none at all,
//! and both need decoders that a damaged file can lead astray. `docs/large.md` has the times of
//! reading each.

mod contents;
mod reader;
mod writer;

pub use reader::{Pack, PackedColumn};
pub use writer::{PackWriter, Packed, pack};

use crate::error::DataError;

/// What a packed file begins with, before its version.
const MAGIC: [u8; 12] = *b"ridgewalkpk\n";
const VERSION: u32 = 1;
const HEAD_BYTES: usize = 16;
const TAIL_BYTES: usize = 8 + 32 + HEAD_BYTES;
/// The most rows of a block, and the values that a block has room for if rows are few.
const MOST_ROWS: usize = 1 << 16;
const LEAST_ROWS: usize = 64;
const BLOCK_VALUES: usize = 1 << 22;

/// A SHA-256.
type Digest = [u8; 32];

/// The first bytes of a file, which are also its last.
fn head() -> [u8; HEAD_BYTES] {
    let mut head = [0; HEAD_BYTES];
    head[..MAGIC.len()].copy_from_slice(&MAGIC);
    head[MAGIC.len()..].copy_from_slice(&VERSION.to_le_bytes());
    head
}

/// Whether these are the first bytes of a packed file, of any version.
pub(crate) fn is_pack(start: &[u8]) -> bool {
    start.starts_with(&MAGIC)
}

/// The rows of a block of a table with this many columns.
fn rows_of_block(columns: usize) -> usize {
    (BLOCK_VALUES / columns.max(1)).clamp(LEAST_ROWS, MOST_ROWS)
}

/// The error for a file that is not what it should be.
fn damaged(file: &str, found: impl Into<String>, need: impl Into<String>) -> DataError {
    DataError::Pack { file: file.to_owned(), found: found.into(), need: need.into() }
}

//! A look at the page headers of a Parquet file before any page is decoded.
//!
//! A page says how large it is once it is unpacked, and the decoder allocates that much before it finds out. So the headers, which
//! are small structures in Thrift's compact protocol, are walked first, and sizes that cannot be are refused.

use std::io::Read;

use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

/// The largest page that is unpacked. Writers make pages of about a megabyte; dictionaries may have more.
const MAX_PAGE_BYTES: u64 = 256 << 20;
/// The largest column of one row group, unpacked.
const MAX_CHUNK_BYTES: u64 = 4 << 30;
/// The largest page header; the bounds of texts are what it may have of any size.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// How deep structures may be nested in a page header.
const MAX_DEPTH: u32 = 8;

/// Whether the pages of a column chunk lie in the file and unpack to sizes that can be held.
pub(super) fn check<R: ChunkReader>(input: &R, chunk: &ColumnChunkMetaData) -> Result<(), String> {
    let path = chunk.column_path().string();
    let wrong = |what: &str| format!("column `{path}`: {what}");
    let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
    let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
    let range = range.and_then(|(start, length)| Some((start, start.checked_add(length)?)));
    let Some((mut at, end)) = range.filter(|&(_, end)| end <= input.len()) else {
        return Err(wrong("its pages lie outside the file"));
    };
    let mut unpacked = 0_u64;
    while at < end {
        let reader = input.get_read(at).map_err(|error| wrong(&error.to_string()))?;
        let mut header = Header { input: reader.take(MAX_HEADER_BYTES), read: 0, sizes: Sizes::default() };
        header.structure(0, None).ok_or_else(|| wrong("a page header that cannot be read"))?;
        let Sizes { unpacked: size, packed, dictionary } = header.sizes;
        if size > MAX_PAGE_BYTES || dictionary > size {
            return Err(wrong(&format!("a page of {size} bytes, need at most {MAX_PAGE_BYTES}")));
        }
        unpacked += size;
        if unpacked > MAX_CHUNK_BYTES {
            return Err(wrong(&format!("more than {MAX_CHUNK_BYTES} bytes in one row group")));
        }
        at = at.saturating_add(header.read).saturating_add(packed);
    }
    if at == end { Ok(()) } else { Err(wrong("a page that is longer than its column")) }
}

/// What is looked for in a page header.
#[derive(Default)]
struct Sizes {
    /// Bytes once unpacked.
    unpacked: u64,
    /// Bytes in the file.
    packed: u64,
    /// Values in a dictionary, each of which takes at least a byte.
    dictionary: u64,
}

/// A page header while it is read. Everything gives `None` where the header ends early or is wrong.
struct Header<R> {
    input: R,
    read: u64,
    sizes: Sizes,
}

impl<R: Read> Header<R> {
    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).ok()?;
        self.read += 1;
        Some(byte[0])
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        let skipped = std::io::copy(&mut (&mut self.input).take(count), &mut std::io::sink()).ok()?;
        self.read += skipped;
        (skipped == count).then_some(())
    }

    fn varint(&mut self) -> Option<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Some(value);
            }
        }
        None
    }

    /// A signed integer that must not be negative.
    fn natural(&mut self) -> Option<u64> {
        let value = self.varint()?;
        (value & 1 == 0).then_some(value >> 1)
    }

    /// A structure: fields until the stop byte. `within` is the field of the page header that it is, if it is one.
    fn structure(&mut self, depth: u32, within: Option<u64>) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut field = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            field = match head >> 4 {
                0 => self.natural()?,
                step => field + u64::from(step),
            };
            let kind = head & 0x0f;
            match (depth, within, field, kind) {
                // parquet.thrift: PageHeader has 2 uncompressed_page_size, 3 compressed_page_size, 7 dictionary_page_header,
                // and this in turn 1 num_values.
                (0, _, 2, 5) => self.sizes.unpacked = self.natural()?,
                (0, _, 3, 5) => self.sizes.packed = self.natural()?,
                (1, Some(7), 1, 5) => self.sizes.dictionary = self.natural()?,
                (0, _, _, 12) => self.structure(1, Some(field))?,
                // Of a field, the truth of a bool is in its head.
                (_, _, _, 1 | 2) => {}
                _ => self.value(kind, depth)?,
            }
        }
    }

    /// Passes over a value of the given type of the compact protocol.
    fn value(&mut self, kind: u8, depth: u32) -> Option<()> {
        match kind {
            // A bool in a list, and a byte.
            1..=3 => self.skip(1),
            // Integers.
            4..=6 => self.varint().map(|_| ()),
            // A double.
            7 => self.skip(8),
            // Bytes.
            8 => {
                let count = self.varint()?;
                self.skip(count)
            }
            // Lists and sets.
            9 | 10 => {
                let head = self.byte()?;
                let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
                self.values(count, &[head & 0x0f], depth)
            }
            // Maps.
            11 => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                self.values(count, &[kinds >> 4, kinds & 0x0f], depth)
            }
            12 => self.structure(depth + 1, None),
            _ => None,
        }
    }

    fn values(&mut self, count: u64, kinds: &[u8], depth: u32) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        for _ in 0..count {
            for &kind in kinds {
                self.value(kind, depth + 1)?;
            }
        }
        Some(())
    }
}

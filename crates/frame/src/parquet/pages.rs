//! Checks the page headers of a Parquet file before any page is decoded.
//!
//! A page declares its uncompressed size and its number of values, and the decoder allocates them
//! before it checks. So the headers are walked first, and impossible sizes are refused.

use std::io::Read;

use parquet::basic::Type;
use parquet::file::metadata::ColumnChunkMetaData;
use parquet::file::reader::ChunkReader;

use super::thrift::{STRUCT, Walker};

/// The largest uncompressed page. Writers make pages of about a megabyte; dictionaries may be
/// larger.
const MAX_PAGE_BYTES: u64 = 256 << 20;
/// The largest uncompressed total per file: four times what numbers can take.
const MAX_FILE_BYTES: u64 = 16 << 30;
/// The largest page header. Only its statistics of text columns have no fixed size.
const MAX_HEADER_BYTES: u64 = 1 << 20;
/// Codes of DELTA_LENGTH_BYTE_ARRAY and DELTA_BYTE_ARRAY.
const DELTA_TEXTS: [u64; 2] = [6, 7];

/// Totals over the pages of a file so far.
#[derive(Default)]
pub(super) struct Pages {
    unpacked: u64,
}

impl Pages {
    /// Checks that the pages of a column chunk of `rows` rows are inside the file and unpack to
    /// acceptable sizes. Returns false if they do but their text encoding stores its sizes inside a
    /// compressed page.
    pub(super) fn check<R: ChunkReader>(
        &mut self, input: &R, chunk: &ColumnChunkMetaData, rows: usize,
    ) -> Result<bool, String> {
        let path = chunk.column_path().string();
        let wrong = |what: &str| format!("column `{path}`: {what}");
        let start = chunk.dictionary_page_offset().unwrap_or_else(|| chunk.data_page_offset());
        let range = u64::try_from(start).ok().zip(u64::try_from(chunk.compressed_size()).ok());
        let range = range.and_then(|(start, length)| Some((start, start.checked_add(length)?)));
        let Some((mut at, end)) = range.filter(|&(_, end)| end <= input.len()) else {
            return Err(wrong("its pages are outside the file"));
        };
        let text = chunk.column_descr().physical_type() == Type::BYTE_ARRAY;
        let mut readable = true;
        while at < end {
            let reader = input.get_read(at).map_err(|error| wrong(&error.to_string()))?;
            let (header, length) = Header::walk(reader.take(MAX_HEADER_BYTES))
                .ok_or_else(|| wrong("a page header that cannot be read"))?;
            let size = header.unpacked;
            if size > MAX_PAGE_BYTES {
                return Err(wrong(&format!(
                    "a page of {size} bytes, need at most {MAX_PAGE_BYTES}"
                )));
            }
            if header.dictionary > rows as u64 {
                let found = header.dictionary;
                return Err(wrong(&format!("a dictionary of {found} values for {rows} rows")));
            }
            self.unpacked += size;
            if self.unpacked > MAX_FILE_BYTES {
                return Err(wrong(&format!(
                    "more than {MAX_FILE_BYTES} bytes unpacked up to here"
                )));
            }
            readable &=
                !(text && header.encoding.is_some_and(|encoding| DELTA_TEXTS.contains(&encoding)));
            at = at.saturating_add(length).saturating_add(header.packed);
        }
        if at == end { Ok(readable) } else { Err(wrong("a page that is longer than its column")) }
    }
}

/// The fields of a page header that are checked.
#[derive(Default)]
struct Header {
    /// Uncompressed bytes.
    unpacked: u64,
    /// Bytes in the file.
    packed: u64,
    /// Values in a dictionary.
    dictionary: u64,
    /// Encoding of the values.
    encoding: Option<u64>,
}

impl Header {
    /// Parses a header; also returns its length. A header without sizes is invalid.
    fn walk(input: impl Read) -> Option<(Self, u64)> {
        let mut header = Self::default();
        let [mut unpacked, mut packed] = [None; 2];
        let mut walker = Walker::new(input);
        walker.structure(&mut |walker, field, kind| {
            // parquet.thrift: PageHeader has 2 uncompressed_page_size, 3 compressed_page_size, 5
            // data_page_header, 7 dictionary_page_header and 8 data_page_header_v2; these in turn 2
            // encoding, 1 num_values and 4 encoding.
            let inner = match field {
                2 | 3 => {
                    let size = if field == 2 { &mut unpacked } else { &mut packed };
                    *size = Some(walker.count(kind)?);
                    return Some(true);
                }
                5 => 2,
                7 => 1,
                8 => 4,
                _ => return Some(false),
            };
            if kind != STRUCT {
                return None;
            }
            let mut found = None;
            walker.structure(&mut |walker, field, kind| {
                if field == inner {
                    found = Some(walker.count(kind)?);
                }
                Some(field == inner)
            })?;
            match field {
                7 => header.dictionary = found.unwrap_or_default(),
                _ => header.encoding = found,
            }
            Some(true)
        })?;
        (header.unpacked, header.packed) = (unpacked?, packed?);
        Some((header, walker.read()))
    }
}

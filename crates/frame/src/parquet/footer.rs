//! Checks the footer of a Parquet file before it is decoded. The decoder allocates what the footer
//! declares and recurses once per level of its schema.

use parquet::file::reader::ChunkReader;

use super::thrift::Walker;

/// The largest footer: a few hundred bytes per column of a row group.
const MAX_BYTES: u64 = 32 << 20;
/// How deep columns may be nested. Nested columns cannot be used, but flat ones in the same file
/// can.
const MAX_DEPTH: usize = 64;
/// The length of the footer, and `PAR1`.
const TAIL: u64 = 8;

/// Whether the footer can be decoded safely.
pub(super) fn check<R: ChunkReader>(input: &R) -> Result<(), String> {
    let tail = input.len().checked_sub(TAIL).and_then(|at| input.get_bytes(at, 8).ok());
    let Some(&[a, b, c, d, b'P', b'A', b'R', b'1']) = tail.as_deref() else {
        return Err("found no `PAR1` at its end, need a complete file".to_owned());
    };
    let length = u64::from(u32::from_le_bytes([a, b, c, d]));
    let Some(start) = input.len().checked_sub(TAIL + length) else {
        return Err(format!(
            "found a footer of {length} bytes in a file of {}, need a complete file",
            input.len()
        ));
    };
    if length > MAX_BYTES {
        return Err(format!("found a footer of {length} bytes, need at most {MAX_BYTES}"));
    }
    let footer =
        usize::try_from(length).ok().and_then(|length| input.get_bytes(start, length).ok());
    let mut deepest = 0;
    let walked = footer.as_deref().and_then(|footer| {
        Walker::new(footer).structure(&mut |walker, field, kind| {
            // parquet.thrift: FileMetaData has 2 schema.
            if field != 2 {
                return Some(false);
            }
            let count = walker.list(kind)?;
            deepest = deepest.max(depth(walker, count)?);
            Some(true)
        })
    });
    match walked {
        None => Err("a footer that cannot be read".to_owned()),
        Some(()) if deepest > MAX_DEPTH => {
            Err(format!("columns nested deeper than {MAX_DEPTH} levels"))
        }
        Some(()) => Ok(()),
    }
}

/// The depth of the tree given by a list of `count` schema elements. Stops once it is too deep.
fn depth(walker: &mut Walker<&[u8]>, count: u64) -> Option<usize> {
    // Remaining children at each level.
    let mut open: Vec<u64> = Vec::new();
    let mut deepest = 0;
    for _ in 0..count {
        let mut children = 0;
        walker.structure(&mut |walker, field, kind| {
            // SchemaElement has 5 num_children.
            if field == 5 {
                children = walker.count(kind)?;
            }
            Some(field == 5)
        })?;
        if let Some(left) = open.last_mut() {
            *left -= 1;
        }
        if children > 0 && open.len() <= MAX_DEPTH {
            open.push(children);
        }
        deepest = deepest.max(open.len());
        while open.last() == Some(&0) {
            open.pop();
        }
    }
    Some(deepest)
}

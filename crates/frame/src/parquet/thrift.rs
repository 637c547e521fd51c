//! Walks structures in Thrift's compact protocol, the format of Parquet headers, without
//! allocating.
//!
//! Every function returns `None` if the bytes end early or are invalid.

use std::io::Read;

/// The field types that are read.
pub(super) const I32: u8 = 5;
pub(super) const LIST: u8 = 9;
pub(super) const STRUCT: u8 = 12;

/// How deep skipped structures may be nested.
const MAX_DEPTH: u32 = 32;

/// A cursor over bytes.
pub(super) struct Walker<R> {
    input: R,
    read: u64,
}

impl<R: Read> Walker<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, read: 0 }
    }

    /// Number of bytes read.
    pub(super) fn read(&self) -> u64 {
        self.read
    }

    /// Walks a structure. `field` gets the number and type of each field and returns whether it has
    /// read it; other fields are skipped.
    pub(super) fn structure(
        &mut self, field: &mut dyn FnMut(&mut Self, u64, u8) -> Option<bool>,
    ) -> Option<()> {
        self.fields(0, field)
    }

    /// A non-negative number of the given type. The type is checked because a decoder that ignores
    /// it would read a different number.
    pub(super) fn count(&mut self, kind: u8) -> Option<u64> {
        if kind != I32 {
            return None;
        }
        let value = self.varint()?;
        (value & 1 == 0).then_some(value >> 1)
    }

    /// The header of a list of structures: their number.
    pub(super) fn list(&mut self, kind: u8) -> Option<u64> {
        if kind != LIST {
            return None;
        }
        match self.list_head()? {
            (0, _) => Some(0),
            (count, STRUCT) => Some(count),
            _ => None,
        }
    }

    fn list_head(&mut self) -> Option<(u64, u8)> {
        let head = self.byte()?;
        let count = if head >> 4 == 15 { self.varint()? } else { u64::from(head >> 4) };
        Some((count, head & 0x0f))
    }

    fn byte(&mut self) -> Option<u8> {
        let mut byte = [0];
        self.input.read_exact(&mut byte).ok()?;
        self.read += 1;
        Some(byte[0])
    }

    fn skip(&mut self, count: u64) -> Option<()> {
        let skipped =
            std::io::copy(&mut (&mut self.input).take(count), &mut std::io::sink()).ok()?;
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

    /// Fields until the stop byte.
    fn fields(
        &mut self, depth: u32, field: &mut dyn FnMut(&mut Self, u64, u8) -> Option<bool>,
    ) -> Option<()> {
        if depth > MAX_DEPTH {
            return None;
        }
        let mut number = 0;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Some(());
            }
            number = match head >> 4 {
                0 => self.count(I32)?,
                step => number + u64::from(step),
            };
            let kind = head & 0x0f;
            // The value of a bool is in its field header.
            if !field(self, number, kind)? && !matches!(kind, 1 | 2) {
                self.value(kind, depth)?;
            }
        }
    }

    /// Skips a value.
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
            LIST | 10 => {
                let (count, kind) = self.list_head()?;
                self.values(count, &[kind], depth)
            }
            // Maps.
            11 => {
                let count = self.varint()?;
                let kinds = if count == 0 { 0 } else { self.byte()? };
                self.values(count, &[kinds >> 4, kinds & 0x0f], depth)
            }
            STRUCT => self.fields(depth + 1, &mut |_, _, _| Some(false)),
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

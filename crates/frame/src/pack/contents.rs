//! The list of contents at the end of a packed file, as bytes.

use super::Digest;
use crate::column::Cells;
use crate::{MAX_COLUMNS, MAX_HELD_LEVELS};

/// What a packed file contains.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Contents {
    pub(super) rows: u64,
    /// The rows of a block; the last may have fewer.
    pub(super) block: u64,
    pub(super) columns: Vec<Described>,
    /// Of each block, the chunk of each column.
    pub(super) chunks: Vec<Chunk>,
}

/// A column without its values.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Described {
    pub(super) name: String,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Missing,
    Numbers,
    Text {
        levels: Vec<String>,
        ordered: bool,
    },
    /// Neither, and why.
    Unusable(Cells),
}

/// The values of a column in a block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Chunk {
    /// All missing; no bytes.
    Missing,
    Numbers(Digest),
    Texts(Digest),
}

impl Chunk {
    /// The bytes of so many rows.
    pub(super) fn bytes(self, rows: u64) -> u64 {
        match self {
            Self::Missing => 0,
            Self::Numbers(_) => 8 * rows,
            Self::Texts(_) => 4 * rows,
        }
    }
}

impl Contents {
    /// The number of blocks.
    pub(super) fn blocks(&self) -> u64 {
        self.rows.div_ceil(self.block.max(1))
    }

    /// The rows of a block.
    pub(super) fn rows_of(&self, block: u64) -> std::ops::Range<u64> {
        let end = |block: u64| block.saturating_mul(self.block).min(self.rows);
        end(block)..end(block + 1)
    }

    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        number(&mut out, self.rows);
        number(&mut out, self.block);
        number(&mut out, self.columns.len() as u64);
        for Described { name, kind } in &self.columns {
            text(&mut out, name);
            match kind {
                Kind::Missing => out.push(0),
                Kind::Numbers => out.push(1),
                Kind::Text { levels, ordered } => {
                    out.extend([2, u8::from(*ordered)]);
                    number(&mut out, levels.len() as u64);
                    levels.iter().for_each(|level| text(&mut out, level));
                }
                Kind::Unusable(cells) => unusable(&mut out, cells),
            }
        }
        for chunk in &self.chunks {
            match chunk {
                Chunk::Missing => out.push(0),
                Chunk::Numbers(digest) => {
                    out.push(1);
                    out.extend(digest);
                }
                Chunk::Texts(digest) => {
                    out.push(2);
                    out.extend(digest);
                }
            }
        }
        out
    }

    /// `None` for bytes that are not a list of contents.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let mut input = Input(bytes);
        let [rows, block, count] = [input.number()?, input.number()?, input.number()?];
        if block == 0 || count > MAX_COLUMNS as u64 {
            return None;
        }
        let columns = (0..count).map(|_| input.column()).collect::<Option<Vec<_>>>()?;
        let mut contents = Self { rows, block, columns, chunks: Vec::new() };
        // Each chunk has a byte at least: no more is allocated than the file is long.
        let chunks = contents.blocks().checked_mul(count)?;
        if chunks > input.0.len() as u64 {
            return None;
        }
        contents.chunks = (0..chunks).map(|_| input.chunk()).collect::<Option<Vec<_>>>()?;
        input.0.is_empty().then_some(contents)
    }
}

fn number(out: &mut Vec<u8>, value: u64) {
    out.extend(value.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as u64);
    out.extend(text.as_bytes());
}

fn unusable(out: &mut Vec<u8>, cells: &Cells) {
    let at = |out: &mut Vec<u8>, row: usize, value: &str| {
        number(out, row as u64);
        text(out, value);
    };
    match cells {
        Cells::Mixed { number: (n, value), text: (t, words) } => {
            out.push(3);
            at(out, *n, value);
            at(out, *t, words);
        }
        Cells::Infinite { row, value } => {
            out.push(4);
            at(out, *row, value);
        }
        Cells::ManyTexts { row, text } => {
            out.push(5);
            at(out, *row, text);
        }
        Cells::Other(found) => {
            out.push(6);
            text(out, found);
        }
        // These are usable, and written above.
        Cells::Missing(_) | Cells::Numbers(_) | Cells::Text { .. } | Cells::Sparse(_) => {
            out.push(0)
        }
    }
}

/// Bytes that are read from the front.
struct Input<'a>(&'a [u8]);

impl Input<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn size(&mut self) -> Option<usize> {
        self.number()?.try_into().ok()
    }

    fn text(&mut self) -> Option<String> {
        let length = self.size()?;
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        std::str::from_utf8(text).ok().map(str::to_owned)
    }

    fn column(&mut self) -> Option<Described> {
        let name = self.text()?;
        let kind = match self.take()? {
            [0] => Kind::Missing,
            [1] => Kind::Numbers,
            [2] => {
                let ordered = match self.take()? {
                    [0] => false,
                    [1] => true,
                    _ => return None,
                };
                let count = self.number()?;
                if count > MAX_HELD_LEVELS as u64 {
                    return None;
                }
                let levels = (0..count).map(|_| self.text()).collect::<Option<Vec<_>>>()?;
                Kind::Text { levels, ordered }
            }
            [3] => {
                let number = (self.size()?, self.text()?);
                let text = (self.size()?, self.text()?);
                Kind::Unusable(Cells::Mixed { number, text })
            }
            [4] => Kind::Unusable(Cells::Infinite { row: self.size()?, value: self.text()? }),
            [5] => Kind::Unusable(Cells::ManyTexts { row: self.size()?, text: self.text()? }),
            [6] => Kind::Unusable(Cells::Other(self.text()?)),
            _ => return None,
        };
        Some(Described { name, kind })
    }

    fn chunk(&mut self) -> Option<Chunk> {
        Some(match self.take()? {
            [0] => Chunk::Missing,
            [1] => Chunk::Numbers(self.take()?),
            [2] => Chunk::Texts(self.take()?),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_shorter_or_longer() {
        let kinds = [
            Kind::Missing,
            Kind::Numbers,
            Kind::Text { levels: vec!["ä".to_owned(), String::new()], ordered: true },
            Kind::Unusable(Cells::Mixed {
                number: (1, "7".to_owned()),
                text: (3, "abc".to_owned()),
            }),
            Kind::Unusable(Cells::Infinite { row: 2, value: "1e999".to_owned() }),
            Kind::Unusable(Cells::ManyTexts { row: 0, text: "p0".to_owned() }),
            Kind::Unusable(Cells::Other("nested".to_owned())),
        ];
        let columns: Vec<Described> = kinds
            .into_iter()
            .enumerate()
            .map(|(index, kind)| Described { name: format!("c{index}"), kind })
            .collect();
        let block = [Chunk::Missing, Chunk::Numbers([7; 32]), Chunk::Texts([9; 32])];
        let rest = [Chunk::Missing; 4];
        let chunks: Vec<Chunk> = [&block[..], &rest, &block, &rest].concat();
        let contents = Contents { rows: 5, block: 3, columns, chunks };
        let bytes = contents.to_bytes();
        assert_eq!(Contents::from_bytes(&bytes), Some(contents.clone()));
        assert_eq!((contents.blocks(), contents.rows_of(1)), (2, 3..5));
        for end in 0..bytes.len() {
            assert_eq!(Contents::from_bytes(&bytes[..end]), None, "{end}");
        }
        assert_eq!(Contents::from_bytes(&[&bytes[..], &[0]].concat()), None);
    }

    #[test]
    fn declared_sizes_are_not_allocated() {
        let mut bytes = Vec::new();
        [u64::MAX, 1, 1].iter().for_each(|value| number(&mut bytes, *value));
        text(&mut bytes, "x");
        bytes.push(1);
        assert_eq!(Contents::from_bytes(&bytes), None);
    }
}

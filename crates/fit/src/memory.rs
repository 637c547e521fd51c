//! How much memory a fit takes, told before it begins, and how much there is.

use std::fmt;
use std::str::FromStr;

use ridgewalk_potentials::Stored;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The program itself, its threads and the buffers of files.
const PROGRAM: u64 = 64 << 20;
/// Bytes of a row beside the design: response, observation, place, linear predictors and what a
/// search for the mode notes for each row.
const PER_ROW: u64 = 112;
/// The same where the design is in a file: the place of a row is its number.
const PER_STORED_ROW: u64 = 96;
/// Of them, those that are there while the design is written.
const PER_CODED_ROW: u64 = 40;
/// Bytes of a row for each of trials, weights, an offset and ends of intervals.
const PER_LIST: u64 = 16;
/// Numbers of a chain for each coefficient, and matrices of all coefficients.
const PER_COEFFICIENT: u64 = 40;
const MATRICES: u64 = 16;
/// Entries of a design that is copied into coordinates of its own.
const COPIED: u64 = 1 << 27;
/// Bytes of a stored entry of a sparse design, by row and by column, and of an entry of its factor.
const SPARSE: u64 = 48;
const FACTOR: u64 = 24;
/// Bytes of a draw while rows are read again: parameters, and linear predictors of some rows.
const PER_DRAW: u64 = 2048;
/// The share of the memory that is free that a fit may take if no bound was given.
const SHARE: f64 = 0.8;

/// A number of bytes, as `1GiB`, `1.5GB`, `800MiB` or `65536`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Memory(pub u64);

/// The units of sizes, the largest first.
const UNITS: [(&str, u64); 8] = [
    ("TiB", 1 << 40),
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
];

/// A text that is no size.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found `{0}`, need a number of bytes such as 1GiB, 800MiB or 2GB")]
pub struct UnknownMemory(String);

impl FromStr for Memory {
    type Err = UnknownMemory;

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked")]
    fn from_str(text: &str) -> Result<Self, UnknownMemory> {
        let unknown = || UnknownMemory(text.to_owned());
        let lower = text.trim().to_ascii_lowercase();
        let unit = UNITS.iter().find(|(name, _)| lower.ends_with(&name.to_ascii_lowercase()));
        let (number, unit) = match unit {
            Some((name, unit)) => (&lower[..lower.len() - name.len()], *unit),
            None => (lower.strip_suffix('b').unwrap_or(&lower), 1),
        };
        let number: f64 = number.trim().parse().map_err(|_| unknown())?;
        let bytes = number * unit as f64;
        if (1.0..1e18).contains(&bytes) { Ok(Self(bytes as u64)) } else { Err(unknown()) }
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(bytes) = *self;
        match UNITS[..4].iter().find(|(_, unit)| bytes >= *unit) {
            Some((name, unit)) if bytes.is_multiple_of(*unit) => {
                write!(f, "{}{name}", bytes / unit)
            }
            Some((name, unit)) => write!(f, "{:.1}{name}", bytes as f64 / *unit as f64),
            None => write!(f, "{bytes}"),
        }
    }
}

// All bytes, which the shown form does not have.
impl Serialize for Memory {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Memory {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
    }
}

/// The memory of a fit, as it was estimated before it began.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemoryPlan {
    /// What it takes, about.
    pub needs: Memory,
    /// What it may take; `None` if nothing is known.
    pub bound: Option<Memory>,
    /// Whether the bound was asked for.
    pub asked: bool,
    /// The temporary file with the design, and its directory; `None` if the design is in memory.
    pub file: Option<(Memory, std::path::PathBuf)>,
}

impl MemoryPlan {
    /// Whether it fits.
    pub(crate) fn fits(&self) -> bool {
        self.bound.is_none_or(|bound| self.needs <= bound)
    }
}

/// What a fit is made of, in numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    /// Coefficients.
    pub(crate) columns: usize,
    /// Entries of a row of the design that are stored: as many, but for sparse designs.
    pub(crate) stored: usize,
    /// Bytes of a row of the table: of all columns, or those in use of packed data.
    pub(crate) row_bytes: usize,
    /// Lists beside the response: trials, weights, an offset, ends of intervals.
    pub(crate) lists: usize,
    pub(crate) chains: usize,
}

impl Sizes {
    /// With table and design in memory.
    pub(crate) fn in_memory(self) -> Memory {
        let [rows, columns] = [self.rows as u64, self.columns as u64];
        if self.stored < self.columns {
            return self.sparse();
        }
        let entries = rows.saturating_mul(columns);
        // Few rows for many coefficients are copied whatever their size.
        let copied = entries <= COPIED || rows < columns.saturating_mul(8);
        let designs = if copied { 2 } else { 1 };
        let design = entries.saturating_mul(8 * designs);
        let table = rows.saturating_mul(self.row_bytes as u64);
        let row = PER_ROW + PER_LIST * self.lists as u64;
        let bytes = [rows.saturating_mul(row), design, table, self.common()];
        Memory(bytes.into_iter().fold(0, u64::saturating_add))
    }

    /// With a sparse design in memory, and a factor for its coordinates.
    fn sparse(self) -> Memory {
        let [rows, columns, stored] =
            [self.rows as u64, self.columns as u64, self.stored as u64 + 1];
        // The factor has at least the entries of AᵀA, and at most all of a triangle.
        let all = columns.saturating_mul(columns) / 2;
        let factor = rows.saturating_mul(stored * stored).min(all).saturating_mul(FACTOR);
        let design = rows.saturating_mul(stored * SPARSE);
        let row = PER_ROW + PER_LIST * self.lists as u64 + self.row_bytes as u64;
        let chains = (self.chains as u64).saturating_mul(8 * PER_COEFFICIENT * columns);
        let bytes = [rows.saturating_mul(row), design, factor, chains, PROGRAM];
        Memory(bytes.into_iter().fold(0, u64::saturating_add))
    }

    /// With the design in a file, and the table read in blocks of so many rows.
    pub(crate) fn in_file(self, block: usize) -> Memory {
        let rows = self.rows as u64;
        let buffers = Stored::memory(self.rows, self.columns) as u64;
        // The block, what is computed from it, and its rows of the design.
        let block = (block * (3 * self.row_bytes + 16 * self.columns)) as u64;
        let lists = PER_LIST * self.lists as u64;
        let coding = rows.saturating_mul(PER_CODED_ROW + lists).saturating_add(block);
        let sampling = rows.saturating_mul(PER_STORED_ROW + lists);
        let bytes = [coding.max(sampling), buffers, self.common()];
        Memory(bytes.into_iter().fold(0, u64::saturating_add))
    }

    /// The most bytes of temporary files: of the design before and after it is centred, or of two
    /// copies in coordinates of their own beside it.
    pub(crate) fn file(self) -> Memory {
        let entries = (self.rows as u64).saturating_mul(self.columns as u64);
        Memory(entries.saturating_mul(if entries <= COPIED { 24 } else { 16 }))
    }

    fn common(self) -> u64 {
        let columns = self.columns as u64;
        let chains = (self.chains as u64).saturating_mul(8 * PER_COEFFICIENT * columns);
        PROGRAM.saturating_add(chains).saturating_add(8 * MATRICES * columns * columns)
    }
}

/// Reading the rows of a fit again, in numbers.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Again {
    pub(crate) rows: usize,
    /// Rows in use of the longest block.
    pub(crate) longest: usize,
    /// Columns of the design.
    pub(crate) columns: usize,
    /// Bytes of a row of the file.
    pub(crate) row_bytes: usize,
    /// Draws of all chains.
    pub(crate) draws: u64,
    /// Bytes that are kept for each row.
    pub(crate) row: u64,
}

impl Again {
    /// A block with its rows of the design, the draws of all coefficients, and what is kept.
    pub(crate) fn needs(self) -> Memory {
        let block = (self.longest * (3 * self.row_bytes + 16 * self.columns)) as u64;
        // Read by columns, laid out for products, and lists of a few rows on each thread.
        let draws = self.draws.saturating_mul(16 * self.columns as u64 + PER_DRAW);
        let kept = (self.rows as u64).saturating_mul(self.row);
        let bytes = [PROGRAM, block, draws, kept];
        Memory(bytes.into_iter().fold(0, u64::saturating_add))
    }
}

/// The memory that a fit may take if no bound was given; `None` where it is not known.
pub(crate) fn available() -> Option<Memory> {
    let free = field(&std::fs::read_to_string("/proc/meminfo").ok()?, "MemAvailable:")?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share")]
    let bytes = (free.min(group_limit().unwrap_or(u64::MAX)) as f64 * SHARE) as u64;
    Some(Memory(bytes))
}

/// The bytes in a line such as `MemAvailable:   123 kB`.
fn field(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// What the control groups of this process leave, of either version.
fn group_limit() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/cgroup").ok()?;
    let left = |directory: String, [most, used]: [&str; 2]| {
        let number = |file: &str| -> Option<u64> {
            std::fs::read_to_string(format!("{directory}/{file}")).ok()?.trim().parse().ok()
        };
        Some(number(most)?.saturating_sub(number(used).unwrap_or(0)))
    };
    let both = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':');
        let (_, kind, path) = (parts.next()?, parts.next()?, parts.next()?);
        match kind {
            "" => left(format!("/sys/fs/cgroup{path}"), ["memory.max", "memory.current"]),
            "memory" => left(
                format!("/sys/fs/cgroup/memory{path}"),
                ["memory.limit_in_bytes", "memory.usage_in_bytes"],
            ),
            _ => None,
        }
    });
    both.min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_and_written() {
        let cases = [
            ("1GiB", 1 << 30, "1GiB"),
            ("1.5 gib", 3 << 29, "1.5GiB"),
            ("800MiB", 800 << 20, "800MiB"),
            ("2GB", 2_000_000_000, "1.9GiB"),
            ("65536", 65_536, "64KiB"),
            ("100 B", 100, "100"),
        ];
        for (text, bytes, shown) in cases {
            let memory: Memory = text.parse().unwrap();
            assert_eq!((memory.0, memory.to_string().as_str()), (bytes, shown));
        }
        for text in ["", "GiB", "-1GiB", "0", "1e30TB", "inf", "nan", "1 Gib b", "much"] {
            assert!(text.parse::<Memory>().is_err(), "{text}");
        }
    }

    #[test]
    fn estimates_grow_with_the_data() {
        let sizes = Sizes {
            rows: 10_000_000,
            columns: 21,
            stored: 21,
            row_bytes: 168,
            lists: 0,
            chains: 8,
        };
        let gigabyte = 1 << 30;
        // Table and design are 1.6 GiB each.
        assert!((3 * gigabyte..5 * gigabyte).contains(&sizes.in_memory().0));
        // The measured peak is 1,000 MiB: docs/results/packed.csv.
        assert!((1000 << 20..gigabyte).contains(&sizes.in_file(65_536).0));
        let more = Sizes { rows: 100_000_000, ..sizes };
        assert!(more.in_file(65_536).0 > 9 * gigabyte);
        assert_eq!(field("MemFree: 1 kB\nMemAvailable:   12 kB\n", "MemAvailable:"), Some(12_288));
    }
}

//! A table whose rows are split over several processes: the rows and the file of each part.

use std::path::{Path, PathBuf};

use crate::error::DataError;

/// The placeholder for the part number in a file name.
const NUMBER: &str = "{}";

/// One of several parts of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 0.
    pub number: usize,
    /// The number of parts.
    pub of: usize,
}

impl Part {
    /// All rows.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// The rows of this part, in a file of `of` rows.
    #[allow(clippy::cast_possible_truncation, reason = "at most `of`")]
    pub(crate) fn rows(self, of: usize) -> std::ops::Range<usize> {
        // In 128 bits, because the product may overflow 64.
        let end = |part: usize| (of as u128 * part as u128 / self.of.max(1) as u128) as usize;
        end(self.number)..end(self.number + 1)
    }

    /// The same for a file called `name`, which has a row for each part at least.
    pub(crate) fn rows_of(
        self, name: &str, rows: usize,
    ) -> Result<std::ops::Range<usize>, DataError> {
        if rows < self.of {
            let file = name.to_owned();
            return Err(DataError::FewerRowsThanParts { file, rows, parts: self.of });
        }
        Ok(self.rows(rows))
    }

    /// Whether each part has its own file, with `{}` in the path for the part number.
    #[must_use]
    pub fn has_file(path: &Path) -> bool {
        path.to_str().is_some_and(|text| text.contains(NUMBER))
    }

    /// The file of this part: the path itself if it has no placeholder.
    #[must_use]
    pub fn file(self, path: &Path) -> PathBuf {
        match path.to_str() {
            Some(text) => text.replace(NUMBER, &self.number.to_string()).into(),
            None => path.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_without_rows_is_refused() {
        let part = Part { number: 3, of: 4 };
        assert_eq!(part.rows_of("two.csv", 4).unwrap(), 3..4);
        let need = "two.csv: found 2 rows for 4 row shards, need at least one row in each: pass \
                    --row-shards 2 or less";
        assert_eq!(part.rows_of("two.csv", 2).unwrap_err().to_string(), need);
    }

    #[test]
    fn each_part_has_its_file() {
        let part = Part { number: 3, of: 5 };
        assert_eq!(part.file(Path::new("a/part-{}.csv")), Path::new("a/part-3.csv"));
        assert_eq!(part.file(Path::new("a.csv")), Path::new("a.csv"));
        assert!(Part::has_file(Path::new("part-{}.csv")) && !Part::has_file(Path::new("a.csv")));
    }
}

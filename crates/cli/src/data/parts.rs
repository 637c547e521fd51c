//! A table whose rows are in several processes: which part is whose, and what can only be said of
//! all rows together.

use std::path::{Path, PathBuf};

use ridgewalk::potentials::peers::{Peers, share_of};

use super::error::DataError;

/// What stands in the name of a file for the number of a part.
const NUMBER: &str = "{}";

/// One of several parts of the rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Its number, from 0.
    pub number: usize,
    /// How many there are.
    pub of: usize,
}

impl Part {
    /// All rows.
    pub const WHOLE: Self = Self { number: 0, of: 1 };

    /// Its rows, if a file has so many.
    pub(crate) fn rows(self, of: usize) -> std::ops::Range<usize> {
        share_of(of, self.number, self.of)
    }

    /// Whether each part has a file of its own: its name has `{}` where the number goes.
    #[must_use]
    pub fn has_file(path: &Path) -> bool {
        path.to_str().is_some_and(|text| text.contains(NUMBER))
    }

    /// The file of this part, which is that of all if it is not one of several.
    #[must_use]
    pub fn file(self, path: &Path) -> PathBuf {
        match path.to_str() {
            Some(text) => text.replace(NUMBER, &self.number.to_string()).into(),
            None => path.to_owned(),
        }
    }
}

/// What was done, unless it failed in another process: then nobody waits for that one.
pub(crate) fn agreed<T>(peers: &dyn Peers, done: Result<T, DataError>) -> Result<T, DataError> {
    if peers.somewhere(done.is_err()) { done.and(Err(DataError::Elsewhere)) } else { done }
}

/// A count over all processes.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts of rows are exact as numbers"
)]
pub(crate) fn total(peers: &dyn Peers, here: usize) -> usize {
    let mut sum = [here as f64];
    peers.sum(&mut sum);
    sum[0] as usize
}

/// The smallest and the largest of some numbers over all processes; infinite, the wrong way round,
/// if there are none.
pub(crate) fn range(peers: &dyn Peers, values: impl Iterator<Item = f64>) -> [f64; 2] {
    let [low, high] =
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], x| [low.min(x), high.max(x)]);
    let mut ends = [-low, high];
    peers.largest(&mut ends);
    [-ends[0], ends[1]]
}

/// The number that has so many smaller ones among those of all processes, which are none below 0;
/// sorted here.
pub(crate) fn nth_smallest(peers: &dyn Peers, sorted: &[f64], count: usize) -> f64 {
    // Numbers that are not negative are ordered as their bits are: the largest bits below which
    // there are no more than `count`.
    let mut bits = 0_u64;
    for bit in (0..63).rev() {
        let higher = f64::from_bits(bits | 1 << bit);
        let below = sorted.partition_point(|x| x.total_cmp(&higher).is_lt());
        if total(peers, below) <= count {
            bits |= 1 << bit;
        }
    }
    f64::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use ridgewalk::potentials::peers::{Alone, Threads};

    use super::*;

    #[test]
    fn numbers_in_several_processes_have_the_order_statistics_of_all() {
        let all: Vec<f64> =
            (0..41).map(|i| f64::from(i * 17 % 41) / 4.0).chain([0.0, 1e300, 2.5]).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        for count in [0, 1, 20, 21, 42, 43] {
            assert_eq!(nth_smallest(&Alone, &sorted, count), sorted[count]);
        }
        let (all, sorted) = (&all, &sorted);
        std::thread::scope(|scope| {
            for (number, peers) in Threads::group(3).into_iter().enumerate() {
                scope.spawn(move || {
                    let mut mine = all[Part { number, of: 3 }.rows(all.len())].to_vec();
                    mine.sort_unstable_by(f64::total_cmp);
                    assert_eq!(nth_smallest(&peers, &mine, 20), sorted[20]);
                    assert_eq!(range(&peers, mine.iter().copied()), [0.0, 1e300]);
                    assert_eq!(total(&peers, mine.len()), 44);
                });
            }
        });
    }

    #[test]
    fn each_part_has_its_file() {
        let part = Part { number: 3, of: 5 };
        assert_eq!(part.file(Path::new("a/part-{}.csv")), Path::new("a/part-3.csv"));
        assert_eq!(part.file(Path::new("a.csv")), Path::new("a.csv"));
        assert!(Part::has_file(Path::new("part-{}.csv")) && !Part::has_file(Path::new("a.csv")));
    }
}

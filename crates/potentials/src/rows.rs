//! Sums and order statistics over all rows of a model, some of which other processes may have.

use std::sync::Arc;

use crate::peers::Peers;

/// Who has the rows of a model: this process alone by default, or several of which each has a part.
#[derive(Debug, Clone, Default)]
pub struct Rows {
    others: Option<Arc<dyn Peers>>,
}

impl Rows {
    /// The rows are spread over these processes.
    #[must_use]
    pub fn shared(peers: Arc<dyn Peers>) -> Self {
        Self { others: Some(peers).filter(|peers| peers.size() > 1) }
    }

    /// Whether other processes have rows too.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.others.is_some()
    }

    /// Whether this process is the first of those that have the rows, or the only one.
    pub(crate) fn is_first(&self) -> bool {
        self.others.as_ref().is_none_or(|peers| peers.rank() == 0)
    }

    /// Replaces each number, a sum over the rows of this process, by the sum over all rows.
    pub fn sum(&self, numbers: &mut [f64]) {
        if let Some(peers) = &self.others {
            peers.sum(numbers);
        }
    }

    /// Replaces each number by the largest over all processes.
    pub fn largest(&self, numbers: &mut [f64]) {
        if let Some(peers) = &self.others {
            peers.largest(numbers);
        }
    }

    /// Whether `here` is true in some process.
    pub(crate) fn somewhere(&self, here: bool) -> bool {
        self.others.as_ref().map_or(here, |peers| peers.somewhere(here))
    }

    /// Whether `here` is true in every process.
    #[must_use]
    pub fn everywhere(&self, here: bool) -> bool {
        self.others.as_ref().map_or(here, |peers| peers.everywhere(here))
    }

    /// The numbers that some process has, in all of them, from sorted lists.
    pub(crate) fn union(&self, mine: Vec<u64>) -> Vec<u64> {
        match &self.others {
            Some(peers) => peers.union(mine),
            None => mine,
        }
    }

    /// The number of rows in the processes before this one, which has `here`.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
    pub(crate) fn before(&self, here: usize) -> usize {
        let Some(peers) = &self.others else { return 0 };
        let mut counts = vec![0.0; peers.size()];
        counts[peers.rank()] = here as f64;
        peers.sum(&mut counts);
        counts[..peers.rank()].iter().sum::<f64>() as usize
    }

    /// A count over all rows.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
    pub(crate) fn count(&self, here: usize) -> usize {
        let mut sum = [here as f64];
        self.sum(&mut sum);
        sum[0] as usize
    }

    /// The median over all rows of numbers that are not negative.
    #[must_use]
    pub fn median(&self, mut values: Vec<f64>) -> f64 {
        values.sort_unstable_by(f64::total_cmp);
        let count = self.count(values.len());
        let high = self.nth_smallest(&values, count / 2);
        if count % 2 == 1 { high } else { 0.5 * (self.nth_smallest(&values, count / 2 - 1) + high) }
    }

    /// The number with exactly `count` smaller ones over all rows; those here are sorted.
    fn nth_smallest(&self, sorted: &[f64], count: usize) -> f64 {
        if self.others.is_none() {
            return sorted.get(count).copied().unwrap_or(f64::NAN);
        }
        // Numbers that are not negative are ordered as their bits are: the largest bits below which
        // there are no more than `count` numbers.
        let mut bits = 0_u64;
        for bit in (0..63).rev() {
            let higher = f64::from_bits(bits | 1 << bit);
            let below = sorted.partition_point(|x| x.total_cmp(&higher).is_lt());
            if self.count(below) <= count {
                bits |= 1 << bit;
            }
        }
        f64::from_bits(bits)
    }
}

#[cfg(test)]
mod tests {
    use crate::peers::Threads;

    use super::*;

    #[test]
    fn numbers_in_several_processes_have_the_order_statistics_of_all() {
        let all: Vec<f64> =
            (0..41).map(|i| f64::from(i * 17 % 41) / 4.0).chain([0.0, 1e300, 2.5]).collect();
        let mut sorted = all.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        for count in [0, 1, 20, 21, 42, 43] {
            assert_eq!(Rows::default().nth_smallest(&sorted, count), sorted[count]);
        }
        let (all, sorted) = (&all, &sorted);
        std::thread::scope(|scope| {
            for (number, peers) in Threads::group(3).into_iter().enumerate() {
                scope.spawn(move || {
                    let rows = Rows::shared(Arc::new(peers));
                    let mut mine: Vec<f64> = all.iter().skip(number).step_by(3).copied().collect();
                    assert_eq!(rows.median(mine.clone()), 0.5 * (sorted[21] + sorted[22]));
                    assert_eq!(rows.before(mine.len()), [0, 15, 30][number]);
                    let mut largest = [mine.iter().copied().fold(0.0, f64::max)];
                    rows.largest(&mut largest);
                    assert_eq!(largest, [1e300]);
                    mine.sort_unstable_by(f64::total_cmp);
                    for count in [0, 20, 43] {
                        assert_eq!(rows.nth_smallest(&mine, count), sorted[count]);
                    }
                });
            }
        });
    }
}

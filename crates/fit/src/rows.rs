//! Statistics over all rows of a model, some of which other processes may hold.

use std::sync::Arc;

use ridgewalk_potentials::Ridge;
use ridgewalk_potentials::families::Family;
use ridgewalk_potentials::peers::Peers;

/// Which processes hold the rows of a model: only this one, unless made by [`Rows::shared`].
#[derive(Debug, Clone, Default)]
pub struct Rows {
    others: Option<Arc<dyn Peers>>,
}

impl Rows {
    /// The rows are split over these processes.
    #[must_use]
    pub fn shared(peers: Arc<dyn Peers>) -> Self {
        Self { others: Some(peers) }
    }

    /// Turns a model of this process's rows into one of all rows.
    pub(crate) fn of_all<'a, F: Family>(&self, ridge: Ridge<'a, F>) -> Ridge<'a, F> {
        match &self.others {
            Some(peers) => ridge.with_peers(Arc::clone(peers)),
            None => ridge,
        }
    }

    /// A sum over all rows, from the sum over this process's rows.
    pub(crate) fn sum(&self, here: f64) -> f64 {
        let mut sum = [here];
        if let Some(peers) = &self.others {
            peers.sum(&mut sum);
        }
        sum[0]
    }

    /// The maximum over all rows, in the same way.
    pub(crate) fn largest(&self, here: f64) -> f64 {
        let mut largest = [here];
        if let Some(peers) = &self.others {
            peers.largest(&mut largest);
        }
        largest[0]
    }

    /// The median of non-negative numbers over all rows.
    pub(crate) fn median(&self, mut values: Vec<f64>) -> f64 {
        values.sort_unstable_by(f64::total_cmp);
        let count = self.count(values.len());
        let high = self.nth_smallest(&values, count / 2);
        if count % 2 == 1 { high } else { 0.5 * (self.nth_smallest(&values, count / 2 - 1) + high) }
    }

    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of rows")]
    fn count(&self, here: usize) -> usize {
        self.sum(here as f64) as usize
    }

    /// The value at position `count` in sorted order over all rows; the values here are sorted.
    fn nth_smallest(&self, sorted: &[f64], count: usize) -> f64 {
        if self.others.is_none() {
            return sorted.get(count).copied().unwrap_or(f64::NAN);
        }
        // Non-negative numbers are ordered like their bits. Finds the largest bits with at most
        // `count` numbers below.
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
    use ridgewalk_potentials::peers::Threads;

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
                    assert_eq!(rows.largest(mine.iter().copied().fold(0.0, f64::max)), 1e300);
                    mine.sort_unstable_by(f64::total_cmp);
                    for count in [0, 20, 43] {
                        assert_eq!(rows.nth_smallest(&mine, count), sorted[count]);
                    }
                });
            }
        });
    }
}

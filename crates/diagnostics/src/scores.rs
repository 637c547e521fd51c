//! Rank normalisation: draws replaced by the normal quantiles of their ranks.

use statrs::distribution::{ContinuousCDF, Normal};

use crate::numeric;
use crate::sample::Placed;

/// The normal scores of the ranks 1 to n. Computed once: all parameters with n draws share them.
#[derive(Debug, Clone)]
pub(crate) struct Scores {
    scores: Vec<f64>,
}

/// The normal quantile of a (possibly averaged) rank among n, with Blom's offset 3/8.
fn score(rank: f64, n: usize) -> f64 {
    Normal::standard().inverse_cdf((rank - 0.375) / (n as f64 + 0.25))
}

impl Scores {
    pub(crate) fn new(n: usize) -> Self {
        Self { scores: (0..n).map(|i| score((i + 1) as f64, n)).collect() }
    }

    pub(crate) fn len(&self) -> usize {
        self.scores.len()
    }

    /// Writes the score of every draw of `sorted` at its place. Equal draws share the mean of their
    /// ranks.
    pub(crate) fn write(&self, sorted: &[Placed], halves: &mut Vec<f64>) {
        let n = sorted.len();
        halves.clear();
        halves.resize(n, 0.0);
        let mut start = 0;
        while start < n {
            let value = sorted[start].value;
            let mut end = start + 1;
            while end < n && sorted[end].value == value {
                end += 1;
            }
            // Ranks start + 1 to end. If their number is odd, their mean is a rank in the table.
            let shared = if (end - start) % 2 == 1 {
                self.scores[(start + end) / 2]
            } else {
                score((start + end + 1) as f64 / 2.0, n)
            };
            for draw in &sorted[start..end] {
                halves[draw.place] = shared;
            }
            start = end;
        }
    }
}

/// The distances from the median in increasing order: the sorted runs on both sides are merged.
pub(crate) fn fold(sorted: &[Placed], folded: &mut Vec<Placed>) {
    folded.clear();
    let n = sorted.len();
    if n == 0 {
        return;
    }
    let median = (sorted[(n - 1) / 2].value + sorted[n / 2].value) / 2.0;
    let mut above = sorted.partition_point(|draw| draw.value < median);
    let mut below = above;
    let distance =
        |i: usize| Placed { value: (sorted[i].value - median).abs(), place: sorted[i].place };
    while below > 0 && above < n {
        let (low, high) = (distance(below - 1), distance(above));
        if low.value <= high.value {
            folded.push(low);
            below -= 1;
        } else {
            folded.push(high);
            above += 1;
        }
    }
    folded.extend((0..below).rev().map(distance));
    folded.extend((above..n).map(distance));
}

/// R-hat of the halves themselves: the root of pooled over within-chain variance.
pub(crate) fn rhat(halves: &[f64], half: usize, means: &mut Vec<f64>) -> f64 {
    let n = half as f64;
    means.clear();
    let mut within = 0.0;
    for chain in halves.chunks_exact(half) {
        let mean = numeric::mean(chain);
        means.push(mean);
        within += numeric::sum_of_squares(chain, mean) / (n - 1.0);
    }
    within /= means.len() as f64;
    let between = n * numeric::variance(means);
    ((between / within + n - 1.0) / n).sqrt()
}

#[cfg(test)]
mod tests {
    use super::{Scores, fold};
    use crate::sample::Placed;

    fn placed(values: &[f64]) -> Vec<Placed> {
        values.iter().enumerate().map(|(place, &value)| Placed { value, place }).collect()
    }

    #[test]
    fn equal_draws_share_their_rank() {
        let mut halves = Vec::new();
        let scores = Scores::new(6);
        scores.write(&placed(&[1.0, 2.0, 2.0, 2.0, 3.0, 3.0]), &mut halves);
        assert_eq!(halves[1], halves[2]);
        assert_eq!(halves[2], scores.scores[2]);
        assert_eq!(halves[4], halves[5]);
        assert!(scores.scores[4] < halves[4] && halves[4] < scores.scores[5]);
        scores.write(&placed(&[5.0; 6]), &mut halves);
        assert!(halves.iter().all(|&z| z == 0.0));
    }

    #[test]
    fn folding_sorts_the_distances() {
        let sorted = placed(&[-9.0, -2.0, -1.0, 0.5, 0.5, 1.0, 4.0]);
        let mut folded = Vec::new();
        fold(&sorted, &mut folded);
        let values: Vec<f64> = folded.iter().map(|draw| draw.value).collect();
        assert_eq!(values, [0.0, 0.0, 0.5, 1.5, 2.5, 3.5, 9.5]);
        for draw in &folded {
            assert_eq!((sorted[draw.place].value - 0.5).abs(), draw.value);
        }
    }
}

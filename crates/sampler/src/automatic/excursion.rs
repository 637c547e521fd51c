//! How far out the draws of a log-concave posterior can be.
//!
//! For any log-concave density e^−U in d dimensions, U(X) − min U is stochastically at most
//! Gamma(d, 1). (The volume of {U − min U <= t} is h(t)^d with h concave and h(0) >= 0 by Brunn and
//! Minkowski, so the ratio of its density to that of t^d falls, which is domination in the
//! likelihood ratio.) Draws beyond that bound prove that a chain left the posterior, or has not
//! reached it; the converse does not hold.

use super::warning::Warning;

/// Draws are counted above heights that an exact draw exceeds with at most this probability. A
/// single draw beyond the last is proof: with a million draws the probability of a false alarm is
/// 1e-6.
pub(super) const COUNTED: [f64; 3] = [1e-3, 1e-4, 1e-12];

/// The height U − min U that a draw from a log-concave density in `dimension` dimensions exceeds
/// with a probability of at most `p`: by Chernoff's bound for Gamma(d, 1), t − d − d log(t/d) =
/// −log p.
#[must_use]
pub fn height_exceeded_with(dimension: usize, p: f64) -> f64 {
    let d = dimension as f64;
    let wanted = -p.ln();
    let (mut low, mut high) = (d, 2.0 * d + 4.0 * wanted);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle - d - d * (middle / d).ln() < wanted { low = middle } else { high = middle }
    }
    high
}

/// The heights above which draws are counted, in `dimension` dimensions.
#[must_use]
pub fn counted_heights(dimension: usize) -> [f64; 3] {
    COUNTED.map(|p| height_exceeded_with(dimension, p))
}

/// Whether draws left a log-concave posterior, given how many of `total` are above each of
/// [`counted_heights`] and the greatest height.
///
/// Draws are correlated and come in bursts, so of the lower heights many times the expected number
/// is required, and more than a few.
#[must_use]
pub fn beyond_bound(above: [u64; 3], farthest: f64, total: u64) -> Option<Warning> {
    let counts = above.into_iter().zip(COUNTED).map(|(count, p)| (count, p * total as f64));
    let [often, rarely, never] = [0, 1, 2].map(|at| counts.clone().nth(at).unwrap_or((0, 0.0)));
    let found = if never.0 > 0 {
        Some(never)
    } else {
        [often, rarely].into_iter().find(|(count, most)| *count as f64 > 10.0 * most + 20.0)
    };
    found.map(|(draws, allowed)| Warning::Excursion { draws, allowed, farthest })
}

#[cfg(test)]
mod tests {
    use super::{beyond_bound, counted_heights, height_exceeded_with};
    use crate::automatic::Warning;

    fn judged(heights: &[f64], d: usize, total: u64) -> Option<u64> {
        let bounds = counted_heights(d);
        let above = bounds.map(|bound| heights.iter().filter(|h| **h > bound).count() as u64);
        match beyond_bound(above, heights.iter().copied().fold(0.0, f64::max), total)? {
            Warning::Excursion { draws, .. } => Some(draws),
            other => panic!("{other}"),
        }
    }

    #[test]
    fn levels_bound_the_tail_of_gamma() {
        // Gamma(1, 1) is exponential: e^−t; Gamma(2, 1) has the tail (1 + t) e^−t. The bound is
        // above both, by less than a factor of 200.
        for p in [1e-3, 1e-6, 1e-12] {
            let one = (-height_exceeded_with(1, p)).exp();
            let t = height_exceeded_with(2, p);
            let two = (1.0 + t) * (-t).exp();
            assert!(one <= p && two <= p, "{p}: {one}, {two}");
            assert!(one > p / 200.0 && two > p / 200.0, "{p}: {one}, {two}");
        }
        assert!(height_exceeded_with(100, 1e-3) > 100.0);
    }

    #[test]
    fn only_draws_beyond_the_bound_are_an_excursion() {
        // The farthest of 8000 draws of Gamma(2, 1), the worst case of a log-concave density.
        let quantile = |p: f64| (0..200).fold(20.0_f64, |t, _| (1.0 + t).ln() - p.ln());
        let exact: Vec<f64> = (1..=256).map(|k| quantile(f64::from(k) / 8000.0)).collect();
        assert_eq!(judged(&exact, 2, 8000), None);
        let mut thrown = exact.clone();
        thrown[0] = 60.0;
        assert_eq!(judged(&thrown, 2, 8000), Some(1));
        let often: Vec<f64> = exact.iter().map(|t| t + 8.0).collect();
        assert!(judged(&often, 2, 8000).is_some_and(|draws| draws > 100));
    }
}

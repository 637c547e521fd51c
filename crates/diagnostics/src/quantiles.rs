//! Quantiles and intervals of the sorted draws, and the Monte Carlo standard errors of quantiles.

use statrs::function::beta::checked_beta_reg;

use crate::sample::Placed;

/// The mass of the standard normal distribution below −1 and below 1, to the digits that ArviZ and
/// the posterior package use.
const BELOW: f64 = 0.1586553;
const ABOVE: f64 = 0.8413447;

/// The quantile by linear interpolation between order statistics (type 7, NumPy's and R's default).
///
/// The position is (n − 1) p. ArviZ computes it as n p + (1 − p), whose rounding can put the
/// quantile just below the draw it should equal, and averages equal neighbours with weights whose
/// sum is rounded. Here equal neighbours give exactly their value.
pub(crate) fn interpolated(sorted: &[Placed], probability: f64) -> f64 {
    let n = sorted.len();
    let position = (n - 1) as f64 * probability;
    let index = whole(position.floor()).min(n - 1);
    let share = position - index as f64;
    let (low, high) = (sorted[index].value, sorted[(index + 1).min(n - 1)].value);
    if share < 0.5 { low + (high - low) * share } else { high - (high - low) * (1.0 - share) }
}

/// The shortest interval that holds more than the share p of the draws; the first of several.
///
/// As in ArviZ, its ends are two draws that are ⌊n p⌋ places apart. For p = 1 it is the range.
pub(crate) fn shortest(sorted: &[Placed], probability: f64) -> [f64; 2] {
    let n = sorted.len();
    let apart = whole((n as f64 * probability).floor()).min(n - 1);
    let ends = |first: usize| [sorted[first].value, sorted[first + apart].value];
    let width = |[low, high]: [f64; 2]| high - low;
    let mut best = ends(0);
    for first in 1..n - apart {
        let next = ends(first);
        if width(next) < width(best) {
            best = next;
        }
    }
    best
}

/// The central interval that holds the share p: as much is below it as above.
///
/// The share below is rounded to twelve decimals, because (1 − 0.9)/2 is not 0.05 to the last bit.
pub(crate) fn central(sorted: &[Placed], probability: f64) -> [f64; 2] {
    let below = (0.5e12 * (1.0 - probability)).round() / 1e12;
    [below, 1.0 - below].map(|p| interpolated(sorted, p))
}

/// A non-negative number of draws as an index.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn whole(x: f64) -> usize {
    x as usize
}

/// Half the distance between the draws at the ends of a central 68 % interval of the quantile.
///
/// With `ess` independent draws, the share of draws below the quantile has a Beta(ess p + 1, ess
/// (1 − p) + 1) law; its 16 % and 84 % points, rounded outwards to draws, are the ends. Only the
/// rounded index is needed, so instead of inverting the distribution function the index is found by
/// bisection.
pub(crate) fn standard_error(sorted: &[Placed], probability: f64, ess: f64) -> f64 {
    let n = sorted.len();
    let (a, b) = (ess * probability + 1.0, ess * (1.0 - probability) + 1.0);
    let mass_below = |i: usize| checked_beta_reg(a, b, i as f64 / n as f64).unwrap_or(f64::NAN);
    // The numbers of i in 1..=n below each point: the floor of the lower point, and the ceiling of
    // the upper point minus one.
    let floor = count_while(n, |i| mass_below(i) <= BELOW);
    let ceiling = count_while(n, |i| mass_below(i) < ABOVE) + 1;
    let low = sorted[floor.max(1) - 1].value;
    let high = sorted[ceiling.min(n) - 1].value;
    (high - low) / 2.0
}

/// The number of i in 1..=n that satisfy a condition which holds up to some i and not beyond.
fn count_while(n: usize, holds: impl Fn(usize) -> bool) -> usize {
    let (mut yes, mut no) = (0, n + 1);
    while no - yes > 1 {
        let middle = yes + (no - yes) / 2;
        if holds(middle) { yes = middle } else { no = middle }
    }
    yes
}

#[cfg(test)]
mod tests {
    use super::{central, count_while, interpolated, shortest};
    use crate::sample::Placed;

    fn sorted(values: &[f64]) -> Vec<Placed> {
        values.iter().map(|&value| Placed { value, place: 0 }).collect()
    }

    #[test]
    fn ends_and_between() {
        let draws = sorted(&[1.0, 2.0, 4.0]);
        for (p, q) in [(0.0, 1.0), (0.25, 1.5), (0.5, 2.0), (0.75, 3.0), (1.0, 4.0)] {
            assert_eq!(interpolated(&draws, p), q);
        }
        assert_eq!(interpolated(&sorted(&[7.0]), 0.3), 7.0);
    }

    /// Where the position falls on a draw, the quantile is that draw to the last bit.
    #[test]
    fn no_rounding_beside_a_draw() {
        for n in (101..2000).step_by(20) {
            let draws: Vec<f64> = (0..n).map(|i| (i as f64).sqrt()).collect();
            assert_eq!(interpolated(&sorted(&draws), 0.05), draws[(n - 1) / 20]);
            assert_eq!(interpolated(&sorted(&draws), 0.95), draws[(n - 1) / 20 * 19]);
        }
        for i in 0..1000 {
            assert_eq!(interpolated(&sorted(&[0.1; 7]), i as f64 / 999.0), 0.1);
        }
    }

    #[test]
    fn the_shortest_interval_is_the_first_of_equals_and_the_range_at_one() {
        let draws = sorted(&[0.0, 1.0, 2.0, 2.5, 3.0, 9.0]);
        assert_eq!(shortest(&draws, 0.34), [2.0, 3.0]);
        assert_eq!(shortest(&draws, 0.5), [1.0, 3.0]);
        assert_eq!(shortest(&draws, 1.0), [0.0, 9.0]);
        assert_eq!(shortest(&draws, 0.0), [0.0, 0.0]);
        assert_eq!(shortest(&sorted(&[7.0]), 0.9), [7.0, 7.0]);
        assert_eq!(shortest(&sorted(&[1.0, 2.0, 3.0, 4.0]), 0.5), [1.0, 3.0]);
    }

    #[test]
    fn the_central_interval_has_the_quantiles_of_the_table() {
        let draws: Vec<f64> = (0..997).map(|i| (i as f64).sqrt()).collect();
        let draws = sorted(&draws);
        for (p, tails) in [(0.9, [0.05, 0.95]), (0.95, [0.025, 0.975]), (0.8, [0.1, 0.9])] {
            assert_eq!(central(&draws, p), tails.map(|tail| interpolated(&draws, tail)), "{p}");
        }
    }

    #[test]
    fn counting() {
        for n in 0..20 {
            for limit in 0..=n {
                assert_eq!(count_while(n, |i| i <= limit), limit);
            }
        }
    }
}

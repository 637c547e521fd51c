//! Quantiles of the sorted draws, and their Monte Carlo standard errors.

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
    use super::{count_while, interpolated};
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
    fn counting() {
        for n in 0..20 {
            for limit in 0..=n {
                assert_eq!(count_while(n, |i| i <= limit), limit);
            }
        }
    }
}

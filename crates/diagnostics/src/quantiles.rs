//! Quantiles of the sorted pool, and the draws that bracket a quantile's uncertainty.

use statrs::function::beta::checked_beta_reg;

use crate::sample::Placed;

/// The normal distribution's mass below −1 and below 1 standard deviation, to the digits that ArviZ
/// and the posterior package use.
const BELOW: f64 = 0.1586553;
const ABOVE: f64 = 0.8413447;

/// The quantile by linear interpolation between order statistics (type 7, NumPy's and R's default).
///
/// The position is (n − 1) p. ArviZ writes it n p + (1 − p), whose rounding can put the quantile
/// just below the draw it should be equal to, and mixes equal neighbours with weights whose sum
/// rounds; here equal neighbours give their value.
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
/// The share of draws below the quantile has, with `ess` independent draws, a Beta(ess p + 1, ess
/// (1 − p) + 1) law; its 16 % and 84 % points, rounded outwards to draws, are the ends. The point
/// times n is only ever rounded, so that no inverse is needed: the index is searched with the
/// distribution function.
pub(crate) fn standard_error(sorted: &[Placed], probability: f64, ess: f64) -> f64 {
    let n = sorted.len();
    let (a, b) = (ess * probability + 1.0, ess * (1.0 - probability) + 1.0);
    let mass_below = |i: usize| checked_beta_reg(a, b, i as f64 / n as f64).unwrap_or(f64::NAN);
    // How many of 1..=n satisfy each: the floor of the lower point, and one less than the ceiling
    // of the upper.
    let floor = count_while(n, |i| mass_below(i) <= BELOW);
    let ceiling = count_while(n, |i| mass_below(i) < ABOVE) + 1;
    let low = sorted[floor.max(1) - 1].value;
    let high = sorted[ceiling.min(n) - 1].value;
    (high - low) / 2.0
}

/// How many of 1, 2, ..., n satisfy a condition that holds up to some point and not after.
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

    /// Where position and neighbours are exact the quantile is the draw, to the last bit.
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

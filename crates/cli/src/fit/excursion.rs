//! Draws where an exact sample of the posterior would almost surely have none: the mark of a step that is too long now and then.
//!
//! A chain that overshoots once in a thousand steps, where the curvature grows without bound, is thrown far out. The measurement of the bias sees
//! too few steps to notice; the run itself does. What is exact here: for any log-concave density e^−U in d dimensions, U(X) − min U is
//! stochastically at most Gamma(d, 1). (The volume of {U − min U <= t} is h(t)^d with h concave and h(0) >= 0 by Brunn and Minkowski, so that
//! its density over that of t^d falls, which is domination in the likelihood ratio.) Draws beyond what that law allows prove that the chain
//! left the posterior; the converse does not hold.

use ridgewalk::potentials::families::Family;
use ridgewalk::potentials::{Error, Ridge, Scratch, Whitening};

use super::sinks::Rescaling;
use crate::run::Draws;

/// The probability with which one draw of an exact sample may go beyond, over all draws: a false alarm.
const FALSE_ALARM: f64 = 1e-6;
/// Levels that an exact draw exceeds with at most this probability, at which draws are counted.
const COUNTED: [f64; 2] = [1e-3, 1e-4];
/// The smallest number of draws, the farthest out, whose U is computed, and the smallest share of all.
const LOOKED_AT: usize = 256;
const SHARE: usize = 50;

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Excursion {
    /// Draws beyond the level that `allowed` of an exact sample may exceed.
    pub(super) draws: usize,
    /// How many of an exact sample could be expected there, at most.
    pub(super) allowed: f64,
    /// The largest U above its minimum.
    pub(super) farthest: f64,
}

/// Looks at the draws that are farthest from the mode in whitened coordinates.
pub(super) fn excursion<F: Family>(
    ridge: &Ridge<'_, F>,
    whitening: &Whitening,
    mode: &[f64],
    draws: &Draws,
    rescaling: Option<&Rescaling>,
) -> Result<Option<Excursion>, Error> {
    let d = mode.len();
    let total = draws.chains.iter().map(Vec::len).sum::<usize>() / d.max(1);
    let mut far: Vec<(f64, &[f64])> = Vec::with_capacity(total);
    let (mut point, mut z) = (vec![0.0; d], vec![0.0; d]);
    for draw in draws.chains.iter().flat_map(|chain| chain.chunks_exact(d)) {
        sampled(draw, rescaling, &mut point);
        whitening.to_whitened(&point, &mut z)?;
        far.push((z.iter().map(|z| z * z).sum(), draw));
    }
    far.sort_by(|a, b| b.0.total_cmp(&a.0));
    far.truncate(LOOKED_AT.max(total / SHARE));
    let mut positions = mode.to_vec();
    for (_, draw) in &far {
        sampled(draw, rescaling, &mut point);
        positions.extend_from_slice(&point);
    }
    let (mut values, mut gradients) = (vec![0.0; far.len() + 1], vec![0.0; positions.len()]);
    ridge.values_and_gradients(&positions, &mut values, &mut gradients, &mut Scratch::default())?;
    let heights: Vec<f64> = values[1..].iter().map(|value| value - values[0]).collect();
    Ok(judged(&heights, d, total))
}

/// A draw in the coefficients that were sampled.
fn sampled(draw: &[f64], rescaling: Option<&Rescaling>, point: &mut [f64]) {
    point.copy_from_slice(draw);
    if let Some(rescaling) = rescaling {
        rescaling.undo(point);
    }
}

/// Whether some of the largest heights of `total` draws are beyond what d dimensions allow.
fn judged(heights: &[f64], d: usize, total: usize) -> Option<Excursion> {
    let farthest = heights.iter().copied().fold(0.0, f64::max);
    let beyond = |level: f64| heights.iter().filter(|height| **height > level).count();
    let all = total as f64;
    let single = beyond(level(d, FALSE_ALARM / all));
    if single > 0 {
        return Some(Excursion { draws: single, allowed: FALSE_ALARM, farthest });
    }
    // Draws are not independent, and come in bursts: many times as many as expected, and not a few.
    let counted = COUNTED.into_iter().map(|p| (beyond(level(d, p)), p * all));
    let found = counted.into_iter().find(|(count, expected)| *count as f64 > 10.0 * expected + 20.0)?;
    Some(Excursion { draws: found.0, allowed: found.1, farthest })
}

/// A height that Gamma(d, 1) exceeds with a probability of at most p, by Chernoff's bound: t − d − d log(t/d) = −log p.
fn level(d: usize, p: f64) -> f64 {
    let d = d as f64;
    let wanted = -p.ln();
    let (mut low, mut high) = (d, 2.0 * d + 4.0 * wanted);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if middle - d - d * (middle / d).ln() < wanted { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::{judged, level};

    #[test]
    fn levels_bound_the_tail_of_gamma() {
        // Gamma(1, 1) is exponential: e^−t; Gamma(2, 1) has the tail (1 + t) e^−t. The bound is above both, by less than a factor of 30.
        for p in [1e-3, 1e-6, 1e-12] {
            let one = (-level(1, p)).exp();
            let t = level(2, p);
            let two = (1.0 + t) * (-t).exp();
            assert!(one <= p && two <= p, "{p}: {one}, {two}");
            assert!(one > p / 200.0 && two > p / 200.0, "{p}: {one}, {two}");
        }
        assert!(level(100, 1e-3) > 100.0);
    }

    #[test]
    fn what_the_law_allows_is_no_excursion_and_what_it_does_not_is() {
        // The farthest of 8000 draws of Gamma(2, 1) itself, the worst that a log-concave density can do.
        let quantile = |p: f64| (0..200).fold(20.0_f64, |t, _| (1.0 + t).ln() - p.ln());
        let exact: Vec<f64> = (1..=256).map(|k| quantile(f64::from(k) / 8000.0)).collect();
        assert_eq!(judged(&exact, 2, 8000), None);
        let mut thrown = exact.clone();
        thrown[0] = 60.0;
        assert_eq!(judged(&thrown, 2, 8000).map(|found| found.draws), Some(1));
        let often: Vec<f64> = exact.iter().map(|t| t + 8.0).collect();
        assert!(judged(&often, 2, 8000).is_some_and(|found| found.draws > 100));
    }
}

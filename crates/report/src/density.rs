//! Densities of draws: a kernel estimate on a grid.

/// Points of a density's grid.
pub(super) const GRID: usize = 96;

/// Densities on a common grid.
#[derive(Debug, Clone)]
pub(super) struct Densities {
    /// The ends of the grid.
    pub(super) low: f64,
    pub(super) high: f64,
    /// The density of all draws together; densities are scaled to a maximum of 1.
    pub(super) pooled: Vec<f64>,
    /// The densities of the chains.
    pub(super) chains: Vec<Vec<f64>>,
}

/// Densities of the draws of each chain and of all draws, given sorted. `None` if they are constant
/// or not finite.
///
/// The kernel is normal; its width is Silverman's, 0.9 min(sd, IQR/1.34) n^(−1/5), for all draws
/// and for a chain's own number of them.
pub(super) fn densities(chains: &[&[f64]], sorted: &[f64]) -> Option<Densities> {
    let (first, last) = (*sorted.first()?, *sorted.last()?);
    if !(first < last) || !(last - first).is_finite() {
        return None;
    }
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
    let quartiles = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / 1.34;
    let spread = if quartiles > 0.0 { sd.min(quartiles) } else { sd };
    let width = |n: f64| (0.9 * spread * n.powf(-0.2)).max((last - first) / GRID as f64);
    let (low, high) = (first - 2.0 * width(n), last + 2.0 * width(n));
    let step = (high - low) / (GRID - 1) as f64;
    if !(step > 0.0) || !step.is_finite() {
        return None;
    }
    let mut pooled = smooth(&binned(sorted, low, step), width(n) / step);
    let mut each: Vec<Vec<f64>> = chains
        .iter()
        .map(|draws| smooth(&binned(draws, low, step), width(draws.len().max(1) as f64) / step))
        .collect();
    let top = each.iter().chain([&pooled]).flatten().copied().fold(0.0, f64::max);
    for value in each.iter_mut().chain([&mut pooled]).flatten() {
        *value /= top;
    }
    Some(Densities { low, high, pooled, chains: each })
}

/// The share of draws at each point of the grid; a draw between two points is split linearly.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "draws lie within the grid"
)]
fn binned(draws: &[f64], low: f64, step: f64) -> Vec<f64> {
    let mut bins = vec![0.0; GRID];
    let weight = 1.0 / draws.len().max(1) as f64;
    for draw in draws {
        let at = ((draw - low) / step).clamp(0.0, (GRID - 2) as f64);
        let (bin, rest) = (at.floor() as usize, at.fract());
        bins[bin] += weight * (1.0 - rest);
        bins[bin + 1] += weight * rest;
    }
    bins
}

/// Smooths bins with a normal kernel of the given width in bins.
fn smooth(bins: &[f64], width: f64) -> Vec<f64> {
    let kernel: Vec<f64> =
        (0..bins.len()).map(|k| (-0.5 * (k as f64 / width).powi(2)).exp()).collect();
    let total = kernel[0] + 2.0 * kernel[1..].iter().sum::<f64>();
    let at = |i: usize| {
        bins.iter().enumerate().map(|(j, bin)| bin * kernel[i.abs_diff(j)]).sum::<f64>() / total
    };
    (0..bins.len()).map(at).collect()
}

/// A quantile of sorted draws, interpolated; NaN if there are none.
pub(super) fn quantile(sorted: &[f64], probability: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let at = probability.clamp(0.0, 1.0) * last as f64;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an index of the slice"
    )]
    let below = (at.floor() as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (at - at.floor()) * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_of_even_draws_is_flat_and_that_of_a_normal_is_its_own() {
        let n = 4000;
        let even: Vec<f64> = (0..n).map(|i| (f64::from(i) + 0.5) / f64::from(n)).collect();
        let all = densities(&[&even], &even).unwrap();
        let middle = &all.pooled[GRID / 3..2 * GRID / 3];
        assert!(middle.iter().all(|x| (x / middle[0] - 1.0).abs() < 0.02), "{middle:?}");
        // Quantiles of the logistic distribution: the density at 0 is four times that at ln(7 + 4
        // sqrt 3).
        let logistic: Vec<f64> = even.iter().map(|u| (u / (1.0 - u)).ln()).collect();
        let all = densities(&[&logistic], &logistic).unwrap();
        let step = (all.high - all.low) / (GRID - 1) as f64;
        let near = |x: f64| {
            let points = all.pooled.iter().enumerate();
            let from = |i: usize| (all.low + i as f64 * step - x).abs();
            *points.min_by(|a, b| from(a.0).total_cmp(&from(b.0))).unwrap().1
        };
        let ratio = near(0.0) / near((7.0 + 48f64.sqrt()).ln());
        assert!((3.5..4.6).contains(&ratio), "{ratio}");
    }

    #[test]
    fn constant_and_missing_draws_have_none() {
        assert!(densities(&[&[1.0; 5]], &[1.0; 5]).is_none());
        assert!(densities(&[], &[]).is_none());
        assert!(densities(&[&[f64::MIN, f64::MAX]], &[f64::MIN, f64::MAX]).is_none());
        assert!(
            densities(&[&[1.0, 1.0 + f64::EPSILON]], &[1.0, 1.0 + f64::EPSILON])
                .is_none_or(|d| d.pooled[0].is_finite())
        );
    }
}

//! Effective draws per draw, from the autocorrelation of few draws.

/// Lags that are looked at.
const LAGS: usize = 8;
/// A correlation that is more than the noise of some hundred draws.
const LARGE: f64 = 0.25;

/// Effective draws per draw, of the slowest quarter of the coordinates and of the slower of them and
/// their squares. `points` are those of all chains, one draw after the other.
pub(super) fn efficiency(points: &[f64], dimension: usize, chains: usize) -> f64 {
    let draws = points.len() / (dimension * chains).max(1);
    let series =
        |k: usize| -> Vec<f64> { points.iter().skip(k).step_by(dimension).copied().collect() };
    let of = |moment: usize| {
        let mut all: Vec<Vec<f64>> = (0..dimension)
            .map(|k| {
                let list = series(k);
                let list = if moment == 0 { list } else { squares(&list) };
                correlations(&list, chains, draws)
            })
            .collect();
        all.sort_by(|a, b| b[0].total_cmp(&a[0]));
        all.truncate(dimension.div_ceil(4));
        let mean = |lag: usize| all.iter().map(|list| list[lag]).sum::<f64>() / all.len() as f64;
        1.0 / time((0..LAGS.min(draws.saturating_sub(1))).map(mean))
    };
    // Draws that stay where they are have neither a spread nor a correlation.
    let found = of(0).min(of(1));
    if found.is_finite() { found.clamp(1e-6, 1.0) } else { 1e-6 }
}

/// (x − mean)².
fn squares(list: &[f64]) -> Vec<f64> {
    let mean = list.iter().sum::<f64>() / list.len() as f64;
    list.iter().map(|x| (x - mean).powi(2)).collect()
}

/// Correlations at lags 1, 2, ... about the mean of all chains.
fn correlations(list: &[f64], chains: usize, draws: usize) -> Vec<f64> {
    let mean = list.iter().sum::<f64>() / list.len() as f64;
    let variance = list.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / list.len() as f64;
    (1..=LAGS.min(draws.saturating_sub(1)))
        .map(|lag| {
            let pairs = list.iter().zip(&list[lag * chains..]);
            let sum: f64 = pairs.map(|(x, y)| (x - mean) * (y - mean)).sum();
            let found = sum / ((draws - lag) * chains) as f64 / variance;
            if found.is_finite() { found } else { 1.0 }
        })
        .collect()
}

/// 1 + 2 Σ of correlations, as long as pairs of them are positive (Geyer 1992). Where the last is still
/// large, what is beyond is taken to fall geometrically.
fn time(correlations: impl Iterator<Item = f64>) -> f64 {
    let list: Vec<f64> = correlations.collect();
    let mut sum = 1.0_f64;
    for (k, pair) in list.chunks(2).enumerate() {
        // The first pair of Geyer's is that of lags 0 and 1.
        if k > 0 && pair.iter().sum::<f64>() <= 0.0 {
            return sum.max(0.5);
        }
        sum += 2.0 * pair.iter().sum::<f64>();
    }
    let (Some(first), Some(last)) = (list.first(), list.last()) else { return 1.0 };
    if *last > LARGE {
        let ratio = (last / first).powf(1.0 / (list.len() - 1) as f64).min(0.999);
        sum += 2.0 * last * ratio / (1.0 - ratio);
    }
    sum.max(0.5)
}

//! Effective sample size from autocovariances: Geyer's initial monotone sequence, over several
//! chains.

use crate::numeric;

/// The effective size of m chains of n draws, given their mean autocovariance (divisor n, lags 0 to
/// n − 1) and their means; n and m are at least 2.
///
/// With W the mean within-chain variance and V = (n − 1)/n W + (variance of the means) the pooled
/// estimate, the autocorrelation is ρ_t = 1 − (W − γ_t)/V. Lags are summed in pairs P_k = ρ_2k +
/// ρ_2k+1, which are positive and decreasing for a reversible chain. Pairs are taken until the
/// first that is not positive, or until the lags run out; each is limited to the one before it and
/// counts twice. Of the pair at which this stops the even lag counts once, unless both it and the
/// pair are negative. So τ = −1 + 2 Σ P_k + (that even lag). The size is m n/τ, at most m n
/// log10(m n): alternating chains may be better than independent draws, but not without limit.
pub(crate) fn effective_size(autocovariance: &[f64], means: &[f64]) -> f64 {
    let n = autocovariance.len();
    let draws = n as f64;
    let total = draws * means.len() as f64;
    let within = autocovariance[0] * draws / (draws - 1.0);
    let pooled = autocovariance[0] + numeric::variance(means);
    let rho = |lag: usize| 1.0 - (within - autocovariance[lag]) / pooled;

    let (mut even, mut odd) = (1.0, rho(1));
    let mut sum = 0.0;
    let mut limit = f64::INFINITY;
    let mut lag = 2;
    while lag + 2 < n && even + odd > 0.0 {
        limit = limit.min(even + odd);
        sum += limit;
        (even, odd) = (rho(lag), rho(lag + 1));
        lag += 2;
    }
    let last = if even > 0.0 || even + odd >= 0.0 { even } else { 0.0 };
    let tau = -1.0 + 2.0 * sum + last;
    if tau.is_nan() || pooled.is_nan() {
        return f64::NAN;
    }
    total / tau.max(1.0 / total.log10())
}

//! Pareto-smoothed importance sampling as the papers write it: a full sort, a logarithm for every
//! draw and point of the grid, and log-sum-exp. With errors that a comparison must notice.

// Lengths are computed as the papers write them.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

/// An error to plant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    None,
    /// k as fitted, without its prior.
    NoPrior,
    /// The tail has one draw fewer.
    ShorterTail,
    /// The smallest ratio of the tail as the cutoff.
    CutoffFromTail,
    /// Weights may exceed the largest ratio.
    NoTruncation,
    /// Quantiles at j/(M + 1).
    OtherQuantiles,
    /// The length of the tail as if draws were independent.
    NoEfficiency,
    /// One point fewer in the grid.
    ShorterGrid,
}

pub(crate) struct Smoothed {
    pub(crate) log_weights: Vec<f64>,
    pub(crate) k: f64,
    pub(crate) tail_length: usize,
}

pub(crate) fn log_sum_exp(x: &[f64]) -> f64 {
    let top = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    top + x.iter().map(|x| (x - top).exp()).sum::<f64>().ln()
}

pub(crate) fn psis(log_ratios: &[f64], r_eff: f64, fault: Fault) -> Smoothed {
    let s = log_ratios.len();
    let top = log_ratios.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mut log_weights: Vec<f64> = log_ratios.iter().map(|x| x - top).collect();
    let r_eff = if fault == Fault::NoEfficiency { 1.0 } else { r_eff };
    let mut m = (0.2 * s as f64).min(3.0 * (s as f64 / r_eff).sqrt()).ceil() as usize;
    if fault == Fault::ShorterTail {
        m -= 1;
    }
    let mut order: Vec<usize> = (0..s).collect();
    order.sort_by(|&a, &b| log_weights[a].total_cmp(&log_weights[b]));
    let tail = &order[s - m..];
    let mut k = f64::INFINITY;
    if m >= 5 && log_weights[tail[m - 1]] - log_weights[tail[0]] >= f64::EPSILON / 100.0 {
        let first = if fault == Fault::CutoffFromTail { s - m } else { s - m - 1 };
        let cutoff = log_weights[order[first]].exp();
        let x: Vec<f64> = tail.iter().map(|&i| log_weights[i].exp() - cutoff).collect();
        let (shape, scale) = fit(&x, fault);
        if shape.is_finite() {
            k = shape;
            for (j, &i) in tail.iter().enumerate() {
                let p = match fault {
                    Fault::OtherQuantiles => (j + 1) as f64 / (m + 1) as f64,
                    _ => (j as f64 + 0.5) / m as f64,
                };
                let quantile = scale * (-k * (-p).ln_1p()).exp_m1() / k;
                log_weights[i] = (quantile + cutoff).ln();
            }
        }
    }
    if fault != Fault::NoTruncation {
        log_weights.iter_mut().for_each(|x| *x = x.min(0.0));
    }
    let norm = log_sum_exp(&log_weights);
    log_weights.iter_mut().for_each(|x| *x -= norm);
    Smoothed { log_weights, k, tail_length: m }
}

/// Shape and scale by Zhang and Stephens, the shape with its prior.
fn fit(x: &[f64], fault: Fault) -> (f64, f64) {
    let n = x.len() as f64;
    let mean = |theta: f64| x.iter().map(|x| (-theta * x).ln_1p()).sum::<f64>() / n;
    let m = 30.0 + n.sqrt().floor() - if fault == Fault::ShorterGrid { 1.0 } else { 0.0 };
    let quartile = x[(n / 4.0 + 0.5).floor() as usize - 1];
    let theta: Vec<f64> = (1..=m as usize)
        .map(|j| 1.0 / x[x.len() - 1] + (1.0 - (m / (j as f64 - 0.5)).sqrt()) / 3.0 / quartile)
        .collect();
    let profile: Vec<f64> = theta
        .iter()
        .map(|&theta| {
            let k = mean(theta);
            n * ((-theta / k).ln() - k - 1.0)
        })
        .collect();
    let norm = log_sum_exp(&profile);
    let theta: f64 = theta.iter().zip(&profile).map(|(theta, l)| theta * (l - norm).exp()).sum();
    let k = mean(theta);
    let shape = if fault == Fault::NoPrior { k } else { (n * k + 5.0) / (n + 10.0) };
    (shape, -k / theta)
}

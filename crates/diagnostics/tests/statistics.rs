//! Comparison with known laws: effective sizes and standard errors of autoregressive chains,
//! independently of ArviZ.
//!
//! Seeds are fixed. The bounds are five standard errors over the replicates, plus a declared bias
//! budget for the estimator (Geyer's sequence is truncated and the chains are finite): for a fresh
//! seed, a false alarm has a probability of about 6e-7 per comparison.

use ridgewalk_diagnostics::{Error, Summarizer, Summary, mcse_quantile, quantile};

use crate::common::{ar1, generator, slices};

const REPLICATES: u32 = 60;

/// An effective sample size.
type Ess = fn(&mut Summarizer, &[&[f64]]) -> Result<f64, Error>;

/// For each ESS, the mean over replicates of (number of draws)/ESS and its standard error.
fn autocorrelation_times<const N: usize>(phi: f64, sizes: [Ess; N]) -> [(f64, f64); N] {
    let (chains, draws) = (4, 4000);
    let mut summarizer = Summarizer::new();
    let mut times = [const { Vec::new() }; N];
    for i in 0..REPLICATES {
        let sample = ar1(&mut generator(1000 + u64::from(i)), chains, draws, phi);
        for (times, ess) in times.iter_mut().zip(sizes) {
            let ess = ess(&mut summarizer, &slices(&sample)).expect("well-shaped chains");
            times.push((chains * draws) as f64 / ess);
        }
    }
    let n = f64::from(REPLICATES);
    times.map(|times: Vec<f64>| {
        let mean = times.iter().sum::<f64>() / n;
        let variance = times.iter().map(|t| (t - mean) * (t - mean)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    })
}

/// Whether the estimate is within five standard errors plus the bias budget of the truth.
fn agrees((estimate, error): (f64, f64), truth: f64, bias: f64) -> bool {
    (estimate - truth).abs() <= 5.0 * error + bias * truth
}

/// 1 + 2 Σ ρ_t for the indicator of lying below the median: ρ_t = (2/π) asin φ^t.
fn median_time(phi: f64) -> f64 {
    let sum: f64 = (1..2000).map(|t| phi.powi(t).asin()).sum();
    1.0 + 2.0 * std::f64::consts::FRAC_2_PI * sum
}

#[test]
fn autoregressive_chains_have_their_effective_size() {
    for phi in [-0.5, -0.2, 0.0, 0.3, 0.6, 0.9] {
        let first = (1.0 + phi) / (1.0 - phi);
        let second = (1.0 + phi * phi) / (1.0 - phi * phi);
        let median: Ess = |summarizer, chains| summarizer.ess_quantile(chains, 0.5);
        let sizes = [Summarizer::ess_mean, Summarizer::ess_bulk, Summarizer::ess_sd, median];
        let truths =
            [("mean", first), ("bulk", first), ("sd", second), ("median", median_time(phi))];
        for (got, (name, truth)) in autocorrelation_times(phi, sizes).into_iter().zip(truths) {
            println!("phi {phi:4} {name:6} {:.4} +- {:.4}, truth {truth:.4}", got.0, got.1);
            assert!(agrees(got, truth, 0.03), "phi {phi}: {name}: {got:?}, truth {truth}");
            assert!(5.0 * got.1 < 0.1 * truth, "phi {phi}: {name}: too noisy to tell: {got:?}");
        }
    }
}

/// The test above is able to fail: draws with phi = 0.5 are distinguished from 0.6, and slightly
/// dependent draws from independent ones.
#[test]
fn a_wrong_autocorrelation_is_noticed() {
    let time = |phi| autocorrelation_times(phi, [Summarizer::ess_mean])[0];
    assert!(!agrees(time(0.5), 1.6 / 0.4, 0.03));
    assert!(!agrees(time(0.06), 1.0, 0.03));
}

/// Standard errors are calibrated: errors over standard errors have mean square 1.
#[test]
fn standard_errors_are_calibrated() {
    let replicates = 1000;
    let mut workspace = Summarizer::new();
    let mut squares = [0.0; 3];
    for i in 0..replicates {
        let sample = ar1(&mut generator(50_000 + i), 4, 400, 0.5);
        let chains = slices(&sample);
        let summary: Summary = workspace.summary(&chains).expect("well-shaped chains");
        let q90 = quantile(&chains, 0.9).expect("well-shaped chains");
        let errors = [
            summary.mean / summary.mcse_mean,
            (summary.sd - 1.0) / summary.mcse_sd,
            (q90 - 1.281_551_565_544_600_5)
                / mcse_quantile(&chains, 0.9).expect("well-shaped chains"),
        ];
        for (sum, error) in squares.iter_mut().zip(errors) {
            *sum += error * error / replicates as f64;
        }
    }
    println!("mean square of error over standard error: {squares:?}");
    // A mean of 1000 chi-squares has sd 0.045; the errors of the standard errors add to it.
    // Quantiles have three times the budget: their standard error is the distance between two
    // draws.
    for (mean_square, budget) in squares.into_iter().zip([0.05, 0.05, 0.15]) {
        assert!((mean_square - 1.0_f64).abs() < 5.0 * 0.045 + budget, "{squares:?}");
    }
}

//! The exported fit against the posterior mean by quadrature, natively.

use ridgewalk_wasm::{HOURS, PASSED, PRIOR_SCALE, ridgewalk_posterior_mean};

/// Posterior means and standard deviations of intercept and slope by the trapezoidal rule, on a
/// grid wide enough that the prior alone is below 1e-10 at its edges.
fn by_quadrature() -> [(f64, f64); 2] {
    let (points, edge) = (601, 7.0 * PRIOR_SCALE);
    let at = |k: usize| edge * (2.0 * k as f64 / (points - 1) as f64 - 1.0);
    let (mut total, mut first, mut second) = (0.0, [0.0; 2], [0.0; 2]);
    for i in 0..points {
        for j in 0..points {
            let theta = [at(i), at(j)];
            let prior = (theta[0].powi(2) + theta[1].powi(2)) / (2.0 * PRIOR_SCALE.powi(2));
            let likelihood: f64 = HOURS
                .iter()
                .zip(PASSED)
                .map(|(hours, passed)| {
                    let z = theta[0] + theta[1] * hours;
                    // log(1 + e^z) - y z, without overflow.
                    z.max(0.0) + (-z.abs()).exp().ln_1p() - passed * z
                })
                .sum();
            let weight = (-prior - likelihood).exp();
            total += weight;
            for k in 0..2 {
                first[k] += weight * theta[k];
                second[k] += weight * theta[k].powi(2);
            }
        }
    }
    [0, 1].map(|k| {
        let mean = first[k] / total;
        (mean, (second[k] / total - mean * mean).sqrt())
    })
}

/// The bias of the warm-up is within 0.05 standard deviations, and the Monte Carlo error of these
/// many draws well below that.
#[test]
fn posterior_means_agree_with_quadrature() {
    for (coefficient, (mean, sd)) in (0..2).zip(by_quadrature()) {
        let fitted = ridgewalk_posterior_mean(1, 4000, coefficient);
        assert!((fitted - mean).abs() < 0.1 * sd, "{coefficient}: {fitted}, {mean} ± {sd}");
    }
}

#[test]
fn a_coefficient_that_does_not_exist_is_nan() {
    assert!(ridgewalk_posterior_mean(1, 10, 2).is_nan());
}

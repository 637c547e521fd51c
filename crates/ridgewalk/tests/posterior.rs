//! A small logistic posterior sampled as a user would, against its means by a grid.

use ridgewalk::coefficients::Parameters;
use ridgewalk::prelude::*;
use ridgewalk::sampler::{Symmetric, ThirdOrder};

const HOURS: [f64; 12] = [0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
const PASSED: [f64; 12] = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];

/// Means and standard deviations of intercept and slope, by the trapezoidal rule, from a density
/// written out once more.
fn by_grid() -> [(f64, f64); 2] {
    let mut sums = [0.0; 5];
    for i in -300..300 {
        for j in -300..300 {
            let (a, b) = (-2.5 + 0.05 * f64::from(i), 1.0 + 0.02 * f64::from(j));
            let log_likelihood: f64 = HOURS
                .iter()
                .zip(PASSED)
                .map(|(h, y)| {
                    let s = (2.0 * y - 1.0) * (a + b * h);
                    -(-s).exp().ln_1p()
                })
                .sum();
            let density = (log_likelihood - (a * a + b * b) / (2.0 * 2.5 * 2.5)).exp();
            for (sum, value) in sums.iter_mut().zip([1.0, a, a * a, b, b * b]) {
                *sum += density * value;
            }
        }
    }
    let moments = |first: f64, second: f64| {
        let mean = first / sums[0];
        (mean, (second / sums[0] - mean * mean).sqrt())
    };
    [moments(sums[1], sums[2]), moments(sums[3], sums[4])]
}

#[test]
fn means_agree_with_the_grid() {
    let design = Dense::new(12, 1, HOURS.to_vec()).unwrap().with_intercept();
    let posterior = Ridge::new(design, Logistic, &PASSED, Prior::centred(2, 2.5).unwrap()).unwrap();
    let parameters = Parameters::new(0.6, 2.0, 0.3).unwrap();
    let kernels: [&dyn Kernel; 2] =
        [&ThirdOrder::new(parameters, 40.0).unwrap(), &Symmetric::new(parameters, 40.0).unwrap()];
    let exact = by_grid();
    for kernel in kernels {
        let mut draws = Draws::default();
        let chains = 64;
        let run = Sampler::new(&posterior, kernel)
            .chains(chains)
            .seed(5)
            .warm_up(2000)
            .thin(20)
            .draws(1000)
            .run(&mut draws);
        assert!(run.unwrap().complete());
        for (coefficient, (mean, sd)) in exact.into_iter().enumerate() {
            let means: Vec<f64> = (0..chains)
                .map(|chain| draws.trace(chain, coefficient).iter().sum::<f64>() / 1000.0)
                .collect();
            let all = means.iter().sum::<f64>() / chains as f64;
            let spread = means.iter().map(|m| (m - all).powi(2)).sum::<f64>() / (chains - 1) as f64;
            let error = (spread / chains as f64).sqrt();
            println!(
                "{} {coefficient}: {all:.4} +- {error:.4}, exactly {mean:.4}, sd {sd:.4}",
                kernel.name()
            );
            // Five standard errors, of independent chains (false alarm 5e-6 each), and 2 % of a
            // standard deviation for the kernel's bias.
            assert!((all - mean).abs() < 5.0 * error + 0.02 * sd);
            assert!(error < 0.02 * sd, "too few draws to tell");
        }
    }
}

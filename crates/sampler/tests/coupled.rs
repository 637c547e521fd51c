//! Differences of moments between step sizes, measured with coupled chains: against exact laws, and against posteriors known from elsewhere.

mod common;

use common::Quadratic;
use ridgewalk_lyapunov::laws::{Kernel, Scheme};
use ridgewalk_sampler::{CoupledChains, Error};

/// The stationary variance of θ, in units of 1/L, of a step on a Gaussian with eigenvalue l.
fn variance(scheme: &Scheme, l: f64) -> f64 {
    scheme.linear_form(l).unwrap().stationary().unwrap()[0][0]
}

#[test]
fn differences_of_variances_are_those_of_the_exact_laws() {
    // 6 kernels with parameters, 3 eigenvalues: 18 means and 18 variances. With 64 chains and 60 blocks errors are known to a few per
    // cent, so that 5 standard errors have a false-alarm rate below 1e-5 in total.
    let smoothness = 4.0;
    let curvature = vec![4.0, 2.0, 0.8];
    let target = Quadratic { curvature: curvature.clone() };
    for (kernel, gamma, xi, eta) in [
        (Kernel::ThirdOrder, 1.2, 2.0, 0.4),
        (Kernel::ThirdOrder, 1.2, 2.0, 0.8),
        (Kernel::ThirdOrder, 0.8, 3.0, 1.2),
        (Kernel::Symmetric, 1.0, 2.0, 1.2),
        (Kernel::Averaged, 1.2, 2.0, 0.6),
        (Kernel::Averaged, 1.5, 3.0, 1.2),
    ] {
        let scheme = Scheme::new(kernel, gamma, xi, eta).unwrap();
        let half = Scheme::new(kernel, gamma, xi, 0.5 * eta).unwrap();
        let mut chains = CoupledChains::new(&target, &scheme, smoothness, 3, &[0.0; 3 * 64]).unwrap();
        chains.advance(100).unwrap();
        let found = chains.measure(480).unwrap();
        assert_eq!(chains.gradients(), 64 * (580 * 3) + if kernel == Kernel::Symmetric { 2 * 64 } else { 0 });
        for (difference, c) in found.iter().zip(&curvature) {
            let l = c / smoothness;
            let exact = (variance(&scheme, l) - variance(&half, l)) / smoothness;
            let scores = [
                difference.mean / difference.mean_error,
                (difference.variance - exact) / difference.variance_error,
                (difference.sd.powi(2) * c / (variance(&half, l) * l) - 1.0) / 0.05,
            ];
            println!("{kernel:?} {eta} {l}: exact {exact:.3e}, {difference:.5?}, z {scores:.2?}");
            assert!(
                scores.iter().all(|z| z.abs() < 5.0),
                "{kernel:?}, {eta}, {l}: {difference:?}, {exact}, {scores:?}"
            );
        }
        // As many independent draws as there are steps would tell a difference of variances to 0.8 %, and these are not independent.
        assert!(found.iter().all(|f| f.variance_error < 0.01 * f.sd.powi(2)), "{found:?}");
    }
}

#[test]
fn a_difference_that_is_there_is_seen() {
    // The same comparison with a wrong law, that of a step 10 % longer, must fail.
    let target = Quadratic { curvature: vec![1.0] };
    let at = |eta: f64| Scheme::third_order(1.2, 2.0, eta).unwrap();
    let mut chains = CoupledChains::new(&target, &at(0.8), 1.0, 3, &[0.0; 64]).unwrap();
    chains.advance(100).unwrap();
    let found = chains.measure(480).unwrap()[0];
    let wrong = variance(&at(0.88), 1.0) - variance(&at(0.44), 1.0);
    assert!(((found.variance - wrong) / found.variance_error).abs() > 5.0, "{found:?}, {wrong}");
}

#[test]
fn the_run_depends_on_the_seed_alone() {
    let target = Quadratic { curvature: vec![1.0, 0.3] };
    let scheme = Scheme::symmetric(1.0, 2.0, 1.0).unwrap();
    let run = |seed, chains: usize| {
        let mut pairs = CoupledChains::new(&target, &scheme, 1.0, seed, &vec![0.5; 2 * chains]).unwrap();
        pairs.advance(10).unwrap();
        (pairs.coarse().theta()[..2].to_vec(), pairs.fine().theta()[..2].to_vec())
    };
    assert_eq!(run(1, 3), run(1, 8));
    assert_ne!(run(1, 3), run(2, 3));
}

#[test]
fn too_long_a_step_is_a_divergence_and_bad_questions_are_errors() {
    let target = Quadratic { curvature: vec![1.0] };
    let scheme = Scheme::symmetric(1.0, 2.0, 5.0).unwrap();
    let mut chains = CoupledChains::new(&target, &scheme, 1.0, 1, &[1.0; 4]).unwrap();
    let found = chains.measure(4000).unwrap();
    assert!(chains.diverged() && found[0].mean.is_nan());
    let new = |scheme: Scheme, starts: &[f64]| {
        CoupledChains::new(&target, &scheme, 1.0, 1, starts).map(drop).unwrap_err()
    };
    assert_eq!(
        new(Scheme::ula(0.1).unwrap(), &[0.0]).to_string(),
        "no coupling of step sizes for the kernel `ula`"
    );
    assert!(matches!(new(Scheme::symmetric(1.0, 2.0, 0.5).unwrap(), &[]), Error::Zero { name: "chains" }));
    let mut one =
        CoupledChains::new(&target, &Scheme::symmetric(1.0, 2.0, 0.5).unwrap(), 1.0, 1, &[0.0]).unwrap();
    assert_eq!(one.measure(8).unwrap_err().to_string(), "1 blocks of steps: need at least 2");
}

#[test]
fn standard_errors_are_what_the_spread_over_seeds_says() {
    // Eight pairs, as a warm-up has them: scores of 200 runs in two coordinates, with the exact law as truth. Their mean square is 1 for
    // honest errors; under that, its own standard deviation is about 0.08 (a little more for so few blocks), and 0.6 to 1.5 is far outside.
    let target = Quadratic { curvature: vec![1.0, 0.5] };
    let (scheme, half) =
        (Scheme::third_order(1.2, 2.0, 0.8).unwrap(), Scheme::third_order(1.2, 2.0, 0.4).unwrap());
    let mut squares = Vec::new();
    for seed in 0..200 {
        let mut chains = CoupledChains::new(&target, &scheme, 1.0, seed, &[0.0; 2 * 8]).unwrap();
        chains.advance(30).unwrap();
        for (found, l) in chains.measure(48).unwrap().iter().zip([1.0, 0.5]) {
            let exact = variance(&scheme, l) - variance(&half, l);
            squares.push((found.mean / found.mean_error).powi(2));
            squares.push(((found.variance - exact) / found.variance_error).powi(2));
        }
    }
    let mean = squares.iter().sum::<f64>() / squares.len() as f64;
    println!("mean square of {} scores: {mean:.3}", squares.len());
    assert!((0.6..1.5).contains(&mean), "{mean}");
}

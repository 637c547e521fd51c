//! Densities that are 0 beyond a boundary: trajectories that leave the support are rejected, and the
//! draws have the exact moments. Kernels that do not reject end the chain and name the point.
//!
//! Means and standard deviations are compared within five of their Monte Carlo standard errors: a
//! false alarm has a probability of 6e-7 for each of the eight comparisons in this file.

use ridgewalk_coefficients::Parameters;
use ridgewalk_diagnostics::{Summary, summaries_of_table};
use ridgewalk_lyapunov::laws::{Drift, Trajectory};
use ridgewalk_potentials::{Chebyshev, FromValueFn, Gradient, GradientError};
use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
use ridgewalk_sampler::{Adjusted, Draws, Sampler, Ula, Why};

/// U and its slope.
type Function = fn(f64) -> (f64, f64);

/// The density exp(−U) on x > 0.
fn positive(function: Function) -> impl Gradient + Clone + Sync {
    FromValueFn::new(1, move |x: &[f64], g: &mut [f64]| {
        if x[0] <= 0.0 {
            return Err(GradientError::OutsideSupport);
        }
        let (value, slope) = function(x[0]);
        g[0] = slope;
        Ok(value)
    })
}

fn assert_moments(name: &str, draws: &Draws, mean: f64, sd: f64) {
    assert!(draws.tables().iter().all(|chain| chain.iter().all(|x| *x > 0.0)), "{name}");
    let summaries = summaries_of_table(&draws.tables(), 1).unwrap();
    let found: &Summary = &summaries[0];
    assert!((found.mean - mean).abs() < 5.0 * found.mcse_mean, "{name}: {found:?}, mean {mean}");
    assert!((found.sd - sd).abs() < 5.0 * found.mcse_sd, "{name}: {found:?}, sd {sd}");
    // Precise enough that a boundary treated wrongly (by reflection, or not at all) is found.
    assert!(found.mcse_mean < 0.02 * sd && found.mcse_sd < 0.02 * sd, "{name}: {found:?}");
}

#[test]
fn trajectories_that_leave_the_support_are_rejected() {
    let half_normal_mean = (2.0 / std::f64::consts::PI).sqrt();
    let cases: [(&str, Function, f64, f64); 3] = [
        ("exponential", |x| (x, 1.0), 1.0, 1.0),
        (
            "half-normal",
            |x| (0.5 * x * x, x),
            half_normal_mean,
            (1.0 - half_normal_mean * half_normal_mean).sqrt(),
        ),
        // Shape 3: U = x − 2 log x, mean 3 and variance 3.
        ("gamma", |x| (x - 2.0 * x.ln(), 1.0 - 2.0 / x), 3.0, 3_f64.sqrt()),
    ];
    for (name, function, mean, sd) in cases {
        let potential = Chebyshev::new(positive(function), 1).unwrap();
        let trajectory = Trajectory::new(3, Drift::Straight);
        let parameters = Parameters::new(1.0, 2.0, 0.5).unwrap();
        let kernel = Adjusted::new(parameters, trajectory, 1.0).unwrap();
        let mut draws = Draws::default();
        let outcome = Sampler::new(&potential, &kernel)
            .chains(4)
            .seed(11)
            .start(&[1.0])
            .warm_up(200)
            .draws(20_000)
            .run(&mut draws)
            .unwrap();
        assert!(outcome.complete(), "{name}");
        assert!(outcome.acceptance().divergences > 0, "{name}: the boundary was never met");
        assert_moments(name, &draws, mean, sd);
    }
}

#[test]
fn a_truncated_normal_goes_through_the_automatic_warm_up() {
    // N(1, 1) on x > 0, with λ = φ(1)/Φ(1): mean 1 + λ, variance 1 − λ − λ². The values of φ and Φ
    // are from tables.
    let lambda: f64 = 0.241_970_724_519_143_37 / 0.841_344_746_068_542_9;
    let target = positive(|x| (0.5 * (x - 1.0) * (x - 1.0), x - 1.0));
    let target = BlackBox::new(target, 3, &[4.0]).unwrap();
    let mut warm = WarmUp::new(&target).tolerance(0.0).seed(2).run().unwrap();
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(5000)).keep(&mut draws).unwrap();
    assert!(sampled.outcome.complete());
    assert_moments("truncated", &draws, 1.0 + lambda, (1.0 - lambda - lambda * lambda).sqrt());
}

#[test]
fn an_unadjusted_kernel_ends_the_chain_and_names_the_point() {
    let potential = Chebyshev::new(positive(|x| (x, 1.0)), 1).unwrap();
    let kernel = Ula::new(0.1, 1.0).unwrap();
    let outcome = Sampler::new(&potential, &kernel)
        .start(&[0.5])
        .draws(10_000)
        .run(&mut Draws::default())
        .unwrap();
    let (_, end) = outcome.ended().next().unwrap();
    assert!(matches!(&end.why, Why::OutsideSupport { point } if point[0] <= 0.0), "{end:?}");
}

#[test]
fn a_start_outside_the_support_is_reported_as_such() {
    let potential = Chebyshev::new(positive(|x| (x, 1.0)), 1).unwrap();
    let trajectory = Trajectory::new(2, Drift::Straight);
    let kernel = Adjusted::new(Parameters::new(1.0, 2.0, 0.5).unwrap(), trajectory, 1.0).unwrap();
    let outcome =
        Sampler::new(&potential, &kernel).start(&[-2.0]).run(&mut Draws::default()).unwrap();
    let (_, end) = outcome.ended().next().unwrap();
    assert_eq!(end.why, Why::OutsideSupport { point: vec![-2.0] });
    assert_eq!(end.why.to_string(), "the chain met a point where the density is 0: [-2.0]");
}

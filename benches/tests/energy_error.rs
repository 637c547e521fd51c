//! The energy error of leapfrog steps and the bias that it stands for, against algebra that does
//! not use the formulas, and against chains.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use ridgewalk::lyapunov::laws::Scheme;
use ridgewalk::potentials::Scratch;
use ridgewalk::sampler::automatic::Target;
use ridgewalk_benches::energy_error::skewed::Skewed;
use ridgewalk_benches::energy_error::tuner::{Adapted, adapt, run};
use ridgewalk_benches::energy_error::{
    LARGEST, chain_bound, energy_variance, step_on_normal, target_bound, variance_error,
};
use ridgewalk_benches::problems::{Density, LadderProblem, Problem};
use ridgewalk_benches::runs::{Bias, VarianceError};
use ridgewalk_gallery::{huber, reference};

type Matrix = [[f64; 2]; 2];

fn product(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[i][0] * b[0][j] + a[i][1] * b[1][j]))
}

/// The variance of the energy error over one step, from the step itself: for a quadratic form zᵀAz
/// of z ~ N(0, C) it is 2 tr(ACAC).
fn variance_by_matrices(eta: f64, l: f64) -> f64 {
    let half = [[1.0, 0.0], [-0.5 * eta * l, 1.0]];
    let step = product(&half, &product(&[[1.0, eta], [0.0, 1.0]], &half));
    let theta = Scheme::hmc(1, eta).unwrap().linear_form(l).unwrap().stationary().unwrap()[0][0];
    let energy = [[0.5 * l, 0.0], [0.0, 0.5]];
    let turned = [[step[0][0], step[1][0]], [step[0][1], step[1][1]]];
    let after = product(&turned, &product(&energy, &step));
    let change: Matrix =
        std::array::from_fn(|i| std::array::from_fn(|j| after[i][j] - energy[i][j]));
    let once = product(&change, &[[theta, 0.0], [0.0, 1.0]]);
    let twice = product(&once, &once);
    2.0 * (twice[0][0] + twice[1][1])
}

#[test]
fn the_variance_of_the_energy_error_follows_from_the_error_of_the_variance() {
    for l in [0.2, 1.0, 7.0_f64] {
        for x in [0.05, 0.4, 1.0, 1.6, 1.95_f64] {
            let eta = x / l.sqrt();
            let known =
                |steps| Scheme::hmc(steps, eta).unwrap().linear_form(l).unwrap().stationary();
            // The law of the chain does not depend on the number of steps, except where a
            // trajectory returns to its start.
            for steps in [1, 2, 5] {
                let Some(law) = known(steps) else { continue };
                let found = l * law[0][0] - 1.0;
                let b = variance_error(x);
                assert!((found / b - 1.0).abs() < 1e-9, "x {x}, {steps} steps: {found} and {b}");
            }
            let (found, exact) = (energy_variance(variance_error(x)), variance_by_matrices(eta, l));
            assert!((found / exact - 1.0).abs() < 1e-9, "x {x}: {found} and {exact}");
            let leading = x.powi(6) / 16.0;
            assert!(found > leading && found * (1.0 - 0.25 * x * x) < leading * (1.0 + 1e-12));
            assert!((step_on_normal(variance_error(x)) - x).abs() < 1e-12);
            assert!((target_bound(found) / variance_error(x) - 1.0).abs() < 1e-9);
            assert!((chain_bound(found) / (0.25 * x * x) - 1.0).abs() < 1e-9);
        }
    }
}

fn root_mean_square(list: &[f64]) -> f64 {
    (list.iter().map(|x| x * x).sum::<f64>() / list.len() as f64).sqrt()
}

/// The mean over coordinates of the variance of the energy error, and the errors of variances
/// relative to those of the chain and of the target.
fn of_spectrum(xs: &[f64]) -> (f64, f64, f64) {
    let bs: Vec<f64> = xs.iter().map(|x| variance_error(*x)).collect();
    let energy = bs.iter().map(|b| energy_variance(*b)).sum::<f64>() / bs.len() as f64;
    let chain: Vec<f64> = bs.iter().map(|b| b / (1.0 + b)).collect();
    (energy, root_mean_square(&chain), root_mean_square(&bs))
}

#[test]
fn no_spectrum_has_more_bias_than_its_energy_error_allows() {
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let (mut chain, mut target) = (0.0_f64, 0.0_f64);
    let safe = step_on_normal(LARGEST);
    for case in 0..20_000 {
        let d = random.random_range(1..40);
        // Spectra of all widths, every other one with no coordinate beyond the largest error.
        let most: f64 = if case % 2 == 0 { 1.999 } else { safe };
        let (high, width) =
            (most * random.random::<f64>(), 10_f64.powf(random.random_range(-3.0..1.0)));
        let xs: Vec<f64> = (0..d).map(|_| high * (-width * random.random::<f64>()).exp()).collect();
        let (energy, by_chain, by_target) = of_spectrum(&xs);
        chain = chain.max(by_chain / chain_bound(energy));
        if case % 2 == 1 {
            target = target.max(by_target / target_bound(energy));
        }
    }
    assert!(chain <= 1.0 + 1e-9 && target <= 1.0 + 1e-9, "{chain}, {target}");
    // Sharp: a constant of 4.1 instead of 4 would be refuted.
    let wrong = |energy: f64| chain_bound(4.0 / 4.1 * energy);
    let (energy, by_chain, _) = of_spectrum(&[0.3, 0.3, 0.3]);
    assert!(by_chain > wrong(energy) && chain > 0.999);
}

#[test]
fn one_coordinate_near_instability_among_many_escapes_the_bound_relative_to_the_target() {
    let mut xs = vec![0.1; 10_000];
    xs[0] = 1.9999;
    let (energy, by_chain, by_target) = of_spectrum(&xs);
    assert!(by_chain < chain_bound(energy));
    assert!(by_target > 2.0 * target_bound(energy), "{by_target} and {}", target_bound(energy));
    // Where the function stops to be convex in the square.
    let slope = |b: f64| (energy_variance(b + 1e-5) - energy_variance(b - 1e-5)) / (4e-5 * b);
    assert!(slope(LARGEST) > slope(LARGEST - 0.02) && slope(LARGEST) > slope(LARGEST + 0.02));
}

#[test]
fn the_step_that_is_found_has_the_bias_that_is_wanted_on_a_normal_target() {
    let problem = LadderProblem::new().unwrap();
    let (whitening, _) = problem.laplace().unwrap();
    let white = problem.target().whitened(&whitening).unwrap();
    for tolerance in [0.2, 0.05] {
        let Adapted { eta, measured, gradients, states } =
            adapt(&white, energy_variance(tolerance), 5).unwrap();
        let exact = step_on_normal(tolerance);
        // The last round has at least 40 · 8 · 2 energy errors, nearly normal in 100 dimensions:
        // the sixth root of their mean square has a relative sd of at most √(2/640)/6 = 0.93 %.
        // Five of them: a false alarm has a probability below 1e-5.
        assert!((eta / exact - 1.0).abs() < 0.047, "{eta} and {exact}");
        assert!((measured / energy_variance(tolerance)).ln().abs() < 1.0);
        // A target for the variance of the sd instead would be outside.
        assert!((step_on_normal(2.0 * tolerance) / exact - 1.0).abs() > 0.3);
        assert!(gradients % 8 == 0 && states.len() == 800);
        assert!(gradients < 8 * 80 * 12, "{gradients}");
    }
}

#[test]
fn a_run_by_energy_error_keeps_its_promise_and_counts_its_gradients() {
    let truth = reference("huber").unwrap();
    let (first, tuned) = run(&huber().unwrap(), 0.1, (1000, 1e4), 2).unwrap();
    let spent: u64 = tuned.gradients.iter().sum();
    assert!(first.warm_up.gradients > spent && spent > 1000, "{tuned:?}");
    let steps = u64::from(tuned.scheme.gradients_per_step());
    let draws = first.draws[0].len() as u64 / 6;
    assert_eq!(first.sampling.gradients, 8 * draws * steps);
    let figures = first.measured(6, None).unwrap();
    let error = VarianceError::of(std::slice::from_ref(&figures), &truth);
    // The posterior is nearly normal: variances are too large by the tolerance. Their relative
    // standard error is √(2/10,000), 1.4 %, or less in the mean over coordinates.
    assert!((error.rms - 0.1).abs() < 0.05, "{error:?}");
    assert!(Bias::of(&[figures], &truth).largest[1] < 0.09);
    let (tight, _) = run(&huber().unwrap(), 0.01, (1000, 1e4), 2).unwrap();
    let tight = VarianceError::of(&[tight.measured(6, None).unwrap()], &truth);
    assert!(tight.rms < 0.04, "{tight:?}");
}

#[test]
fn noise_is_taken_off_errors_of_variances_and_real_ones_stay() {
    let truth = reference("huber").unwrap();
    let (first, _) = run(&huber().unwrap(), 0.05, (200, 0.0), 1).unwrap();
    let mut figures = first.measured(6, None).unwrap();
    figures.sds = truth.sds.iter().map(|sd| [1.05 * sd, 1e-9]).collect();
    let error = VarianceError::of(std::slice::from_ref(&figures), &truth);
    assert!((error.rms - 0.1025).abs() < 0.002, "{error:?}");
    figures.sds = truth.sds.iter().map(|sd| [1.01 * sd, 0.02 * sd]).collect();
    let error = VarianceError::of(&[figures], &truth);
    assert!(error.rms == 0.0 && (error.noise - 0.04).abs() < 0.002, "{error:?}");
}

#[test]
fn draws_that_break_out_do_not_hide_an_error_of_variances() {
    let truth = reference("huber").unwrap();
    let (first, _) = run(&huber().unwrap(), 0.05, (200, 0.0), 1).unwrap();
    let mut figures = first.measured(6, None).unwrap();
    figures.ess = 1e4;
    figures.sds = truth.sds.iter().map(|sd| [1.2 * sd, 0.5 * sd]).collect();
    let error = VarianceError::of(&[figures], &truth);
    assert!(error.rms > 0.42 && error.noise < 0.025, "{error:?}");
}

#[test]
fn moments_of_skewed_targets_are_those_of_quadrature() {
    for shape in [0.3, 1.0, 20.0_f64] {
        let target = Skewed::new(shape).unwrap();
        // The trapezoidal rule on the whole line, from where both tails are below 1e-20.
        let (low, high, nodes) = (-50.0 / shape.min(1.0), 5.5, 400_000_u32);
        let mut sums = [0.0; 3];
        for k in 0..=nodes {
            let x = low + (high - low) * f64::from(k) / f64::from(nodes);
            let weight = (shape * x - x.exp()).exp();
            sums.iter_mut().zip([1.0, x, x * x]).for_each(|(sum, f)| *sum += weight * f);
        }
        let [mean, square] = [sums[1] / sums[0], sums[2] / sums[0]];
        let truth = target.reference();
        assert!((truth.means[0] - mean).abs() < 1e-9, "{shape}: {mean}");
        assert!((truth.sds[3].powi(2) - (square - mean * mean)).abs() < 1e-9, "{shape}");
        let mut gradient = [0.0; 10];
        let point = [0.3; 10];
        let both = |x: &[f64], g: &mut [f64]| {
            target.plain().value_and_gradient(x, g, &mut Scratch::default()).unwrap()
        };
        both(&point, &mut gradient);
        let difference =
            both(&[0.3 + 1e-5; 10], &mut [0.0; 10]) - both(&[0.3 - 1e-5; 10], &mut [0.0; 10]);
        assert!((difference / 2e-5 - gradient.iter().sum::<f64>()).abs() < 1e-4);
    }
}

#[test]
fn rare_excursions_from_a_steep_wall_escape_the_energy_error() {
    let problem = Skewed::new(0.3).unwrap();
    // How many values as low as the lowest a run should have at most: P(θ < −t) ≤ e^(−kt)/Γ(k + 1).
    let expected = |tolerance: f64, seed: u64| {
        // A chain that does not finish was thrown beyond the finite numbers.
        let Ok((run, tuned)) = run(&problem, tolerance, (1000, 3e4), seed) else { return 0.0 };
        // Seen by the energy error after all.
        if !(tuned.measured < 2.0 * energy_variance(tolerance)) {
            return f64::INFINITY;
        }
        // The chains begin in the bulk.
        assert!(tuned.states.iter().all(|z| z.abs() < 12.0), "{tuned:?}");
        let lowest = run.draws.iter().flatten().copied().fold(f64::INFINITY, f64::min);
        run.draws.iter().map(Vec::len).sum::<usize>() as f64 * (0.3 * lowest).exp() / 0.897
    };
    // They are rare: not every run has one.
    let loose = (1..=6).map(|seed| expected(0.1, seed)).fold(f64::INFINITY, f64::min);
    let tight = expected(0.02, 1);
    assert!(loose < 1e-6 && tight > 1e-3 && tight.is_finite(), "{loose} and {tight}");
}

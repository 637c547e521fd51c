//! Differences of moments between step sizes, measured with coupled chains: against exact laws, and
//! against posteriors known from elsewhere.

use crate::common::Quadratic;
use ridgewalk_figures::{Figures, Near};
use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_potentials::{Chebyshev, FromFn, Whitening};
use ridgewalk_sampler::{CoupledChains, Difference, Draws, Error, Quantity, Sampler, from_scheme};

/// The stationary variance of θ, in units of 1/L, of a step on a Gaussian with eigenvalue l.
fn variance(scheme: &Scheme, l: f64) -> f64 {
    scheme.linear_form(l).unwrap().stationary().unwrap()[0][0]
}

#[test]
fn differences_of_variances_are_those_of_the_exact_laws() {
    // 11 kernels with parameters, 3 eigenvalues: 33 means and 33 variances. With 64 chains and 60
    // blocks errors are known to a few per cent, so that 5 standard errors have a false-alarm rate
    // below 1e-4 in total.
    let smoothness = 4.0;
    let curvature = vec![4.0, 2.0, 0.8];
    let target = Quadratic { curvature: curvature.clone() };
    for (kernel, gamma, xi, eta) in [
        (KernelKind::ThirdOrder, 1.2, 2.0, 0.4),
        (KernelKind::ThirdOrder, 1.2, 2.0, 0.8),
        (KernelKind::ThirdOrder, 0.8, 3.0, 1.2),
        (KernelKind::Symmetric, 1.0, 2.0, 1.2),
        (KernelKind::Averaged, 1.2, 2.0, 0.6),
        (KernelKind::Averaged, 1.5, 3.0, 1.2),
        (KernelKind::Ula, 1.0, 1.0, 0.5),
        (KernelKind::Klmc, 1.0, 1.5, 0.3),
        (KernelKind::Ubu, 1.0, 1.5, 0.6),
        (KernelKind::Baoab, 1.0, 1.5, 0.6),
        (KernelKind::RandomizedMidpoint, 1.0, 1.5, 0.6),
        (KernelKind::Quicsort, 1.0, 1.5, 0.9),
        (KernelKind::Should, 1.0, 1.5, 0.9),
        (KernelKind::Align, 1.0, 1.5, 0.6),
        (KernelKind::Hmc, 1.0, 0.4, 0.5),
    ] {
        let scheme = Scheme::new(kernel, gamma, xi, eta).unwrap();
        let half = Scheme::new(kernel, gamma, xi, 0.5 * eta).unwrap();
        let mut chains =
            CoupledChains::new(&target, &scheme, smoothness, 3, &[0.0; 3 * 64]).unwrap();
        chains.advance(100).unwrap();
        let found = chains.measure(480).unwrap();
        let stored = matches!(
            kernel,
            KernelKind::Symmetric
                | KernelKind::Baoab
                | KernelKind::Should
                | KernelKind::Align
                | KernelKind::Hmc
        );
        let steps = 100 + 480_u64.div_ceil(chains.block()) * chains.block();
        let each = steps * 3 * u64::from(scheme.gradients_per_step()) + if stored { 2 } else { 0 };
        assert_eq!(chains.gradients(), 64 * each);
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
        // As many independent draws as there are steps would tell a difference of variances to 0.8
        // %, and these are not independent.
        assert!(found.iter().all(|f| f.variance_error < 0.01 * f.sd.powi(2)), "{found:?}");
    }
}

/// On a normal law a point moves in proportion to its distance from the mean, with twins and
/// without.
#[test]
fn shifts_of_quantiles_of_a_normal_law_are_those_of_its_variance() {
    let (scheme, half) =
        (Scheme::third_order(1.2, 2.0, 0.8).unwrap(), Scheme::third_order(1.2, 2.0, 0.4).unwrap());
    let target = Quadratic { curvature: vec![0.7, 1.3] };
    let whitening = Whitening::diagonal(&[3.0, -1.0], &[2.0, 0.5]).unwrap();
    for twins in [false, true] {
        let chains = CoupledChains::new(&target, &scheme, 1.0, 5, &[0.0; 2 * 64]).unwrap();
        let mut chains = if twins { chains.whitened(&whitening).unwrap() } else { chains };
        chains.drift(20.0).unwrap();
        let found = chains.measure(960).unwrap();
        for (k, (l, scale)) in [(0.7, 2.0), (1.3, 0.5)].into_iter().enumerate() {
            let scale = if twins { scale } else { 1.0 };
            let [sd, fine] = [&scheme, &half].map(|scheme| scale * variance(scheme, l).sqrt());
            for (shift, z) in found[k].quantiles.iter().zip([-1.644_853_6, 0.0, 1.644_853_6]) {
                // The point is z standard deviations of N(0, 1) away; the soft threshold there has
                // a slope that falls off on both sides, so that the shift is a mean around it.
                let need = z * scale * (sd - fine) / fine;
                let most = 5.0 * shift.error + 0.15 * need.abs();
                assert!((shift.value - need).abs() < most, "{k}, {z}, {twins}: {shift:?}, {need}");
            }
            // What is measured is large beside its error, so that the test could fail.
            assert!(found[k].quantiles[2].value.abs() > 8.0 * found[k].quantiles[2].error);
        }
    }
}

/// On a skewed law, against quantiles of long runs with both steps. Planted: mean and standard
/// deviation alone do not explain the 95 % quantile.
#[test]
fn shifts_of_quantiles_of_a_skewed_law_are_those_of_long_runs() {
    let gradient = |x: &[f64], g: &mut [f64]| {
        g[0] = 2.0 * ((0.5 * x[0]).exp() - 1.0);
        Ok(())
    };
    let target = Chebyshev::new(FromFn::new(1, gradient), 5).unwrap();
    let eta = 0.7;
    let scheme = Scheme::third_order(1.2, 2.0, eta).unwrap();
    let mut chains = CoupledChains::new(&target, &scheme, 1.0, 8, &[0.0; 64]).unwrap();
    chains.drift(20.0).unwrap();
    let found = chains.measure(16_000).unwrap()[0];
    let long = |eta: f64, steps: u64| {
        let kernel = from_scheme(&Scheme::third_order(1.2, 2.0, eta).unwrap(), 1.0).unwrap();
        let mut draws = Draws::default();
        let mut run = Sampler::new(&target, &*kernel).chains(64).seed(9).warm_up(100);
        run = run.thin(steps).draws(30_000);
        run.run(&mut draws).unwrap();
        let mut all: Vec<f64> = (0..64).flat_map(|chain| draws.trace(chain, 0)).collect();
        all.sort_by(f64::total_cmp);
        [1, 10, 19].map(|p| all[p * all.len() / 20])
    };
    let (coarse, fine) = (long(eta, 2), long(0.5 * eta, 4));
    println!("{found:?}, {coarse:?}, {fine:?}");
    for p in 0..3 {
        let (shift, need) = (found.quantiles[p], coarse[p] - fine[p]);
        // 1.9 million draws: quantiles are known to some 0.003 standard deviations. The points are
        // not exactly at the quantiles of this law, and a soft threshold sees what is near.
        let most = 0.01 + 0.25 * need.abs() + 5.0 * shift.error;
        assert!((shift.value - need).abs() < most, "{p}: {shift:?}, {need}");
    }
    let alone = found.mean + 1.645 * found.variance / (2.0 * found.sd);
    let need = coarse[2] - fine[2];
    assert!((alone - need).abs() > 0.01 + 0.25 * need.abs(), "{alone} for {need}");
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
        let mut pairs =
            CoupledChains::new(&target, &scheme, 1.0, seed, &vec![0.5; 2 * chains]).unwrap();
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
    assert!(matches!(
        new(Scheme::symmetric(1.0, 2.0, 0.5).unwrap(), &[]),
        Error::Zero { what: Quantity::Chains }
    ));
    let mut one =
        CoupledChains::new(&target, &Scheme::symmetric(1.0, 2.0, 0.5).unwrap(), 1.0, 1, &[0.0])
            .unwrap();
    assert_eq!(one.measure(8).unwrap_err().to_string(), "1 blocks of steps: need at least 2");
}

#[test]
fn standard_errors_are_what_the_spread_over_seeds_says() {
    // Eight pairs, as a warm-up has them: scores of 200 runs in two coordinates, with the exact law
    // as truth. Their mean square is 1 for honest errors; under that, its own standard deviation is
    // about 0.08 (a little more for so few blocks), and 0.6 to 1.5 is far outside.
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

/// Coordinates of two dimensions that are neither round nor upright.
fn slanted() -> Whitening {
    Whitening::from_covariance(&[5.0, -1.0], &[4.0, 1.5, 1.5, 1.0]).unwrap()
}

/// Eight pairs, as a warm-up has them, on a quadratic of these curvatures in whitened coordinates,
/// with twins or without.
fn short_run(
    scheme: &Scheme, curvature: [f64; 2], whitening: Option<&Whitening>, seed: u64,
) -> Vec<Difference> {
    let target = Quadratic { curvature: curvature.to_vec() };
    let mut chains = CoupledChains::new(&target, scheme, 1.0, seed, &[0.3; 2 * 8]).unwrap();
    if let Some(whitening) = whitening {
        chains = chains.whitened(whitening).unwrap();
    }
    chains.drift(12.0).unwrap();
    chains.measure(48).unwrap()
}

#[test]
fn where_the_target_is_its_own_twin_nothing_is_left_to_chance() {
    let whitening = slanted();
    for (kernel, eta) in [
        (KernelKind::ThirdOrder, 0.4),
        (KernelKind::ThirdOrder, 1.0),
        (KernelKind::Symmetric, 1.2),
        (KernelKind::Averaged, 0.8),
    ] {
        let scheme = Scheme::new(kernel, 1.2, 2.0, eta).unwrap();
        let half = Scheme::new(kernel, 1.2, 2.0, 0.5 * eta).unwrap();
        let excess = variance(&scheme, 1.0) - variance(&half, 1.0);
        let found = short_run(&scheme, [1.0; 2], Some(&whitening), 5);
        for (found, spread) in found.iter().zip(whitening.variances()) {
            assert!(found.mean.abs() < 1e-12 && found.mean_error < 1e-12, "{kernel:?}: {found:?}");
            assert!(
                (found.variance - excess * spread).abs() < 1e-12,
                "{kernel:?}: {found:?}, {excess}"
            );
            assert!(found.variance_error < 1e-12, "{kernel:?}: {found:?}");
        }
        // The excess is there to be found: a few per cent for the third-order kernel, none for the
        // others where the curvature is 1.
        assert_eq!(excess.abs() > 1e-3, kernel == KernelKind::ThirdOrder, "{kernel:?}: {excess}");
    }
}

/// Scores of 200 runs against the exact law, for means and for variances, and their standard errors
/// in units of the sd.
struct Scores {
    squares: f64,
    mean: f64,
    errors: [f64; 2],
}

fn scores(scheme: &Scheme, curvature: [f64; 2], twins: bool) -> Scores {
    // Axes stay what they are, so that the exact law of each coordinate is that of its curvature.
    let scales = [3.0, 0.2];
    let whitening = Whitening::diagonal(&[1.0, 2.0], &scales).unwrap();
    let half = Scheme::new(scheme.kernel(), 1.2, 2.0, 0.5 * scheme.eta()).unwrap();
    let (mut list, mut errors) = (Vec::new(), [0.0; 2]);
    for seed in 0..200 {
        let found = short_run(scheme, curvature, twins.then_some(&whitening), seed);
        for ((found, l), scale) in
            found.iter().zip(curvature).zip(if twins { scales } else { [1.0; 2] })
        {
            let exact = (variance(scheme, l) - variance(&half, l)) * scale * scale;
            list.push(found.mean / found.mean_error);
            list.push((found.variance - exact) / found.variance_error);
            errors[0] += found.mean_error / found.sd / 400.0;
            errors[1] += found.variance_error / (found.sd * found.sd) / 400.0;
        }
    }
    let count = list.len() as f64;
    let mean = |of: &dyn Fn(f64) -> f64| list.iter().map(|z| of(*z)).sum::<f64>() / count;
    Scores { squares: mean(&|z| z * z), mean: mean(&|z| z) * count.sqrt(), errors }
}

#[test]
fn twins_leave_the_differences_as_they_are_and_their_errors_honest_and_smaller() {
    // As without twins: the mean square of 800 scores has a standard deviation of 0.08, their mean
    // times √800 one of about 1. Beyond 5 of these a false alarm over the three cases has a
    // probability below 1e-5.
    let test = "::twins_leave_the_differences_as_they_are_and_their_errors_honest_and_smaller";
    let mut figures = Figures::of("sampler", &[file!(), test].concat());
    for (kernel, eta) in
        [(KernelKind::ThirdOrder, 0.6), (KernelKind::Averaged, 0.8), (KernelKind::Symmetric, 1.2)]
    {
        let scheme = Scheme::new(kernel, 1.2, 2.0, eta).unwrap();
        let curvature = [0.8, 1.2];
        let (with, without) = (scores(&scheme, curvature, true), scores(&scheme, curvature, false));
        println!(
            "{kernel:?}: mean square {:.3} (without twins {:.3}), mean {:.2}, errors {:.5?} (without {:.5?})",
            with.squares, without.squares, with.mean, with.errors, without.errors
        );
        assert!((0.6..1.5).contains(&with.squares), "{kernel:?}: {}", with.squares);
        assert!(with.mean.abs() < 5.0, "{kernel:?}: {}", with.mean);
        for ((with, without), of) in
            with.errors.iter().zip(without.errors).zip(["means", "variances"])
        {
            assert!(*with < 0.7 * without, "{kernel:?}: {with} beside {without}");
            figures.add(
                kernel.name(),
                &format!("standard errors of {of} of those without twins"),
                with / without,
            );
        }
    }
    figures.hold(Near::Same);
}

//! Changes that must not affect a diagnostic: the order of chains, unit and origin, and the way it
//! is computed.

use proptest::prelude::*;
use ridgewalk_diagnostics::{
    Summarizer, Summary, ess_moments, mcse_quantile, quantile, summaries, summaries_of_table,
};

use crate::common::{ar1, generator, mapped, slices};

fn of(chains: &[Vec<f64>]) -> Summary {
    Summary::of(&slices(chains)).expect("well-shaped chains")
}

/// Equal up to a relative tolerance; NaN equals NaN.
fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a.is_nan() && b.is_nan()) || (a - b).abs() <= tolerance * b.abs()
}

fn sizes(s: &Summary) -> [f64; 5] {
    [s.rhat, s.ess_bulk, s.ess_tail, s.ess_mean, s.ess_sd]
}

fn spreads(s: &Summary) -> [f64; 3] {
    [s.sd, s.mcse_mean, s.mcse_sd]
}

proptest! {
    #[test]
    fn order_of_chains(seed in 0u64..1_000_000, chains in 1usize..7, draws in 4usize..200, phi in -0.9..0.95) {
        let sample = ar1(&mut generator(seed), chains, draws, phi);
        let mut turned = sample.clone();
        turned.rotate_left(chains / 2);
        turned.swap(0, chains - 1);
        let (a, b) = (of(&sample), of(&turned));
        prop_assert_eq!([a.q05, a.q50, a.q95], [b.q05, b.q50, b.q95]);
        for (x, y) in sizes(&a).into_iter().chain(spreads(&a)).zip(sizes(&b).into_iter().chain(spreads(&b))) {
            prop_assert!(close(x, y, 1e-10), "{} {}", x, y);
        }
    }

    #[test]
    fn unit_and_origin(
        seed in 0u64..1_000_000, chains in 1usize..5, draws in 4usize..150,
        origin in -100.0..100.0f64, unit in 0.01..100.0f64,
    ) {
        let sample = ar1(&mut generator(seed), chains, draws, 0.4);
        let image = mapped(&sample, |x| origin + unit * x);
        let (a, b) = (of(&sample), of(&image));
        // Rounding at the scale of the origin, at worst 1e4 times that of the draws.
        for (x, y) in sizes(&a).into_iter().zip(sizes(&b)).skip(1) {
            prop_assert!(close(x, y, 1e-8), "{} {}", x, y);
        }
        // The two draws next to the median are equally far from it up to rounding. As in ArviZ,
        // rounding decides the ranks of their distances, and with them R-hat.
        prop_assert!(close(a.rhat, b.rhat, 2.0 / (chains * draws) as f64), "{} {}", a.rhat, b.rhat);
        for (x, y) in spreads(&a).into_iter().zip(spreads(&b)) {
            prop_assert!(close(unit * x, y, 1e-8), "{} {}", x, y);
        }
        for (x, y) in [(a.mean, b.mean), (a.q05, b.q05), (a.q50, b.q50), (a.q95, b.q95)] {
            prop_assert!((origin + unit * x - y).abs() < 1e-10 * (1.0 + origin.abs() + unit));
        }
    }

    /// Multiplication by powers of two is exact: every bit must agree.
    #[test]
    fn powers_of_two(seed in 0u64..1_000_000, chains in 1usize..5, draws in 4usize..150, power in -40i32..40) {
        let unit = 2.0f64.powi(power);
        let sample = ar1(&mut generator(seed), chains, draws, 0.4);
        let image = mapped(&sample, |x| unit * x);
        let (a, b) = (of(&sample), of(&image));
        prop_assert_eq!(sizes(&a).map(f64::to_bits), sizes(&b).map(f64::to_bits));
        prop_assert_eq!(spreads(&a).map(|x| x * unit), spreads(&b));
        let error = |chains: &[Vec<f64>]| mcse_quantile(&slices(chains), 0.2).expect("well-shaped chains");
        prop_assert_eq!(error(&sample) * unit, error(&image));
    }

    #[test]
    fn reflection(seed in 0u64..1_000_000, chains in 2usize..5, draws in 4usize..150) {
        let sample = ar1(&mut generator(seed), chains, draws, 0.4);
        let (a, b) = (of(&sample), of(&mapped(&sample, |x| -x)));
        for (x, y) in [(a.rhat, b.rhat), (a.ess_bulk, b.ess_bulk), (a.ess_mean, b.ess_mean), (a.ess_sd, b.ess_sd)] {
            prop_assert!(close(x, y, 1e-10), "{} {}", x, y);
        }
        prop_assert!(close(a.q05, -b.q95, 1e-12));
    }

    /// Quantiles increase and stay within the draws.
    #[test]
    fn quantiles_increase(seed in 0u64..1_000_000, draws in 1usize..60, p in 0.0..=1.0f64, q in 0.0..=1.0f64) {
        let sample = ar1(&mut generator(seed), 2, draws, 0.4);
        let at = |p| quantile(&slices(&sample), p).expect("well-shaped chains");
        prop_assert!(at(p.min(q)) <= at(p.max(q)));
        prop_assert!(at(0.0) <= at(p) && at(p) <= at(1.0));
    }
}

/// Nothing is lost far from zero: draws on a grid of 2^-20 can be shifted by 1e9 without rounding,
/// and the diagnostics do not change.
#[test]
fn far_from_zero() {
    let grid = 2.0_f64.powi(20);
    let sample = mapped(&ar1(&mut generator(5), 4, 501, 0.6), |x| (x * grid).round() / grid);
    let (a, b) = (of(&sample), of(&mapped(&sample, |x| x + 1e9)));
    assert_eq!((a.ess_bulk, a.rhat), (b.ess_bulk, b.rhat));
    for (x, y) in
        sizes(&a).into_iter().chain(spreads(&a)).zip(sizes(&b).into_iter().chain(spreads(&b)))
    {
        assert!(close(x, y, 1e-12), "{x} {y}");
    }
}

/// Many parameters in pools of one, two and three threads and as columns of tables agree with one
/// by one.
#[test]
fn many_are_as_each_alone() {
    let (parameters, draws) = (23, 61);
    let columns: Vec<Vec<Vec<f64>>> = (0..parameters)
        .map(|i| ar1(&mut generator(i as u64), 3, draws, 0.1 * (i % 9) as f64))
        .collect();
    let alone: Vec<Summary> = columns.iter().map(|chains| of(chains)).collect();

    let borrowed: Vec<Vec<&[f64]>> = columns.iter().map(|chains| slices(chains)).collect();
    let nested: Vec<&[&[f64]]> = borrowed.iter().map(Vec::as_slice).collect();
    let tables: Vec<Vec<f64>> = (0..3)
        .map(|c| (0..draws).flat_map(|t| columns.iter().map(move |column| column[c][t])).collect())
        .collect();
    for threads in [1, 2, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("pool");
        assert_eq!(pool.install(|| summaries(&nested)).as_ref(), Ok(&alone));
        assert_eq!(
            pool.install(|| summaries_of_table(&slices(&tables), parameters)).as_ref(),
            Ok(&alone)
        );
    }
}

/// A workspace that has seen other shapes gives the same bits as a fresh one.
#[test]
fn a_used_workspace_is_as_a_fresh_one() {
    let mut workspace = Summarizer::new();
    for (i, (chains, draws)) in
        [(4, 100), (2, 7), (4, 100), (1, 50), (2, 100), (8, 50)].into_iter().enumerate()
    {
        let sample = ar1(&mut generator(i as u64), chains, draws, 0.5);
        let (used, fresh) =
            (workspace.summary(&slices(&sample)).expect("well-shaped chains"), of(&sample));
        assert_eq!(sizes(&used).map(f64::to_bits), sizes(&fresh).map(f64::to_bits));
        assert_eq!(workspace.ess_moments(&slices(&sample)), ess_moments(&slices(&sample)));
    }
}

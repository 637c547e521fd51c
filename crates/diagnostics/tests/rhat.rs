//! R-hat against a plain implementation of its definition, and what wrong variants would miss.

use ridgewalk_diagnostics::{ess_bulk, ess_tail, rhat};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::common::{ar1, generator, mapped, slices};

/// Normal scores by counting: the rank is the number of smaller draws plus half the equal ones.
fn scores(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let all: Vec<f64> = chains.concat();
    mapped(chains, |x| {
        let smaller = all.iter().filter(|&&y| y < x).count() as f64;
        let equal = all.iter().filter(|&&y| y == x).count() as f64;
        let rank = smaller + (equal + 1.0) / 2.0;
        Normal::standard().inverse_cdf((rank - 0.375) / (all.len() as f64 + 0.25))
    })
}

fn plain(chains: &[Vec<f64>]) -> f64 {
    let n = chains[0].len() as f64;
    let m = chains.len() as f64;
    let means: Vec<f64> = chains.iter().map(|chain| chain.iter().sum::<f64>() / n).collect();
    let center = means.iter().sum::<f64>() / m;
    let between = n * means.iter().map(|x| (x - center).powi(2)).sum::<f64>() / (m - 1.0);
    let within = chains
        .iter()
        .zip(&means)
        .map(|(chain, mean)| chain.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0))
        .sum::<f64>()
        / m;
    (((n - 1.0) / n * within + between / n) / within).sqrt()
}

fn folded(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut all: Vec<f64> = chains.concat();
    all.sort_by(f64::total_cmp);
    let median = (all[(all.len() - 1) / 2] + all[all.len() / 2]) / 2.0;
    mapped(chains, |x| (x - median).abs())
}

fn split(chains: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let half = chains[0].len() / 2;
    chains
        .iter()
        .flat_map(|chain| [chain[..half].to_vec(), chain[chain.len() - half..].to_vec()])
        .collect()
}

/// R-hat by its definition, optionally without splitting chains into halves.
fn by_definition(chains: &[Vec<f64>], cut: bool) -> f64 {
    let chains = if cut { split(chains) } else { chains.to_vec() };
    plain(&scores(&chains)).max(plain(&scores(&folded(&chains))))
}

/// Four chains that drift upwards in the same way: they agree with each other, but not with
/// themselves.
fn drifting() -> Vec<Vec<f64>> {
    let mut chains = ar1(&mut generator(7), 4, 300, 0.2);
    for chain in &mut chains {
        for (t, x) in chain.iter_mut().enumerate() {
            *x += 3.0 * (t as f64 / 300.0 - 0.5);
        }
    }
    chains
}

#[test]
fn equals_its_definition() {
    for (i, draws) in [4usize, 5, 30, 101].into_iter().enumerate() {
        let mut chains = ar1(&mut generator(i as u64), 3, draws, 0.4);
        let tied = mapped(&chains, f64::round);
        for x in &mut chains[1] {
            *x *= 2.0;
        }
        for chains in [&chains, &tied] {
            let (got, want) =
                (rhat(&slices(chains)).expect("well-shaped"), by_definition(chains, true));
            assert!((got - want).abs() < 1e-12 * want, "{draws} draws: {got} {want}");
        }
    }
}

#[test]
fn drift_is_seen_because_chains_are_cut() {
    let chains = drifting();
    let got = rhat(&slices(&chains)).expect("well-shaped");
    assert!(got > 1.2, "{got}");
    assert!((got - by_definition(&chains, true)).abs() < 1e-12);
    // The planted error: without splitting, the chains seem to agree.
    let whole = by_definition(&chains, false);
    assert!(whole < 1.01, "{whole}");
}

#[test]
fn a_difference_in_scale_is_seen_because_draws_are_folded() {
    let mut chains = ar1(&mut generator(8), 4, 500, 0.2);
    for x in &mut chains[0] {
        *x *= 5.0;
    }
    let got = rhat(&slices(&chains)).expect("well-shaped");
    let unfolded = plain(&scores(&split(&chains)));
    assert!(got > 1.1 && unfolded < 1.02, "{got} {unfolded}");
}

/// Ranks do not change under an increasing map, and neither do bulk and tail ESS, nor R-hat if the
/// bulk determines it.
#[test]
fn increasing_maps_change_nothing() {
    let chains = drifting();
    let before = slices(&chains);
    for f in [f64::exp, |x: f64| x * x * x, f64::atan] {
        let image = mapped(&chains, f);
        let after = slices(&image);
        assert_eq!(rhat(&before), rhat(&after));
        assert_eq!(ess_bulk(&before), ess_bulk(&after));
        assert_eq!(ess_tail(&before), ess_tail(&after));
    }
    // Not so for a map that is not monotone.
    let image = mapped(&chains, |x| x * x);
    assert_ne!(rhat(&before), rhat(&slices(&image)));
}

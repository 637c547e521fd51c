//! Chains for tests: autoregressive Gaussian draws with known autocorrelation.

pub(crate) mod psis;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// The generator of a seed.
pub(crate) fn generator(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Stationary chains of unit variance whose autocorrelation at lag t is phi^t.
pub(crate) fn ar1(rng: &mut ChaCha8Rng, chains: usize, draws: usize, phi: f64) -> Vec<Vec<f64>> {
    let mut normal = || -> f64 { StandardNormal.sample(rng) };
    let step = (1.0 - phi * phi).sqrt();
    (0..chains)
        .map(|_| {
            let mut x = normal();
            (0..draws)
                .map(|_| {
                    let now = x;
                    x = phi * x + step * normal();
                    now
                })
                .collect()
        })
        .collect()
}

/// The chains as slices, as the functions take them.
pub(crate) fn slices(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    chains.iter().map(Vec::as_slice).collect()
}

/// Applies `f` to every draw.
pub(crate) fn mapped(chains: &[Vec<f64>], f: impl Fn(f64) -> f64) -> Vec<Vec<f64>> {
    chains.iter().map(|chain| chain.iter().map(|&x| f(x)).collect()).collect()
}

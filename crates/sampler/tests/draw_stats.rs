//! Statistics of single draws: what they are, against the states and proposals of the chains, and
//! that a run that goes on has those of one that was never interrupted.

use std::time::Duration;

use ridgewalk_lyapunov::laws::{Drift, KernelKind};
use ridgewalk_potentials::{Chebyshev, FromValueFn, GradientError, LineIntegral};
use ridgewalk_sampler::automatic::{BlackBox, Length, Wanted, WarmUp};
use ridgewalk_sampler::{
    DrawStats, Draws, Kernel, Sampler, SavedRun, Sink, SinkError, Symmetric, from_scheme,
};

use crate::adjusted::Setting;

/// U = x²/2 + y²/8 + x⁴/20, and infinite where y is above 6.
fn value(x: &[f64]) -> f64 {
    if x[1] > 6.0 {
        return f64::INFINITY;
    }
    0.5 * x[0] * x[0] + x[1] * x[1] / 8.0 + x[0].powi(4) / 20.0
}

type Function = fn(&[f64], &mut [f64]) -> Result<f64, GradientError>;

fn function() -> FromValueFn<Function> {
    let both: Function = |x, g| {
        (g[0], g[1]) = (x[0] + x[0].powi(3) / 5.0, x[1] / 4.0);
        Ok(value(x))
    };
    FromValueFn::new(2, both)
}

/// Draws, their statistics chain by chain, and every state that was handed over.
#[derive(Debug, Default, Clone)]
struct Kept {
    draws: Draws,
    stats: Vec<Vec<Option<DrawStats>>>,
    states: Vec<Vec<u8>>,
}

impl Sink for Kept {
    fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
        self.stats.resize(chains, Vec::new());
        self.draws.begin(chains, dimension)
    }

    fn keep(&mut self, _: usize, _: u64, _: &[f64]) -> Result<(), SinkError> {
        Err("a run calls `keep_with`".into())
    }

    fn keep_with(
        &mut self, chain: usize, draw: u64, point: &[f64], stats: Option<&DrawStats>,
    ) -> Result<(), SinkError> {
        self.stats[chain].push(stats.copied());
        self.draws.keep(chain, draw, point)
    }

    fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
        self.states.push(state.to_bytes());
        Ok(())
    }
}

#[test]
fn statistics_are_those_of_the_states_and_proposals() {
    let potential = Chebyshev::new(function(), 1).unwrap();
    let (smoothness, thin, draws) = (1.5, 3, 400);
    let setting = Setting { gamma: 1.0, xi: 2.0, eta: 1.1, steps: 3, drift: Drift::Straight };
    let kernel = setting.kernel(smoothness);
    for warm_up in [0, 7] {
        let mut sampler = Sampler::new(&potential, &kernel).chains(3).seed(5);
        sampler = sampler.warm_up(warm_up).thin(thin).draws(draws);
        let (mut kept, mut ensemble) = (Kept::default(), sampler.ensemble().unwrap());
        // The proposals of the warm-up alone.
        let mut before = sampler.ensemble().unwrap();
        before.advance(&kernel, warm_up);
        let outcome = sampler.go_on(&mut ensemble, &mut kept).unwrap();
        assert!(outcome.complete());
        let stats: Vec<DrawStats> = kept.stats.iter().flatten().map(|s| s.unwrap()).collect();
        for (s, (_, _, point)) in stats.iter().zip(&kept.draws) {
            assert_eq!(s.lp, -value(point));
            assert!(s.energy >= -s.lp && (0.0..=1.0).contains(&s.acceptance_rate));
        }
        let all = ensemble.acceptance().since(&before.acceptance());
        assert_eq!(all.proposals, 3 * draws * thin);
        let sum: f64 = stats.iter().map(|s| s.acceptance_rate * thin as f64).sum();
        assert!((sum - all.probabilities).abs() < 1e-9 * sum, "{sum} {}", all.probabilities);
        let diverging = stats.iter().filter(|s| s.diverging).count() as u64;
        assert!(0 < diverging && diverging <= all.divergences && all.divergences < 3 * diverging);
        // Chains stand where their last draw is.
        for (chain, stats) in kept.stats.iter().enumerate() {
            let p = ensemble.state(chain).unwrap().p;
            let kinetic = 0.5 * smoothness * p.iter().map(|p| p * p).sum::<f64>();
            let last = stats.last().unwrap().unwrap();
            assert!((last.energy + last.lp - kinetic).abs() < 1e-12 * last.energy);
        }
        // The kinetic energy is half a chi-squared number of 2 degrees of freedom: mean and standard
        // deviation 1. Its correlation from draw to draw is negligible; false alarm about 1e-6.
        let mean = stats.iter().map(|s| s.energy + s.lp).sum::<f64>() / stats.len() as f64;
        assert!((mean - 1.0).abs() < 5.0 / (stats.len() as f64).sqrt(), "{mean}");
    }
}

#[test]
fn kernels_that_do_not_propose_have_none() {
    let potential = Chebyshev::new(function(), 3).unwrap();
    let adjusted = Setting { gamma: 1.0, xi: 2.0, eta: 0.5, steps: 2, drift: Drift::Rotating };
    let parameters = ridgewalk_coefficients::Parameters::new(1.0, 2.0, 0.5).unwrap();
    let symmetric = Symmetric::new(parameters, 1.0).unwrap();
    let hmc = ridgewalk_lyapunov::laws::Scheme::hmc(3, 0.5).unwrap();
    let hmc = from_scheme(&hmc, 1.0).unwrap();
    let kernels: [(&dyn Kernel, bool); 3] =
        [(&adjusted.kernel(1.0), true), (&symmetric, false), (&*hmc, false)];
    for (kernel, has) in kernels {
        let mut kept = Kept::default();
        let potential: &(dyn LineIntegral + Sync) = &potential;
        Sampler::new(potential, kernel).draws(20).run(&mut kept).unwrap();
        assert!(kept.stats.iter().flatten().all(|s| s.is_some() == has), "{}", kernel.name());
    }
}

#[test]
fn a_run_that_goes_on_has_the_statistics_of_one_that_did_not_stop() {
    let target = BlackBox::new(function(), 3, &[0.5, 0.5]).unwrap();
    let wanted = Wanted { kernel: Some(KernelKind::Adjusted), eta: Some(0.9), ..Wanted::default() };
    let mut warm = WarmUp::new(&target).seed(3).chains(3).wanted(wanted).run().unwrap();
    let length = Length::Draws(500);
    let mut whole = Kept::default();
    // States fall between draws: legs are not whole multiples of the thinning.
    warm.run(length).thin(7).checkpoints(Duration::ZERO).keep(&mut whole).unwrap();
    assert!(whole.stats.iter().flatten().all(Option::is_some));
    let between = |bytes: &Vec<u8>| {
        let saved = SavedRun::from_bytes(bytes).unwrap();
        saved.ensemble.chains.iter().any(|chain| chain.recent.proposals > 0)
    };
    let mut states: Vec<&Vec<u8>> = whole.states.iter().filter(|state| between(state)).collect();
    assert!(!states.is_empty(), "no state between two draws");
    states.truncate(5);
    for bytes in states {
        let saved = SavedRun::from_bytes(bytes).unwrap();
        let mut rest = Kept::default();
        warm.begin_anew();
        warm.run(length).thin(7).from_saved(saved.clone()).keep(&mut rest).unwrap();
        for (chain, made) in saved.draws().into_iter().enumerate() {
            let made = usize::try_from(made).unwrap();
            assert_eq!(rest.stats[chain], whole.stats[chain][made..]);
        }
    }
}

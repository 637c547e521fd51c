//! nuts-rs on our targets: draws in original coordinates, with counts of calls of the log-density
//! and of CPU time.
//!
//! Settings are the crate's defaults except for those of a [`Setting`]. Chains start as in PyMC,
//! uniformly within 1 of the origin in each coordinate; on whitened targets, from the normal fit at
//! the mode. nuts-rs evaluates value and gradient together, which take one pass over the data.

use std::cell::Cell;
use std::collections::HashMap;
use std::rc::Rc;

use nuts_rs::rand::Rng;
use nuts_rs::{
    Chain, CpuLogpFunc, CpuMath, CpuMathError, DiagMclmcSettings, DiagNutsSettings, HasDims,
    KineticEnergyKind, LogpError, LowRankNutsSettings, Settings,
};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal, Uniform};
use rayon::prelude::*;
use ridgewalk::potentials::{Scratch, Whitening};

use crate::Failure;
use crate::clock::Stopwatch;
use crate::problems::{Density, Problem};
use crate::runs::{Cost, Run};

/// The version of nuts-rs in Cargo.toml.
pub const VERSION: &str = "0.19.1";

/// How nuts-rs is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Setting {
    /// Its defaults: NUTS with a diagonal metric, 400 draws of warm-up.
    Diagonal,
    /// NUTS with a low-rank metric, 800 draws of warm-up.
    LowRank,
    /// As [`Setting::Diagonal`] on the target whitened by the Hessian at the mode.
    Whitened,
    /// As [`Setting::Whitened`], with the integrator that is exact on a standard normal and the
    /// largest step that the crate uses for it.
    WhitenedExactNormal,
    /// The unadjusted microcanonical sampler, which the crate labels experimental, on the whitened
    /// target.
    WhitenedMclmc,
}

impl Setting {
    /// All settings.
    pub const ALL: [Self; 5] = [
        Self::Diagonal,
        Self::LowRank,
        Self::Whitened,
        Self::WhitenedExactNormal,
        Self::WhitenedMclmc,
    ];

    /// The name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Diagonal => "nuts-rs diagonal",
            Self::LowRank => "nuts-rs low-rank",
            Self::Whitened => "nuts-rs whitened",
            Self::WhitenedExactNormal => "nuts-rs whitened exact-normal",
            Self::WhitenedMclmc => "nuts-rs whitened MCLMC",
        }
    }

    fn whitens(self) -> bool {
        matches!(self, Self::Whitened | Self::WhitenedExactNormal | Self::WhitenedMclmc)
    }
}

/// Runs several chains in rayon's pool, with the same seed and a different stream for each.
///
/// # Errors
/// If the target has no mode, or nuts-rs fails.
pub fn run<P: Problem>(
    problem: &P, setting: Setting, chains: u64, draws: u64, seed: u64,
) -> Result<Run, Failure> {
    if !setting.whitens() {
        let density = problem.plain();
        return gather(chains, |chain| dispatch(density, None, setting, draws, seed, chain));
    }
    let watch = Stopwatch::start();
    let (whitening, gradients) = problem.laplace()?;
    let density = problem.white(&whitening)?;
    let seconds = watch.seconds();
    let mut run =
        gather(chains, |chain| dispatch(&density, Some(&whitening), setting, draws, seed, chain))?;
    run.warm_up.add(Cost { gradients, seconds });
    Ok(run)
}

fn gather(
    chains: u64, one: impl Fn(u64) -> Result<Run, Failure> + Sync + Send,
) -> Result<Run, Failure> {
    let runs: Result<Vec<Run>, Failure> = (0..chains).into_par_iter().map(one).collect();
    let mut all = Run::default();
    for run in runs? {
        all.draws.extend(run.draws);
        all.warm_up.add(run.warm_up);
        all.sampling.add(run.sampling);
        all.divergences += run.divergences;
    }
    Ok(all)
}

/// Runs one chain with the given setting.
fn dispatch<D: Density>(
    density: &D, whitening: Option<&Whitening>, setting: Setting, draws: u64, seed: u64, chain: u64,
) -> Result<Run, Failure> {
    let task = Task { density, whitening, draws, seed, chain };
    match setting {
        Setting::Diagonal | Setting::Whitened => {
            let settings = DiagNutsSettings::default();
            task.run(settings, settings.num_tune)
        }
        Setting::LowRank => {
            let settings = LowRankNutsSettings::default();
            task.run(settings, settings.num_tune)
        }
        Setting::WhitenedExactNormal => {
            let mut settings = DiagNutsSettings {
                trajectory_kind: KineticEnergyKind::ExactNormal,
                ..DiagNutsSettings::default()
            };
            let step = &mut settings.adapt_options.step_size_settings.adapt_options;
            step.dual_average.max_step_size = std::f64::consts::FRAC_PI_2;
            task.run(settings, settings.num_tune)
        }
        Setting::WhitenedMclmc => {
            let settings = DiagMclmcSettings::default();
            task.run(settings, settings.num_tune)
        }
    }
}

/// One chain to be run.
struct Task<'a, D> {
    density: &'a D,
    whitening: Option<&'a Whitening>,
    draws: u64,
    seed: u64,
    chain: u64,
}

impl<D: Density> Task<'_, D> {
    fn run<S: Settings>(&self, settings: S, warm_up: u64) -> Result<Run, Failure> {
        let d = self.density.dimension();
        let mut rng = ChaCha8Rng::seed_from_u64(self.seed);
        rng.set_stream(self.chain);
        let start: Vec<f64> = match self.whitening {
            Some(_) => StandardNormal.sample_iter(&mut rng).take(d).collect(),
            None => Uniform::new(-1.0, 1.0)?.sample_iter(&mut rng).take(d).collect(),
        };
        let calls = Rc::new(Cell::new(0));
        let counted = Counted {
            density: self.density,
            scratch: Scratch::default(),
            calls: Rc::clone(&calls),
        };
        let watch = Stopwatch::start();
        let mut chain = settings.new_chain(self.chain, CpuMath::new(counted), &mut rng)?;
        chain.set_position(&start)?;
        for _ in 0..warm_up {
            chain.draw()?;
        }
        let warm_up = Cost { gradients: calls.take(), seconds: watch.seconds() };
        let watch = Stopwatch::start();
        let mut kept = Vec::with_capacity(d * usize::try_from(self.draws)?);
        let mut divergences = 0;
        for _ in 0..self.draws {
            let (point, progress) = chain.draw()?;
            divergences += u64::from(progress.diverging);
            kept.extend_from_slice(&point);
        }
        let mut sampling = Cost { gradients: calls.take(), seconds: watch.seconds() };
        if let Some(whitening) = self.whitening {
            let watch = Stopwatch::start();
            let mut theta = vec![0.0; d];
            for point in kept.chunks_exact_mut(d) {
                whitening.to_original(point, &mut theta)?;
                point.copy_from_slice(&theta);
            }
            sampling.seconds += watch.seconds();
        }
        Ok(Run { draws: vec![kept], warm_up, sampling, divergences, note: String::new() })
    }
}

/// A log-density that counts its calls.
struct Counted<'a, D> {
    density: &'a D,
    scratch: Scratch,
    /// Shared, because the chain owns its log-density.
    calls: Rc<Cell<u64>>,
}

/// A point at which a target is not finite; nuts-rs treats it as a divergence.
#[derive(Debug, thiserror::Error)]
#[error("no finite value and gradient: {0}")]
struct NotFinite(String);

impl LogpError for NotFinite {
    fn is_recoverable(&self) -> bool {
        true
    }
}

impl<D: Density> HasDims for Counted<'_, D> {
    fn dim_sizes(&self) -> HashMap<String, u64> {
        HashMap::from([("unconstrained_parameter".to_string(), self.density.dimension() as u64)])
    }
}

impl<D: Density> CpuLogpFunc for Counted<'_, D> {
    type LogpError = NotFinite;
    type FlowParameters = ();
    type ExpandedVector = Vec<f64>;

    fn dim(&self) -> usize {
        self.density.dimension()
    }

    fn logp(&mut self, position: &[f64], gradient: &mut [f64]) -> Result<f64, NotFinite> {
        let refuse = |error: Failure| NotFinite(error.to_string());
        self.calls.set(self.calls.get() + 1);
        let value = self
            .density
            .value_and_gradient(position, gradient, &mut self.scratch)
            .map_err(refuse)?;
        gradient.iter_mut().for_each(|g| *g = -*g);
        if !(value.is_finite() && gradient.iter().all(|g| g.is_finite())) {
            return Err(NotFinite(format!("value {value}")));
        }
        Ok(-value)
    }

    fn expand_vector<R: Rng + ?Sized>(
        &mut self, _: &mut R, point: &[f64],
    ) -> Result<Vec<f64>, CpuMathError> {
        Ok(point.to_vec())
    }
}

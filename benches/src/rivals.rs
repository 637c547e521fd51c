//! Kernels with given parameters, run in the same way as ridgewalk's own: on the whitened target,
//! with eight chains at once and every step a draw.
//!
//! Their parameters are the best that [`crate::tuning`] found with the help of the reference, which
//! a user does not have; the cost of the search is not charged.

use std::fmt::{self, Write};

use ridgewalk::lyapunov::laws::{KernelKind, Scheme};
use ridgewalk::potentials::Whitening;
use ridgewalk::sampler::automatic::{Target, Wanted, WarmUp};
use ridgewalk::sampler::{InOriginal, Sampler, Stream, from_scheme};

use crate::Failure;
use crate::clock::Stopwatch;
use crate::problems::Problem;
use crate::runs::{Cost, Kept, Run};

/// The kernels compared: first the rivals, then our own with tuned parameters.
pub const KERNELS: [KernelKind; 12] = [
    KernelKind::Baoab,
    KernelKind::Ubu,
    KernelKind::Klmc,
    KernelKind::Ula,
    KernelKind::RandomizedMidpoint,
    KernelKind::Quicsort,
    KernelKind::Should,
    KernelKind::Align,
    KernelKind::Hmc,
    KernelKind::Symmetric,
    KernelKind::Averaged,
    KernelKind::ThirdOrder,
];
/// Chains of a run, advanced together.
pub const CHAINS: usize = 8;
/// Steps before draws are kept, in multiples of the steps per independent draw.
const SETTLE: f64 = 5.0;
/// The first stream of the starting points, far from those of the chains.
const STARTS: u64 = 1 << 42;

/// The coordinates of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coordinates {
    /// Whitened by the Hessian at the mode.
    Mode,
    /// Whitened by Hessians along a pilot run, as in ridgewalk if a posterior is far from normal.
    Pilot,
}

impl Coordinates {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Mode, Self::Pilot];

    /// The coordinates of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|coordinates| coordinates.to_string() == name)
    }

    /// The whitening of a target, and its cost in gradients.
    ///
    /// # Errors
    /// If there is no mode, or the pilot fails.
    pub fn make<P: Problem>(self, problem: &P, seed: u64) -> Result<(Whitening, u64), Failure> {
        match self {
            Self::Mode => problem.laplace(),
            Self::Pilot => {
                // With a given kernel and step, the warm-up makes only the pilot run and one
                // measurement, which is charged too.
                let wanted = Wanted {
                    kernel: Some(KernelKind::Averaged),
                    eta: Some(0.6),
                    ..Wanted::default()
                };
                let warm = WarmUp::new(problem.target()).seed(seed).wanted(wanted).run()?;
                Ok((warm.whitening, warm.gradients))
            }
        }
    }
}

impl fmt::Display for Coordinates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mode => "mode",
            Self::Pilot => "pilot",
        })
    }
}

/// The name of a kernel in tables.
#[must_use]
pub fn label(kernel: KernelKind) -> String {
    let name = match kernel {
        KernelKind::Baoab => "BAOAB",
        KernelKind::Ubu => "UBU",
        KernelKind::Klmc => "KLMC",
        KernelKind::Ula => "ULA",
        KernelKind::RandomizedMidpoint => "randomized midpoint",
        KernelKind::Quicsort => "QUICSORT",
        KernelKind::Should => "ShOULD",
        KernelKind::Align => "ALIGN",
        KernelKind::Hmc => "unadjusted HMC",
        KernelKind::Symmetric
        | KernelKind::Averaged
        | KernelKind::ThirdOrder
        | KernelKind::Adjusted
        | KernelKind::Subsampled => kernel.name(),
    };
    format!("{name}, best parameters")
}

/// A short description of a scheme.
#[must_use]
pub fn note(scheme: &Scheme) -> String {
    let mut text = String::from(scheme.name());
    if let Some(trajectory) = scheme.trajectory() {
        let _ = write!(text, " steps {}", trajectory.steps);
    }
    for (name, value) in
        [("gamma", scheme.gamma()), ("xi", scheme.xi()), ("eta", Some(scheme.eta()))]
    {
        // Writing to a string does not fail.
        value.into_iter().for_each(|value| _ = write!(text, " {name} {value:.3}"));
    }
    text
}

/// Steps before draws are kept, for a kernel with this number of effective draws per step.
#[must_use]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
pub fn settling(efficiency: f64) -> u64 {
    (SETTLE / efficiency).ceil().clamp(SETTLE, 1e6) as u64
}

/// Runs a scheme in the given coordinates, whose cost is counted as warm-up.
///
/// # Errors
/// If the coordinates cannot be made, or a chain does not finish.
pub fn run<P: Problem>(
    problem: &P, coordinates: Coordinates, scheme: &Scheme, steps: [u64; 2], seed: u64,
) -> Result<Run, Failure> {
    let watch = Stopwatch::start();
    let (whitening, gradients) = coordinates.make(problem, seed)?;
    let white = problem.target().whitened(&whitening)?;
    let seconds = watch.seconds();
    let mut run = run_in::<P::Target>(&white, &whitening, scheme, steps, seed)?;
    run.warm_up.add(Cost { gradients, seconds });
    Ok(run)
}

/// Runs a scheme from starting points with the normal distribution of the whitening: `settle` steps
/// that are discarded, then `draws` draws of each chain.
///
/// # Errors
/// If a chain does not finish.
pub fn run_in<T: Target>(
    white: &T::White, whitening: &Whitening, scheme: &Scheme, steps: [u64; 2], seed: u64,
) -> Result<Run, Failure> {
    let d = whitening.dimension();
    let mut starts = vec![0.0; CHAINS * d];
    for (start, chain) in starts.chunks_exact_mut(d).zip(STARTS..) {
        Stream::new(seed, chain).normals(start);
    }
    run_from::<T>((white, &starts), whitening, scheme, steps, seed)
}

/// The same from given starting points, in the coordinates of the whitening.
///
/// # Errors
/// If a chain does not finish.
pub fn run_from<T: Target>(
    (white, starts): (&T::White, &[f64]), whitening: &Whitening, scheme: &Scheme,
    [settle, draws]: [u64; 2], seed: u64,
) -> Result<Run, Failure> {
    let kernel = from_scheme(scheme, 1.0)?;
    let mut sampler = Sampler::new(white, &*kernel)
        .chains(CHAINS)
        .seed(seed)
        .starts(starts)
        .warm_up(settle)
        .draws(draws);
    let watch = Stopwatch::start();
    let mut ensemble = sampler.ensemble()?;
    ensemble.advance(&*kernel, settle);
    let warm_up = Cost { gradients: ensemble.gradients(), seconds: watch.seconds() };
    let watch = Stopwatch::start();
    let mut kept = Kept::with_room(usize::try_from(draws)?);
    let outcome = sampler.go_on(&mut ensemble, &mut InOriginal::new(whitening, &mut kept))?;
    if !outcome.complete() {
        return Err("a chain did not finish".into());
    }
    let sampling =
        Cost { gradients: outcome.gradients() - warm_up.gradients, seconds: watch.seconds() };
    Ok(Run { draws: kept.draws, warm_up, sampling, divergences: 0, note: String::new() })
}

//! A run of unadjusted HMC that needs no reference: coordinates by a pilot, the step by the energy
//! error, the number of leapfrog steps by effective draws per gradient in short runs. All of it is
//! charged.

use std::f64::consts::FRAC_PI_2;

use ridgewalk::diagnostics::{Summary, summaries_of_table};
use ridgewalk::lyapunov::laws::Scheme;
use ridgewalk::potentials::{LineIntegral, Scratch, Whitening};
use ridgewalk::sampler::Stream;
use ridgewalk::sampler::automatic::Target;

use super::energy_variance;
use crate::Failure;
use crate::clock::Stopwatch;
use crate::problems::Problem;
use crate::rivals::{CHAINS, Coordinates, note, run_from, settling};
use crate::runs::{Cost, Run, median};

/// The first step tried: short, as the wall of a skewed target throws chains with longer ones far
/// into its tail.
const FIRST: f64 = 0.1;
/// The energy error of a step that counts as a divergence; steps worth taking have less than 1.
const DIVERGED: f64 = 20.0;
/// The longest step: on a standard normal, steps of 2 are unstable.
const LONGEST: f64 = 1.9;
/// Trajectories of each chain in the rounds that adapt the step.
const ROUNDS: [u64; 7] = [2, 2, 4, 8, 8, 16, 40];
/// The largest factor by which a round changes the step.
const CHANGE: f64 = 2.0;
/// The duration of trajectories while the step is adapted: a quarter of a period on a standard
/// normal, after which a draw is independent of the last.
const DURATION: f64 = FRAC_PI_2;
/// Durations from which the one of the run is chosen.
const DURATIONS: [f64; 4] = [0.8, 1.15, FRAC_PI_2, 2.1];
/// Draws of each chain in the run that tries a number of steps.
const TRIAL: u64 = 50;
/// The first stream of the chains that adapt, far from those of others.
const STREAMS: u64 = 1 << 43;

/// The parameters found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The kernel.
    pub scheme: Scheme,
    /// The energy error variance per dimension in the last round, before its correction.
    pub measured: f64,
    /// Where the chains that adapted the step are.
    pub states: Vec<f64>,
    /// Effective draws per trajectory in the run that chose their number of steps, median over
    /// coordinates.
    pub per_step: f64,
    /// Gradients of the search for the step, and for the number of steps.
    pub gradients: [u64; 2],
}

/// Chains of unadjusted HMC whose energy errors are measured.
struct Chains<'a, W> {
    white: &'a W,
    streams: Vec<Stream>,
    theta: Vec<f64>,
    p: Vec<f64>,
    gradient: Vec<f64>,
    values: Vec<f64>,
    scratch: Scratch,
    gradients: u64,
}

impl<'a, W: LineIntegral> Chains<'a, W> {
    /// Chains that start at the centre of the coordinates.
    fn new(white: &'a W, seed: u64) -> Result<Self, Failure> {
        let d = white.dimension();
        let mut chains = Self {
            white,
            streams: (0..CHAINS as u64).map(|k| Stream::new(seed, STREAMS + k)).collect(),
            theta: vec![0.0; CHAINS * d],
            p: vec![0.0; CHAINS * d],
            gradient: vec![0.0; CHAINS * d],
            values: vec![0.0; CHAINS],
            scratch: Scratch::default(),
            gradients: 0,
        };
        chains.evaluate()?;
        Ok(chains)
    }

    fn evaluate(&mut self) -> Result<(), Failure> {
        self.gradients += CHAINS as u64;
        let Self { theta, values, gradient, scratch, .. } = self;
        Ok(self.white.values_and_gradients(theta, values, gradient, scratch)?)
    }

    fn energies(&self) -> Vec<f64> {
        let kinetic = self.p.chunks_exact(self.white.dimension());
        self.values
            .iter()
            .zip(kinetic)
            .map(|(value, p)| value + 0.5 * p.iter().map(|p| p * p).sum::<f64>())
            .collect()
    }

    fn kick(&mut self, time: f64) {
        self.p.iter_mut().zip(&self.gradient).for_each(|(p, g)| *p -= time * g);
    }

    /// The mean square of the energy error of a leapfrog step over some trajectories, per
    /// dimension. If a chain diverges, all return to where they were, and the result is infinite.
    fn measure(&mut self, steps: u32, eta: f64, trajectories: u64) -> Result<f64, Failure> {
        let before = (self.theta.clone(), self.gradient.clone(), self.values.clone());
        let (mut sum, mut count) = (0.0, 0.0);
        for _ in 0..trajectories {
            draw(&mut self.streams, &mut self.p);
            let mut energies = self.energies();
            for _ in 0..steps {
                self.kick(0.5 * eta);
                self.theta.iter_mut().zip(&self.p).for_each(|(theta, p)| *theta += eta * p);
                // A point at which the target cannot be evaluated is one of a chain that diverges.
                let known = self.theta.iter().all(|x| x.abs() < 1e100) && self.evaluate().is_ok();
                self.kick(0.5 * eta);
                let after = self.energies();
                let errors: Vec<f64> = after.iter().zip(&energies).map(|(a, b)| a - b).collect();
                if !known || !errors.iter().all(|error| error.abs() < DIVERGED) {
                    (self.theta, self.gradient, self.values) = before;
                    return Ok(f64::INFINITY);
                }
                sum += errors.iter().map(|error| error * error).sum::<f64>();
                count += CHAINS as f64;
                energies = after;
            }
        }
        Ok(sum / count / self.white.dimension() as f64)
    }
}

/// Fills the part of each chain with normals of its stream.
fn draw(streams: &mut [Stream], into: &mut [f64]) {
    let d = into.len() / streams.len();
    streams.iter_mut().zip(into.chunks_exact_mut(d)).for_each(|(stream, x)| stream.normals(x));
}

/// The number of steps of η nearest to a duration, at least 1.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 1000")]
fn steps_for(duration: f64, eta: f64) -> u32 {
    (duration / eta).round().clamp(1.0, 1000.0) as u32
}

/// A step by its energy error.
#[derive(Debug, Clone, PartialEq)]
pub struct Adapted {
    /// The step.
    pub eta: f64,
    /// The energy error variance per dimension in the last round, before its correction.
    pub measured: f64,
    /// Where the chains are.
    pub states: Vec<f64>,
    /// Gradients spent.
    pub gradients: u64,
}

/// The step at which the energy error variance per dimension is `wanted`.
///
/// The variance grows like η⁶, so each round multiplies the step by the sixth root of the ratio.
///
/// # Errors
/// If the target has no values.
pub fn adapt<W: LineIntegral>(white: &W, wanted: f64, seed: u64) -> Result<Adapted, Failure> {
    let mut chains = Chains::new(white, seed)?;
    let (mut eta, mut measured) = (FIRST, f64::NAN);
    for trajectories in ROUNDS {
        measured = chains.measure(steps_for(DURATION, eta), eta, trajectories)?;
        let factor = (wanted / measured).powf(1.0 / 6.0).clamp(1.0 / CHANGE, CHANGE);
        eta = (eta * factor).min(LONGEST);
    }
    Ok(Adapted { eta, measured, states: chains.theta, gradients: chains.gradients })
}

/// Chooses the step for a relative error of variances of `tolerance`, then the number of steps with
/// the most effective draws per gradient.
///
/// # Errors
/// If the target has no values, or no number of steps makes a stable chain.
pub fn tune<T: Target>(
    white: &T::White, whitening: &Whitening, tolerance: f64, seed: u64,
) -> Result<Tuned, Failure> {
    let Adapted { eta, measured, states, gradients: for_step } =
        adapt(white, energy_variance(tolerance), seed)?;
    let mut numbers: Vec<u32> =
        DURATIONS.iter().map(|duration| steps_for(*duration, eta)).collect();
    numbers.dedup();
    let (mut best, mut for_number): (Option<(f64, Scheme)>, u64) = (None, 0);
    for steps in numbers {
        let scheme = Scheme::hmc(steps, eta)?;
        // No steps to settle: the chains have done so while the step was adapted.
        let lengths = [0, TRIAL];
        let Ok(run) = run_from::<T>((white, &states), whitening, &scheme, lengths, seed) else {
            continue;
        };
        for_number += run.warm_up.gradients + run.sampling.gradients;
        let Ok(per_step) = usual_ess(&run, whitening.dimension()) else { continue };
        let rate =
            |(per_step, scheme): &(f64, Scheme)| per_step / f64::from(scheme.gradients_per_step());
        let next = (per_step, scheme);
        if best.as_ref().is_none_or(|best| rate(&next) > rate(best)) {
            best = Some(next);
        }
    }
    let (per_step, scheme) =
        best.ok_or("unadjusted HMC: no number of steps makes a stable chain")?;
    Ok(Tuned { scheme, measured, states, per_step, gradients: [for_step, for_number] })
}

/// The median over coordinates of the smaller effective sample size of θ and of (θ − mean)², for
/// each draw.
fn usual_ess(run: &Run, dimension: usize) -> Result<f64, Failure> {
    let tables: Vec<&[f64]> = run.draws.iter().map(Vec::as_slice).collect();
    let draws = tables.iter().map(|table| table.len() / dimension).sum::<usize>();
    let sizes = summaries_of_table(&tables, dimension)?.iter().map(Summary::ess_moments).collect();
    let usual = median(sizes) / draws as f64;
    if usual > 0.0 { Ok(usual) } else { Err(format!("effective draws: {usual}").into()) }
}

/// Tunes in the coordinates of a pilot, then runs `draws` draws of each chain, or as many as give
/// `ess` effective draws in all if that is more.
///
/// # Errors
/// As [`tune`], and if a chain does not finish.
pub fn run<P: Problem>(
    problem: &P, tolerance: f64, (draws, ess): (u64, f64), seed: u64,
) -> Result<(Run, Tuned), Failure> {
    let watch = Stopwatch::start();
    let (whitening, gradients) = Coordinates::Pilot.make(problem, seed)?;
    let white = problem.target().whitened(&whitening)?;
    let tuned = tune::<P::Target>(&white, &whitening, tolerance, seed)?;
    let before = Cost {
        gradients: gradients + tuned.gradients.iter().sum::<u64>(),
        seconds: watch.seconds(),
    };
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
    let needed = (ess / tuned.per_step / CHAINS as f64).ceil().clamp(0.0, 1e6) as u64;
    let lengths = [settling(tuned.per_step.min(1.0)), draws.max(needed)];
    let from = (&white, &tuned.states[..]);
    let mut run = run_from::<P::Target>(from, &whitening, &tuned.scheme, lengths, seed)?;
    run.warm_up.add(before);
    run.note = format!("{} in coordinates of the pilot", note(&tuned.scheme));
    Ok((run, tuned))
}

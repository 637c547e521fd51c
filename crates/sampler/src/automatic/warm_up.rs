//! The warm-up: mode, coordinates, and which kernels are tried. Coordinates are found in
//! `coordinates`, the steps of kernels with a bias in `search`, those without in `trajectories`.

use std::sync::atomic::{AtomicBool, Ordering};

use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_potentials::{LineIntegral, Mode, Whitening};

use super::bias::Bias;
use super::candidates::{Candidate, FAR_FROM_NORMAL, NEARLY_NORMAL, Wanted};
use super::coordinates::definite;
use super::history::Decision;
use super::repair::seed_after;
use super::sampling::SoFar;
use super::target::Target;
use crate::coupled::Difference;
use crate::error::{Error, Quantity, SavedKind, catching, positive};
use crate::kernels::from_scheme;
use crate::saved::SavedWarmUp;
use crate::team::Team;

/// Streams of a warm-up: far from those of the run, which have the numbers of its chains.
const STREAMS: u64 = 1 << 40;
/// The fewest chains of a warm-up: the spread over fewer would not show how accurate a measurement
/// is.
const FEWEST: usize = 8;
/// Eigenvalues of the curvature to be ready for: in coordinates made at the mode, where a posterior
/// is very nearly normal and where it is nearly so; and in others.
pub(super) const NEARER: [f64; 2] = [0.95, 1.05];
pub(super) const NEAR: [f64; 2] = [0.85, 1.15];
pub(super) const FAR: [f64; 2] = [0.7, 1.4];
/// Effective draws per gradient below which another kernel is tried too.
const POOR: f64 = 0.1;

/// The bias that is allowed, in standard deviations, where none was given and the kernel has one: a
/// kernel that was asked for, or any kernel for a target without values.
pub const UNADJUSTED_TOLERANCE: f64 = 0.05;

/// A configured warm-up.
///
/// ```
/// use ridgewalk_potentials::families::Logistic;
/// use ridgewalk_potentials::{Dense, Prior, Ridge};
/// use ridgewalk_sampler::automatic::WarmUp;
/// use ridgewalk_sampler::{Draws, InOriginal};
///
/// let hours = vec![0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
/// let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
/// let design = Dense::new(12, 1, hours)?.with_intercept();
/// let posterior = Ridge::new(design, Logistic, &passed, Prior::centred(2, 2.5)?)?;
/// let warm = WarmUp::new(&posterior).seed(1).run()?;
/// let mut draws = Draws::default();
/// let kernel = warm.kernel()?;
/// let mut sampler = warm.sampler(&*kernel).draws(200);
/// sampler.run(&mut InOriginal::new(&warm.whitening, &mut draws))?;
/// assert!((0.8..1.9).contains(&draws.mean(1)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct WarmUp<'a, T> {
    pub(super) target: &'a T,
    pub(super) seed: u64,
    pub(super) chains: usize,
    pub(super) draws: u64,
    pub(super) tolerance: f64,
    /// Whether it was given.
    tolerance_given: bool,
    pub(super) wanted: Wanted,
    pub(super) stop: Option<&'a AtomicBool>,
    pub(super) team: Team,
    watch: Watch<'a>,
    /// Gradients that it took to see whether the target has values.
    looked: u64,
}

/// Optional callback, run on each decision.
#[derive(Clone, Copy, Default)]
struct Watch<'a>(Option<&'a dyn Fn(&Decision)>);

impl std::fmt::Debug for Watch<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "watched" } else { "not watched" })
    }
}

/// What a warm-up found.
#[derive(Debug)]
#[non_exhaustive]
pub struct WarmedUp<W> {
    /// The mode, and what was noticed about the data on the way to it.
    pub mode: Mode,
    /// The coordinates.
    pub whitening: Whitening,
    /// The target in them.
    pub potential: W,
    /// The kernel and its parameters, for a smoothness of 1.
    pub scheme: Scheme,
    /// Every how many steps a draw is taken, so that draws are nearly independent.
    pub thin: u64,
    /// The measured bias of that scheme.
    pub bias: Bias,
    /// What it was measured by: how the moments of each coordinate at η differ from those at η/2.
    /// Empty for trajectories that are accepted or rejected, which have no bias.
    pub differences: Vec<Difference>,
    /// Whether it is within the tolerance.
    pub within_tolerance: bool,
    /// Where the chains are, in the new coordinates, one after the other.
    pub starts: Vec<f64>,
    /// What was decided, in order.
    pub history: Vec<Decision>,
    /// What it cost, over all chains.
    pub gradients: u64,
    pub(super) seed: u64,
    pub(super) tolerance: f64,
    /// How often a run failed a check and was made again.
    pub(super) repairs: u32,
    pub(super) log_concave: bool,
    /// Whether the step was given.
    pub(super) fixed_step: bool,
    pub(super) team: Team,
    /// Where the last run ended.
    pub(super) so_far: Option<SoFar>,
    /// The coordinates within the target's frame; those of `whitening` if it has none.
    within: Whitening,
}

/// Whether draws of a kernel have no bias.
pub(super) fn without_bias(kernel: KernelKind) -> bool {
    matches!(kernel, KernelKind::Adjusted | KernelKind::Subsampled)
}

/// Coordinates within the frame of a target as those of draws.
fn in_frame<T: Target>(target: &T, within: &Whitening) -> Result<Whitening, Error> {
    match target.frame() {
        Some(frame) => Ok(frame.then(within)?),
        None => Ok(within.clone()),
    }
}

/// A mode within the frame of a target as one of draws.
fn mode_in_frame<T: Target>(target: &T, mut mode: Mode) -> Result<Mode, Error> {
    if let Some(frame) = target.frame() {
        let point = mode.point.clone();
        frame.to_original(&point, &mut mode.point)?;
    }
    Ok(mode)
}

impl<W: LineIntegral + Sync> WarmedUp<W> {
    /// The kernel, ready to step.
    ///
    /// # Errors
    /// None that a scheme from a warm-up has.
    pub fn kernel(&self) -> Result<Box<dyn crate::LinearKernel>, Error> {
        from_scheme(&self.scheme, 1.0)
    }

    /// Everything that does not follow from the target alone: [`WarmUp::restore`] needs no more,
    /// and makes no steps.
    #[must_use]
    pub fn saved(&self) -> SavedWarmUp {
        SavedWarmUp {
            whitening: self.within.clone(),
            scheme: self.scheme.clone(),
            thin: self.thin,
            bias: self.bias,
            differences: self.differences.clone(),
            within_tolerance: self.within_tolerance,
            starts: self.starts.clone(),
            history: self.history.clone(),
            gradients: self.gradients,
            seed: self.seed,
            tolerance: self.tolerance,
            repairs: self.repairs,
        }
    }

    /// A sampler that starts where the warm-up ended. Its draws are in the new coordinates, and it
    /// knows nothing of [`WarmedUp::run`].
    pub fn sampler<'a>(&'a self, kernel: &'a dyn crate::Kernel) -> crate::Sampler<'a> {
        let chains = self.starts.len() / self.whitening.dimension();
        crate::Sampler::new(&self.potential, kernel)
            .chains(chains)
            .seed(seed_after(self.seed, self.repairs))
            .thin(self.thin)
            .starts(&self.starts)
            .team(&self.team)
    }
}

impl<'a, T: Target> WarmUp<'a, T> {
    /// For 8 chains, a run of 1000 draws each, no bias and seed 0.
    #[must_use]
    pub fn new(target: &'a T) -> Self {
        Self {
            target,
            seed: 0,
            chains: 8,
            draws: 1000,
            tolerance: 0.0,
            tolerance_given: false,
            wanted: Wanted::default(),
            stop: None,
            team: Team::default(),
            watch: Watch(None),
            looked: 0,
        }
    }

    /// Draws that the run will have, for each chain: the search for a longer step ends when it
    /// would cost more than a fifth of it.
    #[must_use]
    pub fn draws(mut self, draws: u64) -> Self {
        self.draws = draws;
        self
    }

    /// Processes that make this warm-up together, and the run after it: each computes gradients for
    /// its share of the chains. What is found is what one process would find, bit for bit.
    #[must_use]
    pub fn team(mut self, team: &Team) -> Self {
        self.team = team.clone();
        self
    }

    /// A signal that ends the warm-up soon after it is set, with [`Error::Stopped`].
    #[must_use]
    pub fn stop(mut self, signal: &'a AtomicBool) -> Self {
        self.stop = Some(signal);
        self
    }

    /// Callback, run on each decision.
    #[must_use]
    pub fn watch(mut self, hear: &'a dyn Fn(&Decision)) -> Self {
        self.watch = Watch(Some(hear));
        self
    }

    /// What is not to be chosen by the warm-up but given.
    #[must_use]
    pub fn wanted(mut self, wanted: Wanted) -> Self {
        self.wanted = wanted;
        self
    }

    /// The seed, of the warm-up and of the run after it.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many chains.
    #[must_use]
    pub fn chains(mut self, chains: usize) -> Self {
        self.chains = chains;
        self
    }

    /// The bias that is allowed, of means in standard deviations and of standard deviations
    /// relative to themselves. At 0 there are trajectories that are accepted or rejected, which
    /// need the target's values.
    ///
    /// By default it is 0; and [`UNADJUSTED_TOLERANCE`] for a kernel with a bias, if one was asked
    /// for or the target gives no values, which the history then says.
    #[must_use]
    pub fn tolerance(mut self, tolerance: f64) -> Self {
        (self.tolerance, self.tolerance_given) = (tolerance, true);
        self
    }

    /// The same with the tolerance that is used.
    fn settled(&self) -> Self {
        let (tolerance, looked) = match self.wanted.kernel {
            _ if self.tolerance_given => (self.tolerance, 0),
            Some(KernelKind::Adjusted | KernelKind::Subsampled) => (0.0, 0),
            Some(_) => (UNADJUSTED_TOLERANCE, 0),
            None => {
                let (values, cost) = self.target.has_values();
                (if values { 0.0 } else { UNADJUSTED_TOLERANCE }, cost)
            }
        };
        Self { tolerance, looked, team: self.team.clone(), ..*self }
    }

    /// Runs the warm-up.
    ///
    /// # Errors
    /// No chains or draws, a bad tolerance, a target without a mode or one that cannot be
    /// evaluated. A tolerance that cannot be met is no error: [`WarmedUp::within_tolerance`]. A
    /// panic of the target is [`Error::Panic`].
    pub fn run(&self) -> Result<WarmedUp<T::White>, Error> {
        catching(|| self.settled().work())
    }

    /// What a warm-up of this target found, from [`WarmedUp::saved`]. The mode is looked for again,
    /// and whatever else follows from the target; the coordinates, the step and where the chains
    /// are come from `saved` and are the same to the last bit.
    ///
    /// # Errors
    /// If it was the warm-up of another seed, number of chains, tolerance or dimension; as
    /// [`WarmUp::run`] for the target.
    pub fn restore(&self, saved: SavedWarmUp) -> Result<WarmedUp<T::White>, Error> {
        let differs = |what: &str, found: String, need: String| Error::Saved {
            what: SavedKind::WarmUp,
            found: format!("{what} {found}"),
            need,
        };
        let (d, need) = (saved.whitening.dimension(), self.target.dimension());
        if d != need {
            return Err(differs("of dimension", d.to_string(), need.to_string()));
        }
        if saved.seed != self.seed {
            return Err(differs("of seed", saved.seed.to_string(), self.seed.to_string()));
        }
        if Some(saved.starts.len()) != self.chains.checked_mul(d) {
            return Err(differs(
                "with chains:",
                (saved.starts.len() / d).to_string(),
                self.chains.to_string(),
            ));
        }
        let tolerance = catching(|| Ok(self.settled().tolerance))?;
        if saved.tolerance != tolerance {
            return Err(differs(
                "of tolerance",
                saved.tolerance.to_string(),
                tolerance.to_string(),
            ));
        }
        let (mode, potential) =
            catching(|| Ok((self.target.mode()?.0, self.target.whitened(&saved.whitening)?)))?;
        let SavedWarmUp {
            whitening: within,
            scheme,
            thin,
            bias,
            differences,
            within_tolerance,
            ..
        } = saved;
        let SavedWarmUp { starts, history, gradients, seed, tolerance, repairs, .. } = saved;
        Ok(WarmedUp {
            mode: mode_in_frame(self.target, mode)?,
            whitening: in_frame(self.target, &within)?,
            within,
            potential,
            scheme,
            thin,
            bias,
            differences,
            within_tolerance,
            starts,
            history,
            gradients,
            seed,
            tolerance,
            repairs,
            log_concave: self.target.log_concave(),
            fixed_step: self.wanted.eta.is_some(),
            team: self.team.clone(),
            so_far: None,
        })
    }

    /// Whether only kernels without bias are allowed.
    pub(super) fn exact(&self) -> bool {
        self.wanted.kernel.map_or(self.tolerance == 0.0, without_bias)
    }

    fn work(&self) -> Result<WarmedUp<T::White>, Error> {
        let counts = [(Quantity::Chains, self.chains == 0), (Quantity::Draws, self.draws == 0)];
        if let Some((what, _)) = counts.into_iter().find(|(_, zero)| *zero) {
            return Err(Error::Zero { what });
        }
        if !(self.exact() && self.tolerance == 0.0) {
            positive("tolerance", self.tolerance)?;
        }
        let (mode, spent) = self.target.mode()?;
        let (hessian, more) = self.target.hessian(&mode.point)?;
        let mut work = Work {
            question: self,
            whitening: definite(&mode.point[self.target.round()..], hessian)?
                .of_last(self.target.dimension())?,
            history: Vec::new(),
            gradients: self.looked + spent + more,
            hessian: more,
            runs: 0,
            states: Vec::new(),
        };
        work.decide(Decision::Mode {
            iterations: mode.iterations,
            gradient_norm: mode.gradient_norm,
        });
        if !self.tolerance_given && self.wanted.kernel.is_none() && !self.exact() {
            work.decide(Decision::NoValues { tolerance: self.tolerance });
        }
        let mut white = self.target.whitened(&work.whitening)?;
        work.states = work.starts(&white)?;
        if self.exact() {
            let (white, best) = work.exact(white)?;
            return work.finish(mode, white, best);
        }
        let first = self.wanted.kernel.unwrap_or(NEARLY_NORMAL);
        let near =
            if first == NEARLY_NORMAL { Some(work.fit_step(&white, first, NEAR)?) } else { None };
        let best = match near.filter(|found| found.within || self.wanted.eta.is_some()) {
            Some(found) => found,
            None => {
                white = work.settle(white)?.0;
                let best = work.choose(&white)?;
                work.or_trajectories(&white, best)?
            }
        };
        work.finish(mode, white, best)
    }
}

/// A warm-up on its way.
#[derive(Debug)]
pub(super) struct Work<'a, T> {
    pub(super) question: &'a WarmUp<'a, T>,
    /// The coordinates, within the target's frame.
    pub(super) whitening: Whitening,
    pub(super) history: Vec<Decision>,
    pub(super) gradients: u64,
    /// What a Hessian costs, in gradients.
    pub(super) hessian: u64,
    /// Runs so far: each has streams of its own.
    runs: u64,
    /// Positions of the chains in whitened coordinates.
    pub(super) states: Vec<f64>,
}

impl<T: Target> Work<'_, T> {
    /// The present coordinates as those of draws.
    pub(super) fn in_frame(&self) -> Result<Whitening, Error> {
        in_frame(self.question.target, &self.whitening)
    }

    /// Chains of the warm-up: those of the run, but enough to measure something.
    pub(super) fn chains(&self) -> usize {
        self.question.chains.max(FEWEST)
    }

    /// Records a decision and runs the callback.
    pub(super) fn decide(&mut self, decision: Decision) {
        if let Some(hear) = self.question.watch.0 {
            hear(&decision);
        }
        self.history.push(decision);
    }

    /// An error once the stop signal is set.
    pub(super) fn go_on(&self) -> Result<(), Error> {
        let here = self.question.stop.is_some_and(|signal| signal.load(Ordering::Relaxed));
        if self.question.team.somewhere(here) { Err(Error::Stopped) } else { Ok(()) }
    }

    /// A seed for the next run.
    pub(super) fn next_seed(&mut self) -> u64 {
        self.runs += 1;
        self.question.seed ^ (STREAMS + self.runs).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// The kernel and step with the most effective draws per gradient within the tolerance, for a
    /// posterior that is not nearly normal.
    fn choose(&mut self, white: &T::White) -> Result<Candidate, Error> {
        let mut best: Option<Candidate> = None;
        let wanted = self.question.wanted.kernel;
        for kernel in
            FAR_FROM_NORMAL.into_iter().filter(|kernel| wanted.is_none_or(|w| w == *kernel))
        {
            let found = self.fit_step(white, kernel, FAR)?;
            if best.as_ref().is_none_or(|old| found.beats(old)) {
                best = Some(found);
            }
            if best.as_ref().is_some_and(|b| b.within && b.efficiency > POOR) {
                break;
            }
        }
        best.ok_or(Error::Zero { what: Quantity::Kernels })
    }

    /// Trajectories without bias, in place of a kernel that is not within the tolerance or gives
    /// few effective draws per gradient, if they are better and the potential has values. Not tried
    /// if the user has set parameters.
    fn or_trajectories(&mut self, white: &T::White, best: Candidate) -> Result<Candidate, Error> {
        if self.question.wanted != Wanted::default() || (best.within && best.efficiency > POOR) {
            return Ok(best);
        }
        match self.best_trajectories(white, None, self.gradients) {
            Ok(found) if found.beats(&best) => Ok(found),
            // Chains that end on the way to them are no reason to give up what there is.
            Ok(_)
            | Err(Error::Potential(ridgewalk_potentials::Error::NoValue) | Error::Pilot { .. }) => {
                Ok(best)
            }
            Err(error) => Err(error),
        }
    }

    fn finish(
        mut self, mode: Mode, potential: T::White, best: Candidate,
    ) -> Result<WarmedUp<T::White>, Error> {
        let (thin, d) = (best.thin(), self.whitening.dimension());
        let wanted = best.wanted_thin();
        if wanted > thin {
            self.decide(Decision::Capped { wanted, thin });
        }
        self.decide(Decision::Chosen { scheme: best.scheme.clone(), thin });
        let target = self.question.target;
        Ok(WarmedUp {
            mode: mode_in_frame(target, mode)?,
            whitening: in_frame(target, &self.whitening)?,
            within: self.whitening,
            potential,
            scheme: best.scheme,
            thin,
            bias: best.bias,
            differences: best.differences,
            within_tolerance: best.within,
            starts: self.states[..self.question.chains * d].to_vec(),
            history: self.history,
            gradients: self.gradients,
            seed: self.question.seed,
            tolerance: self.question.tolerance,
            repairs: 0,
            log_concave: self.question.target.log_concave(),
            fixed_step: self.question.wanted.eta.is_some(),
            team: self.question.team.clone(),
            so_far: None,
        })
    }
}

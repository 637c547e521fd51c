//! Runs of the library's default path on the torture set, compared with the references: is a run
//! that is wrong accompanied by a warning?

pub mod table;
pub mod tally;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ridgewalk::diagnostics::{Summary, ess_quantile, quantile};
use ridgewalk::lyapunov::laws::KernelKind;
use ridgewalk::sampler::Draws;
use ridgewalk::sampler::automatic::{Length, Wanted, WarmUp};
use ridgewalk_gallery::{Coefficient, Figure, TORTURE_PROBABILITIES, Torture};

use crate::Failure;

/// What is compared, for each coefficient.
pub const MEASURES: [&str; 5] = ["mean", "sd", "q05", "q50", "q95"];
/// Standard errors that an estimate may be off by.
pub const STANDARD_ERRORS: f64 = 5.0;
/// What it may be off by besides, in standard deviations of the reference.
pub const ALLOWANCE: f64 = 0.01;

/// Half the width of the interval of probabilities over which the slope of a quantile function is
/// taken.
const SLOPE_OVER: f64 = 0.025;

/// How a run is made. Settings that are `None` are left to the library.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The number of chains.
    pub chains: usize,
    /// Draws of each chain.
    pub draws: u64,
    /// The bias that the warm-up allows.
    pub tolerance: Option<f64>,
    /// The kernel.
    pub kernel: Option<KernelKind>,
}

/// An estimate and how far it is from its reference.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deviation {
    /// The coefficient.
    pub coefficient: usize,
    /// One of [`MEASURES`].
    pub measure: &'static str,
    /// The distance from the reference, in tolerances: [`STANDARD_ERRORS`] joint standard errors
    /// plus [`ALLOWANCE`]. Infinite if the estimate or its error is not a finite number.
    pub tolerances: f64,
}

impl Deviation {
    /// Whether the estimate is within its tolerance.
    #[must_use]
    pub fn is_within(&self) -> bool {
        self.tolerances <= 1.0
    }
}

/// The class of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All estimates are within tolerance, and there is no warning.
    Right,
    /// All estimates are within tolerance, but there is a warning.
    FalseAlarm,
    /// An estimate is beyond tolerance, and there is a warning.
    OffWithWarning,
    /// An estimate is beyond tolerance, and there is no warning.
    SilentlyWrong,
    /// No result: an error.
    Refused,
}

impl Verdict {
    /// All classes.
    pub const ALL: [Self; 5] =
        [Self::Right, Self::FalseAlarm, Self::OffWithWarning, Self::SilentlyWrong, Self::Refused];

    /// Its name in results files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Right => "right",
            Self::FalseAlarm => "false_alarm",
            Self::OffWithWarning => "off_with_warning",
            Self::SilentlyWrong => "silently_wrong",
            Self::Refused => "refused",
        }
    }

    /// The class of a run with these deviations, and with or without a warning.
    #[must_use]
    pub fn of(deviations: &[Deviation], warned: bool) -> Self {
        match (deviations.iter().all(Deviation::is_within), warned) {
            (true, false) => Self::Right,
            (true, true) => Self::FalseAlarm,
            (false, true) => Self::OffWithWarning,
            (false, false) => Self::SilentlyWrong,
        }
    }
}

/// One run of a case.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The seed.
    pub seed: u64,
    /// Its class.
    pub verdict: Verdict,
    /// The estimate that is farthest off; `None` for a run without result.
    pub worst: Option<Deviation>,
    /// Names of the warnings.
    pub warnings: Vec<String>,
    /// The error message of a run without result.
    pub refusal: Option<String>,
    /// Gradients of warm-up and run, over all chains.
    pub gradients: u64,
    /// See [`longest_repeat`].
    pub longest_repeat: usize,
}

/// Runs a case with a seed.
#[must_use]
pub fn attempt(case: &Torture, plan: &Plan, seed: u64) -> Attempt {
    let made = catch_unwind(AssertUnwindSafe(|| sample(case, plan, seed)));
    let refused = |message: String| Attempt {
        seed,
        verdict: Verdict::Refused,
        worst: None,
        warnings: Vec::new(),
        refusal: Some(message),
        gradients: 0,
        longest_repeat: 0,
    };
    match made {
        Ok(Ok(attempt)) => attempt,
        Ok(Err(error)) => refused(error.to_string()),
        Err(_) => refused("panicked".to_owned()),
    }
}

fn sample(case: &Torture, plan: &Plan, seed: u64) -> Result<Attempt, Failure> {
    let posterior = case.posterior().map_err(|error| error.to_string())?;
    let mut warm_up = WarmUp::new(&posterior).seed(seed).chains(plan.chains).draws(plan.draws);
    if let Some(tolerance) = plan.tolerance {
        warm_up = warm_up.tolerance(tolerance);
    }
    if plan.kernel.is_some() {
        warm_up = warm_up.wanted(Wanted { kernel: plan.kernel, ..Wanted::default() });
    }
    let mut warm = warm_up.run()?;
    let mut draws = Draws::default();
    let sampled = warm.run(Length::Draws(plan.draws)).keep(&mut draws)?;
    let summaries = draws.summary()?;
    let warnings: Vec<String> = sampled
        .warnings(draws.names(), &summaries)
        .iter()
        .map(|warning| warning.name().to_owned())
        .collect();
    let deviations = deviations(&case.coefficients(), &draws, &summaries)?;
    Ok(Attempt {
        seed,
        verdict: Verdict::of(&deviations, !warnings.is_empty()),
        worst: farthest(deviations),
        warnings,
        refusal: None,
        gradients: warm.gradients + sampled.gradients(),
        longest_repeat: longest_repeat(&draws),
    })
}

/// Compares draws with references.
///
/// # Errors
/// For a number of coefficients other than that of the draws.
pub fn deviations(
    references: &[Coefficient], draws: &Draws, summaries: &[Summary],
) -> Result<Vec<Deviation>, Failure> {
    if references.len() != summaries.len() || references.len() != draws.dimension() {
        let (got, need) = (summaries.len(), references.len());
        return Err(format!("draws of {got} coefficients: need {need}").into());
    }
    let mut found = Vec::new();
    for (coefficient, (reference, summary)) in references.iter().zip(summaries).enumerate() {
        let traces: Vec<Vec<f64>> = (0..draws.chains())
            .map(|chain| draws.trace(chain, coefficient)[..draws.common()].to_vec())
            .collect();
        let traces: Vec<&[f64]> = traces.iter().map(Vec::as_slice).collect();
        let mut pairs = vec![
            (reference.mean, summary.mean, summary.mcse_mean),
            (reference.sd, summary.sd, summary.mcse_sd),
        ];
        let quantiles = [summary.q05, summary.q50, summary.q95];
        for ((figure, p), value) in
            reference.quantiles.into_iter().zip(TORTURE_PROBABILITIES).zip(quantiles)
        {
            pairs.push((figure, value, quantile_error(&traces, p)?));
        }
        for ((figure, value, error), measure) in pairs.into_iter().zip(MEASURES) {
            let tolerances = tolerances(figure, reference.sd.value, value, error);
            found.push(Deviation { coefficient, measure, tolerances });
        }
    }
    Ok(found)
}

/// The standard error of a quantile: √(p (1 − p)/ESS) times the slope of the quantile function.
///
/// [`mcse_quantile`](ridgewalk::diagnostics::mcse_quantile) takes the slope from draws one standard
/// error away, which are few in the tails: with 8,000 independent draws it is itself uncertain by
/// 16 %, and with 2,000 by 22 %. Five of it are exceeded by exact draws with a probability of 1e-5
/// to 1e-4, so that a run of the set would have false alarms. Over the wider interval the
/// uncertainty is 5 % and 10 %, and the slope 7 % too large at the 5 % quantile of a normal law.
///
/// # Errors
/// Those of the diagnostics.
pub fn quantile_error(chains: &[&[f64]], p: f64) -> Result<f64, Failure> {
    let [low, high] = [p - SLOPE_OVER, p + SLOPE_OVER];
    let slope = (quantile(chains, high)? - quantile(chains, low)?) / (high - low);
    Ok((p * (1.0 - p) / ess_quantile(chains, p)?).sqrt() * slope)
}

/// The distance of an estimate with a standard error from its reference, in tolerances.
fn tolerances(reference: Figure, sd: f64, value: f64, error: f64) -> f64 {
    let allowed = STANDARD_ERRORS * error.hypot(reference.error) + ALLOWANCE * sd;
    let found = (value - reference.value).abs() / allowed;
    if found.is_finite() && allowed.is_finite() { found } else { f64::INFINITY }
}

/// The largest deviation.
fn farthest(deviations: Vec<Deviation>) -> Option<Deviation> {
    deviations.into_iter().max_by(|a, b| a.tolerances.total_cmp(&b.tolerances))
}

/// The most kept draws in a row, in any chain, that repeat the draw before them. Without thinning
/// this is the longest run of rejections.
#[must_use]
pub fn longest_repeat(draws: &Draws) -> usize {
    let mut longest = 0;
    for chain in 0..draws.chains() {
        let points: Vec<&[f64]> = draws.chain(chain).chunks_exact(draws.dimension()).collect();
        let mut run = 0;
        for pair in points.windows(2) {
            run = if pair[0] == pair[1] { run + 1 } else { 0 };
            longest = longest.max(run);
        }
    }
    longest
}

/// Runs every case with every seed, several at a time with one thread each, and calls `tell` after
/// each run. The results are in the order of the cases and seeds.
///
/// # Errors
/// If threads cannot be started.
pub fn attempts(
    cases: &[Torture], plan: &Plan, seeds: u64, threads: usize,
    tell: impl Fn(usize, &Torture, &Attempt) + Sync,
) -> Result<Vec<Vec<Attempt>>, Failure> {
    let jobs: Vec<(usize, u64)> =
        (0..cases.len()).flat_map(|case| (1..=seeds).map(move |seed| (case, seed))).collect();
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<(), Failure> {
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
        while let Some(&(case, seed)) = jobs.get(next.fetch_add(1, Ordering::Relaxed)) {
            let made = alone.install(|| attempt(&cases[case], plan, seed));
            let mut done = done.lock().map_err(|error| error.to_string())?;
            tell(done.len() + 1, &cases[case], &made);
            done.push((case, made));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads.max(1)).map(|_| scope.spawn(work)).collect();
        let end = |worker: std::thread::ScopedJoinHandle<'_, Result<(), Failure>>| {
            worker.join().map_err(|_| Failure::from("a thread panicked"))?
        };
        workers.into_iter().try_for_each(end)
    })?;
    let mut by_case = vec![Vec::new(); cases.len()];
    for (case, made) in done.into_inner().map_err(|error| error.to_string())? {
        by_case[case].push(made);
    }
    by_case.iter_mut().for_each(|made: &mut Vec<Attempt>| made.sort_by_key(|one| one.seed));
    Ok(by_case)
}

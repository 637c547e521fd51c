//! What a user should know about a finished run before relying on its draws.

use std::fmt;

use ridgewalk_diagnostics::Summary;

use super::bias::Bias;
use super::sampling::{Length, Sampled};
use crate::budget::Exhausted;
use crate::outcome::Why;

/// Effective draws below which quantiles and R-hat cannot be relied on (Vehtari et al. 2021).
const FEW: f64 = 400.0;
/// The R-hat above which chains disagree (the same).
const APART: f64 = 1.01;
/// Coefficients of which none exceeds that by chance in runs that are long enough otherwise.
const FEW_COEFFICIENTS: usize = 100;
/// The acceptance below which most trajectories are wasted.
const RARELY: f64 = 0.3;

/// A reason not to rely on the draws of a run as they are.
///
/// `Display` explains it in words; [`Warning::name`] is for programs.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Warning {
    /// Chains could not go on.
    EndedChains {
        /// How many.
        ended: usize,
        /// Of how many.
        chains: usize,
        /// The first of them.
        chain: usize,
        /// The step that failed, counted from 1.
        step: u64,
        /// Why.
        why: Why,
    },
    /// Trajectories diverged and were rejected.
    Divergences {
        /// How many.
        divergences: u64,
        /// Of how many.
        proposals: u64,
    },
    /// Few trajectories were accepted.
    LowAcceptance {
        /// The mean probability of acceptance.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        rate: f64,
        /// What it should be at least.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        least: f64,
    },
    /// The stop signal ended the run.
    Stopped,
    /// The budget ended the run.
    OutOfBudget {
        /// Which part of it ran out.
        exhausted: Exhausted,
    },
    /// The discretisation bias is not clearly within the tolerance.
    BiasAboveTolerance {
        /// The measured bias.
        bias: Bias,
        /// The tolerance.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        tolerance: f64,
    },
    /// The run ended at its longest, with a smaller effective sample size than asked for.
    TargetEssNotReached {
        /// The effective sample size asked for.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        target: f64,
        /// The most draws of each chain.
        most: u64,
    },
    /// A coordinate has a small effective sample size.
    LowEss {
        /// The coordinate where it is smallest.
        parameter: String,
        /// The smaller of bulk and tail ESS; not a number with too few draws.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        ess: f64,
        /// What it should be at least.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        least: f64,
        /// Draws of each chain that would probably do.
        suggested_draws: u64,
    },
    /// With one chain it is not known whether chains agree.
    OneChain,
    /// The chains do not agree.
    HighRhat {
        /// The coordinate where R-hat is largest.
        parameter: String,
        /// Its R-hat; not a number with too few draws.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        rhat: f64,
        /// What it should be at most.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        most: f64,
        /// Draws of each chain that may do.
        suggested_draws: u64,
    },
    /// A chain stayed at one point for longer than its acceptance explains.
    StuckChain {
        /// The chain.
        chain: usize,
        /// Trajectories that it rejected one after the other.
        longest: u64,
        /// What would be no trouble.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        most: f64,
        /// All trajectories of that chain.
        proposals: u64,
    },
    /// Far fewer trajectories are accepted far out than elsewhere.
    RejectedFarOut {
        /// The mean probability of acceptance of those that start far out.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        rate: f64,
        /// How many these are.
        trajectories: u64,
        /// The mean probability of acceptance of all.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        overall: f64,
    },
    /// The energy fraction of missing information (E-BFMI) of a chain is low.
    LowEnergyFraction {
        /// The chain where it is lowest.
        chain: usize,
        /// The fraction.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        fraction: f64,
        /// What it should be at least.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        least: f64,
    },
    /// Draws do not satisfy an identity that holds under the target.
    WrongMoments {
        /// Which identity.
        identity: Identity,
        /// What the draws have.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        found: f64,
        /// Its standard error.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        error: f64,
        /// What the target has.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        expected: f64,
    },
    /// One chain fared otherwise than the others.
    UnequalChains {
        /// The chain.
        chain: usize,
        /// What was compared.
        compared: Compared,
        /// Its mean.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        found: f64,
        /// That of the others.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        others: f64,
    },
    /// Draws are where an exact sample of a log-concave posterior would have almost none.
    ///
    /// [`Sampled::warnings`] has it for kernels that accept or reject; for others this takes values
    /// of the potential.
    Excursion {
        /// How many.
        draws: u64,
        /// How many an exact sample would have at most, in expectation.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        allowed: f64,
        /// The largest drop in log-density below the mode.
        #[cfg_attr(feature = "serde", serde(with = "ridgewalk_diagnostics::with_serde::number"))]
        farthest: f64,
    },
}

/// An identity that holds under every smooth density e^−U, with g the gradient of U and c its mode,
/// in whitened coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Identity {
    /// E g_k = 0 for each coordinate k.
    Gradient,
    /// E g_k (z_k − c_k) = 1 for each coordinate k.
    Product,
    /// E g·(z − c) = d, divided by d.
    Virial,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gradient => "the mean gradient in one direction",
            Self::Product => "the mean of gradient times distance from the mode in one direction",
            Self::Virial => "the mean of gradient times distance from the mode",
        })
    }
}

/// What the chains of a run are compared by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Compared {
    /// The mean of U − U(mode) over their draws.
    Potential,
    /// The mean probability of acceptance.
    Acceptance,
}

impl Warning {
    /// A short name that does not change.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::EndedChains { .. } | Self::Divergences { .. } => "divergence",
            Self::LowAcceptance { .. } => "low_acceptance",
            Self::Stopped => "stopped",
            Self::OutOfBudget { .. } => "out_of_budget",
            Self::BiasAboveTolerance { .. } => "bias_above_tolerance",
            Self::TargetEssNotReached { .. } => "target_ess_not_reached",
            Self::LowEss { .. } => "low_ess",
            Self::OneChain => "one_chain",
            Self::HighRhat { .. } => "high_rhat",
            Self::StuckChain { .. } => "stuck_chain",
            Self::RejectedFarOut { .. } => "rejected_far_out",
            Self::LowEnergyFraction { .. } => "low_bfmi",
            Self::WrongMoments { .. } => "wrong_moments",
            Self::UnequalChains { .. } => "unequal_chains",
            Self::Excursion { .. } => "excursion",
        }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::EndedChains { ended, chains, chain, step, why } => write!(
                f,
                "{ended} of {chains} chains could not go on; chain {chain} at step {step}: {why}. \
                 Draws end where the first of them ended"
            ),
            Self::Divergences { divergences, proposals } => write!(
                f,
                "{divergences} of {proposals} trajectories diverged and were rejected: where the \
                 posterior is steep, chains may stay away from what lies beyond"
            ),
            Self::LowAcceptance { rate, least } => write!(
                f,
                "{:.0} % of the trajectories were accepted, fewer than {:.0} %: chains stay where \
                 they are for long",
                100.0 * rate,
                100.0 * least
            ),
            Self::Stopped => f.write_str(
                "the run was stopped before it had all its draws; those made so far are kept",
            ),
            Self::OutOfBudget { exhausted } => write!(
                f,
                "the budget of {exhausted} ended the run before it had all its draws; those made \
                 so far are kept"
            ),
            Self::BiasAboveTolerance { bias, tolerance } => above_tolerance(f, bias, *tolerance),
            Self::TargetEssNotReached { target, most } => write!(
                f,
                "the smallest bulk ESS did not reach {target} in {most} draws of each chain"
            ),
            Self::LowEss { parameter, ess, least, .. } => write!(
                f,
                "`{parameter}` has an effective sample size {}: below {least} its mean and \
                 quantiles are rough",
                known(*ess, "that so few draws do not show", |ess| format!("of {ess:.0}"))
            ),
            Self::OneChain => {
                f.write_str("with one chain there is no R-hat: whether chains agree is not known")
            }
            Self::HighRhat { parameter, rhat, most, .. } => write!(
                f,
                "R-hat of `{parameter}` is {}: above {most} the chains do not agree yet",
                known(*rhat, "not known from so few draws", |rhat| format!("{rhat:.3}"))
            ),
            Self::StuckChain { chain, longest, most, proposals } => {
                stuck(f, *chain, *longest, *most, *proposals)
            }
            Self::RejectedFarOut { rate, trajectories, overall } => {
                rejected_far_out(f, *rate, *trajectories, *overall)
            }
            Self::LowEnergyFraction { chain, fraction, least } => write!(
                f,
                "the tails of the posterior are explored too slowly: the energy of chain {chain} \
                 hardly changes from one trajectory to the next (E-BFMI {fraction:.2}, below \
                 {least})"
            ),
            Self::WrongMoments { identity, found, error, expected } => {
                wrong_moments(f, *identity, *found, *error, *expected)
            }
            Self::UnequalChains { chain, compared, found, others } => {
                unequal_chains(f, *chain, *compared, *found, *others)
            }
            Self::Excursion { draws, allowed, farthest } => write!(
                f,
                "{draws} draws are farther out than the posterior goes (an exact sample would have \
                 {allowed:.0e} of them at most; the farthest is {farthest:.0} below the mode in \
                 log-density): now and then a step is too long, or a chain began far away, and \
                 means and standard deviations cannot be relied on"
            ),
        }
    }
}

fn stuck(
    f: &mut fmt::Formatter<'_>, chain: usize, longest: u64, most: f64, proposals: u64,
) -> fmt::Result {
    write!(
        f,
        "a chain was stuck: chain {chain} stayed at one point for {longest} of its {proposals} \
         trajectories (up to {most:.0} would be no trouble); results are less accurate than their \
         standard errors say"
    )
}

fn rejected_far_out(
    f: &mut fmt::Formatter<'_>, rate: f64, trajectories: u64, overall: f64,
) -> fmt::Result {
    write!(
        f,
        "the tails of the posterior are poorly explored: of the {trajectories} trajectories that \
         start far from the mode, {:.0} % were accepted, of all {:.0} %; quantiles and standard \
         deviations may be off",
        100.0 * rate,
        100.0 * overall
    )
}

fn wrong_moments(
    f: &mut fmt::Formatter<'_>, identity: Identity, found: f64, error: f64, expected: f64,
) -> fmt::Result {
    write!(
        f,
        "the draws are not from this posterior: {identity} is {found:.3} ± {error:.3} and must be \
         {expected}; the chains have not reached the posterior, it is improper, or the gradient is \
         wrong"
    )
}

fn unequal_chains(
    f: &mut fmt::Formatter<'_>, chain: usize, compared: Compared, found: f64, others: f64,
) -> fmt::Result {
    match compared {
        Compared::Potential => write!(
            f,
            "one chain is elsewhere: the draws of chain {chain} are {found:.1} below the mode in \
             log-density on average, those of the others {others:.1}"
        ),
        Compared::Acceptance => write!(
            f,
            "one chain moves far less than the others: {:.0} % of the trajectories of chain \
             {chain} were accepted, of the others {:.0} %",
            100.0 * found,
            100.0 * others
        ),
    }
}

fn above_tolerance(f: &mut fmt::Formatter<'_>, bias: &Bias, tolerance: f64) -> fmt::Result {
    let Bias { mean, mean_error, sd, sd_error, quantile, quantile_error } = bias;
    write!(
        f,
        "the measured discretisation bias is {mean:.3} ± {mean_error:.3} sd for means, {:.1} ± \
         {:.1} % for standard deviations and {quantile:.3} ± {quantile_error:.3} sd for quantiles, \
         more than the tolerance of {tolerance} in the worst coefficient, or not known well enough \
         to be called less",
        100.0 * sd,
        100.0 * sd_error
    )
}

/// A number in words, or other words where it is not one.
fn known(value: f64, unknown: &str, words: impl FnOnce(f64) -> String) -> String {
    if value.is_nan() { unknown.to_owned() } else { words(value) }
}

/// Why no draw is shared by all chains.
#[derive(Debug, Clone, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NoDraws {
    /// Chains that could not go on.
    pub ended: usize,
    /// Of how many.
    pub chains: usize,
    /// The first chain that ended before its first draw: its number, its step and why.
    pub first: Option<(usize, u64, Why)>,
}

impl fmt::Display for NoDraws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {} chains could not go on", self.ended, self.chains)?;
        match &self.first {
            Some((chain, step, why)) => {
                write!(f, "; chain {chain} at step {step}, before its first draw: {why}")
            }
            None => Ok(()),
        }
    }
}

impl Sampled {
    /// Everything that should be known about this run before its draws are relied on. `names` and
    /// `summaries` are those of the coordinates, as [`Draws`](crate::Draws) has them.
    #[must_use]
    pub fn warnings(&self, names: &[String], summaries: &[Summary]) -> Vec<Warning> {
        let mut found = self.of_chains();
        found.extend(self.troubles.iter().cloned());
        if !self.bias_within {
            let (bias, tolerance) = (self.bias, self.tolerance);
            found.push(Warning::BiasAboveTolerance { bias, tolerance });
        }
        match self.length {
            Length::Ess { target, most } if !self.reached && !self.ended_early() => {
                found.push(Warning::TargetEssNotReached { target, most });
            }
            Length::Ess { .. } | Length::Draws(_) => {}
        }
        found.extend(self.of_summaries(names, summaries));
        found
    }

    /// Why no draw is shared by all chains, for runs in which that is so.
    #[must_use]
    pub fn no_draws(&self) -> NoDraws {
        let chains = &self.outcome.chains;
        let first = self.outcome.ended().find(|(chain, _)| chains[*chain].draws == 0);
        let first = first.map(|(chain, end)| (chain, end.step, end.why.clone()));
        NoDraws { ended: self.outcome.ended().count(), chains: chains.len(), first }
    }

    /// Whether something other than its length ended the run, or a chain of it.
    fn ended_early(&self) -> bool {
        self.outcome.stopped
            || self.outcome.exhausted.is_some()
            || self.outcome.ended().next().is_some()
    }

    /// What the chains went through.
    fn of_chains(&self) -> Vec<Warning> {
        let mut found = Vec::new();
        let outcome = &self.outcome;
        let (ended, first) = (outcome.ended().count(), outcome.ended().next());
        let all = outcome.acceptance();
        if let Some((chain, end)) = first {
            let (chains, step, why) = (outcome.chains.len(), end.step, end.why.clone());
            found.push(Warning::EndedChains { ended, chains, chain, step, why });
        } else if all.divergences > 0 && !self.log_concave {
            let (divergences, proposals) = (all.divergences, all.proposals);
            found.push(Warning::Divergences { divergences, proposals });
        }
        if all.proposals > 0 && all.rate() < RARELY {
            found.push(Warning::LowAcceptance { rate: all.rate(), least: RARELY });
        }
        if outcome.stopped {
            found.push(Warning::Stopped);
        }
        if let Some(exhausted) = outcome.exhausted {
            found.push(Warning::OutOfBudget { exhausted });
        }
        found
    }

    /// What the draws show.
    fn of_summaries(&self, names: &[String], summaries: &[Summary]) -> Vec<Warning> {
        let mut found = Vec::new();
        let fewest = worst(names, summaries, |s| -s.ess_bulk.min(s.ess_tail));
        if let Some((parameter, ess)) =
            fewest.map(|(name, ess)| (name, -ess)).filter(|(_, ess)| !(*ess >= FEW))
        {
            let suggested_draws = enough(self.draws, ess);
            found.push(Warning::LowEss { parameter, ess, least: FEW, suggested_draws });
        }
        let most = highest_rhat(self.outcome.chains.len(), self.draws, summaries);
        if self.outcome.chains.len() == 1 {
            found.push(Warning::OneChain);
        } else if let Some((parameter, rhat)) =
            worst(names, summaries, |s| s.rhat).filter(|(_, rhat)| !(*rhat <= most))
        {
            let suggested_draws = self.draws.saturating_mul(4);
            found.push(Warning::HighRhat { parameter, rhat, most, suggested_draws });
        }
        found
    }
}

/// The R-hat above which chains disagree. Of thousands of coefficients in a short run some have a
/// higher one than [`APART`] although the chains agree: the limit is then one that none of them
/// exceeds in 999 of 1000 such runs.
///
/// Where m halves of chains with the same law have n effective draws each, R-hat² − 1 is about
/// (X/(m − 1) − 1)/n, X from χ² with m − 1 degrees of freedom.
fn highest_rhat(chains: usize, draws: u64, summaries: &[Summary]) -> f64 {
    let mut ess: Vec<f64> = summaries.iter().map(|s| s.ess_bulk).collect();
    ess.sort_unstable_by(f64::total_cmp);
    let total = chains as f64 * draws as f64;
    let typical = ess.get(ess.len() / 2).copied().unwrap_or(total).min(total);
    if chains < 2 || summaries.len() <= FEW_COEFFICIENTS || !(typical > 0.0) {
        return APART;
    }
    let halves = 2.0 * chains as f64;
    let (degrees, each) = (halves - 1.0, typical / halves);
    // Wilson and Hilferty's quantile; R-hat is the larger of two, of ranks and of folded ranks.
    let tail = 1e-3 / (2.0 * summaries.len().max(1) as f64);
    let normal = (-2.0 * tail.ln()).sqrt();
    let part = 2.0 / (9.0 * degrees);
    let ratio = (1.0 - part + normal * part.sqrt()).powi(3);
    APART.max((1.0 + (ratio - 1.0) / each).sqrt())
}

/// Draws that would make the effective sample size large enough, rounded up to hundreds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a suggestion")]
fn enough(draws: u64, ess: f64) -> u64 {
    let factor = (1.5 * FEW / ess.max(1.0)).clamp(2.0, 1000.0);
    ((draws as f64 * factor / 100.0).ceil() as u64) * 100
}

/// The parameter where something is largest. Where it is not a number counts as the worst.
fn worst(
    names: &[String], summaries: &[Summary], of: impl Fn(&Summary) -> f64,
) -> Option<(String, f64)> {
    let rank = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
    let all = names.iter().zip(summaries).map(|(name, s)| (name, of(s)));
    let (name, value) = all.max_by(|a, b| rank(a.1).total_cmp(&rank(b.1)))?;
    Some((name.clone(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summaries(count: usize, ess: f64) -> Vec<Summary> {
        let mut draws = crate::Draws::default();
        crate::Sink::begin(&mut draws, 4, 1).unwrap();
        for k in 0..80_u32 {
            let point = [f64::from(k * 37 % 80)];
            crate::Sink::keep(&mut draws, k as usize % 4, u64::from(k) / 4, &point).unwrap();
        }
        let mut one = draws.summary().unwrap()[0];
        one.ess_bulk = ess;
        vec![one; count]
    }

    /// Independent draws of 7,000 coefficients: R-hat by its definition, from χ² laws of the variance
    /// between and within. None is above the limit, some are above 1.01; and a coefficient whose
    /// chains differ by half a standard deviation is.
    #[test]
    fn of_many_coefficients_in_a_short_run_none_is_apart_by_chance() {
        use rand::SeedableRng;
        use rand_distr::{ChiSquared, Distribution};
        let (chains, draws, count) = (8, 100, 7000);
        let most = highest_rhat(chains, draws, &summaries(count, 800.0));
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(1);
        let (m, n) = (16.0, 50.0);
        let between = ChiSquared::new(m - 1.0).unwrap();
        let within = ChiSquared::new(m * (n - 1.0)).unwrap();
        let mut rhat = |shift: f64| {
            let b = between.sample(&mut rng) / (m - 1.0) + n * shift * shift;
            let w = within.sample(&mut rng) / (m * (n - 1.0));
            ((n - 1.0) / n + b / w / n).sqrt()
        };
        let all: Vec<f64> = (0..2 * count).map(|_| rhat(0.0)).collect();
        assert!(all.iter().all(|rhat| *rhat < most), "{most}");
        assert!(all.iter().any(|rhat| *rhat > APART));
        assert!(rhat(0.5) > most && most < 1.05, "{most}");
        // Runs of the usual length keep the usual limit.
        assert_eq!(highest_rhat(8, 1000, &summaries(200, 5000.0)), APART);
    }
}

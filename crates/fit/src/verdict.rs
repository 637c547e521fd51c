//! What is to be said of a finished run: warnings with what to do, and one line of guarantee.

use ridgewalk_lyapunov::certificate::{Process, Setting, Verdict, certify_setting};
use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_lyapunov::planner::{IntegralRule, Problem, plan};
use ridgewalk_potentials::{Curvature, Obstacle};
use ridgewalk_sampler::automatic::{Bias, Length, Sampled};

use crate::document::{Parameter, Warning};
use crate::error::NoDraws;
use crate::excursion::Excursion;
use crate::settings::Settings;

/// Effective draws below which quantiles and R-hat cannot be relied on (Vehtari et al. 2021).
const FEW: f64 = 400.0;
/// The R-hat above which chains disagree (the same).
const APART: f64 = 1.01;
/// The acceptance below which trajectories are a waste.
const RARELY: f64 = 0.3;

/// The warnings of a run.
pub(crate) fn warnings(
    settings: &Settings,
    sampled: &Sampled,
    parameters: &[Parameter],
) -> Vec<Warning> {
    let length = settings.length();
    let mut found = Vec::new();
    let mut warn = |name: &str, text: String| found.push(Warning { name: name.into(), text });
    let ended: Vec<_> = sampled.outcome.ended().collect();
    if let Some((chain, end)) = ended.first() {
        warn(
            "divergence",
            format!(
                "{} of {} chains could not go on; chain {chain} at step {}: {}. Draws end where the first of them ended. Shorter steps help \
                 (--eta), or another kernel (--kernel third-order)",
                ended.len(),
                sampled.outcome.chains.len(),
                end.step,
                end.why
            ),
        );
    }
    let trajectories = sampled.outcome.acceptance();
    if trajectories.divergences > 0 && ended.is_empty() {
        warn(
            "divergence",
            format!(
                "{} of {} trajectories diverged and were rejected: where the posterior is steep, chains may stay away from what lies beyond. \
                 Shorter steps help (--eta), or tighter priors",
                trajectories.divergences, trajectories.proposals
            ),
        );
    }
    if trajectories.proposals > 0 && trajectories.rate() < RARELY {
        warn(
            "low_acceptance",
            format!(
                "{:.0} % of the trajectories were accepted, fewer than {:.0} %: chains stay where they are for long. Shorter steps help \
                 (--eta), or none given",
                100.0 * trajectories.rate(),
                100.0 * RARELY
            ),
        );
    }
    if sampled.outcome.stopped {
        warn(
            "stopped",
            "the run was stopped before it had all its draws; those made so far are kept".into(),
        );
    }
    if !sampled.within_tolerance {
        let Bias { mean, mean_error, sd, sd_error } = sampled.bias;
        warn(
            "bias_above_tolerance",
            format!(
                "the measured discretisation bias is {mean:.3} ± {mean_error:.3} sd for means and {:.1} ± {:.1} % for standard deviations, \
                 more than the tolerance of {} in the worst coefficient, or not known well enough to be called less. {}",
                100.0 * sd,
                100.0 * sd_error,
                settings.bias_tolerance,
                if settings.eta.is_some() {
                    "Without --eta a step is chosen that is short enough"
                } else {
                    "--bias-tolerance allows more, --kernel adjusted has none"
                }
            ),
        );
    }
    if let (false, Length::Ess { target, most }, false) =
        (sampled.reached, length, sampled.outcome.stopped || !ended.is_empty())
    {
        warn(
            "target_ess_not_reached",
            format!(
                "the smallest bulk ESS did not reach {target} in {most} draws of each chain: --max-draws allows more"
            ),
        );
    }
    let more = if matches!(length, Length::Ess { .. }) { "--max-draws" } else { "--draws" };
    let fewest = worst(parameters, |p| -p.ess_bulk.min(p.ess_tail));
    if let Some((name, ess)) =
        fewest.map(|(name, ess)| (name, -ess)).filter(|(_, ess)| !(*ess >= FEW))
    {
        let size = if ess.is_nan() {
            "that so few draws do not tell".into()
        } else {
            format!("of {ess:.0}")
        };
        warn(
            "low_ess",
            format!(
                "`{name}` has an effective sample size {size}: below {FEW} its mean and quantiles are rough. More draws help: {more} {}, \
                 or --target-ess {FEW}",
                enough(sampled.draws, ess)
            ),
        );
    }
    if settings.chains == 1 {
        warn(
            "one_chain",
            "with one chain there is no R-hat: whether chains agree is not known. --chains 4 or more tells"
                .into(),
        );
    } else if let Some((name, rhat)) =
        worst(parameters, |p| p.rhat).filter(|(_, rhat)| !(*rhat <= APART))
    {
        let known =
            if rhat.is_nan() { "not known from so few draws".into() } else { format!("{rhat:.3}") };
        warn(
            "high_rhat",
            format!(
                "R-hat of `{name}` is {known}: above {APART} the chains do not agree yet. Longer chains help: {more} {}",
                sampled.draws.saturating_mul(4)
            ),
        );
    }
    found
}

/// Why there is no draw that all chains have.
pub(crate) fn no_draws(sampled: &Sampled) -> NoDraws {
    let outcome = &sampled.outcome;
    let first = outcome.ended().find(|(chain, _)| outcome.chains[*chain].draws == 0);
    NoDraws {
        ended: outcome.ended().count(),
        chains: outcome.chains.len(),
        first: first.map(|(chain, end)| (chain, end.step, end.why.to_string())),
    }
}

/// The warning about draws that the posterior does not have.
pub(crate) fn excursion(found: &Excursion) -> Warning {
    let Excursion { draws, allowed, farthest } = found;
    Warning {
        name: "excursion".into(),
        text: format!(
            "{draws} draws are farther out than the posterior goes (an exact sample would have {allowed:.0e} of them at most; the farthest is \
             {farthest:.0} below the mode in log-density): now and then a step is too long, and means and standard deviations cannot be \
             relied on. A tenth of the step helps (--eta), or tighter priors"
        ),
    }
}

/// Draws that would make the effective sample size large enough, rounded up to hundreds.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a suggestion")]
fn enough(draws: u64, ess: f64) -> u64 {
    let factor = (1.5 * FEW / ess.max(1.0)).clamp(2.0, 1000.0);
    ((draws as f64 * factor / 100.0).ceil() as u64) * 100
}

/// The parameter where something is largest; one where it is not a number counts as the worst.
fn worst(parameters: &[Parameter], of: impl Fn(&Parameter) -> f64) -> Option<(&str, f64)> {
    let rank = |value: f64| if value.is_nan() { f64::INFINITY } else { value };
    let all = parameters.iter().map(|p| (p.name.as_str(), of(p)));
    all.max_by(|a, b| rank(a.1).total_cmp(&rank(b.1)))
}

/// One line: what is proved of this posterior, or why nothing is, and what was measured.
///
/// `white` is the curvature in the coordinates that were sampled in.
pub(crate) fn guarantee(
    settings: &Settings,
    scheme: &Scheme,
    white: &Curvature,
    dimension: usize,
    sampled: &Sampled,
) -> String {
    if scheme.kernel() == KernelKind::Adjusted {
        return "no discretisation bias: every trajectory is accepted or rejected so that the posterior stays as it is; what is left is the \
                Monte Carlo error, and how far the chains have come"
            .into();
    }
    let Bias { mean, mean_error, sd, sd_error } = sampled.bias;
    let measured = format!(
        "measured bias of the worst coefficient {mean:.3} ± {mean_error:.3} sd (mean), {:.1} ± {:.1} % (sd)",
        100.0 * sd,
        100.0 * sd_error
    );
    let [m, l] = match white.certifiable() {
        Ok(bounds) => bounds,
        Err(Obstacle::NotSmooth) => {
            return format!(
                "not certified: the curvature of this family has no upper bound; {measured}"
            );
        }
        Err(Obstacle::NotStronglyConvex) => {
            return format!(
                "not certified: flat or very wide priors leave the curvature without a lower bound; {measured}"
            );
        }
    };
    if let Some(factor) = contraction(settings, scheme, m, l) {
        return format!(
            "certified: each step brings any two chains on the same noise to at most {factor:.6} of their distance; {measured}"
        );
    }
    let line_integral = settings.nodes.map_or(IntegralRule::Exact, |nodes| IntegralRule::Nodes {
        nodes,
        lipschitz_hessian: None,
    });
    let planned = Problem::new(m, l, dimension as u64, settings.bias_tolerance, line_integral)
        .and_then(|problem| plan(&problem));
    match planned {
        Ok(Some(plan)) => format!(
            "not certified at this step (a proof to W2 {} would take Algorithm 1 {:.1e} steps of eta {:.1e}); {measured}",
            settings.bias_tolerance,
            plan.steps() as f64,
            // The plan is in units where L is 1, the run in those of whitened coordinates.
            plan.eta() / l.sqrt()
        ),
        _ => format!(
            "not certified: no plan was found for the condition number {:.1e}; {measured}",
            l / m
        ),
    }
}

/// The certified factor by which a step of the run itself brings chains closer, if there is one.
fn contraction(settings: &Settings, scheme: &Scheme, m: f64, l: f64) -> Option<f64> {
    // The run takes 1 for L. In units where it is l, time runs √l times as fast.
    let unit = l.sqrt();
    let eta = scheme.eta() * unit;
    let process = match scheme.kernel() {
        KernelKind::ThirdOrder => Process::ThirdOrder { eta, nodes: settings.nodes },
        KernelKind::Symmetric => Process::Symmetric { eta },
        _ => return None,
    };
    let kappa = if m == l { 1.0 } else { (l / m).next_up() };
    let setting = Setting::new(kappa, scheme.gamma()? / unit, scheme.xi()? / unit, process).ok()?;
    match certify_setting(&setting).ok()? {
        Verdict::Certified(certificate) => Some(certificate.speed()),
        _ => None,
    }
}

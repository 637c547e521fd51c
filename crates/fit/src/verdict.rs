//! The verdict on a finished run: warnings with remedies, and one line of guarantee.

use ridgewalk_lyapunov::certificate::{Setting, Verdict, certify_setting};
use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_lyapunov::planner::{IntegralRule, Problem, plan};
use ridgewalk_potentials::{Curvature, Obstacle};
use ridgewalk_sampler::automatic::{Bias, Sampled, Warning};

use crate::document::{CERTIFIED, WarningEntry};
use crate::settings::Settings;

/// A warning for the user: what it means and which settings to change.
pub(crate) fn entry(warning: &Warning, settings: &Settings) -> WarningEntry {
    let remedy = remedy(warning, settings);
    let text = if remedy.is_empty() { warning.to_string() } else { format!("{warning}. {remedy}") };
    WarningEntry { name: warning.name().into(), text }
}

/// The remedy for a warning.
fn remedy(warning: &Warning, settings: &Settings) -> String {
    let more = if settings.target_ess.is_some() { "--max-draws" } else { "--draws" };
    match warning {
        Warning::EndedChains { .. } => {
            "Try shorter steps (--eta) or another kernel (--kernel third-order)".into()
        }
        Warning::Divergences { .. } => "Try shorter steps (--eta) or tighter priors".into(),
        Warning::StuckChain { .. }
        | Warning::RejectedFarOut { .. }
        | Warning::LowEnergyFraction { .. }
        | Warning::UnequalChains { .. }
            if settings.eta.is_some() =>
        {
            "Leave --eta out: the program then picks a step that is short enough".into()
        }
        Warning::StuckChain { .. }
        | Warning::RejectedFarOut { .. }
        | Warning::LowEnergyFraction { .. } => {
            "Run again with half the step (--kernel adjusted --eta), more draws (--draws) or \
             tighter priors"
                .into()
        }
        Warning::UnequalChains { .. } => {
            format!(
                "Do not rely on the results. Try another --seed, more draws ({more}) or tighter priors"
            )
        }
        Warning::WrongMoments { .. } => {
            format!(
                "Do not rely on the results. Try longer chains ({more}), --standardize or tighter priors"
            )
        }
        Warning::LowAcceptance { .. } => "Try a smaller --eta, or leave --eta out".into(),
        Warning::BiasAboveTolerance { .. } if settings.eta.is_some() => {
            "Leave --eta out: the program then picks a step that is short enough".into()
        }
        Warning::BiasAboveTolerance { .. } => {
            "Leave --bias-tolerance and --kernel out: the default has no bias".into()
        }
        Warning::TargetEssNotReached { .. } => "Raise --max-draws".into(),
        Warning::LowEss { least, suggested_draws, .. } => {
            format!("Try more draws: {more} {suggested_draws}, or --target-ess {least}")
        }
        Warning::OneChain => "Pass --chains 4 or more".into(),
        Warning::HighRhat { suggested_draws, .. } => {
            format!("Try longer chains: {more} {suggested_draws}")
        }
        Warning::Excursion { .. } => "Try a tenth of the step (--eta) or tighter priors".into(),
        // No remedy, or none among the settings.
        _ => String::new(),
    }
}

/// One line: what is proved for this posterior, or why nothing is, and the measured bias.
///
/// `white` is the curvature in the coordinates used for sampling.
pub(crate) fn guarantee(
    settings: &Settings, scheme: &Scheme, white: Option<&Curvature>, dimension: usize,
    sampled: &Sampled,
) -> String {
    if scheme.kernel() == KernelKind::Subsampled {
        return "no discretisation bias: moves are accepted or rejected, by a few rows whose choice leaves the posterior exactly what the chains converge to; how close these draws are is measured, by ESS and R-hat; how fast chains converge is not proved"
            .into();
    }
    if scheme.kernel() == KernelKind::Adjusted {
        return "no discretisation bias: trajectories are accepted or rejected, so the posterior is exactly what the chains converge to; how close these draws are is measured, by ESS and R-hat; how fast chains converge is not proved"
            .into();
    }
    let Bias { mean, mean_error, sd, sd_error, quantile, quantile_error } = sampled.bias;
    let measured = format!(
        "measured bias of the worst coefficient {mean:.3} ± {mean_error:.3} sd (mean), {:.1} ± {:.1} % (sd), {quantile:.3} ± {quantile_error:.3} sd (5, 50 and 95 % quantiles)",
        100.0 * sd,
        100.0 * sd_error
    );
    let Some(white) = white else {
        return format!("not certified: the posterior is not log-concave; {measured}");
    };
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
            "{CERTIFIED}: it is proved that each step contracts the distance of any two chains on the same noise by a factor of at most {factor:.6}; {measured}"
        );
    }
    let line_integral = settings.nodes.map_or(IntegralRule::Exact, |nodes| IntegralRule::Nodes {
        nodes,
        derivatives: Vec::new(),
    });
    let planned = Problem::new(m, l, dimension as u64, settings.tolerance(), line_integral)
        .and_then(|problem| plan(&problem));
    match planned {
        Ok(Some(plan)) => format!(
            "not certified at this step (to guarantee W2 {}, Algorithm 1 would need {:.1e} steps of eta {:.1e}); {measured}",
            settings.tolerance(),
            plan.steps() as f64,
            // The plan uses units with L = 1, the run those of whitened coordinates.
            plan.eta() / l.sqrt()
        ),
        _ => format!(
            "not certified: no plan was found for the condition number {:.1e}; {measured}",
            l / m
        ),
    }
}

/// The certified contraction factor of a step of this run, if there is one.
fn contraction(settings: &Settings, scheme: &Scheme, m: f64, l: f64) -> Option<f64> {
    // The run assumes L = 1. In units where L = l, time runs √l times as fast.
    let unit = l.sqrt();
    let eta = scheme.eta() * unit;
    let process = scheme.kernel().process(eta, settings.nodes)?;
    let kappa = if m == l { 1.0 } else { (l / m).next_up() };
    let setting = Setting::new(kappa, scheme.gamma()? / unit, scheme.xi()? / unit, process).ok()?;
    match certify_setting(&setting).ok()? {
        Verdict::Certified(certificate) => Some(certificate.speed()),
        Verdict::Refuted(_) | Verdict::Unknown => None,
    }
}

//! What priors do to a posterior: in words, and whether they or the data decide.

use ridgewalk_potentials::Density;

use crate::document::{Parameter, WarningEntry};
use crate::model::Model;
use crate::prior_text::{Kind, rounded};
use crate::reading::ReportedPrior;

/// A posterior standard deviation above this share of the prior's is that of the prior.
const LITTLE: f64 = 0.9;
/// Data that say less than this about a standard deviation leave it to its prior, in nats: about as
/// much as turns half_normal(1) into half_normal(0.8).
const LEARNED: f64 = 0.05;
/// Standard deviations between prior and data that are a conflict. For many coefficients it takes
/// more, so that priors that are right have no warning in 19 of 20 fits.
const CONFLICT: f64 = 2.0;
const ALARMS: f64 = 0.05;
/// A conflict is a warning if the prior moves the estimate by more than this, in standard errors.
const MATERIAL: f64 = 0.5;
/// The most coefficients that a text names.
const NAMED: usize = 6;

/// The most priors that are listed.
const LISTED: usize = 12;

/// The priors of a model in words.
pub(crate) fn in_words(model: &Model) -> String {
    let (priors, auxiliary) = (model.priors(), model.auxiliary());
    let names = model.names();
    let equal = priors.coefficients.windows(2).all(|pair| pair[0] == pair[1]);
    let mut words = Vec::new();
    if equal && priors.coefficients.len() > 1 {
        let prior = rounded(&priors.coefficients[0], Kind::Real);
        words.push(format!("{prior} on every coefficient"));
    } else {
        let intercept = model.frame().intercept && priors.centred;
        let columns = model.frame().columns.max(1);
        for (k, (name, prior)) in names.iter().zip(&priors.coefficients).enumerate() {
            let place =
                if intercept && k % columns == 0 { " at the means of the predictors" } else { "" };
            words.push(format!("{name}{place} ~ {}", rounded(prior, Kind::Real)));
        }
    }
    let kind = auxiliary.kind();
    let parameters = auxiliary.names().iter().zip(&priors.parameters);
    let uniform = Density::Logistic { mean: 0.0, scale: 1.0 };
    if kind == Kind::Real && priors.parameters.iter().all(|prior| *prior == uniform) {
        words.push("probabilities of the levels at the means of the predictors ~ uniform".into());
    } else {
        words.extend(parameters.map(|(name, prior)| format!("{name} ~ {}", rounded(prior, kind))));
    }
    for (names, priors) in model.groups().terms().iter().zip(&priors.groups) {
        let sds = priors.sds.iter().enumerate();
        words.extend(
            sds.map(|(k, sd)| format!("{} ~ {}", names.sd(k), rounded(sd, Kind::Positive))),
        );
        if priors.sds.len() > 1 {
            words.push(format!("cor_{} ~ lkj({})", names.name, priors.concentration));
        }
    }
    if words.len() > LISTED {
        let more = words.len() - LISTED;
        let last: Vec<String> = words.split_off(words.len() - auxiliary.names().len().min(1));
        words.truncate(LISTED - last.len());
        words.extend(last);
        words.push(format!("and {more} more: see config.toml"));
    }
    words.join("; ")
}

/// What the user should know about the priors.
#[derive(Debug, Default)]
pub(crate) struct Checked {
    /// The coefficients about which the data say little, and those whose priors are off without
    /// harm.
    pub(crate) notes: Vec<String>,
    /// The coefficients about which prior and data disagree, and the standard deviations of groups
    /// about which the data say next to nothing.
    pub(crate) warnings: Vec<WarningEntry>,
}

/// Compares the posterior of each coefficient with its prior, and the prior with what the data alone
/// say. `mode` is that of the posterior as sampled, `parameters` are as reported.
pub(crate) fn check(model: &Model, mode: &[f64], parameters: &[Parameter]) -> Checked {
    let estimate = model.likelihood_estimate(mode);
    let columns = model.frame().columns.max(1);
    let unit = |k: usize| match (model.rescaling(), &model.frame().scaling) {
        (Some(rescaling), Some(scaling)) => rescaling.divisor(k, scaling),
        _ => 1.0,
    };
    let count = model.priors().coefficients.len();
    let threshold = CONFLICT.max(two_sided(ALARMS / count as f64));
    let [mut little, mut conflicts, mut far] = [const { Vec::new() }; 3];
    for (k, prior) in model.priors().coefficients.iter().enumerate() {
        let Some([mean, sd]) = moments(prior) else { continue };
        let name = &parameters[k].name;
        // The reported intercept is another number than the one that has the prior.
        let moved = model.priors().centred && model.frame().intercept && k % columns == 0;
        if !moved && parameters[k].sd > LITTLE * sd / unit(k) {
            little.push(format!("`{name}`"));
        }
        if let Some((estimates, errors)) = &estimate
            && (estimates[k] - mean).abs() > threshold * sd.hypot(errors[k])
        {
            // What a normal prior moves a normal estimate by, in standard errors.
            let error = errors[k];
            let moved = (estimates[k] - mean).abs() * error / (error * error + sd * sd);
            let [mean, sd, estimate, error] =
                [mean, sd, estimates[k], error].map(|x| short(x / unit(k)));
            let text = format!("`{name}` (prior {mean} ± {sd}, data alone {estimate} ± {error})");
            if moved > MATERIAL { &mut conflicts } else { &mut far }.push(text);
        }
    }
    let mut notes = Vec::new();
    if !little.is_empty() {
        let whose = if little.len() == 1 { "its posterior is" } else { "their posteriors are" };
        notes.push(format!(
            "the data say little about {}: {whose} mostly the prior",
            named(&little)
        ));
    }
    if !far.is_empty() {
        notes.push(format!(
            "the prior is far from the data for {}, but so wide that it changes the result by less \
             than {MATERIAL} standard errors",
            named(&far)
        ));
    }
    let conflict = (!conflicts.is_empty()).then(|| WarningEntry {
        name: "prior_conflict".into(),
        text: format!(
            "prior and data disagree about {}, so the prior changes the result. Check the units of \
             the data; use a wider prior (--prior, --priors), or the default, which follows the \
             units",
            named(&conflicts)
        ),
    });
    let warnings = conflict.into_iter().chain(unknown_scales(model, parameters)).collect();
    Checked { notes, warnings }
}

/// A warning about standard deviations of groups whose posterior is about their prior.
fn unknown_scales(model: &Model, parameters: &[Parameter]) -> Option<WarningEntry> {
    let mut found = Vec::new();
    for (names, priors) in model.groups().terms().iter().zip(&model.priors().groups) {
        for (k, prior) in priors.sds.iter().enumerate() {
            let name = names.sd(k);
            let parameter = parameters.iter().find(|parameter| parameter.name == name);
            let quantiles = parameter.map(|found| [found.q05, found.q50, found.q95]);
            if quantiles.and_then(|q| learned(prior, q)).is_some_and(|gain| gain < LEARNED) {
                let prior = rounded(prior, Kind::Positive);
                found.push(format!("`{name}` ({} levels, prior {prior})", names.levels.len()));
            }
        }
    }
    (!found.is_empty()).then(|| WarningEntry {
        name: "prior_decides".into(),
        text: format!(
            "the data say next to nothing about {}: what is reported is mostly the prior. Choose it \
             with care (--group-prior, --prior-of), or use the groups as a factor",
            named(&found)
        ),
    })
}

/// What the data say about a positive number, in nats: the divergence of its posterior from its prior
/// over the four intervals between the posterior's quantiles. That of all their numbers is larger.
fn learned(prior: &Density, quantiles: [f64; 3]) -> Option<f64> {
    let prior = ReportedPrior { density: *prior, positive: true, at_means: false };
    let (mut gain, mut below, mut expected) = (0.0, 0.0, 0.0);
    for (share, quantile) in [0.05, 0.5, 0.95].into_iter().zip(quantiles) {
        let probability = prior.probability_to(quantile)?;
        gain += (share - below) * ((share - below) / (probability - expected)).ln();
        (below, expected) = (share, probability);
    }
    Some(gain + (1.0 - below) * ((1.0 - below) / (1.0 - expected)).ln())
}

/// Three significant digits.
fn short(x: f64) -> String {
    let rounded: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    if rounded == 0.0 || (1e-4..1e7).contains(&rounded.abs()) {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}

fn named(list: &[String]) -> String {
    let mut names: Vec<String> = list.iter().take(NAMED).cloned().collect();
    if list.len() > NAMED {
        names.push(format!("{} others", list.len() - NAMED));
    }
    match names.as_slice() {
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
        [] => String::new(),
    }
}

/// The mean and the standard deviation of a prior that has them.
fn moments(prior: &Density) -> Option<[f64; 2]> {
    match *prior {
        Density::Normal { mean, scale } => Some([mean, scale]),
        Density::StudentT { degrees, mean, scale } if degrees > 2.0 => {
            Some([mean, scale * (degrees / (degrees - 2.0)).sqrt()])
        }
        Density::Laplace { mean, scale } => Some([mean, std::f64::consts::SQRT_2 * scale]),
        _ => None,
    }
}

/// The number of standard deviations that a normal variable exceeds, up or down, with this
/// probability, to three digits: bisection on Mill's bounds would do, this is Hastings' formula
/// (Abramowitz and Stegun 26.2.23).
fn two_sided(probability: f64) -> f64 {
    let t = (-2.0 * (0.5 * probability).ln()).sqrt();
    t - (2.515_517 + t * (0.802_853 + t * 0.010_328))
        / (1.0 + t * (1.432_788 + t * (0.189_269 + t * 0.001_308)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Quantiles of the absolute value of a normal variable.
    fn half_normal(scale: f64) -> [f64; 3] {
        [0.062_707, 0.674_490, 1.959_964].map(|q| scale * q)
    }

    #[test]
    fn data_say_the_divergence_of_the_posterior_from_the_prior() {
        let prior = Density::Normal { mean: 0.0, scale: 2.0 };
        assert!(learned(&prior, half_normal(2.0)).unwrap().abs() < 1e-6);
        for ratio in [0.9_f64, 0.7, 0.5, 0.2, 1.5] {
            let exact = -ratio.ln() + 0.5 * (ratio * ratio - 1.0);
            let found = learned(&prior, half_normal(2.0 * ratio)).unwrap();
            assert!(found > 0.6 * exact && found <= exact, "{ratio}: {found}, {exact}");
        }
        assert!(learned(&Density::Flat, half_normal(1.0)).is_none());
    }

    #[test]
    fn quantiles_are_those_of_tables() {
        for (probability, quantile) in [(0.05, 1.960), (0.01, 2.576), (0.001, 3.291)] {
            assert!((two_sided(probability) - quantile).abs() < 1e-3);
        }
    }
}

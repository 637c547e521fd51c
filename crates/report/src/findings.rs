//! What was asked and what was found, in plain sentences.

use std::fmt::Write;

use crate::html::{escape, listed};
use crate::model::Model;
use crate::numbers::{count, percent, signed, significant};
use ridgewalk_fit::{Checks, FamilyName, Parameter, Ratio, Reading, SummaryDocument};

/// The most coefficients with a sentence of their own.
const SENTENCES: usize = 4;
/// The most names in a list.
const NAMED: usize = 6;
/// The most predictors that the title names.
const PREDICTORS: usize = 4;

/// The title: what was asked.
pub(super) fn question(summary: &SummaryDocument, model: Option<&Model>) -> String {
    let Some(model) = model.filter(|model| !model.response.is_empty()) else {
        return escape(&summary.text.title);
    };
    let response = escape(&outcome(model));
    match model.columns.len() {
        0 => format!("What is typical of {response}?"),
        few if few <= PREDICTORS => {
            format!("How does {response} depend on {}?", listed(&model.columns, PREDICTORS))
        }
        many => format!("How does {response} depend on {} predictors?", count(many as u64)),
    }
}

/// The response in a title: the time of `Surv(time, event)`.
fn outcome(model: &Model) -> String {
    let inside = model.response.strip_prefix("Surv(").and_then(|rest| rest.split_once(','));
    inside.map_or_else(|| model.response.clone(), |(time, _)| time.trim().to_owned())
}

/// One sentence about what was fitted.
pub(super) fn fitted(summary: &SummaryDocument, model: Option<&Model>) -> String {
    let rows = count(summary.problem.n as u64);
    let Some(model) = model else {
        let family = escape(&crate::capital(&summary.problem.family));
        let d = count(summary.problem.d as u64);
        return format!("{family} model, {rows} observations, {d} coefficients.");
    };
    let formula = match &model.formula {
        Some(formula) => format!("<code>{}</code>: ", escape(formula)),
        None => String::new(),
    };
    let said = escape(&in_words(model, summary));
    let said = if formula.is_empty() { crate::capital(&said) } else { said };
    format!("{formula}{said}, fitted to {rows} rows of {}.", escape(&model.file))
}

/// The family in words.
fn in_words(model: &Model, summary: &SummaryDocument) -> String {
    let (family, response) = (model.family, outcome(model));
    match family {
        FamilyName::Logistic | FamilyName::Probit => {
            format!("a {family} regression of {}", event(model, summary))
        }
        FamilyName::Poisson => format!("a Poisson regression of the counts {response}"),
        FamilyName::NegativeBinomial => {
            format!("a negative binomial regression of the counts {response}")
        }
        FamilyName::Gaussian => format!("a linear regression of {response}"),
        FamilyName::StudentT | FamilyName::RobustLogistic | FamilyName::RobustHuber => {
            format!("a linear regression of {response} that tolerates outliers ({family})")
        }
        FamilyName::Gamma => format!("a gamma regression of the positive numbers {response}"),
        FamilyName::Ordinal => {
            format!("an ordinal regression of {response} ({})", model.levels.join(" < "))
        }
        FamilyName::Multinomial => {
            format!("a multinomial regression of {response} ({})", model.levels.join(", "))
        }
        _ => format!("a survival regression ({family}) of the time {response}"),
    }
}

/// What a probability is the probability of.
fn event(model: &Model, summary: &SummaryDocument) -> String {
    let response = &model.response;
    if model.trials {
        return format!("the share of {response}");
    }
    // A text response counts as 1 at its second level, which a note names.
    let front = format!("the response `{response}` is text: `");
    let level = summary.text.notes.iter().find_map(|note| {
        note.strip_prefix(&front).and_then(|rest| rest.split_once("` counts as 1")).map(|p| p.0)
    });
    let plain = response.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    match level {
        Some(level) => format!("the probability of {response} = {level}"),
        None if model.built_in => format!("the probability of {response} = 1 (a benign tumour)"),
        None if plain => format!("the probability of {response} = 1"),
        None => format!("the probability of {response}"),
    }
}

/// The findings as a list; empty if there is nothing to say.
pub(super) fn findings(
    summary: &SummaryDocument, model: Option<&Model>, checks: Option<&Checks>, groups: &[String],
) -> String {
    let Some(model) = model.filter(|_| !checks.is_some_and(|checks| checks.prior)) else {
        return String::new();
    };
    let said = Said { model, summary, event: event(model, summary) };
    let mut sentences = said.sentences();
    sentences.extend(groups.iter().cloned());
    let link = "see <a href=\"#checks\">the checks</a>";
    match checks {
        Some(checks) if !crate::checks::misfits(checks).is_empty() => {
            sentences
                .push(format!("The model does not describe the data in every respect: {link}."));
        }
        Some(checks) if checks.loo.as_ref().and_then(crate::checks::influential).is_some() => {
            sentences.push(format!("Single rows have a strong influence on the result: {link}."));
        }
        _ => {}
    }
    if sentences.is_empty() {
        return String::new();
    }
    let mut html = "<div class=\"found\" id=\"found\">\n<h2>What was found</h2>\n<ul>\n".to_owned();
    for sentence in sentences {
        let _ = writeln!(html, "<li>{sentence}</li>");
    }
    html.push_str("</ul>\n");
    if !summary.text.warnings.is_empty() {
        html.push_str("<p class=\"small\">Read the warnings first: they may change this.</p>\n");
    }
    let compared = |number| !matches!(model.reading(number), None | Some(Reading::Joint));
    if (0..model.coefficients).filter(|k| model.compares(*k) && compared(*k)).count() > 1 {
        html.push_str(
            "<p class=\"small\">Each sentence compares rows that are equal in all other predictors. \
             That one thing goes with another does not mean that it causes it.</p>\n",
        );
    }
    html + "</div>\n"
}

/// What sentences are made of.
struct Said<'a> {
    model: &'a Model,
    summary: &'a SummaryDocument,
    event: String,
}

impl Said<'_> {
    fn sentences(&self) -> Vec<String> {
        let parameters = &self.summary.parameters;
        let read = |wanted: fn(&Reading) -> bool| {
            let each = parameters.iter().zip(&self.model.readings).enumerate();
            each.filter(move |(_, (_, reading))| wanted(reading))
        };
        let single = read(|r| matches!(r, Reading::Number | Reading::Level { .. }));
        let (mut clear, mut unclear): (Vec<_>, Vec<_>) =
            single.partition(|(_, (parameter, _))| is_clear(parameter));
        let size = |p: &Parameter| (p.mean / p.sd).abs();
        clear.sort_by(|a, b| size(b.1.0).total_cmp(&size(a.1.0)));
        unclear.retain(|(_, (p, _))| p.q50.is_finite());
        let mut said: Vec<String> = clear
            .iter()
            .take(SENTENCES)
            .map(|(number, (parameter, reading))| self.clear(*number, parameter, reading))
            .collect();
        if clear.len() > SENTENCES {
            let more = clear.len() - SENTENCES;
            let are = if more == 1 { "coefficient has" } else { "coefficients have" };
            said.push(format!(
                "{more} more {are} a clear direction: see the <a href=\"#effects\">effects</a>."
            ));
        }
        said.extend(self.unclear(&unclear.iter().map(|(_, (p, _))| *p).collect::<Vec<_>>()));
        let joint: Vec<String> =
            read(|r| *r == Reading::Joint).map(|(_, (p, _))| p.name.clone()).collect();
        said.extend(self.joint(&joint));
        said
    }

    /// A coefficient whose interval does not include 0.
    fn clear(&self, number: usize, parameter: &Parameter, reading: &Reading) -> String {
        let model = self.model;
        let up = parameter.q50 > 0.0;
        let (more, longer) = if up { ("higher", "longer") } else { ("lower", "shorter") };
        let response = escape(&outcome(model));
        let base = model.levels.first().map_or("the first level", String::as_str);
        let event = escape(&self.event);
        // What goes up or down, and what is multiplied.
        let (what, of) = match model.family {
            FamilyName::Logistic => {
                let event = event.strip_prefix("the ").unwrap_or(&event);
                (format!("a {more} {event}"), "the odds".to_owned())
            }
            FamilyName::Probit => {
                let event = event.strip_prefix("the ").unwrap_or(&event);
                (format!("a {more} {event}"), String::new())
            }
            FamilyName::Poisson | FamilyName::NegativeBinomial if model.offset => {
                (format!("a {more} rate of {response}"), "the rate".to_owned())
            }
            FamilyName::Poisson | FamilyName::NegativeBinomial => {
                (format!("a {more} mean of {response}"), "it".to_owned())
            }
            FamilyName::Gamma => (format!("a {more} mean of {response}"), "it".to_owned()),
            FamilyName::Ordinal => {
                (format!("{more} levels of {response}"), "the odds of higher levels".to_owned())
            }
            FamilyName::Multinomial => {
                let level = model.levels.get(model.predictor(number) + 1);
                let level = level.map_or("", String::as_str);
                let (level, base) = (escape(level), escape(base));
                let odds = "these odds".to_owned();
                (format!("{more} odds of {level} against {base}"), odds)
            }
            family if family.is_survival() => {
                (format!("{longer} times ({response})"), "times".to_owned())
            }
            _ => (format!("{more} {response}"), "it".to_owned()),
        };
        let name = escape(&parameter.name);
        let goes = match reading {
            Reading::Level { level, base } => {
                let base = base.as_deref().map_or_else(|| "the first level".to_owned(), escape);
                format!("<b>{name}</b>: {}, compared with {base}, goes with {what}.", escape(level))
            }
            _ => format!("<b>{name}</b>: higher values go with {what}."),
        };
        let unit = match (model.standardized, reading) {
            (true, Reading::Level { .. }) => "One standard deviation of its 0/1 column",
            (true, _) => "One more standard deviation",
            (false, Reading::Level { .. }) => "The difference",
            _ => "One more unit",
        };
        let share = percent(self.summary.interval);
        let [low, high] = parameter.central();
        let size = if model.ratio.is_some() {
            let [at, low, high] = [parameter.q50, low, high].map(f64::exp);
            let width = high - low;
            let [at, low, high] = [at, low, high].map(|x| significant(x, width));
            format!("{unit} multiplies {of} by {at} ({share} interval {low} to {high}).")
        } else {
            let [at, low, high] = [parameter.q50, low, high].map(|x| signed(x, high - low));
            let what = if of.is_empty() { "the coefficient is" } else { "changes it by" };
            if of.is_empty() {
                format!(
                    "On the scale of a normal curve, {what} {at} ({share} interval {low} to {high})."
                )
            } else {
                format!("{unit} {what} {at} ({share} interval {low} to {high}).")
            }
        };
        format!("{goes} {size}")
    }

    /// Coefficients whose intervals include 0.
    fn unclear(&self, unclear: &[&Parameter]) -> Option<String> {
        let names: Vec<String> = unclear.iter().map(|p| p.name.clone()).collect();
        let share = percent(self.summary.interval);
        let (same, of) = match self.model.ratio {
            Some(ratio) => (1, ratio.name()),
            None => (0, "coefficient"),
        };
        match unclear {
            [] => None,
            [one] => {
                let [low, high] = one.central();
                let ends = match self.model.ratio {
                    Some(_) => [low, high].map(|x| significant(x.exp(), high.exp() - low.exp())),
                    None => [low, high].map(|x| signed(x, high - low)),
                };
                let [low, high] = ends;
                Some(format!(
                    "For <b>{}</b> the direction is not clear: the {share} interval of its {of}, {low} \
                     to {high}, includes {same}.",
                    escape(&one.name)
                ))
            }
            _ => {
                let plural = self.model.ratio.map_or("coefficients", Ratio::plural);
                Some(format!(
                    "For {} the direction is not clear: the {share} intervals of their {plural} \
                     include {same}.",
                    listed(&names, NAMED)
                ))
            }
        }
    }

    /// Coefficients that mean something only together.
    fn joint(&self, names: &[String]) -> Option<String> {
        if names.is_empty() {
            return None;
        }
        let verb = if names.len() == 1 { "describes" } else { "describe" };
        Some(format!(
            "{} {verb} interactions or curves, or share a predictor with other terms. Such coefficients \
             cannot be read one by one: <code>ridgewalk effects</code> shows what they do together.",
            listed(names, NAMED)
        ))
    }
}

/// Whether the interval is on one side of 0.
fn is_clear(parameter: &Parameter) -> bool {
    let [low, high] = parameter.central();
    low > 0.0 || high < 0.0
}

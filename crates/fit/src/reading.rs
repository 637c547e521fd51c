//! How the coefficients of a run are read: what each stands for, and its prior on the scale of the
//! results. The report makes its sentences and its plots of priors from this.

use std::collections::{BTreeSet, HashMap};

use ridgewalk_frame::FamilyName;
use ridgewalk_potentials::Density;

use crate::config::Config;
use crate::prior_text::{Kind, rounded};

/// The name of the intercept.
const INTERCEPT: &str = "(Intercept)";
/// Points of the sum that normalises a density.
const POINTS: usize = 2000;

/// What a coefficient stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reading {
    /// The intercept.
    Intercept,
    /// The change for one more unit of a predictor.
    Number,
    /// The difference of a level from the base level; `None` for the first interval of `cut`.
    Level {
        /// The level.
        level: String,
        /// The base level.
        base: Option<String>,
    },
    /// The value of a level itself, in a model without an intercept.
    Own,
    /// A part of something larger: an interaction, a polynomial, a spline, a contrast, or one of
    /// several terms with the same column.
    Joint,
}

/// The prior of a reported number.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct ReportedPrior {
    /// The density, up to a constant.
    pub density: Density,
    /// Whether it is for positive numbers only.
    pub positive: bool,
    /// Whether it is not that of the reported intercept, but of the intercept at the means of the
    /// predictors.
    pub at_means: bool,
}

impl ReportedPrior {
    /// The prior as users write it, with four digits.
    #[must_use]
    pub fn text(&self) -> String {
        rounded(&self.density, if self.positive { Kind::Positive } else { Kind::Real })
    }

    /// The density as a function whose integral is 1; `None` if it is flat.
    ///
    /// The constant is a sum over x = mean + scale tan θ, which reaches the heaviest tails.
    #[must_use]
    pub fn normalized(&self) -> Option<impl Fn(f64) -> f64 + use<>> {
        let Self { density, positive, .. } = *self;
        let total = self.mass(f64::INFINITY)?;
        let relative = move |x: f64| (-density.value_and_slope(x)[0]).exp();
        (total.is_finite() && total > 0.0)
            .then_some(move |x: f64| if positive && !(x > 0.0) { 0.0 } else { relative(x) / total })
    }

    /// The probability of numbers up to x; `None` if the density is flat.
    #[must_use]
    pub fn probability_to(&self, x: f64) -> Option<f64> {
        let share = self.mass(x)? / self.mass(f64::INFINITY)?;
        share.is_finite().then_some(share)
    }

    /// The integral of the density as it is given, up to x.
    fn mass(&self, x: f64) -> Option<f64> {
        use std::f64::consts::FRAC_PI_2;
        let Self { density, positive, .. } = *self;
        let (mean, scale) = match density {
            Density::Normal { mean, scale }
            | Density::StudentT { mean, scale, .. }
            | Density::Laplace { mean, scale }
            | Density::Logistic { mean, scale } => (mean, scale),
            Density::Exponential { rate } => (0.0, 1.0 / rate),
            Density::Gamma { shape, rate } => (0.0, shape / rate),
            _ => return None,
        };
        let from = if positive { -(mean / scale).atan() } else { -FRAC_PI_2 };
        let step = (((x - mean) / scale).atan() - from).max(0.0) / POINTS as f64;
        let at = |k: usize| {
            let tan = (from + (k as f64 + 0.5) * step).tan();
            (-density.value_and_slope(mean + scale * tan)[0]).exp() * scale * (1.0 + tan * tan)
        };
        Some((0..POINTS).map(at).sum::<f64>() * step)
    }
}

impl Config {
    /// What each coefficient stands for, in the order of draws. Empty for a run whose configuration
    /// does not have the terms.
    #[must_use]
    pub fn readings(&self) -> Vec<Reading> {
        let resolved = &self.resolved;
        let columns = resolved.terms.len();
        if columns == 0 || !resolved.coefficients.len().is_multiple_of(columns) {
            return Vec::new();
        }
        let several = self.options.family == FamilyName::Multinomial;
        let columns_of =
            Columns::new(&resolved.coding.columns().unwrap_or_default(), &resolved.terms);
        // Coefficients of a level have its name in front; the first level has none.
        let of = |(k, name): (usize, &String)| {
            let level = resolved.levels.get(k / columns + 1).filter(|_| several);
            let front = level.map_or_else(String::new, |level| format!("{level}:"));
            let name = name.strip_prefix(front.as_str()).unwrap_or(name);
            self.reading(name, k % columns, &columns_of)
        };
        resolved.coefficients.iter().enumerate().map(of).collect()
    }

    fn reading(&self, name: &str, column: usize, columns: &Columns<'_>) -> Reading {
        let (coding, terms) = (&self.resolved.coding, &self.resolved.terms);
        let term = &terms[column];
        if term == INTERCEPT {
            return Reading::Intercept;
        }
        let Some(of_term) = columns.of_terms.get(term.as_str()) else { return Reading::Joint };
        if of_term.joint || !coding.variables().contains(term) {
            return Reading::Joint;
        }
        let together = of_term.coefficients;
        if name == term {
            return Reading::Number;
        }
        let inner = name.strip_prefix(term.as_str()).and_then(|rest| rest.strip_prefix('['));
        let Some(level) = inner.and_then(|rest| rest.strip_suffix(']')) else {
            return Reading::Joint;
        };
        let level = level.to_owned();
        if term.starts_with("cut(") {
            // Thresholds take the place of an intercept.
            let ordinal = self.options.family == FamilyName::Ordinal;
            let constant = ordinal || terms.first().is_some_and(|term| term == INTERCEPT);
            let base = Reading::Level { level, base: None };
            return if constant { base } else { Reading::Own };
        }
        let levels = coding.levels(term);
        match levels.or_else(|| of_term.columns.iter().find_map(|column| coding.levels(column))) {
            Some(levels) if levels.contains(&level) => match levels.first() {
                _ if together == levels.len() => Reading::Own,
                base => Reading::Level { level, base: base.cloned() },
            },
            _ => Reading::Joint,
        }
    }

    /// The prior of each reported number, in the order of draws; `None` where the prior is not one
    /// of that number alone, as for thresholds, which are ordered.
    #[must_use]
    pub fn reported_priors(&self) -> Vec<Option<ReportedPrior>> {
        let (resolved, settings) = (&self.resolved, &self.options);
        let Ok(priors) = resolved.model_priors(settings) else { return Vec::new() };
        let moved = settings.original_scale || (priors.centred && !settings.standardize);
        let scaling = resolved.centres.as_ref().zip(resolved.divisors.as_ref());
        let scaling = scaling.filter(|_| moved);
        let coefficient = |(k, density): (usize, &Density)| {
            let Some((centres, divisors)) = scaling else {
                return Some(ReportedPrior { density: *density, positive: false, at_means: false });
            };
            let column = k % centres.len().max(1);
            let at_means =
                resolved.coefficients.get(k).is_some_and(|name| name.ends_with(INTERCEPT));
            let density = rescaled(density, divisors.get(column).copied().unwrap_or(1.0));
            Some(ReportedPrior { density, positive: false, at_means })
        };
        let positive = settings.family != FamilyName::Ordinal;
        let parameter = |density: &Density| {
            let prior = ReportedPrior { density: *density, positive: true, at_means: false };
            positive.then_some(prior)
        };
        let coefficients = priors.coefficients.iter().enumerate().map(coefficient);
        let of_sd = |density: &Density| {
            Some(ReportedPrior { density: *density, positive: true, at_means: false })
        };
        // Correlations follow the standard deviations of their grouping.
        let groups = self.resolved.groups();
        let of_groups = groups.terms().iter().zip(&priors.groups).flat_map(|(names, priors)| {
            let correlations = names.parameters().len() - priors.sds.len();
            let sds: Vec<_> = priors.sds.iter().map(of_sd).collect();
            sds.into_iter().chain(std::iter::repeat_n(None, correlations))
        });
        let own = coefficients.chain(priors.parameters.iter().map(parameter));
        own.chain(of_groups).collect()
    }
}

/// The density of x/divisor if that of x is given.
fn rescaled(density: &Density, divisor: f64) -> Density {
    match *density {
        Density::Normal { mean, scale } => {
            Density::Normal { mean: mean / divisor, scale: scale / divisor }
        }
        Density::StudentT { degrees, mean, scale } => {
            Density::StudentT { degrees, mean: mean / divisor, scale: scale / divisor }
        }
        Density::Laplace { mean, scale } => {
            Density::Laplace { mean: mean / divisor, scale: scale / divisor }
        }
        Density::Logistic { mean, scale } => {
            Density::Logistic { mean: mean / divisor, scale: scale / divisor }
        }
        Density::Exponential { rate } => Density::Exponential { rate: rate * divisor },
        Density::Gamma { shape, rate } => Density::Gamma { shape, rate: rate * divisor },
        _ => Density::Flat,
    }
}

/// The columns that the terms of a model are made of.
struct Columns<'a> {
    of_terms: HashMap<&'a str, OfTerm>,
}

/// Those of a term.
#[derive(Default)]
struct OfTerm {
    /// In the order of the model.
    columns: Vec<String>,
    /// The number of coefficients.
    coefficients: usize,
    /// Whether another term has one of the columns too.
    joint: bool,
}

impl<'a> Columns<'a> {
    /// Each term is read once: there may be thousands, and as many columns.
    fn new(known: &[String], terms: &'a [String]) -> Self {
        let places = known.iter().enumerate().map(|(place, name)| (name.as_str(), place));
        let places: HashMap<&str, usize> = places.collect();
        // Names that are no single words are looked for one by one.
        let longer: Vec<usize> =
            (0..known.len()).filter(|k| !known[*k].chars().all(part)).collect();
        let mut of_terms: HashMap<&str, OfTerm> = HashMap::new();
        let mut found: HashMap<&str, Vec<usize>> = HashMap::new();
        let mut uses = vec![0; known.len()];
        for term in terms {
            of_terms.entry(term).or_default().coefficients += 1;
            found.entry(term).or_insert_with(|| {
                let words = term.split(|c| !part(c)).filter(|word| !word.is_empty());
                let words = words.filter_map(|word| places.get(word).copied());
                let others = longer.iter().copied().filter(|k| mentions(term, &known[*k]));
                let all: BTreeSet<usize> = words.chain(others).collect();
                all.iter().for_each(|k| uses[*k] += 1);
                all.into_iter().collect()
            });
        }
        for (term, columns) in found {
            let of_term = of_terms.entry(term).or_default();
            of_term.joint = columns.iter().any(|k| uses[*k] > 1);
            of_term.columns = columns.into_iter().map(|k| known[k].clone()).collect();
        }
        Self { of_terms }
    }
}

/// Whether a character can be part of a word.
fn part(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// Whether a text has a name in it, as a word.
fn mentions(text: &str, name: &str) -> bool {
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            !text[..at].chars().next_back().is_some_and(part)
                && !text[at + name.len()..].chars().next().is_some_and(part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_a_whole_word() {
        assert!(mentions("log(dose)", "dose") && mentions("dose:sex", "sex"));
        assert!(!mentions("doses", "dose") && !mentions("my.dose", "dose") && !mentions("x", ""));
    }

    /// Heights of the textbook densities at 1.
    #[test]
    fn densities_integrate_to_1() {
        let real = [
            (Density::Normal { mean: 0.5, scale: 2.0 }, 0.193_334_058_4),
            (Density::StudentT { degrees: 1.0, mean: 0.0, scale: 1.0 }, 0.159_154_943_1),
            (Density::Laplace { mean: 0.0, scale: 1.0 }, 0.183_939_720_6),
            (Density::Logistic { mean: 0.0, scale: 1.0 }, 0.196_611_933_2),
        ];
        let positive = [
            (Density::Normal { mean: 0.0, scale: 1.0 }, 0.483_941_449_0),
            (Density::Exponential { rate: 2.0 }, 0.270_670_566_5),
            (Density::Gamma { shape: 2.0, rate: 0.1 }, 0.009_048_374_2),
        ];
        let real = real.map(|(density, height)| (density, false, height));
        let positive = positive.map(|(density, height)| (density, true, height));
        for (density, positive, height) in real.into_iter().chain(positive) {
            let prior = ReportedPrior { density, positive, at_means: false };
            let found = prior.normalized().unwrap()(1.0);
            assert!((found / height - 1.0).abs() < 1e-4, "{density:?}: {found}");
        }
        let flat = ReportedPrior { density: Density::Flat, positive: false, at_means: false };
        assert!(flat.normalized().is_none());
    }

    /// If x is normal with sd 6, x/3 is normal with sd 2.
    #[test]
    fn a_divided_coefficient_has_a_divided_prior() {
        let found = rescaled(&Density::Normal { mean: 3.0, scale: 6.0 }, 3.0);
        assert_eq!(found, Density::Normal { mean: 1.0, scale: 2.0 });
        let found = rescaled(&Density::Gamma { shape: 2.0, rate: 1.0 }, 4.0);
        assert_eq!(found, Density::Gamma { shape: 2.0, rate: 4.0 });
    }
}

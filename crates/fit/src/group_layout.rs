//! Groupings in what a fit leaves: where their effects are in a summary, and the arrays that their
//! draws make in an export.

use std::collections::HashSet;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::document::{Parameter, SummaryDocument, number};
use crate::groups::{GroupNames, Groups};

/// One grouping of a summary.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct GroupSummary {
    /// The grouping factor or the smooth.
    pub name: String,
    /// The coefficients of each level.
    pub coefficients: Vec<String>,
    /// The number of levels.
    pub levels: usize,
    /// Whether it is the wiggly part of a smooth.
    pub smooth: bool,
    /// The place of its first effect among the parameters. Effects are stored level by level.
    pub first: usize,
    /// The smallest bulk or tail ESS of its effects.
    #[serde(deserialize_with = "number")]
    pub smallest_ess: f64,
    /// The largest R-hat of its effects.
    #[serde(deserialize_with = "number")]
    pub largest_rhat: f64,
}

impl GroupSummary {
    /// The places of its effects among the parameters.
    #[must_use]
    pub fn range(&self) -> Range<usize> {
        self.first..self.first.saturating_add(self.effects())
    }

    /// The number of its effects.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.levels.saturating_mul(self.coefficients.len())
    }
}

impl SummaryDocument {
    /// The same with the groupings of the model. Their effects are the last parameters.
    pub(crate) fn with_groups(self, groups: &Groups) -> Self {
        let mut first = self.parameters.len().saturating_sub(groups.effects());
        let one = |names: &GroupNames| {
            let effects = &self.parameters[first..first + names.effects()];
            let (smallest_ess, largest_rhat) = (smallest_ess(effects), largest_rhat(effects));
            let of = GroupSummary {
                name: names.name.clone(),
                coefficients: names.coefficients.clone(),
                levels: names.levels.len(),
                smooth: names.smooth,
                first,
                smallest_ess,
                largest_rhat,
            };
            first += names.effects();
            of
        };
        let groups = groups.terms().iter().map(one).collect();
        Self { groups, ..self }
    }

    /// The number of parameters before the effects of groups: coefficients, parameters, standard
    /// deviations and correlations.
    #[must_use]
    pub fn before_effects(&self) -> usize {
        let first = self.groups.iter().map(|group| group.first).min();
        first.unwrap_or(usize::MAX).min(self.parameters.len())
    }

    /// The same without the effects of groups among its parameters.
    #[must_use]
    pub fn without_effects(&self) -> Self {
        let parameters = self.parameters[..self.before_effects()].to_vec();
        Self { parameters, ..self.clone() }
    }

    /// The parameters, effects of groups aside, that are listed where all would be too many: the first,
    /// and a few of the last, which are not coefficients.
    #[must_use]
    pub fn listed(&self, most: usize) -> Vec<usize> {
        const LAST: usize = 5;
        let count = self.before_effects();
        if count <= most {
            return (0..count).collect();
        }
        let last = LAST.min(most);
        (0..most - last).chain(count - last..count).collect()
    }

    /// The same with these parameters alone.
    #[must_use]
    pub fn only(&self, parameters: &[usize]) -> Self {
        let parameters = parameters.iter().filter_map(|&k| self.parameters.get(k).cloned());
        Self { parameters: parameters.collect(), ..self.clone() }
    }

    /// The same with nothing but the effects of one grouping, or of all that are not smooths if there
    /// are such. `None` if there is no grouping of that name.
    #[must_use]
    pub fn only_effects(&self, name: Option<&str>) -> Option<Self> {
        let plain = self.groups.iter().any(|group| !group.smooth);
        let wanted = |group: &&GroupSummary| match name {
            Some(name) => group.name == name,
            None => !(group.smooth && plain),
        };
        let groups: Vec<&GroupSummary> = self.groups.iter().filter(wanted).collect();
        if groups.is_empty() {
            return None;
        }
        let of = |group: &&GroupSummary| self.parameters.get(group.range());
        let parameters = groups.iter().filter_map(of).flatten().cloned().collect();
        Some(Self { parameters, groups: Vec::new(), ..self.clone() })
    }
}

pub(crate) fn smallest_ess(parameters: &[Parameter]) -> f64 {
    parameters.iter().flat_map(|p| [p.ess_bulk, p.ess_tail]).fold(f64::NAN, f64::min)
}

pub(crate) fn largest_rhat(parameters: &[Parameter]) -> f64 {
    parameters.iter().map(|p| p.rhat).fold(f64::NAN, f64::max)
}

/// A variable that some columns of the draws make up, with a dimension for each of its names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct DrawsArray {
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Names and labels of its dimensions behind chain and draw; the last varies fastest.
    pub dims: Vec<(String, Vec<String>)>,
    /// The columns of the draws.
    pub columns: Range<usize>,
}

impl Groups {
    /// The arrays of all groupings, whose parameters are the columns from `first` on: for each
    /// grouping `sd_g`, `cor_g` if it has correlations, and `r_g`.
    #[must_use]
    pub fn arrays(&self, first: usize) -> Vec<DrawsArray> {
        let (mut parameter, mut effect) = (first, first + self.parameters().len());
        let mut taken = HashSet::new();
        let mut arrays = Vec::new();
        for term in self.terms() {
            let name = usable(&term.name, &mut taken);
            let (wide, levels) = (term.coefficients.len(), term.levels.len());
            let (coefficient, level) = (format!("{name}__coefficient"), format!("{name}__level"));
            let next = |from: &mut usize, count: usize| {
                let start = std::mem::replace(from, *from + count);
                start..*from
            };
            let mut push = |kind: &str, said: String, dims, columns| {
                let name = format!("{kind}_{name}");
                arrays.push(DrawsArray { name, description: said, dims, columns });
            };
            let own = || (coefficient.clone(), term.coefficients.clone());
            let names = || (level.clone(), term.levels.clone());
            let of = &term.name;
            let sds = next(&mut parameter, wide);
            let pairs = next(&mut parameter, wide * (wide - 1) / 2);
            let effects = next(&mut effect, wide * levels);
            if term.smooth {
                push("sd", format!("standard deviation of the wiggles of {of}"), vec![], sds);
                push("r", format!("wiggles of {of}"), vec![names()], effects);
                continue;
            }
            push("sd", format!("standard deviations of the effects of {of}"), vec![own()], sds);
            if !pairs.is_empty() {
                let said = format!("correlations of the effects of {of}");
                let labels = term.parameters().into_iter().skip(wide);
                let front = format!("cor_{of}__");
                let labels = labels.map(|label| label.replacen(&front, "", 1)).collect();
                push("cor", said, vec![(format!("{name}__pair"), labels)], pairs);
            }
            push("r", format!("effects of {of}"), vec![names(), own()], effects);
        }
        arrays
    }
}

/// A name that can be that of a directory and of a variable in netCDF, and is not taken.
fn usable(name: &str, taken: &mut HashSet<String>) -> String {
    let bad = |c: char| c.is_control() || "/\\:*?\"<>|".contains(c);
    let plain: String = name.chars().map(|c| if bad(c) { '.' } else { c }).take(60).collect();
    // Some file systems do not tell capital letters from small ones.
    let name = (1..)
        .map(|k| if k == 1 { plain.clone() } else { format!("{plain}.{k}") })
        .find(|name| !taken.contains(&name.to_lowercase()))
        .unwrap_or_default();
    taken.insert(name.to_lowercase());
    name
}

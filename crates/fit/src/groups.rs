//! Group effects of a model: what they are called, their priors, and where they stand in the
//! posterior and among what is reported.
//!
//! The posterior has, for each linear predictor, the coefficients of the design and then the effects
//! of the groups, level by level; then the parameters of the likelihood, and those of the groups.
//! Reported are coefficients, parameters, standard deviations and correlations, and last the effects.

use std::sync::Arc;

use ridgewalk_frame::{Coding, Frame, GroupEntries, Grouping, Matrix};
use ridgewalk_potentials::{self as potentials, Density, Design, GroupTerm, Mixed, Sparse};
use serde::{Deserialize, Serialize};

use crate::prior_text::{Kind, PriorText, written};
use crate::priors::PriorError;

/// The default scale of a standard deviation of effects, in units of response and predictor.
const DEFAULT_SCALE: f64 = 2.5;
/// The default concentration of correlations: all correlation matrices are equally likely.
pub(crate) const CONCENTRATION: f64 = 1.0;

/// One grouping of one linear predictor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupNames {
    /// The grouping factor or the smooth, with the level of a multinomial response before it.
    pub name: String,
    /// The coefficients of each level.
    pub coefficients: Vec<String>,
    /// The levels.
    pub levels: Vec<String>,
    /// Whether it is the wiggly part of a smooth.
    pub smooth: bool,
    /// The linear predictor that it belongs to.
    pub predictor: usize,
    /// Its number among the groupings of the frame.
    pub grouping: usize,
}

/// The groupings of a model, for each linear predictor in turn.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Groups {
    terms: Vec<GroupNames>,
}

/// The priors of the effects of one grouping.
#[derive(Debug, Clone, PartialEq)]
pub struct GroupPriors {
    /// Of the standard deviation of each coefficient.
    pub sds: Vec<Density>,
    /// The concentration η of the correlations' prior, LKJ(η).
    pub concentration: f64,
}

/// [`GroupPriors`] in `config.toml`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GroupPriorsText {
    /// Of the standard deviations.
    pub sds: Vec<String>,
    /// The concentration of the correlations' prior.
    pub concentration: f64,
}

impl Groups {
    /// Those of a coding, for the levels of the response that have a linear predictor of their own,
    /// or none for one linear predictor.
    #[must_use]
    pub fn new(coding: &Coding, predictors: &[String]) -> Self {
        let prefixes: Vec<String> = match predictors {
            [] => vec![String::new()],
            _ => predictors.iter().map(|level| format!("{level}:")).collect(),
        };
        let groups: Vec<ridgewalk_frame::GroupNames<'_>> = coding.groups().collect();
        let each = prefixes.iter().enumerate().flat_map(|(predictor, prefix)| {
            groups.iter().enumerate().map(move |(grouping, group)| GroupNames {
                name: format!("{prefix}{}", group.name),
                coefficients: group.coefficients.to_vec(),
                levels: group.levels.to_vec(),
                smooth: group.smooth,
                predictor,
                grouping,
            })
        });
        Self { terms: each.collect() }
    }

    /// The groupings.
    #[must_use]
    pub fn terms(&self) -> &[GroupNames] {
        &self.terms
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The names of all standard deviations and correlations, in the order of draws.
    #[must_use]
    pub fn parameters(&self) -> Vec<String> {
        self.terms.iter().flat_map(GroupNames::parameters).collect()
    }

    /// The number of effects over all groupings.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.terms.iter().map(GroupNames::effects).sum()
    }

    /// The names of all effects, in the order of draws.
    #[must_use]
    pub fn effect_names(&self) -> Vec<String> {
        self.terms.iter().flat_map(GroupNames::effect_names).collect()
    }
}

impl GroupNames {
    /// The number of its effects.
    #[must_use]
    pub fn effects(&self) -> usize {
        self.coefficients.len() * self.levels.len()
    }

    /// The name of the standard deviation of a coefficient.
    #[must_use]
    pub fn sd(&self, coefficient: usize) -> String {
        match self.smooth {
            true => format!("sd_{}", self.name),
            false => format!("sd_{}__{}", self.name, self.coefficients[coefficient]),
        }
    }

    /// The names of its standard deviations, then those of correlations.
    #[must_use]
    pub fn parameters(&self) -> Vec<String> {
        let mut names: Vec<String> = (0..self.coefficients.len()).map(|k| self.sd(k)).collect();
        for (i, later) in self.coefficients.iter().enumerate() {
            for earlier in &self.coefficients[..i] {
                names.push(format!("cor_{}__{earlier}__{later}", self.name));
            }
        }
        names
    }

    fn effect_names(&self) -> impl Iterator<Item = String> + '_ {
        self.levels.iter().flat_map(move |level| {
            self.coefficients.iter().map(move |coefficient| match self.smooth {
                true => format!("r_{}[{level}]", self.name),
                false => format!("r_{}[{level},{coefficient}]", self.name),
            })
        })
    }

    /// The default priors, `spread` being the unit of the linear predictor and `slopes` the sizes of
    /// the columns of its coefficients.
    pub(crate) fn priors(
        &self, asked: Option<PriorText>, spread: f64, slopes: &[f64],
    ) -> GroupPriors {
        let normal = Density::Normal { mean: 0.0, scale: DEFAULT_SCALE };
        let prior = asked.unwrap_or(PriorText::of(normal).scaled());
        let sds = slopes.iter().map(|size| prior.density(spread / size));
        GroupPriors { sds: sds.collect(), concentration: CONCENTRATION }
    }
}

impl GroupPriors {
    pub(crate) fn text(&self) -> GroupPriorsText {
        let sds = self.sds.iter().map(|prior| written(prior, Kind::Positive)).collect();
        GroupPriorsText { sds, concentration: self.concentration }
    }
}

impl GroupPriorsText {
    pub(crate) fn priors(&self) -> Result<GroupPriors, PriorError> {
        let read = |text: &String| match PriorText::parse(text, Kind::Positive) {
            Ok(prior) => Ok(prior.density(1.0)),
            Err(need) => {
                Err(PriorError::Written { option: "config.toml", found: text.clone(), need })
            }
        };
        let sds = self.sds.iter().map(read).collect::<Result<Vec<Density>, _>>()?;
        Ok(GroupPriors { sds, concentration: self.concentration })
    }
}

/// Calls a function with the number of each effect that a row has, and its entry. A level that the
/// fit has not seen has none.
#[inline]
pub(crate) fn visit(grouping: &Grouping, row: usize, mut with: impl FnMut(usize, f64)) {
    let wide = grouping.coefficients.len();
    match &grouping.entries {
        GroupEntries::Levels { level, .. } if level[row] == GroupEntries::NEW => {}
        GroupEntries::Levels { level, values } => {
            for k in 0..wide {
                let value = values.get(row * wide + k).copied().unwrap_or(1.0);
                with(level[row] as usize * wide + k, value);
            }
        }
        GroupEntries::Pairs { levels, values } => {
            let [first, second] = levels[row];
            let mut both = [(first, 1.0), (second, -1.0)];
            // Effects rise within a row of a design.
            both.sort_unstable_by_key(|(level, _)| *level);
            for (level, sign) in both.into_iter().filter(|(level, _)| *level != GroupEntries::NEW) {
                for k in 0..wide {
                    let value = values.get(row * wide + k).copied().unwrap_or(1.0);
                    with(level as usize * wide + k, sign * value);
                }
            }
        }
        GroupEntries::Basis(values) => {
            let count = grouping.levels.len();
            let row = &values[row * count..(row + 1) * count];
            row.iter().enumerate().for_each(|(k, value)| with(k, *value));
        }
    }
}

/// The design of a frame with the effects of its groups as sparse columns after those of its own.
pub(crate) fn sparse_design(
    frame: &Frame, own: &Matrix,
) -> Result<Design<'static>, potentials::Error> {
    let columns = frame.columns;
    let effects: usize = frame.groups.iter().map(|g| g.levels.len() * g.coefficients.len()).sum();
    let (mut starts, mut indices, mut values) = (vec![0], Vec::new(), Vec::new());
    for row in 0..frame.rows {
        let mut put = |column: usize, value: f64| {
            if value != 0.0 {
                indices.push(column);
                values.push(value);
            }
        };
        own.visit(row, &mut put);
        let mut first = columns;
        for group in &frame.groups {
            visit(group, row, |effect, value| put(first + effect, value));
            first += group.levels.len() * group.coefficients.len();
        }
        starts.push(values.len());
    }
    Ok(Sparse::new(columns + effects, starts, indices, values)?.into())
}

/// The terms of the posterior: `columns` is the number of coefficients beside the effects.
pub(crate) fn terms(groups: &Groups, priors: &[GroupPriors], columns: usize) -> Vec<GroupTerm> {
    let mut first = 0;
    let mut predictor = None;
    let mut terms = Vec::new();
    for (names, priors) in groups.terms.iter().zip(priors) {
        if predictor != Some(names.predictor) {
            predictor = Some(names.predictor);
            first += columns;
        }
        let (levels, width) = (names.levels.len(), names.coefficients.len());
        let GroupPriors { sds, concentration } = priors.clone();
        terms.push(GroupTerm { first, levels, width, sds, concentration });
        first += levels * width;
    }
    terms
}

/// From sampled coordinates of a mixed model to coefficients, parameters, standard deviations,
/// correlations and effects.
#[derive(Debug, Clone)]
pub(crate) struct Unfolding {
    model: Arc<Mixed>,
    /// For each reported number the one of the posterior.
    order: Vec<usize>,
    /// Where φ begins.
    held: usize,
}

impl Unfolding {
    /// `columns` is the number of coefficients beside the effects in each of the linear predictors.
    pub(crate) fn new(model: Arc<Mixed>, predictors: usize, columns: usize) -> Self {
        let joint = model.joint();
        let each = joint.coefficients() / predictors;
        let of = |range: std::ops::Range<usize>| {
            (0..predictors).flat_map(move |j| range.clone().map(move |k| j * each + k))
        };
        let mut order: Vec<usize> = of(0..columns).collect();
        order.extend(joint.coefficients()..model.dimension());
        order.extend(of(columns..each));
        Self { held: joint.dimension(), order, model }
    }

    /// Maps (ζ, t) to what is reported; parameters of the likelihood stay as they are. Coordinates
    /// without a point become NaN.
    pub(crate) fn apply(&self, point: &mut [f64]) {
        if self.model.to_plain(point).is_err() {
            point.fill(f64::NAN);
            return;
        }
        self.report(point);
    }

    /// The same for a point of the posterior: coefficients, parameters and φ.
    pub(crate) fn report(&self, point: &mut [f64]) {
        let mut phi = &mut point[self.held..];
        for term in self.model.terms() {
            let (mine, rest) = phi.split_at_mut(term.parameters());
            term.to_natural(mine);
            phi = rest;
        }
        let plain = point.to_vec();
        point.iter_mut().zip(&self.order).for_each(|(x, from)| *x = plain[*from]);
    }
}

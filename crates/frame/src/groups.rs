//! Group effects: the level of each row in each grouping, never as columns of the design, and the
//! values of their slopes.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use crate::coding::{CodedTerm, Coder, Coding};
use crate::draft::Draft;
use crate::error::DataError;
use crate::evaluate::{Memory, Source};
use crate::facts::{Facts, Learning};
use crate::formula::FormulaError;
use crate::formula::groups::Group;
use crate::formula::parse;
use crate::formula::syntax::Node;
use crate::formula::terms::{Terms, full_coding};
use crate::frame::{Frame, INTERCEPT};
use crate::levels::{Key, Levels, Occurring, too_many};
use crate::pairs::{self, Sides, is_pair};
use crate::place::Place;
use crate::plan::Plan;
use crate::scaling::Combine;
use crate::{MAX_COEFFICIENTS, MAX_GROUP_LEVELS, MAX_VALUES};

/// Effects of the levels of a grouping factor, or of the basis functions of a smooth term.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Grouping {
    /// The grouping factor as written, `g` or `a:b`; `s(x)` for smooths, `s(x):f[level]` for one of
    /// several.
    pub name: String,
    /// The coefficients of each level: `(Intercept)`, `x`. One, `smooth`, for smooths.
    pub coefficients: Vec<String>,
    /// The levels, those of `a:b` joined with `:`; the numbers 1, 2, ... of basis functions for
    /// smooths.
    pub levels: Vec<String>,
    /// Whether it is the wiggly part of a smooth.
    pub smooth: bool,
    /// The entries of the design.
    pub entries: GroupEntries,
}

/// The entries of a grouping in the design.
#[derive(Debug, Clone, PartialEq)]
pub enum GroupEntries {
    /// Each row belongs to one level.
    Levels {
        /// The number of the level of each row; [`GroupEntries::NEW`] for a level that the fit has
        /// not seen.
        level: Vec<u32>,
        /// The factor of each coefficient, row after row; empty if all are 1, for an intercept only.
        values: Vec<f64>,
    },
    /// Each row compares two levels: it has the first with a plus and the second with a minus.
    Pairs {
        /// The numbers of the two levels of each row; [`GroupEntries::NEW`] for one that the fit has
        /// not seen.
        levels: Vec<[u32; 2]>,
        /// The factor of each coefficient, as above.
        values: Vec<f64>,
    },
    /// A number for each row and basis function, row after row.
    Basis(Vec<f64>),
}

impl GroupEntries {
    /// The number of a level that the fit has not seen.
    pub const NEW: u32 = u32::MAX;

    /// The factor of each coefficient, row after row; none if all are 1, and for smooths.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        match self {
            Self::Levels { values, .. } | Self::Pairs { values, .. } => values,
            Self::Basis(_) => &[],
        }
    }

    /// The numbers of the levels that a row has: one, or two that are compared. None for smooths.
    #[must_use]
    pub fn of_row(&self, row: usize) -> &[u32] {
        match self {
            Self::Levels { level, .. } => level.get(row..=row).unwrap_or_default(),
            Self::Pairs { levels, .. } => levels.get(row).map_or(&[], |pair| &pair[..]),
            Self::Basis(_) => &[],
        }
    }
}

impl Grouping {
    /// The same grouping with some of its rows, in this order.
    pub(crate) fn select(&self, rows: &[usize]) -> Self {
        let pick = |all: &[f64], width: usize| -> Vec<f64> {
            rows.iter().flat_map(|&row| &all[row * width..(row + 1) * width]).copied().collect()
        };
        let entries = match &self.entries {
            GroupEntries::Levels { level, values } => GroupEntries::Levels {
                level: rows.iter().map(|&row| level[row]).collect(),
                values: match values.is_empty() {
                    true => Vec::new(),
                    false => pick(values, self.coefficients.len()),
                },
            },
            GroupEntries::Pairs { levels, values } => GroupEntries::Pairs {
                levels: rows.iter().map(|&row| levels[row]).collect(),
                values: match values.is_empty() {
                    true => Vec::new(),
                    false => pick(values, self.coefficients.len()),
                },
            },
            GroupEntries::Basis(values) => GroupEntries::Basis(pick(values, self.levels.len())),
        };
        let (name, smooth) = (self.name.clone(), self.smooth);
        let (coefficients, levels) = (self.coefficients.clone(), self.levels.clone());
        Self { name, coefficients, levels, smooth, entries }
    }

    /// The number of rows of each level, which for a smooth are those where it is not 0.
    pub(crate) fn counts(&self) -> Vec<usize> {
        let level = match &self.entries {
            GroupEntries::Levels { level, .. } => level,
            GroupEntries::Pairs { levels, .. } => levels.as_flattened(),
            GroupEntries::Basis(values) => {
                let rows = values.chunks_exact(self.levels.len().max(1));
                return vec![rows.filter(|row| row.iter().any(|value| *value != 0.0)).count()];
            }
        };
        let mut counts = vec![0; self.levels.len()];
        for &level in level {
            if let Some(count) = counts.get_mut(level as usize) {
                *count += 1;
            }
        }
        counts
    }
}

/// The names of a grouping: what its parameters are called.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupNames<'c> {
    /// As in [`Grouping::name`].
    pub name: String,
    /// As in [`Grouping::coefficients`].
    pub coefficients: Cow<'c, [String]>,
    /// As in [`Grouping::levels`].
    pub levels: Cow<'c, [String]>,
    /// As in [`Grouping::smooth`].
    pub smooth: bool,
}

/// What is remembered about group effects.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CodedGroup {
    /// The columns whose combinations are the levels.
    pub(crate) factors: Vec<String>,
    /// Whether the first coefficient is an intercept.
    intercept: bool,
    /// The variables of the slopes, as written.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) variables: Vec<String>,
    /// The terms of the slopes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    terms: Vec<CodedTerm>,
    coefficients: Vec<String>,
    levels: Vec<String>,
}

impl CodedGroup {
    pub(crate) fn names(&self) -> GroupNames<'_> {
        GroupNames {
            name: self.factors.join(":"),
            coefficients: Cow::Borrowed(&self.coefficients),
            levels: Cow::Borrowed(&self.levels),
            smooth: false,
        }
    }

    /// The coding of its slopes as a design of their own.
    fn slopes(&self, factors: &[String], learned: &Memory) -> Coding {
        Coding {
            intercept: self.intercept,
            variables: self.variables.clone(),
            terms: self.terms.clone(),
            factors: factors.to_vec(),
            learned: learned.clone(),
            ..Coding::default()
        }
    }

    /// The grouping of rows of another table.
    pub(crate) fn rows(
        &self, source: &Source<'_>, rows: &[usize], coding: &Coding,
    ) -> Result<Grouping, DataError> {
        let nodes = self.factors.iter().map(|text| parse::expression(text));
        let nodes = nodes.collect::<Result<Vec<Node>, FormulaError>>()?;
        let found = match &nodes[..] {
            [node] if is_pair(node) => {
                let sides = Plan::pair(source, &self.factors[0], node)?;
                Found::Pairs(pairs::within(source, &sides, rows, &self.levels)?)
            }
            _ => {
                let keys = nodes.iter().zip(&self.factors);
                let keys = keys.map(|(node, text)| Key::new(source, text, node));
                let keys = keys.collect::<Result<Vec<Key>, DataError>>()?;
                let found = Levels::new(source, &keys, rows)?;
                Found::Levels(found.codes_within(&self.levels, GroupEntries::NEW))
            }
        };
        let plan = |text: &String| Plan::new(source, text, &parse::expression(text)?);
        let plans = self.variables.iter().map(plan).collect::<Result<Vec<Plan>, DataError>>()?;
        let slopes = self.slopes(&coding.factors, &coding.learned);
        let values = self.values(&Coder::new(source, &plans, &slopes)?, rows)?;
        Ok(self.grouping(found, values))
    }

    fn values(&self, coder: &Coder<'_, '_>, rows: &[usize]) -> Result<Vec<f64>, DataError> {
        // An intercept alone needs no values.
        if self.terms.is_empty() { Ok(Vec::new()) } else { coder.design(rows) }
    }

    fn grouping(&self, found: Found, values: Vec<f64>) -> Grouping {
        Grouping {
            name: self.factors.join(":"),
            coefficients: self.coefficients.clone(),
            levels: self.levels.clone(),
            smooth: false,
            entries: match found {
                Found::Levels(level) => GroupEntries::Levels { level, values },
                Found::Pairs(levels) => GroupEntries::Pairs { levels, values },
            },
        }
    }
}

/// The levels of each row.
enum Found {
    Levels(Vec<u32>),
    Pairs(Vec<[u32; 2]>),
}

/// Group effects of a question: what the columns of a table make of them.
#[derive(Debug)]
pub(crate) struct GroupPlan {
    /// As written, without the parentheses.
    pub(crate) node: crate::formula::syntax::Node,
    pub(crate) keys: Vec<Key>,
    /// The two columns of `pair(a, b)`, which are the keys then.
    pub(crate) pair: Option<Sides>,
    slopes: Terms,
    /// The factors as written.
    factors: Vec<String>,
    /// What each variable of the slopes is.
    pub(crate) plans: Vec<Plan>,
}

impl GroupPlan {
    pub(crate) fn new(source: &Source<'_>, of: &str, group: &Group) -> Result<Self, DataError> {
        let pair = match &group.factors[..] {
            [node] if is_pair(node) => Some(Plan::pair(source, of, node)?),
            factors => match factors.iter().find(|node| is_pair(node)) {
                Some(node) => {
                    let message = format!("found `{node}` crossed with others, need it by itself");
                    return Err(FormulaError::new(of, &node.span, message).into());
                }
                None => None,
            },
        };
        let keys: Result<Vec<Key>, DataError> = match &pair {
            Some(sides) => Ok(sides.to_vec()),
            None => group.factors.iter().map(|node| Key::new(source, of, node)).collect(),
        };
        let plans = group.slopes.variables.iter().map(|node| Plan::new(source, of, node));
        let slopes = group.slopes.clone();
        if slopes.terms.is_empty() && !slopes.intercept {
            let message = format!("found no effects in ({}), need 1 or predictors", group.node);
            return Err(FormulaError::new(of, &group.node.span, message).into());
        }
        Ok(Self {
            node: group.node.clone(),
            keys: keys?,
            factors: group.factors.iter().map(|node| node.bare().to_string()).collect(),
            pair,
            plans: plans.collect::<Result<_, DataError>>()?,
            slopes,
        })
    }

    /// The grouping factor as written.
    pub(crate) fn name(&self) -> String {
        self.labels().join(":")
    }

    /// Its factors as written.
    fn labels(&self) -> Vec<String> {
        match &self.pair {
            Some(_) => self.factors.clone(),
            None => self.keys.iter().map(|key| key.label.clone()).collect(),
        }
    }

    /// Codes the rows of a draft. What functions learn is added to `learned`.
    pub(crate) fn learn(
        &self, draft: &Draft<'_>, facts: &Facts, learning: Learning<'_>, learned: &mut Memory,
    ) -> Result<(CodedGroup, Grouping), DataError> {
        let Draft { table, source, question, kept, .. } = draft;
        let variables: Vec<String> =
            self.slopes.variables.iter().map(ToString::to_string).collect();
        for (plan, label) in self.plans.iter().zip(&variables) {
            let mut levels = |name: &str| draft.levels(name, facts);
            learning.learn(plan, label, learned, &mut levels)?;
        }
        let is_factor: Vec<bool> = self.plans.iter().map(Plan::is_factor).collect();
        let full = full_coding(&self.slopes.terms, &is_factor, self.slopes.intercept);
        let terms = self.slopes.terms.iter().zip(full);
        let known = facts.groups.names(&self.name());
        let (names, found) = match &self.pair {
            Some(sides) => {
                let names = known.map_or_else(|| Ok(pairs::levels(source, sides, kept)?.0), Ok);
                let names: Vec<String> = names.map_err(|error: DataError| error)?;
                let found = pairs::within(source, sides, kept, &names)?;
                (names, Found::Pairs(found))
            }
            None => {
                let mut found = Levels::new(source, &self.keys, kept)?;
                if let Some(names) = known {
                    found = found.within(names);
                }
                (found.names, Found::Levels(found.codes))
            }
        };
        self.check_levels(draft.table.name(), facts.counts.kept, &names)?;
        let mut coded = CodedGroup {
            factors: self.labels(),
            intercept: self.slopes.intercept,
            variables,
            terms: terms.map(|(term, full)| CodedTerm { variables: term.clone(), full }).collect(),
            coefficients: Vec::new(),
            levels: names,
        };
        let slopes = coded.slopes(&question.factors, learned);
        let coder = Coder::new(source, &self.plans, &slopes)?;
        let (file, width) = (table.name().to_owned(), coder.width());
        if width > MAX_COEFFICIENTS {
            let limit = MAX_COEFFICIENTS;
            return Err(DataError::TooManyCoefficients { file, found: width, limit });
        }
        if kept.len().saturating_mul(width) > MAX_VALUES {
            let (rows, columns, limit) = (kept.len(), width, MAX_VALUES);
            return Err(DataError::DesignTooLarge { file, rows, columns, limit });
        }
        coded.coefficients = self.coefficients(&coder, &slopes, &file)?;
        let values = coded.values(&coder, kept)?;
        let grouping = coded.grouping(found, values);
        Ok((coded, grouping))
    }

    fn coefficients(
        &self, coder: &Coder<'_, '_>, slopes: &Coding, file: &str,
    ) -> Result<Vec<String>, DataError> {
        let mut names: Vec<String> =
            slopes.intercept.then(|| INTERCEPT.to_owned()).into_iter().collect();
        names.extend(slopes.terms.iter().flat_map(|term| coder.term_names(term)));
        let mut seen = HashSet::new();
        match names.iter().find(|name| !seen.insert(name.as_str())) {
            Some(name) => {
                let place = Place::column(file, &self.name());
                Err(DataError::NameClash { place, name: name.clone() })
            }
            None => Ok(names),
        }
    }

    fn check_levels(&self, file: &str, rows: usize, names: &[String]) -> Result<(), DataError> {
        let place = || Place::column(file, &self.name());
        if names.len() > MAX_GROUP_LEVELS {
            return Err(too_many(place(), rows));
        }
        if let [level] = names {
            return Err(DataError::OneGroup { place: place(), level: level.clone() });
        }
        if let Some(name) = names.iter().find(|name| name.chars().any(char::is_control)) {
            return Err(DataError::UnprintableName { place: place(), name: name.clone() });
        }
        // `a:b` with `c`, and `a` with `b:c`.
        let mut seen = HashSet::with_capacity(names.len());
        let crossed = self.keys.len() > 1 && self.pair.is_none();
        match names.iter().find(|name| crossed && !seen.insert(name.as_str())) {
            Some(level) => Err(DataError::GroupClash { place: place(), level: level.clone() }),
            None => Ok(()),
        }
    }
}

impl Frame {
    /// Checks that no slope that varies with a grouping is 0 in every row. For a part of the table,
    /// `combine` replaces each number by its maximum over all parts; for a whole table it does
    /// nothing.
    ///
    /// # Errors
    /// [`DataError::ZeroSlope`], the same in all parts.
    pub fn check_slopes(
        &self, mut combine: impl FnMut(Combine, &mut [f64]),
    ) -> Result<(), DataError> {
        for group in &self.groups {
            let values = group.entries.values();
            if group.smooth {
                continue;
            }
            // An intercept alone has no values.
            let wide = if values.is_empty() { 0 } else { group.coefficients.len() };
            let mut largest = vec![0.0_f64; wide];
            for row in values.chunks_exact(wide.max(1)) {
                largest.iter_mut().zip(row).for_each(|(most, value)| *most = most.max(value.abs()));
            }
            combine(Combine::Largest, &mut largest);
            if let Some(column) = largest.iter().position(|size| *size == 0.0) {
                let (file, grouping) = (self.file.clone(), group.name.clone());
                let slope = group.coefficients[column].clone();
                return Err(DataError::ZeroSlope { file, slope, grouping });
            }
        }
        Ok(())
    }
}

/// A grouping factor with fewer levels says little about their standard deviation.
const FEW_LEVELS: usize = 5;

/// What a statistician would say about group effects. `noise` is whether the family has a noise of
/// its own in every row; `all` has the levels over all parts of a table in parts, where columns are
/// not compared row by row.
pub(crate) fn notes(groups: &[Grouping], noise: bool, all: &Occurring) -> Vec<String> {
    let mut notes = Vec::new();
    let mut few = HashSet::new();
    for group in groups.iter().filter(|group| !group.smooth) {
        let (name, levels) = (&group.name, group.levels.len());
        if levels < FEW_LEVELS && few.insert(name.clone()) {
            notes.push(format!(
                "`{name}` has {levels} levels: the standard deviation of {levels} levels is known \
                 poorly; consider a fixed factor"
            ));
        }
        let intercept = group.coefficients.iter().any(|name| name == INTERCEPT);
        let single = || match all.rows(name) {
            Some(counts) => counts.iter().all(|count| *count == 1),
            None => group.counts().iter().all(|count| *count == 1),
        };
        if let GroupEntries::Pairs { levels, .. } = &group.entries {
            notes.extend(pairs::note(name, group.levels.len(), levels));
        }
        if noise && intercept && single() {
            notes.push(format!(
                "every level of `{name}` has one row: its effects cannot be told from the noise"
            ));
        }
    }
    let compared = if all.is_empty() { groups } else { &[] };
    for (k, first) in compared.iter().enumerate() {
        for second in &compared[k + 1..] {
            let pair = [(first, second), (second, first)];
            let reused = pair.into_iter().find(|(inner, outer)| numbered_within(inner, outer));
            let Some((inner, outer)) = reused else { continue };
            let (inner, outer) = (&inner.name, &outer.name);
            let note = format!(
                "levels of `{inner}` occur with several levels of `{outer}`, so the two are crossed: \
                 if `{inner}` is numbered anew within each level of `{outer}`, write (1 | \
                 {outer}/{inner})"
            );
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

/// Whether the levels of one grouping are 1, 2, ... and each occurs with at least half of those of
/// another, which are more: levels may be numbered anew within each of those.
fn numbered_within(inner: &Grouping, outer: &Grouping) -> bool {
    let GroupEntries::Levels { level: of_inner, .. } = &inner.entries else { return false };
    let GroupEntries::Levels { level: of_outer, .. } = &outer.entries else { return false };
    let numbered = inner.levels.iter().zip(1_usize..).all(|(level, k)| *level == k.to_string());
    if !numbered || inner.name.contains(':') || inner.levels.len() >= outer.levels.len() {
        return false;
    }
    let pairs: HashSet<(u32, u32)> =
        of_inner.iter().copied().zip(of_outer.iter().copied()).collect();
    let mut with = vec![0; inner.levels.len()];
    pairs.iter().for_each(|(level, _)| with[*level as usize] += 1);
    with.iter().all(|count| 2 * count >= outer.levels.len())
}

//! Group effects: the levels of grouping factors, by hashing and never as columns of the design, and
//! the values of their slopes.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::coding::{CodedTerm, Coder, Coding, check_finite};
use crate::column::Cells;
use crate::draft::Draft;
use crate::error::DataError;
use crate::evaluate::{Memory, Source, Type};
use crate::factors::{level_of, sort_naturally};
use crate::facts::Facts;
use crate::formula::FormulaError;
use crate::formula::groups::Group;
use crate::formula::parse;
use crate::formula::syntax::{Kind, Node};
use crate::formula::terms::{Terms, full_coding};
use crate::frame::INTERCEPT;
use crate::place::Place;
use crate::plan::Plan;
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
    /// A number for each row and basis function, row after row.
    Basis(Vec<f64>),
}

impl GroupEntries {
    /// The number of a level that the fit has not seen.
    pub const NEW: u32 = u32::MAX;
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
        let keys = self.factors.iter().map(|text| {
            let node = parse::expression(text)?;
            Key::new(source, text, &node)
        });
        let keys = keys.collect::<Result<Vec<Key>, DataError>>()?;
        let found = Levels::new(source, &keys, rows)?;
        let known: HashMap<&str, u32> =
            self.levels.iter().map(String::as_str).zip(0_u32..).collect();
        let number = |name: &String| known.get(name.as_str()).copied().unwrap_or(GroupEntries::NEW);
        let numbers: Vec<u32> = found.names.iter().map(number).collect();
        let level = found.codes.iter().map(|&code| numbers[code as usize]).collect();
        let plan = |text: &String| Plan::new(source, text, &parse::expression(text)?);
        let plans = self.variables.iter().map(plan).collect::<Result<Vec<Plan>, DataError>>()?;
        let slopes = self.slopes(&coding.factors, &coding.learned);
        let values = self.values(&Coder::new(source, &plans, &slopes)?, rows)?;
        Ok(self.grouping(level, values))
    }

    fn values(&self, coder: &Coder<'_, '_>, rows: &[usize]) -> Result<Vec<f64>, DataError> {
        // An intercept alone needs no values.
        if self.terms.is_empty() { Ok(Vec::new()) } else { coder.design(rows) }
    }

    fn grouping(&self, level: Vec<u32>, values: Vec<f64>) -> Grouping {
        Grouping {
            name: self.factors.join(":"),
            coefficients: self.coefficients.clone(),
            levels: self.levels.clone(),
            smooth: false,
            entries: GroupEntries::Levels { level, values },
        }
    }
}

/// A column whose values are levels of a grouping.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// As written.
    pub(crate) label: String,
    /// A column, or an expression of numbers.
    pub(crate) of: Node,
    text: bool,
}

impl Key {
    /// The key that an expression in the text `of` is: a column, `factor(x)`, or numbers that depend
    /// on their row alone.
    pub(crate) fn new(source: &Source<'_>, of: &str, node: &Node) -> Result<Self, DataError> {
        let error = |message: String| Err(FormulaError::new(of, &node.span, message).into());
        let inner = match &node.kind {
            Kind::Call(function, arguments)
                if matches!(function.as_str(), "factor" | "as.factor") =>
            {
                match &arguments[..] {
                    [argument] => argument.value.bare(),
                    _ => return error(format!("found `{node}`, need one column in {function}()")),
                }
            }
            _ => node.bare(),
        };
        let text = source.check(of, inner)? == Type::Text;
        let mut learns = false;
        inner.walk(&mut |part| learns |= crate::plan::is_scale(part));
        if learns || (text && !matches!(inner.kind, Kind::Name(_))) {
            return error(format!("found `{node}`, need a column as grouping factor"));
        }
        Ok(Self { label: node.to_string(), of: inner.clone(), text })
    }

    fn column(&self) -> &str {
        self.of.columns().first().copied().unwrap_or("")
    }
}

/// Rows by distinct values.
#[derive(Debug)]
pub(crate) struct Levels {
    /// The number of the level of each row.
    pub(crate) codes: Vec<u32>,
    /// The levels, in order.
    pub(crate) names: Vec<String>,
}

impl Levels {
    /// The combinations of keys that occur in these rows, in order of the first key, then of the
    /// second, and so on.
    pub(crate) fn new(
        source: &Source<'_>, keys: &[Key], rows: &[usize],
    ) -> Result<Self, DataError> {
        let mut all: Option<Self> = None;
        for key in keys {
            let own = Self::of_key(source, key, rows)?;
            all = Some(match all {
                Some(all) => all.crossed(&own),
                None => own,
            });
        }
        Ok(all.unwrap_or(Self { codes: vec![0; rows.len()], names: Vec::new() }))
    }

    fn of_key(source: &Source<'_>, key: &Key, rows: &[usize]) -> Result<Self, DataError> {
        let column = source.column(key.column());
        if key.text {
            let (file, name) = (source.table.name(), key.column());
            return match column.map(|column| (column, column.cells())) {
                Some((column, Cells::Text { levels, codes })) => {
                    let codes = rows.iter().map(|&row| codes[row]);
                    let given = !column.given_levels().is_empty();
                    Ok(Self::of_texts(levels, codes.collect(), given))
                }
                _ => Err(too_many(Place::column(file, name), rows.len())),
            };
        }
        let values = source.numbers(&key.of, rows, &Memory::new());
        check_finite(source, &key.of, rows, &values)?;
        // Zero has two signs, but is one level.
        let bits = |value: f64| if value == 0.0 { 0 } else { value.to_bits() };
        let (codes, distinct) = distinct(values.into_iter().map(bits));
        let mut order: Vec<usize> = (0..distinct.len()).collect();
        let value = |k: usize| f64::from_bits(distinct[k]);
        order.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)));
        let names = order.iter().map(|&k| level_of(value(k))).collect();
        Ok(Self { codes: renumbered(codes, &order), names })
    }

    /// The levels of a text column that occur, in natural order unless an order is `given`.
    fn of_texts(levels: &[String], codes: Vec<u32>, given: bool) -> Self {
        let mut used = vec![false; levels.len()];
        codes.iter().for_each(|&code| used[code as usize] = true);
        let mut order: Vec<usize> = (0..levels.len()).filter(|&k| used[k]).collect();
        if !given {
            sort_naturally(&mut order, |&k| &levels[k]);
        }
        let mut numbers = vec![0; levels.len()];
        order.iter().zip(0_u32..).for_each(|(&k, number)| numbers[k] = number);
        let codes = codes.into_iter().map(|code| numbers[code as usize]).collect();
        Self { codes, names: order.iter().map(|&k| levels[k].clone()).collect() }
    }

    fn crossed(&self, other: &Self) -> Self {
        let pairs = self.codes.iter().copied().zip(other.codes.iter().copied());
        let (codes, distinct) = distinct(pairs);
        let mut order: Vec<usize> = (0..distinct.len()).collect();
        order.sort_unstable_by_key(|&k| distinct[k]);
        let name = |k: &usize| {
            let (a, b) = distinct[*k];
            format!("{}:{}", self.names[a as usize], other.names[b as usize])
        };
        Self { codes: renumbered(codes, &order), names: order.iter().map(name).collect() }
    }
}

/// The distinct values in order of first use, and the number of each row's.
fn distinct<T: Copy + Eq + Hash>(values: impl Iterator<Item = T>) -> (Vec<u32>, Vec<T>) {
    let mut numbers: HashMap<T, u32> = HashMap::new();
    let mut all = Vec::new();
    let mut next = 0;
    let code = |value| {
        *numbers.entry(value).or_insert_with(|| {
            all.push(value);
            next += 1;
            next - 1
        })
    };
    let codes = values.map(code).collect();
    (codes, all)
}

/// The codes when level `order[k]` gets the number k.
fn renumbered(mut codes: Vec<u32>, order: &[usize]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    order.iter().zip(0_u32..).for_each(|(&k, number)| numbers[k] = number);
    codes.iter_mut().for_each(|code| *code = numbers[*code as usize]);
    codes
}

fn too_many(place: Box<Place>, rows: usize) -> DataError {
    DataError::TooManyGroups { place, limit: MAX_GROUP_LEVELS, rows }
}

/// Group effects of a question: what the columns of a table make of them.
#[derive(Debug)]
pub(crate) struct GroupPlan {
    /// As written.
    pub(crate) node: Node,
    pub(crate) keys: Vec<Key>,
    slopes: Terms,
    /// What each variable of the slopes is.
    pub(crate) plans: Vec<Plan>,
}

impl GroupPlan {
    pub(crate) fn new(source: &Source<'_>, of: &str, group: &Group) -> Result<Self, DataError> {
        let keys = group.factors.iter().map(|node| Key::new(source, of, node));
        let plans = group.slopes.variables.iter().map(|node| Plan::new(source, of, node));
        let slopes = group.slopes.clone();
        if slopes.terms.is_empty() && !slopes.intercept {
            let message = format!("found no effects in ({}), need 1 or predictors", group.node);
            return Err(FormulaError::new(of, &group.node.span, message).into());
        }
        Ok(Self {
            node: group.node.clone(),
            keys: keys.collect::<Result<_, DataError>>()?,
            plans: plans.collect::<Result<_, DataError>>()?,
            slopes,
        })
    }

    /// The grouping factor as written.
    pub(crate) fn name(&self) -> String {
        let labels: Vec<&str> = self.keys.iter().map(|key| key.label.as_str()).collect();
        labels.join(":")
    }

    /// Codes the rows of a draft. What functions learn is added to `learned`.
    pub(crate) fn learn(
        &self, draft: &Draft<'_>, facts: &Facts, learned: &mut Memory,
    ) -> Result<(CodedGroup, Grouping), DataError> {
        let Draft { table, source, question, kept, .. } = draft;
        let variables: Vec<String> =
            self.slopes.variables.iter().map(ToString::to_string).collect();
        for (plan, label) in self.plans.iter().zip(&variables) {
            let mut levels = |name: &str| draft.levels(name, facts);
            plan.learn(label, source, kept, learned, &mut levels)?;
        }
        let is_factor: Vec<bool> = self.plans.iter().map(Plan::is_factor).collect();
        let full = full_coding(&self.slopes.terms, &is_factor, self.slopes.intercept);
        let terms = self.slopes.terms.iter().zip(full);
        let found = Levels::new(source, &self.keys, kept)?;
        self.check_levels(draft, &found)?;
        let mut coded = CodedGroup {
            factors: self.keys.iter().map(|key| key.label.clone()).collect(),
            intercept: self.slopes.intercept,
            variables,
            terms: terms.map(|(term, full)| CodedTerm { variables: term.clone(), full }).collect(),
            coefficients: Vec::new(),
            levels: found.names,
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
        for (column, name) in coded.coefficients.iter().enumerate() {
            if !values.is_empty() && values.iter().skip(column).step_by(width).all(|v| *v == 0.0) {
                let (slope, grouping) = (name.clone(), self.name());
                return Err(DataError::ZeroSlope { file, slope, grouping });
            }
        }
        let grouping = coded.grouping(found.codes, values);
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

    fn check_levels(&self, draft: &Draft<'_>, found: &Levels) -> Result<(), DataError> {
        let (file, rows) = (draft.table.name(), draft.kept.len());
        let place = || Place::column(file, &self.name());
        if found.names.len() > MAX_GROUP_LEVELS {
            return Err(too_many(place(), rows));
        }
        if let [level] = &found.names[..] {
            return Err(DataError::OneGroup { place: place(), level: level.clone() });
        }
        if let Some(name) = found.names.iter().find(|name| name.chars().any(char::is_control)) {
            return Err(DataError::UnprintableName { place: place(), name: name.clone() });
        }
        // `a:b` with `c`, and `a` with `b:c`.
        let mut seen = HashSet::with_capacity(found.names.len());
        match found.names.iter().find(|name| self.keys.len() > 1 && !seen.insert(name.as_str())) {
            Some(level) => Err(DataError::GroupClash { place: place(), level: level.clone() }),
            None => Ok(()),
        }
    }
}

/// A grouping factor with fewer levels says little about their standard deviation.
const FEW_LEVELS: usize = 5;

/// What a statistician would say about group effects. `noise` is whether the family has a noise of
/// its own in every row.
pub(crate) fn notes(groups: &[Grouping], noise: bool) -> Vec<String> {
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
        if noise && intercept && group.counts().iter().all(|count| *count == 1) {
            notes.push(format!(
                "every level of `{name}` has one row: its effects cannot be told from the noise"
            ));
        }
    }
    for (k, first) in groups.iter().enumerate() {
        for second in &groups[k + 1..] {
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

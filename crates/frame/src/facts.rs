//! Facts that depend on all rows of a table: levels, ranges and counts of the columns in use. If
//! the rows are split over processes, their facts are gathered and merged.

use std::collections::{BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use crate::column::{Cells, Column, NO_TEXT};
use crate::error::DataError;
use crate::evaluate::{Memory, Source};
use crate::formula::syntax::{Kind, Node};
use crate::levels::{Occurring, Union, too_many};
use crate::place::Place;
use crate::plan::Plan;
use crate::roles::Roles;
use crate::smooths::SmoothPlan;
use crate::table::Table;
use crate::{MAX_COUNTED_BYTES, MAX_COUNTED_LEVELS};

/// Rows whose values are computed together.
const BLOCK: usize = 4096;

/// Facts about the columns in use, from the rows of a table or of a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    pub(crate) counts: Counts,
    /// The columns in use, the response first, and computed predictors.
    columns: Vec<ColumnFacts>,
    /// The values of columns that smooths and functions such as `poly` learn from, in parts of a
    /// table.
    values: Vec<Gathered>,
    /// The levels of grouping factors, in parts of a table.
    pub(crate) groups: Occurring,
}

/// Numbers of rows.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Counts {
    /// Rows in use.
    pub(crate) kept: usize,
    /// Rows left out for missing values.
    pub(crate) missing: usize,
    /// The columns with missing values.
    pub(crate) missing_in: Vec<String>,
    /// Rows that the condition does not select.
    pub(crate) unselected: usize,
    /// Rows of weight 0.
    pub(crate) weightless: usize,
}

impl Counts {
    fn absorb(&mut self, other: Self) {
        self.kept += other.kept;
        self.missing += other.missing;
        self.unselected += other.unselected;
        self.weightless += other.weightless;
        for name in other.missing_in {
            if !self.missing_in.contains(&name) {
                self.missing_in.push(name);
            }
        }
    }
}

/// All values of a column in the rows in use. Numbers as bits, which every format keeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Gathered {
    name: String,
    numbers: Vec<u64>,
    /// The level of each row, and the levels.
    codes: Vec<u32>,
    levels: Vec<String>,
    /// Whether the order of the levels was given.
    ordered: bool,
}

impl Gathered {
    fn new(column: &Column, rows: &[usize]) -> Self {
        let numbers = column.numbers().unwrap_or_default();
        let (levels, codes, ordered) = column.levels().unwrap_or_default();
        Self {
            name: column.name().to_owned(),
            numbers: rows.iter().filter_map(|&row| Some(numbers.get(row)?.to_bits())).collect(),
            codes: rows.iter().filter_map(|&row| codes.get(row).copied()).collect(),
            levels: levels.to_vec(),
            ordered,
        }
    }

    fn column(&self) -> Column {
        let numbers: Vec<f64> = self.numbers.iter().copied().map(f64::from_bits).collect();
        let text = |code: &u32| self.levels.get(*code as usize).map_or("", String::as_str);
        match (numbers.is_empty(), self.ordered) {
            (false, _) => Column::from_numbers(&self.name, &numbers),
            (true, true) => Column::from_levels(&self.name, &self.levels, self.codes.clone()),
            (true, false) => {
                let texts: Vec<&str> = self.codes.iter().map(text).collect();
                Column::from_texts(&self.name, &texts)
            }
        }
    }

    fn absorb(&mut self, other: Self) {
        self.numbers.extend(other.numbers);
        let known = self.levels.iter().cloned().zip(0_u32..);
        let mut known: HashMap<String, u32> = known.collect();
        let number = |level: String| {
            let next = u32::try_from(self.levels.len()).unwrap_or(NO_TEXT);
            *known.entry(level).or_insert_with_key(|level| {
                self.levels.push(level.clone());
                next
            })
        };
        let numbers: Vec<u32> = other.levels.into_iter().map(number).collect();
        let codes = other.codes.into_iter();
        self.codes.extend(codes.map(|code| numbers.get(code as usize).copied().unwrap_or(NO_TEXT)));
    }
}

/// The rows of a draft, and those that functions learn from: in a part of a table those of all
/// parts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Learning<'a> {
    pub(crate) own: (&'a Source<'a>, &'a [usize]),
    pub(crate) all: (&'a Source<'a>, &'a [usize]),
}

impl Learning<'_> {
    /// Learns what the plan of a variable needs.
    pub(crate) fn learn(
        self, plan: &Plan, label: &str, memory: &mut Memory,
        levels_of: &mut dyn FnMut(&str) -> Result<Vec<String>, DataError>,
    ) -> Result<(), DataError> {
        let (source, rows) = if plan.learns() { self.all } else { self.own };
        plan.learn(label, source, rows, memory, levels_of)
    }
}

/// The facts of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ColumnFacts {
    name: String,
    values: Values,
}

/// The values of a column in the rows without missing values.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Values {
    Numbers {
        low: f64,
        high: f64,
    },
    Levels(BTreeSet<String>),
    /// More levels than are held in memory.
    ManyLevels,
}

impl Facts {
    pub(crate) fn new(
        source: &Source<'_>, roles: &Roles, columns: &[&Column], kept: &[usize], counts: Counts,
    ) -> Self {
        let facts = |column: &&Column| ColumnFacts {
            name: column.name().to_owned(),
            values: Values::new(column, kept),
        };
        let computed = roles.plans.iter().filter_map(|plan| match plan {
            Plan::Number(node) if !plan.learns() && !matches!(node.kind, Kind::Name(_)) => {
                let [low, high] = range(source, node, kept);
                Some(ColumnFacts { name: node.to_string(), values: Values::Numbers { low, high } })
            }
            _ => None,
        });
        let columns = columns.iter().map(facts).chain(computed).collect();
        Self { counts, columns, values: Vec::new(), groups: Occurring::default() }
    }

    /// The same with the levels of grouping factors, and all values that smooths and functions
    /// learn from.
    pub(crate) fn gathered(
        &self, source: &Source<'_>, roles: &Roles, kept: &[usize],
    ) -> Result<Self, DataError> {
        let plans = roles.plans.iter().chain(roles.groups.iter().flat_map(|group| &group.plans));
        let learning = plans.filter(|plan| plan.learns()).map(Plan::node);
        let smooths = roles.smooths.iter().flat_map(SmoothPlan::nodes);
        let names: BTreeSet<&str> = learning.chain(smooths).flat_map(Node::columns).collect();
        let columns = names.into_iter().filter_map(|name| source.column(name));
        Ok(Self {
            values: columns.map(|column| Gathered::new(column, kept)).collect(),
            groups: Occurring::new(source, &roles.groups, kept)?,
            ..self.clone()
        })
    }

    /// A table of the gathered values of all parts; `None` if no values were gathered.
    pub(crate) fn learning_table(&self, file: &str) -> Result<Option<Table>, DataError> {
        let columns: Vec<Column> = self.values.iter().map(Gathered::column).collect();
        (!columns.is_empty()).then(|| Table::from_columns(file, columns)).transpose()
    }

    /// The facts of a whole table from those of its parts.
    ///
    /// # Errors
    /// [`DataError::OtherColumns`] if the columns of a part differ from those of the first in name
    /// or order; [`DataError::Parts`] if a column has numbers in one part and text in another;
    /// [`DataError::TooManyGroups`].
    pub fn merge(file: &str, parts: impl IntoIterator<Item = Self>) -> Result<Self, DataError> {
        let names = |facts: &Self| facts.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        let mixed = |name: &str| DataError::Parts { place: Place::column(file, name) };
        let mut all: Option<Self> = None;
        let mut levels = Union::default();
        for (number, mut part) in parts.into_iter().enumerate() {
            let groups = std::mem::take(&mut part.groups);
            match &mut all {
                None => all = Some(part),
                Some(all) if names(all) != names(&part) => {
                    let file = file.to_owned();
                    return Err(DataError::OtherColumns { file, part: number });
                }
                Some(all) => all.absorb(part).map_err(|name| mixed(&name))?,
            }
            levels.add(groups).map_err(|name| mixed(&name))?;
            if let (Some(name), Some(all)) = (levels.too_many(), &all) {
                return Err(too_many(Place::column(file, name), all.counts.kept));
            }
        }
        let mut all = all.unwrap_or_else(|| Self {
            counts: Counts::default(),
            columns: Vec::new(),
            values: Vec::new(),
            groups: Occurring::default(),
        });
        all.groups = levels.finish();
        Ok(all)
    }

    /// Adds the facts of another part, without those of grouping factors. `Err` is a column with
    /// numbers in one part and text in another.
    fn absorb(&mut self, part: Self) -> Result<(), String> {
        self.counts.absorb(part.counts);
        for (all, part) in self.columns.iter_mut().zip(part.columns) {
            if !all.values.absorb(part.values) {
                return Err(part.name);
            }
        }
        self.values.iter_mut().zip(part.values).for_each(|(all, part)| all.absorb(part));
        Ok(())
    }

    fn column(&self, name: &str) -> Option<&ColumnFacts> {
        self.columns.iter().find(|column| column.name == name)
    }

    /// The smallest and the largest number of a column; (∞, −∞) if there is none.
    pub(crate) fn range(&self, name: &str) -> [f64; 2] {
        match self.column(name).map(|facts| &facts.values) {
            Some(&Values::Numbers { low, high }) => [low, high],
            _ => [f64::INFINITY, f64::NEG_INFINITY],
        }
    }

    /// The levels of a text column in alphabetical order; `None` if there are too many to hold.
    pub(crate) fn levels(&self, name: &str) -> Option<&BTreeSet<String>> {
        match self.column(name).map(|facts| &facts.values) {
            Some(Values::Levels(levels)) => Some(levels),
            _ => None,
        }
    }
}

/// The smallest and the largest value of an expression.
fn range(source: &Source<'_>, node: &Node, rows: &[usize]) -> [f64; 2] {
    use rayon::prelude::*;
    let none = || [f64::INFINITY, f64::NEG_INFINITY];
    let join = |[a, b]: [f64; 2], [c, d]: [f64; 2]| [a.min(c), b.max(d)];
    let blocks = rows.par_chunks(BLOCK).map(|rows| {
        let values = source.numbers(node, rows, &Memory::new());
        values.into_iter().fold(none(), |[a, b], x| [a.min(x), b.max(x)])
    });
    blocks.reduce(none, join)
}

impl Values {
    fn new(column: &Column, kept: &[usize]) -> Self {
        match column.cells() {
            Cells::Text { levels, codes } => {
                let codes = kept.iter().filter_map(|&row| codes.get(row).copied());
                let mut seen: Vec<u32> = codes.filter(|code| *code != NO_TEXT).collect();
                seen.sort_unstable();
                seen.dedup();
                let level = |code: u32| levels.get(usize::try_from(code).ok()?);
                let bytes: usize = seen.iter().filter_map(|c| level(*c)).map(String::len).sum();
                if seen.len() > MAX_COUNTED_LEVELS || bytes > MAX_COUNTED_BYTES {
                    return Self::ManyLevels;
                }
                Self::Levels(seen.into_iter().filter_map(level).cloned().collect())
            }
            Cells::ManyTexts { .. } => Self::ManyLevels,
            _ => {
                let values = column.numbers().unwrap_or_default();
                let values = kept.iter().filter_map(|&row| values.get(row).copied());
                let [low, high] = values
                    .fold([f64::INFINITY, f64::NEG_INFINITY], |[a, b], x| [a.min(x), b.max(x)]);
                Self::Numbers { low, high }
            }
        }
    }

    /// Adds the values of another part; false if their type differs.
    fn absorb(&mut self, other: Self) -> bool {
        match (self, other) {
            (Self::Numbers { low, high }, Self::Numbers { low: l, high: h }) => {
                (*low, *high) = (low.min(l), high.max(h));
            }
            (Self::Levels(levels), Self::Levels(more)) => levels.extend(more),
            (all @ (Self::Levels(_) | Self::ManyLevels), Self::Levels(_) | Self::ManyLevels) => {
                *all = Self::ManyLevels;
            }
            (Self::Numbers { .. }, Self::Levels(_) | Self::ManyLevels)
            | (Self::Levels(_) | Self::ManyLevels, Self::Numbers { .. }) => return false,
        }
        true
    }
}

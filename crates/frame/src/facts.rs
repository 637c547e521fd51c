//! Facts that depend on all rows of a table: levels, ranges and counts of the columns in use. If
//! the rows are split over processes, their facts are gathered and merged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::column::{Cells, Column, NO_TEXT};
use crate::error::DataError;
use crate::evaluate::{Memory, Source};
use crate::formula::syntax::{Kind, Node};
use crate::place::Place;
use crate::plan::Plan;
use crate::roles::Roles;
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
    /// The values of columns that functions such as `poly` learn from, in parts of a table.
    values: Vec<Gathered>,
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
    texts: Vec<String>,
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
        Self { counts, columns, values: Vec::new() }
    }

    /// The same with all values that functions learn from.
    pub(crate) fn with_values(&self, source: &Source<'_>, roles: &Roles, kept: &[usize]) -> Self {
        let learning = roles.plans.iter().filter(|plan| plan.learns());
        let names: BTreeSet<&str> = learning.flat_map(|plan| plan.node().columns()).collect();
        let columns = names.into_iter().filter_map(|name| source.column(name));
        let values = columns.map(|column| {
            let numbers = column.numbers().unwrap_or_default();
            let texts = column.texts().unwrap_or_default();
            let text = |row: &usize| texts.get(*row).copied().flatten().map(str::to_owned);
            Gathered {
                name: column.name().to_owned(),
                numbers: kept.iter().filter_map(|&row| Some(numbers.get(row)?.to_bits())).collect(),
                texts: kept.iter().filter_map(text).collect(),
            }
        });
        Self { values: values.collect(), ..self.clone() }
    }

    /// A table of the gathered values of all parts; `None` if no values were gathered.
    pub(crate) fn learning_table(&self, file: &str) -> Result<Option<Table>, DataError> {
        let column = |gathered: &Gathered| {
            let numbers: Vec<f64> = gathered.numbers.iter().copied().map(f64::from_bits).collect();
            match numbers.is_empty() {
                true => Column::from_texts(&gathered.name, &gathered.texts),
                false => Column::from_numbers(&gathered.name, &numbers),
            }
        };
        let columns: Vec<Column> = self.values.iter().map(column).collect();
        (!columns.is_empty()).then(|| Table::from_columns(file, columns)).transpose()
    }

    /// The facts of a whole table from those of its parts.
    ///
    /// # Errors
    /// [`DataError::OtherColumns`] if the columns of a part differ from those of the first in name
    /// or order; [`DataError::Parts`] if a column has numbers in one part and text in another.
    pub fn merge(file: &str, parts: Vec<Self>) -> Result<Self, DataError> {
        let names = |facts: &Self| facts.columns.iter().map(|c| c.name.clone()).collect::<Vec<_>>();
        let first = parts.first().map(names).unwrap_or_default();
        if let Some(part) = parts.iter().position(|facts| names(facts) != first) {
            return Err(DataError::OtherColumns { file: file.to_owned(), part });
        }
        let mut parts = parts.into_iter();
        let empty = Self { counts: Counts::default(), columns: Vec::new(), values: Vec::new() };
        let mut all = parts.next().unwrap_or(empty);
        for part in parts {
            all.counts.absorb(part.counts);
            for (all, part) in all.values.iter_mut().zip(part.values) {
                all.numbers.extend(part.numbers);
                all.texts.extend(part.texts);
            }
            for (all, part) in all.columns.iter_mut().zip(part.columns) {
                if !all.values.absorb(part.values) {
                    return Err(DataError::Parts { place: Place::column(file, &part.name) });
                }
            }
        }
        Ok(all)
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

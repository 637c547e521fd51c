//! Facts that depend on all rows of a table: levels, ranges and counts of the columns in use. If
//! the rows are split over processes, their facts are gathered and merged.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::column::{Cells, Column, NO_TEXT};
use crate::error::DataError;
use crate::place::Place;
use crate::question::Roles;
use crate::table::Table;

/// Facts about the columns in use, from the rows of a table or of a part of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// Rows without missing values.
    pub(crate) kept: usize,
    /// Rows with missing values.
    pub(crate) dropped: usize,
    /// The columns in use: the response first, the predictors last.
    columns: Vec<ColumnFacts>,
}

/// The facts of one column.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct ColumnFacts {
    name: String,
    missing: usize,
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
    pub(crate) fn new(roles: &Roles<'_>, kept: &[usize], dropped: usize) -> Self {
        let facts = |column: &Column| ColumnFacts {
            name: column.name().to_owned(),
            missing: column.missing().len(),
            values: Values::new(column, kept),
        };
        let columns = roles.all().map(|(column, _)| facts(column)).collect();
        Self { kept: kept.len(), dropped, columns }
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
        let mut all = parts.next().unwrap_or(Self { kept: 0, dropped: 0, columns: Vec::new() });
        for part in parts {
            all.kept += part.kept;
            all.dropped += part.dropped;
            for (all, part) in all.columns.iter_mut().zip(part.columns) {
                all.missing += part.missing;
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
    pub(crate) fn range(&self, column: &Column) -> [f64; 2] {
        match self.column(column.name()).map(|facts| &facts.values) {
            Some(&Values::Numbers { low, high }) => [low, high],
            _ => [f64::INFINITY, f64::NEG_INFINITY],
        }
    }

    /// The levels of a text column in alphabetical order; `None` if there are too many to hold.
    pub(crate) fn levels(&self, column: &Column) -> Option<&BTreeSet<String>> {
        match self.column(column.name()).map(|facts| &facts.values) {
            Some(Values::Levels(levels)) => Some(levels),
            _ => None,
        }
    }

    /// The columns that have missing values, in the order of the table.
    pub(crate) fn with_missing<'t>(&self, table: &'t Table) -> Vec<&'t str> {
        let lacking = |name: &str| self.column(name).is_some_and(|column| column.missing > 0);
        table.columns().iter().map(Column::name).filter(|name| lacking(name)).collect()
    }
}

impl Values {
    fn new(column: &Column, kept: &[usize]) -> Self {
        match column.cells() {
            Cells::Text { levels, codes } => {
                let codes = kept.iter().filter_map(|&row| codes.get(row).copied());
                let seen: BTreeSet<u32> = codes.filter(|code| *code != NO_TEXT).collect();
                let level = |code: u32| levels.get(usize::try_from(code).ok()?).cloned();
                Self::Levels(seen.into_iter().filter_map(level).collect())
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

//! Rows that are left out together: those of each level of a grouping factor.

use ridgewalk_frame::{GroupEntries, Table};
use serde::Serialize;

use super::observed::Observed;
use crate::config::Config;
use crate::error::Error;

/// What was left out, and how exact each density is.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LeftOutGroups {
    /// The grouping, or the column of the data.
    pub by: String,
    /// The levels, in the order of their first rows: the order of `pointwise`.
    pub levels: Vec<String>,
    /// The number of rows of each.
    pub rows: Vec<usize>,
    /// The Monte Carlo standard error of each number of `pointwise`.
    pub mcse: Vec<f64>,
}

/// The levels of a grouping, and the rows of each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<usize>>,
}

impl Levels {
    /// Those of a grouping of the fit or, if it has none of this name, of a column of its data.
    pub(super) fn new(
        config: &Config, table: &Table, observed: &Observed, by: &str,
    ) -> Result<Self, Error> {
        let groups = &observed.frame().groups;
        let of_levels = |name: &str| {
            groups.iter().find_map(|group| match &group.entries {
                GroupEntries::Levels { level, .. } if group.name == name => Some((group, level)),
                _ => None,
            })
        };
        let found = match of_levels(by) {
            Some((group, level)) => {
                let name = |level: &u32| group.levels[*level as usize].as_str();
                Self::of(level.iter().map(name))
            }
            None => Self::of_column(table, observed, by)?.ok_or_else(|| {
                let mut known: Vec<&str> = groups.iter().map(|group| &*group.name).collect();
                known.retain(|name| of_levels(name).is_some());
                known.dedup();
                let need = match &known[..] {
                    [] => format!("a column of {}: the fit has no groupings", config.data.title()),
                    _ => format!(
                        "a grouping of the fit ({}) or a column of {}",
                        known.join(", "),
                        config.data.title()
                    ),
                };
                Error::setting("--groups", by, need)
            })?,
        };
        if found.names.len() < 2 {
            return Err(Error::setting("--groups", by, "a grouping with at least two levels"));
        }
        Ok(found)
    }

    fn of_column(table: &Table, observed: &Observed, by: &str) -> Result<Option<Self>, Error> {
        let Some(column) = table.column(by) else { return Ok(None) };
        let rows = observed.rows_of(table);
        let names: Option<Vec<String>> = match column.numbers() {
            Some(numbers) => rows
                .iter()
                .map(|&row| Some(numbers[row]).filter(|x| x.is_finite()).map(|x| x.to_string()))
                .collect(),
            None => {
                let texts = column.texts().unwrap_or_default();
                let text = |&row: &usize| texts.get(row).copied().flatten().map(str::to_owned);
                rows.iter().map(text).collect()
            }
        };
        let need = "a column without missing values";
        let names = names.ok_or_else(|| Error::setting("--groups", by, need))?;
        Ok(Some(Self::of(names.iter().map(String::as_str))))
    }

    /// By the name of each row.
    fn of<'a>(each: impl Iterator<Item = &'a str>) -> Self {
        let mut places = std::collections::HashMap::new();
        let (mut names, mut rows): (Vec<String>, Vec<Vec<usize>>) = (Vec::new(), Vec::new());
        for (row, name) in each.enumerate() {
            let place = *places.entry(name).or_insert_with(|| {
                names.push(name.to_owned());
                rows.push(Vec::new());
                names.len() - 1
            });
            rows[place].push(row);
        }
        Self { names, rows }
    }
}

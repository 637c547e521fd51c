//! Rows that are left out together: those of each level of a grouping factor.

use std::collections::HashMap;

use ridgewalk_frame::{Column, GroupEntries};
use serde::Serialize;

use crate::config::Config;
use crate::error::Error;
use crate::rows::FitRows;

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
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Levels {
    pub(super) names: Vec<String>,
    pub(super) rows: Vec<Vec<usize>>,
    places: HashMap<String, usize>,
    count: usize,
}

impl Levels {
    /// Those of a grouping of the fit or, if it has none of this name, of a column of its data.
    pub(super) fn new(config: &Config, data: &FitRows<'_>, by: &str) -> Result<Self, Error> {
        let (mut found, mut known) = (Self::default(), Vec::<String>::new());
        data.each(&mut |part| {
            let mut groups = part.observed.frame().groups.iter().filter_map(|group| {
                let GroupEntries::Levels { level, .. } = &group.entries else { return None };
                Some((group, level))
            });
            known = groups.clone().map(|(group, _)| group.name.clone()).collect();
            if let Some((group, level)) = groups.find(|(group, _)| group.name == by) {
                level.iter().for_each(|level| found.push(&group.levels[*level as usize]));
            }
            Ok(())
        })?;
        let grouped = known.iter().any(|name| name == by);
        if !grouped && !data.column(by, &mut |column| found.add(column, by))? {
            known.dedup();
            let need = match &known[..] {
                [] => format!("a column of {}: the fit has no groupings", config.data.title()),
                _ => format!(
                    "a grouping of the fit ({}) or a column of {}",
                    known.join(", "),
                    config.data.title()
                ),
            };
            return Err(Error::setting("--groups", by, need));
        }
        if found.names.len() < 2 {
            return Err(Error::setting("--groups", by, "a grouping with at least two levels"));
        }
        Ok(found)
    }

    /// More rows, by a column of the data.
    fn add(&mut self, column: &Column, by: &str) -> Result<(), Error> {
        let missing = || Error::setting("--groups", by, "a column without missing values");
        if let Some(numbers) = column.numbers() {
            for number in numbers {
                if !number.is_finite() {
                    return Err(missing());
                }
                self.push(&number.to_string());
            }
            return Ok(());
        }
        let texts = column.texts().ok_or_else(missing)?;
        texts.into_iter().try_for_each(|text| {
            self.push(text.ok_or_else(missing)?);
            Ok(())
        })
    }

    /// One more row.
    fn push(&mut self, name: &str) {
        let place = match self.places.get(name) {
            Some(place) => *place,
            None => {
                self.places.insert(name.to_owned(), self.names.len());
                self.names.push(name.to_owned());
                self.rows.push(Vec::new());
                self.names.len() - 1
            }
        };
        self.rows[place].push(self.count);
        self.count += 1;
    }
}

//! The numbers that a model needs: the design, the response, and trials, offset and weight per row.

use std::borrow::Cow;

use crate::MIN_MAGNITUDE;
use crate::advice::advice;
use crate::coding::{self, Coding};
use crate::column::Column;
use crate::design::Designed;
use crate::draft::Draft;
use crate::error::DataError;
use crate::facts::Facts;
use crate::groups::{self, Grouping};
use crate::matrix::Matrix;
use crate::place::{NAME_SHOWN, Place, Row, listed, number, shown};
use crate::question::{FamilyName, Question, Role};
use crate::response;
use crate::scaling::Combine;
use crate::table::Table;

/// The name of the intercept.
pub const INTERCEPT: &str = "(Intercept)";

/// Numbers for a model, row by row and coefficient by coefficient.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Frame {
    /// The data file as the user named it.
    pub file: String,
    /// The name of each coefficient: the intercept first unless it is left out, then the predictors
    /// in the order of the formula. A text column has one coefficient `column[level]` per level
    /// except its base level.
    pub names: Vec<String>,
    /// The term of each coefficient: `city` for `city[Oslo]`.
    pub terms: Vec<String>,
    /// The rank of the design; `None` if it has many columns or is a part of one.
    pub rank: Option<usize>,
    /// Group effects and the wiggly parts of smooths; none without such terms.
    pub groups: Vec<Grouping>,
    /// How these rows were coded, for new ones.
    pub coding: Coding,
    /// Whether the first coefficient is the intercept.
    pub intercept: bool,
    /// The number of rows.
    pub rows: usize,
    /// The number of rows over all parts, if this is the frame of a part of the table.
    pub all_rows: usize,
    /// The number of coefficients.
    pub columns: usize,
    /// The design; sparse if it is wide and most of its entries are 0.
    pub design: Matrix,
    /// The response of each row.
    pub response: Vec<f64>,
    /// The number of trials of each row.
    pub trials: Option<Vec<f64>>,
    /// Survival families: the end of the interval in which the time of each row lies; the response
    /// is its start.
    pub upper: Option<Vec<f64>>,
    /// The levels of an ordinal or multinomial response, which is a number of one of them; empty
    /// for other families.
    pub levels: Vec<String>,
    /// The offset of each row.
    pub offset: Option<Vec<f64>>,
    /// The weight of each row.
    pub weights: Option<Vec<f64>>,
    /// Where each row is in the file.
    pub lines: Vec<Row>,
    /// If standardized or centred: the mean subtracted from each column of the design and the
    /// standard deviation (divisor n) that it was divided by, or 1; (0, 1) for the intercept.
    pub scaling: Option<Vec<(f64, f64)>>,
    /// Notes for the user: base levels, rows left out, which text counts as 1.
    pub notes: Vec<String>,
}

impl Frame {
    /// Builds the frame for a question about a table.
    ///
    /// # Errors
    /// Columns that do not exist or cannot be used as asked, with the place of the first bad value.
    pub fn new(table: &Table, question: &Question) -> Result<Self, DataError> {
        let draft = Draft::new(table, question)?;
        let mut frame = draft.finish(&draft.facts)?;
        frame.check_slopes(|_: Combine, _: &mut [f64]| {})?;
        if question.standardize {
            frame.standardize(|_: Combine, _: &mut [f64]| {})?;
        }
        Ok(frame)
    }

    /// The frame before standardizing.
    pub(crate) fn unscaled(draft: &Draft<'_>, facts: &Facts) -> Result<Self, DataError> {
        let Draft { table, source, question, roles, parts, kept, .. } = draft;
        let file = table.name().to_owned();
        let counts = &facts.counts;
        if counts.kept < 2 {
            let (rows, dropped) = (counts.kept, counts.missing);
            return Err(DataError::TooFewRows { file, rows, dropped });
        }
        for used in roles.columns(source).into_iter().filter(|used| used.role != Role::Group) {
            check_vanishing(table, used.column, used.role, facts)?;
        }
        let mut notes = row_notes(draft, facts);
        notes.extend(level_notes(draft, facts));
        let mut response = response::values(draft, facts, &mut notes)?;
        let upper = response::intervals(draft, &mut response);
        let levels = if question.family.has_levels() {
            response::coded(draft, facts, &mut Vec::new())?.1
        } else {
            Vec::new()
        };
        let designed = Designed::new(draft, facts, &mut notes)?;
        let (advice, rank) = advice(draft, facts, &designed);
        notes.extend(advice);
        let Designed { coding, names, terms, design, groups } = designed;
        // Weights may tell noise from effects of single rows.
        let noise = question.family == FamilyName::Gaussian && parts.weights.is_none();
        notes.extend(groups::notes(&groups, noise, &facts.groups));
        let (rows, columns) = (kept.len(), names.len());
        let uncensored = parts.event.is_none() && parts.upper.is_none();
        if question.family.is_survival()
            && uncensored
            && let Some(name) = coding.variables().iter().find(|name| marks_events(name))
        {
            notes.push(format!(
                "column `{name}` is used as a predictor and every time as an event: if it marks events, pass --event {name}"
            ));
        }
        if question.standardize && !roles.constant {
            notes.push(
                "predictors are centred although there is no intercept: the linear predictor is 0 \
                 at their means"
                    .to_owned(),
            );
        }
        let of =
            |column: &Option<Cow<'_, Column>>| column.as_ref().map(|column| numbers(column, kept));
        let offset = (!roles.offsets.is_empty())
            .then(|| coding::sum(source, &roles.offsets, kept))
            .transpose()?;
        Ok(Self {
            file,
            design,
            groups,
            intercept: coding.intercept,
            coding,
            names,
            terms,
            rank,
            rows,
            all_rows: counts.kept,
            columns,
            response,
            trials: of(&parts.trials),
            upper,
            levels,
            offset,
            weights: of(&parts.weights),
            lines: kept.iter().map(|&row| table.row_place(row)).collect(),
            scaling: None,
            notes,
        })
    }

    /// The frame of some of its rows, in this order, coded and scaled as they are here. Rows beyond
    /// the last are left out.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> Self {
        let rows: Vec<usize> = rows.iter().copied().filter(|&row| row < self.rows).collect();
        let of = |list: &Vec<f64>| rows.iter().map(|&row| list[row]).collect::<Vec<f64>>();
        let maybe = |list: &Option<Vec<f64>>| list.as_ref().map(of);
        Self {
            design: self.design.select(&rows),
            response: of(&self.response),
            trials: maybe(&self.trials),
            upper: maybe(&self.upper),
            offset: maybe(&self.offset),
            weights: maybe(&self.weights),
            // A frame whose design is in a file has none.
            lines: rows.iter().filter_map(|&row| self.lines.get(row).copied()).collect(),
            rows: rows.len(),
            all_rows: rows.len(),
            file: self.file.clone(),
            names: self.names.clone(),
            terms: self.terms.clone(),
            groups: self.groups.iter().map(|group| group.select(&rows)).collect(),
            rank: None,
            coding: self.coding.clone(),
            intercept: self.intercept,
            columns: self.columns,
            levels: self.levels.clone(),
            scaling: self.scaling.clone(),
            notes: Vec::new(),
        }
    }

    /// Row `row` of the design; empty beyond the last.
    #[must_use]
    pub fn row(&self, row: usize) -> Vec<f64> {
        self.design.row(row).into_owned()
    }

    /// The error for a predictor that does not vary enough to be standardized.
    pub(crate) fn constant(&self, column: usize, mean: f64) -> DataError {
        let name = self.names.get(column).map_or("", String::as_str);
        DataError::Constant {
            place: Place::column(&self.file, name),
            value: shown(&number(mean), NAME_SHOWN),
            reason: " by more than rounding, for --standardize",
        }
    }
}

/// Whether a column is called as those are that mark events.
fn marks_events(name: &str) -> bool {
    ["event", "events", "status", "censored", "censor", "dead", "died", "death", "failed"]
        .contains(&name.to_lowercase().as_str())
}

/// The numbers of a column in the rows kept; none for a text column.
pub(crate) fn numbers(column: &Column, kept: &[usize]) -> Vec<f64> {
    let values = column.numbers().unwrap_or_default();
    kept.iter().filter_map(|&row| values.get(row).copied()).collect()
}

/// Checks that the squares of a column's numbers do not all underflow.
fn check_vanishing(
    table: &Table, column: &Column, role: Role, facts: &Facts,
) -> Result<(), DataError> {
    let [low, high] = facts.range(column.name());
    let largest = low.abs().max(high.abs());
    if largest > 0.0 && largest < MIN_MAGNITUDE && role != Role::Offset {
        let place = Place::column(table.name(), column.name());
        return Err(DataError::TooSmall { place, largest });
    }
    Ok(())
}

/// Levels that columns name and no row in use has.
fn level_notes(draft: &Draft<'_>, facts: &Facts) -> Vec<String> {
    let used = draft.roles.columns(&draft.source).into_iter().filter_map(|used| {
        let (column, seen) = (used.column, facts.levels(used.column.name())?);
        let unused = column.given_levels().iter().filter(|level| !seen.contains(*level));
        let unused: Vec<String> = unused.cloned().collect();
        let name = shown(column.name(), NAME_SHOWN);
        (!unused.is_empty())
            .then(|| format!("no row has these levels of `{name}`: {}", listed(&unused, 8)))
    });
    used.collect()
}

/// Which rows are used, and why others are not.
fn row_notes(draft: &Draft<'_>, facts: &Facts) -> Vec<String> {
    let counts = &facts.counts;
    let mut notes = Vec::new();
    let selected = counts.kept + counts.missing + counts.weightless;
    if let Some(condition) = &draft.question.condition {
        let of = selected + counts.unselected;
        notes.push(format!("uses {selected} of {of} rows, those with {condition}"));
    }
    if counts.weightless > 0 {
        let count = counts.weightless;
        notes.push(format!("left out {count} of {selected} rows, whose weight is 0"));
    }
    if counts.missing > 0 {
        let (of, names) = (counts.kept + counts.missing, listed(&counts.missing_in, 8));
        let dropped = counts.missing;
        notes.push(format!("left out {dropped} of {of} rows with missing values in {names}"));
    }
    notes
}

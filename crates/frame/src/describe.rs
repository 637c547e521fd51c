//! The columns of a table in numbers: kinds, missing values, quantiles, levels, histograms.

use serde::Serialize;

use crate::basis::quantile;
use crate::column::{Cells, Column};
use crate::draft::selected;
use crate::error::DataError;
use crate::evaluate::Source;
use crate::factors::natural_order;
use crate::groups::Grouping;
use crate::{Condition, Frame, Table, dates};

/// The number of bars of a histogram.
const BARS: usize = 10;
/// Levels of text are counted up to this many.
const LEVELS: usize = 100;

/// A table, column by column.
///
/// ```
/// use ridgewalk_frame::{Description, Kind, Table};
///
/// let table = Table::from_bytes("d.csv", b"age,city\n31,Oslo\n,Bergen\n40,Oslo\n")?;
/// let found = Description::new(&table, None)?;
/// assert_eq!((found.rows, found.columns[0].missing), (3, 1));
/// assert_eq!(found.columns[0].numbers.as_ref().map(|numbers| numbers.median), Some(35.5));
/// assert_eq!(found.columns[1].kind, Kind::Text);
/// # Ok::<(), ridgewalk_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Description {
    /// The file as the user named it.
    pub file: String,
    /// The number of rows, of those selected.
    pub rows: usize,
    /// The number of rows with a missing value in some column.
    pub incomplete: usize,
    /// The columns.
    pub columns: Vec<ColumnDescription>,
}

/// A column in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ColumnDescription {
    /// Its name.
    pub name: String,
    /// What it holds.
    pub kind: Kind,
    /// The number of missing values.
    pub missing: usize,
    /// For a column of numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<Numbers>,
    /// For a column of text or dates: levels in natural order with their counts: the
    /// first 100, or of dates the first 99 and the last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<(String, usize)>,
    /// The number of levels or of distinct numbers; `None` if there are too many to count.
    pub distinct: Option<usize>,
    /// For a sparse matrix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sparse: Option<SparseNumbers>,
    /// Why it cannot be used, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// A sparse matrix in numbers.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SparseNumbers {
    /// The number of columns.
    pub columns: usize,
    /// The number of entries that are not 0.
    pub entries: usize,
    /// The smallest and the largest of them.
    pub range: [f64; 2],
}

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kind {
    /// Numbers.
    Number,
    /// Whole numbers.
    Whole,
    /// 0 and 1 only.
    Binary,
    /// Text.
    Text,
    /// Text that is dates.
    Date,
    /// A sparse matrix of numbers.
    Sparse,
    /// Only missing values.
    Missing,
    /// What no model can use.
    Unusable,
}

impl Kind {
    /// Its name in tables.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Number => "number",
            Self::Whole => "whole",
            Self::Binary => "0/1",
            Self::Text => "text",
            Self::Date => "date",
            Self::Sparse => "sparse",
            Self::Missing => "missing",
            Self::Unusable => "unusable",
        }
    }
}

/// The numbers of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Numbers {
    /// The mean.
    pub mean: f64,
    /// The standard deviation, with divisor n − 1.
    pub sd: f64,
    /// The smallest.
    pub min: f64,
    /// The first quartile, as R's `quantile` has it.
    pub q25: f64,
    /// The median.
    pub median: f64,
    /// The third quartile.
    pub q75: f64,
    /// The largest.
    pub max: f64,
    /// The number of values in each of ten intervals of equal length.
    pub histogram: Vec<usize>,
}

/// A grouping of a frame in numbers.
///
/// ```
/// use ridgewalk_frame::{FamilyName, Frame, Question, Table};
///
/// let table = Table::from_bytes("d.csv", b"y,x,g\n1,0,a\n3,1,b\n2,4,b\n4,2,b\n")?;
/// let question = Question::of_formula("y ~ x + (x | g)".parse()?, FamilyName::Gaussian);
/// let found = Frame::new(&table, &question)?.describe_groups();
/// assert_eq!(found[0].name, "g");
/// assert_eq!(found[0].coefficients, ["(Intercept)", "x"]);
/// assert_eq!((found[0].levels, found[0].smallest, found[0].largest), (2, 1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct GroupDescription {
    /// The grouping factor, or the smooth.
    pub name: String,
    /// The coefficients of each level.
    pub coefficients: Vec<String>,
    /// The number of levels, or of the functions of a smooth.
    pub levels: usize,
    /// The rows of the smallest level; of a smooth, all in which it may differ from 0.
    pub smallest: usize,
    /// The median of the rows of a level.
    pub median: f64,
    /// The rows of the largest level.
    pub largest: usize,
    /// Whether it is the wiggly part of a smooth.
    pub smooth: bool,
}

impl GroupDescription {
    fn new(group: &Grouping) -> Self {
        let mut counts = group.counts();
        counts.sort_unstable();
        let sizes: Vec<f64> = counts.iter().map(|count| *count as f64).collect();
        Self {
            name: group.name.clone(),
            coefficients: group.coefficients.clone(),
            levels: group.levels.len(),
            smallest: counts.first().copied().unwrap_or(0),
            median: if sizes.is_empty() { 0.0 } else { quantile(&sizes, 0.5) },
            largest: counts.last().copied().unwrap_or(0),
            smooth: group.smooth,
        }
    }
}

impl Frame {
    /// The groupings in numbers.
    #[must_use]
    pub fn describe_groups(&self) -> Vec<GroupDescription> {
        self.groups.iter().map(GroupDescription::new).collect()
    }
}

impl Description {
    /// Describes the columns of a table, in the rows that a condition selects.
    ///
    /// # Errors
    /// A condition that names no column or selects no row.
    pub fn new(table: &Table, condition: Option<&Condition>) -> Result<Self, DataError> {
        let all: Vec<usize> = (0..table.rows()).collect();
        let rows = match condition {
            Some(condition) => selected(&Source::new(table, &[])?, condition, all)?,
            None => all,
        };
        let mut lacking = vec![false; table.rows()];
        let missing = table.columns().iter().flat_map(Column::missing);
        missing.for_each(|row| lacking[row] = true);
        Ok(Self {
            file: table.name().to_owned(),
            rows: rows.len(),
            incomplete: rows.iter().filter(|&&row| lacking[row]).count(),
            columns: table.columns().iter().map(|column| describe(table, column, &rows)).collect(),
        })
    }
}

fn describe(table: &Table, column: &Column, rows: &[usize]) -> ColumnDescription {
    let mut found = ColumnDescription {
        name: column.name().to_owned(),
        kind: Kind::Unusable,
        missing: 0,
        numbers: None,
        levels: Vec::new(),
        distinct: None,
        sparse: None,
        problem: None,
    };
    match column.cells() {
        Cells::Numbers(values) => {
            let mut values: Vec<f64> =
                rows.iter().map(|&row| values[row]).filter(|value| !value.is_nan()).collect();
            found.missing = rows.len() - values.len();
            values.sort_unstable_by(f64::total_cmp);
            let distinct = 1 + values.windows(2).filter(|pair| pair[0] != pair[1]).count();
            found.kind = match values.iter().all(|value| value.fract() == 0.0) {
                _ if values.is_empty() => Kind::Missing,
                true if values.iter().all(|value| *value == 0.0 || *value == 1.0) => Kind::Binary,
                true => Kind::Whole,
                false => Kind::Number,
            };
            found.distinct = Some(if values.is_empty() { 0 } else { distinct });
            found.numbers = numbers(&values);
        }
        Cells::Text { levels, codes } => {
            let mut counts = vec![0_usize; levels.len()];
            for code in rows.iter().filter_map(|&row| usize::try_from(codes[row]).ok()) {
                match counts.get_mut(code) {
                    Some(count) => *count += 1,
                    None => found.missing += 1,
                }
            }
            let dates = levels.iter().all(|level| dates::days(level).is_some());
            found.kind = if dates { Kind::Date } else { Kind::Text };
            let mut used: Vec<(String, usize)> =
                levels.iter().cloned().zip(counts).filter(|(_, count)| *count > 0).collect();
            if column.given_levels().is_empty() {
                used.sort_by(|a, b| natural_order(&a.0, &b.0));
            }
            found.distinct = Some(used.len());
            // The last date stays, for the range.
            if let Some(last) = used.last().cloned().filter(|_| dates && used.len() > LEVELS) {
                used.truncate(LEVELS - 1);
                used.push(last);
            }
            used.truncate(LEVELS);
            found.levels = used;
        }
        Cells::Sparse(columns) => {
            found.kind = Kind::Sparse;
            let all = columns.entries();
            let used = rows.iter().flat_map(|&row| all.entries(row).map(|(_, value)| value));
            let (mut entries, mut range) = (0, [f64::INFINITY, f64::NEG_INFINITY]);
            used.for_each(|value| {
                entries += 1;
                range = [range[0].min(value), range[1].max(value)];
            });
            found.sparse = Some(SparseNumbers { columns: all.columns, entries, range });
        }
        Cells::Missing(_) => (found.kind, found.missing) = (Kind::Missing, rows.len()),
        Cells::ManyTexts { text, .. } => {
            found.kind = if dates::days(text).is_some() { Kind::Date } else { Kind::Text };
        }
        Cells::Mixed { .. } | Cells::Infinite { .. } | Cells::Other(_) => {
            let why = crate::draft::usable(table, column, crate::Role::Response);
            found.problem = why.err().map(|error| error.to_string());
        }
    }
    found
}

/// The numbers of values in order; `None` if there are none.
fn numbers(sorted: &[f64]) -> Option<Numbers> {
    let (&min, &max) = (sorted.first()?, sorted.last()?);
    let n = sorted.len() as f64;
    let mean = sorted.iter().map(|value| value / n).sum::<f64>();
    let squares: f64 = sorted.iter().map(|value| (value - mean).powi(2)).sum();
    let [q25, median, q75] = [0.25, 0.5, 0.75].map(|p| quantile(sorted, p));
    let sd = (squares / (n - 1.0)).sqrt();
    Some(Numbers { mean, sd, min, q25, median, q75, max, histogram: histogram(sorted, [min, max]) })
}

/// Counts in intervals of equal length.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and BARS")]
fn histogram(values: &[f64], [min, max]: [f64; 2]) -> Vec<usize> {
    let mut counts = vec![0; BARS];
    for value in values {
        let at = if max > min { (value - min) / (max - min) * BARS as f64 } else { 0.0 };
        counts[(at as usize).min(BARS - 1)] += 1;
    }
    counts
}

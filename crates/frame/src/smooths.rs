//! Smooth terms, `s(x, k = 10, by = f)`: a straight line, which is a column of the design like
//! others, and wiggly functions with effects that are drawn like those of a grouping.

use std::borrow::Cow;
use std::collections::HashMap;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::coding::{Coding, check_finite};
use crate::draft::Draft;
use crate::error::DataError;
use crate::evaluate::{Memory, Source, Type};
use crate::facts::Learning;
use crate::formula::FormulaError;
use crate::formula::parse;
use crate::formula::syntax::{Kind, Node};
use crate::groups::{GroupEntries, GroupNames, Grouping};
use crate::levels::{Key, Levels};
use crate::plan::{Plan, Smooth};
use crate::splines::{LEAST, Splines};
use crate::{MAX_LEVELS, MAX_VALUES};

/// Rows that are coded together.
const BLOCK: usize = 4096;
/// The name of the coefficient of a wiggly function.
const COEFFICIENT: &str = "smooth";

/// A smooth term of a formula.
#[derive(Debug)]
pub(crate) struct SmoothPlan {
    /// As written.
    pub(crate) node: Node,
    pub(crate) x: Node,
    functions: usize,
    pub(crate) by: Option<By>,
}

/// What a smooth differs by.
#[derive(Debug, PartialEq)]
pub(crate) enum By {
    /// One smooth for each level.
    Levels(Key),
    /// The smooth times a number.
    Number(Node),
}

impl By {
    fn new(source: &Source<'_>, of: &str, node: &Node) -> Result<Self, DataError> {
        let factor = matches!(&node.kind, Kind::Call(function, _)
            if matches!(function.as_str(), "factor" | "as.factor"));
        if factor || source.check(of, node)? == Type::Text {
            return Key::new(source, of, node).map(Self::Levels);
        }
        check_row_alone(of, node)?;
        Ok(Self::Number(node.clone()))
    }

    pub(crate) fn node(&self) -> &Node {
        match self {
            Self::Levels(key) => &key.of,
            Self::Number(node) => node,
        }
    }

    fn label(&self) -> String {
        match self {
            Self::Levels(key) => key.label.clone(),
            Self::Number(node) => node.to_string(),
        }
    }
}

/// A spelling without the backquotes of a column.
fn title(label: &str) -> String {
    match parse::expression(label).map(|node| node.kind) {
        Ok(Kind::Name(name)) => name,
        _ => label.to_owned(),
    }
}

/// Checks that an expression has numbers that depend on their row alone.
fn check_row_alone(of: &str, node: &Node) -> Result<(), DataError> {
    let mut learns = false;
    node.walk(&mut |part| learns |= crate::plan::is_scale(part));
    if learns {
        let message = format!("found `{node}`, need a column or a function of its own row in s()");
        return Err(FormulaError::new(of, &node.span, message).into());
    }
    Ok(())
}

impl SmoothPlan {
    pub(crate) fn new(source: &Source<'_>, of: &str, node: &Node) -> Result<Self, DataError> {
        let Smooth { x, functions, by } = Plan::smooth(source, of, node)?;
        check_row_alone(of, &x)?;
        let by = by.map(|node| By::new(source, of, &node)).transpose()?;
        Ok(Self { node: node.clone(), x, functions, by })
    }

    /// Whether another smooth has the same name.
    pub(crate) fn same(&self, other: &Self) -> bool {
        let name = |plan: &Self| (plan.x.to_string(), plan.by.as_ref().map(By::label));
        name(self) == name(other)
    }

    /// The expressions that it is made of.
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &Node> {
        std::iter::once(&self.x).chain(self.by.as_ref().map(By::node))
    }

    /// Checks that its numbers are finite.
    pub(crate) fn check(&self, source: &Source<'_>, rows: &[usize]) -> Result<(), DataError> {
        let factor = match &self.by {
            Some(By::Number(node)) => Some(node),
            _ => None,
        };
        std::iter::once(&self.x).chain(factor).try_for_each(|node| {
            check_finite(source, node, rows, &source.numbers(node, rows, &Memory::new()))
        })
    }

    /// Learns the functions from the rows of a draft, or from those of all parts of its table.
    pub(crate) fn learn(
        &self, draft: &Draft<'_>, learning: Learning<'_>,
    ) -> Result<CodedSmooth, DataError> {
        let (table, (source, kept)) = (draft.table, learning.all);
        let refuse = |need: String| {
            let (file, call) = (table.name().to_owned(), self.node.to_string());
            Err(DataError::Function { file, call, need })
        };
        let x = source.numbers(&self.x, kept, &Memory::new());
        check_finite(source, &self.x, kept, &x)?;
        let distinct = count_distinct(&x);
        let (functions, by) = (self.functions, self.by.as_ref());
        if distinct < LEAST {
            return refuse(format!("at least {LEAST} distinct values; found {distinct}"));
        }
        if distinct < functions {
            let with = by.map_or(String::new(), |by| format!(", by = {}", by.label()));
            return refuse(format!(
                "at least {functions} distinct values for k = {functions}; found {distinct}: s({}, \
                 k = {distinct}{with}) would do",
                self.x
            ));
        }
        let low = x.iter().copied().fold(f64::INFINITY, f64::min);
        let high = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mut coded = CodedSmooth {
            x: self.x.to_string(),
            by: by.map(By::label),
            functions,
            ends: [low, high],
            parts: Vec::new(),
        };
        let parts: Vec<(Option<String>, Vec<usize>)> = match by {
            Some(By::Levels(key)) => {
                let levels = Levels::new(source, std::slice::from_ref(key), kept)?;
                let found = levels.names.len();
                if !(2..=MAX_LEVELS).contains(&found) {
                    return refuse(format!(
                        "from 2 to {MAX_LEVELS} levels of {}; found {found}",
                        key.label
                    ));
                }
                let mut rows = vec![Vec::new(); found];
                levels.codes.iter().enumerate().for_each(|(k, &code)| rows[code as usize].push(k));
                levels.names.into_iter().map(Some).zip(rows).collect()
            }
            _ => vec![(None, (0..kept.len()).collect())],
        };
        let values = draft.kept.len().saturating_mul(functions - 2).saturating_mul(parts.len());
        if values > MAX_VALUES {
            return refuse(format!(
                "at most {MAX_VALUES} entries; found {values}: choose a smaller k"
            ));
        }
        let factor = match by {
            Some(By::Number(node)) => {
                let values = source.numbers(node, kept, &Memory::new());
                check_finite(source, node, kept, &values)?;
                values
            }
            _ => vec![1.0; kept.len()],
        };
        let splines = Splines::new(functions);
        for (level, rows) in parts {
            let own = [&x, &factor].map(|list| rows.iter().map(|&k| list[k]).collect::<Vec<f64>>());
            match coded.part(&splines, level, &own) {
                Ok(part) => coded.parts.push(part),
                Err(need) => return refuse(need),
            }
        }
        Ok(coded)
    }
}

impl CodedSmooth {
    /// The part of one level, or of all rows, from its values and what it is multiplied by; or what
    /// is needed instead.
    fn part(
        &self, splines: &Splines, level: Option<String>, [x, by]: &[Vec<f64>; 2],
    ) -> Result<SmoothPart, String> {
        let distinct = count_distinct(x);
        if let (Some(level), true) = (&level, distinct < 3) {
            let by = self.by.as_deref().unwrap_or_default();
            return Err(format!(
                "at least 3 distinct values in each level of {by}; found {distinct} in `{level}`"
            ));
        }
        let n = x.len() as f64;
        let first = x.iter().sum::<f64>() / n;
        // The second pass removes the rounding error of the first sum.
        let mean = first + x.iter().map(|x| x - first).sum::<f64>() / n;
        let sd = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n).sqrt();
        let line: Vec<f64> = x.iter().map(|x| (x - mean) / sd).collect();
        let u: Vec<f64> = x.iter().map(|x| self.place(*x)).collect();
        match splines.transform(&u, &line, by).filter(|_| sd > 0.0) {
            Some(transform) => Ok(SmoothPart { level, mean, sd, transform }),
            None => {
                Err("values that differ by more than rounding, and a by that is not 0".to_owned())
            }
        }
    }
}

fn count_distinct(values: &[f64]) -> usize {
    let mut sorted = values.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted.dedup();
    sorted.len()
}

/// What is remembered about a smooth term.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct CodedSmooth {
    pub(crate) x: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) by: Option<String>,
    /// The number of B-splines.
    functions: usize,
    /// The ends of the knots, which are at equal spacing.
    ends: [f64; 2],
    /// One, or one for each level.
    parts: Vec<SmoothPart>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct SmoothPart {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    level: Option<String>,
    /// The mean and the standard deviation of x.
    mean: f64,
    sd: f64,
    /// From B-splines to functions, row after row.
    transform: Vec<f64>,
}

/// The columns of a smooth in some rows.
pub(crate) struct SmoothRows {
    /// The straight lines, one column after the other.
    pub(crate) lines: Vec<Vec<f64>>,
    pub(crate) groups: Vec<Grouping>,
}

impl CodedSmooth {
    /// Where a value is between the ends of the knots.
    fn place(&self, x: f64) -> f64 {
        (x - self.ends[0]) / (self.ends[1] - self.ends[0])
    }

    /// The term of its straight lines.
    pub(crate) fn term(&self) -> String {
        match &self.by {
            Some(by) => format!("s({}):{}", self.x, title(by)),
            None => format!("s({})", self.x),
        }
    }

    /// The name of each part, which is that of its straight line too.
    pub(crate) fn part_names(&self) -> impl Iterator<Item = String> {
        let term = self.term();
        self.parts.iter().map(move |part| match &part.level {
            Some(level) => format!("{term}[{level}]"),
            None => term.clone(),
        })
    }

    pub(crate) fn width(&self) -> usize {
        self.parts.len()
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = GroupNames<'_>> {
        self.part_names().map(|name| GroupNames {
            name,
            coefficients: Cow::Owned(vec![COEFFICIENT.to_owned()]),
            levels: Cow::Owned(self.numbers()),
            smooth: true,
        })
    }

    fn numbers(&self) -> Vec<String> {
        (1..=self.functions - 2).map(|k| k.to_string()).collect()
    }

    /// The columns of rows of a table.
    pub(crate) fn rows(
        &self, source: &Source<'_>, rows: &[usize],
    ) -> Result<SmoothRows, DataError> {
        let node = parse::expression(&self.x)?;
        source.check(&self.x, &node)?;
        let x = source.numbers(&node, rows, &Memory::new());
        check_finite(source, &node, rows, &x)?;
        let (part, factor) = self.parts_of(source, rows)?;
        let mut lines = vec![vec![0.0; rows.len()]; self.parts.len()];
        for (row, (&part, factor)) in part.iter().zip(&factor).enumerate() {
            let SmoothPart { mean, sd, .. } = &self.parts[part];
            lines[part][row] = factor * (x[row] - mean) / sd;
        }
        let splines = Splines::new(self.functions);
        let groups = self.part_names().enumerate().map(|(k, name)| Grouping {
            name,
            coefficients: vec![COEFFICIENT.to_owned()],
            levels: self.numbers(),
            smooth: true,
            entries: GroupEntries::Basis(self.wiggles(&splines, k, &x, &part, &factor)),
        });
        Ok(SmoothRows { lines, groups: groups.collect() })
    }

    /// The functions of one part, which are 0 in rows of others.
    fn wiggles(
        &self, splines: &Splines, own: usize, x: &[f64], part: &[usize], factor: &[f64],
    ) -> Vec<f64> {
        let wide = self.functions - 2;
        let transform = &self.parts[own].transform;
        let mut all = vec![0.0; x.len() * wide];
        all.par_chunks_mut(BLOCK * wide).enumerate().for_each(|(block, out)| {
            for (k, out) in out.chunks_exact_mut(wide).enumerate() {
                let row = block * BLOCK + k;
                if part[row] != own {
                    continue;
                }
                let values = splines.row(self.place(x[row]));
                for (value, row) in values.iter().zip(transform.chunks_exact(wide)) {
                    if *value != 0.0 {
                        out.iter_mut().zip(row).for_each(|(sum, t)| *sum += value * t);
                    }
                }
                out.iter_mut().for_each(|value| *value *= factor[row]);
            }
        });
        all
    }

    /// The part of each row and the factor of its functions.
    fn parts_of(
        &self, source: &Source<'_>, rows: &[usize],
    ) -> Result<(Vec<usize>, Vec<f64>), DataError> {
        let (first, ones) = (|| vec![0; rows.len()], || vec![1.0; rows.len()]);
        let Some(by) = &self.by else { return Ok((first(), ones())) };
        let node = parse::expression(by)?;
        let leveled = self.parts.first().is_some_and(|part| part.level.is_some());
        if !leveled {
            source.check(by, &node)?;
            let values = source.numbers(&node, rows, &Memory::new());
            check_finite(source, &node, rows, &values)?;
            return Ok((first(), values));
        }
        let levels = Levels::new(source, &[Key::new(source, by, &node)?], rows)?;
        let names = self.parts.iter().filter_map(|part| part.level.as_deref());
        let known: HashMap<&str, usize> = names.zip(0..).collect();
        let part = |(&code, &row): (&u32, &usize)| {
            let level = &levels.names[code as usize];
            known.get(level.as_str()).copied().ok_or_else(|| DataError::UnseenLevel {
                place: source.table.cell(row, node.columns().first().unwrap_or(&"")),
                level: level.clone(),
                factor: title(by),
                known: self.parts.iter().filter_map(|part| part.level.clone()).collect(),
            })
        };
        let parts = levels.codes.iter().zip(rows).map(part);
        Ok((parts.collect::<Result<Vec<usize>, DataError>>()?, ones()))
    }
}

/// One part of a smooth term at points of equal spacing, for drawings.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SmoothGrid {
    /// The name of its grouping, which is that of its straight line too.
    pub name: String,
    /// What is smoothed, as it is written.
    pub of: String,
    /// The points: from the smallest value of the data to the largest.
    pub x: Vec<f64>,
    /// The column of its straight line at each point.
    pub line: Vec<f64>,
    /// Its functions, row after row.
    pub functions: Vec<f64>,
}

impl CodedSmooth {
    fn grids(&self, points: usize) -> impl Iterator<Item = SmoothGrid> {
        let [low, high] = self.ends;
        let step = (high - low) / points.saturating_sub(1).max(1) as f64;
        let x: Vec<f64> = (0..points).map(|k| (low + step * k as f64).min(high)).collect();
        let (splines, ones) = (Splines::new(self.functions), vec![1.0; points]);
        self.part_names().enumerate().map(move |(k, name)| {
            let SmoothPart { mean, sd, .. } = &self.parts[k];
            SmoothGrid {
                name,
                of: self.x.clone(),
                line: x.iter().map(|x| (x - mean) / sd).collect(),
                functions: self.wiggles(&splines, k, &x, &vec![k; points], &ones),
                x: x.clone(),
            }
        })
    }
}

impl Coding {
    /// The smooths at so many points of the range of the data each, in the order of their groupings.
    /// One that is multiplied by a number is that of the number 1.
    #[must_use]
    pub fn smooth_grids(&self, points: usize) -> Vec<SmoothGrid> {
        self.smooths.iter().flat_map(|smooth| smooth.grids(points)).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;
    use crate::{FamilyName, Frame, Question, Table};

    #[derive(Deserialize)]
    struct References {
        cases: Cases,
    }

    /// Fitted values for each of the penalties.
    #[derive(Deserialize)]
    struct Cases {
        lambdas: Vec<f64>,
        plain: Vec<Plain>,
        by_factor: Vec<Vec<f64>>,
        by_number: Vec<Vec<f64>>,
    }

    #[derive(Deserialize)]
    struct Plain {
        k: usize,
        fitted: Vec<Vec<f64>>,
    }

    fn read(file: &str) -> Vec<u8> {
        let path = format!("{}/tests/data/groups/{file}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read(path).unwrap()
    }

    fn frame(formula: &str) -> Frame {
        let table = Table::from_bytes("data.csv", &read("data.csv")).unwrap();
        let question = Question::of_formula(formula.parse().unwrap(), FamilyName::Gaussian);
        Frame::new(&table, &question).unwrap()
    }

    /// The penalty of an effect of each part, in units of x.
    fn units(smooth: &CodedSmooth) -> Vec<f64> {
        let penalty = Splines::new(smooth.functions).penalty();
        let length = smooth.ends[1] - smooth.ends[0];
        let of = |part: &SmoothPart| {
            let wide = smooth.functions - 2;
            let first: Vec<f64> = part.transform.iter().step_by(wide).copied().collect();
            let rows = penalty.chunks(smooth.functions).zip(&first);
            let dot = |row: &[f64]| row.iter().zip(&first).map(|(a, b)| a * b).sum::<f64>();
            rows.map(|(row, own)| own * dot(row)).sum::<f64>() / length.powi(3)
        };
        smooth.parts.iter().map(of).collect()
    }

    /// The fitted values of penalised least squares with the columns of a frame.
    fn fitted(frame: &Frame, lambda: f64) -> Vec<f64> {
        let mut columns: Vec<(Vec<f64>, f64)> =
            frame.design.by_column(|_, values, _| (values.to_vec(), 0.0));
        for (group, unit) in frame.groups.iter().zip(units(&frame.coding.smooths[0])) {
            let GroupEntries::Basis(values) = &group.entries else { panic!("{}", group.name) };
            let wide = group.levels.len();
            let column = |k: usize| values.iter().skip(k).step_by(wide).copied().collect();
            columns.extend((0..wide).map(|k| (column(k), lambda * unit)));
        }
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let n = columns.len();
        let mut system: Vec<Vec<f64>> = columns
            .iter()
            .map(|(a, _)| {
                let row = columns.iter().map(|(b, _)| dot(a, b));
                row.chain([dot(a, &frame.response)]).collect()
            })
            .collect();
        (0..n).for_each(|k| system[k][k] += columns[k].1);
        // The system is positive definite, and needs no pivots.
        for k in 0..n {
            let pivot = system[k].clone();
            for (_, row) in system.iter_mut().enumerate().filter(|(other, _)| *other != k) {
                let factor = row[k] / pivot[k];
                row.iter_mut().zip(&pivot).for_each(|(a, b)| *a -= factor * b);
            }
        }
        let mut all = vec![0.0; frame.rows];
        for (k, (column, _)) in columns.iter().enumerate() {
            let effect = system[k][n] / system[k][k];
            all.iter_mut().zip(column).for_each(|(sum, value)| *sum += effect * value);
        }
        all
    }

    #[test]
    fn penalised_fits_are_those_of_mgcv() {
        let References { cases } = serde_json::from_slice(&read("smooths.json")).unwrap();
        let check = |formula: &str, needs: &[Vec<f64>]| {
            let frame = frame(formula);
            for (lambda, need) in cases.lambdas.iter().zip(needs) {
                for (found, need) in fitted(&frame, *lambda).iter().zip(need) {
                    assert!((found - need).abs() < 1e-8, "{formula}, {lambda}: {found} {need}");
                }
            }
        };
        for case in &cases.plain {
            check(&format!("y ~ s(t, k = {})", case.k), &case.fitted);
        }
        check("y ~ f + s(t, k = 8, by = f)", &cases.by_factor);
        check("y ~ z + s(t, k = 8, by = z)", &cases.by_number);
    }
}

//! From variables to columns of the design, and what is remembered so that new rows are coded like
//! the old ones.

use std::collections::HashSet;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::MAX_MAGNITUDE;
use crate::column::{Cells, Column};
use crate::error::DataError;
use crate::evaluate::{Learned, Memory, Source};
use crate::factors::{Contrast, level_of};
use crate::formula::parse;
use crate::formula::syntax::{Kind, Node};
use crate::groups::{CodedGroup, GroupNames, Grouping};
use crate::levels::Levels;
use crate::matrix::{Matrix, SparseRows};
use crate::pairs::{self, Sides};
use crate::place::number;
use crate::plan::Plan;
use crate::smooths::CodedSmooth;
use crate::table::Table;
use crate::variables::{Codes, Shape, Variable, places, variable};

/// Rows that are coded together.
const BLOCK: usize = 4096;
/// Designs of up to this many columns store every entry.
const DENSE_COLUMNS: usize = 250;
/// A design is sparse if at most one entry in this many is stored.
const SPARSE_SHARE: usize = 8;
/// The code of a value that is no level.
pub(crate) const NO_LEVEL: u32 = u32::MAX;

/// How rows become rows of a design: terms, and what functions have learned from the data. Part of
/// `config.toml`.
///
/// ```
/// use ridgewalk_frame::{Frame, Question, FamilyName, Table};
///
/// let old = Table::from_bytes("old.csv", b"y,x,city\n1,0,Oslo\n0,2,Bergen\n1,4,Oslo\n0,2,Bergen\n")?;
/// let question = Question::of_formula("y ~ scale(x) + city".parse()?, FamilyName::Logistic);
/// let frame = Frame::new(&old, &question)?;
/// let new = Table::from_bytes("new.csv", b"x,city\n2,Oslo\n")?;
/// assert_eq!(frame.coding.rows(&new)?.design.dense(), &[1.0, 0.0, 1.0][..]);
/// let unseen = Table::from_bytes("new.csv", b"x,city\n2,Paris\n")?;
/// let error = frame.coding.rows(&unseen).unwrap_err().to_string();
/// assert!(error.starts_with("new.csv, line 2, column `city`: found the level `Paris`"), "{error}");
/// # Ok::<(), ridgewalk_frame::DataError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Coding {
    /// Whether the first column is the intercept.
    pub(crate) intercept: bool,
    /// The variables, as they are written in the formula.
    pub(crate) variables: Vec<String>,
    /// The terms, in the order of their columns.
    pub(crate) terms: Vec<CodedTerm>,
    /// Expressions whose sum is the offset.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) offsets: Vec<String>,
    /// The number of trials of each row, as an expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) trials: Option<String>,
    /// Columns of numbers that are factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) factors: Vec<String>,
    /// Whether only entries of the design that are not 0 are stored.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sparse: bool,
    /// What functions have learned from the data.
    #[serde(default, skip_serializing_if = "Memory::is_empty")]
    pub(crate) learned: Memory,
    /// Group effects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<CodedGroup>,
    /// Smooth terms.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) smooths: Vec<CodedSmooth>,
}

/// A term: a product of variables.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CodedTerm {
    /// The numbers of its variables.
    pub(crate) variables: Vec<usize>,
    /// Which of them, if a factor, have a column for every level.
    pub(crate) full: Vec<bool>,
}

/// New rows, coded like those of the fit.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct NewRows {
    /// The number of rows.
    pub rows: usize,
    /// The number of coefficients.
    pub columns: usize,
    /// The design, neither centred nor standardized; sparse if that of the fit is.
    pub design: Matrix,
    /// The offset of each row, if the model has one.
    pub offset: Option<Vec<f64>>,
    /// The levels of each row in each grouping, as in [`Frame::groups`](crate::Frame::groups). A
    /// level that the fit has not seen is [`GroupEntries::NEW`](crate::GroupEntries::NEW).
    pub groups: Vec<Grouping>,
}

impl Coding {
    /// The variables, as they are written in the formula.
    #[must_use]
    pub fn variables(&self) -> &[String] {
        &self.variables
    }

    /// The expressions whose sum is the offset.
    #[must_use]
    pub fn offsets(&self) -> &[String] {
        &self.offsets
    }

    /// The columns that predictors and offsets are made of.
    ///
    /// # Errors
    /// Expressions that cannot be read.
    pub fn columns(&self) -> Result<Vec<String>, DataError> {
        let (mut all, mut seen) = (Vec::new(), HashSet::new());
        for text in self.variables.iter().chain(&self.offsets).chain(self.varying()) {
            for name in parse::expression(text)?.columns() {
                if seen.insert(name.to_owned()) {
                    all.push(name.to_owned());
                }
            }
        }
        Ok(all)
    }

    /// The expressions of group effects and smooths.
    fn varying(&self) -> impl Iterator<Item = &String> {
        let groups = self.groups.iter().flat_map(|g| g.variables.iter().chain(&g.factors));
        groups.chain(self.smooths.iter().flat_map(|s| std::iter::once(&s.x).chain(&s.by)))
    }

    /// The names of each grouping, in the order of [`Frame::groups`](crate::Frame::groups).
    pub fn groups(&self) -> impl Iterator<Item = GroupNames<'_>> {
        let smooths = self.smooths.iter().flat_map(CodedSmooth::names);
        self.groups.iter().map(CodedGroup::names).chain(smooths)
    }

    /// Whether the values of a column are levels: in `--factor`, or within `factor(...)` or `C(...)`.
    #[must_use]
    pub fn is_factor(&self, column: &str) -> bool {
        let written = crate::formula_name(column);
        let calls = ["factor", "as.factor", "C"];
        let within = |text: &String| {
            calls.iter().any(|call| {
                let rest = text.strip_prefix(call).and_then(|rest| rest.strip_prefix('('));
                let rest = rest.and_then(|rest| rest.strip_prefix(written.as_str()));
                rest.is_some_and(|rest| rest.starts_with([',', ')']))
            })
        };
        self.factors.iter().any(|name| name == column) || self.variables.iter().any(within)
    }

    /// The levels of a column, the base first.
    #[must_use]
    pub fn levels(&self, column: &str) -> Option<&[String]> {
        let written = crate::formula_name(column);
        let keys = [written.clone(), format!("factor({written})"), format!("as.factor({written})")];
        keys.iter().find_map(|key| match self.learned.get(key) {
            Some(Learned::Levels(levels)) => Some(&levels[..]),
            _ => None,
        })
    }

    /// Codes the rows of a table.
    ///
    /// # Errors
    /// Columns that are missing or of another type, missing values, and levels that the data of the
    /// fit do not have, each with its place.
    pub fn rows(&self, table: &Table) -> Result<NewRows, DataError> {
        let source = Source::new(table, &self.columns_of_levels(table)?)?;
        let rows: Vec<usize> = (0..table.rows()).collect();
        let plan = |text: &String| Plan::new(&source, text, &parse::expression(text)?);
        let plans = self.variables.iter().map(plan).collect::<Result<Vec<Plan>, DataError>>()?;
        let offsets = self.offsets.iter().map(|text| {
            let node = parse::expression(text)?;
            source.check(text, &node)?;
            Ok(node)
        });
        let offsets = offsets.collect::<Result<Vec<Node>, DataError>>()?;
        let nodes = plans.iter().map(Plan::node).chain(&offsets);
        for name in nodes.flat_map(Node::columns) {
            check_complete(&source, name)?;
        }
        for text in self.varying() {
            for name in parse::expression(text)?.columns() {
                check_complete(&source, name)?;
            }
        }
        let coder = Coder::new(&source, &plans, self)?;
        let design = coder.matrix(&rows)?;
        let offset = (!offsets.is_empty()).then(|| sum(&source, &offsets, &rows)).transpose()?;
        let groups = self.groups.iter().map(|group| group.rows(&source, &rows, self));
        let mut groups = groups.collect::<Result<Vec<Grouping>, DataError>>()?;
        let mut lines = Vec::new();
        for smooth in &self.smooths {
            let rows = smooth.rows(&source, &rows)?;
            lines.extend(rows.lines);
            groups.extend(rows.groups);
        }
        let design = design.widened(&lines);
        Ok(NewRows { rows: rows.len(), columns: design.columns(), design, offset, groups })
    }

    /// Columns of new rows whose numbers are levels: factors of numbers, and columns that had text in
    /// the data of the fit, where a file of new rows may happen to have only numbers.
    ///
    /// # Errors
    /// A column that had numbers and has text now.
    fn columns_of_levels(&self, table: &Table) -> Result<Vec<String>, DataError> {
        let mut names = self.factors.clone();
        for text in self.variables.iter().chain(self.groups.iter().flat_map(|g| &g.variables)) {
            let Kind::Name(name) = parse::expression(text)?.kind else { continue };
            let Some(column) = table.column(&name).filter(|_| !self.factors.contains(&name)) else {
                continue;
            };
            let had_text = matches!(self.learned.get(text), Some(Learned::Levels(_)));
            if had_text && column.numbers().is_some() {
                names.push(name);
            } else if !had_text && let Some(texts) = column.texts() {
                let row = texts.iter().position(Option::is_some).unwrap_or_default();
                let value = texts[row].unwrap_or_default().to_owned();
                let need = "a number, as in the data of the fit";
                return Err(DataError::Text { place: table.cell(row, &name), value, need });
            }
        }
        Ok(names)
    }

    /// The sparse matrices among the variables, as they are written, and the names of their columns.
    pub fn matrices(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.learned.iter().filter_map(|(label, learned)| match learned {
            Learned::Columns(names) => Some((label.as_str(), &names[..])),
            _ => None,
        })
    }

    /// Entries of sparse matrices in columns that the fit has not seen, and the first of these
    /// columns. Such entries count as 0.
    #[must_use]
    pub fn unknown_entries(&self, table: &Table) -> (usize, Option<String>) {
        let (mut count, mut first) = (0, None);
        for (label, known) in self.matrices() {
            let column = table.columns().iter().find(|c| crate::formula_name(c.name()) == label);
            let Some(columns) = column.and_then(Column::sparse) else { continue };
            let places = places(known, columns.names());
            let unknown: Vec<bool> = places.iter().map(|place| *place == NO_LEVEL).collect();
            let indices = columns.entries().indices.iter();
            count += indices.filter(|index| unknown[**index as usize]).count();
            let name = columns.names().iter().zip(&unknown).find(|(_, unknown)| **unknown);
            first = first.or_else(|| name.map(|(name, _)| name.clone()));
        }
        (count, first)
    }

    /// The number of trials of each row, if the model has trials.
    ///
    /// # Errors
    /// Columns that are missing or not numbers, and numbers that are no counts, with their place.
    pub fn trials(&self, table: &Table) -> Result<Option<Vec<f64>>, DataError> {
        let Some(text) = &self.trials else { return Ok(None) };
        let source = Source::new(table, &[])?;
        let node = parse::expression(text)?;
        source.check(text, &node)?;
        for name in node.columns() {
            check_complete(&source, name)?;
        }
        let rows: Vec<usize> = (0..table.rows()).collect();
        let values = source.numbers(&node, &rows, &Memory::new());
        let wrong = |value: &f64| !(*value >= 1.0 && value.fract() == 0.0);
        if let Some(row) = values.iter().position(wrong) {
            let place = table.cell(row, node.columns().first().unwrap_or(&""));
            let need = "a whole number of trials of at least 1";
            return Err(DataError::Value { place, value: values[row], need });
        }
        Ok(Some(values))
    }
}

/// Checks that a column has a number or a text in every row.
fn check_complete(source: &Source<'_>, name: &str) -> Result<(), DataError> {
    let Some(column) = source.column(name) else { return Ok(()) };
    crate::draft::usable(source.table, column, crate::Role::Predictor)?;
    match column.missing().first() {
        Some(&row) => Err(DataError::Unknown { place: source.table.cell(row, name) }),
        None => Ok(()),
    }
}

/// The sum of expressions of numbers, which must be finite.
pub(crate) fn sum(
    source: &Source<'_>, nodes: &[Node], rows: &[usize],
) -> Result<Vec<f64>, DataError> {
    let mut total = vec![0.0; rows.len()];
    for node in nodes {
        let values = source.numbers(node, rows, &Memory::new());
        check_finite(source, node, rows, &values)?;
        total.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
    }
    Ok(total)
}

/// Checks that the values of an expression are finite and can be squared.
pub(crate) fn check_finite(
    source: &Source<'_>, node: &Node, rows: &[usize], values: &[f64],
) -> Result<(), DataError> {
    let wrong = |value: &f64| !(value.abs() <= MAX_MAGNITUDE);
    let Some(at) = values.iter().position(wrong) else { return Ok(()) };
    let columns = node.columns();
    let place = source.table.cell(rows[at], columns.first().unwrap_or(&""));
    let of = |name: &&str| {
        let value = source.column(name)?.numbers()?.get(rows[at]).copied()?;
        Some(format!("{name} = {}", number(value)))
    };
    let inputs: Vec<String> = columns.iter().filter_map(of).collect();
    Err(DataError::NotFinite { place, expression: node.to_string(), value: values[at], inputs })
}

/// The values of a variable in some rows.
enum Values {
    Numbers(Vec<f64>),
    /// Rows after one another.
    Rows(Vec<f64>, usize),
    Levels(Vec<u32>),
    Sparse(SparseRows),
    Pairs(Vec<[u32; 2]>),
}

/// Codes rows.
#[derive(Debug)]
pub(crate) struct Coder<'s, 't> {
    source: &'s Source<'t>,
    coding: &'s Coding,
    variables: Vec<Variable<'s>>,
}

impl<'s, 't> Coder<'s, 't> {
    /// The coder of these variables, whose plans were learned.
    pub(crate) fn new(
        source: &'s Source<'t>, plans: &'s [Plan], coding: &'s Coding,
    ) -> Result<Self, DataError> {
        let variable =
            |(plan, label): (&'s Plan, &String)| variable(source, plan, label, &coding.learned);
        let variables = plans.iter().zip(&coding.variables).map(variable);
        Ok(Self { source, coding, variables: variables.collect::<Result<Vec<_>, DataError>>()? })
    }

    /// The number of columns.
    pub(crate) fn width(&self) -> usize {
        let terms = self.coding.terms.iter().map(|term| self.term_width(term));
        usize::from(self.coding.intercept) + terms.fold(0, usize::saturating_add)
    }

    fn term_width(&self, term: &CodedTerm) -> usize {
        let parts = term.variables.iter().zip(&term.full);
        parts.map(|(v, full)| self.variables[*v].width(*full)).fold(1, usize::saturating_mul)
    }

    /// The name of a variable in coefficients.
    pub(crate) fn title(&self, variable: usize) -> &str {
        self.variables[variable].title()
    }

    /// The label of a term: its variables as written.
    pub(crate) fn term_label(&self, term: &CodedTerm) -> String {
        let labels: Vec<&str> = term.variables.iter().map(|v| self.variables[*v].title()).collect();
        labels.join(":")
    }

    /// The names of the columns of a term. The first variable changes fastest.
    pub(crate) fn term_names(&self, term: &CodedTerm) -> Vec<String> {
        let mut names = vec![String::new()];
        for (v, full) in term.variables.iter().zip(&term.full) {
            let own = self.variables[*v].names(*full);
            let join = |left: &String, right: &String| match left.is_empty() {
                true => right.clone(),
                false => format!("{left}:{right}"),
            };
            let each = own.iter().flat_map(|right| names.iter().map(move |left| join(left, right)));
            names = each.collect();
        }
        names
    }

    /// The levels of a variable and the number of its base, if it is a factor with treatment
    /// contrasts.
    pub(crate) fn treatment(&self, variable: usize) -> Option<(&[String], usize)> {
        match &self.variables[variable].shape {
            Shape::Factor { levels, contrast: Contrast::Treatment { base }, .. } => {
                Some((levels, *base))
            }
            Shape::Pair { levels, base, .. } => Some((levels, *base)),
            _ => None,
        }
    }

    /// Whether a design pays that stores only entries that are not 0: it is wide, and they are few.
    pub(crate) fn sparse_pays(&self) -> bool {
        let width = self.width();
        let stored = self.coding.terms.iter().map(|term| {
            let parts = term.variables.iter().zip(&term.full);
            parts.map(|(v, full)| self.variables[*v].stored(*full)).product::<usize>()
        });
        let stored = usize::from(self.coding.intercept) + stored.sum::<usize>();
        width > DENSE_COLUMNS && SPARSE_SHARE * stored <= width
    }

    /// The design of these rows, as the coding says.
    pub(crate) fn matrix(&self, rows: &[usize]) -> Result<Matrix, DataError> {
        if self.coding.sparse {
            return self.sparse_rows(rows).map(Matrix::Sparse);
        }
        Ok(Matrix::Dense { columns: self.width(), values: self.design(rows)? })
    }

    fn sparse_rows(&self, rows: &[usize]) -> Result<SparseRows, DataError> {
        let blocks = rows.par_chunks(BLOCK).map(|rows| self.sparse_block(rows));
        // The first error is that of the first row.
        let blocks: Vec<Result<SparseRows, DataError>> = blocks.collect();
        let mut all = SparseRows::new(self.width());
        blocks.into_iter().try_for_each(|block| block.map(|block| all.append(block)))?;
        Ok(all)
    }

    fn sparse_block(&self, rows: &[usize]) -> Result<SparseRows, DataError> {
        let values = self.values_of_all(rows)?;
        let terms: Vec<Vec<Part<'_>>> =
            self.coding.terms.iter().map(|term| self.parts(term, &values)).collect();
        let mut block = SparseRows::new(self.width());
        for k in 0..rows.len() {
            let mut first = 0;
            if self.coding.intercept {
                block.push(0, 1.0);
                first = 1;
            }
            for parts in &terms {
                let wide: usize = parts.iter().map(Part::width).product();
                entries(parts, k, &mut |column, value| block.push(first + column, value));
                first += wide;
            }
            block.end_row();
        }
        Ok(block)
    }

    /// Every entry of the design of these rows, one after another.
    pub(crate) fn design(&self, rows: &[usize]) -> Result<Vec<f64>, DataError> {
        let width = self.width();
        // The entries of the intercept stay 1; all others are written below.
        let mut design = vec![1.0; rows.len() * width];
        if width == 0 {
            return Ok(design);
        }
        let blocks = design.par_chunks_mut(BLOCK * width).zip(rows.par_chunks(BLOCK));
        let done: Vec<Result<(), DataError>> =
            blocks.map(|(block, rows)| self.fill(block, width, rows)).collect();
        // The first error is that of the first row.
        done.into_iter().collect::<Result<(), DataError>>()?;
        Ok(design)
    }

    fn fill(&self, block: &mut [f64], width: usize, rows: &[usize]) -> Result<(), DataError> {
        let values = self.values_of_all(rows)?;
        let mut first = usize::from(self.coding.intercept);
        for term in &self.coding.terms {
            let wide = self.term_width(term);
            let parts = self.parts(term, &values);
            for (k, row) in block.chunks_exact_mut(width).enumerate() {
                let out = &mut row[first..first + wide];
                parts[0].write(k, &mut out[..parts[0].width()]);
                let mut done = parts[0].width();
                for part in &parts[1..] {
                    // From the last column back, because the first block of them is read by all.
                    for column in (0..part.width()).rev() {
                        let factor = part.entry(k, column);
                        for at in 0..done {
                            out[column * done + at] = out[at] * factor;
                        }
                    }
                    done *= part.width();
                }
            }
            first += wide;
        }
        Ok(())
    }

    /// The variables of a term, with their values.
    fn parts<'v>(&'v self, term: &CodedTerm, values: &'v [Values]) -> Vec<Part<'v>> {
        let part = |(v, full): (&usize, &bool)| Part {
            variable: &self.variables[*v],
            values: &values[*v],
            full: *full,
        };
        term.variables.iter().zip(&term.full).map(part).collect()
    }

    fn values_of_all(&self, rows: &[usize]) -> Result<Vec<Values>, DataError> {
        self.variables.iter().map(|variable| self.values(variable, rows)).collect()
    }

    fn values(&self, variable: &Variable<'_>, rows: &[usize]) -> Result<Values, DataError> {
        let memory = &self.coding.learned;
        if let Shape::Factor { codes: Codes::Text(map), .. } = &variable.shape {
            return self.text_levels(variable, map, rows);
        }
        if let Shape::Columns { names, columns, numbers } = &variable.shape {
            return Ok(Values::Sparse(placed(columns.entries(), numbers, names.len(), rows)));
        }
        if let Shape::Pair { levels, sides, .. } = &variable.shape {
            return self.pairs(variable, levels, sides, rows);
        }
        let numbers = self.source.numbers(variable.node, rows, memory);
        check_finite(self.source, variable.node, rows, &numbers)?;
        match &variable.shape {
            Shape::Number => Ok(Values::Numbers(numbers)),
            Shape::Basis(basis) => {
                let width = basis.width();
                let mut all = vec![0.0; rows.len() * width];
                let basis = basis.prepared();
                let each = all.chunks_exact_mut(width).zip(&numbers);
                each.for_each(|(out, x)| basis.row(*x, out));
                check_finite_rows(self.source, variable, rows, &all, width)?;
                Ok(Values::Rows(all, width))
            }
            Shape::Factor { codes, .. } => {
                let code = |(value, row): (&f64, &usize)| match codes.of(*value) {
                    Some(code) => Ok(code),
                    None => Err(self.unseen(variable, *row, level_of(*value))),
                };
                let codes = numbers.iter().zip(rows).map(code).collect::<Result<Vec<u32>, _>>()?;
                Ok(Values::Levels(codes))
            }
            Shape::Columns { .. } | Shape::Pair { .. } => Ok(Values::Levels(Vec::new())),
        }
    }

    fn pairs(
        &self, variable: &Variable<'_>, levels: &[String], sides: &Sides, rows: &[usize],
    ) -> Result<Values, DataError> {
        let found = pairs::within(self.source, sides, rows, levels)?;
        let unseen = found.iter().position(|pair| pair.contains(&NO_LEVEL));
        let Some(at) = unseen else { return Ok(Values::Pairs(found)) };
        let side = &sides[usize::from(found[at][0] != NO_LEVEL)];
        let place = self.source.table.cell(rows[at], side.column());
        let level = Levels::of_key(self.source, side, &rows[at..=at])?.names.concat();
        let (factor, known) = (variable.label.clone(), levels.to_vec());
        Err(DataError::UnseenLevel { place, level, factor, known })
    }

    fn text_levels(
        &self, variable: &Variable<'_>, map: &[u32], rows: &[usize],
    ) -> Result<Values, DataError> {
        let column = variable.node.columns().first().and_then(|name| self.source.column(name));
        let Some(Cells::Text { levels, codes }) = column.map(Column::cells) else {
            return Ok(Values::Levels(vec![0; rows.len()]));
        };
        let code = |row: &usize| {
            let code = usize::try_from(codes[*row]).unwrap_or(usize::MAX);
            match map.get(code).copied().filter(|level| *level != NO_LEVEL) {
                Some(level) => Ok(level),
                None => {
                    let text = levels.get(code).cloned().unwrap_or_default();
                    Err(self.unseen(variable, *row, text))
                }
            }
        };
        Ok(Values::Levels(rows.iter().map(code).collect::<Result<Vec<u32>, _>>()?))
    }

    fn unseen(&self, variable: &Variable<'_>, row: usize, level: String) -> DataError {
        let columns = variable.node.columns();
        let place = self.source.table.cell(row, columns.first().unwrap_or(&""));
        let known = match &variable.shape {
            Shape::Factor { levels, .. } => levels.clone(),
            _ => Vec::new(),
        };
        DataError::UnseenLevel { place, level, factor: variable.label.clone(), known }
    }
}

/// A variable of a term, with its values.
struct Part<'a> {
    variable: &'a Variable<'a>,
    values: &'a Values,
    full: bool,
}

impl Part<'_> {
    fn width(&self) -> usize {
        self.variable.width(self.full)
    }

    /// Its columns in row `k` of the block.
    fn write(&self, k: usize, out: &mut [f64]) {
        if let Values::Sparse(rows) = self.values {
            out.fill(0.0);
            return rows.entries(k).for_each(|(column, value)| out[column] = value);
        }
        for (column, value) in out.iter_mut().enumerate() {
            *value = self.entry(k, column);
        }
    }

    /// Calls `visit` with its columns in row `k` whose entries may differ from 0.
    fn visit(&self, k: usize, visit: &mut dyn FnMut(usize, f64)) {
        if let (Values::Levels(codes), Shape::Factor { contrast, .. }) =
            (self.values, &self.variable.shape)
            && let Some(column) = contrast.column_of(codes[k] as usize, self.full)
        {
            if let Some(column) = column {
                visit(column, 1.0);
            }
            return;
        }
        if let Values::Sparse(rows) = self.values {
            return rows.entries(k).for_each(|(column, value)| visit(column, value));
        }
        if let (Values::Pairs(pairs), Shape::Pair { base, .. }) =
            (self.values, &self.variable.shape)
        {
            let place = |level: u32| level as usize - usize::from(level as usize > *base);
            let [a, b] = pairs[k];
            let mut both = [(a, 1.0), (b, -1.0)];
            both.sort_unstable_by_key(|(level, _)| *level);
            let entries = both.into_iter().filter(|(level, _)| *level as usize != *base);
            return entries.for_each(|(level, sign)| visit(place(level), sign));
        }
        (0..self.width()).for_each(|column| visit(column, self.entry(k, column)));
    }

    fn entry(&self, k: usize, column: usize) -> f64 {
        match (self.values, &self.variable.shape) {
            (Values::Numbers(values), _) => values[k],
            (Values::Rows(values, width), _) => values[k * width + column],
            (Values::Levels(codes), Shape::Factor { levels, contrast, .. }) => {
                let level = codes[k] as usize;
                if self.full {
                    f64::from(u8::from(level == column))
                } else {
                    contrast.entry(level, column, levels.len())
                }
            }
            (Values::Sparse(rows), _) => rows.entry(k, column),
            (Values::Pairs(pairs), Shape::Pair { base, .. }) => {
                let level = column + usize::from(column >= *base);
                let [a, b] = pairs[k].map(|own| f64::from(u8::from(own as usize == level)));
                a - b
            }
            (Values::Pairs(_), _) => f64::NAN,
            (Values::Levels(_), _) => f64::NAN,
        }
    }
}

/// The columns of a product of variables in row `k` whose entries may differ from 0, rising: the
/// first variable changes fastest.
fn entries(parts: &[Part<'_>], k: usize, visit: &mut dyn FnMut(usize, f64)) {
    let Some((last, before)) = parts.split_last() else { return visit(0, 1.0) };
    let wide: usize = before.iter().map(Part::width).product();
    last.visit(k, &mut |column, value| {
        if value != 0.0 {
            entries(before, k, &mut |inner, other| visit(column * wide + inner, other * value));
        }
    });
}

/// Some rows with other numbers for their columns. Columns without a number are left out.
fn placed(all: &SparseRows, numbers: &[u32], width: usize, rows: &[usize]) -> SparseRows {
    let mut found = SparseRows::new(width);
    let mut entries: Vec<(u32, f64)> = Vec::new();
    for &row in rows {
        entries.clear();
        let placed = all.entries(row).map(|(column, value)| (numbers[column], value));
        entries.extend(placed.filter(|(column, _)| *column != NO_LEVEL));
        entries.sort_unstable_by_key(|(column, _)| *column);
        entries.iter().for_each(|(column, value)| found.push(*column as usize, *value));
        found.end_row();
    }
    found
}

fn check_finite_rows(
    source: &Source<'_>, variable: &Variable<'_>, rows: &[usize], all: &[f64], width: usize,
) -> Result<(), DataError> {
    let wrong = |row: &[f64]| row.iter().any(|value| !(value.abs() <= MAX_MAGNITUDE));
    let Some(at) = all.chunks_exact(width).position(wrong) else { return Ok(()) };
    let place = source.table.cell(rows[at], variable.node.columns().first().unwrap_or(&""));
    let expression = variable.label.clone();
    Err(DataError::NotFinite { place, expression, value: f64::INFINITY, inputs: Vec::new() })
}

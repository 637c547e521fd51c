//! The variables of a formula, ready to code rows: what columns each has, and how values become levels.

use std::collections::HashMap;

use crate::basis::Basis;
use crate::coding::NO_LEVEL;
use crate::column::{Cells, Column};
use crate::error::DataError;
use crate::evaluate::{Learned, Memory, Source};
use crate::factors::{Contrast, interval_of};
use crate::formula::syntax::{Kind, Node};
use crate::pairs::Sides;
use crate::place::Place;
use crate::plan::{Asked, FactorPlan, PairPlan, Plan};
use crate::sparse::SparseColumns;

/// A variable whose columns are known.
#[derive(Debug)]
pub(crate) struct Variable<'p> {
    pub(crate) label: String,
    pub(crate) node: &'p Node,
    pub(crate) shape: Shape<'p>,
}

#[derive(Debug)]
pub(crate) enum Shape<'p> {
    Number,
    Basis(&'p Basis),
    Pair {
        levels: &'p [String],
        base: usize,
        sides: &'p Sides,
    },
    /// The columns of a sparse matrix; `numbers` has the place of each in the model, if it has one.
    Columns {
        names: &'p [String],
        columns: &'p SparseColumns,
        numbers: Vec<u32>,
    },
    Factor {
        levels: Vec<String>,
        contrast: Contrast,
        codes: Codes<'p>,
    },
}

/// How values become levels.
#[derive(Debug)]
pub(crate) enum Codes<'p> {
    /// The level of each code of a text column.
    Text(Vec<u32>),
    /// The levels of numbers, by their bits.
    Numbers(HashMap<u64, u32>),
    Intervals {
        breaks: &'p [f64],
        right: bool,
        lowest: bool,
    },
    Logical,
}

impl Codes<'_> {
    /// The level of a number.
    pub(crate) fn of(&self, value: f64) -> Option<u32> {
        let found = match self {
            Self::Text(_) => None,
            // Adding 0 makes one of both zeros.
            Self::Numbers(levels) => return levels.get(&(value + 0.0).to_bits()).copied(),
            Self::Intervals { breaks, right, lowest } => {
                interval_of(value, breaks, *right, *lowest)
            }
            Self::Logical => Some(usize::from(value != 0.0)),
        };
        found.and_then(|level| u32::try_from(level).ok())
    }
}

impl Variable<'_> {
    pub(crate) fn width(&self, full: bool) -> usize {
        match &self.shape {
            Shape::Number => 1,
            Shape::Basis(basis) => basis.width(),
            Shape::Columns { names, .. } => names.len(),
            Shape::Pair { levels, .. } => levels.len() - 1,
            Shape::Factor { levels, .. } => levels.len() - usize::from(!full),
        }
    }

    /// The entries of a row that may differ from 0.
    pub(crate) fn stored(&self, full: bool) -> usize {
        match &self.shape {
            Shape::Factor { contrast, .. } if contrast.column_of(0, full).is_some() => 1,
            Shape::Pair { .. } => 2,
            Shape::Columns { columns, .. } => {
                columns.entries().values.len().div_ceil(columns.rows().max(1))
            }
            _ => self.width(full),
        }
    }

    pub(crate) fn title(&self) -> &str {
        &self.label
    }

    pub(crate) fn names(&self, full: bool) -> Vec<String> {
        let bracket = |name: &dyn std::fmt::Display| format!("{}[{name}]", self.label);
        match &self.shape {
            Shape::Number => vec![self.label.clone()],
            Shape::Columns { names, .. } => names.to_vec(),
            Shape::Pair { levels, base, .. } => {
                let others = levels.iter().enumerate().filter(|(k, _)| k != base);
                others.map(|(_, level)| bracket(level)).collect()
            }
            Shape::Basis(basis) if basis.width() == 1 => vec![self.label.clone()],
            Shape::Basis(basis) => (1..=basis.width()).map(|k| bracket(&k)).collect(),
            Shape::Factor { levels, .. } if full => {
                levels.iter().map(|level| bracket(level)).collect()
            }
            Shape::Factor { levels, contrast, .. } => {
                contrast.names(levels).iter().map(|name| bracket(name)).collect()
            }
        }
    }
}

/// A column's own name, or an expression as written.
fn title(node: &Node, label: &str) -> String {
    match &node.kind {
        Kind::Name(name) => name.clone(),
        _ => label.to_owned(),
    }
}

pub(crate) fn variable<'s>(
    source: &'s Source<'_>, plan: &'s Plan, label: &str, memory: &'s Memory,
) -> Result<Variable<'s>, DataError> {
    let node = plan.node();
    let refuse = |need: &str| {
        let (file, call) = (source.table.name().to_owned(), label.to_owned());
        Err(DataError::Function { file, call, need: need.to_owned() })
    };
    let (label, shape) = match (plan, memory.get(label)) {
        (Plan::Number(node), memory) if !matches!(memory, Some(Learned::Columns(_))) => {
            (title(node, label), Shape::Number)
        }
        (Plan::Columns(node), Some(Learned::Columns(names))) => {
            let column = node.columns().first().and_then(|name| source.column(name));
            let Some(columns) = column.and_then(Column::sparse) else {
                return refuse("a sparse matrix, as in the data of the fit");
            };
            let numbers = places(names, columns.names());
            (title(node, label), Shape::Columns { names, columns, numbers })
        }
        (Plan::Pair(pair), Some(Learned::Levels(levels))) => {
            (label.to_owned(), of_pair(source, pair, levels)?)
        }
        (Plan::Number(_) | Plan::Columns(_), _) => {
            return refuse("numbers or a sparse matrix, as in the data of the fit");
        }
        (Plan::Logical(_), _) => {
            let levels = ["FALSE", "TRUE"].map(str::to_owned).to_vec();
            let contrast = Contrast::Treatment { base: 0 };
            (label.to_owned(), Shape::Factor { levels, contrast, codes: Codes::Logical })
        }
        (Plan::Factor(factor), _) => (factor.title.clone(), of_factor(source, factor, memory)?),
        (Plan::Cut(cut), Some(Learned::Cut { breaks, levels })) => {
            let codes = Codes::Intervals { breaks, right: cut.right, lowest: cut.lowest };
            let contrast = Contrast::Treatment { base: 0 };
            (label.to_owned(), Shape::Factor { levels: levels.clone(), contrast, codes })
        }
        (Plan::Basis { .. }, Some(Learned::Basis(basis))) => {
            (label.to_owned(), Shape::Basis(basis))
        }
        (Plan::Cut(_) | Plan::Basis { .. } | Plan::Pair(_), _) => {
            return refuse("what it learned from the data, which is not in this run");
        }
    };
    Ok(Variable { label, node, shape })
}

fn of_pair<'s>(
    source: &Source<'_>, pair: &'s PairPlan, levels: &'s [String],
) -> Result<Shape<'s>, DataError> {
    let base = match &pair.base {
        None => Some(0),
        Some(base) => levels.iter().position(|level| level == base),
    };
    let Some(base) = base else {
        let level = pair.base.as_deref().unwrap_or_default();
        return Err(no_level(source, pair.sides[0].column(), level, levels));
    };
    Ok(Shape::Pair { levels, base, sides: &pair.sides })
}

fn of_factor<'s>(
    source: &Source<'_>, factor: &FactorPlan, memory: &Memory,
) -> Result<Shape<'s>, DataError> {
    let levels = match memory.get(&factor.key) {
        Some(Learned::Levels(levels)) => &levels[..],
        _ => &[],
    };
    let columns = factor.of.columns();
    let column = columns.first().copied().unwrap_or("");
    if levels.len() < 2 {
        let place = Place::column(source.table.name(), column);
        let value = levels.first().cloned().unwrap_or_default();
        return Err(DataError::Constant { place, value, reason: "" });
    }
    let contrast = match &factor.contrast {
        Asked::Treatment { base: None } => Contrast::Treatment { base: 0 },
        Asked::Treatment { base: Some(level) } => {
            let base = levels.iter().position(|other| other == level);
            let Some(base) = base else {
                return Err(no_level(source, &factor.title, level, levels));
            };
            Contrast::Treatment { base }
        }
        Asked::Sum => Contrast::Sum,
        Asked::Helmert => Contrast::Helmert,
    };
    let codes = match source.column(column).map(Column::cells) {
        Some(Cells::Text { levels: texts, .. }) if factor.text => {
            Codes::Text(places(levels, texts))
        }
        _ => {
            let number = |level: &String| level.parse().unwrap_or(f64::NAN);
            let mut known = HashMap::with_capacity(levels.len());
            for (x, k) in levels.iter().map(number).zip(0_u32..) {
                // Of equal numbers the first is the level.
                known.entry((x + 0.0_f64).to_bits()).or_insert(k);
            }
            Codes::Numbers(known)
        }
    };
    Ok(Shape::Factor { levels: levels.to_vec(), contrast, codes })
}

/// The place of each of some names in a list; [`NO_LEVEL`] for one that is not there.
pub(crate) fn places(known: &[String], names: &[String]) -> Vec<u32> {
    let places: HashMap<&String, u32> = known.iter().zip(0_u32..).collect();
    names.iter().map(|name| places.get(name).copied().unwrap_or(NO_LEVEL)).collect()
}

/// The error for a base level that does not exist.
pub(crate) fn no_level(
    source: &Source<'_>, column: &str, level: &str, levels: &[String],
) -> DataError {
    let near = crate::place::nearest(level, levels.iter().map(String::as_str));
    DataError::NoLevel {
        place: Place::column(source.table.name(), column),
        level: level.to_owned(),
        nearest: near,
        levels: levels.to_vec(),
    }
}

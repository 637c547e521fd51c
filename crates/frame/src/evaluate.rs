//! Values of expressions, row by row: arithmetic, comparisons and functions of the columns of a
//! table. Missing values are NaN and spread as in R.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use crate::basis::Basis;
use crate::coding::check_finite;
use crate::column::{Cells, Column, NO_TEXT};
use crate::dates;
use crate::error::DataError;
use crate::formula::FormulaError;
use crate::formula::syntax::{Argument, Binary, Kind, Node, Unary};
use crate::pairs::PAIR;
use crate::place::{listed, nearest, suggestion};
use crate::question::Role;
use crate::table::Table;

/// What functions such as `scale` have learned from all rows, by their spelling.
pub type Memory = BTreeMap<String, Learned>;

/// What one function has learned from all rows.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Learned {
    /// The levels of a factor, in order.
    Levels(Vec<String>),
    /// `scale(x)` and `center(x)`.
    Scale {
        /// What is subtracted.
        centre: f64,
        /// What the rest is divided by.
        divisor: f64,
    },
    /// `poly(x, k)`, `bs(x, ...)` and `ns(x, ...)`.
    Basis(Basis),
    /// The names of the columns of a sparse matrix.
    Columns(Vec<String>),
    /// `cut(x, ...)`: the ends of the intervals and their names.
    Cut {
        /// Ends, in order.
        breaks: Vec<f64>,
        /// The name of each interval.
        levels: Vec<String>,
    },
}

/// The columns that expressions refer to: those of a table, some of them turned into text.
#[derive(Debug)]
pub(crate) struct Source<'t> {
    pub(crate) table: &'t Table,
    index: HashMap<&'t str, &'t Column>,
    factors: Vec<Column>,
}

/// The type of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Type {
    Numbers,
    /// True or false, as 1 and 0.
    Logical,
    Text,
}

/// A function of numbers, applied to each row.
type Function = fn(f64) -> f64;

/// Functions of one number.
const FUNCTIONS: [(&str, Function); 16] = [
    ("log", f64::ln),
    ("log1p", f64::ln_1p),
    ("log2", f64::log2),
    ("log10", f64::log10),
    ("exp", f64::exp),
    ("expm1", f64::exp_m1),
    ("sqrt", f64::sqrt),
    ("abs", f64::abs),
    ("sin", f64::sin),
    ("cos", f64::cos),
    ("tan", f64::tan),
    ("floor", f64::floor),
    ("ceiling", f64::ceil),
    ("round", f64::round_ties_even),
    ("sign", sign),
    ("I", |value| value),
];

fn sign(value: f64) -> f64 {
    if value == 0.0 { 0.0 } else { value.signum() }
}

/// Functions of dates.
const OF_DATES: [&str; 4] = ["days", "year", "month", "weekday"];
/// Functions of two numbers.
const OF_TWO: [&str; 2] = ["pmin", "pmax"];
/// Functions that learn from all rows and give one number for each.
pub(crate) const SCALES: [&str; 2] = ["scale", "center"];
/// Functions that make several columns.
pub(crate) const BASES: [&str; 3] = ["poly", "bs", "ns"];
/// Functions that make a factor.
pub(crate) const FACTORS: [&str; 4] = ["factor", "as.factor", "C", "cut"];

/// Every function of the language of formulas.
pub fn functions() -> impl Iterator<Item = &'static str> {
    let rest = OF_DATES.into_iter().chain(OF_TWO).chain(SCALES).chain(BASES).chain(FACTORS);
    FUNCTIONS
        .into_iter()
        .map(|(name, _)| name)
        .chain(rest)
        .chain(["is.na", "offset", "c", "s", PAIR])
}

impl<'t> Source<'t> {
    pub(crate) fn new(table: &'t Table, factors: &[String]) -> Result<Self, DataError> {
        let index: HashMap<&str, &Column> =
            table.columns().iter().map(|column| (column.name(), column)).collect();
        let mut source = Self { table, index, factors: Vec::new() };
        for name in factors {
            let column = source.find(name, Role::Factor)?.as_factor();
            source.factors.push(column);
        }
        Ok(source)
    }

    pub(crate) fn column(&self, name: &str) -> Option<&Column> {
        let turned = self.factors.iter().find(|column| column.name() == name);
        turned.or_else(|| self.index.get(name).copied())
    }

    /// The column that an option names.
    pub(crate) fn find(&self, name: &str, role: Role) -> Result<&Column, DataError> {
        self.column(name).ok_or_else(|| self.no_column(name, role))
    }

    /// A column as it is, or the values of an expression in these rows as a column. They must be
    /// finite, or may be missing where the expression is `open`.
    pub(crate) fn part(
        &self, node: &Node, rows: &[usize], open: bool,
    ) -> Result<Cow<'t, Column>, DataError> {
        if let Kind::Name(name) = &node.kind {
            if let Some(column) = self.factors.iter().find(|column| column.name() == name) {
                return Ok(Cow::Owned(column.clone()));
            }
            if let Some(&column) = self.index.get(name.as_str()) {
                return Ok(Cow::Borrowed(column));
            }
        }
        let values = self.numbers(node, rows, &Memory::new());
        if open {
            let known: Vec<(usize, f64)> = rows
                .iter()
                .copied()
                .zip(values.iter().copied())
                .filter(|(_, v)| !v.is_nan())
                .collect();
            let (rows, values): (Vec<usize>, Vec<f64>) = known.into_iter().unzip();
            check_finite(self, node, &rows, &values)?;
        } else {
            check_finite(self, node, rows, &values)?;
        }
        let mut all = vec![f64::NAN; self.table.rows()];
        rows.iter().zip(values).for_each(|(&row, value)| all[row] = value);
        Ok(Cow::Owned(Column::from_numbers(&node.to_string(), &all)))
    }

    /// The error for a column that is not there, asked for by an option.
    fn no_column(&self, name: &str, role: Role) -> DataError {
        let columns = self.names();
        DataError::UnknownColumn {
            file: self.table.name().to_owned(),
            role,
            name: name.to_owned(),
            nearest: nearest(name, columns.iter().map(String::as_str)),
            columns,
        }
    }

    fn names(&self) -> Vec<String> {
        self.table.columns().iter().map(|column| column.name().to_owned()).collect()
    }

    /// The type of an expression in the text `of`, every part of it checked.
    pub(crate) fn check(&self, of: &str, node: &Node) -> Result<Type, DataError> {
        let error = |message: String| Err(FormulaError::new(of, &node.span, message).into());
        match &node.kind {
            Kind::Number(_) => Ok(Type::Numbers),
            Kind::Logical(_) => Ok(Type::Logical),
            Kind::Text(_) => Ok(Type::Text),
            Kind::Name(name) => match self.column(name) {
                Some(column) if column.is_text() => Ok(Type::Text),
                Some(column) if column.sparse().is_some() => error(format!(
                    "column `{name}` is a sparse matrix: it can be added or crossed, but not be part \
                     of an expression, a response or a group"
                )),
                Some(_) => Ok(Type::Numbers),
                // Names of options and lists have no place in a text.
                None if of.is_empty() => Err(self.no_column(name, Role::Predictor)),
                None => {
                    let columns = self.names();
                    let near = nearest(name, columns.iter().map(String::as_str));
                    let hint = suggestion(near.as_deref(), &columns);
                    error(format!("{} has no column `{name}`{hint}", self.table.name()))
                }
            },
            Kind::Dot => error("`.` stands for all columns and can only be added".to_owned()),
            Kind::List(_) => error("a list can only be an argument".to_owned()),
            Kind::Group(inner) => self.check(of, inner),
            Kind::Unary(Unary::Not, inner) => {
                self.need(of, inner, &[Type::Logical, Type::Numbers])?;
                Ok(Type::Logical)
            }
            Kind::Unary(_, inner) => {
                self.need(of, inner, &[Type::Numbers, Type::Logical])?;
                Ok(Type::Numbers)
            }
            Kind::Sum(terms) => {
                for (_, term) in terms {
                    self.need(of, term, &[Type::Numbers, Type::Logical])?;
                }
                Ok(Type::Numbers)
            }
            Kind::Binary(operator, left, right) => {
                self.check_pair(of, node, *operator, [left, right])
            }
            Kind::Call(function, arguments) => self.check_call(of, node, function, arguments),
        }
    }

    /// Checks that an expression has one of these types.
    fn need(&self, of: &str, node: &Node, types: &[Type]) -> Result<Type, DataError> {
        let found = self.check(of, node)?;
        if types.contains(&found) {
            return Ok(found);
        }
        let message = match node.columns().first() {
            Some(name) if found == Type::Text => {
                format!("column `{name}` is text, need numbers here")
            }
            _ => format!("found `{node}`, need numbers here"),
        };
        Err(FormulaError::new(of, &node.span, message).into())
    }

    fn check_pair(
        &self, of: &str, node: &Node, operator: Binary, [left, right]: [&Node; 2],
    ) -> Result<Type, DataError> {
        let numbers = [Type::Numbers, Type::Logical];
        let error =
            |node: &Node, message: String| Err(FormulaError::new(of, &node.span, message).into());
        match operator {
            Binary::In => {
                let kind = self.check(of, left)?;
                let Kind::List(items) = &right.kind else {
                    return error(
                        right,
                        format!("found `{right}`, need a list such as c(\"a\", \"b\")"),
                    );
                };
                let fits = |item: &Node| match kind {
                    Type::Text => matches!(item.kind, Kind::Text(_)),
                    _ => constant(item).is_some(),
                };
                if let Some(item) = items.iter().find(|item| !fits(item)) {
                    return error(
                        item,
                        format!("found `{item}`, need values like those of `{left}`"),
                    );
                }
                Ok(Type::Logical)
            }
            Binary::Or | Binary::And => {
                self.need(of, left, &numbers)?;
                self.need(of, right, &numbers)?;
                Ok(Type::Logical)
            }
            Binary::Bars | Binary::Colon => error(
                node,
                format!(
                    "found `{node}`, which is no arithmetic; need an operator such as `+` or `*`"
                ),
            ),
            operator if operator.is_logical() => {
                let pair = [self.check(of, left)?, self.check(of, right)?];
                match pair {
                    [Type::Text, Type::Text]
                        if matches!(operator, Binary::Equal | Binary::Unequal) =>
                    {
                        self.check_level(of, left, right)?;
                        self.check_level(of, right, left)?;
                    }
                    [Type::Text, Type::Text] => {
                        return error(
                            node,
                            format!("found an order of texts, need `==` or `!=` in `{node}`"),
                        );
                    }
                    [Type::Text, _] | [_, Type::Text] => {
                        return error(
                            node,
                            format!(
                                "found text and numbers in `{node}`, need two texts or two numbers"
                            ),
                        );
                    }
                    _ => {}
                }
                Ok(Type::Logical)
            }
            _ => {
                self.need(of, left, &numbers)?;
                self.need(of, right, &numbers)?;
                Ok(Type::Numbers)
            }
        }
    }

    /// Checks that a text compared with a column occurs in it.
    fn check_level(&self, of: &str, node: &Node, value: &Node) -> Result<(), DataError> {
        let (Kind::Name(name), Kind::Text(text)) = (&node.bare().kind, &value.kind) else {
            return Ok(());
        };
        let Some(Cells::Text { levels, .. }) = self.column(name).map(Column::cells) else {
            return Ok(());
        };
        if levels.contains(text) {
            return Ok(());
        }
        let near = nearest(text, levels.iter().map(String::as_str));
        let hint = suggestion(near.as_deref(), levels);
        let message = format!("column `{name}` has no value `{text}`{hint}");
        Err(FormulaError::new(of, &value.span, message).into())
    }

    fn check_call(
        &self, of: &str, node: &Node, function: &str, arguments: &[Argument],
    ) -> Result<Type, DataError> {
        let error = |message: String| Err(FormulaError::new(of, &node.span, message).into());
        if BASES.contains(&function) || FACTORS.contains(&function) || function == PAIR {
            return error(format!(
                "{function}(...) makes columns of its own: it can be added or crossed, but not be part of an expression"
            ));
        }
        let most = match function {
            "log" => 2,
            _ if OF_TWO.contains(&function) => 2,
            _ => 1,
        };
        if arguments.is_empty()
            || arguments.len() > most
            || (OF_TWO.contains(&function) && arguments.len() < 2)
        {
            if !functions().any(|known| known == function) {
                return self.no_function(of, node, function);
            }
            return error(format!(
                "{function}() needs {most} argument{}",
                if most > 1 { "s" } else { "" }
            ));
        }
        if function == "is.na" {
            self.check(of, &arguments[0].value)?;
            return Ok(Type::Logical);
        }
        if OF_DATES.contains(&function) {
            return self.check_dates(of, node, function, &arguments[0].value);
        }
        if function == "I" {
            return self.check(of, &arguments[0].value);
        }
        let known = FUNCTIONS.iter().any(|(name, _)| *name == function)
            || OF_TWO.contains(&function)
            || SCALES.contains(&function);
        if !known {
            return self.no_function(of, node, function);
        }
        for argument in arguments {
            self.need(of, &argument.value, &[Type::Numbers, Type::Logical])?;
        }
        Ok(Type::Numbers)
    }

    fn check_dates(
        &self, of: &str, node: &Node, function: &str, argument: &Node,
    ) -> Result<Type, DataError> {
        let error = |message: String| Err(FormulaError::new(of, &node.span, message).into());
        self.check(of, argument)?;
        let Kind::Name(name) = &argument.kind else {
            return error(format!("{function}() needs a column of dates"));
        };
        let cells = self.column(name).map(Column::cells);
        if let Some(Cells::Other(found)) = cells {
            let need = "need dates such as 2024-03-09";
            return error(format!("column `{name}` has values of type {found}, {need}"));
        }
        let Some(Cells::Text { levels, .. }) = cells else {
            return error(format!("column `{name}` has no dates, need text such as 2024-03-09"));
        };
        match levels.iter().find(|level| dates::days(level).is_none()) {
            Some(level) => error(format!(
                "column `{name}` has the text `{level}`, need dates such as 2024-03-09"
            )),
            None => Ok(Type::Numbers),
        }
    }

    pub(crate) fn no_function<T>(
        &self, of: &str, node: &Node, function: &str,
    ) -> Result<T, DataError> {
        let known: Vec<&str> = functions().collect();
        let hint = match nearest(function, known.iter().copied()) {
            Some(name) => format!("; did you mean {name}()?"),
            None => format!("; available: {}", listed(&known, 40)),
        };
        let message = format!("there is no function `{function}`{hint}");
        Err(FormulaError::new(of, &node.span, message).into())
    }

    /// The numbers of an expression that was checked, in these rows; NaN where missing. True is 1.
    pub(crate) fn numbers(&self, node: &Node, rows: &[usize], memory: &Memory) -> Vec<f64> {
        let of = |node: &Node| self.numbers(node, rows, memory);
        match &node.kind {
            Kind::Number(value) => vec![*value; rows.len()],
            Kind::Logical(value) => vec![f64::from(u8::from(*value)); rows.len()],
            Kind::Name(name) => {
                let values = self.column(name).and_then(Column::numbers).unwrap_or_default();
                rows.iter().map(|&row| values.get(row).copied().unwrap_or(f64::NAN)).collect()
            }
            Kind::Group(inner) | Kind::Unary(Unary::Plus, inner) => of(inner),
            Kind::Unary(Unary::Minus, inner) => map(of(inner), |value| -value),
            Kind::Unary(Unary::Not, inner) => {
                map(of(inner), |value| if value.is_nan() { value } else { truth(value == 0.0) })
            }
            Kind::Sum(terms) => {
                let mut total: Option<Vec<f64>> = None;
                for (minus, term) in terms {
                    let values = of(term);
                    total = Some(match total {
                        None if *minus => map(values, |value| -value),
                        None => values,
                        Some(sum) if *minus => pair(sum, &values, |a, b| a - b),
                        Some(sum) => pair(sum, &values, |a, b| a + b),
                    });
                }
                total.unwrap_or_default()
            }
            Kind::Binary(operator, left, right) => self.pairs(*operator, left, right, rows, memory),
            Kind::Call(function, arguments) => self.call(node, function, arguments, rows, memory),
            Kind::Text(_) | Kind::Dot | Kind::List(_) => vec![f64::NAN; rows.len()],
        }
    }

    fn pairs(
        &self, operator: Binary, left: &Node, right: &Node, rows: &[usize], memory: &Memory,
    ) -> Vec<f64> {
        if let Some((texts, others)) = self.texts(left, rows).zip(self.texts(right, rows)) {
            let equal = operator == Binary::Equal;
            let compare = |(a, b): (Option<&str>, Option<&str>)| match (a, b) {
                (Some(a), Some(b)) => truth((a == b) == equal),
                _ => f64::NAN,
            };
            return texts.into_iter().zip(others).map(compare).collect();
        }
        if operator == Binary::In {
            return self.within(left, right, rows, memory);
        }
        let (values, others) =
            (self.numbers(left, rows, memory), self.numbers(right, rows, memory));
        let operation: fn(f64, f64) -> f64 = match operator {
            Binary::Times => |a, b| a * b,
            Binary::Divide => |a, b| a / b,
            Binary::Power => power,
            Binary::Remainder => |a, b| a - (a / b).floor() * b,
            Binary::Quotient => |a, b| (a / b).floor(),
            Binary::And => and,
            Binary::Or => |a, b| not(and(not(a), not(b))),
            Binary::Equal => |a, b| compared(a, b, a == b),
            Binary::Unequal => |a, b| compared(a, b, a != b),
            Binary::Less => |a, b| compared(a, b, a < b),
            Binary::LessEqual => |a, b| compared(a, b, a <= b),
            Binary::Greater => |a, b| compared(a, b, a > b),
            Binary::GreaterEqual => |a, b| compared(a, b, a >= b),
            Binary::Bars | Binary::In | Binary::Colon => |_, _| f64::NAN,
        };
        pair(values, &others, operation)
    }

    /// Which values are in a list.
    fn within(&self, left: &Node, right: &Node, rows: &[usize], memory: &Memory) -> Vec<f64> {
        let Kind::List(items) = &right.kind else { return vec![f64::NAN; rows.len()] };
        if let Some(texts) = self.texts(left, rows) {
            let among = |text: &str| {
                items.iter().any(|item| matches!(&item.kind, Kind::Text(t) if t == text))
            };
            return texts
                .into_iter()
                .map(|text| text.map_or(f64::NAN, |text| truth(among(text))))
                .collect();
        }
        let items: Vec<f64> = items.iter().filter_map(constant).collect();
        let among = |value: f64| if value.is_nan() { value } else { truth(items.contains(&value)) };
        map(self.numbers(left, rows, memory), among)
    }

    fn call(
        &self, node: &Node, function: &str, arguments: &[Argument], rows: &[usize], memory: &Memory,
    ) -> Vec<f64> {
        let Some(first) = arguments.first().map(|argument| &argument.value) else {
            return vec![f64::NAN; rows.len()];
        };
        if function == "is.na" {
            return match self.texts(first, rows) {
                Some(texts) => texts.iter().map(|text| truth(text.is_none())).collect(),
                None => map(self.numbers(first, rows, memory), |value| truth(value.is_nan())),
            };
        }
        if OF_DATES.contains(&function) {
            return self.dates(function, first, rows);
        }
        let values = self.numbers(first, rows, memory);
        match (function, arguments.get(1)) {
            ("log", Some(base)) => {
                let bases = self.numbers(&base.value, rows, memory);
                pair(values, &bases, |value, base| value.ln() / base.ln())
            }
            ("pmin", Some(other)) => {
                pair(values, &self.numbers(&other.value, rows, memory), |a, b| {
                    if a.is_nan() || b.is_nan() { f64::NAN } else { a.min(b) }
                })
            }
            ("pmax", Some(other)) => {
                pair(values, &self.numbers(&other.value, rows, memory), |a, b| {
                    if a.is_nan() || b.is_nan() { f64::NAN } else { a.max(b) }
                })
            }
            _ => match FUNCTIONS.iter().find(|(name, _)| *name == function) {
                Some((_, function)) => map(values, function),
                None => match memory.get(&node.to_string()) {
                    Some(&Learned::Scale { centre, divisor }) => {
                        map(values, |value| (value - centre) / divisor)
                    }
                    _ => vec![f64::NAN; rows.len()],
                },
            },
        }
    }

    fn dates(&self, function: &str, argument: &Node, rows: &[usize]) -> Vec<f64> {
        let column = argument.columns().first().and_then(|name| self.column(name));
        let Some(Cells::Text { levels, codes }) = column.map(Column::cells) else {
            return vec![f64::NAN; rows.len()];
        };
        let value = |level: &String| {
            let Some(days) = dates::days(level) else { return f64::NAN };
            let [year, month, weekday] = dates::calendar(days);
            match function {
                "year" => year,
                "month" => month,
                "weekday" => weekday,
                _ => days,
            }
        };
        let values: Vec<f64> = levels.iter().map(value).collect();
        let of = |row: &usize| {
            let code = codes.get(*row).copied().unwrap_or(NO_TEXT);
            usize::try_from(code)
                .ok()
                .and_then(|code| values.get(code).copied())
                .unwrap_or(f64::NAN)
        };
        rows.iter().map(of).collect()
    }

    /// The texts of a text column or of a text itself; `None` for numbers.
    fn texts<'a>(&'a self, node: &'a Node, rows: &[usize]) -> Option<Vec<Option<&'a str>>> {
        match &node.bare().kind {
            Kind::Text(text) => Some(vec![Some(text.as_str()); rows.len()]),
            Kind::Name(name) => match self.column(name)?.cells() {
                Cells::Text { levels, codes } => {
                    let text = |row: &usize| {
                        let code = usize::try_from(*codes.get(*row)?).ok()?;
                        levels.get(code).map(String::as_str)
                    };
                    Some(rows.iter().map(text).collect())
                }
                _ => None,
            },
            _ => None,
        }
    }
}

/// The value of a constant, with its sign.
pub(crate) fn constant(node: &Node) -> Option<f64> {
    match &node.kind {
        Kind::Number(value) => Some(*value),
        Kind::Unary(Unary::Minus, inner) => constant(inner).map(|value| -value),
        Kind::Unary(Unary::Plus, inner) | Kind::Group(inner) => constant(inner),
        _ => None,
    }
}

fn truth(value: bool) -> f64 {
    f64::from(u8::from(value))
}

fn compared(a: f64, b: f64, value: bool) -> f64 {
    if a.is_nan() || b.is_nan() { f64::NAN } else { truth(value) }
}

/// True only if both are; false if one is, whatever the other; else missing.
fn and(a: f64, b: f64) -> f64 {
    if a == 0.0 || b == 0.0 {
        0.0
    } else if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        1.0
    }
}

fn not(a: f64) -> f64 {
    if a.is_nan() { a } else { truth(a == 0.0) }
}

/// A power, with whole exponents by multiplication, as R computes squares.
fn power(base: f64, exponent: f64) -> f64 {
    if exponent == 2.0 { base * base } else { base.powf(exponent) }
}

fn map(mut values: Vec<f64>, function: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter_mut().for_each(|value| *value = function(*value));
    values
}

fn pair(mut values: Vec<f64>, others: &[f64], function: impl Fn(f64, f64) -> f64) -> Vec<f64> {
    values.iter_mut().zip(others).for_each(|(value, other)| *value = function(*value, *other));
    values
}

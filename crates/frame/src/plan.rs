//! What a variable of a formula is: a number, a factor, or a basis, with its options. Decided from
//! the formula and the types of the columns, before any row is looked at.

use crate::basis::{Basis, inner_quantiles};
use crate::column::Column;
use crate::error::DataError;
use crate::evaluate::{BASES, FACTORS, Learned, Memory, SCALES, Source, Type, constant};
use crate::factors::{equal_breaks, interval_names, level_of};
use crate::formula::FormulaError;
use crate::formula::syntax::{Argument, Kind, Node};
use crate::levels::Key;
use crate::pairs::{self, PAIR, Sides};
use crate::sparse::SparseColumns;
use crate::splines::LEAST;

/// The most columns of one basis.
const MAX_DEGREE: usize = 25;
const MAX_KNOTS: usize = 1000;
/// The number of functions of a smooth term, and the most.
const FUNCTIONS: usize = 10;
const MAX_FUNCTIONS: usize = 100;

/// A variable of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Plan {
    Number(Node),
    /// True or false: a factor with two levels.
    Logical(Node),
    Factor(FactorPlan),
    Cut(CutPlan),
    /// `pair(a, b)`: +1 for one level and -1 for another.
    Pair(PairPlan),
    /// A sparse matrix, with all of its columns.
    Columns(Node),
    Basis {
        argument: Node,
        kind: BasisKind,
    },
}

/// The arguments of a smooth term.
#[derive(Debug)]
pub(crate) struct Smooth {
    pub(crate) x: Node,
    /// The number of B-splines.
    pub(crate) functions: usize,
    pub(crate) by: Option<Node>,
}

/// A factor of a column.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct FactorPlan {
    /// The column or the expression of numbers.
    pub(crate) of: Node,
    /// Whether it is a text column.
    pub(crate) text: bool,
    /// The levels asked for, in order.
    pub(crate) levels: Option<Vec<String>>,
    pub(crate) contrast: Asked,
    /// Its name in coefficients.
    pub(crate) title: String,
    /// The key of its levels in the memory.
    pub(crate) key: String,
}

/// Two columns whose levels are compared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PairPlan {
    pub(crate) node: Node,
    pub(crate) sides: Sides,
    /// The level that the others are compared with.
    pub(crate) base: Option<String>,
}

/// The contrasts asked for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Asked {
    Treatment { base: Option<String> },
    Sum,
    Helmert,
}

/// Intervals of a number.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct CutPlan {
    pub(crate) of: Node,
    breaks: Breaks,
    labels: Option<Vec<String>>,
    pub(crate) right: bool,
    pub(crate) lowest: bool,
}

#[derive(Debug, Clone, PartialEq)]
enum Breaks {
    Count(usize),
    At(Vec<f64>),
}

/// A basis and its options.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum BasisKind {
    Polynomials {
        degree: usize,
        raw: bool,
    },
    Splines {
        natural: bool,
        degree: usize,
        df: Option<usize>,
        knots: Option<Vec<f64>>,
        ends: Option<[f64; 2]>,
        intercept: bool,
    },
}

impl Plan {
    /// The plan of a variable in the formula `of`.
    pub(crate) fn new(source: &Source<'_>, of: &str, node: &Node) -> Result<Self, DataError> {
        let bare = node.bare();
        if let Kind::Name(name) = &bare.kind
            && source.column(name).is_some_and(|column| column.sparse().is_some())
        {
            return Ok(Self::Columns(bare.clone()));
        }
        let call = match &node.kind {
            Kind::Call(function, arguments) => Some((function.as_str(), &arguments[..])),
            _ => None,
        };
        match call {
            Some((function, arguments)) if BASES.contains(&function) => {
                let call = Call { source, of, node, function, arguments };
                call.basis()
            }
            Some((PAIR, arguments)) => {
                let call = Call { source, of, node: bare, function: PAIR, arguments };
                call.pair().map(Self::Pair)
            }
            Some(("cut", arguments)) => {
                Call { source, of, node, function: "cut", arguments }.cut().map(Self::Cut)
            }
            Some((function, arguments)) if FACTORS.contains(&function) => {
                Call { source, of, node, function, arguments }.factor().map(Self::Factor)
            }
            _ => match source.check(of, node)? {
                Type::Text => Ok(Self::Factor(FactorPlan::of_column(node))),
                Type::Logical => Ok(Self::Logical(node.clone())),
                Type::Numbers => Ok(Self::Number(node.clone())),
            },
        }
    }

    /// The columns of `pair(a, b)` as a grouping factor.
    pub(crate) fn pair(source: &Source<'_>, of: &str, node: &Node) -> Result<Sides, DataError> {
        let node = node.bare();
        let Kind::Call(_, arguments) = &node.kind else {
            return Err(FormulaError::new(of, &node.span, "need pair(a, b)").into());
        };
        let call = Call { source, of, node, function: PAIR, arguments };
        let PairPlan { sides, base, .. } = call.pair()?;
        match base {
            Some(_) => call.error(node, "group effects have no base: need pair(a, b)"),
            None => Ok(sides),
        }
    }

    /// The arguments of `s(x, k = 10, by = f)`.
    pub(crate) fn smooth(source: &Source<'_>, of: &str, node: &Node) -> Result<Smooth, DataError> {
        let arguments = match &node.kind {
            Kind::Call(_, arguments) => &arguments[..],
            _ => &[],
        };
        let call = Call { source, of, node, function: "s", arguments };
        let others: Vec<&Argument> =
            arguments.iter().filter(|argument| argument.name.is_none()).skip(1).collect();
        if let Some(other) = others.first() {
            let message = "s() smooths one column: need s(x, k = 10, by = f)";
            return call.error(&other.value, message);
        }
        let [x, k, by] = call.matched(["x", "k", "by"])?;
        let functions = k.map(|node| call.count(node, LEAST, MAX_FUNCTIONS)).transpose()?;
        let functions = functions.unwrap_or(FUNCTIONS);
        Ok(Smooth { x: call.numeric(x)?.bare().clone(), functions, by: by.cloned() })
    }

    pub(crate) fn is_factor(&self) -> bool {
        matches!(self, Self::Logical(_) | Self::Factor(_) | Self::Cut(_))
    }

    /// The expression that its values come from.
    pub(crate) fn node(&self) -> &Node {
        match self {
            Self::Number(node) | Self::Logical(node) | Self::Columns(node) => node,
            Self::Factor(factor) => &factor.of,
            Self::Cut(cut) => &cut.of,
            Self::Pair(pair) => &pair.node,
            Self::Basis { argument, .. } => argument,
        }
    }

    /// Whether it learns something from the numbers of all rows.
    pub(crate) fn learns(&self) -> bool {
        let mut scales = false;
        self.node().walk(&mut |node| scales |= is_scale(node));
        scales
            || match self {
                Self::Number(_) | Self::Logical(_) | Self::Columns(_) => false,
                Self::Factor(factor) => !factor.text,
                Self::Cut(_) | Self::Basis { .. } | Self::Pair(_) => true,
            }
    }

    /// Learns from these rows what functions need; levels of text columns come from `levels_of`.
    pub(crate) fn learn(
        &self, label: &str, source: &Source<'_>, rows: &[usize], memory: &mut Memory,
        levels_of: &mut dyn FnMut(&str) -> Result<Vec<String>, DataError>,
    ) -> Result<(), DataError> {
        learn_scales(self.node(), source, rows, memory)?;
        let refuse = |need: String| {
            Err(DataError::Function {
                file: source.table.name().to_owned(),
                call: label.to_owned(),
                need,
            })
        };
        let learned = match self {
            Self::Number(_) | Self::Logical(_) => return Ok(()),
            Self::Pair(pair) => {
                let (levels, each) = pairs::levels(source, &pair.sides, rows)?;
                if levels.len() > crate::MAX_LEVELS || each.is_empty() {
                    let found = levels.len();
                    return refuse(format!("2 to {} levels; found {found}", crate::MAX_LEVELS));
                }
                Learned::Levels(levels)
            }
            Self::Columns(node) => {
                let column = node.columns().first().and_then(|name| source.column(name));
                let names = column.and_then(Column::sparse).map(SparseColumns::names);
                match names.unwrap_or_default() {
                    [] => return refuse("an entry that is not 0".to_owned()),
                    names => Learned::Columns(names.to_vec()),
                }
            }
            Self::Factor(factor) => {
                if memory.contains_key(&factor.key) {
                    return Ok(());
                }
                let numbers = |of: &Node| source.numbers(of, rows, memory);
                let levels = factor.found_levels(numbers, levels_of)?;
                if levels.len() > crate::MAX_LEVELS {
                    let found = levels.len();
                    return refuse(format!("at most {} levels; found {found}", crate::MAX_LEVELS));
                }
                memory.insert(factor.key.clone(), Learned::Levels(levels));
                return Ok(());
            }
            Self::Cut(cut) => {
                let breaks = match &cut.breaks {
                    Breaks::At(breaks) => breaks.clone(),
                    Breaks::Count(count) => {
                        let values = sorted(source.numbers(&cut.of, rows, memory));
                        let ends =
                            [values.first(), values.last()].map(|end| end.copied().unwrap_or(0.0));
                        equal_breaks(ends, *count)
                    }
                };
                let names = || interval_names(&breaks, cut.right, cut.lowest);
                let levels = cut.labels.clone().unwrap_or_else(names);
                if levels.len() + 1 != breaks.len() {
                    return refuse(format!("{} labels; found {}", breaks.len() - 1, levels.len()));
                }
                Learned::Cut { breaks, levels }
            }
            Self::Basis { argument, kind } => {
                let values = source.numbers(argument, rows, memory);
                match kind.learn(values) {
                    Ok(basis) => Learned::Basis(basis),
                    Err(need) => return refuse(need),
                }
            }
        };
        memory.insert(label.to_owned(), learned);
        Ok(())
    }
}

impl FactorPlan {
    /// Its levels: those asked for, those of a text column, or the distinct numbers.
    fn found_levels(
        &self, numbers: impl Fn(&Node) -> Vec<f64>,
        levels_of: &mut dyn FnMut(&str) -> Result<Vec<String>, DataError>,
    ) -> Result<Vec<String>, DataError> {
        match (&self.levels, self.text) {
            (Some(levels), _) => Ok(levels.clone()),
            (None, true) => levels_of(self.of.columns().first().unwrap_or(&"")),
            (None, false) => {
                let values = sorted(numbers(&self.of));
                let mut levels: Vec<String> = values.iter().map(|value| level_of(*value)).collect();
                levels.dedup();
                Ok(levels)
            }
        }
    }

    fn of_column(node: &Node) -> Self {
        let node = node.bare();
        let title = match &node.kind {
            Kind::Name(name) => name.clone(),
            _ => node.to_string(),
        };
        Self {
            of: node.clone(),
            text: true,
            levels: None,
            contrast: Asked::Treatment { base: None },
            title,
            key: node.to_string(),
        }
    }
}

/// `scale(x)` or `center(x)`.
pub(crate) fn is_scale(node: &Node) -> bool {
    matches!(&node.kind, Kind::Call(function, _) if SCALES.contains(&function.as_str()))
}

/// Learns the scales within an expression, from the inside out.
fn learn_scales(
    node: &Node, source: &Source<'_>, rows: &[usize], memory: &mut Memory,
) -> Result<(), DataError> {
    let mut calls = Vec::new();
    node.walk(&mut |node| {
        if is_scale(node) {
            calls.push(node);
        }
    });
    // Walking sees the outer call first.
    for call in calls.into_iter().rev() {
        let Kind::Call(function, arguments) = &call.kind else { continue };
        let Some(argument) = arguments.first() else { continue };
        let values = source.numbers(&argument.value, rows, memory);
        let n = values.len() as f64;
        let first = values.iter().sum::<f64>() / n;
        // The second pass removes the rounding error of the first sum.
        let centre = first + values.iter().map(|value| value - first).sum::<f64>() / n;
        let squares: f64 = values.iter().map(|value| (value - centre).powi(2)).sum();
        let divisor = if function == "scale" { (squares / (n - 1.0)).sqrt() } else { 1.0 };
        if !(divisor > 0.0 && divisor.is_finite() && centre.is_finite()) {
            let file = source.table.name().to_owned();
            let need = "finite values that differ".to_owned();
            return Err(DataError::Function { file, call: call.to_string(), need });
        }
        memory.insert(call.to_string(), Learned::Scale { centre, divisor });
    }
    Ok(())
}

fn sorted(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    values
}

impl BasisKind {
    /// The basis for these values, or what is needed instead.
    fn learn(&self, values: Vec<f64>) -> Result<Basis, String> {
        if values.iter().any(|value| !value.is_finite()) {
            return Err("finite numbers in every row".to_owned());
        }
        match self {
            Self::Polynomials { degree, raw: true } => Ok(Basis::Powers { degree: *degree }),
            Self::Polynomials { degree, raw: false } => Basis::polynomials(&values, *degree)
                .ok_or_else(|| format!("more than {degree} distinct values for degree {degree}")),
            Self::Splines { natural, degree, df, knots, ends, intercept } => {
                let values = sorted(values);
                let ends = ends.unwrap_or_else(|| {
                    [values.first(), values.last()].map(|end| end.copied().unwrap_or(0.0))
                });
                if !(ends[0] < ends[1]) {
                    return Err("values that differ".to_owned());
                }
                let (natural, degree, intercept) = (*natural, *degree, *intercept);
                let knots = match (knots, df) {
                    (Some(knots), _) => knots.clone(),
                    (None, df) => {
                        let least = if natural { 1 } else { degree } + usize::from(intercept);
                        let count = df.unwrap_or(least).checked_sub(least);
                        let count = count.ok_or_else(|| format!("df of at least {least}"))?;
                        let first = values.partition_point(|value| *value < ends[0]);
                        let last = values.partition_point(|value| *value <= ends[1]);
                        inner_quantiles(&values[first..last], count)
                    }
                };
                let inside = knots.iter().all(|knot| ends[0] < *knot && *knot < ends[1]);
                let apart = knots.windows(2).all(|pair| pair[0] < pair[1]);
                if !inside || !apart {
                    return Err(format!(
                        "distinct knots between {} and {}; found {knots:?}: choose a smaller df, or knots",
                        ends[0], ends[1]
                    ));
                }
                Ok(if natural {
                    Basis::NaturalSplines { knots, ends, intercept }
                } else {
                    Basis::BSplines { degree, knots, ends, intercept }
                })
            }
        }
    }
}

/// A call whose arguments are read.
struct Call<'a> {
    source: &'a Source<'a>,
    of: &'a str,
    node: &'a Node,
    function: &'a str,
    arguments: &'a [Argument],
}

impl<'a> Call<'a> {
    fn error<T>(&self, node: &Node, message: impl Into<String>) -> Result<T, DataError> {
        Err(FormulaError::new(self.of, &node.span, message).into())
    }

    /// The arguments by the names of the parameters, as R matches them.
    fn matched<const N: usize>(
        &self, names: [&str; N],
    ) -> Result<[Option<&'a Node>; N], DataError> {
        let mut found = [None; N];
        for argument in self.arguments.iter().filter(|argument| argument.name.is_some()) {
            let name = argument.name.as_deref().unwrap_or_default();
            match names.iter().position(|known| *known == name) {
                Some(index) if found[index].is_none() => found[index] = Some(&argument.value),
                _ => {
                    let message = format!(
                        "{}() has no argument `{name}`, or has it twice; it has {}",
                        self.function,
                        names.join(", ")
                    );
                    return self.error(&argument.value, message);
                }
            }
        }
        for argument in self.arguments.iter().filter(|argument| argument.name.is_none()) {
            match found.iter().position(Option::is_none) {
                Some(index) => found[index] = Some(&argument.value),
                None => {
                    return self.error(
                        &argument.value,
                        format!("{}() has too many arguments", self.function),
                    );
                }
            }
        }
        Ok(found)
    }

    /// The argument that a basis or an interval is made of.
    fn numeric(&self, argument: Option<&Node>) -> Result<Node, DataError> {
        let Some(argument) = argument else {
            return self.error(self.node, format!("{}() needs a column", self.function));
        };
        match self.source.check(self.of, argument)? {
            Type::Numbers | Type::Logical => Ok(argument.clone()),
            Type::Text => self.error(
                argument,
                format!("`{argument}` is text, {}() needs numbers", self.function),
            ),
        }
    }

    fn count(&self, node: &Node, least: usize, most: usize) -> Result<usize, DataError> {
        let fits =
            |value: &f64| value.fract() == 0.0 && (least as f64..=most as f64).contains(value);
        match constant(node).filter(fits) {
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "checked above"
            )]
            Some(value) => Ok(value as usize),
            None => self
                .error(node, format!("found `{node}`, need a whole number from {least} to {most}")),
        }
    }

    fn flag(&self, node: Option<&Node>, default: bool) -> Result<bool, DataError> {
        match node.map(|node| (node, &node.kind)) {
            None => Ok(default),
            Some((_, Kind::Logical(value))) => Ok(*value),
            Some((node, _)) => self.error(node, format!("found `{node}`, need TRUE or FALSE")),
        }
    }

    /// A list of finite numbers in increasing order; a single number is a list.
    fn numbers(&self, node: &Node, infinite: bool) -> Result<Vec<f64>, DataError> {
        let items = match &node.kind {
            Kind::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        let values: Option<Vec<f64>> = items.iter().map(constant).collect();
        match values {
            Some(values) if infinite || values.iter().all(|value| value.is_finite()) => {
                Ok(sorted(values))
            }
            _ => self.error(node, format!("found `{node}`, need numbers such as c(1, 2.5)")),
        }
    }

    fn texts(&self, node: &Node) -> Result<Vec<String>, DataError> {
        let items = match &node.kind {
            Kind::List(items) => &items[..],
            _ => std::slice::from_ref(node),
        };
        let text = |item: &Node| match &item.kind {
            Kind::Text(text) => Some(text.clone()),
            _ => constant(item).map(level_of),
        };
        let all: Option<Vec<String>> = items.iter().map(text).collect();
        let unique = |all: &Vec<String>| (1..all.len()).all(|k| !all[..k].contains(&all[k]));
        match all.filter(unique) {
            Some(all) => Ok(all),
            None => self.error(
                node,
                format!("found `{node}`, need different levels such as c(\"a\", \"b\")"),
            ),
        }
    }

    fn basis(&self) -> Result<Plan, DataError> {
        if self.function == "poly" {
            let [x, degree, raw] = self.matched(["x", "degree", "raw"])?;
            let degree = degree.map_or(Ok(1), |node| self.count(node, 1, MAX_DEGREE))?;
            let kind = BasisKind::Polynomials { degree, raw: self.flag(raw, false)? };
            return Ok(Plan::Basis { argument: self.numeric(x)?, kind });
        }
        let natural = self.function == "ns";
        let [x, df, knots, degree, intercept, ends] = if natural {
            let [x, df, knots, intercept, ends] =
                self.matched(["x", "df", "knots", "intercept", "Boundary.knots"])?;
            [x, df, knots, None, intercept, ends]
        } else {
            self.matched(["x", "df", "knots", "degree", "intercept", "Boundary.knots"])?
        };
        let degree = degree.map_or(Ok(3), |node| self.count(node, 1, MAX_DEGREE))?;
        let df = df.map(|node| self.count(node, 1, MAX_KNOTS)).transpose()?;
        let knots = knots.map(|node| self.numbers(node, false)).transpose()?;
        let intercept = self.flag(intercept, false)?;
        let ends = match ends {
            Some(node) => match self.numbers(node, false)?[..] {
                [low, high] => Some([low, high]),
                _ => return self.error(node, format!("found `{node}`, need two numbers")),
            },
            None => None,
        };
        let kind = BasisKind::Splines { natural, degree, df, knots, ends, intercept };
        Ok(Plan::Basis { argument: self.numeric(x)?, kind })
    }

    fn pair(&self) -> Result<PairPlan, DataError> {
        let [first, second, base] = self.matched(["a", "b", "base"])?;
        let (Some(first), Some(second)) = (first, second) else {
            return self.error(self.node, "pair() needs two columns, as in pair(winner, loser)");
        };
        let side = |node: &Node| Key::new(self.source, self.of, node);
        let sides = [side(first)?, side(second)?];
        if sides[0].label == sides[1].label {
            return self.error(self.node, "pair() needs two different columns");
        }
        let base = base.map(|node| self.texts(node)).transpose()?;
        let base = base.and_then(|levels| levels.into_iter().next());
        Ok(PairPlan { node: self.node.clone(), sides, base })
    }

    fn cut(&self) -> Result<CutPlan, DataError> {
        let [x, breaks, labels, lowest, right] =
            self.matched(["x", "breaks", "labels", "include.lowest", "right"])?;
        let Some(breaks) = breaks else {
            return self.error(self.node, "cut() needs breaks, as in cut(age, c(0, 18, 65, Inf))");
        };
        let at = match &breaks.kind {
            Kind::List(_) => {
                let at = self.numbers(breaks, true)?;
                if at.len() < 2 || at.windows(2).any(|pair| pair[0] == pair[1]) {
                    return self.error(
                        breaks,
                        format!("found `{breaks}`, need at least two different ends"),
                    );
                }
                Breaks::At(at)
            }
            _ => Breaks::Count(self.count(breaks, 2, MAX_KNOTS)?),
        };
        let labels = labels.map(|node| self.texts(node)).transpose()?;
        let (lowest, right) = (self.flag(lowest, false)?, self.flag(right, true)?);
        Ok(CutPlan { of: self.numeric(x)?, breaks: at, labels, right, lowest })
    }

    /// `factor(x, levels)` or `C(x, contrasts, base, levels)`.
    fn factor(&self) -> Result<FactorPlan, DataError> {
        let [x, contrast, base, levels] = if self.function == "C" {
            self.matched(["x", "contr", "base", "levels"])?
        } else {
            let [x, levels] = self.matched(["x", "levels"])?;
            [x, None, None, levels]
        };
        let Some(x) = x else {
            return self.error(self.node, format!("{}() needs a column", self.function));
        };
        let inner = match &x.kind {
            Kind::Call(function, arguments)
                if matches!(function.as_str(), "factor" | "as.factor") =>
            {
                Some(Call { node: x, function, arguments, ..*self }.factor()?)
            }
            _ => None,
        };
        let mut plan = match inner {
            Some(plan) => plan,
            None => {
                let text = self.source.check(self.of, x)? == Type::Text;
                let plan = FactorPlan { text, ..FactorPlan::of_column(x) };
                if text { plan } else { FactorPlan { key: format!("factor({x})"), ..plan } }
            }
        };
        if self.function != "C" {
            plan.title = self.node.to_string();
        }
        plan.contrast = self.contrast(contrast, base)?;
        if let Some(node) = levels {
            plan.levels = Some(self.texts(node)?);
            plan.key = self.node.to_string();
        }
        Ok(plan)
    }

    fn contrast(&self, contrast: Option<&Node>, base: Option<&Node>) -> Result<Asked, DataError> {
        let name = contrast.map(|node| match &node.kind {
            Kind::Name(name) | Kind::Text(name) => name.to_lowercase(),
            _ => node.to_string(),
        });
        let name = name.as_deref().map(|name| name.strip_prefix("contr.").unwrap_or(name));
        let base = base.map(|node| self.texts(node)).transpose()?;
        let base = base.and_then(|levels| levels.into_iter().next());
        match (name, contrast) {
            (None | Some("treatment"), _) => Ok(Asked::Treatment { base }),
            (Some("sum"), _) if base.is_none() => Ok(Asked::Sum),
            (Some("helmert"), _) if base.is_none() => Ok(Asked::Helmert),
            (Some("sum" | "helmert"), Some(node)) => {
                self.error(node, "only treatment contrasts have a base")
            }
            (_, node) => {
                let node = node.unwrap_or(self.node);
                self.error(node, format!("found `{node}`, need treatment, sum or helmert"))
            }
        }
    }
}

//! R's formulas: `y ~ x * z + poly(age, 2) + offset(log(n))`.
//!
//! [`parse`] makes expressions of the text, [`terms`] expands the right-hand side, [`groups`] the
//! group effects in it, and this file reads the left-hand side. What functions compute is in `evaluate.rs` and `coding.rs`.

mod error;
pub(crate) mod groups;
pub(crate) mod parse;
pub(crate) mod syntax;
pub(crate) mod terms;

use std::fmt;
use std::str::FromStr;

pub use error::FormulaError;
use syntax::{Binary, Kind, Node, Unary, written_name};
use terms::Terms;

/// A formula whose syntax is right. What it names is looked up when a frame is made.
///
/// ```
/// use ridgewalk_frame::Formula;
///
/// let formula: Formula = "y~x*z+log( w )".parse()?;
/// assert_eq!(formula.to_string(), "y ~ x * z + log(w)");
/// let wrong = "y ~ x + ".parse::<Formula>().unwrap_err();
/// assert_eq!(wrong.message(), "found the end of the formula, need a column, a number, a function or `(`");
/// # Ok::<(), ridgewalk_frame::FormulaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Formula {
    text: String,
    left: Node,
    right: Node,
}

/// The left-hand side of a formula: each part is an expression of the columns.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Left {
    pub(crate) response: Node,
    pub(crate) trials: Option<Node>,
    pub(crate) event: Option<Node>,
    pub(crate) upper: Option<Node>,
}

impl Formula {
    /// Regresses a column on others, or on all columns without another role.
    #[must_use]
    pub fn of_columns(response: &str, predictors: Option<&[String]>) -> Self {
        let node = |kind| (false, Node::new(kind, 0..0));
        let right = match predictors {
            Some([]) => vec![node(Kind::Number(1.0))],
            Some(names) => names.iter().map(|name| (false, Node::name(name))).collect(),
            None => vec![node(Kind::Dot)],
        };
        let right = Node::new(Kind::Sum(right), 0..0);
        Self { text: String::new(), left: Node::name(response), right }
    }

    /// The same formula without its intercept.
    #[must_use]
    pub fn without_intercept(mut self) -> Self {
        let one = (true, Node::new(Kind::Number(1.0), 0..0));
        self.right = Node::new(Kind::Sum(vec![(false, self.right), one]), 0..0);
        self
    }

    /// Whether there is an intercept.
    #[must_use]
    pub fn has_intercept(&self) -> bool {
        self.terms(&[]).is_ok_and(|terms| terms.intercept)
    }

    /// The response as written.
    #[must_use]
    pub fn response(&self) -> String {
        self.left.to_string()
    }

    /// The text, for messages with a place in it.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// A column that a list of predictors has twice. A formula may repeat its terms.
    pub(crate) fn listed_twice(&self) -> Option<&str> {
        let mut seen = std::collections::HashSet::new();
        match &self.right.kind {
            Kind::Sum(terms) if self.text.is_empty() => {
                terms.iter().find_map(|(_, term)| match &term.kind {
                    Kind::Name(name) if !seen.insert(name) => Some(name.as_str()),
                    _ => None,
                })
            }
            _ => None,
        }
    }

    /// The columns that the formula names, in order; `None` for a formula with `.`.
    #[must_use]
    pub fn columns(&self) -> Option<Vec<&str>> {
        let mut dot = false;
        self.right.walk(&mut |node| dot |= node.kind == Kind::Dot);
        let mut all = self.left.columns();
        for name in self.right.columns() {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        (!dot).then_some(all)
    }

    /// The right-hand side, with `.` for these columns.
    pub(crate) fn terms(&self, columns: &[&str]) -> Result<Terms, FormulaError> {
        terms::expand(&self.text, &self.right, columns)
    }

    /// The parts of the left-hand side.
    pub(crate) fn left(&self) -> Result<Left, FormulaError> {
        let plain =
            |node: &Node| Left { response: node.clone(), trials: None, event: None, upper: None };
        let error = |message: &str| Err(FormulaError::new(&self.text, &self.left.span, message));
        match &self.left.kind {
            Kind::Binary(Binary::Or, response, trials) => match &trials.kind {
                Kind::Call(function, arguments) if function == "trials" && arguments.len() == 1 => {
                    let trials = Some(arguments[0].value.clone());
                    Ok(Left { trials, ..plain(response) })
                }
                _ => error("need `successes | trials(n)` on the left"),
            },
            Kind::Call(function, arguments) if function == "cbind" => match &arguments[..] {
                [successes, failures] => {
                    let (successes, failures) = (&successes.value, &failures.value);
                    let sum =
                        Kind::Sum(vec![(false, successes.clone()), (false, failures.clone())]);
                    let trials = Some(total(successes, failures, sum));
                    Ok(Left { trials, ..plain(successes) })
                }
                _ => error("cbind() needs successes and failures, as in cbind(dead, alive)"),
            },
            Kind::Call(function, arguments) if function == "Surv" => {
                let interval = |argument: &syntax::Argument| {
                    argument.name.as_deref() == Some("type")
                        && argument.value.kind == Kind::Text("interval2".to_owned())
                };
                match &arguments[..] {
                    [time] => Ok(plain(&time.value)),
                    [time, event] if !interval(event) => {
                        Ok(Left { event: Some(event.value.clone()), ..plain(&time.value) })
                    }
                    [start, end, kind] if interval(kind) => {
                        Ok(Left { upper: Some(end.value.clone()), ..plain(&start.value) })
                    }
                    _ => error(
                        "need Surv(time), Surv(time, event) or Surv(start, end, type = \"interval2\")",
                    ),
                }
            }
            _ => Ok(plain(&self.left)),
        }
    }
}

/// Successes and failures together: `n` for `cbind(s, n - s)`.
fn total(successes: &Node, failures: &Node, sum: Kind) -> Node {
    if let Kind::Sum(parts) = &failures.kind
        && let [(false, trials), (true, taken)] = &parts[..]
        && taken.to_string() == successes.to_string()
    {
        return trials.clone();
    }
    Node::new(sum, successes.span.start..failures.span.end)
}

impl FromStr for Formula {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        let (left, right) = parse::formula(text)?;
        let Some(left) = left else {
            let message = "found no response, need one on the left of `~`";
            return Err(FormulaError::new(text, &(0..0), message));
        };
        let formula = Self { text: text.to_owned(), left, right };
        formula.left()?;
        // `.` is looked up later; everything else in the algebra can be checked now.
        formula.terms(&[])?;
        Ok(formula)
    }
}

impl fmt::Display for Formula {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ~ {}", self.left, self.right)
    }
}

/// A condition on the rows of a table: `age >= 18 & sex == "f"`.
///
/// ```
/// use ridgewalk_frame::Condition;
///
/// let adults: Condition = "age >= 18 & !city %in% c('Oslo', 'Bergen')".parse()?;
/// assert_eq!(adults.to_string(), "age >= 18 & !city %in% c(\"Oslo\", \"Bergen\")");
/// # Ok::<(), ridgewalk_frame::FormulaError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    text: String,
    node: Node,
}

impl Condition {
    /// The columns that the condition names, in order.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        self.node.columns()
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }
}

impl FromStr for Condition {
    type Err = FormulaError;

    fn from_str(text: &str) -> Result<Self, FormulaError> {
        let node = parse::expression(text)?;
        let logical = match &node.bare().kind {
            Kind::Binary(operator, ..) => operator.is_logical() && *operator != Binary::Bars,
            Kind::Unary(Unary::Not, _) | Kind::Logical(_) | Kind::Name(_) => true,
            Kind::Call(function, _) => function == "is.na",
            _ => false,
        };
        if !logical {
            let message = format!("found `{node}`, need a comparison such as age >= 18");
            return Err(FormulaError::new(text, &node.span, message));
        }
        Ok(Self { text: text.to_owned(), node })
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.node)
    }
}

/// A column as it is written in a formula: in backquotes where it must be.
#[must_use]
pub fn formula_name(column: &str) -> String {
    written_name(column)
}

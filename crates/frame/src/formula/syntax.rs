//! Expressions of formulas and conditions: a tree whose nodes know their place in the text, and its
//! canonical spelling, which is R's.

use std::fmt;
use std::ops::Range;

use crate::place::number;

/// Trees are at most this high, so that walking one cannot exhaust the stack.
pub(crate) const MAX_HEIGHT: u16 = 100;

/// A part of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Where it is in the text, in bytes.
    pub(crate) span: Range<usize>,
    /// The height of its tree.
    pub(crate) height: u16,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    Number(f64),
    Text(String),
    Logical(bool),
    /// A column, or `.` for all columns.
    Name(String),
    /// `.`: all columns without another role.
    Dot,
    /// In parentheses.
    Group(Box<Node>),
    /// A list: `c(1, 2)` or `[1, 2]`.
    List(Vec<Node>),
    Unary(Unary, Box<Node>),
    Binary(Binary, Box<Node>, Box<Node>),
    /// A sum: each term with whether it is subtracted. One node, because sums may be long.
    Sum(Vec<(bool, Node)>),
    Call(String, Vec<Argument>),
}

/// An argument of a call: its name, if given, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Argument {
    pub(crate) name: Option<String>,
    pub(crate) value: Node,
}

/// Operators with one operand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unary {
    Minus,
    Plus,
    Not,
}

/// Operators with two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Binary {
    Or,
    /// `||`, in group effects.
    Bars,
    And,
    Equal,
    Unequal,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Times,
    Divide,
    Remainder,
    Quotient,
    In,
    Colon,
    Power,
}

impl Binary {
    /// How tightly it binds; sums have 5 and signs 9.
    pub(crate) fn binding(self) -> u8 {
        match self {
            Self::Or | Self::Bars => 1,
            Self::And => 2,
            Self::Equal
            | Self::Unequal
            | Self::Less
            | Self::LessEqual
            | Self::Greater
            | Self::GreaterEqual => 4,
            Self::Times | Self::Divide => 6,
            Self::Remainder | Self::Quotient | Self::In => 7,
            Self::Colon => 8,
            Self::Power => 10,
        }
    }

    /// Whether its value is true or false.
    pub(crate) fn is_logical(self) -> bool {
        self.binding() <= 4 || self == Self::In
    }

    /// As R writes it.
    fn spelling(self) -> &'static str {
        match self {
            Self::Or => " | ",
            Self::Bars => " || ",
            Self::And => " & ",
            Self::Equal => " == ",
            Self::Unequal => " != ",
            Self::Less => " < ",
            Self::LessEqual => " <= ",
            Self::Greater => " > ",
            Self::GreaterEqual => " >= ",
            Self::Times => " * ",
            Self::Divide => "/",
            Self::Remainder => "%%",
            Self::Quotient => "%/%",
            Self::In => " %in% ",
            Self::Colon => ":",
            Self::Power => "^",
        }
    }
}

impl Node {
    /// A node with its height.
    pub(crate) fn new(kind: Kind, span: Range<usize>) -> Self {
        let mut height = 0;
        each_child(&kind, &mut |child: &Self| height = height.max(child.height));
        Self { kind, span, height: height.saturating_add(1) }
    }

    /// A column by its name.
    pub(crate) fn name(name: &str) -> Self {
        Self::new(Kind::Name(name.to_owned()), 0..0)
    }

    /// The node without parentheses around it.
    pub(crate) fn bare(&self) -> &Self {
        match &self.kind {
            Kind::Group(inner) => inner.bare(),
            _ => self,
        }
    }

    /// Calls `see` on this node and everything in it, from left to right.
    pub(crate) fn walk<'n>(&'n self, see: &mut impl FnMut(&'n Self)) {
        see(self);
        each_child(&self.kind, &mut |child| child.walk(see));
    }

    /// The columns that it names, in order, each once.
    pub(crate) fn columns(&self) -> Vec<&str> {
        let mut names = Vec::new();
        self.walk(&mut |node| {
            if let Kind::Name(name) = &node.kind
                && !names.contains(&name.as_str())
            {
                names.push(name.as_str());
            }
        });
        names
    }
}

fn each_child<'n>(kind: &'n Kind, see: &mut dyn FnMut(&'n Node)) {
    match kind {
        Kind::Number(_) | Kind::Text(_) | Kind::Logical(_) | Kind::Name(_) | Kind::Dot => {}
        Kind::Group(inner) | Kind::Unary(_, inner) => see(inner),
        Kind::Binary(_, left, right) => {
            see(left);
            see(right);
        }
        Kind::List(items) => items.iter().for_each(see),
        Kind::Sum(terms) => terms.iter().for_each(|(_, term)| see(term)),
        Kind::Call(_, arguments) => arguments.iter().for_each(|argument| see(&argument.value)),
    }
}

/// Whether a name can be written without backquotes.
fn is_plain(name: &str) -> bool {
    let mut characters = name.chars();
    let first = characters.next().is_some_and(|c| c.is_alphabetic() || c == '.');
    let number =
        name.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()));
    first
        && !number
        && name.chars().all(|c| c.is_alphanumeric() || c == '.' || c == '_')
        && !matches!(name, "." | "TRUE" | "FALSE" | "Inf" | "NA")
}

/// A name as it is written in a formula.
pub(crate) fn written_name(name: &str) -> String {
    if is_plain(name) {
        name.to_owned()
    } else {
        format!("`{}`", name.replace('\\', "\\\\").replace('`', "\\`"))
    }
}

fn written_text(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Number(value) if *value == f64::INFINITY => f.write_str("Inf"),
            Kind::Number(value) => f.write_str(&number(*value)),
            Kind::Text(text) => f.write_str(&written_text(text)),
            Kind::Logical(value) => f.write_str(if *value { "TRUE" } else { "FALSE" }),
            Kind::Name(name) => f.write_str(&written_name(name)),
            Kind::Dot => f.write_str("."),
            Kind::Group(inner) => write!(f, "({inner})"),
            Kind::Unary(Unary::Minus, inner) => write!(f, "-{inner}"),
            Kind::Unary(Unary::Plus, inner) => write!(f, "+{inner}"),
            Kind::Unary(Unary::Not, inner) => write!(f, "!{inner}"),
            Kind::Binary(operator, left, right) => {
                write!(f, "{left}{}{right}", operator.spelling())
            }
            Kind::Sum(terms) => {
                for (index, (minus, term)) in terms.iter().enumerate() {
                    match (index, minus) {
                        (0, false) => {}
                        (0, true) => f.write_str("-")?,
                        (_, false) => f.write_str(" + ")?,
                        (_, true) => f.write_str(" - ")?,
                    }
                    write!(f, "{term}")?;
                }
                Ok(())
            }
            Kind::List(items) => {
                f.write_str("c(")?;
                for (index, item) in items.iter().enumerate() {
                    write!(f, "{}{item}", if index > 0 { ", " } else { "" })?;
                }
                f.write_str(")")
            }
            Kind::Call(function, arguments) => {
                write!(f, "{function}(")?;
                for (index, argument) in arguments.iter().enumerate() {
                    f.write_str(if index > 0 { ", " } else { "" })?;
                    if let Some(name) = &argument.name {
                        write!(f, "{name} = ")?;
                    }
                    write!(f, "{}", argument.value)?;
                }
                f.write_str(")")
            }
        }
    }
}

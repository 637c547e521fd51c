//! The parts of a question by role: what the formula and the options name, looked up in a table.

use std::borrow::Cow;
use std::collections::HashSet;

use crate::column::Column;
use crate::error::DataError;
use crate::evaluate::{Source, Type};
use crate::formula::syntax::{Kind, Node};
use crate::formula::terms::Terms;
use crate::formula::{Formula, FormulaError};
use crate::groups::GroupPlan;
use crate::plan::Plan;
use crate::question::{FamilyName, Question, Role};
use crate::smooths::SmoothPlan;

/// The expressions of a question by role, each checked against the columns of a table.
#[derive(Debug)]
pub(crate) struct Roles {
    pub(crate) response: Node,
    pub(crate) trials: Option<Node>,
    /// The offset is their sum.
    pub(crate) offsets: Vec<Node>,
    pub(crate) weights: Option<Node>,
    pub(crate) event: Option<Node>,
    pub(crate) upper: Option<Node>,
    pub(crate) terms: Terms,
    /// What each variable of the terms is.
    pub(crate) plans: Vec<Plan>,
    pub(crate) groups: Vec<GroupPlan>,
    pub(crate) smooths: Vec<SmoothPlan>,
    /// Whether the coding of factors has a constant to differ from.
    pub(crate) constant: bool,
}

impl Roles {
    pub(crate) fn new(source: &Source<'_>, question: &Question) -> Result<Self, DataError> {
        let mut taken = Taken { source, formula: &question.formula, names: Vec::new() };
        let left = question.formula.left()?;
        let response = taken.response(left.response)?;
        let trials = taken.one(left.trials, &question.trials, Role::Trials)?;
        let offset = taken.one(None, &question.offset, Role::Offset)?;
        let weights = taken.one(None, &question.weights, Role::Weights)?;
        let event = taken.one(left.event, &question.event, Role::Event)?;
        let upper = taken.one(left.upper, &question.upper, Role::Upper)?;
        check_family(question.family, trials.is_some(), event.is_some(), upper.is_some())?;
        for name in &question.exclude {
            source.find(name, Role::Exclude)?;
        }
        check_listed_once(&question.formula)?;
        let apart: Vec<String> =
            question.exclude.iter().cloned().chain(grouping_columns(&question.formula)?).collect();
        let terms = question.formula.terms(&taken.others(&apart))?;
        let text = question.formula.text();
        let excluded = question.exclude.iter().map(|name| (name.clone(), Role::Exclude));
        taken.names.extend(excluded);
        for node in &terms.variables {
            taken.predictor(node, Role::Predictor)?;
        }
        for group in &terms.groups {
            for node in &group.slopes.variables {
                taken.predictor(node, Role::Predictor)?;
            }
            for node in &group.factors {
                taken.predictor(node, Role::Group)?;
            }
        }
        let plan = |node: &Node| Plan::new(source, text, node);
        let plans = terms.variables.iter().map(plan).collect::<Result<Vec<Plan>, DataError>>()?;
        let groups = terms.groups.iter().map(|group| GroupPlan::new(source, text, group));
        let groups = groups.collect::<Result<Vec<GroupPlan>, DataError>>()?;
        let smooths = smooths(source, text, &terms.smooths)?;
        for smooth in &smooths {
            taken.predictor(&smooth.x, Role::Predictor)?;
            if let Some(by) = &smooth.by {
                taken.predictor(by.node(), Role::Predictor)?;
            }
        }
        for node in &terms.offsets {
            taken.number(node)?;
        }
        let thresholds = question.family == FamilyName::Ordinal;
        let none = terms.terms.is_empty() && smooths.is_empty();
        let compared = groups.iter().any(|group| group.pair.is_some());
        if none && !compared && !terms.intercept && !thresholds {
            return Err(DataError::NoCoefficients);
        }
        let constant = terms.intercept || thresholds;
        let offsets = offset.into_iter().chain(terms.offsets.iter().cloned()).collect();
        Ok(Self {
            response,
            trials,
            offsets,
            weights,
            event,
            upper,
            terms,
            plans,
            groups,
            smooths,
            constant,
        })
    }

    /// Every expression with its role.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Node, Role)> {
        let one = [
            (&self.trials, Role::Trials),
            (&self.weights, Role::Weights),
            (&self.event, Role::Event),
            (&self.upper, Role::Upper),
        ];
        let one = one.into_iter().filter_map(|(node, role)| Some((node.as_ref()?, role)));
        let offsets = self.offsets.iter().map(|node| (node, Role::Offset));
        let slopes = self.groups.iter().flat_map(|group| &group.plans);
        let smooths = self.smooths.iter().flat_map(SmoothPlan::nodes);
        let keys = self.groups.iter().flat_map(|group| &group.keys);
        std::iter::once((&self.response, Role::Response))
            .chain(one)
            .chain(offsets)
            .chain(self.plans.iter().map(|plan| (plan.node(), Role::Predictor)))
            .chain(slopes.map(|plan| (plan.node(), Role::Predictor)))
            .chain(smooths.map(|node| (node, Role::Predictor)))
            .chain(keys.map(|key| (&key.of, Role::Group)))
    }

    /// Every column in use: the response first, then the predictors, columns that only group rows
    /// last.
    pub(crate) fn columns<'s>(&self, source: &'s Source<'_>) -> Vec<Use<'s>> {
        let mut seen = HashSet::new();
        let mut all = Vec::new();
        for (node, role) in self.all() {
            for name in node.columns() {
                if let (true, Some(column)) = (seen.insert(name.to_owned()), source.column(name)) {
                    let alone = matches!(node.kind, Kind::Name(_));
                    all.push(Use { column, role, alone });
                }
            }
        }
        all
    }
}

/// A column in use.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Use<'s> {
    pub(crate) column: &'s Column,
    pub(crate) role: Role,
    /// Whether it is used as it is, not in an expression.
    alone: bool,
}

impl Use<'_> {
    /// The role that decides which values it may have. What an expression needs was checked.
    pub(crate) fn needs(&self) -> Role {
        if self.alone { self.role } else { Role::Predictor }
    }
}

/// Columns that have a role.
struct Taken<'a> {
    source: &'a Source<'a>,
    formula: &'a Formula,
    names: Vec<(String, Role)>,
}

impl Taken<'_> {
    fn response(&mut self, node: Node) -> Result<Node, DataError> {
        if let (Kind::Name(name), true) = (&node.kind, self.formula.text().is_empty()) {
            self.source.find(name, Role::Response)?;
        }
        if self.source.check(self.formula.text(), &node)? != Type::Text {
            self.number(&node)?;
        }
        self.take(&node, Role::Response)?;
        Ok(node)
    }

    /// The expression of a role, from the formula or from an option.
    fn one(
        &mut self, written: Option<Node>, option: &Option<String>, role: Role,
    ) -> Result<Option<Node>, DataError> {
        let node = match (written, option) {
            (Some(_), Some(column)) => {
                let column = column.clone();
                return Err(DataError::TwiceGiven { role, column });
            }
            (None, None) => return Ok(None),
            (Some(node), None) => {
                self.number(&node)?;
                node
            }
            (None, Some(column)) => {
                self.source.find(column, role)?;
                Node::name(column)
            }
        };
        self.take(&node, role)?;
        Ok(Some(node))
    }

    /// Checks that an expression has numbers in every row that depend on this row alone.
    fn number(&self, node: &Node) -> Result<(), DataError> {
        let text = self.formula.text();
        let kind = self.source.check(text, node)?;
        let mut learns = None;
        node.walk(&mut |part| {
            if crate::plan::is_scale(part) {
                learns = Some(part);
            }
        });
        if let Some(part) = learns {
            let message =
                format!("found `{part}`, which depends on all rows: it can only be a predictor");
            return Err(FormulaError::new(text, &part.span, message).into());
        }
        // Text in a column of its own is reported with its first value.
        if kind == Type::Text && !matches!(node.kind, Kind::Name(_)) {
            let message = format!("found `{node}`, need numbers here");
            return Err(FormulaError::new(text, &node.span, message).into());
        }
        Ok(())
    }

    /// Gives the columns of an expression a role, which only one may have. Parts of a response may
    /// share columns in expressions: `cbind(dead, n - dead)`.
    fn take(&mut self, node: &Node, role: Role) -> Result<(), DataError> {
        let alone = matches!(node.kind, Kind::Name(_));
        for name in node.columns() {
            match self.names.iter().find(|(other, _)| other == name) {
                Some(&(_, first)) if alone => {
                    let (column, second) = (name.to_owned(), role);
                    return Err(DataError::UsedTwice { column, first, second });
                }
                Some(_) => {}
                None => self.names.push((name.to_owned(), role)),
            }
        }
        Ok(())
    }

    /// Checks that a variable has no column with another role. A column of weights, trials or
    /// offsets may still be part of an expression.
    fn predictor(&self, node: &Node, second: Role) -> Result<(), DataError> {
        let plain = matches!(node.kind, Kind::Name(_));
        for name in node.columns() {
            let Some(&(_, first)) = self.names.iter().find(|(other, _)| other == name) else {
                continue;
            };
            if plain || matches!(first, Role::Response | Role::Event | Role::Upper | Role::Exclude)
            {
                let column = name.to_owned();
                return Err(DataError::UsedTwice { column, first, second });
            }
        }
        Ok(())
    }

    /// The columns that `.` stands for.
    fn others(&self, exclude: &[String]) -> Vec<&str> {
        let taken: HashSet<&str> =
            self.names.iter().map(|(name, _)| name).chain(exclude).map(String::as_str).collect();
        let names = self.source.table.columns().iter().map(Column::name);
        names.filter(|name| !taken.contains(name)).collect()
    }
}

/// Trials, events and ends of intervals belong to some families only.
fn check_family(
    family: FamilyName, trials: bool, event: bool, upper: bool,
) -> Result<(), DataError> {
    if trials && !family.is_binomial() {
        return Err(DataError::TrialsFamily { family });
    }
    let found = [(Role::Event, event), (Role::Upper, upper)].into_iter().find(|(_, given)| *given);
    match found {
        Some((role, _)) if !family.is_survival() => Err(DataError::RoleFamily { role, family }),
        _ => Ok(()),
    }
}

/// In a list of predictors, a column occurs once.
fn check_listed_once(formula: &Formula) -> Result<(), DataError> {
    match formula.listed_twice() {
        Some(column) => Err(DataError::ListedTwice { column: column.to_owned() }),
        None => Ok(()),
    }
}

/// The smooth terms, each once.
fn smooths(source: &Source<'_>, of: &str, nodes: &[Node]) -> Result<Vec<SmoothPlan>, DataError> {
    let mut all: Vec<SmoothPlan> = Vec::new();
    for node in nodes {
        let smooth = SmoothPlan::new(source, of, node)?;
        if let Some(other) = all.iter().find(|other| other.same(&smooth)) {
            let message = format!("the smooth is there twice, as {} and as {node}", other.node);
            return Err(FormulaError::new(of, &node.span, message).into());
        }
        all.push(smooth);
    }
    Ok(all)
}

/// The columns that a formula groups rows by or has smooths of, for which `.` does not stand.
fn grouping_columns(formula: &Formula) -> Result<Vec<String>, DataError> {
    // A list of columns has none.
    if formula.text().is_empty() {
        return Ok(Vec::new());
    }
    let terms = formula.terms(&[])?;
    let keys = terms.groups.iter().flat_map(|group| &group.factors);
    let smooth = |node: &Node| match &node.kind {
        Kind::Call(_, arguments) => arguments
            .iter()
            .filter(|argument| argument.name.as_deref().is_none_or(|name| name == "x"))
            .flat_map(|argument| argument.value.columns())
            .map(str::to_owned)
            .collect::<Vec<String>>(),
        _ => Vec::new(),
    };
    let smooths = terms.smooths.iter().flat_map(smooth);
    Ok(keys.flat_map(Node::columns).map(str::to_owned).chain(smooths).collect())
}

/// The values of an expression that are needed as numbers or texts of their own: a column of the
/// table, or computed ones.
#[derive(Debug)]
pub(crate) struct Parts<'t> {
    pub(crate) response: Cow<'t, Column>,
    pub(crate) trials: Option<Cow<'t, Column>>,
    pub(crate) weights: Option<Cow<'t, Column>>,
    pub(crate) event: Option<Cow<'t, Column>>,
    pub(crate) upper: Option<Cow<'t, Column>>,
}

impl<'t> Parts<'t> {
    /// The parts in the rows that are kept; other rows of computed parts are missing.
    pub(crate) fn new(
        source: &Source<'t>, roles: &Roles, kept: &[usize],
    ) -> Result<Self, DataError> {
        let open = |role| roles.upper.is_some() && matches!(role, Role::Response | Role::Upper);
        let part = |node: &Node, role| source.part(node, kept, open(role));
        let maybe =
            |node: &Option<Node>, role| node.as_ref().map(|node| part(node, role)).transpose();
        Ok(Self {
            response: part(&roles.response, Role::Response)?,
            trials: maybe(&roles.trials, Role::Trials)?,
            weights: maybe(&roles.weights, Role::Weights)?,
            event: maybe(&roles.event, Role::Event)?,
            upper: maybe(&roles.upper, Role::Upper)?,
        })
    }

    /// Parts that were computed.
    pub(crate) fn computed(&self) -> impl Iterator<Item = &Column> {
        let others = [&self.trials, &self.weights, &self.event, &self.upper];
        let all = std::iter::once(&self.response).chain(others.into_iter().flatten());
        all.filter_map(|part| match part {
            Cow::Owned(column) => Some(column),
            Cow::Borrowed(_) => None,
        })
    }
}

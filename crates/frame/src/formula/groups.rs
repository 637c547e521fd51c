//! Group effects: `(1 + x | g)`, `(x || g)`, `(1 | a/b)`. Each becomes one or more groupings, whose
//! left side is expanded like the right side of a formula.

use super::error::FormulaError;
use super::syntax::{Binary, Kind, Node};
use super::terms::{Term, Terms, expand};

/// Effects that vary with the levels of one grouping factor.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Group {
    /// The effects as written, for messages.
    pub(crate) node: Node,
    /// The columns whose combinations are the levels.
    pub(crate) factors: Vec<Node>,
    /// What varies: an intercept, and terms.
    pub(crate) slopes: Terms,
}

impl Group {
    /// The grouping factor: `g` or `a:b`.
    pub(crate) fn name(&self) -> String {
        let names: Vec<String> = self.factors.iter().map(ToString::to_string).collect();
        names.join(":")
    }

    /// The effects by their spelling, whatever the order of factors.
    fn effects(&self) -> Vec<String> {
        let label = |term: &Term| {
            let mut names: Vec<String> =
                term.iter().map(|v| self.slopes.variables[*v].to_string()).collect();
            names.sort_unstable();
            names.join(":")
        };
        let intercept = self.slopes.intercept.then(|| "1".to_owned());
        intercept.into_iter().chain(self.slopes.terms.iter().map(label)).collect()
    }

    fn same_factors(&self, other: &Self) -> bool {
        let sorted = |group: &Self| {
            let mut names: Vec<String> = group.factors.iter().map(ToString::to_string).collect();
            names.sort_unstable();
            names
        };
        sorted(self) == sorted(other)
    }
}

/// The groupings of `left | right` or `left || right` in the formula `text`.
pub(crate) fn groups(
    text: &str, node: &Node, columns: &[&str],
) -> Result<Vec<Group>, FormulaError> {
    let Kind::Binary(operator, left, right) = &node.kind else { return Ok(Vec::new()) };
    let slopes = expand(text, left, columns)?;
    if !slopes.groups.is_empty() || !slopes.smooths.is_empty() || !slopes.offsets.is_empty() {
        let message = format!("found `{left}`, need 1 or predictors on the left of the bar");
        return Err(FormulaError::new(text, &left.span, message));
    }
    let slopes = if *operator == Binary::Bars { apart(&slopes) } else { vec![slopes] };
    let factors = factors(text, right)?;
    let group = |factors: &Vec<Node>, slopes: &Terms| Group {
        node: node.clone(),
        factors: factors.clone(),
        slopes: slopes.clone(),
    };
    Ok(factors.iter().flat_map(|all| slopes.iter().map(move |slopes| group(all, slopes))).collect())
}

/// Checks that no effect of a grouping factor is there twice.
pub(crate) fn check_once(text: &str, groups: &[Group]) -> Result<(), FormulaError> {
    for (k, group) in groups.iter().enumerate() {
        let effects = group.effects();
        for other in groups[..k].iter().filter(|other| other.same_factors(group)) {
            let Some(twice) = other.effects().into_iter().find(|effect| effects.contains(effect))
            else {
                continue;
            };
            let what = match twice.as_str() {
                "1" => "the intercept".to_owned(),
                term => format!("`{term}`"),
            };
            let name = group.name();
            let remedy = match twice.as_str() {
                "1" => "; 0 + leaves the intercept out, as in (0 + x | g)",
                _ => "",
            };
            let message = format!(
                "{what} varies with `{name}` twice, in ({}) and in ({}), need it once{remedy}",
                other.node, group.node
            );
            return Err(FormulaError::new(text, &group.node.span, message));
        }
    }
    Ok(())
}

/// The intercept and each term by themselves, for `||`.
fn apart(all: &Terms) -> Vec<Terms> {
    let intercept = Terms { intercept: true, ..Terms::default() };
    let alone = |term: &Term| Terms {
        variables: term.iter().map(|v| all.variables[*v].clone()).collect(),
        terms: vec![(0..term.len()).collect()],
        ..Terms::default()
    };
    all.intercept.then_some(intercept).into_iter().chain(all.terms.iter().map(alone)).collect()
}

/// The grouping factors on the right of a bar, each a product of columns: `a/b` is `a` and `a:b`.
fn factors(text: &str, node: &Node) -> Result<Vec<Vec<Node>>, FormulaError> {
    let error = |message: String| Err(FormulaError::new(text, &node.span, message));
    let join = |left: &[Node], right: &[Node]| {
        let mut all = left.to_vec();
        for node in right {
            if !all.iter().any(|other| other.to_string() == node.to_string()) {
                all.push(node.clone());
            }
        }
        all
    };
    match &node.kind {
        Kind::Group(inner) => factors(text, inner),
        Kind::Name(_) | Kind::Call(..) => Ok(vec![vec![node.clone()]]),
        Kind::Binary(Binary::Colon, left, right) => {
            let (left, right) = (factors(text, left)?, factors(text, right)?);
            Ok(left.iter().flat_map(|a| right.iter().map(move |b| join(a, b))).collect())
        }
        Kind::Binary(Binary::Divide, left, right) => {
            let (mut all, right) = (factors(text, left)?, factors(text, right)?);
            let inside = all.iter().fold(Vec::new(), |inside, part| join(&inside, part));
            all.extend(right.iter().map(|part| join(&inside, part)));
            Ok(all)
        }
        Kind::Sum(_) => error(format!(
            "found `{node}`, need a term for each grouping factor, as in (1 | a) + (1 | b)"
        )),
        Kind::Binary(Binary::Times, ..) => error(format!(
            "found `{node}`, need a term for each grouping factor, as in (1 | a) + (1 | b) + (1 | a:b)"
        )),
        _ => error(format!("found `{node}`, need a grouping factor such as g, a:b or a/b")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::terms::expand;

    /// The groupings: what varies, and with what.
    fn labels(text: &str) -> String {
        let (_, right) = parse::formula(text).unwrap();
        let found = expand(text, &right, &["x"]).unwrap();
        let label =
            |group: &super::Group| format!("{} | {}", group.effects().join(" + "), group.name());
        found.groups.iter().map(label).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn bars_are_expanded_as_in_lme4() {
        for (text, need) in [
            ("y ~ x + (1 | g)", "1 | g"),
            ("y ~ (x | g)", "1 + x | g"),
            ("y ~ (0 + x | g) + (1 | g)", "x | g, 1 | g"),
            ("y ~ (x * z || g)", "1 | g, x | g, z | g, x:z | g"),
            ("y ~ (0 + x || g)", "x | g"),
            ("y ~ (1 | a/b/c)", "1 | a, 1 | a:b, 1 | a:b:c"),
            ("y ~ (x | a:b) + (1 | a)", "1 + x | a:b, 1 | a"),
            ("y ~ (1 | (a/b)) + (x - 1 | factor(k))", "1 | a, 1 | a:b, x | factor(k)"),
            ("y ~ (poly(x, 2) | g)", "1 + poly(x, 2) | g"),
        ] {
            assert_eq!(labels(text), need, "{text}");
        }
    }

    #[test]
    fn what_is_no_group_effect_is_refused() {
        for (text, need) in [
            (
                "y ~ (1 | g) + (1 | g)",
                "the intercept varies with `g` twice, in (1 | g) and in (1 | g)",
            ),
            ("y ~ (1 | g) + (x | g)", "0 + leaves the intercept out"),
            ("y ~ (1 | a:b) + (1 | b:a)", "the intercept varies with `b:a` twice"),
            ("y ~ (1 | a) + (1 | a/b)", "the intercept varies with `a` twice"),
            ("y ~ (x | g) + (0 + x | g)", "`x` varies with `g` twice"),
            ("y ~ (1 | a + b)", "need a term for each grouping factor, as in (1 | a) + (1 | b)"),
            ("y ~ (1 | a * b)", "(1 | a) + (1 | b) + (1 | a:b)"),
            ("y ~ (1 | 2)", "need a grouping factor such as g"),
            ("y ~ (s(x) | g)", "need 1 or predictors on the left of the bar"),
            ("y ~ ((1 | h) | g)", "need 1 or predictors on the left of the bar"),
        ] {
            let (_, right) = parse::formula(text).unwrap();
            let error = expand(text, &right, &[]).unwrap_err().to_string();
            assert!(error.contains(need), "{text}: {error}");
        }
    }
}

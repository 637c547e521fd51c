//! The algebra of formulas: from the right-hand side to terms, in R's order, and how each term codes
//! its factors, by R's rule (Chambers and Hastie, Statistical Models in S, 1992, page 38).

use std::collections::{HashMap, HashSet};

use super::error::FormulaError;
use super::groups::{Group, check_once, groups};
use super::syntax::{Binary, Kind, Node, Unary};

/// More terms than this are refused while they are made.
const MAX_TERMS: usize = 20_000;

/// The right-hand side of a formula.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Terms {
    /// What terms are made of, in the order of the formula.
    pub(crate) variables: Vec<Node>,
    /// Main effects first, then interactions of two, and so on.
    pub(crate) terms: Vec<Term>,
    /// Whether there is an intercept.
    pub(crate) intercept: bool,
    /// The arguments of `offset(...)`.
    pub(crate) offsets: Vec<Node>,
    /// Group effects, one for each grouping factor and each of the parts of `x || g`.
    pub(crate) groups: Vec<Group>,
    /// Smooth terms: `s(x)`.
    pub(crate) smooths: Vec<Node>,
}

/// A product of variables, by their numbers in increasing order.
pub(crate) type Term = Vec<usize>;

/// Expands the right-hand side of the formula `text`; `.` stands for `columns`.
pub(crate) fn expand(text: &str, right: &Node, columns: &[&str]) -> Result<Terms, FormulaError> {
    let mut algebra = Algebra { text, columns, known: HashMap::new(), found: Terms::default() };
    algebra.found.intercept = true;
    let mut terms = algebra.side(right)?;
    // A stable sort: within an order, terms stay as they were written.
    terms.sort_by_key(Vec::len);
    algebra.found.terms = terms;
    algebra.found.forget_unused();
    check_once(text, &algebra.found.groups)?;
    Ok(algebra.found)
}

impl Terms {
    /// Drops the variables of terms that were removed.
    fn forget_unused(&mut self) {
        let used: HashSet<usize> = self.terms.iter().flatten().copied().collect();
        let mut numbers = HashMap::new();
        let variables = std::mem::take(&mut self.variables).into_iter().enumerate();
        for (number, node) in variables.filter(|(number, _)| used.contains(number)) {
            numbers.insert(number, self.variables.len());
            self.variables.push(node);
        }
        self.terms.iter_mut().flatten().for_each(|variable| *variable = numbers[variable]);
    }
}

struct Algebra<'t> {
    text: &'t str,
    columns: &'t [&'t str],
    /// The number of each variable, by its spelling.
    known: HashMap<String, usize>,
    found: Terms,
}

impl Algebra<'_> {
    fn error<T>(&self, node: &Node, message: impl Into<String>) -> Result<T, FormulaError> {
        Err(FormulaError::new(self.text, &node.span, message))
    }

    /// The terms of a sum at the top, where the intercept may be added or removed.
    fn side(&mut self, node: &Node) -> Result<Vec<Term>, FormulaError> {
        let alone;
        let parts: &[(bool, Node)] = match &node.kind {
            Kind::Sum(parts) => parts,
            _ => {
                alone = [(false, node.clone())];
                &alone
            }
        };
        let mut all = Vec::new();
        for (minus, part) in parts {
            let (minus, part) = match &part.kind {
                Kind::Unary(Unary::Minus, inner) => (!minus, &**inner),
                Kind::Unary(Unary::Plus, inner) => (*minus, &**inner),
                _ => (*minus, part),
            };
            match &part.kind {
                Kind::Number(1.0) => self.found.intercept = !minus,
                Kind::Number(0.0) => self.found.intercept = minus,
                Kind::Group(inner) if is_group(inner) => self.group(inner, minus)?,
                // `(a + b)` adds both; `- (a - 1)` has no use.
                Kind::Sum(_) if !minus => all.extend(self.side(part)?),
                Kind::Group(inner) if !minus && matches!(inner.kind, Kind::Sum(_)) => {
                    all.extend(self.side(inner)?);
                }
                Kind::Call(function, arguments) if function == "offset" => {
                    let [argument] = &arguments[..] else {
                        return self
                            .error(part, "offset() needs one argument, such as offset(log(n))");
                    };
                    if minus {
                        return self.error(part, "an offset cannot be subtracted: need offset(-x)");
                    }
                    self.found.offsets.push(argument.value.clone());
                }
                Kind::Call(function, _) if function == "s" && !minus => {
                    self.found.smooths.push(part.clone());
                }
                _ if minus => {
                    let removed: HashSet<Term> = self.terms(part)?.into_iter().collect();
                    all.retain(|term| !removed.contains(term));
                }
                _ => all.extend(self.terms(part)?),
            }
            self.check_count(&all, part)?;
        }
        Ok(unique(all))
    }

    fn group(&mut self, inner: &Node, minus: bool) -> Result<(), FormulaError> {
        if minus {
            return self.error(inner, "group effects cannot be subtracted: leave them out instead");
        }
        self.found.groups.extend(groups(self.text, inner, self.columns)?);
        Ok(())
    }

    /// The terms of an expression.
    fn terms(&mut self, node: &Node) -> Result<Vec<Term>, FormulaError> {
        let found = match &node.kind {
            Kind::Group(inner) => {
                if is_group(inner) {
                    return self.error(node, "group effects such as (1 | g) can only be added");
                }
                self.terms(inner)?
            }
            Kind::Sum(parts) => {
                let mut all = Vec::new();
                for (minus, part) in parts {
                    let terms = self.terms(part)?;
                    if *minus {
                        all.retain(|term| !terms.contains(term));
                    } else {
                        all.extend(terms);
                    }
                    self.check_count(&all, part)?;
                }
                unique(all)
            }
            Kind::Dot => {
                let columns = self.columns;
                columns.iter().map(|name| self.variable(&Node::name(name))).collect()
            }
            Kind::Binary(operator, left, right) => {
                return self.product(node, *operator, left, right);
            }
            Kind::Number(value) => {
                let what = match *value {
                    0.0 | 1.0 => "the intercept can only be added or removed at the end of a sum",
                    _ => "a number other than 0 and 1 is no predictor; in I(...) it is arithmetic",
                };
                return self.error(node, format!("found `{node}`: {what}"));
            }
            Kind::Call(function, _) if function == "offset" || function == "s" => {
                return self
                    .error(node, format!("{function}(...) can only be added to the predictors"));
            }
            Kind::Name(_) | Kind::Call(..) => vec![self.variable(node)],
            Kind::Unary(Unary::Not, _) => vec![self.variable(node)],
            Kind::Text(_) | Kind::Logical(_) | Kind::List(_) | Kind::Unary(..) => {
                return self.error(
                    node,
                    format!("found `{node}`, need a column or a function of columns"),
                );
            }
        };
        Ok(found)
    }

    fn product(
        &mut self, node: &Node, operator: Binary, left: &Node, right: &Node,
    ) -> Result<Vec<Term>, FormulaError> {
        if operator.is_logical() && operator != Binary::In {
            if matches!(operator, Binary::Or | Binary::Bars) {
                return self.error(node, format!("group effects need parentheses: ({node})"));
            }
            return Ok(vec![self.variable(node)]);
        }
        if operator == Binary::Power {
            return self.power(node, left, right);
        }
        if matches!(operator, Binary::Remainder | Binary::Quotient) {
            return self.error(node, format!("found `{node}`, need I({node}) for arithmetic"));
        }
        let (left, right) = (self.terms(left)?, self.terms(right)?);
        if left.len().saturating_mul(right.len()) > MAX_TERMS {
            return self.error(node, format!("found more than {MAX_TERMS} terms, need fewer"));
        }
        let union_of =
            |terms: &[Term]| terms.iter().fold(Term::new(), |all, term| union(&all, term));
        let all = match operator {
            Binary::Colon => pairs(&left, &right),
            Binary::Times => {
                let both = pairs(&left, &right);
                [left, right, both].concat()
            }
            Binary::In => {
                let inside = union_of(&right);
                left.iter().map(|term| union(term, &inside)).collect()
            }
            // `a / b` is a + a:b.
            _ => {
                let inside = union_of(&left);
                let nested: Vec<Term> = right.iter().map(|term| union(term, &inside)).collect();
                [left, nested].concat()
            }
        };
        Ok(unique(all))
    }

    fn power(&mut self, node: &Node, left: &Node, right: &Node) -> Result<Vec<Term>, FormulaError> {
        let times = match right.bare().kind {
            Kind::Number(times) if times >= 1.0 && times.fract() == 0.0 => times,
            _ => {
                return self
                    .error(right, format!("found `{right}`, need a whole number of at least 1"));
            }
        };
        let base = self.terms(left)?;
        if base.len() == 1
            && times > 1.0
            && matches!(left.bare().kind, Kind::Name(_) | Kind::Call(..))
        {
            return self.error(
                node,
                format!("`{node}` crosses `{left}` with itself, which is `{left}`: write I({node}) for the power"),
            );
        }
        let mut all = base.clone();
        let mut done = 1.0;
        while done < times {
            if base.len().saturating_mul(all.len()) > MAX_TERMS {
                return self.error(node, format!("found more than {MAX_TERMS} terms, need fewer"));
            }
            let next = unique(pairs(&base, &all));
            // Once every product is there, further powers add nothing.
            if next.len() == all.len() {
                return Ok(next);
            }
            all = next;
            done += 1.0;
        }
        Ok(all)
    }

    /// The term of one variable.
    fn variable(&mut self, node: &Node) -> Term {
        let next = self.found.variables.len();
        let number = *self.known.entry(node.to_string()).or_insert(next);
        if number == next {
            self.found.variables.push(node.clone());
        }
        vec![number]
    }

    fn check_count(&self, terms: &[Term], node: &Node) -> Result<(), FormulaError> {
        // Sums of columns may be longer: the number of coefficients bounds them.
        if terms.len() > MAX_TERMS.max(self.columns.len()) {
            return self.error(node, format!("found more than {MAX_TERMS} terms, need fewer"));
        }
        Ok(())
    }
}

/// Whether an expression in parentheses is a group effect.
fn is_group(node: &Node) -> bool {
    matches!(node.kind, Kind::Binary(Binary::Or | Binary::Bars, ..))
}

fn union(left: &[usize], right: &[usize]) -> Term {
    let mut all = [left, right].concat();
    all.sort_unstable();
    all.dedup();
    all
}

fn pairs(left: &[Term], right: &[Term]) -> Vec<Term> {
    left.iter().flat_map(|a| right.iter().map(move |b| union(a, b))).collect()
}

/// The terms without repetitions, each where it is first.
fn unique(terms: Vec<Term>) -> Vec<Term> {
    let mut seen = HashSet::with_capacity(terms.len());
    terms.into_iter().filter(|term| seen.insert(term.clone())).collect()
}

/// For each term and each of its variables, whether a factor there has a column for every level
/// rather than contrasts. `constant` is whether contrasts of main effects have a constant to differ
/// from.
pub(crate) fn full_coding(terms: &[Term], is_factor: &[bool], constant: bool) -> Vec<Vec<bool>> {
    let without = |term: &Term, variable: usize| -> Term {
        term.iter().copied().filter(|other| *other != variable).collect()
    };
    let within = |part: &Term, term: &Term| part.iter().all(|variable| term.contains(variable));
    let full = |index: usize, term: &Term, variable: usize| {
        let rest = without(term, variable);
        !rest.is_empty() && !terms[..index].iter().any(|earlier| within(&rest, earlier))
    };
    let of = |variable: &usize| is_factor.get(*variable) == Some(&true);
    let mut coding: Vec<Vec<bool>> = terms
        .iter()
        .enumerate()
        .map(|(index, term)| {
            term.iter().map(|variable| of(variable) && full(index, term, *variable)).collect()
        })
        .collect();
    if !constant {
        let first = terms
            .iter()
            .enumerate()
            .find_map(|(index, term)| term.iter().position(of).map(|position| (index, position)));
        if let Some((index, position)) = first {
            coding[index][position] = true;
        }
    }
    coding
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    /// The terms as R labels them; a variable that is coded in full ends in `*`.
    fn labels(text: &str, factors: &str) -> Vec<String> {
        let (_, right) = parse::formula(text).unwrap();
        let found = expand(text, &right, &["x", "z", "f"]).unwrap();
        let names: Vec<String> = found.variables.iter().map(ToString::to_string).collect();
        let is_factor: Vec<bool> = names.iter().map(|name| factors.contains(name)).collect();
        let coding = full_coding(&found.terms, &is_factor, found.intercept);
        let mut all: Vec<String> = found.intercept.then(|| "1".to_owned()).into_iter().collect();
        for (term, full) in found.terms.iter().zip(coding) {
            let name = |(v, full): (&usize, &bool)| {
                format!("{}{}", names[*v], if *full { "*" } else { "" })
            };
            all.push(term.iter().zip(&full).map(name).collect::<Vec<_>>().join(":"));
        }
        all
    }

    #[test]
    fn terms_are_those_of_r() {
        // By `attr(terms(...), "factors")` and `model.matrix` in R.
        for (text, need) in [
            ("y ~ a*b + c", "1 a b c a:b"),
            ("y ~ (a + b + c)^2", "1 a b c a:b a:c b:c"),
            ("y ~ a/b", "1 a a:b"),
            ("y ~ (a + b)/c", "1 a b a:b:c"),
            ("y ~ a*b*c - a:b:c", "1 a b c a:b a:c b:c"),
            ("y ~ . - z", "1 x f"),
            ("y ~ b + b:a", "1 b b:a"),
            ("y ~ b %in% a", "1 b:a"),
            ("y ~ 0 + a", "a"),
            ("y ~ a - 1 + b", "a b"),
            ("y ~ -1 + a", "a"),
            ("y ~ a + 0 + 1", "1 a"),
            ("y ~ a:b + a", "1 a a:b"),
            ("y ~ (a + b)^3 - b", "1 a a:b"),
            ("y ~ (a + b + c + d + e)^99 - (a + b + c + d + e)^4", "1 a:b:c:d:e"),
        ] {
            assert_eq!(labels(text, "").join(" "), need, "{text}");
        }
    }

    #[test]
    fn factors_are_coded_in_full_where_r_does() {
        for (text, need) in [
            ("y ~ f", "1 f"),
            ("y ~ 0 + f + g", "f* g"),
            ("y ~ 0 + x + f", "x f*"),
            ("y ~ f:x", "1 f*:x"),
            ("y ~ x + f:x", "1 x x:f"),
            ("y ~ f + f:x", "1 f f*:x"),
            ("y ~ f:g", "1 f*:g*"),
            ("y ~ f + f:g", "1 f f*:g"),
            ("y ~ g + f:g", "1 g g*:f"),
            ("y ~ f*g", "1 f g f:g"),
            ("y ~ 0 + f:g", "f*:g*"),
        ] {
            assert_eq!(labels(text, "fg").join(" "), need, "{text}");
        }
    }

    #[test]
    fn expressions_that_are_no_terms_are_refused() {
        for (text, need) in [
            ("y ~ x^2", "write I(x^2) for the power"),
            ("y ~ x + 2", "in I(...) it is arithmetic"),
            ("y ~ x:1", "only be added or removed"),
            ("y ~ (a + b)^c", "need a whole number"),
            ("y ~ x * offset(z)", "can only be added"),
            ("y ~ 1 | g", "group effects need parentheses: (1 | g)"),
            ("y ~ x %% 2", "need I(x%%2)"),
            (
                "y ~ (a + b + c + d + e + f + g + h + i + j + k + l + m + n + o + p)^16",
                "more than 20000",
            ),
        ] {
            let (_, right) = parse::formula(text).unwrap();
            let error = expand(text, &right, &[]).unwrap_err().to_string();
            assert!(error.contains(need), "{text}: {error}");
        }
    }
}

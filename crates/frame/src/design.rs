//! The design of a frame: what functions learn from all rows, the terms and their columns, and
//! notes on factors.

use std::collections::HashSet;

use crate::coding::{CodedTerm, Coder, Coding};
use crate::draft::Draft;
use crate::error::DataError;
use crate::evaluate::{Memory, Source};
use crate::facts::{Facts, Learning};
use crate::formula::syntax::Kind;
use crate::formula::terms::full_coding;
use crate::frame::INTERCEPT;
use crate::groups::Grouping;
use crate::matrix::Matrix;
use crate::pairs;
use crate::place::{Place, VALUE_SHOWN, listed, number, shown};
use crate::plan::Plan;
use crate::question::{FamilyName, Role};
use crate::smooths::CodedSmooth;
use crate::{MAX_COEFFICIENTS, MAX_SPARSE_COEFFICIENTS, MAX_VALUES};

/// Levels of a factor beyond which group effects are recommended.
const MANY_LEVELS: usize = 250;

/// A design and where its columns come from.
pub(crate) struct Designed {
    pub(crate) coding: Coding,
    /// The name of each column.
    pub(crate) names: Vec<String>,
    /// The term of each column.
    pub(crate) terms: Vec<String>,
    pub(crate) design: Matrix,
    pub(crate) groups: Vec<Grouping>,
}

impl Designed {
    pub(crate) fn new(
        draft: &Draft<'_>, facts: &Facts, notes: &mut Vec<String>,
    ) -> Result<Self, DataError> {
        let Draft { table, source, roles, kept, .. } = draft;
        check_bases(draft)?;
        let (mut coding, mut groups) = coding(draft, facts)?;
        coding.sparse = is_sparse(draft, &coding)?;
        let coder = Coder::new(source, &roles.plans, &coding)?;
        let lines: usize = coding.smooths.iter().map(CodedSmooth::width).sum();
        let limit = if coding.sparse { MAX_SPARSE_COEFFICIENTS } else { MAX_COEFFICIENTS };
        let (file, found) = (table.name().to_owned(), coder.width().saturating_add(lines));
        if found > limit {
            return Err(DataError::TooManyCoefficients { file, found, limit });
        }
        for term in &coding.terms {
            if let [variable] = term.variables[..] {
                check_varies(draft, &coding, variable, facts)?;
                notes.extend(pair_notes(draft, &coder, variable)?);
            }
        }
        let (names, terms) = names(&coder, &coding, table.name())?;
        notes.extend(factor_notes(draft, &coder, &coding));
        let rows = kept.len();
        if !coding.sparse && rows.saturating_mul(found) > MAX_VALUES {
            let columns = found;
            return Err(DataError::DesignTooLarge { file, rows, columns, limit: MAX_VALUES });
        }
        let design = coder.matrix(kept)?;
        let mut lines = Vec::new();
        for smooth in &coding.smooths {
            let rows = smooth.rows(source, kept)?;
            lines.extend(rows.lines);
            groups.extend(rows.groups);
        }
        Ok(Self { coding, names, terms, design: design.widened(&lines), groups })
    }
}

/// Whether only entries that are not 0 are stored. Standardized columns have no zeros, and cut
/// points need columns that are centred.
fn is_sparse(draft: &Draft<'_>, coding: &Coding) -> Result<bool, DataError> {
    let Draft { source, question, roles, .. } = draft;
    if question.standardize || question.family == FamilyName::Ordinal {
        return Ok(false);
    }
    Ok(Coder::new(source, &roles.plans, coding)?.sparse_pays())
}

/// What is remembered about the design, and the groupings of its rows.
fn coding(draft: &Draft<'_>, facts: &Facts) -> Result<(Coding, Vec<Grouping>), DataError> {
    let Draft { table, source, question, roles, kept, .. } = draft;
    let variables: Vec<String> = roles.terms.variables.iter().map(ToString::to_string).collect();
    // In a part of a table, functions learn from the values of all parts.
    let gathered = facts.learning_table(table.name())?;
    let gathered = gathered.as_ref();
    let factors = question
        .factors
        .iter()
        .filter(|name| gathered.is_none_or(|table| table.column(name).is_some()));
    let factors: Vec<String> = factors.cloned().collect();
    let others = gathered.map(|table| Source::new(table, &factors)).transpose()?;
    let all: Vec<usize> = (0..gathered.map_or(0, crate::Table::rows)).collect();
    let own = (source, &kept[..]);
    let learning = Learning { own, all: others.as_ref().map_or(own, |others| (others, &all)) };
    let mut learned = Memory::new();
    for (plan, label) in roles.plans.iter().zip(&variables) {
        let mut levels = |name: &str| draft.levels(name, facts);
        learning.learn(plan, label, &mut learned, &mut levels)?;
    }
    let terms = &roles.terms.terms;
    let is_factor: Vec<bool> = roles.plans.iter().map(Plan::is_factor).collect();
    // Centred columns of all levels would be collinear.
    let full = full_coding(terms, &is_factor, roles.constant || question.standardize);
    let terms = terms.iter().zip(full);
    let terms = terms.map(|(term, full)| CodedTerm { variables: term.clone(), full });
    let groups = roles.groups.iter().map(|group| group.learn(draft, facts, learning, &mut learned));
    let groups = groups.collect::<Result<Vec<_>, DataError>>()?;
    let (coded, groups) = groups.into_iter().unzip();
    let smooths = roles.smooths.iter().map(|smooth| smooth.learn(draft, learning));
    let smooths = smooths.collect::<Result<Vec<CodedSmooth>, DataError>>()?;
    let coding = Coding {
        intercept: roles.terms.intercept && question.family != FamilyName::Ordinal,
        variables,
        terms: terms.collect(),
        offsets: roles.offsets.iter().map(ToString::to_string).collect(),
        trials: roles.trials.as_ref().map(ToString::to_string),
        factors: question.factors.clone(),
        sparse: false,
        learned,
        groups: coded,
        smooths,
    };
    Ok((coding, groups))
}

/// Checks that base levels were asked for of factors.
fn check_bases(draft: &Draft<'_>) -> Result<(), DataError> {
    for (name, _) in &draft.question.bases {
        if !draft.source.find(name, Role::Base)?.is_text() {
            let place = Place::column(draft.table.name(), name);
            return Err(DataError::NotAFactor { place });
        }
    }
    Ok(())
}

/// Checks that a variable of numbers varies if it has to.
fn check_varies(
    draft: &Draft<'_>, coding: &Coding, variable: usize, facts: &Facts,
) -> Result<(), DataError> {
    let Draft { table, question, roles, .. } = draft;
    let plan = &roles.plans[variable];
    let Plan::Number(node) = plan else { return Ok(()) };
    let name = match &node.kind {
        Kind::Name(name) => name.as_str(),
        _ => coding.variables[variable].as_str(),
    };
    let [first, last] = facts.range(name);
    if first != last {
        return Ok(());
    }
    let reason = match (roles.constant, question.standardize) {
        (true, _) => " because there is an intercept",
        (false, true) => ", for --standardize",
        (false, false) if first == 0.0 => "",
        // A constant column may replace the intercept.
        (false, false) => return Ok(()),
    };
    let place = Place::column(table.name(), name);
    Err(DataError::Constant { place, value: number(first), reason })
}

/// The names of the coefficients, which must be unique, and the term of each.
fn names(
    coder: &Coder<'_, '_>, coding: &Coding, file: &str,
) -> Result<(Vec<String>, Vec<String>), DataError> {
    let mut names = Vec::with_capacity(coder.width());
    let mut terms = Vec::with_capacity(coder.width());
    let mut seen = HashSet::with_capacity(coder.width());
    if coding.intercept {
        seen.insert(INTERCEPT.to_owned());
        names.push(INTERCEPT.to_owned());
        terms.push(INTERCEPT.to_owned());
    }
    let of_terms = coding.terms.iter().map(|t| (coder.term_label(t), coder.term_names(t)));
    let of_smooths = coding.smooths.iter().map(|s| (s.term(), s.part_names().collect()));
    for (label, own) in of_terms.chain(of_smooths) {
        for name in own {
            let place = || Place::column(file, &label);
            if name.chars().any(char::is_control) {
                return Err(DataError::UnprintableName { place: place(), name });
            }
            if !seen.insert(name.clone()) {
                return Err(DataError::NameClash { place: place(), name });
            }
            names.push(name);
            terms.push(label.clone());
        }
    }
    Ok((names, terms))
}

/// What the coefficients of a `pair(...)` are compared with, and levels that were not compared.
fn pair_notes(
    draft: &Draft<'_>, coder: &Coder<'_, '_>, variable: usize,
) -> Result<Vec<String>, DataError> {
    let Plan::Pair(pair) = &draft.roles.plans[variable] else { return Ok(Vec::new()) };
    let Some((levels, base)) = coder.treatment(variable) else { return Ok(Vec::new()) };
    let (name, level) = (coder.title(variable), shown(&levels[base], VALUE_SHOWN));
    let mut notes = vec![format!(
        "`{name}`: each coefficient is the difference of a level from the base level `{level}`"
    )];
    if levels.len() > MANY_LEVELS {
        notes.push(format!(
            "`{name}` has {} levels: (1 | {name}) estimates how much they differ, and knows more about \
             levels with few rows",
            levels.len()
        ));
    }
    let each = pairs::within(&draft.source, &pair.sides, &draft.kept, levels)?;
    notes.extend(pairs::note(name, levels.len(), &each));
    Ok(notes)
}

/// What the coefficients of each factor are compared with.
fn factor_notes(draft: &Draft<'_>, coder: &Coder<'_, '_>, coding: &Coding) -> Vec<String> {
    let mut notes = Vec::new();
    for (variable, plan) in draft.roles.plans.iter().enumerate() {
        let Some((levels, base)) = coder.treatment(variable) else { continue };
        if !matches!(plan, Plan::Factor(_)) {
            continue;
        }
        let what = match plan.node().columns()[..] {
            [name] if coder.title(variable) == name => {
                let turned = draft.question.factors.iter().any(|factor| factor == name);
                let kind = if turned { "a factor" } else { "text" };
                format!("column `{}` is {kind}", shown(name, VALUE_SHOWN))
            }
            _ => format!("`{}` is a factor", shown(coder.title(variable), VALUE_SHOWN)),
        };
        let main = coding.terms.iter().find(|term| term.variables == [variable]);
        let with_base = coding.terms.iter().any(|term| {
            term.variables.iter().zip(&term.full).any(|(v, full)| *v == variable && !full)
        });
        if levels.len() > MANY_LEVELS {
            let (count, term) = (levels.len(), plan.node());
            notes.push(format!(
                "{what} with {count} levels, each with a coefficient and a prior of its own: (1 | {term}) \
                 estimates how much they differ, and knows more about levels with few rows"
            ));
        }
        let level = shown(&levels[base], VALUE_SHOWN);
        notes.push(match main.map(|term| (term, listed(&coder.term_names(term), 6))) {
            Some((term, names)) if !term.full[0] => {
                format!("{what}: its base level is `{level}`, its coefficients are {names}")
            }
            Some((_, names)) => {
                format!("{what}: without an intercept each level has a coefficient, {names}")
            }
            None if with_base => format!("{what}: its base level is `{level}`"),
            None => continue,
        });
    }
    notes
}

//! Levels of grouping factors: the distinct values of columns, and combinations of these. Rows that
//! are split over processes have the levels of all rows.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use serde::{Deserialize, Serialize};

use crate::MAX_GROUP_LEVELS;
use crate::coding::check_finite;
use crate::column::Cells;
use crate::error::DataError;
use crate::evaluate::{Memory, Source, Type};
use crate::factors::{level_of, sort_naturally};
use crate::formula::FormulaError;
use crate::formula::syntax::{Kind, Node};
use crate::groups::GroupPlan;
use crate::pairs::{self, Sides};
use crate::place::Place;

/// A column whose values are levels of a grouping.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Key {
    /// As written.
    pub(crate) label: String,
    /// A column, or an expression of numbers.
    pub(crate) of: Node,
    pub(crate) text: bool,
}

impl Key {
    /// The key that an expression in the text `of` is: a column, `factor(x)`, or numbers that depend
    /// on their row alone.
    pub(crate) fn new(source: &Source<'_>, of: &str, node: &Node) -> Result<Self, DataError> {
        let error = |message: String| Err(FormulaError::new(of, &node.span, message).into());
        let inner = match &node.kind {
            Kind::Call(function, arguments)
                if matches!(function.as_str(), "factor" | "as.factor") =>
            {
                match &arguments[..] {
                    [argument] => argument.value.bare(),
                    _ => return error(format!("found `{node}`, need one column in {function}()")),
                }
            }
            _ => node.bare(),
        };
        let text = source.check(of, inner)? == Type::Text;
        let mut learns = false;
        inner.walk(&mut |part| learns |= crate::plan::is_scale(part));
        if learns || (text && !matches!(inner.kind, Kind::Name(_))) {
            return error(format!("found `{node}`, need a column as grouping factor"));
        }
        Ok(Self { label: node.to_string(), of: inner.clone(), text })
    }

    pub(crate) fn column(&self) -> &str {
        self.of.columns().first().copied().unwrap_or("")
    }
}

/// Rows by distinct values.
#[derive(Debug)]
pub(crate) struct Levels {
    /// The number of the level of each row.
    pub(crate) codes: Vec<u32>,
    /// The levels, in order.
    pub(crate) names: Vec<String>,
}

impl Levels {
    /// The combinations of keys that occur in these rows, in order of the first key, then of the
    /// second, and so on.
    pub(crate) fn new(
        source: &Source<'_>, keys: &[Key], rows: &[usize],
    ) -> Result<Self, DataError> {
        let mut all: Option<Self> = None;
        for key in keys {
            let own = Self::of_key(source, key, rows)?;
            all = Some(match all {
                Some(all) => all.crossed(&own),
                None => own,
            });
        }
        Ok(all.unwrap_or(Self { codes: vec![0; rows.len()], names: Vec::new() }))
    }

    pub(crate) fn of_key(
        source: &Source<'_>, key: &Key, rows: &[usize],
    ) -> Result<Self, DataError> {
        let column = source.column(key.column());
        if key.text {
            let (file, name) = (source.table.name(), key.column());
            return match column.map(|column| (column, column.cells())) {
                Some((column, Cells::Text { levels, codes })) => {
                    let codes = rows.iter().map(|&row| codes[row]);
                    let given = !column.given_levels().is_empty();
                    Ok(Self::of_texts(levels, codes.collect(), given))
                }
                _ => Err(too_many(Place::column(file, name), rows.len())),
            };
        }
        let values = source.numbers(&key.of, rows, &Memory::new());
        check_finite(source, &key.of, rows, &values)?;
        // Zero has two signs, but is one level.
        let bits = |value: f64| if value == 0.0 { 0 } else { value.to_bits() };
        let (codes, distinct) = distinct(values.into_iter().map(bits));
        let mut order: Vec<usize> = (0..distinct.len()).collect();
        let value = |k: usize| f64::from_bits(distinct[k]);
        order.sort_unstable_by(|&a, &b| value(a).total_cmp(&value(b)));
        let names = order.iter().map(|&k| level_of(value(k))).collect();
        Ok(Self { codes: renumbered(codes, &order), names })
    }

    /// The levels of a text column that occur, in natural order unless an order is `given`.
    fn of_texts(levels: &[String], codes: Vec<u32>, given: bool) -> Self {
        let mut used = vec![false; levels.len()];
        codes.iter().for_each(|&code| used[code as usize] = true);
        let mut order: Vec<usize> = (0..levels.len()).filter(|&k| used[k]).collect();
        if !given {
            sort_naturally(&mut order, |&k| &levels[k]);
        }
        let mut numbers = vec![0; levels.len()];
        order.iter().zip(0_u32..).for_each(|(&k, number)| numbers[k] = number);
        let codes = codes.into_iter().map(|code| numbers[code as usize]).collect();
        Self { codes, names: order.iter().map(|&k| levels[k].clone()).collect() }
    }

    /// The same rows with the numbers that levels have in a longer list.
    pub(crate) fn within(self, names: Vec<String>) -> Self {
        let codes = self.codes_within(&names, 0);
        Self { codes, names }
    }

    /// The number of the level of each row in a list of names; `unknown` for one that is not there.
    pub(crate) fn codes_within(&self, names: &[String], unknown: u32) -> Vec<u32> {
        let known: HashMap<&str, u32> = names.iter().map(String::as_str).zip(0_u32..).collect();
        let number = |name: &String| known.get(name.as_str()).copied().unwrap_or(unknown);
        let numbers: Vec<u32> = self.names.iter().map(number).collect();
        self.codes.iter().map(|&code| numbers[code as usize]).collect()
    }

    fn crossed(&self, other: &Self) -> Self {
        let pairs = self.codes.iter().copied().zip(other.codes.iter().copied());
        let (codes, distinct) = distinct(pairs);
        let mut order: Vec<usize> = (0..distinct.len()).collect();
        order.sort_unstable_by_key(|&k| distinct[k]);
        let name = |k: &usize| {
            let (a, b) = distinct[*k];
            format!("{}:{}", self.names[a as usize], other.names[b as usize])
        };
        Self { codes: renumbered(codes, &order), names: order.iter().map(name).collect() }
    }
}

/// The distinct values in order of first use, and the number of each row's.
fn distinct<T: Copy + Eq + Hash>(values: impl Iterator<Item = T>) -> (Vec<u32>, Vec<T>) {
    let mut numbers: HashMap<T, u32> = HashMap::new();
    let mut all = Vec::new();
    let mut next = 0;
    let code = |value| {
        *numbers.entry(value).or_insert_with(|| {
            all.push(value);
            next += 1;
            next - 1
        })
    };
    let codes = values.map(code).collect();
    (codes, all)
}

/// The codes when level `order[k]` gets the number k.
fn renumbered(mut codes: Vec<u32>, order: &[usize]) -> Vec<u32> {
    let mut numbers = vec![0; order.len()];
    order.iter().zip(0_u32..).for_each(|(&k, number)| numbers[k] = number);
    codes.iter_mut().for_each(|code| *code = numbers[*code as usize]);
    codes
}

pub(crate) fn too_many(place: Box<Place>, rows: usize) -> DataError {
    DataError::TooManyGroups { place, limit: MAX_GROUP_LEVELS, rows }
}

/// The levels of grouping factors in the rows of a part, or of all parts: in order, as those of a
/// whole table.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Occurring {
    /// Each key once.
    keys: Vec<KeyLevels>,
    /// Each grouping factor once.
    factors: Vec<Combinations>,
}

/// The levels of one key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct KeyLevels {
    label: String,
    column: String,
    text: bool,
    levels: Vec<String>,
    /// All levels of its column in the order that was given, if one was.
    given: Vec<String>,
}

/// The levels of a grouping factor as combinations of levels of its keys.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Combinations {
    name: String,
    keys: Vec<usize>,
    /// The number of the level of each key, combination after combination.
    codes: Vec<u32>,
    /// The number of rows of each combination.
    rows: Vec<usize>,
}

impl Occurring {
    /// The levels in these rows.
    pub(crate) fn new(
        source: &Source<'_>, plans: &[GroupPlan], rows: &[usize],
    ) -> Result<Self, DataError> {
        let mut all = Self::default();
        let mut codes: Vec<Vec<u32>> = Vec::new();
        for plan in plans {
            let name = plan.name();
            if all.factors.iter().any(|factor| factor.name == name) {
                continue;
            }
            if let Some(sides) = &plan.pair {
                let found = Self::paired(&mut all, source, sides, name, rows)?;
                all.factors.push(found);
                codes.push(Vec::new());
                continue;
            }
            let mut keys = Vec::new();
            for key in &plan.keys {
                let known = all.keys.iter().position(|other| other.label == key.label);
                if known.is_none() {
                    let Levels { codes: own, names } = Levels::of_key(source, key, rows)?;
                    codes.push(own);
                    all.keys.push(KeyLevels::new(source, key, names));
                }
                keys.push(known.unwrap_or(all.keys.len() - 1));
            }
            let own: Vec<&[u32]> = keys.iter().map(|&key| &codes[key][..]).collect();
            let found = Combinations::new(name, keys, &own);
            if found.rows.len() > MAX_GROUP_LEVELS {
                return Err(too_many(Place::column(source.table.name(), &found.name), rows.len()));
            }
            all.factors.push(found);
        }
        Ok(all)
    }

    /// The levels of a `pair(...)`: of both columns together, with the rows that have them.
    fn paired(
        all: &mut Self, source: &Source<'_>, sides: &Sides, name: String, rows: &[usize],
    ) -> Result<Combinations, DataError> {
        let (levels, each) = pairs::levels(source, sides, rows)?;
        let (column, label) = (sides[0].column().to_owned(), name.clone());
        all.keys.push(KeyLevels { label, column, text: true, levels, given: Vec::new() });
        let codes: Vec<u32> = each.into_iter().flatten().collect();
        Ok(Combinations::new(name, vec![all.keys.len() - 1], &[&codes]))
    }

    /// The levels of a grouping factor, those of several keys joined with `:`.
    pub(crate) fn names(&self, factor: &str) -> Option<Vec<String>> {
        let found = self.factors.iter().find(|found| found.name == factor)?;
        let join = |codes: &[u32]| {
            let levels = codes.iter().zip(&found.keys);
            let levels = levels.map(|(&code, &key)| self.keys[key].levels[code as usize].as_str());
            levels.collect::<Vec<&str>>().join(":")
        };
        Some(found.codes.chunks_exact(found.keys.len()).map(join).collect())
    }

    /// Whether no levels were gathered: the rows are those of a whole table, or are not grouped.
    pub(crate) fn is_empty(&self) -> bool {
        self.factors.is_empty()
    }

    /// The number of rows of each level of a grouping factor.
    pub(crate) fn rows(&self, factor: &str) -> Option<&[usize]> {
        self.factors.iter().find(|found| found.name == factor).map(|found| &found.rows[..])
    }
}

impl KeyLevels {
    fn new(source: &Source<'_>, key: &Key, levels: Vec<String>) -> Self {
        let column = key.column().to_owned();
        let given = source.column(&column).filter(|_| key.text);
        let given = given.map(|column| column.given_levels().to_vec()).unwrap_or_default();
        Self { label: key.label.clone(), column, text: key.text, levels, given }
    }

    fn without_levels(&self) -> Self {
        let (label, column) = (self.label.clone(), self.column.clone());
        Self { label, column, text: self.text, levels: Vec::new(), given: Vec::new() }
    }

    /// The places of its levels when they are sorted.
    fn order(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.levels.len()).collect();
        if !self.text {
            // The names of numbers read back.
            let value = |k: usize| self.levels[k].parse::<f64>().unwrap_or(f64::NAN);
            let values: Vec<f64> = order.iter().map(|&k| value(k)).collect();
            order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
            return order;
        }
        sort_naturally(&mut order, |&k| &self.levels[k]);
        if !self.given.is_empty() {
            let known: HashMap<&String, usize> = self.given.iter().zip(0..).collect();
            order.sort_by_key(|&k| known.get(&self.levels[k]).copied().unwrap_or(usize::MAX));
        }
        order
    }
}

impl Combinations {
    /// Those that occur, by the codes of each key in all rows.
    fn new(name: String, keys: Vec<usize>, codes: &[&[u32]]) -> Self {
        let Some((first, others)) = codes.split_first() else {
            return Self { name, keys, codes: Vec::new(), rows: Vec::new() };
        };
        let (mut of_rows, found) = distinct(first.iter().copied());
        let mut all: Vec<Vec<u32>> = found.into_iter().map(|code| vec![code]).collect();
        for others in others {
            let (next, pairs) = distinct(of_rows.into_iter().zip(others.iter().copied()));
            let join = |(left, code): (u32, u32)| [&all[left as usize][..], &[code]].concat();
            all = pairs.into_iter().map(join).collect();
            of_rows = next;
        }
        let mut rows = vec![0; all.len()];
        of_rows.iter().for_each(|&code| rows[code as usize] += 1);
        let mut found = Self { name, keys, codes: all.concat(), rows };
        found.sort();
        found
    }

    /// Sorts them by their first code, then by the second, and so on.
    fn sort(&mut self) {
        let wide = self.keys.len();
        let codes = |k: usize| &self.codes[k * wide..(k + 1) * wide];
        let mut order: Vec<usize> = (0..self.rows.len()).collect();
        order.sort_unstable_by(|&a, &b| codes(a).cmp(codes(b)));
        let sorted = order.iter().flat_map(|&k| codes(k)).copied().collect();
        self.rows = order.iter().map(|&k| self.rows[k]).collect();
        self.codes = sorted;
    }
}

/// The levels of several parts, as they are added.
#[derive(Debug, Default)]
pub(crate) struct Union {
    all: Occurring,
    /// For each key the number of each level.
    known: Vec<HashMap<String, u32>>,
    /// For each grouping factor the number of each combination.
    combinations: Vec<HashMap<Vec<u32>, usize>>,
}

impl Union {
    /// Adds the levels of a part. `Err` is a column with numbers in one part and text in another.
    pub(crate) fn add(&mut self, part: Occurring) -> Result<(), String> {
        if self.all.keys.is_empty() {
            self.all.keys = part.keys.iter().map(KeyLevels::without_levels).collect();
            let none = |factor: &Combinations| {
                Combinations::new(factor.name.clone(), factor.keys.clone(), &[])
            };
            self.all.factors = part.factors.iter().map(none).collect();
            self.known = vec![HashMap::new(); part.keys.len()];
            self.combinations = vec![HashMap::new(); part.factors.len()];
        }
        let mut numbers = Vec::new();
        for ((all, known), part) in self.all.keys.iter_mut().zip(&mut self.known).zip(part.keys) {
            if all.text != part.text {
                return Err(part.column);
            }
            let seen: HashSet<&String> = all.given.iter().collect();
            let new: Vec<String> =
                part.given.into_iter().filter(|level| !seen.contains(level)).collect();
            all.given.extend(new);
            let number = |level: String| {
                // There are fewer: each is in a combination, and these are counted.
                let next = u32::try_from(all.levels.len()).unwrap_or(u32::MAX);
                *known.entry(level).or_insert_with_key(|level| {
                    all.levels.push(level.clone());
                    next
                })
            };
            numbers.push(part.levels.into_iter().map(number).collect::<Vec<u32>>());
        }
        let factors = self.all.factors.iter_mut().zip(&mut self.combinations);
        for ((all, known), part) in factors.zip(part.factors) {
            let each = part.codes.chunks_exact(part.keys.len()).zip(part.rows);
            for (codes, rows) in each {
                let codes = codes.iter().zip(&part.keys);
                let codes: Vec<u32> =
                    codes.map(|(&code, &key)| numbers[key][code as usize]).collect();
                let next = all.rows.len();
                let at = *known.entry(codes).or_insert_with_key(|codes| {
                    all.codes.extend(codes);
                    all.rows.push(0);
                    next
                });
                all.rows[at] += rows;
            }
        }
        Ok(())
    }

    /// A grouping factor with too many levels so far.
    pub(crate) fn too_many(&self) -> Option<&str> {
        let many = |factor: &&Combinations| factor.rows.len() > MAX_GROUP_LEVELS;
        self.all.factors.iter().find(many).map(|factor| factor.name.as_str())
    }

    /// All of them, in order.
    pub(crate) fn finish(self) -> Occurring {
        let mut all = self.all;
        let mut numbers = Vec::new();
        for key in &mut all.keys {
            let order = key.order();
            let mut of_key = vec![0; order.len()];
            order.iter().zip(0_u32..).for_each(|(&k, number)| of_key[k] = number);
            key.levels = order.iter().map(|&k| std::mem::take(&mut key.levels[k])).collect();
            numbers.push(of_key);
        }
        for factor in &mut all.factors {
            for codes in factor.codes.chunks_exact_mut(factor.keys.len()) {
                let each = codes.iter_mut().zip(&factor.keys);
                each.for_each(|(code, &key)| *code = numbers[key][*code as usize]);
            }
            factor.sort();
        }
        all
    }
}

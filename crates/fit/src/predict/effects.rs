//! Average effects: how the expected response changes with one column, averaged over the rows of
//! the data, all else as it is.

use std::collections::BTreeSet;

use ridgewalk_frame::{Column, Table};
use serde::Serialize;

use super::quantity::{Summarized, summarized};
use super::{Posterior, Predictor, check_interval, design_of};
use crate::error::Error;
use crate::rows::FitRows;

/// Half of the step of slopes, relative to the range of the column.
const STEP: f64 = 1e-4;
/// Points of a curve, and the draws that it is made of.
const GRID: usize = 25;
const CURVE_DRAWS: usize = 500;
/// Rows whose sums one task makes.
const BLOCK: usize = 256;

/// What to average.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectsRequest {
    /// The column whose effect is wanted.
    pub by: String,
    /// Other columns and the values that every row gets in turn.
    pub at: Vec<(String, Vec<String>)>,
    /// The mass of intervals.
    pub interval: f64,
}

/// The result: the JSON document of `ridgewalk effects`.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effects {
    /// The column.
    pub by: String,
    /// What the effects are of: `mean`, or `probability`.
    pub of: String,
    /// Slopes, or differences between values.
    pub effects: Vec<Effect>,
    /// The average expected response at values of the column.
    pub curve: Vec<CurvePoint>,
}

/// An average effect.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Effect {
    /// `slope`, or the two values compared: `b - a`.
    pub contrast: String,
    /// The values given to other columns.
    pub at: String,
    /// The level of the response, where it has levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The effect.
    #[serde(flatten)]
    pub effect: Summarized,
}

/// The average expected response at one value of a column.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    /// The value, as text.
    pub value: String,
    /// The value, if the column has numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub x: Option<f64>,
    /// The values given to other columns.
    pub at: String,
    /// The level of the response, where it has levels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<String>,
    /// The average.
    #[serde(flatten)]
    pub response: Summarized,
}

/// Passes tables of rows to what takes them, one after another.
type Turns<'a> = &'a dyn Fn(&mut dyn FnMut(&Table) -> Result<(), Error>) -> Result<(), Error>;

/// The sums over rows of the expected response in every draw: one list for each level where responses
/// have levels.
type Sums = Vec<Vec<f64>>;

/// Values of other columns, and the sums that go with them.
struct Scenario {
    at: String,
    /// For each value of a curve.
    curve: Vec<Sums>,
    /// For numbers a little larger and a little smaller.
    moved: [Sums; 2],
}

impl Predictor {
    /// Average effects of a column over the rows of the fit, and the number of these rows.
    ///
    /// # Errors
    /// As [`effects`](Self::effects); data that cannot be read.
    pub fn effects_of_fit(
        &self, data: &FitRows<'_>, request: &EffectsRequest,
    ) -> Result<(Effects, usize), Error> {
        let mut columns = self.config().resolved.coding.columns()?;
        columns.push(request.by.clone());
        let turns = |take: &mut dyn FnMut(&Table) -> Result<(), Error>| {
            data.each(&mut |part| take(&part.columns(&columns)))
        };
        Ok((self.effects_in(data.name(), &turns, request)?, data.rows()))
    }

    /// Average effects of a column over the rows of a table, which are usually those of the fit:
    /// the slope of a column of numbers, and differences from the first value for texts, factors
    /// and columns of 0 and 1.
    ///
    /// # Errors
    /// A column that the model does not have, values that it cannot have, and rows that cannot be
    /// predicted.
    pub fn effects(&self, table: &Table, request: &EffectsRequest) -> Result<Effects, Error> {
        self.effects_in(table.name(), &|take| take(table), request)
    }

    fn effects_in(
        &self, file: &str, turns: Turns<'_>, request: &EffectsRequest,
    ) -> Result<Effects, Error> {
        check_interval(request.interval)?;
        let columns = self.config().resolved.coding.columns()?;
        let known = |name: &String| columns.contains(name);
        for name in std::iter::once(&request.by).chain(request.at.iter().map(|(name, _)| name)) {
            if !known(name) {
                let need = format!("a predictor of the model: {}", columns.join(", "));
                let option = if *name == request.by { "--by" } else { "--at" };
                return Err(Error::setting(option, name, need));
            }
        }
        let values = self.values_of(file, turns, &request.by)?;
        let curve_at = match &values {
            Values::Numbers { low, high, .. } => grid(*low, *high),
            Values::Each(each) => each.clone(),
        };
        let scenarios = self.scenarios(turns, request, &values, &curve_at)?;
        let (mut effects, mut curve) = (Vec::new(), Vec::new());
        for Scenario { at, curve: averages, moved: [upper, lower] } in scenarios {
            for (Value { name, x }, average) in curve_at.iter().zip(&averages) {
                for (number, draws) in average.iter().enumerate() {
                    let response = summarized(&mut draws.clone(), request.interval);
                    let (level, at) = (self.level(number), at.clone());
                    curve.push(CurvePoint { value: name.clone(), x: *x, at, level, response });
                }
            }
            let mut push = |contrast: &str, differences: Vec<Vec<f64>>| {
                for (number, mut draws) in differences.into_iter().enumerate() {
                    let effect = summarized(&mut draws, request.interval);
                    let (level, at) = (self.level(number), at.clone());
                    effects.push(Effect { contrast: contrast.to_owned(), at, level, effect });
                }
            };
            match &values {
                Values::Numbers { step, .. } => {
                    push("slope", differences(&upper, &lower, 2.0 * step));
                }
                Values::Each(each) => {
                    for (value, average) in each.iter().zip(&averages).skip(1) {
                        let contrast = format!("{} - {}", value.name, each[0].name);
                        push(&contrast, differences(average, &averages[0], 1.0));
                    }
                }
            }
        }
        let of = match self.law().family() {
            family if family.is_binomial() || family.has_levels() => "probability",
            _ => "mean",
        };
        Ok(Effects { by: request.by.clone(), of: of.to_owned(), effects, curve })
    }

    /// The averages of every scenario, in one pass over the rows.
    fn scenarios(
        &self, turns: Turns<'_>, request: &EffectsRequest, values: &Values, curve_at: &[Value],
    ) -> Result<Vec<Scenario>, Error> {
        let step = match values {
            Values::Numbers { step, .. } => Some(*step),
            Values::Each(_) => None,
        };
        // Differences between values need every draw; a curve does not.
        let some = self.posterior.some(if step.is_some() { CURVE_DRAWS } else { usize::MAX });
        let lists = self.law().levels().len().max(1);
        let none = |posterior: &Posterior| vec![vec![0.0; posterior.draws]; lists];
        let (mut found, mut rows) = (Vec::<Scenario>::new(), 0);
        turns(&mut |table| {
            rows += table.rows();
            for (number, (at, table)) in scenarios(table, &request.at)?.into_iter().enumerate() {
                if number == found.len() {
                    let moved = [(); 2].map(|()| none(&self.posterior));
                    found.push(Scenario { at, curve: vec![none(&some); curve_at.len()], moved });
                }
                let Scenario { curve, moved, .. } = &mut found[number];
                for (value, sums) in curve_at.iter().zip(curve) {
                    self.add(&some, &set(&table, &request.by, value)?, sums)?;
                }
                let numbers = table.column(&request.by).and_then(Column::numbers);
                let (Some(step), Some(numbers)) = (step, numbers) else { continue };
                for (by, sums) in [step, -step].into_iter().zip(moved) {
                    let values: Vec<f64> = numbers.iter().map(|x| x + by).collect();
                    let moved = table.with_column(Column::from_numbers(&request.by, &values));
                    self.add(&self.posterior, &moved, sums)?;
                }
            }
            Ok(())
        })?;
        let n = rows as f64;
        for Scenario { curve, moved, .. } in &mut found {
            let sums = curve.iter_mut().chain(moved).flatten().flatten();
            sums.for_each(|sum| *sum /= n);
        }
        Ok(found)
    }

    /// The name of the level of a response.
    fn level(&self, number: usize) -> Option<String> {
        self.law().levels().get(number).cloned()
    }

    /// The values that a column is compared at.
    fn values_of(&self, file: &str, turns: Turns<'_>, name: &str) -> Result<Values, Error> {
        let coding = &self.config().resolved.coding;
        let own = coding.levels(name).map(<[String]>::to_vec);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        // Whether values are numbers, whether they are slopes, and whether they are 0 or 1.
        let (mut number, mut slope, mut binary) = (false, true, true);
        let mut texts = BTreeSet::new();
        turns(&mut |table| {
            let column = table.column(name);
            let column = column
                .ok_or_else(|| Error::setting("--by", name, format!("a column of {file}")))?;
            number = column.numbers().is_some();
            match column.numbers() {
                Some(numbers) if !coding.is_factor(name) => {
                    binary &= numbers.iter().all(|x| *x == 0.0 || *x == 1.0);
                    low = numbers.iter().copied().fold(low, f64::min);
                    high = numbers.iter().copied().fold(high, f64::max);
                }
                _ => {
                    slope = false;
                    if own.is_none() {
                        texts.extend(distinct(column));
                    }
                }
            }
            Ok(())
        })?;
        if !slope {
            let levels = own.unwrap_or_else(|| texts.into_iter().collect());
            let value =
                |level: String| Value { x: level.parse().ok().filter(|_| number), name: level };
            return Ok(Values::Each(levels.into_iter().map(value).collect()));
        }
        if binary {
            let value = |x: f64| Value { name: x.to_string(), x: Some(x) };
            return Ok(Values::Each(vec![value(0.0), value(1.0)]));
        }
        Ok(Values::Numbers { low, high, step: STEP * (high - low) })
    }

    /// Adds the expected responses of the rows of a table to sums, in every draw.
    fn add(&self, posterior: &Posterior, table: &Table, sums: &mut Sums) -> Result<(), Error> {
        let new = self.coded(table)?;
        let lists = sums.len();
        // Rows are added in their order: the result does not depend on threads.
        for start in (0..new.rows).step_by(BLOCK) {
            let rows = start..(start + BLOCK).min(new.rows);
            let each = posterior.map_rows(
                design_of(&new),
                rows,
                || (),
                |(), room, _| {
                    if self.law().levels().is_empty() {
                        posterior.means(room);
                        return vec![std::mem::take(&mut room.values)];
                    }
                    let mut values = vec![vec![0.0; posterior.draws]; lists];
                    let mut shares = vec![0.0; lists];
                    for draw in 0..posterior.draws {
                        let (s, natural) = (posterior.s(room, draw), posterior.natural(draw));
                        self.law().probabilities(s, natural, &mut shares);
                        values.iter_mut().zip(&shares).for_each(|(list, p)| list[draw] = *p);
                    }
                    values
                },
            );
            for lists in &each {
                for (sums, list) in sums.iter_mut().zip(lists) {
                    sums.iter_mut().zip(list).for_each(|(sum, value)| *sum += value);
                }
            }
        }
        Ok(())
    }
}

/// What a column is compared at.
enum Values {
    /// Slopes of numbers, and a curve between the lowest and the highest.
    Numbers { low: f64, high: f64, step: f64 },
    /// Each value with the first.
    Each(Vec<Value>),
}

/// A value of a column.
#[derive(Debug, Clone)]
struct Value {
    name: String,
    x: Option<f64>,
}

/// Values of numbers for a curve.
fn grid(low: f64, high: f64) -> Vec<Value> {
    let at = |k: usize| {
        let x = low + (high - low) * k as f64 / (GRID - 1) as f64;
        Value { name: x.to_string(), x: Some(x) }
    };
    (0..GRID).map(at).collect()
}

/// The differences of averages over draws, divided by a step.
fn differences(upper: &[Vec<f64>], lower: &[Vec<f64>], step: f64) -> Vec<Vec<f64>> {
    let one =
        |(a, b): (&Vec<f64>, &Vec<f64>)| a.iter().zip(b).map(|(a, b)| (a - b) / step).collect();
    upper.iter().zip(lower).map(one).collect()
}

/// The texts, or the numbers, of a column.
fn distinct(column: &Column) -> BTreeSet<String> {
    match column.numbers() {
        Some(numbers) => numbers.iter().map(f64::to_string).collect(),
        None => {
            column.texts().unwrap_or_default().into_iter().flatten().map(str::to_owned).collect()
        }
    }
}

/// The table with one value in a column.
fn set(table: &Table, name: &str, value: &Value) -> Result<Table, Error> {
    let rows = table.rows();
    let text = table.column(name).is_some_and(Column::is_text);
    Ok(table.with_column(match value.x {
        Some(x) if !text => Column::from_numbers(name, &vec![x; rows]),
        _ => Column::from_texts(name, &vec![&value.name; rows]),
    }))
}

/// The table with every combination of values of other columns.
fn scenarios(table: &Table, at: &[(String, Vec<String>)]) -> Result<Vec<(String, Table)>, Error> {
    let mut all = vec![(String::new(), table.clone())];
    for (name, values) in at {
        let mut next = Vec::new();
        for (label, table) in &all {
            let text = table.column(name).is_some_and(Column::is_text);
            for value in values {
                let x = value.parse::<f64>().ok().filter(|x| x.is_finite());
                if x.is_none() && !text {
                    return Err(Error::setting("--at", format!("{name}={value}"), "a number"));
                }
                let value = Value { name: value.clone(), x };
                let sign = if label.is_empty() { "" } else { ", " };
                let label = format!("{label}{sign}{name} = {}", value.name);
                next.push((label, set(table, name, &value)?));
            }
        }
        all = next;
    }
    Ok(all)
}

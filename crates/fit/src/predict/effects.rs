//! Average effects: how the expected response changes with one column, averaged over the rows of
//! the data, all else as it is.

use ridgewalk_frame::{Column, Table};
use serde::Serialize;

use super::quantity::{Summarized, summarized};
use super::{Posterior, Predictor, check_interval, design_of};
use crate::error::Error;
use crate::loo::Observed;

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

impl Predictor {
    /// Average effects of a column over the rows of the fit, whose data are `table`, and the number
    /// of these rows.
    ///
    /// # Errors
    /// [`Error::OtherData`] if the table is not the one that was fitted; as
    /// [`effects`](Self::effects).
    pub fn effects_of_fit(
        &self, table: &Table, request: &EffectsRequest,
    ) -> Result<(Effects, usize), Error> {
        let rows = Observed::new(self.config(), table)?.rows_of(table);
        let mut columns = self.config().resolved.coding.columns()?;
        columns.push(request.by.clone());
        Ok((self.effects(&table.select(&rows, &columns), request)?, rows.len()))
    }

    /// Average effects of a column over the rows of a table, which are usually those of the fit:
    /// the slope of a column of numbers, and differences from the first value for texts, factors
    /// and columns of 0 and 1.
    ///
    /// # Errors
    /// A column that the model does not have, values that it cannot have, and rows that cannot be
    /// predicted.
    pub fn effects(&self, table: &Table, request: &EffectsRequest) -> Result<Effects, Error> {
        check_interval(request.interval)?;
        let coding = &self.config().resolved.coding;
        let columns = coding.columns()?;
        let known = |name: &String| columns.contains(name);
        for name in std::iter::once(&request.by).chain(request.at.iter().map(|(name, _)| name)) {
            if !known(name) {
                let need = format!("a predictor of the model: {}", columns.join(", "));
                let option = if *name == request.by { "--by" } else { "--at" };
                return Err(Error::setting(option, name, need));
            }
        }
        let values = self.values_of(table, &request.by)?;
        let (mut effects, mut curve) = (Vec::new(), Vec::new());
        // Differences between values need every draw; a curve does not.
        let thin = matches!(values, Values::Numbers { .. });
        let some = self.posterior.some(if thin { CURVE_DRAWS } else { usize::MAX });
        for (at, table) in scenarios(table, &request.at)? {
            let curves = match &values {
                Values::Numbers { low, high, .. } => grid(*low, *high),
                Values::Each(each) => each.clone(),
            };
            let mut averages = Vec::new();
            for value in &curves {
                let (name, x) = (value.name.clone(), value.x);
                let average = self.average(&some, &set(&table, &request.by, value)?)?;
                for (number, draws) in average.iter().enumerate() {
                    let response = summarized(&mut draws.clone(), request.interval);
                    let (level, at) = (self.level(number), at.clone());
                    curve.push(CurvePoint { value: name.clone(), x, at, level, response });
                }
                averages.push(average);
            }
            let mut push = |contrast: &str, differences: Vec<Vec<f64>>| {
                for (number, mut draws) in differences.into_iter().enumerate() {
                    let effect = summarized(&mut draws, request.interval);
                    let (level, at) = (self.level(number), at.clone());
                    effects.push(Effect { contrast: contrast.to_owned(), at, level, effect });
                }
            };
            match &values {
                Values::Numbers { step, .. } => push("slope", self.slopes(&table, request, *step)?),
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

    /// The name of the level of a response.
    fn level(&self, number: usize) -> Option<String> {
        self.law().levels().get(number).cloned()
    }

    /// The values that a column is compared at.
    fn values_of(&self, table: &Table, name: &str) -> Result<Values, Error> {
        let coding = &self.config().resolved.coding;
        let Some(column) = table.column(name) else {
            return Err(Error::setting("--by", name, format!("a column of {}", table.name())));
        };
        let numbers = match column.numbers() {
            Some(numbers) if !coding.is_factor(name) => numbers,
            _ => {
                let levels = coding.levels(name).map(<[String]>::to_vec);
                let levels = levels.unwrap_or_else(|| distinct(column));
                let number = column.numbers().is_some();
                let value =
                    |level: String| Value { x: level.parse().ok().filter(|_| number), name: level };
                return Ok(Values::Each(levels.into_iter().map(value).collect()));
            }
        };
        if numbers.iter().all(|x| *x == 0.0 || *x == 1.0) {
            let value = |x: f64| Value { name: x.to_string(), x: Some(x) };
            return Ok(Values::Each(vec![value(0.0), value(1.0)]));
        }
        let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
        let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        Ok(Values::Numbers { low, high, step: STEP * (high - low) })
    }

    /// The average slope of the expected response along a column, in every draw.
    fn slopes(
        &self, table: &Table, request: &EffectsRequest, step: f64,
    ) -> Result<Vec<Vec<f64>>, Error> {
        let name = &request.by;
        let Some(numbers) = table.column(name).and_then(Column::numbers) else {
            return Ok(Vec::new());
        };
        let moved = |by: f64| {
            let values: Vec<f64> = numbers.iter().map(|x| x + by).collect();
            let moved = table.with_column(Column::from_numbers(name, &values));
            self.average(&self.posterior, &moved)
        };
        Ok(differences(&moved(step)?, &moved(-step)?, 2.0 * step))
    }

    /// The expected response averaged over the rows of a table, in every draw; one list for each
    /// level where responses have levels.
    fn average(&self, posterior: &Posterior, table: &Table) -> Result<Vec<Vec<f64>>, Error> {
        let new = self.coded(table)?;
        let lists = self.law().levels().len().max(1);
        let empty = || vec![vec![0.0; posterior.draws]; lists];
        let mut total = empty();
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
                    let (mut values, mut shares) = (empty(), vec![0.0; lists]);
                    for draw in 0..posterior.draws {
                        let (s, natural) = (posterior.s(room, draw), posterior.natural(draw));
                        self.law().probabilities(s, natural, &mut shares);
                        values.iter_mut().zip(&shares).for_each(|(list, p)| list[draw] = *p);
                    }
                    values
                },
            );
            for lists in &each {
                for (total, list) in total.iter_mut().zip(lists) {
                    total.iter_mut().zip(list).for_each(|(total, value)| *total += value);
                }
            }
        }
        let n = new.rows as f64;
        total.iter_mut().flatten().for_each(|sum| *sum /= n);
        Ok(total)
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
fn distinct(column: &Column) -> Vec<String> {
    let mut all: Vec<String> = match column.numbers() {
        Some(numbers) => numbers.iter().map(f64::to_string).collect(),
        None => {
            column.texts().unwrap_or_default().into_iter().flatten().map(str::to_owned).collect()
        }
    };
    all.sort();
    all.dedup();
    all
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

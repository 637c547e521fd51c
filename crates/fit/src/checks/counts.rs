//! Statistics and frequencies of observed and replicated responses, row by row.

use ridgewalk_potentials::families::Observation;

use super::{FrequencyCheck, StatisticCheck, counted};
use crate::predict::Law;

/// The most counts that are told apart.
const COUNTS: usize = 30;

/// Sums over the rows seen so far, of the observed responses and of each replicate.
pub(super) struct Statistics {
    counted: bool,
    levels: bool,
    rows: f64,
    observed: Sums,
    replicated: Vec<Sums>,
}

#[derive(Debug, Clone, Copy)]
struct Sums {
    sum: f64,
    squares: f64,
    zeros: f64,
    low: f64,
    high: f64,
}

impl Sums {
    const NONE: Self =
        Self { sum: 0.0, squares: 0.0, zeros: 0.0, low: f64::INFINITY, high: f64::NEG_INFINITY };

    fn add(&mut self, value: f64) {
        self.sum += value;
        self.squares += value * value;
        self.zeros += f64::from(u8::from(value == 0.0));
        self.low = self.low.min(value);
        self.high = self.high.max(value);
    }

    fn variance(&self, n: f64) -> f64 {
        ((self.squares - self.sum * self.sum / n) / (n - 1.0)).max(0.0)
    }
}

impl Statistics {
    pub(super) fn new(law: &Law, draws: usize) -> Self {
        let (counted, levels) = (counted(law), law.family().has_levels());
        let replicated = vec![Sums::NONE; draws];
        Self { counted, levels, rows: 0.0, observed: Sums::NONE, replicated }
    }

    /// Adds a row. Responses out of trials count as shares.
    pub(super) fn add(&mut self, y: Observation, replicated: &[f64]) {
        self.rows += 1.0;
        self.observed.add(y.response / y.trials);
        let each = self.replicated.iter_mut().zip(replicated);
        each.for_each(|(sums, value)| sums.add(value / y.trials));
    }

    pub(super) fn finish(self) -> Vec<StatisticCheck> {
        type Of = fn(&Sums, f64) -> f64;
        let mean: Of = |sums, n| sums.sum / n;
        let sd: Of = |sums, n| sums.variance(n).sqrt();
        let zeros: Of = |sums, n| sums.zeros / n;
        let ratio: Of = |sums, n| sums.variance(n) / (sums.sum / n);
        let low: Of = |sums, _| sums.low;
        let high: Of = |sums, _| sums.high;
        let all: &[(&str, Of)] = match (self.levels, self.counted) {
            (true, _) => &[],
            (_, true) => &[
                ("mean", mean),
                ("share of zeros", zeros),
                ("variance / mean", ratio),
                ("largest", high),
            ],
            _ => {
                &[("mean", mean), ("standard deviation", sd), ("smallest", low), ("largest", high)]
            }
        };
        all.iter().map(|(name, of)| self.check(name, *of)).collect()
    }

    fn check(&self, name: &str, of: fn(&Sums, f64) -> f64) -> StatisticCheck {
        let observed = of(&self.observed, self.rows);
        let each = self.replicated.iter().map(|sums| of(sums, self.rows));
        let mut each: Vec<f64> = each.filter(|value| value.is_finite()).collect();
        each.sort_by(f64::total_cmp);
        let n = each.len().max(1) as f64;
        let above = each.iter().filter(|value| **value > observed).count() as f64;
        let equal = each.iter().filter(|value| **value == observed).count() as f64;
        StatisticCheck {
            name: name.to_owned(),
            observed,
            expected: each.iter().sum::<f64>() / n,
            range: central(&each),
            tail: (above + 0.5 * equal) / n,
        }
    }
}

/// The central 90 % of sorted values.
pub(super) fn central(sorted: &[f64]) -> [f64; 2] {
    let at = |p: f64| {
        let last = sorted.len().saturating_sub(1);
        // Between 0 and the number of values.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let index = (last as f64 * p).round() as usize;
        sorted.get(index).copied().unwrap_or(f64::NAN)
    };
    [at(0.05), at(0.95)]
}

/// How often each count or level occurs.
pub(super) struct Frequencies {
    names: Vec<String>,
    observed: Vec<f64>,
    /// For each replicate.
    replicated: Vec<Vec<f64>>,
}

impl Frequencies {
    /// For counts and levels only.
    pub(super) fn new(law: &Law, y: &[Observation], draws: usize) -> Option<Self> {
        let names: Vec<String> = if law.family().has_levels() {
            law.levels().to_vec()
        } else if counted(law) {
            let largest = y.iter().map(|y| y.response).fold(0.0, f64::max);
            // At most the number of bars.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let last = largest.min(COUNTS as f64) as usize;
            let mut names: Vec<String> = (0..=last).map(|count| count.to_string()).collect();
            names.push(format!("{}+", last + 1));
            names
        } else {
            return None;
        };
        let none = vec![0.0; names.len()];
        Some(Self { names, observed: none.clone(), replicated: vec![none; draws] })
    }

    pub(super) fn add(&mut self, y: f64, replicated: &[f64]) {
        let last = self.names.len() - 1;
        // Counts beyond the last have its bar.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let bar = |value: f64| (value as usize).min(last);
        self.observed[bar(y)] += 1.0;
        let each = self.replicated.iter_mut().zip(replicated);
        each.for_each(|(counts, value)| counts[bar(*value)] += 1.0);
    }

    pub(super) fn finish(self) -> FrequencyCheck {
        let (mut expected, mut ranges) = (Vec::new(), Vec::new());
        for bar in 0..self.names.len() {
            let mut each: Vec<f64> = self.replicated.iter().map(|counts| counts[bar]).collect();
            each.sort_by(f64::total_cmp);
            expected.push(each.iter().sum::<f64>() / each.len().max(1) as f64);
            ranges.push(central(&each));
        }
        FrequencyCheck { names: self.names, observed: self.observed, expected, ranges }
    }
}

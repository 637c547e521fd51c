//! What can be predicted of a row, in every draw, and its summary.

use serde::Serialize;

use super::law::Law;
use super::{Posterior, PredictionKind, PredictionRequest, RowRoom};

/// One number per draw of a row.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Quantity {
    /// A linear predictor.
    Linear(usize),
    /// The expected response.
    Mean,
    /// The probability of a level.
    Level(usize),
    /// The probability of a time beyond this one.
    Survival(f64),
    /// The time before which this share of the events happen.
    Time(f64),
    /// A response drawn at random.
    Response,
    /// A level drawn at random.
    LevelResponse,
}

/// The summary of a predicted quantity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summarized {
    /// The posterior mean; of a level drawn at random, the share of the draws with the level.
    pub mean: f64,
    /// The posterior standard deviation.
    pub sd: f64,
    /// The lower end of the interval.
    pub lower: f64,
    /// The median.
    pub median: f64,
    /// The upper end of the interval.
    pub upper: f64,
    /// The most frequent level, by its number, where levels are drawn at random.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub level: Option<usize>,
}

impl Quantity {
    /// The quantities of a request.
    pub(crate) fn all(law: &Law, request: &PredictionRequest) -> Vec<Self> {
        let family = law.family();
        let levels = law.levels().len();
        match request.kind {
            PredictionKind::Linear => (0..law.predictors()).map(Self::Linear).collect(),
            PredictionKind::Response if family.has_levels() => vec![Self::LevelResponse],
            PredictionKind::Response => vec![Self::Response],
            PredictionKind::Mean if family.has_levels() => (0..levels).map(Self::Level).collect(),
            PredictionKind::Mean if family.is_survival() => {
                let shares: &[f64] = match (&request.shares[..], request.times.is_empty()) {
                    ([], true) => &[0.5],
                    (shares, _) => shares,
                };
                let times = request.times.iter().map(|time| Self::Survival(*time));
                let shares = shares.iter().map(|share| Self::Time(*share));
                std::iter::once(Self::Mean).chain(shares).chain(times).collect()
            }
            PredictionKind::Mean => vec![Self::Mean],
        }
    }

    /// Its name in tables.
    pub(crate) fn name(&self, law: &Law) -> String {
        match self {
            Self::Linear(_) if law.predictors() == 1 => "linear".to_owned(),
            Self::Linear(number) => format!("linear[{}]", law.levels()[number + 1]),
            Self::Mean if law.family().is_binomial() => "probability".to_owned(),
            Self::Mean => "mean".to_owned(),
            Self::Level(level) => format!("probability[{}]", law.levels()[*level]),
            Self::Survival(time) => format!("survival[{time}]"),
            Self::Time(share) => format!("time[{share}]"),
            Self::Response | Self::LevelResponse => "response".to_owned(),
        }
    }

    /// Its value in every draw, into the room of the row.
    pub(crate) fn values(&self, posterior: &Posterior, row: &mut RowRoom<'_>) {
        let RowRoom { room, trials, generator } = row;
        if *self == Self::Mean {
            return posterior.means(room);
        }
        let law = &posterior.law;
        let mut values = std::mem::take(&mut room.values);
        values.clear();
        let mut each = vec![0.0; law.levels().len()];
        values.extend((0..posterior.draws).map(|draw| {
            let (s, natural) = (posterior.s(room, draw), posterior.natural(draw));
            match self {
                Self::Linear(number) => s[*number],
                Self::Mean => f64::NAN,
                Self::Level(level) => {
                    law.probabilities(s, natural, &mut each);
                    each[*level]
                }
                Self::Survival(time) => law.survival(s[0], natural, *time),
                Self::Time(share) => law.time(s[0], natural, *share),
                Self::Response | Self::LevelResponse => match generator {
                    Some(generator) => law.draw(s, natural, *trials, generator),
                    None => f64::NAN,
                },
            }
        }));
        room.values = values;
    }

    /// The summary of its draws, which are put in another order.
    pub(crate) fn summarized(&self, values: &mut [f64], interval: f64) -> Summarized {
        match self {
            Self::LevelResponse => most_frequent(values),
            _ => summarized(values, interval),
        }
    }
}

fn most_frequent(values: &[f64]) -> Summarized {
    let mut counts: Vec<usize> = Vec::new();
    for value in values {
        // Numbers of levels.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let level = *value as usize;
        if counts.len() <= level {
            counts.resize(level + 1, 0);
        }
        counts[level] += 1;
    }
    let most = counts.iter().copied().enumerate().rev().max_by_key(|(_, count)| *count);
    let (level, count) = most.unwrap_or((0, 0));
    let mean = count as f64 / values.len().max(1) as f64;
    let sd = (mean * (1.0 - mean)).sqrt();
    let none = f64::NAN;
    Summarized { mean, sd, lower: none, median: none, upper: none, level: Some(level) }
}

/// Mean, standard deviation and central interval of some draws, which are put in another order.
pub(crate) fn summarized(values: &mut [f64], interval: f64) -> Summarized {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let sd = (values.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n - 1.0)).sqrt();
    let tail = 0.5 * (1.0 - interval);
    let [lower, median, upper] = quantiles(values, [tail, 0.5, 1.0 - tail]);
    Summarized { mean, sd, lower, median, upper, level: None }
}

/// Quantiles by linear interpolation between order statistics, as in summaries; increasing
/// probabilities. Draws are put in another order.
pub(crate) fn quantiles<const N: usize>(values: &mut [f64], at: [f64; N]) -> [f64; N] {
    let mut from = 0;
    at.map(|p| {
        if values.is_empty() {
            return f64::NAN;
        }
        let position = (values.len() - 1) as f64 * p;
        // Between 0 and the number of draws.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let index = (position.floor() as usize).clamp(from, values.len() - 1);
        let (_, low, above) = values[from..].select_nth_unstable_by(index - from, f64::total_cmp);
        let low = *low;
        let share = position - index as f64;
        let high = match share > 0.0 {
            true => above.iter().copied().fold(f64::INFINITY, f64::min),
            false => low,
        };
        from = index;
        if low == high {
            low
        } else if share < 0.5 {
            low + (high - low) * share
        } else {
            high - (high - low) * (1.0 - share)
        }
    })
}

//! Checks of a model against its data: replicated responses next to the observed ones, calibration,
//! residuals, and rows that the fit depends on.
//!
//! Everything is computed from at most [`DRAWS`] draws and a [`Sample`] of the rows, so that it costs
//! little beside the fit. Rows are predicted by the others (PSIS-LOO), not by themselves.

mod counts;
mod groups;
mod numbers;
mod sample;
mod survival;

use rayon::prelude::*;
use ridgewalk_diagnostics::{Elpd, Pointwise, Psis, pareto_k_limit};
use ridgewalk_frame::FamilyName;
use ridgewalk_potentials::families::Observation;
use serde::{Deserialize, Serialize};

use counts::{Frequencies, Statistics};
pub use groups::GroupCheck;
pub(crate) use sample::{SAMPLED, Sample};

use crate::config::Config;
use crate::draws::DrawReader;
use crate::error::Error;
use crate::loo::{Observed, relative_efficiency};
use crate::predict::law::normal_quantile;
use crate::predict::{Law, Posterior, Room};

/// Draws that are used.
const DRAWS: usize = 1000;
/// Replicated data sets whose densities are shown.
const CURVES: usize = 40;
/// Points of a density.
const GRID: usize = 120;
/// Groups of a calibration plot.
const GROUPS: usize = 10;
/// Bars of a histogram of PIT values.
const BARS: usize = 20;
/// The number of the generator's seed, apart from that of the chains.
const SEED: u64 = 0x7072_6564;

/// The checks of a fit: the content of `checks.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Checks {
    /// Rows that were checked, of so many.
    pub rows: [usize; 2],
    /// Whether replicates are of the prior. Then rows are not predicted by others.
    #[serde(default)]
    pub prior: bool,
    /// Replicated data sets.
    pub replicates: usize,
    /// Densities of real responses.
    pub densities: Option<Densities>,
    /// How often each count or level occurs.
    pub frequencies: Option<FrequencyCheck>,
    /// Predicted probabilities next to observed shares, for 0/1 responses and trials.
    pub calibration: Vec<CalibrationGroup>,
    /// How well probabilities tell 1 from 0.
    pub roc: Option<Roc>,
    /// Survival curves.
    pub survival: Option<SurvivalCheck>,
    /// Statistics of the responses and of replicated ones.
    pub statistics: Vec<StatisticCheck>,
    /// For each row the expected response and the residual, on the scale of a standard normal
    /// distribution.
    #[serde(deserialize_with = "numbers::twos")]
    pub residuals: Vec<[f64; 2]>,
    /// The histogram of the probability that a row's response is above what the others predict:
    /// flat for a model that fits.
    pub pit: Vec<usize>,
    /// Leave-one-out cross-validation of these rows.
    pub loo: Option<LooCheck>,
    /// The groupings of a family whose responses have a noise of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<GroupCheck>,
}

/// Densities of observed and replicated responses on one grid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Densities {
    /// The grid.
    #[serde(deserialize_with = "numbers::list")]
    pub x: Vec<f64>,
    /// Whether x are logarithms, for positive responses.
    pub logarithm: bool,
    /// Of the observed responses.
    #[serde(deserialize_with = "numbers::list")]
    pub observed: Vec<f64>,
    /// Of replicated ones.
    #[serde(deserialize_with = "numbers::lists")]
    pub replicated: Vec<Vec<f64>>,
}

/// Observed frequencies, and the range of those of replicated responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FrequencyCheck {
    /// The counts or levels; the last may stand for all above.
    pub names: Vec<String>,
    /// How often each was observed.
    #[serde(deserialize_with = "numbers::list")]
    pub observed: Vec<f64>,
    /// The mean frequency in replicates.
    #[serde(deserialize_with = "numbers::list")]
    pub expected: Vec<f64>,
    /// The central 90 % of the frequencies in replicates.
    #[serde(deserialize_with = "numbers::twos")]
    pub ranges: Vec<[f64; 2]>,
}

/// Rows with similar predicted probabilities.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CalibrationGroup {
    /// Their mean predicted probability.
    #[serde(deserialize_with = "numbers::one")]
    pub predicted: f64,
    /// The observed share.
    #[serde(deserialize_with = "numbers::one")]
    pub observed: f64,
    /// A 90 % interval of the share if the prediction is right (Wilson's).
    #[serde(deserialize_with = "numbers::two")]
    pub range: [f64; 2],
    /// Trials in the group.
    #[serde(deserialize_with = "numbers::one")]
    pub trials: f64,
}

/// The receiver operating characteristic.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Roc {
    /// Shares of false and of true positives.
    #[serde(deserialize_with = "numbers::twos")]
    pub points: Vec<[f64; 2]>,
    /// The area under the curve.
    #[serde(deserialize_with = "numbers::one")]
    pub area: f64,
}

/// Survival curves: Kaplan and Meier's estimate, and that of the model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SurvivalCheck {
    /// Times.
    #[serde(deserialize_with = "numbers::list")]
    pub times: Vec<f64>,
    /// Kaplan and Meier's estimate at these times.
    #[serde(deserialize_with = "numbers::list")]
    pub observed: Vec<f64>,
    /// The average survival probability of the rows: its mean over draws.
    #[serde(deserialize_with = "numbers::list")]
    pub expected: Vec<f64>,
    /// Its central 90 %.
    #[serde(deserialize_with = "numbers::twos")]
    pub ranges: Vec<[f64; 2]>,
}

/// A statistic of the responses next to that of replicated ones.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StatisticCheck {
    /// Its name.
    pub name: String,
    /// Of the observed responses.
    #[serde(deserialize_with = "numbers::one")]
    pub observed: f64,
    /// Its mean over replicates.
    #[serde(deserialize_with = "numbers::one")]
    pub expected: f64,
    /// Its central 90 % over replicates.
    #[serde(deserialize_with = "numbers::two")]
    pub range: [f64; 2],
    /// The share of replicates whose statistic is at least the observed one; ties count half.
    #[serde(deserialize_with = "numbers::one")]
    pub tail: f64,
}

/// Leave-one-out cross-validation by importance sampling.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LooCheck {
    /// The expected log density of new responses, over these rows.
    #[serde(deserialize_with = "numbers::one")]
    pub elpd: f64,
    /// Its standard error.
    #[serde(deserialize_with = "numbers::one")]
    pub se: f64,
    /// The effective number of parameters.
    #[serde(deserialize_with = "numbers::one")]
    pub p: f64,
    /// Pareto k of each row, in the order of the file.
    #[serde(deserialize_with = "numbers::list")]
    pub pareto_k: Vec<f64>,
    /// The largest k that is reliable.
    #[serde(deserialize_with = "numbers::one")]
    pub limit: f64,
    /// The rows with larger k: their place in the file, and k.
    #[serde(deserialize_with = "numbers::named")]
    pub influential: Vec<(String, f64)>,
}

/// What one row gives.
struct Row {
    point: Pointwise,
    /// The expected response, predicted by the other rows.
    fitted: f64,
    /// The probability of smaller responses.
    pit: f64,
    /// A response in each draw.
    replicated: Vec<f64>,
}

impl Checks {
    /// Checks a fit, from its draws and a sample of its rows; `None` without draws.
    ///
    /// # Errors
    /// Draws that cannot be read.
    pub(crate) fn new(
        config: &Config, draws: &dyn DrawReader, sample: &Sample,
    ) -> Result<Option<Self>, Error> {
        let posterior = Posterior::thinned(config, draws, DRAWS)?;
        let observed = &sample.observed;
        if posterior.draws < 2 || observed.rows() < 2 {
            return Ok(None);
        }
        let r_eff = relative_efficiency(draws)?;
        let all = 0..observed.rows();
        let rows: Vec<Row> =
            posterior.map_rows(observed.design(), all, Psis::new, |psis, room, row| {
                of_row(&posterior, observed, row, r_eff, room, psis)
            });
        let law = &posterior.law;
        let y = observed.observations();
        let family = law.family();
        let mut statistics = Statistics::new(law, posterior.draws);
        let mut frequencies = Frequencies::new(law, y, posterior.draws);
        for (row, y) in rows.iter().zip(y) {
            statistics.add(*y, &row.replicated);
            if let Some(frequencies) = &mut frequencies {
                frequencies.add(y.response, &row.replicated);
            }
        }
        let prior = config.options.prior_only;
        let residuals = rows.iter().map(|row| [row.fitted, residual(row.pit)]).collect();
        let real = family.has_noise() || family == FamilyName::Gamma;
        let binary = family.is_binomial();
        let points: Vec<Pointwise> = rows.iter().map(|row| row.point).collect();
        let mut pit = vec![0; BARS];
        for row in &rows {
            // Between 0 and 1.
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
            let bar = (row.pit * BARS as f64) as usize;
            pit[bar.min(BARS - 1)] += 1;
        }
        Ok(Some(Self {
            rows: [observed.rows(), sample.of],
            prior,
            replicates: posterior.draws,
            densities: real.then(|| densities(family, y, &rows)),
            frequencies: frequencies.map(Frequencies::finish),
            calibration: if binary && !prior { calibration(y, &rows) } else { Vec::new() },
            roc: if binary && !prior { roc(y, &rows) } else { None },
            survival: family.is_survival().then(|| survival::check(&posterior, observed)).flatten(),
            statistics: if family.is_survival() { Vec::new() } else { statistics.finish() },
            residuals: if prior { Vec::new() } else { residuals },
            pit: if prior { Vec::new() } else { pit },
            loo: (!prior).then(|| loo(&points, posterior.draws, observed)),
            groups: groups::checks(config, &posterior, sample),
        }))
    }
}

/// Everything of one row, from its linear predictors in every draw.
fn of_row(
    posterior: &Posterior, observed: &Observed, row: usize, r_eff: f64, room: &mut Room,
    psis: &mut Psis,
) -> Row {
    let (law, y) = (&posterior.law, observed.observations()[row]);
    observed.log_densities(posterior, row, room);
    let point = psis.pointwise(&room.values, r_eff);
    let mut weights: Vec<f64> = room.values.iter().map(|value| -value).collect();
    psis.smooth(&mut weights, r_eff);
    weights.iter_mut().for_each(|weight| *weight = weight.exp());
    let mut rng = Posterior::generator(SEED, row);
    let trials = if law.family().is_survival() { 1.0 } else { y.trials };
    let each = 0..posterior.draws;
    let replicated: Vec<f64> = each
        .clone()
        .map(|draw| law.draw(posterior.s(room, draw), posterior.natural(draw), trials, &mut rng))
        .collect();
    let fitted = |draw: usize| {
        let (s, natural) = (posterior.s(room, draw), posterior.natural(draw));
        // Levels have no mean, and times a mean that may be infinite.
        match law.family() {
            FamilyName::Ordinal | FamilyName::Multinomial => s[0],
            family if family.is_survival() => law.time(s[0], natural, 0.5),
            _ => law.mean(s[0], natural),
        }
    };
    let weighted = |of: &dyn Fn(usize) -> f64| -> f64 {
        each.clone().map(|draw| weights[draw] * of(draw)).sum::<f64>()
    };
    // The share of smaller responses, and a random part of that of equal ones: uniform for a model
    // that fits. A censored time may be anywhere beyond its beginning.
    let [low, high] = match law.family().is_survival() {
        true => [y.response, y.trials],
        false => [y.response; 2],
    };
    let below = weighted(&|draw| f64::from(u8::from(replicated[draw] < low)));
    let upto = weighted(&|draw| f64::from(u8::from(replicated[draw] <= high)));
    let share: f64 = rand_distr::Distribution::sample(&rand_distr::StandardUniform, &mut rng);
    let pit = below + share * (upto - below);
    Row { point, fitted: weighted(&fitted), pit, replicated }
}

/// A probability as a normal score. Draws cannot tell probabilities below half of 1/[`DRAWS`].
fn residual(pit: f64) -> f64 {
    let least = 0.5 / DRAWS as f64;
    normal_quantile(pit.clamp(least, 1.0 - least))
}

fn loo(points: &[Pointwise], draws: usize, observed: &Observed) -> LooCheck {
    let total = Elpd::loo(points);
    let limit = pareto_k_limit(draws);
    let high = points.iter().enumerate().filter(|(_, point)| !(point.pareto_k <= limit));
    let place = |(row, point): (usize, &Pointwise)| {
        (observed.place(row).map(|place| place.to_string()).unwrap_or_default(), point.pareto_k)
    };
    let mut influential: Vec<(String, f64)> = high.map(place).collect();
    influential.sort_by(|a, b| b.1.total_cmp(&a.1));
    influential.truncate(20);
    LooCheck {
        elpd: total.elpd,
        se: total.se,
        p: total.p,
        pareto_k: points.iter().map(|point| point.pareto_k).collect(),
        limit,
        influential,
    }
}

/// Kernel densities of observed and of some replicated responses.
fn densities(family: FamilyName, y: &[Observation], rows: &[Row]) -> Densities {
    let logarithm = family == FamilyName::Gamma;
    let scale = |value: f64| if logarithm { value.ln() } else { value };
    let observed: Vec<f64> = y.iter().map(|y| scale(y.response)).collect();
    let draws = rows.first().map_or(0, |row| row.replicated.len());
    let every = draws.div_ceil(CURVES).max(1);
    let replicated: Vec<Vec<f64>> = (0..draws)
        .step_by(every)
        .map(|draw| rows.iter().map(|row| scale(row.replicated[draw])).collect())
        .collect();
    let mut sorted = observed.clone();
    sorted.sort_by(f64::total_cmp);
    let (low, high) = (sorted[0], sorted[sorted.len() - 1]);
    let margin = 0.15 * (high - low).max(1e-9);
    let step = (high - low + 2.0 * margin) / (GRID - 1) as f64;
    let x: Vec<f64> = (0..GRID).map(|k| low - margin + step * k as f64).collect();
    // Silverman's rule, for the observed responses and for all replicates alike.
    let n = sorted.len() as f64;
    let mean = sorted.iter().sum::<f64>() / n;
    let sd = (sorted.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / (n - 1.0)).sqrt();
    let quartile = |k: usize| sorted[k * (sorted.len() - 1) / 4];
    let spread = sd.min((quartile(3) - quartile(1)) / 1.34);
    let width = 0.9 * if spread > 0.0 { spread } else { sd.max(1e-9) } * n.powf(-0.2);
    let curve = |values: &[f64]| kernel_density(values, &x, width);
    let curves = replicated.par_iter().map(|values| curve(values)).collect();
    Densities { logarithm, observed: curve(&observed), replicated: curves, x }
}

fn kernel_density(values: &[f64], x: &[f64], width: f64) -> Vec<f64> {
    let scale = 1.0 / (values.len() as f64 * width * (2.0 * std::f64::consts::PI).sqrt());
    let at = |x: &f64| {
        let near = values.iter().map(|v| (x - v) / width).filter(|z| z.abs() < 5.0);
        scale * near.map(|z| (-0.5 * z * z).exp()).sum::<f64>()
    };
    x.iter().map(at).collect()
}

/// Groups of rows by their predicted probability, of about equal numbers of trials.
fn calibration(y: &[Observation], rows: &[Row]) -> Vec<CalibrationGroup> {
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*a].fitted.total_cmp(&rows[*b].fitted));
    let total: f64 = y.iter().map(|y| y.trials).sum();
    let mut groups: Vec<[f64; 3]> = Vec::new();
    let mut done = 0.0;
    for row in order {
        // Between 0 and the number of groups.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let group = (done / total * GROUPS as f64) as usize;
        if groups.len() <= group {
            groups.resize(group + 1, [0.0; 3]);
        }
        let Observation { response, trials } = y[row];
        let last = groups.len() - 1;
        let sums = [trials, trials * rows[row].fitted, response];
        groups[last].iter_mut().zip(sums).for_each(|(sum, value)| *sum += value);
        done += trials;
    }
    let finish = |[trials, predicted, observed]: &[f64; 3]| {
        let observed = observed / trials;
        let range = wilson(observed, *trials);
        CalibrationGroup { predicted: predicted / trials, observed, range, trials: *trials }
    };
    groups.iter().filter(|group| group[0] > 0.0).map(finish).collect()
}

/// Wilson's 90 % interval of a share.
fn wilson(share: f64, n: f64) -> [f64; 2] {
    const Z: f64 = 1.644_853_626_951_472_7;
    let middle = (share + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (share * (1.0 - share) / n + Z * Z / (4.0 * n * n)).sqrt();
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// The curve of true against false positives, for rows with one trial.
fn roc(y: &[Observation], rows: &[Row]) -> Option<Roc> {
    if y.iter().any(|y| y.trials != 1.0) {
        return None;
    }
    let positives = y.iter().filter(|y| y.response == 1.0).count() as f64;
    let negatives = y.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by(|a, b| rows[*b].fitted.total_cmp(&rows[*a].fitted));
    let (mut points, mut area, mut at) = (vec![[0.0; 2]], 0.0, [0.0; 2]);
    let mut k = 0;
    while k < order.len() {
        let before = at;
        let level = rows[order[k]].fitted;
        // Rows with equal probabilities are passed together.
        while k < order.len() && rows[order[k]].fitted == level {
            if y[order[k]].response == 1.0 {
                at[1] += 1.0 / positives;
            } else {
                at[0] += 1.0 / negatives;
            }
            k += 1;
        }
        area += (at[0] - before[0]) * 0.5 * (at[1] + before[1]);
        points.push(at);
    }
    // Enough points for a drawing.
    let every = points.len().div_ceil(200).max(1);
    let mut some: Vec<[f64; 2]> = points.iter().copied().step_by(every).collect();
    some.push([1.0, 1.0]);
    Some(Roc { points: some, area })
}

/// Whether responses of a law are counts.
fn counted(law: &Law) -> bool {
    matches!(law.family(), FamilyName::Poisson | FamilyName::NegativeBinomial)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_not_finite_can_be_read_back() {
        let [observed, expected, tail, elpd] = [f64::NAN, f64::INFINITY, 0.5, -3.0];
        let statistic = StatisticCheck {
            name: "variance / mean".into(),
            observed,
            expected,
            range: [observed, 1.0],
            tail,
        };
        let (pareto_k, influential) = (vec![0.1, observed], vec![("line 3".into(), observed)]);
        let loo = LooCheck { elpd, se: 1.0, p: 2.0, pareto_k, limit: 0.7, influential };
        let checks = Checks {
            rows: [2, 2],
            prior: false,
            replicates: 10,
            densities: None,
            frequencies: None,
            calibration: Vec::new(),
            roc: None,
            survival: None,
            statistics: vec![statistic],
            residuals: vec![[expected, 0.0]],
            pit: vec![1, 1],
            loo: Some(loo),
            groups: Vec::new(),
        };
        let text = serde_json::to_string(&checks).unwrap();
        let read: Checks = serde_json::from_str(&text).unwrap();
        assert!(read.statistics[0].observed.is_nan() && read.statistics[0].range[1] == 1.0);
        let loo = read.loo.unwrap();
        assert!(loo.pareto_k[1].is_nan() && read.residuals[0][0].is_nan());
        assert_eq!((loo.elpd, read.statistics[0].tail), (elpd, tail));
    }
}

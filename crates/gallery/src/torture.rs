//! The torture set: small posteriors that are hard to sample, with means, standard deviations and
//! quantiles of every coefficient from quadrature, importance sampling or long runs.
//!
//! Data and references are in `data/torture.json`, written by `scripts/oracles/torture.py`, which
//! shares no code with ridgewalk. The file also has values and gradients of each potential, from
//! that script, so that a test can check that both describe the same posterior.

use std::sync::Arc;

use ridgewalk_potentials::families::{
    Family, Gaussian, Huber, Logistic, LogisticNoise, Poisson, Probit,
};
use ridgewalk_potentials::{Dense, Prior, Ridge};
use serde::Deserialize;

use crate::Anything;

/// Probabilities of the quantiles of a [`Coefficient`].
pub const TORTURE_PROBABILITIES: [f64; 3] = [0.05, 0.5, 0.95];

/// A number for each row.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(untagged)]
enum Numbers {
    /// The same in all rows.
    Same(f64),
    Each(Vec<f64>),
}

impl Numbers {
    fn list(&self, rows: usize) -> Vec<f64> {
        match self {
            Self::Same(number) => vec![*number; rows],
            Self::Each(numbers) => numbers.clone(),
        }
    }
}

/// The potential at a point, from the script.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct KnownPoint {
    /// The point.
    pub at: Vec<f64>,
    /// U there.
    pub value: f64,
    /// The sum of the absolute values of the terms of U. Rounding errors are in proportion to it.
    pub value_size: f64,
    /// ∇U there.
    pub gradient: Vec<f64>,
    /// The same sums for each component of ∇U.
    pub gradient_sizes: Vec<f64>,
}

/// A reference value with its error.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    /// The value.
    pub value: f64,
    /// The difference between two quadrature rules, or the Monte Carlo standard error.
    pub error: f64,
}

/// The references of one coefficient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficient {
    /// The mean.
    pub mean: Figure,
    /// The standard deviation.
    pub sd: Figure,
    /// The quantiles at [`TORTURE_PROBABILITIES`].
    pub quantiles: [Figure; 3],
}

/// A posterior of the torture set. Read by [`torture`].
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Torture {
    /// The name, unique in the set.
    pub name: String,
    /// How the references were made: `quadrature`, `importance sampling`, `hmc` or `closed form`.
    pub method: String,
    /// The scale of the normal prior of each coefficient, whose mean is 0; `None` is flat.
    pub prior: Vec<Option<f64>>,
    /// Values and gradients of the potential: at the mode and at two points near it.
    pub points: Vec<KnownPoint>,
    family: String,
    scale: f64,
    delta: f64,
    rows: usize,
    columns: Vec<Numbers>,
    y: Numbers,
    trials: Numbers,
    weights: Numbers,
    offsets: Numbers,
    mean: Vec<f64>,
    mean_error: Vec<f64>,
    sd: Vec<f64>,
    sd_error: Vec<f64>,
    q05: Vec<f64>,
    q05_error: Vec<f64>,
    q50: Vec<f64>,
    q50_error: Vec<f64>,
    q95: Vec<f64>,
    q95_error: Vec<f64>,
}

impl Torture {
    /// The posterior.
    ///
    /// # Errors
    /// A prior scale that is not positive. As read from the file, never, unless this crate has a
    /// mistake.
    pub fn posterior(&self) -> Result<Ridge<'static, Arc<dyn Family>>, Anything> {
        let columns: Vec<Vec<f64>> =
            self.columns.iter().map(|column| column.list(self.rows)).collect();
        let scales: Vec<f64> =
            self.prior.iter().map(|scale| scale.unwrap_or(f64::INFINITY)).collect();
        let prior = Prior::normal(&vec![0.0; scales.len()], &scales)?;
        let [y, trials] = [&self.y, &self.trials].map(|numbers| numbers.list(self.rows));
        let design = Dense::from_columns(&columns)?;
        let ridge = Ridge::with_trials(design, self.family()?, &y, &trials, prior)?;
        let ridge = match &self.weights {
            Numbers::Same(1.0) => ridge,
            Numbers::Same(_) | Numbers::Each(_) => {
                ridge.with_weights(self.weights.list(self.rows))?
            }
        };
        Ok(match &self.offsets {
            Numbers::Same(0.0) => ridge,
            Numbers::Same(_) | Numbers::Each(_) => {
                ridge.with_offsets(self.offsets.list(self.rows))?
            }
        })
    }

    fn family(&self) -> Result<Arc<dyn Family>, Anything> {
        Ok(match self.family.as_str() {
            "logistic" => Arc::new(Logistic),
            "probit" => Arc::new(Probit),
            "poisson" => Arc::new(Poisson),
            "gaussian" => Arc::new(Gaussian::new(self.scale)?),
            "robust-logistic" => Arc::new(LogisticNoise::new(self.scale)?),
            "robust-huber" => Arc::new(Huber::new(self.scale, self.delta)?),
            other => return Err(format!("no family `{other}`").into()),
        })
    }

    /// The number of coefficients.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.prior.len()
    }

    /// The references of all coefficients.
    #[must_use]
    pub fn coefficients(&self) -> Vec<Coefficient> {
        let figure = |values: &[f64], errors: &[f64], k: usize| Figure {
            value: values[k],
            error: errors[k],
        };
        (0..self.dimension())
            .map(|k| Coefficient {
                mean: figure(&self.mean, &self.mean_error, k),
                sd: figure(&self.sd, &self.sd_error, k),
                quantiles: [
                    figure(&self.q05, &self.q05_error, k),
                    figure(&self.q50, &self.q50_error, k),
                    figure(&self.q95, &self.q95_error, k),
                ],
            })
            .collect()
    }

    /// Whether every list has one entry per coefficient.
    fn is_complete(&self) -> bool {
        let lists = [
            &self.mean,
            &self.mean_error,
            &self.sd,
            &self.sd_error,
            &self.q05,
            &self.q05_error,
            &self.q50,
            &self.q50_error,
            &self.q95,
            &self.q95_error,
        ];
        let points = self.points.iter().flat_map(|p| [&p.at, &p.gradient, &p.gradient_sizes]);
        let d = self.dimension();
        self.columns.len() == d && lists.into_iter().chain(points).all(|list| list.len() == d)
    }
}

/// The file of the set.
#[derive(Deserialize)]
struct File {
    cases: Vec<Torture>,
}

/// All posteriors of the set.
///
/// ```
/// let set = ridgewalk_gallery::torture()?;
/// let case = set.iter().find(|case| case.name == "poisson-3-rows-close").ok_or("missing")?;
/// assert_eq!(case.posterior()?.dimension(), 2);
/// assert!((case.coefficients()[0].sd.value - 0.87).abs() < 0.01);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Never, unless this crate has a mistake.
pub fn torture() -> Result<Vec<Torture>, Anything> {
    let file: File = serde_json::from_str(include_str!("../data/torture.json"))?;
    match file.cases.iter().find(|case| !case.is_complete()) {
        None => Ok(file.cases),
        Some(case) => Err(format!("`{}`: need one entry per coefficient", case.name).into()),
    }
}

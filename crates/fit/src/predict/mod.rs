//! Predictions: what a fit says about rows of data, old or new.
//!
//! [`Predictor`] codes new rows like those of the fit and summarises, for each row, the posterior of
//! its linear predictor, of its expected response, or of a response itself.

mod effects;
mod groups;
pub(crate) mod law;
pub(crate) mod posterior;
mod quantity;

use std::fmt;
use std::ops::Range;
use std::str::FromStr;

use ridgewalk_frame::{FamilyName, GroupEntries, NewRows, Table};

pub use effects::{CurvePoint, Effect, Effects, EffectsRequest};
pub use law::Law;
pub(crate) use posterior::{DesignRows, Posterior, Room};
use quantity::Quantity;
pub use quantity::Summarized;

use crate::config::Config;
use crate::draws::DrawReader;
use crate::error::Error;
use crate::loo::Observed;
use crate::memory::Again;

/// What is predicted for a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PredictionKind {
    /// The linear predictor, offset included.
    Linear,
    /// The expected response: a probability for 0/1 responses, trials and levels; for times also
    /// quantiles and survival probabilities.
    Mean,
    /// A response drawn at random: its spread is that of the data, not only that of the estimate.
    Response,
}

impl PredictionKind {
    /// All kinds.
    pub const ALL: [Self; 3] = [Self::Linear, Self::Mean, Self::Response];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Linear => "linear",
            Self::Mean => "mean",
            Self::Response => "response",
        }
    }
}

impl fmt::Display for PredictionKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for PredictionKind {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| format!("found `{name}`, need linear, mean or response"))
    }
}

/// What to predict, and how to summarise it.
#[derive(Debug, Clone, PartialEq)]
pub struct PredictionRequest {
    /// What is predicted.
    pub kind: PredictionKind,
    /// The mass of the central interval.
    pub interval: f64,
    /// Survival families: times at which the probability of living longer is predicted.
    pub times: Vec<f64>,
    /// Survival families: shares of events, such as 0.5 for the median time, whose times are
    /// predicted.
    pub shares: Vec<f64>,
    /// The seed of responses drawn at random.
    pub seed: u64,
}

impl Default for PredictionRequest {
    fn default() -> Self {
        let (times, shares) = (Vec::new(), Vec::new());
        Self { kind: PredictionKind::Mean, interval: 0.9, times, shares, seed: 0 }
    }
}

impl PredictionRequest {
    fn validate(&self, family: FamilyName) -> Result<(), Error> {
        check_interval(self.interval)?;
        let of_times = family.is_survival() && self.kind == PredictionKind::Mean;
        let for_times = [("--times", &self.times), ("--quantiles", &self.shares)];
        for (name, list) in for_times.into_iter().filter(|(_, list)| !list.is_empty()) {
            let shown = || list.iter().map(f64::to_string).collect::<Vec<_>>().join(",");
            if !of_times {
                let need = "--kind mean and a survival family, such as weibull";
                return Err(Error::setting(name, shown(), need));
            }
            let right = |x: &f64| match name {
                "--times" => *x > 0.0 && x.is_finite(),
                _ => *x > 0.0 && *x < 1.0,
            };
            if !list.iter().all(right) {
                let need =
                    if name == "--times" { "positive numbers" } else { "shares between 0 and 1" };
                return Err(Error::setting(name, shown(), need));
            }
        }
        Ok(())
    }
}

/// Checks the mass of an interval.
pub(crate) fn check_interval(interval: f64) -> Result<(), Error> {
    if interval > 0.0 && interval < 1.0 {
        return Ok(());
    }
    Err(Error::setting("--interval", interval, "a number between 0 and 1, such as 0.9"))
}

/// Predicts rows from the draws of a fit.
///
/// ```
/// use ridgewalk_fit::{PredictionRequest, Settings, fit};
/// use ridgewalk_frame::{FamilyName, Table};
///
/// let study = b"hours,passed\n0.5,0\n1,0\n1.75,1\n2,0\n2.5,1\n3,0\n3.25,1\n4,1\n4.75,1\n5.5,1\n";
/// let table = Table::from_bytes("study.csv", study)?;
/// let settings = Settings::of_formula("passed ~ hours", FamilyName::Logistic);
/// let predictor = fit(&table, &settings)?.predictor()?;
/// let new = Table::from_bytes("new.csv", b"hours\n1\n6\n")?;
/// let found = predictor.predict(&new, 0, &PredictionRequest::default())?;
/// assert_eq!(found.quantities, ["probability"]);
/// assert!(found.rows[0].mean < 0.5 && found.rows[1].mean > 0.8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct Predictor {
    config: Config,
    pub(crate) posterior: Posterior,
    /// With standardized coefficients: centre and divisor of each column.
    scaling: Vec<(f64, f64)>,
}

/// The predictions of some rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Predictions {
    /// What is predicted of each row.
    pub quantities: Vec<String>,
    /// For each row, a summary of each quantity.
    pub rows: Vec<Summarized>,
}

impl Predictor {
    /// Reads the draws of a run with this configuration.
    ///
    /// # Errors
    /// If they cannot be read or are not those of the configuration.
    pub fn new(config: &Config, draws: &dyn DrawReader) -> Result<Self, Error> {
        let posterior = Posterior::new(config, draws)?;
        Ok(Self { config: config.clone(), posterior, scaling: config.scaling() })
    }

    /// Whether the draws of a run, and some rows that are predicted, are within the bound of the memory
    /// in its configuration, if there is one.
    ///
    /// # Errors
    /// [`Error::Memory`], before draws are read.
    pub fn check(config: &Config, draws: &dyn DrawReader) -> Result<(), Error> {
        let (columns, count) = (config.resolved.names().len(), draws.chains() * draws.draws());
        let rows = Again { columns, draws: count as u64, ..Again::default() };
        match config.options.memory {
            Some(bound) if rows.needs() > bound => Err(Error::Memory {
                file: config.data.file.clone(),
                what: format!("{count} draws of {columns} coefficients and parameters"),
                needs: rows.needs(),
                bound,
                remedy: "pass a larger --memory".to_owned(),
            }),
            _ => Ok(()),
        }
    }

    /// The configuration of the fit.
    #[must_use]
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The law of the responses.
    #[must_use]
    pub fn law(&self) -> &Law {
        &self.posterior.law
    }

    /// The number of draws, over all chains.
    #[must_use]
    pub fn draws(&self) -> usize {
        self.posterior.draws
    }

    /// The number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.posterior.chains
    }

    /// The names of what is predicted for a row.
    ///
    /// # Errors
    /// A request that does not fit the model.
    pub fn quantities(&self, request: &PredictionRequest) -> Result<Vec<String>, Error> {
        request.validate(self.law().family())?;
        Ok(self.asked(request).iter().map(|quantity| quantity.name(self.law())).collect())
    }

    fn asked(&self, request: &PredictionRequest) -> Vec<Quantity> {
        Quantity::all(self.law(), request)
    }

    /// Predicts the rows of a table. `first` is the number of its first row, if it is a part of a
    /// larger one: responses drawn at random depend on it, and on nothing else but the seed.
    ///
    /// # Errors
    /// A request that does not fit the model; columns that are missing or of another type, missing
    /// values, and levels that the fit has not seen, each with its place.
    pub fn predict(
        &self, table: &Table, first: usize, request: &PredictionRequest,
    ) -> Result<Predictions, Error> {
        let quantities = self.quantities(request)?;
        let asked = self.asked(request);
        let each = self.each_row(table, first, request, |room| {
            asked
                .iter()
                .map(|quantity| {
                    quantity.values(&self.posterior, room);
                    quantity.summarized(&mut room.room.values, request.interval)
                })
                .collect::<Vec<Summarized>>()
        })?;
        Ok(Predictions { quantities, rows: each.into_iter().flatten().collect() })
    }

    /// For each grouping factor, the number of rows of a table with levels that the fit has not seen,
    /// if there are some.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn unseen(&self, table: &Table) -> Result<Vec<(String, usize)>, Error> {
        if self.config.resolved.groups().is_empty() {
            return Ok(Vec::new());
        }
        let new = self.coded(table)?;
        let mut found: Vec<(String, usize)> = Vec::new();
        let new_rows = new.rows;
        for group in &new.groups {
            let new = |row: &usize| group.entries.of_row(*row).contains(&GroupEntries::NEW);
            let rows = (0..new_rows).filter(new).count();
            if rows > 0 && found.iter().all(|(name, _)| *name != group.name) {
                found.push((group.name.clone(), rows));
            }
        }
        Ok(found)
    }

    /// What to say about entries of sparse matrices in columns that the fit has not seen, if there are
    /// some in a table. They count as 0.
    #[must_use]
    pub fn unknown_entries(&self, table: &Table) -> Option<(usize, String)> {
        let (count, first) = self.config.resolved.coding.unknown_entries(table);
        first.filter(|_| count > 0).map(|first| (count, first))
    }

    /// The draws of each quantity of each row: those of one quantity of one row after another.
    ///
    /// # Errors
    /// As [`predict`](Self::predict).
    pub fn predict_draws(
        &self, table: &Table, first: usize, request: &PredictionRequest,
    ) -> Result<Vec<Vec<f64>>, Error> {
        request.validate(self.law().family())?;
        let asked = self.asked(request);
        let each = self.each_row(table, first, request, |room| {
            let of = |quantity: &Quantity| {
                quantity.values(&self.posterior, room);
                room.room.values.clone()
            };
            asked.iter().map(of).collect::<Vec<Vec<f64>>>()
        })?;
        Ok(each.into_iter().flatten().collect())
    }

    /// The log likelihood of some rows of the fit in every draw, weighted as in the fit: for each
    /// draw, chain after chain, the rows.
    #[must_use]
    pub fn log_likelihood(&self, observed: &Observed, rows: Range<usize>) -> Vec<f64> {
        self.by_draw(observed, rows, |row, room| {
            observed.log_densities(&self.posterior, row, room);
        })
    }

    /// A response drawn at random for some rows of the fit, in every draw and in the same order.
    #[must_use]
    pub fn replicates(&self, observed: &Observed, rows: Range<usize>, seed: u64) -> Vec<f64> {
        let posterior = &self.posterior;
        self.by_draw(observed, rows, |row, room| {
            let mut rng = Posterior::generator(seed, observed.first() + row);
            // Survival families have the end of an interval in place of trials.
            let of_trials = self.law().family().is_binomial();
            let trials = if of_trials { observed.observations()[row].trials } else { 1.0 };
            let draw = |draw: usize| {
                let (s, natural) = (posterior.s(room, draw), posterior.natural(draw));
                self.law().draw(s, natural, trials, &mut rng)
            };
            let values = (0..posterior.draws).map(draw).collect();
            room.values = values;
        })
    }

    /// What `of` puts into the room of each row, turned round: draw by draw.
    fn by_draw(
        &self, observed: &Observed, rows: Range<usize>, of: impl Fn(usize, &mut Room) + Sync + Send,
    ) -> Vec<f64> {
        let design = observed.design();
        let each: Vec<Vec<f64>> = self.posterior.map_rows(
            design,
            rows,
            || (),
            |(), room, row| {
                of(row, room);
                std::mem::take(&mut room.values)
            },
        );
        let draws = 0..self.posterior.draws;
        draws.flat_map(|draw| each.iter().map(move |values| values[draw])).collect()
    }

    /// Calls `of` for each row, on all threads, with its linear predictors.
    fn each_row<T: Send>(
        &self, table: &Table, first: usize, request: &PredictionRequest,
        of: impl Fn(&mut RowRoom<'_>) -> T + Sync + Send,
    ) -> Result<Vec<T>, Error> {
        let new = self.coded(table)?;
        let draws_trials = request.kind == PredictionKind::Response;
        let trials = draws_trials.then(|| self.config.resolved.coding.trials(table)).transpose()?;
        let trials = trials.flatten();
        Ok(self.posterior.map_rows(
            DesignRows { first, ..design_of(&new) },
            0..new.rows,
            || (),
            |(), room, row| {
                let trials = trials.as_ref().map_or(1.0, |trials| trials[row]);
                let generator =
                    draws_trials.then(|| Posterior::generator(request.seed, first + row));
                of(&mut RowRoom { room, trials, generator })
            },
        ))
    }

    /// The rows of a table, coded and scaled like those of the fit.
    fn coded(&self, table: &Table) -> Result<NewRows, Error> {
        let mut new = self.config.resolved.coding.rows(table)?;
        if !self.scaling.is_empty() {
            new.design.map(|column, x| (x - self.scaling[column].0) / self.scaling[column].1);
        }
        Ok(new)
    }
}

/// What to say about rows with levels that the fit has not seen.
#[must_use]
pub fn unseen_levels(name: &str, rows: usize) -> String {
    let (rows, have, its) = match rows {
        1 => ("1 row".to_owned(), "has a level", "its effect is"),
        rows => (format!("{rows} rows"), "have levels", "their effects are"),
    };
    format!(
        "{rows} {have} of `{name}` that the fit has not seen: {its} drawn from the fitted \
         distribution of the effects of `{name}`"
    )
}

/// What to say about entries in columns of a sparse matrix that the fit has not seen.
#[must_use]
pub fn unknown_columns(entries: usize, first: &str) -> String {
    let (entries, are, they) = match entries {
        1 => ("1 entry".to_owned(), "is", "it counts"),
        entries => (format!("{entries} entries"), "are", "they count"),
    };
    format!("{entries} {are} in columns that the fit has not seen, such as `{first}`: {they} as 0")
}

/// The design of new rows.
fn design_of(new: &NewRows) -> DesignRows<'_> {
    let NewRows { design, offset, groups, .. } = new;
    DesignRows { design, offset: offset.as_deref(), groups, first: 0 }
}

/// One row: its linear predictors, its trials, and a generator if responses are drawn.
#[derive(Debug)]
pub(crate) struct RowRoom<'r> {
    room: &'r mut Room,
    trials: f64,
    generator: Option<rand_chacha::ChaCha8Rng>,
}

//! A question about a table: the family and the role of each column.

use std::collections::HashSet;
use std::fmt;
use std::str::FromStr;

use crate::column::Column;
use crate::error::DataError;
use crate::place::nearest;
use crate::table::Table;

/// The families of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FamilyName {
    /// 0 or 1, or successes out of trials, by a logistic curve.
    Logistic,
    /// 0 or 1, or successes out of trials, by a normal curve.
    Probit,
    /// Counts, by a logarithmic link.
    Poisson,
    /// Counts that vary more than Poisson's, by a logarithmic link.
    NegativeBinomial,
    /// Real numbers with normal noise.
    Gaussian,
    /// Real numbers with noise of Student's t distribution.
    StudentT,
    /// Real numbers with logistic noise.
    RobustLogistic,
    /// Real numbers under Huber's loss.
    RobustHuber,
    /// Positive numbers of a gamma distribution, by a logarithmic link.
    Gamma,
    /// Times, censored or not, of a Weibull distribution.
    Weibull,
    /// Times, censored or not, of a log-logistic distribution.
    LogLogistic,
    /// Times, censored or not, of a log-normal distribution.
    LogNormal,
    /// Times, censored or not, of an exponential distribution.
    Exponential,
    /// Ordered levels, by proportional odds.
    Ordinal,
    /// Levels without an order, by a softmax.
    Multinomial,
}

impl FamilyName {
    /// All families.
    pub const ALL: [Self; 15] = [
        Self::Logistic,
        Self::Probit,
        Self::Poisson,
        Self::NegativeBinomial,
        Self::Gaussian,
        Self::StudentT,
        Self::RobustLogistic,
        Self::RobustHuber,
        Self::Gamma,
        Self::Weibull,
        Self::LogLogistic,
        Self::LogNormal,
        Self::Exponential,
        Self::Ordinal,
        Self::Multinomial,
    ];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Probit => "probit",
            Self::Poisson => "poisson",
            Self::NegativeBinomial => "negative-binomial",
            Self::Gaussian => "gaussian",
            Self::StudentT => "student-t",
            Self::RobustLogistic => "robust-logistic",
            Self::RobustHuber => "robust-huber",
            Self::Gamma => "gamma",
            Self::Weibull => "weibull",
            Self::LogLogistic => "log-logistic",
            Self::LogNormal => "log-normal",
            Self::Exponential => "exponential",
            Self::Ordinal => "ordinal",
            Self::Multinomial => "multinomial",
        }
    }

    /// A short description of its responses.
    #[must_use]
    pub fn description(self) -> &'static str {
        match self {
            Self::Logistic => "0 or 1, or successes out of trials, by a logistic curve",
            Self::Probit => "0 or 1, or successes out of trials, by a normal curve",
            Self::Poisson => "counts, by a logarithmic link",
            Self::NegativeBinomial => "counts that vary more than Poisson's, by a logarithmic link",
            Self::Gaussian => "real numbers with normal noise",
            Self::StudentT => "real numbers with noise of Student's t distribution",
            Self::RobustLogistic => "real numbers with logistic noise",
            Self::RobustHuber => "real numbers under Huber's loss",
            Self::Gamma => "positive numbers, by a logarithmic link",
            Self::Weibull => "times, censored or not, of a Weibull distribution",
            Self::LogLogistic => "times, censored or not, of a log-logistic distribution",
            Self::LogNormal => "times, censored or not, of a log-normal distribution",
            Self::Exponential => "times, censored or not, of an exponential distribution",
            Self::Ordinal => "ordered levels, by proportional odds",
            Self::Multinomial => "levels without an order, by a softmax",
        }
    }

    /// Whether its response is 0 or 1, or successes out of trials.
    #[must_use]
    pub fn is_binomial(self) -> bool {
        matches!(self, Self::Logistic | Self::Probit)
    }

    /// Whether its response is a time that may be censored.
    #[must_use]
    pub fn is_survival(self) -> bool {
        matches!(self, Self::Weibull | Self::LogLogistic | Self::LogNormal | Self::Exponential)
    }

    /// Whether its response is one of several levels.
    #[must_use]
    pub fn has_levels(self) -> bool {
        matches!(self, Self::Ordinal | Self::Multinomial)
    }

    /// Whether its response is a real number with noise around the linear predictor.
    #[must_use]
    pub fn has_noise(self) -> bool {
        matches!(self, Self::Gaussian | Self::StudentT | Self::RobustLogistic | Self::RobustHuber)
    }
}

impl fmt::Display for FamilyName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An unknown family name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("found the family `{0}`, need one of {names}", names = FamilyName::ALL.map(FamilyName::name).join(", "))]
pub struct UnknownFamily(String);

impl FromStr for FamilyName {
    type Err = UnknownFamily;

    fn from_str(name: &str) -> Result<Self, UnknownFamily> {
        let found = Self::ALL.into_iter().find(|family| family.name() == name);
        found.ok_or_else(|| UnknownFamily(crate::place::shown(name, 60)))
    }
}

/// What a column is used as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Role {
    /// `--response`.
    Response,
    /// `--trials`.
    Trials,
    /// `--offset`.
    Offset,
    /// `--weights`.
    Weights,
    /// `--event`.
    Event,
    /// `--upper`.
    Upper,
    /// One of `--predictors`, or of the columns used by default.
    Predictor,
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Response => "--response",
            Self::Trials => "--trials",
            Self::Offset => "--offset",
            Self::Weights => "--weights",
            Self::Event => "--event",
            Self::Upper => "--upper",
            Self::Predictor => "--predictors",
        })
    }
}

/// A question about a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The response column.
    pub response: String,
    /// The predictor columns; by default, all columns without another role.
    pub predictors: Option<Vec<String>>,
    /// The number of trials of each row.
    pub trials: Option<String>,
    /// A term of the linear predictor with coefficient 1.
    pub offset: Option<String>,
    /// The weight of each row.
    pub weights: Option<String>,
    /// Survival families: 1 for an event, 0 for a row that is censored at its time.
    pub event: Option<String>,
    /// Survival families: the end of the interval in which the time lies; the response is its
    /// start. No start is a time before the end, no end one after the start.
    pub upper: Option<String>,
    /// The levels of an ordinal or multinomial response, in order; by default in the order of
    /// numbers or of the alphabet.
    pub levels: Option<Vec<String>>,
    /// Whether there is an intercept. Ordinal models have thresholds in its place.
    pub intercept: bool,
    /// Whether predictors are centred and divided by their standard deviation.
    pub standardize: bool,
    /// Whether rows with missing values are left out; otherwise they are refused.
    pub drop_missing: bool,
    /// The family.
    pub family: FamilyName,
}

impl Question {
    /// Regresses `response` on all other columns, with an intercept, not standardized.
    #[must_use]
    pub fn new(response: &str, family: FamilyName) -> Self {
        Self {
            response: response.to_owned(),
            predictors: None,
            trials: None,
            offset: None,
            weights: None,
            event: None,
            upper: None,
            levels: None,
            intercept: family != FamilyName::Ordinal,
            standardize: false,
            drop_missing: false,
            family,
        }
    }
}

impl Question {
    /// Whether the model has a constant: an intercept, or thresholds.
    pub(crate) fn has_constant(&self) -> bool {
        self.intercept || self.family == FamilyName::Ordinal
    }
}

/// The columns of a table by role.
#[derive(Debug)]
pub(crate) struct Roles<'t> {
    pub(crate) response: &'t Column,
    pub(crate) trials: Option<&'t Column>,
    pub(crate) offset: Option<&'t Column>,
    pub(crate) weights: Option<&'t Column>,
    pub(crate) event: Option<&'t Column>,
    pub(crate) upper: Option<&'t Column>,
    pub(crate) predictors: Vec<&'t Column>,
}

impl<'t> Roles<'t> {
    /// Finds the columns that the question names.
    pub(crate) fn new(table: &'t Table, question: &Question) -> Result<Self, DataError> {
        if question.trials.is_some() && !question.family.is_binomial() {
            return Err(DataError::TrialsFamily { family: question.family });
        }
        let of_survival = [(Role::Event, &question.event), (Role::Upper, &question.upper)];
        if !question.family.is_survival()
            && let Some((role, _)) = of_survival.into_iter().find(|(_, name)| name.is_some())
        {
            return Err(DataError::RoleFamily { role, family: question.family });
        }
        let mut taken: Vec<(&str, Role)> = Vec::new();
        let mut find = |name: Option<&String>, role| {
            let Some(name) = name else { return Ok(None) };
            let column = column(table, name, role)?;
            if let Some(&(_, first)) = taken.iter().find(|(other, _)| other == name) {
                return Err(DataError::UsedTwice { column: name.clone(), first, second: role });
            }
            taken.push((column.name(), role));
            Ok(Some(column))
        };
        let response = column(table, &question.response, Role::Response)?;
        find(Some(&question.response), Role::Response)?;
        let trials = find(question.trials.as_ref(), Role::Trials)?;
        let offset = find(question.offset.as_ref(), Role::Offset)?;
        let weights = find(question.weights.as_ref(), Role::Weights)?;
        let event = find(question.event.as_ref(), Role::Event)?;
        let upper = find(question.upper.as_ref(), Role::Upper)?;
        let predictors = match &question.predictors {
            Some(names) => listed(table, names, &taken)?,
            None => {
                let free = |column: &&Column| taken.iter().all(|(name, _)| *name != column.name());
                table.columns().iter().filter(free).collect()
            }
        };
        if predictors.is_empty() && !question.intercept && question.family != FamilyName::Ordinal {
            return Err(DataError::NoCoefficients);
        }
        Ok(Self { response, trials, offset, weights, event, upper, predictors })
    }

    /// Every column with a role, and the role.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'t Column, Role)> {
        let others = [
            (self.trials, Role::Trials),
            (self.offset, Role::Offset),
            (self.weights, Role::Weights),
            (self.event, Role::Event),
            (self.upper, Role::Upper),
        ];
        let others = others.into_iter().filter_map(|(column, role)| Some((column?, role)));
        let predictors = self.predictors.iter().map(|&column| (column, Role::Predictor));
        std::iter::once((self.response, Role::Response)).chain(others).chain(predictors)
    }
}

/// The listed predictors. A column must not be listed twice or have another role.
fn listed<'t>(
    table: &'t Table, names: &[String], taken: &[(&str, Role)],
) -> Result<Vec<&'t Column>, DataError> {
    let known: std::collections::HashMap<&str, &Column> =
        table.columns().iter().map(|column| (column.name(), column)).collect();
    let mut seen = HashSet::with_capacity(names.len());
    let mut found = Vec::with_capacity(names.len());
    for name in names {
        let Some(&column) = known.get(name.as_str()) else {
            return Err(unknown(table, name, Role::Predictor));
        };
        if let Some(&(_, first)) = taken.iter().find(|(other, _)| other == name) {
            return Err(DataError::UsedTwice {
                column: name.clone(),
                first,
                second: Role::Predictor,
            });
        }
        if !seen.insert(name) {
            return Err(DataError::ListedTwice { column: name.clone() });
        }
        found.push(column);
    }
    Ok(found)
}

fn column<'t>(table: &'t Table, name: &str, role: Role) -> Result<&'t Column, DataError> {
    table.column(name).ok_or_else(|| unknown(table, name, role))
}

fn unknown(table: &Table, name: &str, role: Role) -> DataError {
    let columns: Vec<String> =
        table.columns().iter().map(|column| column.name().to_owned()).collect();
    DataError::UnknownColumn {
        file: table.name().to_owned(),
        role,
        name: name.to_owned(),
        nearest: nearest(name, columns.iter().map(String::as_str)),
        columns,
    }
}

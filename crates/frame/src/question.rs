//! A question about a table: the family, the formula, and which rows and columns to use.

use std::fmt;
use std::str::FromStr;

use crate::formula::{Condition, Formula};

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
    /// `--response`, or in the response of a formula.
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
    /// One of `--predictors`, of a formula, or of the columns used by default.
    Predictor,
    /// `g` in `(1 | g)`, where it is nothing else.
    Group,
    /// `--exclude`.
    Exclude,
    /// `--factor`.
    Factor,
    /// `--base`.
    Base,
    /// `--where`.
    Where,
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
            Self::Group => "a grouping factor",
            Self::Exclude => "--exclude",
            Self::Factor => "--factor",
            Self::Base => "--base",
            Self::Where => "--where",
        })
    }
}

/// A question about a table.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// The response and the predictors.
    pub formula: Formula,
    /// Columns that `.` in the formula does not stand for.
    pub exclude: Vec<String>,
    /// Which rows are used; all by default. A row for which it is neither true nor false is not.
    pub condition: Option<Condition>,
    /// Columns of numbers that are factors.
    pub factors: Vec<String>,
    /// Factors and their base levels.
    pub bases: Vec<(String, String)>,
    /// The number of trials of each row.
    pub trials: Option<String>,
    /// A term of the linear predictor with coefficient 1.
    pub offset: Option<String>,
    /// The weight of each row. Rows of weight 0 are left out.
    pub weights: Option<String>,
    /// Survival families: 1 for an event, 0 for a row that is censored at its time.
    pub event: Option<String>,
    /// Survival families: the end of the interval in which the time lies; the response is its
    /// start. No start is a time before the end, no end one after the start.
    pub upper: Option<String>,
    /// The levels of an ordinal or multinomial response, in order; by default in natural order.
    pub levels: Option<Vec<String>>,
    /// Whether predictors are centred and divided by their standard deviation.
    pub standardize: bool,
    /// Whether rows with missing values are left out; otherwise they are refused.
    pub drop_missing: bool,
    /// The family. Ordinal models have thresholds in place of the intercept.
    pub family: FamilyName,
}

impl Question {
    /// Regresses `response` on all other columns, with an intercept, not standardized.
    #[must_use]
    pub fn new(response: &str, family: FamilyName) -> Self {
        Self::of_formula(Formula::of_columns(response, None), family)
    }

    /// Asks for the regression that a formula describes.
    ///
    /// ```
    /// use ridgewalk_frame::{FamilyName, Frame, Question, Table};
    ///
    /// let table = Table::from_bytes("d.csv", b"y,x,n\n2,0,9\n3,1,8\n7,2,11\n")?;
    /// let formula = "y ~ x + I(x^2) + offset(log(n))".parse()?;
    /// let frame = Frame::new(&table, &Question::of_formula(formula, FamilyName::Poisson))?;
    /// assert_eq!(frame.names, ["(Intercept)", "x", "I(x^2)"]);
    /// # Ok::<(), ridgewalk_frame::DataError>(())
    /// ```
    #[must_use]
    pub fn of_formula(formula: Formula, family: FamilyName) -> Self {
        Self {
            formula,
            exclude: Vec::new(),
            condition: None,
            factors: Vec::new(),
            bases: Vec::new(),
            trials: None,
            offset: None,
            weights: None,
            event: None,
            upper: None,
            levels: None,
            standardize: false,
            drop_missing: false,
            family,
        }
    }
}

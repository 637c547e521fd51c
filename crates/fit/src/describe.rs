//! What a fit would be made of: the columns of the table, and with a response or a formula the
//! columns of the design, its rank and the priors.

use ridgewalk_frame::{Condition, DataError, Description, Frame, GroupDescription, Table};
use serde::Serialize;

use crate::error::Error;
use crate::model::Model;
use crate::prior_text::{Kind, rounded};
use crate::settings::Settings;

/// A table, and the model of it that was asked for.
///
/// ```
/// use ridgewalk_fit::{Settings, describe};
/// use ridgewalk_frame::{FamilyName, Table};
///
/// let table = Table::from_bytes("d.csv", b"y,x\n1,0\n3,2\n2,4\n7,7\n")?;
/// let asked = Settings::of_formula("y ~ poly(x, 2)", FamilyName::Gaussian);
/// let found = describe(&table, &asked)?;
/// assert_eq!(found.table.columns[1].name, "x");
/// let model = found.model.ok_or("no model")?;
/// assert_eq!((model.columns.len(), model.rank), (3, Some(3)));
/// assert_eq!(model.columns[1].prior, "normal(0, 11.39)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Described {
    /// The columns of the table.
    pub table: Description,
    /// The model; `None` without a response.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<ModelDescription>,
}

/// A model before it is fitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ModelDescription {
    /// The formula, with `.` if it was not given.
    pub formula: String,
    /// The family.
    pub family: String,
    /// The number of rows in use.
    pub rows: usize,
    /// The rank of the design; `None` if it was not computed, for its many columns.
    pub rank: Option<usize>,
    /// The coefficients.
    pub columns: Vec<DesignColumn>,
    /// Parameters beside them.
    pub parameters: Vec<PriorOf>,
    /// Group effects and smooths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<DescribedGroup>,
    /// Whether the prior of the intercept is that at the means of the predictors.
    pub intercept_at_means: bool,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// A grouping, and the priors of the standard deviations and correlations of its effects.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DescribedGroup {
    /// Its levels and their sizes.
    #[serde(flatten)]
    pub levels: GroupDescription,
    /// The priors, in every linear predictor.
    pub priors: Vec<PriorOf>,
}

/// A column of the design, as it is before it is centred or standardized.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct DesignColumn {
    /// The coefficient.
    pub name: String,
    /// The term of the formula that it belongs to.
    pub term: String,
    /// The mean of the column.
    pub mean: f64,
    /// Its standard deviation, with divisor n − 1.
    pub sd: f64,
    /// Its smallest entry.
    pub min: f64,
    /// Its largest entry.
    pub max: f64,
    /// The prior of the coefficient.
    pub prior: String,
}

/// A parameter and its prior.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PriorOf {
    /// The parameter.
    pub name: String,
    /// Its prior.
    pub prior: String,
}

/// Describes a table, and the model that the settings ask for if they name a response.
///
/// # Errors
/// As [`fit`](crate::fit()), before it samples.
pub fn describe(table: &Table, settings: &Settings) -> Result<Described, Error> {
    settings.validate()?;
    let condition = settings.condition.as_ref().map(|text| text.parse::<Condition>());
    let condition = condition.transpose().map_err(DataError::from)?;
    let described = Description::new(table, condition.as_ref())?;
    let asked = settings.formula.is_some() || settings.response.is_some();
    let model = asked.then(|| of_model(table, settings)).transpose()?;
    Ok(Described { table: described, model })
}

fn of_model(table: &Table, settings: &Settings) -> Result<ModelDescription, Error> {
    let question = settings.question(table)?;
    let formula = question.formula.to_string();
    // As given: a design that is standardized says nothing about its scales.
    let plain =
        Frame::new(table, &ridgewalk_frame::Question { standardize: false, ..question.clone() })?;
    let frame = if question.standardize { Frame::new(table, &question)? } else { plain.clone() };
    let (rank, notes) = (plain.rank, frame.notes.clone());
    let model = Model::new(settings, frame, None, &crate::Rows::default())?;
    let auxiliary = model.auxiliary();
    let names = auxiliary.coefficients(&plain.names);
    let moments = plain.design.by_column(|_, values, zeros| Moments::of(values, zeros));
    let columns = names.into_iter().zip(&model.priors().coefficients).enumerate();
    let columns = columns.map(|(k, (name, prior))| {
        let column = k % plain.columns.max(1);
        let Moments { mean, sd, min, max } = moments[column];
        let term = plain.terms[column].clone();
        DesignColumn { name, term, mean, sd, min, max, prior: rounded(prior, Kind::Real) }
    });
    let parameters = auxiliary.names().iter().zip(&model.priors().parameters);
    let parameters = parameters.map(|(name, prior)| PriorOf {
        name: name.clone(),
        prior: rounded(prior, auxiliary.kind()),
    });
    let groups = plain.describe_groups().into_iter().enumerate().map(|(k, levels)| {
        let own = model.groups().terms().iter().zip(&model.priors().groups);
        let own = own.filter(|(names, _)| names.grouping == k);
        let priors = own.flat_map(|(names, priors)| {
            let sds = priors.sds.iter().map(|prior| rounded(prior, Kind::Positive));
            let correlations = format!("lkj({})", priors.concentration);
            let all = sds.chain(std::iter::repeat(correlations));
            names.parameters().into_iter().zip(all).map(|(name, prior)| PriorOf { name, prior })
        });
        DescribedGroup { levels, priors: priors.collect() }
    });
    let groups = groups.collect();
    Ok(ModelDescription {
        groups,
        formula,
        family: settings.family.to_string(),
        rows: plain.rows,
        rank,
        columns: columns.collect(),
        parameters: parameters.collect(),
        intercept_at_means: plain.intercept && model.priors().centred,
        notes,
    })
}

/// What is said of a column.
#[derive(Clone, Copy)]
struct Moments {
    mean: f64,
    sd: f64,
    min: f64,
    max: f64,
}

impl Moments {
    /// Of these values and some zeros.
    fn of(values: &[f64], zeros: usize) -> Self {
        let n = (values.len() + zeros) as f64;
        let mean = values.iter().sum::<f64>() / n;
        // What is left of a mean of zero is rounding.
        let size = values.iter().fold(0.0_f64, |size, value| size.max(value.abs()));
        let mean = if mean.abs() < 1e-14 * size { 0.0 } else { mean };
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
        let squares = squares + zeros as f64 * mean * mean;
        let zero = (zeros > 0).then_some(0.0);
        let all = || values.iter().copied().chain(zero);
        Self {
            mean,
            sd: (squares / (n - 1.0)).sqrt(),
            min: all().fold(f64::INFINITY, f64::min),
            max: all().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

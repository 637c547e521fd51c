//! Errors of data and of calls. Rows and columns count from 0.

use std::fmt;

use crate::curvature::Obstacle;
use crate::mode::Method;
use crate::properness::Impropriety;

/// Why a potential cannot be made or evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A scale is zero, negative, infinite or not a number.
    #[error("{name} = {value}: need a positive, finite number")]
    NotPositive {
        /// Its name.
        name: &'static str,
        /// The value it was given.
        value: f64,
    },
    /// A design in a file that cannot be written or read.
    #[error("{message}")]
    Stored {
        /// What happened.
        message: String,
    },
    /// A potential whose moves cannot be accepted by a few of its rows.
    #[error("moves cannot be accepted by a few rows: {why}")]
    NotThinned {
        /// Why not.
        why: String,
    },
    /// A term of a potential that changed by more than the bound of its third derivative allows.
    #[error(
        "the term of row {row} changed by {found:e}: need at most {bound:e}, by the bound of its third \
         derivative; the `third_bound` of its family is too small"
    )]
    Bound {
        /// The row.
        row: usize,
        /// The change, beyond its Taylor polynomial.
        found: f64,
        /// Its bound.
        bound: f64,
    },
    /// The Cholesky factor of a model with groups does not fit into memory.
    #[error(
        "the groups of this model are linked so densely that the factor of its precision does not fit into memory"
    )]
    TooLarge,
    /// A number is infinite or not a number.
    #[error("{name} = {value}: need a finite number")]
    NotFiniteNumber {
        /// Its name.
        name: &'static str,
        /// The value it was given.
        value: f64,
    },
    /// A model cannot have so few or so many levels.
    #[error("{name} responses of {got} levels: need {need}")]
    Levels {
        /// The model.
        name: &'static str,
        /// The number of levels.
        got: usize,
        /// What is needed.
        need: &'static str,
    },
    /// A list or matrix has the wrong number of entries.
    #[error("{what} has {got} entries: need {need}")]
    Length {
        /// Which one.
        what: &'static str,
        /// How many entries it has.
        got: usize,
        /// How many it must have.
        need: usize,
    },
    /// A design without rows or without columns.
    #[error("a design of {rows} rows and {columns} columns: need at least one of each")]
    Empty {
        /// Its rows.
        rows: usize,
        /// Its columns.
        columns: usize,
    },
    /// A column of a design that is not as long as the first.
    #[error("column {column} of the design has {got} rows: need {need}, as column 0 has")]
    Column {
        /// The column.
        column: usize,
        /// How many rows it has.
        got: usize,
        /// How many the first column has.
        need: usize,
    },
    /// An entry of the design is infinite or not a number.
    #[error("row {row}, column {column} of the design: found {value}, need a finite number")]
    Entry {
        /// The row.
        row: usize,
        /// The column.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// The structure of a sparse design is wrong in some row.
    #[error("row {row} of the sparse design: found column {column}, need {need}")]
    Structure {
        /// The row.
        row: usize,
        /// The column index found there, or the start of the row where that is wrong.
        column: usize,
        /// What is needed.
        need: &'static str,
    },
    /// A response, number of trials, weight or offset that the model cannot have.
    #[error("{what} in row {row}: found {value}, need {need}")]
    Row {
        /// Which of them.
        what: RowValue,
        /// The row.
        row: usize,
        /// The value.
        value: f64,
        /// What is needed.
        need: &'static str,
    },
    /// A prior mean or scale that is not usable.
    #[error("prior {what} of coefficient {coefficient}: found {value}, need {need}")]
    Prior {
        /// Its mean or its scale.
        what: PriorValue,
        /// The coefficient.
        coefficient: usize,
        /// The value.
        value: f64,
        /// What is needed.
        need: &'static str,
    },
    /// A matrix or list that defines no change of coordinates.
    #[error("{what} at coefficient {coefficient}: found {value}, need {need}")]
    Whitening {
        /// The matrix or list.
        what: &'static str,
        /// The coefficient.
        coefficient: usize,
        /// The value found there.
        value: f64,
        /// What is needed.
        need: &'static str,
    },
    /// A point of density 0: [`GradientError::OutsideSupport`], with the point.
    #[error("the density is 0 at {point:?}")]
    OutsideSupport {
        /// The point.
        point: Vec<f64>,
    },
    /// A gradient that could not be computed: [`GradientError::Failed`], with the point.
    #[error("the gradient failed at {point:?}: {message}")]
    Gradient {
        /// Where.
        point: Vec<f64>,
        /// The message of the function that failed.
        message: String,
    },
    /// The value of a potential that is known by its gradient alone.
    #[error(
        "the potential has no value: need one that has, such as a `FromValueFn` instead of a `FromFn`"
    )]
    NoValue,
    /// A line integral of a potential that has values and gradients alone.
    #[error(
        "this posterior has no line integrals: need a kernel that accepts or rejects, as the default does"
    )]
    NoLineIntegral,
    /// Something that must be finite is not.
    #[error("{what} is not finite at {point:?}")]
    NotFinite {
        /// What.
        what: &'static str,
        /// Where.
        point: Vec<f64>,
    },
    /// Numbers of the data are too large to be squared and summed.
    #[error("{what} overflows: bring the columns of the design nearer to 1")]
    Overflow {
        /// What.
        what: &'static str,
    },
    /// A search for the mode that did not converge.
    #[error(
        "no mode after {iterations} iterations of {method}: {why}; the gradient has norm {gradient_norm:e} there, about {decrement:e} \
         standard deviations from the mode"
    )]
    NotConverged {
        /// The method.
        method: Method,
        /// The number of iterations.
        iterations: usize,
        /// Why it ended.
        why: &'static str,
        /// The Euclidean norm of the gradient at the last point.
        gradient_norm: f64,
        /// The estimated distance from the mode, in standard deviations of the normal distribution
        /// that fits there.
        decrement: f64,
        /// The last point.
        point: Vec<f64>,
    },
    /// Bounds of the curvature in the wrong order.
    #[error("bounds of the curvature from m = {convexity} to L = {smoothness}: need m <= L")]
    CurvatureOrder {
        /// The lower bound.
        convexity: f64,
        /// The upper bound.
        smoothness: f64,
    },
    /// A potential without the bounds of its curvature that the accelerated method needs.
    #[error("the accelerated gradient method needs bounds m > 0 and L of the curvature: {0}")]
    NoCurvature(Obstacle),
    /// A black box whose bounds of the curvature were not given.
    #[error(
        "the accelerated gradient method needs bounds m and L of the curvature of a black box: \
         give them to `ModeSearch::with_curvature`"
    )]
    CurvatureUnknown,
    /// A posterior that cannot be normalised.
    #[error("the posterior is improper: {0}")]
    Improper(Impropriety),
    /// The number of quadrature nodes is not usable.
    #[error(transparent)]
    Quadrature(#[from] ridgewalk_quadrature::Error),
}

/// A number that belongs to a row of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum RowValue {
    /// The response.
    Response,
    /// The number of trials.
    Trials,
    /// The weight.
    Weight,
    /// The offset.
    Offset,
}

impl fmt::Display for RowValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Response => "response",
            Self::Trials => "trials",
            Self::Weight => "weight",
            Self::Offset => "offset",
        })
    }
}

/// A number of a normal prior.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PriorValue {
    /// The mean.
    Mean,
    /// The standard deviation.
    Scale,
}

impl fmt::Display for PriorValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Mean => "mean",
            Self::Scale => "scale",
        })
    }
}

/// Why a function gives no gradient at a point.
///
/// Text becomes [`GradientError::Failed`], so a function may return `Err("no data".into())` or use
/// `?` on a `Result<_, String>`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GradientError {
    /// The density is 0 there, as beyond the end of a truncated distribution. A kernel that accepts
    /// or rejects treats it as an infinite energy and rejects the trajectory; for any other kernel
    /// the chain ends.
    #[error("the density is 0 there")]
    OutsideSupport,
    /// The gradient could not be computed. The chain ends.
    #[error("{0}")]
    Failed(String),
}

impl From<String> for GradientError {
    fn from(message: String) -> Self {
        Self::Failed(message)
    }
}

impl From<&str> for GradientError {
    fn from(message: &str) -> Self {
        Self::Failed(message.to_owned())
    }
}

impl GradientError {
    /// The error of a potential whose gradient failed at `point`.
    #[must_use]
    pub fn at(self, point: &[f64]) -> Error {
        let point = point.to_vec();
        match self {
            Self::OutsideSupport => Error::OutsideSupport { point },
            Self::Failed(message) => Error::Gradient { point, message },
        }
    }
}

/// An error unless a list has the right length.
pub(crate) fn length(what: &'static str, got: usize, need: usize) -> Result<(), Error> {
    if got == need { Ok(()) } else { Err(Error::Length { what, got, need }) }
}

//! Errors about the shape of the draws, and about what models predict. A diagnostic that is not
//! defined for well-shaped draws is NaN, not an error.

/// Why draws cannot be diagnosed, a draw cannot be added, or models cannot be compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No chain was given.
    #[error("0 chains: need at least 1")]
    NoChains,
    /// The chains have no draws.
    #[error("chain 0 has 0 draws: need at least 1")]
    Empty,
    /// A chain is longer or shorter than the first.
    #[error("chain {chain} has {got} draws: need {need}, as chain 0 has")]
    Lengths {
        /// The chain, counted from 0.
        chain: usize,
        /// Its number of draws.
        got: usize,
        /// The number of draws of the first chain.
        need: usize,
    },
    /// A probability outside [0, 1], or not a number.
    #[error("probability = {probability}: need a number from 0 to 1")]
    Probability {
        /// The value given.
        probability: f64,
    },
    /// A table whose number of values is not a multiple of the number of parameters.
    #[error(
        "chain {chain} has {values} values: need a multiple of its {parameters} parameters (at least 1)"
    )]
    Table {
        /// The chain, counted from 0.
        chain: usize,
        /// Its number of values.
        values: usize,
        /// The number of parameters.
        parameters: usize,
    },
    /// A draw, or another accumulator, has the wrong number of coordinates.
    #[error("{got} coordinates: need {need}")]
    Dimension {
        /// The number given.
        got: usize,
        /// The dimension of the accumulator.
        need: usize,
    },
    /// No model was given.
    #[error("0 models: need at least 1")]
    NoModels,
    /// The models have no observations.
    #[error("model 0 has 0 observations: need at least 1")]
    NoObservations,
    /// A model has more or fewer observations than the first.
    #[error("model {model} has {got} observations: need {need}, as model 0 has")]
    Observations {
        /// The model, counted from 0.
        model: usize,
        /// Its number of observations.
        got: usize,
        /// The number of observations of the first model.
        need: usize,
    },
    /// A log predictive density that is NaN or plus infinity, or minus infinity for all models.
    #[error(
        "model {model}, observation {observation}: log density {value}: need a finite number, or -inf if another model has one"
    )]
    LogDensity {
        /// The model, counted from 0.
        model: usize,
        /// The observation, counted from 0.
        observation: usize,
        /// The value given.
        value: f64,
    },
}

/// An error unless both numbers of coordinates are the same.
pub(crate) fn check_dimension(got: usize, need: usize) -> Result<(), Error> {
    if got == need { Ok(()) } else { Err(Error::Dimension { got, need }) }
}

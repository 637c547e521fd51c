//! Errors about the shape of the draws. A diagnostic that is not defined for well-shaped draws is
//! NaN, not an error.

/// Why draws cannot be diagnosed, or a draw cannot be added.
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
}

/// An error unless both numbers of coordinates are the same.
pub(crate) fn check_dimension(got: usize, need: usize) -> Result<(), Error> {
    if got == need { Ok(()) } else { Err(Error::Dimension { got, need }) }
}

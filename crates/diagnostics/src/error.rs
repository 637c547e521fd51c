//! What can be wrong with the shape of the draws. Draws without a number to give are no error:
//! their number is NaN.

/// Why draws cannot be diagnosed, or a draw not be added.
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
        /// That of the first chain.
        need: usize,
    },
    /// A probability outside [0, 1], or not a number.
    #[error("probability = {probability}: need a number from 0 to 1")]
    Probability {
        /// The value given.
        probability: f64,
    },
    /// A chain given as a table is not made of whole rows.
    #[error(
        "chain {chain} has {values} values: need a multiple of its {parameters} parameters (at least 1)"
    )]
    Table {
        /// The chain, counted from 0.
        chain: usize,
        /// How many values it has.
        values: usize,
        /// How many a row has.
        parameters: usize,
    },
    /// A draw, or another accumulator, has the wrong number of coordinates.
    #[error("{got} coordinates: need {need}")]
    Dimension {
        /// The number given.
        got: usize,
        /// The number the accumulator was made for.
        need: usize,
    },
}

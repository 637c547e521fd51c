//! What can be wrong with a rule. Found when it is made.

use crate::line_rule::MAX_NODES;

/// Why a [`LineRule`](crate::LineRule) cannot be made.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No nodes, or more than [`MAX_NODES`].
    #[error("nodes = {nodes}: need 1 to {MAX_NODES}")]
    Nodes {
        /// The number asked for.
        nodes: usize,
    },
    /// The segment's length is zero, negative, infinite, subnormal or not a number.
    #[error("length = {length}: need a positive, finite number")]
    Length {
        /// The length asked for.
        length: f64,
    },
}

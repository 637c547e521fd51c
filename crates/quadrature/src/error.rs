//! Errors about the arguments of a rule and of its error constants.

use crate::line_rule::MAX_NODES;
use crate::peano::highest_derivative;

/// Why a [`LineRule`](crate::LineRule) cannot be created, or has no such error constant.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No nodes, or more than [`MAX_NODES`].
    #[error("nodes = {nodes}: need 1 to {MAX_NODES}")]
    Nodes {
        /// The number given.
        nodes: usize,
    },
    /// The segment's length is zero, negative, infinite, subnormal or not a number.
    #[error("length = {length}: need a positive, finite number")]
    Length {
        /// The length given.
        length: f64,
    },
    /// The rule's error is not bounded by this derivative.
    #[error("derivative = {derivative}: need 1 to {} for {nodes} nodes", highest_derivative(*.nodes))]
    Derivative {
        /// The number of nodes.
        nodes: usize,
        /// The derivative asked for.
        derivative: usize,
    },
}

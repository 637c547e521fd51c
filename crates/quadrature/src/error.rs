//! Errors about the arguments of a rule, raised by its constructor.

use crate::line_rule::MAX_NODES;

/// Why a [`LineRule`](crate::LineRule) cannot be created.
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
}

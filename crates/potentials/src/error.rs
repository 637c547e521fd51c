//! What can be wrong with data or with a question put to a potential. Rows and columns count from 0.

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
}

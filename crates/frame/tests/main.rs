//! The tests of the crate, in one binary.

mod families;
mod frame;
#[cfg(feature = "parquet")]
mod parquet;
mod properties;
mod table;

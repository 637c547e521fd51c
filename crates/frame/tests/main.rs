//! The tests of the crate, in one binary.

mod families;
mod formulas;
mod frame;
mod group_parts;
mod groups;
mod pack;
mod pairs;
#[cfg(feature = "parquet")]
mod parquet;
mod passes;
mod properties;
mod smooths;
mod sparse;
mod table;

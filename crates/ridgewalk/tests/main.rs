//! The tests of the facade and of the house as a whole, in one binary.

mod fits;
mod house;
mod misprints;
mod posterior;
mod repaired;

//! The tests of the crate, in one binary.

#[path = "../../store/tests/made_up.rs"]
mod made_up;
mod report;
mod sections;

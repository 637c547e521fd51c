//! The paper, checked.

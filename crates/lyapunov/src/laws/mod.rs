//! Exact laws on Gaussian targets.

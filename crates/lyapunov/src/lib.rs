//! How fast third-order Langevin sampling converges: the paper's proof as checks, certificates of contraction that are
//! verified in exact arithmetic, a planner whose every constant is explicit, and exact laws on Gaussian targets.
//!
//! - [`paper`]: the matrices, polynomials and claims of Mou et al. (JMLR 2021), each checked.
//! - [`certificate`]: quadratic forms in which two copies of the dynamics, or of the algorithm itself, approach each other.
//! - [`planner`]: parameters and number of steps that guarantee a Wasserstein accuracy.
//! - [`laws`]: the law of every kernel on a quadratic potential, without Monte Carlo noise.

#![cfg_attr(
    not(test),
    warn(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::panic,
        clippy::print_stdout,
        clippy::print_stderr,
        clippy::exit
    )
)]

pub mod certificate;
mod error;
mod exact;
pub mod laws;
mod matrix;
pub mod paper;
pub mod planner;
mod simplex;

pub use error::Error;

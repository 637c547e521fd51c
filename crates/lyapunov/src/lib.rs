//! Convergence of third-order Langevin sampling: the paper's proofs as checks, certificates of
//! contraction verified in exact arithmetic, a planner with explicit constants, and exact laws on
//! Gaussian targets.
//!
//! - [`paper`]: the matrices, polynomials and claims of Mou et al. (JMLR 2021), each checked.
//! - [`certificate`]: quadratic forms in which two copies of the dynamics, or of the algorithm
//!   itself, approach each other.
//! - [`planner`]: parameters and numbers of steps that guarantee a Wasserstein accuracy.
//! - [`laws`]: the law of every kernel on a quadratic potential, without Monte Carlo noise.
//!
//! ```
//! use ridgewalk_lyapunov::laws::{Evolution, Scheme, Start, Spectrum};
//! use ridgewalk_lyapunov::planner::{IntegralRule, Problem, plan};
//!
//! // Steps that bring Algorithm 1 within W2 <= 0.5 of every density with curvature between 1/2
//! // and 1 in 100 dimensions.
//! let problem = Problem::new(0.5, 1.0, 100, 0.5, IntegralRule::Exact)?;
//! let found = plan(&problem)?.expect("there is a plan");
//! assert!(found.steps() < 200 && found.bound() <= 0.5);
//!
//! // The exact distance on one of them.
//! let scheme = Scheme::third_order(found.gamma(), found.xi(), found.eta())?;
//! let target = Spectrum::new(&[(1.0, 50), (0.5, 50)])?;
//! let law = Evolution::new(&scheme, &target, &Start::AtMode)?.after(found.steps());
//! assert!(law.w2_to_target() < found.bound());
//! # Ok::<(), ridgewalk_lyapunov::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

pub mod certificate;
mod error;
mod exact;
pub mod laws;
mod matrix;
pub mod paper;
pub mod planner;
mod simplex;

pub use error::Error;

//! Coefficients of the third-order Langevin algorithm.
//!
//! One step of Algorithm 1 of Mou, Ma, Wainwright, Bartlett and Jordan, *High-Order Langevin
//! Diffusion Yields an Accelerated MCMC Algorithm* (JMLR 2021), takes the state (θ, p, r) to a
//! Gaussian with
//!
//! ```text
//! mean   θ − (η/2) ΔU + μ12 p + μ13 r          covariance   (1/L) [σ11 σ12 σ13]
//!          −  ΔU      + μ22 p + μ23 r                             [σ12 σ22 σ23]  ⊗ I
//!          μ31 ΔU     + μ32 p + μ33 r                             [σ13 σ23 σ33]
//! ```
//!
//! where ΔU = (1/L) ∫₀^η ∇U(θ + t p) dt. This crate computes the seven μ, the six σ and the
//! Cholesky factor of the covariance from γ, ξ, η and L: pure scalars, no allocation, and full
//! accuracy for every step size. The formulas printed in the paper lose all digits for small ξη
//! (σ11 is of order η⁵ and is printed as a sum of terms of order η). They are kept in [`printed`]
//! for reference and for tests.
//!
//! ```
//! use ridgewalk_coefficients::{Coefficients, Parameters};
//!
//! let parameters = Parameters::new(2.0, 4.0, 1e-6)?;
//! let c = Coefficients::new(parameters, 1.0)?;
//! // σ11 → ξ γ² η⁵ / 10 as η → 0; at 1.6e-30 it still has all its digits.
//! assert!((c.sigma11() / 1.6e-30 - 1.0).abs() < 1e-5);
//! // So has the factor that turns three independent normals into the noise of one step.
//! let [l11, ..] = c.cholesky();
//! assert!((l11 * l11 / c.sigma11() - 1.0).abs() < 1e-14);
//! # Ok::<(), ridgewalk_coefficients::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod coefficients;
mod error;
mod exp_poly;
mod factor;
mod free_flow;
mod functions;
mod ornstein_uhlenbeck;
mod parameters;
mod polynomial_path;
pub mod printed;

pub use coefficients::Coefficients;
pub use error::Error;
pub use free_flow::FreeFlow;
pub use functions::{SERIES_BELOW, phi1, phi2, phi3};
pub use ornstein_uhlenbeck::OrnsteinUhlenbeck;
pub use parameters::Parameters;
pub use polynomial_path::PolynomialPath;

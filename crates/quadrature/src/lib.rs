//! Interpolation and integration along a segment at Chebyshev nodes.
//!
//! The black-box form of Algorithm 1 of Mou et al. (JMLR 2021) replaces ∇U along the segment θ + t
//! p, t in [0, η], by its Lagrange interpolant at n Chebyshev nodes and integrates that exactly. A
//! [`LineRule`] holds the nodes, the basis (in barycentric form) and its integrals, which are the
//! weights of Fejér's first quadrature rule: positive, with sum η, and exact for polynomials of
//! degree n − 1 (n if n is odd). [`interpolation_error_bound`] and [`integral_error_bound`] bound
//! the errors of the interpolant and of its integral, from its n-th derivative.
//! [`derivative_error_constant`] has the sharp constants for the integral, from any derivative that
//! the rule can use.
//!
//! This crate is independent of sampling.
//!
//! ```
//! use ridgewalk_quadrature::{LineRule, integral_error_bound};
//!
//! // The integral of (cos t, sin t) over [0, 0.5] from 6 values.
//! let rule = LineRule::new(6, 0.5)?;
//! let mut integral = [0.0; 2];
//! let function = |t: f64, value: &mut [f64]| {
//!     value[0] = t.cos();
//!     value[1] = t.sin();
//! };
//! rule.integrate(function, &mut Vec::new(), &mut integral);
//! let error = (integral[0] - 0.5f64.sin()).abs().max((integral[1] - (1.0 - 0.5f64.cos())).abs());
//! assert!(error <= integral_error_bound(6, 0.5, 1.0));
//! assert!(error < 1e-9);
//! # Ok::<(), ridgewalk_quadrature::Error>(())
//! ```

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod bounds;
mod error;
mod line_rule;
mod peano;
mod trigonometry;

pub use bounds::{integral_error_bound, interpolation_error_bound};
pub use error::Error;
pub use line_rule::{LineRule, MAX_NODES};
pub use peano::{derivative_error_constant, highest_derivative};

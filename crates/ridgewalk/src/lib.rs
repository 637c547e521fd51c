//! Third-order Langevin sampling of log-concave distributions.
//!
//! This crate puts together the crates of the workspace, each of which can be used alone:
//!
//! - [`coefficients`]: the numbers of one step of the algorithm, accurate for every step size;
//! - [`quadrature`]: the integral of a gradient along a segment, from its values at Chebyshev nodes;
//! - [`lyapunov`]: how fast the algorithm converges, proved, planned and computed exactly;
//! - [`potentials`]: potentials of generalized linear models, and any gradient, with their line integrals.
//!
//! ```
//! use ridgewalk::coefficients::{Coefficients, Parameters};
//! use ridgewalk::quadrature::LineRule;
//!
//! // The mean of one step from (θ, p, r) = (1, 0.5, 0) for U(θ) = θ²/2 + cos θ, whose smoothness is L = 2.
//! let (theta, p, r, smoothness) = (1.0f64, 0.5, 0.0, 2.0);
//! let c = Coefficients::new(Parameters::new(1.2, 2.0, 0.1)?, smoothness)?;
//! let rule = LineRule::new(4, 0.1)?;
//! let mut integral = [0.0];
//! rule.integrate(|t, g| g[0] = (theta + t * p) - (theta + t * p).sin(), &mut Vec::new(), &mut integral);
//! let delta_u = integral[0] / smoothness;
//! let mean_p = -delta_u + c.mu22() * p + c.mu23() * r;
//! assert!((mean_p - 0.4881).abs() < 1e-4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

pub use ridgewalk_coefficients as coefficients;
pub use ridgewalk_lyapunov as lyapunov;
pub use ridgewalk_potentials as potentials;
pub use ridgewalk_quadrature as quadrature;

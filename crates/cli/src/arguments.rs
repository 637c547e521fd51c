//! The command line: every subcommand with its options, as clap reads them.

use clap::{Args, Parser, Subcommand};

/// Third-order Langevin sampling of log-concave distributions
#[derive(Debug, Parser)]
#[command(name = "ridgewalk", version, max_term_width = 100)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Means, noise covariance and Cholesky factor of one step of Algorithm 1
    #[command(after_help = "Example:\n  ridgewalk coefficients --gamma 2 --xi 4 --eta 0.1\n\n\
                      The step takes (theta, p, r) to a Gaussian with mean\n  \
                      theta - (eta/2) dU + mu12 p + mu13 r,  -dU + mu22 p + mu23 r,  mu31 dU + mu32 p + mu33 r\n\
                      and covariance sigma/L; chol is the lower Cholesky factor of sigma/L.")]
    Coefficients(CoefficientOptions),
}

/// Options of `ridgewalk coefficients`.
#[derive(Debug, Args)]
pub(crate) struct CoefficientOptions {
    /// Coupling gamma of momentum and auxiliary variable
    #[arg(long, value_name = "G", allow_negative_numbers = true)]
    pub(crate) gamma: f64,
    /// Friction xi
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) xi: f64,
    /// Step size eta
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub(crate) eta: f64,
    /// Smoothness L of the potential
    #[arg(long, value_name = "L", default_value_t = 1.0, allow_negative_numbers = true)]
    pub(crate) smoothness: f64,
    /// Write one JSON document, with numbers that read back to the same doubles
    #[arg(long)]
    pub(crate) json: bool,
}

//! Diagnostics of Markov chains: slices in, numbers out.
//!
//! The definitions are those of Vehtari, Gelman, Simpson, Carpenter and Bürkner (Bayesian Analysis
//! 16, 2021), as ArviZ computes them: R-hat of split chains after rank normalisation, effective
//! sample sizes (ESS) by Geyer's initial monotone sequence, and Monte Carlo standard errors (MCSE)
//! derived from them. A parameter is given as a slice of chains, each chain a slice of draws, all
//! of the same length. [`Summary::of`] computes everything about one parameter at once,
//! [`summaries`] about many in parallel, and a [`Summarizer`] keeps buffers and transforms between
//! calls. [`Moments`] and [`Covariance`] are streaming accumulators.
//!
//! ```
//! use ridgewalk_diagnostics::{Summary, rhat};
//!
//! // Two chains on the unit interval, and a third on another interval.
//! let good: Vec<f64> = (0..200).map(|i| (i as f64 * 0.618).fract()).collect();
//! let also_good: Vec<f64> = (0..200).map(|i| (i as f64 * 0.414).fract()).collect();
//! let elsewhere: Vec<f64> = good.iter().map(|x| x + 1.0).collect();
//!
//! assert!(rhat(&[&good, &also_good])? < 1.01);
//! assert!(rhat(&[&good, &also_good, &elsewhere])? > 1.5);
//! let summary = Summary::of(&[&good, &also_good])?;
//! assert!((summary.mean - 0.5).abs() < 4.0 * summary.mcse_mean);
//! # Ok::<(), ridgewalk_diagnostics::Error>(())
//! ```
//!
//! # Predictive accuracy
//!
//! [`Psis`] computes leave-one-out cross-validation (LOO) by Pareto-smoothed importance sampling,
//! and WAIC, from the log likelihood of one observation at a time. [`Elpd`] has the totals,
//! [`ElpdDifference`] compares two models and [`stacking()`] weighs several. Definitions are those
//! of R's package loo.
//!
//! ```
//! use ridgewalk_diagnostics::{Elpd, Psis, pareto_k_limit};
//!
//! // Draws of a mean, and observations with a normal law about it.
//! let draws: Vec<f64> = (0..1000).map(|i| (f64::from(i) * 0.618).fract() - 0.5).collect();
//! let mut psis = Psis::new();
//! let mut pointwise = Vec::new();
//! for y in [-1.3, -0.2, 0.1, 0.9] {
//!     let log_likelihood: Vec<f64> =
//!         draws.iter().map(|mu| -0.919 - 0.5 * (y - mu) * (y - mu)).collect();
//!     pointwise.push(psis.pointwise(&log_likelihood, 1.0));
//! }
//! assert!(pointwise.iter().all(|one| one.pareto_k <= pareto_k_limit(draws.len())));
//! let loo = Elpd::loo(&pointwise);
//! assert!(loo.p > 0.0 && loo.se > 0.0);
//! ```
//!
//! # What is not defined
//!
//! A wrong shape (no chains, empty chains, chains of different lengths) is an [`Error`]. A number
//! that is not defined for well-shaped draws is NaN:
//!
//! - fewer than four draws per chain: R-hat, every ESS and every MCSE (mean, sd, quantiles and
//!   intervals are defined);
//! - any NaN or infinite draw or log likelihood: everything (ArviZ accepts infinite draws in
//!   diagnostics based on ranks; Stan's posterior package and this crate do not);
//! - a single chain: R-hat;
//! - constant draws, the same in all chains: R-hat and the MCSE of the sd. Their ESS is the number
//!   of draws and the MCSE of mean and quantiles is zero, as in ArviZ (the posterior package
//!   returns NA). Chains that are constant at different values have an infinite R-hat.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod autocovariance;
mod covariance;
mod elpd;
mod error;
mod functions;
mod geyer;
mod moments;
mod numeric;
mod pareto;
mod psis;
mod quantiles;
mod sample;
mod scores;
mod stacking;
mod summarizer;
mod summary;
#[cfg(feature = "serde")]
pub mod with_serde;

pub use covariance::Covariance;
pub use elpd::{Elpd, ElpdDifference, Pointwise, pareto_k_limit};
pub use error::Error;
pub use functions::{
    ess_bulk, ess_mean, ess_moments, ess_quantile, ess_sd, ess_tail, hdi, mcse_mean, mcse_quantile,
    mcse_sd, quantile, rhat,
};
pub use moments::Moments;
pub use psis::Psis;
pub use stacking::stacking;
pub use summarizer::Summarizer;
pub use summary::{Intervals, Summary, summaries, summaries_and_intervals, summaries_of_table};

/// R-hat, ESS and MCSE are NaN for shorter chains: each half needs a variance.
pub const MIN_DRAWS: usize = 4;

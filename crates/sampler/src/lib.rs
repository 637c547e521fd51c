//! Kernels that make one step of many chains at once, and a driver that runs them.
//!
//! - [`kernels`]: the paper's [`ThirdOrder`], its splitting [`Symmetric`], [`Averaged`] for
//!   whitened potentials, and the kernels they are compared with. Each is a pure function of states
//!   and noise. Exact laws apply to the code that runs, through its linear form.
//! - [`Ensemble`]: chains with their states and random streams, advanced step by step.
//! - [`CoupledChains`]: two step sizes on one Brownian path, which shows the bias of the longer.
//! - [`automatic`]: a warm-up that needs no parameters.
//! - [`Sampler`]: warm-up, thinning and draws into a [`Sink`], with a stop signal, a [`Budget`] and
//!   progress.
//! - [`Draws`]: draws in memory, with names, summary and export.
//! - [`Job`]: a run on a thread of its own, to be watched and cancelled.
//! - [`Team`]: several processes that share the chains of a run.
//! - [`SavedRun`] and [`SavedWarmUp`]: states as bytes, from which an interrupted run continues bit
//!   for bit.
//!
//! The feature `serde` gives results and settings `Serialize` and `Deserialize`. Numbers that are not
//! finite, as a bias after a divergence, are words (`"NaN"`, `"inf"`) in text formats like JSON.
//!
//! ```
//! use ridgewalk_coefficients::Parameters;
//! use ridgewalk_potentials::{Chebyshev, FromFn};
//! use ridgewalk_sampler::{Draws, Sampler, Symmetric};
//!
//! // A normal distribution with standard deviations 1 and 2, from its gradient.
//! let gradient = |x: &[f64], g: &mut [f64]| {
//!     (g[0], g[1]) = (x[0], x[1] / 4.0);
//!     Ok(())
//! };
//! let target = Chebyshev::new(FromFn::new(2, gradient), 3)?;
//! let kernel = Symmetric::new(Parameters::new(1.0, 2.0, 1.0)?, 1.0)?;
//! let mut draws = Draws::default();
//! let outcome = Sampler::new(&target, &kernel).chains(4).seed(1).warm_up(100).draws(500).run(&mut draws)?;
//! assert!(outcome.complete());
//! assert_eq!(draws.chain(3).len(), 500 * 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same seed gives the same draws, bit for bit, on any number of threads and with any
//! interruption in between. A chain's draws do not depend on how many others run beside it.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod acceptance;
pub mod automatic;
mod batch;
mod budget;
pub mod clock;
mod codec;
mod coupled;
mod coupling;
mod draws;
mod driver;
mod ensemble;
mod error;
mod group;
pub mod job;
pub mod kernels;
mod noise;
mod outcome;
mod saved;
mod sink;
mod team;
mod vitals;
#[cfg(feature = "serde")]
mod with_serde;

pub use acceptance::{Acceptance, DrawStats, Proposal};
pub use batch::{Batch, Fields, State};
pub use budget::{Budget, Exhausted};
pub use coupled::{CoupledChains, Difference, Paths, Shift};
pub use coupling::Coupling;
pub use draws::Draws;
pub use driver::Sampler;
pub use ensemble::{Ensemble, SavedChain, Snapshot};
pub use error::{Error, Quantity, SavedKind};
pub use job::{Job, JobStatus, Watch, WatchedDraws};
pub use kernels::{
    Adjusted, Align, Averaged, Baoab, CoupledKernel, Halved, Hmc, Kernel, Klmc, LinearKernel,
    Quicsort, RandomizedMidpoint, Should, Step, Subsampled, Symmetric, ThirdOrder, Ubu, Ula,
    Workspace, from_scheme,
};
pub use noise::{Noise, Stream};
pub use outcome::{ChainEnd, ChainReport, ChainStatus, Outcome, Progress, Why};
pub use saved::{SavedLooks, SavedRun, SavedWarmUp};
pub use sink::{InOriginal, Sink, SinkError};
pub use team::Team;
pub use vitals::{Reference, Segment, Spread, Vitals};

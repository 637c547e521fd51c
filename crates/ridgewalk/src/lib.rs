//! Third-order Langevin sampling of log-concave distributions.
//!
//! This crate puts together the crates of the workspace, each of which can be used alone:
//!
//! - [`potentials`]: potentials of generalized linear models, and any gradient, with their line
//!   integrals;
//! - [`sampler`]: kernels, and a driver that runs many chains at once;
//! - [`diagnostics`]: R-hat, effective sample sizes, standard errors and summaries of draws;
//! - [`coefficients`]: the numbers of one step of the algorithm, accurate for every step size;
//! - [`quadrature`]: the integral of a gradient along a segment, from its values at Chebyshev
//!   nodes;
//! - [`lyapunov`]: how fast the algorithm converges, proved, planned and computed exactly.
//!
//! # A logistic posterior
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! // Hours of study, and who passed.
//! let hours = vec![0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
//! let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
//! let design = Dense::new(12, 1, hours)?.with_intercept();
//! let posterior = Ridge::new(design, Logistic, &passed, Prior::centred(2, 2.5)?)?;
//! // Coordinates, kernel and step size are chosen by their measured bias; nothing needs to be tuned.
//! let mut warm = WarmUp::new(&posterior).seed(1).run()?;
//! let mut draws = Draws::default();
//! let sampled = warm.run(Length::Draws(1000)).keep(&mut draws)?;
//! assert!(sampled.within_tolerance, "at most 0.05 standard deviations of bias");
//! let slope = summaries_of_table(&draws.tables(), 2)?[1];
//! assert!((1.1..1.6).contains(&slope.mean) && slope.rhat < 1.01, "an hour adds 1.3 or so to the log odds");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Any log-density, from its gradient
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! // U = log cosh x + y²/2; the gradient of U, which is minus that of the log-density.
//! let gradient = |x: &[f64], g: &mut [f64]| {
//!     (g[0], g[1]) = (x[0].tanh(), x[1]);
//!     Ok(())
//! };
//! let target = BlackBox::new(FromFn::new(2, gradient), 3, &[0.0; 2])?;
//! let mut warm = WarmUp::new(&target).seed(1).run()?;
//! let mut draws = Draws::default();
//! // Until every coordinate has 2000 effective draws.
//! let sampled = warm.run(Length::Ess { target: 2000.0, most: 10_000 }).keep(&mut draws)?;
//! assert!(sampled.reached && draws.mean(1).abs() < 0.2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Without discretisation bias
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! // Trajectories are accepted or rejected: that needs the value of U beside its gradient.
//! let potential = |x: &[f64], g: &mut [f64]| {
//!     (g[0], g[1]) = (x[0].tanh(), x[1]);
//!     Ok(x[0].cosh().ln() + 0.5 * x[1] * x[1])
//! };
//! let target = BlackBox::new(FromValueFn::new(2, potential), 3, &[0.0; 2])?;
//! let mut warm = WarmUp::new(&target).seed(1).tolerance(0.0).run()?;
//! let sampled = warm.run(Length::Draws(500)).keep(&mut Draws::default())?;
//! assert_eq!((warm.scheme.name(), sampled.bias.largest()), ("adjusted", 0.0));
//! assert!(sampled.outcome.acceptance().rate() > 0.5);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A run that may be interrupted
//!
//! ```
//! use std::time::Duration;
//!
//! use ridgewalk::prelude::*;
//!
//! /// Draws and the last state as bytes, which a program would write to a disk: the draws first, then the state, whole or not at all.
//! #[derive(Default)]
//! struct Safe {
//!     draws: Draws,
//!     room: usize,
//!     state: Vec<u8>,
//! }
//!
//! impl Sink for Safe {
//!     fn begin(&mut self, chains: usize, dimension: usize) -> Result<(), SinkError> {
//!         self.draws.begin(chains, dimension)
//!     }
//!
//!     fn keep(&mut self, chain: usize, draw: u64, point: &[f64]) -> Result<(), SinkError> {
//!         if self.draws.draws(0) == self.room {
//!             return Err("the disk is full".into());
//!         }
//!         self.draws.keep(chain, draw, point)
//!     }
//!
//!     fn checkpoint(&mut self, state: SavedRun) -> Result<(), SinkError> {
//!         self.state = state.to_bytes();
//!         Ok(())
//!     }
//! }
//!
//! let gradient = |x: &[f64], g: &mut [f64]| {
//!     g[0] = x[0].tanh();
//!     Ok(())
//! };
//! let target = BlackBox::new(FromFn::new(1, gradient), 3, &[0.0])?;
//! let question = WarmUp::new(&target).seed(1).chains(2);
//! let mut warm = question.run()?;
//! let mut first = Safe { room: 700, ..Safe::default() };
//! let every = Duration::from_secs(10);
//! assert!(warm.run(Length::Draws(1000)).checkpoints(every).keep(&mut first).is_err());
//! let kept = (warm.saved().to_bytes(), first.state);
//!
//! // Another process, another day.
//! let mut warm = question.restore(SavedWarmUp::from_bytes(&kept.0)?)?;
//! let state = SavedRun::from_bytes(&kept.1)?;
//! // Draws that came after the state are to be forgotten: they come again.
//! let mut second = Safe { room: 2000, ..Safe::default() };
//! second.begin(2, 1)?;
//! for (chain, count) in state.draws().into_iter().enumerate() {
//!     for draw in 0..count {
//!         let point = first.draws.point(chain, usize::try_from(draw)?).ok_or("a draw that the state counts")?;
//!         second.keep(chain, draw, point)?;
//!     }
//! }
//! warm.run(Length::Draws(1000)).from_saved(state).checkpoints(every).keep(&mut second)?;
//!
//! let mut whole = Draws::default();
//! warm.begin_anew();
//! warm.run(Length::Draws(1000)).keep(&mut whole)?;
//! assert!(second.draws == whole, "to the last bit");
//! # Ok::<(), Box<dyn std::error::Error + Send + Sync>>(())
//! ```
//!
//! # A kernel and parameters of your own choice
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! let gradient = |x: &[f64], g: &mut [f64]| {
//!     g[0] = x[0].tanh();
//!     Ok(())
//! };
//! let target = Chebyshev::new(FromFn::new(1, gradient), 3)?;
//! // The curvature of log cosh is at most L = 1.
//! let kernel = ThirdOrder::new(Parameters::new(1.0, 2.0, 0.4)?, 1.0)?;
//! let mut draws = Draws::default();
//! let outcome = Sampler::new(&target, &kernel).chains(4).seed(1).warm_up(100).draws(2000).run(&mut draws)?;
//! assert!(outcome.complete() && draws.mean(0).abs() < 0.3);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Steps by hand
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! let gradient = |x: &[f64], g: &mut [f64]| {
//!     g[0] = x[0];
//!     Ok(())
//! };
//! let target = Chebyshev::new(FromFn::new(1, gradient), 3)?;
//! let kernel = ThirdOrder::new(Parameters::new(1.0, 2.0, 0.4)?, 1.0)?;
//! let (mut now, mut next, mut workspace) = (Batch::new(1, 1)?, Batch::new(1, 1)?, Workspace::default());
//! let mut stream = Stream::new(1, 0);
//! for _ in 0..100 {
//!     // Three normals for the one coordinate; any others would do.
//!     let mut normals = [0.0; 3];
//!     stream.normals(&mut normals);
//!     let noise = Noise { normals: &normals, uniforms: &[] };
//!     let (from, to, workspace) = (&now, &mut next, &mut workspace);
//!     kernel.step(Step { potential: &target, from, noise, to, workspace })?;
//!     std::mem::swap(&mut now, &mut next);
//! }
//! assert!(now.theta()[0].abs() < 6.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The same programs, a little longer, are in `examples/`.

#![cfg_attr(not(test), warn(clippy::unwrap_used, clippy::expect_used, clippy::panic))]
#![cfg_attr(not(test), warn(clippy::print_stdout, clippy::print_stderr, clippy::exit))]

mod runs;

pub use ridgewalk_coefficients as coefficients;
pub use ridgewalk_diagnostics as diagnostics;
pub use ridgewalk_fit::{Fitted, Settings, fit, fit_watched};
pub use ridgewalk_frame as frame;
pub use ridgewalk_lyapunov as lyapunov;
pub use ridgewalk_potentials as potentials;
pub use ridgewalk_quadrature as quadrature;
pub use ridgewalk_report as report;
pub use ridgewalk_sampler as sampler;
pub use ridgewalk_store as store;
pub use runs::{
    RunError, StoredFit, fit_into, fit_into_watched, resume, resume_watched, settings_of,
};

pub mod pipeline {
    //! The stages of a fit, to be put together in another way.

    pub use ridgewalk_fit::*;
}

pub mod prelude {
    //! What most programs need, in one line.

    pub use ridgewalk_coefficients::Parameters;
    pub use ridgewalk_diagnostics::{Summary, summaries_of_table};
    pub use ridgewalk_potentials::families::{
        Gaussian, Huber, Logistic, LogisticNoise, Poisson, Probit,
    };
    pub use ridgewalk_potentials::{
        Chebyshev, Dense, FromFn, FromValueFn, Gradient, LineIntegral, ModeSearch, Prior, Ridge,
        Scratch, Sparse, Whitened, Whitening,
    };
    pub use ridgewalk_sampler::automatic::{BlackBox, Length, Sampled, WarmUp, WarmedUp};
    pub use ridgewalk_sampler::{
        Acceptance, Adjusted, Averaged, Baoab, Batch, ChainStatus, Draws, Ensemble, InOriginal,
        Kernel, Klmc, Noise, Outcome, Progress, RandomizedMidpoint, Sampler, SavedRun, SavedWarmUp,
        Sink, SinkError, Step, Stream, Symmetric, ThirdOrder, Ubu, Ula, Workspace,
    };
}

/// Every program of the pages that show some, compiled and run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
}

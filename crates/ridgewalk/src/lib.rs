//! Bayesian inference for generalized linear models on third-order Langevin dynamics.
//!
//! # A fit in a few lines
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! // Hours of study, and who passed. `Table::read("study.csv")?` reads a file.
//! let hours = [0.5, 1.0, 1.5, 1.75, 2.0, 2.5, 3.0, 3.25, 4.0, 4.25, 4.75, 5.5];
//! let passed = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0];
//! let columns = [("hours", &hours), ("passed", &passed)];
//! let columns = columns.map(|(name, values)| Column::from_numbers(name, values));
//! let table = Table::from_columns("study", columns.to_vec())?;
//! let settings = Settings { seed: 1, ..Settings::new("passed", FamilyName::Logistic) };
//! let fit = ridgewalk::fit(&table, &settings)?;
//!
//! assert_eq!(fit.names(), ["(Intercept)", "hours"]);
//! let slope = fit.parameter("hours").ok_or("no such coefficient")?;
//! assert!((1.4..1.9).contains(&slope.mean) && slope.rhat < 1.01);
//! assert!(fit.warnings().is_empty(), "everything that the program warns about");
//! assert_eq!(fit.draws().chain(0).len(), 1000 * 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Kernel, step size and coordinates are chosen by their measured bias; nothing needs to be tuned.
//! [`fit_into`] writes the same fit to a run directory, with draws in Zarr, `summary.json` and
//! `report.html`; [`resume`] continues a run that was interrupted; [`start`] runs a fit in the
//! background.
//!
//! ```
//! # use ridgewalk::prelude::*;
//! # let place = tempfile::tempdir()?;
//! # let out = place.path().join("run");
//! let table = Table::built_in()?;
//! let settings = Settings { draws: 200, out, ..Settings::built_in() };
//! let run = ridgewalk::fit_into(&table, &settings)?;
//! assert!(run.directory().report().is_file());
//! assert_eq!(run.draws()?.common(), 200);
//! // Nothing is left to do.
//! assert!(ridgewalk::resume(&settings.out)?.is_none());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A fit that is kept predicts new rows, is checked against rows that it has not seen, and is
//! exported for ArviZ: [`StoredFit::predictor`], [`StoredFit::loo`], [`StoredFit::export`].
//!
//! # The crates below
//!
//! Each can be used alone:
//!
//! - [`frame`]: tables from CSV, Parquet or memory, model matrices, responses;
//! - [`pipeline`]: the stages of a fit, from a table and settings to draws and a verdict;
//! - [`store`]: run directories; [`report`]: their HTML report;
//! - [`potentials`]: potentials of generalized linear models, and any gradient, with their line
//!   integrals;
//! - [`sampler`]: kernels, a driver for many chains, a warm-up without parameters;
//! - [`diagnostics`]: R-hat, effective sample sizes, standard errors;
//! - [`coefficients`], [`quadrature`]: the numbers of one step, and integrals along a segment;
//! - [`lyapunov`]: how fast the algorithm converges, proved, planned and computed exactly.
//!
//! # A posterior from its parts
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! let design = Dense::from_columns(&[&[1.0; 6], &[0.5, 1.0, 1.5, 2.5, 3.0, 4.0]])?;
//! let passed = [0.0, 0.0, 1.0, 0.0, 1.0, 1.0];
//! let posterior = Ridge::new(design, Logistic, &passed, Prior::centred(2, 2.5)?)?;
//! let mut warm = WarmUp::new(&posterior).seed(1).run()?;
//! let mut draws = Draws::named(["intercept", "slope"]);
//! let sampled = warm.run(Length::Draws(1000)).keep(&mut draws)?;
//! let warnings = sampled.warnings(draws.names(), &draws.summary()?);
//! assert!(warnings.is_empty() && draws.means()[1] > 0.0);
//! // Running again continues.
//! warm.run(Length::Draws(500)).keep(&mut draws)?;
//! assert_eq!(draws.common(), 1500);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Any log-density, from its gradient
//!
//! ```
//! use ridgewalk::prelude::*;
//!
//! // U = log cosh x + y²/2. Its gradient is minus that of the log-density.
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
//! use ridgewalk::sampler::{SavedRun, SavedWarmUp, SinkError};
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
//! # A kernel and parameters of your choice
//!
//! ```
//! use ridgewalk::coefficients::Parameters;
//! use ridgewalk::potentials::Chebyshev;
//! use ridgewalk::prelude::*;
//! use ridgewalk::sampler::ThirdOrder;
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
//! use ridgewalk::coefficients::Parameters;
//! use ridgewalk::potentials::Chebyshev;
//! use ridgewalk::prelude::*;
//! use ridgewalk::sampler::{Batch, Noise, Step, Stream, ThirdOrder, Workspace};
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

mod export;
mod memory;
mod runs;
pub mod theory;

pub use export::{EXPORT_GROUPS, REPLICATES_SEED};
pub use memory::{report_of, save};
pub use ridgewalk_coefficients as coefficients;
pub use ridgewalk_diagnostics as diagnostics;
pub use ridgewalk_fit::{Fitted, Settings, describe, fit, fit_watched, start};
pub use ridgewalk_frame as frame;
pub use ridgewalk_lyapunov as lyapunov;
pub use ridgewalk_potentials as potentials;
pub use ridgewalk_quadrature as quadrature;
pub use ridgewalk_report as report;
pub use ridgewalk_sampler as sampler;
pub use ridgewalk_store as store;
pub use runs::{
    RunError, StoredFit, fit_data_into, fit_into, fit_into_watched, resume, resume_data,
    resume_watched, settings_of,
};

pub mod pipeline {
    //! The stages of a fit, to be put together in another way.

    pub use ridgewalk_fit::*;
}

pub mod prelude {
    //! What most programs need, in one line. Everything else is in the module of its crate.

    pub use ridgewalk_fit::Settings;
    pub use ridgewalk_frame::{Column, FamilyName, Table};
    pub use ridgewalk_potentials::families::{Family, Gaussian, Logistic, Poisson};
    pub use ridgewalk_potentials::{
        Dense, FromFn, FromValueFn, Gradient, LineIntegral, Prior, Ridge,
    };
    pub use ridgewalk_sampler::automatic::{BlackBox, Length, WarmUp};
    pub use ridgewalk_sampler::{Draws, Job, Kernel, Sampler, Sink};
}

/// The programs that the pages show, compiled and run.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
}

//! Exact laws of the kernels on Gaussian targets, without Monte Carlo noise.
//!
//! On a quadratic potential every kernel here is linear with Gaussian noise, and in the eigenbasis
//! of the Hessian H the coordinates are independent: one small block for each eigenvalue l of H/L.
//! The law after k steps, the stationary covariance, distances to the target, autocorrelation times
//! and mixing times are then linear algebra. Everything is in units of L = 1: the target is
//! N(0, 1/l) in θ and N(0, 1) in p and r. [`Spectrum`] converts from and to other units.
//!
//! ```
//! use ridgewalk_lyapunov::laws::{
//!     Autocorrelation, Evolution, KernelKind, Scheme, Spectrum, Start, tune,
//! };
//!
//! // A million coordinates, half of them ten times as wide as the others.
//! let target = Spectrum::new(&[(1.0, 500_000), (0.01, 500_000)])?;
//! let scheme = Scheme::symmetric(1.0, 2.0, 1.2)?;
//! let evolution = Evolution::new(&scheme, &target, &Start::AtMode)?;
//! let steps = evolution.mixing_time(0.5)?.expect("this kernel has no bias on a Gaussian");
//! assert!(evolution.after(steps).w2_to_target() <= 0.5);
//!
//! // Gradients per independent draw, with the parameters that minimise them at 1 % bias.
//! let tuned = tune(KernelKind::ThirdOrder, 5.0, 0.01)?;
//! let form = tuned.scheme.linear_form(0.2)?;
//! assert!(Autocorrelation::new(&form).expect("a stable step").longer() <= tuned.cost);
//! # Ok::<(), ridgewalk_lyapunov::Error>(())
//! ```

mod autocorrelation;
mod evolution;
mod fourth;
mod ideal;
mod kernel;
mod linear;
mod mixing;
mod scheme;
mod search;
mod shifted;
mod spectrum;
mod trajectory;
mod tuning;

pub use autocorrelation::Autocorrelation;
pub use evolution::{Evolution, Law, ModeLaw, relative_bias};
pub use ideal::{IdealHmc, tune_ideal_hmc};
pub use kernel::KernelKind;
pub use linear::{Branch, LinearForm};
pub use mixing::{MixingTuned, tune_mixing};
pub use scheme::Scheme;
pub use spectrum::{Eigenvalue, Spectrum, Start};
pub use trajectory::{Drift, Trajectory};
pub use tuning::{Tuned, tune};

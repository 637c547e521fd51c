//! Kernels: one step of a batch of chains as a pure function of their states and the step's noise.
//!
//! A kernel needs little to run ([`Kernel`]): its step, how much noise that takes and what it
//! costs. Two further traits are optional. [`LinearKernel`] gives the linear form that exact laws
//! start from, [`CoupledKernel`] puts two step sizes on one Brownian path. The kernels here have
//! both, except [`Adjusted`] and [`Subsampled`], which cannot be coupled.
//!
//! Every kernel here takes the smoothness L when it is made, and works in units in which p and r
//! have covariance I/L at stationarity, as the paper does. Noise is the Cholesky factor of its
//! covariance times standard normals.
//!
//! # Adding a built-in kernel
//!
//! Four files, and the compiler asks for each of them:
//!
//! 1. `lyapunov/src/laws/kernel.rs`: a variant of `KernelKind`;
//! 2. `lyapunov/src/laws/scheme.rs`: its linear form;
//! 3. a file in this folder: the step, the coupling and the constants of its `BuiltIn`;
//! 4. this file: its module, and its arm in `BuiltIn::of`.

mod adjusted;
mod align;
mod averaged;
mod baoab;
mod hmc;
mod klmc;
mod pointers;
mod quicsort;
mod randomized_midpoint;
mod should;
mod subsampled;
mod symmetric;
mod third_order;
mod ubu;
mod ula;

use std::fmt::Debug;

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_potentials::{LineIntegral, Scratch};

pub use adjusted::Adjusted;
pub use align::Align;
pub use averaged::Averaged;
pub use baoab::Baoab;
pub use hmc::Hmc;
pub use klmc::Klmc;
pub use quicsort::Quicsort;
pub use randomized_midpoint::RandomizedMidpoint;
pub use should::Should;
pub use subsampled::Subsampled;
pub use symmetric::Symmetric;
pub use third_order::ThirdOrder;
pub use ubu::Ubu;
pub use ula::Ula;

use crate::batch::Batch;
use crate::coupled::Paths;
use crate::error::{Error, length};
use crate::noise::Noise;

/// A way to make one step.
///
/// Kernels from outside this crate run like the built-in ones:
///
/// ```
/// use ridgewalk_potentials::{Chebyshev, FromFn, LineIntegral};
/// use ridgewalk_sampler::{Draws, Error, Kernel, Sampler, Step};
///
/// /// An Euler step of the overdamped Langevin dynamics.
/// #[derive(Debug)]
/// struct Euler {
///     step: f64,
/// }
///
/// impl Kernel for Euler {
///     fn normals(&self) -> usize {
///         1
///     }
///
///     fn gradients_per_step(&self, _: &dyn LineIntegral) -> u64 {
///         1
///     }
///
///     fn step(&self, step: Step<'_>) -> Result<u64, Error> {
///         let Step { potential, from, noise, to, workspace } = step;
///         let room = workspace.room(from);
///         potential.gradients(from.theta(), room.first, room.scratch)?;
///         let new = to.fields_mut();
///         (new.p.copy_from_slice(from.p()), new.r.copy_from_slice(from.r()));
///         let noisy = from.theta().iter().zip(&*room.first).zip(noise.normals);
///         for (new, ((x, gradient), normal)) in new.theta.iter_mut().zip(noisy) {
///             *new = x - self.step * gradient + (2.0 * self.step).sqrt() * normal;
///         }
///         Ok(1)
///     }
/// }
///
/// // A normal distribution with mean 3 and variance 1.
/// let gradient = |x: &[f64], g: &mut [f64]| { g[0] = x[0] - 3.0; Ok(()) };
/// let target = Chebyshev::new(FromFn::new(1, gradient), 3)?;
/// let mut draws = Draws::default();
/// let mut sampler = Sampler::new(&target, &Euler { step: 0.1 }).warm_up(100).draws(5000);
/// assert!(sampler.run(&mut draws)?.complete());
/// assert!((draws.mean(0) - 3.0).abs() < 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Kernel: Debug + Send + Sync {
    /// Standard normals per coordinate and step.
    fn normals(&self) -> usize;

    /// Uniform numbers per chain and step.
    fn uniforms(&self) -> usize {
        0
    }

    /// Gradients per chain and step, given that the gradient at the start of the step is stored if
    /// the kernel uses it.
    fn gradients_per_step(&self, potential: &dyn LineIntegral) -> u64;

    /// One step of every chain, from one batch into another of the same shape. Returns the number
    /// of gradients per chain.
    ///
    /// Pure: the new state of a chain depends on its own state and noise alone. A kernel without p
    /// or r copies them.
    ///
    /// # Errors
    /// Lists whose lengths do not fit, or a potential that fails. `to` may then be half written;
    /// `from` is unchanged.
    fn step(&self, step: Step<'_>) -> Result<u64, Error>;

    /// The smoothness L: chains begin with p and r from N(0, I/L).
    fn smoothness(&self) -> f64 {
        1.0
    }

    /// The name in tables and messages. By default, that of the type.
    fn name(&self) -> &'static str {
        std::any::type_name::<Self>()
    }
}

/// What a step works on: the potential, the states before it, its noise, where the states after it
/// go, and working space.
pub struct Step<'a> {
    /// The potential.
    pub potential: &'a dyn LineIntegral,
    /// The states before the step.
    pub from: &'a Batch,
    /// Its noise.
    pub noise: Noise<'a>,
    /// Where the states after it are written, of the same shape.
    pub to: &'a mut Batch,
    /// Working space.
    pub workspace: &'a mut Workspace,
}

impl Debug for Step<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { from, noise, to, .. } = self;
        f.debug_struct("Step")
            .field("from", from)
            .field("noise", noise)
            .field("to", to)
            .finish_non_exhaustive()
    }
}

impl Step<'_> {
    /// An error unless batches, noise and potential fit together, for use by kernels.
    ///
    /// # Errors
    /// [`Error::Length`] names the list that does not fit.
    #[inline]
    pub fn check(&self, kernel: &dyn Kernel) -> Result<(), Error> {
        let Self { potential, from, noise, to, .. } = self;
        let entries = from.theta.len();
        length("a state", from.dimension(), potential.dimension())?;
        length("a state of the batch to write to", to.dimension(), from.dimension())?;
        length("the batch to write to", to.theta.len(), entries)?;
        length("the list of normals", noise.normals.len(), kernel.normals() * entries)?;
        length("the list of uniforms", noise.uniforms.len(), kernel.uniforms() * from.chains())
    }
}

/// A kernel whose linear form on quadratic potentials is known, so that exact laws apply to the
/// code that runs.
pub trait LinearKernel: Kernel {
    /// The kernel with its parameters as the exact laws know it: its linear form at each eigenvalue
    /// of the Hessian over L. Where these laws are about (θ, p, r), multiply by 1/√L.
    fn scheme(&self) -> &Scheme;

    /// The kernel as one whose step sizes can be coupled, if they can.
    fn coupled(&self) -> Option<&dyn CoupledKernel> {
        None
    }
}

/// A kernel whose steps of two lengths can follow one Brownian path.
pub trait CoupledKernel: LinearKernel {
    /// The kernel with steps of half the length, and how its noise and that of the long step follow
    /// from one path.
    ///
    /// # Errors
    /// For parameters at which a coefficient of the coupling over- or underflows.
    fn halved(&self) -> Result<Halved, Error>;
}

/// The short steps of a [`CoupledKernel`].
#[derive(Debug)]
pub struct Halved {
    /// The kernel with steps of half the length.
    pub kernel: Box<dyn LinearKernel>,
    /// How the noise of both step sizes is drawn.
    pub paths: Paths,
}

/// The kernel of a scheme, at smoothness L.
type Make = fn(&Scheme, f64) -> Result<Box<dyn LinearKernel>, Error>;

/// Everything this crate knows about a built-in kernel beside its step and its coupling.
pub(crate) struct BuiltIn {
    make: Make,
    /// The first step size that a warm-up tries.
    pub(crate) first_step: f64,
    /// The longest step it tries, for eigenvalues up to 1. There is a margin to where steps become
    /// unstable: chains meet more than the mean curvature.
    pub(crate) longest_step: f64,
    /// The power of η that the bias is assumed to grow with when a step is corrected.
    pub(crate) bias_order: f64,
}

impl BuiltIn {
    /// For most kernels.
    const fn new(make: Make) -> Self {
        Self { make, first_step: 0.5, longest_step: 1.5, bias_order: 2.0 }
    }

    /// What is known about a kernel.
    pub(crate) fn of(kind: KernelKind) -> Self {
        match kind {
            KernelKind::ThirdOrder => ThirdOrder::BUILT_IN,
            KernelKind::Symmetric => Symmetric::BUILT_IN,
            KernelKind::Averaged => Averaged::BUILT_IN,
            KernelKind::Adjusted => Adjusted::BUILT_IN,
            KernelKind::Ula => Ula::BUILT_IN,
            KernelKind::Klmc => Klmc::BUILT_IN,
            KernelKind::Ubu => Ubu::BUILT_IN,
            KernelKind::Baoab => Baoab::BUILT_IN,
            KernelKind::RandomizedMidpoint => RandomizedMidpoint::BUILT_IN,
            KernelKind::Quicsort => Quicsort::BUILT_IN,
            KernelKind::Should => Should::BUILT_IN,
            KernelKind::Align => Align::BUILT_IN,
            KernelKind::Hmc => Hmc::BUILT_IN,
            KernelKind::Subsampled => Subsampled::BUILT_IN,
        }
    }
}

/// The kernel of a scheme, at smoothness L.
///
/// # Errors
/// For a bad L.
///
/// ```
/// use ridgewalk_lyapunov::laws::Scheme;
/// use ridgewalk_sampler::Kernel;
///
/// let scheme = Scheme::baoab(2.0, 0.5)?;
/// let kernel = ridgewalk_sampler::from_scheme(&scheme, 10.0)?;
/// assert_eq!((kernel.name(), kernel.smoothness()), ("baoab", 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_scheme(scheme: &Scheme, smoothness: f64) -> Result<Box<dyn LinearKernel>, Error> {
    (BuiltIn::of(scheme.kernel()).make)(scheme, smoothness)
}

/// γ, ξ and η of a scheme that has them all.
fn parameters(scheme: &Scheme) -> Result<Parameters, Error> {
    Ok(Parameters::new(scheme.gamma().unwrap_or(1.0), friction(scheme), scheme.eta())?)
}

/// ξ of a scheme that has one.
fn friction(scheme: &Scheme) -> f64 {
    scheme.xi().unwrap_or(1.0)
}

/// The short steps of a built-in kernel; `paths` is given their scheme.
fn halved(
    scheme: &Scheme, smoothness: f64, paths: impl FnOnce(&Scheme) -> Result<Paths, Error>,
) -> Result<Halved, Error> {
    let gamma = scheme.gamma().unwrap_or(1.0);
    let short = Scheme::new(scheme.kernel(), gamma, friction(scheme), 0.5 * scheme.eta())?;
    Ok(Halved { paths: paths(&short)?, kernel: from_scheme(&short, smoothness)? })
}

/// What a step of a built-in kernel uses beside the states.
///
/// The states are parameters of their own: the compiler then knows that they do not overlap, which
/// saves up to a seventh of the instructions.
struct With<'a> {
    potential: &'a dyn LineIntegral,
    noise: Noise<'a>,
    room: Room<'a>,
}

/// The three traits of a kernel that has the fields `scheme` and `smoothness` and a method
/// `advance` for its step.
macro_rules! built_in {
    ($kernel:ident {
        normals: $normals:expr,
        $(uniforms: $uniforms:expr,)?
        gradients: $gradients:expr,
        paths: $paths:expr $(,)?
    }) => {
        impl $crate::kernels::Kernel for $kernel {
            fn normals(&self) -> usize {
                $normals
            }

            $(fn uniforms(&self) -> usize {
                $uniforms
            })?

            fn gradients_per_step(&self, potential: &dyn LineIntegral) -> u64 {
                let count: fn(&dyn LineIntegral) -> u64 = $gradients;
                count(potential)
            }

            fn step(&self, step: $crate::Step<'_>) -> Result<u64, Error> {
                step.check(self)?;
                let $crate::Step { potential, from, noise, to, workspace } = step;
                let room = workspace.room(from);
                self.advance($crate::kernels::With { potential, noise, room }, from, to)
            }

            fn smoothness(&self) -> f64 {
                self.smoothness
            }

            fn name(&self) -> &'static str {
                self.scheme.name()
            }
        }

        impl $crate::kernels::LinearKernel for $kernel {
            fn scheme(&self) -> &Scheme {
                &self.scheme
            }

            fn coupled(&self) -> Option<&dyn $crate::kernels::CoupledKernel> {
                Some(self)
            }
        }

        impl $crate::kernels::CoupledKernel for $kernel {
            fn halved(&self) -> Result<$crate::kernels::Halved, Error> {
                $crate::kernels::halved(&self.scheme, self.smoothness, $paths)
            }
        }
    };
}
use built_in;

/// Does some work for each chain of a step, with its noise components and its parts of the lists
/// that it reads and writes.
macro_rules! each_chain {
    (
        $from:ident, $noise:ident, |$chain:ident, $normals:pat_param|,
        read { $($name:ident: $list:expr),* $(,)? },
        write { $($out:ident: $mutable:expr),* $(,)? },
        $body:block
    ) => {
        for $chain in 0..$from.chains() {
            let range = $from.range($chain);
            let $normals = $crate::kernels::components($noise, $chain, $from.dimension());
            $(let $name = &$list[range.clone()];)*
            $(let $out = &mut $mutable[range.clone()];)*
            $body
        }
    };
}
use each_chain;

/// Working space for steps. Its content does not matter; using one again saves the allocation.
#[derive(Debug, Clone, Default)]
pub struct Workspace {
    scratch: Scratch,
    first: Vec<f64>,
    second: Vec<f64>,
    energies: Vec<f64>,
}

/// A workspace with room for two lists.
#[derive(Debug)]
pub struct Room<'a> {
    /// The potential's working space.
    pub scratch: &'a mut Scratch,
    /// A list of unknown content.
    pub first: &'a mut [f64],
    /// Another.
    pub second: &'a mut [f64],
}

impl Workspace {
    /// Room for lists as long as those of a batch.
    pub fn room(&mut self, batch: &Batch) -> Room<'_> {
        self.room_with_energies(batch).0
    }

    /// The same, and two lists with a number for each chain.
    fn room_with_energies(&mut self, batch: &Batch) -> (Room<'_>, [&mut [f64]; 2]) {
        let entries = batch.theta.len();
        self.first.resize(entries, 0.0);
        self.second.resize(entries, 0.0);
        self.energies.resize(2 * batch.chains(), 0.0);
        let room =
            Room { scratch: &mut self.scratch, first: &mut self.first, second: &mut self.second };
        (room, self.energies.split_at_mut(batch.chains()).into())
    }
}

/// The gradient at the start of a step: the stored one, or one computed into `room`; and the number
/// of gradients per chain that this took.
fn start_gradient<'a>(
    potential: &dyn LineIntegral, from: &'a Batch, room: &'a mut [f64], scratch: &mut Scratch,
) -> Result<(&'a [f64], u64), Error> {
    match from.gradient() {
        Some(gradient) => Ok((gradient, 0)),
        None => {
            potential.gradients(&from.theta, room, scratch)?;
            Ok((room, 1))
        }
    }
}

/// A chain's N noise components, each of the length of a state.
fn components<'a, const N: usize>(
    noise: Noise<'a>, chain: usize, dimension: usize,
) -> [&'a [f64]; N] {
    let all = &noise.normals[chain * N * dimension..(chain + 1) * N * dimension];
    std::array::from_fn(|j| &all[j * dimension..(j + 1) * dimension])
}

//! Kernels: one step of a batch of chains as a pure function of their states and the step's noise.
//!
//! Every kernel takes the smoothness L when it is made, and works in units in which p and r have
//! covariance I/L at stationarity, as the paper does. Noise is the Cholesky factor of its
//! covariance times standard normals.

mod adjusted;
mod averaged;
mod baoab;
mod klmc;
mod randomized_midpoint;
mod symmetric;
mod third_order;
mod ubu;
mod ula;

use std::fmt::Debug;

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws::{self, Scheme};
use ridgewalk_potentials::{LineIntegral, Scratch};

pub use adjusted::Adjusted;
pub use averaged::Averaged;
pub use baoab::Baoab;
pub use klmc::Klmc;
pub use randomized_midpoint::RandomizedMidpoint;
pub use symmetric::Symmetric;
pub use third_order::ThirdOrder;
pub use ubu::Ubu;
pub use ula::Ula;

use crate::batch::Batch;
use crate::error::{Error, length};
use crate::noise::Noise;

/// A way to make one step.
pub trait Kernel: Debug + Send + Sync {
    /// The kernel with its parameters as the exact laws know it: its linear form at each eigenvalue
    /// of the Hessian over L. What it says of (θ, p, r) holds here times 1/√L.
    fn scheme(&self) -> &Scheme;

    /// The smoothness L.
    fn smoothness(&self) -> f64;

    /// Standard normals that a step needs for each coordinate.
    fn normals(&self) -> usize;

    /// Uniform numbers that a step needs for each chain.
    fn uniforms(&self) -> usize {
        0
    }

    /// Gradients that a step costs a chain, when the gradient at its start is stored where the
    /// kernel has use for it.
    fn gradients_per_step(&self, potential: &dyn LineIntegral) -> u64;

    /// One step of every chain, from one batch into another of the same shape. How many gradients a
    /// chain it took.
    ///
    /// Pure: what a chain becomes depends on its own state and noise alone. Variables that the
    /// kernel does not have are handed on as they are.
    ///
    /// # Errors
    /// Lists whose lengths do not fit, or a potential that fails; `to` is then left half made, and
    /// `from` is as it was.
    fn step(
        &self,
        potential: &dyn LineIntegral,
        from: &Batch,
        noise: Noise<'_>,
        to: &mut Batch,
        workspace: &mut Workspace,
    ) -> Result<u64, Error>;

    /// The name at the command line and in tables.
    fn name(&self) -> &'static str {
        self.scheme().name()
    }
}

/// The kernel that a scheme describes, at smoothness L.
///
/// # Errors
/// For a bad L, and for a scheme that has no kernel here.
///
/// ```
/// use ridgewalk_lyapunov::laws::Scheme;
///
/// let scheme = Scheme::baoab(2.0, 0.5)?;
/// let kernel = ridgewalk_sampler::from_scheme(&scheme, 10.0)?;
/// assert_eq!((kernel.name(), kernel.smoothness()), ("baoab", 10.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn from_scheme(scheme: &Scheme, smoothness: f64) -> Result<Box<dyn Kernel>, Error> {
    // A kernel that has a parameter also tells it.
    let (gamma, xi, eta) =
        (scheme.gamma().unwrap_or(1.0), scheme.xi().unwrap_or(1.0), scheme.eta());
    Ok(match scheme.kernel() {
        laws::KernelKind::ThirdOrder => {
            Box::new(ThirdOrder::new(Parameters::new(gamma, xi, eta)?, smoothness)?)
        }
        laws::KernelKind::Symmetric => {
            Box::new(Symmetric::new(Parameters::new(gamma, xi, eta)?, smoothness)?)
        }
        laws::KernelKind::Averaged => {
            Box::new(Averaged::new(Parameters::new(gamma, xi, eta)?, smoothness)?)
        }
        laws::KernelKind::Adjusted => match scheme.trajectory() {
            Some(trajectory) => {
                Box::new(Adjusted::new(Parameters::new(gamma, xi, eta)?, trajectory, smoothness)?)
            }
            None => return Err(Error::NoKernel { name: scheme.name() }),
        },
        laws::KernelKind::Ula => Box::new(Ula::new(eta, smoothness)?),
        laws::KernelKind::Klmc => Box::new(Klmc::new(xi, eta, smoothness)?),
        laws::KernelKind::Ubu => Box::new(Ubu::new(xi, eta, smoothness)?),
        laws::KernelKind::Baoab => Box::new(Baoab::new(xi, eta, smoothness)?),
        laws::KernelKind::RandomizedMidpoint => {
            Box::new(RandomizedMidpoint::new(xi, eta, smoothness)?)
        }
    })
}

/// Working space for steps: any one will do, and using it again saves the allocation.
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
        let entries = batch.theta.len();
        self.first.resize(entries, 0.0);
        self.second.resize(entries, 0.0);
        Room { scratch: &mut self.scratch, first: &mut self.first, second: &mut self.second }
    }

    /// The same, and a list with a number for each chain.
    fn room_with_energies(&mut self, batch: &Batch) -> (Room<'_>, &mut [f64]) {
        let entries = batch.theta.len();
        self.first.resize(entries, 0.0);
        self.second.resize(entries, 0.0);
        self.energies.resize(batch.chains(), 0.0);
        let room =
            Room { scratch: &mut self.scratch, first: &mut self.first, second: &mut self.second };
        (room, &mut self.energies)
    }
}

/// An error unless batches, noise and potential fit together. For use by kernels.
///
/// # Errors
/// [`Error::Length`] names the list that does not fit.
pub fn check_shapes(
    kernel: &dyn Kernel,
    potential: &dyn LineIntegral,
    from: &Batch,
    noise: Noise<'_>,
    to: &Batch,
) -> Result<(), Error> {
    let entries = from.theta.len();
    length("a state", from.dimension(), potential.dimension())?;
    length("a state of the batch to write to", to.dimension(), from.dimension())?;
    length("the batch to write to", to.theta.len(), entries)?;
    length("the list of normals", noise.normals.len(), kernel.normals() * entries)?;
    length("the list of uniforms", noise.uniforms.len(), kernel.uniforms() * from.chains())
}

/// The gradient at the start of a step: the stored one, or one computed into `room`. How many a
/// chain that took.
fn start_gradient<'a>(
    potential: &dyn LineIntegral,
    from: &'a Batch,
    room: &'a mut [f64],
    scratch: &mut Scratch,
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
    noise: Noise<'a>,
    chain: usize,
    dimension: usize,
) -> [&'a [f64]; N] {
    let all = &noise.normals[chain * N * dimension..(chain + 1) * N * dimension];
    std::array::from_fn(|j| &all[j * dimension..(j + 1) * dimension])
}

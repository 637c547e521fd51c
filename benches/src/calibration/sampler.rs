//! The samplers under test. To test another sampler, implement [`Sampler`]; to test another kernel
//! of the library, set [`Automatic::kernel`].

use ridgewalk::lyapunov::laws;
use ridgewalk::sampler::automatic::{Target, Wanted, WarmUp};
use ridgewalk::sampler::{Draws as Kept, InOriginal, LinearKernel};

use super::mistakes::{Mistaken, Planted, WrongAcceptance};
use crate::Failure;

/// Draws of a posterior, and statistics of the run.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// The draws in original coordinates, one after the other.
    pub points: Vec<f64>,
    /// The name of the kernel.
    pub kernel: &'static str,
    /// Its step size.
    pub eta: f64,
    /// Whether the sampler reports its bias to be within the tolerance.
    pub within: bool,
    /// Gradients of all phases and chains.
    pub gradients: u64,
}

/// A sampler under test.
pub trait Sampler: Sync {
    /// At least `count` draws, as nearly independent as possible. The same seed gives the same
    /// draws.
    ///
    /// # Errors
    /// Any error; the calibration then fails.
    fn draw<T: Target>(&self, posterior: &T, count: usize, seed: u64) -> Result<Draws, Failure>;
}

/// The automatic run: warm-up, then draws.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Automatic {
    /// The bias that the warm-up allows, in standard deviations; at 0 the run is exact.
    pub tolerance: f64,
    /// The kernel; chosen by the warm-up if there is none.
    pub kernel: Option<laws::KernelKind>,
    /// Draws of each chain that the warm-up plans for: it may spend a fifth of their cost.
    pub budget: u64,
    /// An error planted in the kernel after the warm-up.
    pub mistake: Option<Planted>,
}

impl Automatic {
    /// The number of chains: the library's default.
    const CHAINS: usize = 8;
    /// Thinning, as a multiple of the library's default. Ranks are uniform only for independent
    /// draws; for dependent ones they are too often near the ends.
    const APART: u64 = 4;
    /// The tolerance of kernels without acceptance, if no bias is allowed otherwise.
    const LEAST_TOLERANCE: f64 = 0.01;

    /// An automatic run with this tolerance and defaults otherwise.
    #[must_use]
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, kernel: None, budget: 1000, mistake: None }
    }
}

impl Sampler for Automatic {
    fn draw<T: Target>(&self, posterior: &T, count: usize, seed: u64) -> Result<Draws, Failure> {
        let warmed_up = |kernel: Option<laws::KernelKind>, tolerance: f64| {
            WarmUp::new(posterior)
                .chains(Self::CHAINS)
                .seed(seed)
                .tolerance(tolerance)
                .draws(self.budget)
                .wanted(Wanted { kernel, ..Wanted::default() })
                .run()
        };
        // An error in a coefficient is defined for kernels without acceptance, and one in the
        // acceptance for trajectories; the warm-up may choose the other if it is cheaper.
        let warm = match self.mistake {
            None => warmed_up(self.kernel, self.tolerance)?,
            Some(Planted::Acceptance(_)) => warmed_up(Some(laws::KernelKind::Adjusted), 0.0)?,
            Some(Planted::Step(_)) => {
                let tolerance = self.tolerance.max(Self::LEAST_TOLERANCE);
                let warm = warmed_up(self.kernel, tolerance)?;
                if warm.scheme.kernel() == laws::KernelKind::Adjusted {
                    warmed_up(Some(laws::KernelKind::Averaged), tolerance)?
                } else {
                    warm
                }
            }
        };
        let kernel: Box<dyn LinearKernel> = match self.mistake {
            Some(Planted::Step(mistake)) => Box::new(Mistaken::new(&warm.scheme, mistake)?),
            Some(Planted::Acceptance(factor)) => {
                Box::new(WrongAcceptance::new(warm.kernel()?, factor)?)
            }
            None => warm.kernel()?,
        };
        let mut kept = Kept::default();
        let outcome = warm
            .sampler(&*kernel)
            .thin(Self::APART * warm.thin)
            .draws(count.div_ceil(Self::CHAINS) as u64)
            .run(&mut InOriginal::new(&warm.whitening, &mut kept))?;
        if !outcome.complete() {
            return Err(format!("a chain of the kernel {} ended early", warm.scheme.name()).into());
        }
        Ok(Draws {
            points: kept.tables().concat(),
            kernel: warm.scheme.name(),
            eta: warm.scheme.eta(),
            within: warm.within_tolerance,
            gradients: warm.gradients + outcome.gradients(),
        })
    }
}

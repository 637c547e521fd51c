//! The samplers under test. To test another sampler, implement [`Sampler`]; to test another kernel
//! of the library, set [`Automatic::kernel`].

use ridgewalk::lyapunov::laws;
use ridgewalk::sampler::automatic::{Target, Wanted, WarmUp};
use ridgewalk::sampler::{InOriginal, Memory};

use super::mistakes::{Mistake, Mistaken};
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
    /// The bias that the warm-up allows, in standard deviations.
    pub tolerance: f64,
    /// The kernel; chosen by the warm-up if there is none.
    pub kernel: Option<laws::KernelKind>,
    /// Draws of each chain that the warm-up plans for: it may spend a fifth of their cost.
    pub budget: u64,
    /// An error planted in the kernel after the warm-up.
    pub mistake: Option<Mistake>,
}

impl Automatic {
    /// The number of chains: the library's default.
    const CHAINS: usize = 8;
    /// Thinning, as a multiple of the library's default. Ranks are uniform only for independent
    /// draws; for dependent ones they are too often near the ends.
    const APART: u64 = 4;

    /// An automatic run with this tolerance and defaults otherwise.
    #[must_use]
    pub fn new(tolerance: f64) -> Self {
        Self { tolerance, kernel: None, budget: 1000, mistake: None }
    }
}

impl Sampler for Automatic {
    fn draw<T: Target>(&self, posterior: &T, count: usize, seed: u64) -> Result<Draws, Failure> {
        let warmed_up = |kernel: Option<laws::KernelKind>| {
            WarmUp::new(posterior)
                .chains(Self::CHAINS)
                .seed(seed)
                .tolerance(self.tolerance)
                .draws(self.budget)
                .wanted(Wanted { kernel, ..Wanted::default() })
                .run()
        };
        let mut warm = warmed_up(self.kernel)?;
        // Mistakes are defined for kernels without acceptance; the warm-up may choose trajectories
        // instead if they are cheaper.
        if self.mistake.is_some() && warm.scheme.kernel() == laws::KernelKind::Adjusted {
            warm = warmed_up(Some(laws::KernelKind::Averaged))?;
        }
        let kernel = match self.mistake {
            Some(mistake) => Box::new(Mistaken::new(&warm.scheme, mistake)?),
            None => warm.kernel()?,
        };
        let mut kept = Memory::default();
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

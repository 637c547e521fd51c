//! The samplers under test. Another one is a type that implements [`Sampler`]; another kernel of
//! the library is a name.

use ridgewalk::lyapunov::laws;
use ridgewalk::sampler::automatic::{Target, Wanted, WarmUp};
use ridgewalk::sampler::{Draws as Kept, InOriginal};

use super::mistakes::{Mistake, Mistaken};
use crate::Failure;

/// Draws of a posterior, and how they were made.
#[derive(Debug, Clone, PartialEq)]
pub struct Draws {
    /// One after the other, in original coordinates.
    pub points: Vec<f64>,
    /// The kernel, by name.
    pub kernel: &'static str,
    /// Its step.
    pub eta: f64,
    /// Whether the sampler takes its bias to be within the tolerance.
    pub within: bool,
    /// Gradients, all phases and chains.
    pub gradients: u64,
}

/// What is asked for draws.
pub trait Sampler: Sync {
    /// So many draws at least, as nearly independent as it can make them. The same seed gives the
    /// same.
    ///
    /// # Errors
    /// Whatever goes wrong; a calibration then fails.
    fn draw<T: Target>(&self, posterior: &T, count: usize, seed: u64) -> Result<Draws, Failure>;
}

/// The automatic run: warm-up, then draws from where it ended.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Automatic {
    /// The bias that the warm-up may leave, in standard deviations.
    pub tolerance: f64,
    /// The kernel, where the warm-up is not to choose one.
    pub kernel: Option<laws::KernelKind>,
    /// Draws of each chain that the warm-up is told of: a fifth of their cost is what it may spend.
    pub budget: u64,
    /// An error planted in the kernel after the warm-up.
    pub mistake: Option<Mistake>,
}

impl Automatic {
    /// How many chains, as many as the library has unless told otherwise.
    const CHAINS: usize = 8;
    /// Draws are so many times as far apart as the library would have them. Ranks are uniform for
    /// draws that are independent, and for others they are too often near the ends.
    const APART: u64 = 4;

    /// With this tolerance, and everything else as the library has it.
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
        // Mistakes are those of kernels that step; trajectories take the place of these where they
        // are cheaper.
        if self.mistake.is_some() && warm.scheme.kernel() == laws::KernelKind::Adjusted {
            warm = warmed_up(Some(laws::KernelKind::Averaged))?;
        }
        let kernel = match self.mistake {
            Some(mistake) => Box::new(Mistaken::new(&warm.scheme, mistake)?),
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

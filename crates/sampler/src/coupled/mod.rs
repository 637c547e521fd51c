//! Pairs of chains on one Brownian path, one with steps of η and one with steps of η/2, and how far apart their moments are.
//!
//! The two chains of a pair stay close, so that the difference of their means and variances is known far better than either: a short
//! run tells the bias of η without any ground truth (section 7 of the mathematics). With a bias that falls like η^q, that of η is the
//! difference times 2^q/(2^q − 1); 4/3 for q = 2.

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::{LineIntegral, Whitening};

use crate::batch::Batch;
use crate::error::{Error, length, positive};
use crate::kernels::{Kernel, Workspace, from_scheme};
use crate::noise::{Noise, Stream};

mod moments;
mod paths;

pub use moments::Difference;
use moments::Sums;
use paths::{Lists, Paths};

/// Long steps whose differences are averaged before errors are estimated from the spread of these averages.
const BLOCK: u64 = 16;

/// Pairs of chains that share their paths.
///
/// ```
/// use ridgewalk_lyapunov::laws::Scheme;
/// use ridgewalk_potentials::{Chebyshev, FromFn};
/// use ridgewalk_sampler::CoupledChains;
///
/// // A normal distribution of variance 1: Algorithm 1 at η = 0.8 has a variance that is too small by a few per cent.
/// let gradient = |x: &[f64], g: &mut [f64]| { g[0] = x[0]; Ok(()) };
/// let target = Chebyshev::new(FromFn::new(1, gradient), 3)?;
/// let mut chains = CoupledChains::new(&target, &Scheme::third_order(1.2, 2.0, 0.8)?, 1.0, 1, &[0.0; 64])?;
/// chains.advance(50)?;
/// let found = chains.measure(200, None)?;
/// assert!(found[0].variance.abs() > 5.0 * found[0].variance_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CoupledChains<'a> {
    potential: PotentialRef<'a>,
    long: Box<dyn Kernel>,
    short: Box<dyn Kernel>,
    paths: Paths,
    streams: Vec<Stream>,
    coarse: Batch,
    fine: Batch,
    spare: Batch,
    workspace: Workspace,
    noise: Lists,
    gradients: u64,
    diverged: bool,
    sums: Sums,
}

/// A potential that has no `Debug` of its own.
struct PotentialRef<'a>(&'a (dyn LineIntegral + Sync));

impl std::fmt::Debug for PotentialRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a potential in {} dimensions", self.0.dimension())
    }
}

impl<'a> CoupledChains<'a> {
    /// Pairs that start at the points `starts`, both of a pair at the same one, with p and r drawn from N(0, I/L). `scheme` is that of the
    /// longer step.
    ///
    /// # Errors
    /// For a kernel whose steps cannot be coupled (there are couplings for the third-order, the symmetric and the averaged one), a bad L, no starts, or
    /// starts that are not whole points.
    pub fn new(
        potential: &'a (dyn LineIntegral + Sync),
        scheme: &Scheme,
        smoothness: f64,
        seed: u64,
        starts: &[f64],
    ) -> Result<Self, Error> {
        positive("smoothness", smoothness)?;
        let d = potential.dimension();
        if d == 0 || starts.is_empty() {
            return Err(Error::Zero { name: if d == 0 { "dimension" } else { "chains" } });
        }
        length("the list of starts", starts.len(), starts.len().div_ceil(d) * d)?;
        let (gamma, xi) = (scheme.gamma().unwrap_or(1.0), scheme.xi().unwrap_or(1.0));
        let half = 0.5 * scheme.eta();
        let paths = Paths::new(scheme.kernel(), Parameters::new(gamma, xi, half)?)?;
        let short = Scheme::new(scheme.kernel(), gamma, xi, half)?;
        let chains = starts.len() / d;
        let mut streams: Vec<Stream> = (0..chains as u64).map(|chain| Stream::new(seed, chain)).collect();
        let mut coarse = Batch::new(d, chains)?;
        let fields = coarse.fields_mut();
        fields.theta.copy_from_slice(starts);
        let scale = smoothness.sqrt().recip();
        for (chain, stream) in streams.iter_mut().enumerate() {
            for list in [&mut *fields.p, &mut *fields.r] {
                let part = &mut list[chain * d..(chain + 1) * d];
                stream.normals(part);
                part.iter_mut().for_each(|x| *x *= scale);
            }
        }
        let long = from_scheme(scheme, smoothness)?;
        let each = long.normals() * d;
        let list = || vec![0.0; each * chains];
        let noise = Lists { first: list(), second: list(), long: list(), parts: vec![0.0; 6 * each] };
        Ok(Self {
            potential: PotentialRef(potential),
            long,
            short: from_scheme(&short, smoothness)?,
            paths,
            streams,
            fine: coarse.clone(),
            spare: coarse.clone(),
            coarse,
            workspace: Workspace::default(),
            noise,
            gradients: 0,
            diverged: false,
            sums: Sums::new(d),
        })
    }

    /// Gradients of all chains so far.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.gradients
    }

    /// Whether a state became infinite or not a number: the step is too long for this target. Nothing moves any more then.
    #[must_use]
    pub fn diverged(&self) -> bool {
        self.diverged
    }

    /// The states of the chains with short steps.
    #[must_use]
    pub fn fine(&self) -> &Batch {
        &self.fine
    }

    /// The states of the chains with long steps.
    #[must_use]
    pub fn coarse(&self) -> &Batch {
        &self.coarse
    }

    /// Makes long steps, and two short ones for each.
    ///
    /// # Errors
    /// A potential that fails.
    pub fn advance(&mut self, steps: u64) -> Result<(), Error> {
        for _ in 0..steps {
            if self.diverged {
                break;
            }
            self.step()?;
        }
        Ok(())
    }

    /// Makes long steps, the next multiple of 16 of them, and compares the moments of the states after each; in the original coordinates, if
    /// the potential is a whitened one. One [`Difference`] for each coordinate, over all steps measured so far. After a divergence
    /// everything is not a number.
    ///
    /// # Errors
    /// A potential that fails, a whitening of another dimension, or fewer than two blocks of steps over all chains.
    pub fn measure(&mut self, steps: u64, whitening: Option<&Whitening>) -> Result<Vec<Difference>, Error> {
        for _ in 0..steps.div_ceil(BLOCK) {
            self.sums.open(self.streams.len());
            for _ in 0..BLOCK {
                self.advance(1)?;
                if self.diverged {
                    let nan = f64::NAN;
                    let unknown = Difference {
                        mean: nan,
                        mean_error: nan,
                        variance: nan,
                        variance_error: nan,
                        sd: nan,
                    };
                    return Ok(vec![unknown; self.coarse.dimension()]);
                }
                self.sums.add(&self.coarse, &self.fine, whitening)?;
            }
        }
        self.sums.differences()
    }

    fn step(&mut self) -> Result<(), Error> {
        let potential = self.potential.0;
        let each = self.long.normals() * self.coarse.dimension();
        for (chain, stream) in self.streams.iter_mut().enumerate() {
            self.paths.draw(chain, each, stream, &mut self.noise)?;
        }
        let Lists { first, second, long, .. } = &self.noise;
        let mut spent = 0;
        for normals in [first, second] {
            let (now, spare, workspace) = (&mut self.fine, &mut self.spare, &mut self.workspace);
            spent += one_step(&*self.short, potential, now, spare, normals, workspace)?;
        }
        let (now, spare, workspace) = (&mut self.coarse, &mut self.spare, &mut self.workspace);
        spent += one_step(&*self.long, potential, now, spare, long, workspace)?;
        self.gradients += spent * self.streams.len() as u64;
        let chains = 0..self.streams.len();
        self.diverged = !chains.into_iter().all(|c| self.coarse.is_finite(c) && self.fine.is_finite(c));
        Ok(())
    }
}

/// One step of a batch, in place. How many gradients a chain it took.
fn one_step(
    kernel: &dyn Kernel,
    potential: &dyn LineIntegral,
    now: &mut Batch,
    spare: &mut Batch,
    normals: &[f64],
    workspace: &mut Workspace,
) -> Result<u64, Error> {
    let spent = kernel.step(potential, now, Noise { normals, uniforms: &[] }, spare, workspace)?;
    std::mem::swap(now, spare);
    Ok(spent)
}

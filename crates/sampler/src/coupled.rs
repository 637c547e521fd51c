//! Pairs of chains on one Brownian path, one with steps of η and one with steps of η/2, and how far apart their moments are.
//!
//! The two chains of a pair stay close, so that the difference of their means and variances is known far better than either: a short
//! run tells the bias of η without any ground truth (section 7 of the mathematics). With a bias that falls like η^q, that of η is the
//! difference times 2^q/(2^q − 1); 4/3 for q = 2.

use ridgewalk_coefficients::Parameters;
use ridgewalk_lyapunov::laws::{self, Scheme};
use ridgewalk_potentials::{LineIntegral, Whitening};

use crate::batch::Batch;
use crate::coupling::Coupling;
use crate::error::{Error, length, positive};
use crate::kernels::{Kernel, Workspace, from_scheme};
use crate::noise::{Noise, Stream};

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
/// let mut chains = CoupledChains::new(&target, &Scheme::third_order(1.2, 2.0, 0.8)?, 1.0, 1, &[0.0; 16])?;
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
    coupling: Coupling,
    streams: Vec<Stream>,
    coarse: Batch,
    fine: Batch,
    spare: Batch,
    workspace: Workspace,
    noise: Lists,
    gradients: u64,
    diverged: bool,
}

/// A potential that has no `Debug` of its own.
struct PotentialRef<'a>(&'a (dyn LineIntegral + Sync));

impl std::fmt::Debug for PotentialRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a potential in {} dimensions", self.0.dimension())
    }
}

/// The normals of a long step, of its two halves, and those that the long one needs besides.
#[derive(Debug, Default)]
struct Lists {
    first: Vec<f64>,
    second: Vec<f64>,
    extra: Vec<f64>,
    long: Vec<f64>,
}

/// How the moments of a coordinate at η differ from those at η/2, with standard errors.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Difference {
    /// The mean at η minus that at η/2.
    pub mean: f64,
    /// Its standard error.
    pub mean_error: f64,
    /// The variance at η minus that at η/2.
    pub variance: f64,
    /// Its standard error.
    pub variance_error: f64,
    /// The standard deviation at η/2: what to measure the others by.
    pub sd: f64,
}

impl<'a> CoupledChains<'a> {
    /// Pairs that start at the points `starts`, both of a pair at the same one, with p and r drawn from N(0, I/L). `scheme` is that of the
    /// longer step.
    ///
    /// # Errors
    /// For a kernel whose steps cannot be coupled (there are couplings for the third-order and the symmetric one), a bad L, no starts, or
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
        let coupling = match scheme.kernel() {
            laws::Kernel::ThirdOrder => Coupling::third_order(Parameters::new(gamma, xi, half)?)?,
            laws::Kernel::Symmetric => Coupling::symmetric(Parameters::new(gamma, xi, half)?)?,
            _ => return Err(Error::NoCoupling { name: scheme.name() }),
        };
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
        let mut noise = Lists::default();
        let entries = coarse.theta().len();
        for list in [&mut noise.first, &mut noise.second, &mut noise.long] {
            list.resize(coupling.normals() * entries, 0.0);
        }
        noise.extra.resize(coupling.extra() * entries, 0.0);
        Ok(Self {
            potential: PotentialRef(potential),
            long: from_scheme(scheme, smoothness)?,
            short: from_scheme(&short, smoothness)?,
            coupling,
            streams,
            fine: coarse.clone(),
            spare: coarse.clone(),
            coarse,
            workspace: Workspace::default(),
            noise,
            gradients: 0,
            diverged: false,
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

    /// Makes long steps, the next multiple of 16 of them, and compares the moments of the states after each; in the original coordinates, if the
    /// potential is a whitened one. One [`Difference`] for each coordinate. After a divergence everything is not a number.
    ///
    /// # Errors
    /// A potential that fails, a whitening of another dimension, or fewer than two blocks of steps over all chains.
    pub fn measure(&mut self, steps: u64, whitening: Option<&Whitening>) -> Result<Vec<Difference>, Error> {
        let mut sums = Sums::new(self.coarse.dimension(), &self.coarse, whitening)?;
        for _ in 0..steps.div_ceil(BLOCK) {
            sums.open(self.streams.len());
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
                sums.add(&self.coarse, &self.fine)?;
            }
        }
        sums.differences()
    }

    fn step(&mut self) -> Result<(), Error> {
        let potential = self.potential.0;
        let (d, each) = (self.coarse.dimension(), self.coupling.normals() * self.coarse.dimension());
        let extra_each = self.coupling.extra() * d;
        let Lists { first, second, extra, long } = &mut self.noise;
        for (chain, stream) in self.streams.iter_mut().enumerate() {
            let range = chain * each..(chain + 1) * each;
            let extra = &mut extra[chain * extra_each..(chain + 1) * extra_each];
            stream.normals(&mut first[range.clone()]);
            stream.normals(&mut second[range.clone()]);
            stream.normals(extra);
            self.coupling.combine(&first[range.clone()], &second[range.clone()], extra, &mut long[range])?;
        }
        let mut spent = 0;
        for normals in [&*first, &*second] {
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

/// Sums over blocks of steps, for each chain: of x and x² at both step sizes, x measured from a fixed point.
#[derive(Debug)]
struct Sums<'a> {
    whitening: Option<&'a Whitening>,
    origin: Vec<f64>,
    points: [Vec<f64>; 2],
    /// Block after block, and within it chain after chain: differences of x, differences of x².
    blocks: Vec<[Vec<f64>; 2]>,
    /// x and x² of the chains with short steps, over everything.
    fine: [Vec<f64>; 2],
    count: u64,
    open: usize,
}

impl<'a> Sums<'a> {
    fn new(d: usize, states: &Batch, whitening: Option<&'a Whitening>) -> Result<Self, Error> {
        let zeros = || vec![0.0; d];
        let mut sums = Self {
            whitening,
            origin: zeros(),
            points: [zeros(), zeros()],
            blocks: Vec::new(),
            fine: [zeros(), zeros()],
            count: 0,
            open: 0,
        };
        // Any point among the draws will do.
        sums.place(0, &states.theta()[..d])?;
        sums.origin.copy_from_slice(&sums.points[0]);
        Ok(sums)
    }

    /// Begins a block for every chain.
    fn open(&mut self, chains: usize) {
        self.open = self.blocks.len();
        let d = self.origin.len();
        self.blocks.extend((0..chains).map(|_| [vec![0.0; d], vec![0.0; d]]));
    }

    /// A state in the coordinates asked for.
    fn place(&mut self, which: usize, state: &[f64]) -> Result<(), Error> {
        match self.whitening {
            Some(whitening) => whitening.to_original(state, &mut self.points[which])?,
            None => self.points[which].copy_from_slice(state),
        }
        Ok(())
    }

    fn add(&mut self, coarse: &Batch, fine: &Batch) -> Result<(), Error> {
        let d = self.origin.len();
        for (chain, (a, b)) in coarse.theta().chunks_exact(d).zip(fine.theta().chunks_exact(d)).enumerate() {
            self.place(0, a)?;
            self.place(1, b)?;
            let [differences, squares] = &mut self.blocks[self.open + chain];
            for k in 0..d {
                let (x, y) = (self.points[0][k] - self.origin[k], self.points[1][k] - self.origin[k]);
                differences[k] += x - y;
                squares[k] += x * x - y * y;
                self.fine[0][k] += y;
                self.fine[1][k] += y * y;
            }
            self.count += 1;
        }
        Ok(())
    }

    fn differences(&self) -> Result<Vec<Difference>, Error> {
        if self.blocks.len() < 2 {
            return Err(Error::TooFew { what: "blocks of steps", got: self.blocks.len(), need: 2 });
        }
        let count = self.count as f64;
        let per_block = self.count as f64 / self.blocks.len() as f64;
        let found = (0..self.origin.len()).map(|k| {
            let centre = self.fine[0][k] / count;
            let sd = (self.fine[1][k] / count - centre * centre).max(0.0).sqrt();
            let means = || self.blocks.iter().map(|block| block[0][k] / per_block);
            let (mean, mean_error) = mean_and_error(means);
            // Var' − Var = (difference of E x²) − (m'² − m²), and m' + m is nearly 2 m + difference.
            let slope = 2.0 * centre + mean;
            let variances = || self.blocks.iter().map(|b| (b[1][k] - slope * b[0][k]) / per_block);
            let (variance, variance_error) = mean_and_error(variances);
            Difference { mean, mean_error, variance, variance_error, sd }
        });
        Ok(found.collect())
    }
}

/// The mean of some numbers, and its standard error if they are independent.
fn mean_and_error<I: Iterator<Item = f64>>(numbers: impl Fn() -> I) -> (f64, f64) {
    let count = numbers().count() as f64;
    let mean = numbers().sum::<f64>() / count;
    let squares: f64 = numbers().map(|x| (x - mean) * (x - mean)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

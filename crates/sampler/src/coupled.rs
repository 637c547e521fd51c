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

/// The normals of a long step and of the two short ones on the same piece of path.
#[derive(Debug, Default)]
struct Lists {
    first: Vec<f64>,
    second: Vec<f64>,
    long: Vec<f64>,
    /// What they are made from, of one chain.
    parts: Vec<f64>,
}

/// How the steps of a kernel lie on the path.
#[derive(Debug)]
enum Paths {
    /// A step uses the piece of path of its own time.
    InStep(Coupling),
    /// The averaged kernel uses the path half a step ahead of θ: a piece of a long step begins in the middle of a short one's. Pieces of half a
    /// short step are put together instead, and the last of them is kept for the next long step.
    Ahead { halves: Coupling, wholes: Coupling, last: Vec<f64> },
}

impl Paths {
    fn new(kernel: laws::Kernel, short: Parameters) -> Result<Self, Error> {
        Ok(match kernel {
            laws::Kernel::ThirdOrder => Self::InStep(Coupling::third_order(short)?),
            laws::Kernel::Symmetric => Self::InStep(Coupling::symmetric(short)?),
            laws::Kernel::Averaged => {
                let half = Parameters::new(short.gamma(), short.xi(), 0.5 * short.eta())?;
                let (halves, wholes) = (Coupling::symmetric(half)?, Coupling::symmetric(short)?);
                Self::Ahead { halves, wholes, last: Vec::new() }
            }
            other => return Err(Error::NoCoupling { name: other.name() }),
        })
    }

    /// Draws the normals of one chain for a long step and its two halves. `each` is how many a step takes.
    fn draw(
        &mut self,
        chain: usize,
        each: usize,
        stream: &mut Stream,
        lists: &mut Lists,
    ) -> Result<(), Error> {
        let range = chain * each..(chain + 1) * each;
        let (first, second) = (&mut lists.first[range.clone()], &mut lists.second[range.clone()]);
        let long = &mut lists.long[range.clone()];
        match self {
            Self::InStep(coupling) => {
                stream.normals(first);
                stream.normals(second);
                let extra = &mut lists.parts[..each / coupling.normals() * coupling.extra()];
                stream.normals(extra);
                coupling.combine(first, second, extra, long)
            }
            Self::Ahead { halves, wholes, last } => {
                if last.len() < range.end {
                    last.resize(range.end, 0.0);
                    stream.normals(&mut last[range.clone()]);
                }
                let (pieces, sums) = lists.parts.split_at_mut(4 * each);
                stream.normals(pieces);
                let piece = |k: usize| &pieces[k * each..(k + 1) * each];
                halves.combine(piece(0), piece(1), &[], first)?;
                halves.combine(piece(2), piece(3), &[], second)?;
                let (early, late) = sums.split_at_mut(each);
                halves.combine(&last[range.clone()], piece(0), &[], early)?;
                halves.combine(piece(1), piece(2), &[], late)?;
                last[range].copy_from_slice(piece(3));
                wholes.combine(early, late, &[], long)
            }
        }
    }
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

/// Sums over blocks of steps, for each chain: of x and x² at both step sizes, x measured from a fixed point.
#[derive(Debug)]
struct Sums {
    /// Known from the first state on.
    origin: Option<Vec<f64>>,
    points: [Vec<f64>; 2],
    /// Block after block, and within it chain after chain: differences of x, differences of x².
    blocks: Vec<[Vec<f64>; 2]>,
    /// x and x² of the chains with short steps, over everything.
    fine: [Vec<f64>; 2],
    count: u64,
    open: usize,
}

impl Sums {
    fn new(d: usize) -> Self {
        let zeros = || vec![0.0; d];
        Self {
            origin: None,
            points: [zeros(), zeros()],
            blocks: Vec::new(),
            fine: [zeros(), zeros()],
            count: 0,
            open: 0,
        }
    }

    /// Begins a block for every chain.
    fn open(&mut self, chains: usize) {
        self.open = self.blocks.len();
        let d = self.points[0].len();
        self.blocks.extend((0..chains).map(|_| [vec![0.0; d], vec![0.0; d]]));
    }

    fn add(&mut self, coarse: &Batch, fine: &Batch, whitening: Option<&Whitening>) -> Result<(), Error> {
        let d = coarse.dimension();
        let pairs = coarse.theta().chunks_exact(d).zip(fine.theta().chunks_exact(d));
        for (chain, (long, short)) in pairs.enumerate() {
            for (point, state) in self.points.iter_mut().zip([long, short]) {
                match whitening {
                    Some(whitening) => whitening.to_original(state, point)?,
                    None => point.copy_from_slice(state),
                }
            }
            // Any point among the draws will do.
            let origin = self.origin.get_or_insert_with(|| self.points[1].clone());
            let [differences, squares] = &mut self.blocks[self.open + chain];
            for k in 0..d {
                let (x, y) = (self.points[0][k] - origin[k], self.points[1][k] - origin[k]);
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
        let found = (0..self.points[0].len()).map(|k| {
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

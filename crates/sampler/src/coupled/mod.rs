//! Pairs of chains on one Brownian path, one with steps of η and one with steps of η/2, and how far
//! apart their moments are.
//!
//! The two chains of a pair stay close, so that the difference of their means and variances is
//! known far better than either: a short run shows the bias of η without any ground truth (section
//! 7 of the mathematics). With a bias that falls like η^q, that of η is the difference times
//! 2^q/(2^q − 1); 4/3 for q = 2.
//!
//! In whitened coordinates there is a second gain: a pair of chains of the same kernel on N(0,
//! I/L), driven by the same path, costs no gradient, moves much as the pair of the target does, and
//! its differences are known exactly. What is averaged is the difference between the two pairs.

use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::{LineIntegral, Whitening};

use crate::batch::Batch;
use crate::error::{Error, Quantity, length, positive};
use crate::kernels::{Halved, Kernel, LinearKernel, Step, Workspace, from_scheme};
use crate::noise::{Noise, Stream};

mod moments;
mod paths;
mod twin;

use moments::Sums;
pub use moments::{Difference, Shift};
use paths::Lists;
pub use paths::Paths;
use twin::Twin;

/// Long steps whose differences are averaged before errors are estimated from the spread of these
/// averages: at least so many, and enough of them for this time of the dynamics, after which a
/// chain has forgotten where it was.
const BLOCK: u64 = 16;
const BLOCK_TIME: f64 = 8.0;

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
/// let found = chains.measure(200)?;
/// assert!(found[0].variance.abs() > 5.0 * found[0].variance_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct CoupledChains<'a> {
    potential: PotentialRef<'a>,
    long: Box<dyn LinearKernel>,
    short: Box<dyn LinearKernel>,
    paths: Paths,
    streams: Vec<Stream>,
    coarse: Batch,
    fine: Batch,
    spare: Batch,
    workspace: Workspace,
    noise: Lists,
    gradients: u64,
    diverged: bool,
    whitening: Option<&'a Whitening>,
    twin: Option<Twin>,
    block: u64,
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
    /// Pairs that start at the points `starts`, both of a pair at the same one, with p and r drawn
    /// from N(0, I/L). `scheme` is that of the longer step.
    ///
    /// # Errors
    /// For a kernel whose steps cannot be coupled, a bad L, no starts, or starts that are not whole
    /// points.
    pub fn new(
        potential: &'a (dyn LineIntegral + Sync), scheme: &Scheme, smoothness: f64, seed: u64,
        starts: &[f64],
    ) -> Result<Self, Error> {
        positive("smoothness", smoothness)?;
        let d = potential.dimension();
        if d == 0 || starts.is_empty() {
            return Err(Error::Zero {
                what: if d == 0 { Quantity::Dimension } else { Quantity::Chains },
            });
        }
        length("the list of starts", starts.len(), starts.len().div_ceil(d) * d)?;
        let long = from_scheme(scheme, smoothness)?;
        let coupled = long.coupled().ok_or(Error::NoCoupling { name: scheme.name() })?;
        let Halved { kernel: short, paths } = coupled.halved()?;
        let chains = starts.len() / d;
        let mut streams: Vec<Stream> =
            (0..chains as u64).map(|chain| Stream::new(seed, chain)).collect();
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
        let each = long.normals() * d;
        let list = || vec![0.0; each * chains];
        let midpoints = || vec![0.0; long.uniforms() * chains];
        let noise = Lists {
            first: list(),
            second: list(),
            long: list(),
            midpoints: [midpoints(), midpoints(), midpoints()],
            parts: vec![0.0; 6 * each],
        };
        Ok(Self {
            potential: PotentialRef(potential),
            long,
            short,
            paths,
            streams,
            fine: coarse.clone(),
            spare: coarse.clone(),
            coarse,
            workspace: Workspace::default(),
            noise,
            gradients: 0,
            diverged: false,
            whitening: None,
            twin: None,
            block: Self::block_of(scheme.time()),
            sums: Sums::new(d, smoothness.sqrt().recip()),
        })
    }

    /// The same pairs, for a potential that is whitened by `whitening`: moments are compared in the
    /// original coordinates, and pairs on N(0, I/L) take away most of the noise.
    ///
    /// # Errors
    /// A whitening of another dimension, or steps that were made already.
    pub fn whitened(mut self, whitening: &'a Whitening) -> Result<Self, Error> {
        length("the whitening", whitening.dimension(), self.coarse.dimension())?;
        if self.gradients > 0 {
            return Err(Error::Snapshot { got: self.gradients, need: 0 });
        }
        self.twin = Twin::new(&*self.long, &*self.short, &self.coarse)?;
        self.whitening = Some(whitening);
        let mut centre = vec![0.0; whitening.dimension()];
        whitening.to_original(&vec![0.0; whitening.dimension()], &mut centre)?;
        let variances = whitening.variances();
        let per_l = self.long.smoothness().recip();
        self.sums.normal(centre, variances.iter().map(|w| (per_l * w).sqrt()).collect());
        if let Some(twin) = &self.twin {
            let [long, short] = twin.variances();
            let known = variances.iter().map(|w| per_l * (long - short) * w).collect();
            self.sums.control(known, [long, short]);
        }
        Ok(self)
    }

    /// Gradients of all chains so far.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.gradients
    }

    /// Whether a state became infinite or not a number: the step is too long for this target.
    /// Nothing moves any more then.
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

    /// Makes long steps, and the short ones that take the same time.
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

    /// Long steps that make one block.
    #[must_use]
    pub fn block(&self) -> u64 {
        self.block
    }

    /// Long steps that make one block, for steps that take a time of η: at least 16, and enough of them that the
    /// next block hardly depends on the last.
    #[must_use]
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
    pub fn block_of(eta: f64) -> u64 {
        BLOCK.max((BLOCK_TIME / eta).ceil().min(1e6) as u64)
    }

    /// Makes as many long steps as take this time of the dynamics, at most a million.
    ///
    /// # Errors
    /// A potential that fails.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
    pub fn drift(&mut self, time: f64) -> Result<(), Error> {
        self.advance((time / self.long.scheme().time()).ceil().clamp(0.0, 1e6) as u64)
    }

    /// Makes at least `steps` long steps, in whole blocks, and compares the moments of the states
    /// after each. One [`Difference`] for each coordinate, over all steps measured so
    /// far. After a divergence everything is not a number.
    ///
    /// # Errors
    /// A potential that fails, or fewer than two blocks of steps over all chains.
    pub fn measure(&mut self, steps: u64) -> Result<Vec<Difference>, Error> {
        for _ in 0..steps.div_ceil(self.block) {
            self.sums.open(self.streams.len());
            for _ in 0..self.block {
                self.advance(1)?;
                if self.diverged {
                    return Ok(vec![Difference::UNKNOWN; self.coarse.dimension()]);
                }
                let twins = self.twin.as_ref().map(Twin::pair);
                self.sums.add([&self.coarse, &self.fine], twins, self.whitening)?;
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
        let [first, second, long] = self.noise.steps();
        let mut spent = 0;
        for noise in [first, second].into_iter().take(self.paths.short_steps()) {
            let (now, spare, workspace) = (&mut self.fine, &mut self.spare, &mut self.workspace);
            spent += one_step(&*self.short, potential, now, spare, noise, workspace)?;
        }
        let (now, spare, workspace) = (&mut self.coarse, &mut self.spare, &mut self.workspace);
        spent += one_step(&*self.long, potential, now, spare, long, workspace)?;
        self.gradients += spent * self.streams.len() as u64;
        if let Some(twin) = &mut self.twin {
            twin.step(
                [&*self.short, &*self.long],
                self.paths.short_steps(),
                &self.noise,
                &mut self.spare,
                &mut self.workspace,
            )?;
        }
        let chains = 0..self.streams.len();
        self.diverged =
            !chains.into_iter().all(|c| self.coarse.is_finite(c) && self.fine.is_finite(c));
        Ok(())
    }
}

/// One step of a batch, in place. Returns the number of gradients per chain.
fn one_step(
    kernel: &dyn Kernel, potential: &dyn LineIntegral, now: &mut Batch, spare: &mut Batch,
    noise: Noise<'_>, workspace: &mut Workspace,
) -> Result<u64, Error> {
    let spent = kernel.step(Step { potential, from: now, noise, to: spare, workspace })?;
    std::mem::swap(now, spare);
    Ok(spent)
}

#[cfg(test)]
mod tests {
    use ridgewalk_lyapunov::laws::Scheme;
    use ridgewalk_potentials::{Chebyshev, FromFn, Whitening};

    use super::CoupledChains;

    /// Planted: what is known of the twins is wrong by three tenths. The exact law catches it, and
    /// accepts what is right.
    #[test]
    fn twins_of_which_something_wrong_is_known_are_caught() {
        let gradient = |x: &[f64], g: &mut [f64]| {
            g[0] = 0.8 * x[0];
            Ok(())
        };
        let target = Chebyshev::new(FromFn::new(1, gradient), 3).unwrap();
        let variance = |eta: f64, l: f64| {
            let scheme = Scheme::third_order(1.2, 2.0, eta).unwrap();
            scheme.linear_form(l).unwrap().stationary().unwrap()[0][0]
        };
        let whitening = Whitening::diagonal(&[0.0], &[1.0]).unwrap();
        let score = |factor: f64| {
            let scheme = Scheme::third_order(1.2, 2.0, 0.8).unwrap();
            let chains = CoupledChains::new(&target, &scheme, 1.0, 3, &[0.0; 64]).unwrap();
            let mut chains = chains.whitened(&whitening).unwrap();
            let [long, short] = [0.8, 0.4].map(|eta| variance(eta, 1.0));
            chains.sums.control(vec![factor * (long - short)], [long, short]);
            chains.drift(20.0).unwrap();
            let found = chains.measure(480).unwrap()[0];
            (found.variance - (variance(0.8, 0.8) - variance(0.4, 0.8))) / found.variance_error
        };
        assert!(score(1.0).abs() < 5.0, "{}", score(1.0));
        assert!(score(1.3).abs() > 5.0 && score(0.7).abs() > 5.0, "{}, {}", score(1.3), score(0.7));
    }
}

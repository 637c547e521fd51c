//! Whether moves are decided by a few rows: for many rows, where the posterior is so nearly normal
//! that the bounds of what it is beside are small.

use std::f64::consts::FRAC_PI_2;

use ridgewalk_lyapunov::laws::{KernelKind, Scheme};
use ridgewalk_potentials::{Error as Potential, LineIntegral};

use super::bias::Bias;
use super::candidates::{Candidate, Wanted};
use super::coordinates::advance;
use super::history::Decision;
use super::target::Target;
use super::warm_up::Work;
use crate::ensemble::Ensemble;
use crate::error::Error;

/// The fewest rows of a model for which the kernel is chosen unasked: `docs/large.md` has the
/// figures.
const FEWEST_ROWS: usize = 200_000;
/// The share of the rows that a move may look at in the mean, for a choice.
const SHARE: f64 = 0.02;
/// The acceptance that a choice needs, of all moves and far out.
const ACCEPTANCE: f64 = 0.6;
const FAR_ACCEPTANCE: f64 = 0.3;
/// The skewness that a choice allows, and one that was asked for: bounds of the third derivative
/// along unit vectors. At five standard deviations the first makes densities at most e^4 times those
/// of the normal law, so that no tail is missed; beyond the second, tails may be.
const SKEWNESS: f64 = 0.2;
const MOST_SKEWNESS: f64 = 1.0;
/// Where that is: U so many standard deviations above its mean.
const FAR_OUT: f64 = 5.0;
/// Moves of each chain that show an acceptance, and halvings of an angle for which it is too low.
const SEEN: u32 = 32;
const HALVINGS: u32 = 6;

impl<T: Target> Work<'_, T> {
    /// Moves decided by a few rows, if they are asked for, or for a posterior that they suit.
    pub(super) fn subsampled(&mut self, white: &T::White) -> Result<Option<Candidate>, Error> {
        let wanted = self.question.wanted;
        let asked = wanted.kernel == Some(KernelKind::Subsampled);
        if !asked && wanted != Wanted::default() {
            return Ok(None);
        }
        let rows = match self.rows_to_look_at(white, asked) {
            Ok(Some(rows)) => rows,
            Ok(None) => return Ok(None),
            Err(Error::Potential(Potential::NotThinned { .. })) if !asked => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut scheme = Scheme::subsampled(wanted.eta.unwrap_or(FRAC_PI_2))?;
        let mut rate = self.seen_acceptance(white, &scheme)?;
        for _ in 0..HALVINGS {
            if rate >= ACCEPTANCE || !asked || wanted.eta.is_some() {
                break;
            }
            scheme = Scheme::subsampled(0.5 * scheme.eta())?;
            rate = self.seen_acceptance(white, &scheme)?;
        }
        let far = self.far_out_acceptance(white, &scheme)?;
        self.decide(Decision::Subsampled { scheme: scheme.clone(), rows, acceptance: rate, far });
        if !(asked || rate >= ACCEPTANCE && far >= FAR_ACCEPTANCE) {
            return Ok(None);
        }
        let efficiency = effective_draws(&scheme, rate);
        Ok(Some(Candidate {
            scheme,
            bias: Bias::NONE,
            differences: Vec::new(),
            efficiency,
            promised: efficiency,
            gradients_per_step: 1,
            within: true,
            points: Vec::new(),
        }))
    }

    /// The mean number of rows that a move looks at; `None` if that is too many for a kernel that was
    /// not asked for.
    fn rows_to_look_at(&mut self, white: &T::White, asked: bool) -> Result<Option<f64>, Error> {
        let thinning = white.thinning()?;
        if !asked && thinning.rows() < FEWEST_ROWS {
            return Ok(None);
        }
        let d = self.whitening.dimension() as f64;
        let rows = thinning.expected_rows(d.sqrt())?;
        let skewness = thinning.skewness()?;
        if asked && skewness > MOST_SKEWNESS {
            let why = format!(
                "the posterior may be too far from normal: its skewness is bounded by {skewness:.1e} \
                 only, need at most {MOST_SKEWNESS}"
            );
            return Err(Potential::NotThinned { why }.into());
        }
        // The gradient, the Hessian and the lengths of the rows.
        self.gradients += 2 + self.hessian;
        let suits = skewness <= SKEWNESS && rows <= SHARE * thinning.rows() as f64;
        Ok((asked || suits).then_some(rows))
    }

    /// The share of moves that are accepted. The chains go on where they are.
    fn seen_acceptance(&mut self, white: &T::White, scheme: &Scheme) -> Result<f64, Error> {
        let shared = self.question.team.share(white);
        let mut ensemble = Ensemble::new(&shared, self.next_seed(), &self.states, 1.0)?;
        for _ in 0..SEEN {
            self.go_on()?;
            advance(&mut ensemble, scheme)?;
        }
        self.states = self.positions(&ensemble);
        Ok(ensemble.acceptance().rate())
    }

    /// The same of moves that start far out, for the worst quarter of the rays through the chains.
    fn far_out_acceptance(&mut self, white: &T::White, scheme: &Scheme) -> Result<f64, Error> {
        let d = self.whitening.dimension();
        let half = 0.5 * d as f64;
        let distance = (2.0 * (half + FAR_OUT * half.sqrt())).sqrt();
        let mut points = self.states.clone();
        for point in points.chunks_exact_mut(d) {
            let length = point.iter().map(|z| z * z).sum::<f64>().sqrt();
            point.iter_mut().for_each(|z| *z *= distance / length);
        }
        let shared = self.question.team.share(white);
        let mut rates = vec![0.0; self.chains()];
        for _ in 0..SEEN {
            self.go_on()?;
            let mut ensemble = Ensemble::new(&shared, self.next_seed(), &points, 1.0)?;
            advance(&mut ensemble, scheme)?;
            for (rate, chain) in rates.iter_mut().zip(ensemble.snapshot().chains) {
                *rate += chain.acceptance.rate() / f64::from(SEEN);
            }
        }
        rates.sort_by(f64::total_cmp);
        let worst = &rates[..rates.len().div_ceil(4)];
        Ok(worst.iter().sum::<f64>() / worst.len() as f64)
    }
}

/// Effective draws that a move is worth on a normal law if it is accepted with this probability, and the
/// point stays where it is else.
fn effective_draws(scheme: &Scheme, rate: f64) -> f64 {
    let (short, turn) = (Scheme::SHORT_TURNS, scheme.eta());
    let moved = (1.0 - short) * turn.cos() + short * (Scheme::SHORT_TURN * turn).cos();
    let correlation = (1.0 - rate) + rate * moved;
    ((1.0 - correlation) / (1.0 + correlation)).max(1e-6)
}

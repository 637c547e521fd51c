//! The law of a chain after k steps, its limit, and its Wasserstein distance to the target.
//!
//! Means and second moments follow affine maps, whose powers are computed by repeated squaring: k =
//! 10¹² steps are as cheap as 10.

use super::linear::{LinearForm, PAIRS, pack, unpack};
use super::scheme::Scheme;
use super::spectrum::{Spectrum, Start};
use crate::error::{Error, positive};
use crate::matrix::{self, Matrix};

/// The number of steps after which [`Evolution::mixing_time`] gives up.
const MOST_STEPS: u64 = 1 << 53;

/// The chain of a scheme on a target, from a start.
#[derive(Debug, Clone)]
pub struct Evolution {
    smoothness: f64,
    modes: Vec<ModeChain>,
}

/// The coordinates of one eigenvalue, in units of L = 1.
#[derive(Debug, Clone)]
struct ModeChain {
    /// The eigenvalue of H/L.
    l: f64,
    multiplicity: u64,
    form: LinearForm,
    start: Moments,
}

/// E[x] and the packed E[x xᵀ].
#[derive(Debug, Clone, Copy, PartialEq)]
struct Moments {
    mean: [f64; 3],
    second: [f64; 6],
}

/// The effect of some number of steps on moments.
#[derive(Debug, Clone, Copy)]
struct Map {
    mean: Matrix<3>,
    second: Matrix<6>,
    noise: [f64; 6],
}

impl Map {
    fn one_step(form: &LinearForm) -> Self {
        Self {
            mean: form.mean_matrix(),
            second: *form.second_moment_matrix(),
            noise: pack(&form.mean_noise()),
        }
    }

    fn of(&self, moments: &Moments) -> Moments {
        let moved = matrix::times_vector(&self.second, &moments.second);
        Moments {
            mean: matrix::times_vector(&self.mean, &moments.mean),
            second: std::array::from_fn(|i| moved[i] + self.noise[i]),
        }
    }

    /// Twice as many steps.
    fn doubled(&self) -> Self {
        let carried = matrix::times_vector(&self.second, &self.noise);
        Self {
            mean: matrix::product(&self.mean, &self.mean),
            second: matrix::product(&self.second, &self.second),
            noise: std::array::from_fn(|i| carried[i] + self.noise[i]),
        }
    }
}

/// The law of a chain at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Law {
    modes: Vec<ModeLaw>,
}

/// The law of one coordinate of an eigenvalue.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModeLaw {
    /// The eigenvalue of H.
    pub eigenvalue: f64,
    /// The number of independent coordinates with this law.
    pub multiplicity: u64,
    /// The mean of (θ − θ*, p, r).
    pub mean: [f64; 3],
    /// Their covariance.
    pub covariance: [[f64; 3]; 3],
}

impl Law {
    /// The laws of the modes, in the target's order.
    #[must_use]
    pub fn modes(&self) -> &[ModeLaw] {
        &self.modes
    }

    /// W2 between the law of θ and the target. For Gaussians with a common eigenbasis it is the
    /// root of the sum of squared differences of means and of standard deviations (Bures'
    /// distance).
    ///
    /// The law of the randomized midpoint is a mixture of Gaussians. For it this is Gelbrich's
    /// lower bound, attained by the Gaussian with the same first two moments.
    #[must_use]
    pub fn w2_to_target(&self) -> f64 {
        let squares = self.modes.iter().map(|mode| {
            let deviation = mode.covariance[0][0].max(0.0).sqrt() - 1.0 / mode.eigenvalue.sqrt();
            mode.multiplicity as f64 * (mode.mean[0] * mode.mean[0] + deviation * deviation)
        });
        squares.sum::<f64>().sqrt()
    }
}

impl Evolution {
    /// The chain of `scheme` on `target` from `start`.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless a displaced start has one finite displacement for each mode.
    pub fn new(scheme: &Scheme, target: &Spectrum, start: &Start) -> Result<Self, Error> {
        Self::with_forms(|l| scheme.form(l), target, start)
    }

    /// The chain whose step at the eigenvalue l of H/L is `form(l)`.
    pub(super) fn with_forms(
        form_at: impl Fn(f64) -> LinearForm, target: &Spectrum, start: &Start,
    ) -> Result<Self, Error> {
        let smoothness = target.smoothness();
        let (displacements, drawn) = match start {
            Start::AtMode => (vec![0.0; target.modes().len()], true),
            Start::Displaced(all) => (all.clone(), true),
            Start::AtRest(all) => (all.clone(), false),
        };
        if displacements.len() != target.modes().len() {
            let value = displacements.len() as f64;
            return Err(Error::NotInRange {
                name: "displacements",
                value,
                need: "one for each mode of the target",
            });
        }
        if let Some(&value) = displacements.iter().find(|value| !value.is_finite()) {
            return Err(Error::NotInRange { name: "displacement", value, need: "a finite number" });
        }
        let chain = |(mode, displacement): (&super::Eigenvalue, f64)| {
            let l = mode.eigenvalue / smoothness;
            let form = form_at(l);
            let theta = displacement * smoothness.sqrt();
            let second = PAIRS.map(|(i, j)| match (i, j) {
                (0, 0) => theta * theta,
                _ => f64::from(u8::from(drawn && i == j && i < form.dimension())),
            });
            let start = Moments { mean: [theta, 0.0, 0.0], second };
            ModeChain { l, multiplicity: mode.multiplicity, form, start }
        };
        Ok(Self {
            smoothness,
            modes: target.modes().iter().zip(displacements).map(chain).collect(),
        })
    }

    /// The law after `steps` steps.
    #[must_use]
    pub fn after(&self, steps: u64) -> Law {
        let moments = self.modes.iter().map(|mode| {
            let mut moments = mode.start;
            let mut map = Map::one_step(&mode.form);
            let mut left = steps;
            while left > 0 {
                if left % 2 == 1 {
                    moments = map.of(&moments);
                }
                left /= 2;
                if left > 0 {
                    map = map.doubled();
                }
            }
            moments
        });
        self.law(moments)
    }

    /// The limit of the laws; `None` if the step is unstable at some eigenvalue.
    #[must_use]
    pub fn stationary(&self) -> Option<Law> {
        let covariances: Option<Vec<Matrix<3>>> =
            self.modes.iter().map(|mode| mode.form.stationary()).collect();
        let moments = |sigma: Matrix<3>| Moments { mean: [0.0; 3], second: pack(&sigma) };
        Some(self.law(covariances?.into_iter().map(moments)))
    }

    fn law(&self, moments: impl Iterator<Item = Moments>) -> Law {
        let root = self.smoothness.sqrt();
        let modes = self.modes.iter().zip(moments).map(|(mode, Moments { mean, second })| {
            let second = unpack(&second);
            ModeLaw {
                eigenvalue: mode.l * self.smoothness,
                multiplicity: mode.multiplicity,
                mean: mean.map(|m| m / root),
                covariance: matrix::from_fn(|i, j| {
                    (second[i][j] - mean[i] * mean[j]) / self.smoothness
                }),
            }
        });
        Law { modes: modes.collect() }
    }

    /// The first k at which W2 between the law of θ and the target is at most `epsilon`. `None` if
    /// the stationary law is not nearer than that (or there is none), even if the distance falls
    /// below it in between; and if 2⁵³ steps do not suffice.
    ///
    /// The distance need not fall monotonically, so bisection could miss an earlier k. Instead the
    /// chain is followed in leaps over which W2 provably cannot fall to `epsilon`.
    ///
    /// # Errors
    /// [`Error::NotInRange`] unless `epsilon` is positive and finite.
    pub fn mixing_time(&self, epsilon: f64) -> Result<Option<u64>, Error> {
        positive("epsilon", epsilon)?;
        let Some(stationary) = self.stationary() else { return Ok(None) };
        if stationary.w2_to_target() >= epsilon {
            return Ok(None);
        }
        let Some(mut leaper) = Leaper::new(self) else { return Ok(None) };
        // In units of L = 1.
        let epsilon = epsilon * self.smoothness.sqrt();
        while leaper.steps < MOST_STEPS {
            let gap = leaper.distance() - epsilon;
            if gap <= 0.0 {
                return Ok(Some(leaper.steps));
            }
            leaper.leap(gap);
        }
        Ok(None)
    }
}

/// Follows the moments of all modes by leaps of 2^j steps.
///
/// If a symmetric Y lies between −τΣ and τΣ, where Σ is the stationary covariance, so does its
/// image E[F Y Fᵀ], because E[F Σ Fᵀ] <= Σ. For Y = the change of E[x xᵀ] in one step, this bounds
/// the change of the variance of θ in each later step by τΣ₁₁, and likewise for the mean. The fall
/// of W2 in n steps is bounded by that of n such changes.
#[derive(Debug)]
struct Leaper<'a> {
    evolution: &'a Evolution,
    steps: u64,
    modes: Vec<LeapingMode>,
}

#[derive(Debug)]
struct LeapingMode {
    moments: Moments,
    /// Maps of 1, 2, 4, ... steps, computed when needed.
    maps: Vec<Map>,
    /// Cholesky factor of Σ, inverted, and Σ₁₁.
    whitening: Matrix<3>,
    variance: f64,
}

impl<'a> Leaper<'a> {
    fn new(evolution: &'a Evolution) -> Option<Self> {
        let modes = evolution.modes.iter().map(|mode| {
            let mut sigma = mode.form.stationary()?;
            let variance = sigma[0][0];
            for (i, row) in sigma.iter_mut().enumerate().skip(mode.form.dimension()) {
                row[i] = 1.0;
            }
            let whitening = matrix::inverse(&matrix::cholesky(&sigma)?)?;
            Some(LeapingMode {
                moments: mode.start,
                maps: vec![Map::one_step(&mode.form)],
                whitening,
                variance,
            })
        });
        Some(Self { evolution, steps: 0, modes: modes.collect::<Option<_>>()? })
    }

    fn distance(&self) -> f64 {
        let squares = self.modes.iter().zip(&self.evolution.modes).map(|(mode, chain)| {
            let deviation = mode.variance_now().sqrt() - 1.0 / chain.l.sqrt();
            chain.multiplicity as f64 * (mode.moments.mean[0].powi(2) + deviation * deviation)
        });
        squares.sum::<f64>().sqrt()
    }

    /// Advances by the largest power of two of steps in which W2 cannot fall by `gap`; by one step
    /// if there is none.
    fn leap(&mut self, gap: f64) {
        let rates: Vec<[f64; 2]> = self.modes.iter().map(LeapingMode::rates).collect();
        let possible_fall = |n: f64| {
            let squares = self.modes.iter().zip(&self.evolution.modes).zip(&rates);
            let squares = squares.map(|((mode, chain), [mean, second])| {
                let by_mean = n * mean;
                let variance = n * second + by_mean * (2.0 * mode.moments.mean[0].abs() + by_mean);
                let deviation = variance.sqrt().min(variance / mode.variance_now().sqrt());
                chain.multiplicity as f64 * (by_mean * by_mean + deviation * deviation)
            });
            squares.sum::<f64>().sqrt()
        };
        let mut power = 0;
        while power < 50 && possible_fall(2.0 * (1_u64 << power) as f64) < gap {
            power += 1;
        }
        for mode in &mut self.modes {
            mode.advance(power);
        }
        self.steps += 1 << power;
    }
}

impl LeapingMode {
    fn variance_now(&self) -> f64 {
        (self.moments.second[0] - self.moments.mean[0].powi(2)).max(0.0)
    }

    /// Bounds on the change of the mean and of the second moment of θ in this and every later step.
    fn rates(&self) -> [f64; 2] {
        let next = self.maps[0].of(&self.moments);
        let mean: [f64; 3] = std::array::from_fn(|i| next.mean[i] - self.moments.mean[i]);
        let second = unpack(&std::array::from_fn(|i| next.second[i] - self.moments.second[i]));
        let white = matrix::times_vector(&self.whitening, &mean);
        let mean = (white.iter().map(|x| x * x).sum::<f64>() * self.variance).sqrt();
        // The Frobenius norm instead of the largest eigenvalue: at most √3 times larger, and far
        // cheaper.
        let white = matrix::congruence(&second, &matrix::transpose(&self.whitening));
        let second = white.iter().flatten().map(|x| x * x).sum::<f64>().sqrt() * self.variance;
        [mean, second]
    }

    fn advance(&mut self, power: usize) {
        while self.maps.len() <= power {
            let last = self.maps[self.maps.len() - 1];
            self.maps.push(last.doubled());
        }
        self.moments = self.maps[power].of(&self.moments);
    }
}

/// The relative bias |variance of θ times its eigenvalue − 1| of the stationary law, maximised over
/// the target's eigenvalues; `None` if the step is unstable at one of them.
#[must_use]
pub fn relative_bias(scheme: &Scheme, target: &Spectrum) -> Option<f64> {
    let mut worst = 0.0_f64;
    for mode in target.modes() {
        let l = mode.eigenvalue / target.smoothness();
        worst = worst.max((scheme.form(l).stationary()?[0][0] * l - 1.0).abs());
    }
    Some(worst)
}

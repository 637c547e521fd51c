//! Trajectories: an exact step of (p, r), then several steps of kick, drift, kick.
//!
//! These are the proposals of the sampler's adjusted kernel. Here every proposal is accepted and has
//! its full length: an acceptance rate below 1 depends on all coordinates together, which the law at
//! one eigenvalue cannot describe.

use ridgewalk_coefficients::OrnsteinUhlenbeck;

use super::scheme::beside_theta;
use crate::error::Error;
use crate::matrix::{self, Matrix};

/// The motion of θ and p between two half kicks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Drift {
    /// θ' = θ + η p, with kicks by the whole gradient.
    Straight,
    /// Along the circles of the standard normal law: θ' = cos η θ + sin η p, p' = cos η p − sin η
    /// θ, with kicks by the gradient minus L θ. For coordinates in which the target is close to
    /// N(0, I/L), so that the kicks are small.
    Rotating,
    /// The same, with a few stiff terms of the target integrated in shorter steps within it. On a
    /// normal target, and for one that names no such terms, it is [`Drift::Rotating`].
    Split,
}

impl Drift {
    /// All drifts.
    pub const ALL: [Self; 3] = [Self::Straight, Self::Rotating, Self::Split];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Straight => "straight",
            Self::Rotating => "rotating",
            Self::Split => "split",
        }
    }

    /// The drift of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|drift| drift.name() == name)
    }
}

/// The number of steps of a trajectory, its drift, and how often its steps are shorter.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trajectory {
    /// K, at least 1.
    pub steps: u32,
    /// The motion between kicks.
    pub drift: Drift,
    /// The probability that the steps of a trajectory are shorter than η, from 0 to 1: by a factor
    /// from [`Trajectory::SHORTEST`] to 1, the same for all of them, with a uniform logarithm. Where
    /// steps of η are all rejected, chains so go on by short ones.
    pub short: f64,
}

impl Trajectory {
    /// The largest number of steps.
    pub const LONGEST: u32 = 1024;
    /// The smallest factor of shorter steps.
    pub const SHORTEST: f64 = 1.0 / 32.0;

    /// Steps of one length.
    #[must_use]
    pub const fn new(steps: u32, drift: Drift) -> Self {
        Self { steps, drift, short: 0.0 }
    }

    /// Returns the trajectory if its number of steps is between 1 and [`Trajectory::LONGEST`], and
    /// the probability of shorter ones is one.
    pub(super) fn checked(self) -> Result<Self, Error> {
        if !(1..=Self::LONGEST).contains(&self.steps) {
            let value = f64::from(self.steps);
            let need = "a number of steps between 1 and 1024";
            return Err(Error::NotInRange { name: "steps", value, need });
        }
        if !(0.0..=1.0).contains(&self.short) {
            let need = "a probability between 0 and 1";
            return Err(Error::NotInRange { name: "short", value: self.short, need });
        }
        Ok(self)
    }

    /// The map of (θ, p, r) over a trajectory and the covariance of the noise added, at an
    /// eigenvalue l.
    pub(super) fn form(
        self, refresh: &OrnsteinUhlenbeck, eta: f64, l: f64,
    ) -> (Matrix<3>, Matrix<3>) {
        let (flow, noise) = beside_theta(refresh);
        let mut steps = matrix::identity();
        for _ in 0..self.steps {
            steps = matrix::product(&self.step(eta, l), &steps);
        }
        let noise = matrix::congruence(&noise, &matrix::transpose(&steps));
        (matrix::product(&steps, &flow), noise)
    }

    /// Half kick, drift, half kick.
    fn step(self, eta: f64, l: f64) -> Matrix<3> {
        let (kick, [[c, s], [t, u]]) = match self.drift {
            Drift::Straight => (l, [[1.0, eta], [0.0, 1.0]]),
            Drift::Rotating | Drift::Split => {
                (l - 1.0, [[eta.cos(), eta.sin()], [-eta.sin(), eta.cos()]])
            }
        };
        let kick = [[1.0, 0.0, 0.0], [-0.5 * eta * kick, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let drift = [[c, s, 0.0], [t, u, 0.0], [0.0, 0.0, 1.0]];
        matrix::product(&kick, &matrix::product(&drift, &kick))
    }
}

//! Trajectories: several steps of kick, drift, kick with steps of (p, r) between them, started with
//! fresh p and r.
//!
//! These are the proposals of the sampler's adjusted kernel. Here every proposal is accepted: an
//! acceptance rate below 1 depends on all coordinates together, which the law at one eigenvalue
//! cannot describe.

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
}

/// The number of steps of a trajectory and its drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Trajectory {
    /// K, at least 1.
    pub steps: u32,
    /// The motion between kicks.
    pub drift: Drift,
}

impl Trajectory {
    /// The largest number of steps.
    pub const LONGEST: u32 = 1024;

    /// Returns the trajectory if its number of steps is between 1 and [`Trajectory::LONGEST`].
    pub(super) fn checked(self) -> Result<Self, Error> {
        if (1..=Self::LONGEST).contains(&self.steps) {
            Ok(self)
        } else {
            let value = f64::from(self.steps);
            Err(Error::NotInRange {
                name: "steps",
                value,
                need: "a number of steps between 1 and 1024",
            })
        }
    }

    /// The factor on θ over a trajectory and the variance of the noise added to it, at an
    /// eigenvalue l.
    pub(super) fn of_theta(self, between: &OrnsteinUhlenbeck, eta: f64, l: f64) -> [f64; 2] {
        let (flow, noise) = beside_theta(between);
        let step = self.step(eta, l);
        let (mut matrix, mut variance) =
            (matrix::identity(), [[0.0; 3], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]);
        for k in 0..self.steps {
            if k > 0 {
                matrix = matrix::product(&flow, &matrix);
                variance = carried(&variance, &flow);
                variance = matrix::combine(1.0, &variance, 1.0, &noise);
            }
            matrix = matrix::product(&step, &matrix);
            variance = carried(&variance, &step);
        }
        [matrix[0][0], variance[0][0]]
    }

    /// Half kick, drift, half kick.
    fn step(self, eta: f64, l: f64) -> Matrix<3> {
        let (kick, [[c, s], [t, u]]) = match self.drift {
            Drift::Straight => (l, [[1.0, eta], [0.0, 1.0]]),
            Drift::Rotating => (l - 1.0, [[eta.cos(), eta.sin()], [-eta.sin(), eta.cos()]]),
        };
        let kick = [[1.0, 0.0, 0.0], [-0.5 * eta * kick, 1.0, 0.0], [0.0, 0.0, 1.0]];
        let drift = [[c, s, 0.0], [t, u, 0.0], [0.0, 0.0, 1.0]];
        matrix::product(&kick, &matrix::product(&drift, &kick))
    }
}

/// The covariance of `map` x, given that of x.
fn carried(covariance: &Matrix<3>, map: &Matrix<3>) -> Matrix<3> {
    matrix::congruence(covariance, &matrix::transpose(map))
}

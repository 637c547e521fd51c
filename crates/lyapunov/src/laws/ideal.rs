//! Hamiltonian Monte Carlo with exact trajectories: what leapfrog trajectories tend to as their
//! steps get short. On a Gaussian it is a rotation of each coordinate, without any bias.

use super::evolution::Evolution;
use super::linear::{Branch, LinearForm};
use super::mixing::smooth_steps;
use super::search::{Effort, minimise};
use super::spectrum::{Spectrum, Start};
use crate::error::{Error, positive};

/// The longest duration: half a turn of the coordinate with curvature L, in units of L = 1. Beyond
/// it the best duration depends on which eigenvalues there are, and not on κ alone.
const LONGEST: f64 = std::f64::consts::PI;
/// The number of durations from which the search starts.
const STARTS: u32 = 12;

/// The best duration found for exact trajectories.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct IdealHmc {
    /// The duration of a trajectory.
    pub time: f64,
    /// The first number of trajectories after which W2 is at most the wanted distance, from θ*.
    pub trajectories: u64,
}

/// Minimises the number of exact trajectories, of durations up to π, until W2 between the law of θ
/// and the target is at most `epsilon`, starting from θ*. `None` if none was found that reaches it.
///
/// # Errors
/// [`Error::NotInRange`] unless `epsilon` is positive and finite.
pub fn tune_ideal_hmc(target: &Spectrum, epsilon: f64) -> Result<Option<IdealHmc>, Error> {
    positive("epsilon", epsilon)?;
    let chain = |time: f64| Evolution::with_forms(|l| rotation(time, l), target, &Start::AtMode);
    let mut cost = |&[logarithm]: &[f64; 1]| {
        let time = logarithm.exp();
        let steps = (time <= LONGEST).then(|| smooth_steps(&chain(time).ok()?, epsilon)).flatten();
        steps.unwrap_or(f64::INFINITY)
    };
    let effort = Effort { gain: 1e-4, evaluations: 60 };
    let starts = (1..=STARTS).map(|i| (LONGEST * f64::from(i) / f64::from(STARTS + 1)).ln());
    let found: Vec<_> = starts.map(|start| minimise(&mut cost, [start], 0.1, effort)).collect();
    let best = found.into_iter().min_by(|a, b| a.value.total_cmp(&b.value));
    let Some(best) = best.filter(|best| best.value.is_finite()) else { return Ok(None) };
    let time = best.at[0].exp();
    let trajectories = chain(time)?.mixing_time(epsilon)?;
    Ok(trajectories.map(|trajectories| IdealHmc { time, trajectories }))
}

/// θ turns by the angle √l t; fresh p adds what makes the variance 1/l stay.
fn rotation(time: f64, l: f64) -> LinearForm {
    let (sin, cos) = (l.sqrt() * time).sin_cos();
    let on_theta = |entry: f64| [[entry, 0.0, 0.0], [0.0; 3], [0.0; 3]];
    let branch = Branch { weight: 1.0, matrix: on_theta(cos), noise: on_theta(sin * sin / l) };
    LinearForm::new(1, vec![branch])
}

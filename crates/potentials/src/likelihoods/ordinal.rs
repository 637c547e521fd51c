//! Ordered levels.

use super::{Block, Likelihood, level};
use crate::error::Error;
use crate::families::{Objection, Observation};
use crate::joint::ParameterScale;
use crate::softplus::{sigmoid, softplus};
use crate::special::{exp_within, log_1m_exp_of, over_expm1};

/// The most levels that an [`Ordinal`] can have.
const MOST: usize = 64;

/// Proportional odds: responses 0, 1, ..., K − 1 with P(y <= j) = 1/(1 + e^(s − c_(j+1))) for
/// thresholds c_1 < ... < c_(K−1).
///
/// With a and b the thresholds above and below the response, less s, and g = a − b:
/// u = log(1 + e^-a) + log(1 + e^b) − log(1 − e^-g). The first and the last level lack a threshold,
/// and the terms that contain it.
///
/// ψ = (c_1, log(c_2 − c_1), log(c_3 − c_2), ...). The model has no intercept: c_1 takes its place.
/// u is convex in s and the thresholds, but not in ψ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordinal {
    levels: usize,
}

impl Ordinal {
    /// Responses 0 to `levels` − 1.
    ///
    /// # Errors
    /// For fewer than 2 or more than 64 levels.
    pub fn new(levels: usize) -> Result<Self, Error> {
        if !(2..=MOST).contains(&levels) {
            return Err(Error::Levels { name: "ordinal", got: levels, need: "2 to 64" });
        }
        Ok(Self { levels })
    }

    /// The number of levels.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }
}

/// The thresholds, and for each level that lies between two of them what its gap gives.
struct Thresholds {
    /// c_1, c_2, ... from 0 on.
    at: [f64; MOST],
    /// Of the level's own gap g, at the index of the level: g, −log(1 − e^-g) and g/(e^g − 1).
    gap: [f64; MOST],
    cost: [f64; MOST],
    by_cost: [f64; MOST],
}

impl Thresholds {
    fn new(psi: &[f64]) -> Self {
        let mut new =
            Self { at: [0.0; MOST], gap: [0.0; MOST], cost: [0.0; MOST], by_cost: [0.0; MOST] };
        new.at[0] = psi[0];
        for (k, &log_gap) in psi.iter().enumerate().skip(1) {
            let gap = exp_within(log_gap);
            new.at[k] = new.at[k - 1] + gap;
            new.gap[k] = gap;
            new.cost[k] = -log_1m_exp_of(gap, log_gap);
            new.by_cost[k] = over_expm1(gap);
        }
        new
    }
}

impl Likelihood for Ordinal {
    fn name(&self) -> &'static str {
        "ordinal"
    }

    fn parameters(&self) -> usize {
        self.levels - 1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        super::level_objection(y, self.levels)
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let last = self.levels - 1;
        let thresholds = Thresholds::new(&psi[..last]);
        // Sums over the rows of each level: of ∂u/∂s, and of ∂u/∂log g for the level's own gap.
        let (mut by_s, mut by_gap) = ([0.0; MOST], [0.0; MOST]);
        let sum = block.sum(slopes, |s, y, weight| {
            let Some(level) = level(y, self.levels) else {
                by_s[0] = f64::NAN;
                return [f64::NAN; 2];
            };
            let (mut value, mut slope) = (thresholds.cost[level], 0.0);
            if level < last {
                let a = thresholds.at[level] - s;
                value += softplus(-a);
                slope += sigmoid(-a);
            }
            if level > 0 {
                // The slope so far is that of the upper threshold alone.
                let own = thresholds.by_cost[level] + slope * thresholds.gap[level];
                by_gap[level] -= weight * own;
                let b = thresholds.at[level - 1] - s;
                value += softplus(b);
                slope -= sigmoid(b);
            }
            by_s[level] += weight * slope;
            [value, slope]
        });
        // A threshold moves c_1 and all gaps below it: ψ_k moves both thresholds of the levels
        // above k, which is a move of s the other way, and the upper one of level k.
        let mut above = 0.0;
        for k in (1..last).rev() {
            above += by_s[k + 1];
            by_parameter[k] += by_gap[k] - thresholds.gap[k] * above;
        }
        by_parameter[0] -= above + by_s[0] + by_s[1];
        sum
    }

    fn scale(&self) -> ParameterScale {
        ParameterScale::Ordered
    }

    fn convex(&self) -> bool {
        // With one threshold there is no gap.
        self.levels == 2
    }
}

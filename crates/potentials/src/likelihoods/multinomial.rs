//! Unordered levels.

use super::{Block, Likelihood, level};
use crate::error::Error;
use crate::families::{Objection, Observation};

/// The multinomial logit: responses 0, 1, ..., each level but the first with a linear predictor of
/// its own. u = log(1 + Σ e^s_k) − s_y with s_0 = 0. No parameters; convex.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Multinomial {
    levels: usize,
}

impl Multinomial {
    /// Responses 0 to `levels` − 1.
    ///
    /// # Errors
    /// For fewer than two levels.
    pub fn new(levels: usize) -> Result<Self, Error> {
        if levels < 2 {
            return Err(Error::Levels { name: "multinomial", got: levels, need: "at least 2" });
        }
        Ok(Self { levels })
    }

    /// The number of levels.
    #[must_use]
    pub fn levels(&self) -> usize {
        self.levels
    }
}

impl Likelihood for Multinomial {
    fn name(&self) -> &'static str {
        "multinomial"
    }

    fn parameters(&self) -> usize {
        0
    }

    fn predictors(&self) -> usize {
        self.levels - 1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        super::level_objection(y, self.levels)
    }

    fn evaluate(&self, _: &[f64], block: Block<'_>, slopes: &mut [f64], _: &mut [f64]) -> f64 {
        let width = self.levels - 1;
        let rows = slopes.chunks_exact_mut(width).zip(block.s.chunks_exact(width)).zip(block.y);
        let mut sum = 0.0;
        for (i, ((slopes, s), &y)) in rows.enumerate() {
            let weight = block.weights.get(i).copied().unwrap_or(1.0);
            sum += weight * self.row(s, y, slopes);
            slopes.iter_mut().for_each(|slope| *slope *= weight);
        }
        sum
    }

    fn convex(&self) -> bool {
        true
    }
}

impl Multinomial {
    /// u of one row; its slopes into `slopes`.
    ///
    /// Everything is relative to the observed level: u = log(1 + Σ e^(s_k − s_y)) over the others,
    /// which keeps its digits where the observed level is nearly certain, and so does p_y − 1 = −Σ
    /// p_k. The largest exponent, if above 0, is taken out.
    fn row(&self, s: &[f64], y: Observation, slopes: &mut [f64]) -> f64 {
        let Some(observed) = level(y, self.levels) else {
            slopes.fill(f64::NAN);
            return f64::NAN;
        };
        // The base level has no predictor: its own is 0.
        let own = observed.checked_sub(1);
        let of_observed = own.map_or(0.0, |own| s[own]);
        let others = |k: usize| Some(k) != own;
        let base = if own.is_some() { -of_observed } else { f64::NEG_INFINITY };
        let mut most = base.max(0.0);
        for (_, s) in s.iter().enumerate().filter(|(k, _)| others(*k)) {
            // Not `f64::max`, which would pass over NaN.
            most = if s - of_observed <= most { most } else { s - of_observed };
        }
        let mut rest = (base - most).exp();
        for (k, (slope, s)) in slopes.iter_mut().zip(s).enumerate() {
            *slope = if others(k) { ((s - of_observed) - most).exp() } else { 0.0 };
            rest += *slope;
        }
        let total = (-most).exp() + rest;
        slopes.iter_mut().for_each(|slope| *slope /= total);
        if let Some(own) = own {
            slopes[own] = -rest / total;
        }
        if most == 0.0 { rest.ln_1p() } else { most + total.ln() }
    }
}

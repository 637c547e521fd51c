//! Draws of the effects of groups, and what they add to the linear predictors of rows.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution, StandardNormal};
use ridgewalk_frame::GroupEntries;
use ridgewalk_potentials::{GroupTerm, Scale};

use super::posterior::DesignRows;
use crate::groups::{GroupNames, Groups, visit};

/// The seed of effects of levels that a fit has not seen: a stream for each row. Groupings add their
/// number, and linear predictors theirs times [`PREDICTOR`].
const SEED: u64 = 0x6c65_7665_6c73;

const PREDICTOR: u64 = 1 << 48;

/// The effects of one grouping on one linear predictor, in every draw.
#[derive(Debug, Clone)]
pub(crate) struct GroupDraws {
    predictor: usize,
    /// Its number among the groupings of the frame.
    grouping: usize,
    width: usize,
    /// The draws of each effect, one after another.
    effects: Vec<Vec<f64>>,
    /// The factor of the covariance in each draw.
    scales: Vec<Scale>,
}

impl GroupDraws {
    /// Those of all groupings: columns of draws of standard deviations and correlations, and then of
    /// effects.
    pub(super) fn all(groups: &Groups, mut columns: Vec<Vec<f64>>) -> Vec<Self> {
        let effects = columns.split_off(groups.parameters().len());
        let (mut effects, mut parameters) = (effects.into_iter(), columns.into_iter());
        let one = |names: &GroupNames| {
            let natural: Vec<Vec<f64>> =
                parameters.by_ref().take(names.parameters().len()).collect();
            Self {
                predictor: names.predictor,
                grouping: names.grouping,
                width: names.coefficients.len(),
                effects: effects.by_ref().take(names.effects()).collect(),
                scales: scales(names.coefficients.len(), &natural),
            }
        };
        groups.terms().iter().map(one).collect()
    }

    /// Every so-many-th draw.
    pub(super) fn some(&self, draws: usize, every: usize) -> Self {
        let of = |list: &Vec<f64>| list[..draws].iter().copied().step_by(every).collect();
        Self {
            effects: self.effects.iter().map(of).collect(),
            scales: self.scales.iter().step_by(every).cloned().collect(),
            ..*self
        }
    }

    /// Its number among the groupings of the frame.
    pub(crate) fn grouping(&self) -> usize {
        self.grouping
    }

    /// The mean of each effect.
    pub(crate) fn means(&self) -> Vec<f64> {
        let mean = |draws: &Vec<f64>| draws.iter().sum::<f64>() / draws.len() as f64;
        self.effects.iter().map(mean).collect()
    }

    /// Adds to the linear predictors of a row in every draw, `wide` numbers a draw.
    pub(super) fn add(&self, rows: DesignRows<'_>, row: usize, wide: usize, s: &mut [f64]) {
        let grouping = &rows.groups[self.grouping];
        let own = |s: &mut [f64], x: f64, draws: &[f64]| {
            let s = s.iter_mut().skip(self.predictor).step_by(wide);
            s.zip(draws).for_each(|(s, effect)| *s += x * effect);
        };
        visit(grouping, row, |effect, x| own(s, x, &self.effects[effect]));
        let levels = grouping.entries.of_row(row);
        if !levels.contains(&GroupEntries::NEW) {
            return;
        }
        let number = self.grouping as u64 + PREDICTOR * self.predictor as u64;
        let mut rng = ChaCha8Rng::seed_from_u64(SEED.wrapping_add(number));
        rng.set_stream((rows.first + row) as u64);
        let mut u = vec![0.0; self.width];
        let values = grouping.entries.values().get(row * self.width..(row + 1) * self.width);
        // Of two levels that are compared, the second counts with a minus.
        let signs =
            levels.iter().zip([1.0, -1.0]).filter(|(level, _)| **level == GroupEntries::NEW);
        let signs: Vec<f64> = signs.map(|(_, sign)| sign).collect();
        for (draw, scale) in self.scales.iter().enumerate() {
            for sign in &signs {
                u.iter_mut().for_each(|u| *u = StandardNormal.sample(&mut rng));
                scale.times(&mut u);
                let sum: f64 = match values {
                    Some(values) => values.iter().zip(&u).map(|(x, u)| x * u).sum(),
                    None => u.iter().sum(),
                };
                s[draw * wide + self.predictor] += sign * sum;
            }
        }
    }

    /// Draws the effects of a level anew in every draw, given standard deviations and correlations.
    pub(super) fn redraw(&mut self, grouping: usize, level: usize, rng: &mut ChaCha8Rng) {
        if grouping != self.grouping {
            return;
        }
        let mut u = vec![0.0; self.width];
        let effects = &mut self.effects[level * self.width..(level + 1) * self.width];
        for (draw, scale) in self.scales.iter().enumerate() {
            u.iter_mut().for_each(|u| *u = StandardNormal.sample(rng));
            scale.times(&mut u);
            effects.iter_mut().zip(&u).for_each(|(draws, u)| draws[draw] = *u);
        }
    }

    /// Changes the sign of the effects of a level in every draw.
    pub(super) fn reflect(&mut self, grouping: usize, level: usize) {
        if grouping == self.grouping {
            let effects = &mut self.effects[level * self.width..(level + 1) * self.width];
            effects.iter_mut().flatten().for_each(|u| *u = -*u);
        }
    }
}

/// The factors of covariances by draws of standard deviations and correlations.
fn scales(width: usize, natural: &[Vec<f64>]) -> Vec<Scale> {
    let term = GroupTerm { first: 0, levels: 0, width, sds: Vec::new(), concentration: 1.0 };
    let count = natural.first().map_or(0, Vec::len);
    let one = |draw: usize| {
        let mut phi: Vec<f64> = natural.iter().map(|column| column[draw]).collect();
        term.to_unconstrained(&mut phi);
        term.scale(&phi)
    };
    (0..count).map(one).collect()
}

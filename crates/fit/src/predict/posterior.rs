//! The draws of a fit, laid out for rows of data: what each row's linear predictor is in every draw.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;
use ridgewalk_frame::{Grouping, Matrix};
use ridgewalk_potentials::families::Observation;

use super::groups::GroupDraws;
use super::law::Law;
use crate::config::Config;
use crate::draws::DrawReader;
use crate::error::Error;

/// Rows whose linear predictors are computed together.
const BLOCK: usize = 16;
/// A matrix product is faster than sums over entries that are not 0 if more than 1 in so many is.
const DENSE: usize = 8;

/// Rows of a design, in the units of the reported coefficients.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DesignRows<'a> {
    pub(crate) design: &'a Matrix,
    pub(crate) offset: Option<&'a [f64]>,
    pub(crate) groups: &'a [Grouping],
    /// The number of the first row, if these are a part of more: effects of levels that the fit has
    /// not seen are drawn by the number of their row.
    pub(crate) first: usize,
}

impl DesignRows<'_> {
    fn offset(&self, row: usize) -> f64 {
        self.offset.map_or(0.0, |offset| offset[row])
    }
}

/// Draws of the coefficients and parameters of a model.
#[derive(Debug, Clone)]
pub(crate) struct Posterior {
    pub(crate) law: Law,
    pub(crate) chains: usize,
    /// Over all chains.
    pub(crate) draws: usize,
    /// The draws of each coefficient, one after another.
    coefficients: Vec<f64>,
    /// The columns of the design.
    pub(crate) columns: usize,
    /// The parameters in each draw, as they are reported and as the likelihood has them.
    natural: Vec<f64>,
    psi: Vec<f64>,
    /// For each grouping of each linear predictor.
    groups: Vec<GroupDraws>,
}

/// The linear predictors of one row in every draw, and room for what follows from them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Room {
    /// Those of one draw after another.
    pub(crate) s: Vec<f64>,
    pub(crate) values: Vec<f64>,
}

impl Posterior {
    /// The draws of a run with this configuration.
    pub(crate) fn new(config: &Config, draws: &dyn DrawReader) -> Result<Self, Error> {
        Self::thinned(config, draws, usize::MAX)
    }

    /// The same with at most about `most` draws, evenly spaced.
    pub(crate) fn thinned(
        config: &Config, draws: &dyn DrawReader, most: usize,
    ) -> Result<Self, Error> {
        let resolved = &config.resolved;
        let law = Law::new(&config.options, &resolved.levels)
            .map_err(|source| Error::Draws(Box::new(source)))?;
        let made = draws.chains() * draws.draws();
        let every = made.div_ceil(most.max(1)).max(1);
        let count = made.div_ceil(every);
        let (coefficients, names) = (resolved.coefficients.len(), resolved.names());
        let mut all: Vec<Vec<f64>> = Vec::with_capacity(names.len());
        draws.columns(&mut |columns| {
            all.extend(
                columns.iter().map(|c| c.iter().step_by(every).copied().collect::<Vec<f64>>()),
            );
            Ok(())
        })?;
        let columns = coefficients / law.predictors();
        if all.len() != names.len() || all.iter().any(|column| column.len() != count) {
            let found = format!("{} columns of draws, need {}", all.len(), names.len());
            return Err(Error::Draws(found.into()));
        }
        let groups = resolved.groups();
        let own = coefficients + resolved.parameters.len();
        let groups = GroupDraws::all(&groups, all.split_off(own));
        let sampled = all.split_off(coefficients);
        let many = law.parameters().len();
        let mut natural = vec![0.0; count * many];
        for (k, (name, fixed)) in law.parameters().iter().enumerate() {
            let column = resolved.parameters.iter().position(|other| other == name);
            for draw in 0..count {
                natural[draw * many + k] = match (fixed, column) {
                    (Some(value), _) => *value,
                    (None, Some(column)) => sampled[column][draw],
                    (None, None) => {
                        return Err(Error::Draws(format!("there are no draws of {name}").into()));
                    }
                };
            }
        }
        let mut psi = natural.clone();
        psi.chunks_exact_mut(many.max(1)).for_each(|draw| law.to_unconstrained(draw));
        let chains = draws.chains();
        let coefficients = all.concat();
        Ok(Self { law, chains, draws: count, coefficients, columns, natural, psi, groups })
    }

    /// The draws of each grouping.
    pub(crate) fn groups(&self) -> &[GroupDraws] {
        &self.groups
    }

    /// Every so-many-th draw, at most about `most` of them.
    pub(crate) fn some(&self, most: usize) -> Self {
        let every = self.draws.div_ceil(most.max(1)).max(1);
        let of = |list: &Vec<f64>, wide: usize| -> Vec<f64> {
            list.chunks_exact(wide.max(1)).step_by(every).flatten().copied().collect()
        };
        let many = self.law.parameters().len();
        Self {
            law: self.law.clone(),
            chains: self.chains,
            draws: self.draws.div_ceil(every),
            coefficients: self
                .coefficients
                .chunks_exact(self.draws.max(1))
                .flat_map(|draws| draws.iter().copied().step_by(every))
                .collect(),
            columns: self.columns,
            natural: of(&self.natural, many),
            psi: of(&self.psi, many),
            groups: self.groups.iter().map(|group| group.some(self.draws, every)).collect(),
        }
    }

    /// Calls `of` for some rows, on all threads, with their linear predictors in every draw in
    /// `Room::s`. Each thread has what `init` makes. The results are in the order of the rows.
    pub(crate) fn map_rows<I, T: Send>(
        &self, rows: DesignRows<'_>, range: Range<usize>, init: impl Fn() -> I + Sync + Send,
        of: impl Fn(&mut I, &mut Room, usize) -> T + Sync + Send,
    ) -> Vec<T> {
        let length = self.draws * self.law.predictors();
        let starts: Vec<usize> = range.clone().step_by(BLOCK).collect();
        let blocks = starts.into_par_iter().map_init(
            || (init(), Room::default(), Vec::new()),
            |(own, room, s), start| {
                let block = start..(start + BLOCK).min(range.end);
                self.linear_block(rows, block.clone(), s);
                for (s, row) in s.chunks_exact_mut(length).zip(block.clone()) {
                    let wide = self.law.predictors();
                    self.groups.iter().for_each(|group| group.add(rows, row, wide, s));
                }
                let each = s.chunks_exact(length).zip(block).map(|(s, row)| {
                    room.s.clear();
                    room.s.extend_from_slice(s);
                    of(own, room, row)
                });
                each.collect::<Vec<T>>()
            },
        );
        blocks.collect::<Vec<Vec<T>>>().into_iter().flatten().collect()
    }

    /// The linear predictors of a block of rows, one row after another.
    fn linear_block(&self, rows: DesignRows<'_>, block: Range<usize>, out: &mut Vec<f64>) {
        let Some(design) = self.worth_a_product(rows.design, &block) else {
            let mut one = Vec::new();
            out.clear();
            for row in block {
                self.linear(rows.design, row, rows.offset(row), &mut one);
                out.extend_from_slice(&one);
            }
            return;
        };
        let (count, draws) = (block.len(), self.draws);
        out.resize(count * draws, 0.0);
        out.chunks_exact_mut(draws).zip(block).for_each(|(s, row)| s.fill(rows.offset(row)));
        let left = MatRef::from_row_major_slice(design, count, self.columns);
        let right = MatRef::from_row_major_slice(&self.coefficients, self.columns, draws);
        let into = MatMut::from_row_major_slice_mut(out, count, draws);
        matmul(into, Accum::Add, left, right, 1.0, Par::Seq);
    }

    /// The entries of a block of rows, if one product of matrices is the fastest way.
    fn worth_a_product<'r>(&self, design: &'r Matrix, block: &Range<usize>) -> Option<&'r [f64]> {
        let Matrix::Dense { columns, values } = design else { return None };
        let values = &values[block.start * columns..block.end * columns];
        let entries = values.iter().filter(|x| **x != 0.0).count();
        let worth = self.law.predictors() == 1 && entries * DENSE > values.len() && self.draws > 0;
        worth.then_some(values)
    }

    /// The linear predictors of a row of the design, in every draw, without effects of groups.
    fn linear(&self, design: &Matrix, row: usize, offset: f64, out: &mut Vec<f64>) {
        let wide = self.law.predictors();
        out.clear();
        out.resize(self.draws * wide, offset);
        let each = self.columns * self.draws;
        for (number, own) in self.coefficients.chunks_exact(each.max(1)).enumerate() {
            design.visit(row, |column, x| {
                let draws = &own[column * self.draws..(column + 1) * self.draws];
                // Entries of factors are mostly 0.
                if x == 0.0 {
                } else if wide == 1 {
                    out.iter_mut().zip(draws).for_each(|(s, beta)| *s += x * beta);
                } else {
                    let s = out.iter_mut().skip(number).step_by(wide);
                    s.zip(draws).for_each(|(s, beta)| *s += x * beta);
                }
            });
        }
    }

    /// Draws the effects of some levels anew, each with the number of its grouping: the draws stay
    /// draws of the posterior for levels that have no rows.
    pub(crate) fn redraw(&mut self, levels: &[(usize, usize)], rng: &mut ChaCha8Rng) {
        for &(grouping, level) in levels {
            self.groups.iter_mut().for_each(|group| group.redraw(grouping, level, rng));
        }
    }

    /// Changes the sign of their effects.
    pub(crate) fn reflect(&mut self, levels: &[(usize, usize)]) {
        for &(grouping, level) in levels {
            self.groups.iter_mut().for_each(|group| group.reflect(grouping, level));
        }
    }

    /// The linear predictors of one draw.
    pub(crate) fn s<'r>(&self, room: &'r Room, draw: usize) -> &'r [f64] {
        let wide = self.law.predictors();
        &room.s[draw * wide..(draw + 1) * wide]
    }

    /// The parameters in one draw.
    pub(crate) fn natural(&self, draw: usize) -> &[f64] {
        let many = self.law.parameters().len();
        &self.natural[draw * many..(draw + 1) * many]
    }

    /// The log density of a response in every draw, into `room.values`.
    pub(crate) fn log_densities(&self, room: &mut Room, y: Observation) {
        let Room { s, values } = room;
        values.clear();
        values.resize(self.draws, 0.0);
        self.law.log_densities(s, &self.psi, y, values);
    }

    /// The expected response in every draw, into `room.values`.
    pub(crate) fn means(&self, room: &mut Room) {
        let mut values = std::mem::take(&mut room.values);
        values.clear();
        values.resize(self.draws, 0.0);
        if !self.law.means(&room.s, &mut values) {
            for (draw, value) in values.iter_mut().enumerate() {
                *value = self.law.mean(self.s(room, draw)[0], self.natural(draw));
            }
        }
        room.values = values;
    }

    /// A generator for one row, the same whatever the order of the rows.
    pub(crate) fn generator(seed: u64, row: usize) -> ChaCha8Rng {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(row as u64);
        rng
    }
}

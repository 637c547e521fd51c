//! A potential in other coordinates with its design as it is: chains are mapped instead.

use std::ops::Range;
use std::sync::OnceLock;

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};
use rayon::prelude::*;

use crate::design::{Dense, Design};
use crate::error::{Error, length};
use crate::families::Family;
use crate::hessian::{dot, visit};
use crate::line_integral::{LineIntegral, Scratch, whole_chains};
use crate::ridge::{Ridge, valid_offsets};
use crate::stiff::{self, Stiff};
use crate::thinning::{Thin, Thinning};
use crate::whitening::{Map, Whitening, as_square};

/// Rows that go to the new coordinates together.
const BLOCK: usize = 256;
/// Stiff rows are looked for where the products of all rows with the map take no more operations.
const STIFF_WORK: usize = 1 << 33;

/// A ridge-separable potential as a function of z, where θ = centre + W z. Positions and momenta are
/// mapped to θ, and gradients back, so that a pass over the rows uses the original design: it stays
/// sparse, and nobody needs room for another one.
#[derive(Debug, Clone)]
pub struct MappedRidge<'a, F> {
    ridge: Ridge<'a, F>,
    whitening: Whitening,
    /// The linear predictors of the rows at the centre.
    offsets: Vec<f64>,
    /// Found when it is first needed.
    stiff: OnceLock<Stiff>,
    /// The same.
    thin: OnceLock<Result<Thin, Error>>,
}

impl<'a, F: Family + Clone> MappedRidge<'a, F> {
    /// The same potential as a function of z. The design is shared with the original.
    ///
    /// # Errors
    /// A whitening of another dimension, or a centre where a linear predictor is not finite.
    pub fn new(ridge: &Ridge<'a, F>, whitening: &Whitening) -> Result<Self, Error> {
        length("the whitening", whitening.dimension(), ridge.dimension())?;
        let offsets = ridge.predictors(whitening.centre());
        ridge.design().intact()?;
        let offsets = valid_offsets(offsets, ridge.observations().len())?;
        let (ridge, whitening) = (ridge.clone(), whitening.clone());
        Ok(Self { ridge, whitening, offsets, stiff: OnceLock::new(), thin: OnceLock::new() })
    }
}

impl<F: Family> MappedRidge<'_, F> {
    pub(crate) fn ridge(&self) -> &Ridge<'_, F> {
        &self.ridge
    }

    pub(crate) fn whitening(&self) -> &Whitening {
        &self.whitening
    }

    /// The linear predictors of the rows at the centre.
    pub(crate) fn offsets(&self) -> &[f64] {
        &self.offsets
    }

    /// What moves are accepted by.
    pub(crate) fn thin(&self) -> Result<&Thin, Error> {
        self.thin.get_or_init(|| Thin::of_mapped(self)).as_ref().map_err(Error::clone)
    }

    fn stiff_rows(&self) -> &Stiff {
        self.stiff.get_or_init(|| self.find_stiff_rows())
    }

    fn find_stiff_rows(&self) -> Stiff {
        let (design, map) = (self.ridge.design(), self.whitening.map());
        let per_entry = if matches!(map, Map::Diagonal(_)) { 1 } else { design.columns() };
        let work = design.entries().saturating_mul(per_entry);
        let sparse =
            matches!((design, map), (Design::Sparse(_), Map::Diagonal(_) | Map::Factor(_)));
        if sparse || stiff::most(&self.ridge) == 0 || work > STIFF_WORK {
            return Stiff::default();
        }
        let mut squares = Vec::with_capacity(design.rows());
        self.for_rows(|row| squares.push(dot(row, row)));
        Stiff::chosen(&self.ridge, &squares, &|i| self.offsets[i], |i| {
            image_of_rows(design, map, i..i + 1)
        })
    }

    /// Calls a function with each row in the new coordinates.
    pub(crate) fn for_rows(&self, mut with: impl FnMut(&[f64])) {
        let (design, map) = (self.ridge.design(), self.whitening.map());
        if let Design::Stored(stored) = design {
            return stored.for_blocks(BLOCK, |_, rows| {
                let count = rows.len() / stored.columns();
                let design = Design::Dense(Dense::of_checked(stored.columns(), rows));
                let images = image_of_rows(&design, map, 0..count);
                images.chunks_exact(stored.columns()).for_each(&mut with);
            });
        }
        for first in (0..design.rows()).step_by(BLOCK) {
            let rows = image_of_rows(design, map, first..(first + BLOCK).min(design.rows()));
            rows.chunks_exact(design.columns()).for_each(&mut with);
        }
    }

    /// θ = centre + W z for all chains.
    fn points(&self, z: &[f64], theta: &mut [f64]) {
        let centre = self.whitening.centre();
        self.for_chains(z, theta, |z, theta| {
            theta.chunks_exact_mut(centre.len()).for_each(|theta| theta.copy_from_slice(centre));
            self.whitening.map().add_images(centre.len(), z, theta);
        });
    }

    /// W v for all chains.
    fn directions(&self, v: &[f64], out: &mut [f64]) {
        self.for_chains(v, out, |v, out| {
            out.fill(0.0);
            self.whitening.map().add_images(self.whitening.dimension(), v, out);
        });
    }

    /// Wᵀ g for all chains.
    fn pull(&self, g: &[f64], out: &mut [f64]) {
        self.for_chains(g, out, |g, out| {
            out.fill(0.0);
            self.whitening.map().add_transposed_images(self.whitening.dimension(), g, out);
        });
    }

    /// Calls a function with the numbers of all chains, or, where passes over the rows use several
    /// threads, on each thread with those of its chains.
    fn for_chains(&self, from: &[f64], to: &mut [f64], with: impl Fn(&[f64], &mut [f64]) + Sync) {
        let d = self.whitening.dimension();
        let (chains, threads) = (from.len() / d, rayon::current_num_threads());
        if threads > 1 && self.ridge.whole().shares_out(chains) {
            let each = chains.div_ceil(threads).max(1) * d;
            from.par_chunks(each)
                .zip(to.par_chunks_mut(each))
                .for_each(|(from, to)| with(from, to));
        } else {
            with(from, to);
        }
    }
}

impl<F: Family> LineIntegral for MappedRidge<'_, F> {
    fn dimension(&self) -> usize {
        self.whitening.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        whole_chains(self.dimension(), positions, momenta, integrals)?;
        let size = positions.len();
        let mut room = std::mem::take(&mut scratch.mapped);
        room.resize(3 * size, 0.0);
        let (theta, rest) = room.split_at_mut(size);
        let (p, sums) = rest.split_at_mut(size);
        self.points(positions, theta);
        self.directions(momenta, p);
        let outcome = self.ridge.integrate(length, theta, p, sums, scratch);
        self.pull(sums, integrals);
        scratch.mapped = room;
        outcome
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.at_points(positions, gradients, scratch, |theta, found, scratch| {
            self.ridge.gradients(theta, found, scratch)
        })
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.at_points(positions, gradients, scratch, |theta, found, scratch| {
            self.ridge.values_and_gradients(theta, values, found, scratch)
        })
    }

    fn stiff(&self) -> usize {
        self.stiff_rows().count()
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.stiff_rows().add(self.ridge.family(), eta, per_l, z, p);
    }

    fn thinning(&self) -> Result<&dyn Thinning, Error> {
        Ok(self)
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.ridge.shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.ridge.collective()
    }
}

impl<F: Family> MappedRidge<'_, F> {
    /// Gradients, computed by a function of points in the original coordinates.
    fn at_points(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
        evaluate: impl FnOnce(&[f64], &mut [f64], &mut Scratch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        whole_chains(self.dimension(), positions, positions, gradients)?;
        let mut room = std::mem::take(&mut scratch.mapped);
        room.resize(2 * positions.len(), 0.0);
        let (theta, found) = room.split_at_mut(positions.len());
        self.points(positions, theta);
        let outcome = evaluate(theta, found, scratch);
        self.pull(found, gradients);
        scratch.mapped = room;
        outcome
    }
}

/// Rows of A W.
fn image_of_rows(design: &Design<'_>, map: &Map, rows: Range<usize>) -> Vec<f64> {
    let d = design.columns();
    let mut out = vec![0.0; rows.len() * d];
    if let Design::Stored(_) = design {
        let mut entries = vec![0.0; rows.len() * d];
        for (row, entries) in rows.clone().zip(entries.chunks_exact_mut(d)) {
            visit(design, row, |k, a| entries[k] = a);
        }
        let design = Design::Dense(Dense::of_checked(d, &entries));
        return image_of_rows(&design, map, 0..rows.len());
    }
    match (map, design) {
        (Map::Matrix(matrix), Design::Dense(dense)) => {
            let block = &dense.values()[rows.start * d..rows.end * d];
            let into = MatMut::from_row_major_slice_mut(&mut out, rows.len(), d);
            let block = MatRef::from_row_major_slice(block, rows.len(), d);
            matmul(into, Accum::Replace, block, as_square(matrix, d), 1.0, Par::Seq);
        }
        (Map::Matrix(matrix), Design::Sparse(_)) => {
            for (row, out) in rows.zip(out.chunks_exact_mut(d)) {
                visit(design, row, |k, a| {
                    let image = &matrix[k * d..(k + 1) * d];
                    out.iter_mut().zip(image).for_each(|(out, w)| *out += a * w);
                });
            }
        }
        _ => {
            let mut entries = vec![0.0; d];
            for (row, out) in rows.zip(out.chunks_exact_mut(d)) {
                visit(design, row, |k, a| entries[k] = a);
                map.add_transposed_image(&entries, out);
                visit(design, row, |k, _| entries[k] = 0.0);
            }
        }
    }
    out
}

//! Line integrals and gradients of a ridge-separable potential for many chains: who computes what.
//!
//! Chains go in tiles of up to eight, rows in blocks; a tile and a block make a task, and tasks run on the threads of rayon's current
//! pool. Each task leaves a sum of its own, and the sums of a tile are added in the order of the rows. Where blocks end depends on the
//! design alone, so that results are the same, to the last bit, for any number of threads.

use rayon::prelude::*;

use crate::black_box::Gradient;
use crate::design::Design;
use crate::error::{Error, length};
use crate::families::Family;
use crate::line_integral::{LineIntegral, Scratch, whole_chains};
use crate::pass::{Rows, pass};
use crate::ridge::Ridge;

/// Chains in a tile.
const TILE: usize = 8;
/// What a slope costs, in entries of a design.
const SLOPE: usize = 32;
/// The least work of a block for one chain, in entries: far more than it costs to hand out a task.
const WORK_PER_BLOCK: usize = 1 << 17;
/// Entries of a block for each column, at least: the sums of all blocks together take a small part of the memory the design has.
const ENTRIES_PER_SUM: usize = 32;
/// Work for all chains below which it is not shared out. An estimate, about a hundred microseconds: not yet measured on idle cores.
const WORTH_SHARING: usize = 1 << 18;

/// The segments of all chains, or, without momenta, their points.
#[derive(Clone, Copy)]
struct Paths<'a> {
    length: f64,
    positions: &'a [f64],
    momenta: Option<&'a [f64]>,
}

impl Paths<'_> {
    /// The paths of the chains in a tile of at most TILE.
    fn tile(&self, index: usize, d: usize) -> Self {
        let range = index * TILE * d..((index + 1) * TILE * d).min(self.positions.len());
        Self {
            length: self.length,
            positions: &self.positions[range.clone()],
            momenta: self.momenta.map(|p| &p[range]),
        }
    }
}

/// How wide a tile must be for so many chains: a few lanes that nobody needs cost about as much as more, narrower tiles.
fn width(chains: usize) -> usize {
    match chains {
        1 => 1,
        2..=4 => 4,
        _ => TILE,
    }
}

impl<F: Family> Ridge<'_, F> {
    /// `values`, where asked for, has a number for each chain.
    fn run(&self, paths: Paths<'_>, out: &mut [f64], mut values: Option<&mut [f64]>, scratch: &mut Scratch) {
        let d = self.dimension();
        let chains = out.len() / d;
        let (tiles, blocks) = (chains.div_ceil(TILE), self.blocks());
        let columns = if paths.momenta.is_some() { 2 * TILE } else { TILE };
        let with_values = values.is_some();
        let shared =
            tiles * blocks > 1 && self.work() * chains >= WORTH_SHARING && rayon::current_num_threads() > 1;
        // Behind the sums of the coordinates those of the values.
        let (packed_size, sums_size) = (columns * d, TILE * (d + 1));
        let (packed, sums) = scratch.tiles(
            if shared { tiles * packed_size } else { packed_size },
            if shared { tiles * blocks * sums_size } else { sums_size },
        );
        if shared {
            packed
                .par_chunks_mut(packed_size)
                .enumerate()
                .for_each(|(tile, packed)| pack(&paths.tile(tile, d), d, packed));
            sums.par_chunks_mut(sums_size).enumerate().for_each(|(task, sums)| {
                let (tile, block) = (task / blocks, task % blocks);
                let packed = &packed[tile * packed_size..(tile + 1) * packed_size];
                self.sum(&paths.tile(tile, d), block, packed, sums, with_values);
            });
            if let Some(values) = &mut values {
                for (tile, values) in values.chunks_mut(TILE).enumerate() {
                    values.fill(0.0);
                    for block in 0..blocks {
                        add_values(&sums[(tile * blocks + block) * sums_size..][..sums_size], d, values);
                    }
                }
            }
            out.par_chunks_mut(TILE * d).enumerate().for_each(|(tile, out)| {
                out.fill(0.0);
                for block in 0..blocks {
                    unpack(&sums[(tile * blocks + block) * sums_size..][..sums_size], d, out);
                }
                self.finish(&paths.tile(tile, d), out);
            });
        } else {
            for (tile, out) in out.chunks_mut(TILE * d).enumerate() {
                let paths = paths.tile(tile, d);
                pack(&paths, d, packed);
                out.fill(0.0);
                let mut values = values.as_mut().map(|values| {
                    let last = ((tile + 1) * TILE).min(values.len());
                    &mut values[tile * TILE..last]
                });
                if let Some(values) = &mut values {
                    values.fill(0.0);
                }
                for block in 0..blocks {
                    self.sum(&paths, block, packed, sums, with_values);
                    unpack(sums, d, out);
                    if let Some(values) = &mut values {
                        add_values(sums, d, values);
                    }
                }
                self.finish(&paths, out);
            }
        }
    }

    /// What one chain costs, in entries.
    fn work(&self) -> usize {
        self.design().entries() + SLOPE * self.design().rows()
    }

    /// The number of blocks of rows.
    fn blocks(&self) -> usize {
        let wide = self.design().entries() / (ENTRIES_PER_SUM * self.dimension());
        (self.work() / WORK_PER_BLOCK).min(wide).max(1)
    }

    /// The sum over one block of rows.
    fn sum(&self, paths: &Paths<'_>, block: usize, packed: &[f64], sums: &mut [f64], with_values: bool) {
        let d = self.dimension();
        let chains = paths.positions.len() / d;
        let (rows, blocks) = (self.design().rows(), self.blocks());
        let (first, last) = (block * rows / blocks, (block + 1) * rows / blocks);
        let task = Task { first, last, chains, with_values };
        match (width(chains), paths.momenta.is_some()) {
            (1, true) => self.pass::<1, 2>(task, packed, sums),
            (1, false) => self.pass::<1, 1>(task, packed, sums),
            (4, true) => self.pass::<4, 8>(task, packed, sums),
            (4, false) => self.pass::<4, 4>(task, packed, sums),
            (_, true) => self.pass::<TILE, { 2 * TILE }>(task, packed, sums),
            (_, false) => self.pass::<TILE, TILE>(task, packed, sums),
        }
    }

    fn pass<const W: usize, const V: usize>(&self, task: Task, packed: &[f64], sums: &mut [f64]) {
        let Task { first, last, chains, with_values } = task;
        let d = self.dimension();
        let rows = match self.design() {
            Design::Dense(dense) => Rows::Dense(&dense.values()[first * d..last * d]),
            Design::Sparse(design) => Rows::Sparse { design, first },
        };
        let (sums, values) = sums.split_at_mut(d * TILE);
        let sums = &mut sums[..d * W];
        sums.fill(0.0);
        values.fill(0.0);
        pass::<F, W, V>(
            rows,
            &self.terms(first..last),
            packed[..d * V].as_chunks().0,
            chains,
            sums.as_chunks_mut().0,
            with_values.then_some(values),
        );
    }

    /// Sums over the rows to integrals: times the length, and what the quadratic part adds.
    fn finish(&self, paths: &Paths<'_>, out: &mut [f64]) {
        let d = self.dimension();
        for (chain, out) in out.chunks_exact_mut(d).enumerate() {
            let range = chain * d..(chain + 1) * d;
            let position = &paths.positions[range.clone()];
            match paths.momenta {
                Some(momenta) => {
                    out.iter_mut().for_each(|sum| *sum *= paths.length);
                    self.quadratic().add_integral(paths.length, position, &momenta[range], out);
                }
                None => self.quadratic().add_gradient(position, out),
            }
        }
    }
}

/// Rows for the chains of a tile.
#[derive(Clone, Copy)]
struct Task {
    first: usize,
    last: usize,
    chains: usize,
    with_values: bool,
}

/// The columns of a tile side by side, positions before momenta times the length.
fn pack(paths: &Paths<'_>, d: usize, packed: &mut [f64]) {
    let w = width(paths.positions.len() / d);
    let v = if paths.momenta.is_some() { 2 * w } else { w };
    let packed = &mut packed[..v * d];
    packed.fill(0.0);
    for (j, position) in paths.positions.chunks_exact(d).enumerate() {
        packed[j..].iter_mut().step_by(v).zip(position).for_each(|(into, x)| *into = *x);
    }
    if let Some(momenta) = paths.momenta {
        for (j, momentum) in momenta.chunks_exact(d).enumerate() {
            packed[w + j..]
                .iter_mut()
                .step_by(v)
                .zip(momentum)
                .for_each(|(into, p)| *into = paths.length * p);
        }
    }
}

/// Adds the sums of a tile to its chains.
fn unpack(sums: &[f64], d: usize, out: &mut [f64]) {
    let w = width(out.len() / d);
    for (j, out) in out.chunks_exact_mut(d).enumerate() {
        out.iter_mut().zip(sums[j..].iter().step_by(w)).for_each(|(out, sum)| *out += sum);
    }
}

/// Adds the values of a tile, which stand behind its sums, to those of its chains.
fn add_values(sums: &[f64], d: usize, values: &mut [f64]) {
    values.iter_mut().zip(&sums[d * TILE..]).for_each(|(value, sum)| *value += sum);
}

impl<F: Family> Ridge<'_, F> {
    /// For each chain U and ∇U at its position, in one pass over the design; U up to a constant of the prior, as [`Ridge::value`] has it
    /// (but for rounding).
    ///
    /// # Errors
    /// Lists whose lengths do not fit.
    pub fn values_and_gradients(
        &self,
        positions: &[f64],
        values: &mut [f64],
        gradients: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, positions, gradients)?;
        length("the list of values", values.len(), positions.len() / d)?;
        self.run(Paths { length: 1.0, positions, momenta: None }, gradients, Some(values), scratch);
        for (value, position) in values.iter_mut().zip(positions.chunks_exact(d)) {
            *value += self.quadratic().value(position);
        }
        Ok(())
    }
}

impl<F: Family> LineIntegral for Ridge<'_, F> {
    fn dimension(&self) -> usize {
        self.design().columns()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self,
        length: f64,
        positions: &[f64],
        momenta: &[f64],
        integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        whole_chains(self.dimension(), positions, momenta, integrals)?;
        self.run(Paths { length, positions, momenta: Some(momenta) }, integrals, None, scratch);
        Ok(())
    }

    fn gradients(
        &self,
        positions: &[f64],
        gradients: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        whole_chains(self.dimension(), positions, positions, gradients)?;
        self.run(Paths { length: 1.0, positions, momenta: None }, gradients, None, scratch);
        Ok(())
    }
}

impl<F: Family> Gradient for Ridge<'_, F> {
    fn dimension(&self) -> usize {
        self.design().columns()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), String> {
        self.gradients(point, gradient, &mut Scratch::default()).map_err(|error| error.to_string())
    }
}

//! Sums over the rows of a design for many chains, which line integrals and gradients are made of:
//! how the work is divided.
//!
//! Chains go in tiles of eight, and a few tiles together make a span, for which each row is fetched
//! once. Chains that do not fill a tile are a span of their own. Rows go in blocks; a span and a
//! block make a task, and tasks run on the threads of rayon's current pool. Each task has sums of
//! its own, and those of a chain are added in the order of the rows. Where blocks end depends on
//! the design alone, so results are the same, to the last bit, for any number of threads.

use std::ops::Range;

use rayon::prelude::*;

use crate::black_box::Gradient;
use crate::design::{Dense, Design};
use crate::error::{Error, GradientError, length};
use crate::families::Family;
use crate::line_integral::{LineIntegral, Scratch, whole_chains};
use crate::pass::{Rows as Entries, Terms, Tiles, pass};
use crate::ridge::Ridge;
use crate::rows::Rows;
use crate::stored::Stored;
use crate::thinning::Thinning;

/// Chains in a tile.
const TILE: usize = 8;
/// The cost of a slope, in entries of a design.
const SLOPE: usize = 32;
/// The least work of a block for one chain, in entries: far more than it costs to hand out a task.
const WORK_PER_BLOCK: usize = 1 << 17;
/// Entries of a block for each column, at least: the sums of all blocks together take a small part
/// of the memory the design has.
const ENTRIES_PER_SUM: usize = 32;
/// The least work for all chains that is worth several threads. An estimate, about a hundred
/// microseconds; not yet measured on idle cores.
const WORTH_SHARING: usize = 1 << 18;

/// The most tiles of a span.
const SPAN: usize = 4;
/// The most bytes of a span's columns and sums: a good part of the second-level cache, beside a
/// block of rows.
const SPAN_BYTES: usize = 160 << 10;

/// The number of blocks from which threads get about equally many.
const EVEN_BLOCKS: usize = 8;

/// The segments of some chains, or, without momenta, their points.
#[derive(Clone, Copy)]
struct Paths<'a> {
    length: f64,
    d: usize,
    positions: &'a [f64],
    momenta: Option<&'a [f64]>,
}

impl Paths<'_> {
    fn chains(&self) -> usize {
        self.positions.len() / self.d
    }

    /// The paths of the chains in a span.
    fn of(&self, span: Span) -> Self {
        let range = span.first * self.d..(span.first + span.chains) * self.d;
        Self {
            positions: &self.positions[range.clone()],
            momenta: self.momenta.map(|p| &p[range]),
            ..*self
        }
    }
}

/// Chains that a task takes together: some whole tiles, or the remainder that does not fill one.
#[derive(Clone, Copy)]
struct Span {
    first: usize,
    chains: usize,
}

impl Span {
    /// The width of its tiles: a few unused lanes cost about as much as more, narrower tiles.
    fn width(self) -> usize {
        match self.chains {
            1 => 1,
            2..=4 => 4,
            _ => TILE,
        }
    }

    fn tiles(self) -> usize {
        self.chains.div_ceil(TILE)
    }
}

/// How chains go into spans.
#[derive(Clone, Copy)]
struct Spans {
    chains: usize,
    /// Chains of a whole span.
    most: usize,
}

impl Spans {
    fn new(chains: usize, d: usize) -> Self {
        let tile = 3 * TILE * size_of::<f64>() * d;
        Self { chains, most: TILE * (SPAN_BYTES / tile).clamp(1, SPAN) }
    }

    /// Whole tiles only; the rest is a span of its own.
    fn whole(self) -> usize {
        self.chains / TILE * TILE
    }

    fn count(self) -> usize {
        self.whole().div_ceil(self.most) + usize::from(self.whole() < self.chains)
    }

    fn get(self, index: usize) -> Span {
        let first = (index * self.most).min(self.whole());
        let last =
            if first < self.whole() { (first + self.most).min(self.whole()) } else { self.chains };
        Span { first, chains: last - first }
    }

    fn all(self) -> impl Iterator<Item = Span> {
        (0..self.count()).map(move |index| self.get(index))
    }
}

/// The cost of a pass for one chain, in entries.
fn work(rows: usize, entries: usize) -> usize {
    entries + SLOPE * rows
}

/// The number of blocks into which a pass cuts the rows of a design.
pub(crate) fn blocks_of_rows(rows: usize, entries: usize, columns: usize) -> usize {
    let wide = entries / (ENTRIES_PER_SUM * columns);
    (work(rows, entries) / WORK_PER_BLOCK).min(wide).max(1)
}

/// A design and what its rows add to a potential.
pub(crate) struct Whole<'a> {
    pub(crate) design: &'a Design<'a>,
    pub(crate) terms: Terms<'a>,
    /// Who has the rows.
    pub(crate) rows: &'a Rows,
}

impl Whole<'_> {
    /// Sums over all rows at some points, one for each chain. `values` gets what the terms say:
    /// the value, and the derivatives with respect to parameters behind it.
    pub(crate) fn gradients(
        &self, positions: &[f64], out: &mut [f64], values: &mut [f64], scratch: &mut Scratch,
    ) {
        let d = self.design.columns();
        self.run(Paths { length: 1.0, d, positions, momenta: None }, out, Some(values), scratch);
    }

    /// Sums over all rows for all chains; `values`, if wanted, has the same count of numbers for
    /// each chain. Returns whether several threads shared the work.
    fn run(
        &self, paths: Paths<'_>, out: &mut [f64], mut values: Option<&mut [f64]>,
        scratch: &mut Scratch,
    ) -> bool {
        let d = self.design.columns();
        let (spans, blocks) = (Spans::new(paths.chains(), d), self.blocks());
        // All blocks are at hand, or those of a piece of the file.
        let blocks = match self.design {
            Design::Stored(stored) => stored.blocks().1,
            Design::Dense(_) | Design::Sparse(_) => blocks,
        };
        let columns = if paths.momenta.is_some() { 2 * TILE } else { TILE };
        let shared = spans.count() * blocks > 1
            && self.worth_sharing(paths.chains())
            && rayon::current_num_threads() > 1;
        let count = values.as_ref().map_or(0, |_| self.terms.values());
        let stored = matches!(self.design, Design::Stored(_));
        // Room for the widest span; the sums of the values follow those of the coordinates.
        let tiles = spans.all().map(Span::tiles).max().unwrap_or(0);
        let packed_size = tiles * columns * d;
        let sums_size = tiles * TILE * (d + self.terms.values());
        let (packed, sums) = scratch.tiles(
            if shared || stored { spans.count() * packed_size } else { packed_size },
            if shared || stored { spans.count() * blocks * sums_size } else { sums_size },
        );
        out.fill(0.0);
        if let Some(values) = &mut values {
            values.fill(0.0);
        }
        let tasks = Tasks { whole: self, paths, spans, blocks, count };
        if let Design::Stored(stored) = self.design {
            let room = Room { packed, packed_size, sums, sums_size };
            tasks.piece_by_piece(stored, shared, room, out, values.as_deref_mut());
        } else if shared {
            tasks.on_threads(packed, packed_size, sums, sums_size, out, values.as_deref_mut());
        } else {
            tasks.one_by_one(packed, sums, out, values.as_deref_mut());
        }
        self.rows.sum(out);
        if let Some(values) = values {
            self.rows.sum(values);
        }
        shared
    }

    /// The cost of one chain, in entries.
    fn work(&self) -> usize {
        work(self.design.rows(), self.design.entries())
    }

    fn worth_sharing(&self, chains: usize) -> bool {
        self.work().saturating_mul(chains) >= WORTH_SHARING
    }

    /// The number of blocks of rows.
    fn blocks(&self) -> usize {
        blocks_of_rows(self.design.rows(), self.design.entries(), self.design.columns())
    }

    /// Whether a call for this many chains runs on several threads: with fewer blocks a thread
    /// would wait for the last one. A file is read once for all chains.
    pub(crate) fn shares_out(&self, chains: usize) -> bool {
        let stored = matches!(self.design, Design::Stored(_));
        stored || (self.blocks() >= EVEN_BLOCKS && self.worth_sharing(chains))
    }
}

impl<F: Family> Ridge<'_, F> {
    /// Integrals or gradients for all chains; `values`, if wanted, has a number for each chain.
    fn run(
        &self, paths: Paths<'_>, out: &mut [f64], mut values: Option<&mut [f64]>,
        scratch: &mut Scratch,
    ) {
        let shared = self.whole().run(paths, out, values.as_deref_mut(), scratch);
        if !shared {
            return self.finish(&paths, out, values, &mut scratch.point);
        }
        let (d, chains) = (paths.d, paths.chains());
        let each = chains.div_ceil(rayon::current_num_threads()).max(1);
        let part = |index: usize| {
            let first = index * each;
            paths.of(Span { first, chains: each.min(chains - first) })
        };
        let parts = out.par_chunks_mut(each * d).enumerate();
        match values {
            Some(values) => {
                parts.zip(values.par_chunks_mut(each)).for_each(|((index, out), values)| {
                    self.finish(&part(index), out, Some(values), &mut Vec::new());
                });
            }
            None => parts.for_each(|(index, out)| {
                self.finish(&part(index), out, None, &mut Vec::new());
            }),
        }
    }

    /// Turns the sums of some chains into their integrals or gradients: multiplies by the length and
    /// adds the quadratic part.
    fn finish(
        &self, paths: &Paths<'_>, out: &mut [f64], values: Option<&mut [f64]>, room: &mut Vec<f64>,
    ) {
        match paths.momenta {
            Some(momenta) => {
                out.iter_mut().for_each(|sum| *sum *= paths.length);
                let (length, positions) = (paths.length, paths.positions);
                self.quadratic().add_integrals(length, positions, momenta, out, room);
            }
            None => self.quadratic().add_gradients(paths.positions, out, values, room),
        }
    }
}

/// The tasks of a call: each span of chains with each block of rows.
struct Tasks<'a> {
    whole: &'a Whole<'a>,
    paths: Paths<'a>,
    spans: Spans,
    blocks: usize,
    /// Values of each chain; 0 if they are not wanted.
    count: usize,
}

impl Tasks<'_> {
    /// With room for all spans and all tasks, of the given sizes.
    fn on_threads(
        &self, packed: &mut [f64], packed_size: usize, sums: &mut [f64], sums_size: usize,
        out: &mut [f64], mut values: Option<&mut [f64]>,
    ) {
        let Self { paths, spans, blocks, .. } = self;
        packed.par_chunks_mut(packed_size).enumerate().for_each(|(index, packed)| {
            pack(&paths.of(spans.get(index)), spans.get(index), packed)
        });
        sums.par_chunks_mut(sums_size).enumerate().for_each(|(task, sums)| {
            let (index, block) = (task / blocks, task % blocks);
            let packed = &packed[index * packed_size..(index + 1) * packed_size];
            self.sum(spans.get(index), block, packed, sums);
        });
        for (task, sums) in sums.chunks(sums_size).enumerate() {
            unpack(sums, spans.get(task / blocks), paths.d, out, self.count, values.as_deref_mut());
        }
    }

    /// With room for one span and one task.
    fn one_by_one(
        &self, packed: &mut [f64], sums: &mut [f64], out: &mut [f64],
        mut values: Option<&mut [f64]>,
    ) {
        for span in self.spans.all() {
            pack(&self.paths.of(span), span, packed);
            for block in 0..self.blocks {
                self.sum(span, block, packed, sums);
                unpack(sums, span, self.paths.d, out, self.count, values.as_deref_mut());
            }
        }
    }

    /// With room for all spans and the tasks of a piece of a file.
    fn piece_by_piece(
        &self, stored: &Stored, shared: bool, room: Room<'_>, out: &mut [f64],
        mut values: Option<&mut [f64]>,
    ) {
        let Self { paths, spans, .. } = self;
        let Room { packed, packed_size, sums, sums_size } = room;
        let (rows, (blocks, group)) = (stored.rows(), stored.blocks());
        for (span, packed) in spans.all().zip(packed.chunks_mut(packed_size)) {
            pack(&paths.of(span), span, packed);
        }
        let packed = &*packed;
        stored.for_pieces(|piece, entries| {
            let first = piece * group;
            let count = group.min(blocks - first);
            let before = first * rows / blocks;
            let design = Design::Dense(Dense::of_checked(paths.d, entries));
            let work = |(task, sums): (usize, &mut [f64])| {
                let (index, block) = (task / count, first + task % count);
                let packed = &packed[index * packed_size..(index + 1) * packed_size];
                let range = block * rows / blocks..(block + 1) * rows / blocks;
                self.sum_rows(spans.get(index), (&design, before), range, packed, sums);
            };
            let sums = &mut sums[..spans.count() * count * sums_size];
            if shared {
                sums.par_chunks_mut(sums_size).enumerate().for_each(work);
            } else {
                sums.chunks_mut(sums_size).enumerate().for_each(work);
            }
            for (task, sums) in sums.chunks(sums_size).enumerate() {
                let span = spans.get(task / count);
                unpack(sums, span, paths.d, out, self.count, values.as_deref_mut());
            }
        });
    }

    /// The sums over one block of rows.
    fn sum(&self, span: Span, block: usize, packed: &[f64], sums: &mut [f64]) {
        let (design, blocks) = (self.whole.design, self.blocks);
        let rows = block * design.rows() / blocks..(block + 1) * design.rows() / blocks;
        self.sum_rows(span, (design, 0), rows, packed, sums);
    }

    /// The sums over some rows of a design whose first has the given number.
    fn sum_rows(
        &self, span: Span, (design, before): (&Design<'_>, usize), rows: Range<usize>,
        packed: &[f64], sums: &mut [f64],
    ) {
        let task = Task {
            first: rows.start - before,
            last: rows.end - before,
            chains: span.chains,
            tiles: span.tiles(),
            count: self.count,
        };
        let terms = self.whole.terms.part(rows, span.first..span.first + span.chains);
        let with_momenta = self.paths.momenta.is_some();
        task.run(design, &terms, span.width(), with_momenta, packed, sums);
    }
}

/// Room for the columns of all spans and for the sums of all tasks, of each the given size.
struct Room<'a> {
    packed: &'a mut [f64],
    packed_size: usize,
    sums: &'a mut [f64],
    sums_size: usize,
}

/// Rows for the chains of a span.
#[derive(Clone, Copy)]
struct Task {
    first: usize,
    last: usize,
    chains: usize,
    tiles: usize,
    /// Values of each chain; 0 if they are not wanted.
    count: usize,
}

impl Task {
    /// Not inlined: this way passes are compiled here, and not again in every crate that names a
    /// family.
    #[inline(never)]
    fn run(
        self, design: &Design<'_>, terms: &Terms<'_>, width: usize, with_momenta: bool,
        packed: &[f64], sums: &mut [f64],
    ) {
        match (width, with_momenta) {
            (1, true) => self.pass::<1, 2>(design, terms, packed, sums),
            (1, false) => self.pass::<1, 1>(design, terms, packed, sums),
            (4, true) => self.pass::<4, 8>(design, terms, packed, sums),
            (4, false) => self.pass::<4, 4>(design, terms, packed, sums),
            (_, true) => self.pass::<TILE, { 2 * TILE }>(design, terms, packed, sums),
            (_, false) => self.pass::<TILE, TILE>(design, terms, packed, sums),
        }
    }

    fn pass<const W: usize, const V: usize>(
        self, design: &Design<'_>, terms: &Terms<'_>, packed: &[f64], sums: &mut [f64],
    ) {
        let Self { first, last, chains, tiles, count } = self;
        let d = design.columns();
        let rows = match design {
            Design::Dense(dense) => Entries::Dense(&dense.values()[first * d..last * d]),
            Design::Sparse(design) => Entries::Sparse { design, first },
            // Its pieces come as dense designs.
            Design::Stored(_) => Entries::Dense(&[]),
        };
        let (sums, values) = sums.split_at_mut(tiles * d * W);
        let values = &mut values[..tiles * W * count];
        sums.fill(0.0);
        values.fill(0.0);
        let tiles = Tiles {
            d,
            packed: packed[..tiles * d * V].as_chunks().0,
            chains,
            sums: sums.as_chunks_mut().0,
            values: (count > 0).then_some(values),
        };
        pass::<W, V>(rows, terms, tiles);
    }
}

/// The columns of a span, tile after tile; in a tile side by side, positions before momenta times
/// the length.
fn pack(paths: &Paths<'_>, span: Span, packed: &mut [f64]) {
    let (d, w) = (paths.d, span.width());
    let v = if paths.momenta.is_some() { 2 * w } else { w };
    if span.chains < w {
        packed[..v * d].fill(0.0);
    }
    for part in parts(d) {
        let place = |chain: usize| chain / w * v * d + part.start * v + chain % w;
        for (chain, position) in paths.positions.chunks_exact(d).enumerate() {
            let into = packed[place(chain)..].iter_mut().step_by(v);
            into.zip(&position[part.clone()]).for_each(|(into, x)| *into = *x);
        }
        for (chain, momentum) in paths.momenta.unwrap_or_default().chunks_exact(d).enumerate() {
            let into = packed[place(chain) + w..].iter_mut().step_by(v);
            into.zip(&momentum[part.clone()]).for_each(|(into, p)| *into = paths.length * p);
        }
    }
}

/// Adds the sums of a span to its chains, and the values that follow them, `count` for each chain.
fn unpack(
    sums: &[f64], span: Span, d: usize, out: &mut [f64], count: usize, values: Option<&mut [f64]>,
) {
    let w = span.width();
    let chains = span.first..span.first + span.chains;
    for part in parts(d) {
        for (chain, out) in out[chains.start * d..chains.end * d].chunks_exact_mut(d).enumerate() {
            let sums = sums[chain / w * w * d + part.start * w + chain % w..].iter().step_by(w);
            out[part.clone()].iter_mut().zip(sums).for_each(|(out, sum)| *out += sum);
        }
    }
    if let Some(values) = values {
        let sums = &sums[span.tiles() * w * d..];
        let values = &mut values[chains.start * count..chains.end * count];
        values.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
    }
}

/// Columns that are moved for all chains before the next ones: neighbours in a tile are far apart
/// in the lists of chains, and a part of a tile stays in the first-level cache while one chain
/// after the other is copied.
const MOVED: usize = 128;

/// Ranges of columns that are moved together.
fn parts(d: usize) -> impl Iterator<Item = std::ops::Range<usize>> {
    (0..d).step_by(MOVED).map(move |from| from..(from + MOVED).min(d))
}

impl<F: Family> LineIntegral for Ridge<'_, F> {
    fn dimension(&self) -> usize {
        self.design().columns()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        whole_chains(self.dimension(), positions, momenta, integrals)?;
        let d = self.dimension();
        self.run(Paths { length, d, positions, momenta: Some(momenta) }, integrals, None, scratch);
        self.design().intact()
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        whole_chains(self.dimension(), positions, positions, gradients)?;
        let d = self.dimension();
        self.run(Paths { length: 1.0, d, positions, momenta: None }, gradients, None, scratch);
        self.design().intact()
    }

    /// In one pass over the design. U is up to a constant of the prior, as [`Ridge::value`] has it
    /// (but for rounding).
    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, positions, gradients)?;
        length("the list of values", values.len(), positions.len() / d)?;
        self.run(
            Paths { length: 1.0, d, positions, momenta: None },
            gradients,
            Some(values),
            scratch,
        );
        self.design().intact()
    }

    fn stiff(&self) -> usize {
        self.stiff_rows().count()
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.stiff_rows().add(self.family(), eta, per_l, z, p);
    }

    fn thinning(&self) -> Result<&dyn Thinning, Error> {
        Ok(self)
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.whole().shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.rows().is_shared()
    }
}

impl<F: Family> Gradient for Ridge<'_, F> {
    fn dimension(&self) -> usize {
        self.design().columns()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        Ok(self.gradients(point, gradient, &mut Scratch::default()).map_err(|e| e.to_string())?)
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        let mut value = [0.0];
        let done = self.values_and_gradients(point, &mut value, gradient, &mut Scratch::default());
        done.map_err(|error| error.to_string())?;
        Ok(Some(value[0]))
    }
}

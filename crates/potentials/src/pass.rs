//! One pass over a design for some tiles of chains: both products of a line integral fused, so that
//! each row is fetched once.
//!
//! For each row a and each chain of the tile: s = a·θ and t = a·p, a coefficient c from them, and c
//! a added to the chain's sum. A tile is W chains wide; its columns are interleaved, V = 2W of
//! them (θ and p) or V = W (θ alone, for gradients), so that each entry of a row is multiplied with
//! V adjacent numbers. Rows go in blocks: products of all, then the family's slopes for all, then
//! the sums, while the block is still in the cache.
//!
//! Every chain's numbers go through the same operations in the same order whatever W is, which
//! makes its result independent, to the last bit, of how chains are put into tiles. Where fused
//! multiply-add exists it is used throughout, elsewhere nowhere.

use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use crate::design::Sparse;
use crate::elementary::fma;
use crate::families::{Family, Observation};
use crate::likelihoods::{Block, Likelihood};
use crate::narrow;

/// The most rows of a block; a multiple of all the groups of rows below.
const BLOCK: usize = 96;
/// Entries of a dense block: a good part of the second-level cache, for they are read twice.
const BLOCK_ENTRIES: usize = 24_576;
/// Numbers of the tile that a block of rows uses before it goes on to the next part: half of the
/// first-level cache.
const TILE_PART: usize = 2048;
/// The fewest columns for which transposing rows pays for a single chain.
#[cfg(target_arch = "x86_64")]
const NARROW_FROM: usize = 16;
/// Rows that share one update of the sums: their coefficients stay in registers.
const ROWS_PER_UPDATE: usize = 6;

/// A range of rows of a design, as entries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// Whole rows, one after the other.
    Dense(&'a [f64]),
    /// Rows from `first` on of a sparse design.
    Sparse {
        /// The design.
        design: &'a Sparse,
        /// The first row.
        first: usize,
    },
}

/// What turns a row's products into coefficients, for the same rows.
///
/// The family is called once per block of rows, so it can be a trait object: passes are long code,
/// and there are many of them to compile.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Terms<'a> {
    /// The law of the responses.
    pub(crate) law: Law<'a>,
    /// The observations.
    pub(crate) observations: &'a [Observation],
    /// Empty where all are 1.
    pub(crate) weights: &'a [f64],
    /// Empty where all are 0.
    pub(crate) offsets: &'a [f64],
}

/// The law of responses given their linear predictors.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Law<'a> {
    /// The same for all chains.
    Family(&'a dyn Family),
    /// With parameters, for each chain its own, one chain after the other.
    Likelihood {
        /// The likelihood, which has one predictor.
        likelihood: &'a dyn Likelihood,
        /// The parameters of all chains.
        parameters: &'a [f64],
    },
}

/// Tiles of W chains each, one after the other.
#[derive(Debug)]
pub(crate) struct Tiles<'a, const W: usize, const V: usize> {
    /// The dimension d.
    pub(crate) d: usize,
    /// Their columns: d times V numbers for each tile.
    pub(crate) packed: &'a [[f64; V]],
    /// The number of chains; the last tile may have unused lanes.
    pub(crate) chains: usize,
    /// The sums: d times W numbers for each tile.
    pub(crate) sums: &'a mut [[f64; W]],
    /// If values are wanted, U at the points of tiles without momenta: [`Terms::values`] numbers
    /// for each chain.
    pub(crate) values: Option<&'a mut [f64]>,
}

/// Adds the contributions of the rows to some tiles.
pub(crate) fn pass<const W: usize, const V: usize>(
    rows: Rows<'_>, terms: &Terms<'_>, tiles: Tiles<'_, W, V>,
) {
    let arch = Arch::new();
    if matches!(arch, Arch::Scalar) {
        arch.dispatch(Pass::<W, V, false> { rows, terms, tiles });
    } else {
        arch.dispatch(Pass::<W, V, true> { rows, terms, tiles });
    }
}

struct Pass<'a, const W: usize, const V: usize, const FUSED: bool> {
    rows: Rows<'a>,
    terms: &'a Terms<'a>,
    tiles: Tiles<'a, W, V>,
}

impl<const W: usize, const V: usize, const FUSED: bool> WithSimd for Pass<'_, W, V, FUSED> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, terms, tiles } = self;
        let Tiles { d, packed, chains, sums, mut values } = tiles;
        let (mut products, mut coefficients) =
            (Aligned([[0.0; V]; BLOCK]), Aligned([[0.0; W]; BLOCK]));
        let step = match rows {
            Rows::Dense(_) => (BLOCK_ENTRIES / d / 12 * 12).clamp(12, BLOCK),
            Rows::Sparse { .. } => BLOCK,
        };
        let mut from = 0;
        while from < terms.observations.len() {
            let to = (from + step).min(terms.observations.len());
            let (products, coefficients) =
                (&mut products.0[..to - from], &mut coefficients.0[..to - from]);
            for (tile, (packed, sums)) in
                packed.chunks_exact(d).zip(sums.chunks_exact_mut(d)).enumerate()
            {
                let wanted = (chains - tile * W).min(W);
                let count = terms.values() * W;
                let values =
                    values.as_mut().map(|values| &mut values[tile * count..(tile + 1) * count]);
                match rows {
                    Rows::Dense(values) => {
                        products.fill([0.0; V]);
                        dense_products::<S, V, FUSED>(
                            simd,
                            &values[from * d..to * d],
                            packed,
                            products,
                        )
                    }
                    Rows::Sparse { design, first } => {
                        for (row, product) in products.iter_mut().enumerate() {
                            *product = sparse_product::<S, V, FUSED>(
                                simd,
                                design.row(first + from + row),
                                packed,
                            );
                        }
                    }
                }
                terms.coefficients(from, tile * W, wanted, products, coefficients, values);
                match rows {
                    Rows::Dense(values) => dense_sums::<S, W, FUSED>(
                        simd,
                        &values[from * d..to * d],
                        coefficients,
                        sums,
                    ),
                    Rows::Sparse { design, first } => {
                        for (row, c) in coefficients.iter().enumerate() {
                            let (indices, values) = design.row(first + from + row);
                            for (&k, &a) in indices.iter().zip(values) {
                                add::<S, W, FUSED>(simd, a, c, &mut sums[k as usize]);
                            }
                        }
                    }
                }
            }
            from = to;
        }
    }
}

/// Aligned to a cache line.
#[repr(align(64))]
struct Aligned<T>(T);

impl<'a> Terms<'a> {
    /// The numbers that a chain has beside its sums: U, and its derivatives with respect to the
    /// parameters.
    pub(crate) fn values(&self) -> usize {
        match self.law {
            Law::Family(_) => 1,
            Law::Likelihood { likelihood, .. } => 1 + likelihood.parameters(),
        }
    }

    /// The terms of some rows, for some chains.
    pub(crate) fn part(&self, rows: Range<usize>, chains: Range<usize>) -> Self {
        let law = match self.law {
            Law::Family(_) => self.law,
            Law::Likelihood { likelihood, parameters } => {
                let a = likelihood.parameters();
                let parameters = &parameters[a * chains.start..a * chains.end];
                Law::Likelihood { likelihood, parameters }
            }
        };
        Self {
            law,
            observations: &self.observations[rows.clone()],
            weights: self.weights.get(rows.clone()).unwrap_or_default(),
            offsets: self.offsets.get(rows).unwrap_or_default(),
        }
    }

    /// Weighted slopes of the rows from `from` on, and their values added to those of the chains,
    /// the first of which is number `first`.
    #[inline(always)]
    fn coefficients<const W: usize, const V: usize>(
        &self, from: usize, first: usize, chains: usize, products: &[[f64; V]],
        coefficients: &mut [[f64; W]], values: Option<&mut [f64]>,
    ) {
        match self.law {
            Law::Family(family) if W > 1 && chains == W => {
                self.all_chains(family, from, products, coefficients, values)
            }
            Law::Family(family) => {
                self.chain_by_chain(family, from, chains, products, coefficients, values)
            }
            Law::Likelihood { likelihood, parameters } => {
                let a = likelihood.parameters();
                let parameters = &parameters[a * first..a * (first + chains)];
                let law = (likelihood, parameters);
                self.with_parameters(law, from, chains, products, coefficients, values)
            }
        }
    }

    /// With parameters of each chain. Such laws have no line integrals: `products` are positions.
    fn with_parameters<const W: usize, const V: usize>(
        &self, (likelihood, parameters): (&dyn Likelihood, &[f64]), from: usize, chains: usize,
        products: &[[f64; V]], coefficients: &mut [[f64; W]], mut values: Option<&mut [f64]>,
    ) {
        let (rows, a) = (products.len(), likelihood.parameters());
        let range = from..from + rows;
        let (mut s, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK]);
        let (s, slopes) = (&mut s[..rows], &mut slopes[..rows]);
        let y = &self.observations[range.clone()];
        let weights = self.weights.get(range.clone()).unwrap_or_default();
        for chain in 0..chains {
            s.iter_mut().zip(products).for_each(|(s, product)| *s = product[chain]);
            if let Some(offsets) = self.offsets.get(range.clone()) {
                s.iter_mut().zip(offsets).for_each(|(s, offset)| *s += offset);
            }
            let psi = &parameters[a * chain..a * (chain + 1)];
            if let Some(values) = &mut values
                && let [value, by_parameter @ ..] = &mut values[(1 + a) * chain..][..1 + a]
            {
                let block = Block { s, y, weights };
                *value += likelihood.evaluate(psi, block, slopes, by_parameter);
            }
            coefficients.iter_mut().zip(&*slopes).for_each(|(c, slope)| c[chain] = *slope);
        }
    }

    /// Of a whole tile: a list has some rows, and of each row all chains, side by side as products
    /// and coefficients have them.
    #[inline(always)]
    fn all_chains<const W: usize, const V: usize>(
        &self, family: &dyn Family, from: usize, products: &[[f64; V]],
        coefficients: &mut [[f64; W]], mut values: Option<&mut [f64]>,
    ) {
        let (mut s, mut t, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let mut y = [Observation { response: 0.0, trials: 1.0 }; BLOCK];
        let mut sums = [0.0; W];
        let lists = products.chunks(BLOCK / W).zip(coefficients.chunks_mut(BLOCK / W));
        for (list, (products, coefficients)) in lists.enumerate() {
            let (first, entries) = (from + list * (BLOCK / W), products.len() * W);
            let (s, t, slopes) = (&mut s[..entries], &mut t[..entries], &mut slopes[..entries]);
            let y = &mut y[..entries];
            let observed = &self.observations[first..first + products.len()];
            y.as_chunks_mut::<W>()
                .0
                .iter_mut()
                .zip(observed)
                .for_each(|(y, of_row)| *y = [*of_row; W]);
            for (s, product) in s.as_chunks_mut::<W>().0.iter_mut().zip(products) {
                s.copy_from_slice(&product[..W]);
            }
            if !self.offsets.is_empty() {
                for (s, offset) in s.as_chunks_mut::<W>().0.iter_mut().zip(&self.offsets[first..]) {
                    s.iter_mut().for_each(|s| *s += offset);
                }
            }
            if V > W {
                for (t, product) in t.as_chunks_mut::<W>().0.iter_mut().zip(products) {
                    t.copy_from_slice(&product[W..]);
                }
                family.mean_slopes(s, t, y, slopes);
            } else {
                if values.is_some() {
                    family.values(s, y, slopes);
                    for (row, values) in slopes.as_chunks::<W>().0.iter().enumerate() {
                        let weight = self.weights.get(first + row);
                        for (sum, value) in sums.iter_mut().zip(values) {
                            *sum += weight.map_or(*value, |weight| weight * value);
                        }
                    }
                }
                family.slopes(s, y, slopes);
            }
            coefficients
                .iter_mut()
                .zip(slopes.as_chunks::<W>().0)
                .for_each(|(c, slopes)| *c = *slopes);
            if !self.weights.is_empty() {
                for (c, weight) in coefficients.iter_mut().zip(&self.weights[first..]) {
                    c.iter_mut().for_each(|c| *c *= weight);
                }
            }
        }
        if let Some(values) = &mut values {
            values.iter_mut().zip(sums).for_each(|(value, sum)| *value += sum);
        }
    }

    /// Of a tile that is not full, or of one chain.
    fn chain_by_chain<const W: usize, const V: usize>(
        &self, family: &dyn Family, from: usize, chains: usize, products: &[[f64; V]],
        coefficients: &mut [[f64; W]], mut values: Option<&mut [f64]>,
    ) {
        let rows = products.len();
        let range = from..from + rows;
        let (mut s, mut t, mut slopes) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        let (s, t, slopes) = (&mut s[..rows], &mut t[..rows], &mut slopes[..rows]);
        let y = &self.observations[range.clone()];
        for chain in 0..chains {
            s.iter_mut().zip(products).for_each(|(s, product)| *s = product[chain]);
            if !self.offsets.is_empty() {
                s.iter_mut().zip(&self.offsets[range.clone()]).for_each(|(s, offset)| *s += offset);
            }
            if V > W {
                t.iter_mut().zip(products).for_each(|(t, product)| *t = product[chain + W]);
                family.mean_slopes(s, t, y, slopes);
            } else {
                if let Some(values) = &mut values {
                    family.values(s, y, slopes);
                    values[chain] += match self.weights.get(range.clone()) {
                        Some(weights) => {
                            slopes.iter().zip(weights).map(|(value, weight)| weight * value).sum()
                        }
                        None => slopes.iter().sum::<f64>(),
                    };
                }
                family.slopes(s, y, slopes);
            }
            if !self.weights.is_empty() {
                slopes
                    .iter_mut()
                    .zip(&self.weights[range.clone()])
                    .for_each(|(slope, weight)| *slope *= weight);
            }
            coefficients.iter_mut().zip(&*slopes).for_each(|(c, slope)| c[chain] = *slope);
        }
    }
}

/// The products of a block of rows with all columns of the tile, part by part of the tile.
#[inline(always)]
fn dense_products<S: Simd, const V: usize, const FUSED: bool>(
    simd: S, values: &[f64], packed: &[[f64; V]], products: &mut [[f64; V]],
) {
    let d = packed.len();
    let part = TILE_PART / V;
    for (index, packed) in packed.chunks(part).enumerate() {
        let columns = index * part..index * part + packed.len();
        // Eight sums side by side hide the latency of an addition, and there are registers for
        // them.
        let done = match V {
            16.. => groups::<S, V, 3, FUSED>(simd, values, d, columns.clone(), packed, products),
            8..16 => groups::<S, V, 4, FUSED>(simd, values, d, columns.clone(), packed, products),
            _ => match Arch::new() {
                #[cfg(target_arch = "x86_64")]
                Arch::V3(v3) if V == 2 && packed.len() >= NARROW_FROM => {
                    narrow::products::<V, 2>(v3, values, d, columns.clone(), packed, products)
                }
                #[cfg(target_arch = "x86_64")]
                Arch::V3(v3) if V == 1 && packed.len() >= NARROW_FROM => {
                    narrow::products::<V, 4>(v3, values, d, columns.clone(), packed, products)
                }
                _ => groups::<S, V, 8, FUSED>(simd, values, d, columns.clone(), packed, products),
            },
        };
        groups::<S, V, 1, FUSED>(
            simd,
            &values[done * d..],
            d,
            columns,
            packed,
            &mut products[done..],
        );
    }
}

/// As many whole groups of G rows as there are; returns how many rows that is.
#[inline(always)]
fn groups<S: Simd, const V: usize, const G: usize, const FUSED: bool>(
    simd: S, values: &[f64], d: usize, columns: Range<usize>, packed: &[[f64; V]],
    products: &mut [[f64; V]],
) -> usize {
    let groups = products.as_chunks_mut::<G>().0;
    for (group, values) in groups.iter_mut().zip(values.chunks_exact(G * d)) {
        let rows: [&[f64]; G] =
            std::array::from_fn(|g| &values[g * d..][columns.clone()][..packed.len()]);
        if FUSED && V.is_multiple_of(S::F64_LANES) {
            // In vectors by name: left to itself the compiler keeps these sums apart.
            let mut sums = [[simd.splat_f64s(0.0); V]; G];
            for g in 0..G {
                let (from, _) = S::as_simd_f64s(&group[g]);
                sums[g].iter_mut().zip(from).for_each(|(sum, from)| *sum = *from);
            }
            for (k, x) in packed.iter().enumerate() {
                let (x, _) = S::as_simd_f64s(x);
                let a: [S::f64s; G] = std::array::from_fn(|g| simd.splat_f64s(rows[g][k]));
                for (v, x) in x.iter().enumerate() {
                    for g in 0..G {
                        sums[g][v] = simd.mul_add_f64s(a[g], *x, sums[g][v]);
                    }
                }
            }
            for g in 0..G {
                let (into, _) = S::as_mut_simd_f64s(&mut group[g]);
                into.iter_mut().zip(&sums[g]).for_each(|(into, sum)| *into = *sum);
            }
        } else {
            let mut sums = *group;
            for (k, x) in packed.iter().enumerate() {
                for g in 0..G {
                    for j in 0..V {
                        sums[g][j] = fma::<FUSED>(rows[g][k], x[j], sums[g][j]);
                    }
                }
            }
            *group = sums;
        }
    }
    groups.len() * G
}

/// Adds each row of a block times its coefficients to the sums, part by part of the sums.
#[inline(always)]
fn dense_sums<S: Simd, const W: usize, const FUSED: bool>(
    simd: S, values: &[f64], coefficients: &[[f64; W]], sums: &mut [[f64; W]],
) {
    let d = sums.len();
    let part = TILE_PART / W;
    let (groups, rest) = coefficients.as_chunks::<ROWS_PER_UPDATE>();
    for (index, sums) in sums.chunks_mut(part).enumerate() {
        let columns = index * part..index * part + sums.len();
        let (grouped, left) = values.split_at(groups.len() * ROWS_PER_UPDATE * d);
        for (group, values) in groups.iter().zip(grouped.chunks_exact(ROWS_PER_UPDATE * d)) {
            // Zipped rather than indexed: a check of every index costs a fifth of the loop.
            let row = |r: usize| &values[r * d..][columns.clone()];
            let c = vectors::<S, W, ROWS_PER_UPDATE>(simd, group);
            let rows = row(0).iter().zip(row(1)).zip(row(2)).zip(row(3)).zip(row(4)).zip(row(5));
            for (sum, (((((a, b), e), f), g), h)) in sums.iter_mut().zip(rows) {
                update::<S, W, ROWS_PER_UPDATE, FUSED>(
                    simd,
                    &[*a, *b, *e, *f, *g, *h],
                    group,
                    &c,
                    sum,
                );
            }
        }
        for (group, values) in rest.iter().zip(left.chunks_exact(d)) {
            for (sum, a) in sums.iter_mut().zip(&values[columns.clone()]) {
                add::<S, W, FUSED>(simd, *a, group, sum);
            }
        }
    }
}

/// Coefficients as vectors, where W is a multiple of their width.
#[inline(always)]
fn vectors<S: Simd, const W: usize, const R: usize>(
    simd: S, coefficients: &[[f64; W]; R],
) -> [[S::f64s; W]; R] {
    let mut c = [[simd.splat_f64s(0.0); W]; R];
    for r in 0..R {
        let (from, _) = S::as_simd_f64s(&coefficients[r]);
        c[r].iter_mut().zip(from).for_each(|(c, from)| *c = *from);
    }
    c
}

/// Adds entries of one column in R rows times their coefficients to the column's sums.
#[inline(always)]
fn update<S: Simd, const W: usize, const R: usize, const FUSED: bool>(
    simd: S, entries: &[f64; R], coefficients: &[[f64; W]; R], vectors: &[[S::f64s; W]; R],
    sum: &mut [f64; W],
) {
    if FUSED && W.is_multiple_of(S::F64_LANES) {
        let (sum, _) = S::as_mut_simd_f64s(sum);
        let mut a = [simd.splat_f64s(0.0); R];
        for r in 0..R {
            a[r] = simd.splat_f64s(entries[r]);
        }
        for (j, sum) in sum.iter_mut().enumerate() {
            let mut total = *sum;
            for r in 0..R {
                total = simd.mul_add_f64s(a[r], vectors[r][j], total);
            }
            *sum = total;
        }
    } else {
        let mut total = *sum;
        for r in 0..R {
            for j in 0..W {
                total[j] = fma::<FUSED>(entries[r], coefficients[r][j], total[j]);
            }
        }
        *sum = total;
    }
}

/// The products of a sparse row with all columns of the tile.
#[inline(always)]
fn sparse_product<S: Simd, const V: usize, const FUSED: bool>(
    simd: S, (indices, values): (&[u32], &[f64]), packed: &[[f64; V]],
) -> [f64; V] {
    let mut product = [0.0; V];
    if FUSED && V.is_multiple_of(S::F64_LANES) {
        let mut sums = [simd.splat_f64s(0.0); V];
        for (&k, &a) in indices.iter().zip(values) {
            let a = simd.splat_f64s(a);
            let (x, _) = S::as_simd_f64s(&packed[k as usize]);
            sums.iter_mut().zip(x).for_each(|(sum, x)| *sum = simd.mul_add_f64s(a, *x, *sum));
        }
        let (into, _) = S::as_mut_simd_f64s(&mut product);
        into.iter_mut().zip(&sums).for_each(|(into, sum)| *into = *sum);
    } else {
        for (&k, &a) in indices.iter().zip(values) {
            for j in 0..V {
                product[j] = fma::<FUSED>(a, packed[k as usize][j], product[j]);
            }
        }
    }
    product
}

/// sum += a x, entry by entry.
#[inline(always)]
fn add<S: Simd, const N: usize, const FUSED: bool>(
    simd: S, a: f64, x: &[f64; N], sum: &mut [f64; N],
) {
    if FUSED && N.is_multiple_of(S::F64_LANES) {
        let ((x, _), (sum, _)) = (S::as_simd_f64s(x), S::as_mut_simd_f64s(sum));
        let a = simd.splat_f64s(a);
        sum.iter_mut().zip(x).for_each(|(sum, x)| *sum = simd.mul_add_f64s(a, *x, *sum));
    } else {
        for j in 0..N {
            sum[j] = fma::<FUSED>(a, x[j], sum[j]);
        }
    }
}

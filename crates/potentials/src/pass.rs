//! One pass over a design for a tile of chains: both products of a line integral fused, so that each row is fetched once.
//!
//! For each row a and each chain of the tile: s = a·θ and t = a·p, a coefficient c from them, and c a added to the chain's sum. A
//! tile is W chains wide; its columns stand interleaved, V = 2W of them (θ and p) or V = W (θ alone, for gradients), so that a row
//! meets V adjacent numbers for each of its entries. Rows go in blocks: products of all, then the family's slopes for all, then the
//! sums, while the block is still in the cache.
//!
//! Every chain's numbers go through the same operations in the same order whatever W is, which makes its result independent, to
//! the last bit, of how chains are put into tiles. Where fused multiply-add exists it is used throughout, elsewhere nowhere.

use pulp::{Arch, Simd, WithSimd};

use crate::design::Sparse;
use crate::elementary::fma;
use crate::families::{Family, Observation};

/// The most rows of a block; a multiple of all the groups of rows below.
const BLOCK: usize = 96;
/// Entries of a dense block: a good part of the second-level cache, for they are read twice.
const BLOCK_ENTRIES: usize = 24_576;
/// Numbers of the tile that a block of rows meets before it goes on to the next: half of the first-level cache.
const TILE_PART: usize = 2048;
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

/// What becomes of a row's products, for the same rows.
#[derive(Debug)]
pub(crate) struct Terms<'a, F> {
    /// The family.
    pub(crate) family: &'a F,
    /// What was observed.
    pub(crate) observations: &'a [Observation],
    /// Empty where all are 1.
    pub(crate) weights: &'a [f64],
    /// Empty where all are 0.
    pub(crate) offsets: &'a [f64],
}

/// Adds to `sums` (W numbers for each coordinate) what the rows contribute for the tile `packed` (V numbers for each), of whose W chains
/// the first `chains` are wanted; and to `values`, where they are asked for, the rows' part of U at the points of a tile without momenta.
pub(crate) fn pass<F: Family, const W: usize, const V: usize>(
    rows: Rows<'_>,
    terms: &Terms<'_, F>,
    packed: &[[f64; V]],
    chains: usize,
    sums: &mut [[f64; W]],
    values: Option<&mut [f64]>,
) {
    let arch = Arch::new();
    if matches!(arch, Arch::Scalar) {
        arch.dispatch(Pass::<F, W, V, false> { rows, terms, packed, chains, sums, values });
    } else {
        arch.dispatch(Pass::<F, W, V, true> { rows, terms, packed, chains, sums, values });
    }
}

struct Pass<'a, F, const W: usize, const V: usize, const FUSED: bool> {
    rows: Rows<'a>,
    terms: &'a Terms<'a, F>,
    packed: &'a [[f64; V]],
    chains: usize,
    sums: &'a mut [[f64; W]],
    values: Option<&'a mut [f64]>,
}

impl<F: Family, const W: usize, const V: usize, const FUSED: bool> WithSimd for Pass<'_, F, W, V, FUSED> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { rows, terms, packed, chains, sums, mut values } = self;
        let (mut products, mut coefficients) = (Aligned([[0.0; V]; BLOCK]), Aligned([[0.0; W]; BLOCK]));
        let d = packed.len();
        let step = match rows {
            Rows::Dense(_) => (BLOCK_ENTRIES / d / 12 * 12).clamp(12, BLOCK),
            Rows::Sparse { .. } => BLOCK,
        };
        let mut from = 0;
        while from < terms.observations.len() {
            let to = (from + step).min(terms.observations.len());
            let (products, coefficients) = (&mut products.0[..to - from], &mut coefficients.0[..to - from]);
            match rows {
                Rows::Dense(values) => {
                    products.fill([0.0; V]);
                    dense_products::<S, V, FUSED>(simd, &values[from * d..to * d], packed, products)
                }
                Rows::Sparse { design, first } => {
                    for (row, product) in products.iter_mut().enumerate() {
                        *product =
                            sparse_product::<S, V, FUSED>(simd, design.row(first + from + row), packed);
                    }
                }
            }
            terms.coefficients(from, chains, products, coefficients, values.as_deref_mut());
            match rows {
                Rows::Dense(values) => {
                    dense_sums::<S, W, FUSED>(simd, &values[from * d..to * d], coefficients, sums)
                }
                Rows::Sparse { design, first } => {
                    for (row, c) in coefficients.iter().enumerate() {
                        let (indices, values) = design.row(first + from + row);
                        for (&k, &a) in indices.iter().zip(values) {
                            add::<S, W, FUSED>(simd, a, c, &mut sums[k]);
                        }
                    }
                }
            }
            from = to;
        }
    }
}

/// From the start of a cache line on.
#[repr(align(64))]
struct Aligned<T>(T);

impl<F: Family> Terms<'_, F> {
    /// Weighted slopes of the rows from `from` on, chain by chain, and their values added to those of the chains.
    fn coefficients<const W: usize, const V: usize>(
        &self,
        from: usize,
        chains: usize,
        products: &[[f64; V]],
        coefficients: &mut [[f64; W]],
        mut values: Option<&mut [f64]>,
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
                self.family.mean_slopes(s, t, y, slopes);
            } else {
                if let Some(values) = &mut values {
                    self.family.values(s, y, slopes);
                    values[chain] += match self.weights.get(range.clone()) {
                        Some(weights) => {
                            slopes.iter().zip(weights).map(|(value, weight)| weight * value).sum()
                        }
                        None => slopes.iter().sum::<f64>(),
                    };
                }
                self.family.slopes(s, y, slopes);
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
    simd: S,
    values: &[f64],
    packed: &[[f64; V]],
    products: &mut [[f64; V]],
) {
    let d = packed.len();
    let part = TILE_PART / V;
    for (index, packed) in packed.chunks(part).enumerate() {
        let columns = index * part..index * part + packed.len();
        // Eight sums side by side hide the latency of an addition, and there are registers for them.
        let done = match V {
            16.. => groups::<S, V, 3, FUSED>(simd, values, d, columns.clone(), packed, products),
            8..16 => groups::<S, V, 4, FUSED>(simd, values, d, columns.clone(), packed, products),
            _ => groups::<S, V, 8, FUSED>(simd, values, d, columns.clone(), packed, products),
        };
        groups::<S, V, 1, FUSED>(simd, &values[done * d..], d, columns, packed, &mut products[done..]);
    }
}

/// As many whole groups of G rows as there are; returns how many rows that is.
#[inline(always)]
fn groups<S: Simd, const V: usize, const G: usize, const FUSED: bool>(
    simd: S,
    values: &[f64],
    d: usize,
    columns: std::ops::Range<usize>,
    packed: &[[f64; V]],
    products: &mut [[f64; V]],
) -> usize {
    let groups = products.as_chunks_mut::<G>().0;
    for (group, values) in groups.iter_mut().zip(values.chunks_exact(G * d)) {
        let rows: [&[f64]; G] = std::array::from_fn(|g| &values[g * d..][columns.clone()][..packed.len()]);
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
    simd: S,
    values: &[f64],
    coefficients: &[[f64; W]],
    sums: &mut [[f64; W]],
) {
    let d = sums.len();
    let part = TILE_PART / W;
    let (groups, rest) = coefficients.as_chunks::<ROWS_PER_UPDATE>();
    for (index, sums) in sums.chunks_mut(part).enumerate() {
        let columns = index * part..index * part + sums.len();
        let (grouped, left) = values.split_at(groups.len() * ROWS_PER_UPDATE * d);
        for (group, values) in groups.iter().zip(grouped.chunks_exact(ROWS_PER_UPDATE * d)) {
            update::<S, W, ROWS_PER_UPDATE, FUSED>(simd, values, d, columns.clone(), group, sums);
        }
        for (c, values) in rest.iter().zip(left.chunks_exact(d)) {
            update::<S, W, 1, FUSED>(simd, values, d, columns.clone(), &[*c], sums);
        }
    }
}

/// Adds R rows times their coefficients to the sums of some columns.
#[inline(always)]
fn update<S: Simd, const W: usize, const R: usize, const FUSED: bool>(
    simd: S,
    values: &[f64],
    d: usize,
    columns: std::ops::Range<usize>,
    coefficients: &[[f64; W]; R],
    sums: &mut [[f64; W]],
) {
    let rows: [&[f64]; R] = std::array::from_fn(|r| &values[r * d..][columns.clone()][..sums.len()]);
    if FUSED && W.is_multiple_of(S::F64_LANES) {
        let mut c = [[simd.splat_f64s(0.0); W]; R];
        for r in 0..R {
            let (from, _) = S::as_simd_f64s(&coefficients[r]);
            c[r].iter_mut().zip(from).for_each(|(c, from)| *c = *from);
        }
        for (k, sum) in sums.iter_mut().enumerate() {
            let (sum, _) = S::as_mut_simd_f64s(sum);
            let a: [S::f64s; R] = std::array::from_fn(|r| simd.splat_f64s(rows[r][k]));
            for (j, sum) in sum.iter_mut().enumerate() {
                let mut total = *sum;
                for r in 0..R {
                    total = simd.mul_add_f64s(a[r], c[r][j], total);
                }
                *sum = total;
            }
        }
    } else {
        for (k, sum) in sums.iter_mut().enumerate() {
            for r in 0..R {
                for j in 0..W {
                    sum[j] = fma::<FUSED>(rows[r][k], coefficients[r][j], sum[j]);
                }
            }
        }
    }
}

/// The products of a sparse row with all columns of the tile.
#[inline(always)]
fn sparse_product<S: Simd, const V: usize, const FUSED: bool>(
    simd: S,
    (indices, values): (&[usize], &[f64]),
    packed: &[[f64; V]],
) -> [f64; V] {
    let mut product = [0.0; V];
    if FUSED && V.is_multiple_of(S::F64_LANES) {
        let mut sums = [simd.splat_f64s(0.0); V];
        for (&k, &a) in indices.iter().zip(values) {
            let a = simd.splat_f64s(a);
            let (x, _) = S::as_simd_f64s(&packed[k]);
            sums.iter_mut().zip(x).for_each(|(sum, x)| *sum = simd.mul_add_f64s(a, *x, *sum));
        }
        let (into, _) = S::as_mut_simd_f64s(&mut product);
        into.iter_mut().zip(&sums).for_each(|(into, sum)| *into = *sum);
    } else {
        for (&k, &a) in indices.iter().zip(values) {
            for j in 0..V {
                product[j] = fma::<FUSED>(a, packed[k][j], product[j]);
            }
        }
    }
    product
}

/// sum += a x, entry by entry.
#[inline(always)]
fn add<S: Simd, const N: usize, const FUSED: bool>(simd: S, a: f64, x: &[f64; N], sum: &mut [f64; N]) {
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

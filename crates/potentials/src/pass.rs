//! One pass over a design for a tile of chains: both products of a line integral fused, so that each row is read once.
//!
//! For each row a and each chain of the tile: s = a·θ and t = a·p, a coefficient c from them, and c a added to the chain's sum. A
//! tile is W chains wide; the columns θ and p stand interleaved, so that a row meets 2W adjacent numbers for each of its entries.
//! Every chain's numbers go through the same operations in the same order whatever W is, which makes its result independent, to
//! the last bit, of how chains are put into tiles.
//!
//! The code is plain loops, compiled for the instructions of the machine it runs on by `pulp`, which chooses at run time. Where
//! fused multiply-add exists it is used throughout, elsewhere nowhere.

use pulp::{Arch, Simd, WithSimd};

use crate::design::Sparse;

/// The coefficient of a row: `coefficient(row, s, t)`.
pub(crate) trait Coefficient: Fn(usize, f64, f64) -> f64 {}
impl<F: Fn(usize, f64, f64) -> f64> Coefficient for F {}

/// A range of rows of a design, as entries.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rows<'a> {
    /// Row by row, from row `first` on.
    Dense {
        /// The index of the first row.
        first: usize,
        /// Whole rows.
        values: &'a [f64],
    },
    /// Rows `first` to `last` of a sparse design.
    Sparse {
        /// The design.
        design: &'a Sparse,
        /// The first row.
        first: usize,
        /// One beyond the last.
        last: usize,
    },
}

/// Adds to `sums` (a row of W for each coordinate) what the rows contribute for the tile `packed` (a row of W2 = 2W each).
pub(crate) fn pass<const W: usize, const W2: usize>(
    rows: Rows<'_>,
    packed: &[[f64; W2]],
    sums: &mut [[f64; W]],
    coefficient: &impl Coefficient,
) {
    let arch = Arch::new();
    if matches!(arch, Arch::Scalar) {
        arch.dispatch(Pass::<_, W, W2, false> { rows, packed, sums, coefficient });
    } else {
        arch.dispatch(Pass::<_, W, W2, true> { rows, packed, sums, coefficient });
    }
}

struct Pass<'a, F, const W: usize, const W2: usize, const FUSED: bool> {
    rows: Rows<'a>,
    packed: &'a [[f64; W2]],
    sums: &'a mut [[f64; W]],
    coefficient: &'a F,
}

impl<F: Coefficient, const W: usize, const W2: usize, const FUSED: bool> WithSimd
    for Pass<'_, F, W, W2, FUSED>
{
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        match self.rows {
            Rows::Dense { first, values } => {
                let d = self.packed.len();
                // Blocks of rows share one update of the sums; within a block, as many products run side by side as there
                // are registers for (two rows of a wide tile) or as hide the latency of an addition (six of a single chain).
                let rest = if W > 1 {
                    blocks::<S, _, W, W2, 6, 2, FUSED>(
                        simd,
                        first,
                        values,
                        self.packed,
                        self.sums,
                        self.coefficient,
                    )
                } else {
                    blocks::<S, _, W, W2, 6, 6, FUSED>(
                        simd,
                        first,
                        values,
                        self.packed,
                        self.sums,
                        self.coefficient,
                    )
                };
                let done = (values.len() - rest.len()) / d;
                blocks::<S, _, W, W2, 1, 1, FUSED>(
                    simd,
                    first + done,
                    rest,
                    self.packed,
                    self.sums,
                    self.coefficient,
                );
            }
            Rows::Sparse { design, first, last } => {
                for row in first..last {
                    let (indices, values) = design.row(row);
                    let mut dots = [0.0; W2];
                    for (&k, &a) in indices.iter().zip(values) {
                        accumulate::<W2, FUSED>(a, &self.packed[k], &mut dots);
                    }
                    let c = std::array::from_fn(|j| (self.coefficient)(row, dots[j], dots[j + W]));
                    for (&k, &a) in indices.iter().zip(values) {
                        accumulate::<W, FUSED>(a, &c, &mut self.sums[k]);
                    }
                }
            }
        }
    }
}

/// As many whole blocks of `R` rows as there are, their products in groups of `G` (a divisor of R); returns the rows that are left.
#[inline(always)]
fn blocks<
    'a,
    S: Simd,
    F: Coefficient,
    const W: usize,
    const W2: usize,
    const R: usize,
    const G: usize,
    const FUSED: bool,
>(
    simd: S,
    first: usize,
    values: &'a [f64],
    packed: &[[f64; W2]],
    sums: &mut [[f64; W]],
    coefficient: &F,
) -> &'a [f64] {
    let d = packed.len();
    let mut blocks = values.chunks_exact(R * d);
    for (index, block) in (&mut blocks).enumerate() {
        let rows: [&[f64]; R] = std::array::from_fn(|r| &block[r * d..(r + 1) * d]);
        let mut c = [[0.0; W]; R];
        let mut r = 0;
        while r < R {
            let group: [&[f64]; G] = std::array::from_fn(|g| &rows[r + g][..packed.len()]);
            let dots = products::<S, W2, G, FUSED>(simd, &group, packed);
            for g in 0..G {
                let row = first + index * R + r + g;
                c[r + g] = std::array::from_fn(|j| coefficient(row, dots[g][j], dots[g][j + W]));
            }
            r += G;
        }
        let rows: [&[f64]; R] = std::array::from_fn(|r| &rows[r][..sums.len()]);
        for (k, sum) in sums.iter_mut().enumerate() {
            let mut total = *sum;
            for r in 0..R {
                let a = rows[r][k];
                for j in 0..W {
                    total[j] = fma::<FUSED>(a, c[r][j], total[j]);
                }
            }
            *sum = total;
        }
    }
    blocks.remainder()
}

/// The products of some rows with all columns of the tile. In vectors by name: left to itself the compiler keeps these sums apart.
#[inline(always)]
fn products<S: Simd, const W2: usize, const G: usize, const FUSED: bool>(
    simd: S,
    rows: &[&[f64]; G],
    packed: &[[f64; W2]],
) -> [[f64; W2]; G] {
    let mut sums = [[0.0; W2]; G];
    if FUSED && W2.is_multiple_of(S::F64_LANES) {
        let mut vectors = [[simd.splat_f64s(0.0); W2]; G];
        for (k, x) in packed.iter().enumerate() {
            let (x, _) = S::as_simd_f64s(x);
            for g in 0..G {
                let a = simd.splat_f64s(rows[g][k]);
                for (sum, x) in vectors[g].iter_mut().zip(x) {
                    *sum = simd.mul_add_f64s(a, *x, *sum);
                }
            }
        }
        for g in 0..G {
            let (into, _) = S::as_mut_simd_f64s(&mut sums[g]);
            for (sum, vector) in into.iter_mut().zip(&vectors[g]) {
                *sum = *vector;
            }
        }
    } else {
        for (k, x) in packed.iter().enumerate() {
            for g in 0..G {
                accumulate::<W2, FUSED>(rows[g][k], x, &mut sums[g]);
            }
        }
    }
    sums
}

/// sum += a x, entry by entry.
#[inline(always)]
fn accumulate<const N: usize, const FUSED: bool>(a: f64, x: &[f64; N], sum: &mut [f64; N]) {
    for j in 0..N {
        sum[j] = fma::<FUSED>(a, x[j], sum[j]);
    }
}

/// a x + y, rounded once where the machine can.
#[inline(always)]
fn fma<const FUSED: bool>(a: f64, x: f64, y: f64) -> f64 {
    if FUSED { a.mul_add(x, y) } else { a * x + y }
}

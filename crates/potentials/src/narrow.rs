//! Products of rows with one chain's columns, four rows at a time: this fills vectors when there
//! are no other chains to do it.
//!
//! Entries of four rows are loaded in fours and transposed in registers, so that a vector has the
//! same column of all four. Each row's sum goes over its columns in the order that wider tiles keep
//! too, which makes it the same to the last bit.

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::__m256d;

#[cfg(target_arch = "x86_64")]
use pulp::x86::V3;

/// Adds the products of rows with the given columns of the tile to `products`, for whole groups of
/// QUADS times four rows; returns the number of rows done.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(crate) fn products<const V: usize, const QUADS: usize>(
    simd: V3, values: &[f64], d: usize, columns: std::ops::Range<usize>, packed: &[[f64; V]],
    products: &mut [[f64; V]],
) -> usize {
    let zero = simd.avx._mm256_set1_pd(0.0);
    let group = 4 * QUADS;
    let whole = products.len() / group * group;
    let (fours, rest) = packed.as_chunks::<4>();
    for (products, values) in
        products[..whole].chunks_exact_mut(group).zip(values.chunks_exact(group * d))
    {
        let rows: [[&[f64]; 4]; QUADS] = std::array::from_fn(|q| {
            std::array::from_fn(|r| &values[(4 * q + r) * d..][columns.clone()][..packed.len()])
        });
        let mut sums = [[zero; V]; QUADS];
        for (q, sums) in sums.iter_mut().enumerate() {
            for (v, sum) in sums.iter_mut().enumerate() {
                let four: [f64; 4] = std::array::from_fn(|r| products[4 * q + r][v]);
                *sum = pulp::cast(four);
            }
        }
        let quads = rows.map(|rows| rows.map(|row| &row.as_chunks::<4>().0[..fours.len()]));
        for (j, x) in fours.iter().enumerate() {
            for (q, sums) in sums.iter_mut().enumerate() {
                let a: [__m256d; 4] = std::array::from_fn(|r| pulp::cast(quads[q][r][j]));
                for (a, x) in transposed(simd, a).into_iter().zip(x) {
                    for (sum, x) in sums.iter_mut().zip(x) {
                        *sum = simd.fma._mm256_fmadd_pd(a, simd.avx._mm256_set1_pd(*x), *sum);
                    }
                }
            }
        }
        for (k, x) in (4 * fours.len()..).zip(rest) {
            for (q, sums) in sums.iter_mut().enumerate() {
                let a: __m256d = pulp::cast(std::array::from_fn::<f64, 4, _>(|r| rows[q][r][k]));
                for (sum, x) in sums.iter_mut().zip(x) {
                    *sum = simd.fma._mm256_fmadd_pd(a, simd.avx._mm256_set1_pd(*x), *sum);
                }
            }
        }
        for (q, sums) in sums.iter().enumerate() {
            for (v, sum) in sums.iter().enumerate() {
                let four: [f64; 4] = pulp::cast(*sum);
                (0..4).for_each(|r| products[4 * q + r][v] = four[r]);
            }
        }
    }
    whole
}

/// The columns of a 4 x 4 matrix of which `a` has the rows.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn transposed(simd: V3, a: [__m256d; 4]) -> [__m256d; 4] {
    let even = [simd.avx._mm256_unpacklo_pd(a[0], a[1]), simd.avx._mm256_unpacklo_pd(a[2], a[3])];
    let odd = [simd.avx._mm256_unpackhi_pd(a[0], a[1]), simd.avx._mm256_unpackhi_pd(a[2], a[3])];
    [
        simd.avx._mm256_permute2f128_pd::<0x20>(even[0], even[1]),
        simd.avx._mm256_permute2f128_pd::<0x20>(odd[0], odd[1]),
        simd.avx._mm256_permute2f128_pd::<0x31>(even[0], even[1]),
        simd.avx._mm256_permute2f128_pd::<0x31>(odd[0], odd[1]),
    ]
}

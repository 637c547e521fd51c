//! Cholesky factors of sparse symmetric matrices that share one pattern.
//!
//! The order of elimination and the pattern of the factor come from faer, once. Factors of many
//! small matrices are made after that, one for each gradient: a left-looking factorisation of our
//! own does that without allocating.

use std::fmt;

use faer::Side;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};

use crate::rows::Rows;

/// The lower triangle of a symmetric matrix, column by column: column k has the entries
/// `starts[k]..starts[k + 1]`, in increasing rows from the diagonal on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pattern {
    pub(crate) starts: Vec<usize>,
    pub(crate) rows: Vec<usize>,
}

impl Pattern {
    pub(crate) fn size(&self) -> usize {
        self.starts.len() - 1
    }

    /// With the entries that it has in any process.
    #[allow(clippy::cast_possible_truncation, reason = "rows and columns of this matrix")]
    pub(crate) fn of_all(self, all: &Rows) -> Self {
        if !all.is_shared() {
            return self;
        }
        let size = self.size() as u64;
        let columns = self.starts.windows(2).zip(0..size);
        let mine = columns.flat_map(|(ends, column)| {
            self.rows[ends[0]..ends[1]].iter().map(move |&row| column * size + row as u64)
        });
        let (mut starts, mut rows) = (vec![0; self.size() + 1], Vec::new());
        for entry in all.union(mine.collect()) {
            rows.push((entry % size) as usize);
            starts[(entry / size) as usize + 1] = rows.len();
        }
        Self { starts, rows }
    }

    /// Where the entry of this row and column is, row ≥ column.
    pub(crate) fn find(&self, row: usize, column: usize) -> Option<usize> {
        let range = self.starts[column]..self.starts[column + 1];
        self.rows[range.clone()].binary_search(&row).ok().map(|at| range.start + at)
    }

    /// About how many entries the factor has and how many multiplications it takes, without its
    /// pattern: upper bounds, from the search for the order of elimination. `None` if memory is
    /// short.
    pub(crate) fn cost(&self) -> Option<[f64; 2]> {
        let (n, entries) = (self.size(), self.rows.len());
        let matrix = SymbolicSparseColMatRef::new_checked(n, n, &self.starts, None, &self.rows);
        let scratch = amd::order_maybe_unsorted_scratch::<usize>(n, entries);
        let mut room = MemBuffer::try_new(scratch).ok()?;
        let (mut order, mut place) = (vec![0; n], vec![0; n]);
        let stack = MemStack::new(&mut room);
        let control = amd::Control::default();
        let found = amd::order_maybe_unsorted(&mut order, &mut place, matrix, control, stack);
        let count = found.ok()?;
        Some([count.n_div + n as f64, count.n_mult_subs_ldl])
    }

    /// y = M x for the symmetric matrix M with these values.
    pub(crate) fn times(&self, values: &[f64], x: &[f64]) -> Vec<f64> {
        let mut y = vec![0.0; self.size()];
        for column in 0..self.size() {
            for at in self.starts[column]..self.starts[column + 1] {
                let row = self.rows[at];
                y[row] += values[at] * x[column];
                if row != column {
                    y[column] += values[at] * x[row];
                }
            }
        }
        y
    }
}

/// A pattern, the order in which its columns are eliminated, and the pattern of the factor L of
/// P M Pᵀ = L Lᵀ.
#[derive(PartialEq)]
pub(crate) struct Symbolic {
    pub(crate) pattern: Pattern,
    /// The column of the matrix that each column of the factor belongs to.
    order: Vec<usize>,
    /// Starts of the factor's columns, and the rows of their entries, the diagonal first.
    starts: Vec<usize>,
    rows: Vec<u32>,
    /// For each column of P M Pᵀ, the places of its entries of the lower triangle among the values
    /// of M, and their rows.
    source_starts: Vec<usize>,
    source: Vec<(usize, u32)>,
    /// Multiplications of a factorisation.
    pub(crate) work: f64,
}

impl fmt::Debug for Symbolic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Symbolic")
            .field("size", &self.order.len())
            .field("entries", &self.entries())
            .finish_non_exhaustive()
    }
}

/// Working space of a factorisation.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// A column of the factor, as a dense list of zeros between factorisations.
    column: Vec<f64>,
    /// The columns that change the present one, as linked lists: for each row the first such column,
    /// and for each column the next one of the same list.
    first: Vec<u32>,
    next: Vec<u32>,
    /// For each column, its first entry at or below the present row.
    reached: Vec<usize>,
}

const NONE: u32 = u32::MAX;

/// A number of a column: there are fewer than 2³² − 1.
#[inline]
fn narrow(column: usize) -> u32 {
    u32::try_from(column).unwrap_or(NONE)
}

impl Symbolic {
    /// `None` if it does not fit into memory or has 2³² − 1 columns or more.
    pub(crate) fn new(pattern: Pattern) -> Option<Self> {
        let n = pattern.size();
        u32::try_from(n).ok().filter(|n| *n < NONE)?;
        let matrix =
            SymbolicSparseColMatRef::new_checked(n, n, &pattern.starts, None, &pattern.rows);
        let parameters = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SIMPLICIAL,
            ..CholeskySymbolicParams::default()
        };
        let ordering = SymmetricOrdering::Amd;
        let found = factorize_symbolic_cholesky(matrix, Side::Lower, ordering, parameters).ok()?;
        let SymbolicCholeskyRaw::Simplicial(lower) = found.raw() else { return None };
        let order = match found.perm() {
            Some(permutation) => permutation.arrays().0.to_vec(),
            None => (0..n).collect(),
        };
        let starts = lower.col_ptr().to_vec();
        let rows = lower.row_idx().iter().map(|row| narrow(*row)).collect();
        let mut place = vec![0; n];
        order.iter().enumerate().for_each(|(k, column)| place[*column] = k);
        let mut by_column = vec![Vec::new(); n];
        for column in 0..n {
            for at in pattern.starts[column]..pattern.starts[column + 1] {
                let (j, i) = (place[column], place[pattern.rows[at]]);
                by_column[j.min(i)].push((at, narrow(j.max(i))));
            }
        }
        let mut source_starts = vec![0];
        source_starts.extend(by_column.iter().scan(0, |sum, entries| {
            *sum += entries.len();
            Some(*sum)
        }));
        let source = by_column.concat();
        let count = |pair: &[usize]| ((pair[1] - pair[0]) as f64).powi(2);
        let work = starts.windows(2).map(count).sum::<f64>() / 2.0;
        Some(Self { pattern, order, starts, rows, source_starts, source, work })
    }

    pub(crate) fn size(&self) -> usize {
        self.order.len()
    }

    /// The number of entries of the factor.
    pub(crate) fn entries(&self) -> usize {
        self.rows.len()
    }

    fn column<'a>(
        &'a self, factor: &'a [f64], j: usize,
    ) -> (f64, impl Iterator<Item = (f64, usize)> + 'a) {
        let range = self.starts[j]..self.starts[j + 1];
        let below = range.start + 1..range.end;
        let entries = factor[below.clone()].iter().copied();
        (factor[range.start], entries.zip(self.rows[below].iter().map(|row| *row as usize)))
    }

    /// The factor of the matrix with these values. Where it is not positive definite, `false`.
    pub(crate) fn factor(&self, values: &[f64], into: &mut Vec<f64>, memory: &mut Memory) -> bool {
        let n = self.size();
        into.resize(self.entries(), 0.0);
        let Memory { column, first, next, reached } = memory;
        column.resize(n, 0.0);
        first.clear();
        first.resize(n, NONE);
        next.resize(n, NONE);
        reached.resize(n, 0);
        for j in 0..n {
            for &(at, row) in &self.source[self.source_starts[j]..self.source_starts[j + 1]] {
                column[row as usize] += values[at];
            }
            // Columns k with an entry in row j.
            let mut k = first[j];
            while k != NONE {
                let before = k as usize;
                k = next[before];
                let (begin, end) = (reached[before], self.starts[before + 1]);
                let entry = into[begin];
                for (value, row) in into[begin..end].iter().zip(&self.rows[begin..end]) {
                    column[*row as usize] -= entry * value;
                }
                if begin + 1 < end {
                    reached[before] = begin + 1;
                    let row = self.rows[begin + 1] as usize;
                    next[before] = first[row];
                    first[row] = narrow(before);
                }
            }
            let range = self.starts[j]..self.starts[j + 1];
            let pivot = column[j].sqrt();
            // Not a number, 0 or infinite: such a factor has no use.
            if !(pivot > 0.0 && pivot.is_finite()) {
                column.fill(0.0);
                return false;
            }
            let inverse = 1.0 / pivot;
            for (value, row) in into[range.clone()].iter_mut().zip(&self.rows[range.clone()]) {
                *value = column[*row as usize] * inverse;
                column[*row as usize] = 0.0;
            }
            into[range.start] = pivot;
            if range.len() > 1 {
                reached[j] = range.start + 1;
                let row = self.rows[range.start + 1] as usize;
                next[j] = first[row];
                first[row] = narrow(j);
            }
        }
        true
    }

    /// x = Pᵀ L⁻ᵀ z for K vectors at once, so that the factor is read once for them all. What comes
    /// out for one does not depend on the others, to the last bit.
    pub(crate) fn backward<const K: usize>(
        &self, factor: &[f64], z: [&[f64]; K], mut x: [&mut [f64]; K], room: &mut Vec<[f64; K]>,
    ) {
        room.resize(self.size(), [0.0; K]);
        for j in (0..self.size()).rev() {
            let (pivot, below) = self.column(factor, j);
            let mut known = [0.0; K];
            for (l, i) in below {
                known.iter_mut().zip(&room[i]).for_each(|(sum, x)| *sum += l * x);
            }
            let found: [f64; K] = std::array::from_fn(|c| (z[c][j] - known[c]) / pivot);
            room[j] = found;
            x.iter_mut().zip(found).for_each(|(x, found)| x[self.order[j]] = found);
        }
    }

    /// z = L⁻¹ P g, as [`Symbolic::backward`].
    pub(crate) fn forward<const K: usize>(
        &self, factor: &[f64], g: [&[f64]; K], mut z: [&mut [f64]; K], room: &mut Vec<[f64; K]>,
    ) {
        room.clear();
        room.extend(self.order.iter().map(|&k| std::array::from_fn::<f64, K, _>(|c| g[c][k])));
        for j in 0..self.size() {
            let (pivot, below) = self.column(factor, j);
            let found = room[j].map(|z| z / pivot);
            for (l, i) in below {
                room[i].iter_mut().zip(found).for_each(|(z, found)| *z -= l * found);
            }
            z.iter_mut().zip(found).for_each(|(z, found)| z[j] = found);
        }
    }

    /// z = Lᵀ P x: the inverse of [`Symbolic::backward`].
    pub(crate) fn fold(&self, factor: &[f64], x: &[f64], z: &mut [f64]) {
        for (j, z) in z.iter_mut().enumerate() {
            let (pivot, below) = self.column(factor, j);
            *z = pivot * x[self.order[j]] + below.map(|(l, i)| l * x[self.order[i]]).sum::<f64>();
        }
    }

    /// x = Pᵀ L z: the inverse of [`Symbolic::forward`].
    pub(crate) fn unfold(&self, factor: &[f64], z: &[f64], x: &mut [f64]) {
        x.fill(0.0);
        for (j, z) in z.iter().enumerate() {
            let (pivot, below) = self.column(factor, j);
            x[self.order[j]] += pivot * z;
            below.for_each(|(l, i)| x[self.order[i]] += l * z);
        }
    }

    /// The diagonal of the inverse of the matrix, by the recursion of K. Takahashi, J. Fagan and M.
    /// Chin (1973): the entries of the inverse at the places of the factor follow from each other,
    /// from the last column to the first.
    pub(crate) fn inverse_diagonal(&self, factor: &[f64]) -> Vec<f64> {
        let n = self.size();
        let mut inverse = vec![0.0; self.entries()];
        // The place of each row among those of the present column, after the diagonal.
        let mut place = vec![usize::MAX; n];
        let (mut sums, mut diagonal) = (Vec::new(), vec![0.0; n]);
        for j in (0..n).rev() {
            let below = self.starts[j] + 1..self.starts[j + 1];
            let rows = &self.rows[below.clone()];
            let entries = &factor[below.clone()];
            rows.iter().enumerate().for_each(|(at, &row)| place[row as usize] = at);
            sums.clear();
            sums.resize(rows.len(), 0.0);
            for (at, &k) in rows.iter().enumerate() {
                let column = self.starts[k as usize]..self.starts[k as usize + 1];
                sums[at] += entries[at] * inverse[column.start];
                let others = self.rows[column.clone()].iter().zip(&inverse[column]).skip(1);
                for (&i, &z) in others {
                    let to = place[i as usize];
                    if to != usize::MAX {
                        sums[to] += entries[at] * z;
                        sums[at] += entries[to] * z;
                    }
                }
            }
            let pivot = factor[self.starts[j]];
            let mut own = 1.0 / pivot;
            for (at, sum) in sums.iter().enumerate() {
                inverse[below.start + at] = -sum / pivot;
                own += entries[at] * sum / pivot;
            }
            inverse[self.starts[j]] = own / pivot;
            diagonal[self.order[j]] = own / pivot;
            rows.iter().for_each(|&row| place[row as usize] = usize::MAX);
        }
        diagonal
    }

    /// The sum of squares of the factor's entries.
    pub(crate) fn square(factor: &[f64]) -> f64 {
        crate::hessian::dot(factor, factor)
    }

    /// log det L. Logarithms are taken of products that are far from over- and underflow.
    pub(crate) fn log_determinant(&self, factor: &[f64]) -> f64 {
        const FAR: std::ops::Range<f64> = 1e-100..1e100;
        let (mut sum, mut product) = (0.0, 1.0_f64);
        for &at in &self.starts[..self.size()] {
            if !FAR.contains(&factor[at]) {
                sum += factor[at].ln();
                continue;
            }
            product *= factor[at];
            if !FAR.contains(&product) {
                sum += product.ln();
                product = 1.0;
            }
        }
        sum + product.ln()
    }
}

#[cfg(test)]
mod tests {
    use faer::linalg::solvers::DenseSolveCore;
    use faer::{Mat, Side};
    use rand::RngExt;
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    /// A random positive definite matrix with an arrow, blocks and a crossing.
    fn matrix(n: usize, seed: u64) -> (Pattern, Vec<f64>, Mat<f64>) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut dense = Mat::<f64>::zeros(n, n);
        for j in 0..n {
            for i in j + 1..n {
                let there = i + 2 >= n || i / 3 == j / 3 || rng.random::<f64>() < 0.1;
                if there {
                    let value = rng.random::<f64>() - 0.5;
                    (dense[(i, j)], dense[(j, i)]) = (value, value);
                }
            }
            dense[(j, j)] = n as f64;
        }
        let (mut starts, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for j in 0..n {
            for i in (j..n).filter(|i| dense[(*i, j)] != 0.0) {
                rows.push(i);
                values.push(dense[(i, j)]);
            }
            starts.push(rows.len());
        }
        (Pattern { starts, rows }, values, dense)
    }

    #[test]
    fn factors_solve_and_have_the_determinant_of_dense_ones() {
        for (n, seed) in [(1, 1), (2, 2), (7, 3), (40, 4), (90, 5)] {
            let (pattern, values, dense) = matrix(n, seed);
            let symbolic = Symbolic::new(pattern).unwrap();
            let (mut factor, mut memory) = (Vec::new(), Memory::default());
            // Twice, because the working space is used again.
            assert!(symbolic.factor(&values, &mut factor, &mut memory));
            assert!(symbolic.factor(&values, &mut factor, &mut memory));
            let llt = dense.llt(Side::Lower).unwrap();
            let log_det: f64 = (0..n).map(|k| llt.L()[(k, k)].ln()).sum();
            assert!((symbolic.log_determinant(&factor) - log_det).abs() < 1e-12 * n as f64);
            let g: Vec<f64> = (0..n).map(|k| (k as f64).sin()).collect();
            let (mut z, mut x) = (vec![0.0; n], vec![0.0; n]);
            symbolic.forward(&factor, [&g], [&mut z], &mut Vec::new());
            symbolic.backward(&factor, [&z], [&mut x], &mut Vec::new());
            // Several at once, each as if it were alone.
            let h: Vec<f64> = g.iter().map(|g| 2.0 - g * g).collect();
            let [mut one, mut two, mut three] = [vec![0.0; n], vec![0.0; n], vec![0.0; n]];
            let into = [&mut one[..], &mut two, &mut three];
            symbolic.forward(&factor, [&h, &g, &h], into, &mut Vec::new());
            assert!(two == z && one == three);
            let into = [&mut one[..], &mut three];
            symbolic.backward(&factor, [&z, &two], into, &mut Vec::new());
            assert!(one == x && three == x);
            // M x = g.
            for i in 0..n {
                let product: f64 = (0..n).map(|j| dense[(i, j)] * x[j]).sum();
                assert!((product - g[i]).abs() < 1e-12, "{n}: {product} for {}", g[i]);
            }
            assert!(
                symbolic
                    .pattern
                    .times(&values, &x)
                    .iter()
                    .zip(&g)
                    .all(|(a, b)| (a - b).abs() < 1e-12)
            );
            let mut back = vec![0.0; n];
            symbolic.fold(&factor, &x, &mut back);
            assert!(back.iter().zip(&z).all(|(a, b)| (a - b).abs() < 1e-12));
            symbolic.unfold(&factor, &z, &mut back);
            assert!(back.iter().zip(&g).all(|(a, b)| (a - b).abs() < 1e-12));
            let inverse = llt.inverse();
            let variances = symbolic.inverse_diagonal(&factor);
            assert!((0..n).all(|k| (variances[k] / inverse[(k, k)] - 1.0).abs() < 1e-12));
            let [entries, work] = symbolic.pattern.cost().unwrap();
            assert!(entries >= symbolic.entries() as f64 && entries <= (n * (n + 1) / 2) as f64);
            assert!(work >= 0.0);
        }
    }

    #[test]
    fn an_indefinite_matrix_is_noticed_and_leaves_no_trace() {
        let (pattern, mut values, _) = matrix(12, 9);
        let symbolic = Symbolic::new(pattern).unwrap();
        let (mut factor, mut memory) = (Vec::new(), Memory::default());
        let good = values.clone();
        let at = symbolic.pattern.starts[5];
        values[at] = -1.0;
        assert!(!symbolic.factor(&values, &mut factor, &mut memory));
        assert!(symbolic.factor(&good, &mut factor, &mut memory));
        let (mut other, mut fresh) = (Vec::new(), Memory::default());
        assert!(symbolic.factor(&good, &mut other, &mut fresh));
        assert_eq!(factor, other);
    }
}

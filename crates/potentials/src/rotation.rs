//! Rotations that gather what the rows of a wide design see in a few coordinates.
//!
//! With n rows and d > n columns, Q from the factorisation S Aᵀ = Q R has n columns that span the
//! rows of A S; along the others nothing that depends on the data changes. Q is kept as I − Y T Yᵀ,
//! a product of n reflections: Y has d rows of n, T is triangular. For whatever Y this is orthogonal
//! if T⁻¹ + T⁻ᵀ = Yᵀ Y, which T is computed from.
//!
//! Operations go in blocks of rows for all points at once, in an order that does not depend on how
//! many points there are.

use faer::linalg::matmul::matmul;
use faer::linalg::triangular_inverse::invert_upper_triangular;
use faer::{Accum, Mat, MatMut, MatRef, Par};

use crate::design::Design;
use crate::hessian::{dot, visit};
use crate::square;
use crate::symmetric;
use crate::whitening::rows_of;

/// S Q for a diagonal S, d x d. Coordinates are (β, α): α belongs to the first columns of Q, which
/// span the rows of a design.
#[derive(Debug, PartialEq)]
pub(crate) struct Rotation {
    /// The diagonal of S.
    scales: Vec<f64>,
    /// Y, d rows of k.
    reflectors: Vec<f64>,
    /// T, k rows of k.
    mixing: Vec<f64>,
}

/// The share of the squared length of a row that may be missing in its coordinates α.
const SPAN: f64 = 1e-10;

/// What S is multiplied with, or divided by.
#[derive(Clone, Copy)]
pub(crate) enum Scaling {
    Times,
    Over,
}

impl Rotation {
    /// For the rows of a design; and, one for each, these rows in the coordinates α.
    pub(crate) fn new(design: &Design<'_>, scales: Vec<f64>) -> Option<(Self, Vec<f64>)> {
        let (k, d) = (design.rows(), design.columns());
        let mut columns = Mat::zeros(d, k);
        for row in 0..k {
            visit(design, row, |at, a| columns[(at, row)] = scales[at] * a);
        }
        let basis = symmetric::reflectors(columns.clone());
        let mut inverse = basis.transpose() * &basis;
        for j in 0..k {
            inverse[(j, j)] *= 0.5;
            (j + 1..k).for_each(|i| inverse[(i, j)] = 0.0);
        }
        let mut mixing = Mat::zeros(k, k);
        invert_upper_triangular(mixing.as_mut(), inverse.as_ref(), Par::Seq);
        // A S (I − Y T Yᵀ), the first k columns.
        let mixed = &mixing * basis.get(..k, ..).transpose();
        let mut rows = columns.get(..k, ..).transpose().to_owned();
        let shares = columns.transpose() * &basis;
        matmul(rows.as_mut(), Accum::Add, &shares, &mixed, -1.0, Par::Seq);
        let outside = |row: usize| {
            let whole = columns.col(row).squared_norm_l2();
            (whole - rows.row(row).squared_norm_l2()).abs() > SPAN * whole
        };
        let usable = !(0..k).any(outside) && rows.norm_max().is_finite();
        let rotation =
            Self { scales, reflectors: rows_of(basis.as_ref()), mixing: rows_of(mixing.as_ref()) };
        usable.then(|| (rotation, rows_of(rows.as_ref())))
    }

    /// From the numbers of [`Rotation::numbers`], for k coordinates; `None` if there are too few or
    /// too many of them, or they are no rotation.
    pub(crate) fn from_numbers(numbers: &[f64], d: usize, k: usize) -> Option<Self> {
        let (wanted, square) = (d.checked_mul(k)?, k.checked_mul(k)?);
        let usable = numbers.len() == d.checked_add(wanted)?.checked_add(square)?
            && numbers.iter().all(|x| x.is_finite())
            && numbers[..d].iter().all(|scale| *scale > 0.0);
        usable.then(|| Self {
            scales: numbers[..d].to_vec(),
            reflectors: numbers[d..d + wanted].to_vec(),
            mixing: numbers[d + wanted..].to_vec(),
        })
    }

    /// S, Y and T.
    pub(crate) fn numbers(&self) -> Vec<f64> {
        [&self.scales[..], &self.reflectors, &self.mixing].concat()
    }

    /// d.
    pub(crate) fn dimension(&self) -> usize {
        self.scales.len()
    }

    /// k: the number of coordinates α.
    pub(crate) fn few(&self) -> usize {
        self.reflectors.len() / self.scales.len().max(1)
    }

    /// out += S Q M (β, α), or with S⁻¹ for S, for several points; M, which multiplies α alone, or
    /// its transpose is a function that adds to a list of zeros.
    pub(crate) fn add_forward(
        &self, scaling: Scaling, v: &[f64], out: &mut [f64], inner: impl Fn(&[f64], &mut [f64]),
    ) {
        let (d, k) = (self.dimension(), self.few());
        let mut x = vec![0.0; v.len()];
        let points = v.chunks_exact(d).zip(x.chunks_exact_mut(d));
        let mut tails = Vec::with_capacity(v.len() / d * k);
        points.for_each(|(v, x)| {
            tails.extend_from_slice(&v[d - k..]);
            x[k..].copy_from_slice(&v[..d - k]);
        });
        let mut mapped = vec![0.0; tails.len()];
        inner(&tails, &mut mapped);
        for (mapped, x) in mapped.chunks_exact(k).zip(x.chunks_exact_mut(d)) {
            x[..k].copy_from_slice(mapped);
        }
        self.reflect(&mut x, false);
        for (x, out) in x.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            let terms = out.iter_mut().zip(x).zip(&self.scales);
            match scaling {
                Scaling::Times => terms.for_each(|((out, x), s)| *out += s * x),
                Scaling::Over => terms.for_each(|((out, x), s)| *out += x / s),
            }
        }
    }

    /// out += M Qᵀ S v, or with S⁻¹ for S: the way back, or the transpose.
    pub(crate) fn add_backward(
        &self, scaling: Scaling, v: &[f64], out: &mut [f64], inner: impl Fn(&[f64], &mut [f64]),
    ) {
        let (d, k) = (self.dimension(), self.few());
        let mut x: Vec<f64> = match scaling {
            Scaling::Times => {
                v.iter().zip(self.scales.iter().cycle()).map(|(v, s)| v * s).collect()
            }
            Scaling::Over => v.iter().zip(self.scales.iter().cycle()).map(|(v, s)| v / s).collect(),
        };
        self.reflect(&mut x, true);
        let heads: Vec<f64> = x.chunks_exact(d).flat_map(|x| &x[..k]).copied().collect();
        let mut mapped = vec![0.0; heads.len()];
        inner(&heads, &mut mapped);
        let lists = x.chunks_exact(d).zip(mapped.chunks_exact(k)).zip(out.chunks_exact_mut(d));
        for ((x, mapped), out) in lists {
            let (beta, alpha) = out.split_at_mut(d - k);
            beta.iter_mut().zip(&x[k..]).for_each(|(out, x)| *out += x);
            alpha.iter_mut().zip(mapped).for_each(|(out, x)| *out += x);
        }
    }

    /// Puts Q x or Qᵀ x in the place of each point x.
    fn reflect(&self, x: &mut [f64], transposed: bool) {
        let (d, k) = (self.dimension(), self.few());
        let points = x.len() / d;
        let mut shares = vec![0.0; points * k];
        for (rows, block) in square::blocks(&self.reflectors, k) {
            for (x, share) in x.chunks_exact(d).zip(shares.chunks_exact_mut(k)) {
                square::add_transposed_product(block, |row| x[rows.start + row], share);
            }
        }
        let mut mixed = vec![0.0; points * k];
        if transposed {
            square::add_transposed_products(&self.mixing, k, &shares, &mut mixed);
        } else {
            square::add_products(&self.mixing, k, &shares, &mut mixed);
        }
        mixed.iter_mut().for_each(|m| *m = -*m);
        for (rows, block) in square::blocks(&self.reflectors, k) {
            for (x, mixed) in x.chunks_exact_mut(d).zip(mixed.chunks_exact(k)) {
                square::add_product(block, mixed, &mut x[rows.clone()]);
            }
        }
    }

    /// The diagonal of S Q M Mᵀ Qᵀ S: M is `inner` for α, k rows of k, and 1 for β.
    pub(crate) fn squares(&self, inner: &[f64]) -> Vec<f64> {
        const ROWS: usize = 256;
        let k = self.few();
        let square = |list| MatRef::from_row_major_slice(list, k, k);
        // The first columns of Q are those of I − Y T Yᵀ.
        let top = MatRef::from_row_major_slice(&self.reflectors[..k * k], k, k);
        let mixed = square(&self.mixing) * top.transpose();
        let [mut first, mut moved] = [vec![0.0; ROWS * k], vec![0.0; ROWS * k]];
        let mut found = Vec::with_capacity(self.dimension());
        for (index, block) in self.reflectors.chunks(ROWS * k).enumerate() {
            let rows = block.len() / k;
            let [first, moved] = [&mut first[..rows * k], &mut moved[..rows * k]];
            let into = MatMut::from_row_major_slice_mut(first, rows, k);
            let block = MatRef::from_row_major_slice(block, rows, k);
            matmul(into, Accum::Replace, block, mixed.as_ref(), -1.0, Par::Seq);
            for (row, entries) in first.chunks_exact_mut(k).enumerate() {
                if let Some(entry) = entries.get_mut(index * ROWS + row) {
                    *entry += 1.0;
                }
            }
            let into = MatMut::from_row_major_slice_mut(moved, rows, k);
            let first_rows = MatRef::from_row_major_slice(&*first, rows, k);
            matmul(into, Accum::Replace, first_rows, square(inner), 1.0, Par::Seq);
            let scales = &self.scales[index * ROWS..];
            let both = first.chunks_exact(k).zip(moved.chunks_exact(k)).zip(scales);
            found.extend(both.map(|((first, moved), scale)| {
                scale * scale * (dot(moved, moved) + (1.0 - dot(first, first)).max(0.0))
            }));
        }
        found
    }

    /// The largest entry of S, or of S⁻¹.
    pub(crate) fn largest(&self, scaling: Scaling) -> f64 {
        let sizes = self.scales.iter().map(|s| match scaling {
            Scaling::Times => *s,
            Scaling::Over => 1.0 / s,
        });
        sizes.fold(0.0, f64::max)
    }
}

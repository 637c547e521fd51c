//! Ridge-separable potentials in other coordinates.
//!
//! Two ways give the same function of z, but for rounding. The design can be copied, each row a as
//! Wᵀ a: a [`Ridge`] again, whose gradients need no other products than those with its rows. Or it
//! stays as it is ([`MappedRidge`]), and positions, momenta and gradients are mapped. The copy is
//! dense unless W is diagonal. [`copies`] decides. A third way is for models with fewer rows than
//! columns ([`Wide`]); and where columns are sparse and many, W is that of a sparse factor
//! ([`Factored`]), and nothing is copied.

mod factored;
mod mapped;
mod wide;

pub use factored::Factored;
pub use mapped::MappedRidge;
pub use wide::{WhitenedWide, Wide};

use faer::linalg::matmul::matmul;
use faer::{Accum, MatMut, MatRef, Par};

use crate::black_box::Gradient;
use crate::curvature::{Curvature, DENSE};
use crate::design::{Dense, Design};
use crate::error::{Error, GradientError, length};
use crate::families::Family;
use crate::hessian::{dot, gram, rows_of_block};
use crate::line_integral::{LineIntegral, Scratch};
use crate::prior::Prior;
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;
use crate::thinning::Thinning;
use crate::whitening::{Map, Whitening, as_square};

/// Entries of a copy that is always made: 8 MiB.
const SMALL_COPY: usize = 1 << 20;
/// Entries of a copy that is dear in memory: 1 GiB.
const LARGE_COPY: usize = 1 << 27;
/// With this many rows for each column, three products of a chain with a d x d matrix are a small
/// part of its gradient.
const MANY_ROWS: usize = 8;
/// The cost of an entry of a sparse design, in entries of a dense one.
const SPARSE: usize = 4;

/// Whether a design is copied to new coordinates, rather than left as it is.
///
/// A map by a sparse factor never makes one. A diagonal map costs nothing and keeps sparse designs sparse: always copied. Otherwise small
/// copies are always made. A dense design is copied up to [`LARGE_COPY`], and beyond that unless the
/// rows are so many that mapping the chains costs little. A sparse one is copied up to [`LARGE_COPY`]
/// where that makes gradients cheaper: a line integral takes 4 n d operations with the copy and 2 d²
/// for its prior; without it four for each entry that is stored and 6 d² for the map.
fn copies(design: &Design<'_>, rows: usize, map: &Map) -> bool {
    let d = design.columns();
    let copy = rows.saturating_mul(d);
    match design {
        _ if matches!(map, Map::Factor(_)) => false,
        _ if matches!(map, Map::Diagonal(_)) || copy <= SMALL_COPY => true,
        Design::Dense(_) | Design::Stored(_) => {
            copy <= LARGE_COPY || rows < MANY_ROWS.saturating_mul(d)
        }
        Design::Sparse(_) => {
            let mapped = 4 * SPARSE * design.entries() + 6 * d * d;
            copy <= LARGE_COPY && 4 * copy + 2 * d * d <= mapped
        }
    }
}

/// A ridge-separable potential as a function of z, where θ = centre + W z.
#[derive(Debug, Clone)]
#[allow(clippy::large_enum_variant, reason = "there is one of it in a run")]
#[non_exhaustive]
pub enum WhitenedRidge<'a, F> {
    /// With a copy of the design.
    Copied(Ridge<'static, F>),
    /// With the design as it is.
    Mapped(MappedRidge<'a, F>),
    /// Of a wide model: with a copy of the few columns that the data say something about.
    Wide(WhitenedWide<F>),
}

impl<'a, F: Family + Clone> Ridge<'a, F> {
    /// The same potential as a function of z, up to a constant, with or without a copy of the
    /// design: whichever is cheaper. Processes that share the rows choose alike.
    ///
    /// # Errors
    /// As [`Ridge::whitened`].
    pub fn in_coordinates(&self, whitening: &Whitening) -> Result<WhitenedRidge<'a, F>, Error> {
        length("the whitening", whitening.dimension(), self.dimension())?;
        if let Some(white) = self.wide().and_then(|wide| wide.in_coordinates(whitening)) {
            return Ok(WhitenedRidge::Wide(white?));
        }
        let here = copies(self.design(), self.observations().len(), whitening.map());
        if self.rows().everywhere(here) {
            Ok(WhitenedRidge::Copied(self.whitened(whitening)?))
        } else {
            Ok(WhitenedRidge::Mapped(MappedRidge::new(self, whitening)?))
        }
    }

    /// The same potential as a function of z, up to a constant, with a copy of the design.
    ///
    /// A sparse design stays sparse under [`Whitening::diagonal`] and becomes dense under any
    /// other.
    ///
    /// # Errors
    /// A whitening of another dimension, or coordinates so extreme that an entry of the new design
    /// or an offset is not finite.
    pub fn whitened(&self, whitening: &Whitening) -> Result<Ridge<'static, F>, Error> {
        length("the whitening", whitening.dimension(), self.dimension())?;
        let design = match (self.design(), whitening.map()) {
            (Design::Dense(dense), Map::Diagonal(scales)) => {
                let entries = dense.values().iter().zip(scales.iter().cycle());
                let values: Vec<f64> = entries.map(|(a, s)| a * s).collect();
                Dense::new(self.design().rows(), scales.len(), values)?.into()
            }
            (Design::Dense(dense), map) => product(dense, &map.dense(self.dimension()))?,
            (Design::Stored(stored), Map::Diagonal(scales)) => {
                let scaled = |rows: &[f64], out: &mut [f64]| {
                    let entries = out.iter_mut().zip(rows.iter().zip(scales.iter().cycle()));
                    entries.for_each(|(out, (a, s))| *out = a * s);
                };
                stored.mapped(rows_of_block(scales.len()), scaled)?.into()
            }
            (Design::Stored(stored), map) => {
                let (d, matrix) = (self.dimension(), map.dense(self.dimension()));
                let times = |rows: &[f64], out: &mut [f64]| times(rows, &matrix, d, out);
                stored.mapped(rows_of_block(d), times)?.into()
            }
            (Design::Sparse(sparse), Map::Diagonal(scales)) => {
                sparse.with_scaled_columns(scales)?.into()
            }
            (Design::Sparse(sparse), map) => {
                product(&sparse.to_dense()?, &map.dense(self.dimension()))?
            }
        };
        let offsets =
            (0..self.design().rows()).map(|row| self.predictor(row, whitening.centre())).collect();
        self.design().intact()?;
        self.with_coordinates(design, self.quadratic().whitened(whitening)?, offsets)
    }
}

impl<F: Family> WhitenedRidge<'_, F> {
    /// Bounds of the Hessian over all points; see [`Ridge::curvature`].
    ///
    /// # Errors
    /// As [`Ridge::curvature`].
    pub fn curvature(&self) -> Result<Curvature, Error> {
        match self {
            Self::Copied(ridge) => ridge.curvature(),
            Self::Mapped(ridge) => ridge.curvature(),
            Self::Wide(ridge) => ridge.curvature(),
        }
    }

    fn inner(&self) -> &dyn LineIntegral {
        match self {
            Self::Copied(ridge) => ridge,
            Self::Mapped(ridge) => ridge,
            Self::Wide(ridge) => ridge,
        }
    }
}

impl<F: Family> LineIntegral for WhitenedRidge<'_, F> {
    fn dimension(&self) -> usize {
        self.inner().dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.inner().integrate(length, positions, momenta, integrals, scratch)
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.inner().gradients(positions, gradients, scratch)
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.inner().values_and_gradients(positions, values, gradients, scratch)
    }

    fn stiff(&self) -> usize {
        self.inner().stiff()
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.inner().add_stiff(eta, per_l, z, p);
    }

    fn thinning(&self) -> Result<&dyn Thinning, Error> {
        self.inner().thinning()
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.inner().shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.inner().collective()
    }
}

impl<F: Family> Gradient for WhitenedRidge<'_, F> {
    fn dimension(&self) -> usize {
        self.inner().dimension()
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        let done = self.gradients(point, gradient, &mut Scratch::default());
        Ok(done.map_err(|error| error.to_string())?)
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

impl Quadratic {
    /// The same function of z.
    fn whitened(&self, whitening: &Whitening) -> Result<Self, Error> {
        let d = whitening.dimension();
        if let (Self::Diagonal(prior), Map::Diagonal(scales)) = (self, whitening.map()) {
            return Ok(Self::Diagonal(prior.whitened(whitening.centre(), scales)?));
        }
        if let (Self::At { prior, at, precision, mean }, Map::Diagonal(scales)) =
            (self, whitening.map())
        {
            let prior = prior.whitened(whitening.centre(), scales)?;
            let mean = mean - dot(at, whitening.centre());
            let at: Vec<f64> = at.iter().zip(scales).map(|(a, s)| a * s).collect();
            if let Some(coefficient) = at.iter().position(|a| !a.is_finite()) {
                let (what, value) = ("where the prior of the intercept holds", at[coefficient]);
                return Err(Error::Whitening { what, coefficient, value, need: "a finite number" });
            }
            return Ok(Self::At { prior, at, precision: *precision, mean });
        }
        let slope = self.gradient(whitening.centre());
        let mut linear = vec![0.0; d];
        whitening.map().add_transposed_image(&slope, &mut linear);
        let matrix = match (self, whitening.map()) {
            // A quarter of the work of two products with a diagonal matrix in between.
            (Self::Diagonal(prior), Map::Matrix(rows)) if d > DENSE => {
                gram(&Dense::new(d, d, &rows[..])?.into(), prior.precision())
            }
            (_, map) => {
                let mut q = vec![0.0; d * d];
                self.add_to(&mut q);
                map.congruence(&q, d)
            }
        };
        let lost = |k: usize| !matrix[k * (d + 1)].is_finite() || !linear[k].is_finite();
        match (0..d).find(|k| lost(*k)) {
            Some(coefficient) => Err(Error::Whitening {
                what: "the precision of the prior in new coordinates",
                coefficient,
                value: matrix[coefficient * (d + 1)],
                need: "a finite number",
            }),
            None => Ok(Self::General { matrix, linear }),
        }
    }
}

impl Prior {
    /// The same prior of z = (θ − centre)/scale.
    fn whitened(&self, centre: &[f64], scales: &[f64]) -> Result<Self, Error> {
        let means = self.mean().iter().zip(self.precision());
        let mean = means.zip(centre.iter().zip(scales));
        let mean = mean.map(|((m, q), (c, s))| if *q == 0.0 { 0.0 } else { (m - c) / s });
        let precision: Vec<f64> =
            self.precision().iter().zip(scales).map(|(q, s)| q * s * s).collect();
        // A precision that underflows or overflows would be a different prior.
        let lost = |(new, old): (&f64, &f64)| !new.is_finite() || (*new == 0.0 && *old > 0.0);
        match precision.iter().zip(self.precision()).position(lost) {
            Some(coefficient) => Err(Error::Whitening {
                what: "the precision of the prior in new coordinates",
                coefficient,
                value: precision[coefficient],
                need: "a positive, finite number",
            }),
            None => Ok(Self::from_precision(mean.collect(), precision)),
        }
    }
}

/// The design times a square matrix.
fn product(dense: &Dense<'_>, matrix: &[f64]) -> Result<Design<'static>, Error> {
    let d = dense.columns();
    let rows = dense.values().len() / d;
    let mut values = vec![0.0; rows * d];
    // In blocks, as a design in a file comes.
    let block = rows_of_block(d) * d;
    for (rows, out) in dense.values().chunks(block).zip(values.chunks_mut(block)) {
        times(rows, matrix, d, out);
    }
    Ok(Dense::new(rows, d, values)?.into())
}

/// Some rows of d entries times a square matrix.
fn times(rows: &[f64], matrix: &[f64], d: usize, out: &mut [f64]) {
    let count = rows.len() / d;
    let into = MatMut::from_row_major_slice_mut(out, count, d);
    let rows = MatRef::from_row_major_slice(rows, count, d);
    matmul(into, Accum::Replace, rows, as_square(matrix, d), 1.0, Par::Seq);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a row becomes depends on no other row, so that designs may be cut anywhere.
    #[test]
    fn products_of_blocks_are_those_of_the_whole() {
        for (rows, d) in [
            (5000, 1),
            (4000, 2),
            (3001, 3),
            (2500, 7),
            (2049, 21),
            (1500, 64),
            (900, 130),
            (700, 501),
        ] {
            let value = |k: usize| ((k * 7919) as f64 * 0.37).sin();
            let a: Vec<f64> = (0..rows * d).map(value).collect();
            let matrix: Vec<f64> = (0..d * d).map(|k| value(k + 11)).collect();
            let (mut whole, mut parts) = (vec![0.0; rows * d], vec![0.0; rows * d]);
            times(&a, &matrix, d, &mut whole);
            let block = rows_of_block(d) * d;
            for (rows, out) in a.chunks(block).zip(parts.chunks_mut(block)) {
                times(rows, &matrix, d, out);
            }
            let apart = whole.iter().zip(&parts).filter(|(a, b)| a != b).count();
            assert_eq!(apart, 0, "{rows} x {d}");
        }
    }
}

//! Wide models: fewer rows than columns, and a normal prior for every coefficient.
//!
//! Where the rows are n and the columns d > n, the data say something about n directions only. In
//! the coordinates θ = μ + S Q (α, β), with the prior's means μ and scales S and a rotation Q whose
//! first columns span the rows of A S, the posterior is a product: β, of d − n coordinates, is
//! standard normal, exactly; α has the posterior of a model with n columns, whose rows are A S Q. A
//! gradient takes n² operations for each chain instead of n d, and no matrix is larger than n d.
//!
//! A coefficient with a flat prior has no such scale. It gets one, and a row of its own among those
//! that the rotation gathers; the prior of α is then a normal one less what it was given.

use std::sync::Arc;

use crate::curvature::{Curvature, DENSE};
use crate::design::{Dense, Design};
use crate::error::{Error, length};
use crate::families::Family;
use crate::hessian::dot;
use crate::line_integral::{LineIntegral, Scratch, whole_chains};
use crate::mode::{Mode, ModeSearch, Note};
use crate::prior::Prior;
use crate::quadratic::Quadratic;
use crate::ridge::Ridge;
use crate::rotation::Rotation;
use crate::whitening::{Map, Whitening};

/// Models with no more columns are not taken apart: d x d matrices are no burden.
const FEW_COLUMNS: usize = DENSE;
/// The most rows for each column: beyond, there is little to gain.
const ROWS_PER_COLUMN: [usize; 2] = [3, 4];
/// The most operations of the factorisation: d k².
const MOST_WORK: usize = 1 << 40;

/// A wide model as a product of a standard normal distribution and a model with few columns.
///
/// Its points are (β, α).
#[derive(Debug)]
pub struct Wide<F> {
    frame: Whitening,
    core: Ridge<'static, F>,
    /// The dimension of β.
    round: usize,
    /// Whether every coefficient has a prior.
    proper: bool,
}

impl<F: Family + Clone> Ridge<'_, F> {
    /// This model taken apart, if that pays: with more than 1,000 columns, fewer rows than three
    /// quarters of them, all of which this process has, and independent priors. Found when first
    /// asked for.
    pub fn wide(&self) -> Option<&Wide<F>> {
        self.few_rows()?;
        self.wide_cell().get_or_init(|| Wide::new(self).map(Arc::new)).as_deref()
    }
}

impl<F: Family> Ridge<'_, F> {
    /// The number of directions that the data or flat priors say something about, where they are so
    /// few that it pays to take the model apart.
    pub(crate) fn few_rows(&self) -> Option<usize> {
        let flats = match self.quadratic() {
            Quadratic::Diagonal(prior) => prior.precision().iter().filter(|q| **q == 0.0).count(),
            Quadratic::At { .. } | Quadratic::General { .. } => return None,
        };
        let (d, k) = (self.dimension(), self.observations().len() + flats);
        let [rows, columns] = ROWS_PER_COLUMN;
        let pays = d > FEW_COLUMNS
            && !self.rows().is_shared()
            && k.saturating_mul(columns) <= d.saturating_mul(rows)
            && d.saturating_mul(k).saturating_mul(k) <= MOST_WORK;
        pays.then_some(k)
    }
}

impl<F: Family + Clone> Wide<F> {
    /// The model taken apart, whether that pays or not; `None` unless priors are independent, this
    /// process has all rows, and there are fewer of them than columns.
    pub fn new(ridge: &Ridge<'_, F>) -> Option<Self> {
        let Quadratic::Diagonal(prior) = ridge.quadratic() else { return None };
        let d = ridge.dimension();
        let flat: Vec<usize> = (0..d).filter(|k| prior.precision()[*k] == 0.0).collect();
        let (n, k) = (ridge.observations().len(), ridge.observations().len() + flat.len());
        if ridge.rows().is_shared() || k >= d {
            return None;
        }
        let mut sizes = vec![0.0; d];
        if !flat.is_empty() {
            sizes = ridge.diagonal(&vec![1.0; n]);
        }
        let of = |k: usize| match prior.precision()[k] {
            0.0 if sizes[k] > 0.0 => 1.0 / sizes[k],
            0.0 => 1.0,
            q => 1.0 / q,
        };
        let scales: Vec<f64> = (0..d).map(|k| of(k).sqrt()).collect();
        let (rotation, rows) = Rotation::new(&gathered(ridge.design(), &flat, &scales)?, scales)?;
        // Rows of the flat coefficients take the prior away that their scales stand for.
        let quadratic = if flat.is_empty() {
            Quadratic::Diagonal(Prior::centred(k, 1.0).ok()?)
        } else {
            let mut matrix = vec![0.0; k * k];
            matrix.iter_mut().step_by(k + 1).for_each(|entry| *entry = 1.0);
            for row in rows[n * k..].chunks_exact(k) {
                for (i, entries) in matrix.chunks_exact_mut(k).enumerate() {
                    entries.iter_mut().zip(row).for_each(|(entry, x)| *entry -= row[i] * x);
                }
            }
            Quadratic::General { matrix, linear: vec![0.0; k] }
        };
        let offsets = ridge.predictors(prior.mean());
        let design = Dense::new(n, k, rows[..n * k].to_vec()).ok()?;
        let core = ridge.with_coordinates(design.into(), quadratic, offsets).ok()?;
        let frame = Whitening::rotated(prior.mean().to_vec(), rotation);
        Some(Self { frame, core, round: d - k, proper: flat.is_empty() })
    }
}

/// The design with a row for each flat coefficient, which has 1 in scaled units.
fn gathered(design: &Design<'_>, flat: &[usize], scales: &[f64]) -> Option<Design<'static>> {
    let (n, d) = (design.rows(), design.columns());
    let mut values = Vec::with_capacity((n + flat.len()) * d);
    for row in 0..n {
        values.resize(values.len() + d, 0.0);
        crate::hessian::visit(design, row, |k, a| values[row * d + k] = a);
    }
    for &k in flat {
        let from = values.len();
        values.resize(from + d, 0.0);
        values[from + k] = 1.0 / scales[k];
    }
    Some(Dense::new(n + flat.len(), d, values).ok()?.into())
}

impl<F: Family + Clone> Wide<F> {
    /// From (β, α) to coefficients.
    #[must_use]
    pub fn frame(&self) -> &Whitening {
        &self.frame
    }

    /// The dimension of β, which is standard normal.
    #[must_use]
    pub fn round(&self) -> usize {
        self.round
    }

    /// The model of α.
    #[must_use]
    pub fn core(&self) -> &Ridge<'static, F> {
        &self.core
    }

    /// The mode, as (β, α), of the model `ridge` that was taken apart.
    ///
    /// # Errors
    /// As [`ModeSearch::of_ridge`].
    pub fn mode(&self, ridge: &Ridge<'_, F>, search: &ModeSearch) -> Result<Mode, Error> {
        let d = self.frame.dimension();
        if !self.proper {
            // Whether the posterior exists is a question about columns.
            let mut mode = search.of_ridge(ridge)?;
            let theta = std::mem::replace(&mut mode.point, vec![0.0; d]);
            self.frame.to_whitened(&theta, &mut mode.point)?;
            return Ok(mode);
        }
        let search = search.clone().mapped_start(|start| {
            let mut point = vec![0.0; d];
            self.frame.to_whitened(&start, &mut point)?;
            Ok(point.split_off(self.round))
        })?;
        let mut mode = search.of_ridge(&self.core)?;
        // Columns of the core are not those of the design.
        mode.notes.retain(|note| !matches!(note, Note::Collinear(_)));
        let mut point = vec![0.0; self.round];
        point.append(&mut mode.point);
        Ok(Mode { point, ..mode })
    }

    /// The potential as a function of z, where α = centre + W z for the last coordinates of
    /// `within`; the others stay as they are.
    ///
    /// # Errors
    /// As [`Ridge::whitened`]; coordinates that change the others.
    pub fn whitened(&self, within: &Whitening) -> Result<WhitenedWide<F>, Error> {
        length("the whitening", within.dimension(), self.frame.dimension())?;
        self.with_core(&within.last(self.core.dimension())?)
    }

    /// The same for coordinates of the coefficients, if they are of that kind.
    pub(super) fn in_coordinates(
        &self, whitening: &Whitening,
    ) -> Option<Result<WhitenedWide<F>, Error>> {
        if !matches!(whitening.map(), Map::Wide(..)) {
            return None;
        }
        Some(self.with_core(&whitening.within(&self.frame)?))
    }

    fn with_core(&self, last: &Whitening) -> Result<WhitenedWide<F>, Error> {
        let core = self.core.whitened(last)?;
        Ok(WhitenedWide { core, round: self.round })
    }
}

/// A wide model as a function of z.
#[derive(Debug, Clone)]
pub struct WhitenedWide<F> {
    core: Ridge<'static, F>,
    round: usize,
}

impl<F: Family> WhitenedWide<F> {
    /// Bounds of the Hessian over all points: those of the core, and 1.
    ///
    /// # Errors
    /// As [`Ridge::curvature`].
    pub fn curvature(&self) -> Result<Curvature, Error> {
        Ok(self.core.curvature()?.beside_ones())
    }

    /// Calls a function with lists of α, and its result goes to the places of α.
    fn with_alpha(
        &self, from: [&[f64]; 2], out: &mut [f64], scratch: &mut Scratch,
        evaluate: impl FnOnce([&[f64]; 2], &mut [f64], &mut Scratch) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (d, k) = (self.dimension(), self.core.dimension());
        whole_chains(d, from[0], from[1], out)?;
        let size = from[0].len() / d * k;
        let mut room = std::mem::take(&mut scratch.mapped);
        room.resize(3 * size, 0.0);
        let (alphas, found) = room.split_at_mut(2 * size);
        let lists = from.into_iter().flat_map(|list| list.chunks_exact(d));
        for (list, alpha) in lists.zip(alphas.chunks_exact_mut(k)) {
            alpha.copy_from_slice(&list[self.round..]);
        }
        let (a, b) = alphas.split_at(size);
        let outcome = evaluate([a, b], found, scratch);
        for (found, out) in found.chunks_exact(k).zip(out.chunks_exact_mut(d)) {
            out[self.round..].copy_from_slice(found);
        }
        scratch.mapped = room;
        outcome
    }

    /// The gradient of |β|²/2.
    fn copy_beta(&self, positions: &[f64], out: &mut [f64]) {
        let d = self.dimension();
        for (position, out) in positions.chunks_exact(d).zip(out.chunks_exact_mut(d)) {
            out[..self.round].copy_from_slice(&position[..self.round]);
        }
    }
}

impl<F: Family> LineIntegral for WhitenedWide<F> {
    fn dimension(&self) -> usize {
        self.round + self.core.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        1
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.with_alpha([positions, momenta], integrals, scratch, |[a, b], out, scratch| {
            self.core.integrate(length, a, b, out, scratch)
        })?;
        let d = self.dimension();
        let lists = positions.chunks_exact(d).zip(momenta.chunks_exact(d));
        for ((position, momentum), out) in lists.zip(integrals.chunks_exact_mut(d)) {
            let beta = position.iter().zip(momentum).zip(&mut out[..self.round]);
            beta.for_each(|((x, p), out)| *out = length * (x + 0.5 * (length * p)));
        }
        Ok(())
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.with_alpha([positions, positions], gradients, scratch, |[a, _], out, scratch| {
            self.core.gradients(a, out, scratch)
        })?;
        self.copy_beta(positions, gradients);
        Ok(())
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        self.with_alpha([positions, positions], gradients, scratch, |[a, _], out, scratch| {
            self.core.values_and_gradients(a, values, out, scratch)
        })?;
        self.copy_beta(positions, gradients);
        for (value, position) in values.iter_mut().zip(positions.chunks_exact(self.dimension())) {
            let beta = &position[..self.round];
            *value += 0.5 * dot(beta, beta);
        }
        Ok(())
    }

    fn stiff(&self) -> usize {
        self.core.stiff()
    }

    fn add_stiff(&self, eta: f64, per_l: f64, z: &mut [f64], p: &mut [f64]) {
        self.core.add_stiff(eta, per_l, &mut z[self.round..], &mut p[self.round..]);
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.core.shares_out(chains)
    }
}

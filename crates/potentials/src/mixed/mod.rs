//! Mixed models: posteriors with effects of groups, whose standard deviations and correlations are
//! unknown.
//!
//! A point is (β, ψ, φ): the coefficients, those of groups among them, the parameters of the
//! likelihood, and the parameters φ of the groups' covariances. Given ψ and φ, β has a posterior
//! like that of any model, nearly normal; but its scale and place follow φ, and a sampler that moves
//! in (β, ψ, φ) meets a funnel. So samplers move in (ζ, t) instead ([`WhitenedMixed`]): t are the
//! parameters, and β = m(t) + L(t)⁻ᵀ ζ with the mean and the precision L Lᵀ that a normal
//! approximation gives β at t ([`Chart`]). For normal responses the approximation is exact, ζ is
//! standard normal and independent of t, and what is left is the marginal posterior of t. For
//! others it is nearly so; log det L makes the change of coordinates exact in any case.

mod bend;
mod chart;
mod prepare;
mod quadratic;
mod residuals;
#[cfg(test)]
mod shared;
mod terms;
#[cfg(test)]
mod tests;
mod whitened;

pub use chart::Chart;
pub use terms::{GroupTerm, Scale};
pub use whitened::WhitenedMixed;

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::cholesky::{Gram, Symbolic};
use crate::density::Density;
use crate::error::{Error, length};
use crate::joint::{Joint, ParameterScale};
use crate::line_integral::{LineIntegral, Scratch};
use crate::properness::{Proof, Properness};
use chart::Here;

/// A joint posterior of coefficients, parameters of the likelihood, and those of group effects.
///
/// Rows of the joint posterior may be spread over processes. All of them then make the same model,
/// with the same terms, and the same calls. The matrices that make coordinates are sums over all
/// rows, and each process has them whole.
///
/// ```
/// use std::sync::Arc;
/// use ridgewalk_potentials::likelihoods::Normal;
/// use ridgewalk_potentials::{Dense, Density, GroupTerm, Joint, Mixed, Sparse};
///
/// // Two responses of each of three groups: an intercept, and an effect for each group.
/// let rows = vec![1., 1., 0., 0., 1., 1., 0., 0., 1., 0., 1., 0., 1., 0., 1., 0., 1., 0., 0., 1., 1., 0., 0., 1.];
/// let design = Sparse::from_dense(&Dense::new(6, 4, rows)?);
/// let joint = Joint::new(design, Arc::new(Normal), &[1.0, 1.2, 2.0, 2.1, 3.1, 2.8])?
///     .with_parameter_priors(vec![Density::Exponential { rate: 1.0 }])?;
/// let groups = GroupTerm {
///     first: 1,
///     levels: 3,
///     width: 1,
///     sds: vec![Density::Normal { mean: 0.0, scale: 2.5 }],
///     concentration: 1.0,
/// };
/// let model = Mixed::new(joint, vec![groups], &[2.0, 0.0, 0.0, 0.0, 0.0])?;
/// // An intercept, three effects, log σ and the logarithm of the groups' standard deviation.
/// assert_eq!(model.dimension(), 6);
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
#[derive(Debug)]
pub struct Mixed {
    joint: Joint<'static>,
    terms: Vec<GroupTerm>,
    /// Where the search for typical values begins: coefficients and parameters of the likelihood.
    start: Vec<f64>,
    gram: Gram,
    symbolic: Symbolic,
    /// For each term, the places of the lower triangles of its levels' blocks in the matrix.
    blocks: Vec<Vec<usize>>,
    /// The coordinates that are whitened given the others: the coefficients, and thresholds.
    head: usize,
    chart: OnceLock<Arc<Chart>>,
    /// Gradients that the search for the chart took so far.
    spent: AtomicU64,
    /// Working space: places of charts that nobody is at.
    places: Mutex<Vec<Here>>,
}

impl Mixed {
    /// A model with these groups. Priors of their effects in `joint` must be flat; their law comes
    /// from the terms. The search for typical values begins at `start`, a point of `joint`.
    ///
    /// # Errors
    /// Terms that are not within the coefficients, or with invalid priors; a start of another
    /// length; a model too large to compute with.
    pub fn new(joint: Joint<'static>, terms: Vec<GroupTerm>, start: &[f64]) -> Result<Self, Error> {
        length("the start", start.len(), joint.dimension())?;
        for term in &terms {
            term.check()?;
            length("the list of coefficients", joint.coefficients(), {
                joint.coefficients().max(term.first + term.effects())
            })?;
        }
        let located = match joint.likelihood().scale() {
            ParameterScale::Ordered => joint.dimension() - joint.coefficients(),
            ParameterScale::Positive => 0,
        };
        let rows = joint.rows();
        let gram = Gram::new(joint.design(), joint.likelihood().predictors(), located, rows);
        let blocks = terms.iter().flat_map(GroupTerm::block_entries);
        let pattern = gram.pattern(joint.design(), blocks.filter(|(row, column)| row != column));
        let pattern = pattern.of_all(rows);
        let of = |term: &GroupTerm| -> Option<Vec<usize>> {
            term.block_entries().map(|(row, column)| pattern.find(row, column)).collect()
        };
        let blocks: Option<Vec<Vec<usize>>> = terms.iter().map(of).collect();
        let symbolic = blocks.and_then(|blocks| Some((blocks, Symbolic::new(pattern)?)));
        // Memory may be short in one process only.
        let fits = rows.everywhere(symbolic.is_some());
        let Some((blocks, symbolic)) = symbolic.filter(|_| fits) else {
            return Err(Error::TooLarge);
        };
        let head = gram.size();
        let (start, chart, spent) = (start.to_vec(), OnceLock::new(), AtomicU64::new(0));
        let places = Mutex::default();
        Ok(Self { joint, terms, start, gram, symbolic, blocks, head, chart, spent, places })
    }

    /// The model without the law of the groups' effects.
    #[must_use]
    pub fn joint(&self) -> &Joint<'static> {
        &self.joint
    }

    /// The terms.
    #[must_use]
    pub fn terms(&self) -> &[GroupTerm] {
        &self.terms
    }

    /// The number of coefficients, parameters of the likelihood and of the groups.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.joint.dimension() + self.terms.iter().map(GroupTerm::parameters).sum::<usize>()
    }

    /// Whether the posterior is known to be proper, from its priors.
    #[must_use]
    pub fn properness(&self) -> Properness {
        let priors = self.joint.priors().iter().enumerate();
        let of_effect = |k: usize| {
            self.terms.iter().any(|term| (term.first..term.first + term.effects()).contains(&k))
        };
        let coefficients = priors.filter(|(k, prior)| !prior.is_proper() && !of_effect(*k)).count();
        let scales = self.terms.iter().flat_map(|term| &term.sds);
        let mut others = self.joint.parameter_priors().iter().chain(scales);
        if coefficients == 0 && others.all(Density::is_proper) {
            Properness::Proper(Proof::Prior)
        } else {
            Properness::NotChecked("a prior is flat, and the model has effects of groups")
        }
    }

    /// Whether U is convex in the coordinates (ζ, t).
    #[must_use]
    pub fn log_concave(&self) -> bool {
        self.terms.is_empty() && self.joint.log_concave()
    }

    /// The number of coordinates ζ; the others are t.
    #[must_use]
    pub fn head(&self) -> usize {
        self.head
    }

    /// The entries of the Cholesky factor that makes coordinates, and those of the matrix that it is
    /// a factor of, both of the lower triangle.
    #[must_use]
    pub fn fill(&self) -> (usize, usize) {
        (self.symbolic.entries(), self.symbolic.pattern.rows.len())
    }

    /// The coordinates (ζ, t) for this model: found at the first call, which searches for typical
    /// values of t.
    ///
    /// # Errors
    /// A posterior that is not finite at the start, or has no typical values.
    pub fn chart(&self) -> Result<&Arc<Chart>, Error> {
        if let Some(chart) = self.chart.get() {
            return Ok(chart);
        }
        let found = Arc::new(self.prepare()?);
        Ok(self.chart.get_or_init(|| found))
    }

    /// The point (β, ψ, φ) of coordinates (ζ, t), in their place.
    ///
    /// # Errors
    /// A list of another length, coordinates so far out that they have no point; as
    /// [`Mixed::chart`].
    pub fn to_plain(&self, coordinates: &mut [f64]) -> Result<(), Error> {
        length("the point", coordinates.len(), self.dimension())?;
        let chart = self.chart()?;
        let (zeta, t) = coordinates.split_at_mut(self.head);
        let mut places = self.take_places(1);
        let mut unbent = Vec::new();
        chart.knees.unbend(t, &mut unbent);
        t.copy_from_slice(&unbent);
        let there = chart.at(self, t, &mut places[0]);
        if there {
            let mut x = vec![0.0; self.head];
            chart.point(self, &mut places[0], zeta, &mut x);
            zeta.copy_from_slice(&x);
        }
        self.return_places(places);
        if there { Ok(()) } else { Err(Error::OutsideSupport { point: t.to_vec() }) }
    }

    /// U and its gradient at points (β, ψ, φ) stored one after the other.
    ///
    /// # Errors
    /// Lists of the wrong length.
    pub fn values_and_gradients(
        &self, points: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let (d, inner) = (self.dimension(), self.joint.dimension());
        length("the list of values", values.len(), points.len() / d)?;
        length("the list of gradients", gradients.len(), points.len())?;
        let x: Vec<f64> =
            points.chunks_exact(d).flat_map(|point| &point[..inner]).copied().collect();
        let mut by_x = vec![0.0; x.len()];
        self.joint.values_and_gradients(&x, values, &mut by_x, scratch)?;
        let found = values.iter_mut().zip(by_x.chunks_exact_mut(inner));
        let places = points.chunks_exact(d).zip(gradients.chunks_exact_mut(d));
        for ((value, by_x), (point, gradient)) in found.zip(places) {
            let (x, phi) = point.split_at(inner);
            let (into_x, into_phi) = gradient.split_at_mut(inner);
            into_x.copy_from_slice(by_x);
            *value += self.add_groups(x, phi, into_x, into_phi);
        }
        Ok(())
    }

    /// So many places, with contents that do not matter.
    fn take_places(&self, count: usize) -> Vec<Here> {
        let mut all = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        let left = all.len().saturating_sub(count);
        let mut taken = all.split_off(left);
        taken.resize_with(count, Here::default);
        taken
    }

    fn return_places(&self, places: Vec<Here>) {
        self.places.lock().unwrap_or_else(PoisonError::into_inner).extend(places);
    }

    /// Each term with its part of φ.
    fn with_parameters<'a>(
        &'a self, phi: &'a [f64],
    ) -> impl Iterator<Item = (&'a GroupTerm, &'a [f64])> {
        let mut rest = phi;
        self.terms.iter().map(move |term| {
            let (mine, others) = rest.split_at(term.parameters());
            rest = others;
            (term, mine)
        })
    }

    /// The law of the effects and the priors of φ: adds their part of the gradient by x, writes that
    /// by φ, and returns their part of U.
    fn add_groups(&self, x: &[f64], phi: &[f64], by_x: &mut [f64], by_phi: &mut [f64]) -> f64 {
        let (mut sum, mut rest) = (0.0, by_phi);
        for (term, phi) in self.with_parameters(phi) {
            let (mine, others) = std::mem::take(&mut rest).split_at_mut(term.parameters());
            rest = others;
            let precision = term.scale(phi).precision();
            let squares = term.squares(x);
            sum += term.prior(phi) + term.energy(phi, &squares);
            term.slopes(phi, &squares, mine);
            let q = term.width;
            for (u, g) in term.of(x).chunks_exact(q).zip(term.of_mut(by_x).chunks_exact_mut(q)) {
                for (g, row) in g.iter_mut().zip(precision.chunks_exact(q)) {
                    *g += row.iter().zip(u).map(|(p, u)| p * u).sum::<f64>();
                }
            }
        }
        sum
    }
}

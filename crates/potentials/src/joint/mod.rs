//! Posteriors of coefficients and of the likelihood's own parameters together.

pub(crate) mod derivatives;
mod mode;
mod scale;
mod whitened;

pub use scale::ParameterScale;
pub use whitened::WhitenedJoint;

use std::sync::Arc;

use crate::batch::Whole;
use crate::black_box::Gradient;
use crate::density::Density;
use crate::design::Design;
use crate::error::{Error, GradientError, RowValue, length};
use crate::families::{Objection, Observation};
use crate::hessian::visit;
use crate::likelihoods::{Block, Likelihood};
use crate::line_integral::{LineIntegral, Scratch, no_line_integrals, whole_chains};
use crate::pass::{Law, Terms};
use crate::rows::Rows;

/// Rows whose predictors are computed together, for likelihoods with several of them.
const ROWS: usize = 64;

/// The joint posterior of coefficients β and parameters ψ of a [`Likelihood`], with a prior
/// [`Density`] for each: U(β, ψ) = Σ w u(a·β + o, ψ; y) + priors.
///
/// A point is β, for each linear predictor in turn, and then ψ on the whole real line: the
/// logarithm of a scale, not the scale. Priors of parameters are those of the parameters as users
/// read them; the change of variables is part of U.
///
/// It has values and gradients, but no line integrals: it is for kernels that accept or reject.
///
/// ```
/// use std::sync::Arc;
/// use ridgewalk_potentials::likelihoods::Normal;
/// use ridgewalk_potentials::{Density, Dense, Joint};
///
/// // Five responses, an intercept, and noise of unknown scale.
/// let design = Dense::new(5, 1, vec![1.0; 5])?;
/// let joint = Joint::new(design, Arc::new(Normal), &[1.0, 2.0, 2.5, 3.0, 4.0])?
///     .with_priors(vec![Density::Normal { mean: 0.0, scale: 10.0 }])?
///     .with_parameter_priors(vec![Density::Exponential { rate: 1.0 }])?;
/// let mode = joint.mode(&[0.0, 0.0])?;
/// assert!((mode.point[0] - 2.5).abs() < 0.02 && (mode.point[1].exp() - 0.97).abs() < 0.1);
/// # Ok::<(), ridgewalk_potentials::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct Joint<'a> {
    design: Design<'a>,
    likelihood: Arc<dyn Likelihood>,
    observations: Vec<Observation>,
    /// Empty where all are 1.
    weights: Vec<f64>,
    /// Empty where all are 0.
    offsets: Vec<f64>,
    /// Of the coefficients, for each predictor in turn.
    priors: Vec<Density>,
    /// Of the parameters, as users read them.
    parameter_priors: Vec<Density>,
    /// The means of the predictors, if the prior of the intercept is one of the linear predictor at
    /// the means; else empty.
    means: Vec<f64>,
    /// Who has the rows.
    rows: Rows,
}

impl<'a> Joint<'a> {
    /// A model of responses, one for each row of the design, with flat priors.
    ///
    /// # Errors
    /// Lengths that do not match, or a response that the likelihood cannot have, with its row.
    pub fn new(
        design: impl Into<Design<'a>>, likelihood: Arc<dyn Likelihood>, responses: &[f64],
    ) -> Result<Self, Error> {
        let observations = responses.iter().map(|&y| Observation::of(y)).collect();
        Self::of_observations(design, likelihood, observations)
    }

    /// A model of observations that are more than one number: counts out of trials, or times
    /// within an interval.
    ///
    /// # Errors
    /// As [`Joint::new`].
    pub fn of_observations(
        design: impl Into<Design<'a>>, likelihood: Arc<dyn Likelihood>,
        observations: Vec<Observation>,
    ) -> Result<Self, Error> {
        let design = design.into();
        length("the list of responses", observations.len(), design.rows())?;
        for (row, &y) in observations.iter().enumerate() {
            let (what, value, need) = match likelihood.objection(y) {
                None => continue,
                Some(Objection::Response(need)) => (RowValue::Response, y.response, need),
                Some(Objection::Trials(need)) => (RowValue::Trials, y.trials, need),
            };
            return Err(Error::Row { what, row, value, need });
        }
        let priors = vec![Density::Flat; likelihood.predictors() * design.columns()];
        let parameter_priors = vec![Density::Flat; likelihood.parameters()];
        Ok(Self {
            design,
            likelihood,
            observations,
            weights: Vec::new(),
            offsets: Vec::new(),
            priors,
            parameter_priors,
            means: Vec::new(),
            rows: Rows::default(),
        })
    }

    /// The same model with a prior for each coefficient.
    ///
    /// # Errors
    /// A list of another length, or a density with an invalid parameter.
    pub fn with_priors(mut self, priors: Vec<Density>) -> Result<Self, Error> {
        length("the list of priors", priors.len(), self.priors.len())?;
        priors.iter().try_for_each(Density::check)?;
        self.priors = priors;
        Ok(self)
    }

    /// The same model with a prior for each parameter of the likelihood.
    ///
    /// # Errors
    /// A list of another length, or a density with an invalid parameter.
    pub fn with_parameter_priors(mut self, priors: Vec<Density>) -> Result<Self, Error> {
        length("the list of priors of parameters", priors.len(), self.parameter_priors.len())?;
        priors.iter().try_for_each(Density::check)?;
        self.parameter_priors = priors;
        Ok(self)
    }

    /// The same model where the prior of the first coefficient, an intercept, is that of the linear
    /// predictor at these values of all columns. The first of them does not matter.
    ///
    /// # Errors
    /// Unless there is a finite number for each column.
    pub fn with_intercept_at(mut self, mut means: Vec<f64>) -> Result<Self, Error> {
        length("the list of means", means.len(), self.design.columns())?;
        if let Some(column) = means.iter().position(|mean| !mean.is_finite()) {
            return Err(Error::Entry { row: 0, column, value: means[column] });
        }
        // The prior's own argument is the intercept and what the others add to it.
        means.iter_mut().take(1).for_each(|mean| *mean = 1.0);
        self.means = means;
        Ok(self)
    }

    /// The same model with a weight for each row: how many times it counts.
    ///
    /// # Errors
    /// Unless there is a positive, finite weight for each row.
    pub fn with_weights(mut self, weights: Vec<f64>) -> Result<Self, Error> {
        self.weights = crate::ridge::valid_weights(weights, self.design.rows())?;
        Ok(self)
    }

    /// The same model with a known number added to each linear predictor.
    ///
    /// # Errors
    /// Unless there is a finite offset for each row.
    pub fn with_offsets(mut self, offsets: Vec<f64>) -> Result<Self, Error> {
        self.offsets = crate::ridge::valid_offsets(offsets, self.design.rows())?;
        Ok(self)
    }

    /// The model whose rows are spread over several processes; this process has these rows.
    #[must_use]
    pub fn with_rows(self, rows: &Rows) -> Self {
        Self { rows: rows.clone(), ..self }
    }

    /// The number of coefficients and parameters.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.priors.len() + self.parameter_priors.len()
    }

    /// The number of coefficients, over all predictors.
    #[must_use]
    pub fn coefficients(&self) -> usize {
        self.priors.len()
    }

    /// The number of columns of the design: of coefficients of each linear predictor.
    #[must_use]
    pub fn columns(&self) -> usize {
        self.design.columns()
    }

    /// The rows a_i.
    pub(crate) fn design(&self) -> &Design<'a> {
        &self.design
    }

    /// Who has the rows.
    pub(crate) fn rows(&self) -> &Rows {
        &self.rows
    }

    /// The priors of the coefficients.
    pub(crate) fn priors(&self) -> &[Density] {
        &self.priors
    }

    /// The priors of the parameters.
    pub(crate) fn parameter_priors(&self) -> &[Density] {
        &self.parameter_priors
    }

    /// The linear predictors of all rows, m numbers a row.
    pub(crate) fn all_predictors(&self, beta: &[f64]) -> Vec<f64> {
        let mut s = vec![0.0; self.observations.len() * self.likelihood.predictors()];
        self.predictors(0..self.observations.len(), beta, &mut s);
        s
    }

    /// The likelihood.
    #[must_use]
    pub fn likelihood(&self) -> &Arc<dyn Likelihood> {
        &self.likelihood
    }

    /// Whether U is convex.
    #[must_use]
    pub fn log_concave(&self) -> bool {
        // The change of variables of a parameter spoils convexity in general.
        self.parameter_priors.is_empty()
            && self.likelihood.convex()
            && self.priors.iter().all(Density::log_concave)
    }

    /// Whether every prior can be normalised.
    #[must_use]
    pub fn has_proper_prior(&self) -> bool {
        self.priors.iter().chain(&self.parameter_priors).all(Density::is_proper)
    }

    /// The rows with their terms, at these parameters of all chains.
    fn whole<'b>(&'b self, parameters: &'b [f64]) -> Whole<'b> {
        let law = Law::Likelihood { likelihood: &*self.likelihood, parameters };
        let terms = Terms {
            law,
            observations: &self.observations,
            weights: &self.weights,
            offsets: &self.offsets,
        };
        Whole { design: &self.design, terms, rows: &self.rows }
    }

    /// Whether the prior of a coefficient is one of the linear predictor at the means.
    fn is_at_means(&self, k: usize) -> bool {
        !self.means.is_empty() && k.is_multiple_of(self.means.len())
    }

    /// Where the prior of the intercept holds, with 1 for the intercept itself; empty if that is at 0,
    /// or there are several intercepts.
    pub(crate) fn intercept_at(&self) -> &[f64] {
        if self.likelihood.predictors() == 1 { &self.means } else { &[] }
    }

    /// What the prior of a coefficient is a prior of: the coefficient, or its linear predictor at the
    /// means.
    pub(crate) fn argument(&self, k: usize, beta: &[f64]) -> f64 {
        match self.is_at_means(k) {
            true => beta[k..].iter().zip(&self.means).map(|(x, mean)| x * mean).sum(),
            false => beta[k],
        }
    }

    /// The priors of β and ψ: adds their part of the gradient, and returns that of the value.
    fn add_priors(&self, point: &[f64], gradient: &mut [f64]) -> f64 {
        let (beta, psi) = point.split_at(self.priors.len());
        let (by_beta, by_psi) = gradient.split_at_mut(self.priors.len());
        let mut sum = 0.0;
        for (k, ((prior, &x), by)) in self.priors.iter().zip(beta).zip(&mut *by_beta).enumerate() {
            if !self.is_at_means(k) {
                let [value, slope] = prior.value_and_slope(x);
                sum += value;
                *by += slope;
            }
        }
        for k in (0..self.priors.len()).filter(|k| self.is_at_means(*k)) {
            let [value, slope] = self.priors[k].value_and_slope(self.argument(k, beta));
            sum += value;
            by_beta[k..].iter_mut().zip(&self.means).for_each(|(by, mean)| *by += mean * slope);
        }
        sum + self.likelihood.scale().add_priors(&self.parameter_priors, psi, by_psi)
    }

    /// Values and gradients of the likelihood for all chains, for one linear predictor.
    fn one_predictor(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) {
        let (d, a) = (self.priors.len(), self.parameter_priors.len());
        let chains = values.len();
        // β of all chains, their ψ; and what comes back for each.
        let (mut points, mut found) =
            (std::mem::take(&mut scratch.point), std::mem::take(&mut scratch.gradient));
        points.clear();
        points.extend(positions.chunks_exact(d + a).flat_map(|point| &point[..d]));
        points.extend(positions.chunks_exact(d + a).flat_map(|point| &point[d..]));
        found.resize(chains * (d + 1 + a), 0.0);
        let (beta, psi) = points.split_at(chains * d);
        let (by_beta, rest) = found.split_at_mut(chains * d);
        self.whole(psi).gradients(beta, by_beta, rest, scratch);
        let found_by_chain = by_beta.chunks_exact(d).zip(rest.chunks_exact(1 + a));
        for ((gradient, value), (by_beta, rest)) in
            gradients.chunks_exact_mut(d + a).zip(values).zip(found_by_chain)
        {
            gradient[..d].copy_from_slice(by_beta);
            gradient[d..].copy_from_slice(&rest[1..]);
            *value = rest[0];
        }
        (scratch.point, scratch.gradient) = (points, found);
    }

    /// The same for one chain, with several linear predictors.
    fn several_predictors(
        &self, point: &[f64], gradient: &mut [f64], scratch: &mut Scratch,
    ) -> f64 {
        let (columns, m) = (self.design.columns(), self.likelihood.predictors());
        let (beta, psi) = point.split_at(self.priors.len());
        gradient.fill(0.0);
        let (by_beta, by_psi) = gradient.split_at_mut(self.priors.len());
        let room = &mut scratch.point;
        room.clear();
        room.resize(2 * ROWS * m, 0.0);
        let mut sum = 0.0;
        for first in (0..self.observations.len()).step_by(ROWS) {
            let range = first..(first + ROWS).min(self.observations.len());
            let (s, slopes) = room.split_at_mut(ROWS * m);
            let (s, slopes) = (&mut s[..range.len() * m], &mut slopes[..range.len() * m]);
            self.predictors(range.clone(), beta, s);
            let block = Block {
                s,
                y: &self.observations[range.clone()],
                weights: self.weights.get(range.clone()).unwrap_or_default(),
            };
            sum += self.likelihood.evaluate(psi, block, slopes, by_psi);
            for (row, slopes) in range.zip(slopes.chunks_exact(m)) {
                visit(&self.design, row, |k, entry| {
                    for (j, slope) in slopes.iter().enumerate() {
                        by_beta[j * columns + k] += entry * slope;
                    }
                });
            }
        }
        let mut sum = [sum];
        self.rows.sum(&mut sum);
        self.rows.sum(gradient);
        sum[0]
    }

    /// The linear predictors of some rows, row after row.
    fn predictors(&self, rows: std::ops::Range<usize>, beta: &[f64], s: &mut [f64]) {
        let (columns, m) = (self.design.columns(), self.likelihood.predictors());
        for (row, s) in rows.zip(s.chunks_exact_mut(m)) {
            s.fill(self.offsets.get(row).copied().unwrap_or(0.0));
            visit(&self.design, row, |k, entry| {
                for (j, s) in s.iter_mut().enumerate() {
                    *s += entry * beta[j * columns + k];
                }
            });
        }
    }
}

impl LineIntegral for Joint<'_> {
    fn dimension(&self) -> usize {
        Joint::dimension(self)
    }

    no_line_integrals!();

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = Joint::dimension(self);
        whole_chains(d, positions, positions, gradients)?;
        length("the list of values", values.len(), positions.len() / d)?;
        if self.likelihood.predictors() == 1 {
            self.one_predictor(positions, values, gradients, scratch);
        }
        let chains = positions.chunks_exact(d).zip(gradients.chunks_exact_mut(d)).zip(values);
        for ((point, gradient), value) in chains {
            if self.likelihood.predictors() > 1 {
                *value = self.several_predictors(point, gradient, scratch);
            }
            *value += self.add_priors(point, gradient);
        }
        self.design.intact()
    }

    fn shares_out(&self, chains: usize) -> bool {
        self.likelihood.predictors() == 1 && self.whole(&[]).shares_out(chains)
    }

    fn collective(&self) -> bool {
        self.rows.is_shared()
    }
}

impl Gradient for Joint<'_> {
    fn dimension(&self) -> usize {
        Joint::dimension(self)
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        self.value_and_gradient(point, gradient).map(|_| ())
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        let mut value = [0.0];
        let scratch = &mut Scratch::default();
        self.values_and_gradients(point, &mut value, gradient, scratch)
            .map_err(|error| error.to_string())?;
        Ok(Some(value[0]))
    }
}

//! Potentials known by their gradient alone: line integrals by Chebyshev nodes.

use ridgewalk_quadrature::LineRule;

use crate::error::{Error, GradientError, length};
use crate::line_integral::{LineIntegral, Scratch, whole_chains};

/// A gradient: a type of your own or, through [`FromFn`], a closure.
pub trait Gradient {
    /// The dimension d.
    fn dimension(&self) -> usize;

    /// Writes ∇U(point) into `gradient`; both have length d.
    ///
    /// # Errors
    /// A point of density 0, or a gradient that cannot be computed there.
    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError>;

    /// The same gradient, and U(point) up to a constant that is the same everywhere; `None` if the
    /// value is not known, as by default. Kernels that accept or reject need it.
    ///
    /// # Errors
    /// As [`Gradient::gradient`].
    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        self.gradient(point, gradient)?;
        Ok(None)
    }

    /// Values and gradients at several points, d numbers each, one point after the other. By default
    /// each point is a call of its own; a function that is faster with many points at once can have
    /// them all. A point of density 0 has an infinite value and a gradient of 0.
    ///
    /// # Errors
    /// A value that is not known, or a gradient that cannot be computed, with its point.
    fn values_and_gradients_at(
        &self, points: &[f64], values: &mut [f64], gradients: &mut [f64],
    ) -> Result<(), Error> {
        let d = self.dimension().max(1);
        let each = points.chunks_exact(d).zip(gradients.chunks_exact_mut(d));
        for ((point, gradient), value) in each.zip(values) {
            *value = match self.value_and_gradient(point, gradient) {
                Ok(value) => value.ok_or(Error::NoValue)?,
                Err(GradientError::OutsideSupport) => {
                    gradient.fill(0.0);
                    f64::INFINITY
                }
                Err(error @ GradientError::Failed(_)) => return Err(error.at(point)),
            };
        }
        Ok(())
    }
}

/// A closure as a gradient.
#[derive(Clone)]
pub struct FromFn<F> {
    dimension: usize,
    function: F,
}

impl<F> std::fmt::Debug for FromFn<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FromFn").field("dimension", &self.dimension).finish_non_exhaustive()
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> Result<(), GradientError>> FromFn<F> {
    /// The gradient that `function(point, gradient)` writes, in `dimension` dimensions.
    pub fn new(dimension: usize, function: F) -> Self {
        Self { dimension, function }
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> Result<(), GradientError>> Gradient for FromFn<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        (self.function)(point, gradient)
    }
}

/// A closure as a potential: it returns the value and writes the gradient.
///
/// ```
/// use ridgewalk_potentials::{FromValueFn, Gradient};
///
/// let normal = FromValueFn::new(1, |x: &[f64], g: &mut [f64]| { g[0] = x[0]; Ok(0.5 * x[0] * x[0]) });
/// let mut gradient = [0.0];
/// assert_eq!(normal.value_and_gradient(&[3.0], &mut gradient), Ok(Some(4.5)));
/// assert_eq!(gradient, [3.0]);
/// ```
///
/// A closure reports points where the density is 0:
///
/// ```
/// use ridgewalk_potentials::{FromValueFn, GradientError};
///
/// let exponential = FromValueFn::new(1, |x: &[f64], g: &mut [f64]| {
///     g[0] = 1.0;
///     if x[0] < 0.0 { Err(GradientError::OutsideSupport) } else { Ok(x[0]) }
/// });
/// # let _ = exponential;
/// ```
#[derive(Clone)]
pub struct FromValueFn<F> {
    dimension: usize,
    function: F,
}

impl<F> std::fmt::Debug for FromValueFn<F> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FromValueFn").field("dimension", &self.dimension).finish_non_exhaustive()
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> Result<f64, GradientError>> FromValueFn<F> {
    /// The potential whose value `function(point, gradient)` returns and whose gradient it writes,
    /// in `dimension` dimensions.
    pub fn new(dimension: usize, function: F) -> Self {
        Self { dimension, function }
    }
}

impl<F: Fn(&[f64], &mut [f64]) -> Result<f64, GradientError>> Gradient for FromValueFn<F> {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn gradient(&self, point: &[f64], gradient: &mut [f64]) -> Result<(), GradientError> {
        (self.function)(point, gradient).map(|_| ())
    }

    fn value_and_gradient(
        &self, point: &[f64], gradient: &mut [f64],
    ) -> Result<Option<f64>, GradientError> {
        (self.function)(point, gradient).map(Some)
    }
}

/// Line integrals of any gradient, from its values at Chebyshev nodes.
#[derive(Debug, Clone)]
pub struct Chebyshev<G> {
    gradient: G,
    /// Nodes and weights on [0, 1].
    rule: LineRule,
}

impl<G: Gradient> Chebyshev<G> {
    /// Uses `nodes` gradients per integral, 1 to 1024.
    ///
    /// # Errors
    /// For another number of nodes, or a gradient of no dimensions.
    pub fn new(gradient: G, nodes: usize) -> Result<Self, Error> {
        if gradient.dimension() == 0 {
            return Err(Error::Length { what: "the point of the gradient", got: 0, need: 1 });
        }
        Ok(Self { gradient, rule: LineRule::new(nodes, 1.0)? })
    }
}

impl<G: Gradient> LineIntegral for Chebyshev<G> {
    fn dimension(&self) -> usize {
        self.gradient.dimension()
    }

    fn gradients_per_integral(&self) -> u64 {
        self.rule.nodes().len() as u64
    }

    fn integrate(
        &self, length: f64, positions: &[f64], momenta: &[f64], integrals: &mut [f64],
        scratch: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, momenta, integrals)?;
        let Scratch { point, gradient, .. } = scratch;
        let chains = positions.chunks_exact(d).zip(momenta.chunks_exact(d));
        for ((position, momentum), integral) in chains.zip(integrals.chunks_exact_mut(d)) {
            let at = |share: f64, value: &mut [f64]| {
                let t = share * length;
                point.clear();
                point.extend(position.iter().zip(momentum).map(|(x, p)| x + t * p));
                self.gradient.gradient(point, value).map_err(|error| error.at(point))
            };
            self.rule.try_integrate(at, gradient, integral)?;
            integral.iter_mut().for_each(|sum| *sum *= length);
        }
        Ok(())
    }

    fn gradients(
        &self, positions: &[f64], gradients: &mut [f64], _: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, positions, gradients)?;
        for (point, gradient) in positions.chunks_exact(d).zip(gradients.chunks_exact_mut(d)) {
            self.gradient.gradient(point, gradient).map_err(|error| error.at(point))?;
        }
        Ok(())
    }

    fn values_and_gradients(
        &self, positions: &[f64], values: &mut [f64], gradients: &mut [f64], _: &mut Scratch,
    ) -> Result<(), Error> {
        let d = self.dimension();
        whole_chains(d, positions, positions, gradients)?;
        length("the list of values", values.len(), positions.len() / d)?;
        self.gradient.values_and_gradients_at(positions, values, gradients)
    }
}

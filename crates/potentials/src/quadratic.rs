//! The quadratic part of a ridge-separable potential: a prior, possibly after a change of
//! coordinates.

use crate::curvature::DENSE;
use crate::hessian::dot;
use crate::prior::Prior;
use crate::square;

/// A convex quadratic function of θ, up to a constant.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Quadratic {
    /// Half the sum of precision · (θ − mean)².
    Diagonal(Prior),
    /// The same with one more term, of a linear predictor: precision · (at·θ − mean)²/2.
    At {
        /// The terms of coefficients.
        prior: Prior,
        /// The values of all columns where the linear predictor has a prior.
        at: Vec<f64>,
        /// Its precision.
        precision: f64,
        /// Its mean.
        mean: f64,
    },
    /// θᵀ Q θ/2 + b·θ.
    General {
        /// Q, symmetric, row by row.
        matrix: Vec<f64>,
        /// b.
        linear: Vec<f64>,
    },
}

impl Quadratic {
    /// Its value at a point.
    pub(crate) fn value(&self, point: &[f64]) -> f64 {
        match self {
            Self::Diagonal(prior) => prior.value(point),
            Self::At { prior, at, precision, mean } => {
                let off = dot(at, point) - mean;
                prior.value(point) + 0.5 * precision * off * off
            }
            Self::General { matrix, linear } => {
                0.5 * square::form(matrix, point)
                    + point.iter().zip(linear).map(|(x, b)| x * b).sum::<f64>()
            }
        }
    }

    /// Adds its value at each of several points, one after the other. `room` is working space.
    pub(crate) fn add_values(&self, points: &[f64], values: &mut [f64], room: &mut Vec<f64>) {
        match self {
            Self::Diagonal(prior) => {
                let points = points.chunks_exact(prior.dimension());
                values.iter_mut().zip(points).for_each(|(value, x)| *value += prior.value(x));
            }
            Self::At { prior, .. } => {
                let points = points.chunks_exact(prior.dimension());
                values.iter_mut().zip(points).for_each(|(value, x)| *value += self.value(x));
            }
            Self::General { matrix, linear } => {
                room.clear();
                room.resize(values.len(), 0.0);
                square::forms(matrix, linear.len(), points, room);
                let points = points.chunks_exact(linear.len()).zip(&*room);
                for (value, (point, form)) in values.iter_mut().zip(points) {
                    let along = point.iter().zip(linear).map(|(x, b)| x * b).sum::<f64>();
                    *value += 0.5 * form + along;
                }
            }
        }
    }

    /// Its gradient at a point.
    pub(crate) fn gradient(&self, point: &[f64]) -> Vec<f64> {
        let mut gradient = vec![0.0; point.len()];
        self.add_gradient(point, &mut gradient);
        gradient
    }

    /// Adds to a sum the integral of the gradient over t in [0, length] along position + t
    /// momentum: length times the gradient in the middle.
    pub(crate) fn add_integral(
        &self, length: f64, position: &[f64], momentum: &[f64], sum: &mut [f64],
    ) {
        match self {
            Self::Diagonal(prior) => prior.add_integral(length, position, momentum, sum),
            Self::At { prior, at, precision, mean } => {
                prior.add_integral(length, position, momentum, sum);
                let middle = (dot(at, position) - mean) + 0.5 * (length * dot(at, momentum));
                add_multiple(length * precision * middle, at, sum);
            }
            Self::General { matrix, linear } => {
                sum.iter_mut().zip(linear).for_each(|(sum, b)| *sum += length * b);
                let middle = |k: usize| position[k] + 0.5 * length * momentum[k];
                square::add_transposed_product(matrix, |k| length * middle(k), sum);
            }
        }
    }

    /// The same for several segments, one after the other: to the last bit what
    /// [`Quadratic::add_integral`] adds for each. `room` is working space.
    pub(crate) fn add_integrals(
        &self, length: f64, positions: &[f64], momenta: &[f64], sums: &mut [f64],
        room: &mut Vec<f64>,
    ) {
        match self {
            Self::Diagonal(prior) | Self::At { prior, .. } => {
                let d = prior.dimension();
                let segments = positions.chunks_exact(d).zip(momenta.chunks_exact(d));
                for ((position, momentum), sum) in segments.zip(sums.chunks_exact_mut(d)) {
                    self.add_integral(length, position, momentum, sum);
                }
            }
            Self::General { matrix, linear } => {
                let middles = positions.iter().zip(momenta);
                room.clear();
                room.extend(middles.map(|(x, p)| length * (x + 0.5 * length * p)));
                for sum in sums.chunks_exact_mut(linear.len()) {
                    sum.iter_mut().zip(linear).for_each(|(sum, b)| *sum += length * b);
                }
                square::add_transposed_products(matrix, linear.len(), room, sums);
            }
        }
    }

    /// Adds to sums the gradients at several points, and to values, if wanted, its values there.
    /// With many coordinates both come from one product: the matrix is read once.
    pub(crate) fn add_gradients(
        &self, points: &[f64], sums: &mut [f64], values: Option<&mut [f64]>, room: &mut Vec<f64>,
    ) {
        match self {
            Self::General { matrix, linear } if linear.len() > DENSE => {
                let d = linear.len();
                room.clear();
                room.resize(points.len(), 0.0);
                square::add_transposed_products(matrix, d, points, room);
                for (product, sum) in room.chunks_exact(d).zip(sums.chunks_exact_mut(d)) {
                    let terms = sum.iter_mut().zip(product).zip(linear);
                    terms.for_each(|((sum, q), b)| *sum += q + b);
                }
                let products = points.chunks_exact(d).zip(room.chunks_exact(d));
                for (value, (x, product)) in values.into_iter().flatten().zip(products) {
                    *value += 0.5 * dot(x, product) + dot(x, linear);
                }
                return;
            }
            Self::General { matrix, linear } => {
                for sum in sums.chunks_exact_mut(linear.len()) {
                    sum.iter_mut().zip(linear).for_each(|(sum, b)| *sum += b);
                }
                square::add_transposed_products(matrix, linear.len(), points, sums);
            }
            Self::Diagonal(prior) | Self::At { prior, .. } => {
                let d = prior.dimension();
                let points = points.chunks_exact(d).zip(sums.chunks_exact_mut(d));
                points.for_each(|(point, sum)| self.add_gradient(point, sum));
            }
        }
        if let Some(values) = values {
            self.add_values(points, values, room);
        }
    }

    /// Adds to a sum the gradient at a point.
    pub(crate) fn add_gradient(&self, point: &[f64], sum: &mut [f64]) {
        match self {
            Self::Diagonal(prior) => prior.add_gradient(point, sum),
            Self::At { prior, at, precision, mean } => {
                prior.add_gradient(point, sum);
                add_multiple(precision * (dot(at, point) - mean), at, sum);
            }
            Self::General { linear, .. } => {
                sum.iter_mut().zip(linear).for_each(|(sum, b)| *sum += b);
                self.add_product(1.0, point, sum);
            }
        }
    }

    /// sum += scale · Q x.
    pub(crate) fn add_product(&self, scale: f64, x: &[f64], sum: &mut [f64]) {
        match self {
            Self::Diagonal(prior) => {
                let terms = sum.iter_mut().zip(prior.precision()).zip(x);
                terms.for_each(|((sum, q), x)| *sum += scale * q * x);
            }
            Self::At { prior, at, precision, .. } => {
                let terms = sum.iter_mut().zip(prior.precision()).zip(x);
                terms.for_each(|((sum, q), x)| *sum += scale * q * x);
                add_multiple(scale * precision * dot(at, x), at, sum);
            }
            // Q is symmetric: sums over its columns need no reduction.
            Self::General { matrix, .. } => {
                square::add_transposed_product(matrix, |k| scale * x[k], sum)
            }
        }
    }

    /// Adds Q to a matrix of d rows of d.
    pub(crate) fn add_to(&self, sum: &mut [f64]) {
        match self {
            Self::Diagonal(prior) => {
                let d = prior.dimension();
                prior.precision().iter().enumerate().for_each(|(k, q)| sum[k * (d + 1)] += q);
            }
            Self::At { prior, at, precision, .. } => {
                let d = prior.dimension();
                prior.precision().iter().enumerate().for_each(|(k, q)| sum[k * (d + 1)] += q);
                for (a, row) in at.iter().zip(sum.chunks_exact_mut(d)) {
                    add_multiple(precision * a, at, row);
                }
            }
            Self::General { matrix, .. } => {
                sum.iter_mut().zip(matrix).for_each(|(sum, q)| *sum += q)
            }
        }
    }

    /// The diagonal of Q.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        match self {
            Self::Diagonal(prior) => prior.precision().to_vec(),
            Self::At { prior, at, precision, .. } => {
                let terms = prior.precision().iter().zip(at);
                terms.map(|(q, a)| q + precision * a * a).collect()
            }
            Self::General { matrix, linear } => {
                matrix.iter().step_by(linear.len() + 1).copied().collect()
            }
        }
    }

    /// The same with a matrix of all entries.
    pub(crate) fn general(&self) -> Self {
        let d = self.diagonal().len();
        let (mut matrix, linear) = (vec![0.0; d * d], self.gradient(&vec![0.0; d]));
        self.add_to(&mut matrix);
        Self::General { matrix, linear }
    }

    /// A lower bound of the smallest eigenvalue of Q, known without a factorisation; `None` for a
    /// matrix of all entries.
    pub(crate) fn smallest(&self) -> Option<f64> {
        let least = |list: &[f64]| list.iter().copied().fold(f64::INFINITY, f64::min);
        match self {
            Self::Diagonal(prior) => Some(least(prior.precision())),
            Self::At { prior, at, precision, .. } => {
                let (own, others) = prior.precision().split_first()?;
                let (first, rest) = at.split_first()?;
                if *own > 0.0 || others.is_empty() {
                    return Some(least(prior.precision()));
                }
                // The worst direction has, beside the first coordinate, a part along the rest of
                // `at`: of the 2 x 2 matrix there, the smaller eigenvalue.
                let p = least(others);
                let determinant = precision * first * first * p;
                let trace = precision * (first * first + dot(rest, rest)) + p;
                let root = (trace * trace - 4.0 * determinant).max(0.0).sqrt();
                let rounding = (at.len() + 16) as f64 * f64::EPSILON;
                let found = 2.0 * determinant / (trace + root) * (1.0 - rounding);
                Some(if found.is_finite() { found } else { 0.0 })
            }
            Self::General { .. } => None,
        }
    }
}

/// sum += by · v.
fn add_multiple(by: f64, v: &[f64], sum: &mut [f64]) {
    sum.iter_mut().zip(v).for_each(|(sum, v)| *sum += by * v);
}

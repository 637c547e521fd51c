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
            Self::Diagonal(prior) => {
                let d = prior.dimension();
                let segments = positions.chunks_exact(d).zip(momenta.chunks_exact(d));
                for ((position, momentum), sum) in segments.zip(sums.chunks_exact_mut(d)) {
                    prior.add_integral(length, position, momentum, sum);
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
            Self::Diagonal(prior) => {
                let d = prior.dimension();
                let points = points.chunks_exact(d).zip(sums.chunks_exact_mut(d));
                points.for_each(|(point, sum)| prior.add_gradient(point, sum));
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
            Self::General { matrix, .. } => {
                sum.iter_mut().zip(matrix).for_each(|(sum, q)| *sum += q)
            }
        }
    }

    /// The diagonal of Q.
    pub(crate) fn diagonal(&self) -> Vec<f64> {
        match self {
            Self::Diagonal(prior) => prior.precision().to_vec(),
            Self::General { matrix, linear } => {
                matrix.iter().step_by(linear.len() + 1).copied().collect()
            }
        }
    }
}

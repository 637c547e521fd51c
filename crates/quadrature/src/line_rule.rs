//! The quadrature rule: nodes, basis and weights on [0, length].

use crate::error::Error;
use crate::trigonometry::{cos_pi, sin_pi};

/// The largest number of nodes: far more than a smooth integrand needs, and few enough to compute
/// the weights by direct sums.
pub const MAX_NODES: usize = 1024;

/// Chebyshev nodes on [0, length], their Lagrange basis and its integrals.
///
/// Nodes are in the paper's order, from the far end to the near: s_i = (length/2)(1 + cos((2i −
/// 1)π/(2n))).
#[derive(Debug, Clone, PartialEq)]
pub struct LineRule {
    length: f64,
    nodes: Vec<f64>,
    weights: Vec<f64>,
    /// (−1)^i sin((2i − 1)π/(2n)), which is 1/Π(s_i − s_j) up to a common factor (Berrut and
    /// Trefethen 2004).
    barycentric: Vec<f64>,
}

impl LineRule {
    /// A rule with `nodes` nodes on [0, `length`].
    ///
    /// # Errors
    /// [`Error::Nodes`] unless 1 <= `nodes` <= [`MAX_NODES`]; [`Error::Length`] unless `length` is
    /// positive and finite.
    pub fn new(nodes: usize, length: f64) -> Result<Self, Error> {
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(Error::Nodes { nodes });
        }
        if !(length > 0.0 && length.is_normal()) {
            return Err(Error::Length { length });
        }
        let n = nodes;
        let odd = (0..n).map(|i| 2 * i + 1);
        Ok(Self {
            length,
            // (1 + cos x)/2 = cos²(x/2): nodes near 0 keep their relative accuracy.
            nodes: odd.clone().map(|k| length * cos_pi(k, 4 * n).powi(2)).collect(),
            weights: odd.clone().map(|k| length * fejer_weight(k, n)).collect(),
            barycentric: odd
                .enumerate()
                .map(|(i, k)| if i % 2 == 0 { sin_pi(k, 2 * n) } else { -sin_pi(k, 2 * n) })
                .collect(),
        })
    }

    /// The length of the segment.
    #[must_use]
    pub fn length(&self) -> f64 {
        self.length
    }

    /// The nodes, from the far end to the near.
    #[must_use]
    pub fn nodes(&self) -> &[f64] {
        &self.nodes
    }

    /// The weights: integrals of the basis functions over [0, length]. All positive, with sum
    /// `length`.
    #[must_use]
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// The values at `t` of the basis polynomials, each 1 at its own node and 0 at the others.
    ///
    /// Unlike their integrals they are not all positive: an interpolant can leave the convex hull
    /// of its data.
    #[must_use]
    pub fn basis(&self, t: f64) -> Vec<f64> {
        if let Some(hit) = self.nodes.iter().position(|&s| s == t) {
            let mut unit = vec![0.0; self.nodes.len()];
            unit[hit] = 1.0;
            return unit;
        }
        let mut terms: Vec<f64> =
            self.nodes.iter().zip(&self.barycentric).map(|(s, b)| b / (t - s)).collect();
        let sum: f64 = terms.iter().sum();
        for term in &mut terms {
            *term /= sum;
        }
        terms
    }

    /// Integrates a vector function over [0, length] into `integral`.
    ///
    /// `function(t, value)` writes its value at `t`; it is called once per node, in the order of
    /// [`Self::nodes`]. `scratch` is working space that can be reused between calls; it is resized
    /// to the length of `integral`.
    pub fn integrate(
        &self, mut function: impl FnMut(f64, &mut [f64]), scratch: &mut Vec<f64>,
        integral: &mut [f64],
    ) {
        let never_fails = |t, value: &mut [f64]| {
            function(t, value);
            Ok::<(), std::convert::Infallible>(())
        };
        match self.try_integrate(never_fails, scratch, integral) {
            Ok(()) => {}
            Err(never) => match never {},
        }
    }

    /// [`Self::integrate`] for a function that can fail.
    ///
    /// # Errors
    /// The error of the function at the first node where it fails; `integral` is then incomplete.
    pub fn try_integrate<E>(
        &self, mut function: impl FnMut(f64, &mut [f64]) -> Result<(), E>, scratch: &mut Vec<f64>,
        integral: &mut [f64],
    ) -> Result<(), E> {
        scratch.clear();
        scratch.resize(integral.len(), 0.0);
        integral.fill(0.0);
        for (&t, &weight) in self.nodes.iter().zip(&self.weights) {
            function(t, scratch)?;
            for (sum, value) in integral.iter_mut().zip(scratch.iter()) {
                *sum += weight * value;
            }
        }
        Ok(())
    }
}

/// The weight on [0, 1] of the node at angle kπ/(2n), k odd: the integral of its basis polynomial.
/// In the cosine series of that polynomial, cos(2jx) integrates to −1/(4j² − 1) (Fejér 1933).
fn fejer_weight(k: usize, n: usize) -> f64 {
    let series: f64 =
        (1..=n / 2).rev().map(|j| cos_pi(j * k, n) / ((2 * j - 1) * (2 * j + 1)) as f64).sum();
    (1.0 - 2.0 * series) / n as f64
}

//! The losses whose sums over coordinates are the potentials, with exact means and as black boxes.

use ridgewalk::potentials::{FromFn, Gradient};

use crate::lab::separable::Derivative;

/// The convexity m; the smoothness is 1.
const CONVEXITY: f64 = 0.25;

/// U = Σ m θᵢ²/2 + (1 − m) u(θᵢ).
#[derive(Debug, Clone, Copy)]
pub(super) struct Loss {
    pub(super) name: &'static str,
    /// Whether all derivatives of u are bounded, or none beyond the second.
    pub(super) smooth: bool,
    /// u'.
    pub(super) slope: fn(f64) -> f64,
    /// The mean of u' between x and x + y.
    pub(super) mean: fn(f64, f64) -> f64,
}

/// Huber's loss: u' is θ between −1 and 1 and constant beyond, and its derivative jumps. And
/// log cosh θ, with derivatives of every order.
pub(super) const LOSSES: [Loss; 2] = [
    Loss {
        name: "huber",
        smooth: false,
        slope: |x| x.clamp(-1.0, 1.0),
        mean: |x, y| (huber(x + y) - huber(x)) / y,
    },
    // cosh(x + y)/cosh x = e^y (1 + (e^−2y − 1)/(1 + e^2x))
    Loss {
        name: "log-cosh",
        smooth: true,
        slope: f64::tanh,
        mean: |x, y| {
            let share = 1.0 / (1.0 + (2.0 * x).exp());
            1.0 + (share * (-2.0 * y).exp_m1()).ln_1p() / y
        },
    },
];

impl Loss {
    /// The largest α for which a rule with so many nodes has a bound: 2, or one above the highest
    /// derivative of the gradient that the rule can use.
    pub(super) fn alpha(&self, nodes: u8) -> u8 {
        if self.smooth { nodes + nodes % 2 + 1 } else { 2 }
    }

    /// The gradient, as a black box.
    pub(super) fn gradient(self, dimension: usize) -> impl Gradient + Sync + Clone {
        FromFn::new(dimension, move |theta: &[f64], out: &mut [f64]| {
            theta.iter().zip(out).for_each(|(x, g)| *g = self.at(*x));
            Ok(())
        })
    }
}

fn huber(x: f64) -> f64 {
    if x.abs() <= 1.0 { 0.5 * x * x } else { x.abs() - 0.5 }
}

impl Derivative for Loss {
    fn at(&self, x: f64) -> f64 {
        CONVEXITY * x + (1.0 - CONVEXITY) * (self.slope)(x)
    }

    fn mean(&self, x: f64, y: f64) -> f64 {
        let middle = x + 0.5 * y;
        // Closer together, the difference of values would lose digits, and the middle has an error
        // below rounding.
        let own = if y.abs() < 1e-7 { (self.slope)(middle) } else { (self.mean)(x, y) };
        CONVEXITY * middle + (1.0 - CONVEXITY) * own
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::separable::Separable;
    use ridgewalk::potentials::{Chebyshev, LineIntegral, Scratch};

    #[test]
    fn line_integrals_are_those_of_many_nodes_and_the_curvature_is_between_m_and_1() {
        let positions: Vec<f64> = (0..400).map(|i| f64::from(i - 200) * 0.017).collect();
        let momenta: Vec<f64> = (0..400).map(|i| (f64::from(i) * 0.7).sin() * 3.0).collect();
        for loss in LOSSES {
            let accuracy = if loss.smooth { 1e-13 } else { 1e-5 };
            let exact = Separable { derivative: loss, dimension: 400 };
            let nodes = Chebyshev::new(loss.gradient(400), 300).unwrap();
            for scale in [1.0, 1e-2, 1e-6, 1e-9] {
                let momenta: Vec<f64> = momenta.iter().map(|p| p * scale).collect();
                let [mut a, mut b] = [(); 2].map(|()| vec![0.0; 400]);
                let mut scratch = Scratch::default();
                exact.integrate(0.8, &positions, &momenta, &mut a, &mut scratch).unwrap();
                nodes.integrate(0.8, &positions, &momenta, &mut b, &mut scratch).unwrap();
                for (a, b) in a.iter().zip(&b) {
                    assert!((a - b).abs() < accuracy, "{} at {scale}: {a} and {b}", loss.name);
                }
            }
            for pair in positions.windows(2) {
                let curvature = (loss.at(pair[1]) - loss.at(pair[0])) / (pair[1] - pair[0]);
                assert!((CONVEXITY - 1e-12..=1.0 + 1e-12).contains(&curvature));
            }
        }
    }
}

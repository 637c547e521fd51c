//! Sharp error constants of the rule, given a bound on one derivative, from Peano kernels.
//!
//! On [0, 1], a rule that is exact for polynomials of degree j − 1 has the error
//!
//! ```text
//! ∫ f − Σ wᵢ f(sᵢ) = ∫ Kⱼ f⁽ʲ⁾,    Kⱼ(t) = (1 − t)ʲ/j! − Σ wᵢ (sᵢ − t)₊ʲ⁻¹/(j − 1)!
//! ```
//!
//! So the error is at most the largest |f⁽ʲ⁾| times the integral of |Kⱼ|, and this is attained by
//! the f whose j-th derivative has the sign of Kⱼ.

use crate::error::Error;
use crate::line_rule::LineRule;

/// The highest derivative that bounds the error of the rule of `nodes` nodes: one above its degree
/// of exactness, so `nodes`, or `nodes` + 1 for an odd number.
#[must_use]
pub fn highest_derivative(nodes: usize) -> usize {
    nodes + nodes % 2
}

/// C with |error| <= C lengthʲ⁺¹ sup|f⁽ʲ⁾| for the rule of `nodes` nodes on a segment of any
/// length, where j is the `derivative`.
///
/// C is rounded up. It is sharp for up to about 40 nodes; with more, cancellation in the kernel
/// makes it larger than necessary.
///
/// # Errors
/// [`Error::Derivative`] unless 1 <= `derivative` <= [`highest_derivative`]; otherwise as
/// [`LineRule::new`].
pub fn derivative_error_constant(nodes: usize, derivative: usize) -> Result<f64, Error> {
    let rule = LineRule::new(nodes, 1.0)?;
    if !(1..=highest_derivative(nodes)).contains(&derivative) {
        return Err(Error::Derivative { nodes, derivative });
    }
    let kernels = Kernels { rule: &rule };
    let cuts = (2..=derivative).fold(kernels.first_cuts(), |cuts, j| kernels.cuts(j, &cuts));
    let ends = with_ends(&cuts);
    let values: Vec<f64> = ends.iter().map(|&x| kernels.at(derivative + 1, x)).collect();
    let half: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    let rounding = 8.0 * (nodes + derivative + 4) as f64 * ends.len() as f64 * f64::EPSILON;
    // A constant below the normal doubles is replaced by one above it.
    Ok((2.0 * (half + rounding * kernels.size(derivative))).max(f64::MIN_POSITIVE))
}

/// The Peano kernels of a rule as functions of the distance x = 1 − t from the far end, up to the
/// middle. The rule is symmetric, so the other half has the same |Kⱼ|.
///
/// With nodes xᵢ in this variable, Kⱼ(x) = xʲ/j! − Σ wᵢ (x − xᵢ)₊ʲ⁻¹/(j − 1)!, whose derivative is
/// Kⱼ₋₁. So zeros of Kⱼ lie between those of Kⱼ₋₁, and Kⱼ₊₁ is the integral of Kⱼ from 0.
struct Kernels<'a> {
    rule: &'a LineRule,
}

impl Kernels<'_> {
    /// Nodes before the middle with their weights, in ascending order.
    fn nodes(&self) -> impl Iterator<Item = (f64, f64)> {
        let nodes = self.rule.nodes().iter().rev().copied();
        nodes.zip(self.rule.weights().iter().rev().copied()).take_while(|(node, _)| *node < 0.5)
    }

    /// (xʲ/j!, Σ wᵢ (x − xᵢ)₊ʲ⁻¹/(j − 1)!).
    fn terms(&self, j: usize, x: f64) -> (f64, f64) {
        let (before, of_j) = (factorial(j - 1), factorial(j));
        let power = i32::try_from(j).unwrap_or(i32::MAX);
        let passed = self.nodes().take_while(|(node, _)| *node < x);
        let sum: f64 = passed.map(|(node, weight)| weight * (x - node).powi(power - 1)).sum();
        (x.powi(power) / of_j, sum / before)
    }

    fn at(&self, j: usize, x: f64) -> f64 {
        let (own, nodes) = self.terms(j, x);
        own - nodes
    }

    /// The largest sum of the absolute values of the terms of Kⱼ.
    fn size(&self, j: usize) -> f64 {
        let (own, nodes) = self.terms(j, 0.5);
        own + nodes
    }

    /// The nodes, where K₁ jumps down, and its zeros between them.
    fn first_cuts(&self) -> Vec<f64> {
        let (mut cuts, mut passed, mut low) = (Vec::new(), 0.0, 0.0);
        for (node, weight) in self.nodes().chain([(0.5, 0.0)]) {
            cuts.extend((low < passed && passed < node).then_some(passed));
            cuts.extend((node < 0.5).then_some(node));
            passed += weight;
            low = node;
        }
        cuts
    }

    /// The points at which Kⱼ changes its sign. `turns` are those of Kⱼ₋₁, between which Kⱼ is
    /// monotone.
    fn cuts(&self, j: usize, turns: &[f64]) -> Vec<f64> {
        let ends = with_ends(turns);
        let pieces = ends.windows(2).filter_map(|pair| {
            let (mut low, mut high) = (pair[0], pair[1]);
            // Kⱼ is positive just above 0.
            let sign = if low == 0.0 { 1.0 } else { self.at(j, low).signum() };
            if sign * self.at(j, high) >= 0.0 {
                return None;
            }
            loop {
                let middle = 0.5 * (low + high);
                if middle <= low || middle >= high {
                    return Some(high);
                }
                if sign * self.at(j, middle) > 0.0 {
                    low = middle;
                } else {
                    high = middle;
                }
            }
        });
        pieces.collect()
    }
}

/// 0, the cuts and the middle.
fn with_ends(cuts: &[f64]) -> Vec<f64> {
    std::iter::once(0.0).chain(cuts.iter().copied()).chain(std::iter::once(0.5)).collect()
}

/// j!, or infinity.
fn factorial(j: usize) -> f64 {
    (1..=j).map(|k| k as f64).product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn constant(nodes: usize, derivative: usize) -> f64 {
        derivative_error_constant(nodes, derivative).unwrap()
    }

    /// xʲ/j! for positive x.
    fn power(x: f64, j: usize) -> f64 {
        if x > 0.0 { x.powi(i32::try_from(j).unwrap()) / factorial(j) } else { 0.0 }
    }

    /// The error of a rule on [0, 1] for (t − a)₊ʲ/j!, whose j-th derivative is 0 and then 1.
    fn error_of_power(rule: &LineRule, j: usize, a: f64) -> f64 {
        let mut out = [0.0];
        rule.integrate(|t, v| v[0] = power(t - a, j), &mut Vec::new(), &mut out);
        power(1.0 - a, j + 1) - out[0]
    }

    #[test]
    fn known_constants_of_the_midpoint_rule_and_of_two_and_three_nodes() {
        assert!((constant(1, 1) / 0.25 - 1.0).abs() < 1e-12);
        assert!((constant(1, 2) * 24.0 - 1.0).abs() < 1e-12);
        // Two nodes, the first at x1 = 1/2 − √2/4: K2 = x²/2 up to it, then x²/2 − (x − x1)/2 up to
        // the middle, with a zero at z = (1 − √(1 − 4 x1))/2. Its integrals are P up to z and −1/96
        // up to the middle.
        let x1 = 0.5 - 0.125f64.sqrt();
        let z = 0.5 * (1.0 - (1.0 - 4.0 * x1).sqrt());
        let positive = z.powi(3) / 6.0 - (z - x1).powi(2) / 4.0;
        let known = 4.0 * positive + 1.0 / 48.0;
        assert!((constant(2, 2) / known - 1.0).abs() < 1e-11, "{} and {known}", constant(2, 2));
        // |∫ K4| is the error for t⁴/24, and the constant is no smaller.
        let rule = LineRule::new(3, 1.0).unwrap();
        assert!(constant(3, 4) > error_of_power(&rule, 4, 0.0).abs() * (1.0 - 1e-12));
    }

    #[test]
    fn the_constants_hold_and_are_sharp() {
        for nodes in 1..=12 {
            let rule = LineRule::new(nodes, 1.0).unwrap();
            let kernels = Kernels { rule: &rule };
            for j in 1..=highest_derivative(nodes) {
                let found = constant(nodes, j);
                let label = format!("{nodes} nodes, derivative {j}: {found:e}");
                for i in 0..=50 {
                    let error = error_of_power(&rule, j, f64::from(i) / 50.0).abs();
                    assert!(error <= found, "{label}, {error:e}");
                }
                // The worst f: its j-th derivative jumps between 1 and −1 at the zeros of Kⱼ, on
                // both sides of the middle, where an odd Kⱼ has one more.
                let half = (2..=j).fold(kernels.first_cuts(), |cuts, j| kernels.cuts(j, &cuts));
                let middle = (j % 2 == 1).then_some(0.5);
                let mirrored = half.iter().rev().map(|x| 1.0 - x);
                let all: Vec<f64> = half.iter().copied().chain(middle).chain(mirrored).collect();
                let worst = all.iter().rev().enumerate().fold(
                    error_of_power(&rule, j, 0.0),
                    |sum, (i, a)| {
                        let sign = if (all.len() - i) % 2 == 1 { -2.0 } else { 2.0 };
                        sum + sign * error_of_power(&rule, j, *a)
                    },
                );
                if j > 1 {
                    assert!((worst.abs() / found - 1.0).abs() < 1e-5, "{label}, worst {worst:e}");
                }
                let sum = integral_of_size(&rule, j);
                assert!((sum / found - 1.0).abs() < 1e-3, "{label}, integral {sum:e}");
            }
        }
    }

    /// The integral of |Kⱼ| over [0, 1] by the midpoint rule.
    fn integral_of_size(rule: &LineRule, j: usize) -> f64 {
        const PIECES: u32 = 20_000;
        let width = 1.0 / f64::from(PIECES);
        let kernel = |t: f64| {
            let nodes = rule.nodes().iter().zip(rule.weights()).filter(|(s, _)| **s > t);
            power(1.0 - t, j) - nodes.map(|(s, w)| w * power(s - t, j - 1)).sum::<f64>()
        };
        (0..PIECES).map(|i| kernel((f64::from(i) + 0.5) * width).abs() * width).sum()
    }

    #[test]
    fn derivatives_that_a_rule_cannot_use_are_refused() {
        let refused = |nodes, derivative| {
            derivative_error_constant(nodes, derivative).unwrap_err().to_string()
        };
        assert_eq!(refused(3, 5), "derivative = 5: need 1 to 4 for 3 nodes");
        assert_eq!(refused(4, 5), "derivative = 5: need 1 to 4 for 4 nodes");
        assert_eq!(refused(2, 0), "derivative = 0: need 1 to 2 for 2 nodes");
        assert_eq!(refused(0, 1), "nodes = 0: need 1 to 1024");
        assert!(constant(1024, 3) > 0.0 && constant(200, 200) > 0.0);
    }
}

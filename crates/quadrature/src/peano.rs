//! Sharp error constants of the rule for functions of low smoothness, from Peano kernels.
//!
//! On [0, 1], a rule that is exact for constants has the error ∫ K1 f′ with K1(t) = Σ of the
//! weights beyond t − (1 − t), and one that is exact for straight lines ∫ K2 f″ with K2(t) =
//! (1 − t)²/2 − Σ wᵢ (sᵢ − t)₊. So the error is at most the largest |f′| (|f″|) times the integral
//! of |K1| (|K2|), and this is attained.

use crate::error::Error;
use crate::line_rule::LineRule;

/// C with |error| <= C length² sup|f′| for the rule of `nodes` nodes on a segment of any length.
///
/// # Errors
/// As [`LineRule::new`].
pub fn slope_error_constant(nodes: usize) -> Result<f64, Error> {
    let rule = LineRule::new(nodes, 1.0)?;
    // Between two nodes K1 = t − (weight so far) is linear: its integral is half the difference of
    // the signed squares.
    let (mut passed, mut sum) = (0.0, 0.0);
    let ends: Vec<f64> = breakpoints(&rule);
    for (i, pair) in ends.windows(2).enumerate() {
        let antiderivative = |t: f64| 0.5 * (t - passed) * (t - passed).abs();
        sum += (antiderivative(pair[1]) - antiderivative(pair[0])).abs();
        if let Some(weight) = rule.weights().iter().rev().nth(i) {
            passed += weight;
        }
    }
    Ok(outwards(sum, nodes))
}

/// C with |error| <= C length³ sup|f″| for the rule of `nodes` nodes on a segment of any length.
///
/// # Errors
/// As [`LineRule::new`].
pub fn curvature_error_constant(nodes: usize) -> Result<f64, Error> {
    let rule = LineRule::new(nodes, 1.0)?;
    // From the near end, by the symmetry of the rule: K2 = t²/2 − (weight so far) t + (moment so
    // far), a parabola between nodes.
    let (mut passed, mut moment, mut sum) = (0.0, 0.0, 0.0);
    let ends = breakpoints(&rule);
    for (i, pair) in ends.windows(2).enumerate() {
        sum += parabola(passed, moment, pair[0], pair[1]);
        if let (Some(weight), Some(node)) =
            (rule.weights().iter().rev().nth(i), rule.nodes().iter().rev().nth(i))
        {
            passed += weight;
            moment += weight * node;
        }
    }
    Ok(outwards(sum, nodes))
}

/// 0, the nodes from near to far, and 1.
fn breakpoints(rule: &LineRule) -> Vec<f64> {
    let inner = rule.nodes().iter().rev().copied();
    std::iter::once(0.0).chain(inner).chain(std::iter::once(1.0)).collect()
}

/// The integral of |t²/2 − b t + c| from `low` to `high`, split at its roots.
fn parabola(b: f64, c: f64, low: f64, high: f64) -> f64 {
    let antiderivative = |t: f64| t * t * t / 6.0 - 0.5 * b * t * t + c * t;
    let discriminant = b * b - 2.0 * c;
    let root = discriminant.max(0.0).sqrt();
    let mut cuts = vec![low];
    cuts.extend(
        [b - root, b + root].into_iter().filter(|t| discriminant > 0.0 && (low..high).contains(t)),
    );
    cuts.push(high);
    cuts.windows(2).map(|pair| (antiderivative(pair[1]) - antiderivative(pair[0])).abs()).sum()
}

/// The sum, enlarged by more than the rounding of a sum over the nodes.
fn outwards(sum: f64, nodes: usize) -> f64 {
    sum + 8.0 * (nodes as f64 + 2.0) * f64::EPSILON
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_constants_of_the_midpoint_rule() {
        assert!((slope_error_constant(1).unwrap() - 0.25).abs() < 1e-13);
        assert!((curvature_error_constant(1).unwrap() - 1.0 / 24.0).abs() < 1e-13);
    }

    #[test]
    fn the_constants_are_sharp_and_hold() {
        for nodes in 1..=9 {
            let rule = LineRule::new(nodes, 1.0).unwrap();
            let (slope, curvature) =
                (slope_error_constant(nodes).unwrap(), curvature_error_constant(nodes).unwrap());
            // f = (t − a)₊²/2 and |t − a| have second and first derivatives of size 1; t² has a
            // second derivative of 2.
            let error = |f: &dyn Fn(f64) -> f64, exact: f64| {
                let mut out = [0.0];
                rule.integrate(|t, v| v[0] = f(t), &mut Vec::new(), &mut out);
                (out[0] - exact).abs()
            };
            for i in 0..=50 {
                let a = f64::from(i) / 50.0;
                let rest = 1.0 - a;
                assert!(
                    error(&|t| 0.5 * (t - a).max(0.0).powi(2), rest.powi(3) / 6.0) <= curvature
                );
                assert!(error(&|t| (t - a).abs(), 0.5 * (a * a + rest * rest)) <= slope);
            }
            assert!(error(&|t| 0.5 * t * t, 1.0 / 6.0) <= curvature);
            let weighted = || rule.nodes().iter().zip(rule.weights());
            let second = |t: f64| {
                0.5 * (1.0 - t).powi(2) - weighted().map(|(s, w)| w * (s - t).max(0.0)).sum::<f64>()
            };
            let sum = integral_of_size(second);
            assert!((sum / curvature - 1.0).abs() < 1e-4, "{nodes}: {sum} and {curvature}");
            let first =
                |t: f64| 1.0 - t - weighted().filter(|(s, _)| **s > t).map(|(_, w)| w).sum::<f64>();
            let sum = integral_of_size(first);
            assert!((sum / slope - 1.0).abs() < 1e-3, "{nodes}: {sum} and {slope}");
        }
    }

    /// The integral of |kernel| over [0, 1] by the midpoint rule.
    fn integral_of_size(kernel: impl Fn(f64) -> f64) -> f64 {
        const PIECES: u32 = 20_000;
        let width = 1.0 / f64::from(PIECES);
        (0..PIECES).map(|i| kernel((f64::from(i) + 0.5) * width).abs() * width).sum()
    }
}

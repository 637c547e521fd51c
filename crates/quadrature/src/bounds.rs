//! Error bounds for the interpolant and its integral, with explicit constants.
//!
//! The interpolation error at t is f⁽ⁿ⁾ · Π(t − s_i)/n! (for vectors: bounded by it in norm), and
//! for Chebyshev nodes the product is 2 (length/4)ⁿ Tₙ, with |Tₙ| <= 1. The paper's constant is
//! larger by a factor of 2ⁿ.

use crate::trigonometry::cos_pi;

/// A bound on the distance on [0, `length`] between a function and its interpolant at `nodes`
/// Chebyshev nodes, if its `nodes`-th derivative is at most `derivative` in norm: 2 (length/4)ⁿ/n!
/// times `derivative`.
///
/// It is an upper bound in floating point too: it is enlarged by its own largest rounding error.
#[must_use]
pub fn interpolation_error_bound(nodes: usize, length: f64, derivative: f64) -> f64 {
    let scale = (1..=nodes).fold(2.0 * derivative, |bound, k| bound * (0.25 * length / k as f64));
    scale * (1.0 + 2.0 * (nodes as f64 + 2.0) * f64::EPSILON)
}

/// A bound on the error of the rule's integral under the same assumption: the interpolation error
/// is integrated with ∫|Tₙ|, which is better by a factor of about π/2 than `length` times its
/// maximum.
#[must_use]
pub fn integral_error_bound(nodes: usize, length: f64, derivative: f64) -> f64 {
    0.5 * length * mean_chebyshev(nodes) * interpolation_error_bound(nodes, length, derivative)
}

/// ∫ |Tₙ(x)| dx over [−1, 1] = ∫ |cos nθ| sin θ dθ over [0, π], summed over the n + 1 intervals
/// between sign changes.
fn mean_chebyshev(n: usize) -> f64 {
    if n <= 1 {
        return if n == 0 { 2.0 } else { 1.0 };
    }
    // Antiderivative of cos nθ sin θ at θ = kπ/(2n): a difference of cosines of (n ± 1)θ.
    let antiderivative = |k: usize| {
        0.5 * (cos_pi(k * (n - 1), 2 * n) / (n - 1) as f64
            - cos_pi(k * (n + 1), 2 * n) / (n + 1) as f64)
    };
    let ends = std::iter::once(0).chain((0..n).map(|i| 2 * i + 1)).chain(std::iter::once(2 * n));
    let values: Vec<f64> = ends.map(antiderivative).collect();
    let sum: f64 = values.windows(2).map(|pair| (pair[1] - pair[0]).abs()).sum();
    sum * (1.0 + 4.0 * n as f64 * f64::EPSILON)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mean_chebyshev_in_known_cases() {
        // T2 = 2x² - 1 changes sign at ±1/√2, T3 = 4x³ - 3x at 0 and ±√3/2.
        let t2 = 2.0 * (2.0 * std::f64::consts::SQRT_2 - 1.0) / 3.0;
        assert!((mean_chebyshev(2) - t2).abs() < 1e-14);
        assert!((mean_chebyshev(3) - 1.25).abs() < 1e-14);
        // It tends to the mean of |cos|, 2/π, times the length 2.
        assert!((mean_chebyshev(1000) - 4.0 / std::f64::consts::PI).abs() < 1e-5);
    }

    #[test]
    fn the_bounds_do_not_overflow_on_the_way() {
        assert_eq!(interpolation_error_bound(3, 4.0, 6.0), 2.0 * (1.0 + 10.0 * f64::EPSILON));
        assert!(interpolation_error_bound(1024, 1.0, 1e300) < 1e-300);
        assert!(interpolation_error_bound(1024, 1e3, 1.0).is_finite());
    }
}

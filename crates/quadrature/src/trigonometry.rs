//! Cosines of rational multiples of π, reduced exactly before any rounding.
//!
//! Cosines of symmetric nodes are exactly symmetric, cos(π/2) is exactly 0, and `cos` is never
//! called with a large angle.

use std::f64::consts::PI;

/// cos(π `numerator`/`denominator`).
pub(crate) fn cos_pi(numerator: usize, denominator: usize) -> f64 {
    let turn = 2 * denominator;
    let m = numerator % turn;
    let m = m.min(turn - m);
    if 2 * m > denominator {
        -first_quadrant(denominator - m, denominator)
    } else {
        first_quadrant(m, denominator)
    }
}

/// sin(π `numerator`/`denominator`) for an angle in [0, π].
pub(crate) fn sin_pi(numerator: usize, denominator: usize) -> f64 {
    // sin(πm/n) = cos(π(n - 2m)/(2n)), and the cosine is even.
    cos_pi(denominator.abs_diff(2 * numerator), 2 * denominator)
}

/// The cosine for 0 <= 2m <= n; near π/2 as a sine, which is accurate for small values.
fn first_quadrant(m: usize, n: usize) -> f64 {
    let (m, n) = (m as f64, n as f64);
    if 4.0 * m > n { (PI * ((n - 2.0 * m) / (2.0 * n))).sin() } else { (PI * (m / n)).cos() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn agrees_with_the_library_on_every_octant() {
        for n in 1..40_usize {
            for m in 0..=4 * n {
                let angle = PI * m as f64 / n as f64;
                assert!((cos_pi(m, n) - angle.cos()).abs() < 3e-15, "cos {m}/{n}");
            }
            for m in 0..=n {
                assert!(
                    (sin_pi(m, n) - (PI * m as f64 / n as f64).sin()).abs() < 1e-15,
                    "sin {m}/{n}"
                );
            }
        }
    }

    #[test]
    fn is_exact_where_it_should_be() {
        for n in 1..100 {
            assert_eq!(cos_pi(n, 2 * n), 0.0);
            assert_eq!(cos_pi(0, n), 1.0);
            assert_eq!(cos_pi(n, n), -1.0);
            for m in 0..n {
                assert_eq!(cos_pi(m, n), -cos_pi(n - m, n));
            }
        }
    }
}

//! The Cholesky factor of the noise covariance, without forming the covariance.
//!
//! Factoring the 3x3 matrix σ directly works while γη is small. For larger γη its relative error
//! grows like (γη)⁴: k_r = f3 − (γη)² fb, and most of fb lies in the span of k_θ and k_p, so σ33
//! and what is subtracted from it grow like (γη)⁴ while their difference does not. Instead, the
//! functions f1, f2, f3, f4 of [`crate::functions`] are orthonormalised, which involves z alone and
//! is well-conditioned for every z, and k_r is expanded in that basis. Its first two components are
//! the factor's last row; the norm of the other two is the last pivot, free of cancellation.

use crate::functions::{Fourth, Functions};

/// The factor (l11, l21, l22, l31, l32, l33) without the powers of ξ, γ, η and L, from the
/// functions of z and g² = (γη)².
///
/// With g = γη and z = ξη, L11 = √(2z/L) g η · l11, (L21, L22) = √(2z/L) g · (l21, l22) and
/// (L31, L32, L33) = √(2z/L) · (l31, l32, l33).
pub(crate) fn scaled_factor(f: &Functions, g2: f64) -> [f64; 6] {
    let Fourth { expansion: [on_first, on_second, on_fourth], products: [g14, g24, g34, g44] } =
        f.fourth;
    // Cholesky factor c of the Gram matrix of f1, f2, f3, f4, row by row.
    let c11 = f.g11.sqrt();
    let c21 = f.g12 / c11;
    let c22 = (f.g22 - c21 * c21).sqrt();
    let c31 = f.g13 / c11;
    let c32 = (f.g23 - c31 * c21) / c22;
    let c33 = (f.g33 - c31 * c31 - c32 * c32).sqrt();
    let c41 = g14 / c11;
    let c42 = (g24 - c41 * c21) / c22;
    let c43 = (g34 - c41 * c31 - c42 * c32) / c33;
    let c44 = (g44 - c41 * c41 - c42 * c42 - c43 * c43).sqrt();
    // k_r = f3 - g2 (on_first f1 + on_second f2 + on_fourth f4) in that basis.
    let fb1 = on_first * c11 + on_second * c21 + on_fourth * c41;
    let fb2 = on_second * c22 + on_fourth * c42;
    let fb3 = on_fourth * c43;
    let fb4 = on_fourth * c44;
    let l33 = (c33 - g2 * fb3).hypot(g2 * fb4);
    [c11, c21, c22, c31 - g2 * fb1, c32 - g2 * fb2, l33]
}

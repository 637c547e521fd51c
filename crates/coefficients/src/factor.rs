//! The Cholesky factor of the noise covariance, without forming the covariance.
//!
//! Factoring the 3x3 matrix σ works while γη is small. For larger γη it loses (γη)⁴ digits' worth:
//! k_r = f3 − (γη)² fb, and most of fb lies in the span of k_θ and k_p, so that σ33 and what is
//! subtracted from it grow like (γη)⁴ while their difference does not. Here the functions f1, f2,
//! f3, f4 of [`crate::functions`] are orthonormalised instead, which involves z alone and is
//! well-conditioned for every z, and k_r is expanded in the basis found: its first two components
//! are the factor's last row, the length of the other two is the last pivot, free of cancellation.

use crate::functions::Functions;

/// The factor's six entries before the powers of ξ, γ, η and L are put back: with g = γη and z =
/// ξη, L11 = √(2z/L) g η · `l11`, (L21, L22) = √(2z/L) g · (`l21`, `l22`), (L31, L32, L33) =
/// √(2z/L) · (`l31`, `l32`, `l33`).
#[derive(Debug, Clone, Copy)]
pub(crate) struct ScaledFactor {
    pub(crate) l11: f64,
    pub(crate) l21: f64,
    pub(crate) l22: f64,
    pub(crate) l31: f64,
    pub(crate) l32: f64,
    pub(crate) l33: f64,
}

impl ScaledFactor {
    /// From the functions of z and g² = (γη)².
    pub(crate) fn new(f: &Functions, g2: f64) -> Self {
        let h = &f.fourth;
        // Cholesky factor c of the Gram matrix of f1, f2, f3, f4, row by row.
        let c11 = f.g11.sqrt();
        let c21 = f.g12 / c11;
        let c22 = (f.g22 - c21 * c21).sqrt();
        let c31 = f.g13 / c11;
        let c32 = (f.g23 - c31 * c21) / c22;
        let c33 = (f.g33 - c31 * c31 - c32 * c32).sqrt();
        let c41 = h.g14 / c11;
        let c42 = (h.g24 - c41 * c21) / c22;
        let c43 = (h.g34 - c41 * c31 - c42 * c32) / c33;
        let c44 = (h.g44 - c41 * c41 - c42 * c42 - c43 * c43).sqrt();
        // k_r = f3 - g2 (on_first f1 + on_second f2 + on_fourth f4) in that basis.
        let fb1 = h.on_first * c11 + h.on_second * c21 + h.on_fourth * c41;
        let fb2 = h.on_second * c22 + h.on_fourth * c42;
        let fb3 = h.on_fourth * c43;
        let fb4 = h.on_fourth * c44;
        Self {
            l11: c11,
            l21: c21,
            l22: c22,
            l31: c31 - g2 * fb1,
            l32: c32 - g2 * fb2,
            l33: (c33 - g2 * fb3).hypot(g2 * fb4),
        }
    }
}

//! The functions of z = ξη alone from which every coefficient is built.
//!
//! Noise that enters when a fraction s of the step is left reaches θ, p and r through the kernels
//!
//! ```text
//! k_θ = √(2ξ) γ η² f1,   f1 = s² φ2(zs)            = (x − 1 + e^-x) / z²          x = z s
//! k_p = √(2ξ) γ η  f2,   f2 = s φ1(zs)             = (1 − e^-x) / z
//! k_r = √(2ξ) (f3 − γ²η² fb),   f3 = e^-x,   fb = s² b(zs) = (1 − e^-x − x e^-x) / z²
//! ```
//!
//! and the σ are inner products of these over s in [0, 1]: `g12` below is ∫ f1 f2 ds, and so on.
//! Each is an entire function of z with a series branch and a closed branch. φ3, a = −φ2′ and
//! b = −φ1′ enter the means.

use crate::exp_poly::{ExpPoly, TERMS};

/// Series are used below this value of ξη, closed forms above it.
///
/// The relative error of the series is below 5e-16 everywhere below it. That of the closed forms is
/// at most 6e-16 here, ten times that at 1.5 and a hundred times at 1.
pub const SERIES_BELOW: f64 = 2.5;

const PHI2: ExpPoly = ExpPoly::new(2, [[-12, 12, 0, 0], [12, 0, 0, 0], [0; 4]]);
const PHI3: ExpPoly = ExpPoly::new(3, [[12, -12, 6, 0], [-12, 0, 0, 0], [0; 4]]);
const A: ExpPoly = ExpPoly::new(3, [[-24, 12, 0, 0], [24, 12, 0, 0], [0; 4]]);
const B: ExpPoly = ExpPoly::new(2, [[12, 0, 0, 0], [-12, -12, 0, 0], [0; 4]]);
const LEGENDRE2: ExpPoly = ExpPoly::new(4, [[-144, 72, -12, 0], [144, 72, 12, 0], [0; 4]]);

const G11: ExpPoly = ExpPoly::new(5, [[6, 12, -12, 4], [0, -24, 0, 0], [-6, 0, 0, 0]]);
const G22: ExpPoly = ExpPoly::new(3, [[-18, 12, 0, 0], [24, 0, 0, 0], [-6, 0, 0, 0]]);
const G13: ExpPoly = ExpPoly::new(3, [[6, 0, 0, 0], [0, -12, 0, 0], [-6, 0, 0, 0]]);
const B13: ExpPoly = ExpPoly::new(5, [[-9, -12, 6, 0], [0, 24, 12, 0], [9, 6, 0, 0]]);
const B23: ExpPoly = ExpPoly::new(4, [[-27, 12, 0, 0], [36, 12, 0, 0], [-9, -6, 0, 0]]);
const B33: ExpPoly = ExpPoly::new(3, [[3, 0, 0, 0], [-12, 0, 0, 0], [9, 6, 0, 0]]);
const BB: ExpPoly = ExpPoly::new(5, [[-33, 12, 0, 0], [48, 24, 0, 0], [-15, -18, -6, 0]]);

// Inner products with f4 = (fb - f1)/z = (2 - x - 2 e^-x - x e^-x)/z^3, for the factor at small z.
const G14: ExpPoly = ExpPoly::new(6, [[-15, -24, 18, -4], [0, 48, 12, 0], [15, 6, 0, 0]]);
const G24: ExpPoly = ExpPoly::new(5, [[-33, 24, -6, 0], [48, 0, 0, 0], [-15, -6, 0, 0]]);
const G34: ExpPoly = ExpPoly::new(4, [[-3, 0, 0, 0], [-12, 12, 0, 0], [15, 6, 0, 0]]);
const G44: ExpPoly = ExpPoly::new(7, [[-9, 48, -24, 4], [48, -48, -24, 0], [-39, -30, -6, 0]]);

// Inner products with f4 = s e^-x, for the factor at large z.
const H14: ExpPoly = ExpPoly::new(4, [[15, 0, 0, 0], [-12, -12, -12, 0], [-3, -6, 0, 0]]);
const H24: ExpPoly = ExpPoly::new(3, [[9, 0, 0, 0], [-12, -12, 0, 0], [3, 6, 0, 0]]);
const H34: ExpPoly = ExpPoly::new(2, [[3, 0, 0, 0], [0; 4], [-3, -6, 0, 0]]);
const H44: ExpPoly = ExpPoly::new(3, [[3, 0, 0, 0], [0; 4], [-3, -6, -6, 0]]);

/// φ1(z) = (1 − e^-z)/z, with φ1(0) = 1.
#[must_use]
pub fn phi1(z: f64) -> f64 {
    if z == 0.0 { 1.0 } else { -(-z).exp_m1() / z }
}

/// φ2(z) = (1 − φ1(z))/z, with φ2(0) = 1/2.
#[must_use]
pub fn phi2(z: f64) -> f64 {
    static SERIES: [f64; TERMS] = PHI2.growing_series();
    by_branch(&PHI2, &SERIES, z)
}

/// φ3(z) = (1/2 − φ2(z))/z, with φ3(0) = 1/6.
#[must_use]
pub fn phi3(z: f64) -> f64 {
    static SERIES: [f64; TERMS] = PHI3.growing_series();
    by_branch(&PHI3, &SERIES, z)
}

/// a(z) = −φ2′(z) = (z − 2 + (z + 2) e^-z)/z³, with a(0) = 1/6: the component of s φ1(zs) along
/// Legendre's polynomial P1(2s − 1), up to a factor.
pub(crate) fn slope_of_phi2(z: f64) -> f64 {
    static SERIES: [f64; TERMS] = A.growing_series();
    by_branch(&A, &SERIES, z)
}

/// (−12 + 6z − z² + (12 + 6z + z²) e^-z)/z⁴, which is −z/60 for small z: the same for P2.
pub(crate) fn second_legendre(z: f64) -> f64 {
    static SERIES: [f64; TERMS] = LEGENDRE2.growing_series();
    by_branch(&LEGENDRE2, &SERIES, z)
}

fn by_branch(function: &ExpPoly, series: &[f64; TERMS], z: f64) -> f64 {
    let e = (-z).exp();
    if z.abs() < SERIES_BELOW {
        series.iter().rev().fold(0.0, |sum, &c| sum * z + c) * (e * e)
    } else {
        function.closed(z, e)
    }
}

/// The values of all functions at one z.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Functions {
    pub(crate) phi1: f64,
    pub(crate) phi2: f64,
    pub(crate) phi3: f64,
    pub(crate) a: f64,
    pub(crate) b: f64,
    /// ∫ fi fj ds, lower triangle of f1, f2, f3.
    pub(crate) g11: f64,
    pub(crate) g12: f64,
    pub(crate) g22: f64,
    pub(crate) g13: f64,
    pub(crate) g23: f64,
    pub(crate) g33: f64,
    /// ∫ fi fb ds for i = 1, 2, 3, and ∫ fb² ds.
    pub(crate) b13: f64,
    pub(crate) b23: f64,
    pub(crate) b33: f64,
    pub(crate) bb: f64,
    /// Completes f1, f2, f3 to a basis of a space that contains fb.
    pub(crate) fourth: Fourth,
}

/// A function f4 such that fb is a combination of f1, f2 and f4, and its inner products.
///
/// A suitable f4 depends on z: for small z the four functions should behave like s², s, 1, s³; for
/// large z f4 must be concentrated near s = 0, as e^-zs is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fourth {
    /// The coefficients of f1, f2 and f4 in fb.
    pub(crate) expansion: [f64; 3],
    /// ∫ fi f4 ds for i = 1, 2, 3, 4.
    pub(crate) products: [f64; 4],
}

impl Functions {
    /// All functions at z > 0, by the branch that is accurate at z.
    pub(crate) fn at(z: f64) -> Self {
        if z < SERIES_BELOW { Self::series(z) } else { Self::closed(z) }
    }

    /// The series branch. The coefficients of one power are adjacent in memory, so one pass of
    /// Horner's rule evaluates all functions and the compiler can use vector registers.
    pub(crate) fn series(z: f64) -> Self {
        const COLUMNS: [[f64; TERMS]; 15] = [
            PHI2.growing_series(),
            PHI3.growing_series(),
            A.growing_series(),
            B.growing_series(),
            G11.growing_series(),
            G22.growing_series(),
            G13.growing_series(),
            B13.growing_series(),
            B23.growing_series(),
            B33.growing_series(),
            BB.growing_series(),
            G14.growing_series(),
            G24.growing_series(),
            G34.growing_series(),
            G44.growing_series(),
        ];
        static ROWS: [[f64; 15]; TERMS] = transpose(&COLUMNS);
        let mut sums = [0.0; 15];
        for row in ROWS.iter().rev() {
            for (sum, c) in sums.iter_mut().zip(row) {
                *sum = *sum * z + c;
            }
        }
        let e = (-z).exp();
        let sums = sums.map(|sum| sum * (e * e));
        let [phi2, phi3, a, b, g11, g22, g13, b13, b23, b33, bb, g14, g24, g34, g44] = sums;
        let fourth = Fourth { expansion: [1.0, 0.0, z], products: [g14, g24, g34, g44] };
        Self::with_products(z, [phi2, phi3, a, b], [g11, g22, g13], [b13, b23, b33, bb], fourth)
    }

    /// The closed branch.
    pub(crate) fn closed(z: f64) -> Self {
        let e = (-z).exp();
        let at = |f: ExpPoly| f.closed(z, e);
        let fourth = Fourth {
            expansion: [0.0, 1.0 / z, -1.0 / z],
            products: [at(H14), at(H24), at(H34), at(H44)],
        };
        Self::with_products(
            z,
            [at(PHI2), at(PHI3), at(A), at(B)],
            [at(G11), at(G22), at(G13)],
            [at(B13), at(B23), at(B33), at(BB)],
            fourth,
        )
    }

    /// Adds the functions with simple forms: since f1′ = f2 and f2′ = f3, f1 f2 integrates to
    /// f1(1)²/2 = φ2²/2 and f2 f3 to φ1²/2; f3² integrates to φ1(2z).
    fn with_products(
        z: f64, [phi2, phi3, a, b]: [f64; 4], [g11, g22, g13]: [f64; 3],
        [b13, b23, b33, bb]: [f64; 4], fourth: Fourth,
    ) -> Self {
        let phi1 = phi1(z);
        Self {
            phi1,
            phi2,
            phi3,
            a,
            b,
            g11,
            g12: 0.5 * phi2 * phi2,
            g22,
            g13,
            g23: 0.5 * phi1 * phi1,
            g33: self::phi1(2.0 * z),
            b13,
            b23,
            b33,
            bb,
            fourth,
        }
    }
}

const fn transpose<const K: usize>(columns: &[[f64; TERMS]; K]) -> [[f64; K]; TERMS] {
    let mut rows = [[0.0; K]; TERMS];
    let mut k = 0;
    while k < TERMS {
        let mut column = 0;
        while column < K {
            rows[k][column] = columns[column][k];
            column += 1;
        }
        k += 1;
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(f: &Functions) -> [f64; 15] {
        [
            f.phi1, f.phi2, f.phi3, f.a, f.b, f.g11, f.g12, f.g22, f.g13, f.g23, f.g33, f.b13,
            f.b23, f.b33, f.bb,
        ]
    }

    #[test]
    fn the_branches_agree_around_the_threshold() {
        for i in 0..1000 {
            let z = SERIES_BELOW * (0.9 + 0.2 * f64::from(i) / 1000.0);
            // At 1.1 times the threshold the truncated series has lost a digit, and so has the
            // closed form at 0.9 times it.
            for (k, (s, c)) in
                all(&Functions::series(z)).into_iter().zip(all(&Functions::closed(z))).enumerate()
            {
                assert!((s / c - 1.0).abs() < 3e-14, "function {k} at {z}: {s} and {c}");
            }
        }
    }

    #[test]
    fn the_closed_branch_alone_fails_for_small_z() {
        // Why there are series: without them g11 would be pure rounding noise here.
        let (series, closed) = (Functions::series(1e-3), Functions::closed(1e-3));
        assert!((series.g11 * 20.0 - 1.0).abs() < 1e-3);
        assert!((closed.g11 / series.g11 - 1.0).abs() > 1e-3);
    }

    #[test]
    fn the_fourth_function_completes_the_others_to_fb_in_both_branches() {
        for (f, z) in [0.01, 0.3, 2.0, 2.4]
            .map(|z| (Functions::series(z), z))
            .into_iter()
            .chain([2.5, 4.0, 20.0, 400.0].map(|z| (Functions::closed(z), z)))
        {
            let Fourth { expansion, products: [g14, g24, g34, g44] } = f.fourth;
            // The inner product of fb with a function, from those of f1, f2 and f4 with it.
            let with_fb = |products: [f64; 3]| -> f64 {
                expansion.iter().zip(products).map(|(c, g)| c * g).sum()
            };
            let expanded =
                [[f.g11, f.g12, g14], [f.g12, f.g22, g24], [f.g13, f.g23, g34]].map(with_fb);
            for (a, b) in expanded.into_iter().zip([f.b13, f.b23, f.b33]) {
                assert!((a / b - 1.0).abs() < 1e-13, "z = {z}: {a} and {b}");
            }
            let square = with_fb([f.b13, f.b23, with_fb([g14, g24, g44])]);
            assert!((square / f.bb - 1.0).abs() < 1e-13, "z = {z}");
        }
    }
}

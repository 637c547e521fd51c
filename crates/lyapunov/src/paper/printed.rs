//! The paper's formulas, copied term by term as exact polynomials in x = 1/κ, misprints included.
//!
//! Every claim is decided from this struct, so a test can change one coefficient and check that the
//! verdict changes.

use num_rational::BigRational;

use super::polynomial::{Polynomial, PolynomialMatrix, Unknown, matrix, rational};

/// The printed matrices, functions and constants of the paper's continuous-time proof.
#[derive(Debug, Clone, PartialEq)]
pub struct Printed {
    /// D of equation (generic), without its 1/L.
    pub diffusion: PolynomialMatrix,
    /// Q of the same equation, without its 1/L.
    pub rotation: PolynomialMatrix,
    /// The sign before D in the drift (± D + Q) ∇H; printed is +1.
    pub diffusion_sign: i64,
    /// M(l, γ, ξ), the drift of the difference of two coupled paths.
    pub drift: PolynomialMatrix,
    /// The sign before γ r in the increments of p in the proofs; printed is −1.
    pub increment_sign: i64,
    /// S, for γ = κ and ξ = 2κ.
    pub s: PolynomialMatrix,
    /// Eigenvalues of S M + Mᵀ S are claimed to be below −decay.
    pub decay: BigRational,
    /// The claimed smallest eigenvalue of S, 1/(5κ).
    pub smallest: Polynomial,
    /// The claimed largest eigenvalue of S, κ² + 10.
    pub largest: Polynomial,
    /// The denominator of Proposition 1's exponent, 5κ² + 50.
    pub rate_denominator: Polynomial,
    /// g1, under the root in the eigenvalues of S M + Mᵀ S.
    pub g1: Polynomial,
    /// g2, a coefficient of the cubic f.
    pub g2: Polynomial,
    /// g3, a coefficient of the cubic f.
    pub g3: Polynomial,
    /// g4, in the roots of f′.
    pub g4: Polynomial,
    /// g5, under the root in the roots of f′.
    pub g5: Polynomial,
    /// (2κ + 6/5)² − (κ − 1)² g1, expanded.
    pub expansion: Polynomial,
    /// g6, as a polynomial in x.
    pub g6: Polynomial,
    /// The coefficients of g6 in powers of x − 1/2.
    pub g6_recentred: Vec<BigRational>,
    /// The constant and the coefficient of (x − 1/2)² in the last lower bound of g6.
    pub g6_bound: [BigRational; 2],
    /// f(4/κ³ + 40/κ⁵), expanded.
    pub f_at_upper: Polynomial,
    /// Its printed lower bound.
    pub f_at_upper_bound: Polynomial,
    /// f(4/(5κ⁶)), expanded.
    pub f_at_lower: Polynomial,
    /// The upper bound of g4.
    pub g4_bound: Polynomial,
    /// The upper bound of g5.
    pub g5_bound: Polynomial,
    /// The upper bound of √g5.
    pub root_bound: Polynomial,
    /// The two upper bounds of g4 + √g5 before the last.
    pub sum_bounds: [Polynomial; 2],
    /// The lower bound of the smaller root of f′, 1/κ⁶.
    pub smaller_root_bound: Polynomial,
}

impl Printed {
    /// The paper's own.
    #[must_use]
    pub fn paper() -> Self {
        let [diffusion, rotation, drift] = dynamics();
        let g2 = whole(&[(3, 1), (5, 5), (6, 11), (7, 5), (8, 1), (9, 2), (10, 1)]);
        Self {
            diffusion,
            rotation,
            diffusion_sign: 1,
            drift,
            increment_sign: -1,
            s: lyapunov_matrix(),
            decay: rational(1, 5),
            smallest: Polynomial::table(&[(1, 1, 5)]),
            largest: whole(&[(-2, 1), (0, 10)]),
            rate_denominator: whole(&[(-2, 5), (0, 50)]),
            g1: consecutive(0, &[4, 0, 20, 56, 40, 8, 20, 12, 1, 2, 1]),
            g4: g2.clone(),
            g2,
            g3: consecutive(0, &[8, 0, 24, 60, 41, 10, 21, 12, 1, 2, 1]),
            g5: consecutive(6, &[1, 0, 10, -2, 35, 40, -5, -1, 37, 1, 7, 11, 0, 1, 1]),
            expansion: &Polynomial::table(&[(-1, 64, 5), (0, -564, 25)])
                + &consecutive(1, &[-16, 52, 16, -44, 20, 3, -12, 2, 0, -1]),
            g6: &Polynomial::table(&[(0, 64, 5), (1, -564, 25)])
                + &consecutive(2, &[-16, 52, 16, -44, 20, 3, -12, 2, 0, -1]),
            g6_recentred: [
                (201_599, 51_200),
                (-49_211, 25_600),
                (24_025, 512),
                (2_955, 256),
                (-3_397, 64),
                (-1_399, 32),
                (-751, 16),
                (-381, 8),
                (-189, 8),
                (-47, 4),
                (-11, 2),
                (-1, 1),
            ]
            .map(|(n, d)| rational(n, d))
            .to_vec(),
            g6_bound: [rational(38_097, 12_800), rational(5_523, 128)],
            f_at_upper: consecutive(
                9,
                &[
                    48, 0, 1_520, -144, 15_920, -3_120, 54_600, -16_812, -6_224, -256, -2_793,
                    -766, 467, 32, 79, 38, -1,
                ],
            ),
            f_at_upper_bound: whole(&[(9, 48), (11, 1_376), (13, 12_800), (15, 27_749), (21, 467)]),
            f_at_lower: Polynomial::table(&[
                (15, -56, 25),
                (17, -8, 1),
                (18, -2_316, 125),
                (19, -57, 5),
                (20, -66, 25),
                (21, -137, 25),
                (22, -76, 25),
                (23, -1, 5),
                (24, -2, 5),
                (25, -1, 5),
            ]),
            g4_bound: whole(&[(3, 1), (5, 25)]),
            g5_bound: whole(&[(6, 11), (10, 125)]),
            root_bound: whole(&[(3, 4), (5, 12)]),
            sum_bounds: [
                whole(&[(3, 5), (5, 17), (6, 11), (7, 5), (8, 1), (9, 2), (10, 1)]),
                whole(&[(3, 5), (5, 17), (6, 20)]),
            ],
            smaller_root_bound: Polynomial::x(6),
        }
    }

    /// S M + Mᵀ S for the printed S and M, at γ = κ and ξ = 2κ.
    #[must_use]
    pub fn derivative(&self) -> PolynomialMatrix {
        let kappa = Polynomial::kappa(1);
        let drift = matrix(|i, j| {
            let entry = self.drift[i][j].substitute(Unknown::Gamma, &kappa);
            entry.substitute(Unknown::Xi, &kappa.scaled(&rational(2, 1)))
        });
        super::polynomial::plus_transpose(&super::polynomial::product(&self.s, &drift))
    }

    /// f(λ) = λ³ − g2 λ² + g3 λ/κ⁹ − g3/κ¹⁵.
    #[must_use]
    pub fn cubic(&self) -> Polynomial {
        let lambda = Polynomial::unknown(Unknown::Lambda);
        let low = &(&lambda * &Polynomial::x(9)) - &Polynomial::x(15);
        &(&lambda.power(3) - &(&self.g2 * &lambda.power(2))) + &(&self.g3 * &low)
    }

    /// The claimed smallest and largest root of f: the claimed eigenvalues of S times 4/κ⁵.
    #[must_use]
    pub fn root_range(&self) -> [Polynomial; 2] {
        let scale = Polynomial::table(&[(5, 4, 1)]);
        [&scale * &self.smallest, &scale * &self.largest]
    }
}

/// A polynomial in x with integer coefficients, of consecutive powers from `first` on.
fn consecutive(first: i32, coefficients: &[i64]) -> Polynomial {
    whole(&(first..).zip(coefficients.iter().copied()).collect::<Vec<_>>())
}

/// A polynomial in x with integer coefficients, from (power, coefficient).
fn whole(terms: &[(i32, i64)]) -> Polynomial {
    Polynomial::table(&terms.iter().map(|&(power, c)| (power, c, 1)).collect::<Vec<_>>())
}

/// L D, L Q and M(l, γ, ξ) of Sections 2.4 and 4.1.1.
fn dynamics() -> [PolynomialMatrix; 3] {
    let zero = Polynomial::default;
    let one = || Polynomial::integer(1);
    let gamma = || Polynomial::unknown(Unknown::Gamma);
    let xi = || Polynomial::unknown(Unknown::Xi);
    let ell = Polynomial::unknown(Unknown::Ell);
    [
        [[zero(), zero(), zero()], [zero(), zero(), zero()], [zero(), zero(), xi()]],
        [[zero(), one(), zero()], [-&one(), zero(), gamma()], [zero(), -&gamma(), zero()]],
        [[zero(), one(), zero()], [-&ell, zero(), gamma()], [zero(), -&gamma(), -&xi()]],
    ]
}

/// S as printed: κ⁷ + 3κ⁴ + ... over 4κ⁵ and so on.
fn lyapunov_matrix() -> PolynomialMatrix {
    let over = |numerator: &[(i32, i64)], power: i32| {
        let numerator = whole(&numerator.iter().map(|&(k, c)| (-k, c)).collect::<Vec<_>>());
        (&numerator * &Polynomial::x(power)).scaled(&rational(1, 4))
    };
    let s11 = over(&[(7, 1), (4, 3), (3, 5), (1, 1), (0, 1)], 5);
    let s12 = over(&[(1, 2)], 0);
    let s13 = &over(&[(1, 1)], 0) * &whole(&[(0, 1), (3, -1), (4, -1)]);
    let s22 = over(&[(4, 4), (3, 6), (1, 1), (0, 1)], 4);
    let s23 = over(&[(1, 2), (0, 2)], 1);
    let s33 = over(&[(1, 1), (0, 2)], 1);
    [[s11, s12.clone(), s13.clone()], [s12, s22, s23.clone()], [s13, s23, s33]]
}

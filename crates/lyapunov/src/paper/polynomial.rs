//! Exact polynomials: rational coefficients, any power of κ, and a few unknowns beside it.
//!
//! The paper's matrices and functions are polynomials in 1/κ, up to a power of κ. In this form an
//! identity between them is an equality of two finite tables, for every κ at once, without grids or
//! rounding.

use std::collections::BTreeMap;
use std::ops::{Add, Mul, Neg, Sub};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::sturm::Univariate;

/// The unknowns of a polynomial besides x = 1/κ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    /// l, an eigenvalue of the Hessian divided by L.
    Ell = 0,
    /// λ, an eigenvalue or the argument of the cubic f.
    Lambda = 1,
    /// γ.
    Gamma = 2,
    /// ξ.
    Xi = 3,
}

/// The powers in one term: of x, which may be negative, and of the unknowns.
type Powers = (i32, [u32; 4]);

/// A polynomial in l, λ, γ, ξ whose coefficients are Laurent polynomials in x = 1/κ with rational
/// coefficients.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Polynomial {
    /// Coefficients by powers; none is zero.
    terms: BTreeMap<Powers, BigRational>,
}

/// The rational `numerator`/`denominator`; a denominator of 0 counts as 1.
#[must_use]
pub fn rational(numerator: i64, denominator: i64) -> BigRational {
    let denominator = if denominator == 0 { 1 } else { denominator };
    BigRational::new(BigInt::from(numerator), BigInt::from(denominator))
}

impl Polynomial {
    /// A constant.
    #[must_use]
    pub fn constant(value: BigRational) -> Self {
        Self::term((0, [0; 4]), value)
    }

    /// A whole number.
    #[must_use]
    pub fn integer(value: i64) -> Self {
        Self::constant(rational(value, 1))
    }

    /// x^power = κ^−power.
    #[must_use]
    pub fn x(power: i32) -> Self {
        Self::term((power, [0; 4]), BigRational::one())
    }

    /// κ^power.
    #[must_use]
    pub fn kappa(power: i32) -> Self {
        Self::x(-power)
    }

    /// An unknown, to the first power.
    #[must_use]
    pub fn unknown(unknown: Unknown) -> Self {
        let mut powers = [0; 4];
        powers[unknown as usize] = 1;
        Self::term((0, powers), BigRational::one())
    }

    /// The sum of numerator/denominator · x^power over a table of (power, numerator, denominator).
    #[must_use]
    pub fn table(terms: &[(i32, i64, i64)]) -> Self {
        terms.iter().fold(Self::default(), |sum, &(power, numerator, denominator)| {
            &sum + &Self::x(power).scaled(&rational(numerator, denominator))
        })
    }

    fn term(powers: Powers, value: BigRational) -> Self {
        let mut terms = BTreeMap::new();
        if !value.is_zero() {
            terms.insert(powers, value);
        }
        Self { terms }
    }

    /// This polynomial times a number.
    #[must_use]
    pub fn scaled(&self, factor: &BigRational) -> Self {
        if factor.is_zero() {
            return Self::default();
        }
        Self { terms: self.terms.iter().map(|(powers, c)| (*powers, c * factor)).collect() }
    }

    /// This polynomial to a power.
    #[must_use]
    pub fn power(&self, exponent: u32) -> Self {
        (0..exponent).fold(Self::integer(1), |product, _| &product * self)
    }

    /// Whether it is the zero polynomial.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether no coefficient is negative; the polynomial is then nonnegative for positive
    /// arguments.
    #[must_use]
    pub fn has_no_negative_coefficient(&self) -> bool {
        self.terms.values().all(|c| !c.is_negative())
    }

    /// This polynomial with `value` in place of an unknown.
    #[must_use]
    pub fn substitute(&self, unknown: Unknown, value: &Self) -> Self {
        let mut sum = Self::default();
        for (&(x, mut powers), c) in &self.terms {
            let exponent = std::mem::take(&mut powers[unknown as usize]);
            sum = &sum + &(&Self::term((x, powers), c.clone()) * &value.power(exponent));
        }
        sum
    }

    /// The coefficient of a power of an unknown, as a polynomial in the others.
    #[must_use]
    pub fn coefficient(&self, unknown: Unknown, exponent: u32) -> Self {
        let terms =
            self.terms.iter().filter(|((_, powers), _)| powers[unknown as usize] == exponent);
        let rest = terms.map(|(&(x, mut powers), c)| {
            powers[unknown as usize] = 0;
            ((x, powers), c.clone())
        });
        Self { terms: rest.collect() }
    }

    /// The derivative with respect to an unknown.
    #[must_use]
    pub fn derivative(&self, unknown: Unknown) -> Self {
        let terms = self.terms.iter().filter(|((_, powers), _)| powers[unknown as usize] > 0);
        let lowered = terms.map(|(&(x, mut powers), c)| {
            let exponent = powers[unknown as usize];
            powers[unknown as usize] = exponent - 1;
            ((x, powers), c * BigRational::from(BigInt::from(exponent)))
        });
        Self { terms: lowered.collect() }
    }

    /// The polynomial in x, divided by its lowest power of x and made integral by a positive
    /// factor, which keeps its sign at every x > 0. `None` if it contains an unknown.
    #[must_use]
    pub fn in_x(&self) -> Option<Univariate> {
        let lowest = self.terms.keys().map(|(x, _)| *x).min().unwrap_or(0);
        let mut coefficients: Vec<BigRational> = Vec::new();
        for ((x, powers), c) in &self.terms {
            if *powers != [0; 4] {
                return None;
            }
            let place = usize::try_from(x - lowest).ok()?;
            if coefficients.len() <= place {
                coefficients.resize(place + 1, BigRational::zero());
            }
            coefficients[place] = c.clone();
        }
        Some(Univariate::from_rationals(&coefficients))
    }

    /// The exact value at x; `None` if the polynomial contains an unknown, and for x = 0.
    #[must_use]
    pub fn at(&self, x: &BigRational) -> Option<BigRational> {
        if x.is_zero() || self.terms.keys().any(|(_, powers)| *powers != [0; 4]) {
            return None;
        }
        Some(self.terms.iter().map(|((power, _), c)| c * x.pow(*power)).sum())
    }
}

impl Add for &Polynomial {
    type Output = Polynomial;

    fn add(self, other: Self) -> Polynomial {
        let mut terms = self.terms.clone();
        for (powers, c) in &other.terms {
            *terms.entry(*powers).or_insert_with(BigRational::zero) += c;
        }
        terms.retain(|_, c| !c.is_zero());
        Polynomial { terms }
    }
}

impl Neg for &Polynomial {
    type Output = Polynomial;

    fn neg(self) -> Polynomial {
        Polynomial { terms: self.terms.iter().map(|(powers, c)| (*powers, -c)).collect() }
    }
}

impl Sub for &Polynomial {
    type Output = Polynomial;

    fn sub(self, other: Self) -> Polynomial {
        self + &-other
    }
}

impl Mul for &Polynomial {
    type Output = Polynomial;

    fn mul(self, other: Self) -> Polynomial {
        let mut terms: BTreeMap<Powers, BigRational> = BTreeMap::new();
        for ((x, powers), c) in &self.terms {
            for ((other_x, other_powers), other_c) in &other.terms {
                let sum = std::array::from_fn(|i| powers[i] + other_powers[i]);
                *terms.entry((x + other_x, sum)).or_insert_with(BigRational::zero) += c * other_c;
            }
        }
        terms.retain(|_, c| !c.is_zero());
        Polynomial { terms }
    }
}

/// A 3x3 matrix of polynomials, row by row.
pub type PolynomialMatrix = [[Polynomial; 3]; 3];

/// The matrix with entries `entry(row, column)`.
pub(crate) fn matrix(entry: impl Fn(usize, usize) -> Polynomial) -> PolynomialMatrix {
    std::array::from_fn(|i| std::array::from_fn(|j| entry(i, j)))
}

/// The product a b.
pub(crate) fn product(a: &PolynomialMatrix, b: &PolynomialMatrix) -> PolynomialMatrix {
    matrix(|i, j| (0..3).fold(Polynomial::default(), |sum, k| &sum + &(&a[i][k] * &b[k][j])))
}

/// a + aᵀ.
pub(crate) fn plus_transpose(a: &PolynomialMatrix) -> PolynomialMatrix {
    matrix(|i, j| &a[i][j] + &a[j][i])
}

/// The three leading principal minors; all are positive exactly if a symmetric matrix is positive
/// definite.
pub(crate) fn leading_minors(a: &PolynomialMatrix) -> [Polynomial; 3] {
    let two =
        |i: usize, j: usize, k: usize, l: usize| &(&a[i][k] * &a[j][l]) - &(&a[i][l] * &a[j][k]);
    let determinant = &(&(&a[0][0] * &two(1, 2, 1, 2)) - &(&a[0][1] * &two(1, 2, 0, 2)))
        + &(&a[0][2] * &two(1, 2, 0, 1));
    [a[0][0].clone(), two(0, 1, 0, 1), determinant]
}

/// det(λ − a).
pub(crate) fn characteristic(a: &PolynomialMatrix) -> Polynomial {
    let lambda = Polynomial::unknown(Unknown::Lambda);
    let [_, _, determinant] =
        leading_minors(&matrix(|i, j| if i == j { &lambda - &a[i][j] } else { -&a[i][j] }));
    determinant
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_products_and_substitution_agree_with_a_case_done_by_hand() {
        // (κ + l)² − κ² = 2κ l + l²; at l = x it is 2 + x².
        let l = Polynomial::unknown(Unknown::Ell);
        let kappa = Polynomial::kappa(1);
        let difference = &(&kappa + &l).power(2) - &kappa.power(2);
        assert_eq!(difference.coefficient(Unknown::Ell, 1), kappa.scaled(&rational(2, 1)));
        let at_x = difference.substitute(Unknown::Ell, &Polynomial::x(1));
        assert_eq!(at_x, Polynomial::table(&[(0, 2, 1), (2, 1, 1)]));
        assert_eq!(at_x.at(&rational(1, 2)), Some(rational(9, 4)));
        assert!(difference.at(&rational(1, 2)).is_none() && difference.in_x().is_none());
        assert!((&difference - &difference).is_zero());
    }

    #[test]
    fn the_characteristic_polynomial_of_a_triangular_matrix_has_its_diagonal_as_roots() {
        let a =
            matrix(
                |i, j| {
                    if i <= j { Polynomial::x(i32::from(i == j)) } else { Polynomial::default() }
                },
            );
        let root = &Polynomial::unknown(Unknown::Lambda) - &Polynomial::x(1);
        assert_eq!(characteristic(&a), root.power(3));
        let expected = root.power(2).scaled(&rational(3, 1));
        assert_eq!(characteristic(&a).derivative(Unknown::Lambda), expected);
    }
}

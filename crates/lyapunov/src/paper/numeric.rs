//! The lemmas at a given κ, numerically: eigenvalues by a library against the closed forms, and the
//! margin of each claim.

use faer::{Mat, Side};
use num_rational::BigRational;
use num_traits::{One, ToPrimitive, Zero};

use super::claims::{Claim, Verdict};
use super::matrices::{Matrix3, derivative, derivative_eigenvalues, g1, g3, g6, rate, s};
use super::polynomial::{Polynomial, PolynomialMatrix, Unknown, characteristic};
use super::printed::Printed;
use super::sturm::Univariate;
use crate::matrix::{cholesky, congruence, inverse, transpose};

/// The largest difference between eigenvalues from the library and from the closed form, relative
/// to the largest of them.
const TO_LARGEST: f64 = 1e-14;

/// For S, the largest difference relative to each eigenvalue.
const TO_EACH: f64 = 1e-13;

/// The eigenvalues of a symmetric matrix in ascending order, by faer; `None` if it is not finite.
#[must_use]
pub fn symmetric_eigenvalues(matrix: &Matrix3) -> Option<[f64; 3]> {
    let values =
        Mat::from_fn(3, 3, |i, j| matrix[i][j]).self_adjoint_eigenvalues(Side::Lower).ok()?;
    values.try_into().ok().filter(|values: &[f64; 3]| values.iter().all(|v| v.is_finite()))
}

/// x = 1/κ as an exact fraction.
fn exact(kappa: f64) -> Option<BigRational> {
    let value = BigRational::from_float(kappa)?;
    (!value.is_zero()).then(|| value.recip())
}

/// The matrix at one κ, each entry computed exactly and then rounded to a double.
fn rounded(matrix: &PolynomialMatrix, x: &BigRational) -> Option<Matrix3> {
    let mut out = [[0.0; 3]; 3];
    for (row, out) in matrix.iter().zip(&mut out) {
        for (entry, out) in row.iter().zip(out.iter_mut()) {
            *out = entry.at(x)?.to_f64()?;
        }
    }
    Some(out)
}

/// The eigenvalues of the paper's S in ascending order, each with a small relative error.
///
/// They spread from 1/(4κ) to κ²/4, and a library computes them with errors that are small relative
/// to the largest only. So the smaller two are taken from S⁻¹, which is formed exactly.
#[must_use]
pub fn eigenvalues_of_s(kappa: f64) -> Option<[f64; 3]> {
    let x = exact(kappa)?;
    let printed = Printed::paper();
    let [_, _, largest] = symmetric_eigenvalues(&rounded(&printed.s, &x)?)?;
    let [_, middle, smallest] = symmetric_eigenvalues(&rounded_inverse(&printed.s, &x)?)?;
    Some([smallest.recip(), middle.recip(), largest])
}

/// The inverse of a symmetric matrix at one κ, computed exactly by cofactors and then rounded.
fn rounded_inverse(matrix: &PolynomialMatrix, x: &BigRational) -> Option<Matrix3> {
    let entry = |i: usize, j: usize| matrix[i % 3][j % 3].at(x);
    let cofactor = |i: usize, j: usize| {
        Some(
            entry(i + 1, j + 1)? * entry(i + 2, j + 2)?
                - entry(i + 1, j + 2)? * entry(i + 2, j + 1)?,
        )
    };
    let mut determinant = BigRational::zero();
    for j in 0..3 {
        determinant += entry(0, j)? * cofactor(0, j)?;
    }
    let mut out = [[0.0; 3]; 3];
    for (i, row) in out.iter_mut().enumerate() {
        for (j, value) in row.iter_mut().enumerate() {
            *value = (cofactor(j, i)? / &determinant).to_f64()?;
        }
    }
    Some(out)
}

/// The roots of the characteristic polynomial of S, ascending, isolated exactly and refined to a
/// relative error of 2⁻⁶⁰: κ⁵/4 times the roots of the paper's cubic f.
#[must_use]
pub fn roots_of_cubic(kappa: f64) -> Option<[f64; 3]> {
    let x = exact(kappa)?;
    let f = characteristic(&Printed::paper().s);
    let trace = -f.coefficient(Unknown::Lambda, 2).at(&x)?;
    // λ = trace · u: all roots are positive, so u is in (0, 1].
    let mut power = BigRational::one();
    let mut coefficients = Vec::new();
    for k in 0..=3 {
        coefficients.push(f.coefficient(Unknown::Lambda, k).at(&x)? * &power);
        power *= &trace;
    }
    let roots = Univariate::from_rationals(&coefficients).roots_in_unit(60);
    let values: Option<Vec<f64>> = roots.iter().map(|u| (u * &trace).to_f64()).collect();
    values?.try_into().ok()
}

/// The largest ρ with S M + Mᵀ S + 2ρ S <= 0 for all l between 1/κ and 1: the best rate that the
/// paper's S proves, to be compared with [`rate`].
#[must_use]
pub fn best_rate(kappa: f64) -> Option<f64> {
    let at = |l: f64| {
        let negative = derivative(kappa, l).map(|row| row.map(|entry| -entry));
        let factor = inverse(&cholesky(&negative)?)?;
        let [_, _, largest] = symmetric_eigenvalues(&congruence(&s(kappa), &transpose(&factor)))?;
        Some(0.5 / largest)
    };
    Some(at(1.0 / kappa)?.min(at(1.0)?))
}

/// The rows for one κ.
pub(crate) fn claims_at(printed: &Printed, kappa: f64) -> Vec<Claim> {
    let rows = [
        compare_derivative(printed, kappa),
        lemma2(kappa),
        lemma4(kappa),
        compare_s(kappa),
        lemma3(kappa),
        lemma5(printed, kappa),
        lemma10(printed, kappa),
        proposition1(kappa),
    ];
    rows.into_iter().map(|claim| Claim { at_kappa: Some(kappa), ..claim }).collect()
}

/// A claim that is true if its margin is not negative; false if the margin could not be computed.
fn by_margin(what: String, place: &'static str, margin: Option<f64>, detail: &str) -> Claim {
    let holds = margin.is_some_and(|m| m >= 0.0);
    Claim { margin, ..Claim::new(what, place, Verdict::of(holds, false), detail) }
}

fn compare_derivative(printed: &Printed, kappa: f64) -> Claim {
    let difference = || {
        let x = exact(kappa)?;
        let matrix = printed.derivative();
        let mut worst = 0.0f64;
        for l in [1.0 / kappa, 0.5 * (1.0 + 1.0 / kappa), 1.0] {
            let value = Polynomial::constant(BigRational::from_float(l)?);
            let at_l = matrix
                .each_ref()
                .map(|row| row.each_ref().map(|e| e.substitute(Unknown::Ell, &value)));
            let by_library = symmetric_eigenvalues(&rounded(&at_l, &x)?)?;
            let mut closed = derivative_eigenvalues(kappa, l);
            closed.sort_by(f64::total_cmp);
            let largest = closed[0].abs();
            worst = by_library
                .iter()
                .zip(closed)
                .map(|(a, b)| (a - b).abs() / largest)
                .fold(worst, f64::max);
        }
        Some(worst)
    };
    let difference = difference();
    by_margin(
        format!("eigenvalues of S M + M^T S at kappa = {kappa}, by faer"),
        "Section 4.1.2",
        difference.map(|d| TO_LARGEST - d),
        "for l = 1/kappa, 1 and half way; margin: 1e-14 minus the largest difference from the closed form, relative to the \
         largest eigenvalue",
    )
}

fn lemma2(kappa: f64) -> Claim {
    let largest = derivative_eigenvalues(kappa, 1.0).into_iter().fold(f64::NEG_INFINITY, f64::max);
    by_margin(
        format!("eigenvalues of S M + M^T S are below -1/5 at kappa = {kappa}"),
        "Lemma 2",
        Some(-0.2 - largest),
        "margin: distance of the largest eigenvalue from the bound",
    )
}

fn lemma4(kappa: f64) -> Claim {
    by_margin(
        format!("g1 >= 4 and g6 >= 0 at kappa = {kappa}"),
        "Lemma 4",
        Some((g1(kappa) - 4.0).min(g6(kappa))),
        "margin: the smaller of g1 - 4 and g6",
    )
}

fn compare_s(kappa: f64) -> Claim {
    let difference =
        eigenvalues_of_s(kappa).zip(roots_of_cubic(kappa)).map(|(by_library, exact)| {
            by_library.iter().zip(exact).map(|(a, b)| (a / b - 1.0).abs()).fold(0.0, f64::max)
        });
    by_margin(
        format!("eigenvalues of S at kappa = {kappa}, by faer"),
        "Section 4.1.3",
        difference.map(|d| TO_EACH - d),
        "margin: 1e-13 minus the largest relative difference from the roots of f, isolated exactly",
    )
}

fn lemma3(kappa: f64) -> Claim {
    let room = roots_of_cubic(kappa).map(|[smallest, _, largest]| {
        (5.0 * kappa * smallest - 1.0).min(1.0 - largest / (kappa * kappa + 10.0))
    });
    by_margin(
        format!("eigenvalues of S lie in [1/(5 kappa), kappa^2 + 10] at kappa = {kappa}"),
        "Lemma 3",
        room,
        "margin: the smaller room at the two ends, as a fraction of each end",
    )
}

/// A polynomial times a power of κ at one κ, computed exactly so that high powers neither underflow
/// nor cancel.
fn scaled_value(polynomial: &Polynomial, power: i32, kappa: f64) -> Option<f64> {
    (polynomial * &Polynomial::kappa(power)).at(&exact(kappa)?)?.to_f64()
}

fn lemma5(printed: &Printed, kappa: f64) -> Claim {
    let [lower, upper] =
        printed.root_range().map(|end| printed.cubic().substitute(Unknown::Lambda, &end));
    let below = scaled_value(&lower, 15, kappa);
    let above = scaled_value(&upper, 9, kappa);
    by_margin(
        format!("f(4/(5 kappa^6)) < 0 < f(4/kappa^3 + 40/kappa^5) at kappa = {kappa}"),
        "Lemma 5",
        below.zip(above).map(|(below, above)| (-below).min(above)),
        "margin: the smaller of -kappa^15 f and kappa^9 f",
    )
}

fn lemma10(printed: &Printed, kappa: f64) -> Claim {
    let room = || {
        let [lower, upper] = printed.root_range();
        let sum =
            scaled_value(&printed.g4, 3, kappa)? + scaled_value(&printed.g5, 6, kappa)?.sqrt();
        let larger = sum / 3.0;
        // The difference of g4 and the root cancels; the product of the two roots is g3/(3 κ⁹).
        let smaller = g3(kappa) / sum;
        let above = smaller / scaled_value(&lower, 6, kappa)? - 1.0;
        Some(above.min(1.0 - larger / scaled_value(&upper, 3, kappa)?))
    };
    by_margin(
        format!("f increases outside [4/(5 kappa^6), 4/kappa^3 + 40/kappa^5] at kappa = {kappa}"),
        "Lemma 10",
        room(),
        "margin: the smaller room between the roots of f' and the ends, as a fraction of each end",
    )
}

fn proposition1(kappa: f64) -> Claim {
    by_margin(
        format!("rate of Proposition 1 at kappa = {kappa}"),
        "Proposition 1",
        best_rate(kappa).map(|best| best / rate(kappa) - 1.0),
        "margin: with this S the rate could be larger by this fraction of itself",
    )
}

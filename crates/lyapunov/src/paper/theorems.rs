//! Step sizes and mixing times of Theorems 1 and 2, with the constants that the paper does not
//! specify as arguments.
//!
//! Each is a product of powers of κ, d, L, ε and L_α, times a constant. The powers are exact
//! fractions, so that two readings and their units can be compared without evaluating anything.

use num_rational::Rational64;
use num_traits::{One, ToPrimitive, Zero};

use crate::error::{Error, condition_number, positive};

/// The powers in κ^a d^b L^c ε^e L_α^h.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Scaling {
    /// The power of κ.
    pub kappa: Rational64,
    /// The power of the dimension d.
    pub dimension: Rational64,
    /// The power of the smoothness L.
    pub smoothness: Rational64,
    /// The power of the accuracy ε.
    pub accuracy: Rational64,
    /// The power of the higher smoothness L_α.
    pub higher: Rational64,
}

impl Scaling {
    /// The constant 1.
    #[must_use]
    pub fn one() -> Self {
        let zero = Rational64::zero();
        Self { kappa: zero, dimension: zero, smoothness: zero, accuracy: zero, higher: zero }
    }

    /// κ to a power.
    #[must_use]
    pub fn kappa(power: Rational64) -> Self {
        Self { kappa: power, ..Self::one() }
    }

    /// The product.
    #[must_use]
    pub fn times(&self, other: &Self) -> Self {
        Self {
            kappa: self.kappa + other.kappa,
            dimension: self.dimension + other.dimension,
            smoothness: self.smoothness + other.smoothness,
            accuracy: self.accuracy + other.accuracy,
            higher: self.higher + other.higher,
        }
    }

    /// This to a power.
    #[must_use]
    pub fn power(&self, exponent: Rational64) -> Self {
        Self {
            kappa: self.kappa * exponent,
            dimension: self.dimension * exponent,
            smoothness: self.smoothness * exponent,
            accuracy: self.accuracy * exponent,
            higher: self.higher * exponent,
        }
    }

    /// The power of the unit of length. U has no unit, so L has the unit 1/length², ε length, and
    /// L_α, whose (α − 1)-th power bounds α-th derivatives of U, length^(−α/(α − 1)). Time, and
    /// with it the step size, has no unit: θ and p are both lengths.
    #[must_use]
    pub fn length(&self, alpha: u32) -> Rational64 {
        let alpha = i64::from(alpha);
        let higher = Rational64::new(-alpha, (alpha - 1).max(1));
        self.accuracy - self.smoothness * 2 + self.higher * higher
    }

    /// Its value for a problem.
    #[must_use]
    pub fn evaluate(&self, problem: &Problem, higher: f64) -> f64 {
        let factor = |base: f64, power: Rational64| base.powf(power.to_f64().unwrap_or(f64::NAN));
        factor(problem.kappa, self.kappa)
            * factor(problem.dimension, self.dimension)
            * factor(problem.smoothness, self.smoothness)
            * factor(problem.accuracy, self.accuracy)
            * factor(higher, self.higher)
    }
}

/// The arguments of the theorems: condition number, dimension, smoothness and Wasserstein accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Problem {
    kappa: f64,
    dimension: f64,
    smoothness: f64,
    accuracy: f64,
}

impl Problem {
    /// A problem with κ >= 1, dimension d >= 1, smoothness L > 0 and accuracy ε in (0, 1).
    ///
    /// # Errors
    /// [`Error::NotInRange`] with the argument and its value.
    pub fn new(
        kappa: f64, dimension: usize, smoothness: f64, accuracy: f64,
    ) -> Result<Self, Error> {
        condition_number(kappa)?;
        let dimension = dimension as f64;
        if dimension < 1.0 {
            return Err(Error::NotInRange {
                name: "dimension",
                value: dimension,
                need: "at least 1",
            });
        }
        positive("smoothness", smoothness)?;
        if !(accuracy > 0.0 && accuracy < 1.0) {
            return Err(Error::NotInRange {
                name: "accuracy",
                value: accuracy,
                need: "a number above 0 and below 1",
            });
        }
        Ok(Self { kappa, dimension, smoothness, accuracy })
    }

    /// log(d κ/ε), the logarithm in Theorem 1.
    #[must_use]
    pub fn logarithm(&self) -> f64 {
        (self.dimension * self.kappa / self.accuracy).ln()
    }
}

/// A bound L_α on higher derivatives: the α-th derivative of U is at most L_α^(α − 1) in tensor
/// norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HigherSmoothness {
    alpha: u32,
    bound: f64,
}

impl HigherSmoothness {
    /// α >= 2 and L_α > 0.
    ///
    /// # Errors
    /// [`Error::NotInRange`] with the argument and its value.
    pub fn new(alpha: u32, bound: f64) -> Result<Self, Error> {
        if alpha < 2 {
            return Err(Error::NotInRange {
                name: "alpha",
                value: f64::from(alpha),
                need: "at least 2",
            });
        }
        positive("higher smoothness", bound)?;
        Ok(Self { alpha, bound })
    }
}

/// The form in which a statement is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reading {
    /// To the letter.
    Printed,
    /// With the sign of an exponent corrected, so that step size and mixing time are consistent.
    Meant,
    /// As it follows from Proposition 2, Lemma 9 and the eigenvalues of S: with correct units, and
    /// with the power of κ that the paper's proof gives, which is lower than necessary.
    Derived,
}

/// Theorem 1's step size: κ^(−11/4) d^(−1/4) L^(1/4) ε^(1/2).
#[must_use]
pub fn theorem1_step() -> Scaling {
    Scaling {
        kappa: ratio(-11, 4),
        dimension: ratio(-1, 4),
        smoothness: ratio(1, 4),
        accuracy: ratio(1, 2),
        higher: ratio(0, 1),
    }
}

/// Theorem 1's mixing time, without its logarithm: κ^(19/4) (d/L)^(1/4) ε^(−1/2).
#[must_use]
pub fn theorem1_time() -> Scaling {
    Scaling {
        kappa: ratio(19, 4),
        dimension: ratio(1, 4),
        smoothness: ratio(-1, 4),
        accuracy: ratio(-1, 2),
        higher: ratio(0, 1),
    }
}

/// The terms whose minimum is Theorem 2's step size.
#[must_use]
pub fn theorem2_step(alpha: u32, reading: Reading) -> Vec<Scaling> {
    let order = Rational64::one() / i64::from(alpha.max(2) - 1);
    let first = theorem1_step();
    let second = Scaling {
        kappa: ratio(-4, 1),
        dimension: ratio(-1, 2),
        smoothness: ratio(1, 2),
        accuracy: order,
        higher: ratio(-1, 1),
    };
    match reading {
        Reading::Printed => vec![Scaling { accuracy: ratio(-1, 2), ..first }, second],
        Reading::Meant => vec![first, second],
        Reading::Derived => {
            vec![
                step_from_drift_error(),
                step_from_interpolation_error(alpha),
                step_of_moment_lemma(),
            ]
        }
    }
}

/// The terms in the proof of Theorem 2 whose minimum is the step size, as printed.
pub(crate) fn theorem2_proof_step(alpha: u32) -> Vec<Scaling> {
    let order = Rational64::one() / i64::from(alpha.max(2) - 1);
    let [first, second] = [theorem1_step(), step_from_interpolation_error(alpha)];
    vec![
        Scaling { smoothness: ratio(-1, 4), accuracy: ratio(-1, 2), ..first },
        Scaling { kappa: -order - 3, smoothness: ratio(1, 2), accuracy: -order, ..second },
    ]
}

/// The terms whose maximum is Theorem 2's mixing time, without the logarithm that only the proof
/// has.
#[must_use]
pub fn theorem2_time(alpha: u32, reading: Reading) -> Vec<Scaling> {
    match reading {
        Reading::Printed | Reading::Meant => {
            let order = Rational64::one() / i64::from(alpha.max(2) - 1);
            let second = Scaling {
                kappa: ratio(6, 1),
                dimension: ratio(1, 2),
                smoothness: ratio(-1, 2),
                accuracy: -order,
                higher: ratio(1, 1),
            };
            vec![theorem1_time(), second]
        }
        Reading::Derived => {
            let step = theorem2_step(alpha, reading);
            step.iter().map(|s| Scaling::kappa(ratio(2, 1)).times(&s.power(ratio(-1, 1)))).collect()
        }
    }
}

/// The step size at which the drift error of Proposition 2 is of order ε²: C κ⁸ η⁵ d/L per step,
/// summed over the κ²/η steps that matter and converted from the S-norm by ‖S⁻¹‖ of order κ.
pub(crate) fn step_from_drift_error() -> Scaling {
    // κ^(8 + 2 + 1) η⁴ d/L = ε².
    let error = Scaling {
        dimension: ratio(1, 1),
        smoothness: ratio(-1, 1),
        ..Scaling::kappa(ratio(11, 1))
    };
    accuracy_squared().times(&error.power(ratio(-1, 1))).power(ratio(1, 4))
}

/// The step size at which the interpolation error C κ⁵ η E Δ²/L² of Proposition 2, with E Δ² = (η
/// L_α κ³ √(d/L))^(2(α − 1)), is of order ε².
pub(crate) fn step_from_interpolation_error(alpha: u32) -> Scaling {
    // κ^(5 + 2 + 1)/L² (η L_α κ³ √(d/L))^(2(α − 1)) = ε².
    let before = Scaling { smoothness: ratio(-2, 1), ..Scaling::kappa(ratio(8, 1)) };
    let base = Scaling {
        kappa: ratio(3, 1),
        dimension: ratio(1, 2),
        smoothness: ratio(-1, 2),
        accuracy: ratio(0, 1),
        higher: ratio(1, 1),
    };
    let root = Rational64::one() / (2 * i64::from(alpha.max(2) - 1));
    let allowed = accuracy_squared().times(&before.power(ratio(-1, 1))).power(root);
    allowed.times(&base.power(ratio(-1, 1)))
}

/// The step size at which the interpolation error at the stationary law is of order ε²: with E|p|²
/// = d/L, (η L_α √(d/L))^(2(α − 1))/L² enters squared over the rate of order κ^−2, and ‖S⁻¹‖ is of
/// order κ.
pub(crate) fn step_from_stationary_error(alpha: u32) -> Scaling {
    // κ^(4 + 1)/L² (η L_α √(d/L))^(2(α − 1)) = ε².
    let root = Rational64::one() / (2 * i64::from(alpha.max(2) - 1));
    Scaling { kappa: -root * 5, ..step_from_interpolation_error(alpha) }
}

/// κ^−7, the upper bound on the step size in Lemma 9 on higher moments.
pub(crate) fn step_of_moment_lemma() -> Scaling {
    Scaling::kappa(ratio(-7, 1))
}

fn accuracy_squared() -> Scaling {
    Scaling { accuracy: ratio(2, 1), ..Scaling::one() }
}

fn ratio(numerator: i64, denominator: i64) -> Rational64 {
    Rational64::new(numerator, denominator)
}

/// Theorem 1's step size with the constant c.
///
/// # Errors
/// [`Error::NotInRange`] unless c is positive and finite.
pub fn theorem1_step_size(c: f64, problem: &Problem) -> Result<f64, Error> {
    Ok(positive("c", c)? * theorem1_step().evaluate(problem, 1.0))
}

/// Theorem 1's bound on the mixing time with the constant C.
///
/// # Errors
/// [`Error::NotInRange`] unless C is positive and finite.
pub fn theorem1_mixing_time(c: f64, problem: &Problem) -> Result<f64, Error> {
    Ok(positive("C", c)? * theorem1_time().evaluate(problem, 1.0) * problem.logarithm())
}

/// Theorem 2's step size with the constant c.
///
/// # Errors
/// [`Error::NotInRange`] unless c is positive and finite.
pub fn theorem2_step_size(
    c: f64, problem: &Problem, higher: &HigherSmoothness, reading: Reading,
) -> Result<f64, Error> {
    let terms = theorem2_step(higher.alpha, reading).into_iter();
    let smallest =
        terms.map(|term| term.evaluate(problem, higher.bound)).fold(f64::INFINITY, f64::min);
    Ok(positive("c", c)? * smallest)
}

/// Theorem 2's bound on the mixing time with the constant C; with the logarithm of its proof in
/// [`Reading::Derived`] only.
///
/// # Errors
/// [`Error::NotInRange`] unless C is positive and finite.
pub fn theorem2_mixing_time(
    c: f64, problem: &Problem, higher: &HigherSmoothness, reading: Reading,
) -> Result<f64, Error> {
    let terms = theorem2_time(higher.alpha, reading).into_iter();
    let largest = terms.map(|term| term.evaluate(problem, higher.bound)).fold(0.0, f64::max);
    let logarithm = if reading == Reading::Derived { problem.logarithm() } else { 1.0 };
    Ok(positive("C", c)? * largest * logarithm)
}

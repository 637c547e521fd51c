//! The check of a certificate: independent of the search and in exact arithmetic, so that a wrong
//! certificate cannot pass.
//!
//! For the diffusion everything is rational, and the inequality is decided exactly. For the
//! algorithms the step's matrix is enclosed to about 150 digits ([`super::enclosure`]), and the
//! inequality must hold for every matrix within the bounds.

use num_rational::BigRational;
use num_traits::One;

use super::enclosure::{Enclosed, Enclosure, dot, exponential, positive_definite};
use super::inequality::second_moment;
use super::setting::{Process, Setting};
use crate::exact::positive_definite_fractions;
use crate::matrix::Matrix;

/// Why a claimed certificate is rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// An entry of S, τ, the rate or the factor is infinite or not a number.
    #[error("the certificate contains a number that is not finite")]
    NotFinite,
    /// S is not symmetric.
    #[error("S is not symmetric")]
    NotSymmetric,
    /// S is not positive definite.
    #[error("S is not positive definite")]
    NotPositive,
    /// The rate is not positive, or the factor is not between 0 and 1.
    #[error("the claimed rate or factor is no contraction")]
    NoContraction,
    /// The matrix inequality does not hold, or not for the whole enclosure of the step's matrix.
    #[error("the matrix inequality does not hold")]
    Inequality,
}

/// Checks that two copies of the process approach each other in the norm of S: at rate ρ = `speed`
/// in continuous time, by the factor `speed` in each step otherwise. `tau` is the multiplier of the
/// 4x4 inequality, used for the third-order algorithm only.
pub(crate) fn check(setting: &Setting, s: &Matrix<3>, tau: f64, speed: f64) -> Result<(), Refusal> {
    if !(s.iter().flatten().all(|x| x.is_finite()) && tau.is_finite() && speed.is_finite()) {
        return Err(Refusal::NotFinite);
    }
    if (0..3).any(|i| (0..i).any(|j| s[i][j] != s[j][i])) {
        return Err(Refusal::NotSymmetric);
    }
    let exact = s.map(|row| row.map(fraction));
    if !positive_definite_fractions(&exact) {
        return Err(Refusal::NotPositive);
    }
    let contracts = match setting.process() {
        Process::Diffusion => speed > 0.0,
        Process::ThirdOrder { .. } | Process::Symmetric { .. } => speed > 0.0 && speed < 1.0,
    };
    if !contracts {
        return Err(Refusal::NoContraction);
    }
    let holds = match setting.process() {
        Process::Diffusion => diffusion(setting, &exact, speed),
        Process::ThirdOrder { eta, nodes } => {
            third_order(setting, eta, nodes, s, tau, speed).unwrap_or(false)
        }
        Process::Symmetric { eta } => symmetric(setting, eta, s, speed).unwrap_or(false),
    };
    if holds { Ok(()) } else { Err(Refusal::Inequality) }
}

/// A finite double as a fraction.
fn fraction(value: f64) -> BigRational {
    BigRational::from_float(value).unwrap_or_default()
}

/// −(S M(l) + M(l)ᵀ S) − 2ρ S is positive definite at l = 1/κ and l = 1; it is affine in l.
fn diffusion(setting: &Setting, s: &[[BigRational; 3]; 3], rate: f64) -> bool {
    let [gamma, xi, kappa, rate] =
        [setting.gamma(), setting.xi(), setting.kappa(), rate].map(fraction);
    let zero = BigRational::default();
    [BigRational::one() / kappa, BigRational::one()].into_iter().all(|l| {
        let m = [
            [zero.clone(), BigRational::one(), zero.clone()],
            [-l, zero.clone(), gamma.clone()],
            [zero.clone(), -gamma.clone(), -xi.clone()],
        ];
        let sm = |i: usize, j: usize| (0..3).map(|k| &s[i][k] * &m[k][j]).sum::<BigRational>();
        let two = BigRational::from_integer(2.into());
        let lhs: [[BigRational; 3]; 3] = std::array::from_fn(|i| {
            std::array::from_fn(|j| -sm(i, j) - sm(j, i) - &two * &rate * &s[i][j])
        });
        positive_definite_fractions(&lhs)
    })
}

/// r² diag(S, 0) − [F B]ᵀ S [F B] − τ diag(Q, −1) is positive definite, with F at the middle
/// curvature and Q from half the range of curvatures.
fn third_order(
    setting: &Setting, eta: f64, nodes: Option<usize>, s: &Matrix<3>, tau: f64, factor: f64,
) -> Option<bool> {
    let [kappa, eta, factor] = [setting.kappa(), eta, factor].map(Enclosure::of);
    let [one, two] = [1, 2].map(Enclosure::whole);
    let inverse = one.over(&kappa)?;
    let middle = one.plus(&inverse).over(&two)?;
    let half_range = one.minus(&inverse).over(&two)?;
    let s = s.map(|row| row.map(Enclosure::of));
    let square = congruence(&s, &third_order_step(setting, &eta, &middle)?);
    let r2 = factor.times(&factor);
    if setting.kappa() <= 1.0 {
        // One curvature only: no w, and no row for it.
        let lhs: Enclosed<3> = std::array::from_fn(|i| {
            std::array::from_fn(|j| r2.times(&s[i][j]).minus(&square[i][j]))
        });
        return Some(positive_definite(&lhs));
    }
    let tau = Enclosure::of(tau);
    let scale = tau.times(&half_range).times(&half_range).times(&eta).times(&eta);
    let (numerator, denominator) = second_moment(nodes);
    let second =
        eta.times(&eta).times(&Enclosure::of(numerator)).over(&Enclosure::of(denominator))?;
    let q = [[one, eta.over(&two)?], [eta.over(&two)?, second]];
    let lhs: Enclosed<4> = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            let mut entry = square[i][j].negated();
            if i < 3 && j < 3 {
                entry = entry.plus(&r2.times(&s[i][j]));
            }
            if i < 2 && j < 2 {
                entry = entry.minus(&scale.times(&q[i][j]));
            }
            if i == 3 && j == 3 { entry.plus(&tau) } else { entry }
        })
    });
    Some(positive_definite(&lhs))
}

/// [F B] of one step of Algorithm 1 at a given curvature, straight from the definitions.
fn third_order_step(
    setting: &Setting, eta: &Enclosure, curvature: &Enclosure,
) -> Option<[[Enclosure; 4]; 3]> {
    let [gamma, xi] = [setting.gamma(), setting.xi()].map(Enclosure::of);
    let [one, two] = [1, 2].map(Enclosure::whole);
    // The seven μ from the functions φ of z = ξη.
    let z = xi.times(eta);
    let [[e]] = exponential(&[[z.negated()]])?;
    let f1 = one.minus(&e).over(&z)?;
    let f2 = one.minus(&f1).over(&z)?;
    let f3 = one.over(&two)?.minus(&f2).over(&z)?;
    let g = gamma.times(eta);
    let g2 = g.times(&g);
    let mu12 = eta.times(&one.minus(&g2.times(&f3)));
    let mu22 = one.minus(&g2.times(&f2));
    let mu23 = g.times(&f1);
    let mu31 = g.times(&f2);
    let mu13 = mu31.times(eta);
    let mu32 = g.times(&g2.times(&f2.minus(&two.times(&f3))).minus(&f1));
    let mu33 = e.minus(&g2.times(&f1.minus(&f2)));

    // ΔU = h (η θ + (η²/2) p) enters θ, p and r with −η/2, −1 and μ31.
    let b = [eta.over(&two)?.negated(), one.negated(), mu31];
    let through = [curvature.times(eta), curvature.times(eta).times(eta).over(&two)?];
    let free =
        [[one, mu12, mu13], [Enclosure::whole(0), mu22, mu23], [Enclosure::whole(0), mu32, mu33]];
    Some(std::array::from_fn(|i| {
        std::array::from_fn(|j| match j {
            0 | 1 => free[i][j].plus(&b[i].times(&through[j])),
            2 => free[i][2].clone(),
            _ => b[i].clone(),
        })
    }))
}

/// r² S − F(l)ᵀ S F(l) is positive definite at l = 1/κ and l = 1; F is affine in l, so the
/// difference is concave in l.
fn symmetric(setting: &Setting, eta: f64, s: &Matrix<3>, factor: f64) -> Option<bool> {
    let [gamma, xi, eta, kappa, factor] =
        [setting.gamma(), setting.xi(), eta, setting.kappa(), factor].map(Enclosure::of);
    let [zero, one, two] = [0, 1, 2].map(Enclosure::whole);
    let (z, g) = (xi.times(&eta), gamma.times(&eta));
    let [[a, b], [c, d]] = exponential(&[[zero.clone(), g.clone()], [g.negated(), z.negated()]])?;
    let half = eta.over(&two)?;
    let first = [one.clone(), half.times(&one.plus(&a)), half.times(&b)];
    let s = s.map(|row| row.map(Enclosure::of));
    let r2 = factor.times(&factor);
    for l in [one.over(&kappa)?, one.clone()] {
        let kick = eta.times(&l);
        let second: [Enclosure; 3] =
            std::array::from_fn(|j| [&zero, &a, &b][j].minus(&kick.times(&first[j])));
        let step = [first.clone(), second, [zero.clone(), c.clone(), d.clone()]];
        let square = congruence(&s, &step);
        let lhs: Enclosed<3> = std::array::from_fn(|i| {
            std::array::from_fn(|j| r2.times(&s[i][j]).minus(&square[i][j]))
        });
        if !positive_definite(&lhs) {
            return Some(false);
        }
    }
    Some(true)
}

/// aᵀ s a.
fn congruence<const C: usize>(s: &Enclosed<3>, a: &[[Enclosure; C]; 3]) -> Enclosed<C> {
    let sa: [[Enclosure; C]; 3] =
        std::array::from_fn(|i| std::array::from_fn(|j| dot((0..3).map(|k| (&s[i][k], &a[k][j])))));
    std::array::from_fn(|i| std::array::from_fn(|j| dot((0..3).map(|k| (&a[k][i], &sa[k][j])))))
}

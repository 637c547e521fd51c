//! Lemma 7: how far a curve is from its chord, decided exactly.
//!
//! On [0, 1], the chord minus the curve at λ is ∫ G(λ, τ) x''(τ) dτ with Green's function
//! G = (1 − λ) τ for τ <= λ and λ (1 − τ) beyond. G is nonnegative, so in any norm the distance is
//! at most sup |x''| times ∫ G dτ = λ (1 − λ)/2, with equality for x = t². A length ℓ adds ℓ².

use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::Statements;
use crate::paper::claims::{Claim, Verdict};
use crate::paper::polynomial::{Polynomial, Unknown, rational};
use crate::paper::sturm::{Need, for_all_kappa};

/// λ is the variable of [`Polynomial`] that runs over (0, 1], there called x = 1/κ.
fn lambda() -> Polynomial {
    Polynomial::x(1)
}

/// ∫ f dτ from `from` to `to`, where τ is the unknown [`Unknown::Lambda`].
fn integral(f: &Polynomial, from: &Polynomial, to: &Polynomial) -> Polynomial {
    const MOST: u32 = 16;
    (0..MOST).fold(Polynomial::default(), |sum, power| {
        let width = &to.power(power + 1) - &from.power(power + 1);
        let term = &f.coefficient(Unknown::Lambda, power) * &width;
        &sum + &term.scaled(&rational(1, i64::from(power) + 1))
    })
}

/// ∫ G(λ, τ) f(τ) dτ.
fn against_kernel(f: &Polynomial) -> Polynomial {
    let (tau, one) = (Polynomial::unknown(Unknown::Lambda), Polynomial::integer(1));
    let near = &(&(&one - &lambda()) * &tau) * f;
    let far = &(&lambda() * &(&one - &tau)) * f;
    &integral(&near, &Polynomial::default(), &lambda()) + &integral(&far, &lambda(), &one)
}

/// Whether the kernel gives the chord minus the curve, for the curves τ^n up to degree 12.
fn kernel_is_right() -> bool {
    (0..=12_u32).all(|n| {
        let curve = Polynomial::unknown(Unknown::Lambda).power(n);
        let second = curve.derivative(Unknown::Lambda).derivative(Unknown::Lambda);
        let chord = if n == 0 { Polynomial::integer(1) } else { lambda() };
        against_kernel(&second) == &chord - &lambda().power(n)
    })
}

/// The least c with |chord − curve| <= c ℓ² sup |x''|, attained by t² in the middle.
fn attained() -> Option<BigRational> {
    against_kernel(&Polynomial::integer(1)).at(&rational(1, 2))
}

/// The two rows of Lemma 7: with its constant, and without the supremum that is missing in print.
pub(super) fn claims(statements: &Statements) -> Vec<Claim> {
    vec![constant(&statements.chord), without_supremum()]
}

fn constant(printed: &BigRational) -> Claim {
    let distance = against_kernel(&Polynomial::integer(1));
    let room = &Polynomial::constant(printed.clone()) - &distance;
    let holds = kernel_is_right() && for_all_kappa(Need::NonNegative, &[room]);
    let margin = attained().and_then(|least| (printed - least).to_f64());
    let claim = Claim::new(
        format!(
            "the straight-line error of a curve is at most C l^2 sup |x''|, with C = {printed}"
        ),
        "Lemma 7",
        Verdict::of(holds, false),
        "exact: the error at lambda l is an integral of x'' against a kernel whose integral is \
         lambda (1 - lambda)/2, at most 1/8, in every \
         norm; t^2 attains it. Margin: how much smaller the constant could be",
    );
    Claim { margin, ..claim }
}

/// t³ on [0, 1]: x'' = 6t vanishes at t = 0, where the chord is not the curve in the middle.
fn without_supremum() -> Claim {
    let middle = rational(1, 2);
    let error = &middle - &middle * &middle * &middle;
    let second = |t: BigRational| t * rational(6, 1);
    let at_every_time = error <= second(rational(0, 1));
    let at_the_largest = error <= second(rational(1, 1));
    Claim::new(
        "sup over t of the straight-line error is at most l^2 |x''_t|",
        "Lemma 7",
        Verdict::of(at_every_time, at_the_largest),
        "l^2 sup |x''_t|, as in its proof: for t^3 on [0, 1] the second derivative vanishes at 0, \
         and the error is 3/8 in the middle",
    )
}

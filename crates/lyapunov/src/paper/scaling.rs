//! Checks of Theorems 1 and 2 that do not need their constants: powers of κ, d, L and ε, and units.
//!
//! U has no unit, so every statement must stay true under a change of the unit of length: θ, p, r
//! and ε are lengths, L is 1/length², and time has no unit since θ and p are both lengths.
//! Universal constants have no unit.

use num_rational::Rational64;
use num_traits::{Signed, ToPrimitive, Zero};

use super::claims::{Claim, Verdict};
use super::polynomial::Polynomial;
use super::sturm::{Need, for_all_kappa, largest_slack};
use super::theorems::{
    HigherSmoothness, Problem, Reading, Scaling, step_from_drift_error,
    step_from_interpolation_error, step_from_stationary_error, step_of_moment_lemma, theorem1_step,
    theorem1_time, theorem2_mixing_time, theorem2_proof_step, theorem2_step, theorem2_step_size,
    theorem2_time,
};

/// The orders of smoothness for which Theorem 2 is checked.
fn every_alpha() -> impl Iterator<Item = u32> {
    2..=12
}

/// The claims about step sizes, mixing times and units.
pub(crate) fn scaling_claims() -> Vec<Claim> {
    vec![
        black_box_units(),
        path_of_the_gradient(),
        initial_point(),
        announced_dimension(),
        theorem1_product(&theorem1_step(), &theorem1_time()),
        theorem1_derivation(&theorem1_step()),
        theorem1_proof(),
        absorption(),
        theorem2_first_term(),
        theorem2_units(),
        theorem2_kappa(),
        theorem2_moments(),
        theorem2_time_claim(),
        theorem2_logarithm(),
        theorem2_proof(),
        wasserstein_units(),
        error_terms(),
        initial_distance(),
    ]
}

fn ratio(numerator: i64, denominator: i64) -> Rational64 {
    Rational64::new(numerator, denominator)
}

/// L to a power.
fn smoothness(power: Rational64) -> Scaling {
    Scaling { smoothness: power, ..Scaling::one() }
}

/// The unit of a gradient of U, 1/length, as the power of a length.
fn gradient_unit() -> Rational64 {
    ratio(-1, 1)
}

fn margin(power: Rational64) -> f64 {
    power.to_f64().unwrap_or(f64::NAN)
}

/// Whether step size times mixing time is exactly κ².
fn is_kappa_squared(step: &Scaling, time: &Scaling) -> bool {
    step.times(time) == Scaling::kappa(ratio(2, 1))
}

/// ΔU is added to p, a length: ∫ ∇U dt has the unit 1/length, and a factor 1/L makes it a length.
fn black_box_units() -> Claim {
    let unit = |power: i64| gradient_unit() + smoothness(ratio(power, 1)).length(2);
    let is_length = |power: i64| unit(power) == ratio(1, 1);
    Claim::new(
        "black box: Delta U = integral of Phi",
        "Section 3.3",
        Verdict::of(is_length(0), is_length(-1)),
        "Delta U is added to p, so it must be a length: (1/L) times the integral, as in the ridge-separable case",
    )
}

/// The path of Section 3.4 must end where its first stage does, at θ + η p, for every η; as printed
/// it ends at θ + p.
fn path_of_the_gradient() -> Claim {
    let etas = [ratio(1, 10), ratio(1, 2), ratio(2, 1)];
    let ends_right = |weight: fn(Rational64, Rational64) -> Rational64| {
        etas.iter().all(|&eta| weight(eta, eta) == eta)
    };
    Claim::new(
        "the gradient is approximated at theta + ((s - k eta)/eta) p",
        "Section 3.4",
        Verdict::of(ends_right(|elapsed, eta| elapsed / eta), ends_right(|elapsed, _| elapsed)),
        "the first stage moves theta to theta + (s - k eta) p, without the division by eta",
    )
}

fn initial_point() -> Claim {
    let is_length = |power: Rational64| smoothness(power).length(2) == ratio(1, 1);
    Claim::new(
        "the start is within 1/L of the mode",
        "Section 3.1",
        Verdict::of(is_length(ratio(-1, 1)), is_length(ratio(-1, 2))),
        "1/L is a length squared; 1/sqrt(L) is a length (also in the proof of Lemma 9)",
    )
}

fn announced_dimension() -> Claim {
    let proved = theorem1_time().dimension;
    let announced = ratio(1, 3);
    Claim::new(
        "an O(d^(1/3)) mixing time is achieved",
        "Section 3.2",
        Verdict::of(
            announced == proved,
            proved == theorem1_step().power(ratio(-1, 1)).dimension && proved < announced,
        ),
        format!(
            "Theorem 1 proves d^({proved}), as the introduction says. Margin: the difference of the exponents"
        ),
    )
    .with_margin(margin(proved - announced))
}

/// Chains with steps of size η forget their start after κ²/η steps, up to a logarithm, so the two
/// printed powers must be consistent.
fn theorem1_product(step: &Scaling, time: &Scaling) -> Claim {
    let no_unit = [step, time].iter().all(|s| s.length(2).is_zero());
    Claim::new(
        "step size times mixing time is kappa^2 log(d kappa/eps), both without units",
        "Theorem 1",
        Verdict::of(is_kappa_squared(step, time) && no_unit, false),
        "powers of kappa, d, L and eps; for the argument of the logarithm see the row on logarithms",
    )
}

fn theorem1_derivation(step: &Scaling) -> Claim {
    Claim::new(
        "the step size makes kappa^8 eta^5 d/L of Proposition 2 small enough",
        "Theorem 1",
        Verdict::of(*step == step_from_drift_error(), false),
        "kappa^(8 + 2 + 1) eta^4 d/L = eps^2, by the rate of order kappa^-2 and the smallest \
         eigenvalue of S of order 1/kappa",
    )
}

fn theorem1_proof() -> Claim {
    let printed = Scaling { smoothness: ratio(0, 1), ..theorem1_step() };
    Claim::new(
        "eta < c kappa^(-11/4) d^(-1/4) eps^(1/2)",
        "Section 4.2.2",
        Verdict::of(printed.length(2).is_zero(), theorem1_step().length(2).is_zero()),
        "L^(1/4) is missing; the theorem has it",
    )
}

/// Both proofs absorb an error proportional to the distance itself: C κ² ‖S‖ ‖S⁻¹‖ κ⁴ η⁴ against
/// κ^−2 in Appendix A.4, and C κ⁶ η⁵ ‖S⁻¹‖ against η κ^−2 in Section 4.2.2.
fn absorption() -> Claim {
    let eta = ratio(-11, 4);
    let appendix = ratio(2 + 2 + 1 + 4, 1) + eta * 4 + 2;
    let theorem = ratio(6 + 1, 1) + eta * 4 + 2;
    Claim::new(
        "eta < c kappa^(-11/4) absorbs the errors proportional to the distance",
        "Sections 4.2.2 and A.4",
        Verdict::of(!appendix.is_positive() && !theorem.is_positive(), false),
        "powers of kappa. Margin: how many powers of kappa are left over, in A.4",
    )
    .with_margin(margin(-appendix))
}

/// For every α: the first term of the step size times that of the mixing time is κ², without a
/// unit.
fn first_term_fits(reading: Reading) -> bool {
    every_alpha().all(|alpha| {
        let step = theorem2_step(alpha, reading);
        step.first()
            .is_some_and(|s| is_kappa_squared(s, &theorem1_time()) && s.length(alpha).is_zero())
    })
}

fn theorem2_first_term() -> Claim {
    Claim::new(
        "step size: kappa^(-11/4) d^(-1/4) L^(1/4) eps^(-1/2)",
        "Theorem 2",
        Verdict::of(first_term_fits(Reading::Printed), first_term_fits(Reading::Meant)),
        "eps^(+1/2): as printed the steps grow as the accuracy is tightened, and step size times mixing time is \
         kappa^2/eps instead of kappa^2",
    )
}

/// A claim of Theorem 2 that is decided as [`Reading::Meant`], and corrected as
/// [`Reading::Derived`].
fn theorem2_claim(what: &str, holds: impl Fn(Reading) -> bool, detail: &str) -> Claim {
    let verdict = Verdict::of(holds(Reading::Meant), holds(Reading::Derived));
    Claim::new(what, "Theorem 2", verdict, detail)
}

fn theorem2_units() -> Claim {
    let no_unit = |reading: Reading| {
        every_alpha().all(|alpha| theorem2_step(alpha, reading)[1].length(alpha).is_zero())
    };
    theorem2_claim(
        "step size: L_alpha^(-1) L^(1/2) kappa^(-4) d^(-1/2) eps^(1/(alpha - 1))",
        no_unit,
        "has the unit length^(2/(alpha - 1)): the 1/L^2 of Proposition 2 was lost in the proof. \
         With L^(1/2 + 1/(alpha - 1)) it \
         has none; L^(-1/(alpha - 1)) is missing in the mixing time likewise",
    )
}

/// The printed κ^−4 against the power that follows from Proposition 2 and Lemma 9, and against the
/// one that follows if the error of the nodes is taken at the stationary law.
fn theorem2_kappa() -> Claim {
    let printed = |alpha: u32| theorem2_step(alpha, Reading::Meant)[1].kappa;
    let room = |alpha: u32| step_from_interpolation_error(alpha).kappa - printed(alpha);
    let repaired = |alpha: u32| step_from_stationary_error(alpha).kappa - printed(alpha);
    let enough: Vec<u32> = every_alpha().filter(|&alpha| !room(alpha).is_negative()).collect();
    let everywhere = enough.len() == every_alpha().count();
    let first = enough.first().copied().unwrap_or(0);
    Claim::new(
        "kappa^(-4) in the second step size follows from kappa^5 eta E Delta^2/L^2 of Proposition 2 and Lemma 9",
        "Section 4.2.3",
        Verdict::of(everywhere, every_alpha().all(|alpha| !repaired(alpha).is_negative())),
        format!(
            "a gap in the proof, which loses the kappa^5 of Proposition 2: kappa^(-3 - 4/(alpha - \
             1)) follows, and the printed power is small enough from \
             alpha = {first} on only. The theorem stands with kappa^(-4) for every alpha >= 2: \
             take the error of the nodes at the stationary law, where \
             E|p|^(2(alpha - 1)) has no kappa; then kappa^(-5/(2(alpha - 1))) is enough (the row \
             of Theorem 2). Margin: powers of kappa left over at alpha = 3"
        ),
    )
    .with_margin(margin(room(3)))
}

/// Lemma 9, which the proof of Theorem 2 uses, requires η < c κ^−7; a term of the printed minimum
/// must imply it, or the proof must do without the lemma.
fn theorem2_moments() -> Claim {
    let need = step_of_moment_lemma();
    // A minimum is below κ^−7 for every d, L and ε only if one of its terms is κ^−7 or less, and
    // nothing else.
    let keeps = |reading: Reading| {
        theorem2_step(3, reading)
            .iter()
            .any(|s| Scaling { kappa: need.kappa, ..*s } == need && s.kappa <= need.kappa)
    };
    Claim::new(
        "the step size satisfies eta < c kappa^(-7), which Lemma 9 asks for",
        "Section 4.2.3",
        Verdict::of(keeps(Reading::Meant), keeps(Reading::Derived)),
        "a gap in the proof: it needs c kappa^(-7) in the minimum too, or Lemma 9 for longer \
         steps, for which it holds (its row). The theorem stands with \
         two terms, by a proof without Lemma 9 (the row of Theorem 2)",
    )
}

/// Each term of the mixing time against the same term of the step size, whose first has ε^(+1/2).
fn theorem2_time_claim() -> Claim {
    let fits = |reading: Reading| {
        every_alpha().all(|alpha| {
            let times = theorem2_time(alpha, reading);
            theorem2_step(alpha, reading).iter().zip(&times).all(|(s, t)| is_kappa_squared(s, t))
        })
    };
    Claim::new(
        "mixing time: kappa^2 over the step size, once that has eps^(+1/2)",
        "Theorem 2",
        Verdict::of(fits(Reading::Meant) && !fits(Reading::Printed), false),
        "powers of kappa, d, L, L_alpha and eps, for alpha from 2 to 12; with the printed step size it does not fit",
    )
}

/// The number of steps in the proof is κ²/η times a logarithm; Theorem 1 has the logarithm, Theorem
/// 2 does not.
fn theorem2_logarithm() -> Claim {
    // Step size times mixing time over κ², for two accuracies; their ratio must be that of the
    // logarithms.
    let over_kappa_squared = |reading: Reading, accuracy: f64| {
        let problem = Problem::new(3.0, 50, 2.0, accuracy).ok()?;
        let higher = HigherSmoothness::new(4, 0.7).ok()?;
        let step = theorem2_step_size(1.0, &problem, &higher, reading).ok()?;
        let time = theorem2_mixing_time(1.0, &problem, &higher, reading).ok()?;
        Some((step * time / 9.0, problem.logarithm()))
    };
    let grows = |reading: Reading| {
        let ends = over_kappa_squared(reading, 1e-2).zip(over_kappa_squared(reading, 1e-6));
        ends.is_some_and(|((low, log_low), (high, log_high))| {
            (high / low / (log_high / log_low) - 1.0).abs() < 1e-12
        })
    };
    theorem2_claim(
        "the mixing time has the logarithm of its proof",
        grows,
        "a factor log(d kappa/eps) is missing; the proof has one, and so has Theorem 1. For its \
         argument see the row on logarithms",
    )
}

fn theorem2_proof() -> Claim {
    let agrees = |steps: &[Scaling], alpha: u32| {
        let meant = theorem2_step(alpha, Reading::Meant);
        steps.len() == meant.len()
            && steps
                .iter()
                .zip(&meant)
                .all(|(a, b)| a.accuracy == b.accuracy && a.smoothness == b.smoothness)
    };
    let printed = every_alpha().all(|alpha| agrees(&theorem2_proof_step(alpha), alpha));
    let corrected = every_alpha().all(|alpha| {
        let mut steps = theorem2_proof_step(alpha);
        for step in &mut steps {
            step.accuracy = -step.accuracy;
            step.smoothness = step.smoothness.abs();
        }
        agrees(&steps, alpha)
    });
    Claim::new(
        "eta < c min(... L^(-1/4) eps^(-1/2), ... eps^(-1/(alpha - 1)))",
        "Section 4.2.3",
        Verdict::of(printed, corrected),
        "L^(1/4), eps^(+1/2) and eps^(+1/(alpha - 1)), as in the theorem",
    )
}

/// Two point masses at a distance a: W2 = a, and E|x|² = a².
fn wasserstein_units() -> Claim {
    let distances = [ratio(1, 2), ratio(2, 1)];
    let holds = |power: i32| distances.iter().all(|a| a.pow(power) <= a.pow(2));
    Claim::new(
        "W2 <= E |x~ - x|^2",
        "Section 4.2.1",
        Verdict::of(holds(1), holds(2)),
        "W2^2, as two points at a distance below 1 show; the proofs use it so",
    )
}

/// Three terms that must sum to at most ε².
fn error_terms() -> Claim {
    let accuracies = [ratio(1, 100), ratio(1, 2)];
    let enough = |power: i32| accuracies.iter().all(|eps| eps.pow(power) / 3 * 3 <= eps.pow(2));
    Claim::new(
        "E |x~ - x|^2 <= eps^2 if each of its three terms is at most eps/3",
        "Section 4.2.3",
        Verdict::of(enough(1), enough(2)),
        "eps^2/3",
    )
}

/// For U = m|θ|²/2 the stationary E|x|² is d/m + 2d/L = (κ + 2) d/L.
fn initial_distance() -> Claim {
    let moment = Polynomial::table(&[(-1, 1, 1), (0, 2, 1)]);
    // From a start within √(1/L) of the mode: at most 2 d/m + 2/L + 2 d/L, with 1 <= d.
    let from_start = Polynomial::table(&[(-1, 2, 1), (0, 4, 1)]);
    let printed = Polynomial::integer(8);
    let corrected = Polynomial::table(&[(-1, 8, 1)]);
    let is_bound =
        |bound: &Polynomial, of: &Polynomial| for_all_kappa(Need::NonNegative, &[bound - of]);
    let slack = largest_slack(Need::NonNegative, [-8, 8], |t| {
        vec![&(&printed - &moment) - &Polynomial::kappa(1).scaled(t)]
    });
    Claim::new(
        "the distance at the start is E |x - x~|^2 <= 8 d/L",
        "Section 4.2.2",
        Verdict::of(
            is_bound(&printed, &moment),
            is_bound(&corrected, &moment) && is_bound(&corrected, &from_start),
        ),
        "8 d/m: for U = m|theta|^2/2 it is (kappa + 2) d/L, above 8 d/L once kappa > 6. Only a \
         logarithm of it is used. \
         Margin: room per kappa, in units of d/L",
    )
    .with_slack(slack.as_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_power_in_theorem_1_is_caught_in_every_variable() {
        assert_eq!(theorem1_product(&theorem1_step(), &theorem1_time()).verdict, Verdict::Holds);
        assert_eq!(theorem1_derivation(&theorem1_step()).verdict, Verdict::Holds);
        for (kappa, dimension, smoothness, accuracy) in
            [(1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)]
        {
            let off = Scaling {
                kappa: ratio(kappa, 4),
                dimension: ratio(dimension, 4),
                smoothness: ratio(smoothness, 4),
                accuracy: ratio(accuracy, 4),
                higher: ratio(0, 1),
            };
            let step = theorem1_step().times(&off);
            assert_eq!(theorem1_product(&step, &theorem1_time()).verdict, Verdict::Fails);
            assert_eq!(theorem1_derivation(&step).verdict, Verdict::Fails);
        }
    }

    #[test]
    fn the_derived_terms_of_theorem_2_have_no_units() {
        for alpha in every_alpha() {
            for scaling in theorem2_step(alpha, Reading::Derived)
                .iter()
                .chain(&theorem2_time(alpha, Reading::Derived))
            {
                assert_eq!(scaling.length(alpha), ratio(0, 1), "alpha = {alpha}: {scaling:?}");
            }
        }
    }
}

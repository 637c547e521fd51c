//! Theorems 1 and 2 with explicit constants, from the same contraction and one-step error as
//! Proposition 2.
//!
//! With a² = E|x̃ − x|_S² on one path, a ← r a + e in each step, where r² = 1 − η/(5κ² + 50) and e
//! is a bound on the error of one step. W2 <= 2√κ a, because the eigenvalues of S are at least
//! 1/(4κ). If 2√κ e/(1 − r) <= ε/2, then log(4√κ a₀/ε)/log(1/r) steps are enough. At the start a₀²
//! = S11 E|θ₀ − θ|² + (S22 + S33) d/L, as p and r have mean 0.
//!
//! With exact line integrals e = e_S, and in units of √(d/L) only κ and ε √(L/d) remain. With the n
//! = α − 1 nodes of Theorem 2, write Φ_n for the step: x̃' − x' = (Φ_n(x̃) − Φ_n(x)) + (Φ_n(x) − x').
//! The step with nodes contracts, so the error of the rule counts at the stationary x, and Lemma 9
//! is not needed: e has |b|_S η Δ/L in addition, where b is the column of ΔU and
//! Δ² <= ((η L_α)^n/(2^(n−1) n!))² E|p|^2n by Lemma 6, with E|p|^2n = d (d + 2) ... (d + 2n − 2)/L^n.
//! The step size η is the smaller of η₁, which does not have L_α, and η₂. The part of e_S/(1 − r)
//! falls with η, so it is computed at η₁. 1 − r >= η/(10κ² + 100) leaves Δ without η, and Δ is at
//! most its value at η₂, in which the powers of d, L and L_α cancel, since d + 2j <= (1 + 2j) d. So
//! it is enough to compute both with d = L = L_α = 1. There Δ is ε times a factor that falls with n,
//! as c < 1.

use super::step::Step;
use super::{BlackBox, KAPPAS, Mixing, PARTS, power_left, shown};
use crate::error::{Error, in_range};
use crate::paper::claims::{Claim, Verdict};
use crate::paper::theorems::{Problem, step_from_stationary_error, theorem2_step};
use crate::planner::errors_of_one_step;

/// The accuracies, in units of √(d/L).
const ACCURACIES: [f64; 4] = [0.5, 1e-1, 1e-2, 1e-4];

/// 1/(5κ² + 50), the rate at which squares contract.
fn rate(kappa: f64) -> f64 {
    1.0 / (5.0 * kappa * kappa + 50.0)
}

/// The factor 2√κ from the S-norm to lengths.
fn to_length(step: &Step) -> f64 {
    step.smallest_of_s().recip().sqrt()
}

/// log(4√κ a₀/ε), with which the distance at the start falls below ε/2.
fn forgetting(step: &Step, accuracy: f64) -> f64 {
    let away = step.kappa.sqrt() + 1.0;
    let start = step.s[0][0] * away * away + step.s[1][1] + step.s[2][2];
    (2.0 * to_length(step) * start.sqrt() / accuracy).ln()
}

/// log(dκ/(Lε²)).
fn logarithm(kappa: f64, accuracy: f64) -> f64 {
    (kappa / (accuracy * accuracy)).ln()
}

fn checked(accuracy: f64) -> Result<f64, Error> {
    in_range("accuracy", accuracy, accuracy > 0.0 && accuracy <= 0.5, "above 0 and at most 1/2")
}

/// A C with which Theorem 1 holds for every potential with this κ and exact line integrals, at the
/// accuracy ε in units of √(d/L), with log(dκ/(Lε²)); `None` if the step size is not shown to reach
/// the accuracy.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn mixing_bound(statement: &Mixing, kappa: f64, accuracy: f64) -> Result<Option<f64>, Error> {
    let problem = Problem::new(kappa, 1, 1.0, checked(accuracy)?)?;
    let step = Step::new(kappa, statement.c * statement.step.evaluate(&problem, 1.0))?;
    // log(1/r) and 1 − r.
    let slowness = -0.5 * (-rate(kappa) * step.eta).ln_1p();
    let gap = -(-slowness).exp_m1();
    let error = step.square_of(&errors_of_one_step(kappa, step.eta)).sqrt();
    if !(step.contracts(rate(kappa)) && to_length(&step) * error / gap <= 0.5 * accuracy) {
        return Ok(None);
    }
    let steps = (forgetting(&step, accuracy) / slowness).ceil();
    let scale = statement.time.evaluate(&problem, 1.0) * logarithm(kappa, accuracy);
    Ok(Some(steps / scale))
}

/// A C with which Theorem 2 holds for every potential with this κ and smoothness of order α, with
/// α − 1 Chebyshev nodes, like [`mixing_bound`]; the mixing time is C κ² log(dκ/(Lε²)) over the step size
/// without its c.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn black_box_bound(
    statement: &BlackBox, alpha: u32, kappa: f64, accuracy: f64,
) -> Result<Option<f64>, Error> {
    in_range("alpha", f64::from(alpha), (2..=12).contains(&alpha), "from 2 to 12")?;
    let problem = Problem::new(kappa, 1, 1.0, checked(accuracy)?)?;
    let mut terms = theorem2_step(alpha, statement.reading);
    if let (true, Some(second)) = (statement.least_power, terms.get_mut(1)) {
        second.kappa = step_from_stationary_error(alpha).kappa;
    }
    let [first, second] =
        [0, 1].map(|i| terms.get(i).map_or(f64::NAN, |term| term.evaluate(&problem, 1.0)));
    let longest = Step::new(kappa, statement.c * first)?;
    let rate = rate(kappa);
    // |b|_S² of the steps up to the longest; S22 in the limit of short ones.
    let mut kick = longest.s[1][1];
    for part in PARTS {
        let step = Step::new(kappa, part * longest.eta)?;
        if !step.contracts(rate) {
            return Ok(None);
        }
        kick = kick.max(step.square(&step.kick()));
    }
    let delta: f64 = (1..alpha)
        .map(f64::from)
        .fold(2.0, |delta, j| delta * statement.c * second * (2.0 * j - 1.0).sqrt() / (2.0 * j));
    let of_gradient = kick.sqrt() * delta;
    let error = longest.square_of(&errors_of_one_step(kappa, longest.eta)).sqrt();
    let floor = to_length(&longest) * (error / longest.eta + of_gradient) * 2.0 / rate;
    if !(floor <= 0.5 * accuracy) {
        return Ok(None);
    }
    // log(1/r) >= rate η/2, so steps times η is at most this.
    let time = 2.0 * forgetting(&longest, accuracy) / rate + longest.eta;
    Ok(Some(time / (statement.c * kappa * kappa * logarithm(kappa, accuracy))))
}

/// The largest bound over the accuracies at each κ; infinite where there is none.
fn over_accuracies(
    bound: impl Fn(f64, f64) -> Result<Option<f64>, Error>,
) -> Result<Vec<(f64, f64)>, Error> {
    let mut bounds = Vec::new();
    for kappa in KAPPAS {
        let mut worst = 0.0_f64;
        for accuracy in ACCURACIES {
            worst = worst.max(bound(kappa, accuracy)?.unwrap_or(f64::INFINITY));
        }
        bounds.push((kappa, worst));
    }
    Ok(bounds)
}

fn largest(bounds: &[(f64, f64)]) -> f64 {
    bounds.iter().map(|(_, c)| *c).fold(0.0, f64::max)
}

/// Theorem 1.
pub(super) fn exact(statement: &Mixing) -> Result<Claim, Error> {
    let bounds = over_accuracies(|kappa, accuracy| mixing_bound(statement, kappa, accuracy))?;
    let worst = largest(&bounds);
    let Mixing { step, time, c, constant } = *statement;
    Ok(Claim::new(
        format!(
            "steps of c kappa^({}) (d/L)^({}) eps^({}) mix in C kappa^({}) (d/L)^({}) eps^({}) \
             log(d kappa/(L eps^2)), for eps <= sqrt(d/L)/2",
            step.kappa, step.dimension, step.accuracy, time.kappa, time.dimension, time.accuracy
        ),
        "Theorem 1",
        Verdict::of(worst <= constant, false),
        format!(
            "log(d kappa/(L eps^2)) and eps <= sqrt(d/L)/2 are corrections: log(d kappa/eps) and \
             eps < 1 are printed (the row on logarithms). With c = {c} \
             and C = {constant}, which the paper leaves open, for every potential with exact line \
             integrals. {}. {} and {} values of eps sqrt(L/d) from 1/2 to 1e-4. \
             Margin: powers of kappa left over in C",
            shown(worst, constant),
            super::checked(),
            ACCURACIES.len()
        ),
    )
    .with_margin(power_left(&bounds)))
}

/// Theorem 2, with the corrections of its other rows.
pub(super) fn black_box(statement: &BlackBox) -> Result<Claim, Error> {
    let mut bounds: Vec<(f64, f64)> = Vec::new();
    for alpha in 2..=12 {
        let of_alpha =
            over_accuracies(|k, accuracy| black_box_bound(statement, alpha, k, accuracy))?;
        bounds = if bounds.is_empty() {
            of_alpha
        } else {
            bounds.iter().zip(of_alpha).map(|(a, b)| (a.0, a.1.max(b.1))).collect()
        };
    }
    let worst = largest(&bounds);
    let BlackBox { c, constant, .. } = *statement;
    Ok(Claim::new(
        "corrected for eps, L and the logarithm, steps of c min(kappa^(-11/4) .., kappa^(-4) ..) \
         mix in C kappa^2 log over the minimum",
        "Theorem 2",
        Verdict::of(worst <= constant, false),
        format!(
            "corrected: eps^(1/2), L^(1/2 + 1/(alpha - 1)) and log(d kappa/(L eps^2)) for eps <= \
             sqrt(d/L)/2, as in other rows. With c = {c} and C = {constant}, \
             which the paper leaves open, for every potential with smoothness of order alpha from \
             2 to 12 and alpha - 1 nodes; a larger alpha makes the error smaller. {}. kappa^(-4) \
             is small \
             enough: the error of the nodes counts at the stationary law, so Lemma 9 is not \
             needed, nor its kappa^(-7). {} and {} values of eps sqrt(L/d) from 1/2 to 1e-4. \
             Margin: powers of kappa left over in C",
            shown(worst, constant),
            super::checked(),
            ACCURACIES.len()
        ),
    )
    .with_margin(power_left(&bounds)))
}

//! Proposition 2: one step of the coupled processes, for η < min(1/γ, 1/ξ, c κ^(−11/4)).
//!
//! For any potential and any ĝ. Write x̃' − x' = (Φ(x̃) − Φ(x)) + (Φ(x) − x') + (what ĝ changes),
//! where Φ is the step with the exact line integral. In the S-norm, the first term is at most
//! √(1 − ρ'η) times the distance before if the step contracts, here with ρ' = 1/(5κ² + 50). The
//! second is at most e_S in root mean square because x is stationary (`docs/theory.md`, section 5).
//! The third is at most η Δ |b|_S/L, where b is the column of ΔU. By (a + b)² <= (1 + s) a² +
//! (1 + 1/s) b², with the s that turns ρ' into the printed rate, and 2(1 + 1/s) for the sum of the
//! last two, the proposition follows without its last term.
//!
//! On a quadratic potential of curvature l, with exact line integrals, x̃' − x' = F δ + D x + noise
//! for δ = x̃ − x. The largest difference of the two sides over all joint laws of x and δ, with x
//! stationary, is a quadratic form that is maximised in δ.
//!
//! The term of Δ has a least constant of its own. Let ĝ be the gradient a little ahead on the
//! segment, so that it is off by a small multiple of l η p̃. As η falls, the terms with η⁵ vanish
//! beside that of Δ, and a δ proportional to p makes the term necessary.

use super::step::Step;
use super::{KAPPAS, OneStep, PARTS, checked, power_left, shown};
use crate::error::{Error, in_range};
use crate::matrix::{
    Matrix, cholesky, congruence, from_fn, inverse, product, times_vector, transpose,
};
use crate::paper::claims::{Claim, Verdict};
use crate::planner::errors_of_one_step;

/// What multiplies C in the three terms: d/L, E Δ²/L², and E sup|dĝ/ds|²/L².
fn terms(statement: &OneStep, kappa: f64, eta: f64) -> [f64; 3] {
    std::array::from_fn(|i| {
        let (a, b) = statement.terms[i];
        kappa.powf(a) * eta.powf(b)
    })
}

/// The printed rate, 1/(20κ² + 200).
fn rate(statement: &OneStep, kappa: f64) -> f64 {
    let [square, constant] = statement.decay;
    1.0 / (square * kappa * kappa + constant)
}

/// A C for the term of d/L and one for that of Δ, with which Proposition 2 holds for every
/// potential with this κ at steps of length η, every ĝ and every joint law; `None` if the step is
/// not known to contract fast enough. The third term is not used.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn one_step_bounds(
    statement: &OneStep, kappa: f64, eta: f64,
) -> Result<Option<[f64; 2]>, Error> {
    let step = Step::new(kappa, eta)?;
    let fast = 1.0 / (5.0 * kappa * kappa + 50.0);
    let slow = rate(statement, kappa);
    if !(slow < fast && step.contracts(fast)) {
        return Ok(None);
    }
    let spread = (fast - slow) * eta / (1.0 - fast * eta);
    let factor = 2.0 * (1.0 + 1.0 / spread);
    let [drift, gradient, _] = terms(statement, kappa, eta);
    let of_drift = step.square_of(&errors_of_one_step(kappa, eta)) / drift;
    let of_gradient = step.square(&step.kick()) * eta * eta / gradient;
    Ok(Some([factor * of_drift, factor * of_gradient]))
}

/// The larger of [`one_step_bounds`], with which Proposition 2 holds.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn one_step_bound(statement: &OneStep, kappa: f64, eta: f64) -> Result<Option<f64>, Error> {
    Ok(one_step_bounds(statement, kappa, eta)?.map(|[drift, gradient]| drift.max(gradient)))
}

/// The least C that the term of Δ needs on the quadratic potential of curvature l if the other two
/// are left out, which is justified as η falls; infinite if there is none.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn one_step_gradient_ratio(
    statement: &OneStep, kappa: f64, eta: f64, l: f64,
) -> Result<f64, Error> {
    in_range("l", l, l > 0.0 && l <= 1.0, "a number above 0 and at most 1")?;
    let step = Step::new(kappa, eta)?;
    let (loss, decay, b) = (step.loss(l), rate(statement, kappa), step.kick());
    let kept: Matrix<3> = from_fn(|i, j| loss[i][j] - decay * step.s[i][j]);
    let Some(inverse) = cholesky(&kept).and_then(|_| inverse(&kept)) else {
        return Ok(f64::INFINITY);
    };
    let across = times_vector(&transpose(&step.matrix(l)), &times_vector(&step.s, &b));
    let gained = times_vector(&inverse, &across);
    let gained: f64 = (0..3).map(|i| across[i] * gained[i]).sum();
    let [_, gradient, _] = terms(statement, kappa, eta);
    Ok((eta * step.square(&b) + gained) * eta / gradient)
}

/// The least C with which Proposition 2 holds on the quadratic potential of curvature l with exact
/// line integrals, for every joint law of the two processes in which the diffusion is stationary;
/// infinite if there is none.
///
/// # Errors
/// [`Error`] with name and value of an argument outside its range.
pub fn one_step_ratio(statement: &OneStep, kappa: f64, eta: f64, l: f64) -> Result<f64, Error> {
    in_range("l", l, l > 0.0 && l <= 1.0, "a number above 0 and at most 1")?;
    let step = Step::new(kappa, eta)?;
    let [drift, _, slope] = terms(statement, kappa, eta);
    let decay = rate(statement, kappa);
    let (difference, loss) = (step.difference(l), step.loss(l));
    let variance = [1.0 / l, 1.0, 1.0];
    let ds = product(&transpose(&difference.map), &step.s);
    let dsf = product(&ds, &step.matrix(l));
    let own = congruence(&step.s, &difference.map);
    let noise = product(&step.s, &difference.noise);
    let fixed: f64 = (0..3).map(|i| variance[i] * own[i][i] + noise[i][i]).sum();
    // The left side less the right, at its largest; `None` if it has no bound.
    let excess = |c: f64| -> Option<f64> {
        let on_p = |i: usize, j: usize| if i == 1 && j == 1 { c * slope * l * l } else { 0.0 };
        let kept: Matrix<3> = from_fn(|i, j| loss[i][j] - decay * step.s[i][j] + on_p(i, j) / eta);
        cholesky(&kept)?;
        let cross: Matrix<3> = from_fn(|i, j| dsf[i][j] - on_p(i, j));
        let gained = product(&product(&cross, &inverse(&kept)?), &transpose(&cross));
        let gained: f64 = (0..3).map(|i| variance[i] * gained[i][i] / eta).sum();
        Some(fixed + gained - on_p(1, 1) - c * drift)
    };
    let enough = |c: f64| excess(c).is_some_and(|excess| excess <= 0.0);
    // Bisection of the exponent.
    let (mut low, mut high) = (-40.0_f64, 40.0_f64);
    if !enough(high.exp()) {
        return Ok(f64::INFINITY);
    }
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if enough(middle.exp()) { high = middle } else { low = middle }
    }
    Ok(high.exp())
}

/// κ and η to the given powers, as text.
fn powers((kappa, eta): (f64, f64)) -> String {
    let of_eta = if eta == 1.0 { String::new() } else { format!("^{eta}") };
    format!("kappa^{kappa} eta{of_eta}")
}

pub(super) fn claim(statement: &OneStep) -> Result<Claim, Error> {
    let mut bounds = Vec::new();
    let mut parts = [0.0_f64; 2];
    for kappa in KAPPAS {
        let mut worst = 0.0_f64;
        for part in PARTS {
            let eta = statement.longest(kappa) * part;
            let found = one_step_bounds(statement, kappa, eta)?.unwrap_or([f64::INFINITY; 2]);
            parts = [parts[0].max(found[0]), parts[1].max(found[1])];
            worst = worst.max(found[0].max(found[1]));
        }
        bounds.push((kappa, worst));
    }
    let [of_drift, of_gradient] = parts;
    // On quadratic potentials.
    let last = KAPPAS[KAPPAS.len() - 1];
    let [first, limit] = [(1.0, 1.0), (last, 1.0 / last)]
        .map(|(kappa, l)| one_step_ratio(statement, kappa, statement.longest(kappa), l));
    let short = 1e-6 * statement.longest(1.0);
    let needed = one_step_gradient_ratio(statement, 1.0, short, 1.0)?;
    let OneStep { constant: c, decay: [square, rest], terms: [a, b, e], step } = *statement;
    Ok(Claim::new(
        format!(
            "one step: rate 1/({square} kappa^2 + {rest}), errors {} d/L + {} Delta^2/L^2 + {} |dg^|^2/L^2",
            powers(a), powers(b), powers(e)
        ),
        "Proposition 2",
        Verdict::of(of_drift.max(of_gradient) <= c, false),
        format!(
            "for eta < min(1/gamma, 1/xi, c kappa^(-11/4)), with C = {c} and c = {step}, which \
             the paper leaves open. {} for every potential, g^ and \
             joint law, without the last term: {of_drift:.0} before d/L and {of_gradient:.0} \
             before Delta^2/L^2. {} and {} step sizes each. Quadratic potentials with exact \
             line integrals need {:.2} at kappa = 1; at curvature m the least C tends to {:.5} as \
             kappa grows, so kappa^8 cannot be lowered. Delta^2/L^2 \
             needs {needed:.2} at kappa = 1 as eta falls. Margin: powers of kappa left over in C",
            shown(of_drift.max(of_gradient), c), checked(), PARTS.len(), first?, limit?
        ),
    )
    .with_margin(power_left(&bounds)))
}

//! Lemmas 7, 8 and 9, Proposition 2 and Theorems 1 and 2 as statements: each is decided with
//! explicit constants, from numbers that a test can alter.
//!
//! The paper leaves most constants open. Here a constant is computed that is enough for every
//! potential of the class (the upper bound), and compared with the least one that quadratic
//! potentials need (the lower bound), whose laws are Gaussian and exact. Lemma 7 is decided in exact
//! arithmetic and Lemma 8 for every κ in floating point. Lemma 9, Proposition 2 and the theorems are
//! evaluated in floating point at the κ of [`KAPPAS`] and the step sizes of [`PARTS`].

mod chord;
mod coupled;
mod mixing;
mod moments;
mod path;
mod step;

use num_rational::BigRational;

pub use coupled::{one_step_bound, one_step_bounds, one_step_gradient_ratio, one_step_ratio};
pub use mixing::{black_box_bound, mixing_bound};
pub use moments::{high_moment_bound, high_moment_limit, high_moment_ratio};
pub use path::{path_moment_bound, path_moment_ratio};

use super::claims::{Claim, Verdict};
use super::polynomial::rational;
use super::theorems::{Reading, Scaling, theorem1_step, theorem1_time};
use crate::error::Error;
use crate::laws::Scheme;

/// The κ at which bounds for all potentials are computed. At 1.486 the two limits of the step size
/// meet, 1/(2κ) and κ^(−11/4), and the inequality of the contraction has the least room.
const KAPPAS: [f64; 11] = [1.0, 1.486, 1.5, 2.0, 3.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6];

/// The step sizes there, as parts of the longest.
const PARTS: [f64; 5] = [1.0, 0.5, 0.1, 1e-2, 1e-4];

/// Where bounds are computed, as text.
fn checked() -> String {
    format!("Checked in floating point at {} values of kappa from 1 to 1e6", KAPPAS.len())
}

/// Whether a bound shows a statement with the constant C, as text. A bound above C does not refute
/// the statement.
fn shown(bound: f64, c: f64) -> String {
    let digits = if bound < 100.0 { 3 } else { 0 };
    if bound <= c {
        format!("C = {bound:.digits$} is enough")
    } else {
        format!("Not shown with this C: the bound found is {bound:.digits$}")
    }
}

/// Constants and powers of the statements.
#[derive(Debug, Clone, PartialEq)]
pub struct Statements {
    /// Lemma 7: the factor before ℓ² sup |x''|.
    pub chord: BigRational,
    /// Lemma 8: C.
    pub path_moment: f64,
    /// Lemma 9.
    pub high_moments: HighMoments,
    /// Proposition 2.
    pub one_step: OneStep,
    /// Theorem 1.
    pub mixing: Mixing,
    /// Theorem 2.
    pub black_box: BlackBox,
}

/// Theorem 2: with steps of c times the smaller of its first two terms, in the given reading, C κ²
/// log(dκ/(Lε²)) over that term are enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BlackBox {
    /// The reading of the step size.
    pub reading: Reading,
    /// κ^(−5/(2(α − 1))) in the second term, in place of the power of the reading.
    pub least_power: bool,
    /// c, which the paper leaves open.
    pub c: f64,
    /// C, which the paper leaves open.
    pub constant: f64,
}

/// Theorem 1: with steps of c times `step`, C times `time` times log(dκ/(Lε²)) steps are enough.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mixing {
    /// The powers in the step size.
    pub step: Scaling,
    /// The powers in the mixing time.
    pub time: Scaling,
    /// c, which the paper leaves open.
    pub c: f64,
    /// C, which the paper leaves open.
    pub constant: f64,
}

/// Lemma 9: ‖x^(k) − x*‖_2α <= C κ^a √((d + 2α)/L), for η < c κ^b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HighMoments {
    /// C, which the paper leaves open.
    pub constant: f64,
    /// a.
    pub kappa: f64,
    /// c, which the paper leaves open.
    pub step: f64,
    /// b.
    pub step_power: f64,
}

impl HighMoments {
    /// The longest step of the proof.
    #[must_use]
    pub fn longest(&self, kappa: f64) -> f64 {
        self.step * kappa.powf(self.step_power)
    }
}

/// Proposition 2: E|x̃' − x'|_S² <= (1 − η/(a κ² + b)) E|x̃ − x|_S² + C (three terms), for η <
/// min(1/γ, 1/ξ, c κ^(−11/4)).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OneStep {
    /// C, which the paper leaves open.
    pub constant: f64,
    /// a and b.
    pub decay: [f64; 2],
    /// The powers of κ and of η before d/L, E Δ²/L² and E sup|dĝ/ds|²/L².
    pub terms: [(f64, f64); 3],
    /// c, which the paper leaves open.
    pub step: f64,
}

impl OneStep {
    /// The longest step of the proof.
    #[must_use]
    pub fn longest(&self, kappa: f64) -> f64 {
        (self.step * kappa.powf(-2.75)).min(path::longest(kappa))
    }
}

impl Statements {
    /// The paper's, with the constants that it leaves open filled in.
    #[must_use]
    pub fn paper() -> Self {
        Self {
            chord: rational(1, 1),
            path_moment: 42.0,
            high_moments: HighMoments { constant: 45.0, kappa: 3.0, step: 0.25, step_power: -7.0 },
            one_step: OneStep {
                constant: 500.0,
                decay: [20.0, 200.0],
                terms: [(8.0, 5.0), (5.0, 1.0), (6.0, 5.0)],
                step: 1.0,
            },
            mixing: Mixing {
                step: theorem1_step(),
                time: theorem1_time(),
                c: 0.04,
                constant: 10_000.0,
            },
            black_box: BlackBox {
                reading: Reading::Meant,
                least_power: false,
                c: 1e-3,
                constant: 3e5,
            },
        }
    }
}

/// The rows of `verify` for these statements.
///
/// # Errors
/// [`Error`] with name and value of a constant for which the formulas leave the range of doubles.
pub fn statement_claims(statements: &Statements) -> Result<Vec<Claim>, Error> {
    let mut claims = chord::claims(statements);
    claims.push(path::claim(statements)?);
    claims.push(moments::claim(&statements.high_moments)?);
    claims.push(coupled::claim(&statements.one_step)?);
    claims.push(mixing::exact(&statements.mixing)?);
    claims.push(mixing::black_box(&statements.black_box)?);
    claims.push(every_step_size(statements)?);
    Ok(claims)
}

/// The three statements about steps are printed without a condition on η. At κ = 1 each is false
/// for every C: the ratio of Lemma 8 grows without bound with η, and at η = 10 the step is unstable,
/// so that moments grow from step to step and no C of Proposition 2 makes up for a growing distance.
fn every_step_size(statements: &Statements) -> Result<Claim, Error> {
    let Statements { path_moment, high_moments, one_step, .. } = statements;
    let path = |eta: f64| path_moment_ratio(1.0, eta, 1.0, eta);
    let stable = |eta: f64| -> Result<bool, Error> {
        Ok(Scheme::third_order(1.0, 2.0, eta)?.linear_form(1.0)?.is_stable())
    };
    let step = |eta: f64| one_step_ratio(one_step, 1.0, eta, 1.0).map(f64::is_finite);
    let [ten, hundred, thousand] = [path(10.0)?, path(100.0)?, path(1000.0)?];
    // About 10⁴ each.
    let grows = hundred > 1e3 * ten && thousand > 1e3 * hundred;
    let long = [!grows, stable(10.0)?, step(10.0)?];
    let short = path(path::longest(1.0))? <= *path_moment
        && stable(high_moments.longest(1.0))?
        && step(one_step.longest(1.0))?;
    let all_are_false = long.iter().all(|holds| !holds);
    Ok(Claim::new(
        "Lemmas 8 and 9 and Proposition 2 are stated for every step size",
        "Appendix A.2",
        Verdict::of(long.iter().all(|&holds| holds), all_are_false && short),
        format!(
            "eta < min(1/gamma, 1/xi) in Lemma 8, c kappa^(-7) in Lemma 9 and c kappa^(-11/4) in \
             Proposition 2, as in the proofs. For U = |theta|^2/2 \
             the least C of Lemma 8 is {ten:.0} at eta = 10 and {hundred:.1e} at eta = 100 and \
             grows without bound; at eta = 10 the algorithm diverges, and no C is \
             large enough for the other two"
        ),
    ))
}

/// How many powers of κ a bound could lose, in hundredths, from its values at the two largest κ.
fn power_left(bounds: &[(f64, f64)]) -> f64 {
    let [.., (kappa, c), (last, c_last)] = bounds else { return f64::NAN };
    let power = (c / c_last).ln() / (last / kappa).ln();
    // + 0.0, so that zero has no sign.
    (100.0 * power).round() / 100.0 + 0.0
}

//! Lemmas 7, 8 and 9, Proposition 2 and Theorems 1 and 2 as statements: each is decided with
//! explicit constants, from numbers that a test can alter.
//!
//! The paper leaves most constants open. Here each statement is proved with an explicit one, for
//! every potential of the class (the upper bound), and compared with the least one that quadratic
//! potentials need (the lower bound), whose laws are Gaussian and exact.

mod chord;
mod coupled;
mod mixing;
mod moments;
mod path;
mod step;

use num_rational::BigRational;

pub use coupled::{one_step_bound, one_step_ratio};
pub use mixing::{black_box_bound, mixing_bound};
pub use moments::{high_moment_bound, high_moment_ratio};
pub use path::{path_moment_bound, path_moment_ratio};

use super::claims::{Claim, Verdict};
use super::polynomial::rational;
use super::theorems::{Reading, Scaling, theorem1_step, theorem1_time};
use crate::error::Error;
use crate::laws::Scheme;

/// The κ at which bounds for all potentials are computed.
const KAPPAS: [f64; 10] = [1.0, 1.5, 2.0, 3.0, 10.0, 1e2, 1e3, 1e4, 1e5, 1e6];

/// The step sizes there, as parts of the longest.
const PARTS: [f64; 3] = [1.0, 1e-2, 1e-4];

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
            high_moments: HighMoments { constant: 60.0, kappa: 3.0, step: 0.5, step_power: -7.0 },
            one_step: OneStep {
                constant: 600.0,
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
            black_box: BlackBox { reading: Reading::Meant, c: 1e-4, constant: 3e6 },
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

/// The three statements about steps are printed without a condition on η. At κ = 1 and η = 10 all
/// three are false for every C: Lemma 8's ratio grows like η², the step is unstable, and no C makes
/// up for a distance that grows.
fn every_step_size(statements: &Statements) -> Result<Claim, Error> {
    let Statements { path_moment, high_moments, one_step, .. } = statements;
    let hold = |eta: f64, of_moments: f64, of_step: f64| -> Result<bool, Error> {
        let path = path_moment_ratio(1.0, eta, 1.0, eta)?;
        let form = Scheme::third_order(1.0, 2.0, of_moments)?.linear_form(1.0)?;
        let step = one_step_ratio(one_step, 1.0, of_step, 1.0)?;
        Ok(path <= *path_moment && form.is_stable() && step.is_finite())
    };
    let long = 10.0;
    let short = [path::longest(1.0), high_moments.longest(1.0), one_step.longest(1.0)];
    Ok(Claim::new(
        "Lemmas 8 and 9 and Proposition 2 are stated for every step size",
        "Appendix A.2",
        Verdict::of(hold(long, long, long)?, hold(short[0], short[1], short[2])?),
        "eta < min(1/gamma, 1/xi) in Lemma 8, c kappa^(-7) in Lemma 9 and c kappa^(-11/4) in Proposition 2, as in the proofs: for U = |theta|^2/2 and \
         eta = 10 no C is large enough, and the algorithm diverges",
    ))
}

/// How many powers of κ a bound could lose, in hundredths, from its values at the two largest κ.
fn power_left(bounds: &[(f64, f64)]) -> f64 {
    let [.., (kappa, c), (last, c_last)] = bounds else { return f64::NAN };
    let power = (c / c_last).ln() / (last / kappa).ln();
    // + 0.0, so that zero has no sign.
    (100.0 * power).round() / 100.0 + 0.0
}

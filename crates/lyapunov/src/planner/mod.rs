//! The planner: γ, ξ, η and a number of steps after which the law of θ is within a Wasserstein
//! distance ε of the target, for every potential with the given convexity and smoothness. All
//! constants are explicit.
//!
//! Let (S, r) be a certificate for one step, and e_S a bound on the error of one step from the
//! stationary law in the norm of S. Let a_0 be a bound on the distance at the start, in root mean
//! square and in the same norm. Then
//!
//! ```text
//! W2(law of θ after k steps, target) <= √((S⁻¹)₁₁) ( rᵏ a_0 + e_S/(1 − r) )
//! a_0² = S11 (d/m + 2 δ √(d/m − d/L) + δ²)   [+ (S22 + S33) d/L at rest]
//! ```
//!
//! for a start within δ of the minimiser, with p and r drawn from N(0, I/L) or both 0.
//!
//! One step with exact line integrals, driven by the same Brownian path as the diffusion and
//! started from its stationary law, differs from it in θ, p and r, in root mean square, by at most
//!
//! ```text
//! e_θ = P η³/12 + (1 + γ²) A η⁴/24,    e_p = (1 + γ²) A η³/6,    e_r = γ e_θ,
//! P = √(d/L),  A = √((1 + γ²) d/L)
//! ```
//!
//! and e_S² = Σ |S_ij| e_i e_j. (The step's gradient along a straight line is compared first with
//! its average: its derivative is H p, so linear interpolation of its integral errs by P η³/12;
//! then with the gradient along the diffusion.) In units of √(d/L) only κ and ε √(L/d) remain, so
//! the number of steps grows like d^(1/4) ε^(−1/2), up to a logarithm. Quadrature adds the error of
//! its rule, for which [`DerivativeBound`] has the formula.

mod problem;

pub(crate) use problem::errors_of_one_step;
#[cfg(test)]
pub(crate) use problem::tests;
pub use problem::{DerivativeBound, IntegralRule, MAX_ALPHA, Problem};

use ridgewalk_coefficients::Parameters;

use crate::certificate::{Certificate, Inequality, Setting, unpack};
use crate::error::Error;
use crate::matrix::{Matrix, inverse};
use crate::simplex::minimise;

/// Parameters, a number of steps, and the certificate behind them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    certificate: Certificate,
    eta: f64,
    steps: u64,
    gradients: u64,
    /// The two parts of the bound in the problem's units: the part that contracts in each step, and
    /// the part that remains.
    start: f64,
    floor: f64,
    /// A bound on W2 between the starting point and the target.
    at_once: f64,
}

impl Plan {
    /// The certificate of contraction, in units with L = 1.
    #[must_use]
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// γ.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        self.certificate.setting().gamma()
    }

    /// ξ.
    #[must_use]
    pub fn xi(&self) -> f64 {
        self.certificate.setting().xi()
    }

    /// η.
    #[must_use]
    pub fn eta(&self) -> f64 {
        self.eta
    }

    /// The number of steps after which the accuracy is guaranteed.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The gradient-equivalents of these steps.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.gradients
    }

    /// The bound on W2 after these steps.
    #[must_use]
    pub fn bound(&self) -> f64 {
        self.bound_after(self.steps)
    }

    /// The bound on W2 after any number of steps.
    #[must_use]
    pub fn bound_after(&self, steps: u64) -> f64 {
        let bound = self.start * (steps as f64 * self.certificate.speed().ln()).exp() + self.floor;
        if steps == 0 { bound.min(self.at_once) } else { bound }
    }
}

/// The largest number of steps of a plan.
const MOST_STEPS: f64 = 1e15;
/// The cost of parameters that cannot reach the accuracy; larger than any other cost.
const NO_PLAN: f64 = 1e18;

/// How often the search over γ, ξ, η and the share of the gap is restarted.
const RESTARTS: usize = 6;

/// The plan with the fewest steps that the search finds; `None` if it finds none. The certificate
/// of a plan has passed its check.
///
/// The parameters are those for a start at the minimiser with p and r drawn. Any other start adds
/// steps: it enters through a logarithm, so that other parameters would save only a few per cent,
/// and a worse start never has a shorter plan.
///
/// # Errors
/// If a quantity leaves the range of double precision.
pub fn plan(problem: &Problem) -> Result<Option<Plan>, Error> {
    // Near the largest certified gap the minimisation over S can fail and leave an S on the
    // boundary, which the check of the certificate refuses. The second search avoids these.
    Ok([false, true].into_iter().find_map(|strictly| search(problem, strictly)))
}

/// One search over γ, ξ, η and the share of the gap; `strictly` leaves out every S whose inequality
/// does not hold in double precision.
fn search(problem: &Problem, strictly: bool) -> Option<Plan> {
    let kappa = problem.condition_number();
    let from = |[g, x, h, share]: &[f64; 4]| {
        Candidate::new(problem, [g.exp(), x.exp(), h.exp(), logistic(*share)], strictly)
    };
    let cost =
        |point: &[f64; 4]| from(point).map_or(f64::INFINITY, |candidate| candidate.cost(problem));

    // Start with the best parameters of the diffusion and the best step size for them.
    let (gamma, xi) = (1.17 + 0.8 / kappa, 1.78 + 1.4 / kappa);
    let largest = problem.largest_useful_step();
    let first = (0..24)
        .map(|shortenings| largest * 0.7f64.powi(shortenings))
        .map(|eta| [gamma.ln(), xi.ln(), eta.ln(), 1.5])
        .map(|point| (cost(&point), point))
        .min_by(|(a, _), (b, _)| a.total_cmp(b));
    let (_, first) = first?;
    // A simplex can collapse too early: restart where it stopped until nothing more is gained.
    let mut best = minimise(cost, first, 0.15, 1e-5, 250);
    for _ in 0..RESTARTS {
        let before = best.value;
        best = minimise(cost, best.point, 0.1, 1e-6, 200);
        if best.value > before * (1.0 - 1e-4) {
            break;
        }
    }

    from(&best.point)?.finish(problem)
}

/// The share of the largest certified gap, between 0 and 1, from a free variable.
fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Parameters with an S and the resulting bound, not yet checked.
#[derive(Debug, Clone, Copy)]
struct Candidate {
    setting: Setting,
    eta: f64,
    s: Matrix<3>,
    tau: f64,
    factor: f64,
    /// (S⁻¹)₁₁.
    first: f64,
    /// √((S⁻¹)₁₁) e_S/(1 − r): the bound that remains, in the same units.
    floor: f64,
}

impl Candidate {
    /// The S with the least error for these parameters, at the given share of the largest gap 1 − r
    /// that can be certified for them.
    fn new(problem: &Problem, [gamma, xi, eta, share]: [f64; 4], strictly: bool) -> Option<Self> {
        let setting =
            Setting::new(problem.condition_number(), gamma, xi, problem.process(eta)).ok()?;
        let errors = problem.one_step_errors(Parameters::new(gamma, xi, eta).ok()?).ok()?;
        let inequality = Inequality::new(&setting).ok()?;
        let fastest = inequality.best(1e-4)?;
        if !(fastest.lambda < 0.0) {
            return None;
        }
        let lambda = fastest.lambda * share;
        let unknowns = inequality.least_error(lambda, &fastest.unknowns, &errors)?;
        if strictly && !(inequality.margin(&unknowns, lambda) > 0.0) {
            return None;
        }
        let (s, tau) = unpack(&unknowns);
        let factor = inequality.factor(lambda);
        let first = inverse(&s)?[0][0];
        let e_s = (0..3)
            .flat_map(|i| (0..3).map(move |j| (i, j)))
            .map(|(i, j)| s[i][j].abs() * errors[i] * errors[j])
            .sum::<f64>()
            .sqrt();
        // Enlarged by more than the accumulated rounding.
        let floor = first.sqrt() * e_s / (1.0 - factor) * (1.0 + 1e-9);
        Some(Self { setting, eta, s, tau: tau / eta, factor, first, floor })
    }

    /// √((S⁻¹)₁₁) a_0 in units of √(d/L), from E|θ_0 − θ|² in units of d/L.
    fn start(&self, square_distance: f64, at_rest: bool) -> f64 {
        let momenta = if at_rest { self.s[1][1] + self.s[2][2] } else { 0.0 };
        let square = self.s[0][0] * square_distance + momenta;
        // Enlarged by more than the accumulated rounding.
        (self.first * square).sqrt() * (1.0 + 1e-9)
    }

    /// The cost from the minimiser, with p and r drawn.
    fn cost(&self, problem: &Problem) -> f64 {
        self.cost_from(self.start(self.setting.kappa(), false), problem)
    }

    /// The number of steps, not rounded. If the remaining error is above the accuracy, a number
    /// larger than any number of steps that decreases towards feasibility.
    fn cost_from(&self, start: f64, problem: &Problem) -> f64 {
        let accuracy = problem.scaled_accuracy();
        let room = accuracy - self.floor;
        if room > 0.0 {
            (start / room).ln().max(0.0) / -self.factor.ln()
        } else {
            NO_PLAN * (self.floor / accuracy)
        }
    }

    /// The plan, if the certificate passes its check and the accuracy is reached.
    fn finish(&self, problem: &Problem) -> Option<Plan> {
        let certificate = Certificate::check(self.setting, self.s, self.tau, self.factor).ok()?;
        let start = self.start(problem.square_distance(), problem.is_at_rest());
        let cost = self.cost_from(start, problem).ceil();
        if !(cost < MOST_STEPS) {
            return None;
        }
        // Whole and below 2^53: the conversion is exact.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let least = cost as u64;
        let unit = problem.unit() * (1.0 + 1e-12);
        let (start, floor) = (start * unit, self.floor * unit);
        let at_once = problem.square_distance().sqrt() * unit;
        let with = |steps| {
            let gradients = steps * problem.gradients_per_step();
            Plan { certificate, eta: self.eta, steps, gradients, start, floor, at_once }
        };
        // Units, logarithm and exponential in the bound are rounded once more: a few steps in a
        // billion may be missing.
        let tries = [0, least, least + 1, least + 4, least + 4 + least / 1_000_000];
        tries.into_iter().map(with).find(|plan| plan.bound() <= problem.accuracy())
    }
}

//! The parameters of each kernel that minimise the cost of an independent draw, at a given relative
//! bias of the variance.
//!
//! The cost is the longer autocorrelation time of θ and θ² at the worst eigenvalue between 1/κ and
//! 1, times gradients per step. It is minimised over the logarithms of (γ, ξ, η). A step that is
//! not allowed is shortened until it is: the best step is often the longest allowed one, and a
//! search with penalties would stall along that boundary.
//!
//! A step is allowed if its bias is within the bound at every eigenvalue, if that holds for shorter
//! steps too, and if it stays stable at an eigenvalue slightly above 1. The last two conditions
//! exclude useless answers. Where the bias changes sign, there is a narrow window of long steps
//! without bias (UBU at κ = 1: η = 2.6, between steps with several times the bias). And kernels
//! without bias on Gaussians (symmetric, BAOAB) are cheapest in the limit of the longest stable
//! step, where the momentum no longer converges: the cost of θ falls by another per cent, but the
//! number of steps to approach the stationary law goes to infinity.

use super::autocorrelation::Autocorrelation;
use super::kernel::KernelKind;
use super::scheme::Scheme;
use super::search::{Effort, Found, minimise_parameters};
use crate::error::{Error, condition_number};

/// Eigenvalues per decade of condition number, in the search and in the final figures.
const COARSE: f64 = 4.0;
const FINE: f64 = 40.0;
/// The eigenvalue up to which a step must be stable: L is seldom known more precisely.
const STABLE_UP_TO: f64 = 1.02;
/// Shorter steps, as fractions, whose bias must be within the bound too.
const SHORTER: [f64; 3] = [0.85, 0.65, 0.4];
/// The relative precision with which a shortened step reaches the allowed bias, or the longest
/// stable step.
const BIAS_TOLERANCE: f64 = 1e-5;
const STEP_TOLERANCE: f64 = 1e-5;
/// The effort of one search.
const EFFORT: Effort = Effort { gain: 3e-5, evaluations: 300 };
/// How much worse, relatively, the fine grid may be than the eigenvalues used in the search.
const OVERLOOKED: f64 = 1e-4;
/// The range of allowed biases. Below it, rounding in the stationary covariance would matter.
const BIAS_RANGE: [f64; 2] = [1e-6, 0.9];
/// The largest condition number, for the same reason.
const LARGEST_KAPPA: f64 = 1e6;

/// The best parameters found.
#[derive(Debug, Clone, PartialEq)]
pub struct Tuned {
    /// The kernel with its parameters.
    pub scheme: Scheme,
    /// Gradients per independent draw at the worst eigenvalue.
    pub cost: f64,
    /// The relative bias of the variance at the most biased eigenvalue.
    pub bias: f64,
    /// The eigenvalue of H/L with the largest cost.
    pub worst_eigenvalue: f64,
}

/// Minimises the cost of a kernel over its parameters for all eigenvalues of H/L in [1/κ, 1], with
/// a relative bias of the variance of at most `bias` at each. The search is deterministic.
///
/// # Errors
/// [`Error::NotInRange`] unless 1 <= κ <= 1e6 and 1e-6 <= `bias` <= 0.9.
pub fn tune(kernel: KernelKind, kappa: f64, bias: f64) -> Result<Tuned, Error> {
    condition_number(kappa)?;
    if kappa > LARGEST_KAPPA {
        return Err(Error::NotInRange {
            name: "kappa",
            value: kappa,
            need: "a number between 1 and 1e6",
        });
    }
    let [least, most] = BIAS_RANGE;
    if !(least <= bias && bias <= most) {
        return Err(Error::NotInRange {
            name: "bias",
            value: bias,
            need: "a number between 1e-6 and 0.9",
        });
    }
    let mut question = Question { kernel, bias, eigenvalues: eigenvalues(kappa, COARSE) };
    let mut candidates: Vec<Found<3>> = starts(kernel, kappa)
        .into_iter()
        .map(|at| Found { at, value: question.cost(&at) })
        .collect();
    candidates.sort_by(|a, b| a.value.total_cmp(&b.value));
    candidates.truncate(3);
    let improved = candidates.into_iter().map(|start| question.improve(start.at, 0.3));
    let mut best = improved.min_by(|a, b| a.value.total_cmp(&b.value));
    // Eigenvalues of the fine grid that turn out to be worse are added, and the search continues.
    let everywhere = Question { kernel, bias, eigenvalues: eigenvalues(kappa, FINE) };
    for _ in 0..8 {
        let Some(found) = best else { break };
        let Some(overlooked) = question.overlooked(&found.at, &everywhere) else { break };
        question.eigenvalues.push(overlooked);
        best = Some(question.improve(found.at, 0.02));
    }
    let answer = best.and_then(|found| everywhere.answer(&found.at));
    answer.ok_or(Error::NotInRange {
        name: "bias",
        value: bias,
        need: "a bias that a stable step has",
    })
}

/// 1/κ, 1 and points between them, evenly spaced on a logarithmic scale.
fn eigenvalues(kappa: f64, per_decade: f64) -> Vec<f64> {
    if kappa == 1.0 {
        return vec![1.0];
    }
    let intervals = (per_decade * kappa.log10()).ceil().max(4.0);
    let mut all = vec![1.0];
    let mut i = 1.0;
    while i < intervals {
        all.push(kappa.powf(-i / intervals));
        i += 1.0;
    }
    all.push(1.0 / kappa);
    all
}

/// Starting points: logarithms of (γ, ξ, η) over the region in which good parameters were found for
/// condition numbers from 1 to 1e6. The effective friction on θ is ξ for kinetic kernels and about
/// γ²/ξ for the others; its natural size is 1/√κ.
pub(super) fn starts(kernel: KernelKind, kappa: f64) -> Vec<[f64; 3]> {
    let root = kappa.sqrt();
    let etas = [0.02, 0.4, 1.0, 1.6, 1.95];
    let mut all = Vec::new();
    for eta in etas {
        if kernel.has_gamma() {
            for xi in [1.0, 2.0, 4.0, 10.0] {
                for friction in [0.3, 0.7, 1.5, 4.0] {
                    all.push([(friction / root * xi).sqrt(), xi, eta]);
                }
            }
        } else if kernel.has_xi() {
            for friction in [0.5, 1.0, 2.0, 4.0, 8.0] {
                all.push([1.0, friction / root, eta]);
                all.push([1.0, friction, eta]);
                all.push([1.0, friction * root, eta]);
            }
        } else {
            all.push([1.0, 1.0, eta]);
        }
    }
    all.into_iter().map(|start| start.map(f64::ln)).collect()
}

/// The cost to be minimised.
#[derive(Debug)]
struct Question {
    kernel: KernelKind,
    bias: f64,
    eigenvalues: Vec<f64>,
}

impl Question {
    fn improve(&self, start: [f64; 3], size: f64) -> Found<3> {
        minimise_parameters(self.kernel, &mut |at| self.cost(at), start, size, EFFORT)
    }

    /// The cost at the longest allowed step up to the given one.
    fn cost(&self, at: &[f64; 3]) -> f64 {
        self.allowed(at)
            .and_then(|scheme| self.worst_cost(&scheme))
            .map_or(f64::INFINITY, |(cost, _)| cost)
    }

    fn answer(&self, at: &[f64; 3]) -> Option<Tuned> {
        let scheme = self.allowed(at)?;
        let (cost, worst_eigenvalue) = self.worst_cost(&scheme)?;
        let bias = self.worst_bias(&scheme);
        bias.is_finite().then_some(Tuned { scheme, cost, bias, worst_eigenvalue })
    }

    /// An eigenvalue of `everywhere` at which cost or bias is worse than at all eigenvalues of this
    /// question.
    fn overlooked(&self, at: &[f64; 3], everywhere: &Self) -> Option<f64> {
        let scheme = self.allowed(at)?;
        let (cost, l) = everywhere.worst_cost(&scheme)?;
        let (known, _) = self.worst_cost(&scheme)?;
        if cost > known * (1.0 + OVERLOOKED) {
            return Some(l);
        }
        let most_biased = everywhere.eigenvalues.iter().find(|&&l| {
            scheme
                .form(l)
                .stationary()
                .is_none_or(|s| (s[0][0] * l - 1.0).abs() > self.bias * (1.0 + OVERLOOKED))
        });
        most_biased.copied()
    }

    /// The scheme at (γ, ξ, η), with η shortened if necessary.
    fn allowed(&self, &[gamma, xi, eta]: &[f64; 3]) -> Option<Scheme> {
        // e^16 is far larger than any useful parameter, and safe in double precision.
        if [gamma, xi, eta].iter().any(|logarithm| logarithm.abs() > 16.0) {
            return None;
        }
        let at = |eta: f64| Scheme::new(self.kernel, gamma.exp(), xi.exp(), eta.exp()).ok();
        let scheme = at(eta);
        let (mut high, mut above) = (eta, self.excess(scheme.as_ref()));
        if above <= 0.0 {
            match SHORTER.iter().map(|f| eta + f.ln()).find(|&e| self.excess(at(e).as_ref()) > 0.0)
            {
                None => return scheme,
                Some(shorter) => (high, above) = (shorter, f64::INFINITY),
            }
        }
        let mut low = high;
        let (mut below, mut best) = (f64::INFINITY, None);
        for _ in 0..40 {
            low -= 0.5;
            best = at(low);
            below = self.excess(best.as_ref());
            if below <= 0.0 {
                break;
            }
            (high, above) = (low, below);
        }
        if below > 0.0 {
            return None;
        }
        // The logarithm of the bias is nearly linear in that of the step: false position, with
        // bisection where it is not.
        for round in 0..40 {
            if below > -BIAS_TOLERANCE || high - low < STEP_TOLERANCE {
                break;
            }
            let fraction = if round % 3 < 2 && above.is_finite() && below.is_finite() {
                // Slightly short of the crossing, so that the allowed end moves.
                ((BIAS_TOLERANCE / 2.0 + below) / (below - above)).clamp(1e-3, 1.0 - 1e-3)
            } else {
                0.5
            };
            let middle = low + fraction * (high - low);
            let scheme = at(middle);
            let value = self.excess(scheme.as_ref());
            if value <= 0.0 {
                (low, below, best) = (middle, value, scheme);
            } else {
                (high, above) = (middle, value);
            }
        }
        best
    }

    /// The logarithm of (bias / allowed bias), infinite for an unstable step. A step is allowed if
    /// this is not positive.
    fn excess(&self, scheme: Option<&Scheme>) -> f64 {
        match scheme {
            Some(scheme) if scheme.form(STABLE_UP_TO).is_stable() => {
                let excess = (self.worst_bias(scheme) / self.bias).ln();
                if excess.is_nan() { f64::INFINITY } else { excess }
            }
            _ => f64::INFINITY,
        }
    }

    /// The largest relative bias of the variance; infinite for an unstable step.
    fn worst_bias(&self, scheme: &Scheme) -> f64 {
        let mut worst = 0.0_f64;
        for &l in &self.eigenvalues {
            let Some(sigma) = scheme.form(l).stationary() else { return f64::INFINITY };
            worst = worst.max((sigma[0][0] * l - 1.0).abs());
        }
        worst
    }

    /// The largest cost and its eigenvalue.
    fn worst_cost(&self, scheme: &Scheme) -> Option<(f64, f64)> {
        let mut worst = (0.0, 1.0);
        for &l in &self.eigenvalues {
            let form = scheme.form(l);
            let sigma = form.stationary()?;
            let time = Autocorrelation::in_stationary(&form, &sigma)?.longer();
            let cost = time * f64::from(scheme.gradients_per_step());
            if cost.is_nan() || cost > worst.0 {
                worst = (cost, l);
            }
        }
        worst.0.is_finite().then_some(worst)
    }
}

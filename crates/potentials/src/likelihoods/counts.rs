//! Counts that vary more than Poisson counts.

use super::{Block, Likelihood};
use crate::families::{Objection, Observation, count};
use crate::special::{
    LOG_ROOT_TWO_PI, deviance, digamma_shortfall, exp_within, log_1p_minus, log_1p_minus_share,
    scaled_gamma, stirling_rest,
};

/// Negative binomial counts of mean μ = e^s and size r, ψ = log r: the variance is μ + μ²/r.
/// u = (y + r) log(1 + μ/r) − y (s − log r) + log Γ(r) + log Γ(y + 1) − log Γ(y + r).
///
/// For large r the counts are Poisson and every term with an r in it must cancel to the few digits
/// that remain. So u is computed as Loader (2000, "Fast and accurate computation of binomial
/// probabilities") does: for y > 0 it is
/// r log((r + μ)/(r + y)) + y log(y (r + μ)/(μ (r + y))) + ½ log(2π y (1 + y/r)) + R(r) + R(y) −
/// R(r + y), R being what Stirling's formula leaves of log Γ. The first two terms, together never
/// negative, are (r + y) times a mean of squares for μ near y. The derivative in log r is likewise
/// r (log(1 + e) − e/(1 + e)) with e = (μ − y)/(r + y), and the difference of r log(1 + y/r) and
/// r (ψ(r + y) − ψ(r)).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NegativeBinomial;

impl Likelihood for NegativeBinomial {
    fn name(&self) -> &'static str {
        "negative-binomial"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        count(y)
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let law = AtSize::new(psi[0]);
        let mut by_size = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let [value, slope, by] = law.row(s, y.response);
            by_size += weight * by;
            [value, slope]
        });
        by_parameter[0] += by_size;
        sum
    }
}

/// The law at a given size.
struct AtSize {
    r: f64,
    log_r: f64,
    /// What Stirling's formula leaves of log Γ(r), and r (ψ(r) − log r).
    rest: f64,
    by_rest: f64,
}

impl AtSize {
    fn new(log_r: f64) -> Self {
        let r = exp_within(log_r);
        // Where r stays within its range, so does its logarithm.
        let log_r = log_r.clamp(-690.0, 690.0);
        let [_, by_rest] = scaled_gamma(r, log_r);
        Self { r, log_r, rest: stirling_rest(r, log_r), by_rest }
    }

    /// u, ∂u/∂s and ∂u/∂log r.
    fn row(&self, s: f64, y: f64) -> [f64; 3] {
        /// Beyond, log(1 + x) is log x.
        const FAR: f64 = 1e17;
        let (r, mu) = (self.r, s.exp());
        let odds = mu / r;
        let log_1p_odds = if odds < FAR { odds.ln_1p() } else { s - self.log_r };
        // μ/(r + μ) and r/(r + μ).
        let other = 1.0 / (1.0 + odds);
        let share = if odds <= 1.0 { odds * other } else { 1.0 / (1.0 + 1.0 / odds) };
        let slope = if odds <= 1.0 {
            (mu - y) * other
        } else if mu.is_infinite() {
            r
        } else {
            r * share * ((mu - y) / mu)
        };
        if y == 0.0 {
            let by_size = r * log_1p_minus_share(odds, log_1p_odds);
            return [r * log_1p_odds, slope, by_size];
        }
        let ratio = y / r;
        let log_y = y.ln();
        let log_1p_ratio = if ratio < FAR { ratio.ln_1p() } else { log_y - self.log_r };
        let n = r + y;
        // (r + μ)/(r + y) − 1 and y (r + μ)/(μ (r + y)) − 1.
        let (more, less) = ((mu - y) / n, (y - mu) / mu / (1.0 + ratio));
        let near = |x: f64| x.abs() < 0.5;
        let first = if near(more) { more.ln_1p() } else { log_1p_odds - log_1p_ratio };
        let misfit = if near(more) && near(less) {
            n * (other * deviance(more) + share * deviance(less))
        } else {
            let second = if near(less) {
                less.ln_1p()
            } else if odds > 1.0 {
                (1.0 / odds).ln_1p() - (r / y).ln_1p()
            } else if (y / mu).is_normal() {
                (y / mu).ln() + first
            } else {
                log_y - s + first
            };
            r * first + y * second
        };
        let by_misfit = if near(more) {
            log_1p_minus(more) + more * more / (1.0 + more)
        } else {
            first - if mu.is_infinite() { 1.0 } else { (mu - y) / (r + mu) }
        };
        let by_size = r * by_misfit + digamma_shortfall(r, y, self.by_rest);
        let rests = self.rest + stirling_rest(y, log_y) - stirling_rest(n, n.ln());
        [misfit + 0.5 * (log_y + log_1p_ratio) + LOG_ROOT_TWO_PI + rests, slope, by_size]
    }
}

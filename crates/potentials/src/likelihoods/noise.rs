//! Real responses around the linear predictor, with noise of unknown scale.

use super::{Block, Likelihood};
use crate::error::Error;
use crate::families::{Objection, Observation, real, scale};
use crate::softplus::softplus;
use crate::special::{LOG_ROOT_TWO_PI, exp_within, half_step, log_1p_minus_share};

/// Normal noise, ψ = log σ: u = z²/2 + log σ + ½ log 2π with z = (s − y)/σ.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Normal;

impl Likelihood for Normal {
    fn name(&self) -> &'static str {
        "gaussian"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn unit(&self, psi: &[f64]) -> f64 {
        exp_within(psi[0])
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let (log_scale, inverse) = (psi[0], exp_within(-psi[0]));
        let mut by_scale = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let z = (s - y.response) * inverse;
            by_scale += weight * (1.0 - z * z);
            [0.5 * z * z + log_scale + LOG_ROOT_TWO_PI, z * inverse]
        });
        by_parameter[0] += by_scale;
        sum
    }
}

/// Logistic noise, ψ = log σ: u = |z| + 2 log(1 + e^-|z|) + log σ with z = (s − y)/σ. The standard
/// deviation is σ π/√3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct LogisticNoise;

impl Likelihood for LogisticNoise {
    fn name(&self) -> &'static str {
        "robust-logistic"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn unit(&self, psi: &[f64]) -> f64 {
        exp_within(psi[0])
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let (log_scale, inverse) = (psi[0], exp_within(-psi[0]));
        let mut by_scale = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let z = (s - y.response) * inverse;
            let slope = (0.5 * z).tanh();
            by_scale += weight * (1.0 - z * slope);
            [z.abs() + 2.0 * softplus(-z.abs()) + log_scale, slope * inverse]
        });
        by_parameter[0] += by_scale;
        sum
    }
}

/// Noise whose density is proportional to e^-ρ(z) with Huber's ρ, z = (s − y)/σ and ψ = log σ:
/// normal for |z| <= δ, with exponential tails beyond. u = ρ(z) + log σ + log Z(δ).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HuberNoise {
    delta: f64,
    log_integral: f64,
}

impl HuberNoise {
    /// Straight beyond `delta` scales (1.345 is usual).
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn new(delta: f64) -> Result<Self, Error> {
        let delta = scale("huber delta", delta)?;
        Ok(Self { delta, log_integral: log_integral(delta) })
    }
}

/// log ∫ e^-ρ = log(√(2π) erf(δ/√2) + 2 e^(−δ²/2)/δ), with 2/δ taken out, which may overflow.
fn log_integral(delta: f64) -> f64 {
    /// √(π/2).
    const ROOT_HALF_PI: f64 = 1.253_314_137_315_500_3;
    // Beyond, the tails are below the rounding.
    if delta > 40.0 {
        return LOG_ROOT_TWO_PI;
    }
    let tails = (-0.5 * delta * delta).exp();
    let middle = ROOT_HALF_PI * delta * libm::erf(delta * std::f64::consts::FRAC_1_SQRT_2);
    (tails + middle).ln() + std::f64::consts::LN_2 - delta.ln()
}

impl Likelihood for HuberNoise {
    fn name(&self) -> &'static str {
        "robust-huber"
    }

    fn parameters(&self) -> usize {
        1
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn unit(&self, psi: &[f64]) -> f64 {
        exp_within(psi[0])
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let (inverse, delta) = (exp_within(-psi[0]), self.delta);
        let constant = psi[0] + self.log_integral;
        let mut by_scale = 0.0;
        let sum = block.sum(slopes, |s, y, weight| {
            let z = (s - y.response) * inverse;
            let slope = z.clamp(-delta, delta);
            by_scale += weight * (1.0 - z * slope);
            [slope * (z - 0.5 * slope) + constant, slope * inverse]
        });
        by_parameter[0] += by_scale;
        sum
    }
}

/// Student's t noise of scale σ with ν degrees of freedom, z = (s − y)/σ:
/// u = (ν + 1)/2 log(1 + z²/ν) + log σ + ½ log(πν) + log Γ(ν/2) − log Γ((ν + 1)/2).
///
/// ψ = (log σ, log ν), or log σ alone with [`StudentT::with_degrees`]. ν may be any positive
/// number; 1 is Cauchy noise. u is not convex in s.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StudentT {
    /// log ν, if it is fixed.
    log_degrees: Option<f64>,
}

impl StudentT {
    /// Unknown degrees of freedom: ψ = (log σ, log ν).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// `degrees` degrees of freedom: ψ = log σ.
    ///
    /// # Errors
    /// Unless it is positive and finite.
    pub fn with_degrees(degrees: f64) -> Result<Self, Error> {
        Ok(Self { log_degrees: Some(scale("degrees of freedom", degrees)?.ln()) })
    }
}

impl Likelihood for StudentT {
    fn name(&self) -> &'static str {
        "student-t"
    }

    fn parameters(&self) -> usize {
        if self.log_degrees.is_some() { 1 } else { 2 }
    }

    fn objection(&self, y: Observation) -> Option<Objection> {
        real(y)
    }

    fn unit(&self, psi: &[f64]) -> f64 {
        exp_within(psi[0])
    }

    fn evaluate(
        &self, psi: &[f64], block: Block<'_>, slopes: &mut [f64], by_parameter: &mut [f64],
    ) -> f64 {
        let log_degrees = self.log_degrees.unwrap_or_else(|| psi[1]);
        let law = AtDegrees::new(psi[0], log_degrees);
        let (mut by_scale, mut by_degrees) = (0.0, 0.0);
        let sum = block.sum(slopes, |s, y, weight| {
            let row = law.row(s - y.response);
            by_scale += weight * row.by_scale;
            by_degrees += weight * row.by_degrees;
            [row.value, row.slope]
        });
        by_parameter[0] += by_scale;
        if self.log_degrees.is_none() {
            by_parameter[1] += by_degrees;
        }
        sum
    }
}

/// The t law at given parameters.
struct AtDegrees {
    degrees: f64,
    /// log(σ √ν) and 1/(σ √ν).
    log_spread: f64,
    inverse: f64,
    /// The part of u, and of its derivative in log ν, that is the same for all rows.
    constant: f64,
    by_degrees: f64,
}

struct Row {
    value: f64,
    slope: f64,
    by_scale: f64,
    by_degrees: f64,
}

impl AtDegrees {
    fn new(log_scale: f64, log_degrees: f64) -> Self {
        let degrees = exp_within(log_degrees);
        // ½ log(πν) + log Γ(ν/2) − log Γ((ν + 1)/2), without its terms of the size of ν log ν.
        let [step, by_degrees] = half_step(0.5 * degrees);
        let log_spread = log_scale + 0.5 * log_degrees;
        Self {
            degrees,
            log_spread,
            inverse: exp_within(-log_scale) / degrees.sqrt(),
            constant: log_scale + LOG_ROOT_TWO_PI - step,
            by_degrees: -by_degrees,
        }
    }

    fn row(&self, residual: f64) -> Row {
        /// Beyond, z² may overflow.
        const FAR: f64 = 1e100;
        let (nu, e) = (self.degrees, residual * self.inverse);
        let square = e * e;
        let log = if e.abs() < FAR {
            square.ln_1p()
        } else {
            2.0 * (residual.abs().ln() - self.log_spread)
        };
        // The shares e²/(1 + e²) and 1/(1 + e²): of each derivative the form is taken in which the
        // smaller of them appears.
        let (steep, by_scale, share) = if e.abs() <= 1.0 {
            let share = square / (1.0 + square);
            (e / (1.0 + square), 1.0 - (nu + 1.0) * share, share)
        } else {
            let inverse = 1.0 / e;
            let rest = inverse * inverse / (1.0 + inverse * inverse);
            (inverse / (1.0 + inverse * inverse), (nu + 1.0) * rest - nu, 1.0 - rest)
        };
        Row {
            value: 0.5 * (nu + 1.0) * log + self.constant,
            slope: (nu + 1.0) * self.inverse * steep,
            by_scale,
            by_degrees: 0.5 * (nu * log_1p_minus_share(square, log) - share) + self.by_degrees,
        }
    }
}

//! Parameters of likelihoods as users read them, and as they are sampled.

use crate::density::Density;

/// How parameters that users read follow from the real numbers ψ that are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterScale {
    /// Positive numbers: e^ψ.
    Positive,
    /// Increasing numbers: the first is ψ₁, each further one e^ψ above the one before.
    Ordered,
}

impl ParameterScale {
    /// The parameters as users read them, in place of ψ.
    pub fn to_natural(self, parameters: &mut [f64]) {
        match self {
            Self::Positive => parameters.iter_mut().for_each(|x| *x = x.exp()),
            Self::Ordered => {
                for k in 1..parameters.len() {
                    parameters[k] = parameters[k - 1] + parameters[k].exp();
                }
            }
        }
    }

    /// The inverse of [`ParameterScale::to_natural`].
    pub fn to_unconstrained(self, parameters: &mut [f64]) {
        match self {
            Self::Positive => parameters.iter_mut().for_each(|x| *x = x.ln()),
            Self::Ordered => {
                for k in (1..parameters.len()).rev() {
                    parameters[k] = (parameters[k] - parameters[k - 1]).ln();
                }
            }
        }
    }

    /// Adds to a gradient in ψ that of −log prior density of ψ: of the density of the parameters,
    /// and of the change of variables. Returns the value, up to a constant.
    pub(crate) fn add_priors(self, priors: &[Density], psi: &[f64], by_psi: &mut [f64]) -> f64 {
        match self {
            Self::Positive => {
                let mut sum = 0.0;
                for ((prior, psi), by) in priors.iter().zip(psi).zip(by_psi) {
                    let x = psi.exp();
                    let [value, slope] = prior.value_and_slope(x);
                    sum += value - psi;
                    *by += slope * x - 1.0;
                }
                sum
            }
            // ∂x_j/∂ψ_k is the gap e^ψ_k for all j from k on, and 1 for the first: sums from the
            // last parameter down.
            Self::Ordered => {
                let mut x: f64 = psi.first().copied().unwrap_or(0.0);
                x += psi.iter().skip(1).map(|gap| gap.exp()).sum::<f64>();
                let (mut sum, mut above) = (0.0, 0.0);
                for (k, prior) in priors.iter().enumerate().rev() {
                    let [value, slope] = prior.value_and_slope(x);
                    sum += value;
                    above += slope;
                    if k == 0 {
                        by_psi[k] += above;
                    } else {
                        let gap = psi[k].exp();
                        by_psi[k] += above * gap - 1.0;
                        sum -= psi[k];
                        x -= gap;
                    }
                }
                sum
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_go_there_and_back() {
        for (scale, natural) in [
            (ParameterScale::Positive, [0.5, 2.0, 7.0]),
            (ParameterScale::Ordered, [-1.0, 0.5, 4.0]),
        ] {
            let mut parameters = natural;
            scale.to_unconstrained(&mut parameters);
            scale.to_natural(&mut parameters);
            for (found, natural) in parameters.iter().zip(natural) {
                assert!((found - natural).abs() < 1e-14, "{scale:?}: {parameters:?}");
            }
        }
    }

    /// The value is minus the log density of the parameters less the log of the determinant of the
    /// change of variables, here by differences; and the gradient is that of the value.
    #[test]
    fn priors_count_the_change_of_variables() {
        let densities = [
            Density::Gamma { shape: 2.0, rate: 0.5 },
            Density::Normal { mean: 0.3, scale: 1.5 },
            Density::Logistic { mean: 0.0, scale: 1.0 },
        ];
        let psi = [0.4, -0.3, 0.7];
        for scale in [ParameterScale::Positive, ParameterScale::Ordered] {
            let natural = |psi: [f64; 3]| {
                let mut parameters = psi;
                scale.to_natural(&mut parameters);
                parameters
            };
            let value = |psi: [f64; 3]| scale.add_priors(&densities, &psi, &mut [0.0; 3]);
            let h = 1e-5;
            let moved = |k: usize, by: f64| {
                let mut moved = psi;
                moved[k] += by;
                moved
            };
            let mut gradient = [0.0; 3];
            let found = scale.add_priors(&densities, &psi, &mut gradient);
            let mut log_determinant = 0.0;
            for k in 0..3 {
                let slope = (value(moved(k, h)) - value(moved(k, -h))) / (2.0 * h);
                assert!((slope - gradient[k]).abs() < 1e-8, "{scale:?}: {gradient:?}");
                // The matrix is triangular.
                let by = (natural(moved(k, h))[k] - natural(moved(k, -h))[k]) / (2.0 * h);
                log_determinant += by.ln();
            }
            let density: f64 =
                densities.iter().zip(natural(psi)).map(|(d, x)| d.value_and_slope(x)[0]).sum();
            assert!((found - (density - log_determinant)).abs() < 1e-9, "{scale:?}");
        }
    }
}

//! The closed forms exactly as printed in the paper's Appendix "Details of Algorithm 1".
//!
//! For comparison with the paper, and for tests. Not for use: at ξη = 1e-3 σ11 has three correct
//! digits, at 1e-4 none. The one misprint among them, the L in σ12, is kept too;
//! [`crate::Coefficients`] has the right formula.

use crate::parameters::Parameters;

/// μ12, μ13, μ22, μ23, μ31, μ32, μ33 as printed.
#[must_use]
pub fn mu(parameters: &Parameters) -> [f64; 7] {
    let (g, x, h) = (parameters.gamma(), parameters.xi(), parameters.eta());
    let e = (-x * h).exp();
    let (x2, x3) = (x * x, x * x * x);
    let (g2, g3) = (g * g, g * g * g);
    [
        (1.0 + g2 / x2) * h - g2 / (2.0 * x) * h * h - g2 / x3 * (1.0 - e),
        g / x * h + g / x2 * (e - 1.0),
        1.0 + g2 / x2 * (1.0 - x * h - e),
        g / x * (1.0 - e),
        g / x - g / x2 * (1.0 - e) / h,
        g3 / x2 * h + g3 / x2 * h * e - (2.0 * g3 / x3 + g / x) * (1.0 - e),
        e + g2 / x * h * e - g2 / x2 * (1.0 - e),
    ]
}

/// σ11, σ12, σ13, σ22, σ23, σ33 as printed. `smoothness` is the L misprinted in σ12.
#[must_use]
pub fn sigma(parameters: &Parameters, smoothness: f64) -> [f64; 6] {
    let (g, x, h) = (parameters.gamma(), parameters.xi(), parameters.eta());
    let e = (-x * h).exp();
    let e2 = (-2.0 * x * h).exp();
    let (x2, x3, x4) = (x * x, x * x * x, x * x * x * x);
    let (g2, g3, g4) = (g * g, g * g * g, g * g * g * g);
    let sigma11 = 2.0 * g2 / x3 * h - 2.0 * g2 / x2 * h * h + 2.0 * g2 / (3.0 * x) * h * h * h
        - 4.0 * g2 / x3 * h * e
        + g2 / x4 * (1.0 - e2);
    let sigma12 = g2 / (x3 * smoothness) * (x * h - (1.0 - e)).powi(2);
    let sigma22 = 2.0 * g2 / x * h - 4.0 * g2 / x2 * (1.0 - e) + g2 / x2 * (1.0 - e2);
    let sigma13 = -g3 / x2 * h * h * (2.0 * e + 1.0)
        + (2.0 * g3 / x3 - g3 / x3 * e2 - 4.0 * g3 / x3 * e - 2.0 * g / x * e) * h
        + (3.0 * g3 / (2.0 * x4) + g / x2) * (1.0 - e2);
    let sigma23 = g3 / x2 * (e2 - 2.0 * e - 2.0) * h
        + 3.0 * g3 / (2.0 * x3) * (e2 - 4.0 * e + 3.0)
        + g / x * (1.0 - e).powi(2);
    let sigma33 = -g4 / x2 * h * h * e2
        + (-2.0 * g2 / x * e2 + g4 / x3 * (-3.0 * e2 + 4.0 * e + 2.0)) * h
        + g4 / (2.0 * x4) * (-5.0 * e2 + 16.0 * e - 11.0)
        + g2 / x2 * (-3.0 * e2 + 4.0 * e - 1.0)
        + (1.0 - e2);
    [sigma11, sigma12, sigma13, sigma22, sigma23, sigma33]
}

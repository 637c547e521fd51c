//! The seven μ, the six σ and the noise factor of one step, put together from functions of z = ξη
//! and g = γη.

use crate::error::{Error, positive};
use crate::factor::scaled_factor;
use crate::functions::Functions;
use crate::parameters::Parameters;

/// Everything Algorithm 1 needs besides ΔU: means μ, covariance σ (before the division by L), and
/// the Cholesky factor of σ/L. Names are those of the paper's Appendix "Details of Algorithm 1".
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Coefficients {
    parameters: Parameters,
    smoothness: f64,
    /// μ12, μ13, μ22, μ23, μ31, μ32, μ33.
    mu: [f64; 7],
    /// σ11, σ12, σ13, σ22, σ23, σ33.
    sigma: [f64; 6],
    /// L11, L21, L22, L31, L32, L33.
    cholesky: [f64; 6],
}

impl Coefficients {
    /// Computes the coefficients for one step at smoothness L.
    ///
    /// Relative errors are below 2e-15 in the μ and σ and below 5e-14 in the factor (1e-14 unless
    /// γη is far above ξη), for every ξη. μ12, μ22, μ32, μ33, σ13, σ23, L31 and L32 are differences
    /// of two terms and pass through zero as γη grows. Near such a zero the error is relative to
    /// the larger term, and below 1e-15 of it in the μ.
    ///
    /// # Errors
    /// [`Error::NotPositive`] for an invalid L; [`Error::OutOfRange`] if a coefficient over- or
    /// underflows (σ11 is of order η⁵, so it underflows for η below about 1e-61).
    pub fn new(parameters: Parameters, smoothness: f64) -> Result<Self, Error> {
        positive("smoothness", smoothness)?;
        let (gamma, xi, eta) = (parameters.gamma(), parameters.xi(), parameters.eta());
        let z = xi * eta;
        let g = gamma * eta;
        // The rounding errors of z and g. They are corrected for where they would dominate: in e^-z
        // (relative error z times that of z) and in g², which enters differences that vanish.
        let z_lost = xi.mul_add(eta, -z);
        let g_lost = gamma.mul_add(eta, -g);
        let g2 = g.mul_add(g, 2.0 * g * g_lost);
        let f = Functions::at(z);
        let decay = (-z).exp() * (1.0 - z_lost);

        let mu = [
            eta * (1.0 - g2 * f.phi3),
            g * eta * f.phi2,
            1.0 - g2 * f.phi2,
            g * f.phi1,
            g * f.phi2,
            -g * (f.phi1 - g2 * f.a),
            decay - g2 * f.b,
        ];
        let two_z = 2.0 * z;
        let sigma = [
            two_z * g2 * eta * eta * f.g11,
            two_z * g2 * eta * f.g12,
            two_z * g * eta * (f.g13 - g2 * f.b13),
            two_z * g2 * f.g22,
            two_z * g * (f.g23 - g2 * f.b23),
            two_z * (f.g33 - 2.0 * g2 * f.b33 + g2 * g2 * f.bb),
        ];
        let row3 = (two_z / smoothness).sqrt();
        let row2 = row3 * g;
        let row1 = row2 * eta;
        let [l11, l21, l22, l31, l32, l33] = scaled_factor(&f, g2);
        let cholesky = [row1 * l11, row2 * l21, row2 * l22, row3 * l31, row3 * l32, row3 * l33];

        let coefficients = Self { parameters, smoothness, mu, sigma, cholesky };
        coefficients.check_range()?;
        Ok(coefficients)
    }

    /// Positive quantities must be normal numbers, the others finite: a variance that came out zero
    /// or subnormal is wrong.
    fn check_range(&self) -> Result<(), Error> {
        let [mu12, mu13, mu22, mu23, mu31, mu32, mu33] = self.mu;
        let [sigma11, sigma12, sigma13, sigma22, sigma23, sigma33] = self.sigma;
        let [l11, l21, l22, l31, l32, l33] = self.cholesky;
        let positive = [
            ("mu13", mu13),
            ("mu23", mu23),
            ("mu31", mu31),
            ("sigma11", sigma11),
            ("sigma12", sigma12),
            ("sigma22", sigma22),
            ("sigma33", sigma33),
            ("sigma11 / L", sigma11 / self.smoothness),
            ("sigma33 / L", sigma33 / self.smoothness),
            ("chol11", l11),
            ("chol21", l21),
            ("chol22", l22),
            ("chol33", l33),
        ];
        let signed = [
            ("mu12", mu12),
            ("mu22", mu22),
            ("mu32", mu32),
            ("mu33", mu33),
            ("sigma13", sigma13),
            ("sigma23", sigma23),
            ("chol31", l31),
            ("chol32", l32),
        ];
        let bad = positive.into_iter().find(|(_, value)| !(value.is_normal() && *value > 0.0));
        let bad = bad.or_else(|| signed.into_iter().find(|(_, value)| !value.is_finite()));
        match bad {
            None => Ok(()),
            Some((quantity, value)) => Err(Error::OutOfRange {
                quantity,
                value,
                gamma: self.parameters.gamma(),
                xi: self.parameters.xi(),
                eta: self.parameters.eta(),
                smoothness: self.smoothness,
            }),
        }
    }

    /// The parameters γ, ξ and η.
    #[must_use]
    pub fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// The smoothness L.
    #[must_use]
    pub fn smoothness(&self) -> f64 {
        self.smoothness
    }

    /// The Cholesky factor (L11, L21, L22, L31, L32, L33) of the noise covariance σ/L, rows θ, p,
    /// r.
    #[must_use]
    pub fn cholesky(&self) -> [f64; 6] {
        self.cholesky
    }

    /// The noise covariance σ/L of (θ, p, r), for one coordinate.
    #[must_use]
    pub fn covariance(&self) -> [[f64; 3]; 3] {
        let [s11, s12, s13, s22, s23, s33] = self.sigma.map(|s| s / self.smoothness);
        [[s11, s12, s13], [s12, s22, s23], [s13, s23, s33]]
    }

    /// Every coefficient with its name: the μ, the σ, then the entries of the factor.
    #[must_use]
    pub fn named(&self) -> [(&'static str, f64); 19] {
        const NAMES: [&str; 19] = [
            "mu12", "mu13", "mu22", "mu23", "mu31", "mu32", "mu33", "sigma11", "sigma12",
            "sigma13", "sigma22", "sigma23", "sigma33", "chol11", "chol21", "chol22", "chol31",
            "chol32", "chol33",
        ];
        let mut values = self.mu.iter().chain(&self.sigma).chain(&self.cholesky).copied();
        NAMES.map(|name| (name, values.next().unwrap_or(f64::NAN)))
    }

    /// μ12 = η (1 − γ²η² φ3): p into θ.
    #[must_use]
    pub fn mu12(&self) -> f64 {
        self.mu[0]
    }

    /// μ13 = γη² φ2: r into θ.
    #[must_use]
    pub fn mu13(&self) -> f64 {
        self.mu[1]
    }

    /// μ22 = 1 − γ²η² φ2: p into p.
    #[must_use]
    pub fn mu22(&self) -> f64 {
        self.mu[2]
    }

    /// μ23 = γη φ1: r into p.
    #[must_use]
    pub fn mu23(&self) -> f64 {
        self.mu[3]
    }

    /// μ31 = γη φ2: ΔU into r.
    #[must_use]
    pub fn mu31(&self) -> f64 {
        self.mu[4]
    }

    /// μ32 = −γη (φ1 − γ²η² a), a = −φ2′: p into r.
    #[must_use]
    pub fn mu32(&self) -> f64 {
        self.mu[5]
    }

    /// μ33 = e^−ξη − γ²η² b, b = −φ1′: r into r.
    #[must_use]
    pub fn mu33(&self) -> f64 {
        self.mu[6]
    }

    /// σ11 = 2 ∫ (ξ γ² η⁵) f1² ds: noise variance of θ, times L.
    #[must_use]
    pub fn sigma11(&self) -> f64 {
        self.sigma[0]
    }

    /// σ12 = ξ γ² η⁴ φ2²: noise covariance of θ and p, times L.
    #[must_use]
    pub fn sigma12(&self) -> f64 {
        self.sigma[1]
    }

    /// σ13: noise covariance of θ and r, times L.
    #[must_use]
    pub fn sigma13(&self) -> f64 {
        self.sigma[2]
    }

    /// σ22: noise variance of p, times L.
    #[must_use]
    pub fn sigma22(&self) -> f64 {
        self.sigma[3]
    }

    /// σ23: noise covariance of p and r, times L.
    #[must_use]
    pub fn sigma23(&self) -> f64 {
        self.sigma[4]
    }

    /// σ33: noise variance of r, times L.
    #[must_use]
    pub fn sigma33(&self) -> f64 {
        self.sigma[5]
    }
}

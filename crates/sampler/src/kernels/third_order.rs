//! The paper's Algorithm 1.

use ridgewalk_coefficients::{Coefficients, Parameters};
use ridgewalk_lyapunov::laws::Scheme;
use ridgewalk_potentials::LineIntegral;

use super::{BuiltIn, With, built_in, each_chain, parameters};
use crate::batch::Batch;
use crate::coupled::Paths;
use crate::coupling::Coupling;
use crate::error::Error;

/// Algorithm 1 of Mou, Ma, Wainwright, Bartlett and Jordan (JMLR 2021): with ΔU = (1/L) ∫₀^η ∇U(θ +
/// t p) dt,
///
/// ```text
/// θ' = θ − (η/2) ΔU + μ12 p + μ13 r + noise
/// p' =   −  ΔU      + μ22 p + μ23 r + noise
/// r' =     μ31 ΔU   + μ32 p + μ33 r + noise
/// ```
///
/// The line integral is exact where the potential's is, and by quadrature where that is.
#[derive(Debug, Clone)]
pub struct ThirdOrder {
    coefficients: Coefficients,
    smoothness: f64,
    scheme: Scheme,
}

impl ThirdOrder {
    /// The kernel with these γ, ξ and η at smoothness L.
    ///
    /// # Errors
    /// For a bad L, and where a coefficient leaves the range of numbers.
    pub fn new(parameters: Parameters, smoothness: f64) -> Result<Self, Error> {
        let scheme = Scheme::third_order(parameters.gamma(), parameters.xi(), parameters.eta())?;
        Ok(Self { coefficients: Coefficients::new(parameters, smoothness)?, smoothness, scheme })
    }

    pub(super) const BUILT_IN: BuiltIn = BuiltIn::new(|scheme, smoothness| {
        Ok(Box::new(Self::new(parameters(scheme)?, smoothness)?))
    });

    fn advance(&self, with: With<'_>, from: &Batch, to: &mut Batch) -> Result<u64, Error> {
        let With { potential, noise, room } = with;
        let (c, eta) = (&self.coefficients, self.coefficients.parameters().eta());
        potential.integrate(eta, &from.theta, &from.p, room.first, room.scratch)?;

        let per_l = 1.0 / self.smoothness;
        let half_eta = 0.5 * eta;
        let (mu12, mu13, mu22, mu23) = (c.mu12(), c.mu13(), c.mu22(), c.mu23());
        let (mu31, mu32, mu33) = (c.mu31(), c.mu32(), c.mu33());
        let [l11, l21, l22, l31, l32, l33] = c.cholesky();
        let d = from.dimension();
        let fields = to.fields_mut();
        each_chain!(from, noise, |_chain, [n1, n2, n3]|,
            read { theta: from.theta, p: from.p, r: from.r, integral: room.first },
            write { new_theta: fields.theta, new_p: fields.p, new_r: fields.r },
            {
                for k in 0..d {
                    let delta_u = per_l * integral[k];
                    new_theta[k] =
                        theta[k] - half_eta * delta_u + mu12 * p[k] + mu13 * r[k] + l11 * n1[k];
                    new_p[k] = -delta_u + mu22 * p[k] + mu23 * r[k] + l21 * n1[k] + l22 * n2[k];
                    new_r[k] = mu31 * delta_u
                        + mu32 * p[k]
                        + mu33 * r[k]
                        + l31 * n1[k]
                        + l32 * n2[k]
                        + l33 * n3[k];
                }
            }
        );
        Ok(potential.gradients_per_integral())
    }
}

built_in!(ThirdOrder {
    normals: 3,
    gradients: |potential| potential.gradients_per_integral(),
    paths: |short| Ok(Paths::in_step(Coupling::third_order(parameters(short)?)?)),
});

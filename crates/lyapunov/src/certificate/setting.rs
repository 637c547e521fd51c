//! What a certificate is about: which process, at which condition number, with which γ and ξ.

use ridgewalk_coefficients::Parameters;
use ridgewalk_quadrature::LineRule;

use crate::error::{Error, condition_number};

/// The process whose contraction is certified.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Process {
    /// The third-order dynamics in continuous time.
    Diffusion,
    /// Algorithm 1 with steps of length `eta`: with exact line integrals, or with `nodes` Chebyshev
    /// nodes.
    ThirdOrder {
        /// The step size η.
        eta: f64,
        /// The number of nodes, if the line integral is by quadrature.
        nodes: Option<usize>,
    },
    /// The symmetric splitting of the same dynamics, with steps of length `eta`, seen after each
    /// whole kick: half drift, Ornstein-Uhlenbeck step, half drift, whole kick. The half kicks at
    /// the end of one step and at the start of the next are at the same θ and together make that
    /// whole kick, so this chain has the same θ as the one that is seen between the half kicks; (θ,
    /// p, r) seen there need not come closer in every single step.
    Symmetric {
        /// The step size η.
        eta: f64,
    },
}

impl Process {
    /// The step size; `None` for the diffusion.
    #[must_use]
    pub fn eta(&self) -> Option<f64> {
        match *self {
            Self::Diffusion => None,
            Self::ThirdOrder { eta, .. } | Self::Symmetric { eta } => Some(eta),
        }
    }
}

/// A process with its parameters, for all potentials with m-strong convexity and L-smoothness, L/m
/// = κ, in every dimension. Units are those in which L = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    kappa: f64,
    gamma: f64,
    xi: f64,
    process: Process,
}

impl Setting {
    /// Checks κ >= 1, that γ, ξ and η are positive, and the number of nodes.
    ///
    /// # Errors
    /// Names the argument, its value and what is needed.
    pub fn new(kappa: f64, gamma: f64, xi: f64, process: Process) -> Result<Self, Error> {
        condition_number(kappa)?;
        let eta = process.eta().unwrap_or(1.0);
        Parameters::new(gamma, xi, eta)?;
        if let Process::ThirdOrder { nodes: Some(nodes), .. } = process {
            LineRule::new(nodes, eta)?;
        }
        Ok(Self { kappa, gamma, xi, process })
    }

    /// The condition number κ.
    #[must_use]
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// γ.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        self.gamma
    }

    /// ξ.
    #[must_use]
    pub fn xi(&self) -> f64 {
        self.xi
    }

    /// The process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.process
    }
}

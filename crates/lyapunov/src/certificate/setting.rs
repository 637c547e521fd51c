//! The subject of a certificate: a process, a condition number, γ and ξ.

use ridgewalk_coefficients::Parameters;
use ridgewalk_quadrature::LineRule;

use crate::error::{Error, condition_number};

/// The process whose contraction is certified.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Process {
    /// The third-order dynamics in continuous time.
    Diffusion,
    /// Algorithm 1 with steps of length `eta`, and with exact line integrals or `nodes` Chebyshev
    /// nodes.
    ThirdOrder {
        /// The step size η.
        eta: f64,
        /// The number of nodes; `None` for exact line integrals.
        nodes: Option<usize>,
    },
    /// The symmetric splitting of the same dynamics with steps of length `eta`, observed after each
    /// full kick: half drift, Ornstein-Uhlenbeck step, half drift, full kick. The half kicks at the
    /// end of one step and at the start of the next are at the same θ and together make a full
    /// kick, so this chain has the same θ as the one observed between the half kicks. There, (θ, p,
    /// r) need not come closer in every single step.
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

/// A process with its parameters, for all m-strongly convex, L-smooth potentials with L/m = κ, in
/// every dimension. Units are such that L = 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Setting {
    kappa: f64,
    /// γ, ξ and η; η is 1 for the diffusion.
    parameters: Parameters,
    process: Process,
}

impl Setting {
    /// Checks that κ >= 1, that γ, ξ and η are positive, and the number of nodes.
    ///
    /// # Errors
    /// [`Error`] with name and value of an invalid argument.
    pub fn new(kappa: f64, gamma: f64, xi: f64, process: Process) -> Result<Self, Error> {
        condition_number(kappa)?;
        let eta = process.eta().unwrap_or(1.0);
        let parameters = Parameters::new(gamma, xi, eta)?;
        if let Process::ThirdOrder { nodes: Some(nodes), .. } = process {
            LineRule::new(nodes, eta)?;
        }
        Ok(Self { kappa, parameters, process })
    }

    /// The condition number κ.
    #[must_use]
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// γ.
    #[must_use]
    pub fn gamma(&self) -> f64 {
        self.parameters.gamma()
    }

    /// ξ.
    #[must_use]
    pub fn xi(&self) -> f64 {
        self.parameters.xi()
    }

    /// γ, ξ and η; η is 1 for the diffusion.
    pub(super) fn parameters(&self) -> Parameters {
        self.parameters
    }

    /// The process.
    #[must_use]
    pub fn process(&self) -> Process {
        self.process
    }
}

//! Certificates and plans as documents: the same for the program and for Python.

use std::fmt;
use std::str::FromStr;

use ridgewalk_lyapunov::certificate::{Certification, Process, Verdict, certify};
use ridgewalk_lyapunov::planner::{DerivativeBound, IntegralRule, Plan, Problem, plan};
use serde::Serialize;

/// An argument that cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TheoryError {
    /// Arguments that do not go together.
    #[error("{0}")]
    Usage(String),
    /// A number outside its range.
    #[error(transparent)]
    Lyapunov(#[from] ridgewalk_lyapunov::Error),
}

/// A kernel that has certificates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteppedKernel {
    /// The paper's Algorithm 1.
    ThirdOrder,
    /// The symmetric splitting of the same dynamics.
    Symmetric,
}

impl SteppedKernel {
    /// Both kernels.
    pub const ALL: [Self; 2] = [Self::ThirdOrder, Self::Symmetric];

    /// Its name on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::ThirdOrder => "third-order",
            Self::Symmetric => "symmetric",
        }
    }
}

impl fmt::Display for SteppedKernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for SteppedKernel {
    type Err = TheoryError;

    fn from_str(name: &str) -> Result<Self, TheoryError> {
        let found = Self::ALL.into_iter().find(|kernel| kernel.name() == name);
        let need = || format!("found the kernel `{name}`, need third-order or symmetric");
        found.ok_or_else(|| TheoryError::Usage(need()))
    }
}

/// What to certify.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CertifyRequest {
    /// The condition number L/m.
    pub kappa: f64,
    /// The coupling γ; `None` for the best found.
    pub gamma: Option<f64>,
    /// The friction ξ; `None` for the best found.
    pub xi: Option<f64>,
    /// The step; `None` for the diffusion.
    pub eta: Option<f64>,
    /// Nodes of the line integral; `None` for exact integrals.
    pub nodes: Option<usize>,
    /// The algorithm; `None` for the paper's.
    pub kernel: Option<SteppedKernel>,
}

impl CertifyRequest {
    /// The process that the request is about.
    ///
    /// # Errors
    /// Arguments that do not go together.
    pub fn process(&self) -> Result<Process, TheoryError> {
        let usage = |text: String| Err(TheoryError::Usage(text));
        let Some(eta) = self.eta else {
            return match (self.nodes, self.kernel) {
                (None, None) => Ok(Process::Diffusion),
                (Some(nodes), _) => {
                    usage(format!("--nodes {nodes} is about the algorithm: need --eta too"))
                }
                (_, Some(kernel)) => {
                    usage(format!("--kernel {kernel} is about the algorithm: need --eta too"))
                }
            };
        };
        match (self.kernel.unwrap_or(SteppedKernel::ThirdOrder), self.nodes) {
            (SteppedKernel::ThirdOrder, nodes) => Ok(Process::ThirdOrder { eta, nodes }),
            (SteppedKernel::Symmetric, None) => Ok(Process::Symmetric { eta }),
            (SteppedKernel::Symmetric, Some(nodes)) => usage(format!(
                "--nodes {nodes}: the symmetric kernel has no line integral, need --kernel third-order"
            )),
        }
    }

    /// Searches for a certificate.
    ///
    /// # Errors
    /// Arguments that do not go together, or are outside their range.
    pub fn answer(&self) -> Result<CertificateDocument, TheoryError> {
        let process = self.process()?;
        let outcome = certify(self.kappa, process, self.gamma, self.xi)?;
        Ok(CertificateDocument::new(self.kappa, process, &outcome))
    }
}

/// The JSON document of `ridgewalk certify`; its keys are a promise to scripts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CertificateDocument {
    /// `certified`, `refuted` or `unknown`.
    pub status: &'static str,
    /// The condition number.
    pub kappa: f64,
    /// γ.
    pub gamma: f64,
    /// ξ.
    pub xi: f64,
    /// The step; `None` for the diffusion.
    pub eta: Option<f64>,
    /// Two copies of the diffusion approach each other like exp(−rate t).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<f64>,
    /// One step brings two copies closer by this factor.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub factor: Option<f64>,
    /// The quadratic form in whose norm they do.
    #[serde(rename = "S")]
    pub s: Option<[[f64; 3]; 3]>,
    /// The multiplier of the certificate.
    pub tau: Option<f64>,
    /// By how much the inequality holds.
    pub margin: Option<f64>,
    /// Where the step expands, if it was refuted.
    pub witness: Option<WitnessDocument>,
}

/// A quadratic potential on which a step expands.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WitnessDocument {
    /// The eigenvalue of H/L.
    pub eigenvalue: f64,
    /// The spectral radius of the step there.
    pub spectral_radius: f64,
}

impl CertificateDocument {
    fn new(kappa: f64, process: Process, outcome: &Certification) -> Self {
        let (status, certificate, witness) = match outcome.status {
            Verdict::Certified(certificate) => ("certified", Some(certificate), None),
            Verdict::Refuted(witness) => ("refuted", None, Some(witness)),
            Verdict::Unknown => ("unknown", None, None),
        };
        let eta = process.eta();
        let speed = certificate.map(|c| c.speed());
        let stepped = matches!(process, Process::ThirdOrder { .. });
        Self {
            status,
            kappa,
            gamma: outcome.gamma,
            xi: outcome.xi,
            eta,
            rate: speed.filter(|_| eta.is_none()),
            factor: speed.filter(|_| eta.is_some()),
            s: certificate.map(|c| c.s()),
            tau: certificate.map(|c| c.tau()).filter(|_| stepped),
            margin: certificate.map(|c| c.margin()),
            witness: witness.map(|w| WitnessDocument {
                eigenvalue: w.curvature,
                spectral_radius: w.spectral_radius,
            }),
        }
    }

    /// Whether there is a certificate.
    #[must_use]
    pub fn certified(&self) -> bool {
        self.status == CERTIFIED
    }
}

const CERTIFIED: &str = "certified";

/// What to plan.
#[derive(Debug, Clone, PartialEq)]
pub struct PlanRequest {
    /// The strong convexity m.
    pub convexity: f64,
    /// The smoothness L.
    pub smoothness: f64,
    /// The dimension d.
    pub dimension: u64,
    /// The distance W2 to be guaranteed.
    pub accuracy: f64,
    /// Nodes of the line integral; `None` for exact integrals, or as many as `higher_smoothness`
    /// can use.
    pub nodes: Option<usize>,
    /// The Lipschitz constant of the Hessian.
    pub lipschitz_hessian: Option<f64>,
    /// Pairs of α and L_α: the α-th derivative is at most L_α^(α − 1) in tensor norm.
    pub higher_smoothness: Vec<(u32, f64)>,
    /// The start is within this distance of the minimiser.
    pub start_distance: f64,
    /// Whether p = r = 0 at the start.
    pub start_at_rest: bool,
}

impl PlanRequest {
    /// The number of nodes: as given, or α − 1 for the largest α, as in the proof of Theorem 2;
    /// none for exact integrals.
    ///
    /// # Errors
    /// A Lipschitz constant without nodes.
    pub fn nodes(&self) -> Result<Option<usize>, TheoryError> {
        let largest = self.higher_smoothness.iter().map(|(alpha, _)| *alpha).max();
        match (self.nodes, largest, self.lipschitz_hessian) {
            (Some(nodes), ..) => Ok(Some(nodes)),
            (None, Some(alpha), _) => Ok(Some(alpha.saturating_sub(1) as usize)),
            (None, None, None) => Ok(None),
            (None, None, Some(constant)) => Err(TheoryError::Usage(format!(
                "--lipschitz-hessian {constant} is about quadrature rules: need --nodes too"
            ))),
        }
    }

    fn derivatives(&self) -> Result<Vec<DerivativeBound>, TheoryError> {
        let hessian = self.lipschitz_hessian.map(DerivativeBound::lipschitz_hessian);
        let higher = self.higher_smoothness.iter();
        let higher = higher.map(|&(alpha, constant)| DerivativeBound::new(alpha, constant));
        Ok(hessian.into_iter().chain(higher).collect::<Result<_, _>>()?)
    }

    /// Searches for a plan.
    ///
    /// # Errors
    /// Arguments that do not go together, or are outside their range.
    pub fn answer(&self) -> Result<PlanDocument, TheoryError> {
        let nodes = self.nodes()?;
        let line_integral = match nodes {
            None => IntegralRule::Exact,
            Some(nodes) => IntegralRule::Nodes { nodes, derivatives: self.derivatives()? },
        };
        let (m, l, d) = (self.convexity, self.smoothness, self.dimension);
        let problem = Problem::new(m, l, d, self.accuracy, line_integral)?
            .with_start_distance(self.start_distance)?;
        let problem = if self.start_at_rest { problem.started_at_rest() } else { problem };
        Ok(PlanDocument::new(self, nodes, plan(&problem)?.as_ref()))
    }
}

/// The JSON document of `ridgewalk plan`; its keys are a promise to scripts.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[expect(missing_docs, reason = "the names are those of the request and of the plan")]
pub struct PlanDocument {
    /// `certified` or `unknown`.
    pub status: &'static str,
    pub convexity: f64,
    pub smoothness: f64,
    pub dimension: u64,
    pub accuracy: f64,
    /// `None` for exact line integrals.
    pub nodes: Option<usize>,
    pub lipschitz_hessian: Option<f64>,
    pub higher_smoothness: Vec<(u32, f64)>,
    pub start_distance: f64,
    pub start_at_rest: bool,
    pub gamma: Option<f64>,
    pub xi: Option<f64>,
    pub eta: Option<f64>,
    pub steps: Option<u64>,
    pub gradients: Option<u64>,
    /// The distance that is guaranteed, at most the accuracy.
    pub bound: Option<f64>,
    /// The contraction of one step, in the norm of S.
    pub factor: Option<f64>,
    #[serde(rename = "S")]
    pub s: Option<[[f64; 3]; 3]>,
    pub tau: Option<f64>,
}

impl PlanDocument {
    fn new(request: &PlanRequest, nodes: Option<usize>, plan: Option<&Plan>) -> Self {
        Self {
            status: if plan.is_some() { CERTIFIED } else { "unknown" },
            convexity: request.convexity,
            smoothness: request.smoothness,
            dimension: request.dimension,
            accuracy: request.accuracy,
            nodes,
            lipschitz_hessian: request.lipschitz_hessian,
            higher_smoothness: request.higher_smoothness.clone(),
            start_distance: request.start_distance,
            start_at_rest: request.start_at_rest,
            gamma: plan.map(Plan::gamma),
            xi: plan.map(Plan::xi),
            eta: plan.map(Plan::eta),
            steps: plan.map(Plan::steps),
            gradients: plan.map(Plan::gradients),
            bound: plan.map(Plan::bound),
            factor: plan.map(|p| p.certificate().speed()),
            s: plan.map(|p| p.certificate().s()),
            tau: plan.map(|p| p.certificate().tau()),
        }
    }

    /// Whether there is a plan.
    #[must_use]
    pub fn certified(&self) -> bool {
        self.status == CERTIFIED
    }
}

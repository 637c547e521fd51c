//! `ridgewalk certify`: a contraction certificate for the diffusion or for an algorithm, or why
//! there is none.

use ridgewalk::lyapunov::certificate::{Certification, Process, Verdict, certify};
use serde::Serialize;

use crate::arguments::{CertifyOptions, SteppedKernel};
use crate::failure::Failure;
use crate::output;

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    status: &'static str,
    kappa: f64,
    gamma: f64,
    xi: f64,
    eta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    factor: Option<f64>,
    #[serde(rename = "S")]
    s: Option<[[f64; 3]; 3]>,
    tau: Option<f64>,
    margin: Option<f64>,
    witness: Option<WitnessDocument>,
}

#[derive(Debug, Serialize)]
struct WitnessDocument {
    eigenvalue: f64,
    spectral_radius: f64,
}

/// Runs the subcommand.
pub(crate) fn run(options: &CertifyOptions) -> Result<(), Failure> {
    let process = process(options)?;
    let outcome = certify(options.kappa, process, options.gamma, options.xi)?;
    let document = document(options.kappa, process, &outcome);
    if options.json {
        output::json(&document)?;
    } else {
        output::text(&text(&document, process))?;
    }
    match outcome.status {
        Verdict::Certified(_) => Ok(()),
        Verdict::Refuted(_) | Verdict::Unknown => Err(Failure::NotCertified),
    }
}

fn process(options: &CertifyOptions) -> Result<Process, Failure> {
    let Some(eta) = options.eta else {
        return match (options.nodes, options.kernel) {
            (None, None) => Ok(Process::Diffusion),
            (Some(nodes), _) => Err(Failure::Usage(format!(
                "--nodes {nodes} is about the algorithm: need --eta too"
            ))),
            (_, Some(kernel)) => Err(Failure::Usage(format!(
                "--kernel {kernel} is about the algorithm: need --eta too"
            ))),
        };
    };
    match (options.kernel.unwrap_or(SteppedKernel::ThirdOrder), options.nodes) {
        (SteppedKernel::ThirdOrder, nodes) => Ok(Process::ThirdOrder { eta, nodes }),
        (SteppedKernel::Symmetric, None) => Ok(Process::Symmetric { eta }),
        (SteppedKernel::Symmetric, Some(nodes)) => Err(Failure::Usage(format!(
            "--nodes {nodes}: the symmetric kernel has no line integral, need --kernel third-order"
        ))),
    }
}

fn document(kappa: f64, process: Process, outcome: &Certification) -> Document {
    let certificate = match outcome.status {
        Verdict::Certified(certificate) => Some(certificate),
        Verdict::Refuted(_) | Verdict::Unknown => None,
    };
    let eta = process.eta();
    let speed = certificate.map(|c| c.speed());
    Document {
        status: match outcome.status {
            Verdict::Certified(_) => "certified",
            Verdict::Refuted(_) => "refuted",
            Verdict::Unknown => "unknown",
        },
        kappa,
        gamma: outcome.gamma,
        xi: outcome.xi,
        eta,
        rate: speed.filter(|_| eta.is_none()),
        factor: speed.filter(|_| eta.is_some()),
        s: certificate.map(|c| c.s()),
        tau: certificate.map(|c| c.tau()).filter(|_| matches!(process, Process::ThirdOrder { .. })),
        margin: certificate.map(|c| c.margin()),
        witness: match outcome.status {
            Verdict::Refuted(w) => Some(WitnessDocument {
                eigenvalue: w.curvature,
                spectral_radius: w.spectral_radius,
            }),
            Verdict::Certified(_) | Verdict::Unknown => None,
        },
    }
}

fn text(d: &Document, process: Process) -> String {
    let what = match process {
        Process::Diffusion => "the third-order diffusion".to_owned(),
        Process::ThirdOrder { eta, nodes: None } => {
            format!("Algorithm 1 with exact line integrals, eta = {eta}")
        }
        Process::ThirdOrder { eta, nodes: Some(n) } => {
            format!("Algorithm 1 with {n} Chebyshev nodes, eta = {eta}")
        }
        Process::Symmetric { eta } => {
            format!("the symmetric splitting observed after each full kick, eta = {eta}")
        }
    };
    let heading = format!(
        "{}: {what}, kappa = {}, gamma = {:.6}, xi = {:.6}",
        d.status, d.kappa, d.gamma, d.xi
    );
    let body = match (d.s, &d.witness) {
        (Some(s), _) => {
            let promise = match (d.rate, d.factor, d.eta) {
                (Some(rate), ..) => {
                    format!("Any two copies approach each other like exp(-{rate:.6e} t) in the norm of S.")
                }
                (_, Some(factor), Some(eta)) => format!(
                    "Each step brings any two copies closer by the factor {factor:.12} in the norm of S\n\
                     (gap {:.6e}; rate {:.6e} per unit of time).",
                    1.0 - factor,
                    -factor.ln() / eta
                ),
                _ => String::new(),
            };
            let rows = ["theta", "p", "r"].into_iter().zip(s).map(|(name, row)| {
                std::iter::once(name.to_owned()).chain(row.map(|x| format!("{x:.12e}"))).collect()
            });
            let table = output::table(["S", "theta", "p", "r"], rows);
            let tau = d.tau.map_or_else(String::new, |tau| format!("tau = {tau:.12e}\n"));
            let margin = d.margin.unwrap_or_default();
            format!(
                "{promise}\nHolds for every potential of this condition number, in every dimension; checked in exact arithmetic.\n\n{table}\n{tau}margin {margin:.3e}"
            )
        }
        (None, Some(w)) => format!(
            "At Hessian eigenvalue {} (of H/L) the step has spectral radius {:.9}: copies move apart.\nUse a smaller --eta.",
            w.eigenvalue, w.spectral_radius
        ),
        (None, None) => {
            "No quadratic form was found, and no eigenvalue at which the step expands: nothing is claimed.\n\
             A smaller --eta, or leaving out --gamma and --xi, may help."
                .to_owned()
        }
    };
    format!("{heading}\n{body}")
}

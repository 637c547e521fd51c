//! `ridgewalk certify`: a contraction certificate for the diffusion or for an algorithm, or why
//! there is none.

use ridgewalk::lyapunov::certificate::Process;
use ridgewalk::theory::{CertificateDocument, CertifyRequest};

use crate::arguments::CertifyOptions;
use crate::failure::Failure;
use crate::output;

/// Runs the subcommand.
pub(crate) fn run(options: &CertifyOptions) -> Result<(), Failure> {
    let &CertifyOptions { kappa, gamma, xi, eta, nodes, kernel, json } = options;
    let request = CertifyRequest { kappa, gamma, xi, eta, nodes, kernel };
    let document = request.answer()?;
    if json {
        output::json(&document)?;
    } else {
        output::text(&text(&document, request.process()?))?;
    }
    if document.certified() { Ok(()) } else { Err(Failure::NotCertified) }
}

fn text(d: &CertificateDocument, process: Process) -> String {
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

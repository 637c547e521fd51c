//! `ridgewalk plan`: parameters and a number of steps that guarantee an accuracy.

use ridgewalk::lyapunov::planner::{IntegralRule, Plan, Problem, plan};
use serde::Serialize;

use crate::arguments::PlanOptions;
use crate::failure::Failure;
use crate::output;

/// The JSON document; its keys are a promise to scripts.
#[derive(Debug, Serialize)]
struct Document {
    status: &'static str,
    convexity: f64,
    smoothness: f64,
    dimension: u64,
    accuracy: f64,
    gamma: Option<f64>,
    xi: Option<f64>,
    eta: Option<f64>,
    steps: Option<u64>,
    gradients: Option<u64>,
    bound: Option<f64>,
    factor: Option<f64>,
    #[serde(rename = "S")]
    s: Option<[[f64; 3]; 3]>,
    tau: Option<f64>,
}

/// Runs the subcommand.
pub(crate) fn run(options: &PlanOptions) -> Result<(), Failure> {
    let line_integral = match (options.nodes, options.lipschitz_hessian) {
        (None, None) => IntegralRule::Exact,
        (Some(nodes), lipschitz_hessian) => IntegralRule::Nodes { nodes, lipschitz_hessian },
        (None, Some(constant)) => {
            return Err(Failure::Usage(format!(
                "--lipschitz-hessian {constant} is about quadrature rules: need --nodes too"
            )));
        }
    };
    let problem = Problem::new(
        options.convexity,
        options.smoothness,
        options.dimension,
        options.accuracy,
        line_integral,
    )?;
    let found = plan(&problem)?;
    if options.json {
        output::json(&document(options, found.as_ref()))?;
    } else {
        output::text(&text(options, found.as_ref()))?;
    }
    if found.is_some() { Ok(()) } else { Err(Failure::NotCertified) }
}

fn document(options: &PlanOptions, plan: Option<&Plan>) -> Document {
    Document {
        status: if plan.is_some() { "certified" } else { "unknown" },
        convexity: options.convexity,
        smoothness: options.smoothness,
        dimension: options.dimension,
        accuracy: options.accuracy,
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

fn text(options: &PlanOptions, plan: Option<&Plan>) -> String {
    let problem = format!(
        "every {}-strongly convex, {}-smooth potential in {} dimensions",
        options.convexity, options.smoothness, options.dimension
    );
    let Some(plan) = plan else {
        return format!(
            "unknown: no certified plan was found for {problem}.\nA larger --accuracy may help; nothing is claimed."
        );
    };
    let integral = match options.nodes {
        None => "exact line integrals".to_owned(),
        Some(nodes) => format!("{nodes} Chebyshev nodes"),
    };
    format!(
        "certified: for {problem},\nAlgorithm 1 with {integral}, gamma = {}, xi = {}, eta = {},\n\
         started at the minimiser with p and r drawn from N(0, I/L), has after\n\n    {} steps ({} gradients)\n\n\
         a law of theta within W2 <= {} of the target (requested: {}).\n\
         Each step contracts by {:.12} in the norm of S; the certificate is checked in exact arithmetic (--json shows it).",
        plan.gamma(),
        plan.xi(),
        plan.eta(),
        plan.steps(),
        plan.gradients(),
        plan.bound(),
        options.accuracy,
        plan.certificate().speed(),
    )
}

//! `ridgewalk plan`: parameters and a number of steps that guarantee an accuracy.

use ridgewalk::lyapunov::planner::{DerivativeBound, IntegralRule, Plan, Problem, plan};
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
    /// None for exact line integrals.
    nodes: Option<usize>,
    lipschitz_hessian: Option<f64>,
    /// Pairs of ALPHA and L_ALPHA.
    higher_smoothness: Vec<(u32, f64)>,
    start_distance: f64,
    start_at_rest: bool,
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
    let nodes = nodes(options)?;
    let line_integral = match nodes {
        None => IntegralRule::Exact,
        Some(nodes) => IntegralRule::Nodes { nodes, derivatives: derivatives(options)? },
    };
    let problem = Problem::new(
        options.convexity,
        options.smoothness,
        options.dimension,
        options.accuracy,
        line_integral,
    )?
    .with_start_distance(options.start_distance)?;
    let problem = if options.start_at_rest { problem.started_at_rest() } else { problem };
    let found = plan(&problem)?;
    if options.json {
        output::json(&document(options, nodes, found.as_ref()))?;
    } else {
        output::text(&text(options, nodes, found.as_ref()))?;
    }
    if found.is_some() { Ok(()) } else { Err(Failure::NotCertified) }
}

/// The number of nodes: as given, or ALPHA − 1 for the largest ALPHA, as in the proof of Theorem 2;
/// none for exact integrals.
fn nodes(options: &PlanOptions) -> Result<Option<usize>, Failure> {
    let largest = options.higher_smoothness.iter().map(|(alpha, _)| *alpha).max();
    match (options.nodes, largest, options.lipschitz_hessian) {
        (Some(nodes), ..) => Ok(Some(nodes)),
        (None, Some(alpha), _) => Ok(Some(alpha.saturating_sub(1) as usize)),
        (None, None, None) => Ok(None),
        (None, None, Some(constant)) => Err(Failure::Usage(format!(
            "--lipschitz-hessian {constant} is about quadrature rules: need --nodes too"
        ))),
    }
}

fn derivatives(options: &PlanOptions) -> Result<Vec<DerivativeBound>, Failure> {
    let hessian = options.lipschitz_hessian.map(DerivativeBound::lipschitz_hessian);
    let higher = options.higher_smoothness.iter();
    let higher = higher.map(|&(alpha, constant)| DerivativeBound::new(alpha, constant));
    Ok(hessian.into_iter().chain(higher).collect::<Result<_, _>>()?)
}

fn document(options: &PlanOptions, nodes: Option<usize>, plan: Option<&Plan>) -> Document {
    Document {
        status: if plan.is_some() { "certified" } else { "unknown" },
        convexity: options.convexity,
        smoothness: options.smoothness,
        dimension: options.dimension,
        accuracy: options.accuracy,
        nodes,
        lipschitz_hessian: options.lipschitz_hessian,
        higher_smoothness: options.higher_smoothness.clone(),
        start_distance: options.start_distance,
        start_at_rest: options.start_at_rest,
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

fn text(options: &PlanOptions, nodes: Option<usize>, plan: Option<&Plan>) -> String {
    let problem = format!(
        "every {}-strongly convex, {}-smooth potential in {} dimensions{}",
        options.convexity,
        options.smoothness,
        options.dimension,
        further_assumptions(options)
    );
    let Some(plan) = plan else {
        return format!(
            "unknown: no certified plan was found for {problem}.\nA larger --accuracy may help; nothing is claimed."
        );
    };
    let integral = match nodes {
        None => "exact line integrals".to_owned(),
        Some(nodes) if options.nodes.is_none() => {
            format!("ALPHA - 1 = {} per step", chebyshev(nodes))
        }
        Some(nodes) => chebyshev(nodes),
    };
    let place = if options.start_distance == 0.0 {
        "at the minimiser".to_owned()
    } else {
        format!("within {} of the minimiser", options.start_distance)
    };
    let momenta = if options.start_at_rest { "p = r = 0" } else { "p and r drawn from N(0, I/L)" };
    format!(
        "certified: for {problem},\nAlgorithm 1 with {integral}, gamma = {}, xi = {}, eta = {},\n\
         started {place} with {momenta}, has after\n\n    {} steps ({} gradients)\n\n\
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

/// What the guarantee assumes of higher derivatives.
fn further_assumptions(options: &PlanOptions) -> String {
    let hessian = options
        .lipschitz_hessian
        .iter()
        .map(|constant| format!(" whose Hessian has the Lipschitz constant {constant}"));
    let higher = options.higher_smoothness.iter().map(|(alpha, constant)| {
        format!(
            " whose derivative of order {alpha} is at most {constant}^{}",
            alpha.saturating_sub(1)
        )
    });
    hessian.chain(higher).collect::<Vec<_>>().join(" and")
}

fn chebyshev(nodes: usize) -> String {
    if nodes == 1 { "1 Chebyshev node".to_owned() } else { format!("{nodes} Chebyshev nodes") }
}

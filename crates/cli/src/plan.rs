//! `ridgewalk plan`: parameters and a number of steps that guarantee an accuracy.

use ridgewalk::theory::{PlanDocument, PlanRequest};

use crate::arguments::PlanOptions;
use crate::failure::Failure;
use crate::output;

/// Runs the subcommand.
pub(crate) fn run(options: &PlanOptions) -> Result<(), Failure> {
    let document = request(options).answer()?;
    if options.json {
        output::json(&document)?;
    } else {
        output::text(&text(&document, options.nodes.is_some()))?;
    }
    if document.certified() { Ok(()) } else { Err(Failure::NotCertified) }
}

fn request(options: &PlanOptions) -> PlanRequest {
    PlanRequest {
        convexity: options.convexity,
        smoothness: options.smoothness,
        dimension: options.dimension,
        accuracy: options.accuracy,
        nodes: options.nodes,
        lipschitz_hessian: options.lipschitz_hessian,
        higher_smoothness: options.higher_smoothness.clone(),
        start_distance: options.start_distance,
        start_at_rest: options.start_at_rest,
    }
}

/// `nodes_given` unless the number of nodes follows from the smoothness.
fn text(plan: &PlanDocument, nodes_given: bool) -> String {
    let problem = format!(
        "every {}-strongly convex, {}-smooth potential in {} dimensions{}",
        plan.convexity,
        plan.smoothness,
        plan.dimension,
        further_assumptions(plan)
    );
    let PlanDocument {
        gamma: Some(gamma),
        xi: Some(xi),
        eta: Some(eta),
        steps: Some(steps),
        gradients: Some(gradients),
        bound: Some(bound),
        factor: Some(factor),
        ..
    } = plan
    else {
        return format!(
            "unknown: no certified plan was found for {problem}.\nA larger --accuracy may help; nothing is claimed."
        );
    };
    let integral = match plan.nodes {
        None => "exact line integrals".to_owned(),
        Some(nodes) if !nodes_given => format!("ALPHA - 1 = {} per step", chebyshev(nodes)),
        Some(nodes) => chebyshev(nodes),
    };
    let place = if plan.start_distance == 0.0 {
        "at the minimiser".to_owned()
    } else {
        format!("within {} of the minimiser", plan.start_distance)
    };
    let momenta = if plan.start_at_rest { "p = r = 0" } else { "p and r drawn from N(0, I/L)" };
    format!(
        "certified: for {problem},\nAlgorithm 1 with {integral}, gamma = {gamma}, xi = {xi}, eta = {eta},\n\
         started {place} with {momenta}, has after\n\n    {steps} steps ({gradients} gradients)\n\n\
         a law of theta within W2 <= {bound} of the target (requested: {}).\n\
         Each step contracts by {factor:.12} in the norm of S; the certificate is checked in exact arithmetic (--json shows it).",
        plan.accuracy,
    )
}

/// What the guarantee assumes of higher derivatives.
fn further_assumptions(plan: &PlanDocument) -> String {
    let hessian = plan
        .lipschitz_hessian
        .iter()
        .map(|constant| format!(" whose Hessian has the Lipschitz constant {constant}"));
    let higher = plan.higher_smoothness.iter().map(|(alpha, constant)| {
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

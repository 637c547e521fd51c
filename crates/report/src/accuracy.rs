//! How accurate the results are: what is exact, what is measured and what is proved.

use std::fmt::Write;

use crate::html::escape;
use crate::numbers::{count, short, whole};
use ridgewalk_fit::{SummaryDocument, Trajectories};

/// The section.
pub(super) fn accuracy(summary: &SummaryDocument) -> String {
    let sampler = &summary.sampler;
    let mut html = plain(summary);
    if !summary.text.guarantee.is_empty() {
        let _ = writeln!(
            html,
            "<p class=\"small\">In technical terms: {}.</p>",
            escape(summary.text.guarantee.trim_end_matches('.'))
        );
    }
    if let Some(trajectories) = &sampler.trajectories {
        return html + &energy(trajectories);
    }
    let Some(bias) = &sampler.bias_details else {
        let said = if sampler.bias_estimate.is_nan() {
            "The discretisation bias was not estimated.".to_owned()
        } else {
            format!(
                "The discretisation bias is estimated as {} posterior standard deviations.",
                short(sampler.bias_estimate)
            )
        };
        return html + &format!("<p class=\"say\">{said}</p>\n");
    };
    html.push_str(
        "<p class=\"say\">The bias was estimated from pairs of chains with the full and the half step, driven by the same noise.</p>\n\
         <div class=\"wide\">\n<table class=\"facts\">\n<thead><tr><th></th><th scope=\"col\">estimate</th>\
         <th scope=\"col\">standard error</th><th scope=\"col\">allowed</th></tr></thead>\n<tbody>\n",
    );
    for (name, value, error) in [
        ("largest bias of a mean, in posterior sd", bias.mean, bias.mean_error),
        ("largest relative bias of an sd", bias.sd, bias.sd_error),
        ("largest bias of a quantile, in sds", bias.quantile, bias.quantile_error),
    ] {
        let _ = writeln!(
            html,
            "<tr><th scope=\"row\">{name}</th><td>{}</td><td>{}</td><td>{}</td></tr>",
            short(value),
            short(error),
            short(bias.tolerance)
        );
    }
    html + "</tbody>\n</table>\n</div>\n"
}

/// What is exact, measured and proved, in plain words.
fn plain(summary: &SummaryDocument) -> String {
    let exact = summary.sampler.trajectories.is_some();
    let ess = summary.smallest_ess();
    let rhat = summary.largest_rhat();
    let mut measured = String::new();
    if ess.is_finite() && ess > 0.0 {
        let _ = write!(
            measured,
            "The draws are worth at least {} independent ones, so a mean is typically off by {} of \
             its standard deviation.",
            whole(ess),
            short(ess.powf(-0.5))
        );
    }
    if !rhat.is_nan() {
        let said = if rhat <= crate::convergence::HIGHEST_RHAT {
            "The chains agree"
        } else {
            "The chains do not agree well"
        };
        let _ = write!(measured, " {said} (R&#770; is at most {}).", crate::rhat(rhat));
    }
    if !exact && summary.sampler.bias_estimate.is_finite() {
        let _ = write!(
            measured,
            " The error that the length of the steps adds is about {} standard deviations.",
            short(summary.sampler.bias_estimate)
        );
    }
    if measured.is_empty() {
        measured.push_str("Nothing: there are too few draws.");
    }
    let method = if exact {
        "The method: each move is accepted or rejected so that in the long run the draws have \
         exactly the distribution that model, priors and data define. The length of the steps adds \
         no error."
    } else {
        "Nothing: without an accept step, results are slightly off however long the run is. How \
         much is measured."
    };
    let proved = if summary.is_certified() {
        "Chains that share their random numbers approach each other in every step, wherever they \
         start."
    } else {
        "Nothing about this run: there is no proof of how fast its chains converge. The \
         measurements stand in for it."
    };
    format!(
        "<dl class=\"guarantee\">\n<dt>Exact</dt><dd>{method}</dd>\n<dt>Measured</dt><dd>{}</dd>\n\
         <dt>Proved</dt><dd>{proved}</dd>\n</dl>\n",
        measured.trim_start()
    )
}

/// Trajectory statistics.
fn energy(found: &Trajectories) -> String {
    let Trajectories { steps, count: made, acceptance, divergences, acceptance_by_chain, .. } =
        found;
    let lowest = acceptance_by_chain.iter().copied().fold(f64::INFINITY, f64::min);
    let highest = acceptance_by_chain.iter().copied().fold(0.0, f64::max);
    let by_chain = match lowest.is_finite() {
        true => format!("{:.1} to {:.1} %", 100.0 * lowest, 100.0 * highest),
        false => "–".to_owned(),
    };
    let accepted = match acceptance.is_finite() {
        true => format!("{:.1} %", 100.0 * acceptance),
        false => "–".to_owned(),
    };
    let rates = [("accepted", accepted), ("accepted, by chain", by_chain)];
    let facts = if *steps == 0 {
        let moves = [("moves decided by a few rows, all chains", count(*made))];
        moves.into_iter().chain(rates).collect::<Vec<_>>()
    } else {
        let first = [
            ("trajectories, all chains", count(*made)),
            ("steps per trajectory", count(u64::from(*steps))),
        ];
        let energy =
            format!("{} and {}", short(found.energy_error_mean), short(found.energy_error_sd));
        let errors = [
            ("energy error, mean and standard deviation", energy),
            ("largest energy error", short(found.energy_error_largest)),
            ("divergences", count(*divergences)),
        ];
        first.into_iter().chain(rates).chain(errors).collect()
    };
    let mut html = String::from("<table class=\"facts\">\n<tbody>\n");
    for (name, value) in facts {
        let _ = writeln!(html, "<tr><th scope=\"row\">{name}</th><td>{value}</td></tr>");
    }
    html + "</tbody>\n</table>\n"
}

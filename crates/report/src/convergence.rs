//! R-hat and effective sample sizes of all coefficients at a glance.

use std::fmt::Write;

use crate::html::escape;
use crate::numbers::{self, count, ticks, whole};
use crate::svg::{Scale, labels_beside};
use ridgewalk_fit::{GroupSummary, Parameter, SummaryDocument};

/// The usual limits for both.
pub(super) const ENOUGH_ESS: f64 = 400.0;
pub(super) const HIGHEST_RHAT: f64 = 1.01;
/// The most groupings that are named.
const GROUPS: usize = 8;
/// The size of a drawing in its own units.
const WIDTH: i32 = 1000;
const HEIGHT: i32 = 200;

/// The section: `summary` is what is drawn, without effects of groups. A diagnostic that is undefined for every coefficient is
/// not drawn.
pub(super) fn convergence(summary: &SummaryDocument, whole: &SummaryDocument) -> String {
    let parameters = &summary.parameters;
    let mut drawn: Vec<String> = Vec::new();
    let rhats: [Series<'_>; 1] = [("dot", "R-hat", &|p| p.rhat)];
    if values(parameters, &rhats).next().is_some() {
        let low = values(parameters, &rhats).fold(1.0, f64::min);
        let high = values(parameters, &rhats).fold(HIGHEST_RHAT, f64::max);
        let pad = 0.12 * (high - low);
        let scale = Scale::new(low - pad, high + pad, HEIGHT);
        let caption =
            "<b>R&#770;</b> of each coefficient. The dashed line is 1.01, the usual upper limit.";
        drawn.push(draw(parameters, &rhats, &scale, HIGHEST_RHAT, ("R-hat", caption)));
    }
    let sizes: [Series<'_>; 2] =
        [("dot two", "tail ESS", &|p| p.ess_tail), ("dot", "bulk ESS", &|p| p.ess_bulk)];
    if values(parameters, &sizes).next().is_some() {
        let high = values(parameters, &sizes).fold(ENOUGH_ESS, f64::max);
        let scale = Scale::new(0.0, 1.08 * high, HEIGHT);
        let caption = "Effective sample size of the <b class=\"key\">bulk</b> and of the <b class=\"key two\">tails</b>. \
                       The dashed line is 400, the least that is usually asked for.";
        drawn.push(draw(
            parameters,
            &sizes,
            &scale,
            ENOUGH_ESS,
            ("Effective sample sizes", caption),
        ));
    }
    format!(
        "<p class=\"say\">{}{}</p>\n<div class=\"halves\">\n{}</div>\n",
        verdict(whole),
        of_groups(whole),
        drawn.concat()
    )
}

/// CSS class, name and value of a series.
type Series<'a> = (&'static str, &'static str, &'a dyn Fn(&Parameter) -> f64);

fn values<'a>(
    parameters: &'a [Parameter], series: &'a [Series<'_>],
) -> impl Iterator<Item = f64> + 'a {
    parameters.iter().flat_map(|p| series.iter().map(|s| s.2(p))).filter(|x| x.is_finite())
}

fn draw(
    parameters: &[Parameter], series: &[Series<'_>], scale: &Scale, limit: f64,
    (title, caption): (&str, &str),
) -> String {
    let across = Scale::new(-0.7, parameters.len() as f64 - 0.3, WIDTH);
    let ticks = ticks(scale.low(), scale.high(), 5);
    let mut svg = format!(
        "<svg class=\"tall\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" preserveAspectRatio=\"none\" role=\"img\"><title>{title} of all \
         coefficients</title>"
    );
    for (tick, _) in &ticks {
        let _ = write!(svg, "<path class=\"grid\" d=\"M0 {}h{WIDTH}\"/>", scale.up(*tick));
    }
    let _ = write!(svg, "<path class=\"limit\" d=\"M0 {}h{WIDTH}\"/>", scale.up(limit));
    for (class, what, value) in series {
        for (i, parameter) in parameters.iter().enumerate().filter(|(_, p)| value(p).is_finite()) {
            let (x, y) = (across.at(i as f64), scale.up(value(parameter)));
            let (name, value) = (escape(&parameter.name), value(parameter));
            let value = if *what == "R-hat" { crate::rhat(value) } else { whole(value) };
            let _ = write!(
                svg,
                "<path class=\"{class}\" d=\"M{x} {y}h0\"><title>{name}: {what} {value}</title></path>"
            );
        }
    }
    svg.push_str("</svg>");
    let beside = labels_beside(scale, &ticks);
    let ends = ends(parameters);
    format!(
        "<figure class=\"plot\">{beside}{svg}{ends}<figcaption>{caption}</figcaption></figure>\n"
    )
}

/// The worst of the effects of each grouping.
fn of_groups(whole: &SummaryDocument) -> String {
    let one = |group: &GroupSummary| {
        format!(
            " Over the {} effects of <i>{}</i>, which are not drawn: smallest {}, largest R&#770; {}.",
            count(group.effects() as u64),
            escape(&group.name),
            numbers::whole(group.smallest_ess),
            crate::rhat(group.largest_rhat)
        )
    };
    whole.groups.iter().take(GROUPS).map(one).collect()
}

/// The names at both ends of the axis.
fn ends(parameters: &[Parameter]) -> String {
    let name = |p: Option<&Parameter>| p.map_or_else(String::new, |p| escape(&p.name));
    let last = if parameters.len() > 1 { name(parameters.last()) } else { String::new() };
    format!(
        "<div class=\"below ends\" aria-hidden=\"true\"><span>{}</span><span>{last}</span></div>",
        name(parameters.first())
    )
}

/// The worst of both, in words.
fn verdict(summary: &SummaryDocument) -> String {
    let parameters = &summary.parameters;
    let total = count(summary.sampler.draws.saturating_mul(summary.sampler.chains as u64));
    let least = |p: &Parameter| p.ess_bulk.min(p.ess_tail);
    let worst_ess = parameters
        .iter()
        .filter(|p| least(p).is_finite())
        .min_by(|a, b| least(a).total_cmp(&least(b)));
    let worst_rhat =
        parameters.iter().filter(|p| !p.rhat.is_nan()).max_by(|a, b| a.rhat.total_cmp(&b.rhat));
    let sizes = worst_ess.map(|worst| {
        let (size, name) = (whole(least(worst)), escape(&worst.name));
        format!(
            "The smallest effective sample size is <b>{size}</b> of {total} draws (<i>{name}</i>)."
        )
    });
    let rhats = worst_rhat.map(|worst| {
        format!(
            "The largest R&#770; is <b>{}</b> (<i>{}</i>).",
            crate::rhat(worst.rhat),
            escape(&worst.name)
        )
    });
    let no_sizes = || {
        "Effective sample sizes are not defined: there are too few draws, or they are not finite."
            .to_owned()
    };
    let no_rhats = || {
        "R&#770; is not defined: it needs at least two chains of at least four draws that are not constant."
            .to_owned()
    };
    format!("{} {}", sizes.unwrap_or_else(no_sizes), rhats.unwrap_or_else(no_rhats))
}

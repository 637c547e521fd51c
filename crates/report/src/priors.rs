//! Priors against posteriors: what was assumed about each number, and what the data made of it.

use crate::density::densities;
use crate::html::escape;
use crate::model::Model;
use crate::numbers::ticks;
use crate::svg::{Scale, labels_below, line};
use ridgewalk_fit::{Parameter, ReportedPrior};

/// The most that are shown at once, and that are drawn.
const AT_ONCE: usize = 12;
const DRAWN: usize = 60;
/// Points of a prior's curve.
const POINTS: usize = 96;
/// The size of a drawing in its own units.
const SIZE: [i32; 2] = [600, 200];
/// The axis is at most this many times as wide as the posterior.
const WIDEST: f64 = 8.0;

/// A density on a grid, with an integral of 1.
#[derive(Debug, Clone)]
pub(super) struct Curve {
    pub(super) low: f64,
    pub(super) high: f64,
    pub(super) heights: Vec<f64>,
}

impl Curve {
    /// From heights up to a constant.
    pub(super) fn new(low: f64, high: f64, heights: &[f64]) -> Option<Self> {
        let step = (high - low) / heights.len().checked_sub(1)?.max(1) as f64;
        let area = heights.iter().sum::<f64>() * step;
        (area.is_finite() && area > 0.0).then(|| {
            let heights = heights.iter().map(|height| height / area).collect();
            Self { low, high, heights }
        })
    }

    /// From draws.
    pub(super) fn of_draws(draws: &[f64]) -> Option<Self> {
        let mut sorted: Vec<f64> = draws.iter().copied().filter(|x| x.is_finite()).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let found = densities(&[], &sorted)?;
        Self::new(found.low, found.high, &found.pooled)
    }

    fn points(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let step = (self.high - self.low) / (self.heights.len().max(2) - 1) as f64;
        self.heights.iter().enumerate().map(move |(i, y)| (self.low + i as f64 * step, *y))
    }
}

/// The section; `None` if no prior can be drawn. `at_means` are the intercepts at the means of the
/// predictors, one for each linear predictor.
pub(super) fn priors(
    model: &Model, parameters: &[Parameter], posteriors: &[Option<Curve>], at_means: &[Vec<f64>],
) -> Option<String> {
    let mut panels: Vec<String> = Vec::new();
    let (mut flat, mut intercepts, mut more) = (0, 0, 0);
    for (k, parameter) in parameters.iter().enumerate() {
        let Some(Some(prior)) = model.priors.get(k) else { continue };
        let Some(density) = prior.normalized() else {
            flat += 1;
            continue;
        };
        let moved = prior.at_means.then(|| {
            intercepts += 1;
            at_means.get(intercepts - 1).and_then(|draws| Curve::of_draws(draws))
        });
        if panels.len() == DRAWN {
            more += 1;
            continue;
        }
        let posterior = moved.unwrap_or_else(|| posteriors.get(k).cloned().flatten());
        if let Some(posterior) = posterior {
            panels.push(panel(&parameter.name, prior, &density, &posterior));
        }
    }
    if panels.is_empty() {
        return None;
    }
    let mut said = "The <b class=\"key two\">prior</b> is what was assumed before the data, the \
                    <b class=\"key\">posterior</b> what is known after. Where both look alike, the \
                    data say little."
        .to_owned();
    if flat > 0 {
        let are = if flat == 1 { "prior is" } else { "priors are" };
        said.push_str(&format!(" {flat} {are} flat and not drawn."));
    }
    if more > 0 {
        said.push_str(&format!(" {more} more are not drawn."));
    }
    let rest = panels.split_off(panels.len().min(AT_ONCE));
    let mut html = format!(
        "<p class=\"say\">{said}</p>\n<div class=\"small-multiples\">\n{}</div>\n",
        panels.concat()
    );
    if !rest.is_empty() {
        html.push_str(&format!(
            "<details><summary>{} more</summary>\n<div class=\"small-multiples\">\n{}</div>\n</details>\n",
            rest.len(),
            rest.concat()
        ));
    }
    Some(html)
}

fn panel(
    name: &str, prior: &ReportedPrior, density: &dyn Fn(f64) -> f64, posterior: &Curve,
) -> String {
    let [low, high] = axis(prior, density, posterior);
    let across = Scale::new(low, high, SIZE[0]);
    let step = (high - low) / (POINTS - 1) as f64;
    // The density of a positive number may be infinite at 0.
    let top = posterior.heights.iter().copied().fold(0.0, f64::max);
    let curve: Vec<(f64, f64)> =
        (0..POINTS).map(|k| low + step * k as f64).map(|x| (x, density(x))).collect();
    let highest = curve.iter().map(|point| point.1).fold(0.0, f64::max).min(3.0 * top);
    let up = Scale::new(0.0, 1.05 * top.max(highest), SIZE[1]);
    let drawn = |points: &mut dyn Iterator<Item = (f64, f64)>| {
        line(points.filter(|(x, _)| across.holds(*x)).map(|(x, y)| (across.at(x), up.up(y))))
    };
    let posterior = drawn(&mut posterior.points());
    let prior_line = drawn(&mut curve.into_iter());
    let zero = if across.holds(0.0) {
        format!("<path class=\"zero\" d=\"M{} 0v{}\"/>", across.at(0.0), SIZE[1])
    } else {
        String::new()
    };
    let (name, text) = (escape(name), escape(&prior.text()));
    let place = if prior.at_means { ", at the means of the predictors" } else { "" };
    let labels = labels_below(&across, &ticks(low, high, 4));
    let [width, height] = SIZE;
    format!(
        "<div class=\"chart\"><h3>{name}{place}</h3><p class=\"small\">prior {text}</p><figure class=\"plot\"><svg \
         viewBox=\"0 0 {width} {height}\" preserveAspectRatio=\"none\" role=\"img\"><title>Prior and posterior of {name}</title>{zero}\
         <path class=\"fill\" d=\"{posterior}\"/><path class=\"post\" d=\"{posterior}\"/><path class=\"prior\" d=\"{prior_line}\"/></svg>\
         {labels}</figure></div>\n"
    )
}

/// The axis: all of the posterior, and as much of the prior as leaves the posterior visible.
fn axis(prior: &ReportedPrior, density: &dyn Fn(f64) -> f64, posterior: &Curve) -> [f64; 2] {
    let width = posterior.high - posterior.low;
    let peak = posterior.points().max_by(|a, b| a.1.total_cmp(&b.1)).map_or(0.0, |point| point.0);
    let most = 0.5 * WIDEST * width;
    // Outwards while the prior is not yet negligible.
    let reach = |direction: f64| {
        let steps = (1..=200).map(|k| direction * most * f64::from(k) / 200.0);
        let top = (-200..=200).map(|k| density(peak + most * f64::from(k) / 200.0));
        let top = top.filter(|y| y.is_finite()).fold(0.0, f64::max);
        steps.filter(|by| density(peak + by) > 0.03 * top).map(f64::abs).fold(0.0, f64::max)
    };
    let low = posterior.low.min(peak - reach(-1.0));
    let high = posterior.high.max(peak + reach(1.0));
    [if prior.positive { low.max(0.0) } else { low }, high]
}

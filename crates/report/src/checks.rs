//! The model against its data: replicated responses, calibration, residuals and influence, each with
//! a sentence about what it shows.

use std::fmt::Write;

use crate::html::escape;
use crate::numbers::{count, percent, short};
use crate::svg::Chart;
use ridgewalk_fit::{
    CalibrationGroup, Checks, Densities, FrequencyCheck, LooCheck, Roc, StatisticCheck,
    SurvivalCheck,
};

/// An observed statistic is unusual outside this range of tail probabilities. There are up to four
/// statistics, and a good fit should hardly ever be called a bad one.
const USUAL: std::ops::RangeInclusive<f64> = 0.005..=0.995;
/// The most dots of a scatter plot.
const DOTS: usize = 800;
/// The most replicated curves that are drawn.
const CURVES: usize = 30;
/// The most rows that are named.
const NAMED: usize = 8;
/// More influential rows than this share are no outliers.
const MANY_ROWS: f64 = 0.05;
/// The 99 % quantile of a standard normal distribution.
const UNUSUAL: f64 = 2.326;

/// The section.
pub(super) fn checks(checks: &Checks) -> String {
    let mut html = String::new();
    let made = count(checks.replicates as u64);
    let mut about = if checks.prior {
        // The data say nothing about a prior: whoever chose it judges.
        format!(
            "The prior made {made} data sets. They should be possible, even if they differ from the real ones."
        )
    } else {
        let mut said = misfits(checks);
        said.extend(checks.loo.as_ref().and_then(influential));
        let class = if said.is_empty() { "fine" } else { "warnings" };
        if said.is_empty() {
            said.push("Nothing that was checked speaks against the model.".to_owned());
        }
        crate::list(&mut html, class, &said);
        format!(
            "The fitted model made {made} data sets of its own. A model that fits makes data that look like the real ones."
        )
    };
    let [used, of] = checks.rows;
    if used < of {
        let [used, of] = [used, of].map(|rows| count(rows as u64));
        let _ = write!(about, " {used} of {of} rows, evenly spaced, were checked.");
    }
    let _ = writeln!(html, "<p class=\"say\">{about}</p>");
    let figures = [
        checks.densities.as_ref().and_then(densities),
        checks.frequencies.as_ref().and_then(frequencies),
        calibration(&checks.calibration),
        checks.roc.as_ref().map(roc),
        checks.survival.as_ref().and_then(survival),
        residuals(&checks.residuals),
        pit(&checks.pit),
        checks.loo.as_ref().and_then(influence),
    ];
    let _ = writeln!(
        html,
        "<div class=\"halves\">\n{}</div>",
        figures.into_iter().flatten().collect::<String>()
    );
    html + &statistics(&shown(checks))
}

/// Statistics that can tell anything: 0/1 responses have a mean alone.
fn shown(checks: &Checks) -> Vec<&StatisticCheck> {
    let binary = checks.roc.is_some();
    checks.statistics.iter().filter(|check| !binary || check.name == "mean").collect()
}

/// What the model does not reproduce, in words.
pub(super) fn misfits(checks: &Checks) -> Vec<String> {
    let mut said: Vec<String> = shown(checks).into_iter().filter_map(unusual).collect();
    let outside = |group: &&CalibrationGroup| !within(group.predicted, group.range);
    let groups = checks.calibration.len();
    let off = checks.calibration.iter().filter(outside).count();
    // One of ten is outside an interval of 90 %.
    if many(off, groups, 0.1) {
        said.push(format!(
            "In {off} of {groups} groups of rows the predicted probability is outside the 90 % range of the observed share."
        ));
    }
    if let Some(found) = &checks.frequencies {
        let each = || found.observed.iter().zip(&found.ranges).zip(&found.expected);
        let off = each().filter(|((observed, range), _)| !within(**observed, **range)).count();
        // Bars without rows tell nothing.
        let bars = each().filter(|((observed, _), expected)| **observed > 0.0 || **expected >= 0.5);
        if many(off, bars.count(), 0.1) {
            said.push(format!(
                "{off} of {} frequencies are outside what the model produces.",
                found.observed.len()
            ));
        }
    }
    if uneven(&checks.pit) {
        said.push(
            "The responses are not spread over their predictions as they should be: see the histogram of where they lie."
                .to_owned(),
        );
    }
    said
}

fn within(value: f64, [low, high]: [f64; 2]) -> bool {
    !(value < low || value > high)
}

/// Whether `off` of `all` is more than chance gives, about once in 100 times.
fn many(off: usize, all: usize, chance: f64) -> bool {
    let n = all as f64;
    off as f64 > n * chance + UNUSUAL * (n * chance * (1.0 - chance)).sqrt() + 0.5
}

/// A statistic that the model does not reproduce.
fn unusual(check: &StatisticCheck) -> Option<String> {
    if USUAL.contains(&check.tail) || !check.observed.is_finite() {
        return None;
    }
    let above = check.tail < 0.5;
    let share = check.name == "share of zeros";
    let number = |x: f64| if share { percent(x) } else { short(x).replace('-', "\u{2212}") };
    let observed = if share {
        percent((1000.0 * check.observed).round() / 1000.0)
    } else {
        number(check.observed)
    };
    let [low, high] =
        check.range.map(|x| if share { percent((1000.0 * x).round() / 1000.0) } else { number(x) });
    let produces = format!("than the model produces ({low} to {high})");
    let more = if above { "more" } else { "fewer" };
    let higher = if above { "higher" } else { "lower" };
    Some(match &check.name[..] {
        "share of zeros" => format!("The data have {more} zeros ({observed}) {produces}."),
        "variance / mean" | "standard deviation" => {
            let more = if above { "more" } else { "less" };
            let name = escape(&check.name);
            format!("The data vary {more} {produces}: their {name} is {observed}.")
        }
        "smallest" | "largest" => {
            let name = escape(&check.name);
            format!("The {name} response, {observed}, is {higher} {produces}.")
        }
        name => format!("The {} of the data, {observed}, is {higher} {produces}.", escape(name)),
    })
}

/// Rows that the fit depends on.
pub(super) fn influential(loo: &LooCheck) -> Option<String> {
    let high = loo.pareto_k.iter().filter(|k| !(**k <= loo.limit)).count();
    if high == 0 {
        return None;
    }
    let rows = if high == 1 { "1 row has".to_owned() } else { format!("{high} rows have") };
    if high as f64 > MANY_ROWS * loo.pareto_k.len() as f64 && high > NAMED {
        return Some(format!(
            "{rows} a strong influence on the fit, too many to be outliers: the model is flexible for so \
             few data. Checks that predict each row from the others are only rough here."
        ));
    }
    let named = loo.influential.iter().take(NAMED).filter(|(place, _)| !place.is_empty());
    let mut names: Vec<String> = named.map(|(place, _)| escape(place)).collect();
    if names.len() < high && !names.is_empty() {
        names.push(format!("{} more", high - names.len()));
    }
    let which = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
    Some(format!("{rows} a strong influence on the fit, or fit badly{which}. Look at them."))
}

/// Densities of real responses.
fn densities(found: &Densities) -> Option<String> {
    let x = [*found.x.first()?, *found.x.last()?];
    let curves = found.replicated.iter().take(CURVES);
    let top = curves.clone().chain([&found.observed]).flatten().copied().fold(0.0, f64::max);
    let mut chart = Chart::new(x, [0.0, 1.05 * top]);
    // Heights of densities mean nothing to a reader.
    chart.up.clear();
    let points = |heights: &[f64]| -> Vec<(f64, f64)> {
        found.x.iter().copied().zip(heights.iter().copied()).collect()
    };
    for curve in curves {
        chart.line("replica", points(curve));
    }
    chart.line("bold", points(&found.observed));
    let axis = if found.logarithm { "logarithm of the response" } else { "response" };
    Some(chart.figure(
        "Distribution of the responses",
        [axis, "density"],
        "The <b>data</b> (bold) and <b class=\"key\">data sets made by the model</b> (thin).",
    ))
}

/// Counts or levels.
fn frequencies(found: &FrequencyCheck) -> Option<String> {
    let bars = found.names.len();
    let tops = found.ranges.iter().map(|range| range[1]);
    let top =
        tops.chain(found.observed.iter().copied()).filter(|x| x.is_finite()).fold(0.0, f64::max);
    if bars == 0 || !(top > 0.0) {
        return None;
    }
    let mut chart = Chart::new([-0.7, bars as f64 - 0.3], [0.0, 1.05 * top]);
    // Names are cut where there is no room.
    let every = bars.div_ceil(12);
    let named = found.names.iter().enumerate().step_by(every);
    let cut = |name: &str| -> String {
        let cut: String = name.chars().take(12).collect();
        escape(&if cut.len() < name.len() { cut + "…" } else { cut })
    };
    chart.across = named.map(|(k, name)| (k as f64, cut(name))).collect();
    let at = |values: &[f64]| -> Vec<(f64, f64)> {
        values.iter().enumerate().map(|(k, y)| (k as f64, *y)).collect()
    };
    chart.bars("bar", at(&found.expected).into_iter().map(|(x, y)| (x, [0.0, y])));
    chart.bars("long", found.ranges.iter().enumerate().map(|(k, range)| (k as f64, *range)));
    chart.dots("dot two", at(&found.observed));
    Some(chart.figure(
        "How often each value occurs",
        ["response", "rows"],
        "<b class=\"key two\">Dots</b>: the data. <b class=\"key\">Bars</b>: what the model expects, with the range that holds 90 % of the data sets that it made.",
    ))
}

/// Predicted probabilities next to observed shares.
fn calibration(groups: &[CalibrationGroup]) -> Option<String> {
    let all = || groups.iter().flat_map(|g| [g.predicted, g.range[0], g.range[1]]);
    let high = all().filter(|x| x.is_finite()).fold(0.0, f64::max);
    if groups.is_empty() {
        return None;
    }
    // Rare events need a closer look.
    let high = if high > 0.5 { 1.0 } else { 1.05 * high };
    let mut chart = Chart::new([0.0, high], [0.0, high]);
    chart.line("zero", [(0.0, 0.0), (high, high)]);
    chart.bars("long", groups.iter().map(|g| (g.predicted, g.range)));
    chart.dots("dot", groups.iter().map(|g| (g.predicted, g.observed)));
    let inside = groups.iter().filter(|g| within(g.predicted, g.range)).count();
    Some(chart.figure(
        "Are predicted probabilities right?",
        ["predicted probability", "observed share"],
        &format!(
            "Rows are grouped by their predicted probability. On the dashed line, predictions come true exactly as often as \
             they say. In {inside} of {} groups the prediction is within the 90 % range of the observed share.",
            groups.len()
        ),
    ))
}

fn roc(found: &Roc) -> String {
    let mut chart = Chart::new([0.0, 1.0], [0.0, 1.0]);
    chart.line("zero", [(0.0, 0.0), (1.0, 1.0)]);
    chart.line("post", found.points.iter().map(|[x, y]| (*x, *y)));
    chart.figure(
        "How well are 1 and 0 told apart?",
        ["share of zeros taken for ones", "share of ones recognised"],
        &format!(
            "Of a row with 1 and a row with 0, the model gives the first the higher probability in <b>{:.0} %</b> of all cases \
             (the area under the curve is {:.3}). Guessing gives 50 %.",
            100.0 * found.area,
            found.area
        ),
    )
}

fn survival(found: &SurvivalCheck) -> Option<String> {
    let last = *found.times.last()?;
    let mut chart = Chart::new([0.0, last], [0.0, 1.0]);
    let mut band: Vec<(f64, [f64; 2])> = vec![(0.0, [1.0; 2])];
    band.extend(found.times.iter().copied().zip(found.ranges.iter().copied()));
    chart.band("fill", &band);
    let from_1 = |values: &[f64]| -> Vec<(f64, f64)> {
        std::iter::once((0.0, 1.0))
            .chain(found.times.iter().copied().zip(values.iter().copied()))
            .collect()
    };
    chart.line("post", from_1(&found.expected));
    // Steps: a share stays until the next time.
    let observed = from_1(&found.observed);
    let steps = observed.windows(2).flat_map(|w| [w[0], (w[1].0, w[0].1)]);
    let steps: Vec<_> = steps.chain(observed.last().copied()).collect();
    chart.line("bold", steps);
    Some(chart.figure(
        "Share without an event",
        ["time", "share"],
        "<b>Steps</b>: the data (Kaplan and Meier's estimate). <b class=\"key\">Curve</b>: the model, with the band that holds 90 % of its \
         uncertainty. The band does not have the chance of the data, so the steps may leave it a little.",
    ))
}

/// At most so many, evenly spaced.
fn thinned<T: Copy>(all: &[T]) -> Vec<T> {
    all.iter().step_by(all.len().div_ceil(DOTS).max(1)).copied().collect()
}

fn residuals(all: &[[f64; 2]]) -> Option<String> {
    let finite: Vec<[f64; 2]> =
        all.iter().copied().filter(|pair| pair.iter().all(|x| x.is_finite())).collect();
    let mut fitted: Vec<f64> = finite.iter().map(|pair| pair[0]).collect();
    fitted.sort_by(f64::total_cmp);
    let (low, high) = (*fitted.first()?, *fitted.last()?);
    let margin = 0.02 * (high - low);
    let mut chart = Chart::new([low - margin, high + margin], [-3.6, 3.6]);
    chart.line("zero", [(low - margin, 0.0), (high + margin, 0.0)]);
    for limit in [-2.0, 2.0] {
        chart.line("limit", [(low - margin, limit), (high + margin, limit)]);
    }
    chart.dots("point", thinned(&finite).iter().map(|[x, y]| (*x, *y)));
    let beyond = finite.iter().filter(|pair| pair[1].abs() > 2.0).count();
    let share = 100.0 * beyond as f64 / finite.len() as f64;
    let mut said = format!(
        "If the model fits, the dots scatter evenly around 0 everywhere, and 5 % are beyond the dashed lines. Here {share:.1} % are."
    );
    if finite.len() > DOTS {
        let _ = write!(said, " {} of {} rows are drawn.", thinned(&finite).len(), finite.len());
    }
    Some(chart.figure(
        "Residuals",
        ["what the model expects", "residual, in units of a normal distribution"],
        &said,
    ))
}

/// The range of a bar of a flat histogram.
fn flat(bars: &[usize]) -> [f64; 2] {
    let (n, p) = (bars.iter().sum::<usize>() as f64, 1.0 / bars.len().max(1) as f64);
    let half = UNUSUAL * (n * p * (1.0 - p)).sqrt();
    [(n * p - half).max(0.0), n * p + half]
}

/// Whether a histogram is less even than chance makes it, once in 100 times: by the χ² statistic
/// and Wilson and Hilferty's approximation of its quantile.
fn uneven(bars: &[usize]) -> bool {
    let (n, df) = (bars.iter().sum::<usize>() as f64, bars.len() as f64 - 1.0);
    if !(df > 0.0) || !(n > 0.0) {
        return false;
    }
    let expected = n / bars.len() as f64;
    let sum: f64 = bars.iter().map(|bar| (*bar as f64 - expected).powi(2) / expected).sum();
    let part = 2.0 / (9.0 * df);
    sum > df * (1.0 - part + UNUSUAL * part.sqrt()).powi(3)
}

fn pit(bars: &[usize]) -> Option<String> {
    let highest = *bars.iter().max()? as f64;
    let [low, high] = flat(bars);
    if !(highest > 0.0) {
        return None;
    }
    let width = bars.len() as f64;
    let mut chart = Chart::new([0.0, 1.0], [0.0, 1.08 * highest.max(high)]);
    chart.band("fill", &[(0.0, [low, high]), (1.0, [low, high])]);
    let at = |k: usize| k as f64 / width;
    let outline = bars
        .iter()
        .enumerate()
        .flat_map(|(k, bar)| [(at(k), *bar as f64), (at(k + 1), *bar as f64)]);
    chart.line("post", outline);
    Some(chart.figure(
        "Where responses lie in their predictions",
        ["0: below all that was predicted, 1: above", "rows"],
        "Flat if the model fits: a hump means that predictions are too wide, a valley too narrow, a slope too high or too low. Bars of a \
         model that fits leave the band once in 50 times.",
    ))
}

fn influence(loo: &LooCheck) -> Option<String> {
    let finite = || loo.pareto_k.iter().copied().filter(|k| k.is_finite());
    let rows = loo.pareto_k.len();
    finite().next()?;
    let (low, high) = (finite().fold(0.0, f64::min), finite().fold(loo.limit, f64::max));
    let mut chart = Chart::new([0.0, rows as f64 + 1.0], [low - 0.05, 1.08 * high]);
    chart.line("limit", [(0.0, loo.limit), (rows as f64 + 1.0, loo.limit)]);
    let all: Vec<(f64, f64)> =
        loo.pareto_k.iter().enumerate().map(|(row, k)| (row as f64 + 1.0, *k)).collect();
    // None of the high ones is thinned.
    let (bad, good): (Vec<_>, Vec<_>) = all.into_iter().partition(|(_, k)| *k > loo.limit);
    chart.dots("point", thinned(&good));
    chart.dots("dot worst", bad);
    let said = match influential(loo) {
        Some(said) => said,
        None => "No row decides the result on its own: all are below the dashed line.".to_owned(),
    };
    Some(chart.figure(
        "Influence of single rows",
        ["row, in the order of the file", "influence (Pareto k)"],
        &format!("{said} <code>ridgewalk loo</code> says how well new rows are predicted."),
    ))
}

/// The table of statistics.
fn statistics(all: &[&StatisticCheck]) -> String {
    if all.is_empty() {
        return String::new();
    }
    let mut html = "<div class=\"wide\">\n<table class=\"facts numbers\">\n<caption>Statistics of the data, and of data sets made by the model</caption>\n\
                    <thead><tr><th></th><th scope=\"col\">data</th><th scope=\"col\">model</th><th scope=\"col\">90 % of them</th>\
                    <th scope=\"col\">share at least as high</th></tr></thead>\n<tbody>\n"
        .to_owned();
    let number = |x: f64| short(x).replace('-', "\u{2212}");
    for check in all {
        let class = if USUAL.contains(&check.tail) { "" } else { " class=\"bad\"" };
        let tail = if check.tail.is_finite() {
            format!("{:.1} %", 100.0 * check.tail)
        } else {
            "–".to_owned()
        };
        let _ = writeln!(
            html,
            "<tr{class}><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td>{} to {}</td><td>{tail}</td></tr>",
            escape(&check.name),
            number(check.observed),
            number(check.expected),
            number(check.range[0]),
            number(check.range[1])
        );
    }
    html + "</tbody>\n</table>\n</div>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The 99 % quantile of χ² with 19 degrees of freedom is 36.19 (R: qchisq(0.99, 19)).
    #[test]
    fn a_histogram_is_uneven_beyond_the_quantile() {
        // Twenty bars of 100, two of them moved by x: the statistic is 2 x²/100.
        let moved = |x: usize| {
            let mut bars = [100; 20];
            bars[3] += x;
            bars[7] -= x;
            uneven(&bars)
        };
        assert!(!moved(42) && moved(43));
        assert!(!uneven(&[]) && !uneven(&[5]) && !uneven(&[0, 0]));
    }

    #[test]
    fn one_of_ten_groups_outside_is_chance() {
        assert!(!many(1, 10, 0.1) && !many(3, 10, 0.1) && many(4, 10, 0.1) && !many(0, 0, 0.1));
    }
}

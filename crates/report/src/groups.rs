//! Groups and smooths: how much the levels of each grouping differ, the effect of every level next to
//! what its own rows say alone, and the curves of smooths.

use std::fmt::Write;

use crate::density::quantile;
use crate::html::escape;
use crate::model::Model;
use crate::numbers::{column, count, percent, short, signed, significant, ticks, whole};
use crate::panels::Shown;
use crate::svg::{Chart, Scale, labels_below, units};
use ridgewalk_fit::{Checks, FamilyName, GroupCheck, GroupNames, Parameter, SummaryDocument};

/// Levels that are drawn: all, or the highest, the lowest and some between.
const DRAWN: usize = 100;
const ENDS: usize = 20;
/// More levels than these have narrow rows without numbers.
const ROOMY: usize = 30;
/// Rows of one block; blocks are side by side if there is room.
const BLOCK: usize = 50;
/// Heights of rows, the same in CSS pixels.
const HEIGHTS: [i32; 2] = [24, 14];
/// The width of a drawing in its own units.
const WIDTH: i32 = 1000;
/// The most effects in the table.
const LISTED: usize = 400;
/// The most groupings with a sentence among the findings, and the most smooths that are drawn.
const SENTENCES: usize = 4;
const CURVES: usize = 24;
/// Estimates of levels alone widen the axis by at most this share on each side.
const BEYOND: f64 = 0.5;

/// What the section is made of.
pub(super) struct Groups<'a> {
    summary: &'a SummaryDocument,
    shown: &'a [Shown],
    model: &'a Model,
    checks: &'a [GroupCheck],
}

/// A grouping, with the places of its numbers among the parameters.
struct Term<'a> {
    names: &'a GroupNames,
    check: Option<&'a GroupCheck>,
    /// The first standard deviation, and the first effect.
    parameter: usize,
    effect: usize,
}

impl<'a> Groups<'a> {
    /// `None` for a model without groups.
    pub(super) fn new(
        summary: &'a SummaryDocument, shown: &'a [Shown], model: Option<&'a Model>,
        checks: Option<&'a Checks>,
    ) -> Option<Self> {
        let model = model.filter(|model| !model.groups.is_empty())?;
        let checks = checks.map_or(&[][..], |checks| &checks.groups);
        Some(Self { summary, shown, model, checks })
    }

    fn terms(&self) -> Vec<Term<'a>> {
        let groups = &self.model.groups;
        let mut effect = self.summary.parameters.len() - groups.effects();
        let mut parameter = effect - groups.parameters().len();
        let mut checks = self.checks.iter();
        let one = |names: &'a GroupNames| {
            let check = if names.smooth { None } else { checks.next() };
            let check = check.filter(|check| check.name == names.name);
            let term = Term { names, check, parameter, effect };
            parameter += names.parameters().len();
            effect += names.effects();
            term
        };
        groups.terms().iter().map(one).collect()
    }

    /// The title of the section.
    pub(super) fn title(&self) -> &'static str {
        let smooth = |wanted: bool| self.model.groups.terms().iter().any(|t| t.smooth == wanted);
        match (smooth(false), smooth(true)) {
            (true, true) => "Groups and curves",
            (false, true) => "Curves",
            _ => "Groups",
        }
    }

    /// What was found, in sentences.
    pub(super) fn sentences(&self) -> Vec<String> {
        let terms = self.terms();
        let plain = terms.iter().filter(|term| !term.names.smooth);
        plain.take(SENTENCES).map(|term| self.sentence(term, &terms)).collect()
    }

    pub(super) fn section(&self) -> String {
        let terms = self.terms();
        let mut html = String::new();
        let plain: Vec<&Term<'_>> = terms.iter().filter(|term| !term.names.smooth).collect();
        for term in &plain {
            let _ = writeln!(html, "<h3 class=\"group\">{}</h3>", escape(&term.names.name));
            let _ = writeln!(html, "<p class=\"say\">{}</p>", self.sentence(term, &terms));
            html.push_str(&self.correlations(term));
            html.push_str(&self.levels(term));
        }
        if terms.iter().any(|term| term.names.smooth) {
            html.push_str(&self.curves(&terms));
        }
        if !plain.is_empty() {
            html.push_str(&self.table(&plain));
        }
        html
    }

    fn parameter(&self, number: usize) -> &Parameter {
        &self.summary.parameters[number]
    }

    /// How much the levels differ.
    fn sentence(&self, term: &Term<'_>, all: &[Term<'_>]) -> String {
        let names = term.names;
        let interval = percent(self.summary.interval);
        let sds: Vec<String> = (0..names.coefficients.len())
            .map(|k| {
                let p = self.parameter(term.parameter + k);
                let [low, high] = p.central();
                let [sd, low, high] = [p.q50, low, high].map(|x| significant(x, high - low));
                let said = if k == 0 { format!("{interval}: ") } else { String::new() };
                let what = match names.coefficients[k].as_str() {
                    "(Intercept)" => "intercept".to_owned(),
                    name => format!("effect of <b>{}</b>", escape(name)),
                };
                let sd = format!("a standard deviation of {sd} ({said}{low} to {high})");
                format!("the {what} with {sd}")
            })
            .collect();
        let (name, levels) = (escape(&names.name), count(names.levels.len() as u64));
        let mut said = format!("The {levels} levels of <b>{name}</b> differ: {}", sds.join(", "));
        let alone = names.coefficients.len() == 1;
        if let Some(share) = self.share(term, all) {
            let [low, share, high] = share.map(|share| format!("{:.0}", 100.0 * share));
            let _ = write!(
                said,
                ". That is {share} % ({low} to {high} %) of the variance that {}",
                self.rest()
            );
        } else if let (Some(ratio), true) = (self.model.ratio, alone) {
            let [low, high] = self.parameter(term.parameter).central();
            let [low, at, high] = [low, self.parameter(term.parameter).q50, high].map(f64::exp);
            let [low, at, high] = [low, at, high].map(|x| significant(x, high - low));
            let _ = write!(
                said,
                ". A level one standard deviation above the average has {} of {at} ({low} to {high})",
                match ratio.name() {
                    name if name.starts_with(['a', 'e', 'i', 'o', 'u']) => format!("an {name}"),
                    name => format!("a {name}"),
                }
            );
        }
        said + "."
    }

    /// What leaves the variance that groups explain.
    fn rest(&self) -> String {
        let columns: Vec<String> = self
            .model
            .columns
            .iter()
            .filter(|name| !self.model.groups.terms().iter().any(|t| t.name == **name))
            .map(|name| format!("<b>{}</b>", escape(name)))
            .collect();
        match &columns[..] {
            [] => "there is".to_owned(),
            [one] => format!("{one} leaves"),
            [first, second] => format!("{first} and {second} leave"),
            _ => "the predictors leave".to_owned(),
        }
    }

    /// The share of the variance beside the predictors that a grouping has: the ends of the interval
    /// and the median. Of Gaussian models.
    fn share(&self, term: &Term<'_>, all: &[Term<'_>]) -> Option<[f64; 3]> {
        if self.model.family != FamilyName::Gaussian {
            return None;
        }
        let own = self.model.own_parameters.iter().position(|name| name == "sigma")?;
        let sigma = &self.shown.get(self.model.coefficients + own)?.some;
        let plain = || all.iter().filter(|other| !other.names.smooth);
        let variances: Vec<Vec<f64>> =
            plain().map(|other| self.variance(other)).collect::<Option<_>>()?;
        let mine = plain().position(|other| other.effect == term.effect)?;
        let share = |draw: usize| {
            let total: f64 = variances.iter().map(|variance| variance[draw]).sum();
            variances[mine][draw] / (total + sigma[draw] * sigma[draw])
        };
        let draws = variances.iter().map(Vec::len).chain([sigma.len()]).min()?;
        let mut shares: Vec<f64> = (0..draws).map(share).filter(|x| x.is_finite()).collect();
        shares.sort_by(f64::total_cmp);
        let tail = 0.5 * (1.0 - self.summary.interval);
        let found = [tail, 0.5, 1.0 - tail].map(|p| quantile(&shares, p));
        found.iter().all(|x| x.is_finite()).then_some(found)
    }

    /// The variance that a grouping adds to the responses, on the average over rows, in each draw.
    fn variance(&self, term: &Term<'_>) -> Option<Vec<f64>> {
        let wide = term.names.coefficients.len();
        let one = [1.0];
        let constant = term.names.coefficients == ["(Intercept)"];
        let moments = match term.check {
            Some(check) => &check.moments[..],
            None if constant => &one[..],
            None => return None,
        };
        if moments.len() != wide * wide {
            return None;
        }
        let column = |k: usize| self.shown.get(term.parameter + k).map(|shown| &shown.some[..]);
        let columns: Vec<&[f64]> =
            (0..wide * (wide + 1) / 2).map(column).collect::<Option<Vec<_>>>()?;
        let draws = columns.iter().map(|column| column.len()).min()?;
        let variance = |draw: usize| {
            let sd = |k: usize| columns[k][draw];
            let mut sum: f64 = (0..wide).map(|k| sd(k) * sd(k) * moments[k * wide + k]).sum();
            let mut next = wide;
            for i in 0..wide {
                for j in 0..i {
                    sum += 2.0 * columns[next][draw] * sd(i) * sd(j) * moments[i * wide + j];
                    next += 1;
                }
            }
            sum
        };
        Some((0..draws).map(variance).collect())
    }

    fn correlations(&self, term: &Term<'_>) -> String {
        let names = term.names;
        let mut next = term.parameter + names.coefficients.len();
        let mut items = String::new();
        for (i, later) in names.coefficients.iter().enumerate() {
            for earlier in &names.coefficients[..i] {
                let p = self.parameter(next);
                next += 1;
                let [low, high] = p.central();
                let direction = match (low > 0.0, high < 0.0) {
                    (true, _) => "levels that are high in one are high in the other",
                    (_, true) => "levels that are high in one are low in the other",
                    _ => "its sign is not clear",
                };
                let [at, low, high] = [p.q50, low, high].map(|x| signed(x, high - low));
                let _ = writeln!(
                    items,
                    "<li>The correlation of <b>{}</b> and <b>{}</b> is {at} ({low} to {high}): {direction}.</li>",
                    escape(earlier),
                    escape(later)
                );
            }
        }
        if items.is_empty() { items } else { format!("<ul class=\"say\">\n{items}</ul>\n") }
    }

    /// The effects of the levels, for each coefficient.
    fn levels(&self, term: &Term<'_>) -> String {
        let mut html = String::new();
        let wide = term.names.coefficients.len();
        let mut explained = false;
        for k in 0..wide {
            let alone = |level: usize| {
                let all = term.check.map_or(&[][..], |check| &check.alone);
                all.get(level * wide + k).copied().filter(|x| x.is_finite())
            };
            let row = |level: usize| {
                let number = term.effect + level * wide + k;
                let (p, shown) = (self.parameter(number), self.shown.get(number));
                let [q25, q75] = shown.map_or([f64::NAN; 2], |shown| shown.quartiles);
                let [low, high] = p.central();
                Row {
                    level: &term.names.levels[level],
                    parameter: p,
                    at: [low, q25, p.mean, q75, high],
                    alone: alone(level),
                }
            };
            let mut rows: Vec<Row<'_>> = (0..term.names.levels.len()).map(row).collect();
            rows.sort_by(|a, b| b.parameter.mean.total_cmp(&a.parameter.mean));
            let of = rows.len();
            let rows = some(rows);
            let coefficient = &term.names.coefficients[k];
            if wide > 1 || coefficient != "(Intercept)" {
                let _ = writeln!(html, "<h4>{}</h4>", escape(coefficient));
            }
            if !explained {
                explained = true;
                let _ = writeln!(html, "<p class=\"say\">{}</p>", self.legend(&rows, of));
            }
            html.push_str(&draw(&rows));
        }
        html
    }

    fn legend(&self, rows: &[Row<'_>], of: usize) -> String {
        let share = percent(self.summary.interval);
        let mut said = format!(
            "The dot is the mean of each level's effect, which is its difference from the average level; \
             the thick bar holds 50 % of its probability, the thin line {share}."
        );
        if rows.iter().any(|row| row.alone.is_some()) {
            said.push_str(
                " The <b class=\"key two\">ring</b> is the estimate from the rows of this level alone. \
                 The model pulls it towards 0, the more the fewer rows there are and the more they scatter: \
                 that is the shrinkage.",
            );
        }
        if of > rows.len() {
            let _ = write!(
                said,
                " Of {} levels these are the {ENDS} highest, the {ENDS} lowest, and {} at equal distances between them.",
                count(of as u64),
                rows.len() - 2 * ENDS
            );
        }
        said
    }

    /// The curves of smooths, with their straight lines.
    fn curves(&self, terms: &[Term<'_>]) -> String {
        let share = percent(self.summary.interval);
        let scale = match self.model.ratio {
            Some(ratio) => format!("the logarithm of the {}", ratio.name()),
            None => "the linear predictor".to_owned(),
        };
        let mut html = format!(
            "<p class=\"say\">What each smooth adds to {scale}, about its average over the data. The line is the mean \
             of the curve; the dark band holds 50 % of its probability at each point, the light one {share}.</p>\n\
             <div class=\"halves\">\n"
        );
        let smooths: Vec<&Term<'_>> = terms.iter().filter(|term| term.names.smooth).collect();
        for term in smooths.iter().take(CURVES) {
            html.push_str(&self.curve(term).unwrap_or_default());
        }
        html.push_str("</div>\n");
        if smooths.len() > CURVES {
            let more = smooths.len() - CURVES;
            let _ = writeln!(html, "<p class=\"small\">{more} more curves are not drawn.</p>");
        }
        html
    }

    fn curve(&self, term: &Term<'_>) -> Option<String> {
        let name = &term.names.name;
        let grid = self.model.grids.iter().find(|grid| {
            *name == grid.name || name.strip_suffix(&grid.name).is_some_and(|p| p.ends_with(':'))
        })?;
        let line = self.model.coefficient_names.iter().position(|other| other == name)?;
        let columns = self.model.scales.len().max(1);
        let [centre, divisor] =
            self.model.scales.get(line % columns).copied().unwrap_or([0.0, 1.0]);
        let functions = term.names.levels.len();
        let slope = &self.shown.get(line)?.some;
        let effects: Vec<&[f64]> = (0..functions)
            .map(|k| self.shown.get(term.effect + k).map(|shown| &shown.some[..]))
            .collect::<Option<_>>()?;
        let draws =
            effects.iter().map(|e| e.len()).chain([slope.len()]).min().filter(|n| *n > 1)?;
        let tail = 0.5 * (1.0 - self.summary.interval);
        let (mut means, mut outer, mut inner) = (Vec::new(), Vec::new(), Vec::new());
        for (point, x) in grid.x.iter().enumerate() {
            let own = (grid.line[point] - centre) / divisor;
            let values = &grid.functions[point * functions..(point + 1) * functions];
            let mut sums: Vec<f64> = slope[..draws].iter().map(|slope| slope * own).collect();
            for (value, effect) in values.iter().zip(&effects) {
                sums.iter_mut().zip(*effect).for_each(|(sum, u)| *sum += value * u);
            }
            means.push((*x, sums.iter().sum::<f64>() / draws as f64));
            sums.sort_by(f64::total_cmp);
            let ends = |tail: f64| [tail, 1.0 - tail].map(|p| quantile(&sums, p));
            outer.push((*x, ends(tail)));
            inner.push((*x, ends(0.25)));
        }
        let all = || outer.iter().flat_map(|(_, ends)| *ends).filter(|y| y.is_finite());
        let (low, high) =
            all().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), y| (a.min(y), b.max(y)));
        let margin = 0.05 * (high - low);
        let ends = [*grid.x.first()?, *grid.x.last()?];
        let mut chart = Chart::new(ends, [low - margin, high + margin]);
        chart.band("fill", &outer);
        chart.band("fill", &inner);
        if chart.y.holds(0.0) {
            chart.line("zero", ends.map(|x| (x, 0.0)));
        }
        chart.line("post", means);
        let sd = self.parameter(term.parameter);
        let [from, to] = sd.central();
        let [at, from, to] = [sd.q50, from, to].map(|x| significant(x, to - from));
        let said = format!(
            "Wiggles about the straight line have a standard deviation of {at} ({from} to {to})."
        );
        Some(chart.figure(&escape(name), [&escape(&grid.of), "effect"], &said))
    }

    /// All effects, folded.
    fn table(&self, terms: &[&Term<'_>]) -> String {
        let all: usize = terms.iter().map(|term| term.names.effects()).sum();
        let numbers: Vec<usize> =
            terms.iter().flat_map(|term| term.effect..term.effect + term.names.effects()).collect();
        let parameters: Vec<&Parameter> =
            numbers.iter().take(LISTED).map(|k| self.parameter(*k)).collect();
        let sds: Vec<f64> = parameters.iter().map(|p| p.sd).collect();
        let cells = |of: fn(&Parameter) -> f64| {
            column(&parameters.iter().map(|p| of(p)).collect::<Vec<f64>>(), &sds)
        };
        let shown = [
            cells(|p| p.mean),
            cells(|p| p.sd),
            cells(|p| p.central()[0]),
            cells(|p| p.central()[1]),
        ];
        let tail = 50.0 * (1.0 - self.summary.interval);
        let [low, high] = [tail, 100.0 - tail].map(|p| format!("{} %", short(p)));
        let mut html = format!(
            "<details><summary>Table of {} effects</summary>\n<div class=\"scroll\" tabindex=\"0\" role=\"region\" \
             aria-label=\"Effects of groups\">\n<table class=\"facts numbers\">\n<thead><tr><th scope=\"col\">effect</th>",
            count(all as u64)
        );
        for head in ["mean", "sd", &low, &high, "ESS", "R&#770;"] {
            let _ = write!(html, "<th scope=\"col\">{head}</th>");
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for (k, p) in parameters.iter().enumerate() {
            let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escape(&p.name));
            for cells in &shown {
                let _ = write!(html, "<td>{}</td>", cells[k]);
            }
            let ess = whole(p.ess_bulk.min(p.ess_tail));
            let _ = writeln!(html, "<td>{ess}</td><td>{}</td></tr>", crate::rhat(p.rhat));
        }
        html.push_str("</tbody>\n</table>\n</div>\n");
        if all > LISTED {
            let _ = writeln!(
                html,
                "<p class=\"small\">The first {LISTED}; <code>ridgewalk summary DIR --effects</code> lists all.</p>"
            );
        }
        html + "</details>\n"
    }
}

/// The effect of one level.
struct Row<'a> {
    level: &'a str,
    parameter: &'a Parameter,
    /// The lower end, 25 %, the mean, 75 % and the upper end.
    at: [f64; 5],
    /// The estimate from its own rows.
    alone: Option<f64>,
}

/// All of few rows; the first, the last and some between of many.
fn some(rows: Vec<Row<'_>>) -> Vec<Row<'_>> {
    let of = rows.len();
    if of <= DRAWN {
        return rows;
    }
    let (inside, wanted) = (of - 2 * ENDS, DRAWN - 2 * ENDS);
    let mut next = 0;
    let keep = |k: usize| {
        if !(ENDS..of - ENDS).contains(&k) {
            return true;
        }
        // The numbers of those between that are kept are (2 i + 1) inside / (2 wanted).
        let wants = ENDS + (2 * next + 1) * inside / (2 * wanted);
        let keep = k == wants;
        next += usize::from(keep);
        keep
    };
    let mut keep = keep;
    rows.into_iter().enumerate().filter(|(k, _)| keep(*k)).map(|(_, row)| row).collect()
}

/// A row for each level, highest first.
fn draw(rows: &[Row<'_>]) -> String {
    let of = |values: &mut dyn Iterator<Item = f64>| {
        values
            .filter(|x| x.is_finite())
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)))
    };
    let (low, high) = of(&mut rows.iter().flat_map(|row| row.at));
    let (least, most) = of(&mut rows.iter().filter_map(|row| row.alone));
    let room = BEYOND * (high - low);
    let (low, high) = (low.min(least.max(low - room)), high.max(most.min(high + room)));
    let margin = 0.03 * (high - low);
    let scale = Scale::new(low - margin, high + margin, WIDTH);
    let axis = ticks(scale.low(), scale.high(), 6);
    let roomy = rows.len() <= ROOMY;
    let class = if roomy { "forests" } else { "forests narrow" };
    let mut html = format!("<div class=\"{class}\">\n");
    let blocks = rows.len().div_ceil(BLOCK).max(1);
    let sds: Vec<f64> = rows.iter().map(|row| row.parameter.sd).collect();
    let text = |k: usize| column(&rows.iter().map(|row| row.at[k]).collect::<Vec<_>>(), &sds);
    let texts = [text(0), text(2), text(4)];
    let each = rows.len().div_ceil(blocks).max(1);
    for (block, some) in rows.chunks(each).enumerate() {
        let values = |k: usize| {
            let [low, mean, high] = [0, 1, 2].map(|column: usize| &texts[column][block * each + k]);
            format!("{mean} <span>[{low}, {high}]</span>")
        };
        html.push_str(&draw_block(some, &scale, &axis, roomy, &values));
    }
    html + "</div>\n"
}

fn draw_block(
    rows: &[Row<'_>], scale: &Scale, axis: &[(f64, String)], roomy: bool,
    values: &dyn Fn(usize) -> String,
) -> String {
    let unit = HEIGHTS[usize::from(!roomy)];
    let height = unit * units(rows.len());
    let (mut names, mut numbers) = (String::new(), String::new());
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {height}\" preserveAspectRatio=\"none\" style=\"height:{height}px\" role=\"img\">\
         <title>Effects of {} levels, from {} to {}</title>",
        rows.len(),
        rows.first().map_or_else(String::new, |row| escape(row.level)),
        rows.last().map_or_else(String::new, |row| escape(row.level)),
    );
    for (tick, _) in axis {
        let _ = write!(svg, "<path class=\"grid\" d=\"M{} 0v{height}\"/>", scale.at(*tick));
    }
    if scale.holds(0.0) {
        let _ = write!(svg, "<path class=\"zero\" d=\"M{} 0v{height}\"/>", scale.at(0.0));
    }
    for (i, row) in rows.iter().enumerate() {
        let level = escape(row.level);
        let _ = write!(names, "<li title=\"{level}\">{level}</li>");
        let _ = write!(numbers, "<li>{}</li>", values(i));
        if !row.at.iter().all(|x| x.is_finite()) {
            continue;
        }
        let y = unit * units(i) + unit / 2;
        let [low, q25, mean, q75, high] = row.at.map(|x| scale.at(x));
        let _ = write!(
            svg,
            "<g><title>{level}: {} [{}, {}]</title><path class=\"long\" d=\"M{low} {y}H{high}\"/>\
             <path class=\"wide\" d=\"M{q25} {y}H{q75}\"/><path class=\"dot\" d=\"M{mean} {y}h0\"/></g>",
            short(row.at[2]),
            short(row.at[0]),
            short(row.at[4])
        );
        // Beyond the axis it would be drawn in a wrong place.
        if let Some(alone) = row.alone.filter(|x| scale.holds(*x)) {
            let x = scale.at(alone);
            let _ = write!(
                svg,
                "<path class=\"ring\" d=\"M{x} {y}h0\"><title>{level} alone: {}</title></path>\
                 <path class=\"hole\" d=\"M{x} {y}h0\"/>",
                short(alone)
            );
        }
    }
    let labels = labels_below(scale, axis);
    let (class, numbers) = match roomy {
        true => ("forest", format!("<ol class=\"values\">{numbers}</ol>")),
        false => ("forest dense", String::new()),
    };
    format!(
        "<div class=\"{class}\"><ol class=\"names\">{names}</ol><figure class=\"plot\">{svg}</svg>{labels}</figure>\
         {numbers}</div>\n"
    )
}

//! `ridgewalk describe`: the columns of a data file and of a design, before anything is fitted.

use std::fmt::Write;

use clap::Args;
use ridgewalk::frame::place::{listed, shown};
use ridgewalk::frame::{ColumnDescription, Description, GroupDescription, Kind, SparseNumbers};
use ridgewalk::pipeline::{DescribedGroup, DesignColumn, ModelDescription, PriorOf};

use crate::failure::Failure;
use crate::fit::options::ModelOptions;
use crate::numbers::short;
use crate::output::{self, shortened};

/// The width of a line.
const LINE: usize = 80;
/// Names are shown up to this many characters, in the tables of columns and of coefficients.
const NAME: usize = 16;
const COEFFICIENT: usize = 24;

/// Options of `ridgewalk describe`.
#[derive(Debug, Args)]
pub(crate) struct DescribeOptions {
    /// The model.
    #[command(flatten)]
    model: ModelOptions,
    /// Write one JSON document
    #[arg(long)]
    json: bool,
}

/// Runs `ridgewalk describe`.
pub(crate) fn run(options: &DescribeOptions) -> Result<(), Failure> {
    let settings = options.model.settings()?;
    settings.validate()?;
    let table = settings.read()?;
    let found = ridgewalk::describe(&table, &settings)?;
    if options.json {
        return output::json(&found);
    }
    let mut text = columns(&found.table);
    if let Some(model) = &found.model {
        text.push_str("\n\n");
        text.push_str(&design(model));
    }
    output::text(&text)
}

/// The columns of the table.
fn columns(found: &Description) -> String {
    let mut text = format!("{}: {} rows, {} columns", found.file, found.rows, found.columns.len());
    match found.incomplete {
        0 => text.push_str(", no missing values\n\n"),
        rows => {
            let _ = write!(text, ", missing values in {rows} rows\n\n");
        }
    }
    let name = width(found.columns.iter().map(|column| column.name.as_str()), NAME);
    let heads = ["min", "25 %", "median", "75 %", "max"].map(|head| format!("{head:>7}")).join(" ");
    let _ = writeln!(text, "{:name$} {:6} {:>7} {heads}", "", "kind", "missing");
    for column in &found.columns {
        let row = format!(
            "{:name$} {:6} {:>7} {}",
            shortened(&column.name, name),
            column.kind.name(),
            column.missing,
            values(column, LINE - name - 16)
        );
        let _ = writeln!(text, "{}", row.trim_end());
    }
    for column in &found.columns {
        if let Some(problem) = &column.problem {
            let _ = writeln!(text, "note: {problem}");
        }
    }
    text.trim_end().to_owned()
}

/// Quantiles and a histogram, or levels with their counts, in so many characters.
fn values(column: &ColumnDescription, line: usize) -> String {
    if let Some(numbers) = &column.numbers {
        let [a, b, c, d, e] = [numbers.min, numbers.q25, numbers.median, numbers.q75, numbers.max]
            .map(|value| format!("{:>7}", short(value)));
        return format!("{a} {b} {c} {d} {e} {}", bars(&numbers.histogram));
    }
    if let Some(found) = &column.sparse {
        let SparseNumbers { columns, entries, range: [low, high], .. } = found;
        let range = match entries {
            0 => String::new(),
            _ => format!(" from {} to {}", short(*low), short(*high)),
        };
        return format!("{columns} columns, {entries} entries that are not 0{range}");
    }
    let Some(distinct) = column.distinct else { return "too many texts to count".to_owned() };
    if column.levels.is_empty() {
        return String::new();
    }
    if let (Kind::Date, [(first, _), .., (last, _)]) = (column.kind, &column.levels[..]) {
        return format!("{distinct} dates from {first} to {last}");
    }
    let mut text = format!("{distinct} level{}: ", if distinct == 1 { "" } else { "s" });
    for (k, (level, count)) in column.levels.iter().enumerate() {
        let next = format!("{}{} {count}", if k > 0 { ", " } else { "" }, shown(level, NAME));
        let rest = format!(", and {} more", distinct - k);
        let room = line.saturating_sub(if k + 1 < distinct { rest.chars().count() } else { 0 });
        if k > 0 && text.chars().count() + next.chars().count() > room {
            text.push_str(&rest);
            break;
        }
        text.push_str(&next);
    }
    text
}

/// Bars of eight heights.
fn bars(counts: &[usize]) -> String {
    const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let bar = |&count: &usize| match count {
        0 => ' ',
        count => BARS[((8 * count).div_ceil(most)).clamp(1, 8) - 1],
    };
    counts.iter().map(bar).collect::<String>().trim_end().to_owned()
}

/// The columns of the design.
fn design(model: &ModelDescription) -> String {
    let count = model.columns.len();
    let rank = match model.rank {
        Some(rank) => format!("rank {rank}"),
        None => "rank not computed".to_owned(),
    };
    let plural = if count == 1 { "" } else { "s" };
    let mut text = format!(
        "{}\n{} family, {} rows, {count} coefficient{plural}, {rank}\n\n",
        model.formula, model.family, model.rows
    );
    let names = model.columns.iter().map(|column| column.name.as_str());
    let name = width(names, COEFFICIENT).max(10);
    let heads = ["mean", "sd", "min", "max"].map(|head| format!("{head:>8}")).join(" ");
    let _ = writeln!(text, "{:name$} {heads}  prior", "");
    for column in &model.columns {
        let DesignColumn { mean, sd, min, max, prior, .. } = column;
        let numbers = [mean, sd, min, max].map(|value| format!("{:>8}", short(*value))).join(" ");
        let _ = writeln!(text, "{:name$} {numbers}  {prior}", shortened(&column.name, name));
    }
    let blank = " ".repeat(4 * 9);
    for parameter in &model.parameters {
        let _ = writeln!(text, "{:name$}{blank}  {}", parameter.name, parameter.prior);
    }
    for DescribedGroup { levels: group, priors, .. } in &model.groups {
        let _ = writeln!(text, "\n{}", of_group(group));
        for PriorOf { name: parameter, prior, .. } in priors {
            let _ = writeln!(text, "  {} ~ {prior}", shown(parameter, LINE / 2));
        }
    }
    if model.intercept_at_means {
        text.push_str("\nThe prior of the intercept is that at the means of the predictors.\n");
    }
    for note in &model.notes {
        let _ = writeln!(text, "note: {note}");
    }
    text.trim_end().to_owned()
}

/// A grouping in one line.
fn of_group(group: &GroupDescription) -> String {
    let GroupDescription { name, coefficients, levels, smallest, median, largest, .. } = group;
    if group.smooth {
        return format!("{name}: a smooth curve, a straight line and {levels} wiggles");
    }
    let rows = if smallest == largest {
        format!("{smallest} rows each")
    } else {
        format!("{smallest} to {largest} rows each, median {}", short(*median))
    };
    let effects = match &coefficients[..] {
        [one] if one == "(Intercept)" => "an intercept".to_owned(),
        [one] => format!("a slope of {one}"),
        several => format!("{} for each", listed(several, 4)),
    };
    format!("{name}: {effects}, {levels} levels, {rows}")
}

/// The width of a column of names.
fn width<'a>(names: impl Iterator<Item = &'a str>, most: usize) -> usize {
    names.map(|name| shown(name, most).chars().count()).max().unwrap_or(0).min(most)
}

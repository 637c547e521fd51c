//! The table of parameters on a terminal: columns that do not fit are left out whole, in a fixed
//! order, and names lose their middle. No line is broken.

use ridgewalk::pipeline::{Parameter, SummaryDocument};

use crate::numbers::{align, alike, decimals, percent, ratios, rhat, whole};
use crate::output::{columns, shortened};

/// Blanks between two columns.
const GAP: usize = 2;
/// Names keep this width as long as there are columns to leave out.
const NAME: usize = 24;
/// And this one at least.
const NARROWEST: usize = 8;

/// A table as text, and the heads of the columns that did not fit.
pub(crate) struct Layout {
    /// Lines without a newline at the end.
    pub(crate) text: String,
    /// In the order in which they were left out.
    pub(crate) left_out: Vec<String>,
}

/// One column.
struct Column {
    head: String,
    cells: Vec<String>,
    width: usize,
    /// Its place in the order of leaving out; `None` if it always stays.
    rank: Option<usize>,
}

impl Column {
    fn new(head: &str, cells: Vec<String>, rank: Option<usize>) -> Self {
        let widest = cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        Self { width: widest.max(columns(head)), head: head.to_owned(), cells, rank }
    }
}

/// The ends of the interval of a parameter: the highest-density one, or the central one.
pub(crate) fn ends(parameter: &Parameter, hdi: bool) -> [f64; 2] {
    if hdi { parameter.hdi().unwrap_or([f64::NAN; 2]) } else { parameter.central() }
}

/// The heads of the ends of a central interval: `5 %` and `95 %`.
pub(crate) fn tails(interval: f64) -> [String; 2] {
    let below = 0.5 * (1.0 - interval);
    [below, 1.0 - below].map(percent)
}

/// Mean, sd, lower end, median and upper end of each parameter, as texts.
pub(crate) fn estimates(document: &SummaryDocument, hdi: bool) -> Vec<[String; 5]> {
    let sds: Vec<f64> = document.parameters.iter().map(|p| p.sd).collect();
    let row = |(parameter, decimals): (&Parameter, Option<i32>)| {
        let [lower, upper] = ends(parameter, hdi);
        let values = [parameter.mean, parameter.sd, lower, parameter.q50, upper];
        if document.scale.is_some() { ratios(values, decimals) } else { alike(values, decimals) }
    };
    document.parameters.iter().zip(decimals(&sds)).map(row).collect()
}

/// The table in at most `width` columns. The effective sample size of the tails is left out first,
/// then the Monte Carlo error, R-hat, the effective sample size and the median.
pub(crate) fn table(document: &SummaryDocument, hdi: bool, width: usize) -> Layout {
    let mut shown = all_columns(document, hdi);
    let names = document.parameters.iter().map(|p| columns(&shortened(&p.name, usize::MAX)));
    let head = document.scale.as_deref().unwrap_or("");
    let longest = names.max().unwrap_or(0).max(columns(head));
    let mut left_out = Vec::new();
    let numbers = |shown: &[Column]| shown.iter().map(|column| GAP + column.width).sum::<usize>();
    while numbers(&shown) + longest.min(NAME) > width {
        let ranks = shown.iter().enumerate().filter_map(|(k, column)| Some((column.rank?, k)));
        let Some((_, k)) = ranks.min() else { break };
        left_out.push(shown.remove(k).head);
    }
    let name = longest.min(width.saturating_sub(numbers(&shown)).max(NARROWEST));
    let mut text = line(&shortened(head, name), name, &shown, |column| &column.head);
    for (k, parameter) in document.parameters.iter().enumerate() {
        text.push('\n');
        text.push_str(&line(&shortened(&parameter.name, name), name, &shown, |c| &c.cells[k]));
    }
    Layout { text, left_out }
}

fn line<'a>(
    name: &str, width: usize, shown: &'a [Column], cell: impl Fn(&'a Column) -> &'a String,
) -> String {
    let blanks = |count: usize| " ".repeat(count);
    let mut line = format!("{name}{}", blanks(width.saturating_sub(columns(name))));
    for column in shown {
        let text = cell(column);
        line.push_str(&blanks(GAP + column.width - columns(text)));
        line.push_str(text);
    }
    line.trim_end().to_owned()
}

fn all_columns(document: &SummaryDocument, hdi: bool) -> Vec<Column> {
    let parameters = &document.parameters;
    let rows = estimates(document, hdi);
    let mut numbers: [Vec<String>; 5] =
        std::array::from_fn(|k| rows.iter().map(|row| row[k].clone()).collect());
    align(&mut numbers);
    let [mean, sd, lower, median, upper] = numbers;
    let errors: Vec<f64> = parameters.iter().map(|p| p.mcse_mean).collect();
    let error = |(value, decimals): (&f64, Option<i32>)| {
        let [text] = alike([*value], decimals);
        text
    };
    let mut errors = [errors.iter().zip(decimals(&errors)).map(error).collect()];
    align(&mut errors);
    let [error] = errors;
    let [low, high] =
        if hdi { ["HDI low".to_owned(), "HDI high".to_owned()] } else { tails(document.interval) };
    let of = |text: fn(&Parameter) -> String| parameters.iter().map(text).collect();
    vec![
        Column::new("mean", mean, None),
        Column::new("sd", sd, None),
        Column::new("mcse", error, Some(1)),
        Column::new(&low, lower, None),
        Column::new("50 %", median, Some(4)),
        Column::new(&high, upper, None),
        Column::new("ESS bulk", of(|p| whole(p.ess_bulk)), Some(3)),
        Column::new("ESS tail", of(|p| whole(p.ess_tail)), Some(0)),
        Column::new("R-hat", of(|p| rhat(p.rhat)), Some(2)),
    ]
}

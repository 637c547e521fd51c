//! The table of parameters on a terminal: columns that do not fit are left out whole, in a fixed
//! order, and names lose their middle. No line is broken.

use ridgewalk::pipeline::{Parameter, SummaryDocument};

use crate::numbers::{aligned, alike, percent, rhat, whole};
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
    /// Its place in the order of leaving out; `None` if it always stays.
    rank: Option<usize>,
}

impl Column {
    fn width(&self) -> usize {
        let cells = self.cells.iter().map(|cell| columns(cell)).max().unwrap_or(0);
        cells.max(columns(&self.head))
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

/// Mean, sd, lower end, median and upper end of a parameter, as texts with the same last digit.
pub(crate) fn estimates(parameter: &Parameter, hdi: bool) -> [String; 5] {
    let [lower, upper] = ends(parameter, hdi);
    let Parameter { mean, sd, q50, .. } = *parameter;
    alike([mean, sd, lower, q50, upper], sd)
}

/// The table in at most `width` columns. The effective sample size of the tails is left out first,
/// then the Monte Carlo error, R-hat, the effective sample size and the median.
pub(crate) fn table(document: &SummaryDocument, hdi: bool, width: usize) -> Layout {
    let mut shown = all_columns(document, hdi);
    let names = document.parameters.iter().map(|p| columns(&shortened(&p.name, usize::MAX)));
    let head = document.scale.as_deref().unwrap_or("");
    let longest = names.max().unwrap_or(0).max(columns(head));
    let mut left_out = Vec::new();
    let numbers = |shown: &[Column]| shown.iter().map(|column| GAP + column.width()).sum::<usize>();
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
        line.push_str(&blanks(GAP + column.width() - columns(text)));
        line.push_str(text);
    }
    line.trim_end().to_owned()
}

fn all_columns(document: &SummaryDocument, hdi: bool) -> Vec<Column> {
    let parameters = &document.parameters;
    let rows: Vec<[String; 5]> = parameters.iter().map(|p| estimates(p, hdi)).collect();
    let number = |head: &str, rank: Option<usize>, cells: Vec<String>| {
        let mut cells = cells;
        aligned(&mut cells);
        Column { head: head.to_owned(), cells, rank }
    };
    let estimate = |head: &str, rank: Option<usize>, k: usize| {
        number(head, rank, rows.iter().map(|row| row[k].clone()).collect())
    };
    let of = |text: &dyn Fn(&Parameter) -> String| parameters.iter().map(text).collect();
    let error = |p: &Parameter| {
        let [text] = alike([p.mcse_mean], p.mcse_mean);
        text
    };
    let [low, high] =
        if hdi { ["HDI low".to_owned(), "HDI high".to_owned()] } else { tails(document.interval) };
    vec![
        estimate("mean", None, 0),
        estimate("sd", None, 1),
        number("mcse", Some(1), of(&error)),
        estimate(&low, None, 2),
        estimate("50 %", Some(4), 3),
        estimate(&high, None, 4),
        Column { head: "ESS bulk".into(), cells: of(&|p| whole(p.ess_bulk)), rank: Some(3) },
        Column { head: "ESS tail".into(), cells: of(&|p| whole(p.ess_tail)), rank: Some(0) },
        Column { head: "R-hat".into(), cells: of(&|p| rhat(p.rhat)), rank: Some(2) },
    ]
}

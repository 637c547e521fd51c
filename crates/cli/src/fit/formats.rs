//! The table of parameters for other programs: Markdown, LaTeX, HTML and CSV.
//!
//! The first three have what a publication shows: mean, standard deviation, median and interval,
//! rounded to two digits of the standard deviation. CSV has every column, unrounded.

use std::fmt::Write;

use ridgewalk::frame::place::shown;
use ridgewalk::pipeline::{Parameter, SummaryDocument};

use super::layout::{estimates, tails};
use crate::numbers::percent;
use crate::output::columns;

/// The heads of the columns of numbers.
fn heads(document: &SummaryDocument, hdi: bool) -> [String; 5] {
    let [low, high] = if hdi {
        let share = percent(document.interval);
        ["low", "high"].map(|end| format!("{share} HDI {end}"))
    } else {
        tails(document.interval)
    };
    ["mean".to_owned(), "sd".to_owned(), low, "median".to_owned(), high]
}

/// The head of the column of names.
fn first(document: &SummaryDocument) -> &str {
    document.scale.as_deref().unwrap_or("parameter")
}

/// A table as GitHub renders it, which is readable as text too.
pub(crate) fn markdown(document: &SummaryDocument, hdi: bool) -> String {
    let head = std::iter::once(first(document).to_owned()).chain(heads(document, hdi));
    let mut rows: Vec<Vec<String>> = vec![head.collect()];
    for (parameter, numbers) in document.parameters.iter().zip(estimates(document, hdi)) {
        let name = markdown_text(&parameter.name);
        rows.push(std::iter::once(name).chain(numbers).collect());
    }
    let widths: Vec<usize> =
        (0..6).map(|k| rows.iter().map(|row| columns(&row[k])).max().unwrap_or(0).max(3)).collect();
    let line = |row: &[String]| {
        let mut line = "|".to_owned();
        for (k, (cell, width)) in row.iter().zip(&widths).enumerate() {
            let blanks = " ".repeat(width - columns(cell));
            let cell = if k == 0 { format!("{cell}{blanks}") } else { format!("{blanks}{cell}") };
            let _ = write!(line, " {cell} |");
        }
        line
    };
    let rule: String = widths
        .iter()
        .enumerate()
        .map(|(k, width)| match k {
            0 => format!(" {} |", "-".repeat(*width)),
            _ => format!(" {}: |", "-".repeat(width - 1)),
        })
        .collect();
    let mut lines: Vec<String> = rows.iter().map(|row| line(row)).collect();
    lines.insert(1, format!("|{rule}"));
    lines.join("\n")
}

/// Text in which Markdown finds nothing to render.
fn markdown_text(text: &str) -> String {
    let mut out = String::new();
    for character in shown(text, usize::MAX).chars() {
        if r"\`*_{}[]<>#~&|$!".contains(character) {
            out.push('\\');
        }
        out.push(character);
    }
    out
}

/// A `tabular` with the rules of the package booktabs.
pub(crate) fn latex(document: &SummaryDocument, hdi: bool) -> String {
    let head = heads(document, hdi).map(|head| latex_text(&head).replace(" \\%", r"\,\%"));
    let mut text = format!(
        "% \\usepackage{{booktabs}}\n\\begin{{tabular}}{{lrrrrr}}\n\\toprule\n{} & {} \\\\\n\\midrule\n",
        latex_text(first(document)),
        head.join(" & ")
    );
    for (parameter, numbers) in document.parameters.iter().zip(estimates(document, hdi)) {
        let numbers = numbers.map(|number| latex_number(&number));
        let _ = writeln!(text, "{} & {} \\\\", latex_text(&parameter.name), numbers.join(" & "));
    }
    text + "\\bottomrule\n\\end{tabular}"
}

/// Text in which LaTeX finds no command.
fn latex_text(text: &str) -> String {
    let mut out = String::new();
    for character in shown(text, usize::MAX).chars() {
        match character {
            '\\' => out.push_str(r"\textbackslash{}"),
            '~' => out.push_str(r"\textasciitilde{}"),
            '^' => out.push_str(r"\textasciicircum{}"),
            '<' => out.push_str(r"\textless{}"),
            '>' => out.push_str(r"\textgreater{}"),
            '|' => out.push_str(r"\textbar{}"),
            // After the end of a row these would be read as its options.
            '[' | '*' if out.is_empty() => {
                let _ = write!(out, "{{{character}}}");
            }
            '&' | '%' | '$' | '#' | '_' | '{' | '}' => {
                out.push('\\');
                out.push(character);
            }
            other => out.push(other),
        }
    }
    out
}

/// A number in mathematical mode, for its minus sign and its exponent.
fn latex_number(text: &str) -> String {
    match text.split_once('e') {
        _ if text == "–" => "--".to_owned(),
        Some((mantissa, exponent)) => format!("${mantissa} \\times 10^{{{exponent}}}$"),
        None => format!("${text}$"),
    }
}

/// A table without styles, for a page that has its own.
pub(crate) fn html(document: &SummaryDocument, hdi: bool) -> String {
    let share = percent(document.interval);
    let kind = if hdi { "highest-density interval" } else { "interval" };
    let mut text = format!(
        "<table>\n<caption>{}: {} model, {} rows; posterior mean, standard deviation, median and {share} {kind}</caption>\n<thead>\n<tr><th scope=\"col\">{}</th>",
        html_text(&document.text.title),
        html_text(&document.problem.family),
        document.problem.n,
        html_text(first(document))
    );
    for head in heads(document, hdi) {
        let _ = write!(text, "<th scope=\"col\">{}</th>", html_text(&head));
    }
    text.push_str("</tr>\n</thead>\n<tbody>\n");
    for (parameter, numbers) in document.parameters.iter().zip(estimates(document, hdi)) {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", html_text(&parameter.name));
        for number in numbers {
            let _ = write!(text, "<td>{number}</td>");
        }
        text.push_str("</tr>\n");
    }
    text + "</tbody>\n</table>"
}

fn html_text(text: &str) -> String {
    let mut out = String::new();
    for character in shown(text, usize::MAX).chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            other => out.push(other),
        }
    }
    out
}

/// The columns of numbers in CSV: the keys of `summary.json`.
const KEYS: [&str; 14] = [
    "mean",
    "sd",
    "mcse_mean",
    "q05",
    "q50",
    "q95",
    "ess_bulk",
    "ess_tail",
    "rhat",
    "interval",
    "lower",
    "upper",
    "hdi_lower",
    "hdi_upper",
];

/// Every number in full, with fields quoted as RFC 4180 has it. A number that is not finite is an
/// empty field.
pub(crate) fn csv(document: &SummaryDocument) -> String {
    let mut lines = vec![format!("name,{}", KEYS.join(","))];
    let scale = document.scale.as_deref();
    if scale.is_some() {
        lines[0].push_str(",scale");
    }
    for parameter in &document.parameters {
        let mut line = csv_field(&parameter.name);
        for number in numbers(parameter, document.interval) {
            line.push(',');
            if number.is_finite() {
                let _ = write!(line, "{number:?}");
            }
        }
        if let Some(scale) = scale {
            let _ = write!(line, ",{}", csv_field(scale));
        }
        lines.push(line);
    }
    lines.join("\n")
}

/// In the order of [`KEYS`].
fn numbers(parameter: &Parameter, interval: f64) -> [f64; 14] {
    let Parameter { mean, sd, mcse_mean, q05, q50, q95, ess_bulk, ess_tail, rhat, .. } = *parameter;
    let [lower, upper] = parameter.central();
    let [hdi_lower, hdi_upper] = parameter.hdi().unwrap_or([f64::NAN; 2]);
    [
        mean, sd, mcse_mean, q05, q50, q95, ess_bulk, ess_tail, rhat, interval, lower, upper,
        hdi_lower, hdi_upper,
    ]
}

fn csv_field(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) {
        format!("\"{}\"", text.replace('"', "\"\""))
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_text_in_every_format() {
        for (name, markdown, latex, html, csv) in [
            ("a|b", r"a\|b", r"a\textbar{}b", "a|b", "a|b"),
            ("x_1 & 50%", r"x\_1 \& 50%", r"x\_1 \& 50\%", "x_1 &amp; 50%", "x_1 & 50%"),
            ("<b>", r"\<b\>", r"\textless{}b\textgreater{}", "&lt;b&gt;", "<b>"),
            ("[a]", r"\[a\]", "{[}a]", "[a]", "[a]"),
            ("a, \"b\"", "a, \"b\"", "a, \"b\"", "a, &quot;b&quot;", "\"a, \"\"b\"\"\""),
            (
                r"\x^2~",
                r"\\x^2\~",
                r"\textbackslash{}x\textasciicircum{}2\textasciitilde{}",
                r"\x^2~",
                r"\x^2~",
            ),
            (
                "two\nlines",
                r"two\\nlines",
                r"two\textbackslash{}nlines",
                r"two\nlines",
                "\"two\nlines\"",
            ),
        ] {
            assert_eq!(markdown_text(name), markdown);
            assert_eq!(latex_text(name), latex);
            assert_eq!(html_text(name), html);
            assert_eq!(csv_field(name), csv);
        }
    }

    #[test]
    fn numbers_in_latex_have_signs_and_powers() {
        let found = ["-0.48", "1.6e-5", "–"].map(latex_number);
        assert_eq!(found, ["$-0.48$", r"$1.6 \times 10^{-5}$", "--"]);
    }
}

//! The tables of `ridgewalk fit` and `summary`: intervals, ratios, formats, and lines that fit a
//! terminal. Numbers are compared with draws read from `draws.csv`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::fits::{Fit, Place, shipped};

/// Names that mean something to Markdown, LaTeX, HTML or CSV.
const NASTY: [&str; 5] = [
    "a|b",
    "x_1 & 50%",
    "<b>",
    "say \"hi\", there",
    "a_long_name_of_a_predictor_as_spreadsheets_have_them_in_2019",
];

/// A file whose columns have these names.
fn nasty(place: &Place) -> String {
    let quoted = NASTY.map(|name| format!("\"{}\"", name.replace('"', "\"\"")));
    let mut text = format!("y,{}\n", quoted.join(","));
    for i in 0..60_u32 {
        let numbers = (1..=5).map(|k| (f64::from(i * (7 + k)) * 0.618).fract().to_string());
        let numbers: Vec<String> = numbers.collect();
        text.push_str(&format!("{},{}\n", (i * i / 3) % 2, numbers.join(",")));
    }
    place.file("nasty.csv", &text)
}

fn wells(place: &Place, more: &str) -> Fit {
    let data = shipped("wells.csv");
    place.fit(
        "wells",
        &format!("{data} --response switched --predictors dist100,arsenic --quiet {more}"),
    )
}

/// What `ridgewalk summary` writes to standard output and standard error.
fn summary(place: &Place, words: &str) -> (String, String) {
    let output = place.run(&format!("summary {words}"));
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert_eq!(output.status.code(), Some(0), "{words}: {err}");
    (out, err)
}

fn json(place: &Place, words: &str) -> Value {
    let (out, err) = summary(place, &format!("{words} --json"));
    assert_eq!(err, "");
    serde_json::from_str(&out).unwrap()
}

/// Exit code 2, nothing on standard output, and these words on standard error.
fn refused(place: &Place, words: &str, parts: &[&str]) {
    let output = place.run(words);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{words}: {said}");
    assert!(output.stdout.is_empty());
    assert!(parts.iter().all(|part| said.contains(part)), "{words}: {said}");
}

/// The columns of `draws.csv` by their names.
fn draws(directory: &Path) -> BTreeMap<String, Vec<f64>> {
    let mut reader = csv::Reader::from_path(directory.join("draws.csv")).unwrap();
    let names: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    let mut columns = BTreeMap::new();
    for record in reader.records() {
        for (name, cell) in names.iter().zip(&record.unwrap()) {
            let column: &mut Vec<f64> = columns.entry(name.clone()).or_default();
            column.push(cell.parse().unwrap());
        }
    }
    columns
}

/// The whole part of a number of draws.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
fn whole(count: f64) -> usize {
    count as usize
}

/// The quantile by linear interpolation, as NumPy's default.
fn quantile(values: &[f64], p: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let position = p * (sorted.len() - 1) as f64;
    let (index, share) = (whole(position), position.fract());
    let next = sorted[(index + 1).min(sorted.len() - 1)];
    sorted[index] * (1.0 - share) + next * share
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn near(found: &Value, need: f64) {
    let found = found.as_f64().unwrap();
    assert!((found - need).abs() <= 1e-11 * need.abs().max(1e-3), "{found} and {need}");
}

/// No line is wider than a terminal of 80 columns.
fn narrow(text: &str) {
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{} columns: {line}", line.chars().count());
    }
}

/// The lines of the table, with its head.
fn rows(text: &str) -> Vec<&str> {
    let lines = text.lines().skip_while(|line| !line.contains(" mean "));
    lines.take_while(|line| !line.is_empty()).collect()
}

#[test]
fn intervals_of_any_width_hold_their_share_of_the_draws() {
    let place = Place::new();
    let fit = wells(&place, "--csv --interval 0.8");
    assert_eq!(fit.summary["interval"], 0.8);
    let config = fs::read_to_string(fit.directory.join("config.toml")).unwrap();
    assert!(config.contains("interval = 0.8") && config.contains("--interval 0.8"), "{config}");
    assert!(fit.stdout.contains(" 10 % ") && fit.stdout.contains(" 90 % "), "{}", fit.stdout);
    let columns = draws(&fit.directory);
    let check = |document: &Value, p: f64| {
        for parameter in document["parameters"].as_array().unwrap() {
            let column = &columns[parameter["name"].as_str().unwrap()];
            near(&parameter["lower"], quantile(column, (1.0 - p) / 2.0));
            near(&parameter["upper"], quantile(column, (1.0 + p) / 2.0));
            near(&parameter["q05"], quantile(column, 0.05));
            let [low, high] =
                ["hdi_lower", "hdi_upper"].map(|key| parameter[key].as_f64().unwrap());
            let inside = column.iter().filter(|x| (low..=high).contains(x)).count();
            assert_eq!(inside, whole(p * column.len() as f64) + 1);
            let [lower, upper] = ["lower", "upper"].map(|key| parameter[key].as_f64().unwrap());
            assert!(high - low <= 1.001 * (upper - lower));
        }
    };
    check(&fit.summary, 0.8);
    let other = json(&place, "wells --interval 0.95");
    assert_eq!(other["interval"], 0.95);
    check(&other, 0.95);
    // What does not depend on the interval stays, and so does the run directory.
    assert_eq!(other["parameters"][1]["mode"], fit.summary["parameters"][1]["mode"]);
    assert_eq!(json(&place, "wells"), fit.summary);
    // The quantiles of the table are the interval of 90 %.
    let usual = json(&place, "wells --interval 0.9");
    assert!(usual["parameters"][0].get("lower").is_none());
    assert!(usual["parameters"][0]["hdi_lower"].is_f64());
}

#[test]
fn a_default_interval_is_not_recorded_and_the_table_can_show_the_other_kind() {
    let place = Place::new();
    let fit = wells(&place, "--hdi");
    assert!(!fit.summary["command"].as_str().unwrap().contains("--interval"));
    assert_eq!(fit.summary["interval"], 0.9);
    assert!(fit.stdout.contains("HDI low") && fit.stdout.contains("HDI high"), "{}", fit.stdout);
    assert!(fit.stdout.contains("the shortest that holds 90 %"), "{}", fit.stdout);
    assert_eq!(summary(&place, "wells --hdi").0, fit.stdout);
    let resumed = place.run("resume wells --hdi --quiet");
    assert_eq!(String::from_utf8(resumed.stdout).unwrap(), fit.stdout);
    assert!(summary(&place, "wells --hdi --format markdown").0.contains("| 90 % HDI low |"));
    for p in ["0", "1", "95", "-0.5", "nan"] {
        let need = "need a number between 0 and 1, such as 0.95";
        let name = format!("--interval {}", if p == "nan" { "NaN" } else { p });
        refused(&place, &format!("summary wells --interval {p}"), &[&name, need]);
        refused(&place, &format!("fit --interval {p} --out none"), &[&name, need]);
    }
    assert!(!place.path("none").exists());
}

#[test]
fn every_format_has_every_name_as_text() {
    let place = Place::new();
    let data = nasty(&place);
    place.fit("run", &format!("{data} --response y --quiet --draws 200 --csv"));
    let columns = draws(&place.path("run"));

    let (text, err) = summary(&place, "run --format markdown");
    assert_eq!(err, "");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2 + 6);
    assert!(lines[1].starts_with("| ---") && lines[1].ends_with("-: |"), "{}", lines[1]);
    // Six columns, whatever the names.
    assert!(lines.iter().all(|line| line.replace("\\|", "").matches('|').count() == 7), "{text}");
    assert!(text.contains(r"| a\|b ") && text.contains(r"| x\_1 \& 50% "), "{text}");
    assert!(text.contains(r"| \<b\> ") && !text.contains("<b>"), "{text}");

    let (text, _) = summary(&place, "run --format latex");
    let begin = "% \\usepackage{booktabs}\n\\begin{tabular}{lrrrrr}\n\\toprule\n";
    assert!(text.starts_with(begin), "{text}");
    assert!(text.ends_with("\\bottomrule\n\\end{tabular}\n"), "{text}");
    assert!(text.contains(r"a\textbar{}b & $"), "{text}");
    assert!(text.contains(r"x\_1 \& 50\% & $"), "{text}");
    assert!(text.contains(r"\textless{}b\textgreater{} & $"), "{text}");
    let body = text.lines().filter(|line| line.ends_with(r"\\"));
    assert!(body.clone().all(|line| line.replace(r"\&", "").matches('&').count() == 5), "{text}");
    assert_eq!(body.count(), 7);

    let (text, _) = summary(&place, "run --format html");
    assert!(text.starts_with("<table>\n<caption>") && text.ends_with("</tbody>\n</table>\n"));
    for name in ["a|b", "x_1 &amp; 50%", "&lt;b&gt;", "say &quot;hi&quot;, there"] {
        assert!(text.contains(&format!("<tr><th scope=\"row\">{name}</th><td>")), "{text}");
    }
    assert_eq!(text.matches("<td>").count(), 6 * 5);

    let (text, _) = summary(&place, "run --format csv");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let head = "name,mean,sd,mcse_mean,q05,q50,q95,ess_bulk,ess_tail,rhat,interval,lower,upper,\
                hdi_lower,hdi_upper";
    assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>().join(","), head);
    let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let names: Vec<&str> = records.iter().map(|record| &record[0]).collect();
    assert_eq!(names[1..], NASTY);
    let document = json(&place, "run");
    for (record, parameter) in records.iter().zip(document["parameters"].as_array().unwrap()) {
        // In full: the same doubles.
        let numbers: Vec<f64> = record.iter().skip(1).map(|cell| cell.parse().unwrap()).collect();
        for (k, key) in ["mean", "sd", "mcse_mean", "q05", "q50", "q95"].iter().enumerate() {
            assert_eq!(parameter[key], numbers[k]);
        }
        near(&parameter["mean"], mean(&columns[&record[0]]));
        assert_eq!((numbers[9], numbers[10], numbers[11]), (0.9, numbers[3], numbers[5]));
        assert_eq!(parameter["hdi_upper"], numbers[13]);
    }
    refused(&place, "summary run --format csv --json", &["cannot be used with"]);
}

#[test]
fn lines_are_at_most_80_columns_wide() {
    let place = Place::new();
    let data = nasty(&place);
    let long = place.fit("long", &format!("{data} --response y --quiet"));
    narrow(&long.stdout);
    assert!(
        rows(&long.stdout).iter().any(|row| row.starts_with("a_long_name_") && row.contains("…"))
    );
    let many = place.fit("many", "--quiet");
    narrow(&many.stdout);
    let table = rows(&many.stdout);
    assert_eq!(table.len(), 32);
    // Mean, sd and interval are there, in columns; what is not is named.
    let head: Vec<&str> = table[0].split("  ").map(str::trim).filter(|h| !h.is_empty()).collect();
    assert_eq!(head, ["mean", "sd", "5 %", "50 %", "95 %", "ESS bulk", "R-hat"]);
    let left = "Left out to fit the width: ESS tail, mcse. \
                `ridgewalk summary many --format csv` and --json have every column.";
    assert!(many.stdout.replace("\n  ", " ").contains(left), "{}", many.stdout);
    let width = table[1].chars().count();
    assert!(table.iter().all(|row| row.chars().count() == width), "{table:?}");
    // The conclusion comes first.
    let mut lines = many.stdout.lines();
    assert_eq!(lines.next(), Some("y in the breast cancer data: logistic model, 569 rows"));
    assert!(lines.next().unwrap().starts_with("No warnings: the chains agree (R-hat at most 1.0"));
    for (run, words) in [("long", "--exp"), ("many", "--exp --hdi"), ("many", "--interval 0.999")] {
        narrow(&summary(&place, &format!("{run} {words}")).0);
    }
}

#[test]
fn warnings_stand_above_the_table() {
    let place = Place::new();
    let fit = wells(&place, "--draws 30");
    let [warning, table] =
        ["warning low_ess: ", "(Intercept) "].map(|part| fit.stdout.find(part).unwrap());
    assert!(warning < table && fit.stdout.contains("read "), "{}", fit.stdout);
    narrow(&fit.stdout);
    // Other formats have them on standard error.
    let (out, err) = summary(&place, "wells --format csv");
    assert!(err.contains("warning low_ess: ") && !out.contains("low_ess"), "{err}");
}

#[test]
fn ratios_are_exponentials_draw_by_draw() {
    let place = Place::new();
    let fit = wells(&place, "--csv");
    let columns = draws(&fit.directory);
    let document = json(&place, "wells --exp --interval 0.5");
    assert_eq!(document["scale"], "odds ratio");
    assert!(fit.summary.get("scale").is_none());
    let parameters = document["parameters"].as_array().unwrap();
    assert_eq!(parameters.len(), 3);
    for parameter in parameters {
        let log = &columns[parameter["name"].as_str().unwrap()];
        let ratio: Vec<f64> = log.iter().map(|x| x.exp()).collect();
        near(&parameter["mean"], mean(&ratio));
        let sum: f64 = ratio.iter().map(|x| (x - mean(&ratio)).powi(2)).sum();
        near(&parameter["sd"], (sum / (ratio.len() - 1) as f64).sqrt());
        for (key, p) in
            [("q05", 0.05), ("q50", 0.5), ("q95", 0.95), ("lower", 0.25), ("upper", 0.75)]
        {
            near(&parameter[key], quantile(&ratio, p));
        }
        // The exponential of the mean would be another number.
        assert!((parameter["mean"].as_f64().unwrap() - mean(log).exp()).abs() > 1e-4);
        assert!(parameter.get("mode").is_none());
    }
    let (text, _) = summary(&place, "wells --exp");
    assert!(rows(&text)[0].starts_with("odds ratio "), "{text}");
    assert!(text.contains("note: (Intercept) is not a ratio: it is the odds where"), "{text}");
    let (text, err) = summary(&place, "wells --exp --format csv");
    assert!(text.lines().nth(1).unwrap().ends_with(",odds ratio"), "{text}");
    assert!(err.contains("note: odds ratios: "), "{err}");
}

#[test]
fn each_family_has_its_ratio_or_a_reason_against_it() {
    let place = Place::new();
    let data = shipped("mixed.csv");
    let fit = |family: &str, response: &str| {
        let words = format!("{data} --response {response} --predictors dose,age --family {family}");
        place.fit(family, &format!("{words} --draws 50 --quiet"));
    };
    for (family, response, scale, left_out) in [
        ("poisson", "count", "rate ratio", ""),
        ("negative-binomial", "count", "rate ratio", "size"),
        ("weibull", "weight", "time ratio", "shape"),
        ("exponential", "weight", "time ratio", ""),
        ("gamma", "weight", "ratio of means", "shape"),
        ("ordinal", "weight", "odds ratio", "1|2"),
        ("multinomial", "site", "odds ratio", ""),
    ] {
        fit(family, response);
        let document = json(&place, &format!("{family} --exp"));
        assert_eq!(document["scale"], scale, "{family}");
        let list = document["parameters"].as_array().unwrap();
        let names = list.iter().map(|p| p["name"].as_str().unwrap());
        assert!(names.clone().any(|name| name.ends_with("dose")), "{family}");
        assert!(names.clone().all(|name| name != left_out), "{family}");
        assert!(list.iter().all(|p| p["q05"].as_f64().unwrap() > 0.0), "{family}");
        if !left_out.is_empty() {
            let notes = document["notes"].to_string();
            assert!(notes.contains(&format!("`{left_out}`")), "{notes}");
            assert!(notes.contains("not a coefficient") || notes.contains("not coefficients"));
        }
    }
    for (family, response, advice) in [
        ("gaussian", "level", "--family gamma"),
        ("student-t", "level", "--family gamma"),
        ("robust-logistic", "level", "--family gamma"),
        ("probit", "ill", "--family logistic"),
    ] {
        fit(family, response);
        let said = format!("--exp with the family {family}: need ");
        refused(&place, &format!("summary {family} --exp"), &[&said, "Leave --exp out", advice]);
    }
}

#[test]
fn the_top_rows_are_those_farthest_from_zero() {
    let place = Place::new();
    let fit = place.fit("run", "--quiet");
    let mut order: Vec<(f64, &str)> = fit
        .coefficients()
        .iter()
        .zip(fit.names())
        .map(|(c, name)| ((c.mean / c.sd).abs(), name))
        .collect();
    order.sort_by(|a, b| b.0.total_cmp(&a.0));
    let names = |document: &Value| -> Vec<String> {
        let list = document["parameters"].as_array().unwrap();
        list.iter().map(|p| p["name"].as_str().unwrap().to_owned()).collect()
    };
    let need: Vec<&str> = order.iter().take(4).map(|(_, name)| *name).collect();
    assert_eq!(names(&json(&place, "run --top 4")), need);
    // By the coefficients, not by their ratios.
    assert_eq!(names(&json(&place, "run --top 4 --exp")), need);
    let (text, _) = summary(&place, "run --top 4");
    assert_eq!(rows(&text).len(), 5);
    assert!(text.contains("27 of 31 rows are\n  left out, and `ridgewalk summary run`"), "{text}");
    // The verdict is still that on the whole run.
    assert_eq!(text.lines().nth(1), fit.stdout.lines().nth(1));
    let (text, _) = summary(&place, "run --top 99");
    assert!(rows(&text).len() == 32 && !text.contains("left out, and"), "{text}");
    let (text, err) = summary(&place, "run --top 1 --format csv");
    assert!(text.lines().count() == 2 && err.contains("30 of 31 rows are left out"), "{err}");
    refused(&place, "summary run --top 0", &["--top 0: need at least 1"]);
}

#[test]
fn a_long_table_has_a_hint() {
    let place = Place::new();
    let mut text = "y".to_owned();
    (0..62).for_each(|k| text.push_str(&format!(",x{k}")));
    for i in 0..100_u32 {
        text.push_str(&format!("\n{}", f64::from(i % 7)));
        for k in 0..62_u32 {
            text.push_str(&format!(",{}", (f64::from((i + 1) * (2 * k + 3)) * 0.618).fract()));
        }
    }
    let data = place.file("many.csv", &text);
    let words = format!("{data} --response y --family gaussian --draws 50 --quiet");
    let fit = place.fit("run", &words);
    assert_eq!(rows(&fit.stdout).len(), 1 + 64);
    assert!(fit.stdout.contains("64 rows: `ridgewalk summary run --top 20`"), "{}", fit.stdout);
    narrow(&fit.stdout);
    assert_eq!(rows(&summary(&place, "run --top 20").0).len(), 21);
}

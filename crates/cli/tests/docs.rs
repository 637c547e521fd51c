//! Checks the pages: every command in README.md and docs/*.md runs, output shown in a page is what
//! is printed, files that a command writes match the committed ones, and every test and file that a
//! page refers to exists.
//!
//! A command is a line that begins with `ridgewalk ` or `cargo run --release -- `, in a fenced or
//! indented block, with or without `$ ` before it; lines below one with `$ ` are its output, where
//! `...` stands for any lines. Commands of a page run one after another in one directory, as a
//! reader would type them. In running text, `ridgewalk` with options and values is run too; with
//! placeholders for values, only the options are checked.
//! `RIDGEWALK_WRITE_DOCS=1 cargo test -p ridgewalk-cli --test tests docs` rewrites the output of
//! `$ ` lines.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use ridgewalk_figures::{Figures, Near};

/// Slow commands: the text replaced, its replacement, and the time they took in seconds on one
/// core. Rows of the files that they write must be among the committed rows.
const LONG: [(&str, &str, &str, u32); 9] = [
    (
        "ridgewalk lab plan --kappa 2,10,100 --csv",
        "--kappa 2,10,100",
        "--kappa 2,10,100 --doublings 1",
        14,
    ),
    ("ridgewalk lab mixing --kappa 5 --dimension 1000", "--doublings 10", "--doublings 1", 9),
    (
        "ridgewalk lab mixing --kappa 5 --dimension 1000",
        "--kappa-doublings 8",
        "--kappa-doublings 1",
        9,
    ),
    ("ridgewalk lab coupling --csv", "--csv", "--dimensions 10 --csv", 146),
    ("ridgewalk lab orders --csv", "--csv", "--kernels ula,quicsort --halvings 1 --csv", 48),
    ("ridgewalk lab nodes --csv", "--csv", "--halvings 1 --csv", 7),
    ("ridgewalk lab nodes --nodes 4", "--halvings 3", "--halvings 1", 32),
    ("ridgewalk lab nodes --nodes 4", "10,30,100,300,1000", "10,100", 32),
    ("ridgewalk lab plan --kappa 10 --alpha", "--doublings 20", "--doublings 1", 50),
];

/// Text that looks like a command but is not.
const NONE: [(&str, &str); 2] = [
    ("ridgewalk checkpoint 1", "the first line of a file"),
    (
        "ridgewalk plan --convexity m --smoothness L --dimension d --accuracy eps",
        "letters stand for numbers",
    ),
];

/// Files that commands of the pages read, besides the wells data.
const DATA: &str = "y,age,city\n0,31,Oslo\n1,42,Bergen\n0,27,Oslo\n1,35,Oslo\n0,44,Bergen\n1,29,Bergen\n1,51,Oslo\n0,38,Bergen\n";
const PRIORS: &str = "[age]\nmean = 0.0\nscale = 1.0\n\n[\"(Intercept)\"]\nscale = inf\n\n[\"city[Oslo]\"]\nscale = 0.5\n";

/// The error for a command whose output differs from the page.
const OTHERWISE: &str = "prints something other than shown";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// README.md and the pages of docs, by their paths from the root.
fn pages() -> Vec<(String, String)> {
    let mut names = vec!["README.md".to_owned()];
    let docs = fs::read_dir(root().join("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let docs = docs.map(|name| name.into_string().unwrap()).filter(|name| name.ends_with(".md"));
    names.extend(docs.map(|name| format!("docs/{name}")));
    names.sort();
    let read = |name: String| (fs::read_to_string(root().join(&name)).unwrap(), name);
    names.into_iter().map(read).map(|(text, name)| (name, text)).collect()
}

/// A command.
#[derive(Debug, Clone, PartialEq)]
struct Typed {
    command: String,
    /// The first line below it and the lines of output there; `None` without a `$ `.
    shown: Option<(usize, Vec<String>)>,
}

/// The commands of a page, in order.
fn commands(page: &str) -> Vec<Typed> {
    let lines: Vec<&str> = page.lines().collect();
    let mut found = Vec::new();
    let mut fenced = false;
    for (number, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if fenced || line.starts_with("    ") {
            let text = line.trim();
            let after = text.strip_prefix("$ ");
            let command = after.unwrap_or(text).replace("cargo run --release -- ", "ridgewalk ");
            if command.starts_with("ridgewalk ") {
                let output = || {
                    let below = lines[number + 1..].iter();
                    below.take_while(|line| {
                        !line.starts_with("$ ") && !line.trim_start().starts_with("```")
                    })
                };
                let shown =
                    after.map(|_| (number + 1, output().map(|line| (*line).to_owned()).collect()));
                found.push(Typed { command, shown });
            }
        } else {
            let spans =
                line.split('`').skip(1).step_by(2).filter(|span| span.starts_with("ridgewalk "));
            found.extend(spans.map(|span| Typed { command: span.to_owned(), shown: None }));
        }
    }
    found.retain(|typed| NONE.iter().all(|(text, _)| *text != typed.command));
    found
}

/// Whether a command has placeholders for values, or no arguments at all.
fn is_pattern(command: &str) -> bool {
    let placeholder = |word: &str| {
        word.contains(['[', '<'])
            || (!word.is_empty() && word.chars().all(|c| c.is_ascii_uppercase()))
            || word
                .strip_suffix(".csv")
                .is_some_and(|name| name.chars().all(|c| c.is_ascii_uppercase()))
    };
    let words = shlex::split(command).unwrap_or_default();
    !command.contains(" --") || words.iter().any(|word| placeholder(word) && !word.contains('~'))
}

fn ridgewalk(words: &[&str], directory: &Path) -> (Option<i32>, String, String) {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ridgewalk"));
    let output = program.args(words).current_dir(directory).output().unwrap();
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), out, err)
}

/// Checks that a command's name and options exist.
fn check_pattern(command: &str, helps: &mut BTreeMap<String, String>) -> Result<(), String> {
    let words: Vec<&str> = command.split_whitespace().skip(1).collect();
    let word = |word: &&&str| word.chars().all(|c| c.is_ascii_lowercase());
    let deep = if words.first() == Some(&"lab") { 2 } else { 1 };
    let name: Vec<&str> = words.iter().take(deep).take_while(word).copied().collect();
    let help = helps.entry(name.join(" ")).or_insert_with(|| {
        let (code, text, _) = ridgewalk(&[&name[..], &["--help"]].concat(), &root());
        if code == Some(0) { text } else { String::new() }
    });
    if help.is_empty() {
        return Err(format!("no command `{}`", name.join(" ")));
    }
    let options = words
        .iter()
        .map(|word| word.trim_matches(['[', ']']))
        .filter(|word| word.starts_with("--"));
    match options.into_iter().find(|option| !help.contains(*option)) {
        None => Ok(()),
        Some(option) => Err(format!("no option {option}")),
    }
}

/// A slow command in its faster form.
fn shortened(command: &str) -> String {
    let mut text = command.to_owned();
    for (begin, from, to, _) in LONG {
        if command.starts_with(begin) {
            assert!(text.contains(from), "{command}: no `{from}`");
            text = text.replacen(from, to, 1);
        }
    }
    text
}

/// Whether output is as shown, `...` standing for any lines.
fn matches(shown: &[String], printed: &[&str]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((line, rest)) if line.trim() == "..." => {
            (0..=printed.len()).any(|k| matches(rest, &printed[k..]))
        }
        Some((line, rest)) => printed.split_first().is_some_and(|(first, others)| {
            line.trim_end() == first.trim_end() && matches(rest, others)
        }),
    }
}

/// Checks that rows of a CSV file are among those of another: numbers to 1 part in 1,000, because
/// mathematical libraries round differently.
fn check_rows(made: &str, committed: &str, all: bool) -> Result<(), String> {
    let alike = |a: &str, b: &str| {
        let (x, y) = (a.parse::<f64>(), b.parse::<f64>());
        // Distances at the level of rounding differ in every digit.
        a == b || matches!((x, y), (Ok(x), Ok(y)) if (x - y).abs() <= 1e-3 * y.abs() + 1e-12)
    };
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let same = |a: &[String], b: &[String]| {
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| alike(a, b))
    };
    let known: Vec<Vec<String>> = committed.lines().map(cells).collect();
    for line in made.lines() {
        let row = cells(line);
        if !known.iter().any(|other| same(&row, other)) {
            return Err(format!("`{line}` is not in the committed file"));
        }
    }
    let (rows, others) = (made.lines().count(), known.len());
    if all && rows != others {
        Err(format!("{rows} lines, and {others} in the committed file"))
    } else {
        Ok(())
    }
}

/// Runs the commands of one page. Returns the page with the current output of `$ ` lines, the
/// errors, and the number of commands run.
fn follow(
    name: &str, page: &str, helps: &mut BTreeMap<String, String>,
) -> (String, Vec<String>, usize) {
    let place = tempfile::tempdir().unwrap();
    fs::create_dir_all(place.path().join("docs/results")).unwrap();
    for name in ["wells.csv", "patients.csv", "children.csv"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        fs::copy(file, place.path().join(name)).unwrap();
    }
    for folder in ["families", "mixed"] {
        for entry in fs::read_dir(root().join("crates/fit/tests/data").join(folder)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, place.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    fs::write(place.path().join("data.csv"), DATA).unwrap();
    fs::write(place.path().join("priors.toml"), PRIORS).unwrap();
    let mut lines: Vec<String> = page.lines().map(str::to_owned).collect();
    let (mut wrong, mut run, mut moved) = (Vec::new(), 0, 0_isize);
    for Typed { command, shown } in commands(page) {
        let in_block = page.lines().any(|line| {
            line.starts_with("    ")
                && line.trim().replace("cargo run --release -- ", "ridgewalk ") == command
        });
        if is_pattern(&command) && !in_block && shown.is_none() {
            wrong.extend(
                check_pattern(&command, helps)
                    .err()
                    .map(|why| format!("{name}: `{command}`: {why}")),
            );
            continue;
        }
        let short = shortened(&command);
        let words = shlex::split(&short).unwrap();
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let (code, out, err) = ridgewalk(&words, place.path());
        run += 1;
        if code != Some(0) {
            wrong.push(format!("{name}: `{command}` ended with {code:?}: {err}"));
        }
        for file in words.iter().filter(|word| word.starts_with("docs/results/")) {
            let (made, committed) = (place.path().join(file), root().join(file));
            if !(made.is_file() && committed.is_file()) {
                wrong.push(format!("{name}: `{command}`: {file} is not written, or not committed"));
            } else if file.ends_with(".csv") {
                let [made, committed] =
                    [made, committed].map(|path| fs::read_to_string(path).unwrap());
                let same = check_rows(&made, &committed, short == command);
                wrong.extend(same.err().map(|why| format!("{name}: `{command}`: {file}: {why}")));
            }
        }
        if let Some((at, shown)) = shown {
            let printed: Vec<&str> = out.lines().collect();
            if !shown.is_empty() && !matches(&shown, &printed) {
                wrong.push(format!("{name}: `{command}` {OTHERWISE}:\n{out}"));
            }
            if shown.iter().all(|line| line.trim() != "...") {
                let at = at.checked_add_signed(moved).unwrap();
                lines.splice(at..at + shown.len(), printed.iter().map(|line| (*line).to_owned()));
                moved += printed.len() as isize - shown.len() as isize;
            }
        }
    }
    (lines.join("\n") + "\n", wrong, run)
}

#[test]
fn every_command_of_every_page_runs_and_prints_what_the_page_shows() {
    let write = std::env::var_os("RIDGEWALK_WRITE_DOCS").is_some();
    let (mut wrong, mut run, mut helps) = (Vec::new(), 0, BTreeMap::new());
    for (name, text) in pages() {
        let (now, problems, count) = follow(&name, &text, &mut helps);
        if write && now != text {
            fs::write(root().join(&name), now).unwrap();
        }
        wrong.extend(problems.into_iter().filter(|problem| !write || !problem.contains(OTHERWISE)));
        run += count;
    }
    println!("{run} commands run");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // If fewer are found, the search is broken.
    assert!(run >= 12, "{run}");
}

/// The tests that a page names, as (file, test): `file.rs::test`, then `::test` of the same file,
/// and `test` (file.rs).
fn named_tests(page: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    for line in page.lines() {
        let parts: Vec<&str> = line.split('`').collect();
        for k in (1..parts.len()).step_by(2) {
            let after = parts.get(k + 1).copied().unwrap_or("");
            let file = after
                .strip_prefix(" (")
                .and_then(|rest| rest.split_once(')'))
                .map(|(file, _)| file);
            if let Some((file, test)) = parts[k].split_once("::")
                && (file.ends_with(".rs") || file.is_empty())
            {
                let last = found.last().map(|(file, _)| file.clone()).unwrap_or_default();
                found.push((if file.is_empty() { last } else { file.to_owned() }, test.to_owned()));
            } else if let Some(file) =
                file.filter(|file| file.starts_with("crates/") && file.ends_with(".rs"))
            {
                found.push((file.to_owned(), parts[k].to_owned()));
            }
        }
    }
    found
}

/// Whether a Rust file has a test of that name.
fn has_test(source: &str, name: &str) -> bool {
    let lines: Vec<&str> = source.lines().collect();
    lines.iter().enumerate().any(|(at, line)| {
        line.trim_start()
            .strip_prefix("fn ")
            .and_then(|rest| rest.split_once('('))
            .is_some_and(|(n, _)| n == name)
            && lines[at.saturating_sub(4)..at].iter().any(|above| above.trim() == "#[test]")
    })
}

#[test]
fn every_test_that_a_page_names_exists() {
    let mut count = 0;
    for (page, text) in pages() {
        for (file, test) in named_tests(&text) {
            let source = fs::read_to_string(root().join(&file));
            let source =
                source.unwrap_or_else(|_| panic!("{page} names {file}, which is not there"));
            assert!(has_test(&source, &test), "{page} names {file}::{test}, which is not there");
            count += 1;
        }
    }
    assert!(count >= 80, "{count}");
}

#[test]
fn every_test_that_figures_come_from_exists() {
    let mut count = 0;
    for entry in fs::read_dir(root().join("docs/results")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !(name.starts_with("tests-") && name.ends_with(".csv")) {
            continue;
        }
        for line in fs::read_to_string(&path).unwrap().lines().skip(1) {
            let (file, test) = line.split(',').next().unwrap().split_once("::").unwrap();
            let source = fs::read_to_string(root().join(file));
            let source =
                source.unwrap_or_else(|_| panic!("{name} names {file}, which is not there"));
            assert!(has_test(&source, test), "{name} names {file}::{test}, which is not there");
            count += 1;
        }
    }
    assert!(count >= 100, "{count}");
}

#[test]
fn every_file_that_a_page_links_to_or_calls_exists() {
    for (page, text) in pages() {
        let folder = root().join(&page).parent().unwrap().to_owned();
        for target in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split_once(')'))
            .map(|(target, _)| target)
        {
            let path = target.split('#').next().unwrap();
            assert!(
                target.contains("://") || folder.join(path).exists(),
                "{page} links to {target}, which is not there"
            );
        }
        for span in
            text.split(['`', '\n']).map(str::trim).filter(|span| span.starts_with("scripts/"))
        {
            let script = span.split_whitespace().next().unwrap();
            assert!(root().join(script).is_file(), "{page} names {script}, which is not there");
        }
        for example in text.split("--example ").skip(1) {
            let name: String =
                example.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            assert!(
                root().join(format!("crates/ridgewalk/examples/{name}.rs")).is_file(),
                "{page}: no example {name}"
            );
        }
    }
}

/// The household of docs/guide.md, 40 m from a safe well and with arsenic 2.3: the probability that
/// it switches, from the draws.
#[test]
fn the_household_of_the_guide_switches_with_the_probability_of_the_page() {
    let place = tempfile::tempdir().unwrap();
    for name in ["wells.csv", "patients.csv", "children.csv"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
        fs::copy(file, place.path().join(name)).unwrap();
    }
    let words = "fit wells.csv --response switched --predictors dist100,arsenic --csv --out wells";
    let (code, _, err) = ridgewalk(&words.split(' ').collect::<Vec<_>>(), place.path());
    assert_eq!(code, Some(0), "{err}");
    let draws = fs::read_to_string(place.path().join("wells/draws.csv")).unwrap();
    let (header, rows) = draws.split_once('\n').unwrap();
    assert_eq!(header, "chain,draw,(Intercept),dist100,arsenic");
    let probability = |row: &str| {
        let beta: Vec<f64> = row.split(',').skip(2).map(|cell| cell.parse().unwrap()).collect();
        1.0 / (1.0 + (-(beta[0] + 0.4 * beta[1] + 2.3 * beta[2])).exp())
    };
    let all: Vec<f64> = rows.lines().map(probability).collect();
    let mut figures = Figures::of(
        "cli",
        concat!(file!(), "::the_household_of_the_guide_switches_with_the_probability_of_the_page"),
    );
    figures.add("household", "mean", all.iter().sum::<f64>() / all.len() as f64);
    for (figure, p) in [("5 %", 0.05), ("95 %", 0.95)] {
        figures.add("household", figure, ridgewalk::diagnostics::quantile(&[&all], p).unwrap());
    }
    figures.hold(Near::Same);
}

#[test]
fn wrong_pages_are_caught() {
    let page = "Text with `ridgewalk coefficients --gamma G --xi X --nonsense H`.\n\n    ridgewalk coefficients --gamma 2 --xi 4\n\n\
                ```console\n$ ridgewalk coefficients --gamma 1 --xi 2 --eta 0.1 --json\nsomething else\n```\n\n\
                `ridgewalk conjure --now 3`\n\n    cargo run --release -- verify --kappa 2\n";
    assert_eq!(commands(page).len(), 5);
    let (now, wrong, run) = follow("page", page, &mut BTreeMap::new());
    let wrong = wrong.join("\n");
    for problem in [
        "no option --nonsense",
        "--xi 4` ended with Some(2)",
        "prints something other",
        "`ridgewalk conjure --now 3` ended",
    ] {
        assert!(wrong.contains(problem), "{problem} is not in {wrong}");
    }
    assert_eq!(run, 4);
    assert!(now.contains("\"mu12\"") && !now.contains("something else"));
    // Written and printed results agree.
    assert!(
        !follow("page", &now, &mut BTreeMap::new()).1.join("\n").contains("prints something other")
    );
    let [lines, some] = [&["a", "...", "z"][..], &["a", "z", "..."]]
        .map(|shown| shown.iter().map(|s| (*s).to_owned()).collect::<Vec<_>>());
    assert!(
        matches(&lines, &["a", "b", "c", "z"])
            && matches(&some, &["a", "z"])
            && !matches(&lines, &["a", "b"])
    );
    assert!(check_rows("k,v\na,1.0000001\n", "k,v\na,1\nb,2\n", false).is_ok());
    assert!(
        check_rows("k,v\na,1\n", "k,v\na,1\nb,2\n", true).is_err()
            && check_rows("k,v\na,1.1\n", "k,v\na,1\n", false).is_err()
    );

    let named = named_tests(
        "See `crates/a/tests/b.rs::first_one`, `::other` and `third` (crates/c.rs); not `std::fs`.",
    );
    let expected = [
        ("crates/a/tests/b.rs", "first_one"),
        ("crates/a/tests/b.rs", "other"),
        ("crates/c.rs", "third"),
    ];
    assert_eq!(named, expected.map(|(file, test)| (file.to_owned(), test.to_owned())));
    let source = "#[test]\nfn first_one() {}\n\n\n\nfn helper() {}\n";
    assert!(
        has_test(source, "first_one") && !has_test(source, "helper") && !has_test(source, "first")
    );
}
